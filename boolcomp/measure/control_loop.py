"""An arm in closed loop: trajectories, control laws and the simulation.

Runs are columns: every array has a row for each value and a column for each run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np

from boolcomp.base.errors import (
    DataError,
    UsageError,
    listing,
    parse_number,
    require_name,
    shown,
    suggestion,
)
from boolcomp.base.loops import njit
from boolcomp.codes import TIE
from boolcomp.problem import dynamics
from boolcomp.problem.dynamics import (
    bias,
    dry_friction,
    dry_joints,
    evaluated_states,
    joint_program,
    newton_euler,
    usual_smoothing,
    weight,
)
from boolcomp.problem.kinematics import forward_kinematics, jacobian
from boolcomp.problem.problem import numbered
from boolcomp.problem.samples import read_states

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.algebra import Algebra, Folding
    from boolcomp.problem.robot.model import Link, Robot
    from boolcomp.problem.tape import Straight

    Floats = NDArray[np.float64]
    Motion = Callable[[Floats], tuple[Floats, Floats, Floats]]
    Signals = dict[str, Floats]

# --------------------------------------------------------------------------------------------------
# A circle of the tip in joint angles, by inverse kinematics of any arm.
#
# Gauss-Newton iterations treat all points at once. Redundant joints stay as close as possible to
# the start, so that the path closes.
# --------------------------------------------------------------------------------------------------


POINTS = 256  # exact points of the circle, interpolated by harmonics
DUST = 1e-13  # smaller harmonics, relative to the largest, are dropped
STEPS, LONGEST_STEP = 200, 0.2  # rad or m
EXACT, REACHED = 1e-12, 1e-8  # m
SINGULAR = 1e-3  # smaller singular values, relative to the largest, are zero
RADIUS = 0.05  # default radius, relative to the linearised reach of the joints' ranges
PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


@dataclass(frozen=True, slots=True, eq=False)
class ClosedPath:
    """Joint positions over a phase of 0 to 2π as a sum of harmonics."""

    multiples: Floats
    waves: NDArray[np.complex128]  # (multiples, joints)

    def at(self, phase: Floats, order: int = 0) -> Floats:
        """Return (phases, joints): positions, or their derivatives of an order."""
        turned = np.exp(1j * phase[:, None] * self.multiples)
        slopes = self.waves * (1j * self.multiples[:, None]) ** order
        return np.ascontiguousarray((turned @ slopes).real)

    def slopes(self, order: int) -> Floats:
        return self.at(np.linspace(0, 2 * math.pi, 4 * POINTS, endpoint=False), order)


def closed_path(places: Floats) -> ClosedPath:
    """Return the path through places at equal phase steps, without harmonics of rounding error."""
    waves = np.fft.rfft(places, axis=0) / len(places)
    waves[1:] *= 2
    waves = waves[: len(places) // 2]
    kept = np.abs(waves).max(axis=1) > DUST * np.abs(waves).max()
    kept[0] = True
    return ClosedPath(np.flatnonzero(kept).astype(np.float64), waves[kept])


def circle(robot: Robot, at: Floats, radius: float | None, plane: str) -> ClosedPath:
    """Return the path of a circle that starts at joint positions `at`.

    Without a plane's name the plane is that in which the tip is most mobile at the start.
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
            f"a circle of radius {radius:g} m from {np.round(at, 3).tolist()} is out of reach",
            "give another radius, start (at) or plane", where=robot.name,
        )  # fmt: skip
    return closed_path(found)


def tip(robot: Robot, q: Floats) -> Floats:
    return evaluated_states(forward_kinematics, robot, q, kept=(0, 1, 2))


def tip_slopes(robot: Robot, q: Floats) -> Floats:
    """Return the Jacobian of the tip's position, (samples, 3, joints)."""
    rows = evaluated_states(jacobian, robot, q, kept=range(3 * robot.joints))
    return rows.reshape(len(q), 3, robot.joints)


def _plane(robot: Robot, at: Floats, plane: str) -> tuple[Floats, Floats, float]:
    """Return two directions, and the linearised reach of the joints' ranges along both."""
    halves = [min(link.position.width / 2, math.pi) for link in robot.links]
    slopes = tip_slopes(robot, at[None])[0] * halves
    if plane:
        require_name("plane", plane, PLANES)
        first, second = (np.eye(3)[axis] for axis in PLANES[plane])
        return first, second, float(min(np.linalg.norm(slopes.T @ x) for x in (first, second)))
    left, sizes, _ = np.linalg.svd(slopes)
    if len(sizes) < 2 or sizes[1] < SINGULAR * sizes[0]:
        raise DataError(
            "the tip can only move along a line there", "give another start (at=…)",
            where=robot.name,
        )  # fmt: skip
    best = left[:, :2].T
    signs = np.sign(best[np.arange(2), np.abs(best).argmax(axis=1)])
    return signs[0] * best[0], signs[1] * best[1], float(sizes[1])


