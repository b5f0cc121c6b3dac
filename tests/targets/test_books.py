"""Signals of modules of words and stages of networks, part by part; operations of code."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import networks

from boolcomp.logic.network import CONSTANTS, Builder
from boolcomp.targets.rtl import (
    BitwiseXor,
    Books,
    Fixed,
    Flipped,
    OddProduct,
    Piece,
    RtlModule,
    SignalAddend,
    SignalSum,
    TableLookup,
    Wires,
    Word,
    delay,
    in_parts,
    joined,
    readers_of,
    reads,
    staged,
    summed,
    width,
    wires_of,
)
from boolcomp.targets.stages import StagePlan, flip_flops, stages_of
from boolcomp.targets.target import VERILOG, Frame, Names, Pin, Port

if TYPE_CHECKING:
    from collections.abc import Sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.logic.network import Network


def test_empty_pieces_do_not_keep_neighbours_apart() -> None:
    pieces: list[Piece] = [
        Fixed(0, 0),
        Wires("a", 0, 2),
        Fixed(0, 0),
        Wires("a", 2, 1),
        Fixed(1, 1),
        Fixed(2, 2),
    ]
    assert joined(pieces) == (Wires("a", 0, 3), Fixed(5, 3))


def test_wires_of_other_names_or_places_or_inverted_ones_stay_apart() -> None:
    for other in (Wires("b", 2, 1), Wires("a", 3, 1), Wires("a", 2, 1, inverted=True)):
        assert joined([Wires("a", 0, 2), other]) == (Wires("a", 0, 2), other)


@pytest.mark.parametrize(
    ("first", "about", "kept"),
    [(True, (), True), (True, ("w1",), False), (False, (), False), (False, ("w1",), False)],
)
def test_a_signal_is_kept_by_its_own_name_until_it_is_a_word_of_the_graph(
    about: tuple[str, ...], *, first: bool, kept: bool
) -> None:
    books = Books(Names(VERILOG))
    added = SignalSum(
        (SignalAddend((Wires("a", 0, 2),), 0), SignalAddend((Wires("b", 0, 2),), 0)), 0, 3
    )
    one = books.signal("part", 3, added, kept=first)
    assert books.signal("sum", 3, added, about) == one
    (signal,) = books.signals
    assert (signal.kept, signal.about) == (kept, about)


def bits_of(word: Word) -> list[tuple[int, int]]:
    """Return the value and the bits of the constants of a word."""
    return [(piece.value, piece.bits) for piece in word if isinstance(piece, Fixed)]


def test_what_a_constant_adds_below_a_sum_is_kept_and_what_leaves_the_word_is_not() -> None:
    books = Books(Names(VERILOG))
    addends = [SignalAddend((Wires(name, 0, 2),), 2) for name in ("a", "b")]
    found = summed(books, "sum", (), addends, 64 + 16 + 7, 6)
    assert bits_of(found) == [(3, 2)]
    (signal,) = books.signals
    assert signal.operation == SignalSum(tuple(replace(one, column=0) for one in addends), 5, 4)


def test_a_sum_of_one_bit_is_no_addition() -> None:
    books = Books(Names(VERILOG))
    addends = [SignalAddend((Wires(name, 0, 1),), 3) for name in ("a", "b")]
    summed(books, "sum", (), addends, 8, 4)
    (signal,) = books.signals
    assert signal.operation == Flipped((Wires("a", 0, 1, inverted=True),), (Wires("b", 0, 1),))


# Stages of a network: none too deep, none before what it reads, and few flip-flops


def deepest(network: Network, stages: Sequence[int]) -> int:
    """Return the most nodes that follow each other in one stage; refuse what reads the future."""
    first = CONSTANTS + network.inputs
    depths: list[int] = []
    for k, (_, operands) in enumerate(network.nodes):
        before = [j - first for j in operands if j >= first]
        assert all(stages[j] <= stages[k] for j in before)
        depths.append(1 + max((depths[j] for j in before if stages[j] == stages[k]), default=0))
    return max(depths, default=0)


def counted(network: Network, stages: Sequence[int], count: int) -> int:
    """Return the flip-flops, rank by rank: a signal made before a rank and read after it."""
    first = CONSTANTS + network.inputs
    made = [0] * first + list(stages)
    read: list[set[int]] = [set() for _ in made]
    for k, (_, operands) in enumerate(network.nodes):
        for j in operands:
            read[j].add(stages[k])
    for j in network.outputs:
        read[j].add(count)
    return sum(
        made[j] < rank and any(stage >= rank for stage in read[j])
        for rank in range(1, count + 1)
        for j in range(CONSTANTS, len(made))
    )


@given(networks, st.integers(1, 6))
def test_stages_follow_each_other_and_none_is_too_deep(network: Network, count: int) -> None:
    stages = stages_of(network, count)
    assert all(0 <= stage < count for stage in stages)
    assert deepest(network, stages) <= -(-network.depth // count)
    assert flip_flops(network, stages, count) == counted(network, stages, count)


# Sums as pairs, and how long they take.


def word(name: str, bits: int) -> Word:
    return (Wires(name, 0, bits),)


def adders(pair: Sequence[SignalAddend], bits: int) -> int:
    """Return in how many columns of a sum there is something to add: both words, or a carry."""
    first, second = ({*range(x.column, x.column + width(x.word))} for x in pair)
    begin, end = max(min(first), min(second)), max(*first, *second)
    return len({*range(begin, end + 2)} & {*range(bits)})


def test_of_a_sum_the_pair_is_added_first_that_takes_fewest_full_adders() -> None:
    rng = np.random.default_rng(4)
    for _ in range(60):
        books = Books(Names(VERILOG), 0)
        shapes = rng.integers([0, 1], [6, 8], (3, 2)).tolist()
        addends = [SignalAddend(word(f"x{k}", wide), at) for k, (at, wide) in enumerate(shapes)]
        left = in_parts(books, "sum", addends, 9)
        assert len(left) == 2
        (made,) = books.signals
        assert isinstance(made.operation, SignalSum)
        names = {one.name for one in reads(made.operation)}
        costs = {
            frozenset(one.name for addend in pair for one in wires_of(addend.word)): adders(pair, 9)
            for pair in combinations(addends, 2)
        }
        assert costs[frozenset(names)] == min(costs.values())


def test_what_is_late_is_added_last_where_time_counts() -> None:
    books = Books(Names(VERILOG))
    given = [SignalAddend(word(name, 4), 0) for name in "ab"]
    late = books.signal("late", 4, SignalSum(tuple(given), 0, 4))
    for haste, first in ((0, {"c", "late"}), (30, {"c", "d"})):
        again = Books(books.names, haste)
        again.times = books.times
        addends = [
            SignalAddend(late, 0),
            SignalAddend(word("c", 4), 0),
            SignalAddend(word("d", 4), 0),
        ]
        in_parts(again, "sum", addends, 9)
        assert {one.name for one in reads(again.signals[0].operation)} == first


def test_the_time_of_a_sum_is_of_its_levels_of_full_adders_and_of_its_carries() -> None:
    def levels(count: int) -> int:
        done = 0
        while count > 2:  # every three words become a sum and its carries
            threes, rest = divmod(count, 3)
            count, done = 2 * threes + rest, done + 1
        return done + 1

    for count, constant, bits in product(range(1, 12), (0, 7), (3, 9)):
        addends = tuple(SignalAddend(word(f"x{k}", 3), 0) for k in range(count))
        wanted = 10 * levels(count + bool(constant)) + bits
        assert delay(SignalSum(addends, constant, bits)) == wanted
        flipped = (
            *addends[1:],
            SignalAddend(word("y", 3), 0, (Wires("p", 0, 1), Wires("q", 0, 1))),
        )
        assert delay(SignalSum(flipped, constant, bits)) == wanted + 10
    a, b = word("a", 5), word("b", 8)
    assert delay(OddProduct(a, b)) == 10 * (1 + levels(5)) + 13
    assert [delay(TableLookup(word("a", k), (0,) * 2**k)) for k in range(1, 9)] == [
        10, 10, 10, 20, 20, 30, 40, 40
    ]  # fmt: skip
    assert delay(Flipped(a, ())) == 0
    assert delay(Flipped(a, (Wires("p", 0, 1),))) == delay(BitwiseXor(a, a)) == 10


# Stages of words.


def drawn(seed: int) -> tuple[list[Pin], Books, list[Word]]:
    """Return inputs, random signals of a few kinds, and two of them as outputs."""
    rng = np.random.default_rng(seed)
    names = Names(())
    pins = [Pin(names.new(f"p{k}"), Port(f"p{k}", int(rng.integers(1, 9)), ())) for k in range(3)]
    books = Books(names)
    words = [word(pin.name, pin.port.bits) for pin in pins]
    for k in range(int(rng.integers(3, 8))):
        a, b = (words[j] for j in rng.integers(0, len(words), 2))
        bits = int(rng.integers(1, 12))
        added = SignalSum((SignalAddend(a, 0), SignalAddend(b, 0)), k + 1, bits)
        words.append(books.signal(f"s{k}", bits, added if rng.integers(2) else BitwiseXor(a, b)))
    return pins, books, [words[-1], words[-2]]


def best_stages(pins: list[Pin], books: Books, drives: list[Word], count: int) -> tuple[int, int]:
    """Return the shortest stage there is, and the fewest bits held with it, by all stages."""
    names = [*(pin.name for pin in pins), *(one.name for one in books.signals)]
    bits = [*(pin.port.bits for pin in pins), *(one.bits for one in books.signals)]
    times = [*[0] * len(pins), *(delay(one.operation) for one in books.signals)]
    read = [set[int]()] * len(pins) + [
        {names.index(wire.name) for wire in reads(one.operation)} for one in books.signals
    ]
    ends = {names.index(wire.name) for word in drives for wire in wires_of(word)}
    found: list[tuple[int, int]] = []
    for choice in product(range(count), repeat=len(books.signals)):
        stages = [*[0] * len(pins), *choice]
        if any(stages[j] > stages[k] for k, near in enumerate(read) for j in near):
            continue
        late = [0] * len(names)
        for k, near in enumerate(read):
            late[k] = times[k] + max((late[j] for j in near if stages[j] == stages[k]), default=0)
        last = [
            count
            if j in ends
            else max([stages[j], *(stages[k] for k in range(len(names)) if j in read[k])])
            for j in range(len(names))
        ]
        held = sum(
            (end - stage) * size for end, stage, size in zip(last, stages, bits, strict=True)
        )
        found.append((max(late), held))
    longest = min(one for one, _ in found)
    return longest, min(held for one, held in found if one == longest)


@pytest.mark.parametrize("count", [2, 3])
def test_stages_of_words_are_as_short_as_any_and_hold_few_bits(count: int) -> None:
    held = fewest = 0
    for seed in range(0, 60, 2):
        pins, books, drives = drawn(seed)
        if count ** len(books.signals) > 250:
            continue
        frame = Frame("m", tuple(pins), ())
        module = RtlModule("words", frame, tuple(books.signals), tuple(drives))
        plan = StagePlan(readers_of(module), count)
        longest, best = best_stages(pins, books, drives, count)
        assert plan.longest == longest
        held += sum(one.bits for one in staged(module, plan, books.names).registers)
        fewest += best
    assert held <= 1.1 * fewest


def small(seed: int) -> Network:
    """Return a random network of a few nodes."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    builder = Builder(count)
    found = [builder.input(k) for k in range(count)]
    for _ in range(int(rng.integers(5, 10))):
        places = rng.integers(0, len(found), int(rng.integers(2, 4)))
        read = [found[k] ^ int(rng.integers(2)) for k in places]
        found.append(builder.node(int(rng.integers(1, 255)), *read))
    return builder.build(found[-2:])


def follows(network: Network, stages: Sequence[int]) -> bool:
    """Tell whether no node reads the future."""
    first = CONSTANTS + network.inputs
    return all(
        stages[j - first] <= stages[k]
        for k, (_, operands) in enumerate(network.nodes)
        for j in operands
        if j >= first
    )


@pytest.mark.parametrize("count", [2, 3])
def test_a_small_network_takes_as_few_flip_flops_as_in_any_stages(count: int) -> None:
    sizes = []
    for network in map(small, range(80)):
        if not network.nodes or count ** len(network.nodes) > 1000:
            continue
        deepest_one = -(-network.depth // count)
        every = product(range(count), repeat=len(network.nodes))
        best = min(
            counted(network, stages, count)
            for stages in every
            if follows(network, stages) and deepest(network, stages) <= deepest_one
        )
        assert flip_flops(network, stages_of(network, count), count) == best
        sizes.append(len(network.nodes))
    assert len(sizes) > 30
    assert max(sizes) > 5
