"""One step of the search for widths: screening a form, refining it, and annealing its widths.

Widths come from the noise model; then graphs are simulated, bit for bit, and what the model got
wrong (its variance, a bias) is put right by asking it for less or more. Every step is a function of
what it is given, so steps may run in other processes, and again after an interruption.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.compact.errors.every import every_state, is_countable, is_exact
from boolcomp.compact.errors.measure import compared, deviations, errors_of
from boolcomp.compact.errors.samples import (
    corners,
    draw,
    in_cells,
    input_squares,
    joined,
    states_of,
)
from boolcomp.compact.graph.layout import Statistics
from boolcomp.compact.noise import MOST_READ, Model
from boolcomp.compact.realisation import realise
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.sketch.sketch import Source
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.compact.widths.costs import costs_of
from boolcomp.compact.widths.descend import Descent, choose_widths
from boolcomp.compact.widths.explore import explore
from boolcomp.compact.widths.floor import Floor, rounding_squares
from boolcomp.compact.widths.forms import FORMS
from boolcomp.compact.widths.polish import Trial, anneal, polish
from boolcomp.compact.widths.reach import climbed
from boolcomp.compact.widths.sensitivities import within
from boolcomp.words.simulate import Resimulation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.errors.measure import Errors
    from boolcomp.compact.errors.samples import States
    from boolcomp.compact.sketch.poly import Quantity
    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.sketch.variables import Widths, WidthVariable
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

MODEL_SAMPLES, REACH_SAMPLES, LOOP_SAMPLES = 2000, 20_000, 20_000
ROUNDS, ROUNDS_AGAIN = 6, 4  # of corrections, at first and later
STEEPNESS, TEMPERATURE = 3.0, 3.0  # of a descent: how dear excess noise is; nodes
PERTURBATIONS = 0.01  # a width, for a nominal second
MOST_PERTURBATIONS, MOST_PERTURBATIONS_A_SECOND = 2.0, 40  # a width; in all, for a nominal second
LATE = 8.0  # the pressure from which on refining only corrects
WORK = 25_000  # nodes built and simulated in a nominal second
LOOKS = 200  # graphs simulated at all of few words in a nominal second
JUMP_SAMPLES = 200_000  # jumps are misjudged at few states
SEEN_TIMES = 1.3  # times the mean square that the model sees, or a part of it: jumps make the rest
LEAST_SQUARE = 0.01  # steps²: no logic errs by so little
CAUTION = 0.985  # of the mean squares allowed, since other samples will be met
MAX_CAUTION = 0.98  # of the largest error allowed


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Widths of a form, what a unit of each output's variance is worth, and corrections.

    `widened` says how often the sizes of words were enlarged; `nodes` are those of the plain
    network, or of the model before one was built (infinite where nothing was found). `excess` is
    by what factor a largest error was above what is allowed, at the states of the search.
    """

    form: int
    widths: dict[WidthVariable, int]
    prices: Floats
    biases: Floats
    widened: int
    nodes: float
    excess: float = 0.0

    def rank(self, pressure: float) -> float:
        """Return what is to be small: the nodes, times a power of errors that are too large."""
        return self.nodes * math.pow(max(1.0, self.excess), pressure)


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """What all steps of a search share: `allowed` are mean squares, `largest` errors, in steps.

    `worst` are states, an array for each group, at which errors were large, as many
    for every output;
    `worst_limits` are the mean squares that the model is allowed there. `pressure` says how much
    an error that is too large counts beside nodes.
    """

    terms: Terms
    demand: Demand
    allowed: Floats
    largest: Floats
    worst: tuple[Floats, ...] = ()
    worst_limits: Floats | None = None
    pressure: float = 1.0

    @property
    def rows(self) -> Floats:
        """What the model is allowed."""
        return (
            self.allowed
            if self.worst_limits is None
            else np.concatenate([self.allowed, self.worst_limits])
        )


def screen(task: SearchTask, form: int) -> Candidate:
    """Choose a form's widths by the model alone."""
    search = search_of(task, form)
    widths, prices = choose_widths(search.model, search.rows)
    descent = Descent(search.model, widths, search.rows)
    nodes = descent.cost if descent.feasible else math.inf
    return Candidate(form, widths, prices, np.zeros(len(task.allowed)), 0, nodes)


def refine(task: SearchTask, start: Candidate) -> Candidate:
    """Build, simulate, correct what the model is allowed; return the smallest that holds."""
    return search_of(task, start.form).refine(start)


def refine_work(start: Candidate) -> int:
    """Return how much work refining a choice is: its widths, each looked at once a round."""
    return len(start.widths) * ROUNDS


