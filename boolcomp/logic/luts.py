"""Truth tables of up to three inputs, as 8-bit numbers.

Bit `4a + 2b + c` of a table is its value at inputs a, b, c (the numbering of the AVX-512
instruction `vpternlog`). A function of fewer inputs uses the first ones and repeats itself over
the others, so every table may be run with three operands.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations, product
from typing import Literal

FIRST, SECOND, THIRD = 0xF0, 0xCC, 0xAA
LETTERS = (FIRST, SECOND, THIRD)
ALL = 0xFF
AND2, AND3, OR2, OR3 = 0xC0, 0x80, 0xFC, 0xFE
NOT1, XOR2, XOR3, MAJ3 = 0x0F, 0x3C, 0x96, 0xE8
AND_OR = 0xF8  # a | b & c

Kind = Literal["not", "and", "or", "xor"]
# A step is (kind, x, y): x and y are 0, 1, 2 for the inputs, 3 and up for the steps before.
Step = tuple[Kind, int, int]


@cache
def cofactors(lut: int, place: int) -> tuple[int, int]:
    """Return the tables with one input (0, 1, 2) fixed at 0 and at 1."""
    shift, high = 4 >> place, LETTERS[place]
    low, one = lut & ~high & ALL, lut & high
    return low | low << shift, one | one >> shift


@cache
def depends(lut: int, place: int) -> bool:
    """Tell whether a table depends on an input."""
    zero, one = cofactors(lut, place)
    return zero != one


@cache
def support(lut: int) -> tuple[int, ...]:
    """Return the inputs that a table depends on."""
    return tuple(place for place in range(3) if depends(lut, place))


@cache
def inverted(lut: int, place: int) -> int:
    """Return the table with one input inverted."""
    zero, one = cofactors(lut, place)
    high = LETTERS[place]
    return zero & high | one & ~high & ALL


@cache
def compose(lut: int, inputs: tuple[int, int, int]) -> int:
    """Return the table of `lut` over three functions, given as tables themselves."""
    result = 0
    for row in range(8):
        if lut >> row & 1:
            term = ALL
            for k, table in enumerate(inputs):
                term &= table if row >> (2 - k) & 1 else ~table & ALL
            result |= term
    return result


@cache
def formula(lut: int) -> str:
    """Return a formula over a, b, c with at most one `&`, `|`, `^` a letter, or a hex number."""
    return _formulas().get(lut, f"0x{lut:02X}")


@cache
def _formulas() -> dict[int, str]:
    """Map the tables that read each input at most once to their formulas, simplest first."""
    found: dict[int, str] = {0: "0", ALL: "1"}
    literals = [[(t, x), (~t & ALL, f"~{x}")] for t, x in zip(LETTERS, "abc", strict=True)]
    for k in range(3):
        found.update((table, text) for table, text in literals[k])
    found[FIRST ^ SECOND] = "a ^ b"
    found[FIRST ^ SECOND ^ ALL] = "~(a ^ b)"
    for (x, xt), (y, yt) in product(literals[0], literals[1]):
        found.setdefault(x & y, f"{xt} & {yt}")
        found.setdefault(x | y, f"{xt} | {yt}")
    found[XOR3], found[~XOR3 & ALL] = "a ^ b ^ c", "~(a ^ b ^ c)"
    for (x, xt), (y, yt), (z, zt) in product(*literals):
        found.setdefault(x & y & z, f"{xt} & {yt} & {zt}")
        found.setdefault(x | y | z, f"{xt} | {yt} | {zt}")
    for places in permutations(range(3)):
        if places[1] > places[2]:
            continue
        for (x, xt), (y, yt), (z, zt) in product(*(literals[k] for k in places)):
            found.setdefault(x | y & z, f"{xt} | {yt} & {zt}")
            found.setdefault(x & (y | z), f"{xt} & ({yt} | {zt})")
    return found


@cache
def tables_by_formula() -> dict[str, int]:
    """Return the table of every formula that `formula` can write, hex numbers aside."""
    return {text: lut for lut, text in _formulas().items()}


@cache
def steps(lut: int) -> tuple[Step, ...]:
    """Return two-input steps that compute a table (not a constant or a bare input); last wins.

    Shannon's expansion on the input that makes it cheapest.
    """
    found: dict[Step, int] = {}
    _expand(lut, found)
    return tuple(found)


def _step(found: dict[Step, int], kind: Kind, x: int, y: int) -> int:
    return found.setdefault((kind, min(x, y), max(x, y)), 3 + len(found))


def _expand(lut: int, found: dict[Step, int]) -> int:
    """Append the steps of a table; return where its value stands."""
    if lut in LETTERS:
        return LETTERS.index(lut)
    if ~lut & ALL in LETTERS:
        place = LETTERS.index(~lut & ALL)
        return _step(found, "not", place, place)
    place = min((k for k in range(3) if depends(lut, k)), key=lambda k: _cost(lut, k))
    return _branch(lut, place, found)


def _branch(lut: int, place: int, found: dict[Step, int]) -> int:
    zero, one = cofactors(lut, place)
    if zero ^ one == ALL:
        return _step(found, "xor", _expand(zero, found), place)
    if zero & ~one == 0 or one & ~zero == 0:  # monotone in this input, or in its inverse
        literal = place if zero & ~one == 0 else _step(found, "not", place, place)
        less, more = (zero, one) if zero & ~one == 0 else (one, zero)
        both = literal
        if more != ALL:
            both = _step(found, "and", literal, _expand(more, found))
        return both if less == 0 else _step(found, "or", both, _expand(less, found))
    # One operation fewer than (x & one) | (~x & zero).
    chosen = _step(found, "and", _expand(zero ^ one, found), place)
    return _step(found, "xor", _expand(zero, found), chosen)


@cache
def _cost(lut: int, place: int) -> tuple[int, int]:
    found: dict[Step, int] = {}
    _branch(lut, place, found)
    # A `not` is nearly free where it is of an input, and an `xor` keeps a table from being plain.
    return (len(found), sum(kind == "xor" for kind, _, _ in found))


@cache
def operation_kinds(lut: int) -> tuple[tuple[Kind, int], ...]:
    """Return how many operations of each kind `steps` needs, in the order not, and, or, xor."""
    kinds: tuple[Kind, ...] = ("not", "and", "or", "xor")
    counts = ((kind, sum(step[0] == kind for step in steps(lut))) for kind in kinds)
    return tuple((kind, count) for kind, count in counts if count)
