"""The checker's arithmetic: sums of waves and curves, spans, tables of sums, proofs of networks."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from checker.certified import certified, load_of, section, value
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from pysat.solvers import Minisat22
from synthesis.networks import looked_up, random_network

from boolcomp.base.errors import DataError
from boolcomp.checker import problem, tabled
from boolcomp.checker.folder import DoesNotHoldError, NotCoveredError
from boolcomp.checker.lemmas import cone_clauses, letters, primes, prove
from boolcomp.checker.network import FirstNetwork, RuleNetwork
from boolcomp.checker.problem import Functions
from boolcomp.checker.robot import ClaimedWaveSum, Space, Variable, number, precise
from boolcomp.checker.tabled import KINDS, cells_of, elimination, largest, table_of, words_of
from boolcomp.codes import Code
from boolcomp.logic import Network
from boolcomp.problem.words import Interval
from boolcomp.proof.certificates import Refutation, Refuter, following, trimmed
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
from boolcomp.words.simulation import simulate

VARIABLES = [
    Variable("q", angle=True, low=-4.0, high=4.0),
    Variable("x", angle=False, low=-1.0, high=3.0),
    Variable("z", angle=False, low=-5.0, high=2.0),
    Variable("c", angle=False, low=2.5, high=2.5),
    Variable("f", angle=True, low=0.5, high=0.5),
]
SPACE = Space(VARIABLES)
AT = {"q": 0.7, "x": -0.3, "z": 1.9, "c": 2.5, "f": 0.5}


def made() -> ClaimedWaveSum:
    """Return x³ sin q - 2 z² cos² q + x z sin f + c² - 1."""
    sine, cosine = SPACE.sine("q"), SPACE.cosine("q")
    x, z, c = SPACE.value("x"), SPACE.value("z"), SPACE.value("c")
    return (x * x * x * sine - (z * z * cosine * cosine).times(2)
            + x * z * SPACE.sine("f") + c * c - number(1))  # fmt: skip


def test_a_sum_and_its_slopes_are_those_of_the_function_that_it_was_made_of() -> None:
    q, x, z, c, f = AT.values()
    wanted = x**3 * math.sin(q) - 2 * (z * math.cos(q)) ** 2 + x * z * math.sin(f) + c * c - 1
    with precise():
        for one in (made(), SPACE.fixed(made())):
            assert value(SPACE, one, AT) == pytest.approx(wanted, abs=1e-14)
        left = {one.name for key in SPACE.fixed(made()).parts for one, _ in SPACE.exponents(key)}
        found = {name: value(SPACE, SPACE.derivative(made(), name), AT) for name in AT}
    assert left == {"q", "x", "z"}
    assert found == {
        "q": pytest.approx(x**3 * math.cos(q) + 2 * z * z * math.sin(2 * q)),
        "x": pytest.approx(3 * x * x * math.sin(q) + z * math.sin(f)),
        "z": pytest.approx(-4 * z * math.cos(q) ** 2 + x * math.sin(f)),
        "c": pytest.approx(2 * c),
        "f": pytest.approx(x * z * math.cos(f)),
    }


def test_the_most_of_a_sum_counts_the_farther_end_of_every_input() -> None:
    with precise():
        x, z = SPACE.value("x"), SPACE.value("z")
        found = SPACE.maximum(x * x * z + SPACE.sine("q").times(0.25) - number(arb(1) / 8))
    assert float(found.mid()) == pytest.approx(9 * 5 + 0.25 + 0.125)


def test_products_that_are_too_large_are_refused() -> None:
    with precise():
        power = SPACE.value("x")
        for _ in range(14):
            power = power * power
        with pytest.raises(DataError, match="factors: too many"):
            power * power


@pytest.mark.parametrize(("kind", "slope"), [
    ("sin", 1.0), ("tanh", 1.0), ("exp", 20.0856), ("log", 1.0), ("sqrt", 0.5),
])  # fmt: skip
def test_what_an_argument_is_off_goes_through_the_largest_slope(kind: str, slope: float) -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=1.0, high=3.0)])
        x, away = space.value("x"), arb(2) ** -30
        off = space.maximum(space.apply(kind, [x]) - space.apply(kind, [x + number(away)]))
    assert float((off / away).mid()) == pytest.approx(slope, rel=1e-4)


def test_an_angle_that_is_nearly_a_whole_multiple_is_that_and_what_it_is_off() -> None:
    with precise():
        space = Functions([Variable("a", angle=True, low=-2.0, high=1.0)])
        away = arb(2) ** -25
        near = space.apply("sin", [space.angle("a").times(2 + away)])
        off = space.maximum(near - space.apply("sin", [space.angle("a").times(2)]))
    assert float((off / away).mid()) == pytest.approx(2.0, rel=1e-4)


def test_where_a_sum_lies_is_found_product_by_product() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-2.0, high=1.0),
                           Variable("z", angle=False, low=1.0, high=3.0)])  # fmt: skip
        x, z = space.value("x"), space.value("z")
        for made, ends in ((x * x, (0, 4)), (x * z, (-6, 3)), (z * z, (1, 9)), (x * x * x, (-8, 1)),
                           (-(x * x) * z + number(1), (-11, 1))):  # fmt: skip
            assert tuple(float(end.mid()) for end in space.reached(made)) == ends


def test_a_function_without_a_value_is_not_covered() -> None:
    with precise():
        space = Functions([Variable("x", angle=False, low=-1.0, high=1.0)])
        for kind in ("log", "sqrt"):
            with pytest.raises(NotCoveredError, match="is unbounded over the limits"):
                space.apply(kind, [space.value("x")])
        with pytest.raises(NotCoveredError, match="inverse"):
            space.apply("div", [number(1), space.value("x")])


@pytest.mark.parametrize("kind", KINDS)
def test_words_are_those_of_codes(kind: str) -> None:
    code, cells = Code(Interval(-1, 1), 5, kind), np.arange(32)  # type: ignore[arg-type]  # any of them
    assert (words_of(cells, 5, kind) == code.word(cells)).all()
    assert (cells_of(words_of(cells, 5, kind), 5, kind) == cells).all()


@pytest.mark.parametrize("seed", range(3))
def test_tables_are_what_networks_give_word_by_word(seed: int) -> None:
    network = random_network(seed, 5, 12, 3)
    for word, bits in zip(table_of(network), itertools.product((0, 1), repeat=5), strict=True):
        assert word == int("".join(map(str, looked_up(network, bits))), 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([4, 30, 4000]))
def test_elimination_is_exact_where_there_is_room_and_an_upper_bound_elsewhere(
    seed: int, most: int
) -> None:
    rng = np.random.default_rng(seed)
    sizes = {name: int(rng.integers(1, 5)) for name in "abcde"}
    tables = []
    for _ in range(6):
        scope = tuple(sorted(rng.choice(list("abcde"), rng.integers(0, 4), replace=False)))
        shape = [sizes[name] for name in scope]
        tables.append((scope, rng.integers(-50, 50, shape)))
    scopes = [scope for scope, _ in tables]
    steps = list(elimination(scopes, sizes, most))
    splits = len(steps) - len({name for scope in scopes for name in scope})
    best = max(
        sum(int(t[tuple(dict(zip(sizes, state, strict=True))[n] for n in s)]) for s, t in tables)
        for state in itertools.product(*(range(n) for n in sizes.values()))
    )
    found = largest(tables, most)
    assert found >= best
    assert splits or found == best
    assert not splits or most < 4000


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
            columns = [part.column + i + k for i, k in itertools.product(*map(range, rows))]
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
    return FirstNetwork(graph, section(said))


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


def test_primes_say_what_a_table_says() -> None:
    for table in (0x96, 0xE8, 0xCA, 0x3C, 0x80, 0x0F, 0xD4, 0x01):
        for row in itertools.product((0, 1), repeat=3):
            value = table >> (4 * row[0] + 2 * row[1] + row[2]) & 1
            said = {
                made for cube, made in primes(table)
                if all(c in (2, v) for c, v in zip(cube, row, strict=True))
            }  # fmt: skip
            assert said == {value}


def test_a_proof_is_trimmed_only_where_it_is_one() -> None:
    given = [[1, 2], [-1, 2], [1, -2], [-1, -2]]
    for added in ([[2, 3], [2]], [[3], [2]]):  # the first step is not needed, or does not follow
        steps = trimmed(given, added)
        assert steps is not None
        assert [step.clause for step in steps] == [(2,), ()]
    assert trimmed(given, []) is None
    assert trimmed(given[:3], [[2]]) is None
    assert trimmed(given, [[3]]) is None


def counter(nodes: RuleNetwork, bits: list[int]) -> list[int]:
    """Return the bits of how many literals are 1, lowest first, by full adders."""
    found, columns = [], [list(bits)]
    while columns:
        column, carries = columns.pop(), []
        while len(column) > 1:
            a, b, c = (*column[:3], 0)[:3]
            column = [*column[3:], nodes.node(0x96, a, b, c)]
            carries.append(nodes.node(0xE8, a, b, c))
        found += column
        columns += [carries] if carries else []
    return found


def test_clauses_that_do_not_follow_are_left_out() -> None:
    assert following([[1, 2], [-1, 2]], [[2], [3], [1, 2], [2, 3], [-3]]) == [[2], [1, 2], [2, 3]]


def test_every_proof_over_all_nodes_is_accepted_by_the_checker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("boolcomp.proof.certificates.TRIES", ())
    nodes = RuleNetwork(8)
    one, two = (counter(nodes, [2 * k for k in order])
                for order in (range(1, 9), (4, 7, 1, 8, 3, 6, 2, 5)))  # fmt: skip
    levels = [0] * 9
    for signal in range(9, len(nodes.tables)):
        levels.append(1 + max(levels[k >> 1] for k in nodes.operands[signal]))
    refuter = Refuter(nodes, levels)
    for y, x in zip(one, two, strict=True):
        found = refuter.refute(x, y)
        assert isinstance(found, Refutation)
        prove(nodes, f"{x >> 1} = {y >> 1} by {' '.join(map(str, found.cut))}: {found.text}", "")
        nodes.equal[x >> 1] = x  # later proofs do not use the lemma, but its clauses
        differ = refuter.refute(x, y ^ 1)
        assert isinstance(differ, list)
        row = {abs(k): int(k > 0) for k in differ}
        assert nodes.values([x, y], row, 1) in ([0, 0], [1, 1])


def test_a_proof_must_end_with_a_conflict() -> None:
    nodes = RuleNetwork(2)
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


def nodes_after(nodes: RuleNetwork, line: str) -> int:
    """Return what the last signal is known to be after a lemma; then it is forgotten."""
    prove(nodes, line, "here")
    known, nodes.equal[-1] = nodes.equal[-1], 2 * len(nodes.equal) - 2
    return known


@pytest.mark.parametrize("table", [0x96, 0xE8, 0xCA, 0x80, 0x2D])
def test_clauses_can_hold_just_where_two_literals_differ(table: int) -> None:
    for operands in itertools.product((0, 1, 2, 5), repeat=3):
        nodes = RuleNetwork(2)
        x = nodes.node(table, *operands)
        for y in (0, 1, 2, 3, 4, 5):
            pairs = set()
            for row in range(4):
                cut = {1: row & 1, 2: row >> 1}
                a, b = nodes.values([x, y], cut, 1)
                pairs.add(a != b)
            with Minisat22(bootstrap_with=cone_clauses(nodes, x, y, {1, 2})) as solver:
                assert solver.solve() == (True in pairs)


@pytest.mark.parametrize(("code", "sentence"), [
    ({"bits": 32}, "'z', which is no input"), ({"bits": 1}, "'z', which is no input"),
    ({"bits": 33}, "a code is invalid"), ({"bits": 0}, "a code is invalid"),
    ({"bits": 8.0}, "a code is invalid"), ({"range": [1.0, 1.0]}, "a code is invalid"),
    ({"range": [1.0, -1.0]}, "a code is invalid"), ({"kind": "octal"}, "words in 'octal'"),
    ({"zero": "tread"}, "with a zero code"),
])  # fmt: skip
def test_a_code_of_tables_has_1_to_32_bits_and_a_range(code: dict[str, Any], sentence: str) -> None:
    load = load_of(certified())
    one = {"range": [-1.0, 1.0], "bits": 4, "kind": "gray", **code}
    document = {**load.document, "inputs": [{"name": "z", "code": one}]}
    with pytest.raises((DataError, DoesNotHoldError, NotCoveredError), match=sentence):
        tabled.inputs_of(replace(load, document=document))


@pytest.mark.parametrize(("low", "high"), [(-1.0, 4.0), (-4.0, 1.0), (0.0, 3.0)])
def test_a_sum_that_is_nearly_whole_turns_is_off_by_what_is_left_of_them_at_its_ends(
    low: float, high: float
) -> None:
    space, more = Functions([Variable("q", True, low, high)]), 1e-6  # noqa: FBT003
    with precise():
        q = space.angle("q").times((3 + more) / (2 * arb.pi()))
        node = problem.ClaimedTotal(0.0, (), turning=2)
        found = problem.ClaimedExpansion({}, {}, space).turning((q + number(0.25)).times(4), node)
        assert found.multiples == {"q": 3}
        for end in (low, high):
            assert found.offset.contains(0.25 + arb(more) * end / (2 * arb.pi()))
        most = 1.01 * more * max(-low, high) / (2 * math.pi)
        assert not found.offset.contains(0.25 + arb(most))


def test_a_network_of_more_than_22_inputs_has_no_table() -> None:
    with pytest.raises(NotCoveredError, match="of 23 inputs is too large to simulate"):
        table_of(Network(23, (), ()))
