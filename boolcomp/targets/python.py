"""Python without dependencies: a program to be read, one function of whole numbers.

A program without a word graph is written as its logic, bit by bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.bits import bit_assignments
from boolcomp.targets.c_header import loads_of
from boolcomp.targets.languages import PYTHON_KEYWORDS, PYTHON_WORDS
from boolcomp.targets.names import Names, comment, escapes, word_names
from boolcomp.targets.procedure import procedure_of
from boolcomp.targets.scripts import Python
from boolcomp.targets.target import delivered, input_notes, output_notes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options

ENTRIES = 16
PYTHON_AGREEMENT = '''\
def agreement(a, b, most_a, most_b):
    """Return the sum of 2^(i+j) over all digits i of a and j of b that are equal."""
    return a * b + (most_a - a) * (most_b - b)
'''


def export_python(program: Program, load: float | None, options: Options) -> Files:
    """Return a module of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        if options.level == "gates" or (options.level is None and one.graph is None):
            files[f"{name}.py"] = _python_bits(program, one, name)
        else:
            files[f"{name}.py"] = _python_words(program, one, name)
    return files


def notes(program: Program, load: Load) -> Iterator[str]:
    """Yield what there is to say of all words."""
    for word in program.inputs:
        yield from input_notes(word)
    for output in load.outputs:
        yield from output_notes(output)


def _head(program: Program, load: Load, how: str, escaped: list[str]) -> list[str]:
    lines = [*escaped, *notes(program, load)]
    said = [line.replace("\\", "/").replace('"""', "'''") for line in lines]
    title = comment(program.name).replace('"', "'")
    return [f'"""{title}: outputs from words, {how}', "", *said, '"""', ""]


def _python_words(program: Program, load: Load, name: str) -> str:
    reserved = [*PYTHON_WORDS, "agreement"]
    procedure = procedure_of(program, load, reserved, keywords=PYTHON_KEYWORDS)
    flags = procedure.free("saturated")
    printer = Python(procedure.tables)
    lines = _head(program, load, "by whole numbers alone.", procedure.escapes)
    for table in (one for one in procedure.tables if one.read):
        lines += [f"{table.name} = ("]
        for first in range(0, len(table.entries), ENTRIES):
            row = table.entries[first : first + ENTRIES]
            lines.append("    " + ", ".join(map(str, row)) + ",")
        lines += [")"]
    lines += ["", "", PYTHON_AGREEMENT, ""]
    parameters = ", ".join(given.parameter for given in procedure.inputs)
    results = ", ".join(made.result for made in procedure.outputs)
    lines += [
        f"def {name}({parameters}):",
        f'    """Return the words of {results}; and which saturated, a bit each."""',
        f"    {flags} = 0",
    ]
    for step in procedure.steps:
        about = f"  # {step.said}" if step.said else ""
        lines.append(f"    {step.name} = {printer.bare(step.value)}{about}")
    for k, made in enumerate(procedure.outputs):
        for one in made.saturated:
            rests = f" and not ({printer.all_of(made.rests)})" if made.rests else ""
            lines.append(f"    if not {printer.within(one)}{rests}:")
            lines.append(f"        {flags} |= {1 << k}")
        lines.append(f"    {made.result} = {printer.bare(made.word)}")
    return "\n".join([*lines, f"    return {results}, {flags}", ""])


def _python_bits(program: Program, load: Load, name: str) -> str:
    called = word_names(program, PYTHON_KEYWORDS)
    given = {called[word.name]: word.code.bits for word in program.inputs}
    made = {called[output.name]: output.code.bits for output in load.outputs}
    network, flags = delivered(program, load.payload), Names(called.values()).new("saturated")
    assignments = bit_assignments(network, given, made, Names([*PYTHON_WORDS, name]), flags)
    results = ", ".join(made)
    lines = _head(program, load, "by its logic, bit by bit.", escapes(called.items()))
    lines += [
        "",
        f"def {name}({', '.join(given)}):",
        f'    """Return the words of {results}; and which saturated, a bit each."""',
        *(f"    {one} = {text}" for one, text in assignments),
        f"    return {results}, {flags}",
        "",
    ]
    return "\n".join(lines)
