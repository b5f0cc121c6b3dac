"""C99 from word graphs (scalar code) and from networks (bit-sliced code).

C code uses unsigned types only, whose arithmetic wraps, so that nothing is undefined for any size
of `int`. Values of up to 16 bits are calculated as `unsigned`, wider ones as `uint32_t`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError, mass_text
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.order import in_order
from boolcomp.problem.word_codes import Step
from boolcomp.targets.procedure import procedure_of
from boolcomp.targets.target import (
    C_KEYWORDS,
    C_WORDS,
    Names,
    comment,
    design_of,
    input_notes,
    output_notes,
    unread,
)
from boolcomp.words.costs import MACHINES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.program import Load, Program
    from boolcomp.targets.procedure import NamedOutput, Parameter, Procedure
    from boolcomp.targets.target import Design, ExportOptions, Files, Port
    from boolcomp.words.operations import BitField, Inside, IntOp

# --------------------------------------------------------------------------------------------------
# Helpers in C without floating point: encoder counts to words, and words to drive units. A caller
# specifies the number of counts (drive units) of a word's range: so helpers need no units and are
# exact. The division computes one bit of the cell after the other.
# --------------------------------------------------------------------------------------------------

MOST_DRIVE = 1 << 15  # drive units that a range may have
FINEST = 6  # binary places of a step in the middle of a range
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
    """Return the text of the helpers of all inputs and outputs."""
    lines = [DIVISION.replace("NAME", name)]
    for given, word in zip(procedure.inputs, program.inputs, strict=True):
        lines += [*_of_counts(given, word.code, name), ""]
    for made, output in zip(procedure.outputs, load.outputs, strict=True):
        lines += [*_in_drive_units(made, output.code, name), ""]
    return "\n".join(lines)


def _of_counts(given: Parameter, code: Code, name: str) -> Iterator[str]:
    kind = _field(code.bits)
    head = f"static inline {kind} {name}_{given.parameter}_of_count("
    yield f"{head}int32_t count, int32_t first,"
    yield f"{' ' * len(head)}int32_t counts)"
    yield "{"
    cell = f"{name}_cell(count, first, counts, {code.bits}U, {int(code.wraps)}, {int(code.tread)})"
    yield f"    uint32_t cell = {cell};"
    if code.first:
        yield "    cell = cell ? cell : 1U; /* no word says the lowest */"
    for step in code.steps:
        if step is Step.FOLD:
            yield "    cell ^= cell >> 1;"
        else:
            yield from _signs(code, step, "<", "-")
    yield f"    return ({kind})cell;"
    yield "}"


def _signs(code: Code, step: Step, negative: str, moved: str) -> Iterator[str]:
    half, below = code.cells >> 1, code.cells - (not code.tread)
    if step is Step.FLIP:
        yield f"    cell ^= UINT32_C({half});"
    else:
        yield f"    cell = cell {negative} UINT32_C({half}) ? UINT32_C({below}) - cell"
        yield f"{' ' * (31 + len(negative))}: cell {moved} UINT32_C({half});"


def _in_drive_units(made: NamedOutput, code: Code, name: str) -> Iterator[str]:
    raised, base = code.centred
    begins = base / code.step + raised  # the value of cell 0, in steps
    reach = max(abs(begins), abs(begins + code.cells)) * MOST_DRIVE
    fine = next((f for f in range(FINEST, -1, -1) if reach * (1 << f) <= 1 << 30), None)
    if fine is None:
        yield f"/* {made.result}: no helper, its numbers are too large for 32 bits */"
        return
    yield f"/* {made.result} where its whole range is `full` drive units, -32767 .. 32767; rounded,"
    yield f"   zero within 1/{2 << fine} LSB. */"
    yield f"static inline int32_t {name}_{made.result}_in_drive_units(uint32_t word, int16_t full)"
    yield "{"
    yield f"    uint32_t cell = word & UINT32_C({code.cells - 1});"
    yield "    int32_t sum;"
    for step in reversed(code.steps):
        if step is Step.FOLD:
            shifts = range((code.bits - 1).bit_length())
            yield from (f"    cell ^= cell >> {1 << k};" for k in shifts)
        else:
            yield from _signs(code, step, ">=", "+")
    first, scale = round(begins * (1 << fine)), code.bits + fine
    sign = "-" if first < 0 else "+"
    yield f"    sum = ((int32_t)cell * INT32_C({1 << fine}) {sign} INT32_C({abs(first)})) * full;"
    rounding = f"INT32_C({1 << scale >> 1})"
    yield f"    sum = sum < 0 ? sum - {rounding} : sum + {rounding};"
    yield f"    return sum / INT32_C({1 << scale});"
    yield "}"


# --------------------------------------------------------------------------------------------------
# The header of a program in C: its words as fields of structures, and helpers.
# --------------------------------------------------------------------------------------------------

WIDEST_FIELD = 32


def loads_of(
    program: Program, load: float | None, keywords: Iterable[str] = ()
) -> Iterator[tuple[str, Load]]:
    """Yield the selected loads, each with the name of its files and function."""
    names = Names([*C_WORDS, *keywords])
    if load is not None or len(program.loads) == 1:
        yield names.new(program.name, "program"), program.load(load)
        return
    for one in program.loads:
        text = mass_text(one.payload).replace(".", " point ")
        yield names.new(f"{program.name} {text} kg", "program"), one


def header(
    program: Program, load: Load, procedure: Procedure, name: str, defined: Sequence[str] = ()
) -> str:
    """Return the header of a procedure; the lines `defined` replace the declaration."""
    guard = f"{name.upper()}_H"
    widths = [*(x.bits for x in procedure.inputs), *(x.bits for x in procedure.outputs)]
    widest = max(widths)
    if widest > WIDEST_FIELD:
        raise UsageError(f"a word has {widest} bits", f"C fields have at most {WIDEST_FIELD}")
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
        *(defined or _declaration(name)),
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
# C99: a word graph as scalar code on unsigned integers.
# --------------------------------------------------------------------------------------------------

SIZES = (8, 16, 32, 64)
TYPES = {16: "unsigned", 32: "uint32_t", 64: "uint64_t"}
ENTRIES = 16  # of a table in a line
NEAR = 32  # bits of entries in flash
NEAR_FLASH = 1 << 16  # bytes that pgm_read_byte reaches
READING = """\
#if defined(__AVR__) /* tables stay in flash */
#include <avr/pgmspace.h>
typedef int8_t @INT8;
typedef uint8_t @UINT8;
#define @NOW(sum) __asm__("" : "+r"(sum)) /* or all parts of a sum wait in registers for the last */
#define @CUT(value, down, up) ((unsigned)((value) >> ((down) - (up))) & ~((1U << (up)) - 1U))
#define @AT(word) __extension__({ __asm__("" : "+b"(given)); &given->word; })
#define @GIVEN(word) (*@AT(word))
#define @LOW(word) (*(const uint8_t *)@AT(word))
#define @MADE(word) (*__extension__({ __asm__("" : "+b"(made)); &made->word; }))
#define @FAR32(table, index) pgm_read_dword(&table[index])
#else
typedef int @INT8;
typedef unsigned @UINT8;
#define @NOW(sum) (void)0
#define @GIVEN(word) (given->word)
#define @LOW(word) ((uint8_t)given->word)
#define @MADE(word) (made->word)
#define @CUT(value, down, up) ((unsigned)((value) >> (down)) << (up))
#endif
#if defined(__AVR_HAVE_LPMX__) /* a table begins at a multiple of its size, up to 512 */
#define @TABLE(size) PROGMEM __attribute__((aligned(size)))
#define @LOOK(entry, index, table, code) __extension__({ \\
    entry entry_; \\
    register uint8_t low_ __asm__("r30") = (uint8_t)(index); \\
    __asm__(code : "=&r"(entry_), "+r"(low_) : "i"(table) : "r31"); \\
    entry_; })
