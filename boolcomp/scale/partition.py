"""Product terms of a program divided among processes (the paper's Fig. 2), as stages.

A share evaluates its terms to partial results: partial ORs of the output bits of a divided table,
and one partial integer sum for each output of its whole tables. The sum has fewer planes than the
words of the tables (19 instead of 54 for the 2R). OR and + are associative and commutative, so the
order of joining is free. `make_shares` is Fig. 2a: all shares work on the same samples, and the
last one joins the partial results and makes the outputs. `make_pipeline` is Fig. 2b: samples pass
through the shares; the first codes the words, each adds its terms, and the last makes the outputs.
`deal` assigns terms to shares.

In Fig. 2a one process joins all partial results, which suits the few processes of one machine; very
many would need a tree of joins.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.logic import network as luts
from boolcomp.logic.adders import Addend, Sum, sum_network
from boolcomp.logic.network import CONSTANTS, FALSE, Builder, Node
from boolcomp.logic.order import in_order
from boolcomp.scale.stages import Feed, StageBuilder, whole_stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from boolcomp.engines.engine import Call, EnginePort, Result, Wiring
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Load, Program
    from boolcomp.scale.stages import Stage


# --------------------------------------------------------------------------------------------------
# The OR trees at a network's outputs, flattened into their terms, and parts made of some of them.
#
# A term (leaf) is what an output's OR reads that is itself no OR: a product. In a factored network
# that may be a factor times an OR, which is then flattened too: one leaf is the factor times one of
# its terms. An OR that several read stays whole. A network whose outputs are not ORs has one leaf
# an output. The OR of an output's leaves is the output.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TermLeaf:
    """A term of an output: a table over signals of the network, times a factor if there is one."""

    output: int
    term: Node
    factor: int | None = None

    @property
    def signals(self) -> tuple[int, ...]:
        return self.term.operands if self.factor is None else (*self.term.operands, self.factor)


def leaves_of(network: Network) -> tuple[TermLeaf, ...]:
    """Return the leaves of all outputs, output by output."""
    uses = [0] * (CONSTANTS + network.inputs + len(network.nodes))
    for _, operands in network.nodes:
        for signal in operands:
            uses[signal] += 1
    for signal in network.outputs:
        uses[signal] += 1
    flat = _Flat(network, uses)
    return tuple(leaf for k in range(len(network.outputs)) for leaf in flat.leaves(k))


class _Flat:
    """Flattens ORs of a network that have a single reader."""

    def __init__(self, network: Network, uses: list[int]) -> None:
        self.network = network
        self.first = CONSTANTS + network.inputs
        self.uses = uses

    def leaves(self, output: int) -> Iterable[TermLeaf]:
        for term in self.terms(self.network.outputs[output]):
            factor, other = self.factored(term)
            if other is None:
                yield TermLeaf(output, term)
            else:
                yield from (TermLeaf(output, inner, factor) for inner in self.terms(other))

    def terms(self, top: int) -> Iterable[Node]:
        """Yield the terms of an OR; a signal that is none is one term."""
        waiting = [top]
        while waiting:
            signal = waiting.pop()
            if signal == FALSE:
                continue
            if signal != top and not self.own(signal):
                yield Node(luts.FIRST, (signal,))
                continue
            parts = _apart(self.network.nodes[signal - self.first]) if signal >= self.first else ()
            if not parts:
                yield Node(luts.FIRST, (signal,))
                continue
            alone, others = parts
            waiting += alone
            yield from others

    def own(self, signal: int) -> bool:
        return signal >= self.first and self.uses[signal] == 1

    def factored(self, term: Node) -> tuple[int | None, int | None]:
        """Return the factor and the OR of which a term is the product, if it is one."""
        lut, operands = term
        if lut == luts.FIRST and self.own(operands[0]):
            lut, operands = self.network.nodes[operands[0] - self.first]
        if lut == luts.AND2:
            for factor, other in (operands, operands[::-1]):
                if self.own(other) and _apart(self.network.nodes[other - self.first]):
                    return factor, other
        return None, None


def _apart(node: Node) -> tuple[list[int], list[Node]] | tuple[()]:
    """Take a node apart as an OR: of operands, and of other terms; nothing where it is none."""
    alone, others = [], []
    rest = node.lut
    for place, operand in enumerate(node.operands):
        zero, one = luts.cofactors(node.lut, place)
        if one == luts.ALL:
            alone.append(operand)
            rest = luts.cofactors(rest, place)[0]
        elif zero == luts.ALL:
            others.append(Node(luts.NOT1, (operand,)))
            rest = luts.cofactors(rest, place)[1]
    if not alone and not others:
        return ()
    if rest:
        kept = [place for place in range(3) if luts.depends(rest, place)]
        tables = [0, 0, 0]
        for new, old in enumerate(kept):
            tables[old] = luts.LETTERS[new]
        table = luts.compose(rest, (tables[0], tables[1], tables[2]))
        others.append(Node(table, tuple(node.operands[place] for place in kept)))
    return alone, others


def cones_of(network: Network, leaves: Sequence[TermLeaf]) -> list[frozenset[int]]:
    """Return for every leaf the nodes that it needs, by signal."""
    first = CONSTANTS + network.inputs
    cones = []
    for leaf in leaves:
        need: set[int] = set()
        waiting = [signal for signal in leaf.signals if signal >= first]
        while waiting:
            signal = waiting.pop()
            if signal not in need:
                need.add(signal)
                operands = network.nodes[signal - first].operands
                waiting += [k for k in operands if k >= first]
        cones.append(frozenset(need))
    return cones


def part_of(network: Network, leaves: Iterable[TermLeaf]) -> Network:
    """Return a network of the same inputs and outputs with these leaves alone in its ORs."""
    chosen = list(leaves)
    first = CONSTANTS + network.inputs
    need = set().union(*cones_of(network, chosen))
    builder = Builder(network.inputs)
    literals = {0: 0, 1: 2, **{CONSTANTS + k: builder.input(k) for k in range(network.inputs)}}
    for signal in sorted(need):
        lut, operands = network.nodes[signal - first]
        literals[signal] = builder.node(lut, *(literals[k] for k in operands))
    groups: dict[tuple[int, int | None], list[Node]] = defaultdict(list)
    for leaf in chosen:
        term = Node(leaf.term.lut, tuple(literals[k] for k in leaf.term.operands))
        groups[leaf.output, leaf.factor].append(term)
    outputs = [_sum(builder, groups[k, None]) for k in range(len(network.outputs))]
    for (output, factor), terms in groups.items():
        if factor is not None:
            inner = _sum(builder, terms)
            outputs[output] = builder.node(luts.AND_OR, outputs[output], literals[factor], inner)
    return in_order(builder.build(outputs))


def _sum(builder: Builder, terms: Sequence[Node]) -> int:
    """Return the OR of terms over literals; `sum | a & b` is one node."""
    total = builder.any_of(builder.node(*_flat(term)) for term in terms if len(term.operands) != 2)
    for lut, operands in terms:
        if len(operands) == 2:
            joined = luts.FIRST | luts.compose(lut, (luts.SECOND, luts.THIRD, 0))
            total = builder.node(joined, total, *operands)
    return total


def _flat(term: Node) -> tuple[int, ...]:
    return (term.lut, *term.operands)


class Growth:
    """Takes leaves off a list, one share after the other, so that few nodes are needed twice.

    The next leaf is the one of which the largest part is in the share already, or is needed by no
    leaf that stays behind.
    """

    def __init__(self, cones: Sequence[frozenset[int]]) -> None:
        self.cones = cones
        self.left = set(range(len(cones)))
        self.inside: set[int] = set()  # the nodes of the latest share
        self.new: dict[int, int] = {}  # of every leaf: the nodes that are not inside
        self.alone: dict[int, int] = {}  # of every leaf: the nodes that no other leaf left needs
        self.owners: dict[int, list[int]] = defaultdict(list)
        for leaf, cone in enumerate(cones):
            for signal in cone:
                self.owners[signal].append(leaf)
        self.behind = {signal: len(owners) for signal, owners in self.owners.items()}

    def cost(self) -> int:
        return sum(count > 0 for count in self.behind.values()) + (len(self.left) + 1) // 2

    def taken_cost(self, taken: Sequence[int]) -> int:
        return len(self.inside) + (len(taken) + 1) // 2

    def take(self, cost: int) -> list[int]:
        """Take leaves that together cost at most so much; if none does, the cheapest."""
        self.inside = set()
        self.new = {leaf: len(self.cones[leaf]) for leaf in self.left}
        self.alone = {
            leaf: sum(self.behind[signal] == 1 for signal in self.cones[leaf]) for leaf in self.left
        }
        heap = [(self._score(leaf), leaf) for leaf in self.left]
        heapq.heapify(heap)
        taken: list[int] = []
        while heap:
            score, leaf = heapq.heappop(heap)
            if leaf not in self.left or score != self._score(leaf):
                continue
            if self.taken_cost(taken) + self.new[leaf] < cost:
                taken.append(leaf)
                for other in self._move(leaf):
                    heapq.heappush(heap, (self._score(other), other))
        if not taken and self.left:
            taken.append(min(self.left, key=lambda leaf: (self.new[leaf], leaf)))
            self._move(taken[0])
        return sorted(taken)

    def _score(self, leaf: int) -> float:
        return (self.new[leaf] - self.alone[leaf]) / (len(self.cones[leaf]) + 1)

    def _move(self, leaf: int) -> set[int]:
        """Move a leaf into the share; return the leaves whose score has changed."""
        self.left.discard(leaf)
        touched = set()
        for signal in self.cones[leaf]:
            self.behind[signal] -= 1
            fresh = signal not in self.inside
            if not fresh and self.behind[signal] != 1:
                continue
            owners = [other for other in self.owners[signal] if other in self.left]
            touched.update(owners)
            if fresh:
                self.inside.add(signal)
                for other in owners:
                    self.new[other] -= 1
            if self.behind[signal] == 1:
                self.alone[owners[0]] += 1
        return touched


# --------------------------------------------------------------------------------------------------
# Assignment of product terms: the tables of a program are dealt to shares of equal cost.
#
# Cost is the number of nodes: each reads two or three literals and is one instruction for 512
# samples. Tables are dealt in decreasing order of cost, each to the share with the least load
# (LPT). A table is divided only if it exceeds the room left in a share; usually these are the
# largest, and at most as many as there are shares. Division costs sub-cubes that both sides need
# and planes that are passed on. A part grows leaf by leaf towards the leaves it has (`Growth`).
# --------------------------------------------------------------------------------------------------


# Other costs in nodes, fitted on the 2R so that two shares take equal times.
WORD_NODES = 50  # to code an input word
OUTPUT_NODES = 300  # to make an output and its code word from planes
_ROUNDS = 5  # of halving the interval in which the best balance lies


@dataclass(frozen=True, slots=True)
class OutputSum:
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
    totals: tuple[OutputSum, ...]

    def network(self, call: int) -> Network:
        return self.wiring.networks[self.calls[call].network]

    def ports(self, calls: Iterable[int]) -> list[EnginePort]:
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
        raise UsageError("terms of signed words are not dealt out", "share samples instead")
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
        totals.append(OutputSum(tuple(firsts), total, result))
    return TermCalls(wiring, calls, tuple(totals))


@dataclass(slots=True)
class ProcessShare:
    """The terms of one process: whole tables and parts of tables, by call."""

    load: int
    whole: list[int] = field(default_factory=list)
    parts: dict[int, list[TermLeaf]] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[int, ...]:
        return (*self.whole, *self.parts)


class _Dealer:
    """Deals the tables of a wiring to shares that already carry some load."""

    def __init__(self, terms: TermCalls, loads: Sequence[int]) -> None:
        self.terms = terms
        self.loads = list(loads)
        self.order = sorted(terms.calls, key=lambda call: (-self.cost(call), call))
        self.flat: dict[Network, tuple[tuple[TermLeaf, ...], list[frozenset[int]]]] = {}

    def cost(self, call: int) -> int:
        return len(self.terms.network(call).nodes)

    def leaves(self, network: Network) -> tuple[tuple[TermLeaf, ...], list[frozenset[int]]]:
        if network not in self.flat:
            leaves = leaves_of(network)
            self.flat[network] = leaves, cones_of(network, leaves)
        return self.flat[network]

    def deal(self, most: int) -> list[ProcessShare]:
        """Deal so that no share but perhaps one carries more than `most`."""
        shares = [ProcessShare(load) for load in self.loads]
        least = max(1, most // 16)  # a smaller part is not worth its planes
        for call in self.order:
            growth = None
            cost = self.cost(call)
            leaves: tuple[TermLeaf, ...] = ()
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

    def balanced(self) -> list[ProcessShare]:
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


def _heaviest(shares: Iterable[ProcessShare]) -> int:
    return max(share.load for share in shares)


def deal_terms(terms: TermCalls, loads: Sequence[int]) -> list[ProcessShare]:
    return _Dealer(terms, loads).balanced()


# --------------------------------------------------------------------------------------------------
# A program's product terms shared by several processes (the paper's Fig. 2), as stages.
# --------------------------------------------------------------------------------------------------


MOST_SHARES = 1024


@dataclass(frozen=True, slots=True)
class PartSum(Sum):
    """A sum with a given constant and a given largest value: part of another sum, or its end."""

    start: int = 0
    most: int = 0

    @property
    def offset(self) -> int:
        return self.start

    @property
    def highest(self) -> int:
        return self.most


@dataclass(frozen=True, slots=True)
class PartialSum:
    """A partial sum: its planes, most significant first, and its largest value."""

    planes: tuple[int, ...]
    most: int


@dataclass(slots=True)
class Partial:
    """The results of some terms, as planes of a stage.

    `bits[call, k]` is the partial OR of output k of a table that is cut, `numbers[j]` the partial
    sum of output j.
    """

    bits: dict[tuple[int, int], int] = field(default_factory=dict)
    numbers: dict[int, PartialSum] = field(default_factory=dict)

    @property
    def planes(self) -> tuple[int, ...]:
        """All planes, in order."""
        numbers = (plane for number in self.numbers.values() for plane in number.planes)
        return (*self.bits.values(), *numbers)

    def moved(self, planes: Iterable[int]) -> Partial:
        """Return the same results where another stage has them."""
        to = iter(planes)
        return Partial(
            {key: next(to) for key in self.bits},
            {
                j: PartialSum(tuple(islice(to, len(number.planes))), number.most)
                for j, number in self.numbers.items()
            },
        )


def make_shares(program: Program, count: int, payload: float | None = None) -> tuple[Stage, ...]:
    """Return the stages of Fig. 2a: the last is fed by all others."""
    wiring = program.wiring(payload)
    if _alone(count):
        return (whole_stage(wiring),)
    terms = terms_of(program.load(payload), wiring)
    every = len(wiring.ports) * WORD_NODES
    last = every + len(wiring.results) * OUTPUT_NODES
    shares = deal_terms(terms, [*[every // 2] * (count - 1), last])
    stages = []
    found = []
    for share in shares[:-1]:
        stage = StageBuilder(wiring, terms.ports(share.calls))
        found.append(evaluated(stage, terms, share))
        stages.append(stage.build(sent=found[-1].planes))
    feeds = [Feed(k, len(partial.planes)) for k, partial in enumerate(found)]
    stage = StageBuilder(wiring, wiring.ports, feeds)
    handed = [partial.moved(to) for partial, to in zip(found, stage.handed, strict=True)]
    own = evaluated(stage, terms, shares[-1])
    results = finished(stage, terms, [*handed, own])
    return (*stages, replace(stage.build(results=results), counting=True))


def make_pipeline(program: Program, count: int, payload: float | None = None) -> tuple[Stage, ...]:
    """Return the stages of Fig. 2b: each is fed by the one before it."""
    wiring = program.wiring(payload)
    if _alone(count):
        return (whole_stage(wiring),)
    terms = terms_of(program.load(payload), wiring)
    loads = [0] * count
    loads[0] += len(wiring.ports) * WORD_NODES
    loads[-1] += len(wiring.results) * OUTPUT_NODES
    shares = deal_terms(terms, loads)
    stage = StageBuilder(wiring, wiring.ports)
    partial = Partial()
    stages: list[Stage] = []
    for k, share in enumerate(shares):
        own = evaluated(stage, terms, share)
        if k == count - 1:
            stages.append(stage.build(results=finished(stage, terms, [partial, own])))
            break
        partial = joined(stage, terms, [partial, own])
        later = {p for s in shares[k + 1 :] for call in s.calls for p in terms.calls[call].inputs}
        kept = sorted(later)
        sent = [*(stage.place[plane] for plane in kept), *partial.planes]
        stages.append(replace(stage.build(sent=sent), counting=k == 0))
        stage = StageBuilder(wiring, (), [Feed(k, len(sent))])
        stage.place.update(zip(kept, stage.handed[0], strict=False))
        partial = partial.moved(stage.handed[0][len(kept) :])
    return tuple(stages)


def _alone(count: int) -> bool:
    """Check a number of shares; tell whether it is one."""
    if not 1 <= count <= MOST_SHARES:
        raise UsageError(f"terms are dealt to 1 to {MOST_SHARES} processes, not {count}")
    return count == 1


def evaluated(stage: StageBuilder, terms: TermCalls, share: ProcessShare) -> Partial:
    """Add the calls of a share's terms to a stage; return their results."""
    partial = Partial()
    words = {}
    for call in share.whole:
        inputs = [stage.place[plane] for plane in terms.calls[call].inputs]
        words[call] = stage.call(terms.network(call), inputs)
    for call, leaves in share.parts.items():
        network = part_of(terms.network(call), leaves)
        inputs = [stage.place[plane] for plane in terms.calls[call].inputs]
        planes = stage.call(network, inputs)
        for k, signal in enumerate(network.outputs):
            if signal != FALSE:
                partial.bits[call, k] = planes[k]
    for j, total in enumerate(terms.totals):
        addends = total.addends(words)
        if addends:
            most = sum(addend.times * (addend.cells - 1) for addend, _ in addends)
            partial.numbers[j] = _added(stage, addends, most)
    return partial


