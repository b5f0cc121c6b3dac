"""`boolcomp evaluate`: torques by logic and by arithmetic, in every form of states and results."""

import json
import os
import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import Result, Run

import boolcomp as bc
from boolcomp.program import Program

COUNT = 700
HEAD = "q1,q2,qd1,qd2,qdd1,qdd2\n"
ROW = "1,1,1,1,1,1\n"


@cache
def arms() -> Program:
    """Return a program of two loads in paper mode, with known errors."""
    return bc.compile("machado-2r", bits=4, mode="paper", minimizer="isop", payloads=(0, 1))


@pytest.fixture(name="evaluate")
def beside_a_program(run: Run) -> Callable[[str], Result]:
    """Return what evaluates at 0 kg unless said otherwise, beside a program and its states."""
    arms().save("program")
    low = np.array([-np.pi, -np.pi, -1, -1, -1, -1])
    np.save("s.npy", np.random.default_rng(0).uniform(low, -low, (COUNT, 6)))
    loaded = ("machado-2r", "--payload")

    def evaluate(line: str) -> Result:
        more = () if any(word in line for word in loaded) else ("--payload", "0")
        return run("evaluate", *line.split(), *more)

    return evaluate


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "numpy", "llvm"])
def test_torques_are_those_of_the_program_of_that_payload(
    evaluate: Callable[[str], Result], engine: str
) -> None:
    arrays = np.split(np.load("s.npy"), 3, axis=1)
    for payload in (0, 1):
        result = evaluate(f"program -i s.npy -o t.npy --engine {engine} --payload {payload}")
        assert (result.code, f"{COUNT} samples in" in result.err) == (0, True)
        expected = arms().torques(*arrays, payload=payload, engine="numpy")
        assert np.array_equal(np.load("t.npy"), expected)


@pytest.mark.slow
def test_a_program_of_several_loads_wants_to_be_told_which(
    evaluate: Callable[[str], Result], run: Run
) -> None:
    del evaluate  # the program is there
    result = run("evaluate", "program", "-i", "s.npy")
    assert (result.code, result.out) == (2, "")
    assert "this program has payloads 0, 1 kg\n  hint: select one with" in result.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "shard", ["samples", *(pytest.param(x, marks=pytest.mark.check) for x in ("terms", "pipeline"))]
)
def test_processes_give_the_same_file(evaluate: Callable[[str], Result], shard: str) -> None:
    evaluate("program -i s.npy -o one.csv")
    done = evaluate(f"program -i s.npy -o two.csv --processes 2 --shard {shard}")
    assert done.code == 0
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


@pytest.mark.slow
def test_a_robot_in_place_of_a_program_is_evaluated_by_newton_euler(
    evaluate: Callable[[str], Result],
) -> None:
    document = json.loads(evaluate("machado-2r -i s.npy -o t.npz --json").out)
    assert (document["samples"], document["saturated_inputs"]) == (COUNT, 0)
    exact = bc.inverse_dynamics("machado-2r", *np.split(np.load("s.npy"), 3, axis=1))
    assert np.allclose(np.load("t.npz")["tau"], exact, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["numpy", "llvm"])
def test_values_outside_the_range_saturate_and_are_counted(
    evaluate: Callable[[str], Result], engine: str
) -> None:
    Path("far.csv").write_text(HEAD + "0,0,5,0,0,0\n0,0,1e308,-1e308,1e308,-1e308\n")
    Path("near.csv").write_text(HEAD + "0,0,1,0,0,0\n0,0,1,-1,1,-1\n")
    far = evaluate(f"program -i far.csv -o a.csv --engine {engine}")
    near = evaluate(f"program -i near.csv -o b.csv --engine {engine}")
    assert (far.code, near.code) == (0, 0)
    assert "2 samples in" in far.err
    assert "saturated: 5 inputs" in far.err
    assert "Warning" not in far.err
    assert Path("a.csv").read_text() == Path("b.csv").read_text()


@pytest.mark.slow
def test_evaluation_says_what_no_error_exceeds(evaluate: Callable[[str], Result]) -> None:
    asked = "program -i s.npy -o t.npy --payload 1"
    load = arms().load(1.0)
    said = re.search(
        r"for states within range: no error exceeds T1 (\S+) N·m \((\S+) LSB\), T2 .* \(proved\)",
        " ".join(evaluate(asked).err.split()),
    )
    assert said is not None
    bound, step = load.outputs[0].bound, load.outputs[0].code.step
    for text, value in ((said[1], bound), (said[2], bound / step)):
        assert value <= float(text) < value * 1.001
    told = json.loads(evaluate(f"{asked} --json").out)["outputs"]
    assert [one["bound"] for one in told] == [output.bound for output in load.outputs]
    assert [one["name"] for one in told] == ["tau1", "tau2"]
    assert told[0]["sampled_max"] <= told[0]["worst_found"] <= told[0]["bound"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "way",
    [
        "machado-2r",
        "program --engine numpy",
        "program --engine llvm --threads 2",
        "program --processes 2",
        "program --processes 2 --shard terms",
    ],
)
def test_a_value_that_is_not_finite_is_named_by_its_true_sample(
    evaluate: Callable[[str], Result], way: str
) -> None:
    table = np.zeros((70_010, 6))
    table[70_000, 3] = np.inf
    np.save("s.npy", table)
    result = evaluate(f"{way} -i s.npy -o t.npy")
    assert result.code == 1
    assert re.search(
        r"qd2 of sample 70000 is inf, not (finite|a finite number) \(.*s.npy\)\n", result.err
    )
    assert not Path("t.npy").exists()


