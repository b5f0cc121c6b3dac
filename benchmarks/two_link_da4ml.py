"""The rival of hardware: the paper's 2R in da4ml's symbolic fixed point, its widths searched.

    python benchmarks/two_link_da4ml.py                    # counts and checks the widths in WIDTHS
    python benchmarks/two_link_da4ml.py --search ice40    # searches widths, prints them (minutes)

Needs `pip install 'boolcomp[rivals,hardware]'` and Icarus Verilog. With B = qdd1 + qdd2 and
C = 5 (1 - cos q2), four products and two constants are enough:

    tau2 = 9 B - C qdd1 + 5 sin q2 qd1^2 + 49 cos(q1 + q2)
    tau1 = tau2 + 16.75 qdd1 - C B - 5 sin q2 (qd1 + qd2)^2 + 66.15 cos q1

Waves and squares are tables of magnitudes with inverted signs; every width is searched. The rms
errors that are allowed are those of `two_link_verilog.py`, no less than those of the program.
Verilog is da4ml's own; memory files become case statements. Yosys counts it with its own products,
with Booth's, and with multipliers; the mapping of our tables counts it, too.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from dataclasses import dataclass, fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import da4ml.codegen.rtl.verilog as printer
import numpy as np
from area import FAMILIES, HEAD, row
from da4ml.codegen.rtl.verilog.comb import comb_logic_gen, table_mem_gen
from da4ml.trace import FixedVariableArray, comb_trace
from da4ml.trace.fixed_variable import to_csd_powers
from two_link_verilog import ALLOWED, LSB, NAMES, Judge

import boolcomp
from boolcomp.base.errors import table
from boolcomp.logic.formats import read_netlist
from boolcomp.logic.lutmapping import in_lut3, mapped
from boolcomp.logic.simulation import simulate_network
from boolcomp.measure import fpga
from boolcomp.measure.fpga import Area, CellCounts, VerilogSource, area, device, source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.fpga import Device

TOP = "two_link_da4ml"
BOOTH = f"hierarchy -top {TOP}; proc; flatten; opt; wreduce; booth; "
PRIMITIVES = ("shift_adder", "negative", "multiplier", "mux", "binop")
COMPLEX = 5 / LSB[1], 66.15 / LSB[1], 49 / LSB[1]  # amplitudes in the second output's LSB
STATES = 12_000  # of the search
CHECKED = 9_984  # simulated by Icarus and as mapped: whole words of 64 states
COUNTS = 60  # runs of Yosys in the search
_BENCH = """
module bench;
    reg [59:0] given [0:{last}];
    wire [15:0] made;
    reg [59:0] row;
    integer k;
    two_link_da4ml dut (row, made);
    initial begin
        $readmemh("given.hex", given);
        for (k = 0; k <= {last}; k = k + 1) begin
            row = given[k];
            #1 $display("%0d", made);
        end
    end
