"""`boolcomp simulate`: what it prints, what it writes, what it refuses."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Run
from control.textbook import torques
from small_programs import stages

import boolcomp as bc
from boolcomp.codes import Code
from boolcomp.measure import (
    Called,
    LoopSettings,
    called,
    compiled,
    exact_of,
    inverse_dynamics,
    law_of_program,
    referred_variant,
    rounded_block,
    study,
    trajectory_of,
)
from boolcomp.problem import Problem, inverse_dynamics_problem, numbered, robot_problem

FAST = ("--time", "0.3", "--rate", "200")


def test_a_program_is_simulated_beside_exact_torques(run: Run) -> None:
    stages(4)[2].save("made")
    result = run("simulate", "made", *FAST, "--json")
    assert result.code == 0
    rows = json.loads(result.out)["rows"]
    assert [(x["mode"], x["bits"]) for x in rows] == [("exact", None)] * 2 + [("paper", 4)] * 2
    assert rows[2]["nodes"] > 100
    assert rows[2]["bound"] > rows[2]["rms_noise"] > 0
    assert rows[0]["rms_noise"] == 0


@pytest.mark.parametrize(
    ("of", "groups", "kind"),
    [
        ("inverse-dynamics", ("q", "qd", "qdd"), "computed-torque"),
        ("gravity", ("q",), "pd-gravity"),
        ("control", ("q", "qd", "qr", "qdr", "qddr"), "own"),
        ("computed-torque", ("q", "qd", "qddr", "e", "de"), "own"),
        ("pd-gravity", ("q", "e", "de"), "own"),
        ("forward-dynamics", ("q", "qd", "qdd"), "own"),
    ],
)
def test_a_program_serves_the_law_that_it_was_compiled_of(
    of: str, groups: tuple[str, ...], kind: str
) -> None:
    name = "machado-2r" if of == "inverse-dynamics" else f"machado-2r-{of}"
    program: Any = SimpleNamespace(
        name=name, groups=tuple(numbered(one, 2) for one in groups), returned=numbered("tau", 2)
    )
    assert law_of_program(program, bc.load_robot("machado-2r")) == kind
    with pytest.raises(bc.UsageError, match="has 2 outputs, the robot 4 joints"):
        law_of_program(program, bc.load_robot("scara"))


def test_a_whole_control_law_closes_the_loop_by_itself() -> None:
    robot = bc.load_robot("machado-2r")
    way = trajectory_of(robot, "sine", 0.5, 200.0)
    loops = [LoopSettings(rate=200.0).loop(robot, kind) for kind in ("own", "computed-torque")]
    whole = referred_variant(robot_problem(robot, "computed-torque"))
    mine = study(loops[0], [whole], [way]).recording.q
    parts = study(loops[1], [exact_of(robot, loops[1].law)], [way]).recording.q
    assert np.abs(mine - parts).max() < 1e-9
    assert np.abs(mine[:, :, 0] - way.q).max() < 1e-3


def test_a_users_controller_is_a_function_in_a_file(run: Run) -> None:
    Path("mine.py").write_text(
        "def law(q, qd, e, de, **more):\n    return 900 * e + 120 * de + [115.15, 49]\n"
    )
    result = run("simulate", "machado-2r", "-t", "hold:at=0,0", "--controller", "mine.py:law",
                 *FAST, "--json")  # fmt: skip
    assert result.code == 0
    first, second = json.loads(result.out)["rows"]
    assert (first["mode"], first["bits"], first["rms_noise"]) == ("python", None, None)
    assert first["max_tracking"] < 1e-9 > second["max_tracking"]


def test_what_a_robot_file_says_of_its_drives_is_simulated(run: Run) -> None:
    text = run("robots", "machado-2r").out
    text = text.replace("gravity =", "control_rate = 250\ngravity =")
    text = text.replace(
        "torque_range =", 'encoder_step = "2*pi/4096"\ntorque_limit = 90\ntorque_range ='
    )
    Path("mine.toml").write_text(text)
    result = run("simulate", "mine.toml", "--mode", "exact", "--time", ".2", "--json")
    assert result.code == 0
    document = json.loads(result.out)
    assert document["rate"] == 250
    assert document["encoder_steps"] == pytest.approx([0.00153398] * 2, rel=1e-5)
    assert document["torque_limits"] == [90, 90]
    assert document["speeds"] == "filtered"
    again = run("robots", "mine.toml").out
    for line in ("control_rate = 250", "torque_limit = 90", "encoder_step = "):
        assert line in again


def test_what_cannot_be_made_is_a_row_that_says_why(run: Run) -> None:
    result = run("simulate", "machado-2r", *FAST, "--mode", "paper", "--bits", "3,5", "--json")
    assert result.code == 0
    rows = json.loads(result.out)["rows"]
    assert [x["bits"] for x in rows] == [None, None, 3, 3, 5, 5]
    assert rows[2]["rms_tracking"] is None
    assert "bits must be 4 to 16" in rows[2]["note"]


READS = ("q", "qd", "qdd")


def problem_of(name: str) -> Problem:
    return inverse_dynamics_problem(bc.load_robot(name))


def drawn(problem: Problem, count: int, reach: float = 1.2) -> dict[str, np.ndarray]:
    """Return states by signal, some of them beyond their words."""
    arrays = [np.asarray(x) * reach for x in problem.draw(count, 5)]
    return dict(zip(READS, (x.T.copy() for x in arrays), strict=True))


def test_rounded_words_are_rounded_before_and_after_exact_torques() -> None:
    problem = problem_of("machado-2r")
    block, codes = rounded_block(problem, inverse_dynamics(bc.load_robot("machado-2r")), READS, 6)
    signals = drawn(problem, 50)
    state = []
    for k, one in enumerate(problem.inputs):
        code = Code(one.word, 8, "natural", one.wraps)
        state.append(code.centre(code.cell(signals[READS[k // 2]][k % 2])[0]))
    q, qd, qdd = (np.array(state[k : k + 2]) for k in (0, 2, 4))
    exact = np.array([torques(q[:, i], qd[:, i], qdd[:, i]) for i in range(50)])
    words = [code.centre(code.cell(exact[:, k])[0]) for k, code in enumerate(codes)]
    assert np.allclose(block.torques(signals), words, rtol=0, atol=1e-9)
    assert [code.step for code in codes] == [400 / 64, 200 / 64]


@pytest.mark.parametrize("runs", [1, 3, 20])
def test_a_program_gives_what_it_evaluates_however_many_runs_there_are(runs: int) -> None:
    program = stages(4)[2]
    signals = drawn(problem_of("machado-2r"), runs)
    found = compiled(program).torques(signals)
    exact = program.evaluate(*(signals[name].T for name in READS)).values
    assert found.shape == (2, runs)
    assert np.array_equal(found.T, exact)


def test_what_a_users_function_does_wrong_is_a_sentence() -> None:
    q = np.zeros((2, 3))
    for law, said in (
        (lambda **_: 1 / 0, "ZeroDivisionError"),
        (lambda **_: np.zeros(7), "ValueError"),
        (lambda **_: np.nan, "is not finite"),
    ):
        with pytest.raises(bc.DataError, match=f"controller law.*{said}"):
            Called(law, "law").torques({"q": q})


def test_a_users_function_is_found_in_a_file_or_a_module(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def law(e, **_):\n    return 3 * e\n")
    block = called(f"{path}:law")
    assert np.array_equal(block.torques({"q": np.ones((2, 1)), "e": np.ones((2, 1))}), [[3], [3]])
    assert called("math:hypot").function(3, 4) == 5
    with pytest.raises(bc.UsageError, match="names a file that does not exist"):
        called(f"{tmp_path}/none.py:law")
    with pytest.raises(bc.UsageError, match="has no function 'lw'"):
        called(f"{path}:lw")
    with pytest.raises(bc.DataError, match="ModuleNotFoundError"):
        called("no_such_module:law")
