"""Functions through the commands: those of a robot by name, and those that users write in files."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run

import boolcomp as bc
from boolcomp.problem import problem_of

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "functions"
PARK, GELU = (str(EXAMPLES / f"{name}.toml") for name in ("park", "gelu"))
ARM = "machado-2r"
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


@pytest.fixture(name="told")
def what_json_says(run: Run) -> Callable[..., Any]:
    """Run a command with `--json`; return the document."""
    return lambda *words: json.loads(run(*words, "--json").out)


def test_terms_are_printed_and_steps_where_there_are_none(
    run: Run, told: Callable[..., Any]
) -> None:
    assert run("terms", PARK).out.splitlines()[2] == "  direct2 = 1.1547005383793 sin theta ib"
    assert run("terms", GELU).out.splitlines()[-1].startswith("output y = ")
    assert "v9 = v7 * 0.7978845608028654" in told("terms", GELU)["steps"]
    found = run("terms", "elbow-3r", "--friction", "--smoothing", "0.1").out.splitlines()
    assert found[0].endswith("= qd1 * 10")  # what is prepared comes first
    assert "  T35 = 1 dry3" in found
    prepared = told("terms", ARM, "--of", "control")["prepared"]
    assert prepared[-1].startswith("output a2 = ")


def test_plans_and_tables_are_those_of_the_function(told: Callable[..., Any]) -> None:
    plan = told("plan", ARM, "--of", "jacobian", "--bits", "5")
    assert plan["robot"] == "machado-2r-jacobian"
    assert [one["range"] for one in plan["joints"]] == [2.0, 1.0, 2.0, 1.0]
    assert [one["range"] for one in told("plan", PARK, "--bits", "5")["joints"]] == [22.0, 22.0]
    for words, names in (
        ((ARM, "--of", "gravity", "--load-range", "0..5"), {"T11", "T12", "T21", "T22"}),
        ((PARK,), {"direct1", "direct2", "quadrature1", "quadrature2"}),
    ):
        tables = told("tables", *words, "--bits", "4")["tables"]
        assert {entry["name"] for entry in tables} == names


def test_arithmetic_is_of_the_function_that_is_asked_for(run: Run) -> None:
    Path("points.csv").write_text("px,py\n1.8,0\n0,1\n")
    asked = (ARM, "--of", "inverse-kinematics", "--elbow", "down", "-i", "points.csv")
    found = run("evaluate", *asked).out.splitlines()
    assert found[0] == "q1,q2"
    one, other = (np.array(line.split(","), dtype=float) for line in found[1:])
    assert one == pytest.approx([0, 0], abs=1e-5)
    reached = np.exp(1j * other[0]) + 0.8 * np.exp(1j * other.sum())
    assert reached == pytest.approx(1j)
    assert other[1] > 0
    Path("small.toml").write_text("\ufeff" + SMALL, encoding="utf-8")  # with a byte order mark
    Path("states.csv").write_text("time,y,x\n0.1,2,1\n0.2,0.5,-0.25\n")
    made = run("evaluate", "small.toml", "-i", "states.csv")
    assert (made.code, made.out) == (0, "time,ratio\n0.1,0.5\n0.2,-0.5\n")


def test_what_belongs_to_functions_is_said_of_functions_alone() -> None:
    problem = problem_of(ARM, "gravity")
    calls: tuple[tuple[Any, dict[str, Any], str], ...] = (
        (problem, {"of": "bias"}, "machado-2r-gravity is no robot, so it has no bias"),
        (ARM, {"inputs": {}}, "inputs have no effect: only a Python function has"),
        (lambda x: x, {"inputs": {"x": bc.word(1)}}, r"words by name, such as outputs=\{"),
    )
    for what, choices, sentence in calls:
        with pytest.raises(bc.UsageError, match=sentence):
            bc.compile(what, **choices)


@pytest.mark.check
def test_a_program_says_what_was_chosen_of_its_function(run: Run, told: Callable[..., Any]) -> None:
    chosen = ("--of", "gravity", "--load-range", "0..5", "--bits", "4", "--effort", "0")
    document = told("compile", ARM, *chosen, "-o", "held")
    assert document["of"] == "gravity:load=0..5"
    assert document["robot"] == "machado-2r-gravity:load=0..5"
    assert run("report", "held", "--samples", "500", "--evaluations", "0", "-o", "o").code == 0
    Path("states.csv").write_text("q1,q2,mass\n0.1,0.2,3\n")
    text = run("evaluate", ARM, "--of", "gravity:load=0..5", "-i", "states.csv").out
    exact = np.array(text.split()[1].split(","), dtype=float)
    found = bc.load_program("held")(q=[[0.1, 0.2]], mass=3)[0]
    steps = np.array([one["lsb"] for one in document["outputs"]])
    assert (np.abs(found - exact) < 4 * steps).all()


@pytest.mark.check
def test_a_compiled_file_is_a_program_like_any_other(run: Run, told: Callable[..., Any]) -> None:
    Path("small.toml").write_text(SMALL)
    document = told("compile", "small.toml", "--effort", "0", "-o", "made")
    assert [one["range"] for one in document["inputs"]] == [[-1.0, 1.0], [0.5, 2.0]]
    (output,) = document["outputs"]
    assert (document["robot"], document["of"]) == ("small", "function")
    assert (output["name"], output["bits"], output["unit"]) == ("ratio", 5, "m")
    assert 0 < output["rms"] < output["sampled_max"] <= output["worst_found"]
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-1, 1, 4000), rng.uniform(0.5, 2, 4000)
    error = bc.load_program("made").evaluate(x=x, y=y).values[:, 0] - x / y
    assert np.abs(error).max() <= output["worst_found"] + 1e-9
    assert np.sqrt((error**2).mean()) == pytest.approx(output["rms"], rel=0.1)
    few = ("--samples", "2000", "--evaluations", "2000")
    report = told("report", "made", "--robot", "small.toml", *few)
    assert report["rows"][0]["mode"] == "compact"
    assert "  ratio  " in Path("out/report-made/report.txt").read_text()
    own = run("report", "small.toml", *few, "--effort", "0", "--mode", "both", "--json")
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
    ("expression", "span", "jump"),
    [("wrap(th)*e/2", "-2, 2", np.pi), ("2*e + 5", "3, 7", 0.0)],
)
def test_an_angle_that_wraps_and_a_range_beside_zero_err_by_half_a_step_or_so(
    expression: str, span: str, jump: float, told: Callable[..., Any]
) -> None:
    """An angle's word wraps where the angle does: no jump is misjudged there.

    Only what the encoder takes for on that border, below it by 10⁻⁹ of a cell, is beyond the jump.
    """
    Path("u.toml").write_text(HEADING.format(expression, span))
    (output,) = told("compile", "u.toml", "--bits", "6", "--effort", "0")["outputs"]
    assert output["rms"] < 0.65 * output["lsb"]
    assert output["sampled_max"] < 3 * output["lsb"]
    assert output["worst_found"] < jump + 3 * output["lsb"]
    assert output["bound"] is None or output["worst_found"] <= output["bound"]


def test_what_jumps_make_of_coarse_words_is_no_less_than_it_is(run: Run) -> None:
    """The difference of two angles of 256 cells is on the wrong side of ±π in one of 256 states."""
    text = HEADING.format("clip(2*wrap(th - wanted), -4, 4)", "-4, 4")
    text = text.replace("[inputs.e]\nrange = [-1, 1]", "[inputs.wanted]\nangle = true")
    Path("u.toml").write_text(text)
    refused = run("compile", "u.toml", "--bits", "6", "--rms-error", "0.6", "--effort", "0")
    made = float(refused.err.split("alone is ")[1].split(" ")[0])
    q, r = np.random.default_rng(1).uniform(-np.pi, np.pi, (2, 200_000))
    cell = 2 * np.pi / 256
    coarse = [np.floor(x / cell) * cell + cell / 2 for x in (q, r)]
    law = [
        np.clip(2 * ((x + np.pi) % (2 * np.pi) - np.pi), -4, 4)
        for x in (q - r, coarse[0] - coarse[1])
    ]
    error = (law[0] - law[1]) / 0.125
    assert made == pytest.approx(np.sqrt((error**2).mean() + 1 / 12), rel=0.15)


@pytest.mark.check
def test_the_command_takes_as_few_bits_as_python(told: Callable[..., Any]) -> None:
    line = '[inputs.x]\nrange = [-1, 1]\nbits = 5\n[outputs.y]\nexpression = "x"\n'
    Path("line.toml").write_text(f'name = "line"\n{line}')
    for bits in (2, 3):
        made = told("compile", "line.toml", "--bits", str(bits), "--effort", "0", "-o", "made")
        assert made["bits"] == bc.load_program("made").bits == bits
