"""The proof that a module of words is a word graph, one word after the other."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.base.errors import BoolcompError
from boolcomp.measure.verify import STAGES, Check
from boolcomp.measure.verify_text import (
    Case,
    Formula,
    Joined,
    Literal,
    Operation,
    Reference,
    read_words,
    references,
)
from boolcomp.targets.gates import gates_of
from boolcomp.targets.hdl import VERILOG_SYNTAX
from boolcomp.targets.target import COUNT, Options, design_of, export_texts, vectors
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts, reads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.measure.verify_text import Described
    from boolcomp.program.program import CodedOutput, Load, Program
    from boolcomp.targets.target import Port
    from boolcomp.words.graph import HeapPart, Node, OutputWord

    Column = NDArray[np.int64]


# --------------------------------------------------------------------------------------------------
# What formulas of words are worth: on many samples at once, or as polynomials over bits.
#
# A polynomial over bits is a sum of products of different bits with whole coefficients; two
# formulas have the same value for all bits, modulo 2^n, if and only if their polynomials are the
# same there.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The proof that a module of words is a word graph, one word after the other.
# --------------------------------------------------------------------------------------------------


MOST = 20  # bits of which all words are looked at
SAMPLES, SEED = 1 << 16, 1988


class NotProvedError(Exception):
    """A word of the module that is not what the graph says, or is not known to be."""


class GraphProof:
    """Proves the words of a load; `place` is its number where a module has several."""

    def __init__(self, program: Program, load: Load, module: Described, place: int | None) -> None:
        if load.graph is None or load.joint is None:
            raise NotProvedError("the program has no word graph")
        self.program, self.load, self.module, self.place = program, load, module, place
        self.graph, self.joint = load.graph, load.joint
        prefix = "" if place is None else f"load {place} "
        self.signals = {
            k: module.claims[f"{prefix}w{k}"]
            for k in range(len(self.graph.nodes))
            if f"{prefix}w{k}" in module.claims
        }
        self.ports = dict(zip((x.name for x in program.inputs), module.inputs, strict=False))
        self.lows: dict[int, int] = {}  # of every word that is proved, the bits below its signal
        self.cases = 0
        self.notes: list[str] = []

    def prove(self, ports: Sequence[Port]) -> None:
        """Prove every cell, every word, every output; what fails is a `NotProvedError`."""
        if [x.code.bits for x in self.program.inputs] != [
            self.module.inputs[port] for port in self.ports.values()
        ]:
            raise NotProvedError("ports have other widths")
        for given in self.program.inputs:
            self.cell(given.name, given.code)
        for place, node in enumerate(self.graph.nodes):
            if place in self.signals:
                self.word(place, node)
                self.cases += 1
        words = [
            name for name, port in zip(self.module.outputs, ports, strict=True) if not port.flag
        ]
        flags = {
            port.name: name
            for name, port in zip(self.module.outputs, ports, strict=True)
            if port.flag
        }
        ends = zip(self.load.outputs, self.graph.results, words, strict=True)
        for output, result, name in ends:
            self.output(output, result, name, flags.get(f"{output.name}_saturated"))

    # Codes of inputs.

    def cell(self, name: str, code: Code) -> None:
        """Prove the cell of an input by all its words."""
        signal = self.module.claims.get(f"cell of {name}")
        if signal is None:
            if code.kind != "natural":
                raise NotProvedError(f"{name} has no cell")
            return
        words = np.arange(code.cells)
        cells = code.index(words)
        if not np.array_equal(
            simulated_module(self.module, {self.ports[name]: words}, signal), cells
        ):
            raise NotProvedError(f"the cell of {name} is another")

    def source(self, place: int) -> list[Reference]:
        """Return the bits of an input word of the graph, least significant first."""
        word = self.joint.words[place]
        given = self.program.inputs[word.input]
        name = self.module.claims.get(f"cell of {given.name}", self.ports[given.name])
        first, last = given.code.bits - word.bits, given.code.bits - word.dropped
        return [Reference(name, k, 1) for k in range(first, last)]

    # Where proofs begin.

    def stops(self, places: Iterable[int]) -> frozenset[str]:
        """Return the signals of which words are made: those are not looked into.

        Of a word that is another with its bits inverted at times both are taken apart.
        """
        found = {*self.module.inputs}
        for place in places:
            if isinstance(self.graph.nodes[place], InputWord):
                found |= {bit.name for bit in self.source(place)}
            elif place not in self.signals:
                found |= self.stops(reads(self.graph.nodes[place]))
            else:
                name = self.signals[place]
                formula = self.module.made[name]
                flipped = isinstance(formula, Operation) and formula.sign == "^"
                found |= {ref.name for ref in references(formula)} if flipped else {name}
        return frozenset(found)

    def bits(self, place: int, over: Polynomials) -> list[Polynomial]:
        """Return the bits of a word as polynomials over signals where proofs begin."""
        node = self.graph.nodes[place]
        if isinstance(node, InputWord):
            return [bit for one in self.source(place) for bit in over.bits(one)]
        if place not in self.signals:
            return self.alone(place, node, over)
        below, bits = self.module.spans[self.signals[place]]
        return [
            *(_bit(self.lows[place] >> k & 1) for k in range(below)),
            *over.bits(Reference(self.signals[place], below, bits)),
        ]

    def alone(self, place: int, node: Node, over: Polynomials) -> list[Polynomial]:
        """Return the bits of a word that has no signal, or not for all of them: by its rule."""
        if isinstance(node, Lookup):
            word = self.bits(node.source, over)
            word = word[len(word) - node.read :]
            index = [word[k] for k in node.picked]
            known = {k: bit.get(ONE, 0) for k, bit in enumerate(index) if not bit.keys() - {ONE}}
            left = [
                row for row in range(len(node.entries))
                if all(row >> k & 1 == bit for k, bit in known.items())
            ]  # fmt: skip
            return [_alike(place, node.entries, k, index, left) for k in range(node.bits)]
        return _digits(place, self.terms(node, over), node.bits)

    def number(self, node: Node, over: Polynomials) -> Polynomial:
        """Return what a sum of the graph is, as its columns say."""
        return modulo(added(*self.terms(node, over)), node.bits)

    def terms(self, node: Node, over: Polynomials) -> list[tuple[Polynomial, int]]:
        """Return the bits of a sum, and what each counts."""
        terms: list[tuple[Polynomial, int]] = []
        if isinstance(node, Angles):
            terms.append(({ONE: 1}, node.constant))
            for turn in node.turns:
                word = self.bits(turn.node, over)
                for k, bit in enumerate(word[len(word) - turn.read :]):
                    flipped = different(bit, {ONE: 1}) if turn.negative else bit
                    terms.append((flipped, 1 << (turn.shift + k)))
        elif isinstance(node, Heap):
            terms.append(({ONE: 1}, node.constant))
            for part in node.parts:
                terms += self.part(part, over)
        return terms

    def part(self, part: HeapPart, over: Polynomials) -> Iterator[tuple[Polynomial, int]]:
        """Yield the bits of a part of a heap, and what each counts."""
        nodes = self.graph.nodes
        invert: Polynomial = {ONE: int(part.negative)}
        if isinstance(part, Bits):
            row, word = part.layout(nodes), self.bits(part.node, over)
            for k in range(row.bits):
                yield different(word[row.drop + k], invert), 1 << (row.column + k)
            return
        assert isinstance(part, PartialProducts)  # noqa: S101 (there are two kinds of parts)
        a, b = self.bits(part.a, over), self.bits(part.b, over)
        for i, row in part.layout(nodes).rows():
            alike = different(different(a[i], invert), {ONE: 1})
            for k in range(row.bits):
                yield different(alike, b[row.drop + k]), 1 << (row.column + k)

    # Words.

    def word(self, place: int, node: Node) -> None:
        """Prove that a signal is a word, from those that the word reads."""
        name = self.signals[place]
        below, bits = self.module.spans[name]
        if isinstance(node, Lookup):
            self.table(place, node, name)
            return
        over = Polynomials(self.module, self.stops(reads(node)) - {name})
        try:
            wanted = self.number(node, over)
            found, _ = over.number(self.module.made[name], bits)
            low = modulo(wanted, below)
            constant = self.lows[place] = low.get(ONE, 0)
            whole = added(({ONE: constant}, 1), (found, 1 << below))
        except NoPolynomialError:
            raise NotProvedError(f"w{place} ({name}) is no sum of its words") from None
        if below + bits != node.bits or low.keys() - {ONE} or modulo(whole, node.bits) != wanted:
            raise NotProvedError(f"w{place} ({name}) is another sum")

    def table(self, place: int, node: Lookup, name: str) -> None:
        """Prove a table by all words of the bits that the signal, or the table, reads."""
        stops = self.stops((node.source,)) - {name}
        over = Polynomials(self.module, stops)
        word = self.bits(node.source, over)
        word = [word[k + len(word) - node.read] for k in node.picked]
        read = {bit for polynomial in word for monomial in polynomial for bit in monomial}
        read |= self.reached(name, stops)
        given, rows = _every(read, f"w{place}")
        columns = {key: _word(self.module, key, given) for key in stops}
        index = sum(
            (_value(bit, given) << k for k, bit in enumerate(word)), np.zeros(rows, np.int64)
        )
        made = simulated_module(self.module, columns, name)
        self.lows[place] = 0
        if (0, node.bits) != self.module.spans[name]:
            raise NotProvedError(f"w{place} has other bits")
        if not np.array_equal(np.asarray(node.entries)[index], made + np.zeros(rows, np.int64)):
            raise NotProvedError(f"w{place} ({name}) has other entries")

    def reached(self, name: str, stops: frozenset[str]) -> set[tuple[str, int]]:
        """Return the bits of signals where proofs begin that a signal reads."""
        found: set[tuple[str, int]] = set()
        seen, stack = {name}, [self.module.made[name]]
        while stack:
            for ref in references(stack.pop()):
                if ref.name in stops:
                    found |= {(ref.name, k) for k in range(ref.low, ref.low + ref.bits)}
                elif ref.name not in seen:
                    seen.add(ref.name)
                    stack.append(self.module.made[ref.name])
        return found

    # Outputs.

    def output(self, output: CodedOutput, result: OutputWord, name: str, flag: str | None) -> None:
        """Prove an output and its flag from its sum, by all words of it."""
        stops = self.stops((result.node,)) | {*self.module.claims.values()} - {name}
        word = self.bits(result.node, Polynomials(self.module, stops))
        read = {bit for polynomial in word for monomial in polynomial for bit in monomial}
        others = self.reached(name, stops) | (self.reached(flag, stops) if flag else set())
        select = self.chosen()
        others -= read | select.keys()
        if output.rest or len(read | others) > MOST:
            others |= {bit for k in self.resting(output) for bit in k}
        given, rows = _every(read, output.name)
        if others and len(read) + len(others) <= MOST:
            given, rows = _every(read | others, output.name)
        elif others:
            given, rows = self.sampled(sorted(read | others), output)
            self.notes.append(f"{output.name} is sampled, not proved: it reads other words, too")
        given |= {bit: np.full(rows, value) for bit, value in select.items()}
        columns = {key: _word(self.module, key, given) for key in stops}
        total = sum(
            (_value(bit, given) << k for k, bit in enumerate(word)), np.zeros(rows, np.int64)
        )
        cell, beyond = self.rounded(output, result, total, given)
        if not np.array_equal(simulated_module(self.module, columns, name), output.code.word(cell)):
            raise NotProvedError(f"output {output.name} is another")
        if flag and not np.array_equal(simulated_module(self.module, columns, flag), beyond):
            raise NotProvedError(f"the flag of {output.name} is another")
        if not flag and beyond.any() and not self.notes:
            self.notes.append(f"{output.name} has no flag: the network never sets it")

    def rounded(
        self, output: CodedOutput, result: OutputWord, total: Column, given: dict[Bit, Column]
    ) -> tuple[Column, Column]:
        """Return the cells of a sum, and where they were beyond the range."""
        left = self.graph.nodes[result.node].bits - result.drop
        first = (1 << left >> 1) - (1 << result.bits >> 1)
        cell = (total >> result.drop) - first
        limited = np.clip(cell, 0, (1 << result.bits) - 1)
        beyond = limited != cell
        rests = np.full(len(total), output.rest is not None)
        for word in self.program.inputs:
            if word.name in (output.rest or ()):
                bits = self.of(word.name)
                value = sum((given[bit] << k for k, bit in enumerate(bits)), np.zeros_like(total))
                half = word.code.cells >> 1
                rests &= (value == half) | (value == half - (not word.code.tread))
        limited = np.where(rests, 1 << result.bits >> 1, limited)
        return limited, (beyond & ~rests).astype(np.int64)

    def of(self, name: str) -> list[Bit]:
        """Return the bits of an input's cell, least significant first."""
        signal = self.module.claims.get(f"cell of {name}", self.ports[name])
        return [(signal, k) for k in range(self.module.spans[signal][1])]

    def resting(self, output: CodedOutput) -> list[list[Bit]]:
        """Return the cells at whose zero an output rests."""
        return [self.of(name) for name in output.rest or ()]

    def chosen(self) -> dict[Bit, int]:
        """Return the bits that select this load."""
        if self.place is None:
            return {}
        port = list(self.module.inputs)[-1]
        return {(port, k): self.place >> k & 1 for k in range(self.module.inputs[port])}

    def sampled(self, bits: list[Bit], output: CodedOutput) -> tuple[dict[Bit, Column], int]:
        """Return random bits; in half of all samples words are about zero."""
        rng = np.random.default_rng(SEED)
        given: dict[Bit, Column] = {bit: rng.integers(0, 2, SAMPLES, np.int64) for bit in bits}
        quiet = rng.integers(0, 2, SAMPLES, np.int64) == 0
        for word in self.resting(output):
            top = given[word[-1]]
            for bit in word[:-1]:
                given[bit] = np.where(quiet & (rng.random(SAMPLES) < 0.999), 1 - top, given[bit])
        return given, SAMPLES


