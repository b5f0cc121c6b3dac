"""A load at the tip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from pinocchio_model import after_joint, pinocchio_model, placed
from samples import branched_robot, general_robot, random_robot, random_states, terms_of

from boolcomp.common.errors import DataError, UsageError
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import Pose, load_robot, parse_robot, with_payload
from boolcomp.problem.robot.bodies import Body
from boolcomp.problem.robot.payload import with_body


@pytest.mark.parametrize("seed", range(10))
def test_a_load_acts_as_the_force_that_moves_it(seed: int) -> None:
    """The torques with a load are those without, plus those that its tip force needs."""
    robot = random_robot(seed)
    q, qd, qdd = random_states(robot, 10, seed)
    for mass in (0.5, 3.0):
        one = inverse_dynamics(with_payload(robot, mass), q, qd, qdd)
        two = inverse_dynamics(with_payload(robot, 2 * mass), q, qd, qdd)
        none = inverse_dynamics(robot, q, qd, qdd)
        scale = 1 + np.abs(two).max()
        assert np.allclose(two - none, 2 * (one - none), rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("seed", range(10))
def test_a_load_hangs_at_the_origin_of_the_tool(seed: int) -> None:
    """At rest a load acts as its weight does there, whichever way the tool's axes point."""
    robot = replace(general_robot(seed), gravity=(0.0, 0.0, 0.0))
    assert robot.tool is not None
    q, qd, qdd = random_states(robot, 10, seed)
    loaded = inverse_dynamics(with_payload(robot, 2.0), q, qd, qdd)
    unturned = replace(robot, tool=replace(robot.tool, rotation=(0.0, 0.0, 0.0)))
    assert np.array_equal(loaded, inverse_dynamics(with_payload(unturned, 2.0), q, qd, qdd))
    rest = np.zeros_like(q)
    down = replace(robot, gravity=(0.0, 0.0, -3.0))
    last = replace(down.links[-1], mass=1e-9, center_of_mass=robot.tool.origin)
    light = replace(down, links=(*down.links[:-1], last))
    weight = inverse_dynamics(with_payload(light, 2.0), q, rest, rest)
    none = inverse_dynamics(light, q, rest, rest)
    heavy = replace(last, mass=2.0 + 1e-9)
    bare = inverse_dynamics(replace(light, links=(*down.links[:-1], heavy)), q, rest, rest)
    assert np.allclose(weight - none, bare - none, rtol=0, atol=1e-9)


def test_the_papers_second_mass_is_a_load() -> None:
    """m2 sits at the tip: 1 kg more gives (J, C, G) of the paper's equation (3) with 7.25 kg."""
    terms = terms_of(with_payload(load_robot("machado-2r"), 1.0)).outputs[0]
    assert str(terms[0]) == "(17.39 + 11.6 cos q2) qdd1"


def test_no_load_changes_nothing_and_a_negative_one_is_refused() -> None:
    robot = load_robot("puma560")
    assert with_payload(robot, 0.0) is robot
    with pytest.raises(UsageError, match="a payload is a mass in kg, zero or more, not -1"):
        with_payload(robot, -1.0)


@pytest.mark.parametrize("seed", range(10))
def test_a_held_body_has_the_torques_that_pinocchio_gives_it(seed: int) -> None:
    """Mass, centre and inertia in the tool's frame, appended to Pinocchio's last joint there."""
    robot = branched_robot(seed, 2 + seed % 5)
    inertia = (0.3, 0.4, 0.5, 0.02, -0.03, 0.04)
    held = with_body(robot, Body(2.5, (0.1, -0.2, 0.3), inertia))
    model = pinocchio_model(robot)
    assert robot.tool is not None
    xx, yy, zz, xy, yz, xz = inertia
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    place = after_joint(robot.links[-1]) * placed(robot.tool)
    body = pin.Inertia(2.5, np.array([0.1, -0.2, 0.3]), tensor)
    model.appendBodyToJoint(robot.joints, body, place)
    data, (q, qd, qdd) = model.createData(), random_states(robot, 10, seed)
    ours = inverse_dynamics(held, q, qd, qdd)
    for k in range(10):
        theirs = pin.rnea(model, data, q[k], qd[k], qdd[k])
        assert np.allclose(ours[k], theirs, rtol=0, atol=1e-10 * (1 + np.abs(theirs).max()))


TOOLED = replace(load_robot("machado-2r"), tool=Pose((0.1, 0.2, 0.3), (0.4, -0.5, 0.6)))
HELD = "[payload]\nmass = 2.5\ncenter_of_mass = [0.1, -0.2, 0.3]\ninertia = [0.3, 0.4, 0.5]\n\n"


def with_payload_table(text: str, table: str = HELD) -> str:
    return text.replace("[[joint]]", f"{table}[[joint]]", 1)


def test_a_robot_file_holds_a_body_in_the_frame_of_its_tool() -> None:
    robot = TOOLED
    read = parse_robot(with_payload_table(str(robot)))
    assert read == with_body(robot, Body(2.5, (0.1, -0.2, 0.3), (0.3, 0.4, 0.5, 0, 0, 0)))
    assert parse_robot(str(read)) == read
    point = parse_robot(with_payload_table(str(robot), "[payload]\nmass = 2.5\n"))
    loaded = with_payload(robot, 2.5)
    states = random_states(robot, 10, 3)
    one, other = inverse_dynamics(point, *states), inverse_dynamics(loaded, *states)
    assert np.allclose(one, other, rtol=0, atol=1e-10 * (1 + np.abs(other).max()))


@pytest.mark.parametrize(("table", "message"), [
    ("payload = 3\n\n", "payload: must be a table: "),
    ("[payload]\nmas = 1\n", r"payload.mas: unknown key \(did you mean 'mass'\?\)"),
    ("[payload]\nmass = 0\n", r":\d+: payload.mass: must be positive, not 0"),
    ("[payload]\ninertia = [1, 1, 1]\n", "payload.mass: missing"),
    ("[payload]\nmass = 1\ninertia = [-1, 1, 1]\n", "payload.inertia: not positive semidefin"),
    ("[payload]\nmass = 1e7\ncenter_of_mass = [9e3, 0, 0]\n", r"payload.\w+: with that of"),
])  # fmt: skip
def test_mistakes_in_a_payload_are_named_with_their_key(table: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        parse_robot(with_payload_table(str(TOOLED), table))
