"""Which nodes of a graph stand for which node of its sketch, and whose the parts of heaps are.

The order of `realise` says so: it is gone through again, with nothing but the number of tables
and of signed digits. What is found is checked against the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.graph.layout import Format, factor_grids, linear_rows, product_grid
from boolcomp.compact.sketch.sketch import AngleSum, Linear, Source, WordSum
from boolcomp.compact.sketch.variables import Role, is_kept, live_nodes, operands
from boolcomp.compact.tables import Interpolation, split_of
from boolcomp.words.graph import Bits, Heap, InputWord, Lookup, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.compact.sketch.sketch import Product, Sketch, Table
    from boolcomp.compact.sketch.variables import Widths
    from boolcomp.words.graph import HeapPart, WordGraph


@dataclass(frozen=True, slots=True)
class Place:
    """The words that stand for a node of a sketch: those that add up, and two that are multiplied.

    Of a heap `owners` says of every part to which addend it belongs.
    """

    words: tuple[int, ...] = ()
    product: tuple[int, int] | None = None
    owners: tuple[int, ...] = ()


def realised_places(sketch: Sketch, widths: Widths, graph: WordGraph) -> tuple[Place, ...]:
    """Return where every node of a sketch stands in its graph; a `ValueError` where it does not."""
    walk = _Walk(sketch, widths, graph)
    live = live_nodes(sketch, widths)
    inputs = {node.name: place for place, node in enumerate(graph.nodes[: len(graph.inputs)])
              if isinstance(node, InputWord)}  # fmt: skip
    walk.next = len(inputs)
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, Source):
            found = Place((inputs[node.name],) if node.name in inputs else ())
        elif place not in live:
            found = Place()
        elif isinstance(node, AngleSum):
            found = Place((walk.taken(),))
        elif isinstance(node, WordSum):
            found = walk.heap(place, node)
        else:
            found = walk.table(place, node)
        walk.places.append(found)
    if walk.next != len(graph.nodes):
        raise ValueError("the graph has other nodes than its sketch and widths say")
    return tuple(walk.places)


class _Walk:
    """Goes through a sketch as `realise` does; `next` is the next node of the graph."""

    def __init__(self, sketch: Sketch, widths: Widths, graph: WordGraph) -> None:
        self.sketch, self.widths, self.graph = sketch, widths, graph
        self.operands = operands(sketch)
        self.places: list[Place] = []
        self.next = 0

    def taken(self) -> int:
        self.next += 1
        return self.next - 1

    def table(self, place: int, node: Table) -> Place:
        (source,) = self.places[node.source].words
        split = split_of(self.widths, place, node, self.operands)
        read = min(self.widths[Role.READ.of(place)], self.graph.nodes[source].bits)
        first = self.taken()
        if split is None or read <= 1:
            return Place((first,))
        if not isinstance(split, Interpolation):
            return Place((first, self.taken()))
        if node.angle and self._is_pair(first, split):  # only angles have guarded words
            return Place((first, self.taken()))
        how = split.within(read)
        count = (how.times < how.low) + (how.bend > 0)
        words = (first, *(self.taken() for _ in range(count)))
        return Place(words, (self.taken(), self.taken()) if how.times else None)

    def _is_pair(self, first: int, split: Interpolation) -> bool:
        """Tell whether an interpolation became a bipartite pair, as it does of guarded words."""
        second = self.graph.nodes[first + 1] if first + 1 < len(self.graph.nodes) else None
        node = self.graph.nodes[first]
        pair = isinstance(second, Lookup) and isinstance(node, Lookup)
        return pair and bool(split.times or split.bend) and self._whole(first)

    def _whole(self, first: int) -> bool:
        """Tell whether the second of two tables reads its word's bits one and all."""
        first_node, second = self.graph.nodes[first], self.graph.nodes[first + 1]
        if not isinstance(first_node, Lookup) or not isinstance(second, Lookup):
            return False
        return not second.mask and second.read > first_node.read

    def heap(self, place: int, node: WordSum) -> Place:
        owned = [
            (k, part)
            for k, addend in enumerate(node.addends)
            if is_kept(self.widths, place, k)
            for part in (
                self._linear(place, k, addend)
                if isinstance(addend, Linear)
                else self._product(place, k, addend)
            )
        ]
        own = self.taken()
        heap = self.graph.nodes[own]
        if not isinstance(heap, Heap):
            raise ValueError(f"word {own} is no heap")  # noqa: TRY004 (a graph of something else)
        if len(owned) == len(heap.parts) + 1:  # it was one bit too many (see `realise`)
            last = max(
                k for k, (_, part) in enumerate(owned) if isinstance(part, Bits) and not part.column
            )
            del owned[last]
        same = [_same(part, there) for (_, part), there in zip(owned, heap.parts, strict=True)]
        if not all(same):
            raise ValueError(f"heap {own} has other parts than its sketch and widths say")
        return Place((own,), None, tuple(k for k, _ in owned))

    def _format(self, place: int) -> Format:
        return Format(self.graph.scales[place].lsb, self.graph.nodes[place].bits)

    def _linear(self, place: int, k: int, addend: Linear) -> Iterator[HeapPart]:
        read = self.places[addend.node]
        words = [self._format(word) for word in read.words]
        for i, digit, row in linear_rows(self.widths, place, k, addend, words):
            if row.bits:
                yield Bits(read.words[i], row.drop, row.column, digit < 0)
        if read.product is not None:
            a, b = read.product
            formats = self._format(a), self._format(b)
            for digit, grid in factor_grids(self.widths, place, k, addend, *formats):
                if grid.top >= 0:
                    yield PartialProducts(a, 0, b, 0, grid.column, digit < 0)

    def _product(self, place: int, k: int, addend: Product) -> Iterator[HeapPart]:
        (a,), (b,) = self.places[addend.a].words, self.places[addend.b].words
        formats = self._format(a), self._format(b)
        grid = product_grid(self.widths, place, k, addend, *formats)
        if grid.top >= 0:
            negative = addend.factor < 0
            yield PartialProducts(a, grid.drop_a, b, grid.drop_b, grid.column, negative)


def _same(made: HeapPart, there: HeapPart) -> bool:
    """Tell whether a part is that of the graph, but for bits that were dropped later."""
    if isinstance(made, Bits):
        return isinstance(there, Bits) and (made.node, made.negative) == (
            there.node,
            there.negative,
        )
    return isinstance(there, PartialProducts) and (made.a, made.b, made.negative) == (
        there.a, there.b, there.negative,
    )  # fmt: skip
