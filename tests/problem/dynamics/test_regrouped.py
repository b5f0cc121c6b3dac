"""The cheapest arithmetic: right on every kind of arm, and cheap. Parameters that act."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from graphs import error
from samples import branched_robot, random_robot, random_states

from boolcomp.parallel import straight_line, task_graph
from boolcomp.problem import Operations, load_robot, regrouped

if TYPE_CHECKING:
    from boolcomp.problem import Robot

ROBOTS = [
    *(random_robot(seed, joints=4) for seed in range(4)), *map(branched_robot, range(4)),
    *map(load_robot, ("panda", "so100", "indy7", "scara")),
]  # fmt: skip


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_torques_are_newton_eulers(robot: Robot) -> None:
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11


def test_few_operations_are_needed() -> None:
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
    assert cost["F/6"] == cost["f/6"] == cost["vd/6"] == Operations()


@pytest.mark.parametrize("seed", range(3))
def test_what_may_go_to_the_link_before_is_gone(seed: int) -> None:
    robot = random_robot(seed, joints=4)
    for link, body in zip(robot.links, regrouped(robot), strict=True):
        tensor = np.array(body.tensor)
        assert np.allclose(tensor, tensor.T, atol=1e-9)
        if link.revolute:
            assert (body.mass, body.first[2], tensor[1, 1]) == (0.0, 0.0, 0.0)
        else:
            assert body.mass >= link.mass
            assert not tensor.any()


def test_the_papers_arm_keeps_its_four_parameters() -> None:
    """M11 = 15.75 + 10 C2 = 11.75 + 4 + 2·5 C2; gravity has 6.75 g C1 and 5 g C12."""
    first, second = regrouped(load_robot("machado-2r"))
    assert (first.tensor[2][2], *first.first) == pytest.approx((11.75, 6.75, 0, 0))
    assert (second.tensor[2][2], *second.first) == pytest.approx((4, 5, 0, 0))


def test_rounding_errors_do_not_count_as_parameters() -> None:
    last = regrouped(load_robot("puma560"))[-1]
    assert last.tensor[0] == last.first == (0.0, 0.0, 0.0)


def test_the_first_rotor_stands_on_the_first_axis() -> None:
    robot = load_robot("puma560")
    bare = replace(robot, links=tuple(replace(x, rotor_inertia=0.0) for x in robot.links))
    more = regrouped(robot)[0].tensor[2][2] - regrouped(bare)[0].tensor[2][2]
    assert more == pytest.approx(robot.links[0].joint_inertia)
