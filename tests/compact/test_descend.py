"""Searches of widths, inside: moves of widths, what inputs forbid, what is guaranteed."""

import random
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from compact.word_robots import case, logarithm, sketch_of, small_robot
from numpy.typing import NDArray
from samples import problem_of as arm_problem
from samples import terms_of
from targets.exported import tiny

import boolcomp as bc
from boolcomp import pipeline
from boolcomp.base.errors import DataError
from boolcomp.base.workers import ALONE
from boolcomp.compact import promise
from boolcomp.compact.demand import Demand, ignore_progress, usual_demand
from boolcomp.compact.limits import Floor, curve_splits, in_range
from boolcomp.compact.promise import BoundTask, PromisedSearch, input_floor, refuse_impossible
from boolcomp.compact.search import (
    MOST_PERTURBATIONS_A_SECOND,
    Candidate,
    SampledForm,
    SearchTask,
    Trial,
    explore,
    polish,
)
from boolcomp.compact.sketch import Curve, Role, WidthVariable, widths_of, widths_text
from boolcomp.compact.sketch import variable as variable_of
from boolcomp.compact.sketch_terms import SHARE, without_small_waves
from boolcomp.compact.widths import Ledger
from boolcomp.problem.build import function_problem
from boolcomp.problem.problem import promise_of
from boolcomp.terms.extract import Terms, split
from boolcomp.terms.terms import evaluate_terms

Floats = NDArray[np.float64]


def test_a_large_problem_takes_no_more_perturbations_than_effort_allows() -> None:
    torques = terms_of(small_robot(1, 1))
    demand = Demand(effort=2.0).completed(torques.problem)
    one = SampledForm(SearchTask(torques, demand, np.ones(1), np.full(1, np.inf)), 0)
    none = np.zeros(0)

    def rounds(variables: int, excess: float = 0.0) -> list[int]:
        widths = {Role.CUT.of(place): 0 for place in range(variables)}
        return one.rounds(Candidate(0, widths, none, none, 0, 1.0, excess))

    assert rounds(100) == [0, 2, 2, 0, 0, 0]  # a hundredth a width and second
    assert max(rounds(10_000)) == 2 * MOST_PERTURBATIONS_A_SECOND
    assert rounds(10_000, 0.1) == [0] * 4


def test_polishing_ends_after_a_sweep_without_gain() -> None:
    descent = case("machado-2r").chosen(0.4)
    before, judged = dict(descent.widths), []

    def judge(widths: dict[WidthVariable, int]) -> Trial:
        judged.append(tuple(widths.items()))
        return Trial(100, descent.noise, holds=True)  # none is smaller

    best, left = polish(descent, descent.allowed, judge, 10_000)
    assert best.nodes == 100
    assert {k: v for k, v in descent.widths.items() if v or k in before} == before
    assert len(judged) == 10_001 - left
    assert 1 < len(set(judged)) == len(judged)  # none is tried twice


@pytest.mark.parametrize("kept", [False, True])
def test_a_random_move_is_of_one_to_three_widths_in_their_ranges(*, kept: bool) -> None:
    descent = case("machado-2r").chosen(0.4)
    judged: list[dict[WidthVariable, int]] = []

    def judge(widths: dict[WidthVariable, int]) -> tuple[float, float]:
        judged.append(widths)
        return 1.0 if kept or len(judged) == 1 else 1e9, 0.0

    explore(descent.sketch, descent.widths, judge, 1000, random.Random(1))  # noqa: S311 (no secrets)
    first, *others = judged
    shifts = {one[v] for one in judged for v in first if v.role is Role.SHIFT}
    assert shifts == ({-2, -1, 0, 1, 2} if kept else {-1, 0, 1})
    assert kept or {sum(one[v] != first[v] for v in first) for one in others} == {1, 2, 3}
    for variable in first:
        if variable.role is not Role.SHIFT:
            values = {one[variable] for one in others} - {first[variable]}
            assert all(in_range(descent.sketch, variable, value) for value in values)


