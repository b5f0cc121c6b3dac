"""Time saved by stored LUT mappings and cell counts: commands run twice, first without a cache.

    python benchmarks/mappings.py                          # the PUMA 560 at 8 bits
    python benchmarks/mappings.py out/2r --commands export  # a program that was saved

`--commands area` also places and routes, which takes minutes.
Both runs must write the same bytes. Seconds are of the wall and of the processor.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import boolcomp
from boolcomp.base.errors import table

COMMANDS = {
    "export": ["export", "PROGRAM", "--to", "verilog", "--luts", "6", "-o", "-"],
    "cells": ["area", "PROGRAM", "--on", "ice40", "--seeds", "0"],
    "area": ["area", "PROGRAM", "--on", "ice40"],
    "lut4": ["area", "PROGRAM", "--on", "lut4"],
}
HEADER = ["command", "first s", "CPU s", "second s", "CPU s", "first / second"]


def timed(words: list[str]) -> tuple[bytes, float, float]:
    """Return the output of a command, and its seconds of the wall and of the processor."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "boolcomp", *words]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return printed, seconds, used


def main() -> None:
    """Print a row for every command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--commands", default="export,lut4,cells")
    asked = parser.parse_args()
    rows = []
    with TemporaryDirectory() as folder:
        program = asked.program or str(Path(folder) / "puma")
        if asked.program is None:
            boolcomp.compile("puma560", bits=8, rms_error=0.505).save(program)
        os.environ["XDG_CACHE_HOME"] = folder
        for name in asked.commands.split(","):
            words = [program if word == "PROGRAM" else word for word in COMMANDS[name]]
            (first, *a), (second, *b) = timed(words), timed(words)
            if first != second:
                raise SystemExit(f"{name}: the second run printed other bytes")
            rows.append([name, *(f"{one:.2f}" for one in (*a, *b)), f"{a[0] / b[0]:.0f}"])
    print(table(HEADER, rows, (0,)))


if __name__ == "__main__":
    main()
