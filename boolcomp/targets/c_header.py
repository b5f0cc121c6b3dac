"""The header of a program in C: what its words stand for, and helpers without floating point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import mass_text
from boolcomp.common.errors import UsageError
from boolcomp.targets.c_helpers import helpers
from boolcomp.targets.languages import C_WORDS
from boolcomp.targets.names import Names, comment
from boolcomp.targets.target import input_notes, output_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets.procedure import Procedure

WIDEST_FIELD = 32


def loads_of(program: Program, load: float | None) -> Iterator[tuple[str, Load]]:
    """Yield the loads that are meant, each with a name for its files and function."""
    names = Names(C_WORDS)
    if load is not None or len(program.loads) == 1:
        yield names.new(program.name, "program"), program.load(load)
        return
    for one in program.loads:
        text = mass_text(one.payload).replace(".", " point ")
        yield names.new(f"{program.name} {text} kg", "program"), one


def header(
    program: Program, load: Load, procedure: Procedure, name: str, defined: Iterable[str] = ()
) -> str:
    """Return the header of a procedure: the function is declared, or `defined` by these lines."""
    guard = f"{name.upper()}_H"
    widths = [*(x.bits for x in procedure.inputs), *(x.bits for x in procedure.outputs)]
    widest = max(widths)
    if widest > WIDEST_FIELD:
        raise UsageError(f"a word of {widest} bits: C fields have {WIDEST_FIELD} at most")
    lines = [
        f"/* {comment(program.name)}, {comment(program.mode)} mode"
        + (f", load {comment(mass_text(load.payload))} kg" if load.payload else ""),
        "   Words are unsigned integers in the codes said below; bits above a word's own are not",
        "   read, so two's complement may come with its sign extended."
        + "".join(f"\n   {line}" for line in procedure.escapes)
        + " */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdint.h>",
        "",
        "typedef struct {",
    ]
    for given, word in zip(procedure.inputs, program.inputs, strict=True):
        lines += [f"    /* {note} */" for note in input_notes(word)]
        lines += [] if given.read else ["    /* nothing reads it */"]
        lines.append(f"    {_field(given.bits)} {given.parameter};")
    lines += [f"}} {name}_inputs;", "", "typedef struct {"]
    for made, output in zip(procedure.outputs, load.outputs, strict=True):
        lines += [f"    /* {note} */" for note in output_notes(output)]
        lines.append(f"    {_field(made.bits)} {made.result};")
    lines += [
        f"}} {name}_outputs;",
        "",
        "/* Returns a bit for every output, the first lowest: whether it saturated. */",
        *(tuple(defined) or _declaration(name)),
        "",
        helpers(program, load, procedure, name),
    ]
    return "\n".join([*lines, f"#endif /* {guard} */", ""])


def _declaration(name: str) -> tuple[str, ...]:
    function = f"unsigned {name}(const {name}_inputs *given, {name}_outputs *made);"
    return "#ifdef __cplusplus", 'extern "C"', "#endif", function


def _field(bits: int) -> str:
    return "uint16_t" if bits <= 16 else "uint32_t"
