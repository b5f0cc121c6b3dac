"""Large jobs: batches of states, sweeps of compilations, several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.scale.batch_files import header as header
    from boolcomp.scale.journal import Journal as Journal
    from boolcomp.scale.partition import deal_terms as deal_terms
    from boolcomp.scale.partition import make_shares as make_shares
    from boolcomp.scale.partition import terms_of as terms_of
    from boolcomp.scale.pool import ProcessPool as ProcessPool
    from boolcomp.scale.sweep import CellQueue as CellQueue
    from boolcomp.scale.sweep import CellTimes as CellTimes
    from boolcomp.scale.sweep import Failure as Failure
    from boolcomp.scale.sweep import SweepState as SweepState
    from boolcomp.scale.sweep import page as page
    from boolcomp.scale.sweep_spec import CellOutcome as CellOutcome
    from boolcomp.scale.sweep_spec import Spec as Spec
    from boolcomp.scale.sweep_spec import compute as compute
    from boolcomp.scale.sweep_spec import installation as installation
    from boolcomp.scale.sweep_spec import parse_spec as parse_spec
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "batch_files": "header",
            "journal": "Journal",
            "partition": "deal_terms make_shares terms_of",
            "pool": "ProcessPool",
            "sweep": "CellQueue CellTimes Failure SweepState page",
            "sweep_spec": "CellOutcome Spec compute installation parse_spec",
        },
    )
