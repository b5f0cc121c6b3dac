"""The numpy engine: planes are rows of 64-bit words, operations are calls on whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.engines.engine import Evaluation, not_codable, not_finite
from boolcomp.logic import network as luts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Batch, EnginePort, Wiring
    from boolcomp.logic.network import Network

    Words = NDArray[np.uint64]

WORDS = 1 << 11  # a block is 131,072 samples, rows 16 KB: the overhead of a call is small


@dataclass(frozen=True, slots=True)
class _Step:
    """One operation on rows: `operation(rows[x], rows[y], out=rows[to])`."""

    operation: str
    x: int
    y: int
    to: int


@dataclass(frozen=True, slots=True)
class _Lowered:
    """A network as steps on numbered rows: inputs, then outputs, then registers."""

    steps: tuple[_Step, ...]
    registers: int


class _Straighten:
    """The algebra that lists a network's two-input operations, each once."""

    def __init__(self, inputs: int) -> None:
        self.first = 2 + inputs  # values 0 and 1 are the constants
        self.found: dict[luts.Step, int] = {}

    def constant(self, value: int) -> int:
        return value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        values = [*operands, *(-1 for _ in range(3 - len(operands)))]
        for kind, x, y in luts.steps(lut):
            low, high = sorted((values[x], values[y]))
            key = (kind, low, high)
            values.append(self.found.setdefault(key, self.first + len(self.found)))
        return values[-1]


def lower(network: Network) -> _Lowered:
    """Return a network as steps; registers are reused after their last use."""
    algebra = _Straighten(network.inputs)
    outputs = network.fold(algebra, range(2, algebra.first))
    rows = _Rows(network.inputs, outputs, list(algebra.found))
    steps = [
        _Step(kind, *rows.place(place, x, y), rows.of[algebra.first + place])
        for place, (kind, x, y) in enumerate(algebra.found)
    ]
    for k, value in enumerate(outputs):
        to = network.inputs + k
        if value < 2:
            steps.append(_Step(("zero", "one")[value], to, to, to))
        elif rows.of[value] != to:
            steps.append(_Step("copy", rows.of[value], rows.of[value], to))
    return _Lowered(tuple(steps), rows.registers)


class _Rows:
    """The allocation of rows: inputs and outputs have their own, other values registers."""

    def __init__(self, inputs: int, outputs: Sequence[int], steps: Sequence[luts.Step]) -> None:
        self.first = 2 + inputs
        self.base = inputs + len(outputs)
        self.of = {2 + k: k for k in range(inputs)}
        self.final: dict[int, int] = {}
        for k, value in enumerate(outputs):
            if value >= self.first:
                self.final.setdefault(value, inputs + k)
        self.last: dict[int, int] = {}
        for place, (_, x, y) in enumerate(steps):
            self.last[x] = self.last[y] = place
        self.free: list[int] = []
        self.registers = 0

    def place(self, place: int, x: int, y: int) -> tuple[int, int]:
        """Allocate the row of a step's value; return the rows of its operands."""
        for operand in (x, y) if x != y else (x,):  # before: the value may reuse an operand's row
            if self.last[operand] == place and self.of[operand] >= self.base:
                self.free.append(self.of[operand])
        value = self.first + place
        if value in self.final:
            self.of[value] = self.final[value]
        elif self.free:
            self.of[value] = self.free.pop()
        else:
            self.of[value] = self.base + self.registers
            self.registers += 1
        return self.of[x], self.of[y]


_OPERATIONS: dict[str, Callable[[Words, Words, Words], Any]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "not": lambda x, _, to: np.invert(x, to),
    "copy": lambda x, _, to: np.copyto(to, x),
    "zero": lambda _x, _y, to: to.fill(0),
    "one": lambda _x, _y, to: to.fill(np.uint64(0xFFFF_FFFF_FFFF_FFFF)),
}


class NumpyEngine:
    """Evaluates a wiring with numpy alone."""

    name = "numpy"

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self._lowered = [lower(network) for network in wiring.networks]

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch, block by block."""
        values, words = batch.empty_results(len(self.wiring.results))
        outside = clipped = 0
        size = min(WORDS, -(-batch.samples // 64))
        planes = np.zeros((self.wiring.planes, size), np.uint64)
        program = self._bound(planes)
        for start in range(0, batch.samples, 64 * WORDS):
            rows = slice(start, min(start + 64 * WORDS, batch.samples))
            count = rows.stop - rows.start
            for port in self.wiring.ports:
                outside += self._read(batch, rows, port, planes)
            for operation, x, y, to in program:
                operation(x, y, to)
            for place, result in enumerate(self.wiring.results):
                cells = gathered(planes, range(result.first, result.first + result.code.bits))
                values[rows, place] = result.code.centre(cells[:count])
                words[rows, place] = result.code.word(cells[:count])
                clipped += _count(planes[result.saturated], count)
        return Evaluation(values, words, outside, clipped)

    def _bound(
        self, planes: Words
    ) -> list[tuple[Callable[[Words, Words, Words], Any], Words, Words, Words]]:
        """Return the calls of all operations in order, with rows of the given planes."""
        count = max((lowered.registers for lowered in self._lowered), default=0)
        registers = np.zeros((count, planes.shape[1]), np.uint64)
        bound = []
        for call in self.wiring.calls:
            network = self.wiring.networks[call.network]
            rows = [planes[k] for k in call.inputs]
            rows += [planes[call.first + k] for k in range(len(network.outputs))]
            rows += list(registers)
            bound += [
                (_OPERATIONS[step.operation], rows[step.x], rows[step.y], rows[step.to])
                for step in self._lowered[call.network].steps
            ]
        return bound

    def _read(self, batch: Batch, rows: slice, port: EnginePort, planes: Words) -> int:
        """Code one input word of a block of samples into planes; return the saturations."""
        values = batch.arrays[port.array][rows, port.column]
        outside = 0
        if batch.coded:
            words = values
        else:
            if not np.isfinite(values).all():
                raise not_finite(self.wiring, batch)
            if port.code.wraps and port.code.too_far(values).any():
                raise not_codable(self.wiring, batch)
            encoded = port.code.encode(values)
            words, outside = encoded.words, encoded.saturated
        for k in range(port.code.bits):
            bits = words >> np.uint32(port.code.bits - 1 - k) & np.uint32(1)
            packed = np.packbits(bits.astype(np.bool_), bitorder="little")
            planes[port.first + k].view(np.uint8)[: len(packed)] = packed
        return outside


def gathered(planes: Words, places: Sequence[int]) -> NDArray[np.uint32]:
    """Return one number per sample from planes, the most significant first."""
    numbers = np.zeros(planes.shape[1] * 64, np.uint32)
    for place in places:
        bits = np.unpackbits(planes[place].view(np.uint8), bitorder="little")
        numbers = numbers << np.uint32(1) | bits
    return numbers


def _count(plane: Words, samples: int) -> int:
    bits = np.unpackbits(plane.view(np.uint8), count=samples, bitorder="little")
    return int(bits.sum(dtype=np.int64))
