"""What a term's network gives for all words that it reads: its table, by simulation.

A signal is one large whole number: bit r is its value at the r-th of all words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.checker.steps import NotCoveredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.network import Network

    Whole = NDArray[np.int64]

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
