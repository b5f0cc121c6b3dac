"""From a word graph to its final network: tables synthesised, then passes that are each proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.workers import ALONE
from boolcomp.compact.graph.tables import mux_network
from boolcomp.compact.network import from_truth_tables, tables_in, truth_table, word_logic
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.mapping import mapped
from boolcomp.logic.synthesis.measure import measure
from boolcomp.logic.synthesis.optimise import Step, optimise
from boolcomp.logic.synthesis.tables import MOST_INPUTS, SynthesisRecipe, synthesise, synthesise_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from boolcomp.common.workers import Workers
    from boolcomp.compact.graph.heaps import Addition
    from boolcomp.compact.graph.tables import Columns
    from boolcomp.compact.network import Synthesiser
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.measure import Objective
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.proof.worst import Worst
    from boolcomp.words.graph import WordGraph

MAP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A network and the steps that led to it."""

    network: Network
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Begin:
    """What approximation begins with: a graph's network, and its worst error where it is known."""

    compact: Compact
    finished: Finished
    worst: Worst | None = None


def table_network(
    graph: WordGraph,
    objective: Objective = "nodes",
    folder: Path | None = None,
    report: Callable[[Step], None] = lambda _: None,
    workers: Workers = ALONE,
    known: Mapping[tuple[int, Columns], Network] | None = None,
) -> Finished:
    """Return the network that a graph says, by rule; its tables are synthesised, each compared.

    Those of too many inputs are made by cofactors. Tables are kept in a folder, if one is given.
    Of tables that are `known` the smaller network counts.
    """
    own = synthesiser(objective, folder, tables_in(graph), workers)

    def made(inputs: int, columns: Columns) -> Network:
        both = [own(inputs, columns), *filter(None, [(known or {}).get((inputs, columns))])]
        return min(both, key=lambda network: measure(network, objective))

    start = word_logic(graph, made)
    first = Step("tables", len(start.nodes), start.depth, "at all inputs")
    report(first)
    return Finished(start, (first,))


def synthesiser(
    objective: Objective,
    folder: Path | None = None,
    known: Iterable[tuple[int, Columns]] = (),
    workers: Workers = ALONE,
) -> Synthesiser:
    """Return what makes networks of tables small; they are kept in a folder, if one is given.

    Tables that are known already are made at once, wherever there are workers.
    """
    recipe = SynthesisRecipe(objective, use_abc=False)
    tables = [truth_table(*one) for one in dict.fromkeys(known) if one[0] <= MOST_INPUTS]
    # The largest first: they take longest, and the small ones fill the gaps.
    tables.sort(key=lambda table: -table.inputs)
    made = synthesise_all(tables, recipe, folder, workers=workers)
    found = {table: one.network for table, one in zip(tables, made, strict=True)}

    def small(table: TruthTable) -> Network:
        return found.get(table) or synthesise(table, recipe, folder).network

    return from_truth_tables(small, MOST_INPUTS)


def sums_of(graph: WordGraph, objective: Objective | None = None) -> tuple[Addition, ...]:
    """Return how the sums of a first network are added up, in the order of the graph's words.

    It is that of `table_network` or, without an objective, of `plain_network`.
    """
    said: list[Addition] = []
    word_logic(graph, synthesiser(objective, None) if objective else mux_network, said)
    return tuple(said)


def plain_network(graph: WordGraph) -> Finished:
    """Return the network that a graph says, by rule; its tables are decision diagrams."""
    made = word_logic(graph)
    return Finished(made, (Step("tables", len(made.nodes), made.depth, "by decision diagrams"),))


def smaller(
    start: Finished,
    objective: Objective = "nodes",
    rounds: int = 8,
    report: Callable[[Step], None] = lambda _: None,
    *,
    quick: bool = False,
) -> Finished:
    """Return the best network found; every step is proved equivalent to the one before.

    `quick` does one round of what takes least.
    """
    done = optimise(
        start.network, None, objective, rounds=1 if quick else rounds, quick=quick,
        report=report,
    )  # fmt: skip
    return Finished(done.network, (*start.steps, *done.steps))


def lut6(network: Network, *, quick: bool = False) -> int:
    """Return how many 6-input tables a network takes: those ABC finds, proved, or our own cones.

    A `quick` count may be a few percent larger.
    """
    return len(mapped(network, 6, deadline=MAP_SECONDS, quick=quick).luts.nodes)


def lut6_of(network: Network, workers: Workers, *, quick: bool = False) -> Callable[[], int]:
    """Let a worker count them, and return what waits for that; one with other tools is no help."""
    counting = workers.begin(_lut6, network, abc.find() is not None, quick)

    def counted() -> int:
        found = counting.result()
        return lut6(network, quick=quick) if found is None else found

    return counted


def _lut6(network: Network, with_abc: bool, quick: bool) -> int | None:  # noqa: FBT001
    return lut6(network, quick=quick) if (abc.find() is not None) == with_abc else None
