"""A network with names: what is read from files of others, and written for other tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.logic.network import Network

MOST_BYTES = 1 << 26  # of a file that is read
MOST_SIGNALS = 1 << 22  # inputs, gates, outputs


@dataclass(frozen=True, slots=True)
class Netlist:
    """A network, what it is called, and the names of its inputs and outputs, each its own."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    network: Network

    def __post_init__(self) -> None:
        sizes = (self.network.inputs, len(self.network.outputs))
        if (len(self.inputs), len(self.outputs)) != sizes:
            raise ValueError("names do not fit their network")
