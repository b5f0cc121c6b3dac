"""The figures of five papers on parallel dynamics, reproduced and compared."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import unknown
from boolcomp.parallel.machine import (
    UNIT,
    Links,
    Machine,
    OperationTimes,
    SharedMemory,
    load_machine,
)
from boolcomp.parallel.schedulers import cp_misf, lower_bounds, pack, paper_mapping
from boolcomp.parallel.simulation import Finding, at, pipelined, simulate
from boolcomp.parallel.taskgraph import Assignment, Edge, Task, TaskGraph, indexed
from boolcomp.problem.algebra import Operations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


# --------------------------------------------------------------------------------------------------
# The Encore of Zeng & Egan 1991: queues, counters and task records behind one bus.
#
# Shared memory is accessed over the bus, which its users share equally. A task's record takes
# `record` µs, half of it before the task. The counter of every successor, under its lock, takes
# `lock` µs, an access to a queue `queue` µs. Calculation and the loop around a task (`around`) do
# not use the bus. An idle processor repeats that loop: it reads its queue or, with lists, the
# counter of its next task, and so delays the others.
# --------------------------------------------------------------------------------------------------

_LEAST = 1e-9  # µs, for rounding errors


@dataclass(frozen=True, slots=True)
class Encore:
    """Times of the machine's actions, in µs."""

    operation: float
    record: float
    around: float
    queue: float
    lock: float

    def __str__(self) -> str:
        return (
            f"{self.operation:.2f} µs an operation, {self.around:.1f} a task around it, "
            f"{self.record:.1f} its record, {self.queue:.1f} for the queue, "
            f"{self.lock:.2f} a successor"
        )


class Contended:
    """A run: `us` is its time, `lists` are the tasks of every processor in their order.

    Without `places` all processors share one queue. With them every processor has a queue, into
    which the processor that makes a task ready puts it. Without `queued` the lists of `places` are
    followed without queues.
    """

    def __init__(
        self, graph: TaskGraph, encore: Encore, processors: int,
        places: Sequence[Sequence[str]] | None = None, *, queued: bool = True,
    ) -> None:  # fmt: skip
        self.encore, self.hold = encore, encore.queue if queued else 0.0
        self.order = None if queued else places
        self.work = {t.name: t.operations.total * encore.operation for t in graph.tasks}
        self.after = {
            name: [edge.after for edge in edges] for name, edges in graph.successors().items()
        }
        self.missing = {name: len(edges) for name, edges in graph.predecessors().items()}
        self.place = {name: p for p, names in enumerate(places or ()) for name in names}
        self.queues: list[deque[str]] = [deque() for _ in range(processors)]
        self.lists: list[list[str]] = [[] for _ in range(processors)]
        for name, count in self.missing.items():
            if not count:
                self.put(name)
        self.left = len(self.work)
        self.us = self._share([self.processor(p) for p in range(processors)])

    def put(self, task: str) -> None:
        self.queues[self.place.get(task, 0)].append(task)

    def taken(self, here: int) -> str | None:
        """Return the task that a processor can take now, if any."""
        queue = self.queues[here if self.place else 0]
        if self.order is None:
            return queue.popleft() if queue else None
        following = self.order[here][len(self.lists[here])]
        return following if following in queue else None

    def processor(self, here: int) -> Iterator[tuple[bool, float]]:
        """Yield the actions of a processor: whether they use the bus, and their µs."""
        encore = self.encore
        own = len(self.work) if self.order is None else len(self.order[here])
        while self.left and len(self.lists[here]) < own:
            yield True, self.hold
            task = self.taken(here)
            if task is None:
                yield True, 0.0 if self.order is None else encore.lock
                yield False, encore.around
                continue
            self.lists[here].append(task)
            yield True, encore.record / 2
            yield False, self.work[task] + encore.around
            yield True, encore.record / 2
            for after in self.after[task]:
                yield True, encore.lock
                self.missing[after] -= 1
                if not self.missing[after]:
                    yield True, self.hold
                    self.put(after)
            self.left -= 1

    def _share(self, programs: Sequence[Iterator[tuple[bool, float]]]) -> float:
        """Return the µs until the last task is done, with an equally shared bus."""
        now = 0.0
        doing = {program: next(program, None) for program in programs}
        while self.left:
            active = {program: step for program, step in doing.items() if step is not None}
            users = sum(over for over, _ in active.values())
            passed = min(us * (users if over else 1) for over, us in active.values())
            now += passed
            for program, (over, us) in active.items():
                rest = us - passed / (users if over else 1)
                doing[program] = (over, rest) if rest > _LEAST else next(program, None)
        return now


# --------------------------------------------------------------------------------------------------
# Schäfer & Schiehlen 1992: speed-ups, and a model of their three transputers.
#
# The paper prints times of the whole cycle only. With the task graph of a cycle, the time of an
# operation relative to its bare time is fitted to one transputer; three are predicted.
# --------------------------------------------------------------------------------------------------

ONE_US, THREE_US, LEFT_US = "1596", "1141", "500"


def schaefer_findings(cycle: TaskGraph | None = None) -> tuple[Finding, ...]:
    """Return the quotients of the printed times, and the model's for a cycle's graph."""
    one, three, left = float(ONE_US), float(THREE_US), float(LEFT_US)
    counts = at("sec. 5", (
        Finding("speed-up on three", "1.4", one / three, "count", "quotient of its times"),
        Finding("speed-up with control on P3", "1.8", (one + left) / three, "count",
                "500 µs more work in the same cycle"),
    ))  # fmt: skip
    return (*counts, *(() if cycle is None else at("Fig. 8", _schaefer_model(cycle))))


def fitted_transputer(cycle: TaskGraph) -> Machine:
    """Return a T800 on which the cycle takes the printed time of one transputer."""
    bare = load_machine("t800")
    factor = float(ONE_US) / sum(bare.time(task.operations) for task in cycle.tasks)
    names = ("multiplication", "addition", "division", "root", "function")
    costs = OperationTimes(*(getattr(bare.costs, name) * factor for name in names))
    return Machine("t800-fitted", "", "", bare.processors, costs, bare.memory)


