"""What programs take of FPGAs, beside behavioural fixed-point Verilog, as ratios in one run.

    python benchmarks/area.py                          # the 2R and the PUMA 560 at 8 bits
    python benchmarks/area.py out/2r --seeds 3         # programs that were saved
    python benchmarks/area.py --count                  # no clocks: counts only

Needs `pip install 'boolcomp[hardware]'`. The rival of the 2R is `rivals/two_link_fixed.v`, whose
widths `two_link_verilog.py` tunes; Icarus simulates it against Newton-Euler here, and its rms error
is printed. It is synthesised by Yosys alone, with Booth's products, and with the very mapping that
our tables get: the smallest is the one to beat. Clocks are nextpnr's estimates: the median of
seeds, and the best.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from two_link_verilog import FILE, LSB, NAMES, Judge

import boolcomp
from boolcomp.base.errors import table
from boolcomp.logic.formats import read_netlist
from boolcomp.logic.lutmapping import in_lut3, mapped
from boolcomp.logic.simulation import simulate_network
from boolcomp.measure import fpga
from boolcomp.measure.fpga import Area, CellCounts, VerilogSource, area, device, source_of
from boolcomp.program.files import load_program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.logic.formats import Netlist
    from boolcomp.logic.network import Network
    from boolcomp.measure.fpga import Device

FAMILIES = ("ice40", "ecp5", "xilinx7")
HEAD = ["target", "design", "tables", "carries", "DSP", "flip-flops", "levels", "MHz", "best",
        "rival / ours"]  # fmt: skip
STATES = 20_000
BOOTH = "hierarchy -top two_link_fixed; proc; flatten; opt; wreduce; booth; "
_BENCH = """
module bench;
    reg [59:0] given [0:{last}];
    reg [59:0] row;
    wire [7:0] tau1, tau2;
    integer k;
    two_link_fixed dut (row[59:50], row[49:40], row[39:30], row[29:20], row[19:10], row[9:0],
        tau1, tau2);
    initial begin
        $readmemh("given.hex", given);
        for (k = 0; k <= {last}; k = k + 1) begin
            row = given[k];
            #1 $display("%0d %0d", tau1, tau2);
        end
    end
endmodule
"""


class Judged(NamedTuple):
    """States in words, and what the rival's Verilog makes of them as Icarus simulates it."""

    judge: Judge
    words: NDArray[np.int64]

    @property
    def errors(self) -> tuple[float, ...]:
        """The rms errors in LSB."""
        exact = self.judge.exact.T / LSB
        return tuple(np.sqrt(np.mean((self.words - 128 + 0.5 - exact) ** 2, axis=0)).tolist())


def simulated() -> Judged:
    """Return what the rival gives, by Icarus."""
    judge = Judge(STATES, 99)
    tool = shutil.which("iverilog")
    if tool is None:
        raise SystemExit("Icarus Verilog was not found: apt-get install iverilog")
    rows = np.zeros(STATES, dtype=object)
    for name in NAMES:
        rows = rows * 1024 + judge.words[name].astype(object)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "given.hex").write_text("".join(f"{row:015x}\n" for row in rows))
        (folder / "bench.v").write_text(_BENCH.format(last=STATES - 1))
        made = [tool, "-g2005", "-Wall", "-s", "bench", "-o", "x", "bench.v", str(FILE)]
        subprocess.run(made, cwd=folder, check=True)
        ran = subprocess.run(["vvp", "-n", "x"], cwd=folder, check=True, capture_output=True)  # noqa: S607
    return Judged(judge, np.array(ran.stdout.split(), dtype=np.int64).reshape(STATES, 2))


def mapped_rival(family: Device, judged: Judged) -> Area:
    """Return the rival as our own mapping has it, the smaller with Booth's products and without.

    It has no carries then. What is mapped gives Icarus's words for all states.
    """
    found = []
    for start in ("", BOOTH):
        with TemporaryDirectory() as name:
            folder = Path(name)
            script = f"read_verilog {FILE}; {start} synth -flatten -top two_link_fixed; "
            script += "abc -g AND,OR,XOR; opt_clean; write_blif rival.blif"
            fpga.needed("yosys").run(["-p", script], folder)
            netlist = read_netlist((folder / "rival.blif").read_text("utf-8"))
        made = mapped(netlist.network, family.luts).luts
        if (_words(netlist, in_lut3(made), judged.judge) != judged.words).any():
            raise SystemExit("the rival as it is mapped gives other words")
        found.append(Area(family.name, "fixed point by hand, mapped as ours",
                          CellCounts(len(made.nodes), 0, 0, 0, 0), made.depth))  # fmt: skip
    return min(found, key=lambda one: one.cells.luts)


