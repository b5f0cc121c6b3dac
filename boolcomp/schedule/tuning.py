"""The assignment for batches that is quickest here: a few are tried on real samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.schedule.batching import for_batches
from boolcomp.schedule.execute import Runner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from boolcomp.dynamics.straight import Straight
    from boolcomp.schedule.graph import TaskGraph
    from boolcomp.schedule.placed import Assignment

_WORDS = (6.0, 12.0, 24.0)
_LEANS = (0.0, -0.1, 0.1)  # how much less or more than its share the first processor gets
_RUNS = 8


def tuned(
    straight: Straight,
    task_of_node: Sequence[str],
    graph: TaskGraph,
    columns: Sequence[ArrayLike],
    processors: int,
) -> Assignment:
    """Return the assignment whose busiest worker needs its processor for the least time.

    That, and not the time on the clock, does not depend on what else the machine does.
    """
    tried: dict[Assignment, float] = {}
    for word in _WORDS:
        for lean in _LEANS if processors > 1 else _LEANS[:1]:
            first = (1 + lean) / processors
            shares = [first, *[(1 - first) / max(processors - 1, 1)] * (processors - 1)]
            assignment = for_batches(straight, graph, processors, word=word, shares=shares)
            if assignment not in tried:
                with Runner(straight, task_of_node, assignment) as runner:
                    runs = [max(runner.run(columns).processor) for _ in range(_RUNS)]
                tried[assignment] = min(runs)
    return min(tried, key=tried.__getitem__)
