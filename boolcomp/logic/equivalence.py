"""Equivalence of two networks: exhaustive for few inputs, proved by sweeping for many.

Up to 20 inputs every input word is tried. Above, random words are tried first; then a SAT solver
proves the miter by sweeping. The verdict "different" comes with an input word that was evaluated.
After the deadline the verdict is "unknown".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from boolcomp.base.errors import UsageError
from boolcomp.logic import simulation
from boolcomp.logic.network import restricted, used_inputs
from boolcomp.twolevel.cubes import Clock

if TYPE_CHECKING:
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable, Words


Answer = Literal["equivalent", "different", "unknown"]
MOST_EXHAUSTIVE = 20
RANDOM_WORDS = 1 << 10  # 65,536 input words
SEED = 1988


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison of two functions of the same inputs.

    `cases` counts the input words that were tried. `witness` holds the input bits, the first input
    first, at which output `output` differs; `note` explains an unknown verdict.
    """

    verdict: Answer
    method: str
    cases: int
    witness: tuple[int, ...] | None = None
    output: int | None = None
    note: str = ""

    @property
    def holds(self) -> bool:
        return self.verdict == "equivalent"

    def __str__(self) -> str:
        text = f"{self.verdict} ({self.method}, {self.cases} cases)"
        if self.witness is not None:
            text += f": output {self.output} at inputs {''.join(map(str, self.witness))}"
        return text + (f": {self.note}" if self.note else "")


def equivalent(
    a: Network,
    b: Network,
    *,
    deadline: float | None = 60.0,
    most_exhaustive: int = MOST_EXHAUSTIVE,
) -> Comparison:
    """Compare two networks output by output; "unknown" only after `deadline` seconds."""
    if (a.inputs, len(a.outputs)) != (b.inputs, len(b.outputs)):
        raise UsageError(
            f"{a.inputs} inputs and {len(a.outputs)} outputs cannot be compared with "
            f"{b.inputs} inputs and {len(b.outputs)} outputs"
        )
    if a == b:
        return Comparison("equivalent", "structure", 0)
    clock = Clock(deadline)
    used = sorted({*used_inputs(a), *used_inputs(b)})
    verdict = _compare(restricted(a, used), restricted(b, used), clock, most_exhaustive)
    if verdict.witness is None:
        return verdict
    word = dict(zip(used, verdict.witness, strict=True))
    return _witnessed(a, b, tuple(word.get(k, 0) for k in range(a.inputs)), verdict)


def matches(network: Network, table: TruthTable) -> Comparison:
    """Compare a network with a truth table except at its don't-cares."""
    if (network.inputs, len(network.outputs)) != (table.inputs, table.outputs):
        raise UsageError(
            f"{network!r} cannot be a table of {table.inputs} inputs and {table.outputs} outputs"
        )
    rows = 1 << table.inputs
    for output, plane in enumerate(simulation.truth_planes(network)):
        differing = plane ^ simulation.plane_of(table.columns[output])
        if table.free:
            differing &= ~simulation.plane_of(table.free[output])
        if differing:
            row = (differing & -differing).bit_length() - 1
            witness = _bits(row, table.inputs)
            return Comparison("different", "exhaustive", rows, witness, output)
    return Comparison("equivalent", "exhaustive", rows)


def evaluate(network: Network, word: tuple[int, ...]) -> tuple[int, ...]:
    """Return the outputs for one input word."""
    outputs: tuple[int, ...] = network.fold(simulation.Planes(1), word)
    return outputs


def _compare(a: Network, b: Network, clock: Clock, most_exhaustive: int) -> Comparison:
    if a == b:
        return Comparison("equivalent", "structure", 0)
    if not a.inputs or a.inputs <= min(most_exhaustive, simulation.INTEGER_INPUTS):
        return _by_integers(a, b)
    if a.inputs <= most_exhaustive:
        return _by_chunks(a, b)
    found = _first_difference(a, b, simulation.random_planes(a.inputs, RANDOM_WORDS, SEED))
    cases = 64 * RANDOM_WORDS
    if found is not None:
        return Comparison("different", "random simulation", cases, found)
    return _proved(a, b, clock, cases)


def _by_integers(a: Network, b: Network) -> Comparison:
    rows = 1 << a.inputs
    for x, y in zip(simulation.truth_planes(a), simulation.truth_planes(b), strict=True):
        if x != y:
            row = ((x ^ y) & -(x ^ y)).bit_length() - 1
            return Comparison("different", "exhaustive", rows, _bits(row, a.inputs))
    return Comparison("equivalent", "exhaustive", rows)


def _by_chunks(a: Network, b: Network) -> Comparison:
    rows = 1 << a.inputs
    for _, planes in simulation.chunks(a.inputs):
        found = _first_difference(a, b, planes)
        if found is not None:
            return Comparison("different", "exhaustive", rows, found)
    return Comparison("equivalent", "exhaustive", rows)


def _first_difference(a: Network, b: Network, planes: list[Words]) -> tuple[int, ...] | None:
    """Return the first of the given input words at which an output differs."""
    differing = np.zeros_like(planes[0])
    for x, y in zip(
        simulation.simulate_network(a, planes), simulation.simulate_network(b, planes), strict=True
    ):
        differing |= x ^ y
    words = np.flatnonzero(differing)
    if not len(words):
        return None
    word = int(words[0])
    bits = int(differing[word])
    place = (bits & -bits).bit_length() - 1
    return tuple(int(plane[word]) >> place & 1 for plane in planes)


def _proved(a: Network, b: Network, clock: Clock, cases: int) -> Comparison:
    from boolcomp.logic.sat import sweep_miter  # noqa: PLC0415 (only hard cases need it)

    equal, witness = sweep_miter(a, b, clock)
    if equal is None:
        return Comparison("unknown", "sweeping", cases, note="the proof ran out of time")
    if equal:
        return Comparison("equivalent", "sweeping", cases)
    return Comparison("different", "sweeping", cases, witness)


def _witnessed(a: Network, b: Network, word: tuple[int, ...], verdict: Comparison) -> Comparison:
    """Return the verdict "different" after an evaluation of both networks at its witness."""
    pairs = list(zip(evaluate(a, word), evaluate(b, word), strict=True))
    output = next((k for k, (x, y) in enumerate(pairs) if x != y), None)
    if output is None:
        raise AssertionError("a witness shows no difference")
    return Comparison("different", verdict.method, verdict.cases, word, output)


def _bits(row: int, inputs: int) -> tuple[int, ...]:
    return tuple(row >> k & 1 for k in reversed(range(inputs)))
