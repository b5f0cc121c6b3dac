"""Covers as networks: the text of a small one, and what larger ones have always become."""

from __future__ import annotations

import hashlib
import random

import pytest

from boolcomp.logic.order import most_live
from boolcomp.paper.coverlogic import network_of_cover
from boolcomp.twolevel.cubes import Cubes


def cover(seed: int, inputs: int, outputs: int, products: int, free: float) -> Cubes:
    """Return a cover of random products that several outputs may share."""
    draw = random.Random(seed)  # noqa: S311 (no secret)
    rows = set()
    for _ in range(products):
        term = "".join("-" if draw.random() < free else draw.choice("01") for _ in range(inputs))
        owners = "".join(draw.choice("01") for _ in range(outputs))
        rows.add((term, owners))
    return Cubes.from_rows(inputs, outputs, sorted(rows))


def test_the_text_of_a_cover_of_four_products_in_two_outputs() -> None:
    rows = [("11-0", "10"), ("110-", "11"), ("0-11", "01"), ("-011", "01")]
    assert str(network_of_cover(Cubes.from_rows(4, 2, rows))) == (
        "network 4 inputs 2 outputs 6 nodes\n"
        "n0 = i0 & i1\n"
        "n1 = ~i2 & n0\n"
        "n2 = n1 | ~i3 & n0\n"
        "n3 = i2 & i3\n"
        "n4 = n1 | ~i0 & n3\n"
        "n5 = n4 | ~i1 & n3\n"
        "outputs n2 n5\n"
    )


@pytest.mark.parametrize(
    ("parts", "nodes", "depth", "live", "digest"),
    [
        ((1, 5, 2, 12, 0.3), 12, 5, 6, "84f9e302fd3b"),
        ((2, 8, 3, 40, 0.4), 78, 11, 22, "3bb9e48bcc98"),
        ((3, 10, 4, 120, 0.5), 267, 20, 60, "a65422662e33"),
        ((4, 7, 1, 25, 0.2), 38, 12, 12, "00acfe12c3c9"),
        ((5, 3, 3, 8, 0.3), 5, 3, 3, "eb5c8bf3b391"),
        ((6, 12, 6, 200, 0.6), 478, 19, 72, "ff4b94627c94"),
        ((7, 44, 3, 60, 0.9), 198, 20, 30, "5d990e93391f"),
        ((8, 9, 8, 60, 0.5), 263, 15, 56, "1a77446f256a"),
    ],
)
def test_a_cover_becomes_the_network_that_it_always_became(
    parts: tuple[int, int, int, int, float], nodes: int, depth: int, live: int, digest: str
) -> None:
    network = network_of_cover(cover(*parts))
    assert (len(network.nodes), network.depth, most_live(network)) == (nodes, depth, live)
    assert hashlib.sha256(str(network).encode()).hexdigest()[:12] == digest
