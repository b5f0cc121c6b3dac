"""Programs of arms with stops: what is encoded, counted and warned of, in both modes."""

import dataclasses
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from limited import with_ranges
from numpy.typing import NDArray
from samples import terms_of

import boolcomp as bc
from boolcomp.engines import Stop
from boolcomp.paper import PlanOptions, make_plan, make_tables, quantised, render_table
from boolcomp.problem import Interval, Robot
from boolcomp.program import Program

ARM = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5))
ENGINES = ["numpy", "llvm"]
STILL = np.zeros(2)


@cache
def paper(robot: Robot) -> Program:
    with pytest.MonkeyPatch.context() as patch:  # its errors are the matter of other tests
        patch.setattr("boolcomp.paper.program.SAMPLES", 1000)
        return bc.compile(robot, bits=4, mode="paper", minimizer="isop", processes=1)


def mixed() -> Program:
    """Return a program one joint of which wraps and the other of which has stops."""
    return paper(with_ranges("machado-2r", q2=(-2.6, 2.7)))


def plan_of(robot: Robot, bits: int = 4) -> Any:
    return make_plan(terms_of(robot), PlanOptions(bits=bits))


def states(count: int, low: float, high: float) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(3)
    q = np.stack([rng.uniform(0.3, 1.4, count), rng.uniform(low, high, count)], axis=1)
    return [q, rng.uniform(-1, 1, (count, 2)), rng.uniform(-1, 1, (count, 2))]


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_tables_with_free_rows_are_the_plan_wherever_the_joints_may_be(engine: Any) -> None:
    drawn = states(3000, -2.6, 2.6)
    found = paper(ARM).evaluate(*drawn, engine=engine)
    assert np.array_equal(found.torques, quantised(plan_of(ARM), drawn).values)
    assert found.saturated_inputs == 0
    assert found.beyond_stops == (np.abs(drawn[0][:, 1]) > 2.5).sum() > 0


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
def test_values_are_beyond_a_stop_saturate_or_wrap(engine: Any) -> None:
    def counted(program: Program, q: Any) -> tuple[list[Any], int, int]:
        found = program.evaluate(np.asarray(q), STILL, STILL, engine=engine)
        return found.torques.tolist(), found.saturated_inputs, found.beyond_stops

    for kind in (np.float64, np.float32):  # a stop, or its rounding, is not beyond it
        q = np.array([[0.3, -2.5], [1.4, 2.5]] * 40, kind)
        assert counted(paper(ARM), q)[1:] == (0, 0)
    far, *of_far = counted(paper(ARM), [[1.9, 3.6]])
    edge, *of_edge = counted(paper(ARM), [[np.pi / 2 - 1e-6, np.pi - 1e-6]])
    assert (far, of_far, of_edge) == (edge, [2, 2], [0, 2])
    # Beside a joint that wraps another saturates.
    below, above = -np.pi + 1e-6, np.pi - 1e-6
    ends = counted(mixed(), [[1.0, below], [1.0, above]])[0]
    turns = [[1.0, -np.pi], [1.0 + 8 * np.pi, np.pi], [1.0, -9.0], [1.0 - 6 * np.pi, 9.0]]
    assert counted(mixed(), turns) == ([*ends, *ends], 2, 4)


@pytest.mark.check
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("sign", [1, -1])
def test_a_turn_is_left_at_the_same_place_on_every_engine(engine: Any, sign: int) -> None:
    def torques(angle: float) -> list[float]:
        found = mixed().evaluate([angle, 1.0], STILL, STILL, engine=engine).torques.tolist()
        return list(found)

    border = torques(-np.pi)
    assert border != torques(np.pi - 1e-3)
    assert all(torques(x - 1e-12) == border for x in (np.pi, 3 * np.pi, -np.pi))
    most = sign * 2**20 * 2 * np.pi
    assert mixed().evaluate([most, 0.1], STILL, STILL, engine=engine).saturated_inputs == 0
    q = np.array([[0, 0], [1.001 * most, 0]])
    with pytest.raises(bc.DataError, match=r"q1 of sample 1 is .*, more than 1048576 turns"):
        mixed().torques(q, [[1e9, 0]] * 2, STILL, engine=engine)


@pytest.mark.slow
def test_rounding_to_float32_and_a_billionth_are_no_way_beyond_a_stop() -> None:
    still, stops = np.zeros((2, 2)), np.array([[0, -2.6], [0, 2.7]])
    assert float(np.float32(2.7)) > 2.7
    for q, beyond in ((stops.astype(np.float32), 0), (stops * (1 + 2e-10), 0),
                      (stops * (1 + 1e-6), 2)):  # fmt: skip
        arrays = [x.astype(q.dtype) for x in (q, still, still)]
        assert mixed().evaluate(*arrays, engine="numpy").beyond_stops == beyond
    assert mixed().evaluate_words([1, 3], [0, 0], [0, 0], engine="numpy").beyond_stops == 0


