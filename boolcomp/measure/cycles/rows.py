"""Rows of what designs take on boards, and how they are printed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.cycles.design import Row

KEYS = ("target", "design", "cycles", "instructions", "ns", "flash", "ram", "rms", "option",
        "wrong", "skipped")  # fmt: skip


@dataclass(frozen=True, slots=True)
class CyclesRow:
    """What one design takes on one target, in the mean of its states; or why it was skipped.

    `cycles` are exact on an AVR, and modelled on a Cortex; `rms` are errors of the outputs, in last
    bits of the program's words; None is what is not known.
    """

    target: str
    design: str
    cycles: float | None = None
    instructions: float | None = None
    ns: float | None = None
    flash: int | None = None
    ram: int | None = None
    rms: Row | None = None
    option: str = ""
    wrong: int = 0
    skipped: str = ""

    def document(self) -> dict[str, Any]:
        """Return the row under the keys that `boolcomp cycles --json` promises."""
        found = asdict(self)
        return {key: found[key] for key in KEYS}


def text_report(rows: Sequence[CyclesRow]) -> str:
    """Return a table, and a line for each that was skipped.

    `times` compares a row with the first design of its target: cycles where they are known, else
    nanoseconds.
    """
    first: dict[str, CyclesRow] = {}
    cells = []
    for row in rows:
        if row.skipped:
            continue
        base = first.setdefault(row.target, row)
        cells.append(
            [row.target, row.design, _count(row.cycles), _count(row.instructions),
             "" if row.ns is None else f"{row.ns:.1f}", _times(row, base),
             _count(row.flash), _count(row.ram), row.option, rms_text(row.rms)]
        )  # fmt: skip
    header = ["target", "design", "cycles", "instructions", "ns", "times", "flash", "ram",
              "option", "rms/LSB"]  # fmt: skip
    lines = [table(header, cells, (0, 1, 8, 9))] if cells else []
    seen = dict.fromkeys(_skipped(row) for row in rows if row.skipped)
    return "\n".join([*lines, *seen])


def _skipped(row: CyclesRow) -> str:
    name = ", ".join(part for part in (row.target, row.design) if part)
    return f"{name}: skipped: {row.skipped}"


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _times(row: CyclesRow, base: CyclesRow) -> str:
    pairs = ((row.cycles, base.cycles), (row.ns, base.ns))
    ratio = next((one / other for one, other in pairs if one and other), None)
    return "" if ratio is None else f"{ratio:.2f}"


def rms_text(rms: Row | None) -> str:
    """Return rms errors, which for float are nothing worth a digit."""
    return "" if rms is None else " ".join(f"{x:.3f}" for x in rms)
