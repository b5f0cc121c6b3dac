"""`boolcomp compile` and `boolcomp evaluate` together, as a user runs them."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from boolcomp.common.places import Folder
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import Options
from boolcomp.paper.quantised import quantised
from boolcomp.paper.store import Store
from boolcomp.pipeline import compile_paper, run_passes
from boolcomp.problem.dynamics import inverse_dynamics
from boolcomp.problem.robot import load_robot, with_payload
from boolcomp.program.programfile import load_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Result

COUNT = 700
pytestmark = pytest.mark.slow  # two loads are compiled first


@pytest.fixture(scope="module", name="compiled")
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the 2R at 5 bits for two loads."""
    folder = tmp_path_factory.mktemp("compiled")
    choices = PaperChoices(Options(bits=5), store=Store((Folder(folder / "store"),)))
    compile_paper("machado-2r", choices, (0.0, 1.0)).program.save(folder / "2r")
    return folder / "2r"


@pytest.fixture(name="program")
def in_an_empty_folder(run: Callable[..., Result], compiled: Path) -> str:
    """Return a program's folder, beside a file of states."""
    del run  # it has gone to the empty folder
    shutil.copytree(compiled, "out/2r")
    rng = np.random.default_rng(0)
    low = np.array([-np.pi, -np.pi, -1, -1, -1, -1])
    np.save("s.npy", rng.uniform(low, -low, (COUNT, 6)))
    return "out/2r"


def expected(payload: float = 0.0) -> np.ndarray:
    state = np.load("s.npy")
    robot = with_payload(load_robot("machado-2r"), payload)
    Path("loaded.toml").write_text(str(robot))
    plan = run_passes("loaded.toml", Options(bits=5), until="plan")
    found: np.ndarray = quantised(plan, plan.problem.arrays(state)).values
    return found


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["auto", "numpy", "llvm"])
@pytest.mark.parametrize("payload", [0.0, 1.0])
def test_torques_by_logic_are_those_of_the_tables(
    run: Callable[..., Result], program: str, engine: str, payload: float
) -> None:
    arguments = ("-i", "s.npy", "-o", "t.npy", "--engine", engine, "--payload", str(payload))
    result = run("evaluate", program, *arguments)
    assert result.code == 0
    assert f"{COUNT} samples in" in result.err
    assert np.array_equal(np.load("t.npy"), expected(payload))


@pytest.mark.check
@pytest.mark.parametrize("shard", ["samples", "terms", "pipeline"])
def test_processes_give_the_same_file(run: Callable[..., Result], program: str, shard: str) -> None:
    run("evaluate", program, "-i", "s.npy", "-o", "one.csv", "--payload", "0")
    result = run(
        "evaluate",
        program,
        "-i",
        "s.npy",
        "-o",
        "two.csv",
        "--payload",
        "0",
        "--processes",
        "2",
        "--shard",
        shard,
    )
    assert result.code == 0
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def test_a_robot_in_place_of_a_program_is_evaluated_by_newton_euler(
    run: Callable[..., Result], program: str
) -> None:
    del program
    document = json.loads(run("evaluate", "machado-2r", "-i", "s.npy", "-o", "t.npz", "--json").out)
    assert (document["samples"], document["saturated_inputs"]) == (COUNT, 0)
    state = np.load("s.npy")
    exact = inverse_dynamics(load_robot("machado-2r"), state[:, :2], state[:, 2:4], state[:, 4:])
    assert np.allclose(np.load("t.npz")["tau"], exact, rtol=1e-12)


@pytest.mark.slow
def test_values_outside_the_range_saturate_and_are_counted(
    run: Callable[..., Result], program: str
) -> None:
    text = "q1,q2,qd1,qd2,qdd1,qdd2\n0,0,5,0,0,0\n0,0,1,0,0,-7\n"
    Path("far.csv").write_text(text)
    result = run("evaluate", program, "-i", "far.csv", "-o", "far.out.csv", "--payload", "0")
    assert "2 samples in" in result.err
    assert "saturated: 2 inputs" in result.err
    Path("near.csv").write_text(text.replace(",5,", ",1,").replace("-7", "-1"))
    run("evaluate", program, "-i", "near.csv", "-o", "near.out.csv", "--payload", "0")
    assert Path("far.out.csv").read_text() == Path("near.out.csv").read_text()


MISTAKES = [
    (("-i", "s.npy", "--engine", "lvm"), 2, "engine 'lvm' (did you mean 'llvm'?)"),
    (("-i", "s.npy", "--shard", "term"), 2, "shard 'term' (did you mean 'terms'?)"),
    (("-i", "s.npy", "--processes", "0"), 2, "processes must be 1 to"),
    (("-i", "s.npy", "--payload", "3"), 2, "no payload 3.0: this program has 0, 1 kg"),
    (("-i", "s.npy", "--json"), 2, "--json prints on standard output"),
    (("-i", "no.csv", "--payload", "0"), 1, "no.csv: cannot be read"),
    (("-i", "nan.csv", "--payload", "0"), 1, "not a finite number"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), MISTAKES)
def test_mistakes_are_sentences(
    run: Callable[..., Result], program: str, arguments: tuple[str, ...], code: int, sentence: str
) -> None:
    Path("nan.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,nan,0,0\n")
    result = run("evaluate", program, *arguments)
    assert result.code == code
    assert sentence in result.err
    assert "Traceback" not in result.err


