"""What coarse inputs and rounding make of errors whatever the logic does, and what would help.

An input word of step s tells an output no more than the middle of a cell: that alone leaves a mean
square of s²/12 times the mean square of the output's sensitivity to the word, and rounding 1/12
of a step. Known before any width is chosen, so a demand below it is refused at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import listing
from boolcomp.compact.demand import MOST_INPUT, ROUNDING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SMALL = 1.05  # times what rounding usually makes: an output that makes more hardly leaves zero
CERTAIN = 0.85  # of what inputs make: it is linear and sampled, so what is nearly enough is tried
COMFORTABLE = 0.75  # of what is allowed beside rounding is what inputs may make, in advice
MOST_NAMED = 4  # words in a sentence


def rounding_squares(outputs: Floats, reach: Floats | None = None) -> Floats:
    """Return what rounding alone makes of outputs in steps, (samples, outputs): usually 1/12.

    Cells lie beside zero, so an output that hardly leaves zero errs by half a step. So does one
    that saturates, beyond its `reach`: it is compared with the end of its range.
    """
    if reach is not None:
        outputs = np.clip(outputs, -reach, reach)
    found = ((outputs - np.floor(outputs) - 0.5) ** 2).mean(axis=0)
    return np.asarray(np.where(found > SMALL**2 * ROUNDING**2, found, ROUNDING**2))


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Mean squares in steps, one for every output, that each input word makes; the words' bits."""

    parts: Mapping[str, Floats]
    bits: Mapping[str, int]
    rounding: Floats = field(default_factory=lambda: np.asarray(ROUNDING**2))
    jumps: Floats = field(default_factory=lambda: np.asarray(0.0))
    names: tuple[str, ...] = ()

    @property
    def total(self) -> Floats:
        """What all words, jumps that they misjudge, and rounding make together."""
        return np.asarray(self.rounding + self.jumps + self.inputs)

    @property
    def inputs(self) -> Floats:
        """What all words make together."""
        return np.asarray(sum(self.parts.values()), dtype=np.float64)

    def forbids(self, allowed: Floats) -> bool:
        """Tell whether no logic can reach the mean squares allowed."""
        return bool((allowed - self.rounding < CERTAIN * (self.inputs + self.jumps)).any())

    def advice(self, allowed: Floats) -> str:
        """Return what would help: input words to widen, if it is they that err."""
        small = np.flatnonzero(allowed < np.broadcast_to(self.rounding, allowed.shape))
        if len(small):
            known = self.names or tuple(f"T{k + 1}" for k in range(small.max() + 1))
            names = listing(known[k] for k in small)
            leave = "leaves" if len(small) == 1 else "leave"
            return (
                f"{names} hardly {leave} zero, and a word has no zero: give a smaller range, or "
                "allow more"
            )
        if (self.jumps > np.maximum(self.inputs, allowed - self.rounding)).any():
            return "most of it is made by jumps on whose side the inputs leave a doubt: allow more"
        room = COMFORTABLE * np.maximum(allowed - self.rounding, 1e-9)
        if (self.inputs <= room).all():
            return "allow more"
        named = self._worst(int(np.argmax(self.inputs / room)))
        wider = self._wider(room)
        if not wider:
            return f"most of it {listing(named)}, but wider words would not do: allow more"
        if len(wider) > MOST_NAMED:
            choices = str(max(wider.values()))
        else:
            choices = ",".join(f"{name}={bits}" for name, bits in sorted(wider.items()))
        them = "them" if len(named) > 1 else "it"
        return f"most of it {listing(named)}: widen {them} (--input-bits {choices}), or allow more"

    def _worst(self, place: int) -> list[str]:
        """Name the words that make most of an output's error."""
        ranked = sorted(self.parts, key=lambda name: (-self.parts[name][place], name))
        most = 0.8 * self.inputs[place]
        named, reached = [], 0.0
        for name in ranked[:MOST_NAMED]:
            if reached < most:
                named.append(f"{name} ({self.bits[name]} bits)")
                reached += float(self.parts[name][place])
        return named

    def _wider(self, room: Floats) -> dict[str, int]:
        """Return the widths of the words to widen so that inputs make no more, if any do."""
        parts, bits = dict(self.parts), dict(self.bits)
        while True:
            ratio = sum(parts.values()) / room
            place = int(np.argmax(ratio))
            if ratio[place] <= 1:
                return {name: wide for name, wide in bits.items() if wide != self.bits[name]}
            able = [name for name in parts if bits[name] < MOST_INPUT]
            if not able:
                return {}
            name = max(able, key=lambda one: (parts[one][place], one))
            parts[name], bits[name] = parts[name] / 4, bits[name] + 1
