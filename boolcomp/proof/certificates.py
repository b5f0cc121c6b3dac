"""Write certificates section by section, with bounds and lemmas that the checker confirms.

A clause follows if its negation leads to a conflict by unit propagation (RUP). Literals are
variables from 1, negative if negated; inside loops they are twice the variable, plus one if
negated. For a sum of tables the claim is the compiler's bound, or slightly more if the checker's
own bound is wider.
"""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pysat.solvers import Glucose4

from boolcomp.base.errors import DataError
from boolcomp.base.loops import njit
from boolcomp.checker.bound import FITTING, HALF, confirm_in_boxes
from boolcomp.checker.boxes import BoxSteps, heap_fits
from boolcomp.checker.claim import per_kilogram, stated
from boolcomp.checker.folder import (
    CLAIM,
    FIRST_LINE,
    CertificateSection,
    DoesNotHoldError,
    LoadFiles,
    NotCoveredError,
)
from boolcomp.checker.graph import claim_of
from boolcomp.checker.groups import groups_of
from boolcomp.checker.lemmas import (
    add_final,
    cone_clauses,
    letters,
    node_clauses,
    shown_literal,
    signed,
)
from boolcomp.checker.network import FirstNetwork
from boolcomp.checker.plain import PlainBound
from boolcomp.checker.problem import differences, read_origin
from boolcomp.checker.tabled import Sums, sum_differences
from boolcomp.checker.tight import Tight
from boolcomp.compact.result import sketched, sums_of
from boolcomp.compact.sketch import (
    quantities,
)
from boolcomp.problem.functions import USUAL
from boolcomp.program.program import HEAD, render_program
from boolcomp.proof.bound.bounds import rounded_up
from boolcomp.proof.bound.graded import checked
from boolcomp.proof.bound.tabled import claimed_term
from boolcomp.words.simulation import fold

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.network import RuleNetwork
    from boolcomp.checker.tabled import TermErrors
    from boolcomp.compact.network import Addition
    from boolcomp.compact.result import Built, Compact
    from boolcomp.compact.sketch import Quantity, Sketch
    from boolcomp.logic.network import Network
    from boolcomp.paper.passes import Covered
    from boolcomp.paper.plan import Plan
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Input
    from boolcomp.program.program import CodedOutput, Program
    from boolcomp.proof.bound.bounds import Bound, Bounds
    from boolcomp.proof.bound.sketched import SketchedGraph
    from boolcomp.terms.terms import Term
    from boolcomp.words.graph import WordGraph

    Whole = NDArray[np.int64]
    Clauses = Sequence[Sequence[int]]

# --------------------------------------------------------------------------------------------------
# The section `first`: folded tables and full adders of the first network.
# --------------------------------------------------------------------------------------------------


def first_section(known: CertifiedLoad) -> str:
    """Write a line for every table and every sum."""
    lines, additions = [], iter(known.additions)
    tables = known.graph.tables
    for place in range(len(known.graph.inputs), len(known.graph.nodes)):
        if place in tables:
            folded = fold(tables[place].entries, tables[place].bits)
            masks = "".join(f" {mask:x}" for mask in folded.inputs)
            lines.append(f"w{place} folds{masks} flip {folded.flip:x}\n")
        else:
            lines.append(f"w{place} adds {_adds(next(additions))}\n")
    return "".join(lines)


def _adds(addition: Addition) -> str:
    """Write the positions of added bits, column by column."""
    columns = (", ".join(" ".join(map(str, group)) for group in c) for c in addition.groups())
    return " / ".join(columns).rstrip()


# --------------------------------------------------------------------------------------------------
# SAT proofs reduced to the steps they need, with the clauses that imply each step.
# --------------------------------------------------------------------------------------------------

MOST_TRACED = 1 << 23


class ClauseProof(NamedTuple):
    """A clause and its hints: under its negation, all hints but the last leave one literal each."""

    clause: tuple[int, ...]
    hints: tuple[int, ...]


def trimmed(given: Clauses, added: Clauses, limit: int = MOST_TRACED) -> list[ClauseProof] | None:
    """Return the steps of a proof that its conflict needs; the last of them is empty.

    Clauses are numbered from 0, the given ones first, then the steps. A step that does not follow
    from earlier clauses is left out. None if the proof ends without a conflict, or if it has more
    than `limit` hints.
    """
    trace, bounds = _traces(given, added, limit)
    if bounds[-1] == bounds[-2] or bounds[-1] > limit:
        return None
    first = len(given)
    hints = {first + k: trace[bounds[k] : bounds[k + 1]].tolist() for k in range(len(added) + 1)}
    used = {first + len(added)}
    for number in reversed(hints):
        if number in used:
            used.update(hints[number])
    end = first + len(added)
    kept = sorted(number for number in used if number >= first)
    numbers = {number: first + k for k, number in enumerate(kept)}
    return [
        ClauseProof(
            tuple(added[number - first]) if number < end else (),
            tuple(numbers.get(hint, hint) for hint in hints[number]),
        )
        for number in kept
    ]


def following(given: Clauses, added: Clauses) -> list[Sequence[int]]:
    """Return the clauses that follow, each from the given ones and those before it."""
    bounds = _traces(given, added, 0)[1]
    return [clause for clause, new in zip(added, np.diff(bounds), strict=False) if new]