def test_evaluation_says_what_no_error_exceeds(run: Callable[..., Result], program: str) -> None:
    asked = ("evaluate", program, "-i", "s.npy", "-o", "t.npy", "--payload", "1")
    load = load_program(program).load(1.0)
    said = re.search(
        r"of states within range no error exceeds T1 (\S+) N·m \((\S+) LSB\), T2 .*, proved",
        run(*asked).err,
    )
    assert said is not None
    bound, step = load.outputs[0].bound, load.outputs[0].code.step
    for text, value in ((said[1], bound), (said[2], bound / step)):
        assert value <= float(text) < value * 1.001
    told = json.loads(run(*asked, "--json").out)["outputs"]
    assert [one["bound"] for one in told] == [output.bound for output in load.outputs]
    assert [one["name"] for one in told] == ["tau1", "tau2"]
    assert told[0]["sampled_max"] <= told[0]["worst_found"] <= told[0]["bound"]


def test_a_damaged_program_is_a_sentence(run: Callable[..., Result], program: str) -> None:
    path = next(Path(program).glob("networks/*"))
    path.write_text(path.read_text().replace("1", "2", 1))
    result = run("evaluate", program, "-i", "s.npy", "-o", "t.npy")
    assert result.code == 1
    assert "damaged" in result.err
    assert not Path("t.npy").exists()


def test_compile_json_has_the_agreed_keys(run: Callable[..., Result]) -> None:
    document = json.loads(
        run("compile", "machado-2r", "--mode", "paper", "--bits", "4", "--json").out
    )
    assert {"program", "mode", "bits", "seconds", "luts", "depth", "tables", "joints"} <= set(
        document
    )
    kinds = ("rms", "sampled_max", "worst_found", "bound")
    for joint, output in zip(document["joints"], document["outputs"], strict=True):
        keys = {"joint", "lsb", "promised", *kinds, *(f"{kind}_lsb" for kind in kinds)}
        assert keys | {"bound_over_found"} == set(joint)
        assert joint["promised"] is None
        assert 0 < joint["rms"] < joint["sampled_max"] <= joint["worst_found"] <= joint["bound"]
        for kind in kinds:
            assert joint[kind] == output[kind]
            assert joint[f"{kind}_lsb"] == pytest.approx(joint[kind] / joint["lsb"])
    agreed = {
        "name", "inputs", "outputs", "products", "literals", "proved", "lower_bound", "seconds",
    }  # fmt: skip
    assert agreed <= set(document["tables"][0])


def test_a_family_wants_to_be_told_its_payload(run: Callable[..., Result], program: str) -> None:
    result = run("evaluate", program, "-i", "s.npy", "-o", "t.npy")
    assert result.code == 2
    assert "this program has payloads 0, 1 kg: say which with --payload" in result.err


def test_the_input_is_never_overwritten(run: Callable[..., Result], program: str) -> None:
    before = Path("s.npy").read_bytes()
    result = run("evaluate", program, "-i", "s.npy", "-o", "./s.npy", "--payload", "0")
    assert result.code == 2
    assert "s.npy is the input" in result.err
    assert Path("s.npy").read_bytes() == before


def test_newton_euler_refuses_what_is_not_finite(run: Callable[..., Result]) -> None:
    Path("nan.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n0,0,0,nan,0,0\n")
    result = run("evaluate", "machado-2r", "-i", "nan.csv")
    assert result.code == 1
    assert "not a finite number" in result.err


@pytest.mark.check
def test_a_torque_that_can_leave_its_range_is_named(run: Callable[..., Result]) -> None:
    text = run("robots", "machado-2r").out.replace("[-200, 200]", "[-50, 50]")
    Path("small.toml").write_text(text)
    result = run("compile", "small.toml", "--mode", "paper", "--bits", "4", "--minimizer", "isop")
    assert "T1 can reach ±152.422, beyond its range ±50" in result.out
    report = run(
        *("report", "small.toml", "--mode", "paper"),
        *("--bits", "4", "--extra", "0", "--samples", "500"),
    )
    assert "samples saturate: no bound for them" in report.out


@pytest.mark.check
def test_a_table_too_large_to_minimise_is_a_sentence(run: Callable[..., Result]) -> None:
    result = run("compile", "puma560", "--mode", "paper", "--bits", "4")
    assert result.code == 1
    assert "minimisation takes 22 inputs and 2^25 bits" in result.err
    assert "Traceback" not in result.err


def test_angles_in_degrees_are_asked_about_once(warm_run: Callable[..., Result]) -> None:
    rows = "40,-70,0.4,0.9,-0.5,0.2\n" * 3
    Path("states.csv").write_text(f"q1,q2,qd1,qd2,qdd1,qdd2\n{rows}")
    done = warm_run("evaluate", "machado-2r", "-i", "states.csv")
    assert done.code == 0
    assert done.err.count("are the angles in degrees?") == 1
    assert "70 rad is beyond two turns" in done.err
    Path("states.csv").write_text("q1,q2,qd1,qd2,qdd1,qdd2\n6,-6,0.4,0.9,-0.5,0.2\n")
    assert "degrees" not in warm_run("evaluate", "machado-2r", "-i", "states.csv").err


@pytest.mark.parametrize(("wrong", "asked"), [(1, 0), (2, 1)])
def test_more_than_a_hundredth_of_samples_beyond_stops_is_asked_about(
    run: Callable[..., Result], wrong: int, asked: int
) -> None:
    Path("sine.toml").write_text(
        'name = "sine"\n[inputs.q]\nangle = true\nrange = [-1, 1]\n'
        '[outputs.y]\nexpression = "sin(q)"\n'
    )
    Path("states.csv").write_text("\n".join(["q", *["1.5"] * wrong, *["1"] * (100 - wrong), ""]))
    done = run("evaluate", "sine.toml", "-i", "states.csv")
    assert done.code == 0
    told = (
        "boolcomp: warning: 2 of 100 samples have angles beyond stops: are the angles in degrees?"
    )
    assert done.err.splitlines().count(told) == asked
