"""VHDL-93 at gate level: one port a word, one line a node, combinational or in stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.formulas import Spelling
from boolcomp.targets.gates import Gates, Syntax, gates_of, header
from boolcomp.targets.ports import design_of
from boolcomp.targets.reserved import VHDL
from boolcomp.targets.vhdlbench import bench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options
    from boolcomp.targets.gates import Pin
    from boolcomp.targets.ports import Design

SYNTAX = Syntax(VHDL, "{}({})", ("'0'", "'1'"))
SPELLING = Spelling({"and": " and ", "or": " or ", "xor": " xor "}, "(not {})")
LIBRARIES = ["library ieee;", "use ieee.std_logic_1164.all;"]


def export(program: Program, load: float | None, options: Options) -> Files:
    """Return a program's entity, and its test bench where one is wanted."""
    design = design_of(program, load)
    gates = gates_of(design, SYNTAX, options.pipeline)
    files: Files = {f"{gates.module}.vhd": render(design, gates)}
    if options.test_bench:
        files[f"{gates.module}_tb.vhd"] = bench(program, load, gates)
    return files


def render(design: Design, gates: Gates) -> str:
    """Return the text of an entity and its architecture."""
    lines = [f"-- {line}" for line in header(design, gates)]
    lines += [*LIBRARIES, f"entity {gates.module} is", "    port ("]
    lines += [";\n".join(f"        {port}" for port in _ports(gates)), "    );"]
    lines += [f"end {gates.module};", f"architecture gates of {gates.module} is"]
    lines += [f"    signal {line.name} : std_logic;" for line in gates.lines]
    lines += [f"    signal {name} : std_logic;" for name, _ in gates.registers]
    if gates.stages:
        high = gates.stages - 1
        lines.append(f"    signal valid : std_logic_vector({high} downto 0) := (others => '0');")
    lines.append("begin")
    lines += [
        f"    {name} <= {SPELLING.write(lut, operands)};" for name, lut, operands in gates.lines
    ]
    lines += _clocked(gates) if gates.stages else []
    for pin, drives in zip(gates.outputs, gates.drives, strict=True):
        lines.append(f"    {pin.name} <= {' & '.join(drives)};")
    return "\n".join([*lines, "end gates;"]) + "\n"


def _ports(gates: Gates) -> Iterator[str]:
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


def _clocked(gates: Gates) -> list[str]:
    return [
        "    process (clock)",
        "    begin",
        "        if rising_edge(clock) then",
        "            if enable = '1' then",
        "                valid(0) <= valid_in;",
        *(f"                valid({k}) <= valid({k - 1});" for k in range(1, gates.stages)),
        *(f"                {new} <= {old};" for new, old in gates.registers),
        "            end if;",
        "        end if;",
        "    end process;",
        f"    valid_out <= valid({gates.stages - 1});",
    ]
