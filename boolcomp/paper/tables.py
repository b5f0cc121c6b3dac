"""Truth tables of terms: tabulation, PLA text, signs and sums outside, and equal arithmetic."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from bitarray import bitarray, frozenbitarray

from boolcomp.base.errors import DataError
from boolcomp.codes import TIE
from boolcomp.logic import network
from boolcomp.logic.adders import added, cells_of, word_of
from boolcomp.logic.network import FALSE, TRUE, Builder, copied
from boolcomp.logic.order import in_order
from boolcomp.logic.simulation import TruthTable
from boolcomp.paper.plan import MOST_INPUT_BITS
from boolcomp.problem.word_codes import CODES
from boolcomp.twolevel.cubes import points_of, rasterised

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.codes import Code
    from boolcomp.logic.network import Network
    from boolcomp.paper.plan import CellAngleSum, Plan, TableWord, TermPlan
    from boolcomp.problem.words import Input
    from boolcomp.terms.terms import Term
    from boolcomp.twolevel.cubes import Cubes

    Literals = Mapping[str, Sequence[int]]
    CoverWords = Mapping[TermPlan, NDArray[np.uint32]]


# --------------------------------------------------------------------------------------------------
# Tabulation of a term over all its input words, one bit vector per column.
# --------------------------------------------------------------------------------------------------

CHUNK = 1 << 17  # rows at a time, to avoid a large array of floats


@dataclass(frozen=True, slots=True)
class TermTable:
    """A term's plan and its truth table; `problem` is a name."""

    problem: str
    plan: TermPlan
    table: TruthTable

    @property
    def input_labels(self) -> tuple[str, ...]:
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
    """Tabulate every term of a plan; terms with the same function share one table."""
    plan.require_tables()
    made: dict[object, TruthTable] = {}
    return tuple(TermTable(plan.problem.name, term, _once(made, term)) for term in plan.terms)


def _once(made: dict[object, TruthTable], plan: TermPlan) -> TruthTable:
    key = signature(plan)
    if key not in made:
        made[key] = tabulate(plan)
    return made[key]


