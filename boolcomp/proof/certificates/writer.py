"""Certificates of paper mode, and bounds as the checker confirms them (see `checker.tabled`).

What is claimed of a sum of tables is what was proved of it, or a little more where the checker's
own bound is wider: that counts, too, by how much terms differ from what was asked.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.checker.container import Section
from boolcomp.checker.folder import LoadFiles
from boolcomp.checker.steps import NotCoveredError
from boolcomp.checker.tabled import Sums
from boolcomp.checker.tabledterms import sum_differences
from boolcomp.common.errors import DataError
from boolcomp.program.writing import HEAD, render_program
from boolcomp.proof.bound.result import rounded_up
from boolcomp.proof.certificate.claim import head, with_confirmed_changes
from boolcomp.proof.certificate.origin import origin_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.checker.tabled import Confirmed
    from boolcomp.paper.passes import Covered
    from boolcomp.paper.plan import Plan
    from boolcomp.program.parts import CodedOutput
    from boolcomp.program.program import Program
    from boolcomp.terms.term import Term

CLAIM_DIGITS = 12  # of a claim, rounded outward


def certified(program: Program, made: Sequence[Covered]) -> Program:
    """Return a program with a certificate, and bounds that the checker confirms.

    `made` are the compilations of its loads. Where the checker does not know how to follow, bounds
    stay as they were proved; it says then that this is not checked.
    """
    document = json.loads(render_program(program)[HEAD])
    bits = {one.name: one.code.bits for one in program.inputs}
    loads, lines = [], list[str]()
    for place, (load, one) in enumerate(zip(program.loads, made, strict=True)):
        widths = {x.name: bits.get(x.name, 1) for x in one.plan.problem.inputs}
        origin = origin_text(one.plan.problem, widths, load.payload).splitlines()
        sections = {"origin": origin, "terms": list(_terms(one.plan, None))}
        files = LoadFiles(
            place, document, document["loads"][place], None, None,
            {name: Section(tuple(text), 1) for name, text in sections.items()}, program.networks,
        )  # fmt: skip
        confirmed = _confirmed_sums(files, [output.name for output in load.outputs])
        outputs = [_confirmed_output(*pair) for pair in zip(load.outputs, confirmed, strict=True)]
        loads.append(replace(load, outputs=tuple(outputs)))
        sections["terms"] = list(_terms(one.plan, confirmed))
        sections["bound"] = list(_bounds(outputs, confirmed))
        lines.append(f"== load {place}")
        for name, listed in sections.items():
            lines += [f"= {name}", *listed]
    made_of = with_confirmed_changes(replace(program, loads=tuple(loads)), "\n".join(origin))
    text = head(made_of, [()] * len(loads)) + "".join(f"{line}\n" for line in lines)
    return replace(made_of, certificate=text)


def _confirmed_sums(files: LoadFiles, names: Sequence[str]) -> list[Confirmed | None]:
    """Return what the checker finds of every output, None where it does not know how to."""
    try:
        sums = Sums(files)
        steps = {output.name: output.code.step for output in sums.outputs}
        beside = sum_differences(files.section("origin"), sums.terms, steps)
    except (NotCoveredError, DataError):
        return [None] * len(names)
    found: list[Confirmed | None] = []
    for output in sums.outputs:
        try:
            found.append(sums.confirm(output, beside[output.name]))
        except NotCoveredError:
            found.append(None)
    return found


def _confirmed_output(output: CodedOutput, confirmed: Confirmed | None) -> CodedOutput:
    """Return an output whose bound is no smaller than what is confirmed."""
    if confirmed is None or not math.isfinite(output.bound):
        return output
    low, high = _outward(confirmed.low, confirmed.high)
    step = (Fraction(output.code.range.high) - Fraction(output.code.range.low)) / output.code.cells
    most = max(Fraction(high), -Fraction(low)) * step
    return output if most <= Fraction(output.bound) else replace(output, bound=rounded_up(most))


def _bounds(outputs: Sequence[CodedOutput], confirmed: Sequence[Confirmed | None]) -> Iterator[str]:
    for output, one in zip(outputs, confirmed, strict=True):
        most = Fraction(output.bound) / Fraction(output.code.step)
        low, high = _outward(one.low, one.high) if one else _outward(-most, most)
        yield f"{output.name} {low} {high}"


def _terms(plan: Plan, confirmed: Sequence[Confirmed | None] | None) -> Iterator[str]:
    """Yield what tables stand for; by what their entries err is 0 where it is not known."""
    nothing = (Fraction(0), Fraction(0))
    for output, one in zip(plan.outputs, confirmed or [None] * len(plan.outputs), strict=True):
        ends = one.terms if one else [nothing] * len(output.terms)
        for term, (low, high) in zip(output.terms, ends, strict=True):
            claim = " ".join(_outward(low, high))
            yield f"{output.output.name} {term.term.name} {claim} = {_term_text(term.term)}"
        for left in output.left_out:
            yield f"{output.output.name} left = {_term_text(left)}"


def _term_text(term: Term) -> str:
    """Return a term as waves times powers, with coefficients as they stand."""
    parts = []
    for wave in term.waves():
        powers = dict(wave.powers)
        for variable in term.factor:
            powers[variable.name] = powers.get(variable.name, 0) + 1
        words = [repr(float(wave.cosine)), repr(float(wave.sine))]
        words += [f"{name}*{k}" for name, k in wave.multiples]
        words += [f"{name}^{power}" for name, power in powers.items()]
        parts.append(" ".join(words))
    return " | ".join(parts)


def _outward(low: Fraction, high: Fraction) -> tuple[str, str]:
    """Return both ends as decimals, the first rounded down and the second up."""
    return _claim_decimal(low * 10**CLAIM_DIGITS // 1), _claim_decimal(
        -(-high * 10**CLAIM_DIGITS // 1)
    )


def _claim_decimal(units: int) -> str:
    whole, part = divmod(abs(units), 10**CLAIM_DIGITS)
    return f"{'-' * (units < 0)}{whole}.{part:0{CLAIM_DIGITS}d}"
