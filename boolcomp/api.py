"""The Python entry point `boolcomp.compile`."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Never

from boolcomp.base.errors import UsageError, flag, listing, real, reals, suggestion, whole, widths
from boolcomp.base.errors import masses as the_masses
from boolcomp.base.store import place_of
from boolcomp.base.workers import TWO, Workers, all_cores
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.paper.covers import default_store
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import PlanOptions
from boolcomp.pipeline import check_mode, compile_compact, compile_paper, with_bits_found
from boolcomp.problem.build import function_problem
from boolcomp.problem.functions import USUAL, function_name
from boolcomp.problem.problem import Problem, promise_of
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.robot.model import Robot
from boolcomp.problem.sources import load_source
from boolcomp.problem.words import formats
from boolcomp.program.files import load_program
from boolcomp.proof.bound.bounds import grade_of
from boolcomp.twolevel.minimisation import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from boolcomp.base.errors import Number, Reals, Widths
    from boolcomp.codes import Rounding
    from boolcomp.compact.demand import Approximate, Target
    from boolcomp.logic.synthesis import Objective
    from boolcomp.paper.plan import Place
    from boolcomp.problem.problem import Promised
    from boolcomp.problem.words import CodeKind, Formats, Word
    from boolcomp.program.program import Mode, Program
    from boolcomp.proof.bound.bounds import Grade

__all__ = ["compile", "load_program", "load_robot"]

WHERE = ("processes", "cluster", "store")
OF = ("of", "friction", "smoothing", "kp", "kd", "load_range", "elbow")
USUAL_BITS = 8
ONLY = {
    "compact": (
        "rms_error", "max_error", "input_bits", "saturate", "objective", "target", "flash",
        "approximate", "effort", "seed", "words", "proof", "proof_effort", "rms", "max",
    ),
    "paper": ("code", "guard_bits", "splits", "rounding", "signs", "sums", "minimizer", "deadline"),
}  # fmt: skip


def compile(  # noqa: A001, PLR0913  # the name is meant; as many as the command has options
    robot: Robot | Problem | Callable[..., Any] | str | Path,
    bits: Number | str | None = None,
    mode: Mode | str = "compact",
    *,
    inputs: Mapping[str, Word] | None = None,
    outputs: Mapping[str, Word | None] | Sequence[str] | None = None,
    name: str | None = None,
    of: str = USUAL,
    friction: bool = False,
    smoothing: Reals | None = None,
    kp: Reals | None = None,
    kd: Reals | None = None,
    load_range: str | tuple[Number, Number] | None = None,
    elbow: str | None = None,
    payloads: Reals = 0.0,
    error: Promised | None = None,
    rms_error: Reals | None = None,
    max_error: Reals | None = None,
    input_bits: Widths | None = None,
    saturate: bool = False,
    objective: Objective = "nodes",
    target: Target = "luts",
    flash: Number = 0,
    approximate: Approximate | None = None,
    effort: Number = 30.0,
    seed: Number = 0,
    processes: Number | None = None,
    cluster: Any = None,
    words: Formats | None = None,
    proof: Grade | str | None = None,
    proof_effort: Number | None = None,
    certify: bool = False,
    code: CodeKind = "gray",
    guard_bits: Number | None = None,
    splits: Number | None = None,
    rounding: Rounding = "nearest",
    signs: Place = "inside",
    sums: Place = "inside",
    minimizer: str = "own",
    deadline: Number | None = 60.0,
    store: str | Path | None = None,
    rms: Reals | None = None,
    max: Reals | None = None,  # noqa: A002  # the older spelling
    **unknown: Never,
) -> Program:
    """Compile a robot (a value, a shipped name or a path), or a function, to a program of logic.

    The subject is a robot (see `load_robot`), a Python function of + - * / and boolcomp's functions
    (sin, sqrt, clip …), the path of a function file, or a problem. A Python function needs words
    for its `inputs` and `outputs`: `{"x": boolcomp.word(-1, 1, bits=10)}`. It can have a `name`.
    Options have the names and values of the command `boolcomp compile`; texts such as "q=12,qd=8"
    are accepted.

    Function of a robot: `of` (inverse-dynamics, gravity, …) and `friction`. `smoothing` is the
    speed of the tanh that smooths dry friction; `kp` and `kd` are control gains. `load_range` makes
    the payload (kg) an input. `elbow` (up or down) selects a solution of inverse kinematics. With
    `payloads` ([0, 1, 2.5] or "0:5:0.05", kg at the tip) the program has one part for each payload.

    Words: `bits` of outputs (default: those of their words, or 8) and `input_bits` (10, or {"q":
    12, "qdd3": 8}; default: `bits` + 2). `words` gives formats of words by code, bits, range and
    zero code: {"q1": "gray:12:0..2pi"}. With `saturate`, torques outside their range saturate
    instead of having another bit.

    Accuracy: `rms_error` and `max_error` in LSB, one number or one for each output (default: the
    rms error of the 1988 tables). `error` is a guaranteed limit of all errors ("1lsb", "0.5Nm",
    {"tau1": "1lsb"}); `input_bits` are then maximum widths, and `bits="auto"` finds output widths.
    `rms` and `max` are older spellings.

    Cost: `objective` is nodes or depth; `target` is luts, lut4, lut6, gates, carry, dsp, mcu8,
    mcu32 or simd; `flash` limits the bytes of tables on a microcontroller. `approximate` is off,
    tables or free (experimental); the default is tables, but off for code targets and with `error`.

    Search and proof: `effort` in nominal seconds of one core (counted, not timed), and `seed`.
    `proof` is plain, tables or tight (default: tight if it needs little work or with `error`, else
    plain). `proof_effort` limits a tight proof to millions of states. `certify` adds a certificate.
    The work is done by `processes` (default 2; paper mode: one for each core) or on a `cluster`: an
    address, a scheduler file, "local:4" or a `distributed.Client`. The result is the same. `store`
    is a folder or an address such as s3://bucket/folder with earlier results (default: the user's
    cache).

    Mode `paper`: `code` is gray, natural, twos or sign-magnitude. `guard_bits` and `splits` follow
    the paper's rules unless given. `rounding` is nearest or faithful; `signs` and `sums` are inside
    or outside of tables. `minimizer` is own, exact, espresso or isop, and `deadline` its limit in
    seconds for each table (None or 0: no limit).

    The program has its errors in the units of its outputs: `sampled_max` of random states,
    `worst_found` by search, and `bound`, which is proved.
    """
    _refuse_others(mode, dict(locals()))
    masses, workers = the_masses("payloads", payloads), _workers(processes, cluster)
    place = None if store is None else place_of(store).check()
    of = function_name(
        of, friction=flag("friction", friction), smoothing=smoothing, kp=kp, kd=kd,
        load=load_range, elbow=elbow,
    )  # fmt: skip
    source = _source(robot, inputs, outputs, name)
    own = source.bits if bits is None and isinstance(source, Problem) else None
    promised, free = promise_of("error", error), bits == "auto"
    word = whole("bits", own or USUAL_BITS if bits is None or free else bits)
    if mode == "compact":
        demand = usual_demand(
            word, widths("input_bits", input_bits),
            rms=_either("rms", rms, rms_error), max=_either("max", max, max_error),
            saturate=flag("saturate", saturate), objective=objective,
            target=target, flash=whole("flash", flash), approximate=approximate,
            effort=real("effort", effort), seed=whole("seed", seed), error=promised,
            grade=grade_of("tight" if proof is None else proof),
        )  # fmt: skip
        choices = CompactChoices(
            demand, place, workers=workers or TWO, words=formats("words", words),
            proof=None if proof is None else grade_of(proof),
            proof_effort=_if_any("proof_effort", proof_effort),
            certify=flag("certify", certify),
        )  # fmt: skip
        with choices.workers.opened() as opened:
            choices = replace(choices, workers=opened)
            if free:
                choices = with_bits_found(source, choices, masses, of)
            return compile_compact(source, choices, masses, of).program
    options = PlanOptions(
        word, code, _if_any("guard_bits", guard_bits), _if_any("splits", splits), rounding, signs,
        sums,
    )  # fmt: skip
    recipe = Recipe(minimizer, real("deadline", deadline or 0) or None)
    asked = PaperChoices(
        options, recipe, default_store(place), error=promised, free=free,
        certify=flag("certify", certify), workers=workers or all_cores(),
    )  # fmt: skip
    return compile_paper(source, asked, masses, of).program


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
                f"{missing} of a function are words by name: "
                f'{missing}={{"x": boolcomp.word(-1, 1, bits=10)}}'
            )
        return function_problem(given, inputs, outputs, name)
    for said, value in (("inputs", inputs), ("outputs", outputs), ("name", name)):
        if value is not None:
            raise UsageError(f"{said} belong to a Python function: this has its own")
    return given if isinstance(given, Robot | Problem) else load_source(given)  # type: ignore[arg-type]  # load_robot says what is none


def _workers(processes: Number | None, cluster: Any) -> Workers | None:
    """Return the workers, if an option selects them."""
    if processes is None and cluster is None:
        return None
    return Workers.of(None if processes is None else whole("processes", processes), cluster)


def _refuse_others(mode: str, said: dict[str, Any]) -> None:
    """Raise a `UsageError` for a choice that no mode has, or only the other one."""
    check_mode(mode)
    allowed = [
        "inputs",
        "outputs",
        "name",
        *OF,
        "payloads",
        "error",
        "certify",
        *WHERE,
        *ONLY[mode],
    ]
    for name in said["unknown"]:
        near = suggestion(name, ["bits", "mode", *allowed])
        raise UsageError(f"mode {mode} has no {name!r}{near}: it has {listing(allowed)}")
    usual = inspect.signature(compile).parameters
    for other, names in ONLY.items():
        for name in names if other != mode else ():
            value, default = said[name], usual[name].default
            if value is not default and (default is None or str(value) != str(default)):
                raise UsageError(f"{name} belongs to mode {other}, not to mode {mode}")


def _either(old: str, older: Reals | None, newer: Reals | None) -> tuple[float, ...]:
    """Return the value given under the older or the newer name."""
    if older is not None and newer is not None:
        raise UsageError(f"{old} is the older spelling of {old}_error: say one of them")
    return reals(f"{old}_error" if older is None else old, newer if older is None else older)


def _if_any(name: str, given: Number | None) -> int | None:
    return None if given is None else whole(name, given)
