"""What is installed with boolcomp, what for, and what is said where it is not there."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from packaging.requirements import Requirement
from small_programs import stages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import Result

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PLAIN = {Requirement(text).name for text in PROJECT["dependencies"]}
EXTRAS = {
    Requirement(text).name: extra
    for extra in ("plots", "abc", "espresso", "cluster", "exact")
    for text in PROJECT["optional-dependencies"][extra]
}
# Packages whose modules are not called so.
PACKAGES = {
    "pysat": "python-sat", "pinocchio": "pin", "flint": "python-flint", "distributed": "dask",
    "vl_convert": "vl-convert-python",
}  # fmt: skip
HEAVY = (
    "flint", "numba", "llvmlite", "highspy", "pysat", "matplotlib", "vl_convert", "rich", "pyosys",
    "pyeda",
)  # fmt: skip


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, other than boolcomp and Python's own."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for name in names:
            first = name.partition(".")[0]
            if first not in {"boolcomp", *sys.stdlib_module_names}:
                yield PACKAGES.get(first, first)


@pytest.mark.check
def test_what_is_imported_is_asked_for_and_what_is_asked_for_is_imported() -> None:
    found = {name for path in ROOT.glob("boolcomp/**/*.py") for name in imported(path)}
    if_there = {"pin"}  # which `bench` runs
    assert found - if_there == (PLAIN | set(EXTRAS)) - {
        "pyosys",
        "s3fs",
    }  # a program is run; fsspec asks


def test_every_package_is_in_the_table_of_installation() -> None:
    page = (ROOT / "docs" / "installation.md").read_text()
    rows = re.findall(r"^\| ([\w-]+) \| \d+ \| .* \| (?:`(\w+)`)? ?\|$", page, re.MULTILINE)
    assert dict(rows) == {**dict.fromkeys(PLAIN, ""), **EXTRAS}


def without(hidden: tuple[str, ...], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command where packages are not there."""
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r})); "
        "from boolcomp.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_program_is_evaluated_without_any_heavy_package(tmp_path: Path) -> None:
    stages(4)[2].save(tmp_path / "program")
    np.save(tmp_path / "states.npy", np.zeros((3, 6)))
    made = without(HEAVY, "evaluate", tmp_path / "program", "-i", tmp_path / "states.npy")
    assert (made.returncode, made.stdout.count("\n")) == (0, 4)


@pytest.mark.check
@pytest.mark.parametrize("package", ["numba", "highspy"])
def test_a_missing_package_is_a_sentence_that_says_how_to_install_it(
    package: str, tmp_path: Path
) -> None:
    # Large enough for compiled loops.
    (tmp_path / "a.pla").write_text(
        ".i 12\n.o 1\n0-1--------- 1\n11---------- 1\n-00--------- 1\n.e\n"
    )
    made = without((package,), "minimize", tmp_path / "a.pla", "--method", "exact")
    # Progress is said before it where the machine is slow.
    said = made.stderr.splitlines()[-1]
    assert said == f"boolcomp: error: this needs {package}: pip install {package}"
    assert "Traceback" not in made.stderr
    assert made.returncode == 1


@pytest.mark.parametrize(
    "command",
    [
        ("report", "machado-2r"),
        ("bench", "machado-2r", "-o", "out"),
        ("schedule", "machado-2r", "--chart", "-o", "out"),
    ],
)
def test_who_draws_asks_for_matplotlib_before_anything_is_measured(
    command: tuple[str, ...], run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run(*command)
    assert found.err == (
        "boolcomp: error: pictures need matplotlib: pip install 'boolcomp[plots]'\n"
    )
    assert (found.code, found.out, Path("out").exists()) == (2, "", False)
