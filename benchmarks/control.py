"""How long a closed loop takes, and whether it is right.

    python benchmarks/control.py [ROBOT] [--bits 4,5,6,8,10,12] [--seconds 10] [--rate 1000]

Simulates an arm (machado-2r) on three trajectories in three modes (exact, paper, compact) at six
word lengths, all runs together, and prints seconds of the clock and of the processor for what is
compiled or read from the store, for making trajectories, and for the loop. Then it checks: exact
torques against an independent simulation by Pinocchio (articulated bodies, the same Runge-Kutta
rule written here) where that is installed, and a run alone against the same run among all others.
The exit code is 1 where a check fails.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import table
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.measure.control import LoopSettings, StudyRequest, study
from boolcomp.pipeline import compile_compact
from boolcomp.problem.robot.library import load_robot

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

if TYPE_CHECKING:
    from boolcomp.measure.control import Study
    from boolcomp.measure.control_loop import ControlLoop, Trajectory
    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

TRAJECTORIES = ("point", "circle", "sine")
NEAR = 1e-6  # rad: what two exact loops may differ by


def compiled(problem: Problem, bits: int) -> Program:
    """Return a program at the usual demand, from the store if it is there."""
    made = compile_compact(problem, CompactChoices(usual_demand(bits)))
    whence = "store" if made.built[0].stored else "searched"
    print(f"{problem.name} at {bits} bits: {made.seconds:.1f} s, {whence}", file=sys.stderr)
    return made.program


def by_pinocchio(loop: ControlLoop, way: Trajectory) -> np.ndarray:
    """Return the positions of a loop with exact torques, all of it calculated by Pinocchio."""
    import pinocchio as pin  # noqa: PLC0415 (where it is installed)
    from pinocchio_model import pinocchio_model  # noqa: PLC0415 (likewise)

    model = pinocchio_model(loop.plant.robot)
    data, n, h = model.createData(), loop.plant.robot.joints, loop.drive.period
    limits, state = np.array(loop.drive.limits), np.concatenate([way.q[0], way.qd[0]])
    track = np.empty_like(way.q)

    def slope(y: np.ndarray, torque: np.ndarray) -> np.ndarray:
        return np.concatenate([y[n:], pin.aba(model, data, y[:n], y[n:], torque)])

    for k in range(way.own):
        q, qd = state[:n], state[n:]
        track[k] = q
        command = way.qdd[k] + loop.law.kd * (way.qd[k] - qd) + loop.law.kp * (way.q[k] - q)
        torque = np.clip(pin.rnea(model, data, q, qd, command), -limits, limits)
        one = slope(state, torque)
        two = slope(state + h / 2 * one, torque)
        three = slope(state + h / 2 * two, torque)
        four = slope(state + h * three, torque)
        state = state + h / 6 * (one + 2 * two + 2 * three + four)
    return track


def checked(found: Study, ways: list[Trajectory]) -> list[list[str]]:
    """Return what was checked, and by how much it differs."""
    rows = []
    if find_spec("pinocchio") and not found.loop.plant.has_friction:
        off = np.abs(by_pinocchio(found.loop, ways[0]) - found.recording.q[: ways[0].own, :, 0])
        rows.append(["exact torques, beside Pinocchio", f"{off.max():.2e} rad", off.max() < NEAR])
    alone = study(found.loop, [found.made[-1]], [ways[-1]]).recording.q[:, :, 0]
    same = np.array_equal(alone, found.recording.q[: ways[-1].own, :, -1])
    rows.append(["the last run, alone", "the same bits" if same else "other bits", same])
    return [[what, off, "yes" if holds else "NO"] for what, off, holds in rows]


def main() -> int:
    """Run and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("robot", nargs="?", default="machado-2r")
    parser.add_argument("--bits", default="4,5,6,8,10,12")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=1000.0)
    options = parser.parse_args()
    robot = load_robot(options.robot)
    bits = tuple(map(int, options.bits.split(",")))
    clocks = [(time.perf_counter(), time.process_time())]

    def lap() -> None:
        clocks.append((time.perf_counter(), time.process_time()))

    settings = LoopSettings(seconds=options.seconds, rate=options.rate, friction="none")
    loop = settings.loop(robot, "computed-torque")
    ways = settings.trajectories(robot, TRAJECTORIES)
    lap()
    question = StudyRequest(robot, "computed-torque", ("paper", "compact"), bits, compiled)
    variants = question.variants(loop)
    lap()
    found = study(loop, variants, ways)
    lap()
    runs = len(found.made) * len(ways)
    names = ("arm and trajectories", "tables and programs", f"{runs} runs of {ways[0].own} steps")
    spans = [[b - a for a, b in zip(*pair, strict=True)] for pair in itertools.pairwise(clocks)]
    rows = [
        [name, f"{span[0]:.1f}", f"{span[1]:.1f}"] for name, span in zip(names, spans, strict=True)
    ]
    rows.append(["in all", *(f"{sum(span[k] for span in spans):.1f}" for k in (0, 1))])
    print(table(["what", "s by the clock", "s of the processor"], rows))
    each = spans[2][1] / (runs * ways[0].own) * 1e6
    print(f"{each:.1f} µs of the processor for a run's step of control")
    checks = checked(found, ways)
    print(table(["check", "difference", "holds"], checks, left=(0, 1)))
    return int(any(row[-1] == "NO" for row in checks))


if __name__ == "__main__":
    sys.exit(main())
