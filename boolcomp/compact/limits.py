"""Limits and first values of widths, floors of errors, extremes of words, forms, and splits."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import listing
from boolcomp.compact.demand import MOST_INPUT, ROUNDING
from boolcomp.compact.errors import word_value
from boolcomp.compact.noise import MOST_READ, Model
from boolcomp.compact.sketch import (
    INTERPOLATION,
    AngleSum,
    Curve,
    Linear,
    Product,
    Role,
    Sketch,
    SourceWord,
    Table,
    WidthVariable,
    WordSum,
    reads,
)
from boolcomp.compact.sketch_terms import FINE, Formulation, is_multiple
from boolcomp.compact.tables import DIGITS, constant_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.sketch import Quantity, Widths

    Floats = NDArray[np.float64]


LOWEST_CUT, HIGHEST = -12, 60
MOST_ANGLE = 16  # bits of an angle sum
WIDE = 10  # bits read by a curve from which slopes are tried first
MOST_CURVE = 16  # bits that the table of a curve may read: bipartite ones stay small
_LIMITS = {
    Role.ANGLE_BITS: (3, MOST_ANGLE),
    Role.READ: (1, MOST_READ),
    Role.EXPONENT: (-HIGHEST, HIGHEST),
    Role.SPLIT: (0, 7),
    Role.LEAD: (2, 10),
    Role.KEEP: (0, 1),
    Role.DROP_A: (0, 30),
    Role.DROP_B: (0, 30),
}
# Entries of curves are within ±2 (see `sketch_steps`), so that a lowest bit of 4 is useless.
_CURVE_LIMITS = {
    Role.EXPONENT: (-HIGHEST, 1),
    Role.READ: (1, MOST_CURVE),
    Role.SPLIT: (0, 12),
    Role.LEAD: (1, 12),
    Role.TIMES: (0, 12),
    Role.SLOPES: (1, 12),
    Role.FINENESS: (-6, 4),
    Role.BEND: (0, 6),
    Role.BENDS: (0, 6),
}


def in_range(sketch: Sketch, variable: WidthVariable, value: int) -> bool:
    """Return whether a width may have a value."""
    low, high = _limits(sketch, variable)
    return low <= value <= high


def effective(model: Model, widths: Widths, variable: WidthVariable) -> int:
    """Return the effective value of a width, which the operand's precision limits.

    All values above it are equivalent; a step down begins there.
    """
    value, place = widths[variable], variable.node
    if variable.role is Role.ANGLE_BITS:
        return min(value, model.turn(widths, place).word.known)
    if variable.role is Role.READ:
        (source,) = reads(model.sketch.nodes[place])
        return min(value, model.bits(widths, source))
    return value


def _limits(sketch: Sketch, variable: WidthVariable) -> tuple[int, int]:
    node = sketch.nodes[variable.node]
    if isinstance(node, Curve):
        return _CURVE_LIMITS.get(variable.role) or _LIMITS[variable.role]
    if not isinstance(node, WordSum):
        return _LIMITS[variable.role]
    if variable.role is Role.CUT:
        if variable.node in sketch.outputs:
            return LOWEST_CUT, 0
        return (0, 12) if node.angle else (-HIGHEST, HIGHEST)
    if variable.role is Role.DIGITS:
        addend = node.addends[variable.addend or 0]
        return 1, min(
            8, len(constant_digits(addend.factor, DIGITS)) if isinstance(addend, Linear) else 1
        )
    return _LIMITS[variable.role]


def first_widths(model: Model, allowed: Floats) -> dict[WidthVariable, int]:
    """Return widths that give every rounding an equal share of the allowed variances."""
    sketch = model.sketch
    sources = sum(not isinstance(node, (SourceWord, AngleSum)) for node in sketch.nodes)
    share = allowed / max(4, sources)
    widths: dict[WidthVariable, int] = {}
    for place, node in enumerate(sketch.nodes):
        step = _exponent(share * 12, model.sensitivities[place].value)
        if isinstance(node, AngleSum):
            widths[Role.ANGLE_BITS.of(place)] = MOST_ANGLE
        elif isinstance(node, Table):
            highest = _CURVE_LIMITS[Role.EXPONENT][1] if isinstance(node, Curve) else HIGHEST
            widths[Role.EXPONENT.of(place)] = min(step, highest)
            read = _first_read(model, place, node, share)
            widths[Role.READ.of(place)] = read
            source = sketch.nodes[node.source]
            if model.costs.bytewise and isinstance(source, SourceWord) and is_multiple(node):
                widths[Role.EXPONENT.of(place)] = source.bits - read - FINE
            if place not in model.operands:
                widths |= _first_split(place, node, read, whole=model.costs.whole)
        elif isinstance(node, WordSum):
            widths[Role.CUT.of(place)] = _bounded_cut(sketch, place, node, step - 2)
            for k, addend in enumerate(node.addends):
                widths[Role.KEEP.of(place, k)] = 1
                if isinstance(addend, Product):
                    widths[Role.DROP_A.of(place, k)] = 0
                    widths[Role.DROP_B.of(place, k)] = 0
                else:
                    widths[Role.DIGITS.of(place, k)] = min(
                        4, len(constant_digits(addend.factor, DIGITS))
                    )
    return widths


def _first_split(place: int, node: Table, read: int, *, whole: bool) -> dict[WidthVariable, int]:
    """Return the first split of a table: slopes for curves of wide words, else two tables.

    If whole tables are cheap, only wide curves are split.
    """
    low = 0 if whole and not isinstance(node, Curve) else max(0, read - 6)
    first = {Role.SPLIT: low, Role.LEAD: min(read, 5)}
    if isinstance(node, Curve):
        times = low if read >= WIDE else 0
        first |= {Role.TIMES: times, Role.SLOPES: 6, Role.FINENESS: -1, Role.BEND: 0, Role.BENDS: 2}
        if read >= WIDE:
            first |= {Role.LEAD: 3, Role.BEND: min(3, low)}
    return {role.of(place): value for role, value in first.items()}


def _first_read(model: Model, place: int, node: Table, share: Floats) -> int:
    """Return the number of bits that a table must read for cells of the allowed width."""
    step = 2.0 ** _exponent(share * 12, model.sensitivities[place].slope)
    whole = 2 * math.pi if node.angle else 2 * model.statistics.largest[node.source]
    maximum = MOST_CURVE if isinstance(node, Curve) else MOST_READ
    return max(2, min(maximum, math.ceil(math.log2(max(whole / step, 1.0)))))


def _bounded_cut(sketch: Sketch, place: int, node: WordSum, cut: int) -> int:
    if place in sketch.outputs:
        return max(LOWEST_CUT, min(0, cut))
    return min(max(cut, 0), 12) if node.angle else cut


def _exponent(variance: Floats, sensitivity: Floats) -> int:
    ratios = [v / s for v, s in zip(variance, sensitivity, strict=True) if s > 0]
    return math.floor(math.log2(min(ratios)) / 2) if ratios else 0


# --------------------------------------------------------------------------------------------------
# The floor of errors: coarse inputs and rounding.
#
# An input word of step s causes a mean square of s²/12 times the mean square of the output's
# sensitivity to the word; rounding causes 1/12 of a step. A demand below the sum is refused before
# any width is chosen.
# --------------------------------------------------------------------------------------------------

SMALL = 1.05  # ratio to the usual rms error of rounding, from which an output hardly leaves zero
CERTAIN = 0.85  # part of the error of inputs that is certain: it is linear and sampled
COMFORTABLE = 0.75  # part of the error left besides rounding that advice gives to inputs
MOST_NAMED = 4  # words in an error message


def rounding_squares(outputs: Floats, reach: Floats | None = None) -> Floats:
    """Return the mean squares of rounding outputs in steps, (samples, outputs): usually 1/12.

    Zero is an end of cells, so an output that hardly leaves zero has an error of half a step. An
    output that saturates beyond its `reach` is compared with the end of its range.
    """
    if reach is not None:
        outputs = np.clip(outputs, -reach, reach)
    found = ((outputs - np.floor(outputs) - 0.5) ** 2).mean(axis=0)
    return np.asarray(np.where(found > SMALL**2 * ROUNDING**2, found, ROUNDING**2))


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Mean squares of errors in steps, for every input word by output; the words' bits."""

    parts: Mapping[str, Floats]
    bits: Mapping[str, int]
    rounding: Floats = field(default_factory=lambda: np.asarray(ROUNDING**2))
    jumps: Floats = field(default_factory=lambda: np.asarray(0.0))
    names: tuple[str, ...] = ()

    @property
    def total(self) -> Floats:
        return np.asarray(self.rounding + self.jumps + self.inputs)

    @property
    def inputs(self) -> Floats:
        return np.asarray(sum(self.parts.values()), dtype=np.float64)

    def forbids(self, allowed: Floats) -> bool:
        return bool((allowed - self.rounding < CERTAIN * (self.inputs + self.jumps)).any())

    def advice(self, allowed: Floats) -> str:
        """Return advice for an error message, such as input words to widen."""
        small = np.flatnonzero(allowed < np.broadcast_to(self.rounding, allowed.shape))
        if len(small):
            known = self.names or tuple(f"T{k + 1}" for k in range(small.max() + 1))
            names = listing(known[k] for k in small)
            leave = "leaves" if len(small) == 1 else "leave"
            return (
                f"{names} hardly {leave} zero, where the word has no cell: add one, such as with "
                "--word tau=twos:tread, or allow a larger error"
            )
        if (self.jumps > np.maximum(self.inputs, allowed - self.rounding)).any():
            return "mostly from jumps at points between input values: allow a larger error"
        room = COMFORTABLE * np.maximum(allowed - self.rounding, 1e-9)
        if (self.inputs <= room).all():
            return "allow a larger error"
        named = self._worst(int(np.argmax(self.inputs / room)))
        wider = self._wider(room)
        if not wider:
            return (
                f"mostly from {listing(named)}, but wider words do not suffice: allow a larger "
                "error"
            )
        if len(wider) > MOST_NAMED:
            choices = str(max(wider.values()))
        else:
            choices = ",".join(f"{name}={bits}" for name, bits in sorted(wider.items()))
        them = "them" if len(named) > 1 else "it"
        return (
            f"mostly from {listing(named)}: widen {them} (--input-bits {choices}), or allow a "
            "larger error"
        )

    def _worst(self, place: int) -> list[str]:
        """Name the words that cause most of an output's error."""
        ranked = sorted(self.parts, key=lambda name: (-self.parts[name][place], name))
        threshold = 0.8 * self.inputs[place]
        named, reached = [], 0.0
        for name in ranked[:MOST_NAMED]:
            if reached < threshold:
                named.append(f"{name} ({self.bits[name]} bits)")
                reached += float(self.parts[name][place])
        return named

    def _wider(self, room: Floats) -> dict[str, int]:
        """Return the wider words with which inputs cause at most the error `room`, if any."""
        parts, bits = dict(self.parts), dict(self.bits)
        while True:
            ratio = sum(parts.values()) / room
            place = int(np.argmax(ratio))
            if ratio[place] <= 1:
                return {name: width for name, width in bits.items() if width != self.bits[name]}
            able = [name for name in parts if bits[name] < MOST_INPUT]
            if not able:
                return {}
            name = max(able, key=lambda one: (parts[one][place], one))
            parts[name], bits[name] = parts[name] / 4, bits[name] + 1


