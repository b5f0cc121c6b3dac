"""Networks over bit-planes, and columns of signed codes to planes and back, as LLVM functions.

    void read(i8** columns, i64 block, i8* to)
    void write(i8* from, i8** columns, i64 block, i8* mask, i64* counts)
    void to_planes(i8* codes, i8* to)                  void to_codes(i8* from, i8* codes)

A code k of b bits is the cell k + 2^(b-1). It is an i8 up to eight bits, else an i16; only its
lowest b bits count. `to_planes` and `to_codes` use the columns of one block in a buffer, one after
the other (`offsets`). The order of the samples of a block in its planes depends on the width.

With 512 bits sample s is bit 7 - s % 8 of the byte of group s // 8 (see `PLACES`). A Gray bit is
the parity of two bits of its code, without cost.

Otherwise eight vectors of codes, one byte each, are eight rows of bits, which three rounds of
masked exchanges transpose with and, xor and shifts. Sample s is bit s // n of byte s % n, n = width
/ 8.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.engines.llvm import GROUP, LlvmLines, shuffle_mask, splat, vector_of
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.codes import Code
    from boolcomp.engines.engine import EnginePort, Result, Wiring
    from boolcomp.engines.llvm import Processor
    from boolcomp.logic.network import Network

# --------------------------------------------------------------------------------------------------
# Networks as LLVM functions over bit-planes.
#
#     void net<k>(i8* block, i32* where)
#
# computes one block: as many samples as a plane has bits. Input plane i is at byte `where[i]` of
# the block, output plane j at `where[inputs + j]`. `logic(tile, blocks)` makes all calls of a
# wiring, each for all blocks of a tile, so that the code of a large network is fetched once per
# tile.
# --------------------------------------------------------------------------------------------------

WIDTHS = (512, 256, 64)
_TERNARY = "@llvm.x86.avx512.pternlog.q.512"
# Without these, spilled vectors may cross cache lines: 15 to 30 % slower.
ATTRIBUTES = 'attributes #0 = { nounwind "stackrealign" alignstack=64 }'


def plane_type(width: int) -> str:
    return "i64" if width == 64 else f"<{width // 64} x i64>"


@dataclass(frozen=True, slots=True)
class PlaneLayout:
    """The planes of a block: `place[p]` is the slot of plane p; slots are reused."""

    width: int
    slots: int
    place: tuple[int, ...]

    @property
    def plane_bytes(self) -> int:
        return self.width // 8

    @property
    def block_bytes(self) -> int:
        return self.slots * self.plane_bytes

    def offset(self, plane: int) -> int:
        return self.place[plane] * self.plane_bytes


def lay_out(wiring: Wiring, width: int) -> PlaneLayout:
    """Allocate a slot for every plane; slots are reused after the last call that reads them.

    An output that is an input of its network has that input's slot, without a copy.
    """
    root = _roots(wiring)
    last: dict[int, int] = {}
    for turn, call in enumerate(wiring.calls):
        last.update((root[p], turn) for p in call.inputs)
    for result in wiring.results:
        kept = [*range(result.first, result.first + result.code.bits), result.saturated]
        last.update((root[p], len(wiring.calls)) for p in kept)
    place = list(range(sum(port.code.bits for port in wiring.ports)))
    slots = len(place)
    free: list[int] = []
    for turn, call in enumerate(wiring.calls):
        for plane in range(call.first, call.first + len(wiring.networks[call.network].outputs)):
            if root[plane] != plane:
                place.append(place[root[plane]])
            elif free:
                place.append(free.pop())
            else:
                place.append(slots)
                slots += 1
        # After the outputs: a network may write an output before it has read its last input.
        read = {root[p] for p in call.inputs}
        free += sorted((place[p] for p in read if last[p] == turn), reverse=True)
    return PlaneLayout(width, slots, tuple(place))


def _roots(wiring: Wiring) -> list[int]:
    """Return for every plane the one that it copies, through calls that pass inputs on."""
    root = list(range(sum(port.code.bits for port in wiring.ports)))
    for call in wiring.calls:
        network = wiring.networks[call.network]
        for plane, signal in enumerate(network.outputs, call.first):
            passed = CONSTANTS <= signal < CONSTANTS + network.inputs
            root.append(root[call.inputs[signal - CONSTANTS]] if passed else plane)
    return root


class _Emitter(LlvmLines):
    """The algebra of names of LLVM values in a function."""

    def __init__(self, network: Network, width: int) -> None:
        super().__init__()
        self.network = network
        self.width = width
        self.type = plane_type(width)
        self.loaded: set[str] = set()
        self.made = 0
        self.targets: dict[int, list[int]] = {}
        for k, signal in enumerate(network.outputs):
            self.targets.setdefault(signal, []).append(k)

    def constant(self, value: int) -> str:
        if not value:
            return "0" if self.width == 64 else "zeroinitializer"
        ones = ", ".join(["i64 -1"] * (self.width // 64))
        return "-1" if self.width == 64 else f"<{ones}>"

    def node(self, lut: int, operands: tuple[str, ...]) -> str:
        names = [self.read(operand) for operand in operands]
        if self.width == 512 and len(luts.steps(lut)) > 1:
            names += names[:1] * (3 - len(names))
            vectors = ", ".join(f"{self.type} {name}" for name in names)
            value = self.emit(f"call {self.type} {_TERNARY}({vectors}, i32 {lut})")
        else:
            value = self.expand(lut, names)
        signal = CONSTANTS + self.network.inputs + self.made
        self.made += 1
        for k in self.targets.get(signal, ()):  # at once, to free its register
            self.store_output(value, k)
        return value

    def expand(self, lut: int, names: list[str]) -> str:
        names = [*names, *names[:1] * (3 - len(names))]
        for kind, x, y in luts.steps(lut):
            if kind == "not":
                names.append(self.emit(f"xor {self.type} {names[x]}, {self.constant(1)}"))
            else:
                names.append(self.emit(f"{kind} {self.type} {names[x]}, {names[y]}"))
        return names[-1]

    def read(self, name: str) -> str:
        """Load an input plane before its first use."""
        if name.startswith("%i") and name not in self.loaded:
            self.loaded.add(name)
            pointer = self.address(int(name[2:]))
            align = self.width // 8
            self.lines.append(f"{name} = load {self.type}, ptr {pointer}, align {align}")
        return name

    def store_output(self, value: str, output: int) -> None:
        pointer = self.address(self.network.inputs + output)
        align = self.width // 8
        self.lines.append(f"store {self.type} {self.read(value)}, ptr {pointer}, align {align}")

    def address(self, place: int) -> str:
        pointer = self.emit(f"getelementptr i32, ptr %where, i64 {place}")
        offset = self.emit(f"load i32, ptr {pointer}, align 4")
        offset = self.emit(f"zext i32 {offset} to i64")
        return self.emit(f"getelementptr i8, ptr %block, i64 {offset}")


def network_function(name: str, network: Network, width: int) -> str:
    """Return the LLVM text of a network's function."""
    emitter = _Emitter(network, width)
    outputs = network.fold(emitter, [f"%i{k}" for k in range(network.inputs)])
    for k, (signal, value) in enumerate(zip(network.outputs, outputs, strict=True)):
        if signal < CONSTANTS:  # inputs that are outputs share their slots
            emitter.store_output(value, k)
    return emitter.function(f"{name}(ptr noalias %block, ptr noalias readonly %where)")


