"""Networks of any size, improved window by window.

A window is a set of nodes with few leaves (the signals it reads from outside). It is a small
multi-output table, so `resub` may rebuild it completely; every rebuilt window is compared with the
old one at all values of its leaves, so the whole stays equivalent by construction.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from boolcomp.logic import simulation
from boolcomp.logic.formats import clean
from boolcomp.logic.network import CONSTANTS, Builder, Network
from boolcomp.logic.synthesis.builtin.resub import LevelLimits, resubstitute

if TYPE_CHECKING:
    from boolcomp.twolevel.clock import Clock

LEAVES = 10
MOST_SIZE = 120  # nodes of a window
MOST_TRACED = 2000  # steps to find out whether a leaf depends on the window


def improve_windows(
    network: Network,
    clock: Clock,
    *,
    leaves: int = LEAVES,
    sweeps: int = 40,
    seed: int = 1,
    keep_depth: bool = True,
) -> Network:
    """Return an equivalent network of no more nodes, after one pass of windows over all nodes.

    With `keep_depth` no output gets deeper than the network was. Ends early with the clock.
    """
    network = clean(network)
    if clock.over:
        return network
    work = _WindowWork(network, keep_depth=keep_depth)
    roots = range(work.first, work.first + len(network.nodes))
    for root in roots if seed % 2 else reversed(roots):
        if clock.over:
            break
        if not work.visited[root] and work.fans.get(root):
            work.improve(root, leaves, sweeps, seed + root, clock)
    made = work.network()
    return made if len(made.nodes) <= len(network.nodes) else network


class _WindowWork:
    """A network that changes: operands and table of every living node, and who reads it."""

    def __init__(self, network: Network, *, keep_depth: bool) -> None:
        self.inputs = network.inputs
        self.first = CONSTANTS + network.inputs
        self.fans = {s: node.operands for s, node in enumerate(network.nodes, self.first)}
        self.luts = {s: node.lut for s, node in enumerate(network.nodes, self.first)}
        self.outputs = list(network.outputs)
        self.readers: dict[int, set[int]] = {}
        for s, operands in self.fans.items():
            for k in operands:
                self.readers.setdefault(k, set()).add(s)
        self.visited = [False] * (self.first + len(network.nodes))
        self.last = self.first + len(network.nodes)
        self.keep_depth = keep_depth
        self.most = network.depth
        self._times()

    def _times(self) -> None:
        """Compute every signal's level, and the latest it may have."""
        order = self._order()
        self.level = dict.fromkeys(range(self.first), 0)
        for s in order:
            self.level[s] = 1 + max(self.level[k] for k in self.fans[s])
        self.latest = dict.fromkeys(order, self.most)
        for s in reversed(order):
            for k in self.fans[s]:
                self.latest[k] = min(self.latest.get(k, self.most), self.latest[s] - 1)

    def _order(self) -> list[int]:
        """Return the living nodes, operands first."""
        done: set[int] = set()
        order: list[int] = []
        for root in self.outputs:
            stack = [root]
            while stack:
                s = stack[-1]
                waiting = [k for k in self.fans.get(s, ()) if k >= self.first and k not in done]
                if waiting and s not in done:
                    stack += waiting
                    continue
                stack.pop()
                if s >= self.first and s not in done:
                    done.add(s)
                    order.append(s)
        return order

    def network(self) -> Network:
        """Return the network as it now is."""
        builder = Builder(self.inputs)
        literals = {s: 2 * s for s in range(self.first)}
        for s in self._order():
            literals[s] = builder.node(self.luts[s], *(literals[k] for k in self.fans[s]))
        return builder.build(literals[s] for s in self.outputs)

    def improve(self, root: int, leaves: int, sweeps: int, seed: int, clock: Clock) -> None:
        """Rebuild the window below a node where that saves nodes."""
        inside, edge = self._window(root, leaves)
        if len(inside) < 3 or self._loops(inside, edge):
            return
        roots = [s for s in inside if s in self.outputs or self.readers.get(s, set()) - set(inside)]
        old = self._cut(inside, edge, roots)
        timing = None
        if self.keep_depth:
            arrive = tuple(self.level[s] for s in edge)
            timing = LevelLimits(arrive, tuple(self.latest[s] for s in roots))
        new = resubstitute(
            old, clock, sweeps=sweeps, stale=max(3, sweeps // 4), seed=seed, timing=timing
        )
        if simulation.truth_planes(old) != simulation.truth_planes(new):
            return
        for s in inside:
            if s < len(self.visited):
                self.visited[s] = True
        if len(new.nodes) <= len(inside) and new != old:
            self._replace(inside, edge, roots, new)

    def _window(self, root: int, most: int) -> tuple[list[int], list[int]]:
        """Grow a window from a node: below it while the leaves stay few, then beside it."""
        inside = {root}
        edge = set(self.fans[root])
        while len(inside) < MOST_SIZE:
            below = [s for s in sorted(edge) if s >= self.first]
            grown = [(len(edge | set(self.fans[s])) - 1, -s) for s in below]
            if not grown or min(grown)[0] > most:
                break
            chosen = -min(grown)[1]
            inside.add(chosen)
            edge = (edge | set(self.fans[chosen])) - {chosen} - inside
        known = inside | edge
        beside = sorted({r for s in known for r in self.readers.get(s, ())} - known)
        for s in beside:
            if len(inside) < MOST_SIZE and set(self.fans[s]) <= known:
                inside.add(s)
        by_level = sorted(inside, key=lambda s: (self.level[s], s))
        return by_level, sorted(edge)

    def _loops(self, inside: list[int], edge: list[int]) -> bool:
        """Tell whether a leaf may depend on the window: then rebuilding could close a loop."""
        members = set(inside)
        lowest = min(self.level[s] for s in inside)
        stack = [s for s in edge if self.level[s] > lowest]
        seen = set(stack)
        while stack:
            s = stack.pop()
            for k in self.fans.get(s, ()):
                if k in members or len(seen) > MOST_TRACED:
                    return True
                if k not in seen and self.level[k] > lowest:
                    seen.add(k)
                    stack.append(k)
        return False

    def _cut(self, inside: list[int], edge: list[int], roots: list[int]) -> Network:
        """Return a window as a network of its own."""
        builder = Builder(len(edge))
        literals = {s: builder.input(place) for place, s in enumerate(edge)}
        for s in inside:
            literals[s] = builder.node(self.luts[s], *(literals[k] for k in self.fans[s]))
        return builder.build(literals[s] for s in roots)

    def _replace(self, inside: list[int], edge: list[int], roots: list[int], new: Network) -> None:
        """Put a network in the place of a window."""
        for s in inside:
            for k in self.fans.pop(s):
                self.readers[k].discard(s)
        names = [0, 1, *edge]
        start = self.last
        for lut, operands in new.nodes:
            self._add(self.last, lut, tuple(names[k] for k in operands))
            names.append(self.last)
            self.last += 1
        for s, signal in zip(roots, new.outputs, strict=True):
            self._rename(s, names[signal])
        self._drop_unread(edge)
        made = list(range(start, self.last))
        heads = {names[signal] for signal in new.outputs}
        after = sorted({r for s in heads for r in self.readers.get(s, ())} - set(made))
        self._settle_levels([*made, *after])
        self._settle_latest([*reversed(made), *edge])

    def _settle_levels(self, signals: list[int]) -> None:
        """Compute the levels of signals, and of what reads them where they changed."""
        work = deque(signals)
        while work:
            s = work.popleft()
            if s in self.fans:
                level = 1 + max(self.level[k] for k in self.fans[s])
                if self.level.get(s) != level:
                    self.level[s] = level
                    work.extend(sorted(self.readers.get(s, ())))

    def _settle_latest(self, signals: list[int]) -> None:
        """Compute the latest levels of signals, and of what they read where they changed."""
        work = deque(signals)
        while work:
            s = work.popleft()
            if s in self.fans:
                latest = min((self.latest[r] - 1 for r in self.readers.get(s, ())), default=1 << 30)
                if s in self.outputs:
                    latest = min(latest, self.most)
                if self.latest.get(s) != latest:
                    self.latest[s] = latest
                    work.extend(self.fans[s])

    def _drop_unread(self, signals: list[int]) -> None:
        """Take out nodes that nothing reads any more, and what only they read."""
        stack = [s for s in signals if s in self.fans]
        while stack:
            s = stack.pop()
            if s in self.fans and not self.readers.get(s) and s not in self.outputs:
                for k in self.fans.pop(s):
                    self.readers[k].discard(s)
                    stack.append(k)

    def _add(self, s: int, lut: int, operands: tuple[int, ...]) -> None:
        self.fans[s], self.luts[s] = operands, lut
        for k in operands:
            self.readers.setdefault(k, set()).add(s)

    def _rename(self, old: int, new: int) -> None:
        """Let all that reads a signal read another."""
        for s in sorted(self.readers.pop(old, set())):
            if s in self.fans:
                self.fans[s] = tuple(new if k == old else k for k in self.fans[s])
                self.readers.setdefault(new, set()).add(s)
        self.outputs = [new if s == old else s for s in self.outputs]
