"""What arms are to follow: slopes that fit, limits that hold, places that are met."""

from pathlib import Path

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.measure import trajectory_of

RATE = 1000.0


@pytest.mark.parametrize("name", ["machado-2r", "scara", "puma560", "panda"])
@pytest.mark.parametrize("kind", ["point", "circle", "sine", "hold"])
def test_slopes_fit_and_nothing_is_faster_than_the_arm(name: str, kind: str) -> None:
    robot = bc.load_robot(name)
    found = trajectory_of(robot, kind, 2.0, 200.0)
    speeds = (found.q[2:] - found.q[:-2]) * 100
    rates = (found.qd[2:] - found.qd[:-2]) * 100
    assert np.abs(speeds - found.qd[1:-1]).max() < 2e-3 * (1 + np.abs(found.qd).max())
    middle = slice(2, 230)  # a point-to-point motion ends with a jolt
    assert np.abs(rates - found.qdd[1:-1])[middle].max() < 2e-2 * (1 + np.abs(found.qdd).max())
    for k, link in enumerate(robot.links):
        assert np.abs(found.qd[:, k]).max() <= link.velocity.magnitude * 0.501
        assert np.abs(found.qdd[:, k]).max() <= link.acceleration.magnitude * 0.501
        assert link.position.low <= found.q[:, k].min()
        assert found.q[:, k].max() <= link.position.high


def test_a_file_is_followed_through_its_places_smoothly(tmp_path: Path) -> None:
    times = np.linspace(0, 1, 21)
    places = np.stack([np.sin(3 * times), np.cos(2 * times)], axis=1)
    lines = ["t,q1,q2", *(f"{t + 5},{a},{b}" for t, (a, b) in zip(times, places, strict=True))]
    path = tmp_path / "way.csv"
    path.write_text("\n".join(lines))
    found = trajectory_of(bc.load_robot("machado-2r"), str(path), 99.0, RATE)
    assert found.own == 1001
    assert np.allclose(found.q[::50], places, atol=1e-12)
    assert np.abs(np.diff(found.q, axis=0) * RATE - found.qd[:-1]).max() < 0.02
    assert np.abs(found.qd[:, 0] - 3 * np.cos(3 * np.linspace(0, 1, 1001))).max() < 0.03


@pytest.mark.parametrize(
    "text",
    [
        "q1,q2\n0,0\n1,1\n", "t,q1,q2\n0,0,0\n", "t,q1,q2\n1,0,0\n0,1,1\n",
        "t,q1,q2\n0,0,0\n1e308,1,1\n",
    ],
)  # fmt: skip
def test_a_file_without_times_that_rise_to_an_end_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "way.csv"
    path.write_text(text)
    with pytest.raises((bc.DataError, bc.UsageError), match=r"increasing times|must have 2 to"):
        trajectory_of(bc.load_robot("machado-2r"), str(path), 1.0, RATE)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pont", r"unknown trajectory 'pont'; did you mean 'point'\? trajectories"),
        ("sine:amplitud=1", r"'amplitud=1'; did you mean 'amplitude'\?"),
        ("sine:amplitude=1,2,3", "amplitude=1,2,3; give a number, or 2"),
        ("point:time=0", "time=0; give a number above zero"),
        ("circle:plane=zy", "plane 'zy'"),
        ("circle:radius=3", "out of reach"),
    ],
)
def test_what_is_no_trajectory_is_said_with_what_is_one(text: str, said: str) -> None:
    with pytest.raises((bc.UsageError, bc.DataError), match=said):
        trajectory_of(bc.load_robot("machado-2r"), text, 1.0, RATE)


@pytest.mark.parametrize(
    "text",
    [
        "circle:period=1e-300",
        "circle:radius=1e308",
        "sine:frequency=1e308",
        "hold:at=1e308",
        "point:time=1e-300",
        "file",
    ],
)
def test_what_no_arithmetic_can_follow_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "way.csv"
    path.write_text("t,q1,q2\n0,0,0\n1e-320,1,1\n1,1e308,1\n")
    text = str(path) if text == "file" else text
    with pytest.raises(bc.DataError, match="positions, speeds or accelerations are"):
        trajectory_of(bc.load_robot("machado-2r"), text, 1.0, RATE)
