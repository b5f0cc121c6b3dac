"""A source on a device: counted by Yosys, placed and routed by nextpnr."""

from __future__ import annotations

import re
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from boolcomp.base.errors import parse_json
from boolcomp.base.files import temporary_folder, write_text
from boolcomp.common.errors import DataError
from boolcomp.logic.synthesis.mapping import mapped
from boolcomp.measure.hardware import tools
from boolcomp.measure.hardware.devices import Cells, Device, counted, flip_flops
from boolcomp.measure.hardware.sources import FRAME, Source, framed
from boolcomp.targets.pipeline import flip_flops as flip_flops_of
from boolcomp.targets.pipeline import stages_of
from boolcomp.targets.target import design_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.program.program import Program

_LENGTH = re.compile(r"Longest topological path in .*\(length=(\d+)\)")
CLOCK_HOPED = 250  # MHz that nextpnr is asked for; it does what it can


@dataclass(frozen=True, slots=True)
class Area:
    """What a source takes on a device; `fmax` holds nextpnr's estimate in MHz for every seed.

    `levels` is the longest way from register to register, in cells; a carry is a cell, too.
    """

    target: str
    design: str
    cells: Cells
    levels: int
    fmax: tuple[float, ...] = ()
    stages: int = 0
    note: str = ""

    @property
    def clock(self) -> float | None:
        """The median of all seeds."""
        return median(self.fmax) if self.fmax else None

    @property
    def latency(self) -> float | None:
        """Nanoseconds from inputs to outputs."""
        return 1e3 * max(1, self.stages) / self.clock if self.clock else None


def area(
    source: Source,
    family: Device,
    *,
    dsp: bool = False,
    seeds: int = 1,
    step: Callable[[str], None] = lambda _: None,
) -> Area:
    """Count a source's cells on a device; with seeds, place and route it so many times."""
    with temporary_folder() as folder:
        write_text(folder / "core.v", source.text, durable=False)
        write_text(folder / "frame.v", framed(source), durable=False)
        step(f"{family.name}, {source.name}: yosys")
        cells, levels = _counted(source, family, folder, dsp=dsp)
        note, fmax = "", []
        if seeds and family.router and cells.dsp:
            note = "no clock: multipliers without registers are timed wrongly"
        elif seeds and family.router and tools.find(family.router) is None:
            note = tools.missing(family.router)
        elif seeds and family.router:
            _framed(family, folder, dsp=dsp)
            for seed in range(1, seeds + 1):
                step(f"{family.name}, {source.name}: {family.router}, seed {seed}")
                fmax.append(_routed(family, folder, seed))
    return Area(family.name, source.name, cells, levels, tuple(fmax), source.stages, note)


def _counted(source: Source, family: Device, folder: Path, *, dsp: bool) -> tuple[Cells, int]:
    yosys = tools.needed("yosys")
    made = _synthesis(family, source.top, dsp=dsp)
    script = [_read(family, "core.v"), made, "tee -q -o stat.json stat -json"]
    _run(yosys, [*script, "write_rtlil core.il"], folder)
    kinds = cell_kinds((folder / "stat.json").read_text("utf-8"))
    registers = [f"t:{kind}" for kind in flip_flops(kinds, family)]
    cut = [f"delete {' '.join(registers)}"] if registers else []
    script = ["read_rtlil core.il", *cut, "tee -q -o ltp.txt ltp"]
    _run(yosys, script, folder)
    return counted(kinds, family), longest((folder / "ltp.txt").read_text("utf-8"))


def _synthesis(family: Device, top: str, *, dsp: bool) -> str:
    option = family.dsp if dsp else family.no_dsp
    return f"{family.synthesis.format(top=top)} {option}".strip()


def _read(family: Device, *files: str) -> str:
    macro = f" -D{family.macro}" if family.macro else ""
    return f"read_verilog{macro} {' '.join(files)}"


def _framed(family: Device, folder: Path, *, dsp: bool) -> None:
    script = [_read(family, "core.v", "frame.v"), _synthesis(family, FRAME, dsp=dsp)]
    _run(tools.needed("yosys"), [*script, "write_json frame.json"], folder)


def _run(yosys: tools.Tool, script: list[str], folder: Path) -> str:
    return yosys.run(["-p", "; ".join(script)], folder)


def _routed(family: Device, folder: Path, seed: int) -> float:
    """Place and route the frame; return the clock that nextpnr believes in."""
    router = tools.needed(family.router)
    options = ["--json", "frame.json", "--report", "report.json", "--seed", str(seed)]
    options += ["--freq", str(CLOCK_HOPED), "--timing-allow-fail", "-q"]
    router.run([*family.part, *options], folder)
    return clock_of((folder / "report.json").read_text("utf-8"))


def cell_kinds(text: str) -> dict[str, int]:
    """Return how many cells of each kind there are, as `stat -json` of Yosys says."""
    try:
        document = parse_json(text, "what Yosys counted")
        kinds = document["design"]["num_cells_by_type"]
        return {str(kind): int(count) for kind, count in kinds.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("what Yosys counted cannot be read") from error


def longest(text: str) -> int:
    """Return the length of the longest path, as `ltp` of Yosys says."""
    found = _LENGTH.findall(text)
    if not found:
        raise DataError("what Yosys said of the longest path cannot be read")
    return max(map(int, found))


def clock_of(text: str) -> float:
    """Return the slowest clock of a report of nextpnr, in MHz."""
    try:
        clocks = parse_json(text, "the report of nextpnr")["fmax"]
        return min(float(one["achieved"]) for one in clocks.values())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError("nextpnr's report has no clock") from error


def mapped_area(program: Program, load: float | None, family: Device, stages: int) -> Area:
    """Count the tables of our own mapping: what any FPGA with such tables would take."""
    network = design_of(program, load).network
    found = mapped(network, family.luts, "depth" if stages else "area", stages=max(1, stages))
    places = stages_of(found.luts, stages)
    registers = flip_flops_of(found.luts, places, stages) if stages else 0
    levels = -(-found.luts.depth // max(1, stages))
    name = f"luts, {stages} stages" if stages else "luts"
    cells = Cells(len(found.luts.nodes), 0, 0, 0, registers + stages)
    return Area(family.name, name, cells, levels, stages=stages, note=found.note)
