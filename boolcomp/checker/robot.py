"""Robot files as frames and moments, and the functions of a robot as sums of harmonics.

Frames are affine maps of three rows and four columns. The frame of a joint is fixed (`place`) in
the frame of its parent's link. The frame of its own link moves (`motion`) relative to it: it
rotates about `axis` or slides along it. Angles given as fractions of pi are exact; other numbers
are doubles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import acb, arb, ctx, fmpq

from boolcomp.base.errors import DataError, parse_number, parse_toml, shown
from boolcomp.checker.folder import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.checker.problem import Functions

    Number: TypeAlias = "int | float | arb | acb"


# --------------------------------------------------------------------------------------------------
# Sums of harmonics times powers, Σ c · Π exp(i k q) · Π x^p, whose coefficients are balls.
#
# Every variable has an exponent; that of an angle is its harmonic. A key packs all exponents into
# one integer, so that keys add when terms are multiplied. Only real functions occur: every term of
# a harmonic has its conjugate.
# --------------------------------------------------------------------------------------------------

PRECISION = 320  # bits: products of a few doubles are exact, and terms that cancel vanish
DIGIT = 16  # bits of an exponent within a key
MOST_DEGREE = 1 << (DIGIT - 2)  # keeps exponents from overflowing into the next one
MOST_PARTS = 4_000_000  # limit on products of coefficients in a product of two sums


def precise() -> Any:
    return ctx.workprec(PRECISION)


class ClaimedWaveSum:
    """Σ c · Π exp(i k q) · Π x^p; no exponent exceeds `degree`."""

    __slots__ = ("degree", "parts")

    def __init__(self, parts: Mapping[int, acb], degree: int) -> None:
        if degree > MOST_DEGREE:
            raise DataError(f"a product of {degree} factors: too many to expand")
        self.parts, self.degree = parts, degree

    def __add__(self, other: ClaimedWaveSum) -> ClaimedWaveSum:
        less, more = sorted((self.parts, other.parts), key=len)
        total = dict(more)
        for key, c in less.items():
            _add(total, key, c)
        return ClaimedWaveSum(total, max(self.degree, other.degree))

    def __mul__(self, other: ClaimedWaveSum) -> ClaimedWaveSum:
        less, more = sorted((self.parts, other.parts), key=len)
        if len(less) * len(more) > MOST_PARTS:
            raise DataError(f"a product of {len(less)} and {len(more)} waves: too many to expand")
        total: dict[int, acb] = {}
        for key, c in less.items():
            for k, d in more.items():
                _add(total, key + k, c * d)
        return ClaimedWaveSum(total, self.degree + other.degree)

    def times(self, factor: Number) -> ClaimedWaveSum:
        """Multiply by a number."""
        if factor == 0:
            return ClaimedWaveSum({}, 0)
        return ClaimedWaveSum({key: c * factor for key, c in self.parts.items()}, self.degree)

    def __neg__(self) -> ClaimedWaveSum:
        return self.times(-1)

    def __sub__(self, other: ClaimedWaveSum) -> ClaimedWaveSum:
        return self + other.times(-1)


def _add(total: dict[int, acb], key: int, value: acb) -> None:
    if key in total:
        value = total[key] + value
    if value == 0:
        total.pop(key, None)
    else:
        total[key] = value


def number(value: Number) -> ClaimedWaveSum:
    return ClaimedWaveSum({0: acb(value)} if value != 0 else {}, 0)


def total(sums: Iterator[ClaimedWaveSum]) -> ClaimedWaveSum:
    """Add up sums."""
    found = number(0)
    for one in sums:
        found = found + one
    return found


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable and its limits; an `angle` occurs in harmonics."""

    name: str
    angle: bool
    low: float
    high: float


