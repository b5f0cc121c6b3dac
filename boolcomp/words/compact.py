"""Compact mode from end to end: sketch, widths, graph, network, and what it errs by.

Widths come from the noise model; then graphs are simulated, bit for bit, and what the model got
wrong (its variance, a bias) is put right by asking it for less or more. The same seed and effort
give the same result.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.codes import Code
from boolcomp.dynamics import inverse_dynamics
from boolcomp.errors import UsageError
from boolcomp.plan import Options, make_plan
from boolcomp.quantised import quantised_torques
from boolcomp.robot import Interval
from boolcomp.words.build import Form, build_sketch
from boolcomp.words.descend import Descent, choose_widths
from boolcomp.words.logic import Synthesiser, word_logic
from boolcomp.words.noise import Model
from boolcomp.words.polish import Trial, polish, wander
from boolcomp.words.poly import quantities
from boolcomp.words.realise import Statistics, realise
from boolcomp.words.samples import States, corners, draw, torque_values, uniform
from boolcomp.words.simulate import simulate
from boolcomp.words.tables import mux_network

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.network import Network
    from boolcomp.robot import Robot
    from boolcomp.terms import Torques
    from boolcomp.words.graph import Graph
    from boolcomp.words.sketch import Sketch

    Floats = NDArray[np.float64]
    Knob = tuple[int, str]

FORMS = tuple(
    Form(speeds, accelerations, chained)
    for speeds in (False, True)
    for accelerations in (False, True)
    for chained in (False, True)
)
MODEL_SAMPLES, REACH_SAMPLES, LOOP_SAMPLES, PAPER_SAMPLES = 2000, 20_000, 20_000, 20_000
ROUNDS = 6
REFINED = 2  # forms that are refined
STEEPNESS, TEMPERATURE = 3.0, 3.0  # of a descent: how dear excess noise is; nodes
KICKS = 1  # a knob, at effort 1
WORK = 400_000  # nodes built and simulated at effort 1, one width after the other
TIGHTENINGS, MAX_SAMPLES = 3, 400_000  # tries to hold the largest error; states it is sought in
CAUTION = 0.985  # of what is allowed, since other samples will be met
LEAST = 1.1  # times the rms of rounding: the least that the default allows
ROUNDING = 1 / math.sqrt(12)  # the rms error, in steps, of rounding alone


@dataclass(frozen=True, slots=True)
class Demand:
    """What a user may choose.

    `rms` is the allowed rms error, in steps of the torque's word, of each joint (or of all);
    without it the paper's own error at these bits is allowed. `max` likewise limits the largest
    error among samples. More `effort` takes proportionally longer, and may find fewer nodes.
    """

    bits: int = 8
    input_bits: Mapping[str, int] = field(default_factory=lambda: {"q": 10, "qd": 10, "qdd": 10})
    rms: tuple[float, ...] = ()
    max: tuple[float, ...] = ()
    saturate: bool = False
    seed: int = 0
    effort: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Errors of a graph in steps, one for every joint; heaps that wrapped (there must be none)."""

    rms: Floats
    max: Floats
    mean: Floats
    wrapped: tuple[int, ...]
    saturated: int


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """A compiled graph: what was chosen, what was predicted, what was built and measured."""

    robot: Robot
    demand: Demand
    form: Form
    sketch: Sketch
    widths: Mapping[Knob, int]
    graph: Graph
    biases: Floats
    allowed: Floats
    nodes: int
    predicted_cost: float
    predicted_rms: Floats
    errors: Errors

    @property
    def input_codes(self) -> dict[str, Code]:
        """The codes of the input words by name, in the order of the network's inputs."""
        words = quantities(self.robot, self.demand.input_bits)
        return {
            node.name: Code(words[node.name].range, node.bits, "natural")
            for node in self.graph.inputs
        }

    @property
    def torque_codes(self) -> tuple[Code, ...]:
        """The codes of the torques' words: about zero, wider than the range where that is short."""
        codes = []
        steps = torque_steps(self.robot, self.demand.bits)
        for step, result in zip(steps, self.graph.results, strict=True):
            reach = step * 2.0 ** (result.bits - 1)
            codes.append(Code(Interval(-reach, reach), result.bits, "natural"))
        return tuple(codes)

    def network(self, synthesise: Synthesiser = mux_network) -> Network:
        """Return the network of the graph (see `word_logic`)."""
        return word_logic(self.graph, synthesise)


