"""Steps of the search for widths: screening a form, refining it, and annealing its widths.

The noise model chooses widths; bit-exact simulations of graphs correct its variances and biases.
Every step is a pure function, so steps may run in other processes, and again after an interruption.
"""

from __future__ import annotations

import math
import random
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.compact.costs import costs_of
from boolcomp.compact.errors import (
    StateMaker,
    compared,
    deviations,
    errors_of,
    every_state,
    in_cells,
    is_countable,
    is_exact,
    joined,
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
    SourceWord,
    WidthVariable,
    WordSum,
    addend_reads,
    quantities,
    reads,
)
from boolcomp.compact.sketch_terms import build_sketch
from boolcomp.compact.tables import SampleStatistics
from boolcomp.words.simulation import Resimulation

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from random import Random

    from numpy.typing import NDArray

    from boolcomp.compact.demand import Demand
    from boolcomp.compact.errors import Errors, States
    from boolcomp.compact.sketch import Widths
    from boolcomp.problem.problem import Problem
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]
    Moved = dict[WidthVariable, int]


# --------------------------------------------------------------------------------------------------
# Widths by coordinate descent on cost + Σ λ·noise, with λ adjusted until the noise is as allowed.
# --------------------------------------------------------------------------------------------------

SWEEPS = 16
NEARLY, REPAIR = 1.06, 8.0  # excess of noise that is repaired; the price of excess in repairs
MORE_SWEEPS = 8
NEIGHBOURS = 2  # random nodes that settle after a perturbation


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
        """Recompute the state from the widths."""
        self.live: set[int] = set()
        self._uses = [0] * len(self.sketch.nodes)
        self._switch(self.sketch.outputs, 1)
        self.costs: dict[int, float] = {}
        self.noises: dict[int, Floats] = {}
        for place in sorted(self.live):
            self.costs[place], self.noises[place] = self.model.local(self.widths, place)
        self.cost = sum(self.costs.values())
        self.noise = np.sum(list(self.noises.values()), axis=0)

    def _switch(self, places: Iterable[int], step: int) -> list[int]:
        """Add or remove a reader of nodes; return nodes that became live or dead."""
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
        self.widths, self.live, self.costs, self.noises, self._uses, self.cost, self.noise = state

    def try_move(self, variable: WidthVariable, value: int, prices: Floats) -> bool:
        """Set a variable if that lowers cost + prices·noise; return whether it did."""
        if variable.role is not Role.KEEP:
            return self.try_moves(variable.node, {variable: value}, prices)
        old = self.widths[variable]
        before = self.score(prices)
        self.widths[variable] = value
        return self._try_keep(variable, old, before, prices)

    def try_moves(self, node: int, values: Widths, prices: Floats) -> bool:
        """Set several widths of a node (no keeps) if that lowers cost + prices·noise."""
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
        """Return the changes of cost and noise for a new value of a width (not a keep)."""
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
        """Try steps up and down of every variable; return whether anything changed."""
        moved = False
        for variable in list(self.widths):
            if variable.node not in self.live or variable.role in UNSEEN:
                continue
            moved |= self._try_steps(variable, prices)
            if variable.role is Role.SPLIT:
                moved |= self._try_splits(variable.node, prices)
        return moved

    def stepped(self, variable: WidthVariable, step: int) -> int:
        return effective(self.model, self.widths, variable) + step

    def _try_splits(self, node: int, prices: Floats) -> bool:
        """Try other splits of a curve: all widths at once, or pairs of them."""
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
            while in_range(self.sketch, variable, value := self.stepped(variable, step)):
                if not self.try_move(variable, value, prices):
                    break
                moved = True
        return moved

    def settle(
        self, places: Iterable[int], prices: Floats, tabu: Collection[WidthVariable] = ()
    ) -> None:
        """Step the variables of some nodes until no step gains."""
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
        """Perturb widths at random and settle their neighbours: simulated annealing.

        `temperature` (nodes) falls to 0 over the perturbations; the result is the best state found.
        """
        current = self.score(prices)
        best = (self.cost if self.feasible else math.inf, dict(self.widths))
        for perturbation in range(perturbations):
            saved = self.saved()
            self.jump(prices, rng)
            score = self.score(prices)
            warmth = temperature * (1 - perturbation / perturbations)
            if score <= current or (warmth and rng.random() < math.exp((current - score) / warmth)):
                current = score
                if self.feasible and self.cost < best[0] - 1e-9:
                    best = (self.cost, dict(self.widths))
            else:
                self.restore(saved)
        if best[0] < math.inf:
            self.widths = self.model.settings(best[1])
        self.refresh()

    def jump(self, prices: Floats, rng: random.Random) -> None:
        """Perturb one or two widths, and settle their neighbours and a few others."""
        tabu = self._perturb(rng)
        places = {p for variable in tabu for p in self.near[variable.node]}
        places.update(rng.sample(sorted(self.live), min(len(self.live), NEIGHBOURS)))
        self.settle(places, prices, tabu)

    def _perturb(self, rng: random.Random) -> list[WidthVariable]:
        """Step one or two variables near each other; return them."""
        place = rng.choice([p for p in sorted(self.live) if self._variables[p]])
        near = [k for p in sorted(self.near[place] & self.live) for k in self._variables[p]]
        chosen = [rng.choice(self._variables[place]), rng.choice(near)][: rng.choice((1, 2))]
        for variable in chosen:
            value = self.stepped(variable, rng.choice((-1, 1)))
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
        return self._score(self.cost, self.noise, prices)

    def _score(self, cost: float, noise: Floats, prices: Floats) -> float:
        score = cost + float(prices @ noise)
        if self.steepness:
            score += self.steepness * float(prices @ np.maximum(0.0, noise - self.allowed))
        return score

    @property
    def feasible(self) -> bool:
        return bool((self.noise <= self.allowed * (1 + 1e-9)).all())


