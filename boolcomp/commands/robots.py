"""`boolcomp robots`: what ships, or one robot in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.commands.options import json_option, print_json
from boolcomp.robot import load_robot, robot_names
from boolcomp.text import angle, short, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.robot import Interval, Robot


@click.command("robots", epilog="Example: boolcomp robots puma560")
@click.argument("robot", required=False)
@json_option
def command(robot: str | None, *, as_json: bool) -> None:
    """List the robots that ship; or check ROBOT (a name or a .toml file) and print it in full."""
    robots = [load_robot(name) for name in ([robot] if robot else robot_names())]
    if as_json:
        print_json({"robots": [_document(item) for item in robots]})
    elif robot:
        click.echo(str(robots[0]), nl=False)
    else:
        click.echo(_overview(robots))


def _overview(robots: Iterable[Robot]) -> str:
    header = ["robot", "joints", "mass kg", "q rad, m", "qd /s", "qdd /s2", "torque N·m, N"]
    rows = [
        [
            robot.name,
            "".join("R" if link.revolute else "P" for link in robot.links),
            short(robot.mass),
            _ranges(link.position for link in robot.links),
            _ranges(link.velocity for link in robot.links),
            _ranges(link.acceleration for link in robot.links),
            _ranges(link.torque for link in robot.links),
        ]
        for robot in robots
    ]
    doubts = [f"{robot.name}: {robot.doubt}" for robot in robots if robot.doubt]
    notes = ["", "In doubt:", *(f"  {doubt}" for doubt in doubts)] if doubts else []
    return "\n".join([table(header, rows, left=(0, 1, 3, 4, 5, 6)), *notes])


def _ranges(intervals: Iterable[Interval]) -> str:
    texts = [
        f"±{angle(i.high)}" if i.low == -i.high else f"{angle(i.low)}..{angle(i.high)}"
        for i in intervals
    ]
    return texts[0] if len(set(texts)) == 1 else " ".join(texts)


def _document(robot: Robot) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "title": robot.title,
        "source": robot.source,
        "doubt": robot.doubt,
        "mass": robot.mass,
        "gravity": list(robot.gravity),
        "joints": [
            {
                "joint": joint,
                "type": link.type,
                "a": link.a,
                "alpha": link.alpha,
                "d": link.d,
                "theta": link.theta,
                "mass": link.mass,
                "center_of_mass": list(link.center_of_mass),
                "inertia": list(link.inertia),
                "joint_inertia": link.joint_inertia,
                "position_range": [link.position.low, link.position.high],
                "velocity_range": [link.velocity.low, link.velocity.high],
                "acceleration_range": [link.acceleration.low, link.acceleration.high],
                "torque_range": [link.torque.low, link.torque.high],
                "doubt": link.doubt,
            }
            for joint, link in enumerate(robot.links, 1)
        ],
    }
