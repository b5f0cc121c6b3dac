"""Trying assignments on real samples."""

from __future__ import annotations

import numpy as np
import pytest
from schedule.programs import there_and_back

from boolcomp.dynamics.operations import Operations
from boolcomp.schedule.graph import Edge, Task, TaskGraph
from boolcomp.schedule.staging import stage
from boolcomp.schedule.tuning import tuned


@pytest.mark.slow
def test_what_is_tuned_can_be_run() -> None:
    straight, names = there_and_back()
    tasks = tuple(Task(name, Operations(1)) for name in ("out", "beyond", "back"))
    edges = (Edge("out", "beyond", 1), Edge("out", "back", 2), Edge("beyond", "back", 1))
    samples = [np.linspace(-2, 2, 300), np.linspace(0, 1, 300)]
    found = tuned(straight, names, TaskGraph("g", tasks, edges), samples, 2)
    assert found.processors == 2
    assert stage(straight, names, found).processors == 2
