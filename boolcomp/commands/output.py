"""How far long work is: a bar on a terminal, a line a stage where standard error is a pipe.

Short work shows nothing: the bar comes after a second, the first line after ten.
"""

from __future__ import annotations

import contextlib
import math
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import click

from boolcomp.base.errors import is_there, listing, short, short_above, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rich.progress import Progress

    from boolcomp.codes import Answer
    from boolcomp.paper.passes import ProgressListener
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import CodedInput, CodedOutput, Program


# --------------------------------------------------------------------------------------------------
# A program's words and the errors of its outputs, by kind of figure.
#
# `rms` and `sampled_max` are measured on random states. `worst_found` is the largest error found by
# a search, a lower limit of the true maximum. `bound` is a proved upper limit
# (docs/reference/error-figures.md).
# --------------------------------------------------------------------------------------------------


KINDS = ("rms", "sampled_max", "worst_found", "bound")
HEADER = ("range", "LSB", "in", "rms", "largest found", "proved limit")


def described(program: Program, source: Robot | Problem, of: str) -> dict[str, Any]:
    return {
        "of": "function" if hasattr(source, "reference") else of,
        "inputs": [_word(one) for one in program.inputs],
        "outputs": [
            {**_word(one), "payload": load.payload, **figures(one), **noted(one)}
            for load in program.loads
            for one in load.outputs
        ],
    }


def figures(output: CodedOutput) -> dict[str, float | None]:
    """Return an output's LSB and errors in its unit; unknown errors are None."""
    from boolcomp.program.program import over_found

    known = output.errors
    return {
        "lsb": output.code.step,
        "rms": None if known is None else known.rms,
        "sampled_max": None if known is None else known.sampled_max,
        "worst_found": None if known is None else known.worst_found,
        "bound": None if output.bound_note else output.bound,
        "bound_over_found": over_found(output.bound, known.worst_found if known else None),
    }


def noted(output: CodedOutput) -> dict[str, Any]:
    """Return the tightness of an output's bound, or the reason why none is printed."""
    note = output.bound_note
    return {"grade": None if note else output.grade or None, "bound_note": note or None}


def answer_document(output: CodedOutput, answer: Answer) -> dict[str, Any]:
    """Return the figures of an output for results of a number type.

    `rounding` is the rounding error of that type, which adds to the bound.
    """
    return {
        "name": output.name, "unit": output.unit, **figures(output),
        "rounding": output.code.rounding(answer),
    }  # fmt: skip


def over_loads(program: Program) -> list[dict[str, float | None]]:
    """Return the figures of every output, each the largest over all payloads."""
    known = program.errors
    return [
        figures(replace(output, bound=bound, errors=known.get(output.name)))
        for output, bound in zip(program.outputs, program.bound, strict=True)
    ]


def in_steps(found: dict[str, float | None]) -> dict[str, float | None]:
    """Return figures in LSB, with keys ending in `_lsb`."""
    lsb = found["lsb"] or 1.0
    values = {kind: found[kind] for kind in KINDS}
    return {f"{kind}_lsb": None if x is None else x / lsb for kind, x in values.items()}


def error_table(outputs: Sequence[CodedOutput], ranges: Iterable[str], what: str) -> str:
    """Return a table of outputs' errors: a row in the unit of each, and one in LSB."""
    rows = []
    for output, span in zip(outputs, ranges, strict=True):
        found = figures(output)
        note, unit = output.bound_note, output.unit or "-"
        rows.append([output.symbol, span, short(output.code.step), unit, *_row(found, note)])
        values = in_steps(found)
        own = {kind: values[f"{kind}_lsb"] for kind in KINDS}
        rows.append(["", "", "", "LSB", *_row(own, note)])
    text = table((what, *HEADER), rows, left=(0, 3))
    return "\n".join(f"  {line}" for line in text.splitlines())


