"""The user's cache: private, or not used; what lies there is this user's own, or not believed."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import boolcomp as bc
from boolcomp.base import DataWarning, cache_folder, find
from boolcomp.base import store as caches


@pytest.fixture(name="cache")
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(caches, "_fallback", caches._fallback.__wrapped__)  # noqa: SLF001
    return tmp_path / "cache" / "boolcomp"


@pytest.mark.parametrize("shared", [".", "tables"])
def test_a_cache_that_others_may_write_to_is_not_used(cache: Path, shared: str) -> None:
    caches.user_cache("tables")
    (cache / shared).chmod(0o777)
    with pytest.warns(DataWarning, match="others may write to it"):
        folder = caches.user_cache("tables")
    assert not folder.is_relative_to(cache)
    assert caches.is_ours(folder.stat())


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_planted_folder_among_the_temporary_files_is_not_used(
    cache: Path, tmp_path: Path, kind: str
) -> None:
    caches.user_cache("tables")
    cache.chmod(0o777)
    planted, home = tmp_path / f"boolcomp-{os.getuid()}", tmp_path / "home"
    home.mkdir(mode=0o700)
    if kind == "link":
        planted.symlink_to(home)
    else:
        planted.mkdir()
        planted.chmod(0o777)
    with pytest.warns(DataWarning, match="results are kept in"):
        folder = caches.user_cache("tables")
    assert planted not in folder.parents
    assert list(home.iterdir()) == []


def test_a_stored_text_that_others_may_write_is_not_read(cache: Path) -> None:
    path = caches.user_cache("tables") / "a.txt"
    path.write_text("text")
    assert caches.read_kept(path) == "text"
    path.chmod(0o666)
    with pytest.raises(bc.DataError, match="others may write to it"):
        caches.read_kept(path)
    elsewhere = cache.parents[1] / "a.txt"  # a folder that was named is trusted
    elsewhere.write_text("text")
    elsewhere.chmod(0o666)
    assert caches.read_kept(elsewhere) == "text"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
@pytest.mark.usefixtures("cache")
def test_only_plain_files_are_read(kind: str) -> None:
    folder = caches.user_cache("native")
    path = folder / "x.o"
    if kind == "link":
        (folder / "y.o").write_text("text")
        path.symlink_to(folder / "y.o")
    elif kind == "pipe":
        os.mkfifo(path)  # reading it would wait for ever
    else:
        path.mkdir()
    assert caches.read_private(path) is None


@pytest.mark.usefixtures("cache")
def test_a_file_that_is_changed_between_look_and_read_is_looked_at_as_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = caches.user_cache("native") / "x.o"
    caches.write_entry(path, b"good")
    stat = Path.stat

    def swapped(self: Path, **more: bool) -> os.stat_result:
        """Let a stranger take the place of the file as soon as anybody has asked for it by name."""
        found = stat(self, **more)
        if self == path:
            path.unlink()
            path.write_bytes(b"bad")
            path.chmod(0o666)
        return found

    monkeypatch.setattr(Path, "stat", swapped)
    assert caches.read_entry(path) == b"good"


@pytest.mark.parametrize("shared", ["source", "beside", "neither"])
def test_loops_are_kept_beside_the_source_only_where_nobody_else_can_write(
    cache: Path, tmp_path: Path, shared: str
) -> None:
    source = tmp_path / "source"
    (source / "__pycache__").mkdir(parents=True)
    if shared != "neither":
        (source if shared == "source" else source / "__pycache__").chmod(0o777)
    expected = "" if shared == "neither" else str(cache / "numba")
    assert cache_folder(source) == expected
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    assert cache_folder(tmp_path, str(mine)) == str(mine)
    mine.chmod(0o777)
    assert cache_folder(tmp_path, str(mine)) == str(cache / "numba")


def test_without_home_and_name_the_cache_is_a_private_temporary_folder(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobody(_: int) -> None:
        raise KeyError

    assert cache
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    with pytest.warns(DataWarning, match="there is no home folder: results are kept in"):
        folder = caches.user_cache("tables")
    assert folder == tmp_path / f"boolcomp-{os.getuid()}" / "tables"
    assert folder.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_neither_group_nor_others_may_write_what_is_believed(cache: Path, mode: int) -> None:
    path = caches.user_cache("tables") / "a.txt"
    path.write_text("text")
    path.chmod(mode)
    assert caches.read_private(path) is None
    path.chmod(0o644)
    assert caches.read_private(path) == b"text"
    cache.joinpath("tables").chmod(mode | 0o100)
    assert caches.read_private(path) is None


def found(folder: Path, name: str = "a.txt") -> list[str]:
    return list(find([folder], name, lambda _, text: caches.unsealed(text), "{path}: no"))


@pytest.mark.parametrize("folder", ["cache", "named"])
def test_what_is_kept_is_found_and_what_is_damaged_is_not(
    cache: Path, tmp_path: Path, folder: str
) -> None:
    assert cache
    place = caches.user_cache("tables") if folder == "cache" else tmp_path / "named"
    path = place / "a.txt"
    assert caches.keep(path, caches.sealed("some\nlines\n"))
    whole = path.read_bytes()
    assert found(place) == ["some\nlines\n"]
    for damaged in (whole[:-9], whole[1:], b"", whole.replace(b"l", b"L"), b"\xff" + whole, b"\0"):
        path.write_bytes(damaged)
        with pytest.warns(DataWarning, match=r"a\.txt: no"):
            assert found(place) == []
    path.write_bytes(whole)
    assert found(place) == ["some\nlines\n"]


def test_a_result_that_cannot_be_written_is_a_complaint_or_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not caches.keep(tmp_path / "file" / "a.txt", "text")
    with pytest.warns(DataWarning, match="it is not kept: .*cannot be written"):
        assert not caches.keep(tmp_path / "file" / "a.txt", "text", "it is not kept")


def test_two_writers_at_once_leave_one_whole_file_and_nothing_else(tmp_path: Path) -> None:
    texts = [caches.sealed(letter * 100_000) for letter in "ab"]
    with ThreadPoolExecutor(2) as threads:
        jobs = [threads.submit(caches.keep, tmp_path / "a.txt", text) for text in texts * 20]
        while not all(job.done() for job in jobs):
            list(find([tmp_path], "a.txt", lambda _, text: caches.unsealed(text)))
    assert all(job.result() for job in jobs)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert found(tmp_path)[0] in ("a" * 100_000, "b" * 100_000)