#define @FAR(entry, index, table, code) __extension__({ \\
    entry entry_; \\
    uint16_t at_ = (uint16_t)(index); \\
    __asm__("subi %B1, hi8(-(%2))\\n" code : "=&r"(entry_), "+z"(at_) : "i"(table)); \\
    entry_; })
#define @PART8(table, index) \\
    @LOOK(uint8_t, index, table, "subi r30, lo8(-(%2))\\nldi r31, hi8(%2)\\nlpm %0, Z")
#define @PART16(table, index) \\
    @LOOK(uint16_t, index, table, "subi r30, pm_lo8(-(%2))\\nldi r31, pm_hi8(%2)\\n" \\
          "lsl r30\\nrol r31\\nlpm %A0, Z+\\nlpm %B0, Z")
#define @PAGE8(table, index) __extension__({ \\
    register uint8_t entry_, low_ __asm__("r30") = (uint8_t)(index); \\
    __asm__("ldi r31, hi8(%2)\\nlpm %0, Z" : "=r"(entry_) : "r"(low_), "i"(table) : "r31"); \\
    entry_; })
#define @PAGE16(table, index) \\
    @LOOK(uint16_t, index, table, \\
          "ldi r31, pm_hi8(%2)\\nlsl r30\\nrol r31\\nlpm %A0, Z+\\nlpm %B0, Z")
#define @FAR8(table, index) @FAR(uint8_t, index, table, "lpm %0, Z")
#define @FAR16(table, index) \\
    @FAR(uint16_t, (index) << 1, table, "lpm %A0, Z+\\nlpm %B0, Z")
