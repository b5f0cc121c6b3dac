"""Angles that look like degrees: what is counted of samples, and that it is asked once."""

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batchfiles import program, states, write
from conftest import Run
from targets.exported import tiny

import boolcomp as bc
from boolcomp.base import DataWarning
from boolcomp.problem import (
    AngleInputs,
    Group,
    Interval,
    degrees_question,
)

ASKED = "are the angles in degrees?"
STOPS = {"q1": Interval(-2, 2), "q2": Interval(-2, 2), "q3": None}
ARM = AngleInputs((Group("q", ("q1", "q2", "q3")), Group("qd", ("qd1", "qd2", "qd3"))), STOPS)
WIDE = AngleInputs((Group("x", ("x",)),), {"x": Interval(-40, 40)})
FAR = 4 * math.pi + 0.01


def largest(*q: list[float], count: int = 100) -> float:
    """Return the largest implausible angle of samples at rest, but for the first of them."""
    given = np.zeros((count, 3))
    given[: len(q)] = np.array(q).reshape(-1, 3)
    return ARM.largest([given, np.full((count, 3), 99.0)])


def test_angles_beyond_joint_limits_are_no_degrees_within_a_turn() -> None:
    assert largest([3, -3, 0], [0, 2.5, 7], [-0.37, 0, 9]) == 0.0
    assert largest([0, -6.5, 0], [6.4, 0, 0]) == 6.5
    assert ARM.largest([np.array([7.0, 0, 0]), np.zeros((10, 3))]) == 7.0
    assert ARM.largest([np.zeros((0, 3))] * 2) == 0.0
    assert degrees_question(0.0) == ""
    assert degrees_question(6.5) == f"an angle of 6.5 rad is more than a turn: {ASKED}"


def test_two_turns_are_the_most_unless_stops_are_further() -> None:
    assert largest([0, 0, -FAR]) == FAR
    assert largest([0, 0, FAR - 0.02]) == 0.0
    assert WIDE.largest([np.full((9, 1), 39.0)]) == 0.0
    assert WIDE.largest([np.full((9, 1), 41.0)]) == 41.0


def test_one_state_is_looked_at_as_many_are() -> None:
    for q, near in (([0.0, 1, 2], True), ([0.0, 0, 13], False), ([-6.3, 0, 0], False)):
        assert (
            ARM.plausible([q, [99.0] * 3]) == ARM.plausible([np.array(q), np.full(3, 99.0)]) == near
        )
    assert WIDE.plausible([1.0])
    assert not WIDE.plausible([41.0])


def questions(call: Any, *arguments: Any) -> int:
    """Return how often a call asks about degrees."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(*arguments)
    found = [one for one in told if ASKED in str(one.message)]
    assert all(one.category is DataWarning and one.filename == __file__ for one in found)
    return len(found)


@pytest.mark.parametrize("state", [[40.0, 0.5, 0.5], np.full((200, 3), [9.5, 0.5, 0.5])])
def test_a_program_asks_once_of_one_state_and_of_many(state: Any) -> None:
    arm = tiny()  # its first input is an angle within 1
    few = np.vstack([np.zeros((20, 3)), np.array([[1.5, 0, 0], [0, 99, 99]])])
    assert [questions(arm, given) for given in ([1.5, 0.5, 0.5], few)] == [0, 0]
    assert [questions(arm, state) for _ in range(3)] == [1, 0, 0]


@pytest.mark.parametrize("name", ["s.npy", "s.parquet"])
def test_files_in_chunks_are_asked_about_once(name: str, tmp_path: Path) -> None:
    table = states(5003)
    assert not questions(
        bc.evaluate_files, program(), write(tmp_path / "a.npy", table), tmp_path / "t.npy"
    )
    table[[50, 2500], :2] = [40, -70]
    source = write(tmp_path / name, table)
    with pytest.warns(DataWarning, match="an angle of 70 rad is more than a turn") as told:
        found = bc.evaluate_files(program(), source, tmp_path / "t.npy", chunk=1000)
    assert found.question in str(told[0].message)
    assert len(told) == 1
    assert found.chunks > 1


def test_a_trajectory_in_degrees_is_asked_about(run: Run) -> None:
    Path("way.csv").write_text("t,q1,q2\n0,0,0\n1,30,45\n2,40,-70\n")
    for way, times in (("way.csv", 1), ("point:to=6,1", 0)):
        made = run("simulate", "machado-2r", "--mode", "exact", "--trajectory", way)
        assert made.code == 0
        assert made.err.count(f"an angle of 70 rad is more than a turn: {ASKED}") == times
        assert ("degrees" in made.err) == bool(times)
