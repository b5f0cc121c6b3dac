"""Pictures of word graphs."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

from compact.word_robots import case

from boolcomp.words.drawing import draw_graph, laid_out
from boolcomp.words.graph import Lookup, WordGraph, reads
from boolcomp.words.graphtext import parse_graph

SVG = "{http://www.w3.org/2000/svg}"


@cache
def graph() -> WordGraph:
    return case("machado-2r", bits=5).graph(allowed=0.5, bits=5)


def test_outputs_that_are_no_torques_have_their_names() -> None:
    text = draw_graph(graph(), bits=4, results=("u", "i < j"))
    assert "torque" not in text
    assert all(f">{name}<" in text for name in ("u", "i &lt; j", "output"))
    assert "u, i &lt; j: one bit more than 4" in text


def test_every_word_has_a_box_and_every_reading_a_line() -> None:
    picture = ET.fromstring(draw_graph(graph(), "two & three"))  # noqa: S314 (our own text)
    boxes = [x for x in picture.iter(f"{SVG}rect") if x.get("class") == "box"]
    assert len(boxes) == len(graph().nodes)
    lines = list(picture.iter(f"{SVG}path"))
    assert len(lines) == sum(len(set(reads(node))) for node in graph().nodes)
    curves = list(picture.iter(f"{SVG}polyline"))
    assert len(curves) == sum(isinstance(n, Lookup) and n.read > 0 for n in graph().nodes)


def test_boxes_do_not_overlap_and_stand_right_of_what_they_read() -> None:
    picture = ET.fromstring(draw_graph(graph()))  # noqa: S314 (our own text)
    corners = [
        (float(x.get("x", "0")), float(x.get("y", "0")))
        for x in picture.iter(f"{SVG}rect")
        if x.get("class") == "box"
    ]
    for k, (x, y) in enumerate(corners):
        assert not any(x == u and abs(y - v) < 40 for u, v in corners[:k])
    for place, node in enumerate(graph().nodes):
        assert all(corners[k][0] < corners[place][0] for k in reads(node))


def test_words_are_named_by_what_they_mean() -> None:
    text = draw_graph(graph(), "a < b")
    assert "a &lt; b" in text
    for name in ("q1", "qdd2", "q1+q2", "cos(q1)", "cos(q1+q2)", "torque 1", "torque 2"):
        assert f">{name}<" in text


def test_no_line_crosses_a_box() -> None:
    picture = ET.fromstring(draw_graph(graph()))  # noqa: S314 (our own text)
    rects = [x for x in picture.iter(f"{SVG}rect") if x.get("class") == "box"]
    boxes = [(float(r.get("x", "0")), float(r.get("y", "0"))) for r in rects]
    straight = [
        (float(x), float(y))
        for line in picture.iter(f"{SVG}path")
        for x, y in re.findall(r"L([\d.]+),([\d.]+)", line.get("d", ""))
    ]
    assert straight
    assert not any(
        left < x - 1 <= left + 176 and top <= y <= top + 40
        for x, y in straight
        for left, top in boxes
    )


def test_a_legend_names_the_colours_and_a_note_a_torque_with_a_bit_more() -> None:
    assert ">sum of words and products<" in draw_graph(graph())
    assert "one bit more" not in draw_graph(graph(), bits=5)
    assert "torques 1, 2: one bit more than 4, for it may exceed" in draw_graph(graph(), bits=4)


def test_the_same_graph_is_the_same_text() -> None:
    assert draw_graph(graph(), "x") == draw_graph(graph(), "x")


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
