"""What native code is made of: registers that suffice, and cells that are never wrong."""

from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from boolcomp.codes import Code
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
from boolcomp.engines.coding import LARGE_HIGH, MARGIN, coarse, fine
from boolcomp.logic import network as luts
from boolcomp.logic.network import CONSTANTS, Builder, Network
from boolcomp.logic.order import greedy_order
from boolcomp.problem.words import Interval

ALL = (1 << 64) - 1
OPERATIONS = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "andn": lambda a, b: ~a & b & ALL,
}


def table(lut: int, a: int, b: int, c: int) -> int:
    """Return a table's value on 64 samples."""
    found = 0
    for row in range(8):
        if lut >> row & 1:
            term = ALL
            for k, x in enumerate((a, b, c)):
                term &= x if row >> (2 - k) & 1 else ~x & ALL
            found |= term
    return found


def random_network(seed: int, inputs: int, nodes: int) -> Network:
    rng = np.random.default_rng(seed)
    builder = Builder(inputs)
    literals = [0, 2, *(builder.input(k) for k in range(inputs))]
    for lut in rng.integers(1, 255, nodes).tolist():
        operands = [literals[k] ^ int(rng.integers(2)) for k in rng.integers(0, len(literals), 3)]
        literals.append(builder.node(lut, *operands))
    return builder.build([*literals[-max(3, nodes // 4) :], *literals[:3], literals[2] ^ 1])


class Fold:
    """The algebra of 64 samples."""

    def constant(self, value: int) -> int:
        return ALL * value

    def node(self, lut: int, operands: tuple[int, ...]) -> int:
        return table(lut, *operands, *(0 for _ in range(3 - len(operands))))


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
                registers[to] = table(lut, registers[to], registers[second], value(third))
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
    expected = list(network.fold(Fold(), inputs))
    orders = [None, greedy_order(network, 3, variant=seed % 5)]
    for order in orders:
        assert run(Allocation(network, registers, order), inputs) == expected


def test_no_more_registers_are_used_than_there_are() -> None:
    allocation = Allocation(random_network(1, 9, 200), 6)
    used = {step.to for step in allocation.steps if not isinstance(step, WriteMemory)}
    assert used <= set(range(6))


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


@st.composite
def codes(draw: st.DrawFn) -> Code:
    low = draw(st.sampled_from([-np.pi, -1.0, -0.1, 0.0, 3.7]) | st.floats(-40, 40))
    width = draw(st.sampled_from([2 * np.pi, 2.0, 0.3]) | st.floats(0.01, 80))
    return Code(Interval(low, low + width), draw(st.integers(1, 14)), "natural")


def around_borders(code: Code, kind: Any) -> NDArray[Any]:
    """Return values on, close to and about a tie's width below borders, and some between."""
    rng = np.random.default_rng(0)
    some = np.unique(rng.integers(0, code.cells + 1, 200))
    places = some[:, None] + np.concatenate([[0, 0.5], -(10.0 ** np.arange(-13, -2)), [-1.0001e-9]])
    values = (code.range.low + places.ravel() * code.step).astype(kind)
    near = [np.nextafter(values, kind(end)) for end in (-np.inf, np.inf)]
    found: NDArray[Any] = np.concatenate([values, *near, rng.uniform(-50, 50, 50).astype(kind)])
    return found


def inside(code: Code, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are in the range, or within a cell's millionth of its ends."""
    slack = code.step * 1e-6 + abs(code.range.high) * 1e-6
    kept: NDArray[np.bool_] = values >= code.range.low - slack
    return kept & (values <= code.range.high + slack)


@given(codes(), st.sampled_from([np.float32, np.float64]), st.sampled_from(["fused", "rounded"]))
def test_doubles_beyond_doubt_are_in_their_cells(code: Code, kind: Any, product: str) -> None:
    found = fine(code)
    assume(found is not None)
    assert found is not None
    values = around_borders(code, kind).astype(np.float64)
    made: NDArray[Any]
    if product == "fused":
        made = values.astype(np.longdouble) * found[0] + np.longdouble(found[1])
    else:
        made = values * found[0] + found[1]
    bits = made.astype(np.float64).view(np.int64)
    cells = (bits >> 32) - LARGE_HIGH + code.cells // 2
    sure = (cells >= 0) & (cells < code.cells) & ((bits & 0xFFFF_FFFF) < (1 << 32) - MARGIN)
    assert sure.any()
    assert (cells[sure] == code.cell(values[sure])[0]).all()
    assert inside(code, values[sure]).all()


@given(codes())
def test_floats_beyond_doubt_are_in_their_cells(code: Code) -> None:
    found = coarse(code)
    assume(found is not None)
    assert found is not None
    values = around_borders(code, np.float32)
    # The product is exact in double, and the sum nearly: as if it were rounded but once.
    made = (values.astype(np.float64) * found.factor + found.added).astype(np.float32)
    bits = made.view(np.uint32).astype(np.int64)
    cells = (bits >> found.places) - (127 + code.bits << 23 - found.places)
    place = bits & (1 << found.places) - 1
    sure = (cells >= 0) & (cells < code.cells) & (place < (1 << found.places) - found.doubt)
    assert (cells[sure] == code.cell(values[sure])[0]).all()
    assert inside(code, values[sure]).all()