def _schaefer_model(cycle: TaskGraph) -> tuple[Finding, ...]:
    machine = fitted_transputer(cycle)
    bare = load_machine("t800")
    factor = machine.costs.addition / bare.costs.addition
    mapped = simulate(cycle, paper_mapping(cycle, machine, "schaefer"), machine)
    ours = simulate(cycle, cp_misf(cycle, machine, 3), machine)
    copied = with_copies(cycle, ("A", "J"), ("g", "q"))
    local = simulate(copied, paper_mapping(copied, machine, "schaefer"), machine)
    left, kept = ((1 - x.utilisation[2]) * x.makespan_us for x in (mapped, local))
    bound = lower_bounds(cycle, machine, 3)
    return (
        Finding("cycle on three transputers (µs)", THREE_US, mapped.makespan_us, "model",
                f"predicted: its strategies 2 and 3; an operation takes {factor:.2f} times its "
                "bare time, fitted to one transputer"),
        Finding("left for control on P3 (µs)", LEFT_US, left, "model",
                "predicted: A and J sent to P3 by P1"),
        Finding("left on P3, A and J calculated there (µs)", LEFT_US, kept, "model",
                "predicted; section 3 names this alternative, so its P3 does the same work"),
        Finding("our schedule on three (µs)", "", ours.makespan_us, "model",
                f"predicted: our schedule of the same tasks; {bound}"),
    )  # fmt: skip


def with_copies(graph: TaskGraph, equations: Sequence[str], users: Sequence[str]) -> TaskGraph:
    """Return a graph in which users have their own copies of equations: `A+/3` copies `A/3`."""

    def of(task: str, names: Sequence[str]) -> bool:
        return task.split("/", 1)[0] in names

    def copy(task: str) -> str:
        return task.replace("/", "+/") if of(task, equations) else task

    tasks = list(graph.tasks)
    tasks += [Task(copy(t.name), t.operations) for t in graph.tasks if of(t.name, equations)]
    edges = []
    for edge in graph.edges:
        own = of(edge.before, equations) and of(edge.after, users)
        edges.append(replace(edge, before=copy(edge.before)) if own else edge)
        if of(edge.after, equations):
            edges.append(Edge(copy(edge.before), copy(edge.after), edge.words))
    return TaskGraph(graph.name, tuple(tasks), tuple(edges))


# --------------------------------------------------------------------------------------------------
# Zalzala & Morris 1989: job weights, packing, totals and pipeline of the DRL algorithm.
#
# The paper rounds its numbers at every step; the same steps round here.
# --------------------------------------------------------------------------------------------------

LINKS = 6
MULTIPLICATION_NS, ADDITION_NS = 550, 350
WORD_US, WORDS_PHASE_1, WORDS_PHASE_2 = 1.6, 12, 29
POINTS, STAGES = 300, 7
# Multiplications and additions of a job for links n > 1 and n = 1 (tables 1 and 2).
PHASE_1: Mapping[str, tuple[int, int, int, int]] = {
    "J1": (24, 15, 0, 0), "J2": (30, 21, 6, 3), "J3": (47, 36, 13, 7), "J4": (9, 9, 9, 9),
    "J5": (18, 9, 0, 3), "J6": (9, 6, 9, 6), "J7": (36, 27, 36, 27), "J8": (9, 6, 9, 6),
    "J9": (4, 2, 4, 2), "J10": (2, 0, 2, 0),
}  # fmt: skip
PHASE_2: Mapping[str, tuple[int, int, int, int]] = {
    "J1": (12, 12, 0, 0), "J2": (3, 6, 3, 3), "J3": (9, 8, 9, 8), "J4": (6, 5, 0, 0),
    "J5": (3, 2, 3, 2), "J6": (0, 1, 0, 1),
}  # fmt: skip
PRINTED_1 = ("18.5", "23.9", "38.5", "9.2", "13.1", "7.1", "29.3", "7.1", "2.9", "1.1")
PRINTED_2 = ("10.8", "3.8", "7.8", "5.1", "2.4", "0.4")
NORMAL_1 = ("0.48", "0.62", "1.00", "0.24", "0.34", "0.18", "0.76", "0.18", "0.08", "0.03")
NORMAL_2 = ("0.68", "0.24", "0.49", "0.32", "0.15", "0.03")
# The priority lists (46) and (48); a, b, c are the rows of a distributed job.
LIST_1 = (("J2", "J1"), ("J3",), ("J7", "J4"), ("J5", "J8"), ("J6",), ("J9",), ("J10",))
LIST_2 = (
    ("J4a", "J1a"), ("J4b", "J1b"), ("J4c", "J1c"), ("J3",), ("J2",), ("J5",), ("J6",)
)  # fmt: skip
UTILISED_1, UTILISED_2 = ("0.91", "1.00", "1.00", "1.00"), ("1.00", "1.00", "1.00", "0.91")
# The printed weight is that of 12 additions, not of the printed 9: 9·0.55 + 12·0.35 = 9.15.
WEIGHED_ADDITIONS = {"J4": 12}
# (A.27)-(A.32) are six additions; table 1 prints 7, while (50) and the totals count 6.
FIRST_ADDITIONS_J3 = 6
# The table of other methods (4): its formulas, and its numbers for n = 6.
_OTHERS: Mapping[str, tuple[tuple[float, ...], str, str]] = {
    "Uicker-Kahn mul": ((-128, 160 / 3, 171.25, 1037 / 12, 32.5), "66271",
                        "the printed formula gives another number: a slip of its source"),
    "Uicker-Kahn add": ((-96, 127 / 3, 129.5, 199 / 3, 25), "51548", "n³ is missing in print"),
    "Waters mul": ((-212, 620.5, 106.5), "7051", "the printed formula gives another number"),
    "Waters add": ((-384, 514, 82), "5652", ""),
    "Hollerbach 4x4 mul": ((-592, 830), "4388", ""),
    "Hollerbach 4x4 add": ((-464, 675), "3586", ""),
    "Hollerbach 3x3 mul": ((-277, 412), "2195", ""),
    "Hollerbach 3x3 add": ((-201, 320), "1719", ""),
    "Newton-Euler mul": ((-48, 150), "852", ""),
    "Newton-Euler add": ((-48, 131), "738", ""),
    "Horn-Raibert mul": ((0, 0, 1, 2), "468", ""),
    "Horn-Raibert add": ((0, 2, 1, 1), "264", ""),
}  # fmt: skip


def weights_us(phase: Mapping[str, tuple[int, int, int, int]]) -> dict[str, float]:
    """Return the weight factors (44) in µs, rounded to one digit as printed."""
    found = {}
    for job, (multiplications, additions, _, _) in phase.items():
        added = WEIGHED_ADDITIONS.get(job, additions) if phase is PHASE_1 else additions
        nanoseconds = multiplications * MULTIPLICATION_NS + added * ADDITION_NS
        found[job] = (nanoseconds + 50) // 100 / 10  # halves upwards
    return found


