"""Curves of one wide word in tables of six inputs, beside other ways to make them.

    python benchmarks/curves.py [FUNCTION...] [--bits 12,16] [--effort 60] [--compressedlut PROGRAM]

sin(πx/2), 2/(1+x)-1, √(1+x) and log2(1+x) for x in [0, 1), as many bits in as out, LSB 2^-bits.
Words are exact: x is the middle of its cell, and so is what an output's word stands for. Errors, in
LSB of the output, are those of all words; faithful is what errs by less than 1 everywhere. Beside
ours: the plain table, rounded to nearest; the best bipartite and the best multipartite table (up to
four corrections, after de Dinechin and Tisserand) that a search over all splits finds faithful; and
CompressedLUT's own program on the plain table, where it is given: it loses nothing.

Everything is mapped by the same scripts of ABC (`if -K 6 -a` and `mfs2`; the best of them counts),
adders included: there are no carry chains. Every mapped network is proved equivalent to the one
before (`cec`). What any row of ours errs by more than 1 makes the exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import math
import re
import subprocess
import sys
import warnings
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from tablerivals import bipartite, multipartite, plain

from boolcomp.base.errors import SaturationWarning, table
from boolcomp.base.workers import ALONE
from boolcomp.compact.demand import Demand
from boolcomp.compact.network import word_logic
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.logic import formats, lutmapping
from boolcomp.problem.problem import Group, Problem, with_exact_words
from boolcomp.problem.tape import Tape
from boolcomp.problem.words import Input, Interval, Output
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from boolcomp.problem.tape import Straight

    Floats = NDArray[np.float64]

FUNCTIONS: dict[str, tuple[Callable[[Tape, Any], Any], float]] = {  # and where its range begins
    "sine": (lambda t, x: t.sine(x * (math.pi / 2)), 0.0),
    "reciprocal": (lambda _, x: 2.0 / (x + 1.0) - 1.0, 0.0),
    "sqrt": (lambda t, x: t.root(x + 1.0), 1.0),
    "log2": (lambda t, x: t.function("log", x + 1.0) * (1 / math.log(2)), 0.0),
}
RIVALS = {"table": plain, "bipartite": bipartite, "multipartite": multipartite}
SCRIPTS = (
    ("strash", "if -K 6 -a", "mfs2 -a -e"),
    ("strash", "dch", "if -K 6 -a", "mfs2 -a -e"),
    ("strash", "dch", "if -K 6 -a", "mfs2 -a -e", "strash", "dch", "if -K 6 -a", "mfs2 -a -e"),
)
LARGE = 2_000_000  # characters of BLIF: only the first script is run
COUNTS = re.compile(r"nd =\s*(\d+).*lev =\s*(\d+)")
OURS = "boolcomp"
HEAD = ["function", "bits", "made by", "LUT6", "levels", "LUT3", "rms", "max", "faithful"]
# Carries from bit to bit, as our own adders do: Yosys' usual ones are larger and less deep.
RIPPLE = """(* techmap_celltype = "$lcu" *)
module ripple (P, G, CI, CO); parameter WIDTH = 1; input [WIDTH-1:0] P, G; input CI;
output [WIDTH-1:0] CO; assign CO[0] = G[0] | (P[0] & CI); genvar i;
generate for (i = 1; i < WIDTH; i = i + 1) begin : c
assign CO[i] = G[i] | (P[i] & CO[i-1]); end endgenerate endmodule
"""
PASSES = (
    "read_verilog {name}.v", "hierarchy -auto-top", "proc", "flatten", "opt -full",
    "memory -nomap", "memory_map", "opt", "alumacc", "opt",
    "techmap -map ripple.v -map +/techmap.v", "opt", "simplemap", "clean",
    "write_blif {name}.blif",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A way to make a curve: tables of six inputs, their levels, nodes of three; its errors."""

    name: str
    luts: int
    levels: int
    nodes: int | None
    errors: Floats

    def cells(self) -> list[str]:
        """Return it as cells of a table."""
        rms, most = math.sqrt(float((self.errors**2).mean())), float(np.abs(self.errors).max())
        nodes = "" if self.nodes is None else str(self.nodes)
        shown = [f"{rms:.3f}", f"{most:.3f}", "yes" if most < 1 else "NO"]
        return [self.name, str(self.luts), str(self.levels), nodes, *shown]


def _reference(steps: Straight, x: Floats) -> Floats:
    return np.stack(steps.evaluate([x[:, 0]]), axis=1)


def curve_problem(name: str, bits: int) -> Problem:
    """Return the problem of a function, of exact words of so many bits."""
    function, low = FUNCTIONS[name]
    tape, span = Tape(), Interval(0.0, 1.0)
    steps = tape.finish([("y", function(tape, tape.input("x")))])
    problem = Problem(
        name, f"{name}\n{steps}", (Input("x", span, "", span, span),),
        (Output("y", "Y", Interval(low, low + 1.0), ""),), (Group("x", ("x",)),),
        Group("y", ("y",)), partial(_reference, steps), lambda: steps,
    )  # fmt: skip
    return with_exact_words(problem, {"x": bits})


