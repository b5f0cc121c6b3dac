"""What a plan computes, by arithmetic: the oracle of the logic, and of its error.

Every term is evaluated at the centres of its own input cells and coded, as its truth table would
be; the cells are added and the sum is coded. No table is made, so this works for any width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.paper.plan import OutputPlan, Plan, TermPlan

BLOCK = 1 << 14  # samples whose columns stay in the second-level cache


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """Outputs at the centres of their cells, their words, how many saturated; (n, outputs)."""

    values: NDArray[np.float64]
    words: NDArray[np.uint32]
    saturated: int


def quantised(plan: Plan, arrays: Sequence[NDArray[np.float64]]) -> Quantised:
    """Return what the plan's tables and sums give for the arrays of all groups of inputs."""
    columns = plan.problem.columns(arrays)
    count = len(arrays[0])
    values = np.empty((count, len(plan.outputs)))
    words = np.empty((count, len(plan.outputs)), dtype=np.uint32)
    saturated = 0
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        block = {name: column[rows] for name, column in columns.items()}
        centres: dict[tuple[str, int], NDArray[np.float64]] = {}
        for place, output in enumerate(plan.outputs):
            coded = output.word.encode(_sum(output, block, centres))
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
        for word in term.words:
            known = codes.setdefault(word.variable.name, word.code)
            if known.bits < word.code.bits:
                codes[word.variable.name] = word.code
    return codes


def _sum(
    output: OutputPlan,
    block: Mapping[str, NDArray[np.float64]],
    centres: dict[tuple[str, int], NDArray[np.float64]],
) -> NDArray[np.float64]:
    total = np.zeros(len(next(iter(block.values()))))
    for term in output.terms:
        total += term_value(term, block, centres)
    return total


def term_value(
    term: TermPlan,
    block: Mapping[str, NDArray[np.float64]],
    centres: dict[tuple[str, int], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Return the coded value of one term; `centres` keeps what words of one width stand for."""
    at = {}
    for word in term.words:
        name, code = word.variable.name, word.code
        if (name, code.bits) not in centres:
            centres[name, code.bits] = code.centre(code.cell(block[name])[0])
        at[name] = centres[name, code.bits]
    exact = np.broadcast_to(term.term.evaluate(at), next(iter(block.values())).shape)
    return term.code.centre(term.code.cell(exact)[0])
