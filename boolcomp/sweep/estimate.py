"""How long what is left of a sweep will take, by what similar cells took, where any did."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.sweep.cell import Cell
    from boolcomp.sweep.folder import Document

ALIKE = ("robot", "function", "target", "effort", "certify", "proof", "objective")


def seconds_of(cell: Cell, costs: Sequence[Document]) -> float | None:
    """Return what a cell is likely to take on one core; None where no similar one was measured.

    Similar ones are of the same robot, function, target and effort, and of the nearest bits;
    a family of loads takes as long as its loads.
    """
    asked = cell.asked
    alike = [one for one in costs if all(one["asked"].get(key) == asked[key] for key in ALIKE)]
    if not alike:
        return None
    nearest = min(abs(one["asked"]["bits"] - cell.bits) for one in alike)
    each = [
        one["seconds"] / len(one["asked"]["payloads"])
        for one in alike
        if abs(one["asked"]["bits"] - cell.bits) == nearest
    ]
    return float(sum(each) / len(each) * len(cell.payloads))
