"""Whether logic that was changed still errs as is allowed: on states that no change has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.errors.measure import Sampling, deviations
from boolcomp.compact.errors.samples import States

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.result.compact import Compact
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

WINDOW, JUDGED = 1 << 15, 1 << 18  # states that price changes, and others that judge them
WINDOW_SEED, JUDGED_SEED = 0xA990, 0x70D6E
JUDGE_SIGMAS = 1.5  # of a mean square: how surely it holds


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The mean squares that are allowed, in steps², at two sets of states.

    Of `centred` outputs the mean does not count.
    """

    allowed: Floats
    centred: NDArray[np.bool_]
    window: States
    others: States

    @classmethod
    def of(cls, compact: Compact, centred: Sequence[bool]) -> Judge:
        """Return the judge of a result."""
        return cls(
            compact.allowed,
            np.asarray(centred, bool),
            drawn(compact, WINDOW, WINDOW_SEED),
            drawn(compact, JUDGED, JUDGED_SEED),
        )

    def errors(self, graph: WordGraph) -> Floats:
        """Return a graph's errors at the window, (states, outputs), what does not count apart."""
        return self.counted(deviations(graph, self.window)[0])

    def counted(self, errors: Floats) -> Floats:
        """Return errors without the means that do not count."""
        return errors - np.where(self.centred, errors.mean(axis=0), 0.0)

    def left(self, graph: WordGraph) -> Floats | None:
        """Return what a graph leaves of what is allowed; None where it does not hold."""
        errors, wrapped, _ = deviations(graph, self.others)
        return None if wrapped else self.left_by(errors)

    def left_by(self, errors: Floats) -> Floats | None:
        """Return what errors at the other states leave; None where they do not hold for sure."""
        squares = self.counted(errors) ** 2
        spread = squares.std(axis=0) / math.sqrt(len(squares))
        left = self.allowed - squares.mean(axis=0) - JUDGE_SIGMAS * spread
        return np.asarray(left) if (left >= 0).all() else None


def drawn(compact: Compact, count: int, seed: int) -> States:
    """Return seeded states as words of a result's own widths."""
    demand = compact.demand
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, count, seed + demand.seed)
    found = [states for _, states in sampling.blocks(compact.graph)]
    names = [node.name for node in compact.graph.inputs]
    words = {name: np.concatenate([one.words[name] for one in found]) for name in names}
    return States(words, {}, np.concatenate([one.outputs for one in found]))
