"""Predict the cost and the error of a sketch's widths, without building a graph.

Every rounding is an independent noise: uniform for unread low bits of an input, ± half a bit's
weight for every bit that a heap discards. The adjoint of the sketch at sampled states gives the
sensitivity of each output to each word; variances add up. A node's cost and noise depend on its own
widths and on those of its operands, so a change of one width is cheap to evaluate.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from boolcomp.compact.costs import NODES
from boolcomp.compact.realisation import SumShape, angle_shape, shift_of, sum_shape
from boolcomp.compact.sketch import (
    TURN,
    Addend,
    AngleSum,
    Curve,
    Linear,
    Product,
    Role,
    Sketch,
    SketchNode,
    SourceWord,
    Table,
    WidthVariable,
    WordSum,
    addend_means,
    addend_reads,
    addend_value,
    addend_variables,
    is_kept,
    operands,
    own_variables,
    reads,
    shape_variables,
)
from boolcomp.compact.tables import (
    AngleShape,
    Format,
    Pair,
    SampleStatistics,
    bipartite_error,
    factor_grids,
    heap_bits,
    heap_constant,
    is_half,
    linear_rows,
    product_grid,
    split_of,
    split_table,
    table_domain,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.costs import CostModel, WordKind
    from boolcomp.compact.sketch import Widths
    from boolcomp.compact.tables import Domain, Split, TablePieces, Tabulated
    from boolcomp.words.graph import Grid, HeapRow

    Floats = NDArray[np.float64]
    Key = bytes  # the widths that a sum depends on, as 16-bit numbers


# --------------------------------------------------------------------------------------------------
# Norms of errors. In mean square, variances of independent roundings add. In the worst case, all
# roundings are as large as possible where outputs are most sensitive.
# --------------------------------------------------------------------------------------------------


class MeanSquare:
    """Variances, of roundings that are independent."""

    def size(self, derivatives: Floats) -> Floats:
        """Return the norm of derivatives, (outputs, states), for every output."""
        return np.asarray((derivatives * derivatives).mean(axis=1))

    def scaled(self, factor: float) -> float:
        """Return the norm of a factor, which multiplies that of an error."""
        return factor * factor

    def rounding(self, width: float, count: float = 1) -> float:
        """Return the error of `count` words that may lie anywhere in a width."""
        return count * width**2 / 12

    def unread(self, width: float, known: float) -> float:
        """Return the error that a coarse width adds to that of a finer one."""
        return (width**2 - known**2) / 12

    def missed(self, variance: float) -> float:
        """Return the error for a mean square."""
        return variance

    def lost(self, part: HeapRow | Grid) -> float:
        """Return the error of the bits that a heap discards, in its steps."""
        return part.lost


class WorstNorm:
    """The largest possible errors, added up."""

    def size(self, derivatives: Floats) -> Floats:
        return np.asarray(np.abs(derivatives).max(axis=1))

    def scaled(self, factor: float) -> float:
        return abs(factor)

    def rounding(self, width: float, count: float = 1) -> float:
        return count * abs(width) / 2

    def unread(self, width: float, known: float) -> float:
        return (width - known) / 2

    def missed(self, variance: float) -> float:
        return math.sqrt(3 * variance)

    def lost(self, part: HeapRow | Grid) -> float:
        return part.most_lost


Norm: TypeAlias = MeanSquare | WorstNorm
MEAN_SQUARE, WORST = MeanSquare(), WorstNorm()


# --------------------------------------------------------------------------------------------------
# Widths as arrays, and incremental updates of heaps.
#
# A sum may have a hundred addends, and a search needs it again after every change of one width.
# --------------------------------------------------------------------------------------------------

_T = TypeVar("_T")
MOST_RESULTS = 100_000
ABSENT = -1000  # the value of a missing width


class WidthSettings(dict[WidthVariable, int]):
    """Widths that are also an array in a given order, for fast keys of caches."""

    __slots__ = ("array", "order")

    def __init__(
        self, widths: Mapping[WidthVariable, int], order: Mapping[WidthVariable, int]
    ) -> None:
        super().__init__(widths)
        self.order = order
        self.array: NDArray[np.int16] = np.full(len(order), ABSENT, np.int16)
        for variable, value in widths.items():
            if variable in order:
                self.array[order[variable]] = value

    def __setitem__(self, variable: WidthVariable, value: int) -> None:
        super().__setitem__(variable, value)
        if variable in self.order:
            self.array[self.order[variable]] = value

    def update(self, widths: Mapping[WidthVariable, int]) -> None:  # type: ignore[override]
        for variable, value in widths.items():
            self[variable] = value

    def copy(self) -> WidthSettings:
        """Return an independent copy."""
        made = WidthSettings.__new__(WidthSettings)
        dict.update(made, self)
        made.order, made.array = self.order, self.array.copy()
        return made


class BoundedCache(dict[tuple[int | None, ...], _T]):
    """Results by the widths that they depend on; it is cleared when it is full."""

    __slots__ = ()

    def __setitem__(self, key: tuple[int | None, ...], value: _T) -> None:
        if len(self) >= MOST_RESULTS:
            self.clear()
        super().__setitem__(key, value)


@dataclass(frozen=True, slots=True, eq=False)
class Contribution:
    """An addend in a heap: cost, discarded variance in steps², noise, bits by column."""

    cost: float
    lost: float
    noise: Floats
    first: int
    counts: tuple[int, ...]


class Remembered:
    """The parts of one sum for the latest widths, with their totals."""

    def __init__(
        self,
        variables: Sequence[WidthVariable],
        addends: Sequence[Sequence[WidthVariable]],
        rows: int,
    ) -> None:
        """`variables` are the widths of a sum in order, `addends` those of every addend."""
        places: dict[WidthVariable, list[int]] = {variable: [] for variable in variables}
        for k, own in enumerate(addends):
            for variable in own:
                places[variable].append(k)
        self._addends = [tuple(places[variable]) for variable in variables]
        self._key: Key = b""
        self._parts: list[Contribution] = []
        self._noise = np.zeros((len(addends) + 1, rows))
        self._counts: list[int] = []

    def update(self, key: Key, size: int, make: Callable[[int], Contribution]) -> None:
        """Update the parts for new widths; `make` returns the part of an addend."""
        if size != len(self._counts):
            self._counts = [0] * size
            self._parts = [make(k) for k in range(len(self._noise) - 1)]
            for k, part in enumerate(self._parts):
                self._noise[k + 1] = part.noise
                self._count(part, 1)
        else:
            now, then = np.frombuffer(key, np.int16), np.frombuffer(self._key, np.int16)
            moved = np.flatnonzero(now != then).tolist()
            for k in {k for i in moved for k in self._addends[i]}:
                old, new = self._parts[k], make(k)
                if new is not old:
                    self._count(old, -1)
                    self._count(new, 1)
                    self._parts[k], self._noise[k + 1] = new, new.noise
        self._key = key

    def _count(self, part: Contribution, sign: int) -> None:
        counts = self._counts
        for column, number in enumerate(part.counts, part.first):
            counts[column] += sign * number

    def total(self) -> tuple[float, float, Floats, list[int]]:
        """Return cost, discarded variance, noise and bits by column, added up in their order."""
        cost, lost = 0.0, 0.0
        for part in self._parts:
            cost, lost = cost + part.cost, lost + part.lost
        # Sequential sums: pairwise ones would differ in the last place.
        noise = np.add.accumulate(self._noise, axis=0)[-1]
        return cost, lost, noise, list(self._counts)


# --------------------------------------------------------------------------------------------------
# Sensitivities of outputs to errors of words: the adjoint of a sketch at sampled states.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """Mean squares of derivatives, or another norm of them, one for every output.

    Tuples follow the addends.
    """

    value: Floats  # of a node's own value
    slope: Floats  # of a table's argument
    read_a: tuple[Floats, ...]  # of the words that products read
    read_b: tuple[Floats, ...]
    size: tuple[Floats, ...]  # of an addend, relative to itself
    spread: tuple[Floats, ...]  # of replacing an addend by its mean


def stacked(one: Sensitivity, other: Sensitivity) -> Sensitivity:
    """Concatenate the rows of two sensitivities."""

    def both(x: tuple[Floats, ...], y: tuple[Floats, ...]) -> tuple[Floats, ...]:
        return tuple(np.concatenate(pair) for pair in zip(x, y, strict=True))

    return Sensitivity(
        np.concatenate([one.value, other.value]),
        np.concatenate([one.slope, other.slope]),
        both(one.read_a, other.read_a),
        both(one.read_b, other.read_b),
        both(one.size, other.size),
        both(one.spread, other.spread),
    )


def sensitivities(
    sketch: Sketch,
    values: Sequence[Floats],
    norm: Norm = MEAN_SQUARE,
    *,
    apart: bool = False,
    reach: Floats | None = None,
) -> list[Sensitivity]:
    """Return the sensitivities of outputs to the nodes' values, by walking back from the outputs.

    With `apart` every output has states of its own. An output that saturates beyond its `reach`
    does not change there.
    """
    shape = (len(sketch.outputs), len(values[sketch.outputs[0]]))
    adjoint = [np.zeros(shape) for _ in sketch.nodes]
    for output, place in enumerate(sketch.outputs):
        if apart:
            first, end = (k * shape[1] // shape[0] for k in (output, output + 1))
            adjoint[place][output, first:end] += math.sqrt(shape[0])
        elif reach is not None:
            adjoint[place][output] += within(values[place], reach[output])
        else:
            adjoint[place][output] += 1
    found: list[Sensitivity] = []
    for place in reversed(range(len(sketch.nodes))):
        node, own = sketch.nodes[place], adjoint[place]
        slope, addends = np.zeros(shape[0]), _Addends(norm, [], [], [], [])
        if isinstance(node, AngleSum):
            for item, multiple in node.items:
                adjoint[item] += multiple * own * _radians(sketch.nodes[item])
        elif isinstance(node, Table):
            argument = sketch.argument(node, values)
            by_word = own * _steepness(sketch, node, argument)
            slope = norm.size(by_word)
            unit = _radians(sketch.nodes[node.source]) if node.angle else 1.0
            adjoint[node.source] += by_word * unit
        elif isinstance(node, WordSum):
            for addend in node.addends:
                addends.walk_back(addend, own, values, adjoint)
        found.append(Sensitivity(norm.size(own), slope, *addends.frozen()))
    return found[::-1]


def within(values: Floats, reach: float) -> NDArray[np.bool_]:
    """Return the states at which an output does not saturate; all if it always does."""
    inside = np.asarray(np.abs(values) <= reach)
    return inside if inside.any() else np.ones_like(inside)


def _steepness(sketch: Sketch, table: Table, argument: Floats) -> Floats:
    """Return the derivative of a table's value by its argument."""
    if not isinstance(table, Curve):
        return table.slope(argument)
    return table.steepness(argument, exact=isinstance(sketch.nodes[table.source], SourceWord))


