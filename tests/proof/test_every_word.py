"""The bound of a small program beside all words that there are, at all corners of their cells."""

from __future__ import annotations

import numpy as np
import pytest
from everyword import all_corners

from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.pipeline import compile_compact
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import load_robot

DUST = 1e-6  # LSB: bounds are rounded up
SHORT = 1e-3  # LSB: of what there is climbing misses no more


@pytest.mark.check  # at 4 bits: `benchmarks/exhaustive.py`
def test_at_five_bits_the_bound_is_the_worst_of_all_words_and_corners() -> None:
    compiled = compile_compact("machado-2r", CompactChoices(usual_demand(5), proof="tight"))
    bounds, program = compiled.built[0].bounds, compiled.program
    assert bounds is not None
    found = all_corners(program, inverse_dynamics_problem(load_robot("machado-2r")))
    assert found.words == 1 << 20
    for k, bound in enumerate(bounds.outputs):
        assert bound.grade == "tight"
        assert 0 < bound.remainder < 0.02
        room = bound.remainder + DUST
        assert found.high[k] <= float(bound.high) <= found.high[k] + room
        assert found.low[k] - room <= float(bound.low) <= found.low[k]
    worst = np.maximum(found.high, -found.low)
    lsb = np.array([output.code.step for output in program.outputs])
    assert (worst * lsb <= program.bound).all()
    sought = np.array(program.worst_found, np.float64) / lsb
    assert (worst - SHORT <= sought).all()
    assert (sought <= worst + DUST).all()
