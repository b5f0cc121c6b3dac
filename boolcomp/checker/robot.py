"""A robot file as frames and moments: affine maps, three rows and four columns of sums of waves.

A joint's frame lies fixed in that of its parent's link (`place`); its link's frame moves in it
(`motion`): it turns about `axis`, or slides along it. Angles that a file writes as parts of pi are
these; all else are doubles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import arb, fmpq

from boolcomp.base.errors import parse_number, parse_toml
from boolcomp.checker.functions.waves import Sum, number, total
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.checker.functions.waves import Space

Rows: TypeAlias = "list[list[Sum]]"
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
class Joint:
    """A joint and its link; `moments` are Σ m r rᵀ over the link, of r = (x, y, z, 1)."""

    parent: int
    revolute: bool
    place: Rows
    motion: Rows
    axis: list[Sum]
    moments: Rows
    rotor: arb
    viscous: arb
    dry: tuple[arb, arb]
    speeds: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Robot:
    """Joints, parents first (0 is the base), free fall in the base's axes, the base, the tip."""

    joints: tuple[Joint, ...]
    gravity: list[Sum]
    base: Rows
    tool: Rows


def document_of(text: str) -> dict[str, Any]:
    """Return the tables of a robot file; a key that it does not know is refused."""
    try:
        document = parse_toml(text, "it is no robot that can be read")
        joints = document["joint"]
        tables = [(ROBOT_KEYS, document), *((JOINT_KEYS, one) for one in joints)]
        tables += [(BODY_KEYS, document["payload"])] if "payload" in document else []
        unknown = [key for known, one in tables for key in one if key not in known]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(f"it is no robot that can be read ({error!r})") from error
    if unknown or not joints or not isinstance(document.get("name"), str):
        lacks = f"{shown(unknown[0])} is no key of it" if unknown else "it has no name or no joint"
        raise DataError(f"it is no robot that can be read: {lacks}")
    return document


def read_robot(text: str, space: Space) -> Robot:
    """Return the robot of a file's text, over its positions q1, q2, …; else a `DataError`."""
    return robot_of(document_of(text), space)


def robot_of(document: dict[str, Any], space: Space) -> Robot:
    """Return the robot of a file's tables."""
    try:
        joints = tuple(_joint(k, one, space) for k, one in enumerate(document["joint"], 1))
        base, gravity = _pose(document, "base_"), [arb(float(g)) for g in document["gravity"]]
        fall = [total(base[k][i].times(gravity[k]) for k in range(3)) for i in range(3)]
        tool = _pose(document, "tool_")
        if "payload" in document:  # a body held for good, in the tool's frame
            body = seen(tool, _moments({"center_of_mass": (0, 0, 0), **document["payload"]}))
            hold(joints[-1], body)
        return Robot(joints, fall, base, tool)
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"it is no robot that can be read ({error!r})") from error


def ends_of(joint: dict[str, Any], kind: str) -> tuple[float, float]:
    """Return a range of a joint as doubles, which the words of a program divide."""
    low, high = (parse_number(str(end)) for end in joint[f"{kind}_range"])
    if low is None or high is None:
        raise DataError(f"it is no robot that can be read: {kind}_range of a joint is no range")
    return low, high


def hold(joint: Joint, body: Rows) -> None:
    """Add the moments of a body to those of a joint's link."""
    for row, more in zip(joint.moments, body, strict=True):
        row[:] = [a + b for a, b in zip(row, more, strict=True)]


def _joint(k: int, one: dict[str, Any], space: Space) -> Joint:
    revolute, parent = {"revolute": True, "prismatic": False}[one["type"]], one.get("parent", k - 1)
    if not 0 <= parent < k:
        raise ValueError(f"parent = {parent}")
    place, after, axis = affine(), affine(), [arb(0), arb(0), arb(1)]
    if {"origin", "rotation", "axis"} & set(one):
        place = _pose(one, "")
        axis = _unit(one.get("axis", (0, 0, 1)))
    else:  # Denavit and Hartenberg: theta about z, d along it, a along x, alpha about it
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
    return Joint(
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
    """Return the moments of a mass about a point r, and its own about that."""
    return [
        [number(mass * r[i] * r[j] + (own[i][j] if own and max(i, j) < 3 else 0)) for j in range(4)]
        for i in range(4)
    ]


def _pose(table: dict[str, Any], prefix: str) -> Rows:
    """Return where a frame lies: at `origin`, turned by roll, pitch and yaw about fixed axes."""
    given, rows = table.get(f"{prefix}rotation", (0, 0, 0)), affine()
    if len(given) == 4:  # an axis, and by how much it turns about that
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
    """Return an angle or another number of a file."""
    found = _PI.fullmatch(angle) if isinstance(angle, str) else None
    if found is not None:
        return arb.pi() * int(f"{found[1]}{found[2] or 1}") / int(found[3] or 1)
    value = parse_number(str(angle))
    if value is None:
        raise DataError(f"it is no robot that can be read: {shown(angle)} is no angle")
    return arb(value)


def _cis(angle: float | str) -> tuple[Sum, Sum]:
    """Return cosine and sine; right angles are exact."""
    found = _PI.fullmatch(angle) if isinstance(angle, str) else None
    if found is None:
        return number(arb_of(angle).cos()), number(arb_of(angle).sin())
    sine, cosine = arb.sin_cos_pi_fmpq(fmpq(int(f"{found[1]}{found[2] or 1}"), int(found[3] or 1)))
    return number(cosine), number(sine)


def _about(axis: Sequence[arb], cosine: Sum, sine: Sum) -> Rows:
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


def affine(turn: Rows | None = None, step: Sequence[Sum] | None = None) -> Rows:
    """Return a map: first it turns, then it moves by a step."""
    unturned = [[ONE if i == j else NOTHING for j in range(3)] for i in range(3)]
    rows, steps = turn or unturned, step or [NOTHING] * 3
    return [[*rows[i], steps[i]] for i in range(3)]


def seen(rows: Rows, body: Rows) -> Rows:
    """Return moments as seen from the frame in which another one lies so: A C Aᵀ."""
    whole = [*rows, [NOTHING, NOTHING, NOTHING, ONE]]
    half = product(whole, body)
    return product(half, [[whole[j][i] for j in range(4)] for i in range(4)])


def product(one: Rows, other: Rows) -> Rows:
    """Return one map after another; columns of the other are as many as there are."""
    last = [NOTHING, NOTHING, NOTHING, ONE]
    rows = [*other, last] if len(other) == 3 else other
    return [
        [total(one[i][k] * rows[k][j] for k in range(4)) for j in range(len(rows[0]))]
        for i in range(len(one))
    ]
