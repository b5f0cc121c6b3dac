"""C99: a word graph as scalar code on unsigned integers, for microcontrollers and anything else.

Only unsigned types calculate, and wrap: nothing is undefined, whatever an `int` has. What needs 16
bits is calculated as `unsigned`, which has 16 bits at least; what needs more, as `uint32_t`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError, mass_text
from boolcomp.targets.expressions import (
    Agreement,
    Choice,
    Different,
    Entry,
    Less,
    Low,
    Moved,
    Multiple,
    Name,
    Number,
    Padded,
    Signed,
    Total,
    Wrapped,
)
from boolcomp.targets.procedure import (
    OPERATORS,
    NaturalMaker,
    Statement,
    WideNaturalMaker,
    parts_of,
    procedure_of,
    statements,
)
from boolcomp.targets.target import C_KEYWORDS, C_WORDS, Names, comment, input_notes, output_notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.codes import Code
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.expressions import Expression, Within
    from boolcomp.targets.procedure import Given, Made, Procedure, Step, Table
    from boolcomp.targets.target import Files, Options


# --------------------------------------------------------------------------------------------------
# Helpers in C without floating point: words of encoder counts, and drive units of words.
#
# Whoever calls them says how many counts (drive units) the range of a word has; so they know
# nothing of units, and are exact: a division by doubling, one bit of the cell after the other.
# --------------------------------------------------------------------------------------------------


MOST_DRIVE = 1 << 15  # drive units that a range may have
FINEST = 6  # binary places of a step in which a range's middle is told
DIVISION = """\
/* The cell of a count in a range of `counts` (1 .. 2^31 - 1) that begins at `first`: a turn wraps,
   all others saturate; `tread`: cells lie about whole steps, and are rounded to. */