def _words(netlist: Netlist, network: Network, judge: Judge) -> NDArray[np.int64]:
    """Return the words that a netlist gives for all states; its ports are called `q1[0]`."""
    planes = []
    for port in netlist.inputs:
        name, bit = port.rstrip("]").split("[")
        bits = np.zeros(-(-STATES // 64) * 64, np.uint8)
        bits[:STATES] = judge.words[name] >> int(bit) & 1
        planes.append(np.packbits(bits, bitorder="little").view(np.uint64))
    words = np.zeros((STATES, 2), np.int64)
    for port, plane in zip(netlist.outputs, simulate_network(network, planes), strict=True):
        name, bit = port.rstrip("]").split("[")
        ones = np.unpackbits(plane.view(np.uint8), bitorder="little")[:STATES]
        words[:, int(name[-1]) - 1] |= ones.astype(np.int64) << int(bit)
    return words


def rival() -> VerilogSource:
    """Return the rival's module."""
    inputs = tuple((name, 10) for name in NAMES)
    return VerilogSource("fixed point by hand", FILE.read_text(), "two_link_fixed", inputs,
                  (("tau1", 8), ("tau2", 8)))  # fmt: skip


def row(one: Area, beside: Area | None) -> list[str]:
    """Return a row of the table; ratios are of tables, where neither uses multipliers."""
    cells = one.cells
    ratio = f"{cells.luts / beside.cells.luts:.2f}" if beside and not cells.dsp else ""
    clocks = [one.clock, max(one.fmax, default=None)]
    numbers = (cells.luts, cells.carries, cells.dsp, cells.ff, one.levels)
    return [one.target, one.design, *map(str, numbers),
            *("" if x is None else f"{x:.0f}" for x in clocks), ratio]  # fmt: skip


def said(line: str) -> None:
    """Say how far this is."""
    print(line, file=sys.stderr, flush=True)


def compared(name: str, program: boolcomp.Program, seeds: int, judged: Judged | None) -> None:
    """Print what a program takes, target by target, and its rival where there is one."""
    hand = rival() if judged is not None else None
    for target in FAMILIES:
        family = device(target)
        said(f"{name} on {target}")
        rows = []
        sources = [source_of(program, None, level, 0, family.luts) for level in ("luts", "gates")]
        ours = [area(one, family, seeds=min(1, seeds) if one is sources[0] else 0)
                for one in sources]  # fmt: skip
        rows += [row(one, None) for one in ours]
        if hand is not None and judged is not None:
            rows.append(row(area(hand, family, seeds=min(1, seeds)), ours[0]))
            booth = replace(family, synthesis=BOOTH + family.synthesis)
            rows.append(row(area(hand, booth, seeds=0), ours[0]))
            rows[-1][1] += ", Booth"
            rows.append(row(mapped_rival(family, judged), ours[0]))
            rows.append(row(area(hand, family, dsp=True, seeds=0), ours[0]))
            rows[-1][1] += ", DSP"
        if family.router:
            staged = source_of(program, None, "luts", 8, family.luts)
            rows.append(row(area(staged, family, seeds=seeds), None))
        print(table(HEAD, rows, (0, 1)), flush=True)


def main() -> None:
    """Print a table for every program."""
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--count", action="store_true")
    asked = parser.parse_args()
    seeds = 0 if asked.count else asked.seeds
    programs = {one: load_program(one) for one in asked.programs} or {
        "machado-2r": boolcomp.compile("machado-2r", bits=8, rms_error=(0.43, 0.58)),
        "puma560": boolcomp.compile("puma560", bits=8, rms_error=0.505),
    }
    for name, program in programs.items():
        errors = ", ".join(
            f"{one.name} {one.errors.rms / one.code.step:.3f}"
            for one in program.loads[0].outputs if one.errors is not None
        )  # fmt: skip
        print(f"\n{name}: rms error in LSB {errors}")
        judged = simulated() if program.name == "machado-2r" else None
        if judged is not None:
            print("rival: rms error in LSB tau1 {:.3f}, tau2 {:.3f}".format(*judged.errors))
        compared(name, program, seeds, judged)


if __name__ == "__main__":
    main()
