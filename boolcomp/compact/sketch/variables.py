"""The width variables of a sketch: all that a search may choose, as typed values.

Files name them by a place and letters, such as `12 a3`: only this module knows those names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import NamedTuple, TypeAlias

from boolcomp.compact.sketch.sketch import (
    AngleSum,
    Curve,
    Product,
    Sketch,
    SketchNode,
    Source,
    WordSum,
    addend_reads,
    reads,
)

_NAME = re.compile(r"([a-z]+)(\d*)")


class Role(StrEnum):
    """What a width variable sets; the letters are its name in files."""

    ANGLE_BITS = "n"  # bits of an angle sum, where its parts have as many (see `angles`)
    READ = "t"  # bits that a table reads
    EXPONENT = "e"  # of the lowest bit of a table's output
    SPLIT = "s"  # bits split off a bipartite table
    LEAD = "p"  # leading bits that its correction reads
    TIMES = "m"  # of the bits split off those that a slope multiplies
    SLOPES = "sp"  # leading bits that the table of slopes reads
    FINENESS = "sl"  # exponent of a slope's lowest bit, beside that of the table's output
    BEND = "bp"  # of the bits split off those that a table of bends reads; 0: there is none
    BENDS = "bl"  # leading bits that it reads
    CUT = "cut"  # the exponent of a heap's lowest column
    SHIFT = "c"  # what is added to a heap's constant
    ROOM = "r"  # columns of a heap beyond those that samples ask for
    KEEP = "k"  # 0 where the mean of an addend stands for it
    DROP_A = "a"  # digits of a product's first word that are discarded, beyond what it lacks
    DROP_B = "b"  # and of its second one
    DIGITS = "d"  # signed digits of an addend's constant

    @cache
    def of(self, node: int, addend: int | None = None) -> WidthVariable:
        """Return the variable that sets this of a node, or of an addend of it."""
        return WidthVariable(node, self, addend)


class WidthVariable(NamedTuple):
    """One width: of a node of a sketch, or of one of its addends."""

    node: int
    role: Role
    addend: int | None = None

    @property
    def name(self) -> str:
        """Its name beside the node's place."""
        return self.role if self.addend is None else f"{self.role}{self.addend}"

    @property
    def rank(self) -> tuple[int, str]:
        """The order in which files list variables, and in which a search tries equal ones."""
        return self.node, self.name


UNSEEN = (Role.SHIFT, Role.ROOM)  # of which models of costs and noise know nothing
INTERPOLATION = (Role.TIMES, Role.SLOPES, Role.FINENESS, Role.BEND, Role.BENDS)
Widths: TypeAlias = Mapping[WidthVariable, int]


def variable(node: int, name: str) -> WidthVariable:
    """Return the variable of a name; a `ValueError` says that there is none."""
    found = _NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} names no width")
    return WidthVariable(node, Role(found[1]), int(found[2]) if found[2] else None)


def widths_text(widths: Widths) -> dict[str, int]:
    """Return widths as files hold them."""
    return {f"{v.node} {v.name}": widths[v] for v in sorted(widths, key=lambda v: v.rank)}


def widths_of(text: Mapping[str, int]) -> dict[WidthVariable, int]:
    """Undo `widths_text`."""
    split = {key.partition(" "): value for key, value in text.items()}
    return {variable(int(node), name): int(value) for (node, _, name), value in split.items()}


def own_variables(place: int, node: SketchNode) -> list[WidthVariable]:
    """Return all widths that a node may have."""
    if isinstance(node, WordSum):
        found = [v for k in range(len(node.addends)) for v in addend_variables(place, node, k)]
        return [Role.CUT.of(place), *found]
    roles: tuple[Role, ...] = (Role.READ, Role.EXPONENT, Role.SPLIT, Role.LEAD)
    if isinstance(node, AngleSum):
        roles = (Role.ANGLE_BITS,)
    elif isinstance(node, Curve):
        roles += INTERPOLATION
    return [role.of(place) for role in roles]


def addend_variables(place: int, node: WordSum, addend: int) -> list[WidthVariable]:
    """Return the widths that an addend of a sum has."""
    product = isinstance(node.addends[addend], Product)
    roles = (Role.KEEP, Role.DROP_A, Role.DROP_B) if product else (Role.KEEP, Role.DIGITS)
    return [role.of(place, addend) for role in roles]


def shape_variables(sketch: Sketch) -> list[tuple[WidthVariable, ...]]:
    """Return, for every node, the widths that say how many bits its word has and what they are."""
    found: list[tuple[WidthVariable, ...]] = []
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, Source):
            found.append(())
        elif isinstance(node, WordSum):
            found.append((Role.CUT.of(place),))
        else:
            shapes = (v for k in reads(node) for v in found[k])
            found.append(tuple(dict.fromkeys([*own_variables(place, node), *shapes])))
    return found


def is_kept(widths: Widths, place: int, addend: int) -> bool:
    """Tell whether an addend of a sum is computed (otherwise its mean stands for it)."""
    return widths.get(Role.KEEP.of(place, addend), 1) > 0


def live_nodes(sketch: Sketch, widths: Widths) -> frozenset[int]:
    """Return the nodes that the outputs need, by way of addends that are kept."""
    live = set(sketch.outputs)
    for place in reversed(range(len(sketch.nodes))):
        if place in live:
            live.update(_kept_reads(sketch.nodes[place], place, widths))
    return frozenset(live)


def _kept_reads(node: SketchNode, place: int, widths: Widths) -> Iterable[int]:
    if not isinstance(node, WordSum):
        return reads(node)
    kept = (a for k, a in enumerate(node.addends) if is_kept(widths, place, k))
    return (k for addend in kept for k in addend_reads(addend))


def operands(sketch: Sketch) -> frozenset[int]:
    """Return the nodes that products, tables or exact angles read: words that lie about zero."""
    found: set[int] = set()
    for node in sketch.nodes:
        if isinstance(node, WordSum):
            products = [a for a in node.addends if isinstance(a, Product)]
            found.update(k for addend in products for k in addend_reads(addend))
        elif not isinstance(node, AngleSum) or node.exact:
            found.update(reads(node))
    return frozenset(found)
