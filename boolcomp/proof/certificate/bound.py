"""Writes the section `bound`: what was proved of every output (see `checker.bound`)."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.flat import Flattener, components
from boolcomp.proof.bound.meaning import GivenWord, Total
from boolcomp.proof.bound.plain import Forward

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known

BOUND_DIGITS = 15  # of a bound, rounded outward


def bound_section(known: Known) -> str:
    """Return the lines of a section; none where nothing is proved."""
    bounds = known.built.bounds
    if bounds is None:
        return ""
    lines = []
    for column, one in enumerate(bounds.outputs):
        low, high = _below(one.low), -_below(-one.high)
        ends = f"{one.name} {one.grade} {_decimal(low)} {_decimal(high)}"
        groups = groups_of(known, column) if one.grade != "plain" else ""
        lines.append(f"{ends} {groups}".rstrip())
    if bounds.unproved:
        lines.append(" ".join(["while", *(f"w{k}" for k in bounds.unproved)]))
    return "".join(f"{line}\n" for line in lines)


def groups_of(known: Known, column: int) -> str:
    """Return the groups of linear inputs that are independent of each other for given angles.

    None are of an output that is no sum of waves times powers.
    """
    said = known.explained
    result = said.results[column]
    total = said.meanings[result.meaning]
    if not isinstance(total, Total) or total.word is None:
        raise TypeError(f"{result.name} is no sum that is there")
    flattener = Flattener(Forward(known.explained))
    try:
        flat = flattener.flat(result.meaning, Fraction(2) ** said.graph.scales[total.word].lsb)
    except NotPlainError:
        return ""
    found = []
    for names, _ in components([one.linear for one in flat.addends]):
        given = [said.meanings[k] for k in sorted(names)]
        found.append(" ".join(one.name for one in given if isinstance(one, GivenWord)))
    return " | ".join(one for one in found if one)


def _below(value: Fraction) -> int:
    """Return a number in units of its last digit, rounded down."""
    return int(value * 10**BOUND_DIGITS // 1)


def _decimal(units: int) -> str:
    whole, part = divmod(abs(units), 10**BOUND_DIGITS)
    return f"{'-' * (units < 0)}{whole}.{part:0{BOUND_DIGITS}d}"
