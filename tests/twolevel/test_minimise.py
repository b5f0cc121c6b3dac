"""The one function for every method: always a verified cover, and no claim beyond the truth."""

import hashlib
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from twolevel.strategies import (
    as_lists,
    functions,
    implements,
    in_pairs,
    of_rows,
    random_table,
    robot_table,
    slow_minimum,
)  # fmt: skip

from boolcomp.twolevel import Cubes, Function, minimise

needs_pyeda = pytest.mark.skipif(find_spec("pyeda") is None, reason="pyeda is not installed")
BLOCKS = of_rows(*in_pairs(24))  # whose OFF set is made of 2^24 parts


@given(functions(), st.sampled_from(["isop", "own"]), st.booleans())
def test_every_method_implements_the_function(
    function: Function,
    method: str,
    dense: bool,  # noqa: FBT001 (drawn)
) -> None:
    cover = minimise(function if dense else as_lists(function), method)
    assert implements(function, cover.cubes)
    assert cover.lower_bound <= cover.products
    assert not cover.proved or cover.lower_bound in (cover.products, 0, 1)
    assert cover.note == ""


# claims beside the exhaustive minimum of functions of at most three inputs -----------------------
@pytest.mark.slow
@pytest.mark.parametrize("method", ["isop", "own", "espresso", "exact"])
@settings(max_examples=30)
@given(function=functions(3), dense=st.booleans(), free=st.booleans())
def test_no_method_claims_more_than_is_true(
    method: str,
    function: Function,
    dense: bool,  # noqa: FBT001 (drawn)
    free: bool,  # noqa: FBT001 (drawn: a part of the OFF set alone is given)
) -> None:
    if free:
        off = function.off.take(np.arange(len(function.off)) % 2 == 0)
        function = Function.from_cubes(function.on, off=off)
    cover = minimise(function if dense else as_lists(function), method)
    least, _ = slow_minimum(Function.from_dense(function.dense) if free else function)
    assert implements(function, cover.cubes)
    assert cover.lower_bound <= least <= cover.products
    assert cover.proved == (cover.lower_bound == cover.products)
    assert cover.proved or method != "exact"


@pytest.mark.parametrize("method", ["isop", "own"])
@pytest.mark.parametrize("inputs", [0, 7, 50])
def test_empty_and_constant_functions_have_covers_of_no_and_one_product(
    method: str, inputs: int
) -> None:
    always = Cubes.from_rows(inputs, 2, [("-" * inputs, "11")])
    for cubes in (Cubes.empty(inputs, 2), always, Cubes.empty(inputs, 0)):
        cover = minimise(Function.from_cubes(cubes), method)
        assert (cover.cubes.rows(), cover.proved) == (cubes.rows(), True)


@pytest.mark.parametrize("method", ["isop", "own", "exact", "espresso"])
@pytest.mark.parametrize("inputs", [3, 30])
def test_what_need_not_be_covered_takes_no_product(method: str, inputs: int) -> None:
    """Two don't-cares hold together what ON says of the first output; the second is free too."""
    rest = "-" * (inputs - 2)
    on = Cubes.from_rows(inputs, 2, [("11" + rest, "10"), ("0-" + rest, "01")])
    dc = [("1-" + rest[1:] + "0", "10"), ("1-" + rest[1:] + "1", "10"), ("--" + rest, "01")]
    cover = minimise(Function.from_cubes(on, Cubes.from_rows(inputs, 2, dc)), method)
    assert (cover.products, cover.lower_bound, cover.proved) == (0, 0, True)


def test_an_off_set_out_of_reach_is_told_and_the_cover_is_right() -> None:
    cover = minimise(BLOCKS, "own")
    assert "OFF set is too large" in cover.note
    assert implements(BLOCKS, cover.cubes)


def test_products_grow_within_on_and_dont_care_where_the_off_set_is_out_of_reach() -> None:
    halves = [("0" + term[1:] if term[0] == "-" else term, o) for term, o in in_pairs(24)]
    free = [("1" + term[1:], "1") for term, _ in in_pairs(24) if term[0] == "-"]
    on, dc = (Cubes.from_rows(48, 1, rows) for rows in (halves, free))
    cover = minimise(Function.from_cubes(on, dc), "own")
    assert (cover.products, cover.literals) == (24, 48)
    assert implements(Function.from_cubes(on, dc), cover.cubes)


@pytest.mark.slow
@pytest.mark.parametrize("deadline", [0.0, 0.5])
def test_a_cover_at_the_deadline_is_right(deadline: float) -> None:
    hard = Function.from_dense(random_table(np.random.default_rng(0), 14, 6, 0.5, 0.1))
    cover = minimise(hard, "own", deadline)
    assert implements(hard, cover.cubes)
    assert cover.note
    assert minimise(BLOCKS, "own", deadline).products == 24


