"""Satisfiability by Glucose, and equivalence of networks by SAT sweeping.

Both networks are rebuilt in one builder, operands first. A new node is compared by SAT with an
earlier one of the same simulated values, or complement. If they are equal, the earlier one
replaces it, so that later proofs are short. A counterexample becomes a simulated word.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from pysat.solvers import Glucose4

from boolcomp.logic import network
from boolcomp.logic.network import CONSTANTS, Builder, Network, Node, copied
from boolcomp.logic.simulation import Planes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.cubes import Clock

# --------------------------------------------------------------------------------------------------
# A variable is a number from 0; its literals are twice the number, plus one if it is negated.
# --------------------------------------------------------------------------------------------------

SLICE = 200  # conflicts between two looks at the clock: a fraction of a second


class Solver:
    """A growing set of clauses, solved by Glucose (python-sat) a few conflicts at a time."""

    def __init__(self) -> None:
        self._solver = Glucose4()
        self._variables = 0

    def variable(self) -> int:
        """Return a new variable."""
        self._variables += 1
        return self._variables - 1

    def add(self, clause: Sequence[int]) -> None:
        self._solver.add_clause([_signed(literal) for literal in clause])

    def solve(self, assumptions: Sequence[int], conflicts: int, clock: Clock) -> bool | None:
        """Tell whether all clauses can hold under assumptions; None if the limit is reached."""
        assumed = [_signed(literal) for literal in assumptions]
        for done in range(0, conflicts, SLICE):
            if clock.over:
                return None
            self._solver.conf_budget(min(SLICE, conflicts - done))
            # With `expect_interrupt` Python handles signals and other threads run.
            answer: bool | None = self._solver.solve_limited(assumed, expect_interrupt=True)
            if answer is not None:
                return answer
        return None

    def model(self, literals: Sequence[int]) -> tuple[int, ...]:
        """Return the values of literals after the answer True; 0 for don't-cares."""
        true = set(self._solver.get_model() or ())
        return tuple(int(_signed(literal) in true) for literal in literals)


def _signed(literal: int) -> int:
    return -(literal >> 1) - 1 if literal & 1 else (literal >> 1) + 1


# --------------------------------------------------------------------------------------------------
# Sweeping.
# --------------------------------------------------------------------------------------------------

WORDS = 1024  # initial input words
NEIGHBOURS = 32  # words similar to a counterexample that are simulated with it
CONFLICTS = 500  # of one proof inside the networks
OUTPUT_CONFLICTS = 1_000_000


def sweep_miter(a: Network, b: Network, clock: Clock) -> tuple[bool | None, tuple[int, ...]]:
    """Return whether two networks are equal (None: the clock is over), and a witness if not."""
    joint = Builder(a.inputs)
    both = joint.build([*copied(a, joint), *copied(b, joint)])
    work = _Sweep(a.inputs, clock)
    literals = both.fold(work, work.inputs)
    pairs = zip(literals[: len(a.outputs)], literals[len(a.outputs) :], strict=True)
    for x, y in pairs:
        if x == y:
            continue
        answer = work.differ(x, y, OUTPUT_CONFLICTS)
        if answer is None:
            return None, ()
        if answer:
            return False, work.word()
    return True, ()


@dataclass(slots=True)
class _Sweep:
    """The algebra of literals of proved representatives; operands of nodes are literals.

    Variables of the solver: 0 is the constant false, then inputs, then nodes.
    """

    count: int
    clock: Clock
    solver: Solver = field(default_factory=Solver)
    planes: list[int] = field(default_factory=list)
    nodes: list[Node | None] = field(default_factory=list)
    known: dict[Node, int] = field(default_factory=dict)  # the representative of a node
    classes: dict[int, int] = field(default_factory=dict)  # the literal of a plane
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

    def _variable(self, made: Node | None, plane: int) -> int:
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

    def constant(self, value: int) -> int:
        return value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        made = _reduced(lut, operands)
        if isinstance(made, int):
            return made
        inverse = made.lut & 1  # the key is the table that begins with 0
        upright = Node(made.lut ^ network.ALL, made.operands) if inverse else made
        if upright not in self.known:
            self.known[upright] = self._made(upright)
        return self.known[upright] ^ inverse

    def _made(self, made: Node) -> int:
        algebra = Planes((1 << self.width) - 1)
        values = (self.planes[k >> 1] ^ (algebra.ones * (k & 1)) for k in made.operands)
        plane = algebra.node(made.lut, tuple(values))
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
        return self._merged(literal)

    def _merged(self, literal: int) -> int:
        """Return an earlier literal that is proved equal, or the literal itself as a new class."""
        while not self.clock.over:
            key, inverse = self._key(literal)
            other = self.classes.get(key)
            if other is None:
                break
            other ^= inverse
            answer = self.differ(literal, other, CONFLICTS)
            if answer is None:
                return literal
            if not answer:
                self.solver.add([literal, other ^ 1])
                self.solver.add([literal ^ 1, other])
                return other
            self._refine(self.word())
        self._enter(literal)
        return literal

    def differ(self, x: int, y: int, conflicts: int) -> bool | None:
        """Tell whether two literals can differ; the solver's model is then a witness."""
        for assumed in ((x, y ^ 1), (x ^ 1, y)):
            answer = self.solver.solve(assumed, conflicts, self.clock)
            if answer or answer is None:
                return answer
        return False

    def word(self) -> tuple[int, ...]:
        return self.solver.model(self.inputs)

    def _refine(self, word: tuple[int, ...]) -> None:
        """Simulate a word and similar ones on all nodes."""
        old, self.width = self.width, self.width + NEIGHBOURS
        algebra = Planes((1 << NEIGHBOURS) - 1)
        added: list[int] = []
        for place, made in enumerate(self.nodes):
            if made is None:
                bits = 0
                if place:
                    flips = self.noise.getrandbits(NEIGHBOURS) & self.noise.getrandbits(NEIGHBOURS)
                    bits = (word[place - 1] * algebra.ones) ^ flips & ~1
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
    """Brings single nodes into normal form, and keeps none."""

    def __init__(self) -> None:
        super().__init__(0)
        self.latest: Node | None = None

    def _add(self, node: Node) -> int:
        self.latest = node
        return 0


def _reduced(lut: int, operands: tuple[int, ...]) -> Node | int:
    """Return a node without inverted, constant, equal or unused operands, or its literal."""
    # Variable v is signal v + 1 of a builder, whose inputs begin at 2.
    shifted = [k + 2 if k > 1 else 2 * (k & 1) for k in operands]
    reducer = _Reducer()
    literal = reducer.node(lut, *shifted)
    if reducer.latest is not None:
        return Node(reducer.latest.lut, tuple(2 * (k - 1) for k in reducer.latest.operands))
    return literal >> 1 if literal >> 1 < CONSTANTS else literal - 2


@cache
def clauses(lut: int, operands: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return clauses of "node = table of operands", one for every prime of either phase.

    A literal is (place, 1 if inverted); the place after the operands is the node itself.
    """
    found = []
    for phase in (0, 1):
        table = lut if phase else ~lut & network.ALL
        cubes = [cube for cube in product((0, 1, 2), repeat=operands) if _inside(cube, table)]
        for cube in cubes:
            wider = (
                all(w in (2, digit) for w, digit in zip(c, cube, strict=True))
                for c in cubes if c != cube
            )  # fmt: skip
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
