"""`boolcomp robots`: the built-in robots, or one robot in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.errors import UsageError, listing, short
from boolcomp.base.files import write_output
from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import (
    ROBOTS,
    FilePath,
    chain_options,
    json_option,
    print_result,
    tabled,
    wants_all,
    wants_json,
)
from boolcomp.problem.robot.library import load_arm, load_robot, robot_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.problem.robot.model import Link, Robot
    from boolcomp.terms.extract import Verdict


MOST_TITLE = 54  # characters in the list


@click.command("robots", epilog="Example: boolcomp robots puma560")
@click.argument("robot", required=False, shell_complete=ROBOTS)
@chain_options("robot")
@click.option("--right-angles", is_flag=True, help="Read 1.5708 in a URDF as pi/2.")
@click.option("-o", "--output", type=FilePath(), help="Robot file to write.")
@json_option
def command(robot: str | None, *, right_angles: bool, output: Path | None) -> None:
    """List the built-in robots; or check ROBOT (a name or a file) and print it in full.

    The output for one ROBOT ends with comments: the torques it reaches over its ranges, torque
    ranges that saturate or waste bits, and better ranges to paste. With -o the robot, also one from
    a URDF, is written as a robot file.
    """
    if robot:
        _one(robot, output, right_angles=right_angles)
        return
    if output is not None or right_angles:
        raise UsageError("-o and --right-angles need a robot", "give its name or file")
    robots = [load_robot(name) for name in robot_names()]
    print_result({"robots": [_document(item) for item in robots]}, lambda: _overview(robots))


def _one(name: str, output: Path | None, *, right_angles: bool) -> None:
    from boolcomp.problem.functions import inverse_dynamics_problem
    from boolcomp.terms.extract import judge_outputs

    arm = load_arm(name, right_angles=right_angles)
    if arm is None and right_angles:
        raise UsageError("--right-angles needs a URDF", "give an .urdf file")
    robot = load_robot(name) if arm is None else arm.robot
    verdicts = judge_outputs(inverse_dynamics_problem(robot))
    text = f"{robot if arm is None else arm}\n{_verdict_text(verdicts)}"
    if output is not None:
        write_output(output, f"{text}\n")
        click.echo(f"written to {output}", err=True)
    if output is None or wants_json():
        print_result({"robots": [_judged(robot, verdicts)]}, text, file=True)


def _overview(robots: Sequence[Robot]) -> str:
    columns = (
        ResultColumn("", "robot", "name", left=True),
        ResultColumn("", "joints", _kinds, left=True),
        ResultColumn("", "mass kg", "mass", short),
        ResultColumn("", "title", _title, left=True),
    )
    doubts = {robot.name: robot.doubt for robot in robots if robot.doubt}
    notes = [f"in doubt (reasons: -v): {listing(doubts)}"] if doubts else []
    if wants_all():
        notes = ["", "In doubt:", *(f"  {name}: {doubt}" for name, doubt in doubts.items())]
    return "\n".join([tabled(Results(columns, robots), "robot, joints, title"), *notes])


def _title(robot: Robot) -> str:
    return robot.title if len(robot.title) <= MOST_TITLE else f"{robot.title[: MOST_TITLE - 1]}…"


def _kinds(robot: Robot) -> str:
    return "".join("R" if link.revolute else "P" for link in robot.links)


def _verdict_text(verdicts: Sequence[Verdict]) -> str:
    """Return the verdict as TOML comments, so that the output is still a robot file."""
    from boolcomp.terms.extract import VERDICTS

    count = verdicts[0].samples
    lines = [
        f"Torques over these ranges: searched ({count} samples, then local search), not proved.",
        "",
        *Results(VERDICTS, verdicts).text().splitlines(),
    ]
    better = [
        f"joint {joint}:  torque_range = [-{short(verdict.better)}, {short(verdict.better)}]"
        for joint, verdict in enumerate(verdicts, 1)
        if verdict.better is not None
    ]
    if better:
        lines += ["", "Better ranges, to paste:", *better]
    return "\n".join(f"# {line}".rstrip() for line in lines)


def _judged(robot: Robot, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    document = _document(robot)
    for joint, verdict in zip(document["joints"], verdicts, strict=True):
        better = verdict.better
        joint |= {
            "torque_unit": verdict.output.unit,
            "torque_extremes": [verdict.low, verdict.high],
            "torque_extremes_kind": "searched",
            "samples": verdict.samples,
            "share_beyond_range": verdict.beyond,
            "saturates": verdict.saturates,
            "wasted_bits": verdict.wasted_bits,
            "tight": verdict.tight,
            "better_torque_range": None if better is None else [-better, better],
        }
    return document


def _poses(robot: Robot) -> dict[str, Any]:
    return {
        f"{name}_{key}": list(value)
        for name, pose in (("base", robot.base), ("tool", robot.tool))
        if pose is not None
        for key, value in (("origin", pose.origin), ("rotation", pose.rotation))
    }


def _frame(link: Link) -> dict[str, Any]:
    """Return a general frame, which replaces the DH parameters; empty for a DH link."""
    if link.pose is None:
        return {}
    where = {"origin": list(link.pose.origin), "rotation": list(link.pose.rotation)}
    return {**dict.fromkeys(("a", "alpha", "d", "theta")), **where, "axis": list(link.axis)}


def _document(robot: Robot) -> dict[str, Any]:
    return {
        "robot": robot.name,
        "title": robot.title,
        "source": robot.source,
        "doubt": robot.doubt,
        "mass": robot.mass,
        "gravity": list(robot.gravity),
        **_poses(robot),
        "joints": [
            {
                "joint": joint,
                "type": link.type,
                "parent": parent,
                "a": link.a,
                "alpha": link.alpha,
                "d": link.d,
                "theta": link.theta,
                **_frame(link),
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
            for joint, (link, parent) in enumerate(zip(robot.links, robot.parents, strict=True), 1)
        ],
    }
