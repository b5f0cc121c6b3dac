"""An 8-bit AVR: an ATmega1284P in simavr, whose cycles are exact.

A timer at full speed has the lowest 16 bits of the cycles, another one at a 256th of it the rest.
An empty function is called in the same way; what its call takes more than a call and a return is
the timers' own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.measure.cycles.board import Board, compiled, run, sizes, told
from boolcomp.measure.cycles.design import Design, Measured
from boolcomp.measure.cycles.mainfile import main_text

if TYPE_CHECKING:
    from pathlib import Path

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
