"""The words engine gives what a word graph says, digit by digit, and what its logic gives."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_programs import same
from targets.exported import of_graph
from wordgraphs import interpreted, random_graph

import boolcomp as bc
from boolcomp.base import DataError, UsageError
from boolcomp.engines import Stop, Wiring, WordEngine, evaluate, host, make_engine
from boolcomp.problem import Interval
from boolcomp.scale import ProcessPool
from boolcomp.words import WordGraph

SAMPLES = 64 * 2 + 3


def wiring_of(graph: WordGraph, below: int = 0) -> Wiring:
    """Return the wiring of a graph whose input words have so many bits below those it reads."""
    return of_graph("graph", graph, below=below).wiring()


def agree(graph: WordGraph, below: int, processors: list[Any]) -> None:
    """Hold the engine against the digits and against planes: singles, groups, columns, words."""
    wiring = wiring_of(graph, below)
    rng = np.random.default_rng(1)
    words = np.stack([rng.integers(0, port.code.cells, SAMPLES) for port in wiring.ports], axis=1)
    expected = [interpreted(graph, [int(x) >> below for x in row]) for row in words]
    wanted = np.array([made for made, _ in expected])
    saturated = sum(count for _, count in expected)
    planes = evaluate(make_engine(wiring, "numpy"), [words], coded=True)
    assert np.array_equal(planes.words, wanted)
    for processor in processors:
        engine = WordEngine(wiring, processor=processor)
        found = evaluate(engine, [words], coded=True)
        assert np.array_equal(found.words, wanted)
        assert np.array_equal(found.values, planes.values)
        assert found.saturated_outputs == planes.saturated_outputs == saturated
        alone = evaluate(engine, [words[:7]], coded=True)
        assert np.array_equal(alone.words, wanted[:7])
        halves = [port.code.cells >> 1 for port in wiring.ports]
        columns = [
            (column - half).astype(np.int8 if 2 * half <= 256 else np.int16)
            for column, half in zip(words.T, halves, strict=True)
        ]
        codes = engine.run_codes(columns)
        for column, made, result in zip(codes.columns, wanted.T, wiring.results, strict=True):
            assert np.array_equal(column.astype(int) + (result.code.cells >> 1), made)
        assert codes.saturated == saturated


@pytest.mark.parametrize("seed", [2, 101, 123, 134])  # each has found a fault
def test_it_gives_what_the_digits_of_a_random_graph_say(seed: int) -> None:
    graph = random_graph(seed)
    agree(graph, seed % 3, [None])


@pytest.mark.check
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1 << 40))
def test_it_gives_what_the_digits_of_any_graph_say(seed: int) -> None:
    graph = random_graph(seed)
    agree(graph, seed % 3, [None])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 12])
def test_it_does_so_without_wide_registers_and_permutes(seed: int) -> None:
    graph = random_graph(seed)
    agree(graph, 0, [host().without_ternary()])


def rested(below: int) -> Wiring:
    """Return a wiring whose first output rests where its inputs are at zero."""
    wiring = wiring_of(random_graph(3), below)
    assert wiring.logic is not None
    stop = Stop(wiring.groups[0].members[0], Interval(-0.5, 0.25))
    return replace(wiring, stops=(stop,))


def test_one_state_is_what_a_batch_of_it_is_with_all_counts() -> None:
    wiring = rested(2)
    engine = make_engine(wiring, "words")
    assert isinstance(engine, WordEngine)
    rng = np.random.default_rng(5)
    states = rng.uniform(-1.3, 1.3, (300, wiring.groups[0].size))
    states[::7] = np.linspace(-1, 1, 43)[:, None]
    states[1::7] = np.arange(-21, 22)[:, None] / 64 - 1e-12  # all but on borders of cells
    states[2::7] = [[1 + 1e-12], [-1 - 1e-12], [-0.5], [0.25]] * 10 + [[0.0]] * 3  # all but beyond
    counts = np.zeros(3, int)
    for state in states:
        alone, usual = engine.state([state]), evaluate(engine, [state], coded=False)
        assert alone is not None
        assert same(alone, usual)
        assert alone.values.shape == usual.values.shape
        counts += alone.saturated_inputs, alone.saturated_outputs, alone.beyond_stops
    whole = evaluate(make_engine(wiring, "numpy"), [states], coded=False)
    assert tuple(counts) == (whole.saturated_inputs, whole.saturated_outputs, whole.beyond_stops)
    assert counts.min() > 0


PROGRAM = bc.compile("machado-2r", bits=6, rms_error=".43,.58")  # what ships
WRONG: list[list[Any]] = [
    [np.array([0.1, np.nan])],
    [np.array([np.inf, 0.1])],
    [np.array([0.1, 0.2, 0.3])],
    [np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([0.1, 0.2])],
    [["a", 0.1]],
    [[0.1, [0.2]]],
    [0.5],
    [np.array([0.1, 1e300])],
]


@pytest.mark.slow
@pytest.mark.parametrize("given", WRONG)
def test_what_is_wrong_with_one_state_is_said_as_of_a_batch(given: list[Any]) -> None:
    fine = np.array([0.1, 0.2])
    for place in range(3):
        arrays = [fine, fine, fine]
        arrays[place : place + len(given)] = given
        said = []
        for engine in ("words", "auto", "llvm", "numpy"):
            try:
                said.append(repr(PROGRAM.evaluate(*arrays[:3], engine=engine).values))
            except (DataError, UsageError) as error:
                said.append(f"{type(error).__name__} {error}")
        assert len(set(said)) == 1


def test_threads_share_a_batch_and_change_nothing() -> None:
    wiring = rested(2)
    rng = np.random.default_rng(6)
    states = rng.uniform(-1.3, 1.3, (64 * 64 * 3 + 70, wiring.groups[0].size))
    one, three = (
        evaluate(WordEngine(wiring, threads), [states], coded=False) for threads in (1, 3)
    )
    assert same(one, three)
    assert same(one, evaluate(make_engine(wiring, "numpy"), [states], coded=False))


def test_without_a_word_graph_or_in_several_processes_it_is_refused() -> None:
    with pytest.raises(UsageError, match="engine 'words' runs in one process"):
        ProcessPool(PROGRAM, shard="terms", engine="words")
    with pytest.raises(UsageError, match="which engine 'words' needs"):
        make_engine(replace(rested(0), logic=None), "words")
