"""Compact mode: outputs as a graph of words (angle sums, tables, products and bit heaps)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.compact.demand import APPROXIMATE as APPROXIMATE
    from boolcomp.compact.demand import TARGETS as TARGETS
    from boolcomp.compact.demand import Demand as Demand
    from boolcomp.compact.demand import Progress as Progress
    from boolcomp.compact.demand import digest as digest
    from boolcomp.compact.demand import usual_demand as usual_demand
    from boolcomp.compact.errors import Sampling as Sampling
    from boolcomp.compact.errors import graph_worst as graph_worst
    from boolcomp.compact.errors import measure as measure
    from boolcomp.compact.errors import measure_many as measure_many
    from boolcomp.compact.errors import output_values as output_values
    from boolcomp.compact.errors import states_of as states_of
    from boolcomp.compact.limits import DIRECT as DIRECT
    from boolcomp.compact.network import Ends as Ends
    from boolcomp.compact.network import program_of_graph as program_of_graph
    from boolcomp.compact.network import word_logic as word_logic
    from boolcomp.compact.passes import CompactChoices as CompactChoices
    from boolcomp.compact.passes import require_true as require_true
    from boolcomp.compact.promise import bits_for as bits_for
    from boolcomp.compact.result import Built as Built
    from boolcomp.compact.result import Compact as Compact
    from boolcomp.compact.result import explained as explained
    from boolcomp.compact.result import proved as proved
    from boolcomp.compact.search import WORK as WORK
    from boolcomp.compact.search import Candidate as Candidate
    from boolcomp.compact.search import Search as Search
    from boolcomp.compact.search import SearchTask as SearchTask
    from boolcomp.compact.search import screen as screen
    from boolcomp.compact.search import search_of as search_of
    from boolcomp.compact.sketch import Quantity as Quantity
    from boolcomp.compact.sketch import Sketch as Sketch
    from boolcomp.compact.sketch import quantities as quantities
    from boolcomp.compact.sketch_steps import direct_sketch as direct_sketch
    from boolcomp.compact.sketch_terms import Form as Form
    from boolcomp.compact.sketch_terms import build_sketch as build_sketch
    from boolcomp.compact.store import StoredResult as StoredResult
    from boolcomp.compact.store import result_store as result_store
    from boolcomp.compact.store import unproved as unproved
    from boolcomp.compact.widths import TIGHTENINGS as TIGHTENINGS
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "demand": "APPROXIMATE Demand Progress TARGETS digest usual_demand",
            "errors": "Sampling graph_worst measure measure_many output_values states_of",
            "limits": "DIRECT",
            "network": "Ends program_of_graph word_logic",
            "passes": "CompactChoices require_true",
            "promise": "bits_for",
            "result": "Built Compact explained proved",
            "search": "Candidate Search SearchTask WORK screen search_of",
            "sketch": "Quantity Sketch quantities",
            "sketch_steps": "direct_sketch",
            "sketch_terms": "Form build_sketch",
            "store": "StoredResult result_store unproved",
            "widths": "TIGHTENINGS",
        },
    )