def _traces(given: Clauses, added: Clauses, limit: int) -> tuple[Whole, Whole]:
    """Return the hints of all steps and of the empty clause, and where those of each begin."""
    clauses = [list(dict.fromkeys(clause)) for clause in (*given, *added)]
    ends = np.cumsum([0, *map(len, clauses)], dtype=np.int64)
    literals = np.array([2 * abs(x) + (x < 0) for clause in clauses for x in clause], np.int64)
    trace, bounds = np.zeros(limit, np.int64), np.zeros(len(added) + 2, np.int64)
    _run(literals, ends, len(given), trace, bounds)
    return trace, bounds


@njit(cache=True)
def _run(literals: Whole, ends: Whole, given: int, trace: Whole, bounds: Whole) -> None:
    """Trace the steps, then the empty clause; a step that does not follow has no hints."""
    size = 2 if len(literals) == 0 else int(literals.max()) + 2
    heads, follow = np.full(size, -1), np.full(2 * len(ends), -1)
    values, reasons, trail = np.zeros(size, np.int64), np.full(size, -1), np.zeros(size, np.int64)
    units, seen, stack = np.zeros(len(ends), np.int64), np.zeros(len(ends), np.int64), [0]
    count = 0  # of units
    for place in range(len(ends)):
        start, end = ends[place], ends[min(place + 1, len(ends) - 1)]
        if place >= given:
            assumed = _assumed(start, end, literals, values, trail)
            conflict, known = _conflict(
                units[:count], assumed, literals, ends, heads, follow, values, reasons, trail
            )
            bounds[place - given + 1] = bounds[place - given]
            if conflict >= 0:
                _mark(conflict, place, literals, ends, reasons, seen, stack)
                bounds[place - given + 1] = _traced(
                    conflict, place, bounds[place - given], trail[:known], reasons, seen, trace
                )
            for k in range(known):
                values[trail[k]] = values[trail[k] ^ 1] = 0
                reasons[trail[k] >> 1] = -1
            if conflict < 0 or place == len(ends) - 1:
                continue
        if end - start < 2:
            units[count] = place
            count += 1
        else:
            for k in range(2):
                follow[2 * place + k] = heads[literals[start + k]]
                heads[literals[start + k]] = 2 * place + k


@njit(cache=True)
def _assumed(start: int, end: int, literals: Whole, values: Whole, trail: Whole) -> int:
    """Assume the negation of a clause; return the number of assigned literals."""
    count = 0
    for k in range(start, end):
        no = literals[k] ^ 1
        if values[no] == 0:
            values[no], values[no ^ 1] = 1, -1
            trail[count] = no
            count += 1
    return count


@njit(cache=True)
def _conflict(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    units: Whole, count: int, literals: Whole, ends: Whole, heads: Whole, follow: Whole,
    values: Whole, reasons: Whole, trail: Whole,
) -> tuple[int, int]:  # fmt: skip
    """Propagate units; return a falsified clause or -1, and the number of assigned literals."""
    for clause in units:
        if ends[clause] == ends[clause + 1] or values[literals[ends[clause]]] < 0:
            return clause, count
        one = literals[ends[clause]]
        if values[one] == 0:
            values[one], values[one ^ 1], reasons[one >> 1] = 1, -1, clause
            trail[count] = one
            count += 1
    conflict, done = -1, 0
    while conflict < 0 and done < count:
        conflict, count = _propagate(
            trail[done] ^ 1, literals, ends, heads, follow, values, reasons, trail, count
        )
        done += 1
    return conflict, count


@njit(cache=True)
def _propagate(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    false: int, literals: Whole, ends: Whole, heads: Whole, follow: Whole, values: Whole,
    reasons: Whole, trail: Whole, count: int,
) -> tuple[int, int]:  # fmt: skip
    """Visit all clauses that watch a falsified literal; return a falsified one or -1, the count."""
    watch, heads[false], conflict = heads[false], -1, -1
    while watch >= 0:
        later, clause, k = follow[watch], watch >> 1, watch & 1
        start = ends[clause]
        other, moved = literals[start + 1 - k], False
        if conflict < 0 and values[other] != 1:
            for j in range(start + 2, ends[clause + 1]):
                if values[literals[j]] >= 0:
                    literals[start + k], literals[j] = literals[j], false
                    new = literals[start + k]
                    follow[watch], heads[new], moved = heads[new], watch, True
                    break
            if not moved and values[other] < 0:
                conflict = clause
            elif not moved:
                values[other], values[other ^ 1], reasons[other >> 1] = 1, -1, clause
                trail[count] = other
                count += 1
        if not moved:
            follow[watch] = heads[false]
            heads[false] = watch
        watch = later
    return conflict, count


@njit(cache=True)
def _mark(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    conflict: int, stamp: int, literals: Whole, ends: Whole, reasons: Whole, seen: Whole,
    stack: list[int],
) -> None:  # fmt: skip
    """Mark the clauses that a conflict depends on."""
    stack.clear()
    stack.append(conflict)
    seen[conflict] = stamp
    while len(stack) > 0:
        clause = stack.pop()
        for k in range(ends[clause], ends[clause + 1]):
            reason = reasons[literals[k] >> 1]
            if reason >= 0 and seen[reason] != stamp:
                seen[reason] = stamp
                stack.append(reason)


@njit(cache=True)
def _traced(  # noqa: PLR0917 (a compiled loop takes columns, not values)
    conflict: int, stamp: int, start: int, trail: Whole, reasons: Whole, seen: Whole, trace: Whole
) -> int:
    """Store the marked clauses in order of propagation; return the end of the trace."""
    for k in range(len(trail) + 1):
        clause = conflict if k == len(trail) else reasons[trail[k] >> 1]
        if clause >= 0 and seen[clause] == stamp and (k == len(trail) or clause != conflict):
            if start < len(trace):
                trace[start] = clause
            start += 1
    return start


