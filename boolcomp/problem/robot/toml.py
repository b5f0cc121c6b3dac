"""Robot files, TOML, parsed to checked robots; error messages name file and line."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import (
    LONGEST_NAME,
    DataError,
    listing,
    number,
    parse_number,
    short,
    shown,
    suggestion,
)
from boolcomp.base.toml import TomlTable
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
from boolcomp.problem.word_codes import CODE_KINDS
from boolcomp.problem.words import (
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
    from boolcomp.problem.robot.model import Inertia, JointType, Triple


class RobotTable(TomlTable):
    """A table of a robot file."""

    def number(self, key: str, default: float | None = None) -> float:
        return self.one_number(key, self.value(key, default))

    def one_number(self, key: str, value: Any) -> float:
        """Convert the value of a key, or an item of its list, to a number."""
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
        """Return a list of numbers; its length must be one of `lengths`."""
        value = self.value(key, default)
        if not isinstance(value, list | tuple) or len(value) not in lengths:
            counts = " or ".join(str(length) for length in lengths)
            self.fail(key, f"must be a list of {counts} numbers, not {shown(value)}")
        return [self.one_number(key, item) for item in value]

    def triple(self, key: str, default: Any = None) -> Triple:
        """Return a list of three numbers."""
        x, y, z = self.numbers(key, (3,), default)
        return (x, y, z)

    def interval(self, key: str, *, single: bool = False) -> Interval:
        """Return two numbers that rise, or that may be equal if `single`."""
        low, high = self.numbers(key, (2,))
        if low > high or (low == high and not single):
            self.fail(key, f"must rise, not go from {number(low)} to {number(high)}")
        if low < high and (problem := width_problem(low, high)):
            self.fail(key, problem)
        return Interval(low, high)


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
MANY_TURNS = 4  # no arm has larger angles: they are probably degrees
SNAP = 5e-5  # an alpha printed as 1.5708 is a right angle; otherwise spurious terms appear


def parse_robot(text: str, where: str = "robot") -> Robot:
    """Parse the text of a robot file; `where` names it in messages."""
    if len(text) > model.MOST_BYTES:
        raise DataError(
            f"larger than {model.MOST_BYTES} bytes, the maximum of a robot file", where=where
        )
    top = RobotTable.read(text, where)
    document = top.table
    if "inputs" in document and "joint" not in document:
        raise DataError(
            "a function, not a robot",
            "compile, evaluate, terms, plan, tables and report accept it, if its name ends in "
            ".toml", where=where,
        )  # fmt: skip
    top.check_keys(ROBOT_KEYS)
    name = top.string("name", required=True)
    if not re.fullmatch(_NAME, name):
        most = f"{LONGEST_NAME} at most"
        top.fail("name", f"{shown(name)} may hold letters, digits, '-', '_' and '.' only, {most}")
    joints = document.get("joint")
    if not isinstance(joints, list) or not joints or not all(isinstance(j, dict) for j in joints):
        top.fail("joint", "a robot needs at least one [[joint]] section")
    if len(joints) > model.MOST_JOINTS:
        top.fail(
            "joint", f"{len(joints)} joints are too many",
            f"at most {model.MOST_JOINTS} are allowed",
        )  # fmt: skip
    robot = Robot(
        name=name,
        title=top.string("title"),
        source=top.string("source"),
        doubt=top.string("doubt"),
        gravity=top.triple("gravity"),
        links=tuple(_link(top.inner(f"joint[{k}]", joint), k) for k, joint in enumerate(joints, 1)),
        tool=_pose(top, "tool_") if {"tool_origin", "tool_rotation"} & set(document) else None,
        base=_pose(top, "base_") if {"base_origin", "base_rotation"} & set(document) else None,
        control_rate=_positive(top, "control_rate"),
    )
    return robot if "payload" not in document else _loaded(robot, top)


def _loaded(robot: Robot, top: RobotTable) -> Robot:
    """Return the robot with the file's fixed payload, merged with its last link."""
    section = top.section("payload", PAYLOAD_KEYS)
    mass = section.number("mass")
    if mass <= 0:
        section.fail("mass", f"must be positive, not {number(mass)}")
    body = Body(mass, section.triple("center_of_mass", HERE.origin), _inertia(section, HERE.origin))
    problem, doubtful = check_inertia(body.inertia)
    if problem:
        section.fail("inertia", problem)
    if doubtful and not robot.doubt:
        section.warn("inertia", f"{doubtful}; explain it in the robot's 'doubt' to accept it")
    loaded = with_body(robot, body)
    whole = loaded.links[-1]
    for key, values in (("mass", (whole.mass,)), ("inertia", whole.inertia)):
        size = model.size_problem(key, max(map(abs, values)), revolute=True)
        if size:
            section.fail(key, f"together with the last link's it {size}")
    return loaded


def _link(section: RobotTable, joint: int) -> Link:
    section.check_keys(JOINT_KEYS)
    kind = _type(section)
    revolute = kind == "revolute"
    torque = section.interval("torque_range")
    if torque.low != -torque.high:
        section.fail(
            "torque_range", "must be symmetric about zero (terms share one sign-magnitude scale)",
            f"give [-{number(torque.magnitude)}, {number(torque.magnitude)}]",
        )  # fmt: skip
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
        coulomb_friction=_friction(section),
        position=(position := section.interval("position_range", single=True)),
        velocity=section.interval("velocity_range", single=True),
        acceleration=section.interval("acceleration_range", single=True),
        torque=torque,
        doubt=section.string("doubt"),
        word_range=_word_range(section, position, revolute=revolute),
        pose=pose,
        axis=_axis(section, "axis", section.triple("axis", Z)) if pose else Z,
        parent=_parent(section, joint),
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
        section.warn("inertia", f"{doubtful}; explain it in this joint's 'doubt' to accept it")
    return link