def logic_module(wiring: Wiring, layout: PlaneLayout) -> str:
    """Return the LLVM module with `logic(tile, blocks)`."""
    parts = []
    if layout.width == 512:
        arguments = "<8 x i64>, <8 x i64>, <8 x i64>, i32 immarg"
        parts.append(f"declare <8 x i64> {_TERNARY}({arguments})")
    for k, network in enumerate(wiring.networks):
        parts.append(network_function(f"net{k}", network, layout.width))
    body = []
    before = "entry"
    for k, call in enumerate(wiring.calls):
        outputs = len(wiring.networks[call.network].outputs)
        planes = [*call.inputs, *range(call.first, call.first + outputs)]
        offsets = ", ".join(f"i32 {layout.offset(plane)}" for plane in planes)
        parts.append(f"@where{k} = private constant [{len(planes)} x i32] [{offsets}]")
        body += [
            f"br label %loop{k}",
            f"loop{k}:",
            f"%b{k} = phi i64 [ 0, %{before} ], [ %n{k}, %loop{k} ]",
            f"%o{k} = mul i64 %b{k}, {layout.block_bytes}",
            f"%p{k} = getelementptr i8, ptr %tile, i64 %o{k}",
            f"call void @net{call.network}(ptr %p{k}, ptr @where{k})",
            f"%n{k} = add i64 %b{k}, 1",
            f"%c{k} = icmp ult i64 %n{k}, %blocks",
            f"br i1 %c{k}, label %loop{k}, label %done{k}",
            f"done{k}:",
        ]
        before = f"done{k}"
    head = "define void @logic(ptr noalias %tile, i64 %blocks) #0 {"
    parts.append("\n".join([head, "entry:", *body, "ret void", "}"]))
    return "\n".join([*parts, ATTRIBUTES, ""])


