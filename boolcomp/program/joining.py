"""From the outputs of a program to the wiring that an engine runs."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from boolcomp.engines.wiring import Call, Port, Result, Wiring
from boolcomp.logic.network import Builder, copied
from boolcomp.logic.sums import Addend, Sum, sum_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group
    from boolcomp.program.parts import CodedInput, CodedOutput, JointNetwork, Load, Slice


def wire(
    groups: tuple[Group, ...],
    inputs: Sequence[CodedInput],
    networks: Sequence[Network],
    load: Load,
) -> Wiring:
    """Join a program's networks to make the outputs of a load."""
    columns = {
        name: (array, column)
        for array, group in enumerate(groups)
        for column, name in enumerate(group.members)
    }
    ports: list[Port] = []
    planes = 0
    for word in inputs:
        ports.append(Port(*columns[word.name], word.code, planes))
        planes += word.code.bits
    if load.joint is None:
        return _wire_terms(groups, ports, planes, networks, load.outputs)
    return _wire_joint(groups, ports, planes, networks[load.joint.network], load, load.joint)


def _wire_joint(
    groups: tuple[Group, ...],
    ports: Sequence[Port],
    planes: int,
    network: Network,
    load: Load,
    joint: JointNetwork,
) -> Wiring:
    """Call the one network that makes all outputs."""
    call = Call(0, tuple(_slice_planes(ports, joint.words)), planes)
    results = []
    for output in load.outputs:
        results.append(Result(output.name, output.code, planes, planes + output.code.bits))
        planes += output.code.bits + 1
    return Wiring(groups, tuple(ports), (network,), (call,), tuple(results), planes)


def _wire_terms(
    groups: tuple[Group, ...],
    ports: Sequence[Port],
    planes: int,
    tables: Sequence[Network],
    outputs: Sequence[CodedOutput],
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

    for output in outputs:
        counts: dict[int, Addend] = {}
        for term in output.terms:
            reads = tuple(_slice_planes(ports, term.words))
            first = call(tables[term.network], reads)
            times = counts[first].times + 1 if first in counts else 1
            counts[first] = Addend(term.code.bits, term.code.kind, times)
        total = Sum(tuple(counts.values()), output.code.bits, output.guard_bits)
        words = [range(first, first + addend.bits) for first, addend in counts.items()]
        first = call(_sum_network(total), tuple(k for word in words for k in word))
        results.append(Result(output.name, output.code, first, first + output.code.bits))
    return Wiring(groups, tuple(ports), tuple(places), tuple(calls), tuple(results), planes)


def joined(wiring: Wiring) -> Network:
    """Return a wiring as one network: the input words' planes in, and all outputs' planes out.

    The outputs are, for every result, the bits of its cell, most significant first, and whether it
    saturated.
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
