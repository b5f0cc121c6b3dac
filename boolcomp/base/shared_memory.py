"""Arrays that several processes share: pieces of one anonymous file, mapped by all of them.

The file has no name (memfd, or an unlinked temporary file): the system frees it when the last
process ends, however that happens. Workers inherit its descriptor. It only grows, and earlier
mappings stay valid. An array of it is pickled for a worker as its place (`Arena.dumps`).
"""

from __future__ import annotations

import copyreg
import io
import math
import mmap
import os
import pickle
import tempfile
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import DTypeLike, NDArray


PAGE = 1 << 16  # arrays begin here: on a page, and on a cache line
GROWTH = 1 << 22


class Arena:
    """The parent's side: memory of an array is used again when no array or view needs it."""

    def __init__(self) -> None:
        self.file = _anonymous()
        self._mappings: list[tuple[int, mmap.mmap]] = []  # by address; the last is the largest
        self._free: list[tuple[int, int]] = []  # bytes, beginning
        self._top = 0

    def empty(self, shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new array; its content is anything."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        room, start = self._taken(size)
        # Every view keeps this array alive: it is the last of their bases that is one.
        whole = np.frombuffer(self._mappings[-1][1], np.uint8, room, start)
        # Not at exit: then the memory goes with the process.
        weakref.finalize(whole, self._free.append, (room, start)).atexit = False
        return whole[:size].view(dtype).reshape(shape)

    def _taken(self, size: int) -> tuple[int, int]:
        fit = [one for one in self._free if size <= one[0] <= 2 * size + PAGE]
        if fit:
            self._free.remove(min(fit))
            return min(fit)
        room, start = -(-max(size, 1) // PAGE) * PAGE, self._top
        self._top += room
        mapped = len(self._mappings[-1][1]) if self._mappings else 0
        if self._top > mapped:
            # By half at least: every mapping costs a descriptor, unused memory nothing.
            mapped = -(-max(self._top, 3 * mapped // 2) // GROWTH) * GROWTH
            os.ftruncate(self.file, mapped)
            mapping = mmap.mmap(self.file, mapped)
            self._mappings.append((np.frombuffer(mapping, np.uint8, 1).ctypes.data, mapping))
        return room, start

    def place(self, array: NDArray[Any]) -> int | None:
        """Return where an array begins in the file, or None where it lies elsewhere."""
        address = array.ctypes.data
        for first, mapping in self._mappings:
            if first <= address < first + len(mapping):
                return address - first
        return None

    def dumps(self, value: object) -> bytes:
        """Return the pickle of a value for a process that has inherited the file."""
        stream = io.BytesIO()
        pickler = pickle.Pickler(stream)
        pickler.dispatch_table = {**copyreg.dispatch_table, np.ndarray: self._reduced}
        pickler.dump(value)
        return stream.getvalue()

    def _reduced(self, array: NDArray[Any]) -> Any:
        start = self.place(array)
        if start is None:
            return array.__reduce_ex__(pickle.DEFAULT_PROTOCOL)
        mapped = len(self._mappings[-1][1])
        return _shared, (self.file, mapped, start, array.shape, array.strides, array.dtype)

    def close(self) -> None:
        """Let go of the file; arrays that are still in use stay valid."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
            self._mappings.clear()


_MAPPED: dict[int, mmap.mmap] = {}  # of a worker, by descriptor


def _shared(
    file: int, mapped: int, start: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any
) -> NDArray[Any]:
    """Return an array of the parent's, in a worker."""
    if file not in _MAPPED or len(_MAPPED[file]) < mapped:
        _MAPPED[file] = mmap.mmap(file, mapped)
    return np.ndarray(shape, dtype, _MAPPED[file], start, strides)


def _anonymous() -> int:
    """Return the descriptor of a file in memory that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("boolcomp")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