def normalised(weights: Mapping[str, float], greatest: float) -> dict[str, float]:
    return {job: math.floor(100 * w / greatest + 0.5) / 100 for job, w in weights.items()}


def normal_weights() -> tuple[dict[str, float], dict[str, float]]:
    """Return the normalised weights of both phases; the unit of phase 2 is a row of D and of c."""
    first, second = weights_us(PHASE_1), weights_us(PHASE_2)
    return normalised(first, max(first.values())), normalised(second, second["J1"] + second["J4"])


def packed() -> tuple[list[list[str]], list[list[str]]]:
    """Assign both phases' jobs to processors by the paper's lists, first and best fit."""
    first, second = normal_weights()
    rows = second | {f"{job}{row}": second[job] for job in ("J1", "J4") for row in "abc"}
    whole = 1.0 + 1e-9  # sums of hundredths
    return pack(first, LIST_1, whole, "best"), pack(rows, LIST_2, whole, "best")


def totals(links: int = LINKS) -> tuple[int, int]:
    """Return multiplications and additions on the critical path, (50) to (52).

    Phase 1 has job 3 of every link and jobs 4 and 7 of the last link. Phase 2 has a row of D and of
    c for all links except the last.
    """
    third, waiting = PHASE_1["J3"], (PHASE_1["J4"], PHASE_1["J7"])
    multiplications = third[2] + third[0] * (links - 1) + sum(job[0] for job in waiting)
    additions = FIRST_ADDITIONS_J3 + third[1] * (links - 1) + sum(job[1] for job in waiting)
    for job in ("J1", "J4"):
        multiplications += PHASE_2[job][0] * (links - 1)
        additions += PHASE_2[job][1] * (links - 1)
    return multiplications, additions


def pipeline_speedup(stages: int = STAGES, points: int = POINTS) -> float:
    """Simulate a pipeline of equal stages over a trajectory: S = n η, η = l / (n + l - 1)."""
    tasks = tuple(Task(f"stage {k}", Operations(1)) for k in range(stages))
    edges = tuple(Edge(f"stage {k}", f"stage {k + 1}", 0) for k in range(stages - 1))
    graph = TaskGraph("pipeline", tasks, edges)
    line = Assignment(tuple((task.name,) for task in tasks))
    return pipelined(graph, line, UNIT, points).speedup


def _weights() -> list[Finding]:
    first, second = normal_weights()
    found = []
    for phase, weights, printed in (
        (1, weights_us(PHASE_1), PRINTED_1), (2, weights_us(PHASE_2), PRINTED_2),
        (1, first, NORMAL_1), (2, second, NORMAL_2),
    ):  # fmt: skip
        name = "normalised weight" if weights in (first, second) else "weight (µs)"
        for (job, ours), text in zip(weights.items(), printed, strict=True):
            odd = phase == 1 and job == "J4"
            note = "table 1 has 9 additions, the weight 12" if odd else ""
            found.append(Finding(f"{name} of job {phase}.{job[1:]}", text, ours, "count", note))
    return at("Table 3", found)


def _packing() -> list[Finding]:
    first, second = normal_weights()
    rows = second | {f"{job}{row}": second[job] for job in ("J1", "J4") for row in "abc"}
    found = []
    for phase, bins, weights, printed in (
        (1, packed()[0], first, UTILISED_1), (2, packed()[1], rows, UTILISED_2)
    ):  # fmt: skip
        order = _like_printed(bins, weights, printed)
        found += at(f"Fig. {3 + phase}", [
            Finding(f"processors, phase {phase}", str(len(printed)), len(bins), "count")
        ])  # fmt: skip
        for k, (jobs, share) in enumerate(zip(order, printed, strict=True), 1):
            ours = sum(weights[job] for job in jobs)
            note = "jobs " + " ".join(job[1:] for job in jobs)
            row = Finding(f"utilisation, phase {phase}, P{k}", share, ours, "count", note)
            found += at("Table 5", [row])
    return found


def _like_printed(
    bins: Sequence[list[str]], weights: Mapping[str, float], printed: Sequence[str]
) -> list[list[str]]:
    """Return the bins with the one that is not full at its place in the paper."""
    least = min(bins, key=lambda jobs: sum(weights[job] for job in jobs))
    order = [jobs for jobs in bins if jobs is not least]
    order.insert(printed.index(min(printed)), least)
    return order


def _totals() -> list[Finding]:
    multiplications, additions = totals()
    calculated = multiplications * MULTIPLICATION_NS / 1e6, additions * ADDITION_NS / 1e6
    sent = (LINKS + 1) * WORDS_PHASE_1 * WORD_US / 1e3, (LINKS - 1) * WORDS_PHASE_2 * WORD_US / 1e3
    whole = sum(calculated) + sum(sent)
    per_link = [b - a for a, b in zip(totals(LINKS), totals(LINKS + 1), strict=True)]
    third = PHASE_1["J3"]
    spoken, worked = (round(x[0], 2) + round(x[1], 2) for x in (sent, calculated))
    steps = "(60) takes 5 steps of phase 2, (59) says n = 6"
    last = [
        Finding("multiplications a link", "65", per_link[0], "count", "(52)"),
        Finding("additions a link", "53", per_link[1], "count", "(52)"),
        Finding("multiplications, n = 6", "383", multiplications, "count"),
        Finding("additions, n = 6", "307", additions, "count",
                "(A.27)-(A.32) are 6 additions, table 1 has 7; one passage prints 310"),
        Finding("multiplications, pipelined", "47", max(job[0] for job in PHASE_1.values()),
                "count"),
        Finding("additions, pipelined", "36", third[1], "count"),
    ]  # fmt: skip
    return at("Table 4", last) + at("eq. 57-60", [
        Finding("words' time a stage, phase 1 (µs)", "19.20", WORDS_PHASE_1 * WORD_US, "count"),
        Finding("words' time a stage, phase 2 (µs)", "46.40", WORDS_PHASE_2 * WORD_US, "count"),
        Finding("time of multiplications (ms)", "0.21", calculated[0], "count"),
        Finding("time of additions (ms)", "0.11", calculated[1], "count"),
        Finding("time of communication, phase 1 (ms)", "0.13", sent[0], "count"),
        Finding("time of communication, phase 2 (ms)", "0.23", sent[1], "count", steps),
        Finding("total time (ms)", "0.68", whole, "count"),
        Finding("part of communication", "0.53", spoken / (spoken + worked), "count",
                f"of the rounded times, as printed; {sum(sent) / whole:.3f} of the others"),
        Finding("communication to calculation", "1.13", spoken / worked, "count",
                f"of the rounded times, as printed; {sum(sent) / sum(calculated):.3f} of the "
                "others"),
    ])  # fmt: skip


