"""Sums of waves times powers as steps: every input but angles is taken out once, as Horner does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from boolcomp.problem.expressions.fourier import WaveSum

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.problem.expressions.fourier import Harmonics
    from boolcomp.problem.expressions.tape import Tape

    Powers = tuple[int, ...]  # a harmonic or a power of every input
    Parts = Mapping[Powers, complex]

LEAST = 1e-13  # of the largest coefficient: less is rounding


def steps_of(space: Harmonics, element: Any, tape: Tape, wires: Sequence[Any]) -> Any:
    """Record an element of sums of waves on a tape; `wires` are the inputs, in their order."""
    parts = element.parts if isinstance(element, WaveSum) else {0: complex(element)}
    most = max(map(abs, parts.values()), default=0.0)
    named = {space.numbers(key): c for key, c in parts.items() if abs(c) > LEAST * most}
    return _Recorder(space, tape, wires).sum(named)


class _Recorder:
    def __init__(self, space: Harmonics, tape: Tape, wires: Sequence[Any]) -> None:
        self.tape, self.wires = tape, wires
        self.linear = [k for k, one in enumerate(space.inputs) if not one.angle]

    def sum(self, parts: Parts) -> Any:
        """Record P = P0 + v·P1, where v is the input that most of it has."""
        often = Counter(k for powers in parts for k in self.linear if powers[k])
        if not often:
            return self._waves(parts)
        place = min(often, key=lambda k: (-often[k], k))
        rest = {powers: c for powers, c in parts.items() if not powers[place]}
        quotient = {
            (*powers[:place], powers[place] - 1, *powers[place + 1 :]): c
            for powers, c in parts.items()
            if powers[place]
        }
        product = self.wires[place] * self.sum(quotient)
        return product + self.sum(rest) if rest else product

    def _waves(self, parts: Parts) -> Any:
        total: Any = self.tape.constant(0.0)
        for powers, c in sorted(parts.items()):
            first = next((k for k in powers if k), 0)
            if not first:
                total = total + c.real
            elif first > 0:  # of a pair the other one is its conjugate
                angle: Any = self.tape.constant(0.0)
                for wire, multiple in zip(self.wires, powers, strict=True):
                    angle = angle + wire * float(multiple)
                if c.real:
                    total = total + self.tape.cosine(angle) * (2 * c.real)
                if c.imag:
                    total = total - self.tape.sine(angle) * (2 * c.imag)
        return total
