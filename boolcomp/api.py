"""The Python entry point `boolcomp.compile`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from boolcomp.base.errors import UsageError, listing, suggestion
from boolcomp.compact.demand import ignore_progress
from boolcomp.options import OPTIONS, CompileOptions, GivenOptions, reference
from boolcomp.pipeline import check_mode, compile_compact, compile_paper, with_bits_found
from boolcomp.problem.build import function_problem
from boolcomp.problem.problem import Problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.sources import load_source
from boolcomp.program.files import load_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from boolcomp.base.errors import Number
    from boolcomp.compact.demand import Listener
    from boolcomp.paper.passes import ProgressListener
    from boolcomp.pipeline import CompactCompilation, PaperCompilation
    from boolcomp.problem.words import Word
    from boolcomp.program.program import Mode, Program

__all__ = ["compile", "load_program", "load_robot"]


def compile(  # noqa: A001  # the name is meant
    robot: Robot | Problem | Callable[..., Any] | str | Path,
    bits: Number | str | None = None,
    mode: Mode | str = "compact",
    *,
    inputs: Mapping[str, Word] | None = None,
    outputs: Mapping[str, Word | None] | Sequence[str] | None = None,
    name: str | None = None,
    **options: Unpack[CompileOptions],
) -> Program:
    """Compile a robot (a value, a shipped name or a path), or a function, to a program of logic.

    The subject is a robot (see `load_robot`), a Python function of + - * / and boolcomp's functions
    (sin, sqrt, clip …), the path of a function file, or a problem. A Python function needs words
    for its `inputs` and `outputs`: `{"x": boolcomp.word(-1, 1, bits=10)}`. It can have a `name`.
    The result has its errors in the units of its outputs: `sampled_max` of random states,
    `worst_found` by search, and `bound`, which is proved.

    Options are those of the command `boolcomp compile`, listed below. Numbers, sequences and
    mappings are accepted as well as texts: `rms_error=[0.4, 0.6]`, `input_bits={"q": 12, "qdd3":
    8}`, `payloads=[0, 1, 2.5]`, `words={"q1": "gray:12:0..2pi"}`, `error={"tau1": "1lsb"}`. With
    several `payloads` the program has one part for each. `bits` are by default those of the words
    of a function, or 8; with `error` they may be "auto". `deadline=None` is no limit. `cluster` may
    be a `distributed.Client`. `rms` and `max` are older spellings of `rms_error` and `max_error`.
    """
    check_mode(mode)
    _refuse_others(mode, options)
    given = GivenOptions.read({**options, "bits": bits})
    source = _source(robot, inputs, outputs, name)
    compiled = compiled_words if mode == "compact" else compiled_tables
    return compiled(source, given).program


compile.__doc__ = f"{compile.__doc__}\n{reference()}\n"


def compiled_words(
    source: Robot | Problem, given: GivenOptions, progress: Listener = ignore_progress
) -> CompactCompilation:
    """Compile in compact mode; if bits are `auto`, search them for the guaranteed error."""
    choices = given.compact(given.bits(source), progress=progress)
    masses = given.values["payloads"]
    with choices.workers.opened() as opened:
        choices = replace(choices, workers=opened)
        if given.auto:
            choices = with_bits_found(source, choices, masses, given.of)
        return compile_compact(source, choices, masses, given.of)


def compiled_tables(
    source: Robot | Problem, given: GivenOptions, progress: ProgressListener | None = None
) -> PaperCompilation:
    """Compile in paper mode."""
    choices = given.paper(source, **({} if progress is None else {"progress": progress}))
    return compile_paper(source, choices, given.values["payloads"], given.of)


def _source(
    given: object,
    inputs: Mapping[str, Word] | None,
    outputs: Mapping[str, Word | None] | Sequence[str] | None,
    name: str | None,
) -> Robot | Problem:
    """Return the robot or problem that is meant: a Python function becomes one."""
    if callable(given):
        if inputs is None or outputs is None:
            missing = "inputs" if inputs is None else "outputs"
            raise UsageError(
                f"{missing} of a function are words by name",
                f'give {missing}={{"x": boolcomp.word(-1, 1, bits=10)}}',
            )
        return function_problem(given, inputs, outputs, name)
    for keyword, value in (("inputs", inputs), ("outputs", outputs), ("name", name)):
        if value is not None:
            raise UsageError(
                f"{keyword} have no effect: only a Python function has words given with compile"
            )
    return given if isinstance(given, Robot | Problem) else load_source(given)  # type: ignore[arg-type]  # load_robot says what is none


def _refuse_others(mode: str, given: Mapping[str, Any]) -> None:
    """Raise a `UsageError` for an option that no mode has, or only the other one."""
    allowed = [name for name, one in OPTIONS.items() if one.mode in ("", mode)]
    for name, value in given.items():
        if name not in OPTIONS:
            known = ["mode", *allowed, "inputs", "outputs", "name"]
            near = suggestion(name, known)
            raise UsageError(f"mode {mode} has no {name!r}", f"{near}it has {listing(known)}")
        usual, other = OPTIONS[name].default, OPTIONS[name].mode
        if name not in allowed and value is not usual and str(value) != str(usual):
            raise UsageError(f"{name} belongs to mode {other}, not to mode {mode}")
