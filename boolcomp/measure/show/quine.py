"""Quine and McCluskey's method, step by step, for functions of few inputs: to be looked at.

Minterms that must be 1, and those that may be, are grouped by how many ones they have. Two that
differ in one place merge, round after round; what never merged is prime. Primes that alone hold a
minterm are essential; of the others as few as can be are added, then such of few literals.

`twolevel/` minimises; this module shows how one would by hand, and is compared with it in tests.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from boolcomp.twolevel.karnaugh import holds

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

MOST_INPUTS = 6


@dataclass(frozen=True, slots=True)
class Row:
    """An implicant such as `01-1`, what it holds, and whether it went into a larger one."""

    cube: str
    minterms: tuple[int, ...]
    merged: bool


@dataclass(frozen=True, slots=True)
class Steps:
    """All that is written down: rounds of merging, primes with what they hold, what is taken.

    `rounds` are lists of groups by weight; `chart` says for every prime which of the minterms that
    must be 1 it holds; `essential` and `cover` are places among the primes.
    """

    inputs: int
    on: tuple[int, ...]
    free: tuple[int, ...]
    rounds: tuple[tuple[tuple[Row, ...], ...], ...]
    primes: tuple[str, ...]
    chart: tuple[tuple[bool, ...], ...]
    essential: tuple[int, ...]
    cover: tuple[int, ...]


def minimised(inputs: int, on: Collection[int], free: Collection[int] = ()) -> Steps:
    """Return the steps for a function that is 1 at `on`, and anything at `free`."""
    if inputs > MOST_INPUTS:
        raise ValueError(f"{inputs} inputs are too many to look at: {MOST_INPUTS} are the most")
    rounds = _merge_rounds(inputs, sorted({*on, *free}))
    primes = tuple(
        row.cube for groups in rounds for group in groups for row in group if not row.merged
    )
    must = tuple(sorted(set(on) - set(free)))
    chart = tuple(tuple(holds(prime, k) for k in must) for prime in primes)
    essential = tuple(
        p
        for p, row in enumerate(chart)
        if any(held and sum(other[c] for other in chart) == 1 for c, held in enumerate(row))
    )
    left = [c for c in range(len(must)) if not any(chart[p][c] for p in essential)]
    rest = _fewest(chart, primes, left)
    cover = tuple(sorted({*essential, *rest}))
    return Steps(inputs, must, tuple(sorted(free)), rounds, primes, chart, essential, cover)


def minterms(cube: str) -> tuple[int, ...]:
    """Return the minterms that a cube holds."""
    choices = ("01" if letter == "-" else letter for letter in cube)
    return tuple(int("".join(digits) or "0", 2) for digits in product(*choices))


def _merge_rounds(inputs: int, every: Sequence[int]) -> tuple[tuple[tuple[Row, ...], ...], ...]:
    found = []
    cubes = [format(k, f"0{inputs}b") if inputs else "" for k in every]
    while cubes:
        merged: set[str] = set()
        larger: list[str] = []
        groups = _by_weight(cubes)
        for weight, group in groups.items():
            for one, other in product(group, groups.get(weight + 1, ())):
                joined = _joined(one, other)
                if joined is not None:
                    merged |= {one, other}
                    larger.append(joined)
        found.append(
            tuple(
                tuple(Row(cube, minterms(cube), cube in merged) for cube in group)
                for group in groups.values()
            )
        )
        cubes = list(dict.fromkeys(larger))
    return tuple(found)


def _by_weight(cubes: Iterable[str]) -> dict[int, list[str]]:
    groups: dict[int, list[str]] = {}
    for cube in sorted(cubes, key=lambda cube: (cube.count("1"), minterms(cube))):
        groups.setdefault(cube.count("1"), []).append(cube)
    return groups


def _joined(one: str, other: str) -> str | None:
    """Return two cubes that differ in one digit as one; None where they do not."""
    apart = [k for k, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
    if len(apart) != 1 or "-" in (one[apart[0]], other[apart[0]]):
        return None
    return f"{one[: apart[0]]}-{one[apart[0] + 1 :]}"


def _fewest(
    chart: Sequence[Sequence[bool]], primes: Sequence[str], left: Sequence[int]
) -> tuple[int, ...]:
    """Return as few primes as hold all these minterms, of as few literals: by branch and bound."""
    held = [sum(1 << c for c in left if row[c]) for row in chart]
    literals = [len(prime) - prime.count("-") for prime in primes]
    takers = {1 << c: [p for p, mask in enumerate(held) if mask >> c & 1] for c in left}
    best: tuple[int, int, tuple[int, ...]] | None = None

    def search(chosen: tuple[int, ...], cost: int, missing: int) -> None:
        nonlocal best
        if best is not None and len(chosen) + _apart(missing, held, takers) > best[0]:
            return
        if not missing:
            found = len(chosen), cost, tuple(sorted(chosen))
            best = found if best is None else min(best, found)
            return
        columns = [bit for bit in takers if bit & missing]
        column = min(columns, key=lambda bit: (len(takers[bit]), bit))
        for p in _undominated(takers[column], held, literals, missing):
            search((*chosen, p), cost + literals[p], missing & ~held[p])

    search((), 0, sum(takers))
    return best[2] if best else ()


def _apart(missing: int, held: Sequence[int], takers: Mapping[int, Sequence[int]]) -> int:
    """Return how many minterms of which no prime holds two: so many primes are needed."""
    count = 0
    for bit in sorted(takers, key=lambda bit: len(takers[bit])):
        if bit & missing:
            count += 1
            for p in takers[bit]:
                missing &= ~held[p]
    return count


def _undominated(
    takers: Sequence[int], held: Sequence[int], literals: Sequence[int], missing: int
) -> list[int]:
    """Return those of which no other holds as much of what is missing for as few literals."""

    def worse(p: int, q: int) -> bool:
        mine, other = held[p] & missing, held[q] & missing
        if mine & ~other or literals[q] > literals[p]:
            return False
        return mine != other or literals[q] < literals[p] or q < p

    kept = [p for p in takers if not any(worse(p, q) for q in takers if q != p)]
    return sorted(kept, key=lambda p: (-(held[p] & missing).bit_count(), literals[p], p))
