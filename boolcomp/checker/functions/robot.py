"""A robot file as frames and moments: affine maps, three rows and four columns of sums of waves.

A joint's frame lies fixed in that of its parent's link (`place`); its link's frame moves in it
(`motion`): it turns about `axis`, or slides along it. Angles that a file writes as parts of pi are
these; all else are doubles.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import arb, fmpq

from boolcomp.checker.functions.waves import Sum, number, total
from boolcomp.common.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.checker.functions.waves import Space

Rows: TypeAlias = "list[list[Sum]]"
NOTHING, ONE = number(0), number(1)
_PI = re.compile(r"(-?)(?:(\d+)\*)?pi(?:/(\d+))?")


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


def read_robot(text: str, space: Space) -> Robot:
    """Return the robot of a file's text, over its positions q1, q2, …; else a `DataError`."""
    try:
        document = tomllib.loads(text)
        joints = tuple(_joint(k, one, space) for k, one in enumerate(document["joint"], 1))
        base, gravity = _pose(document, "base_"), [arb(float(g)) for g in document["gravity"]]
        fall = [total(base[k][i].times(gravity[k]) for k in range(3)) for i in range(3)]
        return Robot(joints, fall, base, _pose(document, "tool_"))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"origin: it is no robot that can be read ({error!r})") from error


def ranges(text: str) -> dict[str, tuple[float, float]]:
    """Return where the file says that q1, qd1, qdd1 and so on may be."""
    kinds = {"q": "position", "qd": "velocity", "qdd": "acceleration"}
    return {
        f"{letters}{k}": _ends(*one[f"{kind}_range"])
        for k, one in enumerate(tomllib.loads(text)["joint"], 1)
        for letters, kind in kinds.items()
    }


def _ends(low: float | str, high: float | str) -> tuple[float, float]:
    """Return a range as doubles, which the words of a program divide."""
    found = [_PI.fullmatch(str(end)) for end in (low, high)]
    one, other = (
        math.pi * float(f"{part[1]}{part[2] or 1}") / float(part[3] or 1) if part else float(end)
        for part, end in zip(found, (low, high), strict=True)
    )
    return one, other


def _joint(k: int, one: dict[str, Any], space: Space) -> Joint:
    revolute, parent = {"revolute": True, "prismatic": False}[one["type"]], one.get("parent", k - 1)
    if not 0 <= parent < k:
        raise ValueError(f"parent = {parent}")
    place, after, axis = affine(), affine(), [arb(0), arb(0), arb(1)]
    if {"origin", "rotation", "axis"} & set(one):
        place = _pose(one, "")
        axis = [arb(float(c)) for c in one.get("axis", (0, 0, 1))]
        length = sum((c * c for c in axis), arb(0)).sqrt()
        axis = [c / length for c in axis]
    else:  # Denavit and Hartenberg: theta about z, d along it, a along x, alpha about it
        a, d = (number(arb(float(one[key]))) for key in ("a", "d"))
        across = _about([arb(1), arb(0), arb(0)], *_cis(one["alpha"]))
        after = affine(_about(axis, *_cis(one["theta"])), [NOTHING, NOTHING, d])
        after = product(after, affine(across, [a, NOTHING, NOTHING]))
    q = f"q{k}"
    if revolute:
        moved = affine(_about(axis, space.cosine(q), space.sine(q)))
    else:
        moved = affine(step=[space.value(q).times(c) for c in axis])
    ratio = abs(arb(float(one["gear_ratio"])))
    gear, dry = ratio**2, [ratio * float(c) for c in one["coulomb_friction"]]
    return Joint(
        parent, revolute, place, product(moved, after), [number(c) for c in axis], _moments(one),
        arb(float(one["rotor_inertia"])) * gear, arb(float(one["viscous_friction"])) * gear,
        (dry[0], dry[1]), _ends(*one["velocity_range"]),
    )  # fmt: skip


def _moments(one: dict[str, Any]) -> Rows:
    mass, centre = arb(float(one.get("mass", 0))), [arb(float(c)) for c in one["center_of_mass"]]
    xx, yy, zz, xy, yz, xz = [arb(float(c)) for c in [*one["inertia"], 0, 0, 0]][:6]
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
    turns = [_cis(angle) for angle in table.get(f"{prefix}rotation", (0, 0, 0))]
    rows = affine()
    for place, turn in enumerate(turns):
        axis = [arb(int(place == k)) for k in range(3)]
        rows = product(affine(_about(axis, *turn)), rows)
    origin = [number(arb(float(c))) for c in table.get(f"{prefix}origin", (0, 0, 0))]
    return affine([row[:3] for row in rows], origin)


def arb_of(angle: float | str) -> arb:
    """Return an angle or another number of a file."""
    found = _PI.fullmatch(angle) if isinstance(angle, str) else None
    if found is None:
        return arb(float(angle))
    return arb.pi() * int(f"{found[1]}{found[2] or 1}") / int(found[3] or 1)


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


def product(one: Rows, other: Rows) -> Rows:
    """Return one map after another; columns of the other are as many as there are."""
    last = [NOTHING, NOTHING, NOTHING, ONE]
    rows = [*other, last] if len(other) == 3 else other
    return [
        [total(one[i][k] * rows[k][j] for k in range(4)) for j in range(len(rows[0]))]
        for i in range(len(one))
    ]
