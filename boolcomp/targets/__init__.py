"""Programs as files for other tools: one module a target, all over the same fold.

A target's function takes `(program, load, options)` and returns the texts (or bytes) of its files
by name. `load` is one of the program's payloads, or None: all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.targets.bdd import image_of as image_of
    from boolcomp.targets.bdd_verilog import OWN as OWN
    from boolcomp.targets.expressions import Moved as Moved
    from boolcomp.targets.expressions import Name as Name
    from boolcomp.targets.expressions import Number as Number
    from boolcomp.targets.expressions import Padded as Padded
    from boolcomp.targets.expressions import low as low
    from boolcomp.targets.expressions import moved as moved
    from boolcomp.targets.gates import flip_flops as flip_flops
    from boolcomp.targets.gates import stages_of as stages_of
    from boolcomp.targets.networks import netlist_of as netlist_of
    from boolcomp.targets.scripts import Python as Python
    from boolcomp.targets.target import MOST_LOADS as MOST_LOADS
    from boolcomp.targets.target import Options as Options
    from boolcomp.targets.target import design_of as design_of
    from boolcomp.targets.target import export_texts as export_texts
    from boolcomp.targets.target import input_notes as input_notes
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "bdd": "image_of",
            "bdd_verilog": "OWN",
            "expressions": "Moved Name Number Padded low moved",
            "gates": "flip_flops stages_of",
            "networks": "netlist_of",
            "scripts": "Python",
            "target": "MOST_LOADS Options design_of export_texts input_notes",
        },
    )
