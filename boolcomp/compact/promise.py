"""The search for widths with a guaranteed error: its steps, its passes, and its word length.

As in `search`, but the model adds up worst cases of roundings (`WorstNorm`), and the plain bound of
the built graph decides instead of samples. A heap that may overflow gets more columns.
"""

from __future__ import annotations

import math
import random
import threading
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import ALONE
from boolcomp.compact.costs import costs_of
from boolcomp.compact.demand import LEAST_BITS, MOST_BITS, MOST_INPUT, ignore_progress
from boolcomp.compact.errors import is_exact
from boolcomp.compact.limits import FORMS
from boolcomp.compact.network import WordEnds
from boolcomp.compact.noise import Model
from boolcomp.compact.result import bounds_of, sketched_graph
from boolcomp.compact.search import (
    STEEPNESS,
    TEMPERATURE,
    WORK,
    Candidate,
    Descent,
    FormSearch,
    Trial,
    choose_widths,
    climbed_values,
    model_values,
    polish_and_anneal,
    realised,
    screened,
)
from boolcomp.compact.sketch import Role, quantities
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.compact.widths import (
    ANNEALERS,
    CHUNKS,
    Ledger,
    Refined,
    Screened,
    Sketched,
    errors_seen,
    forms_of,
    promising,
)
from boolcomp.problem.problem import HALF
from boolcomp.proof.bound.bounds import EFFORT
from boolcomp.proof.bound.plain import plain_bounds
from boolcomp.terms.extract import resting
from boolcomp.words.graph import narrowed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.sketch import Sketch, WidthVariable
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.bounds import Bounds
    from boolcomp.proof.bound.sketched import SketchedGraph
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Widths = dict[WidthVariable, int]


PEAKS = 4000  # states for the largest sensitivities
ROUNDS = 5  # of corrections
PERTURBATIONS = 40  # of a middle round, for a nominal second
MOST_PERTURBATIONS = 400
MOST_ROOM = 6  # columns of a heap in addition to those for samples
BESIDE = 1 / 64  # steps: largest middle of a bound that is not corrected
NEVER = 1e6  # ratio of a missing bound to its limit
LEAST = 1e-3  # steps: least part of a bound besides rounding


@dataclass(frozen=True, slots=True, eq=False)
class SteeredTask:
    """The task of all steps; `limits` are those of the plain bounds of outputs, in steps."""

    terms: Terms
    demand: Demand
    limits: Floats

    def search(self, form: int) -> Steered:
        """Return the search in a form, which is cached."""
        thread = threading.get_ident()  # a search is not shared by threads
        key = f"{thread}\n{self.terms.problem.key}\n{self.demand.key}"
        return _steered(_FormKey(key, form, self.terms, self.demand))


@dataclass(frozen=True, slots=True)
class _FormKey:
    """A form of terms under a demand, compared by texts."""

    key: str
    form: int
    terms: Terms = field(compare=False)
    demand: Demand = field(compare=False)


@lru_cache(maxsize=2)
def _steered(one: _FormKey) -> Steered:
    return Steered(one.terms, one.demand, one.form)


def screen_form(task: SteeredTask, form: int) -> Candidate:
    return screened(form, task.search(form).model, task.limits, len(task.limits))


def refine_steered(task: SteeredTask, start: Candidate) -> Candidate:
    return task.search(start.form).refine(start, task.limits)


def improve_steered(task: SteeredTask, start: Candidate, turn: int, units: float) -> Candidate:
    """Refine widths, then change them to lower the built nodes within the plain bounds."""
    search = task.search(start.form)
    again = search.refine(start, task.limits)
    starts = [one for one in (again, start) if search.holds(one, task.limits)]
    if not starts:
        return again
    best = min(starts, key=lambda one: one.nodes)
    return search.improve(replace(best, excess=1.0), task.limits, turn, units)


def rank(choice: Candidate) -> tuple[float, float]:
    return max(1.0, choice.excess), choice.nodes


class BoundedGraph(NamedTuple):
    """A graph with its widths and biases, and its plain bounds."""

    graph: WordGraph
    widths: Widths
    biases: Floats
    bounds: Bounds

    def holds(self, limits: Floats) -> bool:
        return not self.bounds.unproved and bool((np.array(self.bounds.steps) <= limits).all())


