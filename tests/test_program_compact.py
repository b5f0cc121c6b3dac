"""Programs in compact mode: one network makes all torques."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from compact.word_robots import Case, case
from small_programs import stages

from boolcomp.codes import Code
from boolcomp.common.errors import UsageError
from boolcomp.compact.graph.logic import word_logic
from boolcomp.engines import make_engine
from boolcomp.logic.simulation import Planes
from boolcomp.problem.interval import Interval
from boolcomp.program.family import family_of
from boolcomp.program.parts import JointNetwork, Slice
from boolcomp.program.program import program_of_network
from boolcomp.program.programfile import load_program
from boolcomp.program.writing import save_program
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.engines import EngineName
    from boolcomp.program.program import Program
    from boolcomp.words.graph import WordGraph


@cache
def arm() -> tuple[Case, WordGraph, Program]:
    """Return the paper's arm at 5 bits with generous errors, its graph and its program."""
    found = case("machado-2r", bits=5)
    graph = found.graph(allowed=0.5, bits=5)
    inputs = {
        node.name: Code(found.words[node.name].range, node.bits, "natural") for node in graph.inputs
    }
    codes = [
        Code(Interval(-step * 2 ** (r.bits - 1), step * 2 ** (r.bits - 1)), r.bits, "natural")
        for step, r in zip(found.steps, graph.results, strict=True)
    ]
    return (
        found,
        graph,
        program_of_network(found.problem, 5, inputs, codes, word_logic(graph)),
    )


def test_its_words_are_those_of_the_word_graph_on_both_engines() -> None:
    found, graph, program = arm()
    arrays = found.problem.draw(3000, 7)
    simulated = simulate(graph, found.states(3000, 7).words)
    engines: tuple[EngineName, ...] = ("numpy", "llvm")
    for engine in engines:
        assert np.array_equal(program.evaluate(*arrays, engine=engine).words, simulated.words)


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    program = arm()[2]
    save_program(program, tmp_path / "p")
    assert load_program(tmp_path / "p") == program


def test_how_tight_a_bound_is_is_saved_where_it_is_known(tmp_path: Path) -> None:
    program = arm()[2]
    (load,) = program.loads
    first, second = load.outputs
    load = replace(load, outputs=(replace(first, bound=1.0, grade="tight"), second))
    save_program(replace(program, loads=(load,)), tmp_path / "p")
    found = json.loads((tmp_path / "p" / "program.json").read_text())["loads"][0]["outputs"]
    assert [one.get("grade") for one in found] == ["tight", None]  # as in older programs
    assert [one.grade for one in load_program(tmp_path / "p").outputs] == ["tight", ""]


def test_a_family_selects_by_payload() -> None:
    found, _, program = arm()
    other = found.graph(allowed=1.5, bits=5)
    joint = program.loads[0].joint
    assert joint is not None
    read = [program.inputs[word.input] for word in joint.words]
    heavy = program_of_network(
        found.problem,
        5,
        {word.name: word.code for word in read},
        [output.code for output in program.outputs],
        word_logic(other),
        2.5,
    )
    family = family_of([program, heavy])
    arrays = found.problem.draw(100, 3)
    assert family.payloads == (0.0, 2.5)
    for member in (program, heavy):
        payload = member.payloads[0]
        torques = family.torques(*arrays, payload=payload)
        assert np.array_equal(torques, member.torques(*arrays))


def test_all_logic_of_a_program_is_one_network() -> None:
    _, _, paper = stages(4)
    for program in (arm()[2], paper):
        network = program.network()
        ports = program.wiring().ports
        rng = np.random.default_rng(1)
        words = [rng.integers(0, port.code.cells, 64) for port in ports]
        planes = [
            sum(int(word >> bit & 1) << k for k, word in enumerate(column))
            for port, column in zip(ports, words, strict=True)
            for bit in reversed(range(port.code.bits))
        ]
        outputs = iter(network.fold(Planes((1 << 64) - 1), planes))
        arrays = [np.zeros((64, 2), np.uint32) for _ in range(3)]
        for port, column in zip(ports, words, strict=True):
            arrays[port.array][:, port.column] = column
        expected = program.evaluate_words(*arrays)
        for place, output in enumerate(program.outputs):
            cells = output.code.index(expected.words[:, place])
            for bit in reversed(range(output.code.bits)):
                assert next(outputs) == sum(int(c >> bit & 1) << k for k, c in enumerate(cells))
            next(outputs)


def test_parts_that_do_not_fit_are_refused() -> None:
    program = arm()[2]
    load = program.loads[0]
    assert load.joint is not None
    short = JointNetwork(0, load.joint.words[1:])
    with pytest.raises(ValueError, match="does not fit its words"):
        replace(program, loads=(replace(load, joint=short),))
    missing = JointNetwork(1, load.joint.words)
    with pytest.raises(ValueError, match="no network"):
        replace(program, loads=(replace(load, joint=missing),))
    beyond = JointNetwork(0, (Slice(99, 8, 0), *load.joint.words))
    with pytest.raises(ValueError, match="reads bits that no input word has"):
        replace(program, loads=(replace(load, joint=beyond),))
    with pytest.raises(UsageError, match="no payload"):
        program.torques([0, 0], [0, 0], [0, 0], payload=3.0)


def test_its_wiring_runs_on_any_engine_with_few_samples() -> None:
    program = arm()[2]
    engine = make_engine(program.wiring(), "numpy")
    assert engine.wiring.results[0].code == program.outputs[0].code
    assert program.torques([0.1, 0.2], [0, 0], [0, 0]).shape == (2,)


def test_threads_give_the_same_words() -> None:
    found, _, program = arm()
    arrays = found.problem.draw(70_000, 3)
    alone = program.evaluate(*arrays)
    shared = program.evaluate(*arrays, threads=2)
    assert np.array_equal(alone.words, shared.words)
    assert alone.saturated_inputs == shared.saturated_inputs
