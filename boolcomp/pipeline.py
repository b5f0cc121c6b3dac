"""The compiler, as the list of its passes: one list for each mode.

Each pass is a pure function of the values before it; run one, print its value, save it, test it
alone. Read down a list and you have seen the way from a robot file to a program; every name leads
to the module that does the work.

    robots/*.toml ─ robot ─ terms ─┬─ plan ─ tables ─ covers ─┬─ program      (mode paper)
                                   └─ words ──────────────────┘               (mode compact)

`compiler.py` runs a list for every load at the tip and joins the programs; what one does with a
program (evaluate it, report its errors) begins where these lists end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from boolcomp.common.errors import UsageError, listing, suggestion
from boolcomp.paper.assembly import program_of
from boolcomp.paper.covers import make_covers
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.store import Recipe, Store, default_store
from boolcomp.paper.stored import stored_network
from boolcomp.paper.truth import make_tables
from boolcomp.problem.robot import Robot, robot_of, with_payload
from boolcomp.terms import split_torques

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from boolcomp.compact.result.finish import Built
    from boolcomp.compact.widths.demand import Demand, Progress
    from boolcomp.paper.covers import TermCover
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.truth import TermTable
    from boolcomp.problem.robot import Robot
    from boolcomp.program.program import Program
    from boolcomp.terms import Torques

Values: TypeAlias = dict[str, Any]  # of passes, by their names


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be compiled, with all that a user may choose; each pass takes what it needs.

    `payload` is a mass at the tip in kg. `built` is the folder of compact mode's finished results,
    the user's cache if it is None. `done` is told of every distinct table, `progress` how the
    search is going.
    """

    source: Robot | str | Path
    payload: float = 0.0
    options: Options = field(default_factory=Options)
    recipe: Recipe = field(default_factory=Recipe)
    store: Store = field(default_factory=default_store)
    done: Callable[[TermTable], None] = lambda _: None
    demand: Demand | None = None
    built: Path | None = None
    processes: int = 2
    progress: Callable[[Progress], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Pass:
    """One step: its name, what it makes, and the function of the values before it."""

    name: str
    makes: str
    run: Callable[[Values, Job], Any]


_FIRST = (
    Pass("robot", "Robot: links, ranges", lambda _, job: _robot(job)),
    Pass("terms", "Torques: sums of terms", lambda made, _: split_torques(made["robot"])),
)
PAPER = (
    *_FIRST,
    Pass(
        "plan", "Plan: the paper's Fig. 1", lambda made, job: make_plan(made["terms"], job.options)
    ),
    Pass("tables", "TermTable of every term", lambda made, _: make_tables(made["plan"])),
    Pass("covers", "TermCover of every table", lambda made, job: _covers(made["tables"], job)),
    Pass(
        "program",
        "Program: covers and adders",
        lambda made, job: _of_covers(made["plan"], made["tables"], made["covers"], job),
    ),
)
COMPACT = (
    *_FIRST,
    Pass("words", "Built: word graph, network", lambda made, job: _words(made["terms"], job)),
    Pass("program", "Program: one network", lambda made, job: _of_words(made["words"], job)),
)
PASSES = {"paper": PAPER, "compact": COMPACT}


def run(passes: Sequence[Pass], job: Job, until: str, made: Values | None = None) -> Values:
    """Run passes up to the named one; return all values. Those in `made` are not made again."""
    names = [step.name for step in passes]
    if until not in names:
        raise UsageError(f"no pass {until!r}{suggestion(until, names)}: {listing(names)}")
    values = dict(made or {})
    for step in passes[: names.index(until) + 1]:
        if step.name not in values:
            values[step.name] = step.run(values, job)
    return values


def run_passes(
    source: Robot | str | Path, options: Options | None = None, until: str = "tables"
) -> Any:
    """Run the paper's passes on a robot, its name or path; return the value of the named one."""
    return run(PAPER, Job(source, options=options or Options()), until)[until]


def _robot(job: Job) -> Robot:
    return with_payload(robot_of(job.source), job.payload)


def _covers(tables: Sequence[TermTable], job: Job) -> Any:
    return make_covers(tables, job.recipe, job.store, job.done)


def _of_covers(
    plan: Plan, tables: Sequence[TermTable], terms: Sequence[TermCover], job: Job
) -> Program:
    covers = [term.cover for term in terms]
    return program_of(plan, tables, covers, job.payload, logic=stored_network)


def _words(torques: Torques, job: Job) -> Built:
    from boolcomp.compact.result.finish import compile_compact  # noqa: PLC0415 (heavy; paper mode needs none)

    return compile_compact(
        torques, job.demand, store=job.built, progress=job.progress, processes=job.processes
    )


def _of_words(built: Built, job: Job) -> Program:
    return built.program(job.payload)