@pytest.mark.slow
def test_a_state_too_large_for_newton_euler_is_named(evaluate: Callable[[str], Result]) -> None:
    Path("s.csv").write_text(HEAD + ROW * 70_000 + "0,0,1e308,0,0,1e308\n")
    result = evaluate("machado-2r -i s.csv -o t.csv")
    assert result.code == 1
    assert re.search("tau. of sample 70000 is .*too large.*s.csv", result.err)
    assert not Path("t.csv").exists()


@pytest.mark.slow
def test_a_damaged_program_is_a_sentence(evaluate: Callable[[str], Result]) -> None:
    path = next(Path("program").glob("networks/*"))
    path.write_text(path.read_text().replace("1", "2", 1))
    result = evaluate("program -i s.npy -o t.npy")
    assert (result.code, "damaged" in result.err) == (1, True)
    assert not Path("t.npy").exists()


@pytest.mark.slow
def test_devices_and_pipes_take_csv(evaluate: Callable[[str], Result]) -> None:
    Path("s.csv").write_text(HEAD + ROW)
    Path("null").symlink_to("/dev/null")
    for target in ("/dev/null", "./null"):
        result = evaluate(f"program -i s.csv -o {target}")
        assert (result.code, result.out) == (0, ""), result.err
    os.mkfifo("pipe")
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(Path("pipe").read_text()))
    reader.start()
    assert evaluate("program -i s.csv -o pipe").code == 0
    reader.join()
    assert found[0].startswith("tau1,tau2\n")


@pytest.mark.slow
def test_times_come_out_first_and_no_samples_are_no_rows(
    evaluate: Callable[[str], Result],
) -> None:
    Path("s.csv").write_text("time," + HEAD + '00:01,0,0,0,0,0,0\n"2",0,0,0,0,0,0\n')
    assert evaluate("program -i s.csv -o t.csv").code == 0
    lines = Path("t.csv").read_text().splitlines()
    assert lines[0] == "time,tau1,tau2"
    assert [line.split(",")[0] for line in lines[1:]] == ["00:01", '"2"']
    for head in (HEAD, "t," + HEAD):
        for way in ("machado-2r", "program"):
            Path("s.csv").write_text(head)
            assert evaluate(f"{way} -i s.csv -o t.csv").code == 0
            assert Path("t.csv").read_text() == "tau1,tau2\n"


def test_angles_in_degrees_are_asked_about_once(warm_run: Run) -> None:
    Path("states.csv").write_text(HEAD + "40,-70,0.4,0.9,-0.5,0.2\n" * 3)
    done = warm_run("evaluate", "machado-2r", "-i", "states.csv")
    assert done.code == 0
    assert done.err.count("are the angles in degrees?") == 1
    assert "70 rad is more than a turn" in done.err
    Path("states.csv").write_text(HEAD + "6,-6,0.4,0.9,-0.5,0.2\n")
    assert "degrees" not in warm_run("evaluate", "machado-2r", "-i", "states.csv").err


@pytest.mark.check
def test_float32_answers_are_off_by_no_more_than_is_said(run: Run, tmp_path: Path) -> None:
    words = {"x": bc.word(-3.3, 3.3, bits=9)}
    program = bc.compile(
        bc.function_problem(lambda x: 1.0 * x, words, {"y": bc.word(-3.3, 3.3)}),
        bits=9, rms_error=0.6, effort=0, approximate="off", store=tmp_path / "store",
    )  # fmt: skip
    program.save("program")
    double = program.inputs[0].code.centre(range(1 << 9)).reshape(-1, 1)
    for kind in ("float32", "float64"):
        np.save("x.npy", double.astype(kind))
        told = run("evaluate", "program", "-i", "x.npy", "-o", "y.npy", "--json")
        (output,) = json.loads(told.out)["outputs"]
        answers = np.load("y.npy")
        assert answers.dtype == kind
        error = np.abs(answers.astype(np.float64) - program(double)).max()
        assert error <= output["rounding"] == program.rounding(kind)[0]
        assert error > output["rounding"] / 8 or kind == "float64"
    np.save("x.npy", double.astype("float32"))
    said = run("evaluate", "program", "-i", "x.npy", "-o", "z.npy")
    assert "rounding to float32 adds at most y 4e-07" in said.err
