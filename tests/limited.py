"""Arms whose joints have stops, odd ranges or single values, made from arms that have none."""

from dataclasses import replace
from functools import cache

import numpy as np
from samples import problem_of, random_robot

import boolcomp as bc
from boolcomp.problem import Interval, Robot
from boolcomp.terms import output_amplitudes

KEYS = {"q": "position", "qd": "velocity", "qdd": "acceleration", "word": "word_range"}


def with_ranges(robot: Robot | str, **ranges: tuple[float, float]) -> Robot:
    """Return a robot with other ranges, named `q2`, `qd1`, `qdd1` or `word2`."""
    arm = bc.load_robot(robot) if isinstance(robot, str) else robot
    links = list(arm.links)
    for name, ends in ranges.items():
        kind = name.rstrip("0123456789")
        joint = int(name[len(kind) :]) - 1
        changed = {KEYS[kind]: Interval(*ends)}
        links[joint] = replace(links[joint], **changed)  # type: ignore[arg-type]  # one key of many
    return replace(arm, links=tuple(links))


@cache
def random_limited(joints: int, seed: int) -> Robot:
    """Return a random arm with random stops: narrow, wide, lopsided, above a turn, or none."""
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, joints)
    ranges: dict[str, tuple[float, float]] = {}
    for joint, link in enumerate(robot.links, 1):
        if link.revolute:
            width = float(rng.choice([0.05, 0.7, 1.5, 3.0, 5.0, 6.2, 2 * np.pi, 12.0]))
            middle = float(rng.choice([0.0, rng.uniform(-4, 4)]))
            ranges[f"q{joint}"] = (middle - width / 2, middle + width / 2)
        else:
            low = float(rng.uniform(-0.5, 0.3))
            ranges[f"q{joint}"] = (low, low + float(rng.uniform(0.01, 0.6)))
        top = float(rng.uniform(0.3, 2.0))
        ranges[f"qd{joint}"] = (-top * float(rng.choice([1.0, 0.5])), top)
    limited = with_ranges(robot, **ranges)
    links = [
        replace(link, torque=Interval(-reach, reach))
        for link, reach in zip(limited.links, _reaches(limited), strict=True)
    ]
    return replace(limited, links=tuple(links))


def _reaches(robot: Robot) -> list[float]:
    """Return torque ranges as a user would choose them."""
    reaches = output_amplitudes(problem_of(robot))
    return [float(np.ceil(10 * max(reach, 0.1)) / 10) for reach in reaches]
