"""The paper's plan (its Fig. 1): how wide every term's table is, derived from its rules.

With p terms in an output, each carries m = int(log2(p + 1)) guard bits (eq. 2). A term's range is
the output's divided by the largest power of two that still covers the term's amplitude, so that
all terms share one least significant bit (rule a); its width is bits + m minus that power. Every
input word has the same width (rule e). A word about whose centre the term is even loses its most
significant Gray bit (rule d).

Splitting, as the paper does it: while one more term would leave m unchanged, the not-yet-split
term with the largest table is cut, by angle sums if it has several, else into two equal halves.

Beyond the paper: terms so small that all of them together stay within half a common least
significant bit are left out, and named. Signs and sums of angles may stand outside of tables (see
`words`): terms, their cuts and their codes are the same then, and only what tables read is less.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from boolcomp.base.errors import number
from boolcomp.codes import ROUNDINGS, Code, Rounding
from boolcomp.common.errors import DataError, UsageError, listing, suggestion
from boolcomp.paper.words import tabled, words_of
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import name_order
from boolcomp.terms.extract import Terms, number_terms
from boolcomp.terms.extrema import ceiling, height, output_amplitudes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.paper.words import Word
    from boolcomp.problem.problem import Input, Output, Problem
    from boolcomp.problem.words import CodeKind
    from boolcomp.terms.term import Term
    from boolcomp.terms.terms import Wave

Place = Literal["inside", "outside"]
PLACES: tuple[Place, ...] = get_args(Place)
LEAST_BITS, MOST_BITS = 2, 16  # of words
FEWEST_BITS = 4  # that the paper's rules are for
MOST_INPUT_BITS = 24
MOST_GUARD_BITS = 12
MOST_SPLITS = 200
MOST_WAVES = 50_000  # of all terms: finding the heights of more takes the better part of an hour
SLACK = 1e-9  # an amplitude that equals a power of two of the range fits in it


@dataclass(frozen=True, slots=True)
class Options:
    """What a user may choose: the outputs' word length, the code, and two of the paper's rules.

    And what is beyond the paper: how tables round, and whether the `signs` of what is odd and the
    `sums` of angles are inside or outside of them.
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
        if self.rounding not in ROUNDINGS:
            hint = suggestion(self.rounding, ROUNDINGS)
            raise UsageError(f"rounding {self.rounding!r}{hint}: {listing(ROUNDINGS)}")
        if self.rounding == "faithful" and self.code != "gray":
            raise UsageError(
                "faithful rounding needs gray code: only there do neighbours differ in one bit"
            )
        self._check_outside()

    def _check_outside(self) -> None:
        for name, place in (("signs", self.signs), ("sums", self.sums)):
            if place not in PLACES:
                raise UsageError(f"{name} {place!r}{suggestion(place, PLACES)}: {listing(PLACES)}")
        if self.signs == "outside" and self.code != "gray":
            raise UsageError(
                "signs outside need gray code: only there is a mirror image one bit away, again in "
                "either half"
            )


@dataclass(frozen=True, slots=True)
class TermPlan:
    """One table: a term, the code of its value, its input words, and how values are rounded.

    `nearest` takes the cell that holds the value; `faithful` leaves the choice between the two
    cells whose centres the value lies between, which minimisation uses.
    """

    term: Term
    code: Code
    words: tuple[Word, ...]
    rounding: Rounding = "nearest"

    @property
    def function(self) -> Term:
        """The term as a function of what its table reads: with sums that are made outside."""
        return tabled(self.term, self.words)

    @property
    def whole(self) -> bool:
        """Whether nothing of the term stands outside its table."""
        return all(word.whole for word in self.words)

    @property
    def read(self) -> tuple[Word, ...]:
        """The words of inputs that the logic of the term reads, in the order of its variables."""
        found = {one.variable: one for word in self.words for one in word.read}
        return tuple(found[variable] for variable in self.term.variables)

    @property
    def amplitude(self) -> float:
        """The largest |value| of the term."""
        return height(self.term)

    @property
    def input_bits(self) -> int:
        """The total number of input bits."""
        return sum(word.inputs for word in self.words)

    @property
    def used_states(self) -> int:
        """The paper's count: input combinations times the used part of the output range."""
        return round((1 << self.input_bits) * self.amplitude / self.code.range.high)

    @property
    def unused_states(self) -> int:
        """The rest; every input combination can occur, so these are not don't-cares."""
        return (1 << self.input_bits) - self.used_states

    @property
    def too_wide(self) -> bool:
        """Whether its table would be larger than boolcomp makes."""
        return self.input_bits > MOST_INPUT_BITS

    def __str__(self) -> str:
        words = ", ".join(f"{w.variable.name}:{w.inputs}" for w in self.words)
        return (
            f"{self.term.name} = {self.term} -> {self.code.bits} bits over "
            f"±{number(self.code.range.high)} from {self.input_bits} bits ({words})"
        )


