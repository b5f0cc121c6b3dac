"""Netlists of a program (AIGER, BLIF), its two-level logic (PLA), and a proof by SymbiYosys.

A program of few input bits becomes one PLA of all outputs. A larger program of paper mode becomes
one PLA per term, without the arithmetic of sums. Covers are irredundant but not minimum; `boolcomp
minimize` makes them smaller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bitarray import frozenbitarray

from boolcomp.base.errors import UsageError
from boolcomp.logic.formats import Netlist, render_ascii, render_binary, render_logic
from boolcomp.logic.simulation import truth_planes
from boolcomp.targets.hdl import mapping_of
from boolcomp.targets.target import (
    VERILOG,
    Names,
    code_notes,
    comment,
    design_of,
    fill,
    frame_of,
    header,
    input_notes,
    separated,
)
from boolcomp.twolevel import pla
from boolcomp.twolevel.cubes import Dense
from boolcomp.twolevel.function import isop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network
    from boolcomp.program.program import Program, TermUse
    from boolcomp.targets.target import ExportOptions, Files


def netlist_of(program: Program, load: float | None) -> tuple[Netlist, list[str]]:
    """Return the netlist of a program and its comments.

    Bits have the names of the Verilog export (`q1[9]`), for tools that compare by name.
    """
    design = design_of(program, load)
    frame = frame_of(design, VERILOG)
    inputs, outputs = (
        tuple(bit for pin in pins for bit in pin.bits) for pins in (frame.inputs, frame.outputs)
    )
    return Netlist(frame.module, inputs, outputs, design.network), header(design, frame)


def export_aiger(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program as binary AIGER with symbols; comments describe the words."""
    del options
    netlist, comments = netlist_of(program, load)
    return {f"{netlist.name}.aig": render_binary(netlist, comments)}


def export_aiger_ascii(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program as AIGER text with symbols; comments describe the words."""
    del options
    netlist, comments = netlist_of(program, load)
    return {f"{netlist.name}.aag": render_ascii(netlist, comments)}


def export_blif(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program as BLIF: one `.names` per node, one signal per bit."""
    netlist, comments = netlist_of(program, load)
    logic, notes = mapping_of(design_of(program, load), options)
    head = "".join(f"# {line}\n" for line in (*notes, *comments))
    text = render_logic(logic, netlist.name, netlist.inputs, netlist.outputs)
    return {f"{netlist.name}.blif": head + text}


def export_sby(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a task for SymbiYosys: the exported Verilog against the network.

    The expected words of a pipeline are those of inputs as many clocks before as it has stages.
    """
    if options.interface == "stream":
        raise UsageError(
            "a task of SymbiYosys proves the core alone",
            "leave out --interface; boolcomp verify --file proves the stream",
        )
    if options.clock:
        raise UsageError(
            "a task of SymbiYosys needs the number of stages",
            "give --pipeline N, as export printed",
        )
    design, stages = design_of(program, load), options.pipeline
    frame, (netlist, _) = frame_of(design, VERILOG), netlist_of(program, load)
    blif = render_logic(netlist.network, "boolcomp__reference", netlist.inputs, netlist.outputs)
    ports, made, delays, bits, same = [], [], [], [], []
    for pin in (*frame.inputs, *frame.outputs):
        given, high = pin in frame.inputs, pin.port.bits - 1
        word = ("" if given and not stages else "late__" if given else "ref__") + pin.name
        places = [f"[{k}]" if high else "" for k in reversed(range(pin.port.bits))]
        bits += [f".\\{bit} ({word}{k})" for bit, k in zip(pin.bits, places, strict=True)]
        if given:
            ports.append(f"input [{high}:0] {pin.name}")
        else:
            made.append(f"wire [{high}:0] {pin.name}, {word};")
            same.append(f"{pin.name} == {word}")
        if given and stages:
            total = stages * pin.port.bits
            delays += [
                f"reg [{total - 1}:0] delay__{pin.name};",
                f"always @(posedge clock) delay__{pin.name} <= {{delay__{pin.name}, {pin.name}}};",
                f"wire [{high}:0] {word} = delay__{pin.name}[{total - 1}:{total - 1 - high}];",
            ]
    wires = [f".{pin.name}({pin.name})" for pin in (*frame.inputs, *frame.outputs)]
    text = fill(
        "check.sby", name=frame.module, program=comment(program.name), stages=stages,
        frames=stages + 1, last=stages - 1, ports=separated(ports, ","), made=made, delays=delays,
        wires=separated(wires, ","), bits=separated(bits, ","), same=" && ".join(same),
        blif=blif.splitlines(),
    )  # fmt: skip
    return {f"{frame.module}.sby": text}


MOST_INPUTS = 16  # of a PLA


def export_pla(program: Program, load: float | None, options: ExportOptions) -> Files:
    """Return a program's outputs as one PLA, or one PLA per term."""
    del options
    netlist, comments = netlist_of(program, load)
    if netlist.network.inputs <= MOST_INPUTS:
        text = _text(netlist.network, netlist.inputs, netlist.outputs, comments)
        return {f"{netlist.name}.pla": text}
    loads = program.loads if load is None else (program.load(load),)
    if loads[0].joint is not None:
        raise UsageError(
            f"{program.name} has {netlist.network.inputs} input bits, and PLA files at most "
            f"{MOST_INPUTS}", "compile it with --mode paper to export its terms",
        )  # fmt: skip
    files: Files = {}
    names = Names([])
    for term, output in ((term, one) for x in loads for one in x.outputs for term in one.terms):
        network = program.networks[term.network]
        if network.inputs > MOST_INPUTS:
            raise UsageError(
                f"{term.name} has {network.inputs} input bits, and PLA files at most {MOST_INPUTS}",
                "compile it for fewer bits",
            )
        notes = [
            comment(f"{term.name} = {term.text}"), f"made: {code_notes(term.code, output.unit)}",
            *(f"read: {input_notes(program.inputs[word.input])[0]}" for word in term.words),
        ]  # fmt: skip
        made = [f"{term.name}[{k}]" for k in reversed(range(term.code.bits))]
        text = _text(network, _input_bits(program, term), made, notes)
        files[f"{names.new(term.name)}.pla"] = text
    return files


def _input_bits(program: Program, term: TermUse) -> list[str]:
    words = [(program.inputs[word.input], word) for word in term.words]
    return [
        f"{one.name}[{one.code.bits - 1 - k}]"
        for one, word in words
        for k in range(word.dropped, word.bits)
    ]


def _text(
    network: Network, inputs: Sequence[str], outputs: Sequence[str], notes: Sequence[str]
) -> str:
    """Return an irredundant sum of products for each output of a network, as PLA."""
    rows = 1 << network.inputs
    columns = []
    for plane in truth_planes(network):
        data = np.frombuffer(plane.to_bytes(-(-rows // 8), "little"), np.uint8)
        bits = np.unpackbits(data, count=rows, bitorder="little")
        columns.append(frozenbitarray(bits.tolist()))
    cubes = isop(Dense.from_columns(network.inputs, columns))
    head = "".join(f"# {line}\n" for line in notes)
    return head + pla.render(pla.from_cubes(cubes, tuple(inputs), tuple(outputs)))