#else
#if defined(__AVR__)
#define @TABLE(size) PROGMEM
#define @PART8(table, index) pgm_read_byte(&table[index])
#define @PART16(table, index) pgm_read_word(&table[index])
#else
#define @TABLE(size)
#define @PART8(table, index) (table[index])
#define @PART16 @PART8
#define @FAR32 @PART8
#endif
#define @PAGE8 @PART8
#define @PAGE16 @PART16
#define @FAR8 @PART8
#define @FAR16 @PART16
#endif
"""
OUTPUT = 3  # bytes that a step without a value of its own needs
NEXT = 64  # steps of which the best is next
PAGE = 256  # entries to which an address has one high byte


def export_c(program: Program, load: float | None, options: ExportOptions) -> Files:  # noqa: ARG001 (there is one way)
    """Return a C file and a header of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        procedure = c_procedure(program, one)
        files[f"{name}.h"] = header(program, one, procedure, name)
        files[f"{name}.c"] = source(program, one, procedure, name)
    return files


def c_procedure(program: Program, load: Load) -> Procedure:
    """Return the straight-line C code of a load, by the costs of its target."""
    costs = MACHINES.get(program.asked.get("target", ""), MACHINES["mcu8"])
    return procedure_of(program, load, costs, C_WORDS, C_KEYWORDS)


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
    """Return the definitions of tables and function; their macros begin with `prefix`.

    `before` holds words such as `static` for the function.
    """
    lines = [READING.replace("@", prefix)]
    octets = sum(_octets(entries) for entries in procedure.code.tables)
    if octets > NEAR_FLASH:
        text = f"the tables have {octets} bytes: addresses of 16 bits reach {NEAR_FLASH}"
        lines += ["#if defined(__AVR__)", f'#error "{text}"', "#endif", ""]
    tables = zip(procedure.tables, procedure.code.tables, strict=True)
    for table, entries in sorted(tables, key=lambda x: _octets(x[1])):
        lines += [*_table(table, entries, prefix), ""]
    lines.append(f"{before}unsigned {name}(const {name}_inputs *given, {name}_outputs *made)")
    return [*lines, "{", *_Printer(procedure, prefix).body(), "}"]


def _table(name: str, entries: Sequence[int], prefix: str) -> Iterator[str]:
    """Yield a table; small ones first, as compilers place the last one first."""
    stored = _entry_bits(entries)
    size = min(2 * PAGE, _octets(entries))
    place = f" {prefix}TABLE({size})" if stored <= NEAR else ""
    yield f"static const uint{stored}_t {name}[{len(entries)}]{place} = {{"
    suffix = {8: "", 16: "U", 32: "UL", 64: "ULL"}[stored]
    for first in range(0, len(entries), ENTRIES):
        row = [entry % (1 << stored) for entry in entries[first : first + ENTRIES]]
        yield "    " + ", ".join(f"{entry}{suffix}" for entry in row) + ","
    yield "};"


def _entry_bits(entries: Sequence[int]) -> int:
    return _stored(min(entries), max(entries))[1]


def _octets(entries: Sequence[int]) -> int:
    return len(entries) * _entry_bits(entries) // 8


def _stored(low: int, high: int) -> tuple[str, int]:
    """Return the narrowest type of a range, and its width."""
    for width in SIZES:
        if low >= 0 and high < 1 << width:
            return f"uint{width}_t", width
        if low >= -1 << width - 1 and high < 1 << width - 1:
            return f"int{width}_t", width
    bits = max(high, -low - 1).bit_length() + (low < 0)
    raise UsageError(f"a word has {bits} bits", "C types have at most 64")


