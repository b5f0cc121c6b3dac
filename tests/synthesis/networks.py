"""Hypothesis strategies for networks and tables, and a few tables that robots need."""

import math
import random
from collections.abc import Callable, Sequence

from bitarray import frozenbitarray
from hypothesis import strategies as st

from boolcomp.logic import AND2, AND_OR, MAJ3, XOR2, XOR3, Builder, Network, TruthTable


def random_network(seed: int, inputs: int, nodes: int, outputs: int) -> Network:
    """Return a network of random tables over random signals, inverted or not."""
    noise = random.Random(seed)  # noqa: S311 (any numbers will do)
    builder = Builder(inputs)
    literals = [0, 2, *(builder.input(k) for k in range(inputs))]
    for _ in range(nodes):
        operands = [noise.choice(literals) ^ noise.randrange(2) for _ in range(3)]
        literals.append(builder.node(noise.randrange(256), *operands))
    return builder.build(noise.choice(literals[-2 * outputs :]) for _ in range(outputs))


def looked_up(logic: Network, word: Sequence[int]) -> tuple[int, ...]:
    """Return outputs by looking up one row of one table after the other."""
    values = [0, 1, *word]
    for lut, operands in logic.nodes:
        place = 0
        for k in operands:
            place = 2 * place + values[k]
        values.append(lut >> (place << max(0, 3 - len(operands))) & 1)
    return tuple(values[k] for k in logic.outputs)


def adder(bits: int, *, majority: bool = True) -> Network:
    """Return a ripple adder whose carries are majorities, or ANDs and ORs."""
    builder = Builder(2 * bits)
    carry, sums = 0, []
    for k in reversed(range(bits)):
        x, y = builder.input(k), builder.input(bits + k)
        if majority:
            sums.append(builder.node(XOR3, x, y, carry))
            carry = builder.node(MAJ3, x, y, carry)
        else:
            half = builder.node(XOR2, x, y)
            sums.append(builder.node(XOR2, half, carry))
            both = builder.node(AND2, x, y)
            carry = builder.node(AND_OR, both, half, carry)
    return builder.build([*sums, carry])


networks = st.builds(
    random_network, st.integers(0, 10**6), st.integers(1, 7), st.integers(0, 40), st.integers(1, 6)
)


def table_of(inputs: int, outputs: int, value: Callable[[int], int]) -> TruthTable:
    """Return the table of a function from input words to output words."""
    words = [value(row) for row in range(1 << inputs)]
    columns = ([word >> k & 1 for word in words] for k in reversed(range(outputs)))
    return TruthTable(inputs, tuple(map(frozenbitarray, columns)))


@st.composite
def tables(draw: st.DrawFn) -> TruthTable:
    """Return random tables, some with don't-cares."""
    inputs, outputs = draw(st.integers(0, 6)), draw(st.integers(1, 4))
    noise = random.Random(draw(st.integers(0, 10**6)))  # noqa: S311 (likewise)
    share, free = draw(st.floats(0, 1)), draw(st.sampled_from([0.0, 0.0, 0.2, 0.8]))

    def columns(part: float) -> tuple[frozenbitarray, ...]:
        rows = range(1 << inputs)
        return tuple(frozenbitarray([noise.random() < part for _ in rows]) for _ in range(outputs))

    return TruthTable(inputs, columns(share), columns(free) if free else ())


def sine(inputs: int, outputs: int) -> TruthTable:
    """Return a quarter wave of sine."""
    steps, high = 1 << inputs, 1 << outputs
    return table_of(
        inputs,
        outputs,
        lambda row: min(high - 1, int(high * math.sin(math.pi / 2 * (row + 0.5) / steps))),
    )


def product(bits: int) -> TruthTable:
    """Return the product of two words."""
    mask = (1 << bits) - 1
    return table_of(2 * bits, 2 * bits, lambda row: (row >> bits) * (row & mask))
