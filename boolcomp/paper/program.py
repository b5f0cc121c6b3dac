"""Covers as networks of AND and OR: shared products, shared sub-cubes, sums factored.

Every product is cut in two at one input: into a left and a right sub-cube. Different products
share these, so each different sub-cube is made once (and is itself cut in two, down to three
literals). An output is then a sum of pairs, left & right. Pairs with a common half are gathered,
largest groups first, and the group costs one node: `sum | half & (other halves)`.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import DataError, UsageError, listing
from boolcomp.base.workers import ALONE, Shared
from boolcomp.logic import network as luts
from boolcomp.logic.network import FALSE, TRUE, Builder
from boolcomp.logic.order import in_order, most_live
from boolcomp.paper.plan import FEWEST_BITS, MOST_BITS, MOST_GUARD_BITS, make_plan
from boolcomp.paper.tables import (
    NOTHING,
    composed,
    finest_codes,
    quantised,
    said,
    tabulate,
    with_outside,
)
from boolcomp.problem.words import TURN
from boolcomp.program.program import (
    CodedOutput,
    KnownErrors,
    Load,
    Slice,
    TermUse,
    program_of_problem,
)
from boolcomp.proof.bound.fields import ReadWord, TabledSum, TabledTerm, function_of, line_of
from boolcomp.proof.bound.tabled import EFFORT, bound_of
from boolcomp.proof.worst import DIGITS, Subject, axes_of, find_worst
from boolcomp.twolevel.cubes import unpack
from boolcomp.twolevel.function import Cover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.paper.plan import Options, OutputPlan, Plan, TermPlan
    from boolcomp.paper.tables import Said, TermTable
    from boolcomp.problem.problem import Promise
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.meaning import Bound
    from boolcomp.terms.extract import Terms
    from boolcomp.twolevel.cubes import Cubes

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Covers as networks of AND and OR: shared products, shared sub-cubes, sums factored.
# --------------------------------------------------------------------------------------------------


FREE = 2  # a digit of a cube: 0 and 1 are literals

MOST_DIGITS = 39  # of base 3 in 63 bits

Pairs = set[tuple[int, int]]
Groups = list[tuple[int, list[int]]]


def network_of_cover(cubes: Cubes) -> Network:
    """Return a network of AND, OR and inverted inputs that is the cover, output for output.

    Of the places to cut, a few are tried, then the neighbours of the best while that helps.
    """
    cubes = cubes.valid()
    zero, one = unpack(cubes.zero, cubes.inputs), unpack(cubes.one, cubes.inputs)
    digits = np.where(zero & one, FREE, one).astype(np.uint8)
    owners = unpack(cubes.out, cubes.outputs)
    tried: dict[int, Network] = {}

    def cost(cut: int) -> tuple[int, int]:
        if cut not in tried:
            tried[cut] = _network_at(digits, owners, cut)
        # A value that has no register is written to memory and read again.
        return len(tried[cut].nodes) + most_live(tried[cut]), cut

    best = min({cubes.inputs * k // 4 for k in (1, 2, 3)}, key=cost)
    while True:
        near = min((k for k in (best - 1, best, best + 1) if 0 <= k <= cubes.inputs), key=cost)
        if near == best:
            return tried[best]
        best = near


def _network_at(digits: NDArray[np.uint8], owners: NDArray[np.bool_], cut: int) -> Network:
    """Return the network of a cover, its products cut before an input."""
    builder = Builder(digits.shape[1])
    left = _sub_cubes(builder, digits[:, :cut], 0)
    right = _sub_cubes(builder, digits[:, cut:], cut)
    sums = []
    for owned in owners.T:
        pairs = set(zip(left[owned].tolist(), right[owned].tolist(), strict=True))
        sums.append(_groups(pairs))
    return in_order(builder.build(_Sums(builder, sums).outputs()))


def _keys(digits: NDArray[np.uint8]) -> NDArray[Any]:
    """Return one comparable key a row."""
    width = digits.shape[1]
    if width > MOST_DIGITS:
        return np.unique(digits, axis=0, return_inverse=True)[1].reshape(-1)
    weights = 3 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return np.asarray(digits @ weights)


def _sub_cubes(builder: Builder, digits: NDArray[np.uint8], first: int) -> NDArray[np.int64]:
    """Return the literal of every row's cube over the inputs from `first` on."""
    _, places, back = np.unique(_keys(digits), return_index=True, return_inverse=True)
    rows = digits[places]
    width = rows.shape[1]
    if width <= 3:
        made = [
            builder.all_of(
                builder.input(first + k) ^ int(digit == 0)
                for k, digit in enumerate(row)
                if digit != FREE
            )
            for row in rows
        ]
    else:
        cut = width // 2
        left = _sub_cubes(builder, rows[:, :cut], first)
        right = _sub_cubes(builder, rows[:, cut:], first + cut)
        made = [
            builder.node(luts.AND2, a, b)
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
    return np.array(made, np.int64).reshape(len(rows))[back.reshape(-1)]


def _groups(pairs: Pairs) -> Groups:
    """Gather pairs by a common half: (half, the other halves), the largest group first."""
    lists: tuple[dict[int, set[int]], dict[int, set[int]]] = (defaultdict(set), defaultdict(set))
    for a, b in pairs:
        lists[0][a].add(b)
        lists[1][b].add(a)
    heap = [(-len(others), side, half) for side in (0, 1) for half, others in lists[side].items()]
    heapq.heapify(heap)
    groups = []
    while heap:
        size, side, half = heapq.heappop(heap)
        others = lists[side][half]
        if not others:
            continue
        if len(others) < -size:  # it has shrunk since
            heapq.heappush(heap, (-len(others), side, half))
            continue
        groups.append((half, sorted(others)))
        for other in others:
            lists[1 - side][other].discard(half)
        lists[side][half] = set()
    return groups


class _Sums:
    """Adds up the groups of all outputs; parts of sums that several outputs share are made once.

    A sub-cube that is used nowhere but in one sum is not made: its two parts enter the sum in one
    node, `sum | part & part`.
    """

    def __init__(self, builder: Builder, sums: list[Groups]) -> None:
        self.builder = builder
        self.sums = sums
        owners: dict[tuple[int, int], list[int]] = defaultdict(list)
        for output, groups in enumerate(sums):
            for half, others in groups:
                for other in others:
                    owners[half, other].append(output)
        self.classes: dict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
        for (half, other), members in owners.items():
            self.classes[half, tuple(members)].append(other)
        self.of_half: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for half, outputs in self.classes:
            self.of_half[half].append(outputs)
        self.uses = builder.uses()
        for others in self.classes.values():
            self.uses.update(others)
        for groups in sums:
            self.uses.update(half for half, _ in groups)

    def outputs(self) -> list[int]:
        """Return the literal of every output."""
        return [self._output(output, groups) for output, groups in enumerate(self.sums)]

    def _output(self, output: int, groups: Groups) -> int:
        total = 2 * FALSE
        plain = []
        for half, _ in groups:
            rest = self._rest(half, output)
            if half == 2 * TRUE:
                plain.append(rest)
            else:
                total = self.builder.node(luts.AND_OR, total, half, rest)
        return self.builder.any_of([*plain, total])

    def _rest(self, half: int, output: int) -> int:
        """Return the sum of what is multiplied with a half in an output."""
        mine: list[int] = []
        for outputs in self.of_half[half]:
            if output in outputs:
                items = self.classes[half, outputs]
                shared = len(outputs) > 1 and len(items) > 1
                mine += [self._any(items)] if shared else items
        return self._any(mine)

    def _any(self, items: list[int]) -> int:
        """Return the OR of literals, those of single-use products from their two parts."""
        pairs = []
        whole = []
        for item in items:
            parts = self.builder.product(item) if self.uses[item] == 1 else None
            if parts is None:
                whole.append(item)
            else:
                pairs.append(parts)
        total = self.builder.any_of(whole)
        for a, b in pairs:
            total = self.builder.node(luts.AND_OR, total, a, b)
        return total


# --------------------------------------------------------------------------------------------------
# A proven bound of a plan's error: no input in range can give a larger one.
#
# What tables stand for is said here; `proof.tabled` proves the bound of it. Tables that were made
# count as they are, with what stands outside of them: as tables of words of inputs. Of a plan alone
# those of a few inputs are made, and of larger ones the rounding of entries is all that is known.
# --------------------------------------------------------------------------------------------------


MADE = 20  # input bits of tables that are made for a bound alone
COMPOSED = 22  # input bits of those that are made of tables and what stands outside
ROUNDED = Fraction(1, 1 << 20)  # of a step: more than what values err by when they are rounded


def error_bound(output: OutputPlan) -> float:
    """Return a bound of |output by tables - exact output|, in its unit."""
    return proven(output).value


def proven(
    output: OutputPlan,
    tables: Mapping[TermPlan, TruthTable] | None = None,
    effort: float = EFFORT,
) -> Bound:
    """Return the bound of an output; `tables` are those of its terms, where they were made."""
    return bound_of(explained(output, tables), effort)


def explained(output: OutputPlan, tables: Mapping[TermPlan, TruthTable] | None = None) -> TabledSum:
    """Return what the tables of an output stand for, terms that are the same together."""
    terms: dict[tuple[TermPlan, TruthTable | None], int] = {}
    for plan in output.terms:
        table = _made(plan) if tables is None else tables[plan]
        key = replace(plan, term=plan.term.named("")), table
        terms[key] = terms.get(key, 0) + 1
    found = tuple(_tabled(plan, table, times) for (plan, table), times in terms.items())
    step = Fraction(output.code.step) / (1 << output.guard_bits)
    return TabledSum(
        output.output.name, output.output.unit, output.word, step, output.guard_bits, found,
        output.left_out,
    )  # fmt: skip


def _tabled(plan: TermPlan, table: TruthTable | None, times: int) -> TabledTerm:
    read = plan.read
    words = tuple(ReadWord(word.variable, word.code, word.dropped) for word in read)
    if table is not None and not plan.whole:
        few = sum(word.inputs for word in read) <= COMPOSED
        table = composed(plan, table) if few else None
    missed = Fraction(1, 2) if plan.rounding == "nearest" else Fraction(1)
    return TabledTerm(plan.term, plan.code, words, table, times, missed + _beside(plan) + ROUNDED)


def _beside(plan: TermPlan) -> Fraction:
    """Return what the cells of sums, of which leading bits are read, may change, in steps."""
    function, most = function_of(plan.function), Fraction(0)
    sizes = {v.name: line_of(v, 1).size for v in plan.function.variables}
    for word in plan.words:
        if word.sum is not None:
            apart = Fraction(1, 1 << word.code.bits) - Fraction(1, 1 << word.sum.bits)
            most += function.slope(word.variable.name).height(sizes) * apart * Fraction(TURN) / 2
    return most / Fraction(plan.code.step)


@lru_cache(maxsize=64)
def _table(plan: TermPlan) -> TruthTable:
    return tabulate(plan)


def _made(plan: TermPlan) -> TruthTable | None:
    """Return the table of a term, if it is small enough to be made for this alone."""
    return _table(plan) if sum(word.inputs for word in plan.read) <= MADE else None


# --------------------------------------------------------------------------------------------------
# From a plan, its tables and their covers to a program.
# --------------------------------------------------------------------------------------------------


def program_of(
    plan: Plan,
    tables: Sequence[TermTable],
    covers: Sequence[Cover | Cubes],
    payload: float = 0.0,
    *,
    known: Sequence[KnownErrors] = (),
    logic: Callable[[Cubes], Network] = network_of_cover,
) -> Program:
    """Return the program of a plan from its tables and, in the same order, their covers.

    `logic` makes the network of a cover; `known` are the errors of outputs that were measured.
    """
    if len(known) not in {0, len(plan.outputs)}:
        raise UsageError("the errors that are known are not those of the plan's outputs")
    if [table.plan for table in tables] != list(plan.terms) or len(tables) != len(covers):
        raise UsageError("the tables or the covers are not those of the plan's terms")
    codes = _finest(plan.terms)
    read = [one.name for one in plan.problem.inputs if one.name in codes]
    places = {name: k for k, name in enumerate(read)}
    networks: dict[Network, int] = {}
    made: dict[object, tuple[Network, TruthTable]] = {}
    uses, made_of = {}, {}
    for table, cover in zip(tables, covers, strict=True):
        if table.table not in made:
            cubes = cover.cubes if isinstance(cover, Cover) else cover
            told = said(table.table, cubes) if plan.options.rounding == "faithful" else table.table
            made[table.table] = logic(cubes), told
        network, made_of[table.plan] = made[table.table]
        place = networks.setdefault(with_outside(table.plan, network), len(networks))
        uses[table.plan.term.name] = _term_use(table.plan, place, places)
    outputs = tuple(
        CodedOutput(
            output.output.name,
            output.output.symbol,
            output.output.unit,
            output.word,
            output.guard_bits,
            tuple(uses[term.term.name] for term in output.terms),
            tuple(str(term) for term in output.left_out),
            proven(output, made_of).value,
            errors,
        )
        for output, errors in zip_longest(plan.outputs, known)
    )
    load = Load(payload, outputs)
    return program_of_problem(
        plan.problem, plan.options.bits, "paper", codes, tuple(networks), (load,)
    )


def _finest(terms: Iterable[TermPlan]) -> dict[str, Code]:
    """Return the codes of input words by name, as wide as any term reads them."""
    finest: dict[str, Code] = {}
    for term in terms:
        for word in term.read:
            known = finest.setdefault(word.variable.name, word.code)
            if known.bits < word.code.bits:
                finest[word.variable.name] = word.code
    return finest


def _term_use(plan: TermPlan, network: int, places: dict[str, int]) -> TermUse:
    words = tuple(
        Slice(places[word.variable.name], word.code.bits, word.dropped) for word in plan.read
    )
    return TermUse(plan.term.name, str(plan.term), network, plan.code, words)


# --------------------------------------------------------------------------------------------------
# What a plan's tables err by, as far as anybody looked: on random states, and where climbing led.
#
# Arithmetic that does what the logic does stands for it (`quantised`); of tables whose rounding is
# free, what their covers say. Nothing here is proved; `bounds` is.
# --------------------------------------------------------------------------------------------------


SAMPLES, SEED, BLOCK = 100_000, 0x1988, 1 << 14
EVALUATIONS = 1_000_000  # that seek the worst error


def plan_subject(plan: Plan, said: Said = NOTHING) -> Subject:
    """Return what a plan's tables give, by arithmetic, as what is searched for its worst error."""
    codes = tuple(output.word for output in plan.outputs)
    axes = axes_of(plan.problem, finest_codes(plan))
    return Subject(plan.problem, axes, codes, PlanLogic(plan, said))


@dataclass(frozen=True, slots=True, eq=False)
class PlanLogic:
    """What a plan's tables give, as the logic of a subject."""

    plan: Plan
    said: Said

    def __call__(self, *arrays: Floats) -> Floats:
        """Return outputs in their units."""
        return quantised(self.plan, arrays, self.said).values


def known_errors(
    plan: Plan, evaluations: int | None = None, workers: Workers = ALONE, said: Said = NOTHING,
    *, told: Callable[[float], None] = lambda _: None,
) -> tuple[KnownErrors, ...]:  # fmt: skip
    """Return every output's errors in its unit; the worst is sought with so many evaluations.

    None is as many as is usual, 0 that it is not sought. An exact output beyond its word counts as
    the nearest that the word can say, in both. `told` is which part of the search is done.
    """
    subject = plan_subject(plan, said)
    given = Shared(subject)
    squares, most = np.zeros(len(plan.outputs)), np.zeros(len(plan.outputs))
    calls = [(given, place) for place in range(0, SAMPLES, BLOCK)]
    for square, largest in workers.in_order(_block, calls):
        squares += square
        most = np.maximum(most, largest)
    rms = np.round(np.sqrt(squares / SAMPLES), DIGITS)
    worst: list[float | None] = [None] * len(plan.outputs)
    searched = EVALUATIONS if evaluations is None else evaluations
    if searched:
        found = find_worst(subject, searched, workers=workers, told=told)
        worst = np.maximum(found.most, most).tolist()
    steps = [output.word.step for output in plan.outputs]
    return tuple(
        KnownErrors(float(r) * step, float(m) * step, None if w is None else w * step)
        for r, m, w, step in zip(rms, most, worst, steps, strict=True)
    )


def _block(subject: Subject, place: int) -> tuple[Floats, Floats]:
    """Return sums of squares and the largest errors of a block of states (what a worker does)."""
    drawn = subject.problem.draw(min(BLOCK, SAMPLES - place), SEED + place)
    found = subject.errors(np.concatenate(drawn, axis=1))
    return (found**2).sum(axis=0), np.abs(found).max(axis=0)


# --------------------------------------------------------------------------------------------------
# Plans that keep a promise: guard bits, and bits where they are free, for which a bound holds.
#
# More guard bits make every term finer, and its words and tables wider: the fewest that keep the
# promise are the cheapest. Of word lengths that is taken whose tables have the fewest entries.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tried:
    """A plan, and how many times as large as promised its largest bound is."""

    plan: Plan
    excess: float

    @property
    def entries(self) -> int:
        """How many bits its tables have."""
        return sum((1 << term.input_bits) * term.code.bits for term in self.plan.terms)


def promised_plans(
    several: Sequence[Terms], options: Options, error: Promise, *, free: bool
) -> list[Plan]:
    """Return the plans of several loads that keep a promise; with `free` bits those of fewest."""
    if free and not error.absolute:
        raise UsageError(f"error {error}: bits are free only for errors in units: give 0.5Nm")
    best: tuple[int, list[Plan]] | None = None
    nearest: _Tried | None = None
    refused: DataError | None = None
    for bits in range(FEWEST_BITS, MOST_BITS + 1) if free else (options.bits,):
        try:
            tried = [_plan(terms, replace(options, bits=bits), error) for terms in several]
        except DataError as problem:  # half a step is too much
            refused = problem
            continue
        worst = max(tried, key=lambda one: one.excess)
        if worst.excess > 1:
            nearest = worst if nearest is None or worst.excess < nearest.excess else nearest
            continue
        entries = sum(one.entries for one in tried)
        if best is None or entries < best[0]:
            best = entries, [one.plan for one in tried]
        elif best is not None and bits > best[1][0].options.bits + 1:
            break
    if best is not None:
        return best[1]
    if nearest is None:
        raise refused or DataError(f"error {error}: no word length keeps it")
    raise _broken(nearest, error)


def allowed(plan: Plan, error: Promise) -> list[float]:
    """Return what is promised of outputs, in their units; infinite where nothing is."""
    steps = error.steps(plan.problem, plan.options.bits)
    return [most * one.code.step for most, one in zip(steps, plan.outputs, strict=True)]


def _plan(terms: Terms, options: Options, error: Promise) -> _Tried:
    """Return the plan with the fewest guard bits that keeps a promise, or is nearest to it."""
    error.check(terms.problem, options.bits)
    guards: Iterable[int] = range(MOST_GUARD_BITS + 1)
    if options.guard_bits is not None:
        guards = (options.guard_bits,)
    best: _Tried | None = None
    for guard in guards:
        plan = make_plan(terms, replace(options, guard_bits=guard))
        if best is not None and any(term.too_wide for term in plan.terms):
            break
        _refuse_saturation(plan, error)
        pairs = zip(plan.outputs, allowed(plan, error), strict=True)
        tried = _Tried(plan, max(error_bound(one) / most for one, most in pairs))
        if best is None or tried.excess < best.excess:
            best = tried
        if tried.excess <= 1:
            break
    if best is None:
        raise ValueError("no guard bits to try")
    return best


def _refuse_saturation(plan: Plan, error: Promise) -> None:
    """Refuse to promise anything of an output that can leave its range."""
    for one, most in zip(plan.outputs, allowed(plan, error), strict=True):
        if math.isfinite(most) and one.amplitude > one.code.range.high:
            raise DataError(
                f"{plan.problem.name}: {one.output.symbol} can reach ±{one.amplitude:.6g}, beyond "
                f"its range ±{one.code.range.high:.6g}: it saturates there, and nothing can be "
                "promised: give it a wider range"
            )


def _broken(tried: _Tried, error: Promise) -> DataError:
    plan = tried.plan
    missed = []
    for one, most in zip(plan.outputs, allowed(plan, error), strict=True):
        found, step = error_bound(one), one.code.step
        if found > most:
            missed.append(
                f"{one.output.name} {found / step:.3f} LSB ({found:.4g} {one.output.unit}".rstrip()
                + f") and not {most / step:.4g}"
            )
    return DataError(
        f"{plan.problem.name}: no tables of paper mode keep errors of {error}; the best that was "
        f"reached, with {plan.options.bits} bits and {plan.options.guard_bits} guard bits, is "
        f"{listing(missed)}: compact mode has no tables of whole terms: --mode compact"
    )
