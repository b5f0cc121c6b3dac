"""AIGER: what is written reads back; what others write is read; the rest is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import networks

from boolcomp.base import DataError
from boolcomp.logic import (
    Netlist,
    Network,
    parse_aiger,
    read_netlist,
    render_ascii,
    render_binary,
    render_netlist,
    truth_planes,
)


def named(network: Network) -> Netlist:
    inputs = tuple(f"x[{k}]" for k in range(network.inputs))
    outputs = tuple(f"y {k}" for k in range(len(network.outputs)))
    return Netlist("network", inputs, outputs, network)


@given(networks)
def test_both_kinds_read_back_as_the_same_function_and_names(network: Network) -> None:
    netlist = named(network)
    binary = parse_aiger(render_binary(netlist))
    assert binary == parse_aiger(render_ascii(netlist, ["a comment"]).encode())
    assert (binary.inputs, binary.outputs) == (netlist.inputs, netlist.outputs)
    assert truth_planes(binary.network) == truth_planes(network)


def test_gates_may_stand_in_any_order_and_names_may_be_missing() -> None:
    text = b"aag 9 2 0 3 2\n18\n4\n6\n1\n7\n6 17 4\n16 18 5\ni1 b\no0 sum\nc\nanything\n"
    found = parse_aiger(text)
    assert found.inputs == ("i0", "b")
    assert found.outputs == ("sum", "o1", "o2")
    # not (a and not b), and b: b itself
    assert [bin(plane) for plane in truth_planes(found.network)] == [
        "0b1010", "0b1111", "0b101",
    ]  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), [
    (b"", ":1: the file is cut off"), (b"aag 1 1 1 0 0\n2\n", "latches and properties"),
    (b"aag 999999999 1 0 0 0\n", "at most 4194304 variables"),
    (b"aag 1 1 0 1 0\n3\n2\n", ":2: 3 is no literal of an input"),
    (b"aag 1 1 0 1 0\n2\n4\n", ":3: literal 4 is of no variable"),
    (b"aag 2 1 0 1 1\n2\n4\n4 4 2\n", ":4: gate 2 depends on itself"),
    (b"aag 2 1 0 1 1\n2\n4\n2 2 2\n", "variable 1 is an input and a gate"),
    (b"aag 2 2 0 0 0\n2\n2\n", "an input is named twice"),
    (b"aag 1 1 0 0 0\n2\ni1 x\n", ":3: 'i1 x' is no symbol"),
    (b"aig 2 1 0 1 1\n4\n\x00\x00", "reads a later gate"),
    (b"aig 2 1 0 1 1\n4\n\xff\xff\xff\xff\xff\xff", "too long"),
    (b"aig 5 1 0 1 1\n4\n\x02\x00", "5 variables are not those"),
])  # fmt: skip
def test_what_is_no_aiger_is_refused_with_its_line(text: bytes, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_aiger(text, "x.aag")
    assert sentence in str(caught.value)


@given(networks, st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(
    network: Network, place: int, change: int
) -> None:
    data = bytearray(render_binary(named(network)))
    data[place % len(data)] ^= change
    with contextlib.suppress(DataError):
        parse_aiger(bytes(data))


def test_nodes_of_many_inputs_are_taken_apart() -> None:
    text = (
        ".model wide\n.inputs a b c d e\n.outputs y z\n.names a b c d y\n11-- 1\n--01 1\n"
        ".names a b c d e z\n00000 0\n11111 0\n.end\n"
    )
    found = read_netlist(text)
    assert found.name == "wide"
    y, z = truth_planes(found.network)
    for row in range(32):
        a, b, c, d, e = (row >> k & 1 for k in reversed(range(5)))
        assert y >> row & 1 == (a & b | (1 - c) & d)
        assert z >> row & 1 == (0 < a + b + c + d + e < 5)


@given(networks)
def test_blif_with_names_reads_back_the_same(network: Network) -> None:
    inputs = tuple(f"n{k}" for k in range(network.inputs))
    outputs = tuple(f"o#{k}" for k in range(len(network.outputs)))
    found = read_netlist(render_netlist(Netlist("a model", inputs, outputs, network)))
    assert found.inputs == inputs
    assert found.outputs == tuple(name.replace("#", "_") for name in outputs)
    assert truth_planes(found.network) == truth_planes(network)