class Steered:
    """The worst-case model of one form, and the bounds of its graphs."""

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
        self.ends = WordEnds(rest=resting(terms))

    def graph(self, widths: Mapping[WidthVariable, int], biases: Floats) -> WordGraph:
        """Return the graph of widths without unused input bits."""
        statistics = self.model.statistics
        given = self.problem, self.demand, self.sketch, widths, statistics, biases
        return narrowed(realised(*given))

    def sketched(self, graph: WordGraph, widths: Mapping[WidthVariable, int]) -> SketchedGraph:
        """Return a graph with its sketch."""
        given = self.problem, self.demand, self.sketch, widths
        return sketched_graph(*given, graph, self.ends)

    def bounded(self, widths: Mapping[WidthVariable, int], biases: Floats) -> BoundedGraph:
        """Return the graph of widths, and its plain bounds."""
        graph = self.graph(widths, biases)
        try:
            bounds = plain_bounds(self.sketched(graph, widths))
        except DataError as error:
            raise DataError(f"{self.problem.name}: no error can be guaranteed: {error}") from None
        return BoundedGraph(graph, dict(widths), biases, bounds)

    def made(self, widths: Mapping[WidthVariable, int], biases: Floats) -> BoundedGraph:
        """Return the graph of widths with wide enough heaps, and bounds centred on zero."""
        own = {k: value for k, value in widths.items() if k.role is not Role.ROOM}
        found = self.bounded(own, biases)
        for _ in range(MOST_ROOM):
            narrow = set(found.bounds.unproved)
            if not narrow:
                break
            for place, stands in enumerate(self.sketched(found.graph, own).places):
                if narrow.intersection(stands.words):
                    own[Role.ROOM.of(place)] = own.get(Role.ROOM.of(place), 0) + 1
            found = self.bounded(own, biases)
        middles = np.array([float(one.high + one.low) / 2 for one in found.bounds.outputs])
        if (abs(middles) <= BESIDE).all():
            return found
        moved = self.bounded(own, biases - middles)
        better = max(moved.bounds.steps) <= max(found.bounds.steps)
        return moved if better and not moved.bounds.unproved else found

    def holds(self, choice: Candidate, limits: Floats) -> bool:
        return self.bounded(choice.widths, choice.biases).holds(limits)

    def refine(self, start: Candidate, limits: Floats) -> Candidate:
        """Return the smallest choice within the limits, or the nearest to them.

        Its `excess` is the largest ratio of a bound to its limit.
        """
        widths: Mapping[WidthVariable, int] = start.widths
        prices, biases, allowed = start.prices, start.biases, limits
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
            excess = NEVER if made.bounds.unproved else float((steps / limits).max())
            nodes = float(self.costs.graph(made.graph))
            found = Candidate(self.form, widths, prices, biases, 0, nodes, excess)
            best = min(best, found, key=rank)
            # The errors that the model missed correct its allowance for the next round.
            correction = np.maximum(steps - HALF, LEAST) / np.maximum(descent.noise - HALF, LEAST)
            tighter = 1.0 if best.excess <= 1 else 0.99**turn
            allowed = HALF + np.maximum(limits - HALF, LEAST) / correction * tighter
        return best

    def improve(self, start: Candidate, limits: Floats, turn: int, units: float) -> Candidate:
        """Return the smallest choice that annealing finds within the limits."""

        def judge(widths: Widths) -> Trial:
            found = self.bounded(widths, start.biases)
            holds = found.holds(limits)
            nodes = self.costs.graph(found.graph) if holds else 0
            return Trial(nodes, np.array(found.bounds.steps), holds)

        descent = Descent(self.model, dict(start.widths), limits, STEEPNESS)
        found = judge(descent.widths)
        if not found.nodes:  # only constants: nothing is smaller
            return start
        # The proved state calibrates the model's allowance.
        descent.allowed = np.asarray(descent.noise + limits - found.squares)
        trials = round(units * WORK / (found.nodes * self.costs.weight))
        nodes = polish_and_anneal(
            descent, found, start.prices, judge,
            allowed=limits, trials=trials, turn=turn, seed=self.demand.seed,
        )  # fmt: skip
        return replace(start, widths=dict(descent.widths), nodes=nodes)

    def _perturbations(self, turn: int) -> int:
        """Return the number of perturbations in a round; the first and last have none."""
        count = min(MOST_PERTURBATIONS, round(PERTURBATIONS * self.demand.effort))
        return count if 0 < turn < ROUNDS - 1 else 0


# --------------------------------------------------------------------------------------------------
# The floor of the largest error: coarse inputs and rounding.
#
# Within a cell of inputs an output changes by up to Σ |∂y/∂x|·h/2 from its value in the middle, and
# rounding adds half a step. Slopes between the ends of cells at many states give a lower bound of
# this floor.
# --------------------------------------------------------------------------------------------------

STATES = 4000  # random states, and as many with linear inputs at their ends
CERTAIN = 0.9  # part of the error of inputs that leads to a refusal
COMFORTABLE = 0.5  # part of the error left besides rounding that advice gives to inputs


