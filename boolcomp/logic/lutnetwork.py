"""Networks of look-up tables with up to six inputs, as in FPGAs: immutable, with one traversal.

Signals are numbered as in `network`. A table of at most three operands is an 8-bit number as in
`network`; one of n > 3 operands has 2^n bits. Bit r is the value if the operands, the first one
most significant, are the number r. No table reads a constant or ignores an operand.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from boolcomp.base.errors import DataError
from boolcomp.logic import network as luts
from boolcomp.logic.formats import numbered, read_names
from boolcomp.logic.network import (
    CONSTANTS,
    MUX,
    Builder,
    CopyAlgebra,
    DepthAlgebra,
    Network,
    Node,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.formats import BlifNames
    from boolcomp.logic.network import NodeAlgebra


Value = TypeVar("Value")
MOST_INPUTS = 6


@dataclass(frozen=True, slots=True, repr=False)
class LutNetwork:
    """Tables in topological order, and the signals that are the outputs."""

    inputs: int
    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]

    def __post_init__(self) -> None:
        first = CONSTANTS + self.inputs
        for signal, (lut, operands) in enumerate(self.nodes, first):
            if not 1 <= len(operands) <= MOST_INPUTS or len(set(operands)) < len(operands):
                raise ValueError(f"table {signal - first} reads {operands}")
            if min(operands) < CONSTANTS or max(operands) >= signal:
                raise ValueError(f"table {signal - first} reads constants or later tables")
            if support(lut, len(operands)) != tuple(range(len(operands))):
                raise ValueError(f"table {signal - first}: 0x{lut:X} is not of its operands")
        if not all(0 <= signal < first + len(self.nodes) for signal in self.outputs):
            raise ValueError("an output is no signal of the network")

    def fold(self, algebra: NodeAlgebra[Value], inputs: Sequence[Value]) -> tuple[Value, ...]:
        """Return the outputs' values, computed table by table in order."""
        if len(inputs) != self.inputs:
            raise ValueError(f"{len(inputs)} values for {self.inputs} inputs")
        values = [algebra.constant(0), algebra.constant(1), *inputs]
        for lut, operands in self.nodes:
            values.append(algebra.node(lut, tuple(values[k] for k in operands)))
        return tuple(values[k] for k in self.outputs)

    @property
    def depth(self) -> int:
        return max(self.fold(DepthAlgebra(), [0] * self.inputs), default=0)

    def network(self) -> Network:
        """Return the network of LUT3 nodes with the same functions."""
        builder = Builder(self.inputs)
        literals = [builder.input(k) for k in range(self.inputs)]
        return builder.build(self.fold(_Expand(builder), literals))

    def __repr__(self) -> str:
        return (
            f"LutNetwork({self.inputs} inputs, {len(self.outputs)} outputs, "
            f"{len(self.nodes)} tables)"
        )


Logic = Network | LutNetwork


def width(operands: int) -> int:
    return max(8, 1 << operands)


def row(operands: int, place: int) -> int:
    """Return the table of one of the operands."""
    if operands <= len(luts.LETTERS):
        return luts.LETTERS[place]
    block = 1 << (operands - 1 - place)
    return sum(((1 << block) - 1) << k for k in range(block, 1 << operands, 2 * block))


def entries(lut: int, operands: int) -> list[int]:
    """Return the values of a table, first that for operands that are all 0."""
    apart = max(0, 3 - operands)
    return [lut >> (k << apart) & 1 for k in range(1 << operands)]


@cache
def cofactors(lut: int, operands: int, place: int) -> tuple[int, int]:
    """Return the tables with one operand fixed at 0 and at 1, still over all operands."""
    high = row(operands, place)
    shift = (1 << (max(operands, 3) - 1)) >> place
    low, one = lut & ~high, lut & high
    return low | low << shift, one | one >> shift


@cache
def support(lut: int, operands: int) -> tuple[int, ...]:
    return tuple(
        place for place in range(max(operands, 3)) if len(set(cofactors(lut, operands, place))) == 2
    )


@cache
def narrowed(lut: int, operands: int, places: tuple[int, ...]) -> int:
    """Return a table over some of its operands, which include its support."""
    kept = len(places)
    found = 0
    for point in range(1 << kept):
        place = sum(
            1 << (operands - 1 - place)
            for k, place in enumerate(places)
            if point >> (kept - 1 - k) & 1
        )
        if lut >> (place << max(0, 3 - operands)) & 1:
            found |= ((1 << (1 << max(0, 3 - kept))) - 1) << (point << max(0, 3 - kept))
    return found


class _Expand(CopyAlgebra):
    """The algebra that decomposes tables by multiplexers down to three operands."""

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        count = len(operands)
        places = support(lut, count)
        if len(places) < count:
            if not places:
                return 2 * (lut & 1)
            return self.node(narrowed(lut, count, places), tuple(operands[k] for k in places))
        if count <= 3:
            return self.builder.node(lut, *operands)
        rest = tuple(range(1, count))
        zero, one = (
            self.node(narrowed(half, count, rest), operands[1:])
            for half in cofactors(lut, count, 0)
        )
        return self.builder.node(MUX, operands[0], one, zero)


def parse_luts(text: str, where: str = "BLIF") -> LutNetwork:
    """Read BLIF with tables of up to six inputs; constants, wires and unused operands vanish."""
    _, inputs, outputs, names = read_names(text, where, MOST_INPUTS)

    def node_of(found: BlifNames, operands: list[int]) -> Node | int:
        lut = _table(found.rows, len(operands)) if found.rows else found.lut
        return simplified(lut, operands)

    nodes, ends = numbered(inputs, outputs, names, where, node_of)
    try:
        return LutNetwork(len(inputs), nodes, ends)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


def simplified(lut: int, operands: list[int]) -> Node | int:
    """Return a table without constant, equal and unused operands, or the signal it equals."""
    count = len(operands)
    for place, signal in enumerate(operands):
        if signal < CONSTANTS:
            lut = cofactors(lut, count, place)[signal]
        elif signal in operands[:place]:
            twin = row(count, operands.index(signal))
            zero, one = cofactors(lut, count, place)
            lut = zero & ~twin | one & twin
    places = support(lut, count)
    if not places:
        return lut & 1
    lut = narrowed(lut, count, places)
    kept = tuple(operands[k] for k in places)
    if len(kept) == 1 and lut == row(1, 0):
        return kept[0]
    return Node(lut, kept)


def _table(rows: tuple[str, ...], operands: int) -> int:
    """Return the table of the rows of an ON set or OFF set of more than three operands."""
    whole = (1 << (1 << operands)) - 1
    found = 0
    for text in rows:
        cube = whole
        for place, letter in enumerate(text.partition(" ")[0]):
            high = row(operands, place)
            if letter != "-":
                cube &= high if letter == "1" else ~high & whole
        found |= cube
    return ~found & whole if rows and rows[0].endswith("0") else found
