"""Zalzala & Morris 1989 anew: job weights, packing, totals and pipeline of the DRL algorithm.

The paper's numbers are rounded at every step; we round where it does, which its figures show.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from boolcomp.parallel.schedule.findings import Finding
from boolcomp.parallel.schedule.graph import Edge, Task, TaskGraph
from boolcomp.parallel.schedule.machine import UNIT
from boolcomp.parallel.schedule.packing import pack
from boolcomp.parallel.schedule.placed import Assignment
from boolcomp.parallel.schedule.simulate import pipelined
from boolcomp.problem.dynamics.operations import Operations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LINKS = 6
MULTIPLICATION_NS, ADDITION_NS = 550, 350
WORD_US, WORDS_PHASE_1, WORDS_PHASE_2 = 1.6, 12, 29
POINTS, STAGES = 300, 7
# Multiplications and additions of a job for a link n > 1, and for n = 1 (tables 1 and 2).
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
# Printed 9 additions, but the weight printed is that of 12: 9·0.55 + 12·0.35 = 9.15.
WEIGHED_ADDITIONS = {"J4": 12}
# (A.27)-(A.32) are six additions; table 1 prints 7, while (50) and the totals count 6.
FIRST_ADDITIONS_J3 = 6
# The table of other methods (4): what its formulas give, and what it prints for n = 6.
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
    """Return the normalised weight factors (45), rounded to two digits as printed."""
    return {job: math.floor(100 * w / greatest + 0.5) / 100 for job, w in weights.items()}


def normal_weights() -> tuple[dict[str, float], dict[str, float]]:
    """Return the normalised weights of both phases.

    In phase 2 the unit is a row of D and of c, which one processor does.
    """
    first, second = weights_us(PHASE_1), weights_us(PHASE_2)
    return normalised(first, max(first.values())), normalised(second, second["J1"] + second["J4"])


def packed() -> tuple[list[list[str]], list[list[str]]]:
    """Put both phases' jobs on processors as the paper does: its lists, first and best fit."""
    first, second = normal_weights()
    rows = second | {f"{job}{row}": second[job] for job in ("J1", "J4") for row in "abc"}
    whole = 1.0 + 1e-9  # sums of hundredths
    return pack(first, LIST_1, whole, "best"), pack(rows, LIST_2, whole, "best")


def totals(links: int = LINKS) -> tuple[int, int]:
    """Return multiplications and additions on the critical path, (50) to (52).

    In phase 1 job 3 of every link, and jobs 4 and 7 of the last, which wait for it; in phase 2 a
    row of D and of c for all links but the last.
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


def zalzala_findings() -> tuple[Finding, ...]:
    """Return every figure of the paper that follows from counts."""
    return (*_weights(), *_packing(), *_totals(), *_pipeline(), *_others())


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
    return found


def _packing() -> list[Finding]:
    first, second = normal_weights()
    rows = second | {f"{job}{row}": second[job] for job in ("J1", "J4") for row in "abc"}
    found = []
    for phase, bins, weights, printed in (
        (1, packed()[0], first, UTILISED_1), (2, packed()[1], rows, UTILISED_2)
    ):  # fmt: skip
        order = _like_printed(bins, weights, printed)
        text = str(len(printed))
        found.append(Finding(f"processors, phase {phase}", text, len(bins), "count"))
        for k, (jobs, share) in enumerate(zip(order, printed, strict=True), 1):
            ours = sum(weights[job] for job in jobs)
            note = "jobs " + " ".join(job[1:] for job in jobs)
            found.append(Finding(f"utilisation, phase {phase}, P{k}", share, ours, "count", note))
    return found


def _like_printed(
    bins: Sequence[list[str]], weights: Mapping[str, float], printed: Sequence[str]
) -> list[list[str]]:
    """Put the bins in the paper's order of processors: the one that is not full where it has it."""
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
    return [
        Finding("multiplications a link", "65", per_link[0], "count", "(52)"),
        Finding("additions a link", "53", per_link[1], "count", "(52)"),
        Finding("multiplications, n = 6", "383", multiplications, "count"),
        Finding("additions, n = 6", "307", additions, "count",
                "(A.27)-(A.32) are 6 additions, table 1 has 7; one passage prints 310"),
        Finding("multiplications, pipelined", "47", max(job[0] for job in PHASE_1.values()),
                "count"),
        Finding("additions, pipelined", "36", third[1], "count"),
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
        Finding("measured on T800s (ms)", "2.46", whole, "model",
                "indexing, control and sines are not counted: 3.6 times as long"),
    ]  # fmt: skip


def _pipeline() -> list[Finding]:
    speedup = pipeline_speedup()
    return [
        Finding("pipeline speed-up, 300 points, 7 stages", "6.86", speedup, "count", "simulated"),
        Finding("pipeline efficiency", "0.98", speedup / STAGES, "count", "simulated"),
    ]


def _others() -> list[Finding]:
    return [
        Finding(
            f"{name}, n = 6",
            printed,
            sum(factor * LINKS**power for power, factor in enumerate(factors)),
            "count",
            note,
        )
        for name, (factors, printed, note) in _OTHERS.items()
    ]
