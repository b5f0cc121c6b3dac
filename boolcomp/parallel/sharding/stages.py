"""A part of a wiring that one process runs: what it reads, what it is handed, what it hands on.

Planes are numbered as in a `Wiring`: first those of the input words it codes from the samples,
then those handed to it by other stages (its feeders, in order), then the outputs of its calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.codes import Code
from boolcomp.engines.wiring import Call, Port, Result, Wiring
from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group

_BIT = Code(Interval(-1.0, 1.0), 1, "natural")


@dataclass(frozen=True, slots=True)
class Feed:
    """What a stage is handed: the stage that sends it, and the number of planes."""

    stage: int
    planes: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Planes in, calls, planes out; only the last stage makes results.

    Exactly one of a program's stages is `counting`: it codes all input words, and its count of
    saturated inputs is the program's.
    """

    groups: tuple[Group, ...]
    ports: tuple[Port, ...]
    counting: bool
    feeds: tuple[Feed, ...]
    networks: tuple[Network, ...]
    calls: tuple[Call, ...]
    sent: tuple[int, ...]
    results: tuple[Result, ...]
    planes: int

    def __post_init__(self) -> None:
        self.check()

    def check(self) -> None:
        """Raise a `ValueError` where the planes do not fit together."""
        if self.results and self.sent:
            raise ValueError("a stage hands on planes or makes outputs, not both")
        if any(not 0 <= plane < self.planes for plane in self.sent):
            raise ValueError("a stage hands on planes that it does not have")
        self.wiring()

    @property
    def coded(self) -> int:
        """The number of planes that it codes from the samples."""
        return sum(port.code.bits for port in self.ports)

    @property
    def handed(self) -> int:
        """The number of planes that it is handed."""
        return sum(feed.planes for feed in self.feeds)

    @property
    def nodes(self) -> int:
        """The number of nodes that it evaluates for one sample."""
        return sum(len(self.networks[call.network].nodes) for call in self.calls)

    def wiring(self) -> Wiring:
        """Return it as a wiring, which is what engines know.

        There is a port of one bit for each plane handed to it and, for lack of outputs, a result of
        one bit for each plane that it hands on.
        """
        first = self.coded
        ports = [Port(0, 0, _BIT, first + k) for k in range(self.handed)]
        results = self.results or tuple(Result("", _BIT, plane, plane) for plane in self.sent)
        return Wiring(
            self.groups, (*self.ports, *ports), self.networks, self.calls, results, self.planes
        )

    def __str__(self) -> str:
        return (
            f"stage: {len(self.ports)} words coded, {self.handed} planes handed to it, "
            f"{self.nodes} nodes, {len(self.sent)} planes handed on, {len(self.results)} outputs"
        )


def whole_stage(wiring: Wiring) -> Stage:
    """Return the stage that does all of a wiring."""
    return Stage(
        groups=wiring.groups,
        ports=wiring.ports,
        counting=True,
        feeds=(),
        networks=wiring.networks,
        calls=wiring.calls,
        sent=(),
        results=wiring.results,
        planes=wiring.planes,
    )


class StageBuilder:
    """Puts a stage together; knows its planes by those of the whole wiring."""

    def __init__(self, whole: Wiring, ports: Iterable[Port], feeds: Iterable[Feed] = ()) -> None:
        self._whole = whole
        self.place: dict[int, int] = {}  # plane of the whole: plane of this stage
        self._ports: list[Port] = []
        self._planes = 0
        for port in ports:
            self._ports.append(replace(port, first=self._planes))
            for k in range(port.code.bits):
                self.place[port.first + k] = self._planes + k
            self._planes += port.code.bits
        self._feeds = tuple(feeds)
        self.handed: list[tuple[int, ...]] = []  # the planes of every feed
        for feed in self._feeds:
            self.handed.append(self._next(feed.planes))
        self._networks: dict[Network, int] = {}
        self._calls: list[Call] = []

    def _next(self, count: int) -> tuple[int, ...]:
        first = self._planes
        self._planes += count
        return tuple(range(first, self._planes))

    def call(self, network: Network, inputs: Iterable[int]) -> tuple[int, ...]:
        """Add a call on this stage's planes; return the planes of its outputs."""
        place = self._networks.setdefault(network, len(self._networks))
        self._calls.append(Call(place, tuple(inputs), self._planes))
        return self._next(len(network.outputs))

    def build(self, sent: Iterable[int] = (), results: Iterable[Result] = ()) -> Stage:
        """Return the stage (not counting: that is for the caller to say)."""
        return Stage(
            groups=self._whole.groups,
            ports=tuple(self._ports),
            counting=False,
            feeds=self._feeds,
            networks=tuple(self._networks),
            calls=tuple(self._calls),
            sent=tuple(sent),
            results=tuple(results),
            planes=self._planes,
        )
