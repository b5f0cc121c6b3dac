"""Cycles and flash of a program in C on an 8-bit AVR, simulated, beside Newton-Euler in float.

    python benchmarks/cycles.py                       # 2R, elbow-3r, PUMA 560 at 8 bits
    python benchmarks/cycles.py out/2r                # programs that were saved
    python benchmarks/cycles.py --target mcu8         # searched for without effort: minutes

Needs `apt-get install gcc-avr avr-libc simavr`. Cycles are exact: an ATmega1284P in simavr, a timer
at full speed, the mean over random states, call and structs included; built with -O2. Every output
is compared with what the logic gives. Float is the method with fewest operations, regrouped, the
robot's constants folded, float states in and out, with the sines of avr-libc.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np

import boolcomp
from boolcomp.measure.bench.straight import record
from boolcomp.problem.expressions.rules import SYMBOLS
from boolcomp.problem.robot import load_robot
from boolcomp.targets import export

if TYPE_CHECKING:
    from boolcomp.problem.robot import Robot
    from boolcomp.program.program import Program

SHIPPED = ("machado-2r", "elbow-3r", "puma560")
RMS = {"machado-2r": (0.43, 0.58)}  # of the others .505
MACHINE = "atmega1284p"
SAMPLES, SEED = 100, 14
MAIN = """\
#include <avr/io.h>
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/pgmspace.h>
#include <stdint.h>
HEAD
static void say(char letter)
{
    while (!(UCSR0A & (1 << UDRE0)))
        ;
    UDR0 = letter;
}
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
    uint16_t k, wrong = 0;
    uint32_t cycles = 0;
    UCSR0B = 1 << TXEN0;
    TCCR1B = 1;
    for (k = 0; k < SAMPLES; k++) {
LOAD
        uint16_t high = 0, low;
        TCNT1 = 0;
        TIFR1 = 1 << TOV1;
CALL
        low = TCNT1;
        if (TIFR1 & (1 << TOV1))
            high = 1;
        cycles += ((uint32_t)high << 16) + low;
CHECK
    }
    tell(wrong);
    tell(cycles);
    say('.');
    say('\\n');
    cli();
    sleep_mode();
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What one design costs."""

    design: str
    cycles: float
    flash: int
    wrong: int


def measured(folder: Path, design: str, parts: dict[str, str], sources: list[str]) -> Row:
    """Build and simulate; `parts` fill the gaps of the main program."""
    text = MAIN
    for name, part in parts.items():
        text = text.replace(name, part)
    (folder / "main.c").write_text(text.replace("SAMPLES", str(SAMPLES)))
    flags = [f"-mmcu={MACHINE}", "-std=c99", "-O2", "-I", str(folder)]
    flash = 0
    objects = []
    for source in [*sources, "main.c"]:
        made = folder / f"{source}.o"
        subprocess.run(["avr-gcc", *flags, "-c", "-o", made, folder / source], check=True)  # noqa: S607
        objects.append(made)
        if source != "main.c":
            flash += size(made)
    run = folder / "run.elf"
    subprocess.run(["avr-gcc", *flags, "-o", run, *objects, "-lm"], check=True)  # noqa: S607
    found = subprocess.run(
        ["simavr", "-m", MACHINE, "-f", "16000000", run],  # noqa: S607
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    said = re.search(r"(\d+) (\d+) \.", found.stdout + found.stderr)
    if said is None:
        raise SystemExit(found.stdout + found.stderr)
    return Row(design, int(said[2]) / SAMPLES, flash, int(said[1]))


def size(path: Path) -> int:
    """Return the bytes of code and constants; of what is linked from libraries nothing."""
    found = subprocess.run(["avr-size", path], capture_output=True, text=True, check=True)  # noqa: S607
    text, data, *_ = found.stdout.splitlines()[1].split()
    return int(text) + int(data)


def words_row(program: Program) -> Row:
    """Measure a program's words."""
    rng = np.random.default_rng(SEED)
    bits = [word.code.bits for word in program.inputs]
    words = rng.integers(0, 1 << np.array(bits), (SAMPLES, len(bits)), dtype=np.int64)
    columns = {word.name: words[:, k] for k, word in enumerate(program.inputs)}
    zeros = np.zeros(SAMPLES, np.int64)
    arrays = [
        np.stack([columns.get(name, zeros) for name in group.members], axis=1)
        for group in program.groups
    ]
    made = program.evaluate_words(*arrays, engine="numpy").words
    files = export(program, "c")
    name = next(file for file in files if file.endswith(".h")).removesuffix(".h")
    fields = re.findall(r"^    uint\d+_t (\w+);", str(files[f"{name}.h"]), re.MULTILINE)
    rows = np.column_stack([words, made]).tolist()
    table = ",".join("{" + ",".join(map(str, row)) + "}" for row in rows)
    read = "pgm_read_word(&rows[k][{}])"
    given = "".join(f"given.{f} = {read.format(k)};" for k, f in enumerate(fields[: len(bits)]))
    differs = " || ".join(
        f"made.{f} != {read.format(k)}" for k, f in enumerate(fields) if k >= len(bits)
    )
    parts = {
        "HEAD": f'#include "{name}.h"\n'
        f"static const uint16_t rows[SAMPLES][{len(fields)}] PROGMEM = {{{table}}};",
        "LOAD": f"{name}_inputs given; {name}_outputs made; {given}",
        "CALL": f"{name}(&given, &made);",
        "CHECK": f"if ({differs}) wrong++;",
    }
    with TemporaryDirectory() as folder:
        for file, content in files.items():
            (Path(folder) / file).write_text(str(content))
        return measured(Path(folder), "words, exact", parts, [f"{name}.c"])


