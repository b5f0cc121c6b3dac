"""From a robot to a program, for one tip load or several: the passes, and the store between."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.covers import make_covers
from boolcomp.errors import UsageError, listing, suggestion
from boolcomp.logicstore import stored_network
from boolcomp.plan import Options, make_plan
from boolcomp.program import Program, family_of, program_of
from boolcomp.robot import with_payload
from boolcomp.store import Recipe, Store, default_store
from boolcomp.terms import split_torques
from boolcomp.truth import make_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.covers import TermCover
    from boolcomp.plan import Plan
    from boolcomp.robot import Robot
    from boolcomp.truth import TermTable


COMPILED_MODES = ("paper",)  # of a program's modes, those that can be compiled yet


def check_mode(mode: str) -> None:
    """Raise a `UsageError` for a mode that cannot be compiled."""
    if mode not in COMPILED_MODES:
        hint = suggestion(mode, COMPILED_MODES)
        raise UsageError(f"mode {mode!r}{hint}: modes are {listing(COMPILED_MODES)}")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program, and how it came about: plans and covers of every load."""

    program: Program
    plans: tuple[Plan, ...]
    covers: tuple[tuple[TermCover, ...], ...]
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
    """Compile a robot for tip loads (kg); what the store holds is not minimised again.

    `done` is told every distinct table as its cover is there.
    """
    if isinstance(payloads, int | float):
        payloads = (payloads,)
    if not payloads or len(set(payloads)) != len(payloads):
        raise UsageError("payloads must be one or several different masses")
    start = time.perf_counter()
    chosen, keeper = options or Options(), store or default_store()
    torques = [split_torques(with_payload(robot, mass)) for mass in payloads]
    plans = tuple(make_plan(item, chosen) for item in torques)
    tables = [make_tables(plan) for plan in plans]
    # All loads at once: tables they share are minimised once, and cores stay busy.
    everything = [entry for load in tables for entry in load]
    found = iter(make_covers(everything, recipe or Recipe(), keeper, done))
    covers = tuple(tuple(next(found) for _ in load) for load in tables)
    program = family_of(
        program_of(plan, load, [term.cover for term in terms], mass, logic=stored_network)
        for plan, load, terms, mass in zip(plans, tables, covers, payloads, strict=True)
    )
    return Compiled(program, plans, covers, time.perf_counter() - start)
