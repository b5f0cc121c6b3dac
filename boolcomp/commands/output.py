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
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.progress import Progress

    from boolcomp.codes import Answer
    from boolcomp.paper.passes import Told
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import CodedInput, CodedOutput, Program


# --------------------------------------------------------------------------------------------------
# What a program says of itself: its words, and what its outputs err by, each figure by its kind.
#
# `rms` and `sampled_max` are of random states: they happened. `worst_found` is what a search found:
# it can happen. `bound` is proved: nothing exceeds it. See docs/proof.md.
# --------------------------------------------------------------------------------------------------


KINDS = ("rms", "sampled_max", "worst_found", "bound")
HEADER = ("LSB", "in", "rms", "sampled max", "worst found", "bound")


def described(program: Program, source: Robot | Problem, of: str) -> dict[str, Any]:
    """Return the words of a program, as `--json` tells of them, and which function it is."""
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
    """Return an output's LSB and what it errs by, in its unit; None is what nobody knows."""
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
    """Return how tight an output's bound is, or why there is none to show."""
    note = output.bound_note
    return {"grade": None if note else output.grade or None, "bound_note": note or None}


def answered(output: CodedOutput, answer: Answer) -> dict[str, Any]:
    """Return the figures of an output of which answers of a type were given.

    `rounding` is by how much these may be off beyond the bound.
    """
    return {
        "name": output.name, "unit": output.unit, **figures(output),
        "rounding": output.code.rounding(answer),
    }  # fmt: skip


def over_loads(program: Program) -> list[dict[str, float | None]]:
    """Return the figures of every output, each the largest of all loads."""
    known = program.errors
    return [
        figures(replace(output, bound=bound, errors=known.get(output.name)))
        for output, bound in zip(program.outputs, program.bound, strict=True)
    ]


def in_steps(found: dict[str, float | None]) -> dict[str, float | None]:
    """Return figures in LSB, under keys that say so."""
    lsb = found["lsb"] or 1.0
    values = {kind: found[kind] for kind in KINDS}
    return {f"{kind}_lsb": None if x is None else x / lsb for kind, x in values.items()}


def error_table(outputs: Sequence[CodedOutput], what: str, *, steps: bool) -> str:
    """Return outputs' errors as a table in their units, and in LSB where `steps` are wanted."""
    rows = []
    for output in outputs:
        found = figures(output)
        note, unit = output.bound_note, output.unit or "–"
        rows.append([output.symbol, short(output.code.step), unit, *_row(found, note)])
        if steps:
            values = in_steps(found)
            own = {kind: values[f"{kind}_lsb"] for kind in KINDS}
            rows.append(["", "", "LSB", *_row(own, note)])
    return table((what, *HEADER), rows, left=(0, 2))


def _row(found: dict[str, float | None], note: str) -> list[str]:
    from boolcomp.program.program import NOT_USEFUL

    unknown = {"worst_found": "not sought", "bound": note if note == NOT_USEFUL else "none"}
    return [
        unknown.get(kind, "-") if (value := found[kind]) is None
        else (short_above if kind == "bound" else short)(value, 4)
        for kind in KINDS
    ]  # fmt: skip


def promised(outputs: Sequence[CodedOutput], answer: Answer = "float64") -> str:
    """Say in a sentence what no error exceeds; of what is not proved what was found, if anything.

    It is of states within range. Of float32 answers their rounding is named.
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
            found.append(f"{one.symbol} not sought")
    parts = [f"no error exceeds {listing(proved)}, proved"] if proved else []
    parts += [f"worst error found: {listing(found)}, not proved"] if found else []
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
# How far long work is: a bar on a terminal, a line a stage where standard error is a pipe.
# --------------------------------------------------------------------------------------------------


LEAST_KNOWN = 0.02  # of the work is done before an estimate is worth saying
RARER = 1.2  # times the time so far: within a stage, lines come at growing distances


@contextlib.contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[[str], None]]:
    """Show how many of `total` steps are done; call the value with the name of each."""
    done = 0
    with _shown(title) as heard:

        def step(name: str) -> None:
            nonlocal done
            done += 1
            heard(done, total, "", name)

        yield step


@contextlib.contextmanager
def counter(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Show how many things are done; call the value with how many more."""
    done = 0
    with _shown(title) as heard:

        def advance(count: int) -> None:
            nonlocal done
            done += count
            heard(done, total, "", "")

        yield advance


@contextlib.contextmanager
def share(title: str) -> Iterator[Share]:
    """Show which share of the work is done; call the value with it (0 to 1), a stage and a note.

    The share that is shown never decreases. The work that is left may be given too, in terms of
    what is done, where the share does not say that.
    """
    most = 0.0
    with _shown(title) as heard:

        def show(fraction: float, stage: str, note: str, left: float | None = None) -> None:
            nonlocal most
            most = max(most, min(1.0, fraction))
            heard(most, 1, stage, note, left)

        yield show


def in_stages(show: Share) -> Told:
    """Return what hears the stages of paper mode and shows them."""

    def told(
        stage: str, what: str, part: float, *,
        counted: Mapping[str, float] | None = None, left: float | None = None,
    ) -> None:  # fmt: skip
        del counted
        show(part, stage, what, left)

    return told


