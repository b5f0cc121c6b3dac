"""Worker processes: their values, their death, and what is left of them."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from parallel.schedule.graphs import there_and_back
from waiting import until_gone

from boolcomp.base import DataError, UsageError
from boolcomp.parallel import Assignment, StageRunner
from boolcomp.problem import Tape, task

TWO = Assignment((("out", "back"), ("beyond",)))
STRAIGHT, NAMES = there_and_back()


def columns(samples: int, largest: float = 9.0) -> list[NDArray[np.float64]]:
    draw = np.random.default_rng(3)
    return [draw.uniform(-largest, largest, samples), draw.uniform(-2, 2, samples)]


def check(done: Any, given: list[NDArray[np.float64]]) -> None:
    expected = np.array(STRAIGHT.evaluate(given))
    np.testing.assert_allclose(done.outputs, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
def test_two_processes_calculate_what_one_does(engine: Any) -> None:
    with StageRunner(STRAIGHT, NAMES, TWO, engine=engine, block=16) as runner:
        assert len(set(runner.processes)) == 2
        assert (runner.staged.stages, runner.staged.exchanged) == (3, 2)
        for samples in (1, 16, 1000, 5000, 37):  # the same workers, and a file that grows
            given = columns(samples)
            check(runner.run(given), given)


@pytest.mark.slow
def test_large_angles_are_exact_or_refused() -> None:
    one = Assignment((("out", "beyond", "back"),))
    with StageRunner(STRAIGHT, NAMES, one) as runner:
        given = columns(4000, 9e5)
        check(runner.run(given), given)
        with pytest.raises(DataError, match=r"x is beyond ±1e.06 rad"):
            runner.run(columns(10, 1e8))
        with pytest.raises(UsageError, match="2 columns of one length"):
            runner.run(columns(10)[:1])


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_worker_is_reported_at_once_and_nothing_is_left(engine: Any, victim: int) -> None:
    files = len(list(Path("/proc/self/fd").iterdir()))
    given = columns(3_000_000 if engine == "llvm" else 100_000)
    with StageRunner(STRAIGHT, NAMES, TWO, engine=engine, block=8) as runner:
        pids = runner.processes
        os.kill(pids[1 - victim], signal.SIGSTOP)  # it never answers
        os.kill(pids[victim], signal.SIGSTOP)  # it dies in the middle, not before
        killer = threading.Timer(0.2, os.kill, (pids[victim], signal.SIGKILL))
        killer.start()
        with pytest.raises(DataError, match=rf"P{victim}: a worker process died .*SIGKILL"):
            runner.run(given)
        killer.join()
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_workers_must_be_running() -> None:
    with pytest.raises(UsageError, match="with statement"):
        StageRunner(STRAIGHT, NAMES, TWO).run(columns(3))
    with pytest.raises(DataError, match="'back' of the program is on no processor"):
        StageRunner(STRAIGHT, NAMES, Assignment((("out", "beyond"),)))
    with pytest.raises(UsageError, match="multiple of 8"):
        StageRunner(STRAIGHT, NAMES, TWO, block=12)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["llvm", "numpy"])
def test_a_last_segment_that_needs_no_earlier_one_does_not_end_the_work(engine: Any) -> None:
    # P0's last segment waits only for P1, which P0's first does not feed; P2 needs P0's first.
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    values = {}
    with task(tape, "early"):
        values["early"] = x * x + y
    with task(tape, "there"):
        values["there"] = y * y - 1.0
    with task(tape, "late"):
        values["late"] = values["there"] * 2.0 + 0.25
    with task(tape, "slow"):
        slow = values["early"]
        for _ in range(300):
            slow = slow * 0.5 + 1.0
        values["slow"] = slow
    straight = tape.finish([(name, values[name]) for name in ("late", "slow")])
    lists = Assignment((("early", "late"), ("there",), ("slow",)))
    given = columns(40_000 if engine == "llvm" else 1000)
    names = [node.task for node in straight.nodes]
    with StageRunner(straight, names, lists, engine=engine, block=8) as runner:
        done = runner.run(given)
    np.testing.assert_allclose(done.outputs, np.array(straight.evaluate(given)), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("forked", [False, True])
def test_workers_end_with_their_parent(forked: bool) -> None:  # noqa: FBT001
    """Even if a process that the parent forked still holds their sockets."""
    code = (
        "import os, time\n"
        "import numpy as np\n"
        "from boolcomp.parallel.execute import StageRunner\n"
        "from boolcomp.parallel.taskgraph import Assignment\n"
        "from parallel.schedule.graphs import there_and_back\n"
        "lists = Assignment((('out', 'back'), ('beyond',)))\n"
        "with StageRunner(*there_and_back(), lists, block=8) as runner:\n"
        f"    child = os.fork() if {forked} else 0\n"
        f"    if {forked} and not child:\n"
        "        time.sleep(1000)\n"
        "        os._exit(0)\n"
        "    print(*runner.processes, child, flush=True)\n"
        "    os.kill(runner.processes[1], 19)\n"  # so that the other waits for it
        "    call = runner._team.call\n"
        "    def telling(*given):\n"
        "        return call(*given, lambda: print('given', flush=True))\n"
        "    runner._team.call = telling\n"
        "    runner.run([np.zeros(3000000)] * 2)\n"
    )
    tests = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": tests}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        assert parent.stdout is not None
        waiting, stopped, child = (int(text) for text in parent.stdout.readline().split())
        assert parent.stdout.readline() == "given\n"
        parent.kill()
    os.kill(stopped, signal.SIGCONT)
    try:
        until_gone(waiting, stopped)
    finally:
        if child:
            os.kill(child, signal.SIGKILL)
