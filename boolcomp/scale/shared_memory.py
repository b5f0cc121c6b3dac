"""Memory that several processes share: one anonymous file, mapped by all of them.

The file has no name (memfd, or an unlinked temporary file): the system frees it when the last
process ends, however that happens. Workers inherit its descriptor. It only grows, and earlier
mappings stay valid.
"""

from __future__ import annotations

import contextlib
import math
import mmap
import os
import tempfile
import weakref
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray


PAGE = 1 << 16  # regions begin here: on a page, and on a cache line
GROWTH = 1 << 22


@dataclass(frozen=True, slots=True)
class Region:
    """A piece of the file: where it begins, and its bytes."""

    start: int
    size: int


class Arena:
    """The parent's side: regions are taken, and given back when their last array is gone."""

    def __init__(self) -> None:
        self.file = _anonymous()
        self.size = 0
        self._mappings: list[tuple[int, int, mmap.mmap]] = []  # address, size
        self._free: list[Region] = []
        self.labels: dict[int, int] = {}  # by where a region begins
        self._top = 0

    def take(self, size: int) -> Region:
        """Return a region of at least so many bytes; its content is anything."""
        fit = [region for region in self._free if size <= region.size <= 2 * size + PAGE]
        if fit:
            best = min(fit, key=lambda region: (region.size, region.start))
            self._free.remove(best)
            self.labels.pop(best.start, None)
            return best
        region = Region(self._top, -(-max(size, 1) // PAGE) * PAGE)
        self._top += region.size
        if self._top > self.size:
            # By half at least: every mapping costs a descriptor, unused memory nothing.
            self.size = -(-max(self._top, 3 * self.size // 2) // GROWTH) * GROWTH
            os.ftruncate(self.file, self.size)
            mapping = mmap.mmap(self.file, self.size)
            address = np.frombuffer(mapping, np.uint8, 1).ctypes.data
            self._mappings.append((address, self.size, mapping))
        return region

    @contextlib.contextmanager
    def borrowed(self) -> Iterator[Callable[[int], int]]:
        """Provide a function that takes regions, and returns where they begin, for a while."""
        taken: list[Region] = []

        def take(size: int) -> int:
            taken.append(self.take(size))
            return taken[-1].start

        try:
            yield take
        finally:
            self._free += taken

    def array(self, start: int, shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """Return a piece of the file as an array."""
        mapping = self._mappings[-1][2]
        return np.frombuffer(mapping, dtype, math.prod(shape), start).reshape(shape)

    def lent(self, shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """Return a new array; its region is used again when no array or view needs it."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        region = self.take(size)
        # Every view keeps this array alive: it is the last of their bases that is one.
        whole = np.frombuffer(self._mappings[-1][2], np.uint8, region.size, region.start)
        # Not at exit: then the memory goes with the process.
        weakref.finalize(whole, self._free.append, region).atexit = False
        return whole[:size].view(dtype).reshape(shape)

    def label(self, array: NDArray[Any], label: int) -> None:
        """Note something about an array that was lent, until its region is used again."""
        start = self.place(array)
        if start is not None:
            self.labels[start] = label

    def place(self, array: NDArray[Any]) -> int | None:
        """Return where a contiguous array lies in the file, or None where it lies elsewhere."""
        address = array.ctypes.data
        for first, size, _ in self._mappings:
            if first <= address < first + size:
                return address - first
        return None

    def close(self) -> None:
        """Let go of the file; arrays that are still in use stay valid."""
        if self.file >= 0:
            os.close(self.file)
            self.file = -1
            self._mappings.clear()


class SharedView:
    """A worker's side: the inherited file, mapped again when it has grown."""

    def __init__(self, file: int) -> None:
        self.file = file
        self.size = 0
        self.address = 0
        self._mapping: mmap.mmap | None = None

    def reach(self, size: int) -> None:
        """Map at least so many bytes."""
        if size > self.size:
            self._mapping = mmap.mmap(self.file, size)
            self.size = size
            self.address = self.array(0, (1,), np.uint8).ctypes.data

    def array(self, start: int, shape: Sequence[int], dtype: DTypeLike) -> NDArray[Any]:
        """Return a piece of the file as an array."""
        if self._mapping is None:
            raise ValueError("nothing is mapped yet")
        return np.frombuffer(self._mapping, dtype, math.prod(shape), start).reshape(shape)


def _anonymous() -> int:
    """Return the descriptor of a file in memory that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("boolcomp")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
