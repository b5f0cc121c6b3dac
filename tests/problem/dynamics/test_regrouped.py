"""The cheapest arithmetic: right on every kind of arm, and cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from graphs import error
from samples import branched_robot, random_robot, random_states

from boolcomp.parallel.methods import straight_line, task_graph
from boolcomp.problem.dynamics.jointframes import z_to
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from boolcomp.problem.robot.model import Triple


@pytest.mark.parametrize("seed", range(6))
def test_torques_are_newton_eulers(seed: int) -> None:
    robot = random_robot(seed, joints=4)
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11


def test_what_it_takes() -> None:
    found = {
        name: straight_line("regrouped", load_robot(name)).operations
        for name in ("machado-2r", "puma560", "stanford")
    }
    assert found["machado-2r"] == Operations(15, 11, functions=4)
    assert found["puma560"].total <= 183 + 149 + 10
    assert found["stanford"].total <= 154 + 121 + 8


def test_links_without_mass_send_no_force() -> None:
    graph = task_graph("regrouped", load_robot("puma560")).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert cost["F/6"] == cost["f/6"] == Operations()
    assert cost["vd/6"] == Operations()


@pytest.mark.parametrize("name", ["panda", "so100", "indy7", "scara"])
def test_general_frames_give_newton_eulers_torques_too(name: str) -> None:
    robot = load_robot(name)
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0, -1, 0), (0.6, 0, 0.8)])
def test_the_turn_to_an_axis_takes_z_there_and_is_a_rotation(axis: Triple) -> None:
    rows = np.array(z_to(axis))
    assert np.allclose(rows[:, 2], axis, atol=1e-15)
    assert np.allclose(rows @ rows.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(rows) == pytest.approx(1)


@pytest.mark.parametrize("seed", range(6))
def test_trees_on_a_base_askew_give_newton_eulers_torques_too(seed: int) -> None:
    robot = branched_robot(seed)
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11
