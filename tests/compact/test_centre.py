"""What a decoder takes off: the mean of the errors, at no cost in logic."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.common.cache import sealed, unsealed
from boolcomp.common.files import shipped
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors.centre import GRAIN, decoder_shifts
from boolcomp.compact.errors.measure import Errors
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import load_robot
from boolcomp.proof.worst import Worst
from boolcomp.terms import split

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


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


def test_moved_errors_are_those_of_moved_samples() -> None:
    samples = np.random.default_rng(1).normal([0.2, -0.3], [0.5, 0.4], (1000, 2))
    by = np.array([-0.25, 0.125])
    moved, again = errors_from(samples).moved(by), errors_from(samples + by)
    for name in ("rms", "max", "mean", "ends"):
        assert np.allclose(getattr(moved, name), getattr(again, name), atol=1e-12), name


def test_the_decoder_takes_off_the_mean_to_a_part_in_sixty_four() -> None:
    samples = np.random.default_rng(2).normal([0.126, -0.002], 0.5, (100_000, 2))
    shifts = decoder_shifts(errors_from(samples), worst_of([3, -3], [2, -2]), ())
    assert shifts.tolist() == [-round(samples[:, 0].mean() * GRAIN) / GRAIN, 0.0]


@pytest.mark.parametrize(
    ("most", "kept"), [((), -0.125), ((3.2,), -0.125), ((3.05,), 0.0), ((2.9,), 0.0)]
)
def test_a_demanded_maximum_is_not_broken_by_the_decoder(
    most: tuple[float, ...], kept: float
) -> None:
    samples = np.full((4, 1), 0.125)
    shifts = decoder_shifts(errors_from(samples), worst_of([2.5, -3.0]), most)
    assert shifts.tolist() == [kept]


def worst_of(*errors: list[float]) -> Worst:
    outputs = len(errors)
    none = np.zeros((outputs, 2, 1))
    return Worst(np.array(errors, np.float64), none, 0, none[:, :0])


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
def test_a_result_of_before_signs_were_kept_is_measured_again_and_kept(tmp_path: Path) -> None:
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
