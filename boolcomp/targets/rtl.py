"""Programs as signals of a hardware description: gates, sums, products, tables, registers.

A gate is a signal of one bit. Every word of a graph is a signal of its name, unless it is constant
or a shifted word. Symmetric tables are stored once and folded (reflected index, sign). Products
take a table without its sign, and the sign separately.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from boolcomp.base.errors import UsageError
from boolcomp.logic.network import CONSTANTS
from boolcomp.problem.word_codes import Step
from boolcomp.targets.delays import delays_of
from boolcomp.targets.stages import Readers, StagePlan
from boolcomp.targets.target import (
    CONTROLS,
    SELECT,
    Level,
    Names,
    frame_of,
    why_no_graph,
    word_notes,
)
from boolcomp.words.simulation import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.program.program import CodedInput, CodedOutput, Load, Program
    from boolcomp.targets.clock import ClockGoal
    from boolcomp.targets.delays import Delays
    from boolcomp.targets.target import Design, Frame
    from boolcomp.words.graph import (
        Angles,
        Bits,
        Grid,
        Heap,
        InputWord,
        Lookup,
        PartialProducts,
        WordGraph,
    )

# --------------------------------------------------------------------------------------------------
# Concatenations of bits of signals, least significant first.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wires:
    """Bits of a signal from bit `low` on, or their inverses."""

    name: str
    low: int
    bits: int
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Fixed:
    """Constant bits."""

    value: int
    bits: int


Piece: TypeAlias = Wires | Fixed
Word: TypeAlias = tuple[Piece, ...]


def width(word: Word) -> int:
    return sum(piece.bits for piece in word)


def joined(pieces: Iterable[Piece]) -> Word:
    """Return the concatenation of pieces; adjacent pieces of one signal are merged."""
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
    """Return `bits` bits of a word from a place on."""
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
    return cut(word, low, width(word) - low)


def inverse(word: Word) -> Word:
    return tuple(
        Fixed(piece.value ^ ((1 << piece.bits) - 1), piece.bits)
        if isinstance(piece, Fixed)
        else replace(piece, inverted=not piece.inverted)
        for piece in word
    )


def constant(word: Word) -> int:
    """Return the value of the constant bits; others count as 0."""
    total = place = 0
    for piece in word:
        if isinstance(piece, Fixed):
            total |= piece.value << place
        place += piece.bits
    return total


def varying(word: Word) -> Word:
    return joined(Fixed(0, x.bits) if isinstance(x, Fixed) else x for x in word)


def wires_of(word: Word) -> list[Wires]:
    return [piece for piece in word if isinstance(piece, Wires)]


# --------------------------------------------------------------------------------------------------
# A design as signals. Every signal is the result of one operation; operands are unsigned except in
# products. Bits of a signal have the numbers of its word: a signal without the constant lowest bits
# begins above them.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Gate:
    """A table of single bits, as in `logic.network`: the first operand is most significant."""

    lut: int
    operands: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class SignalAddend:
    """A word shifted to a column, inverted if the parity of `flips` is odd."""

    word: Word
    column: int
    flips: tuple[Wires, ...] = ()


@dataclass(frozen=True, slots=True)
class SignalSum:
    """The sum of addends and a constant, modulo 2^bits."""

    addends: tuple[SignalAddend, ...]
    constant: int
    bits: int


@dataclass(frozen=True, slots=True)
class OddProduct:
    """The product of the odd numbers of two words, without its lowest bit, which is 1.

    The odd number of a word of n bits is twice its value minus 2^n - 1: all digits are 1 or -1.
    """

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class TableLookup:
    """An entry of a table."""

    index: Word
    entries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Flipped:
    """A word, inverted if the parity of `flips` is odd."""

    word: Word
    flips: tuple[Wires, ...]


@dataclass(frozen=True, slots=True)
class BitwiseXor:
    """The bitwise difference of two words."""

    a: Word
    b: Word


@dataclass(frozen=True, slots=True)
class Test:
    """Whether all bits of a word are 1, or any bit is."""

    of: Literal["all", "any"]
    word: Word


@dataclass(frozen=True, slots=True)
class Select:
    """One word if a bit is 1, another if it is 0."""

    condition: Wires
    then: Word
    otherwise: Word


Operation: TypeAlias = (
    Gate | SignalSum | OddProduct | TableLookup | Flipped | BitwiseXor | Test | Select
)


@dataclass(frozen=True, slots=True)
class Signal:
    """A name for the result of an operation; its bits are numbered from `low` on.

    `about` are comments. That of a word of a graph begins with its name: `w7: ...`. A part of a
    sum is `kept`: tools would otherwise merge it into the sum, and need more logic.
    """

    name: str
    low: int
    bits: int
    operation: Operation
    about: tuple[str, ...] = ()
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Register:
    """Bits of a signal in a later stage, with the same numbers."""

    name: str
    source: str
    low: int
    bits: int


@dataclass(frozen=True, slots=True)
class RtlModule:
    """A design's signals in order, its registers, and the drivers of its outputs.

    Operands have the names of the stage that reads them. `idle` are the unused bits; `spans` holds
    the lowest bit and the width of every signal and register. `stages` 0 is combinational: no
    clock, no control ports.
    """

    level: Level
    frame: Frame
    signals: tuple[Signal, ...]
    drives: tuple[Word, ...]
    registers: tuple[Register, ...] = ()
    idle: tuple[Wires, ...] = ()
    stages: int = 0
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    clock: float = 0.0  # MHz, estimated for a goal

    @property
    def inputs(self) -> tuple[Wires, ...]:
        """The parts of inputs that registers hold: single bits for gates, else whole words."""
        whole = [Wires(pin.name, 0, pin.port.bits) for pin in self.frame.inputs]
        if self.level == "words":
            return tuple(whole)
        return tuple(Wires(x.name, k, 1) for x in whole for k in reversed(range(x.bits)))

    @property
    def pipeline(self) -> tuple[str, ...]:
        """Comments on the stages."""
        flip_flops, stages = sum(one.bits for one in self.registers), self.stages
        size = f"{stages} stages, {flip_flops} flip-flops and {stages} of valid"
        late = f"an output belongs to the inputs of {stages} clocks before; no reset"
        moves = "while enable is 1 the pipeline moves on, valid_in comes along"
        return (f"{size}: {late}", moves) if stages else ()


def renamed(part: Any, at: Callable[[Wires], tuple[Wires, ...]]) -> Any:
    """Return an operation, or a part of one, with its wires mapped by `at`."""
    if isinstance(part, Wires):
        (wire,) = at(part)
        return wire
    if isinstance(part, tuple):
        each = (at(one) if isinstance(one, Wires) else (renamed(one, at),) for one in part)
        return tuple(one for found in each for one in found)
    if isinstance(part, SignalAddend | Operation):
        before = {name: getattr(part, name) for name in part.__slots__}
        after = {name: renamed(one, at) for name, one in before.items()}
        return part if after == before else replace(part, **after)
    return part


def reads(operation: Operation) -> list[Wires]:
    """Return all operands of an operation."""
    found: list[Wires] = []

    def note(wire: Wires) -> tuple[Wires]:
        found.append(wire)
        return (wire,)

    renamed(operation, note)
    return found


# --------------------------------------------------------------------------------------------------
# The table of signals: equal operations share a signal. Each has an estimated arrival time in ps.
# --------------------------------------------------------------------------------------------------

USUAL = replace(delays_of("ice40"), about="tables of four inputs")  # where no device is named
DELAY_WEIGHTS = (2, 30, 300)  # candidates for modules in stages


class Books:
    """The signals so far, in order.

    Addends of sums are paired by their cost (see `in_parts`): `delay_weight` is the cost of 100 ps
    in hundredths of a full adder. With `rows` a row of partial products is a signal, such that a
    register may follow it.
    """

    def __init__(
        self, names: Names, delays: Delays = USUAL, delay_weight: int = DELAY_WEIGHTS[0], *,
        rows: bool = False,
    ) -> None:  # fmt: skip
        self.names, self.delays, self.delay_weight, self.rows = names, delays, delay_weight, rows
        self.signals: list[Signal] = []
        self.known: dict[tuple[Operation, int], int] = {}
        self.times: dict[str, int] = {}

    def signal(
        self, name: str, bits: int, operation: Operation, about: tuple[str, ...] = (), low: int = 0,
        *, kept: bool = False,
    ) -> Word:  # fmt: skip
        """Return the result of an operation, all its bits; a known operation is shared."""
        place = self.known.setdefault((operation, low), len(self.signals))
        if place < len(self.signals):
            old = self.signals[place]
            merged = (*old.about, *(line for line in about if line not in old.about))
            self.signals[place] = replace(old, about=merged, kept=old.kept and not about)
            return (Wires(old.name, low, bits),)
        made = Signal(self.names.new(name, "w"), low, bits, operation, about, kept)
        self.signals.append(made)
        start = max((self.times.get(one.name, 0) for one in reads(operation)), default=0)
        self.times[made.name] = start + delay(operation, self.delays)
        return (Wires(made.name, low, bits),)

    def bit(self, name: str, operation: Operation) -> Wires:
        """Return the result of an operation of one bit."""
        (made,) = wires_of(self.signal(name, 1, operation))
        return made

    def time(self, word: Word) -> int:
        return max((self.times.get(one.name, 0) for one in wires_of(word)), default=0)


def delay(operation: Operation, delays: Delays = USUAL) -> int:
    """Return the estimated delay of an operation in ps, with the wires to it."""
    level, inputs = delays.level, delays.inputs
    if isinstance(operation, SignalSum):
        ones = [width(x.word) == 1 for x in operation.addends]
        words = len(ones) - (any(ones) and len(ones) > 2)  # an addend of one bit is a carry
        flips = any(addend.flips for addend in operation.addends)
        levels = _saved(words + (operation.constant > 1)) - 1 + flips
        return level * levels + delays.sum(operation.bits)
    if isinstance(operation, OddProduct):
        a, b = width(operation.a), width(operation.b)
        return level * _saved(min(a, b)) + delays.sum(a + b)
    if isinstance(operation, TableLookup):
        return level * max(1, 1 + -(-2 * (width(operation.index) - inputs) // 3))
    if isinstance(operation, Test):
        return level * max(1, -(-(width(operation.word) - 1) // (inputs - 1)))
    return level if not isinstance(operation, Flipped) or operation.flips else 0


def _saved(count: int) -> int:
    """Return the levels of a carry-save adder tree of `count` words, and one of the last sum."""
    levels = 1
    while count > 2:
        count = count // 3 * 2 + count % 3
        levels += 1
    return levels


# --------------------------------------------------------------------------------------------------
# Words of ports as cells and back: codes, saturation, and zero at rest.
# --------------------------------------------------------------------------------------------------


def cell_of(books: Books, word: Word, code: Code, name: str) -> Word:
    """Return the cell of an input's word."""
    top = code.bits - 1
    about = (f"cell of {name}",)
    for step in reversed(code.steps):
        if step is Step.FOLD:
            shift = 1
            while shift < code.bits:
                moved = joined([*above(word, shift), Fixed(0, shift)])
                word = books.signal(f"{name} cell", code.bits, BitwiseXor(word, moved), about)
                shift *= 2
            continue
        sign, size = cut(word, top, 1), cut(word, 0, top)
        (minus,) = wires_of(sign)
        if step is Step.MAGNITUDE and top and not code.tread:
            size = books.signal(f"{name} size", top, Flipped(size, (minus,)))
        made: Operation = Flipped(joined([*size, *inverse(sign)]), ())
        if step is Step.MAGNITUDE and code.tread:  # half the cells, plus or minus the magnitude
            signs = (SignalAddend(sign, 0), SignalAddend(sign, top))
            made = SignalSum((SignalAddend(size, 0, (minus,)), *signs), 1 << top, code.bits)
        word = books.signal(f"{name} cell", code.bits, made, about)
    return word


