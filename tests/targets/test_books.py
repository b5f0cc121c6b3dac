"""Signals of modules of words and stages of networks, part by part; operations of code."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from synthesis.networks import networks

from boolcomp.logic.network import CONSTANTS
from boolcomp.targets.rtl import (
    BitwiseXor,
    Books,
    Fixed,
    Flipped,
    OddProduct,
    Piece,
    SignalAddend,
    SignalSum,
    TableLookup,
    Wires,
    Word,
    delay,
    in_parts,
    joined,
    reads,
    summed,
    width,
    wires_of,
)
from boolcomp.targets.stages import Readers, StagePlan, flip_flops, stages_of
from boolcomp.targets.target import VERILOG, Names

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


@given(networks, st.integers(1, 4))
def test_stages_for_a_depth_are_the_fewest_and_hold_the_fewest_bits(
    network: Network, deepest_allowed: int
) -> None:
    plan = StagePlan.within(Readers.of(network), deepest_allowed)
    stages, count = plan.stages(), plan.count
    assert count == max(1, -(-network.depth // deepest_allowed))
    assert deepest(network, stages) <= deepest_allowed
    held = counted(network, stages, count)
    assert held <= counted(network, StagePlan(Readers.of(network), count).stages(), count) or (
        StagePlan(Readers.of(network), count).longest > deepest_allowed
    )
    if count ** len(network.nodes) <= 729:  # every assignment
        assert held == min(
            counted(network, other, count)
            for other in product(range(count), repeat=len(network.nodes))
            if follows(network, other) and deepest(network, other) <= deepest_allowed
        )


def follows(network: Network, stages: Sequence[int]) -> bool:
    first = CONSTANTS + network.inputs
    return all(
        stages[j - first] <= stages[k]
        for k, (_, operands) in enumerate(network.nodes)
        for j in operands
        if j >= first
    )


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
