"""Programs of arms with stops: what is encoded, counted and warned of, in both modes."""

from __future__ import annotations

import dataclasses
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import searched
from limited import with_ranges
from samples import terms_of
from tablefile import parse_table

from boolcomp.codes import Code
from boolcomp.common.errors import DataError, SaturationWarning, UsageError
from boolcomp.common.places import Folder
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import Demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.engines.wiring import Stop
from boolcomp.paper import truth
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.quantised import quantised
from boolcomp.paper.store import Recipe, Store
from boolcomp.paper.truth import make_tables, word_centres
from boolcomp.paper.truthfile import render_table
from boolcomp.pipeline import compile_compact, compile_paper
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import load_robot
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import save_program

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.problem.robot import Robot
    from boolcomp.program.program import Program

ARM = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5))
ENGINES = ["numpy", "llvm"]


@cache
def paper(folder: Path) -> Program:
    return compile_paper(
        ARM, PaperChoices(Options(bits=4), Recipe("isop"), Store((Folder(folder),)))
    ).program


@pytest.fixture(name="program", scope="module")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return paper(tmp_path_factory.mktemp("covers"))


def _states(count: int, low: float, high: float) -> list[Any]:
    rng = np.random.default_rng(3)
    q = np.stack([rng.uniform(0.3, 1.4, count), rng.uniform(low, high, count)], axis=1)
    return [q, rng.uniform(-1, 1, (count, 2)), rng.uniform(-1, 1, (count, 2))]


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_with_free_rows_are_the_plan_wherever_the_joints_may_be(
    program: Program, engine: Any
) -> None:
    plan = make_plan(terms_of(ARM), Options(bits=4))
    states = _states(3000, -2.6, 2.6)
    found = program.evaluate(*states, engine=engine)
    expected = quantised(plan, states)
    assert np.array_equal(found.torques, expected.values)
    assert found.saturated_inputs == 0
    assert found.beyond_stops == (np.abs(states[0][:, 1]) > 2.5).sum() > 0


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_state_on_a_stop_is_not_beyond_it(program: Program, engine: Any, kind: Any) -> None:
    q = np.array([[0.3, -2.5], [1.4, 2.5]] * 40, kind)
    still = np.zeros((80, 2), kind)
    found = program.evaluate(q, still, still, engine=engine)
    assert (found.saturated_inputs, found.beyond_stops) == (0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_beyond_its_word_a_limited_joint_saturates(program: Program, engine: Any) -> None:
    far = program.evaluate([[1.9, 3.6]], [[0, 0]], [[0, 0]], engine=engine)
    edge = program.evaluate([[np.pi / 2 - 1e-6, np.pi - 1e-6]], [[0, 0]], [[0, 0]], engine=engine)
    assert (far.torques == edge.torques).all()
    assert (far.saturated_inputs, far.beyond_stops) == (2, 2)
    assert (edge.saturated_inputs, edge.beyond_stops) == (0, 2)


def test_python_is_warned_in_a_sentence_that_one_line_turns_off(program: Program) -> None:
    with pytest.warns(SaturationWarning, match="machado-2r: 1 input values beyond their words, 2 "):
        program.torques([1.5, 9.0], [0, 0], [0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SaturationWarning)
        program.torques([1.5, 9.0], [0, 0], [0, 0])
        program.torques([1.0, 2.0], [0, 0], [0, 0])


def test_beyond_stops_alone_the_warning_says_how_far_the_logic_holds(program: Program) -> None:
    sentence = (
        "machado-2r: 2 input values beyond the joints' stops: further out than 2 % of a turn "
        r"\(with word_range: at all\) the logic is free"
    )
    with pytest.warns(SaturationWarning, match=sentence):
        program.torques([1.5, 2.6], [0, 0], [0, 0])
    held = dataclasses.replace(program, stops=(*program.stops, Stop("qd1", Interval(0.0, 0.0))))
    with pytest.warns(SaturationWarning, match="stops: their torques are not what they seem"):
        held.torques([1.0, 2.0], [0.5, 0], [0, 0])


def test_a_saved_program_knows_its_stops(program: Program, tmp_path: Path) -> None:
    save_program(program, tmp_path / "p")
    again = load_program(tmp_path / "p")
    assert again == program
    assert [str(limit) for limit in again.stops] == [
        "q1 within 0.3 .. 1.4",
        "q2 within -2.5 .. 2.5",
    ]


@pytest.mark.parametrize("q2", [(-2.5, 2.5), (-2.5, 0.9)], ids=["even", "lopsided"])
def test_only_rows_beyond_stops_and_margin_are_free(q2: tuple[float, float]) -> None:
    margin = 0.02 * 2 * np.pi
    arm = with_ranges(ARM, q2=q2)
    for entry in make_tables(make_plan(terms_of(arm), Options(bits=4))):
        words = entry.plan.words
        reach = {"q1": (0.3 - margin, 1.4 + margin), "q2": (q2[0] - margin, q2[1] + margin)}
        near: list[Any] = []
        for word in words:
            low, high = reach.get(word.variable.name, (-9.0, 9.0))
            centres, half = word_centres(word), word.code.step / 2
            inside = (centres + half > low) & (centres - half < high)
            if word.dropped:  # the word stands for its mirror image, too
                mirror = 2 * word.code.range.centre - centres
                inside |= (mirror + half > low) & (mirror - half < high)
            near.append(inside)
        grid = np.meshgrid(*near, indexing="ij")
        needed = np.logical_and.reduce(grid).ravel()
        for column in entry.table.free:
            free = np.array(column.tolist(), bool)
            assert np.array_equal(free, ~needed)
        assert bool(entry.table.free) == (not needed.all())
        assert parse_table(render_table(entry)).table == entry.table


def test_a_limited_plan_bounds_its_error() -> None:
    plan = make_plan(terms_of(ARM), Options(bits=6))
    states = _states(40_000, -2.5, 2.5)
    from boolcomp.paper.bounds import error_bound

    error = np.abs(quantised(plan, states).values - inverse_dynamics(ARM, *states))
    bounds = np.array([error_bound(joint) for joint in plan.outputs])
    assert (error.max(axis=0) <= bounds).all()
    assert (error.max(axis=0) >= 0.2 * bounds).all()


@pytest.mark.parametrize("bits", [3, 8])
def test_cells_of_a_code_that_wraps_are_those_of_whole_turns_less(bits: int) -> None:
    code = Code(Interval(-np.pi, np.pi), bits, "natural", wraps=True)
    rng = np.random.default_rng(1)
    x = rng.uniform(-np.pi, np.pi, 500)
    turns = rng.integers(-1000, 1000, 500)
    plain = dataclasses.replace(code, wraps=False)
    assert np.array_equal(code.cell(x + 2 * np.pi * turns)[0], plain.cell(x)[0])
    assert code.cell([np.pi, -np.pi, 3 * np.pi])[0].tolist() == [0, 0, 0]
    assert code.prefix(2).wraps


@cache
def turning(folder: Path) -> Program:
    """Return a program one joint of which wraps and the other of which has stops."""
    arm = with_ranges("machado-2r", q2=(-2.6, 2.7))
    return compile_paper(
        arm, PaperChoices(Options(bits=4), Recipe("isop"), Store((Folder(folder),)))
    ).program


@pytest.fixture(name="mixed", scope="module")
def _mixed(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return turning(tmp_path_factory.mktemp("covers"))


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_beside_a_joint_that_wraps_another_saturates(mixed: Program, engine: Any) -> None:
    below, above = -np.pi + 1e-6, np.pi - 1e-6
    ends = mixed.evaluate([[1.0, below], [1.0, above]], np.zeros(2), np.zeros(2), engine=engine)
    q = [[1.0, -np.pi], [1.0 + 8 * np.pi, np.pi], [1.0, -9.0], [1.0 - 6 * np.pi, 9.0]]
    far = mixed.evaluate(q, np.zeros(2), np.zeros(2), engine=engine)
    assert far.torques.tolist() == [*ends.torques.tolist()] * 2
    assert (far.saturated_inputs, far.beyond_stops) == (2, 4)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_turn_is_left_at_the_same_place_on_every_engine(
    mixed: Program, engine: Any, sign: int
) -> None:
    still = np.zeros(2)
    last = mixed.evaluate([np.pi - 1e-3, 1.0], still, still, engine=engine).torques
    border = mixed.evaluate([-np.pi, 1.0], still, still, engine=engine).torques
    assert (border != last).any()
    for x in (np.pi - 1e-12, 3 * np.pi - 1e-12, -np.pi - 1e-12):
        assert (mixed.evaluate([x, 1.0], still, still, engine=engine).torques == border).all()
    most = sign * 2**20 * 2 * np.pi
    assert mixed.evaluate([most, 0.1], still, still, engine=engine).saturated_inputs == 0
    q = np.array([[0, 0], [1.001 * most, 0]])
    with pytest.raises(DataError, match=r"q1 of sample 1 is .*: more than 1048576 turns"):
        mixed.torques(q, [[1e9, 0]] * 2, still, engine=engine)


def test_rounding_to_float32_and_a_billionth_are_no_way_beyond_a_stop(mixed: Program) -> None:
    still, stops = np.zeros((2, 2)), np.array([[0, -2.6], [0, 2.7]])
    assert float(np.float32(2.7)) > 2.7
    for q in (stops.astype(np.float32), stops * (1 + 2e-10)):
        states = [x.astype(q.dtype) for x in (q, still, still)]
        assert mixed.evaluate(*states, engine="numpy").beyond_stops == 0
    assert mixed.evaluate(stops * (1 + 1e-6), still, still, engine="numpy").beyond_stops == 2


def test_code_words_are_never_beyond_stops(mixed: Program) -> None:
    assert mixed.evaluate_words([1, 3], [0, 0], [0, 0], engine="numpy").beyond_stops == 0


@pytest.mark.check
def test_a_single_value_is_a_stop_of_a_saved_program(tmp_path: Path) -> None:
    arm = with_ranges("machado-2r", qd1=(0.25, 0.25))
    program = compile_paper(
        arm, PaperChoices(Options(bits=4), Recipe("isop"), Store((Folder(tmp_path),)))
    ).program
    save_program(program, tmp_path / "p")
    again = load_program(tmp_path / "p")
    assert [str(one) for one in again.stops] == ["qd1 within 0.25 .. 0.25"]
    assert again.evaluate([0, 0], [0.2, 0], [0, 0], engine="numpy").beyond_stops == 1


@pytest.mark.parametrize("bits", [4, 5])
def test_a_state_on_a_stop_that_is_a_border_of_cells_is_no_free_row(bits: int) -> None:
    # The word is asked to span a turn, so there is no margin, and a stop may begin a cell.
    arm = with_ranges("machado-2r", q2=(-np.pi / 2, np.pi / 2), word2=(-np.pi, np.pi))
    plan = make_plan(terms_of(arm), Options(bits=bits))
    ends = np.array([-np.pi / 2, np.pi / 2, np.pi / 2 + 5e-10])
    for entry in make_tables(plan):
        row = np.zeros(len(ends), int)
        for word in entry.plan.words:
            value = ends if word.variable.name == "q2" else np.zeros(len(ends))
            kept = word.code.encode(value).words & (word.code.cells - 1 >> word.dropped)
            row = row << word.inputs | kept
        for column in entry.table.free:
            assert not any(column[int(k)] for k in row), str(entry.plan.term)


@pytest.mark.slow
def test_a_table_of_several_blocks_has_its_free_rows_where_they_belong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan = make_plan(terms_of(ARM), Options(bits=5))
    whole = [entry.table for entry in make_tables(plan)]
    monkeypatch.setattr(truth, "CHUNK", 4)
    assert [truth.tabulate(entry.plan) for entry in make_tables(plan)] == whole
    assert any(table.free for table in whole)


def test_only_equal_tables_have_equal_signatures() -> None:
    # What words span is no part of where the joint may be: both arms go as far.
    arms = [with_ranges(ARM, word2=(-2.5, high)) for high in (2.5, 3.5)]
    plans = [make_plan(terms_of(arm), Options(bits=4)) for arm in arms]
    tables: dict[object, Any] = {}
    for term in (term for plan in plans for joint in plan.outputs for term in joint.terms):
        table = truth.tabulate(term)
        assert tables.setdefault(truth.signature(term), table) == table
    assert len(set(tables.values())) > 3


def _still(name: str, gravity: tuple[float, float, float], joints: tuple[int, ...]) -> Robot:
    """Return an arm whose joints, but for the positions of some, are single values."""
    robot = load_robot(name)
    held = {f"{kind}{k}": (0.0, 0.0) for kind in ("qd", "qdd") for k in range(1, robot.joints + 1)}
    held |= {f"q{k}": (0.4, 0.4) for k in range(1, robot.joints + 1) if k not in joints}
    return with_ranges(dataclasses.replace(robot, gravity=gravity), **held)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["paper", "compact"])
@pytest.mark.parametrize(
    ("gravity", "joints"),
    [((0.0, -9.81, 0.0), ()), ((0.0, 0.0, -9.81), (1, 2))],
    ids=["held", "level"],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_torques_that_are_constant_read_nothing_and_are_right(
    mode: Any, gravity: tuple[float, float, float], joints: tuple[int, ...], engine: Any,
    tmp_path: Path,
) -> None:  # fmt: skip
    robot = _still("machado-2r", gravity, joints)
    tables = PaperChoices(Options(bits=5), Recipe("isop"), Store((Folder(tmp_path),)))
    demand = Demand(bits=5, effort=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 2000)
        patch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 2000)
        patch.setattr("boolcomp.compact.widths.passes.QUICK_SEEN", 2000)
        words = CompactChoices(demand, tmp_path, workers=ALONE)
        made = compile_paper(robot, tables) if mode == "paper" else compile_compact(robot, words)
    program = made.program
    q = np.full((70, 2), 0.4)
    found = program.evaluate(q, 0 * q, 0 * q, engine=engine)
    steps = np.array([output.code.step for output in program.outputs])
    exact = inverse_dynamics(robot, q, 0 * q, 0 * q)
    assert np.abs(found.torques - exact).max(axis=0) == pytest.approx(0, abs=1.001 * steps.max())
    assert found.beyond_stops == found.saturated_inputs == 0


def test_a_torque_that_hardly_leaves_zero_is_named_where_its_rounding_is_too_much() -> None:
    robot = _still("machado-2r", (0.0, 0.0, -9.81), (1, 2))
    with pytest.raises(UsageError, match="T1, T2 hardly leave zero, and a word has no zero"):
        searched(terms_of(robot), Demand(bits=5, rms=(0.4,), effort=0.0))


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_an_angle_too_far_away_is_named_and_not_a_value_that_saturates(
    tmp_path: Path, engine: Any
) -> None:
    arm = with_ranges("machado-2r", q1=(-2.5, 2.5))
    program = compile_paper(
        arm, PaperChoices(Options(bits=4), Recipe("isop"), Store((Folder(tmp_path),)))
    ).program
    with pytest.raises(DataError, match="q2 of sample 0 is 2e"):
        program.evaluate([1e9, 2e9], [0, 0], [0, 0], engine=engine)
