"""Tests for cocotb that exports write: they hold, and fail where the logic is wrong."""

import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from exports import kept
from targets.exported import family

from boolcomp.targets import ExportOptions, export_texts


def failed(files: Any, folder: Path) -> int:
    """Return with what the one test among files ends."""
    for name, text in files.items():
        (folder / name).write_text(str(text))
    (test,) = (name for name in files if name.endswith(".py"))
    command = [sys.executable, test]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


@pytest.mark.check
@pytest.mark.skipif(not (find_spec("cocotb") and shutil.which("iverilog")), reason="no cocotb")
@pytest.mark.parametrize("pipeline", [0, 3])
def test_a_test_in_cocotb_passes_and_a_wrong_module_fails(tmp_path: Path, pipeline: int) -> None:
    files = dict(
        export_texts(
            kept("export-pid"), "verilog", None, ExportOptions("words", pipeline, cocotb=True)
        )
    )
    assert failed(files, tmp_path) == 0
    name = next(iter(files))
    wrong = re.sub(r"\+ (\d+)'d\d+;", r"+ \1'd1;", str(files[name]), count=1)
    assert wrong != files[name]
    files[name] = wrong
    assert failed(files, tmp_path) == 1


def test_a_test_in_cocotb_is_a_python_text_with_one_wrong_vector() -> None:
    for pipeline in (0, 2):
        files = export_texts(
            family(), "verilog", None, ExportOptions(pipeline=pipeline, cocotb=True)
        )
        text = str(files["test_tiny_arm.py"])
        compile(text, "test", "exec")
        assert 'INPUTS = ("a", "b", "c", "load",)' in text
        assert "wrong on purpose" in text
        assert text.count("valid_in") == (1 if pipeline else 0)
