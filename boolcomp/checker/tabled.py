"""Check a certificate of paper mode: the decomposition into terms, their tables, error bounds.

    y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)] + [Σ terms - τ](x)

The section `bound` has the limits of this error for every output, in steps of its word:

    tau1 -2.269 2.269
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache, partial, reduce
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import acb, arb, ctx, fmpq

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import (
    CheckedCases,
    DoesNotHoldError,
    NotCoveredError,
    VerdictStep,
    checked,
)
from boolcomp.checker.network import evaluated
from boolcomp.checker.problem import function_of, read_origin
from boolcomp.checker.robot import number, precise
from boolcomp.checker.spans import PLACES, of_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.folder import CertificateSection, LoadFiles
    from boolcomp.checker.problem import ClaimedRange
    from boolcomp.checker.robot import ClaimedWaveSum, Space
    from boolcomp.logic.network import Network

    Whole = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Errors of tables over whole cells, and the maximum of a sum of errors that share inputs.
#
# A term is evaluated on a grid. Between the corners of a cell it deviates from multilinear
# interpolation by at most Σ h²/8 · sup|∂²f|. The maximum of a sum of multilinear functions is at a
# corner that all share. A *state* of an input is therefore a cell of the grid and a side of it.
# Harmonics are balls, rounded once to integers in units of 2^-30; all rounding errors are counted.
# --------------------------------------------------------------------------------------------------

if TYPE_CHECKING:
    Table = tuple[tuple[str, ...], Whole]


SHIFT = 30
EXTRA = 8
BLOCK, MOST_STATES, MOST_TABLE = 1 << 17, 1 << 26, 1 << 22
NEVER = -(1 << 62)  # less than any error


@dataclass(frozen=True)
class InputCellsLine:
    """An input between `least` and `most`, whose word's range has 2^bits cells.

    Encoders may round values up to `tie` below the border of a cell to the next cell.
    """

    name: str
    low: Fraction
    width: Fraction
    bits: int
    least: Fraction
    most: Fraction
    wraps: bool
    tie: Fraction

    @property
    def cell(self) -> Fraction:
        return self.width / (1 << self.bits)

    @cached_property
    def reached(self) -> tuple[int, int]:
        """The first and the last cell that the input can have."""
        top = (1 << self.bits) - 1
        if self.wraps:
            return 0, top
        first = (self.least - self.low) // self.cell
        last = (self.most + self.tie - self.low) // self.cell
        return min(max(int(first), 0), top), min(max(int(last), 0), top)

    @property
    def cells(self) -> Whole:
        return np.arange(self.reached[0], self.reached[1] + 1, dtype=np.int64)

    @cached_property
    def places(self) -> tuple[Fraction, ...]:
        """The corners of these cells, limited to the range of the input."""
        first, last = self.reached
        found = (self.low + self.cell * k for k in range(first, last + 2))
        return tuple(min(max(x, self.least), self.most) for x in found)

    @property
    def size(self) -> Fraction:
        return max(abs(self.least), abs(self.most)) or Fraction(1)

    def shares(self) -> Whole:
        """Return the corners divided by the size, at most a unit too low."""
        found = [(x / self.size * (1 << SHIFT)).__floor__() for x in self.places]
        return np.array(found, np.int64)

    @lru_cache(maxsize=64)  # noqa: B019 (lines are few and small)
    def harmonics(self, k: int) -> tuple[Whole, Whole]:
        """Return cosines and sines of k times the corners, with errors below a unit."""
        cosines, sines = [], []
        with ctx.workprec(160):
            for x in self.places:
                angle = arb(fmpq(k * x.numerator, x.denominator))
                cosines.append(_below(angle.cos()))
                sines.append(_below(angle.sin()))
        return np.array(cosines, np.int64), np.array(sines, np.int64)


def _below(ball: arb) -> int:
    return int(of_ball(ball).low >> (PLACES - SHIFT))


@dataclass(frozen=True, slots=True)
class GridAxis:
    """The cells of an input in the grid of a term.

    The number of a state is 2·cell + side. Tables distinguish its `shared` leading bits. If that
    includes the side, all terms with the input need the same cells.
    """

    line: InputCellsLine
    shared: int

    @property
    def sides(self) -> bool:
        return self.shared > self.line.bits

    @property
    def groups(self) -> Whole:
        """The shared bits of every cell, or of every state with `sides`, counted from 0."""
        cells = self.line.cells
        if self.sides:
            return np.arange(2 * len(cells), dtype=np.int64)
        return (cells >> (self.line.bits - self.shared)) - self.first

    @property
    def first(self) -> int:
        """The shared bits of the first state."""
        return 2 * self.line.reached[0] >> (self.line.bits + 1 - self.shared)

    @property
    def extent(self) -> int:
        """The number of values of the shared bits."""
        last = 2 * self.line.reached[1] + 1
        return (last >> (self.line.bits + 1 - self.shared)) - self.first + 1


@dataclass(frozen=True, slots=True)
class StateErrors:
    """Limits of a table minus its term, as high and negated low, by groups of states, in units.

    Both have errors of at most `slack`, which is rounded up. `ends` are the limits over all states.
    """

    high: Table
    low: Table
    slack: int
    ends: tuple[int, int]


def errors_of(
    term: ClaimedTerm, grid: Mapping[str, GridAxis], index: Mapping[str, Whole], table: Whole,
    unit: Fraction,
) -> StateErrors:  # fmt: skip
    """Enclose the errors of a table's entries, given in units.

    `index` has, for every input, the contribution of each cell of the grid to the entry's index.
    """
    axes = [grid[name] for name in term.names]
    lines, places = [axis.line for axis in axes], [index[name] for name in term.names]
    field = TermField(term, lines, unit)
    high, low = (np.full([axis.extent for axis in axes], NEVER) for _ in range(2))
    rows = max(1, BLOCK // prod(len(line.places) for line in lines[1:]))
    values: Whole | None = None
    for start in range(0, len(places[0]) if axes else 1, rows):
        corners = [slice(start + (start > 0), start + rows + 1), *(slice(None) for _ in axes[1:])]
        new = field.at(corners[: len(axes)])
        least = most = values = new if values is None else np.concatenate([values[-1:], new])
        place, groups = np.zeros([1] * len(axes), np.int64), []
        for k, axis in enumerate(axes):
            states, first = 1 + axis.sides, 0 if k else start
            here = np.repeat(places[k][first:][: least.shape[k] - 1], states)
            groups.append(axis.groups[first * states :][: len(here)])
            place = place + _along(here, k, len(axes))
            least, most = _corners(np.minimum, least, k, axis), _corners(np.maximum, most, k, axis)
        entries = table[place]
        region = slice(groups[0][0], groups[0][-1] + 1) if axes else ...
        for whole, found in ((high, entries - least), (low, most - entries)):
            part = whole[region]
            np.maximum(part, _grouped(found, groups), out=part)
    slack = field.slack + _deviation(term, lines, unit)
    ends = -int(low.max()) - slack, int(high.max()) + slack
    kept = tuple(name for name, axis in zip(term.names, axes, strict=True) if axis.shared)
    shape = [axis.extent for axis in axes if axis.shared]
    return StateErrors((kept, high.reshape(shape)), (kept, low.reshape(shape)), slack, ends)


def _corners(worse: np.ufunc, values: Whole, k: int, axis: GridAxis) -> Whole:
    """Return values at the sides of cells along an axis, or the worse of both sides."""
    count = values.shape[k] - 1
    if axis.sides:
        return np.take(values, np.arange(1, 2 * count + 1) // 2, axis=k)
    before = (slice(None),) * k
    return np.asarray(worse(values[*before, :-1], values[*before, 1:]))


def _grouped(values: Whole, groups: Sequence[Whole]) -> Whole:
    """Return the maximum of every group."""
    for axis, group in enumerate(groups):
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        if len(starts) < len(group):
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _deviation(term: ClaimedTerm, lines: Sequence[InputCellsLine], unit: Fraction) -> int:
    """Bound the deviation of a term from its corners: curvature, and values on borders of cells."""
    sizes = {line.name: line.size for line in lines}
    found = Fraction(0)
    for line in lines:
        found += term.curvature(line.name, sizes) * line.cell**2 / 8
        found += term.slope(line.name, sizes) * 2 * line.tie
    return ceil(found / unit)


class TermField:
    """A term at corners of cells, in units, with errors of at most `slack` units.

    Parts with the same powers are added before they are multiplied by them. Up to the last step,
    numbers have `extra` fraction bits.
    """

    def __init__(self, term: ClaimedTerm, lines: Sequence[InputCellsLine], unit: Fraction) -> None:
        self.lines = lines
        sizes = {line.name: line.size for line in lines}
        height = height_of([term], sizes) / unit
        self.extra = min(EXTRA, 62 - SHIFT - ceil(height).bit_length())
        if self.extra < 0:
            raise NotCoveredError("a term is too large for 64-bit numbers")
        fine = unit / (1 << self.extra)
        groups: dict[tuple[tuple[str, int], ...], list[ClaimedPart]] = {}
        for part in term.parts:
            groups.setdefault(tuple(sorted(part.powers.items())), []).append(part)
        self.groups, error = [], Fraction(0)
        for powers, parts in groups.items():
            size = prod((sizes[name] ** k for name, k in powers), start=Fraction(1)) / fine
            scaled = [(part, round(part.cosine * size), round(part.sine * size)) for part in parts]
            self.groups.append((dict(powers), scaled))
            error += 1
            for part, c, s in scaled:
                turn = 1
                for _ in part.multiples:
                    turn = 3 * (turn + 2) // 2 + 3
                turn += 2 * sum(part.powers.values())
                error += Fraction((abs(c) + abs(s)) * turn, 1 << SHIFT) + 2
        self.slack = ceil(error / (1 << self.extra) + Fraction(1, 2))
        read = {name for part in term.parts for name in part.powers}
        self.shares = {line.name: line.shares() for line in lines if line.name in read}

    def at(self, corners: Sequence[slice]) -> Whole:
        """Evaluate the term at all combinations of corners, in units."""
        axes = len(corners)
        total: Whole = np.zeros([1] * axes, np.int64)
        for powers, parts in self.groups:
            factor: Whole | None = None
            for axis, line in enumerate(self.lines):
                for _ in range(powers.get(line.name, 0)):
                    share = _along(self.shares[line.name][corners[axis]], axis, axes)
                    factor = share if factor is None else factor * share >> SHIFT
            found: Whole = np.zeros([1] * axes, np.int64)
            for part, c, s in parts:
                cosine, sine = self._waves(part, corners)
                found = found + _shifted(cosine * c + sine * s, SHIFT)
            total = total + (found if factor is None else _shifted(found * factor, SHIFT))
        shape = [len(line.places[at]) for line, at in zip(self.lines, corners, strict=True)]
        return np.broadcast_to(_shifted(total, self.extra), shape)

    def _waves(self, part: ClaimedPart, corners: Sequence[slice]) -> tuple[Whole, Whole]:
        """Return cosine and sine of the part's angle."""
        axes = len(corners)
        cosine: Whole = np.full([1] * axes, 1 << SHIFT, np.int64)
        sine: Whole = np.zeros([1] * axes, np.int64)
        for axis, line in enumerate(self.lines):
            if k := part.multiples.get(line.name, 0):
                a, b = (_along(one[corners[axis]], axis, axes) for one in line.harmonics(k))
                cosine, sine = (cosine * a - sine * b) >> SHIFT, (cosine * b + sine * a) >> SHIFT
        return cosine, sine


