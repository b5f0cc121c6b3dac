"""A bound that is wider than the word of its output is shown nowhere as one."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import Run
from shippedarms import built_of
from small_programs import compact
from targets.exported import tiny

from boolcomp.commands.compile import _bound, _proved
from boolcomp.commands.sweep import _largest
from boolcomp.measure.control import program_variant
from boolcomp.program import family_of
from boolcomp.program.program import NOT_PROVED, NOT_USEFUL, Program, bound_note
from boolcomp.targets import export_texts


@cache
def wide() -> Program:
    """Return a program that proves of its first torque more than its whole word."""
    (load,) = compact().loads
    first, second = load.outputs
    outputs = replace(first, bound=first.code.step * (first.code.cells + 0.01)), second
    return replace(compact(), loads=(replace(load, outputs=outputs),))


@pytest.mark.parametrize(("steps", "note"), [
    (16.0, ""), (15.9, ""), (16.001, NOT_USEFUL), (math.inf, NOT_PROVED), (0.0, ""),
])  # fmt: skip
def test_one_place_decides(steps: float, note: str) -> None:
    word = replace(wide().outputs[0].code, bits=4)
    assert bound_note(steps * word.step, word.range) == note


@pytest.mark.check
def test_commands_exports_and_pages_say_that_there_is_none(run: Run, tmp_path: Path) -> None:
    wide().save(tmp_path / "p")
    np.save("s.npy", np.zeros((3, 6)))
    evaluated = ("evaluate", "p", "-i", "s.npy", "-o", "t.npy")
    reported = ("report", "p", "--samples", "100", "--evaluations", "0", "-o", "r", "--json")
    rows = json.loads(run(*reported).out)["rows"]
    outputs = json.loads(run(*evaluated, "--json").out)["outputs"]
    assert [one["bound"] for one in outputs] == [None, wide().bound[1]]
    assert [(one["bound"], one["bound_note"]) for one in rows] == [
        (None, NOT_USEFUL), (wide().bound[1], None)
    ]  # fmt: skip
    assert "exceeds T2" in run(*evaluated).err
    assert run("show", "p", "-o", "p.html").code == 0
    for text in (
        Path("p.html").read_text(), Path("r/report.txt").read_text(), wide()._repr_html_(),
    ):  # fmt: skip
        assert NOT_USEFUL in text
    verilog = "\n".join(map(str, export_texts(wide(), "verilog").values()))
    assert "proved" in verilog.split("tau2", 1)[1]
    assert f"{wide().bound[0]:.4g}" not in verilog
    assert _largest(rows, "bound") == NOT_USEFUL
    assert _largest(rows[1:], "bound") != NOT_USEFUL
    variant = program_variant(wide())
    assert (variant.bounds, variant.bound_note) == (None, NOT_USEFUL)


def test_a_compilation_says_so_and_never_that_it_is_proved() -> None:
    built = built_of("machado-2r", 4)
    assert built.bounds is not None
    first, second = built.bounds.outputs
    far = replace(
        built, bounds=replace(built.bounds, outputs=(replace(first, high=Fraction(3873)), second))
    )
    assert NOT_USEFUL not in "\n".join(_proved(built))
    assert built.holds
    assert not replace(built, errors=replace(built.errors, rms=9 * built.errors.rms)).holds
    said = "\n".join(_proved(far))
    assert f"{NOT_USEFUL}: the bound of T1 exceeds the range of its word" in said
    assert "proved for every input within its range: plain bound of T2;" in said
    assert "3873" not in said
    nothing = {"bound": None, "bound_lsb": None, "grade": None, "bound_note": NOT_USEFUL}
    assert _bound(far, 0) == nothing
    assert _bound(far, 1)["bound_lsb"] == second.steps
    both = replace(built.bounds, outputs=(first, replace(second, grade="tight")))
    plain, tight = _proved(replace(built, bounds=both))
    assert "plain bound of T1;" in plain
    assert tight.endswith("tight bound of T2")


MASS = 3 * 0.6  # 1.7999999999999998


def test_masses_are_short_wherever_a_program_is_shown() -> None:
    program = family_of([tiny(), tiny(payload=MASS)])
    shown = [repr(program), str(program), program._repr_html_(), str(program.chosen(MASS))]
    shown += map(str, export_texts(program, "verilog").values())
    shown += map(str, export_texts(tiny(payload=MASS), "verilog").values())
    assert all("1.8" in text for text in shown[:5])
    assert not any("1.79" in text for text in shown)
    assert "  payload 1.8 kg" in str(program).splitlines()
    assert "payload 0.333333333333 kg" in str(tiny(payload=1 / 3))
