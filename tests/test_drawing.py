"""Pictures: word graphs as SVG, covers as maps of what their products hold."""

import itertools
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from small_programs import compact

from boolcomp.twolevel import Cover, Cubes
from boolcomp.words import Lookup, WordGraph, draw_graph, reads

SVG = "{http://www.w3.org/2000/svg}"


def graph() -> WordGraph:
    found = compact(8).graph
    assert found is not None
    return found


@cache
def picture() -> tuple[Any, list[tuple[float, float]]]:
    """Return the picture of a graph, and the corners of its boxes in the order of the nodes."""
    root = ET.fromstring(draw_graph(graph(), "two & three"))  # noqa: S314 (our own text)
    boxes = [x for x in root.iter(f"{SVG}rect") if x.get("class") == "box"]
    return root, [(float(x.get("x", "0")), float(x.get("y", "0"))) for x in boxes]


def test_every_word_has_a_box_and_every_reading_a_line() -> None:
    root, boxes = picture()
    assert len(boxes) == len(graph().nodes)
    lines = list(root.iter(f"{SVG}path"))
    assert len(lines) == sum(len(set(reads(node))) for node in graph().nodes)
    curves = list(root.iter(f"{SVG}polyline"))
    assert len(curves) == sum(isinstance(n, Lookup) and n.read > 0 for n in graph().nodes)


def test_boxes_do_not_overlap_and_no_line_crosses_one() -> None:
    root, boxes = picture()
    for k, (x, y) in enumerate(boxes):
        assert not any(x == u and abs(y - v) < 40 for u, v in boxes[:k])
    for place, node in enumerate(graph().nodes):
        assert all(boxes[k][0] < boxes[place][0] for k in reads(node))
    straight = [
        (float(x), float(y))
        for line in root.iter(f"{SVG}path")
        for x, y in re.findall(r"L([\d.]+),([\d.]+)", line.get("d", ""))
    ]
    assert straight
    assert not any(
        left < x - 1 <= left + 176 and top <= y <= top + 40
        for x, y in straight
        for left, top in boxes
    )


def test_words_and_outputs_are_named_and_a_note_tells_of_a_bit_more() -> None:
    text = draw_graph(graph(), "a < b")
    assert "a &lt; b" in text
    for name in ("q1", "qdd2", "q1+q2", "cos(q1)", "cos(q1+q2)", "torque 1", "torque 2"):
        assert f">{name}<" in text
    assert ">sum of words and products<" in text
    assert "one bit more" not in draw_graph(graph(), bits=8)
    assert "torques 1, 2: one bit more than 7, for it may exceed" in draw_graph(graph(), bits=7)
    other = draw_graph(graph(), bits=7, results=("u", "i < j"))
    assert "torque" not in other
    assert all(f">{name}<" in other for name in ("u", "i &lt; j", "output"))
    assert "u, i &lt; j: one bit more than 7" in other
    assert draw_graph(graph()) in graph()._repr_html_()


def maps(text: str) -> Iterator[dict[int, str]]:
    """Yield of every map the digit in each minterm's cell, as it stands in the picture."""
    for svg in re.findall(r"<svg class=\"karnaugh.*?</svg>", text, re.DOTALL):
        root = ET.fromstring(svg)  # noqa: S314 (it was made here)
        boxes = [one for one in root.iter("rect") if "cell" in one.get("class", "")]
        digits = [one.text or "" for one in root.iter("text") if one.get("class") == "digit"]
        yield dict(zip((int(one[0].text or "") for one in boxes), digits, strict=True))


def test_a_cover_is_shown_as_a_map_of_every_output() -> None:
    rows = [("1-0", "10"), ("-11", "11"), ("0--", "01")]
    text = Cover(Cubes.from_rows(3, 2, rows), "given")._repr_html_()
    for output, drawn in enumerate(maps(text)):
        for minterm in range(8):
            inside = any(
                owners[output] == "1"
                and all(a in {"-", b} for a, b in zip(term, f"{minterm:03b}", strict=True))
                for term, owners in rows
            )
            assert drawn[minterm] == str(int(inside))
    assert len(list(maps(text))) == 2
    assert text.count('data-cube="0"') >= 2


@pytest.mark.parametrize("cube", ["0-1-", "-0-0", "1111", "----", "-0--", "---0", "10--", "01-1"])
def test_loops_on_a_map_hold_the_cells_of_their_product_and_neighbours_differ_in_one_input(
    cube: str,
) -> None:
    text = Cover(Cubes.from_rows(4, 1, [(cube, "1")]), "given")._repr_html_()
    (svg,) = re.findall(r"<svg class=\"karnaugh.*?</svg>", text, re.DOTALL)
    root = ET.fromstring(svg)  # noqa: S314 (it was made here)

    def edges(kind: str) -> Iterator[tuple[int, list[float]]]:
        for one in root.iter("rect"):
            if kind in one.get("class", ""):
                x, y, wide, high = (float(one.get(k, "0")) for k in ("x", "y", "width", "height"))
                yield int(one[0].text or "") if kind == "cell" else 0, [x, x + wide, y, y + high]

    boxes = dict(edges("cell"))
    assert sorted(boxes) == list(range(16))
    for (one, a), (other, b) in itertools.combinations(boxes.items(), 2):
        if abs(a[0] - b[0]) + abs(a[2] - b[2]) <= a[1] - a[0]:  # side by side
            assert (one ^ other).bit_count() == 1
    inside = {
        minterm
        for minterm, (left, right, top, bottom) in boxes.items()
        for _, (a, b, c, d) in edges("loop")
        if a < (left + right) / 2 < b and c < (top + bottom) / 2 < d
    }
    words = ((k, f"{k:04b}") for k in range(16))
    held = {k for k, word in words if all(x in {"-", y} for x, y in zip(cube, word, strict=True))}
    assert inside == held


def test_a_cover_of_many_inputs_is_its_text_and_letters_are_escaped() -> None:
    cover = Cover(Cubes.from_rows(7, 1, [("1------", "1")]), "own", note="<b>")
    assert cover._repr_html_().startswith("<pre>Cover(1 products")
    assert "<b>" not in cover._repr_html_()
