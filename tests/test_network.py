"""Networks: normal form, folds, text, orders; covers become the networks that they are."""

import hashlib
import random
import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.logic import (
    AND2,
    AND3,
    CONSTANTS,
    OR2,
    XOR2,
    XOR3,
    Builder,
    Network,
    Node,
    copied,
    in_order,
    most_live,
    network,
    parse_network,
    render_network,
)
from boolcomp.paper import network_of_cover
from boolcomp.twolevel import Cubes


class Patterns:
    """The algebra of truth values at so many points, as long integers."""

    def __init__(self, points: int) -> None:
        self.all = (1 << points) - 1

    def constant(self, value: int) -> int:
        return self.all * value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        values = [*operands, *[0] * (3 - len(operands))]
        result = 0
        for row in range(8):
            if lut >> row & 1:
                term = self.all
                for k, value in enumerate(values):
                    term &= value if row >> (2 - k) & 1 else ~value
                result |= term
        return result


def inputs_of(count: int) -> list[int]:
    """Return the truth table of every input: bit x is input k, the first most significant."""
    return [
        sum(1 << x for x in range(1 << count) if x >> (count - 1 - k) & 1) for k in range(count)
    ]


def tables_of(network: Network) -> list[int]:
    return list(network.fold(Patterns(1 << network.inputs), inputs_of(network.inputs)))


def built(count: int) -> tuple[Builder, list[int]]:
    """Return a builder and its inputs."""
    builder = Builder(count)
    return builder, [builder.input(k) for k in range(count)]


@st.composite
def covers(draw: st.DrawFn) -> Cubes:
    inputs, outputs = draw(st.integers(0, 8)), draw(st.integers(1, 4))
    term = st.text("01-", min_size=inputs, max_size=inputs)
    owner = st.text("01", min_size=outputs, max_size=outputs)
    return Cubes.from_rows(inputs, outputs, draw(st.lists(st.tuples(term, owner), max_size=30)))


@st.composite
def networks(draw: st.DrawFn) -> Network:
    builder, inputs = built(draw(st.integers(0, 5)))
    literals = [0, 2, *inputs]
    for _ in range(draw(st.integers(0, 25))):
        operands = [draw(st.sampled_from(literals)) ^ draw(st.integers(0, 1)) for _ in range(3)]
        literals.append(builder.node(draw(st.integers(0, 255)), *operands))
    outputs = draw(st.lists(st.sampled_from(literals), max_size=4))
    return builder.build(x ^ draw(st.integers(0, 1)) for x in outputs)


