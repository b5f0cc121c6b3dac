"""Compiled loops of branch and bound over boxes of inputs, with enclosures of all steps of a graph.

A graph is a list of steps (`boxes.py`), each a row of integers. A slot holds six integers: the
limits of the value of words as digits, of the exact value, and of the error. Every slot has its own
unit, 2^-scale; right shifts round outward.
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
# Evaluation of a box.
# --------------------------------------------------------------------------------------------------

TURN, TURNS, ANGLE, WAVE, CURVE, GIVEN, VIEW, ROWS, PRODUCT, SUM = range(10)
WORDED = 22  # column of a step: 1 if its value has words
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
    """Return the limits of a product of a number in a..b and a number in c..d."""
    one, two, three, four = a * c, a * d, b * c, b * d
    return min(one, two, three, four), max(one, two, three, four)


@njit(cache=True)
def between(
    low: Short, high: Short, start: int, count: int, first: Number, last: Number
) -> tuple[int, int]:
    """Return minimum and maximum of the entries first .. last of a table of ranges.

    Level k begins at start + k·count and holds the ranges of 2^k consecutive entries.
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


@njit(cache=True)
def wave(low: Short, start: int, places: int, peaks: int, first: int, last: int) -> tuple[int, int]:
    """Return minimum and maximum of a sum of harmonics over the grid points first .. last.

    The table has the values at all grid points, then the indices of peaks. Between two points
    without a peak between them, minimum and maximum are at the ends.
    """
    mask = places - 1
    a, b = low[start + (first & mask)], low[start + (last & mask)]
    least, largest = min(a, b), max(a, b)
    for k in range(peaks):
        place = low[start + places + k]
        if (place - first) & mask <= last - first:
            value = low[start + place]
            least, largest = min(least, value), max(largest, value)
    return least, largest


@njit(cache=True)
def settle(slots: Whole, k: int) -> None:
    """Tighten words, value and error of a slot by each other."""
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
def clamp(slots: Whole, k: int, limits: Whole) -> None:
    """Intersect a slot with its limits over all inputs."""
    for i in range(0, 6, 2):
        low, high = max(slots[k, i], limits[k, i]), min(slots[k, i + 1], limits[k, i + 1])
        if low <= high:
            slots[k, i], slots[k, i + 1] = low, high
        else:
            slots[k, i], slots[k, i + 1] = limits[k, i], limits[k, i + 1]


@njit(cache=True, inline="always")
def word_range(slots: Whole, k: int, bits: int, shift: int) -> tuple[int, int]:
    """Return the range of words of a slot; the lowest bit has the weight 2^shift."""
    whole = ((1 << bits) - 1) << shift
    first = -((-(2 * slots[k, 0] + whole)) >> (shift + 1))
    last = (2 * slots[k, 1] + whole) >> (shift + 1)
    largest = (1 << bits) - 1
    first, last = min(max(first, 0), largest), min(max(last, 0), largest)
    return (first, last) if first <= last else (0, largest)


@njit(cache=True)
def _turn(row: Whole, slots: Whole, first: np.int64, last: np.int64) -> None:
    """Evaluate an input angle: its words, and its range on the grid of turns."""
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
    """Evaluate a sum of angles: grid ranges add up; leading bits of words add up modulo a turn."""
    out, at = row[1], row[3]
    low = high = 0
    for _ in range(row[2]):
        source, multiple = args[at], args[at + 1]
        at += 2
        a, b = slots[source, 2] * multiple, slots[source, 3] * multiple
        low, high = low + min(a, b), high + max(a, b)
    slots[out, 2], slots[out, 3] = low, high
    first = last = row[6]
    for _ in range(row[7]):
        source, drop, read, shift, negative = (
            args[at], args[at + 1], args[at + 2], args[at + 3], args[at + 4]
        )  # fmt: skip
        at += 5
        one, two, largest = slots[source, 0] >> drop, slots[source, 1] >> drop, (1 << read) - 1
        if two - one >= largest or (one >> read) != (two >> read):
            if two - one >= largest or read + shift < row[5]:
                one, two = 0, largest
        else:
            one, two = one & largest, two & largest
        if negative:
            one, two = largest - two, largest - one
        first, last = first + (one << shift), last + (two << shift)
    slots[out, 0], slots[out, 1] = first, last


@njit(cache=True)
def _given(
    row: Whole, low: Short, high: Short, slots: Whole, first: np.int64, last: np.int64
) -> None:
    """Evaluate a linear input: its words, and the range of their cells."""
    out, count, shift = row[1], row[5], row[6]
    slots[out, 0] = (2 * first - count + 1) << shift
    slots[out, 1] = (2 * last - count + 1) << shift
    slots[out, 2], slots[out, 3] = low[row[3] + first], high[row[3] + last]
    slots[out, 4], slots[out, 5] = between(low, high, row[4], count, first, last)
    settle(slots, out)


