"""What formulas of words are worth: on many samples at once, or as polynomials over bits.

A polynomial over bits is a sum of products of different bits with whole coefficients; two formulas
have the same value for all bits, modulo 2^n, if and only if their polynomials are the same there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.measure.verification.wordformula import (
    Case,
    Formula,
    Joined,
    Literal,
    Operation,
    Reference,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.measure.verification.wordformula import Described

    Column = NDArray[np.int64]

Bit: TypeAlias = tuple[str, int]
Monomial: TypeAlias = frozenset[Bit]
Polynomial: TypeAlias = "dict[Monomial, int]"
ONE: Monomial = frozenset()
NEVER = 1 << 30  # bits that nothing has


class NoPolynomialError(Exception):
    """A formula that is no sum of bits and their products, or wraps where it may not."""


def simulated_module(module: Described, given: Mapping[str, Column], wanted: str) -> Column:
    """Return a signal's words from those of the signals given: those are not looked into."""
    known = dict(given)
    stack = [wanted]
    while stack:
        name = stack[-1]
        if name in known:
            stack.pop()
            continue
        formula = module.made[name]
        missing = [ref.name for ref in references(formula) if ref.name not in known]
        if missing:
            stack += missing
            continue
        span = module.spans[name][1]
        known[name] = _column(module, formula, known) & ((1 << span) - 1)
        stack.pop()
    return known[wanted]


def _column(module: Described, formula: Formula, known: Mapping[str, Column]) -> Column:
    if isinstance(formula, Literal):
        return np.full(1, formula.value, np.int64)
    if isinstance(formula, Reference):
        low, _ = module.spans[formula.name]
        return known[formula.name] >> (formula.low - low) & ((1 << formula.bits) - 1)
    if isinstance(formula, Case):
        return np.asarray(formula.entries, np.int64)[_column(module, formula.key, known)]
    parts = [_column(module, part, known) for part in formula.parts]
    if isinstance(formula, Joined):
        total, place = np.zeros(1, np.int64), 0
        for part, column in zip(formula.parts, parts, strict=True):
            total = total | column << place
            place += part.bits
        return total
    return _operated(formula, parts) & ((1 << formula.bits) - 1)


def _operated(formula: Operation, parts: list[Column]) -> Column:
    """Return what an operator makes of words, or that and more above its bits."""
    first = parts[0]
    whole = np.int64((1 << formula.parts[0].bits) - 1)
    one: dict[str, Callable[[], Column]] = {
        "~": lambda: first ^ whole,
        "all": lambda: (first == whole).astype(np.int64),
        "any": lambda: (first != 0).astype(np.int64),
        "?": lambda: np.where(first == 1, parts[1], parts[2]),
        "*": lambda: (
            _signed(formula.parts[0].bits, first) * _signed(formula.parts[1].bits, parts[1])
        ),
        "+": lambda: first + parts[1],
        "^": lambda: first ^ parts[1],
        "&": lambda: first & parts[1],
        "|": lambda: first | parts[1],
    }
    return one[formula.sign]()


def _signed(bits: int, column: Column) -> Column:
    """Return words as signed numbers."""
    return column - (column >> (bits - 1) << bits)


def added(*addends: tuple[Polynomial, int]) -> Polynomial:
    """Return a sum of polynomials, each so many times."""
    found: Polynomial = {}
    for polynomial, times in addends:
        for monomial, factor in polynomial.items():
            total = found.get(monomial, 0) + factor * times
            found[monomial] = total
    return {monomial: factor for monomial, factor in found.items() if factor}


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a product; the square of a bit is the bit."""
    found: Polynomial = {}
    for x, m in a.items():
        for y, n in b.items():
            key = x | y
            found[key] = found.get(key, 0) + m * n
    return {monomial: factor for monomial, factor in found.items() if factor}


def different(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return whether two bits differ."""
    return added((a, 1), (b, 1), (multiplied(a, b), -2))


def modulo(polynomial: Polynomial, bits: int) -> Polynomial:
    """Return a polynomial modulo 2^bits."""
    full = (1 << bits) - 1
    return {monomial: left for monomial, factor in polynomial.items() if (left := factor & full)}


