"""Terms without the waves that matter least: of very many most are lost in rounding anyway."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.terms.extract import number_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.interval import Interval
    from boolcomp.terms.extract import Terms
    from boolcomp.terms.term import Term
    from boolcomp.terms.terms import Wave

SHARE = 0.03  # of the mean square that is allowed: what all that is left out may make


def without_small_waves(terms: Terms, allowed: Sequence[float], steps: Sequence[float]) -> Terms:
    """Return terms without their smallest waves, while what they make is little of what is allowed.

    `allowed` are mean squares in steps. A wave counts as much as it has on average over whole
    turns and over the ranges of its other inputs, and waves as if they were independent.
    """
    outputs = []
    for output, parts, square, step in zip(
        terms.problem.outputs, terms.outputs, allowed, steps, strict=True
    ):
        sizes = sorted(
            (_mean_square(terms, term, wave) / step**2, k, j)
            for k, term in enumerate(parts)
            for j, wave in enumerate(term.waves())
        )
        room, dropped = SHARE * square, set()
        for size, k, j in sizes:
            room -= size
            if room < 0:
                break
            dropped.add((k, j))
        kept = [
            term.part([wave for j, wave in enumerate(term.waves()) if (k, j) not in dropped])
            for k, term in enumerate(parts)
        ]
        outputs.append(number_terms(output.stem, [term for term in kept if term.coefficient]))
    return replace(terms, outputs=tuple(outputs))


def _mean_square(terms: Terms, term: Term, wave: Wave) -> float:
    """Return the mean square of a wave times the factor of its term."""
    powers: dict[str, int] = dict(wave.powers)
    for one in term.factor:
        powers[one.name] = powers.get(one.name, 0) + 1
    found = wave.amplitude**2 / (2 if wave.multiples else 1)
    return found * math.prod(
        _mean_power(terms.problem.input(name).range, 2 * power) for name, power in powers.items()
    )


def _mean_power(where: Interval, power: int) -> float:
    """Return the mean of x^power over an interval."""
    low, high, above = where.low, where.high, power + 1
    return float((high**above - low**above) / (above * (high - low)))
