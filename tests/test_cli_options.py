"""Values of options that are none: sentences with exit code 2, whatever was written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from boolcomp.commands import group
from boolcomp.common.errors import UsageError
from boolcomp.compact.demand import Demand
from boolcomp.paper.store import Recipe
from boolcomp.problem.robot import load_robot, with_payload

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

HUGE = "99999999999999999999"
MISTAKES = [
    (("schedule", "machado-2r", "--points", HUGE), "--points 99999999999999999999: a trajectory"),
    (("schedule", "machado-2r", "--points", "-1"), "--points -1: a trajectory has 1 to"),
    (("schedule", "machado-2r", "--processors", HUGE), "processors, not 99999999999999999999"),
    (("schedule", "machado-2r", "--run", "--samples", HUGE), "--samples must be 1 to 10000000"),
    (("schedule", "machado-2r", "--machine", ""), "unknown machine ''"),
    (("schedule", "machado-2r", "--assignment", ""), "an empty name: give that of a file"),
    (("compile", "machado-2r", "--rms-error", "1e999"), "--rms-error '1e999': give LSB"),
    (("compile", "machado-2r", "--rms-error", ".5,nan"), "--rms-error '.5,nan': give LSB"),
    (("compile", "machado-2r", "--rms-error", HUGE), "at most 1e+06"),
    (("compile", "machado-2r", "--rms-error", ""), "--rms-error '': give LSB"),
    (("compile", "machado-2r", "--max-error", "-1"), "rounding alone makes an error of half"),
    (("compile", "machado-2r", "--max-error", "1,,2"), "--max-error '1,,2': give LSB"),
    (("compile", "machado-2r", "--seed", HUGE), "a seed is 0 to"),
    (("compile", "machado-2r", "--seed", "-1"), "a seed is 0 to"),
    (("compile", "machado-2r", "--processes", HUGE), "--processes must be 1 to 256"),
    (("compile", "machado-2r", "--processes", "0"), "--processes must be 1 to 256"),
    (("compile", "machado-2r", "--effort", "nan"), "effort is 0 to"),
    (("compile", "machado-2r", "--input-bits", "9" * 5000), "--input-bits '999"),
    (("compile", "machado-2r", "--input-bits", "q=" + "9" * 5000), "--input-bits 'q=999"),
    (("compile", "machado-2r", "--payloads", "0,inf"), "--payloads '0,inf': give masses in kg"),
    (("compile", "machado-2r", "--payloads", "1e300"), "--payloads '1e300': give masses in kg"),
    (("compile", "machado-2r", "--payloads", ""), "--payloads '': give masses in kg"),
    (("compile", "machado-2r", "--bits", "9" * 5000), "a whole number, or auto"),
    (("compile", "machado-2r", "-o", ""), "an empty name: give that of a file"),
    (("compile", "machado-2r", "-o", "x" * 300), "cannot be the name of a file"),
    (("plan", "machado-2r", "--store", ""), "an empty name: give that of a file"),
    (("tables", "machado-2r", "--splits", HUGE), "splits must be 0 to 200"),
    (("report", "machado-2r", "--widest", HUGE), "--widest must be 0 to 24"),
    (("report", "machado-2r", "--samples", HUGE), "samples must be 1 to"),
    (("report", "machado-2r", "--bits", "9" * 5000), "--bits '999"),
    (("bench", "machado-2r", "--cores", "inf"), "--cores 'inf': give whole numbers"),
    (("evaluate", "machado-2r", "-i", ""), "an empty name: give that of a file"),
    (("evaluate", "machado-2r", "--threads", HUGE), "threads must be 1 to"),
    (("evaluate", "machado-2r", "--payload", "nan"), "a payload is a mass in kg"),
    (("terms", ""), "no robot named ''"),
    (("terms", "x" * 5000 + "/y"), "cannot be read: File name too long"),
]


@pytest.mark.parametrize(("arguments", "sentence"), MISTAKES)
def test_what_an_option_cannot_be_is_a_short_sentence(
    run: Callable[..., Result], arguments: tuple[str, ...], sentence: str
) -> None:
    result = run(*arguments)
    assert result.code == (1 if "cannot be read" in sentence else 2)
    assert sentence in result.err
    assert "Traceback" not in result.err
    assert len(result.err) < 1500


def test_a_folder_is_wanted_where_a_store_is_named(run: Callable[..., Result]) -> None:
    Path("file").write_text("")
    result = run("plan", "machado-2r", "--store", "file")
    assert (result.code, "'file' is a file" in result.err) == (2, True)


@pytest.mark.parametrize("name", ["x" * 100_000, "--" + "x" * 100_000])
def test_long_words_are_cut_in_messages(run: Callable[..., Result], name: str) -> None:
    for arguments in ((name,), ("terms", name), ("evaluate", name), ("terms", "machado-2r", name)):
        result = run(*arguments)
        assert result.code == 2
        assert len(result.err) < 1500


def test_too_little_memory_is_a_sentence(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def invoke(_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(group.cli, "invoke", invoke)
    assert run("robots") == type(run("robots"))(
        1, "", "boolcomp: error: not enough memory for this\n"
    )


def test_the_same_limits_hold_in_python() -> None:
    for make in (
        lambda: Demand(seed=-1),
        lambda: Demand(seed=1 << 70),
        lambda: Recipe("own", 1e300),
        lambda: Recipe("own", float("nan")),
        lambda: with_payload(load_robot("machado-2r"), 1e300),
    ):
        with pytest.raises(UsageError):
            make()
