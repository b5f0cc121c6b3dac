"""Make a finished result smaller within the allowed error: other table entries, other nodes.

A smaller result must keep to the allowed error on a million fresh states.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.compact.approximate_kernels import (
    MutableNetwork,
    Net,
    ObservedRows,
    RowWords,
    SearchBudget,
    SignalPlanes,
    WordRows,
    costs_of,
    evaluate,
    read_words,
    search,
)
from boolcomp.compact.demand import Progress
from boolcomp.compact.errors import (
    Sampling,
    StateMaker,
    States,
    clipped,
    deviations,
    joined,
    measure_many,
    network_errors,
    network_worst,
)
from boolcomp.compact.result import (
    Begin,
    StoredResult,
    lut6,
    smaller,
    synthesiser,
    table_network,
)
from boolcomp.compact.sketch import quantities
from boolcomp.compact.tables import columns_of
from boolcomp.logic import resub
from boolcomp.logic.network import CONSTANTS, rebuilt
from boolcomp.logic.synthesis import Finished, SynthesisStep, measure
from boolcomp.words.simulation import (
    canonical,
    fold,
    masked,
    row_planes,
    with_word,
    word_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Listener
    from boolcomp.compact.errors import Errors
    from boolcomp.compact.network import Synthesiser
    from boolcomp.compact.result import Compact, ResultStore
    from boolcomp.compact.tables import Columns
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import Lookup, WordGraph

    Floats = NDArray[np.float64]
    Bits = NDArray[np.uint64]
    Whole = NDArray[np.int64]
    Words = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# Tests of changed logic on states that no change has used.
# --------------------------------------------------------------------------------------------------

WINDOW, JUDGED = 1 << 15, 1 << 18  # states for prices of changes, and for tests of them
WINDOW_SEED, JUDGED_SEED = 0xA990, 0x70D6E


class Judge:
    """States, the exact outputs there, and the allowed mean squares, in steps².

    The mean error of `centred` outputs does not count, because decoders subtract it. States beyond
    `counted` only limit the moves of words. Errors and words are (outputs, states).
    """

    def __init__(
        self, compact: Compact, centred: Sequence[bool], count: int, seed: int,
        extremes: States | None = None,
    ) -> None:  # fmt: skip
        states = drawn(compact, count, seed)
        self.states = states if extremes is None else joined(states, extremes)
        self.counted, self.allowed = count, compact.allowed
        self.centred, self.graph = np.asarray(centred, bool), compact.graph

    def off(self, errors: Floats) -> Floats:
        """Return errors without means that do not count."""
        mean = np.where(self.centred, errors[:, : self.counted].mean(axis=1), 0.0)
        return np.asarray(errors - mean[:, None])

    def left(self, off: Floats, sigmas: float) -> Floats:
        """Return the unused part of the allowed mean squares, with a confidence in sigmas."""
        squares = off[:, : self.counted] ** 2
        spread = squares.std(axis=1) / np.sqrt(self.counted)
        return np.asarray(self.allowed - squares.mean(axis=1) - sigmas * spread)

    def of_graph(self, graph: WordGraph, sigmas: float) -> Floats | None:
        """Return the unused part for a graph; None if it may exceed the allowed mean squares."""
        errors, wrapped, _ = deviations(graph, self.states)
        left = self.left(self.off(errors.T), sigmas)
        return left if not wrapped and (left >= 0).all() else None

    def holds(self, network: Network, sigmas: float) -> bool:
        """Return whether a network keeps to the allowed mean squares."""
        errors = network_errors(network, self.graph, self.states)[0]
        return bool((self.left(self.off(errors.T), sigmas) >= 0).all())


def drawn(compact: Compact, count: int, seed: int) -> States:
    """Return seeded states as words of a result's own widths."""
    demand = compact.demand
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, count, seed + demand.seed)
    found = [states for _, states in sampling.blocks(compact.graph)]
    names = [node.name for node in compact.graph.inputs]
    words = {name: np.concatenate([one.words[name] for one in found]) for name in names}
    return States(words, {}, np.concatenate([one.outputs for one in found]))


# --------------------------------------------------------------------------------------------------
# A network as arrays for the kernels of `approximate_kernels`, with rows of inputs.
# --------------------------------------------------------------------------------------------------

