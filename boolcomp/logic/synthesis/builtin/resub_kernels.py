"""Compiled loops of `resub` over networks that change; importing this module imports numba.

Nodes change in place: `Graph.order` holds the living ones, operands first, once it is sorted.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.common.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEVER = 1 << 30  # a level that no output reaches
ONE = np.uint64(1)
_MULTIPLIER, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)


class Graph(NamedTuple):
    """A network as arrays over signals, numbered as in `network`, and room to work in.

    `fan` holds three operands (unused ones are signal 0), `planes` the truth table of every signal,
    64 points a word, `refs` how many operands and outputs a signal serves (dead nodes: none).
    Where a bit of `care` is 0 an output may be either. `arrive` are the levels of constants and
    inputs, `latest` those allowed for the outputs. `state` is that of the random numbers.

    `level` and `required` are every signal's level and the latest it may have. `after` marks what
    depends on a node, `flipped` are planes if it were inverted, `seen` the points at which an
    output sees it.
    """

    fan: NDArray[np.int64]
    lut: NDArray[np.int64]
    planes: NDArray[np.uint64]
    refs: NDArray[np.int64]
    outs: NDArray[np.int64]
    care: NDArray[np.uint64]
    arrive: NDArray[np.int64]
    latest: NDArray[np.int64]
    state: NDArray[np.uint64]
    order: NDArray[np.int64]
    stack: NDArray[np.int64]
    level: NDArray[np.int64]
    required: NDArray[np.int64]
    after: NDArray[np.uint8]
    flipped: NDArray[np.uint64]
    seen: NDArray[np.uint64]


@njit(cache=True)
def draw(state: Any, below: Any) -> Any:
    """Return the next random number below a limit."""
    state[0] = state[0] * _MULTIPLIER + _STEP
    return np.int64((state[0] >> np.uint64(33)) % np.uint64(below))


@njit(cache=True, inline="always")
def zero_or_all(table: Any, row: Any) -> Any:
    """Return a word of a table's bit repeated."""
    return np.uint64(0) - (table >> np.uint64(row) & ONE)


@njit(cache=True, inline="always")
def value_of(lut: Any, a: Any, b: Any, c: Any) -> Any:
    """Return a word of a node from the words of its operands: Shannon on a, then b, then c."""
    t = np.uint64(lut)
    x0, x1 = zero_or_all(t, 0), zero_or_all(t, 2)
    x2, x3 = zero_or_all(t, 4), zero_or_all(t, 6)
    low = x0 ^ (x0 ^ zero_or_all(t, 1)) & c
    high = x1 ^ (x1 ^ zero_or_all(t, 3)) & c
    first = low ^ (low ^ high) & b
    low = x2 ^ (x2 ^ zero_or_all(t, 5)) & c
    high = x3 ^ (x3 ^ zero_or_all(t, 7)) & c
    second = low ^ (low ^ high) & b
    return first ^ (first ^ second) & a


@njit(cache=True)
def evaluate_node(g: Any, s: Any) -> None:
    """Compute a node's plane."""
    a, b, c = g.fan[s, 0], g.fan[s, 1], g.fan[s, 2]
    for w in range(g.planes.shape[1]):
        g.planes[s, w] = value_of(g.lut[s], g.planes[a, w], g.planes[b, w], g.planes[c, w])


@njit(cache=True)
def sort_nodes(g: Any) -> Any:
    """Put the living nodes into `order`, operands first; return how many they are."""
    count = len(g.refs)
    done = np.zeros(count, np.uint8)
    found = 0
    for o in g.outs:
        top = 0
        g.stack[0] = o
        while top >= 0:
            s = g.stack[top]
            if s < len(g.arrive) or done[s]:
                top -= 1
                continue
            ready = True
            for k in range(3):
                child = g.fan[s, k]
                if child >= len(g.arrive) and not done[child]:
                    top += 1
                    g.stack[top] = child
                    ready = False
            if ready:
                done[s] = 1
                g.order[found] = s
                found += 1
                top -= 1
    return found


@njit(cache=True)
def set_levels(g: Any, count: Any) -> None:
    """Compute every signal's level, and the one it may have so that no output is too late.

    `arrive` are the levels of constants and inputs, `latest` those allowed for the outputs.
    """
    g.level[: len(g.arrive)] = g.arrive
    g.required[:] = NEVER
    for j in range(len(g.outs)):
        g.required[g.outs[j]] = min(g.required[g.outs[j]], g.latest[j])
    for t in range(count):
        s = g.order[t]
        g.level[s] = 1 + max(g.level[g.fan[s, 0]], g.level[g.fan[s, 1]], g.level[g.fan[s, 2]])
    for t in range(count - 1, -1, -1):
        s = g.order[t]
        for k in range(3):
            child = g.fan[s, k]
            g.required[child] = min(g.required[child], g.required[s] - 1)


@njit(cache=True)
def find_care(g: Any, v: Any, count: Any) -> None:
    """Mark in `after` what depends on v, and in `seen` the points at which an output sees v."""
    g.after[:] = 0
    g.after[v] = 1
    g.seen[:] = 0
    words = g.planes.shape[1]
    for w in range(words):
        g.flipped[v, w] = ~g.planes[v, w]
    begun = False
    for t in range(count):
        s = g.order[t]
        if s == v:
            begun = True
            continue
        a, b, c = g.fan[s, 0], g.fan[s, 1], g.fan[s, 2]
        if not begun or not (g.after[a] or g.after[b] or g.after[c]):
            continue
        g.after[s] = 1
        for w in range(words):
            x = g.flipped[a, w] if g.after[a] else g.planes[a, w]
            y = g.flipped[b, w] if g.after[b] else g.planes[b, w]
            z = g.flipped[c, w] if g.after[c] else g.planes[c, w]
            g.flipped[s, w] = value_of(g.lut[s], x, y, z)
    for j in range(len(g.outs)):
        o = g.outs[j]
        if g.after[o]:
            for w in range(words):
                g.seen[w] |= (g.flipped[o, w] ^ g.planes[o, w]) & g.care[j, w]


@njit(cache=True)
def release(g: Any, s: Any) -> Any:
    """Take one reference off the operands of a node; return how many nodes that frees."""
    freed = 0
    g.stack[0] = s
    top = 0
    while top >= 0:
        s = g.stack[top]
        top -= 1
        for k in range(3):
            child = g.fan[s, k]
            g.refs[child] -= 1
            if child >= len(g.arrive) and g.refs[child] == 0:
                freed += 1
                top += 1
                g.stack[top] = child
    return freed


@njit(cache=True)
def retain(g: Any, s: Any) -> None:
    """Undo `release`."""
    g.stack[0] = s
    top = 0
    while top >= 0:
        s = g.stack[top]
        top -= 1
        for k in range(3):
            child = g.fan[s, k]
            if child >= len(g.arrive) and g.refs[child] == 0:
                top += 1
                g.stack[top] = child
            g.refs[child] += 1


@njit(cache=True)
def gain_of(g: Any, v: Any, a: Any, b: Any, c: Any) -> Any:
    """Return how many nodes vanish if v reads a, b, c instead of its operands."""
    g.refs[a] += 1
    g.refs[b] += 1
    g.refs[c] += 1
    freed = release(g, v)
    # An operand that was itself freed and is read again would have had a reference left.
    retain(g, v)
    g.refs[a] -= 1
    g.refs[b] -= 1
    g.refs[c] -= 1
    return freed