@dataclass(frozen=True, slots=True, eq=False)
class InputFloor:
    """The changes of outputs within half a cell of every input, (inputs, states, outputs)."""

    names: tuple[str, ...]
    bits: tuple[int, ...]
    moves: Floats

    @property
    def least(self) -> Floats:
        return np.asarray(HALF + self.moves.sum(axis=0).max(axis=0))

    def wider(self, promised: Floats) -> dict[str, int] | None:
        """Return the least widths of inputs that leave error for logic; None if there are none."""
        moves, bits = self.moves.copy(), list(self.bits)
        room = COMFORTABLE * (promised - HALF)
        while True:
            total = moves.sum(axis=0) / room
            state, output = np.unravel_index(int(total.argmax()), total.shape)
            if total[state, output] <= 1:
                pairs = zip(self.names, bits, self.bits, strict=True)
                return {name: now for name, now, before in pairs if now != before}
            able = [k for k, own in enumerate(bits) if own < MOST_INPUT]
            if not able:
                return None
            widest = max(able, key=lambda k: (float(moves[k, state, output]), -k))
            moves[widest] /= 2
            bits[widest] += 1


def input_floor(problem: Problem, demand: Demand) -> InputFloor:
    """Return the changes of outputs within cells of inputs of the largest widths.

    An output that saturates does not change beyond its range.
    """
    words = quantities(problem, demand.input_bits)
    steps = np.asarray(problem.steps(demand.bits))
    states = _states(problem, demand.seed)
    saturating = demand.saturating(problem)
    low = np.where(saturating, [one.range.low for one in problem.outputs], -np.inf)
    high = np.where(saturating, [one.range.high for one in problem.outputs], np.inf)
    names, moves = [], []
    for place, one in enumerate(problem.inputs):
        word = words.get(one.name)
        if word is None or word.exact:
            continue
        ends = []
        for sign in (-0.5, 0.5):
            moved = states.copy()
            moved[:, place] = np.clip(
                moved[:, place] + sign * word.step, one.range.low, one.range.high
            )
            ends.append(np.clip(problem.exact(moved), low, high))
        names.append(one.name)
        moves.append(np.abs(ends[1] - ends[0]) / 2 / steps)
    bits = tuple(words[name].bits for name in names)
    return InputFloor(tuple(names), bits, np.asarray(moves))


def refuse_impossible(problem: Problem, demand: Demand, promised: Floats) -> None:
    """Raise a `DataError` if the floor is above a guaranteed error, with sufficient widths."""
    floor = input_floor(problem, demand)
    if not floor.names:
        return
    least = HALF + CERTAIN * (floor.least - HALF)
    if (least <= promised).all():
        return
    worst = int(np.argmax(floor.least / promised))
    output, step = problem.outputs[worst], problem.steps(demand.bits)[worst]
    wider = floor.wider(promised)
    if wider is None:
        advice = f"inputs of {MOST_INPUT} bits do not suffice: allow a larger error"
    else:
        advice = f"use --input-bits {_written(problem, demand, wider)}, or allow a larger error"
    widths = sorted(set(floor.bits))
    limit, reached = (
        f"{size:.4g} LSB ({size * step:.4g} {output.unit}".rstrip() + ")"
        for size in (promised[worst], floor.least[worst])
    )
    raise DataError(
        f"{problem.name}: cannot guarantee {limit} for {output.name}: the error of inputs of "
        f"{_span(widths)} bits and rounding alone is {reached}: {advice}"
    )


def _written(problem: Problem, demand: Demand, wider: dict[str, int]) -> str:
    """Write all widths in the syntax of the option; equal ones of a group are written once."""
    own = problem.by_input(demand.input_bits) | wider
    parts = []
    for group in problem.groups:
        bits = {own[name] for name in group.members}
        if len(bits) == 1:
            parts.append(f"{group.name}={bits.pop()}")
        else:
            parts += [f"{name}={own[name]}" for name in group.members]
    return ",".join(parts)


def _span(widths: list[int]) -> str:
    return f"{widths[0]}" if len(widths) == 1 else f"{widths[0]} to {widths[-1]}"


def _states(problem: Problem, seed: int) -> Floats:
    """Return states, (states, inputs): random ones, and ones with linear inputs at their ends."""
    drawn = np.concatenate(problem.draw(STATES, seed), axis=1)
    low, high = problem.bounds()
    ends = np.concatenate(problem.draw(STATES, seed + 1), axis=1)
    linear = [not one.angle for one in problem.inputs]
    ends[:, linear] = np.where(ends < (low + high) / 2, low, high)[:, linear]
    return np.concatenate([drawn, ends])