def float_row(robot: Robot) -> Row:
    """Measure Newton-Euler in float."""
    program = record(robot, lean=True)
    names = [f"in[{k}]" for k in range(len(program.inputs))]
    lines = []
    for place, node in enumerate(program.nodes[len(names) :], len(names)):
        operands = [names[k] for k in node.operands]
        if node.kind == "constant":
            names.append(f"{node.value!r}f" if "." in repr(node.value) else f"{node.value}")
            continue
        if node.kind in SYMBOLS:
            text = f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
        else:
            text = f"-{operands[0]}" if node.kind == "neg" else f"{node.kind}({operands[0]})"
        lines.append(f"const float v{place} = {text};")
        names.append(f"v{place}")
    lines += [f"out[{k}] = {names[o.node]};" for k, o in enumerate(program.outputs)]
    source = ["#include <math.h>", "void torques(const float *in, float *out)", "{", *lines, "}"]
    inputs, outputs = len(program.inputs), len(program.outputs)
    parts = {
        "HEAD": "void torques(const float *in, float *out);",
        "LOAD": f"float in[{inputs}], out[{outputs}]; uint8_t j;"
        f"for (j = 0; j < {inputs}; j++) in[j] = (float)(k * 37 % 100 + j) * 0.03f - 1.5f;",
        "CALL": "torques(in, out);", "CHECK": "",
    }  # fmt: skip
    with TemporaryDirectory() as folder:
        (Path(folder) / "torques.c").write_text("\n".join([*source, ""]))
        return measured(Path(folder), "Newton-Euler, float", parts, ["torques.c"])


def main() -> None:
    """Print a row a design."""
    print(f"{'program':14} {'design':22} {'cycles':>9} {'flash':>7}  wrong")
    chosen = sys.argv[1] == "--target" if sys.argv[1:] else False
    for name in sys.argv[3 if chosen else 1 :] or SHIPPED:
        saved = Path(name).is_dir()
        if chosen:
            rms, target = RMS.get(name, 0.505), cast("Any", sys.argv[2])
            program = boolcomp.compile(name, bits=8, rms_error=rms, target=target, effort=0)
        else:
            program = boolcomp.load_program(name) if saved else boolcomp.compile(name, bits=8)
        rows = [words_row(program)]
        if not saved:
            rows.append(float_row(load_robot(name)))
        for row in rows:
            print(f"{name:14} {row.design:22} {row.cycles:9.0f} {row.flash:7}  {row.wrong}")


if __name__ == "__main__":
    main()
