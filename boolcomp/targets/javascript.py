"""JavaScript: a module with one function of whole numbers, for pages and Node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.bits import bit_assignments
from boolcomp.targets.c_header import loads_of
from boolcomp.targets.languages import JAVASCRIPT_KEYWORDS, JAVASCRIPT_WORDS
from boolcomp.targets.names import Names, comment, escapes, word_names
from boolcomp.targets.procedure import procedure_of
from boolcomp.targets.python import ENTRIES, notes
from boolcomp.targets.scripts import JavaScript
from boolcomp.targets.target import delivered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options

TYPES = {8: "Uint8Array", 16: "Uint16Array", 32: "Uint32Array", 64: "Float64Array"}
JAVASCRIPT_AGREEMENT = """\
// The sum of 2^(i+j) over all digits i of a and j of b that are equal.
function agreement(a, b, mostA, mostB) {
  return a * b + (mostA - a) * (mostB - b);
}
"""
OWN = ("agreement", "mosta", "mostb", *(kind.lower() for kind in TYPES.values()))


def export_javascript(program: Program, load: float | None, options: Options) -> Files:
    """Return a module of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        gates = options.level == "gates" or (options.level is None and one.graph is None)
        write = _javascript_bits if gates else _javascript_words
        files[f"{name}.mjs"] = write(program, one, name)
    return files


def _javascript_words(program: Program, load: Load, name: str) -> str:
    reserved = [*JAVASCRIPT_WORDS, *OWN]
    keywords = [*JAVASCRIPT_KEYWORDS, *TYPES.values()]
    procedure = procedure_of(program, load, reserved, keywords=keywords)
    flags = procedure.free("saturated")
    printer = JavaScript(procedure.tables)
    lines = []
    for table in (one for one in procedure.tables if one.read):
        kind = TYPES[next(width for width in TYPES if table.bits <= width)]
        lines.append(f"const {table.name} = new {kind}([")
        lines += [
            "  " + ", ".join(map(str, table.entries[first : first + ENTRIES])) + ","
            for first in range(0, len(table.entries), ENTRIES)
        ]
        lines.append("]);")
    lines += ["", JAVASCRIPT_AGREEMENT]
    body = [f"let {flags} = 0;"]
    for step in procedure.steps:
        about = f" // {step.said}" if step.said else ""
        body.append(f"const {step.name} = {printer.bare(step.value)};{about}")
    for k, made in enumerate(procedure.outputs):
        for one in made.saturated:
            rests = f" && !({printer.all_of(made.rests)})" if made.rests else ""
            body.append(f"if (!({printer.within(one)}){rests}) {flags} |= {1 << k};")
        body.append(f"const {made.result} = {printer.bare(made.word)};")
    called = {one.name: one.parameter for one in procedure.inputs}
    called |= {one.name: one.result for one in procedure.outputs}
    return _module(program, load, name, called=called, flags=flags, above=lines, body=body)


def _javascript_bits(program: Program, load: Load, name: str) -> str:
    called = word_names(program, JAVASCRIPT_KEYWORDS)
    given = {called[word.name]: word.code.bits for word in program.inputs}
    made = {called[output.name]: output.code.bits for output in load.outputs}
    network, flags = delivered(program, load.payload), Names(called.values()).new("saturated")
    assignments = bit_assignments(network, given, made, Names([*JAVASCRIPT_WORDS, name]), flags)
    body = [f"const {one} = {text};" for one, text in assignments]
    return _module(program, load, name, called=called, flags=flags, above=[], body=body)


def _module(
    program: Program,
    load: Load,
    name: str,
    *,
    called: Mapping[str, str],
    flags: str,
    above: Sequence[str],
    body: Sequence[str],
) -> str:
    """Return a module that exports one function."""
    given = [called[word.name] for word in program.inputs]
    results = [called[output.name] for output in load.outputs]
    lines = [
        f"// {comment(program.name)}: outputs from words, by whole numbers alone.",
        *(f"// {note}" for note in (*escapes(called.items()), *notes(program, load))),
        "",
        *above,
        f"// Returns the words of {', '.join(results)}; and which saturated, a bit each.",
        f"export function {name}({', '.join(given)}) {{",
        *(f"  {line}" for line in body),
        f"  return [{', '.join(results)}, {flags}];",
        "}",
        "",
    ]
    return "\n".join(lines)
