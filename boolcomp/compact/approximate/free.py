"""Nodes of a finished network changed where outputs then err as is allowed.

A node is inverted at some thousand states, which prices all its changes (see `search_kernels`);
what is promising is tried at all states of a window: it must gain more than it costs there, and
leave every output within what it may err by. No word may move, at any of these states or of some
extremes, by more than a few steps from where it was: a node that makes a leading bit now and then
is left alone, though no mean would tell. The price of what is left of the allowed mean square
falls, so that what is nearly free is taken first; changes that lose a little are drawn now and
then, ever fewer, because they lead elsewhere. What is kept holds at other states as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.compact.approximate.judge import JUDGED, JUDGED_SEED, WINDOW, WINDOW_SEED, drawn
from boolcomp.compact.approximate.row_kernels import WordRows
from boolcomp.compact.approximate.searching import BLOCK, Searching, row_planes
from boolcomp.compact.approximate_kernels import Asked
from boolcomp.compact.errors.measure import clipped, network_errors
from boolcomp.compact.errors.samples import corners, joined, states_of
from boolcomp.compact.sketch.poly import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.approximate.cones import Follower
    from boolcomp.compact.errors.samples import States
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.words.cones import Cone
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

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
