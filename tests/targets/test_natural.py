"""Code of signed products gives the words of the graph, whatever the graph is."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from exports import expected, run_avr, run_c, words_of
from targets.exported import of_graph

from boolcomp.measure.verification.checks import own_checks
from boolcomp.targets import export_texts
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
    from pathlib import Path

    from boolcomp.program.program import Program
    from boolcomp.words.graph import HeapPart, Node


def some_graph(seed: int, widest: int) -> WordGraph:
    """Return a graph of sums of tables, words and whole products, of words up to so many bits."""
    rng = np.random.default_rng(seed)

    def pick(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    nodes: list[Node] = [InputWord(f"x{k}", pick(2, widest), angle=k < 2) for k in range(3)]
    for first, second in ((0, 1), (3, 0)):
        turns = (Turn(first, pick(1, nodes[first].bits), pick(0, 2), negative=False),
                 Turn(second, nodes[second].bits, pick(0, 2), negative=True))  # fmt: skip
        nodes.append(Angles(turns, 5, pick(3, 10)))
    for k in range(8):
        source = pick(0, len(nodes) - 1) if k < 5 else k - 5 if k < 7 else 3
        read = min(nodes[source].bits, pick(1, 7))
        entries = tuple(rng.integers(0, 1 << (bits := pick(1, widest)), 1 << read).tolist())
        nodes.append(Lookup(source, read, entries, bits))
    for _ in range(4):
        parts: list[HeapPart] = []
        for _ in range(pick(1, 4)):
            a, b, negative = pick(0, len(nodes) - 1), pick(0, len(nodes) - 1), bool(pick(0, 1))
            drop_a, drop_b = (min(pick(0, 2), nodes[k].bits - 1) for k in (a, b))
            if pick(0, 1):
                parts.append(PartialProducts(a, drop_a, b, drop_b, pick(0, 2), negative))
            else:
                parts.append(Bits(a, drop_a, pick(0, 3), negative))
        nodes.append(Heap(tuple(parts), pick(-99, 99), pick(2, 2 * widest), wraps=True))
    heaps = range(len(nodes) - 2, len(nodes))
    results = tuple(
        OutputWord(k, drop := pick(0, nodes[k].bits - 1), pick(1, nodes[k].bits - drop))
        for k in heaps
    )
    return WordGraph(tuple(nodes), (Scale(0, 0.0),) * len(nodes), results)


def of_code(graph: WordGraph) -> Program:
    """Return a graph's program, made for a microcontroller."""
    meanings = tuple(f"w{k}" for k in range(len(graph.nodes)))
    return replace(of_graph("some", graph, meanings), demand="bits=8 target=mcu8")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
@pytest.mark.parametrize("seed", range(8))
def test_signed_products_and_loose_sums_give_the_words_of_the_graph(
    seed: int, tmp_path: Path
) -> None:
    program = of_code(some_graph(seed, 5 + 2 * (seed % 4)))
    words = words_of(program, 2000)
    files = export_texts(program, "c")
    assert any("int8_t)" in str(text) or "int16_t)" in str(text) for text in files.values())
    wanted = expected(program, words)
    for flags in (("-O2",), ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover")):
        assert np.array_equal(run_c(files, words, tmp_path, "gcc", *flags), wanted)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("simavr"), reason="needs avr-gcc and simavr")
@pytest.mark.parametrize("seed", [1, 2, 6])
def test_they_do_so_where_an_int_has_16_bits(seed: int, tmp_path: Path) -> None:
    program = of_code(some_graph(seed, 5 + 2 * (seed % 4)))
    words = words_of(program, 60)[:200]
    wrong, _ = run_avr(export_texts(program, "c"), words, expected(program, words), tmp_path)
    assert wrong == 0


def test_a_product_in_a_sum_is_one_multiplication_and_a_sum_begins_at_a_byte() -> None:
    nodes = (
        InputWord("x", 7, angle=False), InputWord("y", 7, angle=False),
        Heap((PartialProducts(0, 0, 1, 0, 0, negative=False),), 64, 15),
    )  # fmt: skip
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 3, (OutputWord(2, 7, 8),))
    text = str(export_texts(of_code(graph), "c")["some.c"])
    body = text[text.index("{\n    unsigned saturated") :]
    assert body.count(" * ") == 1
    assert "(int8_t)(unsigned)x_signed * (int8_t)(unsigned)y_signed" in body
    assert ">> 8" in body
    assert "& 255U" not in body


def test_the_logic_of_a_program_for_code_is_that_of_its_graph_node_for_node() -> None:
    program = of_code(some_graph(3, 6))
    name = "network against the graph's logic"
    check = next(one for one in own_checks(program, None, 60.0, lambda _: None) if one.name == name)
    assert (check.method, check.holds) == ("structure", True)