# --------------------------------------------------------------------------------------------------
# Refutation by a SAT solver of the assumption that two literals differ.
# --------------------------------------------------------------------------------------------------

# Nodes of a cone and the limit on conflicts: small cones are tried before larger ones.
TRIES = ((40, 300), (120, 1000), (400, 3000), (1500, 20_000))
CONFLICTS = 50_000  # over complete cones


class Refutation(NamedTuple):
    """The cut of a proof, and the proof's clauses as text of a certificate."""

    cut: list[int]
    text: str


class Refuter:
    """Proves literals equal, first over small cones, then over all nodes below them.

    A proof over all nodes begins with the learned clauses of earlier ones that follow from the
    nodes of its own cone: similar sums need similar clauses.
    """

    def __init__(self, nodes: RuleNetwork, levels: list[int]) -> None:
        self.nodes, self.levels = nodes, levels
        self._learned: list[tuple[int, ...]] = []

    def refute(self, x: int, y: int) -> Refutation | list[int] | None:
        """Return a proof that two literals are equal, or inputs at which they differ.

        Inputs are signals, negative if 0. None if neither was found.
        """
        cone = _Cone(self.nodes, self.levels, x, y)
        for size, conflicts in TRIES:
            whole = cone.grow(size)
            found = self._differ(cone, x, y, conflicts)
            if found is not None and (whole or isinstance(found, Refutation)):
                return found
            if whole:
                break
        cone.grow(len(self.levels))
        found = self._over_all(cone, x, y)
        return found if found is not None else self._differ(cone, x, y, CONFLICTS)

    def _differ(self, cone: _Cone, x: int, y: int, conflicts: int) -> Refutation | list[int] | None:
        """Refute that two literals differ, in one clause set, or return inputs of the model."""
        clauses = cone_clauses(self.nodes, x, y, cone.leaves)
        with Glucose4(bootstrap_with=clauses, with_proof=True) as solver:
            solver.conf_budget(conflicts)
            answer = solver.solve_limited()
            if answer is False:
                return _refutation(cone, trimmed(clauses, _steps_of(solver.get_proof())))
            return self._inputs(solver) if answer else None

    def _over_all(self, cone: _Cone, x: int, y: int) -> Refutation | list[int] | None:
        """Refute both ways to differ as assumptions, so that learned clauses hold without them."""
        nodes = [clause for k in sorted(cone.inner) for clause in node_clauses(self.nodes, k)]
        one, other = signed(x), signed(y)
        equal = [[-one, other], [one, -other]] if y > 1 else [[one if y else -one]]
        known = self._known(cone, nodes)
        with Glucose4(bootstrap_with=[*nodes, *known], with_proof=True) as solver:
            for clause in equal:
                solver.conf_budget(CONFLICTS)
                answer = solver.solve_limited([-one for one in clause])
                if answer is None:
                    return None
                if answer:
                    return self._inputs(solver)
            added = [*known, *_steps_of(solver.get_proof()), *equal, *[[one]][: y > 1]]
        steps = trimmed(cone_clauses(self.nodes, x, y, cone.leaves), added)
        # The last two steps need the assumption that both literals differ.
        self._learned += [step.clause for step in (steps or [])[: -1 - (y > 1)]]
        return _refutation(cone, steps)

    def _known(self, cone: _Cone, nodes: Clauses) -> list[Sequence[int]]:
        """Return the learned clauses over a cone that follow from its nodes, as RUP steps."""
        signals, found = cone.inner | cone.leaves, []
        for clause in self._learned:
            known = {self.nodes.known(2 * abs(one) + (one < 0)) for one in clause} - {0}
            if all(one >> 1 in signals and one ^ 1 not in known for one in known):
                found.append(sorted(map(signed, known)))
        return following(nodes, found)

    def _inputs(self, solver: Glucose4) -> list[int]:
        return [one for one in solver.get_model() if 0 < abs(one) <= self.nodes.inputs]


def _steps_of(lines: Iterable[str]) -> list[list[int]]:
    """Return the clauses that a solver's proof adds, without the empty one."""
    added = ([int(one) for one in line.split()[:-1]] for line in lines if line[:1] != "d")
    return [clause for clause in added if clause]


def _refutation(cone: _Cone, steps: list[ClauseProof] | None) -> Refutation | None:
    return None if steps is None else Refutation(sorted(cone.leaves), ", ".join(map(_text, steps)))


def _text(step: ClauseProof) -> str:
    return f"{' '.join(map(str, step.clause))} / {' '.join(map(str, step.hints))}".strip()


class _Cone:
    """The nodes nearest to two literals, and the signals that these nodes read."""

    def __init__(self, nodes: RuleNetwork, levels: list[int], x: int, y: int) -> None:
        self.nodes, self.levels = nodes, levels
        self.inner: set[int] = set()
        self.leaves: set[int] = {y >> 1} - {0}
        self._enter(x >> 1)

    def grow(self, size: int) -> bool:
        """Add the highest leaves up to a size; tell whether the cone is complete."""
        while len(self.inner) < size:
            high = [leaf for leaf in self.leaves if self.levels[leaf]]
            if not high:
                return True
            self._enter(max(high, key=lambda leaf: (self.levels[leaf], leaf)))
        return False

    def _enter(self, signal: int) -> None:
        self.inner.add(signal)
        self.leaves.discard(signal)
        for literal in self.nodes.operands[signal]:
            below = self.nodes.known(literal) >> 1
            if below and below not in self.inner:
                self.leaves.add(below)


