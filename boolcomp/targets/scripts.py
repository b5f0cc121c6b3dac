"""Python and JavaScript: modules with one function of integers, which neither wrap nor lose bits.

JavaScript's numbers are exact to 53 bits; its operations on bits have 32, unsigned only after a
shift to the right. Expressions beyond that raise UsageError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.targets.c import loads_of
from boolcomp.targets.expressions import (
    Agreement,
    Conditional,
    ConstantNumber,
    Less,
    Low,
    Moved,
    Name,
    Padded,
    SumOfParts,
    TableEntry,
    Wrapped,
    XorBits,
)
from boolcomp.targets.procedure import OPERATORS, parts_of, procedure_of
from boolcomp.targets.target import (
    JAVASCRIPT_KEYWORDS,
    JAVASCRIPT_WORDS,
    PYTHON_KEYWORDS,
    PYTHON_WORDS,
    Names,
    bit_assignments,
    comment,
    delivered,
    escapes,
    input_notes,
    output_notes,
    word_names,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.program.program import Load, Program
    from boolcomp.targets.expressions import Expression, Within
    from boolcomp.targets.procedure import ConstantTable
    from boolcomp.targets.target import ExportOptions, Files


class Python:
    """Prints expressions in Python."""

    both = " and "

    def __init__(self, tables: Sequence[ConstantTable]) -> None:
        self.tables = tables

    def show(self, value: Expression) -> str:
        """Return an expression as text, in brackets if it has an operator."""
        if isinstance(value, ConstantNumber):
            return str(value.value)
        if isinstance(value, Name):
            return value.name
        if isinstance(value, TableEntry):
            return f"{self.tables[value.table].name}[{self.bare(value.index)}]"
        if isinstance(value, Agreement):
            factors = f"{self.bare(value.a)}, {self.bare(value.b)}"
            return f"agreement({factors}, {(1 << value.a_bits) - 1}, {(1 << value.b_bits) - 1})"
        return f"({self.bare(value)})"

    def bare(self, value: Expression) -> str:
        """Return an expression as text, without brackets around all of it."""
        if isinstance(value, Moved):
            return self.moved(value)
        if isinstance(value, Padded | Low):
            return self.part(value)
        if isinstance(value, XorBits | Less | SumOfParts):
            return OPERATORS[type(value)].join(self.show(part) for part in parts_of(value))
        if isinstance(value, Conditional):
            return self.choice(value)
        if isinstance(value, Wrapped):
            return self.wrapped(value)
        return self.show(value)

    def part(self, value: Padded | Low) -> str:
        """Return a word with low bits appended, or its low bits."""
        if isinstance(value, Low):
            return self.masked(self.show(value.of), value.bits)
        return f"({self.moved(Moved(value.of, value.by))}) + {value.filling}"

    def moved(self, value: Moved) -> str:
        """Return a shift."""
        by = f"<< {value.by}" if value.by > 0 else f">> {-value.by}"
        return f"{self.show(value.of)} {by}"

    def masked(self, text: str, bits: int) -> str:
        return f"{text} & {(1 << bits) - 1}"

    def choice(self, value: Conditional) -> str:
        """Return a conditional expression."""
        then, otherwise = self.show(value.then), self.show(value.otherwise)
        return f"{then} if {self.all_of(value.conditions)} else {otherwise}"

    def wrapped(self, value: Wrapped) -> str:
        """Return a sum, masked if it may wrap."""
        text = str(value.constant) if value.constant else ""
        for negative, part in value.parts:
            text += f" {'-' if negative else '+'} {self.show(part)}"
        text = text.removeprefix(" + ").strip()
        return text if value.fits else self.masked(f"({text})", value.bits)

    def all_of(self, conditions: Sequence[Within]) -> str:
        return self.both.join(self.within(one) for one in conditions)

    def within(self, one: Within) -> str:
        """Return the comparison of a condition."""
        text = self.show(one.of)
        if one.low == one.high:
            return f"{text} == {one.low}"
        low = f"{one.low} <= " if one.low else ""
        high = f" <= {one.high}" if one.high < one.of.most else ""
        return f"{low}{text}{high}"


class JavaScript(Python):
    """Prints expressions in JavaScript."""

    both = " && "

    def moved(self, value: Moved) -> str:
        """Return a shift: right by 32-bit operators, left by a product, exact to 53 bits."""
        if value.by > 0:
            _exact(value.wide, 53)
            return f"{self.show(value.of)} * {1 << value.by}"
        if value.of.wide > 32:
            _exact(value.of.wide, 53)
            return f"Math.floor({self.bare(value.of)} / {1 << -value.by})"
        return f"{self.show(value.of)} >>> {-value.by}"

    def masked(self, text: str, bits: int) -> str:
        """Return the lowest bits of a value."""
        if bits < 32:
            return super().masked(text, bits)
        _exact(bits, 32)
        return f"{text} >>> 0"

    def choice(self, value: Conditional) -> str:
        """Return a conditional expression."""
        then, otherwise = self.show(value.then), self.show(value.otherwise)
        return f"{self.all_of(value.conditions)} ? {then} : {otherwise}"

    def wrapped(self, value: Wrapped) -> str:
        """Return a sum, masked if it may wrap; its parts are exact."""
        reach = abs(value.constant) + sum(part.most for _, part in value.parts)
        _exact(max(reach.bit_length(), *(part.wide for _, part in value.parts)), 53)
        return super().wrapped(value)

    def within(self, one: Within) -> str:
        """Return the comparison of a condition."""
        text = self.show(one.of)
        if one.low == one.high:
            return f"{text} === {one.low}"
        low = [f"{text} >= {one.low}"] if one.low else []
        high = [f"{text} <= {one.high}"] if one.high < one.of.most else []
        return self.both.join([*low, *high])


def _exact(bits: int, limit: int) -> None:
    if bits > limit:
        raise UsageError(
            f"a word has {bits} bits: JavaScript has at most {limit}; export the program as C"
        )


# --------------------------------------------------------------------------------------------------
# Python without dependencies. A program without a word graph is written as logic, bit by bit.
# --------------------------------------------------------------------------------------------------

ENTRIES = 16
PYTHON_AGREEMENT = '''\
def agreement(a, b, most_a, most_b):
    """Return the sum of 2^(i+j) over all digits i of a and j of b that are equal."""
    return a * b + (most_a - a) * (most_b - b)
'''


def export_python(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a module of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        if options.level == "gates" or (options.level is None and one.graph is None):
            files[f"{name}.py"] = _python_bits(program, one, name)
        else:
            files[f"{name}.py"] = _python_words(program, one, name)
    return files


def notes(program: Program, load: Load) -> Iterator[str]:
    """Yield comments on all words."""
    for word in program.inputs:
        yield from input_notes(word)
    for output in load.outputs:
        yield from output_notes(output)


def _head(program: Program, load: Load, how: str, escaped: list[str]) -> list[str]:
    lines = [*escaped, *notes(program, load)]
    texts = [line.replace("\\", "/").replace('"""', "'''") for line in lines]
    title = comment(program.name).replace('"', "'")
    return [f'"""{title}: outputs from words, {how}', "", *texts, '"""', ""]


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


# --------------------------------------------------------------------------------------------------
# JavaScript, for pages and Node.
# --------------------------------------------------------------------------------------------------

TYPES = {8: "Uint8Array", 16: "Uint16Array", 32: "Uint32Array", 64: "Float64Array"}
JAVASCRIPT_AGREEMENT = """\
// The sum of 2^(i+j) over all digits i of a and j of b that are equal.
function agreement(a, b, mostA, mostB) {
  return a * b + (mostA - a) * (mostB - b);
}
"""
OWN = ("agreement", "mosta", "mostb", *(kind.lower() for kind in TYPES.values()))


def export_javascript(program: Program, load: float | None, options: ExportOptions) -> Files:
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
