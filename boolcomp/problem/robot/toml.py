"""From the text of a robot file to a checked `Robot`: every key, type, unit rule and message."""

from __future__ import annotations

import math
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.base.errors import (
    LONGEST_NAME,
    DataError,
    DataWarning,
    cut,
    listing,
    number,
    parse_number,
    parse_toml,
    short,
    shown,
    suggestion,
)
from boolcomp.problem.robot import model
from boolcomp.problem.robot.model import (
    HERE,
    Body,
    Link,
    Pose,
    Robot,
    Z,
    about_axis,
    check_inertia,
    roll_pitch_yaw,
    unit,
    with_body,
)
from boolcomp.problem.words import (
    CODE_KINDS,
    TURN,
    WIDTHS,
    ZEROS,
    Interval,
    WordFormat,
    all_around,
    part_of,
    width_problem,
    word_problem,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.problem.robot.model import Inertia, JointType, Triple


# --------------------------------------------------------------------------------------------------
# One table of a robot file: its values by key, checked, in messages that say file and line.
# --------------------------------------------------------------------------------------------------


_KEY = r"""(?:{key}|"{key}"|'{key}')\s*[=.]"""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the file and where it stands; `joint` counts those of joints, 0: another."""

    where: str
    text: str
    path: str
    table: Mapping[str, Any]
    joint: int

    def fail(self, key: str, problem: str) -> NoReturn:
        """Raise a `DataError` about the value of a key."""
        raise DataError(self._message(key, problem))

    def warn(self, key: str, problem: str) -> None:
        """Warn of the value of a key."""
        warnings.warn(self._message(key, problem), DataWarning, stacklevel=4)

    def _message(self, key: str, problem: str) -> str:
        return f"{self.where}{self._line(key)}: {self.path}{cut(key)}: {problem}"

    def _line(self, key: str) -> str:
        """Find the key's line, or its section's, as `:12`; nothing where the text hides it."""
        section, found = 0, 0
        for row, line in enumerate(self.text.splitlines(), 1):
            if re.match(r"\s*\[\[\s*joint\s*\]\]", line):
                section += 1
                if section == self.joint:
                    found = row
            if section == self.joint and re.match(r"\s*" + _KEY.format(key=re.escape(key)), line):
                return f":{row}"
        return f":{found}" if found else ""

    def check_keys(self, allowed: tuple[str, ...]) -> None:
        """Refuse a key that is not allowed."""
        for key in self.table:
            if key not in allowed:
                hint = suggestion(key, allowed) or f" (allowed: {listing(allowed)})"
                self.fail(key, f"unknown key{hint}")

    def value(self, key: str, default: Any = None) -> Any:
        """Return a key's value; without a default it must be there."""
        if key in self.table:
            return self.table[key]
        if default is None:
            self.fail(key, "missing")
        return default

    def string(self, key: str, *, required: bool = False) -> str:
        """Return a text, empty where there is none."""
        value = self.value(key, None if required else "")
        if not isinstance(value, str):
            self.fail(key, f"must be text, not {shown(value)}")
        return str(value)

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number, or the angle that a text says."""
        return self.one_number(key, self.value(key, default))

    def one_number(self, key: str, value: Any) -> float:
        """Return the number that stands at a key, alone or in a list."""
        result = parse_number(value) if isinstance(value, str) else value
        if isinstance(result, bool) or not isinstance(result, int | float):
            self.fail(key, f"must be a number or an angle such as 'pi/2', not {shown(value)}")
        if isinstance(result, float) and not math.isfinite(result):
            self.fail(key, f"must be finite, not {shown(value)}")
        # Before it becomes a float: an integer may be too large for one.
        revolute = self.table.get("type") != "prismatic"
        if problem := model.size_problem(key, result, revolute=revolute):
            self.fail(key, problem)
        return float(result)

    def numbers(self, key: str, lengths: tuple[int, ...], default: Any = None) -> list[float]:
        """Return a list of numbers, as long as one of `lengths`."""
        value = self.value(key, default)
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            counts = " or ".join(str(length) for length in lengths)
            self.fail(key, f"must be a list of {counts} numbers, not {shown(value)}")
        return [self.one_number(key, item) for item in value]

    def triple(self, key: str, default: Any = None) -> Triple:
        """Return three numbers."""
        x, y, z = self.numbers(key, (3,), default)
        return (x, y, z)

    def interval(self, key: str, *, single: bool = False) -> Interval:
        """Return two numbers that rise, or, where one alone will do, may be equal."""
        low, high = self.numbers(key, (2,))
        if low > high or (low == high and not single):
            self.fail(key, f"must rise, not go from {number(low)} to {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            self.fail(key, problem)
        return Interval(low, high)


# --------------------------------------------------------------------------------------------------
# From the text of a robot file to a checked `Robot`: every key, type, unit rule and message.
# --------------------------------------------------------------------------------------------------


ROBOT_KEYS = (
    "name", "title", "source", "doubt", "gravity", "control_rate", "base_origin", "base_rotation",
    "tool_origin", "tool_rotation", "payload", "joint",
)  # fmt: skip
PAYLOAD_KEYS = ("mass", "center_of_mass", "inertia")
DH_KEYS, POSE_KEYS = ("a", "alpha", "d", "theta"), ("origin", "rotation", "axis")
JOINT_KEYS = (
    "type", "parent", *DH_KEYS, *POSE_KEYS, "mass", "massless", "center_of_mass", "inertia",
    "rotor_inertia", "gear_ratio", "viscous_friction", "coulomb_friction", "position_range",
    "word_range", "word_bits", "word_code", "word_zero", "velocity_range", "acceleration_range",
    "torque_range", "torque_limit", "encoder_step", "doubt",
)  # fmt: skip
TYPES: tuple[JointType, ...] = ("revolute", "prismatic")
_NAME = rf"[A-Za-z0-9][A-Za-z0-9_.-]{{0,{LONGEST_NAME - 1}}}"
MANY_TURNS = 4  # no arm turns so far: a position beyond was meant in degrees
SNAP = 5e-5  # an alpha printed as 1.5708 is a right angle: the rest would be spurious terms


def parse_robot(text: str, where: str = "robot") -> Robot:
    """Read the text of a robot file; `where` names it in messages."""
    if len(text) > model.MOST_BYTES:
        raise DataError(f"{where}: too large: a robot file has at most {model.MOST_BYTES} bytes")
    document = parse_toml(text, where)
    top = Section(where, text, "", document, 0)
    if "inputs" in document and "joint" not in document:
        raise DataError(
            f"{where}: a function, and no robot: compile, evaluate, terms, plan, tables and report "
            "take it, if its name ends in .toml"
        )
    top.check_keys(ROBOT_KEYS)
    name = top.string("name", required=True)
    if not re.fullmatch(_NAME, name):
        most = f"{LONGEST_NAME} at most"
        top.fail("name", f"{shown(name)} may hold letters, digits, '-', '_' and '.' only, {most}")
    joints = document.get("joint")
    if not isinstance(joints, list) or not joints or not all(isinstance(j, dict) for j in joints):
        top.fail("joint", "a robot needs at least one [[joint]] section")
    if len(joints) > model.MOST_JOINTS:
        top.fail("joint", f"{len(joints)} joints: a robot has at most {model.MOST_JOINTS}")
    robot = Robot(
        name=name,
        title=top.string("title"),
        source=top.string("source"),
        doubt=top.string("doubt"),
        gravity=top.triple("gravity"),
        links=tuple(
            _link(Section(where, text, f"joint[{k}].", joint, k))
            for k, joint in enumerate(joints, 1)
        ),
        tool=_pose(top, "tool_") if {"tool_origin", "tool_rotation"} & set(document) else None,
        base=_pose(top, "base_") if {"base_origin", "base_rotation"} & set(document) else None,
        control_rate=_positive(top, "control_rate"),
    )
    return robot if "payload" not in document else _loaded(robot, top)


def _loaded(robot: Robot, top: Section) -> Robot:
    """Return the robot with what it holds for good, which is one body with its last link."""
    table = top.table["payload"]
    if not isinstance(table, dict):
        top.fail("payload", "must be a table: [payload] with mass, center_of_mass and inertia")
    section = Section(top.where, top.text, "payload.", table, 0)
    section.check_keys(PAYLOAD_KEYS)
    mass = section.number("mass")
    if mass <= 0:
        section.fail("mass", f"must be positive, not {number(mass)}")
    body = Body(
        mass,
        section.triple("center_of_mass", HERE.origin),
        _inertia(section, HERE.origin),
    )
    problem, doubtful = check_inertia(body.inertia)
    if problem:
        section.fail("inertia", problem)
    if doubtful and not robot.doubt:
        section.warn("inertia", f"{doubtful}; say why in the robot's 'doubt' to accept it")
    loaded = with_body(robot, body)
    whole = loaded.links[-1]
    for key, values in (("mass", (whole.mass,)), ("inertia", whole.inertia)):
        size = model.size_problem(key, max(map(abs, values)), revolute=True)
        if size:
            section.fail(key, f"with that of the last link it {size}")
    return loaded


def _link(section: Section) -> Link:
    section.check_keys(JOINT_KEYS)
    kind = _type(section)
    revolute = kind == "revolute"
    torque = section.interval("torque_range")
    if torque.low != -torque.high:
        section.fail(
            "torque_range",
            f"must be symmetric about zero (terms share one sign-magnitude scale): "
            f"give [-{number(torque.magnitude)}, {number(torque.magnitude)}]",
        )
    friction = section.value("coulomb_friction", 0.0)
    pair = friction if isinstance(friction, list) else [friction, friction]
    pose = _joint_pose(section)
    a, alpha, d, theta = (
        _denavit_hartenberg(section, revolute=revolute) if pose is None else (0.0,) * 4
    )
    link = Link(
        type=kind,
        a=a,
        alpha=alpha,
        d=d,
        theta=theta,
        mass=_mass(section),
        center_of_mass=section.triple("center_of_mass"),
        inertia=_inertia(section),
        rotor_inertia=_not_negative(section, "rotor_inertia"),
        gear_ratio=section.number("gear_ratio", 1.0),
        viscous_friction=_not_negative(section, "viscous_friction"),
        coulomb_friction=_friction(section, pair),
        position=(position := section.interval("position_range", single=True)),
        velocity=section.interval("velocity_range", single=True),
        acceleration=section.interval("acceleration_range", single=True),
        torque=torque,
        doubt=section.string("doubt"),
        word_range=_word_range(section, position, revolute=revolute),
        pose=pose,
        axis=_axis(section, "axis", section.triple("axis", Z)) if pose else Z,
        parent=_parent(section),
        word=_word(section),
        torque_limit=_positive(section, "torque_limit"),
        encoder_step=_positive(section, "encoder_step"),
    )
    if problem := word_problem(link.span.word, link.word, wraps=link.span.wraps):
        section.fail("word_zero" if "word_zero" in section.table else "word_code", problem)
    for key, value in (("alpha", link.alpha), ("theta", link.theta)):
        if abs(value) > 2 * math.pi:
            section.warn(key, f"{number(value)} rad is more than a turn: is it in degrees?")
    farthest = max(position.width, position.magnitude)
    if revolute and farthest > MANY_TURNS * TURN:
        turns = f"{short(farthest / TURN, 2)} turns"
        section.warn("position_range", f"{position} rad goes over {turns}: is it in degrees?")
    problem, doubtful = check_inertia(link.inertia)
    if problem:
        section.fail("inertia", problem)
    if doubtful and not link.doubt:
        section.warn("inertia", f"{doubtful}; say why in this joint's 'doubt' to accept it")
    return link


def _inertia(section: Section, default: Triple | None = None) -> Inertia:
    inertia = section.numbers("inertia", (3, 6), default)
    xx, yy, zz, xy, yz, xz = inertia if len(inertia) == 6 else [*inertia, 0.0, 0.0, 0.0]
    return (xx, yy, zz, xy, yz, xz)


def _parent(section: Section) -> int | None:
    """Return the joint that this one hangs on, None where that is the one before it."""
    before = section.joint - 1
    parent = section.value("parent", before)
    if isinstance(parent, bool) or not isinstance(parent, int) or not 0 <= parent <= before:
        section.fail(
            "parent",
            f"must be the number of an earlier joint, 1 to {before}, or 0 for the base, not "
            f"{shown(parent)}"
            if before
            else f"must be 0, the base, for the first joint, not {shown(parent)}",
        )
    return None if parent == before else parent


def _denavit_hartenberg(section: Section, *, revolute: bool) -> tuple[float, float, float, float]:
    return (
        section.number("a"),
        _snapped(section.number("alpha")),
        section.number("d", None if revolute else 0.0),
        _snapped(section.number("theta", 0.0 if revolute else None)),
    )


def _joint_pose(section: Section) -> Pose | None:
    """Return where a joint's frame lies, or None where Denavit and Hartenberg's keys say it."""
    given = next((key for key in POSE_KEYS if key in section.table), None)
    if given is None:
        return None
    for key in DH_KEYS:
        if key in section.table:
            section.fail(
                key, f"given beside {given}: a joint has {listing(DH_KEYS)} or {listing(POSE_KEYS)}"
            )
    return _pose(section)


def _pose(section: Section, prefix: str = "") -> Pose:
    key = f"{prefix}rotation"
    numbers = section.numbers(key, (3, 4), (0.0, 0.0, 0.0))
    if len(numbers) == 3:
        roll, pitch, yaw = numbers
    else:
        x, y, z, turn = numbers
        roll, pitch, yaw = roll_pitch_yaw(about_axis(_axis(section, key, (x, y, z)), turn))
    return Pose(section.triple(f"{prefix}origin"), (roll, pitch, yaw))


def _axis(section: Section, key: str, axis: Triple) -> Triple:
    if not any(axis):
        section.fail(key, "an axis must not be zero: give its direction, such as [0, 0, 1]")
    return unit(axis)


def _word_range(section: Section, position: Interval, *, revolute: bool) -> Interval | None:
    """Return what the file says a position's word spans: two ends, or "exact" for the range."""
    if "word_range" not in section.table:
        return None
    if section.table["word_range"] == "exact":
        return position
    if isinstance(section.table["word_range"], str):
        section.fail("word_range", "must be two numbers that rise, or 'exact' for position_range")
    asked = section.interval("word_range")
    turns = revolute and all_around(position) and part_of(asked) == 0
    if not turns and not asked.holds(position):
        section.fail("word_range", f"{asked} does not hold position_range, {position}")
    return asked


def _word(section: Section) -> WordFormat:
    """Return what else the file says of a position's word: its width, code and place of zero."""
    found: dict[str, Any] = {}
    for key, allowed in (("code", CODE_KINDS), ("zero", ZEROS), ("bits", WIDTHS)):
        value = section.table.get(f"word_{key}")
        if value is None:
            continue
        if isinstance(value, bool | float) or value not in allowed:
            width = allowed is WIDTHS
            choices = f"{WIDTHS[0]} to {WIDTHS[-1]}" if width else listing(map(str, allowed))
            hint = "" if width else suggestion(str(value), map(str, allowed))
            section.fail(f"word_{key}", f"must be {choices}, not {shown(value)}{hint}")
        found[key] = value
    return WordFormat(**found)


def _type(section: Section) -> JointType:
    text = section.string("type", required=True)
    known = next((kind for kind in TYPES if kind == text), None)
    if known is None:
        hint = suggestion(text, TYPES) or f" (allowed: {listing(TYPES)})"
        section.fail("type", f"unknown joint type {shown(text)}{hint}")
    return known


def _mass(section: Section) -> float:
    massless = section.value("massless", default=False)
    if not isinstance(massless, bool):
        section.fail("massless", f"must be true or false, not {shown(massless)}")
    if massless:
        if "mass" in section.table:
            section.fail("mass", "given for a link that is massless = true: keep one of the two")
        return 0.0
    if "mass" not in section.table:
        section.fail("mass", "missing (massless = true for a link whose mass never acts)")
    mass = section.number("mass")
    if mass <= 0:
        section.fail(
            "mass",
            f"must be positive, not {number(mass)} (massless = true for a link whose mass never "
            "acts)",
        )
    if mass < model.LEAST_MASS:
        section.fail("mass", f"must be at least {model.LEAST_MASS:g} kg, not {number(mass)}")
    return mass


def _not_negative(section: Section, key: str) -> float:
    value = section.number(key, 0.0)
    if value < 0:
        section.fail(key, f"must not be negative, not {number(value)}")
    return value


def _positive(section: Section, key: str) -> float:
    """Return a number above zero, 0 where none is given."""
    if key not in section.table:
        return 0.0
    value = section.number(key)
    if value <= 0:
        section.fail(key, f"must be positive, not {number(value)}")
    return value


def _friction(section: Section, pair: list[Any]) -> tuple[float, float]:
    key = "coulomb_friction"
    if len(pair) != 2:
        section.fail(
            key, f"must be one number, or two (moving forwards, backwards), not {shown(pair)}"
        )
    forwards, backwards = (section.one_number(key, item) for item in pair)
    if forwards < 0 or backwards < 0:
        section.fail(key, "must not be negative: give the size in each direction")
    return (forwards, backwards)


def _snapped(value: float) -> float:
    """Put an angle that was printed to four or five digits back on its multiple of pi/2."""
    nearest = round(value / (math.pi / 2))
    return math.pi * nearest / 2 if abs(value - nearest * math.pi / 2) < SNAP else value
