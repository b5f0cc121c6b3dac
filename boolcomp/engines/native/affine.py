"""Bytes of codes to planes and back with `vgf2p8affineqb` and byte shuffles, for 512-bit planes.

That instruction transposes 8 samples of 8 bits in each of a vector's eight lanes: with the codes as
matrices and a constant as vectors, byte p of a lane becomes plane p of 8 samples. What remains is
to bring 64 bytes of a plane side by side. Zen 5 interleaves the bytes of two vectors (`vpunpck`)
four times a cycle and permutes them freely twice, so nearly all of it is interleaving, which moves
the highest place bit inside a 128-bit lane to the vector's number, and the bit that told the two
vectors apart to the lowest place. That leaves the bytes of a plane in an order of their own:
8 samples, a *group*, lie in byte `PLACES.index(group)`, with the first sample in the highest bit.

In comments r is the number of one of eight vectors of 64 codes, which hold groups 8r + 4q + l;
(l1 l0 r2 q r1 r0) are the bits of a byte's place in its plane.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.engines.native.lines import LlvmLines

V = "<64 x i8>"
VECTORS = 8
FEW = 2  # planes that are joined in bytes before they are transposed
DECLARATION = f"declare {V} @llvm.x86.vgf2p8affineqb.512({V}, {V}, i8)"
PLACES = [8 * (4 * (y >> 3 & 1) + (y & 3)) + 4 * (y >> 2 & 1) + (y >> 4) for y in range(64)]
# Of vectors r and r + 4, planes 4 high ..: places (l1 l0 p1 p0 r2 q).
_FIRST = [[64 * r + 8 * (4 * q + place) + 4 * high + p
           for place in range(4) for p in range(4) for r in (0, 1) for q in (0, 1)]
          for high in (0, 1)]  # fmt: skip
_INTERLEAVED = [[16 * place + 8 * half + k // 2 + 64 * (k % 2)
                 for place in range(4) for k in range(16)]
                for half in (0, 1)]  # fmt: skip
# Of vectors (r2 q=0 r1) and (r2 q=1 r1) with lanes (l1 l0 r0), the groups that lie together.
_LAST = [[64 * q + 8 * (2 * place + r) + k
          for q in (0, 1) for place in range(4) for k in range(8)]
         for r in (0, 1)]  # fmt: skip


def vector_bytes(values: Sequence[int]) -> str:
    """Return a constant vector of bytes."""
    signed = (value - 256 if value > 127 else value for value in values)
    return f"<{', '.join(f'i8 {value}' for value in signed)}>"


def shuffled(out: LlvmLines, a: str, b: str, places: Sequence[int], kind: str = V) -> str:
    """Return the parts of two vectors at these places."""
    mask = f"<{len(places)} x i32> <{', '.join(f'i32 {place}' for place in places)}>"
    return out.emit(f"shufflevector {kind} {a}, {kind} {b}, {mask}")


def interleaved(out: LlvmLines, a: str, b: str) -> tuple[str, str]:
    """Return the lower halves of two vectors' 128-bit lanes byte by byte, and the upper halves."""
    return shuffled(out, a, b, _INTERLEAVED[0]), shuffled(out, a, b, _INTERLEAVED[1])


def _affine(out: LlvmLines, vector: str, matrix: str, constant: int = 0) -> str:
    """Return, of every byte x, the byte whose bit i is the parity of x and row 7 - i."""
    signed = constant - 256 if constant > 127 else constant
    call = f"call {V} @llvm.x86.vgf2p8affineqb.512"
    return out.emit(f"{call}({V} {vector}, {V} {matrix}, i8 {signed})")


def planes_of_bytes(out: LlvmLines, vectors: Sequence[str], masks: Sequence[int]) -> list[str]:
    """Return planes of eight vectors of bytes: the parities of the bits that masks select."""
    if len(masks) <= FEW and max(masks) < 1 << len(masks):
        return _few_planes(out, vectors, masks)
    selected = vector_bytes([*masks, *[0] * (8 - len(masks))] * 8)
    lanes = [_affine(out, selected, vector) for vector in vectors]
    planes: list[str] = []
    for high in (0, 1):
        four = [shuffled(out, lanes[r], lanes[r + 4], _FIRST[high]) for r in range(4)]
        pairs = [
            interleaved(out, four[r], four[r + 2]) for r in (0, 1)
        ]  # places (l1 l0 p0 r2 q r1)
        for middle in (0, 1):
            planes += interleaved(out, pairs[0][middle], pairs[1][middle])
    return planes[: len(masks)]


def _few_planes(out: LlvmLines, vectors: Sequence[str], masks: Sequence[int]) -> list[str]:
    """Do so where one or two bits count: bits of several vectors are joined in bytes first."""
    width = len(masks)
    each = 8 // width
    joined = []
    for first in range(0, VECTORS, each):
        moved = []
        for k, vector in enumerate(vectors[first : first + each]):
            rows = [0] * 8
            for bit in range(width):
                rows[7 - (width * k + bit)] = 1 << bit
            moved.append(_affine(out, vector, vector_bytes(rows * 8)))
        joined.append(reduce(lambda a, b: out.emit(f"or {V} {a}, {b}"), moved))
    selected = vector_bytes([mask << width * k for k in range(each) for mask in masks] * 8)
    lanes = [_affine(out, selected, vector) for vector in joined]
    planes = []
    for plane in range(width):
        places = []
        for group in PLACES:
            r, lane = divmod(group, 8)
            places.append(64 * (r // each) + 8 * lane + width * (r % each) + plane)
        planes.append(shuffled(out, lanes[0], lanes[-1], places))
    return planes


def _bytes_apart(out: LlvmLines, planes: Sequence[str], inverted: int) -> list[str]:
    """Return bytes of eight planes, the most significant first: vectors (r2 q r1), lanes (l r0)."""
    vectors = list(planes)
    for bit in (4, 2, 1):  # of the plane's number: its vectors are told apart by r2, q and r1 then
        after = list(vectors)
        for k in (k for k in range(VECTORS) if not k & bit):
            after[k], after[k + bit] = interleaved(out, vectors[k], vectors[k + bit])
        vectors = after
    samples = vector_bytes([1 << 7 - k for k in range(8)] * 8)
    return [_affine(out, samples, vector, inverted) for vector in vectors]


def bytes_of_planes(out: LlvmLines, planes: Sequence[str], inverted: int) -> list[str]:
    """Return eight vectors of bytes in the order of samples; bits of `inverted` are inverted."""
    apart = _bytes_apart(out, planes, inverted)
    found = []
    for r in range(VECTORS):
        a = 4 * (r >> 2) + (r >> 1 & 1)
        found.append(shuffled(out, apart[a], apart[a + 2], _LAST[r & 1]))
    return found


def words_of_planes(
    out: LlvmLines, low: tuple[Sequence[str], int], high: tuple[Sequence[str], int]
) -> list[str]:
    """Return sixteen vectors of two-byte codes; either half is its planes and inverted bits."""
    lows, highs = _bytes_apart(out, *low), _bytes_apart(out, *high)
    found = [""] * (2 * VECTORS)
    for k, (a, b) in enumerate(zip(lows, highs, strict=True)):
        r, q = 4 * (k >> 2) + 2 * (k & 1), k >> 1 & 1
        found[2 * r + q], found[2 * (r + 1) + q] = interleaved(out, a, b)
    return found
