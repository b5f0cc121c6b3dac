"""Files appear whole or not at all."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from boolcomp.errors import DataError
from boolcomp.files import read_text, write_text


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "new" / "a.txt"
    write_text(path, "cos θ\n")
    assert read_text(path) == "cos θ\n"


def test_writing_leaves_no_temporary_file(tmp_path: Path) -> None:
    write_text(tmp_path / "a.txt", "one")
    write_text(tmp_path / "a.txt", "two")
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    full = OSError(28, "No space left on device")
    with (
        mock.patch.object(Path, "replace", side_effect=full),
        pytest.raises(DataError, match=r"a\.txt: cannot be written: No space left on device"),
    ):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_file_in_the_way_of_a_folder_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("")
    with pytest.raises(DataError, match=r"cannot be written: "):
        write_text(tmp_path / "a" / "b.txt", "text")


def test_unreadable_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cannot be read: Is a directory"):
        read_text(tmp_path)
    (tmp_path / "junk").write_bytes(b"abc\xff\xfe")
    with pytest.raises(DataError, match=r"junk: not UTF-8 text \(byte 3\)"):
        read_text(tmp_path / "junk")
