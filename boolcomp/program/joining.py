"""From the outputs of a program to the wiring that an engine runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from boolcomp.engines.engine import Call, Cut, Port, Result, Wiring, WordLogic
from boolcomp.logic.adders import (
    Addend,
    Sum,
    cells_of,
    coder,
    rest_network,
    resting_network,
    said,
    sum_network,
    word_of,
)
from boolcomp.logic.network import Builder, copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Group
    from boolcomp.problem.words import CodeKind
    from boolcomp.program.program import CodedInput, CodedOutput, JointNetwork, Load, Slice

PLAIN: tuple[CodeKind, ...] = ("gray", "natural")  # codes that engines make and read themselves


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
    plain = ("natural",) if load.joint else PLAIN
    ports: list[Port] = []
    planes = 0
    for word in inputs:
        code, kind = _planes_code(word.code, plain)
        ports.append(Port(*columns[word.name], code, planes, kind))
        planes += code.bits
    maker = _Wirer(ports, planes)
    if load.joint is None:
        results = maker.terms(networks, load.outputs)
    else:
        results = maker.joint(inputs, networks[load.joint.network], load, load.joint)
    return Wiring(
        groups, tuple(ports), tuple(maker.places), tuple(maker.calls), tuple(results), maker.planes,
        logic=_word_logic(inputs, load),
    )  # fmt: skip


def _word_logic(inputs: Sequence[CodedInput], load: Load) -> WordLogic | None:
    """Return the word graph of a load as engines run it."""
    if load.graph is None or load.joint is None:
        return None
    cuts = (Cut(w.input, inputs[w.input].code.bits - w.bits) for w in load.joint.words)
    places = {word.name: place for place, word in enumerate(inputs)}
    rests = (
        None if one.rest is None else tuple(places[name] for name in one.rest if name in places)
        for one in load.outputs
    )
    return WordLogic(load.graph, tuple(cuts), tuple(rests))


def _planes_code(code: Code, plain: Sequence[CodeKind]) -> tuple[Code, CodeKind | None]:
    """Return the code of a word's planes, and that of the word where it is another."""
    if code.kind in plain:
        return code, None
    return replace(code, kind="natural"), code.kind


class _Wirer:
    """Makes calls one after the other; the same call is made once."""

    def __init__(self, ports: Sequence[Port], planes: int) -> None:
        self.ports, self.planes = ports, planes
        self.places: dict[Network, int] = {}
        self.calls: list[Call] = []
        self.made: dict[tuple[int, tuple[int, ...]], int] = {}

    def call(
        self,
        network: Network,
        reads: tuple[int, ...],
        port: int | None = None,
        total: Sum | None = None,
    ) -> int:
        """Return the first plane of what a network makes of planes."""
        place = self.places.setdefault(network, len(self.places))
        if (place, reads) not in self.made:
            self.calls.append(Call(place, reads, self.planes, port, total))
            self.made[place, reads] = self.planes
            self.planes += len(network.outputs)
        return self.made[place, reads]

    def joint(
        self,
        inputs: Sequence[CodedInput],
        network: Network,
        load: Load,
        joint: JointNetwork,
    ) -> list[Result]:
        """Call the one network that makes all outputs; it reads and makes cells."""
        firsts = [port.first for port in self.ports]
        for k, port in enumerate(self.ports):
            if port.given.first:  # cells that no word says are not read
                firsts[k] = self.call(said_by(port.given), _planes_of(port), k)
        first = self.call(network, tuple(_slice_planes(firsts, joint.words)))
        names = [word.name for word in inputs]
        results = []
        for output in load.outputs:
            code, kind = _planes_code(output.code, ("natural",))
            made = range(first, first + code.bits + 1)
            first = made.stop
            if output.rest is not None:
                reads = [names.index(name) for name in output.rest]
                words = tuple((inputs[k].code.bits, inputs[k].code.tread) for k in reads)
                cells = (
                    plane
                    for k in reads
                    for plane in range(firsts[k], firsts[k] + inputs[k].code.bits)
                )
                rest = self.call(rest_network(words), tuple(cells))
                gated = self.call(resting_network(code.bits), (rest, *made))
                made = range(gated, gated + code.bits + 1)
            results.append(Result(output.name, code, made.start, made.stop - 1, kind))
        return results

    def terms(self, tables: Sequence[Network], outputs: Sequence[CodedOutput]) -> list[Result]:
        """Join the networks of tables and sums; what several terms need is computed once."""
        firsts = [
            self.call(coder_of(port.given), _planes_of(port), k) if port.kind else port.first
            for k, port in enumerate(self.ports)
        ]
        results = []
        for output in outputs:
            counts: dict[int, Addend] = {}
            for term in output.terms:
                reads = tuple(_slice_planes(firsts, term.words))
                first = self.call(tables[term.network], reads)
                times = counts[first].times + 1 if first in counts else 1
                counts[first] = Addend(term.code.bits, term.code.kind, times)
            total = Sum(tuple(counts.values()), output.code.bits, output.guard_bits)
            words = [range(first, first + addend.bits) for first, addend in counts.items()]
            reads = tuple(k for word in words for k in word)
            first = self.call(_sum_network(total), reads, total=total)
            code, kind = _planes_code(output.code, PLAIN)
            results.append(Result(output.name, code, first, first + code.bits, kind))
        return results


def _planes_of(port: Port) -> tuple[int, ...]:
    return tuple(range(port.first, port.first + port.code.bits))


def coder_of(code: Code) -> Network:
    """Return the network that makes words of a code of its cells."""
    return coder(code.kind, code.bits, tread=code.tread)


def said_by(code: Code) -> Network:
    """Return the network that puts cells where words of a code can say them."""
    return said(code.kind, code.bits, tread=code.tread)


def joined(wiring: Wiring) -> Network:
    """Return a wiring as one network: the input words' planes in, and all outputs' planes out.

    Words come and go in their codes. The outputs are, for every result, the bits of its word, most
    significant first (where it is Gray of paper mode, of its cell), and whether it saturated.
    """
    builder = Builder(sum(port.code.bits for port in wiring.ports))
    given = [
        [builder.input(port.first + k) for k in range(port.code.bits)] for port in wiring.ports
    ]
    planes: list[int] = []
    for port, word in zip(wiring.ports, given, strict=True):
        plain = port.kind is None
        planes += word if plain else _cells(builder, word, port.given)
    for call in wiring.calls:
        reads = [planes[k] for k in call.inputs]
        if call.port is None:
            planes += copied(wiring.networks[call.network], builder, reads)
        elif wiring.networks[call.network] == coder_of(wiring.ports[call.port].given):
            planes += given[call.port]
        else:  # these are words' cells
            planes += reads
    outputs: list[int] = []
    for result in wiring.results:
        cells = planes[result.first : result.first + result.code.bits]
        if result.kind is not None:
            cells = word_of(builder, cells, result.kind, tread=result.code.tread)
        outputs += [*cells, planes[result.saturated]]
    return builder.build(outputs)


def _cells(builder: Builder, word: Sequence[int], code: Code) -> list[int]:
    return cells_of(builder, word, code.kind, tread=code.tread)


@cache
def _sum_network(total: Sum) -> Network:
    return sum_network(total)


def _slice_planes(firsts: Sequence[int], words: tuple[Slice, ...]) -> Iterable[int]:
    for word in words:
        first = firsts[word.input]
        yield from range(first + word.dropped, first + word.bits)
