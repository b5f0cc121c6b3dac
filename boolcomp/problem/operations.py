"""The functions for user-written functions: of recorded values, of numbers and of numpy arrays.

Each accepts all three, so that a function can be compiled and also be called directly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, UsageError, number, shown
from boolcomp.problem import tracing as recorded
from boolcomp.problem.algebra import step
from boolcomp.problem.algebra import wrap as wrapped
from boolcomp.problem.tracing import Value

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "abs", "acos", "asin", "atan", "atan2", "clip", "cos", "exp", "log", "maximum", "minimum",
    "reciprocal", "sign", "sin", "sqrt", "tan", "tanh", "where_positive", "wrap",
]  # fmt: skip


def _of(kind: str, exact: Callable[..., Any], *given: Any) -> Any:
    """Record a step if a recorded value is among the arguments, else calculate with numpy."""
    for x in given:
        if isinstance(x, Value):
            if kind in recorded.COMPOSED:
                return recorded.COMPOSED[kind](*given)
            return x.recorder.step(kind, *given)
    return _known(kind, exact, *given)


def _known(kind: str, exact: Callable[..., Any], *given: Any) -> Any:
    """Return a function of arrays, or of numbers, for which it must be defined."""
    arrays = [np.asarray(x) for x in given]
    for x, array in zip(given, arrays, strict=True):
        if array.dtype.kind not in "fiu":
            raise UsageError(f"{kind} takes numbers and arrays of them, not {shown(x)}")
    floats = [x.astype(np.float64) for x in arrays]
    if any(x.ndim for x in floats):
        return exact(*floats)
    with np.errstate(all="ignore"):
        found = float(exact(*floats))
    if not math.isfinite(found):
        arguments = ", ".join(number(float(x)) for x in floats)
        raise DataError(f"{kind}({arguments}) has no value")
    return found


def sin(x: Any) -> Any:
    """Return the sine of an angle in rad."""
    return _of("sin", np.sin, x)


def cos(x: Any) -> Any:
    """Return the cosine of an angle in rad."""
    return _of("cos", np.cos, x)


def tan(x: Any) -> Any:
    """Return the tangent of an angle in rad, whose cosine must not be zero."""
    return _of("tan", np.tan, x)


def asin(x: Any) -> Any:
    """Return the angle within ±π/2 whose sine is x, from -1 to 1."""
    return _of("asin", np.arcsin, x)


def acos(x: Any) -> Any:
    """Return the angle within 0 .. π whose cosine is x, from -1 to 1."""
    return _of("acos", np.arccos, x)


def atan(x: Any) -> Any:
    """Return the angle within ±π/2 whose tangent is x."""
    return _of("atan", np.arctan, x)


def atan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), within ±π."""
    return _of("atan2", np.arctan2, y, x)


def wrap(x: Any) -> Any:
    """Return the angle within ±π that differs from x by whole turns."""
    return _of("wrap", wrapped, x)


def sqrt(x: Any) -> Any:
    """Return the square root of x, which must not be negative."""
    return _of("sqrt", np.sqrt, x)


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    return _of("exp", np.exp, x)


def log(x: Any) -> Any:
    """Return the natural logarithm of x, which must be positive."""
    return _of("log", np.log, x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return _of("tanh", np.tanh, x)


def abs(x: Any) -> Any:  # noqa: A001 (the name is meant)
    """Return the absolute value."""
    return _of("abs", np.abs, x)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return _of("sign", np.sign, x)


def reciprocal(x: Any) -> Any:
    """Return 1/x; x must not be zero."""
    return _of("reciprocal", lambda y: 1.0 / y, x)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two."""
    return _of("minimum", np.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two."""
    return _of("maximum", np.maximum, a, b)


def clip(x: Any, low: Any, high: Any) -> Any:
    """Return x clipped to low .. high."""
    recorded.check_ends(low, high)
    return maximum(minimum(x, high), low)


def where_positive(x: Any, a: Any, b: Any) -> Any:
    """Return a if x is positive, else b."""
    return b + _of("step", step, x) * (a - b)
