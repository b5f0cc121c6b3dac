"""Pages of terms, plans and tables: what the commands print, and maps of the tables themselves."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import Run

from boolcomp.paper import PlanOptions
from boolcomp.pipeline import run_passes


def cells(text: str) -> list[list[str]]:
    """Return the rows of a page's tables as texts."""
    rows = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", text)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


@pytest.mark.check
def test_the_page_of_terms_has_a_row_for_each_with_what_it_reaches(
    run: Run,
) -> None:
    run("terms", "machado-2r", "--page", "terms.html")
    text = Path("terms.html").read_text()
    rows = {row[0]: row[1:] for row in cells(text) if row[0].startswith("T")}
    assert rows["T11"][:2] == ["(15.75 + 10 cos q2) qdd1", "25.75"]
    assert rows["T13"][3] == "qd2"  # -5 sin q2 qd2² is even in the speed alone
    assert rows["T14"][3] == "–"


def test_the_page_of_tables_draws_the_very_bits_and_equal_tables_once(
    run: Run,
) -> None:
    entries = run_passes("machado-2r", PlanOptions(bits=4), "tables")
    run("tables", "machado-2r", "--bits", "4", "--page", "tables.html")
    text = Path("tables.html").read_text()
    small = next(entry for entry in entries if entry.plan.term.name == "T13")
    assert small.table.inputs <= 6
    part = text[text.index("<b>T13") :]
    drawn = re.findall(r"<title>(\d+)</title></rect>\n<text class=\"digit\"[^>]*>(\d)", part)
    first = dict(drawn[: 1 << small.table.inputs])
    column = np.array(list(small.table.columns[0]), int)
    assert [first[str(k)] for k in range(len(column))] == [str(bit) for bit in column]
    assert text.count('<details class="term"') == len({entry.table for entry in entries})


@pytest.mark.check
def test_pages_of_stages_are_written_beside_what_commands_print(run: Run) -> None:
    plain = run("plan", "machado-2r", "--bits", "5")
    paged = run("plan", "machado-2r", "--bits", "5", "--page", "plan.html")
    assert (paged.code, paged.out) == (0, plain.out)
    assert "boolcomp plan machado-2r --bits 5" in Path("plan.html").read_text()
    run("terms", "machado-2r", "--of", "gravity", "--json", "--page", "terms.html")
    assert "--of gravity" in Path("terms.html").read_text()
    made = run("tables", "machado-2r", "--bits", "4", "--json", "--page", "tables.html")
    assert len(json.loads(made.out)["tables"]) == 12
    assert Path("tables.html").read_text().count("<svg") > 0
