"""Run the whole report: errors over word lengths and guard bits, and what the logic costs."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError, DataWarning, UsageError
from boolcomp.common.workers import Workers, all_cores
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.measure.report.looks import words_of
from boolcomp.measure.report.measure import SEARCHED, ReportRow, Samples, error_rows, with_worst
from boolcomp.measure.report.programs import TIMED, program_rows, timed
from boolcomp.paper.assembly import program_of
from boolcomp.paper.covers import make_covers, said_words
from boolcomp.paper.plan import MOST_GUARD_BITS, Options, make_plan
from boolcomp.paper.quantised import quantised
from boolcomp.paper.stored import stored_network
from boolcomp.paper.tables import make_tables
from boolcomp.pipeline import compile_compact
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.measure.report.findings import Pictured
    from boolcomp.measure.report.looks import Look, Surveyor
    from boolcomp.paper.covers import TermCover
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.quantised import Said
    from boolcomp.paper.store import Recipe, Store
    from boolcomp.program.program import Mode, Program
    from boolcomp.proof.bound.result import Grade
    from boolcomp.terms.extract import Terms

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Question:
    """What is reported: modes, word lengths, guard bits beyond the paper's, how to minimise.

    Without a recipe no product terms are made. Tables wider than `widest` inputs are not
    minimised. `demand` says what compact mode is asked for at a word length. The worst error of a
    plan is sought with so many `evaluations`; compact mode's is kept with its results. `proof` and
    `proof_effort` are of its bounds. `workers` are where the work is done.
    """

    bits: tuple[int, ...]
    modes: tuple[Mode, ...] = ("paper",)
    extra: tuple[int, ...] = (0, 1, 2)
    options: Options = field(default_factory=Options)
    recipe: Recipe | None = None
    widest: int = 18
    demand: Callable[[int], Demand] | None = None
    workers: Workers = field(default_factory=all_cores)
    evaluations: int = SEARCHED
    proof: Grade | None = None
    proof_effort: int | None = None

    @property
    def steps(self) -> int:
        """How many plans and compilations it takes."""
        return len(self.bits) * (
            len(self.extra) * ("paper" in self.modes) + ("compact" in self.modes)
        )


def report_rows(
    samples: Samples,
    question: Question,
    store: Store,
    done: Callable[[str], None] = lambda _: None,
    pictured: Pictured | None = None,
) -> tuple[ReportRow, ...]:
    """Return a row for every word length, number of guard bits and output of a problem.

    What is `pictured` is given every compilation's rows and look, as soon as they are there.
    """
    with question.workers.opened() as workers:
        return _rows(samples, replace(question, workers=workers), store, done, pictured)


def _rows(
    samples: Samples,
    question: Question,
    store: Store,
    done: Callable[[str], None],
    pictured: Pictured | None,
) -> tuple[ReportRow, ...]:
    terms = split(samples.problem)
    rows: list[ReportRow] = []
    for bits in question.bits:
        if "compact" in question.modes:
            rows += _compact_rows(bits, samples, question, pictured)
            done(f"{bits} bits, compact")
        if "paper" not in question.modes:
            continue
        try:
            paper = make_plan(terms.required(), replace(question.options, bits=bits))
        except (DataError, UsageError) as error:
            if question.modes == ("paper",):
                raise
            warnings.warn(f"{bits} bits, paper mode: {error}", DataWarning, stacklevel=2)
            continue
        for extra in question.extra:
            plan = _widened(terms, paper, extra)
            rows += _paper_rows(plan, extra, samples, question, store, pictured)
            done(f"{bits} bits, m + {extra}")
    return tuple(rows)


def _paper_rows(
    plan: Plan,
    extra: int,
    samples: Samples,
    question: Question,
    store: Store,
    pictured: Pictured | None,
) -> tuple[ReportRow, ...]:
    """Measure a plan, and make its logic where that is asked for."""
    looks: list[Look] = []
    covers = _covers(plan, question, store)
    if covers is None and plan.options.rounding == "faithful":
        why = _too_wide(plan, question.widest).values() if question.recipe else ["--no-logic"]
        warnings.warn(
            f"{plan.options.bits} bits, m + {extra}: what faithful tables say is known of their "
            f"covers only, and there are none: {'; '.join(why)}",
            DataWarning,
            stacklevel=2,
        )
        return ()
    said = said_words(covers or ())

    def seen(errors: Floats) -> None:
        if pictured is not None and not extra:

            def logic(*arrays: Floats) -> Floats:
                return quantised(plan, arrays, said).values

            looks.append(pictured.surveyor.look(plan.options.bits, "paper, m", errors, logic))

    found = error_rows(
        plan, samples, extra, question.evaluations, seen, workers=question.workers, said=said
    )
    rows = tuple(found) if covers is None else _with_logic(plan, found, covers, samples)
    if covers is None and question.recipe is not None:
        wide = _too_wide(plan, question.widest)
        rows = tuple(
            replace(row, note="; ".join(filter(None, [row.note, wide.get(row.output.title)])))
            for row in rows
        )
    if pictured is not None:
        pictured.add(rows, *looks)
    return rows


def _compact_rows(
    bits: int, samples: Samples, question: Question, pictured: Pictured | None
) -> tuple[ReportRow, ...]:
    """Compile a problem in compact mode, or read what was compiled before, and measure it."""
    demand = (question.demand or usual_demand)(bits)
    try:
        compiled = compile_compact(
            samples.problem,
            CompactChoices(
                demand, workers=question.workers, proof=question.proof,
                proof_effort=question.proof_effort,
            ),
        )  # fmt: skip
    except UsageError as error:  # the paper's rows are worth having all the same
        warnings.warn(f"{bits} bits, compact mode: {error}", DataWarning, stacklevel=2)
        return ()
    (built,) = compiled.built
    looks: list[Look] = []

    def seen(errors: Floats) -> None:
        if pictured is not None:
            look = look_of(compiled.program, pictured.surveyor, errors)
            looks.append(replace(look, lut6=built.lut6))

    found = program_rows(compiled.program, samples, compile_seconds=built.seconds, seen=seen)
    rows = with_worst(found, built.worst)
    if pictured is not None:
        pictured.add(rows, *looks)
    return rows


def look_of(
    program: Program, surveyor: Surveyor, errors: Floats, payload: float | None = None
) -> Look:
    """Return the look of a program: with the words of its graph, if it has one."""

    def logic(*arrays: Floats) -> Floats:
        return program.evaluate(*arrays, payload=payload).values

    load = program.load(payload)
    series = "compact" if program.mode == "compact" else "paper, m"
    return replace(
        surveyor.look(program.bits, series, errors, logic),
        words=words_of(load.graph, load.meanings) if load.graph is not None else (),
        grades=tuple(output.grade for output in load.outputs),
        nodes=len(program.network(payload).nodes),
    )


def _widened(terms: Terms, paper: Plan, extra: int) -> Plan:
    """Return the plan with that many guard bits more than the paper's rule gives."""
    if not extra:
        return paper
    # Outputs differ in m, so each takes its own; splitting stays as the paper's m decides it.
    outputs = []
    for k, output in enumerate(paper.outputs):
        guard = output.guard_bits + extra
        if guard > MOST_GUARD_BITS:
            raise UsageError(f"{guard} guard bits: at most {MOST_GUARD_BITS}")
        options = replace(paper.options, guard_bits=guard, splits=output.splits)
        outputs.append(make_plan(terms, options).outputs[k])
    return replace(paper, outputs=tuple(outputs))


