"""What works with numpy, bitarray and click alone, as docs/installation.md says.

The wheel is built and unpacked beside these three; nothing else of this environment is seen.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALONE = ("bitarray", "click", "numpy")
RUN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from boolcomp.cli import main; main(sys.argv[1:])"
)
NOT_PROVED = "no bounds are proved here: this needs python-flint: pip install python-flint"

pytestmark = pytest.mark.check


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of packages that holds the wheel and what it cannot do without."""
    folder = tmp_path_factory.mktemp("minimal")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    made = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(made)
    for name in ALONE:
        found = distribution(name)
        for first in {file.parts[0] for file in found.files or () if file.parts[0] != ".."}:
            (made / first).symlink_to(str(found.locate_file(first)))
    return made


@pytest.fixture
def command(site: Path, tmp_path: Path) -> list[str]:
    """Return the beginning of a command line; it works in a folder of its own."""
    (tmp_path / "home").mkdir()
    return [sys.executable, "-I", "-S", "-c", RUN, str(site)]


def run(command: list[str], home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    known = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    env = {**known, "HOME": str(home / "home"), "PYTHONIOENCODING": "utf-8", "LANG": "C.UTF-8"}
    made = subprocess.run(
        [*command, *arguments], cwd=home, env=env, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in made.stderr, made.stderr
    return made


def test_a_stored_result_is_compiled_evaluated_and_exported(
    command: list[str], tmp_path: Path
) -> None:
    made = run(command, tmp_path, "compile", "machado-2r", "--bits", "8", "-o", "2r")
    assert (made.returncode, made.stderr.count(NOT_PROVED)) == (0, 1)
    assert "559 nodes" in made.stdout
    assert "no bound is proved here" in made.stdout
    assert "proved: no error" not in made.stdout
    (tmp_path / "states.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n")
    made = run(command, tmp_path, "evaluate", "2r", "-i", "states.csv")
    assert (made.returncode, made.stdout) == (0, "tau1,tau2\n103.90625,42.4804688\n")
    made = run(command, tmp_path, "export", "2r", "--to", "c", "-o", "arm")
    assert made.returncode == 0, made.stderr
    assert "int16_t" in (tmp_path / "arm" / "machado_2r.c").read_text()


@pytest.mark.parametrize(
    ("arguments", "package"),
    [
        (("compile", "machado-2r", "--bits", "8", "--certify"), "python-flint"),
        (("compile", "machado-2r", "--bits", "8", "--proof", "tight"), "python-flint"),
        (("compile", "machado-2r", "--bits", "8", "--error", "6lsb"), "python-flint"),
        (("compile", "machado-2r", "--bits", "8", "--effort", "3"), "numba"),
        (("compile", "machado-2r", "--bits", "5", "--mode", "paper"), "numba"),
    ],
)
def test_what_needs_more_says_what_pip_is_to_install(
    command: list[str], tmp_path: Path, arguments: tuple[str, ...], package: str
) -> None:
    made = run(command, tmp_path, *arguments)
    said = f"boolcomp: error: this needs {package}: pip install {package}\n"
    assert (made.returncode, made.stderr) == (1, said)


def test_plans_tables_and_small_pla_files_need_no_more(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.pla").write_text(".i 2\n.o 1\n11 1\n10 1\n.e\n")
    for arguments in (
        ("plan", "machado-2r", "--bits", "5"),
        ("tables", "machado-2r", "--bits", "5", "-o", "tables"),
        ("terms", "machado-2r"),
        ("minimize", "a.pla"),
    ):
        made = run(command, tmp_path, *arguments)
        assert (made.returncode, made.stderr) == (0, "")
        assert made.stdout
