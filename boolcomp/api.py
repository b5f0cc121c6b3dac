"""What Python users call: `boolcomp.load_robot`, `boolcomp.compile`, `boolcomp.load_program`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from boolcomp.compiler import check_mode, compile_robot, compile_robot_words, usual_demand
from boolcomp.errors import UsageError, listing, suggestion
from boolcomp.plan import Options
from boolcomp.programfile import load_program
from boolcomp.robot import Robot, load_robot
from boolcomp.store import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.program import Program

__all__ = ["compile", "load_program", "load_robot"]


def compile(  # noqa: A001  # the name is meant
    robot: Robot | str | Path,
    bits: int = 8,
    mode: str = "compact",
    *,
    payloads: Sequence[float] = (0.0,),
    **choices: Any,
) -> Program:
    """Compile a robot (a value, a shipped name or a path) to a program of logic.

    With several `payloads` (kg at the tip) the program holds one load each. What was compiled
    before is read from the store.

    Choices of mode `compact` are those of `boolcomp.words.demand.Demand`: `rms`, `max`,
    `input_bits`, `saturate`, `objective`, `effort`, `seed`. Those of mode `paper`: `code`,
    `guard_bits`, `splits`, `rounding` (see `boolcomp.plan.Options`), `minimizer`, and `deadline`
    in seconds per table.
    """
    check_mode(mode)
    loaded = robot if isinstance(robot, Robot) else load_robot(robot)
    if mode == "compact":
        from boolcomp.words.demand import Demand  # noqa: PLC0415 (heavy)

        demand = usual_demand(bits, **_known(choices, mode, [f.name for f in fields(Demand)]))
        return compile_robot_words(loaded, demand, payloads=payloads).program
    names = [f.name for f in fields(Options)]
    known = _known(choices, mode, [*names, "minimizer", "deadline"])
    recipe = Recipe(known.pop("minimizer", "own"), known.pop("deadline", 60.0))
    return compile_robot(loaded, Options(bits=bits, **known), recipe, payloads=payloads).program


def _known(choices: dict[str, Any], mode: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the choices, or raise a `UsageError` for one that the mode does not have."""
    allowed = [name for name in names if name != "bits"]
    for name in choices:
        if name not in allowed:
            raise UsageError(
                f"mode {mode} has no {name!r}{suggestion(name, allowed)}: it has {listing(allowed)}"
            )
    return choices
