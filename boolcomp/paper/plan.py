"""The paper's plan (its Fig. 1): the width of every term's table, derived from the paper's rules.

With p terms in an output, each has m = int(log2(p + 1)) guard bits (eq. 2). A term's range is the
output's range divided by the largest power of two that still covers the term's amplitude. So all
terms share one least significant bit (rule a); a term's width is bits + m minus that power. Every
input word has the same width (rule e). If the term is even about the middle of a word, the word
loses its most significant Gray bit (rule d).

The paper splits terms as follows. While one more term would leave m unchanged, the largest table
that has not been split is cut, by angle sums if there are several, else into equal halves.

Beyond the paper, terms are left out, and named, if all of them together stay within half a common
least significant bit. Signs and sums of angles may be computed outside of tables. This changes only
the inputs of tables, not terms, splits and codes.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from boolcomp.base.errors import DataError, UsageError, number, require_name
from boolcomp.codes import ROUNDINGS, Code, Rounding
from boolcomp.problem.problem import name_order
from boolcomp.problem.words import TURN, Input, Interval, part_of
from boolcomp.terms.extract import Terms, number_terms
from boolcomp.terms.extrema import ceiling, height, output_amplitudes
from boolcomp.terms.terms import collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.word_codes import CodeKind
    from boolcomp.problem.words import Output
    from boolcomp.terms.terms import Term, Wave

    Cells = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# The inputs of a term's table: words of inputs, or of sums of angles that are added outside.
#
# A table omits the first bits of a word that it does not need. If a term is even about the middle
# of a word, the first Gray bit has no effect (the paper's rule d). Beyond the paper, with `signs`
# outside, the first bit of a word about whose middle the term is odd only changes the sign of the
# value. In Gray code, the sign is the first bit of the output, so an XOR outside of the table
# suffices. The lower half of the word may have the same symmetries about its own middle, and so on.
# For a sine over a turn, the first bit changes the sign and the second has no effect; for a cosine
# it is the other way round.
#
# With `sums` outside, angles are added before the table if a term depends on them only through
# their sum. Words of angles span 2^-k of a turn about a multiple of an eighth, so cells add up to
# cells modulo a turn, exactly. The middle of a sum, in half steps of the finest word, must be odd.
# Otherwise the sum would lie between two cells, and its mirror image would be no neighbour. If the
# middle is even, as for two words of one width, one angle is read with one more bit. The table
# reads as many leading bits of the sum as its error needs to stay within that of the words of the
# angles, in maximum and rms. For two words of one width, that is their width. A leading part
# represents its own middle, so there is no mean error.
# --------------------------------------------------------------------------------------------------

ALIGNED = 1e-6  # of a half step: tolerance for the start of a word


@dataclass(frozen=True, slots=True)
class AngleAddend:
    """An angle in a sum: the code of its word, and its multiple."""

    variable: Input
    code: Code
    times: int

    @property
    def turn_bits(self) -> int:
        """The number of bits of a word for a whole turn with cells of this width."""
        part = part_of(self.code.range)
        if part is None:
            raise ValueError(f"the word of {self.variable.name} does not span a part of a turn")
        return self.code.bits + part


@dataclass(frozen=True, slots=True)
class CellAngleSum:
    """Angles that are added modulo a turn, in cells of the finest angle."""

    addends: tuple[AngleAddend, ...]

    @property
    def bits(self) -> int:
        return max(one.turn_bits for one in self.addends)

    @property
    def shifts(self) -> tuple[int, ...]:
        return tuple(self.bits - one.turn_bits for one in self.addends)

    @property
    def middle(self) -> int:
        """The sum of the middles of first cells, in half steps, counted from minus half a turn."""
        half = TURN / (2 << self.bits)
        total = 1 << self.bits
        for one, shift in zip(self.addends, self.shifts, strict=True):
            total += one.times * (round(one.code.range.low / half) + (1 << shift))
        return total

    @property
    def offset(self) -> int:
        """The constant that makes the sum of cells the cell of the sum."""
        if self.middle % 2 == 0:
            raise ValueError("a sum of angles lies between cells")
        return (self.middle - 1) // 2

    @property
    def weights(self) -> tuple[int, ...]:
        return tuple(one.times << s for one, s in zip(self.addends, self.shifts, strict=True))

    def cells(self, of: Sequence[Cells]) -> Cells:
        """Return the cells of sums, given the cells of the addends."""
        total = np.asarray(np.int64(self.offset))
        for weight, one in zip(self.weights, of, strict=True):
            total = total + weight * one
        return np.asarray(total & ((1 << self.bits) - 1))

    def reached(self) -> NDArray[np.bool_]:
        """Tell which cells may occur, given the ranges of the addends."""
        low = high = self.offset
        for weight, one in zip(self.weights, self.addends, strict=True):
            ends = [weight * int(k) for k in one.code.cell(_ends(one))[0]]
            low, high = low + min(ends), high + max(ends)
        found = np.zeros(1 << self.bits, np.bool_)
        found[np.arange(low, min(high, low + len(found) - 1) + 1) % len(found)] = True
        return found


def _ends(one: AngleAddend) -> tuple[float, float]:
    """Return the least and the largest value whose cells occur."""
    if one.variable.wraps:
        return one.code.centre(0).item(), one.code.centre(one.code.cells - 1).item()
    return one.variable.reach.low, one.variable.reach.high


@dataclass(frozen=True, slots=True)
class TableWord:
    """An input word of a table: the code of an input, or of a sum, without its first bits.

    The `dropped` bits in `turning`, counted from the first bit, change the value's sign.
    """

    variable: Input
    code: Code
    dropped: int
    turning: tuple[int, ...] = ()
    sum: CellAngleSum | None = None

    @property
    def inputs(self) -> int:
        return self.code.bits - self.dropped

    @property
    def whole(self) -> bool:
        return not self.turning and self.sum is None

    @property
    def read(self) -> tuple[TableWord, ...]:
        """The words of inputs that logic reads; it omits only first bits without effect."""
        if self.sum is not None:
            return tuple(TableWord(one.variable, one.code, 0) for one in self.sum.addends)
        unread = min((*self.turning, self.dropped))
        return (TableWord(self.variable, self.code, unread),)

    def at(self, cells: Mapping[str, Cells]) -> tuple[Cells, NDArray[np.bool_] | None]:
        """Return the index of the table, and where the value's sign changes, for cells of inputs.

        Cells are those of the words in `read`, by name.
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
) -> tuple[TableWord, ...]:
    """Return the words that a term's table reads, all as wide as its output (rule e).

    `signs` and `sums` tell which of these are computed outside of the table.
    """
    found: dict[str, TableWord] = {}
    added = [_sum_of(several, bits, kind) for several in (_classes(term) if sums else ())]
    for word in filter(None, added):
        if word.sum is not None:
            found |= {one.variable.name: word for one in word.sum.addends}
    own = {variable.name: variable for variable in term.variables}
    listed = [
        found.get(name) or TableWord(v, Code(v.word, bits, kind, v.wraps), 0)
        for name, v in own.items()
    ]
    listed = list(dict.fromkeys(listed))
    function = tabled(term, tuple(listed))
    return tuple(_shortened(function, word, signs=signs) for word in listed)


