"""One step of the search for widths: screening a form, refining it, and annealing its widths.

Widths come from the noise model; then graphs are simulated, bit for bit, and what the model got
wrong (its variance, a bias) is put right by asking it for less or more. Every step is a function of
what it is given, so steps may run in other processes, and again after an interruption.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.compact.costs import costs_of
from boolcomp.compact.errors import (
    compared,
    corners,
    deviations,
    draw,
    errors_of,
    every_state,
    in_cells,
    input_squares,
    is_countable,
    is_exact,
    joined,
    states_of,
)
from boolcomp.compact.limits import (
    FORMS,
    Floor,
    climbed,
    curve_pairs,
    curve_splits,
    effective,
    first_widths,
    in_range,
    rounding_squares,
)
from boolcomp.compact.noise import MOST_READ, Model, within
from boolcomp.compact.realisation import realise
from boolcomp.compact.sketch import (
    UNSEEN,
    AngleSum,
    Curve,
    Role,
    Sketch,
    Source,
    WidthVariable,
    WordSum,
    addend_reads,
    quantities,
    reads,
)
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.compact.tables import Statistics
from boolcomp.words.simulation import Resimulation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from random import Random

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.errors import Errors, States
    from boolcomp.compact.sketch import Quantity, Widths
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Moved = dict[WidthVariable, int]


# --------------------------------------------------------------------------------------------------
# Widths by coordinate descent on cost + Σ λ·noise, with λ driven until the noise is as allowed.
# --------------------------------------------------------------------------------------------------


SWEEPS = 16
NEARLY, REPAIR = 1.06, 8.0  # noise that is worth repairing; how dear its excess is then
MORE_SWEEPS = 8
NEIGHBOURS = 2  # nodes from anywhere that settle after a perturbation


class Descent:
    """The state of a descent: widths, and the cost and noise of every node."""

    def __init__(
        self, model: Model, widths: Widths, allowed: Floats, steepness: float = 0.0
    ) -> None:
        self.model, self.widths = model, model.settings(widths)
        self.allowed, self.steepness = allowed, steepness
        self.sketch = model.sketch
        count = len(self.sketch.nodes)
        readers: list[set[int]] = [set() for _ in range(count)]
        for place, node in enumerate(self.sketch.nodes):
            for k in reads(node):
                readers[k].add(place)
        self.affected: list[tuple[int, ...]] = []
        for place in range(count):
            self.affected.append(tuple(sorted({place} | _reached(self.sketch, readers, place))))
        self.near = [
            frozenset({p, *self.affected[p], *reads(node)})
            for p, node in enumerate(self.sketch.nodes)
        ]
        self._keeps = keeps_of(self.sketch)
        self._variables: list[list[WidthVariable]] = [[] for _ in range(count)]
        for variable in widths:
            if variable.role not in UNSEEN:
                self._variables[variable.node].append(variable)
        self.refresh()

    def refresh(self) -> None:
        """Compute everything anew."""
        self._revive()
        self.costs: dict[int, float] = {}
        self.noises: dict[int, Floats] = {}
        for place in sorted(self.live):
            self.costs[place], self.noises[place] = self.model.local(self.widths, place)
        self.cost = sum(self.costs.values())
        self.noise = np.sum(list(self.noises.values()), axis=0)

    def _revive(self) -> None:
        """Count who reads what, from the outputs on; what is read is live."""
        self.live: set[int] = set()
        self._uses = [0] * len(self.sketch.nodes)
        self._switch(self.sketch.outputs, 1)

    def _switch(self, places: Iterable[int], step: int) -> list[int]:
        """Add or take away a reader of nodes; return those that became live, or dead."""
        changed: list[int] = []
        waiting = list(places)
        while waiting:
            place = waiting.pop()
            self._uses[place] += step
            if self._uses[place] != max(0, step):
                continue
            changed.append(place)
            for variable, read in self._keeps[place]:
                if variable is None or self.widths.get(variable, 1) > 0:
                    waiting += read
        if step > 0:
            self.live.update(changed)
        else:
            self.live.difference_update(changed)
        return changed

    def saved(self) -> tuple[Any, ...]:
        """Return the state, for `restore`."""
        tables = (self.widths.copy(), set(self.live), dict(self.costs), dict(self.noises))
        return (*tables, list(self._uses), self.cost, self.noise)

    def restore(self, state: tuple[Any, ...]) -> None:
        """Go back to a state; it must not be used again."""
        self.widths, self.live, self.costs, self.noises, self._uses, self.cost, self.noise = state

    def try_move(self, variable: WidthVariable, value: int, prices: Floats) -> bool:
        """Set a variable if that lowers cost + prices·noise; tell whether it did."""
        if variable.role is not Role.KEEP:
            return self.try_moves(variable.node, {variable: value}, prices)
        old = self.widths[variable]
        before = self.score(prices)
        self.widths[variable] = value
        return self._try_keep(variable, old, before, prices)

    def try_moves(self, node: int, values: Widths, prices: Floats) -> bool:
        """Set several widths of a node, none of them a keep, if that lowers cost + prices·noise."""
        old = {variable: self.widths[variable] for variable in values}
        before = self.score(prices)
        for variable, value in values.items():
            self.widths[variable] = value
        changed = [p for p in self.affected[node] if p in self.live]
        cost, noise, found = self.cost, self.noise, {}
        for place in changed:
            found[place] = self.model.local(self.widths, place)
            cost += found[place][0] - self.costs[place]
            noise = noise + found[place][1] - self.noises[place]
        if self._score(cost, noise, prices) < before - 1e-9:
            self.cost, self.noise = cost, noise
            for place, (c, n) in found.items():
                self.costs[place], self.noises[place] = c, n
            return True
        for variable, value in old.items():
            self.widths[variable] = value
        return False

    def change(self, variable: WidthVariable, value: int) -> tuple[float, Floats]:
        """Return how cost and noise would change if a width (not a keep) were set."""
        old = self.widths[variable]
        self.widths[variable] = value
        cost, noise = 0.0, np.zeros(len(self.allowed))
        for place in self.affected[variable.node]:
            if place in self.live:
                after = self.model.local(self.widths, place)
                cost += after[0] - self.costs[place]
                noise = noise + after[1] - self.noises[place]
        self.widths[variable] = old
        return cost, noise

    def _try_keep(self, variable: WidthVariable, old: int, before: float, prices: Floats) -> bool:
        place = variable.node
        read = self._keeps[place][variable.addend or 0][1]
        step = 1 if self.widths[variable] > 0 else -1
        changed = self._switch(read, step)
        found = {p: self.model.local(self.widths, p) for p in (changed if step > 0 else ())}
        found[place] = self.model.local(self.widths, place)
        cost, noise = self.cost, self.noise
        for c, n in found.values():
            cost, noise = cost + c, noise + n
        for p in [place, *(changed if step < 0 else ())]:
            cost, noise = cost - self.costs[p], noise - self.noises[p]
        if self._score(cost, noise, prices) < before - 1e-9:
            self.cost, self.noise = cost, noise
            for p in changed if step < 0 else ():
                del self.costs[p], self.noises[p]
            for p, (c, n) in found.items():
                self.costs[p], self.noises[p] = c, n
            return True
        self._switch(read, -step)
        self.widths[variable] = old
        return False

    def sweep(self, prices: Floats) -> bool:
        """Try every variable one up and one down; tell whether anything changed."""
        moved = False
        for variable in list(self.widths):
            if variable.node not in self.live or variable.role in UNSEEN:
                continue
            moved |= self._try_steps(variable, prices)
            if variable.role is Role.SPLIT:
                moved |= self._try_splits(variable.node, prices)
        return moved

    def beside(self, variable: WidthVariable, step: int) -> int:
        """Return the value of a width a step up or down from what it is in effect."""
        return effective(self.model, self.widths, variable) + step

    def _try_splits(self, node: int, prices: Floats) -> bool:
        """Split a curve otherwise: by all widths at once, or by two of them."""
        moved = False
        for values in curve_splits(self.sketch, self.widths, node):
            moved |= self.try_moves(node, values, prices)
        for values in curve_pairs(self.sketch, self.widths, node):
            moved |= self.try_moves(node, values, prices)
        return moved

    def _try_steps(self, variable: WidthVariable, prices: Floats) -> bool:
        if variable.role is Role.KEEP:
            return self.try_move(variable, 1 - self.widths[variable], prices)
        moved = False
        for step in (1, -1):
            while in_range(self.sketch, variable, value := self.beside(variable, step)):
                if not self.try_move(variable, value, prices):
                    break
                moved = True
        return moved

    def settle(
        self, places: Iterable[int], prices: Floats, tabu: Collection[WidthVariable] = ()
    ) -> None:
        """Move the variables of some nodes until none of them gains."""
        variables = [k for place in sorted(places) for k in self._variables[place] if k not in tabu]
        moved = True
        while moved:
            moved = False
            for variable in variables:
                if variable.node in self.live:
                    moved |= self._try_steps(variable, prices)

    def improve(
        self, prices: Floats, rng: random.Random, perturbations: int, temperature: float
    ) -> None:
        """Perturb a few widths, let others settle around them, and keep what is not much worse.

        `temperature` (nodes) falls to 0 over them; the best state found is left behind.
        """
        here = self.score(prices)
        best = (self.cost if self.feasible else math.inf, dict(self.widths))
        for perturbation in range(perturbations):
            saved = self.saved()
            self.jump(prices, rng)
            score = self.score(prices)
            warmth = temperature * (1 - perturbation / perturbations)
            if score <= here or (warmth and rng.random() < math.exp((here - score) / warmth)):
                here = score
                if self.feasible and self.cost < best[0] - 1e-9:
                    best = (self.cost, dict(self.widths))
            else:
                self.restore(saved)
        if best[0] < math.inf:
            self.widths = self.model.settings(best[1])
        self.refresh()

    def jump(self, prices: Floats, rng: random.Random) -> None:
        """Perturb a width or two, and let those near them and a few others settle."""
        tabu = self._perturb(rng)
        places = {p for variable in tabu for p in self.near[variable.node]}
        places.update(rng.sample(sorted(self.live), min(len(self.live), NEIGHBOURS)))
        self.settle(places, prices, tabu)

    def _perturb(self, rng: random.Random) -> list[WidthVariable]:
        """Move one or two variables near each other; return them."""
        place = rng.choice([p for p in sorted(self.live) if self._variables[p]])
        near = [k for p in sorted(self.near[place] & self.live) for k in self._variables[p]]
        chosen = [rng.choice(self._variables[place]), rng.choice(near)][: rng.choice((1, 2))]
        for variable in chosen:
            value = self.beside(variable, rng.choice((-1, 1)))
            if variable.role is Role.KEEP or not in_range(self.sketch, variable, value):
                continue
            self.widths[variable] = value
            for p in self.affected[variable.node]:
                if p in self.live:
                    cost, noise = self.model.local(self.widths, p)
                    self.cost += cost - self.costs[p]
                    self.noise = self.noise + noise - self.noises[p]
                    self.costs[p], self.noises[p] = cost, noise
        return chosen

    def score(self, prices: Floats) -> float:
        """Return cost + prices·noise, and a steep price for noise beyond what is allowed."""
        return self._score(self.cost, self.noise, prices)

    def _score(self, cost: float, noise: Floats, prices: Floats) -> float:
        score = cost + float(prices @ noise)
        if self.steepness:
            score += self.steepness * float(prices @ np.maximum(0.0, noise - self.allowed))
        return score

    @property
    def feasible(self) -> bool:
        """Whether no output has more noise than allowed."""
        return bool((self.noise <= self.allowed * (1 + 1e-9)).all())


def keeps_of(sketch: Sketch) -> list[list[tuple[WidthVariable | None, tuple[int, ...]]]]:
    """Return, for every node, what it reads, and the width that says whether that is kept."""
    found: list[list[tuple[WidthVariable | None, tuple[int, ...]]]] = []
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, WordSum):
            reading = [addend_reads(addend) for addend in node.addends]
            found.append([(Role.KEEP.of(place, k), read) for k, read in enumerate(reading)])
        else:
            found.append([(None, reads(node))])
    return found


def _reached(sketch: Sketch, readers: list[set[int]], place: int) -> set[int]:
    found = set(readers[place])
    for reader in readers[place]:
        if isinstance(sketch.nodes[reader], AngleSum):
            found |= _reached(sketch, readers, reader)
    return found


def _repaired(descent: Descent, prices: Floats) -> Descent | None:
    """Return a state nearby that has no more noise than allowed, if excess noise leads to one."""
    near = Descent(descent.model, dict(descent.widths), descent.allowed, REPAIR)
    near.sweep(prices)
    return near if near.feasible else None


def choose_widths(
    model: Model, allowed: Floats, start: tuple[Widths, Floats] | None = None
) -> tuple[dict[WidthVariable, int], Floats]:
    """Return widths of least cost whose predicted variances are within those allowed, and prices.

    `start` are widths and prices found for nearly the same. The prices say what a unit of each
    output's variance is worth. Where the inputs are too coarse for what is allowed, the widths are
    merely fine.
    """
    descent = Descent(model, dict(start[0]) if start else first_widths(model, allowed), allowed)
    prices = start[1] if start else np.full(len(allowed), descent.cost / len(allowed)) / allowed
    best: tuple[float, dict[WidthVariable, int], Floats] | None = None
    for turn in range(SWEEPS // 2 if start else 0, SWEEPS):
        descent.sweep(prices)
        descent.refresh()
        ratio = descent.noise / allowed
        held = descent if (ratio <= 1).all() else None
        if held is None and turn >= SWEEPS // 2 and (ratio <= NEARLY).all():
            held = _repaired(descent, prices)
        if held is not None and (best is None or held.cost < best[0]):
            best = (held.cost, dict(held.widths), prices)
        prices = prices * np.clip(ratio, 0.3, 3.0) ** (0.8 if turn < SWEEPS // 2 else 0.35)
    for _ in range(MORE_SWEEPS):
        if best is not None:
            break
        prices = prices * np.clip(ratio, 1.1, 3.0)
        descent.sweep(prices)
        descent.refresh()
        ratio = descent.noise / allowed
        if (ratio <= 1).all():
            best = (descent.cost, dict(descent.widths), prices)
    if best is None:
        return dict(descent.widths), prices
    return best[1], best[2]


# --------------------------------------------------------------------------------------------------
# The last steps towards fewer nodes: single widths moved, built and simulated one by one.
#
# The noise model chooses what to try and in which order; what is kept is decided by the built
# network's nodes and by the errors of bit-exact simulation. So constants that happen to be cheap,
# and tables that happen to share nodes, are found.
# --------------------------------------------------------------------------------------------------


FURTHEST = 2  # units by which a heap's constant may be moved
OVERSHOOT = 0.03  # of what is allowed: what is predicted to be this far beyond is still tried


@dataclass(frozen=True, slots=True)
class Trial:
    """What building and simulating widths gave: nodes, mean square errors, and whether it holds."""

    nodes: int
    squares: Floats
    holds: bool


@dataclass(frozen=True, slots=True)
class _Move:
    variable: WidthVariable
    value: int
    saving: float
    noise: Floats


WidthJudge: TypeAlias = Callable[[dict[WidthVariable, int]], Trial]


def polish(descent: Descent, allowed: Floats, judge: WidthJudge, trials: int) -> tuple[Trial, int]:
    """Move widths, one or two at a time, while built nodes fall and measured errors hold.

    `descent.widths` must hold; they are changed to the best found. At most `trials` are built;
    how many were left is returned too.
    """
    best = judge(descent.widths)
    left = trials
    moved = True
    while moved and left > 0:
        moved = False
        for moves in _proposals(descent, allowed - best.squares)[:left]:
            left -= 1
            old = {move.variable: descent.widths.get(move.variable, 0) for move in moves}
            descent.widths.update({move.variable: move.value for move in moves})
            trial = judge(descent.widths)
            if trial.holds and trial.nodes < best.nodes:
                best, moved = trial, True
            else:
                descent.widths.update(old)
    descent.refresh()
    return best, left


def anneal(
    descent: Descent, best: Trial, prices: Floats, judge: WidthJudge, trials: int, rng: Random
) -> Trial:
    """Perturb widths, let the model settle around them, and keep what turns out to be no larger.

    Among the many choices that the model finds about as good, some build smaller than others.
    `descent.widths` are changed to the best found.
    """
    for _ in range(trials):
        saved = descent.saved()
        descent.jump(prices, rng)
        trial = judge(descent.widths)
        if trial.holds and trial.nodes <= best.nodes:
            best = trial
        else:
            descent.restore(saved)
    descent.refresh()
    return best


def _proposals(descent: Descent, slack: Floats) -> list[tuple[_Move, ...]]:
    """Return moves that might save nodes: coarser widths, constants, and exchanges of two."""
    descent.refresh()
    rank = {variable: variable.rank for variable in descent.widths}
    coarser = [m for m in _moves(descent) if m.saving > 0]
    finer = [m for m in _moves(descent) if m.saving <= 0 and (m.noise < 0).any()]
    worth = np.maximum(slack, 0.0) + OVERSHOOT * descent.allowed
    singles = [m for m in coarser if (m.noise <= worth).all()]
    singles.sort(key=lambda m: (-m.saving, rank[m.variable]))
    proposals: list[tuple[_Move, ...]] = [(m,) for m in singles]
    proposals += [(m,) for m in _constants(descent)]
    pairs = []
    for gain in coarser:
        for loss in finer:
            noise = gain.noise + loss.noise
            saving = gain.saving + loss.saving
            if gain.variable != loss.variable and saving > 0 and (noise <= worth).all():
                pairs.append((saving, gain, loss))
    pairs.sort(
        key=lambda p: (-p[0], rank[p[1].variable], rank[p[2].variable], p[1].value, p[2].value)
    )
    return proposals + [(gain, loss) for _, gain, loss in pairs]


def _moves(descent: Descent) -> list[_Move]:
    """Return every single step of a width, with what the model says of it."""
    found = []
    for variable in list(descent.widths):
        if variable.node not in descent.live or variable.role in (*UNSEEN, Role.KEEP):
            continue
        for step in (1, -1):
            value = descent.beside(variable, step)
            if in_range(descent.sketch, variable, value):
                cost, noise = descent.change(variable, value)
                if cost or noise.any():
                    found.append(_Move(variable, value, -cost, noise))
    return found


def _constants(descent: Descent) -> list[_Move]:
    sums = [p for p in sorted(descent.live) if isinstance(descent.sketch.nodes[p], WordSum)]
    return [
        _Move(Role.SHIFT.of(place), value + step, 0.0, np.zeros(1))
        for place in sums
        for value in (descent.widths.get(Role.SHIFT.of(place), 0),)
        for step in (1, -1)
        if abs(value + step) <= FURTHEST
    ]


# --------------------------------------------------------------------------------------------------
# Annealing of widths where errors at all words are known, as of curves of one word.
#
# No model chooses the moves then: widths move one or two at a time, and now and then a curve is
# split in another way altogether. Graphs whose errors are a little too large may be passed through.
# --------------------------------------------------------------------------------------------------


WARMTH = 0.05  # of the first cost: the temperature at first
DEAR = 1.0  # what errors that are larger by themselves cost, of the first cost
SPLITTING = 0.04  # of moves split a curve anew

MoveJudge: TypeAlias = Callable[["Moved"], tuple[float, float]]
"""Builds and simulates widths: the cost, and by what factor errors are larger than allowed."""


def explore(
    sketch: Sketch, start: Widths, judge: MoveJudge, trials: int, rng: Random
) -> tuple[Moved, float]:
    """Return the cheapest widths found that hold, and what they cost."""
    sums = sorted({v.node for v in start if v.role is Role.CUT})
    here: Moved = {Role.SHIFT.of(place): 0 for place in sums} | dict(start)
    known: dict[tuple[int, ...], tuple[float, float]] = {}

    def look(widths: Moved) -> tuple[float, float]:
        key = tuple(widths.values())
        if key not in known:
            known[key] = judge(widths)
        return known[key]

    cost, excess = look(here)
    best = (dict(here), cost if excess <= 1 else math.inf)
    dear = DEAR * cost
    score = cost + dear * max(0.0, excess - 1)
    first = WARMTH * cost
    for trial in range(trials):
        there = _moved(sketch, here, rng)
        cost, excess = look(there)
        if excess <= 1 and cost < best[1]:
            best = (dict(there), cost)
        new = cost + dear * max(0.0, excess - 1)
        warmth = first * (1 - trial / trials)
        if new <= score or (warmth and rng.random() < math.exp((score - new) / warmth)):
            here, score = there, new
    return best


def _moved(sketch: Sketch, widths: Moved, rng: Random) -> Moved:
    """Return widths nearby."""
    there = dict(widths)
    if rng.random() < SPLITTING:
        curves = [v.node for v in widths if isinstance(sketch.nodes[v.node], Curve)]
        splits = list(curve_splits(sketch, widths, rng.choice(curves))) if curves else []
        if splits:
            return there | rng.choice(splits)
    variables = [v for v in widths if v.role is not Role.KEEP]
    for variable in rng.sample(variables, min(len(variables), rng.choice((1, 2, 2, 3)))):
        value = widths[variable] + rng.choice((-1, 1))
        fits = abs(value) <= FURTHEST if variable.role is Role.SHIFT else True
        if fits and (variable.role is Role.SHIFT or in_range(sketch, variable, value)):
            there[variable] = value
    return there


# --------------------------------------------------------------------------------------------------
# One step of the search for widths: screening a form, refining it, and annealing its widths.
# --------------------------------------------------------------------------------------------------


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
