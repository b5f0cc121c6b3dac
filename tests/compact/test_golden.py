# ruff: noqa: E501 (texts as they are)
"""Golden texts of three tiny arms whose widths are given: sketch, graph, heaps, first network.

A change of any of them is either a mistake or belongs into a commit that says why.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case

from boolcomp.compact.graph.layout import Statistics
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.graph.realise import realise
from boolcomp.compact.sketch.variables import widths_of
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import load_robot
from boolcomp.words.graph import Heap, InputWord
from boolcomp.words.graphtext import parse_graph
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.words.graph import WordGraph

TWO = load_robot("machado-2r")
TURNS = replace(TWO.links[0], torque=Interval(-16.0, 16.0))
LIFTS = replace(TURNS, a=0.0, alpha=math.pi / 2)
SLIDES = replace(TURNS, type="prismatic", position=Interval(0.5, 1.5))
ARMS = {
    "pendulum": replace(TWO, name="pendulum", links=(TURNS,)),
    "2r": TWO,
    "sliding": replace(TWO, name="sliding", links=(LIFTS, SLIDES)),
}

WIDTHS = {
    "pendulum": """\
1: e=-2 p=5 s=0 t=5
3: cut=-3 d0=1 d1=3 k0=1 k1=1
""",
    "2r": """\
2: n=16
3: e=-9 p=5 s=0 t=6
5: e=-2 t=3
6: e=-4 t=4
7: a0=0 b0=0 cut=-2 k0=1
10: e=-5 t=4
11: a0=0 b0=0 cut=-4 k0=1
12: cut=-9 d0=1 d1=1 d2=5 d3=1 k0=1 k1=1 k2=1 k3=1
13: e=-2 p=5 s=0 t=5
15: cut=1 d0=1 d1=1 k0=1 k1=1
16: e=6 t=2
17: a2=0 a4=0 b2=0 b4=0 cut=-2 d0=1 d1=1 d3=1 d5=1 d6=4 k0=1 k1=1 k2=0 k3=0 k4=0 k5=1 k6=1
""",
    "sliding": """\
1: e=-2 p=5 s=0 t=5
3: e=3 t=2
5: cut=-1 d0=1 k0=0
8: a1=0 b1=0 cut=-1 d0=1 d2=3 d3=1 k0=1 k1=0 k2=1 k3=0
9: e=-3 p=5 s=0 t=5
10: e=0 t=4
12: a0=0 b0=0 cut=1 k0=0
13: e=-3 p=2 s=0 t=4
14: cut=-1 d0=1 k0=0
15: a1=0 a2=0 a4=0 b1=0 b2=0 b4=0 cut=-2 d0=1 d3=1 k0=1 k1=1 k2=0 k3=1 k4=1
""",
}
# fmt: off
LARGEST = {"pendulum": (3.14, 1.23, 4.0, 5.2),
 "2r": (3.14, 3.14, 6.28, 1.96, 4.0, 16.0, 1.6, 25.6, 4.0, 4.0, 2.88, 11.52, 5.53, 1.32, 4.0,
        8.0, 64.0, 6.06),
 "sliding": (3.14, 1.23, 4.0, 16.0, 8.0, 1.5, 4.0, 4.0, 5.83, 1.73, 1.23, 4.0, 6.0, 0.16, 1.66,
             8.68)}
MEANS = {"pendulum": ((), (), (), (-0.03, -0.1)),
 "2r": ((), (), (), (), (), (), (), (-0.1,), (), (), (), (0.01,), (0.04, 0.0, 0.02, 0.0), (),
        (), (-0.02, -0.09), (), (0.11, 0.02, 0.0, 0.0, 0.01, 0.0, 0.0)),
 "sliding": ((), (), (), (), (), (0.0,), (), (), (-0.11, -0.09, 0.09, 0.0), (), (), (),
             (-0.11,), (), (0.01,), (0.06, -0.01, 0.0, -0.01, 0.01))}
# fmt: on
SKETCHES = {
    "pendulum": """\
s0 = input q1 4 bits angle
s1 = waves(s0) 1.225 cos1 0 -sin1
s2 = input qdd1 3 bits
s3 = sum 2 s1 + 0.6875 s2
T1 = s3
""",
    "2r": """\