def word_of(books: Books, cell: Word, code: Code, name: str) -> Word:
    """Return the word of an output's cell."""
    top = code.bits - 1
    for step in code.steps:
        sign, size = inverse(cut(cell, top, 1)), cut(cell, 0, top)
        (minus,) = wires_of(sign)
        if step is Step.FOLD and top:
            moved = joined([*above(cell, 1), Fixed(0, 1)])
            cell = books.signal(f"{name} word", code.bits, BitwiseXor(cell, moved))
        if step is Step.FOLD:
            continue
        if step is Step.MAGNITUDE and code.tread:
            # No word has the magnitude of the lowest cell: it becomes the cell above.
            addends = (SignalAddend(size, 0, (minus,)), SignalAddend(sign, 0))
            large = books.signal(f"{name} size", code.bits, SignalSum(addends, 0, code.bits))
            lowest = books.bit(f"{name} lowest", Test("all", joined([*sign, *cut(large, top, 1)])))
            most = Select(lowest, (Fixed((1 << top) - 1, top),), cut(large, 0, top))
            size = books.signal(f"{name} limited", top, most)
        elif step is Step.MAGNITUDE and top:
            size = books.signal(f"{name} size", top, Flipped(size, (minus,)))
        cell = joined([*size, *sign])
    return cell


