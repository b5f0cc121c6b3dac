"""A bound: what no error of an output exceeds, for any input in range."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.proof.bound.enclosure import ONE

if TYPE_CHECKING:
    from boolcomp.proof.bound.enclosure import Enclosure

Grade = Literal["plain", "tables", "tight"]
GRADES: tuple[Grade, ...] = get_args(Grade)
EFFORT = 2000  # of tight bounds: millions of a group's states, or of cells; thousands of boxes
BOXES = 1200  # of inputs, for each of effort
DIGITS = 6  # of a bound as a number, rounded up


def grade_of(name: object) -> Grade:
    """Return the grade of a bound that a user names."""
    for grade in GRADES:
        if name == grade:
            return grade
    raise UsageError(f"proof {shown(name)}{suggestion(name, GRADES)}: one of {listing(GRADES)}")


@dataclass(frozen=True, slots=True)
class Causes:
    """What an error is made of, in steps: each the most that it can be alone.

    `inputs`: a cell stands for all that lies in it. `tables`: entries are whole numbers. `bits`:
    bits and products that are discarded or left out, and constants that are none of theirs.
    `rounding`: an output's word is one of few.
    """

    inputs: Enclosure
    tables: Enclosure
    bits: Enclosure
    rounding: Enclosure

    @property
    def total(self) -> Enclosure:
        """All of them."""
        return self.inputs + self.tables + self.bits + self.rounding

    def __str__(self) -> str:
        names = ("inputs", "tables", "bits", "rounding")
        sizes = (rounded_up(Fraction(getattr(self, name).size, ONE), 3) for name in names)
        return ", ".join(f"{name} {size:g}" for name, size in zip(names, sizes, strict=True))


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of an output: `low` and `high` are of its word less the exact value, in steps.

    Of a tight one `remainder` is what cells that bend may add to the worst of their corners. One
    `of_asked` is of the function that was asked for, whatever the sketch makes of it; its causes
    are not told apart, and all of it counts as that of inputs.
    """

    name: str
    unit: str
    step: float
    low: Fraction
    high: Fraction
    causes: Causes
    grade: Grade = "plain"
    remainder: float = 0.0
    of_asked: bool = False

    @property
    def steps(self) -> float:
        """What no error exceeds, in steps; rounded up."""
        return rounded_up(max(self.high, -self.low))

    @property
    def value(self) -> float:
        """What no error exceeds, in the unit of the output; rounded up."""
        return rounded_up(max(self.high, -self.low) * Fraction(self.step))

    @property
    def rounded(self) -> float:
        """What no error exceeds, in steps, as it is printed."""
        return rounded_up(max(self.high, -self.low), 3)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        value = rounded_up(max(self.high, -self.low) * Fraction(self.step), 3)
        return f"{self.name}: {self.rounded:g} LSB, {value:g}{unit} ({self.causes})"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of all outputs of a graph.

    They hold while none of the words `unproved` leaves its range: those of which enclosures alone
    do not show that they have bits enough. What an output's word cannot say counts as the nearest
    that it can.
    """

    outputs: tuple[Bound, ...]
    unproved: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[float, ...]:
        """What no error exceeds, in steps, for every output."""
        return tuple(one.steps for one in self.outputs)

    @property
    def values(self) -> tuple[float, ...]:
        """What no error exceeds, in the outputs' units."""
        return tuple(one.value for one in self.outputs)

    def __str__(self) -> str:
        lines = [str(one) for one in self.outputs]
        if self.unproved:
            words = ", ".join(f"w{place}" for place in self.unproved)
            lines.append(f"while none of these overflows, which is not proved: {words}")
        return "\n".join(lines) + "\n"


def rounded_up(value: Fraction, digits: int = DIGITS) -> float:
    """Return a number that is no smaller, of a few digits after the point."""
    scaled = value * 10**digits
    return float(Fraction(-(-scaled.numerator // scaled.denominator), 10**digits))
