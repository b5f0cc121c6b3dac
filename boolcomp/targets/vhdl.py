"""VHDL-93, of gates or of words: one port a word, combinational or in stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.benches import vhdl_bench
from boolcomp.targets.formulas import Spelling
from boolcomp.targets.gates import Gates, Syntax, gates_of, header
from boolcomp.targets.hdl import VhdlWords
from boolcomp.targets.reserved import VHDL
from boolcomp.targets.rtlmodule import words_of
from boolcomp.targets.target import design_of
from boolcomp.targets.wordnotes import READING, with_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options
    from boolcomp.targets.gates import Framed, Pin
    from boolcomp.targets.rtl import Words
    from boolcomp.targets.target import Design

VHDL_SYNTAX = Syntax(VHDL, "{}({})", ("'0'", "'1'"))
VHDL_SPELLING = Spelling({"and": " and ", "or": " or ", "xor": " xor "}, "(not {})")
LIBRARIES = ["library ieee;", "use ieee.std_logic_1164.all;"]


def export_vhdl(program: Program, load: float | None, options: Options) -> Files:
    """Return a program's entity, and its test bench where one is wanted."""
    design = design_of(program, load)
    if options.level == "words":
        return _vhdl_words(program, load, design, options)
    gates = gates_of(design, VHDL_SYNTAX, options.pipeline)
    files: Files = {f"{gates.module}.vhd": render_vhdl(design, gates)}
    if options.test_bench:
        files[f"{gates.module}_tb.vhd"] = vhdl_bench(program, load, gates)
    return files


def _vhdl_words(program: Program, load: float | None, design: Design, options: Options) -> Files:
    words = words_of(program, load, design, VHDL_SYNTAX, options.pipeline)
    files: Files = {f"{words.module}.vhd": render_vhdl_words(design, words)}
    if options.test_bench:
        files[f"{words.module}_tb.vhd"] = vhdl_bench(program, load, words)
    return files


def render_vhdl_words(design: Design, words: Words) -> str:
    """Return the text of an entity and its architecture of words."""
    printer = VhdlWords(words)
    lines = [f"-- {line}" for line in [*header(with_words(design), words), READING]]
    lines += [*LIBRARIES, "use ieee.numeric_std.all;", *_entity(words)]
    lines += [f"architecture words of {words.module} is", *printer.declarations()]
    lines += [*_valid(words), "begin", *printer.body()]
    lines += _vhdl_registers(words.stages, printer.held()) if words.stages else []
    return "\n".join([*lines, *printer.ends(), "end words;"]) + "\n"


def render_vhdl(design: Design, gates: Gates) -> str:
    """Return the text of an entity and its architecture."""
    lines = [f"-- {line}" for line in header(design, gates)]
    lines += [*LIBRARIES, *_entity(gates), f"architecture gates of {gates.module} is"]
    lines += [f"    signal {line.name} : std_logic;" for line in gates.lines]
    lines += [f"    signal {name} : std_logic;" for name, _ in gates.registers]
    lines += [*_valid(gates), "begin"]
    lines += [
        f"    {name} <= {VHDL_SPELLING.write(lut, operands)};"
        for name, lut, operands in gates.lines
    ]
    lines += _vhdl_registers(gates.stages, gates.registers) if gates.stages else []
    for pin, drives in zip(gates.outputs, gates.drives, strict=True):
        lines.append(f"    {pin.name} <= {' & '.join(drives)};")
    return "\n".join([*lines, "end gates;"]) + "\n"


def _entity(gates: Framed) -> Iterator[str]:
    yield f"entity {gates.module} is"
    yield "    port ("
    yield ";\n".join(f"        {port}" for port in _vhdl_ports(gates))
    yield "    );"
    yield f"end {gates.module};"


def _valid(gates: Framed) -> Iterator[str]:
    if gates.stages:
        high = gates.stages - 1
        yield f"    signal valid : std_logic_vector({high} downto 0) := (others => '0');"


def _vhdl_ports(gates: Framed) -> Iterator[str]:
    if gates.stages:
        for name in ("clock", "enable", "valid_in"):
            yield f"{name} : in std_logic"
    for mode, pins in (("in", gates.inputs), ("out", gates.outputs)):
        for pin in pins:
            yield f"{pin.name} : {mode} {subtype(pin)}"
    if gates.stages:
        yield "valid_out : out std_logic"


def subtype(pin: Pin) -> str:
    """Return the type of a port."""
    bits = pin.port.bits
    return "std_logic" if bits == 1 else f"std_logic_vector({bits - 1} downto 0)"


def _vhdl_registers(stages: int, registers: Iterable[tuple[str, str]]) -> list[str]:
    return [
        "    process (clock)",
        "    begin",
        "        if rising_edge(clock) then",
        "            if enable = '1' then",
        "                valid(0) <= valid_in;",
        *(f"                valid({k}) <= valid({k - 1});" for k in range(1, stages)),
        *(f"                {new} <= {old};" for new, old in registers),
        "            end if;",
        "        end if;",
        "    end process;",
        f"    valid_out <= valid({stages - 1});",
    ]