static inline uint32_t NAME_cell(int32_t count, int32_t first, int32_t counts, unsigned bits,
                                 int wraps, int tread)
{
    const uint32_t whole = (uint32_t)counts, most = UINT32_C(0xFFFFFFFF) >> (32U - bits);
    uint32_t past = (uint32_t)count - (uint32_t)first, cell = 0;
    unsigned k;
    if (count < first) {
        if (!wraps)
            return 0;
        past = (whole - (UINT32_C(0) - past) % whole) % whole;
    } else if (past >= whole) {
        if (!wraps)
            return most;
        past %= whole;
    }
    for (k = 0; k < bits; k++) {
        past <<= 1;
        cell <<= 1;
        if (past >= whole) {
            past -= whole;
            cell |= 1U;
        }
    }
    if (tread && past >= whole - past)
        cell = cell < most ? cell + 1U : wraps ? 0 : most;
    return cell;
}
"""


def helpers(program: Program, load: Load, procedure: Procedure, name: str) -> str:
    """Return the helpers of all inputs and outputs."""
    lines = [DIVISION.replace("NAME", name)]
    for given, word in zip(procedure.inputs, program.inputs, strict=True):
        lines += [*_of_counts(given, word.code, name), ""]
    for made, output in zip(procedure.outputs, load.outputs, strict=True):
        lines += [*_in_drive_units(made, output.code, name), ""]
    return "\n".join(lines)


def _of_counts(given: Given, code: Code, name: str) -> Iterator[str]:
    kind = "uint16_t" if code.bits <= 16 else "uint32_t"
    head = f"static inline {kind} {name}_{given.parameter}_of_count("
    yield f"{head}int32_t count, int32_t first,"
    yield f"{' ' * len(head)}int32_t counts)"
    yield "{"
    cell = f"{name}_cell(count, first, counts, {code.bits}U, {int(code.wraps)}, {int(code.tread)})"
    yield f"    uint32_t cell = {cell};"
    half = code.cells >> 1
    if code.first:
        yield "    cell = cell ? cell : 1U; /* no word says the lowest */"
    if code.kind == "gray":
        yield "    cell ^= cell >> 1;"
    elif code.kind == "twos":
        yield f"    cell ^= UINT32_C({half});"
    elif code.kind == "sign-magnitude":
        below = code.cells - (not code.tread)
        yield f"    cell = cell < UINT32_C({half}) ? UINT32_C({below}) - cell"
        yield f"                                : cell - UINT32_C({half});"
    yield f"    return ({kind})cell;"
    yield "}"


def _in_drive_units(made: Made, code: Code, name: str) -> Iterator[str]:
    raised, base = code.centred
    begins = base / code.step + raised  # the value of cell 0, in steps
    fine = next(
        (f for f in range(FINEST, -1, -1) if _reach(begins, code.cells, f) * MOST_DRIVE <= 1 << 30),
        None,
    )
    if fine is None:
        yield f"/* {made.result}: no helper, its numbers are too large for 32 bits */"
        return
    yield f"/* {made.result} where its whole range is `full` drive units, -32767 .. 32767; rounded,"
    yield f"   zero within 1/{2 << fine} LSB. */"
    yield f"static inline int32_t {name}_{made.result}_in_drive_units(uint32_t word, int16_t full)"
    yield "{"
    yield f"    uint32_t cell = word & UINT32_C({code.cells - 1});"
    yield "    int32_t sum;"
    half = code.cells >> 1
    if code.kind == "gray":
        yield from (f"    cell ^= cell >> {1 << k};" for k in range((code.bits - 1).bit_length()))
    elif code.kind == "twos":
        yield f"    cell ^= UINT32_C({half});"
    elif code.kind == "sign-magnitude":
        below = code.cells - (not code.tread)
        yield f"    cell = cell >= UINT32_C({half}) ? UINT32_C({below}) - cell"
        yield f"                                 : cell + UINT32_C({half});"
    first, scale = round(begins * (1 << fine)), code.bits + fine
    sign = "-" if first < 0 else "+"
    yield f"    sum = ((int32_t)cell * INT32_C({1 << fine}) {sign} INT32_C({abs(first)})) * full;"
    rounding = f"INT32_C({1 << scale >> 1})"
    yield f"    sum = sum < 0 ? sum - {rounding} : sum + {rounding};"
    yield f"    return sum / INT32_C({1 << scale});"
    yield "}"


def _reach(begins: float, cells: int, fine: int) -> float:
    """Return the largest sum there is, in parts of a step."""
    return max(abs(begins), abs(begins + cells)) * (1 << fine)


# --------------------------------------------------------------------------------------------------
# The header of a program in C: what its words stand for, and helpers without floating point.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# C99: a word graph as scalar code on unsigned integers, for microcontrollers and anything else.
# --------------------------------------------------------------------------------------------------


TYPES = {16: "unsigned", 32: "uint32_t", 64: "uint64_t"}
MAKERS = {"mcu8": NaturalMaker, "mcu32": WideNaturalMaker, "simd": WideNaturalMaker}
ENTRIES = 16  # of a table in a line
READING = """\
#if defined(__AVR__) /* tables stay in flash */
#include <avr/pgmspace.h>
#define @TABLE PROGMEM
#define @READ8(place) pgm_read_byte(place)
#define @READ16(place) pgm_read_word(place)
#define @READ32(place) pgm_read_dword(place)
#define @NOW(sum) __asm__("" : "+r"(sum)) /* or all parts of a sum wait in registers for the last */
#else
#define @TABLE
#define @READ8(place) (*(place))
#define @READ16(place) (*(place))
#define @READ32(place) (*(place))
#define @NOW(sum) (void)0
#endif
"""


def export_c(program: Program, load: float | None, options: Options) -> Files:  # noqa: ARG001 (there is one way)
    """Return a C file and a header of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        procedure = c_procedure(program, one)
        files[f"{name}.h"] = header(program, one, procedure, name)
        files[f"{name}.c"] = source(program, one, procedure, name)
    return files


def c_procedure(program: Program, load: Load) -> Procedure:
    """Return the straight-line code of a load, as its C calculates it.

    It multiplies as the processor does that the widths were chosen for.
    """
    maker = MAKERS.get(program.asked.get("target", ""))
    return procedure_of(program, load, C_WORDS, maker, C_KEYWORDS)


