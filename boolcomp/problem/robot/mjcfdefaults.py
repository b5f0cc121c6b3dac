"""What an MJCF says for all its elements: default classes, the compiler, and how frames turn."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import listing, shown, suggestion
from boolcomp.problem.robot.frames import UNIT, about_axis, product, roll_pitch_yaw, unit
from boolcomp.problem.robot.xmlvalues import numbers_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.problem.robot.frames import Rows
    from boolcomp.problem.robot.model import Triple
    from boolcomp.problem.robot.xmltext import Element

ACTUATORS = (
    "general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder", "muscle",
    "dcmotor",
)  # fmt: skip
MAIN = "main"
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")


class Defaults:
    """The attributes that elements have by their class, each class with those it stands in."""

    def __init__(self, top: Element) -> None:
        self.classes: dict[str, dict[str, dict[str, str]]] = {MAIN: {}}
        for element in top.all("default"):
            self._read(element, element.attributes.get("class", MAIN), {})

    def _read(
        self, element: Element, name: str, inherited: Mapping[str, Mapping[str, str]]
    ) -> None:
        own = self.classes.setdefault(name, {})
        for kind, attributes in inherited.items():
            own[kind] = {**attributes, **own.get(kind, {})}
        for child in element.children:
            if child.tag != "default":
                kind = _kind(child)
                own[kind] = {**own.get(kind, {}), **child.attributes}
        for child in element.all("default"):
            if "class" not in child.attributes:
                child.fail("class is missing: the name of a default class")
            self._read(child, child.attributes["class"], own)

    def filled(self, element: Element, style: str | None) -> Element:
        """Return an element with the attributes of its class, that of its body, or the main one."""
        name = element.attributes.get("class", style or MAIN)
        if name not in self.classes:
            hint = suggestion(name, self.classes) or f" (there are {listing(self.classes)})"
            element.fail(f"no default class is called {shown(name)}{hint}")
        attributes = self.classes[name].get(_kind(element), {})
        return replace(element, attributes={**attributes, **element.attributes})


def _kind(element: Element) -> str:
    """Return what shares its defaults: all actuators do."""
    return "actuator" if element.tag in ACTUATORS else element.tag


def compiler_of(top: Element) -> dict[str, str]:
    """Return the attributes of the compiler, of all its sections."""
    found: dict[str, str] = {}
    for element in top.all("compiler"):
        found |= element.attributes
        if element.attributes.get("coordinate", "local") != "local":
            element.fail("global coordinates are not read: let MuJoCo save the model in local ones")
        sequence = element.attributes.get("eulerseq", "xyz")
        if len(sequence) != 3 or set(sequence.lower()) - set(AXES):
            element.fail(f"eulerseq must be three of x, y, z, not {shown(sequence)}")
    return found


def rotation_of(element: Element, compiler: Mapping[str, str]) -> Triple:
    """Return how an element's frame turns, said in one of five ways, as roll, pitch and yaw."""
    given = [key for key in TURNS if key in element.attributes]
    if not given:
        return (0.0, 0.0, 0.0)
    if len(given) > 1:
        element.fail(f"{listing(given)} say the same: keep one of them")
    key = given[0]
    degrees = compiler.get("angle", "degree") == "degree"
    turn = math.radians if degrees else float
    if key == "quat":
        w, *vector = numbers_of(element, key, (4,), "axis")
        size = math.hypot(*vector)
        if not size and not w:
            element.fail("quat must not be zero")
        axis = _unit(element, key, vector) if size else AXES["z"]
        return roll_pitch_yaw(about_axis(axis, 2 * math.atan2(size, w)))
    if key == "axisangle":
        x, y, z, angle = numbers_of(element, key, (4,), "rotation")
        return roll_pitch_yaw(about_axis(_unit(element, key, [x, y, z]), turn(angle)))
    if key == "euler":
        angles = map(turn, numbers_of(element, key, (3,), "rotation"))
        return roll_pitch_yaw(_euler(compiler.get("eulerseq", "xyz"), tuple(angles)))
    if key == "xyaxes":
        numbers = numbers_of(element, key, (6,), "axis")
        x_axis, rough = _unit(element, key, numbers[:3]), numbers[3:]
        along = sum(a * b for a, b in zip(x_axis, rough, strict=True))
        y_axis = _unit(element, key, [b - along * a for a, b in zip(x_axis, rough, strict=True)])
        return roll_pitch_yaw(_columns(x_axis, y_axis, _cross(x_axis, y_axis)))
    z_axis = _unit(element, key, numbers_of(element, key, (3,), "axis"))
    across = _cross(AXES["z"], z_axis)
    size = math.hypot(*across)
    axis = _unit(element, key, list(across)) if size else AXES["x"]
    return roll_pitch_yaw(about_axis(axis, math.atan2(size, z_axis[2])))


def _euler(sequence: str, angles: tuple[float, ...]) -> Rows:
    """Return turns in sequence: small letters about axes that turn along, others about fixed."""
    rows = UNIT
    for letter, angle in zip(sequence, angles, strict=True):
        turned = about_axis(AXES[letter.lower()], angle)
        rows = product(rows, turned) if letter.islower() else product(turned, rows)
    return rows


def _unit(element: Element, key: str, vector: list[float]) -> Triple:
    x, y, z = vector
    if not any(vector):
        element.fail(f"{key}: an axis must not be zero")
    return unit((x, y, z))


def _cross(one: Triple, other: Triple) -> Triple:
    (a, b, c), (x, y, z) = one, other
    return (b * z - c * y, c * x - a * z, a * y - b * x)


def _columns(x: Triple, y: Triple, z: Triple) -> Rows:
    return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))
