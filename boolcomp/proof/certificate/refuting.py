"""That two literals differ, refuted: by a SAT solver, whose proof is cut down to what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pysat.solvers import Glucose4

from boolcomp.checker.lemmas import cone_clauses
from boolcomp.proof.certificates.lemmas import trimmed

if TYPE_CHECKING:
    from boolcomp.checker.gates import Nodes
    from boolcomp.proof.certificates.lemmas import Step

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
