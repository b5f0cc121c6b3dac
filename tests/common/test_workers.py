"""Where work is done: the same results from all, workers that stay, and nothing started in vain."""

import os
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import boolcomp as bc
from boolcomp.base import ALONE, TWO


def test_workers_stay_from_step_to_step_of_a_block_and_end_with_it() -> None:
    with TWO.opened() as workers, workers.opened() as again:
        first = set(workers.in_order(os.getpid, [()] * 8))
        assert set(again.in_order(os.getpid, [()] * 8)) == first
        assert os.getpid() not in first
    for number in first:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_nothing_is_started_for_one_call_or_none() -> None:
    absent = bc.Workers("tcp://127.0.0.1:9")  # nobody answers there
    with absent.opened() as workers:
        assert list(workers.in_order(os.getpid, [()])) == [os.getpid()]
        assert list(workers.completed(os.getpid, [])) == []


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
    ("processes", "cluster", "where"),
    [
        (None, None, "here"),
        (1, None, "here"),
        (3, None, "processes:3"),
        (None, "local:2", "local:2"),
    ],
)
def test_processes_or_a_cluster_are_said(
    processes: int | None, cluster: str | None, where: str
) -> None:
    assert bc.Workers.of(processes, cluster).where == where


@pytest.mark.parametrize(
    ("processes", "cluster", "said"),
    [
        (2, "local:2", "processes and a cluster exclude each other; give one of them"),
        (0, None, "1 to 256"),
        (257, None, "1 to 256"),
        (None, "locl:2", "did you mean 'local:2'"),
        (None, SimpleNamespace(), "a SimpleNamespace cannot run calls; give here, processes:4,"),
    ],
)
def test_a_wrong_place_is_a_sentence_before_any_work(
    processes: int | None, cluster: object, said: str
) -> None:
    with pytest.raises(bc.UsageError, match=said):
        bc.Workers.of(processes, cluster)
