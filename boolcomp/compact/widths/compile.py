"""The search for the smallest graph whose errors are as demanded, from forms to wandering widths.

All forms are screened by the model; the two most promising are refined; of the smaller, widths
wander while effort lasts. What is kept has held on a million states. The same demand gives the
same result, whatever the number of processes and however often it was interrupted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.common.errors import UsageError, listing
from boolcomp.common.processes import call_all
from boolcomp.compact.graph.graph import narrowed
from boolcomp.compact.result.compact import Compact
from boolcomp.compact.result.measure import (
    Errors,
    Sampling,
    measure_worst,
    paper_rms,
    sampled_torques,
)
from boolcomp.compact.result.worst import graph_worst
from boolcomp.compact.sketch.poly import quantities
from boolcomp.compact.sketch.sketch import AngleSum
from boolcomp.compact.widths import search
from boolcomp.compact.widths.demand import ROUNDING, Demand, Listener, Progress, silent
from boolcomp.compact.widths.floor import rounding_squares
from boolcomp.compact.widths.search import (
    CAUTION,
    EXACT,
    FORMS,
    MAX_CAUTION,
    PLAIN,
    Choice,
    Search,
    Task,
    search_of,
)
from boolcomp.proof.worst import EVALUATIONS, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.terms import Torques

    Floats = NDArray[np.float64]

REFINED, QUICK_REFINED = 2, 1  # forms that are refined; where no effort is allowed
TIGHTENINGS = 6  # tries to hold the errors on many states
FREE_WORK, WORK = 60_000, 10_000  # of refining (see `refine_work`): always, a nominal second
CHUNKS, WALKERS = 4, 2  # parts of the effort; how many wander in each
ROOM = 1.03  # times what rounding makes of a torque that hardly leaves zero
LEAST = 1.1  # times the rms of rounding: the least that the default allows
SEEN, QUICK_SEEN = 2_000_000, 500_000  # states on which errors have to hold; with no effort
CLIMBED = 4_000_000  # evaluations that seek the worst error, where it is demanded, at first
WORST = 400  # of states are watched, for every torque, after each look
MOST_WATCHED = 1600
SECONDS = {"screen": 4.0, "refine": 2.0, "improve": 0.0, "passes": 18.0}  # of a small arm, to guess


def spans(effort: float) -> dict[str, tuple[float, float]]:
    """Guess at which fractions of all work stages begin and end; walkers share the effort."""
    seconds = {**SECONDS, "improve": 0.6 * effort / WALKERS}
    ends = list(accumulate(seconds.values()))
    starts = [0.0, *ends]
    return {
        name: (start / ends[-1], end / ends[-1])
        for name, start, end in zip(seconds, starts, ends, strict=False)
    }


class Stages(Protocol):
    """Where stages that are done are written down."""

    def stages(self) -> dict[str, Any]:
        """Return the stages that are done, by name."""

    def note(self, stages: dict[str, Any]) -> None:
        """Write them down."""


class Nowhere:
    """Stages of a search that nothing is kept of."""

    def stages(self) -> dict[str, Any]:
        """Return nothing."""
        return {}

    def note(self, stages: dict[str, Any]) -> None:
        """Do nothing."""


def compile_words(
    torques: Torques,
    demand: Demand | None = None,
    progress: Listener = silent,
    stages: Stages | None = None,
    processes: int = 1,
) -> Compact:
    """Return the smallest graph found whose sampled and searched errors are as demanded."""
    chosen = demand or Demand()
    chosen.check(torques.robot)
    return _Compilation(torques, chosen, progress, stages or Nowhere(), processes).run()


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Errors on very many states, and those states at which they were largest.

    Where the largest error is demanded it is that found by climbing.
    """

    errors: Errors
    worst: Sequence[Floats]