def _row(found: dict[str, float | None], note: str) -> list[str]:
    from boolcomp.program.program import NOT_USEFUL

    unknown = {"worst_found": "not searched", "bound": note if note == NOT_USEFUL else "none"}
    return [
        unknown.get(kind, "-") if (value := found[kind]) is None
        else (short_above if kind == "bound" else short)(value, 4)
        for kind in KINDS if kind != "sampled_max"
    ]  # fmt: skip


def guarantees(outputs: Sequence[CodedOutput], answer: Answer = "float64") -> str:
    """Return the proved bounds as a sentence, or the largest errors found where nothing is proved.

    They hold for states within range. For float32 results the rounding error is added.
    """
    proved, found = [], []
    for one in outputs:
        unit = f" {one.unit}" if one.unit else ""
        worst = None if one.errors is None else one.errors.worst_found
        if not one.bound_note:
            lsb = short_above(one.bound / one.code.step, 4)
            proved.append(f"{one.symbol} {short_above(one.bound, 4)}{unit} ({lsb} LSB)")
        elif worst is not None:
            lsb = short(worst / one.code.step, 4)
            found.append(f"{one.symbol} {short(worst, 4)}{unit} ({lsb} LSB)")
        else:
            found.append(f"{one.symbol} not searched")
    parts = [f"no error exceeds {listing(proved)} (proved)"] if proved else []
    parts += [f"largest error found: {listing(found)} (not proved)"] if found else []
    if answer == "float32":
        more = [
            f"{one.symbol} {short_above(one.code.rounding(answer), 2)} {one.unit}".rstrip()
            for one in outputs
        ]
        parts.append(f"rounding to float32 adds at most {listing(more)}")
    return "; ".join(parts)


