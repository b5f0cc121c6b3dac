"""What the harness times: a rival set up on a batch."""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.measure.bench.build import Unit, compiled_library, compiler, function, source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.bench.states import BenchStates, Kind

ARGUMENTS = 12  # of loop.c's calls


class BenchTask(Protocol):
    """A rival and a batch; it can be run again and again."""

    def seconds(self, times: int) -> float:
        """Run so many batches and return the seconds they took."""

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs of the last batch."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A rival in one type of samples, or the reason why it is not there.

    `bound` is its own error, in the last bits of the final word, against exact outputs of the
    states as its type holds them, or against what is `expected`; where a measured one is larger,
    its results are wrong.
    """

    rival: str
    kind: Kind
    make: Callable[[BenchStates, int, int], BenchTask] | None
    bound: float = 0.0
    skipped: str = ""
    threads: bool = True
    logic: bool = False
    expected: Callable[[BenchStates, int], NDArray[Any]] | None = None


@cache
def loops() -> tuple[Any, Any]:
    """Return the C functions `repeat` and `chain`."""
    by = compiler("gcc") or compiler("clang")
    if by is None:
        raise DataError("no C compiler: gcc or clang is needed to build the rivals")
    library = compiled_library(by, Unit(source("loop.c"), flags=("-O2",)))
    whole, address = ctypes.c_int64, ctypes.c_void_p
    repeat = function(library, "repeat", ctypes.c_double, address, address, whole)
    return repeat, function(library, "chain", ctypes.c_double, whole)


def address_of(call: Any) -> int:
    """Return where a ctypes function begins."""
    return int(ctypes.cast(call, ctypes.c_void_p).value or 0)


class NativeTask:
    """A native function that is called from C; `kept` must live as long as it."""

    def __init__(
        self,
        address: int,
        arguments: Sequence[int],
        outputs: list[NDArray[Any]],
        kept: Any = None,
        decode: Callable[[Sequence[NDArray[Any]]], list[NDArray[Any]]] | None = None,
    ) -> None:
        full = [*arguments, *[0] * (ARGUMENTS - len(arguments))]
        self._arguments = (ctypes.c_int64 * ARGUMENTS)(
            *(x - (1 << 64) if x >> 63 == 1 else x for x in full)
        )
        self._address = address
        self._outputs = outputs
        self._kept = kept
        self._decode = decode
        self._repeat = loops()[0]

    def seconds(self, times: int) -> float:
        """Run so many batches in one call."""
        return float(self._repeat(self._address, self._arguments, times))

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs."""
        return self._outputs if self._decode is None else self._decode(self._outputs)


class PythonTask:
    """A Python function that is called once a batch."""

    def __init__(self, call: Callable[[], Any], outputs: Callable[[], list[NDArray[Any]]]) -> None:
        self._call = call
        self._outputs = outputs

    def seconds(self, times: int) -> float:
        """Call it so many times."""
        start = time.perf_counter()
        for _ in range(times):
            self._call()
        return time.perf_counter() - start

    def results(self) -> list[NDArray[Any]]:
        """Return the columns of outputs."""
        return self._outputs()


def column_task(
    address: int,
    kind: Kind,
    states: BenchStates,
    batch: int,
    count: int,
    tables: Sequence[Any] = (),
) -> NativeTask:
    """Return a task of a rival with the entry of rival.h, on `count` samples of a batch."""
    inputs = states.batch(kind, batch)
    outputs = [np.zeros(count + 64, inputs[0].dtype) for _ in states.problem.outputs]
    outputs = [_at_line(x) for x in outputs]
    ins = (ctypes.c_void_p * len(inputs))(*[x.ctypes.data for x in inputs])
    outs = (ctypes.c_void_p * len(outputs))(*[x.ctypes.data for x in outputs])
    extra = (ctypes.c_void_p * max(1, len(tables)))(*[x.ctypes.data for x in tables])
    arguments = [ctypes.addressof(ins), ctypes.addressof(outs), count, ctypes.addressof(extra)]
    return NativeTask(address, arguments, outputs, (inputs, ins, outs, extra, tables))


def _at_line(like: NDArray[Any]) -> NDArray[Any]:
    room = np.zeros(like.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    return room[start : start + like.nbytes].view(like.dtype)
