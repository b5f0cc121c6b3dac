"""Texts of JavaScript: the package's own modules, and calculations printed as functions."""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import number
from boolcomp.problem.expressions.rules import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.straight import Operation, Straight

# What JavaScript has under another name, or not at all (see problem/expressions/rules.py).
_FUNCTIONS = {
    "sqrt": "Math.sqrt", "sin": "Math.sin", "cos": "Math.cos", "sign": "Math.sign",
    "exp": "Math.exp", "log": "Math.log", "atan": "Math.atan", "asin": "Math.asin",
    "acos": "Math.acos", "tanh": "Math.tanh", "abs": "Math.abs", "atan2": "Math.atan2",
}  # fmt: skip


def module(name: str) -> str:
    """Return the text of one of the package's scripts."""
    return resources.files("boolcomp.measure.show").joinpath(name).read_text("utf-8")


def in_script(text: str) -> str:
    """Return a script that may stand in an element: nothing in it ends the element.

    What it changes stands in texts and comments alone, where it means the same.
    """
    return re.sub(r"<(?=[/!])", r"<\\", text)


def data(value: Any) -> str:
    """Return a value as JSON that may stand in a script element; NaN and infinities are refused."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def straight_function(name: str, given: Sequence[str], steps: Straight) -> str:
    """Return a straight-line program as a function of doubles; `given` are its arguments in order.

    Inputs of the program are found among them by name; it returns a list of its outputs.
    """
    place = {one: f"x{k}" for k, one in enumerate(given)}
    names = [_named(k, node, place) for k, node in enumerate(steps.nodes)]
    lines = [
        f"  const {names[k]} = {_formula(node, names)};"
        for k, node in enumerate(steps.nodes)
        if not node.free
    ]
    results = ", ".join(names[one.node] for one in steps.outputs)
    head = f"function {name}({', '.join(place.values())}) {{"
    return "\n".join([head, *lines, f"  return [{results}];", "}"])


def _named(k: int, node: Operation, place: dict[str, str]) -> str:
    if node.kind == "input":
        return place[node.name]
    if node.kind == "constant":
        return number(node.value)
    return f"v{k}"


def _formula(node: Operation, names: Sequence[str]) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    if node.kind == "neg":
        return f"-({operands[0]})"  # of a negative number, too
    if node.kind == "step":
        return f"{operands[0]} > 0 ? 1 : 0"
    if node.kind == "wrap":
        turn = "(2 * Math.PI)"
        return f"{operands[0]} - {turn} * Math.floor({operands[0]} / {turn} + 0.5)"
    return f"{_FUNCTIONS[node.kind]}({', '.join(operands)})"
