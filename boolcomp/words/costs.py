"""Cost models of machines, by which a word graph is lowered to integer operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

LEFT = (0, 2, 4, 6, 8, 9, 8, 5)  # cycles of an 8-bit machine to shift 16 bits by 0 to 7
LOOK, ADD = 8, 3  # cycles to find an entry of a table; to add two sums
FLASH = 128  # bytes of tables that are worth a cycle
SMALL, SIDE = 9, 4  # index bits of a table of a whole product; side of a triangle


@cache
def _plan(a_bits: int, b_bits: int, discards: int) -> tuple[float, str | int]:
    """Return the cost of a sum of partial products, in cycles of an 8-bit machine, and its plan."""
    if discards > 0:
        drops = max(0, discards - b_bits + 1), max(0, discards - a_bits + 1)
        a_bits, b_bits, discards = a_bits - drops[0], b_bits - drops[1], discards - sum(drops)
    if min(a_bits, b_bits) <= 0:
        return 0.0, "product"
    multiply = 11 if max(a_bits, b_bits) <= 8 else 20 if a_bits + b_bits <= 16 else 45
    if discards <= 0:
        return multiply - 2 * discards, "product"
    moves = discards * (2 if a_bits + b_bits <= 16 else 4)
    looks = LOOK + (1 << 2 * min(discards, SIDE)) / FLASH if discards <= SIDE else 3 * (LOOK + 3)
    ways: list[tuple[float, str | int]] = [(multiply + looks + moves, "product")]
    if a_bits + b_bits <= SMALL:
        size = (1 << (a_bits + b_bits)) * (1 if a_bits + b_bits - discards <= 8 else 2)
        ways.append((LOOK + size / FLASH, "table"))
    for split in range(1, discards + 1):
        for x_bits, y_bits, sign in ((a_bits, b_bits, 1), (b_bits, a_bits, -1)):
            if split < x_bits:
                parts = (split, y_bits, discards), (x_bits - split, y_bits, discards - split)
                ways.append((sum(_plan(*part)[0] for part in parts) + ADD, sign * split))
    return min(ways, key=lambda way: way[0])


@dataclass(frozen=True, slots=True)
class MachineCosts:
    """The operations that a machine prefers, with the largest cheap tables in bits of the index.

    `alike` is for tables of one word, `apart` for the product of two words. `triangle` is the
    number of low digits of either word whose partial products are one table. Factors of an entry
    other than `plain` are multiplied into its table. With `parts`, index bits that come from
    another entry are looked up in their final places.

    `memory` is the number of bytes of a table that are worth a shift of its index.

    A machine with a `register` holds words as natural numbers, and sums times a power of two.
    Products of odd numbers then need no shift, and reading a sum begins at a byte.
    """

    alike: int
    apart: int
    triangle: int
    plain: tuple[int, ...] = ()
    parts: bool = False
    register: int = 0
    memory: int = 0

    def way(self, m: int, n: int, discards: int) -> str | int:
        """Return the plan of a sum of partial products without the lowest columns.

        It is a `table`, a `product`, or a number of low digits that form a sum of their own: of
        the first word, or if negative of the second.
        """
        if self.register:
            return _plan(m, n, discards)[1]
        return "table" if discards and m + n <= self.apart else "product"

    def moving(self, by: int, kind: int) -> float:
        """Return the estimated cycles of a shift of a number of `kind` bits."""
        if self.register > 8:
            return 1.0 if by else 0.0
        octets, rest = divmod(abs(by), 8)
        return (LEFT[rest] if octets == 0 else octets + rest) * (kind / 16)

    def reading(self, by: int, kind: int) -> float:
        """Return the estimated cycles of reading bits of a sum above the lowest ones."""
        if self.register > 8:
            return 0.5 if by else 0.0  # it is masked anyway
        return self.moving(by % 8 if by >= 8 else by, kind)


PLAIN = (1, 2, 4, 8)  # factors without cost in an addition
_MCU8 = MachineCosts(alike=10, apart=SMALL, triangle=SIDE, plain=(1,), register=8, memory=FLASH)
_MCU32 = replace(_MCU8, register=32, memory=0)

# Permutes of 256 entries are the largest cheap ones of lanes.
MACHINES = {
    "mcu8": _MCU8, "mcu32": _MCU32, "simd": _MCU32,
    "scalar": MachineCosts(alike=11, apart=12, triangle=6, plain=PLAIN, parts=True),
    "lanes": MachineCosts(alike=8, apart=8, triangle=4),
}  # fmt: skip