# --------------------------------------------------------------------------------------------------
# The passes with a guaranteed error, which replace those that choose widths by samples.
#
# The search uses the plain bound, which is larger than the tight one. Its limits are adjusted in
# turns: the ratio of both bounds of the last graph gives the limits for the next. Results need a
# tight bound within the guaranteed error.
# --------------------------------------------------------------------------------------------------

STEERING = 4.0  # steps: limit of the bounds of outputs without a guaranteed error
SAFE = 1 - 1e-5  # factor on the guaranteed error, because bounds are rounded up
NEARER = 0.995  # factor on the limits that the last tight bound allows
TURNS, QUICK_TURNS = 4, 3  # tight bounds while refining; with effort 0
WORTH = 0.01  # least increase of the limits for another turn


@dataclass(frozen=True, slots=True, eq=False)
class Steering:
    """The state of a search: the last choice, and the smallest one with a proved error, if any.

    `limits` are those of the next plain bounds. `nearest` is the choice with the tight bounds
    (`reached`) nearest to the guaranteed errors.
    """

    goal: Sketched
    last: Candidate
    limits: Floats
    best: Candidate | None = None
    nearest: Candidate | None = None
    reached: tuple[float, ...] = ()

    @property
    def task(self) -> SteeredTask:
        return SteeredTask(self.goal.terms, self.goal.demand, self.limits)

    @property
    def room(self) -> bool:
        """Whether the next choice may have larger bounds, or must have smaller ones."""
        if self.best is not self.last:
            return True
        search = self.task.search(self.last.form)
        plain = np.array(search.bounded(self.last.widths, self.last.biases).bounds.steps)
        return bool((self.limits > plain * (1 + WORTH)).any())


def sketch(terms: Terms, demand: Demand, ledger: Ledger) -> Sketched:
    """Write outputs as words without widths; raise `DataError` for errors below the floor."""
    promised = _steered_for(_promised(terms, demand))
    refuse_impossible(terms.problem, demand, _promised(terms, demand))
    goal = Sketched(terms, demand, ledger, promised**2, np.full(len(promised), np.inf))
    made: dict[Sketch, int] = {}
    for form in forms_of(terms, demand):  # equal sketches are screened once
        made.setdefault(FormSearch.sketch_of(goal.task(), form), form)
    return replace(goal, sketches={form: sketch for sketch, form in made.items()})


def screen(goal: Sketched) -> Screened:
    """Choose the most promising forms by the worst-case model."""
    task = SteeredTask(goal.terms, goal.demand, _steered_for(_promised(goal.terms, goal.demand)))
    jobs = [(task, form) for form in goal.sketches]
    found = goal.ledger.candidates("screen", screen_form, jobs)
    held = [choice for choice in found if choice.nodes < math.inf]
    if not held:  # by the model; a tight bound may be smaller
        held = found[:1]
    return Screened(goal, promising(goal, held))


def predicted(terms: Terms, demand: Demand, ledger: Ledger) -> float:
    """Return the nodes predicted for a guaranteed error; infinite if it is out of reach."""
    candidates = screen(sketch(terms, demand.completed(terms.problem), ledger)).candidates
    return min(choice.nodes for choice in candidates)


def refine(screened: Screened) -> Steering:
    """Search for graphs with tight bounds just within the guaranteed errors."""
    goal = screened.goal
    promised = _promised(goal.terms, goal.demand)
    task = SteeredTask(goal.terms, goal.demand, _steered_for(promised))
    jobs = [(task, start) for start in screened.candidates]
    first = min(goal.ledger.candidates("refine 0", refine_steered, jobs), key=rank)
    state = _proved(Steering(goal, first, task.limits), "refine 0")
    for turn in range(1, TURNS if goal.demand.effort else QUICK_TURNS):
        if not state.room:
            break
        jobs = [(state.task, state.last)]
        (found,) = goal.ledger.candidates(f"refine {turn}", refine_steered, jobs)
        state = _proved(replace(state, last=found), f"refine {turn}")
    return state


def improve(state: Steering) -> Refined:
    """Anneal widths; a smaller result needs a proved error."""
    goal = state.goal
    units = goal.demand.effort / (CHUNKS * ANNEALERS)
    for chunk in range(CHUNKS if goal.demand.effort else 0):
        start = state.best or state.last
        jobs = [(state.task, start, chunk * ANNEALERS + k, units) for k in range(ANNEALERS)]
        found = min(goal.ledger.candidates(f"improve {chunk}", improve_steered, jobs), key=rank)
        if state.best is None or found.nodes < state.best.nodes:
            state = _proved(replace(state, last=found), f"improve {chunk}")
    if state.best is None:
        raise _broken(state)
    task = goal.task()
    return Refined(goal, task, state.best, errors_seen(goal, task, state.best))


