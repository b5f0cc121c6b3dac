"""Rivals on microcontrollers: what they make is right, and errs no more than is said."""

from __future__ import annotations

import json
import math
import shutil
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp
from boolcomp.measure.cycles import avr, board, byhand, fixed, floats, formats
from boolcomp.measure.cycles.design import Design, Measured
from boolcomp.measure.cycles.measure import BOARDS
from boolcomp.measure.cycles.rows import CyclesRow, text_report
from boolcomp.measure.cycles.subject import Subject
from boolcomp.parallel.methods import straight_line
from boolcomp.problem.expressions.straight import Operation, Returned, Straight
from boolcomp.problem.robot import load_robot
from boolcomp.problem.sources import problem_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Result

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")
needs_avr = pytest.mark.skipif(bool(BOARDS["avr"].missing()), reason=BOARDS["avr"].missing())


@cache
def two_link() -> Subject:
    """Return the paper's arm as it ships."""
    robot = load_robot("machado-2r")
    program = boolcomp.compile("machado-2r", bits=8)
    return Subject(program, 0.0, problem_of(robot), robot, states=30, own=(0.43, 0.58))


def torques(row: np.ndarray) -> tuple[float, float]:
    """Return the paper's torques from its own formula."""
    q1, q2, u, v, r1, r2 = row
    mass, turn = 4 + 5 * math.cos(q2), 5 * math.sin(q2)
    weight = 49 * math.cos(q1 + q2)
    one = mass * (2 * r1 + r2) + 7.75 * r1 + turn * (u * u - (u + v) ** 2)
    return (
        one + 66.15 * math.cos(q1) + weight,
        mass * r1 + 9 * r2 + turn * u * u + weight,
    )


@needs_gcc
@pytest.mark.slow
def test_two_joints_by_hand_err_no_more_than_half_a_last_bit() -> None:
    design = byhand.hand_design(two_link(), load_robot("machado-2r"), 60.0)
    assert isinstance(design, Design)
    assert design.rms is not None
    assert design.rms[0] < 0.43
    assert design.rms[1] < 0.519
    errors = []
    for row in np.array(design.rows):
        state = [*(row[:2] * 2 * math.pi / 65536), *(row[2:4] / 63), *(row[4:6] / 42)]
        wanted = torques(np.array(state))
        made = [-200 + (row[6] + 0.5) * 400 / 256, -100 + (row[7] + 0.5) * 200 / 256]
        errors.append([(made[0] - wanted[0]) / 1.5625, (made[1] - wanted[1]) / 0.78125])
    assert np.abs(errors).max() < 2
    assert (
        np.sqrt((np.array(errors) ** 2).mean()) > 0.2
    )  # words were rounded, and not the wish read


def test_arms_that_no_hand_wrote_for_are_told_why() -> None:
    found = byhand.hand_design(two_link(), load_robot("elbow-3r"), 60.0)
    assert found == "not two revolute joints"


@needs_gcc
@needs_avr
@pytest.mark.slow
def test_fixed_point_is_the_same_on_8_bits_whose_products_are_assembly(tmp_path: Path) -> None:
    program = straight_line("regrouped", load_robot("machado-2r"))
    design = fixed.fixed_design(two_link(), program, 60.0)
    assert isinstance(design, Design)
    assert design.rms is not None
    assert all(0.28 < rms < most for rms, most in zip(design.rms, (0.43, 0.58), strict=True))
    assert "times(" in design.files["fixed_torques.c"]
    assert avr.measure_avr(design, tmp_path, 60.0, "-O2").wrong == 0
    problem = two_link().problem
    assert problem is not None
    states = np.hstack(problem.draw(100_000, 14))[:30]
    exact = [torques(state) for state in states]
    cells = np.array(design.rows)[:, 6:]
    low = np.array([o.code.centre(np.zeros(1, np.int64))[0] for o in two_link().load.outputs])
    steps = np.array(two_link().steps)
    assert np.abs((cells * steps + low - np.array(exact)) / steps).max() < 1.5


@given(st.floats(-3.9, 3.9).filter(lambda x: abs(x) > 1e-3), st.integers(-8000, 8000))
def test_a_value_times_a_factor_is_right_to_a_last_bit(factor: float, value: int) -> None:
    text = fixed.scaled("x", factor)
    space = {
        "x": value, "TIMES": lambda a, b, up: (a * b) >> (16 - up), "UP": lambda a, by: a << by,
        "DOWN": lambda a, by: a >> by, "LESS": lambda a, b: a - b,
    }  # fmt: skip
    assert abs(eval(text, space) - factor * value) <= 1.2 + abs(value) * 4 / 65536  # noqa: S307 (our own text)
    constants = [int(x) for x in text.replace("(", " ").replace(",", " ").replace(")", " ").split()
                 if x.lstrip("-").isdigit()]  # fmt: skip
    assert all(abs(x) < 1 << 15 for x in constants)