def torque_steps(robot: Robot, bits: int) -> list[float]:
    """Return the step of every torque's word."""
    return [(link.torque.high - link.torque.low) / (1 << bits) for link in robot.links]


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


def measure(graph: Graph, states: States) -> Errors:
    """Simulate a graph and compare it with Newton-Euler on the unquantised states."""
    simulated = simulate(graph, states.words)
    error = torque_values(graph, simulated) - states.torques
    return Errors(
        np.sqrt((error**2).mean(axis=0)),
        np.abs(error).max(axis=0),
        error.mean(axis=0),
        simulated.wrapped,
        simulated.saturated,
    )


def compile_words(
    torques: Torques,
    demand: Demand | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Compact:
    """Return the smallest graph found whose sampled rms errors are as demanded."""
    chosen = demand or Demand()
    search = _Search(torques, chosen, progress)
    candidates = _promising([search.start(form) for form in FORMS])
    for _ in range(TIGHTENINGS):
        refined = [search.refine(candidate) for candidate in candidates]
        held = [r for r in refined if r is not None]
        if not held:
            raise UsageError("no widths reach the demanded error: allow more, or widen the inputs")
        best = search.polish(min(held, key=lambda r: r.best.nodes))
        if search.confirmed(best):
            break
    return best


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    form: Form
    model: Model
    widths: dict[Knob, int]
    prices: Floats
    nodes: float


@dataclass(frozen=True, slots=True, eq=False)
class _Refined:
    """A candidate, how large its words may get, and the smallest that was found to hold."""

    candidate: _Candidate
    statistics: Statistics
    best: Compact


def _promising(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Return the cheapest candidates that can hold, one for every sketch."""
    found: dict[Sketch, _Candidate] = {}
    for candidate in sorted(candidates, key=lambda c: c.nodes):
        if candidate.nodes < math.inf:
            found.setdefault(candidate.model.sketch, candidate)
    return list(found.values())[:REFINED]


class _Search:
    """The samples and budgets that all candidates share."""

    def __init__(self, torques: Torques, demand: Demand, progress: Callable[[str], None]) -> None:
        robot = torques.robot
        self.torques, self.demand, self.progress = torques, demand, progress
        self.steps = torque_steps(robot, demand.bits)
        words = quantities(robot, demand.input_bits)
        rms = np.asarray(demand.rms or paper_rms(torques, demand.bits), dtype=np.float64)
        if demand.rms and rms.min() <= ROUNDING:
            raise UsageError(
                f"rounding alone makes an rms error of {ROUNDING:.3f} steps: allow more"
            )
        self.allowed = (
            np.broadcast_to(np.maximum(rms, LEAST * ROUNDING), robot.joints).copy() ** 2 * CAUTION
        )
        self.largest = np.broadcast_to(np.asarray(demand.max or np.inf), robot.joints)
        self.given = given = (robot, words, self.steps)
        self.model_states = draw(*given, MODEL_SAMPLES, demand.seed + 1)
        self.extremes = corners(*given, REACH_SAMPLES, demand.seed + 2)
        self.states = draw(*given, LOOP_SAMPLES, demand.seed + 3)

    def start(self, form: Form) -> _Candidate:
        """Choose widths by the model alone."""
        sketch = build_sketch(self.torques, self.demand.input_bits, self.steps, form)
        model = Model(sketch, self.model_states.values, self.extremes.values)
        widths, prices = choose_widths(model, self.allowed)
        descent = Descent(model, widths, self.allowed)
        nodes = math.inf
        if descent.feasible:
            graph = self._graph(model, widths, model.statistics, np.zeros(len(self.allowed)))
            nodes = len(word_logic(graph).nodes)
        self.progress(f"{form}: {nodes} nodes")
        return _Candidate(form, model, widths, prices, nodes)

    def _graph(
        self, model: Model, widths: Mapping[Knob, int], statistics: Statistics, biases: Floats
    ) -> Graph:
        bits = [self.demand.bits] * len(biases)
        saturate = self.demand.saturate
        return realise(model.sketch, widths, statistics, bits, biases.tolist(), saturate=saturate)

    def refine(self, candidate: _Candidate) -> _Refined | None:
        """Build, simulate, correct what the model is allowed; return the smallest that holds."""
        model, prices, widths = candidate.model, candidate.prices, candidate.widths
        statistics, allowed = model.statistics, self.allowed
        correction, biases = np.ones(len(allowed)), np.zeros(len(allowed))
        rng = random.Random(self.demand.seed)  # noqa: S311 (not for secrets)
        best: Compact | None = None
        for turn in range(ROUNDS):
            if turn:
                widths, prices = choose_widths(model, allowed, (widths, prices))
            descent = Descent(model, dict(widths), allowed, STEEPNESS)
            descent.improve(prices, rng, self._kicks(turn, len(descent.widths)), TEMPERATURE)
            widths = descent.widths
            graph = self._graph(model, widths, statistics, biases)
            errors = measure(graph, self.states)
            if errors.wrapped:
                statistics = _widened(statistics)
                continue
            nodes = len(word_logic(graph).nodes)
            self.progress(f"{nodes} nodes, rms {errors.rms.round(3)}")
            if self._holds(errors) and (best is None or nodes < best.nodes):
                best = Compact(
                    self.torques.robot, self.demand, candidate.form, model.sketch, widths, graph,
                    biases, self.allowed, nodes, descent.cost, np.sqrt(descent.noise), errors,
                )  # fmt: skip
            # What the model missed is taken off what it may use; half of it, for it is noisy.
            missed = errors.rms**2 / descent.noise
            correction = missed if turn == 0 else np.sqrt(correction * missed)
            tighter = 1.0 if best is not None else 0.99**turn
            allowed = self.allowed / correction * tighter
            biases = biases - errors.mean
        return None if best is None else _Refined(candidate, statistics, best)

    def _holds(self, errors: Errors) -> bool:
        within = bool((errors.rms**2 <= self.allowed).all() and (errors.max <= self.largest).all())
        return within and not errors.wrapped

    def polish(self, refined: _Refined) -> Compact:
        """Let changes of widths lower the built nodes while measured errors hold."""
        model, prices = refined.candidate.model, refined.candidate.prices
        statistics, best = refined.statistics, refined.best
        found: dict[int, tuple[Graph, Errors]] = {}

        def judge(widths: dict[Knob, int]) -> Trial:
            graph = self._graph(model, widths, statistics, best.biases)
            errors = measure(graph, self.states)
            holds = self._holds(errors)
            nodes = len(word_logic(graph).nodes) if holds else 0
            if holds and nodes < min(found, default=nodes + 1):
                found[nodes] = (graph, errors)
            return Trial(nodes, errors.rms**2, holds)

        # The model may use what it is known to misjudge: the measured state is what it allows.
        room = np.asarray(best.predicted_rms**2 * self.allowed / best.errors.rms**2)
        descent = Descent(model, dict(best.widths), room, STEEPNESS)
        trials = round(self.demand.effort * WORK / best.nodes)
        trial, left = polish(descent, self.allowed, judge, trials // 2)
        rng = random.Random(self.demand.seed)  # noqa: S311 (not for secrets)
        trial = wander(descent, trial, prices, judge, trials - trials // 2 + left, rng)
        self.progress(f"{trial.nodes} nodes after {trials} trials")
        graph, errors = found[min(found)]
        return replace(
            best, widths=descent.widths, graph=graph, nodes=trial.nodes,
            predicted_cost=descent.cost, predicted_rms=np.sqrt(descent.noise), errors=errors,
        )  # fmt: skip

    def confirmed(self, found: Compact) -> bool:
        """Tell whether the largest error holds on many fresh states; if not, allow less rms."""
        if not self.demand.max:
            return True
        errors = measure(found.graph, draw(*self.given, MAX_SAMPLES, self.demand.seed + 4))
        excess = errors.max / self.largest
        self.progress(f"{found.nodes} nodes, max {errors.max.round(2)}")
        self.allowed = np.where(excess > 1, self.allowed / (1.02 * excess) ** 2, self.allowed)
        return bool((excess <= 1).all())

    def _kicks(self, turn: int, knobs: int) -> int:
        """Return how often to kick: most in the middle rounds, never in the last ones."""
        return round(self.demand.effort * KICKS * knobs) if 0 < turn < ROUNDS - 3 else 0


def _widened(statistics: Statistics) -> Statistics:
    """Allow for larger values than were sampled."""
    return Statistics(tuple(1.1 * size for size in statistics.largest), statistics.means)
