"""Compiled loops of approximation: what a node's changes cost; importing this imports numba.

A network is arrays over signals, numbered as in `network`; `fan` holds three operands (unused ones
are signal 0). `size` is what a node counts, `refs` how many living operands and outputs it serves.
Planes hold a bit for every row, a row being a word of inputs.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.common.loops import njit
from boolcomp.logic.synthesis.builtin.resub_kernels import draw, value_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

ONE = np.uint64(1)
FORBIDDEN = 1e12  # the cost of what must not be


class Rows(NamedTuple):
    """What rows cost: Σ weight·(word - target)² over the words that output bits make.

    `bits` are the outputs' places in the list of all of them, most significant first, padded with
    -1; `flags` are the places of outputs that must not change. No word may move by more than `most`
    from where it stands in `home`.
    """

    bits: NDArray[np.int64]
    flags: NDArray[np.int64]
    weight: NDArray[np.float64]
    target: NDArray[np.float64]
    home: NDArray[np.int64]
    most: NDArray[np.float64]


class Nodes(NamedTuple):
    """What nodes read, how many living ones read them, what they count, and room for a stack."""

    fan: NDArray[np.int64]
    refs: NDArray[np.int64]
    size: NDArray[np.int64]
    stack: NDArray[np.int64]


class Looked(NamedTuple):
    """What is looked at in place of a node, at the rows where that matters.

    Of `chosen` signals the first `wires` may only take the node's place; the node's own operands
    come next. Functions of three are tried among so many `together`. `seen` are the signals' values
    at the rows, `values` and `costs` the node's and what its inversion costs; so many `sigmas` of
    the spread are added.
    """

    chosen: NDArray[np.int64]
    wires: int
    together: int
    seen: NDArray[np.uint8]
    values: NDArray[np.uint8]
    costs: NDArray[np.float64]
    sigmas: float
    aside: float


@njit(cache=True)
def evaluate(fan: Any, lut: Any, planes: Any, first: Any) -> None:
    """Fill in the planes of all nodes from `first` on."""
    for s in range(first, len(fan)):
        a, b, c = fan[s]
        table = np.uint64(lut[s])
        for k in range(planes.shape[1]):
            planes[s, k] = value_of(table, planes[a, k], planes[b, k], planes[c, k])


@njit(cache=True)
def flip(fan: Any, lut: Any, planes: Any, node: Any, after: Any, flipped: Any) -> None:
    """Fill in what planes are where a node is inverted; `after` marks those that may differ."""
    words = planes.shape[1]
    after[:] = 0
    after[node] = 1
    for k in range(words):
        flipped[node, k] = ~planes[node, k]
    for s in range(node + 1, len(fan)):
        a, b, c = fan[s]
        if not (after[a] or after[b] or after[c]):
            continue
        table = np.uint64(lut[s])
        pa = flipped[a] if after[a] else planes[a]
        pb = flipped[b] if after[b] else planes[b]
        pc = flipped[c] if after[c] else planes[c]
        same = True
        for k in range(words):
            value = value_of(table, pa[k], pb[k], pc[k])
            flipped[s, k] = value
            same &= value == planes[s, k]
        if not same:
            after[s] = 1


@njit(cache=True)
def words_of(planes: Any, outs: Any, bits: Any, count: Any) -> Any:
    """Return the words of all rows, (outputs, rows)."""
    found = np.zeros((len(bits), count), np.int64)
    for o in range(len(bits)):
        for place in bits[o]:
            if place < 0:
                break
            plane = planes[outs[place]]
            for r in range(count):
                bit = plane[r >> 6] >> np.uint64(r & 63) & ONE
                found[o, r] = found[o, r] << 1 | np.int64(bit)
    return found


@njit(cache=True)
def costs_of(words: Any, weight: Any, target: Any) -> Any:
    """Return what every output's words cost."""
    found = np.zeros(words.shape[0])
    for o in range(words.shape[0]):
        for r in range(words.shape[1]):
            off = words[o, r] - target[o, r]
            found[o] += weight[o, r] * off * off
    return found


@njit(cache=True)
def flip_costs(net: Any, outs: Any, rows: Any, words: Any, found: Any) -> Any:
    """Fill in by how much each row costs more where a node is inverted; False if it must not be.

    `net` are planes, those of after the node is inverted, and marks of where these differ.
    """
    bits, flags, weight, target, home, most = rows
    planes, flipped, after = net
    found[:] = 0.0
    for place in flags:
        s = outs[place]
        if after[s] and (planes[s] != flipped[s]).any():
            return False
    for o in range(len(bits)):
        own = outs[bits[o][bits[o] >= 0]]
        if not after[own].any():
            continue
        for k in range((words.shape[1] + 63) >> 6):
            differs = differs_at(net, own, k)
            if not differs:
                continue
            for r in range(k << 6, min(words.shape[1], (k + 1) << 6)):
                if not differs >> np.uint64(r & 63) & ONE:
                    continue
                word = word_at(net, own, r)
                if abs(word - home[o, r]) > most[o]:
                    found[r] += FORBIDDEN
                    continue
                new, old = word - target[o, r], words[o, r] - target[o, r]
                found[r] += weight[o, r] * (new * new - old * old)
    return True


