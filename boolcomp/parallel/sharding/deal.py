"""Who evaluates which product terms: a program's tables dealt to shares of equal cost.

Cost is counted in nodes: each reads two or three literals, and is one instruction for 512 samples.
Tables are dealt in falling order of cost, each whole to the share with the least load (LPT), which
cuts nothing. Only where a table is larger than the room left in a share is it cut, so that as a
rule it is the largest that are cut, and no more of them than there are shares: what is cut costs
twice, in sub-cubes that both sides need and in planes handed on. A part is grown leaf by leaf
towards what it already has (`leaves.Growth`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.logic.adders import Addend, Sum
from boolcomp.parallel.sharding.leaves import Growth, Leaf, cones_of, leaves_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boolcomp.engines.wiring import Call, Port, Result, Wiring
    from boolcomp.logic.network import Network
    from boolcomp.program.parts import Load

# What else costs time, in nodes: fitted on the 2R, so that both of two shares take as long.
WORD_NODES = 50  # to code an input word
OUTPUT_NODES = 300  # to make an output and its code word from planes
_ROUNDS = 5  # of halving the interval in which the best balance lies


@dataclass(frozen=True, slots=True)
class Total:
    """An output's sum: the calls whose words it adds, and how."""

    calls: tuple[int, ...]
    sum: Sum
    result: Result

    def addends(self, words: Mapping[int, tuple[int, ...]]) -> list[tuple[Addend, tuple[int, ...]]]:
        """Return the addends whose planes are given (by call), and these."""
        pairs = zip(self.calls, self.sum.addends, strict=True)
        return [(addend, words[call]) for call, addend in pairs if call in words]


@dataclass(frozen=True, slots=True)
class TermCalls:
    """The calls of a wiring that make terms (by their first plane), and the sums of them."""

    wiring: Wiring
    calls: dict[int, Call]
    totals: tuple[Total, ...]

    def network(self, call: int) -> Network:
        """Return the network of a call."""
        return self.wiring.networks[self.calls[call].network]

    def ports(self, calls: Iterable[int]) -> list[Port]:
        """Return the ports whose planes these calls read."""
        planes = {plane for call in calls for plane in self.calls[call].inputs}
        return [
            port
            for port in self.wiring.ports
            if not planes.isdisjoint(range(port.first, port.first + port.code.bits))
        ]


def terms_of(load: Load, wiring: Wiring) -> TermCalls:
    """Find the terms and sums of a program's load in its wiring."""
    if any(port.kind for port in wiring.ports):
        raise UsageError("terms of signed words are not dealt out: share samples instead")
    calls = {call.first: call for call in wiring.calls}
    totals = []
    for output, result in zip(load.outputs, wiring.results, strict=True):
        adder = calls.pop(result.first)
        addends: dict[object, Addend] = {}
        for term in output.terms:
            key = (term.network, term.words)
            times = addends[key].times + 1 if key in addends else 1
            addends[key] = Addend(term.code.bits, term.code.kind, times)
        firsts = []
        at = 0
        for addend in addends.values():
            firsts.append(adder.inputs[at])
            at += addend.bits
        total = Sum(tuple(addends.values()), output.code.bits, output.guard_bits)
        totals.append(Total(tuple(firsts), total, result))
    return TermCalls(wiring, calls, tuple(totals))


@dataclass(slots=True)
class Share:
    """What one process evaluates: whole tables and parts of tables, by call."""

    load: int
    whole: list[int] = field(default_factory=list)
    parts: dict[int, list[Leaf]] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[int, ...]:
        """The calls that it evaluates, wholly or in part."""
        return (*self.whole, *self.parts)


class _Dealer:
    """Deals the tables of a wiring to shares that already carry some load."""

    def __init__(self, terms: TermCalls, loads: Sequence[int]) -> None:
        self.terms = terms
        self.loads = list(loads)
        self.order = sorted(terms.calls, key=lambda call: (-self.cost(call), call))
        self.flat: dict[Network, tuple[tuple[Leaf, ...], list[frozenset[int]]]] = {}

    def cost(self, call: int) -> int:
        return len(self.terms.network(call).nodes)

    def leaves(self, network: Network) -> tuple[tuple[Leaf, ...], list[frozenset[int]]]:
        if network not in self.flat:
            leaves = leaves_of(network)
            self.flat[network] = leaves, cones_of(network, leaves)
        return self.flat[network]

    def deal(self, most: int) -> list[Share]:
        """Deal so that no share but perhaps one carries more than `most`."""
        shares = [Share(load) for load in self.loads]
        least = max(1, most // 16)  # a smaller part is not worth its planes
        for call in self.order:
            growth = None
            cost = self.cost(call)
            leaves: tuple[Leaf, ...] = ()
            while True:
                share = min(shares, key=lambda s: s.load)
                room = most - share.load
                if cost <= room or room < least or (growth and len(growth.left) < 2):
                    break
                if growth is None:
                    leaves, cones = self.leaves(self.terms.network(call))
                    if len(leaves) < 2:
                        break
                    growth = Growth(cones)
                taken = growth.take(room)
                share.parts[call] = [leaves[k] for k in taken]
                share.load += growth.taken_cost(taken)
                cost = growth.cost()
                if not growth.left:
                    break
            if growth is None:
                share.whole.append(call)
                share.load += cost
            elif growth.left:
                own = share.parts.setdefault(call, [])
                own += [leaves[k] for k in sorted(growth.left)]
                share.load += cost
        return shares

    def balanced(self) -> list[Share]:
        """Return the deal whose heaviest share is lightest."""
        low = (sum(map(self.cost, self.order)) + sum(self.loads)) // len(self.loads)
        best = self.deal(low)
        high = _heaviest(best)
        for _ in range(_ROUNDS):
            middle = math.isqrt(low * high)
            found = self.deal(middle)
            best = min(best, found, key=_heaviest)
            if _heaviest(found) <= middle:
                high = middle
            else:
                low = middle
        return best


def _heaviest(shares: Iterable[Share]) -> int:
    return max(share.load for share in shares)


def deal_terms(terms: TermCalls, loads: Sequence[int]) -> list[Share]:
    """Deal a program's terms to as many shares as loads are given: what each has to do anyway."""
    return _Dealer(terms, loads).balanced()