# --------------------------------------------------------------------------------------------------
# Bytes of codes to planes and back with `vgf2p8affineqb` and byte shuffles, for 512-bit planes.
#
# That instruction transposes 8 samples of 8 bits in each of a vector's eight lanes. With the codes
# as matrices and a constant as vectors, byte p of a lane becomes plane p of 8 samples. Then the 64
# bytes of a plane must be collected. Zen 5 interleaves the bytes of two vectors (`vpunpck`) four
# times a cycle but permutes them freely only twice, so most steps interleave. This moves the
# highest bit of a place inside a 128-bit lane to the number of the vector, and the bit that
# distinguished the two vectors to the lowest place. As a result, 8 samples, a *group*, are in byte
# `PLACES.index(group)` of a plane, with the first sample in the highest bit.
#
# In comments r is the number of one of eight vectors of 64 codes. It holds groups 8r + 4q + l, and
# (l1 l0 r2 q r1 r0) are the bits of a byte's place in its plane.
# --------------------------------------------------------------------------------------------------

V = "<64 x i8>"
VECTORS = 8
FEW = 2  # planes that are joined in bytes before the transposition
DECLARATION = f"declare {V} @llvm.x86.vgf2p8affineqb.512({V}, {V}, i8)"
PLACES = [8 * (4 * (y >> 3 & 1) + (y & 3)) + 4 * (y >> 2 & 1) + (y >> 4) for y in range(64)]
# Bytes of vectors r and r + 4, planes 4 high ..: places (l1 l0 p1 p0 r2 q).
_FIRST = [[64 * r + 8 * (4 * q + place) + 4 * high + p
           for place in range(4) for p in range(4) for r in (0, 1) for q in (0, 1)]
          for high in (0, 1)]  # fmt: skip
_INTERLEAVED = [[16 * place + 8 * half + k // 2 + 64 * (k % 2)
                 for place in range(4) for k in range(16)]
                for half in (0, 1)]  # fmt: skip
# Adjacent groups of vectors (r2 q=0 r1) and (r2 q=1 r1) with lanes (l1 l0 r0).
_LAST = [[64 * q + 8 * (2 * place + r) + k
          for q in (0, 1) for place in range(4) for k in range(8)]
         for r in (0, 1)]  # fmt: skip


def shuffled(out: LlvmLines, a: str, b: str, places: Sequence[int], kind: str = V) -> str:
    """Return the elements of two vectors at given places."""
    return out.emit(f"shufflevector {kind} {a}, {kind} {b}, {shuffle_mask(places)}")


