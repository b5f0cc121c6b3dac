"""What a plan computes, by arithmetic: the oracle of the logic, and of its error.

Every term is evaluated at the centres of its own input cells and coded, as its truth table would
be; the cells are added and the sum is coded. No table is made, so this works for any width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.terms import samples_by_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    from boolcomp.codes import Code
    from boolcomp.paper.plan import JointPlan, Plan, TermPlan

BLOCK = 1 << 14  # samples whose columns stay in the second-level cache


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """Torques at the centres of their cells, their words, and how many saturated; (n, joints)."""

    torques: NDArray[np.float64]
    words: NDArray[np.uint32]
    saturated: int


def quantised_torques(plan: Plan, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Quantised:
    """Return what the plan's tables and sums give for (n, joints) arrays of values."""
    values = samples_by_name(q, qd, qdd)
    count = len(next(iter(values.values())))
    torques = np.empty((count, len(plan.joints)))
    words = np.empty((count, len(plan.joints)), dtype=np.uint32)
    saturated = 0
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        block = {name: column[rows] for name, column in values.items()}
        centres: dict[tuple[str, int], NDArray[np.float64]] = {}
        for place, joint in enumerate(plan.joints):
            coded = joint.output.encode(_sum(joint, block, centres))
            words[rows, place] = coded.words
            torques[rows, place] = joint.output.decode(coded.words)
            saturated += coded.saturated
    return Quantised(torques, words, saturated)


def finest_inputs(
    plan: Plan, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> tuple[NDArray[np.float64], ...]:
    """Return the inputs put on the centres of the finest words that any term reads."""
    values = {name: column.copy() for name, column in samples_by_name(q, qd, qdd).items()}
    for name, code in finest_codes(plan).items():
        values[name] = code.centre(code.cell(values[name])[0])
    joints = range(1, np.shape(q)[1] + 1)
    return tuple(
        np.stack([values[f"{kind}{joint}"] for joint in joints], axis=1)
        for kind in ("q", "qd", "qdd")
    )


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
    joint: JointPlan,
    block: Mapping[str, NDArray[np.float64]],
    centres: dict[tuple[str, int], NDArray[np.float64]],
) -> NDArray[np.float64]:
    total = np.zeros(len(next(iter(block.values()))))
    for term in joint.terms:
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
