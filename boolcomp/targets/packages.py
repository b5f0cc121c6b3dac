"""Files around exported Verilog: a SystemVerilog package of word formats, FuseSoC, Amaranth."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.targets.hdl import export_verilog
from boolcomp.targets.stream import layout_of
from boolcomp.targets.target import VERILOG, Names, comment, design_of, fill, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from boolcomp.codes import Code
    from boolcomp.program.program import Program
    from boolcomp.targets.stream import StreamField
    from boolcomp.targets.target import ExportOptions, Files, Frame


def export_package(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a package with the format and type of every word, and the structures of tdata."""
    del options
    frame = frame_of(design_of(program, load), VERILOG)
    name = f"{frame.module}_pkg"
    lines = [*_formats(program, load, frame)]
    if frame.inputs:
        layout = layout_of(program, frame, 0)
        lines += [*_structure("s_axis_tdata_t", layout.inputs)]
        lines += [*_structure("m_axis_tdata_t", layout.outputs)]
    return {f"{name}.sv": fill("package.sv", name=name, lines=lines)}


def _formats(program: Program, load: float | None, frame: Frame) -> Iterator[str]:
    """Yield the parameters and types of words; formats that differ by load have its number."""
    loads = program.loads if load is None else (program.load(load),)
    codes = {one.name: [(one.code, one.unit)] for one in program.inputs}
    for k, one in enumerate(loads[0].outputs):
        every = [(other.outputs[k].code, other.outputs[k].unit) for other in loads]
        codes[one.name] = every if len(set(every)) > 1 else every[:1]
    for pin in (*frame.inputs, *frame.outputs):
        known = [] if pin.port.flag else codes.get(pin.port.name, [])
        signed = any(code.kind == "twos" for code, _ in known)
        yield from (f"// - {note}" for note in pin.port.notes)
        yield f"typedef logic {'signed ' * signed}[{pin.port.bits - 1}:0] {pin.name}_t;"
        yield f"localparam int {pin.name.upper()}_BITS = {pin.port.bits};"
        if known:
            yield f"localparam bit {pin.name.upper()}_SIGNED = 1'b{int(signed)};"
        for k, (code, unit) in enumerate(known):
            of_load = f"_LOAD{k}" if len(known) > 1 else ""
            for kind, parameter, value in _parameters(code, unit):
                yield f"localparam {kind}{pin.name.upper()}_{parameter}{of_load} = {value};"


def _parameters(code: Code, unit: str) -> Iterator[tuple[str, str, str]]:
    raised, base = code.centred
    first = code.cells // 2 if code.kind == "twos" else 0
    yield "", "CODE", f'"{code.kind}"'
    yield "", "UNIT", '"{}"'.format(comment(unit).replace('"', "'"))
    for name, value in (
        ("SCALE", code.step), ("OFFSET", base + (first + raised) * code.step),
        ("LOW", code.range.low), ("HIGH", code.range.high),
    ):  # fmt: skip
        yield "real ", name, repr(float(value))


def _structure(name: str, fields: Iterable[StreamField]) -> Iterator[str]:
    """Yield the structure of a beat, most significant field first."""
    fields = [*fields]
    names = Names([one.pin.name for one in fields])
    yield "typedef struct packed {"
    for one in reversed(fields):
        if rest := one.end - one.top - 1:
            yield f"    logic [{rest - 1}:0] {names.new('fill')};"
        yield f"    {one.pin.name}_t {one.pin.name};"
    yield f"}} {name};"


def export_fusesoc(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a core file of FuseSoC, the Verilog, its package and, as an option, its bench."""
    sources = export_verilog(program, load, options)
    package = export_package(program, load, options)
    name, *bench = (file.removesuffix(".v") for file in sources)
    text = fill(
        "fusesoc.core", name=name, bench=bench[0] if bench else "",
        package=next(iter(package)).removesuffix(".sv"),
        about=json.dumps(comment(f"program {program.name}, compiled by boolcomp")),
    )  # fmt: skip
    return {f"{name}.core": text, **sources, **package}


def export_amaranth(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a component of Amaranth and the Verilog with streams that it contains."""
    if options.interface not in (None, "stream"):
        raise UsageError("an Amaranth component has the interface stream", "leave out --interface")
    sources = export_verilog(program, load, replace(options, interface="stream"))
    frame = frame_of(design_of(program, load), VERILOG)
    layout = layout_of(program, frame, options.pipeline)

    kinds = "unsigned", "signed"

    def fields(some: Iterable[StreamField]) -> list[str]:
        return [
            f'"{one.pin.name}": data.Field({kinds[one.signed]}({one.pin.port.bits}), {one.low}),'
            for one in some
        ]

    text = fill(
        "amaranth.py.in", name=layout.module, given=layout.inputs[-1].end,
        made=layout.outputs[-1].end, inputs=fields(layout.inputs), outputs=fields(layout.outputs),
        last=Names([pin.name for pin in (*frame.inputs, *frame.outputs)]).new("last"),
        component="".join(map(str.capitalize, layout.module.split("_"))),
        latency=layout.stages + 1,
    )  # fmt: skip
    return {f"{layout.module}.py": text, **sources}
