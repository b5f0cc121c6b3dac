"""The rival of hardware: behavioural fixed-point Verilog of the paper's 2R, as by a good engineer.

    python benchmarks/two_link_verilog.py [SEEDS]      # tunes, writes rivals/two_link_fixed.v

Quarter-wave ROMs (a mirrored half by inverting bits, not by subtracting), six shared products,
constants folded into the ROMs, products cut to the sum's grid, one rounding constant a sum. Every
width is searched: those that cost least, by an estimate of LUT4, among those whose rms error on
12,000 states is no more than what is allowed, which is what our program is allowed, too.
"""

from __future__ import annotations

import math
import random
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

ALLOWED = (0.435, 0.593)  # rms error in LSB of 8 bits: no less than that of the program beside it
BITS, LSB = 10, (400 / 256, 200 / 256)
FILE = Path(__file__).parent / "rivals" / "two_link_fixed.v"
NAMES = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
Words = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """Widths: bits of inputs that are read, half a cell of inputs, ROMs, shifts, grids of sums."""

    n1: int = 9
    n2: int = 9
    adder: int = 10
    n12: int = 9
    d1: int = 7
    d2: int = 7
    a1: int = 8
    a2: int = 8
    hd1: int = 0
    hd2: int = 0
    ha1: int = 1
    ha2: int = 1
    sc: int = 5
    ss: int = 5
    tu: int = 6
    tv: int = 6
    f1: int = 3
    f2: int = 3
    k: int = 3
    c1: int = 0
    c2: int = 0


WIDE = Shape(10, 10, 10, 9, 10, 10, 10, 10, 1, 1, 1, 1, 8, 12, 12, 12, 6, 6, 6)


def unit(bits: int, half: int) -> int:
    """Return log2 of what 1 counts in a signed word over ±1."""
    return -bits if half else 1 - bits


@dataclass(frozen=True)
class Plan:
    """What follows of a shape: ROMs' entries, constants, shifts."""

    cosine: list[int]
    sine: list[int]
    first: list[int]
    both: list[int]
    constants: tuple[int, int, int, int]
    a: int  # log2 units of 2 qdd1 + qdd2, and of 2 qd1 + qd2
    d: int
    sc2: int
    ss2: int
    lift: int  # log2 of the first sum's grid over the second's


def rom(bits: int, amplitude: float, *, sine: bool = False) -> list[int]:
    """Return a quarter of a wave at the middles of its cells, less the half that inverting adds."""
    angles = 2 * math.pi * (np.arange(1 << (bits - 2)) + 0.5) / (1 << bits)
    wave = np.sin(angles) if sine else np.cos(angles)
    return [int(x) for x in np.floor(amplitude * wave)]


def plan(s: Shape) -> Plan:
    """Return what follows of a shape."""
    u1, u2 = LSB[0] / 2**s.f1, LSB[1] / 2**s.f2
    lift = 1 + s.f2 - s.f1
    e1, e2 = unit(s.a1, s.ha1), unit(s.a2, s.ha2)
    g1, g2 = unit(s.d1, s.hd1), unit(s.d2, s.hd2)
    a, d = min(e1 + 1, e2), min(g1 + 1, g2)
    return Plan(
        rom(s.n2, 5 * 2.0**a / u1 * 2**s.sc),
        rom(s.n2, 5 * 2.0 ** (g2 + d + s.tu) / u1 * 2**s.ss, sine=True),
        rom(s.n1, 66.15 / u1),
        rom(s.n12, 49 / u2),
        tuple(round(x * 2.0**s.k) for x in (
            15.75 * 2.0**e1 / u1, 4 * 2.0**e2 / u1, 4 * 2.0**e1 / u2, 9 * 2.0**e2 / u2)),
        a, d, s.sc - (e1 - a) - lift, s.ss - (2 * g1 + s.tv - g2 - d - s.tu) - lift, lift,
    )  # fmt: skip


def shifted(x: Any, by: int) -> Any:
    """Shift right, or left by a negative number."""
    return x >> by if by >= 0 else x << -by


def wave(table: list[int], word: Any, bits: int, *, sine: bool = False) -> Any:
    """Look a quarter-wave ROM up: address mirrored in odd quadrants, sign by inverted bits."""
    quarter = word >> (bits - 2)
    low = word & ((1 << (bits - 2)) - 1)
    mirrored = (quarter & 1) == 1
    address = np.where(mirrored, ((1 << (bits - 2)) - 1) - low, low)
    value = np.array(table)[address]
    negative = quarter >= 2 if sine else (quarter == 1) | (quarter == 2)
    return np.where(negative, ~value, value)


def signed(word: Any, bits: int, half: int) -> Any:
    """Return the leading bits of a word as a signed number, with a half as a bit more."""
    cut = (word >> (BITS - bits)) - (1 << (bits - 1))
    return 2 * cut + 1 if half else cut


