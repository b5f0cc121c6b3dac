"""The table of formulations, from its formulas."""

from __future__ import annotations

from boolcomp.parallel.methods.comparison import FORMULATIONS, report


def test_formulas_give_the_printed_figures_but_for_two() -> None:
    wrong = {entry.name: entry.note for entry in FORMULATIONS if entry.note}
    assert wrong == {
        "Uicker, Kahn": "the printed formula gives 67143 multiplications",
        "Waters": "the printed formula gives 7345 multiplications",
    }


def test_the_table_can_be_had_for_other_arms() -> None:
    row = next(line for line in report(joints=2).splitlines() if line.startswith("DRL "))
    assert row.split()[1:3] == ["123", "95"]
