"""Equivalence by sweeping: nodes that look equal on many words are proved equal and merged.

Both networks are rebuilt in one builder, operands first. A new node whose values agree with an
earlier one's, or with its complement's, is compared with it by SAT; if they are equal it takes its
place, so that later proofs are short. A counterexample becomes a word that tells the two apart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from pysat.solvers import Glucose4

from boolcomp.logic import network
from boolcomp.logic.network import CONSTANTS, Builder, Network, Node, copied
from boolcomp.logic.simulation import Planes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.cubes import Clock


# --------------------------------------------------------------------------------------------------
# Satisfiability, asked of Glucose (python-sat) a few conflicts at a time: Ctrl-C is never far.
#
# A variable is a number from 0; its literals are twice the number, plus one where it is negated.
# --------------------------------------------------------------------------------------------------


SLICE = 200  # conflicts between two looks at the clock: a fraction of a second, however hard it is


class Solver:
    """Clauses that grow; `solve` asks whether they hold together with assumptions."""

    def __init__(self) -> None:
        self._solver = Glucose4()
        self._variables = 0

    def variable(self) -> int:
        """Return a new variable."""
        self._variables += 1
        return self._variables - 1

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause."""
        self._solver.add_clause([_signed(literal) for literal in clause])

    def solve(self, assumptions: Sequence[int], conflicts: int, clock: Clock) -> bool | None:
        """Tell whether all clauses can hold under assumptions; None where the limit was met."""
        assumed = [_signed(literal) for literal in assumptions]
        for done in range(0, conflicts, SLICE):
            if clock.over:
                return None
            self._solver.conf_budget(min(SLICE, conflicts - done))
            # Said to be interrupted, it leaves signals to Python and lets other threads run.
            answer: bool | None = self._solver.solve_limited(assumed, expect_interrupt=True)
            if answer is not None:
                return answer
        return None

    def model(self, literals: Sequence[int]) -> tuple[int, ...]:
        """Return the values of literals where the last answer was True; 0 where any will do."""
        true = set(self._solver.get_model() or ())
        return tuple(int(_signed(literal) in true) for literal in literals)


