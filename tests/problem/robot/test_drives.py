"""What robot files say of drives: for simulation alone, so that logic is compiled as without it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from boolcomp.common.errors import DataError
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import Robot, load_robot, parse_robot, robot_names

KEYS = ("control_rate", "torque_limit", "encoder_step")


def driven(name: str) -> Robot:
    robot = load_robot(name)
    links = tuple(replace(link, torque_limit=12.5, encoder_step=0.001) for link in robot.links)
    return replace(robot, links=links, control_rate=500.0)


@pytest.mark.parametrize("name", ["machado-2r", "scara", "puma560"])
def test_a_robot_with_drives_is_read_as_it_is_written(name: str) -> None:
    robot = driven(name)
    text = str(robot)
    assert parse_robot(text) == robot
    assert text.count("control_rate = 500\n") == 1
    assert text.count("torque_limit = 12.5\n") == robot.joints
    assert robot.mechanism == load_robot(name)


@pytest.mark.parametrize("name", robot_names())
def test_robots_that_ship_say_nothing_of_drives(name: str) -> None:
    robot = load_robot(name)
    assert robot.mechanism == robot
    assert not any(key in str(robot) for key in KEYS)


@pytest.mark.parametrize("of", ["inverse-dynamics", "gravity", "bias", "computed-torque"])
def test_logic_is_the_same_whatever_drives_an_arm_has(of: str) -> None:
    with_drives, without = (
        robot_problem(arm, of) for arm in (driven("machado-2r"), load_robot("machado-2r"))
    )
    assert with_drives.key == without.key


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["0", "-1", "true", "1e300"])
def test_a_drive_has_no_number_that_none_can_have(key: str, value: str) -> None:
    where = "gravity =" if key == "control_rate" else "torque_range ="
    text = str(load_robot("machado-2r")).replace(where, f"{key} = {value}\n{where}", 1)
    with pytest.raises(DataError, match=key):
        parse_robot(text)
