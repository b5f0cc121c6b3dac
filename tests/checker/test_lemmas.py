"""From a graph to its final network: what is right passes, and what is not is found."""

from __future__ import annotations

import re
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from checker.certified import certified, changed, steps
from pysat.solvers import Minisat22

from boolcomp.base import DataError
from boolcomp.checker import (
    DoesNotHoldError,
    FirstNetwork,
    Nodes,
    Section,
    cone_clauses,
    letters,
    parse,
    primes,
    prove,
)
from boolcomp.proof import refutation, trimmed
from boolcomp.words import (
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
    simulate,
)

if TYPE_CHECKING:
    from pathlib import Path


@cache
def sections() -> dict[str, Section]:
    return dict(parse(certified().certificate).loads[0])


def small() -> WordGraph:
    """Return a graph with every kind of node, negative parts, cut products, and saturation."""
    nodes = (
        InputWord("a", 3, angle=True),
        InputWord("b", 3, angle=False),
        Angles((Turn(0, 3, 0, negative=False), Turn(1, 2, 1, negative=True)), 3, 4),
        Lookup(2, 3, (0, 3, 5, 6, 1, 2, 4, 7), 3),
        Lookup(0, 3, (4, 6, 1, 3), 3, 5),
        Heap((PartialProducts(3, 0, 1, 1, -1, negative=True), Bits(4, 1, 0, negative=True),
              PartialProducts(4, 0, 1, 0, 1, negative=False)), 45, 7),
    )  # fmt: skip
    results = (OutputWord(5, 1, 3), OutputWord(5, 2, 5))
    return WordGraph(nodes, tuple(Scale(0, 0.0) for _ in nodes), results)


SAID = "w2 adds 0 1 / 2 3 1, 0 4 / 3 1 2, 0 4 / 1 0\nw3 folds 1 2 4 flip 0\nw4 folds 1 2 flip 0\n"


def bits_in_columns(graph: WordGraph) -> list[int]:
    """Return how many bits the last heap has in every column, one by one."""
    heap = graph.nodes[-1]
    assert isinstance(heap, Heap)
    found = [heap.constant >> c & 1 for c in range(heap.bits)]
    for part in heap.parts:
        if isinstance(part, Bits):
            columns = [part.column + k for k in range(graph.nodes[part.node].bits - part.drop)]
        else:
            rows = graph.nodes[part.a].bits - part.drop_a, graph.nodes[part.b].bits - part.drop_b
            columns = [part.column + i + k for i, k in product(*map(range, rows))]
        for c in columns:
            if 0 <= c < heap.bits:
                found[c] += 1
    return found


def naive_adds(graph: WordGraph) -> str:
    """Return any way to add up the last heap, in no order."""
    counts, texts, rng = [*bits_in_columns(graph), 0], [], np.random.default_rng(3)
    for c in range(graph.nodes[-1].bits):
        free, groups, made = rng.permutation(counts[c]).tolist(), [], counts[c]
        while len(free) > 1:
            groups.append(" ".join(map(str, free[:3])))
            free, made = [*free[3:], made], made + 1
        counts[c + 1] += len(groups)
        texts.append(", ".join(groups))
    return " / ".join(texts)


def made_of(graph: WordGraph, said: str) -> FirstNetwork:
    return FirstNetwork(graph, Section(tuple(said.splitlines()), 1))


def test_the_first_network_is_the_graph_for_all_words() -> None:
    graph = small()
    made = made_of(graph, f"{SAID}w5 adds {naive_adds(graph)}\n")
    rows = np.arange(64)
    wanted = simulate(graph, {"a": rows >> 3, "b": rows & 7})
    planes = letters(6)
    found = made.nodes.values(made.outputs, {k: planes[6 - k] for k in range(1, 7)}, (1 << 64) - 1)
    bits = np.array([[plane >> row & 1 for plane in found] for row in range(64)])
    words = np.stack([bits[:, :3] @ [4, 2, 1], bits[:, 4:9] @ [16, 8, 4, 2, 1]], axis=1)
    assert np.array_equal(words, wanted.words)
    assert bits[:, [3, 9]].sum() == wanted.saturated > 0


