"""Algebras that have functions of one number, besides waves and signs, and the angle of a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from boolcomp.problem.expressions.rules import UNARY_FUNCTIONS

if TYPE_CHECKING:
    from boolcomp.problem.expressions.algebra import Element
    from boolcomp.problem.expressions.rules import Unary


class FunctionAlgebra(Protocol):
    """What `Tape` and numpy's columns can do: elements divide, too."""

    def constant(self, value: float) -> Element:
        """Return a known number as an element."""

    def function(self, kind: Unary, x: Element) -> Element:
        """Return a function by its name."""

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angle of the point (x, y)."""


class Columns:
    """The algebra of numpy's columns, plain numbers among them."""

    def constant(self, value: float) -> Element:
        """Return the number."""
        return value

    def function(self, kind: Unary, x: Element) -> Element:
        """Return a function of a column."""
        return UNARY_FUNCTIONS[kind](x)

    def arc(self, y: Element, x: Element) -> Element:
        """Return the angles of points."""
        return np.arctan2(y, x)