# --------------------------------------------------------------------------------------------------
# Equality of two literals by a truth table over a cut.
#
# The first cut is directly below both literals. The leaf of the highest level is then replaced by
# its operands until the tables are equal or the cut is too wide.
# --------------------------------------------------------------------------------------------------

MOST_SEEN = 4000
WIDEST = 14  # signals of a cut: 16,384 rows
MOST_EXPANDED = 30  # leaves that are replaced by operands


class Windows:
    """Searches for cuts, given the lemmas proved so far."""

    def __init__(self, nodes: RuleNetwork, words: set[int]) -> None:
        self.words = words
        self.nodes = nodes
        self.levels = [0] * (nodes.inputs + 1)
        self.planes = letters(WIDEST)

    def enter(self, signal: int) -> None:
        """Record the level of the next signal."""
        below = (self.levels[self.nodes.known(k) >> 1] for k in self.nodes.operands[signal])
        self.levels.append(1 + max(below))

    def cut(self, x: int, y: int) -> list[int] | None:
        return (
            self._grown(x, y, steep=True) or self._grown(x, y, steep=False) or self._at_words(x, y)
        )

    def _grown(self, x: int, y: int, *, steep: bool) -> list[int] | None:
        """Replace leaves by operands: the highest first, or those that add fewest leaves."""
        leaves: set[int] = set()
        self._expand(leaves, x >> 1)
        if self.levels[y >> 1] and y >> 1 not in leaves:
            self._expand(leaves, y >> 1)
        else:
            leaves |= {y >> 1} - {0}
        for _ in range(MOST_EXPANDED):
            if len(leaves) <= WIDEST and self.equal(x, y, sorted(leaves)):
                return sorted(leaves)
            inner = [leaf for leaf in leaves if self.levels[leaf]]
            if not inner or len(leaves) > 2 * WIDEST:
                return None
            growth = {} if steep else {leaf: self._added(leaves, leaf) for leaf in inner}
            top = min(inner, key=lambda leaf: (growth.get(leaf, 0), -self.levels[leaf], leaf))
            leaves.discard(top)
            self._expand(leaves, top)
        return None

    def _at_words(self, x: int, y: int) -> list[int] | None:
        """Return the bits of words below two literals if they are few and prove equality."""
        leaves: set[int] = set()
        seen, waiting = {0}, [x >> 1, y >> 1]
        while waiting:
            signal = waiting.pop()
            if signal in seen:
                continue
            seen.add(signal)
            if len(seen) > MOST_SEEN or len(leaves) >= WIDEST:
                return None
            if (
                signal in self.words and signal != x >> 1 and signal != y >> 1
            ) or signal <= self.nodes.inputs:
                leaves.add(signal)
            else:
                waiting += [self.nodes.known(one) >> 1 for one in self.nodes.operands[signal]]
        found = sorted(leaves)
        return found if self.equal(x, y, found) else None

    def equal(self, x: int, y: int, leaves: list[int]) -> bool:
        """Tell whether two literals are equal for all values of the leaves."""
        rows = 1 << len(leaves)
        ones = (1 << rows) - 1
        cut = {leaf: self.planes[k] & ones for k, leaf in enumerate(leaves)}
        a, b = self.nodes.values([x, y], cut, ones)
        return a == b

    def _added(self, leaves: set[int], leaf: int) -> int:
        known = {self.nodes.known(one) >> 1 for one in self.nodes.operands[leaf]} - {0}
        return len(known - leaves)

    def _expand(self, leaves: set[int], signal: int) -> None:
        for literal in self.nodes.operands[signal]:
            known = self.nodes.known(literal)
            if known > 1:
                leaves.add(known >> 1)


# --------------------------------------------------------------------------------------------------
# The section `lemmas`: the final network is equivalent to the first.
#
# Signals that agree on random words are compared with the first of them. Signals proved equal
# replace each other in later proofs, which keeps these short.
# --------------------------------------------------------------------------------------------------

WORDS, SEED = 1 << 13, 1988
NEIGHBOURS = 256  # words near a counterexample that are tried with it


def lemmas_section(known: CertifiedLoad) -> str:
    """Write the lemmas; a missing proof is a `DataError`."""
    made = FirstNetwork(known.graph, section_of(first_section(known)))
    outputs = add_final(made.nodes, known.final)
    work = _ProofSweep(made)
    for signal in range(len(made.nodes.tables)):
        work.prove(signal)
    for place, (one, other) in enumerate(zip(outputs, made.outputs, strict=True)):
        if made.nodes.known(one) != made.nodes.known(other):
            raise DataError(
                f"no proof was found that output {place} of the network equals that of the graph",
                "compile with --approximate off, or with another --seed",
            )
    ends = {one >> 1 for one in (*outputs, *made.outputs)}
    return "".join(work.lemmas[signal].line for signal in work.needed(ends))


@dataclass(frozen=True, slots=True)
class _Lemma:
    """The line of a lemma, and the earlier lemmas that it depends on."""

    line: str
    needs: frozenset[int]


