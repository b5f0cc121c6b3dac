"""A bench for a processor that tests bits: it checks itself, and that it can fail.

One of its vectors is wrong; and no run may take longer than the longest walks do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.gates import Gates
from boolcomp.targets.vectors import vectors
from boolcomp.targets.verilogbench import bundle

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Pin


def bench(
    program: Program,
    load: float | None,
    module: str,
    pins: tuple[tuple[Pin, ...], tuple[Pin, ...]],
    most: int,
) -> str:
    """Return the text of a bench; it prints a line that begins with PASS, or with FAIL."""
    found = vectors(program, load, Gates(module, *pins, (), (), (), (), 0, ""))
    count, ins, outs = len(found.given), len(found.given[0]), len(found.wanted[0])
    ports = [f".{name}({name})" for name in ("clock", "start", "busy", "done")]
    ports += [*bundle(pins[0], "inputs", ins), *bundle(pins[1], "outputs", outs)]
    held = f"{count - 1} vectors hold, the wrong one differs"
    lines = [
        f"// {count} vectors of {module}; vector {found.wrong} is wrong on purpose: the",
        "// bench passes where it, and no other, is found to differ",
        f"module {module}_tb;",
        f"    reg [{ins - 1}:0] given [0:{count - 1}];",
        f"    reg [{outs - 1}:0] wanted [0:{count - 1}];",
        f"    reg [{ins - 1}:0] inputs;",
        f"    wire [{outs - 1}:0] outputs;",
        *(f"    integer {name};" for name in ("place", "differ", "caught", "cycles", "all")),
        "    reg clock;",
        "    reg start;",
        "    wire busy;",
        "    wire done;",
        f"    {module} dut ({', '.join(ports)});",
        "    initial begin",
        "        clock = 1'b0;",
        "        forever #5 clock = ~clock;",
        "    end",
        "    initial begin",
        "        differ = 0;",
        "        caught = 0;",
        "        all = 0;",
        "        start = 1'b0;",
        f"        inputs = {{{ins}{{1'b0}}}};",
    ]
    for k, (given, wanted) in enumerate(zip(found.given, found.wanted, strict=True)):
        lines.append(f"        given[{k}] = {ins}'b{given};")
        lines.append(f"        wanted[{k}] = {outs}'b{wanted};")
    lines += [
        *_loop(count, most),
        f"        if (caught == 1 && differ == {found.wrong})",
        f'            $display("PASS: {held}, %0d cycles", all);',
        '        else $display("FAIL: %0d vectors differ, the last is %0d", caught, differ);',
        "        $finish;",
        "    end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _loop(count: int, most: int) -> list[str]:
    """Return a loop that starts the processor on every vector, and takes its words away at once."""
    return [
        f"        for (place = 0; place < {count}; place = place + 1) begin",
        "            @(negedge clock);",
        "            inputs = given[place];",
        "            start = 1'b1;",
        "            @(negedge clock);",
        "            start = 1'b0;",
        "            inputs = ~given[place];",
        "            cycles = 1;",
        f"            while (done !== 1'b1 && cycles <= {most}) begin",
        "                @(negedge clock);",
        "                cycles = cycles + 1;",
        "            end",
        "            all = all + cycles;",
        f"            if (outputs !== wanted[place] || busy !== 1'b0 || cycles > {most}) begin",
        "                caught = caught + 1;",
        "                differ = place;",
        "            end",
        "        end",
    ]
