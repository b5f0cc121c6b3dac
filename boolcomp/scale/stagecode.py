"""The loop of a stage as native code, which needs llvmlite.

    void stage(T* a0, T* a1, ..., i64 groups, i64 mask, F* values, i32* words, i8* tile,
               i64* counts, void (*logic)(i8* tile, i64 blocks), i8** handed, i8* sent)

The loop works tile by tile as that of the native engine. Between coding and logic, planes of other
stages are read from `handed`, one piece for each feed; after the logic, planes for the next stages
are written to `sent`.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.engines import llvm, native
from boolcomp.engines.llvm import BYTES, GROUP
from boolcomp.engines.native import NativeEngine
from boolcomp.engines.planes import ATTRIBUTES, plane_type
from boolcomp.scale.stages import LANE_GROUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Wiring
    from boolcomp.engines.llvm import Processor, Sample
    from boolcomp.engines.planes import PlaneLayout
    from boolcomp.scale.pool_worker import WorkerState
    from boolcomp.scale.stages import ChunkSlot, Stage, Work


# --------------------------------------------------------------------------------------------------
# The loop of a stage over the chunks of a batch, as native code.
#
#     i64 serve(i64* job, i64 chunk)
#
# does chunks in order from this one on, and enters each in the `ProgressTable`. It stops when all
# are done, when the next one cannot be done yet, or when another stage sleeps and must be woken. It
# returns the first chunk that was not done. It polls for some microseconds before it returns, since
# being woken takes longer.
#
#     i64 draw(i64* job, i64)
#
# does the chunks whose numbers it draws from the progress table, and returns when there are none.
# --------------------------------------------------------------------------------------------------


LOOKS = 1000  # at the progress table, before a chunk is given up: some ten microseconds
_PAUSE = "llvm.x86.sse2.pause"  # leaves the core to its other thread for a moment
# The fields of a job of `serve`, in this order, after the arrays of samples; then for every feed
# the address of its ring and the bytes of a slot.
_POINTERS = ("values", "words", "tile", "logic", "table", "counts", "ring")
_NUMBERS = ("ring_size", "samples", "size", "number", "slots")
_LOOP = """\
  br label %next
next:
  NUMBER
  %some = icmp ult i64 %c, %number
  br i1 %some, label %look, label %full
look:
  %n = phi i64 [ 0, %next ], [ %n1, %again ]
READY
  br i1 %ready, label %work, label %again
again:
  PAUSE
  %n1 = add i64 %n, 1
  %enough = icmp ugt i64 %n1, LOOKS
  br i1 %enough, label %full, label %look
work:
  %start = mul i64 %c, %size
  %left = sub i64 %samples, %start
  %last = icmp ult i64 %left, %size
  %count = select i1 %last, i64 %left, i64 %size
  %up = add i64 %count, 63
  %groups = lshr i64 %up, 6
  %over = sub i64 %count, 1
  %place = and i64 %over, 63
  %ends = sub i64 63, %place
  %mask = lshr i64 -1, %ends
ARRAYS
  %out = mul i64 %start, OUT_ROW
  %at.values = getelementptr i8, ptr %values, i64 %out
  %word = mul i64 %start, WORD_ROW
  %at.words = getelementptr i8, ptr %words, i64 %word
  %line = mul i64 %c, 32
  %at.counts = getelementptr i8, ptr %counts, i64 %line
  %done = getelementptr i8, ptr %at.counts, i64 24
  store <4 x i64> zeroinitializer, ptr %at.counts, align 8
  %slot = urem i64 %c, %slots
  %own.at = mul i64 %slot, %ring_size
  %sent = getelementptr i8, ptr %ring, i64 %own.at
HANDED
  call void @stage(STATES i64 %groups, i64 %mask, ptr %at.values, ptr %at.words,
                   ptr %tile, ptr %at.counts, ptr %logic, ptr %handed, ptr %sent)
  store i64 1, ptr %done, align 8
  %c1 = add i64 %c, 1
ENTERED
  br i1 %asleep, label %woken, label %quiet
quiet:
  br label %next
woken:
  ret i64 %c1
full:
  ret i64 %c
}
"""


def job_of(state: WorkerState, tile: int, logic: int) -> ctypes.Array[ctypes.c_int64]:
    """Return the job of `serve` for a worker's batch."""
    job, setup = state.job, state.setup
    values = [
        *state.work.addresses, tile, logic, state.table.progress.ctypes.data,
        state.table.counts[setup.index].ctypes.data, state.slots[setup.index][0].address,
        job.sizes[setup.index], job.samples, job.chunk, job.chunks, job.slots,
    ]  # fmt: skip
    for stage in setup.before:
        values += [state.slots[stage][0].address, job.sizes[stage]]
    return (ctypes.c_int64 * len(values))(*values)


