"""`boolcomp evaluate` on odd files of states: a result or a sentence, and never half a table."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from small_programs import stages

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

HEAD = "q1,q2,qd1,qd2,qdd1,qdd2\n"
FEW = "1,1,1,1,1,1\n"


@pytest.fixture(name="program")
def saved(run: Callable[..., Result]) -> str:
    del run  # it has gone to the empty folder
    stages(4)[2].save("program")
    return "program"


def test_a_state_too_large_for_newton_euler_is_named(run: Callable[..., Result]) -> None:
    Path("s.csv").write_text(HEAD + FEW * 70_000 + "0,0,1e308,0,0,1e308\n")
    result = run("evaluate", "machado-2r", "-i", "s.csv", "-o", "t.csv")
    assert result.code == 1
    assert "s.csv: tau" in result.err
    assert "of sample 70000 is" in result.err
    assert "too large to calculate with" in result.err
    assert not Path("t.csv").exists()


@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_a_program_saturates_at_the_largest_numbers_without_a_word(
    run: Callable[..., Result], program: str, engine: str
) -> None:
    Path("far.csv").write_text(HEAD + "0,0,1e308,-1e308,1e308,-1e308\n")
    Path("near.csv").write_text(HEAD + "0,0,1,-1,1,-1\n")
    far = run("evaluate", program, "-i", "far.csv", "-o", "a.csv", "--engine", engine)
    near = run("evaluate", program, "-i", "near.csv", "-o", "b.csv", "--engine", engine)
    assert (far.code, near.code) == (0, 0)
    assert "saturated: 4 inputs" in far.err
    assert "Warning" not in far.err
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


WAYS = [
    ("machado-2r",),
    ("program", "--engine", "numpy"),
    ("program", "--engine", "llvm"),
    ("program", "--engine", "llvm", "--threads", "2"),
    pytest.param(("program", "--processes", "2"), marks=pytest.mark.slow),
    pytest.param(("program", "--processes", "2", "--shard", "terms"), marks=pytest.mark.slow),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_value_that_is_not_finite_is_named_by_its_true_sample(
    run: Callable[..., Result], program: str, way: tuple[str, ...]
) -> None:
    del program
    table = np.zeros((70_010, 6))
    table[70_000, 3] = np.inf
    np.save("s.npy", table)
    result = run("evaluate", *way, "-i", "s.npy", "-o", "t.npy")
    assert result.code == 1
    assert "s.npy: qd2 of sample 70000 is inf: not a finite number" in result.err


@pytest.mark.slow
def test_devices_and_pipes_take_and_give_csv(run: Callable[..., Result], program: str) -> None:
    Path("s.csv").write_text(HEAD + FEW)
    for target in ("/dev/null", "./null"):
        if not Path(target).exists():
            Path(target).symlink_to("/dev/null")
        result = run("evaluate", program, "-i", "s.csv", "-o", target)
        assert (result.code, result.out) == (0, ""), result.err
    os.mkfifo("pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_text()))
    reader.start()
    assert run("evaluate", program, "-i", "s.csv", "-o", "pipe").code == 0
    reader.join()
    assert found[0].startswith("tau1,tau2\n")
    result = run("evaluate", program, "-i", "s.csv", "-o", "t.txt")
    assert result.code == 2
    assert "t.txt: unknown kind of file" in result.err


def test_times_come_out_first_as_they_were(run: Callable[..., Result], program: str) -> None:
    Path("s.csv").write_text("time," + HEAD + '00:01,0,0,0,0,0,0\n"2",0,0,0,0,0,0\n')
    assert run("evaluate", program, "-i", "s.csv", "-o", "t.csv").code == 0
    lines = Path("t.csv").read_text().splitlines()
    assert lines[0] == "time,tau1,tau2"
    assert [line.split(",")[0] for line in lines[1:]] == ["00:01", '"2"']


def test_no_samples_are_a_table_without_rows(run: Callable[..., Result], program: str) -> None:
    for head, found in ((HEAD, "tau1,tau2\n"), ("t," + HEAD, "tau1,tau2\n")):
        for way in ("machado-2r", program):
            Path("s.csv").write_text(head)
            assert run("evaluate", way, "-i", "s.csv", "-o", "t.csv").code == 0
            assert Path("t.csv").read_text() == found
