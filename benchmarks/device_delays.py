"""Delays of FPGA cells and wires, fitted on the critical paths of nextpnr's reports.

    python benchmarks/device_delays.py                    # fit, and the errors on other designs
    python benchmarks/device_delays.py ecp5 --write       # also write the row of targets/delays.py

Designs of `FITTED` (tables and words in several stages) and sums between registers are placed and
routed. Delays of cells are means over the critical paths; wires are fitted by least squares. The
designs of `HELD_OUT` are predicted only, in two ways: by the parts of their own critical path,
and by the levels of a stage, as `--clock` does. The row of Xilinx is not fitted: its cells are from
a public database.
"""

from __future__ import annotations

import json
import re
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter, defaultdict
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import boolcomp
from boolcomp.base.errors import table
from boolcomp.base.files import temporary_folder, write_text
from boolcomp.logic.lutmapping import mapped
from boolcomp.measure import fpga
from boolcomp.measure.fpga import VerilogSource, device, framed, source_of
from boolcomp.targets import delays
from boolcomp.targets.delays import DELAYS
from boolcomp.targets.hdl import VerilogPrinter
from boolcomp.targets.rtl import gates_of
from boolcomp.targets.stages import Readers, StagePlan
from boolcomp.targets.target import VERILOG, design_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.measure.fpga import Device
    from boolcomp.targets.delays import Delays

FITTED = {"machado-2r": (2, 4, 8, 12), "elbow-3r": (4, 8, 16), "puma560": (8, 16)}
HELD_OUT = {"planar-3r": (2, 4, 8), "scara": (4, 8, 16)}
LARGE = "up5k", "puma560"  # does not fit
SMALL = 200  # cells: its wires are short
SUMS = (8, 16, 24, 32, 48)  # bits
SUM = """
module sum(input clock, enable, valid_in, input [{high}:0] a, b, output reg valid_out,
           output reg [{high}:0] c);
  reg [{high}:0] x, y;
  always @(posedge clock) begin x <= a; y <= b; c <= x + y; valid_out <= valid_in; end
endmodule
"""
CARRIES, ENTRIES, PINS = ("COUT", "FCO"), ("CIN", "FCI"), ("I0", "I1", "I2", "I3")
GROWTHS = np.arange(0, 0.51, 0.01).tolist()  # of wires: when a design doubles, without carries
SCALE = 10_000


class TimedPath(NamedTuple):
    """A critical path: the sum of its delays in ps, and the number of parts, by kind."""

    delays: Mapping[str, float]
    counts: Mapping[str, int]

    @property
    def period(self) -> float:
        return sum(self.delays.values())


class Placed(NamedTuple):
    """A placed design: its cells, the levels of its plan (0: not known), its slowest path."""

    name: str
    cells: int
    levels: int
    path: TimedPath


def path_of(report: str) -> TimedPath:
    """Return the slowest path between registers of a report of nextpnr.

    A table in front of a register may be part of its set-up: it counts as a table.
    """
    paths = [one["path"] for one in json.loads(report)["critical_paths"]
             if one["from"] == one["to"] and "posedge" in one["from"]]  # fmt: skip
    steps = max(paths, key=lambda path: sum(step["delay"] for step in path))
    total: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    carried = False
    for step in steps:
        begin, end, kind = step["from"]["port"], step["to"]["port"], step["type"]
        if kind == "routing":
            carried = begin in CARRIES
            kind = "register" if end == "DI" else "route"
            if carried:
                kind = "carry" if end in ENTRIES else "carry_out"
        elif kind == "logic" and end in CARRIES:
            kind = "carry" if begin in ENTRIES else "carry_in"
        elif kind == "logic" or end in PINS:
            kind = "carry_out" if carried else "lut"
        else:
            kind = "register"
        total[kind] += 1e3 * step["delay"]
        counts[kind] += step["type"] != "routing" or kind == "route"
    return TimedPath(total, counts)


def placed(source: VerilogSource, levels: int, family: Device) -> Placed:
    """Place and route a design in the frame of `boolcomp area`."""
    with temporary_folder() as folder:
        write_text(folder / "core.v", source.text, durable=False)
        write_text(folder / "frame.v", framed(source), durable=False)
        fpga._framed(family, folder, dsp=False)  # noqa: SLF001 (the same runs as of `area`)
        fpga._routed(family, folder, 1)  # noqa: SLF001
        made = json.loads((folder / "frame.json").read_text("utf-8"))["modules"][fpga.FRAME]
        report = (folder / "report.json").read_text("utf-8")
    kinds = Counter(cell["type"] for cell in made["cells"].values())
    cells = fpga.counted(kinds, family)
    found = Placed(f"{source.top}, {source.name}", cells.luts + cells.carries, levels,
                   path_of(report))  # fmt: skip
    print(f"{family.name}: {found.name}", file=sys.stderr, flush=True)
    return found


@cache
def program(robot: str) -> boolcomp.Program:
    if robot == "machado-2r":
        return boolcomp.compile(robot)
    return boolcomp.compile(robot, bits=8, rms_error=0.505)


