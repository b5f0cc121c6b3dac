"""Boards that run designs in C, and the rows that `boolcomp cycles` prints of them."""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from boolcomp.base.errors import DataError, require_name
from boolcomp.base.files import temporary_folder, write_bytes, write_text
from boolcomp.base.processes import run_program
from boolcomp.base.results import ResultColumn, Results
from boolcomp.measure.bench import rivals
from boolcomp.targets.c import c_procedure, loads_of
from boolcomp.targets.target import export_texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Load, Program

    Addresses = NDArray[np.uint32]

# --------------------------------------------------------------------------------------------------
# Boards: machines that run designs, and tools that build them.
# --------------------------------------------------------------------------------------------------


TRIED = 10  # rows on which options are tried
DEADLINE = 120.0  # seconds that a compiler or a simulator may take
OPTIMISED = ("-O2", "-Os", "-O1")  # the fastest counts
RESULT = re.compile(rb"(\d+) (\d+) (\d+) (\d+) (\d+) \.")


@dataclass(frozen=True, slots=True)
class BoardMachine:
    """A machine, its tools and their Debian packages.

    `measure(design, folder, deadline, optimised)` builds and runs a design in a folder; `timed`
    names the figure of its result to minimise.
    """

    name: str
    about: str
    tools: tuple[str, ...]
    packages: str
    measure: Callable[[BoardDesign, Path, float, str], CallCost]
    timed: str

    def missing(self) -> str:
        """Return a message that lists missing tools, or an empty text."""
        absent = [tool for tool in self.tools if shutil.which(tool) is None]
        if not absent:
            return ""
        verb = "is" if len(absent) == 1 else "are"
        return f"{', '.join(absent)} {verb} not installed: apt-get install {self.packages}"


def fastest(board: BoardMachine, design: BoardDesign, deadline: float) -> tuple[CallCost, str]:
    """Return the cost of a design with the best optimisation option, and that option.

    Options are tried on a few rows. Float designs use only the first: their time is mostly spent in
    libraries.
    """
    tried = OPTIMISED if design.element != "float" else OPTIMISED[:1]
    best = tried[0]
    if len(tried) > 1:
        few = design.first(TRIED)
        best = min(tried, key=lambda option: _taken(board, few, deadline, option))
    with temporary_folder() as folder:
        return board.measure(design, folder, deadline, best), best


def _taken(board: BoardMachine, design: BoardDesign, deadline: float, option: str) -> float:
    with temporary_folder() as folder:
        found = getattr(board.measure(design, folder, deadline, option), board.timed)
    return math.inf if found is None else float(found)


def run(command: Sequence[str], folder: Path, deadline: float) -> bytes:
    """Run a tool in a folder and return its output; raise a `DataError` if it fails."""
    path = shutil.which(command[0])
    if path is None:
        raise DataError(
            f"{command[0]} is not installed", "boolcomp doctor lists tools and their packages"
        )
    ended = run_program([path, *command[1:]], deadline, folder=folder)
    if ended.code is None:
        raise DataError(f"{command[0]} did not finish in {deadline:g} s")
    if ended.code:
        text = ended.printed.decode("utf-8", "replace").strip()[-400:]
        raise DataError(f"{command[0]} failed ({text})")
    return ended.printed


def compiled(
    compiler: Sequence[str], design: BoardDesign, main: str, folder: Path, deadline: float
) -> list[str]:
    """Write and compile a design's files and a main program; return its objects, `main.o` last."""
    for name, text in (*design.files.items(), ("main.c", main)):
        write_text(folder / name, text, durable=False)
    objects = []
    for name in (*design.sources, "main.c"):
        objects.append(f"{name.removesuffix('.c')}.o")
        run([*compiler, "-I.", "-c", "-o", objects[-1], name], folder, deadline)
    return objects


def sizes(tool: str, objects: Sequence[str], folder: Path, deadline: float) -> tuple[int, int]:
    """Return the bytes of code and constants, and those of memory, in a design's objects."""
    lines = run([tool, *objects], folder, deadline).decode().splitlines()[1:]
    rows = [[int(number) for number in line.split()[:3]] for line in lines]
    return sum(text + data for text, data, _ in rows), sum(data + bss for _, data, bss in rows)


def parsed_result(printed: bytes, design: BoardDesign) -> tuple[int, int, int, int]:
    """Return the number of wrong rows, the sum of cycles, cycles of an empty call, stack depth.

    The last row, added to those of the design, is wrong on purpose, to check the comparison.
    """
    found = RESULT.search(printed)
    if found is None:
        text = printed.decode("utf-8", "replace").strip()[-200:]
        raise DataError(
            f"the simulator printed no result: {text or 'no output'}", where=design.name
        )
    wrong, last, cycles, empty, deepest = (int(number) for number in found.groups())
    if not wrong or last != len(design.rows) - 1:
        raise DataError("the comparison missed a word that is wrong on purpose", where=design.name)
    return wrong - 1, cycles, empty, deepest


