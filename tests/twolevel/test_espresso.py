"""Espresso in its own process: right when it works, a sentence when it does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from twolevel.robot_tables import table as robot_table
from twolevel.strategies import functions, implements

from boolcomp.twolevel import espresso, espresso_worker
from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes

needs_pyeda = pytest.mark.skipif(not espresso.available(), reason="pyeda is not installed")


@needs_pyeda
@settings(max_examples=8)
@given(functions())
def test_its_cover_implements_the_function(function: Function) -> None:
    answer = espresso.run(function, function.on)
    assert answer.note == ""
    assert answer.cubes is not None
    assert implements(function, answer.cubes)


@needs_pyeda
def test_an_off_set_given_leaves_it_free_elsewhere() -> None:
    on = Cubes.from_rows(3, 2, [("111", "11"), ("100", "10")])
    function = Function.from_cubes(on, None, Cubes.from_rows(3, 2, [("0--", "11")]))
    answer = espresso.run(function, on)
    assert answer.cubes is not None
    assert answer.cubes.rows() == [("1--", "11")]


@pytest.mark.slow
@needs_pyeda
def test_it_is_stopped_at_the_deadline() -> None:
    function = Function.from_dense(robot_table("T11"))
    function.on  # noqa: B018 (drawn up before the clock starts)
    answer = espresso.run(function, function.on, 0.5)
    assert answer.cubes is None
    assert "stopped after 0.5 s" in answer.note


@needs_pyeda
def test_a_worker_that_dies_is_reported() -> None:
    contradiction = Function(
        3,
        1,
        Cubes.from_rows(3, 1, [("1--", "1")]),
        Cubes.empty(3, 1),
        Cubes.from_rows(3, 1, [("11-", "1")]),
    )
    answer = espresso.run(contradiction, contradiction.on)
    assert answer.cubes is None
    assert "died with exit code 1" in answer.note


@needs_pyeda
def test_a_memory_limit_is_kept() -> None:
    function = Function.from_dense(robot_table("T12"))
    answer = espresso.run(function, function.on, memory=1 << 20)
    assert answer.cubes is None
    assert answer.note


def test_without_pyeda_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(espresso, "find_spec", lambda _: None)
    on = Cubes.from_rows(1, 1, [("1", "1")])
    answer = espresso.run(Function.from_cubes(on), on)
    assert answer.cubes is None
    assert "not installed" in answer.note


class Does:
    """What a worker unpickles as a function of this text: it knows no module of the tests."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (f"lambda *_: exec({self.text!r})",)


@pytest.mark.parametrize(("text", "words"), [
    ("import os; os.kill(os.getpid(), 9)", "died by signal 9"),
    ("raise ImportError", "cannot be imported"),
    ("raise MemoryError", "more than 2048 MiB"),
    ("raise ValueError('x')", "Espresso failed: x"),
    ("import sys; sys.exit('boom')", "exit code 1: boom"),
])  # fmt: skip
def test_whatever_a_worker_does_becomes_a_sentence(
    text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(espresso_worker, "minimised", Does(text))
    monkeypatch.setattr(espresso, "find_spec", lambda _: True)
    on = Cubes.from_rows(1, 1, [("1", "1")])
    answer = espresso.run(Function.from_cubes(on), on)
    assert answer.cubes is None
    assert words in answer.note
