"""What tests of exports in languages share: programs, their words, and what exports give."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.logic import Planes
from boolcomp.program import Program

Words = NDArray[np.int64]

KEPT = Path(__file__).parent / "programs"
SEED = 14


@cache
def kept(name: str) -> Program:
    """Return a program that is kept among the tests."""
    files: dict[str, str] = json.loads((KEPT / f"{name}.json").read_text())["files"]
    with TemporaryDirectory() as folder:
        for file, text in files.items():
            path = Path(folder) / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return bc.load_program(folder)


def words_of(program: Program, count: int, seed: int = SEED) -> Words:
    """Return input words, (samples, inputs): random ones, then corners of all words."""
    rng = np.random.default_rng(seed)
    bits = np.array([word.code.bits for word in program.inputs])
    drawn = rng.integers(0, 1 << bits, (count, len(bits)), dtype=np.int64)
    ends = np.stack([0 * bits, (1 << bits) - 1, (1 << bits >> 1) - 1, 1 << bits >> 1])
    rows = 4 ** len(bits) if len(bits) <= 5 else 1024
    corners = ends[rng.integers(0, 4, (rows, len(bits))), np.arange(len(bits))]
    if len(bits) <= 5:
        every = np.indices((4,) * len(bits)).reshape(len(bits), -1).T
        corners = ends[every, np.arange(len(bits))]
    return np.concatenate([drawn, corners])


def expected(program: Program, words: Words, load: float | None = None) -> Words:
    """Return the words of the outputs as engines make them, and a bit for each that saturated."""
    payload = program.load(load).payload
    columns = {word.name: words[:, k] for k, word in enumerate(program.inputs)}
    zeros = np.zeros(len(words), np.int64)
    arrays = [
        np.stack([columns.get(name, zeros) for name in group.members], axis=1)
        for group in program.groups
    ]
    found = program.evaluate_words(*arrays, payload=payload, engine="numpy")
    planes = []
    for column, word in zip(words.T, program.inputs, strict=True):
        planes += [packed(column >> k & 1) for k in reversed(range(word.code.bits))]
    ones = np.full(-(-len(words) // 64), (1 << 64) - 1, np.uint64)
    outputs = program.network(payload).fold(Planes(ones), planes)
    saturated, place = zeros.copy(), -1
    for k, output in enumerate(program.load(load).outputs):
        place += output.code.bits + 1
        flags = np.unpackbits(outputs[place].view(np.uint8), count=len(words), bitorder="little")
        saturated |= flags.astype(np.int64) << k
    return np.column_stack([found.words.astype(np.int64), saturated])


def packed(bits: Words) -> NDArray[np.uint64]:
    """Return bits as 64-bit words, the first lowest."""
    padded = np.zeros(-(-len(bits) // 64) * 64, np.uint8)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view(np.uint64)


def run_python(text: str, words: Words) -> Words:
    """Return what the one function of a Python text gives."""
    space: dict[str, Any] = {}
    exec(compile(text, "export", "exec"), space)  # noqa: S102 (our own text)
    name = re.findall(r"^def (\w+)\(", text, re.MULTILINE)[-1]
    return np.array([space[name](*row) for row in words.tolist()], dtype=np.int64)


def run_javascript(text: str, words: Words, folder: Path) -> Words:
    """Return what a module gives in Node."""
    name = re.findall(r"export function (\w+)\(", text)[-1]
    (folder / "export.mjs").write_text(text)
    (folder / "run.mjs").write_text(
        f'import {{ {name} }} from "./export.mjs";\n'
        'import { readFileSync } from "node:fs";\n'
        'const rows = JSON.parse(readFileSync(0, "utf8"));\n'
        f"console.log(JSON.stringify(rows.map((row) => {name}(...row))));\n"
    )
    found = subprocess.run(
        ["node", str(folder / "run.mjs")],  # noqa: S607 (as users start it)
        input=json.dumps(words.tolist()), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return np.array(json.loads(found.stdout), dtype=np.int64)


def build(command: list[str]) -> None:
    """Run a compiler; what it says is shown where it fails."""
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


C_FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"]
C_MAIN = """\
#include <stdio.h>
#include "NAME.h"
int main(void)
{
    static uint32_t row[INPUTS];
    while (fread(row, sizeof row[0], INPUTS, stdin) == INPUTS) {
        NAME_inputs given;
        NAME_outputs made;
        uint32_t result[OUTPUTS + 1];
GIVEN
        result[OUTPUTS] = NAME(&given, &made);
MADE
        fwrite(result, sizeof result[0], OUTPUTS + 1, stdout);
    }
    return 0;
}
"""


def run_c(
    files: dict[str, Any], words: Words, folder: Path, compiler: str = "gcc", *more: str
) -> Words:
    """Return what the C files of one program give, built with all warnings as errors."""
    for file, content in files.items():
        (folder / file).write_text(content)
    name = next(file for file in files if file.endswith(".h")).removesuffix(".h")
    fields = re.findall(r"^    uint\d+_t (\w+);", files[f"{name}.h"], re.MULTILINE)
    count = words.shape[1]
    given = "\n".join(f"        given.{f} = row[{k}];" for k, f in enumerate(fields[:count]))
    made = "\n".join(f"        result[{k}] = made.{f};" for k, f in enumerate(fields[count:]))
    text = C_MAIN.replace("GIVEN", given).replace("MADE", made).replace("NAME", name)
    text = text.replace("INPUTS", str(count)).replace("OUTPUTS", str(len(fields) - count))
    (folder / "main.c").write_text(text)
    sources = [str(folder / "main.c"), str(folder / f"{name}.c")]
    build([compiler, *C_FLAGS, *more, "-o", str(folder / "run"), *sources])
    raw = words.astype("<u4").tobytes()
    found = subprocess.run([str(folder / "run")], input=raw, capture_output=True, check=True)
    assert not found.stderr, found.stderr.decode()
    return np.frombuffer(found.stdout, "<u4").reshape(len(words), -1).astype(np.int64)


SLICED_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
#include "NAME_sliced.h"
static int16_t given[INPUTS][COUNT], made[OUTPUTS][COUNT];
int main(void)
{
    const int16_t *in[INPUTS];
    int16_t *out[OUTPUTS];
    size_t k;
    for (k = 0; k < INPUTS; k++)
        in[k] = given[k];
    for (k = 0; k < OUTPUTS; k++)
        out[k] = made[k];
    if (fread(given, sizeof given, 1, stdin) != 1)
        return 1;
    NAME_samples(in, out, COUNT);
    fwrite(made, sizeof made, 1, stdout);
    return 0;
}
"""


