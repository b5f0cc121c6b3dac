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

import numpy as np

import boolcomp as bc
from boolcomp.base.errors import short, short_above, table
from boolcomp.base.pages import ChartAxis, lines, picture
from boolcomp.problem.samples import column_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.base.pages import ChartRow
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
    at, kind = ChartAxis("time", "time, s"), ChartAxis("kind", "", names=True)
    both, errors = [], []
    for k, unit in enumerate(units):
        drawn = {
            "logic": logic[:, k], "Newton-Euler": exact[:, k],
            "difference": logic[:, k] - exact[:, k],
        }  # fmt: skip
        rows: list[ChartRow] = [
            {"time": float(t), "torque": float(x), "kind": name}
            for name, column in drawn.items()
            for t, x in zip(time, column, strict=True)
        ]
        torque = ChartAxis("torque", f"torque, {unit}")
        both.append(
            lines(rows[: 2 * len(time)], at, torque, colour_by=kind, points=False,
                  title=f"torque {k + 1}")
        )  # fmt: skip
        errors.append(
            lines(rows[2 * len(time) :], at, torque, points=False, high=90,
                  title=f"torque {k + 1}: logic less Newton-Euler")
        )  # fmt: skip
    for ending in ("svg", "png"):
        content = picture([*both, *errors], ending)
        path.with_suffix(f".{ending}").write_bytes(content)


def comparison(time: Floats, logic: Floats, exact: Floats, units: Sequence[str]) -> str:
    """Return both torques of every joint at six times."""
    at = range(0, STEPS, STEPS // 6)[:6]
    rows = [
        (f"T{k + 1} {name}, {unit}", *(f"{torques[i, k]:.2f}" for i in at))
        for k, unit in enumerate(units)
        for name, torques in (("by logic", logic), ("exact", exact))
    ]
    return table(("torque at", *(f"{time[i]:.1f} s" for i in at)), rows)


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
    print(comparison(time, found.values, exact, units))
    print(f"errors of {STEPS} states:")
    for k, (bound, unit) in enumerate(zip(program.bound, units, strict=True)):
        error = np.abs(found.values[:, k] - exact[:, k])
        proved = f"proved limit {short_above(bound, 4)}" if math.isfinite(bound) else "none proved"
        print(
            f"  T{k + 1}: rms {short((error**2).mean() ** 0.5, 3)}, "
            f"largest {short(error.max(), 3)}, {proved} {unit}"
        )
    print(f"written to {FOLDER}: states.csv, torques.csv, torques.svg, torques.png")


if __name__ == "__main__":
    main()