def sums(s: Shape, w: Words) -> tuple[Any, Any]:
    """Return both sums as the Verilog makes them, without their rounding constants."""
    p = plan(s)
    x1, x2 = signed(w["qdd1"], s.a1, s.ha1), signed(w["qdd2"], s.a2, s.ha2)
    y1, y2 = signed(w["qd1"], s.d1, s.hd1), signed(w["qd2"], s.d2, s.hd2)
    e1, e2, g1, g2 = (unit(*pair) for pair in (
        (s.a1, s.ha1), (s.a2, s.ha2), (s.d1, s.hd1), (s.d2, s.hd2)))  # fmt: skip
    both = (x1 << (e1 + 1 - p.a)) + (x2 << (e2 - p.a))
    speeds = (y1 << (g1 + 1 - p.d)) + (y2 << (g2 - p.d))
    q2 = w["q2"] >> (BITS - s.n2)
    c = ~wave(p.cosine, q2, s.n2)  # words begin at -pi, so waves of q2 are negative
    sn = ~wave(p.sine, q2, s.n2, sine=True)
    g = ~wave(p.first, w["q1"] >> (BITS - s.n1), s.n1)
    angle = ((w["q1"] >> (BITS - s.adder)) + (w["q2"] >> (BITS - s.adder))) % (1 << s.adder)
    g12 = wave(p.both, angle >> (s.adder - s.n12), s.n12)
    k1, k2, k3, k4 = p.constants
    coriolis = sn * ((y2 * speeds) >> s.tu)
    t1 = ((k1 * x1 + k2 * x2) >> s.k) + ((c * both) >> s.sc) - (coriolis >> s.ss)
    t1 = t1 + g + shifted(g12, p.lift)
    t2 = ((k3 * x1 + k4 * x2) >> s.k) + shifted(c * x1, p.sc2) + g12
    return t1, t2 + shifted(sn * ((y1 * y1) >> s.tv), p.ss2)


class Judge:
    """States in words of ten bits, and what Newton-Euler makes of them."""

    def __init__(self, count: int, seed: int) -> None:
        from boolcomp.problem.functions import inverse_dynamics_problem  # noqa: PLC0415
        from boolcomp.problem.robot.library import load_robot  # noqa: PLC0415

        problem = inverse_dynamics_problem(load_robot("machado-2r"))
        drawn = problem.draw(count, seed)
        spans = [math.pi] * 2 + [1.0] * 4
        self.words: Words = {
            name: np.clip(np.floor((x + r) / (2 * r) * (1 << BITS)), 0, 1023).astype(np.int64)
            for name, x, r in zip(NAMES, np.hstack(drawn).T, spans, strict=True)
        }
        self.exact = problem.reference(*drawn).T

    def centred(self, s: Shape) -> tuple[Shape, tuple[float, float]]:
        """Return a shape with its rounding constants, and its rms errors in LSB."""
        found, errors = [], []
        for t, f, exact, lsb in zip(
            sums(s, self.words), (s.f1, s.f2), self.exact, LSB, strict=True
        ):
            ideal = exact / lsb
            constant = round(float(np.mean(ideal * 2.0**f - t)))
            out = np.clip((t + constant) >> f, -128, 127) + 0.5
            found.append(constant)
            errors.append(float(np.sqrt(np.mean((out - ideal) ** 2))))
        return replace(s, c1=found[0], c2=found[1]), (errors[0], errors[1])


def width_of(table: list[int]) -> int:
    """Return the bits of a ROM's values and their sign."""
    return max(table).bit_length() + 1


def cost(s: Shape) -> float:
    """Estimate LUT4: products by partial products, ROMs by their bits, sums by their widths."""
    p = plan(s)
    wa, wd = max(s.a1 + s.ha1 + 1, s.a2 + s.ha2) + 1, max(s.d1 + s.hd1 + 1, s.d2 + s.hd2) + 1
    d1, d2, a1, a2 = s.d1 + s.hd1, s.d2 + s.hd2, s.a1 + s.ha1, s.a2 + s.ha2
    tables = sum(
        width_of(table) * (1.0 + (1 << max(0, bits - 6)) * 1.1)
        for table, bits in ((p.cosine, s.n2), (p.sine, s.n2), (p.first, s.n1), (p.both, s.n12))
    )
    u, v = max(1, d2 + wd - s.tu), max(1, 2 * d1 - s.tv)
    wc, ws = width_of(p.cosine), width_of(p.sine)
    products = wc * (wa + a1) + ws * (u + v) + d2 * wd + 0.7 * d1 * d1
    constants = sum((k.bit_count()) * (b + 2) for k, b in zip(
        p.constants, (a1, a2, a1, a2), strict=True))  # fmt: skip
    return tables + products + constants + s.adder + wa + wd + 5 * (8 + s.f1) + 4 * (8 + s.f2)


