"""The Python interface: options as values, robots and programs with methods, named outputs."""

import doctest
import importlib
import json
import pickle
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Run
from small_programs import compact

import boolcomp as bc
from boolcomp.base import DataWarning
from boolcomp.problem import Problem, load_robot, robot_problem
from boolcomp.program import Program, load_program

ARM = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="1.2"/>
<inertia ixx="1e-3" iyy="9e-3" izz="9e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="left"/><link name="right"/>
<joint name="a" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="2"/></joint>
<joint name="b" type="fixed"><parent link="upper"/><child link="left"/></joint>
<joint name="c" type="fixed"><parent link="upper"/><child link="right"/></joint></robot>"""
EXACT = bc.Cost(approximate="off")  # without loops that take a minute to compile
STATE: dict[str, Any] = {"q": [0.3, -0.7], "qd": [0.4, 0.9], "qdd": [-0.5, 0.2]}


def both() -> Problem:
    x = bc.word(-1, 1, bits=4, unit="<b>")
    return bc.function({"r": "sqrt(x*x + y*y)", "T": "x - y"}, x=x, y=x, name="both")


@cache
def small() -> Any:
    return bc.compile(both(), bits=4, cost=EXACT, search=bc.Search(effort=0))


# --------------------------------------------------------------------------------------------------
# Options as values.
# --------------------------------------------------------------------------------------------------


def test_values_stand_for_the_keywords_of_compile() -> None:
    program = bc.compile(
        both(), bits=4, accuracy=[bc.Rms({"T": 0.9, "r": 0.8}), bc.Found([3, 4])],
        cost=bc.Cost(objective="depth", approximate="off"), search=bc.Search(effort=0, seed=5),
    )  # fmt: skip
    same = bc.compile(
        both(), bits=4, rms_error=[0.8, 0.9], max_error=[3, 4], objective="depth", effort=0, seed=5,
        approximate="off",
    )  # fmt: skip
    assert program == same
    assert program.options == same.options
    assert program.asked["rms"] == "0.8,0.9"
    assert bc.Proved({"r": "1lsb"}).keywords == {"error": {"r": "1lsb"}}
    assert bc.Cost().keywords == {}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: bc.Cost(targt="lut4"), "keyword 'targt'.*'target'"),  # type: ignore[call-arg]
        (lambda: bc.Search(efort=1), ".*'effort'"),  # type: ignore[call-arg]
        (lambda: bc.compile(both(), acuracy=bc.Rms(1)), ".*'accuracy'"),  # type: ignore[call-arg]
        (lambda: bc.compile(both(), effort=1, search=bc.Search(effort=2)),
         "effort is given twice; Search gives it, too"),
        (lambda: bc.compile(both(), accuracy=[bc.Rms(1), bc.Rms(2)]), "rms_error is given twice"),
        (lambda: bc.compile(both(), accuracy=0.5), "0.5 is no option value; give"),  # type: ignore[arg-type]
        (lambda: bc.compile(both(), accuracy=bc.Rms({"R": 1})), "output 'R'.*outputs are r, T"),
        (lambda: bc.compile(both(), accuracy=bc.Found({"T": 1})), "max_error has no limit for r"),
        (lambda: bc.compile(both(), mode="paper", cost=bc.Cost(target="lut6")),
         "target belongs to mode compact"),
        (lambda: bc.compile(both(), cost=bc.Cost(target="lut5")), ".*'lut"),  # type: ignore[arg-type]
        (lambda: bc.robot("machado-2r").problem("gravity", kpp=3), "choice 'kpp'"),
        (lambda: bc.robot("machado-2r", tip="tool"), "select an arm of a URDF, MJCF or SDF"),
        (lambda: bc.robot("machado-2r", tp="tool"), "robot has no 'tp'.*'tip'"),  # type: ignore[call-arg]
        (lambda: bc.function("x", x=bc.word(1)), "outputs of a function are missing"),
        (lambda: bc.function("x + z", x=bc.word(1), out="y"), "y: z: unknown name"),
        (lambda: small().export("both.vv"), "ending '.vv'.*'.v'"),
        (lambda: small().verify(tool=True), "verify has no 'tool'.*'tools'"),
        (lambda: small().report(sample=5), ".*'samples'"),
        (lambda: bc.report(both(), mode="papr"), ".*'paper'"),
        (lambda: bc.simulate("machado-2r", second=1), "setting 'second'.*'seconds'"),
        (lambda: bc.area(small(), "ice41"), "target 'ice41'.*'ice40'"),
    ],
)  # fmt: skip
def test_a_wrong_name_is_answered_with_the_nearest(given: Any, sentence: str) -> None:
    with pytest.raises(bc.BoolcompError, match=sentence):
        given()


# --------------------------------------------------------------------------------------------------
# Robots, problems and outputs with names.
# --------------------------------------------------------------------------------------------------


def test_a_robot_has_its_functions_as_problems() -> None:
    arm = bc.robot("machado-2r")
    assert arm == load_robot("machado-2r")
    assert load_robot("machado-2r") == arm
    assert arm != bc.robot("elbow-3r")
    assert hash(arm) == hash(load_robot("machado-2r"))
    assert type(pickle.loads(pickle.dumps(arm))) is type(arm)  # noqa: S301 (its own)
    own = arm.problem("control", kp=50, payload=0.5)
    assert own.name == "machado-2r-control:kp=50"
    exact = arm.problem()(**STATE)
    assert np.array_equal(exact, bc.inverse_dynamics("machado-2r", **STATE))
    assert arm.problem("gravity") == robot_problem(load_robot("machado-2r"), "gravity")


def test_the_links_of_a_model_select_an_arm(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(ARM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        arms = [bc.robot(tmp_path / "arm.urdf", tip=tip) for tip in ("left", ["left"])]
        assert bc.robot(tmp_path / "arm.urdf", base="base", tip="left") == arms[0] == arms[1]
    (row,) = arms[0].check().rows
    assert row.better is not None
    assert str(arms[0].check()).splitlines()[2].endswith(str(row))


def test_a_function_is_written_in_python_or_as_expressions() -> None:
    x = bc.word(-1, 1, bits=4)
    python = bc.function(lambda x: bc.sqrt(x + 1), x=x, out="y", name="f")
    text = bc.function("sqrt(x + 1)", x=x, out={"y": None}, name="f")
    assert (python.key, python.outputs) == (text.key, text.outputs)
    assert float(text(x=0.44)) == pytest.approx(1.2)
    assert text([0.44, 0]).shape == (2, 1)
    ranged = bc.function({"y": "x", "z": "x*x"}, x=x, out={"y": bc.word(-2, 2), "z": None})
    assert [str(one.range) for one in ranged.outputs] == ["-2 .. 2", "0 .. 1.2"]


def test_two_outputs_are_reachable_by_name_and_stay_an_array() -> None:
    states: dict[str, Any] = {"x": [0.3, 0.5, -0.7], "y": [0.1, 0.2, 0.9]}
    found, plain = small()(**states), np.asarray(small().evaluate(**states).values)
    assert np.array_equal(found, plain)
    assert (found.shape, found.dtype, repr(found)) == (plain.shape, plain.dtype, repr(plain))
    assert np.array_equal(found["r"], plain[:, 0])
    assert np.array_equal(found["T"], plain[:, 1])
    assert np.array_equal(found.T, plain.T)  # an attribute of arrays has precedence
    one = small()(x=0.3, y=0.1)
    assert (one.r, one["T"]) == tuple(plain[0])
    with pytest.raises(bc.UsageError, match="unknown output 'R'; outputs are r, T"):
        found["R"]
    with pytest.raises(AttributeError, match="no attribute 'rr'"):
        found.rr  # noqa: B018 (reading it is what is tested)
    for derived in (found[::-1], 2 * found, found[:, ::-1], found.copy(), found[0]):
        assert not getattr(derived, "names", ())  # a column may have moved
    assert type(found[0]) is np.ndarray
    single = bc.function("2*x", x=bc.word(1), out="y")
    assert type(single([0.5])) is np.ndarray


def test_errors_are_in_units_with_the_step_beside() -> None:
    program = small()
    assert list(program.errors) == ["r", "T"]
    for k, (name, one) in enumerate(program.errors.items()):
        output = program.outputs[k]
        assert (one.bound, one.found) == (program.bound[k], program.worst_found[k])
        assert (one.lsb, one.unit, output.name) == (output.code.step, "", name)
        assert 0 < one.rms < one.sampled_max <= one.bound
    assert compact().errors["tau1"].unit == "N·m"


# --------------------------------------------------------------------------------------------------
# Programs and measurements.
# --------------------------------------------------------------------------------------------------


def test_a_program_from_a_folder_is_equal_and_has_the_methods(tmp_path: Path) -> None:
    small().save(tmp_path / "p")
    loaded = bc.load_program(tmp_path / "p")
    low = load_program(tmp_path / "p")
    assert loaded == small() == low
    assert low == loaded
    assert type(low) is Program
    assert hash(low) == hash(loaded)
    again = pickle.loads(pickle.dumps(small()))  # noqa: S301 (its own)
    assert (again, again.source, type(again)) == (small(), both(), type(small()))
    assert loaded.verify().ok
    with pytest.raises(bc.UsageError, match="compile it with proof='tight'"):
        loaded.prove()


def test_a_bound_is_proved_again_to_another_grade() -> None:
    plain = small().prove("plain")
    assert plain.networks == small().networks
    assert plain.bound[0] > small().bound[0]
    assert plain.prove("tight").bound == small().bound
    paper = bc.compile("machado-2r", bits=4, mode="paper", minimizer="isop")
    with pytest.raises(bc.UsageError, match="proof belongs to mode compact"):
        paper.prove()


def test_a_check_that_fails_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    program = small()
    verified = program.verify()
    assert verified.ok
    assert "<td>certificate</td>" in verified._repr_html_()
    assert str(verified).startswith("check ")
    monkeypatch.setattr("boolcomp.measure.verify.agrees", lambda *_: False)
    broken = program.verify()
    assert not broken.ok
    (row,) = [one for one in broken.rows if one.holds is False]
    assert row.name == "network against word graph"


@pytest.mark.check
def test_a_certificate_is_checked_for_the_robot_of_the_program(tmp_path: Path) -> None:
    gravity = bc.robot("machado-2r").problem("gravity")
    program = bc.compile(gravity, bits=4, search=bc.Search(effort=0), certify=True)
    program.save(tmp_path / "p")
    loaded = bc.load_program(tmp_path / "p")
    for found in (program.verify(), loaded.verify(robot="machado-2r")):
        assert found.ok
        assert "same as file" in [one.name for one in found.rows]
    assert not loaded.verify(robot="elbow-3r").ok
    assert "same as file" not in [one.name for one in loaded.verify().rows]


def test_the_ending_of_a_file_names_its_language(tmp_path: Path) -> None:
    for name, target in (("a.v", "verilog"), ("a.vhd", "vhdl"), ("a.c", "c"), ("a.aig", "aiger")):
        found = small().export(tmp_path / name)
        bc.export(small(), target, tmp_path / "other" / name)
        assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()
        assert tmp_path / name in found
    small().export(tmp_path / "b.c", "c-sliced")
    assert (tmp_path / "b.c").read_bytes() != (tmp_path / "a.c").read_bytes()
    small().export(tmp_path / "c.v", pipeline=2)
    assert "clock" in (tmp_path / "c.v").read_text()


@pytest.mark.slow
def test_pages_and_reports_are_written_by_name(tmp_path: Path) -> None:
    assert "<title>" in small().show(tmp_path / "s.html").read_text()
    found = small().report(samples=200, evaluations=0)
    assert [row.bits for row in found.rows] == [4, 4]
    assert found.rows[0].found is None
    for name in ("r.csv", "r.json", "r.txt", "r.html", "r.svg"):
        assert found.save(tmp_path / name).stat().st_size > 200
    assert (tmp_path / "r.txt").read_text() == f"{found}\n"
    with pytest.raises(bc.UsageError, match=r"ending '.pdf'"):
        found.save(tmp_path / "r.pdf")
    assert "<td>T</td>" in found._repr_html_()


def test_notebooks_show_escaped_text() -> None:
    for text in (small()._repr_html_(), both()._repr_html_()):
        assert "&lt;b&gt;" in text
        assert "<b>" not in text.replace("<b>both</b>", "")
    assert "<td>x</td><td>-1 .. 1</td>" in both()._repr_html_()


@pytest.mark.check
def test_measurements_are_those_of_the_commands(warm_run: Run) -> None:
    def told(*words: str) -> list[Any]:
        found: list[Any] = json.loads(warm_run(*words, "--json").out)["rows"]
        return found

    rows = bc.report("machado-2r", bits=4, samples=500).rows
    theirs = told("report", "machado-2r", "--bits", "4", "--mode", "compact", "--samples", "500")
    assert [(x.rms, x.found, x.bound, x.program_luts) for x in rows] == [
        (x["rms_error"], x["worst_found"], x["bound"], x["program_luts"]) for x in theirs
    ]
    compact().save("p")
    found = bc.simulate(compact(), ["point", "sine"], seconds=0.2)
    theirs = told("simulate", "p", "-t", "point", "-t", "sine", "--time", "0.2")
    assert [(x.trajectory, x.joint, x.tip_max) for x in found.rows] == [
        (x["trajectory"], x["joint"], x["tip_max"]) for x in theirs
    ]
    assert "point" in repr(found)
    assert found._repr_html_().startswith("<pre>")
    cells = bc.area(compact(), ["lut6"])
    assert cells.documents == told("area", "p", "--on", "lut6")
    assert len(bc.simulate("machado-2r", bits=4, seconds=0.1).rows) == 4


MODULES = ("api", "values", "problem.outputs", "program.program", "measure.verify",
           "measure.report_page")  # fmt: skip
EXAMPLES = [
    pytest.param(test, id=test.name.removeprefix("boolcomp."))
    for module in MODULES
    for test in doctest.DocTestFinder(exclude_empty=True).find(
        importlib.import_module(f"boolcomp.{module}")
    )
    if test.examples
]


@pytest.mark.check
@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_of_the_reference_print_what_they_say(
    example: doctest.DocTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("boolcomp.compact.errors.EVALUATIONS", 20_000_000)  # as users have
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_every_value_and_method_has_an_example() -> None:
    names = {one.id for one in EXAMPLES}
    methods = {"RobotArm": "problem check", "CompiledProgram": "prove verify export show report"}
    for kind, own in methods.items():
        assert {f"api.{kind}.{name}" for name in own.split()} <= names
    values = {f"values.{name}" for name in ("Rms", "Found", "Proved", "Cost", "Search")}
    functions = "robot function compile load_program report simulate area"
    assert values | {f"api.{name}" for name in functions.split()} <= names