def _word(one: CodedInput | CodedOutput) -> dict[str, Any]:
    code = one.code
    ends = [code.range.low, code.range.high]
    return {
        "name": one.name, "bits": code.bits, "code": code.kind, "range": ends, "unit": one.unit,
        "zero": "tread" if code.tread else "rise",
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------
# Progress of long work: a bar on a terminal, a line per stage if standard error is a pipe.
# --------------------------------------------------------------------------------------------------


LEAST_KNOWN = 0.02  # share of the work that must be done before a time estimate is printed
DAMPING = 4.0  # of estimates: a new one counts half after a sixth of the time so far
RARER = 1.2  # within a stage the next line comes after this multiple of the time so far


@contextlib.contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show how many of `total` steps are done; the value is called with the name of each step."""
    done = 0
    with _shown(title) as update:

        def step(name: str) -> None:
            nonlocal done
            done += 1
            update(done, total, "", name)

        yield step


@contextlib.contextmanager
def counter(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many items are done; the value is called with increments."""
    done = 0
    with _shown(title) as update:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            update(done, total, "", "")

        yield advance


@contextlib.contextmanager
def share(title: str) -> Iterator[ProgressShare]:
    """Show the share of the work that is done; the value is called as a `ProgressShare`.

    The displayed share never decreases.
    """
    shown = 0.0
    with _shown(title) as update:

        def show(fraction: float, stage: str, note: str, left: float | None = None) -> None:
            nonlocal shown
            shown = max(shown, min(1.0, fraction))
            update(shown, 1, stage, note, left)

        yield show


def in_stages(show: ProgressShare) -> ProgressListener:
    """Return a callback for the stages of paper mode that shows them."""

    def update(
        stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        del counted
        show(part, stage, what, left)

    return update


class ProgressShare(Protocol):
    """A callback with the share of the work that is done (0 to 1), a stage and a note.

    `left` is the remaining work as a multiple of the work done, if the share does not tell it.
    """

    def __call__(self, fraction: float, stage: str, note: str, left: float | None = None) -> None:
        """Show progress."""


class Display:
    """A display of progress, which shows the latest state.

    `left`, the remaining work as a multiple of the work done, follows from `done` and `total`
    unless it is given; it is infinite if unknown.
    """

    patience: ClassVar[float]

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._start = clock()
        self._latest: tuple[float, float | None, str, str, float | None] = (0, None, "", "", None)
        self._rest: tuple[float, float] | None = None  # the last estimate, and when it was made
        self._open = True
        self._lock = threading.Lock()

    def update(
        self, done: float, total: float | None, stage: str, note: str, left: float | None = None
    ) -> None:
        """Record progress, and show it if it is due."""
        with self._lock:
            self._latest = (done, total, stage, note, left)
            passed = self._clock() - self._start
            self._estimate(passed)
            if self._open:
                self._show(passed, due=False)

    def pulse(self) -> None:
        """Show the latest progress; called once, after `patience` seconds."""
        with self._lock:
            if self._open:
                self._show(self._clock() - self._start, due=True)

    def close(self) -> None:
        """Stop the display."""
        with self._lock:
            self._open = False
            self._end()

    def _show(self, passed: float, *, due: bool) -> None:
        """Show the latest progress if it is `due` or was not shown for long."""
        raise NotImplementedError

    def _estimate(self, passed: float) -> None:
        """Record a damped estimate of the remaining time, if enough is done for one."""
        done, total, _, _, left = self._latest
        if total is None or not LEAST_KNOWN * total <= done < total or not passed:
            return
        rest = passed * (total / done - 1 if left is None else left)
        if self._rest is not None and math.isfinite(rest):
            before, at = self._rest
            rest += (before - passed + at - rest) * math.exp(-DAMPING * (passed - at) / passed)
        self._rest = (rest, passed) if math.isfinite(rest) else None

    def _left(self, passed: float) -> str:
        if self._rest is None:
            return ""
        return f"about {duration(self._rest[0] - passed + self._rest[1])} left"

    def _end(self) -> None:
        """Remove the display."""


@contextlib.contextmanager
def _shown(title: str) -> Iterator[Callable[..., None]]:
    terminal = sys.stderr is not None and sys.stderr.isatty()
    display: Display = Bar(title) if terminal and is_there("rich") else Lines(title)
    timer = threading.Timer(display.patience, display.pulse)  # a stage may report nothing for long
    timer.daemon = True
    timer.start()
    try:
        yield display.update
    finally:
        timer.cancel()
        display.close()


class Lines(Display):
    """Progress as lines: one at the start of every stage, and more within a long stage."""

    patience: ClassVar[float] = 10.0

    def __init__(
        self,
        title: str,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = lambda line: click.echo(line, err=True),
    ) -> None:
        super().__init__(title, clock)
        self._say, self._next = say, self.patience
        self._printed: str | None = None  # the stage of the last line

    def _show(self, passed: float, *, due: bool) -> None:
        done, total, stage, note, _ = self._latest
        early = passed < self.patience or (stage == self._printed and passed < self._next)
        if early or done == total or (due and self._printed is not None):
            return
        self._printed, self._next = stage, max(passed + self.patience, passed * RARER)
        share = f"{done:.0f} done" if total is None else f"{done / total:.0%} done"
        line = ", ".join(filter(None, [stage, share, note, self._left(passed)]))
        with contextlib.suppress(OSError, ValueError):  # a closed pipe does not end the work
            self._say(f"{self._title}: {line}")


def duration(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours, according to its length."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Bar(Display):
    """A progress bar that appears after a second and disappears when the work is done."""

    patience: ClassVar[float] = 1.0
    _bar: Progress | None = None

    def _show(self, passed: float, *, due: bool) -> None:
        if self._bar is None:
            if not due and passed < self.patience:
                return
            self._bar = _rich_bar()
            self._bar.add_task(self._title, total=None, last="")
            self._bar.start()
        done, total, stage, note, _ = self._latest
        last = ", ".join(filter(None, [self._left(passed), stage, note]))
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, last=last)

    def _end(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _rich_bar() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
