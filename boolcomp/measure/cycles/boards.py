"""ARM Cortex-M0 and M3 in QEMU: every instruction that is executed, and a model of its cycles.

QEMU writes the address of each instruction. What counts lies between the instruction that calls a
design's function and the one after it.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.files import write_text
from boolcomp.common.errors import DataError
from boolcomp.measure.cycles.board import Board, compiled, run, sizes, told
from boolcomp.measure.cycles.design import Design, Measured
from boolcomp.measure.cycles.mainfile import main_text
from boolcomp.measure.cycles.thumb import instructions

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.measure.cycles.thumb import Core, Instruction

    Addresses = NDArray[np.uint32]

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
