"""Compact mode against what is asked of it: nodes, errors, depth, seconds, and its predictions.

    python benchmarks/compact.py [ROW...] [--fresh] [--processes N] [--store FOLDER] [--json FILE]
    python benchmarks/compact.py --quick

A row is a robot and a word length (`machado-2r-8`, `puma560-8`), or `random` for 50 seeded robots
of one to four joints at 6 bits; without any, all but the slow ones (`--all` takes them too). Every
network is simulated on a million states that the search has not seen; it must give the words of
its graph bit for bit, and their errors are measured against Newton-Euler. `--fresh` takes nothing
from any store. Figures are `what was found/what is asked`; one that is missed is marked with a !,
and the exit code is then 1.

`--quick` compiles small problems with `boolcomp compile --effort 0 --processes 1`, from nothing but
compiled loops, and prints seconds of processor time, of all that it starts, too.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import BoolcompError
from boolcomp.base.errors import table as aligned
from boolcomp.base.workers import Workers
from boolcomp.compact.demand import Demand
from boolcomp.compact.errors import Sampling, measure_many
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.terms.extract import split
from boolcomp.words.simulation import agrees

if TYPE_CHECKING:
    from boolcomp.compact.result import Built
    from boolcomp.problem.robot.model import Robot

SAMPLES, SEED = 1_000_000, 20_260_101
GROWTH = 1.45  # times the nodes for a bit more
NODES_OFF, RMS_OFF = 0.10, 0.20  # how far predictions may be off
STORED_SECONDS = 5.0
RANDOM_ROBOTS, RANDOM_BITS, RANDOM_RMS = 50, 6, 0.55


@dataclass(frozen=True)
class Row:
    """A robot, a demand, and what is asked of the result."""

    name: str
    robot: str
    bits: int
    rms: tuple[float, ...]
    max: tuple[float, ...] = ()
    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None
    effort: float = 30.0
    margin: float = 1.0  # of the rms asked: the search is given a little less
    slow: bool = False

    @property
    def demand(self) -> Demand:
        """What is given to the compiler."""
        inputs = dict.fromkeys(("q", "qd", "qdd"), self.bits + 2)
        rms = tuple(self.margin * x for x in self.rms)
        return Demand(self.bits, inputs, rms, self.max, effort=self.effort)


PAPER, LOOSE = (0.43, 0.58), (0.4945, 0.667)
QUICK_SECONDS = 5.0
QUICK = {  # a small problem, and what `boolcomp compile` is given
    "gravity": ["machado-2r", "--of", "gravity", "--bits", "8"],
    "two joints": ["two-link.urdf", "--bits", "8"],
    "thermistor": ["thermistor.toml"],
    "pid": ["pid.toml"],
}
TWO_LINK = """\
<robot name="two-link">
 <link name="base"/>
 <link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
  <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <link name="b"><inertial><origin xyz="0.15 0 0"/><mass value="1"/>
  <inertia ixx="0.005" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
 <joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
  <limit lower="-2" upper="2" velocity="3" effort="30"/></joint>
 <joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0"/>
  <axis xyz="0 1 0"/><limit lower="-2" upper="2" velocity="3" effort="10"/></joint>
