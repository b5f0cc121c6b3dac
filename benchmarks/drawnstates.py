"""What the workers of `batches.py` do: states by a counter-based generator, and their logic.

A module of its own, because workers know functions by the names of their modules.
"""

from __future__ import annotations

import os
import time
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from boolcomp.program.files import load_program

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.program.program import Program

PIECE = 1 << 16  # states that are drawn and evaluated at a time: in a cache
SEED = 16


class Drawn(NamedTuple):
    """What came of some states: a digest that sums up in any order; seconds; memory in MB."""

    digest: int
    drawing: float
    logic: float
    peak: float
    process: int


@lru_cache(maxsize=2)
def program_in(folder: str) -> Program:
    """Return a saved program, loaded once a process."""
    return load_program(folder)


@lru_cache(maxsize=1)
def base(bits: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return random codes for a piece of states, a column a word."""
    rng = np.random.default_rng(SEED)
    kinds = [np.int8 if width <= 8 else np.int16 for width in bits]  # of which the low bits count
    return [rng.integers(0, 1 << width, PIECE).astype(kind)
            for width, kind in zip(bits, kinds, strict=True)]  # fmt: skip


def draw(piece: int, count: int, bits: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return codes of the states of a piece: random ones, turned over by its mixed number.

    So states are drawn by counting, anywhere, in a fraction of the time that their logic takes.
    """
    mixed = np.random.Philox(key=SEED, counter=piece).random_raw(len(bits))
    return [
        column[:count] ^ number.astype(column.dtype)
        for column, number in zip(base(bits), mixed, strict=True)
    ]


def evaluate_drawn(folder: str, start: int, count: int) -> Drawn:
    """Draw states and evaluate them, piece by piece."""
    program = program_in(folder)
    engine = program.engine()
    bits = tuple(word.code.bits for word in program.inputs)
    digest, drawing, logic = 0, 0.0, 0.0
    then = time.perf_counter()
    for first in range(start, start + count, PIECE):
        columns = draw(first // PIECE, min(PIECE, start + count - first), bits)
        drawn = time.perf_counter()
        found = engine.run_codes(columns)  # type: ignore[attr-defined]  # the native engine has it
        now = time.perf_counter()
        drawing, logic, then = drawing + drawn - then, logic + now - drawn, now
        for column in found.columns:
            digest += zlib.crc32(column.tobytes(), first & 0xFFFFFFFF)
    return Drawn(digest, drawing, logic, peak(), os.getpid())


def evaluate_again(folder: str, samples: int, times: int) -> float:
    """Evaluate a batch of values that nobody else has, again and again; return the seconds."""
    program = program_in(folder)
    state = values(samples)
    program.evaluate(*state)
    start = time.perf_counter()
    for _ in range(times):
        program.evaluate(*state)
    return time.perf_counter() - start


@lru_cache(maxsize=1)
def values(samples: int) -> tuple[NDArray[np.float64], ...]:
    """Return q, qd and qdd of random states."""
    rng = np.random.default_rng(0)
    return tuple(rng.uniform(-x, x, (samples, 2)) for x in (3.15, 1.001, 1.001))


def peak() -> float:
    """Return the most memory that this process has had at once, in MB; not its parent's."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return float(line.split()[1]) / 1000
    return float("nan")
