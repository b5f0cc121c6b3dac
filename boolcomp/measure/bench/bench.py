"""The bench as a picture: time a sample of every rival, and over batch sizes."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.charts import blank, picture
from boolcomp.base.processes import cores
from boolcomp.engines.choice import engine_name, make_engine
from boolcomp.measure.bench.harness import (
    COMPILERS,
    Bench,
    Case,
    Host,
    NativeTask,
    Timing,
    compiler,
    draw_states,
    loops,
    processor,
    run,
)
from boolcomp.measure.bench.rivals import c_offers, library_offers, logic_offers
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.proof.worst import EVALUATIONS, find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from boolcomp.measure.bench.harness import Offer
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program


# --------------------------------------------------------------------------------------------------
# Names the machine, and measures its clock.
# --------------------------------------------------------------------------------------------------


CHAIN = 400_000  # a tenth of a millisecond: short enough to run undisturbed now and then
CHAINS = 200
TELLING = ("avx2", "fma", "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "gfni")


def this_machine() -> Host:
    """Return what figures must be read beside."""
    name, flags = processor()
    found = (compiler(each) for each in COMPILERS)
    return Host(
        name,
        caches(),
        tuple(flag for flag in TELLING if flag in flags),
        tuple(f"{x.name}: {x.version}" for x in found if x is not None),
        gigahertz(),
        cores(),
    )


def gigahertz() -> float:
    """Return cycles a nanosecond: a chain of dependent additions takes a cycle each."""
    chain = loops()[1]
    return max(CHAIN / float(chain(CHAIN)) / 1e9 for _ in range(CHAINS))


def caches() -> tuple[str, ...]:
    """Return the first core's caches: `L1 data 48K`; nothing where the system does not tell."""
    found = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        try:
            parts = [(folder / x).read_text().strip() for x in ("level", "type", "size")]
        except OSError:
            continue
        level, kind, size = parts
        found.append(f"L{level}{'' if kind == 'Unified' else f' {kind.lower()}'} {size}")
    return tuple(found)


# --------------------------------------------------------------------------------------------------
# Where the logic's time goes: nodes a cycle beside the limit, spills, the way in and out.
#
# The limit is 3.75 ternary operations of 512 bits a cycle, measured on Zen 5; on narrower vectors,
# and on processors with fewer vector ports, it is only a mark.
# --------------------------------------------------------------------------------------------------


LIMIT = 3.75
ROUNDS = 15
TURN = 2e-3
GROUP = 64
_VECTOR = re.compile(r"[xyz]mm\d")
_STACK = re.compile(r"\(%r(?:sp|bp|dx)\)")
_COPY = re.compile(r"vmov\w+\s+%[xyz]mm\d+, %[xyz]mm\d+$")


def roofline(program: Program, whole_ns: float | None) -> dict[str, float | str]:
    """Return the figures; `whole_ns` is the measured time of a sample with the way in and out."""
    engine: Any = make_engine(program.wiring(), engine_name("auto"))
    if getattr(engine, "name", "") != "llvm" or not hasattr(engine, "layout"):
        return {}
    wiring = engine.wiring
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    seconds, samples = _logic_alone(engine)
    if not samples:
        return {}
    clock = gigahertz()
    alone = seconds / samples * 1e9
    cycles = alone * clock
    found: dict[str, float | str] = {
        "nodes executed": float(nodes),
        "lanes": float(engine.width),
        "clock, GHz (chain of additions)": clock,
        "logic alone, ns a sample": alone,
        "nodes a cycle": nodes / engine.width / cycles,
        "limit, nodes a cycle": LIMIT,
        "limit, ns a sample": nodes / engine.width / LIMIT / clock,
        "share of the limit": nodes / engine.width / cycles / LIMIT,
    }
    if whole_ns is not None:
        found["with the way in and out, ns a sample"] = whole_ns
        found["share of the way in and out"] = max(0.0, 1 - alone / whole_ns)
    found.update(code_counts(engine))
    return found


def _logic_alone(engine: Any) -> tuple[float, int]:
    """Return the least seconds of a tile, planes resident, and how many samples it holds."""
    address = getattr(engine, "address", None)
    if address is None:
        return 0.0, 0
    size = engine.layout.block_bytes * engine.blocks
    room = np.zeros(size + GROUP, np.uint8)
    room[:] = np.random.default_rng(0).integers(0, 256, len(room), np.uint8)
    start = room.ctypes.data + -room.ctypes.data % GROUP
    task = NativeTask(address, [start, engine.blocks], [], room)
    task.seconds(1)
    once = min(task.seconds(1) for _ in range(3))
    times = max(1, round(TURN / once))
    return min(task.seconds(times) for _ in range(ROUNDS)) / times, engine.blocks * engine.width