ALL_ONES = ~np.uint64(0)
BLOCK = 64  # rows in a word of a plane


class Searching:
    """A network under change, with its inputs and words at rows."""

    def __init__(self, network: Network, inputs: Bits, words: WordRows, home: Whole) -> None:
        self.inputs, self.words, self.home = inputs, words, home
        self.take(network)

    def take(self, network: Network) -> None:
        """Start from a network."""
        self.network, self.nodes = network, arrays_of(network)
        self.now = planes_of(self.nodes, self.inputs)
        evaluate(self.nodes, np.arange(self.nodes.first, len(self.nodes.fan)), self.now)
        self.word = np.zeros_like(self.home)
        none = np.zeros(self.home.shape)
        read_words(self.nodes, self.words, RowWords(self.word, self.home, none, none), self.now)

    def run(
        self, off: Floats, weight: Floats, budget: SearchBudget, state: Bits, *,
        left: Floats | None = None, some: Whole | None = None,
    ) -> None:  # fmt: skip
        """Change the network where that gains nodes.

        `off` are the errors of words, `weight` the prices of their squares. Changes are selected at
        blocks `some` of rows (default: all).
        """
        every = _looked(RowWords(self.word, self.home, off, weight), self.now)
        chosen = np.arange(self.inputs.shape[1]) if some is None else some
        rows = (chosen[:, None] * BLOCK + np.arange(BLOCK)).ravel()
        rows = rows[rows < self.home.shape[1]]
        scale = weight.sum() / max(weight[:, rows].sum(), 1e-300)
        word, home = (np.ascontiguousarray(one[:, rows]) for one in (self.word, self.home))
        part = RowWords(word, home, *(np.ascontiguousarray(one[:, rows]) for one in (off, weight)))
        part.weight[:] *= scale
        sample = _looked(part, np.ascontiguousarray(self.now[:, chosen]))
        limits = np.full(len(self.words.bits), np.inf) if left is None else left
        net = Net(self.nodes, self.words)
        order, _ = search(net, sample, every, limits, budget, state)
        self.take(network_of(self.nodes, order))

    def costs(self, off: Floats, weight: Floats) -> Floats:
        return np.asarray(costs_of(RowWords(self.word, self.home, off, weight)))


def _looked(rows: RowWords, now: Bits) -> ObservedRows:
    return ObservedRows(rows, room(now), np.zeros(rows.word.shape[1]))


def arrays_of(network: Network) -> MutableNetwork:
    """Convert a network to arrays."""
    fan, lut, refs, outs = resub.arrays_of(network)
    first, signals = CONSTANTS + network.inputs, len(lut)
    size = np.full(signals, -1, np.int64)
    size[first:] = 1
    level, height = np.zeros(signals, np.int64), np.zeros(signals, np.int64)
    stack = np.zeros(4 * signals + 8, np.int64)
    return MutableNetwork(fan, lut, refs, size, level, height, outs, stack, first)


def planes_of(nodes: MutableNetwork, inputs: Bits) -> Bits:
    """Return planes with values of constants and inputs only."""
    planes = np.zeros((len(nodes.fan), inputs.shape[1]), np.uint64)
    planes[1], planes[CONSTANTS : nodes.first] = ALL_ONES, inputs
    return planes


def room(now: Bits) -> SignalPlanes:
    """Return planes with buffers for values after a change."""
    signals = len(now)
    return SignalPlanes(
        now, np.empty_like(now), np.zeros(signals, np.uint8), np.zeros(signals, np.int64)
    )


def network_of(nodes: MutableNetwork, order: Whole) -> Network:
    """Convert arrays to a network."""
    made = ((s, int(nodes.lut[s]), nodes.fan[s].tolist()) for s in order.tolist())
    return rebuilt(nodes.first - CONSTANTS, made, nodes.outs.tolist())


# --------------------------------------------------------------------------------------------------
# Changes of nodes of a finished network, within the allowed error.
#
# The inversion of a node at some thousand states prices all its changes (see
# `approximate_kernels`). A promising change is tested at all states of a window: it must gain more
# than it costs, and every output must keep to its error. No word may move by more than a few steps
# at these states and some extremes, so that a rarely used leading bit is not removed. The price of
# the unused part of the allowed mean square falls, so that nearly free changes are made first.
# Changes with a small loss are drawn at random, ever fewer, to leave local minima. The result is
# tested at other states.
# --------------------------------------------------------------------------------------------------

