"""Loops: against an independent simulation; sensors, limits, rest, runs side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from control.textbook import moved, torques

from boolcomp.common.errors import UsageError
from boolcomp.measure.control.blocks import Called, planned
from boolcomp.measure.control.drive import Drive, Sensors, drive_of
from boolcomp.measure.control.laws import law_of
from boolcomp.measure.control.loop import Loop
from boolcomp.measure.control.plant import plant_of
from boolcomp.measure.control.recorded import friction
from boolcomp.measure.control.study import study
from boolcomp.measure.control.trajectories import Trajectory, trajectory_of
from boolcomp.measure.control.variants import Variant, exact_of
from boolcomp.paper.plan import Options, make_plan
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import Robot, load_robot
from boolcomp.terms import split

ARM = load_robot("machado-2r")
RATE = 200.0


def loop_of(robot: Robot = ARM, kind: Any = "computed-torque", **more: Any) -> Loop:
    law = law_of(robot, kind, np.array([20.0, 9.0]), 8.0, more.pop("damping", 0.7))
    return Loop(plant_of(robot), drive_of(robot, **{"rate": RATE, **more}), law)


def path(text: str = "sine", seconds: float = 0.5) -> Trajectory:
    return trajectory_of(ARM, text, seconds, RATE)


def four_bits() -> Variant:
    plan = make_plan(split(inverse_dynamics_problem(ARM)).required(), Options(6))
    return Variant("paper", 6, planned(plan), steps=tuple(x.code.step for x in plan.outputs))


def test_a_loop_does_what_a_textbook_loop_does() -> None:
    loop, way = loop_of(), path()
    found = loop.simulate([exact_of(ARM, loop.law).block], [way])  # type: ignore[list-item]
    state = np.concatenate([way.q[0], way.qd[0]])
    for k in range(40):
        assert np.abs(found.q[k, :, 0] - state[:2]).max() < 1e-9
        e, de = way.q[k] - state[:2], way.qd[k] - state[2:]
        torque = torques(state[:2], state[2:], way.qdd[k] + 64 * e + 2 * 0.7 * 8 * de)
        assert np.abs(found.applied[k, :, 0] - torque).max() < 1e-6
        state = moved(state, torque, 1 / RATE)


def test_a_gravity_loop_pulls_with_the_inertias_that_joints_feel() -> None:
    loop, way = loop_of(kind="pd-gravity"), path("point:from=0,0:to=.05,.02:time=.3")
    found = loop.simulate([exact_of(ARM, loop.law).block], [way])  # type: ignore[list-item]
    state = np.concatenate([way.q[0], way.qd[0]])
    for k in range(30):
        e, de = way.q[k] - state[:2], way.qd[k] - state[2:]
        pull = np.array([20.0, 9.0]) * (64 * e + 2 * 0.7 * 8 * de)
        state = moved(state, torques(state[:2], np.zeros(2), np.zeros(2)) + pull, 1 / RATE)
        assert np.abs(found.q[k + 1, :, 0] - state[:2]).max() < 1e-8


def test_what_runs_together_does_not_matter() -> None:
    loop, blocks = loop_of(), (exact_of(ARM, loop_of().law), four_bits())
    ways = (path(), path("hold", 0.2))
    together = study(loop, blocks, ways)
    for way in ways:
        for block in blocks:
            alone = study(loop, [block], [way]).recording
            column = together.recording.run(blocks.index(block), ways.index(way))
            assert np.array_equal(alone.q[:, :, 0], together.recording.q[: way.own, :, column])


def test_figures_are_those_of_the_recording() -> None:
    loop, way = loop_of(), path()
    found = study(loop, [exact_of(ARM, loop.law), four_bits()], [way])
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
    exact = exact_of(ARM, loop_of().law)
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


def test_no_estimate_is_made_where_words_end_or_drives_do() -> None:
    exact = exact_of(ARM, loop_of().law)
    variant = Variant("x", 8, exact.block, bounds=(1.0, 1.0), spans={("qd", 0): (-0.01, 0.01)})
    first, second = study(loop_of(), [exact, variant], [path()]).rows[2:]
    assert first.figures is not None
    assert first.figures.outside > 0
    assert first.estimate is None
    assert second.estimate is not None


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


def test_encoders_count_and_speeds_are_filtered_differences() -> None:
    drive = Drive(100.0, (0.1, 0.0), (1.0, 1.0), "filtered", 10.0)
    state = np.array([[0.26], [0.26], [1.0], [1.0]])
    sensors = Sensors(drive, state)
    q, qd = sensors.seen(state)
    assert q[:, 0] == pytest.approx([0.3, 0.26])
    assert qd[:, 0] == pytest.approx([1.0, 1.0])
    state[:2] += 0.1
    q, qd = sensors.seen(state)
    share = 1 - np.exp(-2 * np.pi * 10 / 100)
    assert q[:, 0] == pytest.approx([0.4, 0.36])
    assert qd[:, 0] == pytest.approx([1 + share * 9, 1 + share * 9])
    plain = Sensors(replace(drive, speeds="difference"), state)
    state[:2] += 0.1
    plain.seen(state - [[0.1], [0.1], [0], [0]])
    assert plain.seen(state)[1][:, 0] == pytest.approx([10.0, 10.0])


def test_a_drive_is_the_files_unless_it_is_said_otherwise() -> None:
    links = tuple(replace(one, encoder_step=0.001, torque_limit=50.0) for one in ARM.links)
    robot = replace(ARM, links=links, control_rate=500.0)
    assert drive_of(robot) == Drive(500.0, (0.001, 0.001), (50.0, 50.0), "filtered")
    assert drive_of(ARM) == Drive(1000.0, (0.0, 0.0), (200.0, 100.0), "exact")
    found = drive_of(load_robot("scara"), encoder_bits=12, speeds="difference", rate=250)
    assert found.steps == pytest.approx((2 * np.pi / 4096,) * 2 + (0.15 / 4096, 2 * np.pi / 4096))
    with pytest.raises(UsageError, match="did you mean 'filtered'"):
        drive_of(ARM, speeds="filterd")
    with pytest.raises(UsageError, match="below half the control rate"):
        drive_of(ARM, cutoff=500.0)


def test_joints_without_stops_go_the_short_way_round() -> None:
    law = law_of(ARM, "computed-torque", np.ones(2), 10.0, 1.0)
    zero = np.zeros((2, 1))
    signals = law.signals(zero + 3.0, zero, (zero - 3.0, zero, zero), 0.0)
    assert signals["e"][:, 0] == pytest.approx([2 * np.pi - 6] * 2)
    assert signals["qdd"][:, 0] == pytest.approx([100 * (2 * np.pi - 6)] * 2)
    scara = load_robot("scara")
    stops = law_of(scara, "computed-torque", np.ones(4), 10.0, 1.0)
    zero = np.zeros((4, 1))
    e = stops.signals(zero + 2.5, zero, (zero - 2.5, zero, zero), 0.0)["e"][:, 0]
    assert e == pytest.approx([-5, -5, -5, 2 * np.pi - 5])


def test_a_loop_that_runs_away_is_given_up_and_the_others_go_on() -> None:
    exact = exact_of(ARM, loop_of().law)
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
    for added in (None, friction(rough)):
        loop = replace(loop_of(rough), friction=added)
        found = study(loop, [exact_of(rough, loop.law)], [path()])
        worst.append(max(x.figures.max_tracking for x in found.rows if x.figures))
    assert worst[1] < worst[0] / 20
