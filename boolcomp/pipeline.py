"""The compiler as two lists of passes, one for each mode; these lists are what runs.

Each pass is a pure function of the value before it and of the user's choices, and can be run,
printed and tested alone. The lists show the way from a problem to a program; each name leads to the
module that does the work.

    problem ─ terms ─┬─ plan ─ tables ─ covers ───────────── measure ─ program      (mode paper)
                     └─ store ─ sketch ─ … ─ graph ─ logic ─ measure ─ program      (mode compact)

Several payloads are several problems: every pass runs for all of them before the next pass, and
their programs are joined at the end.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from boolcomp.base.errors import DataError, UsageError, require_name
from boolcomp.base.store import everywhere, place_of
from boolcomp.base.workers import ALONE
from boolcomp.compact import passes as compact
from boolcomp.compact.demand import Progress, ignore_progress
from boolcomp.compact.passes import on_course
from boolcomp.compact.promise import bits_for
from boolcomp.paper import passes as paper
from boolcomp.paper.plan import PlanOptions
from boolcomp.paper.program import allowed
from boolcomp.problem.functions import USUAL
from boolcomp.problem.problem import with_words
from boolcomp.problem.sources import problem_of
from boolcomp.program.files import family_of
from boolcomp.program.program import MODES
from boolcomp.terms.extract import per_kilogram, split

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.compact.demand import Listener
    from boolcomp.compact.result import Built
    from boolcomp.paper.covers import TermCover
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Problem, Promise
    from boolcomp.problem.sources import Source
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: its name, its result, and its function of the values of all payloads."""

    name: str
    makes: str
    run: Callable[[list[Any], Any], Sequence[Any]]


def _each(step: Callable[[Any, Any], Any]) -> Callable[[list[Any], Any], Sequence[Any]]:
    return lambda values, choices: [step(value, choices) for value in values]


def _own(step: Callable[[Any, Any], Any]) -> Callable[[list[Any], Any], Sequence[Any]]:
    return lambda values, own: [step(*one) for one in zip(values, own, strict=True)]


_TERMS = Pass("terms", "Terms: sums of waves times inputs", _each(lambda one, _: split(one)))
PAPER = (
    _TERMS,
    Pass("plan", "Plan: the paper's Fig. 1", paper.plans),
    Pass("tables", "PlanTables: the truth table of every term", paper.tables),
    Pass("covers", "Covered: products that make every table", paper.covers),
    Pass("measure", "Covered: and errors, the worst sought", _each(paper.measure)),
    Pass("program", "Program: covers and adders", _each(paper.program)),
)
COMPACT = (
    _TERMS,
    Pass("store", "Built, if it is there; else nothing new", _own(compact.store)),
    Pass("sketch", "WidthSearch: words without widths", _own(compact.sketch)),
    Pass("screen", "WidthSearch: forms, by the noise model", _own(compact.screen)),
    Pass("refine", "WidthSearch: widths that hold", _own(compact.refine)),
    Pass("improve", "WidthSearch: smaller ones", _own(compact.improve)),
    Pass("graph", "Compact: the word graph", _own(compact.graph)),
    Pass("logic", "Draft: adders by rule, tables", _own(compact.logic)),
    Pass("optimise", "Draft: fewer nodes, proved", _own(compact.optimise)),
    Pass("measure", "Built: errors on fresh states, the worst", _own(compact.measure)),
    Pass("approximate", "Built: smaller, where it may err more", _own(compact.approximate)),
    Pass("program", "Program: one network", _own(compact.program)),
)


def problems_of(
    source: Source,
    payloads: Sequence[float] | float = 0.0,
    of: str = USUAL,
    words: Mapping[str, WordFormat] | None = None,
) -> list[Problem]:
    """Return the problems of a robot (a value, its name or path), one for each payload (kg).

    `of` is the function of the robot, `words` are formats of its words. A problem or a function
    file has no payload.
    """
    return [with_words(problem_of(source, of, mass), words or {}) for mass in _masses(payloads)]


@dataclass(frozen=True, slots=True)
class PaperCompilation:
    """A program in paper mode, with the plans and covers of every payload."""

    program: Program
    made: tuple[paper.Covered, ...]
    seconds: float
    error: Promise | None = None

    @property
    def plans(self) -> tuple[Plan, ...]:
        return tuple(one.plan for one in self.made)

    @property
    def promised(self) -> tuple[float | None, ...]:
        """The guaranteed errors of the outputs in their units, or None."""
        plan = self.plans[0]
        if self.error is None:
            return (None,) * len(plan.outputs)
        return tuple(x if math.isfinite(x) else None for x in allowed(plan, self.error))

    @property
    def covers(self) -> tuple[tuple[TermCover, ...], ...]:
        return tuple(one.terms for one in self.made)


