"""What a plan computes, by arithmetic: the oracle of the logic, and of its error.

Every term is evaluated at the centres of its own input cells and coded, as its truth table would
be; the cells are added and the sum is coded. No table is made, so this works for any width. What
a table says whose rounding is free only its cover knows: such tables are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.paper.plan import Plan, TermPlan

    Said = Mapping[TermPlan, NDArray[np.uint32]]

BLOCK = 1 << 14  # samples whose columns stay in the second-level cache
NOTHING: Said = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """Outputs at the centres of their cells, their words, how many saturated; (n, outputs)."""

    values: NDArray[np.float64]
    words: NDArray[np.uint32]
    saturated: int


def quantised(plan: Plan, arrays: Sequence[NDArray[np.float64]], said: Said = NOTHING) -> Quantised:
    """Return what the plan's tables and sums give for the arrays of all groups of inputs.

    Tables of which the words are `said` are looked up.
    """
    columns = plan.problem.columns(arrays)
    count = len(arrays[0])
    values = np.empty((count, len(plan.outputs)))
    words = np.empty((count, len(plan.outputs)), dtype=np.uint32)
    saturated = 0
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        block = {name: column[rows] for name, column in columns.items()}
        cells = _Cells(block, {}, {})
        for place, output in enumerate(plan.outputs):
            total = np.zeros(len(words[rows]))
            for term in output.terms:
                total += cells.value(term, said.get(term))
            coded = output.word.encode(total)
            words[rows, place] = coded.words
            values[rows, place] = output.word.decode(coded.words)
            saturated += coded.saturated
    return Quantised(values, words, saturated)


def finest_inputs(
    plan: Plan, arrays: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], ...]:
    """Return the inputs put on the centres of the finest words that any term reads."""
    found = tuple(array.copy() for array in arrays)
    columns = plan.problem.columns(found)
    for name, code in finest_codes(plan).items():
        columns[name][:] = code.centre(code.cell(columns[name])[0])
    return found


def finest_codes(plan: Plan) -> dict[str, Code]:
    """Return the finest word of every input that any term reads, by name."""
    codes: dict[str, Code] = {}
    for term in plan.terms:
        for word in term.read:
            known = codes.setdefault(word.variable.name, word.code)
            if known.bits < word.code.bits:
                codes[word.variable.name] = word.code
    return codes


@dataclass(frozen=True, slots=True)
class _Cells:
    """Samples of inputs by name; the cells of words of one width, and their middles, are kept."""

    block: Mapping[str, NDArray[np.float64]]
    cells: dict[tuple[str, int], NDArray[np.int64]]
    centres: dict[tuple[str, int], NDArray[np.float64]]

    def value(self, term: TermPlan, looked: NDArray[np.uint32] | None) -> NDArray[np.float64]:
        """Return the coded value of one term: calculated, or looked up in its table's words."""
        if term.whole and looked is None:
            at = {word.variable.name: self.centre(word.variable.name, word.code)
                  for word in term.words}  # fmt: skip
            return term.code.centre(self._cell(term, at))
        read = {word.variable.name: self.cell(word.variable.name, word.code) for word in term.read}
        row = np.zeros(len(next(iter(self.block.values()))), np.int64)
        at, turned = {}, np.zeros(len(row), np.bool_)
        for word in term.words:
            index, turns = word.at(read)
            row = row << word.inputs | index
            at[word.variable.name] = word.code.decode(index)
            turned = turned if turns is None else turned ^ turns
        found = self._cell(term, at) if looked is None else term.code.index(looked[row])
        # In Gray code a mirror image has another first bit: what stands outside turns that.
        found = np.where(turned, term.code.cells - 1 - found.astype(np.int64), found)
        return term.code.centre(found)

    def _cell(self, term: TermPlan, at: Mapping[str, NDArray[np.float64]]) -> NDArray[np.int64]:
        count = next(iter(self.block.values())).shape
        return term.code.cell(np.broadcast_to(term.function.evaluate(at), count))[0]

    def cell(self, name: str, code: Code) -> NDArray[np.int64]:
        """Return the cells in which an input is."""
        if (name, code.bits) not in self.cells:
            self.cells[name, code.bits] = code.cell(self.block[name])[0]
        return self.cells[name, code.bits]

    def centre(self, name: str, code: Code) -> NDArray[np.float64]:
        """Return the middles of the cells in which an input is."""
        if (name, code.bits) not in self.centres:
            self.centres[name, code.bits] = code.centre(self.cell(name, code))
        return self.centres[name, code.bits]
