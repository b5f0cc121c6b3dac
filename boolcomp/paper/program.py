"""Programs of paper mode: networks of covers, proved bounds, measured errors, guaranteed errors."""

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
from boolcomp.base.workers import ALONE, SharedValue
from boolcomp.logic import network as luts
from boolcomp.logic.network import FALSE, TRUE, Builder
from boolcomp.logic.order import in_order, most_live
from boolcomp.paper.plan import FEWEST_BITS, MOST_BITS, MOST_GUARD_BITS, make_plan
from boolcomp.paper.tables import (
    NOTHING,
    composed,
    covered_table,
    finest_codes,
    quantised,
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
from boolcomp.proof.worst import DIGITS, SearchedProgram, axes_of, find_worst
from boolcomp.twolevel.cubes import unpack
from boolcomp.twolevel.function import Cover

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.checker.tabled import TableUse
    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.paper.plan import OutputPlan, Plan, PlanOptions, TermPlan
    from boolcomp.paper.tables import CoverWords, TermTable
    from boolcomp.problem.problem import Promise
    from boolcomp.problem.words import Input
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.bounds import Bound
    from boolcomp.proof.bound.tabled import TabledSum, TabledTerm
    from boolcomp.terms.extract import Terms
    from boolcomp.twolevel.cubes import Cubes

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# Covers as networks of AND and OR.
#
# Every product is cut at one input into a left and a right sub-cube. Products share sub-cubes, so
# each distinct one is made once (and is itself cut, down to three literals). An output is then a
# sum of pairs, left & right. Pairs with a common half are grouped, the largest group first; a group
# costs one node: `sum | half & (other halves)`.
# --------------------------------------------------------------------------------------------------

FREE = 2  # the digit of an input without a literal; 0 and 1 are literals
MOST_DIGITS = 39  # in base 3 that fit in 63 bits
Pairs = set[tuple[int, int]]
Groups = list[tuple[int, list[int]]]


def network_of_cover(cubes: Cubes) -> Network:
    """Return a network of AND, OR and inverted inputs that is equivalent to a cover.

    A few cuts are tried, then the neighbours of the best while these are better.
    """
    cubes = cubes.valid()
    zero, one = unpack(cubes.zero, cubes.inputs), unpack(cubes.one, cubes.inputs)
    digits = np.where(zero & one, FREE, one).astype(np.uint8)
    owners = unpack(cubes.out, cubes.outputs)
    tried: dict[int, Network] = {}

    def cost(cut: int) -> tuple[int, int]:
        if cut not in tried:
            tried[cut] = _network_at(digits, owners, cut)
        # A value without a register is written to memory and read again.
        return len(tried[cut].nodes) + most_live(tried[cut]), cut

    best = min({cubes.inputs * k // 4 for k in (1, 2, 3)}, key=cost)
    while True:
        near = min((k for k in (best - 1, best, best + 1) if 0 <= k <= cubes.inputs), key=cost)
        if near == best:
            return tried[best]
        best = near


def _network_at(digits: NDArray[np.uint8], owners: NDArray[np.bool_], cut: int) -> Network:
    """Return the network of a cover with its products cut before an input."""
    builder = Builder(digits.shape[1])
    left = _sub_cubes(builder, digits[:, :cut], 0)
    right = _sub_cubes(builder, digits[:, cut:], cut)
    sums = []
    for owned in owners.T:
        pairs = set(zip(left[owned].tolist(), right[owned].tolist(), strict=True))
        sums.append(_groups(pairs))
    return in_order(builder.build(_Sums(builder, sums).outputs()))


def _keys(digits: NDArray[np.uint8]) -> NDArray[Any]:
    """Return a comparable key for each row."""
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
    """Group pairs by a common half: (half, other halves), the largest group first."""
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
        if len(others) < -size:  # smaller than when it was pushed
            heapq.heappush(heap, (-len(others), side, half))
            continue
        groups.append((half, sorted(others)))
        for other in others:
            lists[1 - side][other].discard(half)
        lists[side][half] = set()
    return groups


class _Sums:
    """Adds up the groups of all outputs; parts that several sums share are made once.

    A sub-cube that occurs in a single sum is not made: its two parts enter the sum in one node,
    `sum | part & part`.
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
        """Return the sum of all other halves of a half in an output."""
        mine: list[int] = []
        for outputs in self.of_half[half]:
            if output in outputs:
                items = self.classes[half, outputs]
                shared = len(outputs) > 1 and len(items) > 1
                mine += [self._any(items)] if shared else items
        return self._any(mine)

    def _any(self, items: list[int]) -> int:
        """Return the OR of literals; products used once are merged with their OR."""
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
# Proved bounds of a plan's errors (see `proof.bound.tabled`).
#
# Tables that have been made are used as they are, combined with signs and sums outside of them. For
# a plan without tables, small ones are made, and large ones are known up to rounding.
# --------------------------------------------------------------------------------------------------

MADE = 20  # input bits of tables that are made only for a bound
COMPOSED = 22  # input bits of tables that are combined with signs and sums outside
ROUNDED = Fraction(1, 1 << 20)  # of a step: exceeds the rounding of values before they are coded


def error_bound(output: OutputPlan) -> float:
    return proven(output).value


def proven(
    output: OutputPlan,
    tables: Mapping[TermPlan, TruthTable] | None = None,
    effort: float | None = None,
) -> Bound:
    """Return the proved errors of an output."""
    from boolcomp.proof.bound import tabled  # noqa: PLC0415 (flint, which may be missing)

    effort = tabled.EFFORT if effort is None else effort
    return tabled.bound_of(explained(output, tables), effort)


def explained(output: OutputPlan, tables: Mapping[TermPlan, TruthTable] | None = None) -> TabledSum:
    """Return the terms and tables of an output; equal terms have one table."""
    from boolcomp.checker.tabled import ClaimedOutput, TableUse  # noqa: PLC0415 (as above)
    from boolcomp.proof.bound.tabled import (  # noqa: PLC0415 (as above)
        TabledSum,
        claimed_code,
        claimed_term,
        line_of,
    )

    found: dict[tuple[TermPlan, TruthTable | None], TabledTerm] = {}
    uses: list[TableUse] = []
    read: dict[Input, list[Code]] = defaultdict(list)
    for plan in output.terms:
        table = _made(plan) if tables is None else tables[plan]
        key = replace(plan, term=plan.term.named("")), table
        if key not in found:
            words = tuple((word.variable.name, word.code.bits, word.dropped) for word in plan.read)
            use = TableUse(plan.term.name, len(found), claimed_code(plan.code), words)
            found[key] = _tabled(plan, table, use)
        uses.append(found[key].use)
        for word in plan.read:
            read[word.variable].append(word.code)
    bits = {variable: [code.bits for code in codes] for variable, codes in read.items()}
    for term in output.left_out:
        for variable in term.variables:
            bits.setdefault(variable, [1])
    guard, code = output.guard_bits, claimed_code(output.word)
    return TabledSum(
        ClaimedOutput(output.output.name, code, guard, tuple(uses), None), output.output.unit,
        tuple(found.values()), tuple(map(claimed_term, output.left_out)),
        {one.name: line_of(one, max(some), min(some)) for one, some in bits.items()},
        {
            one.name: claimed_code(max(codes, key=lambda code: code.bits))
            for one, codes in read.items()
        },
    )  # fmt: skip


def _tabled(plan: TermPlan, table: TruthTable | None, use: TableUse) -> TabledTerm:
    from boolcomp.proof.bound.tabled import TabledTerm, claimed_term  # noqa: PLC0415 (as above)

    if table is not None and not plan.whole:
        few = sum(word.inputs for word in plan.read) <= COMPOSED
        table = composed(plan, table) if few else None
    missed = Fraction(1, 2) if plan.rounding == "nearest" else Fraction(1)
    missed += _sum_error(plan) + ROUNDED
    return TabledTerm(claimed_term(plan.term), use, table, missed)


def _sum_error(plan: TermPlan) -> Fraction:
    """Bound the change of a value by the unread bits of sums of angles, in steps."""
    from boolcomp.proof.bound.tabled import claimed_term, line_of  # noqa: PLC0415 (as above)

    function, total = claimed_term(plan.function), Fraction(0)
    sizes = {v.name: line_of(v).size for v in plan.function.variables}
    for word in plan.words:
        if word.sum is not None:
            width = Fraction(1, 1 << word.code.bits) - Fraction(1, 1 << word.sum.bits)
            total += function.slope(word.variable.name, sizes) * width * Fraction(TURN) / 2
    return total / Fraction(plan.code.step)


@lru_cache(maxsize=64)
def _table(plan: TermPlan) -> TruthTable:
    return tabulate(plan)


def _made(plan: TermPlan) -> TruthTable | None:
    return _table(plan) if sum(word.inputs for word in plan.read) <= MADE else None


# --------------------------------------------------------------------------------------------------
# Programs.
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
    """Make the program of a plan from its tables and, in the same order, their covers.

    `logic` makes the network of a cover; `known` are the measured errors of outputs.
    """
    if len(known) not in {0, len(plan.outputs)}:
        raise UsageError("the measured errors are not those of the plan's outputs")
    if [table.plan for table in tables] != list(plan.terms) or len(tables) != len(covers):
        raise UsageError("the tables or the covers are not those of the plan's terms")
    codes = finest_codes(plan)
    read = [one.name for one in plan.problem.inputs if one.name in codes]
    places = {name: k for k, name in enumerate(read)}
    networks: dict[Network, int] = {}
    made: dict[object, tuple[Network, TruthTable]] = {}
    uses, made_of = {}, {}
    for table, cover in zip(tables, covers, strict=True):
        if table.table not in made:
            cubes = cover.cubes if isinstance(cover, Cover) else cover
            faithful = plan.options.rounding == "faithful"
            words = covered_table(table.table, cubes) if faithful else table.table
            made[table.table] = logic(cubes), words
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


def _term_use(plan: TermPlan, network: int, places: dict[str, int]) -> TermUse:
    words = tuple(
        Slice(places[word.variable.name], word.code.bits, word.dropped) for word in plan.read
    )
    return TermUse(plan.term.name, str(plan.term), network, plan.code, words)


# --------------------------------------------------------------------------------------------------
# Measured errors of a plan's tables: on random states, and the largest that a search finds.
#
# Arithmetic that is equivalent to the logic replaces it (`quantised`). Tables with free bits have
# the words of their covers. These errors are no bounds.
# --------------------------------------------------------------------------------------------------

SAMPLES, SEED, BLOCK = 100_000, 0x1988, 1 << 14
EVALUATIONS = 1_000_000  # of the search


def plan_subject(plan: Plan, words: CoverWords = NOTHING) -> SearchedProgram:
    """Return a plan's tables as the subject of a search."""
    codes = tuple(output.word for output in plan.outputs)
    axes = axes_of(plan.problem, finest_codes(plan))
    return SearchedProgram(plan.problem, axes, codes, PlanLogic(plan, words))


@dataclass(frozen=True, slots=True, eq=False)
class PlanLogic:
    """The `logic` of a subject, computed by arithmetic."""

    plan: Plan
    words: CoverWords

    def __call__(self, *arrays: Floats) -> Floats:
        return quantised(self.plan, arrays, self.words).values


def known_errors(
    plan: Plan, evaluations: int | None = None, workers: Workers = ALONE,
    words: CoverWords = NOTHING, *, progress: Callable[[float], None] = lambda _: None,
) -> tuple[KnownErrors, ...]:  # fmt: skip
    """Measure every output's errors, in its unit.

    `evaluations` of the search are `EVALUATIONS` by default; 0 omits the search. Exact outputs are
    clamped to the range of their words. `progress` is called with the completed fraction of the
    search.
    """
    subject = plan_subject(plan, words)
    given = SharedValue(subject)
    squares, sampled = np.zeros(len(plan.outputs)), np.zeros(len(plan.outputs))
    calls = [(given, place) for place in range(0, SAMPLES, BLOCK)]
    for square, largest in workers.in_order(_block, calls):
        squares += square
        sampled = np.maximum(sampled, largest)
    rms = np.round(np.sqrt(squares / SAMPLES), DIGITS)
    worst: list[float | None] = [None] * len(plan.outputs)
    searched = EVALUATIONS if evaluations is None else evaluations
    if searched:
        found = find_worst(subject, searched, workers=workers, progress=progress)
        worst = np.maximum(found.largest, sampled).tolist()
    steps = [output.word.step for output in plan.outputs]
    return tuple(
        KnownErrors(float(r) * step, float(m) * step, None if w is None else w * step)
        for r, m, w, step in zip(rms, sampled, worst, steps, strict=True)
    )


def _block(subject: SearchedProgram, place: int) -> tuple[Floats, Floats]:
    """Return sums of squares and largest errors of a block of states (runs in a worker)."""
    drawn = subject.problem.draw(min(BLOCK, SAMPLES - place), SEED + place)
    found = subject.errors(np.concatenate(drawn, axis=1))
    return (found**2).sum(axis=0), np.abs(found).max(axis=0)


# --------------------------------------------------------------------------------------------------
# Plans for a guaranteed error.
#
# More guard bits make every term finer, and its words and tables wider, so the fewest guard bits
# that meet the error are the cheapest. The word length with the fewest entries of tables is chosen.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Tried:
    """A plan, and the largest ratio of a bound to the allowed error."""

    plan: Plan
    excess: float

    @property
    def entries(self) -> int:
        return sum((1 << term.input_bits) * term.code.bits for term in self.plan.terms)


def plans_within(
    several: Sequence[Terms], options: PlanOptions, error: Promise, *, free: bool
) -> list[Plan]:
    """Return plans of several loads that meet an error; `free` chooses bits with fewest entries."""
    if free and not error.absolute:
        raise UsageError(
            f"error {error} has no unit, which free bits require", "give, for example, 0.5Nm"
        )
    best: tuple[int, list[Plan]] | None = None
    nearest: _Tried | None = None
    refused: DataError | None = None
    for bits in range(FEWEST_BITS, MOST_BITS + 1) if free else (options.bits,):
        try:
            tried = [_plan(terms, replace(options, bits=bits), error) for terms in several]
        except DataError as problem:  # half a step exceeds the error
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
        raise refused or DataError(
            f"no word length meets the error {error}", "allow a larger error"
        )
    raise _broken(nearest, error)


def allowed(plan: Plan, error: Promise) -> list[float]:
    """Return the allowed errors of outputs, in their units; infinite if not limited."""
    steps = error.steps(plan.problem, plan.options.bits)
    return [limit * one.code.step for limit, one in zip(steps, plan.outputs, strict=True)]


def _plan(terms: Terms, options: PlanOptions, error: Promise) -> _Tried:
    """Return the plan with the fewest guard bits that meets an error, or exceeds it least."""
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
        tried = _Tried(plan, max(error_bound(one) / limit for one, limit in pairs))
        if best is None or tried.excess < best.excess:
            best = tried
        if tried.excess <= 1:
            break
    if best is None:
        raise ValueError("no guard bits to try")
    return best


def _refuse_saturation(plan: Plan, error: Promise) -> None:
    """Raise a `DataError` if an output with a limited error can leave its range."""
    for one, limit in zip(plan.outputs, allowed(plan, error), strict=True):
        if math.isfinite(limit) and one.amplitude > one.code.range.high:
            raise DataError(
                f"{one.output.symbol} can reach ±{one.amplitude:.6g}, beyond its range "
                f"±{one.code.range.high:.6g}, and saturates there, so that no error can be "
                "guaranteed", "use a wider range", where=plan.problem.name,
            )  # fmt: skip


def _broken(tried: _Tried, error: Promise) -> DataError:
    plan = tried.plan
    missed = []
    for one, limit in zip(plan.outputs, allowed(plan, error), strict=True):
        found, step = error_bound(one), one.code.step
        if found > limit:
            missed.append(
                f"{one.output.name} {found / step:.3f} LSB ({found:.4g} {one.output.unit}".rstrip()
                + f") and not {limit / step:.4g}"
            )
    return DataError(
        f"no tables of paper mode keep errors within {error}; the best that was reached, with "
        f"{plan.options.bits} bits and {plan.options.guard_bits} guard bits, is {listing(missed)}",
        "use --mode compact, which has no tables of whole terms", where=plan.problem.name,
    )  # fmt: skip
