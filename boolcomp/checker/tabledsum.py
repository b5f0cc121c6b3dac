"""Sums of tables as a program says them: words that networks read, codes, and how sums are rounded.

Cell k of a table of b bits stands for (k + ½ - 2^(b-1))·s, where s is the same for all terms of an
output, and K = floor((Σ k + C) / 2^m) is the output's cell: C = (2^(bits + m) - Σ (2^b - 1)) / 2,
rounded down. No adders are saved: this rule is what a program of paper mode means.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.checker.origin import read_origin
from boolcomp.checker.steps import DoesNotHoldError, NotCoveredError
from boolcomp.checker.tablednets import KINDS, cells_of, table_of, words_of
from boolcomp.common.errors import DataError, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.origin import Input

    Whole = NDArray[np.int64]

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