TURNS = 50
FIRST_PRICE, LAST_PRICE = 10.0, 0.2  # nodes to be gained for the whole unused mean square
WARMTH = 0.2  # nodes that a change may lose, in the beginning
VISITS, VISITS_A_NODE = 3000, 2.0  # of nodes, for a nominal second of effort
LEAST_LEFT = 0.003  # least unused part of an output's mean square in prices
SOME, SOME_EXTREMES = 64, 8  # blocks of rows for the selection of changes
SIGMAS = 2.0  # confidence of a mean square at the window, in its standard deviations
SIGMAS_OTHERS = 0.7  # and at the other states
FURTHEST = 6.0  # steps by which a word may move at a state
EXTREMES, EXTREME_SEED = 8192, 0xE0
FREE_ALONE, FREE_TOGETHER = 16, 10  # candidates for the replacement of a node


def with_free_changes(
    compact: Compact,
    network: Network,
    centred: Sequence[bool],
    effort: float,
    *,
    hard: Floats | None = None,
    report: Callable[[float, Network, Floats], None] = lambda *_: None,
) -> list[Network]:
    """Return smaller networks within the allowed mean squares, the smallest first.

    Words must not move far at `hard` states either. `effort` limits the number of visited nodes.
    """
    graph = compact.graph
    window = Judge(compact, centred, WINDOW, WINDOW_SEED, _extremes(compact, hard))
    others = Judge(compact, centred, JUDGED, JUDGED_SEED)
    visits = round(effort * (VISITS + VISITS_A_NODE * len(network.nodes)) / TURNS)
    if not visits or not network.nodes or not others.holds(network, SIGMAS_OTHERS):
        return []
    errors = network_errors(network, graph, window.states)[0]
    halves = [2.0 ** (x.bits - 1) - (0.0 if x.tread else 0.5) for x in graph.results]
    target = (clipped(graph, window.states.outputs) + np.array(halves)).T
    home = np.round(errors.T + target).astype(np.int64)
    searching = Searching(network, input_rows(graph, window.states), output_words(graph), home)
    state, rng = np.array([1], np.uint64), np.random.default_rng(1)
    kept: list[Network] = []
    for turn in range(TURNS):
        off = window.off(searching.word - target)
        left = window.left(off, SIGMAS)
        price = FIRST_PRICE * (LAST_PRICE / FIRST_PRICE) ** (turn / (TURNS - 1))
        worth = price / np.maximum(left, LEAST_LEFT * window.allowed)
        weight = np.zeros_like(off)
        weight[:, : window.counted] = worth[:, None] / window.counted
        warmth = WARMTH * (1 - turn / TURNS)
        searching.run(
            off, weight, SearchBudget(visits, network.depth, warmth, FREE_ALONE, FREE_TOGETHER),
            state, left=left * worth, some=_some(rng, window),
        )  # fmt: skip
        kept.append(searching.network)
        found = window.left(window.off(searching.word - target), 0.0)
        report((turn + 1) / TURNS, searching.network, np.sqrt(window.allowed - found))
    kept = [one for one in kept if len(one.nodes) < len(network.nodes)]
    kept.sort(key=lambda one: len(one.nodes))
    return [one for one in kept if others.holds(one, SIGMAS_OTHERS)]


def _some(rng: np.random.Generator, window: Judge) -> Whole:
    """Draw blocks of rows for the selection of changes."""
    drawn_blocks, all_blocks = window.counted // BLOCK, -(-len(window.states.outputs) // BLOCK)
    some = rng.choice(drawn_blocks, min(SOME, drawn_blocks), replace=False)
    extreme = np.arange(drawn_blocks, all_blocks)
    more = rng.choice(extreme, min(SOME_EXTREMES, len(extreme)), replace=False)
    return np.concatenate([some, more]).astype(np.int64)


