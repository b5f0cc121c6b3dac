"""Segments as LLVM text, and the worker processes that run them.

Every segment becomes `void segment_i(frame, in, in_stride, out, out_stride)`, with a loop over a
block of samples in vectors. `frame` holds the exchanged values of a block, a row of `block` doubles
each. `in` and `out` point at the block's first sample of the first column; columns are `stride`
doubles apart.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from boolcomp.base.processes import wait_until
from boolcomp.problem.algebra import OPERATIONS
from boolcomp.problem.printers import LlvmVectors

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from boolcomp.parallel.simulation import Segment, StagedProgram
    from boolcomp.problem.tape import Straight


COUNTER_WORDS = 8
_LOOKS, _VECTOR_YIELDS = 2000, 20_000


def module_text(setup: StageSetup, width: int) -> str:
    """Return the module of one processor, with vectors of `width` samples.

    Segments are numbered in the order of its list; `drive(blocks, frames, in, out, progress)` runs
    them on all blocks.
    """
    parts = [LlvmVectors(width).declarations]
    for number, segment in enumerate(setup.staged.of(setup.processor)):
        parts.append(_Writer(setup, segment, width).function(f"segment_{number}"))
    parts.append(_driver(setup))
    attributes = f'attributes #0 = {{ nounwind "min-legal-vector-width"="{64 * width}" }}'
    return "\n".join([*parts, attributes]) + "\n"


def _driver(setup: StageSetup) -> str:
    """Return the loop that runs the latest ready segment until all are done.

    `n` numbers segments; `%done` is a counter on the stack for each. `looks` counts attempts
    without a ready segment: the loop spins at first, then yields the processor, then sleeps.
    """
    segments = setup.staged.of(setup.processor)
    lines = ["  br label %try"]
    first = f"%ask{len(segments) - 1}" if segments else "%idle"
    lines += ["try:", f"  br label {first}"]
    for n in reversed(range(len(segments))):
        lines += _attempt(setup, n)
    lines.append("idle:")
    for n in range(len(segments)):
        lines += [
            f"  %left{n} = load i64, ptr %done0.{n}",
            f"  %over{n} = icmp uge i64 %left{n}, %blocks",
            f"  br i1 %over{n}, label %over.{n + 1}, label %wait",
            f"over.{n + 1}:",
        ]
    lines += [
        "  br label %end",
        "wait:",
        "  %looks = load i64, ptr %patience",
        "  %more = add i64 %looks, 1",
        "  store i64 %more, ptr %patience",
        f"  %soon = icmp ult i64 %more, {_LOOKS}",
        "  br i1 %soon, label %try, label %patient",
        "patient:",
        f"  %young = icmp ult i64 %more, {_VECTOR_YIELDS}",
        "  br i1 %young, label %offer, label %sleep",
        "offer:",
        "  call i32 @sched_yield()",
        "  br label %try",
        "sleep:",
        "  call i32 @usleep(i32 50)",
        "  br label %try",
        "end:",
        "  ret void",
    ]  # fmt: skip
    counters = [
        f"  %done0.{n} = alloca i64\n  store i64 0, ptr %done0.{n}" for n in range(len(segments))
    ]
    head = [
        "declare i32 @sched_yield()",
        "declare i32 @usleep(i32)",
        "define void @drive(i64 %blocks, ptr %frames, ptr %in, ptr %out, ptr %progress) {",
        "entry:",
        f"  %stride = mul i64 %blocks, {setup.block}",
        "  %patience = alloca i64",
        "  store i64 0, ptr %patience",
        *counters,
    ]
    return "\n".join([*head, *lines, "}"])


def _attempt(setup: StageSetup, n: int) -> list[str]:
    """Return the code that runs segment n on its next block if it is ready."""
    staged, block, ring = setup.staged, setup.block, setup.ring
    segment = staged.of(setup.processor)[n]
    other = f"%ask{n - 1}" if n else "%idle"
    needed = [(place, f"%after{n}") for place in segment.suppliers]
    # All other segments must have finished with the frame that is reused.
    others = [(x.processor, x.stage) for x in staged.segments if x is not segment]
    needed += [(place, f"%old{n}") for place in others]
    lines = [
        f"ask{n}:",
        f"  %block{n} = load i64, ptr %done0.{n}",
        f"  %after{n} = add i64 %block{n}, 1",
        f"  %old{n} = sub i64 %after{n}, {ring}",
        f"  %due{n} = icmp ult i64 %block{n}, %blocks",
        f"  br i1 %due{n}, label %need{n}.0, label {other}",
    ]
    for k, (place, count) in enumerate(needed):
        lines += [
            f"need{n}.{k}:",
            f"  %p{n}.{k} = getelementptr i64, ptr %progress, i64 {_counter(staged, *place)}",
            f"  %now{n}.{k} = load atomic i64, ptr %p{n}.{k} acquire, align 8",
            f"  %there{n}.{k} = icmp sge i64 %now{n}.{k}, {count}",
            f"  br i1 %there{n}.{k}, label %need{n}.{k + 1}, label {other}",
        ]
    frame = 8 * block * len(staged.slots)
    mine = _counter(staged, setup.processor, segment.stage)
    call = f"ptr %frame{n}, ptr %in{n}, i64 %stride, ptr %out{n}, i64 %stride"
    return [
        *lines,
        f"need{n}.{len(needed)}:",
        f"  %turn{n} = urem i64 %block{n}, {ring}",
        f"  %skip{n} = mul i64 %turn{n}, {frame}",
        f"  %frame{n} = getelementptr i8, ptr %frames, i64 %skip{n}",
        f"  %row{n} = mul i64 %block{n}, {8 * block}",
        f"  %in{n} = getelementptr i8, ptr %in, i64 %row{n}",
        f"  %out{n} = getelementptr i8, ptr %out, i64 %row{n}",
        f"  call void @segment_{n}({call})",
        f"  store i64 %after{n}, ptr %done0.{n}",
        "  store i64 0, ptr %patience",
        f"  %mine{n} = getelementptr i64, ptr %progress, i64 {mine}",
        f"  store atomic i64 %after{n}, ptr %mine{n} release, align 8",
        "  br label %try",
    ]


def _counter(staged: StagedProgram, processor: int, stage: int) -> int:
    return (processor * staged.stages + stage) * COUNTER_WORDS


class _Writer(LlvmVectors):
    """Writer of one function."""

    def __init__(self, setup: StageSetup, segment: Segment, width: int) -> None:
        super().__init__(width)
        self.straight, self.block = setup.straight, setup.block
        self.slot = dict(setup.staged.slots)
        self.segment = segment
        self.names: dict[int, str] = {}

    def function(self, name: str) -> str:
        for read in self.segment.reads:
            self.names[read[0]] = self._load("%frame", str(self.slot[read] * self.block))
        written = set(self.segment.writes)
        for k in self.segment.nodes:
            node = self.straight.nodes[k]
            operands = [self._operand(one) for one in node.operands]
            self.names[k] = self.operation(node.kind, operands)
            if k in written:
                place = self.slot[k, self.segment.processor] * self.block
                self._store(self.names[k], "%frame", str(place))
        for i in self.segment.outputs:
            value = self._operand(self.straight.outputs[i].node)
            self._store(value, "%out", self.emit(f"mul i64 %out_stride, {i}"))
        body = "\n".join(self.lines)
        return (
            f"define void @{name}(ptr %frame, ptr %in, i64 %in_stride, ptr %out, i64 %out_stride) "
            f"#0 {{\nentry:\n  fence seq_cst\n  br label %loop\nloop:\n"
            f"  %i = phi i64 [ 0, %entry ], [ %next, %loop ]\n{body}\n"
            f"  %next = add i64 %i, {self.width}\n  %more = icmp ult i64 %next, {self.block}\n"
            f"  br i1 %more, label %loop, label %end\nend:\n  fence seq_cst\n  ret void\n}}\n"
        )

    def _address(self, base: str, offset: str) -> str:
        place = self.emit(f"add i64 %i, {offset}")
        return self.emit(f"getelementptr double, ptr {base}, i64 {place}")

    def _load(self, base: str, offset: str) -> str:
        return self.emit(f"load {self.vector}, ptr {self._address(base, offset)}, align 8")

    def _store(self, value: str, base: str, offset: str) -> None:
        address = self._address(base, offset)
        self.lines.append(f"  store {self.vector} {value}, ptr {address}, align 8")

    def _operand(self, k: int) -> str:
        if k not in self.names:
            node = self.straight.nodes[k]
            if node.kind == "constant":
                self.names[k] = self.constant(node.value)
            else:  # an input: everything else comes before its users
                column = self.straight.inputs.index(node.name)
                self.names[k] = self._load("%in", self.emit(f"mul i64 %in_stride, {column}"))
        return self.names[k]


# --------------------------------------------------------------------------------------------------
# A worker process of a parallel run.
#
# A worker runs its latest ready segment: blocks are finished before new ones begin, and a processor
# waits only if no segment is ready. A block's frame is reused `ring` blocks later.
# --------------------------------------------------------------------------------------------------

_RING = 64
_CACHE = 1 << 22  # bytes


@dataclass(frozen=True, slots=True)
class StageSetup:
    """The setup of a worker, sent once."""

    straight: Straight
    staged: StagedProgram
    processor: int
    block: int
    ring: int
    engine: str


class StageBatch(NamedTuple):
    """A batch of samples in shared memory.

    Inputs and outputs are (columns, samples), frames (ring, slots, block) values; `progress[p, s]`
    begins with the number of blocks that processor p has done in stage s.
    """

    inputs: NDArray[np.float64]
    outputs: NDArray[np.float64]
    frames: NDArray[np.float64]
    progress: NDArray[np.int64]


def ring_length(stages: int, frame: int) -> int:
    """Return the number of blocks in progress: at least one per stage, and as many as fit a cache.

    With a longer ring processors work longer while another one is delayed.
    """
    return max(stages + 2, min(_RING, _CACHE // max(frame, 1)))


_prepared: list[Callable[[StageBatch], None]] = []  # what this worker runs


def prepare(setup: StageSetup) -> None:
    """Compile the segments of this worker's processor."""
    run = _native(setup) if setup.engine == "llvm" else partial(_interpret, setup)
    _prepared[:] = [run]


