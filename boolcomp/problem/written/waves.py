"""Steps as sums of waves times powers, where that is what they are: then they have terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from boolcomp.common.errors import UsageError
from boolcomp.problem.expressions.fourier import Angle, Harmonics, WaveSum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.problem.problem import Input
    from boolcomp.problem.spectra import Spectra

    Element: TypeAlias = WaveSum | Angle | float

MOST_POWER = 12  # harmonics and powers beyond are better looked up as they are calculated
MOST_PARTS = 300  # of an element


def wave_form(steps: Straight, inputs: Sequence[Input]) -> Spectra | None:
    """Return the outputs of steps as spectra; None where one is no sum of waves and powers.

    Inputs that occur in powers are axes, as angles are; others are factors.
    """
    space = Harmonics(tuple(inputs))
    made: list[Element | None] = []
    by_name = {one.name: one for one in inputs}
    for step in steps.nodes:
        if step.kind == "input":
            made.append(space.input(by_name[step.name]))
            continue
        read = [made[k] for k in step.operands]
        made.append(None if None in read else _element(space, step, read))
    elements = [made[one.node] for one in steps.outputs]
    if not all(isinstance(one, WaveSum) and one.parts for one in elements):
        return None
    powers = [0] * len(inputs)
    for one in elements:
        powers = [max(a, b) for a, b in zip(powers, _powers(space, one), strict=True)]
    axes = [x for x, most in zip(inputs, powers, strict=True) if x.angle or most > 1]
    return space.spectra(tuple(axes), elements)


def _element(space: Harmonics, step: Operation, read: Sequence[Any]) -> Element | None:
    if step.kind == "constant":
        return step.value
    try:
        if step.kind in ("sin", "cos"):
            found: Any = space.sine(read[0]) if step.kind == "sin" else space.cosine(read[0])
        elif step.kind == "neg":
            found = -read[0]
        elif step.kind in ("add", "sub", "mul"):
            found = _joined(step.kind, *read)
        else:
            return None
    except (TypeError, UsageError):  # an angle alone, or the sine of what is none
        return None
    small = not isinstance(found, WaveSum) or (
        len(found.parts) <= MOST_PARTS and max(_powers(space, found)) <= MOST_POWER
    )
    return found if small else None


def _joined(kind: str, a: Any, b: Any) -> Any:
    if kind == "mul":
        return a * b
    return a + b if kind == "add" else a - b


def _powers(space: Harmonics, element: Any) -> list[int]:
    """Return the largest harmonic or power of every input in a sum."""
    numbers = [space.numbers(key) for key in element.parts] or [(0,) * len(space.inputs)]
    return [max(map(abs, column)) for column in zip(*numbers, strict=True)]
