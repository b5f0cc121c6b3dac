"""The engine that takes, for every batch, what is expected to be faster: bit-planes or words.

What is compared are operations, counted in the code that would run: those on a whole register of
bit-planes or lanes count one each, as do those on one sample.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from boolcomp.engines.llvm import GROUP
from boolcomp.engines.native import NativeEngine
from boolcomp.engines.words import WordEngine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.engine import Batch, Evaluation, Wiring
    from boolcomp.engines.native import Codes
    from boolcomp.engines.words import States

A_NODE = {512: 2.4, 256: 4.0, 64: 4.0}  # operations, with what is spilled
A_PLANE = {512: 7.0, 256: 12.0, 64: 12.0}  # operations on a block, to transpose it


class AutoEngine:
    """Runs a wiring by words or by bit-planes, whose results are the same."""

    name = "auto"

    def __init__(self, wiring: Wiring, threads: int = 1) -> None:
        self.wiring = wiring
        self.threads = threads
        self.words = WordEngine(wiring, threads)

    @cached_property
    def native(self) -> NativeEngine:
        """The engine of bit-planes."""
        return NativeEngine(self.wiring, threads=self.threads)

    @cached_property
    def block_cost(self) -> float:
        """The operations of bit-planes for a block of samples."""
        width = self.words.machine.width
        nodes = sum(len(self.wiring.networks[call.network].nodes) for call in self.wiring.calls)
        planes = sum(port.code.bits for port in self.wiring.ports)
        planes += sum(result.code.bits for result in self.wiring.results)
        return nodes * A_NODE[width] + planes * A_PLANE[width]

    def takes_words(self, samples: int) -> bool:
        """Tell whether words are expected to be faster for so many samples."""
        width = self.words.machine.width
        blocks = -(-samples // width) * self.block_cost
        if samples * self.words.costs[0] < blocks:
            return True
        groups, rest = divmod(samples, GROUP)
        return groups * self.words.costs[1] + rest * self.words.costs[0] < blocks

    def run(self, batch: Batch) -> Evaluation:
        """Return the results of a batch."""
        return (self.words if self.takes_words(batch.samples) else self.native).run(batch)

    @cached_property
    def state(self) -> States:
        """What evaluates one state, as that of the words engine."""
        return self.words.state

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        """Return outputs as signed codes, one column each, as `NativeEngine.run_codes`."""
        return self.native.run_codes(columns, out)

    def to_planes(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Return input planes, as `NativeEngine.to_planes`."""
        return self.native.to_planes(columns)

    def run_planes(self, planes: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return result planes, as `NativeEngine.run_planes`."""
        return self.native.run_planes(planes, out)

    def from_planes(self, planes: NDArray[Any], samples: int) -> Codes:
        """Return the outputs' codes, as `NativeEngine.from_planes`."""
        return self.native.from_planes(planes, samples)
