"""A small SAT solver with clause learning, for equivalence checks where there is no ABC.

Two watched literals, first unique implication points, activities, saved phases, restarts by Luby's
sequence (Eén and Sörensson 2003, "An extensible SAT-solver"). Literals are 2v for a variable and
2v + 1 for its negation. It is meant for thousands of variables and short proofs.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.twolevel.clock import Clock

UNKNOWN = -1
DECAY = 1 / 0.95
RESTART = 64  # conflicts
LARGE = 1e100


class Solver:
    """Clauses that grow; `solve` asks whether they hold together with assumptions."""

    def __init__(self) -> None:
        self.value: list[int] = []  # of literals: 1, 0 or UNKNOWN
        self.watches: list[list[list[int]]] = []
        self.reason: list[list[int] | None] = []
        self.level: list[int] = []
        self.activity: list[float] = []
        self.phase: list[int] = []
        self.trail: list[int] = []
        self.limits: list[int] = []  # where each decision level begins on the trail
        self.heap: list[tuple[float, int]] = []
        self.done = 0  # literals of the trail that are propagated
        self.step = 1.0
        self.broken = False

    def variable(self) -> int:
        """Return a new variable."""
        place = len(self.level)
        self.value += [UNKNOWN, UNKNOWN]
        self.watches += [[], []]
        self.reason.append(None)
        self.level.append(0)
        self.activity.append(0.0)
        self.phase.append(1)
        heapq.heappush(self.heap, (0.0, place))
        return place

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause; the solver goes back to where nothing is assumed."""
        self._back(0)
        literals = sorted(set(clause))
        if any(k ^ 1 in literals or self.value[k] == 1 for k in literals):
            return
        literals = [k for k in literals if self.value[k] != 0]
        if len(literals) > 1:
            self._watch(literals)
        elif not literals or not self._assign(literals[0], None) or self._propagate():
            self.broken = True

    def solve(self, assumptions: Sequence[int], conflicts: int, clock: Clock) -> bool | None:
        """Tell whether all clauses can hold under assumptions; None where the limit was met."""
        self._back(0)
        rest = conflicts
        turn = 0
        while not self.broken:
            if clock.over:
                return None
            turn += 1
            budget = min(rest, RESTART * _luby(turn))
            answer = self._search(assumptions, budget)
            if answer is not None:
                return answer
            rest -= budget
            self._back(0)
            if rest <= 0:
                return None
        return False

    def _search(self, assumptions: Sequence[int], conflicts: int) -> bool | None:
        while True:
            conflict = self._propagate()
            if conflict is not None:
                if not self.limits:
                    self.broken = True
                    return False
                self._learn(conflict)
                conflicts -= 1
                if conflicts <= 0:
                    return None
                continue
            literal = self._decision(assumptions)
            if literal is None:
                return True
            if literal < 0:
                return False
            self.limits.append(len(self.trail))
            self._assign(literal, None)

    def _decision(self, assumptions: Sequence[int]) -> int | None:
        """Return a literal to assume, -1 where an assumption fails, None where all is set."""
        while len(self.limits) < len(assumptions):
            literal = assumptions[len(self.limits)]
            if self.value[literal] == 0:
                return -1
            if self.value[literal] == UNKNOWN:
                return literal
            self.limits.append(len(self.trail))
        while self.heap:
            _, place = heapq.heappop(self.heap)
            if self.value[2 * place] == UNKNOWN:
                return 2 * place + self.phase[place]
        return None

    def _assign(self, literal: int, reason: list[int] | None) -> bool:
        if self.value[literal] != UNKNOWN:
            return self.value[literal] == 1
        self.value[literal], self.value[literal ^ 1] = 1, 0
        place = literal >> 1
        self.reason[place], self.level[place] = reason, len(self.limits)
        self.trail.append(literal)
        return True

    def _watch(self, clause: list[int]) -> None:
        self.watches[clause[0] ^ 1].append(clause)
        self.watches[clause[1] ^ 1].append(clause)

    def _propagate(self) -> list[int] | None:
        """Assign what follows; return a clause that is violated, if there is one."""
        value = self.value
        while self.done < len(self.trail):
            literal = self.trail[self.done]
            self.done += 1
            waiting = self.watches[literal]
            kept: list[list[int]] = []
            self.watches[literal] = kept
            for place, clause in enumerate(waiting):
                if clause[0] == literal ^ 1:
                    clause[0], clause[1] = clause[1], clause[0]
                if value[clause[0]] == 1:
                    kept.append(clause)
                    continue
                for k in range(2, len(clause)):
                    if value[clause[k]] != 0:
                        clause[1], clause[k] = clause[k], clause[1]
                        self.watches[clause[1] ^ 1].append(clause)
                        break
                else:
                    kept.append(clause)
                    if not self._assign(clause[0], clause):
                        kept += waiting[place + 1 :]
                        return clause
        return None

    def _learn(self, conflict: list[int]) -> None:
        """Add the clause of the first unique implication point, and go back to where it holds."""
        seen: set[int] = set()
        learnt: list[int] = [0]
        here = len(self.limits)
        open_ones, place = 0, len(self.trail)
        clause: list[int] | None = conflict
        while True:
            for literal in clause or ():
                k = literal >> 1
                if k not in seen and self.level[k] > 0 and self.value[literal] == 0:
                    seen.add(k)
                    self._bump(k)
                    if self.level[k] == here:
                        open_ones += 1
                    else:
                        learnt.append(literal)
            place -= 1
            while self.trail[place] >> 1 not in seen:
                place -= 1
            open_ones -= 1
            if not open_ones:
                break
            clause = self.reason[self.trail[place] >> 1]
        learnt[0] = self.trail[place] ^ 1
        self.step *= DECAY
        if len(learnt) == 1:
            self._back(0)
            self._assign(learnt[0], None)
            return
        latest = max(range(1, len(learnt)), key=lambda k: self.level[learnt[k] >> 1])
        learnt[1], learnt[latest] = learnt[latest], learnt[1]
        self._back(self.level[learnt[1] >> 1])
        self._watch(learnt)
        self._assign(learnt[0], learnt)

    def _bump(self, place: int) -> None:
        self.activity[place] += self.step
        if self.activity[place] > LARGE:
            self.activity = [x / LARGE for x in self.activity]
            self.step /= LARGE
        heapq.heappush(self.heap, (-self.activity[place], place))

    def _back(self, level: int) -> None:
        """Undo all decisions above a level."""
        if len(self.limits) <= level:
            return
        start = self.limits[level]
        for literal in reversed(self.trail[start:]):
            place = literal >> 1
            self.value[literal] = self.value[literal ^ 1] = UNKNOWN
            self.phase[place] = literal & 1
            heapq.heappush(self.heap, (-self.activity[place], place))
        del self.trail[start:], self.limits[level:]
        self.done = len(self.trail)


def _luby(turn: int) -> int:
    """Return a number of Luby's sequence 1, 1, 2, 1, 1, 2, 4 and so on."""
    while True:
        size = turn.bit_length()
        if turn == (1 << size) - 1:
            return 1 << (size - 1)
        turn -= (1 << (size - 1)) - 1
