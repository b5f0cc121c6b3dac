"""Several processes give the results of one, whatever befalls them, and leave nothing behind."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_programs import compact, same, stages
from waiting import running, until, until_gone

from boolcomp.base import DataError, UsageError
from boolcomp.scale import ProcessPool, deal_terms, make_shares, terms_of

Samples = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]

PROGRAM = stages(4)[2]
SIZES = (0, 1, 513, 100_003)
OPEN = Path("/proc/self/fd")
SHM = Path("/dev/shm")  # noqa: S108 (only looked at)


def samples(count: int, dtype: Any = np.float64) -> Samples:
    """Return samples of which some are out of range."""
    rng = np.random.default_rng(count)
    q, qd, qdd = (rng.uniform(-x, x, (count, 2)).astype(dtype) for x in (3.3, 1.01, 1.01))
    return q, qd, qdd


@contextmanager
def nothing_left() -> Iterator[None]:
    """Check that the descriptors and the shared memory are those of before."""
    files, shared = len(list(OPEN.iterdir())), shared_memory()
    yield
    assert len(list(OPEN.iterdir())) == files
    until(lambda: shared_memory() <= shared)  # other programs may use it for a moment


def shared_memory() -> set[Path]:
    """Return the names of shared memory; folders there are other programs' temporary ones."""
    return {path for path in SHM.iterdir() if not path.is_dir()}


SHARDINGS = ("samples", "terms", "pipeline")
FAST = [("samples", "numpy"), ("terms", "numpy"), ("pipeline", "llvm")]
SLOW = [("terms", "llvm"), ("pipeline", "numpy")]
ALL = [*FAST, *(pytest.param(kind, marks=pytest.mark.check) for kind in SLOW)]


@pytest.fixture(scope="module", params=ALL)
def pool(request: pytest.FixtureRequest, own_cache: None) -> Iterator[ProcessPool]:  # noqa: ARG001
    shard, engine = request.param
    with ProcessPool(PROGRAM, 2, shard=shard, engine=engine) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("count", SIZES)
def test_all_shardings_give_the_results_of_one_process(pool: ProcessPool, count: int) -> None:
    arrays = samples(count)
    assert same(pool.evaluate(*arrays), PROGRAM.evaluate(*arrays))


@pytest.mark.slow
def test_single_precision_and_code_words_give_the_results_of_one_process(
    pool: ProcessPool,
) -> None:
    single = samples(1000, np.float32)
    assert same(pool.evaluate(*single), PROGRAM.evaluate(*single))
    words = tuple(np.random.default_rng(1).integers(0, 4, (3, 1000, 2), np.uint32))
    assert same(pool.evaluate_words(*words), PROGRAM.evaluate_words(*words))
    assert pool.torques([0.1, 0.2], 0.0, 0.0).shape == (2,)


def test_arrays_of_the_pool_are_used_where_they_are(pool: ProcessPool) -> None:
    arrays = pool.arrays(3001)
    for shared, own in zip(arrays, samples(3001), strict=True):
        shared[:] = own
    assert same(pool.evaluate(*arrays), PROGRAM.evaluate(*arrays))
    some = tuple(array[10:2999] for array in arrays)
    assert same(pool.evaluate(*some), PROGRAM.evaluate(*some))
    first = tuple(array[:2990] for array in arrays)  # ends in the same group of 64 rows
    assert same(pool.evaluate(*first), PROGRAM.evaluate(*first))
    for shared, own in zip(arrays, samples(3001), strict=True):
        assert np.array_equal(shared, own)


def test_values_that_are_not_finite_are_named_and_the_pool_goes_on(pool: ProcessPool) -> None:
    arrays = samples(70_000)
    before = pool.processes
    arrays[1][68_000, 1] = np.nan
    with pytest.raises(DataError, match="qd2 of sample 68000 is nan, not a finite number"):
        pool.evaluate(*arrays)
    assert pool.processes == before
    assert same(pool.evaluate(*samples(100)), PROGRAM.evaluate(*samples(100)))


