"""Two-level minimisation: from a truth table or PLA to a verified cover of product terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.lazy import lazy

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import Clock as Clock
    from boolcomp.twolevel.cubes import Cubes as Cubes
    from boolcomp.twolevel.cubes import Dense as Dense
    from boolcomp.twolevel.cubes import rasterised as rasterised
    from boolcomp.twolevel.cubes import unpack as unpack
    from boolcomp.twolevel.function import CELL as CELL
    from boolcomp.twolevel.function import EDGE as EDGE
    from boolcomp.twolevel.function import Cover as Cover
    from boolcomp.twolevel.function import Function as Function
    from boolcomp.twolevel.function import GaveUpError as GaveUpError
    from boolcomp.twolevel.function import cells as cells
    from boolcomp.twolevel.function import holds as holds
    from boolcomp.twolevel.function import isop as isop
    from boolcomp.twolevel.function import karnaugh as karnaugh
    from boolcomp.twolevel.function import verify as verify
    from boolcomp.twolevel.milp_worker import certified as certified
    from boolcomp.twolevel.milp_worker import rounded_bound as rounded_bound
    from boolcomp.twolevel.minimisation import METHODS as METHODS
    from boolcomp.twolevel.minimisation import Recipe as Recipe
    from boolcomp.twolevel.minimisation import minimise as minimise
    from boolcomp.twolevel.pla import KINDS as KINDS
    from boolcomp.twolevel.pla import from_cubes as from_cubes
    from boolcomp.twolevel.pla import parse as parse
    from boolcomp.twolevel.pla import read as read
    from boolcomp.twolevel.pla import render as render
    from boolcomp.twolevel.solvers import Milp as Milp
    from boolcomp.twolevel.solvers import Node as Node
    from boolcomp.twolevel.solvers import Tree as Tree
    from boolcomp.twolevel.solvers import rechecked as rechecked
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "cubes": "Clock Cubes Dense rasterised unpack",
            "function": "CELL Cover EDGE Function GaveUpError cells holds isop karnaugh verify",
            "milp_worker": "certified rounded_bound",
            "minimisation": "METHODS Recipe minimise",
            "pla": "KINDS from_cubes parse read render",
            "solvers": "Milp Node Tree rechecked",
        },
    )
