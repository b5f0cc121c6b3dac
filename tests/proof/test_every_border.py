"""The worst error that a search finds, beside all words at both sides of every border.

Functions jump, or have infinite slopes, at borders of cells and within them. The logic is a table
of what the function is at the middles of cells. The supremum is that of a fine grid in each cell:
its ends as the encoder has them, to both sides of the places where the function is not smooth.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.problem import Interval, Problem, with_exact_words
from boolcomp.proof import SearchedInput, SearchedProgram, find_worst

Floats = NDArray[np.float64]

ENOUGH = 0.999  # of the supremum
TIE = 1e-9  # of a cell: what is so near below a border is on it
OUTPUT = Code(Interval(-4.0, 4.0), 7, "natural")
ONE, UP, TURN = Interval(-1.0, 1.0), Interval(0.0, 1.0), Interval(-math.pi, math.pi)


def word(span: Interval, bits: int, *, wraps: bool = False, tread: bool = False) -> Code:
    return Code(span, bits, "natural", wraps, tread)


@dataclass(frozen=True)
class Case:
    """A function of bounded words, where it is not smooth, and where inputs may be."""

    function: Callable[..., object]
    codes: tuple[Code, ...]
    rough: tuple[float, ...] = (0.0,)
    allowed: tuple[Interval, ...] = ()

    @property
    def ranges(self) -> tuple[Interval, ...]:
        return self.allowed or tuple(code.range for code in self.codes)

    @property
    def problem(self) -> Problem:
        names = "xy"[: len(self.codes)]
        words = {
            name: bc.angle(bits=code.bits) if code.wraps else bc.word(
                code.range.low, code.range.high, bits=code.bits
            )
            for name, code in zip(names, self.codes, strict=True)
        }  # fmt: skip
        return bc.function_problem(self.function, words, ["f"])


CASES = {
    "sign": Case(bc.sign, (word(ONE, 6),)),
    "sign beside a slope": Case(lambda x, y: bc.sign(x) + y, (word(ONE, 5), word(ONE, 4))),
    "sign of a sum": Case(lambda x, y: bc.sign(x + y) + x / 2, (word(ONE, 4), word(ONE, 4))),
    "sign within a cell": Case(lambda x: bc.sign(x) - x, (word(ONE, 5, tread=True),)),
    "sign off the border": Case(lambda x: bc.sign(x - 0.3) + x, (word(ONE, 4),), (0.3,)),
    "sign of an angle": Case(
        lambda x: bc.sign(bc.sin(x)), (word(TURN, 6, wraps=True),), (-math.pi, 0.0, math.pi)
    ),
    "sign where inputs end": Case(bc.sign, (word(ONE, 5),), (0.0,), (Interval(-0.7, 0.0),)),
    "root": Case(bc.sqrt, (word(UP, 6),)),
    "root times": Case(lambda x, y: bc.sqrt(x) * y, (word(UP, 5), word(ONE, 4))),
    "root of a distance": Case(lambda x: bc.sqrt(bc.abs(x)), (word(ONE, 5, tread=True),)),
    "root at the end": Case(lambda x: bc.sqrt(1 - x), (word(UP, 6),), (1.0,)),
    "clip": Case(lambda x, y: bc.clip(2 * x + y, -1, 1), (word(ONE, 4), word(ONE, 4))),
    "the end of a range": Case(lambda x: 3 * x, (word(ONE, 4, tread=True),)),
}  # fmt: skip


def table(problem: Problem, codes: Sequence[Code], outputs: Sequence[Code]) -> Floats:
    """Return what logic says: outputs at the middles of all cells, as words say them."""
    grid = np.meshgrid(*(code.centre(range(code.cells)) for code in codes), indexing="ij")
    exact = problem.exact(np.stack([axis.reshape(-1) for axis in grid], axis=1))
    said = [code.decode(code.encode(exact[:, k]).words) for k, code in enumerate(outputs)]
    return np.stack(said, axis=1).reshape(*(code.cells for code in codes), len(outputs))


def subject_of(
    problem: Problem, codes: Sequence[Code], outputs: Sequence[Code], ranges: Sequence[Interval]
) -> SearchedProgram:
    said = table(problem, codes, outputs)

    def logic(*arrays: Floats) -> Floats:
        columns = np.concatenate(arrays, axis=1).T
        return np.asarray(
            said[tuple(code.cell(x)[0] for code, x in zip(codes, columns, strict=True))]
        )

    axes = tuple(SearchedInput(span, code) for span, code in zip(ranges, codes, strict=True))
    return SearchedProgram(problem, axes, tuple(outputs), logic)


def places(code: Code, cell: int, span: Interval, rough: Sequence[float], fine: int) -> Floats:
    """Return inputs that have a cell's word: a grid, the first and last, and the rough ones."""
    low = code.range.low - (code.step / 2 if code.tread else 0.0)
    first = low + (cell - 0.95 * TIE) * code.step
    last = low + (cell + 1 - 1.05 * TIE) * code.step
    beyond = [code.range.high - 0.5 * TIE * code.step, code.range.high]
    if not code.wraps:
        first = code.range.low if cell == 0 else first
        last = code.range.high if cell == code.cells - 1 else last
    first, last = max(first, span.low), min(last, span.high)
    if first > last:
        return np.empty(0)
    near = [np.nextafter(z, way) for z in rough for way in (-9.0, z, 9.0)]
    found = np.array([*np.linspace(first, last, fine), *near, low + cell * code.step])
    found = found[(found >= first) & (found <= last)]
    return np.append(found, beyond) if code.wraps and cell == 0 else found