def _shifted(values: Whole, bits: int) -> Whole:
    """Divide by 2^bits and round to nearest."""
    return values + (1 << bits >> 1) >> bits


def _along(values: Whole, axis: int, axes: int) -> Whole:
    shape = [1] * axes
    shape[axis] = -1
    return values.reshape(shape)


def elimination(
    scopes: Sequence[tuple[str, ...]], sizes: Mapping[str, int], limit: int = MOST_TABLE
) -> Iterator[tuple[str, list[int], tuple[str, ...]]]:
    """Yield steps that bound a sum of tables: an input, tables with it, and all their inputs.

    A step adds its tables and maximises the sum over the input. Tables are numbered, the results of
    steps after the given ones. Those whose sum would exceed `limit` numbers are not added.
    """
    left = {k: frozenset(scope) for k, scope in enumerate(scopes)}
    made = len(left)

    def union(tables: Iterable[int]) -> frozenset[str]:
        return frozenset[str]().union(*(left[k] for k in tables))

    def size(tables: Iterable[int]) -> int:
        return prod(sizes[name] for name in union(tables))

    while names := union(left):
        buckets = {name: [k for k, one in left.items() if name in one] for name in sorted(names)}
        name = min(buckets, key=lambda one: size(buckets[one]))
        bucket, results = buckets[name], []
        while bucket:
            part = [bucket.pop()]
            for other in list(bucket):
                if size([*part, other]) <= limit:
                    bucket.remove(other)
                    part.append(other)
            scope = union(part)
            yield name, part, tuple(sorted(scope))
            results.append(scope - {name})
            for k in part:
                del left[k]
        left |= dict(enumerate(results, made))
        made += len(results)


