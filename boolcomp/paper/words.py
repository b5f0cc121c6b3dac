"""What a term's table reads: words of inputs, or of sums of angles that are added outside.

Bits that a table need not read are left away, the first ones of a word. A term that is even about
the middle of a word does not notice its first Gray bit (the paper's rule d). Beyond the paper, of
`signs` that are outside: where it is odd that bit turns the sign of the value and nothing else,
which in Gray code is the first bit of the output, by an XOR. What is true of a word about its
middle may then be true of its lower half about the middle of that, and so on: of a sine over a
turn the first bit turns the sign and the second does nothing, of a cosine it is the other way
round.

Of `sums` that are outside angles are added before the table where a term knows nothing else of
them. Words of angles span 2^-k of a turn about a multiple of an eighth, so cells add up to cells
modulo a turn, exactly. Counted in half steps of the finest word a middle is odd or even; the sum's
is to be odd, or a sum would lie between two cells and its mirror image be no neighbour. So where it
is even (that of two words of one width is) one angle is read one bit finer. Of the sum as few
leading bits are read as miss no more than the words of the angles would have missed in a table of
their own, at most and in the mean square (two words of one width, added: as many bits as they
have). A leading part stands for its own middle, so that no mean is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.codes import Code
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import Input
from boolcomp.problem.span import TURN, part_of
from boolcomp.terms.terms import collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.words import CodeKind
    from boolcomp.terms.term import Term

    Cells = NDArray[np.int64]

MIRRORED: tuple[CodeKind, ...] = ("gray", "sign-magnitude")  # a mirror image: other first bit
ALIGNED = 1e-6  # of a half step: by so little a word may begin beside one


@dataclass(frozen=True, slots=True)
class Addend:
    """An angle in a sum: the code of its word, and how many times it is added."""

    variable: Input
    code: Code
    times: int

    @property
    def turn_bits(self) -> int:
        """How many bits a word of a whole turn would have with such cells."""
        part = part_of(self.code.range)
        if part is None:
            raise ValueError(f"the word of {self.variable.name} is no part of a turn")
        return self.code.bits + part


@dataclass(frozen=True, slots=True)
class AngleSum:
    """Angles that are added modulo a turn, in cells of the finest of them."""

    addends: tuple[Addend, ...]

    @property
    def bits(self) -> int:
        """How many bits the sum has, modulo a turn."""
        return max(one.turn_bits for one in self.addends)

    @property
    def shifts(self) -> tuple[int, ...]:
        """By how many bits cells of addends are coarser than those of the sum."""
        return tuple(self.bits - one.turn_bits for one in self.addends)

    @property
    def middle(self) -> int:
        """Where the first cells' middles add up to, in half steps above half a turn below zero."""
        half = TURN / (2 << self.bits)
        total = 1 << self.bits
        for one, shift in zip(self.addends, self.shifts, strict=True):
            total += one.times * (round(one.code.range.low / half) + (1 << shift))
        return total

    @property
    def offset(self) -> int:
        """What is added to the cells of all addends, for the cell of the sum."""
        if self.middle % 2 == 0:
            raise ValueError("a sum of angles that lies between cells")
        return (self.middle - 1) // 2

    @property
    def weights(self) -> tuple[int, ...]:
        """By what cells of addends are multiplied."""
        return tuple(one.times << s for one, s in zip(self.addends, self.shifts, strict=True))

    def cells(self, of: Sequence[Cells]) -> Cells:
        """Return the cells of sums, of the cells of the addends."""
        total = np.asarray(np.int64(self.offset))
        for weight, one in zip(self.weights, of, strict=True):
            total = total + weight * one
        return np.asarray(total & ((1 << self.bits) - 1))

    def reached(self) -> NDArray[np.bool_]:
        """Tell which cells occur where addends are within reach; a few more, perhaps."""
        low = high = self.offset
        for weight, one in zip(self.weights, self.addends, strict=True):
            ends = [weight * int(k) for k in one.code.cell(_ends(one))[0]]
            low, high = low + min(ends), high + max(ends)
        found = np.zeros(1 << self.bits, np.bool_)
        found[np.arange(low, min(high, low + len(found) - 1) + 1) % len(found)] = True
        return found