def interleaved(out: LlvmLines, a: str, b: str) -> tuple[str, str]:
    return shuffled(out, a, b, _INTERLEAVED[0]), shuffled(out, a, b, _INTERLEAVED[1])


def _affine(out: LlvmLines, vector: str, matrix: str, constant: int = 0) -> str:
    """Return bytes: bit i is the parity of a byte of `vector` and row 7 - i of `matrix`."""
    call = f"call {V} @llvm.x86.vgf2p8affineqb.512"
    return out.emit(f"{call}({V} {vector}, {V} {matrix}, i8 {_signed(constant, 8)})")


def planes_of_bytes(out: LlvmLines, vectors: Sequence[str], masks: Sequence[int]) -> list[str]:
    """Return planes of eight vectors of bytes: the parities of the bits that masks select."""
    if len(masks) <= FEW and max(masks) < 1 << len(masks):
        return _few_planes(out, vectors, masks)
    selected = vector_of("i8", [*masks, *[0] * (8 - len(masks))] * 8)
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
    """Return planes of one or two masks: bits of several vectors are first joined in bytes."""
    width = len(masks)
    each = 8 // width
    joined = []
    for first in range(0, VECTORS, each):
        moved = []
        for k, vector in enumerate(vectors[first : first + each]):
            rows = [0] * 8
            for bit in range(width):
                rows[7 - (width * k + bit)] = 1 << bit
            moved.append(_affine(out, vector, vector_of("i8", rows * 8)))
        joined.append(reduce(lambda a, b: out.emit(f"or {V} {a}, {b}"), moved))
    selected = vector_of("i8", [mask << width * k for k in range(each) for mask in masks] * 8)
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
    for bit in (4, 2, 1):  # of the plane's number; r2, q, r1 then distinguish its vectors
        after = list(vectors)
        for k in (k for k in range(VECTORS) if not k & bit):
            after[k], after[k + bit] = interleaved(out, vectors[k], vectors[k + bit])
        vectors = after
    samples = vector_of("i8", [1 << 7 - k for k in range(8)] * 8)
    return [_affine(out, samples, vector, inverted) for vector in vectors]


def bytes_of_planes(out: LlvmLines, planes: Sequence[str], inverted: int) -> list[str]:
    """Return eight vectors of bytes in the order of samples, with the bits `inverted` inverted."""
    apart = _bytes_apart(out, planes, inverted)
    found = []
    for r in range(VECTORS):
        a = 4 * (r >> 2) + (r >> 1 & 1)
        found.append(shuffled(out, apart[a], apart[a + 2], _LAST[r & 1]))
    return found


def words_of_planes(
    out: LlvmLines, low: tuple[Sequence[str], int], high: tuple[Sequence[str], int]
) -> list[str]:
    """Return sixteen vectors of two-byte codes from planes and inverted bits of both halves."""
    lows, highs = _bytes_apart(out, *low), _bytes_apart(out, *high)
    found = [""] * (2 * VECTORS)
    for k, (a, b) in enumerate(zip(lows, highs, strict=True)):
        r, q = 4 * (k >> 2) + 2 * (k & 1), k >> 1 & 1
        found[2 * r + q], found[2 * (r + 1) + q] = interleaved(out, a, b)
    return found


# --------------------------------------------------------------------------------------------------
# Columns of signed codes to bit-planes and back, a block at a time.
# --------------------------------------------------------------------------------------------------

MOST_TRANSPOSED = 16  # bits of a code
BYTES = 64  # of a vector
W = "<64 x i16>"


def population(width: int) -> str:
    return "@llvm.ctpop.i64" if width == 64 else f"@llvm.ctpop.v{width // 64}i64"


def declarations(width: int, *, affine: bool) -> list[str]:
    """Return declarations of the intrinsics."""
    kind = plane_type(width)
    lines = [f"declare {kind} {population(width)}({kind})"]
    return [*lines, DECLARATION] if affine else lines


def uses_affine(layout: PlaneLayout, machine: Processor) -> bool:
    return layout.width == 512 and machine.has_affine


