"""Machado et al. 1988: its Fig. 1, speed-ups of dealt product terms, libraries of codes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from boolcomp.parallel.machine import load_machine
from boolcomp.parallel.registry import boolean_tasks
from boolcomp.parallel.schedulers import make_schedule
from boolcomp.parallel.simulation import Finding, at, pipelined
from boolcomp.parallel.taskgraph import Assignment, Edge, Task, TaskGraph
from boolcomp.problem.algebra import Operations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from boolcomp.parallel.registry import ProductTable

# Fig. 1, column by column: range, amplitude, bits of the output and of the input words, used and
# unused states (of T1 in 10^14, of T2 in 10^12).
FIG_1: Mapping[str, tuple[str, ...]] = {
    "T1": ("200", "152.5", "8", "48", "2.14", "0.67"),
    "T11": ("50", "25.75", "8", "15", "16876", "15892"),
    "T12": ("12.5", "9", "6", "11", "1475", "573"),
    "T13": ("6.25", "5", "5", "9", "410", "102"),
    "T14": ("12.5", "10", "6", "18", "209715", "52429"),
    "T15": ("100", "66.15", "9", "8", "170", "86"),
    "T16": ("50", "49", "8", "16", "64226", "1310"),
    "T2": ("100", "69.1", "8", "40", "0.76", "0.34"),
    "T21": ("6.25", "4.5", "6", "11", "1474", "574"),
    "T22": ("6.25", "4.5", "6", "11", "1474", "574"),
    "T23": ("12.5", "9", "7", "7", "92", "36"),
    "T24": ("6.25", "5", "6", "11", "1638", "410"),
    "T25": ("25", "24.5", "8", "16", "64226", "1310"),
    "T26": ("25", "24.5", "8", "16", "64226", "1310"),
}
KINDS = ("range", "amplitude", "bits", "input bits", "used states", "unused states")
UNITS = {"T1": 1e14, "T2": 1e12}
NOTES = {
    ("T1", "amplitude"): "the true extremes are ±152.42; (7a) prints -151.5 and 152.5",
    ("T2", "used states"): "printed 10^11: a misprint, 2^40 is 1.1·10^12",
    ("T2", "unused states"): "printed 10^11",
}
ROUNDED = "2^bits · amplitude / range; print rounds up (T15, T16, T25, T26) and down (T21, T22)"
PROCESSORS = (2, 4, 8, 16, 32, 64)
POINTS = 300
LOADS = (0.0, 1.0, 2.0)  # kg
LOAD_BITS, WORD_BYTES = 4, 4


def machado_findings(
    plans: Mapping[str, Any], tables: Sequence[ProductTable],
    library: Sequence[Sequence[ProductTable]],
) -> Iterator[Finding]:  # fmt: skip
    """Yield the figures; `plans` are those of torques and terms by name, `library` has a code each.

    A plan has `code`, `amplitude` and `input_bits`.
    """
    for name, printed in FIG_1.items():
        plan = plans[name]
        high, states = plan.code.range.high, 2**plan.input_bits / UNITS.get(name, 1)
        used = states * plan.amplitude / high
        ours = high, plan.amplitude, plan.code.bits, plan.input_bits, used, states - used
        for kind, text, value in zip(KINDS, printed, ours, strict=True):
            place = "Fig. 1a" if name.startswith("T1") else "Fig. 1b"
            one = Finding(f"{kind} of {name}", text, value, "count", place=place)
            usual = ROUNDED if kind in KINDS[4:] and not one.holds else ""
            yield replace(one, note=NOTES.get((name, kind), usual))
    yield from at("Fig. 2a", [*_speedups(tables), *_library(library)])
    yield from at("Fig. 2b", _pipelines(tables))


def _speedups(tables: Sequence[ProductTable]) -> Iterator[Finding]:
    machine = load_machine("t800")
    for count in PROCESSORS:
        schedule = make_schedule(boolean_tasks(tables, groups=count), machine, count)
        yield Finding(
            f"speed-up on {count} processors", str(count), schedule.speedup, "model",
            "its claim: proportional; the rest is the tree of ORs and its messages",
        )  # fmt: skip


def _library(library: Sequence[Sequence[ProductTable]]) -> Iterator[Finding]:
    """Yield the memory of one of four processors, and the times of two ways to change the load.

    Every processor keeps its share of the code of every load. The central computer sends the number
    of a code; without libraries it would send the share.
    """
    machine, count = load_machine("t800"), 4
    shares = [sum(table.work for table in code) / count for code in library]  # words
    loads = ", ".join(f"{mass:g}" for mass in LOADS)
    note = f"{count} processors, codes for {loads} kg at {LOAD_BITS} bits"
    kept = WORD_BYTES * sum(shares)
    yield Finding("memory of a processor (bytes)", "", kept, "count", note)
    yield Finding("selecting a code (µs)", "", machine.delay(1, 0, 1, count), "model",
                  "one word to each processor, on links of their own")  # fmt: skip
    sent = machine.delay(round(max(shares)), 0, 1, count)
    yield Finding("sending a code instead (µs)", "", sent, "model", note)


def _pipelines(tables: Sequence[ProductTable]) -> Iterator[Finding]:
    """Yield speed-ups of pipelines whose stages OR their shares into words of the one before."""
    words, work = len(tables), sum(table.work for table in tables)
    for count in (4, 64):
        share = Operations(additions=round(work / count) + words)
        tasks = tuple(Task(f"stage {k}", share) for k in range(count))
        edges = tuple(Edge(a.name, b.name, words) for a, b in pairwise(tasks))
        lists = Assignment(tuple((task.name,) for task in tasks))
        graph = TaskGraph("pipeline", tasks, edges)
        run = pipelined(graph, lists, load_machine("t800"), POINTS)
        yield Finding(
            f"speed-up of a pipeline of {count}, {POINTS} points", str(count), run.speedup, "model",
            f"its claim: proportional; filling it takes {count - 1} stages",
        )  # fmt: skip
