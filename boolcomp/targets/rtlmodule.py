"""A program as a module of words: its ports, the signals between them, in stages if wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.gates import CONTROLS, Pin
from boolcomp.targets.names import Names
from boolcomp.targets.rtl import Choice, Words
from boolcomp.targets.rtl_module import graph_of, graph_words
from boolcomp.targets.rtlbooks import Books
from boolcomp.targets.rtlcodes import at_rest, cell_of, resting, saturated, word_of
from boolcomp.targets.rtlstages import Plan, staged
from boolcomp.targets.target import SELECT
from boolcomp.targets.wires import Wires, cut, width, wires_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Syntax
    from boolcomp.targets.target import Design
    from boolcomp.targets.wires import Word

USUAL = 2  # how much delay counts beside full adders where there are no stages (see `in_parts`)
HASTES = (2, 30)  # what is tried where there are


def words_of(
    program: Program, load: float | None, design: Design, syntax: Syntax, stages: int
) -> Words:
    """Return the module of a program's words; in stages, that with the shortest stage."""
    loads = program.loads if load is None else (program.load(load),)
    for one in loads:
        graph_of(program, one)
    hastes = HASTES if stages > 1 else (USUAL,)
    made = [_Module(program, loads, design, syntax, haste) for haste in hastes]
    plans = [Plan(one.books.signals, one.drives, one.inputs, stages) for one in made]
    _, place = min((plan.longest, k) for k, plan in enumerate(plans))
    best = made[place]
    parts = staged(plans[place], best.books.signals, best.drives, best.inputs, best.names)
    return Words(best.module, best.inputs, best.outputs, *parts)


class _Module:
    """A module without stages: ports, signals, and what outputs are made of."""

    def __init__(
        self, program: Program, loads: Sequence[Load], design: Design, syntax: Syntax,
        haste: int | None,
    ) -> None:  # fmt: skip
        self.module = Names(syntax.reserved).new(design.name, "boolcomp")
        self.names = Names([*syntax.reserved, *CONTROLS])
        self.inputs = tuple(Pin(self.names.new(port.name), port) for port in design.inputs)
        self.outputs = tuple(Pin(self.names.new(port.name), port) for port in design.outputs)
        books = self.books = Books(self.names)
        given: dict[str, Word] = {
            pin.port.name: (Wires(pin.name, 0, pin.port.bits),) for pin in self.inputs
        }
        cells = {x.name: cell_of(books, given[x.name], x.code, x.name) for x in program.inputs}
        rows = []
        for place, load in enumerate(loads):
            prefix = f"load {place} " if len(loads) > 1 else ""
            read = graph_words(books, program, load, cells, prefix, haste)
            rows.append(list(_results(books, program, load, cells, read)))
        chosen = _selected(books, rows, given[SELECT] if len(loads) > 1 else (), design)
        flags = {pin.port.name for pin in self.outputs if pin.port.flag}
        self.drives: list[Word] = []
        for output, (word, beyond) in zip(loads[0].outputs, chosen, strict=True):
            self.drives.append(word)
            if f"{output.name}_saturated" in flags:
                self.drives.append(beyond)


def _results(
    books: Books, program: Program, load: Load, cells: dict[str, Word], read: Sequence[Word]
) -> Iterator[tuple[Word, Word]]:
    """Yield the word of every output of a load, and whether it saturated."""
    for output, word in zip(load.outputs, read, strict=True):
        cell, beyond = saturated(books, word, output.code.bits, output.name)
        if output.rest is not None:
            rests = at_rest(books, output, cells, program.inputs)
            cell, beyond = resting(books, rests, cell, beyond, output)
        yield word_of(books, cell, output.code, output.name), beyond


def _selected(
    books: Books, rows: list[list[tuple[Word, Word]]], select: Word, design: Design
) -> list[tuple[Word, Word]]:
    """Return the words of the load that is selected; an odd one out stands for both."""
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
    return books.signal(f"{name} chosen", width(then), Choice(bit, then, otherwise))