class Space:
    """Sums over variables."""

    def __init__(self, variables: Sequence[Variable]) -> None:
        self.variables = {one.name: (place, one) for place, one in enumerate(variables)}

    def wave(self, name: str, k: int = 1) -> ClaimedWaveSum:
        return ClaimedWaveSum({k << (DIGIT * self._place(name, angle=True)): acb(1)}, abs(k))

    def cosine(self, name: str) -> ClaimedWaveSum:
        return (self.wave(name, 1) + self.wave(name, -1)).times(0.5)

    def sine(self, name: str) -> ClaimedWaveSum:
        return (self.wave(name, -1) - self.wave(name, 1)).times(acb(0, 0.5))

    def value(self, name: str) -> ClaimedWaveSum:
        return ClaimedWaveSum({1 << (DIGIT * self._place(name, angle=False)): acb(1)}, 1)

    def _place(self, name: str, *, angle: bool) -> int:
        if name not in self.variables or self.variables[name][1].angle != angle:
            kind = "no angle" if angle else "an angle"
            raise DataError(f"the input {shown(name)} does not exist, or is {kind}")
        return self.variables[name][0]

    def exponents(self, key: int) -> Iterator[tuple[Variable, int]]:
        """Yield the variables of a key with their exponents, zeros left out."""
        half = 1 << (DIGIT - 1)
        for _, one in self.variables.values():
            k = ((key + half) & (2 * half - 1)) - half
            key = (key - k) >> DIGIT
            if k:
                yield one, k

    def derivative(self, of: ClaimedWaveSum, name: str) -> ClaimedWaveSum:
        """Differentiate a sum by a variable."""
        place, one = self.variables[name]
        found: dict[int, acb] = {}
        for key, c in of.parts.items():
            k = dict(self.exponents(key)).get(one, 0)
            if k:
                found[key if one.angle else key - (1 << (DIGIT * place))] = c * (
                    acb(0, k) if one.angle else k
                )
        return ClaimedWaveSum(found, of.degree)

    def fixed(self, of: ClaimedWaveSum) -> ClaimedWaveSum:
        """Substitute variables that have a single value."""
        found: dict[int, acb] = {}
        for key, c in of.parts.items():
            for one, k in self.exponents(key):
                if one.low == one.high:
                    c *= turned(arb(one.low) * k) if one.angle else arb(one.low) ** k  # noqa: PLW2901
                    key -= k << (DIGIT * self.variables[one.name][0])  # noqa: PLW2901
            _add(found, key, c)
        return ClaimedWaveSum(found, of.degree)

    def maximum(self, of: ClaimedWaveSum) -> arb:
        """Bound the absolute value of a sum."""
        found = arb(0)
        for key, c in of.parts.items():
            size = abs(c)
            for one, k in self.exponents(key):
                if not one.angle:
                    size *= arb(max(abs(one.low), abs(one.high))) ** k
            found += size
        return found


def turned(angle: arb) -> acb:
    return acb(angle.cos(), angle.sin())


# --------------------------------------------------------------------------------------------------
# Robot files.
# --------------------------------------------------------------------------------------------------