s0 = input q1 4 bits angle
s1 = input q2 4 bits angle
s2 = angle +1 s0 +1 s1
s3 = waves(s2) 1.96 cos1 0 -sin1
s4 = input qd1 3 bits
s5 = powers(s4) 0 0 1
s6 = waves(s1) 0 cos1 1.6 -sin1
s7 = sum 1 s5 s6
s8 = input qdd2 3 bits
s9 = input qdd1 3 bits
s10 = waves(s1) 1.28 cos0 0 -sin0 + 1.6 cos1 0 -sin1
s11 = sum 1 s9 s10
s12 = sum 2 s3 + -0.015625 s7 + 0.18 s8 + 0.0625 s11
s13 = waves(s0) 1.323 cos1 0 -sin1
s14 = input qd2 3 bits
s15 = sum 1 s4 + 1 s14
s16 = powers(s15) 0 0 1
s17 = sum 2 s13 + 1 s3 + 0.0078125 s16 s6 + -0.0078125 s7 + 0.03125 s8 s10 + 0.0625 s11 + 0.0775 s9
T1 = s17
T2 = s12
""",
    "sliding": """\
s0 = input q1 4 bits angle
s1 = waves(s0) 1.225 cos1 0 -sin1
s2 = input qd1 3 bits
s3 = powers(s2) 0 0 1
s4 = input q2 4 bits
s5 = sum 1 + 0.0625 s4
s6 = input qdd2 3 bits
s7 = input qdd1 3 bits
s8 = sum -2 s1 + -0.015625 s3 s5 + 0.6875 s6 + -0.0625 s7
s9 = waves(s0) 1.225 cos1 -1.225 -sin1
s10 = waves(s0) 0 cos1 1.225 -sin1
s11 = input qd2 3 bits
s12 = sum 1 s11 s5
s13 = powers(s4) 0 0.015625 0.00048828125
s14 = sum 1.5 + 1 s13
s15 = sum 2 s9 + -0.125 s4 s10 + 0.03125 s2 s12 + -0.0625 s6 + 0.5 s7 s14
T1 = s15
T2 = s8
""",
}
GRAPHS = {
    "pendulum": """\
w0[4] = input q1 angle unit 2^0
w1[3] = input qdd1 unit 2^0
w2[4] = table w0:4 3 3 5 7 8 10 12 12 12 12 10 8 7 5 3 3 unit 2^-2
w3[8] = heap + w2>>0 << 2 + w1>>0 << 2 + w1>>0 << 1 - w1>>1 << 0 + 75 unit 2^-3
tau1[5] = w3 >> 3
""",
    "2r": """\
w0[4] = input q1 angle unit 2^0
w1[4] = input q2 angle unit 2^0
w2[3] = input qd1 unit 2^0
w3[3] = input qdd2 unit 2^0
w4[3] = input qdd1 unit 2^0
w5[4] = angle + w0:4 << 0 + w1:3 << 1 + 9 unit 2^-4
w6[11] = table w5:4 39 189 466 828 1219 1581 1858 2008 2008 1858 1581 1219 828 466 189 39 unit 2^-9
w7[7] = table w2:3 113 89 73 65 65 73 89 113 unit 2^-2
w8[6] = table w1:4 36 46 53 57 57 53 46 36 27 17 10 6 6 10 17 27 unit 2^-4
w9[8] = heap + w7>>0 * w8>>0 << -5 + 5 unit 2^-2 at -0.125
w10[8] = table w1:4 118 126 140 158 178 197 211 219 219 211 197 178 158 140 126 118 unit 2^-5
w11[9] = heap + w4>>0 * w10>>0 << -2 + 33 unit 2^-4
w12[14] = heap + w6>>0 << 1 - w9>>0 << 1 + w3>>0 << 6 + w3>>0 << 5 - w3>>0 << 2 + w11>>0 << 1 + 5030 unit 2^-9 at -0.0009765625
w13[4] = table w0:4 2 3 5 6 9 10 12 13 13 12 10 9 6 5 3 2 unit 2^-2
w14[7] = heap + w13>>0 << 1 + w6>>7 << 0 + w11>>6 << 0 + w4>>2 << 0 + 37 unit 2^-2 at 0.009999999999999787
tau1[5] = w14 >> 2
tau2[5] = w12 >> 9
""",
    "sliding": """\
