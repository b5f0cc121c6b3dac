"""The loop over a batch, in LLVM: one call from Python runs it all.

    void run(T* a0, T* a1, ..., i64 groups, i64 mask, F* values, i32* words,
             i8* tile, i64* counts, void (*logic)(i8* tile, i64 blocks))

with an array for each group of inputs.

A tile is as many blocks as stay in the second-level cache together; its samples, in groups of 64,
are coded into planes (`coding`), the logic runs, and the results are written (`decoding`). `mask`
marks the samples of the last group that count: ones from the lowest bit up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.engines import coding
from boolcomp.engines.native import decoding, transpose
from boolcomp.engines.native.lines import BYTES, GROUP
from boolcomp.engines.native.logic import ATTRIBUTES

if TYPE_CHECKING:
    from boolcomp.engines.llvm import Processor
    from boolcomp.engines.native.lines import Sample
    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Port, Result, Wiring

_RUN = """\
define void @run(ARRAYS i64 %groups, i64 %mask, ptr %values, ptr %words,
                 ptr %tile, ptr %counts, ptr %logic) #0 {
entry:
MASKS
  br label %tiles
tiles:
  %b0 = phi i64 [ 0, %entry ], [ %b1, %end ]
  %left = sub i64 %all, %b0
  %few = icmp ult i64 %left, TILE_BLOCKS
  %blocks = select i1 %few, i64 %left, i64 TILE_BLOCKS
  br label %reads
reads:
  %r = phi i64 [ 0, %tiles ], [ %r1, %reads ]
READ
  %r1 = add i64 %r, 1
  %rc = icmp ult i64 %r1, %blocks
  br i1 %rc, label %reads, label %middle
middle:
  call void %logic(ptr %tile, i64 %blocks)
  br label %writes
writes:
  %w = phi i64 [ 0, %middle ], [ %w1, %writes ]
WRITE
  %w1 = add i64 %w, 1
  %wc = icmp ult i64 %w1, %blocks
  br i1 %wc, label %writes, label %end
end:
  %b1 = add i64 %b0, %blocks
  %more = icmp ult i64 %b1, %all
  br i1 %more, label %tiles, label %exit
exit:
  ret void
}
"""
_MASKS = """\
  %whole = alloca [PLANE_BYTES x i8], align 64
  %part = alloca [PLANE_BYTES x i8], align 64
  %over = sub i64 %groups, 1
  %last = udiv i64 %over, BLOCK_GROUPS
  %all = add i64 %last, 1
  %before = urem i64 %over, BLOCK_GROUPS
  %samples0 = mul i64 %before, 64
  %samples1 = call i64 @llvm.ctpop.i64(i64 %mask)
  %samples = add i64 %samples0, %samples1
  call void @mark(i64 BLOCK_SAMPLES, ptr %whole)
  call void @mark(i64 %samples, ptr %part)"""
_NO_READ = """\
define internal void @read(ARRAYS i64 %groups, ptr %to, ptr %counts) {
  ret void
}"""
_PLACE = """\
  %Xb = add i64 %b0, %X
  %Xo = mul i64 %X, BLOCK_BYTES
  %Xt = getelementptr i8, ptr %tile, i64 %Xo
  %Xg = mul i64 %Xb, BLOCK_GROUPS
  %Xleft = sub i64 %groups, %Xg
  %Xfew = icmp ult i64 %Xleft, BLOCK_GROUPS
  %Xn = select i1 %Xfew, i64 %Xleft, i64 BLOCK_GROUPS
"""
_ARRAY = """\
  %ri{k} = mul i64 %rb, {size}
  %ra{k} = getelementptr i8, ptr %a{k}, i64 %ri{k}
"""
_READ = (
    _PLACE.replace("X", "r")
    + """\
