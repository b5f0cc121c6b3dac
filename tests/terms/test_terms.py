"""Torques as sums of terms: texts, symmetries, forms, and equality with Newton-Euler."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limited import with_ranges
from samples import ONE, TURN, by_name, input_of, problem_of, random_robot, random_states, terms_of
from termtext import parse_term

from boolcomp.base.errors import UsageError
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.problem import with_words
from boolcomp.problem.robot.library import load_robot, robot_names
from boolcomp.problem.words import Interval, formats
from boolcomp.terms import extrema
from boolcomp.terms.extract import FORMS, Terms, number_terms, resting, split
from boolcomp.terms.extrema import largest, output_amplitudes
from boolcomp.terms.terms import Monomial, Term, Wave, collect, evaluate_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import Input


def test_the_papers_arm_has_exactly_the_papers_terms() -> None:
    assert str(terms_of("machado-2r")) == (
        "T1 = T11 + T12 + T13 + T14 + T15\n"
        "  T11 = (15.75 + 10 cos q2) qdd1\n"
        "  T12 = (4 + 5 cos q2) qdd2\n"
        "  T13 = -5 sin q2 qd2^2\n"
        "  T14 = -10 sin q2 qd1 qd2\n"
        "  T15 = 66.15 cos q1 + 49 cos(q1 + q2)\n"
        "T2 = T21 + T22 + T23 + T24\n"
        "  T21 = (4 + 5 cos q2) qdd1\n"
        "  T22 = 9 qdd2\n"
        "  T23 = 5 sin q2 qd1^2\n"
        "  T24 = 49 cos(q1 + q2)"
    )


def error(robot: Robot, torques: Terms, seed: int = 0) -> float:
    """Return the largest error against Newton-Euler, relative to the largest torque."""
    q, qd, qdd = random_states(robot, 200, seed)
    values = by_name(q, qd, qdd)
    sums = np.stack([evaluate_terms(terms, values) for terms in torques.outputs], axis=1)
    exact = inverse_dynamics(robot, q, qd, qdd)
    return float(np.abs(sums - exact).max() / (1 + np.abs(exact).max()))


BOTH = [
    pytest.param(name, form, marks=[pytest.mark.check] if load_robot(name).joints > 6 else [])
    for name in robot_names()
    for form in FORMS
    if form == FORMS[0] or load_robot(name).joints <= 6
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), BOTH)
def test_terms_of_shipped_robots_add_up_to_newton_euler(name: str, form: str) -> None:
    assert error(load_robot(name), terms_of(name, form)) < 1e-10


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from(FORMS))
def test_terms_of_random_robots_add_up_to_newton_euler(seed: int, form: str) -> None:
    robot = random_robot(seed, joints=1 + seed % 4)
    assert error(robot, terms_of(robot, form), seed) < 1e-10


COUNTS = [("machado-2r", 9, 13, 15), ("elbow-3r", 21, 40, 74), ("stanford", 96, 890, 411)]


@pytest.mark.parametrize(("name", "grouped", "waves", "products"), COUNTS)
def test_the_number_of_terms_is_what_theory_gives(
    name: str, grouped: int, waves: int, products: int
) -> None:
    robot = load_robot(name)
    found = [sum(map(len, terms_of(robot, form).outputs)) for form in FORMS]
    assert found == [grouped, waves, products]


def test_the_message_for_an_unknown_form_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="form 'groups'; did you mean 'grouped"):
        terms_of("machado-2r", "groups")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_terms_with_fixed_variables_are_newton_euler_at_their_values(seed: int, form: str) -> None:
    rng = np.random.default_rng(seed)
    robot = random_robot(seed, 3)
    held = {
        f"{kind}{joint}": 2 * (float(rng.choice([0.0, rng.uniform(-1, 1)])),)
        for kind in ("q", "qd", "qdd")
        for joint in (1, 2, 3)
        if rng.uniform() < 0.4
    }
    torques = terms_of(with_ranges(robot, **held), form)
    names = {v.name for terms in torques.outputs for term in terms for v in term.variables}
    assert not names & set(held)
    q, qd, qdd = (rng.uniform(-2, 2, (50, 3)) for _ in range(3))
    for name, (value, _) in held.items():
        {"q": q, "qd": qd, "qdd": qdd}[name[:-1]][:, int(name[-1]) - 1] = value
    exact = inverse_dynamics(robot, q, qd, qdd)
    values = by_name(q, qd, qdd)
    for joint, terms in enumerate(torques.outputs):
        found = evaluate_terms(terms, values)
        assert np.abs(found - exact[:, joint]).max() <= 1e-9 * max(1, np.abs(exact).max())


Q1, Q2 = input_of("q1", TURN, angle=True), input_of("q2", TURN, angle=True)
SLIDE = input_of("q3", Interval(0.5, 1.5))
QD1, QDD1 = input_of("qd1", ONE), input_of("qdd1", ONE)
KNOWN = {v.name: v for v in (Q1, Q2, SLIDE, QD1, QDD1)}


def term(text: str) -> Term:
    return parse_term(text, "T", "torque 1", KNOWN)


def value_of(text: str, values: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return what the text of a term says at values, read as Python."""
    called = re.sub(r"(cos|sin) (\w+)", r"\1(\2)", text)
    python = re.sub(r"(?<=[\w)]) (?=[\w(])", "*", called).replace("^", "**")
    return np.asarray(eval(python, {"cos": np.cos, "sin": np.sin, **values}))  # noqa: S307 (ours)


