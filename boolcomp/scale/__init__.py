"""Much work: batches of states, sweeps of compilations, programs over several processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.scale.batches import evaluate_files as evaluate_files
    from boolcomp.scale.journal import Journal as Journal
    from boolcomp.scale.npyfiles import header as header
    from boolcomp.scale.partition import deal_terms as deal_terms
    from boolcomp.scale.partition import make_shares as make_shares
    from boolcomp.scale.partition import terms_of as terms_of
    from boolcomp.scale.pool import ProcessPool as ProcessPool
    from boolcomp.scale.pool import WorkerError as WorkerError
    from boolcomp.scale.sweep import Batches as Batches
    from boolcomp.scale.sweep import Costs as Costs
    from boolcomp.scale.sweep import Failure as Failure
    from boolcomp.scale.sweep import Folder as Folder
    from boolcomp.scale.sweep import State as State
    from boolcomp.scale.sweep import run as run
    from boolcomp.scale.sweep import state_of as state_of
    from boolcomp.scale.sweep_page import page as page
    from boolcomp.scale.sweep_page import write_tables as write_tables
    from boolcomp.scale.sweep_spec import Cell as Cell
    from boolcomp.scale.sweep_spec import Outcome as Outcome
    from boolcomp.scale.sweep_spec import Spec as Spec
    from boolcomp.scale.sweep_spec import canonical as canonical
    from boolcomp.scale.sweep_spec import compute as compute
    from boolcomp.scale.sweep_spec import digest_of as digest_of
    from boolcomp.scale.sweep_spec import installation as installation
    from boolcomp.scale.sweep_spec import parse_spec as parse_spec
    from boolcomp.scale.sweep_spec import read_spec as read_spec
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "batches": "evaluate_files",
            "journal": "Journal",
            "npyfiles": "header",
            "partition": "deal_terms make_shares terms_of",
            "pool": "ProcessPool WorkerError",
            "sweep": "Batches Costs Failure Folder State run state_of",
            "sweep_page": "page write_tables",
            "sweep_spec": "Cell Outcome Spec canonical compute digest_of installation "
            "parse_spec read_spec",
        },
    )
