"""Checks a certificate of paper mode: waves to terms, terms to tables, and the errors of sums.

    y(w) - τ(x) = [y(w) - Σ entries] + Σ [entry - term(x)] + [Σ terms - τ](x)

The section `bound` says between what that lies, in steps of an output's word:

    tau1 -2.269 2.269
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, prod
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import acb, arb, ctx, fmpq

from boolcomp.base.errors import DataError, shown
from boolcomp.checker.folder import DoesNotHoldError, Found, NotCoveredError, Step, checked
from boolcomp.checker.problem import function_of, read_origin
from boolcomp.checker.robot import number, precise
from boolcomp.checker.spans import PLACES, of_ball

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.folder import LoadFiles, Section
    from boolcomp.checker.problem import Input
    from boolcomp.checker.robot import Space, Sum
    from boolcomp.logic.network import Network

    Whole = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Errors of tables over whole cells, and the largest sum of several that share inputs.
#
# A term is looked at on a grid: between its corners it is what multilinear interpolation says but
# for Σ h²/8 · sup|∂²f|, and the largest of sums of such functions is at a corner that all of them
# share. So a *state* of an input is a cell of the grid and a side of it. Waves are balls, rounded
# once to whole numbers of 2^-30; what every number errs by is counted.
# --------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    Table = tuple[tuple[str, ...], Whole]


SHIFT = 30
BLOCK, MOST_STATES, MOST_TABLE = 1 << 20, 1 << 26, 1 << 22


@dataclass(frozen=True)
class Line:
    """An input: 2^bits cells divide its word's range, and it lies between `least` and `most`.

    Values that are no more than `tie` below a border may be taken for on it.
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
        """How wide a cell is."""
        return self.width / (1 << self.bits)

    @cached_property
    def reached(self) -> tuple[int, int]:
        """The first and the last cell in which the input may be."""
        top = (1 << self.bits) - 1
        if self.wraps:
            return 0, top
        first = (self.least - self.low) // self.cell
        last = (self.most + self.tie - self.low) // self.cell
        return min(max(int(first), 0), top), min(max(int(last), 0), top)

    @cached_property
    def places(self) -> tuple[Fraction, ...]:
        """The corners of all cells that are reached, as far as the input goes."""
        first, last = self.reached
        found = (self.low + self.cell * k for k in range(first, last + 2))
        return tuple(min(max(x, self.least), self.most) for x in found)

    @property
    def size(self) -> Fraction:
        """The largest size of a value; not 0."""
        return max(abs(self.least), abs(self.most)) or Fraction(1)

    @cached_property
    def states(self) -> tuple[Whole, Whole]:
        """Of every state the cell, and the place of its corner."""
        first, last = self.reached
        cells = np.repeat(np.arange(first, last + 1, dtype=np.int64), 2)
        return cells, cells - first + np.arange(len(cells)) % 2

    def shares(self) -> Whole:
        """Return places as shares of the size, a unit too low at most."""
        found = [(x / self.size * (1 << SHIFT)).__floor__() for x in self.places]
        return np.array(found, np.int64)

    def turned(self, k: int) -> tuple[Whole, Whole]:
        """Return cosines and sines of k times the places; they err by less than a unit."""
        cosines, sines = [], []
        with ctx.workprec(160):
            for x in self.places:
                angle = arb(fmpq(k * x.numerator, x.denominator))
                cosines.append(_below(angle.cos()))
                sines.append(_below(angle.sin()))
        return np.array(cosines, np.int64), np.array(sines, np.int64)


def _below(ball: arb) -> int:
    """Return a number in units: less than two too low, and never too high."""
    return int(of_ball(ball).low >> (PLACES - SHIFT))


@dataclass(frozen=True, slots=True)
class Grid:
    """The lines of some inputs; a table has `told` of them, in states or groups of 2^`groups`."""

    lines: Mapping[str, Line]
    told: frozenset[str]
    groups: Mapping[str, int]

    def extent(self, name: str) -> int:
        """Return how many groups of states an input has."""
        return -(-len(self.lines[name].states[0]) >> self.groups[name])


@dataclass(frozen=True, slots=True)
class Errors:
    """Of a table less its term: the largest and minus the smallest by groups of states, in units.

    Both are beside the truth by `slack` at most, which is rounded up. `ends` are the smallest and
    the largest of all.
    """

    high: Table
    low: Table
    slack: int
    ends: tuple[int, int]


