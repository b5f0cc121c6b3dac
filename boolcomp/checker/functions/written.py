"""Function files: their expressions as sums, in the steps in which the format says they are read.

[inputs.e]                           its range, an angle or not, a unit
[let]                                expressions by name, read in order
[outputs.u]
expression = "clip(2*e, -1, 1)"
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from flint import arb

from boolcomp.base.errors import parse_number
from boolcomp.checker.functions.waves import number
from boolcomp.checker.steps import NotCoveredError
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.checker.functions.curves import Functions
    from boolcomp.checker.functions.waves import Sum

OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
CURVES = ["sin", "cos", "sqrt", "exp", "log", "sign", "asin", "acos", "atan", "tanh", "abs", "wrap"]
MOST_POWER = 64


def input_of(table: Mapping[str, Any]) -> tuple[float, float, bool, str]:
    """Return between which numbers an input lies, whether it is an angle, and its unit."""
    turning = bool(table.get("angle", False))
    ends = [parse_number(str(end)) for end in table.get("range", (-math.pi, math.pi))]
    low, high = (math.nan if end is None else end for end in ends)
    return low, high, turning, str(table.get("unit", "")) or ("rad" if turning else "")


def outputs_of(document: Mapping[str, Any], space: Functions) -> dict[str, Sum]:
    """Return the outputs of a file as sums over its inputs."""
    reader = Reader(space)
    for name, table in document["inputs"].items():
        turning = input_of(table)[2]
        reader.known[name] = space.angle(name) if turning else space.value(name)
    for name, text in document.get("let", {}).items():
        reader.known[name] = reader.read(str(text))
    texts = {name: one["expression"] for name, one in document["outputs"].items()}
    return {name: space.held(reader.read(text)) for name, text in texts.items()}


class Reader:
    """Makes sums of expressions, over names that are `known`."""

    def __init__(self, space: Functions) -> None:
        self.space, self.known = space, dict[str, "Sum"]()
        self.several: dict[str, Callable[..., Sum]] = {
            "tan": lambda x: self.apply("div", self.apply("sin", x), self.apply("cos", x)),
            "reciprocal": lambda x: self.apply("div", number(1), x),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "clip": lambda x, low, high: self.maximum(self.minimum(x, high), low),
        }

    def read(self, text: str) -> Sum:
        """Return what an expression makes of the names that are known."""
        try:
            return self.value(ast.parse(" ".join(text.split()), mode="eval").body)
        except (SyntaxError, ValueError, TypeError, RecursionError) as error:
            raise DataError(f"{shown(text)} is no expression ({error!r})") from error

    def apply(self, kind: str, *given: Sum) -> Sum:
        """Return what an operation makes of sums."""
        return self.space.apply(kind, given)

    def value(self, node: ast.AST) -> Sum:
        """Return what a part of an expression is."""
        if isinstance(node, ast.Constant):
            return number(arb(float(node.value)))  # type: ignore[arg-type]  # what is none is refused
        if isinstance(node, ast.Name):
            return self.known[node.id] if node.id in self.known else _constant(node.id)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            return self.power(self.value(node.left), ast.literal_eval(node.right))
        if isinstance(node, ast.BinOp):
            one = self.value(node.left)
            return self.apply(OPERATORS[type(node.op)], one, self.value(node.right))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            return self.called(node.func.id, [self.value(one) for one in node.args])
        raise NotCoveredError(f"{type(node).__name__} is no part of an expression that it knows")

    def called(self, name: str, given: list[Sum]) -> Sum:
        """Return what a function makes of sums."""
        if name in self.several:
            return self.several[name](*given)
        if name not in CURVES or len(given) != 1:
            raise NotCoveredError(f"{shown(name)} is no function that the checker knows")
        return self.apply(name, given[0])

    def power(self, x: Sum, exponent: float) -> Sum:
        """Return a whole power."""
        if exponent != int(exponent) or abs(exponent) > MOST_POWER:
            raise ValueError(exponent)
        found = number(1)
        for _ in range(abs(int(exponent))):
            found = found * x
        return self.apply("div", number(1), found) if exponent < 0 else found

    def maximum(self, a: Sum, b: Sum) -> Sum:
        """Return the larger of two: the second, and by how much the first is more."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b + self.excess(a, b)

    def minimum(self, a: Sum, b: Sum) -> Sum:
        """Return the smaller of two: the second, less by how much it is more than the first."""
        a, b = (a, b) if any(a.parts) else (b, a)
        return b - self.excess(b, a)

    def excess(self, a: Sum, b: Sum) -> Sum:
        """Return by how much one is more than the other, 0 where it is not."""
        apart = a - b
        return (apart + self.apply("abs", apart)).times(0.5)


def _constant(name: str) -> Sum:
    if name != "pi":
        raise DataError(f"{shown(name)} is no name that is known")
    return number(arb.pi())