# --------------------------------------------------------------------------------------------------
# Designs: functions in C, with inputs and expected outputs.
# --------------------------------------------------------------------------------------------------


Element = Literal["uint8_t", "uint16_t", "uint32_t", "int16_t", "float"]
Row: TypeAlias = tuple[float, ...]  # inputs, then expected outputs


@dataclass(frozen=True, slots=True)
class BoardDesign:
    """C files of one function, and rows of inputs and expected outputs.

    `function(const function_inputs *, function_outputs *)` is declared in `function.h`; its structs
    have the fields `given` and `made`, all of type `element`. Outputs must be within `tolerance` of
    the rows. `rms` are errors in LSB of the output words.
    """

    name: str
    function: str
    files: Mapping[str, str]
    given: tuple[str, ...]
    made: tuple[str, ...]
    element: Element
    rows: tuple[Row, ...]
    tolerance: Row = ()
    rms: Row | None = None
    about: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for name in self.files if name.endswith(".c"))

    def first(self, rows: int) -> BoardDesign:
        return replace(self, rows=self.rows[:rows])

    def with_a_wrong_row(self) -> BoardDesign:
        """Return the design with one more row: the first, with a wrong last word."""
        *most, last = self.rows[0]
        if self.element == "float":
            changed = last + max(4 * max(self.tolerance, default=0.0), 1.0)
        else:
            changed = int(last) ^ 1
        return replace(self, rows=(*self.rows, (*most, changed)))


@dataclass(frozen=True, slots=True)
class CallCost:
    """The cost of a call of a design's function, the mean of all rows.

    Bytes of `flash` and of static memory exclude libraries; `stack` is the largest measured depth.
    `wrong` is the number of rows with wrong outputs. Figures that a board does not measure are
    None.
    """

    cycles: float | None = None
    instructions: float | None = None
    nanoseconds: float | None = None
    flash: int = 0
    static: int = 0
    stack: int | None = None
    wrong: int = 0

    @property
    def ram(self) -> int | None:
        return None if self.stack is None else self.static + self.stack


def declared(function: str, element: Element, given: Sequence[str], made: Sequence[str]) -> str:
    """Return the C header of a function on structs with fields of one type."""
    inputs = "".join(f" {element} {name};" for name in given)
    outputs = "".join(f" {element} {name};" for name in made)
    return (
        f"#ifndef {function.upper()}_H\n#define {function.upper()}_H\n#include <stdint.h>\n"
        f"typedef struct {{{inputs} }} {function}_inputs;\n"
        f"typedef struct {{{outputs} }} {function}_outputs;\n"
        f"void {function}(const {function}_inputs *given, {function}_outputs *made);\n#endif\n"
    )


# --------------------------------------------------------------------------------------------------
# The main program in C around a design: rows in flash, calls, comparison, printed results.
#
# Each board has its own prefix. It defines PLACED and READ (tables in flash), a function to print a
# letter, BEGIN and END (around a measured call), FLOOR and TOP (the ends of the stack).
# --------------------------------------------------------------------------------------------------


PAINTED = 4  # number of calls before which the stack is painted
_MAIN = """\
@BOARD@
#include "@NAME@.h"
#define PAINT 0xA5A5U
static const @ELEMENT@ rows[@COUNT@][@WIDTH@] PLACED = {
@ROWS@
};
static void tell(uint32_t number)
{
    char digits[11];
    uint8_t k = 0;
    do {
        digits[k++] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    while (k)
        say(digits[--k]);
    say(' ');
}
int main(void)
{
    uint16_t k, wrong = 0, last = 0, deepest = 0;
    uint32_t cycles = 0;
    START
    for (k = 0; k < @COUNT@; k++) {
        @NAME@_inputs given;
        @NAME@_outputs made;
@LOAD@
        if (k < @PAINTED@) {
            volatile uint16_t *place = FLOOR, *top = TOP;
            while (place < top)
                *place++ = PAINT;
        }
        BEGIN
        @NAME@(&given, &made);
        END
        if (k < @PAINTED@) {
            volatile uint16_t *place = FLOOR, *top = TOP;
            while (place < top && *place == PAINT)
                place++;
            if ((uint16_t)((uintptr_t)top - (uintptr_t)place) > deepest)
                deepest = (uint16_t)((uintptr_t)top - (uintptr_t)place);
        }
        if (k < @COUNT@ - 1)
            cycles += TAKEN;
        if (@DIFFERS@) {
            wrong++;
            last = k;
        }
    }
    tell(wrong);
    tell(last);
    tell(cycles);
    tell(EMPTY);
    tell(deepest);
    say('.');
    say('\\n');
    FINISH
    return 0;
}
"""


