"""Expressions as text: read by Python's own parser, and nothing of it evaluated but arithmetic.

What is allowed is listed here, node by node; all else is refused with the part that is meant.
"""

from __future__ import annotations

import ast
import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from boolcomp.common.errors import BoolcompError, DataError, cut, listing, shown, suggestion
from boolcomp.problem.interval import MOST_SIZE
from boolcomp.problem.written import algebra
from boolcomp.problem.written.tracing import Value, power

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.problem.written.tracing import Recorder

LONGEST = 2000  # characters
DEEPEST = 40  # operations within operations
LONGEST_PART = 60  # characters of an expression in a sentence
ARITY = dict.fromkeys(algebra.__all__, 1) | {
    "atan2": 2, "minimum": 2, "maximum": 2, "clip": 3, "where_positive": 3,
}  # fmt: skip
CONSTANTS = {"pi": math.pi}
OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}
HINTS: dict[type[ast.AST], str] = {
    ast.BitXor: "powers are written **",
    ast.IfExp: "write where_positive(x, a, b)",
    ast.Compare: "write where_positive(x, a, b)",
    ast.BoolOp: "write where_positive(x, a, b)",
    ast.Tuple: "a decimal has a point, and an expression one value",
    ast.Attribute: "names have no points",
}


@dataclass(slots=True)
class Scope:
    """What names mean where an expression stands; `key` says where that is."""

    recorder: Recorder
    values: Mapping[str, Any]
    key: str
    later: Mapping[str, str]  # names that mean something elsewhere, and why not here

    def fail(self, why: str) -> NoReturn:
        """Refuse the expression."""
        raise DataError(f"{self.key}: {why}")


def read_expression(text: str, scope: Scope) -> Any:
    """Return what an expression makes of the values in its scope: a value, or a number."""
    if len(text) > LONGEST:
        scope.fail(f"an expression has at most {LONGEST} characters: use [let] for its parts")
    whole = " ".join(text.split())
    if not whole:
        scope.fail("an empty expression")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(whole, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        scope.fail(f"{shown(whole)} is no expression: {_said(error)}")
    return _Reader(whole, scope).value(tree.body, DEEPEST)


def _said(error: Exception) -> str:
    """Return what the parser says, in a few words."""
    if isinstance(error, SyntaxError) and error.msg:
        at = f" at character {error.offset}" if error.offset else ""
        return cut(error.msg, LONGEST_PART) + at
    return "it is nested too deep, or holds a number that is too long"


@dataclass(slots=True)
class _Reader:
    text: str
    scope: Scope

    def part(self, node: ast.AST) -> str:
        """Return the part of the text that a node stands for."""
        segment = ast.get_source_segment(self.text, node) if isinstance(node, ast.expr) else None
        return cut(segment or self.text, LONGEST_PART)

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        self.scope.fail(f"{self.part(node)}: {why}")

    def value(self, node: ast.AST, deep: int) -> Any:
        """Return the value of a node."""
        if not deep:
            self.fail(node, f"more than {DEEPEST} operations within each other: use [let]")
        if isinstance(node, ast.Constant):
            return self._number(node)
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            x = self.value(node.operand, deep - 1)
            return self._made(node, lambda: -x) if isinstance(node.op, ast.USub) else x
        if isinstance(node, ast.BinOp):
            return self._operation(node, deep - 1)
        if isinstance(node, ast.Call):
            return self._call(node, deep - 1)
        hint = HINTS.get(type(node), "numbers, names, + - * / **, brackets and functions are")
        return self.fail(node, f"not allowed in an expression: {hint}")

    def _number(self, node: ast.Constant) -> float:
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            self.fail(node, "no number")
        if not abs(value) <= MOST_SIZE:  # before an integer becomes a float: it may be too large
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        return float(value)

    def _name(self, node: ast.Name) -> Any:
        name = node.id
        if name in self.scope.values:
            return self.scope.values[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in ARITY:
            return self.fail(node, f"{name} is a function: write {_example(name)}")
        if name in self.scope.later:
            return self.fail(node, self.scope.later[name])
        known = [*self.scope.values, *CONSTANTS]
        hint = suggestion(name, [*known, *ARITY]) or f": names are {listing(known)}"
        return self.fail(node, f"unknown name{hint}")

    def _operation(self, node: ast.BinOp, deep: int) -> Any:
        one, other = self.value(node.left, deep), self.value(node.right, deep)
        if isinstance(node.op, ast.Pow):
            if not isinstance(other, float):
                return self.fail(node, "an exponent is a whole number")
            place = f"{self.scope.key}: {self.part(node)}"
            return self._made(node, lambda: power(one, other, place))
        if type(node.op) not in OPERATORS:
            hint = HINTS.get(type(node.op), "operators are + - * / **")
            return self.fail(node, f"not allowed in an expression: {hint}")
        return self._made(node, lambda: OPERATORS[type(node.op)](one, other))

    def _call(self, node: ast.Call, deep: int) -> Any:
        if not isinstance(node.func, ast.Name):
            return self.fail(node.func, "no function")
        name = node.func.id
        if name not in ARITY:
            if name in self.scope.values or name in CONSTANTS:
                return self.fail(node, f"{name} is no function: a product is written {name} * (…)")
            hint = suggestion(name, ARITY) or f": functions are {listing(ARITY)}"
            return self.fail(node.func, f"unknown function{hint}")
        if node.keywords or any(isinstance(x, ast.Starred) for x in node.args):
            return self.fail(node, f"write {_example(name)}")
        if len(node.args) != ARITY[name]:
            return self.fail(node, f"{len(node.args)} values given: write {_example(name)}")
        given = [self.value(x, deep) for x in node.args]
        return self._made(node, lambda: getattr(algebra, name)(*given))

    def _made(self, node: ast.AST, make: Callable[[], Any]) -> Any:
        """Return what is made of a node's operands, its place being the part that it is."""
        self.scope.recorder.place = lambda: f"{self.scope.key}: {self.part(node)}"
        try:
            found = make()
        except BoolcompError as error:
            if str(error).startswith(self.scope.key):
                raise DataError(str(error)) from None
            self.fail(node, str(error))
        except ZeroDivisionError:
            self.fail(node, "it divides by zero, whatever its inputs are")
        except OverflowError:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}")
        if isinstance(found, Value):
            return found
        number = float(found)
        if not abs(number) <= MOST_SIZE:
            self.fail(node, f"numbers are within ±{MOST_SIZE:g}, and this is {number:.3g}")
        return number


def _example(name: str) -> str:
    """Return how a function is called."""
    given = {"atan2": "y, x", "minimum": "a, b", "maximum": "a, b", "clip": "x, low, high",
             "where_positive": "x, a, b"}  # fmt: skip
    return f"{name}({given.get(name, 'x')})"
