"""What a function reaches over a box: both ends, on either side of zero."""

from __future__ import annotations

import numpy as np
import pytest

from boolcomp.problem.extremes import extremes


@pytest.mark.parametrize("middle", [3.0, -3.0, 0.0])
def test_both_ends_are_found_wherever_zero_lies(middle: float) -> None:
    """The least of what is always positive takes no more rounds than the largest.

    An input that nothing depends on gives equal heights, which are no gain.
    """
    calls: list[int] = []

    def exact(x: np.ndarray) -> np.ndarray:
        calls.append(len(x))
        return np.asarray(middle + np.cos(3 * x[:, :1] + 0.4) * np.sin(2 * x[:, 1:2]))

    bounds = -np.ones(3), np.ones(3)
    _, most = extremes(exact, bounds, samples=100, best=2, fine=1e-6)
    assert most[:, 0] == pytest.approx([middle + 1, 1 - middle], abs=1e-9)
    assert len(calls) < 60
