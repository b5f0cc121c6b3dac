"""What Python users call: `boolcomp.load_robot`, `boolcomp.compile`, `boolcomp.load_program`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.compiler import check_mode, compile_robot
from boolcomp.plan import Options
from boolcomp.programfile import load_program
from boolcomp.robot import Robot, load_robot
from boolcomp.store import Recipe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from boolcomp.codes import CodeKind, Rounding
    from boolcomp.program import Program

__all__ = ["compile", "load_program", "load_robot"]


def compile(  # noqa: A001  # the name is meant
    robot: Robot | str | Path,
    bits: int = 8,
    mode: str = "paper",
    *,
    code: CodeKind = "gray",
    guard_bits: int | None = None,
    splits: int | None = None,
    rounding: Rounding = "nearest",
    minimizer: str = "own",
    deadline: float | None = 60.0,
    payloads: Sequence[float] = (0.0,),
) -> Program:
    """Compile a robot (a value, a shipped name or a path) to a program of logic.

    `deadline` is in seconds per table; what the store holds is not minimised again. With several
    `payloads` (kg at the tip) the program holds one load each.
    """
    check_mode(mode)
    loaded = robot if isinstance(robot, Robot) else load_robot(robot)
    options = Options(bits, code, guard_bits, splits, rounding)
    recipe = Recipe(minimizer, deadline)
    return compile_robot(loaded, options, recipe, payloads=payloads).program
