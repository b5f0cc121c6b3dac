"""Compiled loops over boxes of inputs: what every word, value and error of a graph may be there.

A graph is a list of steps (`boxes.py`); a step is a row of whole numbers. A slot holds six: the
least and the largest of what its words say as digits, of what they stand for, and of the error.
Every slot has a unit of its own, 2^-scale; what is shifted right is rounded outward.
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
# Compiled loops over boxes of inputs: what every word, value and error of a graph may be there.
# --------------------------------------------------------------------------------------------------


TURN, TURNS, ANGLE, WAVE, CURVE, GIVEN, VIEW, ROWS, PRODUCT, SUM = range(10)
WORDED = 22  # of a step: whether words stand for what it makes
COLUMNS = 23


@njit(cache=True, inline="always")
def down(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded down."""
    if shift >= 0:
        return x >> min(shift, 62)
    return x << -shift


@njit(cache=True, inline="always")
def up(x: int, shift: int) -> int:
    """Return x · 2^-shift, rounded up."""
    if shift >= 0:
        return -((-x) >> min(shift, 62))
    return x << -shift


@njit(cache=True, inline="always")
def times(a: int, b: int, c: int, d: int) -> tuple[int, int]:
    """Return between which numbers a product lies of one of a..b and one of c..d."""
    one, two, three, four = a * c, a * d, b * c, b * d
    return min(one, two, three, four), max(one, two, three, four)