@cache
def tables(robot: str) -> Network:
    return mapped(design_of(program(robot)).network, 4, "depth", quick=True).luts


def sources(robots: Mapping[str, Sequence[int]]) -> Iterator[tuple[VerilogSource, int]]:
    """Yield words and tables in several stages, with the levels of a stage of tables."""
    for robot, counts in robots.items():
        design = design_of(program(robot))
        for count in counts:
            words = source_of(program(robot), None, "words", count, 4)
            yield words, 0
            gates = gates_of(design, VERILOG, count, tables(robot))
            text = VerilogPrinter(gates, 4).text(design)
            levels = StagePlan(Readers.of(tables(robot)), count).longest
            yield replace(words, name=f"tables, {count} stages", text=text), levels


def sums() -> Iterator[tuple[VerilogSource, int]]:
    """Yield sums between registers."""
    for bits in SUMS:
        text, ports = SUM.format(high=bits - 1), (("a", bits), ("b", bits))
        yield VerilogSource(f"{bits} bits", text, "sum", ports, (("c", bits),), 1), 0


def fitted(before: Delays, designs: Sequence[Placed]) -> Delays:
    """Return the delays that designs show."""
    paths = [one.path for one in designs]

    def average(kind: str, by: str) -> int:
        total = sum(one.delays.get(kind, 0) for one in paths)
        return round(total / max(1, sum(one.counts.get(by, 0) for one in paths)))

    wired = [one for one in designs if one.cells > SMALL]
    wires = np.array([one.path.delays["route"] for one in wired])
    best = (np.inf, np.zeros(2), before)
    for growth, tangle in product(GROWTHS, GROWTHS):
        trial = replace(before, route=SCALE, growth=round(growth, 2), tangle=round(tangle, 2))
        scales = [trial.sized(one.cells, tables=bool(one.levels)).route / SCALE for one in wired]
        hops = np.array([[one.path.counts["route"], 1] for one in wired]) * np.c_[scales]
        found = np.linalg.lstsq(hops / wires[:, None], np.ones(len(wires)), rcond=None)[0]
        error = float(np.sum((hops @ found / wires - 1) ** 2))
        best = min(best, (error, found, trial), key=lambda one: one[0])
    route, detour = (round(x) for x in best[1])
    return replace(
        best[2], register=round(mean(one.delays["register"] for one in paths)),
        lut=average("lut", "lut"), carry_in=average("carry_in", "carry_in"),
        carry=average("carry", "carry"), carry_out=average("carry_out", "carry_in"), route=route,
        detour=detour,
    )  # fmt: skip


def errors(known: Delays, designs: Sequence[Placed]) -> list[list[str]]:
    """Return a row for every design: its period in ps, and the errors of both predictions."""
    rows = []
    for one in designs:
        at = known.sized(one.cells, tables=bool(one.levels))
        counts, period = one.path.counts, one.path.period
        parts = {"lut": "lut", "route": "route", "carry": "carry", "carry_in": "carry_in",
                 "carry_out": "carry_in"}  # fmt: skip
        own = at.overhead + sum(getattr(at, x) * counts.get(by, 0) for x, by in parts.items())
        guesses = [own, at.overhead + one.levels * at.level] if one.levels else [own]
        shares = [f"{100 * (guess / period - 1):+.0f}" for guess in guesses]
        rows.append([one.name, f"{one.cells}", f"{period:.0f}", *shares, *[""] * (2 - len(shares))])
    return rows


def written(name: str, row: Delays) -> None:
    """Replace a row of the table in targets/delays.py."""
    path = Path(delays.__file__)
    numbers = ", ".join(str(x) for x in (
        row.inputs, row.register, row.lut, row.carry_in, row.carry, row.carry_out, row.route,
        row.detour, row.growth, row.tangle,
    ))  # fmt: skip
    line = f'    "{name}": Delays("{row.about}", {numbers}),'
    path.write_text(re.sub(rf'(?m)^    "{name}": Delays\(.*\),$', line, path.read_text()))


def main() -> None:
    """Fit devices, and print the errors of predictions."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("devices", nargs="*", default=["ice40", "up5k", "ecp5"])
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    for name in asked.devices:
        family = device(name)
        robots = {one: counts for one, counts in FITTED.items() if (name, one) != LARGE}
        designs = [placed(source, levels, family)
                   for source, levels in (*sums(), *sources(robots))]  # fmt: skip
        row = fitted(DELAYS[name], designs)
        print(f"{row}\n")
        if asked.write:
            written(name, row)
        others = [placed(source, levels, family) for source, levels in sources(HELD_OUT)]
        for title, which in (("fitted on", designs), ("held out", others)):
            rows = errors(row, which)
            print(table([title, "cells", "ps", "by its path, %", "by levels, %"], rows, (0,)))
            for column, kind in ((3, "by their paths"), (4, "by levels")):
                found = [abs(float(one[column])) for one in rows if one[column]]
                print(f"{kind}: {mean(found):.0f} % off on average, {max(found):.0f} % at most")
            print(flush=True)


if __name__ == "__main__":
    main()
