"""How much of every input all terms of an output see alike: as much as the effort allows.

All terms that read an input see the same leading bits of where it is, and for those beyond each
takes its own worst. The more is shared the closer is the bound; with nothing shared it is the sum
of the worst of every term. What it costs is counted before anything is done.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from boolcomp.proof.bound.fields import Axis, remainders
from boolcomp.proof.tabled.elimination import Order, order_of
from boolcomp.proof.tabled.fields import function_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.proof.tabled.meaning import TabledTerm
    from boolcomp.proof.tabled.places import Line

FINE = 9  # bits of angles, and of what is squared: cells so narrow hardly bend
BENT = Fraction(1, 256)  # of an output's step: what cells of a term may bend by
ROUGH = 6  # bits of cells in which slopes are looked at
MOST = 1 << 22  # numbers in a table
AHEAD = 2  # bits by which more is shared of angles than of what is linear


@dataclass(frozen=True, slots=True)
class Layout:
    """The axes of every term, and how their tables are added up; `cost` counts numbers."""

    axes: tuple[tuple[Axis, ...], ...]
    order: Order
    cost: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """An input: how fine its cells may be, whether terms bend along it, how many read it."""

    line: Line
    finest: int
    bent: bool
    readers: int


def layout_of(
    terms: Sequence[TabledTerm],
    lines: Mapping[str, Line],
    lsb: Fraction,
    effort: int,
    most: int = MOST,
) -> Layout:
    """Return the finest layout that costs no more than the effort beyond the coarsest there is."""
    search = _Search(tuple(terms), _readers(terms, lines), effort, most)
    readers = search.readers
    common = [name for name, one in readers.items() if one.readers > 1]
    finest = max((readers[name].finest for name in common), default=0)
    bits = dict.fromkeys(common, 0)
    best = search.laid(search.coarse(bits))
    least = best.cost  # every entry is looked at once, whatever the effort
    for level in range(finest + 1):
        wider = {n: min(readers[n].finest, level + AHEAD * readers[n].bent) for n in common}
        found = search.laid(search.coarse(wider))
        if 2 * (found.cost - least) > effort:
            break
        bits, best = wider, found
    for name in sorted(common, key=lambda one: (not readers[one].bent, one)):
        while bits[name] < readers[name].finest:
            wider = {**bits, name: bits[name] + 1}
            found = search.laid(search.coarse(wider))
            if 2 * (found.cost - least) > effort or found.order.splits > best.order.splits:
                break
            bits, best = wider, found
    return search.laid(search.refined(search.coarse(bits), BENT * lsb, effort + least - best.cost))


def _readers(terms: Sequence[TabledTerm], lines: Mapping[str, Line]) -> dict[str, _Reader]:
    widest: Counter[str] = Counter()
    bent: set[str] = set()
    count: Counter[str] = Counter()
    for term in terms:
        for word in term.words:
            name = word.variable.name
            widest[name] = max(widest[name], word.code.bits)
        powers = Counter(variable.name for variable in term.term.factor)
        count.update(variable.name for variable in term.term.variables)
        bent |= {name for name, power in powers.items() if power > 1}
        bent |= {variable.name for variable in term.term.arguments}
    found = {}
    for name, line in lines.items():
        bits = max(widest[name], 1)
        fine = max(bits + 1, FINE) if name in bent else bits + 1
        found[name] = _Reader(line, fine, name in bent, count[name])
    return found


@dataclass(frozen=True, slots=True)
class _Search:
    """What a layout is made for, and what it may cost."""

    terms: tuple[TabledTerm, ...]
    readers: Mapping[str, _Reader]
    effort: int
    most: int

    def laid(self, axes: Sequence[tuple[Axis, ...]]) -> Layout:
        """Return the axes of all terms with an order, and what they cost."""
        cost, scopes = 0, []
        sizes: dict[str, int] = {}
        for term, own in zip(self.terms, axes, strict=True):
            cost += _cost(own) * (1 + len(own) * term.estimated)
            scopes.append(tuple(axis.name for axis in own if axis.told))
            sizes |= {axis.name: axis.groups for axis in own}
        order = order_of(scopes, sizes, self.most)
        return Layout(tuple(axes), order, cost + 2 * order.cost)

    def coarse(self, shared: Mapping[str, int]) -> list[tuple[Axis, ...]]:
        """Return the axes of all terms for so many shared bits, with cells as wide as words'."""
        found = []
        for term in self.terms:
            axes = []
            for word in term.words:
                name, bits = word.variable.name, word.code.bits
                share = shared.get(name, 0)
                one = self.readers[name]
                narrow = max(bits, share)
                if term.estimated:
                    narrow = min(bits, max(share, ROUGH * one.bent))
                axes.append(Axis(name, one.line, narrow, share))
            found.append(tuple(axes) if not term.estimated else self._rougher(axes))
        return found

    def _rougher(self, axes: Sequence[Axis]) -> tuple[Axis, ...]:
        """Return cells that are wider, but no wider than what is shared, until they are few."""
        found = list(axes)
        while _cost(found) * (1 + len(found)) * len(self.terms) * 4 > self.effort:
            place = max(range(len(found)), key=lambda k: found[k].bits - found[k].shared)
            axis = found[place]
            if axis.bits <= max(axis.shared, 1):
                break
            found[place] = replace(axis, bits=axis.bits - 1)
        return tuple(found)

    def refined(
        self, plain: list[tuple[Axis, ...]], enough: Fraction, allowed: int
    ) -> list[tuple[Axis, ...]]:
        """Return axes with narrower cells where terms bend most, while that is allowed."""
        found = list(plain)
        queue: list[tuple[Fraction, int]] = []
        for k, term in enumerate(self.terms):
            if not term.estimated:
                heappush(queue, (-term.times * sum(self._bends(k, found[k]), Fraction(0)), k))
        while queue and -queue[0][0] > enough:
            _, k = heappop(queue)
            bends = self._bends(k, found[k])
            place = bends.index(max(bends))
            axis = found[k][place]
            finer = (*found[k][:place], replace(axis, bits=axis.bits + 1), *found[k][place + 1 :])
            more = _cost(finer) - _cost(found[k])
            if more > allowed or axis.bits >= self.readers[axis.name].finest:
                continue
            allowed -= more
            found[k] = finer
            bent = self.terms[k].times * sum(self._bends(k, finer), Fraction(0))
            heappush(queue, (-bent, k))
        return found

    def _bends(self, place: int, axes: Sequence[Axis]) -> list[Fraction]:
        return remainders(function_of(self.terms[place].term), axes)


def _cost(axes: Sequence[Axis]) -> int:
    return math.prod(axis.cells + 1 for axis in axes)
