"""The loop over a batch, in LLVM: one call from Python runs it all.

    void run(T* q, T* qd, T* qdd, i64 groups, i64 mask, F* torques, i32* words,
             i8* tile, i64* counts, void (*logic)(i8* tile, i64 blocks))

A tile is as many blocks as stay in the second-level cache together; its groups of 64 samples are
coded into planes, the logic runs, and the results are written. `mask` marks the samples of the last
group that count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from boolcomp.evaluate.native import convert
from boolcomp.evaluate.native.convert import BYTES, GROUP
from boolcomp.evaluate.native.logic import ATTRIBUTES

if TYPE_CHECKING:
    from boolcomp.evaluate.native.convert import Sample
    from boolcomp.evaluate.native.logic import Layout
    from boolcomp.wiring import Wiring

_RUN = """\
declare i64 @llvm.ctpop.i64(i64)
define void @run(ptr %q, ptr %qd, ptr %qdd, i64 %groups, i64 %mask, ptr %torques, ptr %words,
                 ptr %tile, ptr %counts, ptr %logic) #0 {
entry:
  %last = sub i64 %groups, 1
  br label %tiles
tiles:
  %g0 = phi i64 [ 0, %entry ], [ %g1, %end ]
  %left = sub i64 %groups, %g0
  %few = icmp ult i64 %left, TILE_GROUPS
  %count = select i1 %few, i64 %left, i64 TILE_GROUPS
  br label %reads
reads:
  %r = phi i64 [ 0, %tiles ], [ %r1, %reads ]
  %rg = add i64 %g0, %r
  %ri = mul i64 %rg, IN_BYTES
  %rq = getelementptr i8, ptr %q, i64 %ri
  %rqd = getelementptr i8, ptr %qd, i64 %ri
  %rqdd = getelementptr i8, ptr %qdd, i64 %ri
  %rb = udiv i64 %r, BLOCK_GROUPS
  %rw = urem i64 %r, BLOCK_GROUPS
  %rbo = mul i64 %rb, BLOCK_BYTES
  %rwo = mul i64 %rw, 8
  %ro = add i64 %rbo, %rwo
  %rto = getelementptr i8, ptr %tile, i64 %ro
  call void @read(ptr %rq, ptr %rqd, ptr %rqdd, ptr %rto, ptr %counts)
  %r1 = add i64 %r, 1
  %rc = icmp ult i64 %r1, %count
  br i1 %rc, label %reads, label %middle
middle:
  %up = add i64 %count, BLOCK_GROUPS_LESS_ONE
  %blocks = udiv i64 %up, BLOCK_GROUPS
  call void %logic(ptr %tile, i64 %blocks)
  br label %writes
writes:
  %w = phi i64 [ 0, %middle ], [ %w1, %writes ]
  %wg = add i64 %g0, %w
  %wi = mul i64 %wg, OUT_BYTES
  %wt = getelementptr i8, ptr %torques, i64 %wi
  %wj = mul i64 %wg, WORD_BYTES
  %ww = getelementptr i8, ptr %words, i64 %wj
  %wb = udiv i64 %w, BLOCK_GROUPS
  %wv = urem i64 %w, BLOCK_GROUPS
  %wbo = mul i64 %wb, BLOCK_BYTES
  %wvo = mul i64 %wv, 8
  %wo = add i64 %wbo, %wvo
  %wfrom = getelementptr i8, ptr %tile, i64 %wo
  %wl = icmp eq i64 %wg, %last
  %wm = select i1 %wl, i64 %mask, i64 -1
  call void @write(ptr %wfrom, ptr %wt, ptr %ww, i64 %wm, ptr %counts)
  %w1 = add i64 %w, 1
  %wc = icmp ult i64 %w1, %count
  br i1 %wc, label %writes, label %end
end:
  %g1 = add i64 %g0, %count
  %more = icmp ult i64 %g1, %groups
  br i1 %more, label %tiles, label %exit
exit:
  ret void
}
"""


def run_module(wiring: Wiring, layout: Layout, sample: Sample, blocks: int) -> str:
    """Return the LLVM module with `run` for samples of one type, tiles of so many blocks."""
    real: Literal["double", "float"] = "float" if sample == "float" else "double"
    per_block = layout.width // GROUP
    row = GROUP * wiring.joints
    values = {  # longer names first: some contain others
        "BLOCK_GROUPS_LESS_ONE": per_block - 1,
        "BLOCK_GROUPS": per_block,
        "BLOCK_BYTES": layout.block_bytes,
        "TILE_GROUPS": per_block * blocks,
        "IN_BYTES": row * BYTES[sample],
        "OUT_BYTES": row * BYTES[real],
        "WORD_BYTES": row * BYTES["i32"],
    }
    text = _RUN
    for name, value in values.items():
        text = text.replace(name, str(value))
    read = convert.read_function(wiring, layout, sample)
    write = convert.write_function(wiring, layout, real)
    return f"{text}\n{read}\n{write}\n{ATTRIBUTES}\n"
