"""Terms of robots some of whose variables are single values."""

from __future__ import annotations

import numpy as np
import pytest
from limited import with_ranges
from samples import by_name, random_robot, terms_of

from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.terms import evaluate_terms


@pytest.mark.parametrize("form", ["grouped", "amplitude-phase", "products"])
@pytest.mark.parametrize("seed", range(12))
def test_terms_with_values_put_in_are_newton_euler_there(seed: int, form: str) -> None:
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


def test_gravity_alone_has_one_term_without_speeds() -> None:
    still = with_ranges("machado-2r", qd1=(0, 0), qd2=(0, 0), qdd1=(0, 0), qdd2=(0, 0))
    texts = [[str(term) for term in terms] for terms in terms_of(still).outputs]
    assert texts == [["66.15 cos q1 + 49 cos(q1 + q2)"], ["49 cos(q1 + q2)"]]


def test_terms_without_speeds_stay_behind_those_with_them() -> None:
    held = with_ranges("machado-2r", qd2=(0.5, 0.5), qdd2=(0.25, 0.25))
    for terms in terms_of(held).outputs:
        bare = [not term.factor for term in terms]
        assert bare == sorted(bare)
        assert bare[-1]
        assert not bare[0]