class _Printer:
    """Prints values modulo powers of two; the caller determines the type of each.

    Sums with a name are added part by part, in variables of unsigned types.
    """

    def __init__(self, procedure: Procedure, prefix: str = "") -> None:
        self.procedure, self.prefix, self.ops = procedure, prefix, procedure.code.ops
        self.names = procedure.names
        self.lines: list[str] = []
        self.done: set[int] = set()

    def body(self) -> list[str]:
        """Return the lines of the function: each step is just before its first use."""
        self.lines.append("    unsigned saturated = 0;")
        if not any(given.read for given in self.procedure.inputs):
            self.lines.append("    (void)given;")
        for k, result, made in self.procedure.results:
            for one in (made.inside, *made.rests):
                self.before(*([] if one is None else [one.of]))
            self.before(made.value)
            if made.inside is not None:
                rests = f" && !({self.all_of(made.rests)})" if made.rests else ""
                test = f"    if (!({self.all_of([made.inside])}){rests})"
                self.lines.append(f"{test}\n        saturated |= {1 << k}U;")
            op = self.ops[made.value]
            text = _bare(self.show(made.value, self.kind(made.value)))
            kind, _ = _stored(op.low, op.high)
            self.lines.append(f"    {self.prefix}MADE({result.result}) = ({kind})({text});")
        ops = {name: self.ops[place] for place, name in self.names.items()}
        octets = {name: _stored(op.low, op.high)[1] // 8 for name, op in ops.items()}
        return [*fewer_live(self.lines, octets), "    return saturated;"]

    def before(self, *places: int) -> None:
        """Write the steps of values that have none yet."""
        for place in places:
            if place in self.done:
                continue
            self.done.add(place)
            op = self.ops[place]
            if place in self.names and self.is_loose(op):
                self.parts(place, op)
                continue
            self.before(*op.sources)
            if place in self.names:
                kind, stored = self.stored(op)
                text = _bare(self.show(place, max(16, stored), named=False))
                self.lines.append(f"    const {kind} {self.names[place]} = ({kind})({text});")
                self.say(place)

    def stored(self, op: IntOp) -> tuple[str, int]:
        """Return the type of a value and its bits; machines choose the width of exact bytes."""
        kind, stored = _stored(op.low, op.high)
        if stored == 8 and self.keeps(op):
            return f"{self.prefix}{kind.removesuffix('_t').upper()}", stored
        return kind, stored

    def is_loose(self, op: IntOp) -> bool:
        """Tell whether a sum is added part by part."""
        return op.op == "sum" and len(op.sources) > 1

    def parts(self, place: int, op: IntOp) -> None:
        """Write a sum part by part, after the operands of each; positive parts come first."""
        name, kind, byte = self.names[place], self.kind(place), is_byte(op) or 0 < op.wraps <= 8
        narrow = f"{self.prefix}UINT8" if op.wraps or self.keeps(op) else "uint8_t"
        for k, (factor, of) in enumerate(sorted(op.terms, key=lambda term: term[0] < 0)):
            self.before(of)
            text, sign = self.term(factor, of, kind), "-" if factor < 0 else "+"
            if k:
                more = f"{name} {sign}= {_bare(text)}"
                more = f"{name} = ({narrow})({name} {sign} {text})" if byte else more
                self.lines.append(f"    {more};\n    {self.prefix}NOW({name});")
                continue
            constant = _literal(abs(op.constant), kind)
            if factor < 0:
                text = f"{'-' if op.constant < 0 else ''}{constant} - {text}"
            elif op.constant % (1 << kind):
                after = op.constant < 0
                text = f"{text} - {constant}" if after else f"{constant} + {text}"
            text = (
                f"{narrow} {name} = ({narrow})({text})"
                if byte
                else f"{TYPES[kind]} {name} = {text}"
            )
            self.lines.append(f"    {text};")
            self.say(place)

    def say(self, place: int) -> None:
        if about := self.procedure.about(place):
            self.lines[-1] += f" /* {about} */"

    def kind(self, place: int) -> int:
        """Return the width of the type that holds a value with all its bits."""
        op = self.ops[place]
        return max(16, _stored(op.low, op.high)[1])

    def show(self, place: int, kind: int, *, named: bool = True) -> str:
        """Return a value modulo 2^kind or more, as an expression of the unsigned type."""
        op, cast = self.ops[place], f"({TYPES[kind]})"
        if op.low == op.high:
            return _literal(op.low, kind)
        if named and place in self.names:
            if self.is_loose(op) and self.kind(place) < kind and not op.wraps:
                return f"{cast}{self.number(place)}"
            return f"{cast}{self.names[place]}"
        return self.operation(op, kind)

    def operation(self, op: IntOp, kind: int) -> str:
        """Return an operation modulo 2^kind or more."""
        cast = f"({TYPES[kind]})"
        match op.op:
            case "input":
                text = f"{cast}{self.given('GIVEN', op)}"
            case "bits":
                text = self.bits(op, kind)
            case "sum":
                text = f"({self.sum(op, kind)})"
            case "product" | "xor":
                text = self.product(op, kind)
            case "shift":
                text = f"{cast}{self.shifted(*op.sources, *op.argument)}"
            case "entry":
                text = f"{cast}{self.entry(op)}"
            case "clamp":
                (least, most), x = op.argument, op.sources[0]
                above = f"{self.number(x)} > {most} ? {_literal(most, kind)} : {self.show(x, kind)}"
                text = f"({self.number(x)} < {least} ? {_literal(least, kind)} : {above})"
            case "choose":
                then, otherwise = (self.show(of, kind) for of in op.sources[:2])
                text = f"({self.all_of(op.conditions)} ? {then} : {otherwise})"
        return text

    def given(self, how: str, op: IntOp) -> str:
        return f"{self.prefix}{how}({self.procedure.inputs[op.argument[0]].parameter})"

    def product(self, op: IntOp, kind: int) -> str:
        """Return a product (or a bitwise difference), in 16 bits if it fits."""
        narrow, stored = _stored(op.low, op.high)
        own = min(kind, max(16, stored))
        a, b = (self.factor(of, own) for of in op.sources)
        text = f"({a} {'*' if op.op == 'product' else '^'} {b})"
        return text if own == kind else f"({TYPES[kind]})({narrow}){text}"

    def shifted(self, of: int, by: int) -> str:
        """Return a shift; a cast replaces the mask of its operand where it can."""
        op = self.ops[of]
        if op.op == "bits" and of not in self.names and op.argument[0] - by in SIZES:
            text = self.show(op.sources[0], max(16, _stored(0, op.high)[1]))
            return f"(uint{op.argument[0] - by}_t)({text} >> {by})"
        return f"({self.number(of)} >> {by})"

    def factor(self, place: int, kind: int) -> str:
        """Return a value of its narrowest type: processors multiply small numbers faster."""
        op = self.ops[place]
        narrow, stored = self.stored(op)
        if is_byte(op) and op.high < 128 and op.low < op.high:  # signed products are cheaper
            return f"({TYPES[kind]})({self.prefix}INT8){self.show(place, 16)}"
        if self.is_typed(place) or op.low == op.high:
            return self.show(place, kind)
        return f"({TYPES[kind]})({narrow}){self.show(place, max(16, stored))}"

    def number(self, place: int) -> str:
        """Return a value as an expression of the type that has its sign."""
        op, kind = self.ops[place], self.kind(place)
        if self.is_typed(place):
            return self.names[place]
        text = self.show(place, kind)
        if op.low >= 0 and self.is_exact(place):
            return text
        return f"({'u' * (op.low >= 0)}int{kind}_t){text}"

    def is_exact(self, place: int) -> bool:
        """Tell whether a value is right in wider types, where 2^16 does not wrap to 0."""
        return self.is_typed(place) or self.keeps(self.ops[place])

    def keeps(self, op: IntOp) -> bool:
        """Tell whether an operation without a name is right in wider types."""
        if op.op in ("bits", "shift", "entry"):
            return True
        if op.op == "input" or (op.op == "sum" and abs(op.constant) >= 1 << 16):
            return False
        if op.low == op.high < 0 or (op.op == "clamp" and op.argument[0] < 0):
            return False  # literals are modulo 2^16
        return all(map(self.is_exact, op.sources[:2] if op.op == "choose" else op.sources))

    def is_typed(self, place: int) -> bool:
        """Tell whether a value has a name and the type of its range."""
        op = self.ops[place]
        return place in self.names and (not self.is_loose(op) or is_byte(op))

    def bits(self, op: IntOp, kind: int) -> str:
        """Return the lowest bits of a value; casts replace masks where they can."""
        (of,), (bits, signed) = op.sources, op.argument
        if not signed and bits <= 8 and self.ops[of].op == "input":
            text = f"({TYPES[kind]}){self.given('LOW', self.ops[of])}"
            return text if bits == 8 else f"({text} & {(1 << bits) - 1}U)"
        if bits in SIZES:
            sign = "" if signed else "u"
            return f"({TYPES[kind]})({sign}int{bits}_t){self.show(of, max(16, bits))}"
        mask, half = _literal((1 << bits) - 1, kind), _literal(1 << bits >> 1, kind)
        text = f"({self.show(of, kind)} & {mask})"
        return f"(({text} ^ {half}) - {half})" if signed else text

    def sum(self, op: IntOp, kind: int) -> str:
        """Return a sum; it begins with a positive term if there is one."""
        text = ""
        for factor, of in sorted(op.terms, key=lambda term: term[0] < 0):
            text += f" {'-' if factor < 0 else '+'} {self.term(factor, of, kind)}"
        if op.constant % (1 << kind):
            constant = _literal(abs(op.constant), kind)
            text = f"{text} - {constant}" if op.constant < 0 else f" + {constant}{text}"
        return text.removeprefix(" + ") if text[1] != "-" else f"{_literal(0, kind)}{text}"

    def term(self, factor: int, of: int, kind: int) -> str:
        """Return a value times the size of a factor."""
        text, size, op = self.show(of, kind), abs(factor), self.ops[of]
        up = size.bit_length() - 1
        cut = kind == 16 and op.op == "shift" and of not in self.names
        if cut and size == 1 << up and 0 < up <= op.constant:
            return f"{self.prefix}CUT({self.number(*op.sources)}, {op.constant}, {up})"
        if size & size - 1:
            return f"({text} * {_literal(size, kind)})"
        return f"({text} << {size.bit_length() - 1})" if size > 1 else text

    def entry(self, op: IntOp) -> str:
        table = self.procedure.tables[op.table]
        entries = self.procedure.code.tables[op.table]
        kind, stored = _stored(min(entries), max(entries))
        texts, place = [], 0
        bits = sum(field.bits for field in op.fields)
        index = 16 if bits <= 16 else 32
        for field in op.fields:
            texts.append(self.field(field, index, place, cut=bits == 8 == place + field.bits))
            place += field.bits
        texts += [self.show(part, index) for part in op.parts]
        text = _bare(texts[0]) if len(texts) == 1 else " + ".join(texts)
        if stored > NEAR:
            return f"{table}[{text}]"
        if bits <= 8:  # 8-bit arithmetic is cheaper
            text = f"(uint8_t)({text})"
        sign = "" if kind.startswith("u") else f"({kind})"
        size = len(entries)
        way = "FAR" if size > PAGE or stored > 16 else "PAGE" if size == PAGE else "PART"
        return f"{sign}{self.prefix}{way}{stored}({table}, {text})"

    def field(self, field: BitField, kind: int, place: int, *, cut: bool) -> str:
        """Return a part of an index; with `cut` the bits above are arbitrary."""
        of, drop, bits = field
        op, own = self.ops[of], max(self.kind(of), kind)
        exact = op.low >= 0 and op.high >> drop < 1 << bits
        text = self.number(of) if exact and not cut else self.show(of, own)
        text = f"({text} >> {drop})" if drop else text
        text = f"({TYPES[kind]}){text}" if own > kind or not text.startswith("(") else text
        if not exact and not cut:
            text = f"({text} & {_literal((1 << bits) - 1, kind)})"
        return f"({text} << {place})" if place else text

    def all_of(self, conditions: Sequence[Inside]) -> str:
        """Return the conjunction of conditions, without comparisons that always hold."""
        texts = []
        for one in conditions:
            text, op = self.number(one.of), self.ops[one.of]
            if one.low == one.high:
                texts.append(f"{text} == {one.low}")
                continue
            if one.low > op.low:
                texts.append(f"{text} >= {one.low}")
            if one.high < op.high:
                texts.append(f"{text} <= {one.high}")
        return " && ".join(texts) or "1"


def fewer_live(steps: Sequence[str], octets: Mapping[str, int]) -> list[str]:
    """Return steps in an order with fewer live values, whose bytes are given by their names.

    Each value is declared by one step, and others may add to it. A step that needs no more bytes
    than it frees is done as soon as it can be.
    """
    reads, writes, found = Counter[str](), Counter[str](), list[str]()
    pending = []
    for step in steps:
        made = re.match(r" +(?:const \w+ |\w+ )?(\w+) [-+]?=", step)
        name = made[1] if made and made[1] in octets else ""
        read = {word for word in re.findall(r"\w+", step) if word in octets} - {name}
        declares = bool(name) and not writes[name]
        writes[name] += 1
        reads.update(read)
        pending.append((step, name, declares, read))
    declared = set[str]()
    while pending:
        best, least = 0, 1
        for place, (_, name, declares, read) in enumerate(pending[:NEXT]):
            if any(writes[k] for k in read) or not (declares or not name or name in declared):
                continue
            needed = octets.get(name, OUTPUT) * (declares or not name)
            needed -= sum(octets[k] for k in read if reads[k] == 1)
            if needed < least:
                best, least = place, needed
        step, name, _, read = pending.pop(best)
        declared.add(name)
        writes[name] -= 1
        reads.subtract(read)
        found.append(step)
    return found


def is_byte(op: IntOp) -> bool:
    """Tell whether a value fits in a byte: an 8-bit machine adds bytes faster."""
    return op.low >= 0 and op.high < 256


def _literal(value: int, kind: int) -> str:
    value %= 1 << kind
    return {16: f"{value}U", 32: f"UINT32_C({value})", 64: f"UINT64_C({value})"}[kind]


def _bare(text: str) -> str:
    """Return a text without brackets around all of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth:
            return text[1:-1] if place == len(text) - 1 else text
    return text


# --------------------------------------------------------------------------------------------------
# C99 in one header, which is valid C++ too: tables and the function are static. All names begin
# with the program's, so that several such headers can be included together.
# --------------------------------------------------------------------------------------------------


def export_c_header(program: Program, load: float | None, options: ExportOptions) -> Files:  # noqa: ARG001 (there is one way)
    """Return a header of a program, or of each of its loads."""
    files: Files = {}
    for name, one in loads_of(program, load):
        procedure = c_procedure(program, one)
        tables = tuple(f"{name}_{table}" for table in procedure.tables)
        own = replace(procedure, tables=tables)
        lines = definition(own, name, f"{name.upper()}_", "static inline ")
        files[f"{name}.h"] = header(program, one, own, name, lines)
    return files


# --------------------------------------------------------------------------------------------------
# C99, bit-sliced: 64 samples at a time, or 256 and 512 with vector instructions. A plane holds one
# bit of all samples. The file of nodes is included once per width, which defines the operations.
# Samples of 16 bits are transposed to planes and back in squares of 16 by 16, four in a 64-bit
# word.
# --------------------------------------------------------------------------------------------------

HEADER = """\
/* @TITLE@, bit-sliced: its logic on many samples at a time.
   Words are in the codes said below. Of words given:
@GIVEN_WORDS@
   Of words made:
@MADE_WORDS@
   Planes of a word come least significant bit first; bit k of a plane is that of sample k. */
#ifndef @GUARD@_SLICED_H
#define @GUARD@_SLICED_H

#include <stddef.h>
#include <stdint.h>

#define @GUARD@_INPUT_PLANES @INPUT_PLANES@
#define @GUARD@_OUTPUT_PLANES @OUTPUT_PLANES@

/* The planes of 64 samples. */
void @NAME@_planes(const uint64_t given[@INPUT_PLANES@], uint64_t made[@OUTPUT_PLANES@]);

/* `count` samples, each word a column; of two's complement, words made lack their sign's copies. */
void @NAME@_samples(const int16_t *const given[@INPUTS@], int16_t *const made[@OUTPUTS@],
                    size_t count);

#endif /* @GUARD@_SLICED_H */
"""

SOURCE = """\
/* @TITLE@, bit-sliced: see @NAME@_sliced.h */
#include "@NAME@_sliced.h"

/* 64 samples at a time, on any machine. */
#define PLANE uint64_t
#define ZERO UINT64_C(0)
#define ONES (~UINT64_C(0))
#define NOT(a) (~(a))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define LUT(table, a, b, c, steps) (steps)

void @NAME@_planes(const uint64_t given[@INPUT_PLANES@], uint64_t made[@OUTPUT_PLANES@])
{
#include "@NAME@_nodes.h"
}

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#undef PLANE
#undef ZERO
#undef ONES
#undef NOT
#undef AND
#undef OR
#undef XOR
#undef LUT
#endif

#if defined(__AVX512F__)
#define LANES 8
#define PLANE __m512i
#define ZERO _mm512_setzero_si512()
#define ONES _mm512_set1_epi64(-1)
#define NOT(a) _mm512_xor_si512(a, ONES)
#define AND(a, b) _mm512_and_si512(a, b)
#define OR(a, b) _mm512_or_si512(a, b)
#define XOR(a, b) _mm512_xor_si512(a, b)
#define LUT(table, a, b, c, steps) _mm512_ternarylogic_epi64(a, b, c, table)
#define LOAD(place) _mm512_loadu_si512((const void *)(place))
#define STORE(place, value) _mm512_storeu_si512((void *)(place), value)
#elif defined(__AVX2__)
#define LANES 4
#define PLANE __m256i
#define ZERO _mm256_setzero_si256()
#define ONES _mm256_set1_epi64x(-1)
#define NOT(a) _mm256_xor_si256(a, ONES)
#define AND(a, b) _mm256_and_si256(a, b)
#define OR(a, b) _mm256_or_si256(a, b)
#define XOR(a, b) _mm256_xor_si256(a, b)
#define LUT(table, a, b, c, steps) (steps)
#define LOAD(place) _mm256_loadu_si256((const __m256i *)(const void *)(place))
#define STORE(place, value) _mm256_storeu_si256((__m256i *)(void *)(place), value)
#else
#define LANES 1
#endif

#if LANES == 1
static void lanes(uint64_t given[@INPUT_PLANES@][LANES], uint64_t made[@OUTPUT_PLANES@][LANES])
{
    @NAME@_planes(&given[0][0], &made[0][0]);
}
#else
static void nodes(const PLANE given[@INPUT_PLANES@], PLANE made[@OUTPUT_PLANES@])
{
#include "@NAME@_nodes.h"
}

static void lanes(uint64_t given[@INPUT_PLANES@][LANES], uint64_t made[@OUTPUT_PLANES@][LANES])
{
    PLANE in[@INPUT_PLANES@], out[@OUTPUT_PLANES@];
    size_t k;
    for (k = 0; k < @INPUT_PLANES@; k++)
        in[k] = LOAD(given[k]);
    nodes(in, out);
    for (k = 0; k < @OUTPUT_PLANES@; k++)
        STORE(made[k], out[k]);
}
#endif

/* Four squares of 16 by 16 bits, one in each quarter of all words, about their diagonals. */
static void transpose(uint64_t rows[16])
{
    static const uint64_t masks[4] = {
        UINT64_C(0x00FF00FF00FF00FF), UINT64_C(0x0F0F0F0F0F0F0F0F),
        UINT64_C(0x3333333333333333), UINT64_C(0x5555555555555555)
    };
    unsigned stage, k;
    for (stage = 0; stage < 4; stage++) {
        const unsigned width = 8U >> stage;
        for (k = 0; k < 16; k++) {
            if (!(k & width)) {
                const uint64_t swap = ((rows[k] >> width) ^ rows[k + width]) & masks[stage];
                rows[k] ^= swap << width;
                rows[k + width] ^= swap;
            }
        }
    }
}

void @NAME@_samples(const int16_t *const given[@INPUTS@], int16_t *const made[@OUTPUTS@],
                    size_t count)
{
    static const unsigned char given_bits[@INPUTS@] = {@GIVEN_BITS@};
    static const unsigned char made_bits[@OUTPUTS@] = {@MADE_BITS@};
    uint64_t in[@INPUT_PLANES@][LANES], out[@OUTPUT_PLANES@][LANES], rows[16];
    size_t first, word, lane, place, k, r, s;
    for (first = 0; first < count; first += (size_t)64 * LANES) {
        for (word = 0, place = 0; word < @INPUTS@; place += given_bits[word++]) {
            for (lane = 0; lane < LANES; lane++) {
                for (r = 0; r < 16; r++)
                    rows[r] = 0;
                for (s = 0; s < 64; s++) {
                    const size_t at = first + 64 * lane + s;
                    if (at < count)
                        rows[s & 15] |= (uint64_t)(uint16_t)given[word][at] << (s & 48);
                }
                transpose(rows);
                for (k = 0; k < given_bits[word]; k++)
                    in[place + k][lane] = rows[k];
            }
        }
        lanes(in, out);
        for (word = 0, place = 0; word < @OUTPUTS@; place += made_bits[word++]) {
            for (lane = 0; lane < LANES; lane++) {
                for (r = 0; r < 16; r++)
                    rows[r] = r < made_bits[word] ? out[place + r][lane] : 0;
                transpose(rows);
                for (s = 0; s < 64; s++) {
                    const size_t at = first + 64 * lane + s;
                    if (at < count) {
                        const uint16_t value = (uint16_t)(rows[s & 15] >> (s & 48));
                        made[word][at] = (int16_t)(value < 0x8000U ? (int32_t)value
                                                                   : (int32_t)value - 0x10000);
                    }
                }
            }
        }
    }
}
"""

WIDEST = 16  # bits of a sample's word
MACROS = {"not": "NOT", "and": "AND", "or": "OR", "xor": "XOR"}


def export_c_sliced(program: Program, load: float | None, options: ExportOptions) -> Files:  # noqa: ARG001 (there is one way)
    """Return source, header and nodes of a program's logic, for each load."""
    files: Files = {}
    for name, one in loads_of(program, load):
        design = design_of(program, one.payload)
        for port in (*design.inputs, *design.outputs):
            if port.bits > WIDEST:
                raise UsageError(
                    f"{port.name} has {port.bits} bits", f"samples have at most {WIDEST}"
                )
        values = {
            "NAME": name, "GUARD": name.upper(), "TITLE": comment(program.name),
            "INPUT_PLANES": str(design.network.inputs),
            "OUTPUT_PLANES": str(len(design.network.outputs)),
            "INPUTS": str(len(design.inputs)), "OUTPUTS": str(len(design.outputs)),
            "GIVEN_WORDS": _about(design.inputs), "MADE_WORDS": _about(design.outputs),
            "GIVEN_BITS": ", ".join(str(port.bits) for port in design.inputs),
            "MADE_BITS": ", ".join(str(port.bits) for port in design.outputs),
        }  # fmt: skip
        files[f"{name}_sliced.h"] = _filled(HEADER, values)
        files[f"{name}_sliced.c"] = _filled(SOURCE, values)
        files[f"{name}_nodes.h"] = "\n".join([*_nodes(design), ""])
    return files


def _about(ports: tuple[Port, ...]) -> str:
    """Describe words and their planes."""
    lines = []
    place = 0
    for k, port in enumerate(ports):
        planes = f"planes {place} .. {place + port.bits - 1}" if port.bits > 1 else f"plane {place}"
        lines += [f"   {k}: {comment(port.name)}, {planes}", *(f"      {x}" for x in port.notes)]
        place += port.bits
    return "\n".join(lines)


def _filled(text: str, values: dict[str, str]) -> str:
    for word, value in values.items():
        text = text.replace(f"@{word}@", value)
    return text


def _nodes(design: Design) -> Iterator[str]:
    """Yield the lines of the nodes; planes of words are least significant first."""
    network = in_order(design.network)
    yield "/* The nodes of the logic, in an order in which few values are needed at a time. */"
    signals = ["ZERO", "ONES", *(f"given[{k}]" for k in _places(design.inputs))]
    for place, (lut, operands) in enumerate(network.nodes):
        yield f"const PLANE n{place} = {_operation(lut, [signals[k] for k in operands])};"
        signals.append(f"n{place}")
    if len(signals) != CONSTANTS + network.inputs + len(network.nodes):
        raise ValueError("ports do not fit their network")
    for place, signal in zip(_places(design.outputs), network.outputs, strict=True):
        yield f"made[{place}] = {signals[signal]};"
    if len(unread(network)) == network.inputs:  # no warning of an unused parameter
        yield "(void)given;"


def _places(ports: tuple[Port, ...]) -> Iterator[int]:
    """Yield the planes of words in the order of the network, which is most significant first."""
    first = 0
    for port in ports:
        yield from reversed(range(first, first + port.bits))
        first += port.bits


def _operation(lut: int, operands: list[str]) -> str:
    """Return a node; one of three operands is one operation on AVX-512."""
    texts = [*operands, *[""] * (3 - len(operands))]
    for kind, x, y in luts.steps(lut):
        args = texts[x] if kind == "not" else f"{texts[x]}, {texts[y]}"
        texts.append(f"{MACROS[kind]}({args})")
    if len(operands) < 3:
        return texts[-1]
    return f"LUT(0x{lut:02X}, {', '.join(operands)}, {texts[-1]})"