def source(program: Program, load: Load, procedure: Procedure, name: str) -> str:  # noqa: ARG001
    """Return the C file of a procedure."""
    lines = [
        f"/* {comment(program.name)}: the words of its outputs, bit for bit as the logic has them;",
        f"   what they stand for is said in {name}.h */",
        f'#include "{name}.h"',
        "",
        *definition(procedure, name),
    ]
    return "\n".join([*lines, ""])


def definition(procedure: Procedure, name: str, prefix: str = "", before: str = "") -> list[str]:
    """Return the lines that define tables and function; macros of theirs begin with `prefix`.

    Words such as `static` stand `before` the function.
    """
    lines = [READING.replace("@", prefix)]
    for table in (one for one in procedure.tables if one.read):
        lines += [*_table(table, prefix), ""]
    lines.append(f"{before}unsigned {name}(const {name}_inputs *given, {name}_outputs *made)")
    return [*lines, "{", *_Printer(procedure, prefix).body(), "}"]


def _table(table: Table, prefix: str) -> Iterator[str]:
    kind = f"uint{_stored(table.bits)}_t"
    place = f" {prefix}TABLE" if _stored(table.bits) <= 32 else ""
    yield f"static const {kind} {table.name}[{len(table.entries)}]{place} = {{"
    suffix = {8: "", 16: "U", 32: "UL", 64: "ULL"}[_stored(table.bits)]
    for first in range(0, len(table.entries), ENTRIES):
        row = table.entries[first : first + ENTRIES]
        yield "    " + ", ".join(f"{entry}{suffix}" for entry in row) + ","
    yield "};"


def _stored(bits: int) -> int:
    """Return the bits of the type that holds a value."""
    for width in (8, 16, 32, 64):
        if bits <= width:
            return width
    raise UsageError(f"a word of {bits} bits: C has 64 at most")


def _kind(bits: int) -> int:
    """Return the bits with which a value is calculated."""
    return max(16, _stored(bits))


def need(value: Expression) -> int:
    """Return how many bits it takes to calculate a value modulo a power of two.

    Sums and products need no more than the result does; what is moved down needs all that it is
    moved from.
    """
    if isinstance(value, Moved):
        return value.of.wide if value.by < 0 else need(value.of)
    if isinstance(value, Low | Padded | Multiple):
        return need(value.of)
    if isinstance(value, Agreement | Different | Less):
        return max(need(value.a), need(value.b))
    if isinstance(value, Total):
        return max(need(part) for part in value.parts)
    if isinstance(value, Choice):
        return max(need(value.then), need(value.otherwise))
    return 0


