"""Writes the section `lemmas`: why the final network is the first one (see `checker.lemmas`).

Signals that agree on random words are compared with the first of them; if they are equal they take
its place, so that what follows is short.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.checker.container import Section
from boolcomp.checker.lemmas import add_final, shown_literal
from boolcomp.checker.network import FirstNetwork
from boolcomp.common.errors import DataError
from boolcomp.proof.certificate import first
from boolcomp.proof.certificate.refuting import Refutation, refutation
from boolcomp.proof.certificate.windows import Windows
from boolcomp.words.graph import Lookup

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known

WORDS, SEED = 1 << 13, 1988
NEIGHBOURS = 256  # words beside a counterexample that are tried with it


def lemmas_section(known: Known) -> str:
    """Return the lemmas; a `DataError` where a proof was not found."""
    said = Section(tuple(first.first_section(known).splitlines()), 0)
    made = FirstNetwork(known.graph, said, known.built.cones)
    outputs = add_final(made.nodes, known.final)
    work = _Sweep(made)
    for signal in range(len(made.nodes.tables)):
        work.prove(signal)
    for place, (one, wanted) in enumerate(zip(outputs, made.outputs, strict=True)):
        if made.nodes.known(one) != made.nodes.known(wanted):
            raise DataError(f"no proof was found that output {place} of the network is the graph's")
    ends = {one >> 1 for one in (*outputs, *made.outputs)}
    return "".join(work.lemmas[signal].line for signal in work.needed(ends))


@dataclass(frozen=True, slots=True)
class _Lemma:
    """A lemma's line, and the earlier ones that it rests on."""

    line: str
    needs: frozenset[int]


class _Sweep:
    """Proves one signal after the other."""

    def __init__(self, made: FirstNetwork) -> None:
        self.nodes = made.nodes
        sources = {node.source for node in made.graph.nodes if isinstance(node, Lookup)}
        barriers = {bit >> 1 for place in sources for bit in made.words[place]}
        self.windows = Windows(made.nodes, barriers)
        self.noise = random.Random(SEED)  # noqa: S311 (the same bytes at any time)
        self.width = 0
        self.planes = [0] * len(made.nodes.tables)
        self.first: list[int] = []  # of a class: no earlier signal is it, or was proved to be
        self.lemmas: dict[int, _Lemma] = {}
        self.classes: dict[int, int] = {}  # a plane that begins with 0: the first literal of it
        self._simulate([self.noise.getrandbits(WORDS) for _ in range(made.nodes.inputs)], WORDS)

    def prove(self, signal: int) -> None:
        """Look for an earlier signal that this one can be proved to be."""
        if signal > self.nodes.inputs:
            self.windows.enter(signal)
        while True:
            key, inverse = self._key(signal)
            other = self.classes.setdefault(key, 2 * signal ^ inverse)
            if other >> 1 == signal:
                self.first.append(signal)
                return
            x, y = 2 * signal, self.nodes.known(other ^ inverse)
            found = self.windows.cut(x, y)
            if found is not None:
                self._note(x, y, "over", found)
                return
            said = refutation(self.nodes, self.windows.levels, x, y)
            if isinstance(said, Refutation):
                self._note(x, y, "by", said.cut, f": {said.text}")
            if not isinstance(said, list):
                return
            self._tell_apart(said)

    def needed(self, wanted: set[int]) -> list[int]:
        """Return of which signals lemmas are needed, so that some are what they are known to be."""
        found, waiting = set(), [signal for signal in wanted if signal in self.lemmas]
        while waiting:
            signal = waiting.pop()
            if signal not in found:
                found.add(signal)
                waiting += self.lemmas[signal].needs
        return sorted(found)

    def _note(self, x: int, y: int, how: str, cut: list[int], proof: str = "") -> None:
        line = f"{x >> 1} = {shown_literal(y)} {how}{''.join(f' {k}' for k in cut)}{proof}\n"
        needs, seen, waiting = set(), set(cut), [x >> 1, y >> 1]
        while waiting:
            signal = waiting.pop()
            if signal not in seen:
                seen.add(signal)
                for below in (one >> 1 for one in self.nodes.operands[signal]):
                    needs |= {below} & self.lemmas.keys()
                    waiting.append(self.nodes.known(2 * below) >> 1)
        self.lemmas[x >> 1] = _Lemma(line, frozenset(needs))
        self.nodes.equal[x >> 1] = y

    def _key(self, signal: int) -> tuple[int, int]:
        plane = self.planes[signal]
        inverse = plane & 1
        return (plane ^ ((1 << self.width) - 1) if inverse else plane), inverse

    def _tell_apart(self, model: list[int]) -> None:
        """Try the inputs of a counterexample and some beside it on all signals."""
        ones, known = (1 << NEIGHBOURS) - 1, {abs(one): one > 0 for one in model}
        planes = []
        for k in range(1, self.nodes.inputs + 1):
            flips = self.noise.getrandbits(NEIGHBOURS) & self.noise.getrandbits(NEIGHBOURS) & ~1
            bit = known.get(k)
            planes.append(self.noise.getrandbits(NEIGHBOURS) if bit is None else ones * bit ^ flips)
        self._simulate(planes, NEIGHBOURS)
        self.classes = {}
        for signal in self.first:
            key, inverse = self._key(signal)
            self.classes.setdefault(key, 2 * signal ^ inverse)

    def _simulate(self, planes: list[int], width: int) -> None:
        cut = dict(enumerate(planes, 1))
        everything = [2 * k for k in range(len(self.nodes.tables))]
        found = self.nodes.values(everything, cut, (1 << width) - 1)
        self.planes = [a | b << self.width for a, b in zip(self.planes, found, strict=True)]
        self.width += width
