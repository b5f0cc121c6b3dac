"""Rotations and steps: as the general text has them, and as one would write them for an arm."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import random_link

from boolcomp.parallel.methods import joints
from boolcomp.problem.dynamics.vectors import Matrix3, Vector
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.robot import load_robot

if TYPE_CHECKING:
    from numpy.typing import NDArray


def value(parts: list[object], tape: Tape, at: float) -> NDArray[np.float64]:
    program = tape.finish([(str(k), x) for k, x in enumerate(parts)])
    return np.array(program.evaluate([at]))


def entries(m: Matrix3) -> list[object]:
    return [x for row in m.rows for x in (row.x, row.y, row.z)]


@pytest.mark.parametrize("seed", range(4))
def test_known_and_general_forms_agree(seed: int) -> None:
    link = random_link(np.random.default_rng(seed))
    tape = Tape()
    q = tape.input("q")
    general = value(entries(joints.rotation_of(link, tape, q)), tape, 0.7)
    known = value(entries(joints.known_rotation(link, tape, q)), tape, 0.7)
    assert np.allclose(general, known, atol=1e-15)
    rows = general.reshape(3, 3)
    assert np.allclose(rows @ rows.T, np.eye(3), atol=1e-12)
    steps = [f(link, tape, q) for f in (joints.step_of, joints.known_step)]
    found = [value([s.x, s.y, s.z], tape, 0.7) for s in steps]
    assert np.allclose(found[0], found[1], atol=1e-15)


def test_going_back_and_forth_is_standing_still() -> None:
    link = random_link(np.random.default_rng(9))
    tape = Tape()
    rotation = joints.known_rotation(link, tape, tape.input("q"))
    v = joints.constants(tape, (1.0, -2.0, 3.0))
    w = joints.back(rotation, joints.forth(rotation, v))
    assert np.allclose(value([w.x, w.y, w.z], tape, 0.4), (1, -2, 3))


def test_right_angled_twists_need_no_products() -> None:
    for link in load_robot("puma560").links:
        tape = Tape(fold=False)
        joints.known_rotation(link, tape, tape.input("q"))
        v = Vector(*(tape.input(name) for name in "xyz"))
        joints.along_axis(link, tape, v)
        assert tape.finish([], prune=False).operations.multiplications == 0
