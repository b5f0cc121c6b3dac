"""The section `bound` of a certificate: claims are confirmed, or refuted with both figures."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from checker.certified import certified, load_of, section

from boolcomp.base import DataError
from boolcomp.checker import LoadFiles, NotCoveredError, PlainBound, bound, check_bound, differences
from boolcomp.compact import CompactChoices, usual_demand
from boolcomp.pipeline import compile_compact

WIDE = "tau1 plain -9.0 9.0\ntau2 plain -9.0 9.0\n"


@cache
def load() -> LoadFiles:
    """Return the smallest program that ships, with its certificate."""
    return load_of(certified(4, proof="tight"))


def of_bounds(text: str) -> dict[str, Any]:
    """Return the steps of the same program with other lines in the section."""
    given = load_of(certified(4))
    other = replace(given, sections={**given.sections, "bound": section(text)})
    return {one.name: one for one in check_bound(other)}


@pytest.mark.check
def test_what_a_certificate_claims_is_confirmed() -> None:
    found = list(check_bound(load()))
    assert [one.name for one in found] == ["no overflow", "error of tau1", "error of tau2"]
    assert all(one.holds and one.cases > 0 for one in found), found


def test_a_sum_that_boxes_do_not_cover_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def overflowing(claim: Any) -> PlainBound:
        plain = PlainBound(claim)
        plain.overflow.append(plain.graph.results[0].node)
        return plain

    def uncovered(*_: object) -> None:
        raise NotCoveredError("the word of an angle is no sum of angles")

    monkeypatch.setattr(bound, "PlainBound", overflowing)
    monkeypatch.setattr(bound, "heap_fits", uncovered)
    fits = next(check_bound(load_of(certified(4))))
    assert (fits.name, fits.method, fits.holds) == ("no overflow", "not checked", None)
    assert fits.note == "the word of an angle is no sum of angles"


@pytest.mark.check
def test_both_figures_are_said_of_a_claim_that_is_too_small() -> None:
    first, second = load().sections["bound"].lines
    name, grade, low, high, *groups = first.split()
    less = " ".join([name, grade, low, f"{float(high) * 0.99:.6f}", *groups])
    for line, said in ((less, "is claimed, but 2."),
                       (f"{name} plain -2.0 2.0", "-2.0000 .. 2.0000 claimed")):  # fmt: skip
        found = of_bounds(f"{line}\n{second}\n")
        assert found["error of tau1"].holds is False
        assert said in found["error of tau1"].note
        assert found["error of tau2"].holds


@pytest.mark.slow
def test_a_bound_of_words_that_may_overflow_is_conditional() -> None:
    fits, first, _ = of_bounds(f"{WIDE}while w7\n").values()
    assert (fits.holds, fits.conditional, first.holds) == (None, True, False)
    assert fits.note == "on the condition that w7 do not overflow, which is not shown"


def test_bounds_of_other_outputs_are_refused() -> None:
    step, *_ = of_bounds("tau1 plain -9.0 9.0\n").values()
    assert step.holds is False
    assert "its outputs are not those" in step.note


@pytest.mark.parametrize("line", [
    "tau1 plain -1 1", "tau1 -1.0 1.0", "tau1 loose -1.0 1.0", "tau1 plain -1.0 nan",
    "tau1 plain -1.0 1e400", "while", "while 3", "tau1 plain -1.0 1.0 qd1;qd2", "",
])  # fmt: skip
def test_a_line_that_is_no_bound_is_named(line: str) -> None:
    with pytest.raises(DataError, match=r"certificate\.txt:2: .* is no bound"):
        of_bounds(f"tau1 plain -9.0 9.0\n{line}\n")


def test_a_certified_bound_is_that_of_the_sketch_and_what_the_sketch_errs_by(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    choices = CompactChoices(usual_demand(4))
    plain = compile_compact("machado-2r", choices).built[0].bounds
    assert plain is not None
    for errs in (0.0, 0.125):
        if errs:
            monkeypatch.setattr(
                "boolcomp.proof.certificates.differences",
                lambda *texts: [replace(x, steps=0.125) for x in differences(*texts)],
            )
        made = compile_compact("machado-2r", replace(choices, certify=True)).program
        for one, other in zip(plain.outputs, made.loads[0].outputs, strict=True):
            most = (max(one.high, -one.low) + Fraction(errs)) * Fraction(one.step)
            assert 0 <= Fraction(other.bound or 0) - most < Fraction(1, 10**5)
