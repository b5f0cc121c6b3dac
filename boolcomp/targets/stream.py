"""AXI4-Stream around a design: the layout of tdata, and a wrapper of the core with a skid buffer.

A beat contains every word once. A word is a field of whole bytes; the first is the least
significant one. Fields of outputs are filled with zeros, or with the sign of two's complement.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base.errors import UsageError
from boolcomp.targets.target import CONTROLS, Frame, Pin, Port, fill, separated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.target import Vectors

BYTE = 8


class StreamField(NamedTuple):
    """The bits of a port in tdata, from `low` up to the border `end` of a byte."""

    pin: Pin
    low: int
    signed: bool

    @property
    def top(self) -> int:
        """The most significant bit of the word."""
        return self.low + self.pin.port.bits - 1

    @property
    def end(self) -> int:
        return self.low + BYTE * -(-self.pin.port.bits // BYTE)


class StreamLayout(NamedTuple):
    """The fields of both streams of a core with a pipeline of `stages`."""

    core: Frame
    inputs: tuple[StreamField, ...]
    outputs: tuple[StreamField, ...]
    stages: int

    @property
    def module(self) -> str:
        return f"{self.core.module}_stream"

    @property
    def bench_frame(self) -> Frame:
        """The ports of the vectors of test benches: tlast and tdata."""
        return self._with_ports((), ())

    @property
    def frame(self) -> Frame:
        """All ports but the clock."""
        return self._with_ports(
            ("aresetn", "s_axis_tvalid", "m_axis_tready"), ("s_axis_tready", "m_axis_tvalid")
        )

    def _with_ports(self, *more: tuple[str, ...]) -> Frame:
        ways = zip("sm", (self.inputs, self.outputs), more, strict=True)
        ports = (
            (
                (f"{way}_axis_tlast", 1),
                (f"{way}_axis_tdata", fields[-1].end),
                *((x, 1) for x in own),
            )
            for way, fields, own in ways
        )
        return Frame(
            self.module,
            *(tuple(Pin(name, Port(name, bits, ())) for name, bits in p) for p in ports),
        )

    def beats(self, found: Vectors) -> Vectors:
        """Return vectors as tlast and tdata; bits that the design ignores are 1."""
        given = (_beat(self.inputs, row, "1") for row in found.given)
        wanted = (_beat(self.outputs, row) for row in found.expected)
        last = ["01"[k % 5 > 2] for k in range(len(found.given))]
        return replace(
            found,
            given=tuple(map("".join, zip(last, given, strict=True))),
            expected=tuple(map("".join, zip(last, wanted, strict=True))),
        )


def _beat(fields: Iterable[StreamField], row: str, padding: str = "") -> str:
    text = ""
    for one in fields:
        word, row = row[: one.pin.port.bits], row[one.pin.port.bits :]
        text = word.rjust(one.end - one.low, padding or (word[0] if one.signed else "0")) + text
    return text


def layout_of(program: Program, frame: Frame, stages: int) -> StreamLayout:
    """Return the layout of a program's ports; raise a UsageError for a program without inputs."""
    if not frame.inputs:
        raise UsageError(f"{program.name} has no inputs: it has no stream", "leave out --interface")
    codes = {one.name: one.code for one in program.inputs}
    codes |= {one.name: one.code for one in program.loads[0].outputs}
    signed = {name for name, code in codes.items() if code.kind == "twos"}

    def fields(pins: Iterable[Pin]) -> Iterator[StreamField]:
        low = 0
        for pin in pins:
            yield StreamField(pin, low, pin.port.name in signed and not pin.port.flag)
            low += BYTE * -(-pin.port.bits // BYTE)

    return StreamLayout(frame, tuple(fields(frame.inputs)), tuple(fields(frame.outputs)), stages)


def wrapper(layout: StreamLayout, ending: str) -> str:
    """Return the module or entity with the streams, which contains the core."""
    vhdl = ending == ".vhd"

    def span(name: str, high: int, low: int) -> str:
        if vhdl:
            return f"{name}({high if high == low else f'{high} downto {low}'})"
        return f"{name}[{high if high == low else f'{high}:{low}'}]"

    bits, wires, ends = 0, [], []
    wired = "{} => {}" if vhdl else ".{}({})"
    assigned = "{} <= {};" if vhdl else "assign {} = {};"
    for one in layout.outputs:
        high = bits + one.pin.port.bits - 1
        wires.append(wired.format(one.pin.name, span("made", high, bits)))
        word = span("m_axis_tdata", one.top, one.low)
        ends.append(assigned.format(word, span("sent", high, bits)))
        bits = high + 1
        if rest := one.end - one.top - 1:
            pad = span("m_axis_tdata", one.end - 1, one.top + 1)
            sign = span("sent", high, high) if one.signed else "'0'" if vhdl else "1'b0"
            wide = f"(others => {sign})" if rest > 1 else sign
            ends.append(assigned.format(pad, wide if vhdl else f"{{{rest}{{{sign}}}}}"))
    idle = ["core_valid"] if layout.stages else []
    given = []
    for one in layout.inputs:
        given.append(wired.format(one.pin.name, span("s_axis_tdata", one.top, one.low)))
        if one.end > one.top + 1:
            idle.append(span("s_axis_tdata", one.end - 1, one.top + 1))
    if layout.stages:
        values = ("aclk", "ready" if vhdl else "s_axis_tready", "'0'" if vhdl else "1'b0",
                  "open" if vhdl else "core_valid")  # fmt: skip
        given += map(wired.format, CONTROLS, values)
    return fill(
        f"stream{ending}", head=[f"{'--' if vhdl else '//'} {line}" for line in _notes(layout)],
        name=layout.module, core=layout.core.module, given=layout.inputs[-1].end - 1,
        made=layout.outputs[-1].end - 1, bits=bits, stages=layout.stages,
        before=layout.stages - 1, wires=separated([*given, *wires], ","),
        idle=", ".join(idle) or "1'b0", ends=ends,
    )  # fmt: skip


def _notes(layout: StreamLayout) -> Iterator[str]:
    yield f"module {layout.core.module} with AXI4-Stream; aresetn is synchronous"
    yield f"{layout.stages + 1} clocks of latency, a beat per clock; tlast belongs to its beat"
    yield "skid buffer: s_axis_tready does not depend on m_axis_tready of the same clock"
    for way, fields in (("s", layout.inputs), ("m", layout.outputs)):
        for one in fields:
            above = "ignored" if way == "s" else "copies of its sign" if one.signed else "0"
            rest = f"; bits {one.end - 1}:{one.top + 1} are {above}" * (one.end > one.top + 1)
            yield f"{way}_axis_tdata[{one.top}:{one.low}]: {one.pin.name}{rest}"