Rows: TypeAlias = "list[list[ClaimedWaveSum]]"
NOTHING, ONE = number(0), number(1)
_PI = re.compile(r"(-?)(?:(\d+)\*)?pi(?:/(\d+))?")
ROBOT_KEYS = {
    "name", "title", "source", "doubt", "gravity", "control_rate", "base_origin", "base_rotation",
    "tool_origin", "tool_rotation", "payload", "joint",
}  # fmt: skip
BODY_KEYS = {"mass", "center_of_mass", "inertia"}
JOINT_KEYS = BODY_KEYS | {
    "type", "parent", "a", "alpha", "d", "theta", "origin", "rotation", "axis", "massless",
    "rotor_inertia", "gear_ratio", "viscous_friction", "coulomb_friction", "position_range",
    "velocity_range", "acceleration_range", "torque_range", "word_range", "word_bits", "word_code",
    "word_zero", "torque_limit", "encoder_step", "doubt",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClaimedJoint:
    """A joint and its link; `moments` is Σ m r rᵀ over the link, with r = (x, y, z, 1)."""

    parent: int
    revolute: bool
    place: Rows
    motion: Rows
    axis: list[ClaimedWaveSum]
    moments: Rows
    rotor: arb
    viscous: arb
    dry: tuple[arb, arb]
    speeds: tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClaimedRobot:
    """Joints, parents first (0 is the base), gravity in the base's axes, the base, the tool."""

    joints: tuple[ClaimedJoint, ...]
    gravity: list[ClaimedWaveSum]
    base: Rows
    tool: Rows


def document_of(text: str) -> dict[str, Any]:
    """Return the tables of a robot file; unknown keys are errors."""
    try:
        document = parse_toml(text, "not a robot file")
        joints = document["joint"]
        tables = [(ROBOT_KEYS, document), *((JOINT_KEYS, one) for one in joints)]
        tables += [(BODY_KEYS, document["payload"])] if "payload" in document else []
        unknown = [key for known, one in tables for key in one if key not in known]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"not a robot file ({error!r})") from error
    if unknown or not joints or not isinstance(document.get("name"), str):
        reason = f"unknown key {shown(unknown[0])}" if unknown else "it has no name or no joint"
        raise DataError(f"not a robot file: {reason}")
    return document


def read_robot(text: str, space: Space) -> ClaimedRobot:
    return robot_of(document_of(text), space)


def robot_of(document: dict[str, Any], space: Space) -> ClaimedRobot:
    """Make a robot from the tables of a file."""
    try:
        joints = tuple(_joint(k, one, space) for k, one in enumerate(document["joint"], 1))
        base, gravity = _pose(document, "base_"), [arb(float(g)) for g in document["gravity"]]
        fall = [total(base[k][i].times(gravity[k]) for k in range(3)) for i in range(3)]
        tool = _pose(document, "tool_")
        if "payload" in document:  # a body attached to the tool
            body = seen(tool, _moments({"center_of_mass": (0, 0, 0), **document["payload"]}))
            hold(joints[-1], body)
        return ClaimedRobot(joints, fall, base, tool)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"not a robot file ({error!r})") from error


def ends_of(joint: dict[str, Any], kind: str) -> tuple[float, float]:
    """Return the limits of a joint as doubles, which the program's words divide."""
    low, high = (parse_number(str(end)) for end in joint[f"{kind}_range"])
    if low is None or high is None:
        raise DataError(f"not a robot file: {kind}_range of a joint is no range")
    return low, high


def hold(joint: ClaimedJoint, body: Rows) -> None:
    """Add the moments of a body to the link of a joint."""
    for row, more in zip(joint.moments, body, strict=True):
        row[:] = [a + b for a, b in zip(row, more, strict=True)]


def _joint(k: int, one: dict[str, Any], space: Space) -> ClaimedJoint:
    revolute, parent = {"revolute": True, "prismatic": False}[one["type"]], one.get("parent", k - 1)
    if not 0 <= parent < k:
        raise ValueError(f"parent = {parent}")
    place, after, axis = affine(), affine(), [arb(0), arb(0), arb(1)]
    if {"origin", "rotation", "axis"} & set(one):
        place = _pose(one, "")
        axis = _unit(one.get("axis", (0, 0, 1)))
    else:  # Denavit-Hartenberg: theta about z, d along z, a along x, alpha about x
        a, d = (number(arb(float(x))) for x in (one["a"], one.get("d", 0)))
        across = _about([arb(1), arb(0), arb(0)], *_cis(one["alpha"]))
        after = affine(_about(axis, *_cis(one.get("theta", 0))), [NOTHING, NOTHING, d])
        after = product(after, affine(across, [a, NOTHING, NOTHING]))
    q = f"q{k}"
    if revolute:
        moved = affine(_about(axis, space.cosine(q), space.sine(q)))
    else:
        moved = affine(step=[space.value(q).times(c) for c in axis])
    ratio, friction = abs(arb(float(one.get("gear_ratio", 1)))), one.get("coulomb_friction", 0)
    both = friction if isinstance(friction, list) else [friction] * 2
    gear, dry = ratio**2, [ratio * float(c) for c in both]
    rotor, viscous = (
        arb(float(one.get(key, 0))) * gear for key in ("rotor_inertia", "viscous_friction")
    )
    return ClaimedJoint(
        parent, revolute, place, product(moved, after), [number(c) for c in axis], _moments(one),
        rotor, viscous, (dry[0], dry[1]), ends_of(one, "velocity"),
    )  # fmt: skip