def saturated(books: Books, word: Word, bits: int, name: str) -> tuple[Word, Word]:
    """Return the cell of a sum, and a bit that tells whether the sum is out of range."""
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
    limited = books.signal(f"{name} from below", bits, Select(under, zero, cell))
    cell = books.signal(f"{name} cell", bits, Select(over, ones, limited))
    beyond = books.signal(f"{name} beyond", 1, Test("any", joined([over, under])))
    return cell, beyond


def at_rest(
    books: Books, output: CodedOutput, cells: Mapping[str, Word], inputs: Sequence[CodedInput]
) -> Wires:
    """Return whether all inputs that hold an output at rest are zero."""
    zeros: list[Wires] = []
    for word in inputs:
        if word.name not in (output.rest or ()):
            continue
        cell, top = cells[word.name], word.code.bits - 1
        first, rest = cut(cell, top, 1), cut(cell, 0, top)
        if word.code.tread:  # zero is the middle cell, else the two cells around the middle
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
    """Return the middle cell at rest, else a cell, and whether it is out of range."""
    bits = output.code.bits
    middle = (Fixed(1 << bits >> 1, bits),)
    cell = books.signal(f"{output.name} held", bits, Select(rests, middle, cell))
    if wires_of(beyond):
        moves = inverse((rests,))
        beyond = books.signal(f"{output.name} beyond", 1, Test("all", joined([*beyond, *moves])))
    return cell, beyond


# --------------------------------------------------------------------------------------------------
# Sums of words and products as signals; constant bits are added to their constants.
# --------------------------------------------------------------------------------------------------

SMALL = 3  # digits of the shorter factor from which on a multiplier pays


def summed(
    books: Books,
    name: str,
    about: tuple[str, ...],
    addends: list[SignalAddend],
    total: int,
    bits: int,
    *,
    named: bool = False,
) -> Word:
    """Return the sum of addends and a constant modulo 2^bits.

    A single shifted word gets no signal of its own unless it has to be `named`.
    """
    kept: list[SignalAddend] = []
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
    kept, total = in_parts(books, name, kept, bits, total)
    made = books.signal(name, bits, SignalSum(tuple(kept), total, bits), about, low)
    return joined([below, *made])


def within(addend: SignalAddend, bits: int) -> SignalAddend:
    """Return the part of an addend below column `bits`; the addend begins below it."""
    return replace(addend, word=cut(addend.word, 0, bits - addend.column))


def _settled(addend: SignalAddend, bits: int) -> tuple[int, list[SignalAddend]]:
    """Return the constant part of an addend, and its variable part within `bits` bits."""
    word = within(addend, bits).word if addend.column < bits else ()
    if not wires_of(word) and not addend.flips:
        return constant(word) << addend.column, []
    if addend.flips:
        return 0, [replace(addend, word=word)] if word else []
    known, column, word = constant(word) << addend.column, addend.column, varying(word)
    first = word[0]
    if isinstance(first, Fixed):  # zeros below become a column, zeros above are dropped
        word, column = above(word, first.bits), column + first.bits
    if isinstance(word[-1], Fixed):
        word = word[:-1]
    return known, [SignalAddend(word, column)]


class Pending(NamedTuple):
    """A word that waits to be added: an addend, or the sum of `parts`.

    Its bits are in columns from `column` to below `top`, its largest value is `reach` there.
    `cells` are the full adders in it; `time` is when it arrives.
    """

    column: int
    top: int
    reach: int
    cells: int
    time: int
    addend: SignalAddend | None = None
    parts: tuple[Pending, ...] = ()


