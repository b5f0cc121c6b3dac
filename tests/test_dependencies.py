"""What is installed with boolcomp, what works without it, and what is said where it is missing."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import pytest
from conftest import Run
from packaging.requirements import Requirement
from small_programs import stages

Command = Callable[..., subprocess.CompletedProcess[str]]

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
    "flint", "numba", "llvmlite", "highspy", "pysat", "vl_convert", "rich", "pyosys", "pyeda",
)  # fmt: skip


def imported(path: Path) -> Iterator[str]:
    """Yield the packages that a module imports, other than boolcomp and Python's own."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        for first in (name.partition(".")[0] for name in names):
            if first not in {"boolcomp", *sys.stdlib_module_names}:
                yield PACKAGES.get(first, first)


@pytest.mark.check
def test_what_is_imported_is_asked_for_and_what_is_asked_for_is_imported() -> None:
    found = {name for path in ROOT.glob("boolcomp/**/*.py") for name in imported(path)}
    run_or_asked_by_others = {"pyosys", "s3fs"}
    used_if_there = {"pin"}
    assert found - used_if_there == (PLAIN | set(EXTRAS)) - run_or_asked_by_others


def test_every_package_is_in_the_table_of_installation() -> None:
    page = (ROOT / "docs" / "reference" / "installation.md").read_text()
    rows = re.findall(r"^\| ([\w-]+) \| .* \| (?:`(\w+)`)? ?\|$", page, re.MULTILINE)
    assert dict(rows) == {**dict.fromkeys(PLAIN, ""), **EXTRAS}


