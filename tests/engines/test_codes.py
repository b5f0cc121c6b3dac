"""Signed codes and planes through the native engine, in every width: cells that are handed on."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from engines.test_engines import KINDS
from engines.test_words import SETS, through
from numpy.typing import NDArray

from boolcomp.base import UsageError
from boolcomp.engines import NativeEngine

HERE = [int(kind) for kind in KINDS[1:]]
CODES = {name: SETS[name] for name in ("bytes", "mixed")}


@cache
def engine(name: str, width: int) -> NativeEngine:
    return NativeEngine(through(name), width)


def columns(name: str, count: int) -> list[NDArray[Any]]:
    """Return a column of signed codes for each port, with bits above those that count."""
    rng = np.random.default_rng(count)
    kinds: list[Any] = [np.int8 if code.bits <= 8 else np.int16 for code in SETS[name]]
    return [rng.integers(-128, 128, count).astype(kind) * 37 for kind in kinds]


def check(name: str, found: Any, given: list[NDArray[Any]]) -> None:
    """Hold codes against those that were given; those of the upper half are marked."""
    high = 0
    for made, column, code in zip(found.columns, given, SETS[name], strict=True):
        half = code.cells // 2
        expected = (column.astype(int) + half) % code.cells - half
        assert made.dtype == column.dtype
        assert np.array_equal(made, expected)
        high += int((expected >= 0).sum())
    assert found.saturated == high


@pytest.mark.slow
@pytest.mark.parametrize("width", HERE)
@pytest.mark.parametrize("name", CODES)
def test_codes_of_columns_and_of_planes_are_those_of_their_words(name: str, width: int) -> None:
    chosen, bits = engine(name, width), sum(code.bits for code in SETS[name])
    for count in (0, 1, 1500):
        given = columns(name, count)
        check(name, chosen.run_codes(given), given)
    planes = chosen.to_planes(given)
    assert planes.shape == (-(-1500 // width), bits, width // 8)
    made = chosen.run_planes(planes)
    check(name, chosen.from_planes(made, 1500), given)
    again = np.empty_like(made)
    assert chosen.run_planes(planes, again) is again
    assert (again == made).all()


def test_what_does_not_fit_is_an_error_that_says_what_would() -> None:
    chosen, given = engine("bytes", HERE[0]), columns("bytes", 10)
    with pytest.raises(UsageError, match=r"input column 0 is int32 .*; give int8"):
        chosen.run_codes([given[0].astype(np.int32), *given[1:]])
    with pytest.raises(UsageError, match="1 input columns are given, but 2 are needed"):
        chosen.run_codes(given[:1])
    with pytest.raises(UsageError, match="output columns must be contiguous and hold 10 samples"):
        chosen.run_codes(given, [np.empty(9, np.int8)] * 2)
    with pytest.raises(UsageError, match="input planes are uint8 of shape"):
        chosen.run_planes(np.zeros((1, 2, chosen.width // 8), np.uint8))
    with pytest.raises(UsageError, match="0 threads"):
        NativeEngine(through("bytes"), threads=0)
