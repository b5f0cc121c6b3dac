"""What instructions of Cortex-M cores take: models stated here, from ARM's reference manuals.

Memory without wait states is assumed. Cortex-M0: a load or store takes 2 cycles, several registers
1 + n, a branch that is taken 3, a call 4, a multiplication 1 (there are cores where it takes 32),
all else 1. Cortex-M3: a load takes 2 cycles, a store 1, several registers 1 + n, a jump refills the
pipeline in 2 (it takes 1 to 3), a long multiplication 4 (3 to 5), with addition 5, a division 7
(2 to 12), a multiplication with addition 2, all else 1.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Core = Literal["cortex-m0", "cortex-m3"]
_LINE = re.compile(
    r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{4} ?){1,2})\s*\t(\S+)(?:\t(.*))?$", re.MULTILINE
)
_LONG = {"umull": 4, "smull": 4, "umlal": 5, "smlal": 5, "mla": 2, "mls": 2, "udiv": 7, "sdiv": 7}
_REFILL = 2  # cycles of a jump on the M3


class Instruction(NamedTuple):
    """An instruction: where it is, its bytes, its cycles, and how many more where it jumps."""

    address: int
    size: int
    cycles: int
    jump: int


def instructions(listing: str, core: Core) -> list[Instruction]:
    """Read what objdump prints of a program."""
    found = []
    for match in _LINE.finditer(listing):
        size = len(match[2].split()) * 2
        cycles, jump = cost(match[3].partition(".")[0], match[4] or "", core)
        found.append(Instruction(int(match[1], 16), size, cycles, jump))
    return found


def cost(name: str, operands: str, core: Core) -> tuple[int, int]:
    """Return the cycles of an instruction, and how many more it takes where it jumps."""
    small = core == "cortex-m0"
    if re.match("push|pop|ldm|stm", name):
        return 1 + registers(operands), 3 if small else _REFILL
    if re.match("ldrd|strd", name):
        return 3, 0
    if re.match("ldr|str", name):
        return (2 if small or name.startswith("ldr") else 1), 0 if small else _REFILL
    if name in {"tbb", "tbh"}:
        return 2, _REFILL
    if small:
        slow = name in {"mrs", "msr", "dsb", "dmb", "isb"}
        return (4 if slow else 1), 3 if name == "bl" else 2
    return next((_LONG[long] for long in _LONG if name.startswith(long)), 1), _REFILL


def registers(operands: str) -> int:
    """Return how many registers a list such as `{r4, r5-r7, lr}` names."""
    inside = operands.partition("{")[2].partition("}")[0]
    count = 0
    for part in inside.split(","):
        first, _, last = part.strip().partition("-")
        count += int(last[1:]) - int(first[1:]) + 1 if last else bool(first)
    return count
