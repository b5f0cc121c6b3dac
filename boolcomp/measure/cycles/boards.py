"""ARM Cortex-M0 and M3 in QEMU: every instruction that is executed, and a model of its cycles.

QEMU writes the address of each instruction. What counts lies between the instruction that calls a
design's function and the one after it.
"""

from __future__ import annotations

import math
import re
import shutil
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from boolcomp.base.errors import DataError
from boolcomp.base.files import temporary_folder, write_bytes, write_text
from boolcomp.base.processes import run_program

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Addresses = NDArray[np.uint32]


# --------------------------------------------------------------------------------------------------
# Boards: what builds and runs designs, and what it needs.
# --------------------------------------------------------------------------------------------------


TRIED = 10  # rows on which options are tried
DEADLINE = 120.0  # seconds that a compiler or a simulator may take
OPTIMISED = ("-O2", "-Os", "-O1")  # what an engineer tries; the fastest counts
TOLD = re.compile(rb"(\d+) (\d+) (\d+) (\d+) (\d+) \.")


@dataclass(frozen=True, slots=True)
class Board:
    """A machine: what it is, the tools that it takes, the packages of Debian that have them.

    `measure(design, folder, deadline, optimised)` builds and runs a design in a folder; `timed` is
    what of its result is to be small.
    """

    name: str
    about: str
    tools: tuple[str, ...]
    packages: str
    measure: Callable[[Design, Path, float, str], Measured]
    timed: str

    def missing(self) -> str:
        """Return what is not installed, as a sentence; nothing where all is there."""
        lacks = [tool for tool in self.tools if shutil.which(tool) is None]
        if not lacks:
            return ""
        need = "is" if len(lacks) == 1 else "are"
        return f"{', '.join(lacks)} {need} not installed: apt-get install {self.packages}"


def fastest(board: Board, design: Design, deadline: float) -> tuple[Measured, str]:
    """Return what a design takes with the best of compilers' usual options, and that option.

    The options are tried on a few rows. What is mostly a library's gains nothing by them.
    """
    tried = OPTIMISED if design.element != "float" else OPTIMISED[:1]
    best = tried[0]
    if len(tried) > 1:
        few = design.first(TRIED)
        best = min(tried, key=lambda option: _taken(board, few, deadline, option))
    with temporary_folder() as folder:
        return board.measure(design, folder, deadline, best), best


def _taken(board: Board, design: Design, deadline: float, option: str) -> float:
    with temporary_folder() as folder:
        found = getattr(board.measure(design, folder, deadline, option), board.timed)
    return math.inf if found is None else float(found)


def run(command: Sequence[str], folder: Path, deadline: float) -> bytes:
    """Run a tool in a folder, and return what it prints; a `DataError` where it fails."""
    path = shutil.which(command[0])
    if path is None:
        raise DataError(f"{command[0]} is not installed")
    ended = run_program([path, *command[1:]], deadline, folder=folder)
    if ended.code is None:
        raise DataError(f"{command[0]} did not finish in {deadline:g} s")
    if ended.code:
        said = ended.printed.decode("utf-8", "replace").strip()[-400:]
        raise DataError(f"{command[0]} failed: {said}")
    return ended.printed