def largest(tables: Sequence[Table], limit: int = MOST_TABLE) -> int:
    """Bound the sum of tables by eliminating one input after the other."""
    scopes = [scope for scope, _ in tables]
    sizes = {n: size for scope, one in tables for n, size in zip(scope, one.shape, strict=True)}
    left = dict(enumerate(tables))
    for made, (name, part, scope) in enumerate(elimination(scopes, sizes, limit), len(tables)):
        total = reduce(np.add, (_spread(left.pop(k), scope) for k in part))
        rest = tuple(n for n in scope if n != name)
        left[made] = rest, total.max(axis=scope.index(name))
    return sum(int(one) for _, one in left.values())


def _spread(table: Table, scope: Sequence[str]) -> Whole:
    """Add axes to a table for all names of a scope; names of both are sorted."""
    names, values = table
    sizes = dict(zip(names, values.shape, strict=True))
    return values.reshape([sizes.get(name, 1) for name in scope])


# --------------------------------------------------------------------------------------------------
# The table of a term, by simulation of its network for all words.
#
# A signal is one large integer: bit r is its value at the r-th input word.
# --------------------------------------------------------------------------------------------------

MOST_INPUTS = 22  # of a network
WORDS: dict[str, Callable[[Whole, np.int64], Whole]] = {  # of cells, with half their number
    "gray": lambda cells, _: cells ^ (cells >> 1),
    "natural": lambda cells, _: cells,
    "twos": lambda cells, half: cells ^ half,
    "sign-magnitude": lambda cells, half: np.where(
        cells >= half, cells - half, half | (half - 1 - cells)
    ),
}
KINDS = tuple(WORDS)


