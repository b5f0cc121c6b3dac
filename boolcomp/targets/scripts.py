"""Python and JavaScript: modules with one function of integers, which neither wrap nor lose bits.

JavaScript's numbers are exact to 53 bits; its operations on bits have 32, unsigned only after a
shift to the right. Expressions beyond that raise UsageError.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.targets.c import loads_of
from boolcomp.targets.procedure import procedure_of
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
from boolcomp.words.costs import MACHINES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.program.program import Load, Program
    from boolcomp.targets.procedure import Procedure
    from boolcomp.targets.target import ExportOptions, Files
    from boolcomp.words.operations import Inside, IntOp, IntOutput


class Python:
    """Prints operations in Python."""

    both = " and "

    def __init__(self, procedure: Procedure) -> None:
        self.procedure, self.ops = procedure, procedure.code.ops
        self.names = dict(procedure.names)

    def show(self, place: int) -> str:
        """Return a value as text, in brackets if it has an operator."""
        op = self.ops[place]
        if op.low == op.high:
            return str(op.low) if op.low >= 0 else f"({op.low})"
        if place in self.names:
            return self.names[place]
        if self.is_plain(op):
            return self.show(op.sources[0])
        text = self.bare(place)
        return text if op.op in ("entry", "input") else f"({text})"

    def named(self, place: int) -> str:
        """Return the name of a value, or its text."""
        return self.names.get(place) or self.bare(place)

    def bare(self, place: int) -> str:
        """Return a value as text, without brackets around all of it."""
        op = self.ops[place]
        if op.low == op.high:
            return str(op.low)
        match op.op:
            case "input":
                text = self.procedure.inputs[op.argument[0]].parameter
            case "bits":
                text = self.bits(op)
            case "sum":
                text = self.sum(op)
            case "product" | "xor":
                sign = " * " if op.op == "product" else " ^ "
                text = sign.join(map(self.show, op.sources))
            case "shift":
                text = self.shifted(op.sources[0], op.argument[0])
            case "entry":
                text = f"{self.procedure.tables[op.table]}[{self.index(op)}]"
            case "clamp":
                text = self.clamped(op)
            case "choose":
                text = self.choice(op)
        return text

    def bits(self, op: IntOp) -> str:
        """Return the lowest bits of a value."""
        text, (bits, signed) = self.show(op.sources[0]), op.argument
        if not self.is_cut(op.sources[0], bits):
            text = self.low(text, bits)
        return f"({text} ^ {1 << bits >> 1}) - {1 << bits >> 1}" if signed else text

    def is_plain(self, op: IntOp) -> bool:
        """Tell whether an operation takes all bits of a sum, whose other bits are 0."""
        return op.op == "bits" and not op.argument[1] and self.is_cut(op.sources[0], op.argument[0])

    def is_cut(self, place: int, bits: int) -> bool:
        """Tell whether a value is a sum that wraps at a number of bits."""
        return self.ops[place].op == "sum" and self.ops[place].wraps == bits

    def low(self, text: str, bits: int) -> str:
        """Return the lowest bits of a number."""
        return f"{text} & {(1 << bits) - 1}"

    def sum(self, op: IntOp) -> str:
        """Return a sum, which begins with a positive term if there is one."""
        text = str(op.constant) if op.constant else ""
        for factor, of in sorted(op.terms, key=lambda term: term[0] < 0):
            size = f" * {abs(factor)}" if abs(factor) > 1 else ""
            text += f" {'-' if factor < 0 else '+'} {self.show(of)}{size}"
        text = text.removeprefix(" + ").strip()
        return self.low(f"({text})", op.wraps) if op.wraps else text

    def shifted(self, of: int, by: int) -> str:
        """Return a value without its lowest bits."""
        return f"{self.show(of)} >> {by}"

    def index(self, op: IntOp) -> str:
        """Return the index of an entry."""
        texts, place = [], 0
        for of, drop, bits in op.fields:
            source, text = self.ops[of], self.shifted(of, drop) if drop else self.show(of)
            plain = not drop
            if source.low < 0 or source.high >> drop >= 1 << bits:
                text, plain = f"{text if plain else f'({text})'} & {(1 << bits) - 1}", False
            if len(op.sources) > 1 and not plain:
                text = f"({text})"
            texts.append(f"{text} * {1 << place}" if place else text)
            place += bits
        return " + ".join([*texts, *map(self.show, op.parts)])

    def clamped(self, op: IntOp) -> str:
        """Return a value clamped to a range; it has a name."""
        (least, most), text = op.argument, self.show(op.sources[0])
        above = self.condition(f"{text} > {most}", str(most), text)
        return self.condition(f"{text} < {least}", str(least), f"({above})")

    def choice(self, op: IntOp) -> str:
        """Return a conditional expression."""
        return self.condition(self.all_of(op.conditions), *map(self.show, op.sources[:2]))

    def condition(self, holds: str, then: str, otherwise: str) -> str:
        return f"{then} if {holds} else {otherwise}"

    def all_of(self, conditions: Sequence[Inside]) -> str:
        """Return a conjunction of conditions."""
        return self.both.join(self.within(self.show(one.of), one) for one in conditions) or "1"

    def within(self, text: str, one: Inside) -> str:
        """Return the comparison of a condition."""
        return (
            f"{text} == {one.low}" if one.low == one.high else f"{one.low} <= {text} <= {one.high}"
        )

    def saturation(self, made: IntOutput) -> str:
        """Return the condition of saturation, with an operator for each `!`; empty if none."""
        if made.inside is None:
            return ""
        rests = f"{self.both}!({self.all_of(made.rests)})" if made.rests else ""
        return f"!({self.all_of([made.inside])}){rests}"


class JavaScript(Python):
    """Prints operations in JavaScript."""

    both = " && "

    def bare(self, place: int) -> str:
        """Return a value as text; all values are exact."""
        op = self.ops[place]
        _exact(max(op.high, -op.low - 1), 53)
        return super().bare(place)

    def low(self, text: str, bits: int) -> str:
        """Return the lowest bits of a number: operators on bits have 32, one of them the sign."""
        if bits > 31:
            _exact(1 << bits, 32)
        return super().low(text, bits)

    def sum(self, op: IntOp) -> str:
        """Return a sum, whose parts are exact."""
        ends = [max(self.ops[of].high, -self.ops[of].low) * abs(factor) for factor, of in op.terms]
        _exact(abs(op.constant) + sum(ends), 53)
        return super().sum(op)

    def shifted(self, of: int, by: int) -> str:
        """Return a value without its lowest bits: by an operator of 32 bits, or a division."""
        op = self.ops[of]
        if max(op.high, -op.low - 1) < 1 << 31:
            return super().shifted(of, by)
        return f"Math.floor({self.named(of)} / {1 << by})"

    def condition(self, holds: str, then: str, otherwise: str) -> str:
        return f"{holds} ? {then} : {otherwise}"

    def within(self, text: str, one: Inside) -> str:
        """Return the comparison of a condition."""
        if one.low == one.high:
            return f"{text} === {one.low}"
        return f"{text} >= {one.low} && {text} <= {one.high}"


def _exact(size: int, limit: int) -> None:
    if (bits := size.bit_length()) > limit:
        raise UsageError(
            f"a word has {bits} bits, and JavaScript at most {limit}", "export the program as C"
        )


# --------------------------------------------------------------------------------------------------
# Python without dependencies. A program without a word graph is written as logic, bit by bit.
# --------------------------------------------------------------------------------------------------

ENTRIES = 16


def export_python(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a module of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load, PYTHON_KEYWORDS):
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
    procedure = procedure_of(program, load, MACHINES["mcu32"], PYTHON_WORDS, PYTHON_KEYWORDS)
    flags, printer = procedure.free("saturated"), Python(procedure)
    lines = _head(program, load, "by whole numbers alone.", procedure.escapes)
    for table, entries in zip(procedure.tables, procedure.code.tables, strict=True):
        lines += [f"{table} = (", *_rows(entries, "    "), ")"]
    parameters = ", ".join(given.parameter for given in procedure.inputs)
    results = ", ".join(made.result for made in procedure.outputs)
    lines += [
        "", "", f"def {name}({parameters}):",
        f'    """Return the words of {results}; and which saturated, a bit each."""',
        f"    {flags} = 0",
    ]  # fmt: skip
    for place, step in procedure.names.items():
        about = f"  # {said}" if (said := procedure.about(place)) else ""
        lines.append(f"    {step} = {printer.bare(place)}{about}")
    for k, result, made in procedure.results:
        if condition := printer.saturation(made):
            lines.append(f"    if {condition.replace('!', 'not ')}:")
            lines.append(f"        {flags} |= {1 << k}")
        lines.append(f"    {result.result} = {printer.named(made.value)}")
    return "\n".join([*lines, f"    return {results}, {flags}", ""])


def _rows(entries: Sequence[int], margin: str) -> Iterator[str]:
    """Yield the lines of the entries of a table."""
    for first in range(0, len(entries), ENTRIES):
        yield f"{margin}{', '.join(map(str, entries[first : first + ENTRIES]))},"


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

TYPES = {8: "Int8Array", 16: "Int16Array", 32: "Int32Array", 64: "Float64Array"}


def export_javascript(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a module of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load, JAVASCRIPT_KEYWORDS):
        gates = options.level == "gates" or (options.level is None and one.graph is None)
        write = _javascript_bits if gates else _javascript_words
        files[f"{name}.mjs"] = write(program, one, name)
    return files


def _javascript_words(program: Program, load: Load, name: str) -> str:
    reserved = [*JAVASCRIPT_WORDS, *map(str.lower, TYPES.values())]
    keywords = [*JAVASCRIPT_KEYWORDS, *TYPES.values()]
    procedure = procedure_of(program, load, MACHINES["mcu32"], reserved, keywords)
    flags, printer = procedure.free("saturated"), JavaScript(procedure)
    lines = []
    for table, entries in zip(procedure.tables, procedure.code.tables, strict=True):
        size = max(*entries, -min(entries) - 1).bit_length()
        kind = TYPES[next(width for width in TYPES if size < width)]
        lines += [f"const {table} = new {kind}([", *_rows(entries, "  "), "]);"]
    lines.append("")
    body = [f"let {flags} = 0;"]
    for place, step in procedure.names.items():
        about = f" // {said}" if (said := procedure.about(place)) else ""
        body.append(f"const {step} = {printer.bare(place)};{about}")
    for k, result, made in procedure.results:
        if condition := printer.saturation(made):
            body.append(f"if ({condition}) {flags} |= {1 << k};")
        body.append(f"const {result.result} = {printer.named(made.value)};")
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
