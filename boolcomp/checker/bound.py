"""The section `bound`: between what an output's word less the exact output lies, in steps.

    tau1 plain -5.937 5.937              node by node (see `plain`)
    tau2 tight -3.601 3.669 qd1 qd2 | qdd1      all cells of its angles, and these groups of linear
                                         inputs, independent of each other for given angles
    while w31 w41                        words that are not proved to have bits enough: all steps
                                         here are conditional then, and none holds by itself

What the plain bound confirms is believed, whatever the line calls it. Where cells and groups say
nothing, boxes of inputs are halved until all of them confirm it (see `boxes`), or too many do not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.boxes import Boxes
from boolcomp.checker.folder import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.checker.graph import claim_of
from boolcomp.checker.plain import Plain
from boolcomp.checker.problem import beside_asked
from boolcomp.words.graph import Heap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, Section

FITTING, BOXES = 300_000, 200_000  # boxes that are looked at, for a word and an output
_NUMBER = r"(-?\d{1,9}\.\d{1,40})"
_LINE = re.compile(rf"(\w+) (plain|tables|tight) {_NUMBER} {_NUMBER}((?: \w+| \|)*)")
_WHILE = re.compile(r"while((?: w\d{1,6})+)")


@dataclass(frozen=True, slots=True)
class Bounded:
    """What is claimed of an output, and the groups of its linear inputs."""

    name: str
    grade: str
    low: Fraction
    high: Fraction
    groups: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is claimed of all outputs, while some words do not overflow."""

    outputs: tuple[Bounded, ...]
    unproved: tuple[int, ...]


def read_bounds(section: Section) -> Bounds:
    """Read the section; a `DataError` names the line that is wrong."""
    outputs: list[Bounded] = []
    unproved: tuple[int, ...] = ()
    for row, line in enumerate(section.lines):
        found, beside = _LINE.fullmatch(line), _WHILE.fullmatch(line)
        if found and not unproved:
            groups = tuple(tuple(one.split()) for one in found[5].split("|") if one.split())
            ends = Fraction(found[3]), Fraction(found[4])
            outputs.append(Bounded(found[1], found[2], *ends, groups))
        elif beside and not unproved:
            unproved = tuple(int(word[1:]) for word in beside[1].split())
        else:
            raise DataError(f"{section.where(row)}: {shown(line)} is no bound")
    return Bounds(tuple(outputs), unproved)


def check_bound(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section: words that fit, and every output's error."""
    bounds = read_bounds(load.section("bound"))
    words = " ".join(f"w{k}" for k in bounds.unproved)
    for step in _steps(load, bounds):
        if words and step.holds:
            note = f"while {words} do not overflow, which is not shown"
            note += f"; {step.note}" if step.note else ""
            yield replace(step, holds=None, note=note, conditional=True)
        else:
            yield step


def _steps(load: LoadFiles, bounds: Bounds) -> Iterator[Step]:
    found: list[Plain] = []

    def fits() -> Found:
        found.append(Plain(claim_of(load)))
        graph, looked = found[0].graph, 0
        for word in sorted(set(found[0].overflow) - set(bounds.unproved)):
            (place,) = [k for k, one in enumerate(found[0].claim.places) if one.words == (word,)]
            looked += Boxes(found[0], place).fits(FITTING)
        if [one.name for one in bounds.outputs] != [one.name for one in found[0].claim.outputs]:
            raise DoesNotHoldError("bound: other outputs than the sketch has")
        return Found(sum(isinstance(node, Heap) for node in graph.nodes) + looked)

    yield checked("no overflow", "enclosures of all sums", fits)
    if not found:
        return
    for column, one in enumerate(bounds.outputs):
        yield _checked(load, found[0], column, one, bounds)


def _checked(load: LoadFiles, plain: Plain, column: int, one: Bounded, bounds: Bounds) -> Step:
    low, high = plain.error(plain.claim.outputs[column], column).ends
    enough = one.low <= low and high <= one.high
    step = plain.claim.outputs[column].step
    confirmed = f"{float(low):.4f} .. {float(high):.4f}"
    said = f"{float(one.low):.4f} .. {float(one.high):.4f}"

    def holds() -> Found:
        _same_as_printed(load, column, one, step, proved=not bounds.unproved)
        if enough:
            return Found(len(plain.seen), f"{said} steps claimed, {confirmed} confirmed")
        if one.grade == "plain":
            raise DoesNotHoldError(f"{one.name}: {said} claimed, {confirmed} confirmed")
        cases, note = closer(plain, column, one)
        return Found(cases, f"{said} steps claimed and confirmed{note}")

    method = "node by node" if enough or one.grade == "plain" else "cells and boxes"
    try:
        return checked(f"error of {one.name}", method, holds)
    except NotCoveredError as error:
        note = f"{said} claimed, {confirmed} confirmed, node by node: {error}"
        return Step(f"error of {one.name}", method, note=note)


def closer(plain: Plain, column: int, one: Bounded) -> tuple[int, str]:
    """Confirm a bound at all cells of its angles, or by boxes; return how many, and what else."""
    from boolcomp.checker.tight import Tight  # noqa: PLC0415 (compiled loops take a second)

    try:
        return Tight(plain, column, one.groups).confirm(one.low, one.high), ""
    except NotCoveredError:
        pass
    except DoesNotHoldError as error:
        raise DoesNotHoldError(f"{one.name}: {error}") from error
    output, result = plain.claim.outputs[column], plain.graph.results[column]
    if output.rest is not None or max(one.low, -one.high) > Fraction(-1, 2):
        raise NotCoveredError("an output is held at zero, or errs by less than half a step")
    rounding = Fraction(1, 2) - Fraction(1, 2 << result.drop)
    moved = plain.moved(output, column)
    low, high = one.low - moved + rounding, one.high - moved - rounding
    return Boxes(plain, output.node).confirm(low, high, BOXES), " in boxes"


def _same_as_printed(
    load: LoadFiles, column: int, one: Bounded, step: Fraction, *, proved: bool
) -> None:
    """Check that the program says a bound, no smaller than this and what the sketch errs by."""
    printed = load.said["outputs"][column].get("bound")
    least = (max(one.high, -one.low) + beside_asked(load, one.name)) * step
    if (printed is not None) != proved or (proved and Fraction(printed) < least):
        raise DoesNotHoldError(
            f"{one.name}: program.json says {printed}, and what is claimed here, and the digits of "
            f"the sketch, {float(least)}"
        )