@dataclass(frozen=True, slots=True)
class OutputPlan:
    """One output: its final code, guard bits, and the plans of its terms."""

    output: Output
    code: Code
    amplitude: float
    guard_bits: int
    terms: tuple[TermPlan, ...]
    left_out: tuple[Term, ...]
    splits: int

    @property
    def variables(self) -> tuple[Input, ...]:
        """Every variable of its terms once."""
        seen = dict.fromkeys(one for term in self.terms for one in term.term.variables)
        return tuple(seen)

    @property
    def input_bits(self) -> int:
        """Input bits of one table for the whole output: the paper's first column."""
        return len(self.variables) * self.code.bits

    @property
    def used_states(self) -> int:
        """The paper's count for one table of the whole output."""
        used = min(1.0, self.amplitude / self.code.range.high)
        return round((1 << self.input_bits) * used)

    @property
    def unused_states(self) -> int:
        """The rest: none where the output can exceed its range."""
        return (1 << self.input_bits) - self.used_states

    @property
    def step(self) -> float:
        """The common least significant bit of the terms."""
        return self.code.step / (1 << self.guard_bits)

    @property
    def word(self) -> Code:
        """The code of the output's word: `code`, with its cells centred on the sums they hold.

        Mid-rise terms add up to multiples of h steps beyond half as many steps as there are terms,
        where h is how often every distinct term is there, at least (their common power of two).
        The mean of the sums in a cell is therefore not its centre, but for one odd term; there
        the word's range is put, or a bias of up to 1/2^(m+1) of its LSB would remain.
        """
        counts = Counter((t.term.waves(), t.term.factor, t.code) for t in self.terms)
        apart = math.gcd(1 << self.guard_bits, *counts.values())
        lowest = len(self.terms) / 2 % apart
        if lowest == apart / 2:
            return self.code
        shift = (lowest - apart / 2) * self.step
        low, high = self.code.range.low + shift, self.code.range.high + shift
        return Code(Interval(low, high), self.code.bits, self.code.kind)

    def __str__(self) -> str:
        lines = [f"{self.output.symbol} {self.code}, {self.guard_bits} guard bits"]
        lines += [f"  {term}" for term in self.terms]
        lines += [f"  left out: {term.name} = {term}" for term in self.left_out]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole of Fig. 1 for one problem."""

    problem: Problem
    options: Options
    outputs: tuple[OutputPlan, ...]
    made_of: Terms | None = field(default=None, compare=False, repr=False)

    @property
    def terms(self) -> Iterator[TermPlan]:
        """Every term of every output."""
        return (term for output in self.outputs for term in output.terms)

    def require_tables(self) -> None:
        """Raise a `DataError` where a term is too wide for a table."""
        wide = [term for term in self.terms if term.too_wide]
        if wide:
            first = wide[0]
            words = ", ".join(f"{w.variable.name} {w.inputs}" for w in first.words)
            more = len(wide) - 1
            others = f", and {more} other{'s' * (more > 1)} would be too large" if more else ""
            raise DataError(
                f"{self.problem.name}: {first.term.name} needs a table of {first.input_bits} "
                f"input bits ({words}); tables have at most {MOST_INPUT_BITS}{others}. Compact "
                f"mode makes none: boolcomp compile --mode compact.{self._narrower()}"
            )

    def _narrower(self) -> str:
        """Return advice: at how many bits all tables are small enough."""
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


def make_plan(terms: Terms, options: Options | None = None) -> Plan:
    """Apply the paper's rules to the grouped terms of a problem."""
    chosen, problem = options or Options(), terms.problem
    if chosen.bits < FEWEST_BITS:
        raise UsageError(
            f"in paper mode bits must be {FEWEST_BITS} to {MOST_BITS}, not {chosen.bits}"
        )
    waves = sum(len(term.waves()) for parts in terms.outputs for term in parts)
    if waves > MOST_WAVES:
        raise DataError(
            f"{problem.name}: its terms have {waves} waves, and a plan is made of at most "
            f"{MOST_WAVES}: take another function (--of gravity), or compact mode with --rms-error"
        )
    outputs = zip(problem.outputs, output_amplitudes(problem), terms.outputs, strict=True)
    return Plan(problem, chosen, tuple(_plan_output(*one, chosen) for one in outputs), terms)