def test_a_curve_of_two_tables_has_a_correction_of_a_quarter_of_its_entries() -> None:
    sketch, bits = sketch_of(logarithm(12), 12), 12
    (node,) = (k for k, one in enumerate(sketch.nodes) if isinstance(one, Curve))
    read, low, lead, times = (
        role.of(node) for role in (Role.READ, Role.SPLIT, Role.LEAD, Role.TIMES)
    )
    found = list(curve_splits(sketch, {read: bits, low: 0}, node))
    pairs = [one for one in found if not one[times]]
    assert {bits - one[low] for one in pairs} == set(range(2, 10))
    for one in pairs:
        assert one[low] + one[lead] == max(bits - 2, one[low] + 1)


ARM = arm_problem("machado-2r")
ALL = np.full(2, np.inf)


def floor_of(demand: Demand) -> Any:
    torques = terms_of("machado-2r")
    return SampledForm(SearchTask(torques, demand, np.ones(2), ALL), 0).floor()


def test_the_floor_of_each_input_is_the_error_of_the_middles_of_its_cells() -> None:
    bits = {"q": 7, "qd": 5, "qdd": 6}
    floor, states = floor_of(Demand(input_bits=bits)), np.concatenate(ARM.draw(20_000, 9), axis=1)
    exact = ARM.reference(*np.hsplit(states, 3)) / ARM.steps(8)
    for k, one in enumerate(ARM.inputs):
        low, step = one.range.low, one.range.width / (1 << bits[one.name[:-1]])
        middles = states.copy()
        middles[:, k] = (np.floor((states[:, k] - low) / step) + 0.5) * step + low
        missed = ((ARM.reference(*np.hsplit(middles, 3)) / ARM.steps(8) - exact) ** 2).mean(axis=0)
        assert floor.parts[one.name] == pytest.approx(missed, rel=0.1, abs=1e-9)


def test_the_advised_widths_are_enough() -> None:
    floor = floor_of(Demand(input_bits={"q": 6, "qd": 6, "qdd": 6}))
    allowed = np.full(2, 0.45**2)
    assert floor.forbids(allowed)
    said = floor.advice(allowed).partition("--input-bits ")[2].partition(")")[0]
    wider = dict.fromkeys(floor.bits, 6)
    if "=" in said:
        wider |= {name: int(bits) for name, _, bits in (p.partition("=") for p in said.split(","))}
    else:
        wider = dict.fromkeys(wider, int(said))
    assert not floor_of(Demand(input_bits=wider)).forbids(allowed)
    assert (floor_of(Demand(input_bits=wider)).total < allowed).all()


def made(bits: dict[str, int], **parts: tuple[float, ...]) -> Floor:
    return Floor({name: np.array(part) for name, part in parts.items()}, bits)


FIVE = ("q1", "q2", "q3", "qd1", "qd2")
LITTLE = np.array([1 / 12 + 0.1])
ROUNDED = np.array([0.1, 0.2, 0.2])


@pytest.mark.parametrize(("floor", "allowed", "said"), [
    # 3 in four steps and 0.2 in two leave 0.062 of 0.075.
    (made(dict.fromkeys(FIVE, 6), **dict.fromkeys(FIVE[1:], (0.2,)), q1=(3.0,)), LITTLE,
     "widen them (--input-bits 10), or"),
    (made({"q1": 15}, q1=(100.0,)), LITTLE,
     "mostly from q1 (15 bits), but wider words do not suffice: allow a larger error"),
    (made({"q1": 15}, q1=(1.0,)), LITTLE, "do not suffice"),  # 17 bits would
    (made({"q1": 15}, q1=(0.2,)), LITTLE, "q1=16"),
    (made(dict.fromkeys(FIVE, 6), q1=(0.7,), q2=(0.2,), q3=(0.1,)), np.array([0.2]),
     "mostly from q1 (6 bits), q2 (6 bits): "),  # four fifths
    (replace(made({}, q1=(0.0,) * 3), rounding=ROUNDED), np.array([0.15] * 3),
     "T2, T3 hardly leave zero"),
    (replace(made({}, q1=(0.0,) * 3), rounding=ROUNDED, names=("a", "b", "c")),
     np.array([0.15, 0.15, 0.25]),
     "b hardly leaves zero"),
])  # fmt: skip
def test_the_advice_names_what_errs_most_and_what_suffices(
    floor: Floor, allowed: Floats, said: str
) -> None:
    assert said in floor.advice(allowed)


