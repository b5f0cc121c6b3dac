"""Compact mode through the commands: what `compile`, `plan`, `evaluate` and `report` say of it."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Run
from shippedarms import built_of
from small_programs import compact

import boolcomp as bc
from boolcomp.base.store import Folder
from boolcomp.commands.compile import _loose, _words, print_origin, unread
from boolcomp.logic import lutmapping
from boolcomp.logic.synthesis import SynthesisStep
from boolcomp.words.graph import Bits, Heap, InputWord, Scale, WordGraph

SMALL = ("machado-2r", "--bits", "4")  # its result ships


def test_compile_says_what_was_read_from_the_store(run: Run) -> None:
    first, again = (run("compile", *SMALL) for _ in range(2))
    assert first.out == again.out
    assert first.err.endswith(" -o\nread from the store; to search again, use another --effort\n")
    assert json.loads(run("compile", *SMALL, "--json").out)["stored"] is True


def test_compile_says_where_abc_would_have_helped(capsys: pytest.CaptureFixture[str]) -> None:
    kept = built_of("machado-2r", 4)
    print_origin([kept])
    assert "ABC" not in capsys.readouterr().err
    step = SynthesisStep("ABC", 600, 20, lutmapping.MISSING.note)
    print_origin([replace(kept, steps=(*kept.steps, step), stored=False), kept])
    store, *smaller = capsys.readouterr().err.splitlines()
    assert store == "1 of 2 payloads read from the store; to search again, use another --effort"
    assert " ".join(line.strip() for line in smaller).endswith(
        "may be larger than necessary: ABC was not found: pip install 'boolcomp[abc]', or put "
        "yosys-abc on PATH"
    )


@pytest.mark.check
def test_paper_mode_says_which_tables_were_read(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nothing = Folder(tmp_path / "nothing")
    monkeypatch.setattr("boolcomp.paper.covers.shipped_place", lambda _: nothing)
    paper = ("compile", *SMALL, "--mode", "paper", "--minimizer", "isop", "--json")
    first, again = (run(*paper) for _ in range(2))
    assert "read from the store" not in first.err
    assert "read from the store; to minimise again:" in again.err
    one, other = (json.loads(result.out)["tables"] for result in (first, again))
    assert [item["name"] for item in one] == [f"T{j}{k}" for j in (1, 2) for k in range(1, 7)]
    assert [item["stored"] for item in (*one, *other)] == [False] * 12 + [True] * 12
    assert [item["products"] for item in one] == [item["products"] for item in other]


def test_what_is_said_of_bounds_words_and_bits() -> None:
    outputs = [SimpleNamespace(symbol=name) for name in ("T1", "T2", "T3")]
    found = SimpleNamespace(problem=SimpleNamespace(outputs=outputs))
    wide: Any = SimpleNamespace(compact=found, over_found=(1.99, 35.26, None))
    assert _loose(wide) == ["bound / largest error found: T2 35"]
    wide.over_found = (1.5, None, 1.0)
    assert not _loose(wide)
    nodes = (
        InputWord("another", 6, angle=False),
        InputWord("an_input_of_a_long_name", 4, angle=False),
        Heap((Bits(1, 0, 0, negative=False), Bits(0, 0, 0, negative=True)), 0, 8),
        Heap((Bits(2, 1, 0, negative=False),), 0, 8),
    )
    graph = WordGraph(nodes, (Scale(0, 0.0),) * 4, ())
    assert _words(graph, (), {}).splitlines()[4:] == ["w2       8", "w3       8  w2, scaled"]
    asked = {"q1": 10, "q2": 10, "qd1": 8}
    assert unread({"q1": 10, "q2": 3, "qd1": 0}, asked) == [
        "unused low input bits: q2 3",
        "unused inputs: q1",
    ]
    assert unread(dict.fromkeys(asked, 0), asked) == []


@pytest.mark.slow
def test_evaluated_words_err_no_more_than_compile_says(warm_run: Run) -> None:
    document = json.loads(warm_run("compile", *SMALL, "-o", "c", "--json").out)
    turn = np.array([np.pi, np.pi, 1, 1, 1, 1])
    states = np.random.default_rng(5).uniform(-turn, turn, (5000, 6))
    np.save("s.npy", states)
    given = ("evaluate", "c", "-i", "s.npy", "-o", "tau.npy", "--processes", "2")
    assert warm_run(*given).code == 0
    exact = bc.inverse_dynamics("machado-2r", *np.split(states, 3, axis=1))
    error = np.load("tau.npy") - exact
    for k, joint in enumerate(document["joints"]):
        assert np.sqrt((error[:, k] ** 2).mean()) < 1.05 * joint["rms_error"]
        assert np.abs(error[:, k]).max() <= joint["max_error"] * 1.2
        assert joint["sampled_max"] < joint["worst_found"] <= joint["bound"]
        assert joint["bound_over_found"] == joint["bound"] / joint["worst_found"]
    refused = warm_run(*given, "--shard", "terms")
    assert (refused.code, "a compact program has none" in refused.err) == (2, True)


def test_python_compiles_in_compact_mode_unless_told() -> None:
    assert compact().mode == "compact"
    for worst, bound in zip(compact().worst_found, compact().bound, strict=True):
        assert worst is not None
        assert worst <= bound <= 3.5 * worst