def _ends(one: Addend) -> tuple[float, float]:
    """Return the least and the largest value of which the cells occur."""
    if one.variable.wraps:
        return one.code.centre(0).item(), one.code.centre(one.code.cells - 1).item()
    return one.variable.reach.low, one.variable.reach.high


@dataclass(frozen=True, slots=True)
class Word:
    """An input word of a table: the code of an input, or of a sum, without its first bits.

    Of the `dropped` bits those in `turning`, counted from the first one, turn the value's sign.
    """

    variable: Input
    code: Code
    dropped: int
    turning: tuple[int, ...] = ()
    sum: AngleSum | None = None

    @property
    def inputs(self) -> int:
        """How many bits of it enter the table."""
        return self.code.bits - self.dropped

    @property
    def whole(self) -> bool:
        """Whether nothing of it stands outside the table."""
        return not self.turning and self.sum is None

    @property
    def read(self) -> tuple[Word, ...]:
        """What logic reads for it, of inputs: all bits but first ones that change nothing."""
        if self.sum is not None:
            return tuple(Word(one.variable, one.code, 0) for one in self.sum.addends)
        unread = min((*self.turning, self.dropped))
        return (Word(self.variable, self.code, unread),)

    def at(self, cells: Mapping[str, Cells]) -> tuple[Cells, NDArray[np.bool_] | None]:
        """Return what the table reads where inputs are in cells, and where signs are turned.

        Cells are those of the words that are `read`, by name.
        """
        if self.sum is None:
            mine = cells[self.variable.name]
        else:
            full = self.sum.cells([cells[one.variable.name] for one in self.sum.addends])
            mine = full >> (self.sum.bits - self.code.bits)
        word = self.code.word(mine).astype(np.int64)
        turned = None
        for place in self.turning:
            bit = (word >> (self.code.bits - 1 - place) & 1).astype(np.bool_)
            turned = bit if turned is None else turned ^ bit
        return word & ((1 << self.inputs) - 1), turned

    def __str__(self) -> str:
        drops = f", drops {self.dropped}" if self.dropped else ""
        if self.turning:
            places = " and ".join(str(self.code.bits - 1 - place) for place in self.turning)
            drops += f", bit {places} turns the sign"
        if self.sum is not None:
            parts = (f"{one.times} {one.variable.name} {one.code}" for one in self.sum.addends)
            drops += f", the sum of {' and '.join(parts)}"
        return f"{self.variable.name} {self.code}{drops}"


def words_of(
    term: Term, bits: int, kind: CodeKind, *, signs: bool = False, sums: bool = False
) -> tuple[Word, ...]:
    """Return the words that a term's table reads, all as wide as its output (rule e).

    What stands outside of it are `signs`, or `sums`, or both.
    """
    found: dict[str, Word] = {}
    added = [_sum_of(several, bits, kind) for several in (_classes(term) if sums else ())]
    for word in filter(None, added):
        if word.sum is not None:
            found |= {one.variable.name: word for one in word.sum.addends}
    own = {variable.name: variable for variable in term.variables}
    listed = [
        found.get(name) or Word(v, Code(v.word, bits, kind, v.wraps), 0) for name, v in own.items()
    ]
    listed = list(dict.fromkeys(listed))
    function = tabled(term, tuple(listed))
    return tuple(_shortened(function, word, signs=signs) for word in listed)


def _shortened(function: Term, word: Word, *, signs: bool) -> Word:
    """Leave away first bits that change nothing and, with `signs`, those that turn the sign."""
    code, turning = word.code, []
    if code.kind not in MIRRORED:
        return word
    low, high, dropped = code.range.low, code.range.high, 0
    while dropped < (code.bits if signs else 1):
        middle = (low + high) / 2
        sign = function.reflection(word.variable, middle if dropped else code.range.centre)
        if not (sign == 1 or (sign == -1 and signs)):
            break
        if sign == -1:
            turning.append(dropped)
        dropped, high = dropped + 1, middle
    return replace(word, dropped=dropped, turning=tuple(turning))


