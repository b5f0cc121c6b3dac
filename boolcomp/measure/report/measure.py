"""Measure a plan against the problem's reference on seeded random states.

Two errors are told apart. The total error compares with the reference on the unquantised inputs: it
is what a user sees. The compiler's own part compares with the reference on the inputs put on the
centres of the finest words: it is what better tables could still gain.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import UsageError, shown
from boolcomp.common.workers import ALONE
from boolcomp.measure.report.kept import worst_of_plan
from boolcomp.paper.bounds import error_bound
from boolcomp.paper.quantised import NOTHING, finest_inputs, quantised
from boolcomp.program.parts import bound_note, over_found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.common.workers import Workers
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.quantised import Said
    from boolcomp.problem.problem import Output, Problem
    from boolcomp.proof.worst import Worst

    Floats = NDArray[np.float64]


MOST_SAMPLES = 20_000_000  # what memory holds with room to spare
SEARCHED = 1_000_000  # evaluations that seek the worst error of a plan, as where it is compiled


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """States within a problem's ranges, an array for each group, and their exact outputs."""

    problem: Problem
    arrays: tuple[Floats, ...]
    outputs: Floats

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.outputs)


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Maximum, rms and mean error, in the unit of the output; share beyond one LSB."""

    max: float
    rms: float
    mean: float
    beyond_lsb: float


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One output, the first being `place` 1, at one word length.

    `guard_bits` are those of the terms, `extra` how many of them are more than the paper's m;
    compact mode has neither. `luts` are nodes of the output's own tables, `program_luts` those
    of all logic of all outputs. `worst` is the worst error found by climbing with so many
    `evaluations`, in the output's unit. What could not be had is None, and `note` says why; a bound
    that is not known, or not useful, is infinite, and `bound_note` says which; `proved` is what is
    known, useful or not.
    """

    problem: str
    mode: str
    bits: int
    guard_bits: int
    extra: int
    place: int
    output: Output
    lsb: float
    total: ErrorSummary
    own: ErrorSummary
    bound: float
    saturated: int
    table_bits: int | None
    products: int | None = None
    literals: int | None = None
    luts: int | None = None
    program_luts: int | None = None
    depth: int | None = None
    seconds: float | None = None
    native_seconds: float | None = None
    ns_per_sample: float | None = None
    worst: float | None = None
    evaluations: int = 0
    note: str = ""
    bound_note: str = ""
    proved: float = math.inf

    @property
    def over_found(self) -> float | None:
        """How many times the worst found is what was proved, useful or not, if both are known."""
        return over_found(self.proved, self.worst)

    @property
    def series(self) -> str:
        """What rows that differ only in bits and output have in common: `paper, m + 1`."""
        if self.mode == "compact":
            return "compact"
        return f"paper, m + {self.extra}" if self.extra else "paper, m"


def draw_samples(problem: Problem, count: int, seed: int = 0) -> Samples:
    """Return seeded states, uniform over the inputs' ranges, with exact outputs."""
    if not 1 <= count <= MOST_SAMPLES:
        raise UsageError(f"samples must be 1 to {MOST_SAMPLES}, not {shown(count)}")
    if seed < 0:
        raise UsageError(f"a seed must not be negative, not {shown(seed)}")
    arrays = tuple(problem.draw(count, seed))
    return Samples(problem, arrays, problem.reference(*arrays))


