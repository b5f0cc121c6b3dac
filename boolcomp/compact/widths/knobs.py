"""Which widths there are, and which of them the shape of a word depends on (see `realise`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.sketch.sketch import (
    Addend,
    AngleSum,
    Product,
    Sketch,
    SketchNode,
    Source,
    WordSum,
    reads,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

Knob = tuple[int, str]
ABSENT = -1000  # stands for a width that is not there


class Settings(dict[Knob, int]):
    """Widths that are also an array, in an order given: many of them make a key at once."""

    __slots__ = ("array", "order")

    def __init__(self, widths: Mapping[Knob, int], order: Mapping[Knob, int]) -> None:
        super().__init__(widths)
        self.order = order
        self.array: NDArray[np.int16] = np.full(len(order), ABSENT, np.int16)
        for knob, value in widths.items():
            if knob in order:
                self.array[order[knob]] = value

    def __setitem__(self, knob: Knob, value: int) -> None:
        super().__setitem__(knob, value)
        if knob in self.order:
            self.array[self.order[knob]] = value

    def update(self, widths: Mapping[Knob, int]) -> None:  # type: ignore[override]
        """Set some widths."""
        for knob, value in widths.items():
            self[knob] = value

    def copy(self) -> Settings:
        """Return widths that change apart from these."""
        made = Settings.__new__(Settings)
        dict.update(made, self)
        made.order, made.array = self.order, self.array.copy()
        return made


def own_knobs(place: int, node: SketchNode) -> list[Knob]:
    """Return all widths that a node may have."""
    if isinstance(node, WordSum):
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
        elif isinstance(node, WordSum):
            found.append(((place, "cut"),))
        else:
            own = own_knobs(place, node)
            own += [knob for k in reads(node) for knob in found[k]]
            found.append(tuple(dict.fromkeys(own)))
    return found