endmodule
"""


@dataclass(frozen=True)
class Shape:
    """Widths: bits of inputs that are read, fraction bits of words, constants in eighths."""

    n2: int = 7  # bits of angles
    n1: int = 9
    n12: int = 9
    a1: int = 8  # of accelerations; `ha` and `he` add half a cell
    a2: int = 8
    d1: int = 7  # of speeds, and of their sum
    d2: int = 7
    da: int = 7
    fc: int = 4  # fraction bits of waves: 1 - cos q2, sin q2, cos q1, cos(q1 + q2)
    fs: int = 4
    fg: int = 3
    fh: int = 3
    gl: int = 0  # address bits of a second table that is added: low ones, and leading ones
    gs: int = 2
    hl: int = 0
    hs: int = 2
    fv: int = 6  # of squares
    fw: int = 5
    pc: int = 4  # of products with qdd1, B and both squares, and with constants
    pb: int = 4
    pv: int = 4
    pw: int = 4
    lb: int = 4
    la: int = 4
    ha: int = 1
    he: int = 1
    kb: int = 92  # constants of B and qdd1
    ka: int = 172
    c1: int = 0  # rounding constants
    c2: int = 0


WIDTHS = {
    "fewest LUT4": Shape(
        n2=6, n1=10, n12=9, a1=7, a2=5, d1=5, d2=10, da=6, fc=1, fs=1, fg=3, fh=2, gl=3, gs=1,
        hl=2, hs=2, fv=3, fw=3, pc=2, pb=2, pv=5, pw=4, lb=3, la=3, ha=0, he=1, kb=92, ka=172,
        c1=1, c2=0,
    ),
    "fewest LUT6": Shape(
        n2=6, n1=10, n12=9, a1=7, a2=5, d1=5, d2=8, da=6, fc=1, fs=1, fg=4, fh=2, gl=3, gs=2,
        hl=2, hs=3, fv=3, fw=3, pc=2, pb=1, pv=6, pw=4, lb=3, la=1, ha=0, he=1, kb=92, ka=172,
        c1=2, c2=0,
    ),
}  # fmt: skip


def mirrored(word: Any, sign: Any) -> Any:
    """Invert the bits of a word where the sign is set."""
    return sign.msb_mux(~word, word)


def address(angle: Any, bits: int) -> Any:
    """Return the address in a quarter of a wave."""
    return mirrored(angle.quantize(0, -1, bits - 1), angle.quantize(1, -1, 1))


def turned(angle: Any, magnitude: Any, negative: tuple[int, ...]) -> Any:
    """Invert a magnitude, with a sign bit, in negative quarters; these begin at -pi."""
    sign = angle.quantize(1, 0, 1).lookup(np.array([-float(one) for one in negative]))
    return mirrored(magnitude, sign) + sign * 2.0 ** int(magnitude.kif[1])


def middles(entries: int, span: float) -> NDArray[np.float64]:
    return (np.arange(entries) + 0.5) / entries * span


def on_grid(values: NDArray[np.float64], fraction: int) -> NDArray[np.float64]:
    return np.floor(values * 2.0**fraction) / 2.0**fraction


def looked_up(at: Any, values: NDArray[np.float64], fraction: int, low: int, steep: int) -> Any:
    """Look values up in one table, or in two: leading bits, and low bits with the steepest ones."""
    if not low:
        return at.lookup(on_grid(values, fraction))
    bits = len(values).bit_length() - 1
    grid = values.reshape(1 << steep, -1, 1 << low)
    falls = (grid - grid.min(axis=2, keepdims=True)).mean(axis=1)
    falls = np.round(falls * 2.0**fraction) / 2.0**fraction
    base = (grid - falls[:, None]).mean(axis=2).ravel()
    leading = at.quantize(0, -1, 1 + bits - low).lookup(on_grid(base, fraction))
    where = at.quantize(0, -1 - (bits - low), 1 + bits)
    if steep:
        where = where | (at.quantize(0, -1, 1 + steep) >> (bits - low - steep))
    return leading + where.lookup(falls.ravel())


def square(word: Any, bits: int, integer: int, fraction: int) -> Any:
    """Look the square of a signed word up, by its magnitude."""
    magnitude = mirrored(word.quantize(0, integer, bits - 1 - integer),
                         word.quantize(1, integer, -integer))  # fmt: skip
    values = middles(1 << (bits - 1), 2.0**integer) ** 2
    return magnitude.lookup(on_grid(values, fraction))


def cut(word: Any, fraction: int) -> Any:
    """Truncate a word to fraction bits."""
    keep, integer, have = (int(x) for x in word.kif)
    return word.quantize(keep, integer, fraction) if fraction < have else word


def outputs(s: Shape, given: Sequence[Any]) -> list[Any]:
    """Return both torques in da4ml's words; inputs are in [-1, 1), angles in half turns."""
    q1, q2, qd1, qd2, qdd1, qdd2 = given
    h, g1, g2 = COMPLEX
    half_wave = mirrored(q2.quantize(0, 0, s.n2 - 1), q2.quantize(1, 0, 0))
    rise = h * (1 - np.cos(middles(1 << (s.n2 - 1), np.pi)))
    c = half_wave.lookup(np.round(rise * 2.0**s.fc) / 2.0**s.fc)

    def wave(angle: Any, bits: int, values: Any, negative: tuple[int, ...], *more: int) -> Any:
        quarter = values(middles(1 << (bits - 2), np.pi / 2))
        return turned(angle, looked_up(address(angle, bits), quarter, *more), negative)

    sine = wave(q2, s.n2, lambda x: h * np.sin(x), (0, 0, 1, 1), s.fs, 0, 0)  # minus the sine
    first = wave(q1, s.n1, lambda x: g1 * np.cos(x), (0, 1, 1, 0), s.fg, s.gl, s.gs)  # minus
    adder = min(10, s.n12 + 1)
    q12 = (q1.quantize(1, 0, adder - 1) + q2.quantize(1, 0, adder - 1)).quantize(1, 0, adder - 1)
    both = wave(q12, s.n12, lambda x: g2 * np.cos(x), (1, 0, 0, 1), s.fh, s.hl, s.hs)
    x, y = qd1.quantize(1, 0, s.d1 - 1), qd2.quantize(1, 0, s.d2 - 1)
    v, w = square(x, s.d1, 0, s.fv), square((x + y).quantize(1, 1, s.da - 2), s.da, 1, s.fw)
    a, e = qdd1.quantize(1, 0, s.a1 - 1), qdd2.quantize(1, 0, s.a2 - 1)
    a, e = a + s.ha * 2.0**-s.a1, e + s.he * 2.0**-s.a2
    b = a + e
    tau2 = cut(b * (s.kb / 8), s.lb) - cut(c * a, s.pc) - cut(sine * v, s.pv) + both
    tau1 = tau2 + cut(a * (s.ka / 8), s.la) - cut(c * b, s.pb) + cut(sine * w, s.pw) - first
    return [(tau1 + s.c1 / 8).quantize(1, 8, -1), (tau2 + s.c2 / 8).quantize(1, 7, 0)]