def main_text(design: BoardDesign, board: str) -> str:
    """Return the main program; the cycles of the last row are not added."""
    inputs = len(design.given)
    load = "".join(
        f"        given.{name} = READ(&rows[k][{k}]);\n" for k, name in enumerate(design.given)
    )
    gaps = {
        "BOARD": board,
        "NAME": design.function,
        "ELEMENT": design.element,
        "COUNT": str(len(design.rows)),
        "WIDTH": str(inputs + len(design.made)),
        "ROWS": ",\n".join(f"{{{', '.join(map(literal, row))}}}" for row in design.rows),
        "LOAD": load,
        "PAINTED": str(PAINTED),
        "DIFFERS": differs(design, "READ(&rows[k][{}])"),
    }
    return _filled(_MAIN, gaps)


def _filled(text: str, gaps: Mapping[str, str]) -> str:
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    return text


def differs(design: BoardDesign, wanted: str) -> str:
    """Return the condition in C that an output differs from its expected value."""
    parts = []
    for k, name in enumerate(design.made):
        right = wanted.format(len(design.given) + k)
        if design.tolerance:
            limit = literal(design.tolerance[k])
            parts.append(f"!(made.{name} - {right} <= {limit} && {right} - made.{name} <= {limit})")
        else:
            parts.append(f"made.{name} != {right}")
    return " || ".join(parts)


def literal(value: float) -> str:
    """Return a number as a C literal."""
    if isinstance(value, int):
        return f"{value}U" if value > 0x7FFF else str(value)
    return f"{value!r}f"


# --------------------------------------------------------------------------------------------------
# Cycle models of Cortex-M cores, from ARM's reference manuals, for memory without wait states.
#
# Cortex-M0: load or store 2 cycles, of n registers 1 + n; taken branch 3; call 4;
# multiplication 1 (32 on some cores); all other instructions 1.
#
# Cortex-M3: load 2 cycles; store 1; load or store of n registers 1 + n; pipeline refill of a jump 2
# (1 to 3). Long multiplication 4 (3 to 5), with addition 5; division 7 (2 to 12);
# multiply-accumulate 2; all other instructions 1.
# --------------------------------------------------------------------------------------------------


Core = Literal["cortex-m0", "cortex-m3"]
_LINE = re.compile(
    r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{4} ?){1,2})\s*\t(\S+)(?:\t(.*))?$", re.MULTILINE
)
_LONG = {"umull": 4, "smull": 4, "umlal": 5, "smlal": 5, "mla": 2, "mls": 2, "udiv": 7, "sdiv": 7}
_REFILL = 2  # cycles of a jump on the M3


class Instruction(NamedTuple):
    """An instruction: its address, bytes, cycles, and additional cycles of a jump."""

    address: int
    size: int
    cycles: int
    jump: int


def instructions(listing: str, core: Core) -> list[Instruction]:
    """Parse the disassembly of a program by objdump."""
    found = []
    for match in _LINE.finditer(listing):
        size = len(match[2].split()) * 2
        cycles, jump = cost(match[3].partition(".")[0], match[4] or "", core)
        found.append(Instruction(int(match[1], 16), size, cycles, jump))
    return found


def cost(name: str, operands: str, core: Core) -> tuple[int, int]:
    """Return the cycles of an instruction, and its additional cycles if it jumps."""
    small = core == "cortex-m0"
    if re.match("push|pop|ldm|stm", name):
        return 1 + registers(operands), 3 if small else _REFILL
    if re.match("ldrd|strd", name):
        return 3, 0
    if re.match("ldr|str", name):
        return (2 if small or name.startswith("ldr") else 1), 0 if small else _REFILL
    if name in {"tbb", "tbh"}:
        return 2, _REFILL
    if small:
        slow = name in {"mrs", "msr", "dsb", "dmb", "isb"}
        return (4 if slow else 1), 3 if name == "bl" else 2
    return next((_LONG[long] for long in _LONG if name.startswith(long)), 1), _REFILL


def registers(operands: str) -> int:
    """Return the number of registers in a list such as `{r4, r5-r7, lr}`."""
    inside = operands.partition("{")[2].partition("}")[0]
    count = 0
    for part in inside.split(","):
        first, _, last = part.strip().partition("-")
        count += int(last[1:]) - int(first[1:]) + 1 if last else bool(first)
    return count


# --------------------------------------------------------------------------------------------------
# ARM Cortex-M0 and M3 in QEMU: all executed instructions, and a model of their cycles.
# --------------------------------------------------------------------------------------------------