def errors_of(
    term: Term, grid: Grid, index: Mapping[str, Whole], table: Whole, unit: Fraction
) -> Errors:
    """Return what entries, in units, err by: of every state `index` adds up to an entry's place.

    `index` gives the parts of a place in the table by cells of the grid.
    """
    names = term.names
    lines = [grid.lines[name] for name in names]
    shape = [len(line.states[0]) for line in lines]
    if prod(shape) > MOST_STATES:
        raise NotCoveredError(f"{term.name} has {prod(shape)} states")
    field = Field(term, lines, unit)
    rows = max(1, BLOCK // prod(shape[1:]))
    kept = tuple(name for name in names if name in grid.told)
    highs, lows, most, least = [], [], [], []
    for start in range(0, shape[0] if shape else 1, rows):
        at = [slice(start, start + rows), *(slice(None) for _ in shape[1:])][: len(shape)]
        place: Whole = np.zeros([1] * len(shape), np.int64)
        for axis, (name, line, part) in enumerate(zip(names, lines, at, strict=True)):
            cells = line.states[0][part] - line.reached[0]
            place = place + _along(index[name][cells], axis, len(shape))
        error = table[place] - field.at(
            [line.states[1][part] for line, part in zip(lines, at, strict=True)]
        )
        most.append(int(error.max()))
        least.append(int(error.min()))
        gone = tuple(axis for axis, name in enumerate(names) if name not in grid.told)
        highs.append(error.max(axis=gone))
        lows.append((-error).max(axis=gone))
    joined = names and names[0] in grid.told
    high, low = (
        np.concatenate(one) if joined else np.max(np.stack(one), axis=0) for one in (highs, lows)
    )
    slack = field.slack + _beside(term, lines, unit)
    ends = min(least) - slack, max(most) + slack
    return Errors(
        (kept, _grouped(high, kept, grid)), (kept, _grouped(low, kept, grid)), slack, ends
    )


def _grouped(values: Whole, names: Sequence[str], grid: Grid) -> Whole:
    for axis, name in enumerate(names):
        if step := grid.groups[name]:
            starts = np.arange(0, values.shape[axis], 1 << step)
            values = np.maximum.reduceat(values, starts, axis=axis)
    return values


def _beside(term: Term, lines: Sequence[Line], unit: Fraction) -> int:
    """Return by how much a term may differ from what corners say: bends, and values on borders."""
    sizes = {line.name: line.size for line in lines}
    found = Fraction(0)
    for line in lines:
        found += term.bends(line.name, sizes) * line.cell**2 / 8
        found += term.slope(line.name, sizes) * 2 * line.tie
    return ceil(found / unit)


class Field:
    """A term at corners of cells, in units; values err by no more than `slack` units."""

    def __init__(self, term: Term, lines: Sequence[Line], unit: Fraction) -> None:
        self.lines, self.slack = lines, 0
        sizes = {line.name: line.size for line in lines}
        self.parts = [(part, *self._scaled(part, sizes, unit)) for part in term.parts]
        self.turned = {
            (name, k): line.turned(k)
            for line in lines
            for name in [line.name]
            for k in {part.multiples.get(name, 0) for part in term.parts} - {0}
        }
        self.shares = {
            line.name: line.shares()
            for line in lines
            if any(line.name in part.powers for part in term.parts)
        }
        for part, c, s in self.parts:
            error = 1
            for _ in part.multiples:
                error = 3 * (error + 2) // 2 + 3
            error += 3 * sum(part.powers.values())
            self.slack += ((abs(c) + abs(s)) * error >> SHIFT) + 5

    def _scaled(self, part: Part, sizes: Mapping[str, Fraction], unit: Fraction) -> tuple[int, int]:
        size = prod((sizes[name] ** k for name, k in part.powers.items()), start=Fraction(1))
        c, s = (round(one * size / unit) for one in (part.cosine, part.sine))
        if max(abs(c), abs(s)) >> (61 - SHIFT):
            raise NotCoveredError("a term is too large for numbers of 64 bits")
        return c, s

    def at(self, corners: Sequence[Whole]) -> Whole:
        """Return values at all combinations of corners, in units."""
        axes = len(corners)
        total: Whole = np.zeros([1] * axes, np.int64)
        for part, c, s in self.parts:
            cosine: Whole = np.full([1] * axes, 1 << SHIFT, np.int64)
            sine: Whole = np.zeros([1] * axes, np.int64)
            for axis, line in enumerate(self.lines):
                if k := part.multiples.get(line.name, 0):
                    a, b = (
                        _along(one[corners[axis]], axis, axes) for one in self.turned[line.name, k]
                    )
                    cosine, sine = (
                        (cosine * a - sine * b) >> SHIFT,
                        (cosine * b + sine * a) >> SHIFT,
                    )
            for axis, line in enumerate(self.lines):
                for _ in range(part.powers.get(line.name, 0)):
                    share = _along(self.shares[line.name][corners[axis]], axis, axes)
                    cosine, sine = cosine * share >> SHIFT, sine * share >> SHIFT
            total = total + (cosine * c >> SHIFT) + (sine * s >> SHIFT)
        return total


def _along(values: Whole, axis: int, axes: int) -> Whole:
    shape = [1] * axes
    shape[axis] = -1
    return values.reshape(shape)


def largest(tables: Sequence[Table], most: int = MOST_TABLE) -> int:
    """Return what the sum of tables never exceeds: one input after the other is maximised out.

    Where tables together would have more than `most` numbers, they take an input each for itself.
    """
    left, found = list(tables), 0
    while names := {name for scope, _ in left for name in scope}:
        extents = {n: size for scope, one in left for n, size in zip(scope, one.shape, strict=True)}

        def union(name: str, of: Sequence[Table], sizes: Mapping[str, int] = extents) -> int:
            return prod(sizes[n] for n in {n for scope, _ in of if name in scope for n in scope})

        name = min(sorted(names), key=lambda one: union(one, left))
        bucket = [one for one in left if name in one[0]]
        left = [one for one in left if name not in one[0]]
        while bucket:
            part = [bucket.pop()]
            for other in list(bucket):
                if union(name, [*part, other]) <= most:
                    bucket.remove(other)
                    part.append(other)
            scope = tuple(sorted({n for names, _ in part for n in names}))
            total = sum((_spread(one, scope) for one in part), np.zeros([1] * len(scope), np.int64))
            rest = tuple(n for n in scope if n != name)
            left.append((rest, total.max(axis=scope.index(name))))
    for _, one in left:
        found += int(one)
    return found


def _spread(table: Table, scope: Sequence[str]) -> Whole:
    """Return a table with axes for all of a scope; names of both are sorted."""
    names, values = table
    sizes = dict(zip(names, values.shape, strict=True))
    return values.reshape([sizes.get(name, 1) for name in scope])


# --------------------------------------------------------------------------------------------------
# What a term's network gives for all words that it reads: its table, by simulation.
#
# A signal is one large whole number: bit r is its value at the r-th of all words.
# --------------------------------------------------------------------------------------------------


MOST_INPUTS = 22  # bits that a network reads: four million words
KINDS = ("gray", "natural", "twos", "sign-magnitude")


def table_of(network: Network) -> Whole:
    """Return the output words for all input words; first inputs and outputs are the highest."""
    if network.inputs > MOST_INPUTS:
        raise NotCoveredError(f"a network of {network.inputs} inputs has too many words")
    rows = 1 << network.inputs
    everywhere = (1 << rows) - 1
    values: dict[int, int] = {0: 0, 1: everywhere}
    for k in range(network.inputs):
        half = 1 << (network.inputs - 1 - k)  # rows without it, then as many with it
        values[2 + k] = everywhere // ((1 << half) + 1) << half
    last: dict[int, int] = {}
    for signal, (_, operands) in enumerate(network.nodes, 2 + network.inputs):
        last |= dict.fromkeys(operands, signal)
    kept = set(network.outputs)
    for signal, (lut, operands) in enumerate(network.nodes, 2 + network.inputs):
        values[signal] = _node(lut, [values[k] for k in operands], everywhere)
        for k in operands:
            if last[k] == signal and k not in kept:
                del values[k]
    found = np.zeros(rows, np.int64)
    for k in network.outputs:
        data = np.frombuffer(values[k].to_bytes((rows + 7) // 8, "little"), np.uint8)
        found = found << 1 | np.unpackbits(data, count=rows, bitorder="little")
    return found


def _node(lut: int, operands: Sequence[int], everywhere: int) -> int:
    """Return a node: bit 4a + 2b + c of its table is its value; operands that lack are 0."""
    a, b, c = [*operands, 0, 0][:3]
    found = 0
    for place in range(1 << len(operands)):
        row = place << (3 - len(operands))
        if lut >> row & 1:
            one = everywhere
            for k, x in ((4, a), (2, b), (1, c)):
                if row & k:
                    one &= x
                elif k >> (3 - len(operands)):
                    one &= ~x
            found |= one
    return found


def words_of(cells: Whole, bits: int, kind: str) -> Whole:
    """Return the words of cells in a code."""
    half = np.int64(1 << (bits - 1))
    if kind == "gray":
        return cells ^ (cells >> 1)
    if kind == "twos":
        return cells ^ half
    if kind == "sign-magnitude":
        return np.where(cells >= half, cells - half, half | (half - 1 - cells))
    return cells


def cells_of(words: Whole, bits: int, kind: str) -> Whole:
    """Return the cells of words in a code."""
    cells = np.arange(1 << bits, dtype=np.int64)
    back = np.empty_like(cells)
    back[words_of(cells, bits, kind)] = cells
    return back[words]


# --------------------------------------------------------------------------------------------------
# Sums of tables as a program says them: words that networks read, codes, and how sums are rounded.
#
# Cell k of a table of b bits stands for (k + ½ - 2^(b-1))·s, where s is the same for all terms of
# an output, and K = floor((Σ k + C) / 2^m) is the output's cell: C = (2^(bits + m) - Σ (2^b - 1)) /
# 2, rounded down. No adders are saved: this rule is what a program of paper mode means.
# --------------------------------------------------------------------------------------------------


TIE = Fraction(1, 10**9)  # of a cell: what encoders take for on the border above
DECODER = Fraction(1, 1 << 16)  # of a step: more than what decoders round
MOST_BITS, MOST_GUARD, MOST_TERMS = 32, 16, 10_000


@dataclass(frozen=True, slots=True)
class Code:
    """A word of 2^bits cells from low to high."""

    low: Fraction
    high: Fraction
    bits: int
    kind: str
    wraps: bool

    @property
    def step(self) -> Fraction:
        """How wide a cell is."""
        return (self.high - self.low) / (1 << self.bits)


@dataclass(frozen=True, slots=True)
class Use:
    """A term: which network makes its table, and what that reads: inputs, leading bits, dropped."""

    name: str
    network: int
    code: Code
    words: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Output:
    """An output: its word, guard bits, and its terms; `bound` is in its unit."""

    name: str
    code: Code
    guard: int
    terms: tuple[Use, ...]
    bound: Fraction | None

    @property
    def step(self) -> Fraction:
        """The step that all tables share."""
        return self.code.step / (1 << self.guard)

    def rounding(self) -> tuple[Fraction, Fraction]:
        """Return between what the word's value less the sum of entries lies, in the word's steps.

        Terms of one table and the same words are as often there as they are: what they add up to
        has remainders of that kind alone.
        """
        whole = 1 << self.guard
        same = Counter((one.network, one.code, one.words) for one in self.terms)
        apart = math.gcd(whole, *same.values())
        cells = sum((1 << one.code.bits) - 1 for one in self.terms)
        offset = ((whole << self.code.bits) - cells) // 2
        # of N = Σ k and its remainder r: y = low + ½ whole + offset - r + N, entries N - cells / 2
        above = self.code.low / self.step + Fraction(whole, 2) + offset + Fraction(cells, 2)
        rests = offset % apart, offset % apart + whole - apart
        return (above - rests[1]) / whole - DECODER, (above - rests[0]) / whole + DECODER


def outputs_of(load: LoadFiles) -> tuple[Output, ...]:
    """Return the sums of a load; a `DataError` says what is none."""
    if load.graph is not None or "network" in load.said:
        raise DataError("program.json: a load of compact mode has no terms")
    try:
        names = [one["name"] for one in load.document["inputs"]]
        if len(set(names)) < len(names) or min(0, *_read(load)) < 0:
            raise DataError("program.json: inputs with one name, or words of none")
        return tuple(_output(one, names) for one in load.said["outputs"])
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"program.json: the terms of load {load.place} are none") from error


def _read(load: LoadFiles) -> list[int]:
    found = [0]
    for output in load.said["outputs"]:
        found += [k for term in output["terms"] for word in term["words"] for k in word]
        found += [term["network"] for term in output["terms"]]
    return found


def _output(said: Mapping[str, Any], names: list[str]) -> Output:
    terms = tuple(
        Use(
            one["name"], one["network"], _code(one["code"]),
            tuple((names[place], bits, dropped) for place, bits, dropped in one["words"]),
        )
        for one in said["terms"]
    )  # fmt: skip
    guard, bound = said["guard_bits"], said.get("bound")
    output = Output(
        said["name"], _code(said["code"]), guard, terms, None if bound is None else Fraction(bound)
    )
    if "rest" in said:
        raise DoesNotHoldError(f"{output.name} is held at zero, which sums of tables are not")
    if not 0 <= guard <= MOST_GUARD or len(terms) > MOST_TERMS:
        raise DataError(f"program.json: {output.name} has {shown(guard)} guard bits")
    for one in terms:
        middle = one.code.low + one.code.high
        if one.code.step != output.step or middle:
            raise DoesNotHoldError(
                f"{one.name} of {output.name}: a step of {float(one.code.step)!r} about "
                f"{float(middle / 2)!r}, and the sum has {float(output.step)!r} about 0"
            )
    return output


def _code(said: Mapping[str, Any]) -> Code:
    low, high = (Fraction(float(x)) for x in said["range"])
    bits, kind = said["bits"], said["kind"]
    if not isinstance(bits, int) or not 1 <= bits <= MOST_BITS or not low < high:
        raise DataError("program.json: a code is none")
    if kind not in KINDS or said.get("zero", "rise") != "rise":
        raise NotCoveredError(f"words in {shown(kind)}, or with a cell at zero")
    return Code(low, high, bits, kind, said.get("wraps", False) is True)


def inputs_of(load: LoadFiles) -> dict[str, tuple[Input, Code]]:
    """Return the inputs of a program, after their words and stops were seen to be the origin's."""
    asked = {one.name: one for one in read_origin(load.section("origin")).inputs}
    stops = {name: (low, high) for name, low, high in load.document.get("stops", [])}
    found = {}
    for said in load.document["inputs"]:
        code, one = _code(said["code"]), asked.get(said["name"])
        if one is None or one.word is None:
            raise DoesNotHoldError(f"the program reads {shown(said['name'])}, which is no input")
        word = one.word
        claimed = Fraction(word.low), Fraction(word.high), word.bits, word.wraps
        if claimed != (code.low, code.high, code.bits, code.wraps):
            raise DoesNotHoldError(f"the word of {one.name} is another one than its origin says")
        within = stops.get(one.name, (word.low, word.high))
        if not code.wraps and tuple(within) != (one.low, one.high):
            raise DoesNotHoldError(f"{one.name}: stops are {within}, and its origin says others")
        if not word.low <= one.low <= one.high <= word.high:
            raise NotCoveredError(f"{one.name} may be where its word does not reach")
        if code.wraps and (not one.angle or abs(word.high - word.low - 2 * math.pi) > 1e-12):
            raise NotCoveredError(f"{one.name} wraps, and is no angle of a whole turn")
        found[one.name] = one, code
    return found


class Tables:
    """Tables of terms, each simulated once, and how places in them are made of cells."""

    def __init__(self, load: LoadFiles) -> None:
        self.load, self.words = load, 0
        self.known: dict[int, Whole] = {}

    def cells(self, use: Use) -> Whole:
        """Return the cell that a term's network says for all words, in order."""
        network = self.load.networks[use.network]
        wanted = sum(bits - dropped for _, bits, dropped in use.words)
        if network.inputs != wanted or len(network.outputs) != use.code.bits:
            raise DoesNotHoldError(
                f"{use.name}: its network has {network.inputs} inputs and {len(network.outputs)} "
                f"outputs, and its words {wanted} and {use.code.bits}"
            )
        if use.network not in self.known:
            self.known[use.network] = table_of(network)
            self.words += 1 << network.inputs
        return cells_of(self.known[use.network], use.code.bits, use.code.kind)


def places(use: Use, codes: Mapping[str, Code]) -> dict[str, tuple[int, Whole]]:
    """Return, for every input of a term, its leading bits, and of all their cells what each adds.

    A place is made of the bits that are read of all words, the first word's bits the highest.
    """
    found: dict[str, tuple[int, Whole]] = {}
    below = 0
    for name, bits, dropped in reversed(use.words):
        if name in found or not 0 <= dropped <= 1 or not 1 <= bits <= codes[name].bits:
            raise DoesNotHoldError(f"{use.name} reads {bits} bits of {name}, which are none")
        word = words_of(np.arange(1 << bits, dtype=np.int64), bits, codes[name].kind)
        found[name] = bits, (word & ((1 << (bits - dropped)) - 1)) << below
        below += bits - dropped
    return found


# --------------------------------------------------------------------------------------------------
# The section `terms` of paper mode: what every table stands for, and what was left out.
#
#     tau1 T12 -1.25 1.25 = 4.0 0.0 qdd2^1 | 5.0 0.0 q2*1 qdd2^1
#     tau1 left = 0.001 0.0 q3*2
#
# After the output and the term: between what its entries less the term lie, in steps that all terms
# share, over whole cells. A part `a b q2*1 qdd2^1` is (a cos φ + b sin φ)·qdd2, with φ = 1·q2.
# Terms come in the order of `program.json`, which says what their networks read.
# --------------------------------------------------------------------------------------------------


MOST_STEPS = Fraction(1, 64)  # of an output: terms that differ by more are another function
_NUMBER = r"(-?\d{1,9}(?:\.\d{1,20})?)"
_LINE = re.compile(rf"(\w+) (?:(\S+) {_NUMBER} {_NUMBER}|left) = (.*)")
_WAVE, _POWER = re.compile(r"(\w+)\*(-?\d{1,3})"), re.compile(r"(\w+)\^(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Part:
    """(cosine·cos φ + sine·sin φ) Π x^power with exact coefficients; φ = Σ multiple·x."""

    cosine: Fraction
    sine: Fraction
    multiples: Mapping[str, int]
    powers: Mapping[str, int]

    def height(self, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what it never exceeds."""
        found = abs(self.cosine) + abs(self.sine)
        for name, power in self.powers.items():
            found *= sizes[name] ** power
        return found


@dataclass(frozen=True, slots=True)
class Term:
    """A term, and between which numbers its table less the term lies; one `left` out has none."""

    output: str
    name: str
    low: Fraction
    high: Fraction
    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Its inputs."""
        return tuple(sorted({name for p in self.parts for name in (*p.multiples, *p.powers)}))

    def bends(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what its second derivative along an input never exceeds."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (k * k + power * (power - 1) / sizes[name] ** 2)
        return found

    def slope(self, name: str, sizes: Mapping[str, Fraction]) -> Fraction:
        """Return what its derivative along an input never exceeds."""
        found = Fraction(0)
        for part in self.parts:
            k, power = part.multiples.get(name, 0), part.powers.get(name, 0)
            found += part.height(sizes) * (abs(k) + power / sizes[name])
        return found


def read_terms(section: Section) -> tuple[Term, ...]:
    """Read the section; a `DataError` names the line that is wrong."""
    found = []
    for row, line in enumerate(section.lines):
        said = _LINE.fullmatch(line)
        try:
            if said is None:
                raise ValueError(line)  # noqa: TRY301 (one sentence for all that is wrong)
            ends = Fraction(said[3] or 0), Fraction(said[4] or 0)
            parts = tuple(_part(text.split(" ")) for text in said[5].split(" | "))
            found.append(Term(said[1], said[2] or "", *ends, parts))
        except (ValueError, IndexError, OverflowError) as error:
            where = section.where(row)
            raise DataError(f"{where}: {shown(line)} is no line of terms") from error
    return tuple(found)


def _part(words: Sequence[str]) -> Part:
    cosine, sine = (Fraction(float(word)) for word in words[:2])  # no NaN, no infinity
    multiples: dict[str, int] = {}
    powers: dict[str, int] = {}
    for word in words[2:]:
        wave, power = _WAVE.fullmatch(word), _POWER.fullmatch(word)
        match = wave or power
        if match is None or match[1] in multiples or match[1] in powers:
            raise ValueError(word)
        (multiples if wave else powers)[match[1]] = int(match[2])
    return Part(cosine, sine, multiples, powers)


def _sum(part: Part, space: Space) -> Sum:
    """Return a part as a sum of waves."""
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
    origin: Section, terms: Sequence[Term], steps: Mapping[str, Fraction]
) -> dict[str, Fraction]:
    """Return by how many steps outputs may differ from the sums of their terms."""
    found = {}
    with precise():
        space, asked = function_of(origin)
        for name, step in steps.items():
            if name not in asked:
                raise DoesNotHoldError(f"terms: {name} is no output of what was asked")
            beside = asked[name]
            for term in terms:
                for part in term.parts if term.output == name else ():
                    beside = beside - space.held(_sum(part, space))
            most = float(space.most(beside).upper())
            if not math.isfinite(most) or Fraction(most) > MOST_STEPS * step:
                raise DoesNotHoldError(
                    f"terms: the sum of the terms of {name} is another function: it may differ by "
                    f"{most / float(step):.3g} steps"
                )
            found[name] = Fraction(most) * Fraction(1 + 2**-50) / step
    return found


# --------------------------------------------------------------------------------------------------
# Checks a certificate of paper mode: waves to terms, terms to tables, and the errors of sums.
# --------------------------------------------------------------------------------------------------


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