def serve_function(
    stage: Stage, sample: Sample, here: int, before: Sequence[int], after: Sequence[int], all_: int
) -> str:
    """Return `serve` for stage `here` of `all_`, which has these before and after it."""
    number = "%c = phi i64 [ %from, %entry ], [ %c1, %quiet ]"
    entered = [
        f"store atomic i64 %c1, ptr %progress.{here} release, align 8",
        "fence seq_cst",
        *_asleep([*before, *after]),
    ]
    body = _LOOP.replace("NUMBER", number).replace("ENTERED", "\n".join(entered))
    body = body.replace("READY", "\n".join(_ready(before, after, all_)))
    return _function("serve", stage, sample, body, (here, before, after, all_))


def draw_function(stage: Stage, sample: Sample) -> str:
    """Return `draw` for the one stage that all processes run."""
    number = "%c = atomicrmw add ptr %sleeps.1, i64 1 seq_cst"
    body = _LOOP.replace("NUMBER", number).replace("ENTERED", "%asleep = icmp ne i64 0, 0")
    body = body.replace("READY", "%ready = icmp eq i64 0, 0")
    return _function("draw", stage, sample, body, (0, (), (), 1))


def _function(
    name: str,
    stage: Stage,
    sample: Sample,
    body: str,
    places: tuple[int, Sequence[int], Sequence[int], int],
) -> str:
    """Return a function around a loop: what it reads from the job, and its progress table."""
    here, before, after, all_ = places
    lines = [f"declare void @{_PAUSE}()"] if llvm.host_is_x86() else []
    lines += [f"define i64 @{name}(ptr %job, i64 %from) #0 {{", "entry:"]
    lines.append(f"%handed = alloca [{max(1, len(before))} x ptr], align 8")
    widths = [group.size for group in stage.groups]
    fields = [(f"a{k}", "ptr") for k in range(len(widths))]
    fields += [(field, "ptr") for field in _POINTERS] + [(field, "i64") for field in _NUMBERS]
    for k in range(len(before)):
        fields += [(f"ring{k}", "ptr"), (f"ring_size{k}", "i64")]
    for k, (field, kind) in enumerate(fields):
        lines += _field(field, k, kind)
    for s in sorted({here, *before, *after, all_}):  # one cache line each: progress and sleep marks
        lines.append(f"%progress.{s} = getelementptr i8, ptr %table, i64 {64 * s}")
        lines.append(f"%sleeps.{s} = getelementptr i8, ptr %table, i64 {64 * s + 8}")
    real: Sample = "float" if sample == "float" else "double"
    body = body.replace("LOOKS", str(LOOKS))
    for row, size in (("OUT_ROW", BYTES[real]), ("WORD_ROW", BYTES["i32"])):
        body = body.replace(row, str(size * len(stage.results)))
    body = body.replace("ARRAYS", "\n".join(_arrays([BYTES[sample] * width for width in widths])))
    body = body.replace("STATES", native.pointers("at.a", len(widths)))
    pause = llvm.host_is_x86()
    body = body.replace("PAUSE", f"call void @{_PAUSE}()" if pause else "")
    body = body.replace("HANDED", "\n".join(_handed(len(before))))
    assert GROUP == 64  # noqa: S101  # the loop counts in such groups
    return "\n".join([*lines, body])


def _arrays(rows: Sequence[int]) -> list[str]:
    """Return lines for where a chunk's samples begin in every array; a row has so many bytes."""
    lines = []
    for k, row in enumerate(rows):
        lines.append(f"%in{k} = mul i64 %start, {row}")
        lines.append(f"%at.a{k} = getelementptr i8, ptr %a{k}, i64 %in{k}")
    return lines


def _field(name: str, place: int, kind: str) -> list[str]:
    return [
        f"%at.field{place} = getelementptr i64, ptr %job, i64 {place}",
        f"%{name} = load {kind}, ptr %at.field{place}, align 8",
    ]


