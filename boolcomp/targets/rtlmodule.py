"""A program as a module of words: its ports, the signals between them, in stages if wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.gates import CONTROLS, Pin
from boolcomp.targets.names import Names
from boolcomp.targets.ports import SELECT
from boolcomp.targets.rtl import Choice, Words
from boolcomp.targets.rtlbooks import Books
from boolcomp.targets.rtlcodes import at_rest, cell_of, resting, saturated, word_of
from boolcomp.targets.rtlmaker import graph_of, graph_words
from boolcomp.targets.rtlstages import staged
from boolcomp.targets.wires import Wires, cut, width, wires_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program
    from boolcomp.targets.gates import Syntax
    from boolcomp.targets.ports import Design
    from boolcomp.targets.wires import Word

PARTS = (0, 6, 4, 3, 2)  # how many addends a sum may have in a pipeline; 0: all


def words_of(
    program: Program, load: float | None, design: Design, syntax: Syntax, stages: int
) -> Words:
    """Return the module of a program's words; in stages, that with the shortest stage."""
    loads = program.loads if load is None else (program.load(load),)
    for one in loads:
        graph_of(program, one)
    made = [_module(program, loads, design, syntax, stages, most)
            for most in (PARTS if stages > 1 else (0,))]  # fmt: skip
    return min(made, key=lambda one: one[0])[1]


def _module(
    program: Program, loads: Sequence[Load], design: Design, syntax: Syntax, stages: int, most: int
) -> tuple[tuple[int, int], Words]:
    """Return a module, and what speaks against it: how long a stage is, how many flip-flops."""
    names = Names([*syntax.reserved, *CONTROLS])
    module = names.new(design.name, "boolcomp")
    inputs = tuple(Pin(names.new(port.name), port) for port in design.inputs)
    outputs = tuple(Pin(names.new(port.name), port) for port in design.outputs)
    books = Books(names)
    given: dict[str, Word] = {pin.port.name: (Wires(pin.name, 0, pin.port.bits),) for pin in inputs}
    cells = {x.name: cell_of(books, given[x.name], x.code, x.name) for x in program.inputs}
    rows = []
    for place, load in enumerate(loads):
        prefix = f"load {place} " if len(loads) > 1 else ""
        read = graph_words(books, program, load, cells, prefix, most)
        rows.append(list(_results(books, program, load, cells, read)))
    chosen = _selected(books, rows, given.get(SELECT, ()) if len(loads) > 1 else (), design)
    flags = {pin.port.name for pin in outputs if pin.port.flag}
    drives = []
    for output, (word, beyond) in zip(loads[0].outputs, chosen, strict=True):
        drives.append(word)
        if f"{output.name}_saturated" in flags:
            drives.append(beyond)
    longest, parts = staged(books.signals, drives, inputs, names, stages)
    words = Words(module, inputs, outputs, *parts)
    return (longest, words.flip_flops), words


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
