"""Sums of words and products as signals: what never changes is booked in their constants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.program import CodedInput, CodedOutput
    from boolcomp.targets.gates import Pin
    from boolcomp.targets.target import Names
    from boolcomp.words.graph import Grid


# --------------------------------------------------------------------------------------------------
# Bits of signals side by side, least significant first: what Verilog writes in braces.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wires:
    """So many bits of a signal from its bit `low` on, or their inverses."""

    name: str
    low: int
    bits: int
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """Bits that never change."""

    value: int
    bits: int


Piece: TypeAlias = Wires | Fixed
Word: TypeAlias = tuple[Piece, ...]


def width(word: Word) -> int:
    """Return how many bits a word has."""
    return sum(piece.bits for piece in word)


def joined(pieces: Iterable[Piece]) -> Word:
    """Return pieces side by side; neighbours that are one piece become one, empty ones none."""
    found: list[Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if not piece.bits:
            continue
        if isinstance(piece, Fixed) and isinstance(last, Fixed):
            value = last.value | piece.value << last.bits
            found[-1] = Fixed(value, last.bits + piece.bits)
        elif isinstance(piece, Wires) and isinstance(last, Wires) and _follows(last, piece):
            found[-1] = replace(last, bits=last.bits + piece.bits)
        else:
            found.append(piece)
    return tuple(found)


def _follows(last: Wires, piece: Wires) -> bool:
    together = (last.name, last.inverted) == (piece.name, piece.inverted)
    return together and piece.low == last.low + last.bits


def cut(word: Word, low: int, bits: int) -> Word:
    """Return so many bits of a word from a place on."""
    found: list[Piece] = []
    place = 0
    for piece in word:
        first, last = max(low, place), min(low + bits, place + piece.bits)
        if first < last:
            found.append(_part(piece, first - place, last - first))
        place += piece.bits
    return joined(found)


def _part(piece: Piece, low: int, bits: int) -> Piece:
    if isinstance(piece, Fixed):
        return Fixed(piece.value >> low & ((1 << bits) - 1), bits)
    return replace(piece, low=piece.low + low, bits=bits)


def above(word: Word, low: int) -> Word:
    """Return a word without its lowest bits."""
    return cut(word, low, width(word) - low)


def inverse(word: Word) -> Word:
    """Return the inverse of every bit."""
    return tuple(
        Fixed(piece.value ^ ((1 << piece.bits) - 1), piece.bits)
        if isinstance(piece, Fixed)
        else replace(piece, inverted=not piece.inverted)
        for piece in word
    )


def constant(word: Word) -> int:
    """Return what the bits that never change count."""
    total = place = 0
    for piece in word:
        if isinstance(piece, Fixed):
            total |= piece.value << place
        place += piece.bits
    return total


def varying(word: Word) -> Word:
    """Return a word with 0 where a bit never changes."""
    return joined(Fixed(0, x.bits) if isinstance(x, Fixed) else x for x in word)


def wires_of(word: Word) -> list[Wires]:
    """Return the bits of signals in a word."""
    return [piece for piece in word if isinstance(piece, Wires)]


# --------------------------------------------------------------------------------------------------
# A design as words that are made of words: what Verilog and VHDL at the level of words write.
#
# Every signal is made by one operation; all operations are of unsigned words, but for products. A
# signal has the numbers of the bits of the word that it stands for: one whose lowest bits never
# change begins above them.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Addend:
    """A word in a sum, its lowest bit in a column, all bits inverted where the flips are odd."""

    word: Word
    column: int
    flips: tuple[Wires, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of addends and a constant, modulo 2^bits."""

    addends: tuple[Addend, ...]
    constant: int
    bits: int


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two words of odd numbers, without its lowest bit, which is 1.

    A word of n bits stands for twice its number, less 2^n - 1: all its digits are 1 or -1.
    """

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class Table:
    """An entry of a table."""

    index: Word
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flipped:
    """A word, all bits inverted where the flips are odd."""

    word: Word
    flips: tuple[Wires, ...]


@dataclass(frozen=True, slots=True)
class Different:
    """The bits in which two words differ."""

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class Test:
    """Whether all bits of a word are 1, or any is."""

    of: Literal["all", "any"]
    word: Word


@dataclass(frozen=True, slots=True)
class Choice:
    """One word where a bit is 1, another where it is 0."""

    condition: Wires
    then: Word
    otherwise: Word


Operation: TypeAlias = Sum | Product | Table | Flipped | Different | Test | Choice


@dataclass(frozen=True, slots=True)
class Signal:
    """A name for what an operation makes; its bits are numbered from `low` on.

    `about` are comments. One that stands for a word of a graph begins with the word: `w7: ...`.
    A part of a sum is `kept`: tools would otherwise melt it into the sum, and take more logic.
    """

    name: str
    low: int
    bits: int
    operation: Operation
    about: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """Bits of a signal in a later stage, under the same numbers."""

    name: str
    source: str
    low: int
    bits: int


@dataclass(frozen=True, slots=True)
class Words:
    """A design's signals in order, its registers, and what outputs are made of.

    All names are those of the stage in which they are read. `idle` are the bits that nothing reads;
    `spans` holds the lowest bit and the bits of every signal and register that has more than one.
    """

    module: str
    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    signals: tuple[Signal, ...]
    registers: tuple[Register, ...]
    drives: tuple[Word, ...]
    idle: tuple[Wires, ...]
    stages: int
    spans: dict[str, tuple[int, int]]

    @property
    def flip_flops(self) -> int:
        """How many bits are held between stages."""
        return sum(register.bits for register in self.registers)


def reads(operation: Operation) -> Iterator[Wires]:
    """Yield all bits of signals that an operation reads."""
    if isinstance(operation, Sum):
        for addend in operation.addends:
            yield from wires_of(addend.word)
            yield from addend.flips
    elif isinstance(operation, Product | Different):
        yield from wires_of(operation.a)
        yield from wires_of(operation.b)
    elif isinstance(operation, Table):
        yield from wires_of(operation.index)
    elif isinstance(operation, Choice):
        yield operation.condition
        yield from wires_of(operation.then)
        yield from wires_of(operation.otherwise)
    else:
        yield from wires_of(operation.word)
        yield from operation.flips if isinstance(operation, Flipped) else ()


# --------------------------------------------------------------------------------------------------
# Signals as they are made: one for what is made twice, and an estimate of when it is there.
#
# Time counts in tenths of a table of four inputs with its wires, as on small FPGAs.
# --------------------------------------------------------------------------------------------------


LEVEL = 10  # of one table of four inputs
CARRY = 1  # of a bit of a carry chain


class Books:
    """The signals so far, in order."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.signals: list[Signal] = []
        self.known: dict[tuple[Operation, int], int] = {}
        self.times: dict[str, int] = {}

    def signal(
        self, name: str, bits: int, operation: Operation, about: tuple[str, ...] = (), low: int = 0,
        *, kept: bool = False,
    ) -> Word:  # fmt: skip
        """Return what an operation makes, all its bits; what is known already is not made again."""
        place = self.known.setdefault((operation, low), len(self.signals))
        if place < len(self.signals):
            old = self.signals[place]
            said = (*old.about, *(line for line in about if line not in old.about))
            self.signals[place] = replace(old, about=said, kept=old.kept and not about)
            return (Wires(old.name, low, bits),)
        made = Signal(self.names.new(name, "w"), low, bits, operation, about, kept)
        self.signals.append(made)
        start = max((self.times.get(one.name, 0) for one in reads(operation)), default=0)
        self.times[made.name] = start + delay(operation)
        return (Wires(made.name, low, bits),)

    def bit(self, name: str, operation: Operation) -> Wires:
        """Return what an operation of one bit makes."""
        (made,) = wires_of(self.signal(name, 1, operation))
        return made

    def time(self, word: Word) -> int:
        """Return when all bits of a word are there."""
        return max((self.times.get(one.name, 0) for one in wires_of(word)), default=0)