# --------------------------------------------------------------------------------------------------
# Trajectories: desired positions, speeds and accelerations at every instant of control.
# --------------------------------------------------------------------------------------------------


SHARE = 0.5  # default motions use at most this share of a joint's largest speed and acceleration
MOVING = 0.6  # share of the time of a move from point to point; the rest is at rest
ROOM = 0.4  # default motions use at most this share of a joint's range to either side
FREQUENCY = 0.25  # Hz
PEAK_SPEED, PEAK_RATE = 15 / 8, 10 / math.sqrt(3)  # of a quintic over unit time and distance
LONGEST_TRAJECTORY = 2_000_000  # instants
MOST = 1e100  # largest desired value; products with gains and masses are still finite
KEYS = {
    "point": ("from", "to", "time"),
    "circle": ("at", "radius", "period", "plane"),
    "sine": ("at", "amplitude", "frequency"),
    "hold": ("at",),
}


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A named trajectory at the instants of control, (instants, joints) each.

    It has `own` instants; after them it rests at its end.
    """

    name: str
    q: Floats
    qd: Floats
    qdd: Floats
    own: int

    @property
    def rest(self) -> int:
        """The instant from which on the trajectory rests, or `own`."""
        moves = (self.qd[: self.own] != 0).any(axis=1) | (self.qdd[: self.own] != 0).any(axis=1)
        found = np.flatnonzero(moves)
        return int(found[-1]) + 1 if len(found) else 0


def home(robot: Robot) -> Floats:
    """Return the default position of trajectories: near the middle, with bent joints."""
    bent = np.array([-0.4 if k % 2 else 0.2 for k in range(robot.joints)])
    middles = np.array([link.position.centre for link in robot.links])
    return middles + bent * _halves(robot)


def trajectory_of(robot: Robot, text: str, seconds: float, rate: float) -> Trajectory:
    """Return a trajectory from its text: `point:from=0,0:to=1,1`, `circle`, `path.csv`."""
    path = text if text.endswith(".csv") else ""
    kind, *parts = [text] if path else text.split(":")
    if not path:
        require_name("trajectory", kind, KEYS, "or a file that ends in .csv")
    try:
        with np.errstate(all="ignore"):  # values that are not finite raise an error below
            if path:
                motion, seconds = _of_file(robot, Path(path))
            else:
                motion = _MAKERS[kind](robot, _values(kind, parts), seconds)
    except np.linalg.LinAlgError as error:
        raise _beyond(text) from error
    if not 0.5 < seconds * rate < LONGEST_TRAJECTORY - 0.5:  # it may be infinite
        raise UsageError(
            f"{seconds:g} s at {rate:g} Hz are {seconds * rate + 1:.10g} instants",
            f"a trajectory must have 2 to {LONGEST_TRAJECTORY}", where=shown(text),
        )  # fmt: skip
    count = round(seconds * rate) + 1
    times = np.arange(count) / rate
    with np.errstate(all="ignore"):
        q, qd, qdd = motion(times)
        if not all((np.abs(one) < MOST).all() for one in (q, qd, qdd)):
            raise _beyond(text)
    return Trajectory(text, q, qd, qdd, count)


def _beyond(text: str) -> DataError:
    return DataError(
        f"positions, speeds or accelerations are {MOST:g} or more, or not finite", where=shown(text)
    )


def lengthened(trajectory: Trajectory, count: int) -> Trajectory:
    """Return a trajectory extended to `count` instants, at rest at its end."""
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
                f"trajectory {kind} has the invalid part {shown(part)}",
                f"{hint}give {listing(KEYS[kind])}, each once, such as {kind}:{KEYS[kind][0]}=…",
            )
        found[key] = value
    return found


def _numbers(given: Mapping[str, str], key: str, usual: Floats, kind: str) -> Floats:
    """Return numbers for all joints: given as one for all or one each, or the default."""
    if key not in given:
        return usual
    values = [parse_number(part) for part in given[key].split(",")]
    known = [value for value in values if value is not None and math.isfinite(value)]
    if len(known) < len(values) or len(known) not in (1, len(usual)):
        raise UsageError(
            f"trajectory {kind} has the invalid {key}={given[key]}",
            f"give a number, or {len(usual)} separated by commas",
        )
    return np.full(len(usual), known[0]) if len(known) == 1 else np.array(known)


def _one(given: Mapping[str, str], key: str, kind: str) -> float | None:
    """Return a positive number, or None if none is given."""
    if key not in given:
        return None
    value = parse_number(given[key])
    if value is None or not math.isfinite(value) or value <= 0:
        raise UsageError(
            f"trajectory {kind} has the invalid {key}={given[key]}", "give a number above zero"
        )
    return value


def _halves(robot: Robot) -> Floats:
    """Return half of every joint's range, at most half a turn."""
    halves = [link.position.width / 2 for link in robot.links]
    turning = [link.revolute for link in robot.links]
    return np.array([min(h, math.pi) if t else h for h, t in zip(halves, turning, strict=True)])