@njit(cache=True, inline="always")
def differs_at(net: Any, own: Any, k: Any) -> Any:
    """Return the rows, of the k-th 64, at which any of some outputs differs."""
    planes, flipped, after = net
    differs = np.uint64(0)
    for s in own:
        if after[s]:
            differs |= planes[s, k] ^ flipped[s, k]
    return differs


@njit(cache=True, inline="always")
def word_at(net: Any, own: Any, r: Any) -> Any:
    """Return the word that some outputs make at a row, where the node is inverted."""
    planes, flipped, after = net
    word = np.int64(0)
    for s in own:
        plane = flipped[s, r >> 6] if after[s] else planes[s, r >> 6]
        word = word << 1 | np.int64(plane >> np.uint64(r & 63) & ONE)
    return word


@njit(cache=True)
def release(nodes: Any, node: Any) -> Any:
    """Take a node's operands away from it; return what dies."""
    fan, refs, size, stack = nodes
    gone, top = 0, 1
    stack[0] = node
    while top:
        top -= 1
        for s in fan[stack[top]]:
            refs[s] -= 1
            if refs[s] == 0 and size[s] >= 0:
                gone += size[s]
                stack[top] = s
                top += 1
    return gone


@njit(cache=True)
def attach(nodes: Any, node: Any) -> Any:
    """Give a node its operands; return what comes to life."""
    fan, refs, size, stack = nodes
    made, top = 0, 1
    stack[0] = node
    while top:
        top -= 1
        for s in fan[stack[top]]:
            refs[s] += 1
            if refs[s] == 1 and size[s] >= 0:
                made += size[s]
                stack[top] = s
                top += 1
    return made


@njit(cache=True)
def saved_by(nodes: Any, node: Any, new: Any, cost: Any) -> Any:
    """Return how much a network shrinks if a node of `cost` reads other operands."""
    fan, _, size, _ = nodes
    gone = release(nodes, node)
    old = fan[node].copy()
    fan[node] = new
    made = attach(nodes, node)
    release(nodes, node)
    fan[node] = old
    attach(nodes, node)
    return gone - made + size[node] - cost


@njit(cache=True)
def nearest(planes: Any, node: Any, active: Any, allowed: Any, count: Any) -> Any:
    """Return the allowed signals that differ (or agree) least with a node at active rows."""
    words, total = planes.shape[1], 0
    for k in range(words):
        total += popcount(active[k])
    off = np.empty(len(allowed), np.int64)
    for i, s in enumerate(allowed):
        differs = 0
        for k in range(words):
            differs += popcount((planes[s, k] ^ planes[node, k]) & active[k])
        off[i] = min(differs, total - differs)
    return allowed[np.argsort(off, kind="mergesort")[:count]]


