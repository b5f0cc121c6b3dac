"""Compiled loops of the search for changed nodes: values, candidates, costs, and the search.

Nodes are drawn, inverted, and replaced if that saves more than it costs. Changes are selected at
some rows and tested at all.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.logic.resub_kernels import value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# Networks as arrays.
#
# Signals are numbered as in `network`. `fan` has three operands (unused ones are signal 0), `size`
# is 0 for a node that copies a signal and else 1, and `refs` counts readers and outputs. `level` is
# the depth of a node, `height` the number of nodes after it on the longest path. A plane has a bit
# for every row; a row is a word of inputs.
# --------------------------------------------------------------------------------------------------

ONE = np.uint64(1)
NEVER = -(1 << 30)  # the height of a signal that no output needs
SAME, MAY, DIFFERS = 0, 1, 2  # marks of signals after a change


class MutableNetwork(NamedTuple):
    """A network under change, and a buffer for a stack."""

    fan: NDArray[np.int64]
    lut: NDArray[np.int64]
    refs: NDArray[np.int64]
    size: NDArray[np.int64]
    level: NDArray[np.int64]
    height: NDArray[np.int64]
    outs: NDArray[np.int64]
    stack: NDArray[np.int64]
    first: int


class SignalPlanes(NamedTuple):
    """The values of all signals; `then` has those after a change where `marks` are DIFFERS.

    `marked` lists marked signals other than the changed node.
    """

    now: NDArray[np.uint64]
    then: NDArray[np.uint64]
    marks: NDArray[np.uint8]
    marked: NDArray[np.int64]


@njit(cache=True)
def evaluate(nodes: Any, order: Any, planes: Any) -> None:
    """Compute the planes of nodes in their order."""
    for s in order:
        a, b, c = nodes.fan[s]
        table = np.uint64(nodes.lut[s])
        for k in range(planes.shape[1]):
            planes[s, k] = value_of(table, planes[a, k], planes[b, k], planes[c, k])


@njit(cache=True)
def follow(nodes: Any, order: Any, begin: Any, planes: Any) -> Any:
    """Mark the dependents of a change and compute their values; return their number.

    The caller has marked the changed node; its dependents are in the order from `begin` on.
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
    """Remove the marks of a change."""
    planes.marks[node] = SAME
    for i in range(count):
        planes.marks[planes.marked[i]] = SAME


@njit(cache=True)
def keep_change(planes: Any, node: Any, count: Any) -> None:
    """Make the values after a change the current ones."""
    for i in range(-1, count):
        s = node if i < 0 else planes.marked[i]
        if planes.marks[s] == DIFFERS:
            planes.now[s] = planes.then[s]


