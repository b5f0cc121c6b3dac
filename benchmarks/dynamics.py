"""ns per torque vector: our batched Newton-Euler beside Pinocchio called from Python.

Both compute the same 10^5 random samples of the PUMA 560 in one process; outputs are compared.
Pinocchio has no batched call, so its figure holds one Python call a sample, which is what a
Python user pays.
"""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pinocchio as pin

from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot.library import load_robot

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from pinocchio_model import pinocchio_model  # stands with the tests

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

SAMPLES = 100_000
ROUNDS = 5


def times(work: Callable[[], NDArray[np.float64]]) -> list[float]:
    """Return the seconds of every round."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return seconds


def per_call(robot: Robot, q: Floats, qd: Floats, qdd: Floats) -> Callable[[], NDArray[np.float64]]:
    """Return Pinocchio's rnea over the samples, one Python call each."""
    model = pinocchio_model(robot)
    data = model.createData()
    torques = np.empty_like(q)
    rnea = pin.rnea

    def run() -> NDArray[np.float64]:
        for k in range(SAMPLES):
            torques[k] = rnea(model, data, q[k], qd[k], qdd[k])
        return torques

    return run


def main() -> None:
    """Print one row a robot."""
    print(f"{SAMPLES} samples, {ROUNDS} rounds, ns per torque vector (least, spread)")
    for name in ("machado-2r", "elbow-3r", "puma560"):
        robot = load_robot(name)
        rng = np.random.default_rng(1)
        q, qd, qdd = rng.uniform(-2, 2, (3, SAMPLES, robot.joints))
        pinocchio = per_call(robot, q, qd, qdd)
        ours = inverse_dynamics(robot, q, qd, qdd)
        error = np.abs(ours - pinocchio()).max()
        if error > 1e-9:
            raise SystemExit(f"{name}: outputs differ by {error}")
        rows = {
            "boolcomp, batched": times(functools.partial(inverse_dynamics, robot, q, qd, qdd)),
            "Pinocchio, per call": times(pinocchio),
        }
        best = {rival: min(seconds) for rival, seconds in rows.items()}
        ratio = best["Pinocchio, per call"] / best["boolcomp, batched"]
        print(f"{name}: Pinocchio / boolcomp = {ratio:.2f}, outputs agree to {error:.1e} N·m")
        for rival, seconds in rows.items():
            least, most = (1e9 * f(seconds) / SAMPLES for f in (min, max))
            print(f"  {rival:20} {least:8.0f} ns  (+{most / least - 1:.0%})")


if __name__ == "__main__":
    main()
