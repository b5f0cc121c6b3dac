"""Values that many calls are given: unpickled once by every worker, and never mixed up."""

import pickle
import threading

import pytest

import boolcomp as bc
from boolcomp.base import ALONE, TWO, SharedValue


def sent(value: object) -> SharedValue:
    """Return a value as a worker gets it."""
    found = pickle.loads(pickle.dumps(SharedValue(value)))  # noqa: S301 (made here)
    assert isinstance(found, SharedValue)
    return found


def test_equal_values_are_the_same_one_to_a_worker_and_others_are_others() -> None:
    first, again, other = sent([1, 2, 3]), sent([1, 2, 3]), sent([1, 2, 4])
    assert first.value is again.value
    assert (first.value, other.value) == ([1, 2, 3], [1, 2, 4])


def test_threads_of_one_process_have_values_of_their_own() -> None:
    mine, theirs = sent({"a": 1}).value, []
    thread = threading.Thread(target=lambda: theirs.append(sent({"a": 1}).value))
    thread.start()
    thread.join()
    assert theirs == [mine]
    assert theirs[0] is not mine


@pytest.mark.parametrize("workers", [ALONE, TWO])
def test_calls_are_given_the_value_itself(workers: bc.Workers) -> None:
    value = SharedValue((5, 7))
    assert list(workers.in_order(divmod, [(SharedValue(k), 3) for k in (7, 8)])) == [(2, 1), (2, 2)]
    assert list(workers.in_order(sum, [(value,), (value,)])) == [12, 12]