class _Printer:
    """Prints expressions; every one has the type that it is asked for."""

    def __init__(self, procedure: Procedure, prefix: str = "") -> None:
        self.procedure, self.prefix = procedure, prefix
        self.texts = {x.parameter: (f"given->{x.parameter}", x.bits) for x in procedure.inputs}
        self.texts |= {step.name: (step.name, step.bits) for step in procedure.steps}

    def body(self) -> list[str]:
        """Return the lines of the function."""
        lines = ["    unsigned saturated = 0;"]
        if not any(given.read for given in self.procedure.inputs):
            lines.append("    (void)given;")
        if any(step.loose for step in self.procedure.steps):
            order = statements(self.procedure)
        else:
            order = [Statement(step) for step in self.procedure.steps]
            order += [Statement(output=k) for k in range(len(self.procedure.outputs))]
        for one in order:
            if one.step is not None and one.part is not None:
                lines.append(self.part(one.step, one.part))
            elif one.step is not None:
                lines.append(self.step(one.step))
            elif one.output is not None:
                lines += self.output(one.output)
        return [*lines, "    return saturated;"]

    def step(self, step: Step) -> str:
        """Return the line of a step."""
        stored, kind = _stored(step.bits), _kind(step.bits)
        text = _bare(self.show(_unmasked(step.value, stored), kind))
        cast = f"(uint{stored}_t)"
        return f"    const uint{stored}_t {step.name} = {cast}({text});{_said(step)}"

    def part(self, step: Step, k: int) -> str:
        """Return the line of a part of a sum that is kept loose."""
        kind = _kind(step.bits)
        if not isinstance(step.value, Wrapped):
            raise TypeError("only sums are loose")
        negative, value = step.value.parts[k]
        text = self.show(value, kind)
        if k:
            sign = "-" if negative else "+"
            return f"    {step.name} {sign}= {_bare(text)};\n    {self.prefix}NOW({step.name});"
        constant = _literal(step.value.constant, kind)
        first = f"{constant} {'-' if negative else '+'} {text}"
        if not negative and not step.value.constant:
            first = _bare(text)
        return f"    {TYPES[kind]} {step.name} = {first};{_said(step)}"

    def output(self, k: int) -> list[str]:
        """Return the lines of an output."""
        made, lines = self.procedure.outputs[k], []
        for one in made.saturated:
            rests = f" && !({self.all_of(made.rests)})" if made.rests else ""
            lines.append(f"    if (!({self.all_of((one,))}){rests})")
            lines.append(f"        saturated |= {1 << k}U;")
        text = _bare(self.show(made.word, _kind(made.bits)))
        lines.append(f"    made->{made.result} = (uint{_stored(made.bits)}_t)({text});")
        return lines

    def show(self, value: Expression, kind: int) -> str:
        """Return a value modulo 2^kind or more, of the type of that kind."""
        if (bits := need(value)) > kind:
            return f"({TYPES[kind]}){self.show(value, _kind(bits))}"
        if isinstance(value, Number):
            return _literal(value.value, kind)
        if isinstance(value, Name):
            text, bits = self.texts[value.name]
            return text if _stored(bits) == kind > 16 else f"({TYPES[kind]}){text}"
        if isinstance(value, Entry):
            return self.entry(value, kind)
        if isinstance(value, Choice):
            then, otherwise = self.show(value.then, kind), self.show(value.otherwise, kind)
            return f"({self.all_of(value.conditions)} ? {then} : {otherwise})"
        return f"({self.sum(value, kind)})"

    def sum(self, value: Expression, kind: int) -> str:
        """Return what is written with an operator, without brackets."""
        if isinstance(value, Moved | Padded | Low):
            return self.shifted(value, kind)
        if isinstance(value, Agreement | Signed | Multiple):
            return self.product(value, kind)
        if isinstance(value, Different | Less | Total):
            return OPERATORS[type(value)].join(self.show(one, kind) for one in parts_of(value))
        if isinstance(value, Wrapped):
            return self.wrapped(value, kind)
        raise TypeError(f"no operator: {value}")

    def shifted(self, value: Moved | Padded | Low, kind: int) -> str:
        """Return bits of a value elsewhere, or some of them; a type takes off what it can."""
        text = self.show(value.of, kind)
        if isinstance(value, Padded):
            return f"({text} << {value.by}) + {_literal(value.filling, kind)}"
        if isinstance(value, Moved):
            return f"{text} << {value.by}" if value.by > 0 else f"{text} >> {-value.by}"
        if value.bits in (8, 16) and value.bits <= kind:
            return f"({TYPES[kind]})(uint{value.bits}_t){text}"
        return f"{text} & {_literal((1 << value.bits) - 1, kind)}"

    def product(self, value: Agreement | Signed | Multiple, kind: int) -> str:
        """Return a product."""
        if isinstance(value, Signed):
            return self.signed(value, kind)
        if isinstance(value, Multiple):
            return f"{self.show(value.of, kind)} * {_literal(value.factor, kind)}"
        a, not_a = self.factor(value.a, value.a_bits, kind)
        b, not_b = self.factor(value.b, value.b_bits, kind)
        return f"{a} * {b} + {not_a} * {not_b}"

    def signed(self, value: Signed, kind: int) -> str:
        """Return a product of signed numbers, in `int` where it fits, whatever an `int` has."""
        a, b = (
            f"(int{bits}_t){self.show(one, max(16, bits))}"
            for one, bits in ((value.a, value.a_bits), (value.b, value.b_bits))
        )
        if value.a_bits + value.b_bits <= 16:
            return f"({TYPES[kind]})({a} * {b})"
        return f"({TYPES[kind]}){a} * ({TYPES[kind]}){b}"

    def factor(self, value: Expression, bits: int, kind: int) -> tuple[str, str]:
        """Return a factor and its inverse, as narrow as it is: 8-bit machines multiply 8 bits."""
        inner = _kind(max(bits, need(value)))
        if isinstance(value, Number):
            most = (1 << bits) - 1
            return _literal(value.value, kind), _literal(value.value ^ most, kind)
        text = self.show(value, inner)
        inverse = f"{text} ^ {_literal((1 << bits) - 1, inner)}"
        cast, narrow = f"({TYPES[kind]})", f"(uint{_stored(bits)}_t)"
        plain = isinstance(value, Name) and self.texts[value.name][1] == bits
        first = self.show(value, kind) if plain else f"{cast}{narrow}{text}"
        return first, f"{cast}{narrow}({inverse})"

    def wrapped(self, value: Wrapped, kind: int) -> str:
        """Return a sum, and a mask where it may wrap."""
        texts = []
        for negative, part in value.parts:
            text = self.show(part, kind)
            texts.append(f"{'- ' if negative else '+ '}{text}")
        if value.constant or texts[0].startswith("-"):
            sign = "-" if value.constant < 0 else "+"
            texts.insert(0, f"{sign} {_literal(abs(value.constant), kind)}")
        if texts[0].startswith("-"):  # a sum that begins by taking away
            texts.insert(0, f"+ {_literal(0, kind)}")
        text = "\n        ".join(texts).removeprefix("+ ")
        if value.fits or value.bits == kind:
            return text
        return f"({text}) & {_literal((1 << value.bits) - 1, kind)}"

    def entry(self, value: Entry, kind: int) -> str:
        """Return an entry of a table."""
        table = self.procedure.tables[value.table]
        index = _bare(self.show(value.index, _kind(value.index.wide)))
        if _stored(value.index.most.bit_length()) == 8:  # calculated in 8 bits where that is less
            index = f"(uint8_t)({index})"
        stored = _stored(table.bits)
        if stored > 32:
            return f"({TYPES[kind]}){table.name}[{index}]"
        return f"({TYPES[kind]}){self.prefix}READ{stored}(&{table.name}[{index}])"

    def all_of(self, conditions: tuple[Within, ...]) -> str:
        """Return whether all conditions hold; what always does is not asked."""
        texts = []
        for one in conditions:
            kind = _kind(one.of.wide)
            text = self.show(one.of, kind)
            if one.low == one.high:
                texts.append(f"{text} == {_literal(one.low, kind)}")
                continue
            if one.low:
                texts.append(f"{text} >= {_literal(one.low, kind)}")
            if one.high < one.of.most:
                texts.append(f"{text} <= {_literal(one.high, kind)}")
        return " && ".join(texts) or "1"


def _said(step: Step) -> str:
    return f" /* {step.said} */" if step.said else ""


def _unmasked(value: Expression, stored: int) -> Expression:
    """Return a value without what the type does that it is stored in."""
    if isinstance(value, Low) and value.bits == stored:
        return value.of
    if isinstance(value, Wrapped) and value.bits == stored < 16:
        return replace(value, bits=16)
    return value


def _literal(value: int, kind: int) -> str:
    value &= (1 << kind) - 1
    return {16: f"{value}U", 32: f"UINT32_C({value})", 64: f"UINT64_C({value})"}[kind]


def _bare(text: str) -> str:
    """Return a text without brackets about all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


# --------------------------------------------------------------------------------------------------
# C99 in one header, which C++ takes, too: tables and the function are static, nothing is linked.
#
# All names begin with the program's, so that several such headers can be included together.
# --------------------------------------------------------------------------------------------------


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
