"""A bound that is wider than the word of its output is shown nowhere: there is no useful bound."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import pytest
from samples import problem_of
from shippedarms import built_of

from boolcomp.commands.compact import _bound, _proved
from boolcomp.commands.said import described, error_table, over_loads, promised
from boolcomp.commands.sweep import _most
from boolcomp.measure.bench.bench import _known
from boolcomp.measure.control.variants import program_variant
from boolcomp.measure.report.columns import proofs_table
from boolcomp.measure.report.measure import documents, draw_samples
from boolcomp.measure.report.programs import program_rows
from boolcomp.measure.report.tabulate import cells
from boolcomp.measure.show.model import _output
from boolcomp.measure.show.workbench import _output_row
from boolcomp.program.parts import NOT_PROVED, NOT_USEFUL, bound_note
from boolcomp.program.programfile import load_program
from boolcomp.targets.ports import _errors

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.program.program import Program


@cache
def wide() -> Program:
    """Return a program that proves of its first torque more than its whole word."""
    program = built_of("machado-2r", 4).program()
    (load,) = program.loads
    first, second = load.outputs
    step = first.code.step
    outputs = replace(first, bound=step * (first.code.cells + 0.01)), second
    return replace(program, loads=(replace(load, outputs=outputs),))


@pytest.mark.parametrize(("steps", "note"), [
    (16.0, ""), (15.9, ""), (16.001, NOT_USEFUL), (math.inf, NOT_PROVED), (0.0, ""),
])  # fmt: skip
def test_one_place_decides(steps: float, note: str) -> None:
    code = wide().outputs[0].code
    word = replace(code, bits=4)
    assert bound_note(steps * word.step, word.range) == note


def test_texts_and_json_say_that_there_is_none() -> None:
    program, (first, second) = wide(), wide().outputs
    one, two = described(program, problem_of("machado-2r"), "inverse-dynamics")["outputs"]
    assert (one["bound"], one["bound_note"], one["grade"]) == (None, NOT_USEFUL, None)
    assert (two["bound"], two["bound_note"], two["grade"]) == (second.bound, None, "plain")
    assert [found["bound"] for found in over_loads(program)] == [None, second.bound]
    lines = error_table(program.outputs, "torque", steps=True).splitlines()
    assert [NOT_USEFUL in line for line in lines[2:]] == [True, True, False, False]
    assert "exceeds T2" in promised(program.outputs)
    assert "worst error found: T1" in promised(program.outputs)
    assert not any("proved" in line for line in _errors(first) if "at most" in line)
    assert any("at most" in line for line in _errors(second))
    assert NOT_USEFUL in program._repr_html_()


def test_reports_and_pages_say_so() -> None:
    program = wide()
    rows = program_rows(program, draw_samples(problem_of("machado-2r"), 100, seed=1))
    one, two = documents(rows)
    assert (one["bound"], one["bound_lsb"], one["bound_note"]) == (None, None, NOT_USEFUL)
    assert (two["bound"], two["bound_note"]) == (program.bound[1], None)
    assert [NOT_USEFUL in row for row in cells(rows)] == [True, False]
    assert [row[-1] for row in proofs_table(rows, ()).rows] == [NOT_USEFUL, None]
    assert _output(program.outputs[0])["bound"] is None
    assert NOT_USEFUL in _output_row(0, program.outputs[0], 0.0, None)
    assert NOT_USEFUL not in _output_row(1, program.outputs[1], 0.0, None)


def test_other_stages_take_no_such_bound_for_one() -> None:
    program = wide()
    assert program_variant(program).bounds is None
    assert program_variant(program).bound_note == NOT_USEFUL
    assert _known(program, ())[1][0] is None
    asked = described(program, problem_of("machado-2r"), "inverse-dynamics")["outputs"]
    assert _most(asked, "bound") == NOT_USEFUL
    assert _most(asked[1:], "bound") != NOT_USEFUL


def test_a_compilation_says_so_and_never_that_it_is_proved() -> None:
    built = built_of("machado-2r", 4)
    assert built.bounds is not None
    first, second = built.bounds.outputs
    far = replace(built, bounds=replace(
        built.bounds, outputs=(replace(first, high=Fraction(3873)), second)
    ))  # fmt: skip
    assert NOT_USEFUL not in _proved(built)
    said = _proved(far)
    assert f"{NOT_USEFUL}: what is proved of T1 is wider than its word" in said
    assert "no error exceeds T2" in said
    assert "3873" not in said
    assert _bound(far, 0) == {
        "bound": None, "bound_lsb": None, "grade": None, "bound_note": NOT_USEFUL,
    }  # fmt: skip
    assert _bound(far, 1)["bound_lsb"] == second.steps
    both = replace(built.bounds, outputs=(first, replace(second, grade="tight")))
    assert f"T1 {first.rounded:g} (plain), T2 {second.rounded:g} (tight) LSB" in _proved(
        replace(built, bounds=both)
    )
    assert _proved(replace(built, bounds=both)).count("bound") == 0


def test_a_saved_program_keeps_what_is_proved(tmp_path: Path) -> None:
    wide().save(tmp_path / "program")
    again = load_program(tmp_path / "program")
    assert again.bound == wide().bound
    assert again.useful_bound == (math.inf, wide().bound[1])