def _inertia(section: RobotTable, default: Triple | None = None) -> Inertia:
    inertia = section.numbers("inertia", (3, 6), default)
    xx, yy, zz, xy, yz, xz = inertia if len(inertia) == 6 else [*inertia, 0.0, 0.0, 0.0]
    return (xx, yy, zz, xy, yz, xz)


def _parent(section: RobotTable, joint: int) -> int | None:
    """Return the number of the joint's parent, None for the joint before it."""
    before = joint - 1
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


def _denavit_hartenberg(
    section: RobotTable, *, revolute: bool
) -> tuple[float, float, float, float]:
    return (
        section.number("a"),
        _snapped(section.number("alpha")),
        section.number("d", None if revolute else 0.0),
        _snapped(section.number("theta", 0.0 if revolute else None)),
    )


def _joint_pose(section: RobotTable) -> Pose | None:
    """Return the pose of a joint's frame, or None if the joint has Denavit-Hartenberg keys."""
    given = next((key for key in POSE_KEYS if key in section.table), None)
    if given is None:
        return None
    for key in DH_KEYS:
        if key in section.table:
            section.fail(
                key, f"given with {given}",
                f"joints have {listing(DH_KEYS)} or {listing(POSE_KEYS)}",
            )  # fmt: skip
    return _pose(section)


def _pose(section: RobotTable, prefix: str = "") -> Pose:
    key = f"{prefix}rotation"
    numbers = section.numbers(key, (3, 4), (0.0, 0.0, 0.0))
    if len(numbers) == 3:
        roll, pitch, yaw = numbers
    else:
        x, y, z, turn = numbers
        roll, pitch, yaw = roll_pitch_yaw(about_axis(_axis(section, key, (x, y, z)), turn))
    return Pose(section.triple(f"{prefix}origin"), (roll, pitch, yaw))


def _axis(section: RobotTable, key: str, axis: Triple) -> Triple:
    if not any(axis):
        section.fail(key, "an axis must not be zero", "give its direction, such as [0, 0, 1]")
    return unit(axis)


def _word_range(section: RobotTable, position: Interval, *, revolute: bool) -> Interval | None:
    """Return the range of a position's word: two numbers, or "exact" for the position's range."""
    if "word_range" not in section.table:
        return None
    if section.table["word_range"] == "exact":
        return position
    if isinstance(section.table["word_range"], str):
        section.fail("word_range", "must be two numbers that rise, or 'exact' for position_range")
    word = section.interval("word_range")
    turns = revolute and all_around(position) and part_of(word) == 0
    if not turns and not word.holds(position):
        section.fail("word_range", f"{word} does not hold position_range, {position}")
    return word


def _word(section: RobotTable) -> WordFormat:
    """Return the width, code and zero of a position's word."""
    found: dict[str, Any] = {}
    for key, allowed in (("code", CODE_KINDS), ("zero", ZEROS), ("bits", WIDTHS)):
        value = section.table.get(f"word_{key}")
        if value is None:
            continue
        if isinstance(value, bool | float) or value not in allowed:
            width = allowed is WIDTHS
            choices = f"{WIDTHS[0]} to {WIDTHS[-1]}" if width else listing(map(str, allowed))
            near = "" if width else suggestion(str(value), map(str, allowed))
            section.fail(f"word_{key}", f"must be {choices}, not {shown(value)}", near)
        found[key] = value
    return WordFormat(**found)


def _type(section: RobotTable) -> JointType:
    text = section.string("type", required=True)
    for kind in TYPES:
        if kind == text:
            return kind
    return section.fail("type", f"unknown joint type {shown(text)}", f"use {listing(TYPES)}")


MASSLESS = "use massless = true for a link whose mass never acts"


def _mass(section: RobotTable) -> float:
    massless = section.value("massless", default=False)
    if not isinstance(massless, bool):
        section.fail("massless", f"must be true or false, not {shown(massless)}")
    if massless:
        if "mass" in section.table:
            section.fail("mass", "given for a link that is massless = true", "keep one of the two")
        return 0.0
    if "mass" not in section.table:
        section.fail("mass", "missing", MASSLESS)
    mass = section.number("mass")
    if mass <= 0:
        section.fail("mass", f"must be positive, not {number(mass)}", MASSLESS)
    if mass < model.LEAST_MASS:
        section.fail("mass", f"must be at least {model.LEAST_MASS:g} kg, not {number(mass)}")
    return mass


def _not_negative(section: RobotTable, key: str) -> float:
    value = section.number(key, 0.0)
    if value < 0:
        section.fail(key, f"must not be negative, not {number(value)}")
    return value


def _positive(section: RobotTable, key: str) -> float:
    """Return a positive number, 0 if it is missing."""
    if key not in section.table:
        return 0.0
    value = section.number(key)
    if value <= 0:
        section.fail(key, f"must be positive, not {number(value)}")
    return value


def _friction(section: RobotTable) -> tuple[float, float]:
    key = "coulomb_friction"
    friction = section.value(key, 0.0)
    pair = friction if isinstance(friction, list) else [friction, friction]
    if len(pair) != 2:
        section.fail(
            key, f"must be one number, or two (moving forwards, backwards), not {shown(pair)}"
        )
    forwards, backwards = (section.one_number(key, item) for item in pair)
    if forwards < 0 or backwards < 0:
        section.fail(key, "must not be negative", "give the size in each direction")
    return (forwards, backwards)


def _snapped(value: float) -> float:
    """Round an angle that was printed to four or five digits to its multiple of pi/2."""
    nearest = round(value / (math.pi / 2))
    return math.pi * nearest / 2 if abs(value - nearest * math.pi / 2) < SNAP else value
