"""A program on several threads or processes, against the same on one; and the curve to 1024.

The two-level 2R at 8 bits, batches of a million samples. One run measures all kinds of sharding in
turn, several times over, and prints the minimum, the spread, and the ratio of minima to one
process; every batch is checked bit for bit. `in place` are samples in arrays of the pool, `copied`
in ordinary ones; `own time` is what a processor spent on each process (a machine that does other
things spoils ratios, not this), looking out for the next chunk included.

The curve is computed from what was measured: the time of a node, the time of a plane that goes
from one process to another, and the real dealing of the program's terms to so many shares.

    python benchmarks/processes.py [--samples N] [--rounds N] [--no-curve] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.pages import ChartAxis, lines, picture
from boolcomp.paper.covers import default_store, make_covers
from boolcomp.paper.plan import PlanOptions
from boolcomp.paper.program import program_of
from boolcomp.pipeline import run_passes
from boolcomp.scale.partition import deal_terms, terms_of
from boolcomp.scale.pool import SHARDINGS, ProcessPool
from boolcomp.scale.stages import Feed, Stage, StageBuilder
from boolcomp.twolevel.cubes import Dense
from boolcomp.twolevel.function import isop
from boolcomp.twolevel.minimisation import Recipe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.pages import ChartRow
    from boolcomp.engines.engine import Evaluation
    from boolcomp.program.program import Program

BLOCK = 512  # samples a plane of 64 bytes
WANTED = {"samples": 1.8, "terms": 1.7}  # times one process, on two
PLANES = 256  # for the time of one: so many are handed on for nothing
CURVE = tuple(1 << k for k in range(11))


@dataclass(frozen=True)
class Costs:
    """ns for 512 samples: of a node, and of a plane between processes."""

    node: float
    plane: float
    nodes: int


def two_r() -> Program:
    """Return the two-level 2R at 8 bits, from the covers in the store."""
    plan, tables = run_passes("machado-2r", until="plan"), run_passes("machado-2r")
    covers = make_covers(tables, Recipe("own"), default_store())
    return program_of(plan, tables, [entry.cover for entry in covers])


def small() -> Program:
    """Return the 2R at 4 bits: hardly any logic."""
    options = PlanOptions(4)
    plan, tables = run_passes("machado-2r", options, "plan"), run_passes("machado-2r", options)
    covers = [isop(Dense.from_columns(t.table.inputs, t.table.columns)) for t in tables]
    return program_of(plan, tables, [cover for cover in covers if cover is not None])


def random_samples(count: int) -> list[NDArray[np.float64]]:
    """Return q, qd and qdd, a few of them out of range."""
    rng = np.random.default_rng(0)
    return [rng.uniform(-x, x, (count, 2)) for x in (3.15, 1.001, 1.001)]


def same(found: Evaluation, wanted: Evaluation) -> bool:
    """Tell whether two evaluations agree, bit for bit."""
    return (
        np.array_equal(found.torques, wanted.torques)
        and np.array_equal(found.words, wanted.words)
        and found.saturated_inputs == wanted.saturated_inputs
        and found.saturated_outputs == wanted.saturated_outputs
    )


def own_time(process: int) -> float:
    """Return the ns that the threads of a process have run."""
    threads = Path(f"/proc/{process}/task").iterdir()
    return sum(float((one / "schedstat").read_text(encoding="utf-8").split()[0]) for one in threads)


def shared(pool: ProcessPool, samples: Sequence[NDArray[np.float64]]) -> tuple[Any, ...]:
    """Return the samples in arrays of a pool."""
    arrays = pool.arrays(len(samples[0]))
    for array, own in zip(arrays, samples, strict=True):
        array[:] = own
    return arrays


def measured(
    runs: dict[str, Callable[[], Evaluation]], wanted: Evaluation, rounds: int
) -> dict[str, list[float]]:
    """Return the ns of every run in every round, one after the other; check the results."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(rounds + 1):
        for name, run in runs.items():
            start = time.perf_counter_ns()
            found = run()
            took = float(time.perf_counter_ns() - start)
            if not same(found, wanted):
                sys.exit(f"{name}: the results are not those of one process")
            if turn:  # the first warms caches and memory up
                times[name].append(took)
    return times


