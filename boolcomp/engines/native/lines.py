"""Function bodies in LLVM's language: names of values, constants by lane, shuffles."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Sample = Literal["double", "float", "i32"]
BYTES: dict[Sample, int] = {"double": 8, "float": 4, "i32": 4}
GROUP = 64  # samples


class LlvmLines:
    """A function body being written; every value gets a new name."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def emit(self, operation: str) -> str:
        """Add an operation; return the name of its value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {operation}")
        return name

    def do(self, operation: str) -> None:
        """Add an operation without a value."""
        self.lines.append(operation)

    def at(self, base: str, offset: int) -> str:
        """Return a pointer so many bytes behind another."""
        return self.emit(f"getelementptr i8, ptr {base}, i64 {offset}")

    def load(self, kind: str, base: str, offset: int) -> str:
        """Return what lies so many bytes behind a pointer, wherever that is."""
        return self.emit(f"load {kind}, ptr {self.at(base, offset)}, align 1")

    def store(self, kind: str, value: str, base: str, offset: int) -> None:
        """Put a value so many bytes behind a pointer, wherever that is."""
        self.do(f"store {kind} {value}, ptr {self.at(base, offset)}, align 1")

    def add_to(self, counter: int, amount: str) -> None:
        """Add an amount to one of the counts."""
        pointer = self.at("%counts", 8 * counter)
        before = self.emit(f"load i64, ptr {pointer}, align 8")
        after = self.emit(f"add i64 {before}, {amount}")
        self.do(f"store i64 {after}, ptr {pointer}, align 8")

    def gathered(
        self, sources: Sequence[str], lanes: int, kind: str, places: Sequence[tuple[int, int]]
    ) -> str:
        """Return the vector whose lanes are (source, lane) of vectors of so many lanes."""
        used = sorted({source for source, _ in places})
        parts: list[tuple[str, set[int]]] = []
        for a, b in zip(used[::2], [*used[1::2], used[0]], strict=False):
            mask = ("undef" if s not in (a, b) else lane + lanes * (s == b != a)
                    for s, lane in places)  # fmt: skip
            vector = f"<{lanes} x {kind}>"
            pair = f"{vector} {sources[a]}, {vector} {sources[b]}"
            parts.append((self.emit(f"shufflevector {pair}, {_mask(mask)}"), {a, b}))
        vector = f"<{len(places)} x {kind}>"
        while len(parts) > 1:
            merged = []
            for (x, those), (y, others) in zip(parts[::2], parts[1::2], strict=False):
                mask = (k if s in those else k + len(places) if s in others else "undef"
                        for k, (s, _) in enumerate(places))  # fmt: skip
                name = self.emit(f"shufflevector {vector} {x}, {vector} {y}, {_mask(mask)}")
                merged.append((name, those | others))
            parts = merged + parts[len(parts) & ~1 :]
        return parts[0][0]


def _mask(places: Iterable[int | str]) -> str:
    names = [f"i32 {place}" for place in places]
    return f"<{len(names)} x i32> <{', '.join(names)}>"


def vector_of(kind: str, values: Iterable[float]) -> str:
    """Return a constant vector of numbers or of doubles."""
    return f"<{', '.join(f'{kind} {_number(kind, value)}' for value in values)}>"


def splat(kind: str, lanes: int, value: float) -> str:
    """Return a constant vector of equal lanes."""
    return vector_of(kind, [value] * lanes)


def _number(kind: str, value: float) -> str:
    if kind in ("double", "float"):  # LLVM writes a float as the double that it is
        return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
    bits = int(kind[1:])
    return str(int(value) - (1 << bits) if int(value) >> bits - 1 == 1 else int(value))
