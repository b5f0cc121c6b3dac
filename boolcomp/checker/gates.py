"""Logic as the checker sees it: nodes of three inputs, and their values over any cut.

A literal is twice a signal, plus one where it is inverted. Signal 0 is the constant 0; then come
the inputs, then the nodes, each after those that it reads. Bit 4a + 2b + c of a node's table is
its value at a, b, c.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FALSE, TRUE = 0, 1
XOR3, MAJ3, MUX, AND3 = 0x96, 0xE8, 0xCA, 0x80
_MONOMIALS = (0b000, 0b001, 0b010, 0b011, 0b100, 0b101, 0b110, 0b111)  # of a, b, c


class Nodes:
    """Nodes that grow; `equal` has for every signal the literal that it is known to be."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.tables: list[int] = [0] * (inputs + 1)
        self.operands: list[tuple[int, ...]] = [()] * (inputs + 1)
        self.equal: list[int] = [2 * k for k in range(inputs + 1)]

    def node(self, table: int, a: int, b: int, c: int) -> int:
        """Add a node; return its literal."""
        self.tables.append(table)
        self.operands.append((a, b, c))
        self.equal.append(2 * len(self.equal))
        return self.equal[-1]

    def xor(self, literals: Sequence[int]) -> int:
        """Return the literal of a parity, as nodes of three inputs; constants take none."""
        odd = sum(one == TRUE for one in literals) & 1
        waiting = [one for one in literals if one > TRUE]
        while len(waiting) > 1:
            three = [*waiting[:3], FALSE][:3]
            waiting = [*waiting[3:], self.node(XOR3, *three)]
        return (waiting[0] if waiting else FALSE) ^ odd

    def mux(self, chooser: int, one: int, zero: int) -> int:
        """Return one where the chooser is 1, else zero."""
        if one == zero:
            return one
        if one ^ zero == 1 and zero <= TRUE:
            return chooser ^ zero
        return self.node(MUX, chooser, one, zero)

    def known(self, literal: int) -> int:
        """Return the literal that a literal is known to be."""
        seen = literal
        while self.equal[seen >> 1] != seen & ~1:
            seen = self.equal[seen >> 1] ^ (seen & 1)
        return seen

    def values(self, literals: Sequence[int], cut: dict[int, int], ones: int) -> list[int]:
        """Return the planes of literals, given those of the signals of a cut.

        A `KeyError` names a signal that is neither in the cut nor made of what is.
        """
        found = {0: 0, **cut}
        for literal in literals:
            for signal in self._below(literal >> 1, found):
                a, b, c = (self._plane(one, found, ones) for one in self.operands[signal])
                found[signal] = _apply(self.tables[signal], a, b, c, ones)
        return [self._plane(one, found, ones) for one in literals]

    def _plane(self, literal: int, found: dict[int, int], ones: int) -> int:
        known = literal if literal >> 1 in found else self.known(literal)
        return found[known >> 1] ^ (ones if known & 1 else 0)

    def _below(self, signal: int, found: dict[int, int]) -> Iterator[int]:
        """Yield the signals that a signal needs, each after what it reads."""
        waiting = [signal]
        while waiting:
            signal = waiting[-1]
            if signal in found:
                waiting.pop()
                continue
            if signal <= self.inputs:
                raise KeyError(signal)
            needed = [self.known(one) >> 1 for one in self.operands[signal]]
            missing = [one for one in needed if one not in found]
            if missing:
                waiting += missing
            else:
                waiting.pop()
                yield signal


def _apply(table: int, a: int, b: int, c: int, ones: int) -> int:
    """Return a node's plane from those of its operands, by its polynomial over two elements."""
    found = 0
    for monomial in _polynomial(table):
        term = ones
        if monomial & 4:
            term &= a
        if monomial & 2:
            term &= b
        if monomial & 1:
            term &= c
        found ^= term
    return found


@cache
def _polynomial(table: int) -> tuple[int, ...]:
    """Return the monomials whose sum modulo 2 is a table: m has those that lie within it."""
    return tuple(
        m for m in _MONOMIALS if sum(table >> row & 1 for row in _MONOMIALS if row & m == row) & 1
    )
