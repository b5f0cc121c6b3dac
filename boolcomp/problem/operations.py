"""The functions for user-written functions: of recorded values, of numbers and of numpy arrays.

Each accepts all three, so that a function can be compiled and also be called directly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, UsageError, number, shown
from boolcomp.problem.algebra import OPERATIONS
from boolcomp.problem.tape import COMPOSED, Value, check_ends

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = [
    "abs", "acos", "asin", "atan", "atan2", "clip", "cos", "exp", "log", "maximum", "minimum",
    "reciprocal", "sign", "sin", "sqrt", "tan", "tanh", "where_positive", "wrap",
]  # fmt: skip
ARRAYS: dict[str, Callable[..., Any]] = {
    **OPERATIONS,
    "tan": np.tan,
    "reciprocal": lambda x: 1.0 / x,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


def _of(kind: str, *given: Any) -> Any:
    """Record a step if a recorded value is among the arguments, else calculate with numpy."""
    for x in given:
        if isinstance(x, Value):
            return COMPOSED[kind](*given) if kind in COMPOSED else x.tape.function(kind, *given)
    arrays = [np.asarray(x) for x in given]
    for x, array in zip(given, arrays, strict=True):
        if array.dtype.kind not in "fiu":
            raise UsageError(f"{kind} takes numbers and arrays of them, not {shown(x)}")
    floats = [x.astype(np.float64) for x in arrays]
    if any(x.ndim for x in floats):
        return ARRAYS[kind](*floats)
    with np.errstate(all="ignore"):
        found = float(ARRAYS[kind](*floats))
    if not math.isfinite(found):
        arguments = ", ".join(number(float(x)) for x in floats)
        raise DataError(f"{kind}({arguments}) has no value")
    return found


def _unary(kind: str, text: str) -> Callable[[Any], Any]:
    """Return the function of one argument with this name and docstring."""

    def function(x: Any) -> Any:
        return _of(kind, x)

    function.__name__ = function.__qualname__ = kind
    function.__doc__ = text
    return function


sin = _unary("sin", "Return the sine of an angle in rad.")
cos = _unary("cos", "Return the cosine of an angle in rad.")
tan = _unary("tan", "Return the tangent of an angle in rad, whose cosine must not be zero.")
asin = _unary("asin", "Return the angle within ±π/2 whose sine is x, from -1 to 1.")
acos = _unary("acos", "Return the angle within 0 .. π whose cosine is x, from -1 to 1.")
atan = _unary("atan", "Return the angle within ±π/2 whose tangent is x.")
wrap = _unary("wrap", "Return the angle within ±π that differs from x by whole turns.")
sqrt = _unary("sqrt", "Return the square root of x, which must not be negative.")
exp = _unary("exp", "Return e to the power of x.")
log = _unary("log", "Return the natural logarithm of x, which must be positive.")
tanh = _unary("tanh", "Return the hyperbolic tangent.")
abs = _unary("abs", "Return the absolute value.")  # noqa: A001 (the name is meant)
sign = _unary("sign", "Return -1, 0 or 1.")
reciprocal = _unary("reciprocal", "Return 1/x; x must not be zero.")


def atan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), within ±π."""
    return _of("atan2", y, x)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two."""
    return _of("minimum", a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two."""
    return _of("maximum", a, b)


def clip(x: Any, low: Any, high: Any) -> Any:
    """Return x clipped to low .. high."""
    check_ends(low, high)
    return maximum(minimum(x, high), low)


def where_positive(x: Any, a: Any, b: Any) -> Any:
    """Return a if x is positive, else b."""
    return b + _of("step", x) * (a - b)
