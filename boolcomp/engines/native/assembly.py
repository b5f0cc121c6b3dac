"""The steps of networks as assembly text for x86-64 with AVX-512, in the form LLVM takes it.

    logic(i8* tile, i64 blocks)

makes all calls of a wiring, each for all blocks of a tile. The text is in its final order with
its registers chosen; LLVM only assembles it, which takes milliseconds a thousand nodes.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.engines.avx512 import (
    Allocation,
    Copy,
    Fill,
    Memory,
    Plain,
    ReadMemory,
    Step,
    Ternary,
    WriteMemory,
)
from boolcomp.logic import order
from boolcomp.logic.order import greedy_order

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.engines.native.logic import Layout
    from boolcomp.engines.wiring import Wiring
    from boolcomp.logic.network import Network

SPACING = 6  # nodes: more than three cycles of four operations, and not too many spills
MOST_TRIES = 10  # orders of a network: the best saves 3 to 5 %
TRIED_NODES = 28_000  # in all: half a second
PLANE = 64  # bytes
MIDDLE = 128 * PLANE  # addresses within 128 planes of a register are a byte shorter
_PLAIN = {"and": "vpandq", "or": "vporq", "xor": "vpxorq", "andn": "vpandnq"}


def _line(step: Step, at: Callable[[Memory], str]) -> str:
    """Return the instruction of a step; operands stand in AT&T order, the target last."""

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
        case Plain(operation, to, first, second):
            return f"{_PLAIN[operation]} {text(second)}, %zmm{first}, %zmm{to}"
        case Fill(to, ones):
            return f"vpternlogq ${255 if ones else 0}, %zmm{to}, %zmm{to}, %zmm{to}"


def _best(network: Network, tries: int) -> Allocation:
    """Return the allocation that takes the fewest cycles, of so many orders."""
    orders = (greedy_order(network, SPACING, variant) for variant in range(tries))
    return min((Allocation(network, order=o) for o in orders), key=lambda found: found.cycles)


def generator() -> str:
    """Return what tells this generator from others: a hash of its own text."""
    folder = Path(__file__).parent
    files = [folder / "registers.py", folder / "assembly.py", Path(order.__file__)]
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()


def logic_assembly(wiring: Wiring, layout: Layout) -> str:
    """Return the LLVM module with `logic(tile, blocks)`, all of it assembly."""
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
            # Not by falling into it: the operation cache of Zen 5 would keep the body twice, in
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