def _radians(node: SketchNode) -> float:
    return 2 * math.pi / (1 << TURN) if isinstance(node, WordSum) else 1.0


@dataclass(frozen=True, slots=True)
class _Addends:
    """The lists of a sensitivity under construction."""

    norm: Norm
    read_a: list[Floats]
    read_b: list[Floats]
    size: list[Floats]
    spread: list[Floats]

    def walk_back(
        self, addend: Addend, own: Floats, values: Sequence[Floats], adjoint: list[Floats]
    ) -> None:
        """Add an addend of a sum with a known adjoint; update the adjoints of its operands."""
        value = addend_value(addend, values)
        self.size.append(self.norm.size(own * value))
        self.spread.append(self.norm.size(own * (value - value.mean())))
        if isinstance(addend, Linear):
            adjoint[addend.node] += addend.factor * own
            self.read_a.append(np.zeros(len(own)))
            self.read_b.append(np.zeros(len(own)))
            return
        by_a = addend.factor * own * values[addend.b]
        by_b = addend.factor * own * values[addend.a]
        adjoint[addend.a] += by_a
        adjoint[addend.b] += by_b
        self.read_a.append(self.norm.size(by_a))
        self.read_b.append(self.norm.size(by_b))

    def frozen(self) -> tuple[tuple[Floats, ...], ...]:
        return tuple(self.read_a), tuple(self.read_b), tuple(self.size), tuple(self.spread)