@njit(cache=True)
def _wave(row: Whole, low: Short, high: Short, slots: Whole) -> None:
    """Evaluate a table over an angle, or a sum of harmonics without words."""
    source, out = row[2], row[1]
    first, last = slots[source, 2], slots[source, 3]
    if last - first >= row[8]:
        slots[out, 2], slots[out, 3] = row[11], row[12]
    else:
        least, largest = wave(low, row[7], row[8], row[9], first, last)
        slots[out, 2], slots[out, 3] = least - row[10], largest + row[10]
    if row[3]:
        one, two = slots[source, 0], slots[source, 1]
        slots[out, 0], slots[out, 1] = around(low, high, row[4], row[5], one, two)
        slots[out, 4], slots[out, 5] = around(low, high, row[6], row[5], one, two)
        settle(slots, out)
    else:
        slots[out, 0] = slots[out, 1] = 0
        slots[out, 4], slots[out, 5] = -slots[out, 3], -slots[out, 2]


@njit(cache=True)
def _curve(row: Whole, low: Short, high: Short, slots: Whole, limits: Whole) -> None:
    """Evaluate a table of another function; its error is tabulated by word."""
    source, out = row[2], row[1]
    slots[out, 2], slots[out, 3] = limits[out, 2], limits[out, 3]
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
    """Evaluate a word without its lowest bits."""
    source, out, bits, shift, drop = row[2], row[1], row[3], row[4], row[5]
    first, last = word_range(slots, source, bits, shift)
    first, last, largest = first >> drop, last >> drop, (1 << (bits - drop)) - 1
    slots[out, 0] = (2 * first - largest) << (shift + drop - 1)
    slots[out, 1] = (2 * last - largest) << (shift + drop - 1)
    slots[out, 2], slots[out, 3] = slots[source, 2], slots[source, 3]
    lost = ((1 << drop) - 1) << (shift - 1)
    slots[out, 4], slots[out, 5] = slots[source, 4] - lost, slots[source, 5] + lost
    settle(slots, out)


@njit(cache=True)
def _rows(row: Whole, slots: Whole) -> None:
    """Evaluate the words of a sum within another sum, or a sum that is left out there."""
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
    """Return limits of discarded partial products, given the range of one of the words."""
    if row[k] < 0:
        return -row[13], row[13]
    first, last = word_range(slots, source, row[k + 2], row[k + 3])
    return around(low, high, row[k], 1 << row[k + 1], first, last)


@njit(cache=True)
def _product(row: Whole, low: Short, high: Short, slots: Whole) -> None:
    """Evaluate a product of two words with discarded columns, or a product that is left out."""
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
    least, largest = e + g, f + h
    e, f = times(slots[one, 2], slots[one, 3], slots[two, 4], slots[two, 5])
    g, h = times(slots[one, 4], slots[one, 5], slots[two, 0], slots[two, 1])
    least, largest = max(least, e + g), min(largest, f + h)
    shift = row[4]
    if row[5] < 0:
        a, b, c, d, least, largest = -b, -a, -d, -c, -largest, -least
    first, last = _lost(row, 14, low, high, slots, two)
    second, third = _lost(row, 18, low, high, slots, one)
    first, last = max(first, second), min(last, third)
    if row[5] < 0:
        first, last = -last, -first
    slots[out, 2], slots[out, 3] = down(a, shift), up(b, shift)
    slots[out, 0], slots[out, 1] = down(c, shift) - last, up(d, shift) - first
    slots[out, 4], slots[out, 5] = down(least, shift) - last, up(largest, shift) - first
    settle(slots, out)


@njit(cache=True)
def _sum(row: Whole, args: Whole, slots: Whole) -> None:
    """Evaluate a sum: words, values and errors add up."""
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
    """Evaluate a sum that is an angle: its words modulo a turn, and its range on the grid."""
    source, out, bits, shift = row[2], row[1], row[3], row[4]
    whole = ((1 << bits) - 1) << shift
    slots[out, 0] = -((-(2 * slots[source, 0] + whole)) >> (shift + 1))
    slots[out, 1] = max(slots[out, 0], (2 * slots[source, 1] + whole) >> (shift + 1))
    slots[out, 2], slots[out, 3] = down(slots[source, 2], row[5]), up(slots[source, 3], row[5])


@njit(cache=True)
def _angles(row: Whole, args: Whole, slots: Whole, first: Place, last: Place) -> None:
    """Evaluate a step that is an angle; its slot has no errors."""
    if row[0] == TURNS:
        _turns(row, args, slots)
    elif row[0] == TURN:
        _turn(row, slots, np.int64(first[row[2]]), np.int64(last[row[2]]))
    else:
        _angle(row, slots)


@njit(cache=True)
def _tables(row: Whole, low: Short, high: Short, limits: Whole, slots: Whole) -> None:
    """Evaluate a step that is a table."""
    if row[0] == WAVE:
        _wave(row, low, high, slots)
    else:
        _curve(row, low, high, slots, limits)


