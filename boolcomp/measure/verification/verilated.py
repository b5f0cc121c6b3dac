"""A million words through Verilog, compiled by Verilator, beside what an engine makes of them.

One word of the outputs is wrong on purpose, and has to be found. Flags of saturation are counted:
engines give their number.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.files import temporary_folder, write_bytes, write_text
from boolcomp.base.processes import run_program
from boolcomp.measure.verify import Check
from boolcomp.targets import Options, export_texts
from boolcomp.targets.gates import gates_of
from boolcomp.targets.target import design_of
from boolcomp.targets.verilog import VERILOG_SYNTAX

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.program.program import Program
    from boolcomp.targets import Level
    from boolcomp.targets.gates import Framed

    Rows = NDArray[np.uint32]

SIMULATED, SIMULATION_SEED = 1_000_000, 1988
SOUND = "-fno-const-bit-op-tree"  # else some versions get trees of XOR wrong (issues 4059, 5186)
METHOD = "Verilator, compiled"
_MAIN = """\
#include <cstdint>
#include <cstdio>
#include <vector>
#include "V{module}.h"

int main() {{
    V{module} top;
    std::vector<uint32_t> row({columns});
    std::FILE *file = std::fopen("vectors.bin", "rb");
    unsigned long long rows = 0, differ = 0, last = 0, flags = 0;
    if (!file) return 1;
    while (std::fread(row.data(), 4, row.size(), file) == row.size()) {{
{given}
        top.eval();
        if ({wrong}) {{ differ++; last = rows; }}
        flags += {flags};
        rows++;
    }}
    std::printf("%llu %llu %llu %llu\\n", rows, differ, last, flags);
    top.final();
    return 0;
}}
"""


def verilated(
    program: Program, load: float | None, deadline: float, level: Level = "gates",
    count: int = SIMULATED,
) -> Check:  # fmt: skip
    """Run seeded words through a program's Verilog, and compare with the program's engine."""
    name = "verilog words" if level == "words" else "verilog"
    if shutil.which("verilator") is None:
        return Check(name, METHOD, note="verilator was not found on PATH", skipped=True)
    if not (shutil.which("g++") and shutil.which("make")):
        return Check(name, METHOD, note="g++ or make was not found on PATH", skipped=True)
    start = time.perf_counter()
    frame = gates_of(design_of(program, load), VERILOG_SYNTAX, 0)  # its ports are those of words
    (text,) = export_texts(program, "verilog", load, Options(level)).values()
    check = _run(frame, str(text), rows_of(program, load, frame, count), deadline, start)
    return replace(check, name=name)


def rows_of(program: Program, load: float | None, gates: Framed, count: int) -> tuple[Rows, int]:
    """Return a row of words for every sample, inputs then outputs; and how many saturated."""
    rng = np.random.default_rng(SIMULATION_SEED)
    loads = program.loads if load is None else (program.load(load),)
    words = [pin for pin in gates.outputs if not pin.port.flag]
    rows = np.zeros((count, len(gates.inputs) + len(words)), np.uint32)
    saturated = 0
    for place, part in enumerate(np.array_split(np.arange(count), len(loads))):
        block = rows[part[0] : part[-1] + 1] if len(part) else rows[:0]
        given = {
            one.name: rng.integers(0, one.code.cells, len(block), np.uint32)
            for one in program.inputs
        }
        for k, column in enumerate(given.values()):
            block[:, k] = column
        if len(loads) > 1:
            block[:, len(given)] = place
        none = np.zeros(len(block), np.uint32)
        arrays = [
            np.stack([given.get(name, none) for name in group.members], axis=1)
            for group in program.groups
        ]
        found = program.evaluate_words(*arrays, payload=loads[place].payload)
        block[:, len(gates.inputs) :] = found.words.reshape(len(block), -1)
        saturated += found.saturated_outputs
    return rows, saturated


def _run(
    gates: Framed, text: str, vectors: tuple[Rows, int], deadline: float, start: float
) -> Check:
    rows, saturated = vectors
    wrong = len(rows) // 3
    rows[wrong, -1] ^= 1
    files = [f"{gates.module}.v", "main.cpp"]
    build = ["--cc", "--exe", "--build", "-Wall", SOUND, "--top-module", gates.module, *files]
    with temporary_folder() as folder:
        write_text(folder / files[0], text, durable=False)
        write_text(folder / files[1], _harness(gates), durable=False)
        write_bytes(folder / "vectors.bin", rows.tobytes())
        verilator = shutil.which("verilator") or "verilator"
        built = run_program([verilator, *build], deadline, folder=folder)
        model = Path("obj_dir") / f"V{gates.module}"
        if built.code or not (folder / model).is_file():
            note = built.printed.decode("utf-8", "replace").strip()[-200:] or "it took too long"
            return Check("", METHOD, 0, time.perf_counter() - start, None, note)
        ended = run_program([str(folder / model)], deadline, folder=folder)
    said = ended.printed.decode("ascii", "replace").split()
    holds = said == [str(len(rows)), "1", str(wrong), str(saturated)]
    note = "one of them wrong on purpose, and found so" if holds else " ".join(said)[:200]
    return Check("", METHOD, len(rows), time.perf_counter() - start, holds, note)


def _harness(gates: Framed) -> str:
    """Return a main program that reads rows, and prints how many differ, and which was last."""
    given = [f"        top.{pin.name} = row[{k}];" for k, pin in enumerate(gates.inputs)]
    flags = [p.name for p in gates.outputs if p.port.flag]
    words = [p.name for p in gates.outputs if p.name not in flags]
    first = len(gates.inputs)
    return _MAIN.format(
        module=gates.module,
        columns=first + len(words),
        given="\n".join(given),
        wrong=" || ".join(f"top.{name} != row[{first + k}]" for k, name in enumerate(words)),
        flags=" + ".join(["0", *(f"top.{name}" for name in flags)]),
    )