w0[4] = input q1 angle unit 2^0
w1[4] = input q2 unit 2^0
w2[3] = input qdd2 unit 2^0
w3[3] = input qdd1 unit 2^0
w4[4] = table w0:4 3 3 5 7 8 10 12 12 12 12 10 8 7 5 3 3 unit 2^-2
w5[6] = heap - w4>>0 << 0 + w2>>0 << 0 + w2>>1 << 0 + 19 unit 2^-1 at -0.08999999999999986
w6[5] = table w0:4 4 2 2 4 8 13 18 23 27 29 29 27 23 18 13 8 unit 2^-3
w7[1] = table w0:4 1 1 1 1 1 1 1 1 0 0 0 0 0 0 0 0 unit 2^0
w8[4] = heap + 11 unit 2^-1 at -0.2400000000000002
w9[7] = heap + w6>>0 << 0 - w1>>0 * w7>>0 << -2 - w2>>2 << 0 + w3>>0 * w8>>0 << -1 + 20 unit 2^-2
tau1[5] = w9 >> 2
tau2[5] = w5 >> 1
""",
}
HEAPS = {
    "pendulum": """\
w3
0: ~w1.1 1
1: w1.0 ~w1.2 1
2: w2.0 w1.0 w1.1
3: w2.1 w1.1 w1.2 1
4: w2.2 w1.2
5: w2.3
6: 1
7:
""",
    "2r": """\
w9
0: w7.0*w8.5 w7.1*w8.4 w7.2*w8.3 w7.3*w8.2 w7.4*w8.1 w7.5*w8.0 1
1: w7.1*w8.5 w7.2*w8.4 w7.3*w8.3 w7.4*w8.2 w7.5*w8.1 w7.6*w8.0
2: w7.2*w8.5 w7.3*w8.4 w7.4*w8.3 w7.5*w8.2 w7.6*w8.1 1
3: w7.3*w8.5 w7.4*w8.4 w7.5*w8.3 w7.6*w8.2
4: w7.4*w8.5 w7.5*w8.4 w7.6*w8.3
5: w7.5*w8.5 w7.6*w8.4
6: w7.6*w8.5
7:

w11
0: w4.0*w10.2 w4.1*w10.1 w4.2*w10.0 1
1: w4.0*w10.3 w4.1*w10.2 w4.2*w10.1
2: w4.0*w10.4 w4.1*w10.3 w4.2*w10.2
3: w4.0*w10.5 w4.1*w10.4 w4.2*w10.3
4: w4.0*w10.6 w4.1*w10.5 w4.2*w10.4
5: w4.0*w10.7 w4.1*w10.6 w4.2*w10.5 1
6: w4.1*w10.7 w4.2*w10.6
7: w4.2*w10.7
8:

w12
0:
1: w6.0 ~w9.0 w11.0 1
2: w6.1 ~w9.1 ~w3.0 w11.1 1
3: w6.2 ~w9.2 ~w3.1 w11.2
4: w6.3 ~w9.3 ~w3.2 w11.3
5: w6.4 ~w9.4 w3.0 w11.4 1
6: w6.5 ~w9.5 w3.0 w3.1 w11.5
7: w6.6 ~w9.6 w3.1 w3.2 w11.6 1
8: w6.7 ~w9.7 w3.2 w11.7 1
9: w6.8 w11.8 1
10: w6.9
11: w6.10
12: 1
13:

w14
0: w6.7 w11.6 w4.2 1
1: w13.0 w6.8 w11.7
2: w13.1 w6.9 w11.8 1
3: w13.2 w6.10
4: w13.3
5: 1
6:
""",
    "sliding": """\
w5
0: ~w4.0 w2.0 w2.1 1
1: ~w4.1 w2.1 w2.2 1
2: ~w4.2 w2.2
3: ~w4.3
4: 1
5:

w8
0: 1
1: 1
2:
3: 1

