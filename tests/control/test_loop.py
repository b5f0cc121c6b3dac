"""Loops: against an independent simulation; sensors, limits, runs side by side."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from control.textbook import moved, torques
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.measure import Called, LoopSettings, Variant, exact_of, study, trajectory_of
from boolcomp.problem import Robot

ARM = bc.load_robot("machado-2r")
RATE = 200.0
LAW = exact_of(ARM, LoopSettings().loop(ARM, "computed-torque").law)


def loop_of(robot: Robot = ARM, kind: Any = "computed-torque", **more: Any) -> Any:
    return LoopSettings(**{"rate": RATE, "bandwidth": 8.0, "damping": 0.7, **more}).loop(
        robot, kind
    )


def path(text: str = "sine", seconds: float = 0.5) -> Any:
    return trajectory_of(ARM, text, seconds, RATE)


def rounded_torques() -> Variant:
    """Return the textbook's torques, rounded to words of six bits."""
    steps = np.array([400 / 64, 200 / 64])

    def rounded(q: NDArray[Any], qd: NDArray[Any], qdd: NDArray[Any], **_: Any) -> NDArray[Any]:
        exact = np.array([torques(*state) for state in zip(q, qd, qdd, strict=True)])
        return np.asarray((np.floor(exact / steps) + 0.5) * steps)

    return Variant("paper", 6, Called(rounded, "rounded"), steps=tuple(steps))


def test_a_loop_does_what_a_textbook_loop_does() -> None:
    loop, way = loop_of(), path()
    found = loop.simulate([exact_of(ARM, loop.law).block], [way])
    state = np.concatenate([way.q[0], way.qd[0]])
    for k in range(40):
        assert np.abs(found.q[k, :, 0] - state[:2]).max() < 1e-9
        e, de = way.q[k] - state[:2], way.qd[k] - state[2:]
        torque = torques(state[:2], state[2:], way.qdd[k] + 64 * e + 2 * 0.7 * 8 * de)
        assert np.abs(found.applied[k, :, 0] - torque).max() < 1e-6
        state = moved(state, torque, 1 / RATE)


def test_a_gravity_loop_pulls_with_the_inertias_that_joints_feel() -> None:
    loop, way = loop_of(kind="pd-gravity"), path("point:from=0,0:to=.05,.02:time=.3")
    found = loop.simulate([exact_of(ARM, loop.law).block], [way])
    state = np.concatenate([way.q[0], way.qd[0]])
    for k in range(30):
        e, de = way.q[k] - state[:2], way.qd[k] - state[2:]
        pull = np.array([25.75, 9.0]) * (64 * e + 2 * 0.7 * 8 * de)
        state = moved(state, torques(state[:2], np.zeros(2), np.zeros(2)) + pull, 1 / RATE)
        assert np.abs(found.q[k + 1, :, 0] - state[:2]).max() < 1e-8


def test_what_runs_together_does_not_matter() -> None:
    loop, blocks = loop_of(), (LAW, rounded_torques())
    ways = (path(), path("hold", 0.2))
    together = study(loop, blocks, ways)
    for way in ways:
        for block in blocks:
            alone = study(loop, [block], [way]).recording
            column = together.recording.run(blocks.index(block), ways.index(way))
            assert np.array_equal(alone.q[:, :, 0], together.recording.q[: way.own, :, column])


def test_figures_are_those_of_the_recording() -> None:
    loop, way = loop_of(), path()
    found = study(loop, [exact_of(ARM, loop.law), rounded_torques()], [way])
    row = next(one for one in found.rows if one.variant.bits == 6 and one.joint == 2)
    told, recording = row.figures, found.recording
    assert told is not None
    error = way.q[:, 1] - recording.q[:, 1, 1]
    assert told.max_tracking == pytest.approx(np.abs(error).max())
    assert told.rms_tracking == pytest.approx(np.sqrt(np.mean(error**2)))
    noise = []
    for k in range(way.own):
        q, qd = recording.seen[k, :, 1], recording.speeds[k, :, 1]
        command = way.qdd[k] + 64 * (way.q[k] - q) + 2 * 0.7 * 8 * (way.qd[k] - qd)
        noise.append(recording.made[k, 1, 1] - torques(q, qd, command)[1])
    assert told.rms_noise == pytest.approx(np.sqrt(np.mean(np.square(noise))))
    assert told.max_noise == pytest.approx(np.abs(noise).max())
    jumps = np.diff(recording.applied[:, 1, 1])
    assert told.rms_jump == pytest.approx(np.sqrt(np.mean(jumps**2)))
    assert told.max_jump == pytest.approx(np.abs(jumps).max())
    assert row.lsb == 200 / 64
    tips = []
    for q in (way.q, recording.q[:, :, 1]):
        both = q.sum(axis=1)
        tips.append(np.array([np.cos(q[:, 0]) + 0.8 * np.cos(both),
                              np.sin(q[:, 0]) + 0.8 * np.sin(both)]))  # fmt: skip
    assert row.tip_max == pytest.approx(np.linalg.norm(tips[0] - tips[1], axis=0).max())


