"""Pictures of word graphs."""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree as ET

from compact.word_robots import case

from boolcomp.words.drawing import draw_graph
from boolcomp.words.graph import Lookup, WordGraph, reads

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