def _promised(terms: Terms, demand: Demand) -> Floats:
    """Return the guaranteed errors of outputs, in steps; infinite if there is none."""
    if demand.error is None:
        raise UsageError("no guaranteed error is specified")
    return np.array(demand.error.steps(terms.problem, demand.bits))


def _steered_for(promised: Floats) -> Floats:
    return np.where(np.isfinite(promised), promised * SAFE, STEERING)


def _proved(state: Steering, name: str) -> Steering:
    """Prove the tight bound of the last choice, and compute the limits for the next."""
    goal, last = state.goal, state.last
    promised = _promised(goal.terms, goal.demand)
    search = state.task.search(last.form)
    made = search.bounded(last.widths, last.biases)
    sketched = search.sketched(made.graph, made.widths)
    proof = np.array(goal.ledger.numbers(f"proof {name}", lambda: _steps(sketched, goal)))
    best = state.best
    if (proof <= promised).all() and (best is None or last.nodes < best.nodes):
        best = last
    near, reached = state.nearest, state.reached
    if not reached or (proof / promised).max() < (np.array(reached) / promised).max():
        near, reached = last, tuple(proof.tolist())
    looser = (np.array(made.bounds.steps) - HALF) / np.maximum(proof - HALF, LEAST)
    finite = np.where(np.isfinite(promised), promised, STEERING)
    limits = HALF + NEARER * (finite * SAFE - HALF) * np.maximum(1.0, looser)
    limits = np.where(np.isfinite(promised), limits, STEERING)
    goal.ledger.report("refine", best or last, f"proved {_listed(proof)} LSB")
    return Steering(goal, last, limits, best, near, reached)


def _steps(sketched: SketchedGraph, goal: Sketched) -> list[float]:
    """Return the bounds of a graph, in steps."""
    bounds = bounds_of(sketched, goal.demand.grade, EFFORT, goal.ledger.workers)
    if bounds is None or bounds.unproved:
        return [NEVER] * len(sketched.results)
    return list(bounds.steps)


def _broken(state: Steering) -> DataError:
    """Return the error for guaranteed errors that are not reached, with the nearest bounds."""
    problem, demand = state.goal.terms.problem, state.goal.demand
    promised = _promised(state.goal.terms, demand)
    steps, near = problem.steps(demand.bits), state.nearest or state.last
    missed = [
        f"{one.name} {found:.3f} LSB ({found * step:.4g} {one.unit}".rstrip() + ")"
        for one, found, limit, step in zip(
            problem.outputs, state.reached, promised, steps, strict=True
        )
        if found > limit and found < NEVER
    ]
    if not missed:
        return DataError(
            f"{problem.name}: no bound of the result can be proved: compile it without --error"
        )
    demanded = listing(f"{x:.4g}" for x in promised)
    return DataError(
        f"{problem.name}: cannot guarantee errors of {demanded} LSB; the nearest result, with "
        f"{near.nodes:.0f} nodes before any pass, has {listing(missed)}: widen --input-bits, give "
        "more --bits, or allow a larger error"
    )


def _listed(steps: Floats) -> str:
    return " ".join(f"{x:.3f}" for x in steps)


# --------------------------------------------------------------------------------------------------
# The word length of outputs with the fewest nodes for a guaranteed error in their units.
#
# Longer words have smaller steps, and more columns. The model predicts the nodes in about a second.
# --------------------------------------------------------------------------------------------------

BEYOND = 2  # longer words that are tried after the best


def bits_for(several: Sequence[Terms], demand: Demand, workers: Workers = ALONE) -> int:
    """Return the word length for several loads; `DataError` if no word length is sufficient."""
    if demand.error is None or not demand.error.absolute:
        raise UsageError("choosing the bits needs a guaranteed error in a unit: --error 0.5Nm")
    best, fewest, refused = 0, math.inf, None
    for bits in range(LEAST_BITS, MOST_BITS + 1):
        if best and bits > best + BEYOND:
            break
        one = replace(demand, bits=bits)
        try:
            nodes = sum(
                predicted(terms, one, Ledger(0.0, ignore_progress, None, workers))
                for terms in several
            )
        except WorkerLostError:
            raise
        except DataError as error:  # below the floor of errors
            refused = error
            continue
        if nodes < fewest:
            best, fewest = bits, nodes
    if not best:
        raise refused or DataError("no word length reaches the guaranteed errors")
    return best