@dataclass(frozen=True, slots=True)
class CompactCompilation:
    """A program in compact mode, with the results of every payload."""

    program: Program
    built: tuple[Built, ...]
    seconds: float


def run(
    passes: Sequence[Pass], values: Sequence[Any], choices: Any, until: str = "program"
) -> list[Any]:
    """Run passes up to the named one, each for all values; return the results."""
    names = [step.name for step in passes]
    require_name("step", until, names)
    made = list(values)
    for step in passes[: names.index(until) + 1]:
        made = list(step.run(made, choices))
    return made


def compile_paper(
    source: Source,
    choices: paper.PaperChoices | None = None,
    payloads: Sequence[float] = (0.0,),
    of: str = USUAL,
) -> PaperCompilation:
    """Compile to product terms for payloads (kg), as the paper does.

    Covers in the store are used again.
    """
    start, chosen = time.perf_counter(), choices or paper.PaperChoices()
    told = paper.on_course(chosen)
    with chosen.workers.opened() as workers:
        problems = problems_of(source, payloads, of)
        made = run(PAPER[:-1], problems, replace(told, workers=workers), "measure")
    told.progress("program", "", 0.0)
    program = _family(run(PAPER[-1:], made, chosen), source, payloads, of)
    told.progress("done", "", 1.0)
    if chosen.certify:
        from boolcomp.proof.certificates import certified as tabled  # noqa: PLC0415 (with --certify only)

        program = tabled(program, made)
        for load, one in zip(program.loads, made, strict=True):
            if chosen.error is not None:
                bounds = [output.bound for output in load.outputs]
                paper.require_kept(one.plan, bounds, chosen.error)
    return PaperCompilation(program, tuple(made), time.perf_counter() - start, chosen.error)


def compile_compact(
    source: Source,
    choices: compact.CompactChoices | None = None,
    payloads: Sequence[float] = (0.0,),
    of: str = USUAL,
) -> CompactCompilation:
    """Compile to word-level logic for payloads (kg): compact mode.

    Raises a `DataError` if the result does not meet the demand.
    """
    start, chosen = time.perf_counter(), choices or compact.CompactChoices()
    problems, masses = problems_of(source, payloads, of, chosen.words), _masses(payloads)
    with chosen.workers.opened() as workers:
        made = _built(problems, masses, replace(chosen, workers=workers))
    program = _family(run(COMPACT[-1:], made, [chosen] * len(made)), source, masses, of)
    for one in made:
        _check(one)
    if chosen.certify:
        program, made = certified(program, made)
    return CompactCompilation(program, tuple(made), time.perf_counter() - start)


def _built(
    problems: Sequence[Problem], masses: Sequence[float], choices: compact.CompactChoices
) -> list[Built]:
    """Return the result of every payload, computed in parallel if there are workers."""
    if len(problems) == 1 or choices.workers.here:
        own = [replace(choices, progress=one) for one in _listeners(choices, masses)]
        return run(COMPACT[:-1], problems, own, "approximate")
    alone = replace(choices, workers=ALONE, progress=ignore_progress)
    if alone.store is not None:
        alone = replace(alone, store=everywhere(place_of(alone.store)))
    made: list[Built] = []
    choices.progress(Progress(f"{len(problems)} loads"))
    for one in choices.workers.in_order(_one_load, [(problem, alone) for problem in problems]):
        made.append(one)
        done = f"{len(made)} of {len(problems)} loads"
        rms = tuple(map(float, one.errors.rms))
        choices.progress(Progress(done, one.nodes, rms, len(made) / len(problems)))
    return made


def _one_load(problem: Problem, choices: compact.CompactChoices) -> Built:
    """Return the result of one payload."""
    (made,) = run(COMPACT[:-1], [problem], [choices], "approximate")
    return cast("Built", made)


