"""A load at the tip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import general_robot, random_robot, random_states, terms_of

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import load_robot, with_payload


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
