"""`boolcomp report`, as a user runs it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_programs import stages

from boolcomp.commands.options import numbers
from boolcomp.common.errors import UsageError
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


@pytest.mark.check
def test_a_report_leaves_table_pictures_and_page(run: Callable[..., Result]) -> None:
    result = run(
        *("report", "machado-2r", "--mode", "paper"),
        *("--bits", "4,5", "--samples", "2000", "--extra", "0"),
    )
    assert result.code == 0
    assert len(result.out.splitlines()) == 7
    names = {path.name for path in Path("out/report-machado-2r").iterdir()}
    assert names == {
        "errors.svg", "errors.png", "report.txt", "report.csv", "report.json", "report.html",
    }  # fmt: skip


@pytest.mark.check
def test_a_report_repeats_itself(run: Callable[..., Result]) -> None:
    few = ("--samples", "500", "--evaluations", "20000", "--no-logic", "--json")
    arguments = ("report", "elbow-3r", "--bits", "4", *few)
    first, second = json.loads(run(*arguments).out), json.loads(run(*arguments).out)
    assert first == second
    assert len(first["rows"]) == 9
    other = json.loads(run(*arguments, "--seed", "1").out)
    assert other["rows"][0]["max_error"] != first["rows"][0]["max_error"]


def test_ranges_and_lists_of_numbers() -> None:
    assert numbers("--bits", "8") == (8,)
    assert numbers("--bits", "4-6,9, 5") == (4, 5, 6, 9)
    for wrong in ("", "x", "6-4", "4-", "-4", "4,,5"):
        with pytest.raises(UsageError, match=r"--bits .*: give a number, a range or a list"):
            numbers("--bits", wrong)


@pytest.mark.check
def test_a_program_of_a_robot_of_ones_own_asks_for_its_file(run: Callable[..., Result]) -> None:
    replace(stages(4)[2], name="my-2r").save("mine")
    few = ("report", "mine", "--samples", "10", "--evaluations", "0")
    result = run(*few)
    assert result.code == 2
    assert "none of the robots that ship: say its robot file with --robot FILE" in result.err
    robot = replace(load_robot("machado-2r"), name="my-2r")
    Path("my-2r.toml").write_text(str(robot))
    assert "say its robot file with --robot my-2r.toml" in run(*few).err
    assert run(*few, "--robot", "my-2r.toml").code == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--bits", "3-5"), "bits must be 4 to 16, not 3"),
        (("--bits", "x"), "--bits 'x': give a number"),
        (("--samples", "0"), "samples must be 1 to 20000000, not 0"),
        (("--extra", "11", "--bits", "8"), "13 guard bits: at most 12"),
    ],
)
def test_mistakes_are_sentences(
    run: Callable[..., Result], arguments: tuple[str, ...], sentence: str
) -> None:
    result = run("report", "machado-2r", "--no-logic", *arguments)
    assert result.code == 2
    assert sentence in result.err