def _signed(literal: int) -> int:
    """Return a literal as python-sat counts: from 1, negative where it is negated."""
    return -(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1


# --------------------------------------------------------------------------------------------------
# Equivalence by sweeping: nodes that look equal on many words are proved equal and merged.
# --------------------------------------------------------------------------------------------------


WORDS = 1024  # input words to begin with
NEIGHBOURS = 32  # words beside a counterexample that are tried with it
CONFLICTS = 500  # of one proof inside the networks
OUTPUT_CONFLICTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether two networks are equal; a witness where they differ; else why nothing is known."""

    equal: bool
    witness: tuple[int, ...] | None = None
    note: str = ""


def sweep_miter(a: Network, b: Network, clock: Clock) -> Proof:
    """Compare two networks of the same inputs and outputs, until the clock is over."""
    joint = Builder(a.inputs)
    inputs = [joint.input(k) for k in range(a.inputs)]
    both = joint.build([*copied(a, joint, inputs), *copied(b, joint, inputs)])
    work = _Sweep(a.inputs)
    literals = both.fold(_Merging(work, clock), work.inputs)
    pairs = zip(literals[: len(a.outputs)], literals[len(a.outputs) :], strict=True)
    for x, y in pairs:
        if x == y:
            continue
        answer = work.differ(x, y, OUTPUT_CONFLICTS, clock)
        if answer is None:
            return Proof(equal=False, note="our own proof ran out of time")
        if answer:
            return Proof(equal=False, witness=work.word())
    return Proof(equal=True)


class _Merging:
    """The algebra of literals of proven representatives."""

    def __init__(self, work: _Sweep, clock: Clock) -> None:
        self.work, self.clock = work, clock

    def constant(self, value: int) -> int:
        return value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        return self.work.node(lut, operands, self.clock)


class _Made(NamedTuple):
    """A node of the sweep: its table over literals of earlier ones."""

    lut: int
    operands: tuple[int, ...]


@dataclass(slots=True)
class _Sweep:
    """Variables of the solver: 0 is the constant false, then inputs, then nodes."""

    count: int
    solver: Solver = field(default_factory=Solver)
    planes: list[int] = field(default_factory=list)
    nodes: list[_Made | None] = field(default_factory=list)
    known: dict[_Made, int] = field(default_factory=dict)  # a node: the literal that stands for it
    classes: dict[int, int] = field(default_factory=dict)  # a plane: the literal that has it
    inputs: list[int] = field(default_factory=list)
    noise: random.Random = field(default_factory=lambda: random.Random(1988))  # noqa: S311
    width: int = WORDS

    def __post_init__(self) -> None:
        for place in range(self.count + 1):
            plane = self.noise.getrandbits(self.width) if place else 0
            self._variable(None, plane)
            if place:
                self.inputs.append(2 * place)
        self.solver.add([1])

    def _variable(self, made: _Made | None, plane: int) -> int:
        literal = 2 * self.solver.variable()
        self.nodes.append(made)
        self.planes.append(plane)
        self._enter(literal)
        return literal

    def _key(self, literal: int) -> tuple[int, int]:
        """Return a literal's plane, complemented to begin with 0, and whether it was."""
        plane = self.planes[literal >> 1]
        inverse = plane & 1
        return (plane ^ ((1 << self.width) - 1) if inverse else plane), inverse

    def _enter(self, literal: int) -> None:
        plane, inverse = self._key(literal)
        self.classes.setdefault(plane, literal ^ inverse)

    def node(self, lut: int, operands: tuple[int, ...], clock: Clock) -> int:
        """Return the literal that stands for a node."""
        made = _reduced(lut, operands)
        if isinstance(made, int):
            return made
        inverse = made.lut & 1  # of a node and its inverse the one that begins with 0 is looked up
        upright = _Made(made.lut ^ network.ALL, made.operands) if inverse else made
        if upright not in self.known:
            self.known[upright] = self._made(upright, clock)
        return self.known[upright] ^ inverse

    def _made(self, made: _Made, clock: Clock) -> int:
        """Return the literal that stands for a node which is met for the first time."""
        values = [self._value(literal) for literal in made.operands]
        plane = Planes((1 << self.width) - 1).node(made.lut, tuple(values))
        literal = 2 * self.solver.variable()
        self.nodes.append(made)
        self.planes.append(plane)
        for clause in clauses(made.lut, len(made.operands)):
            self.solver.add(
                [
                    (made.operands[k] if k < len(made.operands) else literal) ^ sign
                    for k, sign in clause
                ]
            )
        return self._merged(literal, clock)

    def _merged(self, literal: int, clock: Clock) -> int:
        """Return an earlier literal that is proved equal, or the literal itself, entered."""
        while not clock.over:
            key, inverse = self._key(literal)
            other = self.classes.get(key)
            if other is None:
                break
            other ^= inverse
            answer = self.differ(literal, other, CONFLICTS, clock)
            if answer is None:
                return literal
            if not answer:
                self.solver.add([literal, other ^ 1])
                self.solver.add([literal ^ 1, other])
                return other
            self._refine(self.word())
        self._enter(literal)
        return literal

    def differ(self, x: int, y: int, conflicts: int, clock: Clock) -> bool | None:
        """Tell whether two literals can differ; the solver's model then shows it."""
        for assumed in ((x, y ^ 1), (x ^ 1, y)):
            answer = self.solver.solve(assumed, conflicts, clock)
            if answer or answer is None:
                return answer
        return False

    def word(self) -> tuple[int, ...]:
        """Return the inputs of the solver's last model."""
        return self.solver.model(self.inputs)

    def _value(self, literal: int) -> int:
        plane = self.planes[literal >> 1]
        return plane ^ ((1 << self.width) - 1) if literal & 1 else plane

    def _refine(self, word: tuple[int, ...]) -> None:
        """Try a word and some beside it on all nodes."""
        more = NEIGHBOURS
        old, self.width = self.width, self.width + more
        algebra = Planes((1 << more) - 1)
        added: list[int] = []
        for place, made in enumerate(self.nodes):
            if made is None:
                bits = 0
                if place:
                    flips = self.noise.getrandbits(more) & self.noise.getrandbits(more) & ~1
                    bits = (word[place - 1] * algebra.ones) ^ flips
            else:
                values = [added[k >> 1] ^ (algebra.ones * (k & 1)) for k in made.operands]
                bits = algebra.node(made.lut, tuple(values))
            added.append(bits)
            self.planes[place] |= bits << old
        members = sorted(self.classes.values())
        self.classes = {}
        for literal in members:
            self._enter(literal & ~1)


class _Reducer(Builder):
    """Brings one node after another into normal form, and keeps none."""

    def __init__(self) -> None:
        super().__init__(0)
        self.latest: Node | None = None

    def _add(self, node: Node) -> int:
        self.latest = node
        return 0


def _reduced(lut: int, operands: tuple[int, ...]) -> _Made | int:
    """Return a node without inverted, constant, equal or idle operands; or the literal it is."""
    # Signal v + 1 of a builder whose inputs begin at 2 is our variable v.
    shifted = [k + 2 if k > 1 else 2 * (k & 1) for k in operands]
    reducer = _Reducer()
    literal = reducer.node(lut, *shifted)
    if reducer.latest is not None:
        return _Made(reducer.latest.lut, tuple(2 * (k - 1) for k in reducer.latest.operands))
    return literal >> 1 if literal >> 1 < CONSTANTS else literal - 2


@cache
def clauses(lut: int, operands: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return clauses that say "node = table of operands", one for every prime of either phase.

    A literal is (place, 1 if inverted); the place after the operands is the node itself.
    """
    found = []
    for phase in (0, 1):
        table = lut if phase else ~lut & network.ALL
        cubes = [cube for cube in product((0, 1, 2), repeat=operands) if _inside(cube, table)]
        for cube in cubes:
            wider = (c for c in cubes if c != cube and _contains(c, cube))
            if not any(wider):
                body = tuple((k, digit) for k, digit in enumerate(cube) if digit < 2)
                found.append((*body, (operands, 1 - phase)))
    return tuple(found)


def _inside(cube: tuple[int, ...], table: int) -> bool:
    covered = network.ALL
    for k, digit in enumerate(cube):
        if digit < 2:
            covered &= network.LETTERS[k] if digit else ~network.LETTERS[k]
    return not covered & ~table & network.ALL


def _contains(wide: tuple[int, ...], cube: tuple[int, ...]) -> bool:
    return all(w in (2, digit) for w, digit in zip(wide, cube, strict=True))
