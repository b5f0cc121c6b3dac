"""A tree of joints goes through all stages as a chain does; what cannot take one says so."""

from dataclasses import replace

import docblocks
import numpy as np
import pytest
from samples import branched_robot, by_name, problem_of, random_states, terms_of

import boolcomp as bc
from boolcomp.parallel import straight_line
from boolcomp.problem import Pose, Robot, parse_robot


def two_arms() -> Robot:
    """Return the tree of the page on robot files."""
    return parse_robot(
        docblocks.files(docblocks.DOCS / "reference" / "robot-file.md")["two-arms.toml"]
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_terms_of_a_tree_add_up_to_its_torques(seed: int) -> None:
    robot = branched_robot(seed, 4)
    states = random_states(robot, 50, seed)
    expected = bc.inverse_dynamics(robot, *states)
    for output, terms in enumerate(terms_of(robot).outputs):
        found = sum(term.evaluate(by_name(*states)) for term in terms)
        scale = 1 + np.abs(expected).max()
        assert np.allclose(found, expected[:, output], rtol=0, atol=1e-9 * scale)


def test_arms_that_share_no_trunk_have_the_terms_of_each_alone() -> None:
    """Two arms on the base: no torque of the one reads a joint of the other."""
    texts = [str(bc.load_robot("machado-2r")), str(bc.load_robot("planar-3r"))]
    head, *joints = texts[0].split("[[joint]]\n")
    first, *more = texts[1].split("[[joint]]\n")[1:]
    sections = [*joints, f"parent = 0\n{first}", *more]
    both = parse_robot(head + "".join(f"[[joint]]\n{section}" for section in sections))
    assert both.parents == (0, 1, 0, 3, 4)
    alone = [str(term) for output in terms_of("machado-2r").outputs for term in output]
    shared = [str(term) for output in terms_of(both).outputs for term in output]
    assert shared[: len(alone)] == alone
    assert len(shared) == len(alone) + sum(map(len, terms_of("planar-3r").outputs))


def test_torques_of_joints_side_by_side_are_no_parts_of_each_other() -> None:
    assert problem_of(two_arms()).parts == ()
    with pytest.raises(bc.UsageError, match=r"two-arms is a tree of joints .* supports chains"):
        straight_line("newton-euler", two_arms())


@pytest.mark.check
def test_a_tree_askew_compiles_in_both_modes_and_errs_as_it_says() -> None:
    robot = replace(two_arms(), base=Pose((0.0, 0.0, 0.0), (0.5, 0.0, 0.0)))
    q = np.clip(random_states(robot, 4000, 1)[0], -3, 3)
    for made in (
        bc.compile(robot, bits=4, mode="paper", of="gravity"),
        bc.compile(robot, bits=4, of="gravity", effort=0, processes=1),
    ):
        steps = [one.code.step for one in made.loads[0].outputs]
        errors = (made.torques(q) - bc.inverse_dynamics(robot, q, 0, 0)) / steps
        assert np.sqrt((errors**2).mean(axis=0)).max() < 0.6