def run_sliced(files: dict[str, Any], words: Words, folder: Path, *more: str) -> Words:
    """Return what bit-sliced C files of one program give."""
    for file, content in files.items():
        (folder / file).write_text(content)
    name = next(file for file in files if file.endswith("_sliced.h")).removesuffix("_sliced.h")
    outputs = int(re.findall(r"int16_t \*const made\[(\d+)\]", files[f"{name}_sliced.h"])[0])
    text = SLICED_MAIN.replace("NAME", name).replace("COUNT", str(len(words)))
    text = text.replace("INPUTS", str(words.shape[1])).replace("OUTPUTS", str(outputs))
    (folder / "main.c").write_text(text)
    sources = [str(folder / "main.c"), str(folder / f"{name}_sliced.c")]
    build(["gcc", *C_FLAGS, *more, "-o", str(folder / "run"), *sources])
    raw = np.ascontiguousarray(words.T).astype("<u2").tobytes()
    found = subprocess.run([str(folder / "run")], input=raw, capture_output=True, check=True)
    columns = list(np.frombuffer(found.stdout, "<u2").reshape(outputs, -1).astype(np.int64))
    made: list[Words] = []
    saturated = np.zeros(len(words), np.int64)
    listed = files[f"{name}_sliced.h"].split("Of words made:")[1]
    for column, port in zip(
        columns, re.findall(r"^   \d+: (\w+),", listed, re.MULTILINE), strict=True
    ):
        if port.endswith("_saturated"):
            saturated |= column << (len(made) - 1)
        else:
            made.append(column)
    return np.stack([*made, saturated], axis=1)


