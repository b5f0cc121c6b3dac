"""Two-level minimisers side by side: ours, pyeda's Espresso, and the proved minimum.

    python benchmarks/twolevel.py [FOLDER …] [--exact SECONDS] [--wide] [--chart FILE.svg]

Every `*.pla` of the folders (the shared Berkeley set, where it is there; of a name that is in
several the first), with --wide those of more than 22 inputs alone, and the two-link arm's tables at
8 bits, go through all of them in one run, from the same start; every cover is verified.
Before that whole commands are timed, start-up included.
Espresso's seconds are those of its C engine alone; ours include drawing the truth table, the first
cover and the verification. Compiling our loops (once after installing) is timed apart.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import table as aligned
from boolcomp.base.pages import ChartAxis, picture, scatter
from boolcomp.paper.covers import function_of
from boolcomp.paper.plan import PlanOptions
from boolcomp.pipeline import run_passes
from boolcomp.twolevel import minimisation, pla
from boolcomp.twolevel.cubes import MOST_INPUTS
from boolcomp.twolevel.exact import warm_exact
from boolcomp.twolevel.function import verify
from boolcomp.twolevel.minimisation import minimise, warm

if TYPE_CHECKING:
    from boolcomp.base.pages import ChartRow
    from boolcomp.twolevel.function import Cover, Function

TABLES = ("T11", "T12", "T13", "T14", "T15", "T24")
SMALL_INPUTS = 11  # files of fewer inputs are small
LINE = 13  # from function to function in the picture
HEADER = (
    "function", "in", "out", "isop", "espresso", "lit", "s", "own", "lit", "s", "exact", "lit",
    "proved", "s", "known",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """What came of one function."""

    name: str
    function: Function
    isop: Cover
    rival: minimisation.EspressoAnswer
    own: Cover
    exact: Cover | None
    known: int | None

    def cells(self) -> list[str]:
        """Return the row as text."""
        rival = ["-", "-", self.rival.note or "-"]
        if self.rival.cubes is not None:
            cubes = self.rival.cubes
            rival = [str(len(cubes)), str(cubes.literals), f"{self.rival.seconds:.3f}"]
        own = [str(self.own.products), str(self.own.literals), f"{self.own.seconds:.3f}"]
        proof = ["-"] * 4
        if self.exact is not None:
            bound = "yes" if self.exact.proved else f"at least {self.exact.lower_bound}"
            proof = [str(self.exact.products), str(self.exact.literals), bound]
            proof.append(f"{self.exact.seconds:.2f}")
        head = [self.name, str(self.function.inputs), str(self.function.outputs)]
        known = "-" if self.known is None else str(self.known)
        return [*head, str(self.isop.products), *rival, *own, *proof, known]


def measure(name: str, function: Function, known: int | None, exact: float) -> Row:
    """Run every minimiser on one function, and verify what comes out."""
    first = minimise(function, "isop")
    rival = minimisation.run_espresso(function, first.cubes)
    own = minimise(function, "own")
    proof = minimise(function, "exact", exact) if exact else None
    for cubes in (first.cubes, rival.cubes, own.cubes, proof and proof.cubes):
        if cubes and verify(function, cubes) is not None:
            raise SystemExit(f"{name}: a cover is wrong")
    if proof and known and proof.proved and proof.products != known:
        raise SystemExit(f"{name}: {proof.products} proved, but {known} is known")
    print(".", end="", file=sys.stderr, flush=True)
    return Row(name, function, first, rival, own, proof, known)


def report(title: str, rows: list[Row]) -> None:
    """Print a table with its totals."""
    print(f"\n{title}\n\n{aligned(HEADER, [row.cells() for row in rows])}\n")
    both = [row for row in rows if row.rival.cubes is not None]
    theirs = sum(len(row.rival.cubes or ()) for row in both)
    if theirs:
        ours = sum(row.own.products for row in both)
        time_ours, time_theirs = (sum(r.own.seconds for r in both),
                                  sum(r.rival.seconds for r in both))  # fmt: skip
        print(f"espresso {theirs} products in {time_theirs:.2f} s, own {ours} in {time_ours:.2f} s")
        print(
            f"own / espresso: {ours / theirs:.4f} of the products, "
            f"{time_ours / time_theirs:.2f} of the time"
        )
    proved = [(row.exact.seconds, row.name) for row in rows if row.exact and row.exact.proved]
    if proved:
        seconds, name = max(proved)
        print(f"proved minimum: {len(proved)} of {len(rows)}, the last ({name}) in {seconds:.1f} s")


def draw(rows: list[Row], path: Path) -> None:
    """Draw products above the minimum (or the best known), in per cent."""
    drawn: list[ChartRow] = []
    for row in rows:
        if row.exact is None:
            continue
        least = min(row.own.products, row.exact.products) or 1
        espresso = len(row.rival.cubes or ())
        drawn += [
            {"function": row.name, "above": 100 * (count / least - 1), "by": name}
            for name, count in (
                ("ISOP", row.isop.products), ("Espresso", espresso), ("own", row.own.products),
            )
        ]  # fmt: skip
    chart = scatter(
        drawn, ChartAxis("above", "products above the least known, %"),
        ChartAxis("function", "", names=True), colour_by=ChartAxis("by", "", names=True), title="",
        high=LINE * len(drawn) // 3,
    )  # fmt: skip
    path.write_bytes(picture([chart], "svg"))


def measured(folders: list[Path], exact: float, least: int) -> list[Row]:
    """Measure and report the files of folders with so many inputs at least."""
    files: dict[str, Path] = {}
    known: dict[str, int] = {}
    for folder in folders:
        minima = folder / "minima.json"
        known |= json.loads(minima.read_text())["minimum"] if minima.exists() else {}
        for path in sorted(folder.glob("*.pla")):
            files.setdefault(path.stem, path)
    rows = []
    for name, path in sorted(files.items()):
        source = pla.read(path)
        if source.inputs >= least:
            rows.append(measure(name, source.function(str(path)), known.get(name), exact))
    if not rows:
        print(f"{', '.join(map(str, folders))}: no such PLA files: they are left out")
        return rows
    report(f"{len(rows)} PLA files", rows)
    wide = [row for row in rows if row.function.inputs > MOST_INPUTS and row.rival.cubes]
    worse = [row.name for row in wide if row.own.products > len(row.rival.cubes or ())]
    better = [row.name for row in wide if row.own.products < len(row.rival.cubes or ())]
    print(f"{len(wide)} files of more than {MOST_INPUTS} inputs: own is worse than Espresso on "
          f"{', '.join(worse) or 'none'}, better on {', '.join(better) or 'none'}")  # fmt: skip
    return rows


def commands(folders: list[Path]) -> None:
    """Print processor seconds of whole commands, start-up included, as ratios to numpy's import."""
    files = [path for folder in folders for path in sorted(folder.glob("*.pla"))]
    small = [path for path in files if pla.read(path).inputs < SMALL_INPUTS]
    with tempfile.TemporaryDirectory() as folder:
        tiny = Path(folder) / "tiny.pla"
        tiny.write_text(".i 2\n.o 1\n11 1\n10 1\n.e\n")
        floor = processor_seconds("-c", "import numpy")
        print(f"import numpy: {floor:.2f} s of processor time")
        for what, given in (("2 inputs", [tiny]), (f"{len(small)} small files", small)):
            if given:
                spent = processor_seconds("-m", "boolcomp", "minimize", "-q", *map(str, given))
                print(f"minimize, {what}: {spent:.2f} s, {spent / floor:.1f} times numpy's import")
    if small and minimisation.has_espresso():
        engine = sum(rival_seconds(path) for path in small)
        print(f"Espresso's C engine on the {len(small)}: {engine:.2f} s")