def legal(s: Shape) -> bool:
    """Tell whether widths make a circuit."""
    if not (4 <= s.n1 <= 10 and 4 <= s.n2 <= 10 and 4 <= s.n12 <= s.adder <= 10):
        return False
    if not all(3 <= x <= 10 for x in (s.d1, s.d2, s.a1, s.a2)):
        return False
    if min(s.sc, s.ss, s.tu, s.tv, s.f1, s.f2, s.k) < 0 or max(s.sc, s.ss, s.k) > 12:
        return False
    p = plan(s)
    return all(max(t) >= 1 for t in (p.cosine, p.sine)) and all(p.constants)


def tuned(judge: Judge, seed: int, steps: int = 4000) -> tuple[float, Shape]:
    """Anneal widths from a wide design down: cheaper, as long as errors are allowed."""
    rng = random.Random(seed)  # noqa: S311 (a repeatable search)
    names = [f.name for f in fields(Shape) if f.name not in ("c1", "c2")]
    now = WIDE
    best = (cost(now), judge.centred(now)[0])
    level = best[0]
    for step in range(steps):
        change = {}
        for name in rng.sample(names, rng.choice((1, 1, 2, 2, 3))):
            value = getattr(now, name)
            change[name] = 1 - value if name[0] == "h" else value + rng.choice((-1, 1))
        new = replace(now, **change)
        if not legal(new):
            continue
        price = cost(new)
        if price > level + 30 * (1 - step / steps) * rng.expovariate(1.5):
            continue
        centred, errors = judge.centred(new)
        if all(e <= a for e, a in zip(errors, ALLOWED, strict=True)):
            now, level = new, price
            if price < best[0]:
                best = price, centred
    return best