MACHINES: dict[Core, str] = {"cortex-m0": "microbit", "cortex-m3": "mps2-an385"}
CALL_BYTES = 4  # bytes of a call instruction
ONE_BY_ONE = 9  # from this version on, QEMU has `one-insn-per-tb` in place of `singlestep`
PREFIX = "arm-none-eabi-"
_ARM_BOARD = """\
#include <stdint.h>
#define PLACED
#define READ *
extern uint32_t end_of_memory, start_of_data, end_of_data, data_in_flash, end_of_zeros;
#define TOP ((volatile uint16_t *)(stack() & ~1U))
#define FLOOR ((volatile uint16_t *)&end_of_zeros > TOP - 2048 ? \\
    (volatile uint16_t *)&end_of_zeros : TOP - 2048)
#define START
#define BEGIN __asm__ volatile("" ::: "memory");
#define END __asm__ volatile("" ::: "memory");
#define TAKEN 0U
#define EMPTY 0U
#define FINISH
int main(void);
void _init(void);
void _init(void) { }
static inline uintptr_t stack(void)
{
    uintptr_t place;
    __asm__ volatile("mov %0, sp" : "=r"(place));
    return place;
}
static int host(int number, const void *about)
{
    register int first __asm__("r0") = number;
    register const void *second __asm__("r1") = about;
    __asm__ volatile("bkpt 0xab" : "+r"(first) : "r"(second) : "memory");
    return first;
}
static void say(char letter)
{
    host(3, &letter);
}
void reset(void);
void reset(void)
{
    uint32_t *to = &start_of_data;
    const uint32_t *from = &data_in_flash;
    while (to < &end_of_data)
        *to++ = *from++;
    while (to < &end_of_zeros)
        *to++ = 0;
    main();
    host(0x18, (const void *)0x20026);
    for (;;)
        ;
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    &end_of_memory, (const void *)reset,
};
"""
_LINKER = """\
ENTRY(reset)
MEMORY {
    FLASH (rx) : ORIGIN = 0, LENGTH = 256K
    RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 16K
}
end_of_memory = ORIGIN(RAM) + LENGTH(RAM);
SECTIONS {
    .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) . = ALIGN(4); } > FLASH
    .ARM.exidx : { *(.ARM.exidx*) } > FLASH
    data_in_flash = LOADADDR(.data);
    .data : { start_of_data = .; *(.data*) . = ALIGN(4); end_of_data = .; } > RAM AT > FLASH
    .bss (NOLOAD) : { *(.bss*) *(COMMON) . = ALIGN(4); end_of_zeros = .; } > RAM
}
"""


def measure_arm(
    design: BoardDesign, folder: Path, deadline: float, optimised: str, core: Core
) -> CallCost:
    """Build a design and run it in the emulator."""
    compiler = [f"{PREFIX}gcc", f"-mcpu={core}", "-mthumb", "-std=gnu99", optimised]
    rows = design.with_a_wrong_row()
    objects = compiled(compiler, rows, main_text(rows, _ARM_BOARD), folder, deadline)
    write_text(folder / "board.ld", _LINKER, durable=False)
    linked = [*compiler, "-nostartfiles", "-T", "board.ld", "-Wl,--no-warn-rwx-segments"]
    run([*linked, "-o", "run.elf", *objects, "-lm"], folder, deadline)
    wrong, _, _, stack = parsed_result(emulate(core, folder, deadline), rows)
    listing = run([f"{PREFIX}objdump", "-d", "run.elf"], folder, deadline).decode()
    count, cycles = counted_calls(
        addresses((folder / "trace.txt").read_bytes()), instructions(listing, core),
        place_of(design.function, listing), len(rows.rows),
    )  # fmt: skip
    flash, static = sizes(f"{PREFIX}size", objects[:-1], folder, deadline)
    calls = len(design.rows)
    return CallCost(
        float(cycles[:calls].mean()), float(count[:calls].mean()), None, flash, static, stack, wrong
    )


def emulate(core: Core, folder: Path, deadline: float) -> bytes:
    """Run a program in single steps and write its trace to the folder."""
    tool = "qemu-system-arm"
    version = re.search(rb"version (\d+)", run([tool, "--version"], folder, deadline))
    newer = version is not None and int(version[1]) >= ONE_BY_ONE
    one_by_one = ["-accel", "tcg,one-insn-per-tb=on"] if newer else ["-singlestep"]
    command = [
        tool, "-M", MACHINES[core], *one_by_one, "-nodefaults", "-display", "none",
        "-semihosting-config", "enable=on,target=native", "-kernel", "run.elf",
        "-d", "exec,nochain", "-D", "trace.txt",
    ]  # fmt: skip
    return run(command, folder, deadline)


def addresses(trace: bytes) -> Addresses:
    """Return the addresses of all instructions executed, in order."""
    digits = b"".join(re.findall(rb"/([0-9a-f]{8})/", trace))
    return np.frombuffer(bytes.fromhex(digits.decode()), ">u4").astype(np.uint32)


def place_of(function: str, listing: str) -> int:
    """Return the address of a function."""
    found = re.search(rf"^([0-9a-f]+) <{function}>:$", listing, re.MULTILINE)
    if found is None:
        raise DataError(f"{function} is not in the program")
    return int(found[1], 16)