def supremum(
    problem: Problem, codes: Sequence[Code], outputs: Sequence[Code], ranges: Sequence[Interval],
    rough: Sequence[float], fine: int,
) -> Floats:  # fmt: skip
    """Return the largest and the least error of every output, in steps, over all words."""
    said = table(problem, codes, outputs)
    low, high, step = np.array([[code.low, code.high, code.step] for code in outputs]).T
    found = []
    for cells in np.ndindex(*(code.cells for code in codes)):
        axes = [places(*one, rough, fine) for one in zip(codes, cells, ranges, strict=True)]
        grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes)], axis=1)
        if len(grid):
            error = (said[cells] - np.clip(problem.exact(grid), low, high)) / step
            found.append([error.max(axis=0), error.min(axis=0)])
    every = np.array(found)
    return np.stack([every[:, 0].max(axis=0), every[:, 1].min(axis=0)], axis=1)


@pytest.mark.parametrize("name", CASES)
def test_the_worst_error_found_is_the_supremum_over_all_words_and_borders(name: str) -> None:
    case = CASES[name]
    given = case.problem, case.codes, (OUTPUT,), case.ranges
    fine = 2000 if len(case.codes) == 1 else 25
    most = np.abs(supremum(*given, case.rough, fine)).max(axis=1)
    subject = subject_of(*given)
    worst = find_worst(subject, 40_000)
    assert (worst.largest >= ENOUGH * most).all(), (worst.largest, most)
    for states in worst.states[0]:  # an input that anybody may give, and its error
        for span, x in zip(case.ranges, states, strict=True):
            assert span.low <= x <= span.high
    assert subject.errors(worst.states[0])[[0, 1], 0].tolist() == worst.errors[0].tolist()


FOUND = {  # where no sine is rounded
    "sign of a sum": "f7f5e04cd187", "root times": "cbc92fccf70f", "clip": "cd1af0644eeb",
}  # fmt: skip


@pytest.mark.parametrize("name", FOUND)
def test_a_search_of_a_few_steps_ends_where_it_always_ended(name: str) -> None:
    case = CASES[name]
    worst = find_worst(subject_of(case.problem, case.codes, (OUTPUT,), case.ranges), 3000)
    found = hashlib.sha256(np.round(np.append(worst.errors, worst.states), 9).tobytes())
    assert found.hexdigest()[:12] == FOUND[name]


def test_exact_words_agree_with_the_encoder_at_borders() -> None:
    for code in (word(ONE, 6), word(TURN, 6, wraps=True)):
        name = bc.angle(bits=6) if code.wraps else bc.word(-1, 1, bits=6)
        loose = bc.function_problem(lambda x: bc.cos(x) + bc.sin(x), {"x": name}, ["f"])
        problem = with_exact_words(loose, {"x": 6})
        borders = code.low + np.arange(65) * code.step
        x = np.concatenate([borders + part * TIE * code.step for part in (-2.0, -0.5, 0.0, 0.5)])
        x = np.clip(x, code.range.low, code.range.high)
        middle = code.decode(code.encode(x).words)
        exact = problem.exact(x[:, None])[:, 0]
        assert np.allclose(exact, np.cos(middle) + np.sin(middle), atol=1e-12, rtol=0)
