"""The picture of a small graph, box by box and line by line."""

from __future__ import annotations

from pathlib import Path

from boolcomp.words import draw_graph, laid_out, parse_graph

SMALL = """w0[4] = input q angle unit 2^0
w1[4] = input qd unit 2^0
w2[4] = input qdd unit 2^0
w3[5] = angle + w0:4 << 1 + 1 unit 2^0
w4[4] = table w3:3 7 10 13 15 13 10 7 4 unit 2^0
w5[9] = heap + w1>>0 * w1>>0 << 0 + 3 unit 2^0
w6[9] = heap + w4>>1 * w5>>0 << 0 - w2>>0 * w4>>0 << 0 + w2>>0 << 0 + 1 unit 2^0
w7[9] = heap + w6>>1 << 0 - w1>>0 << 1 + 0 unit 2^0
tau1[8] = w7 >> 1
"""


def test_a_small_graph_is_drawn_as_the_picture_beside_this_file() -> None:
    picture = Path(__file__).with_name("smallgraph.svg").read_text()
    assert draw_graph(parse_graph(SMALL), "a small graph", bits=7) == picture


def test_words_of_a_product_share_a_colour_that_no_other_product_of_the_sum_has() -> None:
    _, lines = laid_out(parse_graph(SMALL))
    colours = {(line.source, line.place): line.pair for line in lines}
    assert colours[4, 6] == colours[5, 6]
    assert None not in {colours[5, 6], colours[2, 6], colours[1, 5]}
    assert colours[5, 6] != colours[2, 6]
    assert colours[6, 7] is colours[1, 7] is None