VERILOG_MAIN = """\
module tb;
    reg [WIDTH-1:0] rows [0:COUNT-1];
    reg [WIDTH-1:0] row;
    wire [MADE-1:0] made;
    reg clock = 0;
    integer k;
    NAME dut(PORTS);
    initial begin
        $readmemb("rows.txt", rows);
        for (k = 0; k < COUNT; k = k + 1) begin
            row = rows[k];
            #1 clock = 1;
            #1 clock = 0;
            #1 $display("%b", made);
        end
    end
endmodule
"""
VHDL_MAIN = """\
library ieee;
use ieee.std_logic_1164.all;
use std.textio.all;
entity tb is end tb;
architecture it of tb is
    signal row : std_logic_vector(WIDTH-1 downto 0);
    signal made : std_logic_vector(MADE-1 downto 0);
    signal clock : std_logic := '0';
begin
    dut : entity work.NAME port map (PORTS);
    process
        file rows : text open read_mode is "rows.txt";
        variable given, found : line;
        variable bits : bit_vector(WIDTH-1 downto 0);
    begin
        while not endfile(rows) loop
            readline(rows, given);
            read(given, bits);
            row <= to_stdlogicvector(bits);
            wait for 1 ns;
            clock <= '1';
            wait for 1 ns;
            clock <= '0';
            wait for 1 ns;
            write(found, to_bitvector(made, '1'));
            writeline(output, found);
        end loop;
        wait;
    end process;
end it;
"""
PORT = re.compile(
    r"^ +(?P<way>in|out)put wire (?:\[(?P<high>\d+):0\] )?(?P<name>\w+)"
    r"|^ +(?P<name2>\w+) : (?P<way2>in|out) std_logic(?:_vector\((?P<high2>\d+) downto 0\))?",
    re.MULTILINE,
)


def run_ports(text: str, rows: Words, folder: Path) -> dict[str, Words]:
    """Return all output ports of a module or entity, for rows of its input ports in their order.

    Where it has a clock, every row is one rising edge. What was never set reads as ones.
    """
    vhdl = "\nentity " in text
    name = re.findall(r"^(?:module|entity) (\w+)", text, re.MULTILINE)[0]
    ends, given, made, ports = {"in": 0, "out": 0}, list[int](), dict[str, int](), list[str]()
    for one in PORT.finditer(text.partition("architecture" if vhdl else ");")[0]):
        port, way, high = (one[key] or one[f"{key}2"] for key in ("name", "way", "high"))
        if port == "clock":
            ports.append("clock => clock" if vhdl else ".clock(clock)")
            continue
        first, bits = ends[way], int(high or 0) + 1
        ends[way] += bits
        if way == "in":
            given.append(bits)
        else:
            made[port] = first
        signal = "row" if way == "in" else "made"
        if vhdl:
            place = f"{ends[way] - 1} downto {first}" if high else str(first)
            ports.append(f"{port} => {signal}({place})")
        else:
            ports.append(f".{port}({signal}[{ends[way] - 1}:{first}])")
    lines = [
        "".join(f"{word:0{bits}b}" for word, bits in zip(row[::-1], given[::-1], strict=True))
        for row in rows.tolist()
    ]
    (folder / "rows.txt").write_text("\n".join([*lines, ""]))
    main = (VHDL_MAIN if vhdl else VERILOG_MAIN).replace("PORTS", ", ".join(ports))
    main = main.replace("COUNT", str(len(lines))).replace("NAME", name)
    main = main.replace("WIDTH", str(ends["in"])).replace("MADE", str(ends["out"]))
    files = ["dut.vhd", "tb.vhd"] if vhdl else ["dut.v", "tb.v"]
    for file, content in zip(files, (text, main), strict=True):
        (folder / file).write_text(content)
    if vhdl:
        command = ["ghdl", "-c", "--std=93", *files, "-r", "tb"]
    else:
        build(["iverilog", "-g2005", "-o", str(folder / "tb"), *(str(folder / x) for x in files)])
        command = ["vvp", "-n", "tb"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr) == (0, "")
    found = [int(line, 2) for line in re.sub("[xz]", "1", said.stdout).splitlines()]
    lasts = [*made.values(), ends["out"]][1:]
    return {
        port: np.array([row >> first & (1 << last - first) - 1 for row in found])
        for (port, first), last in zip(made.items(), lasts, strict=True)
    }


