"""Angles that look like degrees: what is counted of samples, and that it is asked once."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from batchfiles import program, states, write
from limited import with_ranges
from targets.exported import tiny

from boolcomp.batches.run import evaluate_files
from boolcomp.common.errors import DataWarning
from boolcomp.common.workers import Workers
from boolcomp.problem.degrees import ASKED, Angles, Seen, angles_of
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

ARM = (Group("q", ("q1", "q2", "q3")), Group("qd", ("qd1", "qd2", "qd3")))
STOPS = {"q1": Interval(-2, 2), "q2": Interval(-2, 2), "q3": None}
WIDE = Angles((Group("x", ("x",)),), {"x": Interval(-40, 40)})


def rows(count: int, *wrong: tuple[int, list[float]]) -> list[Any]:
    """Return samples of an arm at rest, but for some rows."""
    q = np.zeros((count, 3))
    for row, values in wrong:
        q[row] = values
    return [q, np.full((count, 3), 99.0)]


def test_samples_are_counted_and_not_their_inputs() -> None:
    arm = Angles(ARM, STOPS)
    assert arm.seen(rows(10, (3, [3, -3, 0]), (7, [0, 2.5, 7])), 10) == Seen(0.0, 2, 10)
    assert arm.seen(rows(10, (3, [2, -2, 9])), 10) == Seen(0.0, 0, 10)  # on stops; one that turns
    assert arm.seen([np.array([3.0, 0, 0]), np.zeros((10, 3))], 10) == Seen(0.0, 10, 10)
    assert arm.seen([np.zeros((0, 3))] * 2, 0) == Seen()


@pytest.mark.parametrize(("wrong", "asked"), [(1, False), (2, True)])
def test_more_than_a_hundredth_of_the_samples_is_asked_about(wrong: int, *, asked: bool) -> None:
    arm, found = Angles(ARM, STOPS), Seen()
    for k in range(2):  # in two chunks
        some = [(row, [3.0, 3.0, 0.0]) for row in range(wrong)] if k else []
        found = found.joined(arm.seen(rows(50, *some), 50))
    assert (found.outside, found.samples) == (wrong, 100)
    told = f"{wrong} of 100 samples have angles beyond stops: {ASKED}"
    assert found.question == (told if asked else "")


def test_two_turns_are_the_most_unless_stops_are_further() -> None:
    arm, far = Angles(ARM, STOPS), 4 * math.pi + 0.01
    assert arm.seen(rows(1000, (3, [0, 0, -far])), 1000) == Seen(far, 0, 1000)
    assert "an angle of 12.58 rad is beyond two turns" in Seen(far, 0, 1000).question
    assert arm.seen(rows(1000, (3, [0, 0, far - 0.02])), 1000).question == ""
    assert WIDE.seen([np.full((9, 1), 39.0)], 9) == Seen(0.0, 0, 9)
    assert WIDE.seen([np.full((9, 1), 41.0)], 9) == Seen(41.0, 9, 9)


@pytest.mark.parametrize("kind", [list, np.array])
def test_one_state_is_looked_at_as_many_are(kind: Any) -> None:
    arm = Angles(ARM, STOPS)
    for q in ([0.0, 1, 2], [0.0, 0, 13], [-2.1, 0, 0], [0, 2.1, 0]):
        assert arm.near([kind(q), kind([99.0] * 3)]) == (arm.seen([q, q], 1) == Seen(0.0, 0, 1))
    assert WIDE.near([1.0])
    assert not WIDE.near([41.0])


def test_angles_of_a_problem_have_their_stops() -> None:
    assert angles_of(robot_problem(load_robot("machado-2r"))) == {"q1": None, "q2": None}
    limited = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5))
    found = angles_of(robot_problem(limited, "gravity"))
    assert found == {"q1": Interval(0.3, 1.4), "q2": Interval(-2.5, 2.5)}
    assert "q3" not in angles_of(robot_problem(load_robot("scara"), "gravity"))  # it slides


def questions(call: Any, *arguments: Any) -> int:
    """Return how often a call asks about degrees."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(*arguments)
    found = [one for one in told if ASKED in str(one.message)]
    assert all(one.category is DataWarning and one.filename == __file__ for one in found)
    return len(found)


@pytest.mark.parametrize("state", [[40.0, 0.5, 0.5], np.full((200, 3), [1.5, 0.5, 0.5])])
def test_a_program_asks_once_of_one_state_and_of_many(state: Any) -> None:
    arm = tiny()
    assert [questions(arm, state) for _ in range(3)] == [1, 0, 0]


def test_a_program_asks_of_nothing_but_angles_and_not_of_few() -> None:
    arm = tiny()  # its first input is an angle within 1
    assert not questions(arm, [1.5, 0.5, 0.5])
    assert not questions(arm, np.vstack([np.zeros((200, 3)), [[1.5, 0, 0], [0, 99, 99]]]))


@pytest.mark.parametrize("name", ["s.npy", "npys", "s.parquet", "s.zarr"])
def test_files_in_chunks_are_asked_about_once(name: str, tmp_path: Path) -> None:
    table = states(5003)
    table[[50, 2500], :2] = [40, -70]
    source = write(tmp_path / name, table)
    with pytest.warns(DataWarning, match="an angle of 70 rad is beyond two turns") as told:
        found = evaluate_files(program(), source, tmp_path / "t.npy", chunk=1000)
    assert found.question in str(told[0].message)
    assert len(told) == 1
    assert found.chunks > 1


def test_files_in_radians_are_not_asked_about(tmp_path: Path) -> None:
    source = write(tmp_path / "s.npy", states(600))
    assert not questions(evaluate_files, program(), source, tmp_path / "t.npy")


@pytest.mark.slow
def test_workers_count_as_one_process_does(tmp_path: Path) -> None:
    table = states(600)
    table[::30, 0] = 13
    source = write(tmp_path / "s.npy", table)
    questions = set()
    for k, workers in enumerate((Workers.of(1, None), Workers.of(2, None))):
        with pytest.warns(DataWarning, match="an angle of 13 rad"):
            found = evaluate_files(
                program(), source, tmp_path / f"{k}.npy", chunk=100, workers=workers
            )
        questions.add(found.question)
    assert len(questions) == 1


def test_a_trajectory_in_degrees_is_asked_about(run: Callable[..., Result]) -> None:
    Path("way.csv").write_text("t,q1,q2\n0,0,0\n1,30,45\n2,40,-70\n")
    made = run("simulate", "machado-2r", "--mode", "exact", "--trajectory", "way.csv")
    assert made.code == 0
    assert made.err.count("an angle of 70 rad is beyond two turns: are the angles in degrees?") == 1
    made = run("simulate", "machado-2r", "--mode", "exact", "--trajectory", "point:to=6,1")
    assert "degrees" not in made.err
