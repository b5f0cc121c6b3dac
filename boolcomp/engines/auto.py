"""The engine that evaluates every batch by the faster of bit-planes and words.

The cost of each is the number of operations in its code. An operation on a whole register of
bit-planes or lanes counts as one, as does an operation on one sample.
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
    from boolcomp.engines.words import SingleStates

A_NODE = {512: 2.4, 256: 4.0, 64: 4.0}  # operations, with spills
A_PLANE = {512: 7.0, 256: 12.0, 64: 12.0}  # operations on a block, to transpose it


class AutoEngine:
    """Evaluates a wiring by words or by bit-planes, with the same results."""

    name = "auto"

    def __init__(self, wiring: Wiring, threads: int = 1) -> None:
        self.wiring = wiring
        self.threads = threads
        self.words = WordEngine(wiring, threads)

    @cached_property
    def native(self) -> NativeEngine:
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
        """Tell whether words are estimated to be faster for a number of samples."""
        width = self.words.machine.width
        blocks = -(-samples // width) * self.block_cost
        if samples * self.words.costs[0] < blocks:
            return True
        groups, rest = divmod(samples, GROUP)
        return groups * self.words.costs[1] + rest * self.words.costs[0] < blocks

    def run(self, batch: Batch) -> Evaluation:
        return (self.words if self.takes_words(batch.samples) else self.native).run(batch)

    @cached_property
    def state(self) -> SingleStates:
        return self.words.state

    def run_codes(
        self, columns: Sequence[NDArray[Any]], out: Sequence[NDArray[Any]] | None = None
    ) -> Codes:
        return self.native.run_codes(columns, out)

    def to_planes(self, columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
        return self.native.to_planes(columns)

    def run_planes(self, planes: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        return self.native.run_planes(planes, out)

    def from_planes(self, planes: NDArray[Any], samples: int) -> Codes:
        return self.native.from_planes(planes, samples)
