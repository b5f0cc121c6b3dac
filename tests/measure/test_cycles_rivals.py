"""Rivals on microcontrollers: what they make is right, and errs no more than is said."""

import json
import math
import shutil
from functools import cache

import numpy as np
import pytest
from conftest import Run

import boolcomp
from boolcomp.measure import bench
from boolcomp.measure.cycles import BoardDesign, Subject
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")


@cache
def two_link() -> Subject:
    """Return the paper's arm as it ships."""
    robot = load_robot("machado-2r")
    program = boolcomp.compile("machado-2r", bits=8)
    return Subject(program, 0.0, problem_of(robot), robot, states=30, own=(0.43, 0.58))


def torques(row: np.ndarray) -> tuple[float, float]:
    """Return the paper's torques from its own formula."""
    q1, q2, u, v, r1, r2 = row
    mass, turn = 4 + 5 * math.cos(q2), 5 * math.sin(q2)
    weight = 49 * math.cos(q1 + q2)
    one = mass * (2 * r1 + r2) + 7.75 * r1 + turn * (u * u - (u + v) ** 2)
    return (
        one + 66.15 * math.cos(q1) + weight,
        mass * r1 + 9 * r2 + turn * u * u + weight,
    )


@needs_gcc
@pytest.mark.slow
def test_two_joints_by_hand_err_no_more_than_half_a_last_bit() -> None:
    design = bench.rivals("designs").hand_design(two_link(), load_robot("machado-2r"), 60.0)
    assert isinstance(design, BoardDesign)
    assert design.rms is not None
    assert design.rms[0] < 0.43
    assert design.rms[1] < 0.519
    errors = []
    for row in np.array(design.rows):
        state = [*(row[:2] * 2 * math.pi / 65536), *(row[2:4] / 63), *(row[4:6] / 42)]
        wanted = torques(np.array(state))
        made = [-200 + (row[6] + 0.5) * 400 / 256, -100 + (row[7] + 0.5) * 200 / 256]
        errors.append([(made[0] - wanted[0]) / 1.5625, (made[1] - wanted[1]) / 0.78125])
    assert np.abs(errors).max() < 2
    assert (
        np.sqrt((np.array(errors) ** 2).mean()) > 0.2
    )  # words were rounded, and not the wish read


@needs_gcc
@pytest.mark.check
def test_the_command_prints_a_row_a_design(warm_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.cycles.OPTIMISED", ("-O2",))
    boolcomp.compile("machado-2r", bits=8).save("2r")
    found = warm_run("cycles", "2r", "--on", "host", "--states", "20", "--json")
    assert found.code == 0
    rows = json.loads(found.out)["rows"]
    assert [row["design"] for row in rows] == [
        "words", "float, Newton-Euler", "fixed point, Newton-Euler", "fixed point by hand",
    ]  # fmt: skip
    assert all(0.2 < rms < 0.6 for row in rows[2:] for rms in row["rms"])
    keys = {"target", "design", "cycles", "instructions", "ns", "flash", "ram", "rms", "option",
            "wrong", "skipped"}  # fmt: skip
    assert all(set(row) == keys and row["wrong"] == 0 and row["ns"] > 0 for row in rows)