def in_parts(
    books: Books, name: str, addends: list[SignalAddend], bits: int, total: int = 0
) -> tuple[list[SignalAddend], int]:
    """Add addends in pairs until two are left; return them and the rest of a constant.

    The low bits of the constant are an addend of a pair. Its high bits are the zeros above one of
    the last addends. The lowest bit is the carry into the last adder.
    """
    terms = [_term(books, addend) for addend in addends]
    ones = total & 1 if len(addends) > 1 else 0
    total -= ones
    found: list[tuple[int, int, list[Pending], int, list[int]]] = []
    for low in dict.fromkeys(total & ((1 << place) - 1) for place in range(bits + 1)):
        left = _paired(books, [*terms, *_constant(books, low)], bits)
        fill = [k for k, one in enumerate(left) if not (total - low) & ((1 << one.top) - 1)]
        fill = [k for k in fill if _plain(left[k])]
        if fill or low == total:
            whole = _added(books, left, bits)
            price = 10_000 * whole.cells + books.delay_weight * whole.time
            found.append((price, len(found), left, total - low, fill))
    _, _, left, high, fill = min(found)
    made = [_made(books, name, one, bits) for one in left]
    if high:
        one, top = made[fill[0]], left[fill[0]].top
        filled = [*one.word, Fixed(high >> top, bits - top)]
        made[fill[0]] = replace(one, word=joined(filled))
    ones += sum(constant(x.word) << x.column for x in made if not wires_of(x.word))
    return [x for x in made if wires_of(x.word)], ones


def _term(books: Books, addend: SignalAddend) -> Pending:
    bits = width(addend.word)
    reach = (1 << bits) - 1 if wires_of(addend.word) else constant(addend.word)
    time = books.time((*addend.word, *addend.flips))
    return Pending(addend.column, addend.column + bits, reach, 0, time, addend)


def _constant(books: Books, value: int) -> list[Pending]:
    """Return a constant as a term; none for 0."""
    column = (value & -value).bit_length() - 1
    word = (Fixed(value >> max(0, column), value.bit_length() - column),)
    return [_term(books, SignalAddend(word, column))] if value else []


def _plain(term: Pending) -> bool:
    """Tell whether a term is a word to which higher bits can be joined."""
    return term.addend is None or bool(wires_of(term.addend.word) and not term.addend.flips)


def _paired(books: Books, terms: list[Pending], bits: int) -> list[Pending]:
    """Add pairs until two terms are left; each pair costs least in full adders and delay.

    A third term of one bit is the carry into an adder.
    """

    def price(pair: tuple[Pending, Pending]) -> int:
        a, b = pair
        cells = _cells(pair, bits)
        return 10_000 * cells + books.delay_weight * (max(a.time, b.time) + books.delays.sum(cells))

    waiting = list(terms)
    while len(waiting) > 2:
        pair = min(combinations(waiting, 2), key=price)
        column, time = min(one.column for one in pair), max(one.time for one in pair)
        others = [one for one in waiting if one is not pair[0] and one is not pair[1]]
        carry = [x for x in others if (x.column, x.reach) == (column, 1) and x.time <= time][:1]
        waiting = [one for one in others if not any(one is x for x in carry)]
        waiting.append(_added(books, (*pair, *carry), bits))
    return waiting


def _cells(terms: Sequence[Pending], bits: int) -> int:
    """Return the full adders of a sum of terms."""
    top = min(bits, max(one.top for one in terms) + 1)
    return max(0, top - max(one.column for one in terms)) if len(terms) > 1 else 0


def _added(books: Books, terms: Sequence[Pending], bits: int) -> Pending:
    column, cells = min(one.column for one in terms), _cells(terms, bits)
    reach = min(sum(x.reach << x.column - column for x in terms), (1 << bits - column) - 1)
    time = max(one.time for one in terms) + (books.delays.sum(cells) if len(terms) > 1 else 0)
    cells += sum(one.cells for one in terms)
    return Pending(column, column + reach.bit_length(), reach, cells, time, None, tuple(terms))


def _made(books: Books, name: str, term: Pending, bits: int) -> SignalAddend:
    """Return a term as an addend; sums become signals."""
    if term.addend is not None:
        return term.addend
    rows = [_made(books, name, one, bits) for one in term.parts]
    rows = [replace(one, column=one.column - term.column) for one in rows]
    known = sum(constant(x.word) << x.column for x in rows if not wires_of(x.word))
    rows = [x for x in rows if wires_of(x.word)]
    size = term.top - term.column
    part = books.signal(f"{name} part", size, SignalSum(tuple(rows), known, size), kept=True)
    return SignalAddend(part, term.column)


