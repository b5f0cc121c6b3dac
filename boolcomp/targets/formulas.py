"""Tables of at most three inputs as trees of AND, OR and XOR over inputs and their inverses.

Every tree has as few operations as any, and of those the fewest inverses: hardware languages
have no case for them all.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from boolcomp.logic import luts

if TYPE_CHECKING:
    from collections.abc import Sequence


class Leaf(NamedTuple):
    """An input (0, 1, 2), or its inverse."""

    place: int
    inverted: bool


Kind = Literal["and", "or", "xor"]
KINDS: tuple[Kind, ...] = get_args(Kind)


class TreeOperation(NamedTuple):
    """Two trees put together."""

    kind: Kind
    left: Tree
    right: Tree


Tree = Leaf | TreeOperation


class Spelling(NamedTuple):
    """How a language writes operations: what stands between two operands, and before one."""

    between: dict[Kind, str]
    inverse: str

    def write(self, lut: int, names: Sequence[str]) -> str:
        """Return the formula of a table over operands."""
        return self._text(tree(lut), names, "")

    def _text(self, part: Tree, names: Sequence[str], outside: str) -> str:
        if isinstance(part, Leaf):
            name = names[part.place]
            return self.inverse.format(name) if part.inverted else name
        left, right = (self._text(one, names, part.kind) for one in part[1:])
        text = f"{left}{self.between[part.kind]}{right}"
        return text if outside in ("", part.kind) else f"({text})"


def tree(lut: int) -> Tree:
    """Return the tree of a table that is no constant."""
    return _trees()[lut]


@cache
def _trees() -> dict[int, Tree]:
    """Return the trees of all tables, in the order of operations, then of inverted inputs."""
    found: dict[int, Tree] = {}
    inverted = dict.fromkeys(luts.LETTERS, 0)
    for place, letter in enumerate(luts.LETTERS):
        found[letter] = Leaf(place, inverted=False)
        found[~letter & luts.ALL] = Leaf(place, inverted=True)
        inverted[~letter & luts.ALL] = 1
    by_size = [list(found)]
    while len(found) < luts.ALL - 1:
        new: dict[int, Tree] = {}
        for left, right in enumerate(reversed(range(len(by_size)))):
            for x, y in product(by_size[left], by_size[right]):
                signs = inverted[x] + inverted[y]
                for kind, made in zip(KINDS, (x & y, x | y, x ^ y), strict=True):
                    fresh = made not in found and 0 < made < luts.ALL
                    if fresh and signs < inverted.get(made, 1 << 9):
                        new[made] = TreeOperation(kind, found[x], found[y])
                        inverted[made] = signs
        found |= new
        by_size.append(list(new))
    return found