class _ProofSweep:
    """Proves equalities, signal by signal."""

    def __init__(self, made: FirstNetwork) -> None:
        self.nodes = made.nodes
        sources = {node.source for node in made.graph.tables.values()}
        barriers = {bit >> 1 for place in sources for bit in made.words[place]}
        self.windows = Windows(made.nodes, barriers)
        self.refuter = Refuter(made.nodes, self.windows.levels)
        self.noise = random.Random(SEED)  # noqa: S311 (reproducible)
        self.width = 0
        self.planes = [0] * len(made.nodes.tables)
        self.first: list[int] = []  # of each class: signals without an equal earlier one
        self.lemmas: dict[int, _Lemma] = {}
        self.classes: dict[int, int] = {}  # first literal by plane, inverted to begin with 0
        self._simulate([self.noise.getrandbits(WORDS) for _ in range(made.nodes.inputs)], WORDS)

    def prove(self, signal: int) -> None:
        """Search for an earlier signal that equals this one."""
        if signal > self.nodes.inputs:
            self.windows.enter(signal)
        while True:
            key, inverse = self._key(signal)
            other = self.classes.setdefault(key, 2 * signal ^ inverse)
            if other >> 1 == signal:
                self.first.append(signal)
                return
            x, y = 2 * signal, self.nodes.known(other ^ inverse)
            found = self.windows.cut(x, y)
            if found is not None:
                self._note(x, y, "over", found)
                return
            result = self.refuter.refute(x, y)
            if isinstance(result, Refutation):
                self._note(x, y, "by", result.cut, f": {result.text}")
            if not isinstance(result, list):
                return
            self._distinguish(result)

    def needed(self, ends: set[int]) -> list[int]:
        """Return the signals whose lemmas are needed for some signals, in order."""
        found, waiting = set(), [signal for signal in ends if signal in self.lemmas]
        while waiting:
            signal = waiting.pop()
            if signal not in found:
                found.add(signal)
                waiting += self.lemmas[signal].needs
        return sorted(found)

    def _note(self, x: int, y: int, how: str, cut: list[int], proof: str = "") -> None:
        line = f"{x >> 1} = {shown_literal(y)} {how}{''.join(f' {k}' for k in cut)}{proof}\n"
        needs, seen, waiting = set(), set(cut), [x >> 1, y >> 1]
        while waiting:
            signal = waiting.pop()
            if signal not in seen:
                seen.add(signal)
                for below in (one >> 1 for one in self.nodes.operands[signal]):
                    needs |= {below} & self.lemmas.keys()
                    waiting.append(self.nodes.known(2 * below) >> 1)
        self.lemmas[x >> 1] = _Lemma(line, frozenset(needs))
        self.nodes.equal[x >> 1] = y

    def _key(self, signal: int) -> tuple[int, int]:
        plane = self.planes[signal]
        inverse = plane & 1
        return (plane ^ ((1 << self.width) - 1) if inverse else plane), inverse

    def _distinguish(self, model: list[int]) -> None:
        """Simulate the inputs of a counterexample and random neighbours, and split classes."""
        ones, known = (1 << NEIGHBOURS) - 1, {abs(one): one > 0 for one in model}
        planes = []
        for k in range(1, self.nodes.inputs + 1):
            flips = self.noise.getrandbits(NEIGHBOURS) & self.noise.getrandbits(NEIGHBOURS) & ~1
            bit = known.get(k)
            planes.append(self.noise.getrandbits(NEIGHBOURS) if bit is None else ones * bit ^ flips)
        self._simulate(planes, NEIGHBOURS)
        self.classes = {}
        for signal in self.first:
            key, inverse = self._key(signal)
            self.classes.setdefault(key, 2 * signal ^ inverse)

    def _simulate(self, planes: list[int], width: int) -> None:
        cut = dict(enumerate(planes, 1))
        everything = [2 * k for k in range(len(self.nodes.tables))]
        found = self.nodes.values(everything, cut, (1 << width) - 1)
        self.planes = [a | b << self.width for a, b in zip(self.planes, found, strict=True)]
        self.width += width


# --------------------------------------------------------------------------------------------------
# The input of the writers.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CertifiedLoad:
    """One load: its finished compilation, the program, and the index of the load in it."""

    built: Built
    program: Program
    place: int

    @property
    def compact(self) -> Compact:
        return self.built.compact

    @property
    def graph(self) -> WordGraph:
        return self.built.compact.graph

    @cached_property
    def sketched(self) -> SketchedGraph:
        return sketched(self.built.compact, self.built.ends)

    @cached_property
    def additions(self) -> tuple[Addition, ...]:
        """The adders of the first network, in the order of the graph's words."""
        return sums_of(self.graph, self.final)

    @property
    def final(self) -> Network:
        return self.built.network


def section_of(text: str) -> CertificateSection:
    return CertificateSection(tuple(text.splitlines()), 1)


def load_text(place: int, sections: Mapping[str, str]) -> str:
    """Write the sections of a load."""
    texts = (f"= {name}\n{text}" for name, text in sections.items())
    return "".join([f"== load {place}\n", *texts])


# --------------------------------------------------------------------------------------------------
# The section `origin`: the specified function and its inputs (see `checker.problem`).
# --------------------------------------------------------------------------------------------------

_ROBOT = re.compile(r"(?:([^\n]+) of\n)?(name = .*?)(?:\nword [^\n]*)*", re.DOTALL)


def origin_section(known: CertifiedLoad) -> str:
    """Write the section of a load."""
    payload = known.program.loads[known.place].payload
    return origin_text(known.compact.problem, known.compact.demand.input_bits, payload)


def origin_text(problem: Problem, bits: Mapping[str, int], payload: float = 0.0) -> str:
    """Write the section of a problem with inputs of these bits and a payload in kg."""
    words = quantities(problem, bits)
    lines = [
        *_robot(problem, payload),
        *(_input(one, words) for one in problem.inputs),
        *_problem_steps(problem),
    ]
    return "".join(f"{line}\n" for line in lines)


