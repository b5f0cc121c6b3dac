"""Checks the section `graph`: which words of the graph stand for what of the sketch."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles
    from boolcomp.checker.steps import Step


def check(load: LoadFiles) -> Iterator[Step]:
    """Yield what is checked of a load's section."""
    del load
    yield from ()
