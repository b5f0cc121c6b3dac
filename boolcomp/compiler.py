"""From a robot to a program, for one tip load or several: the passes, once for every load."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.paper.covers import make_covers
from boolcomp.paper.plan import Options
from boolcomp.paper.store import Recipe, Store, default_store
from boolcomp.pipeline import COMPACT, PAPER, Job, run
from boolcomp.program.program import MODES, Program, family_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from boolcomp.compact.result.finish import Built
    from boolcomp.compact.widths.demand import Demand, Progress
    from boolcomp.paper.covers import TermCover
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.truth import TermTable
    from boolcomp.problem.robot import Robot


def check_mode(mode: str) -> None:
    """Raise a `UsageError` for what is no mode."""
    if mode not in MODES:
        raise UsageError(f"mode {mode!r}{suggestion(mode, MODES)}: modes are {listing(MODES)}")


def usual_demand(bits: int, input_bits: Mapping[str, int] | None = None, **choices: Any) -> Demand:
    """Return the demand with the usual input words: two bits wider than the torques'."""
    from boolcomp.compact.widths.demand import MOST_INPUT, Demand  # noqa: PLC0415 (heavy)

    usual = dict.fromkeys(("q", "qd", "qdd"), min(bits + 2, MOST_INPUT))
    return Demand(bits=bits, input_bits={**usual, **(input_bits or {})}, **choices)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program in paper mode, and how it came about: plans and covers of every load."""

    program: Program
    plans: tuple[Plan, ...]
    covers: tuple[tuple[TermCover, ...], ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class CompiledWords:
    """A program in compact mode, and how it came about: what was built for every load."""

    program: Program
    built: tuple[Built, ...]
    seconds: float


def compile_robot(
    robot: Robot,
    options: Options | None = None,
    recipe: Recipe | None = None,
    store: Store | None = None,
    *,
    payloads: Sequence[float] = (0.0,),
    done: Callable[[TermTable], None] = lambda _: None,
) -> Compiled:
    """Compile a robot to product terms for tip loads (kg), as the paper does.

    What the store holds is not minimised again. `done` is told every distinct table as its cover
    is there.
    """
    start = time.perf_counter()
    chosen, how, keeper = options or Options(), recipe or Recipe(), store or default_store()
    jobs = [Job(robot, mass, chosen, how, keeper, done) for mass in _masses(payloads)]
    made = [run(PAPER, job, "plan") for job in jobs]
    for values in made:  # a load that has no tables is heard of before any table is made
        values["plan"].require_tables()
    made = [run(PAPER, job, "tables", values) for job, values in zip(jobs, made, strict=True)]
    # All loads at once: tables they share are minimised once, and cores stay busy.
    everything = [entry for values in made for entry in values["tables"]]
    found = iter(make_covers(everything, how, keeper, done))
    for values in made:
        values["covers"] = tuple(next(found) for _ in values["tables"])
    program = family_of(
        run(PAPER, job, "program", values)["program"]
        for job, values in zip(jobs, made, strict=True)
    )
    plans = tuple(values["plan"] for values in made)
    covers = tuple(values["covers"] for values in made)
    return Compiled(program, plans, covers, time.perf_counter() - start)


def compile_robot_words(
    robot: Robot,
    demand: Demand | None = None,
    store: Path | None = None,
    *,
    payloads: Sequence[float] = (0.0,),
    progress: Callable[[Progress], None] = lambda _: None,
    processes: int = 2,
) -> CompiledWords:
    """Compile a robot to word-level logic for tip loads (kg): compact mode.

    `store` is the folder where finished results are kept, the user's cache if none is named. What
    does not hold the demand is a `DataError`.
    """
    start = time.perf_counter()
    masses = _masses(payloads)
    made = [
        run(
            COMPACT,
            Job(
                robot, mass, demand=demand, built=store, processes=processes,
                progress=_part(progress, place, masses),
            ),
            "program",
        )
        for place, mass in enumerate(masses)
    ]  # fmt: skip
    program = family_of(values["program"] for values in made)
    built = tuple(values["words"] for values in made)
    for one in built:
        if not one.holds:
            worst = ", ".join(f"{error:.2f}" for error in one.largest)
            raise DataError(
                f"{robot.name}: what was found does not hold what was asked: {one.errors} on fresh "
                f"states, worst found {worst} LSB: allow more, or ask for more --effort"
            )
    return CompiledWords(program, built, time.perf_counter() - start)


def _part(
    progress: Callable[[Progress], None], place: int, masses: Sequence[float]
) -> Callable[[Progress], None]:
    """Return what is told of one load and tells of all; one load alone is told as it is."""
    if len(masses) == 1:
        return progress

    def told(step: Progress) -> None:
        fraction = (place + step.fraction) / len(masses)
        stage = f"{masses[place]:g} kg, {step.stage}"
        progress(replace(step, stage=stage, fraction=fraction))

    return told


def _masses(payloads: Sequence[float] | float) -> tuple[float, ...]:
    masses = (payloads,) if isinstance(payloads, int | float) else tuple(payloads)
    if not masses or len(set(masses)) != len(masses):
        raise UsageError("payloads must be one or several different masses")
    return masses
