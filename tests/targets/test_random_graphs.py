"""Graphs of random arms as C and Python give the words that simulating them gives."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import case, small_robot
from exports import run_c, run_python

from boolcomp.codes import Code
from boolcomp.compact.graph.logic import word_logic
from boolcomp.compact.sketch.build import Form
from boolcomp.problem.interval import Interval
from boolcomp.program.program import program_of_network
from boolcomp.targets import export_texts
from boolcomp.targets.tablesums import with_tables_added
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from pathlib import Path

SAMPLES = 3000


@pytest.mark.slow
@pytest.mark.parametrize("saturate", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_graph_of_a_random_arm_is_written_as_it_is_simulated(
    seed: int, tmp_path: Path, *, saturate: bool
) -> None:
    arm = case(small_robot(seed, 1 + seed % 3), form=Form(speeds=bool(seed % 2)))
    graph = arm.graph(0.2, saturate=saturate, bits=5 if saturate else 7)
    codes = {n.name: Code(Interval(-1.0, 1.0), n.bits, "natural") for n in graph.inputs}
    results = [Code(Interval(-1.0, 1.0), r.bits, "natural") for r in graph.results]
    network = word_logic(graph)
    program = program_of_network(arm.problem, 6, codes, results, network)
    (load,) = program.loads
    meanings = tuple(f"w{k}" for k in range(len(graph.nodes)))
    program = replace(program, loads=(replace(load, graph=graph, meanings=meanings),))
    rng = np.random.default_rng(seed)
    words = {n.name: rng.integers(0, 1 << n.bits, SAMPLES) for n in graph.inputs}
    wanted = simulate(graph, words)
    columns = np.stack([words[x.name] for x in program.inputs], axis=1)
    (text,) = export_texts(program, "python").values()
    found = run_python(str(text), columns)
    assert np.array_equal(found[:, :-1], wanted.words)
    flags = sum(found[:, -1] >> k & 1 for k in range(len(results)))
    assert int(np.sum(flags)) == wanted.saturated
    added, said = with_tables_added(graph, meanings)
    assert len(said) == len(added.nodes)
    assert np.array_equal(simulate(added, words).words, wanted.words)
    if shutil.which("gcc"):
        assert np.array_equal(run_c(export_texts(program, "c"), columns, tmp_path), found)
