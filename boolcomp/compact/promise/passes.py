"""The passes of a promise, in place of those that choose widths by samples.

The plain bound steers; it says more than is true, so what it may be is found in turns: a graph is
searched for, its tight bound is proved, and the plain bound of the next one may be as much larger
as the tight one was smaller. Only what a tight bound has proved is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import DataError, UsageError, listing
from boolcomp.compact.promise import steered
from boolcomp.compact.promise.floor import refuse_impossible
from boolcomp.compact.promise.steered import LEAST, NEVER, SteeredTask, rank
from boolcomp.compact.result.proved import bounds_of
from boolcomp.compact.search import Search
from boolcomp.compact.widths.ledger import ANNEALERS, CHUNKS
from boolcomp.compact.widths.passes import (
    Refined,
    Screened,
    Sketched,
    errors_seen,
    forms_of,
    promising,
)
from boolcomp.problem.promise import HALF
from boolcomp.proof.bound.result import EFFORT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.search import Candidate
    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.compact.widths.ledger import Ledger
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.terms.extract import Terms

    Floats = NDArray[np.float64]

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
    found = goal.ledger.candidates("screen", steered.screen_form, jobs)
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
    first = min(goal.ledger.candidates("refine 0", steered.refine_steered, jobs), key=rank)
    state = _proved(Steering(goal, first, task.most), "refine 0")
    for turn in range(1, TURNS if goal.demand.effort else QUICK_TURNS):
        if not state.room:
            break
        jobs = [(state.task, state.last)]
        (found,) = goal.ledger.candidates(f"refine {turn}", steered.refine_steered, jobs)
        state = _proved(replace(state, last=found), f"refine {turn}")
    return state


def improve(state: Steering) -> Refined:
    """Anneal widths while effort lasts; what is smaller counts if it is proved."""
    goal = state.goal
    units = goal.demand.effort / (CHUNKS * ANNEALERS)
    for chunk in range(CHUNKS if goal.demand.effort else 0):
        start = state.best or state.last
        jobs = [(state.task, start, chunk * ANNEALERS + k, units) for k in range(ANNEALERS)]
        found = min(
            goal.ledger.candidates(f"improve {chunk}", steered.improve_steered, jobs), key=rank
        )
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
