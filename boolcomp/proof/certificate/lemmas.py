"""Writes the section `lemmas`: why the final network is the first one (see `checker.lemmas`).

Signals that agree on random words are compared with the first of them; if they are equal they take
its place, so that what follows is short.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from boolcomp.checker.container import Section
from boolcomp.checker.first import FirstNetwork
from boolcomp.checker.lemmas import add_final, shown_literal
from boolcomp.common.errors import DataError
from boolcomp.proof.certificate import first
from boolcomp.proof.certificate.refuting import refutation
from boolcomp.proof.certificate.windows import Windows
from boolcomp.words.graph import Lookup

if TYPE_CHECKING:
    from boolcomp.proof.certificate.known import Known

WORDS, SEED = 1 << 13, 1988


def section(known: Known) -> str:
    """Return the lemmas; a `DataError` where a proof was not found."""
    said = Section(tuple(first.section(known).splitlines()), 0)
    made = FirstNetwork(known.graph, said)
    outputs = add_final(made.nodes, known.final)
    work = _Sweep(made)
    lines = [line for signal in range(len(made.nodes.tables)) if (line := work.lemma(signal))]
    for place, (one, wanted) in enumerate(zip(outputs, made.outputs, strict=True)):
        if made.nodes.known(one) != made.nodes.known(wanted):
            raise DataError(f"no proof was found that output {place} of the network is the graph's")
    return "".join(lines)


class _Sweep:
    """Proves one signal after the other."""

    def __init__(self, made: FirstNetwork) -> None:
        self.nodes = made.nodes
        sources = {node.source for node in made.graph.nodes if isinstance(node, Lookup)}
        barriers = {bit >> 1 for place in sources for bit in made.words[place]}
        self.windows = Windows(made.nodes, barriers)
        self.ones = (1 << WORDS) - 1
        noise = random.Random(SEED)  # noqa: S311 (the same bytes at any time)
        cut = {k: noise.getrandbits(WORDS) for k in range(1, made.nodes.inputs + 1)}
        everything = [2 * k for k in range(len(made.nodes.tables))]
        self.planes = made.nodes.values(everything, cut, self.ones)
        self.classes: dict[int, int] = {}  # a plane that begins with 0: the first literal of it

    def lemma(self, signal: int) -> str:
        """Return the line of a signal, if there is an earlier one that it is proved to be."""
        plane = self.planes[signal]
        inverse = plane & 1
        key = plane ^ self.ones if inverse else plane
        if signal > self.nodes.inputs:
            self.windows.enter(signal)
        other = self.classes.setdefault(key, 2 * signal ^ inverse)
        if other >> 1 == signal:
            return ""
        x, y = 2 * signal, self.nodes.known(other ^ inverse)
        found = self.windows.cut(x, y)
        text = None if found is None else f"over{''.join(f' {one}' for one in found)}"
        text = text or refutation(self.nodes, self.windows.levels, x, y)
        if text is None:
            return ""
        self.nodes.equal[signal] = y
        return f"{signal} = {shown_literal(y)} {text}\n"
