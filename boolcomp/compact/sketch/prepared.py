"""Factors of terms that are calculated first: a curve of one word, a sum that is clipped.

Their steps become words as those of any calculation do (see `direct`); to what is made of terms
they are linear inputs, whose cells are what 1 counts in these words.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.sketch.poly import Quantity
from boolcomp.compact.sketch.roots import lowered
from boolcomp.compact.sketch.structure import Structure
from boolcomp.compact.sketch_steps import Emitter
from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.compact.sketch.nodes import SketchNodes
    from boolcomp.terms.extract import Terms


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What was made: all nodes so far, and every factor as a linear word and by its node."""

    maker: SketchNodes
    words: dict[str, Quantity]
    places: Mapping[str, int]


def prepared_words(terms: Terms, words: Mapping[str, Quantity], steps: Sequence[float]) -> Prepared:
    """Return the factors that are prepared, for outputs in these units.

    Sums of angles lose no bit there: a small difference of large angles may count much.
    """
    if terms.prepared is None:
        raise TypeError("these terms have no factors that are prepared")
    problem, prepared = terms.problem, lowered(terms.problem, terms.prepared)
    wanted = _wanted(terms, steps)
    units = [wanted.get(one.name) for one in prepared.outputs]
    emitter = Emitter(Structure(problem, prepared), words, units, exact=True)
    made, places = {}, {}
    for one, word in zip(prepared.outputs, emitter.results(), strict=True):
        size = Interval(-word.unit, word.unit)
        made[one.name] = Quantity(
            one.name, size, bits=1, turns=False, reach=size, group=len(problem.groups)
        )
        places[one.name] = word.node
    return Prepared(emitter.maker, made, places)


def _wanted(terms: Terms, steps: Sequence[float]) -> dict[str, float]:
    """Return the units with which factors that stand alone in outputs need no constant there."""
    votes: dict[str, Counter[float]] = {}
    for output, step in zip(terms.outputs, steps, strict=True):
        for term in output:
            waves = term.waves()
            alone = len(term.factor) == 1 and len(waves) == 1
            if alone and not waves[0].multiples and not waves[0].powers:
                (one,) = term.factor
                votes.setdefault(one.name, Counter())[abs(step / waves[0].cosine)] += 1
    return {name: min(found, key=lambda c: (-found[c], c)) for name, found in votes.items()}
