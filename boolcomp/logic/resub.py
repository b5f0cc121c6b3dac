"""Fewer nodes by resubstitution, fewer levels by bypasses, and windows for networks of any size.

A window is a set of nodes with few leaves (the signals it reads from outside): a small table with
several outputs, which resubstitution may rebuild completely. Every rebuilt window is compared with
the old one at all values of its leaves, so the network stays equivalent.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.logic import network as luts
from boolcomp.logic import simulation
from boolcomp.logic.formats import clean
from boolcomp.logic.network import CONSTANTS, FALSE, MUX, TRUE, Builder, Network, rebuilt
from boolcomp.logic.resub_kernels import (
    COUNT,
    FIRST,
    PAIRS,
    SECOND,
    SERVED,
    TABLE,
    THIRD,
    Graph,
    Hunt,
    draw,
    evaluate_after,
    find_care,
    release,
    search,
    set_levels,
    sort_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.logic.simulation import TruthTable
    from boolcomp.twolevel.cubes import Clock

    Numbers = NDArray[np.int64]

# --------------------------------------------------------------------------------------------------
# Fewer nodes by exact resubstitution. A node matters only at its care points, where an output
# depends on it; complete truth tables give them exactly. Any three earlier signals that separate
# its ones from its zeros at these points can replace its operands. A replacement that saves no
# node is accepted at random, to leave local minima. Pairs of points reject most candidates; a
# candidate that fails on the whole table adds the pair that refutes it.
#
# After Mishchenko et al. 2011, "Scalable don't-care-based logic optimization and resynthesis", but
# with complete don't-cares.
# --------------------------------------------------------------------------------------------------

MOST_INPUTS = 12
MOST_NODES = 2000
MOST_WORDS = 40_000  # of all planes: a sweep takes seconds


@dataclass(frozen=True, slots=True)
class LevelLimits:
    """The levels of the inputs, and the latest level allowed for every output."""

    arrive: tuple[int, ...]
    latest: tuple[int, ...]

    @classmethod
    def of_depth(cls, network: Network, limit: int | None) -> LevelLimits:
        """Allow all outputs the same depth (None: any), at least that of the network."""
        latest = 1 << 30 if limit is None else max(limit, network.depth)
        return cls((0,) * network.inputs, (latest,) * len(network.outputs))


def fits(network: Network) -> bool:
    """Tell whether a network is small enough for complete truth tables of all nodes."""
    words = len(network.nodes) << max(0, network.inputs - 6)
    small = network.inputs <= MOST_INPUTS and len(network.nodes) <= MOST_NODES
    return small and words <= MOST_WORDS


def resubstitute(
    network: Network,
    clock: Clock,
    *,
    table: TruthTable | None = None,
    sweeps: int = 100,
    stale: int = 12,
    seed: int = 1,
    timing: LevelLimits | None = None,
) -> Network:
    """Return a network of no more nodes that agrees with `table`, or with the given network.

    Ends after `sweeps` sweeps, after `stale` successive sweeps without a gain, or with the clock.
    Outputs keep the levels of `timing`, which the given network must keep. The result is
    deterministic for a seed unless the clock ends it.
    """
    network = clean(network)
    if not network.nodes or not fits(network) or clock.over:
        return network
    care = _care(network, table)
    graph = _graph(network, care, timing or LevelLimits.of_depth(network, None), seed)
    hunt = _hunt(graph)
    left = stale
    while sweeps and left and not clock.over:
        left = stale if sweep(graph, hunt) > 0 else left - 1
        sweeps -= 1
    found = _network(graph, network.inputs)
    return found if len(found.nodes) <= len(network.nodes) else network


def _care(network: Network, table: TruthTable | None) -> list[int]:
    everything = simulation.ones(network.inputs)
    if table is None or not table.free:
        return [everything] * len(network.outputs)
    return [everything & ~simulation.plane_of(column) for column in table.free]


def arrays_of(network: Network) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return operands (0 if unused), tables and users of all signals, and the outputs."""
    first = CONSTANTS + network.inputs
    signals = first + len(network.nodes)
    fan, lut = np.zeros((signals, 3), np.int64), np.zeros(signals, np.int64)
    for s, node in enumerate(network.nodes, first):
        fan[s, : len(node.operands)] = node.operands
        lut[s] = node.lut
    refs, outs = np.zeros(signals, np.int64), np.array(network.outputs, np.int64)
    np.add.at(refs, fan[first:].ravel(), 1)
    np.add.at(refs, outs, 1)
    return fan, lut, refs, outs


