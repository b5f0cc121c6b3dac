"""Bounds of a certified program are of what was asked: what its sketch errs by is part of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from checker.sections import shipped, with_line

from boolcomp.checker import bound
from boolcomp.checker.sketch import beside_asked, differences
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.pipeline import compile_compact


def test_a_certified_bound_is_that_of_the_sketch_and_what_the_sketch_errs_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain = compile_compact("machado-2r", CompactChoices(usual_demand(4)))
    certified = compile_compact("machado-2r", CompactChoices(usual_demand(4), certify=True))
    ends = plain.built[0].bounds
    assert ends is not None
    for one, other in zip(ends.outputs, certified.program.loads[0].outputs, strict=True):
        most = max(one.high, -one.low) * Fraction(one.step)
        assert 0 <= Fraction(other.bound) - most < Fraction(1, 10**6) + Fraction(1, 10**9)
    monkeypatch.setattr(
        "boolcomp.proof.certificate.asked.differences",
        lambda *texts: [replace(x, steps=0.125) for x in differences(*texts)],
    )
    farther = compile_compact("machado-2r", CompactChoices(usual_demand(4), certify=True))
    for one, other in zip(ends.outputs, farther.program.loads[0].outputs, strict=True):
        most = (max(one.high, -one.low) + Fraction(1, 8)) * Fraction(one.step)
        assert other.bound == pytest.approx(float(most), abs=1e-5)


def test_a_sketch_that_errs_more_than_the_program_says_is_told() -> None:
    load = shipped()
    assert beside_asked(load, "tau2") < 1e-9
    assert all(step.holds for step in bound.check_bound(load))
    changed = with_line(load, "origin", "alpha = 0", "alpha = 0.005")
    assert 0.0001 < beside_asked(changed, "tau2") < 2**-6
    notes = [step.note for step in bound.check_bound(changed) if not step.holds]
    assert any("tau2: program.json says" in note for note in notes)