@njit(cache=True)
def evaluate(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, which: Whole, slots: Whole,
    first: Place, last: Place,
) -> None:  # fmt: skip
    """Evaluate some steps in a box; `first` and `last` are the cells of each input."""
    for k in which:
        row = steps[k]
        kind = row[0]
        if kind <= ANGLE:
            _angles(row, args, slots, first, last)
            continue
        if kind <= CURVE:
            _tables(row, low, high, limits, slots)
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
        clamp(slots, row[1], limits)
        if row[WORDED]:
            settle(slots, row[1])


# --------------------------------------------------------------------------------------------------
# Branch and bound; the worst box is split first.
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
def middle(first: np.int64, last: np.int64) -> np.int64:
    """Return the number above `first` and up to `last` with most trailing zeros."""
    bit = 0
    while (first ^ last) >> (bit + 1):
        bit += 1
    return (last >> bit) << bit


@njit(cache=True, inline="always")
def width(first: np.int64, last: np.int64) -> int:
    """Return the number of lowest bits that differ within a range of cells."""
    bit = 0
    while (first ^ last) >> bit:
        bit += 1
    return bit


@njit(cache=True)
def rounded(slots: Whole, out: int, follows: Whole) -> tuple[int, int]:
    """Return the limits of the error of a slot after its word is rounded.

    `follows` has the limits of an added constant, the bits of the word, and the shift of its lowest
    bit. Its last entry is the number of dropped bits, 0 if the slot is no output. Dropping adds
    most to the error of a word if its lowest bits are 0. This occurs if its range contains a
    multiple of a whole step; otherwise the range gives the lowest bits. The error is also at most
    the value of the largest word minus the least exact value.
    """
    least, largest = slots[out, 4], slots[out, 5]
    bits, shift, drop = follows[2], follows[3], follows[4]
    if drop:
        ones = (1 << drop) - 1
        one, two = word_range(slots, out, bits, shift)
        same = one >> drop == two >> drop
        up = ones - 2 * (one & ones) if same else ones
        down = ones - 2 * (two & ones) if same else -ones
        whole, half = (1 << bits) - 1, shift - 1
        high = ((2 * two - whole + ones - 2 * (two & ones)) << half) - slots[out, 2]
        low = ((2 * one - whole + ones - 2 * (one & ones)) << half) - slots[out, 3]
        least, largest = max(low, least + (down << half)), min(high, largest + (up << half))
    return least + follows[0], largest + follows[1]


@njit(cache=True)
def search(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, readers: Whole, begin: Whole,
    firsts: Place, lasts: Place, worth: Floats, out: int, follows: Whole, budget: int,
    result: Whole,
) -> None:  # fmt: skip
    """Split the worst box until `budget` boxes are evaluated or the worst is a single cell.

    A box is split at the input with the largest `worth`, given its number of open bits. `result`
    gets the limits of the error of slot `out` over all boxes, the number of evaluated boxes, and
    whether the worst box cannot be split. `firsts` and `lasts` are storage for boxes; the first box
    is the whole domain. `follows` is passed to `rounded`. `readers`, indexed by `begin`, has the
    steps that depend on each input; the second half of a box evaluates only these.
    """
    whole = np.arange(len(steps))
    room, dims = firsts.shape
    largest, least = np.empty(room, np.int64), np.empty(room, np.int64)
    keys = np.empty(room, np.int64)
    heap, slots = np.empty(room, np.int64), np.zeros((len(limits), 6), np.int64)
    first, last = firsts[0].copy(), lasts[0].copy()
    evaluate(steps, args, low, high, limits, whole, slots, first, last)
    least[0], largest[0] = rounded(slots, out, follows)
    keys[0] = max(largest[0], -least[0])
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
        down, up = least[box], largest[box]
        for side in range(2):
            first[chosen] = one if side == 0 else half
            last[chosen] = half - 1 if side == 0 else two
            which = whole if side == 0 else readers[begin[chosen] : begin[chosen + 1]]
            evaluate(steps, args, low, high, limits, which, slots, first, last)
            place = box if side == 0 else made
            firsts[place], lasts[place] = first, last
            below, above = rounded(slots, out, follows)
            least[place], largest[place] = max(down, below), min(up, above)
            keys[place] = max(largest[place], -least[place])
            _sink(heap, keys, used, place)
            used += 1
        made, seen = made + 1, seen + 2
    result[0], result[1], result[2] = least[heap[0]], largest[heap[0]], seen
    for k in range(used):
        result[0] = min(result[0], least[heap[k]])
        result[1] = max(result[1], largest[heap[k]])


@njit(cache=True)
def sampled(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    steps: Whole, args: Whole, low: Short, high: Short, limits: Whole, firsts: Place, lasts: Place,
    out: int, follows: Whole, keys: Whole,
) -> None:  # fmt: skip
    """Return the largest absolute error in each of some boxes."""
    slots, whole = np.zeros((len(limits), 6), np.int64), np.arange(len(steps))
    for k in range(len(firsts)):
        evaluate(steps, args, low, high, limits, whole, slots, firsts[k], lasts[k])
        least, largest = rounded(slots, out, follows)
        keys[k] = max(largest, -least)
