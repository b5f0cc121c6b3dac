"""Runs that are ended, and given again: equal bytes, and nothing done twice that was done."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from batchfiles import bytes_of, program, states, write

import boolcomp as bc
from boolcomp.scale import Journal

ROWS = 5003
TARGETS = ["t.npy", "t.parquet", "t.zarr", "t"]


class EndedError(Exception):
    """Stands for whatever ends a run."""


@pytest.fixture(autouse=True)
def small_chunks_of_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an array be many chunks."""
    monkeypatch.setattr("boolcomp.scale.batch_files.ROWS", 512)


def evaluated(source: Path, target: Path, **choices: Any) -> Any:
    return bc.evaluate_files(program(), source, target, **{"chunk": 1000, **choices})


def ending_after(chunks: int) -> Callable[[int], None]:
    """Return what ends a run when so many chunks are done (it is told the earlier ones first)."""
    told = iter(range(chunks + 1))

    def advance(_: int) -> None:
        if next(told, None) == chunks:
            raise EndedError

    return advance


def ended(tmp_path: Path, target: str, after: int = 2, **choices: Any) -> Path:
    """Leave a run unfinished; return its folder."""
    if not (tmp_path / "s.npy").exists():
        write(tmp_path / "s.npy", states(ROWS))
    with pytest.raises(EndedError):
        evaluated(tmp_path / "s.npy", tmp_path / target, advance=ending_after(after), **choices)
    assert not (tmp_path / target).exists()
    return tmp_path / f"{target}.unfinished"


@pytest.mark.parametrize("target", TARGETS)
def test_a_run_that_was_ended_goes_on_and_gives_equal_bytes(target: str, tmp_path: Path) -> None:
    ended(tmp_path, target, against="machado-2r")
    found = evaluated(tmp_path / "s.npy", tmp_path / target, against="machado-2r")
    (tmp_path / "whole").mkdir()
    once = evaluated(tmp_path / "s.npy", tmp_path / "whole" / target, against="machado-2r")
    assert (found.resumed, once.resumed) == (2, 0)
    assert replace(found, resumed=0, seconds=once.seconds) == once
    assert bytes_of(tmp_path / target) == bytes_of(tmp_path / "whole" / target)


@pytest.fixture(name="whole")
def run_at_once(tmp_path: Path) -> Path:
    """Return what a run gives that nothing ends."""
    (tmp_path / "whole").mkdir()
    write(tmp_path / "s.npy", states(ROWS))
    evaluated(tmp_path / "s.npy", tmp_path / "whole" / "t.npy")
    return tmp_path / "whole" / "t.npy"


@pytest.mark.parametrize("damage", ["torn", "flipped", "lines of others", "line twice"])
def test_lines_that_are_not_whole_count_for_nothing(
    damage: str, whole: Path, tmp_path: Path
) -> None:
    journal = ended(tmp_path, "t.npy", 3) / "journal"
    data = journal.read_bytes()
    lines = data.splitlines(keepends=True)
    if damage == "torn":
        data, left = data[:-5], 2
    elif damage == "flipped":
        spoilt = lines[2].replace(b'"samples":1000', b'"samples":1001')
        data, left = b"".join([*lines[:2], spoilt, *lines[3:]]), 2
        assert spoilt != lines[2]
    elif damage == "lines of others":
        other = lines[3].replace(b'"chunk":2', b'"chunk":4')
        data, left = data + other, 3
    else:
        data, left = data + lines[3], 3
    journal.write_bytes(data)
    found = evaluated(tmp_path / "s.npy", tmp_path / "t.npy")
    assert (found.resumed, found.samples) == (left, ROWS)
    assert (tmp_path / "t.npy").read_bytes() == whole.read_bytes()


def test_results_that_are_lost_are_made_again(whole: Path, tmp_path: Path) -> None:
    folder = ended(tmp_path, "t.npy")
    os.truncate(folder / "output", 1000)
    assert evaluated(tmp_path / "s.npy", tmp_path / "t.npy").resumed == 0
    assert (tmp_path / "t.npy").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("choices", "what"), [({"chunk": 700}, "chunks, chunk"), ({"against": "machado-2r"}, "against")]
)
def test_a_run_of_another_kind_is_left_alone(
    choices: dict[str, Any], what: str, tmp_path: Path
) -> None:
    folder = ended(tmp_path, "t.npy")
    before = bytes_of(folder)
    with pytest.raises(
        bc.DataError,
        match=rf"t\.npy\.unfinished: the folder belongs to another run \(other {what}\)",
    ):
        evaluated(tmp_path / "s.npy", tmp_path / "t.npy", **choices)
    assert bytes_of(folder) == before


def test_one_run_at_a_time_has_an_output(tmp_path: Path) -> None:
    folder = ended(tmp_path, "t.npy")
    head = (folder / "journal").read_text().splitlines()[0].partition(" ")[2]
    asked = json.loads(head)
    with (
        Journal(folder / "journal", asked),
        pytest.raises(bc.DataError, match=r"t\.npy\.unfinished: another run uses this"),
    ):
        evaluated(tmp_path / "s.npy", tmp_path / "t.npy")
    assert evaluated(tmp_path / "s.npy", tmp_path / "t.npy").resumed == 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_run_that_was_ended_between_its_last_two_steps_is_over(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "s.npy", states(ROWS))
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", lambda *_, **__: None)
        evaluated(tmp_path / "s.npy", tmp_path / target)
    before = bytes_of(tmp_path / target)
    found = evaluated(tmp_path / "s.npy", tmp_path / target)
    assert (found.resumed, found.samples) == (found.chunks, ROWS)
    assert bytes_of(tmp_path / target) == before
    assert not (tmp_path / f"{target}.unfinished").exists()


@pytest.mark.parametrize("kind", ["link", "pipe", "endless", "folder"])
def test_what_is_no_journal_is_refused_and_left_as_it_was(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(20))
    folder, dear = tmp_path / "t.npy.unfinished", tmp_path / "dear"
    dear.mkdir()
    (dear / "journal").write_text("no line's end")
    if kind == "folder":
        folder.symlink_to(dear)
    else:
        folder.mkdir()
        if kind == "pipe":
            os.mkfifo(folder / "journal")
        else:
            there = dear / "journal" if kind == "link" else "/dev/zero"
            (folder / "journal").symlink_to(there)
    with pytest.raises(bc.DataError, match=r"t\.npy\.unfinished"):
        evaluated(tmp_path / "s.npy", tmp_path / "t.npy")
    assert (dear / "journal").read_text() == "no line's end"
    assert os.path.lexists(folder)
    assert not (tmp_path / "t.npy").exists()
