"""The words engine gives what a word graph says, digit by digit, and what its logic gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boolcomp.codes import Code
from boolcomp.common.errors import DataError, UsageError
from boolcomp.compact.graph.logic import word_logic
from boolcomp.engines import evaluate, make_engine
from boolcomp.engines.native import machine
from boolcomp.engines.planes import NumpyEngine
from boolcomp.engines.wiring import Call, Cut, Port, Result, Stop, Wiring, WordLogic
from boolcomp.engines.wordwise import WordEngine
from boolcomp.parallel.sharding.pool import ProcessPool
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group
from boolcomp.words.graph import (
    Angles,
    Bits,
    Heap,
    InputWord,
    Lookup,
    OutputWord,
    PartialProducts,
    Scale,
    Turn,
    WordGraph,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.engines import Evaluation
    from boolcomp.words.graph import HeapPart, Node

SAMPLES = 64 * 2 + 3
UNIT = Interval(-1.0, 1.0)


def bits_of(word: int, bits: int) -> list[int]:
    return [word >> k & 1 for k in range(bits)]


def total_of(parts: list[HeapPart], words: list[int], nodes: tuple[Node, ...]) -> int:
    """Return what the digits of a heap count, one after the other."""
    total = 0
    for part in parts:
        if isinstance(part, Bits):
            digits = bits_of(words[part.node], nodes[part.node].bits)[part.drop :]
            found = [(part.column + k, bit) for k, bit in enumerate(digits)]
        else:
            a = bits_of(words[part.a], nodes[part.a].bits)[part.drop_a :]
            b = bits_of(words[part.b], nodes[part.b].bits)[part.drop_b :]
            found = [
                (part.column + i + j, int(x == y)) for i, x in enumerate(a) for j, y in enumerate(b)
            ]
        total += sum((bit ^ part.negative) << column for column, bit in found if column >= 0)
    return total


def interpreted(graph: WordGraph, given: list[int]) -> tuple[list[int], int]:
    """Return the outputs' words for one sample, and how many saturated."""
    words = list(given)
    for node in graph.nodes[len(given) :]:
        if isinstance(node, Lookup):
            source = bits_of(words[node.source], graph.nodes[node.source].bits)
            leading = source[len(source) - node.read :]
            index = [bit for k, bit in enumerate(leading) if not node.mask or node.mask >> k & 1]
            words.append(node.entries[sum(bit << k for k, bit in enumerate(index))])
        elif isinstance(node, Angles):
            total = node.constant
            for turn in node.turns:
                source = bits_of(words[turn.node], graph.nodes[turn.node].bits)
                leading = source[len(source) - turn.read :]
                total += sum((b ^ turn.negative) << k + turn.shift for k, b in enumerate(leading))
            words.append(total % 2**node.bits)
        else:
            assert isinstance(node, Heap)
            total = node.constant + total_of(list(node.parts), words, graph.nodes)
            words.append(total % 2**node.bits)
    made, saturated = [], 0
    for result in graph.results:
        left = graph.nodes[result.node].bits - result.drop
        cell = words[result.node] // 2**result.drop - (2**left - 2**result.bits) // 2
        made.append(min(max(cell, 0), 2**result.bits - 1))
        saturated += made[-1] != cell
    return made, saturated


def random_graph(pick: Callable[[int, int], int]) -> WordGraph:
    """Return a graph of all kinds of nodes, parts, signs and widths."""
    nodes: list[Node] = [InputWord(f"x{k}", pick(1, 9), angle=False) for k in range(pick(1, 4))]
    for _ in range(pick(1, 7)):
        source = pick(0, len(nodes) - 1)
        read = pick(1, min(11, nodes[source].bits))
        kind = pick(0, 5)
        if kind <= 1:
            mask = pick(0, (1 << read) - 1) | 1 if kind else 0
            bits = pick(1, 17)
            count = 1 << (mask.bit_count() if mask else read)
            entries = tuple(pick(0, (1 << bits) - 1) for _ in range(count))
            nodes.append(Lookup(source, read, entries, bits, mask))
        elif kind == 2:
            turns = tuple(
                Turn(k, pick(1, nodes[k].bits), pick(0, 3), bool(pick(0, 1)))
                for k in (pick(0, len(nodes) - 1) for _ in range(pick(1, 3)))
            )
            bits = pick(2, 12)
            nodes.append(Angles(turns, pick(0, (1 << bits) - 1), bits))
        else:
            nodes.append(random_heap(pick, nodes))
    nodes.append(random_heap(pick, nodes))
    heaps = [k for k, node in enumerate(nodes) if isinstance(node, Heap)]
    results = []
    for _ in range(pick(1, 2)):
        node = heaps[pick(0, len(heaps) - 1)]
        drop = pick(0, min(3, nodes[node].bits - 1))
        results.append(OutputWord(node, drop, pick(1, min(16, nodes[node].bits - drop))))
    return WordGraph(tuple(nodes), tuple(Scale(0, 0.0) for _ in nodes), tuple(results))