def verilog(s: Shape) -> str:
    """Return the module: what `sums` calculates, as an engineer would write it."""
    p = plan(s)
    e1, e2, g1, g2 = (unit(*pair) for pair in (
        (s.a1, s.ha1), (s.a2, s.ha2), (s.d1, s.hd1), (s.d2, s.hd2)))  # fmt: skip
    k1, k2, k3, k4 = p.constants

    def shift(text: str, by: int) -> str:
        return f"({text} >>> {by})" if by > 0 else f"({text} <<< {-by})" if by < 0 else text

    def word(name: str, bits: int, half: int) -> str:
        bottom = f"[{BITS - 2}:{BITS - bits}]"
        tail = ", 1'b1" if half else ""
        high = bits + half - 1
        return f"    wire signed [{high}:0] s{name} = {{~{name}[9], {name}{bottom}{tail}}};"

    wide = {
        "c": width_of(p.cosine), "s": width_of(p.sine), "g": width_of(p.first),
        "h": width_of(p.both), "a": max(s.a1 + s.ha1 + e1 + 1 - p.a, s.a2 + s.ha2 + e2 - p.a) + 1,
        "d": max(s.d1 + s.hd1 + g1 + 1 - p.d, s.d2 + s.hd2 + g2 - p.d) + 1,
    }  # fmt: skip
    u = max(1, s.d2 + s.hd2 + wide["d"] - s.tu)
    v = max(1, 2 * (s.d1 + s.hd1) - s.tv)
    sum1, sum2 = 8 + s.f1, 8 + s.f2
    both = f"{shift('sqdd1', p.a - e1 - 1)} + {shift('sqdd2', p.a - e2)}"
    speeds = f"{shift('sqd1', p.d - g1 - 1)} + {shift('sqd2', p.d - g2)}"
    m1, m2 = (
        f"$signed({_literal(x)}) * sqdd1 + $signed({_literal(y)}) * sqdd2"
        for x, y in ((k1, k2), (k3, k4))
    )
    ca, su, h = shift("ca", s.sc), shift("su", s.ss), shift("h", p.lift)
    t1 = f"{shift('m1', s.k)} + {ca} - {su} + g + {h} + ({s.c1})"
    ce, sv = shift("ce", p.sc2), shift("sv", p.ss2)
    t2 = f"{shift('m2', s.k)} + {ce} + {sv} + h + ({s.c2})"
    lines = [
        "// Inverse dynamics of the paper's 2R in fixed point; widths of two_link_verilog.py.",
        f"// rms errors allowed: {ALLOWED[0]} and {ALLOWED[1]} LSB of 8 bits",
        "module two_link_fixed (",
        *(f"    input wire [9:0] {name}," for name in NAMES),
        "    output wire [7:0] tau1,", "    output wire [7:0] tau2", ");",
        word("qdd1", s.a1, s.ha1), word("qdd2", s.a2, s.ha2),
        word("qd1", s.d1, s.hd1), word("qd2", s.d2, s.hd2),
        f"    wire signed [{wide['a'] - 1}:0] a = {both};",
        f"    wire signed [{wide['d'] - 1}:0] d = {speeds};",
        f"    wire [{s.adder - 1}:0] q12 = q1[9:{BITS - s.adder}] + q2[9:{BITS - s.adder}];",
    ]  # fmt: skip
    for name, table, bits, source, sine, minus in (
        ("c", p.cosine, s.n2, f"q2[9:{BITS - s.n2}]", False, True),
        ("s", p.sine, s.n2, f"q2[9:{BITS - s.n2}]", True, True),
        ("g", p.first, s.n1, f"q1[9:{BITS - s.n1}]", False, True),
        ("h", p.both, s.n12, f"q12[{s.adder - 1}:{s.adder - s.n12}]", False, False),
    ):
        lines += _rom(name, table, bits, source, sine=sine, minus=minus)
    lines += [
        f"    wire signed [{s.d2 + s.hd2 + wide['d'] - 1}:0] dd = sqd2 * d;",
        f"    wire signed [{u - 1}:0] u = dd >>> {s.tu};",
        f"    wire signed [{2 * (s.d1 + s.hd1) - 1}:0] square = sqd1 * sqd1;",
        f"    wire signed [{v - 1}:0] v = square >>> {s.tv};",
        f"    wire signed [{wide['c'] + wide['a'] - 1}:0] ca = c * a;",
        f"    wire signed [{wide['c'] + s.a1 + s.ha1 - 1}:0] ce = c * sqdd1;",
        f"    wire signed [{wide['s'] + u - 1}:0] su = s * u;",
        f"    wire signed [{wide['s'] + v - 1}:0] sv = s * v;",
        f"    wire signed [{sum1 + s.k - 1}:0] m1 = {m1};",
        f"    wire signed [{sum2 + s.k - 1}:0] m2 = {m2};",
        f"    wire signed [{sum1 - 1}:0] t1 = {t1};",
        f"    wire signed [{sum2 - 1}:0] t2 = {t2};",
        f"    assign tau1 = {{~t1[{sum1 - 1}], t1[{sum1 - 2}:{s.f1}]}};",
        f"    assign tau2 = {{~t2[{sum2 - 1}], t2[{sum2 - 2}:{s.f2}]}};",
        "endmodule", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _literal(k: int) -> str:
    return f"{k.bit_length() + 1}'d{k}"


def _rom(
    name: str, table: list[int], bits: int, source: str, *, sine: bool, minus: bool
) -> list[str]:
    """Return a quarter-wave ROM: an address that mirrors, a case, a sign that inverts."""
    high, wide = bits - 3, width_of(table) - 1
    sign = f"{name}_q[1]" if sine else f"({name}_q[1] ^ {name}_q[0])"
    lines = [
        f"    wire [{bits - 1}:0] {name}_w = {source};",
        f"    wire [1:0] {name}_q = {name}_w[{bits - 1}:{bits - 2}];",
        f"    wire [{high}:0] {name}_k = {name}_w[{high}:0] ^ {{{high + 1}{{{name}_q[0]}}}};",
        f"    reg [{wide - 1}:0] {name}_m;",
        "    always @*",
        f"        case ({name}_k)",
        *(f"            {high + 1}'d{k}: {name}_m = {wide}'d{x};" for k, x in enumerate(table)),
        f"            default: {name}_m = {wide}'d0;",
        "        endcase",
        f"    wire {name}_n = {'~' if minus else ''}{sign};",
        f"    wire signed [{wide}:0] {name} = {{{name}_n, {name}_m ^ {{{wide}{{{name}_n}}}}}};",
    ]
    return lines  # noqa: RET504 (the list is what is read)


def main() -> None:
    """Tune from several seeds, print what was found, write the cheapest."""
    judge = Judge(12_000, 7)
    best = min((tuned(judge, seed) for seed in range(int(sys.argv[1]) if sys.argv[1:] else 4)),
               key=lambda pair: pair[0])  # fmt: skip
    fresh = Judge(200_000, 8)
    out = [
        float(np.sqrt(np.mean((np.clip((t + c) >> f, -128, 127) + 0.5 - x / lsb) ** 2)))
        for t, c, f, x, lsb in zip(
            sums(best[1], fresh.words), (best[1].c1, best[1].c2), (best[1].f1, best[1].f2),
            fresh.exact, LSB, strict=True,
        )
    ]  # fmt: skip
    print(f"estimate {best[0]:.0f} LUT4, rms {out[0]:.3f} {out[1]:.3f}\n{best[1]}")
    FILE.write_text(verilog(best[1]), encoding="ascii")


if __name__ == "__main__":
    main()