def limits(robot: Robot) -> tuple[Floats, Floats]:
    """Return every joint's largest speed and acceleration; infinite where the range is zero."""
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
    """Return the smooth motion through the positions of a file, and its duration."""
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
            "the file is no trajectory",
            f"it needs columns t (increasing times) and q1 to q{robot.joints}, and at least two "
            "rows", where=path,
        )  # fmt: skip
    times = times - times[0]
    speeds = np.gradient(places, times, axis=0, edge_order=2 if len(times) > 2 else 1)
    rates = np.gradient(speeds, times, axis=0)
    return partial(_between, times, places, speeds, rates), float(times[-1])


def _between(
    times: Floats, q: Floats, qd: Floats, qdd: Floats, at: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return quintic interpolation of positions, speeds and accelerations at given times."""
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


# --------------------------------------------------------------------------------------------------
# Drives: control rate, encoders, speed measurement, torque limits.
# --------------------------------------------------------------------------------------------------


Speeds = Literal["exact", "difference", "filtered"]
SPEEDS: tuple[Speeds, ...] = get_args(Speeds)
RATE, CUTOFF = 1000.0, 50.0  # Hz, defaults
FASTEST = 1e6  # Hz
FRICTIONS = ("compensated", "uncompensated", "none")


@dataclass(frozen=True, slots=True)
class ControlDrive:
    """The control rate (Hz), the encoders' steps (rad, m; 0: exact), and the largest torques.

    Speeds are exact, or differences of two readings, or differences through a first-order low-pass
    filter with a cutoff (Hz).
    """

    rate: float
    steps: tuple[float, ...]
    limits: tuple[float, ...]
    speeds: Speeds = "exact"
    cutoff: float = CUTOFF

    @property
    def period(self) -> float:
        return 1 / self.rate

    @property
    def ideal(self) -> bool:
        return self.speeds == "exact" and not any(self.steps)

    @property
    def smoothing(self) -> float:
        """The weight of a new difference in the filter."""
        if self.speeds != "filtered":
            return 1.0
        return 1 - math.exp(-2 * math.pi * self.cutoff * self.period)


def drive_of(
    robot: Robot,
    *,
    rate: float | None = None,
    encoder_bits: int | None = None,
    speeds: str | None = None,
    cutoff: float = CUTOFF,
) -> ControlDrive:
    """Return a robot's drive from its file; arguments override the file.

    Without a `torque_limit` a drive can make the largest torque of its range plus the friction at
    the joint's largest speed. `encoder_bits` are per turn, or per range of a sliding joint. Without
    encoders speeds are exact.
    """
    links = robot.links
    steps = tuple(link.encoder_step for link in links)
    if encoder_bits is not None:
        spans = (2 * math.pi if link.revolute else link.position.width for link in links)
        steps = tuple(span / 2**encoder_bits for span in spans)
    chosen = (robot.control_rate or RATE) if rate is None else rate
    if not 1 <= chosen <= FASTEST:
        raise UsageError(f"the control rate must be 1 to {FASTEST:g} Hz, not {chosen:g}")
    found = next((one for one in SPEEDS if one == speeds), None)
    if speeds is not None:
        require_name("speeds", speeds, SPEEDS)
    if not 0 < cutoff < chosen / 2:
        raise UsageError(
            f"the cutoff must be above 0 and below half the control rate, {chosen / 2:g} Hz, not "
            f"{cutoff:g} Hz"
        )
    return ControlDrive(
        chosen,
        steps,
        tuple(link.torque_limit or link.torque.magnitude + _rub(link) for link in links),
        found or ("filtered" if any(steps) else "exact"),
        cutoff,
    )


def _rub(link: Link) -> float:
    """Return a joint's friction at its largest speed."""
    viscous = link.viscous_friction * link.gear_ratio**2 * link.velocity.magnitude
    return viscous + abs(link.gear_ratio) * max(link.coulomb_friction)


class Sensors:
    """Measurement of the states of all runs, with memory of the last reading."""

    def __init__(self, drive: ControlDrive, state: Floats) -> None:
        joints = len(state) // 2
        self._drive = drive
        self._steps = np.array(drive.steps)[:, None]
        self._counts = self._steps > 0
        self._safe = np.where(self._counts, self._steps, 1.0)
        self._speeds = state[joints:].copy()
        self._before = self._read(state[:joints]) - self._speeds * drive.period

    def seen(self, state: Floats) -> tuple[Floats, Floats]:
        """Return the measured positions and speeds of a state."""
        joints = len(state) // 2
        q = self._read(state[:joints])
        if self._drive.speeds == "exact":
            return q, state[joints:].copy()
        difference = (q - self._before) * self._drive.rate
        self._speeds = self._speeds + self._drive.smoothing * (difference - self._speeds)
        self._before = q
        return q, self._speeds

    def _read(self, q: Floats) -> Floats:
        if not self._counts.any():
            return q.copy()
        return np.where(self._counts, np.round(q / self._safe) * self._steps, q)


# --------------------------------------------------------------------------------------------------
# The loop: measurement, control and motion of all runs at every instant.
#
# A run is one variant of a controller on one trajectory. Runs are columns of arrays, so that
# arithmetic treats all of them at once.
# --------------------------------------------------------------------------------------------------


TRACKS = 6  # number of arrays of a recording
MOST_NUMBERS = 400_000_000  # limit of a recording: 3 GB
LOST = 1e3  # rad or m: a run beyond this has diverged
UPDATES = 200  # number of progress updates


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """Recorded arrays (instants, joints, runs) of a simulation; runs are blocks times trajectories.

    `q` are true positions, `seen` and `speeds` measured ones, `made` the torques of blocks,
    `wanted` those of the law, `applied` those of the drives. `lost` is the instant at which a run
    diverged, or 0.
    """

    trajectories: tuple[Trajectory, ...]
    q: Floats
    seen: Floats
    speeds: Floats
    made: Floats
    wanted: Floats
    applied: Floats
    lost: NDArray[np.int64]

    def run(self, block: int, trajectory: int) -> int:
        return block * len(self.trajectories) + trajectory


@dataclass(frozen=True, slots=True, eq=False)
class ControlLoop:
    """A control loop of an arm; `friction` computes torques that compensate its friction."""

    plant: Plant
    drive: ControlDrive
    law: Law
    friction: KernelProgram | None = None

    def simulate(
        self,
        blocks: Sequence[TorqueBlock],
        trajectories: Sequence[Trajectory],
        progress: Callable[[float], None] = lambda _: None,
    ) -> Recording:
        """Run every block on every trajectory, from its initial state."""
        count = max(one.own for one in trajectories)
        paths = tuple(lengthened(one, count) for one in trajectories)
        joints, runs = self.plant.robot.joints, len(blocks) * len(paths)
        if TRACKS * count * joints * runs > MOST_NUMBERS:
            raise UsageError(
                f"{runs} runs of {count} instants need too much memory",
                "simulate fewer, or for less time",
            )
        wanted = tuple(
            np.stack([getattr(path, kind) for path in paths], axis=-1)
            for kind in ("q", "qd", "qdd")
        )
        tracks = [np.empty((count, joints, runs)) for _ in range(TRACKS)]
        lost = np.zeros(runs, np.int64)
        state = np.concatenate([np.tile(part[0], len(blocks)) for part in wanted[:2]])
        sensors, limits = Sensors(self.drive, state), np.array(self.drive.limits)[:, None]
        steps = self.plant.steps(self.drive.period)
        step, room = self.drive.period / steps, self.plant.forward.room(runs)
        each = len(paths)
        for k in range(count):
            now = (
                np.tile(wanted[0][k], len(blocks)),
                np.tile(wanted[1][k], len(blocks)),
                np.tile(wanted[2][k], len(blocks)),
            )
            q, qd = sensors.seen(state)
            signals = self.law.signals(q, qd, now, k * self.drive.period)
            made = tracks[3][k]
            for place, block in enumerate(blocks):
                own = slice(place * each, (place + 1) * each)
                made[:, own] = block.torques({name: x[:, own] for name, x in signals.items()})
            torque = made + self.law.added(signals)
            if self.friction is not None:
                torque = torque + self.friction.evaluate(now[1])
            applied = np.clip(torque, -limits, limits)
            rows = (state[:joints], q, qd, made, torque, applied)
            for track, row in zip(tracks, rows, strict=True):
                track[k] = row
            self.plant.moved(state, applied, step, steps, room)
            if not (np.abs(state) < LOST).all():
                gone = ~(np.abs(state) < LOST).all(axis=0)
                lost[gone & (lost == 0)] = k + 1
                state[:, gone] = np.concatenate([now[0], 0 * now[1]])[:, gone]
            if k * UPDATES // count != (k + 1) * UPDATES // count:
                progress((k + 1) / count)
        q, seen, speeds, made, torques, given = tracks
        return Recording(tuple(trajectories), q, seen, speeds, made, torques, given, lost)


# --------------------------------------------------------------------------------------------------
# Kernels: straight-line programs, Runge-Kutta steps, tables of paper mode.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


KINDS = ("add", "sub", "mul", "div", "neg", "sin", "cos", "tanh", "sign")
ADD, SUB, MUL, DIV, NEG, SIN, COS, TANH, SIGN = range(len(KINDS))
LOW, STEP, CELLS, RAISED, BASE, WRAPS = range(6)  # indices of a code's parameters


@njit(cache=True)
def arithmetic(values: Any, step: Any) -> None:
    """Fill a row with the sums, differences, products or quotients of two others."""
    kind, into, a, b = step
    if kind == ADD:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] + values[b, i]
    elif kind == SUB:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] - values[b, i]
    elif kind == MUL:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] * values[b, i]
    else:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] / values[b, i]


