"""The memory of a processor that tests bits: its instructions, each in whole bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.names import Names
from boolcomp.targets.walks import image_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options


def export_bdd_binary(program: Program, load: float | None, options: Options) -> Files:
    """Return the instructions of a program; where walks begin, its text says."""
    del options
    name = Names(()).new(program.name, "boolcomp")
    return {f"{name}.bin": image_of(program, load).binary()}