def code_bytes(bits: int) -> int:
    """Return the bytes of a code."""
    if bits > MOST_TRANSPOSED:
        raise UsageError(f"a word has {bits} bits, a code at most {MOST_TRANSPOSED}")
    return 1 if bits <= 8 else 2


def _column(out: LlvmLines, place: int, size: int, samples: int) -> str:
    """Return the address of a block in a column."""
    base = out.emit(f"load ptr, ptr {out.at('%columns', 8 * place)}, align 8")
    offset = out.emit(f"mul i64 %block, {size * samples}")
    return out.emit(f"getelementptr i8, ptr {base}, i64 {offset}")


def offsets(codes: Sequence[Code], samples: int) -> list[int]:
    return [0, *accumulate(code_bytes(code.bits) * samples for code in codes)]


def read_function(ports: Sequence[EnginePort], layout: PlaneLayout, *, affine: bool) -> str:
    """Return the function that turns a block of codes into planes."""
    out = LlvmLines()
    for place, port in enumerate(ports):
        source = _column(out, place, code_bytes(port.code.bits), layout.width)
        _read(out, layout, port, source, affine=affine)
    return out.function("read(ptr %columns, i64 %block, ptr %to)")


def to_planes_function(ports: Sequence[EnginePort], layout: PlaneLayout, *, affine: bool) -> str:
    """Return the function that turns a buffer of codes into planes."""
    out = LlvmLines()
    places = offsets([port.code for port in ports], layout.width)
    for port, place in zip(ports, places, strict=False):
        _read(out, layout, port, out.at("%codes", place), affine=affine)
    return out.function("to_planes(ptr %codes, ptr %to)")


def _read(
    out: LlvmLines, layout: PlaneLayout, port: EnginePort, source: str, *, affine: bool
) -> None:
    def store(place: int, kind: str, value: str) -> None:
        target = out.at("%to", layout.offset(port.first + place))
        out.do(f"store {kind} {value}, ptr {target}, align 8")

    if not affine:
        _read_rows(out, port, source, layout.width, store)
    elif code_bytes(port.code.bits) == 1:
        vectors = [
            out.emit(f"load {V}, ptr {out.at(source, BYTES * r)}, align 1") for r in range(VECTORS)
        ]
        bits = port.code.bits
        gray = port.code.kind == "gray"
        masks = [(1 << b | (gray and b + 1 < bits) << b + 1) & 0xFF for b in range(bits)][::-1]
        _store_planes(out, planes_of_bytes(out, vectors, masks), min(bits, 2 if gray else 1), store)
    else:
        _read_wide(out, port, source, store)


def _store_planes(
    out: LlvmLines, planes: Sequence[str], inverted: int, store: Callable[[int, str, str], None]
) -> None:
    """Store planes, the first `inverted` of them inverted."""
    for place, plane in enumerate(planes):
        ones = splat("i8", BYTES, -1)
        store(place, V, out.emit(f"xor {V} {plane}, {ones}") if place < inverted else plane)


def _gray_words(out: LlvmLines, bits: int, source: str) -> str:
    """Return 64 Gray words from signed 16-bit codes."""
    words = out.emit(f"load {W}, ptr {source}, align 1")
    words = out.emit(f"xor {W} {words}, {splat('i16', GROUP, 1 << bits - 1)}")
    words = out.emit(f"and {W} {words}, {splat('i16', GROUP, (1 << bits) - 1)}")
    half = out.emit(f"lshr {W} {words}, {splat('i16', GROUP, 1)}")
    return out.emit(f"xor {W} {words}, {half}")


