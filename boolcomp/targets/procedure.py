"""Word graphs as functions of integers: operations with names, for printers of languages.

Inputs are decoded to centred cells, and outputs are coded. Values with a meaning or several uses
have names; all others are parts of the expressions that use them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.base.errors import UsageError
from boolcomp.problem.word_codes import Step
from boolcomp.program.program import graph_logic
from boolcomp.targets.target import Names, comment, escapes, why_no_graph, word_names
from boolcomp.words.lowering import Lowering, Maker
from boolcomp.words.operations import Inside

if TYPE_CHECKING:
    from collections.abc import Iterable

    from boolcomp.codes import Code
    from boolcomp.program.program import Load, Program
    from boolcomp.words.costs import MachineCosts
    from boolcomp.words.operations import IntOp, IntOps, IntOutput


@dataclass(frozen=True, slots=True)
class Parameter:
    """An input: its name in the program, that of its parameter, its bits; whether it is read."""

    name: str
    parameter: str
    bits: int
    read: bool


@dataclass(frozen=True, slots=True)
class NamedOutput:
    """An output: its name in the program, that of its result, its bits."""

    name: str
    result: str
    bits: int


@dataclass(frozen=True, slots=True)
class Procedure:
    """A function of words: names of values by place, names of tables, inputs and outputs in order.

    Its operations read words of inputs and return words of outputs.
    """

    name: str
    code: IntOps
    names: dict[int, str]
    tables: tuple[str, ...]
    inputs: tuple[Parameter, ...]
    outputs: tuple[NamedOutput, ...]

    @property
    def escapes(self) -> list[str]:
        """Comments on inputs and outputs whose names differ."""
        called = [(one.name, one.parameter) for one in self.inputs]
        return escapes([*called, *((one.name, one.result) for one in self.outputs)])

    @property
    def results(self) -> list[tuple[int, NamedOutput, IntOutput]]:
        """The outputs, each with its place and its operations."""
        pairs = zip(self.outputs, self.code.outputs, strict=True)
        return [(place, *pair) for place, pair in enumerate(pairs)]

    def free(self, name: str) -> str:
        """Return a name that nothing has."""
        ports = [*(one.parameter for one in self.inputs), *(one.result for one in self.outputs)]
        return Names([*ports, *self.names.values(), *self.tables]).new(name)

    def about(self, place: int) -> str:
        """Return the meaning of a value, if its name does not tell it."""
        text = comment(self.code.about[place])
        plain = re.fullmatch("[A-Za-z0-9 ]+", text)
        return "" if plain and self.names[place].startswith(text.replace(" ", "_")) else text


def procedure_of(
    program: Program,
    load: Load,
    costs: MachineCosts,
    reserved: Iterable[str] = (),
    keywords: Iterable[str] = (),
) -> Procedure:
    """Return the procedure of a program's word graph with a load.

    Inputs and outputs keep their names except for `keywords`; steps and tables get other names,
    none of them reserved.
    """
    logic = graph_logic(program.inputs, load)
    if logic is None:
        raise UsageError(
            f"{program.name} has no word graph ({why_no_graph(program)})",
            "export its logic with --to c-sliced, or with --level gates (Python and JavaScript)",
        )
    called = word_names(program, keywords)
    name = Names(reserved).new(program.name, "program")
    make = Maker(costs)
    cells = [_cell(make, k, x.code, x.name) for k, x in enumerate(program.inputs)]
    cuts = ((cut.port, cut.drop) for cut in logic.cuts)
    meanings = load.meanings or [f"w{k}" for k in range(len(logic.graph.nodes))]
    lowering = Lowering(logic.graph, make, cells, cuts, meanings)
    outputs = []
    for place, (output, rests) in enumerate(zip(load.outputs, logic.rests, strict=True)):
        zeros = None if rests is None else [(k, program.inputs[k].code.tread) for k in rests]
        made = lowering.output(place, zeros)
        make.about.setdefault(made.value, f"{output.name} cell")
        outputs.append(made._replace(value=_coded(make, made.value, output.code)))
    code = make.done(outputs)
    names = Names([*reserved, *called.values(), name])
    read = {op.argument[0] for op in code.ops if op.op == "input"}
    named: dict[int, str] = {}
    for k, op in enumerate(code.ops):
        if _named(code, k, op):
            named[k] = names.new(code.about[k] or named.get(op.sources[0], ""), "w")
    return Procedure(
        name, code, named,
        tuple(names.new(f"{_reader(code, k)} table", "table") for k in range(len(code.tables))),
        tuple(Parameter(x.name, called[x.name], x.code.bits, k in read)
              for k, x in enumerate(program.inputs)),
        tuple(NamedOutput(x.name, called[x.name], x.code.bits) for x in load.outputs),
    )  # fmt: skip


def _named(code: IntOps, place: int, op: IntOp) -> bool:
    """Tell whether a value has a name."""
    if op.op == "input" or op.low == op.high:
        return False
    uses = sum(other.sources.count(place) for other in code.ops)
    for made in code.outputs:
        tests = [one.of for one in (made.inside, *made.rests) if one is not None]
        uses += (made.value, *tests).count(place)
    return bool(code.about[place]) or (uses > 1 and op.op != "bits")


def _reader(code: IntOps, table: int) -> str:
    """Return the meaning of the first entry of a table."""
    places = (k for k, op in enumerate(code.ops) if op.op == "entry" and op.table == table)
    return code.about[next(places)]


def _cell(make: Maker, place: int, code: Code, name: str) -> int:
    """Return the centred cell of a word."""
    given = make.make("input", (), (place, code.bits))
    flipped, half = code.steps[-1:] == (Step.FLIP,), code.cells >> 1
    value = make.signed(given) if flipped else make.make("bits", (given,), (code.bits, 0))
    make.about[value] = f"{name} word"
    more = half if flipped else 0  # the word is the value plus this
    for step in reversed(code.steps[:-1] if flipped else code.steps):
        word = _plus(make, value, more)
        if step is Step.FOLD:
            shift = 1
            while shift < code.bits:
                word = make.make("xor", (word, make.shifted(word, shift)))
                shift *= 2
            value, more = word, 0
        elif step is Step.FLIP:
            value, more = make.make("bits", (word,), (code.bits, 1)), half
        else:
            size = make.make("bits", (word,), (code.bits - 1, 0))
            below = make.sum([(-1, size)], -(not code.tread))
            value = make.chosen([Inside(word, half, code.cells - 1)], below, size)
            more = half
    cell = _plus(make, value, more - half)
    make.about.setdefault(cell, f"{name} cell")
    return cell


def _plus(make: Maker, value: int, more: int) -> int:
    return make.sum([(1, value)], more) if more else value


def _coded(make: Maker, cell: int, code: Code) -> int:
    """Return the word of a centred cell."""
    half = code.cells >> 1
    value, more = cell, half  # the word is the value plus this
    for step in code.steps:
        word, cell = _plus(make, value, more), _plus(make, value, more - half)
        if step is Step.FOLD:
            value = make.make("xor", (word, make.shifted(word, 1)))
        elif step is Step.FLIP:
            value = make.make("bits", (cell,), (code.bits, 0))
        else:
            below = make.sum([(-1, cell)], half - (not code.tread))
            if code.tread:  # no word has the magnitude of the lowest cell
                most = make.constant(code.cells - 1)
                below = make.chosen([Inside(cell, -half, -half)], most, below)
            value = make.chosen([Inside(cell, 0, half - 1)], cell, below)
        more = 0
    return _plus(make, value, more)
