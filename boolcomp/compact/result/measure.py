"""What a word graph errs by against Newton-Euler, and whether its network does as it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.result.samples import states_of, torque_values, uniform
from boolcomp.compact.sketch.poly import quantities
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.quantised import quantised_torques
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.words.agreement import agrees
from boolcomp.words.simulate import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.result.samples import States
    from boolcomp.logic.network import Network
    from boolcomp.problem.robot import Robot
    from boolcomp.terms import Torques
    from boolcomp.words.graph import Graph
    from boolcomp.words.simulate import Simulated

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

PAPER_SAMPLES = 20_000
BLOCK = 1 << 15  # samples at a time


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of a graph in steps, one for every joint; heaps that wrapped (there must be none)."""

    rms: Floats
    max: Floats
    mean: Floats
    wrapped: tuple[int, ...]
    saturated: int
    samples: int = 0

    def __str__(self) -> str:
        rows = []
        for name, values in (("rms", self.rms), ("max", self.max)):
            rows.append(f"{name} {' '.join(f'{x:.3f}' for x in values)}")
        return ", ".join(rows)


def torque_steps(robot: Robot, bits: int) -> list[float]:
    """Return the step of every torque's word."""
    return [(link.torque.high - link.torque.low) / (1 << bits) for link in robot.links]


def sampled_torques(robot: Robot, bits: int, seed: int = 0) -> Floats:
    """Return the exact torques, in steps, of some seeded states."""
    states = uniform(robot, PAPER_SAMPLES, seed)
    return np.asarray(inverse_dynamics(robot, *states) / np.asarray(torque_steps(robot, bits)))


def paper_rms(torques: Torques, bits: int, seed: int = 0) -> Floats:
    """Return the rms error, in steps, of the paper's tables at these bits (arithmetic only)."""
    robot = torques.robot
    q, qd, qdd = uniform(robot, PAPER_SAMPLES, seed)
    exact = inverse_dynamics(robot, q, qd, qdd)
    plan = make_plan(torques, Options(bits=bits))
    found = quantised_torques(plan, q, qd, qdd).torques
    steps = np.asarray(torque_steps(robot, bits))
    error = (found - exact) / steps
    reach = np.array([link.torque.high for link in robot.links])
    inside = np.abs(exact) <= reach  # what saturates is no measure of accuracy
    mean = (error**2 * inside).sum(axis=0) / np.maximum(1, inside.sum(axis=0))
    return np.asarray(np.sqrt(mean))


def deviations(graph: Graph, states: States) -> tuple[Floats, tuple[int, ...], int]:
    """Return errors in steps, (samples, joints); the heaps that wrapped; how often one saturated.

    A torque that a word cannot hold counts as the nearest that it can.
    """
    return compared(graph, states, simulate(graph, states.words))


def compared(
    graph: Graph, states: States, simulated: Simulated
) -> tuple[Floats, tuple[int, ...], int]:
    """Return what `deviations` does, for words that are known."""
    reach = np.asarray([2.0 ** (result.bits - 1) for result in graph.results])
    error = torque_values(graph, simulated) - np.clip(states.torques, -reach, reach)
    return error, simulated.wrapped, simulated.saturated


def measure(graph: Graph, states: States) -> Errors:
    """Simulate a graph and compare it with Newton-Euler on the unquantised states."""
    return errors_of(*deviations(graph, states))


def errors_of(
    error: Floats, wrapped: tuple[int, ...], saturated: int, counted: int | None = None
) -> Errors:
    """Return the statistics of errors; only the first `counted` states count for the means."""
    drawn = error[:counted]
    return Errors(
        np.sqrt((drawn**2).mean(axis=0)),
        np.abs(error).max(axis=0),
        drawn.mean(axis=0),
        wrapped,
        saturated,
        len(drawn),
    )


@dataclass(frozen=True, slots=True)
class Sampling:
    """Seeded states of a robot: the widths of words, the bits of torques, how many, the seed."""

    robot: Robot
    widths: Mapping[str, int]
    bits: int
    samples: int
    seed: int

    def blocks(self, graph: Graph) -> Iterator[tuple[list[Floats], States]]:
        """Yield states, and as words of a graph's widths, a block at a time."""
        own = {**self.widths, **{node.name: node.bits for node in graph.inputs}}
        words, steps = quantities(self.robot, own), torque_steps(self.robot, self.bits)
        count = max(1, -(-self.samples // BLOCK))
        seeds = np.random.SeedSequence(self.seed).generate_state(count, np.uint64)
        for k, one in enumerate(seeds):
            arrays = uniform(self.robot, min(BLOCK, self.samples - k * BLOCK), int(one))
            yield arrays, states_of(self.robot, words, steps, arrays)


def measure_many(sampling: Sampling, graph: Graph, network: Network | None = None) -> Errors:
    """Return what `measure` does for many states; a network must give the same words throughout."""
    found = _Accumulator(sampling.robot.joints)
    for arrays, states in sampling.blocks(graph):
        found.add(arrays, *deviations(graph, states))
        if network is not None and not agrees(network, graph, states.words):
            raise AssertionError("a network differs from its word graph")  # our own mistake
    return found.errors()


def measure_worst(sampling: Sampling, graph: Graph, kept: int) -> tuple[Errors, list[Floats]]:
    """Return errors, and about `kept` states (q, qd, qdd) a torque at which they are largest."""
    block = -(-kept * BLOCK // max(BLOCK, sampling.samples))
    found = _Accumulator(sampling.robot.joints, block)
    for arrays, states in sampling.blocks(graph):
        found.add(arrays, *deviations(graph, states))
    return found.errors(), found.worst_states()


class _Accumulator:
    """Statistics of errors, block by block; of each block the `kept` worst states a torque."""

    def __init__(self, joints: int, kept: int = 0) -> None:
        self.square, self.mean, self.most = (np.zeros(joints) for _ in range(3))
        self.wrapped: set[int] = set()
        self.saturated, self.samples, self.kept = 0, 0, kept
        self.worst: list[list[list[Floats]]] = []

    def add(
        self, arrays: list[Floats], error: Floats, wrapped: tuple[int, ...], saturated: int
    ) -> None:
        """Take a block in."""
        self.square += (error**2).sum(axis=0)
        self.mean += error.sum(axis=0)
        self.most = np.maximum(self.most, np.abs(error).max(axis=0))
        self.wrapped.update(wrapped)
        self.saturated += saturated
        self.samples += len(error)
        if self.kept:
            places = np.argsort(-np.abs(error), axis=0, kind="stable")[: self.kept]
            self.worst.append([[array[rows] for rows in places.T] for array in arrays])

    def worst_states(self) -> list[Floats]:
        """Return q, qd and qdd of the worst states, those of the first torque first."""
        arrays = range(len(self.worst[0]))
        joints = range(len(self.worst[0][0]))
        return [
            np.concatenate([block[k][joint] for joint in joints for block in self.worst])
            for k in arrays
        ]

    def errors(self) -> Errors:
        """Return the statistics so far."""
        rms, mean = np.sqrt(self.square / self.samples), self.mean / self.samples
        wrapped = tuple(sorted(self.wrapped))
        return Errors(rms, self.most, mean, wrapped, self.saturated, self.samples)
