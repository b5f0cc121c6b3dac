"""Claims of every method against the exhaustive minimum of functions of at most three inputs."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from twolevel.strategies import as_lists

from boolcomp.twolevel import pla
from boolcomp.twolevel.minimise import METHODS, minimise

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.twolevel.cover import Cover

LETTERS = {"0": "0", "1": "1", "-": "01"}


def points_of(term: str, outputs: str, inputs: int) -> int:
    """Return a product as a set of (output, point) pairs, one bit each."""
    found = 0
    for point in product(*(LETTERS[letter] for letter in term)):
        for j, letter in enumerate(outputs):
            if letter == "1":
                found |= 1 << ((j << inputs) + int("".join(point) or "0", 2))
    return found


def demands(rows: list[tuple[str, str]], kind: str, inputs: int, outputs: int) -> tuple[int, int]:
    """Return the pairs to cover and those that may be covered, by the letters of PLA rows."""
    everything = (1 << (outputs << inputs)) - 1
    sets = {
        letter: [(term, "".join("01"[c == letter] for c in word)) for term, word in rows]
        for letter in "01-"
    }
    on, off, dc = (
        sum_of(points_of(*row, inputs) for row in sets[letter]) if meant in kind else 0
        for letter, meant in (("1", "f"), ("0", "r"), ("-", "d"))
    )
    return on & ~dc, (everything & ~off) if "r" in kind else on | dc


def sum_of(masks: Iterable[int]) -> int:
    """Return the union."""
    union = 0
    for mask in masks:
        union |= mask
    return union


def fewest(required: int, allowed: int, inputs: int, outputs: int) -> int:
    """Return the least number of products, found by trying all of them, one more at a time."""
    masks = set()
    for term in map("".join, product("01-", repeat=inputs)):
        mask = 0
        for j in range(outputs):
            part = points_of(term, "0" * j + "1", inputs)
            mask |= part if not part & ~allowed else 0
        masks.add(mask & required)
    covered, count = {0}, 0
    while required not in covered:
        covered = {have | mask for have in covered for mask in masks}
        count += 1
    return count


def computed(cover: Cover) -> int:
    """Return the pairs that a cover holds."""
    cubes = cover.cubes
    return sum_of(points_of(*row, cubes.inputs) for row in cubes.rows())


@st.composite
def files(draw: st.DrawFn) -> tuple[int, int, str, list[tuple[str, str]]]:
    """Return inputs, outputs, type and rows of small PLA files without contradictions."""
    inputs, outputs = draw(st.integers(0, 3)), draw(st.integers(0, 2))
    kind = draw(st.sampled_from(pla.KINDS))
    term = st.text("01-", min_size=inputs, max_size=inputs)
    if "r" in kind:  # one letter a point, so that nothing contradicts
        terms = ["".join(p) for p in product("01", repeat=inputs)]
        words = [draw(st.text("01-~", min_size=outputs, max_size=outputs)) for _ in terms]
        return inputs, outputs, kind, list(zip(terms, words, strict=True))
    word = st.text("01-", min_size=outputs, max_size=outputs)
    return inputs, outputs, kind, draw(st.lists(st.tuples(term, word), max_size=7))


def check(file: tuple[int, int, str, list[tuple[str, str]]], method: str, *, dense: bool) -> None:
    """Hold what a method claims against the truth."""
    inputs, outputs, kind, rows = file
    if inputs + outputs == 0:
        rows = []
    body = "".join(f"{term} {word}\n" for term, word in rows)
    text = f".i {inputs}\n.o {outputs}\n.type {kind}\n{body}.e\n"
    function = pla.parse(text).function()
    cover = minimise(function if dense else as_lists(function), method)
    required, allowed = demands(rows, kind, inputs, outputs)
    least = fewest(required, allowed, inputs, outputs)
    got = computed(cover)
    assert not required & ~got
    assert not got & ~allowed
    assert cover.lower_bound <= least <= cover.products
    assert cover.proved == (cover.lower_bound == cover.products)
    if method == "exact":
        assert cover.proved


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(file=files(), dense=st.booleans())
@example(file=(0, 1, "fd", [("", "1"), ("", "-")]), dense=False)
def test_no_method_claims_more_than_is_true(
    method: str,
    file: tuple[int, int, str, list[tuple[str, str]]],
    dense: bool,  # noqa: FBT001 (drawn)
) -> None:
    check(file, method, dense=dense)
