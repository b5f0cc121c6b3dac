"""Commands on a full disk: a sentence, and nothing of their output is left behind."""

from __future__ import annotations

import errno
import os
from itertools import count
from typing import TYPE_CHECKING

import pytest
from small_programs import stages

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result

PLA = ".i 2\n.o 1\n01 1\n11 1\n.e\n"
STATES = "q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n"
COMMANDS = [
    ("tables machado-2r --bits 4 -o new/deep", 1),
    ("tables machado-2r --bits 4 -o new/deep", 4),
    ("tables machado-2r --bits 4 -o new --page new/page.html", 12),
    ("terms machado-2r --page new/page.html", 1),
    ("robots machado-2r -o new/robot.txt", 1),
    ("minimize f.pla -o new/deep/g.pla", 1),
    ("evaluate program -i s.csv -o new/t.csv", 1),
    ("evaluate machado-2r -i s.csv -o new/deep/t.npy", 1),
    ("export program --to blif -o new/deep", 1),
    ("export program --to verilog --test-bench -o new/deep", 2),
    ("schedule simulate machado-2r -o new/deep", 1),
    ("schedule simulate machado-2r -o new/deep", 2),
    ("compile machado-2r --bits 6 --rms-error .43,.58 -o new/deep/p", 1),
]


def left(folder: Path) -> dict[str, bytes]:
    """Return all files and folders but the cache, by name."""
    found = (one for one in folder.rglob("*") if folder / "cache" not in (one, *one.parents))
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in found}


@pytest.mark.parametrize(("line", "written"), COMMANDS)
def test_a_command_that_fails_leaves_no_file_or_folder_that_it_made(
    line: str, written: int, warm_run: Callable[..., Result], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Let the disk be full from the so-and-so-many-th output on: each is synced, and its folder."""
    stages(4)[2].save(tmp_path / "program")
    (tmp_path / "f.pla").write_text(PLA)
    (tmp_path / "s.csv").write_text(STATES)
    before, calls, real = left(tmp_path), count(1), os.fsync

    def full(handle: int) -> None:
        if next(calls) >= 2 * written - 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        found = warm_run(*line.split())
    assert (found.code, found.err.count("cannot be written: No space left on device")) == (1, 1)
    assert left(tmp_path) == before
    assert next(calls) > 2 * written - 1