def _classes(term: Term) -> list[list[tuple[Input, int]]]:
    """Return angles that all waves have in one proportion, and in which; several each."""
    waves = term.waves()
    linear = {*(v.name for v in term.factor), *(name for w in waves for name, _ in w.powers)}
    found: dict[tuple[int, ...], list[tuple[Input, int]]] = {}
    for variable in term.arguments:
        column = [dict(wave.multiples).get(variable.name, 0) for wave in waves]
        common = math.gcd(*column)
        if not variable.angle or variable.name in linear or not common:
            continue
        if next(k for k in column if k) < 0:
            common = -common
        found.setdefault(tuple(k // common for k in column), []).append((variable, common))
    return [_primitive(one) for one in found.values() if len(one) > 1]


def _primitive(several: list[tuple[Input, int]]) -> list[tuple[Input, int]]:
    common = math.gcd(*(times for _, times in several))
    if several[0][1] < 0:
        common = -common
    return [(variable, times // common) for variable, times in several]


def _sum_of(several: Iterable[tuple[Input, int]], bits: int, kind: CodeKind) -> Word | None:
    """Return the word of a sum of angles, or None where cells do not add up to cells."""
    addends = []
    for variable, times in several:
        code = Code(variable.word, bits, kind, variable.wraps)
        if part_of(variable.word) is None:
            return None
        addends.append(Addend(variable, code, times))
    total = plain = AngleSum(tuple(addends))
    if any(not _aligned(one, total.bits) for one in addends):
        return None
    while total.middle % 2 == 0:
        total = _finer(total)
    name = "".join(f"{'+' if one.times > 0 else '-'}{_times(one)}" for one in addends)
    turn = Interval(-TURN / 2, TURN / 2)
    variable = Input(name.removeprefix("+"), turn, "rad", turn, turn, angle=True, wraps=True)
    return Word(variable, Code(turn, _enough(plain, total), kind, wraps=True), 0, (), total)


def _enough(plain: AngleSum, total: AngleSum) -> int:
    """Return how many leading bits of a sum miss no more than the words of a plain one do."""

    def missed(one: AngleSum, power: int) -> int:
        return sum(abs(k << (total.bits - one.bits)) ** power for k in one.weights)

    for bits in range(1, total.bits):
        lost = 1 << (total.bits - bits)  # cells of a leading part
        if all(missed(total, p) + lost**p - 1 <= missed(plain, p) for p in (1, 2)):
            return bits
    return total.bits


def _aligned(one: Addend, bits: int) -> bool:
    """Tell whether a word begins at a half step of a sum."""
    place = one.code.range.low / (TURN / (2 << bits))
    return abs(place - round(place)) < ALIGNED


def _finer(total: AngleSum) -> AngleSum:
    """Return a sum of which one angle has a bit more: the finest that is added an odd number of."""
    places = [k for k, one in enumerate(total.addends) if one.times % 2]
    place = max(places, key=lambda k: (total.addends[k].turn_bits, -k))
    addends = list(total.addends)
    code = addends[place].code
    addends[place] = replace(addends[place], code=replace(code, bits=code.bits + 1))
    return AngleSum(tuple(addends))


def _times(one: Addend) -> str:
    size = abs(one.times)
    return one.variable.name if size == 1 else f"{size}{one.variable.name}"


@lru_cache(maxsize=4096)
def tabled(term: Term, words: tuple[Word, ...]) -> Term:
    """Return a term as a function of its words: with the sums among them for their angles."""
    sums = [word for word in words if word.sum is not None]
    if not sums:
        return term
    instead = {
        one.variable.name: (word.variable, one.times)
        for word in sums
        if word.sum is not None
        for one in word.sum.addends
    }
    parts = []
    for wave in term.waves():
        turns: dict[str, int] = {}
        for name, k in wave.multiples:
            if name in instead:
                added, times = instead[name]
                turns[added.name] = k // times
            else:
                turns[name] = k
        parts.append((tuple(turns.items()), wave.powers, complex(wave.cosine, -wave.sine)))
    arguments = (instead[v.name][0] if v.name in instead else v for v in term.arguments)
    return replace(term, coefficient=collect(parts), arguments=tuple(dict.fromkeys(arguments)))
