"""Names, groups, units and ranges of the inputs and outputs of a robot's functions.

They follow from a function's name and the robot's joints. `program(q, qd, qdd)` takes arrays in
the order of the groups, whose columns are the joints in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from boolcomp.checker.functions.robotfunctions import FRICTION, KD, KP
from boolcomp.checker.robot import document_of, ends_of
from boolcomp.checker.steps import NotCoveredError

USUAL = "inverse-dynamics"
TORQUES = "tau", "torques"
# The groups of a function's inputs, the group of its outputs, and what these are called.
SIGNATURES = {
    USUAL: ("q qd qdd", *TORQUES),
    FRICTION: ("q qd qdd", *TORQUES),
    "gravity": ("q", *TORQUES),
    "bias": ("q qd", *TORQUES),
    "computed-torque": ("q qd qddr e de", *TORQUES),
    "pd-gravity": ("q e de", *TORQUES),
    "inertia": ("q", "m", "inertias"),
    "forward-kinematics": ("q", "pose", "coordinates"),
    "jacobian": ("q", "jacobian", "entries"),
    "derivatives": ("q qd qdd", "slopes", "slopes"),
}
TIMES = {"q": "", "qd": "/s", "qdd": "/s²", "qddr": "/s²", "e": "", "de": "/s"}
RANGES = {"q": "position", "qd": "velocity", "qdd": "acceleration"}


@dataclass(frozen=True, slots=True)
class Signature:
    """Groups of inputs and their members, and of all inputs units and ranges; outputs likewise."""

    name: str
    groups: dict[str, tuple[str, ...]]
    units: dict[str, str]
    ranges: dict[str, tuple[float, float]]
    returned: str
    plural: str
    outputs: dict[str, str]


def signature(function: str, text: str) -> Signature:
    """Return what a function of the robot of a file takes and gives."""
    kind, *choices = function.split(":")
    if kind not in SIGNATURES:
        raise NotCoveredError(f"{function} is no function that the checker knows")
    letters, returned, plural = SIGNATURES[kind]
    document = document_of(text)
    joints: list[dict[str, Any]] = document["joint"]
    turns = [one["type"] == "revolute" for one in joints]
    groups, units, ranges = {}, {}, {}
    for letter in letters.split(" "):
        groups[letter] = tuple(f"{letter}{k}" for k in range(1, len(joints) + 1))
        for name, joint, turn in zip(groups[letter], joints, turns, strict=True):
            units[name] = ("rad" if turn else "m") + TIMES[letter]
            ranges[name] = _range(kind, letter, joint)
    for load in (one.removeprefix("load=") for one in choices if one.startswith("load=")):
        groups["load"], units["mass"] = ("mass",), "kg"
        low, high = map(float, load.split(".."))
        ranges["mass"] = low, high
    name = str(document["name"]) + ("" if function == USUAL else f"-{function}")
    return Signature(name, groups, units, ranges, returned, plural, _outputs(returned, turns))


def _range(kind: str, letter: str, joint: dict[str, Any]) -> tuple[float, float]:
    """Return where an input may be; errors and commands times a gain span a joint's limits."""
    if letter in RANGES:
        return ends_of(joint, RANGES[letter])
    limit, gain = ("torque", 2.0) if kind == "pd-gravity" else ("acceleration", 1.0)
    gain *= {"e": float(KP), "de": float(KD)}.get(letter, 1.0)
    most = max(map(abs, ends_of(joint, limit))) / gain
    return -most, most


def _outputs(returned: str, turns: list[bool]) -> dict[str, str]:
    """Return the units of all outputs, in order."""
    joints = list(enumerate(turns, 1))
    torque = ["N·m" if turn else "N" for turn in turns]
    if returned == "tau":
        return {f"tau{k}": torque[k - 1] for k, _ in joints}
    if returned == "m":
        units = "kg", "kg·m", "kg·m²"
        return {f"m{i}{j}": units[a + b] for i, a in joints for j, b in joints[i - 1 :]}
    if returned == "pose":
        entries = {f"r{i}{j}": "" for i in (1, 2, 3) for j in (1, 2, 3)}
        return {f"p{axis}": "m" for axis in "xyz"} | entries
    if returned == "jacobian":
        rows = range(1, 7)
        return {f"j{i}{j}": "m" if i <= 3 and turn else "" for i in rows for j, turn in joints}
    return {
        f"dtau{i}_d{letters}{j}": f"{torque[i - 1]}{times}/{'rad' if turn else 'm'}"
        for letters, times in (("q", ""), ("qd", "·s"))
        for i, _ in joints
        for j, turn in joints
    }