def in_steps(problem: Problem, bits: int) -> Floats:
    """Return the exact outputs at all words, in steps above the range's low end."""
    x = (np.arange(1 << bits) + 0.5) / (1 << bits)
    exact = problem.reference(x[:, None])[:, 0]
    return np.asarray((exact - problem.outputs[0].range.low) * (1 << bits))


def mapped(text: str, scripts: int = len(SCRIPTS)) -> tuple[int, int]:
    """Return tables of six inputs and levels of the best that ABC makes of a network in BLIF."""
    best: tuple[int, int] | None = None
    for script in SCRIPTS[: 1 if len(text) > LARGE else scripts]:
        commands = ["read_blif a.blif", *script, "print_stats", "write_blif b.blif"]
        if len(text) <= LARGE:
            commands.append("cec a.blif b.blif")
        done = lutmapping.run(lutmapping.find(), commands, {"a.blif": text}, (), deadline=900.0)
        found = COUNTS.findall(done.printed)
        if not done.done or not found:
            raise SystemExit(f"ABC: {done.note or done.printed[-200:]}")
        if len(text) <= LARGE and "are equivalent" not in done.printed:
            raise SystemExit(f"ABC made another function: {done.printed[-200:]}")
        best = min(best or (1 << 60, 0), (int(found[-1][0]), int(found[-1][1])))
    return best or (0, 0)


def ours(problem: Problem, bits: int, effort: float, store: Path | None) -> Row:
    """Compile a curve so that it is faithful, in few tables of six inputs."""
    demand = Demand(
        bits=bits, input_bits={"x": bits}, max=(1.0 - 1e-9,), saturate=True, effort=effort,
        objective="lut6",
    )  # fmt: skip
    built = build(split(problem), CompactChoices(demand, store, workers=ALONE))
    x = (np.arange(1 << bits) + 0.5) / (1 << bits)
    with warnings.catch_warnings():  # what saturates is exact values within half a step of the end
        warnings.simplefilter("ignore", SaturationWarning)
        given = np.asarray(built.program()(x)).reshape(-1)
    errors = (given - problem.reference(x[:, None])[:, 0]) * (1 << bits)
    networks = (built.network, word_logic(built.compact.graph))
    luts, levels = min(mapped(formats.render(network)) for network in networks)
    return Row(OURS, luts, levels, built.nodes, errors)


def rivals(names: Iterable[str], exact: Floats, bits: int) -> Iterator[Row]:
    """Yield what other tables take, made and searched here."""
    for name in names:
        make = RIVALS[name]
        made = [(mapped(formats.render(one.network), 1), one) for one in make(exact, bits)]
        if made:
            _, best = min(made, key=lambda pair: pair[0])
            luts, levels = mapped(formats.render(best.network))
            row = f"{name} {best.split}".strip()
            yield Row(row, luts, levels, len(best.network.nodes), best.values - exact)


def compressed(program: str, exact: Floats, bits: int) -> Row:
    """Run CompressedLUT's own program on the plain table; map the smallest of what it writes."""
    entries = np.clip(np.floor(exact), 0, (1 << bits) - 1).astype(np.int64)
    best: tuple[int, int] | None = None
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "t.txt").write_text("".join(f"{x:x}\n" for x in entries), encoding="ascii")
        (folder / "ripple.v").write_text(RIPPLE, encoding="ascii")
        asked = [str(Path(program).resolve()), "-table", "t.txt", "-name", "t", "-output", "."]
        subprocess.run(asked, cwd=folder, check=True, capture_output=True)
        for file in sorted(folder.glob("t_v*.v")):
            script = "; ".join(one.format(name=file.stem) for one in PASSES)
            code = f"from pyosys import libyosys as y; y.run_pass({script!r}, y.Design())"
            told = [sys.executable, "-c", code]
            subprocess.run(told, cwd=folder, check=True, capture_output=True)
            made = mapped((folder / f"{file.stem}.blif").read_text(encoding="ascii"))
            best = min(best or made, made)
    if best is None:
        raise SystemExit(f"{program} wrote no Verilog")
    return Row("CompressedLUT's program", *best, None, entries + 0.5 - exact)


def main() -> int:
    """Print all rows; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("functions", nargs="*", help=", ".join(FUNCTIONS))
    parser.add_argument("--bits", default="12,16")
    parser.add_argument("--effort", type=float, default=60.0)
    parser.add_argument("--compressedlut", help="its program, if you have it")
    parser.add_argument("--most", type=int, default=12, help="bits up to which it is run")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--rivals", default=",".join(RIVALS), help="or - for none")
    given = parser.parse_args()
    asked = [one for one in given.rivals.split(",") if one in RIVALS]
    lines, failed = [], False
    for bits in (int(x) for x in given.bits.split(",")):
        for name in given.functions or FUNCTIONS:
            problem = curve_problem(name, bits)
            exact = in_steps(problem, bits)
            program = given.compressedlut if bits <= given.most else None
            found = itertools.chain(
                [ours(problem, bits, given.effort, given.store)],
                rivals(asked, exact, bits),
                (compressed(one, exact, bits) for one in (program,) if one),
            )
            for row in found:
                failed |= row.name == OURS and bool(np.abs(row.errors).max() >= 1)
                lines.append([name, str(bits), *row.cells()])
                print(" ".join(lines[-1]), file=sys.stderr, flush=True)
    print(table(HEAD, lines, left=(0, 2)))
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
