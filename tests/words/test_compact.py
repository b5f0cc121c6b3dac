"""Compact mode from end to end."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pytest
from words.word_robots import case, run_network, small_robot

from boolcomp.errors import UsageError
from boolcomp.robot import load_robot
from boolcomp.terms import split_torques
from boolcomp.words.compact import Compact, Demand, compile_words, measure, paper_rms
from boolcomp.words.simulate import simulate

PAPER = (0.43, 0.58)


@cache
def machado() -> Compact:
    demand = Demand(rms=PAPER, effort=0.02)
    return compile_words(split_torques(load_robot("machado-2r")), demand)


@pytest.mark.slow
def test_the_2r_at_8_bits_takes_fewer_than_780_nodes_at_the_papers_error() -> None:
    found = machado()
    errors = measure(found.graph, case("machado-2r", bits=8).states(100_000, seed=123))
    assert (errors.rms <= np.array(PAPER) * 1.01).all()
    assert (errors.max <= [2.15, 3.04]).all()
    assert not errors.wrapped
    network = found.network()
    assert len(network.nodes) <= 780
    assert network.depth <= 40


def test_its_network_gives_the_simulated_words() -> None:
    found = machado()
    words = case("machado-2r", bits=8).states(1000, seed=5).words
    torques, _ = run_network(found.network(), found.graph, words)
    assert np.array_equal(torques, simulate(found.graph, words).words)


def test_codes_say_what_the_words_stand_for() -> None:
    found = machado()
    arm = case("machado-2r", bits=8)
    states = arm.states(500, seed=6)
    values = [c.decode(states.words[name]) for name, c in found.input_codes.items()]
    names = list(found.input_codes)
    assert names == [node.name for node in found.graph.inputs]
    for name, value in zip(names, values, strict=True):
        word = arm.words[name]
        zero = word.range.low + np.pi if word.full else word.range.centre
        cells = (value - zero) / (1.0 if word.full else word.step)
        assert np.abs(cells - states.values[name]).max() <= (0.51 if not word.full else word.step)
    words = simulate(found.graph, states.words).words
    for joint, code in enumerate(found.torque_codes):
        error = code.decode(words[:, joint]) / arm.steps[joint] - states.torques[:, joint]
        assert np.abs(error).max() < 3


def test_without_a_demand_the_error_of_the_papers_tables_is_allowed() -> None:
    rms = paper_rms(split_torques(load_robot("machado-2r")), 8)
    assert rms == pytest.approx([0.425, 0.587], abs=0.02)


def test_an_error_below_rounding_is_refused() -> None:
    with pytest.raises(UsageError, match="rounding alone"):
        compile_words(split_torques(load_robot("machado-2r")), Demand(rms=(0.1,), effort=0))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_random_arms_compile_within_their_budget(seed: int) -> None:
    robot = small_robot(seed, 1 + seed % 3)
    found = compile_words(split_torques(robot), Demand(bits=6, rms=(0.55,), effort=0.1))
    errors = measure(found.graph, case(robot, bits=6).states(50_000, seed=77))
    assert (errors.rms <= 0.55 * 1.02).all()
    assert not errors.wrapped


@pytest.mark.slow
def test_the_result_is_the_same_under_any_hash_seed() -> None:
    script = (
        "from boolcomp.robot import load_robot\n"
        "from boolcomp.terms import split_torques\n"
        "from boolcomp.words.compact import Demand, compile_words\n"
        "found = compile_words(split_torques(load_robot('elbow-3r')), "
        "Demand(rms=(0.6,), effort=0.05))\n"
        "print(found.graph)\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
