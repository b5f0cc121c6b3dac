"""The section `bound` of a certificate: what it claims is confirmed, or the step says what is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from boolcomp.checker.bound import check_bound, read_bounds
from boolcomp.checker.chain import check_program
from boolcomp.checker.container import Section, parse
from boolcomp.checker.folder import LoadFiles, read_program
from boolcomp.common.errors import DataError
from boolcomp.common.workers import ALONE
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.result.explained import explained
from boolcomp.pipeline import compile_compact
from boolcomp.problem.written.functionfile import parse_function
from boolcomp.proof.bound.cells import cell_bounds

if TYPE_CHECKING:
    from pathlib import Path


def section(text: str) -> Section:
    return Section(tuple(text.splitlines()), 7)


@cache
def load() -> LoadFiles:
    """Return the smallest program that ships, with its certificate."""
    made = compile_compact(
        "machado-2r", CompactChoices(usual_demand(4), proof="tight", certify=True)
    )
    (sections,) = parse(made.program.certificate).loads
    outputs = [{"bound": one} for one in made.program.bound]
    said: dict[str, Any] = {"outputs": outputs}
    return LoadFiles(0, {}, said, made.program.loads[0].graph, None, sections)


def with_bounds(text: str) -> LoadFiles:
    """Return the same with other lines in the section."""
    return replace(load(), sections={**load().sections, "bound": section(text)})


@pytest.mark.slow
def test_what_a_certificate_claims_is_confirmed() -> None:
    steps = list(check_bound(load()))
    assert [one.name for one in steps] == ["no overflow", "error of tau1", "error of tau2"]
    assert all(one.holds for one in steps), steps
    assert all(one.cases > 0 for one in steps)


@pytest.mark.slow
def test_a_plain_bound_that_the_checker_does_not_reach_is_claimed_as_wide_as_it_finds() -> None:
    demand = usual_demand(4, {"q": 6}, rms=(0.8,), effort=0.0)
    made = compile_compact(
        "machado-2r", CompactChoices(demand, proof="plain", certify=True), of="gravity"
    )
    (sections,) = parse(made.program.certificate).loads
    assert [line.split()[1] for line in sections["bound"].lines] == ["plain", "plain"]
    said: dict[str, Any] = {"outputs": [{"bound": one} for one in made.program.bound]}
    steps = list(check_bound(LoadFiles(0, {}, said, made.program.loads[0].graph, None, sections)))
    assert all(one.holds for one in steps), steps


@pytest.mark.slow
def test_of_a_claim_that_is_too_small_both_figures_are_said() -> None:
    first, second = load().sections["bound"].lines
    name, grade, low, high, *groups = first.split()
    less = " ".join([name, grade, low, f"{float(high) * 0.99:.6f}", *groups])
    steps = {one.name: one for one in check_bound(with_bounds(f"{less}\n{second}\n"))}
    assert steps["error of tau1"].holds is False
    assert "is claimed, and 2." in steps["error of tau1"].note
    assert steps["error of tau2"].holds
    plain = f"{name} plain -2.0 2.0\n{second}\n"
    steps = {one.name: one for one in check_bound(with_bounds(plain))}
    assert steps["error of tau1"].holds is False
    assert "-2.0000 .. 2.0000 claimed" in steps["error of tau1"].note


@pytest.mark.slow
def test_a_program_that_says_less_than_its_certificate_is_found_out() -> None:
    lines = "tau1 plain -9.0 9.0\ntau2 plain -9.0 9.0\n"
    steps = list(check_bound(with_bounds(lines)))
    assert steps[0].holds
    assert [one.holds for one in steps[1:]] == [False, False]
    assert "program.json says" in steps[1].note


@pytest.mark.slow
def test_a_program_with_a_bound_and_words_that_may_overflow_is_found_out() -> None:
    lines = "tau1 plain -9.0 9.0\ntau2 plain -9.0 9.0\nwhile w7\n"
    steps = list(check_bound(with_bounds(lines)))
    assert (steps[0].holds, steps[0].conditional) == (None, True)
    assert steps[0].note == "while w7 do not overflow, which is not shown"
    assert steps[1].holds is False


@pytest.mark.slow
def test_outputs_that_are_others_are_refused() -> None:
    step, *_ = check_bound(with_bounds("tau1 plain -9.0 9.0\n"))
    assert step.holds is False
    assert "other outputs" in step.note


@pytest.mark.parametrize("line", [
    "tau1 plain -1 1", "tau1 -1.0 1.0", "tau1 loose -1.0 1.0", "tau1 plain -1.0 nan",
    "tau1 plain -1.0 1e400", "while", "while 3", "tau1 plain -1.0 1.0 qd1;qd2", "",
])  # fmt: skip
def test_a_line_that_is_no_bound_is_named(line: str) -> None:
    with pytest.raises(DataError, match=r"certificate\.txt:8: .* is no bound"):
        read_bounds(section(f"tau0 plain -1.0 1.0\n{line}\n"))


@pytest.mark.slow
def test_of_a_function_without_terms_the_bound_is_that_which_the_checker_confirms(
    tmp_path: Path,
) -> None:
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
    made = compile_compact(parse_function(text), choices)
    found = made.built[0]
    ((low, high),) = cell_bounds(explained(found.compact, found.ends), 1).ends
    step = Fraction(found.compact.output_codes[0].step)
    assert made.program.bound[0] >= max(high, -low) * step
    made.program.save(tmp_path / "root")
    checked = {one.name: one for one in check_program(read_program(tmp_path / "root"))}
    assert checked["error of r"].holds
