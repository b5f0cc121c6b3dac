"""A group of several functions at all states of its linear inputs, in one cell at one corner."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.flat import needed, said_by
from boolcomp.proof.bound.groups import doubled_ends
from boolcomp.words.simulate import node_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.proof.bound.expansion import Powers
    from boolcomp.proof.bound.groups import Grouping
    from boolcomp.proof.bound.joint import Joint
    from boolcomp.proof.bound.sweep import Sweep

    Words = NDArray[np.int64]

LARGEST_KEPT = 1 << 24  # of monomials at all states and corners, which are kept


class States:
    """What addends put into the heap, and what they stand for: Σ c·monomial of twice the inputs."""

    def __init__(self, grouping: Grouping, joint: Joint, whole: Sweep) -> None:
        self.addends, self.whole, self.graph = joint.taken, whole, grouping.graph
        poly, addends = joint.poly(), joint.taken
        names = sorted(frozenset[int]().union(*(one.linear for one in addends)))
        lines = [grouping.cells(name) for name in names]
        self.count = math.prod(len(words) for _, words in lines)
        self.size = self.count * len(poly) << len(names)
        if self.size > LARGEST_KEPT:
            raise NotPlainError
        axes = np.meshgrid(*(words for _, words in lines), indexing="ij")
        columns = [axis.reshape(-1) for axis in axes]
        ends = [doubled_ends(line, w) for (line, _), w in zip(lines, columns, strict=True)]
        meanings = grouping.forward.explained.meanings
        read = [getattr(meanings[name], "word", None) for name in names]
        self.inputs = {k: w for k, w in zip(read, columns, strict=True) if k is not None}
        nodes = needed(self.graph, [atom.part for one in addends for atom in one.atoms])
        self.turning = [k for k in nodes if grouping.turning[k]]
        self.nodes = [k for k in nodes if not grouping.turning[k]]
        self.waves = [
            whole.waves(series, Fraction(1, 1 << sum(often for _, often in powers)))
            for powers, series in poly.items()
        ]
        self.corners = [
            [_monomial(powers, dict(zip(names, at, strict=True))) for powers in poly]
            for at in itertools.product(*ends)
        ]
        self.tiny = sum(
            (2 * len(waves) + 1) * int(max(np.abs(at[k]).max() for at in self.corners))
            for k, waves in enumerate(self.waves)
        )

    def said(self, values: Sequence[Words]) -> Words:
        """Return what is put into the heap at all states, for the words of one cell."""
        found = [np.zeros(0, np.int64)] * len(self.graph.nodes)
        found[0] = np.zeros(self.count, np.int64)
        for k in self.turning:
            found[k] = np.full(self.count, values[k][0])
        for k in self.nodes:
            found[k] = self.inputs[k] if k in self.inputs else node_word(self.graph, k, found)[0]
        return said_by(self.graph, self.addends, found, self.whole.scale)

    def errors(
        self, said: Words, block: Sequence[Words], corner: Sequence[int], sign: int
    ) -> Words:
        """Return the largest errors in one direction at all states, at a corner of the angles."""
        factors = [int(self.whole.exact(waves, block, corner)[0]) for waves in self.waves]
        worst = None
        for at in self.corners:
            exact = sum((c * x for c, x in zip(factors, at, strict=True)), np.zeros_like(said))
            error = sign * (said - exact)
            worst = error if worst is None else np.maximum(worst, error)
        if worst is None:
            raise NotPlainError
        return worst + self.tiny


def _monomial(powers: Powers, at: dict[int, Words]) -> Words:
    total = np.ones_like(next(iter(at.values())))
    for name, often in powers:
        total = total * at[name] ** often
    return total
