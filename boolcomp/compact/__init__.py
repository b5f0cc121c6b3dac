"""Compact mode: outputs as a graph of words (angle sums, tables, products and bit heaps)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.compact.demand import Demand as Demand
    from boolcomp.compact.demand import usual_demand as usual_demand
    from boolcomp.compact.network import WordEnds as WordEnds
    from boolcomp.compact.network import program_of_graph as program_of_graph
    from boolcomp.compact.network import word_logic as word_logic
    from boolcomp.compact.passes import CompactChoices as CompactChoices
    from boolcomp.compact.passes import require_true as require_true
    from boolcomp.compact.promise import bits_for as bits_for
    from boolcomp.compact.result import Built as Built
    from boolcomp.compact.result import Compact as Compact
    from boolcomp.compact.result import proved as proved
    from boolcomp.compact.result import result_store as result_store
    from boolcomp.compact.result import sketched as sketched
    from boolcomp.compact.search import WORK as WORK
    from boolcomp.compact.sketch import quantities as quantities
    from boolcomp.compact.sketch_terms import Formulation as Formulation
    from boolcomp.compact.sketch_terms import build_sketch as build_sketch
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "demand": "Demand usual_demand",
            "network": "WordEnds program_of_graph word_logic",
            "passes": "CompactChoices require_true",
            "promise": "bits_for",
            "result": "Built Compact proved result_store sketched",
            "search": "WORK",
            "sketch": "quantities",
            "sketch_terms": "Formulation build_sketch",
        },
    )
