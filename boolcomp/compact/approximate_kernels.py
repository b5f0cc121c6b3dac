"""The compiled search: nodes drawn, inverted, and changed to what saves more than it costs.

Some rows say what is promising, all rows whether it holds. A second network, the mirror, may have
to follow: a change counts if the same change of the mirror's like node makes the same outputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.logic.synthesis.resub_kernels import value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


# --------------------------------------------------------------------------------------------------
# Compiled loops over networks as arrays: values, levels, what dies.
#
# Signals are numbered as in `network`; `fan` holds three operands (unused ones are signal 0),
# `size` what a node counts (0 where it only passes a signal on), `refs` how many living operands
# and outputs it serves, `level` the nodes before it and with it, `height` those after it. Planes
# hold a bit for every row, a row being a word of inputs.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


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


# --------------------------------------------------------------------------------------------------
# Compiled loops that find what is best in a node's place, at what its inversion costs row by row.
#
# One inversion prices all changes of a node: each differs from it at some rows.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


NOTHING = -1e300
PASSED_OVER = 0.25  # of near signals, at random: others are looked at each time
IDENTITY, INVERSE = 0xF0, 0x0F  # tables that pass their first operand on


class Active(NamedTuple):
    """The rows at which a node matters: what its inversion costs there, and its values."""

    rows: NDArray[np.int64]
    costs: NDArray[np.float64]
    values: NDArray[np.uint8]
    marks: NDArray[np.uint64]


class Choice(NamedTuple):
    """Signals that may stand in a node's place, and their values at active rows.

    The first `own` are the node's operands; functions are made of those before `together`.
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
    """Return a random number of mean near 1.4 whose chance halves with every unit.

    It stands for a logarithm, which differs between machines in its last bit.
    """
    u, whole = 1.0 - uniform(state), 0
    while u <= 0.5:
        u, whole = 2 * u, whole + 1
    return whole + 2 * (1 - u)


@njit(cache=True)
def active_rows(by: Any, plane: Any, words: Any) -> Any:
    """Return the rows at which a node's inversion costs or gains something."""
    rows = np.flatnonzero(by)
    marks, values = np.zeros(words, np.uint64), np.empty(len(rows), np.uint8)
    for j, row in enumerate(rows):
        marks[row >> 6] |= ONE << np.uint64(row & 63)
        values[j] = bit_at(plane, row)
    return Active(rows, by[rows], values, marks)


@njit(cache=True)
def choose(nodes: Any, node: Any, planes: Any, active: Any, limits: Any, state: Any) -> Any:
    """Return the operands of a node, and signals like it: not too late, and not its readers.

    `limits` are the latest level, how many signals are chosen, how many for functions.
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
    return Choice(chosen[:found], seen, own, min(found, max(own, together)))


@njit(cache=True)
def nearest(nodes: Any, node: Any, planes: Any, active: Any, latest: Any) -> Any:
    """Return signals by how little they, or their inverses, differ from a node where it matters."""
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
    """Return patterns of values that occur, and what inverting the node at them costs.

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
    """Return what the best constant or signal in a node's place gains, and that move."""
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
    """Return what the best function of three signals gains, and that move.

    Where none gains anything, one of those that gain at least `least` is drawn.
    """
    best, beside, count, move = NOTHING, 0, choice.together, np.zeros(4, np.int64)
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
                bare = k < choice.own  # the node's own operands, with another table
                bound = (0 if bare else gone + nodes.size[node] - 1) - cost
                if bound < least or (bound <= best and best > 0) or (bare and cost > -1e-12):
                    continue
                new[0], new[1] = choice.signals[i], choice.signals[j]
                new[2] = choice.signals[k]
                gain = saved_by(nodes, node, new, 1) - cost
                if gain < least or (gain <= 0 and best > 0):
                    continue
                beside += 1
                if gain > max(best, 0.0) or (best <= 0 and uniform(state) * beside < 1):
                    best = gain
                    move[0], move[1:] = table, new
    return best, move


@njit(cache=True)
def completed(node: Any, planes: Any, active: Any, move: Any) -> Any:
    """Return a move's table, where no active row says what it must be as the node mostly is."""
    table, x, y, z = move[0], planes[move[1]], planes[move[2]], planes[move[3]]
    said = np.zeros(8, np.uint8)
    for row in active.rows:
        said[bit_at(x, row) << 2 | bit_at(y, row) << 1 | bit_at(z, row)] = 1
    for row in range(8):
        if said[row]:
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
# Compiled loops over rows: what they cost, and by how much more where a network is another.
#
# A row is a word of inputs, an output's word there is `word`, by `off` more than it should be.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


FORBIDDEN = 1e12  # the cost of what must not be


class WordRows(NamedTuple):
    """Which outputs are the bits of words, most significant first, padded with -1.

    `flags` are outputs that must not change; no word may be farther than `most` from its `home`.
    """

    bits: NDArray[np.int64]
    flags: NDArray[np.int64]
    most: NDArray[np.float64]


class Rows(NamedTuple):
    """What words are at rows, where they were at first, and what an error costs: weight·off².

    All are (words, rows).
    """

    word: NDArray[np.int64]
    home: NDArray[np.int64]
    off: NDArray[np.float64]
    weight: NDArray[np.float64]


@njit(cache=True)
def costs_of(rows: Any) -> Any:
    """Return what every word costs."""
    return (rows.weight * rows.off * rows.off).sum(axis=1)


@njit(cache=True)
def places_of(nodes: Any, words: Any, word: Any) -> Any:
    """Return the signals of a word's bits, most significant first."""
    places = words.bits[word]
    return nodes.outs[places[places >= 0]]


@njit(cache=True)
def extra(nodes: Any, words: Any, rows: Any, planes: Any, by: Any, total: Any) -> Any:
    """Fill in by how much rows cost more after a change, and in `total` what that is by word.

    Return False where a flag changes, or a word goes too far.
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
    """Let words be what they are after a change."""
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
    """Return the rows, of the k-th 64, at which any of some outputs differs."""
    differs = np.uint64(0)
    for s in own:
        if planes.marks[s] == DIFFERS:
            differs |= planes.now[s, k] ^ planes.then[s, k]
    return differs


@njit(cache=True, inline="always")
def lowest(word: Any) -> Any:
    """Return the place of a word's lowest one."""
    return popcount((word & (~word + ONE)) - ONE)


@njit(cache=True, inline="always")
def moved(planes: Any, own: Any, k: Any, bit: Any) -> Any:
    """Return by how much a word, whose bits are signals, is more at a row of the k-th 64."""
    step = np.int64(0)
    for s in own:
        step <<= 1
        if planes.marks[s] == DIFFERS:
            now, then = planes.now[s, k] >> bit & ONE, planes.then[s, k] >> bit & ONE
            step += np.int64(then) - np.int64(now)
    return step


# --------------------------------------------------------------------------------------------------
# The compiled search: nodes drawn, inverted, and changed to what saves more than it costs.
# --------------------------------------------------------------------------------------------------


# mypy: disable-error-code="untyped-decorator"


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
