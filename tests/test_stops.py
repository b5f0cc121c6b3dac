"""Programs of arms with stops: what is encoded, counted and warned of, in both modes."""

from __future__ import annotations

import dataclasses
import json
import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from limited import with_ranges

from boolcomp.codes import Code
from boolcomp.common.errors import SaturationWarning
from boolcomp.paper.plan import Options, make_plan
from boolcomp.paper.quantised import quantised_torques
from boolcomp.paper.store import Recipe, Store
from boolcomp.paper.truth import make_tables, word_centres
from boolcomp.paper.truthfile import parse_table, render_table
from boolcomp.pipeline import PAPER as PASSES
from boolcomp.pipeline import Job, run
from boolcomp.problem.robot import Interval
from boolcomp.program.programfile import load_program, save_program
from boolcomp.terms import split_torques

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.program.program import Program

ARM = with_ranges("machado-2r", q1=(0.3, 1.4), q2=(-2.5, 2.5))
ENGINES = ["numpy", "llvm"]


@cache
def paper(folder: Path) -> Program:
    job = Job(ARM, options=Options(bits=4), recipe=Recipe("isop"), store=Store((folder,)))
    program: Program = run(PASSES, job, "program")["program"]
    return program


@pytest.fixture(name="program", scope="module")
def _program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return paper(tmp_path_factory.mktemp("covers"))


def _states(count: int, low: float, high: float) -> list[Any]:
    rng = np.random.default_rng(3)
    q = np.stack([rng.uniform(0.3, 1.4, count), rng.uniform(low, high, count)], axis=1)
    return [q, rng.uniform(-1, 1, (count, 2)), rng.uniform(-1, 1, (count, 2))]


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_with_free_rows_are_the_plan_wherever_the_joints_may_be(
    program: Program, engine: Any
) -> None:
    plan = make_plan(split_torques(ARM), Options(bits=4))
    states = _states(3000, -2.6, 2.6)
    found = program.evaluate(*states, engine=engine)
    expected = quantised_torques(plan, *states)
    assert np.array_equal(found.torques, expected.torques)
    assert found.saturated_inputs == 0
    assert found.beyond_stops == (np.abs(states[0][:, 1]) > 2.5).sum() > 0


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_state_on_a_stop_is_not_beyond_it(program: Program, engine: Any, kind: Any) -> None:
    q = np.array([[0.3, -2.5], [1.4, 2.5]] * 40, kind)
    still = np.zeros((80, 2), kind)
    found = program.evaluate(q, still, still, engine=engine)
    assert (found.saturated_inputs, found.beyond_stops) == (0, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_beyond_its_word_a_limited_joint_saturates(program: Program, engine: Any) -> None:
    far = program.evaluate([[1.9, 3.6]], [[0, 0]], [[0, 0]], engine=engine)
    edge = program.evaluate([[np.pi / 2 - 1e-6, np.pi - 1e-6]], [[0, 0]], [[0, 0]], engine=engine)
    assert (far.torques == edge.torques).all()
    assert (far.saturated_inputs, far.beyond_stops) == (2, 2)
    assert (edge.saturated_inputs, edge.beyond_stops) == (0, 2)


def test_python_is_warned_in_a_sentence_that_one_line_turns_off(program: Program) -> None:
    with pytest.warns(SaturationWarning, match="machado-2r: 1 input values beyond their words, 2 "):
        program.torques([1.5, 9.0], [0, 0], [0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SaturationWarning)
        program.torques([1.5, 9.0], [0, 0], [0, 0])
        program.torques([1.0, 2.0], [0, 0], [0, 0])


def test_a_saved_program_knows_its_stops(program: Program, tmp_path: Path) -> None:
    save_program(program, tmp_path / "p")
    again = load_program(tmp_path / "p")
    assert again == program
    assert [str(limit) for limit in again.stops] == [
        "q1 within 0.3 .. 1.4",
        "q2 within -2.5 .. 2.5",
    ]


def test_full_turns_of_programs_of_earlier_versions_wrap(tmp_path: Path) -> None:
    free = with_ranges("machado-2r", q2=(-2.5, 2.5))
    job = Job(free, options=Options(bits=4), recipe=Recipe("isop"), store=Store((tmp_path,)))
    program = run(PASSES, job, "program")["program"]
    assert [word.code.wraps for word in program.inputs] == [True, *[False] * 5]
    save_program(program, tmp_path / "p")
    head = tmp_path / "p" / "program.json"
    document = json.loads(head.read_text())
    del document["stops"], document["checksum"]
    for word in document["inputs"]:
        word["code"].pop("wraps", None)
    from boolcomp.program.programfile import _canonical, _digest  # an old file is made

    document["checksum"] = _digest(_canonical(document))
    head.write_text(json.dumps(document))
    old = load_program(tmp_path / "p")
    assert [word.code.wraps for word in old.inputs] == [True, True, *[False] * 4]
    assert old.stops == ()


def test_only_rows_beyond_stops_and_margin_are_free() -> None:
    margin = 0.02 * 2 * np.pi
    for entry in make_tables(make_plan(split_torques(ARM), Options(bits=4))):
        words = entry.plan.words
        reach = {"q1": (0.3 - margin, 1.4 + margin), "q2": (-2.5 - margin, 2.5 + margin)}
        near: list[Any] = []
        for word in words:
            low, high = reach.get(word.variable.name, (-9.0, 9.0))
            centres, half = word_centres(word), word.code.step / 2
            inside = (centres + half > low) & (centres - half < high)
            if word.dropped:  # the word stands for its mirror image, too
                mirror = 2 * word.code.range.centre - centres
                inside |= (mirror + half > low) & (mirror - half < high)
            near.append(inside)
        grid = np.meshgrid(*near, indexing="ij")
        needed = np.logical_and.reduce(grid).ravel()
        for column in entry.table.free:
            free = np.array(column.tolist(), bool)
            assert np.array_equal(free, ~needed)
        assert bool(entry.table.free) == (not needed.all())
        assert parse_table(render_table(entry)).table == entry.table


def test_a_limited_plan_bounds_its_error() -> None:
    plan = make_plan(split_torques(ARM), Options(bits=6))
    states = _states(40_000, -2.5, 2.5)
    from boolcomp.paper.bounds import error_bound
    from boolcomp.problem.dynamics import inverse_dynamics

    error = np.abs(quantised_torques(plan, *states).torques - inverse_dynamics(ARM, *states))
    bounds = np.array([error_bound(joint) for joint in plan.joints])
    assert (error.max(axis=0) <= bounds).all()
    assert (error.max(axis=0) >= 0.2 * bounds).all()


@pytest.mark.parametrize("bits", [3, 8])
def test_cells_of_a_code_that_wraps_are_those_of_whole_turns_less(bits: int) -> None:
    code = Code(Interval(-np.pi, np.pi), bits, "natural", wraps=True)
    rng = np.random.default_rng(1)
    x = rng.uniform(-np.pi, np.pi, 500)
    turns = rng.integers(-1000, 1000, 500)
    plain = dataclasses.replace(code, wraps=False)
    assert np.array_equal(code.cell(x + 2 * np.pi * turns)[0], plain.cell(x)[0])
    assert code.cell([np.pi, -np.pi, 3 * np.pi])[0].tolist() == [0, 0, 0]
    assert code.prefix(2).wraps