class _Compilation:
    """One demand on its way: what is done is written down stage by stage."""

    def __init__(
        self,
        torques: Torques,
        demand: Demand,
        progress: Listener,
        stages: Stages,
        processes: int,
    ) -> None:
        self.torques, self.demand, self.progress = torques, demand, progress
        self.stages, self.processes = stages, processes
        self.latest = Progress("")
        self.done = stages.stages()
        joints = torques.robot.joints
        rms = demand.rms or tuple(self.stage("paper", lambda: _paper(torques, demand)))
        least = np.maximum(np.asarray(rms, dtype=np.float64), 0.0)
        if not demand.rms:
            least = np.maximum(least, LEAST * ROUNDING)
            # What hardly leaves zero has no word near it, whatever the paper's tables do.
            small = np.sqrt(rounding_squares(sampled_torques(torques.robot, demand.bits)))
            least = np.where(small > ROUNDING, np.maximum(least, ROOM * small), least)
        self.demanded = np.broadcast_to(least, joints).copy() ** 2
        self.largest = np.broadcast_to(np.asarray(demand.max or np.inf), joints).copy()

    def stage(self, name: str, make: Callable[[], Any]) -> Any:
        """Return what a stage made, now or before an interruption."""
        if name not in self.done:
            self.done[name] = make()
            self.stages.note(self.done)
        return self.done[name]

    def task(self, scale: Floats) -> Task:
        """Return the task with mean squares allowed to be `scale` of those demanded."""
        allowed = self.demanded * CAUTION * scale
        return Task(self.torques, self.demand, allowed, self.largest * MAX_CAUTION)

    def run(self) -> Compact:
        """Go all the way."""
        task = self.task(np.ones(len(self.demanded)))
        if not self.demand.saturate and search_of(task, 0).floor().forbids(self.demanded):
            raise self._unreachable("whatever the logic")  # what saturates may err less
        screened = self._screened(task, "screen", PLAIN)
        if not screened:  # of coarse inputs no bit may be lost
            other = [form for form in EXACT if _has_exact(Search.sketch_of(task, form))]
            screened = self._screened(task, "screen exact", other)
        if not screened:
            raise self._unreachable("by the model")
        task, best, seen = self._refined(screened)
        units = self.demand.effort / (CHUNKS * WALKERS)
        for chunk in range(CHUNKS if self.demand.effort else 0):
            tried = self._improved(task, best, chunk, units)
            if tried.nodes < best.nodes:
                look = self._seen(task, tried)
                if self._excess(look.errors).max() <= 1 and not look.errors.wrapped:
                    best, seen = tried, look
                else:  # what was missed is watched from now on
                    seen = _Seen(seen.errors, look.worst)
                task = self._tamed(task, best, seen)
            self._tell("improve", best, seen.errors)
        return self._compact(task, best, seen.errors)

    def _screened(self, task: Task, name: str, forms: Iterable[int]) -> list[Choice]:
        """Return the most promising choices by the model, one for every sketch."""
        found = self._all(name, search.screen, [(task, form) for form in forms])
        kept: dict[object, Choice] = {}
        for choice in sorted(found, key=lambda c: (c.nodes, c.form)):
            if choice.nodes < math.inf:
                kept.setdefault(Search.sketch_of(task, choice.form), choice)
        return list(kept.values())[: REFINED if self.demand.effort else QUICK_REFINED]

    def _refined(self, screened: list[Choice]) -> tuple[Task, Choice, _Seen]:
        """Return the smallest choice that holds on very many states, its task and its errors."""
        starts, seen = screened, None
        scale, strict = np.ones((2, len(self.demanded)))
        task = self.task(scale)
        left = most = FREE_WORK + WORK * self.demand.effort
        for turn in range(TIGHTENINGS):
            if left < -most:
                break
            left -= sum(map(search.refine_work, starts))
            jobs = [(task, start) for start in starts]
            found = self._all(f"refine {turn}", search.refine, jobs)
            starts = [choice for choice in found if choice.nodes < math.inf]
            if not starts:
                break
            best = min(starts, key=lambda choice: choice.rank(task.pressure))
            if left < 0:  # a large robot: only the best form goes on
                starts = [best]
            seen = self._seen(task, best)
            self._tell("refine", best, seen.errors)
            if self._excess(seen.errors).max() <= 1 and not seen.errors.wrapped:
                return self._tamed(task, best, seen), best, seen
            scale = scale / np.maximum(1.0, 1.005 * seen.errors.rms**2 / self.demanded)
            strict = strict * np.maximum(1.0, 1.01 * seen.errors.max / task.largest) ** 2
            tighter = replace(task, allowed=self.task(scale).allowed, pressure=2.0 ** (turn + 1))
            task = self._tamed(tighter, best, seen, strict)
        where = f"on {SEEN} states; the nearest has {seen.errors}" if seen else "when simulated"
        raise self._unreachable(where + " (more effort tries longer)" * (left < -most))

    def _unreachable(self, where: str) -> UsageError:
        """Say what is not reached, and what inputs and rounding make of errors on their own."""
        words = quantities(self.torques.robot, self.demand.input_bits)
        widths = sorted({word.bits for word in words.values()})
        floor = Search(self.task(np.ones(len(self.demanded))), 0).floor()
        kind, why = "demanded", ""
        if not self.demand.rms:
            bits = self.demand.bits
            kind = "default"
            why = f" (the paper's own error at {bits} bits; --rms-error allows another)"
        rms = f"{kind} rms {_listed(self.demanded)} LSB{why}"
        most = listing(f"{x:g}" for x in self.largest)
        largest = f" and the demanded max {most} LSB" if self.demand.max else ""
        return UsageError(
            f"no widths reach the {rms}{largest} {where}: "
            f"inputs of {listing(map(str, widths))} bits and rounding alone make "
            f"{_listed(floor.total)} LSB: "
            f"{floor.advice(self.demanded)}"
        )

    def _tamed(self, task: Task, choice: Choice, seen: _Seen, strict: Floats | None = None) -> Task:
        """Return a task that watches the worst states too.

        There the model is allowed what it says of a choice: over `strict` where that is known,
        else as much more as there is room in the largest errors.
        """
        if not self.demand.max:
            return task
        joints = len(self.demanded)
        watched = replace(task, worst=_together(task.worst, seen.worst), tamed=np.ones(joints))
        _, noise = Search(watched, choice.form).noise(choice)
        room = (seen.errors.max / watched.largest) ** 2
        if strict is not None:
            room = np.where(room > 1, strict, room)
        return replace(watched, tamed=noise[joints:] / room)

    def _improved(self, task: Task, best: Choice, chunk: int, units: float) -> Choice:
        jobs = [(task, best, chunk * WALKERS + k, units) for k in range(WALKERS)]
        found = self._all(f"improve {chunk}", search.improve, jobs)
        return min([best, *found], key=lambda choice: choice.nodes)

    def _all(
        self, name: str, function: Callable[..., Choice], jobs: Sequence[tuple[Any, ...]]
    ) -> list[Choice]:
        """Call a step for several choices, each once ever, in as many processes as there are."""
        missing = [k for k in range(len(jobs)) if f"{name} {k}" not in self.done]
        made = len(jobs) - len(missing)
        self._advance(name, made / max(1, len(jobs)))
        calls = [jobs[k] for k in missing]
        for place, choice in call_all(function, calls, self.processes):
            self.done[f"{name} {missing[place]}"] = written(choice)
            self.stages.note(self.done)
            made += 1
            self._advance(name, made / len(jobs))
        return [read(self.done[f"{name} {k}"]) for k in range(len(jobs))]

    def _seen(self, task: Task, choice: Choice) -> _Seen:
        """Return a choice's errors on very many states."""
        graph = search_of(task, choice.form).graph(choice)
        demand, robot = self.demand, self.torques.robot
        quick = not demand.effort and not demand.max
        seen = min(SEEN, QUICK_SEEN) if quick else SEEN
        many = Sampling(robot, demand.input_bits, demand.bits, seen, demand.seed + 4)
        errors, sampled = measure_worst(many, graph, WORST)
        worst: Sequence[Floats] = sampled
        for evaluations in (CLIMBED, EVALUATIONS) if demand.max else ():
            start = np.concatenate(worst, axis=1)
            found = graph_worst(robot, demand, graph, evaluations, start, WORST)
            errors = replace(errors, max=np.maximum(errors.max, found.most))
            worst = _together(worst, split(found.watched.reshape(-1, start.shape[1])))
            if self._excess(errors).max() > 1:
                break  # there is no need to look further
        return _Seen(errors, worst)

    def _excess(self, errors: Errors) -> Floats:
        """Return, for every joint, by what factor errors are larger than demanded."""
        rms = errors.rms / np.sqrt(self.demanded)
        return np.asarray(np.maximum(rms, errors.max / (self.largest * MAX_CAUTION)))

    def _tell(self, stage: str, best: Choice, errors: Errors) -> None:
        """Say what is best now."""
        rms = tuple(float(x) for x in errors.rms)
        note = f"{errors}, {FORMS[best.form]}"
        self.latest = Progress(stage, int(best.nodes), rms, self.latest.fraction, note)
        self.progress(self.latest)

    def _advance(self, name: str, part: float) -> None:
        """Say how far a step is, such as `improve 2`: a part of its share of all the work."""
        stage, _, turn = name.partition(" ")
        low, high = spans(self.demand.effort)[stage]
        if stage == "refine":  # the first turns mostly do
            part = 1 - 0.5 ** (int(turn) + part)
        elif stage == "improve":
            part = (int(turn) + part) / CHUNKS
        fraction = max(self.latest.fraction, low + part * (high - low))
        self.latest = replace(self.latest, stage=stage, fraction=fraction)
        self.progress(self.latest)

    def _compact(self, task: Task, best: Choice, errors: Errors) -> Compact:
        made = Search(task, best.form)
        cost, noise = made.noise(best)
        return Compact(
            self.torques.robot, self.demand, FORMS[best.form], made.sketch, best.widths,
            narrowed(made.graph(best)), best.biases, self.demanded, int(best.nodes),
            cost, np.sqrt(noise[: len(self.demanded)]), errors,
        )  # fmt: skip


