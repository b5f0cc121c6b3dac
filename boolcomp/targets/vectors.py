"""Vectors for test benches: seeded words of inputs, and what the program's engine makes of them.

The words of outputs come from an engine, which runs the program's parts one after the other; the
flags of saturation, which engines only count, from the joined logic, whose words must be the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.logic.simulation import Planes
from boolcomp.targets.target import delivered

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed

COUNT, SEED = 256, 1988


@dataclass(frozen=True, slots=True)
class Vectors:
    """The bits of all inputs and outputs, first to last as in ports; which vector is a lie."""

    given: tuple[str, ...]
    wanted: tuple[str, ...]
    wrong: int


def vectors(program: Program, load: float | None, gates: Framed, count: int = COUNT) -> Vectors:
    """Return vectors for a design's ports, one of them with a bit of its outputs inverted."""
    if not program.inputs:
        raise UsageError(f"{program.name} reads nothing: there is nothing for a bench to try")
    rng = np.random.default_rng(SEED)
    loads = program.loads if load is None else (program.load(load),)
    given: list[str] = []
    wanted: list[str] = []
    flags = {pin.port.name for pin in gates.outputs if pin.port.flag}
    select = (len(loads) - 1).bit_length()
    share = -(-count // len(loads))
    for place, one in enumerate(loads):
        words = _words(program, rng, share)
        ending = f"{place:0{select}b}" if select else ""
        given += [row + ending for row in _rows(words, [x.code.bits for x in program.inputs])]
        wanted += _wanted(program, one.payload, words, flags)
    wrong = len(given) // 3
    lie = "10"[int(wanted[wrong][-1])]
    wanted[wrong] = wanted[wrong][:-1] + lie
    return Vectors(tuple(given), tuple(wanted), wrong)


def _words(program: Program, rng: np.random.Generator, count: int) -> dict[str, NDArray[Any]]:
    """Return words for every input: all zeros, all ones, then drawn at random."""
    words = {}
    for one in program.inputs:
        most = one.code.cells - 1
        drawn = rng.integers(0, most, count - 2, np.int64, endpoint=True)
        words[one.name] = np.concatenate([[0, most], drawn])
    return words


def _wanted(
    program: Program, payload: float, words: dict[str, NDArray[Any]], names: set[str]
) -> list[str]:
    samples = len(next(iter(words.values())))
    arrays = [
        np.stack([words.get(k, np.zeros(samples, np.int64)) for k in group.members], axis=1)
        for group in program.groups
    ]
    made = program.evaluate_words(*arrays, payload=payload, engine="numpy").words
    flags = _flags(program, payload, words)
    rows = [""] * samples
    for k, output in enumerate(program.load(payload).outputs):
        bits = output.code.bits
        column = made.reshape(samples, -1)[:, k]
        rows = [f"{row}{int(word):0{bits}b}" for row, word in zip(rows, column, strict=True)]
        if f"{output.name}_saturated" in names:
            rows = [f"{row}{flag}" for row, flag in zip(rows, flags[k], strict=True)]
    return rows


def _flags(program: Program, payload: float, words: dict[str, NDArray[Any]]) -> list[list[int]]:
    """Return for every output which samples saturate, one bit of an integer a sample."""
    samples = len(next(iter(words.values())))
    planes = [
        sum(int(word >> bit & 1) << row for row, word in enumerate(words[one.name].tolist()))
        for one in program.inputs
        for bit in reversed(range(one.code.bits))
    ]
    outputs = delivered(program, payload).fold(Planes((1 << samples) - 1), planes)
    found = []
    place = -1
    for output in program.load(payload).outputs:
        place += output.code.bits + 1
        found.append([int(outputs[place]) >> row & 1 for row in range(samples)])
    return found


def _rows(words: dict[str, NDArray[Any]], bits: list[int]) -> list[str]:
    columns = [
        [f"{word:0{width}b}" for word in column.tolist()]
        for column, width in zip(words.values(), bits, strict=True)
    ]
    return ["".join(row) for row in zip(*columns, strict=True)]
