"""From a plan, its tables and their covers to a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.paper.bounds import error_bound
from boolcomp.paper.coverlogic import network_of_cover
from boolcomp.problem.problem import name_order
from boolcomp.problem.robot.stops import stops_of
from boolcomp.program.parts import ARRAYS, Input, Load, Slice, TermUse, Torque
from boolcomp.program.program import Program
from boolcomp.twolevel.cover import Cover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.paper.plan import Plan, TermPlan
    from boolcomp.paper.truth import TermTable
    from boolcomp.twolevel.cubes import Cubes


def program_of(
    plan: Plan,
    tables: Sequence[TermTable],
    covers: Sequence[Cover | Cubes],
    payload: float = 0.0,
    *,
    logic: Callable[[Cubes], Network] = network_of_cover,
) -> Program:
    """Return the program of a plan from its tables and, in the same order, their covers.

    `logic` makes the network of a cover.
    """
    if [table.plan for table in tables] != list(plan.terms) or len(tables) != len(covers):
        raise UsageError("the tables or the covers are not those of the plan's terms")
    inputs = _inputs(plan.terms)
    places = {word.name: k for k, word in enumerate(inputs)}
    networks: dict[Network, int] = {}
    made: dict[object, Network] = {}
    uses = {}
    for table, cover in zip(tables, covers, strict=True):
        if table.table not in made:
            cubes = cover.cubes if isinstance(cover, Cover) else cover
            made[table.table] = logic(cubes)
        place = networks.setdefault(made[table.table], len(networks))
        uses[table.plan.term.name] = _term_use(table.plan, place, places)
    outputs = tuple(
        Torque(
            place,
            output.word,
            output.guard_bits,
            tuple(uses[term.term.name] for term in output.terms),
            tuple(str(term) for term in output.left_out),
            error_bound(output),
        )
        for place, output in enumerate(plan.outputs, 1)
    )
    return Program(
        plan.problem.name, plan.options.bits, "paper", inputs, tuple(networks),
        (Load(payload, outputs),), stops_of(plan.problem),
    )  # fmt: skip


def _inputs(terms: Iterable[TermPlan]) -> tuple[Input, ...]:
    finest: dict[tuple[int, int], Input] = {}
    for term in terms:
        for word in term.words:
            letters, number = name_order(word.variable.name)
            kind = next(kind for kind in ARRAYS if kind == letters)
            key = (ARRAYS.index(kind), number)
            if key not in finest or finest[key].code.bits < word.code.bits:
                finest[key] = Input(kind, number, word.code)
    return tuple(finest[key] for key in sorted(finest))


def _term_use(plan: TermPlan, network: int, places: dict[str, int]) -> TermUse:
    words = tuple(
        Slice(places[word.variable.name], word.code.bits, word.dropped) for word in plan.words
    )
    return TermUse(plan.term.name, str(plan.term), network, plan.code, words)
