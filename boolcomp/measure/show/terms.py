"""Paper mode's terms as one looks at them: truth tables as maps, the products that make them.

A saved program has the logic of a term and not its cover; the products are read off the logic
again, where it is AND and OR of literals, as `paper/coverlogic.py` makes it, and compared with what
the logic computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.simulation import chunks, simulate_network
from boolcomp.measure.show.maps import MOST
from boolcomp.measure.show.quine import minimised

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.program.parts import CodedOutput, TermUse
    from boolcomp.program.program import Program

MOST_CUBES = 6000  # of a term: beyond, they are counted nowhere and shown nowhere


@dataclass(frozen=True, slots=True)
class Term:
    """A network of a program, what uses it, and as tables and products where it is small enough.

    `words` are (place among the program's inputs, leading bits, first ones not read).
    """

    network: int
    uses: tuple[str, ...]
    text: str
    words: tuple[tuple[int, int, int], ...]
    inputs: int
    outputs: int
    nodes: int
    tables: NDArray[np.uint8] | None
    cubes: tuple[tuple[str, str], ...] | None


def terms_of(program: Program, outputs: Sequence[CodedOutput]) -> list[Term]:
    """Return every network of a program in paper mode once, in the order of its terms."""
    found: dict[int, list[TermUse]] = {}
    for use in (use for output in outputs for use in output.terms):
        found.setdefault(use.network, []).append(use)
    return [_term(program, network, uses) for network, uses in found.items()]


def _term(program: Program, place: int, uses: Sequence[TermUse]) -> Term:
    network, first = program.networks[place], uses[0]
    tables = tables_of(network) if network.inputs <= MOST else None
    return Term(
        place,
        tuple(use.name for use in uses),
        first.text,
        tuple((word.input, word.bits, word.dropped) for word in first.words),
        network.inputs,
        len(network.outputs),
        len(network.nodes),
        tables,
        None if tables is None else cubes_of(network, tables),
    )


def tables_of(network: Network) -> NDArray[np.uint8]:
    """Return a network's truth tables, (outputs, minterms)."""
    parts = []
    for _, planes in chunks(network.inputs):
        words = np.stack(simulate_network(network, planes)).astype("<u8")
        parts.append(np.unpackbits(words.view(np.uint8), axis=1, bitorder="little"))
    return np.concatenate(parts, axis=1)[:, : 1 << network.inputs]


def cubes_of(network: Network, tables: NDArray[np.uint8]) -> tuple[tuple[str, str], ...] | None:
    """Return the products of a network of AND and OR, as rows of a PLA; None where it is another.

    Together they are compared with its truth tables.
    """
    owners: dict[tuple[int, int], int] = {}
    reader = _Products(network)
    for output, signal in enumerate(network.outputs):
        cubes = reader.of(signal)
        if cubes is None:
            return None
        for cube in cubes:
            owners[cube] = owners.get(cube, 0) | 1 << output
    if len(owners) > MOST_CUBES:
        return None
    rows = tuple(sorted(_term_row(network, *cube, owner) for cube, owner in owners.items()))
    return rows if np.array_equal(_rasterised(rows, network), tables) else None


def _term_row(network: Network, ones: int, zeros: int, owner: int) -> tuple[str, str]:
    letters = (
        "1" if ones >> k & 1 else "0" if zeros >> k & 1 else "-" for k in range(network.inputs)
    )
    return "".join(letters), "".join("01"[owner >> k & 1] for k in range(len(network.outputs)))


def _rasterised(rows: Sequence[tuple[str, str]], network: Network) -> NDArray[np.uint8]:
    shape = (2,) * network.inputs
    made = np.zeros((len(network.outputs), *shape), np.uint8)
    for cube, owner in rows:
        where = tuple(slice(None) if letter == "-" else int(letter) for letter in cube)
        for k, letter in enumerate(owner):
            if letter == "1":
                made[(k, *where)] = 1
    return made.reshape(len(network.outputs), -1)


Cube = tuple[int, int]  # inputs that are 1, and that are 0, a bit each


class _Products:
    """Expands signals of a network into products of literals; remembers what it found."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.known: dict[int, frozenset[Cube] | None] = {}

    def of(self, signal: int) -> frozenset[Cube] | None:
        """Return a signal's products; None where something but an input is inverted."""
        if signal < CONSTANTS:
            return frozenset([(0, 0)] * signal)
        place = signal - CONSTANTS
        if place < self.network.inputs:
            return frozenset([(1 << place, 0)])
        if signal not in self.known:
            for k in self._below(signal):
                self.known[k] = self._expanded(k)
        return self.known[signal]

    def _below(self, signal: int) -> Iterator[int]:
        """Yield a node and all that it needs, in order."""
        first = CONSTANTS + self.network.inputs
        needed, waiting = {signal}, [signal]
        while waiting:
            for k in self.network.nodes[waiting.pop() - first].operands:
                if k >= first and k not in needed and k not in self.known:
                    needed.add(k)
                    waiting.append(k)
        yield from sorted(needed)

    def _expanded(self, signal: int) -> frozenset[Cube] | None:
        first = CONSTANTS + self.network.inputs
        lut, operands = self.network.nodes[signal - first]
        total: set[Cube] = set()
        for product in _sum_of_products(lut, len(operands)):
            made: set[Cube] = {(0, 0)}
            for operand, letter in zip(operands, product, strict=True):
                if letter == "-":
                    continue
                if letter == "0" and operand >= first:
                    return None
                factors = self.of(operand)
                if letter == "0":
                    factors = frozenset([(0, 1 << (operand - CONSTANTS))])
                if factors is None:
                    return None
                made = {(a | c, b | d) for a, b in made for c, d in factors}
                if len(made) > MOST_CUBES:
                    return None
            total |= {(a, b) for a, b in made if not a & b}
        return frozenset(total) if len(total) <= MOST_CUBES else None


@cache
def _sum_of_products(lut: int, operands: int) -> tuple[str, ...]:
    """Return a node's table as products over its operands."""
    rows = [k for k in range(1 << operands) if lut >> (k << (3 - operands)) & 1]
    steps = minimised(operands, rows)
    return tuple(steps.primes[p] for p in steps.cover)
