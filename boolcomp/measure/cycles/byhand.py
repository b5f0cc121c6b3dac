"""Two parallel joints in fixed point, written by hand (`benchmarks/rivals/two_link_mcu.c`).

Its tables are made here, and the words that it is given: phases of 16 bits, bytes for speeds and
accelerations. What it must make is what the same C makes on this machine; how much that errs is
measured against the problem's reference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.bench.build import source
from boolcomp.measure.bench.two_link import QUARTER, TwoLink, two_link
from boolcomp.measure.cycles.design import Design, declared
from boolcomp.measure.cycles.onhost import outputs_of
from boolcomp.measure.cycles.words import JUDGED, in_steps

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.measure.cycles.subject import Subject
    from boolcomp.problem.robot.model import Robot

    Floats = NDArray[np.float64]
    Words = NDArray[np.int64]

HAND_NAME = "fixed point by hand"
HAND_FUNCTION = "two_link_mcu"
GIVEN = ("q1", "q2", "qd1", "qd2", "qdd1", "qdd2")
MADE = ("tau1", "tau2")
RATE, SPEED = 42, 63  # steps of an acceleration's and a speed's largest value: sums fit in bytes
BITS = 8  # of the words that it makes
ENTRIES = 256


def hand_design(subject: Subject, robot: Robot, deadline: float) -> Design | str:
    """Return the rival for a robot, or why it has none."""
    arm = two_link(robot)
    if isinstance(arm, str):
        return arm
    header = _header(arm)
    if header is None:
        return "its constants do not fit in bytes"
    if subject.problem is None or any(x.code.bits > BITS for x in subject.load.outputs):
        return f"it makes words of {BITS} bits"
    files = {
        f"{HAND_FUNCTION}.h": declared(HAND_FUNCTION, "int16_t", GIVEN, MADE) + header,
        f"{HAND_FUNCTION}.c": source(f"{HAND_FUNCTION}.c"),
    }
    states = np.hstack(subject.problem.draw(JUDGED, subject.seed))
    words = _hand_words(arm, states)
    bare = Design(HAND_NAME, HAND_FUNCTION, files, GIVEN, MADE, "int16_t", ())
    made = outputs_of(bare, words, deadline)
    ranges = np.array(arm.torques)
    values = (made + 0.5) * ranges / (ENTRIES // 2) - ranges
    errors = values - subject.problem.exact(states)
    rows = np.column_stack([words, made])[: subject.states].tolist()
    return Design(
        HAND_NAME, HAND_FUNCTION, files, GIVEN, MADE, "int16_t", tuple(map(tuple, rows)), (),
        in_steps(errors, subject.steps),
    )  # fmt: skip


def _hand_words(arm: TwoLink, states: Floats) -> Words:
    """Return the words of states."""
    turns = np.floor(states[:, :2] / (2 * np.pi) * 65536).astype(np.int64) & 0xFFFF
    phases = np.where(turns > 0x7FFF, turns - 0x10000, turns)
    speeds = np.rint(states[:, 2:4] / arm.speeds[0] * SPEED).astype(np.int64)
    rates = np.rint(states[:, 4:] / arm.rates[0] * RATE).astype(np.int64)
    return np.hstack([phases, speeds, rates])


def _header(arm: TwoLink) -> str | None:
    """Return tables and constants in units of the first range / 2^15, or None: they do not fit."""
    unit = arm.torques[0] / 2**15
    shift = round(float(np.log2(arm.torques[0] / arm.torques[1])))
    angle = (np.arange(ENTRIES) + 0.5) / ENTRIES * 2 * np.pi
    rate = unit * RATE / arm.rates[0]
    speed = unit * SPEED**2 / arm.speeds[0] ** 2 / 256
    half_2 = 0x8000 >> max(0, shift)
    weight_b = arm.weight_b * _wave(angle, arm.quarters_b) / unit + half_2
    weight_a = arm.weight_a * _wave(angle, arm.quarters_a) / unit + 0x8000 - half_2
    mass = np.rint((arm.d + arm.b * np.cos(angle)) / rate).astype(np.int64)
    turn = np.rint(arm.b * np.sin(angle) / speed).astype(np.int64)
    own = [round(arm.a / rate), round(arm.e / rate)]
    small = max(int(abs(x).max()) for x in (mass, turn, np.array(own))) < ENTRIES // 2
    if not (arm.equal_ranges and small and arm.torques[1] * 2**shift == arm.torques[0]):
        return None
    tables = {
        "WEIGHT_A": np.rint(weight_a).astype(np.int64) & 0xFFFF,
        "WEIGHT_B": np.rint(weight_b).astype(np.int64) & 0xFFFF,
        "MASS_TURN": (mass & 0xFF) | (turn & 0xFF) << 8,
    }
    lines = [f"#define {k} {', '.join(f'{x}U' for x in v.tolist())}" for k, v in tables.items()]
    lines += [f"#define OWN_1 {own[0]}", f"#define OWN_2 {own[1]}", f"#define SHIFT_2 {shift}"]
    return "\n".join([*lines, ""]) if shift >= 0 else None


def _wave(angle: Floats, quarters: int) -> Floats:
    return np.asarray(np.cos(angle + quarters * QUARTER))
