"""How long what is left of a sweep will take, by what similar cells took, where any did."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from operator import index
from typing import TYPE_CHECKING, Any

from boolcomp.scale.sweep_spec import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boolcomp.scale.sweep_spec import Cell
    from boolcomp.sweep.folder import Document

ALIKE = ("robot", "function", "target", "effort", "certify", "proof", "objective")
Kind = tuple[Any, ...]  # the values of ALIKE


class Costs:
    """What cells took on one core, by what makes them alike, and by their bits.

    A family of loads takes as long as its loads.
    """

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        self._known: dict[Kind, dict[int, tuple[float, int]]] = {}
        for one in documents:
            found = _measured(one)
            if found is not None:
                self._add(*found)

    def learn(self, cell: Cell, seconds: float) -> None:
        """Hear of what a cell took."""
        self._add(_kind(cell), cell.bits, seconds / len(cell.payloads))

    def _add(self, kind: Kind, bits: int, seconds: float) -> None:
        known = self._known.setdefault(kind, {})
        total, count = known.get(bits, (0.0, 0))
        known[bits] = (total + seconds, count + 1)

    def of(self, cell: Cell) -> float | None:
        """Return what a cell is likely to take; None where no similar one was measured.

        Similar ones are of the same robot, function, target and effort, and of the nearest bits.
        """
        each = self._each(_kind(cell), cell.bits)
        return None if each is None else each * len(cell.payloads)

    def _each(self, kind: Kind, bits: int) -> float | None:
        known = self._known.get(kind)
        if not known:
            return None
        nearest = min(abs(one - bits) for one in known)
        near = [known[one] for one in {bits - nearest, bits + nearest} if one in known]
        return sum(total for total, _ in near) / sum(count for _, count in near)


class Remaining:
    """How much of a sweep's work is done, as long as it runs."""

    def __init__(self, cells: Iterable[Cell], costs: Costs) -> None:
        self._costs = costs
        self._loads: Counter[tuple[Kind, int]] = Counter()
        self._sum = 0.0  # of seconds
        for cell in cells:
            self._loads[_kind(cell), cell.bits] += len(cell.payloads)

    def finished(self, cell: Cell, seconds: float) -> None:
        """Hear of a cell that is no longer left."""
        self._loads[_kind(cell), cell.bits] -= len(cell.payloads)
        self._sum += seconds

    @property
    def share(self) -> float:
        """Which part of the work is done; loads of which nothing is known take what others do."""
        known, loads, unknown = 0.0, 0, 0
        for (kind, bits), count in self._loads.items():
            each = self._costs._each(kind, bits)  # noqa: SLF001 (of this very module)
            if each is None:
                unknown += count
            else:
                known, loads = known + each * count, loads + count
        if unknown and not loads:
            return 0.0
        left = known * (1 + (unknown / loads if unknown else 0))
        return self._sum / (self._sum + left) if self._sum else 0.0


def makespan(seconds: Sequence[float], workers: int) -> float:
    """Return when the last is done where each worker takes the longest that is left."""
    ends = [0.0] * workers
    for one in sorted(seconds, reverse=True):
        heapq.heapreplace(ends, ends[0] + one)
    return max(ends)


def _measured(document: Any) -> tuple[Kind, int, float] | None:
    """Return what kind of cell took how long a load; None for what no sweep has written."""
    try:
        asked = document["asked"]
        kind = tuple(asked.get(key) for key in ALIKE)
        hash(kind)
        bits, seconds = index(asked["bits"]), document["seconds"] / len(asked["payloads"])
        sane = bool(0 <= seconds < math.inf)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        return None
    return (kind, bits, seconds) if sane else None


def _kind(cell: Cell) -> Kind:
    shared = cell.settings
    own: Mapping[str, Any] = {
        "robot": digest(cell.robot), "function": cell.function, "target": cell.target,
        "effort": shared.effort, "certify": shared.certify, "proof": shared.proof,
        "objective": shared.objective,
    }  # fmt: skip
    return tuple(own[key] for key in ALIKE)
