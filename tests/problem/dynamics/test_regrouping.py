"""Parameters that act: none of a turning link's mass, and the same torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from samples import random_robot

from boolcomp.problem.dynamics.regrouping import regrouped
from boolcomp.problem.robot import load_robot


@pytest.mark.parametrize("seed", range(6))
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
    assert first.tensor[2][2] == pytest.approx(11.75)
    assert first.first == pytest.approx((6.75, 0, 0))
    assert second.tensor[2][2] == pytest.approx(4)
    assert second.first == pytest.approx((5, 0, 0))


def test_rounding_errors_do_not_count_as_parameters() -> None:
    last = regrouped(load_robot("puma560"))[-1]
    assert last.tensor[0] == (0.0, 0.0, 0.0)
    assert last.first == (0.0, 0.0, 0.0)


def test_the_first_rotor_stands_on_the_first_axis() -> None:
    robot = load_robot("puma560")
    bare = replace(robot, links=tuple(replace(x, rotor_inertia=0.0) for x in robot.links))
    more = regrouped(robot)[0].tensor[2][2] - regrouped(bare)[0].tensor[2][2]
    assert more == pytest.approx(robot.links[0].joint_inertia)