def _shortened(function: Term, word: TableWord, *, signs: bool) -> TableWord:
    """Drop first bits without effect and, with `signs`, those that change only the sign."""
    code, turning = word.code, []
    mirrored = Code(code.range, 2, code.kind).word((0, 3))
    if mirrored[0] ^ mirrored[1] != 2:  # mirror images differ not only in the first bit
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
    """Return the groups of angles on which a term depends only by their sum, with multiples."""
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


def _sum_of(several: Iterable[tuple[Input, int]], bits: int, kind: CodeKind) -> TableWord | None:
    """Return the word of a sum of angles, or None if cells do not add up to cells."""
    addends = []
    for variable, times in several:
        code = Code(variable.word, bits, kind, variable.wraps)
        if part_of(variable.word) is None:
            return None
        addends.append(AngleAddend(variable, code, times))
    total = plain = CellAngleSum(tuple(addends))
    if any(not _aligned(one, total.bits) for one in addends):
        return None
    while total.middle % 2 == 0:
        total = _finer(total)
    name = "".join(f"{'+' if one.times > 0 else '-'}{_times(one)}" for one in addends)
    turn = Interval(-TURN / 2, TURN / 2)
    variable = Input(name.removeprefix("+"), turn, "rad", turn, turn, angle=True, wraps=True)
    return TableWord(variable, Code(turn, _enough(plain, total), kind, wraps=True), 0, (), total)