def random_heap(pick: Callable[[int, int], int], nodes: list[Node]) -> Heap:
    parts: list[HeapPart] = []
    for _ in range(pick(1, 4)):
        a, b = pick(0, len(nodes) - 1), pick(0, len(nodes) - 1)
        drops = [pick(0, min(2, nodes[k].bits - 1)) for k in (a, b)]
        if pick(0, 1):
            parts.append(Bits(a, drops[0], pick(0, 4), bool(pick(0, 1))))
        else:
            column = pick(-9, 3)
            parts.append(PartialProducts(a, drops[0], b, drops[1], column, bool(pick(0, 1))))
    bits = pick(2, 19)
    return Heap(tuple(parts), pick(-300, (1 << bits) - 1), bits)


def wiring_of(graph: WordGraph, below: int = 0) -> Wiring:
    """Return the wiring of a graph whose input words have so many bits below those it reads."""
    groups = (Group("x", tuple(node.name for node in graph.inputs)),)
    ports: list[Port] = []
    planes = 0
    reads: list[int] = []
    for k, node in enumerate(graph.inputs):
        ports.append(Port(0, k, Code(UNIT, node.bits + below, "natural"), planes))
        reads += range(planes, planes + node.bits)
        planes += node.bits + below
    network = word_logic(graph)
    results = []
    first = planes
    for k, result in enumerate(graph.results):
        code = Code(UNIT, result.bits, "natural")
        results.append(Result(f"y{k}", code, first, first + result.bits))
        first += result.bits + 1
    logic = WordLogic(
        graph, tuple(Cut(k, below) for k in range(len(ports))), (None,) * len(results)
    )
    return Wiring(
        groups, tuple(ports), (network,), (Call(0, tuple(reads), planes),), tuple(results), first,
        logic=logic,
    )  # fmt: skip


def agree(graph: WordGraph, below: int, processors: list[machine.Processor | None]) -> None:
    """Hold the engine against the digits and against planes: singles, groups, columns, words."""
    wiring = wiring_of(graph, below)
    rng = np.random.default_rng(1)
    words = np.stack([rng.integers(0, port.code.cells, SAMPLES) for port in wiring.ports], axis=1)
    expected = [interpreted(graph, [int(x) >> below for x in row]) for row in words]
    wanted = np.array([made for made, _ in expected])
    saturated = sum(count for _, count in expected)
    planes = evaluate(NumpyEngine(wiring), [words], coded=True)
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
    rng = np.random.default_rng(seed)
    graph = random_graph(lambda low, high: int(rng.integers(low, high + 1)))
    agree(graph, seed % 3, [None])


def test_a_table_of_more_than_two_registers_is_looked_up_in_lanes() -> None:
    rng = np.random.default_rng(4)
    entries = tuple(int(x) for x in rng.integers(0, 1 << 9, 1 << 10))
    heap = Heap((Bits(1, 0, 0, negative=False),), 0, 9)
    nodes = (InputWord("x", 10, angle=False), Lookup(0, 10, entries, 9), heap)
    agree(WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 9),)), 0, [None])


def test_leading_bits_of_an_angle_that_wraps_are_those_of_what_is_left() -> None:
    x, y = InputWord("x", 4, angle=True), InputWord("y", 4, angle=True)
    wrapped = Angles((Turn(0, 4, 0, negative=False), Turn(1, 4, 1, negative=True)), 3, 4)
    wide = Angles((Turn(2, 3, 1, negative=False), Turn(0, 4, 2, negative=False)), 5, 6)
    heap = Heap((Bits(3, 0, 0, negative=False),), 0, 6)
    graph = WordGraph((x, y, wrapped, wide, heap), (Scale(0, 0.0),) * 5, (OutputWord(4, 0, 6),))
    agree(graph, 0, [None])


@pytest.mark.check
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 40))
def test_it_gives_what_the_digits_of_any_graph_say(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(lambda low, high: int(rng.integers(low, high + 1)))
    agree(graph, seed % 3, [None])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 13))