def guard_bits_for(terms: int) -> int:
    """Return m = int(log2(p + 1)), the paper's equation (2)."""
    return (terms + 1).bit_length() - 1


def _plan_output(
    output: Output, reach: float, terms: tuple[Term, ...], options: Options
) -> OutputPlan:
    if output.range.low != -output.range.high:
        raise UsageError(
            f"{output.title} has the range {output.range}: in paper mode terms share a scale about "
            f"zero: give it -{number(output.range.magnitude)} .. {number(output.range.magnitude)}, "
            "or take compact mode"
        )
    code = Code(output.range, options.bits, options.code)
    kept, left_out = _leave_out_small(terms, code, options)
    parts = _split(kept, code, options)
    guard = _guard(len(parts), options)
    named = number_terms(output.stem, parts)
    plans = tuple(_chosen(plan_term(term, code, guard), options) for term in named)
    return OutputPlan(output, code, reach, guard, plans, left_out, len(parts) - len(kept))


def _chosen(plan: TermPlan, options: Options) -> TermPlan:
    """Return a term's plan as it is asked for, beyond the paper's rules."""
    signs, sums = options.signs == "outside", options.sums == "outside"
    words = words_of(plan.term, plan.code.bits, plan.code.kind, signs=signs, sums=sums)
    return replace(plan, words=words, rounding=options.rounding)


def _guard(terms: int, options: Options) -> int:
    return guard_bits_for(terms) if options.guard_bits is None else options.guard_bits


def _leave_out_small(
    terms: Sequence[Term], code: Code, options: Options
) -> tuple[list[Term], tuple[Term, ...]]:
    """Leave out the smallest terms while all of them stay within half a common LSB."""
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
        count = fits  # fewer terms may need fewer guard bits, and so leave room for more
    out = set(rising[:count])
    return [term for term in terms if term not in out], tuple(t for t in terms if t in out)


def _split(terms: list[Term], code: Code, options: Options) -> list[Term]:
    """Cut the largest tables, as long as that costs no guard bit (or as often as was asked)."""
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
        if not untouched and options.splits is None:
            break
        places = untouched or range(len(parts))
        place = max(places, key=lambda k: size(parts[k][0], guard))
        halves = _halves(parts[place][0], code, guard)
        parts[place : place + 1] = [(half, True) for half in halves]
        done += 1
    return [term for term, _ in parts]


def _size(plan: TermPlan) -> int:
    return (1 << plan.input_bits) * plan.code.bits


def _halves(term: Term, code: Code, guard: int) -> tuple[Term, Term]:
    """Cut a term by its angle sums where it has several, else into two equal halves."""
    waves = sorted(term.waves(), key=_by_span)
    sums = [wave for wave in waves if wave.multiples]
    if len(sums) < 2:
        half = term.part(tuple(wave.scaled(0.5) for wave in term.waves()))
        return half, half
    flat = len(waves) - len(sums)  # the constant part stays with the first angle sum
    cuts = [(term.part(waves[:k]), term.part(waves[k:])) for k in range(flat + 1, len(waves))]

    def size(cut: tuple[Term, Term]) -> int:
        # The sum of amplitudes stands in for the extreme: near enough to choose, far cheaper.
        return sum(_size(plan_reach(part, ceiling(part), code, guard)) for part in cut)

    return min(cuts, key=size)


def _by_span(wave: Wave) -> tuple[int, list[tuple[str, int]]]:
    return (len(wave.names), sorted(name_order(name) for name in wave.names))


def plan_term(term: Term, output: Code, guard: int) -> TermPlan:
    """Return the plan of one term of an output: its range, its width and its input words."""
    return plan_reach(term, height(term), output, guard)


def plan_reach(term: Term, reach: float, output: Code, guard: int) -> TermPlan:
    """Return the plan of a term whose largest |value| is known."""
    whole = output.range.high
    power = math.floor(math.log2(whole / reach * (1 + SLACK))) if reach else output.bits + guard
    bits = max(1, output.bits + guard - power)
    high = whole / 2.0 ** (output.bits + guard - bits)
    words = words_of(term, bits, output.kind)
    return TermPlan(term, Code(Interval(-high, high), bits, output.kind), words)
