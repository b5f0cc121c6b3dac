"""What one operation of a straight-line program does: of columns, and of a single known number.

`step(x)` is 1 where x is positive and 0 elsewhere; `wrap(x)` is the angle in -π .. π that differs
from x by whole turns.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from boolcomp.problem.angles import exact_cosine, exact_sine

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

Unary = Literal[
    "sqrt", "sin", "cos", "sign", "exp", "log", "atan", "asin", "acos", "tanh", "abs", "step",
    "wrap",
]  # fmt: skip
Kind: TypeAlias = Literal["input", "constant", "add", "sub", "mul", "div", "neg", "atan2"] | Unary
SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def wrap(x: Any) -> Any:
    """Return angles turned by whole turns into -π .. π."""
    return x - 2 * math.pi * np.floor(x / (2 * math.pi) + 0.5)


def step(x: Any) -> Any:
    """Return 1 where x is positive, else 0."""
    return np.where(np.asarray(x) > 0, 1.0, 0.0)


UNARY_FUNCTIONS: dict[Unary, Callable[..., Floats]] = {
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "exp": np.exp,
    "log": np.log,
    "atan": np.arctan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "tanh": np.tanh,
    "abs": np.abs,
    "step": step,
    "wrap": wrap,
}
OPERATIONS: dict[str, Callable[..., Floats]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "atan2": np.arctan2,
    **{str(kind): function for kind, function in UNARY_FUNCTIONS.items()},
}
ARITY: dict[str, int] = {"input": 0, "constant": 0, "neg": 1} | dict.fromkeys(UNARY_FUNCTIONS, 1)
_EXACT: dict[str, Callable[[float], float]] = {"sin": exact_sine, "cos": exact_cosine}
# Where a function is defined, ends included; whether it is at an end, its value tells.
DOMAINS: dict[str, tuple[float, float]] = {
    "sqrt": (0.0, math.inf),
    "log": (0.0, math.inf),
    "asin": (-1.0, 1.0),
    "acos": (-1.0, 1.0),
}


def value_of(kind: Unary, x: float) -> float:
    """Return a function of a known number; not finite where it has no value."""
    if kind in _EXACT:
        return _EXACT[kind](x)
    with np.errstate(all="ignore"):
        return float(UNARY_FUNCTIONS[kind](x))
