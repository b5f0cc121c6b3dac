"""Boxes of inputs: spans of many at once, and bounds and sums that they confirm."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from shippedarms import built_of

from boolcomp.checker.errors.boxes import Boxes
from boolcomp.checker.errors.many import ByWord, Many, fixed, many_of
from boolcomp.checker.errors.plain import Plain
from boolcomp.checker.spans import ONE, Span
from boolcomp.checker.steps import DoesNotHoldError, NotCoveredError
from boolcomp.compact.result.explained import explained
from boolcomp.proof.bound.checked import claim_of


def plain_of(name: str, bits: int) -> Plain:
    built = built_of(name, bits)
    return Plain(claim_of(explained(built.compact, built.ends)))


@pytest.mark.parametrize("seed", range(10))
def test_products_and_multiples_of_many_hold_those_of_all_that_they_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (np.sort(rng.integers(-(1 << 29), 1 << 29, (2, 50)), axis=0) for _ in range(2))
    x, y = Many(a[0], a[1], 20), Many(b[0], b[1], 25)
    found, factor = (x * y).to(17), Fraction(float(rng.uniform(-3, 3)))
    times = x.times(factor, 15)
    for one in a:
        exact = [Fraction(int(k)) * factor / (1 << 20) for k in one]
        assert all(int(low) <= k * (1 << 15) for low, k in zip(times.low, exact, strict=True))
        assert all(int(high) >= k * (1 << 15) for high, k in zip(times.high, exact, strict=True))
        for two in b:
            pairs = [Fraction(int(k) * int(n), 1 << 45) for k, n in zip(one, two, strict=True)]
            assert all(int(low) <= k * (1 << 17) for low, k in zip(found.low, pairs, strict=True))
            assert all(
                int(high) >= k * (1 << 17) for high, k in zip(found.high, pairs, strict=True)
            )
    near = many_of(factor)
    assert int(near.low) <= factor * Fraction(2) ** near.scale <= int(near.high)


def test_a_range_of_words_that_wraps_holds_the_spans_of_all_of_them() -> None:
    rng = np.random.default_rng(5)
    values = np.array([int(k) << 60 for k in rng.integers(-99, 99, 32)], object)
    at = np.arange(32)
    found = ByWord(at, Span(values, values + ONE), 32, 10)
    exact = fixed(Span(values, values + ONE), 10)
    for first in range(-40, 40, 7):
        for long in range(1, 33):
            words = np.arange(first, first + long) % 32
            one = found.over(np.array([first]), np.array([first + long - 1]))
            assert one.low[0] == exact.low[words].min()
            assert one.high[0] == exact.high[words].max()


@pytest.mark.slow
def test_boxes_confirm_less_than_the_plain_bound_and_never_less_than_what_is_found() -> None:
    built, plain = built_of("machado-2r", 8), plain_of("machado-2r", 8)
    for column, output in enumerate(plain.claim.outputs):
        worst, moved = Fraction(built.worst.most[column]), plain.moved(output, column)
        rounding = Fraction(1, 2) - Fraction(1, 2 << plain.graph.results[column].drop)
        beside = rounding + abs(moved)
        whole = plain.error(output, column).size
        assert worst * Fraction(6, 5) * ONE < whole
        boxes = Boxes(plain, output.node)
        enough = worst * Fraction(6, 5) - beside
        boxes.confirm(-enough, enough, 200_000)
        small = worst * Fraction(999, 1000) - rounding - abs(moved)
        with pytest.raises(NotCoveredError, match="boxes did not confirm it: where w0 = "):
            boxes.confirm(-small, small, 50_000)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["elbow-3r", "puma560"])
def test_heaps_that_enclosures_leave_open_are_shown_to_fit(name: str) -> None:
    plain = plain_of(name, 8)
    places = {one.words[0]: k for k, one in enumerate(plain.claim.places) if one.words}
    assert plain.overflow
    for word in plain.overflow:
        assert Boxes(plain, places[word]).fits(300_000) > 0


def test_a_heap_that_does_overflow_is_named_with_words() -> None:
    plain = plain_of("machado-2r", 5)
    output = plain.claim.outputs[0]
    seen = plain.seen[output.node]
    boxes = Boxes(plain, output.node)
    assert boxes.fits(100) == 1
    narrow = Fraction(1, 8)  # as if its words stood for an eighth
    plain.seen[output.node] = type(seen)(
        seen.exact, seen.said, seen.error, seen.word,
        type(seen.line)(seen.line.start * narrow, seen.line.step * narrow),
    )  # fmt: skip
    with pytest.raises(DoesNotHoldError, match=r"may overflow: where w0 = \d+"):
        boxes.fits(20_000)