def _pipeline_and_others() -> list[Finding]:
    speedup = pipeline_speedup()
    found = at("Fig. 10", (
        Finding("speed-up, 300 points, 7 stages", "6.86", speedup, "count", "simulated"),
        Finding("pipeline efficiency", "0.98", speedup / STAGES, "count", "simulated"),
    ))  # fmt: skip
    for name, (factors, printed, note) in _OTHERS.items():
        ours = sum(factor * LINKS**power for power, factor in enumerate(factors))
        found += at("Table 4", [Finding(f"{name}, n = 6", printed, ours, "count", note)])
    return found


# --------------------------------------------------------------------------------------------------
# Zalzala & Morris 1989: measured times, channels and transputers of the network (tables 6 to 9).
#
# Measured operations take longer than bare ones, for indexing, control and off-chip memory. The
# factor is that of Zomaya & Morris, measured in the same laboratory on the same transputers; no
# number here is fitted to the times of this paper.
# --------------------------------------------------------------------------------------------------

# ms by stage and transputer (tables 8a and 8b); equal stages once.
TABLE_8A = (
    ("0.0", "0.096", "0.096", "0.0"), *(("0.25",) * 4,) * 5, ("0.224", "0.064", "0.0", "0.0"),
)  # fmt: skip
TABLE_8B = (*(("0.144",) * 4,) * 5, ("0.144", "0.0", "0.0", "0.0"))
# Results that the jobs of phase 1 read, and those that phase 2 reads (on T0).
READS: Mapping[str, str] = {
    "J1": "J1 J9", "J2": "J1 J2 J9", "J3": "J1 J2 J3 J9", "J4": "J3 J4 J10", "J5": "J1 J9",
    "J6": "J3", "J7": "J3 J4", "J8": "J5",
}  # fmt: skip
SECOND = ("J5", "J6", "J7", "J8")


