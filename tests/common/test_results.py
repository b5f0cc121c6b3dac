"""Rows and columns that print themselves as JSON, text, CSV and as a table of a page."""

from dataclasses import dataclass

import pytest

from boolcomp import base


@dataclass(frozen=True)
class Word:
    """A row of the tests."""

    name: str
    bits: int
    error: float | None

    @property
    def lsb(self) -> float:
        return 2.0**-self.bits


COLUMNS = (
    base.ResultColumn("name", "word", left=True, meaning="the name of the word"),
    base.ResultColumn("bits"),
    base.ResultColumn("", "length", "bits"),
    base.ResultColumn(
        "error_lsb", "error", lambda x: x.error and x.error / x.lsb, ".2f", unit="LSB"
    ),
    base.ResultColumn("exact", "exact", lambda x: x.error == 0, base.yes, json=False),
)
ROWS = (Word("a", 2, 0.125), Word("bcd", 12, None))


def test_json_has_the_columns_with_a_key_in_their_order() -> None:
    assert base.Results(COLUMNS, ROWS).documents == [
        {"name": "a", "bits": 2, "error_lsb": 0.5},
        {"name": "bcd", "bits": 12, "error_lsb": None},
    ]
    assert list(base.Results(COLUMNS, ROWS).documents[0]) == ["name", "bits", "error_lsb"]


@pytest.mark.parametrize("nothing", ["", "-"])
def test_text_has_the_columns_with_a_header_and_other_rows_first(nothing: str) -> None:
    text = base.Results(COLUMNS, ROWS, nothing).text([["all", "14", "", ""]])
    assert text.splitlines() == [
        "word  length  error/LSB  exact",
        "----  ------  ---------  -----",
        "all       14",
        "a          2       0.50     no",
        f"bcd       12  {nothing:>9}     no",
    ]


def test_csv_has_the_keys_of_json_and_all_digits() -> None:
    lines = base.Results(COLUMNS, (*ROWS, Word("e,f", 1, 1 / 3))).csv.splitlines()
    assert lines == [
        "name,bits,error_lsb", "a,2,0.5", "bcd,12,", '"e,f",1,0.6666666666666666',
    ]  # fmt: skip


def test_a_page_has_numbers_with_their_formats_and_the_meanings_of_columns() -> None:
    table = base.Results(COLUMNS[:4], ROWS).page()
    assert [(one.name, one.form, one.key) for one in table.columns] == [
        ("word", "", "name"), ("length", "", ""), ("error, LSB", ".2f", "error_lsb"),
    ]  # fmt: skip
    assert [one.meaning for one in table.columns] == ["the name of the word", "", ""]
    assert table.rows == [["a", 2, 0.5], ["bcd", 12, None]]


def test_rows_of_one_name_are_one_row_with_a_column_for_each_place() -> None:
    rows = base.pivoted([("a", 1), ("b", 1), ("a", 2)], lambda x: x[0], lambda x: x[1])
    assert rows == [
        {"name": "a", "1": ("a", 1), "2": ("a", 2)}, {"name": "b", "1": ("b", 1), "2": None},
    ]  # fmt: skip