def without(hidden: tuple[str, ...], *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command where packages are not there."""
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({hidden!r})); "
        "from boolcomp.cli import main; main(sys.argv[1:])"
    )
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
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
    rows = "0-1--------- 1\n11---------- 1\n-00--------- 1\n"
    (tmp_path / "a.pla").write_text(f".i 12\n.o 1\n{rows}.e\n")
    made = without((package,), "minimize", tmp_path / "a.pla", "--method", "exact")
    # Progress is said before it where the machine is slow.
    said = made.stderr.splitlines()[-2:]
    assert said == [f"error: this needs the package {package}", f"  hint: pip install {package}"]
    assert (made.returncode, "Traceback" in made.stderr) == (1, False)


@pytest.mark.parametrize("command", ["report machado-2r", "bench machado-2r -o out",
                                     "schedule machado-2r --chart -o out"])  # fmt: skip
def test_who_draws_asks_for_vl_convert_before_anything_is_measured(
    command: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    found = run(*command.split())
    needed = "error: charts need vl-convert-python\n  hint: pip install 'boolcomp[plots]'\n"
    assert found.err == needed
    assert (found.code, found.out, Path("out").exists()) == (2, "", False)


# A wheel beside numpy, bitarray and click; nothing else of this environment is seen.

ALONE = ("bitarray", "click", "numpy")
RUN = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from boolcomp.cli import main; main(sys.argv[1:])"
)
NOT_PROVED = "this needs the package python-flint; pip install python-flint"


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
def alone(site: Path, tmp_path: Path) -> Command:
    """Return what runs a command with these packages alone, in a folder of its own."""
    (tmp_path / "home").mkdir()
    known = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    env = {**known, "HOME": str(tmp_path / "home"), "PYTHONIOENCODING": "utf-8", "LANG": "C.UTF-8"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        made = subprocess.run(
            [sys.executable, "-I", "-S", "-c", RUN, str(site), *arguments],
            cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert "Traceback" not in made.stderr, made.stderr
        return made

    return run


@pytest.mark.check
def test_a_stored_result_is_compiled_evaluated_and_exported(
    alone: Command, site: Path, tmp_path: Path
) -> None:
    assert "machado-2r" in alone("robots").stdout
    assert (site / "boolcomp" / "py.typed").exists()
    made = alone("compile", "machado-2r", "--bits", "8", "-o", "2r")
    assert (made.returncode, made.stderr.count(NOT_PROVED)) == (0, 1)
    assert "559 LUT3 nodes" in made.stdout
    assert "no bound is proved: " in made.stdout
    assert "proved: no error" not in made.stdout
    (tmp_path / "states.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0.3,-0.7,0.4,0.9,-0.5,0.2\n")
    made = alone("evaluate", "2r", "-i", "states.csv")
    assert (made.returncode, made.stdout) == (0, "tau1,tau2\n103.90625,42.4804688\n")
    made = alone("export", "2r", "--to", "c", "-o", "arm")
    assert made.returncode == 0, made.stderr
    assert "int16_t" in (tmp_path / "arm" / "machado_2r.c").read_text()
    for target, more in (("verilog", "--cocotb"), ("vhdl", "--pipeline=2")):  # from templates
        made = alone("export", "2r", "--to", target, "--test-bench", more, "-o", "rtl")
        assert made.returncode == 0, made.stderr
    names = ("machado_2r.v", "machado_2r_tb.v", "test_machado_2r.py", "machado_2r.vhd")
    assert all((tmp_path / "rtl" / name).is_file() for name in names)


@pytest.mark.check
def test_the_wheel_of_the_sdist_runs_in_an_environment_of_its_own(tmp_path: Path) -> None:
    """Dependencies are those of this environment: a build needs no index."""

    def run(*command: str | Path, folder: Path = tmp_path) -> str:
        made = subprocess.run(
            list(map(str, command)), cwd=folder, capture_output=True, text=True, check=False
        )
        assert made.returncode == 0, made.stderr
        return made.stdout

    build = (sys.executable, "-m", "hatchling", "build", "-d", tmp_path, "-t")
    run(*build, "sdist", folder=ROOT)
    (packed,) = tmp_path.glob("*.tar.gz")
    shutil.unpack_archive(packed, tmp_path, filter="data")
    source = tmp_path / packed.name.removesuffix(".tar.gz")
    assert {"CITATION.cff", "LICENSE", "examples", "tests"} <= {x.name for x in source.iterdir()}
    run(*build, "wheel", folder=source)
    (wheel,) = tmp_path.glob("*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", "own")
    (packages,) = (tmp_path / "own").glob("lib/*/site-packages")
    pip = (sys.executable, "-m", "pip", "--python", "own", "install", "--no-deps", "--no-index")
    run(*pip, "--no-compile", wheel)
    here = Path(str(distribution("numpy").locate_file("")))
    (packages / "others.pth").write_text(f"{here}\n")  # without the links in its own .pth files
    printed = run("own/bin/boolcomp", "compile", "machado-2r", "-o", "p")
    assert "559 LUT3" in printed
    code = "import boolcomp; print(boolcomp.__file__, boolcomp.load_program('p').bits)"
    file, bits = run("own/bin/python", "-I", "-c", code).split()
    assert Path(file).is_relative_to(packages)
    assert bits == "8"


OFFERED = """
import sys
sys.path.insert(0, sys.argv[1])
import boolcomp
from boolcomp.measure import bench
program, robot = boolcomp.compile("machado-2r", bits=8), boolcomp.load_robot("machado-2r")
print(*sorted({one.make.__module__ for one in bench.all_offers(robot, program) if one.make}))
for name in ("designs", "offers", "straight"):
    print(bench.rivals(name).__file__)
program.save("2r")
"""


@pytest.mark.check
def test_a_wheel_has_its_own_rivals_and_runs_none_of_the_working_directory(
    site: Path, tmp_path: Path
) -> None:
    names = ("designs", "offers", "straight")
    for other in (tmp_path, tmp_path / "rivals", tmp_path / "benchmarks" / "rivals"):
        other.mkdir(parents=True, exist_ok=True)
        for name in names:
            (other / f"{name}.py").write_text("raise SystemExit(9)\n")

    def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", script, str(site), *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    made = run(OFFERED)
    inside = site / "boolcomp" / "shipped" / "rivals"
    assert made.stdout.splitlines() == [
        "boolcomp.measure.bench boolcomp_rivals.offers",
        *(str(inside / f"{name}.py") for name in names),
    ], made.stderr
    assert "fixed point by hand" in run(RUN, "cycles", "2r", "--on", "host", "--states", "5").stdout


@pytest.mark.check
def test_what_needs_more_says_what_pip_is_to_install(alone: Command, tmp_path: Path) -> None:
    for choices, package in (
        ("--bits 8 --certify", "python-flint"),
        ("--bits 8 --proof tight", "python-flint"),
        ("--bits 8 --error 6lsb", "python-flint"),
        ("--bits 8 --effort 3", "numba"),
        ("--bits 5 --mode paper", "numba"),
    ):
        made = alone("compile", "machado-2r", *choices.split())
        said = f"error: this needs the package {package}\n  hint: pip install {package}\n"
        assert (made.returncode, made.stderr) == (1, said)
    (tmp_path / "a.pla").write_text(".i 2\n.o 1\n11 1\n10 1\n.e\n")
    for line in ("plan machado-2r --bits 5", "tables machado-2r --bits 5 -o tables",
                 "terms machado-2r", "minimize a.pla"):  # fmt: skip
        made = alone(*line.split())
        assert (made.returncode, made.stderr) == (0, "")
        assert made.stdout