READS  call void @read(READ_ARRAYS i64 %rn, ptr %rt, ptr %counts)"""
)
_WRITE = _PLACE.replace("X", "w") + """\
  %wi = mul i64 %wb, OUT_BYTES
  %wr = getelementptr i8, ptr %values, i64 %wi
  %wj = mul i64 %wb, WORD_BYTES
  %ww = getelementptr i8, ptr %words, i64 %wj
  %wl = icmp eq i64 %wb, %last
  %wm = select i1 %wl, ptr %part, ptr %whole
  call void @write(ptr %wt, ptr %wr, ptr %ww, i64 %wn, ptr %wm, ptr %counts)"""  # fmt: skip


@dataclass(frozen=True, slots=True)
class Ends:
    """What goes in and out: arrays so wide, the words that are read of them, the results."""

    widths: tuple[int, ...]
    ports: tuple[Port, ...]
    results: tuple[Result, ...]


def pointers(names: str, count: int) -> str:
    """Return so many arguments, such as `ptr %a0, ptr %a1,`; others follow."""
    return " ".join(f"ptr %{names}{k}," for k in range(count))


def filled(text: str, ends: Ends, layout: Layout, sample: Sample) -> str:
    """Return a text with sizes and arrays in place of their names."""
    row = layout.width * len(ends.results)
    reads = [
        _ARRAY.format(k=k, size=layout.width * width * BYTES[sample])
        for k, width in enumerate(ends.widths)
    ]
    values = {
        "BLOCK_GROUPS": layout.width // GROUP,
        "BLOCK_BYTES": layout.block_bytes,
        "BLOCK_SAMPLES": layout.width,
        "PLANE_BYTES": layout.plane_bytes,
        "READ_ARRAYS": pointers("ra", len(reads)),
        "READS": "".join(reads),
        "ARRAYS": pointers("a", len(reads)),
        "OUT_BYTES": row * BYTES[real_of(sample)],
        "WORD_BYTES": row * BYTES["i32"],
    }
    for name, value in values.items():
        text = text.replace(name, str(value))
    return text


def real_of(sample: Sample) -> Sample:
    """Return the type of results for samples of a type."""
    return "float" if sample == "float" else "double"


def masks_text(ends: Ends, layout: Layout, sample: Sample) -> str:
    """Return lines for `%all` blocks, the `%last` one's number, and masks of samples."""
    return filled(_MASKS, ends, layout, sample)


def read_text(ends: Ends, layout: Layout, sample: Sample) -> str:
    """Return lines that code block `%r` of the tile that begins at block `%b0`."""
    return filled(_READ, ends, layout, sample)


def write_text(ends: Ends, layout: Layout, sample: Sample) -> str:
    """Return lines that write block `%w` of the tile that begins at block `%b0`."""
    return filled(_WRITE, ends, layout, sample)


def ends_text(ends: Ends, layout: Layout, sample: Sample, machine: Processor) -> str:
    """Return the functions that `read_text` and `write_text` call, where there is what they do."""
    affine = transpose.uses_affine(layout, machine)
    lines = {
        "declare i64 @llvm.ctpop.i64(i64)": None,
        **dict.fromkeys(coding.DECLARATIONS),
        **dict.fromkeys(transpose.declarations(layout.width, affine=affine)),
        **dict.fromkeys(decoding.reductions(layout.width)),
    }
    parts = [*lines, decoding.mark_function(layout, affine=affine)]
    if ends.ports:
        parts.append(coding.read_functions(ends.ports, ends.widths, layout, sample, machine))
    elif ends.results:  # outputs that are constant read nothing
        parts.append(filled(_NO_READ, ends, layout, sample))
    if ends.results:
        parts.append(decoding.write_functions(ends.results, layout, real_of(sample), machine))
    return "\n".join(parts)


def run_module(
    wiring: Wiring, layout: Layout, sample: Sample, blocks: int, machine: Processor
) -> str:
    """Return the LLVM module with `run` for samples of one type, tiles of so many blocks."""
    text = _RUN.replace("MASKS", _MASKS).replace("READ\n", f"{_READ}\n").replace("WRITE", _WRITE)
    ends = Ends(wiring.widths, wiring.ports, wiring.results)
    text = filled(text, ends, layout, sample).replace("TILE_BLOCKS", str(blocks))
    return f"{ends_text(ends, layout, sample, machine)}\n{text}\n{ATTRIBUTES}\n"
