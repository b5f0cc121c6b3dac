"""Look-up tables in Verilog: one instance a table, its entries as a constant.

The module that they are instances of is plain Verilog, which every tool takes, and may then take
apart. With a macro it is the cell of an FPGA, which tools leave as it is: so the mapping stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.logic.lutnetwork import entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.targets.gates import Gates

LETTERS = "abcdef"
# By macro: the cell, its parameter, its output, its inputs from the least significant on.
CELLS = {
    "BOOLCOMP_ICE40": (4, "SB_LUT4", "LUT_INIT", "O", ("I0", "I1", "I2", "I3")),
    "BOOLCOMP_ECP5": (4, "LUT4", "INIT", "Z", ("A", "B", "C", "D")),
    "BOOLCOMP_XILINX": (6, "LUT6", "INIT", "O", ("I0", "I1", "I2", "I3", "I4", "I5")),
}


def table_name(gates: Gates, luts: int) -> str:
    """Return the name of the module of a table."""
    return f"{gates.module}_lut{luts}"


def instances(gates: Gates, luts: int) -> Iterator[str]:
    """Yield the lines of tables: entries from the last to the first, the first operand in front."""
    name = table_name(gates, luts)
    size = 1 << luts
    for made, lut, operands in gates.lines:
        table = sum(bit << k for k, bit in enumerate(entries(lut, len(operands))))
        given = ["1'b0"] * (luts - len(operands)) + list(operands)
        yield f"    wire {made};"
        yield (
            f"    {name} #({size}'h{table:0{size // 4}x}) {made}_t ({made}, {', '.join(given)});"
        )


def table_module(gates: Gates, luts: int) -> Iterator[str]:
    """Yield the module of a table: an entry of its constant, or an FPGA's own cell."""
    letters = LETTERS[:luts]
    size = 1 << luts
    yield "/* verilator lint_off DECLFILENAME */"
    yield f"// with one of these macros the cell of an FPGA: {', '.join(_macros(luts))}"
    yield f"module {table_name(gates, luts)} ("
    yield "    output wire made,"
    yield from (f"    input wire {one}{',' * (one != letters[-1])}" for one in letters)
    yield ");"
    yield f"    parameter [{size - 1}:0] INIT = {size}'h0;"
    guard = "`ifdef"
    for macro in _macros(luts):
        inputs, cell, init, output, pins = CELLS[macro]
        given = [*["1'b0"] * (inputs - luts), *letters]
        wired = ", ".join(f".{pin}({x})" for pin, x in zip(pins, reversed(given), strict=True))
        wider = f"{{{(1 << inputs) - size}'h0, INIT}}" if inputs > luts else "INIT"
        yield f"{guard} {macro}"
        yield f"    {cell} #(.{init}({wider})) cell_ (.{output}(made), {wired});"
        guard = "`elsif"
    yield from (["`else"] if guard == "`elsif" else [])
    yield f"    assign made = INIT[{{{', '.join(letters)}}}];"
    yield from (["`endif"] if guard == "`elsif" else [])
    yield "endmodule"


def _macros(luts: int) -> list[str]:
    return [macro for macro, (inputs, *_) in CELLS.items() if inputs >= luts]