def keeps_of(sketch: Sketch) -> list[list[tuple[WidthVariable | None, tuple[int, ...]]]]:
    """Return, for every node, groups of its operands, with the keep of a sum's addend."""
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
    """Return a nearby state within the allowed noise, found with a price for excess noise."""
    near = Descent(descent.model, dict(descent.widths), descent.allowed, REPAIR)
    near.sweep(prices)
    return near if near.feasible else None


def choose_widths(
    model: Model, allowed: Floats, start: tuple[Widths, Floats] | None = None
) -> tuple[dict[WidthVariable, int], Floats]:
    """Return widths of least cost with predicted variances within those allowed, and prices.

    `start` are widths and prices for nearly the same variances. A price is the cost that a unit of
    an output's variance is worth. If inputs are too coarse, the widths exceed the variances.
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
# Local search with built and simulated graphs.
#
# The noise model orders the moves; nodes of the built network and errors of bit-exact simulation
# decide. This finds cheap constants, and tables that share nodes.
# --------------------------------------------------------------------------------------------------

FURTHEST = 2  # units by which a heap's constant may be moved
OVERSHOOT = 0.03  # excess of predicted errors with which a move is still tried


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of built widths: nodes, mean square errors, and whether errors are allowed."""

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
    """Step one or two widths at a time while built nodes fall within the allowed errors.

    `descent.widths` must be within the errors, and become the best ones found. At most `trials`
    graphs are built; the number of unused trials is returned too.
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
    """Perturb widths, settle their neighbours by the model, and keep results that are no larger.

    Choices with nearly equal predictions differ in built nodes. `descent.widths` become the best
    ones found.
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


def polish_and_anneal(
    descent: Descent,
    best: Trial,
    prices: Floats,
    judge: WidthJudge,
    *,
    allowed: Floats,
    trials: int,
    turn: int,
    seed: int,
) -> int:
    """Spend trials on annealing, after polishing in even turns; return the nodes found."""
    share = trials // 2 if turn % 2 == 0 else 0
    left = trials
    if share:
        best, unused = polish(descent, allowed, judge, share)
        left = trials - share + unused
    rng = random.Random(1000 * seed + turn)  # noqa: S311 (not for secrets)
    return anneal(descent, best, prices, judge, left, rng).nodes


def _proposals(descent: Descent, slack: Floats) -> list[tuple[_Move, ...]]:
    """Return moves that may save nodes: coarser widths, constants, and exchanges of two."""
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
    """Return all single steps of widths with their predicted changes."""
    found = []
    for variable in list(descent.widths):
        if variable.node not in descent.live or variable.role in (*UNSEEN, Role.KEEP):
            continue
        for step in (1, -1):
            value = descent.stepped(variable, step)
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
# Annealing of widths with known errors at all words, as for curves of one word.
#
# Moves are random: a few widths by one step, or another split of a curve. Graphs with slightly too
# large errors may be passed through.
# --------------------------------------------------------------------------------------------------

