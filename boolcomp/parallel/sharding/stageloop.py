"""The loop of a stage over the chunks of a batch, as native code.

    i64 serve(i64* job, i64 chunk)

does chunk after chunk from this one on, and enters each in the `worker.ProgressTable`, until all
are done, the next one cannot be done yet, or another stage sleeps and is to be woken. It returns
the first chunk that it did not do. Before it gives a chunk up it looks for some microseconds again
and again: to be woken takes longer.

    i64 draw(i64* job, i64)

does chunks of which all others are done by other processes, each of those whose number it draws
from the progress table, and returns when there are none.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from boolcomp.engines import llvm
from boolcomp.engines.native import driver
from boolcomp.engines.native.lines import BYTES, GROUP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.native.lines import Sample
    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.scale.pool_worker import WorkerState

LOOKS = 1000  # at the progress table, before a chunk is given up: some ten microseconds
_PAUSE = "llvm.x86.sse2.pause"  # leaves the core to its other thread for a moment
# What `serve` is given of a batch, in this order, after the arrays of samples; then for every feed
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
    """Return what `serve` is given of a worker's batch."""
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
    for s in sorted({here, *before, *after, all_}):  # a line each: what is done; who sleeps
        lines.append(f"%progress.{s} = getelementptr i8, ptr %table, i64 {64 * s}")
        lines.append(f"%sleeps.{s} = getelementptr i8, ptr %table, i64 {64 * s + 8}")
    real: Sample = "float" if sample == "float" else "double"
    body = body.replace("LOOKS", str(LOOKS))
    for row, size in (("OUT_ROW", BYTES[real]), ("WORD_ROW", BYTES["i32"])):
        body = body.replace(row, str(size * len(stage.results)))
    body = body.replace("ARRAYS", "\n".join(_arrays([BYTES[sample] * width for width in widths])))
    body = body.replace("STATES", driver.pointers("at.a", len(widths)))
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