def counted_calls(
    trace: Addresses, known: list[Instruction], entry: int, calls: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the instructions and cycles of every call, including the call and the return."""
    table = np.array(known, dtype=np.int64)
    order = np.searchsorted(table[:, 0], trace)
    order = np.minimum(order, len(table) - 1)
    if not np.array_equal(table[order, 0], trace):
        raise DataError("an instruction was executed that is not in the program's listing")
    _, size, cycles, jump = table[order].T
    moved = np.append(trace[1:].astype(np.int64) != trace[:-1] + size[:-1], [False])
    total = np.concatenate([[0], np.cumsum(cycles + jump * moved)])
    starts, ends = _calls(trace, entry)
    if len(starts) != calls:
        raise DataError(f"{len(starts)} calls were traced, not {calls}")
    return ends - starts, total[ends] - total[starts]


def _calls(trace: Addresses, entry: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the trace positions of calls and of their returns.

    A jump to the entry from within the function is not a call.
    """
    starts: list[int] = []
    ends: list[int] = []
    back: dict[int, NDArray[np.int64]] = {}
    for start in (np.flatnonzero(trace == entry) - 1).tolist():
        if ends and start < ends[-1]:
            continue
        to = int(trace[start]) + CALL_BYTES
        if to not in back:
            back[to] = np.flatnonzero(trace == to)
        after = back[to][back[to] > start]
        starts.append(start)
        ends.append(int(after[0]) if len(after) else len(trace) - 1)
    return np.array(starts, np.int64), np.array(ends, np.int64)


def _board(core: Core, about: str) -> BoardMachine:
    tools = ("arm-none-eabi-gcc", "arm-none-eabi-objdump", "arm-none-eabi-size", "qemu-system-arm")
    packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
    return BoardMachine(core, about, tools, packages, partial(measure_arm, core=core), "cycles")


M0 = _board("cortex-m0", "ARM Cortex-M0, 32 bits (QEMU: exact instructions, modelled cycles)")
M3 = _board("cortex-m3", "ARM Cortex-M3, 32 bits (QEMU: exact instructions, modelled cycles)")


# --------------------------------------------------------------------------------------------------
# An 8-bit AVR: an ATmega1284P in simavr, whose cycles are exact.
#
# A timer at full speed counts the lowest 16 bits of the cycles, another one at a 256th of the
# speed the others. The overhead of the timers is measured by a call of an empty function.
# --------------------------------------------------------------------------------------------------


MACHINE = "atmega1284p"
CALL_CYCLES = 8  # cycles of a call and a return
_READ = {
    "uint8_t": "pgm_read_byte", "uint16_t": "pgm_read_word", "int16_t": "(int16_t)pgm_read_word",
    "uint32_t": "pgm_read_dword", "float": "pgm_read_float",
}  # fmt: skip
_AVR_BOARD = """\
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <avr/sleep.h>
#include <stdint.h>
#define PLACED PROGMEM
#define READ @READ@
#define TOP ((volatile uint16_t *)(SP + 1)) /* SP is the next byte that is free */
#define FLOOR (TOP - 2048)
#define START uint32_t taken, empty; UCSR0B = 1 << TXEN0; TCCR1B = 1; TCCR3B = 4; \\
    BEGIN nothing(); END empty = TAKEN;
#define BEGIN TCNT3 = 0; TCNT1 = 0; __asm__ volatile("" ::: "memory");
#define END __asm__ volatile("" ::: "memory"); taken = joined(TCNT1, TCNT3);
#define TAKEN taken
#define EMPTY empty
#define FINISH cli(); sleep_mode();
static void __attribute__((noinline)) nothing(void) { __asm__ volatile(""); }
static inline uint32_t joined(uint16_t fine, uint16_t coarse)
{
    const uint16_t high = (uint16_t)((((uint32_t)coarse << 8) - fine + 0x8000UL) >> 16);
    return ((uint32_t)high << 16) + fine;
}
static void say(char letter)
{
    while (!(UCSR0A & (1 << UDRE0)))
        ;
    UDR0 = letter;
}
"""


def measure_avr(design: BoardDesign, folder: Path, deadline: float, optimised: str) -> CallCost:
    """Build a design and run it in the simulator."""
    compiler = ["avr-gcc", f"-mmcu={MACHINE}", "-std=c99", optimised]
    rows = design.with_a_wrong_row()
    main = main_text(rows, _AVR_BOARD.replace("@READ@", _READ[design.element]))
    objects = compiled(compiler, rows, main, folder, deadline)
    run([*compiler, "-o", "run.elf", *objects, "-lm"], folder, deadline)
    simulated = ["simavr", "-m", MACHINE, "-f", "16000000", "run.elf"]
    wrong, cycles, empty, stack = parsed_result(run(simulated, folder, deadline), rows)
    flash, static = sizes("avr-size", objects[:-1], folder, deadline)
    calls = len(design.rows)
    return CallCost(cycles / calls - empty + CALL_CYCLES, None, None, flash, static, stack, wrong)


AVR = BoardMachine(
    "avr", "ATmega1284P, 8 bits (simavr: exact cycles)", ("avr-gcc", "avr-size", "simavr"),
    "gcc-avr avr-libc simavr", measure_avr, "cycles",
)  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The machine that boolcomp runs on: nanoseconds by the clock, instructions by callgrind.
#
# Callgrind supports vector instructions up to AVX2: the program that it counts is compiled for any
# x86-64.
# --------------------------------------------------------------------------------------------------


_HOST_BOARD = """\
#include <stdint.h>
#include <stdio.h>
#define PLACED
#define READ *
#define FLOOR 0
#define TOP 0
#define START
#define BEGIN
#define END
#define TAKEN 0U
#define EMPTY 0U
#define FINISH
#define say(letter) putchar(letter)
"""
ROUNDS, CALLS = 9, 200_000
_TIMED = """\
#define _POSIX_C_SOURCE 199309L
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "@NAME@.h"
static const @ELEMENT@ rows[@COUNT@][@WIDTH@] = {@ROWS@};
static @NAME@_inputs given[@COUNT@];
static @NAME@_outputs made[@COUNT@];
int main(void)
{
    double least = 1e30;
    int k, round;
    for (k = 0; k < @COUNT@; k++) {
@LOAD@
    }
    for (round = 0; round < @ROUNDS@; round++) {
        struct timespec from, to;
        double taken;
        int turn;
        clock_gettime(CLOCK_MONOTONIC, &from);
        for (turn = 0; turn < @TURNS@; turn++)
            for (k = 0; k < @COUNT@; k++)
                @NAME@(&given[k], &made[k]);
        clock_gettime(CLOCK_MONOTONIC, &to);
        taken = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
        if (taken < least)
            least = taken;
    }
    printf("%.3f ns", least / ((double)@TURNS@ * @COUNT@));
    return 0;
}
"""


def measure_host(design: BoardDesign, folder: Path, deadline: float, optimised: str) -> CallCost:
    """Build a design, check it, time it, and count its instructions."""
    plain = ["gcc", "-std=c99", optimised]
    rows = design.with_a_wrong_row()
    objects = compiled(plain, rows, main_text(rows, _HOST_BOARD), folder, deadline)
    run([*plain, "-o", "run", *objects, "-lm"], folder, deadline)
    wrong, *_ = parsed_result(run([str(folder / "run")], folder, deadline), rows)
    flash, static = sizes("size", objects[:-1], folder, deadline)
    instructions = counted_instructions(design, len(rows.rows), folder, deadline)
    return CallCost(
        None, instructions, timed(design, folder, deadline, optimised), flash, static, None, wrong
    )


def counted_instructions(
    design: BoardDesign, calls: int, folder: Path, deadline: float
) -> float | None:
    """Return the instructions of a call by callgrind, or None if that is not installed."""
    if shutil.which("valgrind") is None:
        return None
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=counts.txt"]
    found = run([*tool, f"--toggle-collect={design.function}", "./run"], folder, deadline)
    count = re.search(rb"Collected : (\d+)", found)
    if count is None:
        raise DataError("callgrind printed no count", where=design.name)
    return int(count[1]) / calls


def timed(design: BoardDesign, folder: Path, deadline: float, optimised: str) -> float:
    """Return the nanoseconds of a call, the minimum of several rounds."""
    compiler = ["gcc", "-std=c99", optimised, "-march=native"]
    gaps = {
        "NAME": design.function, "ELEMENT": design.element, "COUNT": str(len(design.rows)),
        "WIDTH": str(len(design.rows[0])), "ROUNDS": str(ROUNDS),
        "TURNS": str(-(-CALLS // len(design.rows))),
        "ROWS": ", ".join(f"{{{', '.join(map(repr, row))}}}" for row in design.rows),
        "LOAD": "\n".join(
            f"        given[k].{name} = rows[k][{j}];" for j, name in enumerate(design.given)
        ),
    }  # fmt: skip
    text = _filled(_TIMED, gaps)
    write_text(folder / "timed.c", text, durable=False)
    objects = compiled(compiler, design, text, folder, deadline)
    run([*compiler, "-o", "timed", *objects, "-lm"], folder, deadline)
    found = re.search(rb"([0-9.]+) ns", run([str(folder / "timed")], folder, deadline))
    if found is None:
        raise DataError("no time was printed", where=design.name)
    return float(found[1])


HOST = BoardMachine("host", "this machine (clock; callgrind: instructions)", ("gcc", "size"),
             "gcc binutils libc6-dev valgrind", measure_host, "nanoseconds")  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Outputs of a design for many words, computed on this machine.
# --------------------------------------------------------------------------------------------------


_HOST_MAIN = """\
#include <stdint.h>
#include <stdio.h>
#include "@NAME@.h"
int main(void)
{
    int32_t row[@WIDTH@], result[@COUNT@];
    FILE *from = fopen("given.bin", "rb"), *to = fopen("made.bin", "wb");
    if (!from || !to)
        return 1;
    while (fread(row, sizeof row, 1, from) == 1) {
        @NAME@_inputs given;
        @NAME@_outputs made;
@GIVEN@
        @NAME@(&given, &made);
@MADE@
        fwrite(result, sizeof result, 1, to);
    }
    return fclose(to) != 0;
}
"""


def outputs_of(design: BoardDesign, words: NDArray[np.int64], deadline: float) -> NDArray[np.int64]:
    """Return the words of all outputs, (samples, outputs); the design's element is an integer."""
    gaps = {
        "NAME": design.function, "WIDTH": str(len(design.given)), "COUNT": str(len(design.made)),
        "GIVEN": "\n".join(
            f"        given.{name} = ({design.element})row[{k}];"
            for k, name in enumerate(design.given)
        ),
        "MADE": "\n".join(
            f"        result[{k}] = made.{name};" for k, name in enumerate(design.made)
        ),
    }  # fmt: skip
    text = _filled(_HOST_MAIN, gaps)
    compiler = ["gcc", "-std=c99", OPTIMISED[0]]
    with temporary_folder() as folder:
        objects = compiled(compiler, design, text, folder, deadline)
        run([*compiler, "-o", "run", *objects, "-lm"], folder, deadline)
        write_bytes(folder / "given.bin", words.astype(np.int32).tobytes())
        run([str(folder / "run")], folder, deadline)
        made = np.frombuffer((folder / "made.bin").read_bytes(), np.int32)
    return made.reshape(len(words), -1).astype(np.int64)


# --------------------------------------------------------------------------------------------------
# The subject of a measurement: a program, its payload, and its problem if known.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Subject:
    """A program with a payload, its problem, and the number and seed of random states.

    `robot` includes the payload; it is None for other problems. `own` are the program's rms errors
    in LSB, if known.
    """

    program: Program
    payload: float
    problem: Problem | None = None
    robot: Robot | None = None
    states: int = 100
    seed: int = 14
    own: Row | None = None

    @property
    def load(self) -> Load:
        return self.program.load(self.payload)

    @property
    def steps(self) -> tuple[float, ...]:
        return tuple(output.code.step for output in self.load.outputs)


# --------------------------------------------------------------------------------------------------
# The words of a program, in C, as a design.
# --------------------------------------------------------------------------------------------------


WORDS_NAME = "words"
JUDGED = 200_000  # states for the rms error


def words_design(subject: Subject) -> BoardDesign:
    """Return a program's words in C with seeded rows; expected outputs are those of its logic.

    Without a problem the rms errors are those stored in the program.
    """
    program = subject.program
    ((function, load),) = loads_of(program, subject.payload)
    procedure = c_procedure(program, load)
    given = tuple(x.parameter for x in procedure.inputs)
    made = tuple(x.result for x in procedure.outputs)
    files = {name: str(text) for name, text in export_texts(program, "c", subject.payload).items()}
    codes = [*(word.code for word in program.inputs), *(word.code for word in load.outputs)]
    widest = max(code.bits for code in codes)
    words = drawn(program, subject.states, subject.seed)
    rows = np.column_stack([words, logic(program, load, words)]).tolist()
    return BoardDesign(
        WORDS_NAME, function, files, given, made, "uint16_t" if widest <= 16 else "uint32_t",
        tuple(map(tuple, rows)), (), rms(subject),
    )  # fmt: skip


def drawn(program: Program, count: int, seed: int) -> NDArray[np.int64]:
    """Return seeded words of all inputs, (samples, inputs)."""
    bits = np.array([word.code.bits for word in program.inputs])
    rng = np.random.default_rng(seed)
    return rng.integers(0, 1 << bits, (count, len(bits)), dtype=np.int64)


def logic(program: Program, load: Load, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the words of all outputs by the program's logic."""
    columns = {word.name: words[:, k] for k, word in enumerate(program.inputs)}
    none = np.zeros(len(words), np.int64)
    arrays = [
        np.stack([columns.get(name, none) for name in group.members], axis=1)
        for group in program.groups
    ]
    found = program.evaluate_words(*arrays, payload=load.payload, engine="numpy")
    return found.words.astype(np.int64)


def rms(subject: Subject) -> Row | None:
    """Return the rms errors of all outputs in LSB, or None if unknown."""
    problem, outputs = subject.problem, subject.load.outputs
    if problem is None:
        known = [output.errors for output in outputs]
        if any(errors is None for errors in known):
            return None
        pairs = zip(known, subject.steps, strict=True)
        return tuple(errors.rms / step for errors, step in pairs if errors is not None)
    states = problem.draw(JUDGED, subject.seed)
    found = subject.program.evaluate(*states, payload=subject.payload).values
    return in_steps(found - problem.reference(*states), subject.steps)


def in_steps(errors: NDArray[np.float64], steps: Sequence[float]) -> Row:
    return tuple(float(x) for x in np.sqrt((errors**2).mean(axis=0)) / np.array(steps))


# --------------------------------------------------------------------------------------------------
# Rows of results, and their text.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CyclesRow:
    """The mean cost of one design on one target, or the reason why it was skipped.

    `cycles` are exact on an AVR, and modelled on a Cortex; `rms` are errors of the outputs in LSB
    of the program's words; unknown figures are None.
    """

    target: str
    design: str
    cycles: float | None = None
    instructions: float | None = None
    ns: float | None = None
    flash: int | None = None
    ram: int | None = None
    rms: Row | None = None
    option: str = ""
    wrong: int = 0
    skipped: str = ""


def results(rows: Sequence[CyclesRow]) -> Results:
    """Return rows as columns of JSON and text.

    `times` compares a row with the first measured design of its target, in cycles if known, else in
    nanoseconds.
    """
    first = {row.target: row for row in reversed(rows) if not row.skipped}
    columns = (
        ResultColumn("target", "target", left=True),
        ResultColumn("design", "design", left=True),
        ResultColumn("cycles", "cycles", text=".0f"),
        ResultColumn("instructions", "instructions", text=".0f"),
        ResultColumn("ns", "ns", text=".1f"),
        ResultColumn("", "times", lambda row: _times(row, first[row.target]), ".2f"),
        ResultColumn("flash", "flash", text=".0f"),
        ResultColumn("ram", "ram", text=".0f"),
        ResultColumn("rms"),
        ResultColumn("option", "option", left=True),
        ResultColumn(
            "", "rms/LSB", "rms", lambda rms: " ".join(f"{x:.3f}" for x in rms), left=True
        ),
        ResultColumn("", "largest rms", lambda row: row.rms and max(row.rms), ".3f"),
        ResultColumn("wrong"),
        ResultColumn("skipped"),
    )
    return Results(columns, rows)


BRIEF = "target, design, cycles, ns, times, flash, ram, rms/LSB=largest rms"


def text_report(rows: Sequence[CyclesRow], *, brief: bool = False) -> str:
    """Return a table, and a line for each row that was skipped."""
    measured = [row for row in rows if not row.skipped]
    found = results(measured)
    lines = [(found.brief(BRIEF) if brief else found).text()] if measured else []
    seen = dict.fromkeys(_skipped(row) for row in rows if row.skipped)
    return "\n".join([*lines, *seen])


def _skipped(row: CyclesRow) -> str:
    name = ", ".join(part for part in (row.target, row.design) if part)
    return f"{name}: skipped: {row.skipped}"


def _times(row: CyclesRow, base: CyclesRow) -> float | None:
    pairs = ((row.cycles, base.cycles), (row.ns, base.ns))
    return next((one / other for one, other in pairs if one and other), None)


# --------------------------------------------------------------------------------------------------
# All designs of a program on all requested boards.
# --------------------------------------------------------------------------------------------------


BOARDS = {board.name: board for board in (AVR, M0, M3, HOST)}


def boards(names: Sequence[str]) -> list[BoardMachine]:
    """Return boards by name."""
    for name in names:
        require_name("target", name, BOARDS)
    return [BOARDS[name] for name in dict.fromkeys(names)]


def cycles_rows(
    subject: Subject,
    targets: Sequence[BoardMachine],
    progress: Callable[[str], None] = lambda _: None,
    deadline: float = DEADLINE,
    *,
    rivalled: bool = True,
) -> list[CyclesRow]:
    """Return a row for every board and design; rows that cannot be measured have a reason."""
    missing = {board.name: board.missing() for board in targets}
    rows = [CyclesRow(name, "", skipped=why) for name, why in missing.items() if why]
    here = [board for board in targets if not missing[board.name]]
    if not here:
        return rows
    progress("words")
    found: list[BoardDesign] = [words_design(subject)]
    judged = replace(subject, own=found[0].rms)
    for name, made in rivals("designs").designs(judged, deadline, progress) if rivalled else ():
        if isinstance(made, BoardDesign):
            found.append(made)
        else:
            rows.append(CyclesRow("", name, skipped=made))
    measured = []
    for board in here:
        for design in found:
            progress(f"{board.name}: {design.name}")
            measured.append(_row(board, design, deadline))
    return [*measured, *rows]


def _row(board: BoardMachine, design: BoardDesign, deadline: float) -> CyclesRow:
    found, option = fastest(board, design, deadline)
    return CyclesRow(
        board.name, design.name, found.cycles, found.instructions, found.nanoseconds,
        found.flash, found.ram, design.rms, option, found.wrong,
    )  # fmt: skip
