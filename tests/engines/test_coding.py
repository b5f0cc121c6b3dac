"""Samples in and results out of the native engine, for words of every width and kind of number."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from boolcomp.codes import Code
from boolcomp.common.errors import DataError, UsageError
from boolcomp.engines import evaluate
from boolcomp.engines.native import NativeEngine, machine
from boolcomp.engines.native.logic import WIDTHS
from boolcomp.engines.native.machine import host
from boolcomp.engines.planes import NumpyEngine
from boolcomp.engines.wiring import Call, Port, Result, Wiring
from boolcomp.logic import luts
from boolcomp.logic.network import Builder
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.engines import Evaluation

HERE = [width for width in WIDTHS if width < 512 or host().has_ternary]
REAL: list[Any] = [np.float32, np.float64]
SETS: dict[str, list[Code]] = {
    "bytes": [Code(Interval(-np.pi, np.pi), 8, "gray"), Code(Interval(-1, 1), 5, "natural")],
    "mixed": [
        Code(Interval(-1, 1), 10, "natural"),
        Code(Interval(-2, 3), 7, "gray"),
        Code(Interval(-0.3, 1.7), 12, "gray"),
    ],
    "fine": [Code(Interval(-1, 1), 16, "gray")],  # too fine for floats
    "far": [Code(Interval(1e7, 1e7 + 1), 8, "natural"), Code(Interval(-1, 1), 8, "natural")],
    "wide": [Code(Interval(-1, 1), 20, "gray"), Code(Interval(-2, 1), 17, "natural"),
             Code(Interval(-1, 1), 6, "gray"), Code(Interval(-1, 1), 30, "natural")],
}  # fmt: skip


@cache
def through(name: str) -> Wiring:
    """Return the wiring that hands the cells of q on as torques; the top bit marks samples."""
    codes = SETS[name]
    first = [sum(c.bits for c in codes[:k]) for k in range(len(codes) + 1)]
    builder = Builder(first[-1])
    outputs = []
    for k, code in enumerate(codes):
        bits = [builder.input(first[k] + b) for b in range(code.bits)]
        for b in range(1, code.bits) if code.kind == "gray" else ():
            bits[b] = builder.node(luts.XOR2, bits[b - 1], bits[b])
        outputs += bits
    ports = tuple(Port(0, k, code, first[k]) for k, code in enumerate(codes))
    call = Call(0, tuple(range(first[-1])), first[-1])
    results = tuple(
        Result(f"y{k}", code, first[-1] + first[k], first[-1] + first[k])
        for k, code in enumerate(codes)
    )
    groups = tuple(numbered(name, len(codes)) for name in ("q", "qd", "qdd"))
    return Wiring(groups, ports, (builder.build(outputs),), (call,), results, 2 * first[-1])


@cache
def engine(name: str, width: int) -> NativeEngine:
    return NativeEngine(through(name), width)


def run(chosen: Any, q: NDArray[Any]) -> Evaluation:
    zero = np.zeros_like(q)
    return evaluate(chosen, (q, zero, zero), coded=q.dtype == np.uint32)


def agree(found: Evaluation, other: Evaluation) -> None:
    assert found.torques.dtype == other.torques.dtype
    assert found.torques.tobytes() == other.torques.tobytes()
    assert found.words.tobytes() == other.words.tobytes()
    assert found.saturated_inputs == other.saturated_inputs
    assert found.saturated_outputs == other.saturated_outputs


def values(codes: Sequence[Code], kind: Any, count: int) -> NDArray[Any]:
    """Return rows of values on borders, next to them, between them, and outside."""
    rng = np.random.default_rng(count)
    columns = []
    for code in codes:
        border = code.range.low + rng.integers(0, code.cells + 1, count) * code.step
        border -= rng.choice([0, 0, 1e-9, 1.0001e-9, 0.9999e-9, 2e-9], count) * code.step
        column = border.astype(kind)
        ends = rng.choice([-np.inf, np.inf], count).astype(kind)
        near = np.nextafter(column, ends)
        middle = code.range.low + rng.uniform(-0.01, 1.01, count) * code.cells * code.step
        choice = rng.integers(0, 3, count)
        columns.append(np.choose(choice, [column, near, middle.astype(kind)]))
    return np.stack(columns, axis=1).astype(kind)


CASES = [(name, width) for name in SETS for width in HERE]
SLOW = [pytest.param(*case, marks=pytest.mark.slow) for case in CASES if case != CASES[0]]


@pytest.mark.parametrize(("name", "width"), [CASES[0], *SLOW])
def test_values_of_both_types_and_words_get_the_cells_of_their_codes(name: str, width: int) -> None:
    wiring = through(name)
    codes = SETS[name]
    for kind in REAL:
        for count in (1, 577, 1500):
            q = values(codes, kind, count)
            agree(run(engine(name, width), q), run(NumpyEngine(wiring), q))
    rng = np.random.default_rng(1)
    words = np.stack([rng.integers(0, code.cells, 700) for code in codes], axis=1)
    q = words.astype(np.uint32)
    agree(run(engine(name, width), q), run(NumpyEngine(wiring), q))


@pytest.mark.slow
def test_every_cell_comes_back_as_its_centre() -> None:
    for name in ("bytes", "fine"):
        code = SETS[name][0]
        centres = code.centre(np.arange(code.cells))
        rows = np.stack([centres] * len(SETS[name]), axis=1).clip(-0.99 * np.pi, np.pi)
        for kind in REAL:
            found = run(engine(name, HERE[0]), rows.astype(kind))
            kept = abs(centres) < 3
            assert (found.torques[kept, 0] == centres.astype(kind)[kept]).all()


def test_values_inside_that_are_beyond_doubt_need_no_second_look() -> None:
    code = SETS["bytes"][0]
    given = np.linspace(-3.0, 3.0, 640).astype(np.float32)
    cells = code.cell(given)[0]
    found = run(engine("bytes", HERE[0]), np.stack([given, given / 4], axis=1))
    assert (found.words[:, 0] == code.word(cells)).all()
    assert found.saturated_inputs == 0


@pytest.mark.slow
@pytest.mark.parametrize("width", HERE)
@pytest.mark.parametrize("place", [(0, 0), (63, 1), (64, 0), (599, 2)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_found_in_every_group(
    width: int, place: tuple[int, int], value: float
) -> None:
    for kind in REAL:
        q = np.zeros((600, 3), kind)
        q[place] = value
        with pytest.raises(DataError, match=f"q{place[1] + 1} of sample {place[0]} is {value}"):
            run(engine("mixed", width), q)


@pytest.mark.slow
def test_marks_of_saturated_samples_count_up_to_the_last_sample() -> None:
    for width in HERE:
        for count in (1, 8, 63, 64, 65, 300, 511, 513, 1000):
            q = np.full((count, 2), 0.9)  # the upper half: the top bits are ones
            assert run(engine("bytes", width), q).saturated_outputs == 2 * count


@pytest.mark.slow
def test_without_fused_or_affine_instructions_nothing_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    q = values(SETS["mixed"], np.float32, 900)
    expected = run(NumpyEngine(through("mixed")), q)
    monkeypatch.setattr(machine.Processor, "has_affine", property(lambda _: False))
    monkeypatch.setattr(machine.Processor, "has_fused", property(lambda _: False))
    for width in HERE:
        agree(run(NativeEngine(through("mixed"), width), q), expected)


def test_words_of_more_than_thirty_bits_are_refused() -> None:
    code = Code(Interval(-1, 1), 31, "natural")
    network = Builder(31).build([2] * 2)
    result = Result("y", Code(Interval(-1, 1), 1), 31, 32)
    groups, call = tuple(numbered(x, 1) for x in "xyz"), Call(0, tuple(range(31)), 31)
    wiring = Wiring(groups, (Port(0, 0, code, 0),), (network,), (call,), (result,), 33)
    with pytest.raises(UsageError, match="31 bits is more than 30"):
        run(NativeEngine(wiring, HERE[-1]), np.zeros((3, 1)))