def code_counts(engine: Any) -> dict[str, float | str]:
    """Return the vector instructions of the logic and those that spill, from its assembly."""
    from boolcomp.engines import llvm as machine  # noqa: PLC0415 (an engine is there)
    from boolcomp.engines import planes  # noqa: PLC0415 (an engine is there)
    from boolcomp.engines.avx512 import logic_assembly  # noqa: PLC0415 (likewise)

    if engine.width == 512 and machine.assembles():
        return spills(logic_assembly(engine.pieces, engine.layout))
    from llvmlite import binding as llvm  # noqa: PLC0415 (likewise)

    target = llvm.Target.from_default_triple().create_target_machine(
        cpu=engine.machine.cpu, features=engine.machine.features, opt=2, jit=True
    )
    module = llvm.parse_assembly(planes.logic_module(engine.pieces, engine.layout))
    return spills(target.emit_assembly(module))


def spills(assembly: str) -> dict[str, float | str]:
    """Count vector instructions, those that load from the stack or store to it, and copies.

    Our own assembly keeps its spills behind rdx, LLVM's behind the stack or frame pointer; in
    AT&T order a store names the memory last.
    """
    vector = [line.rstrip('"') for line in assembly.splitlines() if _VECTOR.search(line)]
    touching = [line for line in vector if _STACK.search(line)]
    stores = [line for line in touching if line.endswith(")")]
    return {
        "vector instructions": float(len(vector)),
        "vector loads from the stack": float(len(touching) - len(stores)),
        "vector stores to the stack": float(len(stores)),
        "vector copies": float(sum(bool(_COPY.search(line)) for line in vector)),
    }


# --------------------------------------------------------------------------------------------------
# One bench of one program: all its rivals, in all cases.
# --------------------------------------------------------------------------------------------------


IN_CACHE = 4096
SHARED = 65536  # samples: enough for a second thread, and still in the cache


def all_offers(
    robot: Robot, program: Program, others: Sequence[Program] = (), *, packages: bool = True
) -> list[Offer]:
    """Return the program, other programs of the robot, and every rival (Python's if wanted)."""
    offers: list[Offer] = []
    for one in (program, *others):
        mode = "compact logic" if one.mode == "compact" else "two-level logic"
        offers += logic_offers(one, f"boolcomp, {mode}")
    offers += c_offers(robot, program.bits)
    return [*offers, *library_offers(robot, program.bits)] if packages else offers


