"""The errors and the cost that the model predicts, beside measured errors, bounds and networks."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compact.word_robots import TEN, case, logarithm, searched
from numpy.typing import NDArray
from samples import terms_of

import boolcomp as bc
from boolcomp.base.files import shipped
from boolcomp.base.store import sealed, unsealed
from boolcomp.compact.costs import LEVEL, costs_of
from boolcomp.compact.demand import TARGETS, Demand, Target, usual_demand
from boolcomp.compact.errors import (
    GRAIN,
    Errors,
    Sampling,
    decoder_shifts,
    deviations,
    every_state,
    is_countable,
    is_exact,
    measure,
    measure_many,
    paper_rms,
)
from boolcomp.compact.network import word_depth, word_logic
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.compact.promise import BoundTask
from boolcomp.compact.realisation import realise
from boolcomp.compact.result import Compact
from boolcomp.compact.search import Descent, choose_widths
from boolcomp.logic.synthesis import Objective
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.words import Interval
from boolcomp.proof.worst import Worst
from boolcomp.terms.extract import split
from boolcomp.words.graph import Bits, Heap, InputWord, OutputWord, Scale, WordGraph


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machado-2r", "elbow-3r"])
def test_errors_and_nodes_are_about_as_predicted(name: str) -> None:
    arm = case(name, bits=8)
    descent = arm.chosen(0.3)
    count = len(arm.steps)
    graph = realise(
        arm.sketch, descent.widths, descent.model.statistics, [8] * count, [0.0] * count
    )
    errors = measure(graph, arm.states(10_000, seed=8))
    predicted = np.sqrt(descent.noise)
    assert (np.abs(errors.rms / predicted - 1) < 0.2).all()
    built = len(word_logic(graph).nodes)
    assert abs(descent.cost / built - 1) < 0.15


@pytest.mark.parametrize(("target", "counted"), [
    ("luts", 8),  # four full adders, the first of two inputs: an XOR and a carry each
    ("gates", 28),  # of three and a half gates each
    ("carry", 4),  # a table and a carry for every bit
    ("dsp", 4),
])  # fmt: skip
def test_a_sum_of_two_words_of_four_bits(target: Target, counted: int) -> None:
    x, y = (InputWord(name, 4, angle=False) for name in "xy")
    total = Heap((Bits(0, 0, 0, negative=False), Bits(1, 0, 0, negative=False)), 0, 5)
    graph = WordGraph((x, y, total), (Scale(0, 0.0),) * 3, (OutputWord(2, 0, 5),))
    assert costs_of(Demand(target=target)).graph(graph) == counted


def arm_for(target: Target, bits: int, objective: Objective = "nodes") -> Compact:
    """Return the graph that a search without effort finds for an arm."""
    demand = Demand(
        bits=bits, rms=(0.5, 0.6), target=target, objective=objective, effort=0.0,
        usual_input=bits + 2,
    )  # fmt: skip
    return searched(terms_of("machado-2r"), demand)


def test_the_model_of_the_worst_says_what_the_plain_bound_is() -> None:
    terms = terms_of("machado-2r")
    demand = usual_demand(6, TEN).completed(terms.problem)
    allowed = np.array([1.5, 2.5])
    search = BoundTask(terms, demand, allowed, np.full(2, np.inf)).search(0)
    widths, _ = choose_widths(search.model, allowed)
    said = Descent(search.model, widths, allowed).noise
    found = np.array(search.bounded(widths, np.zeros(2)).bounds.steps)
    assert (said <= allowed).all()
    assert np.abs(said / found - 1).max() < 0.15


@pytest.mark.slow
def test_the_objective_depth_counts_levels() -> None:
    compact = arm_for("luts", 4, "depth")
    nodes = costs_of(Demand()).graph(compact.graph)
    assert word_depth(compact.graph) == word_logic(compact.graph).depth > 8
    levels = round(LEVEL * word_depth(compact.graph))
    assert costs_of(compact.demand).graph(compact.graph) == nodes + levels
    assert compact.nodes == nodes


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS[1:])
def test_every_target_is_searched_for_and_keeps_the_errors(target: Target) -> None:
    compact = arm_for(target, 4)
    assert (compact.errors.rms <= (0.5, 0.6)).all()
    assert compact.nodes == costs_of(compact.demand).graph(compact.graph)
    assert abs(compact.predicted_cost / compact.nodes - 1) < 0.25


def errors_from(samples: NDArray[np.float64]) -> Errors:
    ends = np.array([[max(column), min(column)] for column in samples.T])
    return Errors(
        np.array([np.sqrt(np.mean(column * column)) for column in samples.T]),
        np.array([max(map(abs, column)) for column in samples.T]),
        np.array([sum(column) / len(column) for column in samples.T]),
        (),
        0,
        len(samples),
        ends,
    )


def worst_of(*errors: list[float]) -> Worst:
    outputs = len(errors)
    none = np.zeros((outputs, 2, 1))
    return Worst(np.array(errors, np.float64), none, 0, none[:, :0])


def test_moved_errors_are_those_of_moved_samples() -> None:
    samples = np.random.default_rng(1).normal([0.2, -0.3], [0.5, 0.4], (1000, 2))
    by = np.array([-0.25, 0.125])
    moved, again = errors_from(samples).moved(by), errors_from(samples + by)
    for name in ("rms", "max", "mean", "ends"):
        assert np.allclose(getattr(moved, name), getattr(again, name), atol=1e-12), name
    with pytest.raises(ValueError, match="errors without their signs cannot be moved"):
        replace(errors_from(samples), ends=None).moved(by)


@pytest.mark.parametrize(
    ("most", "kept"), [((), -0.125), ((3.2,), -0.125), ((3.05,), 0.0), ((2.9,), 0.0)]
)
def test_a_demanded_maximum_is_not_broken_by_the_decoder(
    most: tuple[float, ...], kept: float
) -> None:
    samples = np.full((4, 1), 0.125)
    shifts = decoder_shifts(errors_from(samples), worst_of([2.5, -3.0]), most)
    assert shifts.tolist() == [kept]


def test_blocks_of_states_are_measured_as_one() -> None:
    arm = case("machado-2r")
    graph = arm.graph(0.4)
    sampling = Sampling(arm.problem, {"q": 10, "qd": 10, "qdd": 10}, 6, 70_000, 9)
    errors = measure_many(sampling, graph)
    parts = [deviations(graph, states)[0] for _, states in sampling.blocks(graph)]
    every = np.concatenate(parts)
    assert len(parts) == 3
    assert len(every) == errors.samples == 70_000
    assert errors.rms == pytest.approx(np.sqrt((every**2).mean(axis=0)))
    assert errors.max.tolist() == np.abs(every).max(axis=0).tolist()
    assert errors.mean == pytest.approx(every.mean(axis=0))


def test_few_words_are_enumerated() -> None:
    (states,) = every_state(logarithm(5), {"x": 5})
    assert np.allclose(states[:, 0], (np.arange(32) + 0.5) / 32)
    assert is_exact(logarithm(5), {"x": 16})
    loose = logarithm(5, exact=False)
    assert is_countable(loose, {"x": 5})
    assert not is_exact(loose, {"x": 5})
    (ends,) = every_state(loose, {"x": 5})
    assert (np.bincount(np.floor(ends[:, 0] * 32).astype(int)) == 2).all()


@pytest.mark.parametrize("exact", [True, False])
def test_cells_outside_the_range_of_an_input_are_left_out(*, exact: bool) -> None:
    whole = logarithm(4, exact=False)
    stopped = replace(whole.inputs[0], range=Interval(0.2, 0.8), exact=exact)
    problem = replace(whole, inputs=(stopped,), key=f"some {exact}")
    (states,) = every_state(problem, {"x": 4})
    assert 0.2 <= states.min() < states.max() <= 0.8


def test_states_beyond_the_range_of_a_saturating_output_err_by_half_a_step_or_little_more() -> None:
    robot = load_robot("machado-2r")
    links = [
        replace(one, torque=Interval(one.torque.low * 0.3, one.torque.high * 0.3))
        for one in robot.links
    ]
    terms = terms_of(replace(robot, links=tuple(links)))
    plain = paper_rms(terms, 6)
    exact = terms.problem.reference(*terms.problem.draw(20_000, 5))
    beyond = (np.abs(exact) > [one.range.high for one in terms.problem.outputs]).mean(axis=0)
    least = np.sqrt(beyond / 4 + (1 - beyond) * plain**2)
    assert (abs(least / plain - 1) > 0.05).all()
    both = paper_rms(terms, 6, saturating=[True, True])
    assert both == pytest.approx(least * 1.02, rel=0.02)
    assert paper_rms(terms, 6, saturating=[True, False]).tolist() == [both[0], plain[1]]


@pytest.mark.slow
def test_the_torques_of_a_program_have_no_mean_error() -> None:
    program = bc.compile("machado-2r", bits=8)
    rng = np.random.default_rng(5)
    q, qd, qdd = (rng.uniform(-r, r, (100_000, 2)) for r in ranges())
    exact = bc.inverse_dynamics("machado-2r", q, qd, qdd)
    found = program.evaluate(q, qd, qdd)
    step = np.array([400 / 256, 200 / 256])
    error = (found.values - exact) / step
    assert np.abs(error.mean(axis=0)).max() < 0.01
    middles = (found.words + 0.5) * step - [200, 100]
    plain = (middles - exact) / step
    assert plain[:, 1].mean() > 0.1
    assert (error**2).mean(axis=0)[1] < (plain**2).mean(axis=0)[1] - 0.01


def ranges() -> list[float]:
    link = load_robot("machado-2r").links[0]
    return [link.position.high, link.velocity.high, link.acceleration.high]


@pytest.mark.check
def test_an_older_result_without_signs_of_errors_is_measured_again(tmp_path: Path) -> None:
    (path,) = shipped("tables").glob("machado-2r-4.7*.compact.json")
    document = json.loads(unsealed(path.read_text()))
    ends = document["fresh"].pop("ends")
    mine = tmp_path / path.name
    mine.write_text(sealed(json.dumps(document, indent=0)))
    terms = split(inverse_dynamics_problem(load_robot("machado-2r")))
    demand = usual_demand(4, {"q": 6, "qd": 6, "qdd": 6})
    built = build(terms, CompactChoices(demand, tmp_path, also_shipped=False))
    assert built.stored
    assert np.abs(built.errors.mean).max() < 1 / GRAIN
    assert json.loads(unsealed(mine.read_text()))["fresh"]["ends"] == ends
