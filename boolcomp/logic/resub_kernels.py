"""Compiled loops of resubstitution: networks as arrays, and the search for the operands of a node.

Pairs of points represent the truth table: the node must be 1 at the first and 0 at the second.
Suitable operands separate all pairs. They are then verified on the whole table; a failure adds a
pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

# --------------------------------------------------------------------------------------------------
# Networks that change in place. Loops use local arrays, and functions that are called often have
# few array parameters. Numba counts references to every array of a tuple that is passed or read,
# which once took half of the time.
# --------------------------------------------------------------------------------------------------

# mypy: disable-error-code="untyped-decorator"

NEVER = 1 << 30  # a level that no output reaches
ONE = np.uint64(1)
_MULTIPLIER, _STEP = np.uint64(6364136223846793005), np.uint64(1442695040888963407)


class Graph(NamedTuple):
    """A network as arrays over signals, numbered as in `network`, and work arrays.

    `fan` holds three operands (0 if unused), `planes` the truth table of every signal, 64 points
    per word. `refs` counts the users of a signal (0 for dead nodes). Outputs are don't-cares where
    `care` is 0. `arrive` are the levels of constants and inputs, `latest` the latest levels of
    outputs. `state` is the state of the random generator. `order` holds the living nodes, operands
    first, after a sort.

    `level` and `required` are every signal's level and its latest allowed level. `after` marks the
    nodes that depend on a node, `flipped` are planes for its inverse, `seen` its care points.
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
    """Compute the planes of all nodes marked by `after`."""
    fan, order, luts, planes, after = g.fan, g.order, g.lut, g.planes, g.after
    for t in range(count):
        s = order[t]
        if after[s]:
            lut, a, b, c = luts[s], fan[s, 0], fan[s, 1], fan[s, 2]
            for w in range(planes.shape[1]):
                planes[s, w] = value_of(lut, planes[a, w], planes[b, w], planes[c, w])


@njit(cache=True)
def sort_nodes(g: Any) -> Any:
    """Put the living nodes into `order`, operands first; return their number."""
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
    """Compute the level and the latest allowed level of every signal."""
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
    """Mark in `after` the nodes that depend on v, and in `seen` the care points of v."""
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
    """Remove one reference to the operands of a node; return the number of freed nodes."""
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
    """Return the number of nodes that vanish if v reads a, b, c instead of its operands."""
    fan, refs, stack, first = g.fan, g.refs, g.stack, len(g.arrive)
    refs[a] += 1
    refs[b] += 1
    refs[c] += 1
    freed = release(fan, refs, stack, first, v)
    # A new operand of v has a reference, so it is not freed.
    retain(fan, refs, stack, first, v)
    refs[a] -= 1
    refs[b] -= 1
    refs[c] -= 1
    return freed


# --------------------------------------------------------------------------------------------------
# The search for three operands of a node.
# --------------------------------------------------------------------------------------------------

PAIRS = 256  # maximum: four words
START_PAIRS = 64
MOST_TRIED = 400  # candidates of one node
MOST_VERIFIED = 8  # verified candidates
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)
_WORDS = PAIRS // 64
# Places in `Hunt.best`: the gain, three operands, the table, the number of equal gains, of verified
# candidates, the maximum gain, the number of tries, of pairs, of candidates.
GAIN, FIRST, SECOND, THIRD, TABLE, EQUALS, SERVED, MOST, TRIED, COUNT_PAIRS, COUNT = range(11)


class Hunt(NamedTuple):
    """Candidates for the operands of a node, and the pairs that they separate.

    `points` are the pairs. Bit p of row t of `vectors` tells that candidate t separates pair p, as
    does bit t of row p of `owners`. `all_pairs`, `left`, `rest` are sets of pairs: all, those that
    the first candidate does not separate, and of these those that the second does not. `chosen` is
    a set of candidates, `met` holds earlier ones. `high` and `low` are the points where the node
    must be 1 and 0.
    """

    candidates: NDArray[np.int64]
    points: NDArray[np.int64]
    vectors: NDArray[np.uint64]
    owners: NDArray[np.uint64]
    all_pairs: NDArray[np.uint64]
    left: NDArray[np.uint64]
    rest: NDArray[np.uint64]
    chosen: NDArray[np.uint64]
    met: NDArray[np.uint64]
    high: NDArray[np.uint64]
    low: NDArray[np.uint64]
    best: NDArray[np.int64]


@njit(cache=True)
def lowest(word: Any) -> Any:
    """Return the place of the lowest set bit of a nonzero word."""
    place = 0
    if not word & np.uint64(0xFFFFFFFF):
        word >>= np.uint64(32)
        place += 32
    if not word & np.uint64(0xFFFF):
        word >>= np.uint64(16)
        place += 16
    if not word & np.uint64(0xFF):
        word >>= np.uint64(8)
        place += 8
    if not word & np.uint64(0xF):
        word >>= np.uint64(4)
        place += 4
    if not word & np.uint64(0x3):
        word >>= np.uint64(2)
        place += 2
    return place + (0 if word & ONE else 1)


