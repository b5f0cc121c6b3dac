"""Networks as look-up tables: what they compute, tried row by row, and what is refused."""

from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from synthesis.networks import looked_up, random_network

from boolcomp.base import DataError, UsageError
from boolcomp.logic import Network, Node, find, in_lut3, mapped, parse_luts

needs_abc = pytest.mark.skipif(find() is None, reason="ABC is not installed")


def same_everywhere(a: Any, b: Any) -> bool:
    return all(
        looked_up(a, word) == looked_up(b, word) for word in product((0, 1), repeat=a.inputs)
    )


@pytest.mark.parametrize("inputs", [3, 4, 6])
@pytest.mark.parametrize("seed", range(2))
def test_without_abc_tables_are_cones_of_the_network(
    inputs: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.logic.lutmapping.find", lambda: None)
    network = random_network(seed, 8, 40, 4)
    found = mapped(network, inputs)
    assert "ABC was not found" in found.note
    assert max(len(node.operands) for node in found.luts.nodes) <= inputs
    assert len(found.luts.nodes) <= len(network.nodes)
    assert same_everywhere(network, found.luts)
    assert same_everywhere(network, in_lut3(found.luts))


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [4])
@pytest.mark.parametrize("goal", ["area", "depth"])
def test_abc_maps_into_tables_that_are_the_network(inputs: int, goal: Any) -> None:
    network = random_network(9, 8, 60, 4)
    found = mapped(network, inputs, goal)
    assert found.method.startswith("ABC")
    assert same_everywhere(network, found.luts)
    assert mapped(network, inputs, goal) == found


@pytest.mark.slow
@needs_abc
@pytest.mark.parametrize("inputs", [8, 24])  # compared at all words, and by random words and proof
def test_tables_that_are_another_function_are_not_taken(
    monkeypatch: pytest.MonkeyPatch, inputs: int
) -> None:
    network = random_network(8, inputs, 80, 4)

    def lies(text: str, where: str) -> Any:
        good = parse_luts(text, where)
        last = good.nodes[-1]
        whole = (1 << max(8, 1 << len(last.operands))) - 1
        return replace(good, nodes=(*good.nodes[:-1], last._replace(lut=~last.lut & whole)))

    monkeypatch.setattr("boolcomp.logic.lutmapping.parse_luts", lies)
    found = mapped(network, 4)
    assert (
        same_everywhere(network, found.luts) if inputs == 8 else not found.method.startswith("ABC")
    )
    assert "rejected" in found.note


def test_a_table_of_seven_inputs_and_one_of_two_are_refused() -> None:
    with pytest.raises(UsageError, match="3 to 6 inputs, not 7"):
        mapped(random_network(1, 3, 5, 1), 7)
    rows = ".model x\n.inputs a b c d e f g\n.outputs z\n.names a b c d e f g z\n1111111 1\n.end\n"
    with pytest.raises(DataError, match="at most 6"):
        parse_luts(rows)


@pytest.mark.parametrize(("operands", "lut", "outputs", "sentence"), [
    ((1, 3), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 4), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 5), 0xC0, (4,), "node 0 reads constants or later nodes"),
    ((2, 2), 0xC0, (4,), "node 0 reads a signal twice"), ((), 0xC0, (4,), "node 0 has 0 inputs"),
    ((2, 3), 0xF0, (4,), "0xF0 is not of its operands"),
    ((2, 3), 0xC0, (5,), "an output is no signal"), ((2, 3), 0xC0, (-1,), "an output is no signal"),
])  # fmt: skip
def test_a_network_of_tables_reads_what_comes_before_them(
    operands: tuple[int, ...], lut: int, outputs: tuple[int, ...], sentence: str
) -> None:
    assert Network(2, (Node(0xC0, (2, 3)),), (4, 0, 2), 6).depth == 1
    with pytest.raises(ValueError, match=sentence):
        Network(2, (Node(lut, operands),), outputs, 6)
