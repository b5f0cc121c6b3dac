"""Files appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from small_programs import stages

from boolcomp.common import files
from boolcomp.common.errors import BoolcompError, DataError
from boolcomp.common.files import (
    check_place,
    is_file,
    is_folder,
    output_file,
    outputs,
    read_text,
    write_output,
    write_text,
)
from boolcomp.problem.robot import load_robot
from boolcomp.program.programfile import load_program
from boolcomp.twolevel import pla

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


SHARED = Path("/dev/shm")  # noqa: S108 (a folder of the test's own is made there)
SPECIAL = ["pipe", "pipe with a reader", "socket", "device", "link", "dangling link"]


@contextlib.contextmanager
def special(kind: str, path: Path, dear: Path) -> Iterator[int | None]:
    """Make what is no regular file; give what reads a pipe, where somebody does."""
    with contextlib.ExitStack() as closing:
        reader = None
        if kind.startswith("pipe"):
            os.mkfifo(path)
            if kind == "pipe with a reader":
                reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                closing.callback(os.close, reader)
        elif kind == "socket":
            closing.enter_context(socket.socket(socket.AF_UNIX)).bind(str(path))
        else:
            there = {"device": Path("/dev/zero"), "link": dear}.get(kind, dear.parent / "none")
            path.symlink_to(there)
        yield reader


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


def test_a_symbolic_link_to_output_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a.txt")
    for text in ("new", "newer"):  # a link to nothing yet, then to a file
        write_output(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert [x.read_text() for x in (tmp_path / "there").iterdir()] == [text]


def test_a_pipe_stays_one_and_its_reader_gets_everything(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as threads:
        reader = threads.submit(path.read_text)
        write_output(path, "x" * 100_000)
        assert reader.result() == "x" * 100_000
    assert path.is_fifo()


def test_a_pipe_that_nobody_reads_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match=r"pipe: cannot be written: nobody has read .* for 0.05 s"):
        write_output(tmp_path / "pipe", "text")
    assert (tmp_path / "pipe").is_fifo()


def test_a_device_stays_one() -> None:
    check_place(Path("/dev/null"))
    write_output(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/dev/../dev/fd/{}"])
def test_a_descriptor_gets_the_bytes_where_it_stands(name: str, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+b") as log:
        log.write(b"one ")
        log.flush()
        write_output(Path(name.format(log.fileno())), "two")
    assert (tmp_path / "log").read_bytes() == b"one two"
    with pytest.raises(DataError, match="cannot be written: Bad file descriptor"):
        write_output(Path(name.format(987_654)), "text")


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "/dev/random", "link"])
def test_other_devices_are_refused_and_not_opened(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("link").symlink_to("/dev/zero")
    for refuse in (check_place, lambda path: write_output(path, "text")):
        with pytest.raises(
            DataError, match=r"neither a file nor a pipe, and of devices only /dev/n"
        ):
            refuse(Path(name))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the system has no such folder")
def test_a_file_in_shared_memory_is_replaced_like_any_other() -> None:
    with tempfile.TemporaryDirectory(dir=SHARED) as folder:
        path = Path(folder) / "a.txt"
        path.write_text("old")
        before = path.stat().st_ino
        with pytest.raises(ZeroDivisionError), output_file(path) as stream:
            stream.write(bytes([1 // len(stream.read())]))
        assert path.read_text() == "old"
        write_output(path, "new")
        assert (path.read_text(), path.stat().st_ino != before) == ("new", True)


def test_a_folder_or_a_socket_is_refused(tmp_path: Path) -> None:
    for write in (write_text, write_output):
        with pytest.raises(DataError, match="cannot be written: it is a folder"):
            write(tmp_path, "text")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        with pytest.raises(DataError, match="neither a file nor a pipe"):
            write_output(tmp_path / "s", "text")


@pytest.mark.parametrize("kind", SPECIAL)
def test_of_internal_files_what_is_none_is_replaced_and_never_opened(
    kind: str, tmp_path: Path
) -> None:
    path, dear = tmp_path / "a", tmp_path / "dear"
    dear.write_text("dear")
    with special(kind, path, dear) as reader:
        if kind not in ("link", "device"):  # a link is read, as far as it leads to a file
            with pytest.raises(DataError, match=r"a: cannot be read: (not a reg|No such)"):
                read_text(path)
        write_text(path, "text")
        assert (stat.S_ISREG(path.lstat().st_mode), path.read_text()) == (True, "text")
        if reader is not None:
            assert os.read(reader, 9) == b""
    assert dear.read_text() == "dear"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "dear"]


def test_a_failure_takes_new_files_and_folders_away_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a").write_text("older")

    def failing() -> None:
        with outputs() as put:
            for name in ("old/a", "old/b", "old/new/c", "new/deep/d", "new/e"):
                put(tmp_path / name, "text")
                assert (tmp_path / name).read_text() == "text"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert [str(one.relative_to(tmp_path)) for one in sorted(tmp_path.rglob("*"))] == [
        "old", "old/a",
    ]  # fmt: skip


@pytest.mark.parametrize("write", [write_text, write_output])
def test_a_file_that_cannot_be_written_leaves_no_folder(
    write: Callable[[Path, str], None], tmp_path: Path
) -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with (
        mock.patch.object(os, "fsync", side_effect=full),
        pytest.raises(DataError, match="No space left on device"),
    ):
        write(tmp_path / "new" / "deep" / "a", "text")
    assert list(tmp_path.iterdir()) == []


def test_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "one")
    path.chmod(0o640)
    write_text(path, "two")
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_file_is_on_the_disk_before_it_gets_its_name(tmp_path: Path) -> None:
    done: list[str] = []
    real = Path.replace

    def replace(path: Path, target: Path) -> Path:
        done.append("named")
        return real(path, target)

    with (
        mock.patch.object(os, "fsync", side_effect=lambda _: done.append("synced")),
        mock.patch.object(Path, "replace", replace),
    ):
        write_text(tmp_path / "a.txt", "text")
    assert done == ["synced", "named", "synced"]  # the file, its name, the folder


def test_a_name_of_the_greatest_length_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 255)
    write_text(path, "text")
    assert path.read_text() == "text"


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, kind: str) -> None:
    before = {
        "file": "context = files.whole_file(Path('a.txt'))",
        "folder": "context = files.temporary_folder(Path('a'))",
    }[kind]
    program = f"import os\nfrom pathlib import Path\nfrom boolcomp.common import files\n{before}\n"
    program += "context.__enter__()\nos.kill(os.getpid(), 9)\n"
    root = str(Path(files.__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(files.UNFINISHED)
    write_text(tmp_path / "b.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["b.txt"]


def test_what_another_run_is_writing_is_left_alone(tmp_path: Path) -> None:
    with files.whole_file(tmp_path / "a.txt"), files.temporary_folder(tmp_path / "b"):
        files.collect(tmp_path)
        files._folders.discard(tmp_path)  # noqa: SLF001 (another process would look again)
        files.collect(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_files_with_like_names_that_are_not_ours_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / f"a{files.UNFINISHED}").write_text("no dot before it")
    (tmp_path / ".a.tmp").write_text("another's")
    write_text(tmp_path / "b.txt", "text")
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_folder_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, exchanges: bool
) -> None:
    if not exchanges:
        monkeypatch.setattr(files, "_EXCHANGE", 1 << 20)
    for name in ("new", "target"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "which").write_text(name)
    files.exchange(tmp_path / "new", tmp_path / "target", tmp_path / "old")
    assert (tmp_path / "target" / "which").read_text() == "new"
    other = tmp_path / ("new" if exchanges else "old")
    assert (other / "which").read_text() == "target"


def test_without_locks_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "fcntl", None)
    write_text(tmp_path / "a.txt", "text")
    with files.temporary_folder(tmp_path / "b") as folder:
        assert folder.is_dir()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


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
