"""Check the section `bound`: limits of every output's error (word minus exact value), in steps.

    tau1 plain -5.937 5.937              proved node by node (see `plain`)
    tau2 tight -3.601 3.669 qd1 qd2 | qdd1      proved over all cells of its angles, with these
                                         groups of linear inputs, independent for given angles
    while w31 w41                        words not proved to be wide enough: all steps of the
                                         section are then conditional on these words

A claim is accepted as soon as the plain bound confirms it, whatever its grade. If cells and groups
do not, boxes of inputs are halved until all confirm the claim (see `boxes`), up to a limit.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.boxes import BoxedOutput, BoxSteps, heap_fits
from boolcomp.checker.folder import (
    CheckedCases,
    DoesNotHoldError,
    NotCoveredError,
    VerdictStep,
    checked,
)
from boolcomp.checker.graph import claim_of
from boolcomp.checker.plain import PlainBound
from boolcomp.checker.problem import sketch_error
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import CertificateSection, LoadFiles

FITTING, BOXES = 100_000_000, 200_000  # steps over all boxes for a word; boxes for an output
HALF = Fraction(-1, 2)  # a saturated word is up to half a step off
_NUMBER = r"(-?\d{1,9}\.\d{1,40})"
_LINE = re.compile(rf"(\w+) (plain|tables|tight) {_NUMBER} {_NUMBER}((?: \w+| \|)*)")
_WHILE = re.compile(r"while((?: w\d{1,6})+)")


@dataclass(frozen=True, slots=True)
class ClaimedBound:
    """The claim about an output, and the groups of its linear inputs."""

    name: str
    grade: str
    low: Fraction
    high: Fraction
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ClaimedBounds:
    """The claims about all outputs, on the condition that the `unproved` words do not overflow."""

    outputs: tuple[ClaimedBound, ...]
    unproved: tuple[int, ...]


def read_bounds(section: CertificateSection) -> ClaimedBounds:
    """Read the section; a `DataError` names the invalid line."""
    outputs: list[ClaimedBound] = []
    unproved: tuple[int, ...] = ()
    for row, line in enumerate(section.lines):
        found, condition = _LINE.fullmatch(line), _WHILE.fullmatch(line)
        if found and not unproved:
            groups = tuple(tuple(one.split()) for one in found[5].split("|") if one.split())
            ends = Fraction(found[3]), Fraction(found[4])
            outputs.append(ClaimedBound(found[1], found[2], *ends, groups))
        elif condition and not unproved:
            unproved = tuple(int(word[1:]) for word in condition[1].split())
        else:
            raise DataError(f"{shown(line)} is no bound", where=section.where(row))
    return ClaimedBounds(tuple(outputs), unproved)


def check_bound(load: LoadFiles) -> Iterator[VerdictStep]:
    """Check the section of a load: sums fit their words, and every output keeps its limits."""
    bounds = read_bounds(load.section("bound"))
    words = " ".join(f"w{k}" for k in bounds.unproved)
    for step in _steps(load, bounds):
        if words and step.holds:
            note = f"on the condition that {words} do not overflow, which is not shown"
            note += f"; {step.note}" if step.note else ""
            yield replace(step, holds=None, note=note, conditional=True)
        else:
            yield step


def _steps(load: LoadFiles, bounds: ClaimedBounds) -> Iterator[VerdictStep]:
    made: list[PlainBound] = []

    def fits() -> CheckedCases:
        plain, boxes = PlainBound(claim_of(load)), 0
        steps = BoxSteps(plain)
        made.append(plain)
        for word in sorted(set(plain.overflow) - set(bounds.unproved)):
            boxes += heap_fits(steps, word, FITTING)
        if [one.name for one in bounds.outputs] != [one.name for one in plain.claim.outputs]:
            raise DoesNotHoldError("bound: its outputs are not those of the sketch")
        return CheckedCases(sum(isinstance(node, Heap) for node in plain.graph.nodes) + boxes)

    yield checked("no overflow", "enclosures of all sums", fits)
    for plain in made:
        for column, one in enumerate(bounds.outputs):
            yield _checked(load, plain, column, one, bounds)


def _checked(
    load: LoadFiles, plain: PlainBound, column: int, one: ClaimedBound, bounds: ClaimedBounds
) -> VerdictStep:
    low, high = plain.error(plain.claim.outputs[column], column).ends
    enough = one.low <= low and high <= one.high
    step = plain.claim.outputs[column].step
    confirmed = f"{float(low):.4f} .. {float(high):.4f}"
    claimed = f"{float(one.low):.4f} .. {float(one.high):.4f}"

    def holds() -> CheckedCases:
        _same_as_printed(load, column, one, step, proved=not bounds.unproved)
        if enough:
            return CheckedCases(len(plain.seen), f"{claimed} steps claimed, {confirmed} confirmed")
        if one.grade == "plain":
            raise DoesNotHoldError(f"{one.name}: {claimed} claimed, {confirmed} confirmed")
        try:
            cases, note = confirm_tighter(plain, column, one)
        except NotCoveredError as error:
            both = f"{claimed} claimed, {confirmed} confirmed, node by node"
            raise NotCoveredError(f"{both}: {error}") from error
        return CheckedCases(cases, f"{claimed} steps claimed and confirmed{note}")

    method = "node by node" if enough or one.grade == "plain" else "cells and boxes"
    return checked(f"error of {one.name}", method, holds)


def confirm_tighter(plain: PlainBound, column: int, one: ClaimedBound) -> tuple[int, str]:
    """Confirm a claim over all cells of its angles, or over boxes; return their number, a note."""
    from boolcomp.checker.tight import Tight  # noqa: PLC0415 (compiled loops take a second)

    try:
        return Tight(plain, column, one.groups).confirm(one.low, one.high), ""
    except NotCoveredError:
        return confirm_in_boxes(plain, column, one.low, one.high), " in boxes"
    except DoesNotHoldError as error:
        with suppress(NotCoveredError):
            return confirm_in_boxes(plain, column, one.low, one.high), " in boxes"
        raise DoesNotHoldError(f"{one.name}: {error}") from error


def confirm_in_boxes(plain: PlainBound, column: int, low: Fraction, high: Fraction) -> int:
    """Confirm the limits of an output's error over boxes; return their number."""
    if plain.claim.outputs[column].rest is not None or max(low, -high) > HALF:
        raise NotCoveredError("an output is held at zero, or its bound is below half a step")
    return BoxedOutput(plain, column).confirm(low, high, BOXES)


def _same_as_printed(
    load: LoadFiles, column: int, one: ClaimedBound, step: Fraction, *, proved: bool
) -> None:
    """Check that the program's bound is at least the claim plus the error of the sketch."""
    printed = load.entry["outputs"][column].get("bound")
    least = (max(one.high, -one.low) + sketch_error(load, one.name)) * step
    if (printed is not None) != proved or (proved and Fraction(printed) < least):
        raise DoesNotHoldError(
            f"{one.name}: the bound in program.json is {printed}, but the claim and the rounding "
            f"of the sketch amount to {float(least)}"
        )
