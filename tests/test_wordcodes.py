"""Codes as logic, against the words of numbers: every cell and every word of small widths."""

from __future__ import annotations

import itertools

import pytest

from boolcomp.codes import CODE_KINDS, Code, CodeKind
from boolcomp.logic.network import Builder, Network
from boolcomp.logic.wordcodes import cells_of, coder, rest_network, resting_network, said
from boolcomp.problem.interval import Interval

RANGE = Interval(-1.0, 1.0)
WIDTHS = range(2, 8)


def numbers(network: Network, *widths: int) -> dict[int, tuple[int, ...]]:
    """Return, for every number that the inputs spell, those that outputs of such widths spell."""
    found = {}
    for given in range(1 << network.inputs):
        bits = [given >> k & 1 for k in reversed(range(network.inputs))]
        values = "".join(map(str, evaluated(network, bits)))
        ends = [0, *itertools.accumulate(widths)]
        found[given] = tuple(int(values[a:b], 2) for a, b in itertools.pairwise(ends))
    return found


def evaluated(network: Network, bits: list[int]) -> list[int]:
    """Evaluate a network node by node."""
    values = [0, 1, *bits]
    for lut, operands in network.nodes:
        index = sum(values[operand] << 2 - k for k, operand in enumerate(operands))
        values.append(lut >> index & 1)
    return [values[k] for k in network.outputs]


@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_logic_makes_the_word_of_every_cell(kind: CodeKind, bits: int, *, tread: bool) -> None:
    code = Code(RANGE, bits, kind, tread=tread)
    for cell, (word,) in numbers(coder(kind, bits, tread=tread), bits).items():
        assert word == int(code.word(max(cell, code.first)))


@pytest.mark.parametrize("tread", [False, True])
@pytest.mark.parametrize("kind", CODE_KINDS)
@pytest.mark.parametrize("bits", WIDTHS)
def test_logic_finds_the_cell_of_every_word(kind: CodeKind, bits: int, *, tread: bool) -> None:
    code = Code(RANGE, bits, kind, tread=tread)
    builder = Builder(bits)
    word = [builder.input(k) for k in range(bits)]
    network = builder.build(cells_of(builder, word, kind, tread=tread))
    for given, (cell,) in numbers(network, bits).items():
        assert cell == int(code.index(given))


@pytest.mark.parametrize("bits", WIDTHS)
def test_the_lowest_cell_that_sign_and_magnitude_cannot_say_becomes_the_one_above(
    bits: int,
) -> None:
    found = numbers(said("sign-magnitude", bits, tread=True), bits)
    assert [cell for (cell,) in found.values()] == [1, *range(1, 1 << bits)]


@pytest.mark.parametrize("kind", CODE_KINDS)
def test_a_code_costs_less_than_three_nodes_a_bit(kind: CodeKind) -> None:
    costs = {"natural": 0, "twos": 1, "gray": 9, "sign-magnitude": 10}
    assert len(coder(kind, 10, tread=False).nodes) <= costs[kind]
    assert len(coder(kind, 10, tread=True).nodes) < 3 * 10


@pytest.mark.parametrize("treads", [(False,), (True,), (True, False), (False, False)])
def test_an_arm_rests_where_all_words_are_zero(treads: tuple[bool, ...]) -> None:
    found = numbers(rest_network(tuple((3, tread) for tread in treads)), 1)
    zeros = [{4} if tread else {3, 4} for tread in treads]
    for given, (rest,) in found.items():
        words = [given >> 3 * k & 7 for k in reversed(range(len(treads)))]
        assert rest == all(word in zero for word, zero in zip(words, zeros, strict=True))


def test_at_rest_the_middle_cell_is_given_and_nothing_saturates() -> None:
    for given, (cell, over) in numbers(resting_network(4), 4, 1).items():
        rest, inside, saturated = given >> 5, given >> 1 & 15, given & 1
        assert (cell, over) == ((8, 0) if rest else (inside, saturated))
