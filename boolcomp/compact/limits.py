"""Which values width variables may have, and the widths that a search begins with."""

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
    Source,
    Table,
    WidthVariable,
    WordSum,
    reads,
)
from boolcomp.compact.sketch_terms import Form
from boolcomp.compact.tables import DIGITS, constant_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from boolcomp.compact.sketch import Quantity, Widths

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Which values width variables may have, and the widths that a search begins with.
# --------------------------------------------------------------------------------------------------


LOWEST_CUT, HIGHEST = -12, 60
MOST_ANGLE = 16  # bits of an angle sum
WIDE = 10  # bits read by a curve from which on slopes are tried first
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
# Entries of curves are within ±2 (see `sketch/direct.py`): a lowest bit of 4 says nothing of them.
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
    """Tell whether a width may have a value."""
    low, high = _limits(sketch, variable)
    return low <= value <= high


def effective(model: Model, widths: Widths, variable: WidthVariable) -> int:
    """Return the value that a width has in effect: no word tells more than what it is made of.

    All values above it are the same choice; a step down begins there.
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
    """Return widths that give every rounding an equal part of the allowed variances."""
    sketch = model.sketch
    sources = sum(not isinstance(node, (Source, AngleSum)) for node in sketch.nodes)
    share = allowed / max(4, sources)
    widths: dict[WidthVariable, int] = {}
    for place, node in enumerate(sketch.nodes):
        felt = model.sensitivities[place].value
        step = _exponent(share * 12, felt)
        if isinstance(node, AngleSum):
            widths[Role.ANGLE_BITS.of(place)] = MOST_ANGLE
        elif isinstance(node, Table):
            most = _CURVE_LIMITS[Role.EXPONENT][1] if isinstance(node, Curve) else HIGHEST
            widths[Role.EXPONENT.of(place)] = min(step, most)
            read = _first_read(model, place, node, share)
            widths[Role.READ.of(place)] = read
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
    """Return how a table is split at first: curves of wide words by slopes, others in two.

    Where whole tables are cheap none but wide curves are.
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
    """Return how many bits a table has to read, so that its cells are no wider than allowed."""
    step = 2.0 ** _exponent(share * 12, model.sensitivities[place].slope)
    whole = 2 * math.pi if node.angle else 2 * model.statistics.largest[node.source]
    most = MOST_CURVE if isinstance(node, Curve) else MOST_READ
    return max(2, min(most, math.ceil(math.log2(max(whole / step, 1.0)))))


def _bounded_cut(sketch: Sketch, place: int, node: WordSum, cut: int) -> int:
    if place in sketch.outputs:
        return max(LOWEST_CUT, min(0, cut))
    return min(max(cut, 0), 12) if node.angle else cut


def _exponent(variance: Floats, felt: Floats) -> int:
    ratios = [v / f for v, f in zip(variance, felt, strict=True) if f > 0]
    return math.floor(math.log2(min(ratios)) / 2) if ratios else 0


# --------------------------------------------------------------------------------------------------
# What coarse inputs and rounding make of errors whatever the logic does, and what would help.
#
# An input word of step s tells an output no more than the middle of a cell: that alone leaves a
# mean square of s²/12 times the mean square of the output's sensitivity to the word, and rounding
# 1/12 of a step. Known before any width is chosen, so a demand below it is refused at once.
# --------------------------------------------------------------------------------------------------


SMALL = 1.05  # times what rounding usually makes: an output that makes more hardly leaves zero
CERTAIN = 0.85  # of what inputs make: it is linear and sampled, so what is nearly enough is tried
COMFORTABLE = 0.75  # of what is allowed beside rounding is what inputs may make, in advice
MOST_NAMED = 4  # words in a sentence


def rounding_squares(outputs: Floats, reach: Floats | None = None) -> Floats:
    """Return what rounding alone makes of outputs in steps, (samples, outputs): usually 1/12.

    Cells lie beside zero, so an output that hardly leaves zero errs by half a step. So does one
    that saturates, beyond its `reach`: it is compared with the end of its range.
    """
    if reach is not None:
        outputs = np.clip(outputs, -reach, reach)
    found = ((outputs - np.floor(outputs) - 0.5) ** 2).mean(axis=0)
    return np.asarray(np.where(found > SMALL**2 * ROUNDING**2, found, ROUNDING**2))


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """Mean squares in steps, one for every output, that each input word makes; the words' bits."""

    parts: Mapping[str, Floats]
    bits: Mapping[str, int]
    rounding: Floats = field(default_factory=lambda: np.asarray(ROUNDING**2))
    jumps: Floats = field(default_factory=lambda: np.asarray(0.0))
    names: tuple[str, ...] = ()

    @property
    def total(self) -> Floats:
        """What all words, jumps that they misjudge, and rounding make together."""
        return np.asarray(self.rounding + self.jumps + self.inputs)

    @property
    def inputs(self) -> Floats:
        """What all words make together."""
        return np.asarray(sum(self.parts.values()), dtype=np.float64)

    def forbids(self, allowed: Floats) -> bool:
        """Tell whether no logic can reach the mean squares allowed."""
        return bool((allowed - self.rounding < CERTAIN * (self.inputs + self.jumps)).any())

    def advice(self, allowed: Floats) -> str:
        """Return what would help: input words to widen, if it is they that err."""
        small = np.flatnonzero(allowed < np.broadcast_to(self.rounding, allowed.shape))
        if len(small):
            known = self.names or tuple(f"T{k + 1}" for k in range(small.max() + 1))
            names = listing(known[k] for k in small)
            leave = "leaves" if len(small) == 1 else "leave"
            return (
                f"{names} hardly {leave} zero, and a word has no zero: give a smaller range, or "
                "allow more"
            )
        if (self.jumps > np.maximum(self.inputs, allowed - self.rounding)).any():
            return "most of it is made by jumps on whose side the inputs leave a doubt: allow more"
        room = COMFORTABLE * np.maximum(allowed - self.rounding, 1e-9)
        if (self.inputs <= room).all():
            return "allow more"
        named = self._worst(int(np.argmax(self.inputs / room)))
        wider = self._wider(room)
        if not wider:
            return f"most of it {listing(named)}, but wider words would not do: allow more"
        if len(wider) > MOST_NAMED:
            choices = str(max(wider.values()))
        else:
            choices = ",".join(f"{name}={bits}" for name, bits in sorted(wider.items()))
        them = "them" if len(named) > 1 else "it"
        return f"most of it {listing(named)}: widen {them} (--input-bits {choices}), or allow more"

    def _worst(self, place: int) -> list[str]:
        """Name the words that make most of an output's error."""
        ranked = sorted(self.parts, key=lambda name: (-self.parts[name][place], name))
        most = 0.8 * self.inputs[place]
        named, reached = [], 0.0
        for name in ranked[:MOST_NAMED]:
            if reached < most:
                named.append(f"{name} ({self.bits[name]} bits)")
                reached += float(self.parts[name][place])
        return named

    def _wider(self, room: Floats) -> dict[str, int]:
        """Return the widths of the words to widen so that inputs make no more, if any do."""
        parts, bits = dict(self.parts), dict(self.bits)
        while True:
            ratio = sum(parts.values()) / room
            place = int(np.argmax(ratio))
            if ratio[place] <= 1:
                return {name: wide for name, wide in bits.items() if wide != self.bits[name]}
            able = [name for name in parts if bits[name] < MOST_INPUT]
            if not able:
                return {}
            name = max(able, key=lambda one: (parts[one][place], one))
            parts[name], bits[name] = parts[name] / 4, bits[name] + 1