def _enough(plain: CellAngleSum, total: CellAngleSum) -> int:
    """Return the leading bits of a sum that are needed for errors within those of a plain sum."""

    def missed(one: CellAngleSum, power: int) -> int:
        return sum(abs(k << (total.bits - one.bits)) ** power for k in one.weights)

    for bits in range(1, total.bits):
        lost = 1 << (total.bits - bits)  # cells of a leading part
        if all(missed(total, p) + lost**p - 1 <= missed(plain, p) for p in (1, 2)):
            return bits
    return total.bits


def _aligned(one: AngleAddend, bits: int) -> bool:
    """Tell whether a word begins at a half step of a sum."""
    place = one.code.range.low / (TURN / (2 << bits))
    return abs(place - round(place)) < ALIGNED


def _finer(total: CellAngleSum) -> CellAngleSum:
    """Add a bit to the finest angle with an odd multiple."""
    places = [k for k, one in enumerate(total.addends) if one.times % 2]
    place = max(places, key=lambda k: (total.addends[k].turn_bits, -k))
    addends = list(total.addends)
    code = addends[place].code
    addends[place] = replace(addends[place], code=replace(code, bits=code.bits + 1))
    return CellAngleSum(tuple(addends))


def _times(one: AngleAddend) -> str:
    size = abs(one.times)
    return one.variable.name if size == 1 else f"{size}{one.variable.name}"


@lru_cache(maxsize=4096)
def tabled(term: Term, words: tuple[TableWord, ...]) -> Term:
    """Return a term as a function of its words, with sums in place of their angles."""
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


# --------------------------------------------------------------------------------------------------
# The plan.
# --------------------------------------------------------------------------------------------------