def _moments(one: dict[str, Any]) -> Rows:
    mass = arb(0.0 if one.get("massless") is True else float(one["mass"]))
    centre = [arb(float(c)) for c in one["center_of_mass"]]
    given = one.get("inertia", (0, 0, 0))
    xx, yy, zz, xy, yz, xz = [arb(float(c)) for c in [*given, 0, 0, 0]][:6]
    own = [
        [(yy + zz - xx) / 2, -xy, -xz],
        [-xy, (xx + zz - yy) / 2, -yz],
        [-xz, -yz, (xx + yy - zz) / 2],
    ]
    return spread(mass, [*centre, arb(1)], own)


def spread(mass: arb, r: Sequence[arb], own: Sequence[Sequence[arb]] | None = None) -> Rows:
    return [
        [number(mass * r[i] * r[j] + (own[i][j] if own and max(i, j) < 3 else 0)) for j in range(4)]
        for i in range(4)
    ]


def _pose(table: dict[str, Any], prefix: str) -> Rows:
    """Return the frame at `origin`, rotated by roll, pitch and yaw about fixed axes."""
    given, rows = table.get(f"{prefix}rotation", (0, 0, 0)), affine()
    if len(given) == 4:  # axis and angle
        rows = affine(_about(_unit(given[:3]), *_cis(given[3])))
        given = ()
    for place, angle in enumerate(given):
        axis = [arb(int(place == k)) for k in range(3)]
        rows = product(affine(_about(axis, *_cis(angle))), rows)
    origin = [number(arb(float(c))) for c in table.get(f"{prefix}origin", (0, 0, 0))]
    return affine([row[:3] for row in rows], origin)


def _unit(axis: Sequence[float]) -> list[arb]:
    found = [arb(float(c)) for c in axis]
    length = sum((c * c for c in found), arb(0)).sqrt()
    return [c / length for c in found]


def arb_of(angle: float | str) -> arb:
    """Return an angle or another number of a file as a ball."""
    found = _PI.fullmatch(angle) if isinstance(angle, str) else None
    if found is not None:
        return arb.pi() * int(f"{found[1]}{found[2] or 1}") / int(found[3] or 1)
    value = parse_number(str(angle))
    if value is None:
        raise DataError(f"not a robot file: {shown(angle)} is no angle")
    return arb(value)


def _cis(angle: float | str) -> tuple[ClaimedWaveSum, ClaimedWaveSum]:
    """Return cosine and sine of an angle, exact for right angles."""
    found = _PI.fullmatch(angle) if isinstance(angle, str) else None
    if found is None:
        return number(arb_of(angle).cos()), number(arb_of(angle).sin())
    sine, cosine = arb.sin_cos_pi_fmpq(fmpq(int(f"{found[1]}{found[2] or 1}"), int(found[3] or 1)))
    return number(cosine), number(sine)


def _about(axis: Sequence[arb], cosine: ClaimedWaveSum, sine: ClaimedWaveSum) -> Rows:
    """Return the rotation nnᵀ + (1 - nnᵀ) cos + [n]× sin about an axis n."""
    x, y, z = axis
    across = [[arb(0), -z, y], [z, arb(0), -x], [-y, x, arb(0)]]
    return [
        [
            number(axis[i] * axis[j])
            + cosine.times(int(i == j) - axis[i] * axis[j])
            + sine.times(across[i][j])
            for j in range(3)
        ]
        for i in range(3)
    ]