def processor_seconds(*arguments: str) -> float:
    """Return the least processor time of three runs of Python with such arguments.

    They read compiled modules, as those of users do, even where this process writes none.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, *arguments], check=True, stderr=subprocess.DEVNULL, env=environment
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def rival_seconds(path: Path) -> float:
    """Return what Espresso's engine takes for a file, from our first cover."""
    function = pla.read(path).function(str(path))
    start = minimise(function, "isop").cubes
    return minimisation.run_espresso(function, start, 60.0).seconds


def main() -> None:
    """Run the benchmark."""
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description="two-level minimisers side by side")
    shared = root.parent / "shared" / "pla"
    parser.add_argument("folders", nargs="*", type=Path, default=[shared])
    parser.add_argument("--wide", action="store_true", help="files of more than 22 inputs alone")
    parser.add_argument("--exact", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--chart", type=Path)
    arguments = parser.parse_args()
    start = time.perf_counter()
    warm(dense=True)
    warm(dense=False)
    warm_exact()
    print(f"loops compiled or loaded in {time.perf_counter() - start:.2f} s")
    if not minimisation.has_espresso():
        print("pyeda is not installed: Espresso is left out")
    commands(arguments.folders)
    rows = measured(
        arguments.folders, arguments.exact, least=MOST_INPUTS + 1 if arguments.wide else 0
    )
    if arguments.wide:
        return
    for rounding in ("nearest", "faithful"):
        entries = run_passes("machado-2r", PlanOptions(rounding=rounding))
        arm = [
            measure(f"{e.plan.term.name} {rounding}", function_of(e.table), None, arguments.exact)
            for e in entries
            if e.plan.term.name in TABLES
        ]
        report(f"machado-2r, 8 bits, {rounding}", arm)
        rows += arm
    if arguments.chart:
        draw(rows, arguments.chart)


if __name__ == "__main__":
    main()
