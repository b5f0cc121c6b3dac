"""What a report has found so far, and what was asked: the page of it can be written at any time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.base.pages import Fact
    from boolcomp.measure.report.looks import Look, Surveyor
    from boolcomp.measure.report.measure import ReportRow


@dataclass(slots=True)
class Pictured:
    """Rows and looks in the order in which they came; `heard` is told of every new one."""

    surveyor: Surveyor
    heard: Callable[[], None] = lambda: None
    rows: list[ReportRow] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    def add(self, rows: Sequence[ReportRow], *looks: Look) -> None:
        """Take what one compilation or plan gave."""
        self.rows += rows
        self.looks += looks
        if rows:
            self.heard()


@dataclass(frozen=True, slots=True)
class Asked:
    """What a page says first: of what, the facts, how many states were drawn; what is not done."""

    name: str
    facts: tuple[Fact, ...]
    samples: int
    seed: int
    missing: str = ""
