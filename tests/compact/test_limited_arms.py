"""Compact mode for joints with stops: what words mean, what errors are, what is counted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from compact.word_robots import built_of, case, finest_widths
from limited import random_limited, with_ranges
from samples import terms_of

from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import Demand
from boolcomp.compact.graph.realise import realise
from boolcomp.compact.sketch.build import Form
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval
from boolcomp.words.simulate import node_word, simulate

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.problem.robot import Robot

ARMS: dict[str, Robot | tuple[int, int]] = {
    "stops": with_ranges("machado-2r", q2=(-2.5, 2.5)),
    "parts": with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.9, -1.9)),
    "narrow": with_ranges("machado-2r", q1=(0.7, 0.75), q2=(2.3, 2.4)),
    "elbow": with_ranges("elbow-3r", q1=(-2, 1), q2=(-1.2, 1.2), q3=(0.2, 1.3)),
    "random": (3, 11),  # of `random_limited`, which takes its time
}


def arm_of(name: str) -> Robot:
    arm = ARMS[name]
    return random_limited(*arm) if isinstance(arm, tuple) else arm


@pytest.mark.parametrize(
    ("arm", "form"),
    [
        *((name, Form()) for name in ("stops", "parts", "narrow")),
        *((name, Form(speeds=False, exact=True)) for name in ARMS),
    ],
)
def test_with_fine_words_a_graph_is_newton_euler_at_the_cells_centres(arm: str, form: Form) -> None:
    robot = arm_of(arm)
    # Of the angles of a plain sum only the first may be read to its last bit (see `angles`).
    inputs = {"qd": 8, "qdd": 8}
    for joint, link in enumerate(robot.links, 1):
        inputs[f"q{joint}"] = 9 + (joint == 1 and not form.exact) - (link.span.part or 0)
    made = case(robot, input_bits=inputs, form=form)
    states = made.states(400, seed=9)
    values = made.sketch.evaluate(states.values)
    widths, count = finest_widths(made.sketch, values), robot.joints
    graph = realise(made.sketch, widths, made.model().statistics, [9] * count, [0.0] * count)
    # The state at the centre of every word's cell, by the words' own meaning: low + (k + ½) step.
    columns: dict[str, Any] = {}
    for name, word in made.words.items():
        columns[name] = word.range.low + (states.words[name] + 0.5) * (
            (word.range.high - word.range.low) / 2**word.bits
        )
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


def test_a_word_of_less_than_a_turn_costs_fewer_table_inputs_and_no_product() -> None:
    text = str(case(arm_of("parts")).sketch)
    assert "input q1 10 bits angle of 2^-2 turn" in text
    assert "angle sum" not in text
    assert "angle sum" in str(case(with_ranges(arm_of("parts"), word1=(0.3, 1.4))).sketch)


@pytest.fixture(name="fewer", autouse=True)
def fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 100_000)
    monkeypatch.setattr("boolcomp.compact.remade.FRESH_SAMPLES", 100_000)
    monkeypatch.setattr("boolcomp.compact.widths.passes.QUICK_SEEN", 100_000)


def _compiled(arm: Robot, folder: Path, **choices: Any) -> Any:
    inputs = {"q": 8, "qd": 8, "qdd": 8}
    demand = Demand(bits=5, input_bits=inputs, effort=0.0, **choices)
    return built_of(terms_of(arm), demand, store=folder, workers=ALONE, also_shipped=False)


@pytest.mark.check
@pytest.mark.parametrize(("joints", "seed"), [(1, 1), (1, 2), (2, 3), (2, 4), (3, 6), (4, 8)])
def test_random_arms_with_random_stops_err_by_what_was_demanded(
    joints: int, seed: int, tmp_path: Path
) -> None:
    arm = random_limited(joints, seed)
    built = _compiled(arm, tmp_path, rms=(0.6,))
    compact = built.compact
    rng = np.random.default_rng(99)
    arrays = [
        np.stack([rng.uniform(r.low, r.high, 20_000) for r in ranges], axis=1)
        for ranges in (
            [link.position for link in arm.links],
            [link.velocity for link in arm.links],
            [link.acceleration for link in arm.links],
        )
    ]
    words = {}
    for name, code in compact.input_codes.items():
        kind = name.rstrip("0123456789")
        column = arrays[("q", "qd", "qdd").index(kind)][:, int(name[len(kind) :]) - 1]
        step = (code.range.high - code.range.low) / 2**code.bits
        cell = np.floor((column - code.range.low) / step).astype(np.int64)
        words[name] = cell % 2**code.bits if code.wraps else np.clip(cell, 0, 2**code.bits - 1)
    found = simulate(compact.graph, words)
    steps = np.array([(link.torque.high - link.torque.low) / 2**5 for link in arm.links])
    halves = np.asarray([2.0 ** (result.bits - 1) - 0.5 for result in compact.graph.results])
    reach = halves + 0.5
    exact = np.clip(inverse_dynamics(arm, *arrays) / steps, -reach, reach)
    error = found.words - halves - exact
    assert not found.wrapped
    assert (np.sqrt((error**2).mean(axis=0)) <= 0.6 * 1.02).all()


@pytest.mark.check
@pytest.mark.parametrize("low", [-math.pi, 0.0], ids=["about 0", "from 0"])
def test_stops_cost_about_no_nodes(low: float, tmp_path: Path) -> None:
    # A search without effort scatters by a tenth, either way; benchmarks/stops.py has the figures.
    free = with_ranges("machado-2r", q2=(low, low + 2 * math.pi))
    limited = with_ranges("machado-2r", q2=(low + 0.6, low + 2 * math.pi - 0.6))
    demand = {"rms": (0.43, 0.58)}
    nodes = [
        _compiled(arm, tmp_path / str(k), **demand).nodes for k, arm in enumerate((free, limited))
    ]
    assert nodes[1] <= 1.25 * nodes[0]


@pytest.mark.check
def test_beyond_the_stops_within_the_margin_the_logic_is_right(tmp_path: Path) -> None:
    arm = with_ranges("machado-2r", q1=(-1.0, 1.4), q2=(-2.5, 2.5))
    built = _compiled(arm, tmp_path, rms=(0.5, 0.6))
    margin = 0.019 * 2 * math.pi
    wider = replace(
        arm,
        links=tuple(
            replace(x, position=Interval(x.position.low - margin, x.position.high + margin))
            for x in arm.links
        ),
    )
    rng = np.random.default_rng(5)
    q = np.stack(
        [rng.uniform(x.position.low, x.position.high, 20_000) for x in wider.links], axis=1
    )
    rates = rng.uniform(-1, 1, (2, 20_000, 2)) * [
        [[arm.links[0].velocity.high, arm.links[1].velocity.high]],
        [[arm.links[0].acceleration.high, arm.links[1].acceleration.high]],
    ]
    program = _program(built)
    found = program.evaluate(q, rates[0], rates[1])
    exact = inverse_dynamics(arm, q, rates[0], rates[1])
    steps = np.array([(x.torque.high - x.torque.low) / 2**5 for x in arm.links])
    assert np.sqrt((((found.torques - exact) / steps) ** 2).mean(axis=0)).max() <= 0.75
    assert found.saturated_inputs == 0
    beyond = sum(
        ((q[:, k] < x.position.low) | (q[:, k] > x.position.high)).sum()
        for k, x in enumerate(arm.links)
    )
    assert found.beyond_stops == beyond > 0


def _program(built: Any) -> Any:
    from boolcomp.compact.passes import CompactChoices, program

    return program(built, CompactChoices())
