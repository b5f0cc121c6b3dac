"""What a position's word spans: an encoder counts turns, stops say where a joint may go.

The word of a revolute joint spans a turn, or the smallest part 2^-k of one, about a multiple of an
eighth of a turn, that holds the joint's range and a margin on either side. So words of all joints
count the same steps (times a power of two) from the same directions, and sums of angles are plain
additions. Where the range is a turn or more the word wraps: 2π + x is x. A sliding joint's word
spans its range, as does any other that the robot file asks for (`word_range`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.problem.interval import Interval

if TYPE_CHECKING:
    from collections.abc import Iterator

TURN = 2 * math.pi
MARGIN = 0.02 * TURN  # beyond either stop the logic still holds
FULL = 1e-9  # a range that is this little short of a turn is one
SMALLEST_PART = 10  # 2^-10 of a turn


@dataclass(frozen=True, slots=True)
class Span:
    """What a word covers, where in it states may be for the logic to hold, whether it wraps."""

    word: Interval
    reach: Interval
    wraps: bool = False

    @property
    def part(self) -> int | None:
        """The k of a word that spans 2^-k of a turn; None where it spans anything else."""
        return part_of(self.word)


def part_of(word: Interval) -> int | None:
    """Return the k of an interval that is 2^-k of a turn wide, or None."""
    for k in range(SMALLEST_PART + 1):
        if abs(math.ldexp(word.width, k) - TURN) < FULL:
            return k
    return None


def all_around(position: Interval) -> bool:
    """Tell whether a turning joint that may go so far has no stops that matter."""
    return position.width > TURN - FULL


def span_of(position: Interval, asked: Interval | None = None, *, revolute: bool) -> Span:
    """Return the span of a position whose joint may go so far; `asked` is what its word spans."""
    whole = revolute and all_around(position)
    if position.single:
        return Span(position, position)
    if asked is not None:
        wraps = whole and part_of(asked) == 0
        return Span(asked, asked if wraps else position, wraps=wraps)
    if not revolute:
        return Span(position, position)
    if whole:
        word = _about(position.centre, TURN)
        return Span(word, word, wraps=True)
    wanted = Interval(position.low - MARGIN, position.high + MARGIN)
    word = next((w for w in _parts(position) if w.holds(wanted)), _about(position.centre, TURN))
    if not word.holds(position):  # nearly a turn, about none of the eighths
        return Span(word, word, wraps=True)
    return Span(word, Interval(max(wanted.low, word.low), min(wanted.high, word.high)))


def _parts(position: Interval) -> Iterator[Interval]:
    """Yield the parts of a turn about the joint's range, the smallest first."""
    for k in reversed(range(SMALLEST_PART + 1)):
        yield _about(position.centre, math.ldexp(TURN, -k))


def _about(centre: float, width: float) -> Interval:
    """Return an interval about the nearest multiple of an eighth of a turn."""
    middle = round(centre / (TURN / 8)) * (TURN / 8)
    return Interval(middle - width / 2, middle + width / 2)
