"""boolcomp: a compiler from robot dynamics to logic.

    import boolcomp as bc
    robot = bc.load_robot("machado-2r")
    program = bc.compile(robot, bits=8)
    tau = program(q, qd, qdd)                        # torques by logic
    bc.inverse_dynamics(robot, q, qd, qdd)           # by Newton-Euler
    program.save("out/2r"); bc.load_program("out/2r")
    bc.export(program, "verilog", "2r.v", level="words")

Or any function of bounded words:

    bc.compile(lambda x: bc.sqrt(x), inputs={"x": bc.word(0, 1, bits=10)}, outputs=["y"])

These names are imported when they are first used, so that importing boolcomp costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boolcomp.base import VERSION

if TYPE_CHECKING:
    from boolcomp.api import compile  # noqa: A004  # the name is meant
    from boolcomp.base.errors import BoolcompError, DataError, SaturationWarning, UsageError
    from boolcomp.base.workers import Workers
    from boolcomp.problem.build import function_problem
    from boolcomp.problem.dynamics import inverse_dynamics
    from boolcomp.problem.operations import (
        abs,  # noqa: A004  # the name is meant
        acos,
        asin,
        atan,
        atan2,
        clip,
        cos,
        exp,
        log,
        maximum,
        minimum,
        reciprocal,
        sign,
        sin,
        sqrt,
        tan,
        tanh,
        where_positive,
        wrap,
    )
    from boolcomp.problem.robot.library import load_robot, robot_names
    from boolcomp.problem.words import angle, word
    from boolcomp.program.files import load_program
    from boolcomp.scale.batches import evaluate_files
    from boolcomp.targets.target import export

__version__ = VERSION
__all__ = [
    "BoolcompError",
    "DataError",
    "SaturationWarning",
    "UsageError",
    "Workers",
    "abs",
    "acos",
    "angle",
    "asin",
    "atan",
    "atan2",
    "clip",
    "compile",
    "cos",
    "evaluate_files",
    "exp",
    "export",
    "function_problem",
    "inverse_dynamics",
    "load_program",
    "load_robot",
    "log",
    "maximum",
    "minimum",
    "reciprocal",
    "robot_names",
    "sign",
    "sin",
    "sqrt",
    "tan",
    "tanh",
    "where_positive",
    "word",
    "wrap",
]
_HOMES = {
    "BoolcompError": "base.errors",
    "DataError": "base.errors",
    "SaturationWarning": "base.errors",
    "UsageError": "base.errors",
    "Workers": "base.workers",
    "abs": "problem.operations",
    "acos": "problem.operations",
    "angle": "problem.words",
    "asin": "problem.operations",
    "atan": "problem.operations",
    "atan2": "problem.operations",
    "clip": "problem.operations",
    "compile": "api",
    "cos": "problem.operations",
    "evaluate_files": "scale.batches",
    "exp": "problem.operations",
    "export": "targets.target",
    "function_problem": "problem.build",
    "inverse_dynamics": "problem.dynamics",
    "load_program": "program.files",
    "load_robot": "problem.robot.library",
    "log": "problem.operations",
    "maximum": "problem.operations",
    "minimum": "problem.operations",
    "reciprocal": "problem.operations",
    "robot_names": "problem.robot.library",
    "sign": "problem.operations",
    "sin": "problem.operations",
    "sqrt": "problem.operations",
    "tan": "problem.operations",
    "tanh": "problem.operations",
    "where_positive": "problem.operations",
    "word": "problem.words",
    "wrap": "problem.operations",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from boolcomp.base.errors import suggestion  # noqa: PLC0415 (only for a mistake)

        longer = [one for one in _HOMES if one.startswith(f"{name}_")]  # load: load_program …
        near = suggestion(name, longer, 0.0) if longer else suggestion(name, _HOMES)
        raise AttributeError(f"module 'boolcomp' has no attribute {name!r}{near}")
    return getattr(importlib.import_module(f"boolcomp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
