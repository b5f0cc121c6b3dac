"""The section `terms` of paper mode: what every table stands for, and what was left out.

    tau1 T12 -1.25 1.25 = 4.0 0.0 qdd2^1 | 5.0 0.0 q2*1 qdd2^1
    tau1 left = 0.001 0.0 q3*2

After the output and the term: between what its entries less the term lie, in steps that all terms
share, over whole cells. A part `a b q2*1 qdd2^1` is (a cos φ + b sin φ)·qdd2, with φ = 1·q2. Terms
come in the order of `program.json`, which says what their networks read.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import acb

from boolcomp.checker.functions.waves import number, precise
from boolcomp.checker.origin import function_of
from boolcomp.checker.steps import DoesNotHoldError
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.checker.container import Section
    from boolcomp.checker.functions.waves import Space, Sum

MOST_STEPS = Fraction(1, 64)  # of an output: terms that differ by more are another function
_NUMBER = r"(-?\d{1,9}(?:\.\d{1,20})?)"
_LINE = re.compile(rf"(\w+) (?:(\S+) {_NUMBER} {_NUMBER}|left) = (.*)")
_WAVE, _POWER = re.compile(r"(\w+)\*(-?\d{1,3})"), re.compile(r"(\w+)\^(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Part:
    """(cosine·cos φ + sine·sin φ) Π x^power with exact coefficients; φ = Σ multiple·x."""

    cosine: Fraction
    sine: Fraction
    multiples: Mapping[str, int]
    powers: Mapping[str, int]

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what it never exceeds."""
        found = abs(self.cosine) + abs(self.sine)
        for name, power in self.powers.items():
            found *= sizes[name] ** power
        return found


@dataclass(frozen=True, slots=True)
class Term:
    """A term, and between which numbers its table less the term lies; one `left` out has none."""

    output: str
    name: str
    low: Fraction
    high: Fraction
    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Its inputs."""
        return tuple(sorted({name for p in self.parts for name in (*p.multiples, *p.powers)}))

    def bends(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what its second derivative along an input never exceeds."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (k * k + power * (power - 1) / sizes[name] ** 2)
        return found

    def slope(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what its derivative along an input never exceeds."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (abs(k) + power / sizes[name])
        return found


def read_terms(section: Section) -> tuple[Term, ...]:
    """Read the section; a `DataError` names the line that is wrong."""
    found = []
    for row, line in enumerate(section.lines):
        said = _LINE.fullmatch(line)
        try:
            if said is None:
                raise ValueError(line)  # noqa: TRY301 (one sentence for all that is wrong)
            ends = Fraction(said[3] or 0), Fraction(said[4] or 0)
            parts = tuple(_part(text.split(" ")) for text in said[5].split(" | "))
            found.append(Term(said[1], said[2] or "", *ends, parts))
        except (ValueError, IndexError, OverflowError) as error:
            where = section.where(row)
            raise DataError(f"{where}: {shown(line)} is no line of terms") from error
    return tuple(found)


def _part(words: Sequence[str]) -> Part:
    cosine, sine = (Fraction(float(word)) for word in words[:2])  # no NaN, no infinity
    multiples: dict[str, int] = {}
    powers: dict[str, int] = {}
    for word in words[2:]:
        wave, power = _WAVE.fullmatch(word), _POWER.fullmatch(word)
        match = wave or power
        if match is None or match[1] in multiples or match[1] in powers:
            raise ValueError(word)
        (multiples if wave else powers)[match[1]] = int(match[2])
    return Part(cosine, sine, multiples, powers)


def _sum(part: Part, space: Space) -> Sum:
    """Return a part as a sum of waves."""
    c, s = float(part.cosine), float(part.sine)
    found = number(c)
    if part.multiples:
        found = number(0)
        for sign in (1, -1):
            wave = number(acb(c, -sign * s) / 2)
            for name, k in part.multiples.items():
                wave = wave * space.wave(name, sign * k)
            found = found + wave
    for name, power in part.powers.items():
        for _ in range(power):
            found = found * space.value(name)
    return found


def sum_differences(
    origin: Section, terms: Sequence[Term], steps: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return by how many steps outputs may differ from the sums of their terms."""
    found = {}
    with precise():
        space, asked = function_of(origin)
        for name, step in steps.items():
            if name not in asked:
                raise DoesNotHoldError(f"terms: {name} is no output of what was asked")
            beside = asked[name]
            for term in terms:
                for part in term.parts if term.output == name else ():
                    beside = beside - space.held(_sum(part, space))
            most = float(space.most(beside).upper())
            if not math.isfinite(most) or Fraction(most) > MOST_STEPS * step:
                raise DoesNotHoldError(
                    f"terms: the sum of the terms of {name} is another function: it may differ by "
                    f"{most / float(step):.3g} steps"
                )
            found[name] = Fraction(most) * Fraction(1 + 2**-50) / step
    return found
