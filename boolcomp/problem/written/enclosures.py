"""Between which two numbers every step of a calculation lies, whatever its inputs: intervals.

They are sound but for rounding, and often wider than what is reached: x - x spans twice what x
does. So they acquit, and never convict.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.problem.expressions.rules import DOMAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.problem.problem import Input

Ends: TypeAlias = tuple[float, float]
ANYTHING: Ends = (-math.inf, math.inf)
LARGEST = 700.0  # of an exponent


def enclosures(steps: Straight, inputs: Sequence[Input]) -> list[Ends]:
    """Return the ends of every step, over what the inputs reach."""
    reach = {one.name: (one.reach.low, one.reach.high) for one in inputs}
    found: list[Ends] = []
    for step in steps.nodes:
        ends = _ends(step, [found[k] for k in step.operands], reach)
        found.append(ANYTHING if any(map(math.isnan, ends)) else ends)
    return found


def _ends(step: Operation, read: Sequence[Ends], reach: Mapping[str, Ends]) -> Ends:
    if step.kind == "input":
        return reach[step.name]
    if step.kind == "constant":
        return step.value, step.value
    if step.kind in ("mul", "div"):
        if step.kind == "mul" and step.operands[0] == step.operands[1]:
            return _even(read[0], lambda x: x * x)
        return _product(read[0], read[1] if step.kind == "mul" else _inverse(read[1]))
    if step.kind in RISING:
        low, high = read[0]
        least, most = DOMAINS.get(step.kind, ANYTHING)
        return RISING[step.kind](max(low, least)), RISING[step.kind](min(high, most))
    return OTHERS[step.kind](*read)


def _product(a: Ends, b: Ends) -> Ends:
    corners = [0.0 if not x or not y else x * y for x in a for y in b]
    return min(corners), max(corners)


def _inverse(x: Ends) -> Ends:
    low, high = x
    if low <= 0 <= high:
        return ANYTHING
    return 1 / high, 1 / low


def _even(x: Ends, function: Callable[[float], float]) -> Ends:
    """Return the ends of a function that rises with the size of what it is of."""
    at = sorted(map(function, x))
    return (function(0.0) if x[0] <= 0 <= x[1] else at[0]), at[1]


def _cosine(x: Ends) -> Ends:
    low, high = x
    if not math.isfinite(low) or not math.isfinite(high) or high - low >= 2 * math.pi:
        return -1.0, 1.0
    at = sorted((math.cos(low), math.cos(high)))
    top = math.floor(high / (2 * math.pi)) >= math.ceil(low / (2 * math.pi))
    turned = (low - math.pi) / (2 * math.pi), (high - math.pi) / (2 * math.pi)
    bottom = math.floor(turned[1]) >= math.ceil(turned[0])
    return (-1.0 if bottom else at[0]), (1.0 if top else at[1])


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _within(least: float, most: float) -> Callable[..., Ends]:
    return lambda *_: (least, most)


def _clipped(x: float) -> float:
    return max(-1.0, min(1.0, x))


RISING: dict[str, Callable[[float], float]] = {
    "sqrt": lambda x: math.sqrt(max(0.0, x)),
    "exp": lambda x: math.exp(x) if x < LARGEST else math.inf,
    "log": _log,
    "atan": math.atan,
    "asin": lambda x: math.asin(_clipped(x)),
    "tanh": math.tanh,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "step": lambda x: float(x > 0),
}
OTHERS: dict[str, Callable[..., Ends]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "neg": lambda a: (-a[1], -a[0]),
    "abs": lambda a: _even(a, abs),
    "cos": _cosine,
    "sin": lambda a: _cosine((a[0] - math.pi / 2, a[1] - math.pi / 2)),
    "acos": lambda a: (math.acos(_clipped(a[1])), math.acos(_clipped(a[0]))),
    "wrap": _within(-math.pi, math.pi),
    "atan2": _within(-math.pi, math.pi),
}