def compiled(
    compiler: Sequence[str], design: Design, main: str, folder: Path, deadline: float
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


def told(printed: bytes, design: Design) -> tuple[int, int, int, int]:
    """Return the wrong rows, the sum of all cycles, those of an empty call, the deepest stack.

    One row more than the design's own is wrong on purpose, the last. A simulator that does not
    find that compares nothing.
    """
    found = TOLD.search(printed)
    if found is None:
        said = printed.decode("utf-8", "replace").strip()[-200:]
        raise DataError(f"{design.name}: the simulator printed no result: {said or 'nothing'}")
    wrong, last, cycles, empty, deepest = (int(number) for number in found.groups())
    if not wrong or last != len(design.rows) - 1:
        raise DataError(f"{design.name}: a word that is wrong on purpose was not found")
    return wrong - 1, cycles, empty, deepest


# --------------------------------------------------------------------------------------------------
# A design: a function in C, what it is given, and what it must make of it.
# --------------------------------------------------------------------------------------------------


Element = Literal["uint8_t", "uint16_t", "uint32_t", "int16_t", "float"]
Row: TypeAlias = tuple[float, ...]  # what is given, then what must be made of it


@dataclass(frozen=True, slots=True)
class Design:
    """C files of one function, and rows of what it is given and must make.

    `function(const function_inputs *, function_outputs *)` is declared in `function.h`; its structs
    have the fields `given` and `made`, all of them read and written as `element`s. What is made
    must be within `tolerance` of the rows. `rms` are errors in last bits of the outputs' words.
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
        """The files that are compiled."""
        return tuple(name for name in self.files if name.endswith(".c"))

    def first(self, rows: int) -> Design:
        """Return the design with the first rows alone."""
        return replace(self, rows=self.rows[:rows])

    def with_a_wrong_row(self) -> Design:
        """Return the design with one more row, the first again with a last word that is wrong.

        Whoever compares must find it, and no other.
        """
        *most, last = self.rows[0]
        least = 4 * max(self.tolerance, default=0.0)
        return replace(self, rows=(*self.rows, (*most, wrong(last, least, self.element))))


def wrong(value: float, least: float, element: Element) -> float:
    """Return another value: the lowest bit of a word changed, a number moved."""
    return value + max(least, 1.0) if element == "float" else int(value) ^ 1


@dataclass(frozen=True, slots=True)
class Measured:
    """What one call of a design's function takes, in the mean of all rows.

    Bytes of `flash` and of static memory are the design's own, without what is linked from
    libraries; `stack` is the deepest that calls were found to reach. `wrong` are the rows that were
    not what they must be. What a board does not tell is None.
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
        """Bytes of static memory and stack."""
        return None if self.stack is None else self.static + self.stack


def declared(function: str, element: Element, given: Sequence[str], made: Sequence[str]) -> str:
    """Return the header of a function of structs of one type."""
    inputs = "".join(f" {element} {name};" for name in given)
    outputs = "".join(f" {element} {name};" for name in made)
    return (
        f"#ifndef {function.upper()}_H\n#define {function.upper()}_H\n#include <stdint.h>\n"
        f"typedef struct {{{inputs} }} {function}_inputs;\n"
        f"typedef struct {{{outputs} }} {function}_outputs;\n"
        f"void {function}(const {function}_inputs *given, {function}_outputs *made);\n#endif\n"
    )


# --------------------------------------------------------------------------------------------------
# The main program in C around a design: rows in flash, calls, what differs, what is told.
#
# What boards have of their own stands before it: PLACED and READ (tables in flash), say, BEGIN and
# END (about the call that is measured), FLOOR and TOP (the ends of what the stack may use).
# --------------------------------------------------------------------------------------------------


PAINTED = 4  # calls before which the stack is painted
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


def main_text(design: Design, board: str) -> str:
    """Return the main program; the last row is not among the calls whose cycles are added."""
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
    text = _MAIN
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    return text


def differs(design: Design, wanted: str) -> str:
    """Return the condition in C that anything made is not what it must be."""
    parts = []
    for k, name in enumerate(design.made):
        right = wanted.format(len(design.given) + k)
        if design.tolerance:
            most = literal(design.tolerance[k])
            parts.append(f"!(made.{name} - {right} <= {most} && {right} - made.{name} <= {most})")
        else:
            parts.append(f"made.{name} != {right}")
    return " || ".join(parts)


def literal(value: float) -> str:
    """Return a number in C."""
    if isinstance(value, int):
        return f"{value}U" if value > 0x7FFF else str(value)
    return f"{value!r}f"


# --------------------------------------------------------------------------------------------------
# What instructions of Cortex-M cores take: models stated here, from ARM's reference manuals.
#
# Memory without wait states is assumed. Cortex-M0: a load or store takes 2 cycles, several
# registers 1 + n, a branch that is taken 3, a call 4, a multiplication 1 (there are cores where it
# takes 32), all else 1. Cortex-M3: a load takes 2 cycles, a store 1, several registers 1 + n, a
# jump refills the pipeline in 2 (it takes 1 to 3), a long multiplication 4 (3 to 5), with addition
# 5, a division 7 (2 to 12), a multiplication with addition 2, all else 1.
# --------------------------------------------------------------------------------------------------


Core = Literal["cortex-m0", "cortex-m3"]
_LINE = re.compile(
    r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{4} ?){1,2})\s*\t(\S+)(?:\t(.*))?$", re.MULTILINE
)
_LONG = {"umull": 4, "smull": 4, "umlal": 5, "smlal": 5, "mla": 2, "mls": 2, "udiv": 7, "sdiv": 7}
_REFILL = 2  # cycles of a jump on the M3


