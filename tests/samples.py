"""Robots, their problems and states that several tests use: random but seeded."""

import math
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.problem import Input, Interval, Link, Pose, Problem, Robot, inverse_dynamics_problem
from boolcomp.terms import Terms, split

# Names of robots that ship; what takes terms of seven joints takes seconds.
SHIPPED = [
    pytest.param(name, marks=[pytest.mark.check] if bc.load_robot(name).joints > 6 else [])
    for name in bc.robot_names()
]
TURN = Interval(-math.pi, math.pi)
ONE = Interval(-1.0, 1.0)


def problem_of(robot: Robot | str) -> Problem:
    """Return the inverse dynamics of a robot, or of one that ships."""
    return inverse_dynamics_problem(bc.load_robot(robot) if isinstance(robot, str) else robot)


@lru_cache(maxsize=4)
def terms_of(robot: Robot | str, form: str = "grouped") -> Terms:
    """Return the torques of a robot, or of one that ships, as sums of terms."""
    return split(problem_of(robot), form)


def by_name(*arrays: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return the columns of q, qd and qdd under the names of a robot's inputs."""
    return {
        f"{kind}{k}": column
        for kind, array in zip(("q", "qd", "qdd"), arrays, strict=True)
        for k, column in enumerate(array.T, 1)
    }


def input_of(name: str, where: Interval, *, angle: bool = False) -> Input:
    """Return an input whose word spans its range; an angle wraps where that is a turn."""
    return Input(name, where, "", where, where, angle, angle and where == TURN)


def random_robot(seed: int, joints: int | None = None) -> Robot:
    """Return an arm of 1 to 7 joints, a third of them sliding, with full inertia tensors."""
    rng = np.random.default_rng(seed)
    count = joints or int(rng.integers(1, 8))
    return Robot(
        name=f"random-{seed}",
        title="",
        source="",
        doubt="",
        gravity=_triple(rng.uniform(-9.81, 9.81, 3)),
        links=tuple(random_link(rng) for _ in range(count)),
    )


def branched_robot(seed: int, joints: int = 5) -> Robot:
    """Return a tree of such joints, numbered branch by branch, whose base stands askew."""
    rng, robot = np.random.default_rng(seed + 7), general_robot(seed, joints)
    links, way = [], [0]
    for k, link in enumerate(robot.links):
        way = way[: 1 + int(rng.integers(len(way)))]
        links.append(replace(link, parent=None if way[-1] == k else way[-1]))
        way.append(k + 1)
    return replace(robot, links=tuple(links), base=_random_pose(rng))


def general_robot(seed: int, joints: int | None = None) -> Robot:
    """Return such an arm with two thirds of its joints in general frames, and a tool."""
    rng, robot = np.random.default_rng(seed), random_robot(seed, joints)
    links = tuple(_in_general_frames(link, rng) for link in robot.links)
    return replace(robot, links=links, tool=_random_pose(rng))


def _in_general_frames(link: Link, rng: np.random.Generator) -> Link:
    if rng.uniform() < 1 / 3:
        return link
    axis = np.eye(3)[rng.integers(3)] if rng.uniform() < 0.5 else rng.normal(size=3)
    axis = rng.choice((-1, 1)) * axis / np.linalg.norm(axis)
    return replace(
        link, a=0.0, alpha=0.0, d=0.0, theta=0.0, pose=_random_pose(rng), axis=_triple(axis)
    )


def _random_pose(rng: np.random.Generator) -> Pose:
    turn = rng.choice((0.0, math.pi / 2, math.pi, -1.0, 0.3, -math.pi / 2), 3)
    return Pose(_triple(rng.uniform(-1, 1, 3)), _triple(turn))


def random_link(rng: np.random.Generator) -> Link:
    revolute = rng.uniform() < 2 / 3
    right_angles = (0.0, math.pi / 2, -math.pi / 2, math.pi)
    square = rng.uniform(-1, 1, (3, 3))
    tensor = square @ square.T + np.eye(3)
    inertia = (*np.diag(tensor), tensor[0, 1], tensor[1, 2], tensor[0, 2])
    xx, yy, zz, xy, yz, xz = (float(x) for x in inertia)
    return Link(
        type="revolute" if revolute else "prismatic",
        a=float(rng.uniform(-1, 1)),
        alpha=float(rng.choice(right_angles) if rng.uniform() < 0.5 else rng.uniform(-3, 3)),
        d=float(rng.uniform(-1, 1)),
        theta=float(rng.uniform(-3, 3)),
        mass=float(rng.uniform(0.1, 10)),
        center_of_mass=_triple(rng.uniform(-1, 1, 3)),
        inertia=(xx, yy, zz, xy, yz, xz),
        rotor_inertia=float(rng.uniform(0, 1e-2)),
        gear_ratio=float(rng.uniform(-100, 100)),
        viscous_friction=0.0,
        coulomb_friction=(0.0, 0.0),
        position=TURN if revolute else Interval(0.2, 1.1),
        velocity=ONE,
        acceleration=ONE,
        torque=Interval(-100.0, 100.0),
    )


def random_states(robot: Robot, count: int, seed: int = 0) -> tuple[NDArray[np.float64], ...]:
    """Return q, qd and qdd, each (count, joints), over and beyond the robot's ranges."""
    rng = np.random.default_rng(seed)
    shape = (count, robot.joints)
    return rng.uniform(-4, 4, shape), rng.uniform(-2, 2, shape), rng.uniform(-5, 5, shape)


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return (x, y, z)
