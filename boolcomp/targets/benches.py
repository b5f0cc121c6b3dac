"""Self-checking test benches in Verilog, VHDL, and Python for cocotb.

One vector is falsified: a bench passes if that vector and no other differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.target import CONTROLS, fill, separated, vectors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.program.program import Program
    from boolcomp.targets.stream import StreamLayout
    from boolcomp.targets.target import Frame, Pin, Vectors


BENCHES = {  # ports besides words, and the signals of the bench that they have
    "plain": {},
    "clocks": {name: name for name in CONTROLS},
    "cycles": {name: name for name in ("clock", "start", "busy", "done")},
    "stream": {
        "aclk": "clock", "aresetn": "aresetn", "s_axis_tvalid": "valid_in",
        "s_axis_tready": "accepts", "m_axis_tvalid": "valid_out", "m_axis_tready": "enable",
    },
}  # fmt: skip


def bench(
    program: Program, load: float | None, frame: Frame, ending: str, stages: int = 0,
    cycles: int = 0, *, layout: StreamLayout | None = None,
) -> str:  # fmt: skip
    """Return a bench in Verilog or VHDL, which prints a line that begins with PASS or FAIL.

    A module has a pipeline of `stages`, streams of a `layout`, or is a processor of at most so many
    `cycles`.
    """
    found = vectors(program, load, frame)
    if layout:
        found, frame = layout.beats(found), layout.bench_frame
    count, given, wanted = len(found.given), len(found.given[0]), len(found.expected[0])
    named, indexed = (".{0}({1})", ".{0}({1}[{2}])")
    if ending == ".vhd":
        named, indexed = ("{0} => {1}", "{0} => {1}({2})")
    kind = "stream" if layout else "cycles" if cycles else "clocks" if stages else "plain"
    ports = [named.format(*pair) for pair in BENCHES[kind].items()]
    for pins, name, bits in ((frame.inputs, "inputs", given), (frame.outputs, "outputs", wanted)):
        ports += _bundle(pins, name, bits, indexed, vhdl=ending == ".vhd")
    return fill(
        f"bench{ending}", name=frame.module, count=count, last=count - 1, wrong=found.falsified,
        given_bits=given, given_high=given - 1, wanted_high=wanted - 1, cycles=cycles,
        clocks=2 * (count + stages) + 10 if kind == "clocks" else 0, plain=kind == "plain",
        stream=kind == "stream", flows=kind in ("clocks", "stream"), most=4 * (count + stages),
        ports=separated(ports, ",") if ending == ".vhd" else ", ".join(ports),
        given=separated((f'{k} => "{row}"' for k, row in enumerate(found.given)), ","),
        wanted=separated((f'{k} => "{row}"' for k, row in enumerate(found.expected)), ","),
        rows=verilog_rows(found, range(count), given, wanted),
    )  # fmt: skip


def verilog_rows(found: Vectors, places: Iterable[int], given: int, wanted: int) -> list[str]:
    """Return assignments of chosen vectors, as words of `given` and `wanted` bits."""
    return [
        line
        for row, k in enumerate(places)
        for line in (
            f"given[{row}] = {given}'b{found.given[k]};",
            f"wanted[{row}] = {wanted}'b{found.expected[k]};",
        )
    ]


def bundle(pins: tuple[Pin, ...], name: str, place: int) -> Iterator[str]:
    """Yield connections of ports with the bits of one signal, from bit `place` - 1 down."""
    return _bundle(pins, name, place, ".{0}({1}[{2}])", vhdl=False)


def _bundle(
    pins: tuple[Pin, ...], name: str, place: int, wired: str, *, vhdl: bool
) -> Iterator[str]:
    for pin in pins:
        high, place = place - 1, place - pin.port.bits
        span = f"{high}:{place}"
        if vhdl:
            span = f"{high}" if high == place else f"{high} downto {place}"
        yield wired.format(pin.name, name, span)


def cocotb_test(
    program: Program, load: float | None, frame: Frame, stages: int, layout: StreamLayout | None
) -> str:
    """Return a test module for cocotb, which builds and simulates when run as a script."""
    found = vectors(program, load, frame)
    if layout:
        found, frame = layout.beats(found), layout.bench_frame
    rows = []
    for given, wanted in zip(found.given, found.expected, strict=True):
        words = [*_words(frame.inputs, given), *_words(frame.outputs, wanted)]
        rows.append(f"({', '.join(words)}),")
    inputs, outputs = (
        ", ".join(f'"{pin.name}"' for pin in pins) for pins in (frame.inputs, frame.outputs)
    )
    return fill(
        "cocotb.py.in", name=frame.module, count=len(rows), wrong=found.falsified, inputs=inputs,
        outputs=outputs, rows=rows, stages=0 if layout else stages, stream=bool(layout),
        plain=not (stages or layout), most=4 * (len(rows) + stages),
    )  # fmt: skip


def _words(pins: tuple[Pin, ...], bits: str) -> Iterator[str]:
    place = 0
    for pin in pins:
        yield str(int(bits[place : place + pin.port.bits], 2))
        place += pin.port.bits
