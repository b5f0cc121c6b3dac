"""Compact mode to its end: the smallest graph, its final network, and what both err by.

    built = compile_compact(split_torques(load_robot("machado-2r")), Demand(bits=8))

A finished result is kept as a file and found again by its content (see `keep`).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.text import short
from boolcomp.compact.graph.names import word_names
from boolcomp.compact.result.compact import program_of_graph
from boolcomp.compact.result.keep import Keeper, Kept, keeper
from boolcomp.compact.result.measure import Sampling, measure_many
from boolcomp.compact.result.passes import finished, lut6
from boolcomp.compact.result.worst import network_worst
from boolcomp.compact.widths.compile import compile_words, spans
from boolcomp.compact.widths.demand import Demand, Listener, Progress, silent
from boolcomp.logic.synthesis import abc
from boolcomp.program.parts import KnownErrors

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.compact.result.compact import Compact
    from boolcomp.compact.result.measure import Errors
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.optimise import Step
    from boolcomp.program.program import Program
    from boolcomp.proof.worst import Worst
    from boolcomp.terms import Torques

    Floats = NDArray[np.float64]

FRESH_SAMPLES, FRESH_SEED = 1_000_000, 0x1988
PASSES_LEAVE = 0.85  # of the nodes that the noise model counts, after all passes


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A finished compilation.

    The network's inputs are the words of `compact.input_codes` in their order, each most
    significant bit first; its outputs are, for every joint, the bits of the torque's word, most
    significant first, then one that tells whether it saturated. Codes are natural. `errors` are
    those of `errors.samples` states that no part of the search has seen; the network gave the
    graph's words, bit for bit, at all of them. `worst` was sought by climbing. `dropped` says how
    many low bits of each input word nothing reads: they are not in the network.
    """

    compact: Compact
    network: Network
    steps: tuple[Step, ...]
    lut6: int
    errors: Errors
    worst: Worst
    dropped: Mapping[str, int]
    seconds: float
    stored: bool

    @property
    def nodes(self) -> int:
        """How many nodes of at most three inputs the network has."""
        return len(self.network.nodes)

    @property
    def depth(self) -> int:
        """The largest number of nodes from an input to an output."""
        return self.network.depth

    @property
    def without_abc(self) -> bool:
        """Whether ABC was missing when this was made, so that there may be smaller logic."""
        return any(step.note == abc.MISSING.note for step in self.steps)

    @property
    def predicted_nodes(self) -> float:
        """What the noise model expects, before anything is built."""
        return PASSES_LEAVE * self.compact.predicted_cost

    @property
    def predicted_rms(self) -> tuple[float, ...]:
        """The rms errors, in steps, that the noise model expects."""
        return tuple(float(x) for x in self.compact.predicted_rms)

    @property
    def holds(self) -> bool:
        """Whether errors are as demanded: rms within 1 % (samples differ), the worst found."""
        demand = self.compact.demand
        rms = np.sqrt(self.compact.allowed) * 1.01
        most = np.asarray(demand.max or (np.inf,))
        within = bool((self.errors.rms <= rms).all() and (self.largest <= most).all())
        return within and not self.errors.wrapped

    @property
    def largest(self) -> Floats:
        """The largest error of every torque that is known, in steps."""
        return np.maximum(self.errors.max, self.worst.most)

    def program(self, payload: float = 0.0) -> Program:
        """Return the program, with its graph, what its words mean, and its errors."""
        one = self.compact
        made = program_of_graph(one.robot, one.demand, one.graph, self.network, payload)
        (load,) = made.loads
        sizes = zip(self.errors.rms, self.errors.max, self.largest, strict=True)
        outputs = tuple(
            replace(output, errors=KnownErrors(*(float(x) * output.code.step for x in found)))
            for output, found in zip(load.outputs, sizes, strict=True)
        )
        meanings = word_names(one.graph, {word.name: word.code.range for word in made.inputs})
        load = replace(load, outputs=outputs, graph=one.graph, meanings=meanings)
        return replace(made, loads=(load,), demand=str(one.demand))

    def __str__(self) -> str:
        compact = self.compact
        lines = [
            f"{compact.robot.name} at {compact.demand.bits} bits, {compact.form}",
            f"built: {self.nodes} nodes, depth {self.depth}, {self.lut6} if they had six inputs",
            f"demand: {compact.demand}",
            f"predicted: {self.predicted_nodes:.0f} nodes, rms {_list(self.predicted_rms)}",
            f"measured at {self.errors.samples} fresh states, in steps: {self.errors}",
            f"worst found with {self.worst.evaluations} evaluations: {_list(self.largest)}",
        ]
        gone = [f"{name} {bits}" for name, bits in self.dropped.items() if bits]
        lines.append(f"low input bits that nothing reads: {', '.join(gone) or 'none'}")
        return "\n".join(lines) + "\n"


