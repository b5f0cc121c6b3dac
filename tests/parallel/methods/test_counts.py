"""Counted operations are those that the papers print."""

import re

import pytest
from conftest import Run

LAGRANGIAN = {"Wd, n=1": 3, "Wdd, n=1": 1, "dW, n=1": 3, "A, n>1": 2, "A, n=1": 2}
ROW = (
    r"^\S.*? {2,}(\S.*?) +(\d+)/(\d+) +(\d+)/(\d+)"
    r"(?: +printed additions include (\d+) changes.*)?$"
)


@pytest.mark.parametrize(
    ("method", "rows", "totals", "noted"),
    [
        ("newton-euler", 12, ["150/116"], {}),
        ("semi-customised", 21, ["117/95", "105/83", "40/32"], {}),
        ("lagrangian", 33, ["383/307"], LAGRANGIAN),
    ],
)
def test_every_printed_count_agrees(
    run: Run, method: str, rows: int, totals: list[str], noted: dict[str, int]
) -> None:
    text = run("schedule", "simulate", "puma560", "--method", method, "-v").out
    found = re.findall(ROW, text, re.MULTILINE)
    assert len(found) == rows
    signs = {equation: int(count) for equation, *_, count in found if count}
    assert signs == noted
    for equation, mul, add, printed_mul, printed_add, _ in found:
        assert (int(mul), int(add) + signs.get(equation, 0)) == (int(printed_mul), int(printed_add))
    ours = {f"{mul}/{add}" for equation, mul, add, *_ in found if len(equation) > 5}
    assert set(totals) <= ours