def _check(built: Built) -> None:
    """Raise a DataError if a result does not meet the demand."""
    name = built.compact.problem.name
    if not built.kept:
        raise DataError(
            "the guaranteed errors are not proved", "allow larger ones, or use more --effort",
            where=name,
        )  # fmt: skip
    if not built.holds:
        worst = ", ".join(f"{error:.2f}" for error in built.largest)
        raise DataError(
            f"the result misses the accuracy target: {built.errors} on fresh states, largest "
            f"error found {worst} LSB", "allow a larger error, or use more --effort", where=name,
        )  # fmt: skip


def certified(program: Program, made: list[Built]) -> tuple[Program, list[Built]]:
    """Return a program with its certificate, and results with bounds that the checker confirms."""
    from boolcomp.proof import certificates  # noqa: PLC0415 (with --certify only)
    from boolcomp.proof.certificates import (  # noqa: PLC0415 (with --certify only)
        CertifiedLoad,
        certificate,
        with_confirmed_bounds,
        with_confirmed_changes,
        with_sketch_errors,
    )

    confirmed = with_confirmed_bounds(program, made)
    program = with_sketch_errors(program, confirmed)
    program = with_confirmed_changes(
        program, certificates.origin_section(CertifiedLoad(confirmed[0], program, 0))
    )
    _refuse_broken(program, confirmed)
    return replace(program, certificate=certificate(program, confirmed)), confirmed


def _refuse_broken(program: Program, made: Sequence[Built]) -> None:
    """Raise a DataError if confirmed bounds, which may be wider, exceed guaranteed errors."""
    for load, one in zip(program.loads, made, strict=True):
        for output, most in zip(load.outputs, one.promised, strict=True):
            if output.bound > most * output.code.step:
                unit = f" {output.unit}" if output.unit else ""
                kept = most * output.code.step
                raise DataError(
                    f"a certificate confirms {output.bound:.6g}{unit} as the bound of "
                    f"{output.name}, more than the guaranteed {kept:.6g}{unit}",
                    "allow a larger error, or compile without --certify", where=program.name,
                )  # fmt: skip


def with_bits_found(
    source: Source,
    choices: compact.CompactChoices,
    payloads: Sequence[float] = (0.0,),
    of: str = USUAL,
) -> compact.CompactChoices:
    """Return choices with the word length that needs the fewest nodes for a guaranteed error."""
    terms = run(COMPACT, problems_of(source, payloads, of, choices.words), choices, "terms")
    bits = bits_for(terms, choices.demand, choices.workers)
    return replace(choices, demand=replace(choices.demand, bits=bits))


def _family(
    programs: Sequence[Program], source: Source, payloads: Sequence[float] | float, of: str
) -> Program:
    """Return one program with the parts of all payloads, and the change of outputs per kilogram."""
    masses = _masses(payloads)
    family = family_of(
        replace(program, loads=tuple(replace(one, payload=mass) for one in program.loads))
        for program, mass in zip(programs, masses, strict=True)
    )
    if len(masses) == 1:
        return family
    return replace(family, per_kilogram=per_kilogram(source, of))


def _listeners(choices: compact.CompactChoices, masses: Sequence[float]) -> list[Listener]:
    """Return a listener for each payload; together they report the progress of all."""
    progress = choices.progress
    if len(masses) == 1:
        return [on_course(progress, choices.demand)]
    fractions = [0.0] * len(masses)

    def of(place: int) -> Listener:
        def told(step: Progress) -> None:
            fractions[place] = step.fraction
            stage = f"{masses[place]:g} kg, {step.stage}"
            left = math.inf if step.left == math.inf else None  # follows from the fraction of all
            whole = sum(fractions) / len(masses)
            progress(replace(step, stage=stage, fraction=whole, left=left))

        return on_course(told, choices.demand)

    return [of(place) for place in range(len(masses))]


def _masses(payloads: Sequence[float] | float) -> tuple[float, ...]:
    masses = (payloads,) if isinstance(payloads, int | float) else tuple(payloads)
    if not masses or len(set(masses)) != len(masses):
        raise UsageError("payloads must be one or several different masses")
    return masses


def check_mode(mode: str) -> None:
    """Raise a `UsageError` for an unknown mode."""
    require_name("mode", mode, MODES)


def run_passes(
    source: Source, options: PlanOptions | None = None, until: str = "tables", of: str = USUAL
) -> Any:
    """Run the paper's passes on a robot or a problem; return the value of the named one."""
    choices = paper.PaperChoices(options or PlanOptions())
    (made,) = run(PAPER, problems_of(source, of=of), choices, until)
    if until == "tables":
        return made.tables
    return made.terms if until == "covers" else made
