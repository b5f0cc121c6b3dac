"""boolcomp: a compiler from robot dynamics to logic.

    import boolcomp as bc
    gravity = bc.robot("machado-2r").problem("gravity")  # exact: gravity(q=[0.3, -0.7])
    program = bc.compile("machado-2r", bits=8)           # inverse dynamics
    program(q=[0.3, -0.7], qd=[0.4, 0.9], qdd=[0, 0])    # torques by logic
    program.errors["tau1"].bound                         # N·m, proved
    program.export("2r.v", pipeline=4); program.save("out/2r"); bc.load_program("out/2r")

Or any function of bounded words:

    x = bc.word(-1, 1, bits=10)
    bc.compile(bc.function(lambda x: bc.sqrt(x + 1), x=x, out="y"), accuracy=bc.Rms(0.5))

These names are imported when they are first used, so that importing boolcomp costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boolcomp.base import VERSION

if TYPE_CHECKING:
    from boolcomp.api import area as area
    from boolcomp.api import compile as compile  # noqa: A004  # the name is meant
    from boolcomp.api import function as function
    from boolcomp.api import load_program as load_program
    from boolcomp.api import report as report
    from boolcomp.api import robot as robot
    from boolcomp.api import simulate as simulate
    from boolcomp.base.errors import BoolcompError as BoolcompError
    from boolcomp.base.errors import DataError as DataError
    from boolcomp.base.errors import SaturationWarning as SaturationWarning
    from boolcomp.base.errors import UsageError as UsageError
    from boolcomp.base.workers import Workers as Workers
    from boolcomp.problem.build import function_problem as function_problem
    from boolcomp.problem.dynamics import inverse_dynamics as inverse_dynamics
    from boolcomp.problem.operations import *  # noqa: F403  # those of its __all__
    from boolcomp.problem.robot.library import load_robot as load_robot
    from boolcomp.problem.robot.library import robot_names as robot_names
    from boolcomp.problem.words import angle as angle
    from boolcomp.problem.words import word as word
    from boolcomp.scale.batches import evaluate_files as evaluate_files
    from boolcomp.targets.target import export as export
    from boolcomp.values import Cost as Cost
    from boolcomp.values import Found as Found
    from boolcomp.values import Proved as Proved
    from boolcomp.values import Rms as Rms
    from boolcomp.values import Search as Search

__version__ = VERSION
GROUPS = {  # the public names by module, in the groups and the order of the reference
    "What to compile": {
        "api": "robot function", "problem.words": "word angle",
        "problem.robot.library": "load_robot robot_names", "problem.build": "function_problem",
        "problem.dynamics": "inverse_dynamics",
    },
    "How to compile": {"api": "compile", "values": "Rms Found Proved Cost Search"},
    "Programs": {
        "api": "load_program", "targets.target": "export", "scale.batches": "evaluate_files",
    },
    "Measurements": {"api": "report simulate area"},
    "Functions in expressions": {
        "problem.operations": "abs acos asin atan atan2 clip cos exp log maximum minimum "
        "reciprocal sign sin sqrt tan tanh where_positive wrap",
    },
    "Errors, warnings and workers": {
        "base.errors": "BoolcompError DataError UsageError SaturationWarning",
        "base.workers": "Workers",
    },
}  # fmt: skip
_HOMES = {
    name: module
    for group in GROUPS.values()
    for module, names in group.items()
    for name in names.split()
}
__all__ = sorted(_HOMES)  # noqa: PLE0605  # which is a list


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from boolcomp.base.errors import suggestion  # noqa: PLC0415 (only for a mistake)

        longer = [one for one in _HOMES if one.startswith(f"{name}_")]  # load: load_program …
        near = suggestion(name, longer, 0.0) if longer else suggestion(name, _HOMES)
        raise AttributeError(f"module 'boolcomp' has no attribute {name!r}; {near}".rstrip("; "))
    return getattr(importlib.import_module(f"boolcomp.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