Place = Literal["inside", "outside"]
PLACES: tuple[Place, ...] = get_args(Place)
LEAST_BITS, MOST_BITS = 2, 16  # of words
FEWEST_BITS = 4  # for the paper's rules
MOST_INPUT_BITS = 24
MOST_GUARD_BITS = 12
MOST_SPLITS = 200
MOST_WAVES = 50_000  # in all terms: the heights of more take most of an hour
SLACK = 1e-9  # tolerance for an amplitude that equals the range divided by a power of two


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The options of a plan: the outputs' word length, the code, and two of the paper's rules.

    Options beyond the paper are the rounding of tables, and whether `signs` and `sums` of angles
    are computed inside or outside of them.
    """

    bits: int = 8
    code: CodeKind = "gray"
    guard_bits: int | None = None
    splits: int | None = None
    rounding: Rounding = "nearest"
    signs: Place = "inside"
    sums: Place = "inside"

    def __post_init__(self) -> None:
        for name in ("bits", "guard_bits", "splits"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise UsageError(f"{name} must be a whole number, not {value!r}")
        if not LEAST_BITS <= self.bits <= MOST_BITS:
            raise UsageError(f"bits must be {LEAST_BITS} to {MOST_BITS}, not {self.bits}")
        if self.guard_bits is not None and not 0 <= self.guard_bits <= MOST_GUARD_BITS:
            raise UsageError(f"guard bits must be 0 to {MOST_GUARD_BITS}, not {self.guard_bits}")
        if self.splits is not None and not 0 <= self.splits <= MOST_SPLITS:
            raise UsageError(f"splits must be 0 to {MOST_SPLITS}, not {self.splits}")
        Code(Interval(-1, 1), self.bits, self.code)
        require_name("rounding", self.rounding, ROUNDINGS)
        if self.rounding == "faithful" and self.code != "gray":
            raise UsageError(
                "faithful rounding needs gray code (neighbours differ in one bit)",
                "use --code gray",
            )
        self._check_outside()

    def _check_outside(self) -> None:
        for name, place in (("signs", self.signs), ("sums", self.sums)):
            require_name(name, place, PLACES)
        if self.signs == "outside" and self.code != "gray":
            raise UsageError(
                "signs outside need gray code (mirror images differ in one bit)", "use --code gray"
            )


@dataclass(frozen=True, slots=True)
class TermPlan:
    """The plan of a table: a term, the code of its value, its input words, and the rounding.

    `nearest` selects the cell that holds the value. `faithful` allows both cells whose centres
    enclose the value; minimisation selects one.
    """

    term: Term
    code: Code
    words: tuple[TableWord, ...]
    rounding: Rounding = "nearest"

    @property
    def function(self) -> Term:
        return tabled(self.term, self.words)

    @property
    def whole(self) -> bool:
        return all(word.whole for word in self.words)

    @property
    def read(self) -> tuple[TableWord, ...]:
        """The words of inputs that the term's logic reads, in the order of the term's variables."""
        found = {one.variable: one for word in self.words for one in word.read}
        return tuple(found[variable] for variable in self.term.variables)

    @property
    def amplitude(self) -> float:
        return height(self.term)

    @property
    def input_bits(self) -> int:
        return sum(word.inputs for word in self.words)

    @property
    def used_states(self) -> int:
        return round((1 << self.input_bits) * self.amplitude / self.code.range.high)

    @property
    def unused_states(self) -> int:
        return (1 << self.input_bits) - self.used_states

    @property
    def too_wide(self) -> bool:
        return self.input_bits > MOST_INPUT_BITS

    def __str__(self) -> str:
        words = ", ".join(f"{w.variable.name}:{w.inputs}" for w in self.words)
        return (
            f"{self.term.name} = {self.term} -> {self.code.bits} bits over "
            f"±{number(self.code.range.high)} from {self.input_bits} bits ({words})"
        )


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """The plan of an output: its code, guard bits, and the plans of its terms."""

    output: Output
    code: Code
    amplitude: float
    guard_bits: int
    terms: tuple[TermPlan, ...]
    left_out: tuple[Term, ...]
    splits: int

    @property
    def variables(self) -> tuple[Input, ...]:
        """All variables of its terms, once each."""
        seen = dict.fromkeys(one for term in self.terms for one in term.term.variables)
        return tuple(seen)

    @property
    def input_bits(self) -> int:
        return len(self.variables) * self.code.bits

    @property
    def used_states(self) -> int:
        """The paper's count for one table of the whole output."""
        used = min(1.0, self.amplitude / self.code.range.high)
        return round((1 << self.input_bits) * used)

    @property
    def unused_states(self) -> int:
        return (1 << self.input_bits) - self.used_states

    @property
    def step(self) -> float:
        return self.code.step / (1 << self.guard_bits)

    @property
    def word(self) -> Code:
        """The code of the output's word: `code`, with its cells centred on the sums they hold.

        Mid-rise terms add up to multiples of h steps plus half a step per term. Here h is the
        largest power of two that divides the multiplicities of all distinct terms. The mean of the
        sums in a cell is therefore not the cell's centre, except for one odd term. The word's range
        is shifted to this mean, because a bias of up to 1/2^(m+1) of its LSB would remain
        otherwise.
        """
        counts = Counter((t.term.waves(), t.term.factor, t.code) for t in self.terms)
        spacing = math.gcd(1 << self.guard_bits, *counts.values())
        lowest = len(self.terms) / 2 % spacing
        if lowest == spacing / 2:
            return self.code
        shift = (lowest - spacing / 2) * self.step
        low, high = self.code.range.low + shift, self.code.range.high + shift
        return Code(Interval(low, high), self.code.bits, self.code.kind)

    def __str__(self) -> str:
        lines = [f"{self.output.symbol} {self.code}, {self.guard_bits} guard bits"]
        lines += [f"  {term}" for term in self.terms]
        lines += [f"  left out: {term.name} = {term}" for term in self.left_out]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """The paper's Fig. 1 for one problem."""

    problem: Problem
    options: PlanOptions
    outputs: tuple[OutputPlan, ...]
    made_of: Terms | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> Iterator[TermPlan]:
        return (term for output in self.outputs for term in output.terms)

    def require_tables(self) -> None:
        """Raise a `DataError` if a term is too wide for a table."""
        wide = [term for term in self.terms if term.too_wide]
        if wide:
            first = wide[0]
            words = ", ".join(f"{w.variable.name} {w.inputs}" for w in first.words)
            more = len(wide) - 1
            others = f", and {more} other{'s' * (more > 1)} would be too large" if more else ""
            raise DataError(
                f"{first.term.name} needs a table of {first.input_bits} input bits ({words}); "
                f"tables have at most {MOST_INPUT_BITS}{others}",
                "use compact mode, which makes no tables: boolcomp compile --mode "
                f"compact.{self._narrower()}", where=self.problem.name,
            )  # fmt: skip

    def _narrower(self) -> str:
        """Return advice on the word length at which all tables are small enough."""
        if self.made_of is None:
            return " In paper mode, lower --bits"
        for bits in range(self.options.bits - 1, FEWEST_BITS - 1, -1):
            plan = make_plan(self.made_of, replace(self.options, bits=bits))
            if not any(term.too_wide for term in plan.terms):
                return f" In paper mode, lower --bits to {bits}"
        return f" Paper mode has no tables at {FEWEST_BITS} bits or more"

    def __str__(self) -> str:
        head = f"{self.problem.name}: {self.options.bits} bits, {self.options.code} code"
        return "\n".join([head, *(str(output) for output in self.outputs)])