@pytest.mark.parametrize(("old", "new", "says"), [
    ("w3 folds 1 2 4 flip 0", "w3 folds 1 2 flip 0", "entry"),
    ("w3 folds 1 2 4 flip 0", "w3 folds 1 2 4 flip 8", "mask"),
    ("w4 folds 1 2 flip 0", "w5 folds 1 2 flip 0", "w4"),
    ("w2 adds 0 1", "w2 adds 0 0", "column 0"),
    ("w2 adds 0 1 /", "w2 adds /", "column 0"),
    ("w2 adds 0 1 /", "w2 adds 0 9 /", "column 0"),
    ("w2 adds 0 1 /", "w2 adds ", "columns"),
    ("w2 adds", "w2 sums", "line of first"),
    ("w2 adds 0", "w2 adds 12345678901", "line of first"),
])  # fmt: skip
def test_sums_and_tables_that_are_not_made_so_are_refused(old: str, new: str, says: str) -> None:
    graph = small()
    said = f"{SAID}w5 adds {naive_adds(graph)}\n"
    assert old in said
    with pytest.raises(DataError, match=says):
        made_of(graph, said.replace(old, new))


LEMMA = r"^(\d+) = (~?\d+) over( .*)?$"


@pytest.mark.parametrize(("old", "new"), [
    (r"^(\d+) = (\d+) over", r"\1 = ~\2 over"), (r"^(\d+) = (~?\d+) over \d+", r"\1 = \2 over"),
    (LEMMA, r"\1 = 0 over\3"), (LEMMA, r"\1 = \1 over\3"), (LEMMA, r"\1 = 9999999 over\3"),
    (LEMMA, r"9999999 = \2 over\3"), (LEMMA, r"\1 = \2 over 9999999"),
    (LEMMA, r"\1 = \2 by\3: / 0"), (LEMMA, r"\1 = \2 by\3: --3 / x"),
    (LEMMA, r"\1 = \2 by\3: -3- / 1"), (LEMMA, r"\1 = \2 by\3: / -99"),
])  # fmt: skip
def test_a_lemma_that_is_changed_is_refused(folder: Path, old: str, new: str) -> None:
    wrong = re.compile(old, re.MULTILINE)
    changed(folder, "certificate.txt", lambda text: wrong.sub(new, text, count=1))
    step = steps(folder)["lemmas"]
    assert step.holds is False
    assert "certificate.txt:" in step.note


def test_an_output_is_not_known_without_a_lemma_that_it_needs(folder: Path) -> None:
    assert steps(folder)["first"].holds
    assert steps(folder)["lemmas"].holds
    lines = sections()["lemmas"].lines
    changed(folder, "certificate.txt", lambda text: text.replace(f"{lines[-1]}\n", ""))
    assert steps(folder)["lemmas"].holds is False


def test_a_node_that_computes_something_else_is_found_with_words_that_show_it(
    folder: Path,
) -> None:
    lines = str(certified().networks[0]).splitlines()
    line = next(line for line in lines if re.search(r" & [in]\d+$", line))
    wrong = line.replace(" & ", " | ")
    changed(folder, "networks/0.txt", lambda text: text.replace(line, wrong))
    step = steps(folder)["lemmas"]
    assert step.holds is False
    assert re.search(r"at the words q1=\d+ .* output bit \d+ of the network is [01]", step.note)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    certified().save(tmp_path / "a")
    return tmp_path / "a"


def test_primes_say_what_a_table_says() -> None:
    for table in (0x96, 0xE8, 0xCA, 0x3C, 0x80, 0x0F, 0xD4, 0x01):
        for row in product((0, 1), repeat=3):
            value = table >> (4 * row[0] + 2 * row[1] + row[2]) & 1
            said = {
                made for cube, made in primes(table)
                if all(c in (2, v) for c, v in zip(cube, row, strict=True))
            }  # fmt: skip
            assert said == {value}