@pytest.mark.slow
def test_workers_killed_in_the_middle_of_batches_are_replaced_and_nothing_is_lost(
    pool: ProcessPool,
) -> None:
    arrays = samples(100_003)
    wanted = PROGRAM.evaluate(*arrays)
    before = pool.processes
    # Stopped first: so they surely die before they have finished.
    for victim in before:
        os.kill(victim, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as thread, sent_jobs(pool) as sent:
        found = thread.submit(pool.evaluate, *arrays)
        sent.wait()
        for victim in before:
            os.kill(victim, signal.SIGKILL)
    assert same(found.result(), wanted)
    until_gone(*before)
    assert len(set(pool.processes)) == 2


@contextmanager
def sent_jobs(pool: ProcessPool) -> Iterator[threading.Event]:
    """Provide an event that is set when the workers of a pool have been given a batch."""
    team: Any = pool._team  # noqa: SLF001 (nothing public tells)
    sent, call = threading.Event(), team.call

    def telling(function: Any, given: Any, meanwhile: Any) -> Any:
        def after() -> None:
            meanwhile()
            sent.set()

        return call(function, given, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(team, "call", telling)
        yield sent


@pytest.mark.slow
@pytest.mark.parametrize("shard", SHARDINGS)
def test_a_closed_pool_leaves_nothing_behind_and_its_results_stay(shard: Any) -> None:
    with nothing_left():
        with ProcessPool(PROGRAM, 2, shard=shard, engine="numpy") as pool:
            processes = pool.processes
            found = pool.evaluate(*samples(1000))
        assert not any(map(running, processes))
        with pytest.raises(UsageError, match="closed"):
            pool.evaluate(*samples(10))
        pool.close()
        assert same(found, PROGRAM.evaluate(*samples(1000)))
        del found  # it holds the memory, and with it a descriptor


@pytest.mark.slow
def test_a_pool_ends_when_its_caller_fails_or_forgets_it() -> None:
    seen: list[tuple[int, ...]] = []

    def fail() -> None:
        with ProcessPool(PROGRAM, 2, engine="numpy") as pool:
            seen.append(pool.processes)
            raise KeyError

    with nothing_left():
        with pytest.raises(KeyError):
            fail()
        assert not any(map(running, seen[0]))
        processes = ProcessPool(PROGRAM, 2, engine="numpy").processes
        until_gone(*processes)


SCRIPT = """
import signal, sys
import numpy as np
from small_programs import same, stages
from boolcomp.scale.pool import ProcessPool

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
with ProcessPool(stages(4)[2], 2, shard=sys.argv[1], engine="numpy") as pool:
    rng = np.random.default_rng(0)
    arrays = [rng.uniform(-1, 1, (200_000, 2)) for _ in range(3)]
    while True:
        pool.evaluate(*arrays)
        print(*pool.processes, flush=True)
"""


@contextmanager
def busy_script(shard: str) -> Iterator[tuple[subprocess.Popen[str], tuple[int, ...]]]:
    """Start a program that keeps a pool busy; provide it and the numbers of its workers."""
    script = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT, shard],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        assert script.stdout is not None
        workers = tuple(int(word) for word in script.stdout.readline().split())
        yield script, workers
    finally:
        script.kill()
        script.communicate()


@pytest.mark.check
@pytest.mark.parametrize(
    ("shard", "how"),
    [("samples", signal.SIGINT), ("terms", signal.SIGTERM), ("pipeline", signal.SIGKILL)],
)
def test_workers_end_when_their_parent_is_interrupted_terminated_or_killed(
    shard: str, how: signal.Signals
) -> None:
    with nothing_left(), busy_script(shard) as (script, workers):
        assert len(workers) == 2
        assert all(map(running, workers))
        script.send_signal(how)
        _, errors = script.communicate(timeout=20)
        assert script.returncode == -how
        until_gone(*workers)
        lines = errors.strip().splitlines()
        assert not lines or lines[-1] == "KeyboardInterrupt"
        assert "resource_tracker" not in errors


@pytest.mark.parametrize("engine", ["llvm", "words"])
@pytest.mark.parametrize("count", SIZES)
def test_threads_give_the_results_of_one(engine: Any, count: int) -> None:
    program = compact(4)
    with ProcessPool(program, 3, engine=engine) as pool:
        assert same(pool.evaluate(*samples(count)), program.evaluate(*samples(count)))


def test_an_unknown_sharding_engine_or_number_of_processes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"shard 'term'; did you mean 'terms'\?"):
        ProcessPool(PROGRAM, 2, shard="term")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="engine 'lvm'"):
        ProcessPool(PROGRAM, 2, engine="lvm")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="processes"):
        ProcessPool(PROGRAM, 0)
    with pytest.raises(UsageError, match="engine 'words' runs in one process"):
        ProcessPool(PROGRAM, 2, shard="terms", engine="words")


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 5])
def test_shares_have_as_much_to_do_as_each_other(count: int) -> None:
    program = stages(5)[2]
    terms = terms_of(program.load(), program.wiring())
    shares = deal_terms(terms, [0] * count)
    loads = [share.load for share in shares]
    assert max(loads) <= 1.15 * sum(loads) / count
    cut = {call for share in shares for call in share.parts}
    assert len(cut) <= count
    whole = [call for share in shares for call in share.whole]
    assert sorted([*whole, *cut]) == sorted(terms.calls)
    assert make_shares(PROGRAM, 3) == make_shares(PROGRAM, 3)


@pytest.mark.parametrize("count", [0, 2000])
def test_a_senseless_number_of_shares_is_refused(count: int) -> None:
    with pytest.raises(UsageError, match="1 to 1024 processes"):
        make_shares(PROGRAM, count)
