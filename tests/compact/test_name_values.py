"""Names of tables beside what the tables hold, at the positions and speeds that words stand for."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import case
from limited import random_limited, with_ranges

from boolcomp.compact.sketch.build import Form
from boolcomp.words.graph import Lookup
from boolcomp.words.names import word_names
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot import Robot

PI = math.pi
EXACT = Form(speeds=False, exact=True)
ARMS = {
    "about 0": with_ranges("elbow-3r", q2=(-PI, PI), q3=(-1.2, 1.2)),
    "about a quarter": with_ranges("elbow-3r", q2=(-PI / 4, 5 * PI / 4), q3=(-5 * PI / 4, PI / 4)),
    "half turns": with_ranges("elbow-3r", q2=(0.9, 3.6), q3=(-1.4, 1.2), qd2=(-0.5, 1)),
    "quarter turns": with_ranges("elbow-3r", q2=(0.2, 1.4), q3=(2.0, 3.2), qd3=(0, 1)),
    "an eighth": with_ranges("machado-2r", q1=(0.5, 1.0), q2=(-1.6, -1.0), qd1=(-0.2, 1)),
    "odd words": with_ranges("machado-2r", q2=(-2, 2.5), word2=(-2.0, 2.5)),
}


def value_of(name: str, columns: dict[str, Any]) -> tuple[NDArray[np.float64], bool]:
    """Return what a name says, and whether it tells the constant."""
    told = re.match(r"-?[\d.]+[+-]", name) is not None
    text = re.sub(r"^c(?=[+-])", "0", name).replace("²", "**2").replace("·", "*")
    text = re.sub(r"(?<![\w.])([\d.]+)(?=[a-z(])", r"\1*", text)
    scope = {**columns, "cos": np.cos, "sin": np.sin, "__builtins__": {}}
    return eval(text, scope), told  # noqa: S307 (our own text)


def misses(robot: Robot, form: Form, allowed: float) -> list[tuple[str, float]]:
    """Return every table's name and what it leaves of the entries, as a part of what it may."""
    inputs = {"qd": 8, "qdd": 8}
    for joint, link in enumerate(robot.links, 1):
        inputs[f"q{joint}"] = 9 + (joint == 1 and not form.exact) - (link.span.part or 0)
    made = case(robot, input_bits=inputs, form=form)
    graph = made.graph(allowed)
    words = made.states(20000, seed=9).words
    columns: dict[str, Any] = {
        name: word.range.low + (words[name] + 0.5) * (word.range.width / 2**word.bits)
        for name, word in made.words.items()
    }
    values: list[Any] = []
    for place in range(len(graph.nodes)):
        known = place < len(graph.inputs)
        name = graph.inputs[place].name if known else ""
        values.append(words[name] if known else node_word(graph, place, values)[0])
    found = []
    spans = {name: word.range for name, word in made.words.items()}
    for node, name in zip(graph.nodes, word_names(graph, spans), strict=True):
        if not isinstance(node, Lookup):
            continue
        if node.read < 3 or name.endswith("fine") or re.search(r"\bf\b|w\d", name):
            found.append((name, 0.0))
            continue
        index = values[node.source] >> graph.nodes[node.source].bits - node.read
        said, told = value_of(name.removesuffix(", scaled"), columns)
        count = np.bincount(index, minlength=1 << node.read)
        there = count > 0
        mean = (np.bincount(index, said, 1 << node.read)[there]) / count[there]
        scale = graph.scales[graph.nodes.index(node)]
        entries = (np.array(node.entries) - (2**node.bits - 1) / 2) * 2.0**scale.lsb + scale.offset
        table = entries[there]
        matrix = np.stack([mean] if told else [mean, np.ones_like(mean)], axis=1)
        # A cell that is hardly reached says little: its states are not about its middle.
        weights = np.sqrt(count[there] / count.sum())
        factors = np.linalg.lstsq(matrix * weights[:, None], table * weights, rcond=None)[0]
        left = float(np.linalg.norm((table - matrix @ factors) * weights))
        allowed_here = max(0.15 * entries.std(), 0.4 * 2.0**scale.lsb)
        found.append((name, left / allowed_here if factors[0] > 0 else math.inf))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("form", [Form(), EXACT], ids=["plain", "exact"])
@pytest.mark.parametrize("arm", ARMS)
def test_tables_hold_what_their_names_say(arm: str, form: Form) -> None:
    found = misses(ARMS[arm], form, 0.1)
    assert not [item for item in found if item[1] > 1]
    assert any("cos" in name or "sin" in name for name, _ in found)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_tables_of_random_limited_arms_hold_what_their_names_say(seed: int) -> None:
    found = misses(random_limited(2, seed), EXACT, 0.1)
    assert not [item for item in found if item[1] > 1]


@pytest.mark.slow
def test_the_pure_cosine_of_a_sum_is_one_where_no_word_is_about_zero() -> None:
    # The word of q2 is -3π/4 .. 5π/4, that of q3 half a turn about -π/4.
    arm = with_ranges("desk-3r", q2=(-2.2, 3.7), q3=(-2.0, 0.4))
    found = misses(arm, EXACT, 0.1)
    names = {name.lstrip("-") for name, _ in found}
    assert {"cos(q2+q3)", "cos(q2)", "sin(2q2)", "sin(2(q2+q3))", "sin(2q2+q3)"} <= names
    assert not [item for item in found if item[1] > 1]


@pytest.mark.check
def test_no_meaning_is_the_name_of_another_word() -> None:
    for arm in ARMS.values():
        made = case(arm, input_bits={"q": 7, "q1": 8, "qd": 8, "qdd": 8}, form=EXACT)
        graph = made.graph(0.1)
        names = word_names(graph, {name: word.range for name, word in made.words.items()})
        own = [f"w{place}" for place in range(len(names))]
        taken = {*own, *(node.name for node in graph.inputs)}
        inputs = len(graph.inputs)
        assert all(
            n not in taken or n == o for n, o in zip(names[inputs:], own[inputs:], strict=True)
        )
