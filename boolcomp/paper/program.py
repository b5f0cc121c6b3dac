"""Covers as networks of AND and OR: shared products, shared sub-cubes, sums factored.

Every product is cut in two at one input: into a left and a right sub-cube. Different products
share these, so each different sub-cube is made once (and is itself cut in two, down to three
literals). An output is then a sum of pairs, left & right. Pairs with a common half are gathered,
largest groups first, and the group costs one node: `sum | half & (other halves)`.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.logic import luts
from boolcomp.logic.network import FALSE, TRUE, Builder
from boolcomp.logic.order import in_order, most_live
from boolcomp.twolevel.cubes import unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.logic.network import Network
    from boolcomp.twolevel.cubes import Cubes

FREE = 2  # a digit of a cube: 0 and 1 are literals

MOST_DIGITS = 39  # of base 3 in 63 bits

Pairs = set[tuple[int, int]]
Groups = list[tuple[int, list[int]]]


def network_of_cover(cubes: Cubes) -> Network:
    """Return a network of AND, OR and inverted inputs that is the cover, output for output.

    Of the places to cut, a few are tried, then the neighbours of the best while that helps.
    """
    cubes = cubes.valid()
    zero, one = unpack(cubes.zero, cubes.inputs), unpack(cubes.one, cubes.inputs)
    digits = np.where(zero & one, FREE, one).astype(np.uint8)
    owners = unpack(cubes.out, cubes.outputs)
    tried: dict[int, Network] = {}

    def cost(cut: int) -> tuple[int, int]:
        if cut not in tried:
            tried[cut] = _network_at(digits, owners, cut)
        # A value that has no register is written to memory and read again.
        return len(tried[cut].nodes) + most_live(tried[cut]), cut

    best = min({cubes.inputs * k // 4 for k in (1, 2, 3)}, key=cost)
    while True:
        near = min((k for k in (best - 1, best, best + 1) if 0 <= k <= cubes.inputs), key=cost)
        if near == best:
            return tried[best]
        best = near


def _network_at(digits: NDArray[np.uint8], owners: NDArray[np.bool_], cut: int) -> Network:
    """Return the network of a cover, its products cut before an input."""
    builder = Builder(digits.shape[1])
    left = _sub_cubes(builder, digits[:, :cut], 0)
    right = _sub_cubes(builder, digits[:, cut:], cut)
    sums = []
    for owned in owners.T:
        pairs = set(zip(left[owned].tolist(), right[owned].tolist(), strict=True))
        sums.append(_groups(pairs))
    return in_order(builder.build(_Sums(builder, sums).outputs()))


def _keys(digits: NDArray[np.uint8]) -> NDArray[Any]:
    """Return one comparable key a row."""
    width = digits.shape[1]
    if width > MOST_DIGITS:
        return np.unique(digits, axis=0, return_inverse=True)[1].reshape(-1)
    weights = 3 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return np.asarray(digits @ weights)


def _sub_cubes(builder: Builder, digits: NDArray[np.uint8], first: int) -> NDArray[np.int64]:
    """Return the literal of every row's cube over the inputs from `first` on."""
    _, places, back = np.unique(_keys(digits), return_index=True, return_inverse=True)
    rows = digits[places]
    width = rows.shape[1]
    if width <= 3:
        made = [
            builder.all_of(
                builder.input(first + k) ^ int(digit == 0)
                for k, digit in enumerate(row)
                if digit != FREE
            )
            for row in rows
        ]
    else:
        cut = width // 2
        left = _sub_cubes(builder, rows[:, :cut], first)
        right = _sub_cubes(builder, rows[:, cut:], first + cut)
        made = [
            builder.node(luts.AND2, a, b)
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
    return np.array(made, np.int64).reshape(len(rows))[back.reshape(-1)]


def _groups(pairs: Pairs) -> Groups:
    """Gather pairs by a common half: (half, the other halves), the largest group first."""
    lists: tuple[dict[int, set[int]], dict[int, set[int]]] = (defaultdict(set), defaultdict(set))
    for a, b in pairs:
        lists[0][a].add(b)
        lists[1][b].add(a)
    heap = [(-len(others), side, half) for side in (0, 1) for half, others in lists[side].items()]
    heapq.heapify(heap)
    groups = []
    while heap:
        size, side, half = heapq.heappop(heap)
        others = lists[side][half]
        if not others:
            continue
        if len(others) < -size:  # it has shrunk since
            heapq.heappush(heap, (-len(others), side, half))
            continue
        groups.append((half, sorted(others)))
        for other in others:
            lists[1 - side][other].discard(half)
        lists[side][half] = set()
    return groups


class _Sums:
    """Adds up the groups of all outputs; parts of sums that several outputs share are made once.

    A sub-cube that is used nowhere but in one sum is not made: its two parts enter the sum in one
    node, `sum | part & part`.
    """

    def __init__(self, builder: Builder, sums: list[Groups]) -> None:
        self.builder = builder
        self.sums = sums
        owners: dict[tuple[int, int], list[int]] = defaultdict(list)
        for output, groups in enumerate(sums):
            for half, others in groups:
                for other in others:
                    owners[half, other].append(output)
        self.classes: dict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
        for (half, other), members in owners.items():
            self.classes[half, tuple(members)].append(other)
        self.of_half: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for half, outputs in self.classes:
            self.of_half[half].append(outputs)
        self.uses = builder.uses()
        for others in self.classes.values():
            self.uses.update(others)
        for groups in sums:
            self.uses.update(half for half, _ in groups)

    def outputs(self) -> list[int]:
        """Return the literal of every output."""
        return [self._output(output, groups) for output, groups in enumerate(self.sums)]

    def _output(self, output: int, groups: Groups) -> int:
        total = 2 * FALSE
        plain = []
        for half, _ in groups:
            rest = self._rest(half, output)
            if half == 2 * TRUE:
                plain.append(rest)
            else:
                total = self.builder.node(luts.AND_OR, total, half, rest)
        return self.builder.any_of([*plain, total])

    def _rest(self, half: int, output: int) -> int:
        """Return the sum of what is multiplied with a half in an output."""
        mine: list[int] = []
        for outputs in self.of_half[half]:
            if output in outputs:
                items = self.classes[half, outputs]
                shared = len(outputs) > 1 and len(items) > 1
                mine += [self._any(items)] if shared else items
        return self._any(mine)

    def _any(self, items: list[int]) -> int:
        """Return the OR of literals, those of single-use products from their two parts."""
        pairs = []
        whole = []
        for item in items:
            parts = self.builder.product(item) if self.uses[item] == 1 else None
            if parts is None:
                whole.append(item)
            else:
                pairs.append(parts)
        total = self.builder.any_of(whole)
        for a, b in pairs:
            total = self.builder.node(luts.AND_OR, total, a, b)
        return total
