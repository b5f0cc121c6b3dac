"""The loop: at every instant of control all runs are measured, commanded and moved on together.

A run is one variant of a controller on one trajectory; runs are columns, so that all that is
arithmetic is done for all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.measure.control.drive import Sensors
from boolcomp.measure.control.trajectories import lengthened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.control.blocks import Block
    from boolcomp.measure.control.drive import Drive
    from boolcomp.measure.control.laws import Law
    from boolcomp.measure.control.plant import Plant
    from boolcomp.measure.control.recorded import Recorded
    from boolcomp.measure.control.trajectories import Trajectory

    Floats = NDArray[np.float64]

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
