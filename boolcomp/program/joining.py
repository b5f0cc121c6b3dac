"""From the torques of a program to the wiring that an engine runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from boolcomp.engines.wiring import Call, Port, Result, Wiring
from boolcomp.logic.network import Builder, copied
from boolcomp.logic.sums import Addend, Sum, sum_network
from boolcomp.program.parts import ARRAYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.program.parts import Input, Load, Slice, Torque, Whole


def wire(inputs: Sequence[Input], networks: Sequence[Network], load: Load) -> Wiring:
    """Join a program's networks to make the torques of a load."""
    ports = []
    planes = 0
    for word in inputs:
        ports.append(Port(ARRAYS.index(word.kind), word.joint - 1, word.code, planes))
        planes += word.code.bits
    if load.whole is not None:
        return _wire_whole(ports, planes, networks[load.whole.network], load.torques, load.whole)
    return _wire_terms(ports, planes, networks, load.torques)


def _wire_whole(
    ports: Sequence[Port], planes: int, network: Network, torques: Sequence[Torque], whole: Whole
) -> Wiring:
    """Call the one network that makes all torques."""
    call = Call(0, tuple(_slice_planes(ports, whole.words)), planes)
    results = []
    for torque in torques:
        results.append(Result(torque.code, planes, planes + torque.code.bits))
        planes += torque.code.bits + 1
    return Wiring(len(torques), tuple(ports), (network,), (call,), tuple(results), planes)


def _wire_terms(
    ports: Sequence[Port], planes: int, tables: Sequence[Network], torques: Sequence[Torque]
) -> Wiring:
    """Join the networks of tables and sums; what several terms need is computed once."""
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


def joined(wiring: Wiring) -> Network:
    """Return a wiring as one network: the input words' planes in, and all torques' planes out.

    The outputs are, for every joint, the bits of the torque's cell, most significant first, and
    whether it saturated.
    """
    inputs = sum(port.code.bits for port in wiring.ports)
    builder = Builder(inputs)
    planes = [builder.input(k) for k in range(inputs)]
    for call in wiring.calls:
        reads = [planes[k] for k in call.inputs]
        planes += copied(wiring.networks[call.network], builder, reads)
    return builder.build(
        planes[k]
        for result in wiring.results
        for k in (*range(result.first, result.first + result.code.bits), result.saturated)
    )


@cache
def _sum_network(total: Sum) -> Network:
    return sum_network(total)


def _slice_planes(ports: Sequence[Port], words: tuple[Slice, ...]) -> Iterable[int]:
    for word in words:
        first = ports[word.input].first
        yield from range(first + word.dropped, first + word.bits)
