"""What the command and Python say of errors that are promised."""

import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Run
from samples import problem_of, terms_of

import boolcomp as bc
from boolcomp.paper import passes
from boolcomp.paper import program as paper_program
from boolcomp.paper.plan import OutputPlan, PlanOptions, make_plan
from boolcomp.paper.program import plans_within
from boolcomp.problem import load_robot, with_payload
from boolcomp.problem.problem import promise_of
from boolcomp.program.program import Program

PAPER = ("compile", "machado-2r", "--mode", "paper", "--minimizer", "isop", "--bits", "4")


@pytest.mark.check
def test_paper_mode_keeps_a_promise_by_guard_bits(run: Run) -> None:
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


def chosen_plan(
    monkeypatch: pytest.MonkeyPatch, bounds: Callable[[OutputPlan], float], error: str,
    options: PlanOptions, loads: int = 1,
) -> PlanOptions:  # fmt: skip
    """Return what is chosen for a promise where bounds of outputs are as they are given."""
    monkeypatch.setattr(paper_program, "error_bound", bounds)
    promise = promise_of("error", error)
    assert promise is not None
    free = error.endswith("Nm")
    several = [terms_of(with_payload(load_robot("machado-2r"), float(k))) for k in range(loads)]
    plans = plans_within(several, options, promise, free=free)
    assert len(plans) == loads
    return plans[-1].options


def test_the_fewest_guard_bits_are_taken_for_which_all_bounds_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def bounds(one: OutputPlan) -> float:
        """Return 0.5 + 4, 2, 1 … steps; of the second output twice, with a load alone."""
        twice = 1 + (one.output.name == "tau2" and one.amplitude > 75)
        return one.code.step * (0.5 + twice * 4 / (1 << one.guard_bits))

    def guard(error: str, asked: int | None = None) -> int | None:
        return chosen_plan(
            monkeypatch, bounds, error, PlanOptions(5, guard_bits=asked), 2
        ).guard_bits

    assert [guard(error) for error in ("9lsb", "8lsb", "2.5lsb", "1lsb")] == [0, 1, 2, 4]
    assert guard("4.5lsb,8.5lsb") == 0
    assert guard("2.5lsb", 3) == 3
    with pytest.raises(bc.DataError, match=r"the best that was reached, with 5 bits and 2 guard b"):
        guard("2.4lsb", 2)
    with pytest.raises(bc.DataError, match=r"is tau2 2\.500 LSB \(15\.62 N·m\) and not 2\.4"):
        guard("1.6lsb,2.4lsb", 2)


def test_of_free_bits_those_of_the_fewest_table_entries_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def entries(bits: int, guard: int) -> int:
        plan = make_plan(terms_of("machado-2r"), PlanOptions(bits, guard_bits=guard))
        return sum(term.code.bits << term.input_bits for term in plan.terms)

    def bits(guards: dict[int, int]) -> int:
        """Return the bits that are chosen where so many guard bits are needed, by bits."""

        def bound(one: OutputPlan) -> float:
            enough = one.guard_bits >= guards.get(one.code.bits, 99)
            return 1.0 if enough else 1e3 / one.code.bits

        found = chosen_plan(monkeypatch, bound, "20Nm", PlanOptions(7))
        assert found.guard_bits == guards[found.bits]
        return found.bits

    assert entries(6, 1) < entries(5, 3) < entries(5, 4)
    assert bits({5: 3, 6: 1}) == 6
    assert bits({5: 1, 6: 0}) == (6 if entries(6, 0) < entries(5, 1) else 5)
    assert bits({6: 1, 7: 2, 8: 0}) == 6
    with pytest.raises(bc.DataError, match=r"the best that was reached, with \d+ bits"):
        bits({})


def test_no_bits_are_tried_beyond_two_that_need_more_entries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = set()

    def bound(one: OutputPlan) -> float:
        tried.add(one.code.bits)
        return 1.0

    found = chosen_plan(monkeypatch, bound, "20Nm", PlanOptions(7))
    assert max(tried) == found.bits + 2


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
