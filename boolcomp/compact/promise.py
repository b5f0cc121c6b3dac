"""The search for widths with a guaranteed error, judged by bounds, and its word length.

The model adds up worst cases of roundings (`WorstNorm`), and the plain bound of the built graph
decides instead of samples. A heap that may overflow gets more columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import ALONE
from boolcomp.compact.demand import LEAST_BITS, MOST_BITS, MOST_INPUT, ignore_progress
from boolcomp.compact.network import WordEnds
from boolcomp.compact.noise import Model
from boolcomp.compact.result import bounds_of, sketched_graph
from boolcomp.compact.search import LEAST, Candidate, FormSearch, SearchTask, Trial
from boolcomp.compact.sketch import Role, quantities
from boolcomp.compact.widths import Ledger, WidthSearch, distinct, errors_seen, forms_of
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
    from boolcomp.compact.search import Judged, WidthJudge
    from boolcomp.compact.sketch import WidthVariable
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


@dataclass(frozen=True, slots=True, eq=False)
class BoundTask(SearchTask):
    """The task of a search by bounds: `allowed` are the limits of the plain ones, in steps."""

    def rank(self, choice: Candidate) -> tuple[float, float]:
        return max(1.0, choice.excess), choice.nodes

    def search(self, form: int) -> BoundedForm:
        return _bounded_form(self, form)


@lru_cache(maxsize=2)
def _bounded_form(task: BoundTask, form: int) -> BoundedForm:
    return BoundedForm(task, form)


class BoundedGraph(NamedTuple):
    """A graph with its widths and biases, and its plain bounds."""

    graph: WordGraph
    widths: Widths
    biases: Floats
    bounds: Bounds

    def holds(self, limits: Floats) -> bool:
        return not self.bounds.unproved and bool((np.array(self.bounds.steps) <= limits).all())


class BoundedForm(FormSearch):
    """The search with worst cases of roundings, and bounds of built graphs."""

    fixed = HALF

    def _model(self, values: dict[str, Floats], extremes: dict[str, Floats]) -> Model:
        self.ends = WordEnds(rest=resting(self.task.terms))
        peaks = {name: column[:PEAKS] for name, column in extremes.items()}
        given = self.sketch, values, extremes
        return Model(*given, costs=self.costs, sure=self.exact, peaks=peaks)

    def sketched(self, graph: WordGraph, widths: Mapping[WidthVariable, int]) -> SketchedGraph:
        """Return a graph with its sketch."""
        given = self.problem, self.demand, self.sketch, widths
        return sketched_graph(*given, graph, self.ends)

    def bounded(self, widths: Mapping[WidthVariable, int], biases: Floats) -> BoundedGraph:
        """Return the graph of widths, and its plain bounds."""
        graph = narrowed(self._graph(widths, self.model.statistics, biases))
        try:
            bounds = plain_bounds(self.sketched(graph, widths))
        except DataError as error:
            raise DataError(
                f"no error can be guaranteed: {error}", where=self.problem.name
            ) from None
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

    def rounds(self, start: Candidate) -> list[int]:  # noqa: ARG002 (the same for all)
        """Return the number of perturbations in every round: none in the first and the last."""
        count = min(MOST_PERTURBATIONS, round(PERTURBATIONS * self.demand.effort))
        return [count if 0 < turn < ROUNDS - 1 else 0 for turn in range(ROUNDS)]

    def judged(self, choice: Candidate, noise: Floats) -> Judged:
        """Build a choice with wide enough heaps, and compare its plain bounds with the limits."""
        made = self.made(choice.widths, choice.biases)
        steps = np.array(made.bounds.steps)
        found = replace(
            choice, widths=made.widths, biases=made.biases,
            nodes=float(self.costs.graph(made.graph)),
            excess=NEVER if made.bounds.unproved else float((steps / self.rows).max()),
        )  # fmt: skip
        return found, found, np.maximum(steps - HALF, LEAST) / np.maximum(noise - HALF, LEAST)

    def suffices(self, best: Candidate) -> bool:
        return best.excess <= 1

    def trial(self, start: Candidate) -> WidthJudge:
        """Return a judge by plain bounds."""

        def judge(widths: Widths) -> Trial:
            found = self.bounded(widths, start.biases)
            holds = found.holds(self.rows)
            nodes = self.costs.graph(found.graph) if holds else 0
            return Trial(nodes, np.array(found.bounds.steps), holds)

        return judge

    def calibrated(self, noise: Floats, found: Trial) -> Floats:
        return np.asarray(noise + self.rows - found.squares)

    def improve(self, start: Candidate, turn: int, units: float) -> Candidate:
        """Refine widths, then change them to lower the built nodes within the plain bounds."""
        again = self.refine(start)
        starts = [
            one for one in (again, start) if self.bounded(one.widths, one.biases).holds(self.rows)
        ]
        if not starts:
            return again
        best = min(starts, key=lambda one: one.nodes)
        return super().improve(replace(best, excess=1.0), turn, units)


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
        f"cannot guarantee {limit} for {output.name}: the error of inputs of {_span(widths)} "
        f"bits and rounding alone is {reached}", advice, where=problem.name,
    )  # fmt: skip


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
# The search with a guaranteed error.
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
class PromisedSearch(WidthSearch):
    """The search of widths with a guaranteed error.

    `nearest` is the choice with the tight bounds (`reached`) nearest to the guaranteed errors.
    """

    task: BoundTask
    nearest: Candidate | None = None
    reached: tuple[float, ...] = ()

    @classmethod
    def begun(cls, terms: Terms, demand: Demand, ledger: Ledger) -> PromisedSearch:
        """Return a search with its sketches; raise `DataError` for errors below the floor."""
        promised = _promised(terms, demand)
        limits = np.where(np.isfinite(promised), promised * SAFE, STEERING)
        refuse_impossible(terms.problem, demand, promised)
        infinite = np.full(len(promised), np.inf)
        task = BoundTask(terms, demand, limits, infinite)
        sketches = distinct(task, forms_of(terms, demand))
        return cls(terms, demand, ledger, limits**2, infinite, task, sketches)

    @property
    def promised(self) -> Floats:
        return _promised(self.terms, self.demand)

    def feasible(self, found: list[Candidate]) -> list[Candidate]:
        # A tight bound may be smaller than the model's.
        return [choice for choice in found if choice.nodes < math.inf] or found[:1]

    @property
    def unfinished(self) -> bool:
        return not self.turn or (
            self.turn < (TURNS if self.demand.effort else QUICK_TURNS) and self.room
        )

    @property
    def room(self) -> bool:
        """Whether the next choice may have larger bounds, or must have smaller ones."""
        (last,) = self.starts
        if self.best is not last:
            return True
        search = self.task.search(last.form)
        plain = np.array(search.bounded(last.widths, last.biases).bounds.steps)
        return bool((self.task.allowed > plain * (1 + WORTH)).any())

    def refined(self, found: list[Candidate]) -> PromisedSearch:
        return self.judged(min(found, key=self.task.rank), f"refine {self.turn}")

    def finished(self) -> PromisedSearch:
        """Return the search with measured errors of its result; raise `DataError` if none holds."""
        if self.best is None:
            raise self._broken()
        return replace(self, seen=errors_seen(self, self.sampling, self.best))

    @property
    def sampling(self) -> SearchTask:
        return self.sampled_task()

    def judged(self, tried: Candidate, name: str) -> PromisedSearch:
        """Prove the tight bound of a choice, and compute the limits for the next."""
        last, promised, search = tried, self.promised, self.task.search(tried.form)
        made = search.bounded(last.widths, last.biases)
        sketched = search.sketched(made.graph, made.widths)
        proof = np.array(self.ledger.numbers(f"proof {name}", lambda: _steps(sketched, self)))
        best, near, reached = self.best, self.nearest, self.reached
        if (proof <= promised).all() and (best is None or last.nodes < best.nodes):
            best = last
        if not reached or (proof / promised).max() < (np.array(reached) / promised).max():
            near, reached = last, tuple(proof.tolist())
        looser = (np.array(made.bounds.steps) - HALF) / np.maximum(proof - HALF, LEAST)
        finite = np.where(np.isfinite(promised), promised, STEERING)
        limits = HALF + NEARER * (finite * SAFE - HALF) * np.maximum(1.0, looser)
        limits = np.where(np.isfinite(promised), limits, STEERING)
        self.ledger.report("refine", best or last, f"proved {_listed(proof)} LSB")
        task = replace(self.task, allowed=limits)
        return replace(self, task=task, starts=(last,), best=best, nearest=near, reached=reached)

    def _broken(self) -> DataError:
        """Return the error for guaranteed errors that are not reached, with the nearest bounds."""
        problem, promised = self.terms.problem, self.promised
        steps, near = problem.steps(self.demand.bits), self.nearest or self.starts[0]
        missed = [
            f"{one.name} {found:.3f} LSB ({found * step:.4g} {one.unit}".rstrip() + ")"
            for one, found, limit, step in zip(
                problem.outputs, self.reached, promised, steps, strict=True
            )
            if found > limit and found < NEVER
        ]
        if not missed:
            return DataError(
                "no bound can be proved", "compile without --accuracy proved", where=problem.name
            )
        demanded = listing(f"{x:.4g}" for x in promised)
        return DataError(
            f"cannot guarantee errors of {demanded} LSB; the nearest result, with "
            f"{near.nodes:.0f} nodes before any pass, has {listing(missed)}",
            "widen --input-bits, give more --bits, or allow a larger error", where=problem.name,
        )  # fmt: skip


def predicted(terms: Terms, demand: Demand, ledger: Ledger) -> float:
    """Return the nodes predicted for a guaranteed error; infinite if it is out of reach."""
    found = PromisedSearch.begun(terms, demand.completed(terms.problem), ledger).screen()
    return min(choice.nodes for choice in found.starts)


def _promised(terms: Terms, demand: Demand) -> Floats:
    """Return the guaranteed errors of outputs, in steps; infinite if there is none."""
    if demand.error is None:
        raise UsageError("no guaranteed error is specified", "give one, such as 1lsb")
    return np.array(demand.error.steps(terms.problem, demand.bits))


def _steps(sketched: SketchedGraph, goal: WidthSearch) -> list[float]:
    """Return the bounds of a graph, in steps."""
    bounds = bounds_of(sketched, goal.demand.grade, EFFORT, goal.ledger.workers)
    if bounds is None or bounds.unproved:
        return [NEVER] * len(sketched.results)
    return list(bounds.steps)


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
        raise UsageError(
            "choosing the bits needs a guaranteed error in a unit", "give --accuracy proved=0.5Nm"
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
        except DataError as error:  # below the floor of errors
            refused = error
            continue
        if nodes < fewest:
            best, fewest = bits, nodes
    if not best:
        raise refused or DataError(
            "no word length reaches the guaranteed errors", "allow larger errors"
        )
    return best
