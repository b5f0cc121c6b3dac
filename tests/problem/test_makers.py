"""Makers of problems: gravity against the slope of potential energy, and what axes tell."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from limited import with_ranges
from samples import problem_of, random_robot

from boolcomp.paper.bounds import error_bound
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.quantised import quantised
from boolcomp.problem.makers import gravity_problem
from boolcomp.problem.problem import PartHint, SumHint
from boolcomp.problem.robot import Pose, Robot, load_robot, robot_names
from boolcomp.terms import FORMS, evaluate_terms, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot import Link

STEP = 1e-5


def moved(link: Link, q: float) -> NDArray[np.float64]:
    """Return the transformation of a link's frame: about and along z, then along and about x."""
    theta, d = (link.theta + q, link.d) if link.revolute else (link.theta, link.d + q)
    c, s, ca, sa = math.cos(theta), math.sin(theta), math.cos(link.alpha), math.sin(link.alpha)
    return np.array([
        [c, -s * ca, s * sa, link.a * c],
        [s, c * ca, -c * sa, link.a * s],
        [0, sa, ca, d],
        [0, 0, 0, 1],
    ])  # fmt: skip


def energy(robot: Robot, q: NDArray[np.float64]) -> float:
    """Return the potential energy of all links: minus mass times gravity times place."""
    frame, total = np.eye(4), 0.0
    for link, value in zip(robot.links, q, strict=True):
        frame = frame @ moved(link, float(value))
        centre = frame @ np.array([*link.center_of_mass, 1.0])
        total -= link.mass * float(np.dot(robot.gravity, centre[:3]))
    return total


@pytest.mark.parametrize("seed", range(8))
def test_gravity_is_the_slope_of_potential_energy(seed: int) -> None:
    robot = random_robot(seed, 1 + seed % 5)
    problem = gravity_problem(robot)
    states = np.random.default_rng(seed).uniform(-3, 3, (10, robot.joints))
    found = problem.exact(states)
    for k, ahead in enumerate(STEP * np.eye(robot.joints)):
        slopes = [
            (energy(robot, q + ahead) - energy(robot, q - ahead)) / (2 * STEP) for q in states
        ]
        assert found[:, k] == pytest.approx(slopes, abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(6))
def test_terms_of_gravity_add_up_to_it(seed: int, form: str) -> None:
    rng = np.random.default_rng(seed)
    joints = 2 + seed % 4
    robot = random_robot(seed, joints)
    held = {
        f"q{k}": 2 * (float(rng.uniform(-1, 1)),)
        for k in range(1, joints + 1)
        if rng.uniform() < 0.3
    }
    problem = gravity_problem(with_ranges(robot, **held))
    (q,) = problem.draw(100, seed)
    exact, columns = problem.reference(q), problem.columns((q,))
    for k, terms in enumerate(split(problem, form).outputs):
        assert not {v.name for term in terms for v in term.variables} & set(held)
        assert evaluate_terms(terms, columns) == pytest.approx(exact[:, k], abs=1e-9)


def test_the_arms_of_these_tests_slide_and_hold_single_values() -> None:
    robots = [random_robot(seed, 2 + seed % 4) for seed in range(6)]
    assert any(not link.revolute for robot in robots for link in robot.links)


@pytest.mark.parametrize("name", robot_names())
def test_gravity_is_inverse_dynamics_at_rest(name: str) -> None:
    robot = load_robot(name)
    (q,) = gravity_problem(robot).draw(50, 1)
    still = np.zeros_like(q)
    exact = problem_of(robot).reference(q, still, still)
    assert gravity_problem(robot).reference(q) == pytest.approx(exact, abs=1e-9)


def test_gravity_of_the_papers_arm_has_two_waves() -> None:
    problem = gravity_problem(load_robot("machado-2r"))
    assert problem.name == "machado-2r-gravity"
    assert [group.members for group in problem.groups] == [("q1", "q2")]
    assert str(split(problem)).splitlines() == [
        "T1 = T11",
        "  T11 = 66.15 cos q1 + 49 cos(q1 + q2)",
        "T2 = T21",
        "  T21 = 49 cos(q1 + q2)",
    ]


def test_gravity_differs_from_inverse_dynamics_wherever_results_are_kept() -> None:
    robot = load_robot("machado-2r")
    one, other = gravity_problem(robot), problem_of(robot)
    assert one.key != other.key
    assert one != other
    assert one == gravity_problem(load_robot("machado-2r"))


@pytest.mark.parametrize("bits", [6, 8])
def test_the_plan_of_gravity_errs_within_its_bound(bits: int) -> None:
    problem = gravity_problem(load_robot("elbow-3r"))
    plan = make_plan(split(problem), Options(bits=bits))
    arrays = problem.draw(2000, 5)
    error = np.abs(quantised(plan, arrays).values - problem.reference(*arrays))
    assert (error.max(axis=0) <= [error_bound(output) for output in plan.outputs]).all()


def test_parallel_axes_of_a_chain_hint_at_its_first_sum_and_at_every_part() -> None:
    problem = problem_of("planar-3r")
    assert problem.sums == (
        SumHint("speeds", "qd1", "qd2", 1), SumHint("accelerations", "qdd1", "qdd2", 1),
    )  # fmt: skip
    assert problem.parts == (PartHint(0, 1, 1), PartHint(1, 2, 1))


def test_an_elbow_has_two_parallel_axes() -> None:
    problem = problem_of("elbow-3r")
    assert problem.sums == (
        SumHint("speeds", "qd2", "qd3", 1), SumHint("accelerations", "qdd2", "qdd3", 1),
    )  # fmt: skip
    assert problem.parts == (PartHint(1, 2, 1),)
    assert gravity_problem(load_robot("elbow-3r")).parts == problem.parts
    assert gravity_problem(load_robot("elbow-3r")).sums == ()


def twisted(alpha: float) -> Robot:
    arm = load_robot("machado-2r")
    return replace(arm, links=(replace(arm.links[0], alpha=alpha), arm.links[1]))


def test_axes_that_point_opposite_ways_hint_at_a_difference() -> None:
    problem = problem_of(twisted(math.pi))
    assert problem.sums[0] == SumHint("speeds", "qd1", "qd2", -1)
    assert problem.parts == (PartHint(0, 1, -1),)


@pytest.mark.parametrize(("axis", "sign"), [((0, 1, 0), 1), ((0, -1, 0), -1), ((0, 0, 1), 0)])
def test_parallel_axes_of_general_frames_are_hints_too(axis: tuple[float, ...], sign: int) -> None:
    """Link 2 is turned a quarter about x: its z looks along link 1's -y, its y along z."""
    arm = load_robot("machado-2r")
    turned = Pose((1.0, 0.0, 0.0), (math.pi / 2, 0.0, 0.0))
    x, y, z = axis
    last = replace(arm.links[1], pose=turned, axis=(x, y, z))
    problem = problem_of(replace(arm, links=(arm.links[0], last)))
    assert problem.parts == ((PartHint(0, 1, sign),) if sign else ())


@pytest.mark.parametrize("alpha", [0.3, math.pi / 2, -math.pi / 2])
def test_axes_that_are_not_parallel_hint_at_nothing(alpha: float) -> None:
    assert (problem_of(twisted(alpha)).sums, problem_of(twisted(alpha)).parts) == ((), ())
