"""boolcomp: a compiler from robot dynamics to logic.

    import boolcomp as bc
    robot = bc.load_robot("machado-2r")
    program = bc.compile(robot, bits=8)
    tau = program.torques(q, qd, qdd)
    program.save("out/2r"); bc.load_program("out/2r")

These names are imported when they are first used, so that importing boolcomp costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from boolcomp.version import VERSION

if TYPE_CHECKING:
    from boolcomp.api import compile, load_program, load_robot  # noqa: A004  # the name is meant

__version__ = VERSION
__all__ = ["compile", "load_program", "load_robot"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'boolcomp' has no attribute {name!r}")
    return getattr(importlib.import_module("boolcomp.api"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
