"""Signed codes and planes through the native engine, in every width, against the numpy engine."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from boolcomp.base import UsageError
from boolcomp.codes import Code
from boolcomp.engines import (
    Call,
    EnginePort,
    NativeEngine,
    Result,
    Wiring,
    evaluate,
    host,
    make_engine,
)
from boolcomp.logic import Builder
from boolcomp.problem import Interval, numbered

HERE = [width for width in (512, 256, 64) if width < 512 or host().has_ternary]
GROUPS = tuple(numbered(name, 3) for name in ("q", "qd", "qdd"))
IN, OUT = (8, 8, 5, 12, 16, 1), (8, 3, 11)


@cache
def wiring(kind: Any = "natural") -> Wiring:
    """Return random logic from words of many widths to words of others."""
    rng = np.random.default_rng(3)
    ports, first = [], 0
    for k, bits in enumerate(IN):
        ports.append(EnginePort(k // 3, k % 3, Code(Interval(-1, 1), bits, kind), first))
        first += bits
    builder = Builder(first)
    literals = [builder.input(k) for k in range(first)]
    for lut in rng.integers(1, 255, 150).tolist():
        literals.append(
            builder.node(lut, *(literals[k] for k in rng.integers(0, len(literals), 3)))
        )
    network = builder.build(literals[-sum(OUT) - len(OUT) :])
    results = []
    at = first
    for bits in OUT:
        results.append(Result(f"y{at}", Code(Interval(-2, 2), bits, "natural"), at, at + bits))
        at += bits + 1
    call = Call(0, tuple(range(first)), first)
    return Wiring(GROUPS, tuple(ports), (network,), (call,), tuple(results), at)


@cache
def engine(width: int, kind: str = "natural", threads: int = 1) -> NativeEngine:
    return NativeEngine(wiring(kind), width, threads)


def columns(count: int, seed: int = 0) -> list[NDArray[Any]]:
    rng = np.random.default_rng(seed)
    return [
        rng.integers(-(1 << b - 1), 1 << b - 1, count).astype(np.int8 if b <= 8 else np.int16)
        for b in IN
    ]


def expected(given: list[NDArray[Any]], kind: str = "natural") -> tuple[NDArray[Any], int]:
    """Return cells of torques by the numpy engine, and how many saturated."""
    words = [np.zeros((len(given[0]), 3), np.uint32) for _ in range(3)]
    for port, column in zip(wiring(kind).ports, given, strict=True):
        cells = (column.astype(np.int64) + (1 << port.code.bits - 1)) % port.code.cells
        words[port.array][:, port.column] = port.code.word(cells)
    found = evaluate(make_engine(wiring(kind), "numpy"), words, coded=True)
    return found.words, found.saturated_outputs


def cells(found: Any) -> NDArray[Any]:
    return np.stack(
        [c.astype(np.int64) + (1 << b - 1) for c, b in zip(found.columns, OUT, strict=True)], axis=1
    )


@pytest.mark.slow
@pytest.mark.parametrize("width", HERE)
@pytest.mark.parametrize("kind", ["natural", "gray"])
def test_codes_give_the_torques_of_their_words(width: int, kind: str) -> None:
    for count in (0, 1, 1000):
        given = columns(count)
        found = engine(width, kind).run_codes(given)
        words, saturated = expected(given, kind)
        assert (cells(found) == words).all()
        assert found.saturated == saturated
        assert [c.dtype for c in found.columns] == [np.int8, np.int8, np.int16]


@pytest.mark.parametrize("width", HERE)
def test_planes_made_once_give_what_codes_give(width: int) -> None:
    given = columns(1500)
    planes = engine(width).to_planes(given)
    assert planes.shape == (-(-1500 // width), sum(IN), width // 8)
    made = engine(width).run_planes(planes)
    found, direct = engine(width).from_planes(made, 1500), engine(width).run_codes(given)
    assert (cells(found) == cells(direct)).all()
    assert found.saturated == direct.saturated
    again = np.empty_like(made)
    assert engine(width).run_planes(planes, again) is again
    assert (again == made).all()


def test_where_llvm_chooses_the_registers_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("boolcomp.engines.llvm.assembles", lambda: False)
    made = NativeEngine(wiring("gray"), HERE[0])
    given = columns(1100)
    assert (cells(made.run_codes(given)) == expected(given, "gray")[0]).all()
    planes = made.run_planes(made.to_planes(given))
    assert (cells(made.from_planes(planes, 1100)) == expected(given, "gray")[0]).all()
    assert made.from_planes(planes, 1100).saturated == expected(given, "gray")[1]


def test_threads_change_nothing() -> None:
    many, one = engine(HERE[0], threads=3), engine(HERE[0])
    for count in (1, 30_000):
        given = columns(count)
        found, alone = many.run_codes(given), one.run_codes(given)
        assert (cells(found) == cells(alone)).all()
        assert found.saturated == alone.saturated
    rng = np.random.default_rng(0)
    states = [rng.uniform(-1.1, 1.1, (20_001, 3)) for _ in range(3)]
    a, b = (evaluate(x, states, coded=False) for x in (many, one))
    assert a.torques.tobytes() == b.torques.tobytes()
    assert (a.saturated_inputs, a.saturated_outputs) == (b.saturated_inputs, b.saturated_outputs)


def test_what_does_not_fit_is_an_error_that_says_what_would() -> None:
    chosen = engine(HERE[0])
    given = columns(10)
    wrong = [given[0].astype(np.int32), *given[1:]]
    with pytest.raises(
        UsageError, match=r"input column 0 is int32 of shape \(10,\); give int8 of shape \(10,\)"
    ):
        chosen.run_codes(wrong)
    with pytest.raises(UsageError, match="5 input columns are given, but 6 are needed"):
        chosen.run_codes(given[:5])
    with pytest.raises(UsageError, match="output columns must be contiguous and hold 10 samples"):
        chosen.run_codes(given, [np.empty(9, t) for t in (np.int8, np.int8, np.int16)])
    with pytest.raises(UsageError, match="input planes are uint8 of shape"):
        chosen.run_planes(np.zeros((1, 2, chosen.width // 8), np.uint8))
    with pytest.raises(UsageError, match="0 threads"):
        NativeEngine(wiring(), threads=0)