@njit(cache=True, inline="always")
def random_point(plane: Any, state: Any) -> Any:
    """Return a random set point of a plane that is not empty."""
    words = len(plane)
    w = draw(state, words)
    while not plane[w]:
        w = (w + 1) % words
    turn = draw(state, 64)
    turned = plane[w] >> np.uint64(turn) | plane[w] << np.uint64((64 - turn) & 63)
    return 64 * w + ((turn + lowest(turned)) & 63)


@njit(cache=True, inline="always")
def cell_of(x: Any, y: Any, z: Any, row: Any) -> Any:
    return (x if row & 4 else ~x) & (y if row & 2 else ~y) & (z if row & 1 else ~z)


@njit(cache=True)
def table_for(planes: Any, high: Any, low: Any, a: Any, b: Any, c: Any) -> Any:
    """Return the table of the node over a, b, c, or -1 minus a row that must be 0 and 1."""
    ones = zeros = 0
    for w in range(len(high)):
        x, y, z, up, down = planes[a, w], planes[b, w], planes[c, w], high[w], low[w]
        for row in range(8):
            cell = cell_of(x, y, z, row)
            if cell & up:
                ones |= 1 << row
            if cell & down:
                zeros |= 1 << row
        if ones & zeros:
            return -1 - lowest(np.uint64(ones & zeros))
    return ones


@njit(cache=True)
def find_pair(planes: Any, high: Any, low: Any, which: Any, row: Any, pair: Any) -> None:
    """Set two points that the node must separate and three signals do not."""
    pair[0] = pair[1] = -1
    for w in range(len(high)):
        cell = cell_of(planes[which[0], w], planes[which[1], w], planes[which[2], w], row)
        if pair[0] < 0 and cell & high[w]:
            pair[0] = 64 * w + lowest(cell & high[w])
        if pair[1] < 0 and cell & low[w]:
            pair[1] = 64 * w + lowest(cell & low[w])


@njit(cache=True)
def tell_apart(g: Any, h: Any, first: Any, count: Any) -> None:
    """Enter new pairs in the vectors of candidates and in their transpose.

    Without branches, as these would be unpredictable.
    """
    planes, points, candidates = g.planes, h.points, h.candidates
    vectors, owners = h.vectors, h.owners
    for t in range(h.best[COUNT]):
        s, word, place = candidates[t], t >> 6, np.uint64(t & 63)
        for p in range(first, first + count):
            x, y = points[p, 0], points[p, 1]
            one = planes[s, x >> 6] >> np.uint64(x & 63)
            differ = (one ^ planes[s, y >> 6] >> np.uint64(y & 63)) & ONE
            vectors[t, p >> 6] |= differ << np.uint64(p & 63)
            owners[p, word] |= differ << place


@njit(cache=True)
def _take_in(g: Any, h: Any, count: Any) -> None:
    first = h.best[COUNT_PAIRS]
    for p in range(first, first + count):
        h.all_pairs[p >> 6] |= ONE << np.uint64(p & 63)
    h.best[COUNT_PAIRS] = first + count
    tell_apart(g, h, first, count)


@njit(cache=True)
def _remaining(of: Any, vector: Any, result: Any) -> Any:
    """Set `result` to the pairs of `of` not in `vector`; return the first of them, or -1."""
    found = -1
    for w in range(_WORDS):
        result[w] = of[w] & ~vector[w]
        if found < 0 and result[w]:
            found = 64 * w + lowest(result[w])
    return found


@njit(cache=True)
def _below(word: Any, place: Any) -> Any:
    """Return the bits of a set's word below a place."""
    left = place - 64 * word
    if left <= 0:
        return np.uint64(0)
    return FULL if left >= 64 else (ONE << np.uint64(left)) - ONE


@njit(cache=True)
def _next(members: Any, width: Any, start: Any) -> Any:
    """Return the first member of a set from a place on, or -1."""
    for x in range(start >> 6, width):
        word = members[x] & ~_below(x, start)
        if word:
            return 64 * x + lowest(word)
    return -1


@njit(cache=True)
def _choose(of: Any, owners: Any, width: Any, chosen: Any) -> Any:
    """Restrict a set of candidates to those that separate all pairs of `of`; False if empty."""
    for w in range(_WORDS):
        rest = of[w]
        while rest:
            p = 64 * w + lowest(rest)
            rest &= rest - ONE
            alive = np.uint64(0)
            for x in range(width):
                chosen[x] &= owners[p, x]
                alive |= chosen[x]
            if not alive:
                return False
    return True


@njit(cache=True)
def _rarest(h: Any, width: Any) -> Any:
    """Return the pair that the fewest candidates separate."""
    root, fewest, owners = 0, 1 << 30, h.owners
    for p in range(h.best[COUNT_PAIRS]):
        number = 0
        for x in range(width):
            rest = owners[p, x]
            while rest:
                rest &= rest - ONE
                number += 1
        if number < fewest:
            root, fewest = p, number
    return root


