"""A question and its answer: which blocks, on which trajectories, and the rows that come of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.measure.control.circle import tip
from boolcomp.measure.control.figures import Figures, figures
from boolcomp.measure.control.plant import inertia
from boolcomp.measure.control.variants import EXACT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.control.loop import Loop, Recording
    from boolcomp.measure.control.trajectories import Trajectory
    from boolcomp.measure.control.variants import Variant

    Floats = NDArray[np.float64]

PLACES = 200  # of a trajectory at which M is inverted
ROUNDING = 1e-9  # of a range: a value at its end is not beyond it


@dataclass(frozen=True, slots=True)
class Row:
    """One joint (from 1) of one variant on one trajectory.

    `estimate` is how far the proven bound of the torques would let the joint stray from where it
    is led, beyond what exact arithmetic strays: of a loop that controls at every time, along this
    trajectory. `tip_rms` and `tip_max` are of the tip, the same for all joints. What was not
    simulated has no figures, and its `note` says why.
    """

    trajectory: str
    variant: Variant
    joint: int
    unit: str
    torque_unit: str
    figures: Figures | None = None
    tip_rms: float | None = None
    tip_max: float | None = None
    estimate: float | None = None
    note: str = ""

    @property
    def lsb(self) -> float | None:
        """One step of the joint's torque."""
        return self.variant.steps[self.joint - 1] if self.variant.steps else None

    @property
    def bound(self) -> float | None:
        """What no error of the joint's torque exceeds, proved."""
        return self.variant.bounds[self.joint - 1] if self.variant.bounds else None


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A loop, the variants of its block, the exact one first, and what it did with them."""

    loop: Loop
    variants: tuple[Variant, ...]
    recording: Recording
    rows: tuple[Row, ...]
    seconds: float

    @property
    def made(self) -> tuple[Variant, ...]:
        """The variants that were simulated, in the order of their runs."""
        return tuple(one for one in self.variants if one.block is not None)


def study(
    loop: Loop,
    variants: Sequence[Variant],
    trajectories: Sequence[Trajectory],
    heard: Callable[[float], None] = lambda _: None,
) -> Study:
    """Simulate all variants on all trajectories."""
    made = [one for one in variants if one.block is not None]
    blocks = [one.block for one in made if one.block is not None]
    recording = loop.simulate(blocks, trajectories, heard)
    exact = next((one for one in made if one.mode == EXACT), None)
    rows = []
    for t, trajectory in enumerate(trajectories):
        for variant in variants:
            if variant.block is None:
                rows += [
                    _row(loop, trajectory, variant, joint, note=variant.note)
                    for joint in range(loop.plant.robot.joints)
                ]
            else:
                column = recording.run(made.index(variant), t)
                rows += _rows(loop, recording, variant, exact, column)
    seconds = max(one.own for one in trajectories) * loop.drive.period
    return Study(loop, tuple(variants), recording, tuple(rows), seconds)


def _row(loop: Loop, trajectory: Trajectory, variant: Variant, joint: int, **more: Any) -> Row:
    link = loop.plant.robot.links[joint]
    unit = "rad" if link.revolute else "m"
    return Row(trajectory.name, variant, joint + 1, unit, link.torque_unit, **more)


def _rows(
    loop: Loop, recording: Recording, variant: Variant, exact: Variant | None, column: int
) -> list[Row]:
    """Return the rows of a run."""
    path = recording.trajectories[column % len(recording.trajectories)]
    if recording.lost[column]:
        when = recording.lost[column] * loop.drive.period
        note = f"lost after {when:.3g} s: the loop is not stable"
        joints = range(loop.plant.robot.joints)
        return [_row(loop, path, variant, joint, note=note) for joint in joints]
    own = slice(0, path.own)
    wanted = (path.q[own].T, path.qd[own].T, path.qdd[own].T)
    seen, speeds = recording.seen[own, :, column].T, recording.speeds[own, :, column].T
    signals = loop.law.signals(seen, speeds, wanted, 0.0)
    signals["t"] = np.repeat(np.arange(path.own)[None] * loop.drive.period, len(seen), axis=0)
    right = None if exact is None or exact.block is None else exact.block.torques(signals)
    off = np.linalg.norm(
        tip(loop.plant.robot, recording.q[own, :, column]) - tip(loop.plant.robot, path.q[own]),
        axis=1,
    )
    estimate = _estimate(loop, variant, path)
    found = []
    for joint in range(loop.plant.robot.joints):
        outside = np.zeros(path.own, np.bool_)
        for (name, k), (low, high) in (variant.spans or {}).items():
            slack = ROUNDING * (high - low)
            if k == joint:
                outside |= (signals[name][k] < low - slack) | (signals[name][k] > high + slack)
        told = figures(
            recording, column, joint, None if right is None else right[joint], outside,
            loop.drive.rate,
        )  # fmt: skip
        more = {"figures": told, "tip_rms": float(np.sqrt((off**2).mean())),
                "tip_max": float(off.max()), "note": variant.note}  # fmt: skip
        broken = told is None or told.outside or told.limited
        strays = None if estimate is None or broken else float(estimate[joint])
        found.append(_row(loop, path, variant, joint, estimate=strays, **more))
    return found


def _estimate(loop: Loop, variant: Variant, path: Trajectory) -> Floats | None:
    """Return how far joints stray by errors of torques up to their bounds: max |M⁻¹| b ∫|h|."""
    if variant.bounds is None or loop.law.kind != "computed-torque" or not loop.drive.ideal:
        return None
    chosen = np.linspace(0, path.own - 1, min(PLACES, path.own)).astype(np.int64)
    inverse = np.abs(np.linalg.inv(inertia(loop.plant.robot, path.q[chosen].T)))
    return np.asarray((inverse @ np.array(variant.bounds)).max(axis=0) * loop.law.pull)


def documents(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return rows under the keys that `boolcomp simulate --json` promises."""
    return [_document(row) for row in rows]


