"""The proof that a Verilog module of words is equivalent to a word graph, word by word."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.base.errors import BoolcompError
from boolcomp.measure.verify import FOUND_WRONG, STAGES, Check, own_checks, tool_checks
from boolcomp.measure.verify_text import (
    Formula,
    Joined,
    Literal,
    Reference,
    TableCase,
    VerilogOperation,
    read_words,
    references,
)
from boolcomp.targets.target import (
    COUNT,
    VERILOG,
    ExportOptions,
    design_of,
    export_texts,
    frame_of,
    vectors,
)
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
# Values of formulas of words: on many samples at once, or as polynomials over bits.
#
# A polynomial over bits is a sum of products of different bits with integer coefficients. Two
# formulas are equal modulo 2^n for all bits if and only if their polynomials are equal modulo 2^n.
# --------------------------------------------------------------------------------------------------


Bit: TypeAlias = tuple[str, int]
Monomial: TypeAlias = frozenset[Bit]
Polynomial: TypeAlias = "dict[Monomial, int]"
ONE: Monomial = frozenset()
NEVER = 1 << 30  # bits, more than any word has


class NoPolynomialError(Exception):
    """A formula that is not a polynomial over bits, or overflows."""


def simulated_module(module: Described, given: Mapping[str, Column], wanted: str) -> Column:
    """Return a signal's words, computed from the words of the given signals."""
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
    if isinstance(formula, TableCase):
        return np.asarray(formula.entries, np.int64)[_column(module, formula.key, known)]
    parts = [_column(module, part, known) for part in formula.parts]
    if isinstance(formula, Joined):
        total, place = np.zeros(1, np.int64), 0
        for part, column in zip(formula.parts, parts, strict=True):
            total = total | column << place
            place += part.bits
        return total
    return _operated(formula, parts) & ((1 << formula.bits) - 1)


def _operated(formula: VerilogOperation, parts: list[Column]) -> Column:
    """Return the result of an operation, possibly with bits above its width."""
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
    return column - (column >> (bits - 1) << bits)


def added(*addends: tuple[Polynomial, int]) -> Polynomial:
    """Return a sum of polynomials with integer factors."""
    found: Polynomial = {}
    for polynomial, times in addends:
        for monomial, factor in polynomial.items():
            total = found.get(monomial, 0) + factor * times
            found[monomial] = total
    return {monomial: factor for monomial, factor in found.items() if factor}


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a product of polynomials; the square of a bit is the bit."""
    found: Polynomial = {}
    for x, m in a.items():
        for y, n in b.items():
            key = x | y
            found[key] = found.get(key, 0) + m * n
    return {monomial: factor for monomial, factor in found.items() if factor}


def different(a: Polynomial, b: Polynomial) -> Polynomial:
    return added((a, 1), (b, 1), (multiplied(a, b), -2))


def modulo(polynomial: Polynomial, bits: int) -> Polynomial:
    """Return a polynomial modulo 2^bits."""
    full = (1 << bits) - 1
    return {monomial: left for monomial, factor in polynomial.items() if (left := factor & full)}


class Polynomials:
    """Polynomials of formulas over the bits of the signals in `stops`."""

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
        if isinstance(formula, VerilogOperation) and formula.sign == "~":
            return [added(({ONE: 1}, 1), (bit, -1)) for bit in self.bits(formula.parts[0])]
        if isinstance(formula, VerilogOperation) and formula.sign == "^":
            rows = [self.bits(part) for part in formula.parts]
            return [different(a, b) for a, b in zip(*rows, strict=True)]
        raise NoPolynomialError

    def number(self, formula: Formula, room: int) -> tuple[Polynomial, int]:
        """Return a formula's polynomial modulo 2^room, and its largest value.

        Signals with fewer bits must not overflow.
        """
        if isinstance(formula, VerilogOperation) and formula.sign == "+":
            (a, most_a), (b, most_b) = (self.number(part, room) for part in _lower(formula))
            if most_a + most_b >> formula.bits and formula.bits < room:
                raise NoPolynomialError
            return added((a, 1), (b, 1)), most_a + most_b
        if isinstance(formula, Reference) and self.whole(formula):
            inner = room if formula.bits >= room else NEVER
            found, largest = self.number(self.module.made[formula.name], inner)
            if largest >> formula.bits and formula.bits < room:
                raise NoPolynomialError
            return found, min(largest, (1 << formula.bits) - 1)
        if isinstance(formula, Joined):
            return self.joined(formula, room)
        if isinstance(formula, Literal):
            return {ONE: formula.value} if formula.value else {}, formula.value
        bits = self.bits(formula)
        return added(*((bit, 1 << k) for k, bit in enumerate(bits))), (1 << len(bits)) - 1

    def whole(self, reference: Reference) -> bool:
        """Tell whether all bits of a signal outside of `stops` are read."""
        span = self.module.spans[reference.name]
        return reference.name not in self.stops and span == reference[1:]

    def joined(self, formula: Joined, room: int) -> tuple[Polynomial, int]:
        """Return the polynomial of a concatenation, which may be a product."""
        product = self.product(formula)
        if product is not None:
            top = formula.parts[-1]
            zeros = top.bits if isinstance(top, Literal) and not top.value else 0
            return product, (1 << formula.bits - zeros) - 1
        terms, total, place = [], 0, 0
        for part in formula.parts:
            found, largest = self.number(part, room - place)
            terms.append((found, 1 << place))
            total += largest << place
            place += part.bits
        return added(*terms), total

    def product(self, formula: Joined) -> Polynomial | None:
        """Return the polynomial of a product without its lowest bit, or None for other formulas.

        The sign bit is inverted, or all others are; zeros may surround the product.
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
        if not (isinstance(made, VerilogOperation) and made.sign == "*") or low_flip == high_flip:
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
        """Return the polynomial of a signed odd factor."""
        bits = self.bits(formula)
        if bits[0] != {ONE: 1}:
            raise NoPolynomialError
        weights = [(bit, 1 << k) for k, bit in enumerate(bits[:-1])]
        return added(*weights, (bits[-1], -(1 << len(bits) - 1)))