class Share(Protocol):
    """What is told which share of the work is done, a stage, a note, and what is left."""

    def __call__(self, fraction: float, stage: str, note: str, left: float | None = None) -> None:
        """Show that."""


class Display(Protocol):
    """What shows progress; `heard` is told how much is done of what total, a stage and a note.

    What is `left`, in terms of what is done, follows from these unless it is given; it is infinite
    where nobody knows.
    """

    patience: ClassVar[float]

    def heard(
        self, done: float, total: float | None, stage: str, note: str, left: float | None = None
    ) -> None:
        """Hear of progress, and show it."""

    def pulse(self) -> None:
        """Show what was heard last; called once, after so many seconds of `patience`."""

    def close(self) -> None:
        """Show nothing more."""


@contextlib.contextmanager
def _shown(title: str) -> Iterator[Callable[..., None]]:
    terminal = sys.stderr is not None and sys.stderr.isatty()
    display: Display = Bar(title) if terminal and is_there("rich") else Lines(title)
    timer = threading.Timer(display.patience, display.pulse)  # a stage may be silent for long
    timer.daemon = True
    timer.start()
    try:
        yield display.heard
    finally:
        timer.cancel()
        display.close()


class Lines:
    """A line for every stage that is entered, and now and then within a long one."""

    patience: ClassVar[float] = 10.0

    def __init__(
        self,
        title: str,
        clock: Callable[[], float] = time.monotonic,
        say: Callable[[str], None] = lambda line: click.echo(line, err=True),
    ) -> None:
        self._title, self._clock, self._say = title, clock, say
        self._start, self._next = clock(), self.patience
        self._latest: tuple[float, float | None, str, str, float | None] = (0, None, "", "", None)
        self._said: str | None = None  # the stage of the last line
        self._open = True
        self._lock = threading.Lock()

    def heard(
        self, done: float, total: float | None, stage: str, note: str, left: float | None = None
    ) -> None:
        """Hear of progress; say a line where the stage is new or the last line is old."""
        with self._lock:
            self._latest = (done, total, stage, note, left)
            if self._open:
                self._speak()

    def pulse(self) -> None:
        """Say where the work is, if nothing was said."""
        with self._lock:
            if self._open and self._said is None:
                self._speak()

    def close(self) -> None:
        """Say nothing more."""
        with self._lock:
            self._open = False

    def _speak(self) -> None:
        done, total, stage, note, left = self._latest
        passed = self._clock() - self._start
        early = passed < self.patience or (stage == self._said and passed < self._next)
        if early or done == total:
            return
        self._said, self._next = stage, max(passed + self.patience, passed * RARER)
        with contextlib.suppress(OSError, ValueError):  # work does not end because nobody listens
            said = _sentence(done, total, stage, note) + _left(done, total, left, passed)
            self._say(f"{self._title}: {said}")


def _sentence(done: float, total: float | None, stage: str, note: str) -> str:
    """Say the stage, how much is done, and what there is so far."""
    parts = [stage, f"{done:.0f} done" if total is None else f"{done / total:.0%} done", note]
    return ", ".join(filter(None, parts))


def _left(done: float, total: float | None, left: float | None, passed: float) -> str:
    """Say an estimate of the time that is left, if enough is done for one."""
    if total is None or not LEAST_KNOWN * total <= done < total:
        return ""
    rest = total / done - 1 if left is None else left
    return f", about {duration(passed * rest)} left" if math.isfinite(rest) else ""


def duration(seconds: float) -> str:
    """Say how long something takes, in the unit that suits."""
    if seconds < 90:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Bar:
    """A bar that comes when the work takes longer than a second, and goes when it is done."""

    patience: ClassVar[float] = 1.0

    def __init__(self, title: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._title, self._clock = title, clock
        self._start = clock()
        self._latest: tuple[float, float | None, str] = (0, None, "")
        self._bar: Progress | None = None
        self._open = True
        self._lock = threading.Lock()

    def heard(
        self, done: float, total: float | None, stage: str, note: str, left: float | None = None
    ) -> None:
        """Hear of progress, and show it."""
        with self._lock:
            time_left = _left(done, total, left, self._clock() - self._start)
            said = [time_left.removeprefix(", "), stage, note]
            self._latest = (done, total, ", ".join(filter(None, said)))
            if self._bar is not None or self._clock() - self._start >= self.patience:
                self._show()

    def pulse(self) -> None:
        """Show the bar, if it is not there."""
        with self._lock:
            self._show()

    def close(self) -> None:
        """Take the bar away."""
        with self._lock:
            self._open = False
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        if not self._open:
            return
        if self._bar is None:
            self._bar = _rich_bar()
            self._bar.add_task(self._title, total=None, last="")
            self._bar.start()
        done, total, last = self._latest
        self._bar.update(self._bar.task_ids[0], completed=done, total=total, last=last)


def _rich_bar() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(show_speed=True),
        TimeElapsedColumn(),
        TextColumn("{task.fields[last]}"),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)