def make_bench(
    name: str,
    robot: Robot,
    program: Program,
    *,
    batches: Sequence[int],
    cores: Sequence[int],
    seconds: float,
    others: Sequence[Program] = (),
    packages: bool = True,
    evaluations: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Bench:
    """Run everything and return what was found; the worst error with so many evaluations, or all.

    On one core every batch size is run; on more cores the largest, and the one nearest to `SHARED`.
    """
    problem = inverse_dynamics_problem(robot)
    states = draw_states(problem)
    cases = [Case(batch) for batch in batches if 1 in cores]
    shared = {max(batches), min(batches, key=lambda batch: abs(batch - SHARED))}
    cases += [Case(batch, count) for count in cores if count > 1 for batch in sorted(shared)]
    offers = all_offers(robot, program, others, packages=packages)
    rows = run(offers, states, program.bits, cases, seconds, progress)
    mine = [r for r in rows if r.logic and r.cores == 1 and r.ns_per_sample is not None]
    nearest = min((abs(r.batch - IN_CACHE) for r in mine), default=0)
    whole = min(
        (r.ns_per_sample or 0.0 for r in mine if abs(r.batch - IN_CACHE) == nearest), default=None
    )
    progress("roofline and worst error")
    wiring = program.wiring()
    nodes = sum(len(wiring.networks[call.network].nodes) for call in wiring.calls)
    found = roofline(program, whole)
    return Bench(
        name, problem.name, program.bits, program.mode, nodes, this_machine(), tuple(rows), found,
        *_worst(program, problem, EVALUATIONS if evaluations is None else evaluations),
        *_known(program, rows),
    )  # fmt: skip


def _known(program: Program, rows: Sequence[Timing]) -> tuple[Any, ...]:
    """Return the program's sampled errors, on floats, and proved ones; its last bits and units."""
    sampled = next((r.max_errors for r in rows if r.logic and r.kind == "float64"), ())
    steps = tuple(output.code.step for output in program.outputs)
    proved = tuple(
        bound / lsb if math.isfinite(bound) else None
        for bound, lsb in zip(program.useful_bound, steps, strict=True)
    )
    return sampled, proved, steps, tuple(output.unit for output in program.outputs)


def _worst(program: Program, problem: Problem, evaluations: int) -> tuple[tuple[float, ...], int]:
    """Return the program's worst errors that were found, and with how many evaluations."""
    if not evaluations:
        return (), 0
    worst = find_worst(subject_of(program, problem), evaluations)
    return tuple(worst.most.tolist()), worst.evaluations


# --------------------------------------------------------------------------------------------------
# The bench as a picture: time a sample of every rival, and over batch sizes.
# --------------------------------------------------------------------------------------------------


COLOURS = {"int8": "#c8553d", "int16": "#d9a441", "float32": "#3367b0", "float64": "#7a8794"}
MOST_LINES = 8


def draw_bench(bench: Bench, kind: str) -> bytes:
    """Return a picture (`svg` or `png`): bars for one case, lines over batch sizes."""
    return picture(lambda: _figure(bench), kind)


def _figure(bench: Bench) -> Figure:
    one = [r for r in bench.rows if r.cores == 1 and r.ns_per_sample is not None]
    bars = _bar_rows(one)
    names = list(dict.fromkeys(r.rival for r in bars))
    panels = 1 + (len({r.batch for r in one}) > 1)
    figure = blank(7.0 * panels + 1.0, max(3.5, 0.3 * len(bars) + 0.9))
    axes: Any = figure.subplots(1, panels, squeeze=False)[0]
    _draw_bars(axes[0], bars, names)
    if panels > 1:
        _draw_lines(axes[1], one)
    title = f"{bench.robot}, {bench.bits} bits, {bench.mode} mode: {bench.nodes} nodes"
    figure.suptitle(f"{title}; {bench.machine.processor}", fontsize=10)
    return figure


def _bar_rows(rows: Sequence[Timing]) -> list[Timing]:
    """Return the rows of the batch that most rivals ran (of several, the one nearest the cache)."""
    sizes = {r.batch for r in rows}
    if not sizes:
        return []
    batch = min(sizes, key=lambda b: (-sum(r.batch == b for r in rows), abs(b - 4096)))
    chosen = [r for r in rows if r.batch == batch]
    fastest: dict[str, float] = {}
    for row in chosen:
        least = fastest.get(row.rival, row.least)
        fastest[row.rival] = min(least, row.least)
    kinds = list(COLOURS)
    return sorted(chosen, key=lambda r: (fastest[r.rival], r.rival, kinds.index(r.kind)))


def _draw_bars(panel: Any, rows: Sequence[Timing], names: Sequence[str]) -> None:
    places, middles = [], []
    at = 0.0
    for name in names:
        group = [r for r in rows if r.rival == name]
        places += [at + 0.8 * k for k in range(len(group))]
        middles.append(at + 0.4 * (len(group) - 1))
        at += 0.8 * len(group) + 0.5
    values = [r.least for r in rows]
    edges = ["black" if r.logic else "none" for r in rows]
    colours = [COLOURS[r.kind] for r in rows]
    panel.barh(places, values, height=0.7, color=colours, edgecolor=edges, linewidth=1.2)
    for place, row in zip(places, rows, strict=True):
        least = row.least
        text = f" {least:.3g}" + ("" if row.rms_error is None else f"  (rms {row.rms_error:.2g})")
        panel.text(least, place, " WRONG" if row.wrong else text, va="center", fontsize=7)
    panel.set_yticks(middles, names)
    for label, name in zip(panel.get_yticklabels(), names, strict=True):
        if any(r.logic for r in rows if r.rival == name):
            label.set_fontweight("bold")
    panel.invert_yaxis()
    panel.set_xscale("log")
    panel.margins(y=0.01)
    panel.set_xlim(0.5 * min(values, default=1.0), 40 * max(values, default=1.0))
    batch = rows[0].batch if rows else 0
    panel.set(xlabel="ns a sample, all torques (error: rms in last bits)")
    panel.set_title(f"batches of {batch}, one core; logic framed", fontsize=9)
    panel.grid(visible=True, axis="x", alpha=0.3)
    for kind, colour in COLOURS.items():
        if any(r.kind == kind for r in rows):
            panel.barh([0], [0], color=colour, label=f"{kind} in and out")
    panel.legend(fontsize=7, loc="upper right")


def _draw_lines(panel: Any, rows: Sequence[Timing]) -> None:
    fastest: dict[str, float] = {}
    for row in rows:
        least = row.least
        fastest[row.rival] = min(fastest.get(row.rival, least), least)
    families: dict[str, str] = {}  # of one text by two compilers the faster is enough
    for name in sorted(fastest, key=lambda name: fastest[name]):
        families.setdefault(name.split(" (")[0], name)
    shown = list(families.values())[:MOST_LINES]
    shown += [r for r in dict.fromkeys(x.rival for x in rows if x.logic) if r not in shown]
    for name in shown:
        mine = [r for r in rows if r.rival == name]
        kinds = [k for k in COLOURS if any(r.kind == k for r in mine)]
        line = sorted((r for r in mine if r.kind == kinds[0]), key=lambda r: r.batch)
        style = {"linewidth": 2.4, "marker": "o"} if line[0].logic else {"marker": "."}
        panel.plot(
            [r.batch for r in line], [r.ns_per_sample for r in line], label=f"{name}, {kinds[0]}",
            **style,
        )  # fmt: skip
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set(xlabel="samples a batch", ylabel="ns a sample, all torques")
    panel.set_title("over batch sizes, one core", fontsize=9)
    panel.grid(visible=True, alpha=0.3)
    panel.legend(fontsize=7)
