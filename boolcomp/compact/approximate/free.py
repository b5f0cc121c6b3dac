"""Nodes of a finished network changed where outputs then err as is allowed: nothing is proved.

A node is inverted at all states of a window, and what its changes cost is known (see `sweeps`).
What a network then errs by is judged on other states; what does not hold is undone.
No word may move, at any of these states or of some extremes, by more than a few steps from where it
was: a node that makes a leading bit now and then is left alone, though no mean would tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.approximate import kernels
from boolcomp.compact.approximate.judge import Judge
from boolcomp.compact.approximate.sweeps import Breadth, Sweeping, row_planes
from boolcomp.compact.errors.measure import clipped, network_errors
from boolcomp.compact.errors.samples import corners, joined, states_of
from boolcomp.compact.sketch.poly import quantities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.errors.samples import States
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

PRICES = (32.0, 16.0, 8.0, 4.0, 2.0, 1.0)  # nodes that all that is left to spend must gain
LEAST_LEFT = 0.002  # steps²: what is left of an output counts as no less
VISITS = 400  # of nodes, for a nominal second of effort
FURTHEST = 6.0  # steps: how far a word may move at a state
EXTREMES, EXTREME_SEED = 8192, 0xE0
BREADTH = Breadth(30, 9, sigmas=0.5)


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """A network that holds, its graph, and states at which it must not move far."""

    compact: Compact
    network: Network
    hard: NDArray[np.float64]


def with_free_changes(
    start: Start,
    centred: Sequence[bool],
    effort: float,
    report: Callable[[float, Network, Floats], None] = lambda *_: None,
) -> Network:
    """Return a smaller network whose mean squares are as allowed, at states that were drawn.

    So many nodes are looked at as `effort` allows.
    """
    compact, best = start.compact, start.network
    judge = Judge.of(compact, centred)
    left = judge.left_by(network_errors(best, compact.graph, judge.others)[0])
    visits = round(effort * VISITS)
    if left is None or not best.nodes:
        return best
    states = joined(judge.window, _hard(start))
    each = max(1, visits // len(PRICES))
    for turn, price in enumerate(PRICES):
        rows = _rows(compact.graph, states, len(judge.window.outputs), start.network, price / left)
        inputs = input_rows(compact.graph, states)
        swept = Sweeping(best, inputs, rows, BREADTH)
        spent, again = 0, 0
        while spent < each:
            spent += swept.sweep(np.random.default_rng([turn, again]), each - spent)
            again += 1
        made = swept.network()
        now = judge.left_by(network_errors(made, compact.graph, judge.others)[0])
        if now is not None:
            best, left = made, np.maximum(now, LEAST_LEFT)
        report((turn + 1) / len(PRICES), best, np.sqrt(judge.allowed - left))
    return best


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


def _rows(
    graph: WordGraph, states: States, counted: int, network: Network, worth: Floats
) -> kernels.Rows:
    """Return what outputs' words cost: at the first `counted` states, and nothing at the others."""
    results, most = graph.results, max(result.bits for result in graph.results)
    bits, flags, place = np.full((len(results), most), -1, np.int64), [], 0
    for k, result in enumerate(results):
        bits[k, : result.bits] = np.arange(place, place + result.bits)
        place += result.bits + 1
        flags.append(place - 1)
    halves = np.array([2.0 ** (one.bits - 1) - (0.0 if one.tread else 0.5) for one in results])
    errors, _, _ = network_errors(network, graph, states)
    exact = clipped(graph, states.outputs)
    weight = np.zeros((len(results), len(exact)))
    weight[:, :counted] = (worth / counted)[:, None]
    target = (exact + halves).T
    home = np.round(errors.T + target).astype(np.int64)
    return kernels.Rows(
        bits, np.array(flags, np.int64), weight, target.copy(), home,
        np.full(len(results), FURTHEST),
    )  # fmt: skip


def input_rows(graph: WordGraph, states: States) -> NDArray[np.uint64]:
    """Return the planes of a network's inputs at states: each word's most significant bit first."""
    return np.stack([
        row_planes(states.words[node.name] >> k & 1)
        for node in graph.inputs
        for k in reversed(range(node.bits))
    ])  # fmt: skip
