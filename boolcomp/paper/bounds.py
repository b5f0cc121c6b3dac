"""A proven bound of a plan's error: no input in range can give a larger one.

What tables stand for is said here; `proof.tabled` proves the bound of it. Tables that were made
count as they are, with what stands outside of them: as tables of words of inputs. Of a plan alone
those of a few inputs are made, and of larger ones the rounding of entries is all that is known.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from boolcomp.paper.outside import composed
from boolcomp.paper.tables import tabulate
from boolcomp.problem.span import TURN
from boolcomp.proof.tabled.bounds import EFFORT, bound_of
from boolcomp.proof.tabled.fields import function_of
from boolcomp.proof.tabled.meaning import ReadWord, TabledSum, TabledTerm
from boolcomp.proof.tabled.places import line_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.paper.plan import OutputPlan, TermPlan
    from boolcomp.proof.bound.result import Bound

MADE = 20  # input bits of tables that are made for a bound alone
COMPOSED = 22  # input bits of those that are made of tables and what stands outside
ROUNDED = Fraction(1, 1 << 20)  # of a step: more than what values err by when they are rounded


def error_bound(output: OutputPlan) -> float:
    """Return a bound of |output by tables - exact output|, in its unit."""
    return proven(output).value


def proven(
    output: OutputPlan,
    tables: Mapping[TermPlan, TruthTable] | None = None,
    effort: float = EFFORT,
) -> Bound:
    """Return the bound of an output; `tables` are those of its terms, where they were made."""
    return bound_of(explained(output, tables), effort)


def explained(output: OutputPlan, tables: Mapping[TermPlan, TruthTable] | None = None) -> TabledSum:
    """Return what the tables of an output stand for, terms that are the same together."""
    terms: dict[tuple[TermPlan, TruthTable | None], int] = {}
    for plan in output.terms:
        table = _made(plan) if tables is None else tables[plan]
        key = replace(plan, term=plan.term.named("")), table
        terms[key] = terms.get(key, 0) + 1
    found = tuple(_tabled(plan, table, times) for (plan, table), times in terms.items())
    step = Fraction(output.code.step) / (1 << output.guard_bits)
    return TabledSum(
        output.output.name, output.output.unit, output.word, step, output.guard_bits, found,
        output.left_out,
    )  # fmt: skip


def _tabled(plan: TermPlan, table: TruthTable | None, times: int) -> TabledTerm:
    read = plan.read
    words = tuple(ReadWord(word.variable, word.code, word.dropped) for word in read)
    if table is not None and not plan.whole:
        few = sum(word.inputs for word in read) <= COMPOSED
        table = composed(plan, table) if few else None
    missed = Fraction(1, 2) if plan.rounding == "nearest" else Fraction(1)
    return TabledTerm(plan.term, plan.code, words, table, times, missed + _beside(plan) + ROUNDED)


def _beside(plan: TermPlan) -> Fraction:
    """Return what the cells of sums, of which leading bits are read, may change, in steps."""
    function, most = function_of(plan.function), Fraction(0)
    sizes = {v.name: line_of(v, 1).size for v in plan.function.variables}
    for word in plan.words:
        if word.sum is not None:
            apart = Fraction(1, 1 << word.code.bits) - Fraction(1, 1 << word.sum.bits)
            most += function.slope(word.variable.name).height(sizes) * apart * Fraction(TURN) / 2
    return most / Fraction(plan.code.step)


@lru_cache(maxsize=64)
def _table(plan: TermPlan) -> TruthTable:
    return tabulate(plan)


def _made(plan: TermPlan) -> TruthTable | None:
    """Return the table of a term, if it is small enough to be made for this alone."""
    return _table(plan) if sum(word.inputs for word in plan.read) <= MADE else None