@pytest.mark.parametrize("name", ["elbow-3r", "puma560", "stanford"])
def test_the_text_of_a_term_says_what_the_term_evaluates_to(name: str) -> None:
    robot = load_robot(name)
    values = by_name(*random_states(robot, 5, 1))
    for item in itertools.chain(*terms_of(name).outputs):
        assert value_of(str(item), values) == pytest.approx(item.evaluate(values), rel=1e-9)


def test_parity_in_every_variable() -> None:
    assert term("(4 + 5 cos q2) qdd1").parity(Q2) == 1
    assert term("-5 sin q2 qd1^2").parity(Q2) == -1
    assert term("-5 sin q2 qd1^2").parity(QD1) == 1
    assert term("(4 + 5 cos q2) qdd1").parity(QDD1) == -1
    assert term("49 cos(q1 + q2)").parity(Q1) == 0
    assert term("2 q3^2 cos q1").parity(SLIDE) == 1


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


def test_an_extremum_inside_the_range_is_found() -> None:
    """Sin q + sin 2q has its maximum 1.7601725930461 at no multiple of anything."""
    q = input_of("q1", TURN, angle=True)
    found = largest((Wave((("q1", 1),), (), 0.0, 1.0), Wave((("q1", 2),), (), 0.0, 1.0)), (q,))
    assert found.exact
    assert found.value == pytest.approx(1.7601725930461, abs=1e-10)


def test_the_papers_torques_reach_their_true_extremes() -> None:
    first, second = output_amplitudes(problem_of("machado-2r"))
    assert first == pytest.approx(152.422, abs=1e-3)
    assert second == pytest.approx(69.0711, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["machado-2r", "desk-3r"])
def test_no_sample_exceeds_the_torque_amplitude(name: str) -> None:
    robot = load_robot(name)
    state = problem_of(robot).draw(100_000, 3)
    seen = np.abs(inverse_dynamics(robot, *state)).max(axis=0)
    assert (seen <= np.array(output_amplitudes(problem_of(robot))) * (1 + 1e-9)).all()


def drawn_wave(rng: np.random.Generator, variables: tuple[Input, ...]) -> Wave:
    """Return a random wave in some of the variables, angles with multiples and others powers."""
    multiples = tuple((v.name, int(rng.integers(-2, 3))) for v in variables if v.angle)
    powers = tuple((v.name, int(rng.integers(0, 3))) for v in variables if not v.angle)
    turns = tuple(one for one in multiples if one[1])
    sine = float(rng.integers(-3, 4)) if turns else 0.0
    return Wave(turns, tuple(one for one in powers if one[1]), float(rng.integers(1, 4)), sine)


def drawn_sum(seed: int) -> tuple[tuple[Wave, ...], tuple[Input, ...], float, float]:
    """Return one to three waves over a short box, the most of 61 grid points an axis, and slack."""
    rng = np.random.default_rng(seed)
    ranges = [Interval(low, low + rng.uniform(0.2, 2)) for low in rng.uniform(-3, 2, 3)]
    own = (
        input_of("q1", ranges[0], angle=True),
        input_of("q2", ranges[1], angle=True),
        input_of("q3", ranges[2]),
    )[seed % 2 : 2 + seed % 2]
    waves = tuple(drawn_wave(rng, own) for _ in range(1 + seed % 3))
    mesh = np.meshgrid(*(np.linspace(v.range.low, v.range.high, 61) for v in own), indexing="ij")
    values = {v.name: m.ravel() for v, m in zip(own, mesh, strict=True)}
    found = np.abs(sum(wave.evaluate(values) for wave in waves)).reshape(61, 61)
    jumps = [float(np.abs(np.diff(found, axis=axis)).max()) for axis in (0, 1)]
    return waves, own, float(found.max()), sum(jumps) / 2


def test_heights_in_short_boxes_are_those_of_a_dense_grid() -> None:
    for seed in range(30):
        waves, own, seen, slack = drawn_sum(seed)
        found = largest(waves, own)
        assert seen * (1 - 1e-9) <= found.value <= seen + slack, seed
        assert found.value <= found.bound <= found.value * (1 + 1e-6), seed  # of ridges not exact


