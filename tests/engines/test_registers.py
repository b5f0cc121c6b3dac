"""What native code is made of: steps in registers that suffice, and look-up tables in two."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from boolcomp.engines.avx512 import (
    Allocation,
    BitwiseOperation,
    Copy,
    Fill,
    Memory,
    ReadMemory,
    Ternary,
    WriteMemory,
    split,
)
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS, Builder, Network
from boolcomp.logic.order import greedy_order
from boolcomp.logic.simulation import Planes

ALL = (1 << 64) - 1
PLANES = Planes(ALL)  # 64 samples
OPERATIONS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn": lambda a, b: ~a & b & ALL,
}


def random_network(seed: int, inputs: int, nodes: int) -> Network:
    rng = np.random.default_rng(seed)
    builder = Builder(inputs)
    literals = [0, 2, *(builder.input(k) for k in range(inputs))]
    for lut in rng.integers(1, 255, nodes).tolist():
        operands = [literals[k] ^ int(rng.integers(2)) for k in rng.integers(0, len(literals), 3)]
        literals.append(builder.node(lut, *operands))
    return builder.build([*literals[-max(3, nodes // 4) :], *literals[:3], literals[2] ^ 1])


def run(allocation: Allocation, inputs: list[int]) -> list[int]:
    """Carry out steps; reading what was not written is a `KeyError`."""
    registers: dict[int, int] = {}
    memory = {Memory("input", k): x for k, x in enumerate(inputs)}

    def value(source: int | Memory) -> int:
        return memory[source] if isinstance(source, Memory) else registers[source]

    for step in allocation.steps:
        match step:
            case ReadMemory(to, place) | Copy(to, place):
                registers[to] = value(place)
            case WriteMemory(of, place):
                memory[place] = registers[of]
            case Ternary(lut, to, second, third):
                registers[to] = PLANES.node(lut, (registers[to], registers[second], value(third)))
            case BitwiseOperation(operation, to, first, second):
                registers[to] = OPERATIONS[operation](registers[first], value(second))
            case Fill(to, ones):
                registers[to] = ALL * ones
    assert not any(k >= allocation.spills for kind, k in memory if kind == "spill")
    found = []
    for k, signal in enumerate(allocation.network.outputs):
        passed = CONSTANTS <= signal < CONSTANTS + len(inputs)  # it stays where it is
        found.append(inputs[signal - CONSTANTS] if passed else memory[Memory("output", k)])
    return found


@given(st.integers(0, 10_000), st.sampled_from([5, 8, 32]), st.sampled_from([3, 30, 90]))
def test_steps_compute_the_network(seed: int, registers: int, nodes: int) -> None:
    network = random_network(seed, 7, nodes)
    rng = np.random.default_rng(seed)
    inputs = [int(x) for x in rng.integers(0, 1 << 63, 7)]
    expected = list(network.fold(PLANES, inputs))
    orders = [None, greedy_order(network, 3, variant=seed % 5)]
    for order in orders:
        assert run(Allocation(network, registers, order), inputs) == expected


def test_tables_split_into_two_where_they_can() -> None:
    letters = luts.LETTERS
    count = 0
    for lut in range(256):
        if len(luts.support(lut)) < 3 or (halves := split(lut)) is None:
            continue
        count += 1
        place, h, g = halves
        first, second = (letters[k] for k in range(3) if k != place)
        middle = luts.compose(h, (first, second, 0))
        assert luts.compose(g, (middle, letters[place], 0)) == lut
    # abc 16, a(b + c) 48, a(b ^ c) 24, a ^ bc 24, a ^ b ^ c 2; inversions anywhere are counted in
    assert count == 114
    assert split(luts.MAJ3) is None


# Cells by one multiplication and addition: right where they are beyond doubt