def table_of(network: Network) -> Whole:
    """Simulate a network for all input words; the first inputs and outputs are the highest bits."""
    if network.inputs > MOST_INPUTS:
        raise NotCoveredError(f"a network of {network.inputs} inputs is too large to simulate")
    rows = 1 << network.inputs
    everywhere = (1 << rows) - 1
    values: dict[int, int] = {0: 0, 1: everywhere}
    for k in range(network.inputs):
        half = 1 << (network.inputs - 1 - k)  # rows where input k is 0, then as many where it is 1
        values[2 + k] = everywhere // ((1 << half) + 1) << half
    last: dict[int, int] = {}
    for signal, (_, operands) in enumerate(network.nodes, 2 + network.inputs):
        last |= dict.fromkeys(operands, signal)
    kept = set(network.outputs)
    for signal, (lut, operands) in enumerate(network.nodes, 2 + network.inputs):
        a, b, c = [*(values[k] for k in operands), 0, 0][:3]
        values[signal] = evaluated(lut, a, b, c, everywhere)
        for k in operands:
            if last[k] == signal and k not in kept:
                del values[k]
    found = np.zeros(rows, np.int64)
    for k in network.outputs:
        data = np.frombuffer(values[k].to_bytes((rows + 7) // 8, "little"), np.uint8)
        found = found << 1 | np.unpackbits(data, count=rows, bitorder="little")
    return found


def words_of(cells: Whole, bits: int, kind: str) -> Whole:
    """Encode cells."""
    if kind not in WORDS:
        raise NotCoveredError(f"words in {shown(kind)}")
    return WORDS[kind](cells, np.int64(1 << (bits - 1)))


def cells_of(words: Whole, bits: int, kind: str) -> Whole:
    """Decode words to cells."""
    cells = np.arange(1 << bits, dtype=np.int64)
    back = np.empty_like(cells)
    back[words_of(cells, bits, kind)] = cells
    return back[words]


# --------------------------------------------------------------------------------------------------
# The sums of tables of program.json: words that networks read, codes, and rounding.
#
# Cell k of a table of b bits has the value (k + ½ - 2^(b-1))·s, where s is common to all terms of
# an output. The cell of the output is K = floor((Σ k + C) / 2^m) by definition of paper mode, with
# C = (2^(bits + m) - Σ (2^b - 1)) / 2, rounded down.
# --------------------------------------------------------------------------------------------------

TIE = Fraction(1, 10**9)  # of a cell: values this near below a border may be encoded as above it
DECODER = Fraction(1, 1 << 16)  # of a step: exceeds the rounding of decoders
MOST_BITS, MOST_GUARD, MOST_TERMS = 32, 16, 10_000


@dataclass(frozen=True, slots=True)
class ClaimedCode:
    """A word of 2^bits cells from low to high."""

    low: Fraction
    high: Fraction
    bits: int
    kind: str
    wraps: bool

    @property
    def step(self) -> Fraction:
        return (self.high - self.low) / (1 << self.bits)


@dataclass(frozen=True, slots=True)
class TableUse:
    """A term: its network and code, and the words read: input, leading bits, dropped bits."""

    name: str
    network: int
    code: ClaimedCode
    words: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class ClaimedOutput:
    """An output: its code, guard bits, and terms; `bound` is in its unit."""

    name: str
    code: ClaimedCode
    guard: int
    terms: tuple[TableUse, ...]
    bound: Fraction | None

    @property
    def step(self) -> Fraction:
        return self.code.step / (1 << self.guard)

    def rounding(self) -> tuple[Fraction, Fraction]:
        """Return limits of the word's value minus the sum of entries, in steps of the word.

        Equal terms with equal words have equal entries, so their sum is a multiple of their number.
        This restricts the remainders.
        """
        whole = 1 << self.guard
        same = Counter((one.network, one.code, one.words) for one in self.terms)
        spacing = math.gcd(whole, *same.values())
        cells = sum((1 << one.code.bits) - 1 for one in self.terms)
        offset = ((whole << self.code.bits) - cells) // 2
        # With N = Σ k and remainder r: y = low + ½ whole + offset - r + N, entries N - cells / 2.
        above = self.code.low / self.step + Fraction(whole, 2) + offset + Fraction(cells, 2)
        rests = offset % spacing, offset % spacing + whole - spacing
        return (above - rests[1]) / whole - DECODER, (above - rests[0]) / whole + DECODER


def outputs_of(load: LoadFiles) -> tuple[ClaimedOutput, ...]:
    """Read the outputs of a load; a `DataError` describes an invalid one."""
    if load.graph is not None or "network" in load.entry:
        raise DataError("program.json: a load of compact mode has no terms")
    try:
        names = [one["name"] for one in load.document["inputs"]]
        if len(set(names)) < len(names) or min(0, *_read(load)) < 0:
            raise DataError("program.json: two inputs of one name, or negative indices of words")
        return tuple(_output(one, names) for one in load.entry["outputs"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"program.json: the terms of load {load.place} are invalid") from error


def _read(load: LoadFiles) -> list[int]:
    found = [0]
    for output in load.entry["outputs"]:
        found += [k for term in output["terms"] for word in term["words"] for k in word]
        found += [term["network"] for term in output["terms"]]
    return found


def _output(entry: Mapping[str, Any], names: list[str]) -> ClaimedOutput:
    terms = tuple(
        TableUse(
            one["name"], one["network"], _code(one["code"]),
            tuple((names[place], bits, dropped) for place, bits, dropped in one["words"]),
        )
        for one in entry["terms"]
    )  # fmt: skip
    guard, bound = entry["guard_bits"], entry.get("bound")
    bound = None if bound is None else Fraction(bound)
    output = ClaimedOutput(entry["name"], _code(entry["code"]), guard, terms, bound)
    if "rest" in entry:
        raise DoesNotHoldError(f"{output.name} is held at zero, which paper mode does not support")
    if not 0 <= guard <= MOST_GUARD or len(terms) > MOST_TERMS:
        raise DataError(f"program.json: {output.name} has {shown(guard)} guard bits")
    for one in terms:
        middle = one.code.low + one.code.high
        if one.code.step != output.step or middle:
            raise DoesNotHoldError(
                f"{one.name} of {output.name}: its step is {float(one.code.step)!r} about "
                f"{float(middle / 2)!r}, but that of the sum {float(output.step)!r} about 0"
            )
    return output


def _code(entry: Mapping[str, Any]) -> ClaimedCode:
    low, high = (Fraction(float(x)) for x in entry["range"])
    bits, kind = entry["bits"], entry["kind"]
    if not isinstance(bits, int) or not 1 <= bits <= MOST_BITS or not low < high:
        raise DataError("program.json: a code is invalid")
    if kind not in KINDS or entry.get("zero", "rise") != "rise":
        raise NotCoveredError(f"words in {shown(kind)}, or with a zero code")
    return ClaimedCode(low, high, bits, kind, entry.get("wraps", False) is True)


def inputs_of(load: LoadFiles) -> dict[str, tuple[ClaimedRange, ClaimedCode]]:
    """Return the inputs of a program, after a comparison of words and stops with the origin."""
    specified = {one.name: one for one in read_origin(load.section("origin")).inputs}
    stops = {name: (low, high) for name, low, high in load.document.get("stops", [])}
    found = {}
    for entry in load.document["inputs"]:
        code, one = _code(entry["code"]), specified.get(entry["name"])
        if one is None or one.word is None:
            raise DoesNotHoldError(f"the program reads {shown(entry['name'])}, which is no input")
        word = one.word
        claimed = Fraction(word.low), Fraction(word.high), word.bits, word.wraps
        if claimed != (code.low, code.high, code.bits, code.wraps):
            raise DoesNotHoldError(f"the word of {one.name} differs from that of its origin")
        within = stops.get(one.name, (word.low, word.high))
        if not code.wraps and tuple(within) != (one.low, one.high):
            raise DoesNotHoldError(f"{one.name}: stops are {within}, but differ in its origin")
        if not word.low <= one.low <= one.high <= word.high:
            raise NotCoveredError(f"the range of {one.name} exceeds its word")
        if code.wraps and (not one.angle or abs(word.high - word.low - 2 * math.pi) > 1e-12):
            raise NotCoveredError(f"{one.name} wraps, but is no angle of a full turn")
        found[one.name] = one, code
    return found


def places(use: TableUse, codes: Mapping[str, ClaimedCode]) -> dict[str, tuple[int, Whole]]:
    """Return every input's number of leading bits, and the contribution of its cells to an index.

    An index consists of the bits read of all words; those of the first word are the highest.
    """
    found: dict[str, tuple[int, Whole]] = {}
    below = 0
    for name, bits, dropped in reversed(use.words):
        if name in found or not 0 <= dropped <= 1 or not 1 <= bits <= codes[name].bits:
            raise DoesNotHoldError(f"{use.name} reads {bits} bits of {name}, which do not exist")
        word = words_of(np.arange(1 << bits, dtype=np.int64), bits, codes[name].kind)
        found[name] = bits, (word & ((1 << (bits - dropped)) - 1)) << below
        below += bits - dropped
    return found


# --------------------------------------------------------------------------------------------------
# The section `terms` of paper mode: the function of every table, and the terms left out.
#
#     tau1 T12 -1.25 1.25 = 4.0 0.0 qdd2^1 | 5.0 0.0 q2*1 qdd2^1
#     tau1 left = 0.001 0.0 q3*2
#
# The numbers after the term are limits of its entries minus the term over whole cells, in the
# common step of all terms. A part `a b q2*1 qdd2^1` is (a cos φ + b sin φ)·qdd2 with φ = 1·q2. The
# terms are in the order of `program.json`, which lists the words of their networks.
# --------------------------------------------------------------------------------------------------

MOST_STEPS = Fraction(1, 64)  # of an output: a larger difference means another function
_NUMBER = r"(-?\d{1,9}(?:\.\d{1,20})?)"
_LINE = re.compile(rf"(\w+) (?:(\S+) {_NUMBER} {_NUMBER}|left) = (.*)")
_WAVE, _POWER = re.compile(r"(\w+)\*(-?\d{1,3})"), re.compile(r"(\w+)\^(\d{1,2})")


@dataclass(frozen=True, slots=True)
class ClaimedPart:
    """(cosine·cos φ + sine·sin φ) Π x^power with exact coefficients; φ = Σ multiple·x."""

    cosine: Fraction
    sine: Fraction
    multiples: Mapping[str, int]
    powers: Mapping[str, int]

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Bound the absolute value."""
        found = abs(self.cosine) + abs(self.sine)
        for name, power in self.powers.items():
            found *= sizes[name] ** power
        return found


@dataclass(frozen=True, slots=True)
class ClaimedTerm:
    """A term, and the limits of its table minus the term; a term left out has no name and table."""

    output: str
    name: str
    low: Fraction
    high: Fraction
    parts: tuple[ClaimedPart, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted({name for p in self.parts for name in (*p.multiples, *p.powers)}))

    def curvature(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Bound the second derivative by an input."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (k * k + power * (power - 1) / sizes[name] ** 2)
        return found

    def slope(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Bound the derivative by an input."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (abs(k) + power / sizes[name])
        return found


def read_terms(section: CertificateSection) -> tuple[ClaimedTerm, ...]:
    """Read the section; a `DataError` names the invalid line."""
    found = []
    for row, line in enumerate(section.lines):
        match = _LINE.fullmatch(line)
        try:
            if match is None:
                raise ValueError(line)  # noqa: TRY301 (one message for all faults)
            ends = Fraction(match[3] or 0), Fraction(match[4] or 0)
            parts = tuple(_part(text.split(" ")) for text in match[5].split(" | "))
            found.append(ClaimedTerm(match[1], match[2] or "", *ends, parts))
        except (ValueError, IndexError, OverflowError) as error:
            where = section.where(row)
            raise DataError(f"{shown(line)} is no line of terms", where=where) from error
    return tuple(found)


def _part(words: Sequence[str]) -> ClaimedPart:
    cosine, sine = (Fraction(float(word)) for word in words[:2])  # no NaN, no infinity
    multiples: dict[str, int] = {}
    powers: dict[str, int] = {}
    for word in words[2:]:
        wave, power = _WAVE.fullmatch(word), _POWER.fullmatch(word)
        match = wave or power
        if match is None or match[1] in multiples or match[1] in powers:
            raise ValueError(word)
        (multiples if wave else powers)[match[1]] = int(match[2])
    return ClaimedPart(cosine, sine, multiples, powers)


def _sum(part: ClaimedPart, space: Space) -> ClaimedWaveSum:
    """Expand a part."""
    c, s = float(part.cosine), float(part.sine)
    found = number(c)
    if part.multiples:
        found = number(0)
        for sign in (1, -1):
            wave = number(acb(c, -sign * s) / 2)
            for name, k in part.multiples.items():
                wave = wave * space.wave(name, sign * k)
            found = found + wave
    for name, power in part.powers.items():
        for _ in range(power):
            found = found * space.value(name)
    return found


def sum_differences(
    origin: CertificateSection, terms: Sequence[ClaimedTerm], steps: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Bound the differences between outputs and the sums of their terms, in steps."""
    found = {}
    with precise():
        space, specified = function_of(origin)
        for name, step in steps.items():
            if name not in specified:
                raise DoesNotHoldError(f"terms: {name} is no output of the origin")
            rest = specified[name]
            for term in terms:
                for part in term.parts if term.output == name else ():
                    rest = rest - space.fixed(_sum(part, space))
            difference = float(space.maximum(rest).upper())
            if not math.isfinite(difference) or Fraction(difference) > MOST_STEPS * step:
                raise DoesNotHoldError(
                    f"terms: the sum of the terms of {name} is another function: it may differ by "
                    f"{difference / float(step):.3g} steps"
                )
            found[name] = Fraction(difference) * Fraction(1 + 2**-50) / step
    return found


# --------------------------------------------------------------------------------------------------
# The checks.
# --------------------------------------------------------------------------------------------------

FINE = 10  # bits of inputs: limit of refinement for curvature
BENT, FLAT = Fraction(1, 1024), Fraction(1, 1 << 14)  # tolerated deviation, in steps of an output
EASY = 1 << 22  # states of a term: with more, cells are as wide as `BENT` allows
_BOUND = re.compile(r"(\w+) (-?\d{1,6}\.\d{1,20}) (-?\d{1,6}\.\d{1,20})")


@dataclass(frozen=True, slots=True)
class TermErrors:
    """Limits of an output's error, in steps of its word, and of its terms' errors, in theirs."""

    low: Fraction
    high: Fraction
    terms: tuple[tuple[Fraction, Fraction], ...]
    states: int


class Sums:
    """The outputs of a load, with the claimed terms; a `DataError` names a contradiction."""

    def __init__(self, load: LoadFiles) -> None:
        self.load, self.outputs, self.inputs = load, outputs_of(load), inputs_of(load)
        self.terms = read_terms(load.section("terms"))
        self.codes = {name: code for name, (_, code) in self.inputs.items()}
        claimed = [(one.output, one.name) for one in self.terms if one.name]
        made = [(output.name, one.name) for output in self.outputs for one in output.terms]
        if claimed != made:
            raise DoesNotHoldError(f"terms: {len(claimed)} are listed, but the program has others")
        self.tables: dict[int, Whole] = {}  # by network

    def of(
        self, output: ClaimedOutput
    ) -> tuple[list[tuple[ClaimedTerm, TableUse]], list[ClaimedTerm]]:
        """Return the terms of an output with their uses, and the terms left out."""
        mine = [one for one in self.terms if one.output == output.name]
        kept = [one for one in mine if one.name]
        return list(zip(kept, output.terms, strict=True)), [one for one in mine if not one.name]

    def grid(self, output: ClaimedOutput) -> dict[str, GridAxis]:
        """Select the cells of every input; all terms have the same."""
        pairs, _ = self.of(output)
        widths: dict[str, list[int]] = {}
        for term, use in pairs:
            if set(term.names) != {name for name, _, _ in use.words}:
                raise NotCoveredError(f"{term.name} has other inputs than its network reads")
            for name, count, _ in use.words:
                widths.setdefault(name, []).append(count)
        bits, grid = self._bits(output, widths), {}
        for name, counts in widths.items():
            line = self._line(name, bits[name], min(counts))
            grid[name] = GridAxis(line, (bits[name] + 1) * (len(counts) > 1))
        return self._coarser(grid, pairs)

    def _bits(self, output: ClaimedOutput, widths: Mapping[str, list[int]]) -> dict[str, int]:
        """Return the bits of grid cells: enough for all words, and more where terms are curved."""
        pairs, _ = self.of(output)
        words = {name: max(counts) for name, counts in widths.items()}
        sizes = self._sizes()

        def enough(name: str, tolerance: Fraction) -> int:
            bent = max(term.curvature(name, sizes) for term, _ in pairs)
            bent *= (self.codes[name].high - self.codes[name].low) ** 2 / 8
            allowed = tolerance * output.code.step
            found = (k for k in range(words[name], FINE) if bent <= allowed * 4**k)
            return next(found, max(words[name], FINE))

        coarse, bits = ({name: enough(name, one) for name in words} for one in (BENT, FLAT))
        for limit, least in ((EASY, coarse), (MOST_STATES, words)):
            for term, _ in pairs:
                while 1 << sum(bits[name] + 1 for name in term.names) > limit:
                    finer = [name for name in term.names if bits[name] > least[name]]
                    if not finer:
                        break
                    bits[max(finer, key=lambda name: bits[name])] -= 1
        return bits

    def _line(self, name: str, bits: int, fewest: int) -> InputCellsLine:
        one, code = self.inputs[name]
        width = code.high - code.low
        ends = (code.low, code.high) if code.wraps else (Fraction(one.low), Fraction(one.high))
        return InputCellsLine(
            name, code.low, width, bits, *ends, code.wraps, TIE * width / (1 << fewest)
        )

    def _coarser(
        self, grid: dict[str, GridAxis], pairs: list[tuple[ClaimedTerm, TableUse]]
    ) -> dict[str, GridAxis]:
        """Group states until the tables that terms share are small enough."""
        for term, _ in pairs:
            while prod(grid[name].extent for name in term.names) > MOST_TABLE:
                widest = max(term.names, key=lambda name: grid[name].extent)
                grid[widest] = replace(grid[widest], shared=grid[widest].shared - 1)
        return grid

    def errors(self, output: ClaimedOutput) -> tuple[list[StateErrors], Fraction, int]:
        """Return the errors of all terms over all states, their unit, and the number of states."""
        grid, (pairs, _) = self.grid(output), self.of(output)
        sizes = {name: axis.line.size for name, axis in grid.items()}
        room = fraction_bits([term for term, _ in pairs], sizes, output.step)
        unit, found, states = output.step / (1 << room), [], 0
        for term, use in pairs:
            count = prod(2 * len(grid[name].line.cells) for name in term.names)
            if count > MOST_STATES:
                raise NotCoveredError(f"{term.name} has {count} states")
            index = index_of(use, self.codes, grid)
            entries = halves_of(self._cells(use), use.code.bits) << (room - 1)
            found.append(errors_of(term, grid, index, entries, unit))
            states += count
        return found, unit, states

    def _cells(self, use: TableUse) -> Whole:
        """Return the cells that a term's network gives for all words, in order."""
        network = self.load.networks[use.network]
        expected = sum(bits - dropped for _, bits, dropped in use.words)
        if network.inputs != expected or len(network.outputs) != use.code.bits:
            raise DoesNotHoldError(
                f"{use.name}: its network has {network.inputs} inputs and {len(network.outputs)} "
                f"outputs, but its words have {expected} and {use.code.bits} bits"
            )
        if use.network not in self.tables:
            self.tables[use.network] = table_of(network)
        return cells_of(self.tables[use.network], use.code.bits, use.code.kind)

    def confirm(self, output: ClaimedOutput, difference: Fraction) -> TermErrors:
        """Enclose an output's error; `difference` bounds that of its terms' sum from the origin."""
        found, unit, states = self.errors(output)
        left = height_of(self.of(output)[1], self._sizes())
        low, high = limits_of(output, found, unit, left / output.code.step + difference)
        terms = tuple(
            (one.ends[0] * unit / output.step, one.ends[1] * unit / output.step) for one in found
        )
        return TermErrors(low, high, terms, states)

    def _sizes(self) -> dict[str, Fraction]:
        """Return the largest absolute values of all inputs, 1 for an input that is always zero."""
        inputs = read_origin(self.load.section("origin")).inputs
        ends = {one.name: (abs(Fraction(one.low)), abs(Fraction(one.high))) for one in inputs}
        return {name: max(both) or Fraction(1) for name, both in ends.items()}


def index_of(
    use: TableUse, codes: Mapping[str, ClaimedCode], grid: Mapping[str, GridAxis]
) -> dict[str, Whole]:
    """Return the contribution of each cell of a grid to the index of an entry."""
    index = {}
    for name, (bits, adds) in places(use, codes).items():
        line = grid[name].line
        index[name] = adds[line.cells >> (line.bits - bits)]
    return index


def halves_of(cells: Whole, bits: int) -> Whole:
    """Return the values of cells of a code about zero, in half steps."""
    return 2 * cells + 1 - (1 << bits)


def height_of(terms: Iterable[ClaimedTerm], sizes: Mapping[str, Fraction]) -> Fraction:
    """Bound the absolute value of a sum of terms."""
    return sum((part.height(sizes) for term in terms for part in term.parts), Fraction(0))


def limits_of(
    output: ClaimedOutput, errors: Sequence[StateErrors], unit: Fraction, more: Fraction
) -> tuple[Fraction, Fraction]:
    """Return the limits of an output's error, in steps of its word.

    `errors` are those of its terms; `more` bounds all other differences, in steps.
    """
    share = unit / output.code.step
    slack = sum(one.slack for one in errors)
    high = share * (largest([one.high for one in errors]) + slack)
    low = share * (largest([one.low for one in errors]) + slack)
    above, below = output.rounding()
    half = Fraction(1, 2)
    return min(above - low - more, -half), max(below + high + more, half)


def fraction_bits(
    terms: Iterable[ClaimedTerm], sizes: Mapping[str, Fraction], step: Fraction
) -> int:
    """Return the number of fraction bits of a step for which 64-bit numbers suffice."""
    steps = 0
    for term in terms:
        steps = max([steps, *(ceil(part.height(sizes) / step) for part in term.parts)])
    bits = min(16, 60 - SHIFT - steps.bit_length())
    if bits < 1:
        raise NotCoveredError("terms are too large in steps for 64-bit numbers")
    return bits


def read_bounds(section: CertificateSection) -> dict[str, tuple[Fraction, Fraction]]:
    """Read the claimed limits of all outputs; a `DataError` names the invalid line."""
    found = {}
    for row, line in enumerate(section.lines):
        match = _BOUND.fullmatch(line)
        if match is None or match[1] in found:
            raise DataError(
                f"{shown(line)} is no bound of a sum of tables", where=section.where(row)
            )
        found[match[1]] = Fraction(match[2]), Fraction(match[3])
    return found


def check_tabled(load: LoadFiles) -> Iterator[VerdictStep]:
    """Check the terms and bounds of a load."""
    claimed = read_bounds(load.section("bound"))
    differences: dict[str, Fraction] = {}
    sums: list[Sums] = []

    def words() -> CheckedCases:
        sums.append(Sums(load))
        names = [one.name for one in sums[0].outputs]
        if list(claimed) != names:
            raise DoesNotHoldError("bound: its outputs are not those of the program")
        count = sum(len(one.terms) for one in sums[0].outputs)
        return CheckedCases(count, f"{count} terms with consistent codes, ranges and steps")

    def same() -> CheckedCases:
        one = sums[0]
        steps = {output.name: output.code.step for output in one.outputs}
        differences.update(sum_differences(load.section("origin"), one.terms, steps))
        listed = ", ".join(f"{name} {float(x):.2g}" for name, x in differences.items())
        return CheckedCases(
            sum(len(t.parts) for t in one.terms), f"largest differences, in LSB: {listed}"
        )

    yield checked("sum of terms", "rule of program.json", words)
    if not sums:
        return
    yield checked("waves to terms", "coefficients compared in balls", same)
    for output in sums[0].outputs:
        yield checked(
            f"error of {output.name}", "all words of all tables, whole cells",
            partial(_holds, sums[0], output, claimed[output.name], differences),
        )  # fmt: skip


def _holds(
    sums: Sums,
    output: ClaimedOutput,
    claimed: tuple[Fraction, Fraction],
    differences: Mapping[str, Fraction],
) -> CheckedCases:
    if output.name not in differences:
        raise NotCoveredError("its terms could not be compared with the origin")
    found = sums.confirm(output, differences[output.name])
    for (term, _), (low, high) in zip(sums.of(output)[0], found.terms, strict=True):
        if low < term.low or term.high < high:
            raise DoesNotHoldError(
                f"{output.name}: entries of {term.name} minus the term are {float(low):.4f} .. "
                f"{float(high):.4f} steps, but {float(term.low):.4f} .. {float(term.high):.4f} is "
                "claimed"
            )
    low, high = claimed
    limits = f"{float(low):.4f} .. {float(high):.4f} steps claimed"
    confirmed = f"{float(found.low):.4f} .. {float(found.high):.4f} confirmed"
    if found.low < low or high < found.high:
        raise DoesNotHoldError(f"{output.name}: {limits}, {confirmed}")
    printed = output.bound
    if printed is None or printed < max(high, -low) * output.code.step:
        raise DoesNotHoldError(
            f"{output.name}: the bound in program.json is {printed and float(printed)}, but the "
            f"claim amounts to {float(max(high, -low) * output.code.step)}"
        )
    return CheckedCases(found.states, f"{limits}, {confirmed}")
