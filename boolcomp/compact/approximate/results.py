"""From a finished result to a smaller one that errs as is allowed too: what is kept of it.

What is left holds on a million fresh states, to the last digit of what is allowed: what does not,
or is no smaller, is no result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.compact.approximate.cones import Follower
from boolcomp.compact.approximate.free import Smaller, Start, with_free_changes
from boolcomp.compact.approximate.tables import with_cheaper_tables
from boolcomp.compact.demand import Progress
from boolcomp.compact.errors.measure import measure_many
from boolcomp.compact.errors.worst import network_worst
from boolcomp.compact.graph.coned import ConedLogic
from boolcomp.compact.result.network import Finished, lut6, smaller, synthesiser, table_network
from boolcomp.compact.store import StoredResult
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.synthesis.measure import measure
from boolcomp.logic.synthesis.optimise import Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.demand import Listener
    from boolcomp.compact.errors.measure import Errors, Sampling
    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.result.network import Begin
    from boolcomp.compact.store import ResultStore
    from boolcomp.logic.network import Network
    from boolcomp.words.cones import Cone

    Floats = NDArray[np.float64]

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