def run_hdl(text: str, words: Words, folder: Path) -> Words:
    """Return what a module or entity without stages gives."""
    ports = run_ports(text, words, folder)
    made = [port for port in ports if not port.endswith("_saturated")]
    flags = [ports.get(f"{port}_saturated", 0) << k for k, port in enumerate(made)]
    return np.column_stack([*(ports[port] for port in made), sum(flags) + 0 * words[:, 0]])


AVR_MAIN = """\
#include <avr/io.h>
#include <avr/interrupt.h>
#include <avr/sleep.h>
#include <avr/pgmspace.h>
#include "NAME.h"
static const uint16_t rows[COUNT][WIDTH] PROGMEM = {ROWS};
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
}
int main(void)
{
    uint16_t k, wrong = 0, ticks, least = 0;
    uint32_t cycles = 0;
    UCSR0B = 1 << TXEN0;
    TCCR1B = 1;
    TCNT1 = 0;
    least = TCNT1;
    for (k = 0; k < COUNT; k++) {
        NAME_inputs given;
        NAME_outputs made;
        uint16_t saturated;
GIVEN
        TCNT1 = 0;
        saturated = NAME(&given, &made);
        ticks = TCNT1;
        cycles += ticks - least;
        if (saturated != pgm_read_word(&rows[k][WIDTH - 1])MADE)
            wrong++;
    }
    tell(wrong);
    say(' ');
    tell(cycles / COUNT);
    say('\\n');
    cli();
    sleep_mode();
    return 0;
}
"""


def run_avr(
    files: dict[str, Any], words: Words, made: Words, folder: Path, machine: str = "atmega328p"
) -> tuple[int, int]:
    """Return on how many samples an 8-bit machine errs, simulated, and its cycles for one."""
    for file, content in files.items():
        (folder / file).write_text(content)
    name = next(file for file in files if file.endswith(".h")).removesuffix(".h")
    fields = re.findall(r"^    uint\d+_t (\w+);", files[f"{name}.h"], re.MULTILINE)
    count = words.shape[1]
    read = "pgm_read_word(&rows[k][{}])"
    text = AVR_MAIN.replace("COUNT", str(len(words)))
    text = text.replace("WIDTH", str(len(fields) + 1)).replace("NAME", name)
    given = [f"        given.{f} = {read.format(k)};" for k, f in enumerate(fields[:count])]
    each = [f" || made.{f} != {read.format(k)}" for k, f in enumerate(fields) if k >= count]
    rows = np.column_stack([words, made]).tolist()
    text = text.replace("GIVEN", "\n".join(given)).replace("MADE", "".join(each))
    text = text.replace("ROWS", ",".join("{" + ",".join(map(str, row)) + "}" for row in rows))
    (folder / "main.c").write_text(text)
    sources = [str(folder / "main.c"), str(folder / f"{name}.c")]
    run = str(folder / "run.elf")
    build(["avr-gcc", f"-mmcu={machine}", *C_FLAGS, "-O2", "-o", run, *sources])
    found = subprocess.run(
        ["simavr", "-m", machine, "-f", "16000000", run],  # noqa: S607 (where apt puts it)
        capture_output=True, text=True, check=False, timeout=100,
    )  # fmt: skip
    said = re.findall(r"(\d+) (\d+)\.", found.stdout + found.stderr)
    assert said, found.stdout + found.stderr
    return int(said[-1][0]), int(said[-1][1])
