"""The machine that boolcomp runs on: nanoseconds by the clock, instructions by callgrind.

Callgrind knows no newer vector instructions than AVX2: what it counts is compiled for any x86-64.
"""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

from boolcomp.base.files import write_text
from boolcomp.common.errors import DataError
from boolcomp.measure.cycles.board import Board, compiled, run, sizes, told
from boolcomp.measure.cycles.design import Design, Measured
from boolcomp.measure.cycles.mainfile import main_text

if TYPE_CHECKING:
    from pathlib import Path

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
