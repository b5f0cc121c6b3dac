"""Problems: names, groups and arrays, and what is wrong with them as sentences."""

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from limited import with_ranges
from samples import problem_of

import boolcomp as bc
from boolcomp.problem import Group, Problem, name_order

ARM = problem_of("machado-2r")


def test_an_input_has_a_name_a_unit_and_a_range() -> None:
    assert str(ARM.input("q1")) == "q1 in -pi .. pi rad"
    assert str(ARM.input("qdd2")) == "qdd2 in -1 .. 1 rad/s²"
    first, second = ARM.outputs
    assert (str(first), str(second)) == ("tau1 in -200 .. 200 N·m", "tau2 in -100 .. 100 N·m")
    assert (first.symbol, first.title, first.noun) == ("T1", "torque 1", "torque")
    with pytest.raises(
        bc.UsageError, match=r"unknown input 'qdd'; did you mean 'qdd2' or 'qdd1'\?"
    ):
        ARM.input("qdd")


@pytest.mark.parametrize(("given", "message"), [
    ({"q": 8, "qd": 8, "qdd": 8, "q3": 9}, r"unknown input 'q3'; did you mean 'q'\?"),
    ({"q": 8, "qd": 8}, "bits of qdd are missing"),
    ({"q": 8, "qd": 8, "qdd1": 8}, "bits of qdd are missing"),
    ({}, "bits of q are missing"),
])  # fmt: skip
def test_words_that_are_unknown_or_missing_are_sentences(
    given: dict[str, int], message: str
) -> None:
    with pytest.raises(bc.UsageError, match=message):
        ARM.by_input(given)


def test_a_words_own_width_goes_before_that_of_its_group() -> None:
    widths = ARM.by_input({"q": 9, "qd": 7, "qdd1": 5, "qdd2": 4, "q2": 8})
    assert widths == {"q1": 9, "q2": 8, "qd1": 7, "qd2": 7, "qdd1": 5, "qdd2": 4}
    assert list(widths) == [one.name for one in ARM.inputs]


@pytest.mark.parametrize(("change", "said"), [
    ({"groups": ARM.groups[:2]}, "groups do not hold every input once, in order"),
    ({"groups": (ARM.groups[1], ARM.groups[0], ARM.groups[2])}, "do not hold every input once"),
    ({"groups": (Group("q", ("q2", "q1")), *ARM.groups[1:])}, "do not hold every input once"),
    ({"groups": (*ARM.groups, ARM.groups[0])}, "do not hold every input once"),
    ({"inputs": ARM.inputs[:1] * 2, "groups": (Group("q", ("q1", "q1")),)}, "every input once"),
    ({"returned": Group("tau", ("tau2", "tau1"))}, "the group of outputs does not hold them in"),
])  # fmt: skip
def test_groups_hold_every_name_once_and_in_order(change: Any, said: str) -> None:
    with pytest.raises(bc.UsageError, match=said):
        replace(ARM, **change)


def test_arrays_of_groups_columns_by_name_and_states_are_the_same_numbers() -> None:
    arrays = ARM.draw(50, 3)
    states = np.concatenate(arrays, axis=1)
    assert [array.shape for array in arrays] == [(50, 2)] * 3
    assert all(map(np.array_equal, ARM.arrays(states), arrays))
    columns = ARM.columns(arrays)
    assert list(columns) == [one.name for one in ARM.inputs]
    assert np.array_equal(np.stack(list(columns.values()), axis=1), states)
    columns["qd2"][:] = 7.0  # a column is a view
    assert (arrays[1][:, 1] == 7.0).all()
    assert np.array_equal(ARM.exact(states), ARM.reference(*ARM.arrays(states)))


def test_drawn_states_lie_within_the_ranges_and_are_seeded() -> None:
    problem = problem_of(with_ranges("machado-2r", q1=(0.3, 1.4), qdd2=(0.25, 0.25)))
    low, high = problem.bounds()
    states = np.concatenate(problem.draw(1000, 1), axis=1)
    assert (states >= low).all()
    assert (states <= high).all()
    assert (states[:, 5] == 0.25).all()
    assert np.array_equal(states, np.concatenate(problem.draw(1000, 1), axis=1))
    assert not np.array_equal(states, np.concatenate(problem.draw(1000, 2), axis=1))


def test_a_problem_is_equal_by_its_key_and_can_be_sent_to_another_process() -> None:
    sent: Problem = pickle.loads(pickle.dumps(ARM))  # noqa: S301  # our own bytes
    states = np.concatenate(ARM.draw(5, 0), axis=1)
    assert sent == ARM == problem_of("machado-2r")
    assert hash(sent) == hash(ARM)
    assert np.array_equal(sent.exact(states), ARM.exact(states))
    assert replace(ARM, key="another") != ARM != problem_of("planar-3r")


def test_names_sort_by_letters_and_then_by_number() -> None:
    names = ["q10", "qd1", "q2", "height", "q1"]
    assert sorted(names, key=name_order) == ["height", "q1", "q2", "q10", "qd1"]
