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
from boolcomp.paper import passes
from boolcomp.paper import program as paper_program
from boolcomp.paper.plan import Options
from boolcomp.paper.program import promised_plans
from boolcomp.pipeline import run_passes
from boolcomp.problem.problem import promise_of
from boolcomp.program.program import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

PAPER = ("compile", "machado-2r", "--mode", "paper", "--minimizer", "isop", "--bits", "4")


@pytest.mark.check
def test_paper_mode_keeps_a_promise_by_guard_bits(run: Callable[..., Result]) -> None:
    found = run(*PAPER, "--error", "2lsb,1.9lsb", "-o", "program", "--json")
    assert found.code == 0
    joints = json.loads(found.out)["joints"]
    assert [joint["promised"] for joint in joints] == pytest.approx([50, 23.75])
    assert all(joint["bound"] <= joint["promised"] for joint in joints)
    program = bc.load_program("program")
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

    def planned(error: str, bits: int = 5, guard: int | None = None) -> Options:
        promise = promise_of("error", error)
        assert promise is not None
        options = Options(bits, guard_bits=guard)
        (plan,) = promised_plans([terms], options, promise, free=error.endswith("Nm"))
        return plan.options

    guards = [planned(error).guard_bits or 0 for error in ("4lsb", "2lsb", "1lsb")]
    assert guards == sorted(set(guards))
    for guard, error in zip(guards[1:], ("2lsb", "1lsb"), strict=True):
        with pytest.raises(bc.DataError, match="the best that was reached"):
            planned(error, guard=guard - 1)
    assert planned("20Nm", bits=8).bits in (5, 6)


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
    assert paper_program.allowed(paper_plan(1.0), promised_steps(3.0, math.inf)) == [1.5, math.inf]
    refuse = paper_program._refuse_saturation  # noqa: SLF001 (plans of whole arms take a minute)
    refuse(paper_plan(8.0), promised_steps(1.0, 1.0))
    refuse(paper_plan(8.1), promised_steps(1.0, math.inf))
    with pytest.raises(bc.DataError, match=r"T2 can reach ±8\.1, beyond its range ±8"):
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
        with pytest.raises(bc.DataError, match="are not proved"):
            passes.program(covered, choices)