@njit(cache=True)
def function(kind: Any, x: Any) -> Any:
    """Return a unary function of a number."""
    if kind == NEG:
        return -x
    if kind == SIN:
        return math.sin(x)
    if kind == COS:
        return math.cos(x)
    if kind == TANH:
        return math.tanh(x)
    return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)


@njit(cache=True)
def calculate(code: Any, values: Any) -> None:
    """Execute the steps (kind, row to fill, rows to read) in order, each for all runs."""
    for k in range(code.shape[0]):
        kind, into, a, b = code[k, 0], code[k, 1], code[k, 2], code[k, 3]
        if kind < NEG:
            arithmetic(values, (kind, into, a, b))
        else:
            for i in range(values.shape[1]):
                values[into, i] = function(kind, values[a, i])


@njit(cache=True)
def slope(program: Any, state: Any, ahead: Any, slopes: Any, torque: Any) -> None:
    """Replace slopes by those at the states moved by `ahead` along the given slopes."""
    code, values, outputs = program
    joints = torque.shape[0]
    for k in range(2 * joints):
        for i in range(torque.shape[1]):
            values[k, i] = state[k, i] + ahead * slopes[k, i]
    values[2 * joints : 3 * joints] = torque
    calculate(code, values)
    for k in range(joints):
        slopes[k] = values[joints + k]
        slopes[joints + k] = values[outputs[k]]


