"""Verilog-2005, of gates or of words: one port a word, combinational or in stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.cocotbtest import cocotb_test
from boolcomp.targets.formulas import Spelling
from boolcomp.targets.gates import Gates, Syntax, gates_of, header
from boolcomp.targets.mapped import mapping_of
from boolcomp.targets.reserved import VERILOG
from boolcomp.targets.rtlmodule import words_of
from boolcomp.targets.target import design_of
from boolcomp.targets.verilogbench import verilog_bench
from boolcomp.targets.veriloglut import instances, table_module
from boolcomp.targets.verilogwords import VerilogWords
from boolcomp.targets.wordnotes import READING, with_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options
    from boolcomp.targets.gates import Framed, Pin
    from boolcomp.targets.rtl import Words
    from boolcomp.targets.target import Design

VERILOG_SYNTAX = Syntax(VERILOG, "{}[{}]", ("1'b0", "1'b1"))
# Versions about 5.006 to 5.026 lose inversions in trees of XOR (its issues 4059, 4837, 5186).
CAUTION = "with Verilator, simulate with -fno-const-bit-op-tree: else some versions are wrong"
VERILOG_SPELLING = Spelling({"and": " & ", "or": " | ", "xor": " ^ "}, "~{}")


def export_verilog(program: Program, load: float | None, options: Options) -> Files:
    """Return a program's module, and its test bench where one is wanted."""
    design = design_of(program, load)
    if options.level == "words":
        return _verilog_words(program, load, design, options)
    logic, notes = mapping_of(design, options)
    gates = gates_of(design, VERILOG_SYNTAX, options.pipeline, logic)
    files: Files = {f"{gates.module}.v": render_verilog(design, gates, options.luts, notes)}
    return files | _tests(program, load, gates, options)


def _tests(program: Program, load: float | None, frame: Framed, options: Options) -> Files:
    """Return the tests that are wanted: a bench in Verilog, one in Python."""
    files: Files = {}
    if options.test_bench:
        files[f"{frame.module}_tb.v"] = verilog_bench(program, load, frame)
    if options.cocotb:
        files[f"test_{frame.module}.py"] = cocotb_test(program, load, frame)
    return files


def _verilog_words(program: Program, load: float | None, design: Design, options: Options) -> Files:
    words = words_of(program, load, design, VERILOG_SYNTAX, options.pipeline)
    files: Files = {f"{words.module}.v": render_verilog_words(design, words)}
    return files | _tests(program, load, words, options)


def render_verilog(design: Design, gates: Gates, luts: int = 0, notes: Sequence[str] = ()) -> str:
    """Return the text of a module, and of its look-up table where its lines are such."""
    lines = [f"// {line}" for line in [*notes, *header(design, gates), CAUTION]]
    lines += [
        f"module {gates.module} (",
        ",\n".join(f"    {port}" for port in _verilog_ports(gates)),
        ");",
    ]
    lines += [f"    reg {name};" for name, _ in gates.registers]
    lines += (
        instances(gates, luts)
        if luts
        else [
            f"    wire {name} = {VERILOG_SPELLING.write(lut, operands)};"
            for name, lut, operands in gates.lines
        ]
    )
    if gates.idle:  # what linters are told is left out on purpose
        lines.append(f"    wire unused = &{{1'b0, {', '.join(gates.idle)}}};")
    lines += _verilog_registers(gates.stages, gates.registers) if gates.stages else []
    for pin, drives in zip(gates.outputs, gates.drives, strict=True):
        bits = drives[0] if len(drives) == 1 else f"{{{', '.join(drives)}}}"
        lines.append(f"    assign {pin.name} = {bits};")
    lines.append("endmodule")
    return "\n".join([*lines, *(table_module(gates, luts) if luts else ())]) + "\n"


def render_verilog_words(design: Design, words: Words) -> str:
    """Return the text of a module of words."""
    printer = VerilogWords(words)
    lines = [f"// {line}" for line in [*header(with_words(design), words), READING, CAUTION]]
    lines += [
        f"module {words.module} (",
        ",\n".join(f"    {port}" for port in _verilog_ports(words)),
        ");",
    ]
    lines += printer.body()
    lines += _verilog_registers(words.stages, printer.held()) if words.stages else []
    lines += printer.ends()
    return "\n".join([*lines, "endmodule"]) + "\n"


def _verilog_ports(gates: Framed) -> Iterator[str]:
    if gates.stages:
        yield from ("input wire clock", "input wire enable", "input wire valid_in")
    for kind, pins in (("input", gates.inputs), ("output", gates.outputs)):
        for pin in pins:
            yield f"{kind} wire {pin_range(pin)}{pin.name}"
    if gates.stages:
        yield "output wire valid_out"


def pin_range(pin: Pin) -> str:
    """Return the range of a port's bits, as it stands before the name."""
    return "" if pin.port.bits == 1 else f"[{pin.port.bits - 1}:0] "


def _verilog_registers(stages: int, registers: Iterable[tuple[str, str]]) -> list[str]:
    last = stages - 1
    shifted = "valid_in" if not last else f"{{valid[{last - 1}:0], valid_in}}"
    span = "" if not last else f"[{last}:0] "
    return [
        f"    reg {span}valid;",
        f"    initial valid = {stages}'b0;",
        "    always @(posedge clock)",
        "        if (enable) begin",
        f"            valid <= {shifted};",
        *(f"            {new} <= {old};" for new, old in registers),
        "        end",
        f"    assign valid_out = valid{f'[{last}]' if last else ''};",
    ]
