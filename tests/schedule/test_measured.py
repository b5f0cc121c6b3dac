"""Measuring the machine that the tests run on."""

from __future__ import annotations

import time

import pytest

from boolcomp.schedule.machine import Shared
from boolcomp.schedule.machinefile import load_machine


@pytest.mark.slow
def test_this_machine_is_measured_in_two_seconds() -> None:
    started = time.monotonic()
    machine = load_machine("this-machine")
    assert time.monotonic() - started < 4  # two, and what others on the machine take
    costs = machine.costs
    assert 0 < costs.addition <= costs.multiplication < costs.division < 1
    assert isinstance(machine.memory, Shared)
    assert machine.memory.latency > 0
