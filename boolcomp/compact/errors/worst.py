"""The worst error of a word graph or its network, sought by climbing (see `proof.worst`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import program_of_graph
from boolcomp.compact.demand import LEAST_SEARCHED
from boolcomp.compact.errors.every import every_state, is_countable, is_exact
from boolcomp.compact.network import word_logic
from boolcomp.proof.climbing import Cells
from boolcomp.proof.worst import EVALUATIONS, find_worst, subject_of, worst_of
from boolcomp.words.graph import narrowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.common.workers import Workers
    from boolcomp.compact.assembly import Ends
    from boolcomp.compact.demand import Demand
    from boolcomp.engines import EngineName
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.worst import Subject, Worst
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

CHECKED, CHECK_SEED = 60_000, 0x3015E  # evaluations that check what was found before
MOST_COUNTED = 4  # inputs all of whose cells' corners are looked at
SAME = 1e-6  # steps: machines' sines differ in their last bits


def graph_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    evaluations: int,
    start: Floats | None = None,
    watched: int = 0,
) -> Worst:
    """Return the worst of a graph that may not be the last one: no engine is kept of it."""
    small = narrowed(graph)
    subject = _subject(problem, demand, small, word_logic(small), "numpy")
    return find_worst(
        subject, evaluations, seed=demand.seed, start=start, watched=watched,
        one_after_another=True,  # or else `SEARCH_VERSION` is another: it steers searches
    )  # fmt: skip


def network_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    ends: Ends | None = None,
    workers: Workers = ALONE,
    *,
    told: Callable[[float], None] = lambda _: None,
) -> Worst:
    """Return the worst of a graph's final network: known of few exact words, else sought.

    Of other words that are few, a search begins with all corners of all cells. `told` is which part
    of the search is done.
    """
    subject = _subject(problem, demand, graph, network, "auto", ends)
    if is_exact(problem, demand.input_bits):
        return worst_of(subject, np.concatenate(every_state(problem, demand.input_bits), axis=1))
    start = Cells(subject.axes).corners() if has_few_corners(problem, demand) else None
    return find_worst(
        subject, searched(problem, demand), seed=demand.seed, start=start, workers=workers,
        told=told,
    )  # fmt: skip


def searched(problem: Problem, demand: Demand) -> int:
    """Return how many evaluations seek the worst of a final network."""
    evaluations = demand.evaluations(EVALUATIONS)
    return min(evaluations, LEAST_SEARCHED) if has_few_corners(problem, demand) else evaluations


def has_few_corners(problem: Problem, demand: Demand) -> bool:
    """Tell whether all corners of all cells can be looked at."""
    few = len(problem.inputs) <= MOST_COUNTED
    return few and is_countable(problem, demand.input_bits)


def is_worst(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    worst: Worst,
    ends: Ends | None = None,
    *,
    most: Floats | None = None,
) -> bool:
    """Tell whether errors are what was found; of a demanded maximum, whether it seems to hold.

    That is searched for again, from what was found and from other states; so is what else is said
    to be the `most`.
    """
    subject = _subject(problem, demand, graph, network, "numpy", ends)
    outputs, signs, inputs = worst.states.shape
    states = worst.states.reshape(-1, inputs)
    found = subject.errors(states).reshape(outputs, signs, outputs)
    known = found[np.arange(outputs), :, np.arange(outputs)]
    if not np.allclose(known, worst.errors, rtol=0, atol=SAME):
        return False
    allowed = np.asarray(demand.max) if most is None else most
    if not allowed.size:
        return True
    if is_exact(problem, demand.input_bits):
        every = np.concatenate(every_state(problem, demand.input_bits), axis=1)
        again = worst_of(subject, every)
    else:
        if has_few_corners(problem, demand):
            states = np.concatenate([states, Cells(subject.axes).corners()])
        again = find_worst(subject, CHECKED, seed=CHECK_SEED, start=states)
    return bool((again.most <= allowed + SAME).all())


def _subject(
    problem: Problem,
    demand: Demand,
    graph: WordGraph,
    network: Network,
    engine: EngineName,
    ends: Ends | None = None,
) -> Subject:
    program = program_of_graph(problem, demand, graph, network, ends)
    return subject_of(program, problem, engine=engine)
