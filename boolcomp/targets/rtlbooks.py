"""Signals as they are made: one for what is made twice, and an estimate of when it is there.

Time counts in tenths of a table of four inputs with its wires, as on small FPGAs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.targets.rtl import Flipped, Product, Signal, Sum, Table, reads
from boolcomp.targets.wires import Wires, width, wires_of

if TYPE_CHECKING:
    from boolcomp.targets.names import Names
    from boolcomp.targets.rtl import Operation
    from boolcomp.targets.wires import Word

LEVEL = 10  # of one table of four inputs
CARRY = 1  # of a bit of a carry chain


class Books:
    """The signals so far, in order."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.signals: list[Signal] = []
        self.known: dict[tuple[Operation, int], int] = {}
        self.times: dict[str, int] = {}

    def signal(
        self, name: str, bits: int, operation: Operation, about: tuple[str, ...] = (), low: int = 0,
        *, kept: bool = False,
    ) -> Word:  # fmt: skip
        """Return what an operation makes, all its bits; what is known already is not made again."""
        place = self.known.setdefault((operation, low), len(self.signals))
        if place < len(self.signals):
            old = self.signals[place]
            said = (*old.about, *(line for line in about if line not in old.about))
            self.signals[place] = replace(old, about=said, kept=old.kept and not about)
            return (Wires(old.name, low, bits),)
        made = Signal(self.names.new(name, "w"), low, bits, operation, about, kept)
        self.signals.append(made)
        start = max((self.times.get(one.name, 0) for one in reads(operation)), default=0)
        self.times[made.name] = start + delay(operation)
        return (Wires(made.name, low, bits),)

    def bit(self, name: str, operation: Operation) -> Wires:
        """Return what an operation of one bit makes."""
        (made,) = wires_of(self.signal(name, 1, operation))
        return made

    def time(self, word: Word) -> int:
        """Return when all bits of a word are there."""
        return max((self.times.get(one.name, 0) for one in wires_of(word)), default=0)


def delay(operation: Operation) -> int:
    """Return how long an operation takes, about."""
    if isinstance(operation, Sum):
        flips = any(len(addend.flips) > 1 for addend in operation.addends)
        chain = operation.bits * CARRY
        return LEVEL * (_saved(len(operation.addends) + (operation.constant != 0)) + flips) + chain
    if isinstance(operation, Product):
        rows = min(width(operation.a), width(operation.b))
        return LEVEL * (1 + _saved(rows)) + CARRY * (width(operation.a) + width(operation.b))
    if isinstance(operation, Table):
        return LEVEL * max(1, -(-2 * (width(operation.index) - 2) // 3))
    return LEVEL if not isinstance(operation, Flipped) or operation.flips else 0


def _saved(count: int) -> int:
    """Return the levels of full adders that leave two of so many words, and one of the last sum."""
    levels = 1
    while count > 2:
        count = count // 3 * 2 + count % 3
        levels += 1
    return levels
