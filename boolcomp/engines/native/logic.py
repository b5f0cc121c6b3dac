"""Networks as LLVM functions over bit-planes.

    void net<k>(i8* block, i32* where)

computes one block: as many samples as a plane of it has bits. Input plane i stands `where[i]` bytes
into the block, output plane j at `where[inputs + j]`. `logic(tile, blocks)` makes all calls of a
wiring, each for all blocks of a tile, so that the code of a large network is fetched once a tile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.logic import luts
from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.network import Network

WIDTHS = (512, 256, 64)
_TERNARY = "@llvm.x86.avx512.pternlog.q.512"
# Without these, spilled vectors may lie across cache lines: 15 to 30 % slower.
ATTRIBUTES = 'attributes #0 = { nounwind "stackrealign" alignstack=64 }'


def plane_type(width: int) -> str:
    """Return the LLVM type of a plane of so many samples."""
    return "i64" if width == 64 else f"<{width // 64} x i64>"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where planes lie in a block: `place[p]` is the slot of plane p; slots are used again."""

    width: int
    slots: int
    place: tuple[int, ...]

    @property
    def plane_bytes(self) -> int:
        """The bytes of a plane in one block."""
        return self.width // 8

    @property
    def block_bytes(self) -> int:
        """The bytes of a block."""
        return self.slots * self.plane_bytes

    def offset(self, plane: int) -> int:
        """Return where a plane begins in its block, in bytes."""
        return self.place[plane] * self.plane_bytes


def lay_out(wiring: Wiring, width: int) -> Layout:
    """Give every plane a slot; one whose plane no later call reads is used again.

    An output that is an input of its network has that input's slot: nothing is moved.
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
        # Only now: a network may write its first output before it has read its last input.
        read = {root[p] for p in call.inputs}
        free += sorted((place[p] for p in read if last[p] == turn), reverse=True)
    return Layout(width, slots, tuple(place))


def _roots(wiring: Wiring) -> list[int]:
    """Return for every plane the one that it is the same as, where a call passes that on."""
    root = list(range(sum(port.code.bits for port in wiring.ports)))
    for call in wiring.calls:
        network = wiring.networks[call.network]
        for plane, signal in enumerate(network.outputs, call.first):
            passed = CONSTANTS <= signal < CONSTANTS + network.inputs
            root.append(root[call.inputs[signal - CONSTANTS]] if passed else plane)
    return root


class _Emitter:
    """The algebra whose values are names of LLVM values, in a function being written."""

    def __init__(self, network: Network, width: int) -> None:
        self.network = network
        self.width = width
        self.type = plane_type(width)
        self.lines: list[str] = []
        self.count = 0
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
        for k in self.targets.get(signal, ()):  # at once: to be kept it would need a register
            self.store(value, k)
        return value

    def expand(self, lut: int, names: list[str]) -> str:
        names = [*names, *names[:1] * (3 - len(names))]
        for kind, x, y in luts.steps(lut):
            if kind == "not":
                names.append(self.emit(f"xor {self.type} {names[x]}, {self.constant(1)}"))
            else:
                names.append(self.emit(f"{kind} {self.type} {names[x]}, {names[y]}"))
        return names[-1]

    def emit(self, operation: str) -> str:
        self.count += 1
        self.lines.append(f"%v{self.count} = {operation}")
        return f"%v{self.count}"

    def read(self, name: str) -> str:
        """Load an input plane before it is first used."""
        if name.startswith("%i") and name not in self.loaded:
            self.loaded.add(name)
            pointer = self.address(int(name[2:]))
            align = self.width // 8
            self.lines.append(f"{name} = load {self.type}, ptr {pointer}, align {align}")
        return name

    def store(self, value: str, output: int) -> None:
        pointer = self.address(self.network.inputs + output)
        align = self.width // 8
        self.lines.append(f"store {self.type} {self.read(value)}, ptr {pointer}, align {align}")

    def address(self, place: int) -> str:
        pointer = self.emit(f"getelementptr i32, ptr %where, i64 {place}")
        offset = self.emit(f"load i32, ptr {pointer}, align 4")
        wide = self.emit(f"zext i32 {offset} to i64")
        return self.emit(f"getelementptr i8, ptr %block, i64 {wide}")


def network_function(name: str, network: Network, width: int) -> str:
    """Return the LLVM text of a network's function."""
    emitter = _Emitter(network, width)
    outputs = network.fold(emitter, [f"%i{k}" for k in range(network.inputs)])
    for k, (signal, value) in enumerate(zip(network.outputs, outputs, strict=True)):
        if signal < CONSTANTS:  # inputs that are outputs stay where they are
            emitter.store(value, k)
    head = f"define internal void @{name}(ptr noalias %block, ptr noalias readonly %where) #0 {{"
    return "\n".join([head, *emitter.lines, "ret void", "}"])


def logic_module(wiring: Wiring, layout: Layout) -> str:
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
