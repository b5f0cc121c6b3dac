"""Compiled loops over rows: what they cost, and by how much more where a network is another.

A row is a word of inputs, an output's word there is `word`, by `off` more than it should be.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.compact.approximate.kernels import DIFFERS, ONE, bit_at, popcount

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
