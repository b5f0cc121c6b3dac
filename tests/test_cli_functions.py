"""Functions of a robot through the commands: --of compile, plan, terms, tables, report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.common.errors import UsageError
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result


def test_terms_of_gravity_are_printed(run: Callable[..., Result]) -> None:
    found = run("terms", "machado-2r", "--of", "gravity")
    assert found.out.splitlines()[1] == "  T11 = 66.15 cos q1 + 49 cos(q1 + q2)"


def test_an_unknown_function_is_wrong_usage(run: Callable[..., Result]) -> None:
    for command in ("terms", "plan", "compile", "tables", "report"):
        found = run(command, "machado-2r", "--of", "jacobi")
        assert (found.code, found.out) == (2, "")
        assert "no function 'jacobi' (did you mean 'jacobian'" in found.err


def test_friction_belongs_to_inverse_dynamics(run: Callable[..., Result]) -> None:
    found = run("compile", "machado-2r", "--of", "gravity", "--friction")
    assert (found.code, found.out) == (2, "")
    assert "friction belongs to inverse-dynamics, not to gravity" in found.err


def test_a_plan_and_tables_of_kinematics_have_its_outputs(run: Callable[..., Result]) -> None:
    plan = json.loads(run("plan", "machado-2r", "--of", "jacobian", "--bits", "5", "--json").out)
    assert plan["robot"] == "machado-2r-jacobian"
    assert [one["range"] for one in plan["joints"]] == [2.0, 1.0, 2.0, 1.0]
    made = run("tables", "machado-2r", "--of", "forward-kinematics", "--bits", "4", "--json")
    names = {entry["name"] for entry in json.loads(made.out)["tables"]}
    assert {"px1", "px2", "R111"} <= names


def test_what_is_no_robot_has_no_functions() -> None:
    problem = robot_problem(load_robot("machado-2r"), "gravity")
    with pytest.raises(UsageError, match="machado-2r-gravity is no robot: it has no bias"):
        bc.compile(problem, of="bias")


def test_what_is_prepared_is_printed_before_its_terms(run: Callable[..., Result]) -> None:
    found = run("terms", "elbow-3r", "--friction", "--smoothing", "0.1")
    assert found.out.splitlines()[0].endswith("= qd1 * 10")
    assert "  T35 = 1 dry3" in found.out.splitlines()
    document = json.loads(run("terms", "machado-2r", "--of", "control", "--json").out)
    assert document["prepared"][-1].startswith("output a2 = ")


def test_arithmetic_is_of_the_function_that_is_asked_for(run: Callable[..., Result]) -> None:
    Path("points.csv").write_text("px,py\n1.8,0\n0,1\n")
    asked = ("machado-2r", "--of", "inverse-kinematics", "--elbow", "down", "-i", "points.csv")
    found = run("evaluate", *asked).out.splitlines()
    assert found[0] == "q1,q2"
    one, other = (np.array(line.split(","), dtype=float) for line in found[1:])
    assert one == pytest.approx([0, 0], abs=1e-5)
    reached = np.exp(1j * other[0]) + 0.8 * np.exp(1j * other.sum())
    assert reached == pytest.approx(1j)
    assert other[1] > 0


@pytest.mark.slow
def test_choices_that_a_function_has_not_are_wrong_usage(run: Callable[..., Result]) -> None:
    for command in ("terms", "plan", "compile", "tables", "report", "evaluate"):
        found = run(command, "machado-2r", "--of", "control", "--elbow", "up")
        assert (found.code, found.out) == (2, "")
        assert "control has no elbow" in found.err
    found = run("report", "machado-2r", "--of", "forward-dynamics", "--mode", "paper")
    assert found.code == 2
    assert "compact mode compiles it" in found.err


def test_a_load_has_tables_in_paper_mode(run: Callable[..., Result]) -> None:
    made = run("tables", "machado-2r", "--of", "gravity", "--load-range", "0..5", "--bits", "4",
               "--json")  # fmt: skip
    names = [entry["name"] for entry in json.loads(made.out)["tables"]]
    assert names == ["T11", "T12", "T21", "T22"]


@pytest.mark.check
def test_a_program_says_what_was_chosen_of_its_function(run: Callable[..., Result]) -> None:
    made = run(
        "compile", "machado-2r", "--of", "gravity", "--load-range", "0..5", "--bits", "4",
        "--effort", "0", "-o", "held", "--json",
    )  # fmt: skip
    document = json.loads(made.out)
    assert (document["of"], document["robot"]) == (
        "gravity:load=0..5", "machado-2r-gravity:load=0..5",
    )  # fmt: skip
    assert run("report", "held", "--samples", "500", "--evaluations", "0", "-o", "o").code == 0
    Path("states.csv").write_text("q1,q2,mass\n0.1,0.2,3\n")
    exact = np.array(run(
        "evaluate", "machado-2r", "--of", "gravity:load=0..5", "-i", "states.csv",
    ).out.split()[1].split(","), dtype=float)  # fmt: skip
    found = bc.load_program("held")(q=[[0.1, 0.2]], mass=3)[0]
    steps = [one["lsb"] for one in document["outputs"]]
    assert (np.abs(found - exact) < 4 * np.array(steps)).all()
    refused = run("evaluate", "held", "--of", "gravity", "-i", "states.csv")
    assert "--of means nothing here: held is a program, compiled already" in refused.err


@pytest.mark.check
def test_forward_kinematics_hold_the_worst_error_that_is_printed(
    run: Callable[..., Result],
) -> None:
    made = run(
        "compile", "machado-2r", "--of", "forward-kinematics", "--bits", "6", "--effort", "0",
        "-o", "fk", "--json",
    )  # fmt: skip
    document = json.loads(made.out)
    assert document["of"] == "forward-kinematics"
    assert [one["name"] for one in document["inputs"]] == ["q1", "q2"]
    assert document["inputs"][0] == {
        "name": "q1", "bits": 8, "code": "natural", "range": [-np.pi, np.pi], "unit": "rad",
        "zero": "rise",
    }  # fmt: skip
    (q,) = robot_problem(load_robot("machado-2r"), "forward-kinematics").draw(5000, 11)
    np.savetxt("states.csv", q, delimiter=",", header="q1,q2", comments="")
    assert run("evaluate", "fk", "-i", "states.csv", "-o", "pose.csv").code == 0
    found = np.genfromtxt("pose.csv", delimiter=",", names=True)
    total = q.sum(axis=1)
    exact = {
        "px": np.cos(q[:, 0]) + 0.8 * np.cos(total), "py": np.sin(q[:, 0]) + 0.8 * np.sin(total),
        "r11": np.cos(total), "r12": -np.sin(total), "r21": np.sin(total), "r22": np.cos(total),
    }  # fmt: skip
    assert found.dtype.names == tuple(exact)
    for one in document["outputs"]:
        error = np.abs(found[one["name"]] - exact[one["name"]])
        assert error.max() <= one["worst_found"] * (1 + 1e-9)
        assert one["sampled_max"] <= one["worst_found"]
        assert one["rms"] == pytest.approx(float(np.sqrt((error**2).mean())), rel=0.1)
        assert one["unit"] == ("m" if one["name"][0] == "p" else "")
        assert one["worst_found"] <= one["bound"] <= 4 * one["worst_found"]
    shown = run("report", "fk", "--samples", "1000", "--evaluations", "0", "-o", "out")
    assert "px" in shown.out


@pytest.mark.check
def test_paper_mode_makes_programs_of_functions_with_proven_bounds(
    run: Callable[..., Result],
) -> None:
    made = run(
        "compile", "machado-2r", "--of", "bias", "--mode", "paper", "--bits", "4", "--minimizer",
        "isop", "-o", "bias", "--json",
    )  # fmt: skip
    document = json.loads(made.out)
    problem = robot_problem(load_robot("machado-2r"), "bias")
    arrays = problem.draw(2000, 4)
    found = bc.load_program("bias")(*arrays)
    error = np.abs(found - problem.reference(*arrays)).max(axis=0)
    assert (error <= [one["bound"] for one in document["outputs"]]).all()
    rms = np.sqrt(((found - problem.reference(*arrays)) ** 2).mean(axis=0))
    assert rms == pytest.approx([one["rms"] for one in document["outputs"]], rel=0.1)
