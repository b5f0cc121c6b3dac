"""Files appear whole or not at all, and what is no regular file is refused or kept as it is."""

import contextlib
import errno
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
from small_programs import stages

import boolcomp as bc
from boolcomp.base import files
from boolcomp.twolevel import pla

SPECIAL = ["pipe", "pipe with a reader", "socket", "device", "link", "dangling link"]
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def names(folder: Path) -> list[str]:
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*"))


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


def test_a_file_is_written_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    for path in (tmp_path / "new" / "a.txt", tmp_path / ("a" * 255)):
        files.write_text(path, "cos θ\n")
        path.chmod(0o640)
        files.write_text(path, "two\n")
        assert files.read_text(path) == "two\n"
        assert path.stat().st_mode & 0o777 == 0o640
    assert names(tmp_path) == ["a" * 255, "new", "new/a.txt"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    files.write_text(tmp_path / "a.txt", "old")
    with (
        mock.patch.object(Path, "replace", side_effect=FULL),
        pytest.raises(bc.DataError, match=r"a\.txt: cannot be written: No space left on device"),
    ):
        files.write_text(tmp_path / "a.txt", "new")
    assert files.read_text(tmp_path / "a.txt") == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("write", [files.write_text, files.write_output])
def test_a_file_that_cannot_be_written_leaves_no_folder(
    write: Callable[[Path, str], None], tmp_path: Path
) -> None:
    with (
        mock.patch.object(os, "fsync", side_effect=FULL),
        pytest.raises(bc.DataError, match="No space left on device"),
    ):
        write(tmp_path / "new" / "deep" / "a", "text")
    assert names(tmp_path) == []


def test_a_failure_removes_new_files_and_folders_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a").write_text("older")

    def failing() -> None:
        with files.outputs() as put:
            for name in ("old/a", "old/b", "old/new/c", "new/deep/d", "new/e"):
                put(tmp_path / name, "text")
                assert (tmp_path / name).read_text() == "text"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert names(tmp_path) == ["old", "old/a"]


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
        files.write_text(tmp_path / "a.txt", "text")
    assert done == ["synced", "named", "synced"]  # the file, its name, the folder


def test_mistakes_are_sentences(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc\xff\xfe")
    for refused, sentence in (
        (lambda: files.write_text(tmp_path / "a" / "b", ""), "cannot be written: "),
        (lambda: files.write_text(tmp_path, ""), "cannot be written: it is a folder"),
        (lambda: files.write_output(tmp_path, ""), "cannot be written: it is a folder"),
        (lambda: files.read_text(tmp_path), "cannot be read: Is a directory"),
        (lambda: files.read_text(tmp_path / "a"), r"a: not UTF-8 text \(byte 3\)"),
    ):
        with pytest.raises(bc.DataError, match=sentence):
            refused()
    for name in ("x" * 5000, "a\0b"):
        assert not files.is_file(tmp_path / name)
        assert not files.is_folder(tmp_path / name)
        with pytest.raises(bc.DataError, match=r"cannot|zero byte"):
            files.read_text(tmp_path / name)
        with pytest.raises(bc.BoolcompError, match=r"cannot be read|no such robot file"):
            bc.load_robot(f"{name}.toml")


def test_a_symbolic_link_to_output_stays_one_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there" / "a.txt")
    for text in ("new", "newer"):  # a link to nothing yet, then to a file
        files.write_output(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert [x.read_text() for x in (tmp_path / "there").iterdir()] == [text]


def test_a_pipe_stays_one_and_its_reader_gets_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as threads:
        reader = threads.submit(path.read_text)
        files.write_output(path, "x" * 100_000)
        assert reader.result() == "x" * 100_000
    monkeypatch.setattr(files, "PATIENCE", 0.05)
    with pytest.raises(bc.DataError, match=r"pipe: cannot be written: nobody has read .* 0.05 s"):
        files.write_output(path, "text")
    assert path.is_fifo()


@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "/dev/../dev/fd/{}"])
def test_a_descriptor_gets_the_bytes_where_it_stands(name: str, tmp_path: Path) -> None:
    with (tmp_path / "log").open("w+b") as log:
        log.write(b"one ")
        log.flush()
        files.write_output(Path(name.format(log.fileno())), "two")
    assert (tmp_path / "log").read_bytes() == b"one two"
    with pytest.raises(bc.DataError, match="cannot be written: Bad file descriptor"):
        files.write_output(Path(name.format(987_654)), "text")


def test_of_devices_only_that_of_nothing_is_written(tmp_path: Path) -> None:
    files.check_place(Path("/dev/null"))
    files.write_output(Path("/dev/null"), "text")
    assert Path("/dev/null").is_char_device()
    (tmp_path / "link").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s"))
        for name in ("/dev/zero", "/dev/full", "/dev/random", tmp_path / "link", tmp_path / "s"):
            for refuse in (files.check_place, lambda path: files.write_output(path, "text")):
                with pytest.raises(
                    bc.DataError,
                    match="cannot be written: neither a file nor",
                ):
                    refuse(Path(name))


@pytest.mark.parametrize("kind", SPECIAL)
def test_an_internal_file_replaces_what_is_none_without_opening_it(
    kind: str, tmp_path: Path
) -> None:
    path, dear = tmp_path / "a", tmp_path / "dear"
    dear.write_text("dear")
    with special(kind, path, dear) as reader:
        if kind not in ("link", "device"):  # a link is read, as far as it leads to a file
            with pytest.raises(bc.DataError, match=r"a: (cannot be read|no such file)"):
                files.read_text(path)
        files.write_text(path, "text")
        assert (stat.S_ISREG(path.lstat().st_mode), path.read_text()) == (True, "text")
        if reader is not None:
            assert os.read(reader, 9) == b""
    assert dear.read_text() == "dear"
    assert names(tmp_path) == ["a", "dear"]


def test_what_has_no_end_or_no_writer_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "zero.toml"):
        with pytest.raises(bc.DataError, match=rf"{name}: cannot be read: not a regular file"):
            bc.load_robot(tmp_path / name)
    with pytest.raises(bc.DataError, match=r"zero.toml: cannot be read: a device, not a file"):
        pla.read(tmp_path / "zero.toml")
    (tmp_path / "program.json").symlink_to("/dev/zero")
    with pytest.raises(bc.DataError, match="no program"):
        bc.load_program(tmp_path)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [("device", "not a regular file"), ("pipe", "not a regular file"),
     ("folder", "Is a directory"), ("huge", r"0\.txt: larger than 67108864 bytes")],
)  # fmt: skip
def test_a_network_that_is_no_file_or_huge_is_refused_before_it_is_read(
    tmp_path: Path, kind: str, sentence: str
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
    with pytest.raises(bc.DataError, match=sentence):
        bc.load_program(tmp_path / "program")


@pytest.mark.parametrize("made", ["whole_file", "temporary_folder"])
def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path: Path, made: str) -> None:
    program = "import os\nfrom pathlib import Path\nfrom boolcomp.base import files\n"
    program += f"context = files.{made}(Path('a'))\n"
    program += "context.__enter__()\nos.kill(os.getpid(), 9)\n"
    environment = {**os.environ, "PYTHONPATH": str(Path(bc.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=False)
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(files.UNFINISHED)
    for name in (f"a{files.UNFINISHED}", ".a.tmp"):  # like names that are not ours
        (tmp_path / name).write_text("another's")
    files.write_text(tmp_path / "b.txt", "text")
    assert names(tmp_path) == [".a.tmp", f"a{files.UNFINISHED}", "b.txt"]


def test_what_another_run_is_writing_is_left_alone(tmp_path: Path) -> None:
    with files.whole_file(tmp_path / "a.txt"), files.temporary_folder(tmp_path / "b"):
        files.collect(tmp_path)
        files._folders.discard(tmp_path)  # noqa: SLF001 (another process would look again)
        files.collect(tmp_path)
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == ["a.txt"]


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
    files.write_text(tmp_path / "a.txt", "text")
    with files.temporary_folder(tmp_path / "b") as folder:
        assert folder.is_dir()
    assert names(tmp_path) == ["a.txt"]