@njit(cache=True)
def advance(program: Any, state: Any, torque: Any, step: Any, substeps: Any) -> None:
    """Advance all states (positions, then speeds) by classic Runge-Kutta steps of fourth order.

    Torques are constant. The program (steps, room for values, rows of results) reads positions,
    speeds and torques, in this order, and computes accelerations.
    """
    slopes = np.zeros_like(state)
    for _ in range(substeps):
        slope(program, state, 0.0, slopes, torque)
        total = slopes.copy()
        slope(program, state, step / 2, slopes, torque)
        total += 2 * slopes
        slope(program, state, step / 2, slopes, torque)
        total += 2 * slopes
        slope(program, state, step, slopes, torque)
        total += slopes
        state += step / 6 * total


@njit(cache=True)
def advance_corrected(program: Any, state: Any, torque: Any, step: Any, substeps: Any) -> None:
    """Do the same by Adams-Moulton steps of second order, with two evaluations each.

    The predictor is Adams-Bashforth's of second order, in the first step Euler's, because torques
    jump between two calls.
    """
    slopes = np.zeros_like(state)
    slope(program, state, 0.0, slopes, torque)
    before = slopes.copy()
    for _ in range(substeps):
        ahead = 1.5 * slopes - 0.5 * before
        slope(program, state, step, ahead, torque)
        before[:] = slopes
        state += step / 2 * (slopes + ahead)
        slope(program, state, 0.0, slopes, torque)


@njit(cache=True)
def centre(value: Any, scale: Any) -> Any:
    """Return the middle of a value's cell, as `Code.cell` and `Code.centre` do."""
    place = (value - scale[LOW]) / scale[STEP]
    if scale[WRAPS] > 0:
        place -= math.floor(place / scale[CELLS]) * scale[CELLS]
        cell = math.floor(place + TIE) % scale[CELLS]
    else:
        cell = math.floor(min(max(place, 0.0), scale[CELLS]) + TIE)
        cell = min(max(cell, 0.0), scale[CELLS] - 1)
    return scale[BASE] + (cell + scale[RAISED]) * scale[STEP]


@njit(cache=True)
def rounded(values: Any, scales: Any, found: Any) -> None:
    """Write the middles of the values' cells to `found`; every value has its own code."""
    for k in range(values.shape[0]):
        for i in range(values.shape[1]):
            found[k, i] = centre(values[k, i], scales[k, i])