def _every(bits: set[Bit], where: str) -> tuple[dict[Bit, Column], int]:
    """Return all values of some bits."""
    if len(bits) > MOST:
        raise NotProvedError(f"{where} reads {len(bits)} bits: too many to look at all")
    rows = np.arange(1 << len(bits), dtype=np.int64)
    return {bit: rows >> k & 1 for k, bit in enumerate(sorted(bits))}, len(rows)


def _word(module: Described, name: str, given: Mapping[Bit, Column]) -> Column:
    """Return a signal's words; bits that nothing reads are 0."""
    low, bits = module.spans[name]
    zero = np.zeros(1, np.int64)
    return sum((given.get((name, low + k), zero) << k for k in range(bits)), zero)


def _value(polynomial: Polynomial, given: Mapping[Bit, Column]) -> Column:
    total = np.zeros(1, np.int64)
    for monomial, factor in polynomial.items():
        term = np.full(1, factor)
        for bit in monomial:
            term = term * given[bit]
        total = total + term
    return total


def _bit(value: int) -> Polynomial:
    return {ONE: 1} if value else {}


def _alike(
    place: int, entries: Sequence[int], k: int, index: list[Polynomial], rows: list[int]
) -> Polynomial:
    """Return which bit of a table's index a bit of its entries is, or that it never changes."""
    column = [entries[row] >> k & 1 for row in rows]
    if len(set(column)) == 1:
        return _bit(column[0])
    for j, bit in enumerate(index):
        if column == [row >> j & 1 for row in rows]:
            return bit
    raise NotProvedError(f"w{place} is nowhere")