@njit(cache=True)
def between(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Return the least and the largest entry from first to last of a table of ranges.

    Level k holds, from start + k·count on, those of 2^k entries one after another.
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
    """Do the same on a circle of `count` entries, a power of two; `first` may be any number."""
    if last - first + 1 >= count:
        return between(low, high, start, count, 0, count - 1)
    one = first & (count - 1)
    two = one + last - first
    if two < count:
        return between(low, high, start, count, one, two)
    least, most = between(low, high, start, count, one, count - 1)
    other, another = between(low, high, start, count, 0, two - count)
    return min(least, other), max(most, another)


@njit(cache=True)
def wave(low: Short, start: int, places: int, peaks: int, first: int, last: int) -> tuple[int, int]:
    """Return between which grid values a wave's lie from place first to place last.

    Its values at all places, then how many peaks there are, and their places: between two places
    that have no peak between them the largest and the least value is at an end.
    """
    mask = places - 1
    a, b = low[start + (first & mask)], low[start + (last & mask)]
    least, most = min(a, b), max(a, b)
    for k in range(peaks):
        place = low[start + places + k]
        if (place - first) & mask <= last - first:
            value = low[start + place]
            least, most = min(least, value), max(most, value)
    return least, most


@njit(cache=True)
def settle(slots: Whole, k: int) -> None:
    """Let words, values and errors of a slot say what the others may be."""
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
def clamp(slots: Whole, k: int, known: Whole) -> None:
    """Meet what is known of a slot wherever inputs are."""
    for i in range(0, 6, 2):
        low, high = max(slots[k, i], known[k, i]), min(slots[k, i + 1], known[k, i + 1])
        if low <= high:
            slots[k, i], slots[k, i + 1] = low, high
        else:
            slots[k, i], slots[k, i + 1] = known[k, i], known[k, i + 1]


@njit(cache=True, inline="always")
def word_range(slots: Whole, k: int, bits: int, shift: int) -> tuple[int, int]:
    """Return the words of a slot, of which a bit counts 2^shift."""
    whole = ((1 << bits) - 1) << shift
    first = -((-(2 * slots[k, 0] + whole)) >> (shift + 1))
    last = (2 * slots[k, 1] + whole) >> (shift + 1)
    most = (1 << bits) - 1
    first, last = min(max(first, 0), most), min(max(last, 0), most)
    return (first, last) if first <= last else (0, most)


@njit(cache=True)
def _turn(row: Whole, slots: Whole, first: np.int64, last: np.int64) -> None:
    """Find an angle of the inputs: its words, and where it may be; of its ends that is given."""
    out, shift, half = row[1], row[3], row[8]
    if shift >= 0:
        slots[out, 0], slots[out, 1] = first >> shift, last >> shift
    else:
        slots[out, 0], slots[out, 1] = first << -shift, ((last + 1) << -shift) - 1
    low = row[4] if first == row[6] else first - half
    high = row[5] if last == row[7] else last + 1 - half
    slots[out, 2], slots[out, 3] = min(low, high), max(low, high)


@njit(cache=True)
def _turns(row: Whole, args: Whole, slots: Whole) -> None:
    """Find a sum of angles: places add up; leading bits of words add up, modulo a turn."""
    out, at = row[1], row[3]
    low = high = 0
    for _ in range(row[2]):
        source, often = args[at], args[at + 1]
        at += 2
        a, b = slots[source, 2] * often, slots[source, 3] * often
        low, high = low + min(a, b), high + max(a, b)
    slots[out, 2], slots[out, 3] = low, high
    first = last = row[6]
    for _ in range(row[7]):
        source, drop, read, shift, negative = (
            args[at], args[at + 1], args[at + 2], args[at + 3], args[at + 4]
        )  # fmt: skip
        at += 5
        one, two, most = slots[source, 0] >> drop, slots[source, 1] >> drop, (1 << read) - 1
        if two - one >= most or (one >> read) != (two >> read):
            if two - one >= most or read + shift < row[5]:
                one, two = 0, most
        else:
            one, two = one & most, two & most
        if negative:
            one, two = most - two, most - one
        first, last = first + (one << shift), last + (two << shift)
    slots[out, 0], slots[out, 1] = first, last


@njit(cache=True)
def _given(
    row: Whole, low: Short, high: Short, slots: Whole, first: np.int64, last: np.int64
) -> None:
    """Find a linear input: its words, and what lies in their cells."""
    out, count, shift = row[1], row[5], row[6]
    slots[out, 0] = (2 * first - count + 1) << shift
    slots[out, 1] = (2 * last - count + 1) << shift
    slots[out, 2], slots[out, 3] = low[row[3] + first], high[row[3] + last]
    slots[out, 4], slots[out, 5] = between(low, high, row[4], count, first, last)
    settle(slots, out)


@njit(cache=True)
def _wave(row: Whole, low: Short, high: Short, slots: Whole) -> None:
    """Find a table over an angle, or waves of it without words."""
    source, out = row[2], row[1]
    first, last = slots[source, 2], slots[source, 3]
    if last - first >= row[8]:
        slots[out, 2], slots[out, 3] = row[11], row[12]
    else:
        least, most = wave(low, row[7], row[8], row[9], first, last)
        slots[out, 2], slots[out, 3] = least - row[10], most + row[10]
    if row[3]:
        one, two = slots[source, 0], slots[source, 1]
        slots[out, 0], slots[out, 1] = around(low, high, row[4], row[5], one, two)
        slots[out, 4], slots[out, 5] = around(low, high, row[6], row[5], one, two)
        settle(slots, out)
    else:
        slots[out, 0] = slots[out, 1] = 0
        slots[out, 4], slots[out, 5] = -slots[out, 3], -slots[out, 2]


@njit(cache=True)
def _curve(row: Whole, low: Short, high: Short, slots: Whole, known: Whole) -> None:
    """Find a table of any function: words say by how much it is missed."""
    source, out = row[2], row[1]
    slots[out, 2], slots[out, 3] = known[out, 2], known[out, 3]
    if row[3]:
        one, two = slots[source, 0], slots[source, 1]
        slots[out, 0], slots[out, 1] = around(low, high, row[4], row[5], one, two)
        slots[out, 4], slots[out, 5] = around(low, high, row[6], row[5], one, two)
    else:
        one, two = word_range(slots, source, row[7], row[8])
        slots[out, 0], slots[out, 1] = between(low, high, row[4], row[5], one, two)
        slots[out, 4], slots[out, 5] = between(low, high, row[6], row[5], one, two)
    settle(slots, out)


@njit(cache=True)
def _view(row: Whole, slots: Whole) -> None:
    """Find a word without its lowest bits."""
    source, out, bits, shift, drop = row[2], row[1], row[3], row[4], row[5]
    first, last = word_range(slots, source, bits, shift)
    first, last, most = first >> drop, last >> drop, (1 << (bits - drop)) - 1
    slots[out, 0] = (2 * first - most) << (shift + drop - 1)
    slots[out, 1] = (2 * last - most) << (shift + drop - 1)
    slots[out, 2], slots[out, 3] = slots[source, 2], slots[source, 3]
    lost = ((1 << drop) - 1) << (shift - 1)
    slots[out, 4], slots[out, 5] = slots[source, 4] - lost, slots[source, 5] + lost
    settle(slots, out)


@njit(cache=True)
def _rows(row: Whole, slots: Whole) -> None:
    """Find a sum's words in another sum; or what is left out there."""
    source, out = row[2], row[1]
    a, b = times(slots[source, 2], slots[source, 3], row[5], row[6])
    slots[out, 2], slots[out, 3] = down(a, row[7]), up(b, row[7])
    if not row[12]:
        slots[out, 0] = slots[out, 1] = 0
        slots[out, 4], slots[out, 5] = -slots[out, 3], -slots[out, 2]
        return
    a, b = times(slots[source, 0], slots[source, 1], row[3], row[3])
    slots[out, 0], slots[out, 1] = down(a, row[4]) - row[11], up(b, row[4]) + row[11]
    a, b = times(slots[source, 4], slots[source, 5], row[3], row[3])
    c, d = times(slots[source, 2], slots[source, 3], row[8], row[9])
    slots[out, 4] = down(a, row[4]) + down(c, row[10]) - row[11]
    slots[out, 5] = up(b, row[4]) + up(d, row[10]) + row[11]
    settle(slots, out)


@njit(cache=True)
def _lost(
    row: Whole, k: int, low: Short, high: Short, slots: Whole, source: int
) -> tuple[int, int]:
    """Return what products below column 0 count, as far as one of the words says it."""
    if row[k] < 0:
        return -row[13], row[13]
    first, last = word_range(slots, source, row[k + 2], row[k + 3])
    return around(low, high, row[k], 1 << row[k + 1], first, last)


@njit(cache=True)
def _product(row: Whole, low: Short, high: Short, slots: Whole) -> None:
    """Find a product of two words but for what is discarded of it; or one that is left out."""
    one, two, out = row[2], row[3], row[1]
    a, b = times(slots[one, 2], slots[one, 3], slots[two, 2], slots[two, 3])
    if not row[6]:
        a, b = times(down(a, row[9]), up(b, row[9]), row[7], row[8])
        slots[out, 2], slots[out, 3] = down(a, row[10]), up(b, row[10])
        slots[out, 0] = slots[out, 1] = 0
        slots[out, 4], slots[out, 5] = -slots[out, 3], -slots[out, 2]
        return
    c, d = times(slots[one, 0], slots[one, 1], slots[two, 0], slots[two, 1])
    e, f = times(slots[one, 0], slots[one, 1], slots[two, 4], slots[two, 5])
    g, h = times(slots[one, 4], slots[one, 5], slots[two, 2], slots[two, 3])
    least, most = e + g, f + h
    e, f = times(slots[one, 2], slots[one, 3], slots[two, 4], slots[two, 5])
    g, h = times(slots[one, 4], slots[one, 5], slots[two, 0], slots[two, 1])
    least, most = max(least, e + g), min(most, f + h)
    shift = row[4]
    if row[5] < 0:
        a, b, c, d, least, most = -b, -a, -d, -c, -most, -least
    first, last = _lost(row, 14, low, high, slots, two)
    second, third = _lost(row, 18, low, high, slots, one)
    first, last = max(first, second), min(last, third)
    if row[5] < 0:
        first, last = -last, -first
    slots[out, 2], slots[out, 3] = down(a, shift), up(b, shift)
    slots[out, 0], slots[out, 1] = down(c, shift) - last, up(d, shift) - first
    slots[out, 4], slots[out, 5] = down(least, shift) - last, up(most, shift) - first
    settle(slots, out)


@njit(cache=True)
def _sum(row: Whole, args: Whole, slots: Whole) -> None:
    """Find a sum: words, values and errors add up."""
    out, at = row[1], row[3]
    for i in range(6):
        slots[out, i] = row[4 + i]
    for _ in range(row[2]):
        source, shift = args[at], args[at + 1]
        at += 2
        for i in range(0, 6, 2):
            slots[out, i] += down(slots[source, i], shift)
            slots[out, i + 1] += up(slots[source, i + 1], shift)


@njit(cache=True)
def _angle(row: Whole, slots: Whole) -> None:
    """Find a sum that is an angle: its words, modulo a turn, and the places where it may be."""
    source, out, bits, shift = row[2], row[1], row[3], row[4]
    whole = ((1 << bits) - 1) << shift
    slots[out, 0] = -((-(2 * slots[source, 0] + whole)) >> (shift + 1))
    slots[out, 1] = max(slots[out, 0], (2 * slots[source, 1] + whole) >> (shift + 1))
    slots[out, 2], slots[out, 3] = down(slots[source, 2], row[5]), up(slots[source, 3], row[5])


@njit(cache=True)
def _angles(row: Whole, args: Whole, slots: Whole, first: Place, last: Place) -> None:
    """Find an angle, which has places in place of errors."""
    if row[0] == TURNS:
        _turns(row, args, slots)
    elif row[0] == TURN:
        _turn(row, slots, np.int64(first[row[2]]), np.int64(last[row[2]]))
    else:
        _angle(row, slots)


@njit(cache=True)
def _tables(row: Whole, low: Short, high: Short, known: Whole, slots: Whole) -> None:
    """Find what is looked up by a word."""
    if row[0] == WAVE:
        _wave(row, low, high, slots)
    else:
        _curve(row, low, high, slots, known)


@njit(cache=True)
def evaluate(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, which: Whole, slots: Whole,
    first: Place, last: Place,
) -> None:  # fmt: skip
    """Find what some slots may be in a box; `first` and `last` are its cells, by input."""
    for k in which:
        row = steps[k]
        kind = row[0]
        if kind <= ANGLE:
            _angles(row, args, slots, first, last)
            continue
        if kind <= CURVE:
            _tables(row, low, high, known, slots)
        elif kind == PRODUCT:
            _product(row, low, high, slots)
        elif kind == SUM:
            _sum(row, args, slots)
        elif kind == ROWS:
            _rows(row, slots)
        elif kind == VIEW:
            _view(row, slots)
        else:
            _given(row, low, high, slots, np.int64(first[row[2]]), np.int64(last[row[2]]))
        clamp(slots, row[1], known)
        if row[WORDED]:
            settle(slots, row[1])


# --------------------------------------------------------------------------------------------------
# The compiled loop of branch and bound over boxes of inputs: the worst box is split first.
# --------------------------------------------------------------------------------------------------


@njit(cache=True)
def _sink(heap: Whole, keys: Whole, used: int, box: int) -> None:
    """Put a box into a heap of `used` others; of equal ones the first that was made comes first."""
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
    """Take the first of `used` boxes out of a heap."""
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
def middle(first: np.int64, last: np.int64) -> np.int64:
    """Return the roundest number above `first` and up to `last`."""
    bit = 0
    while (first ^ last) >> (bit + 1):
        bit += 1
    return (last >> bit) << bit


@njit(cache=True, inline="always")
def width(first: np.int64, last: np.int64) -> int:
    """Return how many of the lowest bits of cells are open."""
    bit = 0
    while (first ^ last) >> bit:
        bit += 1
    return bit


@njit(cache=True)
def rounded(slots: Whole, out: int, follows: Whole) -> tuple[int, int]:
    """Return the least and the largest error of a slot once its word is rounded.

    `follows` has both ends of what is added, then of the word its bits, of which the lowest counts
    2^shift, and how many of them are dropped: none are of what is no output. What is dropped of the
    word w counts most where its lowest bits are 0, which some are if w passes a whole step; of few
    words it is known. It is no more than what the largest word says less the least exact value.
    """
    least, most = slots[out, 4], slots[out, 5]
    bits, shift, drop = follows[2], follows[3], follows[4]
    if drop:
        ones = (1 << drop) - 1
        one, two = word_range(slots, out, bits, shift)
        known = one >> drop == two >> drop
        up = ones - 2 * (one & ones) if known else ones
        down = ones - 2 * (two & ones) if known else -ones
        whole, half = (1 << bits) - 1, shift - 1
        high = ((2 * two - whole + ones - 2 * (two & ones)) << half) - slots[out, 2]
        low = ((2 * one - whole + ones - 2 * (one & ones)) << half) - slots[out, 3]
        least, most = max(low, least + (down << half)), min(high, most + (up << half))
    return least + follows[0], most + follows[1]


@njit(cache=True)
def search(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, readers: Whole, begin: Whole,
    firsts: Place, lasts: Place, worth: Floats, out: int, follows: Whole, budget: int,
    result: Whole,
) -> None:  # fmt: skip
    """Split the worst box until so many have been looked at, or the worst is a single cell.

    It is split at the input of which a split is worth most, by how many of its bits are open.
    `result` gets the least and the largest of what slot `out` may err by in any box, how many boxes
    were looked at, and whether the worst is one that cannot be split. `firsts` and `lasts` have
    room for boxes; the first is all there is. `follows` is what `rounded` takes. From `begin`
    on `readers` holds the steps that read an input: the second half of a box needs no more.
    """
    whole = np.arange(len(steps))
    room, dims = firsts.shape
    most, least, keys = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    heap, slots = np.empty(room, np.int64), np.zeros((len(known), 6), np.int64)
    first, last = firsts[0].copy(), lasts[0].copy()
    evaluate(steps, args, low, high, known, whole, slots, first, last)
    least[0], most[0] = rounded(slots, out, follows)
    keys[0] = max(most[0], -least[0])
    heap[0] = 0
    used, made, seen = 1, 1, 1
    while seen < budget and made < room:
        box = heap[0]
        chosen, best = -1, -1.0
        for dim in range(dims):
            bits = width(np.int64(firsts[box, dim]), np.int64(lasts[box, dim]))
            if bits and worth[dim, bits] > best:
                best, chosen = worth[dim, bits], dim
        if chosen < 0:
            result[3] = 1
            break
        _drop(heap, keys, used)
        used -= 1
        first[:], last[:] = firsts[box], lasts[box]
        one, two = np.int64(first[chosen]), np.int64(last[chosen])
        half = middle(one, two)
        down, up = least[box], most[box]
        for side in range(2):
            first[chosen] = one if side == 0 else half
            last[chosen] = half - 1 if side == 0 else two
            which = whole if side == 0 else readers[begin[chosen] : begin[chosen + 1]]
            evaluate(steps, args, low, high, known, which, slots, first, last)
            place = box if side == 0 else made
            firsts[place], lasts[place] = first, last
            below, above = rounded(slots, out, follows)
            least[place], most[place] = max(down, below), min(up, above)
            keys[place] = max(most[place], -least[place])
            _sink(heap, keys, used, place)
            used += 1
        made, seen = made + 1, seen + 2
    result[0], result[1], result[2] = least[heap[0]], most[heap[0]], seen
    for k in range(used):
        result[0] = min(result[0], least[heap[k]])
        result[1] = max(result[1], most[heap[k]])


@njit(cache=True)
def sampled(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, known: Whole, firsts: Place, lasts: Place,
    out: int, follows: Whole, keys: Whole,
) -> None:  # fmt: skip
    """Find the largest error in either direction in some boxes."""
    slots, whole = np.zeros((len(known), 6), np.int64), np.arange(len(steps))
    for k in range(len(firsts)):
        evaluate(steps, args, low, high, known, whole, slots, firsts[k], lasts[k])
        least, most = rounded(slots, out, follows)
        keys[k] = max(most, -least)
