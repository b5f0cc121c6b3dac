"""The cheapest arithmetic: right on every kind of arm, and cheap. Parameters that act."""

import math
from dataclasses import replace

import pytest
from graphs import error
from samples import branched_robot, general_robot, random_robot, random_states

import boolcomp as bc
from boolcomp.parallel import straight_line, task_graph
from boolcomp.problem import Operations, Robot


def tilted(*axis: float) -> Robot:
    """Return an arm whose axes are all this one, in the frames of their joints."""
    robot = general_robot(2, 3)
    return replace(robot, name=f"{axis}", links=tuple(replace(x, axis=axis) for x in robot.links))  # type: ignore[arg-type]


ROBOTS = [
    tilted(0.6, 0.0, 0.8), tilted(0.0, -0.6, 0.8), tilted(0.6, 0.8, 0.0),
    *(random_robot(seed, joints=4) for seed in range(4)), *map(branched_robot, range(4)),
    *map(bc.load_robot, ("panda", "so100", "indy7", "scara")),
]  # fmt: skip


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_torques_are_newton_eulers(robot: Robot) -> None:
    assert error(robot, straight_line("regrouped", robot), random_states(robot, 5)) < 1e-11


@pytest.mark.parametrize(
    "axis",
    [(0, 1 - 1e-12, 0), (0, 1e-12 - 1, 0), (6e-17, 1.0, 6e-17), (1 - 1e-12, 0, 0), (0, 0, -1)],
)
def test_an_axis_that_rounding_moved_is_that_of_the_frame(axis: tuple[float, float, float]) -> None:
    robot = general_robot(1, 3)
    turned = replace(robot, links=tuple(replace(link, axis=axis) for link in robot.links))
    line = straight_line("regrouped", turned)
    assert error(turned, line, random_states(turned, 5)) < 1e-9
    x, y, z = (float(round(x)) for x in axis)
    exact = replace(robot, links=tuple(replace(link, axis=(x, y, z)) for link in robot.links))
    assert line.operations == straight_line("regrouped", exact).operations


def test_few_operations_are_needed() -> None:
    found = {
        name: straight_line("regrouped", bc.load_robot(name)).operations
        for name in ("machado-2r", "puma560", "stanford")
    }
    assert found["machado-2r"] == Operations(15, 11, functions=4)
    assert found["puma560"].total <= 183 + 149 + 10
    assert found["stanford"].total <= 154 + 121 + 8


def test_a_link_turned_over_takes_no_more_operations() -> None:
    first, second = bc.load_robot("machado-2r").links
    arm = replace(bc.load_robot("machado-2r"), links=(replace(first, alpha=math.pi), second))
    assert straight_line("regrouped", arm).operations == Operations(15, 11, functions=4)


def test_rounding_errors_of_point_masses_are_not_parameters() -> None:
    arm = bc.load_robot("j2s6")
    points = tuple(replace(link, inertia=(0.0,) * 6) for link in arm.links)
    line = straight_line("regrouped", replace(arm, links=points))
    assert line.operations == Operations(220, 176, functions=10)  # 233 and 194 with the errors


def test_links_without_mass_send_no_force() -> None:
    graph = task_graph("regrouped", bc.load_robot("puma560")).graph
    cost = {task.name: task.operations for task in graph.tasks}
    assert {name.partition("/")[2] for name in cost} == set("123456")
    assert cost["F/6"] == cost["f/6"] == cost["vd/6"] == Operations()