def _extremes(compact: Compact, hard: Floats | None) -> States:
    """Return states that only limit the moves of words: extremes, and given ones."""
    problem, demand = compact.problem, compact.demand
    own = {node.name: node.bits for node in compact.graph.inputs}
    words = {
        name: replace(word, bits=own.get(name, word.bits))
        for name, word in quantities(problem, demand.input_bits).items()
    }
    maker = StateMaker(problem, words, problem.steps(demand.bits))
    found = maker.corners(EXTREMES, EXTREME_SEED + demand.seed)
    if hard is None:
        return found
    return joined(found, maker.at(problem.arrays(hard)))


def output_words(graph: WordGraph) -> WordRows:
    """Return the outputs of a network that are bits of words, and the largest moves of words."""
    results, width = graph.results, max(result.bits for result in graph.results)
    bits, flags, place = np.full((len(results), width), -1, np.int64), [], 0
    for k, result in enumerate(results):
        bits[k, : result.bits] = np.arange(place, place + result.bits)
        place += result.bits + 1
        flags.append(place - 1)
    return WordRows(bits, np.array(flags, np.int64), np.full(len(results), FURTHEST))


def input_rows(graph: WordGraph, states: States) -> NDArray[np.uint64]:
    return np.stack([
        row_planes(states.words[node.name] >> k & 1)
        for node in graph.inputs
        for k in reversed(range(node.bits))
    ])  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Prices of changed table entries: the growth of the outputs' mean squares.
#
# A table's word is raised by one at all states, and its dependents are simulated again. The moves
# of outputs at states that read an entry give the price linear·d + square·d² of a change by d
# steps. Sums are taken before their low bits are discarded, so that small moves count. Tables with
# common logic (see `fold`) have common prices.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CoreUse:
    """A table with a core: the rows of the core for its entries, and whether they are inverted."""

    place: int
    rows: Words
    inverted: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Core:
    """The logic of tables that are equal up to order and signs: entries of `bits` bits."""

    inputs: int
    bits: int
    entries: tuple[int, ...]
    uses: tuple[CoreUse, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EntryPrices:
    """Prices of entries of a core, (outputs, rows); `reach`: the largest moves by one step."""

    linear: Floats
    square: Floats
    reach: Floats


def cores_of(graph: WordGraph) -> tuple[Core, ...]:
    """Return the cores of a graph's tables, except those that copy a word's bits."""
    found: dict[tuple[int, tuple[int, ...]], list[CoreUse]] = {}
    shapes = {}
    for place, node in graph.tables.items():
        if node.entries == tuple(range(1 << node.bits)):
            continue
        folded, mirrored, inverted = canonical(fold(node.entries, node.bits), node.bits)
        if not folded.inputs:
            continue
        index = np.arange(len(node.entries))
        rows = np.zeros_like(index)
        for i, mask in enumerate(folded.inputs):
            rows |= (_parity(index & mask) ^ mirrored) << i
        use = CoreUse(place, rows, (_parity(index & folded.flip) ^ inverted).astype(bool))
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
        words = np.where(use.inverted, entries[use.rows] ^ full, entries[use.rows])
        made[use.place] = replace(graph.table(use.place), entries=tuple(words.tolist()))
    return made


class Pricing:
    """A graph simulated at states, for prices of its tables."""

    def __init__(self, graph: WordGraph, states: States, errors: Floats) -> None:
        """`errors` are those of the graph's outputs, in steps, (states, outputs)."""
        self.graph, self.count = graph, len(states.outputs)
        self.values = word_values(graph, states.words)
        self.errors = np.stack(
            [errors[:, k] + self._cut(k) for k in range(len(graph.results))], axis=1
        )

    def _cut(self, output: int) -> Floats:
        """Return the discarded part of an output's sum, in steps from the middle of its cell."""
        result = self.graph.results[output]
        low = self.values[result.node] & ((1 << result.drop) - 1)
        return np.asarray((low + 0.5) / (1 << result.drop) - 0.5)

    def of(self, core: Core) -> EntryPrices:
        """Return the prices of a core's entries."""
        outputs, rows = len(self.graph.results), len(core.entries)
        linear, square = np.zeros((outputs, rows)), np.zeros((outputs, rows))
        reach = np.zeros(outputs)
        for use in core.uses:
            node = self.graph.table(use.place)
            source = self.graph.nodes[node.source]
            index = masked(self.values[node.source] >> (source.bits - node.read), node.mask)
            where, sign = use.rows[index], np.where(use.inverted[index], -1.0, 1.0)
            moved = self._moved(use.place)
            for k in range(outputs):
                linear[k] += np.bincount(where, 2 * sign * self.errors[:, k] * moved[:, k], rows)
                square[k] += np.bincount(where, moved[:, k] ** 2, rows)
                reach[k] = max(reach[k], float(np.abs(moved[:, k]).max()))
        return EntryPrices(linear / self.count, square / self.count, reach)

    def _moved(self, place: int) -> Floats:
        """Return the moves of outputs, in steps, if a word is one more (the largest: one less)."""
        graph, own = self.graph, self.values[place]
        step = np.where(own == (1 << graph.nodes[place].bits) - 1, -1, 1)
        values = with_word(graph, self.values, place, own + step)
        found = np.zeros((self.count, len(graph.results)))
        for k, result in enumerate(graph.results):
            half = 1 << (graph.nodes[result.node].bits - 1)
            by = (values[result.node] - self.values[result.node] + half) % (2 * half) - half
            found[:, k] = step * by / (1 << result.drop)
        return found


# --------------------------------------------------------------------------------------------------
# Changes of table entries that save logic within the allowed error.
#
# The logic of a table is searched at all its rows, with prices of entries; the changed logic
# determines the entries. The graph with these is simulated on other states. If it exceeds the
# allowed error, the half of the changes with the smallest gains is undone. Prices begin high, so
# that nearly free changes are made first, and fall. A change that only reduces errors is also made.
# --------------------------------------------------------------------------------------------------

TableLogic: TypeAlias = "dict[tuple[int, Columns], Network]"  # by number of inputs and columns
ENTRY_SIGMAS = 1.5  # confidence of a mean square, in its standard deviations
PRICES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)  # nodes to be gained for the whole unused mean square
ENTRY_LEAST_LEFT = 0.002  # steps²: least unused mean square of an output in prices
ENTRY_TURNS, ENTRY_VISITS = 3, 10  # searches of a core, and visits of a node in each
ENTRY_WARMTH = 0.02  # nodes that a change may lose
ENTRY_ALONE, ENTRY_TOGETHER = 40, 10  # candidates for the replacement of a node
UNSEEN = 0.1  # least price of an entry, as a part of the mean price
ENTRY_FURTHEST = 4.0  # steps by which an entry may move an output


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """Logic of a core with other entries, and its gain in nodes, prices included."""

    core: int
    gain: float
    network: Network
    entries: NDArray[np.int64]