class Instruction(NamedTuple):
    """An instruction: where it is, its bytes, its cycles, and how many more where it jumps."""

    address: int
    size: int
    cycles: int
    jump: int


def instructions(listing: str, core: Core) -> list[Instruction]:
    """Read what objdump prints of a program."""
    found = []
    for match in _LINE.finditer(listing):
        size = len(match[2].split()) * 2
        cycles, jump = cost(match[3].partition(".")[0], match[4] or "", core)
        found.append(Instruction(int(match[1], 16), size, cycles, jump))
    return found


def cost(name: str, operands: str, core: Core) -> tuple[int, int]:
    """Return the cycles of an instruction, and how many more it takes where it jumps."""
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
    """Return how many registers a list such as `{r4, r5-r7, lr}` names."""
    inside = operands.partition("{")[2].partition("}")[0]
    count = 0
    for part in inside.split(","):
        first, _, last = part.strip().partition("-")
        count += int(last[1:]) - int(first[1:]) + 1 if last else bool(first)
    return count


# --------------------------------------------------------------------------------------------------
# ARM Cortex-M0 and M3 in QEMU: every instruction that is executed, and a model of its cycles.
# --------------------------------------------------------------------------------------------------


MACHINES: dict[Core, str] = {"cortex-m0": "microbit", "cortex-m3": "mps2-an385"}
MOST_TRACE = 2_000_000_000  # bytes
CALL_BYTES = 4  # bytes of the instruction that calls
ONE_BY_ONE = 9  # the version of QEMU that has `one-insn-per-tb` in place of `singlestep`
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
    design: Design, folder: Path, deadline: float, optimised: str, core: Core
) -> Measured:
    """Build a design and run it in the emulator."""
    compiler = [f"{PREFIX}gcc", f"-mcpu={core}", "-mthumb", "-std=gnu99", optimised]
    rows = design.with_a_wrong_row()
    objects = compiled(compiler, rows, main_text(rows, _ARM_BOARD), folder, deadline)
    write_text(folder / "board.ld", _LINKER, durable=False)
    linked = [*compiler, "-nostartfiles", "-T", "board.ld", "-Wl,--no-warn-rwx-segments"]
    run([*linked, "-o", "run.elf", *objects, "-lm"], folder, deadline)
    wrong, _, _, stack = told(emulate(core, folder, deadline), rows)
    listing = run([f"{PREFIX}objdump", "-d", "run.elf"], folder, deadline).decode()
    count, cycles = counted_calls(
        addresses((folder / "trace.txt").read_bytes()), instructions(listing, core),
        place_of(design.function, listing), len(rows.rows),
    )  # fmt: skip
    flash, static = sizes(f"{PREFIX}size", objects[:-1], folder, deadline)
    calls = len(design.rows)
    return Measured(
        float(cycles[:calls].mean()), float(count[:calls].mean()), None, flash, static, stack, wrong
    )


