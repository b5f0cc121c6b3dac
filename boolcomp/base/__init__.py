"""The lowest room: errors, files, stores, processes, workers and pages."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VERSION = "0.1.0"


def lazy(
    package: str, names: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of a package from its names, listed by module."""
    homes = {name: module for module, listed in names.items() for name in listed.split()}

    def load(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return load, listed


if TYPE_CHECKING:
    from boolcomp.base.errors import BoolcompError as BoolcompError
    from boolcomp.base.errors import DataError as DataError
    from boolcomp.base.errors import DataWarning as DataWarning
    from boolcomp.base.errors import UsageError as UsageError
    from boolcomp.base.errors import parse_json as parse_json
    from boolcomp.base.errors import parse_number as parse_number
    from boolcomp.base.errors import short as short
    from boolcomp.base.errors import short_above as short_above
    from boolcomp.base.errors import widths as widths
    from boolcomp.base.files import temporary_folder as temporary_folder
    from boolcomp.base.loops import cache_folder as cache_folder
    from boolcomp.base.pages import page_text as page_text
    from boolcomp.base.processes import Ended as Ended
    from boolcomp.base.processes import Limits as Limits
    from boolcomp.base.processes import Processes as Processes
    from boolcomp.base.processes import Worker as Worker
    from boolcomp.base.processes import WorkerLostError as WorkerLostError
    from boolcomp.base.processes import run_program as run_program
    from boolcomp.base.results import ResultColumn as ResultColumn
    from boolcomp.base.results import Results as Results
    from boolcomp.base.results import pivoted as pivoted
    from boolcomp.base.results import yes as yes
    from boolcomp.base.store import Folder as Folder
    from boolcomp.base.store import find as find
    from boolcomp.base.store import read_entry as read_entry
    from boolcomp.base.store import write_entry as write_entry
    from boolcomp.base.workers import ALONE as ALONE
    from boolcomp.base.workers import TWO as TWO
    from boolcomp.base.workers import SharedValue as SharedValue
    from boolcomp.base.workers import executor as executor
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "errors": "BoolcompError DataError DataWarning UsageError parse_json "
            "parse_number short short_above widths",
            "files": "temporary_folder",
            "loops": "cache_folder",
            "pages": "page_text",
            "processes": "Ended Limits Processes Worker WorkerLostError run_program",
            "results": "ResultColumn Results pivoted yes",
            "store": "Folder find read_entry write_entry",
            "workers": "ALONE SharedValue TWO executor",
        },
    )
