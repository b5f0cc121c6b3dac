"""How networks are joined to make all torques: numbered planes, and calls that read and write them.

A plane is one bit of every sample. Input words come first, then the outputs of every call in
order. The engines run a wiring and know nothing of robots or terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.problem.robot import Stops


@dataclass(frozen=True, slots=True)
class Port:
    """An input word: its code, and the column of q, qd or qdd (`array` 0, 1, 2) it is made from.

    Its planes are `first` and following, most significant bit first.
    """

    array: int
    column: int
    code: Code
    first: int


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a network: the planes of its inputs, and the first of its outputs' planes."""

    network: int
    inputs: tuple[int, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Result:
    """A torque: its code, where its cell index begins, and the plane that marks saturated samples.

    The planes of the cell index are natural binary, most significant bit first.
    """

    code: Code
    first: int
    saturated: int


@dataclass(frozen=True, slots=True)
class Wiring:
    """Everything an engine needs: ports in, networks and their calls in order, results out.

    `stops` say where inputs may be; what lies beyond is counted.
    """

    joints: int
    ports: tuple[Port, ...]
    networks: tuple[Network, ...]
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    planes: int
    stops: tuple[Stops, ...] = ()

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise a `ValueError` where a call reads a plane that is not yet written."""
        written = 0
        for port in self.ports:
            if port.first != written or not 0 <= port.array < 3:
                raise ValueError("the ports' planes do not follow each other")
            written += port.code.bits
        for call in self.calls:
            network = self.networks[call.network]
            if len(call.inputs) != network.inputs or call.first != written:
                raise ValueError("a call does not fit its network, or its planes")
            if not all(0 <= plane < written for plane in call.inputs):
                raise ValueError("a call reads planes that are not written yet")
            written += len(network.outputs)
        if written != self.planes or len(self.results) != self.joints:
            raise ValueError("the number of planes or results is wrong")

    def __str__(self) -> str:
        lines = [f"wiring {self.joints} joints {self.planes} planes"]
        lines += [
            f"p{port.first} = {('q', 'qd', 'qdd')[port.array]}{port.column + 1} {port.code}"
            for port in self.ports
        ]
        lines += [
            f"p{call.first} = network {call.network}({', '.join(f'p{k}' for k in call.inputs)})"
            for call in self.calls
        ]
        lines += [
            f"tau{k} = p{result.first} {result.code}, saturated p{result.saturated}"
            for k, result in enumerate(self.results, 1)
        ]
        lines += [str(one) for one in self.stops]
        return "\n".join(lines)