def affine(turn: Rows | None = None, step: Sequence[ClaimedWaveSum] | None = None) -> Rows:
    """Return the map that rotates by `turn`, then translates by `step`."""
    unturned = [[ONE if i == j else NOTHING for j in range(3)] for i in range(3)]
    rows, steps = turn or unturned, step or [NOTHING] * 3
    return [[*rows[i], steps[i]] for i in range(3)]


def seen(rows: Rows, body: Rows) -> Rows:
    """Transform moments C by a frame A: A C Aᵀ."""
    whole = [*rows, [NOTHING, NOTHING, NOTHING, ONE]]
    half = product(whole, body)
    return product(half, [[whole[j][i] for j in range(4)] for i in range(4)])


def product(one: Rows, other: Rows) -> Rows:
    """Compose two maps; the second may have any number of columns."""
    last = [NOTHING, NOTHING, NOTHING, ONE]
    rows = [*other, last] if len(other) == 3 else other
    return [
        [total(one[i][k] * rows[k][j] for k in range(4)) for j in range(len(rows[0]))]
        for i in range(len(one))
    ]


# --------------------------------------------------------------------------------------------------
# Lagrange's equations, in sums of harmonics.
# --------------------------------------------------------------------------------------------------

Vector = list[ClaimedWaveSum]


class ClaimedArm:
    """The mass matrix and the potential of a robot, and the torques that follow.

        C: moments of everything that a joint carries, in its frame
        P = G C: its momentum Σ m v rᵀ at unit speed of the joint; G is the velocity gradient
        M_ij = axis_i · (angular or linear part of P_j, transformed to joint i)
        U = - g · Σ m r
        τ_i = Σ M_ij q̈_j + Σ (∂M_ij/∂q_k - ½ ∂M_jk/∂q_i) q̇_j q̇_k + ∂U/∂q_i

    A frame A transforms moments by C ← A C Aᵀ.
    """

    def __init__(self, robot: ClaimedRobot, space: Space) -> None:
        self.robot, self.space, self.size = robot, space, len(robot.joints)
        self.mass: dict[tuple[int, int], ClaimedWaveSum] = {}
        self.potential = NOTHING
        bodies = [joint.moments for joint in robot.joints]
        for j in reversed(range(self.size)):
            joint = robot.joints[j]
            body = seen(joint.motion, bodies[j])
            self._momentum(j, body)
            body = seen(joint.place, body)
            if joint.parent:
                bodies[joint.parent - 1] = _added(bodies[joint.parent - 1], body)
            else:
                fall = (robot.gravity[k] * body[k][3] for k in range(3))
                self.potential = self.potential - total(fall)

    def _momentum(self, j: int, body: Rows) -> None:
        """Fill the row of the mass matrix of a joint, given the moments it carries."""
        joint = self.robot.joints[j]
        x, y, z = joint.axis
        if joint.revolute:
            slope = [
                [NOTHING, -z, y, NOTHING],
                [z, NOTHING, -x, NOTHING],
                [-y, x, NOTHING, NOTHING],
            ]
        else:
            slope = [[NOTHING, NOTHING, NOTHING, c] for c in joint.axis]
        p = product(slope, body)
        turn = [p[2][1] - p[1][2], p[0][2] - p[2][0], p[1][0] - p[0][1]]
        push, i = [row[3] for row in p], j
        while True:
            here = self.robot.joints[i]
            self.mass[min(i, j), max(i, j)] = dot(here.axis, turn if here.revolute else push)
            turn, push = _carried(here.place, turn, push)
            if not here.parent:
                return
            i = here.parent - 1
            turn, push = _carried(self.robot.joints[i].motion, turn, push)

    def inertia(self, i: int, j: int) -> ClaimedWaveSum:
        """Return an entry of the mass matrix, rotors included; entries across branches are zero."""
        found = self.mass.get((min(i, j), max(i, j)), NOTHING)
        return found + number(self.robot.joints[i].rotor) if i == j else found

    def slope(self, of: ClaimedWaveSum, i: int) -> ClaimedWaveSum:
        return self.space.derivative(of, f"q{i + 1}")

    def torque(self, i: int, speeds: Vector, accelerations: Vector) -> ClaimedWaveSum:
        """Return the torque of a joint, or the force of a prismatic one."""
        found = self.slope(self.potential, i)
        for j in range(self.size):
            found = found + self.inertia(i, j) * accelerations[j]
            for k in range(self.size):
                pair = speeds[j] * speeds[k]
                if pair.parts:
                    bent = self.slope(self.inertia(j, k), i).times(0.5)
                    found = found + (self.slope(self.inertia(i, j), k) - bent) * pair
        return found


