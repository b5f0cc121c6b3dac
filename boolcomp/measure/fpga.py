"""Boards, and how a program becomes a bitstream: synthesis, proof, place and route, packing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.files import temporary_folder, write_text
from boolcomp.common.errors import DataError, require_name
from boolcomp.logic.formats import render_netlist
from boolcomp.logic.synthesis import abc
from boolcomp.measure.hardware import tools
from boolcomp.measure.hardware.area import cell_kinds, clock_of
from boolcomp.measure.hardware.devices import Cells, Device, counted, device, flip_flops
from boolcomp.targets.board import TOP, bench, top
from boolcomp.targets.gates import gates_of
from boolcomp.targets.mapped import mapping_of
from boolcomp.targets.netlists import netlist_of
from boolcomp.targets.target import design_of
from boolcomp.targets.verilog import VERILOG_SYNTAX, render_verilog

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.program.program import Program
    from boolcomp.targets import Options


@dataclass(frozen=True, slots=True)
class Board:
    """A board: its clock, what its part holds, nextpnr's options, where its pins are."""

    name: str
    about: str
    family: str
    hertz: int
    tables: int
    part: tuple[str, ...]
    pins: tuple[tuple[str, str], ...]
    packer: str
    ending: str


_ULX3S = (("clk", "G2"), ("rx", "M1"), ("tx", "L4"))
BOARDS = {
    one.name: one
    for one in (
        Board("icebreaker", "iCEBreaker, iCE40 UP5K", "ice40", 12_000_000, 5280,
              ("--up5k", "--package", "sg48"), (("clk", "35"), ("rx", "6"), ("tx", "9")),
              "icepack", ".bin"),
        Board("ulx3s", "ULX3S, ECP5 85F", "ecp5", 25_000_000, 83_640,
              ("--85k", "--package", "CABGA381", "--speed", "6"), _ULX3S, "ecppack", ".bit"),
        Board("ulx3s-25f", "ULX3S, ECP5 25F", "ecp5", 25_000_000, 24_288,
              ("--25k", "--package", "CABGA381", "--speed", "6"), _ULX3S, "ecppack", ".bit"),
    )
}  # fmt: skip


def board(name: str) -> Board:
    """Return a board by name."""
    require_name("board", name, BOARDS)
    return BOARDS[name]


@dataclass(frozen=True, slots=True)
class Sources:
    """What is written for a board, as texts."""

    core: str
    module: str
    top: str
    bench: str
    constraints: str
    blif: str


@dataclass(frozen=True, slots=True)
class Built:
    """A bitstream, what it takes of the part, and the clock that nextpnr believes in."""

    bitstream: bytes
    cells: Cells
    fmax: float


def sources(program: Program, load: float | None, one: Board, options: Options) -> Sources:
    """Return the core as look-up tables in stages, the top module, its bench, its pins."""
    design = design_of(program, load)
    logic, notes = mapping_of(design, options)
    gates = gates_of(design, VERILOG_SYNTAX, options.pipeline, logic)
    netlist, _ = netlist_of(program, load)
    return Sources(
        render_verilog(design, gates, options.luts, notes), gates.module, top(gates, one.hertz),
        bench(program, load, gates, one.hertz), constraints(one), render_netlist(netlist),
    )  # fmt: skip


def constraints(one: Board) -> str:
    """Return where pins are, as nextpnr reads it."""
    if one.family == "ice40":
        return "".join(f"set_io {name} {pin}\n" for name, pin in one.pins)
    lines = []
    for name, pin in one.pins:
        lines.append(f'LOCATE COMP "{name}" SITE "{pin}";')
        lines.append(f'IOBUF PORT "{name}" IO_TYPE=LVCMOS33;')
    lines.append(f'FREQUENCY PORT "clk" {one.hertz / 1e6:g} MHZ;')
    return "\n".join(lines) + "\n"


def built(made: Sources, one: Board, step: Callable[[str], None] = lambda _: None) -> Built:
    """Synthesise, prove, place, route and pack; whatever fails is a sentence."""
    family = device(one.family)
    for name in ("yosys", family.router, one.packer):
        tools.needed(name)
    with temporary_folder() as folder:
        for file, text in (("core.v", made.core), ("top.v", made.top), ("pins", made.constraints)):
            write_text(folder / file, text, durable=False)
        step("yosys: the core")
        _synthesise_core(made, family, folder)
        step("ABC: is the core the program?")
        _prove(made, family, folder)
        step("yosys: the whole")
        cells = _synthesise_top(family, folder)
        if cells.luts > one.tables:
            raise DataError(
                f"{one.about} has {one.tables} look-up tables, the design takes {cells.luts}: "
                "compile with fewer bits or a larger error, or take a larger board"
            )
        step(f"{family.router}: place and route")
        fmax = _route(one, family, folder)
        step(one.packer)
        tools.needed(one.packer).run(_packed(one), folder)
        return Built((folder / "bitstream").read_bytes(), cells, fmax)


