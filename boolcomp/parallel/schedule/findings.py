"""What a paper prints beside what follows from its own data here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from boolcomp.base.errors import short, table


@dataclass(frozen=True, slots=True)
class Finding:
    """One figure of a paper.

    `count` figures follow from counts alone and should agree to the printed digit; `model` figures
    were measured on a machine of the time, and a model of it with few parameters gives ours. A
    difference is explained in `note`.
    """

    figure: str
    printed: str
    ours: float
    kind: Literal["count", "model"]
    note: str = ""

    @property
    def value(self) -> float:
        """The printed figure as a number."""
        return float(self.printed)

    @property
    def residual(self) -> float:
        """By what part of the printed figure ours differs."""
        return self.ours / self.value - 1 if self.value else self.ours

    @property
    def holds(self) -> bool:
        """Whether ours agrees to the last printed digit (a count), whichever way it was rounded."""
        digits = len(self.printed.partition(".")[2])
        return abs(self.ours - self.value) <= 0.5 * 10.0**-digits * (1 + 1e-9) + 1e-12

    def document(self) -> dict[str, object]:
        """Return the figure under the keys of the command's JSON."""
        return {
            "figure": self.figure, "printed": self.value, "ours": self.ours, "kind": self.kind,
            "holds": self.holds, "residual": self.residual, "note": self.note,
        }  # fmt: skip

    def __str__(self) -> str:
        return findings_text((self,))


def findings_text(findings: tuple[Finding, ...]) -> str:
    """Return a table of findings."""
    rows = [
        (
            x.figure,
            x.printed,
            short(x.ours, 5),
            "agrees" if x.holds else f"{x.residual:+.1%}",
            x.kind,
            x.note,
        )
        for x in findings
    ]
    header = ("figure", "printed", "ours", "", "kind", "note")
    return table(header, rows, left=(0, 4, 5))