def product_rows(
    grid: Grid, a: Word, b: Word, sign: tuple[Wires, ...], *, negative: bool
) -> list[SignalAddend]:
    """Return the rows of partial products: a digit of the shorter word keeps or inverts the other.

    Words are without dropped bits; `sign` tells where all digits of the two differ once more.
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
        rows.append(SignalAddend(inverse(word) if alike else word, row.column, flips))
    return rows


def whole_product(
    books: Books, name: str, a: Word, b: Word, column: int, *, negative: bool
) -> tuple[SignalAddend, int]:
    """Return all partial products as one multiplication, and a constant.

    Let a, b have n, m bits. The matching digits sum up to u + 1 - 2^(n-1) - 2^(m-1): u is the
    product of their odd numbers, without its lowest bit and with its sign inverted. For the
    digits that differ, u is inverted.
    """
    n, m = width(a), width(b)
    made = books.signal(f"{name} product", n + m + 2, OddProduct(a, b))
    word = (*cut(made, 1, n + m - 1), *inverse(cut(made, n + m, 1)))
    known = 1 - (1 << n - 1) - (1 << m - 1)
    return SignalAddend(inverse(word) if negative else word, column), known << column


def multiplies(grid: Grid, a: Word, b: Word) -> bool:
    """Tell whether a product is one multiplication: no digit is discarded or constant."""
    fixed = any(isinstance(piece, Fixed) for piece in (*a, *b))
    return grid.column >= 0 and min(grid.a, grid.b) >= SMALL and not fixed


# --------------------------------------------------------------------------------------------------
# A program's word graphs as signals.
# --------------------------------------------------------------------------------------------------


class Meant(NamedTuple):
    """A word, and its magnitude `core`, which is inverted if the parity of `sign` is odd."""

    word: Word
    core: Word
    sign: tuple[Wires, ...] = ()


def graph_of(program: Program, load: Load) -> WordGraph:
    """Return the word graph of a load; raise UsageError if there is none."""
    if load.graph is None or load.joint is None:
        raise UsageError(
            f"{program.name} has no word graph ({why_no_graph(program)})", "leave out --level words"
        )
    return load.graph


def graph_words(
    books: Books,
    program: Program,
    load: Load,
    cells: Mapping[str, Word],
    prefix: str,
) -> list[Word]:
    """Create the words of a load's graph from the cells of inputs; return the words of the outputs.

    `prefix` distinguishes the words of several loads.
    """
    graph = graph_of(program, load)
    meanings = load.meanings or tuple(f"w{k}" for k in range(len(graph.nodes)))
    given = []
    for word in load.joint.words if load.joint is not None else ():
        code = program.inputs[word.input].code
        cell = cut(cells[program.inputs[word.input].name], 0, code.bits - word.dropped)
        given.append(above(cell, code.bits - word.bits))
    names = list(meanings)
    for output, result in zip(load.outputs, graph.results, strict=True):
        if meanings[result.node] == f"w{result.node}":
            names[result.node] = f"{output.name} sum"
    notes = [f"{prefix}w{k}: {note}" for k, note in enumerate(word_notes(load, graph, meanings))]
    words = _Maker(books, graph, given, names, notes).words
    return [above(words[result.node].word, result.drop) for result in graph.results]


class _Maker:
    """Creates the words of one node after the other."""

    def __init__(
        self, books: Books, graph: WordGraph, given: Sequence[Word],
        names: Sequence[str], notes: Sequence[str],
    ) -> None:  # fmt: skip
        self.books, self.graph = books, graph
        self.given, self.names, self.notes = given, names, notes
        self.words: list[Meant] = []
        for word in graph.fold(self):
            self.words.append(word)

    def input(self, place: int, _node: InputWord) -> Meant:
        return Meant(self.given[place], self.given[place])

    def leading(self, place: int, drop: int) -> Word:
        return above(self.words[place].word, drop)

    def lookup(self, place: int, node: Lookup) -> Meant:
        """Return a table, folded if it is symmetric, of the variable bits of its index."""
        name, about = self.names[place], (self.notes[place],)
        index = self.leading(node.source, self.graph.nodes[node.source].bits - node.read)
        index = joined(piece for k in node.picked for piece in cut(index, k, 1))
        index, entries = _changing(index, node.entries)
        index, entries = _entries_read(index, entries)
        if not index:
            word = joined([Fixed(entries[0], node.bits)])
            return Meant(word, word)
        if entries == tuple(range(len(entries))):
            word = joined([*index, Fixed(0, node.bits - width(index))])
            return Meant(word, word)
        folded = fold(entries, node.bits)
        bits = len(folded.inputs)
        sign = _chosen(index, folded.flip)
        mirror = _chosen(index, folded.inputs[0] ^ 1) if bits else ()
        low = cut(index, 0, bits)
        if mirror or len(low) > 1 or any(wire.inverted for wire in wires_of(low)):
            low = self.books.signal(f"{name} index", bits, Flipped(low, mirror))
        core: Word = (Fixed(folded.core[0], node.bits),)
        if bits:
            texts = () if sign else about
            called = f"{name} size" if sign else name
            core = self.books.signal(called, node.bits, TableLookup(low, folded.core), texts)
        if not sign:
            return Meant(core, core)
        if len(sign) > 1:
            sign = (self.books.bit(f"{name} sign", Flipped((sign[0],), sign[1:])),)
        if node.bits == 1 and isinstance(core[0], Fixed):  # a bit, or its inverse
            bit = inverse(sign) if folded.core[0] else sign
            word = self.books.signal(name, 1, Flipped(bit, ()), about)
            return Meant(word, word)
        word = self.books.signal(name, node.bits, Flipped(core, sign), about)
        return Meant(word, core, sign)

    def angles(self, place: int, node: Angles) -> Meant:
        """Return a sum of turns."""
        addends = []
        for turn in node.turns:
            word = self.leading(turn.node, self.graph.nodes[turn.node].bits - turn.read)
            addends.append(SignalAddend(inverse(word) if turn.negative else word, turn.shift))
        return self.sum(place, addends, node.constant, node.bits)

    def sum(
        self, place: int, addends: list[SignalAddend], total: int, bits: int, *, named: bool = False
    ) -> Meant:
        word = summed(
            self.books, self.names[place], (self.notes[place],), addends, total, bits,
            named=named,
        )  # fmt: skip
        return Meant(word, word)

    def heap(self, place: int, node: Heap) -> Meant:
        """Return the sum of words and products, which are sums of their own."""
        name, total, addends = self.names[place], node.constant, []
        for rows, known in node.each(self.word, lambda part: self.product(part, name, node.bits)):
            addends += rows
            total += known
        return self.sum(place, addends, total, node.bits, named=bool(node.products))

    def word(self, part: Bits) -> tuple[list[SignalAddend], int]:
        row = part.layout(self.graph.nodes)
        word = self.leading(part.node, row.drop)
        return [SignalAddend(inverse(word) if part.negative else word, row.column)], 0

    def product(
        self, part: PartialProducts, name: str, bits: int
    ) -> tuple[list[SignalAddend], int]:
        """Return a product modulo 2^bits, as addends and a constant."""
        rows, known = self.multiplied(part, name)
        rows = [within(row, bits) for row in rows if row.column < bits]
        if self.books.rows:
            rows = [self.row(name, row) for row in rows]
        return rows, known

    def row(self, name: str, addend: SignalAddend) -> SignalAddend:
        """Return an addend whose flips are applied by a signal."""
        bits = width(addend.word)
        word = self.books.signal(f"{name} row", bits, Flipped(addend.word, addend.flips), kept=True)
        return SignalAddend(word, addend.column)

    def multiplied(self, part: PartialProducts, name: str) -> tuple[list[SignalAddend], int]:
        """Return a product as addends and a constant."""
        grid = part.layout(self.graph.nodes)
        a, b = self.words[part.a], self.words[part.b]
        whole = above(a.word, grid.drop_a), above(b.word, grid.drop_b)
        if multiplies(grid, *whole):
            addend, known = whole_product(
                self.books, name, *whole, grid.column, negative=part.negative
            )
            return [addend], known
        sign = (*a.sign, *b.sign)
        if len(sign) > 1:
            sign = (self.books.bit(f"{name} sign", Flipped(sign[:1], sign[1:])),)
        cores = above(a.core, grid.drop_a), above(b.core, grid.drop_b)
        return product_rows(grid, *cores, sign, negative=part.negative), 0


def _chosen(index: Word, mask: int) -> tuple[Wires, ...]:
    return tuple(
        wire
        for k in reversed(range(width(index)))
        if mask >> k & 1
        for wire in wires_of(cut(index, k, 1))
    )


def _entries_read(index: Word, entries: tuple[int, ...]) -> tuple[Word, tuple[int, ...]]:
    """Return an index without irrelevant bits, and the remaining entries."""
    for k in reversed(range(width(index))):
        low = [e for row, e in enumerate(entries) if not row >> k & 1]
        if low == [e for row, e in enumerate(entries) if row >> k & 1]:
            entries = tuple(low)
            index = joined([*cut(index, 0, k), *above(index, k + 1)])
    return index, entries


def _changing(index: Word, entries: Sequence[int]) -> tuple[Word, tuple[int, ...]]:
    """Return an index without constant bits, and the remaining entries."""
    left = list(entries)
    for k in reversed(range(width(index))):
        (bit,) = cut(index, k, 1)
        if isinstance(bit, Fixed):
            left = [e for row, e in enumerate(left) if row >> k & 1 == bit.value]
    return joined(wires_of(index)), tuple(left)


# --------------------------------------------------------------------------------------------------
# Signals in stages. A register holds the bits of a signal that are read in later stages.
# --------------------------------------------------------------------------------------------------


def readers_of(module: RtlModule, delays: Delays = USUAL) -> Readers:
    """Return the users of a module's signals, after its inputs."""
    inputs = [(one.name, one.bits) for one in module.inputs]
    sized = [*inputs, *((one.name, one.bits) for one in module.signals)]
    places = {name: CONSTANTS + k for k, (name, _) in enumerate(sized)}
    first = CONSTANTS + len(inputs)
    operands = [*[()] * first, *(
        tuple(dict.fromkeys(places[wire.name] for wire in reads(one.operation)))
        for one in module.signals
    )]  # fmt: skip
    ends = {places[wire.name] for word in module.drives for wire in wires_of(word)}
    times = [*[0] * first, *(delay(one.operation, delays) for one in module.signals)]
    return Readers(first, operands, ends, times, [*[1] * CONSTANTS, *(bits for _, bits in sized)])