def _read_wide(
    out: LlvmLines, port: EnginePort, source: str, store: Callable[[int, str, str], None]
) -> None:
    """Store the planes of codes of more than eight bits, by upper and lower bytes."""
    low, high = [], []
    for group in range(8):
        at = out.at(source, 2 * GROUP * group)
        if port.code.kind == "gray":
            words = _gray_words(out, port.code.bits, at)
            pair = [
                out.emit(f"bitcast <32 x i16> {shuffled(out, words, words, half, W)} to {V}")
                for half in (range(32), range(32, 64))
            ]
        else:
            pair = [out.emit(f"load {V}, ptr {out.at(at, BYTES * k)}, align 1") for k in (0, 1)]
        low.append(shuffled(out, pair[0], pair[1], range(0, 2 * BYTES, 2)))
        high.append(shuffled(out, pair[0], pair[1], range(1, 2 * BYTES, 2)))
    planes = [
        plane
        for vectors, bits in ((high, port.code.bits - 8), (low, 8))
        for plane in planes_of_bytes(out, vectors, [1 << b for b in reversed(range(bits))])
    ]
    inverted = port.code.kind != "gray"  # else inverted by `_gray_words`
    _store_planes(out, planes, int(inverted), store)


def _exchanged(out: LlvmLines, rows: Sequence[str], kind: str, lanes: int) -> list[str]:
    """Transpose the bits of eight vectors of bytes: bit p of row r becomes bit r of row p."""
    rows = list(rows)
    for shift, mask in ((4, 0x0F), (2, 0x33), (1, 0x55)):
        kept = _lanes(int.from_bytes(bytes([mask] * 8)), lanes)
        by = _lanes(shift, lanes)
        for r in (r for r in range(8) if not r & shift):
            moved = out.emit(f"lshr {kind} {rows[r]}, {by}")
            moved = out.emit(f"xor {kind} {moved}, {rows[r + shift]}")
            moved = out.emit(f"and {kind} {moved}, {kept}")
            rows[r + shift] = out.emit(f"xor {kind} {rows[r + shift]}, {moved}")
            moved = out.emit(f"shl {kind} {moved}, {by}")
            rows[r] = out.emit(f"xor {kind} {rows[r]}, {moved}")
    return rows


def _lanes(value: int, lanes: int) -> str:
    return str(value) if lanes == 1 else splat("i64", lanes, value)


def _read_rows(
    out: LlvmLines,
    port: EnginePort,
    source: str,
    width: int,
    store: Callable[[int, str, str], None],
) -> None:
    """Store the planes of a word by bit exchanges."""
    bits, lanes = port.code.bits, width // 64
    kind, count = plane_type(width), width // 8
    size = code_bytes(bits)
    rows: list[list[str]] = [[] for _ in range(size)]
    for r in range(8):
        pointer = out.at(source, r * count * size)
        if size == 1:
            rows[0].append(out.emit(f"load {kind}, ptr {pointer}, align 1"))
            continue
        words = out.emit(f"load <{count} x i16>, ptr {pointer}, align 1")
        for byte in range(2):
            by = splat("i16", count, 8 * byte)
            shifted = out.emit(f"lshr <{count} x i16> {words}, {by}")
            narrow = out.emit(f"trunc <{count} x i16> {shifted} to <{count} x i8>")
            rows[byte].append(out.emit(f"bitcast <{count} x i8> {narrow} to {kind}"))
    planes = [plane for row in rows for plane in _exchanged(out, row, kind, lanes)][:bits]
    planes[-1] = out.emit(f"xor {kind} {planes[-1]}, {_lanes(-1, lanes)}")
    if port.code.kind == "gray":
        planes = [
            *(out.emit(f"xor {kind} {a}, {b}") for a, b in pairwise(planes)),
            planes[-1],
        ]
    for place, plane in enumerate(reversed(planes)):
        store(place, kind, plane)