@given(st.integers(0, 255), st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_a_node_is_the_table_of_its_literals(lut: int, literals: list[int]) -> None:
    builder, _ = built(3)
    network = builder.build([builder.node(lut, *literals)])
    values = [0, 255, 0b11110000, 0b11001100, 0b10101010]
    chosen = tuple(values[x >> 1] ^ (255 if x & 1 else 0) for x in literals)
    assert tables_of(network) == [Patterns(8).node(lut, chosen)]


@given(networks())
def test_a_network_is_read_and_copied_as_the_same(network: Network) -> None:
    assert parse_network(render_network(network)) == network
    builder, inputs = built(network.inputs)
    copy = builder.build(copied(network, builder, inputs))
    assert tables_of(copy) == tables_of(network)
    assert len(copy.nodes) == len(network.nodes)


def test_equal_nodes_are_made_once_and_known_ones_not_at_all() -> None:
    builder, (a, b, c) = built(3)
    assert builder.node(AND3, a, b, c) == builder.node(AND3, c, a, b)
    assert builder.node(AND2, a, a ^ 1) == 0
    assert builder.node(OR2, a, a) == a
    assert builder.node(XOR2, a, 2) == a ^ 1
    assert (builder.all_of([]), builder.any_of([])) == (2, 0)
    assert (builder.all_of([a, 2, a]), builder.any_of([a, 0])) == (a, a)


@pytest.mark.parametrize("count", range(10))
def test_trees_are_flat_and_take_the_fewest_nodes_of_three_inputs(count: int) -> None:
    builder, literals = built(count)
    network = builder.build([builder.all_of(reversed(literals))])
    assert network.depth == [0, 0, 1, 1, 2, 2, 2, 2, 2, 2][count]
    assert len(network.nodes) == count // 2
    assert tables_of(network) == [1 << (1 << count) - 1]
    other, literals = built(count)
    assert tables_of(other.build([other.any_of(literals)])) == [(1 << (1 << count)) - 2]


def test_a_product_is_known_by_its_two_literals_and_uses_are_counted() -> None:
    builder, (x, y, z) = built(3)
    both = builder.node(AND2, x ^ 1, y)
    assert builder.product(both) == (x ^ 1, y)
    assert [builder.product(one) for one in (both ^ 1, x)] == [None, None]
    assert builder.product(builder.node(XOR2, x, z)) is None
    assert builder.product(builder.node(AND3, both, z, z)) == (z, both)
    assert builder.uses() == {x: 2, y: 1, both: 1, z: 2}


TWO = Node(AND2, (2, 3))
BAD = {
    "a node reads a later one": (2, (Node(AND2, (2, 5)), TWO), (4,)),
    "a node reads itself": (2, (Node(AND2, (2, 4)),), (4,)),
    "operands are equal": (2, (Node(AND2, (2, 2)),), (4,)),
    "the last two operands are equal": (2, (Node(AND3, (2, 3, 3)),), (4,)),
    "a table of more than eight rows": (2, (Node(0x100 | AND2, (2, 3)),), (4,)),
    "a table that is constant": (2, (Node(0, (2, 3)),), (4,)),
    "no operands": (2, (Node(254, ()),), (4,)),
    "a table of one input that is no inversion": (2, (Node(0xF0, (2,)),), (4,)),
    "an output below all signals": (2, (), (-1,)),
    "operands fall": (2, (Node(AND2, (3, 2)),), (4,)),
    "an operand is a constant": (2, (Node(AND2, (1, 2)),), (4,)),
    "a table ignores its operand": (2, (Node(0xF0, (2, 3)),), (4,)),
    "four operands": (4, (Node(AND3, (2, 3, 4, 5)),), (6,)),
    "two nodes are equal": (2, (TWO, TWO), (4, 5)),
    "a node is not needed": (2, (TWO,), (2,)),
    "an output is no signal": (2, (), (4,)),
}


@pytest.mark.parametrize("parts", BAD.values(), ids=BAD.keys())
def test_a_network_out_of_normal_form_is_refused(
    parts: tuple[int, tuple[Node, ...], tuple[int, ...]],
) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each has a text of its own)
        Network(*parts)


def test_an_input_that_is_not_there_is_refused() -> None:
    for place in (-1, 2):
        with pytest.raises(ValueError, match=f"input {place} of 2"):
            Builder(2).input(place)
    with pytest.raises(ValueError, match="1 values for 2 inputs"):
        Network(2, (), ()).fold(Patterns(4), [0])


TEXT = "network 2 inputs 1 outputs 2 nodes\nn0 = i0 & ~i1\nn1 = i1 ^ n0\noutputs n1\n"
WRONG = {
    "no head": TEXT[8:],
    "too few lines": TEXT.replace("n1 = i1 ^ n0\n", ""),
    "unknown formula": TEXT.replace("^", "+"),
    "an input too many": TEXT.replace("~i1", "~i2"),
    "a node out of turn": TEXT.replace("n1 =", "n2 ="),
    "no such output": TEXT.replace("outputs n1", "outputs n7"),
    "an operand twice": TEXT.replace("i1 ^ n0", "n0 ^ n0"),
    "a table where a formula is due": TEXT.replace("i1 ^ n0", "0x3C(i1, n0)"),
    "more than one line at the end": TEXT + "\n",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG.keys())
def test_text_that_is_no_network_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(bc.DataError, match=r"^net\.txt"):
        parse_network(text, "net.txt")


@given(st.integers(0, len(TEXT) - 1), st.characters(max_codepoint=127))
def test_no_changed_letter_makes_another_text_of_the_same_network(place: int, letter: str) -> None:
    changed = TEXT[:place] + letter + TEXT[place + 1 :]
    try:
        network = parse_network(changed)
    except bc.DataError:
        return
    assert render_network(network) == changed or changed.split() != TEXT.split()


@given(networks(), st.sampled_from([(0, 0), (4, 0), (12, 3), (0, 1)]))
def test_an_order_leaves_the_network_what_it_is(network: Network, how: tuple[int, int]) -> None:
    ordered = in_order(network, *how)
    assert tables_of(ordered) == tables_of(network)
    assert len(ordered.nodes) == len(network.nodes)
    assert ordered == in_order(network, *how)


@given(covers())
def test_the_network_of_a_cover_is_the_cover_in_and_or_not(cubes: Cubes) -> None:
    network = network_of_cover(cubes)
    everything = (1 << (1 << cubes.inputs)) - 1
    tables = [0] * cubes.outputs
    for term, owners in cubes.rows():
        points = everything
        for letter, column in zip(term, inputs_of(cubes.inputs), strict=True):
            points &= {"1": column, "0": ~column, "-": everything}[letter]
        tables = [x | points * (owner == "1") for x, owner in zip(tables, owners, strict=True)]
    assert tables_of(network) == tables
    assert set(network.operations()) <= {"and", "or", "not"}


