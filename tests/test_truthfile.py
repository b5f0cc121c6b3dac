"""Truth tables as files: nothing is lost, and the header alone rebuilds the table."""

from __future__ import annotations

import pytest
from samples import random_robot, terms_of
from tablefile import parse_header, parse_table

from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.truth import TermTable, signature, tabulate
from boolcomp.paper.truthfile import MEANING, render_table
from boolcomp.pipeline import run_passes


@pytest.fixture(scope="module", name="entries")
def all_tables() -> tuple[TermTable, ...]:
    made: tuple[TermTable, ...] = run_passes("machado-2r", Options(bits=5))
    return made


def test_reading_a_table_and_writing_it_is_the_identity(entries: tuple[TermTable, ...]) -> None:
    for entry in entries:
        assert parse_table(render_table(entry)) == entry


def test_the_header_alone_rebuilds_the_table(entries: tuple[TermTable, ...]) -> None:
    for entry in entries:
        header = "".join(
            line for line in render_table(entry).splitlines(keepends=True) if line[0] == "#"
        )
        robot, plan = parse_header(header)
        assert (robot, plan) == ("machado-2r", entry.plan)
        assert tabulate(plan) == entry.table


def test_faithful_tables_survive_with_their_free_outputs() -> None:
    for entry in run_passes("machado-2r", Options(bits=6, rounding="faithful")):
        rows = [line for line in render_table(entry).splitlines() if line[0] in "01"]
        shown = sum(line.partition(" ")[2].count("-") for line in rows)
        assert shown == sum(column.count() for column in entry.table.free) > 0
        assert parse_table(render_table(entry)) == entry


@pytest.mark.slow
def test_headers_survive_for_sliding_joints_too() -> None:
    robots = [random_robot(seed, joints=2) for seed in range(8)]
    assert any(not link.revolute for robot in robots for link in robot.links)
    for robot in robots:
        plan = make_plan(terms_of(robot), Options(bits=5))
        for term in [term for term in plan.terms if term.input_bits <= 12]:
            text = render_table(TermTable(robot.name, term, tabulate(term)))
            name, found = parse_header(text)  # a file does not say the units of its inputs
            assert (name, str(found)) == (robot.name, str(term))
            assert list(map(str, found.words)) == list(map(str, term.words))
            assert signature(found) == signature(term)


def test_a_file_reads_like_this(entries: tuple[TermTable, ...]) -> None:
    entry = next(e for e in entries if e.plan.term.name == "T13")
    assert render_table(entry).splitlines() == [
        "# boolcomp truth table, format 1",
        "# robot: machado-2r",
        "# term: T13 of torque 1 = -5 sin q2 qd2^2",
        "# output: T13 gray 2 bits, -6.25 .. 6.25",
        "# rounding: nearest",
        "# input: q2 gray 2 bits, -pi .. pi, turns",
        "# input: qd2 gray 2 bits, -1 .. 1, drops 1",
        *(f"# {line}" for line in MEANING.split("\n")),
        ".i 3",
        ".o 2",
        ".ilb q2.1 q2.0 qd2.0",
        ".ob T13.1 T13.0",
        ".p 8",
        "000 11",
        "001 11",
        "010 11",
        "011 11",
        "100 01",
        "101 01",
        "110 01",
        "111 01",
        ".e",
    ]
