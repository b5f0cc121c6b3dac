"""Files that cannot be read as they say, disks that cannot be written: sentences, nothing left."""

import errno
import os
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from batchfiles import NAMES, bytes_of, program, states, write, write_parquet

import boolcomp as bc
from boolcomp.scale import header

ROWS = 2500


def evaluated(source: Path, target: Path, **choices: Any) -> Any:
    return bc.evaluate_files(program(), source, target, **{"chunk": 1000, **choices})


def refused(
    source: Path, target: Path, match: str, kind: type[bc.BoolcompError] = bc.DataError
) -> None:
    """Evaluate, and see what is said; what is there is as it was."""
    before = bytes_of(target.parent)
    with pytest.raises(kind, match=match):
        evaluated(source, target)
    assert bytes_of(target.parent) == before


@pytest.mark.parametrize(("name", "spoil", "said"), [
    ("npys", lambda path: os.truncate(path / "part11.npy", 1000),
     r"part11\.npy: damaged, because shape \(893, 6\) takes 42864 bytes"),
    ("npys", lambda path: (path / "notes.txt").write_text("x"), r"notes\.txt: not a \.npy file"),
    ("npys", lambda path: (path / "part10.npy").write_text("q1,q2\n"),
     r"part10\.npy: not a numpy file; it looks like CSV"),
    ("s.parquet", lambda path: os.truncate(path, 5000),
     r"s\.parquet: damaged, or not a Parquet file"),
    ("s.parquet", lambda path: path.write_bytes(b""),
     r"s\.parquet: damaged, or not a Parquet file"),
    ("s.zarr", lambda path: (path / "c" / "2" / "0").unlink(),
     r"s\.zarr: chunk c/2/0 is missing"),
])  # fmt: skip
def test_a_file_that_is_damaged_or_of_another_kind_is_named(
    name: str, spoil: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, states(ROWS))
    spoil(path)
    refused(path, tmp_path / "t.npy", said)


