"""A network as assembly for processors with 32 vector registers and the ternary instruction.

Registers are allocated by Belady's rule: the value with the furthest next use is evicted. Inputs
are in memory; an evicted value that is needed again is stored once.

The processor starts four logic operations per cycle, of which only two have three sources; a store
occupies such a port too. So nodes of two inputs become plain operations, and enough nodes of three
become two plain ones to balance the ports. Plain operations are and, or, xor, andn; if they give
the complement of a node, the complement is kept and its users are adapted.
"""

from __future__ import annotations

import hashlib
from collections import deque
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from boolcomp.logic import network as luts
from boolcomp.logic import order
from boolcomp.logic.network import CONSTANTS
from boolcomp.logic.order import greedy_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.engines.engine import Wiring
    from boolcomp.engines.planes import PlaneLayout
    from boolcomp.logic.network import Network


REGISTERS = 32
NEVER = 1 << 60
STORE_PLACES = 1.0  # three-source operations that a store displaces (measured on Zen 5)
COPIED = 3  # cycles of imbalance that a saved copy of an overwritten source is worth
CLEAN = 40  # steps of earlier use at which a value that needs no store is still evicted
REREAD = 30  # ratio of waiting times from which on an operand is loaded into a register
_PLAIN_GATES = {luts.AND2: ("and", False), luts.OR2: ("or", False), luts.XOR2: ("xor", False),
          0x0C: ("andn", False), 0x30: ("andn", True)}  # fmt: skip


class Memory(NamedTuple):
    """A plane in memory: input or output of the network, or a spilled value."""

    kind: Literal["input", "output", "spill"]
    number: int


class ReadMemory(NamedTuple):
    """Registers[to] = memory."""

    to: int
    place: Memory


class WriteMemory(NamedTuple):
    """Memory = registers[of]."""

    of: int
    place: Memory


class Copy(NamedTuple):
    """Registers[to] = registers[of]."""

    to: int
    of: int


class Ternary(NamedTuple):
    """Registers[to] = table of registers[to], registers[second] and `third`."""

    lut: int
    to: int
    second: int
    third: int | Memory


class BitwiseOperation(NamedTuple):
    """Registers[to] = registers[first] and/or/xor `second`; `andn` inverts the first."""

    operation: str
    to: int
    first: int
    second: int | Memory


class Fill(NamedTuple):
    """Registers[to] = all zeros or all ones."""

    to: int
    ones: bool


Step = ReadMemory | WriteMemory | Copy | Ternary | BitwiseOperation | Fill


@cache
def plain(lut: int) -> tuple[str, bool, bool]:
    """Return a table over two inputs as an operation, whether to swap them, whether to invert."""
    if lut in _PLAIN_GATES:
        return (*_PLAIN_GATES[lut], False)
    return (*_PLAIN_GATES[lut ^ luts.ALL], True)


@cache
def split(lut: int) -> tuple[int, int, int] | None:
    """Return a table of three inputs as two of two: (place k, h, g), f = g(h(others), k).

    None if there is no such pair, as for the majority.
    """
    for k in range(3):
        i, j = (p for p in range(3) if p != k)
        columns = {}
        for row in range(4):
            half = luts.cofactors(luts.cofactors(lut, i)[row >> 1], j)[row & 1]
            columns[row] = tuple(luts.cofactors(half, k))
        values = sorted(set(columns.values()))
        if len(values) != 2:
            continue
        h = sum(3 << 2 * row for row in range(4) if columns[row] == values[1])
        g = sum(
            3 << 2 * (2 * top + bottom)
            for top in (0, 1)
            for bottom in (0, 1)
            if values[top][bottom]
        )
        return k, h, g
    return None


@cache
def permuted(lut: int, order: tuple[int, int, int]) -> int:
    """Return the table for inputs in another order."""
    tables = [0, 0, 0]
    for new, old in enumerate(order):
        tables[old] = luts.LETTERS[new]
    return luts.compose(lut, (tables[0], tables[1], tables[2]))