@njit(cache=True)
def release(nodes: Any, node: Any) -> Any:
    """Detach a node's operands; return the total size of nodes without readers."""
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
    """Attach a node's operands; return the total size of nodes that gain a first reader."""
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
    """Return the decrease in size if a node of size `cost` reads other operands."""
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
    """Return the used nodes by level, operands first; set levels and heights."""
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
    """Return the number of ones of a word."""
    x = x - (x >> np.uint64(1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + (x >> np.uint64(2) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True, inline="always")
def bit_at(plane: Any, row: Any) -> Any:
    return np.uint8(plane[row >> 6] >> np.uint64(row & 63) & ONE)


# --------------------------------------------------------------------------------------------------
# Replacements of a node. The costs of its inversion, row by row, price all of them.
# --------------------------------------------------------------------------------------------------

NOTHING = -1e300
PASSED_OVER = 0.25  # part of near signals that is skipped at random
IDENTITY, INVERSE = 0xF0, 0x0F  # tables that copy or invert their first operand


class Active(NamedTuple):
    """The rows at which a node matters: the costs of its inversion there, and its values."""

    rows: NDArray[np.int64]
    costs: NDArray[np.float64]
    values: NDArray[np.uint8]
    marks: NDArray[np.uint64]


class Substitutes(NamedTuple):
    """Signals that may replace a node, and their values at active rows.

    The first `own` are the node's operands; the first `together` are used in functions.
    """

    signals: NDArray[np.int64]
    seen: NDArray[np.uint8]
    own: int
    together: int


@njit(cache=True)
def uniform(state: Any) -> Any:
    """Return the next random number in [0, 1)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return np.float64(state[0] >> np.uint64(11)) * 2.0**-53


@njit(cache=True)
def patience(state: Any) -> Any:
    """Return a random number of mean near 1.4 with a density that halves with every unit.

    It replaces a logarithm, which differs between machines in its last bit.
    """
    u, whole = 1.0 - uniform(state), 0
    while u <= 0.5:
        u, whole = 2 * u, whole + 1
    return whole + 2 * (1 - u)


@njit(cache=True)
def active_rows(by: Any, plane: Any, words: Any) -> Any:
    """Return the rows at which a node's inversion changes the cost."""
    rows = np.flatnonzero(by)
    marks, values = np.zeros(words, np.uint64), np.empty(len(rows), np.uint8)
    for j, row in enumerate(rows):
        marks[row >> 6] |= ONE << np.uint64(row & 63)
        values[j] = bit_at(plane, row)
    return Active(rows, by[rows], values, marks)


@njit(cache=True)
def choose(nodes: Any, node: Any, planes: Any, active: Any, limits: Any, state: Any) -> Any:
    """Return the operands of a node and similar signals that do not depend on it.

    `limits` are the largest level, the number of signals, and the number for functions.
    """
    latest, alone, together = limits
    chosen, found = np.empty(3 + alone, np.int64), 0
    for s in nodes.fan[node]:
        if s >= 2 and not (chosen[:found] == s).any():
            chosen[found] = s
            found += 1
    own = found
    for s in nearest(nodes, node, planes, active, latest):
        if found == own + alone:
            break
        if not (chosen[:own] == s).any() and uniform(state) >= PASSED_OVER:
            chosen[found] = s
            found += 1
    seen = np.empty((found, len(active.rows)), np.uint8)
    for i in range(found):
        for j, row in enumerate(active.rows):
            seen[i, j] = bit_at(planes.now[chosen[i]], row)
    return Substitutes(chosen[:found], seen, own, min(found, max(own, together)))


@njit(cache=True)
def nearest(nodes: Any, node: Any, planes: Any, active: Any, latest: Any) -> Any:
    """Return signals by the number of active rows at which they, or their inverses, differ."""
    near, off, count = np.empty(len(nodes.fan), np.int64), np.empty(len(nodes.fan), np.int64), 0
    total = len(active.rows)
    for s in range(2, len(nodes.fan)):
        if s >= nodes.first and (nodes.refs[s] <= 0 or nodes.size[s] != 1):
            continue
        if s == node or planes.marks[s] or nodes.level[s] > latest:
            continue
        differs = 0
        for k in range(len(active.marks)):
            differs += popcount((planes.now[s, k] ^ planes.now[node, k]) & active.marks[k])
        near[count], off[count] = s, min(differs, total - differs)
        count += 1
    return near[np.argsort(off[:count], kind="mergesort")]


@njit(cache=True)
def pooled(choice: Any, active: Any) -> Any:
    """Return patterns of values that occur, and the costs of inverting the node at them.

    Bit 0 of a pattern is the node's value, bit i + 1 that of signal i.
    """
    count, total = choice.together, len(active.rows)
    sums, known = np.zeros(2 << count), np.zeros(2 << count, np.uint8)
    for j in range(total):
        pattern = np.int64(active.values[j])
        for i in range(count):
            pattern |= np.int64(choice.seen[i, j]) << (i + 1)
        sums[pattern] += active.costs[j]
        known[pattern] = 1
    patterns = np.flatnonzero(known)
    return patterns, sums[patterns]


@njit(cache=True)
def bare_move(nodes: Any, node: Any, choice: Any, active: Any) -> Any:
    """Return the gain of the best constant or signal as a replacement, and that move."""
    best, new, move = NOTHING, np.zeros(3, np.int64), np.zeros(4, np.int64)
    ones = zeros = 0.0
    for j in range(len(active.costs)):
        if active.values[j]:
            ones += active.costs[j]
        else:
            zeros += active.costs[j]
    whole = release(nodes, node) + nodes.size[node]
    attach(nodes, node)
    for table, cost in ((0, ones), (255, zeros)):
        if whole - cost > best:
            best = whole - cost
            move[0], move[1:] = table, 0
    for i in range(len(choice.signals)):
        cost = 0.0
        for j in range(len(active.costs)):
            if choice.seen[i, j] != active.values[j]:
                cost += active.costs[j]
        inverse = ones + zeros - cost
        least = min(cost, inverse)
        if whole - least <= best:
            continue
        new[:] = choice.signals[i]
        gain = saved_by(nodes, node, new, 0) - least
        if gain > best:
            best = gain
            move[0], move[1:] = IDENTITY if cost <= inverse else INVERSE, new
    return best, move


@njit(cache=True)
def table_move(nodes: Any, node: Any, choice: Any, active: Any, least: Any, state: Any) -> Any:
    """Return the gain of the best function of three signals, and that move.

    If no gain is positive, a move is drawn from those with a gain of at least `least`.
    """
    best, drawn, count, move = NOTHING, 0, choice.together, np.zeros(4, np.int64)
    patterns, costs = pooled(choice, active)
    gone = release(nodes, node)
    attach(nodes, node)
    new, one, zero = np.zeros(3, np.int64), np.zeros(8), np.zeros(8)
    for i in range(count):
        for j in range(i + 1, count):
            for k in range(j + 1, count):
                one[:], zero[:] = 0.0, 0.0
                for r in range(len(patterns)):
                    p = patterns[r]
                    row = (p >> (i + 1) & 1) << 2 | (p >> (j + 1) & 1) << 1 | p >> (k + 1) & 1
                    if p & 1:
                        zero[row] += costs[r]
                    else:
                        one[row] += costs[r]
                table, cost = 0, 0.0
                for row in range(8):
                    table |= int(one[row] < zero[row]) << row
                    cost += min(one[row], zero[row])
                bare = k < choice.own  # the node's own operands with another table
                bound = (0 if bare else gone + nodes.size[node] - 1) - cost
                if bound < least or (bound <= best and best > 0) or (bare and cost > -1e-12):
                    continue
                new[0], new[1] = choice.signals[i], choice.signals[j]
                new[2] = choice.signals[k]
                gain = saved_by(nodes, node, new, 1) - cost
                if gain < least or (gain <= 0 and best > 0):
                    continue
                drawn += 1
                if gain > max(best, 0.0) or (best <= 0 and uniform(state) * drawn < 1):
                    best = gain
                    move[0], move[1:] = table, new
    return best, move


@njit(cache=True)
def completed(node: Any, planes: Any, active: Any, move: Any) -> Any:
    """Return a move's table; entries without active rows agree with the majority of the node."""
    table, x, y, z = move[0], planes[move[1]], planes[move[2]], planes[move[3]]
    used = np.zeros(8, np.uint8)
    for row in active.rows:
        used[bit_at(x, row) << 2 | bit_at(y, row) << 1 | bit_at(z, row)] = 1
    for row in range(8):
        if used[row]:
            continue
        ones = zeros = 0
        for k in range(planes.shape[1]):
            here = x[k] if row & 4 else ~x[k]
            here &= y[k] if row & 2 else ~y[k]
            here &= z[k] if row & 1 else ~z[k]
            ones += popcount(here & planes[node, k])
            zeros += popcount(here & ~planes[node, k])
        table = table | 1 << row if ones > zeros else table & ~(1 << row)
    return table


# --------------------------------------------------------------------------------------------------
# Costs of rows. `word` is an output word at a row, `off` its error.
# --------------------------------------------------------------------------------------------------

FORBIDDEN = 1e12  # the cost of an inadmissible change


class WordRows(NamedTuple):
    """The outputs that are bits of words, most significant first, padded with -1.

    `flags` are outputs that must not change; no word may be farther than `most` from its `home`.
    """

    bits: NDArray[np.int64]
    flags: NDArray[np.int64]
    most: NDArray[np.float64]


class RowWords(NamedTuple):
    """Words at rows, their first values, their errors, and weights: an error costs weight·off².

    All are (words, rows).
    """

    word: NDArray[np.int64]
    home: NDArray[np.int64]
    off: NDArray[np.float64]
    weight: NDArray[np.float64]


@njit(cache=True)
def costs_of(rows: Any) -> Any:
    return (rows.weight * rows.off * rows.off).sum(axis=1)


@njit(cache=True)
def places_of(nodes: Any, words: Any, word: Any) -> Any:
    """Return the signals of a word's bits, most significant first."""
    places = words.bits[word]
    return nodes.outs[places[places >= 0]]


@njit(cache=True)
def extra(nodes: Any, words: Any, rows: Any, planes: Any, by: Any, total: Any) -> Any:
    """Store the cost increases of a change: `by` row, and the `total` by word.

    Return False if a flag changes or a word moves too far.
    """
    by[:] = 0.0
    total[:] = 0.0
    for flag in words.flags:
        if planes.marks[nodes.outs[flag]] == DIFFERS:
            by[:] = FORBIDDEN
            return False
    near = True
    for o in range(len(words.bits)):
        own = places_of(nodes, words, o)
        for k in range(planes.now.shape[1]):
            differs = differing(planes, own, k)
            while differs:
                row = lowest(differs) + (k << 6)
                differs &= differs - ONE
                if row >= rows.word.shape[1]:
                    break
                step = moved(planes, own, k, np.uint64(row & 63))
                if abs(rows.word[o, row] + step - rows.home[o, row]) > words.most[o]:
                    by[row] += FORBIDDEN
                    near = False
                    continue
                more = rows.weight[o, row] * step * (2 * rows.off[o, row] + step)
                by[row] += more
                total[o] += more
    return near


@njit(cache=True)
def take_in(nodes: Any, words: Any, rows: Any, planes: Any) -> None:
    """Update words after a change."""
    for o in range(len(words.bits)):
        own = places_of(nodes, words, o)
        for k in range(planes.now.shape[1]):
            differs = differing(planes, own, k)
            while differs:
                row = lowest(differs) + (k << 6)
                differs &= differs - ONE
                if row >= rows.word.shape[1]:
                    break
                step = moved(planes, own, k, np.uint64(row & 63))
                rows.word[o, row] += step
                rows.off[o, row] += step


@njit(cache=True)
def read_words(nodes: Any, words: Any, rows: Any, planes: Any) -> None:
    """Read all words from planes."""
    for o in range(len(words.bits)):
        own = places_of(nodes, words, o)
        for row in range(rows.word.shape[1]):
            word = np.int64(0)
            for s in own:
                word = word << 1 | np.int64(bit_at(planes[s], row))
            rows.off[o, row] += word - rows.word[o, row]
            rows.word[o, row] = word


@njit(cache=True, inline="always")
def differing(planes: Any, own: Any, k: Any) -> Any:
    """Return the rows of block k at which any of some outputs differs."""
    differs = np.uint64(0)
    for s in own:
        if planes.marks[s] == DIFFERS:
            differs |= planes.now[s, k] ^ planes.then[s, k]
    return differs


@njit(cache=True, inline="always")
def lowest(word: Any) -> Any:
    return popcount((word & (~word + ONE)) - ONE)


@njit(cache=True, inline="always")
def moved(planes: Any, own: Any, k: Any, bit: Any) -> Any:
    """Return the increase of a word at a row of block k; its bits are signals `own`."""
    step = np.int64(0)
    for s in own:
        step <<= 1
        if planes.marks[s] == DIFFERS:
            now, then = planes.now[s, k] >> bit & ONE, planes.then[s, k] >> bit & ONE
            step += np.int64(then) - np.int64(now)
    return step


# --------------------------------------------------------------------------------------------------
# The search.
# --------------------------------------------------------------------------------------------------

LEAST = 1e-7  # nodes that a change must gain, unless it is drawn


class Net(NamedTuple):
    """A network under change, and its output words."""

    nodes: MutableNetwork
    words: WordRows


class ObservedRows(NamedTuple):
    """Rows, the values of signals there, and a buffer for cost increases."""

    rows: RowWords
    planes: SignalPlanes
    by: NDArray[np.float64]


class SearchBudget(NamedTuple):
    """Limits of a search: `visits` of nodes, the largest `depth`, a temperature in nodes.

    `alone` similar signals are tried as replacements of a node, `together` in functions. With
    `complete` the rows are all inputs.
    """

    visits: int
    depth: int
    temperature: float
    alone: int
    together: int
    complete: bool = False


@njit(cache=True)
def search(net: Any, some: Any, every: Any, left: Any, budget: Any, state: Any) -> Any:
    """Change a network; return its order, and the number of changes.

    The cost of an output must not exceed `left`, in nodes.
    """
    nodes, made = net.nodes, 0
    order = ordered(nodes)
    where = np.zeros(len(nodes.fan), np.int64)
    where[order] = np.arange(len(order))
    evaluate(nodes, order, some.planes.now)
    for _ in range(budget.visits):
        node = order[int(uniform(state) * len(order))]
        if nodes.refs[node] <= 0 or nodes.size[node] != 1:
            continue
        least, place = -budget.temperature * patience(state), (order, where[node])
        best, move, near = promising(net, some, place, budget, least, state)
        needs = least, near or budget.complete
        if best < least or not holds(net, every, place, move, needs, left):
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
def promising(net: Any, some: Any, place: Any, budget: Any, least: Any, state: Any) -> Any:
    """Return the best gain of a change of a node at some rows, that move, and whether it is safe.

    It is safe if the node's inversion moves no word too far at these rows.
    """
    order, begin = place
    node, nodes, planes = order[begin], net.nodes, some.planes
    planes.marks[node] = DIFFERS
    for k in range(planes.now.shape[1]):
        planes.then[node, k] = ~planes.now[node, k]
    count = follow(nodes, order, begin + 1, planes)
    near = extra(nodes, net.words, some.rows, planes, some.by, np.zeros(len(net.words.bits)))
    active = active_rows(some.by, planes.now[node], planes.now.shape[1])
    limits = budget.depth - nodes.height[node] - 1, budget.alone, budget.together
    choice = choose(nodes, node, planes, active, limits, state)
    unmark(planes, node, count)
    best, move = bare_move(nodes, node, choice, active)
    gain, other = table_move(nodes, node, choice, active, least, state)
    if gain > best or (best <= 0 and gain >= least and uniform(state) < 0.5):
        best, move = gain, other
        move[0] = completed(node, planes.now, active, move)
    return best, move, near


@njit(cache=True)
def holds(net: Any, every: Any, place: Any, move: Any, needs: Any, left: Any) -> Any:
    """Return whether a change gains enough at all rows within `left`; apply it in this case.

    A change that differs at no row may differ elsewhere, so it must be safe.
    """
    (order, begin), (least, near) = place, needs
    node, nodes, planes = order[begin], net.nodes, every.planes
    if not replaced(planes, node, move[0], move[1:]):
        return near
    gain = saved_by(nodes, node, move[1:], int(not (move[1] == move[2] == move[3])))
    planes.marks[node] = DIFFERS
    count = follow(nodes, order, begin + 1, planes)
    total = np.zeros(len(net.words.bits))
    good = extra(nodes, net.words, every.rows, planes, every.by, total)
    good = good and gain - total.sum() >= min(least, LEAST)
    good = good and not ((total > 0) & (total > left)).any()
    if good:
        left[:] -= total
        take_in(nodes, net.words, every.rows, planes)
        keep_change(planes, node, count)
    unmark(planes, node, count)
    return good


@njit(cache=True)
def replaced(planes: Any, node: Any, table: Any, read: Any) -> Any:
    """Compute the values of a node as a table of others; return whether any value differs."""
    differs = np.uint64(0)
    x, y, z = planes.now[read[0]], planes.now[read[1]], planes.now[read[2]]
    for k in range(planes.now.shape[1]):
        value = value_of(np.uint64(table), x[k], y[k], z[k])
        planes.then[node, k] = value
        differs |= value ^ planes.now[node, k]
    return differs != 0