# --------------------------------------------------------------------------------------------------
# Tables: their costs, and their errors besides the rounding of entries.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TableModel:
    """A table's cost, the bits of its words, the bits it reads, and the variance of splitting it.

    `factors` are two words whose product is added to the other words.
    """

    cost: float
    bits: tuple[int, ...]
    read: int
    missed: float
    factors: tuple[Format, ...] = ()


def table_model(
    node: Table,
    domain: Domain,
    split: Split,
    made: TablePieces,
    costs: Callable[[Tabulated, bool], float],
    *,
    operand: bool,
) -> TableModel:
    """Return the model of a table in pieces; `costs` takes a table and whether it is an operand."""
    missed = made.variance
    if isinstance(split, Pair):
        missed = bipartite_error(node, domain, split.low, split.lead)
    cost = sum(costs(table, operand) for table in made.tables)
    factors: tuple[Format, ...] = ()
    if made.product is not None:
        slopes, low = made.product
        cost += costs(slopes.table, True)  # noqa: FBT003 (a callable has no keywords)
        factors = slopes.format, low.format
    bits = tuple(table.bits for table in made.tables)
    return TableModel(cost, bits, domain.read, missed, factors)


# --------------------------------------------------------------------------------------------------
# The model of a whole sketch.
# --------------------------------------------------------------------------------------------------

