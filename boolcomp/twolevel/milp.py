"""HiGHS under supervision: a child process with a memory limit, ended when its time is over.

HiGHS does not always keep its own time limit, and can ask for more memory than there is. So it runs
in a child (`milp_worker`), one child for many problems, and the caller always gets an answer.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self, cast

import numpy as np

from boolcomp.common import children

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from numpy.typing import NDArray

MEMORY = 4 * 2**30
"""Bytes of address space for the child."""

SMALL = 600
"""Entries of a matrix so small that HiGHS takes milliseconds: it is solved without the child."""

TICK = 0.001
"""Seconds between two calls of `idle`."""

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What HiGHS found in its time: columns (or None), and a proved bound on their cost."""

    chosen: NDArray[np.int64] | None
    bound: int


def _answer(bound: int, found: dict[str, Any], problem: dict[str, Any]) -> Answer:
    """Read the worker's last line; columns that do not solve the problem are no columns."""
    bound = max(bound, int(found["bound"]))
    if found["chosen"] is None:
        return Answer(None, bound)
    chosen = np.asarray(found["chosen"], np.int64)
    taken = np.zeros(len(problem["cost"]), np.bool_)
    taken[chosen] = True
    met = np.logical_or.reduceat(taken[problem["indices"]], problem["starts"][:-1]).all()
    right = met and problem["count"] in (None, len(chosen))
    return Answer(chosen if right else None, bound)


class Milp:
    """A context that solves covering problems in one child process, started when first needed."""

    def __init__(self, memory: int = MEMORY) -> None:
        self._memory = memory
        self._child: subprocess.Popen[bytes] | None = None
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child, whatever it is doing."""
        if self._child is None:
            return
        children.end(self._child)
        self._child = None
        self._unread = b""

    def solve(
        self,
        starts: NDArray[np.int64],
        indices: NDArray[np.int64],
        cost: NDArray[np.int64],
        seconds: float,
        count: int | None = None,
        idle: Callable[[], None] | None = None,
    ) -> Answer:
        """Return columns of least cost that meet every row, with exactly `count` of them if given.

        The answer comes within `seconds` and a few hundredths; when the child died or had to be
        ended it holds the bound of the linear relaxation, or 0. While waiting, `idle` is called
        again and again; it should return within some hundredths of a second.
        """
        end = time.monotonic() + seconds
        if seconds <= 0:
            return Answer(None, 0)
        problem = {
            "starts": starts.tolist(),
            "indices": indices.tolist(),
            "cost": cost.tolist(),
            "count": count,
            "end": end - 0.05 * seconds,
        }
        if len(indices) <= SMALL:
            from boolcomp.twolevel.milp_worker import answers  # noqa: PLC0415 (imports highspy)

            return _answer(0, list(answers(problem))[-1], problem)
        bound = 0
        try:
            child = self._started()
            stdin = cast("IO[bytes]", child.stdin)
            stdin.write(json.dumps(problem).encode() + b"\n")
            stdin.flush()
            bound = int(json.loads(self._line(child, end, idle))["bound"])
            return _answer(bound, json.loads(self._line(child, end, idle)), problem)
        except (OSError, EOFError, TimeoutError):
            self.close()
            return Answer(None, bound)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = children.start_script(
                Path(__file__).with_name("milp_worker.py"),
                self._memory,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **ONE_THREAD},
            )
        return self._child

    def _line(
        self, child: subprocess.Popen[bytes], end: float, idle: Callable[[], None] | None
    ) -> bytes:
        """Return the child's next line, or raise when it is late or gone."""
        stdout = cast("IO[bytes]", child.stdout)
        while b"\n" not in self._unread:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            wait = left if idle is None else min(left, TICK)
            if not select.select([stdout], [], [], wait)[0]:
                if idle is not None:
                    idle()
                continue
            more = os.read(stdout.fileno(), 1 << 16)
            if not more:
                raise EOFError
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line
