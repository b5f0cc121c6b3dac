"""Words with signs and with cells at zero on all engines, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from engines.test_engines import KINDS, engine_of
from small_programs import stages

from boolcomp.codes import Code, CodeKind
from boolcomp.engines import evaluate
from boolcomp.engines.wiring import Call, Port, Result, Wiring
from boolcomp.logic.network import Builder, Network
from boolcomp.paper.quantised import quantised
from boolcomp.problem.interval import Interval
from boolcomp.problem.problem import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIGNED: list[CodeKind] = ["twos", "sign-magnitude"]


def passed_on(bits: int) -> Network:
    """Return a network whose outputs are its inputs, and last 0."""
    builder = Builder(bits)
    return builder.build([*(builder.input(k) for k in range(bits)), 0])


def wire_of(code: Code) -> Wiring:
    """Return a wiring that reads a word and gives it as one like it."""
    call = Call(0, tuple(range(code.bits)), code.bits)
    result = Result("y", code, code.bits, 2 * code.bits)
    port = Port(0, 0, code, 0)
    planes = 2 * code.bits + 1
    group = (numbered("x", 1),)
    return Wiring(group, (port,), (passed_on(code.bits),), (call,), (result,), planes)


def values_about(code: Code) -> NDArray[np.float64]:
    """Return values at and beside borders and centres, and beyond the range."""
    borders = code.low + np.arange(-2, min(code.cells, 300) + 3) * code.step
    near = [borders + part * code.step for part in (-1e-3, -1e-12, 0.0, 1e-12, 0.5)]
    drawn = np.random.default_rng(4).uniform(code.range.low, code.range.high, 500)
    ends = [code.range.low, code.range.high, 0.0, -0.0, 3 * code.range.high]
    return np.concatenate([*near, drawn, ends])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bits", [2, 8, 12, 18])
@pytest.mark.parametrize("reach", [4.0, 0.3])
def test_a_word_with_a_cell_at_zero_is_read_and_given_back_at_whole_steps(
    kind: str, bits: int, reach: float
) -> None:
    code = Code(Interval(-reach, reach), bits, "natural", tread=True)
    values = values_about(code)
    expected = code.encode(values)
    found = evaluate(engine_of(wire_of(code), kind), [values[:, None]], coded=False)
    assert np.array_equal(found.words[:, 0], expected.words)
    assert np.array_equal(found.values[:, 0], code.decode(expected.words))
    assert found.saturated_inputs == expected.saturated > 0
    single = values.astype(np.float32)
    found = evaluate(engine_of(wire_of(code), kind), [single[:, None]], coded=False)
    cells = code.index(code.encode(single).words)
    assert np.array_equal(found.values[:, 0], code.centre(cells).astype(np.float32))


@pytest.mark.parametrize("kind", KINDS)
def test_an_angle_with_a_cell_at_zero_wraps_on_all_engines(kind: str) -> None:
    code = Code(Interval(-np.pi, np.pi), 10, "natural", wraps=True, tread=True)
    values = np.random.default_rng(6).uniform(-40, 40, 1000)
    found = evaluate(engine_of(wire_of(code), kind), [values[:, None]], coded=False)
    assert np.array_equal(found.words[:, 0], code.encode(values).words)
    assert found.saturated_inputs == 0


@pytest.mark.check
@pytest.mark.parametrize("code", SIGNED)
def test_tables_of_signed_words_give_what_the_plan_says(code: CodeKind) -> None:
    plan, _, program = stages(4, code)
    rng = np.random.default_rng(8)
    states = [rng.uniform(-reach, reach, (500, 2)) for reach in (3.1, 1.1, 1.1)]
    expected = quantised(plan, states)
    for kind in KINDS:
        found = evaluate(engine_of(program.wiring(), kind), states, coded=False)
        assert np.array_equal(found.words, expected.words)
        assert np.array_equal(found.values, expected.values)
        words = [np.zeros((500, 2), np.int64) for _ in states]
        for word in program.inputs:
            array, column = ("q", "qd", "qdd").index(word.name[:-1]), int(word.name[-1]) - 1
            words[array][:, column] = word.code.encode(states[array][:, column]).words
        again = evaluate(engine_of(program.wiring(), kind), words, coded=True)
        assert np.array_equal(again.words, expected.words)