def traced(s: Shape) -> Any:
    """Return da4ml's operations."""
    ones = np.ones(len(NAMES), int)
    given = FixedVariableArray.from_kif(ones, 0 * ones, 9 * ones, hwconf=(1, -1, -1))
    return comb_trace(list(given._vars), outputs(s, given._vars))  # noqa: SLF001


class States:
    """States in da4ml's numbers, with their torques."""

    def __init__(self, count: int, seed: int) -> None:
        self.judge = Judge(count, seed)
        self.given = np.stack([(self.judge.words[name] - 512) / 512 for name in NAMES], axis=1)

    def words(self, made: Any) -> NDArray[np.int64]:
        """Return the output words by da4ml's interpreter."""
        words: NDArray[np.int64] = (made.predict(self.given) / (2, 1)).astype(np.int64)
        return words

    def errors(self, made: Any) -> tuple[float, ...]:
        """Return rms errors in LSB."""
        apart = self.words(made) + 0.5 - self.judge.exact.T / LSB
        return tuple(np.sqrt(np.mean(apart**2, axis=0)).tolist())

    def allow(self, s: Shape, share: float = 1.0) -> bool:
        """Tell whether widths make a circuit with the errors that are allowed."""
        try:
            errors = self.errors(traced(s))
        except AssertionError:  # da4ml has no such words
            return False
        return all(one <= share * most for one, most in zip(errors, ALLOWED, strict=True))


TABLE = {0: 0.0, 1: 0.3, 2: 0.8, 3: 0.9, 4: 1.0, 5: 2.6, 6: 5.5, 7: 10.0, 8: 20.0, 9: 40.0}


def cost(s: Shape) -> float:
    """Estimate LUT4: tables by their bits, products by partial products, sums by their widths."""

    def wave(bits: int, width: int, low: int, steep: int) -> float:
        mirrors = bits - 1 + width
        if not low:
            return mirrors + width * TABLE[bits - 2]
        two = TABLE[bits - 2 - low] * width + TABLE[low + steep] * (low + 2)
        return mirrors + two + width

    a, e = s.a1 + s.ha, s.a2 + s.he
    b = max(a, e) + 1
    wc, ws, wv, ww = 4 + s.fc, 4 + s.fs, s.fv, 2 + s.fw
    total = wave(s.n1, 7 + s.fg, s.gl, s.gs) + wave(s.n12, 6 + s.fh, s.hl, s.hs)
    total += wave(s.n2, ws - 1, 0, 0) + wc * TABLE[s.n2 - 1] + min(10, s.n12 + 1)
    total += wv * TABLE[s.d1 - 1] + ww * TABLE[s.da - 1] + s.d1 + s.da + max(s.d1, s.d2) + b
    total += 2.35 * (wc * (a + b) + ws * (wv + ww))
    for constant, width in ((s.kb, b), (s.ka, a)):
        total += (len(list(to_csd_powers(constant / 8))) - 1) * (width + 2)
    grids = [min(s.fc + a - 1, s.pc), min(s.fs + s.fv, s.pv), min(s.fc + b - 2, s.pb),
             min(s.fs + s.fw, s.pw)]  # fmt: skip
    total += sum(7 + x for x in (max(grids[0], s.lb), grids[1], s.fh))
    total += sum(9 + x for x in (grids[2], grids[3], s.fg, s.la))
    return total + 8 * bool(s.c1) + 8 * bool(s.c2)


