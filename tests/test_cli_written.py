"""Function files through the commands: compile, evaluate, terms, plan, tables, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.common.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "functions"
SMALL = """\
name = "small"
[inputs.x]
range = [-1, 1]
bits = 6
[inputs.y]
range = [0.5, 2]
bits = 6
[outputs.ratio]
expression = "x / y"
bits = 5
range = [-2.6, 2.6]
unit = "m"
"""


def text_of(name: str) -> str:
    return str(EXAMPLES / f"{name}.toml")


def test_terms_of_a_function_are_printed_and_steps_where_it_has_none(
    run: Callable[..., Result],
) -> None:
    found = run("terms", text_of("park"))
    assert found.out.splitlines()[2] == "  direct2 = 1.1547005383793 sin theta ib"
    steps = run("terms", text_of("gelu"))
    assert steps.out.splitlines()[-1].startswith("output y = ")
    assert (
        "v9 = v7 * 0.7978845608028654"
        in json.loads(run("terms", text_of("gelu"), "--json").out)["steps"]
    )


def test_a_plan_and_tables_are_made_of_terms_and_of_nothing_else(
    run: Callable[..., Result],
) -> None:
    plan = json.loads(run("plan", text_of("park"), "--bits", "5", "--json").out)
    assert [one["range"] for one in plan["joints"]] == [22.0, 22.0]
    made = json.loads(run("tables", text_of("park"), "--bits", "4", "--json").out)
    names = {"direct1", "direct2", "quadrature1", "quadrature2"}
    assert {entry["name"] for entry in made["tables"]} == names
    for command in ("plan", "tables"):
        refused = run(command, text_of("gelu"))
        assert (refused.code, refused.out) == (2, "")
        assert "gelu is no sum of waves and powers of its inputs" in refused.err


def test_ranges_that_are_not_about_zero_need_compact_mode(run: Callable[..., Result]) -> None:
    Path("square.toml").write_text(
        'name = "square"\n[inputs.x]\nrange = [-1, 1]\n[outputs.u]\nexpression = "x*x"\n'
    )
    refused = run("plan", "square.toml")
    assert refused.code == 2
    assert "u has the range 0 .. 1.2: in paper mode terms share a scale about zero" in refused.err


def test_a_function_is_evaluated_as_it_is(run: Callable[..., Result]) -> None:
    Path("small.toml").write_text(SMALL)
    Path("states.csv").write_text("time,y,x\n0.1,2,1\n0.2,0.5,-0.25\n")
    found = run("evaluate", "small.toml", "-i", "states.csv")
    assert found.code == 0
    assert found.out == "time,ratio\n0.1,0.5\n0.2,-0.5\n"


def test_where_only_robots_are_taken_a_function_is_a_sentence(run: Callable[..., Result]) -> None:
    for command in (("robots",), ("schedule", "simulate")):
        found = run(*command, text_of("park"))
        assert found.code == 1
        assert "a function, and no robot: compile, evaluate, terms, plan" in found.err


def test_mistakes_in_a_file_are_one_line_with_the_place(run: Callable[..., Result]) -> None:
    Path("bad.toml").write_text(SMALL.replace("x / y", "x / (y - 1)"))
    for command in ("compile", "terms", "plan", "tables", "report", "evaluate"):
        found = run(command, "bad.toml")
        assert (found.code, found.out) == (1, "")
        assert found.err.count("\n") == 1
        assert "bad.toml:9: outputs.ratio.expression: x / (y - 1): it divides by zero" in found.err


def test_what_belongs_to_functions_is_said_of_functions_alone() -> None:
    with pytest.raises(UsageError, match="inputs belong to a Python function: this has its own"):
        bc.compile("machado-2r", inputs={})
    with pytest.raises(UsageError, match=r"outputs of a function are words by name: outputs=\{"):
        bc.compile(lambda x: x, inputs={"x": bc.word(1)})


@pytest.mark.check
def test_a_compiled_function_is_a_program_like_any_other(
    run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.worst.EVALUATIONS", 100_000)
    Path("small.toml").write_text(SMALL)
    document = json.loads(run("compile", "small.toml", "--effort", "0", "-o", "made", "--json").out)
    assert all(2 <= one["bits"] <= 6 for one in document["inputs"])  # those that are read
    assert [one["range"] for one in document["inputs"]] == [[-1.0, 1.0], [0.5, 2.0]]
    (output,) = document["outputs"]
    assert (document["robot"], document["of"]) == ("small", "function")
    assert (output["name"], output["bits"], output["unit"]) == ("ratio", 5, "m")
    assert 0 < output["rms"] < output["sampled_max"] <= output["worst_found"]
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-1, 1, 4000), rng.uniform(0.5, 2, 4000)
    np.savetxt("s.csv", np.stack([x, y], axis=1), delimiter=",", header="x,y", comments="")
    assert run("evaluate", "made", "-i", "s.csv", "-o", "u.csv").code == 0
    error = np.loadtxt("u.csv", skiprows=1) - x / y
    assert np.abs(error).max() <= output["worst_found"] + 1e-9
    assert np.sqrt((error**2).mean()) == pytest.approx(output["rms"], rel=0.1)
    report = run("report", "made", "--robot", "small.toml", "--samples", "2000", "--evaluations",
                 "20000", "--json")  # fmt: skip
    assert json.loads(report.out)["rows"][0]["mode"] == "compact"
    assert "  ratio  " in Path("out/report-made/report.txt").read_text()
    assert "  output  " in Path("out/report-made/report.txt").read_text()
    own = run("report", "small.toml", "--samples", "2000", "--effort", "0", "--json")
    assert {row["bits"] for row in json.loads(own.out)["rows"]} == {5}
    assert "paper mode: small is no sum of waves" in own.err


HEADING = """\
name = "heading"
[inputs.th]
angle = true
bits = 8
[inputs.e]
range = [-1, 1]
bits = 8
[outputs.u]
expression = "{}"
range = [{}]
"""


@pytest.mark.check
@pytest.mark.parametrize(
    ("expression", "span"),
    [("wrap(th)", "-3.3, 3.3"), ("wrap(th)*e/2", "-2, 2"), ("2*e + 5", "3, 7")],
)
def test_an_angle_that_wraps_and_a_range_beside_zero_err_by_half_a_step_or_so(
    expression: str, span: str, run: Callable[..., Result]
) -> None:
    """An angle's word wraps where the angle does: no jump is misjudged there.

    Only what the encoder takes for on that border, below it by 10⁻⁹ of a cell, is beyond the jump.
    """
    Path("u.toml").write_text(HEADING.format(expression, span))
    made = run("compile", "u.toml", "--bits", "6", "--effort", "0", "--json")
    (output,) = json.loads(made.out)["outputs"]
    assert output["rms"] < 0.65 * output["lsb"]
    assert output["sampled_max"] < 3 * output["lsb"]
    jump = {"wrap(th)": 2 * np.pi, "wrap(th)*e/2": np.pi, "2*e + 5": 0.0}[expression]
    assert output["worst_found"] < jump + 3 * output["lsb"]
    assert output["bound"] is None or output["worst_found"] <= output["bound"]


def test_what_jumps_make_of_coarse_words_is_no_less_than_it_is(run: Callable[..., Result]) -> None:
    """The difference of two angles of 256 cells is on the wrong side of ±π in one of 256 states."""
    expression = "clip(2*wrap(th - wanted), -4, 4)"
    text = HEADING.format(expression, "-4, 4").replace("[inputs.e]\nrange = [-1, 1]",
                                                       "[inputs.wanted]\nangle = true")  # fmt: skip
    Path("u.toml").write_text(text)
    refused = run("compile", "u.toml", "--bits", "6", "--rms-error", "0.6", "--effort", "0")
    made = float(refused.err.split("alone make ")[1].split(" ")[0])
    rng = np.random.default_rng(1)
    q, r = rng.uniform(-np.pi, np.pi, (2, 200_000))
    cell = 2 * np.pi / 256
    coarse = [np.floor(x / cell) * cell + cell / 2 for x in (q, r)]

    def law(x: np.ndarray[tuple[int], np.dtype[np.float64]]) -> object:
        return np.clip(2 * ((x + np.pi) % (2 * np.pi) - np.pi), -4, 4)

    error = (law(q - r) - law(coarse[0] - coarse[1])) / 0.125  # type: ignore[operator]  # arrays
    assert made == pytest.approx(np.sqrt((error**2).mean() + 1 / 12), rel=0.15)


def test_a_mark_of_byte_order_is_no_part_of_a_file(run: Callable[..., Result]) -> None:
    Path("bom.toml").write_text("\ufeff" + SMALL, encoding="utf-8")
    assert run("terms", "bom.toml").code == 0
