"""Inner loops of simulation: straight-line programs, Runge-Kutta steps, the paper's tables.

Runs are columns: every array has a row for each value and a column for each run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing, shown, suggestion
from boolcomp.base.loops import njit
from boolcomp.codes import TIE
from boolcomp.measure.control.trajectories import lengthened
from boolcomp.problem.dynamics.newton_euler import (
    dry_friction,
    dry_joints,
    newton_euler,
    usual_smoothing,
)
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.control.blocks import Block
    from boolcomp.measure.control.trajectories import Trajectory
    from boolcomp.problem.expressions.tape import Straight
    from boolcomp.problem.robot.model import Link, Robot

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# What stands between a controller and its arm: control rate, encoders, speeds, torque limits.
# --------------------------------------------------------------------------------------------------


Speeds = Literal["exact", "difference", "filtered"]
SPEEDS: tuple[Speeds, ...] = get_args(Speeds)
RATE, CUTOFF = 1000.0, 50.0  # Hz, if nothing is said
FASTEST = 1e6  # Hz
FRICTIONS = ("compensated", "uncompensated", "none")


@dataclass(frozen=True, slots=True)
class Drive:
    """The control rate (Hz), the encoders' steps (rad, m; 0: exact), and the largest torques.

    Speeds are exact, or differences of two readings, or these through a low-pass filter of first
    order with a cut-off (Hz).
    """

    rate: float
    steps: tuple[float, ...]
    limits: tuple[float, ...]
    speeds: Speeds = "exact"
    cutoff: float = CUTOFF

    @property
    def period(self) -> float:
        """The time between two instants of control, in s."""
        return 1 / self.rate

    @property
    def ideal(self) -> bool:
        """Whether states are measured as they are."""
        return self.speeds == "exact" and not any(self.steps)

    @property
    def smoothing(self) -> float:
        """How much of a new difference the filter takes."""
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
) -> Drive:
    """Return a robot's drive as its file says, but for what is said here.

    Without a `torque_limit` a drive can make a torque at the end of its range, and overcome the
    friction at the joint's largest speed besides. `encoder_bits` are those of a turn (of a sliding
    joint's range). Speeds are exact where no encoder counts.
    """
    links = robot.links
    steps = tuple(link.encoder_step for link in links)
    if encoder_bits is not None:
        spans = (2 * math.pi if link.revolute else link.position.width for link in links)
        steps = tuple(span / 2**encoder_bits for span in spans)
    chosen = (robot.control_rate or RATE) if rate is None else rate
    if not 1 <= chosen <= FASTEST:
        raise UsageError(f"a control rate is 1 to {FASTEST:g} Hz, not {chosen:g}")
    found = next((one for one in SPEEDS if one == speeds), None)
    if speeds is not None and found is None:
        hint = suggestion(speeds, SPEEDS)
        raise UsageError(f"speeds {shown(speeds)}{hint}: they are {listing(SPEEDS)}")
    if not 0 < cutoff < chosen / 2:
        raise UsageError(
            f"a cut-off of {cutoff:g} Hz: it lies above 0 and below half the control rate, "
            f"{chosen / 2:g} Hz"
        )
    return Drive(
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
    """What the controller sees of the states of all runs; it remembers what it saw last."""

    def __init__(self, drive: Drive, state: Floats) -> None:
        joints = len(state) // 2
        self._drive = drive
        self._steps = np.array(drive.steps)[:, None]
        self._counts = self._steps > 0
        self._safe = np.where(self._counts, self._steps, 1.0)
        self._speeds = state[joints:].copy()
        self._before = self._read(state[:joints]) - self._speeds * drive.period

    def seen(self, state: Floats) -> tuple[Floats, Floats]:
        """Return positions and speeds as they are measured now."""
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
# The loop: at every instant of control all runs are measured, commanded and moved on together.
#
# A run is one variant of a controller on one trajectory; runs are columns, so that all that is
# arithmetic is done for all of them at once.
# --------------------------------------------------------------------------------------------------


TRACKS = 6  # arrays that a recording has
MOST_NUMBERS = 400_000_000  # that are recorded: 3 GB
LOST = 1e3  # rad or m: an arm that is so far away is lost
HEARD = 200  # times that progress is told of


@dataclass(frozen=True, slots=True, eq=False)
class Recording:
    """What happened: (instants, joints, runs) each; runs are blocks times trajectories.

    `q` are true positions, `seen` and `speeds` what was measured, `made` the torques of blocks,
    `wanted` those of the law, `applied` what the drives
    gave. `lost` is the instant at which a run was given up, 0: never.
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
        """Return the column of a run."""
        return block * len(self.trajectories) + trajectory


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """An arm in its loop; `friction` are the torques that are added for its friction, if any."""

    plant: Plant
    drive: Drive
    law: Law
    friction: Recorded | None = None

    def simulate(
        self,
        blocks: Sequence[Block],
        trajectories: Sequence[Trajectory],
        heard: Callable[[float], None] = lambda _: None,
    ) -> Recording:
        """Run every block on every trajectory, from where it begins, at its speed there."""
        count = max(one.own for one in trajectories)
        paths = tuple(lengthened(one, count) for one in trajectories)
        joints, runs = self.plant.robot.joints, len(blocks) * len(paths)
        if TRACKS * count * joints * runs > MOST_NUMBERS:
            raise UsageError(
                f"{runs} runs of {count} instants are more than memory holds: simulate fewer word "
                "lengths, trajectories or seconds at a time"
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
            if k * HEARD // count != (k + 1) * HEARD // count:
                heard((k + 1) / count)
        q, seen, speeds, made, torques, given = tracks
        return Recording(tuple(trajectories), q, seen, speeds, made, torques, given, lost)


# --------------------------------------------------------------------------------------------------
# Inner loops of simulation: straight-line programs, Runge-Kutta steps, the paper's tables.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


KINDS = ("add", "sub", "mul", "div", "neg", "sin", "cos", "tanh", "sign")
ADD, SUB, MUL, DIV, NEG, SIN, COS, TANH, SIGN = range(len(KINDS))
LOW, STEP, CELLS, RAISED, BASE, WRAPS = range(6)  # what of a code is read


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
    """Return a function of one number."""
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
    """Do the steps (kind, row to fill, rows to read) one after another, each for all runs."""
    for k in range(code.shape[0]):
        kind, into, a, b = code[k, 0], code[k, 1], code[k, 2], code[k, 3]
        if kind < NEG:
            arithmetic(values, (kind, into, a, b))
        else:
            for i in range(values.shape[1]):
                values[into, i] = function(kind, values[a, i])


@njit(cache=True)
def slope(program: Any, state: Any, ahead: Any, slopes: Any, torque: Any) -> None:
    """Give the slopes of states that are so far ahead along the slopes that are given."""
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
    """Move all states (positions, then speeds) on by classic Runge-Kutta steps of fourth order.

    Torques are held meanwhile. The program (steps, room for values, rows of results) reads
    positions, speeds and torques, in this order, and gives accelerations.
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
def centre(value: Any, scale: Any) -> Any:
    """Return the middle of the cell that a value is in, as `Code.cell` and `Code.centre` do."""
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
    """Put every value on the middle of its cell; each has a code of its own."""
    for k in range(values.shape[0]):
        for i in range(values.shape[1]):
            found[k, i] = centre(values[k, i], scales[k, i])


@njit(cache=True)
def middles_of(columns: Any, words: Any) -> Any:
    """Return what every word of inputs stands for: (words, runs)."""
    sources, scales = words
    found = np.empty((sources.shape[0], columns.shape[1]))
    for w in range(sources.shape[0]):
        for i in range(columns.shape[1]):
            found[w, i] = centre(columns[sources[w, 0], i], scales[w])
    return found


@njit(cache=True)
def wave_of(plan: Any, middles: Any, wave: Any, i: Any) -> Any:
    """Return a wave (its multiples of angles, its powers of other inputs) at a run's words."""
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
    """Give what a plan's tables and sums give, of columns of inputs.

    A plan comes as words (column | scale), sums of waves, terms (waves until, factors until, output
    | scale), factors (word), and scales of outputs. Sums are waves (angles until, powers until |
    cosine, sine), angles (word, times) and powers (word, power). Rows that belong together stand
    one after another.
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
# An arm's dynamics as straight-line programs, which a kernel runs for many runs at once.
#
# They are what the recurrence gives on a tape: the same text as everywhere else, recorded once.
# --------------------------------------------------------------------------------------------------


NO_INERTIA = 1e-12  # kg·m²: what a joint moves at least


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A straight-line program as a kernel takes it: its steps, and where its results are."""

    inputs: int
    constants: Floats
    code: NDArray[np.int64]
    outputs: NDArray[np.int64]

    def room(self, runs: int) -> Floats:
        """Return a row for every value, with the constants in theirs."""
        return np.repeat(self.constants[:, None], runs, axis=1)

    def evaluate(self, *groups: Floats, room: Floats | None = None) -> Floats:
        """Return (outputs, runs) of arrays (members, runs), in the order of the inputs."""
        values = self.room(groups[0].shape[1]) if room is None else room
        np.concatenate(groups, out=values[: self.inputs])
        calculate(self.code, values)
        return values[self.outputs]


def packed(program: Straight) -> Recorded:
    """Return a straight-line program for the kernel."""
    constants = np.array([node.value for node in program.nodes])
    rows = [
        (KINDS.index(node.kind), k, node.operands[0], node.operands[-1])
        for k, node in enumerate(program.nodes)
        if not node.free
    ]
    code = np.array(rows, dtype=np.int64).reshape(len(rows), 4)
    outputs = np.array([one.node for one in program.outputs], dtype=np.int64)
    return Recorded(len(program.inputs), constants, code, outputs)


def inverse_dynamics(robot: Robot) -> Recorded:
    """Return the torques of q, q̇ and q̈, without friction."""
    tape = Tape()
    state = _inputs(robot, tape, "q", "qd", "qdd")
    return _finished(tape, newton_euler(robot, Folding(tape), *state))


def gravity(robot: Robot) -> Recorded:
    """Return the torques at rest, of q."""
    tape = Tape()
    algebra = Folding(tape)
    zeros = [algebra.constant(0.0)] * robot.joints
    (q,) = _inputs(robot, tape, "q")
    return _finished(tape, newton_euler(robot, algebra, q, zeros, zeros))


def friction(robot: Robot) -> Recorded:
    """Return the torques of friction, of q̇; the sign of dry friction is smoothed."""
    tape = Tape()
    (speeds,) = _inputs(robot, tape, "qd")
    return _finished(tape, _friction(robot, tape, speeds))


def forward_dynamics(robot: Robot, *, rubs: bool = True) -> Recorded:
    """Return the accelerations of q, q̇ and torques; joints rub unless it is said otherwise.

    M(q) q̈ = τ - h(q, q̇) is solved by elimination from the first joint to the last; M is
    symmetric and positive, so no pivot vanishes where every joint moves some inertia.
    """
    tape = Tape()
    algebra, n = Folding(tape), robot.joints
    q, qd, torque = _inputs(robot, tape, "q", "qd", "tau")
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    bias = newton_euler(robot, algebra, q, qd, [zero] * n)
    lost = _friction(robot, tape, qd) if rubs else [zero] * n
    rest = [
        torque[k] - _wire(tape, bias[k]) - _wire(tape, lost[k]) for k in range(n)
    ]  # fmt: skip
    inertia = np.empty((n, n), dtype=object)
    for j in range(n):
        unit = [one if k == j else zero for k in range(n)]
        column = newton_euler(robot, algebra, q, [zero] * n, unit, gravity=False)
        for i in range(j + 1):
            inertia[i, j] = inertia[j, i] = _wire(tape, column[i])
    _require_inertia(robot)
    return _finished(tape, _solved(inertia, rest))


def _solved(inertia: Any, rest: list[Any]) -> list[Any]:
    """Return x of M x = r by elimination, as steps."""
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


def _friction(robot: Robot, tape: Tape, speeds: Sequence[Any]) -> list[Any]:
    links = robot.links
    found = [
        tape.constant(link.viscous_friction * link.gear_ratio**2) * speed
        for link, speed in zip(links, speeds, strict=True)
    ]
    dry = dry_friction(robot, tape, [], speeds, [], smoothing=usual_smoothing(robot))
    for k, one in zip(dry_joints(robot), dry, strict=True):
        found[k] = found[k] + one
    return found


def _require_inertia(robot: Robot) -> None:
    """Raise a `DataError` where a joint moves no inertia: no torque says how it accelerates."""
    rigid = inverse_dynamics(replace(robot, gravity=(0.0, 0.0, 0.0)))
    n = robot.joints
    middles = np.array([[link.position.centre + 0.3] for link in robot.links])
    for k in range(n):
        unit = np.zeros((n, 1))
        unit[k] = 1.0
        if rigid.evaluate(middles, np.zeros((n, 1)), unit)[k, 0] < NO_INERTIA:
            raise DataError(
                f"{robot.name}: joint {k + 1} moves no inertia: no torque says how it accelerates"
            )


def _inputs(robot: Robot, tape: Tape, *letters: str) -> list[list[Any]]:
    count = range(1, robot.joints + 1)
    return [[tape.input(f"{name}{k}") for k in count] for name in letters]


def _wire(tape: Tape, x: Any) -> Any:
    """Return a value as a recorded one: a known number becomes a constant."""
    return tape.constant(x.value) if hasattr(x, "value") else x


def _finished(tape: Tape, results: Sequence[Any]) -> Recorded:
    return packed(tape.finish([(f"x{k}", x) for k, x in enumerate(results, 1)]))


# --------------------------------------------------------------------------------------------------
# The arm that is controlled: forward dynamics in doubles, moved on by Runge-Kutta steps.
#
# Between two instants of control torques are constant and nothing jumps (dry friction's sign is
# smoothed), so a method of fixed step and fourth order is what is wanted: every run takes the same
# steps, at every instant there is a state, and results do not depend on which runs go together.
# --------------------------------------------------------------------------------------------------


LONGEST = 1e-3  # s: of a step, if nothing is said
STIFF = 0.5  # of a step times the fastest decay by friction: far within stability, 2.78


@dataclass(frozen=True, slots=True, eq=False)
class Plant:
    """An arm with its friction, or without."""

    robot: Robot
    forward: Recorded
    rubs: bool

    def moved(self, state: Floats, torque: Floats, step: float, steps: int, room: Floats) -> None:
        """Move states (positions over speeds, a column a run) on by so many steps, in place."""
        program = (self.forward.code, room, self.forward.outputs)
        advance(program, state, torque, step, steps)

    def accelerations(self, q: Floats, qd: Floats, torque: Floats) -> Floats:
        """Return (joints, runs) of the same."""
        return self.forward.evaluate(q, qd, torque)

    def steps(self, period: float) -> int:
        """Return how many steps a period of control takes: by its length, and by friction."""
        longest = LONGEST
        if self.rubs and (decay := _fastest_decay(self.robot)) > 0:
            longest = min(longest, STIFF / decay)
        return max(1, math.ceil(period / longest - 1e-9))


def plant_of(robot: Robot, *, rubs: bool = True) -> Plant:
    """Return an arm to be controlled; `rubs` says whether its joints have their friction."""
    lossy = any(link.viscous_friction or any(link.coulomb_friction) for link in robot.links)
    return Plant(robot, forward_dynamics(robot, rubs=rubs and lossy), rubs and lossy)


def inertia(robot: Robot, q: Floats) -> Floats:
    """Return M(q), (runs, joints, joints), of positions (joints, runs)."""
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
    """Return the fastest rate (1/s) at which friction slows a joint, at a few places."""
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
# Control laws: what commands a controller makes of measured and wanted states.
#
# computed-torque: τ = M(q) a + C(q, q̇) + G(q), a = q̈r + Kd (q̇r - q̇) + Kp (qr - q): a block of
# inverse dynamics makes all torque. pd-gravity: τ = G(q) + B (Kp (qr - q) + Kd (q̇r - q̇)): a block
# makes G alone, and B are the inertias that joints feel by themselves. own: a block is the whole
# law. With bandwidth wn (rad/s) and damping zeta, Kp = wn² and Kd = 2 zeta wn.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Signals = dict[str, Floats]


Kind = Literal["computed-torque", "pd-gravity", "own"]
BANDWIDTH, DAMPING = 10.0, 1.0  # Kp = 100, Kd = 20, as the functions that can be compiled have
READ = {"computed-torque": ("q", "qd", "qdd"), "pd-gravity": ("q",)}


@dataclass(frozen=True, slots=True, eq=False)
class Law:
    """A control law: gains (one each joint), what differences wrap, what is added to the block."""

    kind: Kind
    kp: Floats
    kd: Floats
    wraps: NDArray[np.bool_]
    inertias: Floats

    @property
    def reads(self) -> tuple[str, ...]:
        """What its block reads."""
        return READ.get(self.kind, ())

    def signals(
        self, q: Floats, qd: Floats, wanted: tuple[Floats, Floats, Floats], time: float
    ) -> Signals:
        """Return all that a block may read, (joints, runs) each; `qdd` is the command a."""
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
        """Return what the law adds to its block's torques."""
        if self.kind != "pd-gravity":
            return 0.0
        pull = self.kp[:, None] * signals["e"] + self.kd[:, None] * signals["de"]
        return self.inertias[:, None] * pull

    @property
    def pull(self) -> Floats:
        """How far off a joint stays (rad, m) for an acceleration that is wrong by one, at most.

        Of ë + Kd ė + Kp e = d: the integral of the size of the impulse response.
        """
        zeta = self.kd / (2 * np.sqrt(self.kp))
        free = np.sqrt(np.maximum(1 - zeta**2, 0.0))
        turn = np.divide(math.pi * zeta, 2 * free, out=np.full_like(zeta, np.inf), where=free > 0)
        return np.asarray(1 / (self.kp * np.tanh(turn)))


def law_of(robot: Robot, kind: Kind, inertias: Floats, bandwidth: float, damping: float) -> Law:
    """Return a law with gains by bandwidth and damping, the same for all joints."""
    for name, value in (("bandwidth", bandwidth), ("damping", damping)):
        if not 0 < value < 1e6:
            raise UsageError(f"a {name} lies above 0, not {value:g}")
    n = robot.joints
    return Law(
        kind,
        np.full(n, bandwidth**2),
        np.full(n, 2 * damping * bandwidth),
        np.array([link.revolute and link.span.wraps for link in robot.links]),
        inertias,
    )