@njit(cache=True)
def middles_of(columns: Any, words: Any) -> Any:
    """Return the values of all input words, (words, runs)."""
    sources, scales = words
    found = np.empty((sources.shape[0], columns.shape[1]))
    for w in range(sources.shape[0]):
        for i in range(columns.shape[1]):
            found[w, i] = centre(columns[sources[w, 0], i], scales[w])
    return found


@njit(cache=True)
def wave_of(plan: Any, middles: Any, wave: Any, i: Any) -> Any:
    """Return a harmonic (multiples of angles, powers of other inputs) at the words of a run."""
    waves, angles, powers = plan
    first_angle = waves[0][wave - 1, 0] if wave else 0
    first_power = waves[0][wave - 1, 1] if wave else 0
    value, phase = waves[1][wave, 0], 0.0
    for k in range(first_angle, waves[0][wave, 0]):
        phase += angles[k, 1] * middles[angles[k, 0], i]
    if waves[0][wave, 0] > first_angle:
        value = value * math.cos(phase) + waves[1][wave, 1] * math.sin(phase)
    for k in range(first_power, waves[0][wave, 1]):
        value *= middles[powers[k, 0], i] ** powers[k, 1]
    return value


@njit(cache=True)
def tabled(columns: Any, plan: Any, found: Any) -> None:
    """Write the outputs of a plan's tables and sums for columns of inputs to `found`.

    A plan consists of words (column | scale), sums of waves, terms (waves until, factors until,
    output | scale), factors (word), and scales of outputs. Sums are waves (angles until, powers
    until | cosine, sine), angles (word, times) and powers (word, power). Related rows are adjacent.
    """
    words, sums, terms, factors, outputs = plan
    middles = middles_of(columns, words)
    found[:, :] = 0.0
    wave = factor = 0
    for t in range(terms[0].shape[0]):
        for i in range(columns.shape[1]):
            value = 0.0
            for w in range(wave, terms[0][t, 0]):
                value += wave_of(sums, middles, w, i)
            for f in range(factor, terms[0][t, 1]):
                value *= middles[factors[f], i]
            found[terms[0][t, 2], i] += centre(value, terms[1][t])
        wave, factor = terms[0][t, 0], terms[0][t, 1]
    for k in range(found.shape[0]):
        for i in range(found.shape[1]):
            found[k, i] = centre(found[k, i], outputs[k])


# --------------------------------------------------------------------------------------------------
# An arm's dynamics as straight-line programs for the kernels, recorded from the recursion.
# --------------------------------------------------------------------------------------------------


NO_INERTIA = 1e-12  # kg·m²: the least inertia of a joint


@dataclass(frozen=True, slots=True, eq=False)
class KernelProgram:
    """A straight-line program in the kernels' format."""

    inputs: int
    constants: Floats
    code: NDArray[np.int64]
    outputs: NDArray[np.int64]

    def room(self, runs: int) -> Floats:
        return np.repeat(self.constants[:, None], runs, axis=1)

    def evaluate(self, *groups: Floats, room: Floats | None = None) -> Floats:
        """Return (outputs, runs) for arrays (members, runs) in the order of the inputs."""
        values = self.room(groups[0].shape[1]) if room is None else room
        np.concatenate(groups, out=values[: self.inputs])
        calculate(self.code, values)
        return values[self.outputs]


def packed(program: Straight) -> KernelProgram:
    """Return a straight-line program in the kernels' format."""
    constants = np.array([node.value for node in program.nodes])
    rows = [
        (KINDS.index(node.kind), k, node.operands[0], node.operands[-1])
        for k, node in enumerate(program.nodes)
        if not node.free
    ]
    code = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    outputs = np.array([one.node for one in program.outputs], dtype=np.int64)
    return KernelProgram(len(program.inputs), constants, code, outputs)


def _packed(robot: Robot, text: Callable[..., list[Any]], *inputs: str) -> KernelProgram:
    return packed(joint_program(robot, text, inputs, ("x",)))


def inverse_dynamics(robot: Robot) -> KernelProgram:
    """Return a program of the torques for q, q̇ and q̈, without friction."""
    return _packed(robot, newton_euler, "q", "qd", "qdd")


def gravity(robot: Robot) -> KernelProgram:
    """Return a program of the torques at rest, for q."""
    return _packed(robot, weight, "q")


def friction(robot: Robot) -> KernelProgram:
    """Return a program of the friction torques for q̇, with smoothed dry friction."""
    return _packed(robot, _friction, "qd")


