"""C99 in one header, which C++ takes, too: tables and the function are static, nothing is linked.

All names begin with the program's, so that several such headers can be included together.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.targets.c import c_procedure, definition
from boolcomp.targets.c_header import header, loads_of

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options


def export_c_header(program: Program, load: float | None, options: Options) -> Files:  # noqa: ARG001 (there is one way)
    """Return a header of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        procedure = c_procedure(program, one)
        tables = tuple(replace(t, name=f"{name}_{t.name}") for t in procedure.tables)
        own = replace(procedure, tables=tables)
        lines = definition(own, name, f"{name.upper()}_", "static inline ")
        files[f"{name}.h"] = header(program, one, own, name, lines)
    return files