WARMTH = 0.05  # first temperature, as a part of the first cost
DEAR = 1.0  # price of an excess of errors by 1, as a part of the first cost
SPLITTING = 0.04  # part of moves that split a curve anew

MoveJudge: TypeAlias = Callable[["Moved"], tuple[float, float]]
"""Returns the cost of widths, and the ratio of their errors to the allowed ones."""


def explore(
    sketch: Sketch, start: Widths, judge: MoveJudge, trials: int, rng: Random
) -> tuple[Moved, float]:
    """Return the cheapest widths found within the allowed errors, and their cost."""
    sums = sorted({v.node for v in start if v.role is Role.CUT})
    current: Moved = {Role.SHIFT.of(place): 0 for place in sums} | dict(start)
    known: dict[tuple[int, ...], tuple[float, float]] = {}

    def look(widths: Moved) -> tuple[float, float]:
        key = tuple(widths.values())
        if key not in known:
            known[key] = judge(widths)
        return known[key]

    cost, excess = look(current)
    best = (dict(current), cost if excess <= 1 else math.inf)
    dear = DEAR * cost
    score = cost + dear * max(0.0, excess - 1)
    first = WARMTH * cost
    for trial in range(trials):
        trial_widths = _moved(sketch, current, rng)
        cost, excess = look(trial_widths)
        if excess <= 1 and cost < best[1]:
            best = (dict(trial_widths), cost)
        new = cost + dear * max(0.0, excess - 1)
        warmth = first * (1 - trial / trials)
        if new <= score or (warmth and rng.random() < math.exp((score - new) / warmth)):
            current, score = trial_widths, new
    return best


def _moved(sketch: Sketch, widths: Moved, rng: Random) -> Moved:
    """Draw a random move."""
    trial_widths = dict(widths)
    if rng.random() < SPLITTING:
        curves = [v.node for v in widths if isinstance(sketch.nodes[v.node], Curve)]
        splits = list(curve_splits(sketch, widths, rng.choice(curves))) if curves else []
        if splits:
            return trial_widths | rng.choice(splits)
    variables = [v for v in widths if v.role is not Role.KEEP]
    for variable in rng.sample(variables, min(len(variables), rng.choice((1, 2, 2, 3)))):
        value = widths[variable] + rng.choice((-1, 1))
        fits = abs(value) <= FURTHEST if variable.role is Role.SHIFT else True
        if fits and (variable.role is Role.SHIFT or in_range(sketch, variable, value)):
            trial_widths[variable] = value
    return trial_widths


# --------------------------------------------------------------------------------------------------
# The steps for one form: screen, refine, improve.
# --------------------------------------------------------------------------------------------------

MODEL_SAMPLES, REACH_SAMPLES, LOOP_SAMPLES = 2000, 20_000, 20_000
ROUNDS, ROUNDS_AGAIN = 6, 4  # of corrections, at first and later
STEEPNESS, TEMPERATURE = 3.0, 3.0  # of a descent: the price of excess noise; nodes
PERTURBATIONS = 0.01  # a width, for a nominal second
MOST_PERTURBATIONS, MOST_PERTURBATIONS_A_SECOND = 2.0, 40  # a width; in all, for a nominal second
MULTIPLIED_PROMISE = 0.9  # annealing shrinks code with multiplied constants more
LATE = 8.0  # the pressure from which refining only corrects
WORK = 25_000  # nodes built and simulated in a nominal second
LOOKS = 200  # graphs simulated at all of few words in a nominal second
JUMP_SAMPLES = 200_000  # few states misjudge jumps
SEEN_TIMES = 1.3  # ratio of true to predicted mean squares (or inverse) that indicates jumps
LEAST_SQUARE = 0.01  # steps²: least mean square error of logic
LEAST = 1e-3  # least part of an error that widths change
CAUTION = 0.985  # factor on the allowed mean squares, for other samples
MAX_CAUTION = 0.98  # factor on the largest allowed error


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Widths of a form, the prices of the outputs' errors, and corrections.

    `widened` counts enlargements of words. `nodes` are those of the built network or the predicted
    ones (infinite without a result). `excess` is the ratio of the largest error to the allowed one,
    at the states of the search or by its bounds.
    """

    form: int
    widths: dict[WidthVariable, int]
    prices: Floats
    biases: Floats
    widened: int
    nodes: float
    excess: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SearchTask:
    """The task of a search: `allowed` mean squares and `largest` errors, in steps.

    `worst` are states with large errors, an array for each group and equally many for every output;
    `worst_limits` are the mean squares that the model may predict there. `pressure` is the weight
    of too large errors relative to nodes.
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
        return (
            self.allowed
            if self.worst_limits is None
            else np.concatenate([self.allowed, self.worst_limits])
        )

    def rank(self, choice: Candidate) -> tuple[float, float]:
        """Return the key by which the best of several candidates is the least."""
        promise = MULTIPLIED_PROMISE if FORMS[choice.form].multiplied else 1.0
        return 0.0, promise * choice.nodes * math.pow(max(1.0, choice.excess), self.pressure)

    def sketch(self, form: int) -> Sketch:
        """Return the outputs in a form, without widths."""
        steps = self.terms.problem.steps(self.demand.bits)
        return build_sketch(self.terms, self.demand.input_bits, steps, FORMS[form])

    def search(self, form: int) -> FormSearch:
        return search_of(self, form)


