"""Executors: the same results in the same order, whichever runs the calls; lost workers."""

import os
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import boolcomp as bc
from boolcomp.base import Processes, WorkerLostError, executor

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


@pytest.mark.parametrize("where", WAYS)
def test_sentences_of_errors_arrive_as_they_were_raised(where: str) -> None:
    with executor(where) as pool:
        future = pool.submit(executor, "procesess:2")
        with pytest.raises(bc.UsageError, match="did you mean 'processes:2'"):
            future.result()


def test_nothing_is_called_in_this_process_before_it_is_asked_for() -> None:
    called: list[int] = []
    with executor("here") as pool:
        results = pool.map(called.append, [1, 2])
        assert not called
        next(results)
    assert called == [1]


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


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", '{"address": 7}', "{}", "tcp://here"])
def test_what_is_no_scheduler_file_is_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / "scheduler.json").write_text(text)
    with pytest.raises(bc.DataError, match=r"scheduler\.json: "):
        executor(str(tmp_path / "scheduler.json"))


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


def test_dask_is_imported_only_where_it_is_used() -> None:
    text = (
        "import sys\nfrom boolcomp.base.workers import executor\n"
        "with executor('processes:1') as pool: pool.submit(abs, 1).result()\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed')])"
    )
    ended = subprocess.run(
        [sys.executable, "-P", "-c", text], capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"


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
