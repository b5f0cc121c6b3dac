"""What code costs: its operations, counted in its text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.engines.llvm import Processor

A_LOOP = 64 * 6  # a look-up of 64 lanes one by one
_TYPE = re.compile(r"<(\d+) x i(\d+)>")
_FREE = ("bitcast", "getelementptr", "zext i1", "or i64 0")


def operations(lines: Iterable[str], machine: Processor) -> int:
    """Return how many operations a function's body takes: of lanes, as many as registers."""
    total = 0
    for line in lines:
        _, _, operation = line.partition(" = ")
        if operation.startswith(_FREE):
            continue
        sizes = [int(count) * int(bits) for count, bits in _TYPE.findall(operation) if bits != "1"]
        registers = max(1, *(-(-size // machine.width) for size in sizes)) if sizes else 1
        total += A_LOOP if "_by_" in operation else registers
    return total