def _write_rows(
    out: LlvmLines, layout: PlaneLayout, parts: Sequence[tuple[list[int], int]], target: str
) -> None:
    """Store the codes of a block by bit exchanges."""
    lanes, count, size = layout.width // 64, layout.width // 8, len(parts)
    kind = plane_type(layout.width)
    found = []
    for planes, inverted in reversed(parts):
        rows = []
        for plane in reversed(planes):
            pointer = out.at("%from", layout.offset(plane))
            rows.append(out.emit(f"load {kind}, ptr {pointer}, align 8"))
        ones = _lanes(_signed(int.from_bytes(bytes([inverted] * 8)), 64), lanes)
        rows = _exchanged(out, rows, kind, lanes)
        found.append([out.emit(f"xor {kind} {row}, {ones}") for row in rows])
    for r in range(8):
        pointer = out.at(target, r * count * size)
        if size == 1:
            out.do(f"store {kind} {found[0][r]}, ptr {pointer}, align 1")
            continue
        low, high = (out.emit(f"bitcast {kind} {rows[r]} to <{count} x i8>") for rows in found)
        order = [k // 2 + count * (k % 2) for k in range(2 * count)]
        both = shuffled(out, low, high, order, f"<{count} x i8>")
        out.do(f"store <{2 * count} x i8> {both}, ptr {pointer}, align 1")


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def write_function(results: Sequence[Result], layout: PlaneLayout, *, affine: bool) -> str:
    """Return the function that turns result planes into codes and counts saturations."""
    out = LlvmLines()
    for place, result in enumerate(results):
        target = _column(out, place, code_bytes(result.code.bits), layout.width)
        _write(out, layout, result, target, affine=affine)
        _count_saturated(out, layout, result)
    arguments = "ptr %from, ptr %columns, i64 %block, ptr %mask, ptr %count"
    return out.function(f"write({arguments})")


def to_codes_function(results: Sequence[Result], layout: PlaneLayout, *, affine: bool) -> str:
    """Return the function that turns result planes into a buffer of codes."""
    out = LlvmLines()
    places = offsets([result.code for result in results], layout.width)
    for result, place in zip(results, places, strict=False):
        _write(out, layout, result, out.at("%codes", place), affine=affine)
    return out.function("to_codes(ptr %from, ptr %codes)")


def _write(
    out: LlvmLines, layout: PlaneLayout, result: Result, target: str, *, affine: bool
) -> None:
    size = code_bytes(result.code.bits)
    if not affine:
        _write_rows(out, layout, _byte_planes(result, size), target)
        return
    parts = []
    for planes, inverted in _byte_planes(result, size):
        places = (out.at("%from", layout.offset(plane)) for plane in planes)
        parts.append(([out.emit(f"load {V}, ptr {place}, align 64") for place in places], inverted))
    vectors = (
        bytes_of_planes(out, *parts[0]) if size == 1 else words_of_planes(out, parts[1], parts[0])
    )
    for k, vector in enumerate(vectors):
        out.do(f"store {V} {vector}, ptr {out.at(target, BYTES * k)}, align 1")


def _count_saturated(out: LlvmLines, layout: PlaneLayout, result: Result) -> None:
    """Add the flags to one count for every 64 bits of a plane."""
    kind = plane_type(layout.width)
    pointer = out.at("%from", layout.offset(result.saturated))
    marks = out.emit(f"load {kind}, ptr {pointer}, align 8")
    mask = out.emit(f"load {kind}, ptr %mask, align 8")
    kept = out.emit(f"and {kind} {marks}, {mask}")
    ones = out.emit(f"call {kind} {population(layout.width)}({kind} {kept})")
    before = out.emit(f"load {kind}, ptr %count, align 8")
    out.do(f"store {kind} {out.emit(f'add {kind} {before}, {ones}')}, ptr %count, align 8")


def _byte_planes(result: Result, size: int) -> list[tuple[list[int], int]]:
    """Return, for each byte of a code from the highest, its planes and its inverted bits.

    The sign is the inverse of the leading plane, and is extended to the whole byte.
    """
    bits = result.code.bits
    planes = [result.first + max(0, k - (8 * size - bits)) for k in range(8 * size)]
    sign = 8 * size - bits + 1  # leading bits that are the sign
    constant = ((1 << sign) - 1) << (8 * size - sign)
    return [(planes[8 * k : 8 * k + 8], constant >> 8 * (size - 1 - k) & 0xFF) for k in range(size)]