def forward_dynamics(robot: Robot, *, has_friction: bool = True) -> KernelProgram:
    """Return a program of the accelerations for q, q̇ and torques.

    M(q) q̈ = τ - h(q, q̇) is solved by elimination from the first joint to the last. M is symmetric
    and positive definite, so that no pivot vanishes if every joint moves some inertia.
    """
    n = robot.joints

    def text(robot: Robot, algebra: Folding, *state: Sequence[Any]) -> list[Any]:
        q, qd, torque = state
        rest = [one - h for one, h in zip(torque, bias(robot, algebra, q, qd), strict=True)]
        if has_friction:
            rest = [one - x for one, x in zip(rest, _friction(robot, algebra, qd), strict=True)]
        entries = iter(dynamics.inertia(robot, algebra, q))
        matrix = np.empty((n, n), dtype=object)
        zero = algebra.inner.constant(0.0)  # makes constants divisible
        for i in range(n):
            for j in range(i, n):
                matrix[i, j] = matrix[j, i] = zero + next(entries)
        return _solved(matrix, rest)

    _require_inertia(robot)
    return _packed(robot, text, "q", "qd", "tau")


def _solved(inertia: Any, rest: list[Any]) -> list[Any]:
    """Record the solution x of M x = r by elimination."""
    n = len(rest)
    for k in range(n):
        for i in range(k + 1, n):
            ratio = inertia[k, i] / inertia[k, k]
            for j in range(i, n):
                inertia[i, j] = inertia[i, j] - ratio * inertia[k, j]
            rest[i] = rest[i] - ratio * rest[k]
    found: list[Any] = [None] * n
    for k in reversed(range(n)):
        total = rest[k]
        for j in range(k + 1, n):
            total = total - inertia[k, j] * found[j]
        found[k] = total / inertia[k, k]
    return found


def _friction(robot: Robot, algebra: Algebra, speeds: Sequence[Any]) -> list[Any]:
    links = robot.links
    found = [
        algebra.constant(link.viscous_friction * link.gear_ratio**2) * speed
        for link, speed in zip(links, speeds, strict=True)
    ]
    dry = dry_friction(robot, algebra, [], speeds, [], smoothing=usual_smoothing(robot))
    for k, one in zip(dry_joints(robot), dry, strict=True):
        found[k] = found[k] + one
    return found


def _require_inertia(robot: Robot) -> None:
    """Raise a `DataError` if a joint moves no inertia."""
    rigid = inverse_dynamics(replace(robot, gravity=(0.0, 0.0, 0.0)))
    n = robot.joints
    middles = np.array([[link.position.centre + 0.3] for link in robot.links])
    for k in range(n):
        unit = np.zeros((n, 1))
        unit[k] = 1.0
        if rigid.evaluate(middles, np.zeros((n, 1)), unit)[k, 0] < NO_INERTIA:
            raise DataError(
                f"joint {k + 1} moves no inertia: its acceleration is undefined", where=robot.name
            )


# --------------------------------------------------------------------------------------------------
# The plant: forward dynamics in doubles, integrated by Runge-Kutta or Adams-Moulton steps.
#
# Between two instants of control, torques are constant and accelerations are continuous (dry
# friction is smoothed). With fixed steps every run takes the same steps, and results do not depend
# on the set of runs. Adams-Moulton is the integrator of Schäfer and Schiehlen 1992.
# --------------------------------------------------------------------------------------------------


INTEGRATORS = {
    "runge-kutta": ("Runge-Kutta", advance), "adams-moulton": ("Adams-Moulton", advance_corrected)
}  # fmt: skip
LONGEST = 1e-3  # s: default step
STIFF = 0.5  # largest product of step and fastest friction decay; the stability limit is 2.78


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """An arm with its friction, or without."""

    robot: Robot
    forward: KernelProgram
    has_friction: bool
    integrator: str = next(iter(INTEGRATORS))

    def moved(self, state: Floats, torque: Floats, step: float, steps: int, room: Floats) -> None:
        """Advance states (positions over speeds, one column per run) by several steps in place."""
        program = (self.forward.code, room, self.forward.outputs)
        INTEGRATORS[self.integrator][1](program, state, torque, step, steps)

    def steps(self, period: float) -> int:
        """Return the number of steps per control period, from its length and from friction."""
        longest = LONGEST
        if self.has_friction and (decay := _fastest_decay(self.robot)) > 0:
            longest = min(longest, STIFF / decay)
        return max(1, math.ceil(period / longest - 1e-9))


def plant_of(robot: Robot, *, has_friction: bool = True, integrator: str = "runge-kutta") -> Plant:
    """Return the plant of an arm, with or without joint friction."""
    require_name("integrator", integrator, INTEGRATORS)
    lossy = any(link.viscous_friction or any(link.coulomb_friction) for link in robot.links)
    return Plant(
        robot, forward_dynamics(robot, has_friction=has_friction and lossy), has_friction and lossy,
        integrator,
    )  # fmt: skip


