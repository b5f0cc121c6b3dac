"""Cells by one multiplication and addition: never wrong where they claim to be right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from boolcomp.codes import Code
from boolcomp.engines import LARGE_HIGH, MARGIN, coarse, fine
from boolcomp.problem import Interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


@st.composite
def codes(draw: st.DrawFn) -> Code:
    low = draw(st.sampled_from([-np.pi, -1.0, -0.1, 0.0, 3.7]) | st.floats(-40, 40))
    width = draw(st.sampled_from([2 * np.pi, 2.0, 0.3]) | st.floats(0.01, 80))
    return Code(Interval(low, low + width), draw(st.integers(1, 14)), "natural")


def around_borders(code: Code, kind: Any) -> NDArray[Any]:
    """Return values on, close to and about a tie's width below borders, and some between."""
    rng = np.random.default_rng(0)
    some = np.unique(rng.integers(0, code.cells + 1, 200))
    places = some[:, None] + np.concatenate([[0, 0.5], -(10.0 ** np.arange(-13, -2)), [-1.0001e-9]])
    values = (code.range.low + places.ravel() * code.step).astype(kind)
    near = [np.nextafter(values, kind(end)) for end in (-np.inf, np.inf)]
    found: NDArray[Any] = np.concatenate([values, *near, rng.uniform(-50, 50, 50).astype(kind)])
    return found


def inside(code: Code, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are in the range, or within a cell's millionth of its ends."""
    slack = code.step * 1e-6 + abs(code.range.high) * 1e-6
    kept: NDArray[np.bool_] = values >= code.range.low - slack
    return kept & (values <= code.range.high + slack)


@given(codes(), st.sampled_from([np.float32, np.float64]), st.sampled_from(["fused", "rounded"]))
def test_doubles_beyond_doubt_are_in_their_cells(code: Code, kind: Any, product: str) -> None:
    found = fine(code)
    assume(found is not None)
    assert found is not None
    values = around_borders(code, kind).astype(np.float64)
    made: NDArray[Any]
    if product == "fused":
        made = values.astype(np.longdouble) * found[0] + np.longdouble(found[1])
    else:
        made = values * found[0] + found[1]
    bits = made.astype(np.float64).view(np.int64)
    cells = (bits >> 32) - LARGE_HIGH + code.cells // 2
    sure = (cells >= 0) & (cells < code.cells) & ((bits & 0xFFFF_FFFF) < (1 << 32) - MARGIN)
    assert sure.any()
    assert (cells[sure] == code.cell(values[sure])[0]).all()
    assert inside(code, values[sure]).all()


@given(codes())
def test_floats_beyond_doubt_are_in_their_cells(code: Code) -> None:
    found = coarse(code)
    assume(found is not None)
    assert found is not None
    values = around_borders(code, np.float32)
    # The product is exact in double, and the sum nearly: as if it were rounded but once.
    made = (values.astype(np.float64) * found.factor + found.added).astype(np.float32)
    bits = made.view(np.uint32).astype(np.int64)
    cells = (bits >> found.places) - (127 + code.bits << 23 - found.places)
    place = bits & (1 << found.places) - 1
    sure = (cells >= 0) & (cells < code.cells) & (place < (1 << found.places) - found.doubt)
    assert (cells[sure] == code.cell(values[sure])[0]).all()
    assert inside(code, values[sure]).all()
