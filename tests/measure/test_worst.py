"""The worst error that climbing finds: against trying everything, and against what is proved."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from samples import problem_of
from small_programs import cover_of, stages

from boolcomp.codes import Code
from boolcomp.paper import PlanOptions, program_of
from boolcomp.pipeline import run_passes
from boolcomp.problem import Interval, Link, Robot
from boolcomp.program import Program
from boolcomp.proof import SearchedInput, SearchedProgram, find_worst, subject_of

Floats = NDArray[np.float64]

FEW = 80_000
MASS, LENGTH, INERTIA, GRAVITY = 2.0, 0.5, 1.5, 9.8
NEAR = 1e-4  # steps: climbing stays a millionth of a cell away from corners


def pendulum(position: Interval) -> Robot:
    link = Link(
        "revolute", LENGTH, 0.0, 0.0, 0.0, MASS, (0.0, 0.0, 0.0), (0.0,) * 6, INERTIA, 1.0, 0.0,
        (0.0, 0.0), position, Interval(-1.0, 1.0), Interval(-2.0, 2.0), Interval(-16.0, 16.0),
    )  # fmt: skip
    return Robot("pendulum", "", "", "", (0.0, -GRAVITY, 0.0), (link,))


def torque(q: float, qdd: float) -> float:
    return (INERTIA + MASS * LENGTH**2) * qdd + MASS * GRAVITY * LENGTH * math.cos(q)


@cache
def turning() -> tuple[Robot, Program]:
    robot = pendulum(Interval(-math.pi, math.pi))
    plan = run_passes(robot, PlanOptions(5), until="plan")
    tables = run_passes(robot, PlanOptions(5), until="tables")
    return robot, program_of(plan, tables, [cover_of(entry) for entry in tables])


def extremes(
    codes: tuple[Code, Code], said: dict[tuple[int, int], float], allowed: tuple[Interval, ...]
) -> tuple[float, float]:
    """Try every pair of cells and all of their corners that the joint can reach."""
    step, reach = 1.0, 16.0
    found = []
    for (i, j), value in said.items():
        ends = []
        for cell, code, span in zip((i, j), codes, allowed, strict=True):
            width = (code.range.high - code.range.low) / 2**code.bits
            low = max(span.low, code.range.low + cell * width)
            high = min(span.high, code.range.low + (cell + 1) * width)
            # The middle too: a cosine is highest within the cell about zero.
            inner = [0.0] if low < 0.0 < high else []
            ends.append([low, high, *inner] if low < high else [])
        for q, qdd in itertools.product(*ends):
            found.append((value - min(max(torque(q, qdd), -reach), reach)) / step)
    return max(found), min(found)


@pytest.mark.slow
def test_climbing_finds_what_trying_everything_finds() -> None:
    robot, program = turning()
    (angle,) = (word.code for word in program.inputs if word.name == "q1")
    (rate,) = (word.code for word in program.inputs if word.name == "qdd1")
    said = {}
    for i, j in itertools.product(range(angle.cells), range(rate.cells)):
        words = [angle.word([i]), np.zeros(1, np.uint32), rate.word([j])]
        found = program.evaluate_words(*(np.reshape(w, (1, 1)) for w in words), engine="numpy")
        said[i, j] = float(found.torques[0, 0])
    ranges = (Interval(-math.pi, math.pi), Interval(-2.0, 2.0))
    most, least = extremes((angle, rate), said, ranges)
    worst = find_worst(subject_of(program, problem_of(robot)), FEW)
    assert worst.errors[0] == pytest.approx([most, least], abs=NEAR)


def hills() -> SearchedProgram:
    """Errors that count the ones of three words' cells, up to 48: no draw comes near to that."""
    robot = pendulum(Interval(0.0, 1.0))
    axes = tuple(
        SearchedInput(Interval(0.0, 1.0), Code(Interval(0.0, 1.0), 16, "natural")) for _ in "xyz"
    )
    code = Code(Interval(-64.0, 64.0), 7)

    def torques(q: Floats, qd: Floats, qdd: Floats) -> Floats:
        total = np.array([[torque(float(x[0]), float(z[0]))] for x, z in zip(q, qdd, strict=True)])
        for axis, column in zip(axes, (q, qd, qdd), strict=True):
            assert axis.word is not None
            cells = axis.word.cell(column)[0]
            total = total + sum((cells >> k & 1) for k in range(16))
        return total

    return SearchedProgram(problem_of(robot), axes, (code,), torques)


@pytest.mark.slow
def test_climbing_reaches_the_top_of_a_hill_that_no_draw_is_near() -> None:
    worst = find_worst(hills(), 60_000)
    assert worst.errors[0] == pytest.approx([48.0, 0.0], abs=1e-6)


@pytest.mark.slow
def test_the_worst_states_give_the_worst_errors_and_no_draw_a_larger_one() -> None:
    subject = subject_of(stages(4)[2], problem_of("machado-2r"))
    worst = find_worst(subject, 60_000)
    for joint, sign in itertools.product((0, 1), (0, 1)):
        error = subject.errors(worst.states[joint, sign][None])[0, joint]
        assert error == worst.errors[joint, sign]
    rng = np.random.default_rng(1)
    drawn = rng.uniform([a.allowed.low for a in subject.axes],
                        [a.allowed.high for a in subject.axes], (50_000, 6))  # fmt: skip
    assert (np.abs(subject.errors(drawn)).max(axis=0) < worst.largest).all()