def _added(one: Rows, other: Rows) -> Rows:
    return [[a + b for a, b in zip(*rows, strict=True)] for rows in zip(one, other, strict=True)]


def _carried(rows: Rows, turn: Vector, push: Vector) -> tuple[Vector, Vector]:
    """Transform a moment and a force by a frame."""
    turn, push = ([dot(row[:3], v) for row in rows] for v in (turn, push))
    moved = cross([row[3] for row in rows], push)
    return [one + other for one, other in zip(turn, moved, strict=True)], push


def cross(one: Vector, other: Vector) -> Vector:
    """Return a vector product."""
    (x, y, z), (a, b, c) = one, other
    return [y * c - z * b, z * a - x * c, x * b - y * a]


def dot(one: Vector, other: Vector) -> ClaimedWaveSum:
    return total(a * b for a, b in zip(one, other, strict=True))


# --------------------------------------------------------------------------------------------------
# The functions of a robot: outputs by name, as sums of harmonics.
# --------------------------------------------------------------------------------------------------

FRICTION = "inverse-dynamics-with-friction"
KP, KD = 100, 20  # gains of control laws


def outputs(
    function: str, text: str, space: Functions, payload: float = 0.0
) -> dict[str, ClaimedWaveSum]:
    """Return all outputs of a function of a robot; unsupported ones raise NotCoveredError.

    A payload, a number (kg) or the input `mass`, is a point mass at the tip.
    """
    name, *choices = function.split(":")
    loaded = [one for one in choices if one.startswith("load=")]
    smooth = [one[10:] for one in choices if one.startswith("smoothing=")]
    pushed = [one for one in choices if one.startswith("wrench=")]
    known = len(loaded) + len(smooth) + len(pushed)
    if len(choices) > known or name not in (FRICTION, *FUNCTIONS):
        raise NotCoveredError(f"the checker does not support the function {function}")
    robot = read_robot(text, space)
    tip = [row[3].parts.get(0, arb(0)).real for row in robot.tool]
    for mass in [number(payload), *(space.value("mass") for _ in loaded)]:
        hold(robot.joints[-1], [[x * mass for x in row] for row in spread(arb(1), [*tip, arb(1)])])
    if name == FRICTION:
        given = [float(x) for x in smooth[0].split(",")] if smooth else []
        return _with_friction(robot, space, given * (1 if given[1:] else len(robot.joints)))
    found = FUNCTIONS[name](robot, space)
    return _with_wrench(found, robot, space) if pushed else found


def _with_wrench(
    found: dict[str, ClaimedWaveSum], robot: ClaimedRobot, space: Space
) -> dict[str, ClaimedWaveSum]:
    """Return torques with those of a force and a moment of the tip, in the axes of its frame."""
    columns, tip = _jacobian(robot, space), _frames(robot)[1]
    given = ([space.value(f"{letter}{axis}") for axis in "xyz"] for letter in "fm")
    push = [dot(row[:3], vector) for vector in given for row in tip[:3]]
    return {
        name: one + dot([columns[f"j{row}{k}"] for row in range(1, 7)], push)
        for k, (name, one) in enumerate(found.items(), 1)
    }


