"""Waiting for other processes: until something is so, however busy the machine is."""

import time
from collections.abc import Callable
from pathlib import Path

PATIENCE = 240  # seconds: what takes longer never happens


def until(met: Callable[[], object]) -> None:
    """Wait until something is so; fail where that does not happen."""
    end = time.monotonic() + PATIENCE
    while not met():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.005)


def until_gone(*processes: int) -> None:
    """Wait until processes are no more: those that were killed take a moment to go."""
    until(lambda: not any(map(running, processes)))


def running(process: int) -> bool:
    """Tell whether a process is there, and is no zombie."""
    return state(process) not in "ZX"


def state(process: int) -> str:
    """Return the letter of a process's state, as Linux has it: `T` is stopped, `X` is gone."""
    return _fields(process)[0]


def ticks(process: int) -> int:
    """Return the processor time of a process in ticks of the system's clock, mostly 10 ms."""
    return int(_fields(process)[11]) + int(_fields(process)[12])


def _fields(process: int) -> list[str]:
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        text = ") X"
    return text.rpartition(")")[2].split()