def with_cheaper_tables(
    compact: Compact,
    synthesise: Synthesiser,
    centred: Sequence[bool],
    report: Callable[[float, int, Floats], None] = lambda *_: None,
) -> tuple[WordGraph, TableLogic]:
    """Return a graph with changed table entries, and the logic of its tables.

    The mean error of `centred` outputs does not count. `report` is called after every price with
    the part that is done, the nodes saved in tables, and rms errors.
    """
    window = Judge(compact, centred, WINDOW, WINDOW_SEED)
    others = Judge(compact, centred, JUDGED, JUDGED_SEED)
    graph, left = compact.graph, others.of_graph(compact.graph, ENTRY_SIGMAS)
    known: TableLogic = {}
    if left is None:
        return graph, known
    nets = logic_of(cores_of(graph), known, synthesise)
    first = sum(len(net.nodes) for net in nets)
    for turn, price in enumerate(PRICES):
        worth = price / np.maximum(left, ENTRY_LEAST_LEFT)
        cores = cores_of(graph)
        nets = logic_of(cores, known, synthesise)
        errors = window.off(deviations(graph, window.states)[0].T).T
        pricing = Pricing(graph, window.states, errors)
        changes = [
            _changed(k, core, net, pricing.of(core), worth)
            for k, (core, net) in enumerate(zip(cores, nets, strict=True))
        ]
        changes = sorted((one for one in changes if one.gain > 0), key=lambda one: -one.gain)
        while changes:
            tried = _with(graph, cores, changes)
            now = others.of_graph(tried, ENTRY_SIGMAS)
            if now is not None:
                graph, left = tried, now
                for one in changes:
                    known[_core_key(cores[one.core], one.entries.tolist())] = one.network
                nets = logic_of(cores_of(graph), known, synthesise)
                break
            changes = changes[: len(changes) // 2]
        saved = first - sum(len(net.nodes) for net in nets)
        report((turn + 1) / len(PRICES), saved, np.sqrt(compact.allowed - left))
    return graph, known


def logic_of(cores: Sequence[Core], known: TableLogic, synthesise: Synthesiser) -> list[Network]:
    """Return the logic of cores, and add missing logic to `known` by synthesis.

    A table with changed entries may fold differently, and so have another core.
    """
    for one in cores:
        key = _core_key(one, one.entries)
        if key not in known:
            known[key] = synthesise(*key)
    return [known[_core_key(one, one.entries)] for one in cores]


def _core_key(core: Core, entries: Sequence[int]) -> tuple[int, Columns]:
    return core.inputs, columns_of(tuple(entries), core.bits)


def _changed(
    place: int, core: Core, network: Network, prices: EntryPrices, worth: Floats
) -> _Change:
    """Search the logic of a core with prices of its entries."""
    square, linear = worth @ prices.square, worth @ prices.linear
    weight = np.maximum(square, UNSEEN * square.mean() + 1e-12)
    home = np.asarray(core.entries, np.int64)
    furthest = max(1.0, ENTRY_FURTHEST / max(float(prices.reach.max()), 1e-9) // 1)
    bits = np.arange(core.bits)[None, ::-1].copy()
    words = WordRows(bits, np.zeros(0, np.int64), np.array([furthest]))
    index = np.arange(len(home))
    planes = np.stack([row_planes(index >> k & 1) for k in range(core.inputs)])
    swept, offset = Searching(network, planes, words, home[None]), linear / (2 * weight)

    def off() -> Floats:
        return np.asarray(swept.word - home + offset)

    before, state = swept.costs(off(), weight[None]).sum(), np.array([1], np.uint64)
    for _ in range(ENTRY_TURNS):
        visits = ENTRY_VISITS * len(swept.network.nodes)
        budget = SearchBudget(
            visits, network.depth, ENTRY_WARMTH, ENTRY_ALONE, ENTRY_TOGETHER, complete=True
        )
        swept.run(off(), weight[None], budget, state)
    after = swept.costs(off(), weight[None]).sum()
    gain = len(network.nodes) - len(swept.network.nodes) + before - after
    return _Change(place, float(gain), swept.network, swept.word[0])


def _with(graph: WordGraph, cores: Sequence[Core], changes: Sequence[_Change]) -> WordGraph:
    made: dict[int, Lookup] = {}
    for one in changes:
        made |= with_entries(graph, cores[one.core], one.entries)
    return replace(graph, nodes=tuple(made.get(k, node) for k, node in enumerate(graph.nodes)))


# --------------------------------------------------------------------------------------------------
# From a finished result to a smaller one.
# --------------------------------------------------------------------------------------------------

WORTH = 0.01  # least gain, as a part of all nodes, of approximate tables
FURTHER = 2.0  # steps: growth of the largest error from which its states are fed back
FEEDS = 3
TRIED = 5  # networks that are tested on fresh states


class Approximation:
    """The approximation of one result."""

    def __init__(
        self, exact: Begin, results: ResultStore, fresh: Sampling, progress: Listener
    ) -> None:
        self.exact, self.results, self.fresh, self.progress = exact, results, fresh, progress
        self.objective = results.demand.synthesis
        self.measured: list[tuple[Begin, Errors | None]] = []

    def result(self) -> StoredResult | None:
        """Return a smaller result within the allowed error; None if there is none."""
        if not self.exact.finished.network.nodes:
            return None
        made = self._by_tables()
        if self.results.demand.approximate != "tables":
            found = self._by_nodes(made)
            made = min([made, *filter(None, [found])], key=self._cost)
        errors = self._errors(made) if self._is_worth_it(made) else None
        if errors is None:
            return None
        network, steps = made.finished.network, made.finished.steps
        counted = lut6(network, quick=not self.results.demand.effort)
        return StoredResult(made.compact, network, steps, counted, errors)

    def _is_worth_it(self, made: Begin) -> bool:
        """Return whether a result is smaller; with changed tables, by `WORTH`."""
        now, before = self._cost(made), measure(self.exact.finished.network, self.objective)
        least = WORTH if self.results.demand.approximate == "tables" else 0.0
        return now < before and now[0] <= (1 - least) * before[0]

    def _cost(self, made: Begin) -> tuple[int, int, int]:
        return measure(made.finished.network, self.objective)

    def _errors(self, made: Begin) -> Errors | None:
        """Return errors at fresh states, measured once; None if they are too large."""
        for known, errors in self.measured:
            if known is made:
                return errors
        network = made.finished.network
        self.progress(Progress("states of changes", len(network.nodes)))
        alone = not self.results.demand.keeps_graph
        errors = measure_many(self.fresh, made.compact.graph, network, alone=alone)
        mean = np.where(centred(self.exact.compact), errors.mean, 0.0)
        invalid = errors.wrapped or (errors.rms**2 - mean**2 > made.compact.allowed).any()
        self.measured.append((made, None if invalid else errors))
        return self.measured[-1][1]

    def _by_tables(self) -> Begin:
        """Return a graph with changed table entries, and its network."""
        exact = self.exact
        compact = replace(exact.compact, demand=self.results.demand)
        same, before = Begin(compact, exact.finished), len(exact.finished.network.nodes)

        def report(fraction: float, saved: int, rms: Floats) -> None:
            self.progress(Progress("entries", before - saved, tuple(rms), fraction))

        own = synthesiser(self.objective, self.results.tables)
        graph, known = with_cheaper_tables(compact, own, centred(exact.compact), report)
        if graph == compact.graph:
            return same
        self.progress(Progress("passes over changes", before))
        start = table_network(graph, self.objective, self.results.tables, known=known)
        quick = not self.results.demand.effort
        done = smaller(start, self.objective, quick=quick)
        note = f"entries of tables chosen anew, from {before} nodes"
        chosen = SynthesisStep("entries", len(start.network.nodes), start.network.depth, note)
        made = Begin(replace(compact, graph=graph), Finished(done.network, (chosen, *done.steps)))
        smaller_now = self._cost(made) < self._cost(same)
        return made if smaller_now and self._errors(made) is not None else same

    def _by_nodes(self, begin: Begin) -> Begin | None:
        """Return a network with changed nodes, after exact passes; None if there is none.

        If its largest error has grown by much, the states of that error are fed back.
        """
        compact, demand = begin.compact, self.results.demand
        hard: Floats | None = None
        for turn in range(FEEDS):

            def report(fraction: float, network: Network, rms: Floats, turn: int = turn) -> None:
                part = (turn + fraction) / FEEDS
                self.progress(Progress("nodes", len(network.nodes), tuple(rms), part))

            found = with_free_changes(
                compact, begin.finished.network, centred(self.exact.compact), demand.effort,
                hard=hard, report=report,
            )  # fmt: skip
            made = next(filter(None, (self._finished(begin, x) for x in found[:TRIED])), None)
            if made is None:
                break
            network = made.finished.network
            worst = network_worst(compact.problem, demand, compact.graph, network)
            known = self.exact.worst
            if known is None or (worst.largest <= known.largest + FURTHER).all():
                return made
            states = worst.states.reshape(-1, len(compact.problem.inputs))
            hard = states if hard is None else np.concatenate([hard, states])
        return None

    def _finished(self, begin: Begin, network: Network) -> Begin | None:
        """Return a network after exact passes; None if its errors are too large."""
        before = len(begin.finished.network.nodes)
        note = f"changed, from {before}: nothing is proved"
        step = SynthesisStep("free", len(network.nodes), network.depth, note)
        start = Finished(network, (*begin.finished.steps, step))
        done = smaller(start, self.objective, quick=not self.results.demand.effort)
        made = Begin(begin.compact, done)
        return None if self._errors(made) is None else made


def approximated(
    exact: Begin, results: ResultStore, fresh: Sampling, progress: Listener
) -> StoredResult | None:
    """Return a smaller result within the demand of `results` at `fresh` states, or None."""
    return Approximation(exact, results, fresh, progress).result()


def centred(compact: Compact) -> list[bool]:
    """Return for every output whether its decoder subtracts the mean (see `decoder_shifts`)."""
    outputs, limits = compact.problem.outputs, compact.demand.max
    return [not (one.format.tread or one.format.range or limits) for one in outputs]
