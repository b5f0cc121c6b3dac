"""Counted operations are those that the papers print."""

from __future__ import annotations

from boolcomp.parallel import (
    Count,
    distributed_lagrangian,
    newton_euler,
    recursive_lagrangian,
    semi_customised,
)
from boolcomp.problem import Operations, load_robot


def test_every_printed_count_agrees() -> None:
    lagrangian = recursive_lagrangian()
    tables = {
        (150, 116): newton_euler(),
        (383, 307): lagrangian,
    }
    for total, rows in tables.items():
        assert [row.equation for row in rows if not row.agrees] == []
        assert rows[-1].ours == Operations(*total)
    assert len(lagrangian) == 2 * 16 + 1
    noted = {row.equation: row.signs for row in lagrangian if row.note}
    assert noted == {"Wd, n=1": 3, "Wdd, n=1": 1, "dW, n=1": 3, "A, n>1": 2, "A, n=1": 2}
    for dense, each in ((True, (117, 95)), (False, (105, 83))):
        rows = semi_customised(dense=dense)
        assert [row.equation for row in rows if not row.agrees] == []
        assert {row.equation: row.ours for row in rows}["a link"] == Operations(*each)
    assert rows[-1].ours == Operations(40, 32)  # of the busiest of four processors


def test_a_wrong_count_does_not_agree() -> None:
    row = newton_euler()[0]
    assert not Count("x", "y", row.ours, 0, Operations(5, 0)).agrees


def test_the_critical_path_of_other_arms_follows_the_printed_formula() -> None:
    for name, n in (("puma560-5", 5), ("elbow-3r", 3)):
        found = distributed_lagrangian(load_robot(name))
        assert found == Operations(65 * n - 7, 53 * n - 11)
