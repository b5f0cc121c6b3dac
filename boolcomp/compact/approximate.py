"""From a finished result to a smaller one that errs as is allowed too: what is kept of it.

What is left holds on a million fresh states, to the last digit of what is allowed: what does not,
or is no smaller, is no result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from boolcomp.compact.approximate_kernels import (
    Asked,
    Limits,
    Looked,
    Mirror,
    Net,
    Nodes,
    Planes,
    Rows,
    WordRows,
    costs_of,
    evaluate,
    read_words,
    search,
)
from boolcomp.compact.demand import Progress
from boolcomp.compact.errors import (
    Sampling,
    States,
    clipped,
    corners,
    deviations,
    joined,
    measure_many,
    network_errors,
    network_worst,
    states_of,
)
from boolcomp.compact.network import ConedLogic
from boolcomp.compact.result import Finished, lut6, smaller, synthesiser, table_network
from boolcomp.compact.sketch import quantities
from boolcomp.compact.store import StoredResult
from boolcomp.compact.tables import columns_of
from boolcomp.logic import network as luts
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.network import CONSTANTS, Builder
from boolcomp.logic.synthesis.optimise import Step
from boolcomp.logic.synthesis.tables import measure
from boolcomp.words.graph import Cone, Heap, InputWord, Lookup, Spot, reads
from boolcomp.words.simulation import canonical, fold, masked, node_word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Listener
    from boolcomp.compact.errors import Errors
    from boolcomp.compact.network import Synthesiser
    from boolcomp.compact.result import Begin, Compact
    from boolcomp.compact.store import ResultStore
    from boolcomp.compact.tables import Columns
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import Signal, WordGraph

    Floats = NDArray[np.float64]
    Bits = NDArray[np.uint64]
    Whole = NDArray[np.int64]
    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Whether logic that was changed still errs as is allowed: on states that no change has seen.
# --------------------------------------------------------------------------------------------------


WINDOW, JUDGED = 1 << 15, 1 << 18  # states that price changes, and others that judge them
WINDOW_SEED, JUDGED_SEED = 0xA990, 0x70D6E
JUDGE_SIGMAS = 1.5  # of a mean square: how surely it holds


@dataclass(frozen=True, slots=True, eq=False)
class Judge:
    """The mean squares that are allowed, in steps², at two sets of states.

    Of `centred` outputs the mean does not count.
    """

    allowed: Floats
    centred: NDArray[np.bool_]
    window: States
    others: States

    @classmethod
    def of(cls, compact: Compact, centred: Sequence[bool]) -> Judge:
        """Return the judge of a result."""
        return cls(
            compact.allowed,
            np.asarray(centred, bool),
            drawn(compact, WINDOW, WINDOW_SEED),
            drawn(compact, JUDGED, JUDGED_SEED),
        )

    def errors(self, graph: WordGraph) -> Floats:
        """Return a graph's errors at the window, (states, outputs), what does not count apart."""
        return self.counted(deviations(graph, self.window)[0])

    def counted(self, errors: Floats) -> Floats:
        """Return errors without the means that do not count."""
        return errors - np.where(self.centred, errors.mean(axis=0), 0.0)

    def left(self, graph: WordGraph) -> Floats | None:
        """Return what a graph leaves of what is allowed; None where it does not hold."""
        errors, wrapped, _ = deviations(graph, self.others)
        return None if wrapped else self.left_by(errors)

    def left_by(self, errors: Floats) -> Floats | None:
        """Return what errors at the other states leave; None where they do not hold for sure."""
        squares = self.counted(errors) ** 2
        spread = squares.std(axis=0) / math.sqrt(len(squares))
        left = self.allowed - squares.mean(axis=0) - JUDGE_SIGMAS * spread
        return np.asarray(left) if (left >= 0).all() else None


def drawn(compact: Compact, count: int, seed: int) -> States:
    """Return seeded states as words of a result's own widths."""
    demand = compact.demand
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, count, seed + demand.seed)
    found = [states for _, states in sampling.blocks(compact.graph)]
    names = [node.name for node in compact.graph.inputs]
    words = {name: np.concatenate([one.words[name] for one in found]) for name in names}
    return States(words, {}, np.concatenate([one.outputs for one in found]))


# --------------------------------------------------------------------------------------------------
# A network as arrays that change, at rows that do not: see `search_kernels`.
# --------------------------------------------------------------------------------------------------


ALL_ONES = ~np.uint64(0)
BLOCK = 64  # rows that a word of a plane holds


@dataclass(frozen=True, slots=True)
class Breadth:
    """How many signals are looked at in place of a node: alone, and three at a time."""

    alone: int
    together: int