def test_a_damaged_group_of_parquet_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "s.parquet", states(ROWS))
    data = bytearray(path.read_bytes())
    data[len(data) // 2 : len(data) // 2 + 4000] = b"\xff" * 4000
    path.write_bytes(data)
    with pytest.raises(bc.DataError, match=r"s\.parquet: group 1 of its rows: damaged"):
        evaluated(path, tmp_path / "t.npy")


def test_headers_that_claim_very_much_take_no_memory(tmp_path: Path) -> None:
    (tmp_path / "s.npy").write_bytes(header(350_000_000_000, 6, "float64"))
    zarr: Any = pytest.importorskip("zarr")
    zarr.create_array(
        str(tmp_path / "s.zarr"), shape=(350_000_000_000, 6), dtype="f8", chunks=(1 << 40, 6)
    )
    zarr.create_array(
        str(tmp_path / "r.zarr"), shape=(350_000_000_000, 6), dtype="f8", chunks=(1 << 10, 6)
    )
    tracemalloc.start()
    refused(tmp_path / "s.npy", tmp_path / "t.npy", r"takes 16800000000000 bytes, and there are 0")
    refused(
        tmp_path / "s.zarr", tmp_path / "t.npy", r"chunks of 52776558133248 bytes are too large"
    )
    refused(tmp_path / "r.zarr", tmp_path / "t.npy", r"chunk c/0/0 is missing")
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("name", ["s.npy", "s.parquet", "s.zarr"])
def test_the_first_bad_value_is_named_with_its_place_in_its_file(name: str, tmp_path: Path) -> None:
    table = states(ROWS)
    table[2011, 3] = np.nan
    path = write(tmp_path / name, table)
    with pytest.raises(bc.DataError, match=rf"{name}: qd2 of sample 2011 is nan, not a finite"):
        evaluated(path, tmp_path / "t.npy")
    table[2011, 3], table[1500, 1] = 0, 1e300
    os.rename(path, tmp_path / "old")  # noqa: PTH104 (files and folders)
    write(path, table)
    with pytest.raises(bc.DataError, match=rf"{name}: q2 of sample 1500 is 1e\+300, more than"):
        evaluated(path, tmp_path / "u.npy")


def test_a_word_that_does_not_fit_is_named_with_its_samples(tmp_path: Path) -> None:
    table = np.zeros((ROWS, 6), np.uint16)
    table[1700, 4] = 300
    write(tmp_path / "s.npy", table)
    with pytest.raises(bc.DataError, match=r"s\.npy, samples 1000 to 1999, qdd1: word"):
        evaluated(tmp_path / "s.npy", tmp_path / "t.npy")
    wide = np.full((5, 6), 1 << 40, np.uint64)
    np.save(tmp_path / "w.npy", wide)
    with pytest.raises(bc.DataError, match=r"w\.npy: a word of more than 32 bits, 1099511627776"):
        evaluated(tmp_path / "w.npy", tmp_path / "u.npy")


def test_a_null_in_parquet_is_named(tmp_path: Path) -> None:
    columns: dict[str, Any] = {name: np.zeros(ROWS) for name in NAMES}
    columns["q2"] = [0.0] * 1200 + [None] + [0.0] * (ROWS - 1201)
    write_parquet(tmp_path / "s.parquet", columns)
    with pytest.raises(bc.DataError, match=r"s\.parquet: q2 of sample 1200 is missing"):
        evaluated(tmp_path / "s.parquet", tmp_path / "t.npy")


def test_columns_that_miss_or_are_no_numbers_or_in_other_units_are_named(tmp_path: Path) -> None:
    columns: dict[str, Any] = {name: np.zeros(9) for name in NAMES}
    path, target = tmp_path / "s.parquet", tmp_path / "t.npy"
    write_parquet(path, {name: columns[name] for name in NAMES[:4]})
    refused(path, target, r"s\.parquet: missing columns qdd1, qdd2")
    write_parquet(path, columns, {"q2": "deg"})
    refused(path, target, r"s\.parquet: q2 is in deg; this program takes rad")
    write_parquet(path, {**columns, "qd1": ["a"] * 9})
    refused(path, target, r"s\.parquet: qd1 holds string, not numbers")
    write_parquet(path, {**columns, "qd1": np.zeros(9, np.uint8)})
    refused(path, target, r"s\.parquet: some columns are unsigned integers, code words, and some")


@pytest.mark.parametrize(
    ("package", "name"), [("pyarrow", "s.parquet"), ("zarr", "s.zarr"), ("zarr", "t.zarr")]
)
def test_a_missing_package_is_a_sentence_that_names_the_extra(
    package: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "s.npy", states(9))
    if name[0] == "s":
        write(tmp_path / name, states(9))
    monkeypatch.setitem(sys.modules, package, None)
    source, target = (name, "t.npy") if name[0] == "s" else ("s.npy", name)
    said = rf"needs .*{package}; pip install 'boolcomp\[cluster\]'"
    refused(tmp_path / source, tmp_path / target, said, bc.UsageError)


def test_a_disk_that_fills_up_is_a_sentence_and_what_was_there_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(tmp_path / "s.npy", states(ROWS))
    (tmp_path / "t.npy").write_bytes(b"older")
    monkeypatch.setattr(os, "fdatasync", full)
    refused(tmp_path / "s.npy", tmp_path / "t.npy", r"t\.npy: cannot be written: No space left")


def test_what_cannot_be_written_is_heard_of_at_once(tmp_path: Path) -> None:
    write(tmp_path / "s.npy", states(9))
    (tmp_path / "file").write_text("x")
    refused(tmp_path / "s.npy", tmp_path / "file" / "t.npy", "cannot be written: Not a directory")
    (tmp_path / "t.npy").mkdir()
    refused(tmp_path / "s.npy", tmp_path / "t.npy", r"t\.npy: a folder of this name exists")
    (tmp_path / "full.zarr").mkdir()
    (tmp_path / "full.zarr" / "dear").write_text("x")
    refused(tmp_path / "s.npy", tmp_path / "full.zarr", r"full\.zarr: a folder of this name exists")
    refused(tmp_path / "s.npy", tmp_path / "file", "file: a file of this name exists")
    refused(tmp_path / "s.npy", tmp_path / "s.npy", "is the input", bc.UsageError)


def test_an_input_that_is_not_there_is_named(tmp_path: Path) -> None:
    refused(tmp_path / "none.npy", tmp_path / "t.npy", r"none\.npy: no such file")
    (tmp_path / "empty").mkdir()
    refused(tmp_path / "empty", tmp_path / "t.npy", r"empty: neither a zarr array nor a folder of")


def test_files_that_change_while_a_run_is_under_way_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "s.npy", states(ROWS))

    def change(_: int) -> None:
        os.utime(path, (1, 1))

    with pytest.raises(bc.DataError, match=r"s\.npy: was changed since this run began"):
        evaluated(path, tmp_path / "t.npy", advance=change)
