"""From a plan, its tables and their covers to a program."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.paper.bounds import proven
from boolcomp.paper.outside import said, with_outside
from boolcomp.paper.program import network_of_cover
from boolcomp.program.parts import CodedOutput, Load, Slice, TermUse
from boolcomp.program.program import program_of_problem
from boolcomp.twolevel.function import Cover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.paper.plan import Plan, TermPlan
    from boolcomp.paper.tables import TermTable
    from boolcomp.program.parts import KnownErrors
    from boolcomp.program.program import Program
    from boolcomp.twolevel.cubes import Cubes


def program_of(
    plan: Plan,
    tables: Sequence[TermTable],
    covers: Sequence[Cover | Cubes],
    payload: float = 0.0,
    *,
    known: Sequence[KnownErrors] = (),
    logic: Callable[[Cubes], Network] = network_of_cover,
) -> Program:
    """Return the program of a plan from its tables and, in the same order, their covers.

    `logic` makes the network of a cover; `known` are the errors of outputs that were measured.
    """
    if len(known) not in {0, len(plan.outputs)}:
        raise UsageError("the errors that are known are not those of the plan's outputs")
    if [table.plan for table in tables] != list(plan.terms) or len(tables) != len(covers):
        raise UsageError("the tables or the covers are not those of the plan's terms")
    codes = _finest(plan.terms)
    read = [one.name for one in plan.problem.inputs if one.name in codes]
    places = {name: k for k, name in enumerate(read)}
    networks: dict[Network, int] = {}
    made: dict[object, tuple[Network, TruthTable]] = {}
    uses, made_of = {}, {}
    for table, cover in zip(tables, covers, strict=True):
        if table.table not in made:
            cubes = cover.cubes if isinstance(cover, Cover) else cover
            told = said(table.table, cubes) if plan.options.rounding == "faithful" else table.table
            made[table.table] = logic(cubes), told
        network, made_of[table.plan] = made[table.table]
        place = networks.setdefault(with_outside(table.plan, network), len(networks))
        uses[table.plan.term.name] = _term_use(table.plan, place, places)
    outputs = tuple(
        CodedOutput(
            output.output.name,
            output.output.symbol,
            output.output.unit,
            output.word,
            output.guard_bits,
            tuple(uses[term.term.name] for term in output.terms),
            tuple(str(term) for term in output.left_out),
            proven(output, made_of).value,
            errors,
        )
        for output, errors in zip_longest(plan.outputs, known)
    )
    load = Load(payload, outputs)
    return program_of_problem(
        plan.problem, plan.options.bits, "paper", codes, tuple(networks), (load,)
    )


def _finest(terms: Iterable[TermPlan]) -> dict[str, Code]:
    """Return the codes of input words by name, as wide as any term reads them."""
    finest: dict[str, Code] = {}
    for term in terms:
        for word in term.read:
            known = finest.setdefault(word.variable.name, word.code)
            if known.bits < word.code.bits:
                finest[word.variable.name] = word.code
    return finest


def _term_use(plan: TermPlan, network: int, places: dict[str, int]) -> TermUse:
    words = tuple(
        Slice(places[word.variable.name], word.code.bits, word.dropped) for word in plan.read
    )
    return TermUse(plan.term.name, str(plan.term), network, plan.code, words)
