"""Verilog of words where one bit of a sum changes."""

from __future__ import annotations

import pytest
from targets.exported import of_graph

from boolcomp.measure import words_read_back
from boolcomp.words import parse_graph


@pytest.mark.parametrize(
    "heaps",
    [
        ("wrapping + w0>>3 << 0 + w1>>2 << 0 + 0", "heap + w2>>0 << 1 + w0>>1 << 2 + 1"),
        ("wrapping + w0>>3 << 0 - w1>>2 << 0 + 1", "heap + w2>>0 << 1 + w0>>1 << 2 + 1"),
        ("wrapping + w0>>3 * w1>>2 << 0 + w0>>2 << 0 + 1", "heap - w2>>0 << 0 + 3"),
        ("wrapping - w0>>2 * w1>>2 << -1 - w1>>1 << 0 + 0", "heap + w2>>0 * w0>>0 << 0 + 3"),
        ("wrapping - w0>>3 << 0 + 0", "heap + w2>>0 << 4 + 3"),
        ("wrapping + w0>>3 << 0 + 1", "wrapping + w0>>3 * w1>>1 << 3 + w0>>0 << 1 + 3"),
    ],
)
@pytest.mark.parametrize("pipeline", [0, 1])
def test_sums_of_which_one_bit_changes_are_proved(heaps: tuple[str, str], pipeline: int) -> None:
    one, other = heaps
    lines = ["w0[4] = input a", "w1[3] = input b", f"w2[1] = {one}", f"w3[5] = {other}"]
    graph = parse_graph("\n".join([*(f"{line} unit 2^0" for line in lines), "tau1[5] = w3 >> 0"]))
    program = of_graph("bits", graph)
    checks = words_read_back(program, None, pipeline)
    assert all(check.holds for check in checks), checks