class Allocation:
    """The steps of a network whose nodes are computed in a given order, or in that of signals."""

    def __init__(
        self, network: Network, registers: int = REGISTERS, order: Sequence[int] | None = None
    ) -> None:
        self.network = network
        self.steps: list[Step] = []
        self.spills = 0
        self._uses: dict[int, list[int]] = {}
        first = CONSTANTS + network.inputs
        order = range(first, first + len(network.nodes)) if order is None else order
        self._turns = {signal: turn for turn, signal in enumerate(order)}
        for turn, signal in enumerate(order):
            for k in network.nodes[signal - first].operands:
                self._uses.setdefault(k, [NEVER]).insert(1, turn)
        self._outputs: dict[int, list[int]] = {}
        for k, signal in enumerate(network.outputs):
            self._outputs.setdefault(signal, []).append(k)
        self._memory = {CONSTANTS + k: Memory("input", k) for k in range(network.inputs)}
        self._register: dict[int, int] = {}
        self._inverted: set[int] = set()
        self._free = deque(range(registers))
        self._free_spills: list[int] = []
        self._ended: list[int] = []  # free after the current node
        self._turn = 0  # the current node
        self._places = [0.0, 0.0]  # operations so far: with three sources, and all
        for signal in [s for s in self._outputs if s < CONSTANTS]:
            self._constant(signal)
        for signal in order:
            self._node(signal, *network.nodes[signal - first])

    @property
    def cycles(self) -> float:
        return max(self._places[0] / 2, self._places[1] / 4)

    def _next(self, signal: int) -> int:
        uses = self._uses.get(signal)
        return uses[-1] if uses else NEVER

    def _constant(self, signal: int) -> None:
        """Store a constant output."""
        register = self._free[0]
        self.steps.append(Fill(register, signal == 1))
        for k in self._outputs[signal]:
            self._store(register, Memory("output", k))

    def _store(self, register: int, place: Memory) -> None:
        self.steps.append(WriteMemory(register, place))
        self._places[0] += STORE_PLACES

    def _take(self, kept: Sequence[int]) -> int:
        """Return a free register; if there is none, evict the value needed last."""
        if self._free:
            return self._free.popleft()
        chosen = max(
            (signal for signal in self._register if signal not in kept),
            key=lambda s: self._next(s) + (CLEAN if s in self._memory else 0),
        )
        register = self._register.pop(chosen)
        if chosen not in self._memory:
            if not self._free_spills:
                self._free_spills.append(self.spills)
                self.spills += 1
            self._memory[chosen] = Memory("spill", self._free_spills.pop())
            self._store(register, self._memory[chosen])
        return register

    def _release(self, signal: int) -> None:
        """Free the register and the spill of a value without further uses."""
        if self._next(signal) != NEVER:
            return
        if signal in self._register:
            self._free.append(self._register.pop(signal))
        place = self._memory.get(signal)
        if place and place.kind == "spill":
            self._ended.append(place.number)
            del self._memory[signal]

    def _load(self, signal: int, kept: Sequence[int]) -> None:
        register = self._take(kept)
        self.steps.append(ReadMemory(register, self._memory[signal]))
        self._register[signal] = register

    def _bring(self, operands: Sequence[int]) -> int | None:
        """Load all operands but one into registers; return that one if it is read in memory."""
        missing = sorted((k for k in operands if k not in self._register), key=self._next)
        if not missing:
            return None
        for signal in missing[:-1]:
            self._load(signal, operands)
        direct = missing[-1]
        others = (self._next(s) for s in self._register if s not in operands)
        wait = max(others, default=self._turn) - self._turn
        worth = len(self._free) > 1 or wait > REREAD * (self._next(direct) - self._turn)
        if self._next(direct) < NEVER and worth:
            self._load(direct, operands)
            return None
        return direct

    def _node(self, signal: int, lut: int, operands: tuple[int, ...]) -> None:
        self._turn = self._uses[operands[0]][-1]
        for k in operands:
            self._uses[k].pop()
        direct = self._bring(operands)
        for place, k in enumerate(operands):
            if k in self._inverted:
                lut = luts.inverted(lut, place)
        halves = split(lut) if len(operands) == 3 else None
        if len(operands) == 1:
            register = self._same(operands[0], lut)
        elif len(operands) == 2:
            register, inverted = self._plain(lut, operands, operands)
            self._mark(signal, inverted)
        elif halves and self._splits(operands):
            register = self._halves(signal, operands, halves)
        else:
            register = self._ternary(lut, operands, direct)
        self._finish(signal, register)

    def _splits(self, operands: tuple[int, ...]) -> bool:
        """Tell whether to split a node into two plain operations, to balance the ports."""
        dying = any(k in self._register and self._next(k) == NEVER for k in operands)
        ahead = self._places[0] / 2 - self._places[1] / 4
        return ahead > (COPIED if dying else -COPIED)

    def _mark(self, signal: int, inverted: bool) -> None:  # noqa: FBT001 (the only parameter)
        if inverted:
            self._inverted.add(signal)

    def _source(self, signal: int) -> int | Memory:
        return self._register.get(signal, self._memory.get(signal, -1))

    def _same(self, operand: int, lut: int) -> int:
        register = self._take([operand])
        source = self._source(operand)
        copy = (
            ReadMemory(register, source) if isinstance(source, Memory) else Copy(register, source)
        )
        self.steps.append(copy)
        if lut == luts.NOT1:
            self.steps.append(Ternary(luts.NOT1, register, register, register))
            self._count(three=1)
        self._release(operand)
        return register

    def _plain(self, lut: int, operands: Sequence[int], kept: Sequence[int]) -> tuple[int, bool]:
        """Combine two values; return the register, and whether it holds the complement."""
        operation, swap, inverted = plain(lut)
        a, b = operands[::-1] if swap else operands
        if a not in self._register:
            if operation == "andn":
                self._load(a, kept)
            else:
                a, b = b, a
        first, second = self._register[a], self._source(b)
        for k in operands:
            self._release(k)
        register = self._take(kept)
        self.steps.append(BitwiseOperation(operation, register, first, second))
        self._count(three=0)
        return register, inverted

    def _halves(self, signal: int, operands: tuple[int, ...], halves: tuple[int, int, int]) -> int:
        """Compute a table of three inputs by two plain operations."""
        place, h, g = halves
        last = operands[place]
        pair = [k for k in operands if k != last]
        if last not in self._register:  # it may have been evicted
            self._load(last, operands)
        middle, inverted = self._plain(h, pair, operands)
        if inverted:
            g = luts.inverted(g, 0)
        operation, swap, inverted = plain(g)
        self._mark(signal, inverted)
        first, second = (self._register[last], middle) if swap else (middle, self._register[last])
        self.steps.append(BitwiseOperation(operation, middle, first, second))
        self._count(three=0)
        self._release(last)
        return middle

    def _ternary(self, lut: int, operands: tuple[int, ...], direct: int | None) -> int:
        """Use the instruction that overwrites one of its sources."""
        dying = [k for k in operands if k in self._register and self._next(k) == NEVER]
        if dying:
            # The latest: the overwritten source may be available a cycle after the others.
            chosen = max(dying, key=lambda k: self._turns.get(k, -1))
            register = self._register.pop(chosen)
        else:
            chosen = operands[0] if direct is None else direct
            register = self._take(operands)
            source = self._source(chosen)
            copied = isinstance(source, Memory)
            self.steps.append(ReadMemory(register, source) if copied else Copy(register, source))  # type: ignore[arg-type]
        others = sorted((k for k in operands if k != chosen), key=lambda k: k not in self._register)
        order = (operands.index(chosen), *(operands.index(k) for k in others))
        second, third = (self._source(k) for k in others)
        assert isinstance(second, int)  # noqa: S101  # only one operand may lie in memory
        self.steps.append(Ternary(permuted(lut, order), register, second, third))
        self._count(three=1)
        for k in operands:
            self._release(k)
        return register

    def _count(self, three: int) -> None:
        self._places[0] += three
        self._places[1] += 1

    def _finish(self, signal: int, register: int) -> None:
        """Book a new value, and store it where it is an output."""
        targets = self._outputs.get(signal, ())
        if targets and signal in self._inverted:
            if self._next(signal) < NEVER:
                self._register[signal] = register
                spare = self._take([signal])
                self.steps.append(Copy(spare, register))
            else:
                spare = register
            self.steps.append(Ternary(luts.NOT1, spare, spare, spare))
            self._count(three=1)
        else:
            spare = register
        for k in targets:
            self._store(spare, Memory("output", k))
            if signal not in self._inverted:
                self._memory[signal] = Memory("output", k)
        if self._next(signal) < NEVER:
            self._register[signal] = register
            if spare != register:
                self._free.append(spare)
        else:
            self._free.append(spare)
        self._free_spills += self._ended
        self._ended.clear()