def _paper(torques: Torques, demand: Demand) -> list[float]:
    return [float(x) for x in paper_rms(torques, demand.bits)]


def _has_exact(sketch: Sketch) -> bool:
    return any(isinstance(node, AngleSum) and node.exact for node in sketch.nodes)


def _listed(squares: Floats) -> str:
    return listing(f"{rms:.3f}" for rms in np.sqrt(squares))


def _together(one: Sequence[Floats], other: Sequence[Floats]) -> tuple[Floats, ...]:
    """Join sets of worst states, torque after torque and as many for each; the latest are kept."""
    joined = []
    for k, new in enumerate(other):
        joints = new.shape[1]
        sets = [old.reshape(joints, -1, joints) for old in (*one[k : k + 1], new)]
        both = np.concatenate(sets, axis=1)[:, -MOST_WATCHED:]
        joined.append(both.reshape(-1, joints))
    return tuple(joined)


def written(choice: Choice) -> dict[str, Any]:
    """Return a choice as numbers and texts."""
    return {
        "form": choice.form,
        "widths": [[place, name, value] for (place, name), value in choice.widths.items()],
        "prices": choice.prices.tolist(),
        "biases": choice.biases.tolist(),
        "widened": choice.widened,
        "nodes": choice.nodes if choice.nodes < math.inf else None,
        "excess": choice.excess,
    }


def read(text: dict[str, Any]) -> Choice:
    """Undo `written`."""
    widths = {(place, name): value for place, name, value in text["widths"]}
    nodes = math.inf if text["nodes"] is None else text["nodes"]
    return Choice(
        text["form"], widths, np.asarray(text["prices"]), np.asarray(text["biases"]),
        text["widened"], nodes, text["excess"],
    )  # fmt: skip