def staged(module: RtlModule, plan: StagePlan, names: Names, delays: Delays = USUAL) -> RtlModule:
    """Return a module without registers with the registers of a plan."""
    drives, count = module.drives, plan.count
    signals, stages = module.signals, plan.stages()
    if delays.tailed:
        slow = _slow(signals, stages, plan.longest - delays.level, delays)
        signals, stages, drives = _ended(signals, stages, drives, count, names, slow)
    spans = {pin.name: (0, pin.port.bits) for pin in module.frame.inputs}
    spans |= {signal.name: (signal.low, signal.bits) for signal in signals}
    made = [(one, 0) for one in module.inputs]
    made += [(Wires(x.name, x.low, x.bits), k) for x, k in zip(signals, stages, strict=True)]
    wanted = _wanted(signals, stages, drives, count)
    found: list[Register] = []
    idle: list[Wires] = []
    known: dict[tuple[str, int, int], str] = {}  # registers by name, bit and stage
    for source, stage in made:
        held, unused = _held(source, stage, wanted.get(source.name, {}), spans, names)
        idle += unused
        for place, register in held:
            found.append(register)
            spans[register.name] = (register.low, register.bits)
            bits = range(register.low, register.low + register.bits)
            known |= {(source.name, bit, place): register.name for bit in bits}

    def at(stage: int) -> Callable[[Wires], tuple[Wires]]:
        def delayed(wire: Wires) -> tuple[Wires]:
            name = known.get((wire.name, wire.low, stage))
            return (wire if name is None else replace(wire, name=name),)

        return delayed

    moved = tuple(
        replace(signal, operation=renamed(signal.operation, at(stage)))
        for signal, stage in zip(signals, stages, strict=True)
    )
    ends = tuple(renamed(word, at(count)) for word in drives)
    return RtlModule(
        module.level, module.frame, moved, ends, tuple(found), tuple(idle), count, spans
    )