@njit(cache=True, inline="always")
def popcount(x: Any) -> Any:
    """Return how many ones a word has."""
    x = x - (x >> np.uint64(1) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + (x >> np.uint64(2) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def active_of(found: Any, planes: Any, node: Any, marks: Any) -> Any:
    """Mark the rows at which a node matters; return them, their costs, and the node's values."""
    marks[:] = 0
    count = 0
    for r in range(len(found)):
        if found[r] != 0.0:
            marks[r >> 6] |= ONE << np.uint64(r & 63)
            count += 1
    places, costs, values = np.empty(count, np.int64), np.empty(count), np.empty(count, np.uint8)
    i = 0
    for r in range(len(found)):
        if found[r] != 0.0:
            places[i], costs[i] = r, found[r]
            values[i] = planes[node, r >> 6] >> np.uint64(r & 63) & ONE
            i += 1
    return places, costs, values


@njit(cache=True)
def gathered(planes: Any, chosen: Any, places: Any) -> Any:
    """Return the values of signals at rows, (signals, rows)."""
    found = np.empty((len(chosen), len(places)), np.uint8)
    for i, s in enumerate(chosen):
        for j, r in enumerate(places):
            found[i, j] = planes[s, r >> 6] >> np.uint64(r & 63) & ONE
    return found


@njit(cache=True)
def pooled(seen: Any, values: Any, costs: Any) -> Any:
    """Return rows at which some signals and a node are alike as one: their costs, and squares."""
    count, rows = len(seen), len(values)
    squares = costs * costs
    if rows <= 2 << count:
        return seen, values, costs, squares
    total, square = np.zeros(2 << count), np.zeros(2 << count)
    for j in range(rows):
        place = np.int64(values[j])
        for i in range(count):
            place |= np.int64(seen[i, j]) << (i + 1)
        total[place] += costs[j]
        square[place] += squares[j]
    places = np.flatnonzero(square)
    found = np.empty((count, len(places)), np.uint8)
    for i in range(count):
        for j in range(len(places)):
            found[i, j] = places[j] >> (i + 1) & 1
    return found, (places & 1).astype(np.uint8), total[places], square[places]


@njit(cache=True)
def best_table(x: Any, y: Any, z: Any, rows: Any, sigmas: Any) -> Any:
    """Return the cheapest table over three signals in place of a node, and what it costs.

    `rows` are the node's values, what its inversion costs, and the squares of that; `sigmas` times
    the spread of what is changed is added.
    """
    values, costs, squares = rows
    one, zero = np.zeros(8), np.zeros(8)  # of a row of the table that is 0, or 1
    one2, zero2 = np.zeros(8), np.zeros(8)
    seen = np.zeros(8, np.uint8)
    for j in range(len(values)):
        row = x[j] << 2 | y[j] << 1 | z[j]
        c = costs[j]
        seen[row] |= 1 << values[j]
        if values[j]:
            zero[row] += c
            zero2[row] += squares[j]
        else:
            one[row] += c
            one2[row] += squares[j]
    table, total, spread = 0, 0.0, 0.0
    for row in range(8):
        low, high = zero[row], one[row]
        if sigmas:
            low += sigmas * np.sqrt(zero2[row])
            high += sigmas * np.sqrt(one2[row])
        if high < low or (high == low and seen[row] == 2):
            table |= 1 << row
            total += one[row]
            spread += one2[row]
        else:
            total += zero[row]
            spread += zero2[row]
    return table, total + sigmas * np.sqrt(spread)


@njit(cache=True)
def best_move(nodes: Any, node: Any, looked: Any, state: Any, move: Any) -> Any:
    """Return what the best change of a node gains, in nodes, and put it into `move`.

    A move is a table and three operands. Where nothing gains, one that loses no more than `aside`
    is drawn, since it leads elsewhere.
    """
    best = bare_move(nodes, node, looked, move)
    return table_move(nodes, node, looked, best, state, move)


@njit(cache=True)
def bare_move(nodes: Any, node: Any, looked: Any, move: Any) -> Any:
    """Return what the best constant or signal in a node's place gains, and put it into `move`."""
    sigmas, best, new = looked.sigmas, 0.0, np.zeros(3, np.int64)
    ones, ones2 = sums(looked.costs, looked.values, 1)
    zeros, zeros2 = sums(looked.costs, looked.values, 0)
    whole = release(nodes, node) + nodes[2][node]
    attach(nodes, node)
    for table, cost in (
        (0, ones + sigmas * np.sqrt(ones2)),
        (255, zeros + sigmas * np.sqrt(zeros2)),
    ):
        if whole - cost > best:
            best = whole - cost
            move[0], move[1:] = table, 0
    for i in range(len(looked.chosen)):
        cost, square = sums(looked.costs, looked.seen[i] ^ looked.values, 1)
        inverse = ones + zeros - cost + sigmas * np.sqrt(max(0.0, ones2 + zeros2 - square))
        cost += sigmas * np.sqrt(square)
        least = min(cost, inverse)
        if whole - least <= best:
            continue
        new[:] = looked.chosen[i]
        gain = saved_by(nodes, node, new, 0) - least
        if gain > best:
            best = gain
            move[0], move[1:] = 0xF0 if cost <= inverse else 0x0F, new
    return best


@njit(cache=True)
def sums(costs: Any, marks: Any, mark: Any) -> Any:
    """Return the sum of marked costs, and of their squares."""
    total = square = 0.0
    for j in range(len(costs)):
        if marks[j] == mark:
            total += costs[j]
            square += costs[j] * costs[j]
    return total, square


@njit(cache=True)
def table_move(nodes: Any, node: Any, looked: Any, best: Any, state: Any, move: Any) -> Any:
    """Return what the best function of three signals gains, if more than the `best` so far."""
    new, other, beside = np.zeros(3, np.int64), np.zeros(4, np.int64), 0
    aside, first = looked.aside, looked.wires
    gone = release(nodes, node)
    attach(nodes, node)
    last = min(len(looked.chosen), first + looked.together)
    seen, values, costs, squares = pooled(looked.seen[first:last], looked.values, looked.costs)
    rows = values, costs, squares
    for i in range(first, last):
        for j in range(i + 1, last):
            for k in range(j + 1, last):
                own = k < first + 3  # the node's own operands, with another table
                table, cost = best_table(
                    seen[i - first], seen[j - first], seen[k - first], rows, looked.sigmas
                )
                bound = (0 if own else gone + nodes[2][node] - 1) - cost
                if bound <= best and (own or best > aside or bound < -aside):
                    continue
                new[0], new[1], new[2] = looked.chosen[i], looked.chosen[j], looked.chosen[k]
                gain = saved_by(nodes, node, new, 1) - cost
                if gain > best:
                    best = gain
                    move[0], move[1:] = table, new
                elif not own and gain >= -aside:
                    beside += 1
                    if draw(state, beside) == 0:
                        other[0], other[1:] = table, new
    if best <= aside and beside:
        move[:] = other
        return aside
    return best
