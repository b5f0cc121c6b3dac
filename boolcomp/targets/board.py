"""A program on a board: a top module with registers that are read and written over a UART.

A request holds the bits of all inputs in the order of ports, most significant bit first, after
zeros that fill up whole bytes. The answer holds the bits of all outputs likewise. The line has
115,200 baud, eight bits, no parity, one stop bit. The next request may begin after the answer.
After about 10 ms of silence a new request begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.benches import bundle, verilog_rows
from boolcomp.targets.target import fill, vectors

if TYPE_CHECKING:
    from boolcomp.program.program import Program
    from boolcomp.targets.target import Frame

BAUD = 115_200
TOP, BENCH = "boolcomp_top", "boolcomp_bench"
TRIED = 6  # requests of the bench, before one with a falsified answer


def _sizes(frame: Frame) -> tuple[int, int, int, int]:
    """Return the bits of requests and answers, then the bytes of these."""
    given, made = (sum(pin.port.bits for pin in pins) for pins in (frame.inputs, frame.outputs))
    return given, made, -(-given // 8), -(-made // 8)


def top(frame: Frame, stages: int, hertz: int) -> str:
    """Return the top module: receiver, core, transmitter."""
    given, made, request, answer = _sizes(frame)
    wires = [*bundle(frame.inputs, "given", given), *bundle(frame.outputs, "made", made)]
    idle = f"given[{8 * request - 1}:{given}], " if given % 8 else ""
    return fill(
        "board_top.v", top=TOP, core=frame.module, divide=round(hertz / BAUD),
        silence=hertz // 100, wait=stages + 2, given=8 * request, made=8 * answer, bits=made,
        last=request - 1, answer=answer, wires=", ".join(wires), baud=BAUD, request=request,
        shifted=f"{{given[{8 * request - 9}:0], byte_in}}" if request > 1 else "byte_in",
        fill=f"{8 * answer - made}'d0, " if made % 8 else "", idle=idle,
    )  # fmt: skip


def bench(program: Program, load: float | None, frame: Frame, hertz: int) -> str:
    """Return a bench for the top module; its last expected answer is wrong."""
    _, _, request, answer = _sizes(frame)
    found = vectors(program, load, frame, 32)
    honest = [k for k in range(len(found.given)) if k != found.falsified][:TRIED]
    rows = verilog_rows(found, [*honest, found.falsified], 8 * request, 8 * answer)
    return fill(
        "board_bench.v", bench=BENCH, top=TOP, given=8 * request, made=8 * answer,
        request=request, answer=answer, count=len(honest) + 1, last=len(honest),
        period=2 * (round(hertz / BAUD)), rows=rows,
    )  # fmt: skip
