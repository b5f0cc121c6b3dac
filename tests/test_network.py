"""Networks: built from covers they are the cover; their text reads back; bad ones are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.common.errors import DataError
from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS, Builder, Network, Node, copied
from boolcomp.logic.networktext import parse_network, render_network
from boolcomp.logic.order import greedy_order, in_order, most_live
from boolcomp.paper.coverlogic import network_of_cover
from boolcomp.twolevel.cubes import Cubes


class Patterns:
    """The algebra of truth tables over all inputs, as long integers."""

    def __init__(self, inputs: int) -> None:
        self.all = (1 << (1 << inputs)) - 1

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
    return list(network.fold(Patterns(network.inputs), inputs_of(network.inputs)))


def cover_tables(cubes: Cubes) -> list[int]:
    columns = inputs_of(cubes.inputs)
    everything = (1 << (1 << cubes.inputs)) - 1
    tables = [0] * cubes.outputs
    for term, owners in cubes.rows():
        points = everything
        for letter, column in zip(term, columns, strict=True):
            points &= {"1": column, "0": ~column, "-": everything}[letter]
        for k, owner in enumerate(owners):
            tables[k] |= points if owner == "1" else 0
    return tables


@st.composite
def covers(draw: st.DrawFn) -> Cubes:
    inputs, outputs = draw(st.integers(0, 8)), draw(st.integers(1, 4))
    term = st.text("01-", min_size=inputs, max_size=inputs)
    owner = st.text("01", min_size=outputs, max_size=outputs)
    return Cubes.from_rows(inputs, outputs, draw(st.lists(st.tuples(term, owner), max_size=30)))


@st.composite
def networks(draw: st.DrawFn) -> Network:
    builder = Builder(draw(st.integers(0, 5)))
    literals = [0, 2, *(builder.input(k) for k in range(builder.inputs))]
    for _ in range(draw(st.integers(0, 25))):
        operands = [draw(st.sampled_from(literals)) ^ draw(st.integers(0, 1)) for _ in range(3)]
        literals.append(builder.node(draw(st.integers(0, 255)), *operands))
    outputs = draw(st.lists(st.sampled_from(literals), max_size=4))
    return builder.build(x ^ draw(st.integers(0, 1)) for x in outputs)


@pytest.mark.slow
@given(covers())
def test_the_network_of_a_cover_is_the_cover_and_only_and_or_not(cubes: Cubes) -> None:
    network = network_of_cover(cubes)
    assert tables_of(network) == cover_tables(cubes)
    assert set(network.operations()) <= {"and", "or", "not"}


@pytest.mark.slow
@given(networks())
def test_reading_the_text_of_a_network_gives_the_network(network: Network) -> None:
    assert parse_network(render_network(network)) == network


@pytest.mark.slow
@given(networks())
def test_the_greedy_order_is_the_same_function_of_the_same_nodes(network: Network) -> None:
    ordered = in_order(network)
    assert tables_of(ordered) == tables_of(network)
    assert len(ordered.nodes) == len(network.nodes)
    assert sorted(greedy_order(network)) == [
        CONSTANTS + network.inputs + k for k in range(len(network.nodes))
    ]


@given(networks())
def test_a_copied_network_is_the_same_function_of_as_many_nodes(network: Network) -> None:
    builder = Builder(network.inputs)
    inputs = [builder.input(k) for k in range(network.inputs)]
    copy = builder.build(copied(network, builder, inputs))
    assert tables_of(copy) == tables_of(network)
    assert len(copy.nodes) == len(network.nodes)


@given(st.integers(0, 255), st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_a_built_node_is_the_table_of_its_literals(lut: int, literals: list[int]) -> None:
    builder = Builder(3)
    network = builder.build([builder.node(lut, *literals)])
    values = [0, 255, 0b11110000, 0b11001100, 0b10101010]
    chosen = [values[x >> 1] ^ (255 if x & 1 else 0) for x in literals]
    assert tables_of(network) == [luts.compose(lut, (chosen[0], chosen[1], chosen[2]))]


def test_a_network_is_written_one_readable_node_a_line() -> None:
    builder = Builder(3)
    a, b, c = (builder.input(k) for k in range(3))
    both = builder.node(luts.AND2, a, b ^ 1)
    network = builder.build([builder.node(luts.AND_OR, c, both, b), both ^ 1, 2, c])
    assert str(network) == (
        "network 3 inputs 4 outputs 3 nodes\n"
        "n0 = i0 & ~i1\n"
        "n1 = i2 | i1 & n0\n"
        "n2 = ~i0 | i1\n"
        "outputs n1 n2 1 i2\n"
    )
    assert parse_network(str(network)) == network


def test_equal_nodes_are_made_once_whatever_the_order_of_their_operands() -> None:
    builder = Builder(3)
    a, b, c = (builder.input(k) for k in range(3))
    assert builder.node(luts.AND3, a, b, c) == builder.node(luts.AND3, c, a, b)
    assert builder.node(luts.AND2, a, a ^ 1) == 0
    assert builder.node(luts.OR2, a, a) == a
    assert builder.node(luts.XOR2, a, 2) == a ^ 1


@pytest.mark.parametrize("count", range(1, 12))
def test_trees_use_the_fewest_nodes_of_three_inputs(count: int) -> None:
    builder = Builder(count)
    network = builder.build([builder.any_of(builder.input(k) for k in range(count))])
    assert len(network.nodes) == count // 2
    assert network.depth <= 3
    ones = (1 << (1 << count)) - 2
    assert tables_of(network) == [ones]


def test_values_that_are_no_longer_needed_are_let_go() -> None:
    class Held:
        alive = 0

        def __init__(self) -> None:
            Held.alive += 1
            Held.most = max(Held.most, Held.alive)

        def __del__(self) -> None:
            Held.alive -= 1

        most = 0

    class Holding:
        def constant(self, value: int) -> Held:  # noqa: ARG002 (any value is held alike)
            return Held()

        def node(self, lut: int, operands: tuple[Held, ...]) -> Held:  # noqa: ARG002 (likewise)
            return Held()

    builder = Builder(2)
    value = builder.input(0)
    for k in range(50):
        value = builder.node((luts.XOR2, luts.AND2, luts.OR2)[k % 3], value, builder.input(1))
        value = builder.node(luts.XOR2, value, builder.input(0))
    network = builder.build([value])
    network.fold(Holding(), [Held(), Held()])
    assert Held.most <= 4 + most_live(network) + 2


BAD = {
    "a node reads a later one": (2, (Node(luts.AND2, (2, 5)), Node(luts.AND2, (2, 3))), (4,)),
    "a node reads itself": (2, (Node(luts.AND2, (2, 4)),), (4,)),
    "operands are equal": (2, (Node(luts.AND2, (2, 2)),), (4,)),
    "the last two operands are equal": (2, (Node(luts.AND3, (2, 3, 3)),), (4,)),
    "a table of more than eight rows": (2, (Node(0x100 | luts.AND2, (2, 3)),), (4,)),
    "a table that is constant": (2, (Node(0, (2, 3)),), (4,)),
    "no operands": (2, (Node(luts.ALL - 1, ()),), (4,)),
    "a table of one input that is no inversion": (2, (Node(luts.FIRST, (2,)),), (4,)),
    "an output below all signals": (2, (), (-1,)),
    "operands fall": (2, (Node(luts.AND2, (3, 2)),), (4,)),
    "an operand is a constant": (2, (Node(luts.AND2, (1, 2)),), (4,)),
    "a table ignores its operand": (2, (Node(luts.FIRST, (2, 3)),), (4,)),
    "four operands": (4, (Node(luts.AND3, (2, 3, 4, 5)),), (6,)),
    "two nodes are equal": (2, (Node(luts.AND2, (2, 3)), Node(luts.AND2, (2, 3))), (4, 5)),
    "a node is not needed": (2, (Node(luts.AND2, (2, 3)),), (2,)),
    "an output is no signal": (2, (), (4,)),
}


@pytest.mark.parametrize("parts", BAD.values(), ids=BAD.keys())
def test_a_network_out_of_normal_form_is_refused(
    parts: tuple[int, tuple[Node, ...], tuple[int, ...]],
) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (each has a text of its own)
        Network(*parts)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_the_depth_of_a_chain_is_its_length_and_of_wires_zero(count: int) -> None:
    builder = Builder(count + 1)
    value = builder.input(0)
    for k in range(count):
        value = builder.node(luts.XOR2, value, builder.input(k + 1))
    short = builder.node(luts.AND2, builder.input(0), builder.input(1))
    assert builder.build([short, value, 2, builder.input(0)]).depth == count
    assert builder.build([2, builder.input(0)]).depth == 0
    assert builder.build([2]).depth == builder.build([]).depth == 0


@pytest.mark.parametrize("count", range(10))
def test_trees_are_as_flat_as_threes_allow(count: int) -> None:
    builder = Builder(count)
    literals = [builder.input(k) for k in range(count)]
    network = builder.build([builder.all_of(reversed(literals))])
    assert network.depth == [0, 0, 1, 1, 2, 2, 2, 2, 2, 2][count]
    assert tables_of(network) == [1 << (1 << count) - 1]


@pytest.mark.parametrize("count", range(1, 30))
def test_a_tree_takes_three_signals_off_the_front_and_queues_its_own_behind(count: int) -> None:
    """Hold the numbers of nodes against a list that is made anew for every node."""
    builder, other = Builder(count), Builder(count)
    level = [builder.input(k) for k in range(count)]
    if count % 2 == 0 and count > 2:
        level = [*level[2:], other.node(luts.AND2, *level[:2])]
    while len(level) > 2:
        level = [*level[3:], other.node(luts.AND3, *level[:3])]
    expected = other.node(luts.AND2, *level) if len(level) == 2 else level[0]
    assert builder.all_of(map(builder.input, range(count))) == expected
    assert builder.nodes == other.nodes


def test_a_tree_over_very_many_signals_takes_time_that_grows_like_them() -> None:
    builder = Builder(3)
    count = 400_001  # a list made anew for every node would copy 1e10 entries
    made = iter(range(10**9, 2 * 10**9))
    builder.node = lambda *_: next(made)  # type: ignore[method-assign]
    assert builder.any_of(range(2, 2 * count + 2, 2)) == 10**9 + count // 2 - 1


def test_all_and_any_of_nothing_are_the_constants() -> None:
    builder = Builder(1)
    a = builder.input(0)
    assert (builder.all_of([]), builder.any_of([])) == (2, 0)
    assert (builder.all_of([a, 2, a]), builder.any_of([a, 0])) == (a, a)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_product_is_known_by_its_two_literals(a: int, b: int) -> None:
    builder = Builder(3)
    x, y, z = (builder.input(k) for k in range(3))
    both = builder.node(luts.AND2, x ^ a, y ^ b)
    assert builder.product(both) == (x ^ a, y ^ b)
    assert builder.product(both ^ 1) is None
    assert builder.product(x) is None
    assert builder.product(builder.node(luts.XOR2, x, z)) is None
    assert builder.product(builder.node(luts.AND3, both, z, z)) == (z, both)


def test_uses_count_the_nodes_that_read_a_literal_either_way() -> None:
    builder = Builder(3)
    x, y, z = (builder.input(k) for k in range(3))
    both = builder.node(luts.AND2, x, y)
    builder.node(luts.OR2, both ^ 1, z ^ 1)
    assert builder.uses() == {x: 1, y: 1, both: 1, z: 1}


def test_operations_are_counted_one_by_one() -> None:
    builder = Builder(3)
    x, y, z = (builder.input(k) for k in range(3))
    first = builder.node(luts.AND3, x, y ^ 1, z)
    second = builder.node(luts.OR2, first, builder.node(luts.XOR2, x, z))
    network = builder.build([builder.node(luts.AND2, second, y)])
    assert network.operations() == {"and": 3, "not": 1, "or": 1, "xor": 1}


def test_an_inverted_output_is_the_inverse_of_its_node_or_a_node_of_its_own() -> None:
    builder = Builder(2)
    x, y = builder.input(0), builder.input(1)
    both = builder.node(luts.AND2, x, y)
    assert str(builder.build([both ^ 1, x ^ 1, 1, 3])) == (
        "network 2 inputs 4 outputs 2 nodes\nn0 = ~i0 | ~i1\nn1 = ~i0\noutputs n0 n1 1 0\n"
    )


@pytest.mark.parametrize("place", [-1, 2])
def test_an_input_that_is_not_there_is_refused(place: int) -> None:
    with pytest.raises(ValueError, match=f"input {place} of 2"):
        Builder(2).input(place)
    with pytest.raises(ValueError, match="1 values for 2 inputs"):
        Network(2, (), ()).fold(Patterns(2), [0])


def test_the_largest_number_of_values_needed_at_one_time_is_exact() -> None:
    builder = Builder(6)
    ands = [builder.node(luts.AND2, builder.input(k), builder.input(k + 3)) for k in range(3)]
    assert most_live(builder.build([builder.node(luts.XOR3, *ands)])) == 3
    assert most_live(builder.build(ands)) == 3
    assert most_live(builder.build([])) == 0


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
    with pytest.raises(DataError, match=r"^net\.txt"):
        parse_network(text, "net.txt")


@given(st.integers(0, len(TEXT) - 1), st.characters(max_codepoint=127))
def test_no_changed_letter_makes_another_text_of_the_same_network(place: int, letter: str) -> None:
    changed = TEXT[:place] + letter + TEXT[place + 1 :]
    try:
        network = parse_network(changed)
    except DataError:
        return
    assert render_network(network) == changed or changed.split() != TEXT.split()


@pytest.mark.check
def test_a_cover_of_26000_products_becomes_a_network_within_seconds() -> None:
    rng = np.random.default_rng(3)
    rows = {
        ("".join("01-"[k] for k in term), f"{1 << owner:08b}")
        for term, owner in zip(
            rng.integers(0, 3, (26_000, 16)).tolist(),
            rng.integers(0, 8, 26_000).tolist(),
            strict=True,
        )
    }
    cubes = Cubes.from_rows(16, 8, sorted(rows))
    network = network_of_cover(cubes)
    points = np.random.default_rng(0).integers(0, 2, (200, 16)).astype(bool)
    columns = [int("".join("01"[b] for b in column), 2) for column in points.T.tolist()]
    found = network.fold(Sampled(len(points)), columns)
    for place, point in enumerate(points.tolist()):
        word = "".join("01"[value >> (len(points) - 1 - place) & 1] for value in found)
        hits = [
            int(owner, 2)
            for term, owner in rows
            if all(t in ("-", "01"[b]) for t, b in zip(term, point, strict=True))
        ]
        assert int(word, 2) == int(np.bitwise_or.reduce([0, *hits]))


class Sampled(Patterns):
    """Truth values at so many points."""

    def __init__(self, points: int) -> None:
        super().__init__(0)
        self.all = (1 << points) - 1
