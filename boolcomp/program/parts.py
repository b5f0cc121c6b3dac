"""What a program is made of: input words, and the logic of torques that reads them.

In paper mode a torque is a sum of terms, each with a network of its own; in compact mode one
network makes all torques of a load.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from typing import Literal

    Kind = Literal["q", "qd", "qdd"]

ARRAYS: tuple[Kind, ...] = ("q", "qd", "qdd")


@dataclass(frozen=True, slots=True)
class Input:
    """An input word: the position, speed or acceleration of a joint (counted from one)."""

    kind: Kind
    joint: int
    code: Code

    @property
    def name(self) -> str:
        """`q1`, `qd1`, `qdd1`."""
        return f"{self.kind}{self.joint}"

    def __str__(self) -> str:
        return f"{self.name} {self.code}"


@dataclass(frozen=True, slots=True)
class Slice:
    """What a network reads of an input word: its first `bits`, but not the very first `dropped`."""

    input: int
    bits: int
    dropped: int


@dataclass(frozen=True, slots=True)
class TermUse:
    """A term of a torque: its network, the code of its value, and what it reads."""

    name: str
    text: str
    network: int
    code: Code
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Torque:
    """The sum of a torque's terms, rounded to its own code.

    `bound` is the proven error in N·m (N where the joint slides), infinite where none is known.
    """

    joint: int
    code: Code
    guard_bits: int
    terms: tuple[TermUse, ...]
    left_out: tuple[str, ...] = ()
    bound: float = math.inf

    @property
    def step(self) -> float:
        """The least significant bit that all terms share."""
        return self.code.step / (1 << self.guard_bits)


@dataclass(frozen=True, slots=True)
class Whole:
    """One network for all torques, and what it reads.

    Its outputs are, for every joint, the bits of the torque's word, most significant first, and
    whether it saturated.
    """

    network: int
    words: tuple[Slice, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """The torques with one payload (kg) at the tip; `whole` makes them where they have no terms."""

    payload: float
    torques: tuple[Torque, ...]
    whole: Whole | None = None