def emulate(core: Core, folder: Path, deadline: float) -> bytes:
    """Run a program, an instruction at a time; the trace is left in the folder."""
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
    """Return the instructions and the cycles of every call, from calling to having returned."""
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
    """Return the places of calling instructions, and of those that are returned to.

    A loop within the function may jump to its entry: that is no call.
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


def _board(core: Core, about: str) -> Board:
    tools = ("arm-none-eabi-gcc", "arm-none-eabi-objdump", "arm-none-eabi-size", "qemu-system-arm")
    packages = "gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm"
    return Board(core, about, tools, packages, partial(measure_arm, core=core), "cycles")


M0 = _board("cortex-m0", "ARM Cortex-M0, 32 bits (QEMU: exact instructions, modelled cycles)")
M3 = _board("cortex-m3", "ARM Cortex-M3, 32 bits (QEMU: exact instructions, modelled cycles)")


# --------------------------------------------------------------------------------------------------
# An 8-bit AVR: an ATmega1284P in simavr, whose cycles are exact.
#
# A timer at full speed has the lowest 16 bits of the cycles, another one at a 256th of it the rest.
# An empty function is called in the same way; what its call takes more than a call and a return is
# the timers' own.
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


def measure_avr(design: Design, folder: Path, deadline: float, optimised: str) -> Measured:
    """Build a design and run it in the simulator."""
    compiler = ["avr-gcc", f"-mmcu={MACHINE}", "-std=c99", optimised]
    rows = design.with_a_wrong_row()
    main = main_text(rows, _AVR_BOARD.replace("@READ@", _READ[design.element]))
    objects = compiled(compiler, rows, main, folder, deadline)
    run([*compiler, "-o", "run.elf", *objects, "-lm"], folder, deadline)
    simulated = ["simavr", "-m", MACHINE, "-f", "16000000", "run.elf"]
    wrong, cycles, empty, stack = told(run(simulated, folder, deadline), rows)
    flash, static = sizes("avr-size", objects[:-1], folder, deadline)
    calls = len(design.rows)
    return Measured(cycles / calls - empty + CALL_CYCLES, None, None, flash, static, stack, wrong)


AVR = Board(
    "avr", "ATmega1284P, 8 bits (simavr: exact cycles)", ("avr-gcc", "avr-size", "simavr"),
    "gcc-avr avr-libc simavr", measure_avr, "cycles",
)  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The machine that boolcomp runs on: nanoseconds by the clock, instructions by callgrind.
#
# Callgrind knows no newer vector instructions than AVX2: what it counts is compiled for any x86-64.
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


def measure_host(design: Design, folder: Path, deadline: float, optimised: str) -> Measured:
    """Build a design, check it, time it, and count its instructions."""
    plain = ["gcc", "-std=c99", optimised]
    rows = design.with_a_wrong_row()
    objects = compiled(plain, rows, main_text(rows, _HOST_BOARD), folder, deadline)
    run([*plain, "-o", "run", *objects, "-lm"], folder, deadline)
    wrong, *_ = told(run([str(folder / "run")], folder, deadline), rows)
    flash, static = sizes("size", objects[:-1], folder, deadline)
    instructions = counted_instructions(design, len(rows.rows), folder, deadline)
    return Measured(
        None, instructions, timed(design, folder, deadline, optimised), flash, static, None, wrong
    )


def counted_instructions(design: Design, calls: int, folder: Path, deadline: float) -> float | None:
    """Return the instructions of a call, by callgrind; None where that is not installed."""
    if shutil.which("valgrind") is None:
        return None
    tool = ["valgrind", "--tool=callgrind", "--callgrind-out-file=counts.txt"]
    found = run([*tool, f"--toggle-collect={design.function}", "./run"], folder, deadline)
    count = re.search(rb"Collected : (\d+)", found)
    if count is None:
        raise DataError(f"{design.name}: callgrind printed no count")
    return int(count[1]) / calls


def timed(design: Design, folder: Path, deadline: float, optimised: str) -> float:
    """Return the nanoseconds of a call, the least of some rounds."""
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
    text = _TIMED
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    write_text(folder / "timed.c", text, durable=False)
    objects = compiled(compiler, design, text, folder, deadline)
    run([*compiler, "-o", "timed", *objects, "-lm"], folder, deadline)
    found = re.search(rb"([0-9.]+) ns", run([str(folder / "timed")], folder, deadline))
    if found is None:
        raise DataError(f"{design.name}: no time was printed")
    return float(found[1])


HOST = Board("host", "this machine (clock; callgrind: instructions)", ("gcc", "size"),
             "gcc binutils libc6-dev valgrind", measure_host, "nanoseconds")  # fmt: skip


# --------------------------------------------------------------------------------------------------
# What a design makes of many words, run on this machine: C is the same everywhere.
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


def outputs_of(design: Design, words: NDArray[np.int64], deadline: float) -> NDArray[np.int64]:
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
    text = _HOST_MAIN
    for name, part in gaps.items():
        text = text.replace(f"@{name}@", part)
    compiler = ["gcc", "-std=c99", OPTIMISED[0]]
    with temporary_folder() as folder:
        objects = compiled(compiler, design, text, folder, deadline)
        run([*compiler, "-o", "run", *objects, "-lm"], folder, deadline)
        write_bytes(folder / "given.bin", words.astype(np.int32).tobytes())
        run([str(folder / "run")], folder, deadline)
        made = np.frombuffer((folder / "made.bin").read_bytes(), np.int32)
    return made.reshape(len(words), -1).astype(np.int64)