def test_two_adders_that_take_bits_in_another_order_are_equal_by_a_solvers_proof() -> None:
    nodes = Nodes(9)
    one, two = ([2 * k for k in order] for order in (range(1, 10), (9, 2, 4, 1, 8, 3, 7, 5, 6)))
    x, y = (nodes.xor(order) for order in (two, one))
    levels = [0] * 10
    for signal in range(10, len(nodes.tables)):
        levels.append(1 + max(levels[k >> 1] for k in nodes.operands[signal]))
    found = refutation(nodes, levels, max(x, y), min(x, y))
    assert found is not None
    assert not isinstance(found, list)
    differ = refutation(nodes, levels, max(x, y), min(x, y) ^ 1)
    assert isinstance(differ, list)


def test_a_proof_is_trimmed_only_where_it_is_one() -> None:
    given = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    steps = trimmed(given, [[2, 3], [2]])
    assert steps is not None
    assert [step.clause for step in steps] == [(2,), ()]
    assert trimmed(given, []) is None
    assert trimmed(given[:3], [[2]]) is None
    assert trimmed(given, [[3], [2]]) is None


@pytest.mark.parametrize(("file", "old", "new"), [
    ("graphs/0.txt", r"(table \S+ )(\d+)", lambda said: f"{said[1]}{int(said[2]) ^ 1}"),
    ("program.json", r'("words": \[\s*\[\s*\d+,\s*)(\d+)', lambda x: f"{x[1]}{int(x[2]) - 1}"),
    ("program.json", r'("symbol": "T1".*?"bits": )(\d+)', lambda x: f"{x[1]}{int(x[2]) + 1}"),
    ("program.json", r'("symbol": "T1".*?"bits": \d+)', lambda x: f'{x[1]}, "zero": "tread"'),
])  # fmt: skip
def test_another_entry_or_word_is_found(folder: Path, file: str, old: str, new: Any) -> None:
    changed(folder, file, lambda text: re.sub(old, new, text, count=1, flags=re.DOTALL))
    found = steps(folder)
    assert False in (found["first"].holds, found["lemmas"].holds)


def test_a_proof_must_end_with_a_conflict() -> None:
    nodes = Nodes(2)
    one, two = nodes.node(0xC0, 2, 4, 0), nodes.node(0xC0, 4, 2, 0)
    said = f"{two >> 1} = {one >> 1} by 1 2"
    clauses = cone_clauses(nodes, two, one, {1, 2})
    found = trimmed(clauses, [[one >> 1]])
    assert found is not None
    text = ", ".join(
        f"{' '.join(map(str, step.clause))} / {' '.join(map(str, step.hints))}" for step in found
    )
    assert nodes_after(nodes, f"{said}: {text}") == one
    with pytest.raises(DoesNotHoldError, match="without a conflict"):
        nodes_after(nodes, f"{said}: {text.rpartition(',')[0]}")
    with pytest.raises(DoesNotHoldError, match="does not follow"):
        nodes_after(nodes, f"{said}: {text.replace('/ ', '/ 99999 ', 1)}")


def nodes_after(nodes: Nodes, line: str) -> int:
    """Return what the last signal is known to be after a lemma; then it is forgotten."""
    prove(nodes, line, "here")
    known, nodes.equal[-1] = nodes.equal[-1], 2 * len(nodes.equal) - 2
    return known


@pytest.mark.parametrize("table", [0x96, 0xE8, 0xCA, 0x80, 0x2D])
def test_clauses_can_hold_just_where_two_literals_differ(table: int) -> None:
    for operands in product((0, 1, 2, 5), repeat=3):
        nodes = Nodes(2)
        x = nodes.node(table, *operands)
        for y in (0, 1, 2, 3, 4, 5):
            pairs = set()
            for row in range(4):
                cut = {1: row & 1, 2: row >> 1}
                a, b = nodes.values([x, y], cut, 1)
                pairs.add(a != b)
            with Minisat22(bootstrap_with=cone_clauses(nodes, x, y, {1, 2})) as solver:
                assert solver.solve() == (True in pairs)
