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
from boolcomp.targets.delays import delays_of
from boolcomp.targets.rtl import (
    BitwiseXor,
    Books,
    Fixed,
    Flipped,
    OddProduct,
    Operation,
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
from boolcomp.targets.rtl import Test as AnyOrAll  # pytest collects names that begin with Test
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
    a, b = (replace(one, column=0) for one in addends)
    above = replace(a, word=(*a.word, Fixed(1, 2)))  # 4 in the zeros above a, 1 as the carry
    assert signal.operation == SignalSum((above, b), 1, 4)


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
        books = Books(Names(VERILOG), delay_weight=0)
        shapes = rng.integers([0, 1], [6, 8], (3, 2)).tolist()
        addends = [SignalAddend(word(f"x{k}", wide), at) for k, (at, wide) in enumerate(shapes)]
        left, constant = in_parts(books, "sum", addends, 9)
        assert (len(left), constant) == (2, 0)
        (made,) = books.signals
        assert isinstance(made.operation, SignalSum)
        names = {one.name for one in reads(made.operation)}
        costs = {
            frozenset(one.name for addend in pair for one in wires_of(addend.word)): adders(pair, 9)
            for pair in combinations(addends, 2)
        }
        assert costs[frozenset(names)] == min(costs.values())


def test_the_time_of_a_sum_is_of_its_levels_of_full_adders_and_of_its_carries() -> None:
    times = delays_of("ecp5")
    level = times.level

    def levels(count: int) -> int:
        done = 0
        while count > 2:  # every three words become a sum and its carries
            threes, rest = divmod(count, 3)
            count, done = 2 * threes + rest, done + 1
        return done + 1

    for count, constant, bits in product(range(1, 12), (0, 7), (3, 9)):
        addends = tuple(SignalAddend(word(f"x{k}", 3), 0) for k in range(count))
        wanted = level * (levels(count + bool(constant)) - 1) + times.sum(bits)
        assert delay(SignalSum(addends, constant, bits), times) == wanted
        flipped = (*addends[1:], SignalAddend(word("y", 3), 0, (Wires("p", 0, 1),)))
        assert delay(SignalSum(flipped, constant, bits), times) == wanted + level
        carry = (*addends, SignalAddend(word("y", 1), 0))
        if count > 1:  # an addend of one bit and a constant 1 are carries
            assert delay(SignalSum(carry, constant, bits), times) == wanted
            plain = delay(SignalSum(addends, 0, bits), times)
            assert delay(SignalSum(addends, 1, bits), times) == plain
    a, b = word("a", 5), word("b", 8)
    assert delay(OddProduct(a, b), times) == level * levels(5) + times.sum(13)
    tables = [delay(TableLookup(word("a", k), (0,) * 2**k), times) for k in range(1, 9)]
    assert tables == [level * k for k in (1, 1, 1, 1, 2, 3, 3, 4)]
    assert delay(Flipped(a, ()), times) == 0
    assert delay(Flipped(a, (Wires("p", 0, 1),)), times) == delay(BitwiseXor(a, a), times) == level
    tests = [delay(AnyOrAll("all", word("a", k)), times) for k in (1, 4, 5, 7, 8)]
    assert tests == [level * k for k in (1, 1, 2, 2, 3)]


def value(word: Word, given: dict[str, tuple[int, int]]) -> int:
    """Return the value of a word; `given` are the lowest bit and the value of every signal."""
    total = place = 0
    for piece in word:
        if isinstance(piece, Fixed):
            total |= piece.value << place
        else:
            low, known = given[piece.name]
            bits = known >> piece.low - low & ((1 << piece.bits) - 1)
            total |= (bits ^ (((1 << piece.bits) - 1) if piece.inverted else 0)) << place
        place += piece.bits
    return total


def test_sums_with_constants_flips_and_carries_are_exact() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        count, bits = int(rng.integers(1, 8)), int(rng.integers(2, 14))
        books = Books(Names(VERILOG), delay_weight=int(rng.choice([0, 2, 300])))
        flip = (Wires("f", 0, 1),)
        addends = [
            SignalAddend(word(f"x{k}", int(wide)), int(at), flip if odd else ())
            for k, (at, wide, odd) in enumerate(rng.integers([0, 1, 0], [bits, 8, 2], (count, 3)))
        ]
        total = int(rng.integers(0, 1 << bits))
        made = summed(books, "sum", (), addends, total, bits)
        for _ in range(10):
            given = {f"x{k}": (0, int(rng.integers(0, 256))) for k in range(count)}
            given["f"] = 0, int(rng.integers(0, 2))
            wanted = total
            for one in addends:
                plain = value(one.word, given) ^ (
                    (1 << width(one.word)) - 1 if one.flips and given["f"][1] else 0
                )
                wanted += plain << one.column
            for signal in books.signals:
                found = evaluated(signal.operation, given)
                given[signal.name] = signal.low, found & ((1 << signal.bits) - 1)
            assert value(made, given) == wanted & ((1 << bits) - 1)


def evaluated(operation: Operation, given: dict[str, tuple[int, int]]) -> int:
    """Return the value of a sum or of a flipped word."""
    if isinstance(operation, Flipped):
        flips = sum(value((x,), given) for x in operation.flips) & 1
        return value(operation.word, given) ^ -flips
    assert isinstance(operation, SignalSum)
    total = operation.constant
    for one in operation.addends:
        flips = sum(value((x,), given) for x in one.flips) & 1
        whole = (1 << width(one.word)) - 1
        total += (value(one.word, given) ^ (whole if flips else 0)) << one.column
    return total


# Stages of words.


def test_what_is_late_is_added_last_where_time_counts() -> None:
    books = Books(Names(VERILOG))
    given = [SignalAddend(word(name, 4), 0) for name in "ab"]
    late = books.signal("late", 4, SignalSum(tuple(given), 0, 4))
    for haste, first in ((0, {"c", "late"}), (30, {"c", "d"})):
        again = Books(books.names, delay_weight=haste)
        again.times = books.times
        addends = [
            SignalAddend(late, 0),
            SignalAddend(word("c", 4), 0),
            SignalAddend(word("d", 4), 0),
        ]
        in_parts(again, "sum", addends, 9)
        assert {one.name for one in reads(again.signals[0].operation)} == first
