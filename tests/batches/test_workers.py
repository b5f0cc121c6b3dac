"""Files evaluated by workers: the same bytes by whom it may be, also where one is killed."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from batchfiles import bytes_of, program, states, write
from clusters import needs_loopback
from conftest import Run
from waiting import until, until_gone

import boolcomp as bc
from boolcomp.scale import header

pytestmark = pytest.mark.slow  # processes are started
ROWS = 600_000
CHUNK = 4000


@pytest.fixture(scope="module", name="folder")
def with_states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a program, states in chunks of zarr, and what comes of them."""
    folder = tmp_path_factory.mktemp("states")
    program().save(folder / "program")
    table = states(ROWS)
    np.save(folder / "s.npy", table)
    write(folder / "npys", table[:50_000])
    for name in ("t.npy", "t"):
        source = folder / ("s.npy" if name == "t.npy" else "npys")
        bc.evaluate_files(folder / "program", source, folder / name, chunk=CHUNK)
    return folder


@pytest.mark.check
@pytest.mark.parametrize("where", ["processes:2", pytest.param("local:2", marks=needs_loopback)])
def test_results_are_the_same_bytes_whoever_makes_them(
    where: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program").symlink_to(folder / "program")  # names are relative to this folder
    for source, name in (("s.npy", "t.npy"), ("npys", "t")):
        given = program() if name == "t" else Path("program")
        os.symlink(folder / source, source)  # noqa: PTH211 (a name of this folder)
        found = bc.evaluate_files(given, source, name, workers=bc.Workers(where), chunk=20_000)
        assert found.chunks > 1
        made = bytes_of(tmp_path / name)
        assert made == bytes_of(folder / name)
    assert sorted(os.listdir()) == ["npys", "program", "s.npy", "t", "t.npy"]  # noqa: PTH208


DONE = 6  # chunks of a run that waits to be told to go on
SCRIPT = f"""
import sys
from boolcomp.scale.journal import Journal
from boolcomp.scale.batches import evaluate_files
from boolcomp.base.workers import Workers
add = Journal.add
def waiting(journal, record):
    add(journal, record)
    if len(journal.done) == {DONE}:
        print("waiting", flush=True)
        sys.stdin.readline()
Journal.add = waiting
evaluate_files("program", sys.argv[1], sys.argv[2], workers=Workers("processes:2"), chunk=4000)
"""


def lines(journal: Path) -> int:
    return len(journal.read_bytes().splitlines()) if journal.exists() else 0


@pytest.fixture(name="client")
def running(folder: Path) -> Iterator[Callable[[str, str], subprocess.Popen[bytes]]]:
    """Start runs in a process of their own, which wait for a line when some chunks are done."""
    started: list[subprocess.Popen[bytes]] = []

    def start(source: str, target: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", SCRIPT, source, target]
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == b"waiting\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    found = [int(number) for number in text.split()]
    for task in Path(f"/proc/{process}/task").iterdir():
        found += [int(number) for number in (task / "children").read_text().split()]
    return sorted({*found})


@pytest.mark.check
def test_a_killed_run_goes_on_with_equal_bytes_and_leaves_no_process(
    folder: Path, client: Callable[[str, str], subprocess.Popen[bytes]]
) -> None:
    process = client("s.npy", "killed.npy")
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(workers) == 2
    assert not (folder / "killed.npy").exists()
    found = bc.evaluate_files(
        folder / "program", folder / "s.npy", folder / "killed.npy", chunk=CHUNK
    )
    assert found.resumed == DONE < found.chunks
    assert (folder / "killed.npy").read_bytes() == (folder / "t.npy").read_bytes()
    until_gone(*workers)
    assert not list(folder.glob("*.unfinished"))


def test_a_killed_worker_is_replaced(
    folder: Path, client: Callable[[str, str], subprocess.Popen[bytes]]
) -> None:
    process = client("s.npy", "replaced.npy")
    victim = children(process.pid)[0]
    os.kill(victim, signal.SIGSTOP)
    assert process.stdin is not None
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    journal = folder / "replaced.npy.unfinished" / "journal"
    until(lambda: lines(journal) > DONE + 3)  # the other works; the victim has got a chunk, too
    os.kill(victim, signal.SIGKILL)
    assert process.wait() == 0
    assert (folder / "replaced.npy").read_bytes() == (folder / "t.npy").read_bytes()


def test_the_command_evaluates_in_chunks_and_says_what_it_counted(run: Run, folder: Path) -> None:
    source, target = str(folder / "npys"), "t.parquet"
    found = run("evaluate", str(folder / "program"), "-i", source, "-o", target, "--json")
    assert found.code == 0
    assert '"chunks": 1' in found.out
    again = run(
        "evaluate", str(folder / "program"), "-i", source, "-o", "u.zarr", "--processes", "2",
        "--against", "machado-2r",
    )  # fmt: skip
    assert "50000 samples in" in again.err
    assert "tau1: rms error" in again.err
    assert Path("u.zarr/zarr.json").exists()


@pytest.mark.check
def test_an_interrupt_ends_within_two_seconds_and_says_what_is_left(folder: Path) -> None:
    (folder / "zeros.npy").write_bytes(header(6_000_000, 6, "float32"))
    os.truncate(folder / "zeros.npy", 128 + 6_000_000 * 24)
    command = [sys.executable, "-m", "boolcomp", "evaluate", "program", "-i", "zeros.npy", "-o"]
    process = subprocess.Popen(
        [*command, "ended.npy", "--processes", "2", "--against", "machado-2r"],
        cwd=folder, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    journal = folder / "ended.npy.unfinished" / "journal"
    until(lambda: lines(journal) >= 2 or process.poll() is not None)
    workers = children(process.pid)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "ended.npy.unfinished: the same command resumes" in said
    assert "boolcomp: interrupted" in said
    assert not (folder / "ended.npy").exists()
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
    shutil.rmtree(folder / "ended.npy.unfinished")