def run_batch(batch: StageBatch) -> tuple[float, float]:
    """Run all segments of a batch; return the time and the processor time."""
    started = time.perf_counter(), time.thread_time()
    _prepared[0](batch)
    return time.perf_counter() - started[0], time.thread_time() - started[1]


def _native(setup: StageSetup) -> Callable[[StageBatch], None]:
    """Return a function that runs the compiled driver, which releases Python's lock."""
    from boolcomp.engines.llvm import NativeCode, host  # noqa: PLC0415 (LLVM is heavy)

    code = NativeCode(module_text(setup, 8 if host().has_ternary else 4), host())
    drive = code.function("drive", ctypes.c_int64, *[ctypes.c_void_p] * 4)

    def run(batch: StageBatch) -> None:
        assert code  # noqa: S101  # alive as long as its function
        places = (batch.frames, batch.inputs, batch.outputs, batch.progress)
        drive(batch.inputs.shape[1] // setup.block, *(array.ctypes.data for array in places))

    return run


def _interpret(setup: StageSetup, batch: StageBatch) -> None:
    """Run batches with numpy, without LLVM."""
    progress, blocks = batch.progress[:, :, 0], batch.inputs.shape[1] // setup.block
    kernels = _Interpreted(setup, batch)
    done = [0] * len(kernels.segments)

    def advanced() -> bool:
        """Run the latest ready segment, if there is one; tell whether anything goes on."""
        for number in reversed(range(len(done))):
            if done[number] < blocks and _ready(setup, progress, number, done[number]):
                kernels.run(number, done[number])
                done[number] += 1
                progress[setup.processor, kernels.segments[number].stage] = done[number]
                return True
        return False

    while done and min(done) < blocks:
        wait_until(advanced)


def _ready(setup: StageSetup, progress: NDArray[np.int64], number: int, block: int) -> bool:
    """Tell whether the operands of a segment's block are complete and its frame is free."""
    segment = setup.staged.of(setup.processor)[number]
    return all(progress[place] > block for place in segment.suppliers) and all(
        progress[x.processor, x.stage] > block - setup.ring
        for x in setup.staged.segments
        if x is not segment
    )


class _Interpreted:
    """Kernels in numpy, node by node."""

    def __init__(self, setup: StageSetup, batch: StageBatch) -> None:
        self.setup = setup
        self.inputs, self.outputs, self.frames = batch.inputs, batch.outputs, batch.frames
        self.slot = dict(setup.staged.slots)
        self.segments = setup.staged.of(setup.processor)
        self.ends = [self._ends(segment) for segment in self.segments]

    def _ends(self, segment: Segment) -> dict[int, list[int]]:
        """Return the values to drop after each node, so that they leave the caches."""
        straight = self.setup.straight
        kept = {*segment.writes, *(straight.outputs[i].node for i in segment.outputs)}
        last = {j: k for k in segment.nodes for j in straight.nodes[k].operands}
        ends: dict[int, list[int]] = {}
        for j, k in last.items():
            if j not in kept:
                ends.setdefault(k, []).append(j)
        return ends

    def run(self, number: int, block: int) -> None:
        segment, ends = self.segments[number], self.ends[number]
        span = slice(block * self.setup.block, (block + 1) * self.setup.block)
        frame = self.frames[block % self.setup.ring]
        values: dict[int, Any] = {x[0]: frame[self.slot[x]] for x in segment.reads}
        nodes = self.setup.straight.nodes

        def value(k: int) -> Any:
            if k not in values:
                node = nodes[k]
                constant = node.kind == "constant"
                values[k] = node.value if constant else self.inputs[k, span]  # inputs come first
            return values[k]

        for k in segment.nodes:
            values[k] = OPERATIONS[nodes[k].kind](*(value(j) for j in nodes[k].operands))
            for j in ends.get(k, ()):
                del values[j]
        for k in segment.writes:
            frame[self.slot[k, segment.processor]] = values[k]
        for i in segment.outputs:
            self.outputs[i, span] = value(self.setup.straight.outputs[i].node)
