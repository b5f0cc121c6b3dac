"""What the command and Python say of errors that are promised."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from samples import problem_of

import boolcomp as bc
from boolcomp.common.errors import DataError, UsageError
from boolcomp.paper import passes, promise
from boolcomp.paper.plan import Options
from boolcomp.paper.promise import promised_plans
from boolcomp.pipeline import run_passes
from boolcomp.problem.promise import promise_of
from boolcomp.program.program import Program
from boolcomp.program.programfile import load_program

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result

    Run = Callable[..., Result]

PAPER = ("compile", "machado-2r", "--mode", "paper", "--minimizer", "isop", "--bits", "4")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--error", "1"), 2, "Give a unit"),
        (("--error", "1lsb", "--rms-error", "1"), 2, "ask for one of them"),
        (("--bits", "auto"), 2, "promised in a unit"),
        (("--bits", "automatic"), 2, "'automatic': a whole number, or auto"),
        (("--bits", "auto", "--error", "1lsb"), 2, "promised in a unit"),
        (("--error", "0.4lsb"), 1, "rounding alone makes half a step"),
        (("--error", "1lsb", "--input-bits", "8"), 1, "these would do: --input-bits q="),
        (("--mode", "paper", "--bits", "auto"), 2, "give --error 0.5Nm"),
        (("--mode", "paper", "--bits", "auto", "--error", "1lsb"), 2, "errors in units"),
        (("--mode", "paper", "--error", "0.4lsb"), 1, "rounding alone makes half a step"),
        pytest.param(
            ("--mode", "paper", "--error", "0.50001lsb"),
            1,
            "the best that was reached",
            marks=pytest.mark.check,
        ),
    ],
)
def test_a_promise_that_cannot_be_is_a_sentence(
    run: Run, options: tuple[str, ...], code: int, said: str
) -> None:
    found = run("compile", "machado-2r", *options)
    assert found.code == code
    assert said in found.err
    assert not found.out


def test_the_paper_plan_promises_nothing(run: Run) -> None:
    found = run("plan", "machado-2r", "--error", "1lsb")
    assert found.code == 2
    assert "--error belongs to --mode compact" in found.err


@pytest.mark.check
def test_paper_mode_keeps_a_promise_by_guard_bits(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "program"
    found = run(*PAPER, "--error", "2lsb,1.9lsb", "-o", str(folder), "--json")
    assert found.code == 0
    joints = json.loads(found.out)["joints"]
    assert [joint["promised"] for joint in joints] == pytest.approx([50, 23.75])
    assert all(joint["bound"] <= joint["promised"] for joint in joints)
    program = load_program(folder)
    problem = problem_of(bc.load_robot("machado-2r"))
    states = problem.draw(20_000, 0)
    error = np.abs(program(*states) - problem.reference(*states))
    assert (error.max(axis=0) <= [50, 23.75]).all()
    said = run(*PAPER, "--error", "2lsb,1.9lsb").out
    assert "LSB ≤ 2 LSB" in said
    assert "4 bits," in said


@pytest.mark.check
def test_paper_plans_take_the_fewest_guard_bits_that_keep_a_promise() -> None:
    terms = run_passes("machado-2r", until="terms")
    guards = []
    for error in ("4lsb", "2lsb", "1lsb"):
        promise = promise_of("error", error)
        assert promise is not None
        (plan,) = promised_plans([terms], _options(5), promise, free=False)
        guard = plan.options.guard_bits or 0
        guards.append(guard)
        if guard:
            fewer = _options(5, guard - 1)
            with pytest.raises(DataError, match="the best that was reached"):
                promised_plans([terms], fewer, promise, free=False)
    assert guards == sorted(guards)
    assert guards[0] != guards[-1]
    promise = promise_of("error", "20Nm")
    assert promise is not None
    (plan,) = promised_plans([terms], _options(8), promise, free=True)
    assert plan.options.bits in (5, 6)


def test_python_says_the_same_of_a_promise() -> None:
    with pytest.raises(UsageError, match="Give a unit"):
        bc.compile("machado-2r", error="1")
    with pytest.raises(UsageError, match="a number without a unit"):
        bc.compile("machado-2r", error=1.0)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(UsageError, match=r"proof 'tihgt' \(did you mean 'tight'\?\)"):
        bc.compile("machado-2r", error="1lsb", proof="tihgt")
    with pytest.raises(DataError, match="give it 9 bits or more"):
        bc.compile("machado-2r", bits=8, error={"tau1": "0.5Nm"})


def _options(bits: int, guard: int | None = None) -> Options:
    return Options(bits, guard_bits=guard)


def paper_plan(amplitude: float) -> Any:
    """Return what paper mode asks of a plan of two outputs, steps 0.5 and 2, ranges ±8."""
    codes = [SimpleNamespace(step=step, range=SimpleNamespace(high=8.0)) for step in (0.5, 2.0)]
    outputs = [
        SimpleNamespace(amplitude=most, code=code, output=SimpleNamespace(symbol=symbol))
        for most, code, symbol in zip((1.0, amplitude), codes, ("T1", "T2"), strict=True)
    ]
    problem = SimpleNamespace(name="arm")
    return SimpleNamespace(outputs=outputs, problem=problem, options=SimpleNamespace(bits=4))


def promised_steps(*steps: float) -> Any:
    return SimpleNamespace(steps=lambda _problem, _bits: steps)


def test_paper_plans_promise_nothing_of_what_saturates() -> None:
    assert promise.allowed(paper_plan(1.0), promised_steps(3.0, math.inf)) == [1.5, math.inf]
    refuse = promise._refuse_saturation  # noqa: SLF001 (plans of whole arms take a minute)
    refuse(paper_plan(8.0), promised_steps(1.0, 1.0))
    refuse(paper_plan(8.1), promised_steps(1.0, math.inf))
    with pytest.raises(DataError, match=r"T2 can reach ±8\.1, beyond its range ±8"):
        refuse(paper_plan(8.1), promised_steps(1.0, 1.0))


@pytest.mark.parametrize(("bound", "kept"), [((1.5, 2), True), ((1.6, 2), False), ((1, 9), False)])
def test_paper_programs_prove_all_outputs(
    bound: tuple[float, ...], *, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = paper_plan(1.0)
    plan.options.guard_bits = 1
    made = Program.__new__(Program)
    monkeypatch.setattr(Program, "bound", bound)
    monkeypatch.setattr(passes, "program_of", lambda *_, **__: made)
    monkeypatch.setattr(passes, "replace", lambda _, demand: demand)
    covered: Any = SimpleNamespace(plan=plan, terms=(), errors={})
    choices: Any = SimpleNamespace(error=promised_steps(3.0, 2.0))
    if kept:
        assert "guard_bits=1" in str(passes.program(covered, choices))
    else:
        with pytest.raises(DataError, match="are not proved"):
            passes.program(covered, choices)