def joined(stage: StageBuilder, terms: TermCalls, partials: Sequence[Partial]) -> Partial:
    """Join partial results: bits by OR, numbers by addition."""
    bits = {}
    for call in terms.calls:
        word = _joined_bits(stage, terms, call, partials)
        bits.update({(call, k): plane for k, plane in word.items()})
    numbers = {}
    for j in range(len(terms.totals)):
        parts = [partial.numbers[j] for partial in partials if j in partial.numbers]
        if len(parts) == 1:
            numbers[j] = parts[0]
        elif parts:
            addends = [(Addend(len(part.planes), "natural"), part.planes) for part in parts]
            numbers[j] = _added(stage, addends, sum(part.most for part in parts))
    return Partial(bits, numbers)


def _joined_bits(
    stage: StageBuilder, terms: TermCalls, call: int, partials: Sequence[Partial]
) -> dict[int, int]:
    """Return the OR of all parts of a table, by output; outputs that are nowhere are left out."""
    found: dict[int, list[int]] = {}
    for k in range(len(terms.network(call).outputs)):
        planes = [partial.bits[call, k] for partial in partials if (call, k) in partial.bits]
        if planes:
            found[k] = planes
    several = {k: planes for k, planes in found.items() if len(planes) > 1}
    builder = Builder(sum(map(len, several.values())))
    at = iter(range(builder.inputs))
    outputs = [
        builder.any_of([builder.input(place) for place in islice(at, len(planes))])
        for planes in several.values()
    ]
    result = {k: planes[0] for k, planes in found.items()}
    if several:
        inputs = [plane for planes in several.values() for plane in planes]
        made = stage.call(builder.build(outputs), inputs)
        result.update(zip(several, made, strict=True))
    return result