def test_jumps_are_blamed_where_they_are_more_than_inputs_and_the_allowed_error() -> None:
    for inputs, jumps, blamed in ((0.2, 0.15, False), (0.05, 0.08, False), (0.2, 0.25, True)):
        floor = replace(made({"q1": 8}, q1=(inputs,)), jumps=np.array([jumps]))
        assert floor.advice(LITTLE).startswith("mostly from jumps") is blamed


def asked_for(error: str, bits: int = 4, **more: Any) -> Demand:
    given: dict[str, Any] = {"effort": 0.0, "grade": "plain", **more}
    return usual_demand(bits, error=promise_of("--error", error), **given)


def test_the_message_for_coarse_inputs_names_sufficient_widths() -> None:
    asked = asked_for("1lsb", 8, input_bits={"q": 8, "qd": 8, "qdd": 8}).completed(ARM)
    promised = np.array([1.0, 1.0])
    said = r"cannot guarantee 1 LSB \(0\.7812 N·m\) for tau2: .* of 8 bits .* --input-bits q="
    with pytest.raises(DataError, match=said):
        refuse_impossible(ARM, asked, promised)
    wider = input_floor(ARM, asked).wider(promised)
    assert wider
    again = replace(asked, input_bits={**asked.input_bits, **wider})
    refuse_impossible(ARM, again, promised)
    assert (input_floor(ARM, again).least <= 0.76).all()
    for name, bits in wider.items():  # none of them may be narrower
        narrow = replace(again, input_bits={**again.input_bits, name: bits - 1})
        assert input_floor(ARM, narrow).least.max() > 0.75


def task_of(terms: Terms, asked: Demand, limit: float) -> BoundTask:
    """Return the task of plain bounds below a limit, for all outputs."""
    limits = np.full(len(terms.problem.outputs), limit)
    return BoundTask(terms, asked, limits, np.full(len(limits), np.inf))


@cache
def steering() -> tuple[PromisedSearch, Any]:
    """Return the begin of a search of the 2R for 4 LSB, and the graph of its first choice."""
    asked = asked_for("4lsb", 5, grade="tight").completed(ARM)
    ledger, most = Ledger(asked.effort, ignore_progress, None, ALONE), np.full(2, 4.0)
    task = task_of(split(ARM), asked, 4.0)
    last = task.search(0).screen()
    made = task.search(0).bounded(last.widths, last.biases)
    return PromisedSearch(split(ARM), asked, ledger, most**2, most, task, starts=(last,)), made


