"""What an arm is to follow: positions, speeds and accelerations at every instant of control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, parse_number, shown, suggestion
from boolcomp.problem.dynamics.kinematics import forward_kinematics, jacobian
from boolcomp.problem.dynamics.newton_euler import evaluated_states
from boolcomp.problem.problem import numbered
from boolcomp.problem.samples import read_states

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# A circle of the tip, in joint angles: by inverse kinematics of any arm.
#
# Gauss-Newton for all points at once; what an arm could do otherwise and reach the same points, it
# does as little as it can away from where it starts, so that the path closes.
# --------------------------------------------------------------------------------------------------


POINTS = 256  # of the circle, exact; a sum of waves between them
DUST = 1e-13  # of the largest wave
STEPS, LONGEST_STEP = 200, 0.2  # rad or m
EXACT, REACHED = 1e-12, 1e-8  # m
SINGULAR = 1e-3  # of the largest singular value: no direction to go in
RADIUS = 0.05  # of how far joints' ranges would move the tip, were they all slopes
PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True, slots=True, eq=False)
class ClosedPath:
    """Joint positions over a phase of 0 to 2π, as a sum of waves: smooth, and so are all slopes."""

    multiples: Floats
    waves: NDArray[np.complex128]  # (multiples, joints)

    def at(self, phase: Floats, order: int = 0) -> Floats:
        """Return (phases, joints): positions, or their derivatives of an order."""
        turned = np.exp(1j * phase[:, None] * self.multiples)
        slopes = self.waves * (1j * self.multiples[:, None]) ** order
        return np.ascontiguousarray((turned @ slopes).real)

    def slopes(self, order: int) -> Floats:
        """Return derivatives all around."""
        return self.at(np.linspace(0, 2 * math.pi, 4 * POINTS, endpoint=False), order)


def closed_path(places: Floats) -> ClosedPath:
    """Return the path through places at equal distances of phase; waves that are rounding go."""
    waves = np.fft.rfft(places, axis=0) / len(places)
    waves[1:] *= 2
    waves = waves[: len(places) // 2]
    kept = np.abs(waves).max(axis=1) > DUST * np.abs(waves).max()
    kept[0] = True
    return ClosedPath(np.flatnonzero(kept).astype(np.float64), waves[kept])


def circle(robot: Robot, at: Floats, radius: float | None, plane: str) -> ClosedPath:
    """Return the path of a circle that begins where the joints are `at`.

    Its plane is one that is named, or that in which the tip moves best from there.
    """
    first, second, reach = _plane(robot, at, plane)
    radius = radius or RADIUS * reach
    phase = np.linspace(0, 2 * math.pi, POINTS, endpoint=False)[:, None]
    offsets = radius * ((np.cos(phase) - 1) * first + np.sin(phase) * second)
    wanted = tip(robot, at[None]) + offsets
    found = np.repeat(at[None], POINTS, axis=0)
    for _ in range(STEPS):
        slopes = tip_slopes(robot, found)
        missing = wanted - tip(robot, found)
        inverse = np.linalg.pinv(slopes, rcond=SINGULAR)
        step = np.einsum("pjx,px->pj", inverse, missing)
        back = at - found
        step += back - np.einsum("pjx,pxk,pk->pj", inverse, slopes, back)
        longest = np.abs(step).max(axis=1, keepdims=True)
        step *= np.minimum(1.0, LONGEST_STEP / np.maximum(longest, 1e-300))
        found = found + step
        if longest.max() < EXACT:
            break
    if np.abs(wanted - tip(robot, found)).max() > REACHED:
        raise DataError(
            f"{robot.name}: a circle of radius {radius:g} m from {np.round(at, 3).tolist()} is out "
            "of reach: give another radius, place (at) or plane"
        )
    return closed_path(found)


def tip(robot: Robot, q: Floats) -> Floats:
    """Return where the tip is, (samples, 3), in m."""
    return evaluated_states(forward_kinematics, robot, q, kept=(0, 1, 2))


def tip_slopes(robot: Robot, q: Floats) -> Floats:
    """Return how the tip moves with the joints, (samples, 3, joints)."""
    rows = evaluated_states(jacobian, robot, q, kept=range(3 * robot.joints))
    return rows.reshape(len(q), 3, robot.joints)


def _plane(robot: Robot, at: Floats, plane: str) -> tuple[Floats, Floats, float]:
    """Return two directions, and how far the ranges of joints would move the tip along both."""
    halves = [min(link.position.width / 2, math.pi) for link in robot.links]
    slopes = tip_slopes(robot, at[None])[0] * halves
    if plane:
        if plane not in PLANES:
            hint = suggestion(plane, PLANES)
            raise UsageError(f"trajectory circle: plane {shown(plane)}{hint}: xy, xz or yz")
        first, second = (np.eye(3)[axis] for axis in PLANES[plane])
        return first, second, float(min(np.linalg.norm(slopes.T @ x) for x in (first, second)))
    left, sizes, _ = np.linalg.svd(slopes)
    if len(sizes) < 2 or sizes[1] < SINGULAR * sizes[0]:
        raise DataError(
            f"{robot.name}: the tip moves along a line there: no circle is in reach (at=…)"
        )
    best = left[:, :2].T
    signs = np.sign(best[np.arange(2), np.abs(best).argmax(axis=1)])
    return signs[0] * best[0], signs[1] * best[1], float(sizes[1])


# --------------------------------------------------------------------------------------------------
# What an arm is to follow: positions, speeds and accelerations at every instant of control.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Motion = Callable[[Floats], tuple[Floats, Floats, Floats]]


SHARE = 0.5  # of a joint's largest speed and acceleration: what is proposed stays below
MOVING = 0.6  # of the time: a move from point to point; then it rests
ROOM = 0.4  # of a joint's range to either side: what is proposed stays within
FREQUENCY = 0.25  # Hz
PEAK_SPEED, PEAK_RATE = 15 / 8, 10 / math.sqrt(3)  # of a quintic over unit time and way
LONGEST = 2_000_000  # instants
MOST = 1e100  # of what is asked of a joint: that can be multiplied by gains and masses
KEYS = {
    "point": ("from", "to", "time"),
    "circle": ("at", "radius", "period", "plane"),
    "sine": ("at", "amplitude", "frequency"),
    "hold": ("at",),
}


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A trajectory at the instants of control: (instants, joints) each, and what it is called.

    `own` instants are its own; after them it stays where it is.
    """

    name: str
    q: Floats
    qd: Floats
    qdd: Floats
    own: int

    @property
    def rest(self) -> int:
        """The first instant after which nothing moves any more, up to its end; `own` if none."""
        moves = (self.qd[: self.own] != 0).any(axis=1) | (self.qdd[: self.own] != 0).any(axis=1)
        found = np.flatnonzero(moves)
        return int(found[-1]) + 1 if len(found) else 0


