"""Child processes: no file of the current folder runs in them, and none outlives its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from small_programs import stages

from boolcomp.common import children
from boolcomp.common.errors import UsageError

HOSTILE = "open('/dev/stderr', 'w').write('executed ' + __file__)\nraise SystemExit(7)\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def hostile(folder: Path) -> Path:
    """Return a folder with modules that nobody is to import."""
    for name in ("pickle", "queue", "numpy", "json", "ctypes", "runpy", "boolcomp"):
        (folder / f"{name}.py").write_text(HOSTILE)
    return folder


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, where only a path set from outside finds the package."""
    root = str(Path(children.__file__).parents[2])
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": root}
    return subprocess.run(
        [sys.executable, "-P", "-m", "boolcomp", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def gone(number: int) -> bool:
    """Wait for a process to end; tell whether it did."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_a_child_runs_nothing_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from boolcomp.common.text import short
    from boolcomp.common.workers import call_all

    monkeypatch.chdir(hostile(tmp_path))
    monkeypatch.syspath_prepend("")
    assert list(call_all(short, [(0.5, 3)], 1)) == [(0, short(0.5, 3))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", "machado-2r", "--mode", "paper", "--bits", "4", "--minimizer", "isop"),
        ("evaluate", "program", "-i", "states.npy", "-o", "tau.csv", "--processes", "2"),
        ("minimize", "a.pla", "--method", "exact"),
        ("minimize", "a.pla", "--method", "espresso"),
        ("schedule", "machado-2r", "--processors", "2", "--run", "--samples", "1000"),
    ],
    ids=lambda given: " ".join(given[:1] + given[2:5]),
)
def test_no_command_runs_a_module_of_the_current_folder(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    stages(4)[2].save(tmp_path / "program")
    np.save(tmp_path / "states.npy", np.zeros((300, 6)))
    bits = np.random.default_rng(0).integers(0, 2, 1 << 9)
    lines = [f"{k:09b} 1" for k in np.flatnonzero(bits)]
    (tmp_path / "a.pla").write_text("\n".join([".i 9", ".o 1", *lines, ".e", ""]))
    made = command(hostile(tmp_path), *arguments)
    assert "executed" not in made.stderr
    assert (made.returncode, "Traceback" in made.stderr) == (0, False)


def test_a_child_finds_the_package_that_started_it_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boolcomp").mkdir()
    (tmp_path / "boolcomp" / "__init__.py").write_text(HOSTILE)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    child = children.start_python(
        "boolcomp.common.workers", stdin=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.communicate()[1] == b""
    assert child.returncode == 0


@linux
@pytest.mark.parametrize("kind", ["python", "foreign"])
def test_a_child_ends_with_its_parent_whatever_it_is_doing(tmp_path: Path, kind: str) -> None:
    (tmp_path / "busy.py").write_text("print(flush=True)\nsum(range(10**12))\n")
    start = {
        "python": f"start_script(Path({str(tmp_path / 'busy.py')!r}))",
        "foreign": "start_foreign(['/bin/sh', '-c', 'echo; exec sleep 1000'], "
        "children.Limits(1 << 30, 100))",
    }[kind]
    program = (
        "import os, signal\nfrom pathlib import Path\nfrom boolcomp.common import children\n"
        f"print(children.{start}.pid, flush=True)\nsignal.pause()\n"
    )
    root = str(Path(children.__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": root},
    ) as parent:  # fmt: skip
        assert parent.stdout is not None
        # The number from the parent, an empty line from the child: it runs, and is tied.
        number = int("".join(parent.stdout.readline() for _ in range(2)))
        parent.kill()
    assert gone(number)


@linux
def test_a_child_outlives_the_thread_that_asked_for_it(tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("import sys\nsys.stdin.read()\nprint('there')\n")
    found: list[subprocess.Popen[bytes]] = []

    def ask() -> None:
        path = tmp_path / "answer.py"
        pipe = subprocess.PIPE
        found.append(children.start_script(path, stdin=pipe, stdout=pipe))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found[0].communicate()[0] == b"there\n"


@linux
def test_a_child_that_starts_when_its_parent_is_gone_ends_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: 1)  # not the process that it will find
    child = children.start_foreign(["/bin/sleep", "1000"], children.Limits(1 << 30, 100))
    assert child.wait() == 0


@linux
def test_ctrl_c_does_not_reach_children(tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import sys\nprint(1, flush=True)\nsys.stdin.read()\n")
    pipe = subprocess.PIPE
    child = children.start_script(tmp_path / "wait.py", stdin=pipe, stdout=pipe)
    assert child.stdout is not None
    child.stdout.readline()
    os.kill(child.pid, signal.SIGINT)
    child.communicate()
    assert child.returncode == 0


def test_a_start_that_is_interrupted_leaves_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    class Noted(popen):  # type: ignore[valid-type,misc]
        def __init__(self, *given: object, **more: object) -> None:
            super().__init__(*given, **more)
            started.append(self)

    def interrupted(_: threading.Event) -> None:
        while not started:
            time.sleep(0.001)
        raise KeyboardInterrupt

    (tmp_path / "wait.py").write_text("import time\ntime.sleep(1000)\n")
    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(threading.Event, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        children.start_script(tmp_path / "wait.py")
    monkeypatch.undo()
    assert started[0].wait() == -signal.SIGKILL


def test_without_processor_masks_the_processors_are_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    assert children.cores() == os.cpu_count()


def test_sharing_memory_where_there_is_no_posix_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(UsageError, match="several processes that share memory need Linux"):
        children.require_shared()


def test_a_child_is_given_no_folder_that_depends_on_where_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept = str(tmp_path / "kept")
    monkeypatch.setattr(sys, "path", ["", "below", ".", str(tmp_path), kept])
    python, flag, *_, given = children._python(entry="x")  # noqa: SLF001
    assert (python, flag) == (sys.executable, "-P")
    assert json.loads(given)["path"] == [kept]


@linux
def test_a_foreign_program_has_the_limits_that_were_asked_for() -> None:
    line = "ulimit -v; ulimit -S -t; ulimit -H -t; ulimit -c"
    limits, pipe = children.Limits(1 << 30, 100), subprocess.PIPE
    child = children.start_foreign(["/bin/sh", "-c", line], limits, stdout=pipe)
    assert child.communicate()[0].split() == [b"1048576", b"100", b"101", b"0"]


def test_a_process_that_starts_when_nobody_waits_any_more_is_ended() -> None:
    request = children._Request(["/bin/sleep", "1000"], {})  # noqa: SLF001
    request.wanted = False
    request.answer()
    assert request.process is not None
    assert request.process.poll() == -signal.SIGKILL
