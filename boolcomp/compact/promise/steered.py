"""One step of a search that a bound steers: screening a form, refining it, annealing its widths.

As in `widths/search.py`, but what is added up is the most that every rounding can make of outputs
(`widths/norms.py`), and what decides is no sample: it is the plain bound of the built graph, which
the model meets within a few percent. A heap whose overflow that cannot exclude gets more columns.
"""

from __future__ import annotations

import math
import random
import threading
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.common.errors import DataError
from boolcomp.compact.assembly import Ends
from boolcomp.compact.errors.every import is_exact
from boolcomp.compact.noise import Model
from boolcomp.compact.realisation import realise
from boolcomp.compact.result.explained import Realised, explained_graph
from boolcomp.compact.search import (
    STEEPNESS,
    TEMPERATURE,
    WORK,
    Candidate,
    climbed_values,
    model_values,
)
from boolcomp.compact.sketch.variables import Role
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.compact.widths.costs import costs_of
from boolcomp.compact.widths.descend import Descent, choose_widths
from boolcomp.compact.widths.forms import FORMS
from boolcomp.compact.widths.polish import Trial, anneal, polish
from boolcomp.problem.promise import HALF
from boolcomp.proof.bound.meaning import Total
from boolcomp.proof.bound.plain import plain_bounds
from boolcomp.terms.rest import resting
from boolcomp.words.graph import narrowed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.sketch.variables import WidthVariable
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.proof.bound.result import Bounds
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Widths = dict[WidthVariable, int]

PEAKS = 4000  # states at which outputs are looked for where they are most sensitive
ROUNDS = 5  # of corrections
PERTURBATIONS = 40  # of a round, for a nominal second: in the middle ones
MOST_PERTURBATIONS = 400
MOST_ROOM = 6  # columns that a heap gets beyond what samples ask for
BESIDE = 1 / 64  # steps that the middle of a bound may lie beside zero
NEVER = 1e6  # times what a bound may be: there is none
LEAST = 1e-3  # steps beside rounding: no bound says less


@dataclass(frozen=True, slots=True, eq=False)
class SteeredTask:
    """What all steps share: `most` is what the plain bounds of outputs may be, in steps."""

    terms: Terms
    demand: Demand
    most: Floats

    def search(self, form: int) -> Steered:
        """Return the search in a form: the same one as long as it is the last but one."""
        thread = threading.get_ident()  # in one process each has its own
        key = f"{thread}\n{self.terms.problem.key}\n{self.demand.key}"
        return _steered(_Form(key, form, self.terms, self.demand))


@dataclass(frozen=True, slots=True)
class _Form:
    """A form of terms under a demand, told from others by texts."""

    key: str
    form: int
    terms: Terms = field(compare=False)
    demand: Demand = field(compare=False)


@lru_cache(maxsize=2)
def _steered(one: _Form) -> Steered:
    return Steered(one.terms, one.demand, one.form)


def screen_form(task: SteeredTask, form: int) -> Candidate:
    """Choose a form's widths by the model alone."""
    search = task.search(form)
    widths, prices = choose_widths(search.model, task.most)
    descent = Descent(search.model, widths, task.most)
    nodes = descent.cost if descent.feasible else math.inf
    return Candidate(form, widths, prices, np.zeros(len(task.most)), 0, nodes)


def refine_steered(task: SteeredTask, start: Candidate) -> Candidate:
    """Build, bound, and correct what the model is allowed; return the smallest that holds."""
    return task.search(start.form).refine(start, task.most)


def improve_steered(task: SteeredTask, start: Candidate, turn: int, units: float) -> Candidate:
    """Refine, and let changes of widths lower the built nodes while plain bounds hold."""
    search = task.search(start.form)
    again = search.refine(start, task.most)
    starts = [one for one in (again, start) if search.holds(one, task.most)]
    if not starts:
        return again
    best = min(starts, key=lambda one: one.nodes)
    return search.improve(replace(best, excess=1.0), task.most, turn, units)


def rank(choice: Candidate) -> tuple[float, float]:
    """Return what is to be small: of those that hold the nodes, of others the bound."""
    return max(1.0, choice.excess), choice.nodes


class Made(NamedTuple):
    """A graph with its widths and biases, and its plain bounds."""

    graph: WordGraph
    widths: Widths
    biases: Floats
    bounds: Bounds

    def holds(self, most: Floats) -> bool:
        """Tell whether bounds are as small as they are to be, and proved."""
        return not self.bounds.unproved and bool((np.array(self.bounds.steps) <= most).all())