# --------------------------------------------------------------------------------------------------
# The steps of networks as assembly text for x86-64 with AVX-512, for LLVM's assembler:
#
#     logic(i8* tile, i64 blocks)
#
# makes all calls of a wiring, each for all blocks of a tile. Assembly takes milliseconds per
# thousand nodes.
# --------------------------------------------------------------------------------------------------

SPACING = 6  # nodes: more than three cycles of four operations, without too many spills
MOST_TRIES = 10  # orders of a network: the best saves 3 to 5 %
TRIED_NODES = 28_000  # total: half a second
PLANE = 64  # bytes
MIDDLE = 128 * PLANE  # addresses within 128 planes of a register are a byte shorter
_PLAIN = {"and": "vpandq", "or": "vporq", "xor": "vpxorq", "andn": "vpandnq"}


def _line(step: Step, at: Callable[[Memory], str]) -> str:
    """Return the instruction of a step; operands are in AT&T order, the target last."""

    def text(source: int | Memory) -> str:
        return at(source) if isinstance(source, Memory) else f"%zmm{source}"

    match step:
        case ReadMemory(to, place):
            return f"vmovdqa64 {at(place)}, %zmm{to}"
        case WriteMemory(of, place):
            return f"vmovdqa64 %zmm{of}, {at(place)}"
        case Copy(to, of):
            return f"vmovdqa64 %zmm{of}, %zmm{to}"
        case Ternary(lut, to, second, third):
            return f"vpternlogq ${lut}, {text(third)}, %zmm{second}, %zmm{to}"
        case BitwiseOperation(operation, to, first, second):
            return f"{_PLAIN[operation]} {text(second)}, %zmm{first}, %zmm{to}"
        case Fill(to, ones):
            return f"vpternlogq ${255 if ones else 0}, %zmm{to}, %zmm{to}, %zmm{to}"