def signature(plan: TermPlan) -> object:
    """Return a key of a plan's table: equal signatures have equal tables.

    Variables are identified by position, and values are fractions of the output range. For example,
    (4 + 5 cos q2) q̈2 over ±12.5 and half of (4 + 5 cos q2) q̈1 over ±6.25 are one function.
    """
    term, high = plan.function, plan.code.range.high
    place = {variable: k for k, variable in enumerate(term.variables)}
    positions = {variable.name: place[variable] for variable in term.arguments}
    scale, factor = 1.0, []
    for variable in term.factor:
        reach = variable.reach
        centred = reach.low == -reach.high
        scale *= reach.high if centred else 1.0
        factor.append((place[variable], None if centred else reach))
    waves = tuple(
        (
            tuple((positions[name], k) for name, k in wave.multiples),
            tuple((positions[name], power) for name, power in wave.powers),
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
    """Evaluate a term at the centre of every input cell and encode the result."""
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
    """Tell which rows belong to values that a variable never has; None if there are none."""
    rows = np.zeros(1, np.bool_)
    for word in plan.words:
        rows = (rows[:, None] | _never(word)[None, :]).ravel()
    return rows if rows.any() else None


def _never(word: TableWord) -> NDArray[np.bool_]:
    """Tell which combinations of a word's remaining bits belong to cells beyond its range."""
    code, reach = word.code, word.variable.reach
    cells = code.index(np.arange(code.cells, dtype=np.uint32))
    if word.sum is not None:
        occurs = np.asarray(word.sum.reached().reshape(code.cells, -1).any(axis=1))
        never = ~occurs[cells]
    else:
        low = code.range.low + cells * code.step
        # Encoders round a value on a border up, so the cell above the end of the range occurs.
        never = (low + code.step <= reach.low) | (low > reach.high + TIE * code.step)
    # A word without first bits represents its mirror images, too.
    return np.asarray(never.reshape(1 << word.dropped, -1).all(axis=0))


def _reached(word: TableWord) -> object:
    """Return a key of the cells of a sum that occur; None for a word of an input."""
    if word.sum is None:
        return None
    return tuple((one.code, one.variable.reach, one.times) for one in word.sum.addends)


def word_centres(word: TableWord) -> NDArray[np.float64]:
    """Return the value of each combination of a word's remaining bits.

    A word without first bits represents the lowest part of its range; the term repeats this part,
    possibly with the other sign.
    """
    return word.code.decode(np.arange(1 << word.inputs, dtype=np.uint32))


def value_blocks(
    term: Term, words: tuple[TableWord, ...], centres: list[NDArray[np.float64]]
) -> Iterable[NDArray[np.float64]]:
    """Yield the term's values row by row, in blocks with common leading input words."""
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
    """Append the bits of words to columns; the first column is the most significant bit."""
    for k, column in enumerate(reversed(columns)):
        bits = bitarray()
        bits.frombytes(np.packbits((words >> np.uint32(k) & np.uint32(1)) != 0).tobytes())
        column.extend(bits[: len(words)])


# --------------------------------------------------------------------------------------------------
# Truth tables as PLA files.
#
# The commented header suffices to rebuild the table. It has the problem, the term with its
# coefficients, the code and range of its value, and the code, range and dropped bits of inputs.
# --------------------------------------------------------------------------------------------------

TITLE = "boolcomp truth table, format 1"
MEANING = """\
Words are mid-rise: cell k of 2^bits stands for low + (k + 1/2) (high - low) / 2^bits. In gray
code its word is k xor (k >> 1). A dropped word lacks its most significant bits: the term repeats.
Labels count bits from 0, the least significant; the most significant comes first."""
OUTSIDE = """\
Bits that turn the sign are among those that are dropped: outside, an XOR puts them into the first
output bit. A sum is made outside, of angles modulo a turn: cells of it are leading bits."""
LIMITED = "Outputs are free where an input's cell lies beyond what it is said to be within."


def render_table(entry: TermTable) -> str:
    """Return the PLA text of a term's table: commented header, labels, one row per input word."""
    plan, table = entry.plan, entry.table
    lines = [TITLE, f"robot: {entry.problem}"]
    lines.append(f"term: {plan.term.name} of {plan.term.output} = {plan.term}")
    lines.append(f"output: {plan.term.name} {plan.code}")
    lines.append(f"rounding: {plan.rounding}")
    lines += [f"input: {word}{_beyond_code(word.variable)}" for word in plan.words]
    lines += MEANING.split("\n")
    if not plan.whole:
        lines += OUTSIDE.split("\n")
    lines += CODES[plan.code.kind].note.splitlines()
    if any(word.variable.word != word.variable.reach for word in plan.read):
        lines.append(LIMITED)
    head = "".join(f"# {line}\n" for line in lines)
    labels = [("ilb", entry.input_labels), ("ob", entry.output_labels)]
    keys = f".i {table.inputs}\n.o {table.outputs}\n" + "".join(
        f".{key} {' '.join(names)}\n" for key, names in labels if names
    )
    return f"{head}{keys}.p {1 << table.inputs}\n{_rows_text(table)}.e\n"


def _beyond_code(variable: Input) -> str:
    """Return the part of a header line that describes a variable beyond its code."""
    turns = ", turns" if variable.angle else ""
    return turns if variable.word == variable.reach else f"{turns}, within {variable.reach}"


def _rows_text(table: TruthTable) -> str:
    """Return all rows as text, assembled as one block of bytes."""
    count = 1 << table.inputs
    rows = np.empty((count, table.inputs + table.outputs + 2), dtype=np.uint8)
    rows[:, : table.inputs] = _counting(table.inputs) + ord("0")
    rows[:, table.inputs] = ord(" ")
    columns, free = _shown(table)
    rows[:, table.inputs + 1 : -1] = np.where(free, ord("-"), columns + ord("0")).T
    rows[:, -1] = ord("\n")
    return rows.tobytes().decode("ascii")


def _shown(table: TruthTable) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return the columns and the free columns as rows of bits."""
    count = 1 << table.inputs
    columns, free = (
        np.array(
            [np.unpackbits(np.frombuffer(c.tobytes(), dtype=np.uint8))[:count] for c in several],
            dtype=np.uint8,
        ).reshape(-1, count)
        for several in (table.columns, table.free)
    )
    return columns, free if table.free else np.zeros_like(columns)


def _counting(bits: int) -> NDArray[np.uint8]:
    """Return the bits of 0, 1, 2 … as rows, most significant first."""
    words = np.arange(1 << bits, dtype=np.uint32)
    shifts = np.arange(bits - 1, -1, -1, dtype=np.uint32)
    return (words[:, None] >> shifts & np.uint32(1)).astype(np.uint8)


# --------------------------------------------------------------------------------------------------
# Sums of angles before tables and signs after them, as logic and as tables.
#
#     words of inputs ─ natural ─ adder mod 2^n ─ code ─┬─ table ─ XOR of the first bit ─ value
#                                                       └─ bits that change the sign ─┘
# --------------------------------------------------------------------------------------------------


def covered_table(table: TruthTable, cubes: Cubes) -> TruthTable:
    """Return the table of a cover; a table without free bits is returned as it is."""
    if not table.free:
        return table
    points = points_of(rasterised(cubes), table.inputs)
    return TruthTable(table.inputs, tuple(_column(one) for one in points))


def composed(plan: TermPlan, table: TruthTable) -> TruthTable:
    """Return a term's table over the words of inputs, with signs and sums applied."""
    row, turned = _rows_of_words(plan)
    columns, free = (
        [_bits(one)[row] for one in several] for several in (table.columns, table.free)
    )
    columns[0] = columns[0] ^ turned
    inputs = sum(word.inputs for word in plan.read)
    return TruthTable(inputs, *(tuple(map(_column, several)) for several in (columns, free)))


def _rows_of_words(plan: TermPlan) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the table's row for all words of inputs, and where the value's sign changes."""
    cells = {}
    for axis, word in enumerate(plan.read):
        # First bits without effect may have any value.
        shape = [1] * len(plan.read)
        shape[axis] = -1
        here = word.code.index(np.arange(1 << word.inputs, dtype=np.uint32)).astype(np.int64)
        cells[word.variable.name] = here.reshape(shape)
    row, turned = np.zeros([1] * len(plan.read), np.int64), np.zeros((), np.bool_)
    for word in plan.words:
        index, turns = word.at(cells)
        row = row << word.inputs | index
        turned = turned if turns is None else turned ^ turns
    shape = [1 << word.inputs for word in plan.read]
    return np.broadcast_to(row, shape).ravel(), np.broadcast_to(turned, shape).ravel()


def _bits(column: frozenbitarray) -> NDArray[np.bool_]:
    packed = np.frombuffer(column.tobytes(), dtype=np.uint8)
    return np.unpackbits(packed, count=len(column)).view(np.bool_)


def _column(bits: NDArray[np.bool_]) -> frozenbitarray:
    found = frozenbitarray(np.packbits(bits).tobytes())
    return found if len(found) == len(bits) else found[: len(bits)]


def with_outside(plan: TermPlan, table: Network) -> Network:
    """Return the logic of a term over `plan.read`: its table, with signs and sums applied."""
    if plan.whole:
        return table
    builder = Builder(sum(word.inputs for word in plan.read))
    literals: dict[str, list[int]] = {}
    place = 0
    for word in plan.read:
        own = [builder.input(place + k) for k in range(word.inputs)]
        literals[word.variable.name] = [2 * FALSE] * word.dropped + own
        place += word.inputs
    read: list[int] = []
    turning = 2 * FALSE
    for word in plan.words:
        bits = _word(builder, word, literals)
        read += bits[word.dropped :]
        for k in word.turning:
            turning = builder.node(network.XOR2, turning, bits[k])
    first, *others = copied(table, builder, read)
    return in_order(builder.build([builder.node(network.XOR2, first, turning), *others]))


def _word(builder: Builder, word: TableWord, literals: Literals) -> Sequence[int]:
    """Return all bits of a word; those of a sum come from an adder."""
    if word.sum is None:
        return literals[word.variable.name]
    full = _sum(builder, word.sum, literals)
    return word_of(builder, full[: word.code.bits], word.code.kind, tread=False)


def _sum(builder: Builder, total: CellAngleSum, literals: Literals) -> list[int]:
    """Return the bits of the cell of a sum, most significant first."""
    columns: dict[int, list[int]] = defaultdict(list)
    constant = total.offset
    for one, weight in zip(total.addends, total.weights, strict=True):
        cell = cells_of(builder, literals[one.variable.name], one.code.kind, tread=False)
        size = abs(weight)
        if weight < 0:  # -k = (last cell - k) - last cell
            cell = [bit ^ 1 for bit in cell]
            constant -= size * (one.code.cells - 1)
        for at, bit in enumerate(reversed(cell)):
            for shift in range(size.bit_length()):
                if size >> shift & 1:
                    columns[at + shift].append(bit)
    for place in range(total.bits):
        if constant >> place & 1:
            columns[place].append(2 * TRUE)
    return added(builder, columns, total.bits)[::-1]


# --------------------------------------------------------------------------------------------------
# The outputs of a plan by arithmetic: the reference for its logic, and for errors.
#
# Every term is evaluated at the centres of its own input cells and encoded, as its truth table
# would be. The cells are added, and the sum is encoded. This needs no tables, and works for any
# width. The words of tables with free bits must be given, because they depend on covers.
# --------------------------------------------------------------------------------------------------

BLOCK = 1 << 14  # samples whose columns stay in the second-level cache
NOTHING: CoverWords = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Quantised:
    """Outputs at the centres of their cells, their words, (n, outputs), and saturated samples."""

    values: NDArray[np.float64]
    words: NDArray[np.uint32]
    saturated: int


def quantised(
    plan: Plan, arrays: Sequence[NDArray[np.float64]], covers: CoverWords = NOTHING
) -> Quantised:
    """Evaluate a plan's tables and sums for the arrays of all groups of inputs.

    The words of tables in `covers` are looked up instead of computed.
    """
    columns, codes = plan.problem.columns(arrays), finest_codes(plan)
    count = len(arrays[0])
    values = np.empty((count, len(plan.outputs)))
    words = np.empty((count, len(plan.outputs)), dtype=np.uint32)
    saturated = 0
    for start in range(0, count, BLOCK):
        rows = slice(start, start + BLOCK)
        block = {name: column[rows] for name, column in columns.items()}
        cells = _Cells(block, codes, {}, {})
        for place, output in enumerate(plan.outputs):
            total = np.zeros(len(words[rows]))
            for term in output.terms:
                total += cells.value(term, covers.get(term))
            coded = output.word.encode(total)
            words[rows, place] = coded.words
            values[rows, place] = output.word.decode(coded.words)
            saturated += coded.saturated
    return Quantised(values, words, saturated)


def finest_inputs(
    plan: Plan, arrays: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], ...]:
    """Round inputs to the centres of the finest words that any term reads."""
    found = tuple(array.copy() for array in arrays)
    columns = plan.problem.columns(found)
    for name, code in finest_codes(plan).items():
        columns[name][:] = code.centre(code.cell(columns[name])[0])
    return found


def finest_codes(plan: Plan) -> dict[str, Code]:
    """Return the codes of input words by name, as wide as any term reads them."""
    codes: dict[str, Code] = {}
    for term in plan.terms:
        for word in term.read:
            known = codes.setdefault(word.variable.name, word.code)
            if known.bits < word.code.bits:
                codes[word.variable.name] = word.code
    return codes


@dataclass(frozen=True, slots=True)
class _Cells:
    """Samples of inputs by name, with their cells and centres, cached by word length.

    Words have the code in `codes`; terms read their leading bits.
    """

    block: Mapping[str, NDArray[np.float64]]
    codes: Mapping[str, Code]
    cells: dict[tuple[str, int], NDArray[np.int64]]
    centres: dict[tuple[str, int], NDArray[np.float64]]

    def value(self, term: TermPlan, looked: NDArray[np.uint32] | None) -> NDArray[np.float64]:
        """Return the coded value of a term, computed or looked up in its table's words."""
        if term.whole and looked is None:
            at = {word.variable.name: self.centre(word.variable.name, word.code)
                  for word in term.words}  # fmt: skip
            return term.code.centre(self._cell(term, at))
        read = {word.variable.name: self.cell(word.variable.name, word.code) for word in term.read}
        row = np.zeros(len(next(iter(self.block.values()))), np.int64)
        at, turned = {}, np.zeros(len(row), np.bool_)
        for word in term.words:
            index, turns = word.at(read)
            row = row << word.inputs | index
            at[word.variable.name] = word.code.decode(index)
            turned = turned if turns is None else turned ^ turns
        found = self._cell(term, at) if looked is None else term.code.index(looked[row])
        # In Gray code a change of the first bit is a mirror image.
        found = np.where(turned, term.code.cells - 1 - found.astype(np.int64), found)
        return term.code.centre(found)

    def _cell(self, term: TermPlan, at: Mapping[str, NDArray[np.float64]]) -> NDArray[np.int64]:
        count = next(iter(self.block.values())).shape
        return term.code.cell(np.broadcast_to(term.function.evaluate(at), count))[0]

    def cell(self, name: str, code: Code) -> NDArray[np.int64]:
        """Return the cells of an input."""
        if (name, code.bits) not in self.cells:
            finest = self.codes[name]
            if finest.bits == code.bits:
                self.cells[name, code.bits] = finest.cell(self.block[name])[0]
            else:
                self.cells[name, code.bits] = self.cell(name, finest) >> finest.bits - code.bits
        return self.cells[name, code.bits]

    def centre(self, name: str, code: Code) -> NDArray[np.float64]:
        """Return the centres of the cells of an input."""
        if (name, code.bits) not in self.centres:
            self.centres[name, code.bits] = code.centre(self.cell(name, code))
        return self.centres[name, code.bits]
