"""Functions that are no robot's: their spectra are split into the terms they were made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import TURN, input_of

from boolcomp.measure.report import draw_samples, error_rows
from boolcomp.measure.report.chart import errors_figure
from boolcomp.measure.report.tabulate import cells
from boolcomp.paper.plan import Options, make_plan
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Group, Output, Problem
from boolcomp.problem.spectra import Summand, derivative, grid, sparse, spectra_of, transform
from boolcomp.terms import FORMS, evaluate_terms, split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.spectra import Spectra

    Floats = NDArray[np.float64]

LEFT, RIGHT = input_of("left", TURN, angle=True), input_of("right", TURN, angle=True)
BOOM, PULL = input_of("boom", Interval(0.5, 2.0)), input_of("pull", Interval(-3.0, 3.0))
AXES = (LEFT, RIGHT, BOOM)
SIZES = (5, 3, 3)


def _still(left: Floats, right: Floats, boom: Floats) -> Floats:
    return np.asarray(3 + 2 * boom * np.sin(left - right) - 0.5 * boom**2 * np.cos(2 * left))


def _slope(left: Floats, right: Floats, boom: Floats) -> Floats:
    return np.asarray(1.5 * np.cos(right) - 0.25 * boom + 0 * left)


def _sampled(function: object) -> Floats:
    assert callable(function)
    return np.asarray(function(*grid(AXES, SIZES).T)).reshape(SIZES)


def _form() -> Spectra:
    summands = [
        Summand((PULL,), sparse(AXES, transform(AXES, _sampled(_slope)), 3.0)),
        Summand((), sparse(AXES, transform(AXES, _sampled(_still)), 3.0)),
    ]
    return spectra_of(AXES, [summands], 3.0)


def _reference(place: Floats, pull: Floats) -> Floats:
    left, right, boom = place.T
    return (_still(left, right, boom) + pull[:, 0] * _slope(left, right, boom))[:, None]


CRANE = Problem(
    name="crane",
    key="a crane",
    inputs=(*AXES, PULL),
    outputs=(Output("height", "H", Interval(-16.0, 16.0), "m"),),
    groups=(Group("place", ("left", "right", "boom")), Group("pull", ("pull",))),
    returned=Group("height", ("height",)),
    reference=_reference,
    form=_form,
    plural="heights",
)


def test_a_function_is_split_into_the_terms_it_was_made_of() -> None:
    assert str(split(CRANE)).splitlines() == [
        "H = H1 + H2",
        "  H1 = (-0.25 boom + 1.5 cos right) pull",
        "  H2 = 3 - 0.5 boom^2 cos(2 left) + 2 boom sin(left - right)",
    ]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_it_adds_up_to_it(form: str) -> None:
    arrays = CRANE.draw(200, 1)
    (terms,) = split(CRANE, form).outputs
    found = evaluate_terms(terms, CRANE.columns(arrays))
    assert found == pytest.approx(CRANE.reference(*arrays)[:, 0], abs=1e-12)


def test_a_derivative_is_the_derivative() -> None:
    spectrum = transform(AXES, _sampled(_still))
    angles = [
        lambda u, v, d: 2 * d * np.cos(u - v) + d**2 * np.sin(2 * u),
        lambda u, v, d: -2 * d * np.cos(u - v),
        lambda u, v, d: 2 * np.sin(u - v) - d * np.cos(2 * u),
    ]
    for place, function in enumerate(angles):
        expected = transform(AXES, _sampled(function))
        assert derivative(AXES, spectrum, place) == pytest.approx(expected, abs=1e-12)


def test_a_transform_is_kept_by_its_harmonics_and_powers_without_rounding() -> None:
    assert {k: round(c.real, 12) for k, c in _form().outputs[0][0].coefficient.items()} == {
        (0, 0, 1): -0.25, (0, 1, 0): 0.75, (0, -1, 0): 0.75,
    }  # fmt: skip


def test_monomials_know_any_harmonic() -> None:
    spectra = spectra_of(
        (LEFT,), [[Summand((), {(-5,): -0.5j, (5,): 0.5j, (4,): 1, (-4,): 1})]], 1.0
    )
    (terms,) = split(replace(CRANE, form=lambda: spectra), "products").outputs
    x = np.linspace(-3, 3, 50)
    found = evaluate_terms(terms, {"left": x})
    assert found == pytest.approx(2 * np.cos(4 * x) - np.sin(5 * x), abs=1e-12)


@pytest.mark.slow
def test_plans_and_reports_say_its_names_and_units() -> None:
    plan = make_plan(split(CRANE), Options(bits=6))
    (row,) = rows = error_rows(plan, draw_samples(CRANE, 2000))
    assert row.total.max <= row.bound
    assert cells(rows)[0][3] == "H"
    panel = errors_figure(rows).axes[0]
    assert (panel.get_title(), panel.get_ylabel()) == ("height", "error, m")
    assert str(plan).splitlines()[:2] == [
        "crane: 6 bits, gray code", "H gray 6 bits, -16 .. 16, 1 guard bits",
    ]  # fmt: skip
