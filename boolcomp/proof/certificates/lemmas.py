"""Proofs of SAT solvers cut down to what they need, each clause with those that show it.

A clause follows where its negation leads to a conflict by unit propagation (RUP).

A literal is a variable from 1, negative where it is negated; in loops twice the variable, plus one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pysat.solvers import Glucose4

from boolcomp.base.errors import DataError
from boolcomp.base.loops import njit
from boolcomp.checker.folder import Section
from boolcomp.checker.lemmas import add_final, cone_clauses, shown_literal
from boolcomp.checker.network import FirstNetwork
from boolcomp.compact.result import explained, sums_of
from boolcomp.words.graph import InputWord, Lookup
from boolcomp.words.simulation import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.checker.network import Nodes
    from boolcomp.compact.network import Addition
    from boolcomp.compact.result import Built, Compact
    from boolcomp.logic.network import Network
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.meaning import Explained
    from boolcomp.words.graph import WordGraph

    Whole = NDArray[np.int64]
    Clauses = Sequence[Sequence[int]]


# --------------------------------------------------------------------------------------------------
# Writes the section `first`: how tables were folded and sums added up (`checker.first`).
# --------------------------------------------------------------------------------------------------


def first_section(known: Known) -> str:
    """Return a line for every table and every sum."""
    lines, additions = [], iter(known.additions)
    for place, node in enumerate(known.graph.nodes):
        if isinstance(node, Lookup):
            folded = fold(node.entries, node.bits)
            masks = "".join(f" {mask:x}" for mask in folded.inputs)
            lines.append(f"w{place} folds{masks} flip {folded.flip:x}\n")
        elif not isinstance(node, InputWord):
            lines.append(f"w{place} adds {_adds(next(additions))}\n")
    return "".join(lines)


def _adds(said: Addition) -> str:
    """Return the places in columns that were added, column by column."""
    columns = (", ".join(" ".join(map(str, group)) for group in c) for c in said.groups())
    return " / ".join(columns).rstrip()


# --------------------------------------------------------------------------------------------------
# Proofs of SAT solvers cut down to what they need, each clause with those that show it.
# --------------------------------------------------------------------------------------------------


MOST_TRACED = 1 << 23


class Step(NamedTuple):
    """A clause, and those that show it: each but the last leaves one literal that must hold."""

    clause: tuple[int, ...]
    hints: tuple[int, ...]


def trimmed(given: Clauses, added: Clauses, most: int = MOST_TRACED) -> list[Step] | None:
    """Return the steps of a proof that a conflict needs, the last of them empty.

    Clauses are counted from 0, first those given, then the steps. None where one does not follow
    from those before, where there is no conflict in the end, or where more hints than so many are
    needed.
    """
    clauses = [list(dict.fromkeys(clause)) for clause in (*given, *added)]
    ends = np.cumsum([0, *map(len, clauses)], dtype=np.int64)
    literals = np.array([2 * abs(x) + (x < 0) for clause in clauses for x in clause], np.int64)
    trace, bounds = np.zeros(most, np.int64), np.zeros(len(added) + 2, np.int64)
    place = _run(literals, ends, len(given), trace, bounds)
    if place <= len(clauses) or bounds[-1] > most:
        return None
    first = len(given)
    hints = {first + k: trace[bounds[k] : bounds[k + 1]].tolist() for k in range(len(added) + 1)}
    wanted = {len(clauses)}
    for number in reversed(hints):
        if number in wanted:
            wanted.update(hints[number])
    kept = sorted(number for number in wanted if number >= first)
    numbers = {number: first + k for k, number in enumerate(kept)}
    return [
        Step(
            tuple(added[number - first]) if number < len(clauses) else (),
            tuple(numbers.get(hint, hint) for hint in hints[number]),
        )
        for number in kept
    ]


@njit(cache=True)
def _run(literals: Whole, ends: Whole, given: int, trace: Whole, bounds: Whole) -> int:
    """Return the first clause that does not follow; after the last there must be a conflict."""
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
            if conflict >= 0:
                _mark(conflict, place, literals, ends, reasons, seen, stack)
                bounds[place - given + 1] = _traced(
                    conflict, place, bounds[place - given], trail[:known], reasons, seen, trace
                )
            for k in range(known):
                values[trail[k]] = values[trail[k] ^ 1] = 0
                reasons[trail[k] >> 1] = -1
            if conflict < 0:
                return place
        if end - start < 2:
            units[count] = place
            count += 1
        else:
            for k in range(2):
                follow[2 * place + k] = heads[literals[start + k]]
                heads[literals[start + k]] = 2 * place + k
    return len(ends)


@njit(cache=True)
def _assumed(start: int, end: int, literals: Whole, values: Whole, trail: Whole) -> int:
    """Assume that a clause does not hold; return how many literals that makes known."""
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
    """Propagate; return a clause that cannot hold, or -1, and how many literals are known."""
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
    """Look at all clauses that watch a literal which became false; return a conflict, the trail."""
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
    """Mark the clauses that a conflict comes from."""
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
    """Write down the marked clauses in the order in which they propagate; return where they end."""
    for k in range(len(trail) + 1):
        clause = conflict if k == len(trail) else reasons[trail[k] >> 1]
        if clause >= 0 and seen[clause] == stamp and (k == len(trail) or clause != conflict):
            if start < len(trace):
                trace[start] = clause
            start += 1
    return start


# --------------------------------------------------------------------------------------------------
# That two literals differ, refuted: by a SAT solver, whose proof is cut down to what it needs.
# --------------------------------------------------------------------------------------------------


# Nodes of a cone, and how many conflicts it is worth: a small cone is tried before a larger one.
TRIES = ((40, 300), (120, 1000), (400, 3000), (1500, 20_000), (1 << 30, 50_000))


class Refutation(NamedTuple):
    """The cut that a proof is over, and its clauses as a certificate has them."""

    cut: list[int]
    text: str


def refutation(nodes: Nodes, levels: list[int], x: int, y: int) -> Refutation | list[int] | None:
    """Return a proof that two literals are equal, or inputs at which they differ.

    Inputs are signals, negative where they are 0. None where nothing was found.
    """
    cone = _Cone(nodes, levels, x, y)
    for size, conflicts in TRIES:
        whole = cone.grow(size)
        cut = sorted(cone.leaves)
        clauses = cone_clauses(nodes, x, y, cone.leaves)
        with Glucose4(bootstrap_with=clauses, with_proof=True) as solver:
            solver.conf_budget(conflicts)
            answer = solver.solve_limited()
            lines = solver.get_proof() if answer is False else []
            model = solver.get_model() or []
        if answer is False:
            added = [[int(one) for one in line.split()[:-1]] for line in lines if line[:1] != "d"]
            steps = trimmed(clauses, [clause for clause in added if clause])
            return None if steps is None else Refutation(cut, ", ".join(map(_text, steps)))
        if whole and answer:
            return [one for one in model if 0 < abs(one) <= nodes.inputs]
        if whole:
            return None
    return None


def _text(step: Step) -> str:
    return f"{' '.join(map(str, step.clause))} / {' '.join(map(str, step.hints))}".strip()


class _Cone:
    """The nodes nearest to two literals, and the signals that they read from."""

    def __init__(self, nodes: Nodes, levels: list[int], x: int, y: int) -> None:
        self.nodes, self.levels = nodes, levels
        self.inner: set[int] = set()
        self.leaves: set[int] = {y >> 1} - {0}
        self._enter(x >> 1)

    def grow(self, size: int) -> bool:
        """Take in the highest leaves, up to a size; tell whether nothing is left to take."""
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
# Two literals shown equal for all values of a cut below them: a truth table over few signals.
#
# A cut begins beside both; the leaf of the highest level is replaced by what it reads until the
# tables are equal, or the cut is too wide.
# --------------------------------------------------------------------------------------------------


MOST_SEEN = 4000
WIDEST = 14  # signals of a cut: 16,384 rows
MOST_EXPANDED = 30  # leaves that are replaced


class Windows:
    """Looks for cuts over nodes of which more and more is known."""

    def __init__(self, nodes: Nodes, words: set[int]) -> None:
        self.words = words
        self.nodes = nodes
        self.levels = [0] * (nodes.inputs + 1)
        self.planes = [_letter(k, WIDEST) for k in range(WIDEST)]

    def enter(self, signal: int) -> None:
        """Note the level of the next signal."""
        below = (self.levels[self.nodes.known(k) >> 1] for k in self.nodes.operands[signal])
        self.levels.append(1 + max(below))

    def cut(self, x: int, y: int) -> list[int] | None:
        """Return a cut over which two literals are equal, or None where none was found."""
        return (
            self._grown(x, y, steep=True) or self._grown(x, y, steep=False) or self._at_words(x, y)
        )

    def _grown(self, x: int, y: int, *, steep: bool) -> list[int] | None:
        """Replace leaves by what they read: the highest first, or those that add fewest leaves."""
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
            most = {} if steep else {leaf: self._added(leaves, leaf) for leaf in inner}
            top = min(inner, key=lambda leaf: (most.get(leaf, 0), -self.levels[leaf], leaf))
            leaves.discard(top)
            self._expand(leaves, top)
        return None

    def _at_words(self, x: int, y: int) -> list[int] | None:
        """Return the bits of words below two literals, if they are few and show them equal."""
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
        """Tell whether two literals are equal whatever the leaves are."""
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


def _letter(place: int, count: int) -> int:
    """Return the truth table of one of so many variables: runs of 2^place rows."""
    run = 1 << place
    block = ((1 << run) - 1) << run
    for k in range(place + 1, count):
        block |= block << (1 << k)
    return block


# --------------------------------------------------------------------------------------------------
# Writes the section `lemmas`: why the final network is the first one (see `checker.lemmas`).
#
# Signals that agree on random words are compared with the first of them; if they are equal they
# take its place, so that what follows is short.
# --------------------------------------------------------------------------------------------------


WORDS, SEED = 1 << 13, 1988
NEIGHBOURS = 256  # words beside a counterexample that are tried with it


def lemmas_section(known: Known) -> str:
    """Return the lemmas; a `DataError` where a proof was not found."""
    said = Section(tuple(first_section(known).splitlines()), 0)
    made = FirstNetwork(known.graph, said, known.built.cones)
    outputs = add_final(made.nodes, known.final)
    work = _Sweep(made)
    for signal in range(len(made.nodes.tables)):
        work.prove(signal)
    for place, (one, wanted) in enumerate(zip(outputs, made.outputs, strict=True)):
        if made.nodes.known(one) != made.nodes.known(wanted):
            raise DataError(f"no proof was found that output {place} of the network is the graph's")
    ends = {one >> 1 for one in (*outputs, *made.outputs)}
    return "".join(work.lemmas[signal].line for signal in work.needed(ends))


@dataclass(frozen=True, slots=True)
class _Lemma:
    """A lemma's line, and the earlier ones that it rests on."""

    line: str
    needs: frozenset[int]