def improve(task: SearchTask, start: Candidate, turn: int, units: float) -> Candidate:
    """Let changes of widths lower the built nodes while measured errors hold.

    The largest error is watched at the worst states too.
    """
    return search_of(task, start.form).improve(start, turn, units)


@lru_cache(maxsize=2)
def model_values(
    problem: Problem, inputs: tuple[tuple[str, int], ...], bits: int, seed: int
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the states of models, the same for all forms: drawn ones, and extremes."""
    given = (problem, quantities(problem, dict(inputs)), problem.steps(bits))
    if is_exact(problem, dict(inputs)):
        every = states_of(*given, every_state(problem, dict(inputs))).values
        return every, every
    states = draw(*given, MODEL_SAMPLES, seed + 1)
    return states.values, corners(*given, REACH_SAMPLES, seed + 2).values


@lru_cache(maxsize=2)
def climbed_values(
    problem: Problem, inputs: tuple[tuple[str, int], ...], bits: int, seed: int, sketch: Sketch
) -> dict[str, Floats]:
    """Return the extremes, and states where words of a recursion are larger still."""
    _, extremes = model_values(problem, inputs, bits, seed)
    larger = climbed(sketch, quantities(problem, dict(inputs)), extremes)
    return {name: np.concatenate([column, larger[name]]) for name, column in extremes.items()}


@lru_cache(maxsize=2)
def search_of(task: SearchTask, form: int) -> Search:
    """Return the search of a task in a form: the same one as long as it is the last but one."""
    return Search(task, form)


def reach_of(problem: Problem, demand: Demand) -> Floats | None:
    """Return how many steps from zero outputs go: infinite of those that do not saturate.

    None stands for outputs none of which does.
    """
    saturating = demand.saturating(problem)
    if not any(saturating):
        return None
    reach = [2.0 ** (bits - 1) for bits in problem.output_bits(demand.bits)]
    return np.where(saturating, reach, np.inf)


class Search:
    """The samples and the model of one form."""

    def __init__(self, task: SearchTask, form: int) -> None:
        problem, demand = task.terms.problem, task.demand
        self.task, self.form = task, form
        self.steps = problem.steps(demand.bits)
        self.sketch = self.sketch_of(task, form)
        inputs = tuple(sorted(demand.input_bits.items()))
        values, extremes = model_values(problem, inputs, demand.bits, demand.seed)
        self.exact = is_exact(problem, demand.input_bits)
        self.worst: States | None = None
        if task.worst_limits is not None:
            words = quantities(problem, demand.input_bits)
            self.worst = states_of(problem, words, self.steps, task.worst)
        if FORMS[form].direct:
            extremes = climbed_values(problem, inputs, demand.bits, demand.seed, self.sketch)
        bad = self.worst.values if self.worst else None
        self.costs, self.reach = costs_of(demand), reach_of(problem, demand)
        self.model = Model(
            self.sketch, values, extremes, bad, self.costs, sure=self.exact, reach=self.reach
        )

    @cached_property
    def states(self) -> States:
        """The states on which graphs are simulated, the worst that are known among them."""
        problem, demand = self.task.terms.problem, self.task.demand
        given = (problem, self.words, self.steps)
        if self.exact:
            return states_of(*given, every_state(problem, demand.input_bits))
        drawn = draw(*given, LOOP_SAMPLES, demand.seed + 3)
        if demand.max and is_countable(problem, demand.input_bits):
            every = states_of(*given, every_state(problem, demand.input_bits))
            drawn = joined(drawn, every)
        return joined(drawn, self.worst) if self.worst else drawn

    @cached_property
    def words(self) -> dict[str, Quantity]:
        """The input words."""
        return quantities(self.task.terms.problem, self.task.demand.input_bits)

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        """At which states, of those that count, outputs do not saturate: (states, outputs)."""
        counted = self.states.outputs[: self.counted]
        if self.reach is None:
            return np.ones(counted.shape, dtype=np.bool_)
        columns = zip(counted.T, self.reach, strict=True)
        return np.stack([within(column, reach) for column, reach in columns], axis=1)

    @property
    def counted(self) -> int:
        """How many of the states, the first ones, count for means."""
        return len(self.states.outputs) if self.exact else LOOP_SAMPLES

    @staticmethod
    def sketch_of(task: SearchTask, form: int) -> Sketch:
        """Return the sketch of a form."""
        steps = task.terms.problem.steps(task.demand.bits)
        return build_sketch(task.terms, task.demand.input_bits, steps, FORMS[form])

    @cached_property
    def unseen(self) -> Floats:
        """What input words make beyond what the model sees, or less: jumps, of a calculation."""
        none = np.zeros(len(self.task.rows))
        if not FORMS[self.form].direct or self.exact:
            return none
        problem, seed = self.task.terms.problem, self.task.demand.seed
        made = input_squares(problem, self.words, self.steps, JUMP_SAMPLES, seed + 3, self.reach)
        inputs = self._seen_floor().inputs
        seen = (made < SEEN_TIMES * inputs) & (inputs < SEEN_TIMES * made)
        none[: len(made)] = np.where(seen, 0.0, made - inputs)
        return none

    @cached_property
    def beside(self) -> Floats:
        """All that is not in the model: what it does not see, and half a step of what saturates."""
        found = self.unseen.copy()
        if self.reach is not None:
            found[: len(self.reach)] += (1 - self._inside.mean(axis=0)) / 4
        return found

    @property
    def rows(self) -> Floats:
        """What the model is allowed: what is left beside what it does not see, or sees too much."""
        return np.maximum(self.task.rows - self.beside, LEAST_SQUARE)

    def floor(self) -> Floor:
        """Return the mean squares, in steps, that inputs as coarse as these and rounding make."""
        return replace(self._seen_floor(), jumps=self.unseen[: len(self.steps)])

    def _seen_floor(self) -> Floor:
        parts, bits, problem = {}, {}, self.task.terms.problem
        for place, node in enumerate(self.sketch.nodes):
            if isinstance(node, Source):
                step = 2 * math.pi / (1 << node.bits + node.part) if node.angle else 1.0
                felt = self.model.sensitivities[place].value[: len(self.steps)]
                made = node.hidden * step * step / 12 * felt
                parts[node.name], bits[node.name] = made, node.bits
        rounding = rounding_squares(in_cells(problem, self.states.outputs), self.reach)
        return Floor(parts, bits, rounding, names=tuple(one.symbol for one in problem.outputs))

    def graph(self, choice: Candidate) -> WordGraph:
        """Return the graph of a choice."""
        return self._graph(choice.widths, self.statistics(choice.widened), choice.biases)

    def statistics(self, widened: int) -> Statistics:
        """Return the sizes of words, larger by a tenth each time they were too small."""
        found = self.model.statistics
        sizes = tuple(1.1**widened * size for size in found.largest)
        return Statistics(sizes, found.means, found.sure)

    def _graph(self, widths: Widths, statistics: Statistics, biases: Floats) -> WordGraph:
        problem, demand = self.task.terms.problem, self.task.demand
        return realise(
            self.sketch, widths, statistics, problem.output_bits(demand.bits), biases.tolist(),
            saturating=demand.saturating(problem),
            treads=[one.format.tread for one in problem.outputs],
        )  # fmt: skip

    def refine(self, start: Candidate) -> Candidate:
        """Return the smallest choice that holds; its nodes are infinite where none does."""
        prices, widths, biases = self._prices(start), start.widths, start.biases
        widened, rows, count = start.widened, self.rows, len(self.task.allowed)
        allowed, correction = rows, np.ones(len(rows))
        rng = random.Random(self.task.demand.seed)  # noqa: S311 (not for secrets)
        best = replace(start, nodes=math.inf)
        again = start.excess > 0 or self.task.pressure >= LATE
        for turn in range(ROUNDS_AGAIN if again else ROUNDS):
            if turn:
                widths, prices = choose_widths(self.model, allowed, (widths, prices))
            descent = Descent(self.model, dict(widths), allowed, STEEPNESS)
            descent.improve(
                prices,
                rng,
                0 if again else self._perturbations(turn, len(descent.widths)),
                TEMPERATURE,
            )
            widths = descent.widths
            graph = self._graph(widths, self.statistics(widened), biases)
            found = deviations(graph, self.states)
            errors = errors_of(*found, self.counted)
            if errors.wrapped:
                widened += 1
                continue
            if (errors.rms**2 <= self.task.allowed).all():
                nodes = self.costs.graph(graph)
                excess = float((errors.max / self.task.largest).max())
                tried = Candidate(self.form, dict(widths), prices, biases, widened, nodes, excess)
                pressure = self.task.pressure
                if best.nodes == math.inf or tried.rank(pressure) < best.rank(pressure):
                    best = tried
            # What the model missed is taken off what it may use; half of it, for it is noisy.
            noise, unseen = descent.noise[:count], self.beside[:count]
            left = np.maximum(errors.rms**2 - unseen, np.where(unseen > 0, noise, LEAST_SQUARE))
            missed = np.ones(len(rows))
            missed[:count] = left / noise
            correction = missed if turn == 0 else np.sqrt(correction * missed)
            tighter = 1.0 if best.nodes < math.inf else 0.99**turn
            allowed = rows / correction * tighter
            biases = biases - self._bias(found[0], errors)
        return best

    def _bias(self, error: Floats, errors: Errors) -> Floats:
        """Return the mean errors that constants can take off: not those of what saturates."""
        if self.reach is None:
            return errors.mean
        total = np.where(self._inside, error[: self.counted], 0.0).sum(axis=0)
        return np.asarray(total / self._inside.sum(axis=0))

    def _prices(self, start: Candidate) -> Floats:
        """Return a choice's prices, and small ones for the outputs at their worst states."""
        rows = self.task.rows
        if len(start.prices) >= len(rows):
            return start.prices[: len(rows)]
        count = len(self.task.allowed)
        more = start.prices[:count] * self.task.allowed / rows[count:]
        return np.concatenate([start.prices, 0.1 * more])

    def noise(self, choice: Candidate) -> tuple[float, Floats]:
        """Return what the model says of a choice: its cost, and its mean square errors."""
        self.model.most_synthesised = MOST_READ  # for one choice no table need be estimated
        descent = Descent(self.model, dict(choice.widths), self.task.rows)
        return descent.cost, descent.noise

    def improve(self, start: Candidate, turn: int, units: float) -> Candidate:
        """Return the smallest choice that annealing from one that holds has found."""
        if self.exact:
            return self._explored(start, turn, units)
        statistics, task = self.statistics(start.widened), self.task
        again = Resimulation(self.states.words)

        def judge(widths: dict[WidthVariable, int]) -> Trial:
            graph = self._graph(widths, statistics, start.biases)
            found = compared(graph, self.states, again.simulate(graph))
            errors = errors_of(*found, self.counted)
            holds = self._holds(errors)
            nodes = self.costs.graph(graph) if holds else 0
            squares = errors.rms**2
            if task.worst_limits is not None:
                squares = np.concatenate(
                    [squares, task.worst_limits * (errors.max / task.largest) ** 2]
                )
            return Trial(nodes, squares, holds)

        descent = Descent(self.model, dict(start.widths), task.rows, STEEPNESS)
        found = judge(descent.widths)
        if not found.holds or not found.nodes:  # constants alone: nothing is smaller
            return start
        # The model may use what it is known to misjudge: the measured state is what it allows.
        descent.allowed = np.asarray(descent.noise * task.rows / found.squares)
        trials = round(units * WORK / (found.nodes * self.costs.weight))
        rng = random.Random(1000 * task.demand.seed + turn)  # noqa: S311 (not for secrets)
        share = trials // 2 if turn % 2 == 0 else 0
        left = trials
        if share:
            found, unused = polish(descent, task.rows, judge, share)
            left = trials - share + unused
        found = anneal(descent, found, self._prices(start), judge, left, rng)
        return replace(start, widths=dict(descent.widths), nodes=found.nodes)

    def _explored(self, start: Candidate, turn: int, units: float) -> Candidate:
        """Return the smallest choice that is found where errors are known at all words."""
        statistics, task = self.statistics(start.widened), self.task
        again = Resimulation(self.states.words)

        def judge(widths: dict[WidthVariable, int]) -> tuple[float, float]:
            graph = self._graph(widths, statistics, start.biases)
            errors = errors_of(*compared(graph, self.states, again.simulate(graph)), self.counted)
            excess = np.maximum(errors.max / task.largest, errors.rms / np.sqrt(task.allowed))
            return self.costs.graph(graph), math.inf if errors.wrapped else float(excess.max())

        rng = random.Random(1000 * task.demand.seed + turn)  # noqa: S311 (not for secrets)
        trials = round(units * LOOKS * LOOP_SAMPLES / (self.counted + LOOP_SAMPLES))
        widths, cost = explore(self.sketch, start.widths, judge, trials, rng)
        return replace(start, widths=widths, nodes=cost) if cost < math.inf else start

    def _holds(self, errors: Errors) -> bool:
        within = bool((errors.rms**2 <= self.task.allowed).all())
        return within and bool((errors.max <= self.task.largest).all()) and not errors.wrapped

    def _perturbations(self, turn: int, variables: int) -> int:
        """Return how often to perturbation: most in the middle rounds, never in the last ones."""
        effort = self.task.demand.effort
        perturbations = min(
            min(MOST_PERTURBATIONS, effort * PERTURBATIONS) * variables,
            MOST_PERTURBATIONS_A_SECOND * effort,
        )
        return round(perturbations) if 0 < turn < ROUNDS - 3 else 0
