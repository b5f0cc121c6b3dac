"""The functions that a user's function may use: of recorded values, of numbers, of numpy's arrays.

Each is one text for all three, so that the function which is compiled can be run as it is.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, UsageError, number, shown
from boolcomp.problem.expressions.algebra import step
from boolcomp.problem.expressions.algebra import wrap as wrapped
from boolcomp.problem.written import tracing as recorded
from boolcomp.problem.written.tracing import Value

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "abs", "acos", "asin", "atan", "atan2", "clip", "cos", "exp", "log", "maximum", "minimum",
    "reciprocal", "sign", "sin", "sqrt", "tan", "tanh", "where_positive", "wrap",
]  # fmt: skip


def _of(kind: str, exact: Callable[..., Any], *given: Any) -> Any:
    """Return a recorded step where a value is among what is given, else what numpy makes of it."""
    for x in given:
        if isinstance(x, Value):
            if kind in recorded.COMPOSED:
                return recorded.COMPOSED[kind](*given)
            return x.recorder.step(kind, *given)
    return _known(kind, exact, *given)


def _known(kind: str, exact: Callable[..., Any], *given: Any) -> Any:
    """Return a function of arrays, or of numbers, whose value must be one."""
    arrays = [np.asarray(x) for x in given]
    if any(x.dtype.kind not in "fiu" for x in arrays):
        wrong = next(x for x, a in zip(given, arrays, strict=True) if a.dtype.kind not in "fiu")
        raise UsageError(f"{kind} takes numbers and arrays of them, not {shown(wrong)}")
    floats = [x.astype(np.float64) for x in arrays]
    if any(x.ndim for x in floats):
        return exact(*floats)
    with np.errstate(all="ignore"):
        found = float(exact(*floats))
    if not math.isfinite(found):
        of = ", ".join(number(float(x)) for x in floats)
        raise DataError(f"{kind}({of}) has no value")
    return found


def sin(x: Any) -> Any:
    """Return the sine of an angle in rad."""
    return _of("sin", np.sin, x)


def cos(x: Any) -> Any:
    """Return the cosine of an angle in rad."""
    return _of("cos", np.cos, x)


def tan(x: Any) -> Any:
    """Return the tangent of an angle in rad: its cosine must not be zero."""
    return _of("tan", np.tan, x)


def asin(x: Any) -> Any:
    """Return the angle within ±π/2 with this sine, of -1 .. 1."""
    return _of("asin", np.arcsin, x)


def acos(x: Any) -> Any:
    """Return the angle within 0 .. π with this cosine, of -1 .. 1."""
    return _of("acos", np.arccos, x)


def atan(x: Any) -> Any:
    """Return the angle within ±π/2 with this tangent."""
    return _of("atan", np.arctan, x)


def atan2(y: Any, x: Any) -> Any:
    """Return the angle of the point (x, y), within ±π."""
    return _of("atan2", np.arctan2, y, x)


def wrap(x: Any) -> Any:
    """Return an angle turned by whole turns into ±π: a number, to be used as any other."""
    return _of("wrap", wrapped, x)


def sqrt(x: Any) -> Any:
    """Return the square root of what is not negative."""
    return _of("sqrt", np.sqrt, x)


def exp(x: Any) -> Any:
    """Return e to the power of x."""
    return _of("exp", np.exp, x)


def log(x: Any) -> Any:
    """Return the natural logarithm of what is positive."""
    return _of("log", np.log, x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    return _of("tanh", np.tanh, x)


def abs(x: Any) -> Any:  # noqa: A001 (the name is meant)
    """Return the size of a number."""
    return _of("abs", np.abs, x)


def sign(x: Any) -> Any:
    """Return -1, 0 or 1."""
    return _of("sign", np.sign, x)


def reciprocal(x: Any) -> Any:
    """Return 1/x of what is not zero."""
    return _of("reciprocal", lambda y: 1.0 / y, x)


def minimum(a: Any, b: Any) -> Any:
    """Return the smaller of two."""
    return _of("minimum", np.minimum, a, b)


def maximum(a: Any, b: Any) -> Any:
    """Return the larger of two."""
    return _of("maximum", np.maximum, a, b)


def clip(x: Any, low: Any, high: Any) -> Any:
    """Return x held within low .. high."""
    ends = [end for end in (low, high) if isinstance(end, (int, float))]
    if len(ends) == 2 and ends[0] > ends[1]:
        raise UsageError(f"clip holds within {low} .. {high}: the first must be the smaller")
    return maximum(minimum(x, high), low)


def where_positive(x: Any, a: Any, b: Any) -> Any:
    """Return a where x is positive, else b."""
    return b + _of("step", step, x) * (a - b)
