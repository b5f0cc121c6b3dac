"""Every engine codes values and gives back values as codes say, for words of every kind."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from engines.test_engines import KINDS, engine_of
from numpy.typing import NDArray

from boolcomp.base import UsageError
from boolcomp.codes import Code
from boolcomp.engines import Call, EnginePort, NativeEngine, Result, Wiring, evaluate
from boolcomp.logic import XOR2, Builder
from boolcomp.problem import Interval, numbered

UNIT, TURN = Interval(-1, 1), Interval(-np.pi, np.pi)
SETS: dict[str, list[Code]] = {
    "bytes": [Code(TURN, 8, "gray"), Code(UNIT, 5, "natural")],
    "mixed": [Code(UNIT, 10, "natural"), Code(Interval(-2, 3), 7, "gray"),
              Code(Interval(-0.3, 1.7), 12, "gray")],
    "fine": [Code(UNIT, 16, "gray")],  # too fine for floats
    "far": [Code(Interval(1e7, 1e7 + 1), 8, "natural"), Code(UNIT, 8, "natural")],
    "wide": [Code(UNIT, 20, "gray"), Code(Interval(-2, 1), 17, "natural"), Code(UNIT, 6, "gray"),
             Code(UNIT, 30, "natural")],
    "tread": [Code(Interval(-4, 4), 2, "natural", tread=True),
              Code(Interval(-0.3, 0.3), 18, "natural", tread=True),
              Code(Interval(-0.3, 0.3), 8, "natural", tread=True)],
    "turn": [Code(TURN, 10, "natural", wraps=True, tread=True)],
}  # fmt: skip


@cache
def through(name: str) -> Wiring:
    """Return the wiring that hands the cells of q on as outputs; the top bit marks samples."""
    codes = SETS[name]
    first = [sum(c.bits for c in codes[:k]) for k in range(len(codes) + 1)]
    builder = Builder(first[-1])
    outputs = []
    for k, code in enumerate(codes):
        bits = [builder.input(first[k] + b) for b in range(code.bits)]
        for b in range(1, code.bits) if code.kind == "gray" else ():
            bits[b] = builder.node(XOR2, bits[b - 1], bits[b])
        outputs += bits
    ports = tuple(EnginePort(0, k, code, first[k]) for k, code in enumerate(codes))
    call = Call(0, tuple(range(first[-1])), first[-1])
    results = tuple(
        Result(f"y{k}", code, first[-1] + first[k], first[-1] + first[k])
        for k, code in enumerate(codes)
    )
    groups = tuple(numbered(name, len(codes)) for name in ("q", "qd", "qdd"))
    return Wiring(groups, ports, (builder.build(outputs),), (call,), results, 2 * first[-1])


def check(engine: Any, name: str, q: NDArray[Any]) -> None:
    """Hold an engine's answer against codes alone."""
    zero = np.zeros_like(q)
    found = evaluate(engine, (q, zero, zero), coded=q.dtype == np.uint32)
    kind = np.float32 if q.dtype == np.float32 else np.float64
    saturated = high = 0
    for k, code in enumerate(SETS[name]):
        coded = None if q.dtype == np.uint32 else code.encode(q[:, k])
        words = q[:, k] if coded is None else coded.words
        cells = code.index(words)
        assert np.array_equal(found.words[:, k], words)
        assert np.array_equal(found.values[:, k], code.centre(cells).astype(kind))
        saturated += 0 if coded is None else coded.saturated
        high += int((cells >= code.cells // 2).sum())
    assert found.saturated_inputs == saturated
    assert found.saturated_outputs == high


def values(codes: list[Code], kind: Any, count: int) -> NDArray[Any]:
    """Return rows of values on borders, next to them, between them, and outside."""
    rng = np.random.default_rng(count)
    columns = []
    for code in codes:
        border = code.low + rng.integers(0, code.cells + 1, count) * code.step
        border -= rng.choice([0, 0, 1e-9, 1.0001e-9, 0.9999e-9, 2e-9], count) * code.step
        column = border.astype(kind)
        near = np.nextafter(column, rng.choice([-np.inf, np.inf], count).astype(kind))
        middle = code.range.low + rng.uniform(-0.01, 1.01, count) * code.cells * code.step
        columns.append(np.choose(rng.integers(0, 3, count), [column, near, middle.astype(kind)]))
    return np.stack(columns, axis=1).astype(kind)


CASES = [(name, kind) for name in SETS for kind in KINDS]
FAST = {("bytes", "numpy"), ("bytes", KINDS[1]), ("tread", "numpy")}
MARKED = [x if x in FAST else pytest.param(*x, marks=pytest.mark.slow) for x in CASES]


@pytest.mark.parametrize(("name", "kind"), MARKED)
def test_values_and_words_are_coded_as_codes_say(name: str, kind: str) -> None:
    engine = engine_of(through(name), kind)
    for number in (np.float32, np.float64):
        for count in (1, 577, 1500):
            check(engine, name, values(SETS[name], number, count))
    rng = np.random.default_rng(1)
    words = np.stack([rng.integers(0, code.cells, 700) for code in SETS[name]], axis=1)
    check(engine, name, words.astype(np.uint32))


def test_words_of_more_than_thirty_bits_are_refused() -> None:
    code = Code(UNIT, 31, "natural")
    network = Builder(31).build([2] * 2)
    result = Result("y", Code(UNIT, 1), 31, 32)
    groups, call = tuple(numbered(x, 1) for x in "xyz"), Call(0, tuple(range(31)), 31)
    wiring = Wiring(groups, (EnginePort(0, 0, code, 0),), (network,), (call,), (result,), 33)
    zero = np.zeros((3, 1))
    with pytest.raises(UsageError, match="31 bits, at most 30 are allowed"):
        evaluate(NativeEngine(wiring, int(KINDS[-1])), (zero, zero, zero), coded=False)
