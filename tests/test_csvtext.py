"""Cells of lines of CSV, against Python's own module."""

from __future__ import annotations

import csv
import io
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.base import cells_of, unclosed, unquoted

texts = st.lists(st.text('",; \tab1', max_size=6), min_size=1, max_size=5)


@given(texts, st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_what_pythons_csv_writes_is_read(row: list[str], quoting: Literal[0, 1]) -> None:
    stream = io.StringIO()
    csv.writer(stream, quoting=quoting, lineterminator="").writerow(row)
    line = stream.getvalue()
    cells = cells_of(line)
    assert [unquoted(cell) for cell in cells] == [text.strip() for text in row]
    assert ",".join(cells) == line
    assert not unclosed(line)


@given(st.text('", a', max_size=12))
def test_whatever_stands_in_a_line_its_cells_are_the_line(line: str) -> None:
    cells = cells_of(line)
    assert ",".join(cells) == line
    assert not any(unclosed(cell) for cell in cells[:-1])


@pytest.mark.parametrize("line", ['"', 'a,"b', '"a""', ' "a,b', 'a,"""', '"a","b'])
def test_a_quote_that_is_not_closed_is_seen(line: str) -> None:
    assert unclosed(line)


def test_a_long_line_of_quotes_takes_no_longer_than_another() -> None:
    assert unclosed('"' * 1_000_001)
    assert cells_of('"a" ' * 250_000 + ",b")[1] == "b"
