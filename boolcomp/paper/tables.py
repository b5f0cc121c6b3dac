"""Truth tables: a planned term tabulated over all its input words, one bit-vector a column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from bitarray import bitarray, frozenbitarray

from boolcomp.codes import TIE
from boolcomp.common.errors import DataError
from boolcomp.logic.truthtable import TruthTable
from boolcomp.paper.plan import MOST_INPUT_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from boolcomp.paper.plan import Plan, TermPlan
    from boolcomp.paper.words import Word
    from boolcomp.terms.term import Term

CHUNK = 1 << 17  # rows at a time: the columns are built without a large array of floats


@dataclass(frozen=True, slots=True)
class TermTable:
    """A term's plan and its truth table; `problem` is the name of what the term belongs to."""

    problem: str
    plan: TermPlan
    table: TruthTable

    @property
    def input_labels(self) -> tuple[str, ...]:
        """The names of the inputs, most significant first: `q2.6` is bit 6 of q2's word."""
        return tuple(
            f"{word.variable.name}.{bit}"
            for word in self.plan.words
            for bit in reversed(range(word.inputs))
        )

    @property
    def output_labels(self) -> tuple[str, ...]:
        """The names of the outputs, most significant first."""
        name = self.plan.term.name
        return tuple(f"{name}.{bit}" for bit in reversed(range(self.plan.code.bits)))

    def __str__(self) -> str:
        return f"{self.plan}: {self.table!r}"


def make_tables(plan: Plan) -> tuple[TermTable, ...]:
    """Tabulate every term of a plan; terms that are the same function share one table."""
    plan.require_tables()
    made: dict[object, TruthTable] = {}
    return tuple(TermTable(plan.problem.name, term, _once(made, term)) for term in plan.terms)


def _once(made: dict[object, TruthTable], plan: TermPlan) -> TruthTable:
    key = signature(plan)
    if key not in made:
        made[key] = tabulate(plan)
    return made[key]


def signature(plan: TermPlan) -> object:
    """Return what alone determines a plan's table: equal signatures have equal tables.

    Variables count by place, and values as fractions of the output range, so that
    (4 + 5 cos q2) q̈2 over ±12.5 and half of (4 + 5 cos q2) q̈1 over ±6.25 are one function.
    """
    term, high = plan.function, plan.code.range.high
    place = {variable: k for k, variable in enumerate(term.variables)}
    known = {variable.name: place[variable] for variable in term.arguments}
    scale, factor = 1.0, []
    for variable in term.factor:
        reach = variable.reach
        centred = reach.low == -reach.high
        scale *= reach.high if centred else 1.0
        factor.append((place[variable], None if centred else reach))
    waves = tuple(
        (
            tuple((known[name], k) for name, k in wave.multiples),
            tuple((known[name], power) for name, power in wave.powers),
            f"{wave.cosine * scale / high:.12g}",
            f"{wave.sine * scale / high:.12g}",
        )
        for wave in term.waves()
    )
    words = tuple((word.code.bits, word.dropped, _reached(word)) for word in plan.words)
    ranges = tuple((variable.reach, variable.word) for variable in term.arguments)
    kind = (plan.code.bits, plan.code.kind, plan.rounding)
    return (kind, words, ranges, tuple(factor), waves)


def tabulate(plan: TermPlan) -> TruthTable:
    """Evaluate a term at the centre of every input cell and code the result."""
    bits = plan.input_bits
    if bits > MOST_INPUT_BITS:
        raise DataError(f"a table of {bits} input bits is too large (at most {MOST_INPUT_BITS})")
    centres = [word_centres(word) for word in plan.words]
    columns = [bitarray() for _ in range(plan.code.bits)]
    either, beyond = plan.rounding == "faithful", _beyond(plan)
    free = [bitarray() for _ in range(plan.code.bits if either or beyond is not None else 0)]
    done = 0
    for values in value_blocks(plan.function, plan.words, centres):
        _append(columns, plan.code.encode(values).words)
        if free:
            bits_free = plan.code.neighbour_bits(values) if either else np.zeros(len(values), "u4")
            if beyond is not None:
                bits_free[beyond[done : done + len(values)]] = plan.code.cells - 1
            _append(free, bits_free)
        done += len(values)
    return TruthTable(bits, tuple(map(frozenbitarray, columns)), tuple(map(frozenbitarray, free)))


def _beyond(plan: TermPlan) -> NDArray[np.bool_] | None:
    """Tell at which rows a variable lies where it never is; None if there are no such rows."""
    rows = np.zeros(1, np.bool_)
    for word in plan.words:
        rows = (rows[:, None] | _never(word)[None, :]).ravel()
    return rows if rows.any() else None


def _never(word: Word) -> NDArray[np.bool_]:
    """Tell which combinations of a word's remaining bits stand for cells beyond its range."""
    code, reach = word.code, word.variable.reach
    cells = code.index(np.arange(code.cells, dtype=np.uint32))
    if word.sum is not None:
        occurs = np.asarray(word.sum.reached().reshape(code.cells, -1).any(axis=1))
        never = ~occurs[cells]
    else:
        low = code.range.low + cells * code.step
        # A value on a border goes up, so that the cell that begins where the range ends has one.
        never = (low + code.step <= reach.low) | (low > reach.high + TIE * code.step)
    # Without first bits a word stands for its mirror images, too.
    return np.asarray(never.reshape(1 << word.dropped, -1).all(axis=0))


def _reached(word: Word) -> object:
    """Return what alone says which cells of a sum occur; None of what is no sum."""
    if word.sum is None:
        return None
    return tuple((one.code, one.variable.reach, one.times) for one in word.sum.addends)


def word_centres(word: Word) -> NDArray[np.float64]:
    """Return the value that each combination of a word's remaining bits stands for.

    Where first bits are dropped the word stands for the lowest part of the range, which the term
    repeats, or repeats with the other sign.
    """
    return word.code.decode(np.arange(1 << word.inputs, dtype=np.uint32))


def value_blocks(
    term: Term, words: tuple[Word, ...], centres: list[NDArray[np.float64]]
) -> Iterable[NDArray[np.float64]]:
    """Yield the term's values row by row, in blocks that share their leading input words."""
    inner, rows = len(words), 1
    while inner and rows * len(centres[inner - 1]) <= CHUNK:
        inner -= 1
        rows *= len(centres[inner])
    axes = len(words) - inner
    values = {}
    for k in range(inner, len(words)):
        shape = [1] * axes
        shape[k - inner] = -1
        values[words[k].variable.name] = centres[k].reshape(shape)
    for lead in np.ndindex(*(len(c) for c in centres[:inner])):
        for k, index in enumerate(lead):
            values[words[k].variable.name] = np.asarray(centres[k][index])
        block = np.broadcast_to(term.evaluate(values), [len(c) for c in centres[inner:]])
        yield block.ravel()


def _append(columns: list[bitarray], words: NDArray[np.uint32]) -> None:
    """Append the bits of words to columns, the first column their most significant bit."""
    for k, column in enumerate(reversed(columns)):
        bits = bitarray()
        bits.frombytes(np.packbits((words >> np.uint32(k) & np.uint32(1)) != 0).tobytes())
        column.extend(bits[: len(words)])
