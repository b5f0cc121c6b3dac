"""A graph as steps over boxes of its inputs (see `box_kernels.py`).

A box is a range of cells of every input. In it, node by node, there are three enclosures: of what
the words say as digits, of what they stand for at all inputs that lie in the box, and of the
difference. Both are known to be near each other; tables say how near, word by word. All that is
found is met with what plain bounds know.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from boolcomp.proof.bound import boxes_kernels as kinds
from boolcomp.proof.bound.boxsteps import Boxed, Slot, Steps
from boolcomp.proof.bound.boxtables import GRID, Tabulator, wrapped_constant
from boolcomp.proof.bound.discarded import discarded
from boolcomp.proof.bound.enclosure import ZERO, Enclosure, exactly
from boolcomp.proof.bound.expansion import NotPlainError
from boolcomp.proof.bound.fixed import FAR, TOP, mantissa, outward, power_of, scale_for, scale_of
from boolcomp.proof.bound.inputs import cells_reached
from boolcomp.proof.bound.known import line_of
from boolcomp.proof.bound.meaning import (
    CurveTable,
    GivenWord,
    LinearPart,
    PowerTable,
    ProductPart,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.words.graph import Angles, Bits, Heap, PartialProducts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.proof.bound.meaning import TableMeaning
    from boolcomp.proof.bound.plain import Forward
    from boolcomp.words.graph import HeapPart


class Boxing:
    """Makes the steps of one output."""

    def __init__(self, forward: Forward) -> None:
        self.forward, self.graph = forward, forward.graph
        self.meanings = forward.explained.meanings
        self.steps = Steps()
        self.tables = Tabulator(forward, self.steps.store)
        self.asked: list[int] = []  # meanings of inputs, in the order of a box

    def boxed(self, place: int) -> Boxed:
        """Return the steps of an output: the meaning that it is."""
        return self.steps.boxed(self.meaning(place))

    def slot(self, place: int) -> Slot | None:
        """Return the slot of a meaning, if there is one."""
        return self.steps.found(("meaning", place))

    # what a meaning is

    def meaning(self, place: int) -> Slot:
        """Return the slot of a meaning that is no table and no angle."""
        return self.steps.once(("meaning", place), partial(self._meaning, place))

    def _meaning(self, place: int) -> Slot:
        meaning = self.meanings[place]
        if isinstance(meaning, GivenWord) and not meaning.angle:
            return self._given(place, meaning)
        if isinstance(meaning, Total):
            return self._total(place, meaning)
        if isinstance(meaning, WaveTable | PowerTable | CurveTable):
            return self._table(place, meaning, (), None, Fraction(1))
        raise NotPlainError

    def _known(self, place: int, scale: int, *, words: bool) -> list[int]:
        """Return what plain bounds know of a meaning, in a slot's units."""
        known = self.forward.known[place]
        exact = known.exact - known.inputs
        found = [-FAR, FAR, *outward(exact, scale), -FAR, FAR]
        if words:
            offset = self.offset(place)
            found[:2] = outward(known.words - offset, scale)
            found[4:] = outward(known.error.total + known.inputs - offset, scale)
        return found

    def offset(self, place: int) -> Enclosure:
        """Return what a meaning's word stands for beside its digits; of an output nobody knows."""
        meaning = self.meanings[place]
        word = meaning.word if isinstance(meaning, GivenWord | Total) else None
        if word is None or place in self.forward.outputs:
            return ZERO
        return exactly(self.graph.scales[word].offset)

    def _given(self, place: int, given: GivenWord) -> Slot:
        known = self.forward.known[place]
        scale = scale_for(known.words.size + known.inputs.size + self.offset(place).size)
        if given.word is None:
            return self.steps.add(
                kinds.SUM, scale,
                [0, 0, 0, 0, *outward(known.exact - known.inputs, scale)],
                self._known(place, scale, words=False), worded=False,
            )  # fmt: skip
        line = line_of(self.graph, given.word)
        first, last = cells_reached(line, given)
        start, within, shift = self.tables.given(given, self.offset(place), scale)
        dim = self._input(place, first, last)
        row = [dim, start, within, line.count, shift]
        return self.steps.add(kinds.GIVEN, scale, row)

    def _input(self, place: int, first: int, last: int) -> int:
        self.asked.append(place)
        return self.steps.input(first, last)

    # angles

    def turns(self, place: int) -> Slot:
        """Return the slot of an angle; its scale is no matter."""
        return self.steps.once(("turns", place), partial(self._turns, place))

    def _turns(self, place: int) -> Slot:
        meaning = self.meanings[place]
        if isinstance(meaning, GivenWord) and meaning.angle:
            return self._turn(place, meaning)
        if isinstance(meaning, TurnSum):
            return self._turn_sum(meaning)
        if isinstance(meaning, Total) and meaning.turning and meaning.word is not None:
            source, bits = self.meaning(place), self.graph.nodes[meaning.word].bits
            shift = source.scale + self.graph.scales[meaning.word].lsb
            if shift < 1:
                raise NotPlainError
            places = source.scale + meaning.turning - GRID
            return self.steps.add(kinds.ANGLE, 0, [source.place, bits, shift, places])
        raise NotPlainError

    def _turn(self, place: int, given: GivenWord) -> Slot:
        half, whole = 1 << (GRID - 1), 1 << GRID
        low, high = (end * whole for end in given.allowed.ends)
        lowest, highest = low.numerator // low.denominator, -(-high.numerator // high.denominator)
        if given.word is None:
            if given.wraps or highest - lowest > whole:
                lowest, highest = -half, half
            dim = self._input(place, 0, max(0, highest - lowest - 1))
            return self.steps.add(
                kinds.TURN, 0,
                [dim, 0, lowest, highest, 0, self.steps.ends[dim][1], -lowest],
            )  # fmt: skip
        line = self.tables.turn_line(given)
        first, last = cells_reached(line, given)
        shift = GRID - (line.step.denominator.bit_length() - 1)
        if shift >= 0:
            first, last = first << shift, ((last + 1) << shift) - 1
        else:
            first, last = first >> -shift, last >> -shift
        if given.wraps:
            lowest, highest = first - half, last + 1 - half
        dim = self._input(place, first, last)
        return self.steps.add(kinds.TURN, 0, [dim, shift, lowest, highest, first, last, half])

    def _turn_sum(self, sum_: TurnSum) -> Slot:
        items = [(self.turns(item).place, often) for item, often in sum_.items]
        read = {self._word(item): self.turns(item).place for item, _ in sum_.items}
        row, args = [len(items), len(self.steps.args)], [n for item in items for n in item]
        if sum_.word is not None:
            node = self.graph.nodes[sum_.word]
            if not isinstance(node, Angles):
                raise NotPlainError
            row += [1, node.bits, node.constant, len(node.turns)]
            for turn in node.turns:
                drop = self.graph.nodes[turn.node].bits - turn.read
                args += [read[turn.node], drop, turn.read, turn.shift, int(turn.negative)]
        else:
            row += [0, 0, 0, 0]
        self.steps.args += args
        return self.steps.add(kinds.TURNS, 0, row)

    def _word(self, place: int) -> int | None:
        return getattr(self.meanings[place], "word", None)

    # tables

    def _table(
        self, place: int, table: TableMeaning, parts: Sequence[HeapPart], heap: int | None,
        factor: Fraction, view: tuple[int, int] | None = None,
    ) -> Slot:  # fmt: skip
        """Return a table, times a factor; what it says is what parts of a heap do, or a word."""
        made = self.tables.table(place, table, parts, heap, factor, view)
        source = table.source
        if isinstance(table, WaveTable):
            turning = self.turns(source)
            row = [
                turning.place, int(made.said is not None), made.said or 0, made.count, made.missed,
                made.values, 1 << GRID, made.peaks, made.slack, made.least, made.most,
            ]  # fmt: skip
            words = made.said is not None
            return self.steps.add(kinds.WAVE, made.scale, row, made.known, worded=words)
        if made.said is None:
            low, high = made.known[2:4]
            row = [0, 0, 0, 0, low, high, -high, -low]
            return self.steps.add(kinds.SUM, made.scale, row, made.known, worded=False)
        meaning = self.meanings[source]
        if isinstance(table, CurveTable) and table.angle:
            row = [self.turns(source).place, 1, made.said, made.count, made.missed]
            return self.steps.add(kinds.CURVE, made.scale, row, made.known)
        slot, word = self.meaning(source), self._word(source)
        if word is None or not isinstance(meaning, GivenWord | Total):
            raise NotPlainError
        bits, shift = self.graph.nodes[word].bits, slot.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        row = [slot.place, 0, made.said, made.count, made.missed, bits, shift]
        return self.steps.add(kinds.CURVE, made.scale, row, made.known)

    def _given_table(
        self, place: int, parts: Sequence[HeapPart], heap: int | None, factor: Fraction,
        view: tuple[int, int] | None = None,
    ) -> Slot:  # fmt: skip
        """Return an input's word as a table over itself: its bits above some, or all its rows."""
        slot, word = self.meaning(place), self._word(place)
        if word is None:
            raise NotPlainError
        made = self.tables.given_table(place, parts, heap, factor, view)
        shift = slot.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        bits = self.graph.nodes[word].bits
        row = [slot.place, 0, made.said or 0, made.count, made.missed, bits, shift]
        return self.steps.add(kinds.CURVE, made.scale, row, made.known)

    # sums

    def _total(self, place: int, total: Total) -> Slot:
        heap = None if total.word is None else self.graph.nodes[total.word]
        if heap is not None and not isinstance(heap, Heap):
            raise NotPlainError
        slots = []
        for k, addend in enumerate(total.addends):
            parts: list[HeapPart] = []
            if heap is not None:
                owned = zip(heap.parts, total.owners, strict=True)
                parts = [part for part, owner in owned if owner == k]
            slots.append(self._addend(total, addend, parts))
        known = self.forward.known[place]
        size = max((known.exact - known.inputs).size, known.words.size + self.offset(place).size)
        scale = scale_for(size)
        args = len(self.steps.args)
        for slot in slots:
            self.steps.args += [slot.place, slot.scale - scale]
        exact = outward(exactly(total.constant), scale)
        words, missed = (0, 0), (0, 0)
        if heap is not None and total.word is not None:
            weight = sum(part.layout(self.graph.nodes).weight for part in heap.parts)
            step = Fraction(2) ** self.graph.scales[total.word].lsb
            middle = Fraction(weight - (1 << heap.bits) + 1, 2) + heap.constant
            digits = exactly(step * middle)
            beside = digits - exactly(total.constant)
            if total.turning:
                beside = wrapped_constant(beside, 1 << total.turning)
                digits = exactly(total.constant) + beside
            words, missed = outward(digits, scale), outward(beside, scale)
        row = [len(slots), args, *words, *exact, *missed]
        held = () if total.turning else self._known(place, scale, words=heap is not None)
        return self.steps.add(kinds.SUM, scale, row, held, worded=heap is not None)

    def _addend(
        self, total: Total, addend: LinearPart | ProductPart, parts: Sequence[HeapPart]
    ) -> Slot:
        if isinstance(addend, ProductPart):
            return self._product(total, addend, parts)
        factor, meaning = Fraction(addend.factor), self.meanings[addend.meaning]
        if isinstance(meaning, WaveTable | PowerTable | CurveTable):
            kept = parts or ()
            return self._table(addend.meaning, meaning, kept, total.word, factor)
        if parts and isinstance(meaning, GivenWord) and not meaning.angle:
            return self._given_table(addend.meaning, parts, total.word, factor)
        return self._rows(total, addend.meaning, factor, parts)

    def _rows(self, total: Total, place: int, factor: Fraction, parts: Sequence[HeapPart]) -> Slot:
        """Return a sum within a sum, or what is left out of an input or a sum."""
        source, word = self.meaning(place), self._word(place)
        often, lost = Fraction(0), Fraction(0)
        for part in parts:
            if not isinstance(part, Bits) or part.node != word or total.word is None:
                raise NotPlainError
            own = Fraction(2) ** self.graph.scales[total.word].lsb
            weight = own * Fraction(2) ** (part.column - part.drop) * (-1 if part.negative else 1)
            step = Fraction(2) ** self.graph.scales[part.node].lsb
            often += weight / step
            lost += abs(weight) * Fraction((1 << part.drop) - 1, 2)
        size = self.size(source) * (abs(factor) + abs(often)) + lost
        scale = scale_of(size)
        kept, beside = mantissa(factor), mantissa(often - factor)
        whole = mantissa(often)
        if whole[0] != whole[1]:
            raise NotPlainError
        row = [
            source.place, whole[0], whole[2] + source.scale - scale, kept[0], kept[1],
            kept[2] + source.scale - scale, beside[0], beside[1],
            beside[2] + source.scale - scale, outward(exactly(lost), scale)[1], int(bool(parts)),
        ]  # fmt: skip
        return self.steps.add(kinds.ROWS, scale, row, worded=bool(parts))

    def size(self, slot: Slot) -> Fraction:
        """Return what a slot holds at most."""
        return Fraction(1 << (TOP + 1)) / Fraction(2) ** slot.scale

    # products

    def _product(self, total: Total, addend: ProductPart, parts: Sequence[HeapPart]) -> Slot:
        factor = Fraction(addend.factor)
        if not parts:
            one, two = self.meaning(addend.a), self.meaning(addend.b)
            scale = scale_of(self.size(one) * self.size(two) * abs(factor))
            low, high, shift = mantissa(factor)
            before = one.scale + two.scale
            row = [one.place, two.place, 0, 1, 0, low, high, TOP, shift + before - TOP - scale]
            return self.steps.add(kinds.PRODUCT, scale, row, worded=False)
        (part,) = parts if len(parts) == 1 else (None,)
        if not isinstance(part, PartialProducts) or total.word is None:
            raise NotPlainError
        one = self._operand(addend.a, part.a, part.drop_a)
        two = self._operand(addend.b, part.b, part.drop_b)
        nodes, scales = self.graph.nodes, self.graph.scales
        own = Fraction(2) ** scales[total.word].lsb
        steps = [Fraction(2) ** scales[k].lsb for k in (part.a, part.b)]
        column = part.column + 1 - part.drop_a - part.drop_b
        if own * Fraction(2) ** column / (steps[0] * steps[1]) != abs(factor) or (
            part.negative != (factor < 0)
        ):
            raise NotPlainError
        power, sign = power_of(abs(factor)), -1 if part.negative else 1
        grid = part.layout(nodes)
        size = own * sum(
            (n * Fraction(2) ** (c - 1) for c, n in grid.diagonals() if c < 0), Fraction(0)
        )
        scale = scale_of(self.size(one) * self.size(two) * abs(factor) + size)
        shift, most = one.scale + two.scale - scale - power, outward(exactly(size), scale)[1]
        row = [one.place, two.place, shift, sign, 1, 0, 0, 0, 0, 0, 0, most]
        for slot, place, drop, left in (
            (two, part.b, part.drop_b, True), (one, part.a, part.drop_a, False),
        ):  # fmt: skip
            bits = nodes[place].bits - drop
            shift = slot.scale + scales[place].lsb + drop
            found = discarded(self.steps.store, grid, own, scale, of_b=left) if shift >= 1 else None
            row += [-1, 0, 0, 0] if found is None else [*found, bits, shift]
        return self.steps.add(kinds.PRODUCT, scale, row)

    def _operand(self, place: int, word: int, drop: int) -> Slot:
        """Return what a product reads: a word without its lowest bits."""
        return self.steps.once(("view", place, drop), partial(self._view, place, word, drop))

    def _view(self, place: int, word: int, drop: int) -> Slot:
        meaning = self.meanings[place]
        if isinstance(meaning, WaveTable | PowerTable | CurveTable):
            if meaning.pieces.words != (word,) or meaning.pieces.product is not None:
                raise NotPlainError
            return self._table(place, meaning, (), None, Fraction(1), (word, drop))
        if self._word(place) != word:
            raise NotPlainError
        if isinstance(meaning, GivenWord):
            return self._given_table(place, (), None, Fraction(1), (word, drop))
        source = self.meaning(place)
        if not drop:
            return source
        shift = source.scale + self.graph.scales[word].lsb
        if shift < 1:
            raise NotPlainError
        return self.steps.add(
            kinds.VIEW, source.scale, [source.place, self.graph.nodes[word].bits, shift, drop]
        )
