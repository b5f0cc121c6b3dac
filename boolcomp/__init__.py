"""boolcomp: a compiler from robot dynamics to logic.

    import boolcomp as bc
    robot = bc.load_robot("machado-2r")
    program = bc.compile(robot, bits=8)
    tau = program(q, qd, qdd)                        # torques by logic
    bc.inverse_dynamics(robot, q, qd, qdd)           # by Newton-Euler
    program.save("out/2r"); bc.load_program("out/2r")

These names are imported when they are first used, so that importing boolcomp costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boolcomp.common.version import VERSION

if TYPE_CHECKING:
    from boolcomp.api import compile  # noqa: A004  # the name is meant
    from boolcomp.common.errors import BoolcompError, SaturationWarning
    from boolcomp.problem.dynamics import inverse_dynamics
    from boolcomp.problem.robot import load_robot, robot_names
    from boolcomp.program.programfile import load_program

__version__ = VERSION
__all__ = [
    "BoolcompError",
    "SaturationWarning",
    "compile",
    "inverse_dynamics",
    "load_program",
    "load_robot",
    "robot_names",
]
_HOMES = {
    "BoolcompError": "common.errors",
    "SaturationWarning": "common.errors",
    "compile": "api",
    "inverse_dynamics": "problem.dynamics",
    "load_program": "program.programfile",
    "load_robot": "problem.robot",
    "robot_names": "problem.robot",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from boolcomp.common.errors import suggestion  # noqa: PLC0415 (only for a mistake)

        raise AttributeError(
            f"module 'boolcomp' has no attribute {name!r}{suggestion(name, _HOMES)}"
        )
    return getattr(importlib.import_module(f"boolcomp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
