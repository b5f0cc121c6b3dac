"""BLIF: what is written reads back the same; what ABC writes is read; the rest is refused."""

import pytest
from hypothesis import given
from synthesis.networks import networks

from boolcomp.base import DataError
from boolcomp.logic import Network, clean, read_netlist, render


@given(networks)
def test_what_is_written_reads_back_the_same(network: Network) -> None:
    assert read_netlist(render(network)).network == clean(network)


def test_a_network_is_written_node_by_node() -> None:
    text = ".model m\n.inputs b a\n.outputs y z k\n.names c a y\n0- 0\n-1 0\n.names a b \\\n c\n"
    text += "11 1 # and\n.names a z\n1 1\n.names k\n1\n.end\n"
    network = read_netlist(text).network
    assert str(network) == (
        "network 2 inputs 3 outputs 2 nodes\nn0 = i0 & i1\nn1 = ~i1 & n0\noutputs n1 i1 1\n"
    )
    assert render(network, "m") == (
        ".model m\n.inputs i0 i1\n.outputs o0 o1 o2\n.names i0 i1 n0\n11 1\n.names i1 n0 n1\n"
        "01 1\n.names n1 o0\n1 1\n.names i1 o1\n1 1\n.names o2\n1\n.end\n"
    )


@pytest.mark.parametrize(("body", "sentence"), [
    (".inputs a\n.outputs y\n.names a y\n1 1\n", "the file has no .end, so it is cut off"),
    (".inputs a b c d\n.outputs y\n.names a b c d y\n1111 1\n.end", "4 inputs, at most 3"),
    (".inputs a\n.outputs y\n.latch a y\n.end", ":3: .latch is not combinational"),
    (".inputs a\n.outputs y\n.names a x y\n11 1\n.end", ":3: x is neither an input"),
    (".inputs a\n.outputs y\n.names y y\n1 1\n.end", ":3: y depends on itself"),
    (".inputs a\n.outputs y\n.names a y\n1 1\n.names a y\n1 1\n.end", "y is defined twice"),
    (".inputs a\n.outputs y\n.names a y\n1 1\n0 0\n.end", "are mixed"),
    (".inputs a\n.outputs a\n.names a\n1\n.end", "a is an input and defined"),
    ("1 1\n.end", ":1: '1 1' belongs to no .names"),
    (".inputs a\n.outputs a\n.end\n.names x\n", ".names follows .end"),
])  # fmt: skip
def test_a_bad_file_is_refused_with_a_sentence(body: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        read_netlist(body, "f.blif", 3)
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("f.blif")