w9
0: w6.0 ~w1.2*w7.0 ~w2.2 w3.0*w8.1 w3.1*w8.0
1: w6.1 ~w1.3*w7.0 w3.0*w8.2 w3.1*w8.1 w3.2*w8.0
2: w6.2 w3.0*w8.3 w3.1*w8.2 w3.2*w8.1 1
3: w6.3 w3.1*w8.3 w3.2*w8.2
4: w6.4 w3.2*w8.3 1
5:
6:
""",
}
NETWORK = """\
network 7 inputs 6 outputs 24 nodes
n0 = i1 ^ i3
n1 = i1 ^ i2
n2 = n0 | ~n1
n3 = i0 ^ i1
n4 = n2 ^ n3
n5 = n1 ^ n3
n6 = ~i4 | ~i5
n7 = ~(i4 ^ i5)
n8 = i6 & n7
n9 = 0xD4(i5, i6, n3)
n10 = ~(i5 ^ i6 ^ n3)
n11 = 0xE8(n6, n8, n10)
n12 = i4 | i5
n13 = 0xE8(n4, n7, n9)
n14 = n4 ^ n7 ^ n9
n15 = n11 & n14
n16 = n11 ^ n14
n17 = 0xE8(i4, n5, n12)
n18 = i4 ^ n5 ^ n12
n19 = 0xE8(n13, n15, n18)
n20 = n13 ^ n15 ^ n18
n21 = 0xE8(n3, n17, n19)
n22 = n3 ^ n17 ^ n19
n23 = 0x17(n3, n17, n19)
outputs n21 n23 n22 n20 n16 0
"""
NETWORKS = {
    "pendulum": (24, 7, "9fb8f28751c25fb1"),
    "2r": (248, 18, "f2a105d02303df4a"),
    "sliding": (64, 8, "5d50a8da8a60fcde"),
}  # nodes, depth, digest of the text


def graph_of(name: str) -> WordGraph:
    """Return the graph of an arm at 4 bits with the widths above."""
    made, joints = case(ARMS[name], 4, {"q": 4, "qd": 3, "qdd": 3}), ARMS[name].joints
    statistics = Statistics(LARGEST[name], MEANS[name])
    widths: dict[str, int] = {}
    for line in WIDTHS[name].splitlines():
        node, *chosen = line.replace(":", "").split()
        widths |= {f"{node} {one.partition('=')[0]}": int(one.partition("=")[2]) for one in chosen}
    return realise(made.sketch, widths_of(widths), statistics, [4] * joints, [0.0] * joints)


@pytest.mark.parametrize("name", ARMS)
def test_the_sketch_of_a_tiny_arm(name: str) -> None:
    assert f"{case(ARMS[name], 4, {'q': 4, 'qd': 3, 'qdd': 3}).sketch}\n" == SKETCHES[name]


@pytest.mark.parametrize("name", ARMS)
def test_the_graph_of_a_tiny_arm(name: str) -> None:
    graph = graph_of(name)
    assert str(graph) == GRAPHS[name]
    assert parse_graph(GRAPHS[name]) == graph


@pytest.mark.parametrize("name", ARMS)
def test_the_layout_of_the_heaps_of_a_tiny_arm(name: str) -> None:
    graph = graph_of(name)
    heaps = [k for k, node in enumerate(graph.nodes) if isinstance(node, Heap)]
    assert "\n".join(f"w{k}\n{graph.columns(k)}" for k in heaps) == HEAPS[name]


@pytest.mark.parametrize("name", ARMS)
def test_the_first_network_of_a_tiny_arm(name: str) -> None:
    network = word_logic(graph_of(name))
    digest = hashlib.sha256(str(network).encode()).hexdigest()[:16]
    assert (len(network.nodes), network.depth, digest) == NETWORKS[name]
    if name == "pendulum":
        assert str(network) == NETWORK


@pytest.mark.parametrize("name", ARMS)
def test_what_the_columns_of_a_heap_hold_adds_up_to_its_word(name: str) -> None:
    graph, rng = graph_of(name), np.random.default_rng(1)
    words: list[NDArray[np.int64]] = []

    def bit(text: str) -> NDArray[np.int64]:
        place, _, k = text.removeprefix("w").partition(".")
        return words[int(place)] >> int(k) & 1

    def value(text: str) -> NDArray[np.int64]:
        if text == "1":
            return np.ones(300, np.int64)
        a, _, b = text.removeprefix("~").partition("*")
        found = bit(a) ^ bit(b) ^ 1 if b else bit(a)
        return found ^ text.startswith("~")

    for place, node in enumerate(graph.nodes):
        if isinstance(node, InputWord):
            words.append(rng.integers(0, 1 << node.bits, 300))
            continue
        words.append(node_word(graph, place, words)[0])
        if isinstance(node, Heap):
            total = np.zeros(300, np.int64)
            for line in graph.columns(place).splitlines():
                column, _, held = line.partition(":")
                total += sum((value(text) for text in held.split()), 0 * total) << int(column)
            assert np.array_equal(total % (1 << node.bits), words[place])
