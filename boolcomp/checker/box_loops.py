"""Compiled loops of bounds over boxes: the enclosures of all steps in a box, and branch and bound.

A step is a row of integers (see `boxes.py`). Its slot has six integers in a unit of its own: the
limits of the value of words, of the exact value, and of their difference, the error. The slot of an
index has the limits of a word, and of an angle on a grid. Right shifts round outward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.base.loops import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Short = NDArray[np.int32]
    Place = NDArray[np.uint16]
    Number: TypeAlias = int | np.int64
    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Integers, and tables of ranges.
# --------------------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def down(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded down."""
    if shift >= 0:
        return x >> min(shift, 62)
    return x << -shift


@njit(cache=True, inline="always")
def up(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded up."""
    return -down(-x, shift)


@njit(cache=True, inline="always")
def times(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    """Return the limits of a product of a number in a..b and a number in c..d."""
    one, two, three, four = a * c, a * d, b * c, b * d
    return min(one, two, three, four), max(one, two, three, four)


@njit(cache=True)
def between(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Return minimum and maximum of the entries first .. last of a table of ranges.

    Level k begins at start + k·count and has the ranges of 2^k consecutive entries.
    """
    level, span = 0, last - first + 1
    while span >> (level + 1):
        level += 1
    one = start + level * count + first
    two = start + level * count + last + 1 - (1 << level)
    return min(low[one], low[two]), max(high[one], high[two])


@njit(cache=True)
def around(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Do the same on a circle of `count` entries, a power of two; `first` may be any integer."""
    if last - first + 1 >= count:
        return between(low, high, start, count, 0, count - 1)
    one = first & (count - 1)
    two = one + last - first
    if two < count:
        return between(low, high, start, count, one, two)
    least, largest = between(low, high, start, count, one, count - 1)
    other, another = between(low, high, start, count, 0, two - count)
    return min(least, other), max(largest, another)


@njit(cache=True, inline="always")
def word_range(slots: Whole, k: int, bits: int, shift: int) -> tuple[int, int]:
    """Return the range of words of a slot; the lowest bit has the weight 2^shift."""
    whole, largest = ((1 << bits) - 1) << shift, (1 << bits) - 1
    first = -((-(2 * slots[k, 0] + whole)) >> (shift + 1))
    last = (2 * slots[k, 1] + whole) >> (shift + 1)
    first, last = min(max(first, 0), largest), min(max(last, 0), largest)
    return (first, last) if first <= last else (0, largest)


# --------------------------------------------------------------------------------------------------
# Evaluation of a box.
# --------------------------------------------------------------------------------------------------

INPUT, ANGLES, INDEX, TABLE, VIEW, ROWS, PRODUCT, SUM = range(8)  # kinds of steps
COLUMNS = 20


@njit(cache=True)
def settle(slots: Whole, k: int, limits: Whole) -> None:
    """Intersect a slot with its limits over all inputs; tighten its three ranges by each other."""
    for i in range(0, 6, 2):
        low, high = max(slots[k, i], limits[k, i]), min(slots[k, i + 1], limits[k, i + 1])
        if low > high:
            low, high = limits[k, i], limits[k, i + 1]
        slots[k, i], slots[k, i + 1] = low, high
    words_low, words_high = slots[k, 0], slots[k, 1]
    exact_low, exact_high = slots[k, 2], slots[k, 3]
    low, high = max(slots[k, 4], words_low - exact_high), min(slots[k, 5], words_high - exact_low)
    if low > high:
        return
    slots[k, 4], slots[k, 5] = low, high
    one, two = max(words_low, exact_low + low), min(words_high, exact_high + high)
    if one <= two:
        slots[k, 0], slots[k, 1] = one, two
    one, two = max(exact_low, words_low - high), min(exact_high, words_high - low)
    if one <= two:
        slots[k, 2], slots[k, 3] = one, two


@njit(cache=True)
def _input(row: Whole, slots: Whole, k: int, first: np.int64, last: np.int64) -> None:
    """Evaluate an input: its words, and the range of an angle on the grid of a turn."""
    shift, half = row[2], row[7]
    if shift >= 0:
        slots[k, 0], slots[k, 1] = first >> shift, last >> shift
    else:
        slots[k, 0], slots[k, 1] = first << -shift, ((last + 1) << -shift) - 1
    low = row[3] if first == row[5] else first - half
    high = row[4] if last == row[6] else last + 1 - half
    slots[k, 2], slots[k, 3] = min(low, high), max(low, high)


@njit(cache=True)
def _angles(row: Whole, args: Whole, slots: Whole, k: int) -> None:
    """Evaluate a sum of angles: grid ranges add up; leading bits of words add up modulo a turn."""
    at = row[2]
    low = high = 0
    for _ in range(row[1]):
        source, multiple = args[at], args[at + 1]
        at += 2
        a, b = slots[source, 2] * multiple, slots[source, 3] * multiple
        low, high = low + min(a, b), high + max(a, b)
    slots[k, 2], slots[k, 3] = low, high
    first = last = row[4]
    for _ in range(row[5]):
        source, drop, read, shift, negative = (
            args[at], args[at + 1], args[at + 2], args[at + 3], args[at + 4]
        )  # fmt: skip
        at += 5
        one, two, largest = slots[source, 0] >> drop, slots[source, 1] >> drop, (1 << read) - 1
        if two - one >= largest or (one >> read) != (two >> read):
            if two - one >= largest or read + shift < row[3]:
                one, two = 0, largest
        else:
            one, two = one & largest, two & largest
        if negative:
            one, two = largest - two, largest - one
        first, last = first + (one << shift), last + (two << shift)
    slots[k, 0], slots[k, 1] = first, last


@njit(cache=True)
def _index(row: Whole, slots: Whole, k: int) -> None:
    """Evaluate the word of a sum; a sum that is an angle has words modulo a turn, and a grid."""
    source, bits, shift = row[1], row[2], row[3]
    if row[4]:
        whole = ((1 << bits) - 1) << shift
        slots[k, 0] = -((-(2 * slots[source, 0] + whole)) >> (shift + 1))
        slots[k, 1] = max(slots[k, 0], (2 * slots[source, 1] + whole) >> (shift + 1))
        slots[k, 2], slots[k, 3] = down(slots[source, 2], row[5]), up(slots[source, 3], row[5])
    else:
        slots[k, 0], slots[k, 1] = word_range(slots, source, bits, shift)


@njit(cache=True)
def _table(row: Whole, low: Short, high: Short, slots: Whole, k: int) -> None:
    """Evaluate a function of a word: exact values by word or on the grid, words and errors."""
    source, count = row[1], row[2]
    first, last = slots[source, 0], slots[source, 1]
    if row[6]:
        one, two = slots[source, 2], slots[source, 3]
        one, two = around(low, high, row[3], row[6], one, max(one, two - 1))
        one, two = times(one, two, row[7], row[8])
        slots[k, 2], slots[k, 3] = down(one, row[9]), up(two, row[9])
    else:
        slots[k, 2], slots[k, 3] = around(low, high, row[3], count, first, last)
    if row[4] < 0:
        slots[k, 0] = slots[k, 1] = 0
        slots[k, 4], slots[k, 5] = -slots[k, 3], -slots[k, 2]
    else:
        slots[k, 0], slots[k, 1] = around(low, high, row[4], count, first, last)
        slots[k, 4], slots[k, 5] = around(low, high, row[5], count, first, last)


@njit(cache=True)
def _view(row: Whole, slots: Whole, k: int) -> None:
    """Evaluate the word of a sum without its lowest bits."""
    source, bits, shift, drop = row[1], row[2], row[3], row[4]
    first, last = word_range(slots, source, bits, shift)
    first, last, largest = first >> drop, last >> drop, (1 << (bits - drop)) - 1
    slots[k, 0] = (2 * first - largest) << (shift + drop - 1)
    slots[k, 1] = (2 * last - largest) << (shift + drop - 1)
    slots[k, 2], slots[k, 3] = slots[source, 2], slots[source, 3]
    lost = ((1 << drop) - 1) << (shift - 1)
    slots[k, 4], slots[k, 5] = slots[source, 4] - lost, slots[source, 5] + lost


@njit(cache=True)
def _rows(row: Whole, slots: Whole, k: int) -> None:
    """Evaluate the rows of a sum's word within another sum: weights, factor and their difference.

    row: source, weight and its shift, factor (two limits) and shift, rest (the same), lost bits.
    """
    source = row[1]
    a, b = times(slots[source, 0], slots[source, 1], row[2], row[2])
    slots[k, 0], slots[k, 1] = down(a, row[3]) - row[10], up(b, row[3]) + row[10]
    a, b = times(slots[source, 2], slots[source, 3], row[4], row[5])
    slots[k, 2], slots[k, 3] = down(a, row[6]), up(b, row[6])
    a, b = times(slots[source, 4], slots[source, 5], row[2], row[2])
    c, d = times(slots[source, 2], slots[source, 3], row[7], row[8])
    slots[k, 4] = down(a, row[3]) + down(c, row[9]) - row[10]
    slots[k, 5] = up(b, row[3]) + up(d, row[9]) + row[10]


@njit(cache=True)
def _lost(
    row: Whole, k: int, low: Short, high: Short, slots: Whole, source: int
) -> tuple[int, int]:
    """Return limits of discarded partial products, given the range of one of the words."""
    if row[k] < 0:
        return -row[11], row[11]
    first, last = word_range(slots, source, row[k + 2], row[k + 3])
    return around(low, high, row[k], row[k + 1], first, last)


@njit(cache=True)
def _product(row: Whole, low: Short, high: Short, slots: Whole, k: int) -> None:
    """Evaluate a product of two words with discarded columns, or a product without words."""
    one, two, shift = row[1], row[2], row[3]
    a, b = times(slots[one, 2], slots[one, 3], slots[two, 2], slots[two, 3])
    if not row[4]:
        a, b = times(down(a, row[7]), up(b, row[7]), row[5], row[6])
        slots[k, 2], slots[k, 3] = down(a, shift), up(b, shift)
        slots[k, 0] = slots[k, 1] = 0
        slots[k, 4], slots[k, 5] = -slots[k, 3], -slots[k, 2]
        return
    c, d = times(slots[one, 0], slots[one, 1], slots[two, 0], slots[two, 1])
    e, f = times(slots[one, 0], slots[one, 1], slots[two, 4], slots[two, 5])
    g, h = times(slots[one, 4], slots[one, 5], slots[two, 2], slots[two, 3])
    least, largest = e + g, f + h
    e, f = times(slots[one, 2], slots[one, 3], slots[two, 4], slots[two, 5])
    g, h = times(slots[one, 4], slots[one, 5], slots[two, 0], slots[two, 1])
    least, largest = max(least, e + g), min(largest, f + h)
    first, last = _lost(row, 12, low, high, slots, two)
    second, third = _lost(row, 16, low, high, slots, one)
    first, last = max(first, second), min(last, third)
    if row[4] < 0:
        a, b, c, d, least, largest = -b, -a, -d, -c, -largest, -least
        first, last = -last, -first
    slots[k, 2], slots[k, 3] = down(a, shift), up(b, shift)
    slots[k, 0], slots[k, 1] = down(c, shift) - last, up(d, shift) - first
    slots[k, 4], slots[k, 5] = down(least, shift) - last, up(largest, shift) - first


@njit(cache=True)
def _sum(row: Whole, args: Whole, slots: Whole, k: int) -> None:
    """Evaluate a sum: words, exact values and errors add up."""
    at = row[2]
    for i in range(6):
        slots[k, i] = row[3 + i]
    for _ in range(row[1]):
        source, shift = args[at], args[at + 1]
        at += 2
        for i in range(0, 6, 2):
            slots[k, i] += down(slots[source, i], shift)
            slots[k, i + 1] += up(slots[source, i + 1], shift)


@njit(cache=True)
def evaluate(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, which: Whole, slots: Whole,
    first: Place, last: Place,
) -> None:  # fmt: skip
    """Evaluate some steps in a box; `first` and `last` are the cells of each input."""
    for k in which:
        row = steps[k]
        kind = row[0]
        if kind == INPUT:
            _input(row, slots, k, np.int64(first[row[1]]), np.int64(last[row[1]]))
        elif kind == ANGLES:
            _angles(row, args, slots, k)
        elif kind == INDEX:
            _index(row, slots, k)
        elif kind == TABLE:
            _table(row, low, high, slots, k)
        elif kind == PRODUCT:
            _product(row, low, high, slots, k)
        elif kind == SUM:
            _sum(row, args, slots, k)
        elif kind == ROWS:
            _rows(row, slots, k)
        else:
            _view(row, slots, k)
        if kind > INDEX:
            settle(slots, k, limits)


# --------------------------------------------------------------------------------------------------
# Branch and bound; the box that exceeds a claim most is split first.
# --------------------------------------------------------------------------------------------------


@njit(cache=True)
def _sink(heap: Whole, keys: Whole, used: int, box: int) -> None:
    """Insert a box into a heap of `used` others; equal boxes are ordered by index."""
    k = used
    while k:
        above = (k - 1) >> 1
        other = heap[above]
        if keys[other] > keys[box] or (keys[other] == keys[box] and other < box):
            break
        heap[k] = other
        k = above
    heap[k] = box


@njit(cache=True)
def _drop(heap: Whole, keys: Whole, used: int) -> None:
    """Remove the first of `used` boxes from a heap."""
    box, k = heap[used - 1], 0
    while True:
        below = 2 * k + 1
        if below >= used - 1:
            break
        if below + 1 < used - 1:
            one, two = heap[below], heap[below + 1]
            if keys[two] > keys[one] or (keys[two] == keys[one] and two < one):
                below += 1
        other = heap[below]
        if keys[box] > keys[other] or (keys[box] == keys[other] and box < other):
            break
        heap[k] = other
        k = below
    heap[k] = box


@njit(cache=True, inline="always")
def width(first: np.int64, last: np.int64) -> int:
    """Return the number of lowest bits that differ within a range of cells."""
    bit = 0
    while (first ^ last) >> bit:
        bit += 1
    return bit


@njit(cache=True)
def asked(slots: Whole, out: int, goal: Whole) -> tuple[int, int]:
    """Return the limits of the words of a slot, or of its error after its word is rounded.

    `goal` has the limits of an added constant, the bits of the word and the shift of its lowest
    bit. The number of dropped bits (0 if the slot is no output) and a column follow. Dropping adds
    most to the error of a word if its lowest bits are 0. This occurs if its range contains a
    multiple of a whole step; otherwise the range gives the lowest bits. The error is also at most
    the value of the largest word minus the least exact value.
    """
    least, largest = slots[out, goal[5]], slots[out, goal[5] + 1]
    bits, shift, drop = goal[2], goal[3], goal[4]
    if drop:
        ones = (1 << drop) - 1
        one, two = word_range(slots, out, bits, shift)
        same = one >> drop == two >> drop
        above = ones - 2 * (one & ones) if same else ones
        below = ones - 2 * (two & ones) if same else -ones
        whole, half = (1 << bits) - 1, shift - 1
        high = ((2 * two - whole + ones - 2 * (two & ones)) << half) - slots[out, 2]
        low = ((2 * one - whole + ones - 2 * (one & ones)) << half) - slots[out, 3]
        least, largest = max(low, least + (below << half)), min(high, largest + (above << half))
    return least + goal[0], largest + goal[1]


@njit(cache=True)
def search(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, needed: Whole,
    readers: Whole, begin: Whole, firsts: Place, lasts: Place, worth: Floats, goal: Whole,
    budget: int, result: Whole,
) -> None:  # fmt: skip
    """Split the box that exceeds a claim most, until none does, for at most `budget` boxes.

    The claim, the last two numbers of `goal`, limits what the last of the `needed` steps is
    `asked`. A box is split at the input with the largest `worth`, given its number of open bits; a
    single cell ends the search. `result` gets the limits over all boxes, the number of evaluated
    boxes, the number of the box that exceeds the claim most, and by how much. `firsts` and `lasts`
    are storage for boxes; the first box is the whole domain. `readers`, indexed by `begin`, has the
    steps that depend on each input; the second half of a box evaluates only these.
    """
    out = needed[-1]
    room, dims = firsts.shape
    largest, least = np.empty(room, np.int64), np.empty(room, np.int64)
    keys = np.empty(room, np.int64)
    heap, slots = np.empty(room, np.int64), np.zeros((len(steps), 6), np.int64)
    first, last = firsts[0].copy(), lasts[0].copy()
    evaluate(steps, args, low, high, limits, needed, slots, first, last)
    least[0], largest[0] = asked(slots, out, goal)
    keys[0] = max(largest[0] - goal[7], goal[6] - least[0])
    heap[0] = 0
    used, made, seen = 1, 1, 1
    while seen < budget and made < room and keys[heap[0]] > 0:
        box = heap[0]
        chosen, best, bit = -1, 0.0, 0
        for dim in range(dims):
            bits = width(np.int64(firsts[box, dim]), np.int64(lasts[box, dim]))
            if bits and worth[dim, bits] > best:
                best, chosen, bit = worth[dim, bits], dim, bits - 1
        if chosen < 0:
            break
        _drop(heap, keys, used)
        used -= 1
        first[:], last[:] = firsts[box], lasts[box]
        one, two = np.int64(first[chosen]), np.int64(last[chosen])
        half = (two >> bit) << bit
        bottom, top = least[box], largest[box]
        for side in range(2):
            first[chosen] = one if side == 0 else half
            last[chosen] = half - 1 if side == 0 else two
            which = needed if side == 0 else readers[begin[chosen] : begin[chosen + 1]]
            evaluate(steps, args, low, high, limits, which, slots, first, last)
            place = box if side == 0 else made
            firsts[place], lasts[place] = first, last
            below, above = asked(slots, out, goal)
            least[place], largest[place] = max(bottom, below), min(top, above)
            keys[place] = max(largest[place] - goal[7], goal[6] - least[place])
            _sink(heap, keys, used, place)
            used += 1
        made, seen = made + 1, seen + 2
    result[0], result[1] = least[heap[0]], largest[heap[0]]
    result[2], result[3], result[4] = seen, heap[0], keys[heap[0]]
    for k in range(used):
        result[0] = min(result[0], least[heap[k]])
        result[1] = max(result[1], largest[heap[k]])


@njit(cache=True)
def sampled(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, needed: Whole,
    firsts: Place, lasts: Place, goal: Whole, keys: Whole,
) -> None:  # fmt: skip
    """Find by how much each of some boxes exceeds a claim."""
    slots = np.zeros((len(steps), 6), np.int64)
    for k in range(len(firsts)):
        evaluate(steps, args, low, high, limits, needed, slots, firsts[k], lasts[k])
        least, largest = asked(slots, needed[-1], goal)
        keys[k] = max(largest - goal[7], goal[6] - least)
