"""Principal moments and what they must obey."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.problem.robot.inertia import check_inertia, principal_moments

ENTRY = st.floats(-5, 5, allow_subnormal=False).map(lambda x: round(x, 6))


@given(ENTRY, ENTRY, ENTRY, ENTRY, ENTRY, ENTRY)
def test_the_closed_form_finds_numpys_eigenvalues(
    xx: float, yy: float, zz: float, xy: float, yz: float, xz: float
) -> None:
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    found = principal_moments((xx, yy, zz, xy, yz, xz))
    assert np.allclose(found, np.linalg.eigvalsh(tensor), atol=1e-6)


def test_a_rod_a_ball_and_a_point_are_bodies() -> None:
    for tensor in ((0, 1, 1, 0, 0, 0), (1, 1, 1, 0, 0, 0), (0, 0, 0, 0, 0, 0)):
        assert check_inertia(tensor) == ("", "")


def test_a_moment_larger_than_the_other_two_is_doubtful() -> None:
    impossible, doubtful = check_inertia((0, 0.35, 0, 0, 0, 0))
    assert not impossible
    assert "no body has principal moments 0, 0, 0.35" in doubtful
