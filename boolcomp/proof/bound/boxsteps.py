"""What steps over boxes are made of (see `boxes.py`): slots, their rows, their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound import boxes_kernels as kinds
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.fixed import FAR
from boolcomp.proof.bound.ranges import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a step puts what it finds; in units of 2^-scale."""

    place: int
    scale: int


@dataclass(frozen=True, slots=True, eq=False)
class Boxed:
    """An output as steps; the first and the last cell of every input.

    `output` is the slot of its sum, `addends` are those of what is added up.
    """

    steps: Whole
    args: Whole
    low: Short
    high: Short
    known: Whole
    first: tuple[int, ...]
    last: tuple[int, ...]
    output: Slot
    addends: tuple[Slot, ...]

    def until(self, slot: Slot) -> Boxed:
        """Return the steps up to a slot."""
        count = slot.place + 1
        return replace(self, steps=self.steps[:count], known=self.known[:count], output=slot)

    def readers(self) -> tuple[Whole, Whole]:
        """Return the steps that read an input, of one input after another, and where they begin."""
        reads = np.zeros((len(self.steps), len(self.first)), np.bool_)
        for k, row in enumerate(self.steps):
            kind = row[0]
            if kind in {kinds.TURN, kinds.GIVEN}:
                reads[k, row[2]] = True
            elif kind in {kinds.TURNS, kinds.SUM}:
                sources = self.args[row[3] : row[3] + 2 * row[2] : 2]
                reads[k] = reads[sources].any(axis=0)
            else:
                reads[k] = reads[row[2]]
                if kind == kinds.PRODUCT:
                    reads[k] |= reads[row[3]]
        found = [np.flatnonzero(reads[:, dim]) for dim in range(len(self.first))]
        counts = [0, *(len(one) for one in found)]
        listed = np.concatenate([*found, np.zeros(0, np.int64)])
        return listed.astype(np.int64), np.cumsum(counts).astype(np.int64)


class Steps:
    """Steps that are being made, and the inputs that they read."""

    def __init__(self) -> None:
        self.store = Store()
        self.args: list[int] = []
        self.ends: list[tuple[int, int]] = []
        self._rows: list[list[int]] = []
        self._known: list[list[int]] = []
        self._scales: list[int] = []
        self._slots: dict[tuple[object, ...], Slot] = {}

    def once(self, key: tuple[object, ...], make: Callable[[], Slot]) -> Slot:
        """Return a slot that is made when it is first asked for."""
        if key not in self._slots:
            self._slots[key] = make()
        return self._slots[key]

    def found(self, key: tuple[object, ...]) -> Slot | None:
        """Return a slot, if it was made."""
        return self._slots.get(key)

    def add(
        self, kind: int, scale: int, row: Sequence[int], known: Sequence[int] = (), *,
        worded: bool = True,
    ) -> Slot:  # fmt: skip
        """Add a step; `row` is what follows the place of its slot."""
        place = len(self._known)
        full = [kind, place, *row]
        full += [0] * (kinds.COLUMNS - len(full))
        full[kinds.WORDED] = int(worded)
        self._rows.append(full)
        self._scales.append(scale)
        self._known.append(list(known) or [-FAR, FAR] * 3)
        return Slot(place, scale)

    def input(self, first: int, last: int) -> int:
        """Add an input, of so many cells; return its number."""
        self.ends.append((first, last))
        return len(self.ends) - 1

    def boxed(self, output: Slot) -> Boxed:
        """Return all steps, of which the last is a sum."""
        total = self._rows[-1]
        if total[1] != output.place or total[0] != kinds.SUM:
            raise NotPlainError
        added = self.args[total[3] : total[3] + 2 * total[2] : 2]
        return Boxed(
            np.array(self._rows, np.int64), np.array([*self.args, 0], np.int64),
            *self.store.columns, np.array(self._known, np.int64),
            tuple(one for one, _ in self.ends), tuple(two for _, two in self.ends), output,
            tuple(Slot(k, self._scales[k]) for k in added),
        )  # fmt: skip
