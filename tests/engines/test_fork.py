"""What has run in threads or processes goes on in the child of a fork, which has neither."""

import os
import signal
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import boolcomp as bc
from boolcomp.base import UsageError
from boolcomp.engines import evaluate, make_engine
from boolcomp.scale import ProcessPool

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
SECONDS = 60.0  # of a child, which takes some milliseconds where it does not hang
STATES = np.random.default_rng(7).uniform(-1, 1, (3, 100_000, 2))


def used(name: Any) -> tuple[Any, bytes]:
    """Return an engine that has run a batch in two threads, and the results' bytes."""
    wiring = bc.compile("machado-2r", bits=6, rms_error=".43,.58").wiring()
    engine = make_engine(wiring, name, threads=2)
    return engine, results(engine)


def results(engine: Any) -> bytes:
    return evaluate(engine, [*STATES], coded=False).values.tobytes()


def forked(work: Callable[[], bool]) -> bool:
    """Tell whether work in the child of a fork returns true, and in time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's, of forks beside threads
        child = os.fork()
    if child == 0:
        try:
            os._exit(0 if work() else 1)
        finally:
            os._exit(2)
    end = time.monotonic() + SECONDS
    while not (found := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return False
        time.sleep(0.005)
    return found[1] == 0


@pytest.mark.parametrize("name", ["llvm", "words"])
def test_the_child_of_a_fork_evaluates_in_threads(name: Any) -> None:
    engine, expected = used(name)
    assert forked(lambda: results(engine) == expected)
    assert forked(lambda: forked(lambda: results(engine) == expected))
    assert results(engine) == expected


@pytest.mark.slow
def test_the_child_of_a_fork_is_told_that_a_pool_of_processes_is_its_parents() -> None:
    program = bc.compile("machado-2r", bits=6, rms_error=".43,.58")
    with ProcessPool(program, 1, engine="numpy") as pool:
        expected = pool.torques(*STATES).tobytes()

        def refused() -> bool:
            for _ in range(2):
                with pytest.raises(UsageError, match="of the process that was forked"):
                    pool.torques(*STATES)
            pool.close()
            return True

        assert forked(refused)
        assert pool.torques(*STATES).tobytes() == expected
