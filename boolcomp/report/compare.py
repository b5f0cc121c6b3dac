"""Run the whole report: errors over word lengths and guard bits, and what the logic costs."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.covers import make_covers
from boolcomp.errors import DataError, UsageError
from boolcomp.logicstore import stored_network
from boolcomp.plan import MOST_GUARD_BITS, Options, make_plan
from boolcomp.program import program_of
from boolcomp.quantised import quantised_torques
from boolcomp.report.measure import Row, Samples, error_rows
from boolcomp.truth import make_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.plan import Plan
    from boolcomp.program import Program
    from boolcomp.store import Recipe, Store
    from boolcomp.terms import Torques


TIMED = 1 << 16  # samples
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Question:
    """What is reported: word lengths, guard bits beyond the paper's, and how to minimise.

    Without a recipe no logic is made. Tables wider than `widest` inputs are not minimised.
    """

    bits: tuple[int, ...]
    extra: tuple[int, ...] = (0, 1, 2)
    options: Options = field(default_factory=Options)
    recipe: Recipe | None = None
    widest: int = 18

    @property
    def steps(self) -> int:
        """How many plans it takes."""
        return len(self.bits) * len(self.extra)


def report_rows(
    torques: Torques,
    samples: Samples,
    question: Question,
    store: Store,
    done: Callable[[str], None] = lambda _: None,
) -> tuple[Row, ...]:
    """Return a row for every word length, number of guard bits and joint."""
    rows: list[Row] = []
    for bits in question.bits:
        paper = make_plan(torques, replace(question.options, bits=bits))
        for extra in question.extra:
            plan = _widened(torques, paper, extra)
            found = error_rows(plan, samples, extra)
            rows += _with_logic(plan, found, question, store, samples)
            done(f"{bits} bits, m + {extra}")
    return tuple(rows)


def _widened(torques: Torques, paper: Plan, extra: int) -> Plan:
    """Return the plan with that many guard bits more than the paper's rule gives."""
    if not extra:
        return paper
    # Joints differ in m, so each takes its own; splitting stays as the paper's m decides it.
    joints = []
    for k, joint in enumerate(paper.joints):
        guard = joint.guard_bits + extra
        if guard > MOST_GUARD_BITS:
            raise UsageError(f"{guard} guard bits: at most {MOST_GUARD_BITS}")
        options = replace(paper.options, guard_bits=guard, splits=joint.splits)
        joints.append(make_plan(torques, options).joints[k])
    return replace(paper, joints=tuple(joints))


def _with_logic(
    plan: Plan, rows: Sequence[Row], question: Question, store: Store, samples: Samples
) -> tuple[Row, ...]:
    """Add products, literals, nodes, compile and evaluation time, or say why they are missing."""
    if question.recipe is None:
        return tuple(rows)
    widest = max(plan.terms, key=lambda term: term.input_bits, default=None)
    if widest is not None and widest.input_bits > question.widest:
        note = (
            f"not minimised: {widest.term.name} has {widest.input_bits} input bits, "
            f"more than {question.widest}"
        )
        return tuple(replace(row, note="; ".join(filter(None, [row.note, note]))) for row in rows)
    tables = make_tables(plan)
    covers = make_covers(tables, question.recipe, store)
    program = program_of(plan, tables, [c.cover for c in covers], logic=stored_network)
    nanoseconds = _timed(program, plan, samples)
    result = []
    for row, torque in zip(rows, program.loads[0].torques, strict=True):
        used = {term.network for term in torque.terms}
        own = {c.entry.table: c for c in covers if c.entry.plan.term.joint == row.joint}
        notes = {c.cover.note for c in own.values() if c.cover.note}
        result.append(
            replace(
                row,
                products=sum(c.cover.products for c in own.values()),
                literals=sum(c.cover.literals for c in own.values()),
                luts=sum(len(program.networks[k].nodes) for k in used),
                seconds=sum(c.cover.seconds for c in own.values()),
                ns_per_sample=nanoseconds,
                note="; ".join(filter(None, [row.note, *sorted(notes)])),
            )
        )
    return tuple(result)


def _timed(program: Program, plan: Plan, samples: Samples) -> float:
    """Return ns per sample of the whole program on one core, its words checked on the way."""
    state = tuple(array[:TIMED] for array in (samples.q, samples.qd, samples.qdd))
    words = quantised_torques(plan, *state).words
    seconds = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        found = program.evaluate(*state)
        seconds = min(seconds, time.perf_counter() - start)
        if not np.array_equal(found.words, words):
            raise DataError(f"{plan.robot}: the logic does not compute what its tables say")
    return seconds / len(state[0]) * 1e9
