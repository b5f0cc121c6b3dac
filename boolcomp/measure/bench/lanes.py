"""The program's word graph as an offer: lanes of words, called from C like every rival."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.engines import engine_name, make_engine
from boolcomp.measure.bench.states import aligned
from boolcomp.measure.bench.tasks import NativeTask, address_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.measure.bench.logic import LogicSubject, Make
    from boolcomp.measure.bench.states import BenchStates, Kind
    from boolcomp.measure.bench.tasks import BenchTask

GROUP = 64


def engine_of(subject: LogicSubject) -> Any:
    """Return the words engine of a program; a `UsageError` where there is none."""
    if engine_name("auto") != "llvm":
        raise UsageError("there is no native engine here")
    return make_engine(subject.wiring, "words")


def lane_codes(subject: LogicSubject) -> Make:
    """Return what makes a task of columns of codes."""

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = engine_of(subject)
        groups = -(-count // GROUP)
        given, made = subject.columns(states, groups * GROUP), subject.room(groups * GROUP)
        ends = [(ctypes.c_void_p * len(x))(*(y.ctypes.data for y in x)) for x in (given, made)]
        counts = np.zeros(3, np.int64)
        run = engine.columns
        arguments = [*(ctypes.addressof(x) for x in ends), groups, -1, counts.ctypes.data]
        kept = (engine, given, made, ends, counts)
        columns = [x[:count] for x in made]
        return NativeTask(address_of(run), arguments, columns, kept, subject.decoded)

    return make


def lane_reals(subject: LogicSubject, kind: Kind) -> Make:
    """Return what makes a task of rows of floats."""

    def make(states: BenchStates, batch: int, count: int) -> BenchTask:
        del batch
        engine = engine_of(subject)
        groups = -(-count // GROUP)
        rows = [aligned_rows(x, kind) for x in subject.rows(states, groups * GROUP)]
        shape = (groups * GROUP, len(subject.wiring.results))
        values, words = np.zeros(shape, kind), np.zeros(shape, np.uint32)
        counts = np.zeros(3, np.int64)
        run = engine.rows(np.dtype(kind))
        ends = [x.ctypes.data for x in (values, words, counts)]
        arguments = [*(x.ctypes.data for x in rows), groups, *ends]
        kept = (engine, rows, values, words, counts)
        return NativeTask(address_of(run), arguments, list(values[:count].T), kept)

    return make


def aligned_rows(rows: NDArray[Any], kind: Kind) -> NDArray[Any]:
    """Return rows in a type, from a cache line on."""
    flat = aligned(rows.astype(kind).ravel(), rows.size)
    return flat[: rows.size].reshape(rows.shape)
