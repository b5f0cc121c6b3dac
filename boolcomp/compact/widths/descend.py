"""Widths by coordinate descent on cost + Σ λ·noise, with λ driven until the noise is as allowed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.compact.graph.realise import DIGITS, constant_digits
from boolcomp.compact.sketch.sketch import (
    AngleSum,
    Linear,
    Powers,
    Product,
    Sketch,
    Source,
    Waves,
    WordSum,
    addend_reads,
    reads,
)
from boolcomp.compact.widths.noise import MOST_READ, Model

if TYPE_CHECKING:
    import random
    from collections.abc import Collection, Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Knob = tuple[int, str]

LOWEST_CUT, HIGHEST = -12, 60
MOST_ANGLE = 16  # bits of an angle sum
_LIMITS = {
    "n": (3, MOST_ANGLE),
    "t": (1, MOST_READ),
    "e": (-HIGHEST, HIGHEST),
    "s": (0, 7),
    "p": (2, 10),
    "k": (0, 1),
    "a": (0, 30),
    "b": (0, 30),
}
SWEEPS = 16
NEARLY, REPAIR = 1.06, 8.0  # noise that is worth repairing; how dear its excess is then
MORE_SWEEPS = 8
NEIGHBOURS = 2  # nodes from anywhere that settle after a perturbation


def first_widths(model: Model, allowed: Floats) -> dict[Knob, int]:
    """Return widths that give every rounding an equal part of the allowed variances."""
    sketch = model.sketch
    sources = sum(not isinstance(node, (Source, AngleSum)) for node in sketch.nodes)
    share = allowed / max(4, sources)
    widths: dict[Knob, int] = {}
    for place, node in enumerate(sketch.nodes):
        felt = model.sensitivities[place].value
        step = _exponent(share * 12, felt)
        if isinstance(node, AngleSum):
            widths[place, "n"] = MOST_ANGLE
        elif isinstance(node, (Waves, Powers)):
            widths[place, "e"] = step
            read = _first_read(model, place, node, share)
            widths[place, "t"] = read
            if place not in model.operands:
                widths[place, "s"] = max(0, read - 6)
                widths[place, "p"] = min(read, 5)
        elif isinstance(node, WordSum):
            widths[place, "cut"] = _bounded_cut(sketch, place, node, step - 2)
            for k, addend in enumerate(node.addends):
                widths[place, f"k{k}"] = 1
                if isinstance(addend, Product):
                    widths[place, f"a{k}"] = 0
                    widths[place, f"b{k}"] = 0
                else:
                    widths[place, f"d{k}"] = min(4, len(constant_digits(addend, DIGITS)))
    return widths


def _first_read(model: Model, place: int, node: Waves | Powers, share: Floats) -> int:
    """Return how many bits a table has to read, so that its cells are no wider than allowed."""
    step = 2.0 ** _exponent(share * 12, model.sensitivities[place].slope)
    whole = 2 * math.pi if isinstance(node, Waves) else 2 * model.statistics.largest[node.source]
    return max(2, min(MOST_READ, math.ceil(math.log2(max(whole / step, 1.0)))))


def _bounded_cut(sketch: Sketch, place: int, node: WordSum, cut: int) -> int:
    if place in sketch.outputs:
        return max(LOWEST_CUT, min(0, cut))
    return min(max(cut, 0), 12) if node.angle else cut


def _exponent(variance: Floats, felt: Floats) -> int:
    ratios = [v / f for v, f in zip(variance, felt, strict=True) if f > 0]
    return math.floor(math.log2(min(ratios)) / 2) if ratios else 0


class Descent:
    """The state of a descent: widths, and the cost and noise of every node."""

    def __init__(
        self, model: Model, widths: dict[Knob, int], allowed: Floats, steepness: float = 0.0
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
        self._knobs: list[list[Knob]] = [[] for _ in range(count)]
        for knob in widths:
            if knob[1] != "c":  # what is added to a constant is not for the model to judge
                self._knobs[knob[0]].append(knob)
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
        """Count who reads what, from the torques on; what is read is live."""
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
            for knob, read in self._keeps[place]:
                if knob is None or self.widths.get(knob, 1) > 0:
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

    def try_move(self, knob: Knob, value: int, prices: Floats) -> bool:
        """Set a knob if that lowers cost + prices·noise; tell whether it did."""
        old = self.widths[knob]
        before = self.score(prices)
        self.widths[knob] = value
        if knob[1][0] == "k":
            return self._try_keep(knob, old, before, prices)
        changed = [p for p in self.affected[knob[0]] if p in self.live]
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
        self.widths[knob] = old
        return False

    def change(self, knob: Knob, value: int) -> tuple[float, Floats]:
        """Return how cost and noise would change if a width (not a keep) were set."""
        old = self.widths[knob]
        self.widths[knob] = value
        cost, noise = 0.0, np.zeros(len(self.allowed))
        for place in self.affected[knob[0]]:
            if place in self.live:
                after = self.model.local(self.widths, place)
                cost += after[0] - self.costs[place]
                noise = noise + after[1] - self.noises[place]
        self.widths[knob] = old
        return cost, noise

    def _try_keep(self, knob: Knob, old: int, before: float, prices: Floats) -> bool:
        place = knob[0]
        read = self._keeps[place][int(knob[1][1:])][1]
        step = 1 if self.widths[knob] > 0 else -1
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
        self.widths[knob] = old
        return False

    def sweep(self, prices: Floats) -> bool:
        """Try every knob one up and one down; tell whether anything changed."""
        moved = False
        for knob in list(self.widths):
            if knob[0] not in self.live or knob[1] == "c":
                continue
            moved |= self._try_steps(knob, prices)
        return moved

    def _try_steps(self, knob: Knob, prices: Floats) -> bool:
        if knob[1][0] == "k":
            return self.try_move(knob, 1 - self.widths[knob], prices)
        moved = False
        for step in (1, -1):
            while in_range(self.sketch, knob, self.widths[knob] + step):
                if not self.try_move(knob, self.widths[knob] + step, prices):
                    break
                moved = True
        return moved

    def settle(self, places: Iterable[int], prices: Floats, tabu: Collection[Knob] = ()) -> None:
        """Move the knobs of some nodes until none of them gains."""
        knobs = [k for place in sorted(places) for k in self._knobs[place] if k not in tabu]
        moved = True
        while moved:
            moved = False
            for knob in knobs:
                if knob[0] in self.live:
                    moved |= self._try_steps(knob, prices)

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
        places = {p for knob in tabu for p in self.near[knob[0]]}
        places.update(rng.sample(sorted(self.live), min(len(self.live), NEIGHBOURS)))
        self.settle(places, prices, tabu)

    def _perturb(self, rng: random.Random) -> list[Knob]:
        """Move one or two knobs near each other; return them."""
        place = rng.choice([p for p in sorted(self.live) if self._knobs[p]])
        near = [k for p in sorted(self.near[place] & self.live) for k in self._knobs[p]]
        chosen = [rng.choice(self._knobs[place]), rng.choice(near)][: rng.choice((1, 2))]
        for knob in chosen:
            value = self.widths[knob] + rng.choice((-1, 1))
            if knob[1][0] == "k" or not in_range(self.sketch, knob, value):
                continue
            self.widths[knob] = value
            for p in self.affected[knob[0]]:
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
        """Whether no torque has more noise than allowed."""
        return bool((self.noise <= self.allowed * (1 + 1e-9)).all())


def keeps_of(sketch: Sketch) -> list[list[tuple[Knob | None, tuple[int, ...]]]]:
    """Return, for every node, what it reads, and the width that says whether that is kept."""
    found: list[list[tuple[Knob | None, tuple[int, ...]]]] = []
    for place, node in enumerate(sketch.nodes):
        if isinstance(node, WordSum):
            reading = [addend_reads(addend) for addend in node.addends]
            found.append([((place, f"k{k}"), read) for k, read in enumerate(reading)])
        else:
            found.append([(None, reads(node))])
    return found


def in_range(sketch: Sketch, knob: Knob, value: int) -> bool:
    """Tell whether a width may have a value."""
    low, high = _limits(sketch, *knob)
    return low <= value <= high


def _limits(sketch: Sketch, place: int, name: str) -> tuple[int, int]:
    node = sketch.nodes[place]
    if name == "cut":
        if place in sketch.outputs:
            return LOWEST_CUT, 0
        return (0, 12) if isinstance(node, WordSum) and node.angle else (-HIGHEST, HIGHEST)
    if name[0] == "d" and isinstance(node, WordSum):
        addend = node.addends[int(name[1:])]
        return 1, min(8, len(constant_digits(addend, DIGITS)) if isinstance(addend, Linear) else 1)
    return _LIMITS[name[0]]


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
    model: Model, allowed: Floats, start: tuple[dict[Knob, int], Floats] | None = None
) -> tuple[dict[Knob, int], Floats]:
    """Return widths of least cost whose predicted variances are within those allowed, and prices.

    `start` are widths and prices found for nearly the same. The prices say what a unit of each
    torque's variance is worth. Where the inputs are too coarse for what is allowed, the widths are
    merely fine.
    """
    descent = Descent(model, dict(start[0]) if start else first_widths(model, allowed), allowed)
    prices = start[1] if start else np.full(len(allowed), descent.cost / len(allowed)) / allowed
    best: tuple[float, dict[Knob, int], Floats] | None = None
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
