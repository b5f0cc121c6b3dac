"""Helper processes: results, errors, deaths, and scripts without a guard."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from boolcomp.common.errors import DataError, UsageError
from boolcomp.common.text import parse_number, short
from boolcomp.common.workers import call_all

if TYPE_CHECKING:
    from pathlib import Path


def test_every_call_is_answered_at_its_place() -> None:
    calls = [(k / 7, 3) for k in range(20)]
    found = dict(call_all(short, calls, 2))
    assert [found[k] for k in range(20)] == [short(*call) for call in calls]


def test_an_exception_in_a_call_is_raised_here() -> None:
    with pytest.raises(AttributeError):
        list(call_all(parse_number, [(3,)], 1))


def test_an_error_of_ours_keeps_its_text() -> None:
    from boolcomp.problem.robot import load_robot

    with pytest.raises(UsageError, match="no robot named 'x'"):
        list(call_all(load_robot, [("x",)], 1))


def test_a_process_that_dies_is_a_sentence() -> None:
    with pytest.raises(DataError, match="a worker process died"):
        list(call_all(os._exit, [(3,)], 1))


@pytest.mark.slow
def test_a_plain_script_without_a_guard_may_compile(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text(
        "import boolcomp as bc\n"
        "program = bc.compile('machado-2r', bits=4, mode='paper')\n"
        "print(program.joints, program.bound)\n"
    )
    made = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=dict(os.environ, XDG_CACHE_HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.stderr == ""
    assert made.stdout.startswith("2 (")
