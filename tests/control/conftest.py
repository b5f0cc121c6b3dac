"""What tests of closed loops share: kernels that are compiled before a test is timed."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session", autouse=True)
def warm() -> None:
    """Compile the kernels once: their first call takes seconds where none are kept."""
    import numpy as np

    from boolcomp.measure.control.blocks import planned, scale
    from boolcomp.measure.control.kernels import rounded
    from boolcomp.measure.control.plant import plant_of
    from boolcomp.paper.plan import Options, make_plan
    from boolcomp.problem.makers import inverse_dynamics_problem
    from boolcomp.problem.robot import load_robot
    from boolcomp.terms import split

    robot = load_robot("machado-2r")
    plant = plant_of(robot)
    plant.moved(np.zeros((4, 1)), np.zeros((2, 1)), 1e-3, 1, plant.forward.room(1))
    plan = make_plan(split(inverse_dynamics_problem(robot)).required(), Options(4))
    block = planned(plan)
    block.torques({name: np.zeros((2, 1)) for name in ("q", "qd", "qdd")})
    scales = np.zeros((1, 1, 6)) + np.array(scale(plan.outputs[0].code))
    rounded(np.zeros((1, 1)), scales, np.zeros((1, 1)))
