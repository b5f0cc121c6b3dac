"""Which outputs are cheaper upside down: output phase assignment.

Function and opposite are minimised together (Sasao, 1984): products that serve both sides are
found, and for every choice of phases the number of products that it needs is counted. The best
choices are minimised by themselves, and the fewest products win; phases that gain nothing stay as
they are.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.twolevel.clock import Clock
from boolcomp.twolevel.cubes import Cubes, pack, unpack
from boolcomp.twolevel.function import Function, in_phase
from boolcomp.twolevel.minimisation import minimise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from boolcomp.twolevel.function import Cover

ALL = 10  # outputs of which all choices are counted
TRIED = 3  # choices that are minimised, beside the phases as they are
_BOTH = 0.25  # of the time for function and opposite together


class Phased(NamedTuple):
    """A cover of the function in these phases: True is as it was given."""

    phase: tuple[bool, ...]
    function: Function
    cover: Cover


def assigned(function: Function, method: str = "own", deadline: float | None = None) -> Phased:
    """Return phases and a verified cover of few products; at worst those of the function itself."""
    clock = Clock(deadline)
    upright = (True,) * function.outputs
    both = minimise(_with_opposite(function), "own", _share(clock, _BOTH))
    choices = [upright, *itertools.islice(_choices(both.cubes, function.outputs), TRIED)]
    best: Phased | None = None
    for place, phase in enumerate(dict.fromkeys(choices)):
        if best is not None and clock.over:
            break
        turned = in_phase(function, phase)
        cover = minimise(turned, method, _share(clock, 1 / (len(choices) - place)))
        if best is None or _size(cover) < _size(best.cover):
            best = Phased(phase, turned, cover)
    assert best is not None  # noqa: S101 (the upright phases come first, whatever the time)
    return best


def _size(cover: Cover) -> tuple[int, int]:
    return cover.products, cover.literals


def _share(clock: Clock, part: float) -> float | None:
    return None if math.isinf(clock.left) else max(0.01, clock.left * part)


def _with_opposite(function: Function) -> Function:
    """Return a function of twice the outputs: those given, then their opposites."""
    width = function.outputs
    opposite = in_phase(function, (False,) * width)
    sets = []
    for kind in ("on", "dc"):
        first, second = getattr(function, kind), getattr(opposite, kind)
        sets.append(_at(first, width, 0).joined(_at(second, width, width)))
    return Function.from_cubes(*sets)


def _at(cubes: Cubes, width: int, first: int) -> Cubes:
    """Return cubes whose outputs stand among twice as many."""
    out = np.zeros((len(cubes), 2 * width), np.bool_)
    out[:, first : first + width] = unpack(cubes.out, width)
    return Cubes(cubes.inputs, 2 * width, cubes.zero, cubes.one, pack(out))


def _choices(cubes: Cubes, width: int) -> Iterator[tuple[bool, ...]]:
    """Yield phases, those of the fewest products first; where outputs are many, the best found."""
    serves = unpack(cubes.out, 2 * width)
    if width <= ALL:
        every = list(itertools.product((True, False), repeat=width))
        every.sort(key=lambda phase: _needed(serves, phase))
        yield from every
    else:
        yield _descended(serves, (True,) * width)
        yield _descended(serves, (False,) * width)
        each = serves.sum(axis=0)
        yield _descended(serves, tuple((each[:width] <= each[width:]).tolist()))


def _needed(serves: NDArray[np.bool_], phase: tuple[bool, ...]) -> int:
    """Count the products that serve an output in its phase."""
    width = len(phase)
    columns = [k if upright else width + k for k, upright in enumerate(phase)]
    return int(serves[:, columns].any(axis=1).sum())


def _descended(serves: NDArray[np.bool_], phase: tuple[bool, ...]) -> tuple[bool, ...]:
    """Turn one output after the other over while that needs fewer products."""
    fewest = _needed(serves, phase)
    place, idle = 0, 0
    while idle < len(phase):
        turned = (*phase[:place], not phase[place], *phase[place + 1 :])
        needed = _needed(serves, turned)
        idle += 1
        if needed < fewest:
            phase, fewest, idle = turned, needed, 0
        place = (place + 1) % len(phase)
    return phase
