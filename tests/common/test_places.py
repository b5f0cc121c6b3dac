"""Places of results: folders and stores of objects, shared with anybody."""

import pickle
import threading
import urllib.request
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import fsspec
import pytest
from clusters import needs_loopback
from fsspec.spec import AbstractFileSystem

from boolcomp.base import store as buckets
from boolcomp.base import store as cache
from boolcomp.base import store as places
from boolcomp.base.errors import DataError, DataWarning, UsageError
from boolcomp.base.store import place_of

END = threading.Event()  # of a test: until then a slow store does not answer


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    END.clear()
    yield
    END.set()
    fsspec.filesystem("memory").store.clear()
    for address in (*buckets._failed, *buckets._failures):  # noqa: SLF001 (of other tests)
        buckets.forget(address)


class Trouble(AbstractFileSystem):  # type: ignore[misc]  # without types
    """A store that does what its bucket's name says."""

    protocol = "trouble"
    cachable = False

    def cat_file(self, path: str, **_: Any) -> bytes:
        return self._answer(path)

    def pipe_file(self, path: str, value: bytes, **_: Any) -> None:
        assert value
        self._answer(path)

    @staticmethod
    def _answer(path: str) -> bytes:
        if "slow" in path:
            END.wait()
        if "denied" in path:
            raise PermissionError("Access\nDenied")
        if "broken" in path:
            raise RuntimeError("x" * 10_000)
        if "large" in path:
            return b"x" * 2000
        return b"\xff\xfe"


fsspec.register_implementation("trouble", Trouble)


def found(place: places.ResultPlace, name: str = "a.txt") -> list[tuple[str, bool]]:
    def parse(entry: places.Entry, text: str) -> tuple[str, bool]:
        return cache.unsealed(text), entry.believed

    return list(places.find([place], name, parse, "{path}: {error}"))


@pytest.mark.parametrize("kind", ["folder", "file", "memory"])
def test_what_is_put_is_found_by_who_put_it_and_not_believed_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    folder = tmp_path / "shared"
    where = {"folder": str(folder), "file": f"file://{folder}", "memory": "memory://lab/x/"}[kind]
    place = place_of(where)
    assert found(place) == []
    assert places.put(place, "a.txt", cache.sealed("text")) == "a.txt"
    assert found(place) == [("text", True)]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    assert found(place) == [("text", False)]
    assert pickle.loads(pickle.dumps(place)) == place  # noqa: S301 (our own)


@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_what_is_damaged_cut_or_swapped_is_as_good_as_not_there(tmp_path: Path, kind: str) -> None:
    place = place_of(str(tmp_path / "shared") if kind == "folder" else "memory://lab")
    whole = cache.sealed("some text")
    for text in (whole[:-4], whole[3:], "", whole.replace("some", "same"), "\0"):
        place.write("a.txt", text)
        with pytest.warns(DataWarning, match="a.txt: the checksum is wrong"):
            assert found(place) == []
    places.put(place, "a.txt", whole)
    places.put(place, "b.txt", cache.sealed("other"))
    place.write("a.txt", cache.sealed("other"))  # true, but of another name
    assert found(place) == [("other", False)]
    assert found(place, "b.txt") == [("other", True)]


def test_only_who_owns_a_voucher_is_vouched_for(tmp_path: Path) -> None:
    place = place_of(str(tmp_path / "shared"))
    places.put(place, "a.txt", cache.sealed("text"))
    (voucher,) = (cache.user_cache("vouched")).iterdir()
    voucher.chmod(0o666)
    assert found(place) == [("text", False)]
    voucher.chmod(0o600)
    voucher.write_text("damaged")
    assert found(place) == [("text", False)]


def test_a_store_that_does_not_answer_is_left_behind_and_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(buckets, "DEADLINE", 0.05)
    place = place_of("trouble://slow/x")
    with pytest.warns(DataWarning, match=r"trouble://slow/x: no answer within 0\.05 s: it is not"):
        assert found(place) == []
    assert found(place) == []
    with pytest.warns(DataWarning, match="not kept: trouble://slow/x: no answer"):
        assert places.put(place, "a.txt", "text", "not kept") is None
    with pytest.raises(DataError, match="--store, trouble://slow/x: no answer"):
        place.check()


def test_what_a_store_says_no_to_is_a_sentence_and_after_three_it_is_let_alone() -> None:
    place = place_of("trouble://denied/x")
    for _ in range(2):
        with pytest.warns(DataWarning, match="denied/x/a.txt: trouble://denied/x: Access Denied$"):
            assert found(place) == []
    with pytest.warns(DataWarning, match="Access Denied: it is not used"):
        assert found(place) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(place) == []
    with pytest.raises(DataError, match="--store, trouble://denied/x: Access Denied"):
        place.check()
    assert found(place_of("memory://lab")) == []  # others are asked


def test_strange_answers_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match=r"--store, .*broken.*x…") as error:
        place_of("trouble://broken/x").check()
    assert len(error.value.what) < 400
    with pytest.raises(DataError, match=r"not UTF-8 text \(byte 0\)"):
        place_of("trouble://binary/x").check()
    monkeypatch.setattr(buckets, "MOST_BYTES", 1000)
    with pytest.raises(DataError, match=r"trouble://large/x/a\.txt: larger than 1000 bytes"):
        place_of("trouble://large/x").read("a.txt")
    store = place_of("memory://other/x")
    store.write(buckets.HEAD, "somebody else's")
    with pytest.raises(DataError, match=r"its boolcomp-store\.txt contains"):
        store.check()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s4://x/y", "no kind of store is called 's4'; did you mean 's3"),
        ("s3://", "names no bucket"),
        ("memory:///", "names no bucket"),
        ("simplecache::s3://x/y", "is no place of results"),
        ("s3://x\n/y", "is no place of results"),
        ("", "is no place of results"),
    ],
)
def test_an_address_that_is_none_is_a_sentence(address: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        place_of(address)


@pytest.fixture(name="s3", scope="module")
def store_on_the_loopback_interface() -> Iterator[str]:
    """Return the address of a bucket of a server that speaks S3."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"):
            patch.setenv(f"AWS_{name}", "nobody")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        make = urllib.request.Request(f"http://{host}:{port}/lab", method="PUT")
        urllib.request.urlopen(make).close()  # noqa: S310 (on the loopback interface)
        yield "s3://lab/results"
    server.stop()


def write_and_read(address: str, letter: str) -> list[str]:
    """Write a text many times, and return what others had written meanwhile."""
    place, seen = place_of(address), set()
    for _ in range(5):
        place.write("a.txt", cache.sealed(letter * 200_000))
        seen.add(cache.unsealed(place.read("a.txt"))[0])
    return sorted(seen)


@needs_loopback
@pytest.mark.check
def test_processes_that_write_at_once_leave_whole_objects(s3: str) -> None:
    assert place_of(s3).check() == place_of(s3).check()
    with ProcessPoolExecutor(3, mp_context=get_context("spawn")) as pool:
        seen = list(pool.map(write_and_read, [s3] * 3, "abc"))
    assert {letter for each in seen for letter in each} == set("abc")
    text = cache.unsealed(place_of(s3).read("a.txt"))
    assert text == text[0] * 200_000