def _document(row: Row) -> dict[str, object]:
    told: dict[str, Any] = {} if row.figures is None else asdict(row.figures)
    rest = told.get("rest") or {}
    lsb, noise = row.lsb, told.get("rms_noise")
    return {
        "trajectory": row.trajectory,
        "mode": row.variant.mode,
        "bits": row.variant.bits,
        "joint": row.joint,
        "unit": row.unit,
        "rms_tracking": told.get("rms_tracking"),
        "max_tracking": told.get("max_tracking"),
        "bound_tracking": row.estimate,
        "tip_rms": row.tip_rms,
        "tip_max": row.tip_max,
        "torque_unit": row.torque_unit,
        "lsb": lsb,
        "rms_noise": noise,
        "max_noise": told.get("max_noise"),
        "rms_noise_lsb": None if noise is None or not lsb else noise / lsb,
        "rms_jump": told.get("rms_jump"),
        "max_jump": told.get("max_jump"),
        "bound": row.bound,
        "rest_amplitude": rest.get("amplitude"),
        "rest_period": rest.get("period"),
        "rest_offset": rest.get("offset"),
        "rest_torque": rest.get("torque"),
        "saturated_inputs": told.get("outside"),
        "limited_torques": told.get("limited"),
        "nodes": row.variant.nodes,
        "table_bits": row.variant.table_bits,
        "note": row.note,
        "bound_note": row.variant.bound_note or None,
    }


def enough(rows: Sequence[Row], tolerance: float, *, tip: bool = False) -> dict[str, int | None]:
    """Return for every mode the fewest bits from which on no joint strays by more than this.

    Or the `tip`. More bits that were simulated must hold it as well; None where the most do not.
    """
    worst: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.variant.bits is not None:
            lengths = worst.setdefault(row.variant.mode, {})
            size = float("inf")
            if row.figures is not None:
                size = (row.tip_max or 0.0) if tip else row.figures.max_tracking
            lengths[row.variant.bits] = max(size, lengths.get(row.variant.bits, 0.0))
    return {mode: _fewest(lengths, tolerance) for mode, lengths in worst.items()}


def _fewest(lengths: Mapping[int, float], tolerance: float) -> int | None:
    found = None
    for bits in sorted(lengths, reverse=True):
        if lengths[bits] > tolerance:
            break
        found = bits
    return found