def test_no_grid_point_exceeds_a_bound_that_is_proved_of_too_low_a_height() -> None:
    """Branch and bound must not close boxes that hold more than what was attained."""
    for seed in range(12):
        waves, own, seen, _ = drawn_sum(seed)
        field = extrema._WaveArrays.of(waves, own)  # noqa: SLF001 (the proof itself)
        ceiling = field.ceiling()
        assert ceiling == pytest.approx(
            sum(
                wave.amplitude
                * math.prod(v.reach.magnitude ** dict(wave.powers).get(v.name, 0) for v in own)
                for wave in waves
            )
        )
        bound = extrema._prove(field, 0.98 * seen)  # noqa: SLF001 (the proof itself)
        assert seen * (1 - 1e-9) <= bound <= ceiling * (1 + 1e-9), seed
        assert extrema._prove(field, 1.01 * seen + 0.01) >= seen  # noqa: SLF001 (the proof itself)


def test_beyond_three_variables_a_bound_is_the_sum_of_amplitudes() -> None:
    many = tuple(input_of(f"q{k}", TURN, angle=True) for k in range(1, 5))
    waves = tuple(Wave(((v.name, 1),), (), 1.0) for v in many)
    beside = Wave((("q1", 1), ("q2", 1)), (), 0.0, 1.0)
    found = largest((*waves, beside), many)
    assert found.bound == 5.0
    assert 4 <= found.value < 4.9
    assert not found.exact
    proved = largest((*waves[:3], beside), many[:3])
    assert proved.exact
    assert proved.bound < 3.9


def test_a_height_that_all_waves_reach_together_is_its_own_bound() -> None:
    found = largest((Wave((("q1", 1),), (), 2.0), Wave((("q2", 1),), (), 1.0)), (Q1, Q2))
    assert (found.value, found.bound) == (3.0, 3.0)


def test_a_reflection_is_found_where_and_only_where_it_holds() -> None:
    rng = np.random.default_rng(1)
    variables = (Q1, Q2, SLIDE)
    points = [0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4, 1.0]
    signs = []
    for _ in range(60):
        waves = tuple(drawn_wave(rng, variables) for _ in range(rng.integers(1, 3)))
        cosine, sine = rng.integers(0, 2, 2)
        waves = collect(
            (w.multiples, w.powers, complex(w.cosine * (cosine or not w.sine), -w.sine * sine))
            for w in waves
        )
        if not waves:
            continue
        factor = (QD1, QD1, QDD1)[: rng.integers(0, 4)]
        item = Term("", "T", waves, variables, factor)
        here = {v.name: rng.uniform(-3, 3, 9) for v in item.variables}
        value = item.evaluate(here)
        for variable in item.variables:
            for point in points:
                mirrored = item.evaluate(here | {variable.name: 2 * point - here[variable.name]})
                holds = [s for s in (1, -1) if np.allclose(mirrored, s * value, atol=1e-9)]
                signs.append(item.reflection(variable, point))
                assert signs[-1] == (holds[0] if holds else 0), (str(item), variable, point)
    assert {signs.count(sign) > 40 for sign in (-1, 0, 1)} == {True}


def test_texts_of_products_and_of_phases_say_what_terms_evaluate_to() -> None:
    values = by_name(*random_states(load_robot("elbow-3r"), 5, 1))
    for form in FORMS[1:]:
        for item in itertools.chain(*terms_of("elbow-3r", form).outputs):
            for text in (str(item), item.phase_text()):
                raised = re.sub(r"(cos|sin)\^(\d) (\w+)", r"\1(\3)^\2", text)
                assert value_of(raised, values) == pytest.approx(item.evaluate(values), abs=1e-9)


def test_names_of_terms_have_as_many_digits_as_their_number() -> None:
    one = term("2 qdd1")
    for count, first, last in ((9, "T1", "T9"), (10, "T.01", "T.10"), (100, "T.001", "T.100")):
        names = [each.name for each in number_terms("T", [one] * count)]
        assert (names[0], names[-1], len(set(names))) == (first, last, count)


def test_an_output_is_known_to_rest_where_all_its_factors_do() -> None:
    """Of the paper's arm at rest gravity remains; without it speeds and accelerations multiply."""
    level = replace(load_robot("machado-2r"), gravity=(0.0, 0.0, 0.0))

    def rests(robot: Robot, codes: tuple[str, ...]) -> object:
        return resting(split(with_words(problem_of(robot), formats("words", codes))))

    both = ("tau1=9:tread", "tau2=9:tread")
    assert rests(level, both) == (("qd1", "qd2", "qdd1", "qdd2"), ("qd1", "qdd1", "qdd2"))
    assert rests(level, both[1:]) == (None, ("qd1", "qdd1", "qdd2"))
    assert rests(load_robot("machado-2r"), both) == (None, None)
    assert rests(level, ()) == ()
    assert rests(with_ranges(level, qd2=(-1, 1.5)), both) == (None, ("qd1", "qdd1", "qdd2"))
