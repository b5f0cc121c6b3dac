"""Self-checking test benches in Verilog, VHDL, and Python for cocotb.

One vector is falsified: a bench passes if that vector and no other differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.gates import CONTROLS
from boolcomp.targets.target import vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed, Pin


def verilog_bench(program: Program, load: float | None, gates: Framed) -> str:
    """Return the text of a bench, which prints a line that begins with PASS or FAIL."""
    found = vectors(program, load, gates)
    count, ins, outs = len(found.given), len(found.given[0]), len(found.expected[0])
    lines = [
        f"// {count} vectors of {gates.module}; vector {found.falsified} is wrong on purpose: the",
        "// bench passes where it, and no other, is found to differ",
        f"module {gates.module}_tb;",
        f"    reg [{ins - 1}:0] given [0:{count - 1}];",
        f"    reg [{outs - 1}:0] wanted [0:{count - 1}];",
        f"    reg [{ins - 1}:0] inputs;",
        f"    wire [{outs - 1}:0] outputs;",
        "    integer place;",
        "    integer differ;",
        "    integer caught;",
    ]
    lines += _clock() if gates.stages else []
    connections = _connections(gates, ins, outs, ".{0}({0})", bundle)
    lines.append(f"    {gates.module} dut ({', '.join(connections)});")
    lines += ["    initial begin", "        differ = 0;", "        caught = 0;"]
    for k, (given, wanted) in enumerate(zip(found.given, found.expected, strict=True)):
        lines.append(f"        given[{k}] = {ins}'b{given};")
        lines.append(f"        wanted[{k}] = {outs}'b{wanted};")
    lines += _verilog_clocked_loop(gates, count) if gates.stages else _verilog_loop(count)
    expected = f"caught == 1 && differ == {found.falsified}"
    lines += [
        f"        if ({expected})",
        f'            $display("PASS: {count - 1} vectors hold, the wrong one differs");',
        '        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);',
        "        $finish;",
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _connections(
    gates: Framed, ins: int, outs: int, control: str, ports: Callable[..., Iterator[str]]
) -> Iterator[str]:
    if gates.stages:
        yield from (control.format(name) for name in CONTROLS)
    yield from ports(gates.inputs, "inputs", ins)
    yield from ports(gates.outputs, "outputs", outs)


def bundle(pins: tuple[Pin, ...], name: str, place: int) -> Iterator[str]:
    """Yield connections of ports with the bits of one signal, from bit `place` - 1 down."""
    for pin in pins:
        high, place = place - 1, place - pin.port.bits
        yield f".{pin.name}({name}[{high}:{place}])"


def _clock() -> list[str]:
    return [
        "    reg clock;",
        "    reg enable;",
        "    reg valid_in;",
        "    wire valid_out;",
        "    integer seen;",
        "    initial begin",
        "        clock = 1'b0;",
        "        forever #5 clock = ~clock;",
        "    end",
    ]


def _verilog_loop(count: int) -> list[str]:
    return [
        f"        for (place = 0; place < {count}; place = place + 1) begin",
        "            inputs = given[place];",
        "            #10;",
        "            if (outputs !== wanted[place]) begin",
        "                caught = caught + 1;",
        "                differ = place;",
        "            end",
        "        end",
    ]


def _verilog_clocked_loop(gates: Framed, count: int) -> list[str]:
    """Return a loop that stalls every fifth clock and checks valid outputs."""
    clocks = 2 * (count + gates.stages) + 10
    return [
        "        seen = 0;",
        "        enable = 1'b1;",
        "        valid_in = 1'b0;",
        f"        inputs = {{{sum(p.port.bits for p in gates.inputs)}{{1'b0}}}};",
        "        place = 0;",
        f"        repeat ({clocks}) begin",
        "            @(negedge clock);",
        "            if (enable && valid_out) begin",
        f"                if (seen >= {count} || outputs !== wanted[seen]) begin",
        "                    caught = caught + 1;",
        "                    differ = seen;",
        "                end",
        "                seen = seen + 1;",
        "            end",
        "            enable = $time % 50 < 40;",
        f"            valid_in = place < {count};",
        f"            if (place < {count}) inputs = given[place];",
        "            if (enable) place = place + 1;",
        "        end",
        f"        if (seen != {count}) caught = -1;",
    ]


def vhdl_bench(program: Program, load: float | None, gates: Framed) -> str:
    """Return the text of a bench, which reports PASS or fails with severity failure."""
    found = vectors(program, load, gates)
    count, ins, outs = len(found.given), len(found.given[0]), len(found.expected[0])
    lines = [
        f"-- {count} vectors of {gates.module}; vector {found.falsified} is wrong on purpose: the",
        "-- bench passes where it, and no other, is found to differ",
        "library ieee;",
        "use ieee.std_logic_1164.all;",
        f"entity {gates.module}_tb is",
        f"end {gates.module}_tb;",
        f"architecture bench of {gates.module}_tb is",
        f"    type givens is array (0 to {count - 1}) of std_logic_vector({ins - 1} downto 0);",
        f"    type results is array (0 to {count - 1}) of std_logic_vector({outs - 1} downto 0);",
        *_table("given : givens", found.given),
        *_table("wanted : results", found.expected),
        f"    signal inputs : std_logic_vector({ins - 1} downto 0) := (others => '0');",
        f"    signal outputs : std_logic_vector({outs - 1} downto 0);",
    ]
    if gates.stages:
        lines += [
            "    signal clock, enable, valid_in : std_logic := '0';",
            "    signal valid_out : std_logic;",
        ]
    lines += ["begin", f"    dut : entity work.{gates.module} port map ("]
    connections = _connections(gates, ins, outs, "{0} => {0}", _bundle)
    lines += [",\n".join(f"        {one}" for one in connections), "    );"]
    lines += ["    process", "        variable caught, seen, place : integer := 0;"]
    lines += ["        variable differ : integer := -1;", "    begin"]
    lines += _vhdl_clocked_loop(gates, count) if gates.stages else _vhdl_loop(count)
    lines += [
        f"        if caught = 1 and differ = {found.falsified} then",
        f'            report "PASS: {count - 1} vectors hold, the wrong one differs";',
        "        else",
        '            report "FAIL: " & integer\'image(caught) & " vectors differ, the last is "',
        "                & integer'image(differ) severity failure;",
        "        end if;",
        "        wait;",
        "    end process;",
        "end bench;",
    ]
    return "\n".join(lines) + "\n"


def _table(head: str, rows: tuple[str, ...]) -> Iterator[str]:
    yield f"    constant {head} := ("
    yield ",\n".join(f'        {k} => "{row}"' for k, row in enumerate(rows))
    yield "    );"


def _bundle(pins: tuple[Pin, ...], name: str, place: int) -> Iterator[str]:
    for pin in pins:
        high, place = place - 1, place - pin.port.bits
        span = f"{high}" if pin.port.bits == 1 else f"{high} downto {place}"
        yield f"{pin.name} => {name}({span})"


def _vhdl_loop(count: int) -> list[str]:
    return [
        f"        for k in 0 to {count - 1} loop",
        "            inputs <= given(k);",
        "            wait for 10 ns;",
        "            if outputs /= wanted(k) then",
        "                caught := caught + 1;",
        "                differ := k;",
        "            end if;",
        "        end loop;",
    ]


def _vhdl_clocked_loop(gates: Framed, count: int) -> list[str]:
    return [
        f"        for k in 1 to {2 * (count + gates.stages) + 10} loop",
        "            clock <= '0';",
        "            wait for 5 ns;",
        "            if enable = '1' and valid_out = '1' then",
        f"                if seen >= {count} then",
        f"                    caught := caught + {count};",
        "                elsif outputs /= wanted(seen) then",
        "                    caught := caught + 1;",
        "                    differ := seen;",
        "                end if;",
        "                seen := seen + 1;",
        "            end if;",
        "            enable <= '1';",
        "            valid_in <= '0';",
        f"            if place < {count} then",
        "                inputs <= given(place);",
        "                valid_in <= '1';",
        "            end if;",
        "            if k mod 5 = 0 then",
        "                enable <= '0';",
        "            else",
        "                place := place + 1;",
        "            end if;",
        "            wait for 1 ns;",
        "            clock <= '1';",
        "            wait for 4 ns;",
        "        end loop;",
        f"        if seen /= {count} then",
        "            caught := -1;",
        "        end if;",
    ]


_HEAD = '''\
"""{count} vectors of {module} for cocotb 2; vector {wrong} is wrong on purpose.

