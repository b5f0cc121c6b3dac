"""Word graphs of sketches: what they compute, and what stays of it with narrower inputs."""

from typing import Any

import numpy as np
import pytest
from compact.word_robots import case, small_robot
from limited import random_limited, with_ranges

from boolcomp.compact import Formulation
from boolcomp.problem import Robot, inverse_dynamics, load_robot
from boolcomp.words import narrowed, node_word, parse_graph, simulate

ARMS: dict[str, Robot] = {
    "2r": load_robot("machado-2r"),
    "sliding": small_robot(5, 2),
    "stops": with_ranges("machado-2r", q2=(-2.5, 2.5)),
    "parts": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "narrow": with_ranges("machado-2r", q1=(0.7, 0.75), q2=(2.3, 2.4)),
    "elbow": with_ranges("elbow-3r", q1=(-2, 1), q2=(-1.2, 1.2), q3=(0.2, 1.3)),
    "random": random_limited(2, 11),
}
FINE = [
    *((name, Formulation()) for name in ("2r", "stops", "parts", "narrow")),
    *((name, Formulation(speeds=False, exact=True)) for name in ARMS),
    *(
        (name, form)
        for name in ("2r", "sliding")
        for form in (Formulation(speeds=False), Formulation(chained=True))
    ),
]


@pytest.mark.parametrize(("arm", "form"), FINE)
def test_with_fine_words_a_graph_is_newton_euler_at_the_middles_of_cells(
    arm: str, form: Formulation
) -> None:
    robot = ARMS[arm]
    # Of the angles of a plain sum only the first may be read to its last bit.
    inputs = {"qd": 8, "qdd": 8}
    for joint, link in enumerate(robot.links, 1):
        inputs[f"q{joint}"] = 9 + (joint == 1 and not form.exact) - (link.span.part or 0)
    made = case(robot, input_bits=inputs, form=form)
    states = made.states(400, seed=9)
    graph = made.finest(states)
    columns: dict[str, Any] = {  # what words mean: low + (k + ½) step
        name: word.range.low + (states.words[name] + 0.5) * (word.range.width / 2**word.bits)
        for name, word in made.words.items()
    }
    joints = range(1, robot.joints + 1)
    arrays = [
        np.stack([columns[f"{kind}{j}"] for j in joints], axis=1) for kind in ("q", "qd", "qdd")
    ]
    exact = inverse_dynamics(robot, *arrays) / np.asarray(made.steps)
    words: list[Any] = []
    for place in range(len(graph.nodes)):
        known = states.words.get(getattr(graph.nodes[place], "name", ""))
        words.append(known if known is not None else node_word(graph, place, words)[0])
    for joint, result in enumerate(graph.results):
        scale, size = graph.scales[result.node], graph.nodes[result.node].bits
        value = scale.offset + 2.0**scale.lsb * (words[result.node] - 2.0 ** (size - 1) + 0.5)
        assert np.abs(value - exact[:, joint]).max() < 2e-3


@pytest.mark.parametrize("robot", ["machado-2r", small_robot(3, 2)])
def test_the_text_of_a_graph_is_read_back(robot: str | Robot) -> None:
    graph = case(robot).graph(0.4)
    assert parse_graph(str(graph)) == graph
    assert parse_graph(str(narrowed(graph))) == narrowed(graph)


@pytest.mark.parametrize("robot", ["machado-2r", small_robot(3, 2)])
def test_narrowed_inputs_give_the_same_outputs(robot: str | Robot) -> None:
    arm = case(robot)
    graph = arm.graph(0.4)
    narrow = narrowed(graph)
    words = arm.states(500, seed=3).words
    gone = {a.name: a.bits - b.bits for a, b in zip(graph.inputs, narrow.inputs, strict=True)}
    assert any(gone.values())
    shifted = {name: words[name] >> bits for name, bits in gone.items()}
    expected = simulate(graph, words).words
    assert np.array_equal(simulate(narrow, shifted).words, expected)
    assert narrowed(narrow) == narrow
