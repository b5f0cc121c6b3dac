"""Which widths there are, and which of them the shape of a word depends on (see `realise`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.words.sketch import (
    Addend,
    AngleSum,
    Product,
    Sketch,
    SketchNode,
    Source,
    Sum,
    reads,
)

if TYPE_CHECKING:
    Knob = tuple[int, str]


def own_knobs(place: int, node: SketchNode) -> list[Knob]:
    """Return all widths that a node may have."""
    if isinstance(node, Sum):
        named = [f"{letter}{k}" for k, a in enumerate(node.addends) for letter in letters(a)]
        return [(place, name) for name in ("cut", *named)]
    names = ("n",) if isinstance(node, AngleSum) else ("t", "e", "s", "p")
    return [(place, name) for name in names]


def letters(addend: Addend) -> str:
    """Return what the names of an addend's widths begin with."""
    return "kab" if isinstance(addend, Product) else "kd"


def shape_knobs(sketch: Sketch) -> list[tuple[Knob, ...]]:
    """Return, for every node, the widths that say how many bits its word has and what they are."""
    found: list[tuple[Knob, ...]] = []
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, Source):
            found.append(())
        elif isinstance(node, Sum):
            found.append(((place, "cut"),))
        else:
            own = own_knobs(place, node)
            own += [knob for k in reads(node) for knob in found[k]]
            found.append(tuple(dict.fromkeys(own)))
    return found