def measure_pools(program: Program, count: int, rounds: int, processes: int) -> float:
    """Measure and print all shardings; return the ns a sample of one process."""
    samples = random_samples(count)
    wanted = program.evaluate(*samples)
    runs: dict[str, Callable[[], Evaluation]] = {
        "one process": lambda: program.evaluate(*samples),
    }
    with ExitStack() as stack:
        pools = {}
        for shard in SHARDINGS:
            pool = stack.enter_context(ProcessPool(program, processes, shard=shard))
            pools[f"{shard}, in place"] = pool
            arrays = shared(pool, samples)
            runs[f"{shard}, in place"] = lambda p=pool, a=arrays: p.evaluate(*a)  # type: ignore[misc]
            runs[f"{shard}, copied"] = lambda p=pool: p.evaluate(*samples)  # type: ignore[misc]
        times = measured(runs, wanted, rounds)
        own = {
            name: own_times(pool.processes or [os.getpid()], runs[name], rounds)
            for name, pool in pools.items()
        }
        own["one process"] = own_times([os.getpid()], runs["one process"], rounds)
    best = min(times["one process"])
    print(f"{count} samples, {processes} processes, {rounds} rounds; ns a sample of both torques\n")
    print(
        f"{'':22}{'minimum':>9}{'median':>9}{'spread':>9}{'ratio':>8}   own time of the processes"
    )
    for name, row in times.items():
        low, middle = min(row) / count, float(np.median(row)) / count
        spread = (max(row) - min(row)) / min(row)
        text = ", ".join(f"{x / count:.2f}" for x in own.get(name, []))
        ratio = best / min(row)
        print(f"{name:22}{low:9.2f}{middle:9.2f}{spread:9.0%}{ratio:8.2f}   {text}")
    print()
    for kind, bound in WANTED.items():
        ratio = best / min(times[f"{kind}, in place"])
        verdict = "holds" if ratio >= bound else "FAILS (is the machine quiet?)"
        print(f"--shard {kind}: {ratio:.2f} times one process, at least {bound} wanted: {verdict}")
    return best / count


def own_times(processes: Sequence[int], run: Callable[[], Evaluation], rounds: int) -> list[float]:
    """Return the least ns that a processor spends on each of these processes for a batch."""
    rows = []
    for _ in range(rounds):
        before = [own_time(process) for process in processes]
        run()
        after = [own_time(process) for process in processes]
        rows.append([b - a for a, b in zip(before, after, strict=True)])
    return [min(column) for column in zip(*rows, strict=True)]


class Exchange(ProcessPool):
    """Two processes of which the first does nothing but hand planes to the second."""

    planes = 0

    @classmethod
    def _dealt(
        cls,
        program: Program,
        processes: int,  # noqa: ARG003 (there are two)
        shard: str,  # noqa: ARG003
        payload: float | None,
    ) -> tuple[Stage, ...]:
        wiring = program.wiring(payload)
        first = StageBuilder(wiring, wiring.ports[:1]).build(sent=[0] * cls.planes)
        feed = Feed(0, cls.planes)
        last = StageBuilder(wiring, wiring.ports, [feed])
        for call in wiring.calls:
            made = last.call(wiring.networks[call.network], [last.place[k] for k in call.inputs])
            last.place.update({call.first + k: plane for k, plane in enumerate(made)})
        results = [
            replace(r, first=last.place[r.first], saturated=last.place[r.saturated])
            for r in wiring.results
        ]
        return (first, replace(last.build(results=results), counting=True))


class ManyPlanes(Exchange):
    """The same with planes to hand over."""

    planes = PLANES


def ceiling(count: int, rounds: int) -> float:
    """Return how much faster two processes that share nothing are than one; print it.

    Each is a process of its own that evaluates its own samples: what the machine can do. Where its
    two processors are two threads of one core, or slow down together, it is less than 2.
    """
    command = [sys.executable, __file__, "--single", "--samples", str(count)]
    command += ["--rounds", str(4 * rounds)]

    def run(processes: int) -> list[float]:
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(processes)
        ]
        return [float(process.communicate()[0]) for process in started]

    alone = run(1)[0]
    both = max(run(2))
    print(
        f"\ntwo processes that share nothing, at once: {both:.2f} ns each, alone {alone:.2f}: "
        f"{2 * alone / both:.2f} times one process is all that this machine gives"
    )
    return 2 * alone / both


def single(program: Program, count: int, rounds: int) -> None:
    """Evaluate on and on; print the median ns a sample."""
    samples = random_samples(count)
    times = []
    for _ in range(rounds + 1):
        start = time.perf_counter_ns()
        program.evaluate(*samples)
        times.append(time.perf_counter_ns() - start)
    print(float(np.median(times[1:])) / count)


def plane_time(count: int, rounds: int) -> float:
    """Return the ns that a plane of 512 samples takes from one process to another."""
    program = small()
    samples = random_samples(count)
    wanted = program.evaluate(*samples)
    with ExitStack() as stack:
        runs: dict[str, Callable[[], Evaluation]] = {}
        for kind in (Exchange, ManyPlanes):
            pool = stack.enter_context(kind(program, 2, shard="terms"))
            arrays = shared(pool, samples)
            runs[kind.__name__] = lambda p=pool, a=arrays: p.evaluate(*a)  # type: ignore[misc]
        times = measured(runs, wanted, rounds)
    more = min(times["ManyPlanes"]) - min(times["Exchange"])
    return more / (count / BLOCK) / PLANES


