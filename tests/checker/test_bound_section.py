"""The section `bound` of a certificate: claims are confirmed, or refuted with both figures."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from checker.certified import certified, load_of, section, shipped, steps, with_line

from boolcomp.base import ALONE, DataError
from boolcomp.checker import LoadFiles, NotCoveredError, PlainBound, bound, check_bound, differences
from boolcomp.compact import CompactChoices, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.problem import parse_function

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


@pytest.mark.check
def test_a_plain_bound_that_the_checker_does_not_reach_is_claimed_as_wide_as_it_finds() -> None:
    demand = usual_demand(4, {"q": 6}, rms=(0.8,), effort=0.0)
    choices = CompactChoices(demand, proof="plain", certify=True)
    found = load_of(compile_compact("machado-2r", choices, of="gravity").program)
    assert [line.split()[1] for line in found.sections["bound"].lines] == ["plain", "plain"]
    assert all(one.holds for one in check_bound(found))


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
def test_a_program_that_says_less_than_its_certificate_is_refused() -> None:
    fits, *others = of_bounds(WIDE).values()
    assert fits.holds
    assert [one.holds for one in others] == [False, False]
    assert "the bound in program.json is" in others[0].note


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


@pytest.mark.slow
def test_the_bound_of_a_function_without_terms_is_confirmed(tmp_path: Path) -> None:
    text = """
name = "root"
[inputs.x]
range = [0, 1]
bits = 5
[outputs.r]
expression = "sqrt(0.1 + x)"
range = [0, 1.5]
"""
    choices = CompactChoices(
        usual_demand(5, effort=0.0, rms=(1.0,)), tmp_path / "store", also_shipped=False,
        workers=ALONE, proof="tight", certify=True,
    )  # fmt: skip
    compile_compact(parse_function(text), choices).program.save(tmp_path / "root")
    assert steps(tmp_path / "root")["error of r"].holds


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


@pytest.mark.slow
def test_a_sketch_that_errs_more_than_the_program_says_is_refused() -> None:
    exact = shipped()
    assert all(step.holds for step in check_bound(exact))
    changed = with_line(exact, "origin", "alpha = 0", "alpha = 0.005")
    most = max(x.steps for x in differences(*(changed.section(x) for x in ("origin", "sketch"))))
    assert 0.0001 < most < 2**-6
    notes = [step.note for step in check_bound(changed) if not step.holds]
    assert any("tau2: the bound in program.json is" in note for note in notes)