def _lower(formula: VerilogOperation) -> tuple[Formula, ...]:
    """Return the words of a sum, without a highest bit that both have: it vanishes from the sum."""
    a, b = formula.parts
    if isinstance(a, Joined) and isinstance(b, Joined) and a.parts[-1] == b.parts[-1]:
        bits = formula.bits - a.parts[-1].bits
        if a.parts[-1].bits == 1:
            return Joined(a.parts[:-1], bits), Joined(b.parts[:-1], bits)
    return formula.parts


def _upright(formula: Formula) -> tuple[Reference | None, bool]:
    """Return the bits of a formula, and whether they are inverted."""
    flipped = isinstance(formula, VerilogOperation) and formula.sign == "~"
    inner = formula.parts[0] if isinstance(formula, VerilogOperation) and flipped else formula
    return (inner if isinstance(inner, Reference) else None), flipped


# --------------------------------------------------------------------------------------------------
# The proof of the words of a module.
# --------------------------------------------------------------------------------------------------


MOST = 20  # most bits for an exhaustive check
SAMPLES, SEED = 1 << 16, 1988


class NotProvedError(Exception):
    """A word of the module differs from that of the graph, or is not proved equal."""


class GraphProof:
    """Proves the words of a payload; `place` is its number in a module of several payloads."""

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
        self.lows: dict[int, int] = {}  # for every proved word, the constant bits below its signal
        self.cases = 0
        self.notes: list[str] = []

    def prove(self, ports: Sequence[Port]) -> None:
        """Prove every cell, word and output; raise a `NotProvedError` on failure."""
        if [x.code.bits for x in self.program.inputs] != [
            self.module.inputs[port] for port in self.ports.values()
        ]:
            raise NotProvedError("ports have different widths")
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
        """Prove the cell of an input for all its words."""
        signal = self.module.claims.get(f"cell of {name}")
        if signal is None:
            if code.kind != "natural":
                raise NotProvedError(f"the cell of {name} is missing")
            return
        words = np.arange(code.cells)
        cells = code.index(words)
        if not np.array_equal(
            simulated_module(self.module, {self.ports[name]: words}, signal), cells
        ):
            raise NotProvedError(f"the cell of {name} differs")

    def source(self, place: int) -> list[Reference]:
        """Return the bits of an input word of the graph, least significant first."""
        word = self.joint.words[place]
        given = self.program.inputs[word.input]
        name = self.module.claims.get(f"cell of {given.name}", self.ports[given.name])
        first, last = given.code.bits - word.bits, given.code.bits - word.dropped
        return [Reference(name, k, 1) for k in range(first, last)]

    # Cut points.

    def stops(self, places: Iterable[int]) -> frozenset[str]:
        """Return the signals of words, the cut points of a proof.

        For a word with conditionally inverted bits, its operands are the cut points.
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
                flipped = isinstance(formula, VerilogOperation) and formula.sign == "^"
                found |= {ref.name for ref in references(formula)} if flipped else {name}
        return frozenset(found)

    def bits(self, place: int, over: Polynomials) -> list[Polynomial]:
        """Return the bits of a word as polynomials over cut points."""
        node = self.graph.nodes[place]
        if isinstance(node, InputWord):
            return [bit for one in self.source(place) for bit in over.bits(one)]
        if place not in self.signals:
            return self.alone(place, node, over)
        first, bits = self.module.spans[self.signals[place]]
        return [
            *(_bit(self.lows[place] >> k & 1) for k in range(node.bits - bits)),
            *over.bits(Reference(self.signals[place], first, bits)),
        ]

    def alone(self, place: int, node: Node, over: Polynomials) -> list[Polynomial]:
        """Return the bits of a word without a signal, derived from its definition."""
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
        return modulo(added(*self.terms(node, over)), node.bits)

    def terms(self, node: Node, over: Polynomials) -> list[tuple[Polynomial, int]]:
        """Return the bits of a sum with their weights."""
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
        """Yield the bits of a part of a heap with their weights."""
        nodes = self.graph.nodes
        invert: Polynomial = {ONE: int(part.negative)}
        if isinstance(part, Bits):
            row, word = part.layout(nodes), self.bits(part.node, over)
            for k in range(row.bits):
                yield different(word[row.drop + k], invert), 1 << (row.column + k)
            return
        assert isinstance(part, PartialProducts)  # noqa: S101 (the only other kind of part)
        a, b = self.bits(part.a, over), self.bits(part.b, over)
        for i, row in part.layout(nodes).rows():
            alike = different(different(a[i], invert), {ONE: 1})
            for k in range(row.bits):
                yield different(alike, b[row.drop + k]), 1 << (row.column + k)

    # Words.

    def word(self, place: int, node: Node) -> None:
        """Prove that a signal is a word, given the operands of the word."""
        name = self.signals[place]
        first, bits = self.module.spans[name]
        if isinstance(node, Lookup):
            self.table(place, node, name)
            return
        below = node.bits - bits  # the text gives no position of a single bit
        stops = self.stops(reads(node)) - {name}
        over = Polynomials(self.module, stops)
        why = "a different sum"
        try:
            wanted = self.number(node, over)
        except NoPolynomialError:
            raise NotProvedError(f"w{place} ({name}) is not a sum of its operands") from None
        low = modulo(wanted, max(0, below))
        constant = self.lows[place] = low.get(ONE, 0)
        if below < 0 or first not in {below, 0 if bits == 1 else below} or low.keys() - {ONE}:
            raise NotProvedError(f"w{place} ({name}) is a different sum")
        try:
            made, _ = over.number(self.module.made[name], bits)
            whole = added(({ONE: constant}, 1), (made, 1 << below))
            if modulo(whole, node.bits) == wanted:
                return
        except NoPolynomialError:
            why = "not a sum of its operands"
        if not self.counted(name, wanted, below, stops):
            raise NotProvedError(f"w{place} ({name}) is {why}")

    def counted(self, name: str, wanted: Polynomial, below: int, stops: frozenset[str]) -> bool:
        """Tell whether a signal is a sum, exhaustively for a few bits.

        This proves sums of parts that wrap, or that test other bits.
        """
        read = {bit for monomial in wanted for bit in monomial} | self.reached(name, stops)
        if len(read) > MOST:
            return False
        given, _ = _every(read, name)
        columns = {key: _word(self.module, key, given) for key in stops}
        made = simulated_module(self.module, columns, name)
        whole = (1 << self.module.spans[name][1]) - 1
        differing = (_value(wanted, given) >> below ^ made) & whole
        return not differing.any()

    def table(self, place: int, node: Lookup, name: str) -> None:
        """Prove a table for all values of the bits that the signal or the table reads."""
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
            raise NotProvedError(f"w{place} ({name}) has a different width")
        if not np.array_equal(np.asarray(node.entries)[index], made + np.zeros(rows, np.int64)):
            raise NotProvedError(f"w{place} ({name}) has different entries")

    def reached(self, name: str, stops: frozenset[str]) -> set[tuple[str, int]]:
        """Return the bits of cut points that a signal depends on."""
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
        """Prove an output and its flag for all values of its sum."""
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
            self.notes.append(f"{output.name} is sampled, not proved: it also reads other words")
        given |= {bit: np.full(rows, value) for bit, value in select.items()}
        columns = {key: _word(self.module, key, given) for key in stops}
        total = sum(
            (_value(bit, given) << k for k, bit in enumerate(word)), np.zeros(rows, np.int64)
        )
        cell, beyond = self.rounded(output, result, total, given)
        if not np.array_equal(simulated_module(self.module, columns, name), output.code.word(cell)):
            raise NotProvedError(f"output {output.name} differs")
        if flag and not np.array_equal(simulated_module(self.module, columns, flag), beyond):
            raise NotProvedError(f"the flag of {output.name} differs")
        if not flag and beyond.any() and not self.notes:
            self.notes.append(f"{output.name} has no flag: the network never sets it")

    def rounded(
        self, output: CodedOutput, result: OutputWord, total: Column, given: dict[Bit, Column]
    ) -> tuple[Column, Column]:
        """Return the cells of a sum, and where they saturate."""
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
        return [self.of(name) for name in output.rest or ()]

    def chosen(self) -> dict[Bit, int]:
        """Return the values of the bits that select this payload."""
        if self.place is None:
            return {}
        port = list(self.module.inputs)[-1]
        return {(port, k): self.place >> k & 1 for k in range(self.module.inputs[port])}

    def sampled(self, bits: list[Bit], output: CodedOutput) -> tuple[dict[Bit, Column], int]:
        """Return random bits; in half of the samples resting words are near zero."""
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
        raise NotProvedError(f"{where} reads {len(bits)} bits, too many for an exhaustive check")
    rows = np.arange(1 << len(bits), dtype=np.int64)
    return {bit: rows >> k & 1 for k, bit in enumerate(sorted(bits))}, len(rows)


def _word(module: Described, name: str, given: Mapping[Bit, Column]) -> Column:
    """Return a signal's words; unused bits are 0."""
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
    """Return the index bit or constant that equals bit `k` of a table's entries."""
    column = [entries[row] >> k & 1 for row in rows]
    if len(set(column)) == 1:
        return _bit(column[0])
    for j, bit in enumerate(index):
        if column == [row >> j & 1 for row in rows]:
            return bit
    raise NotProvedError(f"w{place} has no signal")


