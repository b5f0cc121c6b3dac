"""Measuring the machine that the tests run on."""

from __future__ import annotations

import pytest

from boolcomp.parallel.schedule.machine import Shared
from boolcomp.parallel.schedule.machinefile import load_machine


@pytest.mark.slow
def test_this_machine_is_measured() -> None:
    machine = load_machine("this-machine")
    costs = machine.costs
    assert 0 < costs.addition <= costs.multiplication < costs.division < 1
    assert isinstance(machine.memory, Shared)
    assert machine.memory.latency > 0
