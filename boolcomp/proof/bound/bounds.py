"""Bounds of the errors of outputs: their grades, their causes, and their text."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

from boolcomp.base.errors import unknown
from boolcomp.proof.bound.balls import ONE, Enclosure


class NotPlainError(Exception):
    """A bound of some kind does not apply to an output."""


Grade = Literal["plain", "tables", "tight"]
GRADES: tuple[Grade, ...] = get_args(Grade)
EFFORT = 2000  # of tight bounds: millions of states of a group or of cells; thousands of boxes
BOXES = 1200  # boxes of inputs per unit of effort
DIGITS = 6  # decimals of a bound as a number, rounded up


def grade_of(name: object) -> Grade:
    """Return the grade that a user names."""
    for grade in GRADES:
        if name == grade:
            return grade
    raise unknown("proof", name, GRADES)


@dataclass(frozen=True, slots=True)
class Causes:
    """The causes of an error, in steps, each with its limits.

    `inputs`: a cell represents all its values. `tables`: entries are integers. `bits`: discarded
    bits, products left out, and rounded constants. `rounding`: an output's word has few bits.
    """

    inputs: Enclosure
    tables: Enclosure
    bits: Enclosure
    rounding: Enclosure

    @property
    def total(self) -> Enclosure:
        return self.inputs + self.tables + self.bits + self.rounding

    def __str__(self) -> str:
        names = ("inputs", "tables", "bits", "rounding")
        sizes = (rounded_up(Fraction(getattr(self, name).size, ONE), 3) for name in names)
        return ", ".join(f"{name} {size:g}" for name, size in zip(names, sizes, strict=True))


@dataclass(frozen=True, slots=True)
class Bound:
    """The bound of an output: limits of its word minus the exact value, in steps.

    `remainder` is the part of a tight bound that curvature within cells adds to their corners. A
    bound `of_specification` applies to the specified function instead of the sketch; its causes are
    not distinguished, and all of it is attributed to inputs.
    """

    name: str
    unit: str
    step: float
    low: Fraction
    high: Fraction
    causes: Causes
    grade: Grade = "plain"
    remainder: float = 0.0
    of_specification: bool = False

    @property
    def steps(self) -> float:
        return rounded_up(max(self.high, -self.low))

    @property
    def value(self) -> float:
        return rounded_up(max(self.high, -self.low) * Fraction(self.step))

    @property
    def rounded(self) -> float:
        return rounded_up(max(self.high, -self.low), 3)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        value = rounded_up(max(self.high, -self.low) * Fraction(self.step), 3)
        return f"{self.name}: {self.rounded:g} LSB, {value:g}{unit} ({self.causes})"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of all outputs of a graph.

    They hold unless a word overflows that is listed in `unproved`, because enclosures do not show
    that it is wide enough. Exact values beyond the range of an output's word are clamped to it.
    """

    outputs: tuple[Bound, ...]
    unproved: tuple[int, ...] = ()

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(one.steps for one in self.outputs)

    @property
    def values(self) -> tuple[float, ...]:
        return tuple(one.value for one in self.outputs)

    def __str__(self) -> str:
        lines = [str(one) for one in self.outputs]
        if self.unproved:
            words = ", ".join(f"w{place}" for place in self.unproved)
            lines.append(f"unless one of these words overflows, which is not excluded: {words}")
        return "\n".join(lines) + "\n"


def rounded_up(value: Fraction, digits: int = DIGITS) -> float:
    """Round a number up to a few decimals."""
    scaled = value * 10**digits
    return float(Fraction(-(-scaled.numerator // scaled.denominator), 10**digits))