# --------------------------------------------------------------------------------------------------
# Extremes of words, by coordinate search from the largest samples.
#
# Random samples seldom come near the extremes of a product of products. The search tries the ends
# of linear inputs, and points of the reach of angles, then smaller steps.
# --------------------------------------------------------------------------------------------------

STARTS = 4  # states from which a search for the extreme of a word begins
POINTS = 9  # of an angle's reach
STEPS = (None, 1 / 16, 1 / 64)  # of that reach, one for each sweep; None: the points


def climbed(
    sketch: Sketch, words: Mapping[str, Quantity], samples: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return states at which the sums of a sketch are about as large as they become.

    States are values by the names of inputs, in units of words.
    """
    sums = [place for place, node in enumerate(sketch.nodes) if isinstance(node, WordSum)]
    values = sketch.evaluate(samples)
    starts = [np.argsort(-np.abs(values[place]), kind="stable")[:STARTS] for place in sums]
    rows, own = np.concatenate(starts), np.repeat(sums, [len(one) for one in starts])
    states = {name: column[rows] for name, column in samples.items()}
    for step in STEPS:
        for name, column in states.items():
            tried = [column, *_moves(words[name], column, step)]
            sizes = np.array([_sizes(sketch, {**states, name: one}, own) for one in tried])
            best = sizes.argmax(axis=0)
            states[name] = np.array(tried)[best, np.arange(len(column))]
    return states


def _moves(word: Quantity, column: Floats, step: float | None) -> Iterator[Floats]:
    """Yield other values of an input: ends of its reach, or moves of an angle."""
    low, high = word_value(word, np.array([word.reach.low, word.reach.high])).tolist()
    if not word.turns:
        yield from (np.full_like(column, end) for end in (low, high))
    elif step is None:
        yield from (np.full_like(column, place) for place in np.linspace(low, high, POINTS))
    else:
        for sign in (-1.0, 1.0):
            moved = column + sign * step * (high - low)
            yield moved if word.wraps else np.clip(moved, low, high)


def _sizes(sketch: Sketch, states: Mapping[str, Floats], own: NDArray[np.intp]) -> Floats:
    values = sketch.evaluate(states)
    found = np.zeros(len(own))
    for place in np.unique(own):
        rows = own == place
        found[rows] = np.abs(values[place][rows])
    return found


# --------------------------------------------------------------------------------------------------
# The forms of outputs that are tried, by place.
# --------------------------------------------------------------------------------------------------

FORMS = tuple(
    Formulation(speeds, accelerations, chained, exact=exact)
    for exact in (False, True)
    for speeds in (False, True)
    for accelerations in (False, True)
    for chained in (False, True)
)
PLAIN = range(len(FORMS) // 2)
EXACT = range(len(FORMS) // 2, len(FORMS))  # sums of angles lose no bit, at the cost of logic
DIRECT, DIRECT_EXACT = len(FORMS), len(FORMS) + 1  # without terms
FORMS = (*FORMS, Formulation(direct=True), Formulation(direct=True, exact=True))
TABLED = range(len(FORMS), len(FORMS) + len(PLAIN))  # for code, where tables and products are cheap
FORMS = (*FORMS, *(replace(FORMS[k], shared=False, tabled=True) for k in PLAIN))
MULTIPLIED = range(len(FORMS), len(FORMS) + len(PLAIN))  # for processors that multiply bytes
FORMS = (*FORMS, *(replace(FORMS[k], multiplied=True) for k in TABLED))


# --------------------------------------------------------------------------------------------------
# Splits of curves that changes of single widths do not reach.
#
# Splitting off one more bit seldom pays unless the slope multiplies it, too. A split into two
# tables differs from slopes in all widths. So whole splits are tried, and pairs of steps.
# --------------------------------------------------------------------------------------------------

PAIRED = (Role.EXPONENT, Role.SPLIT, Role.LEAD, *INTERPOLATION)
FEWEST, MOST = 2, 9  # leading bits of a coarse table


def _wide_read(sketch: Sketch, widths: Widths, node: int) -> int:
    """Return the number of bits that a wide split curve reads; 0 for other nodes."""
    if not isinstance(sketch.nodes[node], Curve) or Role.SPLIT.of(node) not in widths:
        return 0
    read = widths[Role.READ.of(node)]
    return read if read >= WIDE else 0


def curve_splits(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield whole splits of a curve: two tables, slopes, slopes and bends."""
    read = _wide_read(sketch, widths, node)
    roles = (Role.SPLIT, Role.LEAD, *INTERPOLATION)
    for high in range(FEWEST, min(MOST, read) + 1):
        low = read - high
        splits = [
            (low, max(1, high - 2), 0, 1, 0, 0, 0),
            (low, 1, low, high, -1, 0, 0),
            (low, 3, max(1, low - 3), high, -1, 0, 0),
            (low, 3, max(1, low - 2), high, -1, min(3, low), 2),
            (low, 3, low, high, -1, min(4, low), 3),
        ]
        for split in splits:
            values = {role.of(node): value for role, value in zip(roles, split, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values


def curve_pairs(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield steps by one, up or down, of every pair of widths of a curve."""
    if not _wide_read(sketch, widths, node):
        return
    for one, other in itertools.combinations(PAIRED, 2):
        for steps in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            pair = (one.of(node), other.of(node))
            values = {v: widths[v] + step for v, step in zip(pair, steps, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values
