"""Widths by coordinate descent on cost + Σ λ·noise, with λ driven until the noise is as allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.compact.limits import effective, first_widths, in_range
from boolcomp.compact.sketch.sketch import (
    AngleSum,
    Sketch,
    WordSum,
    addend_reads,
    reads,
)
from boolcomp.compact.sketch.variables import UNSEEN, Role, WidthVariable
from boolcomp.compact.widths.splits import curve_pairs, curve_splits

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    from boolcomp.compact.noise import Model
    from boolcomp.compact.sketch.variables import Widths

    Floats = NDArray[np.float64]

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
