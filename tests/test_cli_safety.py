"""The command line under bad conditions: interrupts, closed descriptors, no home, other systems."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from small_programs import stages

import boolcomp
import boolcomp as bc

ROOT = str(Path(boolcomp.__file__).parents[1])
MAIN = [sys.executable, "-P", "-m", "boolcomp"]
# Removed before anything of ours is imported: names that macOS or Windows do not have.
ELSEWHERE = """
import os, sys, signal, platform
for module, names in [(os, "sched_getaffinity memfd_create pidfd_open WINDOWS"), (signal, "SIGS")]:
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.modules["resource"] = None
sys.platform = "PLATFORM"
platform.machine = lambda: "MACHINE"
from boolcomp.cli import main
main(sys.argv[1:])
"""
MAC = ELSEWHERE.replace("WINDOWS", "").replace("SIGS", "").replace("PLATFORM", "darwin")
MAC = MAC.replace("MACHINE", "arm64")
FEWER = "killpg setsid getuid O_NOFOLLOW O_NONBLOCK"  # msvcrt cannot be had here
WINDOWS = ELSEWHERE.replace("WINDOWS", FEWER).replace("SIGS", "pthread_sigmask SIGXCPU")
WINDOWS = WINDOWS.replace("PLATFORM", sys.platform).replace("MACHINE", "AMD64")
WINDOWS = 'import sys; sys.modules["fcntl"] = None\n' + WINDOWS


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": ROOT}


COMPILE = ("compile", "machado-2r", "--bits", "6", "--rms-error", ".47", "--seed", "77")
REPORT = ("report", "machado-2r", "--mode", "paper", "--bits", "4", "--no-logic", "-o", "out")


def interrupted(
    folder: Path,
    moment: Callable[[subprocess.Popen[str]], None],
    arguments: tuple[str, ...] = COMPILE,
    main: Sequence[str] = MAIN,
) -> tuple[int, str]:
    """Send Ctrl-C to a command at a moment; return its exit code and what it said."""
    with subprocess.Popen(
        [*main, *arguments], cwd=folder, env=environment(folder), text=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        moment(process)
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate()[1]
    return process.returncode, said


def told(process: subprocess.Popen[str]) -> None:
    """Wait until a command says `now`; on a slow machine progress is told before."""
    assert process.stderr is not None
    for line in process.stderr:
        if line == "now\n":
            return
        assert "done" in line
    pytest.fail("the command ended")


@pytest.mark.check
@pytest.mark.parametrize(
    ("library", "command"),
    [("click", COMPILE), ("bitarray", COMPILE), ("vl_convert", REPORT)],
)
def test_an_interrupt_during_imports_is_one_line(
    tmp_path: Path, library: str, command: tuple[str, ...]
) -> None:
    # A module in place of the real one says that it is being imported, and takes a while.
    (tmp_path / f"{library}.py").write_text(
        "import sys, time\nprint('now', file=sys.stderr, flush=True)\ntime.sleep(1000)\n"
    )

    before = os.environ.get("PYTHONPATH")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "ROOT", f"{tmp_path}{os.pathsep}{ROOT}")
        assert interrupted(tmp_path, told, command) == (130, "boolcomp: interrupted\n")
    assert os.environ.get("PYTHONPATH") == before


def test_an_interrupt_within_code_given_as_text_ends_with_the_usual_code(tmp_path: Path) -> None:
    # Libraries make classes by exec; Python would end by the signal itself afterwards.
    (tmp_path / "click.py").write_text(
        "exec('import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(1)')\n"
    )
    given = environment(tmp_path)
    given["PYTHONPATH"] = f"{tmp_path}{os.pathsep}{ROOT}"
    done = subprocess.run(
        [*MAIN, *COMPILE], cwd=tmp_path, env=given, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (130, "boolcomp: interrupted\n")


@pytest.mark.check
@pytest.mark.parametrize("step", ["forms_of", "errors_seen"])
def test_an_interrupt_of_a_search_is_one_line(tmp_path: Path, step: str) -> None:
    text = (
        "import sys\nfrom boolcomp.cli import main\n"
        f"from boolcomp.compact import widths as passes\nreal = passes.{step}\n"
        "def telling(*given):\n"
        "    print('now', file=sys.stderr, flush=True)\n    return real(*given)\n"
        f"passes.{step} = telling\nmain(sys.argv[1:])\n"
    )
    main = [sys.executable, "-P", "-c", text]
    assert interrupted(tmp_path, told, main=main) == (130, "boolcomp: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["swallowed", "in a destructor", "stuck"])
def test_an_interrupt_that_is_not_heard_ends_the_command_all_the_same(
    tmp_path: Path, how: str
) -> None:
    body = {
        "swallowed": "while True:\n  try: time.sleep(100)\n  except BaseException: pass\n",
        "in a destructor": (
            "class X:\n  def __del__(self): say(); time.sleep(100)\n"
            "x = X()\nsay = say\ndel x\ntime.sleep(100)\n"
        ),
        "stuck": "import ctypes\nctypes.CDLL(None).sleep(100)\nctypes.CDLL(None).sleep(100)\n",
    }[how]
    (tmp_path / "click.py").write_text(
        "import sys, time\ndef say(): print('importing', file=sys.stderr, flush=True)\nsay()\n"
        + body
    )

    def imported(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        process.stderr.readline()
        if how == "in a destructor":
            process.stderr.readline()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "ROOT", f"{tmp_path}{os.pathsep}{ROOT}")
        assert interrupted(tmp_path, imported) == (130, "boolcomp: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["1>&-", "0<&- 1>&- 2>&-"])
@pytest.mark.parametrize("arguments", ["plan machado-2r --bits 4", "plan machado-2"])
def test_closed_standard_streams_change_no_exit_code(
    tmp_path: Path, closed: str, arguments: str
) -> None:
    made = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *MAIN, *arguments.split()],
        cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == (0 if arguments.endswith("4") else 2)
    assert "Traceback" not in made.stderr
    assert ("T1: 4 bits" in made.stdout) == (arguments.endswith("4") and "1" not in closed)


def test_no_file_of_ours_gets_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    program = (
        "import os, boolcomp.cli as c; c._open_standard();"
        "fd = os.open('/dev/zero', 0); print(fd, file=open('found', 'w'))"
    )
    subprocess.run(
        ["/bin/sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", sys.executable, "-c", program],
        cwd=tmp_path, env=environment(tmp_path), check=True,
    )  # fmt: skip
    assert int((tmp_path / "found").read_text()) > 2


@pytest.mark.check
@pytest.mark.parametrize(("system", "engine"), [(MAC, "numpy"), (WINDOWS, "llvm")])
def test_what_only_linux_has_is_not_needed(tmp_path: Path, system: str, engine: str) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-P", "-c", system, *arguments],
            cwd=tmp_path, env=environment(tmp_path), capture_output=True, text=True, check=False,
        )  # fmt: skip

    compiling = ("compile", "machado-2r", "--bits", "4", "--mode", "paper", "-o", "program")
    states = np.random.default_rng(0).uniform(-1, 1, (100, 6))
    np.save(tmp_path / "states.npy", states)
    evaluating = ("evaluate", "program", "-i", "states.npy", "-o", "tau.npy")
    for arguments in (compiling, evaluating, (*evaluating, "--engine", engine)):
        made = run(*arguments, *(["--minimizer", "isop"] if arguments is compiling else []))
        assert (made.returncode, made.stderr.count("Traceback")) == (0, 0), made.stderr
    tau = np.load(tmp_path / "tau.npy")
    expected = stages(4)[2].torques(states[:, :2], states[:, 2:4], states[:, 4:])
    np.testing.assert_array_equal(tau, expected)


def test_the_native_engine_says_what_it_needs_and_another_takes_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from boolcomp.engines import make_engine

    wiring = stages(4)[2].wiring()
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert make_engine(wiring).name == "numpy"
    with pytest.raises(
        bc.UsageError, match="'llvm' needs an x86-64 processor, and this one is arm64"
    ):
        make_engine(wiring, "llvm")
