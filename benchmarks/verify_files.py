"""Seconds that `boolcomp verify PROGRAM --file` takes for exported files, and for changed ones.

    python benchmarks/verify_files.py            # the 2R and the PUMA 560 at 8 bits
    python benchmarks/verify_files.py --quick    # the 2R

Every exported file must hold. In a changed file one bit of the last output is inverted where an
input bit is 1; it must be refused with a difference.
"""

from __future__ import annotations

import argparse
import os
import re
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import boolcomp
from boolcomp.base.errors import table
from boolcomp.measure.verify_file import file_checked
from boolcomp.targets import ExportOptions, export_texts

if TYPE_CHECKING:
    from boolcomp.targets.target import Level

PROGRAMS = {"machado-2r": 10.0, "puma560": 60.0}  # seconds that are allowed
CASES: list[tuple[str, Level, int, int]] = [
    ("verilog", "gates", 0, 0), ("verilog", "gates", 8, 0), ("verilog", "gates", 0, 6),
    ("verilog", "words", 0, 0), ("verilog", "words", 8, 0), ("vhdl", "gates", 0, 0),
    ("blif", "gates", 0, 6), ("aiger", "gates", 0, 0),
]  # fmt: skip
HEADER = ["program", "file", "method", "s", "CPU s", "allowed s", "changed: s", "verdict"]


def checked(program: boolcomp.Program, path: Path) -> list[str]:
    """Return method, verdict, and seconds of the wall and of the processor with child processes."""
    start, used = time.perf_counter(), sum(os.times()[:4])
    found = file_checked(program, None, path, None, 600.0)
    seconds, used = time.perf_counter() - start, sum(os.times()[:4]) - used
    verdict = {True: "holds", False: "differs", None: "undecided"}[found.holds]
    return [found.method, verdict, f"{seconds:.1f}", f"{used:.1f}"]


def main() -> None:
    """Print a row for every file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    rows = []
    for name, allowed in list(PROGRAMS.items())[: 1 if quick else None]:
        program = boolcomp.compile(name, bits=8, rms_error=0.505 if name == "puma560" else None)
        for target, level, stages, luts in CASES if name == "machado-2r" else CASES[:3]:
            given = ExportOptions(level, stages, luts=luts)
            ((file, content),) = export_texts(program, target, None, given).items()
            with TemporaryDirectory() as folder:
                path = Path(folder) / file
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                method, verdict, seconds, used = checked(program, path)
                if verdict != "holds":
                    raise SystemExit(f"{name}, {given}: {verdict}")
                row = [name, f"{path.suffix} {level} {stages or ''} {luts or ''}", method, seconds,
                       used, f"{allowed:g}"]  # fmt: skip
                if target == "verilog":
                    last = rf"assign {program.outputs[-1].name} = (.*?);"
                    new = rf"assign {program.outputs[-1].name} = (\1) ^ q1[0];"
                    text, count = re.subn(last, new, str(content))
                    if count != 1:
                        raise SystemExit(f"{name}, {given}: no last output")
                    path.write_text(text)
                    _, verdict, seconds, _ = checked(program, path)
                    row += [seconds, verdict]
                    if verdict != "differs":
                        raise SystemExit(f"{name}, {given}: the changed file {verdict}")
                rows.append([*row, "", ""][: len(HEADER)])
                print(rows[-1], flush=True)
    print(table(HEADER, rows, (0, 1, 2)))


if __name__ == "__main__":
    main()
