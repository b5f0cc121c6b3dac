"""The height of a term: attained, and proved where it is said to be."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import TURN, input_of, problem_of, random_robot, terms_of

from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.interval import Interval
from boolcomp.problem.robot import load_robot, robot_names
from boolcomp.terms import Term, Wave, amplitude, extrema, output_amplitudes
from boolcomp.terms.extrema import largest

if TYPE_CHECKING:
    from numpy.typing import NDArray

PAPER = {
    "T11": 25.75,
    "T12": 9.0,
    "T13": 5.0,
    "T14": 10.0,
    "T15": 115.15,
    "T21": 9.0,
    "T22": 9.0,
    "T23": 5.0,
    "T24": 49.0,
}


def test_the_papers_amplitudes() -> None:
    found = {
        term.name: amplitude(term).value
        for terms in terms_of("machado-2r").outputs
        for term in terms
    }
    assert found == pytest.approx(PAPER, abs=1e-9)


def grid_height(term: Term, count: int) -> float:
    axes = [np.linspace(v.range.low, v.range.high, count) for v in term.variables]
    mesh = np.meshgrid(*axes, indexing="ij") if axes else []
    values = {v.name: m.ravel() for v, m in zip(term.variables, mesh, strict=True)}
    return float(np.abs(term.evaluate(values)).max())


@pytest.mark.check
@settings(max_examples=10)
@given(st.integers(0, 10_000))
def test_no_grid_point_exceeds_the_amplitude(seed: int) -> None:
    robot = random_robot(seed, joints=1 + seed % 3)
    for term in itertools.chain(*terms_of(robot).outputs):
        found = amplitude(term)
        count = {0: 2, 1: 201, 2: 61, 3: 21}.get(len(term.variables), 9)
        seen = grid_height(term, count)
        assert found.value >= seen * (1 - 1e-9)
        assert found.bound >= found.value
        assert found.value <= seen * 1.5 + 1e-9


@pytest.mark.parametrize("name", ["machado-2r", "planar-3r", "elbow-3r"])
def test_three_variables_are_proved_to_ten_digits(name: str) -> None:
    terms = itertools.chain(*terms_of(name).outputs)
    assert all(amplitude(term).exact for term in terms)


def test_an_extremum_inside_the_range_is_found() -> None:
    """Sin q + sin 2q has its maximum 1.7601725930461 at no multiple of anything."""
    q = input_of("q1", TURN, angle=True)
    found = largest((Wave((("q1", 1),), (), 0.0, 1.0), Wave((("q1", 2),), (), 0.0, 1.0)), (q,))
    assert found.exact
    assert found.value == pytest.approx(1.7601725930461, abs=1e-10)


def test_a_short_range_keeps_a_wave_from_its_crest() -> None:
    q = input_of("q1", Interval(0.5, 1.0), angle=True)
    assert largest((Wave((("q1", 1),), (), 3.0),), (q,)).value == pytest.approx(3 * math.cos(0.5))
    assert largest((Wave((("q1", 2),), (), 0.0, 3.0),), (q,)).value == pytest.approx(3.0)


def test_a_sliding_joints_parabola_counts_its_vertex() -> None:
    q = input_of("q1", Interval(0.0, 1.0))
    bump = (Wave((), (("q1", 1),), 4.0), Wave((), (("q1", 2),), -4.0))
    assert largest(bump, (q,)).value == pytest.approx(1.0, abs=1e-9)
    assert largest(bump, (q,)).exact


def test_the_papers_torques_reach_their_true_extremes() -> None:
    first, second = output_amplitudes(problem_of("machado-2r"))
    assert first == pytest.approx(152.422, abs=1e-3)
    assert second == pytest.approx(69.0711, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in robot_names() if load_robot(n).joints <= 6])
def test_no_sample_exceeds_the_torque_amplitude(name: str) -> None:
    robot = load_robot(name)
    rng = np.random.default_rng(3)
    state = []
    for kind in ("position", "velocity", "acceleration"):
        ranges = [getattr(link, kind) for link in robot.links]
        low, high = [r.low for r in ranges], [r.high for r in ranges]
        state.append(rng.uniform(low, high, (100_000, robot.joints)))
    seen = np.abs(inverse_dynamics(robot, *state)).max(axis=0)
    assert (seen <= np.array(output_amplitudes(problem_of(robot))) * (1 + 1e-9)).all()


def test_a_height_needs_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = load_robot("elbow-3r")
    known = [amplitude(term).value for term in itertools.chain(*terms_of(robot).outputs)]
    extrema.height.cache_clear()
    monkeypatch.setattr(extrema, "_prove", None)
    found = [extrema.height(term) for term in itertools.chain(*terms_of(robot).outputs)]
    assert found == known


def test_a_term_its_half_and_its_opposite_are_searched_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    q = input_of("q1", TURN, angle=True)
    waves = (Wave((("q1", 1),), (), 0.0, 1.25), Wave((("q1", 2),), (), 0.0, 0.375))
    whole = largest(waves, (q,)).value
    monkeypatch.setattr(extrema._Field, "climb", None)  # noqa: SLF001 (a second search would call it)
    assert largest(tuple(wave.scaled(-0.5) for wave in waves), (q,)).value == whole / 2


def test_all_outputs_are_climbed_together() -> None:
    calls = []
    problem = problem_of("elbow-3r")

    def counted(*arrays: NDArray[np.float64]) -> NDArray[np.float64]:
        calls.append(1)
        return problem.reference(*arrays)

    extrema.output_amplitudes.cache_clear()
    output_amplitudes(replace(problem, reference=counted))
    assert len(calls) <= extrema.MOST_ROUNDS + 1


def test_a_field_on_a_grid_is_what_it_is_at_its_points() -> None:
    robot = load_robot("stanford")
    terms = [t for t in itertools.chain(*terms_of(robot).outputs) if len(t.arguments) == 3]
    for term in terms[:8]:
        field = extrema._Field.of(term.waves(), term.arguments)  # noqa: SLF001 (its grid)
        lines = [np.linspace(v.range.low, v.range.high, 5) for v in term.arguments]
        mesh = np.meshgrid(*lines, indexing="ij")
        values = {v.name: m for v, m in zip(term.arguments, mesh, strict=True)}
        exact = sum(wave.evaluate(values) for wave in term.waves())
        assert np.allclose(field.on_grid(lines), np.ravel(exact), rtol=1e-9, atol=1e-9)