def error_rows(
    plan: Plan,
    samples: Samples,
    extra: int = 0,
    evaluations: int = 0,
    seen: Callable[[Floats], None] = lambda _: None,
    *,
    workers: Workers = ALONE,
    said: Said = NOTHING,
) -> tuple[ReportRow, ...]:
    """Return a row for every output, with errors but without products.

    The worst error is sought with so many evaluations, if there are any. The errors of all samples,
    in steps, are `seen`. Of tables whose rounding is free their words are `said`.
    """
    # Three things that know nothing of each other; NumPy leaves both cores to them.
    with ThreadPoolExecutor(2) as pool:
        calculated = pool.submit(quantised, plan, samples.arrays, said)
        at_cells = pool.submit(_at_cells, plan, samples)
        bounds = [error_bound(output) for output in plan.outputs]
        notes = [
            bound_note(bound, output.code.range)
            for bound, output in zip(bounds, plan.outputs, strict=True)
        ]
        found, coded = calculated.result().values, at_cells.result()
    seen((found - samples.outputs) / [output.code.step for output in plan.outputs])
    rows = []
    for k, output in enumerate(plan.outputs):
        lsb = output.code.step
        beyond = np.abs(samples.outputs[:, k]) > output.code.range.high
        distinct = {term.term.waves() + term.term.factor: term for term in output.terms}
        rows.append(
            ReportRow(
                problem=plan.problem.name,
                mode="paper",
                bits=plan.options.bits,
                guard_bits=output.guard_bits,
                extra=extra,
                place=k + 1,
                output=output.output,
                lsb=lsb,
                total=errors(found[:, k] - samples.outputs[:, k], lsb),
                own=errors(found[:, k] - coded[:, k], lsb),
                bound=math.inf if notes[k] else bounds[k],
                proved=bounds[k],
                bound_note=notes[k],
                saturated=int(beyond.sum()),
                table_bits=sum(t.code.bits << t.input_bits for t in distinct.values()),
                note=f"{beyond.sum()} samples saturate: no bound for them" if beyond.any() else "",
            )
        )
    if not evaluations:
        return tuple(rows)
    return with_worst(rows, worst_of_plan(plan, evaluations, workers, said))


def _at_cells(plan: Plan, samples: Samples) -> Floats:
    """Return exact outputs of inputs in the middles of their finest cells."""
    return plan.problem.reference(*finest_inputs(plan, samples.arrays))


def with_worst(rows: Sequence[ReportRow], worst: Worst) -> tuple[ReportRow, ...]:
    """Return the rows of all outputs with the worst errors that a search found.

    A sample may have been worse; where samples saturate their errors are another matter.
    """
    found = []
    for row, steps in zip(rows, worst.most, strict=True):
        size = max(float(steps) * row.lsb, 0.0 if row.saturated else row.total.max)
        found.append(replace(row, worst=size, evaluations=worst.evaluations))
    return tuple(found)


def errors(difference: Floats, lsb: float) -> ErrorSummary:
    """Summarise differences."""
    size = np.abs(difference)
    return ErrorSummary(
        float(size.max()),
        float(np.sqrt((difference**2).mean())),
        float(difference.mean()),
        float((size > lsb).mean()),
    )


def documents(rows: Sequence[ReportRow]) -> list[dict[str, object]]:
    """Return rows under the keys that `boolcomp report --json` promises."""
    return [
        {
            "robot": row.problem,
            "mode": row.mode,
            "bits": row.bits,
            "guard_bits": row.guard_bits,
            "extra_guard_bits": row.extra,
            "joint": row.place,
            "lsb": row.lsb,
            "max_error": row.total.max,
            "rms_error": row.total.rms,
            "mean_error": row.total.mean,
            "max_error_lsb": row.total.max / row.lsb,
            "rms_error_lsb": row.total.rms / row.lsb,
            "sampled_max": row.total.max,
            "sampled_max_lsb": row.total.max / row.lsb,
            "worst_found": row.worst,
            "worst_found_lsb": None if row.worst is None else row.worst / row.lsb,
            "evaluations": row.evaluations,
            "share_beyond_lsb": row.total.beyond_lsb,
            "own_max_error": row.own.max,
            "own_rms_error": row.own.rms,
            "bound": row.bound if math.isfinite(row.bound) else None,
            "bound_lsb": row.bound / row.lsb if math.isfinite(row.bound) else None,
            "bound_over_found": row.over_found,
            "saturated": row.saturated,
            "table_bits": row.table_bits,
            "products": row.products,
            "literals": row.literals,
            "luts": row.luts,
            "program_luts": row.program_luts,
            "depth": row.depth,
            "seconds": row.seconds,
            "native_seconds": row.native_seconds,
            "ns_per_sample": row.ns_per_sample,
            "note": row.note,
            "unit": row.output.unit,
            "bound_note": row.bound_note or None,
        }
        for row in rows
    ]