def test_it_does_so_without_wide_registers_and_permutes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(lambda low, high: int(rng.integers(low, high + 1)))
    agree(graph, 0, [machine.host().without_ternary()])


def rested(below: int) -> Wiring:
    """Return a wiring whose first output rests where its inputs are at zero."""
    rng = np.random.default_rng(3)
    wiring = wiring_of(random_graph(lambda low, high: int(rng.integers(low, high + 1))), below)
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
    whole = evaluate(NumpyEngine(wiring), [states], coded=False)
    assert tuple(counts) == (whole.saturated_inputs, whole.saturated_outputs, whole.beyond_stops)
    assert counts.min() > 0


def same(one: Evaluation, other: Evaluation) -> bool:
    """Tell whether two evaluations have the same types, numbers and counts."""
    alike = [
        getattr(one, name) == getattr(other, name)
        for name in ("saturated_inputs", "saturated_outputs", "beyond_stops")
    ]
    alike += [
        x.dtype == y.dtype and np.array_equal(x, y)
        for x, y in ((one.values, other.values), (one.words, other.words))
    ]
    return all(alike)


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
    import boolcomp as bc

    program = bc.compile("machado-2r", bits=6, rms_error=".43,.58")  # what ships
    fine = np.array([0.1, 0.2])
    for place in range(3):
        arrays = [fine, fine, fine]
        arrays[place : place + len(given)] = given
        said = []
        for engine in ("words", "auto", "llvm", "numpy"):
            try:
                said.append(repr(program.evaluate(*arrays[:3], engine=engine).values))
            except (DataError, UsageError) as error:
                said.append(f"{type(error).__name__} {error}")
        assert len(set(said)) == 1


def test_lists_numbers_and_arrays_of_one_state_are_alike() -> None:
    import boolcomp as bc

    program = bc.compile("machado-2r", bits=6, rms_error=".43,.58")
    expected = program.evaluate([[0.5, 1.0]], [[0.25, -0.5]], [[1.0, 0.0]], engine="numpy")
    for state in (
        ([0.5, 1.0], (0.25, -0.5), [1.0, 0.0]),
        (np.array([0.5, 1.0]), [0.25, -0.5], np.array([1, 0])),
        tuple(np.array(x, np.float32) for x in ([0.5, 1.0], [0.25, -0.5], [1.0, 0.0])),
    ):
        found = program.evaluate(*state)
        assert np.array_equal(found.values, expected.values[0])
        assert np.array_equal(found.words, expected.words[0])
    named = program(q1=0.5, q2=1.0, qd=[0.25, -0.5], qdd=[1.0, 0.0])
    assert np.array_equal(named, expected.values[0])


def test_results_of_one_state_are_the_callers_own() -> None:
    import boolcomp as bc

    program = bc.compile("machado-2r", bits=6, rms_error=".43,.58")
    first = program.evaluate([0.5, 1.0], [0.0, 0.0], [0.0, 0.0])
    kept = first.values.copy()
    program.evaluate([-2.5, 2.0], [0.5, 0.5], [0.5, 1.0])
    assert np.array_equal(first.values, kept)


def test_threads_share_a_batch_and_change_nothing() -> None:
    wiring = rested(2)
    rng = np.random.default_rng(6)
    states = rng.uniform(-1.3, 1.3, (64 * 64 * 3 + 70, wiring.groups[0].size))
    one, three = (
        evaluate(WordEngine(wiring, threads), [states], coded=False) for threads in (1, 3)
    )
    assert same(one, three)
    assert same(one, evaluate(NumpyEngine(wiring), [states], coded=False))


def test_helper_processes_have_no_words() -> None:
    import boolcomp as bc

    program = bc.compile("machado-2r", bits=6, rms_error=".43,.58")
    with pytest.raises(UsageError, match="engine 'words' runs in one process"):
        ProcessPool(program, engine="words")


def test_a_program_without_words_is_told_so() -> None:
    wiring = replace(rested(0), logic=None)
    with pytest.raises(UsageError, match="engine 'words' needs a word graph"):
        make_engine(wiring, "words")


def test_of_two_engines_the_one_with_fewer_operations_is_taken() -> None:
    import boolcomp as bc

    engine = bc.compile("machado-2r", bits=6, rms_error=".43,.58").engine()
    assert engine.name == "auto"
    assert engine.takes_words(1)  # type: ignore[attr-defined]  # only `auto` has the choice
    assert not engine.takes_words(1 << 20)  # type: ignore[attr-defined]
