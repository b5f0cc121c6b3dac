"""What a compilation knows, as the writers of a certificate's sections are given it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from boolcomp.compact.result.explained import explained
from boolcomp.compact.result.network import plain_network

if TYPE_CHECKING:
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
        return explained(self.built.compact, self.built.ends)

    @cached_property
    def first(self) -> Network:
        """The network that the graph says by rule."""
        return plain_network(self.graph).network

    @property
    def final(self) -> Network:
        """The network of the program."""
        return self.built.network
