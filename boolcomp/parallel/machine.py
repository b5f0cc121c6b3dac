"""Machines: costs of operations, messages and locks, topologies, files, and a measured machine."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from boolcomp.base.errors import UsageError, require_name, short, shown
from boolcomp.base.files import read_text
from boolcomp.base.toml import TomlTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.problem.algebra import Operations


Topology = Literal["full", "ring", "line", "star"]
TOPOLOGIES: tuple[Topology, ...] = ("full", "ring", "line", "star")


@dataclass(frozen=True, slots=True)
class OperationTimes:
    """Times of operations in µs; `dispatch` is spent before every task."""

    multiplication: float
    addition: float
    division: float
    root: float
    function: float
    dispatch: float = 0.0

    def time(self, operations: Operations) -> float:
        return (
            operations.multiplications * self.multiplication
            + operations.additions * self.addition
            + operations.divisions * self.division
            + operations.roots * self.root
            + operations.functions * self.function
        )


@dataclass(frozen=True, slots=True)
class Links:
    """Messages between processors without common memory.

    A message of w words takes latency + w·word µs to a neighbour, over a channel that carries one
    message at a time. A processor sends and receives over at most `count` links at once. Without
    `overlap` the sender does not calculate while it sends.
    """

    topology: Topology
    count: int
    latency: float
    word: float
    overlap: bool

    def message(self, words: int) -> float:
        return self.latency + words * self.word

    def neighbours(self, source: int, target: int, processors: int) -> bool:
        """Tell whether two different processors have a link."""
        if self.topology == "star":
            return 0 in (source, target)
        distance = abs(source - target)
        around = self.topology == "ring" and distance == processors - 1
        return self.topology == "full" or distance == 1 or around

    def path(self, source: int, target: int, processors: int) -> tuple[int, ...]:
        """Return the processors that a message passes, its ends included."""
        if source == target:
            return (source,)
        if self.neighbours(source, target, processors):
            return (source, target)
        if self.topology == "star":
            return (source, 0, target)
        step = 1 if target > source else -1
        if self.topology == "ring" and 2 * abs(target - source) > processors:
            step = -step
        stops = [source]
        while stops[-1] != target:
            stops.append((stops[-1] + step) % processors)
        return tuple(stops)

    def hops(self, source: int, target: int, processors: int) -> int:
        """Return the number of channels that a message passes."""
        distance = abs(source - target)
        match self.topology:
            case "line":
                return distance
            case "ring":
                return min(distance, processors - distance)
        if not distance:
            return 0
        return 1 if self.neighbours(source, target, processors) else 2


@dataclass(frozen=True, slots=True)
class SharedMemory:
    """Memory shared by all processors.

    Words for other processors are written once, `word` µs per word, and visible `latency` µs later.
    For every successor on another processor a counter is lowered under its lock (`lock` µs). One
    processor at a time holds the queue of a dynamic schedule, for `queue` µs, to put or take a
    task. With `poll`, idle processors access it repeatedly, and every access waits for each of
    them. With `own`, the counters of successors on the same processor have locks too.
    """

    latency: float
    word: float
    lock: float
    queue: float
    poll: bool
    own: bool = False


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine with links or with shared memory and a maximum number of processors."""

    name: str
    title: str
    source: str
    processors: int
    costs: OperationTimes
    memory: Links | SharedMemory

    def time(self, operations: Operations) -> float:
        return self.costs.time(operations)

    def delay(self, words: int, source: int, target: int, processors: int) -> float:
        """Return the µs from the end of a task to its words' arrival, without contention."""
        if source == target:
            return 0.0
        if isinstance(self.memory, SharedMemory):
            return self.memory.lock + words * self.memory.word + self.memory.latency
        return self.memory.hops(source, target, processors) * self.memory.message(words)

    def check_processors(self, processors: int) -> None:
        """Raise a `UsageError` unless the machine can have this number of processors."""
        if not 1 <= processors <= self.processors:
            raise UsageError(
                f"machine {self.name} has 1 to {self.processors} processors, not {processors}"
            )

    def __str__(self) -> str:
        costs = self.costs
        head = (
            f"machine {self.name}: up to {self.processors} processors; µs: "
            f"mul {short(costs.multiplication)}, add {short(costs.addition)}, "
            f"div {short(costs.division)}, root {short(costs.root)}, fun {short(costs.function)}"
        )
        if costs.dispatch:
            head += f", {short(costs.dispatch)} a task"
        memory = self.memory
        if isinstance(memory, SharedMemory):
            poll = ", idle processors poll" if memory.poll else ""
            return (
                f"{head}; shared memory: {short(memory.word)} a word, {short(memory.latency)} "
                f"until it is visible, lock {short(memory.lock)}, queue {short(memory.queue)}{poll}"
            )
        overlap = "parallel to" if memory.overlap else "without"
        return (
            f"{head}; {memory.count} links ({memory.topology}), {short(memory.latency)} a message "
            f"+ {short(memory.word)} a word, {overlap} calculation"
        )


# Every operation takes 1 µs, messages take no time: for counts.
UNIT = Machine(
    "unit", "", "", 99, OperationTimes(1, 1, 1, 1, 1), SharedMemory(0, 0, 0, 0, poll=False)
)


# --------------------------------------------------------------------------------------------------
# Machine files.
# --------------------------------------------------------------------------------------------------