class Steered:
    """The model of one form, of the worst there can be, and the bounds of its graphs."""

    def __init__(self, terms: Terms, demand: Demand, form: int) -> None:
        problem = terms.problem
        self.problem, self.demand, self.form = problem, demand, form
        steps = problem.steps(demand.bits)
        self.sketch = build_sketch(terms, demand.input_bits, steps, FORMS[form])
        given = problem, tuple(sorted(demand.input_bits.items())), demand.bits, demand.seed
        values, extremes = model_values(*given)
        if FORMS[form].direct:
            extremes = climbed_values(*given, self.sketch)
        sure = is_exact(problem, demand.input_bits)
        peaks = {name: column[:PEAKS] for name, column in extremes.items()}
        self.costs = costs_of(demand)
        self.model = Model(self.sketch, values, extremes, costs=self.costs, sure=sure, peaks=peaks)
        self.ends = Ends(rest=resting(terms))

    def graph(self, widths: Mapping[WidthVariable, int], biases: Floats) -> WordGraph:
        """Return the graph of widths."""
        problem, demand = self.problem, self.demand
        return narrowed(
            realise(
                self.sketch, widths, self.model.statistics, problem.output_bits(demand.bits),
                biases.tolist(), saturating=demand.saturating(problem),
                treads=[one.format.tread for one in problem.outputs],
            )
        )  # fmt: skip

    def explained(self, graph: WordGraph, widths: Mapping[WidthVariable, int]) -> Explained:
        """Return a graph with what its words stand for."""
        made = Realised(self.sketch, widths, graph)
        return explained_graph(self.problem, self.demand, made, self.ends)

    def bounded(self, widths: Mapping[WidthVariable, int], biases: Floats) -> Made:
        """Return the graph of widths, and its plain bounds."""
        graph = self.graph(widths, biases)
        try:
            bounds = plain_bounds(self.explained(graph, widths))
        except DataError as error:
            raise DataError(f"{self.problem.name}: nothing can be promised: {error}") from None
        return Made(graph, dict(widths), biases, bounds)

    def made(self, widths: Mapping[WidthVariable, int], biases: Floats) -> Made:
        """Return the graph of widths with room enough in its heaps, its bounds about zero."""
        own = {k: value for k, value in widths.items() if k.role is not Role.ROOM}
        found = self.bounded(own, biases)
        for _ in range(MOST_ROOM):
            narrow = set(found.bounds.unproved)
            if not narrow:
                break
            meanings = self.explained(found.graph, own).meanings
            for place, meaning in enumerate(meanings):
                if isinstance(meaning, Total) and meaning.word in narrow:
                    own[Role.ROOM.of(place)] = own.get(Role.ROOM.of(place), 0) + 1
            found = self.bounded(own, biases)
        beside = np.array([float(one.high + one.low) / 2 for one in found.bounds.outputs])
        if (abs(beside) <= BESIDE).all():
            return found
        moved = self.bounded(own, biases - beside)
        better = max(moved.bounds.steps) <= max(found.bounds.steps)
        return moved if better and not moved.bounds.unproved else found

    def holds(self, choice: Candidate, most: Floats) -> bool:
        """Tell whether a choice's plain bounds are as small as they are to be."""
        return self.bounded(choice.widths, choice.biases).holds(most)

    def refine(self, start: Candidate, most: Floats) -> Candidate:
        """Return the smallest choice that holds, or the nearest to holding.

        Its `excess` is what the largest bound is of what it may be.
        """
        widths: Mapping[WidthVariable, int] = start.widths
        prices, biases, allowed = start.prices, start.biases, most
        rng = random.Random(self.demand.seed)  # noqa: S311 (not for secrets)
        best = replace(start, nodes=math.inf, excess=NEVER)
        for turn in range(ROUNDS):
            if turn:
                known = {k: value for k, value in widths.items() if k.role is not Role.ROOM}
                widths, prices = choose_widths(self.model, allowed, (known, prices))
            descent = Descent(self.model, dict(widths), allowed, STEEPNESS)
            descent.improve(prices, rng, self._perturbations(turn), TEMPERATURE)
            made = self.made(descent.widths, biases)
            widths, biases = made.widths, made.biases
            steps = np.array(made.bounds.steps)
            excess = NEVER if made.bounds.unproved else float((steps / most).max())
            nodes = float(self.costs.graph(made.graph))
            found = Candidate(self.form, widths, prices, biases, 0, nodes, excess)
            best = min(best, found, key=rank)
            # What the model misses beside rounding is put right for the next round.
            said = np.maximum(descent.noise - HALF, LEAST)
            right = np.maximum(steps - HALF, LEAST) / said
            tighter = 1.0 if best.excess <= 1 else 0.99**turn
            allowed = HALF + np.maximum(most - HALF, LEAST) / right * tighter
        return best

    def improve(self, start: Candidate, most: Floats, turn: int, units: float) -> Candidate:
        """Return the smallest choice that annealing from one that holds has found."""

        def judge(widths: Widths) -> Trial:
            found = self.bounded(widths, start.biases)
            holds = found.holds(most)
            nodes = self.costs.graph(found.graph) if holds else 0
            return Trial(nodes, np.array(found.bounds.steps), holds)

        descent = Descent(self.model, dict(start.widths), most, STEEPNESS)
        found = judge(descent.widths)
        # The model may use what it is known to misjudge: the proved state is what it allows.
        descent.allowed = np.asarray(descent.noise + most - found.squares)
        trials = round(units * WORK / (found.nodes * self.costs.weight))
        rng = random.Random(1000 * self.demand.seed + turn)  # noqa: S311 (not for secrets)
        share = trials // 2 if turn % 2 == 0 else 0
        left = trials
        if share:
            found, unused = polish(descent, most, judge, share)
            left = trials - share + unused
        found = anneal(descent, found, start.prices, judge, left, rng)
        return replace(start, widths=dict(descent.widths), nodes=found.nodes)

    def _perturbations(self, turn: int) -> int:
        """Return how often to perturb: in the middle rounds alone."""
        often = min(MOST_PERTURBATIONS, round(PERTURBATIONS * self.demand.effort))
        return often if 0 < turn < ROUNDS - 1 else 0
