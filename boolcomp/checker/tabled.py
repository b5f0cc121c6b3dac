"""Checks a certificate of paper mode: waves to terms, terms to tables, and the errors of sums.

    y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)] + [Σ terms - τ](x)

The section `bound` says between what that lies, in steps of an output's word:

    tau1 -2.269 2.269
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil
from typing import TYPE_CHECKING

from boolcomp.checker.origin import read_origin
from boolcomp.checker.steps import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.checker.tabledcells import (
    MOST_STATES,
    MOST_TABLE,
    SHIFT,
    Errors,
    Grid,
    Line,
    errors_of,
    largest,
)
from boolcomp.checker.tabledsum import TIE, Tables, inputs_of, outputs_of, places
from boolcomp.checker.tabledterms import read_terms, sum_differences
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.checker.container import Section
    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.tabledsum import Output, Use
    from boolcomp.checker.tabledterms import Term

    Whole = NDArray[np.int64]

FINE = 10  # bits of inputs along which terms bend, at most
BENT, FLAT = Fraction(1, 1024), Fraction(1, 1 << 14)  # of an output's step, in a cell
EASY = 1 << 22  # states of a term: with more, cells are as wide as `BENT` allows
_BOUND = re.compile(r"(\w+) (-?\d{1,6}\.\d{1,20}) (-?\d{1,6}\.\d{1,20})")


@dataclass(frozen=True, slots=True)
class Confirmed:
    """Between what an output errs, in steps of its word; its terms' errors, in those they share."""

    low: Fraction
    high: Fraction
    terms: tuple[tuple[Fraction, Fraction], ...]
    states: int


class Sums:
    """A load's outputs, with their terms as they are claimed; a `DataError` says what is wrong."""

    def __init__(self, load: LoadFiles) -> None:
        self.load, self.outputs, self.inputs = load, outputs_of(load), inputs_of(load)
        self.terms = read_terms(load.section("terms"))
        self.codes = {name: code for name, (_, code) in self.inputs.items()}
        said = [(one.output, one.name) for one in self.terms if one.name]
        made = [(output.name, one.name) for output in self.outputs for one in output.terms]
        if said != made:
            raise DoesNotHoldError(f"terms: {len(said)} are listed, and the program has others")
        self.tables = Tables(load)

    def of(self, output: Output) -> tuple[list[tuple[Term, Use]], list[Term]]:
        """Return the terms of an output with their uses, and those that have none."""
        mine = [one for one in self.terms if one.output == output.name]
        kept = [one for one in mine if one.name]
        return list(zip(kept, output.terms, strict=True)), [one for one in mine if not one.name]

    def grid(self, output: Output) -> Grid:
        """Return how finely inputs are looked at, and what of them all terms see alike."""
        pairs, _ = self.of(output)
        widths: dict[str, list[int]] = {}
        for term, use in pairs:
            if set(term.names) != {name for name, _, _ in use.words}:
                raise NotCoveredError(f"{term.name} has other inputs than its network reads")
            for name, count, _ in use.words:
                widths.setdefault(name, []).append(count)
        bits = self._bits(output, widths)
        lines = {name: self._line(name, bits[name], min(widths[name])) for name in widths}
        told = frozenset(name for name, counts in widths.items() if len(counts) > 1)
        return self._coarser(Grid(lines, told, dict.fromkeys(lines, 0)), pairs)

    def _bits(self, output: Output, widths: Mapping[str, list[int]]) -> dict[str, int]:
        """Return how many bits cells have: enough for words, and more where terms bend."""
        pairs, _ = self.of(output)
        words = {name: max(counts) for name, counts in widths.items()}
        sizes = self._sizes()

        def enough(name: str, most: Fraction) -> int:
            bent = max(term.bends(name, sizes) for term, _ in pairs)
            bent *= (self.codes[name].high - self.codes[name].low) ** 2 / 8
            found = (k for k in range(words[name], FINE) if bent <= most * output.code.step * 4**k)
            return next(found, max(words[name], FINE))

        coarse, bits = ({name: enough(name, most) for name in words} for most in (BENT, FLAT))
        for most, least in ((EASY, coarse), (MOST_STATES, words)):
            for term, _ in pairs:
                while 1 << sum(bits[name] + 1 for name in term.names) > most:
                    finer = [name for name in term.names if bits[name] > least[name]]
                    if not finer:
                        break
                    bits[max(finer, key=lambda name: bits[name])] -= 1
        return bits

    def _line(self, name: str, bits: int, fewest: int) -> Line:
        one, code = self.inputs[name]
        width = code.high - code.low
        ends = (code.low, code.high) if code.wraps else (Fraction(one.low), Fraction(one.high))
        return Line(name, code.low, width, bits, *ends, code.wraps, TIE * width / (1 << fewest))

    def _coarser(self, grid: Grid, pairs: list[tuple[Term, Use]]) -> Grid:
        """Put states together until what terms share is not too large."""
        while True:
            for term, _ in pairs:
                shared = [name for name in term.names if name in grid.told]
                size = 1
                for name in shared:
                    size *= grid.extent(name)
                if size > MOST_TABLE:
                    widest = max(shared, key=grid.extent)
                    groups = {**grid.groups, widest: grid.groups[widest] + 1}
                    grid = Grid(grid.lines, grid.told, groups)
                    break
            else:
                return grid

    def errors(self, output: Output) -> tuple[list[Errors], Fraction, int]:
        """Return the errors of all terms, and their unit; every word of each was looked at."""
        grid, (pairs, _) = self.grid(output), self.of(output)
        room = _room([term for term, _ in pairs], grid, output.step)
        unit, found, states = output.step / (1 << room), [], 0
        for term, use in pairs:
            index = {}
            for name, (bits, adds) in places(use, self.codes).items():
                line = grid.lines[name]
                first, last = line.reached
                index[name] = adds[[k >> (line.bits - bits) for k in range(first, last + 1)]]
            cells = self.tables.cells(use)
            entries = (2 * cells + 1 - (1 << use.code.bits)) << (room - 1)
            found.append(errors_of(term, grid, index, entries, unit))
            size = 1
            for name in term.names:
                size *= len(grid.lines[name].states[0])
            states += size
        return found, unit, states

    def confirm(self, output: Output, beside: Fraction) -> Confirmed:
        """Return what an output errs by; `beside` is what its terms differ from what was asked."""
        found, unit, states = self.errors(output)
        share = unit / output.code.step
        slack = sum(one.slack for one in found)
        high = share * (largest([one.high for one in found]) + slack)
        low = share * (largest([one.low for one in found]) + slack)
        sizes = self._sizes()
        left = sum(
            (part.height(sizes) for term in self.of(output)[1] for part in term.parts), Fraction(0)
        )
        more = left / output.code.step + beside
        least, most = output.rounding()
        half = Fraction(1, 2)
        terms = tuple(
            (one.ends[0] * unit / output.step, one.ends[1] * unit / output.step) for one in found
        )
        return Confirmed(
            min(least - low - more, -half), max(most + high + more, half), terms, states
        )

    def _sizes(self) -> dict[str, Fraction]:
        """Return the largest sizes of inputs, of which what is left out may have any."""
        inputs = read_origin(self.load.section("origin")).inputs
        ends = {one.name: (abs(Fraction(one.low)), abs(Fraction(one.high))) for one in inputs}
        return {name: max(both) or Fraction(1) for name, both in ends.items()}


