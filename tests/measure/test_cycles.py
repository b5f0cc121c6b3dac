"""What programs take on boards: counts that are known beforehand, and words that are wrong."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from exports import kept

from boolcomp.base.errors import DataError
from boolcomp.measure import cycles as boards
from boolcomp.measure.cycles import BOARDS, BoardDesign, Subject, declared, words_design


def needs(name: str) -> pytest.MarkDecorator:
    missing = [tool for tool in BOARDS[name].tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


EVERY = [pytest.param(name, marks=needs(name)) for name in BOARDS]


def measure(name: str, design: BoardDesign, folder: Path) -> Any:
    return BOARDS[name].measure(design, folder, 100.0, "-O2")


COUNTDOWN = {
    "avr": '"1: sbiw %0, 1\\n\\tbrne 1b" : "+w"(k)',
    "cortex-m0": '".syntax unified\\n1: subs %0, #1\\n\\tbne 1b" : "+l"(k) : : "cc"',
    "cortex-m3": '".syntax unified\\n1: subs %0, #1\\n\\tbne 1b" : "+l"(k) : : "cc"',
}


def countdown(name: str, turns: int) -> BoardDesign:
    """Return a design that counts down in assembly."""
    body = (
        f'#include "loop.h"\nvoid loop(const loop_inputs *given, loop_outputs *made)\n{{\n'
        f"    uint16_t k = given->turns;\n    __asm__ volatile({COUNTDOWN[name]});\n"
        f"    made->done = given->turns;\n}}\n"
    )
    files = {"loop.h": declared("loop", "uint16_t", ("turns",), ("done",)), "loop.c": body}
    return BoardDesign("loop", "loop", files, ("turns",), ("done",), "uint16_t", ((turns, turns),))


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in COUNTDOWN])
def test_a_turn_of_a_loop_takes_four_cycles(name: str, tmp_path: Path) -> None:
    """As the data sheets say: AVR sbiw 2, brne 2; M0 subs 1, bne 3; M3 the same.

    The longer one is beyond what a timer of 16 bits counts.
    """
    few, more = (measure(name, countdown(name, turns), tmp_path) for turns in (10, 60010))
    assert few.stack == {"avr": 2}.get(name, 0)  # an AVR keeps the place to return to there
    assert few.cycles is not None
    assert more.cycles is not None
    assert more.cycles - few.cycles == 4 * 60000
    if few.instructions is not None and more.instructions is not None:
        assert more.instructions - few.instructions == 2 * 60000


@pytest.mark.check
@pytest.mark.parametrize("name", EVERY)
def test_every_board_finds_the_words_that_are_wrong(name: str, tmp_path: Path) -> None:
    design = words_design(Subject(kept("export-formats"), 0.0, states=20))
    assert measure(name, design, tmp_path).wrong == 0
    rows = list(design.rows)
    for place in (3, 7):
        rows[place] = (*rows[place][:-1], int(rows[place][-1]) ^ 2)
    assert measure(name, replace(design, rows=tuple(rows)), tmp_path).wrong == 2


def test_a_program_that_compares_nothing_is_not_believed() -> None:
    design = words_design(Subject(kept("export-formats"), 0.0, states=5)).with_a_wrong_row()
    assert boards.parsed_result(b"... 1 5 900 12 34 .", design) == (0, 900, 12, 34)
    assert boards.parsed_result(b"3 5 900 12 34 .", design)[0] == 2
    for printed in (b"0 0 900 12 34 .", b"1 4 900 12 34 ."):
        with pytest.raises(DataError, match="missed a word that is wrong on purpose"):
            boards.parsed_result(printed, design)
    with pytest.raises(DataError, match="printed no result: stuck"):
        boards.parsed_result(b"stuck", design)


LISTING = """\
00000010 <f>:
  10:	4b02      	ldr	r3, [pc, #8]	@ (1c <f+0xc>)
  12:	4340      	muls	r0, r0
  14:	b5f0      	push	{r4, r5, r6, r7, lr}
  16:	d1fb      	bne.n	10 <f>
  18:	bdf0      	pop	{r4-r7, pc}
  1a:	4770      	bx	lr

00000020 <main>:
  20:	f7ff fff6 	bl	10 <f>
  24:	46c0      	nop			@ (mov r8, r8)
"""


def test_a_call_is_counted_from_the_calling_instruction_to_the_one_after_it() -> None:
    trace = np.array([0x20, *(0x10, 0x12, 0x14, 0x16) * 2, 0x18, 0x24], np.uint32)
    known = boards.instructions(LISTING, "cortex-m0")
    count, cycles = boards.counted_calls(trace, known, boards.place_of("f", LISTING), 1)
    # bl 4; ldr 2, muls 1, push 1 + 5, a branch taken 3 and one not taken 1; pop 1 + 5 and 3
    assert count.tolist() == [10]
    assert cycles.tolist() == [4 + 2 * (2 + 1 + 6) + 3 + 1 + 9]


@pytest.mark.parametrize(
    ("name", "operands", "small", "large"),
    [
        ("adds", "r0, r1", (1, 2), (1, 2)),
        ("ldrb", "r0, [r1, #0]", (2, 0), (2, 2)),
        ("strh", "r0, [r1, #0]", (2, 0), (1, 2)),
        ("ldmia", "r0!, {r1, r2, r3}", (4, 3), (4, 2)),
        ("umull", "r0, r1, r2, r3", (1, 2), (4, 2)),
        ("mla", "r0, r1, r2, r3", (1, 2), (2, 2)),
        ("bl", "10 <f>", (1, 3), (1, 2)),
    ],
)
def test_instructions_take_what_the_reference_manuals_say(
    name: str, operands: str, small: tuple[int, int], large: tuple[int, int]
) -> None:
    assert boards.cost(name, operands, "cortex-m0") == small
    assert boards.cost(name, operands, "cortex-m3") == large


def test_a_board_whose_tools_are_missing_is_named_with_what_installs_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept("export-formats").save("two")
    monkeypatch.setenv("PATH", "")
    found = run("cycles", "two", "--on", "cortex-m0,avr")
    assert found.code == 1
    assert "nothing was measured: all designs were skipped (two)\n" in found.err
    assert "avr: skipped: avr-gcc, avr-size, simavr are not installed" in found.out
    assert "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm" in found.out
    document = json.loads(run("cycles", "two", "--on", "host", "--json").out)
    assert document["rows"][0]["skipped"].startswith("gcc, size are not installed: apt-get ")