def straight(*nodes: Operation) -> Straight:
    return Straight(nodes, (Returned("y", len(nodes) - 1),))


Q, X = Operation("input", name="q"), Operation("input", name="x")


def test_angles_are_sums_of_inputs_that_turn_and_nobody_else_reads_them() -> None:
    both = straight(Q, X, Operation("add", (0, 1)), Operation("sin", (2,)))
    assert formats.angles_of(both, {"q", "x"}) == frozenset((0, 1, 2))
    assert formats.angles_of(both, {"q"}) == "an angle is read by add"
    squared = straight(Q, Operation("mul", (0, 0)))
    assert formats.angles_of(squared, {"q"}) == "an angle is read by mul"


def test_a_sum_has_the_places_that_its_largest_value_allows() -> None:
    program = straight(
        Operation("input", name="a"), X, Operation("mul", (0, 1)), Operation("add", (2, 1))
    )
    columns = {"a": np.array([-3.0, 1.0]), "x": np.array([0.2, 0.1])}
    most = formats.tops(program, columns)
    # 3, 0.2, 0.6 and 0.4 with 15 % more: below 4, 1/4, 1 and 1/2
    assert most == [13, 17, 15, 16]
    found = formats.formats(program, most, frozenset(), 8)
    assert found.places == (13, 17, 15, 16)
    assert formats.formats(program, most, frozenset(), 0).places[2] == 13 + 17 - 16


def test_what_float_cannot_say_is_named() -> None:
    program = straight(X, Operation("tanh", (0,)))
    problem = problem_of("machado-2r")
    assert floats.float_design(problem, program, "float", 5, 1) == (
        "tanh is not written in float here"
    )


def test_the_fastest_option_of_a_compiler_counts() -> None:
    taken = {"-O2": 30.0, "-Os": 20.0, "-O1": 25.0}
    seen = []

    def measure(design: Design, folder: Path, deadline: float, option: str) -> Measured:
        del folder, deadline
        seen.append((option, len(design.rows)))
        return Measured(cycles=taken[option])

    machine = board.Board("x", "", (), "", measure, "cycles")
    rows = tuple((k, 0) for k in range(50))
    design = Design("d", "f", {}, ("a",), ("b",), "int16_t", rows)
    assert board.fastest(machine, design, 1.0) == (Measured(cycles=20.0), "-Os")
    assert seen == [("-O2", 10), ("-Os", 10), ("-O1", 10), ("-Os", 50)]


def test_the_table_compares_with_the_first_design_of_a_target() -> None:
    rows = [
        CyclesRow("avr", "words", 100.0, None, None, 5, 6, (0.4, 0.5), "-O2"),
        CyclesRow("avr", "float", 2500.0, None, None, 7, 8),
        CyclesRow("host", "words", None, 7.0, 4.0, 9),
        CyclesRow("host", "float", None, 9.0, 5.0, 9),
        CyclesRow("cortex-m0", "", skipped="not there"),
    ]
    lines = [line.split() for line in text_report(rows).splitlines()]
    assert lines[2] == ["avr", "words", "100", "1.00", "5", "6", "-O2", "0.400", "0.500"]
    assert lines[3] == ["avr", "float", "2500", "25.00", "7", "8"]
    assert lines[5] == ["host", "float", "9", "5.0", "1.25", "9"]
    assert lines[6] == ["cortex-m0:", "skipped:", "not", "there"]


@needs_gcc
@pytest.mark.slow
def test_the_command_prints_a_row_a_design(
    warm_run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.measure.cycles.board.OPTIMISED", ("-O2",))
    boolcomp.compile("machado-2r", bits=8).save("2r")
    found = warm_run("cycles", "2r", "--on", "host", "--states", "20", "--json")
    assert found.code == 0
    rows = json.loads(found.out)["rows"]
    assert [row["design"] for row in rows] == [
        "words", "float, Newton-Euler", "fixed point, Newton-Euler", "fixed point by hand",
    ]  # fmt: skip
    keys = {"target", "design", "cycles", "instructions", "ns", "flash", "ram", "rms", "option",
            "wrong", "skipped"}  # fmt: skip
    assert all(set(row) == keys and row["wrong"] == 0 and row["ns"] > 0 for row in rows)
