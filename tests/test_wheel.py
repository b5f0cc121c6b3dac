"""The wheel holds all that the command needs."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_robots_ship_inside_the_wheel(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    listed = subprocess.run(
        [sys.executable, "-c", "import boolcomp.cli as c; print(c.__file__); c.main(['robots'])"],
        env={"PYTHONPATH": str(tmp_path / "site"), "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert str(tmp_path) in listed
    assert "machado-2r" in listed
    assert (tmp_path / "site" / "boolcomp" / "py.typed").exists()