MOST_KNOWN = 1000  # cached results of a node
MOST_READ = 14  # bits that a table may read
MOST_SYNTHESISED = 9  # inputs of a core whose nodes are counted; larger ones are estimated


def kind_of(node: SketchNode) -> WordKind:
    """Return the kind of a word for cost models."""
    if isinstance(node, Table):
        return "table"
    return "sum" if isinstance(node, WordSum) else "input"


class Model:
    """Costs and noise of a sketch's nodes for any widths."""

    def __init__(
        self,
        sketch: Sketch,
        inputs: Mapping[str, Floats],
        extremes: Mapping[str, Floats],
        worst: Mapping[str, Floats] | None = None,
        costs: CostModel = NODES,
        *,
        sure: bool = False,
        peaks: Mapping[str, Floats] | None = None,
        reach: Floats | None = None,
    ) -> None:
        """Compute sensitivities at states `inputs`, and the largest values also at `extremes`.

        With `peaks`, states where outputs are most sensitive, noise is that of the worst case.
        `worst` are states with large errors, equally many for every output in order; the rows of
        noise are then doubled by those of every output at its worst states. `sure` means that
        `inputs` are all states. Beyond its `reach` an output saturates, and has no noise.
        """
        self.sketch, self.costs = sketch, costs
        self.most_synthesised = MOST_SYNTHESISED
        self.rows = len(sketch.outputs) * (1 if worst is None else 2)
        values = sketch.evaluate(inputs)
        ends = sketch.evaluate(extremes)
        self.statistics = SampleStatistics(
            tuple(
                float(max(np.abs(v).max(), np.abs(w).max()))
                for v, w in zip(values, ends, strict=True)
            ),
            tuple(addend_means(node, values) for node in sketch.nodes),
            sure,
        )
        self.norm: Norm = WORST if peaks else MEAN_SQUARE
        states = sketch.evaluate(peaks) if peaks else values
        self.sensitivities = sensitivities(sketch, states, self.norm, reach=reach)
        if peaks:  # squares, say, do not differ at the ends of a word
            inside = sensitivities(sketch, values, self.norm, reach=reach)
            self.sensitivities = [
                replace(one, spread=tuple(map(np.maximum, one.spread, other.spread)))
                for one, other in zip(self.sensitivities, inside, strict=True)
            ]
        if worst is not None:
            again = sensitivities(sketch, sketch.evaluate(worst), apart=True)
            pairs = zip(self.sensitivities, again, strict=True)
            self.sensitivities = [stacked(one, other) for one, other in pairs]
        self.operands = operands(sketch)
        self._tables: dict[tuple[object, ...], TableModel] = {}
        self._looked_up: BoundedCache[TableModel] = BoundedCache()
        self._shapes = shape_variables(sketch)
        self._variables = [self._local_variables(place) for place in range(len(sketch.nodes))]
        self._addends = [self._addend_variables(place) for place in range(len(sketch.nodes))]
        self._order = {k: i for i, k in enumerate(dict.fromkeys(itertools.chain(*self._variables)))}
        self._indices = [np.array([self._order[k] for k in ks], np.intp) for ks in self._variables]
        self._known: list[dict[bytes, tuple[float, Floats]]] = [{} for _ in sketch.nodes]
        self._parts: BoundedCache[Contribution] = BoundedCache()
        self._heaps: dict[int, Remembered] = {}
        self._turns: BoundedCache[SumShape] = BoundedCache()
        self._spreads: BoundedCache[float] = BoundedCache()

    def _local_variables(self, place: int) -> tuple[WidthVariable, ...]:
        """Return the widths on which a node's cost and noise depend."""
        node = self.sketch.nodes[place]
        found = dict.fromkeys(own_variables(place, node))
        for k in reads(node):
            found |= dict.fromkeys(self._shapes[k])
        return tuple(found)

    def _addend_variables(self, place: int) -> tuple[tuple[WidthVariable, ...], ...]:
        """Return, for every addend of a sum, the widths on which its part of the heap depends."""
        node = self.sketch.nodes[place]
        if not isinstance(node, WordSum):
            return ()
        found = []
        for k, addend in enumerate(node.addends):
            own = [Role.CUT.of(place), *addend_variables(place, node, k)]
            shapes = [v for j in addend_reads(addend) for v in self._shapes[j]]
            found.append(tuple(dict.fromkeys([*own, *shapes])))
        return tuple(found)

    def settings(self, widths: Widths) -> WidthSettings:
        return WidthSettings(widths, self._order)

    def lsb(self, widths: Widths, place: int) -> int:
        """Return the exponent of the lowest bit of a word that is not an angle."""
        node = self.sketch.nodes[place]
        if isinstance(node, SourceWord):
            return 0
        return widths[(Role.CUT if isinstance(node, WordSum) else Role.EXPONENT).of(place)]

    def bits(self, widths: Widths, place: int) -> int:
        """Return the number of bits of a word."""
        node = self.sketch.nodes[place]
        if isinstance(node, SourceWord):
            return node.bits
        if isinstance(node, AngleSum):
            return self.turn(widths, place).word.bits
        if isinstance(node, WordSum):
            lsb = widths[Role.CUT.of(place)]
            if node.angle:
                return TURN - lsb
            if place in self.sketch.outputs:
                return self.statistics.output_bits(place, lsb)
            return heap_bits(self.statistics.largest[place], lsb, output=False)
        return self.words(widths, place)[0]

    def words(self, widths: Widths, place: int) -> tuple[int, ...]:
        """Return the bits of a word, and those of other words that are added to it."""
        node = self.sketch.nodes[place]
        if isinstance(node, Table):
            return self._table_model(widths, place, node).bits
        return (self.bits(widths, place),)

    def local(self, widths: Widths, place: int) -> tuple[float, Floats]:
        """Return a node's cost, and the variance that it adds to every output."""
        if not isinstance(widths, WidthSettings):
            widths = self.settings(widths)
        key = widths.array[self._indices[place]].tobytes()
        known = self._known[place]
        if key not in known:
            if len(known) >= MOST_KNOWN:
                known.clear()
            known[key] = self._local(widths, place, key)
        return known[key]

    def _local(self, widths: Widths, place: int, key: bytes) -> tuple[float, Floats]:
        node = self.sketch.nodes[place]
        if isinstance(node, SourceWord):
            return 0.0, np.zeros(self.rows)
        if isinstance(node, AngleSum):
            bits = self.turn(widths, place).word.known
            return self.costs.turns(bits, len(node.items)), np.zeros(self.rows)
        if isinstance(node, WordSum):
            return self._sum(widths, place, node, key)
        return self._table(widths, place, node)

    def _table(self, widths: Widths, place: int, node: Table) -> tuple[float, Floats]:
        model = self._table_model(widths, place, node)
        sensitivity = self.sensitivities[place]
        step = 2.0 ** widths[Role.EXPONENT.of(place)]
        rounding = self.norm.rounding(step, len(model.bits)) + self.norm.missed(model.missed)
        noise = rounding * sensitivity.value
        if node.angle:
            source = self.sketch.nodes[node.source]
            part = source.part if isinstance(source, SourceWord) else 0
            spread = self._angle_spread(widths, node.source, model.read + part)
            return model.cost, noise + spread * self.norm.scaled(2 * math.pi) * sensitivity.slope
        lsb, bits = self.lsb(widths, node.source), self.bits(widths, node.source)
        unread = self._unread(node.source, lsb, bits - model.read)
        return model.cost, noise + unread * sensitivity.slope

    def turn(self, widths: Widths, place: int) -> SumShape:
        """Return the shape of an angle sum."""
        key = (place, *map(widths.get, self._shapes[place]))
        if key not in self._turns:
            self._turns[key] = sum_shape(self.sketch, widths, place)
        return self._turns[key]

    def _shape(self, widths: Widths, place: int) -> AngleShape:
        """Return the shape of an angle."""
        if isinstance(self.sketch.nodes[place], AngleSum):
            return self.turn(widths, place).word
        return angle_shape(self.sketch, widths, place)

    def _angle_spread(self, widths: Widths, place: int, read: int) -> float:
        """Return the error, in turns, of an angle that is read to `read` bits of a turn."""
        key = (place, read, *map(widths.get, self._shapes[place]))
        if key not in self._spreads:
            self._spreads[key] = self._spread(widths, place, read)
        return self._spreads[key]

    def _spread(self, widths: Widths, place: int, read: int) -> float:
        node = self.sketch.nodes[place]
        if isinstance(node, SourceWord):
            known = 2.0 ** -(node.bits + node.part) * (1 - node.hidden)
            return self.norm.unread(2.0**-read, known)
        bits = self.bits(widths, place)
        if isinstance(node, WordSum):
            return self.norm.unread(2.0**-read, 2.0**-bits)
        if not isinstance(node, AngleSum):
            raise TypeError(f"node {place} is no angle")
        shape = self.turn(widths, place)
        known = shape.word.known  # without guard bits
        spread = self.norm.unread(2.0 ** -min(read, known), 2.0**-known)
        for (item, multiple), part_read in zip(node.items, shape.reads, strict=True):
            factor = self.norm.scaled(2.0 ** shift_of(multiple))
            spread += factor * self._angle_spread(widths, item, part_read)
        return spread

    def _table_model(self, widths: Widths, place: int, node: Table) -> TableModel:
        key = (place, *map(widths.get, self._shapes[place]))
        if key not in self._looked_up:
            self._looked_up[key] = self._made_table(widths, place, node)
        return self._looked_up[key]

    def _made_table(self, widths: Widths, place: int, node: Table) -> TableModel:
        bits = self.bits(widths, node.source)
        lsb = 0 if node.angle else self.lsb(widths, node.source)
        read, e = min(widths[Role.READ.of(place)], bits), widths[Role.EXPONENT.of(place)]
        shape = self._shape(widths, node.source) if node.angle else None
        domain = table_domain(node, lsb, bits, read, 0.0, shape)
        operand = place in self.operands
        split = split_of(widths, place, node, self.operands)
        key = (place, domain, e, lsb, 0 if node.angle else bits, str(split))
        if key not in self._tables:
            made = split_table(node, domain, e, split, centred=not operand)
            self._tables[key] = table_model(
                node, domain, split, made, self._table_cost, operand=operand
            )
        return self._tables[key]

    def _table_cost(self, table: Tabulated, operand: bool) -> float:  # noqa: FBT001 (a callable)
        return self.costs.table(table, self.most_synthesised, operand=operand)

    def _sum(self, widths: Widths, place: int, node: WordSum, key: bytes) -> tuple[float, Floats]:
        cut = widths[Role.CUT.of(place)]
        output = place in self.sketch.outputs
        size = self.bits(widths, place)
        sensitivity = self.sensitivities[place]
        if place not in self._heaps:
            self._heaps[place] = Remembered(self._variables[place], self._addends[place], self.rows)
        heap = self._heaps[place]
        heap.update(key, size, lambda k: self._part(widths, place, k, size))
        cost, lost, noise, counts = heap.total()
        if (output or place in self.operands) and self._shortened(node, counts, cut):
            counts[0] -= 1
            lost += self.norm.scaled(0.5)
        cost += self.costs.heap(counts, -cut if output else 0)
        noise = noise + self.norm.scaled(2.0**cut) * lost * sensitivity.value
        if output:
            rows = np.arange(self.rows) % len(self.sketch.outputs)
            own = (rows == self.sketch.outputs.index(place)).astype(np.float64)
            noise = noise + self.norm.unread(1.0, 2.0**cut) * own
        return cost, noise + self.norm.rounding(2.0**cut) * sensitivity.value

    def _part(self, widths: Widths, place: int, k: int, size: int) -> Contribution:
        """Return the part of an addend in a heap of `size` columns."""
        key = (place, k, size, *map(widths.get, self._addends[place][k]))
        if key not in self._parts:
            node = self.sketch.nodes[place]
            if not isinstance(node, WordSum):
                raise TypeError(f"node {place} is no sum")
            addend, counts = node.addends[k], [0] * size
            cost, lost = 0.0, 0.0
            if not is_kept(widths, place, k):
                noise = self.sensitivities[place].spread[k]
            elif isinstance(addend, Product):
                cost, lost, noise = self._product(widths, place, k, addend, counts)
            else:
                cost, lost, noise = self._linear(widths, place, k, addend, counts)
            used = [column for column, count in enumerate(counts) if count] or [0]
            first, last = used[0], used[-1]
            self._parts[key] = Contribution(
                cost, lost, noise, first, tuple(counts[first : last + 1])
            )
        return self._parts[key]

    def _shortened(self, node: WordSum, counts: Sequence[int], cut: int) -> bool:
        """Return whether a word loses its lowest bit, if its constants are ignored."""
        half = counts[0] > 0 and is_half(heap_constant(counts[0], 0.0, cut, len(counts)))
        return half and any(isinstance(a, Linear) for a in node.addends)

    def _linear(
        self, widths: Widths, place: int, k: int, addend: Linear, counts: list[int]
    ) -> tuple[float, float, Floats]:
        lsb, own = self.lsb(widths, addend.node), self.sensitivities[place]
        words = [Format(lsb, bits) for bits in self.words(widths, addend.node)]
        cost, lost, factor = 0.0, 0.0, 0.0
        source, rows = self.sketch.nodes[addend.node], []
        for word, digit, row in linear_rows(widths, place, k, addend, words):
            lost += self.norm.lost(row)
            factor += 0.0 if word else digit
            rows.append(row)
        cost += self.costs.rows(rows, counts, kind_of(source))
        error = 1 - factor / addend.factor
        noise = self.norm.scaled(error) * own.size[k]
        if isinstance(source, SourceWord):
            noise = noise + self.norm.rounding(addend.factor, source.hidden) * own.value
        for a, b in self._factors(widths, addend.node):
            for _, grid in factor_grids(widths, place, k, addend, a, b):
                cost += self.costs.product(grid, counts, ("table", "table"))
                lost += self.norm.lost(grid)
        return cost, lost, noise

    def _factors(self, widths: Widths, place: int) -> Iterator[tuple[Format, ...]]:
        """Yield the two words, if any, with a product that is part of a node's value."""
        node = self.sketch.nodes[place]
        if isinstance(node, Curve):
            model = self._table_model(widths, place, node)
            if model.factors:
                yield model.factors

    def _product(
        self, widths: Widths, place: int, k: int, addend: Product, counts: list[int]
    ) -> tuple[float, float, Floats]:
        a, b = (
            Format(self.lsb(widths, word), self.bits(widths, word)) for word in (addend.a, addend.b)
        )
        grid = product_grid(widths, place, k, addend, a, b)
        kinds = (kind_of(self.sketch.nodes[addend.a]), kind_of(self.sketch.nodes[addend.b]))
        cost, own = self.costs.product(grid, counts, kinds), self.sensitivities[place]
        noise = self._unread(addend.a, a.lsb, grid.drop_a) * own.read_a[k]
        noise = noise + self._unread(addend.b, b.lsb, grid.drop_b) * own.read_b[k]
        return cost, self.norm.lost(grid), noise

    def _unread(self, place: int, lsb: int, drop: int) -> float:
        """Return the error of reading a word without its lowest bits."""
        source = self.sketch.nodes[place]
        known = 2.0**lsb * (1 - source.hidden if isinstance(source, SourceWord) else 1)
        return self.norm.unread(2.0 ** (lsb + drop), known)
