"""How long words take between processors of this machine: ping-pong in shared memory, and locks."""

from __future__ import annotations

import ctypes
import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TURNS = 100
_SECONDS = 0.25  # for each measurement: the least counts
_LOCKS = 20_000
_LINE = 64  # bytes that two processors pass on together
_TEXT = """declare i32 @sched_yield()
define void @turns(ptr %mine, ptr %theirs, ptr %from, ptr %to, i64 %words, i64 %turns, i64 %bias) {
entry:
  br label %loop
loop:
  %turn = phi i64 [ 1, %entry ], [ %next, %copied ]
  br label %wait
wait:
  %looks = phi i64 [ 0, %loop ], [ %more, %again ], [ 0, %offer ]
  %now = load atomic i64, ptr %theirs acquire, align 8
  %there = icmp sge i64 %now, %turn
  br i1 %there, label %copy, label %again
again:
  %more = add i64 %looks, 1
  %many = icmp ugt i64 %more, 5000
  br i1 %many, label %offer, label %wait
offer:
  %0 = call i32 @sched_yield()
  br label %wait
copy:
  %k = phi i64 [ 0, %wait ], [ %k1, %copy ]
  %source = getelementptr i64, ptr %from, i64 %k
  %target = getelementptr i64, ptr %to, i64 %k
  %value = load i64, ptr %source
  %plus = add i64 %value, 1
  store i64 %plus, ptr %target
  %k1 = add i64 %k, 1
  %on = icmp ult i64 %k1, %words
  br i1 %on, label %copy, label %copied
copied:
  %told = add i64 %turn, %bias
  store atomic i64 %told, ptr %mine release, align 8
  %next = add i64 %turn, 1
  %last = icmp ugt i64 %next, %turns
  br i1 %last, label %end, label %loop
end:
  ret void
}
define void @locks(ptr %cell, i64 %turns) {
entry:
  br label %loop
loop:
  %turn = phi i64 [ 0, %entry ], [ %next, %loop ]
  %old = atomicrmw add ptr %cell, i64 1 seq_cst
  %next = add i64 %turn, 1
  %more = icmp ult i64 %next, %turns
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


def exchange_seconds(words: int) -> float:
    """Return the seconds of one way of so many words, between two threads of one process.

    Threads stand for processes: their native code runs at the same time on different processors,
    and the memory between them behaves alike.
    """
    function = _code().function("turns", *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3)
    flags = np.zeros((2, _LINE), dtype=np.int64)
    data = np.zeros((2, words + _LINE), dtype=np.int64)
    best = float("inf")
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        flags[:] = 0
        flags[0, 0] = 1  # the second may begin at once: the first is a turn ahead of it
        second = threading.Thread(target=function, args=_places(flags, data, 1, words))
        started = time.perf_counter()
        second.start()
        function(*_places(flags, data, 0, words))
        second.join()
        best = min(best, time.perf_counter() - started)
    return best / (2 * _TURNS)


def _places(
    flags: NDArray[np.int64], data: NDArray[np.int64], which: int, words: int
) -> tuple[int, ...]:
    other = 1 - which
    return (
        flags[which].ctypes.data,
        flags[other].ctypes.data,
        data[other].ctypes.data,
        data[which].ctypes.data,
        words,
        _TURNS,
        other,
    )


@cache
def _code() -> Any:
    from boolcomp.engines.llvm import NativeCode, host  # noqa: PLC0415 (LLVM is heavy)

    return NativeCode(_TEXT, host())


def lock_seconds() -> float:
    """Return the seconds of one atomic addition."""
    function = _code().function("locks", ctypes.c_void_p, ctypes.c_int64)
    cell = np.zeros(1, dtype=np.int64)
    best = float("inf")
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        started = time.perf_counter()
        function(cell.ctypes.data, _LOCKS)
        best = min(best, time.perf_counter() - started)
    return best / _LOCKS
