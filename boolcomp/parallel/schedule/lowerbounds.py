"""What no schedule can beat: work, critical path, and Fernandez & Bussell's intervals.

All three hold with any communication, since they ask for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import short
from boolcomp.parallel.schedule.indexed import indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.parallel.schedule.graph import TaskGraph
    from boolcomp.parallel.schedule.indexed import Indexed
    from boolcomp.parallel.schedule.machine import Machine

_MOMENTS = 96  # the most interval ends that are tried


@dataclass(frozen=True, slots=True)
class LowerBounds:
    """Least µs of any schedule on so many processors, for three reasons."""

    work_us: float
    critical_path_us: float
    interval_us: float

    @property
    def best_us(self) -> float:
        """The greatest, which is the sharpest."""
        return max(self.work_us, self.critical_path_us, self.interval_us)

    def __str__(self) -> str:
        return (
            f"at least {short(self.best_us)} µs (work {short(self.work_us)}, critical path "
            f"{short(self.critical_path_us)}, intervals {short(self.interval_us)})"
        )


def lower_bounds(graph: TaskGraph, machine: Machine, processors: int) -> LowerBounds:
    """Return the lower bounds of a graph on a machine."""
    tasks = indexed(graph, machine)
    return LowerBounds(
        work_us=tasks.sequential / processors,
        critical_path_us=tasks.critical_path,
        interval_us=interval_bound(tasks, processors),
    )


def interval_bound(tasks: Indexed, processors: int) -> float:
    """Return the critical path and what must stick out of it (Fernandez & Bussell 1973).

    Between any two moments some of each task's time must pass, were the critical path kept; what
    of that exceeds the processors' time there delays the end.
    """
    if not tasks.names:
        return 0.0
    moments = _moments(tasks)
    least = _least_work(tasks, moments)
    length = moments[None, :] - moments[:, None]
    excess = np.where(length > 0, least / processors - length, 0.0)
    return tasks.critical_path + max(0.0, float(excess.max()))


def _moments(tasks: Indexed) -> NDArray[np.float64]:
    """Return the ends of intervals worth trying: where a task may begin or must end."""
    heads, times = np.array(tasks.heads), np.array(tasks.times)
    ends = tasks.critical_path - np.array(tasks.levels) + times
    moments = np.unique(np.concatenate([heads, heads + times, ends - times, ends]))
    if len(moments) > _MOMENTS:
        moments = moments[np.linspace(0, len(moments) - 1, _MOMENTS).round().astype(int)]
    return moments


def _least_work(tasks: Indexed, moments: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every two moments how much work must be done between them."""
    heads, times = np.array(tasks.heads), np.array(tasks.times)
    ends = tasks.critical_path - np.array(tasks.levels) + times  # latest
    # As early as possible a task works so long after a moment, as late as possible so long before.
    early = np.clip(heads[:, None] + times[:, None] - moments[None, :], 0.0, times[:, None])
    late = np.clip(moments[None, :] - (ends - times)[:, None], 0.0, times[:, None])
    least = np.zeros((len(moments), len(moments)))
    for one, other in zip(early, late, strict=True):
        length = moments[None, :] - moments[:, None]
        least += np.clip(np.minimum(one[:, None], other[None, :]), 0.0, np.maximum(length, 0.0))
    return least
