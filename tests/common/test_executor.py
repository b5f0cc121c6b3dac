"""Executors: the same results in the same order, whichever runs the calls; lost workers."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import boolcomp as bc
from boolcomp.base import ALONE, TWO, Processes, SharedValue, WorkerLostError, executor

WAYS = ["here", "processes:2"]


@pytest.mark.parametrize("where", WAYS)
def test_results_come_in_the_order_of_the_calls(where: str) -> None:
    calls = [(k, 2) for k in range(40)]
    assert list(bc.Workers(where).in_order(pow, calls)) == [k * k for k in range(40)]
    with executor(where) as pool:
        assert list(pool.map(pow, range(3), [2] * 3)) == [0, 1, 4]


@pytest.mark.parametrize("where", WAYS)
def test_the_first_error_in_the_order_of_the_calls_is_raised(where: str) -> None:
    with pytest.raises(ValueError, match="'x'"):
        list(bc.Workers(where).in_order(int, [("1",), ("x",), ("2",), ("y",)]))


class Counting(Executor):
    """Runs at once, and knows how many calls were submitted."""

    ahead = 3
    submitted = 0

    def submit(self, function: Any, /, *given: Any, **named: Any) -> Future[Any]:
        """Count and call."""
        self.submitted += 1
        made: Future[Any] = Future()
        made.set_result(function(*given, **named))
        return made


def test_no_more_calls_are_under_way_than_workers_have_use_for() -> None:
    pool = Counting()
    assert next(bc.Workers(pool).completed(abs, [(-1,)] * 1000)) == (0, 1)
    assert pool.submitted == 3


def test_a_call_that_kills_every_worker_is_given_up_and_the_others_go_on() -> None:
    with Processes(2) as pool:
        deadly = pool.submit(os._exit, 3)
        assert list(pool.map(abs, [0, -7])) == [0, 7]
        with pytest.raises(WorkerLostError, match=r"3 worker processes died .*exit code 3"):
            deadly.result()


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("hre", "did you mean 'here'"),
        ("local:0", "1 to 256"),
        ("processes:many", "1 to 256"),
        ("nowhere.json", "no such scheduler file"),
        (7, r"a int cannot run calls; give here, processes:4, local:4 \(Dask"),
    ],
)
def test_a_wrong_place_is_a_sentence_with_what_is_allowed(where: object, said: str) -> None:
    with pytest.raises((bc.UsageError, bc.DataError), match=said):
        executor(where)


def test_without_dask_a_cluster_is_a_sentence_that_says_what_to_install() -> None:
    text = (
        "import sys; sys.modules['distributed'] = None\n"
        "from boolcomp.base.workers import executor\n"
        "executor('local:2')"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=False
    )
    assert "UsageError: clusters need Dask; pip install 'boolcomp[cluster]'" in ended.stderr


def test_calls_that_nobody_waits_for_are_cancelled(tmp_path: Path) -> None:
    pipe, third = tmp_path / "pipe", tmp_path / "third"
    os.mkfifo(pipe)
    texts = ("pass", f"open({str(pipe)!r}).read()", f"open({str(third)!r}, 'w')")
    with Processes(1) as pool:
        pool.ahead = 3
        following = bc.Workers(pool).completed(exec, [(text,) for text in texts])
        next(following)
        with pipe.open("w"):  # opens when the worker is in the middle of the second call
            following.close()  # type: ignore[attr-defined]  # a generator
    assert not third.exists()


def test_workers_stay_from_step_to_step_of_a_block_and_end_with_it() -> None:
    with TWO.opened() as workers, workers.opened() as again:
        first = set(workers.in_order(os.getpid, [()] * 8))
        assert set(again.in_order(os.getpid, [()] * 8)) == first
        assert os.getpid() not in first
    for number in first:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


class Many(Sequence[tuple[Any, ...]]):
    """More calls than anybody's memory holds."""

    def __len__(self) -> int:
        return 10**15

    def __getitem__(self, place: Any) -> Any:
        return (place,)


@pytest.mark.parametrize("workers", [ALONE, TWO])
def test_calls_are_made_when_it_is_their_turn(workers: bc.Workers) -> None:
    found = workers.in_order(abs, Many())
    assert [next(found) for _ in range(5)] == [0, 1, 2, 3, 4]
    found.close()  # type: ignore[attr-defined]  # a generator


@pytest.mark.parametrize(
    ("processes", "cluster", "said"),
    [
        (2, "local:2", "exclude each other; give one of them"),
        (0, None, "1 to 256"),
        (257, None, "1 to 256"),
        (None, "locl:2", "did you mean 'local:2'"),
        (None, SimpleNamespace(), "a SimpleNamespace cannot run calls; give here"),
    ],
)
def test_a_wrong_place_is_a_sentence_before_any_work(
    processes: int | None, cluster: object, said: str
) -> None:
    with pytest.raises(bc.UsageError, match=said):
        bc.Workers.of(processes, cluster)


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
