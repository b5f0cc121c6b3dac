"""The passes of paper mode that follow the extraction of terms, in their order (see `pipeline`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.workers import Course, Workers, all_cores
from boolcomp.paper.covers import (
    CoverStore,
    TermCover,
    cover_words,
    default_store,
    make_covers,
    stored_network,
)
from boolcomp.paper.plan import PlanOptions, make_plan
from boolcomp.paper.program import (
    EVALUATIONS,
    SAMPLES,
    allowed,
    known_errors,
    plans_within,
    program_of,
)
from boolcomp.paper.tables import TermTable, make_tables
from boolcomp.twolevel.minimisation import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Promise
    from boolcomp.program.program import KnownErrors, Program
    from boolcomp.terms.extract import Terms


# Nominal seconds: of minimisation per point (a rough estimate), of a term's evaluation, and of the
# program and its bounds per product and per point.
MINIMISED, EVALUATED, PRODUCT, POINT = 6e-6, 0.13e-6, 0.08e-3, 0.3e-6
WORK = {"tables": 5.0, "errors": 2.0, "program": 2.0, "done": 0.01}  # until work is counted
GUESSED = {"tables"}


class ProgressListener(Protocol):
    """A callback with a stage, its current item, and the completed fraction of its work.

    `counted` is the expected work of stages from here on, in nominal seconds. `left` is the
    remaining work in units of the completed work.
    """

    def __call__(
        self, stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None: ...  # fmt: skip


def _ignore(*_: object, **__: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class PaperChoices:
    """The options of a compilation in paper mode.

    The search for the largest error uses `evaluations`, by default `EVALUATIONS`; 0 omits it. A
    guaranteed `error` determines the guard bits, and the bits if these are `free`. `certify` adds a
    certificate to the program.
    """

    options: PlanOptions = field(default_factory=PlanOptions)
    recipe: Recipe = field(default_factory=Recipe)
    store: CoverStore = field(default_factory=default_store)
    progress: ProgressListener = _ignore
    evaluations: int | None = None
    error: Promise | None = None
    free: bool = False
    certify: bool = False
    workers: Workers = field(default_factory=all_cores)

    def __post_init__(self) -> None:
        if self.free and self.error is None:
            raise UsageError("free bits require a guaranteed error", "give --accuracy proved=0.5Nm")


@dataclass(frozen=True, slots=True)
class PlanTables:
    """A plan and the table of each of its terms."""

    plan: Plan
    tables: tuple[TermTable, ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """A plan, a verified cover of the table of each of its terms, and the errors of its outputs."""

    plan: Plan
    terms: tuple[TermCover, ...]
    errors: tuple[KnownErrors, ...] = ()


def plans(several: Sequence[Terms], choices: PaperChoices) -> list[Plan]:
    """Plan every term's table by the paper's rules, and for a guaranteed error if there is one."""
    required = [_required(terms) for terms in several]
    if choices.error is not None:
        return plans_within(required, choices.options, choices.error, free=choices.free)
    return [make_plan(terms, choices.options) for terms in required]


def on_course(choices: PaperChoices) -> PaperChoices:
    """Return choices whose progress reports stages as fractions of the whole compilation."""
    course, listener = Course(WORK, ()), choices.progress

    def progress(
        stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        del left  # computed here
        course.expect(counted or {}, GUESSED)
        listener(stage, what, course.at(stage, part), left=course.left)

    return replace(choices, progress=progress)


def _required(terms: Terms) -> Terms:
    """Return terms, after a check that no input has a word format of its own."""
    problem = terms.problem
    formats = [one for one in problem.inputs if one.format]
    if formats:
        raise UsageError(
            f"the word of {formats[0].name} has the format {formats[0].format}, which paper mode "
            "does not support: there, --code applies to all words, and the paper's rules give "
            "their widths", "use compact mode", where=problem.name,
        )  # fmt: skip
    return terms.required()


def tables(planned: Sequence[Plan], _: PaperChoices) -> list[PlanTables]:
    """Tabulate every term; all plans are checked before the first table is made."""
    for one in planned:
        one.require_tables()
    return [PlanTables(one, make_tables(one)) for one in planned]


def covers(tabulated: Sequence[PlanTables], choices: PaperChoices) -> list[Covered]:
    """Minimise the tables of all loads together, so that equal tables are minimised once."""
    everything = [entry for one in tabulated for entry in one.tables]
    work = {"tables": 0.0, "errors": sum(_searched(one.plan, choices) for one in tabulated)}

    def done(entry: TermTable, made: int, points: int) -> None:
        work["tables"] = MINIMISED * points
        choices.progress("tables", entry.plan.term.name, made / points, counted=work)

    found = make_covers(everything, choices.recipe, choices.store, done, choices.workers)
    points = sum(one.outputs << one.inputs for one in {entry.table for entry in everything})
    products = sum(one.cover.products for one in found)
    work["program"] = PRODUCT * products + POINT * points
    choices.progress("tables", "", 1.0, counted=work)
    each = iter(found)
    return [Covered(one.plan, tuple(next(each) for _ in one.tables)) for one in tabulated]


def measure(covered: Covered, choices: PaperChoices) -> Covered:
    """Measure errors on random states, and search for the largest."""

    def progress(part: float) -> None:
        choices.progress("errors", "", part)

    progress(0.0)
    words = cover_words(covered.terms)
    found = known_errors(
        covered.plan, choices.evaluations, choices.workers, words, progress=progress
    )
    return replace(covered, errors=found)


def _searched(plan: Plan, choices: PaperChoices) -> float:
    """Return the expected time of measuring errors, in nominal seconds."""
    evaluations = EVALUATIONS if choices.evaluations is None else choices.evaluations
    return EVALUATED * len(list(plan.terms)) * (SAMPLES + evaluations)


def program(covered: Covered, choices: PaperChoices) -> Program:
    """Combine the logic of covers and the adders of terms; check a guaranteed error."""
    entries = [term.entry for term in covered.terms]
    found = [term.cover for term in covered.terms]
    made = program_of(covered.plan, entries, found, known=covered.errors, logic=stored_network)
    if choices.error is None:
        return made
    plan = covered.plan
    require_kept(plan, made.bound, choices.error)
    error = "".join(str(choices.error).split())  # spaces separate the choices of a demand
    demand = f"bits={plan.options.bits} guard_bits={plan.options.guard_bits} error={error}"
    return replace(made, demand=demand)


def require_kept(plan: Plan, bounds: Sequence[float], error: Promise) -> None:
    """Raise a `DataError` if bounds exceed the guaranteed errors."""
    if any(x > y for x, y in zip(bounds, allowed(plan, error), strict=True)):
        raise DataError(f"errors of {error} are not proved", where=plan.problem.name)
