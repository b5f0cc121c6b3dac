"""Errors that are promised: searched for by bounds, kept by proofs, refused with a sentence."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from samples import problem_of

import boolcomp as bc
from boolcomp import pipeline
from boolcomp.common.errors import DataError, UsageError
from boolcomp.compact.demand import Demand, digest, usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.promise import passes
from boolcomp.compact.promise.floor import input_floor, refuse_impossible
from boolcomp.compact.promise.steered import Made, SteeredTask
from boolcomp.compact.promise.wordlength import bits_for
from boolcomp.compact.result.built import Built
from boolcomp.compact.sketch.variables import Role
from boolcomp.compact.widths.descend import choose_widths
from boolcomp.pipeline import compile_compact
from boolcomp.problem.promise import promise_of
from boolcomp.problem.robot import load_robot
from boolcomp.problem.written.making import function_problem
from boolcomp.program.programfile import load_program
from boolcomp.terms import split
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.problem.problem import Problem


def demand(error: str, bits: int = 4, **more: Any) -> Demand:
    given: dict[str, Any] = {"effort": 0.0, "grade": "plain", **more}
    return usual_demand(bits, error=promise_of("--error", error), **given)


def two_links() -> Problem:
    return problem_of(load_robot("machado-2r"))


def built(error: str, store: Path, bits: int = 4) -> Built:
    choices = CompactChoices(demand(error, bits), store, also_shipped=False)
    return compile_compact("machado-2r", choices).built[0]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Built, Path]:
    """Return a program of few bits that keeps a promise, and the store that it is in."""
    store = tmp_path_factory.mktemp("promise")
    return built("1.2lsb", store), store


@pytest.mark.check
def test_a_promise_holds_at_the_corners_of_cells_and_is_found_again(
    kept: tuple[Built, Path], tmp_path: Path
) -> None:
    made, store = kept
    program = made.program()
    assert "error=tau1=1.2lsb,tau2=1.2lsb" in program.demand
    problem, steps = two_links(), np.array(two_links().steps(4))
    assert (np.array(program.bound) <= 1.2 * steps).all()
    rng = np.random.default_rng(1)
    for k in range(4):  # any states, then those next to borders of cells
        arrays = problem.draw(50_000, k)
        if k:
            for group, array in zip(problem.groups, arrays, strict=True):
                for column, one in enumerate(problem.members(group)):
                    cell = one.word.width / 2 ** (3 + 3 * k)
                    places = one.word.low + cell * np.round(
                        (array[:, column] - one.word.low) / cell
                    )
                    places += cell * 1e-7 * rng.choice([-1, 1], len(places))
                    array[:, column] = np.clip(places, one.range.low, one.range.high)
        error = np.abs(program(*arrays) - problem.reference(*arrays))
        assert (error <= program.bound).all()
        assert (error.max(axis=0) > 0.5 * steps).all()
    program.save(tmp_path / "program")
    assert load_program(tmp_path / "program").bound == program.bound
    again = built("1.2lsb", store)
    assert again.stored
    assert again.bounds == made.bounds


@pytest.mark.check
def test_a_search_keeps_only_what_is_proved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(passes, "_steps", lambda said, _grade: [3.0] * len(said.results))
    choices = CompactChoices(demand("2lsb", 3), tmp_path, also_shipped=False)
    with pytest.raises(DataError, match=r"cannot be promised; the best .* tau1 3\.000 LSB \(150 N"):
        compile_compact("machado-2r", choices)


@pytest.mark.slow
def test_what_no_bound_proves_is_not_kept(kept: tuple[Built, Path]) -> None:
    made, _ = kept
    assert made.kept
    assert made.holds
    assert made.bounds is not None
    for wrong in (None, replace(made.bounds, unproved=(3,))):
        assert not replace(made, bounds=wrong).kept
    first = replace(made.bounds.outputs[0], high=made.bounds.outputs[0].high + 1)
    worse = replace(made.bounds, outputs=(first, *made.bounds.outputs[1:]))
    assert not replace(made, bounds=worse).holds


def test_coarse_inputs_are_refused_with_those_that_would_do() -> None:
    asked = demand("1lsb", 8, input_bits={"q": 8, "qd": 8, "qdd": 8}).completed(two_links())
    promised = np.array([1.0, 1.0])
    said = r"tau2 cannot be kept within 1 LSB \(0\.7812 N·m\): inputs of 8 bits .* --input-bits q="
    with pytest.raises(DataError, match=said):
        refuse_impossible(two_links(), asked, promised)
    wider = input_floor(two_links(), asked).wider(promised)
    assert wider
    again = replace(asked, input_bits={**asked.input_bits, **wider})
    refuse_impossible(two_links(), again, promised)
    assert (input_floor(two_links(), again).least <= 0.76).all()
    for name, bits in wider.items():  # none of them may be narrower
        narrow = replace(again, input_bits={**again.input_bits, name: bits - 1})
        assert input_floor(two_links(), narrow).least.max() > 0.75


@pytest.mark.slow
def test_no_program_errs_less_than_its_inputs_make() -> None:
    asked = demand("4lsb", 5, input_bits={"q": 6, "qd": 6, "qdd": 6}).completed(two_links())
    floor = input_floor(two_links(), asked).least
    terms = split(two_links())
    task = SteeredTask(terms, asked, np.array([4.0, 4.0]))
    search = task.search(0)
    widths, _ = choose_widths(search.model, np.array([0.6, 0.6]))  # as fine as can be
    found = np.array(search.bounded(widths, np.zeros(2)).bounds.steps)
    assert (floor <= found).all()
    assert (found < 1.6 * floor).all()


@pytest.mark.slow
def test_heaps_get_room_where_an_overflow_is_not_excluded() -> None:
    terms = split(problem_of(load_robot("elbow-3r")))
    asked = demand("2lsb", 6).completed(terms.problem)
    most = np.array([2.0] * 3)
    search = SteeredTask(terms, asked, most).search(0)
    widths, _ = choose_widths(search.model, most)
    none = np.zeros(3)
    plain = search.bounded(widths, none)
    assert plain.bounds.unproved
    made = search.made(widths, none)
    assert not made.bounds.unproved
    rooms = {v.node for v, value in made.widths.items() if v.role is Role.ROOM and value}
    wider = [
        new.bits - old.bits
        for old, new in zip(plain.graph.nodes, search.graph(made.widths, none).nodes, strict=True)
        if isinstance(new, Heap)
    ]
    assert rooms
    assert sum(wider) == sum(made.widths[Role.ROOM.of(place)] for place in rooms)


def test_a_promise_is_part_of_what_is_asked_and_changes_no_other_result() -> None:
    problem = two_links()
    usual = usual_demand(8)
    assert "error" not in usual.key
    one, other = demand("1lsb", 8), demand("1.5625Nm,0.78125Nm", 8)
    assert digest(problem, one) != digest(problem, usual)
    assert digest(problem, demand("1lsb", 8, grade="tight")) != digest(problem, one)
    assert digest(problem, usual_demand(8, grade="plain")) == digest(problem, usual)
    assert other.completed(problem).key.startswith("bits=8 input_bits=q=13,qd=13,qdd=13")
    assert one.completed(problem) == one.completed(problem).completed(problem)


def test_inputs_are_as_wide_as_a_promise_needs_unless_something_is_said() -> None:
    for error, bits in (("1lsb", 13), ("1.5lsb", 12), ("6lsb", 10), ("0.6lsb", 16)):
        assert demand(error, 8).completed(two_links()).input_bits["q"] == bits
    said = demand("1lsb", 8, input_bits={"words": 11}).completed(two_links())
    assert set(said.input_bits.values()) == {11}


def test_a_promise_beside_another_error_is_refused() -> None:
    for other in ({"rms": (0.5,)}, {"max": (3.0,)}):
        with pytest.raises(UsageError, match="ask for one of them"):
            demand("1lsb", 8, **other)


@pytest.mark.check
def test_the_word_length_that_keeps_an_error_is_found() -> None:
    terms = split(two_links())
    asked = demand("20Nm", input_bits={"words": 10})
    bits = bits_for([terms], asked)
    steps = two_links().steps(bits)
    assert max(steps) / 2 < 20
    assert 4 <= bits <= 7
    with pytest.raises(UsageError, match="promised in a unit"):
        bits_for([terms], demand("1lsb"))
    with pytest.raises(DataError, match=r"rounding alone|cannot be kept"):
        bits_for([terms], demand("0.0001Nm"))


@pytest.mark.check
def test_one_input_is_promised_as_well() -> None:
    program = bc.compile(
        lambda x: bc.sqrt(x + 1), inputs={"x": bc.word(0, 1, bits=8)}, outputs=["y"], name="root",
        bits=5, error="1lsb", effort=0,
    )  # fmt: skip
    x = np.linspace(0, 1, 100_001)
    step = program.loads[0].outputs[0].code.step
    assert program.bound[0] <= step
    assert np.abs(program(x=x)[:, 0] - np.sqrt(x + 1)).max() <= program.bound[0]


def turn(state: passes.Steering, nodes: float, plain: float, tight: float) -> passes.Steering:
    """Return what a turn makes of a choice; its bounds are those of the first output."""
    made = SimpleNamespace(
        graph=None, widths={}, bounds=SimpleNamespace(steps=(plain, plain), tight=tight)
    )
    search = SimpleNamespace(
        bounded=lambda _widths, _biases: made, explained=lambda _graph, _widths: made.bounds
    )
    last = SimpleNamespace(nodes=nodes, form=0, widths={}, biases=np.zeros(2))
    faked = SimpleNamespace(
        goal=state.goal, last=last, best=state.best, nearest=state.nearest, reached=state.reached,
        task=SimpleNamespace(search=lambda _form: search),
    )  # fmt: skip
    given = cast("passes.Steering", faked)
    return passes._proved(given, "turn")  # noqa: SLF001 (a whole search takes a minute)


def test_the_smallest_choice_that_is_proved_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "_steps", lambda said, _grade: [said.tight, 0.6])
    monkeypatch.setattr(passes, "_promised", lambda _terms, _demand: np.array([1.0, 1.0]))
    ledger = SimpleNamespace(numbers=lambda _name, made: made(), say=lambda *_: None)
    goal = SimpleNamespace(ledger=ledger, terms=None, demand=SimpleNamespace(grade="tight"))
    state = passes.Steering(cast("Any", goal), cast("Any", None), np.ones(2))
    state = turn(state, 100, 2.0, 1.000002)  # not proved
    assert state.best is None
    assert state.reached == (1.000002, 0.6)
    state = turn(state, 120, 1.5, 1.5)  # neither, and farther from it
    assert state.best is None
    assert state.nearest is not None
    assert state.nearest.nodes == 100
    state = turn(state, 110, 2.0, 1.0)
    assert state.best is not None
    assert state.best.nodes == 110
    # The next plain bound may be as much larger beside rounding as the tight one was smaller.
    assert state.most[0] == pytest.approx(0.5 + 3 * 0.5, rel=0.01)
    assert state.most[0] < 2.0
    for nodes, tight in ((130, 0.9), (110, 0.9), (90, 1.1)):  # larger, as large, not proved
        before, state = state.best, turn(state, nodes, 1.2, tight)
        assert state.best is before
    state = turn(state, 95, 1.0, 0.99)
    assert state.best is state.last
    assert (turn(state, 99, 0.9, 1.2)).most[0] <= 1.0  # never more than promised, were it looser


def test_a_certificate_with_wider_bounds_breaks_a_promise() -> None:
    code = SimpleNamespace(step=0.5)
    made = cast("Any", [SimpleNamespace(promised=(1.0, math.inf))])
    for bound in (0.500001, 0.5):
        outputs = [
            SimpleNamespace(name=name, unit="N·m", code=code, bound=size)
            for name, size in (("tau1", bound), ("tau2", 7.0))
        ]
        program = cast("Any", SimpleNamespace(name="arm", loads=[SimpleNamespace(outputs=outputs)]))
        if bound > 0.5:
            said = r"confirms of tau1 that no error exceeds 0\.500001 N·m, and 0\.5 N·m is promised"
            with pytest.raises(DataError, match=said):
                pipeline._refuse_broken(program, made)  # noqa: SLF001 (without a certificate)
        else:
            pipeline._refuse_broken(program, made)  # noqa: SLF001 (as above)


def test_an_output_moves_by_half_a_cell_times_its_slope() -> None:
    words = {"x": bc.word(0, 1, bits=5), "z": bc.word(-1, 1, bits=5)}
    problem = function_problem(lambda x, z: 3 * x - 2 * z, words, ["y"], "plane")
    found = input_floor(problem, demand("1lsb", 6).completed(problem))
    (step,) = problem.steps(6)
    assert found.names == ("x", "z")
    assert found.bits == (5, 5)
    cells = np.array([3 * 1 / 2**5, 2 * 2 / 2**5])
    assert found.moves.max(axis=(1, 2)) == pytest.approx(cells / 2 / step)
    assert found.least == pytest.approx(0.5 + cells.sum() / 2 / step)


def test_one_output_that_inputs_break_is_enough() -> None:
    words = {"x": bc.word(0, 1, bits=5)}
    problem = function_problem(lambda x: (x, x), words, ["fine", "coarse"], "both")
    asked = demand("1lsb", 6).completed(problem)
    (worst, _) = input_floor(problem, asked).least
    for promised in ([worst / 2, 9.0], [9.0, worst / 2]):
        with pytest.raises(DataError, match="cannot be kept within"):
            refuse_impossible(problem, asked, np.array(promised))
    refuse_impossible(problem, asked, np.array([worst, worst]))


@pytest.mark.parametrize(
    ("steps", "unproved", "kept"),
    [((1.0, 2.0), (), True), ((1.0, 2.000001), (), False), ((1.1, 2.0), (), False),
     ((0.9, 0.9), (3,), False)],
)  # fmt: skip
def test_every_output_has_to_be_proved(
    steps: tuple[float, ...],
    unproved: tuple[int, ...],
    *,
    kept: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounds = cast("Any", SimpleNamespace(steps=steps, unproved=unproved))
    most = np.array([1.0, 2.0])
    assert Made(cast("Any", None), {}, np.zeros(2), bounds).holds(most) is kept
    asked = SimpleNamespace(demand=SimpleNamespace(error="both"))
    whole = SimpleNamespace(compact=asked, bounds=bounds, promised=(1.0, 2.0))
    assert Built.kept.fget(whole) is kept  # type: ignore[attr-defined]  # mypy knows no fget
    monkeypatch.setattr(passes, "bounds_of", lambda *_: bounds)
    said = cast("Any", SimpleNamespace(results=(0, 1)))
    goal = SimpleNamespace(demand=SimpleNamespace(grade="tight"), ledger=SimpleNamespace(workers=0))
    found = passes._steps(said, cast("Any", goal))  # noqa: SLF001 (as above)
    assert bool((np.array(found) <= most).all()) is kept