@pytest.mark.slow
def test_python_is_warned_of_what_is_beyond_words_and_stops() -> None:
    program = paper(ARM)
    held = dataclasses.replace(program, stops=(*program.stops, Stop("qd1", Interval(0.0, 0.0))))
    for made, q, qd, sentence in (
        (program, [1.5, 6.0], [0, 0], "machado-2r: 1 input values beyond their words, 2 "),
        (program, [1.5, 2.6], [0, 0],
         r"beyond the joints.* 2 % of a turn \(with word_range: at all\) the logic is free"),
        (held, [1.0, 2.0], [0.5, 0], "stops: their torques are not what they seem"),
    ):  # fmt: skip
        with pytest.warns(bc.SaturationWarning, match=sentence) as seen:
            made.torques(q, qd, [0, 0])
        assert seen[0].filename == __file__  # the caller's line, not one of the package
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program.torques([1.0, 2.0], [0, 0], [0, 0])
        warnings.simplefilter("ignore", bc.SaturationWarning)
        program.torques([1.5, 6.0], [0, 0], [0, 0])


@pytest.mark.parametrize("q2", [(-2.5, 2.5), (-2.5, 0.9)], ids=["even", "lopsided"])
def test_only_rows_beyond_stops_and_margin_are_free(q2: tuple[float, float]) -> None:
    margin = 0.02 * 2 * np.pi
    arm = with_ranges(ARM, q2=q2)
    for entry in make_tables(plan_of(arm)):
        reach = {"q1": (0.3 - margin, 1.4 + margin), "q2": (q2[0] - margin, q2[1] + margin)}
        near: list[Any] = []
        for word in entry.plan.words:
            low, high = reach.get(word.variable.name, (-9.0, 9.0))
            half = word.code.step / 2
            words = np.arange(1 << word.inputs)
            inside = np.zeros(len(words), bool)
            for first in range(1 << word.dropped):  # a word without a bit stands for several
                centres = word.code.decode(words | first << word.inputs)
                inside |= (centres + half > low) & (centres - half < high)
            near.append(inside)
        needed = np.logical_and.reduce(np.meshgrid(*near, indexing="ij")).ravel()
        for column in entry.table.free:
            assert np.array_equal(np.array(column.tolist(), bool), ~needed)
        assert bool(entry.table.free) == (not needed.all())
        named = {word.variable.name for word in entry.plan.words}
        assert (", within " in render_table(entry)) == bool(named & {"q1", "q2"})


def still(gravity: tuple[float, float, float], joints: tuple[int, ...]) -> Robot:
    """Return an arm whose joints, but for the positions of some, are single values."""
    robot = dataclasses.replace(bc.load_robot("machado-2r"), gravity=gravity)
    held = {f"{kind}{k}": (0.0, 0.0) for kind in ("qd", "qdd") for k in (1, 2)}
    return with_ranges(robot, **held, **{f"q{k}": (0.4, 0.4) for k in (1, 2) if k not in joints})


@pytest.mark.check
@pytest.mark.parametrize("mode", ["paper", "compact"])
@pytest.mark.parametrize(
    ("gravity", "joints"),
    [((0.0, -9.81, 0.0), ()), ((0.0, 0.0, -9.81), (1, 2))],
    ids=["held", "level"],
)
def test_torques_that_are_constant_read_nothing_and_are_right(
    mode: str, gravity: tuple[float, float, float], joints: tuple[int, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    robot = still(gravity, joints)
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 2000)
    monkeypatch.setattr("boolcomp.compact.passes.FRESH_SAMPLES", 2000)
    monkeypatch.setattr("boolcomp.compact.widths.QUICK_SEEN", 2000)
    how: dict[str, Any] = {"minimizer": "isop"} if mode == "paper" else {"effort": 0}
    program = bc.compile(robot, bits=5, mode=mode, processes=1, **how)
    q = np.full((70, 2), 0.4)
    steps = np.array([output.code.step for output in program.outputs])
    exact = bc.inverse_dynamics(robot, q, 0 * q, 0 * q)
    for engine in ("numpy", "llvm"):
        found = program.evaluate(q, 0 * q, 0 * q, engine=engine)
        assert (np.abs(found.torques - exact) <= 1.001 * steps).all()
        assert found.beyond_stops == found.saturated_inputs == 0


@pytest.mark.slow
def test_a_saved_program_knows_its_stops(tmp_path: Path) -> None:
    paper(ARM).save(tmp_path / "p")
    again = bc.load_program(tmp_path / "p")
    assert again == paper(ARM)
    texts = ["q1 within 0.3 .. 1.4", "q2 within -2.5 .. 2.5"]
    assert [str(limit) for limit in again.stops] == texts
    single = paper(with_ranges("machado-2r", qd1=(0.25, 0.25)))
    assert [str(one) for one in single.stops] == ["qd1 within 0.25 .. 0.25"]
    assert single.evaluate([0, 0], [0.2, 0], [0, 0], engine="numpy").beyond_stops == 1
