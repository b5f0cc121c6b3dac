"""Compiled loops over networks as arrays: values, levels, what dies.

Signals are numbered as in `network`; `fan` holds three operands (unused ones are signal 0), `size`
what a node counts (0 where it only passes a signal on), `refs` how many living operands and outputs
it serves, `level` the nodes before it and with it, `height` those after it. Planes hold a bit for
every row, a row being a word of inputs.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.logic.synthesis.builtin.resub_kernels import value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
NEVER = -(1 << 30)  # the height of what no output needs
SAME, MAY, DIFFERS = 0, 1, 2  # what marks say of a signal after a change


class Nodes(NamedTuple):
    """A network that changes, and room for a stack."""

    fan: NDArray[np.int64]
    lut: NDArray[np.int64]
    refs: NDArray[np.int64]
    size: NDArray[np.int64]
    level: NDArray[np.int64]
    height: NDArray[np.int64]
    outs: NDArray[np.int64]
    stack: NDArray[np.int64]
    first: int


class Planes(NamedTuple):
    """The values of all signals; those after a change where `marks` say that they differ.

    `marked` lists what is marked beside the changed node itself.
    """

    now: NDArray[np.uint64]
    then: NDArray[np.uint64]
    marks: NDArray[np.uint8]
    marked: NDArray[np.int64]


@njit(cache=True)
def evaluate(nodes: Any, order: Any, planes: Any) -> None:
    """Fill in the planes of nodes, in their order."""
    for s in order:
        a, b, c = nodes.fan[s]
        table = np.uint64(nodes.lut[s])
        for k in range(planes.shape[1]):
            planes[s, k] = value_of(table, planes[a, k], planes[b, k], planes[c, k])


@njit(cache=True)
def follow(nodes: Any, order: Any, begin: Any, planes: Any) -> Any:
    """Mark what depends on a change, and fill in what it is then; return how much is marked.

    The changed node is marked by who changes it; what depends on it stands in the order from
    `begin` on.
    """
    now, then, marks, marked = planes
    count = 0
    for i in range(begin, len(order)):
        s = order[i]
        a, b, c = nodes.fan[s]
        if not (marks[a] or marks[b] or marks[c]):
            continue
        marks[s] = MAY
        marked[count] = s
        count += 1
        if marks[a] < DIFFERS and marks[b] < DIFFERS and marks[c] < DIFFERS:
            continue
        table = np.uint64(nodes.lut[s])
        pa = then[a] if marks[a] == DIFFERS else now[a]
        pb = then[b] if marks[b] == DIFFERS else now[b]
        pc = then[c] if marks[c] == DIFFERS else now[c]
        own, old, differs = then[s], now[s], np.uint64(0)
        for k in range(now.shape[1]):
            value = value_of(table, pa[k], pb[k], pc[k])
            own[k] = value
            differs |= value ^ old[k]
        if differs:
            marks[s] = DIFFERS
    return count


@njit(cache=True)
def unmark(planes: Any, node: Any, count: Any) -> None:
    """Take the marks of a change off."""
    planes.marks[node] = SAME
    for i in range(count):
        planes.marks[planes.marked[i]] = SAME


@njit(cache=True)
def keep_change(planes: Any, node: Any, count: Any) -> None:
    """Make the values after a change those of now."""
    for i in range(-1, count):
        s = node if i < 0 else planes.marked[i]
        if planes.marks[s] == DIFFERS:
            planes.now[s] = planes.then[s]


@njit(cache=True)
def release(nodes: Any, node: Any) -> Any:
    """Take a node's operands away from it; return what dies."""
    gone, top = 0, 1
    nodes.stack[0] = node
    while top:
        top -= 1
        for s in nodes.fan[nodes.stack[top]]:
            nodes.refs[s] -= 1
            if nodes.refs[s] == 0 and nodes.size[s] >= 0:
                gone += nodes.size[s]
                nodes.stack[top] = s
                top += 1
    return gone


@njit(cache=True)
def attach(nodes: Any, node: Any) -> Any:
    """Give a node its operands; return what comes to life."""
    made, top = 0, 1
    nodes.stack[0] = node
    while top:
        top -= 1
        for s in nodes.fan[nodes.stack[top]]:
            nodes.refs[s] += 1
            if nodes.refs[s] == 1 and nodes.size[s] >= 0:
                made += nodes.size[s]
                nodes.stack[top] = s
                top += 1
    return made


@njit(cache=True)
def saved_by(nodes: Any, node: Any, new: Any, cost: Any) -> Any:
    """Return how much a network shrinks if a node of `cost` reads other operands."""
    gone = release(nodes, node)
    old = nodes.fan[node].copy()
    nodes.fan[node] = new
    made = attach(nodes, node)
    release(nodes, node)
    nodes.fan[node] = old
    attach(nodes, node)
    return gone - made + nodes.size[node] - cost


@njit(cache=True)
def ordered(nodes: Any) -> Any:
    """Return the living nodes by level, operands before who reads them; set levels and heights."""
    fan, level, height, first = nodes.fan, nodes.level, nodes.height, nodes.first
    found, count = np.empty(len(fan), np.int64), 0
    seen, stack = np.zeros(len(fan), np.uint8), nodes.stack
    for node in range(first, len(fan)):
        if nodes.refs[node] <= 0 or seen[node]:
            continue
        stack[0], top = node, 1
        while top:
            s = stack[top - 1]
            if seen[s]:
                top -= 1
                if seen[s] == 1:
                    seen[s] = 2
                    level[s] = nodes.size[s] + max(
                        level[fan[s, 0]], level[fan[s, 1]], level[fan[s, 2]]
                    )
                    found[count] = s
                    count += 1
                continue
            seen[s] = 1
            for k in fan[s]:
                if k >= first and not seen[k]:
                    stack[top] = k
                    top += 1
    order = found[:count]
    order = order[np.argsort(level[order], kind="mergesort")]
    height[:] = NEVER
    height[nodes.outs] = 0
    for i in range(count):
        s = order[count - 1 - i]
        for k in fan[s]:
            height[k] = max(height[k], height[s] + nodes.size[s])
    return order


@njit(cache=True, inline="always")
def popcount(x: Any) -> Any:
    """Return how many ones a word has."""
    x = x - (x >> np.uint64(1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + (x >> np.uint64(2) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, inline="always")
def bit_at(plane: Any, row: Any) -> Any:
    """Return a plane's bit of a row."""
    return np.uint8(plane[row >> 6] >> np.uint64(row & 63) & ONE)
