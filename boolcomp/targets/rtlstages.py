"""Signals of words cut into stages, with registers between them: short stages, few flip-flops.

The shortest stage that is enough is found first; then signals move to where fewer bits are held
between stages. A register holds those bits of a signal that are read after it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from boolcomp.logic.network import CONSTANTS
from boolcomp.targets.pipeline import Readers, refine, registers
from boolcomp.targets.rtl import (
    Addend,
    Choice,
    Different,
    Flipped,
    Product,
    Register,
    Sum,
    Table,
    reads,
)
from boolcomp.targets.rtlbooks import delay
from boolcomp.targets.wires import Wires, wires_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.targets.gates import Pin
    from boolcomp.targets.names import Names
    from boolcomp.targets.rtl import Operation, Signal
    from boolcomp.targets.wires import Word


class Staged(NamedTuple):
    """Signals and outputs that read what they need from registers, those registers, and the rest.

    These are the fields of `Words` after its ports.
    """

    signals: tuple[Signal, ...]
    registers: tuple[Register, ...]
    drives: tuple[Word, ...]
    idle: tuple[Wires, ...]
    stages: int
    spans: dict[str, tuple[int, int]]


def staged(
    plan: Plan, signals: Sequence[Signal], drives: Sequence[Word], inputs: Sequence[Pin],
    names: Names,
) -> Staged:  # fmt: skip
    """Return signals and drives with registers between them, as a plan says."""
    count, stages = plan.count, plan.stages()
    spans = {pin.name: (0, pin.port.bits) for pin in inputs}
    made = dict.fromkeys(spans, 0)
    for signal, stage in zip(signals, stages, strict=True):
        spans[signal.name] = (signal.low, signal.bits)
        made[signal.name] = stage
    wanted = _wanted(signals, stages, drives, count)
    held, idle = _held(spans, made, wanted, names)
    known = {(one.source, stage): name for (one, stage), name in held.items()}
    found = []
    for (one, stage), name in held.items():
        source = known.get((one.source, stage - 1), one.source)
        found.append(Register(name, source, one.low, one.bits))
        spans[name] = (one.low, one.bits)

    def at(stage: int) -> Callable[[Wires], Wires]:
        return lambda wire: replace(wire, name=known.get((wire.name, stage), wire.name))

    moved = tuple(
        replace(signal, operation=_delayed_operation(signal.operation, at(stage)))
        for signal, stage in zip(signals, stages, strict=True)
    )
    ends = tuple(_word(word, at(count)) for word in drives)
    return Staged(moved, tuple(found), ends, tuple(idle), count, spans)


class _Held(NamedTuple):
    """Bits of a signal that are held."""

    source: str
    low: int
    bits: int


def _wanted(
    signals: Sequence[Signal], stages: Sequence[int], drives: Sequence[Word], count: int
) -> dict[str, dict[int, int]]:
    """Return which bits of signals are read in which stage."""
    found: dict[str, dict[int, int]] = {}
    every = [(wire, stage) for one, stage in zip(signals, stages, strict=True)
             for wire in reads(one.operation)]  # fmt: skip
    every += [(wire, count) for word in drives for wire in wires_of(word)]
    for wire, stage in every:
        masks = found.setdefault(wire.name, {})
        masks[stage] = masks.get(stage, 0) | ((1 << wire.bits) - 1) << wire.low
    return found


def _held(
    spans: dict[str, tuple[int, int]],
    made: dict[str, int],
    wanted: dict[str, dict[int, int]],
    names: Names,
) -> tuple[dict[tuple[_Held, int], str], list[Wires]]:
    """Return what is held in which stage, by its new name, and the bits that nothing reads."""
    held: dict[tuple[_Held, int], str] = {}
    idle: list[Wires] = []
    for name, (low, bits) in spans.items():
        masks = wanted.get(name, {})
        later = 0
        rows = []
        for stage in range(max(masks, default=0), made[name], -1):
            read = masks.get(stage, 0) | later
            first = (read & -read).bit_length() - 1
            later = ((1 << read.bit_length()) - 1) >> first << first
            rows.append((stage, first, read.bit_length() - first, later & ~read))
        unread = (((1 << bits) - 1) << low) & ~(masks.get(made[name], 0) | later)
        idle += _runs(name, unread)
        for stage, first, wide, gaps in reversed(rows):
            new = names.new(f"{name} s{stage}")
            held[_Held(name, first, wide), stage] = new
            idle += _runs(new, gaps)
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


class Plan:
    """In which stages signals can be: `longest` is the shortest stage that is enough."""

    def __init__(
        self,
        signals: Sequence[Signal],
        drives: Sequence[Word],
        inputs: Sequence[Pin],
        count: int,
    ) -> None:
        names = [*(pin.name for pin in inputs), *(one.name for one in signals)]
        places = {name: CONSTANTS + k for k, name in enumerate(names)}
        first = CONSTANTS + len(inputs)
        operands = [*[()] * first, *(
            tuple(dict.fromkeys(places[wire.name] for wire in reads(one.operation)))
            for one in signals
        )]  # fmt: skip
        ends = {places[wire.name] for word in drives for wire in wires_of(word)}
        delays = [*[0] * first, *(delay(one.operation) for one in signals)]
        widths = [*[1] * CONSTANTS, *(pin.port.bits for pin in inputs), *(x.bits for x in signals)]
        self.books = Readers(first, operands, ends, delays, widths)
        self.count = count
        self.longest = _shortest(self.books, count)

    def stages(self) -> list[int]:
        """Return the stage of every signal, such that few bits are held."""
        books, count, first = self.books, self.count, self.books.first
        if count < 2:
            return [0] * (books.size - first)
        best: list[int] = []
        for choice in (_early(books, self.longest), _late(books, self.longest, count)):
            refine(books, choice, count, self.longest)
            if not best or registers(books, choice, count) < registers(books, best, count):
                best = choice
        return best[first:]


def _shortest(books: Readers, count: int) -> int:
    """Return the shortest stage with which so many are enough."""
    low, high = max(books.delays, default=0), sum(books.delays)
    while low < high:
        middle = (low + high) // 2
        if max(_early(books, middle), default=0) < max(1, count):
            high = middle
        else:
            low = middle + 1
    return low


def _early(books: Readers, longest: int) -> list[int]:
    """Return the earliest stage of every signal."""
    stages, times = [0] * books.size, [0] * books.size
    for k in range(books.first, books.size):
        near = books.operands[k]
        stage = max((stages[j] for j in near), default=0)
        start = max((times[j] for j in near if stages[j] == stage), default=0)
        if start + books.delays[k] > longest:
            stage, start = stage + 1, 0
        stages[k], times[k] = stage, start + books.delays[k]
    return stages


def _late(books: Readers, longest: int, count: int) -> list[int]:
    """Return the latest stage of every signal."""
    stages, tails = [0] * books.size, [0] * books.size
    for k in reversed(range(books.first, books.size)):
        near = books.users[k]
        stage = min((stages[j] for j in near), default=count - 1)
        after = max((tails[j] for j in near if stages[j] == stage), default=0)
        if after + books.delays[k] > longest:
            stage, after = stage - 1, 0
        stages[k], tails[k] = stage, after + books.delays[k]
    return stages


def _word(word: Word, at: Callable[[Wires], Wires]) -> Word:
    return tuple(at(piece) if isinstance(piece, Wires) else piece for piece in word)


def _delayed_operation(operation: Operation, at: Callable[[Wires], Wires]) -> Operation:
    """Return an operation that reads other signals."""
    if isinstance(operation, Sum):
        addends = tuple(
            Addend(_word(x.word, at), x.column, tuple(map(at, x.flips))) for x in operation.addends
        )
        return replace(operation, addends=addends)
    if isinstance(operation, Product | Different):
        return replace(operation, a=_word(operation.a, at), b=_word(operation.b, at))
    if isinstance(operation, Table):
        return replace(operation, index=_word(operation.index, at))
    if isinstance(operation, Choice):
        then, otherwise = _word(operation.then, at), _word(operation.otherwise, at)
        return Choice(at(operation.condition), then, otherwise)
    if isinstance(operation, Flipped):
        return Flipped(_word(operation.word, at), tuple(map(at, operation.flips)))
    return replace(operation, word=_word(operation.word, at))