def make_plan(terms: Terms, options: PlanOptions | None = None) -> Plan:
    """Apply the paper's rules to the grouped terms of a problem."""
    chosen, problem = options or PlanOptions(), terms.problem
    if chosen.bits < FEWEST_BITS:
        raise UsageError(
            f"in paper mode bits must be {FEWEST_BITS} to {MOST_BITS}, not {chosen.bits}"
        )
    waves = sum(len(term.waves()) for parts in terms.outputs for term in parts)
    if waves > MOST_WAVES:
        raise DataError(
            f"its terms have {waves} waves, but a plan may have {MOST_WAVES} at most",
            "use another function (--of gravity), or compact mode with --accuracy rms=0.5",
            where=problem.name,
        )
    outputs = zip(problem.outputs, output_amplitudes(problem), terms.outputs, strict=True)
    return Plan(problem, chosen, tuple(_plan_output(*one, chosen) for one in outputs), terms)


def guard_bits_for(terms: int) -> int:
    return (terms + 1).bit_length() - 1


def _plan_output(
    output: Output, reach: float, terms: tuple[Term, ...], options: PlanOptions
) -> OutputPlan:
    if output.range.low != -output.range.high:
        raise UsageError(
            f"{output.title} has the range {output.range}, but in paper mode terms share a scale "
            "about zero",
            f"use -{number(output.range.magnitude)} .. {number(output.range.magnitude)}, or "
            "compact mode",
        )
    code = Code(output.range, options.bits, options.code)
    kept, left_out = _leave_out_small(terms, code, options)
    parts = _split(kept, code, options)
    guard = _guard(len(parts), options)
    named = number_terms(output.stem, parts)
    plans = tuple(_chosen(plan_term(term, code, guard), options) for term in named)
    return OutputPlan(output, code, reach, guard, plans, left_out, len(parts) - len(kept))