class Searching:
    """A network that changes, at rows: the inputs there, what words should be, what errors cost."""

    def __init__(self, network: Network, inputs: Bits, words: WordRows, home: Whole) -> None:
        self.inputs, self.words, self.home = inputs, words, home
        self.take(network)

    def take(self, network: Network) -> None:
        """Begin with a network; its words are read."""
        self.network, self.nodes = network, arrays_of(network)
        self.now = planes_of(self.nodes, self.inputs)
        evaluate(self.nodes, np.arange(self.nodes.first, len(self.nodes.fan)), self.now)
        self.word = np.zeros_like(self.home)
        none = np.zeros(self.home.shape)
        read_words(self.nodes, self.words, Rows(self.word, self.home, none, none), self.now)

    def run(
        self, off: Floats, weight: Floats, asked: Asked, state: Bits, *,
        left: Floats | None = None, some: Whole | None = None, mirror: Mirror | None = None,
    ) -> int:  # fmt: skip
        """Change the network where that gains nodes; return how many changes were made.

        `off` is by how much words are more than they should be, `weight` what the square of that
        costs. `some` are the blocks of rows that say what is promising, all if none are given.
        """
        every = _looked(Rows(self.word, self.home, off, weight), self.now)
        chosen = np.arange(self.inputs.shape[1]) if some is None else some
        rows = (chosen[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        rows = rows[rows < self.home.shape[1]]
        scale = weight.sum() / max(weight[:, rows].sum(), 1e-300)
        word, home = (np.ascontiguousarray(one[:, rows]) for one in (self.word, self.home))
        part = Rows(word, home, *(np.ascontiguousarray(one[:, rows]) for one in (off, weight)))
        part.weight[:] *= scale
        less = _looked(part, np.ascontiguousarray(self.now[:, chosen]))
        most = np.full(len(self.words.bits), np.inf) if left is None else left
        limits, net = Limits(most, mirror or no_mirror()), Net(self.nodes, self.words)
        order, made = search(net, less, every, limits, asked, state)
        self.take(network_of(self.nodes, order))
        return int(made)

    def costs(self, off: Floats, weight: Floats) -> Floats:
        """Return what every word costs."""
        return np.asarray(costs_of(Rows(self.word, self.home, off, weight)))


def _looked(rows: Rows, now: Bits) -> Looked:
    return Looked(rows, room(now), np.zeros(rows.word.shape[1]))


def arrays_of(network: Network) -> Nodes:
    """Return a network as arrays."""
    first = CONSTANTS + network.inputs
    signals = first + len(network.nodes)
    fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
    for s, node in enumerate(network.nodes, first):
        fan[s, : len(node.operands)] = node.operands
        lut[s] = node.lut
    size = np.full(signals, -1, np.int64)
    size[first:] = 1
    outs, refs = np.array(network.outputs, np.int64), np.zeros(signals, np.int64)
    np.add.at(refs, fan[first:].ravel(), 1)
    np.add.at(refs, outs, 1)
    level, height = np.zeros(signals, np.int64), np.zeros(signals, np.int64)
    return Nodes(fan, lut, refs, size, level, height, outs, stack_of(signals), first)


def stack_of(signals: int) -> Whole:
    """Return room for a walk over so many signals."""
    return np.zeros(4 * signals + 8, np.int64)


def planes_of(nodes: Nodes, inputs: Bits) -> Bits:
    """Return planes of which only constants and inputs are filled in."""
    planes = np.zeros((len(nodes.fan), inputs.shape[1]), np.uint64)
    planes[1], planes[CONSTANTS : nodes.first] = ALL_ONES, inputs
    return planes


def room(now: Bits) -> Planes:
    """Return planes with room for those after a change."""
    signals = len(now)
    return Planes(now, np.empty_like(now), np.zeros(signals, np.uint8), np.zeros(signals, np.int64))


def network_of(nodes: Nodes, order: Whole) -> Network:
    """Return arrays as a network."""
    builder = Builder(nodes.first - CONSTANTS)
    literals = {s: 2 * s for s in range(nodes.first)}
    for s in order.tolist():
        operands = (literals[k] for k in nodes.fan[s].tolist())
        literals[s] = builder.node(int(nodes.lut[s]), *operands)
    return builder.build(literals[k] for k in nodes.outs.tolist())


def no_mirror() -> Mirror:
    """Return that nothing has to follow."""
    empty = np.zeros(0, np.int64)
    marks = np.zeros(0, np.uint8)
    nodes = Nodes(np.zeros((0, 3), np.int64), empty, empty, empty, empty, empty, empty, empty, 0)
    planes = Planes(np.zeros((0, 0), np.uint64), np.zeros((0, 0), np.uint64), marks, empty)
    return Mirror(nodes, planes, empty, empty, marks, marks, marks, empty, marks, marks)


def row_planes(column: Whole) -> Bits:
    """Return a column of bits, a row each, as words of 64 rows."""
    packed = np.packbits(column.astype(np.uint8), bitorder="little")
    padded = np.zeros(-(-len(packed) // 8) * 8, np.uint8)
    padded[: len(packed)] = packed
    return padded.view(np.uint64)


# --------------------------------------------------------------------------------------------------
# Free changes that the by-rule network of the graph can follow: each is a cone of `words.cones`.
#
# The network that is made smaller is not made by rule any more, but nearly all of its nodes are
# alike to one that is. A change counts if the same change of that one's spot makes the same
# outputs; in the end both networks are proved equivalent. By how much a cone moves its word is then
# seen at all values of what it reads, and booked in the bound.
# --------------------------------------------------------------------------------------------------


ONE = np.uint64(1)
LATE = 1 << 40  # of signals that have no name
WORDS, SEED = 1 << 12, 0xC0E5  # of 64 random words each


class Follower:
    """The network that a graph says, made by rule, as it follows the changes of another.

    Both are compared at words that the search has not seen: what differs there is undone.
    """

    def __init__(self, graph: WordGraph, synthesise: Synthesiser) -> None:
        made = ConedLogic(graph, synthesise)
        outputs = made.outputs()
        nodes, first = made.builder.nodes, CONSTANTS + made.builder.inputs
        signals = first + len(nodes)
        self.names: dict[int, tuple[Signal, int]] = {}
        self.spots: dict[int, list[tuple[Spot, int]]] = {}
        self.when = np.full(signals, LATE, np.int64)
        self.when[:CONSTANTS] = -1
        self.written, self.read = np.zeros(signals, np.uint8), np.zeros(signals, np.uint8)
        self.read[:CONSTANTS] = 1
        for turn, (signal, literal) in enumerate(made.signals.items()):
            place = literal >> 1
            if place >= CONSTANTS and place not in self.names:
                self.names[place], self.when[place] = (signal, literal & 1), turn
                self.read[place] = 1
            if isinstance(signal, Spot) and place >= first:
                self.spots.setdefault(place, []).append((signal, literal & 1))
        for place, spots in self.spots.items():
            heaps = (graph.nodes[spot.word] for spot, _ in spots)
            self.written[place] = all(isinstance(x, Heap) and not x.wraps for x in heaps)
        fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
        for s, node in enumerate(nodes, first):
            fan[s, : len(node.operands)], lut[s] = node.operands, node.lut
        outs = np.array([literal >> 1 for literal in outputs], np.int64)
        self.inverted = np.array([literal & 1 for literal in outputs], np.uint8)
        none = np.zeros(signals, np.int64)
        self.nodes = Nodes(fan, lut, none, none, none, none, outs, stack_of(signals), first)
        self.order = np.arange(first, signals)
        self.changed = np.zeros(signals, np.uint8)
        rng = np.random.default_rng(SEED)
        most = np.iinfo(np.uint64).max
        self.drawn = rng.integers(0, most, (first - CONSTANTS, WORDS), np.uint64, endpoint=True)
        self._now: Bits | None = None
        self._kept = self._state()

    def _state(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.uint8]]:
        return self.nodes.fan.copy(), self.nodes.lut.copy(), self.changed.copy()

    def agrees(self, network: Network) -> bool:
        """Tell whether a network is this one at random words; if not, undo what came since."""
        own, other = (self._outputs(nodes) for nodes in (self.nodes, arrays_of(network)))
        own[self.inverted > 0] ^= ALL_ONES
        same = np.array_equal(own, other)
        if same:
            self._kept = self._state()
        else:
            self.nodes.fan[:], self.nodes.lut[:], self.changed[:] = self._kept
            self._now = None
        return same

    def _outputs(self, nodes: Nodes) -> Bits:
        now = planes_of(nodes, self.drawn)
        evaluate(nodes, np.arange(nodes.first, len(nodes.fan)), now)
        return now[nodes.outs]

    def mirror(self, searching: Searching) -> Mirror:
        """Return this as the mirror of a network that is searched."""
        if self._now is None:
            self._now = planes_of(self.nodes, searching.inputs)
            evaluate(self.nodes, self.order, self._now)
        places = _places(self._now, self.written)
        place = np.full(len(searching.now), -1, np.int64)
        flipped = np.zeros(len(place), np.uint8)
        for s, plane in enumerate(searching.now):
            key, inverse = _plane_key(plane)
            found = places.get(key)
            if found is not None:
                place[s], flipped[s] = found[0], found[1] ^ inverse
        place[:CONSTANTS], flipped[:CONSTANTS] = np.arange(CONSTANTS), 0
        return Mirror(
            self.nodes, room(self._now), self.order, place, flipped, self.written, self.read,
            self.when, self.changed, self.inverted,
        )  # fmt: skip

    def said(self) -> tuple[Cone, ...]:
        """Return the cones of all changes so far."""
        return tuple(sorted(self._cones(), key=lambda cone: cone.spot))

    def _cones(self) -> Iterator[Cone]:
        for place in np.flatnonzero(self.changed).tolist():
            table = int(self.nodes.lut[place])
            operands: list[Signal] = []
            for k, read in enumerate(self.nodes.fan[place].tolist()):
                if read < CONSTANTS:
                    table = luts.cofactors(table, k)[read]
                    operands.append(Spot(0, 0, 0))  # which the table then ignores
                    continue
                signal, inverse = self.names[read]
                table = luts.inverted(table, k) if inverse else table
                operands.append(signal)
            for spot, inverse in self.spots[place]:
                yield _cone(spot, ~table & luts.ALL if inverse else table, operands)


def _cone(spot: Spot, table: int, operands: Sequence[Signal]) -> Cone:
    """Return a cone of the signals that its table reads, each once."""
    read = list(dict.fromkeys(operands[k] for k in luts.support(table)))
    letters = [luts.LETTERS[read.index(x)] if x in read else luts.FIRST for x in operands]
    table = luts.compose(table, (letters[0], letters[1], letters[2]))
    return Cone(spot, table, tuple(read))


def _places(planes: Bits, written: NDArray[np.uint8]) -> dict[bytes, tuple[int, int]]:
    """Return the signals by their values, those that may change before others that are alike."""
    found: dict[bytes, tuple[int, int]] = {}
    for s, plane in enumerate(planes):
        key, inverse = _plane_key(plane)
        known = found.get(key)
        if known is None or (written[s] and not written[known[0]]):
            found[key] = s, inverse
    return found


def _plane_key(plane: Bits) -> tuple[bytes, int]:
    inverse = int(plane[0] & ONE)
    return (~plane if inverse else plane).tobytes(), inverse


# --------------------------------------------------------------------------------------------------
# Nodes of a finished network changed where outputs then err as is allowed.
#
# A node is inverted at some thousand states, which prices all its changes (see `search_kernels`);
# what is promising is tried at all states of a window: it must gain more than it costs there, and
# leave every output within what it may err by. No word may move, at any of these states or of some
# extremes, by more than a few steps from where it was: a node that makes a leading bit now and then
# is left alone, though no mean would tell. The price of what is left of the allowed mean square
# falls, so that what is nearly free is taken first; changes that lose a little are drawn now and
# then, ever fewer, because they lead elsewhere. What is kept holds at other states as well.
# --------------------------------------------------------------------------------------------------


TURNS = 50
FIRST_PRICE, LAST_PRICE = 10.0, 0.2  # nodes that all that is left to spend must gain
WARMTH = 0.2  # nodes that a change may lose, in the beginning
VISITS, VISITS_A_NODE = 3000, 2.0  # of nodes, for a nominal second of effort
LEAST_LEFT = 0.003  # of what is allowed: what is left of an output counts as no less
SOME, SOME_EXTREMES = 64, 8  # blocks of rows that say what is promising
SIGMAS = 2.0  # of a mean square at the window, beside what is allowed
SIGMAS_OTHERS = 0.7  # at the others
FURTHEST = 6.0  # steps: how far a word may move at a state
EXTREMES, EXTREME_SEED = 8192, 0xE0
FREE_ALONE, FREE_TOGETHER = 16, 10  # signals looked at in place of a node


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A network that holds, its graph, and states at which it must not move far.

    Of `centred` outputs the mean error does not count: decoders take it off.
    """

    compact: Compact
    network: Network
    hard: Floats
    centred: Sequence[bool]


class Smaller(NamedTuple):
    """A network that was made smaller, and the cones that say how, where one followed."""

    network: Network
    cones: tuple[Cone, ...]


class Window:
    """States at which words are known, what they should be, and what they may err by."""

    def __init__(self, start: Start, count: int, seed: int, *, extremes: bool) -> None:
        compact, graph = start.compact, start.compact.graph
        states = drawn(compact, count, seed)
        self.states = joined(states, _hard(start)) if extremes else states
        self.counted, self.centred = count, np.asarray(start.centred, bool)
        self.allowed, self.graph = compact.allowed, graph
        errors = network_errors(start.network, graph, self.states)[0]
        halves = [2.0 ** (x.bits - 1) - (0.0 if x.tread else 0.5) for x in graph.results]
        self.target = (clipped(graph, self.states.outputs) + np.array(halves)).T
        self.home = np.round(errors.T + self.target).astype(np.int64)

    def off(self, word: Whole) -> Floats:
        """Return by how much words are more than they should be, means that do not count off."""
        off = word - self.target
        mean = off[:, : self.counted].mean(axis=1)
        return np.asarray(off - np.where(self.centred, mean, 0.0)[:, None])

    def left(self, off: Floats, sigmas: float) -> Floats:
        """Return what errors leave of the mean squares that are allowed, for sure."""
        squares = off[:, : self.counted] ** 2
        spread = squares.std(axis=1) / np.sqrt(self.counted)
        return np.asarray(self.allowed - squares.mean(axis=1) - sigmas * spread)

    def holds(self, network: Network) -> bool:
        """Tell whether a network errs as is allowed."""
        errors = network_errors(network, self.graph, self.states)[0]
        off = self.off(np.round(errors.T + self.target).astype(np.int64))
        return bool((self.left(off, SIGMAS_OTHERS) >= 0).all())


def with_free_changes(
    start: Start,
    effort: float,
    report: Callable[[float, Network, Floats], None] = lambda *_: None,
    follower: Follower | None = None,
) -> list[Smaller]:
    """Return smaller networks whose mean squares are as allowed at states drawn, smallest first.

    So many nodes are looked at as `effort` allows. A change counts if a `follower` can follow it.
    """
    best, graph = start.network, start.compact.graph
    window = Window(start, WINDOW, WINDOW_SEED, extremes=True)
    others = Window(start, JUDGED, JUDGED_SEED, extremes=False)
    visits = round(effort * (VISITS + VISITS_A_NODE * len(best.nodes)) / TURNS)
    if not visits or not best.nodes or not others.holds(best):
        return []
    words = output_words(graph)
    searching = Searching(best, input_rows(graph, window.states), words, window.home)
    state, rng = np.array([1], np.uint64), np.random.default_rng(1)
    kept: list[Smaller] = []
    for turn in range(TURNS):
        before, off = searching.network, window.off(searching.word)
        left = window.left(off, SIGMAS)
        price = FIRST_PRICE * (LAST_PRICE / FIRST_PRICE) ** (turn / (TURNS - 1))
        worth = price / np.maximum(left, LEAST_LEFT * window.allowed)
        weight = np.zeros_like(off)
        weight[:, : window.counted] = worth[:, None] / window.counted
        warmth = WARMTH * (1 - turn / TURNS)
        searching.run(
            off, weight,
            Asked(visits, start.network.depth, warmth, FREE_ALONE, FREE_TOGETHER), state,
            left=left * worth, some=_some(rng, window),
            mirror=follower.mirror(searching) if follower else None,
        )  # fmt: skip
        if follower and not follower.agrees(searching.network):
            searching.take(before)
            continue
        kept.append(Smaller(searching.network, follower.said() if follower else ()))
        found = window.left(window.off(searching.word), 0.0)
        rms = np.sqrt(window.allowed - found)
        report((turn + 1) / TURNS, searching.network, rms)
    kept = [one for one in kept if len(one.network.nodes) < len(best.nodes)]
    kept.sort(key=lambda one: len(one.network.nodes))
    return [one for one in kept if others.holds(one.network)]


def _some(rng: np.random.Generator, window: Window) -> Whole:
    """Return the blocks of rows that are looked at first: other ones every time."""
    drawn_blocks, all_blocks = window.counted // BLOCK, -(-window.home.shape[1] // BLOCK)
    some = rng.choice(drawn_blocks, min(SOME, drawn_blocks), replace=False)
    extreme = np.arange(drawn_blocks, all_blocks)
    more = rng.choice(extreme, min(SOME_EXTREMES, len(extreme)), replace=False)
    return np.concatenate([some, more]).astype(np.int64)


def _hard(start: Start) -> States:
    """Return states that count for nothing but for how far words move: extremes, and given ones."""
    compact, problem = start.compact, start.compact.problem
    demand, own = compact.demand, {node.name: node.bits for node in compact.graph.inputs}
    words = {
        name: replace(word, bits=own.get(name, word.bits))
        for name, word in quantities(problem, demand.input_bits).items()
    }
    steps = problem.steps(demand.bits)
    found = corners(problem, words, steps, EXTREMES, EXTREME_SEED + demand.seed)
    if len(start.hard):
        found = joined(found, states_of(problem, words, steps, problem.arrays(start.hard)))
    return found


def output_words(graph: WordGraph) -> WordRows:
    """Return which of a network's outputs are the bits of words, and how far these may move."""
    results, most = graph.results, max(result.bits for result in graph.results)
    bits, flags, place = np.full((len(results), most), -1, np.int64), [], 0
    for k, result in enumerate(results):
        bits[k, : result.bits] = np.arange(place, place + result.bits)
        place += result.bits + 1
        flags.append(place - 1)
    return WordRows(bits, np.array(flags, np.int64), np.full(len(results), FURTHEST))


def input_rows(graph: WordGraph, states: States) -> NDArray[np.uint64]:
    """Return the planes of a network's inputs at states: each word's most significant bit first."""
    return np.stack([
        row_planes(states.words[node.name] >> k & 1)
        for node in graph.inputs
        for k in reversed(range(node.bits))
    ])  # fmt: skip


# --------------------------------------------------------------------------------------------------
# What changes of tables' entries cost: by how much the outputs' mean squares grow, entry by entry.
#
# A table's word is raised by one at all states, what follows is simulated again, and the states
# tell by entry how outputs move and how that agrees with their errors. Sums are looked at before
# their low bits are cut off, so that small movements are seen. A change by d steps then costs
# linear·d + square·d². Tables that share their logic (see `words.folding`) share their prices.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Use:
    """A table that is made of a core: the rows of its entries, and which of them are inverted."""

    place: int
    rows: Words
    inverted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """The logic of tables that are equal but for their order and signs: entries of so many bits."""

    inputs: int
    bits: int
    entries: tuple[int, ...]
    uses: tuple[Use, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What entries of a core cost, (outputs, rows); `reach` is the most a step moves outputs."""

    linear: Floats
    square: Floats
    reach: Floats


def cores_of(graph: WordGraph) -> tuple[Core, ...]:
    """Return the cores of a graph's tables, but those that are a word's bits themselves."""
    found: dict[tuple[int, tuple[int, ...]], list[Use]] = {}
    shapes = {}
    for place, node in enumerate(graph.nodes):
        if not isinstance(node, Lookup) or node.entries == tuple(range(1 << node.bits)):
            continue
        folded, mirrored, inverted = canonical(fold(node.entries, node.bits), node.bits)
        if not folded.inputs:
            continue
        index = np.arange(len(node.entries))
        rows = np.zeros_like(index)
        for i, mask in enumerate(folded.inputs):
            rows |= (_parity(index & mask) ^ mirrored) << i
        use = Use(place, rows, (_parity(index & folded.flip) ^ inverted).astype(bool))
        key = node.bits, folded.core
        shapes[key] = len(folded.inputs)
        found.setdefault(key, []).append(use)
    return tuple(Core(shapes[key], key[0], key[1], tuple(uses)) for key, uses in found.items())


def _parity(words: Words) -> Words:
    found, words = words & 1, words >> 1
    while words.any():
        found, words = found ^ words & 1, words >> 1
    return found


def with_entries(graph: WordGraph, core: Core, entries: Words) -> dict[int, Lookup]:
    """Return the tables of a core with other entries, by their places."""
    full = (1 << core.bits) - 1
    made = {}
    for use in core.uses:
        node = graph.nodes[use.place]
        if not isinstance(node, Lookup):
            raise TypeError(f"word {use.place} is no table")
        words = np.where(use.inverted, entries[use.rows] ^ full, entries[use.rows])
        made[use.place] = Lookup(
            node.source, node.read, tuple(words.tolist()), node.bits, node.mask
        )
    return made


class Pricing:
    """A graph simulated at states, for prices of its tables."""

    def __init__(self, graph: WordGraph, states: States, errors: Floats) -> None:
        """`errors` are those of the graph's outputs, in steps, (states, outputs)."""
        self.graph, self.count = graph, len(states.outputs)
        self.values: list[Words] = []
        for place, node in enumerate(graph.nodes):
            if isinstance(node, InputWord):
                self.values.append(states.words[node.name])
            else:
                self.values.append(node_word(graph, place, self.values)[0])
        self.errors = np.stack(
            [errors[:, k] + self._cut(k) for k in range(len(graph.results))], axis=1
        )

    def _cut(self, output: int) -> Floats:
        """Return what was cut off an output's sum, in steps, from the middle of its cell."""
        result = self.graph.results[output]
        low = self.values[result.node] & ((1 << result.drop) - 1)
        return np.asarray((low + 0.5) / (1 << result.drop) - 0.5)

    def of(self, core: Core) -> Prices:
        """Return what entries of a core cost."""
        outputs, rows = len(self.graph.results), len(core.entries)
        linear, square = np.zeros((outputs, rows)), np.zeros((outputs, rows))
        reach = np.zeros(outputs)
        for use in core.uses:
            node = self.graph.nodes[use.place]
            if not isinstance(node, Lookup):
                raise TypeError(f"word {use.place} is no table")
            source = self.graph.nodes[node.source]
            index = masked(self.values[node.source] >> (source.bits - node.read), node.mask)
            where, sign = use.rows[index], np.where(use.inverted[index], -1.0, 1.0)
            moved = self._moved(use.place)
            for k in range(outputs):
                linear[k] += np.bincount(where, 2 * sign * self.errors[:, k] * moved[:, k], rows)
                square[k] += np.bincount(where, moved[:, k] ** 2, rows)
                reach[k] = max(reach[k], float(np.abs(moved[:, k]).max()))
        return Prices(linear / self.count, square / self.count, reach)

    def _moved(self, place: int) -> Floats:
        """Return how outputs move, in steps, where a word is one more (the largest: one less)."""
        graph, values = self.graph, list(self.values)
        step = np.where(values[place] == (1 << graph.nodes[place].bits) - 1, -1, 1)
        values[place] = values[place] + step
        after = {place}
        for later in range(place + 1, len(graph.nodes)):
            if after.intersection(reads(graph.nodes[later])):
                values[later] = node_word(graph, later, values)[0]
                after.add(later)
        found = np.zeros((self.count, len(graph.results)))
        for k, result in enumerate(graph.results):
            if result.node in after:
                half = 1 << (graph.nodes[result.node].bits - 1)
                by = (values[result.node] - self.values[result.node] + half) % (2 * half) - half
                found[:, k] = step * by / (1 << result.drop)
        return found


# --------------------------------------------------------------------------------------------------
# Entries of tables chosen anew: where an entry's change saves logic and errors still hold.
#
# The logic of a table is searched at all its rows (`search_kernels`), at what entries cost
# (`prices`); what is left of it says the entries. They go back into the graph, which is simulated
# on other states: what does not hold there is undone, all of it, or the half that saves least.
# Prices begin so high that only what is nearly free is taken, and fall. What saves nothing but errs
# less is taken, too, so that there is more to spend.
# --------------------------------------------------------------------------------------------------


Known: TypeAlias = "dict[tuple[int, Columns], Network]"
PRICES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)  # nodes that all that is left to spend must gain
ENTRY_LEAST_LEFT = 0.002  # steps²: what is left of an output counts as no less
ENTRY_TURNS, ENTRY_VISITS = 3, 10  # of searches, and how often each looks at a node
ENTRY_WARMTH = 0.02  # nodes that a change may lose: it leads elsewhere
ENTRY_ALONE, ENTRY_TOGETHER = 40, 10  # signals looked at in place of a node
UNSEEN = 0.1  # of an entry's mean price: that of one that no state reads, at least
ENTRY_FURTHEST = 4.0  # steps of an output: how far an entry may move it


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """Logic of a core with other entries, and what that gains in nodes, prices included."""

    core: int
    gain: float
    network: Network
    entries: NDArray[np.int64]


def with_cheaper_tables(
    compact: Compact,
    synthesise: Synthesiser,
    centred: Sequence[bool],
    report: Callable[[float, int, Floats], None] = lambda *_: None,
) -> tuple[WordGraph, Known]:
    """Return a graph with other entries of tables, whose mean squares are as allowed.

    With it comes the logic of tables that was found, by number of inputs and columns.

    `centred` outputs may err in the mean: that is taken off when they are decoded. `report` is
    told, after every price, how far this is, the nodes that tables have saved, and rms errors.
    """
    judge = Judge.of(compact, centred)
    graph, left = compact.graph, judge.left(compact.graph)
    known: Known = {}
    if left is None:
        return graph, known
    nets = logic_of(cores_of(graph), known, synthesise)
    first = sum(len(net.nodes) for net in nets)
    for turn, price in enumerate(PRICES):
        worth = price / np.maximum(left, ENTRY_LEAST_LEFT)
        cores = cores_of(graph)
        nets = logic_of(cores, known, synthesise)
        pricing = Pricing(graph, judge.window, judge.errors(graph))
        changes = [
            _changed(k, core, net, pricing.of(core), worth)
            for k, (core, net) in enumerate(zip(cores, nets, strict=True))
        ]
        changes = sorted((one for one in changes if one.gain > 0), key=lambda one: -one.gain)
        while changes:
            tried = _with(graph, cores, changes)
            now = judge.left(tried)
            if now is not None:
                graph, left = tried, now
                for one in changes:
                    known[_core_key(cores[one.core], one.entries.tolist())] = one.network
                nets = logic_of(cores_of(graph), known, synthesise)
                break
            changes = changes[: len(changes) // 2]
        saved = first - sum(len(net.nodes) for net in nets)
        report((turn + 1) / len(PRICES), saved, np.sqrt(judge.allowed - left))
    return graph, known


def logic_of(cores: Sequence[Core], known: Known, synthesise: Synthesiser) -> list[Network]:
    """Return the logic of cores, and make it known: what is not, is synthesised.

    With other entries a table may fold once more, or another way round: its core is another then.
    """
    for one in cores:
        key = _core_key(one, one.entries)
        if key not in known:
            known[key] = synthesise(*key)
    return [known[_core_key(one, one.entries)] for one in cores]


def _core_key(core: Core, entries: Sequence[int]) -> tuple[int, Columns]:
    return core.inputs, columns_of(tuple(entries), core.bits)


def _changed(place: int, core: Core, network: Network, prices: Prices, worth: Floats) -> _Change:
    """Return a core's logic after sweeps at what its entries cost."""
    square, linear = worth @ prices.square, worth @ prices.linear
    weight = np.maximum(square, UNSEEN * square.mean() + 1e-12)
    home = np.asarray(core.entries, np.int64)
    most = max(1.0, ENTRY_FURTHEST / max(float(prices.reach.max()), 1e-9) // 1)
    bits = np.arange(core.bits)[None, ::-1].copy()
    words = WordRows(bits, np.zeros(0, np.int64), np.array([most]))
    index = np.arange(len(home))
    planes = np.stack([row_planes(index >> k & 1) for k in range(core.inputs)])
    swept, beside = Searching(network, planes, words, home[None]), linear / (2 * weight)

    def off() -> Floats:
        return np.asarray(swept.word - home + beside)

    before, state = swept.costs(off(), weight[None]).sum(), np.array([1], np.uint64)
    for _ in range(ENTRY_TURNS):
        visits = ENTRY_VISITS * len(swept.network.nodes)
        asked = Asked(
            visits, network.depth, ENTRY_WARMTH, ENTRY_ALONE, ENTRY_TOGETHER, complete=True
        )
        swept.run(off(), weight[None], asked, state)
    after = swept.costs(off(), weight[None]).sum()
    gain = len(network.nodes) - len(swept.network.nodes) + before - after
    return _Change(place, float(gain), swept.network, swept.word[0])


def _with(graph: WordGraph, cores: Sequence[Core], changes: Sequence[_Change]) -> WordGraph:
    made: dict[int, Lookup] = {}
    for one in changes:
        made |= with_entries(graph, cores[one.core], one.entries)
    return replace(graph, nodes=tuple(made.get(k, node) for k, node in enumerate(graph.nodes)))


# --------------------------------------------------------------------------------------------------
# From a finished result to a smaller one that errs as is allowed too: what is kept of it.
# --------------------------------------------------------------------------------------------------


WORTH = 0.01  # of all nodes: what is done where nobody asks for it must gain so much
FURTHER = 2.0  # steps: by how much more than before the worst may err, before it is fed back
FEEDS = 3
TRIED = 5  # networks that hold on some states, and are tried on fresh ones
PROOF_SECONDS = 600.0


class Made(NamedTuple):
    """A graph, its network, and the cones that this has in place of some of the graph's bits."""

    compact: Compact
    finished: Finished
    cones: tuple[Cone, ...] = ()


class Approximation:
    """One result that is made smaller, and who is told."""

    def __init__(
        self, exact: Begin, results: ResultStore, fresh: Sampling, progress: Listener
    ) -> None:
        self.exact, self.results, self.fresh, self.progress = exact, results, fresh, progress
        self.objective = results.demand.synthesis
        self.measured: list[tuple[Made, Errors | None]] = []

    def result(self) -> StoredResult | None:
        """Return a smaller result as is asked; None where there is none."""
        how = self.results.demand.approximate
        if not self.exact.finished.network.nodes:
            return None
        made = self._by_tables()
        if how != "tables":
            found = self._by_nodes(made, followed=how == "cones")
            made = min([made, *filter(None, [found])], key=self._cost)
        errors = self._errors(made) if self._is_worth_it(made) else None
        if errors is None:
            return None
        network, steps = made.finished.network, made.finished.steps
        counted = lut6(network, quick=not self.results.demand.effort)
        return StoredResult(made.compact, network, steps, counted, errors, cones=made.cones)

    def _is_worth_it(self, made: Made) -> bool:
        """Tell whether a result is smaller; where nobody asked for it, by more than a little."""
        now, before = self._cost(made), measure(self.exact.finished.network, self.objective)
        least = WORTH if self.results.demand.approximate == "tables" else 0.0
        return now < before and now[0] <= (1 - least) * before[0]

    def _cost(self, made: Made) -> tuple[int, int, int]:
        """Return what is made small."""
        return measure(made.finished.network, self.objective)

    def _errors(self, made: Made) -> Errors | None:
        """Return errors at fresh states, measured once; None where they are not as allowed."""
        for known, errors in self.measured:
            if known is made:
                return errors
        errors = self._measured(made)
        self.measured.append((made, errors))
        return errors

    def _measured(self, made: Made) -> Errors | None:
        network = made.finished.network
        self.progress(Progress("states of changes", len(network.nodes)))
        alone = not self.results.demand.keeps_graph
        errors = measure_many(self.fresh, made.compact.graph, network, alone=alone)
        mean = np.where(centred(self.exact.compact), errors.mean, 0.0)
        wrong = errors.wrapped or (errors.rms**2 - mean**2 > made.compact.allowed).any()
        return None if wrong else errors

    def _by_tables(self) -> Made:
        """Return a graph with other entries, and its network, made like any other."""
        exact = self.exact
        compact = replace(exact.compact, demand=self.results.demand)
        same, before = Made(compact, exact.finished), len(exact.finished.network.nodes)

        def told(fraction: float, saved: int, rms: Floats) -> None:
            self.progress(Progress("entries", before - saved, tuple(rms), fraction))

        own = synthesiser(self.objective, self.results.tables)
        graph, known = with_cheaper_tables(compact, own, centred(exact.compact), told)
        if graph == compact.graph:
            return same
        self.progress(Progress("passes over changes", before))
        start = table_network(graph, self.objective, self.results.tables, known=known)
        quick = not self.results.demand.effort
        done = smaller(start, self.objective, quick=quick)
        note = f"entries of tables chosen anew, from {before} nodes"
        chosen = Step("entries", len(start.network.nodes), start.network.depth, note)
        made = Made(replace(compact, graph=graph), Finished(done.network, (chosen, *done.steps)))
        smaller_now = self._cost(made) < self._cost(same)
        return made if smaller_now and self._errors(made) is not None else same

    def _by_nodes(self, begin: Made, *, followed: bool) -> Made | None:
        """Return a network some of whose nodes are others, smaller by exact passes in the end.

        Where it errs far more, those states are fed back; None where it still does then. One that
        is `followed` is proved to be its graph's network with other cones.
        """
        compact, demand = begin.compact, self.results.demand
        hard = np.zeros((0, len(compact.problem.inputs)))
        own = synthesiser(self.objective, self.results.tables)
        for turn in range(FEEDS):

            def told(fraction: float, network: Network, rms: Floats, turn: int = turn) -> None:
                part = (turn + fraction) / FEEDS
                self.progress(Progress("nodes", len(network.nodes), tuple(rms), part))

            start = Start(compact, begin.finished.network, hard, centred(self.exact.compact))
            follower = Follower(compact.graph, own) if followed else None
            found = with_free_changes(start, demand.effort, told, follower)
            made = next(
                filter(None, (self._finished(begin, x, followed=followed) for x in found[:TRIED])),
                None,
            )
            if made is None:
                break
            network = made.finished.network
            worst = network_worst(compact.problem, demand, compact.graph, network)
            known = self.exact.worst
            if known is None or (worst.most <= known.most + FURTHER).all():
                return made
            hard = np.concatenate([hard, worst.states.reshape(-1, hard.shape[1])])
        return None

    def _finished(self, begin: Made, found: Smaller, *, followed: bool) -> Made | None:
        """Return a network after exact passes; None where it does not hold, or is not proved."""
        graph, objective = begin.compact.graph, self.objective
        note = "nothing is proved"
        if followed:
            own = synthesiser(objective, self.results.tables)
            by_rule = ConedLogic(graph, own, found.cones).network()
            verdict = equivalent(found.network, by_rule, deadline=PROOF_SECONDS)
            if not verdict.holds:
                return None
            note = f"{len(found.cones)} cones, {verdict}"
        network = found.network
        kind = "cones" if followed else "free"
        before = len(begin.finished.network.nodes)
        step = Step(kind, len(network.nodes), network.depth, f"changed, from {before}: {note}")
        steps = (*begin.finished.steps, step)
        done = smaller(Finished(network, steps), objective, quick=not self.results.demand.effort)
        made = Made(begin.compact, done, found.cones)
        return None if self._errors(made) is None else made


def approximated(
    exact: Begin, results: ResultStore, fresh: Sampling, progress: Listener
) -> StoredResult | None:
    """Return a smaller result as the demand of `results` says; None where there is none.

    It holds at `fresh` states.
    """
    return Approximation(exact, results, fresh, progress).result()


def centred(compact: Compact) -> list[bool]:
    """Return of which outputs the decoder takes the mean off (see `errors.centre`)."""
    outputs, most = compact.problem.outputs, compact.demand.max
    return [not (one.format.tread or one.format.range or most) for one in outputs]
