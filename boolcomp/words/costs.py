"""Cost models of machines, by which a word graph is lowered to integer operations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from boolcomp.words.operations import BitField

if TYPE_CHECKING:
    from boolcomp.words.operations import IntOp, IntOps

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


# --------------------------------------------------------------------------------------------------
# Estimated cycles of integer operations on a processor of 8 bits, as `targets/c.py` prints them.
# --------------------------------------------------------------------------------------------------

LOAD, STORE = 2, 2  # a byte of memory
BYTE = 256  # values
LOOKED = 3  # a byte of a table
MULTIPLY = 3  # two bytes, and clearing the register that was zero
TESTED = 8  # a comparison and a choice


def cycles(code: IntOps) -> float:
    """Return the estimated cycles of operations, without a call."""
    octets = _Octets(code.ops)
    whole = sum(octets.cost(op, code) for op in code.ops if op.low < op.high)
    return whole + sum(STORE * 2 + TESTED * (one.inside is not None) for one in code.outputs)


class _Octets:
    """Cycles of operations in bytes."""

    def __init__(self, ops: tuple[IntOp, ...]) -> None:
        self.ops = ops

    def cost(self, op: IntOp, code: IntOps) -> float:
        """Return the cycles of an operation; those of its operands are counted elsewhere."""
        octets = _octets(op)
        cost = float(octets)
        match op.op:
            case "input":
                cost *= LOAD
            case "bits":
                cost = float(op.argument[0] % 8 > 0) + (2 * octets if op.argument[1] else 0)
            case "entry":
                cost = self.entry(op, len(code.tables[op.table]), octets)
            case "sum":
                cost = self.sum(op, octets)
            case "product":
                signed = all(self.ops[k].high < BYTE // 2 for k in op.sources)
                cost = self.product(*(_octets(self.ops[k]) for k in op.sources)) + (not signed)
            case "shift":
                cost = self.read(BitField(op.sources[0], op.argument[0], 8 * octets))
            case "clamp" | "choose":
                cost *= TESTED
        return cost

    def product(self, a: int, b: int) -> float:
        """Return the cycles of a product of words of `a` and `b` bytes."""
        return MULTIPLY + 8 * (max(a, b) > 1) + 12 * (a + b > 3)

    def entry(self, op: IntOp, size: int, octets: int) -> float:
        """Return the cycles of a look-up: the index, the address, the bytes."""
        fields = op.fields
        cost = sum(self.read(one) + 2 * (k > 0) for k, one in enumerate(fields))
        return cost + 2 + 2 * (octets > 1) + (size != BYTE) + LOOKED * octets

    def read(self, field: BitField) -> float:
        """Return the cycles of reading bits of a value: shift and mask."""
        op, drop, octets = self.ops[field.of], field.drop, _octets(self.ops[field.of])
        known = max(op.high, 0).bit_length() if op.low >= 0 and not op.valid else 8 * octets
        masked = known - drop > field.bits and field.bits % 8
        if octets > 1 and field.bits > 8:
            return 2 * drop + masked
        whole, rest = divmod(drop, 8)
        wide = octets - whole > 1
        return min(rest, 3 if not wide else 9) * (2 if wide else 1) + masked

    def sum(self, op: IntOp, octets: int) -> float:
        """Return the cycles of a sum: operands shifted, added."""
        cost = float(octets * (op.constant != 0))
        for k, (factor, of) in enumerate(op.terms):
            own, size = _octets(self.ops[of]), abs(factor)
            up = size.bit_length() - 1
            if size != 1 << up:
                cost += MULTIPLY + 3 * (own > 1)
            elif octets > 1:
                cost += LEFT[up % 8] + own if up else 0
            else:
                cost += min(up, 3)
            cost += octets if k else float(own < octets)
            cost += 3 * (octets > own and self.ops[of].low < 0)
        return cost


def _octets(op: IntOp) -> int:
    """Return the bytes of a value: valid bits alone count."""
    if op.valid:
        return (op.valid + 7) // 8
    low, high = (0, 255) if op.low >= 0 else (-128, 127)
    return 1 if low <= op.low and op.high <= high else 2 if op.high - op.low < 1 << 16 else 4
