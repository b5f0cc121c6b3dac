"""A progress bar on a terminal, nothing on a pipe."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show how many of `total` steps are done; call the value with the name of each."""
    with _bar(title, total) as update:
        yield lambda name: update(1, name)


@contextlib.contextmanager
def counter(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many things are done; call the value with how many more."""
    with _bar(title, total) as update:
        yield lambda count: update(count, "")


@contextlib.contextmanager
def share(title: str) -> Iterator[Callable[[float, str], None]]:
    """Show which share of the work is done, 0 to 1; call the value with it and a note."""
    done = 0
    with _bar(title, 100) as update:

        def show(fraction: float, note: str) -> None:
            nonlocal done
            percent = round(100 * min(1.0, fraction))
            update(max(0, percent - done), note)
            done = max(done, percent)

        yield show


@contextlib.contextmanager
def _bar(title: str, total: int | None) -> Iterator[Callable[[int, str], None]]:
    if not sys.stderr.isatty():
        yield lambda _count, _name: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, last="")
        yield lambda count, name: bar.update(task, advance=count, last=name)
