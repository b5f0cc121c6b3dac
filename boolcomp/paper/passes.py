"""The passes of paper mode after terms, in the order in which they run (see `pipeline`)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from boolcomp.base.errors import DataError, UsageError
from boolcomp.base.workers import Course, Workers, all_cores
from boolcomp.paper.covers import (
    Store,
    TermCover,
    default_store,
    make_covers,
    said_words,
    stored_network,
)
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.program import (
    EVALUATIONS,
    SAMPLES,
    allowed,
    known_errors,
    program_of,
    promised_plans,
)
from boolcomp.paper.tables import TermTable, make_tables
from boolcomp.twolevel.minimisation import Recipe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Promise
    from boolcomp.program.program import KnownErrors, Program
    from boolcomp.terms.extract import Terms


# Nominal seconds: of a point that is minimised, which says little, and of a term's evaluation; in
# the program and its bounds of a product, and of a point.
MINIMISED, EVALUATED, PRODUCT, POINT = 6e-6, 0.13e-6, 0.08e-3, 0.3e-6
WORK = {"tables": 5.0, "errors": 2.0, "program": 2.0, "done": 0.01}  # until it is counted
GUESSED = {"tables"}


class Told(Protocol):
    """What is told a stage of the work, what it is at, and which part of the work is done.

    A stage may say how much work is expected of stages from here on, in nominal seconds; whoever
    shows progress is told what is left, in terms of what is done.
    """

    def __call__(
        self, stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        """Hear of it."""


def _ignore(*_: object, **__: object) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class PaperChoices:
    """What a user chooses of a compilation in paper mode.

    `progress` is told how far the work is (see `Told`). The worst error is sought with so many
    `evaluations`, or as many as is usual; with 0 it is not. `error` is what no error may exceed,
    proved: guard bits are found for it, and bits if they are `free`. With `certify` the program has
    a certificate. `workers` are where the work is done.
    """

    options: Options = field(default_factory=Options)
    recipe: Recipe = field(default_factory=Recipe)
    store: Store = field(default_factory=default_store)
    progress: Told = _ignore
    evaluations: int | None = None
    error: Promise | None = None
    free: bool = False
    certify: bool = False
    workers: Workers = field(default_factory=all_cores)

    def __post_init__(self) -> None:
        if self.free and self.error is None:
            raise UsageError("bits are free only for an error that is promised: give --error 0.5Nm")


@dataclass(frozen=True, slots=True)
class PlanTables:
    """A plan and the table of each of its terms."""

    plan: Plan
    tables: tuple[TermTable, ...]


@dataclass(frozen=True, slots=True)
class Covered:
    """A plan, a verified cover of the table of each of its terms, and what its outputs err by."""

    plan: Plan
    terms: tuple[TermCover, ...]
    errors: tuple[KnownErrors, ...] = ()


def plans(several: Sequence[Terms], choices: PaperChoices) -> list[Plan]:
    """Lay out every term's table by the paper's rules, and so that a promise is kept."""
    required = [_required(terms) for terms in several]
    if choices.error is not None:
        return promised_plans(required, choices.options, choices.error, free=choices.free)
    return [make_plan(terms, choices.options) for terms in required]


def on_course(choices: PaperChoices) -> PaperChoices:
    """Return choices whose stages are told as parts of one compilation."""
    course, listener = Course(WORK, ()), choices.progress

    def told(
        stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        del left  # that is said here
        course.expect(counted or {}, GUESSED)
        listener(stage, what, course.at(stage, part), left=course.left)

    return replace(choices, progress=told)


def _required(terms: Terms) -> Terms:
    """Return terms, of words that paper mode has."""
    problem = terms.problem
    asked = [one for one in problem.inputs if one.format]
    if asked:
        raise UsageError(
            f"{problem.name}: the word of {asked[0].name} is to be {asked[0].format}: in paper "
            "mode --code is that of all words, and rules give their widths; compact mode takes it"
        )
    return terms.required()


def tables(planned: Sequence[Plan], _: PaperChoices) -> list[PlanTables]:
    """Tabulate every term; a plan that has no tables is heard of before any table is made."""
    for one in planned:
        one.require_tables()
    return [PlanTables(one, make_tables(one)) for one in planned]


def covers(tabulated: Sequence[PlanTables], choices: PaperChoices) -> list[Covered]:
    """Minimise all tables at once: what they share is done once, and cores stay busy."""
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
    """Measure errors on random states, and seek the worst."""

    def told(part: float) -> None:
        choices.progress("errors", "", part)

    told(0.0)
    said = said_words(covered.terms)
    found = known_errors(covered.plan, choices.evaluations, choices.workers, said, told=told)
    return replace(covered, errors=found)


def _searched(plan: Plan, choices: PaperChoices) -> float:
    """Return how long it takes to measure errors, in nominal seconds."""
    evaluations = EVALUATIONS if choices.evaluations is None else choices.evaluations
    return EVALUATED * len(list(plan.terms)) * (SAMPLES + evaluations)


def program(covered: Covered, choices: PaperChoices) -> Program:
    """Join the logic of covers and the adders of terms; a promise must be proved of it."""
    entries = [term.entry for term in covered.terms]
    found = [term.cover for term in covered.terms]
    made = program_of(covered.plan, entries, found, known=covered.errors, logic=stored_network)
    if choices.error is None:
        return made
    plan = covered.plan
    require_kept(plan, made.bound, choices.error)
    error = "".join(str(choices.error).split())  # choices are words, with a space between them
    said = f"bits={plan.options.bits} guard_bits={plan.options.guard_bits} error={error}"
    return replace(made, demand=said)


def require_kept(plan: Plan, bounds: Sequence[float], error: Promise) -> None:
    """Raise a `DataError` where bounds do not keep what is promised."""
    if any(x > y for x, y in zip(bounds, allowed(plan, error), strict=True)):
        raise DataError(f"{plan.problem.name}: errors of {error} are not proved")
