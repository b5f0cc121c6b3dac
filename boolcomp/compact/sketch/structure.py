"""What the roots of a calculation are made of: sums of products of other roots, and of functions.

A root that is a step of its own is a word, a sum of products; a function of a root is a table of
it, however many steps it takes; what is linear in a root is no table but an addend.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from boolcomp.compact.sketch.roots import Known, Rooted, Turned, dependences, reached

if TYPE_CHECKING:
    from boolcomp.compact.sketch.roots import Root
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.problem import Problem


@dataclass(frozen=True, slots=True)
class Mixed:
    """Σ coefficient · step over functions of one root: one table."""

    parts: tuple[tuple[float, int], ...]


Factor: TypeAlias = "int | Mixed"  # a root by its place, or a function of one
Monomials: TypeAlias = "dict[tuple[Factor, ...], float]"  # coefficients of products; () a number


class Structure:
    """What every root that is no input is made of, as sums of products of others."""

    def __init__(self, problem: Problem, steps: Straight) -> None:
        self.problem, self.steps = problem, steps
        self.roots = dependences(problem, steps)
        self.low, self.high = reached(problem, steps)
        self.sums: dict[int, Monomials] = {}
        self.outputs = [self._expanded(one.node) for one in steps.outputs]
        self._require([factor for sums in self.outputs for factor in sums])
        self._join()

    def root(self, factor: Factor) -> Root:
        """Return the root of a factor."""
        place = factor if isinstance(factor, int) else factor.parts[0][1]
        found = self.roots[place]
        if not isinstance(found, Rooted):
            raise TypeError(f"step {place} has no root")
        return found.root

    def is_input(self, place: int) -> bool:
        """Tell whether a root is an input."""
        return self.steps.nodes[place].kind == "input"

    def users(self) -> dict[int, list[tuple[int | None, tuple[Factor, ...]]]]:
        """Return, for every root, the products that read it (None: as the root of a table)."""
        found: dict[int, list[tuple[int | None, tuple[Factor, ...]]]] = defaultdict(list)
        for owner, sums in [*((-1 - k, s) for k, s in enumerate(self.outputs)), *self.sums.items()]:
            for factors in sums:
                for factor in factors:
                    if isinstance(factor, int):
                        found[factor].append((owner, factors))
                    else:
                        root = self.root(factor)
                        if isinstance(root, int):
                            found[root].append((None, factors))
        return found

    def _require(self, waiting: list[tuple[Factor, ...]]) -> None:
        """Expand every root that products read, and those that these read."""
        places = [self.root(f) for factors in waiting for f in factors]
        while places:
            place = places.pop()
            if not isinstance(place, int) or self.is_input(place) or place in self.sums:
                continue
            self.sums[place] = self._made(place)
            places += [self.root(f) for factors in self.sums[place] for f in factors]

    def _expanded(self, place: int) -> Monomials:
        """Return a step over roots and functions of them."""
        found = self.roots[place]
        if isinstance(found, Known):
            return {(): found.value} if found.value else {}
        if isinstance(found, Turned):
            raise TypeError(f"step {place} is an angle")
        if found.affine is not None and isinstance(found.root, int):
            slope, offset = found.affine
            sums: Monomials = {(found.root,): slope}
            return sums | {(): offset} if offset else sums
        return {(Mixed(((1.0, place),)),): 1.0}

    def _made(self, place: int) -> Monomials:
        """Return what a root that is no input is made of."""
        step = self.steps.nodes[place]
        one, other = (self._expanded(k) for k in step.operands)
        if step.kind == "mul":
            found: Monomials = {}
            for a, x in one.items():
                for b, y in other.items():
                    _add(found, self._grouped((*a, *b)), x * y)
            return found
        if step.kind not in ("add", "sub"):
            raise TypeError(f"step {place} reads several words: {step}")
        found = dict(one)
        for b, y in other.items():
            _add(found, b, y if step.kind == "add" else -y)
        return found

    def _grouped(self, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        return tuple(sorted(factors, key=_rank))

    def _join(self) -> None:
        """Put sums that are read once, and only as an addend, into those that read them."""
        users = self.users()
        once = {
            place
            for place, products in users.items()
            if place in self.sums and [(len(f), o is None) for o, f in products] == [(1, False)]
        }
        for sums in [*self.outputs, *self.sums.values()]:
            while inner := [place for place in once if (place,) in sums]:
                for place in sorted(inner):
                    coefficient = sums.pop((place,))
                    for factors, value in self.sums[place].items():
                        _add(sums, factors, coefficient * value)
        for place in once:
            del self.sums[place]
        for sums in [*self.outputs, *self.sums.values()]:
            self._mix(sums)

    def _mix(self, sums: Monomials) -> None:
        """Make one table of addends that are functions of one root, times the same factor."""
        groups: dict[
            tuple[Root, tuple[Factor, ...]], list[tuple[Mixed, float, tuple[Factor, ...]]]
        ] = defaultdict(list)
        for factors, coefficient in sums.items():
            tables = [f for f in factors if isinstance(f, Mixed)]
            if len(tables) == 1 and len(factors) <= 2:
                rest = tuple(f for f in factors if f is not tables[0])
                key = (self.root(tables[0]), rest)
                groups[key].append((tables[0], coefficient, factors))
        for (_, rest), found in groups.items():
            if len(found) < 2:
                continue
            parts: dict[int, float] = {}
            for table, coefficient, factors in found:
                del sums[factors]
                for value, place in table.parts:
                    parts[place] = parts.get(place, 0.0) + coefficient * value
            mixed = Mixed(tuple((value, place) for place, value in sorted(parts.items()) if value))
            if mixed.parts:
                _add(sums, self._grouped((mixed, *rest)), 1.0)


def _add(sums: Monomials, factors: tuple[Factor, ...], value: float) -> None:
    total = sums.get(factors, 0.0) + value
    if total:
        sums[factors] = total
    else:
        sums.pop(factors, None)


def _rank(factor: Factor) -> tuple[int, tuple[tuple[float, int], ...]]:
    return (factor, ()) if isinstance(factor, int) else (-1, factor.parts)
