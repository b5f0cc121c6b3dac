"""Hypothesis strategies for cubes, functions and PLA files."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from boolcomp.twolevel.cover import Function
from boolcomp.twolevel.cubes import Cubes
from boolcomp.twolevel.dense import Dense
from boolcomp.twolevel.verify import verify


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
def functions(draw: st.DrawFn) -> Function:
    """Return functions of few inputs with don't-cares."""
    inputs, outputs = draw(shapes)
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


def as_lists(function: Function) -> Function:
    """Return the same function, treated as if it had too many inputs for truth tables."""
    twin = Function(function.inputs, function.outputs, function.on, function.dc, function.given_off)
    twin.__dict__["is_dense"] = False
    return twin


def values(cubes: Cubes, point: str) -> str:
    """Return what a cover computes at a point, the slow and obvious way."""
    result = ["0"] * cubes.outputs
    for term, owners in cubes.rows():
        if all(letter in ("-", bit) for letter, bit in zip(term, point, strict=True)):
            result = ["1" if "1" in pair else "0" for pair in zip(result, owners, strict=True)]
    return "".join(result)


def points(inputs: int) -> list[str]:
    """Return all points in the order of truth tables."""
    return [f"{x:0{inputs}b}" if inputs else "" for x in range(1 << inputs)]


def implements(function: Function, cubes: Cubes) -> bool:
    """Tell whether a cover is right."""
    return verify(function, cubes) is None