def _robot(problem: Problem, payload: float) -> Iterator[str]:
    """Yield the function of a robot, its payload, and the robot file without the payload."""
    if found := _ROBOT.fullmatch(problem.key):
        yield f"function {found[1] or USUAL}"
        yield f"payload {payload!r}"
        text = problem.unloaded or found[2]
        yield from (f"| {line}".rstrip() for line in text.rstrip("\n").splitlines())


def _problem_steps(problem: Problem) -> Iterator[str]:
    """Yield the steps and outputs of a user's function."""
    if problem.recorded is not None:
        for step in problem.recorded.nodes[len(problem.inputs) :]:
            value = [repr(float(step.value))] if step.kind == "constant" else [step.kind]
            yield " ".join(["step", *value, *map(str, step.operands)])
        yield from (f"output {one.name} {one.node}" for one in problem.recorded.outputs)


def _input(one: Input, words: Mapping[str, Quantity]) -> str:
    """Write the range of an input, and its word: range, bits, part of a turn."""
    parts = [f"input {one.name} {one.range.low!r} {one.range.high!r}{' angle' * one.angle}"]
    if one.name in words:
        word = words[one.name]
        parts.append(f"word {word.range.low!r} {word.range.high!r} {word.bits}")
        parts.append("of all" if word.part is None else f"of {word.part}")
        parts += ["wraps"] * word.wraps + ["exact"] * word.exact
    return " ".join(parts)


# --------------------------------------------------------------------------------------------------
# The section `sketch`: the function that a graph computes (see `checker.problem`).
# --------------------------------------------------------------------------------------------------


def sketch_section(known: CertifiedLoad) -> str:
    """Write the section of a load."""
    compact = known.compact
    return sketch_text(compact.sketch, compact.problem, compact.problem.steps(compact.demand.bits))


def sketch_text(sketch: Sketch, problem: Problem, steps: Sequence[float]) -> str:
    """Write the section of a sketch whose outputs have these steps."""
    outputs = zip(problem.outputs, steps, sketch.outputs, strict=True)
    lines = (f"{one.name} = {one.range.centre!r} {step!r} s{k}\n" for one, step, k in outputs)
    return f"{sketch}{''.join(lines)}"


# --------------------------------------------------------------------------------------------------
# Bounds against the specified function, instead of the sketch.
#
# Coefficients of a sketch have eleven digits. The checker bounds the error of this rounding (see
# `checker.problem`), which is added to the bounds.
# --------------------------------------------------------------------------------------------------


def with_sketch_errors(program: Program, built: Sequence[Built]) -> Program:
    """Add the errors of sketches, where the checker can bound them, to a program's bounds."""
    loads = []
    for place, (load, one) in enumerate(zip(program.loads, built, strict=True)):
        errors = _sketch_errors(CertifiedLoad(one, program, place))
        if one.bounds is None:
            loads.append(load)
            continue
        bounds = {bound.name: bound for bound in one.bounds.outputs}
        outputs = []
        for output in load.outputs:
            bound = bounds[output.name]
            largest = max(bound.high, -bound.low) + errors.get(output.name, 0)
            value = math.inf if one.bounds.unproved else rounded_up(largest * Fraction(bound.step))
            bounded = replace(output, bound=value, grade=bound.grade)
            outputs.append(bounded if math.isfinite(output.bound) else output)
        loads.append(replace(load, outputs=tuple(outputs)))
    return replace(program, loads=tuple(loads))


def _sketch_errors(known: CertifiedLoad) -> dict[str, Fraction]:
    """Return the errors of a sketch by output, in steps; empty if the checker cannot bound them."""
    texts = (origin_section(known), sketch_section(known))
    try:
        found = differences(*map(section_of, texts))
    except (NotCoveredError, DataError):
        return {}
    return {one.name: Fraction(one.steps) for one in found}


# --------------------------------------------------------------------------------------------------
# The section `bound`: the proved bounds of outputs (see `checker.bound`).
# --------------------------------------------------------------------------------------------------

BOUND_DIGITS, CLAIM_DIGITS = 15, 12  # decimals, in compact and in paper mode; rounded outward


def bound_section(known: CertifiedLoad) -> str:
    """Write the section; it is empty if nothing is proved."""
    bounds = known.built.bounds
    if bounds is None:
        return ""
    lines = []
    for column, one in enumerate(bounds.outputs):
        ends = " ".join([one.name, one.grade, *_outward(one.low, one.high, BOUND_DIGITS)])
        groups = groups_text(known, column) if one.grade != "plain" else ""
        lines.append(f"{ends} {groups}".rstrip())
    if bounds.unproved:
        lines.append(" ".join(["while", *(f"w{k}" for k in bounds.unproved)]))
    return "".join(f"{line}\n" for line in lines)


def groups_text(known: CertifiedLoad, column: int) -> str:
    """Return the groups of linear inputs that are independent of each other for given angles."""
    claim = checked(known.sketched).claim
    return " | ".join(map(" ".join, groups_of(claim, claim.outputs[column].node)))


