"""The largest sum of tables that share inputs, by bucket elimination.

    max over x of Σ F(x_F)

One input after the other is taken out: the tables that have it are added up over all their inputs,
and of the sum the largest over that one stays. Where a sum would be larger than allowed the
tables are split over several (mini-buckets, R. Dechter and I. Rish): each then takes its own worst,
so that what comes out is never too small. What is done follows from sizes alone, and so does what
it costs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.proof.tabled.places import Whole

    Scope = tuple[str, ...]
    Table = tuple[Scope, Whole]

NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Step:
    """Tables, by place, are added up, and `name` is taken out of the sum, which is put last."""

    name: str
    tables: tuple[int, ...]
    scope: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """All steps, how many numbers they look at, and how often a bucket had to be split."""

    steps: tuple[Step, ...]
    cost: int
    splits: int


def order_of(scopes: Sequence[Scope], sizes: Mapping[str, int], most: int) -> Order:
    """Return in which order names are taken out: those first whose sums are smallest."""
    alive: dict[int, frozenset[str]] = {k: frozenset(one) for k, one in enumerate(scopes)}
    steps: list[Step] = []
    cost = splits = 0
    left = sorted({name for one in scopes for name in one})
    while left:
        name = min(left, key=lambda one: (_size(_union(alive, one), sizes), one))
        left.remove(name)
        bucket = sorted(
            (k for k, one in alive.items() if name in one),
            key=lambda k: (-_size(alive[k], sizes), k),
        )
        parts = _mini_buckets(bucket, alive, sizes, most)
        splits += len(parts) - 1
        for part in parts:
            union = NOTHING.union(*(alive.pop(k) for k in part))
            cost += _size(union, sizes) * len(part)
            place = len(scopes) + len(steps)
            steps.append(Step(name, tuple(part), tuple(sorted(union))))
            alive[place] = union - {name}
    return Order(tuple(steps), cost, splits)


def _union(alive: Mapping[int, frozenset[str]], name: str) -> frozenset[str]:
    return NOTHING.union(*(one for one in alive.values() if name in one))


def _size(scope: frozenset[str], sizes: Mapping[str, int]) -> int:
    return math.prod(sizes[name] for name in scope)


def _mini_buckets(
    bucket: Sequence[int],
    alive: Mapping[int, frozenset[str]],
    sizes: Mapping[str, int],
    most: int,
) -> list[list[int]]:
    """Deal out tables, the largest first, to the first sum that does not grow too large."""
    parts: list[list[int]] = []
    unions: list[frozenset[str]] = []
    for place in bucket:
        for k, union in enumerate(unions):
            if _size(union | alive[place], sizes) <= most:
                parts[k].append(place)
                unions[k] = union | alive[place]
                break
        else:
            parts.append([place])
            unions.append(alive[place])
    return parts


def largest(tables: Sequence[Table], order: Order) -> int:
    """Return what no sum exceeds."""
    made: dict[int, Table] = dict(enumerate(tables))
    for place, step in enumerate(order.steps, len(tables)):
        total: Whole | None = None
        for one in step.tables:
            aligned = _aligned(made.pop(one), step.scope)
            total = aligned if total is None else total + aligned
        if total is None:
            raise ValueError("a step of nothing")
        scope = tuple(name for name in step.scope if name != step.name)
        made[place] = scope, np.asarray(total.max(axis=step.scope.index(step.name)))
    return sum(int(values.reshape(())) for _, values in made.values())


def _aligned(table: Table, scope: Scope) -> Whole:
    """Return a table with an axis for every name of a scope, of one place where it has none."""
    names, values = table
    order = [names.index(name) for name in scope if name in names]
    shape = [values.shape[names.index(name)] if name in names else 1 for name in scope]
    return np.asarray(values.transpose(order).reshape(shape))
