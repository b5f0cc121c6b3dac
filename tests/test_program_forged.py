"""Programs that were edited and sealed again: a sentence, or a program that works."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from fuzzprograms import files_of, sealed, written
from small_programs import stages

from boolcomp.common.errors import DataError
from boolcomp.program import programfile
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import HEAD

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def edit(key: str, value: Any) -> Callable[[Any], None]:
    def change(head: Any) -> None:
        *path, last = key.split(".")
        for name in path:
            head = head[int(name) if name.isdecimal() else name]
        head[int(last) if last.isdecimal() else last] = value

    return change


EDITS = [
    ("inputs.0.code.range", [-1.5e308, 1.5e308], r"'range' is not from -1e\+15 to 1e\+15"),
    ("inputs.0.code.range", [-1, 10**400], r"'range' is not from -1e\+15"),
    ("inputs.0.code.bits", 10**400, "a word has 1 to|an integer of about 401 digits"),
    ("networks", 10**400, "'networks' is an integer of about 401 digits, not 0 to"),
    ("loads.0.payload", 1e308, "'payload' is not from"),
    ("mode", "m" * 1_000_000, "mode 'mmm.* is not known"),
    ("name", ["r"] * 1_000_000, r"'name' is \['r', 'r', .*not of type str"),
]


@pytest.mark.parametrize(("key", "value", "sentence"), EDITS)
def test_what_no_program_has_is_a_short_sentence(
    tmp_path: Path, key: str, value: Any, sentence: str
) -> None:
    files = files_of(stages(4)[2])
    head = json.loads(files[HEAD])
    edit(key, value)(head)
    sealed(files, head)
    written(files, tmp_path)
    with pytest.raises(DataError, match=sentence) as raised:
        load_program(tmp_path)
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("n0 = ", "n0 = " + "i0" * 1_000_000, r"0.txt:2: 'n0 = i0.* is no line for node n0"),
        ("nodes\n", "nodes\n" + "\n" * 1_000_000, r"nodes need \d+ lines, not 1000"),
        ("network", "n" * 1_000_000, r"0.txt:1: a network begins"),
    ],
)
def test_a_network_with_endless_lines_is_a_short_sentence(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    files = files_of(stages(4)[2])
    text = files["networks/0.txt"].decode()
    assert old in text
    files["networks/0.txt"] = text.replace(old, new, 1).encode()
    sealed(files, json.loads(files[HEAD]))
    written(files, tmp_path)
    with pytest.raises(DataError, match=sentence) as raised:
        load_program(tmp_path)
    assert len(str(raised.value)) < 600


def test_a_head_of_many_megabytes_is_not_read(tmp_path: Path) -> None:
    files = files_of(stages(4)[2])
    files[HEAD] += b" " * (1 << 24)
    written(files, tmp_path)
    with pytest.raises(DataError, match=r"program.json: too large: at most 16777216 bytes"):
        load_program(tmp_path)


def test_networks_may_be_so_large_together_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stages(4)[2].save(tmp_path / "p")
    sizes = [path.stat().st_size for path in (tmp_path / "p").glob("networks/*")]
    assert len(sizes) > 2
    monkeypatch.setattr(programfile, "MOST_BYTES", sum(sizes))
    load_program(tmp_path / "p")
    monkeypatch.setattr(programfile, "MOST_BYTES", max(sizes) + 1)
    with pytest.raises(DataError, match="too large: at most"):
        load_program(tmp_path / "p")
