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

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import ALONE
from boolcomp.compact.costs import costs_of
from boolcomp.compact.demand import LEAST_BITS, MOST_BITS, MOST_INPUT, ignore_progress
from boolcomp.compact.errors import is_exact
from boolcomp.compact.limits import FORMS
from boolcomp.compact.network import Ends
from boolcomp.compact.noise import Model
from boolcomp.compact.realisation import realise
from boolcomp.compact.result import Realised, bounds_of, explained_graph
from boolcomp.compact.search import (
    STEEPNESS,
    TEMPERATURE,
    WORK,
    Candidate,
    Descent,
    Search,
    Trial,
    anneal,
    choose_widths,
    climbed_values,
    model_values,
    polish,
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
from boolcomp.proof.bound.meaning import EFFORT, Total
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
    from boolcomp.proof.bound.meaning import Bounds, Explained
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Widths = dict[WidthVariable, int]


# --------------------------------------------------------------------------------------------------
# One step of a search that a bound steers: screening a form, refining it, annealing its widths.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# What coarse inputs make of the worst error whatever the logic does, and which would do.
#
# Within a cell an output moves by up to Σ |∂y/∂x|·h/2 about its middle, and no word can tell where;
# rounding makes half a step beside it. Slopes are those between the ends of cells at many states,
# so what is said here is less than the truth: what is refused is refused for sure, nearly.
# --------------------------------------------------------------------------------------------------


STATES = 4000  # drawn, and as many where linear inputs are at their ends
CERTAIN = 0.9  # of what inputs make: what is nearly enough is tried
COMFORTABLE = 0.5  # of what is promised beside rounding is what inputs may make, in advice


@dataclass(frozen=True, slots=True, eq=False)
class InputFloor:
    """By how much outputs move within half a cell of every input, (inputs, states, outputs)."""

    names: tuple[str, ...]
    bits: tuple[int, ...]
    moves: Floats

    @property
    def least(self) -> Floats:
        """What every output errs by, at least, in steps."""
        return np.asarray(HALF + self.moves.sum(axis=0).max(axis=0))

    def wider(self, promised: Floats) -> dict[str, int] | None:
        """Return the widths of inputs that leave room for logic: the fewest bits, if any do."""
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
    """Return how outputs move within the cells of inputs as wide as they may be.

    Beyond its range an output that saturates does not move.
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
        if word is None or word.exact:  # nothing is unknown of it
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
    """Raise a `DataError` where inputs alone break a promise; it says which would do."""
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
        advice = f"inputs of {MOST_INPUT} bits would not do: promise more"
    else:
        advice = f"these would do: --input-bits {_written(problem, demand, wider)}; or promise more"
    widths = sorted(set(floor.bits))
    most, makes = (
        f"{size:.4g} LSB ({size * step:.4g} {output.unit}".rstrip() + ")"
        for size in (promised[worst], floor.least[worst])
    )
    raise DataError(
        f"{problem.name}: {output.name} cannot be kept within {most}: inputs of {_span(widths)} "
        f"bits and rounding alone make {makes}: {advice}"
    )


def _written(problem: Problem, demand: Demand, wider: dict[str, int]) -> str:
    """Write all widths as the option takes them: a group's where its members have the same."""
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
    """Return states, (states, inputs): drawn ones, and those with linear inputs at their ends."""
    drawn = np.concatenate(problem.draw(STATES, seed), axis=1)
    low, high = problem.bounds()
    ends = np.concatenate(problem.draw(STATES, seed + 1), axis=1)
    linear = [not one.angle for one in problem.inputs]
    ends[:, linear] = np.where(ends < (low + high) / 2, low, high)[:, linear]
    return np.concatenate([drawn, ends])


# --------------------------------------------------------------------------------------------------
# The passes of a promise, in place of those that choose widths by samples.
#
# The plain bound steers; it says more than is true, so what it may be is found in turns: a graph is
# searched for, its tight bound is proved, and the plain bound of the next one may be as much larger
# as the tight one was smaller. Only what a tight bound has proved is kept.
# --------------------------------------------------------------------------------------------------


STEERING = 4.0  # steps: what outputs are searched for of which nothing is promised
SAFE = 1 - 1e-5  # of what is promised: bounds are rounded up
NEARER = 0.995  # of what the last tight bound leaves room for
TURNS, QUICK_TURNS = 4, 3  # tight bounds while refining; with no effort
WORTH = 0.01  # by how much more a plain bound may be, for another turn


@dataclass(frozen=True, slots=True, eq=False)
class Steering:
    """Where a search is: the smallest choice that keeps the promise, if any is proved to, the last.

    `most` is what the plain bounds of the next one may be. `nearest` is the choice whose tight
    bounds, `reached`, are nearest to what is promised, until there is a best one.
    """

    goal: Sketched
    last: Candidate
    most: Floats
    best: Candidate | None = None
    nearest: Candidate | None = None
    reached: tuple[float, ...] = ()

    @property
    def task(self) -> SteeredTask:
        """What is to be done next."""
        return SteeredTask(self.goal.terms, self.goal.demand, self.most)

    @property
    def room(self) -> bool:
        """Whether the next one may be larger by something, or has to be smaller."""
        if self.best is not self.last:
            return True
        search = self.task.search(self.last.form)
        plain = np.array(search.bounded(self.last.widths, self.last.biases).bounds.steps)
        return bool((self.most > plain * (1 + WORTH)).any())


def sketch(terms: Terms, demand: Demand, ledger: Ledger) -> Sketched:
    """Write outputs down as words without widths; refuse what no logic can keep."""
    promised = _steered_for(_promised(terms, demand))
    refuse_impossible(terms.problem, demand, _promised(terms, demand))
    goal = Sketched(terms, demand, ledger, promised**2, np.full(len(promised), np.inf))
    made: dict[Sketch, int] = {}
    for form in forms_of(terms, demand):  # equal ones are screened once
        made.setdefault(Search.sketch_of(goal.task(), form), form)
    return replace(goal, sketches={form: sketch for sketch, form in made.items()})


def screen(goal: Sketched) -> Screened:
    """Choose the most promising forms by the model of the worst."""
    task = SteeredTask(goal.terms, goal.demand, _steered_for(_promised(goal.terms, goal.demand)))
    jobs = [(task, form) for form in goal.sketches]
    found = goal.ledger.candidates("screen", screen_form, jobs)
    held = [choice for choice in found if choice.nodes < math.inf]
    if not held:  # by the model; a tight bound may say otherwise
        held = found[:1]
    return Screened(goal, promising(goal, held))


def predicted(terms: Terms, demand: Demand, ledger: Ledger) -> float:
    """Return how many nodes the model expects of a promise; infinite where it expects none."""
    candidates = screen(sketch(terms, demand.completed(terms.problem), ledger)).candidates
    return min(choice.nodes for choice in candidates)


def refine(screened: Screened) -> Steering:
    """Search for graphs whose plain bounds leave their tight ones just within the promise."""
    goal = screened.goal
    promised = _promised(goal.terms, goal.demand)
    task = SteeredTask(goal.terms, goal.demand, _steered_for(promised))
    jobs = [(task, start) for start in screened.candidates]
    first = min(goal.ledger.candidates("refine 0", refine_steered, jobs), key=rank)
    state = _proved(Steering(goal, first, task.most), "refine 0")
    for turn in range(1, TURNS if goal.demand.effort else QUICK_TURNS):
        if not state.room:
            break
        jobs = [(state.task, state.last)]
        (found,) = goal.ledger.candidates(f"refine {turn}", refine_steered, jobs)
        state = _proved(replace(state, last=found), f"refine {turn}")
    return state


def improve(state: Steering) -> Refined:
    """Anneal widths while effort lasts; what is smaller counts if it is proved."""
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
    """Return what is promised of outputs, in steps; infinite where nothing is."""
    if demand.error is None:
        raise UsageError("nothing is promised")
    return np.array(demand.error.steps(terms.problem, demand.bits))


def _steered_for(promised: Floats) -> Floats:
    return np.where(np.isfinite(promised), promised * SAFE, STEERING)


def _proved(state: Steering, name: str) -> Steering:
    """Prove the tight bound of the last choice, and say what that leaves for the next."""
    goal, last = state.goal, state.last
    promised = _promised(goal.terms, goal.demand)
    search = state.task.search(last.form)
    made = search.bounded(last.widths, last.biases)
    said = search.explained(made.graph, made.widths)
    proof = np.array(goal.ledger.numbers(f"proof {name}", lambda: _steps(said, goal)))
    best = state.best
    if (proof <= promised).all() and (best is None or last.nodes < best.nodes):
        best = last
    near, reached = state.nearest, state.reached
    if not reached or (proof / promised).max() < (np.array(reached) / promised).max():
        near, reached = last, tuple(proof.tolist())
    looser = (np.array(made.bounds.steps) - HALF) / np.maximum(proof - HALF, LEAST)
    finite = np.where(np.isfinite(promised), promised, STEERING)
    most = HALF + NEARER * (finite * SAFE - HALF) * np.maximum(1.0, looser)
    most = np.where(np.isfinite(promised), most, STEERING)
    goal.ledger.say("refine", best or last, f"proved {_listed(proof)} LSB")
    return Steering(goal, last, most, best, near, reached)


def _steps(said: Explained, goal: Sketched) -> list[float]:
    """Return the bounds of a graph, in steps."""
    bounds = bounds_of(said, goal.demand.grade, EFFORT, goal.ledger.workers)
    if bounds is None or bounds.unproved:
        return [NEVER] * len(said.results)
    return list(bounds.steps)


def _broken(state: Steering) -> DataError:
    """Say that a promise cannot be kept, and the best that was reached."""
    problem, demand = state.goal.terms.problem, state.goal.demand
    promised = _promised(state.goal.terms, demand)
    steps, near = problem.steps(demand.bits), state.nearest or state.last
    missed = [
        f"{one.name} {found:.3f} LSB ({found * step:.4g} {one.unit}".rstrip() + ")"
        for one, found, most, step in zip(
            problem.outputs, state.reached, promised, steps, strict=True
        )
        if found > most and found < NEVER
    ]
    if not missed:
        return DataError(f"{problem.name}: no bound is proved of what was found: allow no promise")
    most = listing(f"{x:.4g}" for x in promised)
    return DataError(
        f"{problem.name}: errors of {most} LSB cannot be promised; the best that was reached, with "
        f"{near.nodes:.0f} nodes before any pass, is {listing(missed)}: widen --input-bits, give "
        "more --bits, or promise more"
    )


def _listed(steps: Floats) -> str:
    return " ".join(f"{x:.3f}" for x in steps)


# --------------------------------------------------------------------------------------------------
# Which word length of outputs takes the fewest nodes to keep an error in their units.
#
# Longer words leave more steps to what is not rounding, and have more columns: the model tells
# which of them is smaller, in a second or so each.
# --------------------------------------------------------------------------------------------------


BEYOND = 2  # longer words that are tried after the best


def bits_for(several: Sequence[Terms], demand: Demand, workers: Workers = ALONE) -> int:
    """Return the word length for several loads; what no word length keeps is a `DataError`."""
    if demand.error is None or not demand.error.absolute:
        raise UsageError(
            "bits are found only for an error that is promised in a unit: --error 0.5Nm"
        )
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
        except DataError as error:  # rounding alone, or inputs, make more
            refused = error
            continue
        if nodes < fewest:
            best, fewest = bits, nodes
    if not best:
        raise refused or DataError("no word length keeps the errors that are promised")
    return best
