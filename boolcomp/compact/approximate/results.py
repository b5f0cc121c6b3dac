"""From a finished result to a smaller one that errs as is allowed too: what is kept of it.

What is left holds on a million fresh states, to the last digit of what is allowed: what does not,
or is no smaller, is no result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.approximate.free import Start, with_free_changes
from boolcomp.compact.approximate.tables import with_cheaper_tables
from boolcomp.compact.demand import Progress
from boolcomp.compact.errors.measure import measure_many
from boolcomp.compact.errors.worst import network_worst
from boolcomp.compact.result.network import (
    Finished,
    lut6,
    smaller,
    synthesiser,
    table_network,
)
from boolcomp.compact.result.store import StoredResult
from boolcomp.logic.synthesis.measure import measure
from boolcomp.logic.synthesis.optimise import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.demand import Listener
    from boolcomp.compact.errors.measure import Sampling
    from boolcomp.compact.result.built import Built
    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.result.store import ResultStore
    from boolcomp.logic.network import Network

    Floats = NDArray[np.float64]

FURTHER = 2.0  # steps: by how much more than before the worst may err, before it is fed back
FEEDS = 3


def approximated(
    exact: Built, results: ResultStore, fresh: Sampling, progress: Listener
) -> StoredResult | None:
    """Return a smaller result as the demand of `results` says; None where there is none.

    It holds at `fresh` states.
    """
    demand, objective = results.demand, results.demand.synthesis
    if not exact.nodes:
        return None
    compact, made = _by_tables(exact, replace(exact.compact, demand=demand), results, progress)
    if not demand.keeps_graph:
        start = Finished(exact.network, exact.steps)
        if measure(made.network, objective) < measure(exact.network, objective):
            start = made
        made = _freely(exact, compact, start, progress)
    if measure(made.network, objective) >= measure(exact.network, objective):
        return None
    progress(Progress("fresh states", len(made.network.nodes), fraction=0.99))
    errors = measure_many(fresh, compact.graph, made.network, alone=not demand.keeps_graph)
    mean = np.where(centred(exact), errors.mean, 0.0)
    if errors.wrapped or (errors.rms**2 - mean**2 > compact.allowed).any():
        return None
    return StoredResult(compact, made.network, made.steps, lut6(made.network), errors)


def centred(built: Built) -> list[bool]:
    """Return of which outputs the decoder takes the mean off (see `errors.centre`)."""
    outputs, most = built.compact.problem.outputs, built.compact.demand.max
    return [not (one.format.tread or one.format.range or most) for one in outputs]


def _by_tables(
    exact: Built, compact: Compact, results: ResultStore, progress: Listener
) -> tuple[Compact, Finished]:
    """Return a graph with other entries, and its network, made like any other."""
    objective, folder = results.demand.synthesis, results.tables

    def told(fraction: float, saved: int, rms: Floats) -> None:
        progress(Progress("entries", exact.nodes - saved, tuple(rms), fraction))

    graph = with_cheaper_tables(compact, synthesiser(objective, folder), centred(exact), told)
    if graph == compact.graph:
        return compact, Finished(exact.network, exact.steps)
    progress(Progress("passes", exact.nodes, fraction=0.95))
    start = table_network(graph, objective, folder)
    made = smaller(start, objective, quick=not results.demand.effort)
    note = f"entries of tables chosen anew, from {exact.nodes} nodes"
    chosen = Step("entries", len(start.network.nodes), start.network.depth, note)
    return replace(compact, graph=graph), Finished(made.network, (chosen, *made.steps))


def _freely(exact: Built, compact: Compact, begin: Finished, progress: Listener) -> Finished:
    """Return a network some of whose nodes are others; where that errs far more, states fed back.

    In the end exact passes make it smaller.
    """
    demand, hard = compact.demand, np.zeros((0, len(compact.problem.inputs)))
    made = begin.network
    for turn in range(FEEDS):

        def told(fraction: float, network: Network, rms: Floats, turn: int = turn) -> None:
            part = (turn + fraction) / FEEDS
            progress(Progress("nodes", len(network.nodes), tuple(rms), part))

        start = Start(compact, begin.network, hard)
        made = with_free_changes(start, centred(exact), demand.effort, told)
        worst = network_worst(compact.problem, demand, compact.graph, made)
        if (worst.most <= exact.worst.most + FURTHER).all():
            break
        hard = np.concatenate([hard, worst.states.reshape(-1, hard.shape[1])])
    note = f"nodes changed while errors hold, from {exact.nodes}: nothing is proved"
    changed = Step("free", len(made.nodes), made.depth, note)
    return smaller(
        Finished(made, (*begin.steps, changed)), demand.synthesis, quick=not demand.effort
    )
