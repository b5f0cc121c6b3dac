"""Torques as sums of terms: the paper's coefficients, and equality with Newton-Euler."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import SHIPPED, by_name, random_robot, random_states, terms_of

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import Robot, load_robot
from boolcomp.terms import FORMS, Terms, evaluate_terms


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


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SHIPPED)
def test_terms_add_up_to_newton_euler_on_shipped_robots(name: str, form: str) -> None:
    if form != FORMS[0] and load_robot(name).joints > 6:
        return  # half a minute each, and of the iiwa14 the same again
    assert error(load_robot(name), terms_of(name, form)) < 1e-10


@pytest.mark.slow
@given(st.integers(0, 10_000), st.sampled_from(FORMS))
def test_terms_add_up_to_newton_euler_on_random_robots(seed: int, form: str) -> None:
    robot = random_robot(seed, joints=1 + seed % 4)
    assert error(robot, terms_of(robot, form), seed) < 1e-10


COUNTS = [
    ("machado-2r", 9, 13, 15),
    ("planar-3r", 24, 50, 73),
    ("elbow-3r", 21, 40, 74),
    ("puma560", 120, 1153, 1011),
    ("stanford", 96, 890, 411),
]


@pytest.mark.parametrize(("name", "grouped", "waves", "products"), COUNTS)
def test_the_number_of_terms_is_what_theory_gives(
    name: str, grouped: int, waves: int, products: int
) -> None:
    robot = load_robot(name)
    found = [sum(map(len, terms_of(robot, form).outputs)) for form in FORMS]
    assert found == [grouped, waves, products]


@pytest.mark.slow
def test_the_whole_puma_takes_less_than_a_fifth_of_a_processor_second() -> None:
    robot = load_robot("puma560")
    terms_of(robot)
    best = min(_seconds(lambda: terms_of(robot)) for _ in range(5))
    assert best < 0.2


def _seconds(work: object) -> float:
    assert callable(work)
    start = time.process_time()
    work()
    return time.process_time() - start


def test_an_unknown_form_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"form 'groups' \(did you mean 'grouped'"):
        terms_of("machado-2r", "groups")


def test_many_terms_are_numbered_so_that_names_sort() -> None:
    names = [term.name for term in terms_of("puma560").outputs[0]]
    assert names == sorted(names)
    assert names[0] == "T1.01"
