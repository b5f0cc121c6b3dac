"""Both ends of what sums of tables err by, beside what states in a fine grid err by."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.checker import DoesNotHoldError, Sums, read_program
from boolcomp.paper import Options, PaperChoices
from boolcomp.pipeline import compile_paper

if TYPE_CHECKING:
    from pathlib import Path

GRAVITY = PaperChoices(Options(bits=4), evaluations=0, certify=True)


@pytest.mark.slow
def test_the_errors_that_are_confirmed_are_hardly_larger_either_way_than_those_found(
    tmp_path: Path,
) -> None:
    program = compile_paper("machado-2r", GRAVITY, of="gravity").program
    program.save(tmp_path / "a")
    (load,) = read_program(tmp_path / "a").loads
    sums = Sums(load)
    q = np.stack(np.meshgrid(*[np.linspace(-np.pi, np.pi, 301)] * 2), axis=-1).reshape(-1, 2)
    first, both = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    exact = np.stack([66.15 * first + 49 * both, 49 * both], axis=1)
    wrong = (program(q) - exact) / [float(one.code.step) for one in sums.outputs]
    for output, found in zip(sums.outputs, wrong.T, strict=True):
        confirmed = sums.confirm(output, Fraction(0))
        assert confirmed.low <= found.min() <= found.max() <= confirmed.high
        assert confirmed.low > 1.15 * found.min()
        assert confirmed.high < 1.15 * found.max()
        assert all(low < 0 < high for low, high in confirmed.terms)


@pytest.mark.slow
def test_an_output_that_is_held_at_zero_is_no_sum_of_tables(tmp_path: Path) -> None:
    compile_paper("machado-2r", GRAVITY, of="gravity").program.save(tmp_path / "a")
    (load,) = read_program(tmp_path / "a").loads
    first, *others = load.said["outputs"]
    held = {**load.said, "outputs": [{**first, "rest": ["q1"]}, *others]}
    with pytest.raises(DoesNotHoldError, match="is held at zero, which sums of tables are not"):
        Sums(replace(load, said=held))