def _slow(
    signals: Sequence[Signal], stages: Sequence[int], longest: int, delays: Delays
) -> set[str]:
    """Return the signals that are later in their stage than a delay."""
    times: dict[tuple[str, int], int] = {}
    for signal, stage in zip(signals, stages, strict=True):
        start = max((times.get((x.name, stage), 0) for x in reads(signal.operation)), default=0)
        times[signal.name, stage] = start + delay(signal.operation, delays)
    return {name for (name, _), time in times.items() if time > longest}


def _ended(
    signals: Sequence[Signal], stages: Sequence[int], drives: Sequence[Word], count: int,
    names: Names, slow: Collection[str],
) -> tuple[tuple[Signal, ...], list[int], tuple[Word, ...]]:  # fmt: skip
    """Return signals, stages and drives where registers of slow sums hold the inverse of a carry.

    The iCE40 has no path from the end of a carry chain to a register: tools insert a look-up table
    behind the chain, and a wire. An inverter is a look-up table in the chain.
    """
    wanted = _wanted(signals, stages, drives, count)
    made: list[tuple[Signal, int]] = []
    ends: dict[tuple[str, int], tuple[str, int]] = {}  # the inverse of a highest bit, its stage
    for signal, stage in zip(signals, stages, strict=True):
        top, sum_ = signal.low + signal.bits - 1, signal.operation
        made.append((signal, stage))
        later = signal.name in slow and any(
            mask >> top & 1 for k, mask in wanted.get(signal.name, {}).items() if k > stage
        )
        if later and isinstance(sum_, SignalSum) and signal.bits > 1 and _carries(sum_):
            name = names.new(f"{signal.name} top", "w")
            bit = Wires(signal.name, top, 1, inverted=True)
            made.append((Signal(name, 0, 1, Flipped((bit,), ())), stage))
            ends[signal.name, top] = name, stage

    def at(stage: int) -> Callable[[Wires], tuple[Wires, ...]]:
        def split(wire: Wires) -> tuple[Wires, ...]:
            name, before = ends.get((wire.name, wire.low + wire.bits - 1), ("", stage))
            if before >= stage:
                return (wire,)
            low = replace(wire, bits=wire.bits - 1)
            top = Wires(name, 0, 1, inverted=not wire.inverted)
            return (low, top) if low.bits else (top,)

        return split

    found: list[tuple[Signal, int]] = []
    for signal, stage in made:
        operation = renamed(signal.operation, at(stage))
        if isinstance(operation, TableLookup) and len(operation.index) > 1:
            index = Wires(names.new(f"{signal.name} index", "w"), 0, width(operation.index))
            found.append((Signal(index.name, 0, index.bits, Flipped(operation.index, ())), stage))
            operation = replace(operation, index=(index,))
        found.append((replace(signal, operation=operation), stage))
    last = tuple(renamed(word, at(count)) for word in drives)
    return tuple(one for one, _ in found), [stage for _, stage in found], last


def _carries(operation: SignalSum) -> bool:
    """Tell whether the highest bit of a sum is a carry."""
    tops = (one.column + width(one.word) for one in operation.addends)
    return max(*tops, operation.constant.bit_length()) < operation.bits


def _wanted(
    signals: Sequence[Signal], stages: Sequence[int], drives: Sequence[Word], count: int
) -> dict[str, dict[int, int]]:
    """Return a mask of the bits that are read, by signal and stage."""
    found: dict[str, dict[int, int]] = {}
    every = [(wire, stage) for one, stage in zip(signals, stages, strict=True)
             for wire in reads(one.operation)]  # fmt: skip
    every += [(wire, count) for word in drives for wire in wires_of(word)]
    for wire, stage in every:
        masks = found.setdefault(wire.name, {})
        masks[stage] = masks.get(stage, 0) | ((1 << wire.bits) - 1) << wire.low
    return found


def _held(
    source: Wires, made: int, masks: dict[int, int], spans: dict[str, tuple[int, int]], names: Names
) -> tuple[list[tuple[int, Register]], list[Wires]]:
    """Return the registers of bits made in a stage, by stage, and the unused bits.

    `masks` are the bits of the signal that are read, by stage.
    """
    whole = ((1 << source.bits) - 1) << source.low
    later = 0
    rows = []
    for stage in range(max((k for k in masks if masks[k] & whole), default=0), made, -1):
        read = masks.get(stage, 0) & whole | later
        first = (read & -read).bit_length() - 1
        later = ((1 << read.bit_length()) - 1) >> first << first
        rows.append((stage, first, read.bit_length() - first, later & ~read))
    idle = _runs(source.name, whole & ~(masks.get(made, 0) | later))
    part = spans[source.name] != (source.low, source.bits)
    name = f"{source.name} {source.low}" if part else source.name
    before, held = source.name, []
    for stage, first, size, gaps in reversed(rows):
        new = names.new(f"{name} s{stage}")
        held.append((stage, Register(new, before, first, size)))
        idle += _runs(new, gaps)
        before = new
    return held, idle


def _runs(name: str, mask: int) -> list[Wires]:
    """Return the bits of a mask as runs of wires."""
    found = []
    while mask:
        low = (mask & -mask).bit_length() - 1
        run = (~(mask >> low) & ((mask >> low) + 1)).bit_length() - 1
        found.append(Wires(name, low, run))
        mask &= ~(((1 << run) - 1) << low)
    return found


# --------------------------------------------------------------------------------------------------
# A design as a module of gates.
# --------------------------------------------------------------------------------------------------