def legal(s: Shape) -> bool:
    """Tell whether widths are within the bounds of the search."""
    if not (5 <= s.n2 <= 9 and 5 <= s.n1 <= 10 and 5 <= s.n12 <= 10 and s.fv >= 1):
        return False
    if not all(3 <= one <= 10 for one in (s.a1, s.a2, s.d1, s.d2, s.da)):
        return False
    if s.da > max(s.d1, s.d2) + 1 or not all(0 <= one <= 1 for one in (s.ha, s.he)):
        return False
    for bits, low, steep in ((s.n1, s.gl, s.gs), (s.n12, s.hl, s.hs)):
        if not (0 <= low <= 4 and 0 <= steep <= 4) or (low and low + steep >= bits - 2):
            return False
    return all(0 <= one <= 9 for one in (s.fc, s.fs, s.fg, s.fh, s.fv, s.fw, s.pc, s.pb, s.pv,
                                         s.pw, s.lb, s.la))  # fmt: skip


def neighbour(s: Shape, rng: random.Random) -> Shape:
    """Change one to three widths."""
    change = {}
    for name in rng.sample([one.name for one in fields(Shape)], rng.choice((1, 1, 2, 2, 3))):
        step = rng.choice((-1, 1)) * (rng.choice((1, 2, 4)) if name in ("ka", "kb") else 1)
        change[name] = getattr(s, name) + step
    return replace(s, **change)


def annealed(states: States, seed: int, steps: int) -> list[Shape]:
    """Anneal widths from a wide design down by the estimate; return shapes, best first."""
    rng = random.Random(seed)  # noqa: S311 (a repeatable search)
    now = Shape()
    level, found = cost(now), {now: cost(now)}
    for step in range(steps):
        new = neighbour(now, rng)
        if not legal(new):
            continue
        price = cost(new)
        if price > level + 30 * (1 - step / steps) * rng.expovariate(1.5):
            continue
        if states.allow(new, MARGIN):
            now, level = new, price
            found[new] = price
    return sorted(found, key=lambda one: found[one])


MARGIN = 0.997  # of the errors in the search, whose states are few


def searched(target: str, seed: int, steps: int) -> Shape:
    """Return the widths with the fewest tables that Yosys counts among `COUNTS`."""
    states, family, rng = States(STATES, 7), device(target), random.Random(seed)  # noqa: S311
    best: tuple[tuple[int, int], Shape] | None = None
    tried = set()

    def count(s: Shape) -> None:
        nonlocal best
        tried.add(s)
        cells = area(source(traced(s)), family, seeds=0).cells
        key = (cells.luts, cells.carries)
        if best is None or key <= best[0]:
            best = key, s
            print(len(tried), key, round(cost(s)), s, flush=True)

    for s in annealed(states, seed, steps)[:40:8]:
        count(s)
    while best is not None and len(tried) < COUNTS:
        new = neighbour(best[1], rng)
        if new in tried or not legal(new) or cost(new) > cost(best[1]) + 8:
            continue
        if states.allow(new, MARGIN):
            count(new)
    return best[1] if best else Shape()


def source(made: Any) -> VerilogSource:
    """Return da4ml's Verilog as one file, its memory files as case statements."""
    folder = Path(printer.__file__).parent / "source"
    code = comb_logic_gen(made, TOP)
    parts = [(folder / f"{one}.v").read_text() for one in PRIMITIVES]
    memories = table_mem_gen(made)
    instances = set(re.findall(r'(lookup_table #\((\d+), (\d+), "(.*?)"\))', code))
    for k, (instance, bits, width, file) in enumerate(sorted(instances)):
        code = code.replace(instance, f"table{k}")
        words = enumerate(memories[file].split())
        parts += [
            f"module table{k} (input [{bits}-1:0] in, output reg [{width}-1:0] out);\n",
            "always @* case (in)\n",
            *(f"{bits}'d{i}: out = {width}'h{word};\n" for i, word in words),
            f"default: out = {width}'bx;\nendcase\nendmodule\n",
        ]
    return VerilogSource("da4ml, widths searched", "".join([*parts, code]), TOP,
                         (("model_inp", 60),), (("model_out", 16),))  # fmt: skip


def packed(states: States) -> list[int]:
    """Return da4ml's input words, the first in the low bits."""
    total = np.zeros(len(states.given), dtype=object)
    for column in reversed(states.given.T):
        total = total * 1024 + ((column * 512).astype(np.int64) & 1023).astype(object)
    return list(total)


