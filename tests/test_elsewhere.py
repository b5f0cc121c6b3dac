"""Commands without the calls of Linux: the ways that other systems take."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent
SQUARE = """name = "square"
[inputs.x]
range = [-1, 1]
bits = 6
[outputs.u]
expression = "x*x"
"""


@pytest.fixture(name="elsewhere")
def in_a_child(tmp_path: Path) -> Any:
    """Return what runs a command in a child without the calls of Linux, and gives its output."""
    (tmp_path / "square.toml").write_text(SQUARE)
    (tmp_path / "two.toml").write_text(
        'function_files = ["square.toml"]\nbits = [4, 5]\neffort = 0\n'
    )
    paths = os.pathsep.join((str(HERE / "nolinux"), str(HERE.parent)))
    environment = {**os.environ, "PYTHONPATH": paths, "XDG_CACHE_HOME": str(tmp_path / "cache")}

    def run(*words: str, **more: str) -> str:
        command = [sys.executable, "-m", "boolcomp", *words]
        done = subprocess.run(
            command, cwd=tmp_path, env={**environment, **more}, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run


def test_what_is_taken_away_is_away() -> None:
    code = """
import ctypes, os
for path in ("/proc/self/stat", "/dev/shm/x"):
    try: open(path, "w" if "shm" in path else "r")
    except FileNotFoundError: print("away")
print([hasattr(os, name) for name in ("fork", "memfd_create", "pidfd_open", "sched_getaffinity")])
print(hasattr(ctypes.CDLL(None), "prctl"))
"""
    environment = {**os.environ, "PYTHONPATH": str(HERE / "nolinux")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "away\naway\n[False, False, False, False]\nFalse\n", done.stderr


@pytest.mark.check
def test_a_program_is_compiled_and_evaluated_by_two_processes(
    elsewhere: Any, tmp_path: Path
) -> None:
    choices = ("--bits", "4", "--effort", "0", "--processes", "2")
    elsewhere("compile", "square.toml", *choices, "-o", "square", WITHOUT_VECTORS="yes")
    elsewhere("compile", "machado-2r", "--bits", "8", "-o", "2r")
    states = np.random.default_rng(1).uniform(-1, 1, (2000, 6))
    np.save(tmp_path / "s.npy", states)
    made = []
    for k, (processes, vectors) in enumerate((("1", ""), ("2", ""), ("2", "yes"))):
        files = ("-i", "s.npy", "-o", f"t{k}.npy")
        elsewhere("evaluate", "2r", *files, "--processes", processes, WITHOUT_VECTORS=vectors)
        made.append(np.load(tmp_path / f"t{k}.npy"))
    assert np.ptp(made[0], axis=0).min() > 0
    assert all(np.array_equal(one, made[0]) for one in made)


@pytest.mark.check
def test_a_schedule_is_run_by_two_processes(elsewhere: Any) -> None:
    choices = ("--processors", "2", "--samples", "2000", "--json")
    for engine in ("numpy", "llvm"):
        text = elsewhere("schedule", "run", "machado-2r", "--engine", engine, *choices)
        assert json.loads(text)


@pytest.mark.check
def test_a_sweep_of_two_cells_is_run(elsewhere: Any) -> None:
    found = json.loads(elsewhere("sweep", "two.toml", "-o", "out", "--processes", "2", "--json"))
    assert (found["done"], found.get("failed", [])) == (2, [])
