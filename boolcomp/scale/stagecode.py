"""Stages as native code: the llvm engine's functions, and the planes that come and go.

    void stage(T* a0, T* a1, ..., i64 groups, i64 mask, F* values, i32* words, i8* tile,
               i64* counts, void (*logic)(i8* tile, i64 blocks), i8** handed, i8* sent)

As the loop of the llvm engine, tile by tile (`native.driver`); but between coding and logic the
planes that other stages made are fetched from `handed`, one piece a feed, and after the logic the
planes for the next ones are put into `sent`. There a block's planes lie side by side.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.engines import llvm
from boolcomp.engines.native import driver
from boolcomp.engines.native.engine import NativeEngine
from boolcomp.engines.native.logic import ATTRIBUTES, plane_type
from boolcomp.parallel.sharding.stageloop import draw_function, job_of, serve_function
from boolcomp.scale.stages import LANE_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Wiring
    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.scale.pool_worker import WorkerState
    from boolcomp.scale.stages import Slot, Work

_ARGUMENTS = (ctypes.c_int64, ctypes.c_uint64, *(ctypes.c_void_p,) * 7)  # after the arrays
LINE = 64  # bytes: what planes must be aligned to
_SAMPLES: dict[str, Sample] = {"float64": "double", "float32": "float", "uint32": "i32"}


class NativeRunner(NativeEngine):
    """Runs a stage as native code."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage.wiring())
        self.stage = stage
        self._stages: dict[str, tuple[llvm.NativeCode, Callable[..., None]]] = {}
        self._loops: dict[str, tuple[llvm.NativeCode, Callable[..., int]]] = {}
        self._state: WorkerState | None = None
        self._job = (ctypes.c_int64 * 1)()
        self._tile = _aligned(self.layout.block_bytes * self.blocks)
        self._handed = (ctypes.c_void_p * max(1, len(stage.feeds)))()
        self._fixed = (
            self._tile.ctypes.data,
            self._logic.address("logic"),
            ctypes.addressof(self._handed),
        )

    def run_ready(self, state: WorkerState, chunk: int) -> int:
        """Do this chunk and more as long as they can be done; return the first that was not."""
        setup, stages = state.setup, state.job.stages

        def text(sample: Sample) -> str:
            return serve_function(
                self.stage, sample, setup.index, setup.before, setup.after, stages
            )

        return self._loop("serve", state, text)(ctypes.addressof(self._job), chunk)

    def run_drawn(self, state: WorkerState) -> None:
        """Do the chunks whose numbers are drawn from the progress table, until there are none."""
        loop = self._loop("draw", state, lambda sample: draw_function(self.stage, sample))
        loop(ctypes.addressof(self._job), 0)

    def _loop(
        self, name: str, state: WorkerState, text: Callable[[Sample], str]
    ) -> Callable[..., int]:
        """Return a loop over chunks, made when first needed; the batch is told to it."""
        if state is not self._state:
            self._state = state
            self._job = job_of(state, self._tile.ctypes.data, self.address)
        dtype = state.job.dtype
        if dtype not in self._loops:
            sample = _SAMPLES[dtype]
            module = self._module(sample)
            code = llvm.NativeCode(module + text(sample), self.machine)
            loop = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)
            self._loops[dtype] = code, loop(code.address(name))
        return self._loops[dtype][1]

    def run_chunk(
        self,
        work: Work,
        chunk: int,
        handed: Sequence[Slot],
        sent: Slot | None,
        counts: NDArray[np.int64],
    ) -> None:
        """Do one chunk; set its counts."""
        start, stop = work.rows(chunk)
        rows = -(-(stop - start) // LANE_GROUP)
        rooms = (*work.arrays, work.values, work.words)
        places = [
            address + room.strides[0] * start
            for address, room in zip(work.addresses, rooms, strict=True)
        ]
        for k, slot in enumerate(handed):
            self._handed[k] = slot.address
        counts[:3] = 0
        mask = (1 << ((stop - start - 1) % LANE_GROUP + 1)) - 1
        tile, logic, pieces = self._fixed
        self._stage_function(work.arrays[0].dtype)(
            *places[:-2], rows, mask, *places[-2:], tile, counts.ctypes.data, logic, pieces,
            sent.address if sent else 0,
        )  # fmt: skip

    def _stage_function(self, dtype: np.dtype[Any]) -> Callable[..., None]:
        """Return the loop for samples of a type, made when first needed."""
        if dtype.name not in self._stages:
            code = llvm.NativeCode(self._module(_SAMPLES[dtype.name]), self.machine)
            arrays = (ctypes.c_void_p,) * len(self.stage.groups)
            self._stages[dtype.name] = code, code.function("stage", *arrays, *_ARGUMENTS)
        return self._stages[dtype.name][1]

    def _module(self, sample: Sample) -> str:
        """Return the LLVM module of the stage for samples of a type."""
        return stage_module(self.stage, self.pieces, self.layout, sample, self.blocks, self.machine)


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return so many zero bytes that begin at a cache line."""
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size]


def stage_module(
    stage: Stage, pieces: Wiring, layout: Layout, sample: Sample, blocks: int, host: Processor
) -> str:
    """Return the LLVM module with `stage` for samples of one type, tiles of so many blocks.

    `pieces` is the stage's wiring as the logic runs it; its results are the outputs, or the planes
    to be sent.
    """
    sent = [] if stage.results else [result.first for result in pieces.results]
    ends = driver.Ends(pieces.widths, stage.ports, pieces.results if stage.results else ())
    parts = [_loop(stage, ends, layout, sample, blocks, len(sent))]
    parts.append(driver.ends_text(ends, layout, sample, host))
    at = stage.coded
    for k, feed in enumerate(stage.feeds):
        parts.append(_move(f"fetch{k}", layout, range(at, at + feed.planes), to_block=True))
        at += feed.planes
    parts.append(_move("send", layout, sent, to_block=False))
    return "\n".join([*parts, ATTRIBUTES, ""])


def _move(name: str, layout: Layout, planes: Iterable[int], *, to_block: bool) -> str:
    """Return the function that moves planes between a block and a piece of a slot."""
    kind = plane_type(layout.width)
    lines = [f"define internal void @{name}(ptr %block, ptr %piece) #0 {{"]
    for k, plane in enumerate(planes):
        lines += [
            f"%b{k} = getelementptr i8, ptr %block, i64 {layout.offset(plane)}",
            f"%p{k} = getelementptr i8, ptr %piece, i64 {k * layout.plane_bytes}",
        ]
        source, target = (f"%p{k}", f"%b{k}") if to_block else (f"%b{k}", f"%p{k}")
        lines += [
            f"%v{k} = load {kind}, ptr {source}, align {layout.plane_bytes}",
            f"store {kind} %v{k}, ptr {target}, align {layout.plane_bytes}",
        ]
    return "\n".join([*lines, "ret void", "}"])


def _for(name: str, before: str, count: str, body: Sequence[str]) -> list[str]:
    """Return a loop of at least one turn, `%<name>` from 0; it ends in block `<name>.end`."""
    return [
        f"br label %{name}.loop",
        f"{name}.loop:",
        f"%{name} = phi i64 [ 0, %{before} ], [ %{name}.next, %{name}.loop ]",
        *body,
        f"%{name}.next = add i64 %{name}, 1",
        f"%{name}.more = icmp ult i64 %{name}.next, {count}",
        f"br i1 %{name}.more, label %{name}.loop, label %{name}.end",
        f"{name}.end:",
    ]


def _loop(
    stage: Stage, ends: driver.Ends, layout: Layout, sample: Sample, blocks: int, sent: int
) -> str:
    """Return the function `stage`."""
    arrays = driver.pointers("a", len(ends.widths))
    head = (
        f"define void @stage({arrays} i64 %groups, i64 %mask, ptr %values, "
        "ptr %words, ptr %tile, ptr %counts, ptr %logic, ptr %handed, ptr %sent) #0 {"
    )
    lines = [head, "entry:", driver.masks_text(ends, layout, sample)]
    for k in range(len(stage.feeds)):
        lines.append(f"%hp{k} = getelementptr ptr, ptr %handed, i64 {k}")
        lines.append(f"%h{k} = load ptr, ptr %hp{k}, align 8")
    lines += [
        "br label %tiles",
        "tiles:",
        "%b0 = phi i64 [ 0, %entry ], [ %b1, %end ]",
        "%left = sub i64 %all, %b0",
        f"%few = icmp ult i64 %left, {blocks}",
        f"%blocks = select i1 %few, i64 %left, i64 {blocks}",
    ]
    before = "tiles"
    if stage.ports:
        lines += _for("r", before, "%blocks", [driver.read_text(ends, layout, sample)])
        before = "r.end"
    if stage.feeds:
        lines += _for("f", before, "%blocks", _moves("f", layout, [
            (f"fetch{k}", f"%h{k}", feed.planes) for k, feed in enumerate(stage.feeds)
        ]))  # fmt: skip
    lines.append("call void %logic(ptr %tile, i64 %blocks)")
    before = "f.end" if stage.feeds else before
    if sent:
        lines += _for("s", before, "%blocks", _moves("s", layout, [("send", "%sent", sent)]))
        before = "s.end"
    if stage.results:
        lines += _for("w", before, "%blocks", [driver.write_text(ends, layout, sample)])
    lines += [
        "br label %end",
        "end:",
        "%b1 = add i64 %b0, %blocks",
        "%more = icmp ult i64 %b1, %all",
        "br i1 %more, label %tiles, label %exit",
        "exit:",
        "ret void",
        "}",
    ]
    return "\n".join(lines)


def _moves(x: str, layout: Layout, calls: Iterable[tuple[str, str, int]]) -> list[str]:
    """Return lines for turn `%<x>` over a tile's blocks: calls that move planes."""
    lines = [
        f"%{x}b = add i64 %b0, %{x}",
        f"%{x}o = mul i64 %{x}, {layout.block_bytes}",
        f"%{x}t = getelementptr i8, ptr %tile, i64 %{x}o",
    ]
    for k, (name, base, planes) in enumerate(calls):
        lines += [
            f"%{x}o{k} = mul i64 %{x}b, {planes * layout.plane_bytes}",
            f"%{x}p{k} = getelementptr i8, ptr {base}, i64 %{x}o{k}",
            f"call void @{name}(ptr %{x}t, ptr %{x}p{k})",
        ]
    return lines
