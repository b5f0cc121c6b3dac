"""A finished compilation: the smallest graph, its final network, and what both err by."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import short
from boolcomp.compact.assembly import program_of_graph
from boolcomp.logic.synthesis import abc
from boolcomp.program.parts import KnownErrors, bound_note, over_found
from boolcomp.words.names import word_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.assembly import Ends
    from boolcomp.compact.errors.measure import Errors
    from boolcomp.compact.result.booked import Booked
    from boolcomp.compact.result.compact import Compact
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.optimise import Step
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.result import Bounds
    from boolcomp.proof.worst import Worst
    from boolcomp.words.cones import Cone

    Floats = NDArray[np.float64]

PASSES_LEAVE = 0.85  # of the nodes that the noise model counts, after all passes


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A finished compilation.

    The network's inputs are the words of `compact.input_codes` in their order, each most
    significant bit first; its outputs are, for every one asked for, the bits of its word, most
    significant first, then one that tells whether it saturated. Codes are natural. `errors` are
    those of `errors.samples` states that no part of the search has seen; the network gave the
    graph's words, bit for bit, at all of them. `worst` was sought by climbing. `dropped` says how
    many low bits of each input word nothing reads: they are not in the network. Words are decoded
    beside the middles of cells as `ends` say (see `errors.centre`), and so are all errors. `bounds`
    are what no error exceeds. The network is its graph's but for `cones`,
    which move words by what is `booked`.
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
    ends: Ends
    bounds: Bounds | None = None
    cones: tuple[Cone, ...] = ()
    booked: Booked = field(default_factory=dict)

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
        return within and not self.errors.wrapped and self.kept

    @property
    def promised(self) -> tuple[float, ...]:
        """What is promised of every output, in steps: infinite where nothing is."""
        demand, problem = self.compact.demand, self.compact.problem
        if demand.error is None:
            return (math.inf,) * len(problem.outputs)
        return demand.error.steps(problem, demand.bits)

    @property
    def kept(self) -> bool:
        """Whether what is promised is proved; so it is where nothing is promised."""
        if not self.compact.demand.error:
            return True
        if self.bounds is None or self.bounds.unproved:
            return False
        pairs = zip(self.bounds.steps, self.promised, strict=True)
        return all(found <= most for found, most in pairs)

    @property
    def largest(self) -> Floats:
        """The largest error of every output that is known, in steps."""
        return np.maximum(self.errors.max, self.worst.most)

    @property
    def proved(self) -> tuple[float, ...]:
        """What no error of an output exceeds, in its unit: infinite where that is not proved."""
        if self.bounds is None or self.bounds.unproved:
            return (math.inf,) * len(self.compact.problem.outputs)
        return self.bounds.values

    @property
    def over_found(self) -> tuple[float | None, ...]:
        """How many times the worst found those are, as far as either is known."""
        steps = [code.step for code in self.compact.output_codes]
        known = zip(self.proved, self.largest, steps, strict=True)
        return tuple(over_found(bound, float(found) * step) for bound, found, step in known)

    @property
    def useful(self) -> tuple[bool, ...]:
        """Whether a bound is no wider than the word of its output, be it conditional or not."""
        if self.bounds is None:
            return (False,) * len(self.compact.problem.outputs)
        pairs = zip(self.bounds.values, self.compact.output_codes, strict=True)
        return tuple(not bound_note(value, code.range) for value, code in pairs)

    @property
    def grades(self) -> tuple[str, ...]:
        """How tight those are: empty where nothing is proved."""
        if self.bounds is None or self.bounds.unproved:
            return ("",) * len(self.compact.problem.outputs)
        return tuple(bound.grade for bound in self.bounds.outputs)

    def program(self) -> Program:
        """Return the program, with its graph, what its words mean, and its errors."""
        one = self.compact
        made = program_of_graph(one.problem, one.demand, one.graph, self.network, self.ends)
        (load,) = made.loads
        sizes = zip(self.errors.rms, self.errors.max, self.largest, strict=True)
        outputs = tuple(
            replace(
                output,
                bound=bound,
                grade=grade,
                errors=KnownErrors(*(float(x) * output.code.step for x in found)),
            )
            for output, found, bound, grade in zip(
                load.outputs, sizes, self.proved, self.grades, strict=True
            )
        )
        ranges = {name: code.range for name, code in one.input_codes.items()}
        meanings = word_names(one.graph, ranges)
        load = replace(load, outputs=outputs)
        if one.demand.keeps_graph:
            load = replace(load, graph=one.graph, meanings=meanings)
        return replace(made, loads=(load,), demand=str(one.demand))

    def __str__(self) -> str:
        compact = self.compact
        lines = [
            f"{compact.problem.name} at {compact.demand.bits} bits, {compact.form}",
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
