"""How much arithmetic something takes, in the units of the papers."""

from __future__ import annotations

from dataclasses import dataclass, fields

_WORDS = ("mul", "add", "div", "root", "fun")


@dataclass(frozen=True, slots=True)
class Operations:
    """Counts of scalar operations: a subtraction is an addition, a change of sign costs nothing.

    `functions` are sines, cosines and signs, which the papers leave out of their counts.
    """

    multiplications: int = 0
    additions: int = 0
    divisions: int = 0
    roots: int = 0
    functions: int = 0

    def __add__(self, other: Operations) -> Operations:
        pairs = zip(self.counts, other.counts, strict=True)
        return Operations(*(mine + theirs for mine, theirs in pairs))

    @property
    def counts(self) -> tuple[int, ...]:
        """The five counts, in the order of the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    @property
    def total(self) -> int:
        """All operations, whatever they cost."""
        return sum(self.counts)

    def __str__(self) -> str:
        """`12 mul 9 add`; what does not occur is left out, `0` if nothing does."""
        parts = zip(self.counts, _WORDS, strict=True)
        return " ".join(f"{count} {word}" for count, word in parts if count) or "0"