def delay(operation: Operation) -> int:
    """Return how long an operation takes, about."""
    if isinstance(operation, Sum):
        flips = any(len(addend.flips) > 1 for addend in operation.addends)
        chain = operation.bits * CARRY
        return LEVEL * (_saved(len(operation.addends) + (operation.constant != 0)) + flips) + chain
    if isinstance(operation, Product):
        rows = min(width(operation.a), width(operation.b))
        return LEVEL * (1 + _saved(rows)) + CARRY * (width(operation.a) + width(operation.b))
    if isinstance(operation, Table):
        return LEVEL * max(1, -(-2 * (width(operation.index) - 2) // 3))
    return LEVEL if not isinstance(operation, Flipped) or operation.flips else 0


def _saved(count: int) -> int:
    """Return the levels of full adders that leave two of so many words, and one of the last sum."""
    levels = 1
    while count > 2:
        count = count // 3 * 2 + count % 3
        levels += 1
    return levels


# --------------------------------------------------------------------------------------------------
# Words of ports as cells and back: codes, saturation, and what is zero at rest.
# --------------------------------------------------------------------------------------------------


def cell_of(books: Books, word: Word, code: Code, name: str) -> Word:
    """Return the cell of an input's word."""
    top = code.bits - 1
    sign, size = cut(word, top, 1), cut(word, 0, top)
    about = (f"cell of {name}",)
    if code.kind == "gray":
        shift = 1
        while shift < code.bits:
            moved = joined([*above(word, shift), Fixed(0, shift)])
            word = books.signal(f"{name} cell", code.bits, Different(word, moved), about)
            shift *= 2
        return word
    if code.kind == "twos":
        whole = Flipped(joined([*size, *inverse(sign)]), ())
        return books.signal(f"{name} cell", code.bits, whole, about)
    if code.kind == "sign-magnitude":
        (minus,) = wires_of(sign)
        if code.tread:  # half the cells, and the magnitude or what it lacks to nothing
            addends = (Addend(size, 0, (minus,)), Addend(sign, 0), Addend(sign, top))
            total = Sum(addends, 1 << top, code.bits)
            return books.signal(f"{name} cell", code.bits, total, about)
        low = books.signal(f"{name} size", top, Flipped(size, (minus,))) if top else ()
        whole = Flipped(joined([*low, *inverse(sign)]), ())
        return books.signal(f"{name} cell", code.bits, whole, about)
    return word


def word_of(books: Books, cell: Word, code: Code, name: str) -> Word:
    """Return the word of an output's cell."""
    top = code.bits - 1
    sign, size = inverse(cut(cell, top, 1)), cut(cell, 0, top)
    if code.kind == "gray" and top:
        moved = joined([*above(cell, 1), Fixed(0, 1)])
        return books.signal(f"{name} word", code.bits, Different(cell, moved))
    if code.kind == "twos":
        return joined([*size, *sign])
    if code.kind != "sign-magnitude" or not top:
        return joined([*size, *sign]) if code.kind == "sign-magnitude" else cell
    (minus,) = wires_of(sign)
    if not code.tread:
        return joined([*books.signal(f"{name} size", top, Flipped(size, (minus,))), *sign])
    # The lowest cell is as large as no word can say: it becomes the one above.
    total = Sum((Addend(size, 0, (minus,)), Addend(sign, 0)), 0, code.bits)
    large = books.signal(f"{name} size", code.bits, total)
    lowest = books.bit(f"{name} lowest", Test("all", joined([*sign, *cut(large, top, 1)])))
    most = Choice(lowest, (Fixed((1 << top) - 1, top),), cut(large, 0, top))
    return joined([*books.signal(f"{name} limited", top, most), *sign])


def saturated(books: Books, word: Word, bits: int, name: str) -> tuple[Word, Word]:
    """Return the cell of a sum, and a bit that says whether it lies beyond the cells."""
    left = width(word)
    if left == bits:
        return word, (Fixed(0, 1),)
    top = cut(word, left - 1, 1)
    between = cut(word, bits - 1, left - bits)
    any_one = books.bit(f"{name} any", Test("any", between))
    all_one = books.bit(f"{name} all", Test("all", between))
    over = books.bit(f"{name} over", Test("all", joined([*top, any_one])))
    low = inverse((all_one,))
    under = books.bit(f"{name} under", Test("all", joined([*inverse(top), *low])))
    cell = joined([*cut(word, 0, bits - 1), *top])
    zero, ones = (Fixed(0, bits),), (Fixed((1 << bits) - 1, bits),)
    limited = books.signal(f"{name} from below", bits, Choice(under, zero, cell))
    cell = books.signal(f"{name} cell", bits, Choice(over, ones, limited))
    beyond = books.signal(f"{name} beyond", 1, Test("any", joined([over, under])))
    return cell, beyond


def at_rest(
    books: Books, output: CodedOutput, cells: Mapping[str, Word], inputs: Sequence[CodedInput]
) -> Wires:
    """Return whether all words are zero at which an output rests."""
    zeros: list[Wires] = []
    for word in inputs:
        if word.name not in (output.rest or ()):
            continue
        cell, top = cells[word.name], word.code.bits - 1
        first, rest = cut(cell, top, 1), cut(cell, 0, top)
        if word.code.tread:  # its middle cell, or one of the two beside the middle
            alike = joined([*inverse(rest), *first])
        else:
            (sign,) = wires_of(first)
            alike = (
                books.signal(f"{word.name} about zero", top, Flipped(rest, (sign,))) if top else ()
            )
        if alike:
            zeros.append(books.bit(f"{word.name} zero", Test("all", alike)))
    return books.bit(f"{output.name} rests", Test("all", joined(zeros)))


def resting(
    books: Books, rests: Wires, cell: Word, beyond: Word, output: CodedOutput
) -> tuple[Word, Word]:
    """Return a cell that is the middle one at rest, and whether it lies beyond elsewhere."""
    bits = output.code.bits
    middle = (Fixed(1 << bits >> 1, bits),)
    cell = books.signal(f"{output.name} held", bits, Choice(rests, middle, cell))
    if wires_of(beyond):
        moves = inverse((rests,))
        beyond = books.signal(f"{output.name} beyond", 1, Test("all", joined([*beyond, *moves])))
    return cell, beyond


# --------------------------------------------------------------------------------------------------
# Sums of words and products as signals: what never changes is booked in their constants.
# --------------------------------------------------------------------------------------------------


SMALL = 3  # digits of a factor of which a multiplier is worth its name


def summed(
    books: Books, name: str, about: tuple[str, ...], addends: list[Addend], total: int, bits: int,
    *, haste: int | None = None, named: bool = False,
) -> Word:  # fmt: skip
    """Return the sum of addends and a constant modulo 2^bits.

    What is one word, moved, gets no signal of its own unless it has to be `named`. With some
    `haste` a sum of many is one of pairs (see `in_parts`); with None all are in one.
    """
    kept: list[Addend] = []
    for addend in addends:
        known, left = _settled(addend, bits)
        total += known
        kept += left
    total %= 1 << bits
    if not kept:
        return joined([Fixed(total, bits)])
    low = min(addend.column for addend in kept)
    below = Fixed(total & ((1 << low) - 1), low)
    kept = [replace(addend, column=addend.column - low) for addend in kept]
    total, bits = total >> low, bits - low
    if len(kept) == 1 and not total:
        (only,) = kept  # its column is 0 now
        padding = Fixed(0, bits - width(only.word))
        if not only.flips and not named:
            return joined([below, *only.word, padding])
        word = joined([*only.word, padding])
        if only.flips and padding.bits:
            word = joined([*books.signal(f"{name} row", width(only.word),
                                         Flipped(only.word, only.flips)), padding])  # fmt: skip
        flips = () if padding.bits else only.flips
        return joined([below, *books.signal(name, bits, Flipped(word, flips), about, low)])
    if bits == 1:
        words = [one.word for one in kept]
        odd = [wire for one in kept for wire in one.flips]
        odd += [wire for word in words[1:] for wire in wires_of(word)]
        first = words[0] if not total else inverse(words[0])
        return joined([below, *books.signal(name, 1, Flipped(first, tuple(odd)), about, low)])
    if haste is not None:
        kept = in_parts(books, name, kept, bits, haste)
    made = books.signal(name, bits, Sum(tuple(kept), total, bits), about, low)
    return joined([below, *made])


def _settled(addend: Addend, bits: int) -> tuple[int, list[Addend]]:
    """Return what of an addend is constant, and what is left of it within so many bits."""
    word = cut(addend.word, 0, bits - addend.column) if addend.column < bits else ()
    if not wires_of(word) and not addend.flips:
        return constant(word) << addend.column, []
    if addend.flips:
        return 0, [replace(addend, word=word)] if word else []
    known, column, word = constant(word) << addend.column, addend.column, varying(word)
    first = word[0]
    if isinstance(first, Fixed):  # zeros below are a column, those above are nothing
        word, column = above(word, first.bits), column + first.bits
    if isinstance(word[-1], Fixed):
        word = word[:-1]
    return known, [Addend(word, column)]


def in_parts(
    books: Books, name: str, addends: list[Addend], bits: int, haste: int, most: int = 2
) -> list[Addend]:
    """Add up pairs of addends until few enough are left; no part of a sum wraps before it.

    Of all pairs that comes first whose sum takes fewest full adders; `haste` says how many of these
    in a hundred a tenth of a level of delay is worth.
    """
    waiting = list(addends)
    while len(waiting) > most:
        few = min(combinations(waiting, 2), key=lambda pair: _price(books, pair, bits, haste))
        for one in few:
            waiting.remove(one)
        low = min(addend.column for addend in few)
        reach = sum(((1 << width(one.word)) - 1) << (one.column - low) for one in few)
        wide = min(reach.bit_length(), bits - low)
        pair = tuple(replace(addend, column=addend.column - low) for addend in few)
        part = books.signal(f"{name} part", wide, Sum(pair, 0, wide), kept=True)
        waiting.append(Addend(part, low))
    return waiting


def _price(books: Books, pair: Sequence[Addend], bits: int, haste: int) -> int:
    top = max(one.column + width(one.word) for one in pair) + 1
    adders = min(bits, top) - max(one.column for one in pair)
    return 100 * adders + haste * (max(_time(books, one) for one in pair) + CARRY * adders)


def _time(books: Books, addend: Addend) -> int:
    return books.time((*addend.word, *addend.flips))


def product_rows(
    grid: Grid, a: Word, b: Word, sign: tuple[Wires, ...], *, negative: bool
) -> list[Addend]:
    """Return the rows of partial products: a digit of the shorter word leaves or inverts the other.

    Words are without what they drop; `sign` says where all digits of the two differ once more.
    """
    if grid.a > grid.b:
        grid, a, b = grid.swapped, b, a
    rows = []
    for place, row in grid.rows():
        (digit,) = cut(a, place - grid.drop_a, 1)
        word = cut(b, row.drop - grid.drop_b, row.bits)
        alike = not negative
        if isinstance(digit, Fixed):
            flips, alike = sign, alike ^ (digit.value == 1)
        else:
            flips = (digit, *sign)
        rows.append(Addend(inverse(word) if alike else word, row.column, flips))
    return rows


def whole_product(
    books: Books, name: str, a: Word, b: Word, column: int, *, negative: bool
) -> tuple[Addend, int]:
    """Return all partial products as one multiplication, and a constant.

    Of words a, b of n, m bits the digits that agree count u + 1 - 2^(n-1) - 2^(m-1), where u is the
    product of their odd numbers, without its lowest bit and with its sign inverted; those that
    differ count the same of the inverse of u.
    """
    n, m = width(a), width(b)
    made = books.signal(f"{name} product", n + m + 2, Product(a, b))
    word = (*cut(made, 1, n + m - 1), *inverse(cut(made, n + m, 1)))
    known = 1 - (1 << n - 1) - (1 << m - 1)
    return Addend(inverse(word) if negative else word, column), known << column


def multiplies(grid: Grid, a: Word, b: Word) -> bool:
    """Tell whether a product is written as one: nothing of it is discarded, or constant."""
    fixed = any(isinstance(piece, Fixed) for piece in (*a, *b))
    return grid.column >= 0 and min(grid.a, grid.b) >= SMALL and not fixed