# --------------------------------------------------------------------------------------------------
# How large words become: climbed to, one input after another, from the largest of samples.
#
# A word of a recursion is a product of products; where it is largest, samples hardly ever are. Of
# linear inputs the ends are tried, of angles some points of their reach and then steps nearby.
# --------------------------------------------------------------------------------------------------


STARTS = 4  # states from which the size of a word is climbed
POINTS = 9  # of an angle's reach
STEPS = (None, 1 / 16, 1 / 64)  # of that reach, a sweep each; None: the points


def climbed(
    sketch: Sketch, words: Mapping[str, Quantity], samples: Mapping[str, Floats]
) -> dict[str, Floats]:
    """Return states at which the sums of a sketch are about as large as they become.

    `samples` and what is returned are values by the names of inputs, in units of words.
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
    """Yield other values of an input: ends of its reach, and where an angle moves."""
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
# The forms in which outputs are written and tried out, by place.
# --------------------------------------------------------------------------------------------------


FORMS = tuple(
    Form(speeds, accelerations, chained, exact=exact)
    for exact in (False, True)
    for speeds in (False, True)
    for accelerations in (False, True)
    for chained in (False, True)
)
PLAIN = range(len(FORMS) // 2)
EXACT = range(len(FORMS) // 2, len(FORMS))  # sums of angles lose no bit, which takes more logic
DIRECT, DIRECT_EXACT = len(FORMS), len(FORMS) + 1  # not of terms
FORMS = (*FORMS, Form(direct=True), Form(direct=True, exact=True))
TABLED = range(len(FORMS), len(FORMS) + len(PLAIN))  # for code, where tables and products are cheap
FORMS = (*FORMS, *(replace(FORMS[k], shared=False, tabled=True) for k in PLAIN))


# --------------------------------------------------------------------------------------------------
# Other ways to split a curve than one width at a time leads to.
#
# One bit more that is split off is seldom a gain unless the slope multiplies it, too; a split into
# two tables has nothing in common with slopes. So whole splits are tried, and pairs of steps.
# --------------------------------------------------------------------------------------------------


PAIRED = (Role.EXPONENT, Role.SPLIT, Role.LEAD, *INTERPOLATION)
FEWEST, MOST = 2, 9  # leading bits of a coarse table


def _wide(sketch: Sketch, widths: Widths, node: int) -> int:
    """Return how many bits a curve reads that is worth the trouble, else 0."""
    if not isinstance(sketch.nodes[node], Curve) or Role.SPLIT.of(node) not in widths:
        return 0
    read = widths[Role.READ.of(node)]
    return read if read >= WIDE else 0


def curve_splits(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield whole splits of a curve: two tables, slopes, slopes and bends."""
    read = _wide(sketch, widths, node)
    for most in range(FEWEST, min(MOST, read) + 1):
        low = read - most
        ways = [
            (low, max(1, most - 2), 0, 1, 0, 0, 0),
            (low, 1, low, most, -1, 0, 0),
            (low, 3, max(1, low - 3), most, -1, 0, 0),
            (low, 3, max(1, low - 2), most, -1, min(3, low), 2),
            (low, 3, low, most, -1, min(4, low), 3),
        ]
        for way in ways if read else ():
            roles = (Role.SPLIT, Role.LEAD, *INTERPOLATION)
            values = {role.of(node): value for role, value in zip(roles, way, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values


def curve_pairs(sketch: Sketch, widths: Widths, node: int) -> Iterator[dict[WidthVariable, int]]:
    """Yield every two widths of a curve one up or down, from where they then are."""
    if not _wide(sketch, widths, node):
        return
    for one, other in itertools.combinations(PAIRED, 2):
        for steps in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            pair = (one.of(node), other.of(node))
            values = {v: widths[v] + step for v, step in zip(pair, steps, strict=True)}
            if all(in_range(sketch, variable, value) for variable, value in values.items()):
                yield values
