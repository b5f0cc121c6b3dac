"""The method of the 1988 paper: plan, truth tables, covers, and sums of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.paper.covers import CoverStore as CoverStore
    from boolcomp.paper.covers import default_store as default_store
    from boolcomp.paper.covers import function_of as function_of
    from boolcomp.paper.covers import make_covers as make_covers
    from boolcomp.paper.covers import stored_network as stored_network
    from boolcomp.paper.plan import Plan as Plan
    from boolcomp.paper.plan import PlanOptions as PlanOptions
    from boolcomp.paper.plan import TableWord as TableWord
    from boolcomp.paper.plan import TermPlan as TermPlan
    from boolcomp.paper.plan import make_plan as make_plan
    from boolcomp.paper.program import error_bound as error_bound
    from boolcomp.paper.program import known_errors as known_errors
    from boolcomp.paper.program import network_of_cover as network_of_cover
    from boolcomp.paper.program import program_of as program_of
    from boolcomp.paper.tables import TermTable as TermTable
    from boolcomp.paper.tables import make_tables as make_tables
    from boolcomp.paper.tables import quantised as quantised
    from boolcomp.paper.tables import render_table as render_table
    from boolcomp.paper.tables import signature as signature
    from boolcomp.paper.tables import tabulate as tabulate
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "covers": "CoverStore default_store function_of make_covers stored_network",
            "plan": "Plan PlanOptions TableWord TermPlan make_plan",
            "program": "error_bound known_errors network_of_cover program_of",
            "tables": "TermTable make_tables quantised render_table signature tabulate",
        },
    )
