"""Two literals shown equal for all values of a cut below them: a truth table over few signals.

A cut begins beside both; the leaf of the highest level is replaced by what it reads until the
tables are equal, or the cut is too wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from boolcomp.checker.gates import Nodes

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