def gates_of(
    design: Design,
    reserved: Collection[str],
    stages: int,
    logic: Network | None = None,
    goal: ClockGoal | None = None,
) -> RtlModule:
    """Return a design as a module of gates, with legal names, in `stages` stages or for a clock.

    `logic` replaces the design's network: equivalent look-up tables.
    """
    logic = logic or design.network
    names = Names([*reserved, *CONTROLS])
    frame = frame_of(design, reserved, names)
    bits: list[Piece] = [Fixed(0, 1), Fixed(1, 1)]
    bits += RtlModule("gates", frame, (), ()).inputs
    signals = []
    for place, (lut, operands) in enumerate(logic.nodes):
        name = names.new(f"n{place}")
        signals.append(Signal(name, 0, 1, Gate(lut, tuple(bits[k] for k in operands))))
        bits.append(Wires(name, 0, 1))
    ends = iter([bits[k] for k in logic.outputs])
    drives = [tuple(next(ends) for _ in range(pin.port.bits))[::-1] for pin in frame.outputs]
    module = RtlModule("gates", frame, tuple(signals), tuple(drives))
    readers = Readers.of(logic)
    if goal is None:
        return staged(module, StagePlan(readers, stages), names)
    plan, clock = goal.plan(readers, len(logic.nodes))
    return replace(staged(module, plan, names), clock=clock)


# --------------------------------------------------------------------------------------------------
# A program as a module of words.
# --------------------------------------------------------------------------------------------------


def words_of(
    program: Program,
    load: float | None,
    design: Design,
    reserved: Collection[str],
    stages: int,
    *,
    goal: ClockGoal | None = None,
    delays: Delays = USUAL,
) -> RtlModule:
    """Return the module of a program's words: the least stage delay, or the stages for a clock."""
    loads = program.loads if load is None else (program.load(load),)
    split = stages > 1 or goal is not None
    known = 0 if delays is USUAL else 1  # without a device, area counts
    books = [
        Books(Names([*reserved, *CONTROLS]), delays, weight, rows=split)
        for weight in (DELAY_WEIGHTS if split else DELAY_WEIGHTS[known : known + 1])
    ]
    made = [(_module(program, loads, design, reserved, one), one.names) for one in books]
    if goal:
        return _in_time(made, goal, delays)
    plans = [StagePlan(readers_of(module, delays), stages) for module, _ in made]
    _, place = min((plan.longest, k) for k, plan in enumerate(plans))
    module, names = made[place]
    return staged(module, plans[place], names, delays)


def _in_time(made: Sequence[tuple[RtlModule, Names]], goal: ClockGoal, delays: Delays) -> RtlModule:
    """Return the module with the fewest stages for a clock, then with the fewest registers."""
    found, refused = [], None
    for module, names in made:
        readers = readers_of(module, delays)
        try:
            plan, clock = goal.plan(readers, sum(readers.widths[readers.first :]), delays.level)
        except UsageError as error:
            refused = error
        else:
            found.append(replace(staged(module, plan, names, delays), clock=clock))
    if refused and not found:
        raise refused
    return min(found, key=lambda one: (one.stages, sum(x.bits for x in one.registers)))


def _module(
    program: Program, loads: Sequence[Load], design: Design, reserved: Collection[str], books: Books
) -> RtlModule:
    """Return a module without registers."""
    frame = frame_of(design, reserved, books.names)
    given: dict[str, Word] = {
        pin.port.name: (Wires(pin.name, 0, pin.port.bits),) for pin in frame.inputs
    }
    cells = {x.name: cell_of(books, given[x.name], x.code, x.name) for x in program.inputs}
    rows = []
    for place, load in enumerate(loads):
        prefix = f"load {place} " if len(loads) > 1 else ""
        read = graph_words(books, program, load, cells, prefix)
        rows.append(list(_results(books, program, load, cells, read)))
    chosen = _selected(books, rows, given[SELECT] if len(loads) > 1 else (), design)
    flags = {pin.port.name for pin in frame.outputs if pin.port.flag}
    drives: list[Word] = []
    for output, (word, beyond) in zip(loads[0].outputs, chosen, strict=True):
        drives.append(word)
        if f"{output.name}_saturated" in flags:
            drives.append(beyond)
    return RtlModule("words", frame, tuple(books.signals), tuple(drives))


def _results(
    books: Books, program: Program, load: Load, cells: dict[str, Word], read: Sequence[Word]
) -> Iterator[tuple[Word, Word]]:
    """Yield the word of every output of a load, and its saturation flag."""
    for output, word in zip(load.outputs, read, strict=True):
        cell, beyond = saturated(books, word, output.code.bits, output.name)
        if output.rest is not None:
            rests = at_rest(books, output, cells, program.inputs)
            cell, beyond = resting(books, rests, cell, beyond, output)
        yield word_of(books, cell, output.code, output.name), beyond


def _selected(
    books: Books, rows: list[list[tuple[Word, Word]]], select: Word, design: Design
) -> list[tuple[Word, Word]]:
    """Return the words of the selected load; both values select the last of an odd number."""
    names = [port.name for port in design.outputs if not port.flag]
    for k in range(width(select)):
        (bit,) = wires_of(cut(select, k, 1))
        rows = [
            [
                (
                    _either(books, name, bit, b[0], a[0]),
                    _either(books, f"{name} beyond", bit, b[1], a[1]),
                )
                for name, a, b in zip(names, zero, one, strict=True)
            ]
            for zero, one in zip(rows[::2], [*rows[1::2], rows[-1]][: len(rows[::2])], strict=True)
        ]
    return rows[0]


def _either(books: Books, name: str, bit: Wires, then: Word, otherwise: Word) -> Word:
    if then == otherwise:
        return then
    return books.signal(f"{name} chosen", width(then), Select(bit, then, otherwise))