def home(robot: Robot) -> Floats:
    """Return where trajectories are about if nothing is said: near the middle, arms bent."""
    bent = np.array([-0.4 if k % 2 else 0.2 for k in range(robot.joints)])
    middles = np.array([link.position.centre for link in robot.links])
    return middles + bent * _halves(robot)


def trajectory_of(robot: Robot, text: str, seconds: float, rate: float) -> Trajectory:
    """Return the trajectory that a text says: `point:from=0,0:to=1,1`, `circle`, `path.csv`."""
    path = text if text.endswith(".csv") else ""
    kind, *parts = [text] if path else text.split(":")
    if not path and kind not in KEYS:
        raise UsageError(
            f"no trajectory {shown(kind)}{suggestion(kind, KEYS)}: they are {listing(KEYS)}, or a "
            "file ending in .csv"
        )
    try:
        with np.errstate(all="ignore"):  # what is not finite is told of later
            if path:
                motion, seconds = _of_file(robot, Path(path))
            else:
                motion = _MAKERS[kind](robot, _values(kind, parts), seconds)
    except np.linalg.LinAlgError as error:
        raise _beyond(text) from error
    if not 0.5 < seconds * rate < LONGEST - 0.5:  # it may be endless
        raise UsageError(
            f"{shown(text)}: {seconds:g} s at {rate:g} Hz are {seconds * rate + 1:.10g} instants, "
            f"where 2 to {LONGEST} can be simulated"
        )
    count = round(seconds * rate) + 1
    times = np.arange(count) / rate
    with np.errstate(all="ignore"):
        q, qd, qdd = motion(times)
        if not all((np.abs(one) < MOST).all() for one in (q, qd, qdd)):
            raise _beyond(text)
    return Trajectory(text, q, qd, qdd, count)


