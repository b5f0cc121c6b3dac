"""What a compilation knows, as the writers of a certificate's sections are given it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.network import sums_of

if TYPE_CHECKING:
    from boolcomp.compact.graph.heaps import Addition
    from boolcomp.compact.result.built import Built
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.words.graph import WordGraph


@dataclass(frozen=True, eq=False)
class Known:
    """One load: its finished compilation, and the program that it is a load of.

    `built.compact` has problem, demand, sketch and widths.
    """

    built: Built
    program: Program
    place: int

    @property
    def compact(self) -> Compact:
        """The graph, and how it was chosen."""
        return self.built.compact

    @property
    def graph(self) -> WordGraph:
        """The word graph."""
        return self.built.compact.graph

    @cached_property
    def explained(self) -> Explained:
        """The graph, with what its words stand for."""
        return explained(self.built.compact, self.built.ends, self.built.booked)

    @cached_property
    def additions(self) -> tuple[Addition, ...]:
        """How the sums of the first network were added up, in the order of the graph's words."""
        if self.compact.demand.of_words:
            return sums_of(self.graph)
        return sums_of(self.graph, self.compact.demand.synthesis)

    @property
    def final(self) -> Network:
        """The network of the program."""
        return self.built.network
