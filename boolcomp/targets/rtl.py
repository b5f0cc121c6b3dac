"""A design as words that are made of words: what Verilog and VHDL at the level of words write.

Every signal is made by one operation; all operations are of unsigned words, but for products. A
signal has the numbers of the bits of the word that it stands for: one whose lowest bits never
change begins above them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from boolcomp.targets.wires import wires_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.targets.gates import Pin
    from boolcomp.targets.wires import Wires, Word


@dataclass(frozen=True, slots=True)
class Addend:
    """A word in a sum, its lowest bit in a column, all bits inverted where the flips are odd."""

    word: Word
    column: int
    flips: tuple[Wires, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of addends and a constant, modulo 2^bits."""

    addends: tuple[Addend, ...]
    constant: int
    bits: int


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two words of odd numbers, without its lowest bit, which is 1.

    A word of n bits stands for twice its number, less 2^n - 1: all its digits are 1 or -1.
    """

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class Table:
    """An entry of a table."""

    index: Word
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flipped:
    """A word, all bits inverted where the flips are odd."""

    word: Word
    flips: tuple[Wires, ...]


@dataclass(frozen=True, slots=True)
class Different:
    """The bits in which two words differ."""

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class Test:
    """Whether all bits of a word are 1, or any is."""

    of: Literal["all", "any"]
    word: Word


@dataclass(frozen=True, slots=True)
class Choice:
    """One word where a bit is 1, another where it is 0."""

    condition: Wires
    then: Word
    otherwise: Word


Operation: TypeAlias = Sum | Product | Table | Flipped | Different | Test | Choice


@dataclass(frozen=True, slots=True)
class Signal:
    """A name for what an operation makes; its bits are numbered from `low` on.

    `about` are comments. One that stands for a word of a graph begins with the word: `w7: ...`.
    A part of a sum is `kept`: tools would otherwise melt it into the sum, and take more logic.
    """

    name: str
    low: int
    bits: int
    operation: Operation
    about: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """Bits of a signal in a later stage, under the same numbers."""

    name: str
    source: str
    low: int
    bits: int


@dataclass(frozen=True, slots=True)
class Words:
    """A design's signals in order, its registers, and what outputs are made of.

    All names are those of the stage in which they are read. `idle` are the bits that nothing reads;
    `spans` holds the lowest bit and the bits of every signal and register that has more than one.
    """

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    signals: tuple[Signal, ...]
    registers: tuple[Register, ...]
    drives: tuple[Word, ...]
    idle: tuple[Wires, ...]
    stages: int
    spans: dict[str, tuple[int, int]]

    @property
    def flip_flops(self) -> int:
        """How many bits are held between stages."""
        return sum(register.bits for register in self.registers)


def reads(operation: Operation) -> Iterator[Wires]:
    """Yield all bits of signals that an operation reads."""
    if isinstance(operation, Sum):
        for addend in operation.addends:
            yield from wires_of(addend.word)
            yield from addend.flips
    elif isinstance(operation, Product | Different):
        yield from wires_of(operation.a)
        yield from wires_of(operation.b)
    elif isinstance(operation, Table):
        yield from wires_of(operation.index)
    elif isinstance(operation, Choice):
        yield operation.condition
        yield from wires_of(operation.then)
        yield from wires_of(operation.otherwise)
    else:
        yield from wires_of(operation.word)
        yield from operation.flips if isinstance(operation, Flipped) else ()
