"""Word graphs as code of machines that multiply signed numbers and wrap at the width of a type.

The digits of a word are ±1; so a word of n bits k is the odd number 2k - (2^n - 1), and a product
of two words, all of it, is one multiplication of those. Sums are kept times a power of two, chosen
such that products need not be moved, and that what is read of them begins at a byte; above their
own bits they may hold anything. Tables hold what is made of them: odd numbers where products read
them, and elsewhere as far to the left as the sum wants them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from boolcomp.targets.expressions import (
    Entry,
    Expression,
    Low,
    Moved,
    Multiple,
    Name,
    Number,
    Signed,
    Wrapped,
    moved,
)
from boolcomp.targets.procedure import Maker, Step
from boolcomp.targets.products import product
from boolcomp.words.graph import Angles, Bits, Heap, InputWord, Lookup, PartialProducts, reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.targets.names import Names
    from boolcomp.words.graph import Node, WordGraph

SIZES = (8, 16, 32, 64)
LEFT = (0, 2, 4, 6, 8, 9, 8, 5)  # cycles of an 8-bit machine to move 16 bits by so many
TURN = 16  # bits of a turn
WIDEST_TABLE = 8  # index bits of a table of several multiples of a word


@dataclass(frozen=True, slots=True)
class Held:
    """A sum as it is kept: times 2^by, in so many bits, of a type of `kind` bits."""

    name: Name
    by: int
    bits: int

    @property
    def modulus(self) -> int:
        """The bits that count."""
        return self.by + self.bits


def size_of(bits: int) -> int:
    """Return the bits of the smallest type that holds so many."""
    return next(size for size in SIZES if bits <= size)


def moving(by: int, kind: int) -> float:
    """Return about how many cycles of an 8-bit machine it takes to move by so many bits."""
    octets, rest = divmod(abs(by), 8)
    return (LEFT[rest] if octets == 0 else octets + rest) * (kind / 16)


class NaturalMaker(Maker):
    """Makes sums of signed products."""

    def __init__(self, graph: WordGraph, names: Names) -> None:
        super().__init__(graph, names)
        self.held: dict[int, Held] = {}
        self.turns: dict[int, Name] = {}
        self.turned = self._is_turned()
        self.meanings: list[str] = []
        self.signed: dict[tuple[int, int], Expression] = {}
        self.entries: dict[tuple[int, tuple[int, ...]], Expression] = {}
        self.readers = [0] * len(graph.nodes)
        for node in graph.nodes:
            for place in set(reads(node)):
                self.readers[place] += 1

    def word(self, node: Node, meaning: str) -> None:
        """Give a node of the graph a name."""
        place = len(self.words)
        self.meanings += [""] * (place - len(self.meanings)) + [meaning]
        fixed = all(isinstance(self.words[k], Number) for k in reads(node))
        if self.turned and isinstance(node, Angles) and not fixed:
            self._hold(TURN - node.bits, self.angles(node), node, meaning)
            return
        if not isinstance(node, Heap) or fixed:
            super().word(node, meaning)
            return
        made = self._sum(node, self._by(place, node))
        if isinstance(made, Number):
            self.words.append(Number(made.value))
            return
        self._hold(*made, node, meaning)

    def _hold(self, by: int, value: Expression, node: Node, meaning: str) -> None:
        """Keep a word so far to the left."""
        place = len(self.words)
        kind = max(16, size_of(by + node.bits))
        name = self.names.new(meaning, "w")
        self.steps.append(Step(name, kind, value, meaning, loose=True))
        self.held[place] = Held(Name(name, kind), by, node.bits)
        self.words.append(self.leading(place, 0))

    def leading(self, place: int, drop: int) -> Expression:
        """Return a word without its lowest bits."""
        node = self.graph.nodes[place]
        if self.turned and isinstance(node, InputWord) and node.angle and node.bits - drop <= 8:
            return moved(self._turned(place), node.bits - drop - TURN)
        if place not in self.held:
            return super().leading(place, drop)
        held = self.held[place]
        return Low(moved(held.name, -(held.by + drop)), held.bits - drop)

    def angles(self, node: Angles) -> Expression:
        """Return a sum of turns: of 16 bits whatever it has, where that is cheaper."""
        if not self.turned:
            return super().angles(node)
        constant, parts = node.constant << (TURN - node.bits), list[tuple[bool, Expression]]()
        for turn in node.turns:
            part: Expression = self._turned(turn.node)
            if turn.read < self.graph.nodes[turn.node].bits:
                part = Moved(Moved(part, turn.read - TURN), TURN - turn.read)
            by = turn.shift + turn.read - node.bits
            if by < 0 and turn.node in self.held:  # what lies above a turn must not come down
                part = Low(part, TURN)
            parts.append((turn.negative, Moved(part, by) if by else part))
            whole = (1 << turn.read) - 1
            constant += whole << (turn.shift + TURN - node.bits) if turn.negative else 0
        parts.sort(key=lambda pair: pair[0])
        return Wrapped(tuple(parts), constant % (1 << TURN), TURN)

    def _turned(self, place: int) -> Name:
        """Return an angle as a part of a turn in 16 bits."""
        if place in self.held:
            return self.held[place].name
        if place not in self.turns:
            word = self.words[place]
            bits = self.graph.nodes[place].bits
            made = self.step(f"{self._about(place)} turn", TURN, moved(_plain(word), TURN - bits))
            if not isinstance(made, Name):
                raise TypeError("an angle that is a constant")
            self.turns[place] = made
        return self.turns[place]

    def moving(self, by: int, kind: int) -> float:
        """Return what it costs to move a value of so many bits."""
        return moving(by, kind)

    def read_at(self, by: int, kind: int) -> float:
        """Return what it costs to read a value from a bit on: whole bytes come for nothing."""
        return moving(min(by % 8, 8) if by >= 8 else by, kind)

    def _is_turned(self) -> bool:
        """Tell whether angles are cheaper as 16 bits: tables then begin at a byte."""
        nodes = self.graph.nodes
        angles = {k for k, n in enumerate(nodes) if isinstance(n, InputWord) and n.angle}
        sums = {k for k, n in enumerate(nodes) if isinstance(n, Angles)}
        if any(nodes[k].bits > TURN for k in angles | sums):
            return False
        plain, turned = 2.0 * len(sums), 8.0 * len(angles)
        for node in nodes:
            if isinstance(node, Lookup) and node.source in angles | sums:
                plain += moving(nodes[node.source].bits - node.read, 16)
                turned += 8 - node.read if node.read <= 8 else moving(TURN - node.read, 16)
        return turned < plain

    def _by(self, place: int, node: Heap) -> int:
        """Return by how much a sum is kept to the left: what is moved least, in and out."""
        whole = any(
            isinstance(part, PartialProducts) and part.layout(self.graph.nodes).column >= 0
            for part in node.parts
        )
        least = 1 if whole else 0
        kind = max(16, size_of(node.bits + least))
        choices = range(least, kind - node.bits + 1)
        return min(choices, key=lambda by: (self._moves(place, node, by, kind), by))

    def _moves(self, place: int, node: Heap, by: int, kind: int) -> float:
        """Return what is moved where a sum is kept so far to the left."""
        cost = 0.0
        for part in node.parts:
            column = part.layout(self.graph.nodes).column
            if isinstance(part, PartialProducts):
                cost += self.moving(max(0, column) + by - 1, kind)
            elif part.node in self.held and not part.drop:
                cost += self.moving(column + by - self.held[part.node].by, kind)
            elif not isinstance(self.graph.nodes[part.node], Lookup):
                cost += self.moving(column + by, kind)
        return cost + sum(self.read_at(shift, kind) for shift in self._shifts(place, by))

    def _shifts(self, place: int, by: int) -> Iterator[int]:
        """Yield by how much a sum is moved where it is read."""
        bits = self.graph.nodes[place].bits
        for result in self.graph.results:
            if result.node == place:
                yield by + result.drop
        for node in self.graph.nodes:
            if isinstance(node, Lookup) and node.source == place:
                yield by + bits - node.read
            for part in node.parts if isinstance(node, Heap) else ():
                if isinstance(part, PartialProducts):
                    if part.a == place:
                        yield by - 1 + part.drop_a
                    if part.b == place:
                        yield by - 1 + part.drop_b

    def _sum(self, node: Heap, by: int) -> tuple[int, Expression] | Number:
        """Return a sum, kept so far to the left."""
        modulus = by + node.bits
        constant, parts = node.constant << by, list[tuple[bool, Expression]]()
        tables: list[tuple[int, tuple[int, ...]]] = []
        words = sorted((p for p in node.parts if isinstance(p, Bits)), key=lambda p: p.node)
        for place, several in groupby(words, key=lambda part: part.node):
            rows = list(several)
            constant += sum(p.layout(self.graph.nodes).weight << by for p in rows if p.negative)
            if entries := self._tabled(place, rows, by, modulus):
                tables.append((place, entries))
            else:
                parts += self._rows(place, rows, by)
        for one in node.parts:
            if isinstance(one, PartialProducts):
                part, more = self._product(one, by)
                constant += more
                parts.append((one.negative, part))
        numbers = [(negative, p.value) for negative, p in parts if isinstance(p, Number)]
        constant += sum(-value if negative else value for negative, value in numbers)
        own = [k for k, (place, made) in enumerate(tables) if self._is_own(place, made)]
        if own:  # what is always added is added in a table that nobody else reads
            place, made = tables[own[0]]
            tables[own[0]] = place, tuple((x + constant) % (1 << modulus) for x in made)
            constant = 0
        parts = [pair for pair in parts if not isinstance(pair[1], Number)]
        parts = [*((False, self._entry(*table, "")) for table in tables), *parts]
        if not parts:
            return Number((constant >> by) % (1 << node.bits))
        kind = max(16, size_of(modulus))
        parts.sort(key=lambda pair: pair[0])  # what is added comes first
        return by, Wrapped(tuple(parts), constant % (1 << modulus), kind)

    def _is_own(self, place: int, made: tuple[int, ...]) -> bool:
        """Tell whether only one sum reads a table, whose entries are no bytes."""
        lookup = isinstance(self.graph.nodes[place], Lookup)
        return lookup and self.readers[place] == 1 and max(made) > 255

    def _tabled(self, place: int, rows: list[Bits], by: int, modulus: int) -> tuple[int, ...]:
        """Return a table of what a word adds to a sum: of tables, and of digits of narrow words."""
        node = self.graph.nodes[place]
        lookup = isinstance(node, Lookup) and len(set(node.entries)) > 1
        small = len(rows) > 1 and node.bits <= WIDEST_TABLE and any(row.drop for row in rows)
        if isinstance(self.words[place], Number) or not (lookup or small):
            return ()
        layouts = [(row.negative, row.layout(self.graph.nodes)) for row in rows]
        return tuple(
            sum(
                (-1 if negative else 1) * (entry >> row.drop << (row.column + by))
                for negative, row in layouts
            )
            % (1 << modulus)
            for entry in (node.entries if isinstance(node, Lookup) else range(1 << node.bits))
        )

    def _rows(self, place: int, rows: list[Bits], by: int) -> Iterator[tuple[bool, Expression]]:
        """Yield what a word adds to a sum; digits of a constant together, if nothing is dropped."""
        word = self.words[place]
        layouts = [(row.negative, row.layout(self.graph.nodes)) for row in rows]
        if not any(row.drop for row in rows) and not isinstance(word, Number):
            factor = sum((-1 if negative else 1) << row.column for negative, row in layouts)
            if not factor:
                return
            value, shift = word, by
            if place in self.held:
                held = self.held[place]
                value, shift = Low(held.name, held.modulus), by - held.by
            low = (abs(factor) & -abs(factor)).bit_length() - 1
            odd, low = abs(factor) >> low, low + shift
            if odd == 1:
                yield factor < 0, moved(value, low)
                return
            if low >= 0:
                yield factor < 0, Multiple(value, odd << low)
                return
        for negative, row in layouts:
            yield negative, moved(self.leading(place, row.drop), row.column + by)

    def _product(self, part: PartialProducts, by: int) -> tuple[Expression, int]:
        """Return what a product adds, and a constant beside it."""
        grid = part.layout(self.graph.nodes)
        full = ((1 << grid.a) - 1) * ((1 << grid.b) - 1)
        a, b = self.words[part.a], self.words[part.b]
        if grid.column >= 0 and not isinstance(a, Number) and not isinstance(b, Number):
            first, a_bits = self._factor(part.a, part.drop_a)
            second, b_bits = self._factor(part.b, part.drop_b)
            value = moved(Signed(first, a_bits, second, b_bits), grid.column + by - 1)
            return value, full << (grid.column + by - 1)
        column = max(0, grid.column)
        value, most = product(
            self, self.leading(part.a, grid.drop_a), grid.a,
            self.leading(part.b, grid.drop_b), grid.b, column - grid.column,
        )  # fmt: skip
        return moved(value, column + by), (most << (column + by)) * part.negative

    def _factor(self, place: int, drop: int) -> tuple[Expression, int]:
        """Return a word as an odd number in two's complement, and the bits of its type."""
        node = self.graph.nodes[place]
        bits = node.bits - drop
        size = size_of(bits + 1)
        key = (place, drop)
        if key not in self.signed:
            self.signed[key] = self._made_factor(place, drop, size)
        return self.signed[key], size

    def _made_factor(self, place: int, drop: int, size: int) -> Expression:
        node = self.graph.nodes[place]
        bits, about = node.bits - drop, f"{self._about(place)} signed"
        middle = (1 << bits) - 1
        if isinstance(node, Lookup) and node.entries != tuple(range(len(node.entries))):
            entries = tuple((2 * (e >> drop) - middle) % (1 << size) for e in node.entries)
            return self._entry(place, entries, " signed", size)
        doubled = moved(self.leading(place, drop), 1)
        if place in self.held and not drop and self.held[place].by:
            held = self.held[place]
            doubled = moved(held.name, 1 - held.by)
            if bits + 1 < size:
                doubled = Low(doubled, bits + 1)
        value = Wrapped(((False, doubled),), -middle % (1 << size), size)
        return self.step(about, size, value)

    def _entry(self, place: int, entries: tuple[int, ...], about: str, size: int = 0) -> Expression:
        """Return an entry of a table of a word, or of what another table makes of one."""
        if (place, entries) not in self.entries:
            node = self.graph.nodes[place]
            text = f"{self._about(place)}{about}"
            if isinstance(node, Lookup):
                value = super().lookup(replace(node, entries=entries), text)
            else:
                value = Entry(self.table(text, entries), self.words[place], max(entries))
            bits = size or max(entries).bit_length()
            self.entries[place, entries] = self.step(text, bits, value)
        return self.entries[place, entries]

    def _about(self, place: int) -> str:
        node = self.graph.nodes[place]
        return node.name if isinstance(node, InputWord) else self.meanings[place]


def _plain(word: Expression) -> Expression:
    """Return a word with what a larger type would take off left to it."""
    return word.of if isinstance(word, Low) else word


class WideNaturalMaker(NaturalMaker):
    """The same for machines of 32 bits, which move by any number of bits, or while they add.

    Only a product that is not moved is added as it is multiplied.
    """

    def moving(self, by: int, kind: int) -> float:  # noqa: ARG002 (one register holds all)
        """Return what it costs to move a value."""
        return 1.0 if by else 0.0

    def read_at(self, by: int, kind: int) -> float:  # noqa: ARG002 (it is masked anyway)
        """Return what it costs to read a value from a bit on."""
        return 0.5 if by else 0.0
