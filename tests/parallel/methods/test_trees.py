"""Tree-structured arms: subsystems give the equations of the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from samples import random_robot

from boolcomp.parallel.methods import symbolic, trees
from boolcomp.parallel.methods.symbolic import Equations
from boolcomp.problem.dynamics.tape import Tape
from boolcomp.problem.robot import Robot, load_robot

Maker = Callable[..., Equations]


if TYPE_CHECKING:
    from numpy.typing import NDArray


def values(maker: Maker, joints: int, *, solved: bool = False) -> NDArray[np.float64]:
    """Return M, k and q (or ÿ under unit torques) at some states."""
    tape = Tape()
    q, qd = ([tape.input(f"{name}{k}") for k in range(joints)] for name in ("q", "qd"))
    equations = maker(tape, q, qd)
    entries = [x for row in equations.mass for x in row]
    if solved:
        found = symbolic.accelerations(tape, equations, [tape.constant(1.0)] * joints)
    else:
        found = [*entries, *equations.k, *equations.q]
    program = tape.finish([(f"x{k}", x) for k, x in enumerate(found)])
    state = np.random.default_rng(4).uniform(-1, 1, size=(2 * joints, 5))
    return np.stack(program.evaluate(list(state)))


def tree() -> trees.Tree:
    return trees.Tree("y", random_robot(1, 2), (load_robot("machado-2r"), random_robot(2, 2)))


@pytest.mark.parametrize("solved", [False, True])
def test_subsystems_give_the_equations_and_accelerations_of_the_whole(*, solved: bool) -> None:
    whole = values(lambda *a: trees.equations(tree(), *a), 6, solved=solved)
    parts = values(lambda *a: trees.subsystem_equations(tree(), *a), 6, solved=solved)
    assert np.allclose(whole, parts, rtol=1e-10, atol=1e-10)
    assert abs(whole).max() > 0.1


@pytest.mark.parametrize("maker", [trees.equations, trees.subsystem_equations])
def test_a_chain_cut_in_two_is_the_chain(maker: Callable[..., Equations]) -> None:
    robot = load_robot("stanford")
    cut = trees.Tree("cut", shortened(robot, 0, 3), (shortened(robot, 3, 6),))

    def chain(tape: Tape, q: list[object], qd: list[object]) -> Equations:
        return symbolic.assemble(tape, symbolic.bodies_of(robot, tape, q, qd), 6)

    expected = values(chain, 6)
    found = values(lambda *a: maker(cut, *a), 6)
    assert np.allclose(expected, found, rtol=1e-10, atol=1e-9)


def shortened(robot: Robot, start: int, end: int) -> Robot:
    return replace(robot, links=robot.links[start:end])


def test_branches_do_not_wait_for_one_another() -> None:
    tape = Tape(shared=False)
    q, qd = ([tape.input(f"{name}{k}") for k in range(6)] for name in ("q", "qd"))
    equations = trees.subsystem_equations(tree(), tape, q, qd)
    program = tape.finish([(f"k{k}", x) for k, x in enumerate(equations.k)])
    seen = set()
    for node in program.nodes:
        own = branch(node.task)
        seen.add(own)
        others = {branch(program.nodes[k].task) for k in node.operands} - {own}
        assert own == "" or others <= {""}, node
    assert seen == {"", "1", "2"}


def branch(task: str) -> str:
    """Return the branch that a task belongs to, as in `J/2.1` and `2.M/7`; the trunk is none."""
    head, dot, _ = task.rpartition("/")[2].partition(".") if "/" in task else ("", "", "")
    if not dot:
        head, dot, _ = task.partition(".")
    return head if dot else ""


def test_joints_of_independent_branches_do_not_meet_in_m() -> None:
    tape = Tape()
    q, qd = ([tape.input(f"{name}{k}") for k in range(6)] for name in ("q", "qd"))
    equations = trees.equations(tree(), tape, q, qd)
    program = tape.finish([("apart", equations.entry(4, 2)), ("meet", equations.entry(4, 1))])
    apart, meet = (program.nodes[output.node] for output in program.outputs)
    assert (apart.kind, apart.value) == ("constant", 0.0)
    assert meet.kind != "constant"


def test_a_tree_says_what_it_is() -> None:
    assert str(tree()) == "tree y: random-1 (2), on it machado-2r (2), random-2 (2)"
    assert tree().starts == (2, 4)