def _digits(place: int, terms: list[tuple[Polynomial, int]], bits: int) -> list[Polynomial]:
    """Return the bits of a sum without carries, with at most one bit per column."""
    constant = sum(bit.get(ONE, 0) * weight for bit, weight in terms if not bit.keys() - {ONE})
    found = [_bit(constant >> k & 1) for k in range(bits)]
    for bit, weight in terms:
        column = weight.bit_length() - 1
        if bit.keys() - {ONE} and column < bits:
            if found[column]:
                raise NotProvedError(f"w{place} has no signal")
            found[column] = bit
    return found


# --------------------------------------------------------------------------------------------------
# Checks of word-level Verilog against the word graph, by cut points.
#
# Each word that a comment assigns to a signal is proved for all values of its operands' signals.
# Sums and products are compared as polynomials over bits, tables and codes exhaustively. Words
# without a signal follow from their definitions. Together these proofs show that the module is
# equivalent to the graph.
# --------------------------------------------------------------------------------------------------


def word_checks(
    program: Program, load: float | None, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield the checks of word-level Verilog; none for a program without a word graph."""
    loads = program.loads if load is None else (program.load(load),)
    if all(one.graph is not None and one.joint is not None for one in loads):
        for pipeline in (0, STAGES):
            step("verilog words")
            yield from words_read_back(program, load, pipeline)


def all_checks(
    program: Program, load: float | None, deadline: float, step: Callable[[str], None], *,
    tools: bool,
) -> Iterator[Check]:  # fmt: skip
    """Yield the checks of the compiler's own code, and those by external tools."""
    yield from own_checks(program, load, deadline, step)
    yield from word_checks(program, load, step)
    if tools:
        yield from tool_checks(program, load, deadline, step)


def words_read_back(program: Program, load: float | None, pipeline: int) -> list[Check]:
    """Write word-level Verilog, read it back, and compare it with graph and engine."""
    options = ExportOptions("words", pipeline)
    ((file, text),) = export_texts(program, "verilog", load, options).items()
    ending = f", {pipeline} stages" if pipeline else ""
    return words_compared(program, load, file, str(text), ending)


def words_compared(
    program: Program, load: float | None, file: str, text: str, ending: str = ""
) -> list[Check]:
    """Compare a module of words with a program's graph, word by word, and with an engine."""
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
    """Compare a module with the portable engine on random words."""
    start = time.perf_counter()
    frame = frame_of(design_of(program, load), VERILOG)
    try:
        found = vectors(program, load, frame)
    except BoolcompError as error:
        return Check(name, "random words", note=str(error), skipped=True)
    given = _columns(found.given, [(pin.name, pin.port.bits) for pin in frame.inputs])
    wanted = _columns(found.expected, [(pin.name, pin.port.bits) for pin in frame.outputs])
    wrong = np.zeros(len(found.given), np.bool_)
    for pin, column in wanted.items():
        if pin in module.made:
            wrong |= simulated_module(module, given, pin) != column
    differing = np.flatnonzero(wrong).tolist()
    holds = wanted.keys() <= module.made.keys() and differing == [found.falsified]
    note = FOUND_WRONG if holds else "they differ"
    return Check(name, "random words", COUNT, time.perf_counter() - start, holds, note)


def _columns(rows: tuple[str, ...], pins: list[tuple[str, int]]) -> dict[str, NDArray[np.int64]]:
    columns, place = {}, 0
    for name, bits in pins:
        columns[name] = np.array([int(row[place : place + bits], 2) for row in rows], np.int64)
        place += bits
    return columns
