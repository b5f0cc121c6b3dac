"""A Verilog test bench that checks itself, and that it can fail: one of its vectors is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.vectors import vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Framed, Pin


def verilog_bench(program: Program, load: float | None, gates: Framed) -> str:
    """Return the text of a bench; it prints a line that begins with PASS, or with FAIL."""
    found = vectors(program, load, gates)
    count, ins, outs = len(found.given), len(found.given[0]), len(found.wanted[0])
    lines = [
        f"// {count} vectors of {gates.module}; vector {found.wrong} is wrong on purpose: the",
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
    lines.append(f"    {gates.module} dut ({', '.join(_verilog_connections(gates, ins, outs))});")
    lines += ["    initial begin", "        differ = 0;", "        caught = 0;"]
    for k, (given, wanted) in enumerate(zip(found.given, found.wanted, strict=True)):
        lines.append(f"        given[{k}] = {ins}'b{given};")
        lines.append(f"        wanted[{k}] = {outs}'b{wanted};")
    lines += _verilog_clocked_loop(gates, count) if gates.stages else _verilog_loop(count)
    expected = f"caught == 1 && differ == {found.wrong}"
    lines += [
        f"        if ({expected})",
        f'            $display("PASS: {count - 1} vectors hold, the wrong one differs");',
        '        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);',
        "        $finish;",
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _verilog_connections(gates: Framed, ins: int, outs: int) -> Iterator[str]:
    if gates.stages:
        for name in ("clock", "enable", "valid_in", "valid_out"):
            yield f".{name}({name})"
    yield from bundle(gates.inputs, "inputs", ins)
    yield from bundle(gates.outputs, "outputs", outs)


def bundle(pins: tuple[Pin, ...], name: str, place: int) -> Iterator[str]:
    """Yield what connects ports with the bits of one signal, from bit `place` - 1 down."""
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
    """Return a loop that stalls every fifth clock, and counts what comes out as valid."""
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