def _ready(before: Sequence[int], after: Sequence[int], all_: int) -> list[str]:
    """Return lines for `%ready`: what the chunk needs is there, and so is room for its planes."""
    lines = []
    conditions = []
    for s in [all_, *before]:
        lines.append(f"%made.{s} = load atomic i64, ptr %progress.{s} acquire, align 8")
        lines.append(f"%there.{s} = icmp ugt i64 %made.{s}, %c")
        conditions.append(f"%there.{s}")
    for s in after:
        lines.append(f"%used.{s} = load atomic i64, ptr %progress.{s} acquire, align 8")
        lines.append(f"%most.{s} = add i64 %used.{s}, %slots")
        lines.append(f"%room.{s} = icmp ugt i64 %most.{s}, %c")
        conditions.append(f"%room.{s}")
    return [*lines, *_joined("ready", "and", "i1", conditions)]


def _handed(feeds: int) -> list[str]:
    """Return lines that put the addresses of this chunk's slots into `%handed`."""
    lines = []
    for k in range(feeds):
        lines += [
            f"%fed.at.{k} = mul i64 %slot, %ring_size{k}",
            f"%fed.{k} = getelementptr i8, ptr %ring{k}, i64 %fed.at.{k}",
            f"%to.{k} = getelementptr ptr, ptr %handed, i64 {k}",
            f"store ptr %fed.{k}, ptr %to.{k}, align 8",
        ]
    return lines


def _asleep(stages: Sequence[int]) -> list[str]:
    """Return lines for `%asleep`: whether one of these stages waits to be woken."""
    lines = [f"%mark.{s} = load atomic i64, ptr %sleeps.{s} monotonic, align 8" for s in stages]
    lines += _joined("marks", "or", "i64", [f"%mark.{s}" for s in stages])
    return [*lines, "%asleep = icmp ne i64 %marks, 0"]


def _joined(name: str, operation: str, kind: str, values: Sequence[str]) -> list[str]:
    neutral = "-1" if operation == "and" else "0"
    lines = []
    total = neutral
    for k, value in enumerate(values):
        lines.append(f"%{name}.{k} = {operation} {kind} {total}, {value}")
        total = f"%{name}.{k}"
    return [*lines, f"%{name} = {operation} {kind} {total}, {neutral}"]


# --------------------------------------------------------------------------------------------------
# Stages as native code: the llvm engine's functions, and the planes that come and go.
# --------------------------------------------------------------------------------------------------


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
        """Return a loop over chunks, made at its first use."""
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
        handed: Sequence[ChunkSlot],
        sent: ChunkSlot | None,
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
        return stage_module(self.stage, self.pieces, self.layout, sample, self.blocks, self.machine)


def _aligned(size: int) -> NDArray[np.uint8]:
    """Return so many zero bytes that begin at a cache line."""
    room = np.zeros(size + LINE, np.uint8)
    start = -room.ctypes.data % LINE
    return room[start : start + size]


def stage_module(
    stage: Stage, pieces: Wiring, layout: PlaneLayout, sample: Sample, blocks: int, host: Processor
) -> str:
    """Return the LLVM module of a stage for one type of samples and tiles of `blocks` blocks.

    `pieces` is the wiring of the stage; its results are the outputs, or the planes that are sent.
    """
    sent = [] if stage.results else [result.first for result in pieces.results]
    ends = native.ArrayEnds(pieces.widths, stage.ports, pieces.results if stage.results else ())
    parts = [_loop(stage, ends, layout, sample, blocks, len(sent))]
    parts.append(native.ends_text(ends, layout, sample, host))
    at = stage.coded
    for k, feed in enumerate(stage.feeds):
        parts.append(_move(f"fetch{k}", layout, range(at, at + feed.planes), to_block=True))
        at += feed.planes
    parts.append(_move("send", layout, sent, to_block=False))
    return "\n".join([*parts, ATTRIBUTES, ""])


def _move(name: str, layout: PlaneLayout, planes: Iterable[int], *, to_block: bool) -> str:
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
    stage: Stage,
    ends: native.ArrayEnds,
    layout: PlaneLayout,
    sample: Sample,
    blocks: int,
    sent: int,
) -> str:
    """Return the function `stage`."""
    arrays = native.pointers("a", len(ends.widths))
    head = (
        f"define void @stage({arrays} i64 %groups, i64 %mask, ptr %values, "
        "ptr %words, ptr %tile, ptr %counts, ptr %logic, ptr %handed, ptr %sent) #0 {"
    )
    lines = [head, "entry:", native.masks_text(ends, layout, sample)]
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
        lines += _for("r", before, "%blocks", [native.read_text(ends, layout, sample)])
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
        lines += _for("w", before, "%blocks", [native.write_text(ends, layout, sample)])
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


def _moves(x: str, layout: PlaneLayout, calls: Iterable[tuple[str, str, int]]) -> list[str]:
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