def _inputs(robot: ClaimedRobot, space: Space, letters: str) -> Vector:
    """Return the inputs of all joints; without letters they are zero."""
    joints = range(1, len(robot.joints) + 1)
    return [space.value(f"{letters}{k}") if letters else NOTHING for k in joints]


def _torques(
    robot: ClaimedRobot, space: Space, speeds: Vector, rates: Vector
) -> dict[str, ClaimedWaveSum]:
    arm = ClaimedArm(robot, space)
    return {f"tau{i + 1}": arm.torque(i, speeds, rates) for i in range(arm.size)}


def _dynamics(
    robot: ClaimedRobot, space: Space, speeds: str = "qd", rates: str = "qdd"
) -> dict[str, ClaimedWaveSum]:
    return _torques(robot, space, *(_inputs(robot, space, one) for one in (speeds, rates)))


def _with_friction(
    robot: ClaimedRobot, space: Functions, smooth: list[float]
) -> dict[str, ClaimedWaveSum]:
    """Return torques with viscous friction, and dry friction with sign tanh(q̇ / v)."""
    found, speeds = _dynamics(robot, space), _inputs(robot, space, "qd")
    for k, (name, joint, speed) in enumerate(zip(found, robot.joints, speeds, strict=True)):
        found[name] = found[name] + speed.times(joint.viscous)
        if any(joint.dry):
            usual = 0.02 * (max(abs(end) for end in joint.speeds) or 1.0)
            sign = space.apply("tanh", [speed.times(1 / arb(smooth[k] if smooth else usual))])
            mean, half = (joint.dry[0] + joint.dry[1]) / 2, (joint.dry[0] - joint.dry[1]) / 2
            found[name] = found[name] + sign.times(mean) + (sign * sign).times(half)
    return found


def _inertia(robot: ClaimedRobot, space: Space) -> dict[str, ClaimedWaveSum]:
    arm = ClaimedArm(robot, space)
    joints = range(1, arm.size + 1)
    return {f"m{i}{j}": arm.inertia(i - 1, j - 1) for i in joints for j in joints if i <= j}


def _computed_torque(robot: ClaimedRobot, space: Space) -> dict[str, ClaimedWaveSum]:
    given = zip(*(_inputs(robot, space, one) for one in ("qddr", "de", "e")), strict=True)
    rates = [a + b.times(KD) + c.times(KP) for a, b, c in given]
    return _torques(robot, space, _inputs(robot, space, "qd"), rates)


def _pd_gravity(robot: ClaimedRobot, space: Space) -> dict[str, ClaimedWaveSum]:
    gravity = _dynamics(robot, space, "", "")
    errors = (_inputs(robot, space, letters) for letters in ("e", "de"))
    given = zip(gravity.items(), *errors, strict=True)
    return {name: one + e.times(KP) + de.times(KD) for (name, one), e, de in given}


def _slopes(robot: ClaimedRobot, space: Space) -> dict[str, ClaimedWaveSum]:
    found, joints = _dynamics(robot, space), range(1, len(robot.joints) + 1)
    return {
        f"d{name}_d{letters}{j}": space.derivative(one, f"{letters}{j}")
        for letters in ("q", "qd")
        for name, one in found.items()
        for j in joints
    }


def _frames(robot: ClaimedRobot) -> tuple[list[Rows], Rows]:
    """Return the frames of joints before they move, and that of the tip, in the world."""
    befores, afters = [], [robot.base]
    for joint in robot.joints:
        befores.append(product(afters[joint.parent], joint.place))
        afters.append(product(befores[-1], joint.motion))
    return befores, product(afters[-1], robot.tool)


