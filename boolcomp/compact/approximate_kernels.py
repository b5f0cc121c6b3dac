"""The compiled search: nodes drawn, inverted, and changed to what saves more than it costs.

Some rows say what is promising, all rows whether it holds. A second network, the mirror, may have
to follow: a change counts if the same change of the mirror's like node makes the same outputs.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.compact.approximate.kernels import (
    DIFFERS,
    attach,
    evaluate,
    follow,
    keep_change,
    ordered,
    release,
    saved_by,
    unmark,
)
from boolcomp.compact.approximate.move_kernels import (
    active_rows,
    bare_move,
    choose,
    completed,
    patience,
    table_move,
    uniform,
)
from boolcomp.compact.approximate.row_kernels import extra, read_words, take_in
from boolcomp.logic.synthesis.builtin.resub_kernels import value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.compact.approximate.kernels import Nodes, Planes
    from boolcomp.compact.approximate.row_kernels import Rows, WordRows

LEAST = 1e-7  # nodes that a change must gain, unless it is drawn


class Net(NamedTuple):
    """A network that changes, and which of its outputs are words."""

    nodes: Nodes
    words: WordRows


class Looked(NamedTuple):
    """What is looked at: rows, the values of signals there, and room for what rows cost more."""

    rows: Rows
    planes: Planes
    by: NDArray[np.float64]


class Asked(NamedTuple):
    """How long is searched: so many `visits`, no deeper than `depth`, at a temperature in nodes.

    Of signals like a node so many are looked at `alone`, so many `together`. Rows may be
    `complete`: what differs at none of them is the same.
    """

    visits: int
    depth: int
    temperature: float
    alone: int
    together: int
    complete: bool = False


class Mirror(NamedTuple):
    """Another network of the same outputs, in topological order, and which signals are alike.

    `place` is a signal's like one or -1, which is inverted where `flipped`; `written` are those
    that may be changed, `read` those that may then be operands if they come earlier (`when`).
    `outs` are `inverted` or not. Without a node it is none.
    """

    nodes: Nodes
    planes: Planes
    order: NDArray[np.int64]
    place: NDArray[np.int64]
    flipped: NDArray[np.uint8]
    written: NDArray[np.uint8]
    read: NDArray[np.uint8]
    when: NDArray[np.int64]
    changed: NDArray[np.uint8]
    inverted: NDArray[np.uint8]


class Limits(NamedTuple):
    """What outputs may cost more, in nodes, and who has to follow."""

    left: NDArray[np.float64]
    mirror: Mirror


@njit(cache=True)
def search(net: Any, some: Any, every: Any, limits: Any, asked: Any, state: Any) -> Any:
    """Change a network for so many visits; return its order, and how many changes were made."""
    nodes, made = net.nodes, 0
    order = ordered(nodes)
    where = np.zeros(len(nodes.fan), np.int64)
    where[order] = np.arange(len(order))
    evaluate(nodes, order, some.planes.now)
    for _ in range(asked.visits):
        node = order[int(uniform(state) * len(order))]
        if nodes.refs[node] <= 0 or nodes.size[node] != 1:
            continue
        least, place = -asked.temperature * patience(state), (order, where[node])
        best, move, near = promising(net, some, place, asked, least, state)
        needs = least, near or asked.complete
        if best < least or not holds(net, every, place, move, needs, limits):
            continue
        made += 1
        release(nodes, node)
        nodes.lut[node], nodes.fan[node] = move[0], move[1:]
        nodes.size[node] = int(not (move[1] == move[2] == move[3]))
        attach(nodes, node)
        order = ordered(nodes)
        where[order] = np.arange(len(order))
        evaluate(nodes, order, some.planes.now)
        read_words(nodes, net.words, some.rows, some.planes.now)
    return order, made


@njit(cache=True)
def promising(net: Any, some: Any, place: Any, asked: Any, least: Any, state: Any) -> Any:
    """Return what a change of a node gains as some rows say, that move, and whether it is harmless.

    So it is where the node's inversion moves no word too far at any of these rows.
    """
    order, begin = place
    node, nodes, planes = order[begin], net.nodes, some.planes
    planes.marks[node] = DIFFERS
    for k in range(planes.now.shape[1]):
        planes.then[node, k] = ~planes.now[node, k]
    count = follow(nodes, order, begin + 1, planes)
    near = extra(nodes, net.words, some.rows, planes, some.by, np.zeros(len(net.words.bits)))
    active = active_rows(some.by, planes.now[node], planes.now.shape[1])
    limits = asked.depth - nodes.height[node] - 1, asked.alone, asked.together
    choice = choose(nodes, node, planes, active, limits, state)
    unmark(planes, node, count)
    best, move = bare_move(nodes, node, choice, active)
    gain, other = table_move(nodes, node, choice, active, least, state)
    if gain > best or (best <= 0 and gain >= least and uniform(state) < 0.5):
        best, move = gain, other
        move[0] = completed(node, planes.now, active, move)
    return best, move, near


@njit(cache=True)
def holds(net: Any, every: Any, place: Any, move: Any, needs: Any, limits: Any) -> Any:
    """Tell whether a change gains enough at all rows, and is affordable; take it in if it does.

    One that differs at no row may do so at one that nobody has seen: it has to be harmless.
    """
    (order, begin), (least, near) = place, needs
    node, nodes, planes = order[begin], net.nodes, every.planes
    if not replaced(planes, node, move[0], move[1:]):
        return near
    follows = len(limits.mirror.order) > 0
    gain = saved_by(nodes, node, move[1:], int(not (move[1] == move[2] == move[3])))
    planes.marks[node] = DIFFERS
    count = follow(nodes, order, begin + 1, planes)
    total = np.zeros(len(net.words.bits))
    good = extra(nodes, net.words, every.rows, planes, every.by, total)
    good = good and gain - total.sum() >= min(least, LEAST)
    good = good and not ((total > 0) & (total > limits.left)).any()
    if good and follows:
        good = mirrored(nodes, planes, node, move, limits.mirror)
    if good:
        limits.left[:] -= total
        take_in(nodes, net.words, every.rows, planes)
        keep_change(planes, node, count)
        if follows:
            forget(planes, node, count, limits.mirror)
    unmark(planes, node, count)
    return good


@njit(cache=True)
def replaced(planes: Any, node: Any, table: Any, read: Any) -> Any:
    """Fill in what a node is as a table of others; tell whether that differs."""
    differs = np.uint64(0)
    x, y, z = planes.now[read[0]], planes.now[read[1]], planes.now[read[2]]
    for k in range(planes.now.shape[1]):
        value = value_of(np.uint64(table), x[k], y[k], z[k])
        planes.then[node, k] = value
        differs |= value ^ planes.now[node, k]
    return differs != 0


@njit(cache=True)
def mirrored(nodes: Any, planes: Any, node: Any, move: Any, mirror: Any) -> Any:
    """Tell whether the mirror follows a change, and let it."""
    like, own = mirror.place[node], mirror.planes
    table, read = translated(node, move, mirror)
    if table < 0:
        return False
    replaced(own, like, table, read)
    own.marks[like] = DIFFERS
    marked = follow(mirror.nodes, mirror.order, like + 1 - mirror.nodes.first, own)
    same = same_outputs(nodes, planes, mirror)
    if same:
        mirror.nodes.lut[like], mirror.nodes.fan[like] = table, read
        mirror.changed[like] = 1
        keep_change(own, like, marked)
    unmark(own, like, marked)
    return same


@njit(cache=True)
def translated(node: Any, move: Any, mirror: Any) -> Any:
    """Return a move of the mirror: its table, or -1 if it may not be made, and its operands."""
    like, read, table = mirror.place[node], np.zeros(3, np.int64), move[0]
    if like < 0 or not mirror.written[like]:
        return -1, read
    for k in range(3):
        s = move[1 + k]
        read[k] = mirror.place[s]
        if read[k] < 0 or read[k] >= like or not mirror.read[read[k]]:
            return -1, read
        if mirror.when[read[k]] >= mirror.when[like]:
            return -1, read
        if mirror.flipped[s]:
            table = swapped(table, 2 - k)
    return ~table & 255 if mirror.flipped[node] else table, read


@njit(cache=True)
def same_outputs(nodes: Any, planes: Any, mirror: Any) -> Any:
    """Tell whether outputs are the mirror's after a change of both."""
    own = mirror.planes
    for i in range(len(nodes.outs)):
        s, t = nodes.outs[i], mirror.nodes.outs[i]
        here = planes.then[s] if planes.marks[s] == DIFFERS else planes.now[s]
        there = own.then[t] if own.marks[t] == DIFFERS else own.now[t]
        inverse = ~np.uint64(0) if mirror.inverted[i] else np.uint64(0)
        for k in range(len(here)):
            if here[k] != there[k] ^ inverse:
                return False
    return True


@njit(cache=True)
def swapped(table: Any, place: Any) -> Any:
    """Return a table over three of which the operand of weight 2^place is inverted."""
    step = 1 << place
    found = 0
    for row in range(8):
        found |= (table >> (row ^ step) & 1) << row
    return found


@njit(cache=True)
def forget(planes: Any, node: Any, count: Any, mirror: Any) -> None:
    """Forget of signals that changed which are alike, where they no longer are."""
    for i in range(-1, count):
        s = node if i < 0 else planes.marked[i]
        like = mirror.place[s]
        if like < 0:
            continue
        inverse = ~np.uint64(0) if mirror.flipped[s] else np.uint64(0)
        for k in range(planes.now.shape[1]):
            if planes.now[s, k] != mirror.planes.now[like, k] ^ inverse:
                mirror.place[s] = -1
                break