def _synthesise_core(made: Sources, family: Device, folder: Path) -> None:
    script = [
        f"read_verilog -D{family.macro} core.v", family.synthesis.format(top=made.module),
        "tee -q -o core.json stat -json", "write_rtlil core.il",
    ]  # fmt: skip
    tools.needed("yosys").run(["-p", "; ".join(script)], folder)


def _prove(made: Sources, family: Device, folder: Path) -> None:
    """Prove by ABC that the synthesised core, its registers read through, is the network."""
    tool = abc.find()
    if tool is None:
        raise DataError(f"the core cannot be proved: {abc.MISSING.note}")
    kinds = cell_kinds((folder / "core.json").read_text("utf-8"))
    write_text(folder / "wires.v", _as_wires(flip_flops(kinds, family), family), durable=False)
    script = [
        "read_rtlil core.il", "techmap -map wires.v", f"hierarchy -top {made.module}",
        "delete w:clock w:enable w:valid_in w:valid_out", "opt_clean -purge",
        "splitnets -ports", "write_blif made.blif",
    ]  # fmt: skip
    tools.needed("yosys").run(["-p", "; ".join(script)], folder)
    files = {"a.blif": made.blif, "b.blif": (folder / "made.blif").read_text("utf-8")}
    outcome = abc.run(tool, ["cec a.blif b.blif"], files, (), deadline=600)
    if "Networks are equivalent" not in outcome.printed:
        said = outcome.note or " ".join(outcome.printed.split())[-200:]
        raise DataError(f"the synthesised core is not proved to be the program: {said}")


def _as_wires(kinds: list[str], family: Device) -> str:
    """Return a family's cells as logic: tables, and flip-flops as wires.

    What a full pipeline computes is what it would compute without its registers; that all ways
    are equally long is the bench's to show.
    """
    ports, data = ("C", "E", "R", "S", "D"), "D"
    parameters: tuple[str, ...] = ()
    init, pins, out = "LUT_INIT", ("I3", "I2", "I1", "I0"), "O"
    if family.name == "ecp5":
        ports, data = ("CLK", "LSR", "CE", "DI", "M"), "DI"
        parameters = ("GSR", "CEMUX", "CLKMUX", "LSRMUX", "LSRONMUX", "REGSET", "SRMODE")
        init, pins, out = "INIT", ("D", "C", "B", "A"), "Z"
    given = ", ".join(f"input {one}" for one in ports)
    known = "".join(f" parameter {one} = 0;" for one in parameters)
    wires = [
        f"module {kind} ({given}, output Q);{known} assign Q = {data}; endmodule\n"
        for kind in kinds
    ]
    table = (
        f"module {family.tables} ({', '.join(f'input {one}' for one in pins)}, output {out});\n"
        f"parameter {init} = 0;\n"
        f"\\$lut #(.WIDTH(4), .LUT({init})) _TECHMAP_REPLACE_ "
        f"(.A({{{', '.join(pins)}}}), .Y({out}));\nendmodule\n"
    )
    return "".join([*wires, table])


def _synthesise_top(family: Device, folder: Path) -> Cells:
    script = [
        "read_rtlil core.il", "read_verilog top.v", family.synthesis.format(top=TOP),
        "tee -q -o top.json stat -json", "write_json placed.json",
    ]  # fmt: skip
    tools.needed("yosys").run(["-p", "; ".join(script)], folder)
    return counted(cell_kinds((folder / "top.json").read_text("utf-8")), family)


def _route(one: Board, family: Device, folder: Path) -> float:
    pins, out = ("--pcf", "--asc") if one.family == "ice40" else ("--lpf", "--textcfg")
    options = ["--json", "placed.json", pins, "pins", out, "routed", "--report", "report.json"]
    options += ["--freq", f"{one.hertz / 1e6:g}", "--seed", "1", "-q"]
    tools.needed(family.router).run([*one.part, *options], folder)
    return clock_of((folder / "report.json").read_text("utf-8"))


def _packed(one: Board) -> list[str]:
    return ["routed", "bitstream"] if one.packer == "icepack" else ["routed", "--bit", "bitstream"]
