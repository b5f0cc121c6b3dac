"""Follow a trajectory by logic only, and by arithmetic beside it.

    python examples/trajectory.py PROGRAM ROBOT

Writes the trajectory, both torques and a picture of them to out/trajectory, and prints how far
they are apart. The program is one that `boolcomp compile ROBOT -o PROGRAM` made.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import boolcomp as bc
from boolcomp.problem.samples import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]

SECONDS, STEPS = 10.0, 2000
FOLDER = Path("out/trajectory")


def trajectory(robot: Robot) -> tuple[Floats, Floats, Floats, Floats]:
    """Return time, q, q̇ and q̈: each joint swings through its range as fast as its ranges allow."""
    time = np.linspace(0, SECONDS, STEPS)
    columns = []
    for k, link in enumerate(robot.links, 1):
        centre, reach = link.position.centre, 0.95 * (link.position.high - link.position.low) / 2
        fastest = min(link.velocity.high / reach, (link.acceleration.high / reach) ** 0.5)
        rate = fastest * (1 - 0.13 * k / robot.joints)
        angle = rate * time + 0.7 * k
        columns.append(
            (
                centre + reach * np.sin(angle),
                reach * rate * np.cos(angle),
                -reach * rate**2 * np.sin(angle),
            )
        )
    q, qd, qdd = (np.stack([column[i] for column in columns], axis=1) for i in range(3))
    return time, q, qd, qdd


def draw(time: Floats, logic: Floats, exact: Floats, units: Sequence[str], path: Path) -> None:
    """Draw both torques of every joint, and their difference."""
    mpl.rcParams.update({"svg.hashsalt": "boolcomp", "font.size": 9})
    joints = logic.shape[1]
    figure, axes = plt.subplots(
        2, joints, figsize=(4.8 * joints, 4.6), layout="constrained", sharex=True, squeeze=False,
        height_ratios=(3, 1),
    )  # fmt: skip
    for k in range(joints):
        above, below = axes[0, k], axes[1, k]
        above.plot(time, logic[:, k], color="#c8553d", linewidth=1.6, label="logic")
        above.plot(time, exact[:, k], color="#222222", linewidth=0.8, label="Newton-Euler")
        above.set(title=f"torque {k + 1}", ylabel=units[k])
        above.legend(fontsize=8)
        below.plot(time, logic[:, k] - exact[:, k], color="#3367b0", linewidth=0.8)
        below.set(xlabel="time, s", ylabel="difference")
        below.grid(visible=True, alpha=0.3)
    for suffix in (".svg", ".png"):
        metadata = {"Date": None} if suffix == ".svg" else None
        figure.savefig(path.with_suffix(suffix), metadata=metadata, dpi=110)


def main() -> None:
    """Run the example."""
    if len(sys.argv) != 3:
        sys.exit("usage: python examples/trajectory.py PROGRAM ROBOT")
    program, robot = bc.load_program(sys.argv[1]), bc.load_robot(sys.argv[2])
    time, q, qd, qdd = trajectory(robot)
    found = program.evaluate(q, qd, qdd)
    exact = bc.inverse_dynamics(robot, q, qd, qdd)
    FOLDER.mkdir(parents=True, exist_ok=True)
    header = ",".join(column_names(program.groups))
    states = np.hstack([q, qd, qdd])
    np.savetxt(FOLDER / "states.csv", states, "%.9g", ",", header=header, comments="")
    both = ",".join(f"{kind}{k + 1}" for kind in ("logic", "exact") for k in range(robot.joints))
    rows = np.hstack([found.values, exact])
    np.savetxt(FOLDER / "torques.csv", rows, "%.9g", ",", header=both, comments="")
    units = [link.torque_unit for link in robot.links]
    draw(time, found.values, exact, units, FOLDER / "torques")
    print(f"{STEPS} states of a {SECONDS:g} s trajectory, torques by logic and by Newton-Euler:")
    for k, bound in enumerate(program.bound):
        error = np.abs(found.values[:, k] - exact[:, k])
        rms = np.sqrt((error**2).mean())
        above = math.ceil(1000 * bound) / 1000 if np.isfinite(bound) else bound  # not rounded down
        proved = f"proven bound {above:.3f}" if np.isfinite(bound) else "none proved"
        print(
            f"  torque {k + 1}: {exact[:, k].min():8.2f} .. {exact[:, k].max():7.2f} {units[k]}, "
            f"error rms {rms:.3f}, max {error.max():.3f}, {proved}"
        )
    print(f"written to {FOLDER}: states.csv, torques.csv, torques.svg, torques.png")


if __name__ == "__main__":
    main()