def _tip_pose(robot: ClaimedRobot, _: Space) -> dict[str, ClaimedWaveSum]:
    tip = _frames(robot)[1]
    found = {f"p{axis}": row[3] for axis, row in zip("xyz", tip, strict=True)}
    return found | {f"r{i + 1}{j + 1}": tip[i][j] for i in range(3) for j in range(3)}


def _jacobian(robot: ClaimedRobot, _: Space) -> dict[str, ClaimedWaveSum]:
    befores, tip = _frames(robot)
    found: dict[str, ClaimedWaveSum] = {}
    moving, k = set[int](), len(robot.joints)
    while k:
        moving.add(k)
        k = robot.joints[k - 1].parent
    for k, (joint, frame) in enumerate(zip(robot.joints, befores, strict=True), 1):
        axis = [dot(row[:3], joint.axis) for row in frame]
        arm = [tip[i][3] - frame[i][3] for i in range(3)]
        turning = [*cross(axis, arm), *axis] if joint.revolute else [*axis, *[NOTHING] * 3]
        column = turning if k in moving else [NOTHING] * 6
        found |= {f"j{row}{k}": one for row, one in enumerate(column, 1)}
    return found


FUNCTIONS: dict[str, Callable[[ClaimedRobot, Space], dict[str, ClaimedWaveSum]]] = {
    "inverse-dynamics": _dynamics,
    "gravity": partial(_dynamics, speeds="", rates=""),
    "bias": partial(_dynamics, rates=""),
    "inertia": _inertia,
    "computed-torque": _computed_torque,
    "pd-gravity": _pd_gravity,
    "derivatives": _slopes,
    "forward-kinematics": _tip_pose,
    "jacobian": _jacobian,
}


# --------------------------------------------------------------------------------------------------
# Names, groups, units and ranges of the inputs and outputs of a robot's functions.
#
# They follow from the name of the function and the joints. The arrays of `program(q, qd, qdd)` are
# the groups, in order; their columns are the joints, in order.
# --------------------------------------------------------------------------------------------------

USUAL = "inverse-dynamics"
TORQUES = "tau", "torques"
# Groups of inputs, group of outputs, and the plural name of outputs.
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
    """Groups of inputs with members, units and ranges of inputs, names and units of outputs."""

    name: str
    groups: dict[str, tuple[str, ...]]
    units: dict[str, str]
    ranges: dict[str, tuple[float, float]]
    returned: str
    plural: str
    outputs: dict[str, str]


def signature(function: str, text: str) -> Signature:
    """Return the inputs and outputs of a function of a robot file."""
    kind, *choices = function.split(":")
    known = all(one.startswith(("load=", "smoothing=", "wrench=")) for one in choices)
    if kind not in SIGNATURES or not known:
        raise NotCoveredError(f"the checker does not support the function {function}")
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
    for sizes in (one.removeprefix("wrench=") for one in choices if one.startswith("wrench=")):
        for group, unit, size in zip(
            ("force", "moment"), ("N", "N·m"), sizes.split(","), strict=True
        ):
            groups[group] = tuple(f"{group[0]}{axis}" for axis in "xyz")
            units |= dict.fromkeys(groups[group], unit)
            ranges |= dict.fromkeys(groups[group], (-float(size), float(size)))
    name = str(document["name"]) + ("" if function == USUAL else f"-{function}")
    return Signature(name, groups, units, ranges, returned, plural, _outputs(returned, turns))


def _range(kind: str, letter: str, joint: dict[str, Any]) -> tuple[float, float]:
    """Return the range of an input; errors and commands times a gain span a joint's limits."""
    if letter in RANGES:
        return ends_of(joint, RANGES[letter])
    limit, gain = ("torque", 2.0) if kind == "pd-gravity" else ("acceleration", 1.0)
    gain *= {"e": float(KP), "de": float(KD)}.get(letter, 1.0)
    largest = max(map(abs, ends_of(joint, limit))) / gain
    return -largest, largest


def _outputs(returned: str, turns: list[bool]) -> dict[str, str]:
    """Return the units of all outputs, by name and in order."""
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
