"""The bdd engine: tables as decision diagrams of words, walked sample by sample.

A walk tests one bit at a time and ends at the word of all bits of a table; sums are integer sums.
A network other than a sum must be a table of few input bits, else UsageError.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.base.loops import njit
from boolcomp.codes import MOST_TURNS, TIE, Code
from boolcomp.engines.engine import Evaluation, not_codable
from boolcomp.logic.diagrams import MOST_INPUTS, MOST_WORD, Forest, diagram_of, narrowed, words_of
from boolcomp.logic.network import Builder, copied
from boolcomp.problem.words import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Batch, Call, Wiring
    from boolcomp.logic.adders import Sum
    from boolcomp.logic.diagrams import Diagram
    from boolcomp.logic.network import Network

# --------------------------------------------------------------------------------------------------
# Compiled loops: numbers to words, walks through decision diagrams, sums, and words to numbers.
# Numbers are coded by the same operations as in `codes.Code`, for equal bits.
# --------------------------------------------------------------------------------------------------

# mypy: disable-error-code="untyped-decorator"

WALK, ADD = 0, 1  # kinds of steps


@njit(cache=True)
def walk(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    words: Any, steps: Any, nodes: Any, leaves: Any, addends: Any, sums: Any, cells: Any
) -> None:
    """Fill the columns of words, step by step, in the rows of all samples.

    A step is (kind, column to fill, root of a walk | place of a sum). A node is (column, shift,
    node on 0, node on 1); a leaf is ~ its place. An addend is (column, shift, bits, place of the
    cell of its word 0, times); a sum (first addend, end, offset, guard bits, bits).
    """
    for row in range(len(words)):
        given = words[row]
        for k in range(len(steps)):
            target, at = steps[k, 1], steps[k, 2]
            if steps[k, 0] == WALK:
                while at >= 0:
                    at = nodes[at, 2 + (given[nodes[at, 0]] >> nodes[at, 1] & 1)]
                given[target] = leaves[~at]
                continue
            total = sums[at, 2]
            for j in range(sums[at, 0], sums[at, 1]):
                bits = addends[j, 2]
                word = given[addends[j, 0]] >> addends[j, 1] & ((1 << bits) - 1)
                total += addends[j, 4] * cells[addends[j, 3] + word]
            total >>= sums[at, 3]
            last = (1 << sums[at, 4]) - 1
            cell = min(max(total, 0), last)
            given[target] = cell << 1 | (cell != total)


@njit(cache=True)
def read(given: Any, words: Any, ports: Any, ranges: Any) -> Any:
    """Fill the first columns of words from numbers; return the saturations, or -1 for a bad number.

    A port is (column of numbers, cells, first cell that has a word, wraps, Gray). Its range is its
    lower end, its step, and its length in steps.
    """
    outside = 0
    for row in range(len(given)):
        for k in range(len(ports)):
            cells = ports[k, 1]
            value = float(given[row, ports[k, 0]])
            scaled = (value - ranges[k, 0]) / ranges[k, 1]
            if not math.isfinite(value):
                return -1
            if ports[k, 3]:
                if abs(value) > MOST_TURNS * ranges[k, 2]:
                    return -1
                scaled -= math.floor(scaled / cells) * cells
                cell = math.floor(scaled + TIE) & (cells - 1)
            else:
                outside += scaled < -TIE or scaled > ranges[k, 2] + TIE
                scaled = min(max(scaled, 0.0), float(cells))
                cell = min(max(math.floor(scaled + TIE), ports[k, 2]), cells - 1)
            words[row, k] = cell ^ cell >> 1 if ports[k, 4] else cell
    return outside


@njit(cache=True)
def write(columns: Any, results: Any, runs: Any, scales: Any, values: Any, words: Any) -> Any:
    """Fill values and words of results from columns; return the number of saturated results.

    A result is (first run of bits, end, Gray, column and shift of its flag). A run is (column,
    shift, bits), most significant first. A scale is (number added to a cell, base, step).
    """
    clipped = 0
    for row in range(len(columns)):
        for k in range(len(results)):
            cell = 0
            for j in range(results[k, 0], results[k, 1]):
                part = columns[row, runs[j, 0]] >> runs[j, 1] & ((1 << runs[j, 2]) - 1)
                cell = cell << runs[j, 2] | part
            values[row, k] = scales[k, 1] + (cell + scales[k, 0]) * scales[k, 2]
            words[row, k] = cell ^ cell >> 1 if results[k, 2] else cell
            clipped += columns[row, results[k, 3]] >> results[k, 4] & 1
    return clipped


# --------------------------------------------------------------------------------------------------
# The engine.
# --------------------------------------------------------------------------------------------------

ROWS = 1 << 14  # samples at a time: their words fit into the second-level cache
UNIT = Interval(-1.0, 1.0)


class _ColumnBits(NamedTuple):
    """Adjacent bits in a column of words, above its lowest `shift`."""

    column: int
    shift: int
    bits: int


class _Steps:
    """Compiles a wiring to steps that fill columns of words."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.places: list[tuple[int, int]] = []  # column and shift of every plane
        self.columns = 0
        self.steps: list[tuple[int, int, int]] = []
        self.forest = Forest()
        self.addends: list[tuple[int, ...]] = []
        self.sums: list[tuple[int, ...]] = []
        self.coded: dict[Code, int] = {}  # codes of addends, and where their cells are
        self.cells: list[int] = []  # of all words of these codes
        self.made: dict[tuple[Network, tuple[int, ...]], list[Diagram]] = {}
        self.bits: list[tuple[int, int]] = []  # column and shift of every tested bit
        self.numbers: dict[tuple[int, int], int] = {}
        for port in wiring.ports:
            self._column(port.code.bits)
        for call in wiring.calls:
            network = wiring.networks[call.network]
            if call.total is None:
                self._walk(network, call)
            else:
                self._add(call.total, call)

    def _column(self, bits: int) -> int:
        self.places += [(self.columns, bits - 1 - k) for k in range(bits)]
        self.columns += 1
        return self.columns - 1

    def _walk(self, whole: Network, call: Call) -> None:
        network, kept = narrowed(whole)
        if network.inputs > MOST_INPUTS:
            raise UsageError(
                f"engine 'bdd' supports tables of at most {MOST_INPUTS} input bits, this program "
                f"has one of {network.inputs}",
                "compile it with --mode paper, or use engine 'numpy' or 'llvm'",
            )
        reads = [self.places[call.inputs[k]] for k in kept]
        spans = tuple(field.bits for field in fields(reads))
        if (network, spans) not in self.made:
            self.made[network, spans] = [
                diagram_of(words_of(part), part.inputs, spans) for part in _parts(network)
            ]
        for place in reads:
            if self.numbers.setdefault(place, len(self.bits)) == len(self.bits):
                self.bits.append(place)
        left = len(network.outputs)
        for diagram in self.made[network, spans]:
            first = self.forest.add(diagram, [self.numbers[place] for place in reads])
            column = self._column(min(left, MOST_WORD))
            left -= MOST_WORD
            self.steps.append((WALK, column, first))

    def _add(self, total: Sum, call: Call) -> None:
        first, place = len(self.addends), 0
        for addend in total.addends:
            planes = call.inputs[place : place + addend.bits]
            place += addend.bits
            (field,) = fields([self.places[plane] for plane in planes])
            code = Code(UNIT, addend.bits, addend.kind)
            if self.coded.setdefault(code, len(self.cells)) == len(self.cells):
                self.cells += code.index(np.arange(code.cells)).tolist()
            self.addends.append((*field, self.coded[code], addend.times))
        last = len(self.addends)
        self.sums.append((first, last, total.offset, total.guard_bits, total.bits))
        self.steps.append((ADD, self._column(total.bits + 1), len(self.sums) - 1))

    def nodes(self) -> Iterator[tuple[int, ...]]:
        """Yield column and shift of the bit, and the next nodes, of every test."""
        for bit, zero, one in self.forest.nodes:
            yield (*self.bits[bit], zero, one)


