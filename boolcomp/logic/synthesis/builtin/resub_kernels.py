"""Compiled loops of `resub` over networks that change.

Nodes change in place: `Graph.order` holds the living ones, operands first, once it is sorted.
Arrays that loops read are locals, and functions that are called often take few of them: numba
counts references to every array of a tuple that is passed or looked into: half of all time once.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

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


@njit(cache=True, inline="always")
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
def evaluate_after(g: Any, count: Any) -> None:
    """Compute the planes of all nodes that `after` marks."""
    fan, order, luts, planes, after = g.fan, g.order, g.lut, g.planes, g.after
    for t in range(count):
        s = order[t]
        if after[s]:
            lut, a, b, c = luts[s], fan[s, 0], fan[s, 1], fan[s, 2]
            for w in range(planes.shape[1]):
                planes[s, w] = value_of(lut, planes[a, w], planes[b, w], planes[c, w])


@njit(cache=True)
def sort_nodes(g: Any) -> Any:
    """Put the living nodes into `order`, operands first; return how many they are."""
    fan, stack, order, first = g.fan, g.stack, g.order, len(g.arrive)
    done = np.zeros(len(g.refs), np.uint8)
    found = 0
    for o in g.outs:
        top = 0
        stack[0] = o
        while top >= 0:
            s = stack[top]
            if s < first or done[s]:
                top -= 1
                continue
            ready = True
            for k in range(3):
                child = fan[s, k]
                if child >= first and not done[child]:
                    top += 1
                    stack[top] = child
                    ready = False
            if ready:
                done[s] = 1
                order[found] = s
                found += 1
                top -= 1
    return found


@njit(cache=True)
def set_levels(g: Any, count: Any) -> None:
    """Compute every signal's level, and the one it may have so that no output is too late.

    `arrive` are the levels of constants and inputs, `latest` those allowed for the outputs.
    """
    fan, order, level, required = g.fan, g.order, g.level, g.required
    level[: len(g.arrive)] = g.arrive
    required[:] = NEVER
    for j in range(len(g.outs)):
        required[g.outs[j]] = min(required[g.outs[j]], g.latest[j])
    for t in range(count):
        s = order[t]
        level[s] = 1 + max(level[fan[s, 0]], level[fan[s, 1]], level[fan[s, 2]])
    for t in range(count - 1, -1, -1):
        s = order[t]
        for k in range(3):
            child = fan[s, k]
            required[child] = min(required[child], required[s] - 1)


@njit(cache=True)
def find_care(g: Any, v: Any, count: Any) -> None:
    """Mark in `after` what depends on v, and in `seen` the points at which an output sees v."""
    fan, order, luts, planes = g.fan, g.order, g.lut, g.planes
    after, flipped, seen, outs, care = g.after, g.flipped, g.seen, g.outs, g.care
    after[:] = 0
    after[v] = 1
    seen[:] = 0
    words = planes.shape[1]
    for w in range(words):
        flipped[v, w] = ~planes[v, w]
    begun = False
    for t in range(count):
        s = order[t]
        if s == v:
            begun = True
            continue
        a, b, c = fan[s, 0], fan[s, 1], fan[s, 2]
        if not begun or not (after[a] or after[b] or after[c]):
            continue
        after[s] = 1
        lut = luts[s]
        for w in range(words):
            x = flipped[a, w] if after[a] else planes[a, w]
            y = flipped[b, w] if after[b] else planes[b, w]
            z = flipped[c, w] if after[c] else planes[c, w]
            flipped[s, w] = value_of(lut, x, y, z)
    for j in range(len(outs)):
        o = outs[j]
        if after[o]:
            for w in range(words):
                seen[w] |= (flipped[o, w] ^ planes[o, w]) & care[j, w]


@njit(cache=True)
def release(fan: Any, refs: Any, stack: Any, first: Any, s: Any) -> Any:
    """Take one reference off the operands of a node; return how many nodes that frees."""
    freed = 0
    stack[0] = s
    top = 0
    while top >= 0:
        s = stack[top]
        top -= 1
        for k in range(3):
            child = fan[s, k]
            refs[child] -= 1
            if child >= first and refs[child] == 0:
                freed += 1
                top += 1
                stack[top] = child
    return freed


@njit(cache=True)
def retain(fan: Any, refs: Any, stack: Any, first: Any, s: Any) -> None:
    """Undo `release`."""
    stack[0] = s
    top = 0
    while top >= 0:
        s = stack[top]
        top -= 1
        for k in range(3):
            child = fan[s, k]
            if child >= first and refs[child] == 0:
                top += 1
                stack[top] = child
            refs[child] += 1


@njit(cache=True)
def gain_of(g: Any, v: Any, a: Any, b: Any, c: Any) -> Any:
    """Return how many nodes vanish if v reads a, b, c instead of its operands."""
    fan, refs, stack, first = g.fan, g.refs, g.stack, len(g.arrive)
    refs[a] += 1
    refs[b] += 1
    refs[c] += 1
    freed = release(fan, refs, stack, first, v)
    # An operand that was itself freed and is read again would have had a reference left.
    retain(fan, refs, stack, first, v)
    refs[a] -= 1
    refs[b] -= 1
    refs[c] -= 1
    return freed
