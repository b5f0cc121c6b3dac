"""A process of its own for HiGHS: reads covering problems from stdin, answers on stdout.

It is started by `milp.Milp` as a script and imports nothing of boolcomp. A problem is one line of
JSON: `starts`, `indices` (rows in CSR form), `cost` of every column, `count` (exactly so many
columns, or null) and `end` (of `time.monotonic`). The answer is two lines: `{"bound"}` of the
linear relaxation, then `{"chosen", "bound"}` of the integer problem; `chosen` is null when none was
found.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array


def _matrix(problem: dict[str, Any], columns: int) -> csr_array:
    from scipy.sparse import csr_array  # noqa: PLC0415 (slow to import)

    indices = np.asarray(problem["indices"], np.int32)
    starts = np.asarray(problem["starts"], np.int32)
    return csr_array((np.ones(len(indices)), indices, starts), shape=(len(starts) - 1, columns))


def _bound(value: float | None) -> int:
    """Return the integer bound of a real one, safe against HiGHS's tolerances."""
    return 0 if value is None or not math.isfinite(value) else max(0, math.ceil(value - 1e-4))


def answers(problem: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the bound of the linear relaxation, then the answer of the integer problem."""
    from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 (slow to import)

    cost = np.asarray(problem["cost"], np.float64)
    constraints = [LinearConstraint(_matrix(problem, len(cost)), lb=1)]
    count = problem["count"]
    if count is not None:
        constraints.append(LinearConstraint(np.ones((1, len(cost))), lb=count, ub=count))
    bound = 0
    for integer in (False, True):
        left = max(0.01, problem["end"] - time.monotonic())
        found = milp(
            cost, constraints=constraints, bounds=Bounds(0, 1),
            integrality=np.full(len(cost), int(integer)),
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )  # fmt: skip
        if integer:
            chosen = None if found.x is None else np.flatnonzero(found.x > 0.5).tolist()
            bound = max(bound, _bound(found.mip_dual_bound))
            yield {"chosen": chosen, "bound": bound}
        else:
            bound = _bound(found.fun) if found.status == 0 else 0
            yield {"bound": bound}


def main() -> None:
    """Answer problems until stdin ends."""
    memory = int(sys.argv[1])
    with contextlib.suppress(ImportError, OSError, ValueError):  # some systems know no such limit
        import resource  # noqa: PLC0415 (not everywhere)

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what solvers print must not mix with answers
    for line in sys.stdin:
        for answer in answers(json.loads(line)):
            print(json.dumps(answer), file=replies, flush=True)


if __name__ == "__main__":
    main()