def _room(terms: list[Term], grid: Grid, step: Fraction) -> int:
    """Return how many bits of a step numbers of 64 bits have room for."""
    most = 0
    for term in terms:
        sizes = {name: grid.lines[name].size for name in term.names}
        most = max([most, *(ceil(part.height(sizes) / step) for part in term.parts)])
    room = min(16, 60 - SHIFT - most.bit_length())
    if room < 1:
        raise NotCoveredError("terms have too many steps to be counted")
    return room


def read_bounds(section: Section) -> dict[str, tuple[Fraction, Fraction]]:
    """Return what is claimed of all outputs."""
    found = {}
    for row, line in enumerate(section.lines):
        said = _BOUND.fullmatch(line)
        if said is None or said[1] in found:
            raise DataError(f"{section.where(row)}: {shown(line)} is no bound of a sum of tables")
        found[said[1]] = Fraction(said[2]), Fraction(said[3])
    return found


def check_tabled(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's terms and bounds."""
    claimed = read_bounds(load.section("bound"))
    beside: dict[str, Fraction] = {}
    sums: list[Sums] = []

    def words() -> Found:
        sums.append(Sums(load))
        names = [one.name for one in sums[0].outputs]
        if list(claimed) != names:
            raise DoesNotHoldError("bound: other outputs than the program has")
        count = sum(len(one.terms) for one in sums[0].outputs)
        return Found(count, f"{count} terms; codes, ranges and steps are those of one sum")

    def same() -> Found:
        one = sums[0]
        steps = {output.name: output.code.step for output in one.outputs}
        beside.update(sum_differences(load.section("origin"), one.terms, steps))
        listed = ", ".join(f"{name} {float(x):.2g}" for name, x in beside.items())
        return Found(
            sum(len(t.parts) for t in one.terms), f"they differ by at most, in LSB: {listed}"
        )

    yield _step("sum of terms", "rule of program.json", words)
    if not sums:
        return
    yield _step("waves to terms", "coefficients compared in balls", same)
    for output in sums[0].outputs:
        yield _step(
            f"error of {output.name}", "all words of all tables, whole cells",
            partial(_holds, sums[0], output, claimed[output.name], beside),
        )  # fmt: skip


def _step(name: str, method: str, check: Callable[[], Found]) -> Step:
    try:
        return checked(name, method, check)
    except NotCoveredError as error:
        return Step(name, "not checked", note=str(error))


def _holds(
    sums: Sums,
    output: Output,
    claimed: tuple[Fraction, Fraction],
    beside: Mapping[str, Fraction],
) -> Found:
    if output.name not in beside:
        raise NotCoveredError("its terms are not known to be what was asked")
    found = sums.confirm(output, beside[output.name])
    for (term, _), (low, high) in zip(sums.of(output)[0], found.terms, strict=True):
        if low < term.low or term.high < high:
            raise DoesNotHoldError(
                f"{output.name}: entries of {term.name} less the term are {float(low):.4f} .. "
                f"{float(high):.4f} steps, and {float(term.low):.4f} .. {float(term.high):.4f} is "
                "claimed"
            )
    low, high = claimed
    said = f"{float(low):.4f} .. {float(high):.4f} steps claimed"
    confirmed = f"{float(found.low):.4f} .. {float(found.high):.4f} confirmed"
    if found.low < low or high < found.high:
        raise DoesNotHoldError(f"{output.name}: {said}, {confirmed}")
    printed = output.bound
    if printed is None or printed < max(high, -low) * output.code.step:
        raise DoesNotHoldError(
            f"{output.name}: program.json says {printed and float(printed)}, and claimed here is "
            f"{float(max(high, -low) * output.code.step)}"
        )
    return Found(found.states, f"{said}, {confirmed}")
