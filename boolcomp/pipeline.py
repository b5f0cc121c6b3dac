"""The compiler up to its truth tables, as the list of its passes.

Each pass is a pure function from the value before it to the next; run one, print its value, save
it, test it alone. Read down the list and you have seen the way from a robot file to logic; every
name leads to the module that does the work.

    robots/*.toml ─ robot ─ terms ─ plan ─ tables ─ covers ─ networks ─ program

The last three need a store and a clock, so they stand in `compiler.compile_robot`: `covers.py` has
every table minimised once, `coverlogic.py` makes networks of the covers, `program.py` adds them up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.errors import UsageError, listing, suggestion
from boolcomp.plan import Options, make_plan
from boolcomp.robot import load_robot
from boolcomp.terms import split_torques
from boolcomp.truth import make_tables

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Pass:
    """One step: its name, what it makes, and the function from the value before it."""

    name: str
    makes: str
    run: Callable[[Any, Options], Any]


PASSES = (
    Pass("robot", "Robot: links, ranges", lambda source, _: load_robot(source)),
    Pass("terms", "Torques: sums of terms", lambda robot, _: split_torques(robot)),
    Pass("plan", "Plan: the paper's Fig. 1", make_plan),
    Pass("tables", "TermTable of every term", lambda plan, _: make_tables(plan)),
)


def run_passes(source: str | Path, options: Options | None = None, until: str = "tables") -> Any:
    """Run the passes on a robot's name or path, up to the named one; return its value."""
    names = [step.name for step in PASSES]
    if until not in names:
        raise UsageError(f"no pass {until!r}{suggestion(until, names)}: {listing(names)}")
    value: Any = source
    for step in PASSES[: names.index(until) + 1]:
        value = step.run(value, options or Options())
    return value
