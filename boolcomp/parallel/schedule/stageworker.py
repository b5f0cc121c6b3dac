"""A worker process of a parallel run: it does its segments on block after block.

It always does the latest segment that can be done: so blocks are finished before new ones are
begun, and a processor waits only when nothing of it can be done. `progress[p, s]` counts the
blocks that processor p has done in stage s; a block's frame is used again `ring` blocks later.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.parallel.schedule.vectorcode import COUNTER_WORDS
from boolcomp.scale.shared_memory import View

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.base.processes import Channel
    from boolcomp.parallel.schedule.staging import Segment, Staged
    from boolcomp.problem.expressions.straight import Straight

_YIELDS = 200  # looks for something to do before it sleeps between them
_RING = 64
_CACHE = 1 << 22  # bytes


@dataclass(frozen=True, slots=True)
class StageSetup:
    """What a worker is: sent once."""

    straight: Straight
    staged: Staged
    processor: int
    block: int
    ring: int
    engine: str


@dataclass(frozen=True, slots=True)
class StageBatch:
    """A batch of samples: where in the shared file everything begins (bytes)."""

    blocks: int
    size: int
    inputs: int
    outputs: int
    frames: int
    progress: int


def ring_length(stages: int, frame: int) -> int:
    """Return how many blocks can be on their way: at least one a stage, and a cache full of them.

    The longer the ring, the longer processors go on when one is held up by something else.
    """
    return max(stages + 2, min(_RING, _CACHE // max(frame, 1)))


def main(channel: Channel, file: int) -> None:
    """Do batches until the parent hangs up; `file` is the inherited shared one."""
    view = View(file)
    setup: StageSetup = channel.receive()
    run = _native(setup) if setup.engine == "llvm" else partial(_interpret, setup)
    channel.send(("ready", ""))
    while True:
        batch: StageBatch = channel.receive()
        view.reach(batch.size)
        started = time.perf_counter(), time.thread_time()
        run(batch, view)
        ended = time.perf_counter(), time.thread_time()
        channel.send(("done", (ended[0] - started[0], ended[1] - started[1])))


def _native(setup: StageSetup) -> Callable[[StageBatch, View], None]:
    """Return what runs the compiled driver; it gives up Python's lock meanwhile."""
    from boolcomp.engines.llvm import NativeCode, host  # noqa: PLC0415 (LLVM is heavy)
    from boolcomp.parallel.schedule.vectorcode import module_text  # noqa: PLC0415

    text = module_text(
        setup.straight,
        setup.staged,
        setup.processor,
        block=setup.block,
        width=8 if host().has_ternary else 4,
        ring=setup.ring,
    )
    code = NativeCode(text, host())
    drive = code.function("drive", ctypes.c_int64, *[ctypes.c_void_p] * 4)

    def run(batch: StageBatch, view: View) -> None:
        assert code  # noqa: S101  # alive as long as its function
        places = (batch.frames, batch.inputs, batch.outputs, batch.progress)
        drive(batch.blocks, *(view.address + place for place in places))

    return run


def _interpret(setup: StageSetup, batch: StageBatch, view: View) -> None:
    """Do by numpy what the compiled driver does: slower, and without LLVM."""
    staged = setup.staged
    shape = (staged.processors, staged.stages, COUNTER_WORDS)
    progress = view.array(batch.progress, shape, np.int64)[:, :, 0]
    kernels = _Interpreted(setup, batch, view)
    done = [0] * len(kernels.segments)
    looks = 0
    while done and min(done) < batch.blocks:
        for number in reversed(range(len(done))):
            if done[number] < batch.blocks and _ready(setup, progress, number, done[number]):
                kernels.run(number, done[number])
                done[number] += 1
                progress[setup.processor, kernels.segments[number].stage] = done[number]
                looks = 0
                break
        else:
            looks += 1
            time.sleep(0.0 if looks < _YIELDS else 1e-4)


def _ready(setup: StageSetup, progress: NDArray[np.int64], number: int, block: int) -> bool:
    """Tell whether a segment has what it needs of a block, and the block's frame to itself."""
    segment = setup.staged.of(setup.processor)[number]
    return all(progress[place] > block for place in segment.suppliers) and all(
        progress[x.processor, x.stage] > block - setup.ring
        for x in setup.staged.segments
        if x is not segment
    )


class _Interpreted:
    """Kernels by numpy, node by node: slower, and without LLVM."""

    def __init__(self, setup: StageSetup, batch: StageBatch, view: View) -> None:
        self.setup = setup
        staged = setup.staged
        columns = batch.blocks * setup.block
        straight = setup.straight
        self.inputs = view.array(batch.inputs, (len(straight.inputs), columns), np.float64)
        self.outputs = view.array(batch.outputs, (len(straight.outputs), columns), np.float64)
        shape = (setup.ring, len(staged.slots), setup.block)
        self.frames = view.array(batch.frames, shape, np.float64)
        self.slot = dict(staged.slots)
        self.segments = staged.of(setup.processor)
        self.ends = [self._ends(segment) for segment in self.segments]

    def _ends(self, segment: Segment) -> dict[int, list[int]]:
        """Return after which node which values are done with: what is dropped stays in no cache."""
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
                known = node.kind == "constant"
                values[k] = node.value if known else self.inputs[k, span]  # inputs come first
            return values[k]

        for k in segment.nodes:
            values[k] = OPERATIONS[nodes[k].kind](*(value(j) for j in nodes[k].operands))
            for j in ends.get(k, ()):
                del values[j]
        for k in segment.writes:
            frame[self.slot[k, segment.processor]] = values[k]
        for i in segment.outputs:
            self.outputs[i, span] = value(self.setup.straight.outputs[i].node)


OPERATIONS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "neg": np.negative, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos, "sign": np.sign,
}  # fmt: skip
