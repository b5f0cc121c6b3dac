"""Programs as files for other tools: one module a target, all over the same fold.

A target's function takes `(program, load, options)` and returns the texts (or bytes) of its files
by name. `load` is one of the program's payloads, or None: all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.targets.bdd import image_of as image_of
    from boolcomp.targets.clock import megahertz as megahertz
    from boolcomp.targets.delays import DELAYS as DELAYS
    from boolcomp.targets.delays import delays_of as delays_of
    from boolcomp.targets.networks import netlist_of as netlist_of
    from boolcomp.targets.procedure import procedure_of as procedure_of
    from boolcomp.targets.target import ExportOptions as ExportOptions
    from boolcomp.targets.target import Interface as Interface
    from boolcomp.targets.target import export_texts as export_texts
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "bdd": "image_of",
            "clock": "megahertz",
            "delays": "DELAYS delays_of",
            "networks": "netlist_of",
            "procedure": "procedure_of",
            "target": "ExportOptions Interface export_texts",
        },
    )
