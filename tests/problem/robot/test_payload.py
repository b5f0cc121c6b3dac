"""A load at the tip."""

from __future__ import annotations

import numpy as np
import pytest
from samples import random_robot, random_states, terms_of

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


def test_the_papers_second_mass_is_a_load() -> None:
    """m2 sits at the tip: 1 kg more gives (J, C, G) of the paper's equation (3) with 7.25 kg."""
    terms = terms_of(with_payload(load_robot("machado-2r"), 1.0)).outputs[0]
    assert str(terms[0]) == "(17.39 + 11.6 cos q2) qdd1"


def test_no_load_changes_nothing_and_a_negative_one_is_refused() -> None:
    robot = load_robot("puma560")
    assert with_payload(robot, 0.0) is robot
    with pytest.raises(UsageError, match="a payload is a mass in kg, zero or more, not -1"):
        with_payload(robot, -1.0)