def _beyond(text: str) -> DataError:
    return DataError(
        f"{shown(text)}: it asks for positions, speeds or accelerations of {MOST:g} or more, or "
        "for none at all"
    )


def lengthened(trajectory: Trajectory, count: int) -> Trajectory:
    """Return a trajectory that stays where it ends, up to so many instants."""
    more = count - trajectory.own
    if more <= 0:
        return trajectory
    joints = trajectory.q.shape[1]
    still = np.zeros((more, joints))
    return Trajectory(
        trajectory.name,
        np.concatenate([trajectory.q, np.repeat(trajectory.q[-1:], more, axis=0)]),
        np.concatenate([trajectory.qd, still]),
        np.concatenate([trajectory.qdd, still]),
        trajectory.own,
    )


def _values(kind: str, parts: list[str]) -> dict[str, str]:
    found = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or key not in KEYS[kind] or key in found:
            hint = suggestion(key, KEYS[kind])
            raise UsageError(
                f"trajectory {kind}: {shown(part)}{hint}: give {listing(KEYS[kind])}, each once, "
                f"such as {kind}:{KEYS[kind][0]}=…"
            )
        found[key] = value
    return found


def _numbers(given: Mapping[str, str], key: str, usual: Floats, kind: str) -> Floats:
    """Return numbers for all joints: those given, one for all or one each, or the usual ones."""
    if key not in given:
        return usual
    values = [parse_number(part) for part in given[key].split(",")]
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < len(values) or len(known) not in (1, len(usual)):
        raise UsageError(
            f"trajectory {kind}: {key}={given[key]}: give a number, or {len(usual)} separated by "
            "commas"
        )
    return np.full(len(usual), known[0]) if len(known) == 1 else np.array(known)


def _one(given: Mapping[str, str], key: str, kind: str) -> float | None:
    """Return a number above zero, None where none is given."""
    if key not in given:
        return None
    value = parse_number(given[key])
    if value is None or not math.isfinite(value) or value <= 0:
        raise UsageError(f"trajectory {kind}: {key}={given[key]}: give a number above zero")
    return value


def _halves(robot: Robot) -> Floats:
    """Return half of every joint's range, that of a full turn at most."""
    halves = [link.position.width / 2 for link in robot.links]
    turning = [link.revolute for link in robot.links]
    return np.array([min(h, math.pi) if t else h for h, t in zip(halves, turning, strict=True)])


def limits(robot: Robot) -> tuple[Floats, Floats]:
    """Return every joint's largest speed and acceleration; endless where a range is one value."""
    speeds = [link.velocity.magnitude or math.inf for link in robot.links]
    rates = [link.acceleration.magnitude or math.inf for link in robot.links]
    return np.array(speeds), np.array(rates)


def _point(robot: Robot, given: Mapping[str, str], seconds: float) -> Motion:
    time = min(_one(given, "time", "point") or MOVING * seconds, seconds)
    speeds, rates = limits(robot)
    way = np.minimum(SHARE * speeds * time / PEAK_SPEED, SHARE * rates * time**2 / PEAK_RATE)
    way = np.minimum(way, 2 * ROOM * _halves(robot))
    middles = np.array([link.position.centre for link in robot.links])
    start = _numbers(given, "from", middles - way / 2, "point")
    way = _numbers(given, "to", start + way, "point") - start

    def motion(times: Floats) -> tuple[Floats, Floats, Floats]:
        s = np.minimum(times / time, 1.0)[:, None]
        inside = s < 1
        return (
            start + way * (s**3 * (10 + s * (6 * s - 15))),
            np.where(inside, way / time * (30 * s**2 * (1 - s) ** 2), 0.0),
            np.where(inside, way / time**2 * (60 * s * (1 - s) * (1 - 2 * s)), 0.0),
        )

    return motion