def screen(task: SearchTask, form: int) -> Candidate:
    return task.search(form).screen()


def refine(task: SearchTask, start: Candidate) -> Candidate:
    return task.search(start.form).refine(start)


def improve(task: SearchTask, start: Candidate, turn: int, units: float) -> Candidate:
    return task.search(start.form).improve(start, turn, units)


@lru_cache(maxsize=2)
def model_values(
    problem: Problem, inputs: tuple[tuple[str, int], ...], bits: int, seed: int
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the states of models for all forms: random ones, and extremes."""
    maker = StateMaker.of(problem, dict(inputs), bits)
    if is_exact(problem, dict(inputs)):
        every = maker.at(every_state(problem, dict(inputs))).values
        return every, every
    states = maker.draw(MODEL_SAMPLES, seed + 1)
    return states.values, maker.corners(REACH_SAMPLES, seed + 2).values


@lru_cache(maxsize=2)
def climbed_values(
    problem: Problem, inputs: tuple[tuple[str, int], ...], bits: int, seed: int, sketch: Sketch
) -> dict[str, Floats]:
    """Return the extremes, and states at which words of a recursion are larger."""
    _, extremes = model_values(problem, inputs, bits, seed)
    larger = climbed(sketch, quantities(problem, dict(inputs)), extremes)
    return {name: np.concatenate([column, larger[name]]) for name, column in extremes.items()}


@lru_cache(maxsize=2)
def search_of(task: SearchTask, form: int) -> SampledForm:
    return SampledForm(task, form)


def reach_of(problem: Problem, demand: Demand) -> Floats | None:
    """Return the largest outputs in steps, infinite for those that do not saturate.

    The result is None if no output saturates.
    """
    saturating = demand.saturating(problem)
    if not any(saturating):
        return None
    reach = [2.0 ** (bits - 1) for bits in problem.output_bits(demand.bits)]
    return np.where(saturating, reach, np.inf)


Judged: TypeAlias = "tuple[Candidate, Candidate | None, Floats | None]"


class FormSearch(ABC):
    """The search for widths of one form: the model, and a judge of built graphs.

    Errors are mean squares at samples or bounds (`rows`); no width changes a part `fixed` of them.
    """

    fixed = 0.0

    def __init__(self, task: SearchTask, form: int) -> None:
        problem, demand = task.terms.problem, task.demand
        self.task, self.form, self.problem, self.demand = task, form, problem, demand
        self.steps, self.sketch = problem.steps(demand.bits), task.sketch(form)
        given = problem, tuple(sorted(demand.input_bits.items())), demand.bits, demand.seed
        values, extremes = model_values(*given)
        self.exact = is_exact(problem, demand.input_bits)
        if FORMS[form].direct:
            extremes = climbed_values(*given, self.sketch)
        self.costs = costs_of(demand)
        self.model = self._model(values, extremes)

    @abstractmethod
    def _model(self, values: dict[str, Floats], extremes: dict[str, Floats]) -> Model:
        """Return the model of errors for states of two kinds."""

    @property
    def rows(self) -> Floats:
        """The errors that the model may predict."""
        return self.task.rows

    @abstractmethod
    def rounds(self, start: Candidate) -> list[int]:
        """Return the number of perturbations in every round of refining."""

    @abstractmethod
    def judged(self, choice: Candidate, noise: Floats) -> Judged:
        """Build a choice for which the model predicts an error.

        Return the choice to continue from, and the built one if it is valid. The last value are
        the ratios of its errors to those of the model, or None if a word was too narrow.
        """

    @abstractmethod
    def trial(self, start: Candidate) -> WidthJudge:
        """Return a judge of other widths of a choice."""

    @abstractmethod
    def calibrated(self, noise: Floats, found: Trial) -> Floats:
        """Return the errors to allow the model, which predicts `noise` for a built state."""

    def prices(self, start: Candidate) -> Floats:
        return start.prices

    def corrected(self, before: Floats, missed: Floats) -> Floats:  # noqa: ARG002 (samples smooth)
        """Return the correction of the model's allowance from that of earlier rounds."""
        return missed

    def graph(self, choice: Candidate) -> WordGraph:
        return self._graph(choice.widths, self.statistics(choice.widened), choice.biases)

    def statistics(self, widened: int) -> SampleStatistics:
        """Return the sizes of words, enlarged by a tenth for each overflow."""
        found = self.model.statistics
        sizes = tuple(1.1**widened * size for size in found.largest)
        return SampleStatistics(sizes, found.means, found.sure)

    def _graph(self, widths: Widths, statistics: SampleStatistics, biases: Floats) -> WordGraph:
        return realise(
            self.sketch, widths, statistics, self.problem.output_bits(self.demand.bits),
            biases.tolist(), saturating=self.demand.saturating(self.problem),
            treads=[one.format.tread for one in self.problem.outputs],
        )  # fmt: skip

    def screen(self) -> Candidate:
        """Choose widths by the model alone."""
        rows = self.rows
        widths, prices = choose_widths(self.model, rows)
        descent = Descent(self.model, widths, rows)
        nodes = descent.cost if descent.feasible else math.inf
        biases = np.zeros(len(self.task.allowed))
        return Candidate(self.form, widths, prices, biases, 0, nodes)

    def refine(self, start: Candidate) -> Candidate:
        """Return the best choice by its rank; infinite nodes if there is none."""
        rows, rank = self.rows, self.task.rank
        allowed, correction = rows, np.ones(len(rows))
        rng = random.Random(self.demand.seed)  # noqa: S311 (not for secrets)
        choice = replace(start, prices=self.prices(start))
        best = replace(start, nodes=math.inf)
        for turn, perturbations in enumerate(self.rounds(start)):
            widths, prices = choice.widths, choice.prices
            if turn:
                known = {k: value for k, value in widths.items() if k.role is not Role.ROOM}
                widths, prices = choose_widths(self.model, allowed, (known, prices))
            descent = Descent(self.model, dict(widths), allowed, STEEPNESS)
            descent.improve(prices, rng, perturbations, TEMPERATURE)
            tried = replace(choice, widths=dict(descent.widths), prices=prices)
            choice, made, missed = self.judged(tried, descent.noise)
            if made and (best.nodes == math.inf or rank(made) < rank(best)):
                best = made
            if missed is None:
                continue
            # The errors that the model missed correct its allowance for the next round.
            correction = missed if turn == 0 else self.corrected(correction, missed)
            tighter = 1.0 if self.suffices(best) else 0.99**turn
            free = np.maximum(rows - self.fixed, LEAST)
            allowed = self.fixed + free / correction * tighter
        return best

    def suffices(self, best: Candidate) -> bool:
        return best.nodes < math.inf

    def improve(self, start: Candidate, turn: int, units: float) -> Candidate:
        """Return the smallest choice that annealing finds within the allowed errors."""
        judge, rows = self.trial(start), self.task.rows
        descent = Descent(self.model, dict(start.widths), rows, STEEPNESS)
        found = judge(descent.widths)
        if not found.holds or not found.nodes:  # constants alone
            return start
        descent.allowed = self.calibrated(descent.noise, found)
        trials = round(units * WORK / (found.nodes * self.costs.weight))
        nodes = polish_and_anneal(
            descent, found, self.prices(start), judge,
            allowed=rows, trials=trials, turn=turn, seed=self.demand.seed,
        )  # fmt: skip
        return replace(start, widths=dict(descent.widths), nodes=nodes)


class SampledForm(FormSearch):
    """The search with errors at samples."""

    def _model(self, values: dict[str, Floats], extremes: dict[str, Floats]) -> Model:
        self.worst: States | None = None
        if self.task.worst_limits is not None:
            self.worst = self.maker.at(self.task.worst)
        bad = self.worst.values if self.worst else None
        self.reach = reach_of(self.problem, self.demand)
        return Model(
            self.sketch, values, extremes, bad, self.costs, sure=self.exact, reach=self.reach
        )

    @cached_property
    def states(self) -> States:
        """The states on which graphs are simulated, with known worst ones."""
        problem, demand = self.problem, self.demand
        if self.exact:
            return self.maker.at(every_state(problem, demand.input_bits))
        drawn = self.maker.draw(LOOP_SAMPLES, demand.seed + 3)
        if demand.max and is_countable(problem, demand.input_bits):
            drawn = joined(drawn, self.maker.at(every_state(problem, demand.input_bits)))
        return joined(drawn, self.worst) if self.worst else drawn

    @cached_property
    def maker(self) -> StateMaker:
        return StateMaker.of(self.problem, self.demand.input_bits, self.demand.bits)

    @cached_property
    def _inside(self) -> NDArray[np.bool_]:
        """Whether outputs do not saturate, (states, outputs), at the states that count."""
        counted = self.states.outputs[: self.counted]
        if self.reach is None:
            return np.ones(counted.shape, dtype=np.bool_)
        columns = zip(counted.T, self.reach, strict=True)
        return np.stack([within(column, reach) for column, reach in columns], axis=1)

    @property
    def counted(self) -> int:
        return len(self.states.outputs) if self.exact else LOOP_SAMPLES

    @cached_property
    def unseen(self) -> Floats:
        """The difference of the true mean squares from input words to the model's, due to jumps."""
        found = np.zeros(len(self.task.rows))
        if not FORMS[self.form].direct or self.exact:
            return found
        made = self.maker.input_squares(JUMP_SAMPLES, self.demand.seed + 3, self.reach)
        inputs = self._seen_floor().inputs
        seen = (made < SEEN_TIMES * inputs) & (inputs < SEEN_TIMES * made)
        found[: len(made)] = np.where(seen, 0.0, made - inputs)
        return found

    @cached_property
    def unmodelled(self) -> Floats:
        """Mean squares that are not in the model: jumps, and half a step if outputs saturate."""
        found = self.unseen.copy()
        if self.reach is not None:
            found[: len(self.reach)] += (1 - self._inside.mean(axis=0)) / 4
        return found

    @property
    def rows(self) -> Floats:
        return np.maximum(self.task.rows - self.unmodelled, LEAST_SQUARE)

    def floor(self) -> Floor:
        return replace(self._seen_floor(), jumps=self.unseen[: len(self.steps)])

    def _seen_floor(self) -> Floor:
        parts, bits = {}, {}
        for place, node in enumerate(self.sketch.nodes):
            if isinstance(node, SourceWord):
                step = 2 * math.pi / (1 << node.bits + node.part) if node.angle else 1.0
                sensitivity = self.model.sensitivities[place].value[: len(self.steps)]
                parts[node.name] = node.hidden * step * step / 12 * sensitivity
                bits[node.name] = node.bits
        rounding = rounding_squares(in_cells(self.problem, self.states.outputs), self.reach)
        return Floor(parts, bits, rounding, names=tuple(x.symbol for x in self.problem.outputs))

    def rounds(self, start: Candidate) -> list[int]:
        """Return the number of perturbations in every round: none in the first and last ones."""
        if start.excess > 0 or self.task.pressure >= LATE:
            return [0] * ROUNDS_AGAIN
        effort, variables = self.demand.effort, len(start.widths)
        perturbations = min(
            min(MOST_PERTURBATIONS, effort * PERTURBATIONS) * variables,
            MOST_PERTURBATIONS_A_SECOND * effort,
        )
        return [round(perturbations) if 0 < turn < ROUNDS - 3 else 0 for turn in range(ROUNDS)]

    def judged(self, choice: Candidate, noise: Floats) -> Judged:
        """Build a choice and simulate it; its mean errors become biases."""
        graph, tried = self.graph(choice), None
        found = deviations(graph, self.states)
        errors = errors_of(*found, self.counted)
        if errors.wrapped:
            return replace(choice, widened=choice.widened + 1), None, None
        if (errors.rms**2 <= self.task.allowed).all():
            excess = float((errors.max / self.task.largest).max())
            tried = replace(choice, nodes=self.costs.graph(graph), excess=excess)
        count = len(self.task.allowed)
        noise, extra = noise[:count], self.unmodelled[:count]
        left = np.maximum(errors.rms**2 - extra, np.where(extra > 0, noise, LEAST_SQUARE))
        missed = np.ones(len(self.task.rows))
        missed[:count] = left / noise
        biases = choice.biases - self._bias(found[0], errors)
        return replace(choice, biases=biases), tried, missed

    def corrected(self, before: Floats, missed: Floats) -> Floats:
        return np.sqrt(before * missed)  # by half, because samples are noisy

    def _bias(self, error: Floats, errors: Errors) -> Floats:
        """Return the mean errors that constants can correct, at states without saturation."""
        if self.reach is None:
            return errors.mean
        total = np.where(self._inside, error[: self.counted], 0.0).sum(axis=0)
        return np.asarray(total / self._inside.sum(axis=0))

    def prices(self, start: Candidate) -> Floats:
        """Return the prices of a choice, and small ones for the outputs at their worst states."""
        rows = self.task.rows
        if len(start.prices) >= len(rows):
            return start.prices[: len(rows)]
        count = len(self.task.allowed)
        more = start.prices[:count] * self.task.allowed / rows[count:]
        return np.concatenate([start.prices, 0.1 * more])

    def noise(self, choice: Candidate) -> tuple[float, Floats]:
        """Return the predicted cost and mean square errors of a choice."""
        self.model.most_synthesised = MOST_READ  # count the nodes of all tables of one choice
        descent = Descent(self.model, dict(choice.widths), self.task.rows)
        return descent.cost, descent.noise

    def trial(self, start: Candidate) -> WidthJudge:
        """Return a judge by simulation."""
        task, errors_at = self.task, self._errors_of(start)

        def judge(widths: dict[WidthVariable, int]) -> Trial:
            graph, errors = errors_at(widths)
            within = (errors.rms**2 <= task.allowed).all() and (errors.max <= task.largest).all()
            holds = bool(within) and not errors.wrapped
            squares = errors.rms**2
            if task.worst_limits is not None:
                worst = task.worst_limits * (errors.max / task.largest) ** 2
                squares = np.concatenate([squares, worst])
            return Trial(self.costs.graph(graph) if holds else 0, squares, holds)

        return judge

    def _errors_of(self, start: Candidate) -> Callable[[Widths], tuple[WordGraph, Errors]]:
        """Return a function that builds other widths of a choice and measures them."""
        statistics, again = self.statistics(start.widened), Resimulation(self.states.words)

        def errors(widths: Widths) -> tuple[WordGraph, Errors]:
            graph = self._graph(widths, statistics, start.biases)
            found = compared(graph, self.states, again.simulate(graph))
            return graph, errors_of(*found, self.counted)

        return errors

    def calibrated(self, noise: Floats, found: Trial) -> Floats:
        return np.asarray(noise * self.task.rows / found.squares)

    def improve(self, start: Candidate, turn: int, units: float) -> Candidate:
        """Return the smallest choice that annealing finds; at all words, larger errors may pass."""
        if not self.exact:
            return super().improve(start, turn, units)
        task, errors_at = self.task, self._errors_of(start)

        def judge(widths: dict[WidthVariable, int]) -> tuple[float, float]:
            graph, errors = errors_at(widths)
            excess = np.maximum(errors.max / task.largest, errors.rms / np.sqrt(task.allowed))
            return self.costs.graph(graph), math.inf if errors.wrapped else float(excess.max())

        rng = random.Random(1000 * self.demand.seed + turn)  # noqa: S311 (not for secrets)
        trials = round(units * LOOKS * LOOP_SAMPLES / (self.counted + LOOP_SAMPLES))
        widths, cost = explore(self.sketch, start.widths, judge, trials, rng)
        return replace(start, widths=widths, nodes=cost) if cost < math.inf else start