def _too_wide(plan: Plan, most: int) -> dict[str, str]:
    """Return why outputs keep all from being minimised: by title, their widest term's name."""
    notes = {}
    for output in plan.outputs:
        widest = max(output.terms, key=lambda term: term.input_bits, default=None)
        if widest is not None and widest.input_bits > most:
            notes[widest.term.output] = (
                f"not minimised: {widest.term.name} has {widest.input_bits} input bits, "
                f"more than {most}"
            )
    return notes


def _covers(plan: Plan, question: Question, store: Store) -> tuple[TermCover, ...] | None:
    """Return covers of a plan's tables, where they are asked for and not too wide."""
    if question.recipe is None or _too_wide(plan, question.widest):
        return None
    return make_covers(make_tables(plan), question.recipe, store, workers=question.workers)


def _with_logic(
    plan: Plan, rows: Sequence[ReportRow], covers: Sequence[TermCover], samples: Samples
) -> tuple[ReportRow, ...]:
    """Add products, literals, nodes, compile and evaluation time."""
    tables = [one.entry for one in covers]
    program = program_of(plan, tables, [c.cover for c in covers], logic=stored_network)
    said = said_words(covers)
    _check_words(program, plan, samples, said)
    nanoseconds, native = timed(program, samples)
    whole = program.network()
    result = []
    for row, output in zip(rows, program.outputs, strict=True):
        used = {term.network for term in output.terms}
        own = {c.entry.table: c for c in covers if c.entry.plan.term.output == row.output.title}
        notes = {c.cover.note for c in own.values() if c.cover.note}
        result.append(
            replace(
                row,
                bound=output.useful_bound if said else row.bound,
                proved=output.bound if said else row.proved,
                bound_note=output.bound_note if said else row.bound_note,
                products=sum(c.cover.products for c in own.values()),
                literals=sum(c.cover.literals for c in own.values()),
                luts=sum(len(program.networks[k].nodes) for k in used),
                program_luts=len(whole.nodes),
                depth=whole.depth,
                native_seconds=native,
                seconds=sum(c.cover.seconds for c in own.values()),
                ns_per_sample=nanoseconds,
                note="; ".join(filter(None, [row.note, *sorted(notes)])),
            )
        )
    return tuple(result)


def _check_words(program: Program, plan: Plan, samples: Samples, said: Said) -> None:
    """Raise a `DataError` unless the logic computes what its tables say."""
    state = tuple(array[:TIMED] for array in samples.arrays)
    if not np.array_equal(program.evaluate(*state).words, quantised(plan, state, said).words):
        raise DataError(f"{plan.problem.name}: the logic does not compute what its tables say")