def curve(program: Program, costs: Costs) -> list[dict[str, float]]:
    """Return for every number of processors what the dealing of terms to them gives.

    `alone`: no exchange. `tree`: partial results joined pairwise, while the next samples are worked
    on: a processor takes in twice, and hands on once, the planes of all partial results. `one`: one
    process takes in what all others have, as `make_shares` does.
    """
    terms = terms_of(program.load(), program.wiring())
    largest = max(terms.calls, key=lambda call: len(terms.network(call).nodes))
    planes = len(terms.network(largest).outputs)  # of the table that is cut first
    sums = sum(total.sum.highest.bit_length() for total in terms.totals)
    one = costs.nodes * costs.node
    rows = []
    for k in CURVE:
        shares = deal_terms(terms, [0] * k)
        heaviest = max(share.load for share in shares)
        cut = {call for share in shares for call in share.parts}
        wide = sums + sum(len(terms.network(call).outputs) for call in cut)
        logic = heaviest * costs.node if k > 1 else one
        tree = logic + (3 * wide * costs.plane if k > 1 else 0)
        joined = max(logic, (k - 1) * planes * costs.plane) if k > 1 else one
        rows.append({
            "processors": k, "nodes": heaviest, "twice": sum(s.load for s in shares) / costs.nodes,
            "alone": one / logic, "tree": one / tree, "one": one / joined,
        })  # fmt: skip
    return rows


def print_curve(rows: Sequence[dict[str, float]], costs: Costs) -> None:
    """Print the curve as a table, and where it bends."""
    print(
        f"\nmeasured for {BLOCK} samples: {costs.node:.3f} ns a node, {costs.plane:.1f} ns a plane "
        f"between processes\n\nspeed-up by terms, predicted (by samples it is the number itself)\n"
    )
    print(f"{'processors':>10}{'nodes of':>10}{'all nodes':>10}{'without':>10}{'joined in':>10}")
    print(f"{'':10}{'heaviest':>10}{'/ one':>10}{'exchange':>10}{'a tree':>10}{'by one':>10}")
    for row in rows:
        print(
            f"{row['processors']:10.0f}{row['nodes']:10.0f}{row['twice']:10.2f}"
            f"{row['alone']:10.1f}{row['tree']:10.1f}{row['one']:10.1f}"
        )
    bend = next((r for r in rows if r["tree"] < 0.8 * r["processors"]), rows[-1])
    top = max(rows, key=lambda r: r["one"])
    print(
        f"\nBelow 80 % of proportional from {bend['processors']:.0f} processors on. Products share "
        "sub-cubes: a share needs\nall that its own terms have, so the same sub-cube is evaluated "
        f"by several (all nodes / one: {rows[-1]['twice']:.1f} at\n{rows[-1]['processors']:.0f}), "
        f"and no share is smaller than the largest term ({rows[-1]['nodes']:.0f} nodes). Handing "
        "on a partial result costs\nas much however many processors there are, and where one "
        f"process joins them all it is the limit beyond\n{top['processors']:.0f} processors. The "
        "paper's proportional speed-up holds for product terms that share nothing, and\nwhere "
        "exchange is free. By samples nothing is exchanged and nothing done twice."
    )


def draw_curve(rows: Sequence[dict[str, float]], folder: Path) -> None:
    """Draw the curve as SVG and PNG."""
    drawn: list[ChartRow] = [
        {"processors": row["processors"], "speedup": row[name], "by": by}
        for name, by in (
            ("processors", "proportional (by samples)"),
            ("alone", "by terms, exchange free"),
            ("tree", "by terms, joined in a tree"),
            ("one", "by terms, joined by one process"),
        )
        for row in rows
    ]
    by = ChartAxis("by", "", names=True, levels=("proportional (by samples)",))
    chart = lines(
        drawn,
        ChartAxis("processors", "processors", log=True),
        ChartAxis("speedup", "speed-up", log=True),
        colour_by=by,
        title="Two-level 2R, 8 bits: predicted from measured costs",
    )
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("svg", "png"):
        (folder / f"sharding.{kind}").write_bytes(picture([chart], kind))
    print(f"\nwritten: {folder / 'sharding.svg'}, {folder / 'sharding.png'}")


def main() -> None:
    """Measure, print, draw."""
    parser = argparse.ArgumentParser(description="A program on several processes.")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--no-curve", action="store_true")
    parser.add_argument("--single", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=Path("out"))
    options = parser.parse_args()
    program = two_r()
    if options.single:
        single(program, options.samples, options.rounds)
        return
    one = measure_pools(program, options.samples, options.rounds, options.processes)
    ceiling(options.samples, options.rounds)
    if options.no_curve:
        return
    wiring = program.wiring()
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    plane = plane_time(options.samples, options.rounds)
    costs = Costs(one * BLOCK / nodes, plane, nodes)
    rows = curve(program, costs)
    print_curve(rows, costs)
    draw_curve(rows, options.out)


if __name__ == "__main__":
    main()
