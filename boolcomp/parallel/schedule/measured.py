"""The machine that we run on, as a machine file would have it: measured in half a second.

An operation's time is that of a chain in which each waits for the one before, in plain doubles:
what one torque vector on one processor takes. Batches run many samples side by side and are
faster by far on every processor alike. A function is the C library's sine.
"""

from __future__ import annotations

import ctypes
import os
import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.parallel.schedule.exchange import exchange_seconds, lock_seconds
from boolcomp.parallel.schedule.machine import Costs, Machine, Shared

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = 64  # operations a loop
_LOOPS = 20_000
_REPEATS = 5
_WORDS = 4096
_BODIES = {
    "multiplication": "fmul double {x}, 0x3FF0000000000001",
    "addition": "fadd double {x}, 0x3CB0000000000000",
    "division": "fdiv double {x}, 0x3FF0000000000001",
    "root": "call double @llvm.sqrt.f64(double {x})",
    "function": "call double @sin(double {x})",
}


def measured_machine() -> Machine:
    """Measure what operations, exchanged words and locks cost here."""
    from boolcomp.engines.llvm import NativeCode, host  # noqa: PLC0415 (LLVM is heavy)

    code = NativeCode(_text(), host())
    found = {}
    for name in _BODIES:
        function = code.function(name, ctypes.c_int64, ctypes.c_void_p)
        loops = _LOOPS if name != "function" else _LOOPS // 20
        found[name] = _best(function, loops) / (loops * _LENGTH) * 1e6
    latency, word = _exchange()
    lock = lock_seconds() * 1e6
    return Machine(
        name="this-machine",
        title="this machine as measured",
        source="measured now",
        processors=os.cpu_count() or 1,
        costs=Costs(
            found["multiplication"],
            found["addition"],
            found["division"],
            found["root"],
            found["function"],
        ),
        memory=Shared(latency, word, lock, lock, poll=False),
    )


def _text() -> str:
    parts = ["declare double @llvm.sqrt.f64(double)", "declare double @sin(double)"]
    for name, body in _BODIES.items():
        lines = [f"  %v{k + 1} = " + body.format(x=f"%v{k}") for k in range(_LENGTH)]
        parts.append(
            f"define void @{name}(i64 %loops, ptr %cell) {{\nentry:\n"
            "  %start = load double, ptr %cell\n  br label %loop\nloop:\n"
            "  %i = phi i64 [ 0, %entry ], [ %n, %loop ]\n"
            f"  %v0 = phi double [ %start, %entry ], [ %v{_LENGTH}, %loop ]\n"
            + "\n".join(lines)
            + "\n  %n = add i64 %i, 1\n  %more = icmp ult i64 %n, %loops\n"
            f"  br i1 %more, label %loop, label %end\nend:\n  store double %v{_LENGTH}, ptr %cell\n"
            "  ret void\n}"
        )
    return "\n".join(parts) + "\n"


def _best(function: Callable[..., None], loops: int) -> float:
    """Return the least seconds of a few calls."""
    cell = np.array([1.25])
    best = float("inf")
    for _ in range(_REPEATS):
        started = time.perf_counter()
        function(loops, cell.ctypes.data)
        best = min(best, time.perf_counter() - started)
    return best


def _exchange() -> tuple[float, float]:
    """Return the µs until a written word is seen by another processor, and those of each more."""
    few, many = exchange_seconds(1), exchange_seconds(_WORDS)
    word = max(many - few, 0.0) / (_WORDS - 1)
    return few * 1e6, word * 1e6