def test_two_more_bits_than_the_best_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def predicted(_terms: Terms, demand: Demand, _ledger: Ledger) -> float:
        tried.append(demand.bits)
        if demand.bits < 4:
            raise DataError("below the floor")
        return {4: 200.0, 5: 210.0, 6: 150.0, 7: 160.0, 8: 170.0, 9: 100.0}[demand.bits]

    monkeypatch.setattr(promise, "predicted", predicted)
    assert promise.bits_for([split(ARM)], asked_for("20Nm")) == 6
    assert tried == [2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(("tolerance", "centred"), [(0.4, True), (0.6, False)])
def test_bounds_that_are_off_by_more_than_a_tolerance_are_centred(
    monkeypatch: pytest.MonkeyPatch, tolerance: float, *, centred: bool
) -> None:
    state, _ = steering()
    monkeypatch.setattr(promise, "BESIDE", tolerance)
    given = np.array([0.5, -0.5])
    made = state.task.search(0).made(state.starts[0].widths, given)
    assert made.biases.tolist() == pytest.approx([0.0, 0.0] if centred else given, abs=1e-9)


def test_refining_uses_up_the_guaranteed_error() -> None:
    state, made = steering()
    limits = np.full(2, 4.0)
    assert (made.bounds.steps / limits).max() > 1  # of the first choice
    found = state.task.search(0).refine(state.starts[0])
    assert 0.9 < found.excess <= 1


def test_one_output_below_the_floor_is_refused() -> None:
    words = {"x": bc.word(0, 1, bits=5)}
    problem = function_problem(lambda x: (x, x), words, ["fine", "coarse"], "both")
    asked = asked_for("1lsb", 6).completed(problem)
    (worst, _) = input_floor(problem, asked).least
    for promised in ([worst / 2, 9.0], [9.0, worst / 2]):
        with pytest.raises(DataError, match="cannot guarantee"):
            refuse_impossible(problem, asked, np.array(promised))
    refuse_impossible(problem, asked, np.array([worst, worst]))


def values_of(
    terms: Terms, count: int = 3_000
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the outputs of terms at seeded states."""
    columns = terms.problem.columns(terms.problem.draw(count, 1))
    return np.stack([evaluate_terms(parts, columns) for parts in terms.outputs], axis=1)


@pytest.mark.parametrize("allowed", [0.25, 100.0])
def test_waves_that_are_left_out_make_a_small_part_of_the_allowed_error(allowed: float) -> None:
    terms = terms_of("puma560")
    steps = terms.problem.steps(8)
    fewer = without_small_waves(terms, [allowed] * 6, steps)
    missed = ((values_of(terms) - values_of(fewer)) / steps) ** 2
    assert fewer.waves < terms.waves / 2
    assert (missed.mean(axis=0) <= 1.3 * SHARE * allowed).all()  # waves are not quite independent


def test_widths_are_listed_by_place_and_name_and_read_back() -> None:
    widths = {
        Role.DROP_A.of(12, 2): 3, Role.DROP_A.of(12, 10): 4, Role.CUT.of(12): -5,
        Role.SHIFT.of(12): 1, Role.EXPONENT.of(3): 7, Role.DIGITS.of(12, 0): 2,
    }  # fmt: skip
    text = widths_text(widths)
    assert list(text.items()) == [
        ("3 e", 7), ("12 a10", 4), ("12 a2", 3), ("12 c", 1), ("12 cut", -5), ("12 d0", 2)
    ]  # fmt: skip
    assert widths_of(text) == widths


@pytest.mark.parametrize("name", ["", "x", "3", "a-1", "cut 1", "A"])
def test_an_unknown_name_of_a_width_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no"):
        variable_of(0, name)


def test_a_choice_holds_where_every_output_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    state, made = steering()
    most = np.array(made.bounds.steps)
    doubtful = replace(made.bounds, unproved=(3,))
    assert made.holds(most)
    assert not made.holds(most - [0, 1e-6])
    assert not made._replace(bounds=doubtful).holds(most)
    said = state.task.search(0).sketched(made.graph, made.widths)
    for bounds, kept in ((made.bounds, True), (doubtful, False), (None, False)):
        monkeypatch.setattr(promise, "bounds_of", lambda *_, given=bounds: given)
        found = promise._steps(said, state)  # noqa: SLF001 (a whole search takes a minute)
        assert bool((np.array(found) <= most).all()) is kept


def test_a_certificate_with_wider_bounds_breaks_a_promise() -> None:
    program, made = tiny(), cast("Any", [SimpleNamespace(promised=(1.0,))])
    (load,) = program.loads

    def bounded(bound: float) -> Any:
        outputs = (replace(load.outputs[0], bound=bound),)
        return replace(program, loads=(replace(load, outputs=outputs),))

    pipeline._refuse_broken(bounded(0.5), made)  # noqa: SLF001 (without a certificate)
    said = r"confirms 0\.500001 N·m as the bound of tau1, more than the guaranteed 0\.5 N·m"
    with pytest.raises(DataError, match=said):
        pipeline._refuse_broken(bounded(0.500001), made)  # noqa: SLF001 (as above)