class _Sweep:
    """Proves one signal after the other."""

    def __init__(self, made: FirstNetwork) -> None:
        self.nodes = made.nodes
        sources = {node.source for node in made.graph.nodes if isinstance(node, Lookup)}
        barriers = {bit >> 1 for place in sources for bit in made.words[place]}
        self.windows = Windows(made.nodes, barriers)
        self.noise = random.Random(SEED)  # noqa: S311 (the same bytes at any time)
        self.width = 0
        self.planes = [0] * len(made.nodes.tables)
        self.first: list[int] = []  # of a class: no earlier signal is it, or was proved to be
        self.lemmas: dict[int, _Lemma] = {}
        self.classes: dict[int, int] = {}  # a plane that begins with 0: the first literal of it
        self._simulate([self.noise.getrandbits(WORDS) for _ in range(made.nodes.inputs)], WORDS)

    def prove(self, signal: int) -> None:
        """Look for an earlier signal that this one can be proved to be."""
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
            said = refutation(self.nodes, self.windows.levels, x, y)
            if isinstance(said, Refutation):
                self._note(x, y, "by", said.cut, f": {said.text}")
            if not isinstance(said, list):
                return
            self._tell_apart(said)

    def needed(self, wanted: set[int]) -> list[int]:
        """Return of which signals lemmas are needed, so that some are what they are known to be."""
        found, waiting = set(), [signal for signal in wanted if signal in self.lemmas]
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

    def _tell_apart(self, model: list[int]) -> None:
        """Try the inputs of a counterexample and some beside it on all signals."""
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
# What a compilation knows, as the writers of a certificate's sections are given it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Known:
    """One load: its finished compilation, and the program that it is a load of.

    `built.compact` has problem, demand, sketch and widths.
    """

    built: Built
    program: Program
    place: int

    @property
    def compact(self) -> Compact:
        """The graph, and how it was chosen."""
        return self.built.compact

    @property
    def graph(self) -> WordGraph:
        """The word graph."""
        return self.built.compact.graph

    @cached_property
    def explained(self) -> Explained:
        """The graph, with what its words stand for."""
        return explained(self.built.compact, self.built.ends, self.built.booked)

    @cached_property
    def additions(self) -> tuple[Addition, ...]:
        """How the sums of the first network were added up, in the order of the graph's words."""
        if self.compact.demand.of_words:
            return sums_of(self.graph)
        return sums_of(self.graph, self.compact.demand.synthesis)

    @property
    def final(self) -> Network:
        """The network of the program."""
        return self.built.network