def _list(values: Iterable[float]) -> str:
    return " ".join(short(value, 3) for value in values)


def compile_compact(
    torques: Torques,
    demand: Demand | None = None,
    *,
    store: Path | None = None,
    progress: Listener = silent,
    processes: int = 2,
    also_shipped: bool = True,
) -> Built:
    """Return the smallest network found for a robot's torques, its errors measured.

    What is finished is read from the store (by default the user's cache, and what ships with
    boolcomp, if `also_shipped`), and checked; what was interrupted goes on where it was. The same
    demand gives the same word graph anywhere; the network may differ where ABC is missing, or where
    proofs run out of time.
    """
    start = time.perf_counter()
    chosen = demand or Demand()
    chosen.check(torques.robot)
    folder = keeper(torques, chosen, store, also_shipped=also_shipped)
    found = folder.find()
    kept = found or _made(torques, chosen, folder, progress, processes)
    nodes, rms = len(kept.network.nodes), tuple(kept.errors.rms)
    worst = kept.worst
    if worst is None:  # it is new, or its file is an old one
        progress(Progress("worst error", nodes, rms, 0.99))
        worst = network_worst(torques.robot, chosen, kept.compact.graph, kept.network)
    built = Built(
        kept.compact, kept.network, kept.steps, kept.lut6, kept.errors, worst,
        _dropped(kept.compact), time.perf_counter() - start, found is not None,
    )  # fmt: skip
    if kept.worst is None and built.holds:
        folder.keep(replace(kept, worst=worst))
    progress(Progress("done", nodes, rms, 1.0))
    return built


def _made(
    torques: Torques, demand: Demand, folder: Keeper, progress: Listener, processes: int
) -> Kept:
    compact = compile_words(torques, demand, progress, folder, processes)
    rms = tuple(compact.errors.rms)

    begin, end = spans(demand.effort)["passes"]
    passes = 0

    def report(step: Step) -> None:
        nonlocal passes
        passes += 1
        done = begin + (end - begin) * (1 - 0.92**passes)
        progress(Progress("passes", step.nodes, rms, done, f"{step.name}: {step.note}"))

    progress(Progress("tables", compact.nodes, rms, begin))
    done = finished(
        compact.graph, demand.objective, folder=folder.tables, report=report,
        quick=not demand.effort,
    )  # fmt: skip
    progress(Progress("fresh states", len(done.network.nodes), rms, 0.99))
    fresh = Sampling(
        torques.robot, demand.input_bits, demand.bits, FRESH_SAMPLES, FRESH_SEED + demand.seed
    )
    errors = measure_many(fresh, compact.graph, done.network)
    return Kept(compact, done.network, done.steps, lut6(done.network), errors)


def _dropped(compact: Compact) -> dict[str, int]:
    """Return how many low bits of every input word the graph does not have."""
    left = {node.name: node.bits for node in compact.graph.inputs}
    return {name: word.bits - left.get(name, 0) for name, word in compact.asked_words.items()}
