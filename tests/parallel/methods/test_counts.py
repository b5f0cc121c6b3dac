"""What runs costs what the papers print."""

from __future__ import annotations

from boolcomp.parallel.methods import counts
from boolcomp.problem.dynamics.operations import Operations
from boolcomp.problem.robot import load_robot


def test_general_newton_euler_takes_150_and_116_a_link() -> None:
    rows = counts.newton_euler()
    assert [row.equation for row in rows if not row.agrees] == []
    assert rows[-1].ours == Operations(150, 116)


def test_semi_customised_newton_euler_takes_117_and_95_or_105_and_83() -> None:
    for dense, total in ((True, (117, 95)), (False, (105, 83))):
        rows = counts.semi_customised(dense=dense)
        assert [row.equation for row in rows if not row.agrees] == []
        ours = {row.equation: row.ours for row in rows}
        assert ours["a link"] == Operations(*total)


def test_every_job_of_the_lagrangian_takes_what_tables_1_and_2_say() -> None:
    rows = counts.recursive_lagrangian()
    assert len(rows) == 2 * 16 + 1
    assert rows[-1].ours == Operations(383, 307)
    assert [row.equation for row in rows if not row.agrees] == []
    noted = {row.equation: row.signs for row in rows if row.note}
    assert noted == {"Wd, n=1": 3, "Wdd, n=1": 1, "dW, n=1": 3, "A, n>1": 2, "A, n=1": 2}


def test_a_wrong_count_would_not_agree() -> None:
    row = counts.newton_euler()[0]
    assert not counts.Count("x", "y", row.ours, 0, Operations(5, 0)).agrees


def test_the_critical_path_of_other_arms_is_as_the_printed_formula_says() -> None:
    for name, n in (("puma560-5", 5), ("elbow-3r", 3)):
        found = counts.distributed_lagrangian(load_robot(name))
        assert found == Operations(65 * n - 7, 53 * n - 11)


def test_the_busiest_of_four_processors_takes_40_and_32_a_link() -> None:
    last = counts.semi_customised(dense=False)[-1]
    assert (last.equation, last.ours) == ("w + N + n", Operations(40, 32))


def test_the_report_puts_ours_beside_the_papers() -> None:
    lines = counts.report(counts.newton_euler()).splitlines()
    assert lines[-1].split() == ["newton-euler", "a", "link", "150/116", "150/116"]
