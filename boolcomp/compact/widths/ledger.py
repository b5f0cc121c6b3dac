"""The record of a search: steps that are done, written down one by one, and how far it is.

A step that was done before an interruption is not done again. Steps of one name run side by
side where there are workers; what they return never depends on that.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.common.shared import Shared
from boolcomp.compact.demand import Listener, Progress
from boolcomp.compact.search import Candidate
from boolcomp.compact.sketch.variables import variable
from boolcomp.compact.widths.forms import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from boolcomp.common.workers import Workers
    from boolcomp.compact.errors.measure import Errors

CHUNKS, ANNEALERS = 4, 2  # parts of the effort; how many anneal in each


class Checkpoint(Protocol):
    """Where steps that are done are written down, as what JSON can say."""

    def stages(self) -> dict[str, Any]:
        """Return what the steps that are done have made, by name."""

    def note(self, stages: dict[str, Any]) -> None:
        """Write them down."""


class Ledger:
    """What of a search is done, where that is written, and who is told how far it is."""

    def __init__(
        self, effort: float, progress: Listener, checkpoint: Checkpoint | None, workers: Workers
    ) -> None:
        self.effort, self.progress, self.workers = effort, progress, workers
        self.checkpoint, self.latest = checkpoint, Progress("")
        self.since = time.perf_counter()
        self.task: Shared | None = None
        self.done = checkpoint.stages() if checkpoint else {}

    def numbers(self, name: str, make: Callable[[], list[float]]) -> list[float]:
        """Return the numbers that a step makes, or has made before an interruption."""
        if name not in self.done:
            self._note(name, make())
        return [float(x) for x in self.done[name]]

    def candidates(
        self, name: str, function: Callable[..., Candidate], jobs: Sequence[tuple[Any, ...]]
    ) -> list[Candidate]:
        """Return what a function makes of several jobs, each done once ever."""
        missing = [k for k in range(len(jobs)) if f"{name} {k}" not in self.done]
        made = len(jobs) - len(missing)
        self._advance(name, made / max(1, len(jobs)))
        calls = [(self._shared(jobs[k][0]), *jobs[k][1:]) for k in missing]
        for place, choice in self.workers.completed(function, calls):
            self._note(f"{name} {missing[place]}", written(choice))
            made += 1
            self._advance(name, made / len(jobs))
        return [read(self.done[f"{name} {k}"]) for k in range(len(jobs))]

    def _shared(self, task: Any) -> Shared:
        """Return a step's task, as all calls of it are given it."""
        if self.task is None or self.task.value is not task:
            self.task = Shared(task)
        return self.task

    def tell(self, stage: str, best: Candidate, errors: Errors) -> None:
        """Say what is best now."""
        rms = tuple(float(x) for x in errors.rms)
        note = f"{errors}, {FORMS[best.form]}"
        self.latest = Progress(stage, int(best.nodes), rms, self.latest.fraction, note)
        self.progress(self.latest)

    def say(self, stage: str, best: Candidate, note: str) -> None:
        """Say what is best now, of which no samples are known."""
        self.latest = Progress(stage, int(best.nodes), (), self.latest.fraction, note)
        self.progress(self.latest)

    def _note(self, name: str, made: Any) -> None:
        self.done[name] = made
        if self.checkpoint:
            self.checkpoint.note(self.done)

    def _advance(self, name: str, part: float) -> None:
        """Say how far a step is, such as `improve 2`, as a part of its stage."""
        stage, _, turn = name.partition(" ")
        if stage == "refine":  # the first turns mostly do
            part = 1 - 0.5 ** (int(turn) + part)
        elif stage == "improve":
            part = (int(turn) + part) / CHUNKS
        self.latest = replace(self.latest, stage=stage, fraction=part)
        self.progress(self.latest)


def written(choice: Candidate) -> dict[str, Any]:
    """Return a choice as numbers and texts."""
    return {
        "form": choice.form,
        "widths": [[v.node, v.name, value] for v, value in choice.widths.items()],
        "prices": choice.prices.tolist(),
        "biases": choice.biases.tolist(),
        "widened": choice.widened,
        "nodes": choice.nodes if choice.nodes < math.inf else None,
        "excess": choice.excess,
    }


def read(text: dict[str, Any]) -> Candidate:
    """Undo `written`."""
    widths = {variable(node, name): value for node, name, value in text["widths"]}
    nodes = math.inf if text["nodes"] is None else text["nodes"]
    return Candidate(
        text["form"], widths, np.asarray(text["prices"]), np.asarray(text["biases"]),
        text["widened"], nodes, text["excess"],
    )  # fmt: skip
