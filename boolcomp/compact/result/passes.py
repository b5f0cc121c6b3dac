"""From a word graph to its final network: tables synthesised, then passes that are each proved."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.compact.graph.logic import from_truth_tables, word_logic
from boolcomp.logic import blif
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.measure import lut6_count
from boolcomp.logic.synthesis.optimise import Step, optimise
from boolcomp.logic.synthesis.portfolio import SynthesisRecipe, synthesise

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from boolcomp.compact.graph.graph import Graph
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.measure import Objective
    from boolcomp.logic.truthtable import TruthTable

MAP_SECONDS = 60.0
_COUNT = re.compile(r"\bnd\s*=\s*(\d+)")


@dataclass(frozen=True, slots=True)
class Finished:
    """A network and the passes that led to it."""

    network: Network
    steps: tuple[Step, ...]


def finished(
    graph: Graph,
    objective: Objective = "nodes",
    rounds: int = 8,
    folder: Path | None = None,
    report: Callable[[Step], None] = lambda _: None,
    deadline: float | None = None,
    *,
    quick: bool = False,
) -> Finished:
    """Return the best network found for a graph; tables are kept in a folder, if one is given.

    It computes what the graph says for certain: tables are compared at all their inputs, heaps are
    made by rule, and every pass is proved equivalent to what it started from, or not taken. `quick`
    does one round of what takes least.
    """
    recipe = SynthesisRecipe(objective, use_abc=False)

    def made(table: TruthTable) -> Network:
        return synthesise(table, recipe, folder).network

    start = word_logic(graph, from_truth_tables(made))
    first = Step("tables", len(start.nodes), start.depth, "at all inputs")
    report(first)
    done = optimise(
        start, deadline, objective, rounds=1 if quick else rounds, quick=quick, report=report
    )  # fmt: skip
    return Finished(done.network, (first, *done.steps))


def lut6(network: Network) -> int:
    """Return how many 6-input tables a network takes: ABC's count, or our own simpler one's."""
    own = lut6_count(network)
    tool = abc.find()
    if tool is None or not network.nodes:
        return own
    commands = ["read_blif a.blif", "strash", "if -K 6 -a", "print_stats"]
    outcome = abc.run(tool, commands, {"a.blif": blif.render(network)}, (), deadline=MAP_SECONDS)
    found = _COUNT.findall(outcome.printed) if outcome.done else []
    return min(own, int(found[-1])) if found else own
