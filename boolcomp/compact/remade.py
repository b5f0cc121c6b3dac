"""Whether a finished result from a place that others write to is what this compiler would make.

Nothing that its file says is believed. The graph is realised once more from its widths and biases,
and has to be the same; the network is proved equivalent to the graph's own logic; errors are
measured once more, at the same states; the worst is looked up at its states, and sought again for a
while. What is allowed, and what was predicted, is calculated from the demand. Bounds are never
stored: whoever reads a result proves them. How it was found is a history that nothing depends on.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import BoolcompError, DataError
from boolcomp.common.places import own_place
from boolcomp.common.workers import ALONE
from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import ignore_progress
from boolcomp.compact.errors.measure import Sampling, measure_many
from boolcomp.compact.errors.worst import is_worst
from boolcomp.compact.promise import passes as promise
from boolcomp.compact.result.network import lut6, plain_network, table_network
from boolcomp.compact.search import Candidate, Search
from boolcomp.compact.widths import passes as widths
from boolcomp.compact.widths.forms import FORMS
from boolcomp.compact.widths.ledger import Ledger
from boolcomp.logic.equivalence import equivalent
from boolcomp.terms.rest import resting
from boolcomp.words.graph import Lookup, narrowed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.store import ResultStore, StoredResult
    from boolcomp.compact.widths.passes import Sketched
    from boolcomp.logic.network import Network
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

FRESH_SAMPLES, FRESH_SEED = 1_000_000, 0x1988
MOST_WIDENED = 12  # times that words were made larger, in a search that found something
SAME = 1e-6  # relative: machines' sines differ in their last bits
DEADLINE = 600.0  # seconds for the proof: what is not proved then is made anew
HARDER = 1.1  # times the worst error that is said: a short search that starts there finds no more
LONGEST = 200  # characters of a step of the history


def require_true(kept: StoredResult, results: ResultStore) -> StoredResult:
    """Return a result that is proved to be what it says; a `DataError` where it is not.

    How many tables of six inputs it takes is what is found here: that depends on tools.
    """
    compact = kept.compact
    if not compact.demand.keeps_graph:
        raise DataError("logic that is not its graph's is believed where nobody else can write")
    _require_history(kept)
    ledger = Ledger(results.demand.effort, ignore_progress, None, ALONE)
    begin = promise.sketch if results.demand.error else widths.sketch
    try:
        goal = begin(results.terms, results.demand.exact, ledger)
    except BoolcompError as error:
        raise DataError(f"what cannot be asked has no result: {error}") from error
    _require_same("what is demanded", compact.allowed, goal.squares)
    _require_realised(goal, compact)
    _require_logic(compact.graph, kept.network, results)
    _require_errors(kept, results)
    own = lut6(kept.network, quick=not results.demand.effort)
    return kept if kept.lut6 == own else replace(kept, lut6=own)


def fresh_states(compact: Compact) -> Sampling:
    """Return states that no part of the search has seen."""
    demand = compact.demand
    seed = FRESH_SEED + demand.seed
    return Sampling(compact.problem, demand.input_bits, demand.bits, FRESH_SAMPLES, seed)


def _require_history(kept: StoredResult) -> None:
    """Refuse steps that do not end at the network, or say what no step says."""
    if not kept.steps:
        raise DataError("nothing led to it")
    last, network = kept.steps[-1], kept.network
    if (last.nodes, last.depth) != (len(network.nodes), network.depth):
        raise DataError("its steps lead to another network")
    for step in kept.steps:
        for text in (step.name, step.note):
            if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST:
                raise DataError("a step has a name or a note that is none")


def _require_same(what: str, said: Floats, found: Floats) -> None:
    known = np.asarray(found, np.float64)
    if said.shape != known.shape or not np.allclose(said, known, rtol=SAME, atol=SAME):
        raise DataError(f"{what} is another: {said} and not {known}")


def _require_realised(goal: Sketched, compact: Compact) -> None:
    """Refuse a graph that its widths and biases do not make, and costs that are not its own."""
    if compact.form not in FORMS:
        raise DataError("a form that nobody tries")
    form = FORMS.index(compact.form)
    search = Search(goal.task(), form)
    if search.sketch != compact.sketch:
        raise DataError("a sketch of other terms")
    none = np.zeros(len(goal.squares))
    for widened in range(MOST_WIDENED):
        choice = Candidate(form, dict(compact.widths), none, compact.biases, widened, 0.0)
        made = search.graph(choice)
        if _same(narrowed(made), compact):
            break
    else:
        raise DataError("its graph is not what its widths make")
    cost, noise = search.noise(choice)
    _require_same("what was predicted", compact.predicted_rms, np.sqrt(noise[: len(none)]))
    costs = np.array([compact.predicted_cost, float(compact.nodes)])
    nodes = int(search.costs.graph(made)) - search.costs.levels(made)
    _require_same("its cost", costs, np.array([cost, nodes]))


def _same(made: WordGraph, compact: Compact) -> bool:
    """Tell whether a graph is a result's; tables may have other entries if that was asked."""
    graph = compact.graph
    if compact.demand.approximate == "off" or len(made.nodes) != len(graph.nodes):
        return made == graph
    nodes = tuple(
        replace(one, entries=there.entries)
        if isinstance(one, Lookup) and isinstance(there, Lookup)
        else one
        for one, there in zip(made.nodes, graph.nodes, strict=True)
    )
    return replace(made, nodes=nodes) == graph


def _require_logic(graph: WordGraph, network: Network, results: ResultStore) -> None:
    """Refuse a network that is not proved to compute, at all words, what its graph says."""
    if network == plain_network(graph).network:
        return
    nets = replace(results, places=(own_place("compact"),)).tables
    own = table_network(graph, results.demand.synthesis, nets).network
    verdict = equivalent(network, own, deadline=DEADLINE)
    if not verdict.holds:
        raise DataError(f"its network is not proved to be its graph: {verdict}")


def _require_errors(kept: StoredResult, results: ResultStore) -> None:
    """Refuse errors that are others, and a worst one that is not where it says, or is exceeded."""
    compact, demand, said = kept.compact, results.demand, kept.errors
    try:
        found = measure_many(fresh_states(compact), compact.graph, kept.network)
    except AssertionError as error:
        raise DataError("its network is not its graph's") from error
    for what in ("rms", "max", "mean"):
        _require_same(f"the {what} error", getattr(said, what), getattr(found, what))
    if said.ends is not None and found.ends is not None:
        _require_same("the largest error by sign", said.ends, found.ends)
    counted = (found.wrapped, found.saturated, found.samples)
    if (said.wrapped, said.saturated, said.samples) != counted:
        raise DataError("it saturates at other states")
    if kept.worst is None:  # it is sought anew by whoever reads it
        return
    if not np.isfinite(kept.worst.states).all():
        raise DataError("a worst state that is none")
    most = np.asarray(demand.max) if demand.max else HARDER * kept.worst.most
    given = (compact.problem, demand, compact.graph, kept.network)
    if not is_worst(*given, kept.worst, Ends(rest=resting(results.terms)), most=most):
        raise DataError("a larger error was found than it says")