</robot>
"""
ROWS = (
    Row("machado-2r-6", "machado-2r", 6, PAPER),
    Row("machado-2r-8", "machado-2r", 8, PAPER, (), 780, 40, 60),
    Row("machado-2r-8-max-3", "machado-2r", 8, (), (3.0,)),
    Row("machado-2r-8-max-2.2", "machado-2r", 8, (), (2.2,)),
    Row("machado-2r-8-loose", "machado-2r", 8, LOOSE, (), 640, 40, 60),
    Row("machado-2r-10", "machado-2r", 10, PAPER),
    Row("machado-2r-12", "machado-2r", 12, PAPER, (), 2800, None, 120),
    Row("elbow-3r-8", "elbow-3r", 8, (0.505,), (), 2060),
    Row("elbow-3r-10", "elbow-3r", 10, (0.52,), (), 4250),
    Row("planar-3r-8", "planar-3r", 8, (0.505,)),
    Row("puma560-8", "puma560", 8, (0.505,), (), 4050, 50, 300),
    Row("puma560-10", "puma560", 10, (0.52,), (), 10_400, slow=True, effort=10),
    Row("stanford-scaled-8", "stanford-scaled", 8, (0.505,), (), 18_000, slow=True, effort=10),
)
HEADER = (
    "row", "nodes", "rms", "sampled max", "worst found", "depth",
    "lut6", "seconds", "cpu", "stored", "nodes predicted",
    "rms predicted", "words",
)  # fmt: skip


@dataclass
class Found:
    """What came of a row, as text and as numbers, and what was missed."""

    cells: list[str]
    missed: list[str] = field(default_factory=list)
    document: dict[str, Any] = field(default_factory=dict)


def against(found: float, asked: float | None, digits: int = 0) -> tuple[str, bool]:
    """Return `found/asked`, marked where it is more, and whether it is."""
    text = f"{found:.{digits}f}"
    if asked is None:
        return text, False
    return f"{text}/{asked:.{digits}f}{'!' if found > asked else ''}", found > asked


def errors_against(
    found: np.ndarray[Any, Any], asked: tuple[float, ...], digits: int
) -> tuple[str, bool]:
    """Return the joint that is nearest to (or furthest beyond) what is asked of it."""
    if not asked:
        return f"{found.max():.{digits}f}", False
    limits = np.broadcast_to(np.asarray(asked), found.shape)
    if len(set(asked)) == 1:
        return against(float(found.max()), asked[0], digits)
    pairs = [against(float(f), float(a), digits) for f, a in zip(found, limits, strict=True)]
    return " ".join(text for text, _ in pairs), any(missed for _, missed in pairs)


def judged(row: Row, built: Built, again: float, cpu: float) -> Found:
    """Measure a result afresh and compare it with what is asked."""
    demand, compact = row.demand, built.compact
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, SAMPLES, SEED)
    cells = measure_many(sampling, compact.graph)
    errors = cells.moved(np.asarray(built.ends.shifts))
    words = all(
        agrees(built.network, compact.graph, states.words)
        for _, states in sampling.blocks(compact.graph)
    )
    off_rms = np.asarray(built.predicted_rms) / cells.rms - 1  # the model knows no decoder
    off_nodes = built.predicted_nodes / built.nodes - 1
    checks = {
        "nodes": against(built.nodes, row.nodes),
        "rms": errors_against(errors.rms, row.rms, 3),
        "sampled max": errors_against(errors.max, (), 2),
        "worst found": errors_against(np.maximum(errors.max, built.largest), row.max, 2),
        "depth": against(built.depth, row.depth),
        "lut6": (str(built.lut6), False),
        "seconds": against(built.seconds, None if built.stored else row.seconds, 1),
        "cpu": (f"{cpu:.1f}", False),
        "stored": against(again, STORED_SECONDS, 2),
        "nodes predicted": marked(f"{off_nodes:+.0%}", abs(off_nodes) > NODES_OFF),
        "rms predicted": marked(
            f"{off_rms.min():+.0%}..{off_rms.max():+.0%}", bool(np.abs(off_rms).max() > RMS_OFF)
        ),
        "words": marked("same" if words else "differ", not words),
    }
    missed = [f"{row.name}: {name} {text}" for name, (text, bad) in checks.items() if bad]
    document = {
        "row": row.name, "nodes": built.nodes, "depth": built.depth, "lut6": built.lut6,
        "rms": errors.rms.tolist(), "max": errors.max.tolist(), "mean": errors.mean.tolist(),
        "sampled_max": errors.max.tolist(), "worst_found": built.largest.tolist(),
        "evaluations": built.worst.evaluations,
        "samples": errors.samples, "seconds": built.seconds, "cpu": cpu, "stored": built.stored,
        "predicted_nodes": built.predicted_nodes, "predicted_rms": list(built.predicted_rms),
        "same_words": words, "missed": missed,
    }  # fmt: skip
    return Found([row.name, *(text for text, _ in checks.values())], missed, document)


def marked(text: str, bad: bool) -> tuple[str, bool]:  # noqa: FBT001 (a mark or none)
    """Return a text with a mark where it is bad."""
    return f"{text}{'!' if bad else ''}", bad


def run(row: Row, store: Path | None, processes: int, *, fresh: bool) -> Found:
    """Compile a row, load it again, and judge it."""
    torques = split(inverse_dynamics_problem(load_robot(row.robot)))

    def compiled() -> Built:
        choices = CompactChoices(
            row.demand, store, not fresh, Workers.of(processes),
            lambda step: print(f"{row.name}: {step}", file=sys.stderr, flush=True),
        )  # fmt: skip
        return build(torques, choices)

    try:
        before = processor_seconds()
        built = compiled()
        cpu = processor_seconds() - before
    except BoolcompError as error:
        return Found([row.name, "failed!", *[""] * 10], [f"{row.name}: {error}"])
    return judged(row, built, compiled().seconds, cpu)


def processor_seconds() -> float:
    """Return the processor time of this process and of those it has started and ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def quick_rows() -> list[str]:
    """Compile small problems with no effort; return what takes too long."""
    functions = Path(__file__).resolve().parents[1] / "examples" / "functions"
    rows, missed = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "two-link.urdf").write_text(TWO_LINK, "utf-8")
        for file in functions.glob("*.toml"):
            (folder / file.name).write_text(file.read_text("utf-8"), "utf-8")
        for what, (source, *given) in QUICK.items():
            shutil.rmtree(folder / "cache", ignore_errors=True)
            before = processor_seconds()
            done = subprocess.run(
                [sys.executable, "-m", "boolcomp", "compile", source, *given, "--effort", "0",
                 "--processes", "1", "-o", "made", "--json"],
                cwd=folder, env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache")},
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            seconds, bad = against(processor_seconds() - before, QUICK_SECONDS, 1)
            told = json.loads(done.stdout)
            rows.append([what, str(told["luts"]), str(told["evaluations"]), seconds])
            missed += [f"{what}: {seconds} s"] * bad
    print(aligned(("problem", "nodes", "evaluations", "seconds"), rows))
    return missed


def random_rows(store: Path | None, processes: int, count: int) -> Found:
    """Compile seeded robots of one to four joints; all must keep their budget."""
    missed, nodes, worst = [], [], 0.0
    start = time.perf_counter()
    for seed in range(count):
        robot = random_robot(seed)
        demand = Demand(RANDOM_BITS, rms=(RANDOM_RMS,), effort=2.0)
        try:
            built = build(
                split(inverse_dynamics_problem(robot)),
                CompactChoices(demand, store, workers=Workers.of(processes)),
            )
        except BoolcompError as error:
            missed.append(f"random {seed}: {error}")
            continue
        worst = max(worst, float(built.errors.rms.max()))
        nodes.append(built.nodes)
        if not built.holds:
            missed.append(f"random {seed}: {built.errors}")
        print(f"random {seed}: {robot.joints} joints, {built.nodes} nodes", file=sys.stderr)
    seconds = f"{time.perf_counter() - start:.1f}"
    spread = f"{min(nodes, default=0)}..{max(nodes, default=0)}"
    cells = [f"random, {len(nodes)} of {count}", spread, against(worst, RANDOM_RMS, 3)[0]]
    document = {"row": "random", "nodes": nodes, "rms": worst, "missed": missed}
    return Found([*cells, "", "", "", seconds, "", "", "", "", "same"], missed, document)


def random_robot(seed: int) -> Robot:
    """Return the robot of a seed, as the tests make them: one to four joints of either kind."""
    # The folders themselves, because "compact" would be this file.
    tests = Path(__file__).resolve().parent.parent / "tests"
    sys.path[:0] = [str(tests / "compact"), str(tests)]
    robot: Robot = importlib.import_module("word_robots").small_robot(seed, 1 + seed % 4)
    return robot


def growth(found: dict[str, Found]) -> list[str]:
    """Return what is missed of the growth of the 2R's nodes with a bit more, over all of them."""
    nodes = {}
    for bits in (6, 8, 10, 12):
        one = found.get(f"machado-2r-{bits}")
        if one is not None and one.document:
            nodes[bits] = one.document["nodes"]
    places = sorted(nodes)
    for low, high in itertools.pairwise(places):
        factor = (nodes[high] / nodes[low]) ** (1 / (high - low))
        print(f"2R, {low} to {high} bits: {factor:.3f} times the nodes a bit")
    if len(places) < 4:
        return []
    whole = (nodes[12] / nodes[6]) ** (1 / 6)
    print(f"2R, 6 to 12 bits: {whole:.3f} times the nodes a bit (asked: {GROWTH})")
    return [f"growth from 6 to 12 bits: {whole:.3f}"] if whole > GROWTH else []


def main() -> int:
    """Run the rows that are asked for; return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description="compact mode against what is asked of it")
    names = [*(row.name for row in ROWS), "random"]
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(names))
    parser.add_argument("--all", action="store_true", help="the slow rows too")
    parser.add_argument("--fresh", action="store_true", help="take nothing from any store")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--store", type=Path, help="a folder of results")
    parser.add_argument("--robots", type=int, default=RANDOM_ROBOTS, help="of the row `random`")
    parser.add_argument("--json", type=Path, help="where the figures are written too")
    parser.add_argument("--quick", action="store_true", help="small problems with no effort")
    options = parser.parse_args()
    if options.quick:
        for text in (late := quick_rows()):
            print(f"missed: {text}")
        return int(bool(late))
    if unknown := [name for name in options.rows if name not in names]:
        parser.error(f"no row {unknown[0]!r}: rows are {', '.join(names)}")
    usual = [row.name for row in ROWS if options.all or not row.slow] + ["random"]
    wanted = options.rows or usual
    found: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as empty:
        store = Path(empty) if options.fresh else options.store
        for row in ROWS:
            if row.name in wanted:
                found[row.name] = run(row, store, options.processes, fresh=options.fresh)
        if "random" in wanted:
            found["random"] = random_rows(store, options.processes, options.robots)
    print(aligned(HEADER, [one.cells for one in found.values()]))
    missed = [text for one in found.values() for text in one.missed] + growth(found)
    if options.json:
        documents = [one.document for one in found.values()]
        options.json.write_text(json.dumps({"rows": documents}, indent=1) + "\n", "utf-8")
    for text in missed:
        print(f"missed: {text}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
