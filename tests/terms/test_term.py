"""One term: its text, its symmetries, its forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import ONE, SHIPPED, TURN, by_name, input_of, random_robot, terms_of
from termtext import parse_term

from boolcomp.problem.interval import Interval
from boolcomp.terms import (
    FORMS,
    Monomial,
    Term,
    Wave,
    evaluate_terms,
)

Q1, Q2 = input_of("q1", TURN, angle=True), input_of("q2", TURN, angle=True)
SLIDE = input_of("q3", Interval(0.5, 1.5))
QD1, QDD1 = input_of("qd1", ONE), input_of("qdd1", ONE)
KNOWN = {v.name: v for v in (Q1, Q2, SLIDE, QD1, QDD1)}


def term(text: str) -> Term:
    return parse_term(text, "T", "torque 1", KNOWN)


TEXTS = [
    "(15.75 + 10 cos q2) qdd1",
    "-5 sin q2 qd1^2",
    "66.15 cos q1 + 49 cos(q1 + q2)",
    "9 qdd1",
    "3 cos(q1 - 2 q2) - 4 sin(q1 - 2 q2)",
    "(0.5 + 2 q3 - 1.5e-07 q3^2 sin q1) qd1",
    "(3 cos q1 + 4 sin q1) qdd1",
    "-2",
]


@pytest.mark.parametrize("text", TEXTS)
def test_reading_a_term_and_writing_it_is_the_identity(text: str) -> None:
    assert str(term(text)) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", SHIPPED)
def test_every_term_of_every_robot_survives_its_text(name: str) -> None:
    for terms in terms_of(name).outputs:
        for item in terms:
            variables = {v.name: v for v in item.variables}
            assert parse_term(str(item), item.name, item.output, variables) == item


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("5 tan q1", r"cannot be read from 'tan q1' on"),
        ("cos q1", r"expected a number before 'cos q1'"),
        ("(1 + 2 cos q1 qdd1", r"expected '\)' before 'qdd1'"),
        ("5 cos q9", r"q9 has no range"),
        ("5 cos(q1 q2)", r"expected '-' before 'q2 \)'"),
        ("5 qdd1 7", r"expected a variable before '7'"),
    ],
)
def test_text_that_is_no_term_is_refused_where_it_goes_wrong(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        term(text)


def test_parity_in_every_variable() -> None:
    assert term("(4 + 5 cos q2) qdd1").parity(Q2) == 1
    assert term("-5 sin q2 qd1^2").parity(Q2) == -1
    assert term("-5 sin q2 qd1^2").parity(QD1) == 1
    assert term("(4 + 5 cos q2) qdd1").parity(QDD1) == -1
    assert term("49 cos(q1 + q2)").parity(Q1) == 0
    assert term("2 q3^2 cos q1").parity(SLIDE) == 1


def test_a_cosine_reflects_at_right_angles_with_its_sign() -> None:
    quarter = math.pi / 2
    assert term("66.15 cos q1").reflections(Q1) == ((0.0, 1), (quarter, -1))
    assert term("2 sin q1").reflections(Q1) == ((0.0, -1), (quarter, 1))
    assert term("(4 + 5 cos q2) qdd1").reflections(Q2) == ((0.0, 1),)
    eighths = ((0.0, 1), (quarter / 2, -1), (quarter, 1), (3 * quarter / 2, -1))
    assert term("3 cos(2 q1)").reflections(Q1) == eighths


def test_a_parabola_reflects_at_its_vertex() -> None:
    assert term("1 - 2 q3 + 1 q3^2").reflection(SLIDE, 1.0) == 1
    assert term("-1 + 1 q3").reflection(SLIDE, 1.0) == -1
    assert term("-1 + 1 q3").reflection(SLIDE, 0.5) == 0


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_reflections_hold_at_random_points(seed: int) -> None:
    robot = random_robot(seed, joints=1 + seed % 3)
    rng = np.random.default_rng(seed)
    for terms in terms_of(robot).outputs:
        for item in terms:
            here = {v.name: rng.uniform(-3, 3, 20) for v in item.variables}
            value = item.evaluate(here)
            for variable in item.variables:
                for point, sign in item.reflections(variable):
                    there = here | {variable.name: 2 * point - here[variable.name]}
                    mirrored = item.evaluate(there)
                    slack = 1e-8 * (1 + np.abs(value).max())
                    assert np.allclose(mirrored, sign * value, rtol=0, atol=slack)


@given(st.integers(0, 3), st.integers(0, 3), st.floats(-4, 4))
def test_a_monomial_is_the_sum_of_its_waves(cosines: int, sines: int, angle: float) -> None:
    monomial = Monomial((("q1", cosines, sines), ("q2", 1, 1)), (("q3", 2),), 2.5)
    values = {"q1": np.array(angle), "q2": np.array(0.7), "q3": np.array(1.3)}
    total = sum(wave.evaluate(values) for wave in monomial.waves())
    assert total == pytest.approx(float(monomial.evaluate(values)), abs=1e-12)


def test_a_wave_with_sine_and_cosine_prints_as_one_cosine_with_a_phase() -> None:
    wave = Wave((("q1", 1), ("q2", -2)), (), 3.0, 4.0)
    assert wave.amplitude == 5.0
    assert wave.phase_text() == "5 cos(q1 - 2 q2 - 0.927295218002)"
    assert Wave((), (("q3", 2),), 4.0).phase_text() == "4 q3^2"


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_a_text_per_term(form: str) -> None:
    torques = terms_of("stanford", form)
    assert len(str(torques).splitlines()) == 6 + sum(map(len, torques.outputs))


def test_part_keeps_only_the_variables_it_needs() -> None:
    gravity = term("66.15 cos q1 + 49 cos(q1 + q2)")
    assert gravity.part(gravity.waves()[:1]).variables == (Q1,)


def test_terms_are_added_at_samples_by_name() -> None:
    q = np.arange(6.0).reshape(3, 2)
    total = evaluate_terms([term("2 qdd1"), term("1 qd1")], by_name(q, q + 10, q + 20))
    assert total.tolist() == [50, 56, 62]