def _added(
    stage: StageBuilder, addends: Sequence[tuple[Addend, tuple[int, ...]]], most: int
) -> PartialSum:
    """Add words up, exactly."""
    width = most.bit_length()
    total = PartSum(tuple(addend for addend, _ in addends), width, 0, 0, most)
    planes = stage.call(sum_network(total), [plane for _, word in addends for plane in word])
    return PartialSum(planes[:width], most)  # without the mark for saturation: it cannot


def finished(
    stage: StageBuilder, terms: TermCalls, partials: Sequence[Partial]
) -> tuple[Result, ...]:
    """Join all partial results and make the outputs."""
    partial = joined(stage, terms, partials)
    cut: dict[int, tuple[int, ...]] = {}
    for call in dict.fromkeys(call for call, _ in partial.bits):
        outputs = len(terms.network(call).outputs)
        if all((call, k) in partial.bits for k in range(outputs)):
            cut[call] = tuple(partial.bits[call, k] for k in range(outputs))
        else:  # an output that is always 0 is in no share
            known = [k for k in range(outputs) if (call, k) in partial.bits]
            builder = Builder(len(known))
            zeros = [2 * FALSE] * outputs
            for place, k in enumerate(known):
                zeros[k] = builder.input(place)
            cut[call] = stage.call(builder.build(zeros), [partial.bits[call, k] for k in known])
    results = []
    for j, total in enumerate(terms.totals):
        addends = total.addends(cut)
        if j in partial.numbers:
            planes = partial.numbers[j].planes
            addends.append((Addend(len(planes), "natural"), planes))
        end = PartSum(
            tuple(addend for addend, _ in addends),
            total.sum.bits,
            total.sum.guard_bits,
            total.sum.offset,
            total.sum.highest,
        )
        made = stage.call(sum_network(end), [plane for _, word in addends for plane in word])
        results.append(replace(total.result, first=made[0], saturated=made[total.sum.bits]))
    return tuple(results)
