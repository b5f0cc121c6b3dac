"""Outputs that are zero at rest: every term of theirs has inputs as factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.terms.extract import Terms
    from boolcomp.terms.term import Term

NEARLY = 1e-9  # of a word's range


def resting(terms: Terms) -> tuple[tuple[str, ...] | None, ...]:
    """Return, for every output with a cell at zero that vanishes where some inputs do, which.

    These are all inputs that its terms are multiplied with, speeds and accelerations; their words
    must have zero in their middle. Nothing is known of outputs that are no sums of waves.
    """
    problem = terms.problem
    if not terms.outputs or not any(one.format.tread for one in problem.outputs):
        return ()
    order = [one.name for one in problem.inputs]
    return tuple(
        _factors(parts, order) if output.format.tread else None
        for output, parts in zip(problem.outputs, terms.outputs, strict=True)
    )


def _factors(parts: tuple[Term, ...], order: list[str]) -> tuple[str, ...] | None:
    """Return the factors of terms; None where a term has none, or one whose word lacks zero."""
    if any(not part.factor for part in parts):
        return None
    found = {one.name: one for part in parts for one in part.factor}
    if any(abs(one.word.centre) > NEARLY * one.word.width for one in found.values()):
        return None
    return tuple(sorted(found, key=order.index))