ROWS: list[tuple[int, ...]] = [(row >> 2 & 1, row >> 1 & 1, row & 1) for row in range(8)]
TABLES = [lut for lut in range(1, 255) if lut not in network.LETTERS]
MEANINGS: dict[str, Callable[[int, int, int], int]] = {
    "FIRST": lambda a, _b, _c: a,
    "SECOND": lambda _a, b, _c: b,
    "THIRD": lambda _a, _b, c: c,
    "AND2": lambda a, b, _c: a & b,
    "AND3": lambda a, b, c: a & b & c,
    "OR2": lambda a, b, _c: a | b,
    "OR3": lambda a, b, c: a | b | c,
    "NOT1": lambda a, _b, _c: 1 - a,
    "XOR2": lambda a, b, _c: a ^ b,
    "XOR3": lambda a, b, c: a ^ b ^ c,
    "MAJ3": lambda a, b, c: int(a + b + c > 1),
    "AND_OR": lambda a, b, c: a | b & c,
}


def table(function: Callable[[int, int, int], int]) -> int:
    return sum(function(*row) << place for place, row in enumerate(ROWS))


def run(lut: int) -> int:
    """Compute a table from its steps, on the tables of the inputs."""
    values = list(network.LETTERS)
    for kind, x, y in network.steps(lut):
        a, b = values[x], values[y]
        values.append({"not": ~a & 255, "and": a & b, "or": a | b, "xor": a ^ b}[kind])
    return values[-1]


def test_a_named_table_is_its_function() -> None:
    for name, meaning in MEANINGS.items():
        assert getattr(network, name) == table(meaning), name


def test_every_formula_is_its_table_and_has_steps_like_it() -> None:
    formulas = network.tables_by_formula()
    assert len(formulas) == 84
    for text, lut in formulas.items():
        python = text.replace("~", "1 ^ ")
        code = re.sub(r"1 \^ (\([^()]*\)|\w)", r"(1 ^ \1)", python)
        assert lut == table(lambda a, b, c, code=code: eval(code, {"a": a, "b": b, "c": c}))  # type: ignore[misc]  # noqa: S307 (our own text)
        assert network.formula(lut) == text
        if not {"^", "0", "1"} & set(text) and lut in TABLES:
            kinds = dict(network.operation_kinds(lut))
            counted = Counter(text)
            found = [kinds.get(kind, 0) for kind in ("xor", "and", "or")]
            assert found == [0, counted["&"], counted["|"]]
    assert [network.formula(lut) for lut in (network.MAJ3, 0, 255, 0x0F)] == [
        "0xE8",
        "0",
        "1",
        "~a",
    ]


def test_the_steps_of_every_table_compute_it_and_are_as_few_as_known() -> None:
    assert [run(lut) for lut in TABLES] == TABLES
    counts = Counter(len(network.steps(lut)) for lut in TABLES)
    kinds = Counter(
        kind for lut in TABLES for kind, count in network.operation_kinds(lut) for _ in range(count)
    )
    assert dict(counts) == {1: 12, 2: 36, 3: 70, 4: 74, 5: 47, 6: 11, 7: 1}
    assert dict(kinds) == {"and": 227, "not": 280, "or": 192, "xor": 199}


def test_cofactors_support_and_inverted_inputs_are_those_of_the_rows() -> None:
    for lut in range(256):
        for place in range(3):
            for value in (0, 1):
                fixed = [(*row[:place], value, *row[place + 1 :]) for row in ROWS]
                rows = [ROWS.index(row) for row in fixed]
                found = network.cofactors(lut, place)[value]
                assert found == sum((lut >> row & 1) << k for k, row in enumerate(rows))
            zero, one = network.cofactors(lut, place)
            assert (place in network.support(lut)) == (zero != one) == network.depends(lut, place)
            swapped = sum((lut >> (row ^ 4 >> place) & 1) << row for row in range(8))
            assert network.inverted(lut, place) == swapped


def test_composing_is_substituting() -> None:
    assert all(network.compose(lut, network.LETTERS) == lut for lut in range(256))
    assert network.compose(network.AND2, (network.OR2, network.THIRD, 0)) == table(
        lambda a, b, c: (a | b) & c
    )


