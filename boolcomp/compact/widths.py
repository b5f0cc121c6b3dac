"""The passes that choose widths: sketch, screen, refine, improve.

All forms are screened by the model; the two most promising are refined; of the smaller, widths
are annealed while effort lasts. What is kept has held on a million states. The same demand gives
the same result, whatever the number of processes and however often it was interrupted.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from boolcomp.base.errors import UsageError, listing
from boolcomp.base.workers import Shared
from boolcomp.compact import search
from boolcomp.compact.demand import ROUNDING, Demand, Listener, Progress
from boolcomp.compact.errors import (
    Errors,
    Sampling,
    deviations,
    errors_of,
    every_state,
    graph_worst,
    in_cells,
    is_countable,
    is_exact,
    measure_worst,
    paper_rms,
    sampled_outputs,
    states_of,
)
from boolcomp.compact.limits import (
    DIRECT,
    DIRECT_EXACT,
    EXACT,
    FORMS,
    PLAIN,
    TABLED,
    rounding_squares,
)
from boolcomp.compact.search import (
    CAUTION,
    MAX_CAUTION,
    Candidate,
    Search,
    SearchTask,
    reach_of,
    search_of,
)
from boolcomp.compact.sketch import AngleSum, quantities, variable
from boolcomp.compact.sketch_terms import without_small_waves
from boolcomp.proof.worst import EVALUATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.compact.sketch import Sketch
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# The record of a search: steps that are done, written down one by one, and how far it is.
#
# A step that was done before an interruption is not done again. Steps of one name run side by
# side where there are workers; what they return never depends on that.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# The passes that choose widths: sketch, screen, refine, improve.
# --------------------------------------------------------------------------------------------------


MOST_WAVES = 5_000  # of terms: sums of more take minutes to write down, and are never smaller
NEARLY_AS_SMALL = 1.15  # times the nodes of sums of waves: steps that may still be smaller
BESIDE = 1e-9  # of a range: the paper's ranges are symmetric about zero
REFINED, QUICK_REFINED = 2, 1  # forms that are refined; where no effort is allowed
TIGHTENINGS = 6  # tries to hold the errors on many states
FREE_WORK, WORK = 60_000, 10_000  # of refining (see `refine_work`): always, a nominal second
ROOM = 1.03  # times what rounding makes of an output that hardly leaves zero
USUAL_RMS = 0.5  # steps: the default where not all is terms, and the paper has no tables
ABOVE_FLOOR = 1.25  # times what inputs and rounding make: the least that this default allows
ABOVE_JUMPS = 1.4  # and where that is more than a step, as jumps make it
LEAST = 1.1  # times the rms of rounding: the least that the default allows
SEEN, QUICK_SEEN = 2_000_000, 500_000  # states on which errors have to hold; with no effort
CLIMBED = 4_000_000  # evaluations that seek the worst error, where it is demanded, at first
WORST = 400  # of states are watched, for every output, after each look
MOST_WATCHED = 1600


@dataclass(frozen=True, slots=True, eq=False)
class Sketched:
    """What is sought: outputs over words without widths yet, and what they may err by, in steps.

    `squares` are the mean squares demanded, `largest` the largest errors; `sketches` are those of
    the forms that are screened first.
    """

    terms: Terms
    demand: Demand
    ledger: Ledger
    squares: Floats
    largest: Floats
    sketches: Mapping[int, Sketch] = field(default_factory=dict)

    def task(self, scale: Floats | float = 1.0) -> SearchTask:
        """Return the task with mean squares allowed to be `scale` of those demanded."""
        caution = 1.0 if self.exact else CAUTION
        return SearchTask(self.terms, self.demand, self.squares * caution * scale, self.most)

    @property
    def exact(self) -> bool:
        """Whether errors are known at all states there are."""
        return is_exact(self.terms.problem, self.demand.input_bits)

    @property
    def most(self) -> Floats:
        """What the largest errors may be, so that others than those seen are not too large."""
        return self.largest if self.exact else self.largest * MAX_CAUTION

    def excess(self, errors: Errors) -> float:
        """Return by what factor errors are larger than demanded, at most."""
        rms = errors.rms / np.sqrt(self.squares)
        return float(np.maximum(rms, errors.max / self.most).max())

    def holds(self, errors: Errors) -> bool:
        """Tell whether errors are as demanded."""
        return self.excess(errors) <= 1 and not errors.wrapped

    def unreachable(self, where: str) -> UsageError:
        """Say what is not reached, and what inputs and rounding make of errors on their own."""
        words = quantities(self.terms.problem, self.demand.input_bits)
        widths = sorted({word.bits for word in words.values()})
        floor = Search(self.task(), forms_of(self.terms, self.demand)[0]).floor()
        kind, why = "demanded", ""
        if not self.demand.rms:
            bits = self.demand.bits
            kind = "default"
            whose = "the paper's own error" if _has_plan(self.terms) else "half a step or more"
            why = f" ({whose} at {bits} bits; --rms-error allows another)"
        rms = f"{kind} rms {_listed(self.squares)} LSB{why}"
        most = listing(f"{x:g}" for x in self.largest)
        largest = f" and the demanded max {most} LSB" if self.demand.max else ""
        return UsageError(
            f"no widths reach the {rms}{largest} {where}: "
            f"inputs of {listing(map(str, widths))} bits and rounding alone make "
            f"{_listed(floor.total)} LSB: "
            f"{floor.advice(self.squares)}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Screened:
    """The most promising candidates by the model."""

    goal: Sketched
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Errors on very many states, and those states at which they were largest.

    Where the largest error is demanded it is that found by climbing.
    """

    errors: Errors
    worst: Sequence[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Refined:
    """The smallest candidate that holds on very many states, its task, and what was seen there."""

    goal: Sketched
    task: SearchTask
    best: Candidate
    seen: Seen


def sketch(terms: Terms, demand: Demand, ledger: Ledger) -> Sketched:
    """Write outputs down as words without widths; refuse what no logic can reach."""
    rms = demand.rms or _usual(terms, demand, ledger)
    least = np.maximum(np.asarray(rms, dtype=np.float64), 0.0)
    if not demand.rms:
        least = np.maximum(least, LEAST * ROUNDING)
        # What hardly leaves zero has no word near it, whatever the paper's tables do.
        outputs = sampled_outputs(terms.problem, demand.bits)
        cells, reach = in_cells(terms.problem, outputs), reach_of(terms.problem, demand)
        small = np.sqrt(rounding_squares(cells, reach))
        least = np.where(small > ROUNDING, np.maximum(least, ROOM * small), least)
    count = len(terms.problem.outputs)
    squares = np.broadcast_to(least, count).copy() ** 2
    largest = np.broadcast_to(np.asarray(demand.max or np.inf), count).copy()
    if is_pruned(terms):
        steps = terms.problem.steps(demand.bits)
        terms = without_small_waves(terms, squares.tolist(), steps)
    goal = Sketched(terms, demand, ledger, squares, largest)
    task = goal.task()
    forms = forms_of(terms, demand)
    if not demand.saturate and search_of(task, forms[0]).floor().forbids(squares):
        raise goal.unreachable("whatever the logic")  # what saturates may err less
    made: dict[Sketch, int] = {}
    for form in forms:  # equal ones are screened once
        made.setdefault(Search.sketch_of(task, form), form)
    return replace(goal, sketches={form: sketch for sketch, form in made.items()})


def is_pruned(terms: Terms) -> bool:
    """Tell whether sums of these waves are written without the smallest of them."""
    return terms.plain and terms.waves > MOST_WAVES


def forms_of(terms: Terms, demand: Demand) -> Sequence[int]:
    """Return the forms that are screened first."""
    plain = TABLED if demand.of_words else PLAIN
    sums = tuple(plain) if terms.outputs and terms.waves <= MOST_WAVES else ()
    if not sums and terms.steps is None:
        raise UsageError(
            f"{terms.problem.name}: {terms.waves} waves matter at these errors, and at most "
            f"{MOST_WAVES} are compiled: allow larger errors, or take fewer outputs"
        )
    return sums if terms.steps is None else (*sums, DIRECT)


def _has_plan(terms: Terms) -> bool:
    """Tell whether the paper's way is one for these."""
    beside = any(abs(x.range.centre) > BESIDE * x.range.width for x in terms.problem.outputs)
    return terms.plain and terms.waves <= MOST_WAVES and not beside


def _usual(terms: Terms, demand: Demand, ledger: Ledger) -> list[float]:
    """Return the usual rms errors, in steps: the paper's own, or what suits inputs so wide.

    Of an output that saturates it is the larger one.
    """
    if not _has_plan(terms):
        return [max(USUAL_RMS, one) for one in _above_floor(terms, demand)]
    saturating = demand.saturating(terms.problem)
    name = "paper saturated" if any(saturating) else "paper"
    paper = ledger.numbers(
        name, lambda: [float(x) for x in paper_rms(terms, demand.bits, saturating=saturating)]
    )
    if not any(saturating):
        return paper
    if demand.saturate:
        return list(map(max, paper, _above_floor(terms, demand)))
    reach = reach_of(terms.problem, demand)
    if reach is None:
        return paper
    beyond = (np.abs(sampled_outputs(terms.problem, demand.bits)) > reach).any(axis=0)
    if not beyond.any():
        return paper
    larger = map(max, paper, _above_floor(terms, demand))
    return [float(x) for x in np.where(beyond, list(larger), paper)]


def _above_floor(terms: Terms, demand: Demand) -> list[float]:
    """Return rms errors, in steps, that leave room beside what inputs and rounding make."""
    ample = np.full(len(terms.problem.outputs), 1.0)
    task = SearchTask(terms, demand, ample, np.inf * ample)
    floor = np.sqrt(search_of(task, forms_of(terms, demand)[-1]).floor().total)
    return [float(x) for x in np.where(floor < 1, ABOVE_FLOOR, ABOVE_JUMPS) * floor]


def screen(goal: Sketched) -> Screened:
    """Choose the most promising forms by the model, one for every sketch."""
    sums, direct = PLAIN[0] in goal.sketches, DIRECT in goal.sketches
    sums |= TABLED[0] in goal.sketches
    found = _screened(goal, "screen", list(goal.sketches))
    if all(sums and FORMS[choice.form].direct for choice in found.values()):
        # Of coarse inputs no bit may be lost; a recursion is no way round that for sums of waves.
        exact = [*(EXACT if sums else ()), *((DIRECT_EXACT,) if direct else ())]
        other = [form for form in exact if _has_exact(Search.sketch_of(goal.task(), form))]
        found |= _screened(goal, "screen exact", other)
    if not found:
        raise goal.unreachable("by the model")
    return Screened(goal, promising(goal, found.values()))


def _screened(goal: Sketched, name: str, forms: Iterable[int]) -> dict[object, Candidate]:
    """Return what the model makes of forms, the first of every sketch."""
    task = goal.task()
    found = goal.ledger.candidates(name, search.screen, [(task, form) for form in forms])
    kept: dict[object, Candidate] = {}
    for choice in sorted(found, key=lambda c: (c.nodes, c.form)):
        if choice.nodes < math.inf:
            known = choice.form in goal.sketches
            own = goal.sketches[choice.form] if known else Search.sketch_of(task, choice.form)
            kept.setdefault(own, choice)
    return kept


def promising(goal: Sketched, found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the smallest; steps only where they are nearly as small as sums of waves."""
    ranked = sorted(found, key=lambda c: (c.nodes, c.form))
    sums = [choice.nodes for choice in ranked if not FORMS[choice.form].direct]
    most = NEARLY_AS_SMALL * min(sums, default=math.inf)
    near = [c for c in ranked if not FORMS[c.form].direct or c.nodes <= most]
    return tuple(near)[: REFINED if goal.demand.effort else QUICK_REFINED]


def refine(screened: Screened) -> Refined:
    """Build and simulate, correct what the model is allowed, until one holds on many states."""
    goal, starts, seen = screened.goal, list(screened.candidates), None
    scale, strict = np.ones((2, len(goal.squares)))
    task = goal.task()
    left = most = FREE_WORK + WORK * goal.demand.effort
    for turn in range(TIGHTENINGS):
        if left < -most:
            break
        left -= sum(map(search.refine_work, starts))
        jobs = [(task, start) for start in starts]
        found = goal.ledger.candidates(f"refine {turn}", search.refine, jobs)
        starts = [choice for choice in found if choice.nodes < math.inf]
        if not starts:
            break
        best = min(starts, key=lambda choice: choice.rank(task.pressure))
        if left < 0:  # a large problem: only the best form goes on
            starts = [best]
        seen = errors_seen(goal, task, best)
        goal.ledger.tell("refine", best, seen.errors)
        if goal.holds(seen.errors):
            return Refined(goal, _watching(task, best, seen), best, seen)
        if seen.errors.wrapped:
            starts = [replace(choice, widened=choice.widened + 1) for choice in starts]
        scale = scale / np.maximum(1.0, 1.005 * seen.errors.rms**2 / goal.squares)
        strict = strict * np.maximum(1.0, 1.01 * seen.errors.max / task.largest) ** 2
        tighter = replace(task, allowed=goal.task(scale).allowed, pressure=2.0 ** (turn + 1))
        task = _watching(tighter, best, seen, strict)
    where = f"on {SEEN} states; the nearest has {seen.errors}" if seen else "when simulated"
    raise goal.unreachable(where + " (more effort tries longer)" * (left < -most))


def improve(refined: Refined) -> Refined:
    """Anneal widths while effort lasts; what is smaller counts if it holds on many states."""
    goal, task, best, seen = refined.goal, refined.task, refined.best, refined.seen
    units = goal.demand.effort / (CHUNKS * ANNEALERS)
    for chunk in range(CHUNKS if goal.demand.effort else 0):
        jobs = [(task, best, chunk * ANNEALERS + k, units) for k in range(ANNEALERS)]
        found = goal.ledger.candidates(f"improve {chunk}", search.improve, jobs)
        tried = min([best, *found], key=lambda choice: choice.nodes)
        if tried.nodes < best.nodes:
            look = errors_seen(goal, task, tried)
            if goal.holds(look.errors):
                best, seen = tried, look
            else:  # what was missed is watched from now on
                seen = Seen(seen.errors, look.worst)
            task = _watching(task, best, seen)
        goal.ledger.tell("improve", best, seen.errors)
    return Refined(goal, task, best, seen)


def _watching(
    task: SearchTask, choice: Candidate, seen: Seen, strict: Floats | None = None
) -> SearchTask:
    """Return a task that watches the worst states too.

    There the model is allowed what it says of a choice: over `strict` where that is known,
    else as much more as there is room in the largest errors.
    """
    if not task.demand.max:
        return task
    outputs = len(task.allowed)
    watched = replace(
        task, worst=_together(task.worst, seen.worst, outputs), worst_limits=np.ones(outputs)
    )
    _, noise = Search(watched, choice.form).noise(choice)
    room = (seen.errors.max / watched.largest) ** 2
    if strict is not None:
        room = np.where(room > 1, strict, room)
    return replace(watched, worst_limits=noise[outputs:] / room)


def errors_seen(goal: Sketched, task: SearchTask, choice: Candidate) -> Seen:
    """Return a candidate's errors on very many states."""
    graph = search_of(task, choice.form).graph(choice)
    demand, problem = goal.demand, goal.terms.problem
    quick = not demand.effort and not demand.max
    count = min(SEEN, QUICK_SEEN) if quick else SEEN
    if goal.exact:
        return _seen_everywhere(goal, task, choice, graph)
    worst: Sequence[Floats]
    if demand.max and is_countable(problem, demand.input_bits):
        seen = _seen_everywhere(goal, task, choice, graph)
        errors, worst = seen.errors, seen.worst
    else:
        many = Sampling(problem, demand.input_bits, demand.bits, count, demand.seed + 4)
        errors, worst = measure_worst(many, graph, WORST, goal.ledger.workers)
    for evaluations in (CLIMBED, demand.evaluations(EVALUATIONS)) if demand.max else ():
        start = np.concatenate(worst, axis=1)
        found = graph_worst(problem, demand, graph, evaluations, start, WORST)
        errors = replace(errors, max=np.maximum(errors.max, found.most))
        watched = problem.arrays(found.watched.reshape(-1, start.shape[1]))
        worst = _together(worst, watched, len(problem.outputs))
        if goal.excess(errors) > 1:
            break  # there is no need to look further
    return Seen(errors, worst)


def _seen_everywhere(goal: Sketched, task: SearchTask, choice: Candidate, graph: WordGraph) -> Seen:
    """Return a candidate's errors at all words, and so the largest there are."""
    problem, search = goal.terms.problem, search_of(task, choice.form)
    errors = errors_of(*(found := deviations(graph, search.states)), search.counted)
    every = every_state(problem, goal.demand.input_bits)
    states = states_of(problem, search.words, search.steps, every)
    error = found[0] if goal.exact else deviations(graph, states)[0]
    worst = np.argsort(-np.abs(error), axis=0, kind="stable")[:WORST]
    return Seen(errors, [np.concatenate([array[k] for k in worst.T]) for array in every])


def _has_exact(one: Sketch) -> bool:
    return any(isinstance(node, AngleSum) and node.exact for node in one.nodes)


def _listed(squares: Floats) -> str:
    return listing(f"{rms:.3f}" for rms in np.sqrt(squares))


def _together(one: Sequence[Floats], other: Sequence[Floats], outputs: int) -> tuple[Floats, ...]:
    """Join sets of worst states, output after output and as many for each; the latest are kept."""
    joined = []
    for k, new in enumerate(other):
        columns = new.shape[1]
        sets = [old.reshape(outputs, -1, columns) for old in (*one[k : k + 1], new)]
        both = np.concatenate(sets, axis=1)[:, -MOST_WATCHED:]
        joined.append(both.reshape(-1, columns))
    return tuple(joined)
