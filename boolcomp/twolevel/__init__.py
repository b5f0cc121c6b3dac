"""Two-level minimisation: from a truth table or PLA to a verified cover of product terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base import lazy

if TYPE_CHECKING:
    from boolcomp.twolevel.cubes import Clock as Clock
    from boolcomp.twolevel.cubes import Cubes as Cubes
    from boolcomp.twolevel.cubes import Dense as Dense
    from boolcomp.twolevel.cubes import GaveUpError as GaveUpError
    from boolcomp.twolevel.function import Cover as Cover
    from boolcomp.twolevel.function import Function as Function
    from boolcomp.twolevel.function import verify as verify
    from boolcomp.twolevel.minimisation import Recipe as Recipe
    from boolcomp.twolevel.minimisation import minimise as minimise
    from boolcomp.twolevel.pla import parse as parse
    from boolcomp.twolevel.pla import read as read
    from boolcomp.twolevel.pla import render as render
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "cubes": "Clock Cubes Dense GaveUpError",
            "function": "Cover Function verify",
            "minimisation": "Recipe minimise",
            "pla": "parse read render",
        },
    )
