"""`boolcomp simulate`: what it prints, what it writes, what it refuses."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import Run
from small_programs import stages

import boolcomp as bc
from boolcomp.measure import (
    LoopSettings,
    exact_of,
    law_of_program,
    referred_variant,
    study,
    trajectory_of,
)
from boolcomp.problem import numbered, robot_problem

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


@pytest.mark.parametrize("text", ["import sys\nsys.exit(0)\n", "def law(**_):\n    exit(0)\n"])
def test_a_controller_that_leaves_is_no_simulation(run: Run, text: str) -> None:
    Path("mine.py").write_text(text)
    result = run("simulate", "machado-2r", "--controller", "mine.py:law", *FAST)
    assert result.code == 1
    assert "controller" in result.err
    assert "SystemExit: 0" in result.err


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


def test_a_trajectory_beyond_what_a_joint_may_do_is_warned_of(run: Run) -> None:
    result = run("simulate", "machado-2r", "--mode", "exact", *FAST, "-t", "sine:frequency=2")
    assert "warning" not in result.err
    result = run("simulate", "machado-2r", "--mode", "exact", *FAST, "-t", "sine:amplitude=2")
    assert result.code == 0
    assert "leaves velocity_range of joint 1" in result.err
