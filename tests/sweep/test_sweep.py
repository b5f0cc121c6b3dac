"""Sweeps: every cell once, whatever ends a run, and the same bytes whoever computes them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import sweepcells
from conftest import Run
from sweepcells import DEADLY, REFUSED, contents, spec
from waiting import until

from boolcomp.base import WorkerLostError
from boolcomp.scale import compute, parse_spec

BITS = [4, 5, 6, 7, 8, 9]
SCRIPT = str(Path(sweepcells.__file__))


@pytest.fixture(autouse=True)
def quick_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute cells that cost nothing; they are known by their module to workers."""
    monkeypatch.setattr("boolcomp.scale.sweep.compute", sweepcells.quick)
    monkeypatch.setattr(sweepcells, "PAUSE", 0)
    monkeypatch.setattr("boolcomp.scale.sweep.page", lambda *_: "drawn elsewhere")


@pytest.fixture(name="swept")
def sweeping(run: Run) -> Callable[..., Any]:
    """Return what runs a sweep, and gives what the command prints as JSON."""

    def swept(path: Path, folder: Path, *more: str) -> Any:
        return json.loads(run("sweep", str(path), "-o", str(folder), "--json", *more).out)

    return swept


def started(*arguments: str) -> subprocess.Popen[bytes]:
    """Start the command in a process of its own, with cells that cost nothing."""
    return subprocess.Popen(
        [sys.executable, SCRIPT, "quick", "sweep", *arguments],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def done(folder: Path) -> int:
    return len(list((folder / "cells").glob("*.json")))


@pytest.mark.check
def test_two_processes_give_the_bytes_of_this_one(
    swept: Callable[..., Any], tmp_path: Path
) -> None:
    path = spec(tmp_path, bits=[*BITS, REFUSED], functions=("gravity", "inertia"))
    swept(path, tmp_path / "one")
    swept(path, tmp_path / "two", "--processes", "2")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    tables = 2 + sum(find_spec(name) is not None for name in ("pyarrow", "vl_convert"))
    assert len(contents(tmp_path / "one")) == 12 + 12 + 2 + tables  # cells, exports, failed


def test_what_is_done_is_not_computed_again(swept: Callable[..., Any], tmp_path: Path) -> None:
    path = spec(tmp_path, bits=[4, 5])
    assert swept(path, tmp_path / "out")["made"] == 2
    before = contents(tmp_path / "out")
    assert swept(path, tmp_path / "out")["made"] == 0
    assert contents(tmp_path / "out") == before
    assert swept(spec(tmp_path, bits=[4, 5, 6]), tmp_path / "out")["made"] == 1


@pytest.mark.parametrize("kind", ["cells", "exports"])
@pytest.mark.parametrize("how", ["cut", "changed", "gone"])
def test_what_is_damaged_is_made_anew(
    swept: Callable[..., Any], tmp_path: Path, kind: str, how: str
) -> None:
    path = spec(tmp_path, bits=[4, 5])
    swept(path, tmp_path / "out")
    before = contents(tmp_path / "out")
    victim = next(one for one in sorted((tmp_path / "out" / kind).rglob("*")) if one.is_file())
    data = victim.read_bytes()
    if how == "gone":
        victim.unlink()
    else:
        victim.write_bytes(data[:-9] if how == "cut" else data.replace(b"1", b"2").upper())
    assert swept(path, tmp_path / "out")["made"] == 1
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize("kind", ["cells", "failed", "costs"])
@pytest.mark.parametrize("text", ["[" * 100_000, "[]", '{"seconds": 1e999, "stored": 0}'])
def test_what_is_nested_too_deep_or_no_object_is_made_anew(
    swept: Callable[..., Any], tmp_path: Path, kind: str, text: str
) -> None:
    path = spec(tmp_path, bits=[4, REFUSED])
    swept(path, tmp_path / "out")
    before = contents(tmp_path / "out")
    for victim in (tmp_path / "out" / kind).iterdir():
        victim.write_text(text)
    assert swept(path, tmp_path / "out")["made"] == (kind == "cells")
    assert contents(tmp_path / "out") == before
    costs = [one.read_text() for one in (tmp_path / "out" / "costs").iterdir()]
    assert (text in costs) == (kind == "costs")


def test_failures_are_kept_apart_and_tried_again_only_if_asked(
    swept: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = spec(tmp_path, bits=[4, REFUSED])
    state = swept(path, tmp_path / "out")
    assert (state["made"], state["failed"][0]["why"]) == (1, "no such logic")
    assert done(tmp_path / "out") == 1
    monkeypatch.setattr(sweepcells, "REFUSED", 0)
    assert swept(path, tmp_path / "out")["made"] == 0
    assert swept(path, tmp_path / "out", "--retry")["made"] == 1
    assert not list((tmp_path / "out" / "failed").iterdir())


@pytest.mark.check
def test_a_cell_that_kills_its_workers_fails_alone_and_is_tried_again(
    swept: Callable[..., Any], run: Run, tmp_path: Path
) -> None:
    swept(spec(tmp_path, bits=BITS), tmp_path / "out")  # what cells take is known: they go together
    path = spec(tmp_path, bits=[DEADLY, *BITS])
    path.write_text(path.read_text() + "payloads = [1, 2]\n")
    state = swept(path, tmp_path / "out", "--processes", "2")
    assert state["made"] == 2 * len(BITS)
    assert ["worker processes died" in one["why"] for one in state["failed"]] == [True] * 2
    assert "2 cells left" in run("sweep", str(path), "-o", "out", "--dry-run").out


@pytest.mark.slow
@pytest.mark.parametrize(("processes", "number"), [("1", signal.SIGINT), ("2", signal.SIGKILL)])
def test_a_sweep_that_was_ended_in_the_middle_goes_on_and_gives_the_same_bytes(
    swept: Callable[..., Any], tmp_path: Path, processes: str, number: signal.Signals
) -> None:
    path, out = spec(tmp_path, bits=BITS), tmp_path / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(sweepcells.ENDLESS, str(BITS[2]))  # the cells of most bits are first
        command = started(str(path), "-o", str(out), "--processes", processes)
    until(lambda: done(out) >= 2)
    os.kill(command.pid, number)
    _, said = command.communicate()
    if number == signal.SIGINT:
        assert (command.returncode, said) == (130, b"boolcomp: interrupted\n")
    kept = done(out)
    assert 2 <= kept < len(BITS)
    assert swept(path, out)["made"] == len(BITS) - kept
    swept(path, tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")


def test_a_worker_of_another_version_says_so_and_computes_nothing() -> None:
    (cell,) = parse_spec({"robots": "machado-2r", "functions": "gravity", "bits": 4}).cells
    with pytest.raises(WorkerLostError, match=r"the caller has 0\.0\.1 abc"):
        compute(cell, ["0.0.1", "abc"])


def test_a_dry_run_lists_the_cells_and_computes_none(tmp_path: Path, run: Run) -> None:
    command = run("sweep", str(spec(tmp_path, bits=[4, 5])), "-o", "out", "--dry-run")
    assert "machado-2r, gravity, 5 bits" in command.out
    assert "2 cells left; no time estimate" in command.out
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("where", "said", "workers", "seconds"),
    [
        (["--processes", "2"], "on one core, about 60 s on 2 cores", 2, 60.0),
        (["--cluster", "local:3"], "on one core, about 50 s on 3 cores", 3, 50.0),
        (["--cluster", "tcp://head:8786"], "about 2 min on one core", None, None),
        ([], "about 2 min on one core", 1, 110.0),
    ],
)
def test_a_dry_run_says_how_long_what_is_left_takes_where_it_would_run(
    tmp_path: Path, run: Run, where: list[str], said: str,
    workers: int | None, seconds: float | None,
) -> None:  # fmt: skip
    arguments = ["sweep", str(spec(tmp_path, bits=[4, 8])), "-o", "out"]
    run(*arguments)
    for path in Path("out/costs").iterdir():
        cost = json.loads(path.read_text())
        cost["seconds"] = {4: 10.0, 8: 50.0}[cost["asked"]["bits"]]
        path.write_text(json.dumps(cost))
    spec(tmp_path, bits=[4, 5, 8, 9, 10])  # like the first takes 10 s, like the second two 50 s
    command = run(*arguments, "--dry-run", *where)
    assert "3 cells left: " in command.out
    assert said in command.out.splitlines()[-1]
    found = json.loads(run(*arguments, "--dry-run", "--json", *where).out)
    assert (found["core_seconds"], found["workers"], found["seconds"]) == (110.0, workers, seconds)


def test_the_command_says_what_failed_and_ends_with_one(tmp_path: Path, run: Run) -> None:
    path = str(spec(tmp_path, bits=[4, REFUSED]))
    command = run("sweep", path, "-o", "out", "--json")
    document = json.loads(command.out)
    assert (command.code, document["done"], document["cells"]) == (1, 1, 2)
    assert document["failed"][0]["why"] == "no such logic"
    header, row = Path("out/results.csv").read_text().splitlines()
    found = dict(zip(header.split(","), row.split(","), strict=True))
    assert (found["bits"], found["nodes"], found["bound"], found["lsb"]) == (
        "4",
        "40",
        "0.25",
        "0.5",
    )