FOLDER = Path(__file__).parent / "machines"
MEASURED = "this-machine"
MOST_BYTES = 1 << 18
MOST_PROCESSORS = 1 << 16
MOST_COST = 1e12  # µs: a fortnight for one operation
_TOP = ("name", "title", "source", "processors", "operations", "links", "shared")
_OPERATIONS = ("multiplication", "addition", "division", "root", "function", "dispatch")
_LINKS = ("topology", "count", "latency", "word", "overlap")
_SHARED = ("latency", "word", "lock", "queue", "poll", "own")


def machine_names() -> tuple[str, ...]:
    return (*sorted(path.stem for path in FOLDER.glob("*.toml")), MEASURED)


def load_machine(name: str) -> Machine:
    """Return an included machine, this machine as measured now, or the machine of a TOML file."""
    if name == MEASURED:
        return measured_machine()
    path = Path(name)
    if path.suffix != ".toml":
        require_name("machine", name, machine_names(), "or the path of a .toml file")
        path = FOLDER / f"{name}.toml"
    return parse_machine(read_text(path, MOST_BYTES), str(path))


def parse_machine(text: str, where: str = "machine") -> Machine:
    """Parse the text of a machine file; messages begin with `where`."""
    top = TomlTable.read(text, where)
    top.check_keys(_TOP)
    if ("links" in top.table) == ("shared" in top.table):
        top.fail("links", "a machine has either a [links] or a [shared] section")
    costs = top.section("operations", _OPERATIONS)
    return Machine(
        name=top.string("name", required=True),
        title=top.string("title"),
        source=top.string("source"),
        processors=top.whole("processors", MOST_PROCESSORS),
        costs=OperationTimes(
            *(_cost(costs, x, 0.0 if x == "dispatch" else None) for x in _OPERATIONS)
        ),
        memory=_links(top) if "links" in top.table else _shared(top),
    )


def _links(top: TomlTable) -> Links:
    section = top.section("links", _LINKS)
    topology = cast("Topology", section.choice("topology", TOPOLOGIES))
    count, overlap = section.whole("count", MOST_PROCESSORS), section.truth("overlap")
    return Links(topology, count, _cost(section, "latency"), _cost(section, "word"), overlap)


def _shared(top: TomlTable) -> SharedMemory:
    section = top.section("shared", _SHARED)
    latency, word, lock, queue = (_cost(section, name) for name in _SHARED[:4])
    poll, own = section.truth("poll"), section.truth("own", default=False)
    return SharedMemory(latency, word, lock, queue, poll, own)


def _cost(section: TomlTable, key: str, default: float | None = None) -> float:
    value = section.value(key, default)
    if isinstance(value, bool) or not isinstance(value, int | float):
        section.fail(key, f"must be a number of µs, not {shown(value)}")
    if not 0 <= value <= MOST_COST:
        section.fail(key, f"must be a cost of 0 to {MOST_COST:g} µs, not {shown(value)}")
    return float(value)


# --------------------------------------------------------------------------------------------------
# Times of words between processors of this machine (ping-pong in shared memory), and of locks.
# --------------------------------------------------------------------------------------------------

_TURNS = 100
_SECONDS = 0.25  # for each measurement, of which the minimum counts
_LOCKS = 20_000
_LINE = 64  # bytes of a cache line
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
  %count = add i64 %turn, %bias
  store atomic i64 %count, ptr %mine release, align 8
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
    """Return the seconds of a one-way transfer of words between two threads of one process.

    Threads represent processes: their native code runs in parallel on different processors, with
    the same memory between them.
    """
    function = _code().function("turns", *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3)
    flags = np.zeros((2, _LINE), dtype=np.int64)
    data = np.zeros((2, words + _LINE), dtype=np.int64)
    best = float("inf")
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end:
        flags[:] = 0
        flags[0, 0] = 1  # the second begins at once: the first is one turn ahead
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
    arrays = (flags[which], flags[other], data[other], data[which])
    return (*(array.ctypes.data for array in arrays), words, _TURNS, other)


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


# --------------------------------------------------------------------------------------------------
# This machine, measured in half a second.
#
# An operation's time is that of a chain of dependent operations on doubles, as in one torque vector
# on one processor. Batches of samples are much faster, on every processor. A function is the C
# library's sine.
# --------------------------------------------------------------------------------------------------

_LENGTH = 64  # operations per loop
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
    """Measure the costs of operations, exchanged words and locks."""
    from boolcomp.engines.llvm import NativeCode, host  # noqa: PLC0415 (LLVM is heavy)

    code = NativeCode(_text(), host())
    found = {}
    for name in _BODIES:
        function = code.function(name, ctypes.c_int64, ctypes.c_void_p)
        loops = _LOOPS if name != "function" else _LOOPS // 20
        found[name] = _best(function, loops) / (loops * _LENGTH) * 1e6
    few, many = exchange_seconds(1), exchange_seconds(_WORDS)
    word = max(many - few, 0.0) / (_WORDS - 1) * 1e6
    lock = lock_seconds() * 1e6
    return Machine(
        name=MEASURED,
        title="this machine as measured",
        source="measured now",
        processors=os.cpu_count() or 1,
        costs=OperationTimes(**found),
        memory=SharedMemory(few * 1e6, word, lock, lock, poll=False),
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
    """Return the minimum of the seconds of a few calls."""
    cell = np.array([1.25])
    best = float("inf")
    for _ in range(_REPEATS):
        started = time.perf_counter()
        function(loops, cell.ctypes.data)
        best = min(best, time.perf_counter() - started)
    return best
