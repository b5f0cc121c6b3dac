"""Cubes, functions and tables for tests of minimisers; values of cubes the slow and obvious way."""

import functools
import itertools

import numpy as np
from hypothesis import strategies as st

from boolcomp.paper import PlanOptions
from boolcomp.pipeline import run_passes
from boolcomp.twolevel import Cubes, Dense, Function, verify

Rows = list[tuple[str, str]]


@functools.cache
def robot_table(name: str, *, faithful: bool = False) -> Dense:
    """Return the table of a term of the 1988 paper's arm at 8 bits: `T11` … `T26`."""
    options = PlanOptions(rounding="faithful" if faithful else "nearest")
    found = {entry.plan.term.name: entry.table for entry in run_passes("machado-2r", options)}
    truth = found[name]
    return Dense.from_columns(truth.inputs, truth.columns, truth.free or None)


def cubes_of(inputs: int, outputs: int, most: int = 12) -> st.SearchStrategy[Cubes]:
    """Return lists of cubes of that shape."""
    term = st.text("01--", min_size=inputs, max_size=inputs)
    owners = st.text("01", min_size=outputs, max_size=outputs)
    return st.lists(st.tuples(term, owners), max_size=most).map(
        lambda rows: Cubes.from_rows(inputs, outputs, rows)
    )


shapes = st.tuples(st.integers(0, 8), st.integers(0, 4))
cubes = shapes.flatmap(lambda shape: cubes_of(*shape))


@st.composite
def functions(draw: st.DrawFn, most: int = 8) -> Function:
    """Return functions of few inputs with don't-cares."""
    inputs, outputs = draw(st.tuples(st.integers(0, most), st.integers(0, 4)))
    on, dc = draw(cubes_of(inputs, outputs)), draw(cubes_of(inputs, outputs, 5))
    return Function.from_cubes(on, dc)


@st.composite
def tables(draw: st.DrawFn) -> Dense:
    """Return random truth tables, from nearly empty to nearly full."""
    inputs, outputs = draw(shapes)
    noise = np.random.default_rng(draw(st.integers(0, 10**6)))
    shares = draw(st.tuples(st.floats(0, 1), st.floats(0, 1)))
    return random_table(noise, inputs, outputs, *shares)


def random_table(
    noise: np.random.Generator, inputs: int, outputs: int, on: float, dc: float
) -> Dense:
    """Return a table with about those shares of ON points and, over them, of don't-cares."""
    planes = []
    for share in (on, dc):
        bits = noise.random((outputs, 1 << inputs)) < share
        octets = np.zeros((outputs, max(8, (1 << inputs) // 8)), np.uint8)
        packed = np.packbits(bits, axis=1, bitorder="little")
        octets[:, : packed.shape[1]] = packed
        planes.append(octets.view("<u8").astype(np.uint64))
    return Dense(inputs, outputs, planes[0] & ~planes[1], planes[1])


def of_rows(*rows: tuple[str, str]) -> Function:
    return Function.from_cubes(Cubes.from_rows(len(rows[0][0]), len(rows[0][1]), rows))


def as_lists(function: Function) -> Function:
    """Return the same function, treated as if it had too many inputs for truth tables."""
    twin = Function(function.inputs, function.outputs, function.on, function.dc, function.given_off)
    twin.__dict__["is_dense"] = False
    return twin


def in_pairs(count: int) -> Rows:
    """Return x1 y1 | x2 y2 | …, whose complement is made of 2^count parts."""
    width = 2 * count
    return [("-" * 2 * i + "11" + "-" * (width - 2 - 2 * i), "1") for i in range(count)]


def points(inputs: int) -> list[str]:
    """Return all points in the order of truth tables."""
    return list(map("".join, itertools.product("01", repeat=inputs)))


def holds(term: str, point: str) -> bool:
    return all(letter in ("-", bit) for letter, bit in zip(term, point, strict=True))


def values(cubes: Cubes, point: str) -> str:
    """Return what a cover computes at a point."""
    met = [owners for term, owners in cubes.rows() if holds(term, point)]
    return "".join("01"[any(one[j] == "1" for one in met)] for j in range(cubes.outputs))


def implements(function: Function, cubes: Cubes) -> bool:
    return verify(function, cubes) is None


def slow_primes(cubes: Cubes) -> set[tuple[str, str]]:
    """Return the implicants that lie in no other."""
    truth = {point: values(cubes, point) for point in points(cubes.inputs)}
    implicants = []
    for term in map("".join, itertools.product("01-", repeat=cubes.inputs)):
        held = [p for p in truth if holds(term, p)]
        owners = "".join(
            str(int(all(truth[p][j] == "1" for p in held))) for j in range(cubes.outputs)
        )
        if "1" in owners:
            implicants.append((term, owners))

    def lies_in(a: tuple[str, str], b: tuple[str, str]) -> bool:
        return all(y in ("-", x) for x, y in zip(a[0], b[0], strict=True)) and all(
            x <= y for x, y in zip(a[1], b[1], strict=True)
        )

    return {a for a in implicants if not any(a != b and lies_in(a, b) for b in implicants)}


def slow_minimum(function: Function) -> tuple[int, int]:
    """Return the fewest products, and the fewest literals of so few, by trying everything."""
    wanted = set()
    for point in points(function.inputs):
        pairs = zip(values(function.on, point), values(function.dc, point), strict=True)
        wanted |= {(point, j) for j, (on, dc) in enumerate(pairs) if on == "1" and dc == "0"}
    primes = sorted(slow_primes(function.on.joined(function.dc)))
    held = [
        {(point, j) for point, j in wanted if owners[j] == "1" and holds(term, point)}
        for term, owners in primes
    ]
    cost = [len(term) - term.count("-") for term, _ in primes]
    for size in range(len(primes) + 1):
        sums = [
            sum(cost[k] for k in chosen)
            for chosen in itertools.combinations(range(len(primes)), size)
            if wanted <= set().union(*(held[k] for k in chosen))
        ]
        if sums:
            return size, min(sums)
    raise AssertionError