def test_a_cover_that_does_not_verify_is_discarded_with_a_note(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wrong = Cubes.from_rows(11, 6, [("-" * 11, "111111")])
    monkeypatch.setattr("boolcomp.twolevel.heuristic.improve", lambda *_: (wrong, 1))
    table = robot_table("T12")
    cover = minimise(table, "own")
    assert "own's cover is discarded: output" in cover.note
    assert (cover.method, cover.proved) == ("isop", False)
    assert implements(Function.from_dense(table), cover.cubes)


@needs_pyeda
def test_espresso_is_free_beside_a_given_off_set() -> None:
    on = Cubes.from_rows(3, 2, [("111", "11"), ("100", "10")])
    function = Function.from_cubes(on, None, Cubes.from_rows(3, 2, [("0--", "11")]))
    assert minimise(function, "espresso").cubes.rows() == [("1--", "11")]


@pytest.mark.slow
@needs_pyeda
def test_espresso_is_stopped_at_the_deadline() -> None:
    function = Function.from_dense(robot_table("T11"))
    cover = minimise(function, "espresso", 0.3)
    assert cover.method == "isop"
    assert "Espresso was stopped after 0." in cover.note


def test_without_espresso_the_irredundant_sum_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.twolevel.minimisation.find_spec", lambda _: None)
    cover = minimise(robot_table("T12"), "espresso")
    assert cover.method == "isop"
    assert "pyeda is not installed" in cover.note


class Does:
    """What a worker unpickles as a function of this text: it knows no module of the tests."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"lambda *_: exec({self.text!r})",)


@pytest.mark.parametrize(("text", "words"), [
    ("import os; os.kill(os.getpid(), 9)", "died (SIGKILL"),
    ("raise ImportError", "cannot be imported"), ("raise MemoryError", "more than 2048 MiB"),
    ("raise ValueError('x')", "Espresso failed: x"),
    ("import sys; sys.exit('boom')", "(exit code 1): boom"),
])  # fmt: skip
def test_whatever_a_worker_does_becomes_a_sentence(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.twolevel.espresso_worker.minimised", Does(text))
    monkeypatch.setattr("boolcomp.twolevel.minimisation.find_spec", lambda _: True)
    cover = minimise(of_rows(("1", "1")), "espresso")
    assert cover.method == "isop"
    assert words in cover.note


SWEPT = {"heuristic.FEW_INPUTS": 1, "heuristic.SOME_INPUTS": 0}  # primes are not listed
SHORT = {"heuristic._LIMIT": 40, "heuristic._BUDGET": 500}
RECURSIVE = {"primes.LEAF_INPUTS": 2, "primes.MANY_CUBES": 99, "primes.PAIRS": 20}
WAYS: dict[str, tuple[str, bool, dict[str, int]]] = {
    "isop": ("isop", False, {}),
    "lists": ("isop", True, {}),
    "own": ("own", False, {}),
    "sweeps": ("own", False, SWEPT),
    "short sweeps": ("own", False, SWEPT | SHORT),
    "own lists": ("own", True, {}),
    "short lists": ("own", True, SHORT),
    "open lists": ("own", True, {"heuristic._MOST_OFF": 0}),  # an OFF set out of reach
    "exact": ("exact", False, {}),
    "recursion": ("exact", False, RECURSIVE),
    "searched": ("exact", True, {"primes.TABLE_POINTS": 1}),
    "unlisted": ("exact", False, {"exact.LEAF_INPUTS": 0}),
}
SHAPES = ((3, 2, 0.4, 0.2), (4, 2, 0.4, 0.2), (4, 3, 0.3, 0.3), (5, 1, 0.5, 0.1), (5, 2, 0.3, 0.1))
LARGER = ((6, 1, 0.5, 0.2), (6, 2, 0.3, 0.2), (7, 1, 0.4, 0.0))  # where that takes no time
EXACT, OWN_LISTS, SWEEPS = "8adbe4334c9e", "6827f5b45e7b", "dddd2d1b10d2"
RECORDED = {
    "isop": "fc7e1bcaea51", "lists": "f762624d3449", "own": "b9f413b77079", "sweeps": SWEEPS,
    "short sweeps": SWEEPS, "own lists": OWN_LISTS, "short lists": OWN_LISTS,
    "open lists": OWN_LISTS, "exact": EXACT, "recursion": EXACT, "searched": EXACT,
    "unlisted": EXACT,
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_small_function_has_the_cover_that_it_always_had(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, lists, changed = WAYS[way]
    for name, value in changed.items():
        monkeypatch.setattr(f"boolcomp.twolevel.{name}", value)
    found = hashlib.sha256()
    for seed, shape in enumerate(SHAPES if lists or method == "exact" else SHAPES + LARGER):
        function = Function.from_dense(random_table(np.random.default_rng(seed), *shape))
        cover = minimise(as_lists(function) if lists else function, method, effort=0.3)
        assert implements(function, cover.cubes)
        rows = "".join(f"{term} {owners}\n" for term, owners in cover.cubes.rows())
        found.update(f"{cover.lower_bound} {cover.proved}\n{rows}".encode())
    assert found.hexdigest()[:12] == RECORDED[way]
