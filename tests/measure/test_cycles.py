"""What programs take on boards: counts that are known beforehand, and words that are wrong."""

import json
import math
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from exports import kept

import boolcomp
from boolcomp.base.errors import DataError
from boolcomp.measure import bench
from boolcomp.measure import cycles as boards
from boolcomp.measure.cycles import BOARDS, BoardDesign, Subject, declared, words_design
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of


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
    assert "nothing was measured: all designs were skipped (two)" in found.err
    text = " ".join(found.out.split())
    assert "avr: skipped: avr-gcc, avr-size, simavr are not installed" in text
    assert "apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm" in text
    document = json.loads(run("cycles", "two", "--on", "host", "--json").out)
    assert document["rows"][0]["skipped"].startswith("gcc, size are not installed: apt-get ")


needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")


@cache
def two_link() -> Subject:
    """Return the paper's arm as it ships."""
    robot = load_robot("machado-2r")
    program = boolcomp.compile("machado-2r", bits=8)
    return Subject(program, 0.0, problem_of(robot), robot, states=30, own=(0.43, 0.58))


def torques(row: np.ndarray) -> tuple[float, float]:
    """Return the paper's torques from its own formula."""
    q1, q2, u, v, r1, r2 = row
    mass, turn = 4 + 5 * math.cos(q2), 5 * math.sin(q2)
    weight = 49 * math.cos(q1 + q2)
    one = mass * (2 * r1 + r2) + 7.75 * r1 + turn * (u * u - (u + v) ** 2)
    return (
        one + 66.15 * math.cos(q1) + weight,
        mass * r1 + 9 * r2 + turn * u * u + weight,
    )


@needs_gcc
@pytest.mark.slow
def test_two_joints_by_hand_err_no_more_than_half_a_last_bit() -> None:
    design = bench.rivals("designs").hand_design(two_link(), load_robot("machado-2r"), 60.0)
    assert isinstance(design, BoardDesign)
    assert design.rms is not None
    assert design.rms[0] < 0.43
    assert design.rms[1] < 0.519
    errors = []
    for row in np.array(design.rows):
        state = [*(row[:2] * 2 * math.pi / 65536), *(row[2:4] / 63), *(row[4:6] / 42)]
        wanted = torques(np.array(state))
        made = [-200 + (row[6] + 0.5) * 400 / 256, -100 + (row[7] + 0.5) * 200 / 256]
        errors.append([(made[0] - wanted[0]) / 1.5625, (made[1] - wanted[1]) / 0.78125])
    assert np.abs(errors).max() < 2
    assert (
        np.sqrt((np.array(errors) ** 2).mean()) > 0.2
    )  # words were rounded, and not the wish read


@needs_gcc
@pytest.mark.check
def test_the_command_prints_a_row_a_design(warm_run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.measure.cycles.OPTIMISED", ("-O2",))
    boolcomp.compile("machado-2r", bits=8).save("2r")
    found = warm_run("cycles", "2r", "--on", "host", "--states", "20", "--json")
    assert found.code == 0
    rows = json.loads(found.out)["rows"]
    assert [row["design"] for row in rows] == [
        "words", "float, Newton-Euler", "fixed point, Newton-Euler", "fixed point by hand",
    ]  # fmt: skip
    assert all(0.2 < rms < 0.6 for row in rows[2:] for rms in row["rms"])
    keys = {"target", "design", "cycles", "instructions", "ns", "flash", "ram", "rms", "option",
            "wrong", "skipped"}  # fmt: skip
    assert all(set(row) == keys and row["wrong"] == 0 and row["ns"] > 0 for row in rows)
