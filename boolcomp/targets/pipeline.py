"""A network cut into stages, with registers between them: where flip-flops are fewest.

A stage is a run of levels; no stage is deeper than the depth of the network divided by their
number, rounded up. Levels of nodes are chosen first, so that signals live short, then the cuts
between levels by dynamic programming over the signals that cross them; then single nodes move
to other stages where that saves flip-flops. A signal that is read n stages later takes n of them.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from boolcomp.logic.network import CONSTANTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.logic.lutnetwork import Logic

SWEEPS = 40  # over all nodes; usually a handful changes nothing any more


def stages_of(network: Logic, count: int) -> tuple[int, ...]:
    """Return the stage of every node, 0 to `count - 1`; outputs are read after the last."""
    if count < 2 or not network.nodes:
        return (0,) * len(network.nodes)
    books = _readers(network)
    best: tuple[int, list[int]] | None = None
    deepest = -(-network.depth // count)
    for levels in _levellings(books, network.depth):
        stages = books.with_inputs(_by_cuts(books, levels, network.depth, count, deepest))
        refine(books, stages, count, deepest)
        cost = registers(books, stages, count)
        if best is None or cost < best[0]:
            best = cost, stages
    assert best is not None  # noqa: S101 (there are two ways to level)
    return tuple(best[1][books.first :])


def _readers(network: Logic) -> Readers:
    first = CONSTANTS + network.inputs
    operands = [*[()] * first, *(node.operands for node in network.nodes)]
    return Readers(first, operands, network.outputs)


def flip_flops(network: Logic, stages: Sequence[int], count: int) -> int:
    """Return how many flip-flops hold signals between stages, and after the last."""
    books = _readers(network)
    return registers(books, books.with_inputs(stages), count)


class Readers:
    """Who reads a signal; constants are left out, outputs are read by nobody and at the end.

    Signals before `first` are inputs. Of every signal there is a delay, and how many bits it has.
    """

    def __init__(
        self,
        first: int,
        operands: Sequence[Sequence[int]],
        outputs: Iterable[int],
        delays: Sequence[int] | None = None,
        widths: Sequence[int] | None = None,
    ) -> None:
        self.first, self.operands = first, operands
        self.size = len(operands)
        self.delays, self.widths = delays or [1] * self.size, widths or [1] * self.size
        self.users: list[list[int]] = [[] for _ in range(self.size)]
        for signal in range(self.first, self.size):
            for k in self.operands[signal]:
                self.users[k].append(signal)
        self.kept = [False] * self.size
        for signal in outputs:
            self.kept[signal] = signal >= CONSTANTS

    def with_inputs(self, stages: Iterable[int]) -> list[int]:
        """Return stages of all signals: constants and inputs are there at the beginning."""
        return [*[0] * self.first, *stages]

    def last(self, signal: int, places: Sequence[int], end: int) -> int:
        """Return where a signal is read for the last time."""
        if self.kept[signal]:
            return end
        return max((places[k] for k in self.users[signal]), default=places[signal])


def registers(books: Readers, stages: Sequence[int], count: int) -> int:
    """Return how many flip-flops stages of all signals take."""
    return sum(
        (books.last(signal, stages, count) - stages[signal]) * books.widths[signal]
        for signal in range(CONSTANTS, books.size)
    )


def _levellings(books: Readers, depth: int) -> Iterable[list[int]]:
    """Yield ways to level all signals (inputs at 0): as early, or as late as can be, improved."""
    early = [0] * books.size
    for k in range(books.first, books.size):
        early[k] = 1 + max(early[j] for j in books.operands[k])
    late = [0] * books.size
    for k in reversed(range(books.first, books.size)):
        late[k] = min((late[j] for j in books.users[k]), default=depth + 1) - 1
    for levels in (early, late):
        yield _shortened(books, levels, depth)


def _shortened(books: Readers, levels: list[int], depth: int) -> list[int]:
    """Move nodes to where they and their operands live shortest, while that helps."""
    for sweep in range(SWEEPS):
        changed = False
        later = sweep % 2 == 0
        order = range(books.first, books.size)
        for k in reversed(order) if later else order:
            least = 1 + max(levels[j] for j in books.operands[k])
            most = min((levels[j] for j in books.users[k]), default=depth + 1) - 1
            target = most if later else least
            if target != levels[k] and _gain(books, levels, k, target, depth + 1) >= 0:
                levels[k] = target
                changed = True
        if not changed:
            break
    return levels


def _gain(books: Readers, places: list[int], k: int, target: int, end: int) -> int:
    """Return how much less signals live where one node moves."""
    before = places[k]
    gain = (target - before) * books.widths[k]
    for j in books.operands[k]:
        last = books.last(j, places, end)
        places[k] = target
        gain += (last - books.last(j, places, end)) * books.widths[j]
        places[k] = before
    return gain


def _by_cuts(
    books: Readers, levels: Sequence[int], depth: int, count: int, deepest: int
) -> list[int]:
    """Return the stages of nodes, by the cuts between levels that fewest signals cross."""
    crossing = [0] * (depth + 1)
    for signal in range(CONSTANTS, books.size):
        for level in range(levels[signal], books.last(signal, levels, depth + 1)):
            crossing[level] += 1

    @cache
    def cheapest(cuts: int, above: int) -> tuple[int, tuple[int, ...]]:
        """Return the cost of so many cuts below a level, and where they are."""
        if cuts == 0:
            return (0, ()) if above <= deepest else (1 << 60, ())
        found = (1 << 60, (0,) * cuts)
        for cut in range(max(0, above - deepest), above + 1):
            cost, places = cheapest(cuts - 1, cut)
            found = min(found, (cost + crossing[cut], (*places, cut)))
        return found

    _, cuts = cheapest(count - 1, depth)
    return [sum(levels[k] > cut for cut in cuts) for k in range(books.first, books.size)]


def refine(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    """Move nodes to other stages where that takes fewer flip-flops, and no stage gets too deep.

    Later from the last node to the first, earlier the other way round: so the depth that is left
    is known. Moves that cost nothing are made as well; others come of them.
    """
    known = registers(books, stages, count)
    idle = 0
    for sweep in range(SWEEPS):
        (_later if sweep % 2 == 0 else _earlier)(books, stages, count, deepest)
        now = registers(books, stages, count)
        idle = idle + 1 if now == known else 0
        known = now
        if idle == 4:
            break


def _later(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    tails = [0] * books.size
    for k in reversed(range(books.first, books.size)):
        users = books.users[k]
        most = min((stages[j] for j in users), default=count - 1)
        stages[k], tails[k] = _best(
            books, stages, k, range(stages[k], most + 1), tails, users, count, deepest
        )


def _earlier(books: Readers, stages: list[int], count: int, deepest: int) -> None:
    heads = [0] * books.size
    for k in range(books.first, books.size):
        operands = [j for j in books.operands[k] if j >= books.first]
        least = max((stages[j] for j in operands), default=0)
        stages[k], heads[k] = _best(
            books, stages, k, range(stages[k], least - 1, -1), heads, operands, count, deepest
        )


def _best(  # noqa: PLR0917 (the books of a sweep)
    books: Readers, stages: list[int], k: int, choices: Iterable[int], depths: list[int],
    near: Sequence[int], count: int, deepest: int,
) -> tuple[int, int]:  # fmt: skip
    """Return the stage of a node that saves most, the last of equals, and its depth there."""
    found, most = (stages[k], 0), -(1 << 60)
    for stage in choices:
        depth = books.delays[k] + max((depths[j] for j in near if stages[j] == stage), default=0)
        gain = _gain(books, stages, k, stage, count)
        if depth <= deepest and gain >= most:
            found, most = (stage, depth), gain
    return found
