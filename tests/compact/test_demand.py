"""What a user may choose of compact mode."""

from __future__ import annotations

from typing import Any

import pytest
from samples import problem_of

from boolcomp.common.choices import widths
from boolcomp.common.errors import UsageError
from boolcomp.compact.demand import Demand, Progress, digest
from boolcomp.problem.makers import gravity_problem
from boolcomp.problem.robot import load_robot


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"bits": 1}, "bits are 2 to 16"),
        ({"rms": (0.1,)}, "rounding alone"),
        ({"max": (0.4,)}, "rounding alone"),
        ({"effort": -1.0}, "effort"),
        ({"effort": float("nan")}, "effort"),
        ({"objective": "node"}, "did you mean"),
        ({"input_bits": {"q": 40}}, "input q of 40 bits"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Demand(**wrong)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rms": (0.5, 0.5, 0.5)}, "rms_error has 3 values"),
        ({"max": (2.0, 2.0, 3.0)}, "max_error has 3 values"),
        ({"input_bits": {"q": 8, "qd": 8, "qdd": 8, "q3": 9}}, "no input 'q3'"),
    ],
)
def test_what_does_not_suit_a_robot_is_refused(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Demand(**wrong).completed(problem_of("machado-2r"))


def test_single_words_may_have_widths_of_their_own() -> None:
    widths = {"q": 8, "qd": 8, "qdd1": 8, "qdd2": 6}
    assert Demand(input_bits=widths).completed(problem_of("machado-2r")).input_bits == widths


def test_words_that_are_not_named_have_the_usual_width() -> None:
    given = Demand(input_bits={"qd1": 7}, usual_input=9)
    assert given.completed(problem_of("machado-2r")).input_bits == {
        "q": 9, "qd": 9, "qdd": 9, "qd1": 7
    }  # fmt: skip


def test_a_digest_knows_every_choice_and_the_robot() -> None:
    two, three = problem_of("machado-2r"), problem_of("planar-3r")
    others = [
        Demand(bits=7), Demand(rms=(0.5,)), Demand(max=(3.0,)), Demand(saturate=True),
        Demand(seed=1), Demand(effort=1.0), Demand(objective="depth"),
        Demand(input_bits={"q": 9, "qd": 10, "qdd": 10}),
    ]  # fmt: skip
    digests = [digest(two, d) for d in (Demand(), *others)] + [digest(three, Demand())]
    assert len(set(digests)) == len(digests)
    swapped = {"qdd": 10, "qd": 10, "q": 10}
    assert digest(two, Demand(input_bits=swapped)) == digest(two, Demand())


def test_progress_is_a_line() -> None:
    text = str(Progress("refine", 700, (0.4, 0.55), 0.25))
    assert text == " 25% refine, best 700 nodes, rms 0.400 0.550"


def test_one_number_is_the_width_of_every_word_of_any_problem() -> None:
    given = Demand(input_bits=widths("input_bits", "7"))
    arm = load_robot("machado-2r")
    assert given.completed(gravity_problem(arm)).input_bits == {"q": 7}
    assert given.completed(problem_of(arm)).input_bits == {"q": 7, "qd": 7, "qdd": 7}
