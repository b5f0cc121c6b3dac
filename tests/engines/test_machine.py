"""Native code in the cache folder: used again, made again where damaged, never trusted blindly."""

from dataclasses import replace
from pathlib import Path

import pytest

from boolcomp.engines import NativeCode, host

TEXT = """
define void @put(ptr %to) {
  store i64 42, ptr %to
  ret void
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "boolcomp" / "native"


def answer(code: NativeCode) -> int:
    import ctypes

    number = ctypes.c_int64()
    code.function("put", ctypes.c_void_p)(ctypes.byref(number))
    return number.value


def test_code_is_compiled_once_and_then_read(folder: Path) -> None:
    first = NativeCode(TEXT, host())
    second = NativeCode(TEXT, host())
    assert (first.cached, second.cached) == (False, True)
    assert answer(first) == answer(second) == 42
    assert len(list(folder.iterdir())) == 1


def test_text_that_takes_long_is_not_made_where_its_content_is_known(folder: Path) -> None:
    made = []

    def text() -> str:
        made.append(1)
        return TEXT

    for _ in range(2):
        assert answer(NativeCode(text, host(), "forty-two")) == 42
    assert not NativeCode(text, host(), "something else").cached
    assert (len(made), len(list(folder.iterdir()))) == (2, 2)


def test_another_text_or_processor_has_another_entry(folder: Path) -> None:
    NativeCode(TEXT, host())
    assert not NativeCode(TEXT.replace("42", "43"), host()).cached
    NativeCode(TEXT, replace(host(), features="-avx512f"))
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("damage", ["flip", "cut", "renamed"])
def test_a_damaged_entry_is_made_again(folder: Path, damage: str) -> None:
    NativeCode(TEXT, host())
    (entry,) = folder.iterdir()
    content = entry.read_bytes()
    flipped = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
    if damage == "renamed":  # the code of another text under this one's name
        other = TEXT.replace("42", "43")
        NativeCode(other, host())
        (stranger,) = (path for path in folder.iterdir() if path != entry)
        flipped = stranger.read_bytes()
    entry.write_bytes({"cut": content[:50]}.get(damage, flipped))
    again = NativeCode(TEXT, host())
    assert (again.cached, answer(again)) == (False, 42)
    assert NativeCode(TEXT, host()).cached


def test_an_entry_that_others_may_write_is_not_used(folder: Path) -> None:
    NativeCode(TEXT, host())
    (entry,) = folder.iterdir()
    entry.chmod(0o666)
    assert not NativeCode(TEXT, host()).cached