def channels() -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the (sender, receiver) pairs of a pass in both phases, by dependencies of the jobs.

    In phase 2 every message passes T0, which is the centre of a star.
    """
    first, second = packed()
    # In the paper P4, P2, P3, P1 of phase 1 are T0, T1, T2, T3.
    place = {"J4": 0, "J5": 1, "J3": 2, "J2": 3}
    at_t = {job: next(place[x] for x in jobs if x in place) for jobs in first for job in jobs}
    pairs = {(at_t[a], at_t[job]) for job, reads in READS.items() for a in reads.split()}
    pairs |= {(at_t[job], 0) for job in SECOND}
    rows = [t for t, jobs in enumerate(second) if any(job[:2] in ("J1", "J3") for job in jobs)]
    star = Links("star", 4, 0.0, WORD_US, overlap=True)
    paths = (star.path(a, b, len(second)) for a in rows for b in rows)
    hops = {hop for path in paths for hop in pairwise(path)}
    return {(a, b) for a, b in pairs if a != b}, hops


def _network() -> Iterator[Finding]:
    one, two = channels()
    yield from at("Table 7a", [Finding(
        "channels in use, passes 1 to 5", "7", len(one), "count",
        "job 6 on P1, as in fig. 4b, reads Ẅ of T2; the table has no such channel",
    )])  # fmt: skip
    yield from at("Table 7b", [Finding("channels in use, passes 1 to 5", "6", len(two), "count")])
    # Stages of phase 2 run on the columns of phase 1 from the last one backwards.
    busy = {(s, t) for s, row in enumerate(TABLE_8A) for t, ms in enumerate(row) if float(ms)}
    last = len(TABLE_8A) - 1
    busy |= {(last - s, t) for s, row in enumerate(TABLE_8B) for t, ms in enumerate(row)
             if float(ms)}  # fmt: skip
    yield from at("Fig. 9", [Finding(
        "transputers of the pipeline", "26", len(busy), "count",
        "entries of tables 8a and 8b above zero, phase 2 on the columns of phase 1 backwards; each "
        "has four links, so some messages pass a third one",
    )])  # fmt: skip


def _measured() -> Iterator[Finding]:
    factor = fitted_factor()
    second = tuple(PHASE_2["J1"][k] + PHASE_2["J4"][k] for k in (0, 1))

    def ms(job: Sequence[int], times: Sequence[float] = (_MUL, _ADD)) -> float:
        return (job[0] * times[0] + job[1] * times[1]) / 1e3

    def row(figure: str, printed: str, ours: float, note: str = "") -> Finding:
        return Finding(figure, printed, ours, "model", note)

    third, last = PHASE_1["J3"], [a + b for a, b in zip(PHASE_1["J4"], PHASE_1["J7"], strict=True)]
    sent = [words * WORD_US / 1e3 for words in (WORDS_PHASE_1, WORDS_PHASE_2)]
    sines = 2 * load_machine("t800").costs.function / 1e3
    first = factor * ms(third[2:]) + sines
    stage, turn = factor * ms(third), factor * ms(second) + sent[1]
    note = f"predicted: operations take {factor:.2f} times their bare time, as in Zomaya and Morris"
    yield from at("Table 6", (
        row("link 1, phase 1 (ms)", "0.133", first + sent[0], "sine and cosine are on the path"),
        row("links 2 to 6, phase 1 (ms)", "0.293", stage + sent[0], note),
        row("all links, phase 2 (ms)", "0.144", turn, note),
        Finding("sum over the links (ms)", "2.46", 0.277 + 5 * 0.437, "count", "its own entries"),
    ))  # fmt: skip
    yield from at("Table 8a", (
        row("stage 1, T1 and T2 (ms)", "0.096", first, note),
        row("stages 2 to 6 (ms)", "0.25", stage, note),
        row("stage 7, T0 (ms)", "0.224", factor * ms(last), note),
        row("stage 7, T1 (ms)", "0.064", factor * ms(PHASE_1["J6"]) + sent[0], "job 6 and words"),
    ))  # fmt: skip
    yield from at("Table 8b", [row("all stages (ms)", "0.144", turn, note)])
    costs = load_machine("t414").costs
    slow = costs.multiplication, costs.addition
    whole, words = totals(), (LINKS + 1) * sent[0] + (LINKS - 1) * sent[1]
    software = ms(whole, slow)
    measured, clock = 2.46, float(TABLE_8A[1][0])
    yield from at("Table 9", (
        row("T800, practical (ms)", "2.46", ms(whole) + words,
            "bare operations: without indexing, control, sines and off-chip memory"),
        row("T800, practical, that factor (ms)", "2.46",
            factor * ms(whole) + words, note),
        row("factor that gives 2.46 ms", "", (measured - words) / ms(whole),
            f"{factor:.2f} in Zomaya and Morris; plausible: 3.6 µs a multiplication, with checked "
            "indices and operands off chip"),
        Finding("T800, pipelined (ms)", "0.026", clock * (POINTS + STAGES - 1) / POINTS, "count",
                "a misprint of 0.26: table 8a's longest stage is 0.25 ms, and the T414's 1.09 "
                "follows from it; 47 multiplications alone take 0.026"),
        Finding("T414, theoretical (ms)", "7.72",
                sum(round(x, 2) for x in (whole[0] * slow[0] / 1e3, whole[1] * slow[1] / 1e3,
                                          (LINKS + 1) * sent[0], (LINKS - 1) * sent[1])),
                "count", "10 and 11.5 µs a multiplication and an addition; rounded as in (60)"),
        row("T414, practical (ms)", "8.96", software + words + measured - ms(whole) - words,
            "predicted: its theoretical time and what the T800 takes beyond its own"),
        row("T414, pipelined (ms)", "1.09", clock - ms(third) + ms(third, slow),
            "predicted: table 8a's longest stage, with 47/36 operations in software"),
    ))  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Zeng & Egan 1991: their tables and task graphs as values (five revolute joints).
#
# Tasks of the graph of 95 are `task/link`. Those of the graph of 52 have the paper's numbers: task
# k of link i is 10 (i - 1) + k. In version 5, A v̇ of the previous link is split from task 3 as
# tasks 52 to 56. Counts are those of the equations in the paper's figures 2 and 3. A rotated vector
# takes 9 multiplications and 6 additions, a cross product 6 and 3, a sum of vectors 3 additions;
# z q̇ has one entry.
# --------------------------------------------------------------------------------------------------

JOINTS = 5
LOOPS = 21200
SEQUENTIAL = "97.7"
# Seconds for `LOOPS` loops with 1, 2, 3, 4 processors.
SECONDS: Mapping[str, tuple[str, ...]] = {
    "1 dynamic": ("298.1", "254.8", "287.8", "368.2"),
    "1 static": ("297.1", "255.8", "268.5", "313.3"),
    "2 dynamic": ("274.5", "177.9", "161.6", "180.1"),
    "2 static": ("252.6", "180.0", "156.5", "155.9"),
    "3 dynamic": ("192.8", "130.4", "115.4", "122.7"),
    "3 static": ("178.4", "124.4", "106.4", "112.3"),
    "4 dynamic": ("183.3", "125.9", "113.7", "118.0"),
    "4 static": ("161.7", "99.6", "82.7", "80.1"),
    "5 static": ("123.7", "83.9", "55.7", "50.4"),
}
# The level tables of version 5, process by process.
LEVELS: Mapping[int, tuple[str, ...]] = {
    4: (
        "0 52 53 54 55 56 24 25 28 14 15 18",
        "1 11 21 31 41 34 35 38 50 4 5 8 6",
        "2 12 22 32 42 45 46 36 26 16 40 30 20",
        "47 3 13 23 33 43 44 48 49 37 39 27 29 17 19 7 9 10 51",
    ),
    3: (
        "0 1 11 21 31 41 34 24 14 38 25 28 15 18 4 5 8",
        "2 12 22 32 42 45 35 46 36 26 16 50 40 30 20 6",
        "47 3 13 23 33 43 44 48 49 37 39 27 29 17 19 7 9 10 51",
    ),
}
# Multiplications, additions and predecessors of the nineteen tasks of link i (figure 2 and the
# table below it): `-` marks the previous link, `+` the next one.
NINETEEN = (
    (9, 7, "1-"), (2, 0, "1-"), (9, 9, "3- 2"), (9, 6, "7-"), (6, 3, "1"), (6, 3, "3"),
    (6, 9, "4 5 6 1"), (12, 6, "1"), (6, 3, "3"), (3, 6, "7 8 9"), (9, 6, "3"), (15, 9, "1"),
    (0, 3, "11 12"), (9, 9, "10 14+"), (6, 3, "14+"), (9, 9, "15 18+"), (6, 3, "10"),
    (0, 6, "16 17 13"), (4, 3, "14 18"),
)  # fmt: skip
# The same for the ten tasks (figure 3); its table prints 2/i+1 in place of 2/i-1.
TEN = (
    (9, 7, "1-"), (11, 9, "1- 2-"), (27, 21, "3- 1 2"), (21, 15, "3 1 2"), (24, 18, "1 2"),
    (9, 9, "4 6+"), (15, 12, "6+ 9+"), (6, 3, "4"), (0, 6, "5 7 8"), (4, 3, "9"),
)  # fmt: skip
Row = tuple[int, int, str]
ROTATED = Operations(9, 6)  # split from task 3 in version 5
_WORDS = 3  # every task sends a vector


def graph_of_95() -> TaskGraph:
    return _graph("zeng-95", _numbered(NINETEEN), dummies=("0", "96"))


def graph_of_52() -> TaskGraph:
    """Return the graph of versions 3 and 4, with dummies 0 and 51."""

    def number(task: str, link: int) -> str:
        return str(10 * (link - 1) + int(task))

    return _graph("zeng-52", _numbered(TEN), number, ("0", "51"))


def graph_of_57() -> TaskGraph:
    """Return version 5's graph: tasks 52 to 56 are A v̇ of the previous link."""
    whole = graph_of_52()
    tasks, edges = [], []
    for task in whole.tasks:
        place = int(task.name)
        if place % 10 == 3 and place < 50:
            link = place // 10 + 1
            given = task.operations
            left = Operations(
                given.multiplications - ROTATED.multiplications, given.additions - ROTATED.additions
            )
            tasks += [Task(str(51 + link), ROTATED), Task(task.name, left)]
            edges.append(Edge(str(51 + link), task.name, _WORDS))
            if link == 1:
                edges.append(Edge("0", "52", 0))
        else:
            tasks.append(task)
    for edge in whole.edges:
        before, after = int(edge.before), int(edge.after)
        if before % 10 == 3 and after == before + 10:
            edges.append(Edge(edge.before, str(52 + after // 10), edge.words))
        else:
            edges.append(edge)
    return TaskGraph("zeng-57", tuple(tasks), tuple(edges))


def graph_by_link() -> TaskGraph:
    """Return version 1's graph: one link at a time, with a barrier before and after each."""
    inner = _graph("zeng-1", _numbered(NINETEEN))
    stages = [[f"{k}/{i}" for k in range(1, 14)] for i in range(1, JOINTS + 1)]
    stages += [[f"{k}/{i}" for k in range(14, 20)] for i in range(JOINTS, 0, -1)]
    tasks, edges = [], []
    known = {task.name: task for task in inner.tasks}
    for n, stage in enumerate(stages):
        inside = [e for e in inner.edges if e.before in stage and e.after in stage]
        tasks += [Task(f"begin {n}", Operations()), *(known[name] for name in stage)]
        tasks.append(Task(f"end {n}", Operations()))
        first = set(stage) - {e.after for e in inside}
        last = set(stage) - {e.before for e in inside}
        edges += [Edge(f"begin {n}", name, _WORDS) for name in stage if name in first]
        edges += inside
        edges += [Edge(name, f"end {n}", _WORDS) for name in stage if name in last]
        if n:
            edges.append(Edge(f"end {n - 1}", f"begin {n}", 0))
    return TaskGraph("zeng-by-link", tuple(tasks), tuple(edges))


def level_table(processes: int) -> Assignment:
    return Assignment(tuple(tuple(line.split()) for line in LEVELS[processes]))


def _numbered(rows: Iterable[Row]) -> dict[str, Row]:
    return {str(k): row for k, row in enumerate(rows, 1)}


def _graph(
    name: str, rows: Mapping[str, Row], naming: Callable[[str, int], str] = "{}/{}".format,
    dummies: tuple[str, str] | None = None, links: int = JOINTS,
) -> TaskGraph:  # fmt: skip
    """Return the graph of equal links from operations and operands of a link's tasks."""
    tasks, edges = [], []
    for link in range(1, links + 1):
        for key, (multiplications, additions, needs) in rows.items():
            tasks.append(Task(naming(key, link), Operations(multiplications, additions)))
            for need in needs.split():
                other = link + need.endswith("+") - need.endswith("-")
                if 1 <= other <= links:
                    before = naming(need.rstrip("+-"), other)
                    edges.append(Edge(before, naming(key, link), _WORDS))
    if dummies is not None:
        entry, end = dummies
        first = {task.name for task in tasks} - {edge.after for edge in edges}
        last = {task.name for task in tasks} - {edge.before for edge in edges}
        edges = [
            *(Edge(entry, task.name, 0) for task in tasks if task.name in first),
            *edges,
            *(Edge(task.name, end, 1) for task in tasks if task.name in last),
        ]
        tasks = [Task(entry, Operations()), *tasks, Task(end, Operations())]
    return TaskGraph(name, tuple(tasks), tuple(edges))


# --------------------------------------------------------------------------------------------------
# Zeng & Egan 1991: a machine like the Encore, fitted on one processor, predicts several.
#
# Four parameters come from four one-processor figures: µs per operation (sequential), per task, for
# the queue's lock, and per successor's counter (versions 2 and 3 dynamic, 4 static). Version 5 has
# no procedures and task records: its one-processor figure separates the record, which uses the bus,
# from the loop around a task. All figures for more processors are predicted.
# --------------------------------------------------------------------------------------------------

_PROCESSORS = (1, 2, 3, 4)
FITTED = ("2 dynamic", "3 dynamic", "4 dynamic", "4 static", "5 static")  # on one processor


def fitted_encore() -> Encore:
    """Return the fitted parameters."""
    sequential = _micro(float(SEQUENTIAL))
    whole, grouped, split = graph_of_95(), graph_of_52(), graph_of_57()
    work = sum(task.operations.total for task in whole.tasks)
    # Each task is put into the queue once and taken out once.
    rows = [
        [len(g.tasks), 2 * locked * len(g.tasks), len(g.edges)]
        for g, locked in ((whole, 1), (grouped, 1), (grouped, 0))
    ]
    columns = ("2 dynamic", "3 dynamic", "4 static")
    extra = [_micro(float(SECONDS[name][0])) - sequential for name in columns]
    task, queue, lock = np.linalg.solve(np.array(rows, dtype=float), np.array(extra))
    around = (_micro(float(SECONDS["5 static"][0])) - sequential) / len(split.tasks)
    return Encore(sequential / work, float(task) - around, around, float(queue), float(lock))


def predicted_seconds(encore: Encore) -> dict[str, tuple[float, ...]]:
    """Return the table of seconds for 1 to 4 processors as the model has it."""
    graphs = {"1": graph_by_link(), "2": graph_of_95(), "3": graph_of_52()}
    found: dict[str, tuple[float, ...]] = {}
    for version, graph in graphs.items():
        runs = [Contended(graph, encore, p) for p in _PROCESSORS]
        # As in the paper, static lists are those of the dynamic runs.
        static = [Contended(graph, encore, len(run.lists), run.lists) for run in runs]
        found[f"{version} dynamic"] = tuple(_seconds(run.us) for run in runs)
        found[f"{version} static"] = tuple(_seconds(run.us) for run in static)
    # In version 4 the scheduling has fewer procedures; the figure for one processor gives the time.
    less = (_micro(float(SECONDS["3 dynamic"][0])) - _micro(float(SECONDS["4 dynamic"][0]))) / len(
        graph.tasks
    )
    concise = replace(encore, around=encore.around - less)
    found["4 dynamic"] = tuple(_seconds(Contended(graph, concise, p).us) for p in _PROCESSORS)
    # Version 4 follows version 3's lists without queues.
    local = [Contended(graph, encore, len(x.lists), x.lists, queued=False) for x in runs]
    found["4 static"] = tuple(_seconds(run.us) for run in local)
    fifth = _fifth(encore)
    found["5 static"] = tuple(_seconds(_table_or_cp(fifth, p)) for p in _PROCESSORS)
    return found


def _fifth(encore: Encore) -> Machine:
    """Return the machine of version 5, which does not use the bus."""
    op = encore.operation
    return Machine(
        "encore-fitted", "", "", 8, OperationTimes(op, op, op, op, op, encore.around),
        SharedMemory(0.0, 0.0, encore.lock, 0.0, poll=False),
    )  # fmt: skip


def _table_or_cp(machine: Machine, processors: int) -> float:
    """Return the µs of the printed table if there is one, else of CP/MISF."""
    split = graph_of_57()
    if processors == 4:
        return simulate(split, level_table(4), machine).makespan_us
    if processors == 3:  # this table does not split the tasks
        return simulate(graph_of_52(), level_table(3), machine).makespan_us
    return _listed(split, machine, processors)


def _zeng_counts() -> tuple[Finding, ...]:
    whole, grouped, split = graph_of_95(), graph_of_52(), graph_of_57()
    fifth = [float(text) for text in SECONDS["5 static"]]
    best = min(fifth)
    path = lower_bounds(grouped, UNIT, 1).critical_path_us
    enough = next(p for p in range(1, 100) if _listed(grouped, UNIT, p) <= path * (1 + 1e-9))
    inner = [t for t in graph_by_link().tasks if t.operations.total]
    return (
        *at("Fig. 2", [Finding("tasks a link", "19", len(inner) // JOINTS, "count")]),
        *at("Fig. 3", [Finding("tasks a link", "10", (len(grouped.tasks) - 2) // JOINTS, "count")]),
        *at("Fig. 4", [Finding("tasks of a link and dummies", "23", len(inner) // JOINTS + 4,
                               "count", "tasks 0 to 22; our barriers are 0, 14, 15 and 22")]),
        *at("Fig. 5", [Finding("tasks, 19 a link", "95", len(whole.tasks) - 2, "count",
                               "without the two dummies")]),
        *at("Fig. 6", [Finding("tasks, regrouped", "52", len(grouped.tasks), "count",
                               "with the two dummies")]),
        *at("sec. 5.5", [Finding("highest task number, version 5", "56", len(split.tasks) - 1,
                                    "count")]),
        *at("sec. 7", [
            Finding("best speed-up, against sequential", "1.94", float(SEQUENTIAL) / best,
                    "count", "quotient of its seconds"),
            Finding("best speed-up, against itself on one", "2.45", fifth[0] / best, "count",
                    "quotient of its seconds"),
        ]),
        *at("sec. 8", [Finding(
            "processors by the critical path, at most", "6", most_at_once(grouped), "count",
            "tasks of the 52 at the same time if each begins as early as possible; CP/MISF "
            f"reaches the critical path with {enough}",
        )]),
    )  # fmt: skip


def most_at_once(graph: TaskGraph) -> int:
    """Return the largest number of tasks at the same time if each begins as early as possible."""
    tasks = indexed(graph, UNIT)
    spans = [(head, head + us) for head, us in zip(tasks.heads, tasks.times, strict=True)]
    return max(sum(a <= start < b for a, b in spans) for start, _ in spans)


def closed_loop() -> TaskGraph:
    """Return the loop of figures 7 and 8: dynamic control in 57 tasks, all else one after another.

    The paper's only figure of the others is that they take as long as dynamic control; equal parts
    are assumed.
    """
    inner = graph_of_57()
    before, after = ("sample", "position", "error", "rates"), ("drive",)
    part = sum(t.operations.total for t in inner.tasks) / len(before + after)
    others = [Task(name, Operations(additions=round(part))) for name in before + after]
    line = [Edge(a, b, _WORDS) for a, b in pairwise(before)]
    ends = [Edge("rates", inner.tasks[0].name, _WORDS), Edge("51", "drive", _WORDS)]
    return TaskGraph("zeng-loop", (*others, *inner.tasks), (*inner.edges, *line, *ends))


def _closed_loop() -> Iterator[Finding]:
    machine, loop = _fifth(fitted_encore()), closed_loop()
    alone = _listed(loop, machine, 1)
    for processors in range(1, 9):
        yield Finding(
            f"speed-up of the loop on {processors}", "",
            alone / _listed(loop, machine, processors), "model",
            "CP/MISF on the machine of version 5; at most 2, as the other half is sequential",
        )  # fmt: skip


def _listed(graph: TaskGraph, machine: Machine, processors: int) -> float:
    return simulate(graph, cp_misf(graph, machine, processors), machine).makespan_us


def _level_tables() -> tuple[Finding, ...]:
    """Compare CP/MISF with the printed tables, in operations."""
    found = []
    for processes, graph in ((3, graph_of_52()), (4, graph_of_57())):
        table = simulate(graph, level_table(processes), UNIT).makespan_us
        found.append(Finding(
            f"longest way, table for {processes} (operations)", f"{table:.0f}",
            _listed(graph, UNIT, processes), "model",
            "printed: the table's lists simulated; ours: CP/MISF on the same graph, at least "
            f"{lower_bounds(graph, UNIT, processes).best_us:.0f}",
        ))  # fmt: skip
    return tuple(found)


def _zeng_model() -> tuple[Finding, ...]:
    encore = fitted_encore()
    predicted = predicted_seconds(encore)
    found = []
    for version, seconds in predicted.items():
        for processors, ours in zip(_PROCESSORS, seconds, strict=True):
            printed = SECONDS[version][processors - 1]
            fit = processors == 1 and version in FITTED
            figure, note = f"version {version}, {processors} processors (s)", "predicted"
            found.append(Finding(figure, printed, ours, "model", "fitted" if fit else note))
    best = min(predicted["5 static"])
    sequential = float(SEQUENTIAL)
    note = f"model: {encore}"
    found += [
        Finding("best speed-up of the model", "1.94", sequential / best, "model", note),
        Finding("best speed-up against itself", "2.45", predicted["5 static"][0] / best, "model"),
    ]
    fifth = _fifth(encore)
    split = graph_of_57()
    for processors in (3, 4):
        found.append(Finding(
            f"version 5, {processors} processors, our lists (s)", "",
            _seconds(_listed(split, fifth, processors)), "model",
            "predicted; not the printed table",
        ))  # fmt: skip
    return tuple(found)


def _micro(seconds: float) -> float:
    return seconds * 1e6 / LOOPS


def _seconds(micro: float) -> float:
    return micro * LOOPS / 1e6


# --------------------------------------------------------------------------------------------------
# Zomaya & Morris 1989: operation tables, the mapping on four transputers, and the 2 ms.
# --------------------------------------------------------------------------------------------------

# Multiplications and additions per link: table 2, table 3, and its last rows for diagonal inertia.
GENERAL: Mapping[str, tuple[int, int]] = {
    "A": (4, 0), "p": (2, 0), "w": (12, 9), "wd": (18, 15), "vd": (27, 21), "psi": (18, 15),
    "F": (3, 0), "N": (24, 18), "f": (9, 9), "n": (21, 21), "tau": (12, 8),
}  # fmt: skip
CUSTOMISED: Mapping[str, tuple[int, int]] = {
    "w": (8, 6), "wd": (10, 8), "vd": (26, 20), "psi": (18, 15), "F": (3, 0), "N": (24, 18),
    "f": (8, 8), "n": (20, 20), "tau": (0, 0),
}  # fmt: skip
DIAGONAL: Mapping[str, tuple[int, int]] = {**CUSTOMISED, "N": (12, 6)}
# The operands of each equation of link i: `-` marks the previous link, `+` the next one.
NEEDS: Mapping[str, str] = {
    "w": "w-", "wd": "wd- w-", "vd": "vd- w wd", "psi": "w wd vd", "F": "psi", "N": "w wd",
    "f": "f+ F", "n": "n+ f N F", "tau": "n",
}  # fmt: skip
MEASURED_MS, LESS_THAN_GENERAL, LESS_THAN_CUSTOMISED = "2", 0.58, 0.41
_MUL, _ADD, _WORD = 0.55, 0.35, 1.6  # µs on a T800, as in Zalzala & Morris


def graph(counts: Mapping[str, tuple[int, int]] = CUSTOMISED) -> TaskGraph:
    """Return the graph of equations (5) to (13) with printed counts; tasks are `w/3`."""
    return _graph("zomaya", {k: (*counts[k], needs) for k, needs in NEEDS.items()}, links=LINKS)


def transputer(factor: float = 1.0) -> Machine:
    """Return a T800 whose operations take `factor` times their bare time."""
    costs = OperationTimes(
        _MUL * factor, _ADD * factor, _MUL * factor, _MUL * factor, _MUL * factor
    )
    return Machine("t800", "", "", 64, costs, Links("full", 4, 0.0, _WORD, overlap=True))


def fitted_factor() -> float:
    """Return the time of a measured operation relative to its bare time.

    The time of the general method on one transputer follows from `2 ms, 58 % less`.
    """
    measured = float(MEASURED_MS) * 1e3 / (1 - LESS_THAN_GENERAL)
    multiplications, additions = _total(GENERAL)
    return measured / (multiplications * _MUL + additions * _ADD)


def _total(counts: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    columns = zip(*counts.values(), strict=True)
    multiplications, additions = (LINKS * sum(column) for column in columns)
    return multiplications, additions


def _zomaya_counts() -> list[Finding]:
    found: list[Finding] = []
    tables = (
        ("general", GENERAL, "900", "696"),
        ("dense", CUSTOMISED, "702", "570"),
        ("diagonal", DIAGONAL, "630", "498"),
    )
    for name, counts, *printed in tables:
        kinds = ("multiplications", "additions")
        found += at("Table 2" if counts is GENERAL else "Table 3", (
            Finding(f"{name}, six links: {kind}", text, value, "count")
            for kind, text, value in zip(kinds, printed, _total(counts), strict=True)
        ))  # fmt: skip
    whole, dense, diagonal = (sum(_total(c)) for c in (GENERAL, CUSTOMISED, DIAGONAL))
    return found + at("sec. 5.2", (
        Finding("operations saved, dense (%)", "20", 100 * (1 - dense / whole), "count"),
        Finding("operations saved, diagonal (%)", "29", 100 * (1 - diagonal / whole), "count"),
    ))  # fmt: skip


def _parallel() -> list[Finding]:
    """Return figures from 40 and 32 operations per link: P1 in phase 1, then P3 in phase 2."""
    outward = [CUSTOMISED[name] for name in ("w", "N")]
    inward = CUSTOMISED["f"]
    multiplications = sum(m for m, _ in outward) + inward[0]
    additions = sum(a for _, a in outward) + inward[1]
    whole, diagonal = sum(_total(GENERAL)), sum(_total(DIAGONAL))
    parallel = LINKS * (multiplications + additions)
    busiest = sum(sum(CUSTOMISED[name]) for name in ("w", "N", "n")) * LINKS
    path = lower_bounds(graph(), UNIT, 3).critical_path_us
    return [
        Finding("parallel: multiplications a link", "40", multiplications, "count",
                "ω and N outwards on P1, f inwards on P3"),
        Finding("parallel: additions a link", "32", additions, "count", "likewise"),
        Finding("parallel: operations", "432", parallel, "count"),
        Finding("less than general (%)", "73", 100 * (1 - parallel / whole), "count"),
        Finding("less than semi-customised (%)", "62", 100 * (1 - parallel / diagonal), "count",
                "of the diagonal form; 66 % of the dense"),
        Finding("operations of P1 alone", "432", busiest, "model",
                "ω, N and n are all P1's: its mapping cannot take less than this"),
        Finding("operations on the critical path", "432", path, "model",
                "equations as tasks, any number of processors"),
    ]  # fmt: skip


def _zomaya_model() -> list[Finding]:
    factor = fitted_factor()
    machine = transputer(factor)
    customised = float(MEASURED_MS) / (1 - LESS_THAN_CUSTOMISED)
    found = []
    for name, counts in (("diagonal", DIAGONAL), ("dense", CUSTOMISED)):
        equations = graph(counts)
        alone = sum(machine.time(task.operations) for task in equations.tasks) / 1e3
        mapped = simulate(equations, paper_mapping(equations, machine, "zomaya"), machine)
        best = simulate(equations, cp_misf(equations, machine, 3), machine)
        found += [
            Finding(f"one T800, {name} (ms)", f"{customised:.2f}", alone,
                    "model", f"predicted; an operation takes {factor:.2f} times its bare time, "
                    "fitted to the general form on one"),
            Finding(f"four T800s, {name} (ms)", MEASURED_MS,
                    mapped.makespan_us / 1e3, "model", "predicted: its mapping simulated, 1.6 µs "
                    "a float"),
            Finding(f"our schedule, {name} (ms)", "",
                    best.makespan_us / 1e3, "model", "predicted: our schedule of its equations"),
        ]  # fmt: skip
    return found


# --------------------------------------------------------------------------------------------------
# Papers by name.
# --------------------------------------------------------------------------------------------------

REPRODUCED = ("zomaya", "zeng", "zalzala", "schaefer")


def reproduce(paper: str, cycle: TaskGraph | None = None) -> tuple[Finding, ...]:
    """Return all findings of a paper; `cycle` is the graph for schaefer's model."""
    match paper:
        case "zomaya":
            return (
                *_zomaya_counts(), *at("sec. 7", _parallel()), *at("Fig. 4", _zomaya_model())
            )  # fmt: skip
        case "zeng":
            return (
                *_zeng_counts(),
                *at("sec. 5.5", _level_tables()),
                *at("sec. 7", _zeng_model()),
                *at("Fig. 7, 8", _closed_loop()),
            )
        case "zalzala":
            return (
                *_weights(), *_packing(), *_totals(), *_pipeline_and_others(), *_network(),
                *_measured(),
            )  # fmt: skip
        case "schaefer":
            return schaefer_findings(cycle)
    raise unknown("paper", paper, REPRODUCED)