def _digits(place: int, terms: list[tuple[Polynomial, int]], bits: int) -> list[Polynomial]:
    """Return the bits of a sum in which no two stand in a column, and nothing is carried."""
    constant = sum(bit.get(ONE, 0) * weight for bit, weight in terms if not bit.keys() - {ONE})
    found = [_bit(constant >> k & 1) for k in range(bits)]
    for bit, weight in terms:
        column = weight.bit_length() - 1
        if bit.keys() - {ONE} and column < bits:
            if found[column]:
                raise NotProvedError(f"w{place} is nowhere")
            found[column] = bit
    return found


# --------------------------------------------------------------------------------------------------
# Verilog of words against the word graph, word by word: by cut points.
#
# Every word that a comment claims for a signal is proved from the signals of the words that it
# reads, whatever these are: sums and products as polynomials over their bits, tables and codes by
# all of their words. What a word is that no signal has follows from its own rule. So the module is
# the graph.
# --------------------------------------------------------------------------------------------------


def word_checks(
    program: Program, load: float | None, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield what is checked of Verilog of words; of a program without a word graph nothing."""
    loads = program.loads if load is None else (program.load(load),)
    if all(one.graph is not None and one.joint is not None for one in loads):
        for pipeline in (0, STAGES):
            step("verilog words")
            yield from words_read_back(program, load, pipeline)


def words_read_back(program: Program, load: float | None, pipeline: int) -> list[Check]:
    """Write a program's words as Verilog, read them, and compare them with graph and engine."""
    options = Options("words", pipeline)
    ((file, text),) = export_texts(program, "verilog", load, options).items()
    ending = f", {pipeline} stages" if pipeline else ""
    return words_compared(program, load, file, str(text), ending)


def words_compared(
    program: Program, load: float | None, file: str, text: str, ending: str = ""
) -> list[Check]:
    """Compare a module of words with a program: its graph word by word, an engine on vectors."""
    name = f"verilog words{ending}"
    start = time.perf_counter()
    try:
        module = read_words(text, file)
    except BoolcompError as error:
        seconds = time.perf_counter() - start
        return [Check(f"{name} read back", "reading", 0, seconds, holds=False, note=str(error))]
    found = [_against_graph(program, load, module, name)]
    return [*found, _against_engine(program, load, module, f"{name} against engine")]


def _against_graph(program: Program, load: float | None, module: Described, name: str) -> Check:
    start = time.perf_counter()
    loads = program.loads if load is None else (program.load(load),)
    cases, notes, holds = 0, [], True
    ports = design_of(program, load).outputs
    try:
        for place, one in enumerate(loads):
            proof = GraphProof(program, one, module, place if len(loads) > 1 else None)
            proof.prove(ports)
            cases += proof.cases
            notes += [note for note in proof.notes if note not in notes]
    except NotProvedError as error:
        holds, notes = False, [str(error)]
    seconds = time.perf_counter() - start
    return Check(
        f"{name} against word graph", "cut points", cases, seconds, holds, "; ".join(notes)
    )


def _against_engine(program: Program, load: float | None, module: Described, name: str) -> Check:
    """Compare what a module says of some words with what the portable engine makes of them."""
    start = time.perf_counter()
    frame = gates_of(design_of(program, load), VERILOG_SYNTAX, 0)
    try:
        found = vectors(program, load, frame)
    except BoolcompError as error:
        return Check(name, "random words", note=str(error), skipped=True)
    given = _columns(found.given, [(pin.name, pin.port.bits) for pin in frame.inputs])
    wanted = _columns(found.wanted, [(pin.name, pin.port.bits) for pin in frame.outputs])
    wrong = np.zeros(len(found.given), np.bool_)
    for pin, column in wanted.items():
        if pin in module.made:
            wrong |= simulated_module(module, given, pin) != column
    holds = wanted.keys() <= module.made.keys() and np.flatnonzero(wrong).tolist() == [found.wrong]
    note = "one of them wrong on purpose, and found so" if holds else "they differ"
    return Check(name, "random words", COUNT, time.perf_counter() - start, holds, note)


def _columns(rows: tuple[str, ...], pins: list[tuple[str, int]]) -> dict[str, NDArray[np.int64]]:
    columns, place = {}, 0
    for name, bits in pins:
        columns[name] = np.array([int(row[place : place + bits], 2) for row in rows], np.int64)
        place += bits
    return columns