The test passes where it, and no other, is found to differ. To run it:

    pip install cocotb
    python test_{module}.py

Icarus Verilog simulates unless SIM names another simulator.
"""

import os
import sys
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

MODULE = "{module}"
INPUTS = ({inputs},)
OUTPUTS = ({outputs},)
WRONG = {wrong}
# Of every vector the words of the inputs, then those of the outputs.
VECTORS = [
'''
_PLAIN = '''\
async def differing(dut):
    """Yield the numbers of all vectors whose outputs are others."""
    for place, row in enumerate(VECTORS):
        for name, word in zip(INPUTS, row):
            getattr(dut, name).value = word
        await Timer(10, "ns")
        if made(dut) != row[len(INPUTS) :]:
            yield place
'''
_CLOCKED = '''\
async def differing(dut):
    """Yield the numbers of all vectors whose outputs are others; every fifth clock is a stall."""
    seen = given = 0
    for clock in range(2 * (len(VECTORS) + {stages}) + 10):
        dut.clock.value = 0
        dut.enable.value = int(clock % 5 != 4)
        dut.valid_in.value = int(given < len(VECTORS))
        for name, word in zip(INPUTS, VECTORS[min(given, len(VECTORS) - 1)]):
            getattr(dut, name).value = word
        await Timer(5, "ns")
        dut.clock.value = 1
        await Timer(5, "ns")
        if clock % 5 != 4:
            given += 1
            if int(dut.valid_out.value):
                if seen >= len(VECTORS) or made(dut) != VECTORS[seen][len(INPUTS) :]:
                    yield seen
                seen += 1
    if seen != len(VECTORS):
        yield -1
'''
_TAIL = '''

def made(dut):
    """Return the words of the outputs."""
    return tuple(int(getattr(dut, name).value) for name in OUTPUTS)


@cocotb.test()
async def vectors_hold_and_the_wrong_one_differs(dut):
    found = [place async for place in differing(dut)]
    assert found == [WRONG], f"vectors {found} differ, not {WRONG} alone"


def main():
    """Build the module, simulate it, and return how many tests failed."""
    from cocotb_tools.check_results import get_results
    from cocotb_tools.runner import get_runner

    here = Path(__file__).resolve().parent
    runner = get_runner(os.environ.get("SIM", "icarus"))
    build = here / "sim_build"
    runner.build(
        sources=[here / f"{MODULE}.v"],
        hdl_toplevel=MODULE,
        build_dir=build,
        timescale=("1ns", "1ps"),
        always=True,
    )
    results = runner.test(hdl_toplevel=MODULE, test_module=f"test_{MODULE}", build_dir=build)
    tests, failed = get_results(results)
    return failed if tests else 1


if __name__ == "__main__":
    sys.exit(main())
'''


def cocotb_test(program: Program, load: float | None, frame: Framed) -> str:
    """Return a test module for cocotb, which builds and simulates when run as a script."""
    found = vectors(program, load, frame)
    lines = [
        _HEAD.format(
            count=len(found.given),
            module=frame.module,
            wrong=found.falsified,
            inputs=_names(frame.inputs),
            outputs=_names(frame.outputs),
        ).rstrip("\n")
    ]
    for given, wanted in zip(found.given, found.expected, strict=True):
        words = [*_words(frame.inputs, given), *_words(frame.outputs, wanted)]
        lines.append(f"    ({', '.join(words)}),")
    loop = _CLOCKED.replace("{stages}", str(frame.stages)) if frame.stages else _PLAIN
    return "\n".join([*lines, "]", "", "", loop.rstrip("\n")]) + "\n" + _TAIL


def _names(pins: tuple[Pin, ...]) -> str:
    return ", ".join(f'"{pin.name}"' for pin in pins)


def _words(pins: tuple[Pin, ...], bits: str) -> Iterator[str]:
    place = 0
    for pin in pins:
        yield str(int(bits[place : place + pin.port.bits], 2))
        place += pin.port.bits