def test_tables_of_more_operands_have_the_cofactors_and_entries_of_their_rows() -> None:
    for operands in (4, 6):
        rows = range(1 << operands)
        lut = sum((row % 5 == 1) << row for row in rows) | 1 << 3
        assert network.entries(lut, operands) == [lut >> row & 1 for row in rows]
        for place in range(operands):
            bit = 1 << (operands - 1 - place)
            assert network.letter(place, operands) == sum(bool(row & bit) << row for row in rows)
            fixed = network.cofactors(lut, place, operands)
            for value, table in enumerate(fixed):
                chosen = [row & ~bit | bit * value for row in rows]
                assert table == sum((lut >> row & 1) << k for k, row in enumerate(chosen))
            assert network.depends(lut, place, operands) == (fixed[0] != fixed[1])
        low = network.letter(operands - 1, operands)
        assert network.support(low, operands) == (operands - 1,)


def test_only_networks_of_three_operands_are_in_normal_form_and_all_are_written() -> None:
    twice = (network.Node(0xC0, (2, 3)), network.Node(0xC0, (2, 3)))
    for nodes in (twice, (network.Node(0x30, (3, 2)),)):
        assert network.Network(4, nodes, (6,), 6).depth == 1
        with pytest.raises(ValueError, match=r"equal|rise"):
            network.Network(4, nodes, (6,))
    wide = network.Node(0x8000, (2, 3, 4, 5))
    assert "n0 = 0x8000(i0, i1, i2, i3)" in str(network.Network(4, (wide,), (6,), 6))
    with pytest.raises(ValueError, match="not of its operands"):
        network.Network(4, (network.Node(0x18000, (2, 3, 4, 5)),), (6,), 6)


@pytest.mark.parametrize(
    ("parts", "nodes", "depth", "live", "digest"),
    [
        ((2, 8, 3, 40, 0.4), 78, 11, 22, "3bb9e48bcc98"),
        ((4, 7, 1, 25, 0.2), 38, 12, 12, "00acfe12c3c9"),
        ((6, 12, 6, 200, 0.6), 478, 19, 72, "ff4b94627c94"),
        ((7, 44, 3, 60, 0.9), 198, 20, 30, "5d990e93391f"),
    ],
)
def test_a_cover_becomes_the_network_that_it_always_became(
    parts: tuple[int, int, int, int, float], nodes: int, depth: int, live: int, digest: str
) -> None:
    seed, inputs, outputs, products, free = parts
    draw = random.Random(seed)  # noqa: S311 (no secret)
    rows = set()
    for _ in range(products):
        term = "".join("-" if draw.random() < free else draw.choice("01") for _ in range(inputs))
        rows.add((term, "".join(draw.choice("01") for _ in range(outputs))))
    network = network_of_cover(Cubes.from_rows(inputs, outputs, sorted(rows)))
    assert (len(network.nodes), network.depth, most_live(network)) == (nodes, depth, live)
    assert hashlib.sha256(str(network).encode()).hexdigest()[:12] == digest


def test_greedy_order_needs_fewer_values_at_a_time_and_variants_differ() -> None:
    rng = np.random.default_rng(5)
    builder, literals = built(8)
    for lut in rng.integers(1, 255, 150).tolist():
        operands = [literals[k] ^ int(rng.integers(2)) for k in rng.integers(0, len(literals), 3)]
        literals.append(builder.node(lut, *operands))
    network = builder.build(literals[-37:])
    assert most_live(in_order(network)) < most_live(network)
    assert len({in_order(network, 0, variant) for variant in range(4)}) > 1


def test_operands_are_as_far_apart_as_asked_where_there_is_other_work() -> None:
    builder, inputs = built(64)
    sums = []
    for k in range(8):  # eight chains that do not depend on each other
        value = inputs[8 * k]
        for other in inputs[8 * k + 1 : 8 * k + 8]:
            value = builder.node(XOR2, value, other)
        sums.append(value)
    for wanted, chains in ((1, 0), (4, 4)):
        nodes = in_order(builder.build(sums), chains).nodes
        places = [(k + CONSTANTS + 64, node.operands) for k, node in enumerate(nodes)]
        first = CONSTANTS + 64
        assert min(k - x for k, operands in places for x in operands if x >= first) == wanted
    chain = builder.build(sums[:1])
    assert in_order(chain, 8) == chain


def test_the_largest_number_of_values_needed_at_one_time_is_exact() -> None:
    builder, inputs = built(6)
    ands = [builder.node(AND2, inputs[k], inputs[k + 3]) for k in range(3)]
    assert most_live(builder.build([builder.node(XOR3, *ands)])) == 3
    assert most_live(builder.build(ands)) == 3
    assert most_live(builder.build([])) == 0