class Polynomials:
    """Polynomials of formulas over the bits of some signals; those are not looked into."""

    def __init__(self, module: Described, stops: frozenset[str]) -> None:
        self.module, self.stops = module, stops

    def bits(self, formula: Formula) -> list[Polynomial]:
        """Return the polynomial of every bit, least significant first."""
        if isinstance(formula, Literal):
            return [{ONE: 1} if formula.value >> k & 1 else {} for k in range(formula.bits)]
        if isinstance(formula, Reference):
            places = range(formula.low, formula.low + formula.bits)
            if formula.name in self.stops:
                return [{frozenset([(formula.name, k)]): 1} for k in places]
            low = self.module.spans[formula.name][0]
            inner = self.bits(self.module.made[formula.name])
            return [inner[k - low] for k in places]
        if isinstance(formula, Joined):
            return [bit for part in formula.parts for bit in self.bits(part)]
        if isinstance(formula, Operation) and formula.sign == "~":
            return [added(({ONE: 1}, 1), (bit, -1)) for bit in self.bits(formula.parts[0])]
        if isinstance(formula, Operation) and formula.sign == "^":
            rows = [self.bits(part) for part in formula.parts]
            return [different(a, b) for a, b in zip(*rows, strict=True)]
        raise NoPolynomialError

    def number(self, formula: Formula, room: int) -> tuple[Polynomial, int]:
        """Return a formula's polynomial modulo 2^room, and the largest value.

        What has fewer bits must not wrap.
        """
        if isinstance(formula, Operation) and formula.sign == "+":
            (a, most_a), (b, most_b) = (self.number(part, room) for part in formula.parts)
            return added((a, 1), (b, 1)), most_a + most_b
        if isinstance(formula, Reference) and self.whole(formula):
            inner = room if formula.bits >= room else NEVER
            found, most = self.number(self.module.made[formula.name], inner)
            if most >> formula.bits and formula.bits < room:
                raise NoPolynomialError
            return found, min(most, (1 << formula.bits) - 1)
        if isinstance(formula, Joined):
            return self.joined(formula, room)
        if isinstance(formula, Literal):
            return {ONE: formula.value} if formula.value else {}, formula.value
        bits = self.bits(formula)
        return added(*((bit, 1 << k) for k, bit in enumerate(bits))), (1 << len(bits)) - 1

    def whole(self, reference: Reference) -> bool:
        """Tell whether all of a signal is read, and it may be looked into."""
        span = self.module.spans[reference.name]
        return reference.name not in self.stops and span == reference[1:]

    def joined(self, formula: Joined, room: int) -> tuple[Polynomial, int]:
        """Return the polynomial of words side by side, a product among them."""
        product = self.product(formula)
        if product is not None:
            return product, (1 << formula.bits) - 1
        terms, most, place = [], 0, 0
        for part in formula.parts:
            found, largest = self.number(part, room - place)
            terms.append((found, 1 << place))
            most += largest << place
            place += part.bits
        return added(*terms), most

    def product(self, formula: Joined) -> Polynomial | None:
        """Return what a product without its lowest bit counts, its sign inverted, or the inverse.

        It may stand between zeros.
        """
        parts, place = list(formula.parts), 0
        while parts and isinstance(parts[0], Literal) and not parts[0].value:
            place += parts.pop(0).bits
        while parts and isinstance(parts[-1], Literal) and not parts[-1].value:
            parts.pop()
        if len(parts) != 2:
            return None
        plain = [_upright(part) for part in parts]
        (low, low_flip), (high, high_flip) = plain
        if low is None or high is None or low.name != high.name or low.name in self.stops:
            return None
        made = self.module.made[low.name]
        if not (isinstance(made, Operation) and made.sign == "*") or low_flip == high_flip:
            return None
        bits = made.bits - 2
        if (low.low, low.bits, high.low, high.bits) != (1, bits - 1, bits, 1):
            return None
        value = multiplied(self.odd(made.parts[0]), self.odd(made.parts[1]))
        half = added((value, 1), ({ONE: 1}, -1))
        if any(factor & 1 for factor in half.values()):
            raise NoPolynomialError
        half = {monomial: factor >> 1 for monomial, factor in half.items()}
        found = added((half, 1), ({ONE: 1 << (bits - 1)}, 1))
        if low_flip:
            found = added(({ONE: (1 << bits) - 1}, 1), (found, -1))
        return {monomial: factor << place for monomial, factor in found.items()}

    def odd(self, formula: Formula) -> Polynomial:
        """Return the signed number of a factor, which is odd and no power of two below zero."""
        bits = self.bits(formula)
        if bits[0] != {ONE: 1}:
            raise NoPolynomialError
        weights = [(bit, 1 << k) for k, bit in enumerate(bits[:-1])]
        return added(*weights, (bits[-1], -(1 << len(bits) - 1)))


def _upright(formula: Formula) -> tuple[Reference | None, bool]:
    """Return the bits that are read, and whether they are inverted."""
    flipped = isinstance(formula, Operation) and formula.sign == "~"
    inner = formula.parts[0] if isinstance(formula, Operation) and flipped else formula
    return (inner if isinstance(inner, Reference) else None), flipped
