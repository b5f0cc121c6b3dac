"""One state at a time: checked, put in code, run and decoded by one call of native code.

A call from Python costs more than all of the arithmetic, so little is done besides: arrays that are
just right are copied to where the code reads them, and what is anything but right (another type or
shape, NaN, an angle too many turns away) is left to the usual way, which says what is wrong.
"""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.engines.engine import Evaluation
from boolcomp.engines.words import COUNT_BITS, SEEN_BAD, SEEN_BEYOND, SEEN_CLIPPED, SEEN_OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

    from boolcomp.engines.wiring import Wiring
    from boolcomp.engines.wordwise.engine import WordEngine

_MASK = (1 << COUNT_BITS) - 1
_DOUBLE = np.dtype(np.float64)


class _Room:
    """Where one call reads and writes; threads have one each."""

    def __init__(self, wiring: Wiring, made: tuple[int, ...]) -> None:
        self.given = np.zeros(sum(wiring.widths), np.float64)
        ends = np.cumsum(wiring.widths)
        self.parts = tuple(
            self.given[end - width : end] for width, end in zip(wiring.widths, ends, strict=True)
        )
        self.values = np.zeros(made, np.float64)
        self.words = np.zeros(made, np.uint32)
        arrays = (self.given, self.values, self.words)
        self.places = tuple(ctypes.c_void_p(x.ctypes.data) for x in arrays)


class States:
    """Evaluates single states: an array for each group, or a number for one that is lone."""

    def __init__(self, engine: WordEngine) -> None:
        self.engine, self.wiring = engine, engine.wiring
        self._shapes = tuple(() if g.lone else (g.size,) for g in self.wiring.groups)
        single = len(self.wiring.results) == 1 and not any(self._shapes)
        self._made: tuple[int, ...] = () if single else (len(self.wiring.results),)
        self._rooms: list[_Room] = []

    def __call__(self, arrays: Sequence[ArrayLike]) -> Evaluation | None:
        """Return the results; nothing where the usual way must have a look."""
        try:  # at once: another thread may take the last one
            room = self._rooms.pop()
        except IndexError:
            room = _Room(self.wiring, self._made)
        for part, x, shape in zip(room.parts, arrays, self._shapes, strict=True):
            if type(x) is np.ndarray:
                fits = x.shape == shape and x.dtype is _DOUBLE
            else:
                fits = _plain(x, shape)
            if not fits:
                self._rooms.append(room)
                return None
            part[...] = x
        counts = self._run(*room.places)
        found = None
        if not counts:
            found = Evaluation(room.values.copy(), room.words.copy(), 0, 0)
        elif not counts >> COUNT_BITS * SEEN_BAD & _MASK:
            outside, clipped, beyond = (
                counts >> COUNT_BITS * k & _MASK for k in (SEEN_OUTSIDE, SEEN_CLIPPED, SEEN_BEYOND)
            )
            found = Evaluation(room.values.copy(), room.words.copy(), outside, clipped, beyond)
        self._rooms.append(room)
        return found

    @cached_property
    def _run(self) -> Callable[..., int]:
        """The native code; it keeps Python's lock, which to give up costs more than the call."""
        address = ctypes.c_void_p
        kind = ctypes.PYFUNCTYPE(ctypes.c_uint64, address, address, address)
        return kind(self.engine.code_of_state.address("state"))


def _plain(given: Any, shape: tuple[int, ...]) -> bool:
    """Tell whether something is as many of Python's own numbers as a shape says."""
    if not shape:
        return type(given) is float
    if type(given) not in (list, tuple) or len(given) != shape[0]:
        return False
    return all(type(one) is float for one in given)