def _graph(network: Network, care: Sequence[int], timing: LevelLimits, seed: int) -> Graph:
    fan, lut, refs, outs = arrays_of(network)
    signals = len(lut)
    everything = simulation.ones(network.inputs)
    algebra = simulation.Planes(everything)
    values = [0, everything, *simulation.input_planes(network.inputs)]
    for node in network.nodes:
        values.append(algebra.node(node.lut, tuple(values[k] for k in node.operands)))
    planes = _words(values, network.inputs)
    return Graph(
        fan, lut, planes, refs, outs,
        care=_words(care, network.inputs),
        arrive=np.array([0] * CONSTANTS + list(timing.arrive), np.int64),
        latest=np.array(timing.latest, np.int64),
        state=np.array([2 * seed + 1], np.uint64),
        order=np.zeros(signals, np.int64),
        stack=np.zeros(4 * signals + 4, np.int64),
        level=np.zeros(signals, np.int64),
        required=np.zeros(signals, np.int64),
        after=np.zeros(signals, np.uint8),
        flipped=np.zeros_like(planes),
        seen=np.zeros(planes.shape[1], np.uint64),
    )  # fmt: skip


def _hunt(graph: Graph) -> Hunt:
    """Return the arrays of a search for operands."""
    signals, words = graph.planes.shape
    width = -(-signals // 64)
    return Hunt(
        candidates=np.zeros(signals, np.int64),
        points=np.zeros((PAIRS, 2), np.int64),
        vectors=np.zeros((signals, PAIRS // 64), np.uint64),
        owners=np.zeros((PAIRS, width), np.uint64),
        all_pairs=np.zeros(PAIRS // 64, np.uint64),
        left=np.zeros(PAIRS // 64, np.uint64),
        rest=np.zeros(PAIRS // 64, np.uint64),
        chosen=np.zeros(width, np.uint64),
        met=np.zeros(width, np.uint64),
        high=np.zeros(words, np.uint64),
        low=np.zeros(words, np.uint64),
        best=np.zeros(11, np.int64),
    )


def _network(graph: Graph, inputs: int) -> Network:
    order = graph.order[: sort_nodes(graph)].tolist()
    nodes = ((s, int(graph.lut[s]) & luts.ALL, graph.fan[s].tolist()) for s in order)
    return rebuilt(inputs, nodes, graph.outs.tolist())


def _words(planes: Sequence[int], inputs: int) -> NDArray[np.uint64]:
    size = max(8, (1 << inputs) // 8)
    data = b"".join(plane.to_bytes(size, "little") for plane in planes)
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(len(planes), size // 8)


# --------------------------------------------------------------------------------------------------
# One sweep over all nodes, compiled.
# --------------------------------------------------------------------------------------------------

# mypy: disable-error-code="untyped-decorator"

_NOT = 0x0F  # of the first operand
_AT_ONE = 0x10  # the row of a table with the first operand 1 and the others 0


@njit(cache=True)
def _rewire(g: Any, v: Any, a: Any, b: Any, c: Any, table: Any) -> None:
    g.refs[a] += 1
    g.refs[b] += 1
    g.refs[c] += 1
    release(g.fan, g.refs, g.stack, len(g.arrive), v)
    g.fan[v, 0], g.fan[v, 1], g.fan[v, 2] = a, b, c
    g.lut[v] = table


@njit(cache=True)
def _invert_operand(g: Any, s: Any, k: Any) -> None:
    """Change a node's table for the inverse of operand k."""
    shift, high = 4 >> k, (0xF0, 0xCC, 0xAA)[k]
    g.lut[s] = (g.lut[s] & high) >> shift | (g.lut[s] & ~high & 0xFF) << shift


@njit(cache=True)
def _substitute(g: Any, v: Any, by: Any, inverse: Any, count: Any) -> None:
    """Replace v by `by` or its inverse in all users; v remains only for inverted outputs."""
    for t in range(count):
        s = g.order[t]
        for k in range(3):
            if s != v and g.fan[s, k] == v:
                g.fan[s, k] = by
                g.refs[by] += 1
                g.refs[v] -= 1
                if inverse:
                    _invert_operand(g, s, k)
    for j in range(len(g.outs)):
        if g.outs[j] == v and (not inverse or by == 0):
            g.outs[j] = 1 if inverse else by
            g.refs[g.outs[j]] += 1
            g.refs[v] -= 1
    if g.refs[v] == 0:
        release(g.fan, g.refs, g.stack, len(g.arrive), v)
        g.fan[v, :] = 0
    else:
        _rewire(g, v, by, 0, 0, _NOT)


@njit(cache=True)
def _collect(g: Any, h: Any, v: Any) -> None:
    """List candidates for operands of v in random order: living, independent of v, early enough."""
    refs, after, level, state, candidates = g.refs, g.after, g.level, g.state, h.candidates
    first, latest = len(g.arrive), g.required[v]
    count = 0
    for s in range(2, len(refs)):
        if (s < first or refs[s] > 0) and not after[s] and level[s] < latest:
            other = draw(state, count + 1)
            candidates[count] = candidates[other]
            candidates[other] = s
            count += 1
    h.vectors[:] = 0
    h.owners[:] = 0
    h.all_pairs[:] = 0
    h.best[:] = 0
    h.best[COUNT] = count


@njit(cache=True)
def _split(g: Any, h: Any, v: Any) -> Any:
    """Set the points where v must be 1 and 0; return 0 or 1 if v may be constant, else -1."""
    seen, planes, high, low = g.seen, g.planes, h.high, h.low
    any_high = any_low = False
    for w in range(len(seen)):
        high[w], low[w] = seen[w] & planes[v, w], seen[w] & ~planes[v, w]
        any_high |= high[w] != 0
        any_low |= low[w] != 0
    if not any_high:
        return 0
    return -1 if any_low else 1


@njit(cache=True)
def _improve(g: Any, h: Any, v: Any, count: Any) -> Any:
    """Change v if that costs no node; return whether it was changed."""
    constant = _split(g, h, v)
    if constant >= 0:
        _substitute(g, v, 0, constant == 1, count)
        return True
    _collect(g, h, v)
    if h.best[COUNT] == 0:
        return False
    search(g, h, v)
    if h.best[SERVED] == 0:
        return False
    a, b, c, table = h.best[FIRST], h.best[SECOND], h.best[THIRD], h.best[TABLE]
    if b == 0 and c == 0:
        _substitute(g, v, a, table & _AT_ONE == 0, count)
    else:
        _rewire(g, v, a, b, c, table)
    return True


@njit(cache=True)
def sweep(g: Any, h: Any) -> Any:
    """Replace the operands of every node once if that costs nothing; return the nodes saved.

    The planes of all living nodes are valid before and after; outputs keep their latest levels.
    """
    count = before = sort_nodes(g)
    turns = g.order[:count].copy()
    for t in range(count - 1, 0, -1):
        other = draw(g.state, t + 1)
        turns[t], turns[other] = turns[other], turns[t]
    for v in turns:
        if g.refs[v] <= 0:
            continue
        set_levels(g, count)
        find_care(g, v, count)
        if not _improve(g, h, v, count):
            continue
        count = sort_nodes(g)
        evaluate_after(g, count)
    return before - np.int64(count)


# --------------------------------------------------------------------------------------------------
# Networks of any size, improved window by window.
# --------------------------------------------------------------------------------------------------

LEAVES = 10
MOST_SIZE = 120  # nodes of a window
MOST_TRACED = 2000  # signals visited to decide whether a leaf depends on the window


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

    With `keep_depth` the depth of the network does not increase. Ends early with the clock.
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
    """A network under change: operands, table and users of every living node."""

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
        self.depth = network.depth
        self._times()

    def _times(self) -> None:
        """Compute the level of every signal and its latest allowed level."""
        order = self._order()
        self.level = dict.fromkeys(range(self.first), 0)
        for s in order:
            self.level[s] = 1 + max(self.level[k] for k in self.fans[s])
        self.latest = dict.fromkeys(order, self.depth)
        for s in reversed(order):
            for k in self.fans[s]:
                self.latest[k] = min(self.latest.get(k, self.depth), self.latest[s] - 1)

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
        nodes = ((s, self.luts[s], self.fans[s]) for s in self._order())
        return rebuilt(self.inputs, nodes, self.outputs)

    def improve(self, root: int, leaves: int, sweeps: int, seed: int, clock: Clock) -> None:
        """Rebuild the window below a node if that saves nodes."""
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

    def _window(self, root: int, leaves: int) -> tuple[list[int], list[int]]:
        """Grow a window downwards while the leaves are few, then by users of known signals."""
        inside = {root}
        edge = set(self.fans[root])
        while len(inside) < MOST_SIZE:
            below = [s for s in sorted(edge) if s >= self.first]
            grown = [(len(edge | set(self.fans[s])) - 1, -s) for s in below]
            if not grown or min(grown)[0] > leaves:
                break
            chosen = -min(grown)[1]
            inside.add(chosen)
            edge = (edge | set(self.fans[chosen])) - {chosen} - inside
        known = inside | edge
        for s in sorted({r for k in known for r in self.readers.get(k, ())} - known):
            if len(inside) < MOST_SIZE and set(self.fans[s]) <= known:
                inside.add(s)
        by_level = sorted(inside, key=lambda s: (self.level[s], s))
        return by_level, sorted(edge)

    def _loops(self, inside: list[int], edge: list[int]) -> bool:
        """Tell whether a leaf may depend on the window: rebuilding could create a cycle."""
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
        """Return a window as a network."""
        builder = Builder(len(edge))
        literals = {s: builder.input(place) for place, s in enumerate(edge)}
        for s in inside:
            literals[s] = builder.node(self.luts[s], *(literals[k] for k in self.fans[s]))
        return builder.build(literals[s] for s in roots)

    def _replace(self, inside: list[int], edge: list[int], roots: list[int], new: Network) -> None:
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
        """Compute the levels of signals, and of the users of changed ones."""
        work = deque(signals)
        while work:
            s = work.popleft()
            if s in self.fans:
                level = 1 + max(self.level[k] for k in self.fans[s])
                if self.level.get(s) != level:
                    self.level[s] = level
                    work.extend(sorted(self.readers.get(s, ())))

    def _settle_latest(self, signals: list[int]) -> None:
        """Compute the latest levels of signals, and of the operands of changed ones."""
        work = deque(signals)
        while work:
            s = work.popleft()
            if s in self.fans:
                latest = min((self.latest[r] - 1 for r in self.readers.get(s, ())), default=1 << 30)
                if s in self.outputs:
                    latest = min(latest, self.depth)
                if self.latest.get(s) != latest:
                    self.latest[s] = latest
                    work.extend(self.fans[s])

    def _drop_unread(self, signals: list[int]) -> None:
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
        """Replace a signal by another in all users."""
        for s in sorted(self.readers.pop(old, set())):
            if s in self.fans:
                self.fans[s] = tuple(new if k == old else k for k in self.fans[s])
                self.readers.setdefault(new, set()).add(s)
        self.outputs = [new if s == old else s for s in self.outputs]


# --------------------------------------------------------------------------------------------------
# Fewer levels by bypasses. A chain of nodes on a longest path, such as carries, is computed for
# both values of its first signal, and a multiplexer selects one. This replaces the levels of the
# chain by one, for about two nodes per level saved (a generalised carry-select adder). The chain on
# the most longest paths for the fewest nodes comes first.
# --------------------------------------------------------------------------------------------------

LONGEST = 4  # nodes of a chain
FURTHER = 0.3  # worth of every further level saved, relative to the first
FIXED_COST = 0.5  # nodes added to the cost of every chain, which may be 0


class Bypass(NamedTuple):
    """A chain, its last node first, the signal that it waits for, and its worth."""

    worth: float
    chain: tuple[int, ...]
    signal: int


def bypassed(network: Network, clock: Clock) -> Network:
    """Return an equivalent network of the fewest levels that bypasses reach, or the same."""
    best = made = network
    depth = network.depth
    while not clock.over and (found := _best(made)) is not None:
        made = _with_bypass(made, found)
        if made.depth < depth:
            best, depth = made, made.depth
    return best


@dataclass(frozen=True, slots=True)
class _Paths:
    """The longest paths of a network: the levels of signals, and the share of paths through them.

    `late` holds the latest operands of every node on a longest path.
    """

    network: Network
    levels: list[int]
    late: dict[int, tuple[int, ...]]
    share: dict[int, float]
    readers: list[int]

    def others(self, signal: int, waited: int) -> list[int]:
        """Return the operands of a node except one."""
        first = CONSTANTS + self.network.inputs
        return [k for k in self.network.nodes[signal - first].operands if k != waited]


def _paths(network: Network) -> _Paths:
    first, ends = CONSTANTS + network.inputs, sorted(set(network.outputs))
    levels, readers = [0] * first, [0] * (first + len(network.nodes))
    for node in network.nodes:
        levels.append(1 + max(levels[k] for k in node.operands))
        for k in node.operands:
            readers[k] += 1
    for k in network.outputs:
        readers[k] += 1
    depth = max((levels[k] for k in ends), default=0)
    late: dict[int, tuple[int, ...]] = {}
    above = {k: 1.0 for k in ends if levels[k] == depth}
    for signal in range(first + len(network.nodes) - 1, first - 1, -1):
        if signal in above:
            operands = network.nodes[signal - first].operands
            late[signal] = tuple(k for k in operands if levels[k] == levels[signal] - 1)
            for k in late[signal]:
                above[k] = above.get(k, 0.0) + above[signal]
    below = {k: 1.0 for k in above if k < first}
    for signal in sorted(late):
        below[signal] = sum(below[k] for k in late[signal])
    total = sum(below[k] for k in ends if k in late and levels[k] == depth)
    share = {signal: above[signal] * below[signal] / total for signal in late}
    return _Paths(network, levels, late, share, readers)


def _best(network: Network) -> Bypass | None:
    """Return the bypass of the largest worth, if any saves a level of a longest path."""
    paths = _paths(network)
    best: Bypass | None = None
    for signal in sorted(paths.late):
        chain = [signal]
        while len(chain) <= LONGEST and len(late := paths.late.get(chain[-1], ())) == 1:
            if late[0] < CONSTANTS + network.inputs:
                break
            if len(chain) > 1:
                worth = _worth(paths, chain, late[0])
                if worth > 0 and (best is None or worth > best.worth):
                    best = Bypass(worth, tuple(chain), late[0])
            chain.append(late[0])
    return best


def _worth(paths: _Paths, chain: list[int], signal: int) -> float:
    """Return the worth of a bypass: the longest paths that it shortens, relative to its cost."""
    cost, ready, waited, alive = 1, -1, signal, False
    for place, one in enumerate(reversed(chain)):
        others = paths.others(one, waited)
        arrive = max([paths.levels[k] for k in others], default=-1)
        ready = max(ready, arrive) + (len(others) + (place > 0) > 1)
        cost += 2 * (len(others) + (place > 0) > 1)
        waited = one
    for one in chain:  # nodes without other users are removed
        alive |= one != chain[0] and paths.readers[one] > 1
        cost -= not alive
    gain = paths.levels[chain[0]] - 1 - max(paths.levels[signal], ready)
    share = paths.share[chain[0]]
    return share * (1 + FURTHER * (gain - 1)) / (cost + FIXED_COST) if gain > 0 else 0.0


def _with_bypass(network: Network, found: Bypass) -> Network:
    """Return a network in which a multiplexer selects the last node of a chain."""
    first = CONSTANTS + network.inputs
    builder = Builder(network.inputs)
    literals = [2 * FALSE, 2 * TRUE, *(builder.input(k) for k in range(network.inputs))]
    for signal, node in enumerate(network.nodes, first):
        if signal != found.chain[0]:
            literals.append(builder.node(node.lut, *(literals[k] for k in node.operands)))
            continue
        values = []
        for value in (2 * FALSE, 2 * TRUE):
            known = {found.signal: value}
            for one in reversed(found.chain):
                lut, operands = network.nodes[one - first]
                known[one] = builder.node(lut, *(known.get(k, literals[k]) for k in operands))
            values.append(known[signal])
        literals.append(builder.node(MUX, literals[found.signal], values[1], values[0]))
    return builder.build(literals[k] for k in network.outputs)
