"""What every room stands on: errors, files, stores, processes, workers, pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.base.dask import of_address as of_address
    from boolcomp.base.errors import BRINGS as BRINGS
    from boolcomp.base.errors import MOST_DEPTH as MOST_DEPTH
    from boolcomp.base.errors import BoolcompError as BoolcompError
    from boolcomp.base.errors import DataError as DataError
    from boolcomp.base.errors import DataWarning as DataWarning
    from boolcomp.base.errors import UsageError as UsageError
    from boolcomp.base.errors import angle as angle
    from boolcomp.base.errors import cells_of as cells_of
    from boolcomp.base.errors import flag as flag
    from boolcomp.base.errors import mass_text as mass_text
    from boolcomp.base.errors import masses as masses
    from boolcomp.base.errors import number as number
    from boolcomp.base.errors import parse_json as parse_json
    from boolcomp.base.errors import parse_number as parse_number
    from boolcomp.base.errors import parse_toml as parse_toml
    from boolcomp.base.errors import real as real
    from boolcomp.base.errors import reals as reals
    from boolcomp.base.errors import short as short
    from boolcomp.base.errors import short_above as short_above
    from boolcomp.base.errors import table as table
    from boolcomp.base.errors import unclosed as unclosed
    from boolcomp.base.errors import unquoted as unquoted
    from boolcomp.base.errors import whole as whole
    from boolcomp.base.errors import widths as widths
    from boolcomp.base.files import UNFINISHED as UNFINISHED
    from boolcomp.base.files import shipped as shipped
    from boolcomp.base.files import temporary_folder as temporary_folder
    from boolcomp.base.loops import cache_folder as cache_folder
    from boolcomp.base.pages import page_text as page_text
    from boolcomp.base.processes import Channel as Channel
    from boolcomp.base.processes import Ended as Ended
    from boolcomp.base.processes import Limits as Limits
    from boolcomp.base.processes import Processes as Processes
    from boolcomp.base.processes import Worker as Worker
    from boolcomp.base.processes import WorkerLostError as WorkerLostError
    from boolcomp.base.processes import run_program as run_program
    from boolcomp.base.store import Folder as Folder
    from boolcomp.base.store import find as find
    from boolcomp.base.store import place_of as place_of
    from boolcomp.base.workers import ALONE as ALONE
    from boolcomp.base.workers import TWO as TWO
    from boolcomp.base.workers import Shared as Shared
    from boolcomp.base.workers import Workers as Workers
    from boolcomp.base.workers import completed as completed
    from boolcomp.base.workers import executor as executor
    from boolcomp.base.workers import in_order as in_order
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "dask": "of_address",
            "errors": "BRINGS BoolcompError DataError DataWarning MOST_DEPTH "
            "UsageError angle cells_of flag mass_text masses number "
            "parse_json parse_number parse_toml real reals short "
            "short_above table unclosed unquoted whole widths",
            "files": "UNFINISHED shipped temporary_folder",
            "loops": "cache_folder",
            "pages": "page_text",
            "processes": "Channel Ended Limits Processes Worker WorkerLostError run_program",
            "store": "Folder find place_of",
            "workers": "ALONE Shared TWO Workers completed executor in_order",
        },
    )