@njit(cache=True)
def _is_own(g: Any, v: Any, which: Any) -> Any:
    """Tell whether three signals are the present operands of v."""
    for k in range(3):
        s = g.fan[v, k]
        if s not in (which[0], which[1], which[2]):
            return False
    return True


@njit(cache=True)
def _offer(g: Any, h: Any, v: Any, i: Any, j: Any, k: Any) -> Any:
    """Verify up to three candidates (-1: none); return whether the search may end."""
    a = h.candidates[i]
    b = h.candidates[j] if j >= 0 else 0
    c = h.candidates[k] if k >= 0 else 0
    which, best = (a, b, c), h.best
    best[TRIED] += 1
    gain = gain_of(g, v, a, b, c) + (j < 0 and k < 0)
    if gain >= best[GAIN] and not _is_own(g, v, which):
        table = table_for(g.planes, h.high, h.low, a, b, c)
        if table < 0:
            if best[COUNT_PAIRS] < PAIRS:
                p = best[COUNT_PAIRS]
                find_pair(g.planes, h.high, h.low, which, -1 - table, h.points[p])
                _take_in(g, h, 1)
        else:
            best[SERVED] += 1
            best[EQUALS] = best[EQUALS] + 1 if gain == best[GAIN] else 1
            if gain > best[GAIN] or draw(g.state, best[EQUALS]) == 0:
                best[GAIN], best[TABLE] = gain, table
                best[FIRST], best[SECOND], best[THIRD] = a, b, c
    if best[SERVED] > 0 and best[GAIN] >= best[MOST]:
        return True
    return best[TRIED] >= MOST_TRIED or best[SERVED] >= MOST_VERIFIED


@njit(cache=True)
def reach(left: Any, vector: Any, rest: Any, owners: Any, met: Any, chosen: Any) -> Any:
    """Set `chosen` to the new candidates that complete two others.

    Return 1 if there are any, 0 if not, -1 if the two need no third.
    """
    if _remaining(left, vector, rest) < 0:
        return -1
    for x in range(len(chosen)):
        chosen[x] = ~met[x]
    return 1 if _choose(rest, owners, len(chosen), chosen) else 0


@njit(cache=True)
def _with_two(g: Any, h: Any, v: Any, i: Any, j: Any, reached: Any) -> Any:
    """Offer two candidates alone or with each of the chosen; True if the search may end."""
    width, count = len(h.chosen), h.best[COUNT]
    if reached < 0:
        if _offer(g, h, v, i, j, -1):
            return True
        _remaining(h.all_pairs, h.vectors[i], h.left)
        return False
    k = _next(h.chosen, width, 0)
    while 0 <= k < count:
        pairs = h.best[COUNT_PAIRS]
        if _offer(g, h, v, i, j, k):
            return True
        if h.best[COUNT_PAIRS] > pairs:
            _remaining(h.all_pairs, h.vectors[i], h.left)
            _remaining(h.left, h.vectors[j], h.rest)
            if not _choose(h.rest, h.owners, width, h.chosen):
                return False
        k = _next(h.chosen, width, k + 1)
    return False


@njit(cache=True)
def _with_one(g: Any, h: Any, v: Any, i: Any, root: Any) -> Any:
    """Offer a candidate alone or with others; True if the search may end.

    `met` holds earlier combinations: candidates before i that separate the root pair were first,
    and those before j that separate the second pair were second.
    """
    width, count = len(h.chosen), h.best[COUNT]
    second = _remaining(h.all_pairs, h.vectors[i], h.left)
    if second < 0:
        if _offer(g, h, v, i, -1, -1):
            return True
        second = _remaining(h.all_pairs, h.vectors[i], h.left)
        if second < 0:
            return False
    left, rest, owners, met, chosen = h.left, h.rest, h.owners, h.met, h.chosen
    vectors, roots, seconds = h.vectors, h.owners[root], h.owners[second]
    for x in range(width):
        met[x] = roots[x] & _below(x, i)
    for j in range(count):
        x, bit = j >> 6, ONE << np.uint64(j & 63)
        if not seconds[x] & bit or (j < i and roots[x] & bit):
            continue
        reached = reach(left, vectors[j], rest, owners, met, chosen)
        if reached and _with_two(g, h, v, i, j, reached):
            return True
        met[x] |= bit
    return False


@njit(cache=True)
def search(g: Any, h: Any, v: Any) -> None:
    """Find up to three operands of v, valid at all its care points, with the largest gain.

    The first separates the rarest pair, the next the first remaining pair, and so on.
    """
    h.best[MOST] = gain_of(g, v, 0, 0, 0)
    width = len(h.chosen)
    points, high, low, state = h.points, h.high, h.low, g.state
    for p in range(START_PAIRS):
        points[p, 0], points[p, 1] = random_point(high, state), random_point(low, state)
    _take_in(g, h, START_PAIRS)
    root = _rarest(h, width)
    i = _next(h.owners[root], width, 0)
    while i >= 0 and not _with_one(g, h, v, i, root):
        i = _next(h.owners[root], width, i + 1)
