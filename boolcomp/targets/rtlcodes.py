"""Words of ports as cells and back: codes, saturation, and what is zero at rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.rtl import Addend, Choice, Different, Flipped, Sum, Test
from boolcomp.targets.wires import Fixed, Wires, above, cut, inverse, joined, width, wires_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from boolcomp.codes import Code
    from boolcomp.program.parts import CodedInput, CodedOutput
    from boolcomp.targets.rtlbooks import Books
    from boolcomp.targets.wires import Word


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