def test_errors_at_the_bound_stray_as_far_as_is_estimated_and_no_further() -> None:
    size = 2.0
    exact = LAW
    assert exact.block is not None

    def wrong(**signals: np.ndarray) -> np.ndarray:
        right = exact.block.torques({name: x.T for name, x in signals.items()})  # type: ignore[union-attr]
        return np.asarray(right.T + np.array([size, -size]))

    variant = Variant("worst", 8, Called(wrong, "wrong"), bounds=(size, size))
    found = study(loop_of(damping=1.2), [exact, variant], [path("hold:at=0,1.0", 2.0)])
    for row in found.rows:
        if row.variant is variant:
            assert row.figures is not None
            assert row.estimate is not None
            assert 0.9 * row.estimate < row.figures.max_tracking < 1.01 * row.estimate  # M changes


def test_drives_give_no_more_than_they_can_and_that_is_counted() -> None:
    weak = replace(ARM, links=(replace(ARM.links[0], torque_limit=100.0), ARM.links[1]))
    loop = loop_of(weak)
    assert loop.drive.limits == (100.0, 100.0)
    found = study(loop, [exact_of(ARM, loop.law)], [path("hold:at=0,0", 0.1)])
    first, second = found.rows
    assert first.figures is not None
    assert second.figures is not None
    assert found.recording.applied[:, 0].max() == 100.0
    assert first.figures.limited == np.count_nonzero(found.recording.wanted[:, 0] > 100)
    assert second.figures.limited == 0


@pytest.mark.parametrize("speeds", ["filtered", "difference"])
def test_encoders_count_and_speeds_are_differences_of_counts(speeds: str) -> None:
    loop = loop_of(encoder_bits=10, speeds=speeds, cutoff=10.0)
    told = study(loop, [LAW], [path()]).recording
    q, seen, found = told.q[:100, :, 0], told.seen[:100, :, 0], told.speeds[:100, :, 0]
    step = 2 * np.pi / 1024
    assert np.allclose(seen, np.round(q / step) * step, atol=1e-12)
    share = 1 - np.exp(-2 * np.pi * 10 / RATE) if speeds == "filtered" else 1.0
    for k in range(1, 100):
        plain = (seen[k] - seen[k - 1]) * RATE
        assert np.allclose(found[k], found[k - 1] + share * (plain - found[k - 1]), atol=1e-9)


def test_a_drive_is_the_files_unless_it_is_said_otherwise() -> None:
    def drive(robot: Robot, **more: Any) -> tuple[Any, ...]:
        found = LoopSettings(**more).loop(robot, "computed-torque").drive
        return found.rate, found.steps, found.limits, found.speeds

    links = tuple(replace(one, encoder_step=0.001, torque_limit=50.0) for one in ARM.links)
    robot = replace(ARM, links=links, control_rate=500.0)
    assert drive(robot) == (500.0, (0.001, 0.001), (50.0, 50.0), "filtered")
    assert drive(ARM) == (1000.0, (0.0, 0.0), (200.0, 100.0), "exact")
    found = drive(bc.load_robot("scara"), encoder_bits=12, speeds="difference", rate=250)
    assert found[1] == pytest.approx((2 * np.pi / 4096,) * 2 + (0.15 / 4096, 2 * np.pi / 4096))
    with pytest.raises(bc.UsageError, match="did you mean 'filtered'"):
        drive(ARM, speeds="filterd")
    with pytest.raises(bc.UsageError, match="below half the control rate"):
        drive(ARM, cutoff=500.0)


@pytest.mark.parametrize(("name", "wanted"), [
    ("machado-2r", [2 * np.pi - 5] * 2), ("scara", [-5, -5, -5, 2 * np.pi - 5]),
])  # fmt: skip
def test_joints_without_stops_go_the_short_way_round(name: str, wanted: list[float]) -> None:
    robot = bc.load_robot(name)
    law, zero = LoopSettings().loop(robot, "computed-torque").law, np.zeros((robot.joints, 1))
    e = law.signals(zero + 2.5, zero, (zero - 2.5, zero, zero), 0.0)["e"][:, 0]
    assert e == pytest.approx(wanted)


def test_a_loop_that_runs_away_is_given_up_and_the_others_go_on() -> None:
    exact = LAW
    strong = replace(ARM, links=tuple(replace(one, torque_limit=1e9) for one in ARM.links))
    away = Variant("python", None, Called(lambda q, **_: q * 0 + 1e8, "away"))
    found = study(loop_of(strong), [exact, away], [path()])
    lost = [row for row in found.rows if row.variant is away]
    kept = [row for row in found.rows if row.variant is exact]
    assert all(row.figures is None and "lost after" in row.note for row in lost)
    assert all(row.figures is not None and row.figures.max_tracking < 1e-3 for row in kept)


def test_friction_of_the_file_is_made_good_where_it_is_asked_for() -> None:
    rough = replace(
        ARM, links=tuple(replace(one, viscous_friction=30.0, coulomb_friction=(2.0, 2.0))
                         for one in ARM.links)
    )  # fmt: skip
    worst = []
    for how in ("uncompensated", "compensated"):
        loop = loop_of(rough, friction=how)
        found = study(loop, [exact_of(rough, loop.law)], [path()])
        worst.append(max(x.figures.max_tracking for x in found.rows if x.figures))
    assert worst[1] < worst[0] / 20
