"""Networks as look-up tables: what they compute, tried row by row, and what is refused."""

from __future__ import annotations

import random
from itertools import product

import pytest

from boolcomp.common.errors import DataError, UsageError
from boolcomp.logic import blif, luts
from boolcomp.logic.lutblif import parse_luts
from boolcomp.logic.lutnetwork import LutNetwork
from boolcomp.logic.network import CONSTANTS, Builder, Network, Node
from boolcomp.logic.synthesis import abc, mapping
from boolcomp.logic.synthesis.cones import cone_luts
from boolcomp.logic.synthesis.mapping import mapped

needs_abc = pytest.mark.skipif(abc.find() is None, reason="ABC is not installed")


def random_network(seed: int, inputs: int = 8, nodes: int = 40, outputs: int = 4) -> Network:
    rng = random.Random(seed)  # noqa: S311 (a repeatable network, no secret)
    builder = Builder(inputs)
    literals = [builder.input(k) for k in range(inputs)]
    for _ in range(nodes):
        literals.append(builder.node(rng.randrange(1, luts.ALL), *rng.sample(literals, 3)))
    return builder.build(literals[-outputs:])


def looked_up(logic: Network | LutNetwork, word: tuple[int, ...]) -> tuple[int, ...]:
    """Return outputs by looking up one row of one table after the other."""
    values = [0, 1, *word]
    for lut, operands in logic.nodes:
        place = 0
        for k in operands:
            place = 2 * place + values[k]
        values.append(lut >> (place << max(0, 3 - len(operands))) & 1)
    return tuple(values[k] for k in logic.outputs)


def same_everywhere(a: Network | LutNetwork, b: Network | LutNetwork) -> bool:
    return all(
        looked_up(a, word) == looked_up(b, word) for word in product((0, 1), repeat=a.inputs)
    )


@pytest.mark.parametrize("inputs", [3, 4, 5, 6])
@pytest.mark.parametrize("seed", range(4))
def test_cones_are_the_network_and_read_no_more_than_they_may(inputs: int, seed: int) -> None:
    network = random_network(seed)
    found = cone_luts(network, inputs)
    assert max(len(node.operands) for node in found.nodes) <= inputs
    assert len(found.nodes) <= len(network.nodes)
    assert same_everywhere(network, found)
    assert same_everywhere(network, found.network())


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [4, 6])
@pytest.mark.parametrize("goal", mapping.GOALS)
def test_abc_maps_into_tables_that_are_the_network(inputs: int, goal: mapping.Goal) -> None:
    network = random_network(9, nodes=60)
    found = mapped(network, inputs, goal)
    assert found.method == mapping.ABC
    assert len(found.luts.nodes) <= len(cone_luts(network, inputs).nodes) or goal == "depth"
    assert same_everywhere(network, found.luts)
    assert mapped(network, inputs, goal) == found


def test_without_abc_cones_stay_and_a_note_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(abc, "find", lambda: None)
    network = random_network(2)
    found = mapped(network, 6)
    assert found.luts == cone_luts(network, 6)
    assert "ABC was not found" in found.note


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [8, 24])  # compared at all words, and by random words and proof
def test_tables_that_are_another_function_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, inputs: int
) -> None:
    network = random_network(3, inputs=inputs)

    def lies(text: str, where: str) -> LutNetwork:
        good = parse_luts(text, where)
        lut, operands = good.nodes[-1]
        whole = (1 << max(8, 1 << len(operands))) - 1
        wrong = Node(~lut & whole, operands)
        return LutNetwork(good.inputs, (*good.nodes[:-1], wrong), good.outputs)

    monkeypatch.setattr(mapping, "parse_luts", lies)
    found = mapped(network, 4)
    assert found.luts == cone_luts(network, 4)
    assert "not taken" in found.note


@pytest.mark.parametrize("seed", range(3))
def test_tables_survive_blif(seed: int) -> None:
    found = cone_luts(random_network(seed), 6)
    names = [f"i{k}" for k in range(found.inputs)], [f"o{k}" for k in range(len(found.outputs))]
    assert same_everywhere(parse_luts(blif.render_logic(found, "x", *names)), found)


def test_idle_operands_constants_twins_and_off_sets_are_absorbed_when_read() -> None:
    text = """.model x
.inputs a b c d e
.outputs u v w x
.names one
1
.names a b c d one p
11--1 1
.names p e e d c q
1--0- 0
.names p u
1 1
.names q v
1 1
.names one w
1 1
.names a a b c x
11-- 1
.end
"""
    found = parse_luts(text)
    assert found.outputs[2] == 1
    assert found.outputs[3] == CONSTANTS  # a where a is a
    for a, b, c, d, e in product((0, 1), repeat=5):
        p = a & b
        assert looked_up(found, (a, b, c, d, e)) == (p, 1 - (p & (1 - d)), 1, a)
    assert all(len(node.operands) == 2 for node in found.nodes)


@pytest.mark.parametrize(
    "nodes",
    [
        (Node(0xCC, (2,)),),  # not of its operand
        (Node(0xC0, (2, 2)),),
        (Node(0xC0, (1, 2)),),
        (Node(0xC0, (2, 4)),),
        (Node(0xAAAA, (2, 3, 2, 3)),),
    ],
)
def test_what_is_no_network_of_tables_is_refused(nodes: tuple[Node, ...]) -> None:
    with pytest.raises(ValueError, match="table 0"):
        LutNetwork(2, nodes, (4,))


def test_a_table_of_seven_inputs_and_one_of_two_are_refused() -> None:
    with pytest.raises(UsageError, match="3 to 6 inputs, not 7"):
        mapped(random_network(1), 7)
    rows = ".model x\n.inputs a b c d e f g\n.outputs z\n.names a b c d e f g z\n1111111 1\n.end\n"
    with pytest.raises(DataError, match="at most 6"):
        parse_luts(rows)


@pytest.mark.check
@needs_abc
def test_tables_are_chosen_by_their_deepest_stage() -> None:
    network = random_network(11, inputs=10, nodes=120, outputs=6)
    one, many = (mapped(network, 4, "depth", stages=stages).luts for stages in (1, 50))
    assert one.depth <= many.depth
    assert len(many.nodes) <= len(one.nodes)  # each of fifty stages holds a single level anyway
    assert same_everywhere(one, many)
