"""Files appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from unittest import mock

import pytest
from small_programs import stages

from boolcomp.errors import BoolcompError, DataError
from boolcomp.files import is_file, is_folder, read_text, write_text
from boolcomp.programfile import load_program
from boolcomp.robot import load_robot
from boolcomp.twolevel import pla


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


def test_line_ends_of_other_systems_are_read_as_ours(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\rthree\n")
    assert read_text(tmp_path / "a.txt") == "one\ntwo\nthree\n"


def test_what_has_no_end_or_no_writer_is_refused_by_its_kind(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "zero.toml"):
        with pytest.raises(DataError, match=rf"{name}: cannot be read: not a regular file"):
            load_robot(tmp_path / name)
    with pytest.raises(DataError, match=r"zero.toml: cannot be read: a device, and no file"):
        pla.read(tmp_path / "zero.toml")


@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "huge"])
def test_a_network_that_is_no_file_or_huge_is_refused_before_it_is_read(
    tmp_path: Path, kind: str
) -> None:
    stages(4)[2].save(tmp_path / "program")
    network = tmp_path / "program" / "networks" / "0.txt"
    network.unlink()
    if kind == "device":
        network.symlink_to("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(network)
    elif kind == "folder":
        network.mkdir()
    else:
        with network.open("wb") as stream:
            stream.truncate(1 << 40)
    sentence = {"folder": "Is a directory", "huge": "too large: at most"}
    with pytest.raises(DataError, match=sentence.get(kind, "not a regular file")):
        load_program(tmp_path / "program")


def test_a_head_that_is_no_file_makes_no_program(tmp_path: Path) -> None:
    (tmp_path / "program.json").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="no program"):
        load_program(tmp_path)


def test_no_name_is_too_long_or_too_strange_to_ask_for(tmp_path: Path) -> None:
    assert is_folder(tmp_path)
    for name in ("x" * 5000, "a\0b"):
        assert not is_file(tmp_path / name)
        assert not is_folder(tmp_path / name)
        with pytest.raises(DataError, match="cannot"):
            read_text(tmp_path / name)
        with pytest.raises(BoolcompError, match=r"cannot be read|no such robot file"):
            load_robot(f"{name}.toml")
