"""Deadlines: one clock for a piece of work and everything it starts."""

from __future__ import annotations

import time


class Clock:
    """Counts from its making; `deadline` is in seconds, None means no limit."""

    __slots__ = ("_end", "_start")

    def __init__(self, deadline: float | None = None) -> None:
        self._start = time.monotonic()
        self._end = None if deadline is None else self._start + deadline

    @property
    def elapsed(self) -> float:
        """Seconds since the clock was made."""
        return time.monotonic() - self._start

    @property
    def left(self) -> float:
        """Seconds until the deadline, below 0 after it, infinite without one."""
        return float("inf") if self._end is None else self._end - time.monotonic()

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return self.left <= 0