def _outward(low: Fraction, high: Fraction, digits: int) -> tuple[str, str]:
    scale = 10**digits
    return _decimal(low * scale // 1, digits), _decimal(-(-high * scale // 1), digits)


def _decimal(units: int, digits: int) -> str:
    whole, part = divmod(abs(units), 10**digits)
    return f"{'-' * (units < 0)}{whole}.{part:0{digits}d}"


# --------------------------------------------------------------------------------------------------
# The section `graph`: the words that represent nodes of the sketch (see `checker.graph`).
# --------------------------------------------------------------------------------------------------


def graph_section(known: CertifiedLoad) -> str:
    """Write the section; nodes without words have no line."""
    lines = []
    for k, place in enumerate(known.sketched.places):
        if place.words:
            words = [f"w{word}" for word in place.words]
            words += ["times", *(f"w{word}" for word in place.product)] if place.product else []
            words += ["of", *map(str, place.owners)] if place.owners else []
            lines.append(f"s{k} = {' '.join(words)}")
    for one in known.sketched.results:
        rest = "" if one.rest is None else " ".join(["", "rest", *one.rest])
        lines.append(f"{one.name} = shift {float(one.shift)!r}{rest}")
    return "".join(f"{line}\n" for line in lines)


# --------------------------------------------------------------------------------------------------
# Bounds that the checker confirms.
#
# The checker's algorithms are simpler than those of the compiler. A bound that it does not confirm
# is widened, at most to its own plain bound.
# --------------------------------------------------------------------------------------------------

CLAIMED = "origin", "sketch", "graph", "first"  # sections that bounds depend on
HALVINGS = 3  # of the interval between a proved bound and the checker's plain bound


def with_confirmed_bounds(program: Program, built: list[Built]) -> list[Built]:
    """Widen bounds until the checker confirms them; remove bounds that it does not cover."""
    listed = enumerate(built)
    return [replace(one, bounds=_confirmed(CertifiedLoad(one, program, k))) for k, one in listed]


def _confirmed(known: CertifiedLoad) -> Bounds | None:
    bounds = known.built.bounds
    if bounds is None:
        return None
    texts = {name: WRITERS[name](known) for name in CLAIMED}
    sections = {name: section_of(text) for name, text in texts.items() if text}
    try:
        plain = PlainBound(claim_of(LoadFiles(known.place, {}, {}, known.graph, None, sections)))
    except (DataError, NotCoveredError):
        return None
    outputs = [_confirmed_bound(known, plain, k, one) for k, one in enumerate(bounds.outputs)]
    steps = BoxSteps(plain)
    unproved = {k for k in plain.overflow if k in bounds.unproved or not _fits(steps, k)}
    return replace(bounds, outputs=tuple(outputs), unproved=tuple(sorted(unproved)))


def _fits(steps: BoxSteps, word: int) -> bool:
    try:
        return heap_fits(steps, word, FITTING) > 0
    except (DoesNotHoldError, NotCoveredError):
        return False


def _holds(plain: PlainBound, column: int, ends: tuple[Fraction, Fraction]) -> bool:
    try:
        return confirm_in_boxes(plain, column, *ends) > 0
    except NotCoveredError:
        return False


def _over_cells(
    known: CertifiedLoad, plain: PlainBound, column: int, one: Bound
) -> tuple[Fraction, Fraction] | None:
    """Return a bound widened to that over all cells of the angles, if the checker covers it."""
    groups = tuple(tuple(names.split()) for names in groups_text(known, column).split("|"))
    try:
        up, down = Tight(plain, column, groups).worst
    except NotCoveredError:
        return None
    ends = min(one.low, -down.error), max(one.high, up.error)
    return ends if max(ends[0], -ends[1]) <= HALF else None


def _confirmed_bound(known: CertifiedLoad, plain: PlainBound, column: int, one: Bound) -> Bound:
    """Return the bound of an output, at most as wide as the checker's plain bound."""
    low, high = plain.error(plain.claim.outputs[column], column).ends
    if one.low <= low and high <= one.high:
        return one
    if one.grade == "plain":  # the checker confirms plain claims by its plain bound alone
        return replace(one, low=min(low, one.low), high=max(high, one.high), of_specification=False)
    cells = _over_cells(known, plain, column, one)
    if cells == (one.low, one.high) or _holds(plain, column, (one.low, one.high)):
        return one
    if cells:
        return replace(one, low=cells[0], high=cells[1])
    least, largest = min(low, one.low), max(high, one.high)
    found, refused, accepted = None, Fraction(0), Fraction(1)
    for _ in range(HALVINGS):
        part = (refused + accepted) / 2
        ends = one.low + (least - one.low) * part, one.high + (largest - one.high) * part
        if _holds(plain, column, ends):
            found, accepted = ends, part
        else:
            refused = part
    if found:
        return replace(one, low=found[0], high=found[1])
    return replace(one, low=least, high=largest, grade="plain", of_specification=False)


# --------------------------------------------------------------------------------------------------
# The claim of a certificate, and the effect of a kilogram as the checker confirms it.
# --------------------------------------------------------------------------------------------------


def head(program: Program, unproved: Sequence[Iterable[int]], exact: Sequence[str] = ()) -> str:
    """Write the first lines of a certificate, with all its claims.

    `unproved` has the words of every load that are not shown to be wide enough.
    """
    lines = stated(json.loads(render_program(program)[HEAD]), unproved, exact)
    return "".join(f"{line}\n" for line in (FIRST_LINE, CLAIM, *lines))


def with_confirmed_changes(program: Program, origin: str) -> Program:
    """Increase the effects of a kilogram to those that the checker finds from a load's `origin`."""
    if not program.per_kilogram:
        return program
    try:
        read = read_origin(section_of(origin))
        found = per_kilogram(read, program.returned.members)
    except (NotCoveredError, DataError):
        return program  # the checker reports this
    return replace(program, per_kilogram=tuple(map(max, program.per_kilogram, found)))


# --------------------------------------------------------------------------------------------------
# Certificates of paper mode, with bounds that the checker confirms (see `checker.tabled`).
# --------------------------------------------------------------------------------------------------


def certified(program: Program, made: Sequence[Covered]) -> Program:
    """Add a certificate to a program; `made` are the compilations of its loads.

    Bounds are increased to those that the checker finds. Bounds that it does not cover are claimed
    as they are; the checker then reports them as not checked.
    """
    document = json.loads(render_program(program)[HEAD])
    bits = {one.name: one.code.bits for one in program.inputs}
    loads, texts = [], []
    for place, (load, one) in enumerate(zip(program.loads, made, strict=True)):
        widths = {x.name: bits.get(x.name, 1) for x in one.plan.problem.inputs}
        origin = origin_text(one.plan.problem, widths, load.payload)
        claimed = {"origin": section_of(origin), "terms": section_of(_terms(one.plan, None))}
        entry = document["loads"][place]
        files = LoadFiles(place, document, entry, None, None, claimed, program.networks)
        confirmed = _confirmed_sums(files, [output.name for output in load.outputs])
        outputs = [_confirmed_output(*pair) for pair in zip(load.outputs, confirmed, strict=True)]
        loads.append(replace(load, outputs=tuple(outputs)))
        terms, bound = _terms(one.plan, confirmed), _bounds(outputs, confirmed)
        texts.append(load_text(place, {"origin": origin, "terms": terms, "bound": bound}))
    made_of = with_confirmed_changes(replace(program, loads=tuple(loads)), origin)
    text = head(made_of, [()] * len(loads))
    return replace(made_of, certificate="".join([text, *texts]))


def _confirmed_sums(files: LoadFiles, names: Sequence[str]) -> list[TermErrors | None]:
    """Return the checker's errors of every output, None for those that it does not cover."""
    try:
        sums = Sums(files)
        steps = {output.name: output.code.step for output in sums.outputs}
        differences = sum_differences(files.section("origin"), sums.terms, steps)
    except (NotCoveredError, DataError):
        return [None] * len(names)
    found: list[TermErrors | None] = []
    for output in sums.outputs:
        try:
            found.append(sums.confirm(output, differences[output.name]))
        except NotCoveredError:
            found.append(None)
    return found


def _confirmed_output(output: CodedOutput, confirmed: TermErrors | None) -> CodedOutput:
    """Increase the bound of an output to the confirmed one."""
    if confirmed is None or not math.isfinite(output.bound):
        return output
    low, high = _outward(confirmed.low, confirmed.high, CLAIM_DIGITS)
    step = (Fraction(output.code.range.high) - Fraction(output.code.range.low)) / output.code.cells
    bound = max(Fraction(high), -Fraction(low)) * step
    return output if bound <= Fraction(output.bound) else replace(output, bound=rounded_up(bound))


def _bounds(outputs: Sequence[CodedOutput], confirmed: Sequence[TermErrors | None]) -> str:
    lines = []
    for output, one in zip(outputs, confirmed, strict=True):
        steps = Fraction(output.bound) / Fraction(output.code.step)
        low, high = (one.low, one.high) if one else (-steps, steps)
        lines.append(" ".join([output.name, *_outward(low, high, CLAIM_DIGITS)]))
    return "".join(f"{line}\n" for line in lines)


def _terms(plan: Plan, confirmed: Sequence[TermErrors | None] | None) -> str:
    """Write the terms of tables, with limits of their entries' errors (0 if not covered)."""
    nothing, lines = (Fraction(0), Fraction(0)), []
    for output, one in zip(plan.outputs, confirmed or [None] * len(plan.outputs), strict=True):
        ends = one.terms if one else [nothing] * len(output.terms)
        for term, (low, high) in zip(output.terms, ends, strict=True):
            claim = " ".join(_outward(low, high, CLAIM_DIGITS))
            lines.append(f"{output.output.name} {term.term.name} {claim} = {_term_text(term.term)}")
        lines += [f"{output.output.name} left = {_term_text(left)}" for left in output.left_out]
    return "".join(f"{line}\n" for line in lines)


def _term_text(term: Term) -> str:
    """Write a term as harmonics times powers."""
    parts = []
    for part in claimed_term(term).parts:
        words = [repr(float(part.cosine)), repr(float(part.sine))]
        words += [f"{name}*{k}" for name, k in part.multiples.items()]
        words += [f"{name}^{power}" for name, power in part.powers.items()]
        parts.append(" ".join(words))
    return " | ".join(parts)


# --------------------------------------------------------------------------------------------------
# Whole certificates (see `checker.folder`).
# --------------------------------------------------------------------------------------------------

WRITERS = {
    "origin": origin_section,
    "sketch": sketch_section,
    "graph": graph_section,
    "first": first_section,
    "lemmas": lemmas_section,
    "bound": bound_section,
}


def certificate(program: Program, built: Sequence[Built]) -> str:
    """Write the certificate of a program; `built` are the compilations of its loads."""
    bounds = [one.bounds for one in built]
    unproved = [() if one is None else one.unproved for one in bounds]
    exact = [one.name for one in built[0].compact.problem.inputs if one.exact]
    lines = [head(program, unproved, exact)]
    for place, one in enumerate(built):
        known = CertifiedLoad(one, program, place)
        texts = {name: write(known) for name, write in WRITERS.items()}
        lines.append(load_text(place, {name: text for name, text in texts.items() if text}))
    return "".join(lines)
