"""Truth tables as files: every row of the table, free outputs as dashes, and a header."""

from boolcomp.paper import PlanOptions, render_table
from boolcomp.pipeline import run_passes


def test_every_row_of_a_file_is_a_row_of_its_table() -> None:
    free = 0
    for options in (
        PlanOptions(5),
        PlanOptions(6, rounding="faithful"),
        PlanOptions(4, "sign-magnitude"),
    ):
        for entry in run_passes("machado-2r", options):
            table = entry.table
            rows = [line for line in render_table(entry).splitlines() if line[0] in "01"]
            assert len(rows) == 1 << table.inputs
            for number, row in enumerate(rows):
                outputs = "".join(
                    "-" if table.free and table.free[k][number] else str(column[number])
                    for k, column in enumerate(table.columns)
                )
                assert row == f"{number:0{table.inputs}b} {outputs}"
            free += sum(column.count() for column in table.free)
    assert free > 100


def test_a_file_reads_like_this() -> None:
    entry = next(
        e for e in run_passes("machado-2r", PlanOptions(bits=5)) if e.plan.term.name == "T13"
    )
    lines = render_table(entry).splitlines()
    assert [line for k, line in enumerate(lines) if not 7 <= k < lines.index(".i 3")] == [
        "# boolcomp truth table, format 1",
        "# robot: machado-2r",
        "# term: T13 of torque 1 = -5 sin q2 qd2^2",
        "# output: T13 gray 2 bits, -6.25 .. 6.25",
        "# rounding: nearest",
        "# input: q2 gray 2 bits, -pi .. pi, turns",
        "# input: qd2 gray 2 bits, -1 .. 1, drops 1",
        ".i 3",
        ".o 2",
        ".ilb q2.1 q2.0 qd2.0",
        ".ob T13.1 T13.0",
        ".p 8",
        *("000 11", "001 11", "010 11", "011 11", "100 01", "101 01", "110 01", "111 01"),
        ".e",
    ]
    assert all(line.startswith("# ") for line in lines[7 : lines.index(".i 3")])
