"""What a notebook shows of values: graphs as pictures, covers as maps with their products."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from small_programs import stages

from boolcomp.twolevel.cover import Cover
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.karnaugh import holds

if TYPE_CHECKING:
    from collections.abc import Iterator


def maps(text: str) -> Iterator[dict[int, str]]:
    """Yield of every map the digit in each minterm's cell, as it stands in the picture."""
    for svg in re.findall(r"<svg class=\"karnaugh.*?</svg>", text, re.DOTALL):
        root = ET.fromstring(svg)  # noqa: S314 (it was made here)
        cells = [
            int(one[0].text or "") for one in root.iter("rect") if "cell" in one.get("class", "")
        ]
        digits = [one.text or "" for one in root.iter("text") if one.get("class") == "digit"]
        yield dict(zip(cells, digits, strict=True))


def test_a_cover_is_shown_as_a_map_of_every_output() -> None:
    rows = [("1-0", "10"), ("-11", "11"), ("0--", "01")]
    cover = Cover(Cubes.from_rows(3, 2, rows), "given")
    found = list(maps(cover._repr_html_()))
    assert len(found) == 2
    for output, drawn in enumerate(found):
        for minterm in range(8):
            bits = f"{minterm:03b}"
            inside = any(
                owners[output] == "1"
                and all(a in {"-", b} for a, b in zip(term, bits, strict=True))
                for term, owners in rows
            )
            assert drawn[minterm] == str(int(inside))
    assert cover._repr_html_().count('data-cube="0"') >= 2


def test_a_cover_of_many_inputs_is_its_text_and_letters_are_escaped() -> None:
    cover = Cover(Cubes.from_rows(7, 1, [("1------", "1")]), "own", note="<b>")
    assert cover._repr_html_().startswith("<pre>Cover(1 products")
    assert "<b>" not in cover._repr_html_()


def test_a_product_holds_the_minterms_that_its_letters_say() -> None:
    assert [k for k in range(8) if holds("1-0", k)] == [4, 6]
    assert holds("", 0)


def test_a_word_graph_is_shown_as_its_picture() -> None:
    graph = stages(4)[2].loads[0].graph
    if graph is None:  # a program of paper mode has none
        import boolcomp

        graph = boolcomp.compile("machado-2r", bits=4).graph
    assert graph is not None
    text = graph._repr_html_()
    root = ET.fromstring(text)  # noqa: S314 (it was made here)
    shown = " ".join(
        "".join(one.itertext()) for one in root.iter("{http://www.w3.org/2000/svg}text")
    )
    assert all(word.name in shown for word in graph.inputs)
