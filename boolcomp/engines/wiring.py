"""How networks are joined to make all outputs: numbered planes, and calls that read and write them.

A plane is one bit of every sample. Input words come first, then the outputs of every call in
order. The engines run a wiring and know nothing of problems or terms: names are for messages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.codes import Code
    from boolcomp.logic.adders import Sum
    from boolcomp.logic.network import Network
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.problem import Group
    from boolcomp.problem.words import CodeKind
    from boolcomp.words.graph import WordGraph


@dataclass(frozen=True, slots=True)
class Port:
    """An input word: its code, and the array (of a group) and column that it is made from.

    Its planes are `first` and following, most significant bit first. `kind` is the code in which
    words come, where that is not the planes'.
    """

    array: int
    column: int
    code: Code
    first: int
    kind: CodeKind | None = None

    @property
    def given(self) -> Code:
        """The code in which words come."""
        return self.code if self.kind is None else replace(self.code, kind=self.kind)


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a network: the planes of its inputs, and the first of its outputs' planes.

    Of one that only puts a port's cells in the code of its words, `port` says which; of one that
    only adds words, `total` says how.
    """

    network: int
    inputs: tuple[int, ...]
    first: int
    port: int | None = None
    total: Sum | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """An output: its code, where its cell index begins, and the plane that marks saturated samples.

    The planes of the cell index are natural binary, most significant bit first. `kind` is the code
    of words, where it is not that of `code`.
    """

    name: str
    code: Code
    first: int
    saturated: int
    kind: CodeKind | None = None

    @property
    def given(self) -> Code:
        """The code of words."""
        return self.code if self.kind is None else replace(self.code, kind=self.kind)


@dataclass(frozen=True, slots=True)
class Stop:
    """Where an input may be, if its word can say more, or if it is a single value."""

    name: str
    range: Interval

    def __str__(self) -> str:
        return f"{self.name} within {self.range}"


@dataclass(frozen=True, slots=True)
class Cut:
    """Which bits of a port's cell a graph's input word is: those above the lowest `drop`."""

    port: int
    drop: int


@dataclass(frozen=True, slots=True)
class WordLogic:
    """A word graph that gives the results of a wiring, too.

    There is a cut for every input word. `rests` are, for every result, the ports at whose zeros it
    is zero; None where it need not be.
    """

    graph: WordGraph
    cuts: tuple[Cut, ...]
    rests: tuple[tuple[int, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Wiring:
    """Everything an engine needs: ports in, networks and their calls in order, results out.

    Samples come as an array for each of the `groups`. `stops` say where inputs may be; what lies
    beyond is counted. `places` is what inputs belong to, for messages. `logic` makes the same of
    words, where that is known.
    """

    groups: tuple[Group, ...]
    ports: tuple[Port, ...]
    networks: tuple[Network, ...]
    calls: tuple[Call, ...]
    results: tuple[Result, ...]
    planes: int
    stops: tuple[Stop, ...] = ()
    places: str = "inputs"
    logic: WordLogic | None = None

    def __post_init__(self) -> None:
        self.check()

    @property
    def widths(self) -> tuple[int, ...]:
        """How many columns the arrays have."""
        return tuple(group.size for group in self.groups)

    def name(self, port: Port) -> str:
        """Return the name of the input that a port reads: `qd2`."""
        return self.groups[port.array].members[port.column]

    def check(self) -> None:
        """Raise a `ValueError` where a call reads a plane that is not yet written."""
        written, widths = 0, self.widths
        for port in self.ports:
            if port.first != written or not 0 <= port.array < len(widths):
                raise ValueError("the ports' planes do not follow each other")
            if not 0 <= port.column < widths[port.array]:
                raise ValueError("a port reads a column that no array has")
            written += port.code.bits
        for call in self.calls:
            network = self.networks[call.network]
            if len(call.inputs) != network.inputs or call.first != written:
                raise ValueError("a call does not fit its network, or its planes")
            if not all(0 <= plane < written for plane in call.inputs):
                raise ValueError("a call reads planes that are not written yet")
            written += len(network.outputs)
        if written != self.planes:
            raise ValueError("the number of planes is wrong")

    def __str__(self) -> str:
        arrays = ", ".join(f"{group.name} of {group.size}" for group in self.groups)
        lines = [f"wiring of {arrays}: {self.planes} planes"]
        lines += [f"p{port.first} = {self.name(port)} {port.given}" for port in self.ports]
        lines += [
            f"p{call.first} = network {call.network}({', '.join(f'p{k}' for k in call.inputs)})"
            for call in self.calls
        ]
        lines += [
            f"{result.name} = p{result.first} {result.given}, saturated p{result.saturated}"
            for result in self.results
        ]
        lines += [str(one) for one in self.stops]
        return "\n".join(lines)