def inertia(robot: Robot, q: Floats) -> Floats:
    """Return M(q), (runs, joints, joints), for positions (joints, runs)."""
    recorded, n, runs = inverse_dynamics(robot), robot.joints, q.shape[1]
    rest = np.zeros((n, runs))
    weight = recorded.evaluate(q, rest, rest)
    columns = []
    for k in range(n):
        unit = rest.copy()
        unit[k] = 1.0
        columns.append(recorded.evaluate(q, rest, unit) - weight)
    return np.stack(columns, axis=-1).transpose(1, 0, 2)


def _fastest_decay(robot: Robot) -> float:
    """Return the fastest rate (1/s) at which friction slows a joint, at a few positions."""
    links, n = robot.links, robot.joints
    spread = np.linspace(-0.4, 0.4, 5)
    places = np.array([link.position.centre + spread * link.position.width for link in links])
    inverse = np.linalg.inv(inertia(robot, places))
    rates = []
    for k, (link, within) in enumerate(zip(links, usual_smoothing(robot), strict=True)):
        dry = abs(link.gear_ratio) * max(link.coulomb_friction)
        slope = link.viscous_friction * link.gear_ratio**2 + dry / within
        rates.append(slope * float(inverse[:, k, k].max()))
    return max(rates[:n])


# --------------------------------------------------------------------------------------------------
# Control laws: torques from measured and desired states.
#
# computed-torque: τ = M(q) a + C(q, q̇) + G(q), a = q̈r + Kd (q̇r - q̇) + Kp (qr - q).
# A block of inverse dynamics computes τ.
#
# pd-gravity: τ = G(q) + B (Kp (qr - q) + Kd (q̇r - q̇)).
# A block computes only G, and B is the diagonal of M.
#
# own: a block is the whole law.
#
# With bandwidth wn (rad/s) and damping zeta, Kp = wn² and Kd = 2 zeta wn.
# --------------------------------------------------------------------------------------------------


Kind = Literal["computed-torque", "pd-gravity", "own"]
BANDWIDTH, DAMPING = 10.0, 1.0  # Kp = 100, Kd = 20, the defaults of compiled functions
READ = {"computed-torque": ("q", "qd", "qdd"), "pd-gravity": ("q",)}


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A control law: gains per joint, wrapping of position errors, inertias of pd-gravity."""

    kind: Kind
    kp: Floats
    kd: Floats
    wraps: NDArray[np.bool_]
    inertias: Floats

    @property
    def reads(self) -> tuple[str, ...]:
        return READ.get(self.kind, ())

    def signals(
        self, q: Floats, qd: Floats, wanted: tuple[Floats, Floats, Floats], time: float
    ) -> Signals:
        """Return the signals that a block may read, (joints, runs) each; `qdd` is the command a."""
        qr, qdr, qddr = wanted
        e = qr - q
        around = e - 2 * math.pi * np.floor(e / (2 * math.pi) + 0.5)
        e = np.where(self.wraps[:, None], around, e)
        de = qdr - qd
        a = qddr + self.kd[:, None] * de + self.kp[:, None] * e
        return {
            "q": q, "qd": qd, "qdd": a, "qr": qr, "qdr": qdr, "qddr": qddr, "e": e, "de": de,
            "t": np.full_like(q, time),
        }  # fmt: skip

    def added(self, signals: Mapping[str, Floats]) -> Floats | float:
        """Return the torques that the law adds to those of its block."""
        if self.kind != "pd-gravity":
            return 0.0
        pull = self.kp[:, None] * signals["e"] + self.kd[:, None] * signals["de"]
        return self.inertias[:, None] * pull

    @property
    def pull(self) -> Floats:
        """The largest tracking error (rad, m) per unit of acceleration error.

        It is the integral of the absolute impulse response of ë + Kd ė + Kp e = d.
        """
        zeta = self.kd / (2 * np.sqrt(self.kp))
        free = np.sqrt(np.maximum(1 - zeta**2, 0.0))
        turn = np.divide(math.pi * zeta, 2 * free, out=np.full_like(zeta, np.inf), where=free > 0)
        return np.asarray(1 / (self.kp * np.tanh(turn)))


def law_of(robot: Robot, kind: Kind, inertias: Floats, bandwidth: float, damping: float) -> Law:
    """Return a law with gains from bandwidth and damping, equal for all joints."""
    for name, value in (("bandwidth", bandwidth), ("damping", damping)):
        if not 0 < value < 1e6:
            raise UsageError(f"the {name} must be above 0 and below 1e6, not {value:g}")
    n = robot.joints
    return Law(
        kind,
        np.full(n, bandwidth**2),
        np.full(n, 2 * damping * bandwidth),
        np.array([link.revolute and link.span.wraps for link in robot.links]),
        inertias,
    )


class TorqueBlock(Protocol):
    """A source of torques."""

    def torques(self, signals: Signals) -> Floats:
        """Return torques (joints, runs) for named signals (joints, runs)."""
