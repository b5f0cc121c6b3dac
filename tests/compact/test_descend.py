"""Searches of widths, inside: descents, what widths are in effect, what inputs forbid."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from compact.word_robots import X, case, logarithm, sketch_of, small_robot, tape_problem
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
from boolcomp.compact.errors import StateMaker
from boolcomp.compact.limits import Floor, climbed, curve_splits, effective, in_range
from boolcomp.compact.promise import BoundTask, PromisedSearch, input_floor, refuse_impossible
from boolcomp.compact.search import (
    MOST_PERTURBATIONS_A_SECOND,
    Candidate,
    SampledForm,
    SearchTask,
    Trial,
    choose_widths,
    explore,
    polish,
)
from boolcomp.compact.sketch import (
    AngleSum,
    Curve,
    Role,
    WidthVariable,
    live_nodes,
    quantities,
    widths_of,
    widths_text,
)
from boolcomp.compact.sketch import variable as variable_of
from boolcomp.compact.sketch_terms import SHARE, without_small_waves
from boolcomp.compact.widths import Ledger
from boolcomp.problem.build import function_problem
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.problem import promise_of
from boolcomp.problem.robot.library import load_robot
from boolcomp.terms.extract import Terms, split
from boolcomp.terms.terms import evaluate_terms
from boolcomp.words.graph import Heap

Floats = NDArray[np.float64]


def test_live_nodes_are_known_after_every_change() -> None:
    descent = case("machado-2r").chosen(0.4)
    rng = random.Random(5)  # noqa: S311 (no secrets)
    prices = np.full(len(descent.allowed), 200.0)
    dropped = 0
    for _ in range(12):
        descent.jump(prices, rng)
        assert descent.live == live_nodes(descent.sketch, descent.widths)
        dropped += len(descent.sketch.nodes) - len(descent.live)
        cost, noise = descent.cost, descent.noise
        descent.refresh()
        assert descent.cost == pytest.approx(cost)
        assert descent.noise == pytest.approx(noise)
        prices = prices * 0.6  # so that more and more addends are not worth keeping
    assert dropped


def test_a_descent_is_restored() -> None:
    descent = case("machado-2r").chosen(0.4)
    before = (dict(descent.widths), descent.cost, descent.noise.tolist(), set(descent.live))
    saved = descent.saved()
    rng = random.Random(1)  # noqa: S311 (no secrets)
    for _ in range(5):
        descent.jump(np.full(2, 5.0), rng)
    assert descent.widths != before[0]
    descent.restore(saved)
    after = (descent.widths, descent.cost, descent.noise.tolist(), descent.live)
    assert after == before
    assert descent.live == live_nodes(descent.sketch, descent.widths)


def test_the_predicted_cost_of_a_change_is_its_cost() -> None:
    descent = case("machado-2r").chosen(0.4)
    chosen = [v for v in descent.widths if v.role not in (Role.KEEP, Role.SHIFT)]
    assert any(v.node in descent.live for v in chosen)
    for variable in random.Random(3).sample(chosen, 25):  # noqa: S311 (no secrets)
        old = descent.widths[variable]
        cost, noise = descent.change(variable, old + 1)
        assert descent.widths[variable] == old
        before = descent.cost, descent.noise
        descent.widths[variable] = old + 1
        descent.refresh()
        assert descent.cost - before[0] == pytest.approx(cost, abs=1e-9)
        assert descent.noise - before[1] == pytest.approx(noise, rel=1e-9, abs=1e-12)
        descent.widths[variable] = old
        descent.refresh()


def test_the_effective_width_is_limited_by_the_words_that_are_read() -> None:
    """Of ten bits a sum has ten, and a table of it reads ten: whatever more is asked for."""
    descent = case("planar-3r").chosen(0.4)
    sketch, widths = descent.sketch, dict(descent.widths)
    sums = {k: node for k, node in enumerate(sketch.nodes) if isinstance(node, AngleSum)}
    inner, outer = next((j, k) for k, one in sums.items() for j, _ in one.items if j in sums)
    first, second = Role.ANGLE_BITS.of(inner), Role.ANGLE_BITS.of(outer)
    table = next(k for k, node in enumerate(sketch.nodes) if getattr(node, "source", 0) == outer)
    read = Role.READ.of(table)

    def found(one: int, other: int, seen: int) -> list[int]:
        asked = descent.model.settings(widths | {first: one, second: other, read: seen})
        return [effective(descent.model, asked, v) for v in (first, second, read)]

    assert found(16, 16, 14) == [10, 10, 10]
    assert found(10, 10, 10) == [10, 10, 10]
    assert found(8, 16, 14) == [8, 8, 8]
    assert found(8, 7, 14) == [8, 7, 7]
    assert found(8, 7, 5) == [8, 7, 5]


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


def test_polishing_moves_constants_by_two_units_at_most() -> None:
    descent = case("machado-2r").chosen(0.4)

    def judge(widths: dict[WidthVariable, int]) -> Trial:
        moved = sum(abs(value) for one, value in widths.items() if one.role is Role.SHIFT)
        return Trial(1000 - moved, descent.noise, holds=True)

    polish(descent, descent.allowed, judge, 1000)
    shifts = {abs(value) for one, value in descent.widths.items() if one.role is Role.SHIFT}
    assert shifts == {2}


def test_exploring_passes_through_slightly_larger_costs() -> None:
    descent, farthest = case("machado-2r").chosen(0.4), [0]
    before = dict(descent.widths)

    def judge(widths: dict[WidthVariable, int]) -> tuple[float, float]:
        changed = sum(widths[one] != value for one, value in before.items())
        farthest.append(changed)
        return 1.0 + 0.01 * changed, 0.0

    _, cost = explore(descent.sketch, before, judge, 200, random.Random(1))  # noqa: S311 (no secrets)
    assert cost == 1.0
    assert max(farthest) > 3  # a move changes three


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


V, W = ("v", -1.0, 1.0, False), ("w", -1.0, 1.0, False)


def most(words: list[Any], function: Callable[..., Any]) -> tuple[float, float]:
    """Return the largest output of four samples, and where climbing from them ends, in steps."""
    problem = tape_problem(words, function)
    sketch = sketch_of(problem)
    given = quantities(problem, {one.name: 10 for one in problem.inputs})
    drawn = StateMaker(problem, given, problem.steps(8)).corners(4, 3).values
    (place,) = sketch.outputs
    found = sketch.evaluate(climbed(sketch, given, drawn))[place]
    return float(abs(sketch.evaluate(drawn)[place]).max()), float(abs(found).max())


def test_climbing_finds_the_corner_of_a_product_of_sums() -> None:
    sampled, found = most([X, V, W], lambda _, x, v, w: (x + v) * (v + w) * (w + x) * 0.4)
    assert found >= sampled
    assert found == pytest.approx(0.4 * 8 * 32, rel=1e-9)  # 32 steps are 1


ALL = np.full(2, np.inf)


def floor_of(demand: Demand) -> Any:
    torques = terms_of("machado-2r")
    return SampledForm(SearchTask(torques, demand, np.ones(2), ALL), 0).floor()


def test_the_floor_of_each_input_is_the_error_of_the_middles_of_its_cells() -> None:
    robot = load_robot("machado-2r")
    floor = floor_of(Demand(input_bits={"q": 7, "qd": 5, "qdd": 6}))
    steps = np.array([(k.torque.high - k.torque.low) / 256 for k in robot.links])
    rng = np.random.default_rng(9)
    ranges = {
        f"{kind}{j}": getattr(link, field)
        for kind, field in (("q", "position"), ("qd", "velocity"), ("qdd", "acceleration"))
        for j, link in enumerate(robot.links, 1)
    }
    states = {name: rng.uniform(r.low, r.high, 20_000) for name, r in ranges.items()}

    def torques(columns: dict[str, Any]) -> Any:
        arrays = [
            np.stack([columns[k + "1"], columns[k + "2"]], axis=1) for k in ("q", "qd", "qdd")
        ]
        return inverse_dynamics(robot, *arrays) / steps

    exact = torques(states)
    for name, span in ranges.items():
        step = (span.high - span.low) / (1 << {"q": 7, "qd": 5, "qdd": 6}[name[:-1]])
        middle = (np.floor((states[name] - span.low) / step) + 0.5) * step + span.low
        missed = ((torques({**states, name: middle}) - exact) ** 2).mean(axis=0)
        assert floor.parts[name] == pytest.approx(missed, rel=0.1, abs=1e-9)


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


def test_the_advice_is_short_and_possible() -> None:
    allowed, names = np.array([1 / 12 + 0.1]), ("q1", "q2", "q3", "qd1", "qd2")
    bits = dict.fromkeys(names, 6)
    # 3 in four steps and 0.2 in two leave 0.062 of 0.075.
    many = made(bits, q1=(3.0,), **dict.fromkeys(names[1:], (0.2,)))
    assert "widen them (--input-bits 10), or" in many.advice(allowed)
    text = made({"q1": 15}, q1=(100.0,)).advice(allowed)
    assert text == (
        "mostly from q1 (15 bits), but wider words do not suffice: allow a larger error"
    )
    assert "do not suffice" in made({"q1": 15}, q1=(1.0,)).advice(allowed)  # 17 bits would
    assert "q1=16" in made({"q1": 15}, q1=(0.2,)).advice(allowed)


def test_the_advice_names_the_inputs_that_make_four_fifths() -> None:
    bits = dict.fromkeys(("q1", "q2", "q3"), 6)
    text = made(bits, q1=(0.7,), q2=(0.2,), q3=(0.1,)).advice(np.array([0.2]))
    assert text.startswith("mostly from q1 (6 bits), q2 (6 bits): ")


def test_jumps_are_blamed_where_they_are_more_than_inputs_and_the_allowed_error() -> None:
    allowed = np.array([1 / 12 + 0.1])
    for inputs, jumps, blamed in ((0.2, 0.15, False), (0.05, 0.08, False), (0.2, 0.25, True)):
        floor = replace(made({"q1": 8}, q1=(inputs,)), jumps=np.array([jumps]))
        assert floor.advice(allowed).startswith("mostly from jumps") is blamed


def test_outputs_whose_rounding_alone_is_too_much_are_named() -> None:
    floor = replace(made({}, q1=(0.0, 0.0, 0.0)), rounding=np.array([0.1, 0.2, 0.2]))
    allowed = np.array([0.15, 0.15, 0.15])
    assert floor.advice(allowed).startswith("T2, T3 hardly leave zero")
    named = replace(floor, names=("a", "b", "c"))
    assert named.advice(allowed).startswith("b, c hardly leave zero")
    assert named.advice(np.array([0.15, 0.15, 0.25])).startswith("b hardly leaves zero")


ARM = arm_problem("machado-2r")


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


def test_no_program_errs_less_than_its_inputs_make() -> None:
    asked = asked_for("4lsb", 5, input_bits={"q": 6, "qd": 6, "qdd": 6}).completed(ARM)
    floor = input_floor(ARM, asked).least
    terms = split(ARM)
    search = task_of(terms, asked, 4.0).search(0)
    widths, _ = choose_widths(search.model, np.array([0.6, 0.6]))  # as fine as can be
    found = np.array(search.bounded(widths, np.zeros(2)).bounds.steps)
    assert (floor <= found).all()
    assert (found < 1.6 * floor).all()


@pytest.mark.slow
def test_heaps_get_room_where_an_overflow_is_not_excluded() -> None:
    terms = split(arm_problem("elbow-3r"))
    asked = asked_for("2lsb", 6).completed(terms.problem)
    search = task_of(terms, asked, 2.0).search(0)
    widths, _ = choose_widths(search.model, np.full(3, 2.0))
    none = np.zeros(3)
    plain = search.bounded(widths, none)
    assert plain.bounds.unproved
    made = search.made(widths, none)
    assert not made.bounds.unproved
    rooms = {v.node for v, value in made.widths.items() if v.role is Role.ROOM and value}
    wider = [
        new.bits - old.bits
        for old, new in zip(
            plain.graph.nodes, search.bounded(made.widths, none).graph.nodes, strict=True
        )
        if isinstance(new, Heap)
    ]
    assert rooms
    assert sum(wider) == sum(made.widths[Role.ROOM.of(place)] for place in rooms)


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


def test_the_smallest_choice_that_is_proved_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    state, made = steering()

    def turn(state: PromisedSearch, nodes: float, tight: float) -> PromisedSearch:
        monkeypatch.setattr(promise, "_steps", lambda *_: [tight, 0.6])
        return state.judged(replace(state.starts[0], nodes=nodes), f"{nodes} {tight}")

    state = turn(state, 100, 4.000002)  # not proved
    assert state.best is None
    assert state.reached == (4.000002, 0.6)
    state = turn(state, 120, 5.5)  # neither, and farther from it
    assert state.best is None
    assert state.nearest is not None
    assert state.nearest.nodes == 100
    state = turn(state, 110, 1.0)
    assert state.best is not None
    assert state.best.nodes == 110
    # The next plain bound may be as much larger beside rounding as the tight one was smaller.
    looser = max(1.0, (made.bounds.steps[0] - 0.5) / 0.5)
    assert state.task.allowed[0] == pytest.approx(0.5 + looser * 3.5, rel=0.01)
    assert state.task.allowed[0] < 0.5 + looser * 3.5
    for nodes, tight in ((130, 0.9), (110, 0.9), (90, 4.1)):  # larger, as large, not proved
        before, state = state.best, turn(state, nodes, tight)
        assert state.best is before
    state = turn(state, 95, 3.99)
    assert state.best is state.starts[0]
    assert (turn(state, 99, made.bounds.steps[0] + 1)).task.allowed[0] <= 4.0  # were it looser


def test_an_output_moves_by_half_a_cell_times_its_slope() -> None:
    words = {"x": bc.word(0, 1, bits=5), "z": bc.word(-1, 1, bits=5)}
    problem = function_problem(lambda x, z: 3 * x - 2 * z, words, ["y"], "plane")
    found = input_floor(problem, asked_for("1lsb", 6).completed(problem))
    (step,) = problem.steps(6)
    assert found.names == ("x", "z")
    assert found.bits == (5, 5)
    cells = np.array([3 * 1 / 2**5, 2 * 2 / 2**5])
    assert found.moves.max(axis=(1, 2)) == pytest.approx(cells / 2 / step)
    assert found.least == pytest.approx(0.5 + cells.sum() / 2 / step)


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
