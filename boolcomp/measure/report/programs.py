"""Measure a program itself against a problem's reference: what any mode compiled, on any engine."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.common.workers import ALONE
from boolcomp.measure.report.measure import ReportRow, errors, with_worst
from boolcomp.proof.worst import find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.common.workers import Workers
    from boolcomp.measure.report.measure import Samples
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]

TIMED = 1 << 16  # samples
ROUNDS = 5


def program_rows(
    program: Program,
    samples: Samples,
    payload: float | None = None,
    compile_seconds: float | None = None,
    evaluations: int = 0,
    seen: Callable[[Floats], None] = lambda _: None,
    *,
    workers: Workers = ALONE,
) -> tuple[ReportRow, ...]:
    """Return a row for every output of a program with a payload (kg).

    The samples are states of the problem with that payload, and their exact outputs. The worst
    error is sought with so many evaluations, if there are any. The errors of all samples, in steps,
    are `seen`.
    """
    problem = samples.problem
    found = program.evaluate(*samples.arrays, payload=payload).torques
    seen((found - samples.outputs) / [out.code.step for out in program.load(payload).outputs])
    coded = problem.reference(*coded_inputs(program, samples))
    nanoseconds, native = timed(program, samples, payload)
    network = program.network(payload)
    rows = []
    for k, output in enumerate(program.load(payload).outputs):
        lsb = output.code.step
        exact, span = samples.outputs[:, k], output.code.range
        beyond = int(((exact < span.low) | (exact > span.high)).sum())
        terms = {term.network for term in output.terms}
        rows.append(
            ReportRow(
                problem=program.name,
                mode=program.mode,
                bits=program.bits,
                guard_bits=output.guard_bits,
                extra=0,
                place=k + 1,
                output=problem.outputs[k],
                lsb=lsb,
                total=errors(found[:, k] - samples.outputs[:, k], lsb),
                own=errors(found[:, k] - coded[:, k], lsb),
                bound=output.useful_bound,
                proved=output.bound,
                bound_note=output.bound_note,
                saturated=beyond,
                table_bits=None,
                luts=sum(len(program.networks[n].nodes) for n in terms) if terms else None,
                program_luts=len(network.nodes),
                depth=network.depth,
                seconds=compile_seconds,
                native_seconds=native,
                ns_per_sample=nanoseconds,
                note=f"{beyond} samples saturate" if beyond else "",
            )
        )
    if not evaluations:
        return tuple(rows)
    subject = subject_of(program, problem, payload)
    return with_worst(rows, find_worst(subject, evaluations, workers=workers))


def coded_inputs(program: Program, samples: Samples) -> tuple[Floats, ...]:
    """Return the states put on the centres of the program's input words."""
    arrays = tuple(array.copy() for array in samples.arrays)
    columns = samples.problem.columns(arrays)
    for word in program.inputs:
        column = columns[word.name]
        column[:] = word.code.centre(word.code.cell(column)[0])
    return arrays


def timed(program: Program, samples: Samples, payload: float | None = None) -> tuple[float, float]:
    """Return ns per sample on one core, floats in and out, and the seconds of the first call.

    The first call makes native code, or reads it from the user's cache. Its words are checked
    against those of the portable engine.
    """
    state = tuple(array[:TIMED] for array in samples.arrays)
    few = tuple(array[:512] for array in state)
    start = time.perf_counter()
    first = program.evaluate(*few, payload=payload).words
    native = time.perf_counter() - start
    if not np.array_equal(first, program.evaluate(*few, payload=payload, engine="numpy").words):
        raise DataError(f"{program.name}: the engines do not agree on a program")
    seconds = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        program.evaluate(*state, payload=payload)
        seconds = min(seconds, time.perf_counter() - start)
    return seconds / len(state[0]) * 1e9, native