def _chosen(plan: TermPlan, options: PlanOptions) -> TermPlan:
    """Apply the options beyond the paper to a term's plan."""
    signs, sums = options.signs == "outside", options.sums == "outside"
    words = words_of(plan.term, plan.code.bits, plan.code.kind, signs=signs, sums=sums)
    return replace(plan, words=words, rounding=options.rounding)


def _guard(terms: int, options: PlanOptions) -> int:
    return guard_bits_for(terms) if options.guard_bits is None else options.guard_bits


def _leave_out_small(
    terms: Sequence[Term], code: Code, options: PlanOptions
) -> tuple[list[Term], tuple[Term, ...]]:
    """Leave out the smallest terms while their sum stays within half a common LSB."""
    rising = sorted(terms, key=ceiling)
    count = 0
    while True:
        half = code.step / 2 ** _guard(len(terms) - count, options) / 2
        total, fits = 0.0, 0
        for term in rising:
            total += ceiling(term)
            if total > half:
                break
            fits += 1
        if fits <= count:
            break
        count = fits  # fewer terms may need fewer guard bits, so that more terms fit
    out = set(rising[:count])
    return [term for term in terms if term not in out], tuple(t for t in terms if t in out)


def _split(terms: list[Term], code: Code, options: PlanOptions) -> list[Term]:
    """Split the largest tables while that needs no guard bit, or as often as specified."""
    parts = [(term, False) for term in terms]

    @functools.cache
    def size(term: Term, guard: int) -> int:
        return _size(plan_term(term, code, guard))

    done = 0
    while parts:
        more = guard_bits_for(len(parts) + 1) == guard_bits_for(len(parts))
        if not (more if options.splits is None else done < options.splits):
            break
        guard = _guard(len(parts), options)
        untouched = [k for k, (_, cut) in enumerate(parts) if not cut]
        places = untouched or range(len(parts))
        place = max(places, key=lambda k: size(parts[k][0], guard))
        halves = _halves(parts[place][0], code, guard)
        parts[place : place + 1] = [(half, True) for half in halves]
        done += 1
    return [term for term, _ in parts]


def _size(plan: TermPlan) -> int:
    return (1 << plan.input_bits) * plan.code.bits


def _halves(term: Term, code: Code, guard: int) -> tuple[Term, Term]:
    """Cut a term by its angle sums if it has several, else into two equal halves."""
    waves = sorted(term.waves(), key=_by_span)
    sums = [wave for wave in waves if wave.multiples]
    if len(sums) < 2:
        half = term.part(tuple(wave.scaled(0.5) for wave in term.waves()))
        return half, half
    flat = len(waves) - len(sums)  # the constant part stays with the first angle sum
    cuts = [(term.part(waves[:k]), term.part(waves[k:])) for k in range(flat + 1, len(waves))]

    def size(cut: tuple[Term, Term]) -> int:
        # The sum of amplitudes approximates the extreme at a fraction of its cost.
        return sum(_size(plan_reach(part, ceiling(part), code, guard)) for part in cut)

    return min(cuts, key=size)


def _by_span(wave: Wave) -> tuple[int, list[tuple[str, int]]]:
    return (len(wave.names), sorted(name_order(name) for name in wave.names))


def plan_term(term: Term, output: Code, guard: int) -> TermPlan:
    return plan_reach(term, height(term), output, guard)


def plan_reach(term: Term, reach: float, output: Code, guard: int) -> TermPlan:
    """Return the plan of a term whose largest |value| is known."""
    whole = output.range.high
    power = math.floor(math.log2(whole / reach * (1 + SLACK))) if reach else output.bits + guard
    bits = max(1, output.bits + guard - power)
    high = whole / 2.0 ** (output.bits + guard - bits)
    words = words_of(term, bits, output.kind)
    return TermPlan(term, Code(Interval(-high, high), bits, output.kind), words)