def _sine(robot: Robot, given: Mapping[str, str], seconds: float) -> Motion:
    del seconds
    n = robot.joints
    spread = 1 + np.arange(n) / 4  # joints that do not move together
    turns = 2 * math.pi * _numbers(given, "frequency", FREQUENCY * spread, "sine")
    speeds, rates = limits(robot)
    usual = np.minimum(SHARE * speeds / turns, SHARE * rates / turns**2)
    size = _numbers(given, "amplitude", np.minimum(usual, ROOM * _halves(robot)), "sine")
    middle = _numbers(given, "at", home(robot), "sine")

    def motion(times: Floats) -> tuple[Floats, Floats, Floats]:
        phase = times[:, None] * turns
        return (
            middle + size * np.sin(phase),
            size * turns * np.cos(phase),
            -size * turns**2 * np.sin(phase),
        )

    return motion


def _hold(robot: Robot, given: Mapping[str, str], seconds: float) -> Motion:
    del seconds
    place = _numbers(given, "at", home(robot), "hold")

    def motion(times: Floats) -> tuple[Floats, Floats, Floats]:
        still = np.zeros((len(times), robot.joints))
        return np.repeat(place[None], len(times), axis=0), still, still

    return motion


def _circle(robot: Robot, given: Mapping[str, str], seconds: float) -> Motion:
    del seconds
    path = circle(
        robot,
        _numbers(given, "at", home(robot), "circle"),
        _one(given, "radius", "circle"),
        given.get("plane", ""),
    )
    speeds, rates = limits(robot)
    slowest = max(
        float((np.abs(path.slopes(1)) / (SHARE * speeds)).max()),
        float(np.sqrt((np.abs(path.slopes(2)) / (SHARE * rates)).max())),
    )
    proposed = math.ceil(2 * math.pi * max(slowest, 1e-6) * 10) / 10
    turns = np.float64(2 * math.pi) / (_one(given, "period", "circle") or max(1.0, proposed))

    def motion(times: Floats) -> tuple[Floats, Floats, Floats]:
        phase = times * turns
        return path.at(phase), turns * path.at(phase, 1), turns**2 * path.at(phase, 2)

    return motion


def _of_file(robot: Robot, path: Path) -> tuple[Motion, float]:
    """Return the motion through the places of a file, smooth between them, and how long it is."""
    texts: list[str] = []
    blocks = []
    with read_states(path, (numbered("q", robot.joints),)) as (chunks, _):
        for chunk in chunks:
            blocks.append(chunk.arrays[0])
            texts += chunk.times.texts if chunk.times else []
    places = np.concatenate(blocks) if blocks else np.zeros((0, robot.joints))
    times = np.array([parse_number(text) or 0.0 for text in texts])
    if len(places) < 2 or len(times) != len(places) or not (np.diff(times) > 0).all():
        raise DataError(
            f"{path}: a trajectory has a column t of times that rise, q1 to q{robot.joints}, and "
            "two lines or more"
        )
    times = times - times[0]
    speeds = np.gradient(places, times, axis=0, edge_order=2 if len(times) > 2 else 1)
    rates = np.gradient(speeds, times, axis=0)
    return partial(_between, times, places, speeds, rates), float(times[-1])


def _between(
    times: Floats, q: Floats, qd: Floats, qdd: Floats, at: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the motion of fifth degree between places, through their speeds and accelerations."""
    k = np.clip(np.searchsorted(times, at, "right") - 1, 0, len(times) - 2)
    length = (times[k + 1] - times[k])[:, None]
    s = (at - times[k])[:, None] / length
    a0, a1, a2 = q[k], qd[k] * length, qdd[k] * length**2 / 2
    b0 = q[k + 1] - a0 - a1 - a2
    b1 = qd[k + 1] * length - a1 - 2 * a2
    b2 = qdd[k + 1] * length**2 - 2 * a2
    a3, a4, a5 = 10 * b0 - 4 * b1 + b2 / 2, -15 * b0 + 7 * b1 - b2, 6 * b0 - 3 * b1 + b2 / 2
    return (
        a0 + s * (a1 + s * (a2 + s * (a3 + s * (a4 + s * a5)))),
        (a1 + s * (2 * a2 + s * (3 * a3 + s * (4 * a4 + s * 5 * a5)))) / length,
        (2 * a2 + s * (6 * a3 + s * (12 * a4 + s * 20 * a5))) / length**2,
    )


_MAKERS: dict[str, Callable[[Robot, Mapping[str, str], float], Motion]] = {
    "point": _point,
    "circle": _circle,
    "sine": _sine,
    "hold": _hold,
}