def joined(words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return both output words as one, as the Verilog has them."""
    return (words[:, 0] & 255) | (words[:, 1] & 255) << 8


def simulated(made: VerilogSource, states: States) -> NDArray[np.int64]:
    """Return the output words of the Verilog in Icarus."""
    tool = shutil.which("iverilog")
    if tool is None:
        raise SystemExit("Icarus Verilog was not found: apt-get install iverilog")
    rows = packed(states)
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "given.hex").write_text("".join(f"{row:015x}\n" for row in rows))
        (folder / "bench.v").write_text(_BENCH.format(last=len(rows) - 1))
        (folder / "core.v").write_text(made.text)
        command = [tool, "-g2005-sv", "-s", "bench", "-o", "x", "bench.v", "core.v"]
        subprocess.run(command, cwd=folder, check=True)
        ran = subprocess.run(["vvp", "-n", "x"], cwd=folder, check=True, capture_output=True)  # noqa: S607
    return np.array(ran.stdout.split(), dtype=np.int64)


def remapped(made: VerilogSource, family: Device, states: States, words: Any) -> Area:
    """Return the design in the mapping of our tables, without Booth's products or with them.

    The smaller is returned. Both must give da4ml's words for all states.
    """
    rows, found = np.array(packed(states), dtype=np.uint64), []
    planes = [np.packbits((rows >> np.uint64(bit) & np.uint64(1)).astype(np.uint8),
                          bitorder="little").view(np.uint64) for bit in range(60)]  # fmt: skip
    for start in ("", BOOTH):
        with TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "core.v").write_text(made.text)
            script = f"read_verilog core.v; {start} synth -flatten -top {TOP}; "
            script += "abc -g AND,OR,XOR; opt_clean; write_blif rival.blif"
            fpga.needed("yosys").run(["-p", script], folder)
            netlist = read_netlist((folder / "rival.blif").read_text("utf-8"))
        luts = mapped(netlist.network, family.luts).luts
        inputs = [planes[_bit(port)] for port in netlist.inputs]
        out = np.zeros(len(rows), np.int64)
        for port, plane in zip(netlist.outputs, simulate_network(in_lut3(luts), inputs),
                               strict=True):  # fmt: skip
            ones = np.unpackbits(plane.view(np.uint8), bitorder="little")
            out |= ones.astype(np.int64) << _bit(port)
        if (out != words).any():
            raise SystemExit("da4ml's design as it is mapped gives other words")
        cells = CellCounts(len(luts.nodes), 0, 0, 0, 0)
        found.append(Area(family.name, f"{made.name}, mapped as ours", cells, luts.depth))
    return min(found, key=lambda one: one.cells.luts)


def _bit(port: str) -> int:
    return int(port.rstrip("]").split("[")[1])


def checked(name: str, made: Any, states: States) -> VerilogSource:
    """Print the errors of a design; raise if they are not allowed or Icarus has other words."""
    million = States(1_000_000, 99)
    errors = million.errors(made)
    print("da4ml, {}: rms error in LSB tau1 {:.4f}, tau2 {:.4f}".format(name, *errors))
    if any(one > most for one, most in zip(errors, ALLOWED, strict=True)):
        raise SystemExit(f"these errors are not allowed: {ALLOWED}")
    verilog = source(made)
    if (simulated(verilog, states) != joined(states.words(made))).any():
        raise SystemExit("Icarus has other words than da4ml's interpreter")
    return replace(verilog, name=f"da4ml, {name}")


def compared() -> None:
    """Print what each design takes, and how much less our tables take."""
    program = boolcomp.compile("machado-2r", bits=8, rms_error=(0.43, 0.58))
    states = States(CHECKED, 5)
    designs = []
    for name, shape in WIDTHS.items():
        made = traced(shape)
        designs.append((checked(name, made, states), joined(states.words(made))))
    for target in FAMILIES:
        family = device(target)
        booth = replace(family, synthesis=BOOTH + family.synthesis)
        ours = area(source_of(program, None, "luts", 0, family.luts), family, seeds=0)
        rows = [row(ours, None)]
        for verilog, words in designs:
            rows.append(row(area(verilog, family, seeds=0), ours))
            other = replace(verilog, name=f"{verilog.name}, Booth")
            rows.append(row(area(other, booth, seeds=0), ours))
            rows.append(row(remapped(verilog, family, states, words), ours))
            other = replace(verilog, name=f"{verilog.name}, DSP")
            rows.append(row(area(other, family, dsp=True, seeds=0), ours))
        print(table(HEAD, rows, (0, 1)), flush=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--search", metavar="TARGET")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=2500)
    asked = parser.parse_args()
    if asked.search:
        print(searched(asked.search, asked.seed, asked.steps))
    else:
        compared()


if __name__ == "__main__":
    main()