def _parts(network: Network) -> list[Network]:
    """Return a network as several of at most 62 outputs."""
    if len(network.outputs) <= MOST_WORD:
        return [network]
    builder = Builder(network.inputs)
    made = copied(network, builder)
    return [builder.build(made[k : k + MOST_WORD]) for k in range(0, len(made), MOST_WORD)]


def fields(places: Sequence[tuple[int, int]]) -> list[_ColumnBits]:
    """Return runs of adjacent bits in columns, most significant first."""
    found: list[_ColumnBits] = []
    for column, shift in places:
        if found and found[-1].column == column and found[-1].shift == shift + 1:
            found[-1] = _ColumnBits(column, shift, found[-1].bits + 1)
        else:
            found.append(_ColumnBits(column, shift, 1))
    return found


class DiagramEngine:
    """Evaluates a wiring by walks through decision diagrams."""

    name = "bdd"

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        steps = _Steps(wiring)
        self.tests = len(steps.forest.nodes)
        self._columns = steps.columns
        self._tables = (
            _array(steps.steps, 3), _array(list(steps.nodes()), 4),
            np.array(steps.forest.leaves, np.int64), _array(steps.addends, 5),
            _array(steps.sums, 5), np.array(steps.cells, np.int64),
        )  # fmt: skip
        firsts = [sum(wiring.widths[:k]) for k in range(len(wiring.widths))]
        codes = [port.code for port in wiring.ports]
        ports = [
            (firsts[p.array] + p.column, p.code.cells, p.code.first, p.code.wraps, _gray(p.code))
            for p in wiring.ports
        ]
        ranges = [
            (code.low, code.step, code.range.high - code.range.low if code.wraps else code.maximum)
            for code in codes
        ]
        self._ports = _array(ports, 5), np.array(ranges, np.float64).reshape(-1, 3)
        self._results = _results(wiring, steps.places)

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch, block by block."""
        values, words = batch.empty_results(len(self.wiring.results))
        outside = clipped = 0
        columns = np.zeros((min(ROWS, batch.samples), self._columns), np.int64)
        for start in range(0, batch.samples, ROWS):
            rows = slice(start, min(start + ROWS, batch.samples))
            given = columns[: rows.stop - rows.start]
            if batch.coded:
                for k, port in enumerate(self.wiring.ports):
                    given[:, k] = batch.arrays[port.array][rows, port.column]
            else:
                numbers = np.concatenate([array[rows] for array in batch.arrays], axis=1)
                more = read(numbers, given, *self._ports)
                if more < 0:
                    raise not_codable(self.wiring, batch)
                outside += more
            walk(given, *self._tables)
            clipped += write(given, *self._results, values[rows], words[rows])
        return Evaluation(values, words, outside, clipped)


def _gray(code: Code) -> bool:
    return code.kind == "gray"


def _results(
    wiring: Wiring, places: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return results, their runs of bits, and their scales, for `write`."""
    rows: list[tuple[int, ...]] = []
    runs: list[_ColumnBits] = []
    for result in wiring.results:
        found = fields(places[result.first : result.first + result.code.bits])
        flag = places[result.saturated]
        rows.append((len(runs), len(runs) + len(found), _gray(result.code), *flag))
        runs += found
    scales = [(*result.code.centred, result.code.step) for result in wiring.results]
    return _array(rows, 5), _array(runs, 3), np.array(scales, np.float64).reshape(-1, 3)


def _array(rows: Sequence[tuple[int, ...]], width: int) -> NDArray[np.int64]:
    return np.array(rows, np.int64).reshape(-1, width)
