"""A program's product terms shared by several processes (the paper's Fig. 2), as stages.

A share evaluates its terms and has partial results: of a table that is cut, the partial ORs of its
output bits; of the tables that it holds whole, one partial integer sum an output, which is fewer
planes than the tables' words (19 in place of 54 for the 2R). OR and + are associative and
commutative, so they may be joined in any order. `make_shares` is Fig. 2a: all shares work on the
same samples, and the last joins what the others hand it and makes the outputs. `make_pipeline` is
Fig. 2b: samples flow through the shares; the first codes the words, every one adds its terms to
what comes, and the last makes the outputs. Which terms go where: see `deal`.

One process joins all in Fig. 2a: right for the few processes of one machine. With very many, the
planes it is handed would take longer than its terms, and a tree of joins would have to take over
(`benchmarks/sharding.py` computes both).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from boolcomp.common.errors import UsageError
from boolcomp.logic.adders import Addend, Sum, sum_network
from boolcomp.logic.network import FALSE, Builder
from boolcomp.parallel.sharding.deal import OUTPUT_NODES, WORD_NODES, deal_terms, terms_of
from boolcomp.parallel.sharding.leaves import part_of
from boolcomp.parallel.sharding.stages import Feed, StageBuilder, whole_stage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.engines.wiring import Result
    from boolcomp.parallel.sharding.deal import Share, TermCalls
    from boolcomp.parallel.sharding.stages import Stage
    from boolcomp.program.program import Program


MOST_SHARES = 1024


@dataclass(frozen=True, slots=True)
class PartSum(Sum):
    """A sum with a given constant and a given largest value: part of another sum, or its end."""

    start: int = 0
    most: int = 0

    @property
    def offset(self) -> int:
        """The constant."""
        return self.start

    @property
    def highest(self) -> int:
        """The largest value that the whole can have."""
        return self.most


@dataclass(frozen=True, slots=True)
class Number:
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
    numbers: dict[int, Number] = field(default_factory=dict)

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
                j: Number(tuple(islice(to, len(number.planes))), number.most)
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


def evaluated(stage: StageBuilder, terms: TermCalls, share: Share) -> Partial:
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
) -> Number:
    """Add words up, exactly."""
    width = most.bit_length()
    total = PartSum(tuple(addend for addend, _ in addends), width, 0, 0, most)
    planes = stage.call(sum_network(total), [plane for _, word in addends for plane in word])
    return Number(planes[:width], most)  # without the mark for saturation: it cannot


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
        else:  # an output that is always 0 is in nobody's share
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