def _best(network: Network, tries: int) -> Allocation:
    """Return the allocation of the fewest cycles over several orders."""
    orders = (greedy_order(network, SPACING, variant) for variant in range(tries))
    return min((Allocation(network, order=o) for o in orders), key=lambda found: found.cycles)


def generator() -> str:
    """Return a hash of the text of this generator."""
    files = Path(__file__), Path(order.__file__)
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def logic_assembly(wiring: Wiring, layout: PlaneLayout) -> str:
    """Return the LLVM module with `logic(tile, blocks)`, all in assembly."""
    allocations: dict[Network, Allocation] = {}
    body: list[str] = []
    spills = 0
    nodes = sum(len(network.nodes) for network in wiring.networks)
    tries = min(MOST_TRIES, max(1, TRIED_NODES // max(1, nodes)))
    for k, call in enumerate(wiring.calls):
        network = wiring.networks[call.network]
        if network not in allocations:
            allocations[network] = _best(network, tries)
        found = allocations[network]
        spills = max(spills, found.spills)

        def at(place: Memory, call: object = call) -> str:
            if place.kind == "spill":
                return f"{place.number * PLANE - MIDDLE}(%rdx)"
            inputs, first = call.inputs, call.first  # type: ignore[attr-defined]
            plane = inputs[place.number] if place.kind == "input" else first + place.number
            return f"{layout.offset(plane) - MIDDLE}(%rdi)"

        body += [
            f"lea {MIDDLE}(%r8), %rdi",
            "mov %rsi, %rcx",
            # A fall-through would put the body into the operation cache of Zen 5 twice, in
            # groups counted from here and in others counted from the loop's own jump.
            f"jmp .Lloop{k}",
            ".p2align 6",
            f".Lloop{k}:",
            *(_line(step, at) for step in found.steps),
            f"add ${layout.block_bytes}, %rdi",
            "dec %rcx",
            f"jnz .Lloop{k}",
        ]
    lines = [
        ".text", ".globl logic", ".type logic, @function", ".p2align 6", "logic:",
        "push %rbp", "mov %rsp, %rbp", f"sub ${spills * PLANE}, %rsp", "and $-64, %rsp",
        f"lea {MIDDLE}(%rsp), %rdx", "mov %rdi, %r8",
        *body,
        "vzeroupper", "leave", "ret", ".size logic, .-logic",
    ]  # fmt: skip
    return "".join(f'module asm "{line}"\n' for line in lines)
