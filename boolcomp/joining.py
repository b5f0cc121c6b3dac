"""From the torques of a program to the wiring that an engine runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from boolcomp.parts import ARRAYS
from boolcomp.sums import Addend, Sum, sum_network
from boolcomp.wiring import Call, Port, Result, Wiring

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.network import Network
    from boolcomp.parts import Input, Slice, Torque


def wire(inputs: Sequence[Input], tables: Sequence[Network], torques: Sequence[Torque]) -> Wiring:
    """Join the networks of tables and sums; what several terms need is computed once."""
    ports = []
    planes = 0
    for word in inputs:
        ports.append(Port(ARRAYS.index(word.kind), word.joint - 1, word.code, planes))
        planes += word.code.bits
    places: dict[Network, int] = {}
    calls: list[Call] = []
    results: list[Result] = []
    made: dict[tuple[int, tuple[int, ...]], int] = {}

    def call(network: Network, reads: tuple[int, ...]) -> int:
        nonlocal planes
        place = places.setdefault(network, len(places))
        if (place, reads) not in made:
            calls.append(Call(place, reads, planes))
            made[place, reads] = planes
            planes += len(network.outputs)
        return made[place, reads]

    for torque in torques:
        counts: dict[int, Addend] = {}
        for term in torque.terms:
            reads = tuple(_slice_planes(ports, term.words))
            first = call(tables[term.network], reads)
            times = counts[first].times + 1 if first in counts else 1
            counts[first] = Addend(term.code.bits, term.code.kind, times)
        total = Sum(tuple(counts.values()), torque.code.bits, torque.guard_bits)
        words = [range(first, first + addend.bits) for first, addend in counts.items()]
        first = call(_sum_network(total), tuple(k for word in words for k in word))
        results.append(Result(torque.code, first, first + torque.code.bits))
    return Wiring(len(torques), tuple(ports), tuple(places), tuple(calls), tuple(results), planes)


@cache
def _sum_network(total: Sum) -> Network:
    return sum_network(total)


def _slice_planes(ports: list[Port], words: tuple[Slice, ...]) -> Iterable[int]:
    for word in words:
        first = ports[word.input].first
        yield from range(first + word.dropped, first + word.bits)
