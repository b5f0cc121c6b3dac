"""The passes that choose widths: sketch, screen, refine, improve.

The model screens all forms. The two most promising ones are refined, and the widths of the smaller
one are annealed. The result keeps to the allowed errors on two million states. It does not depend
on the number of processes or on interruptions.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np

from boolcomp.base.errors import UsageError, listing
from boolcomp.base.workers import SharedValue
from boolcomp.compact import search
from boolcomp.compact.costs import costs_of
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
)
from boolcomp.compact.limits import (
    DIRECT,
    DIRECT_EXACT,
    EXACT,
    FORMS,
    MULTIPLIED,
    PLAIN,
    TABLED,
    rounding_squares,
)
from boolcomp.compact.search import (
    CAUTION,
    MAX_CAUTION,
    ROUNDS,
    Candidate,
    SampledForm,
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
# The record of finished steps of a search, and its progress.
#
# A finished step is not repeated after an interruption. Workers share the jobs of a step; the
# results do not depend on that.
# --------------------------------------------------------------------------------------------------

CHUNKS, ANNEALERS = 4, 2  # parts of the effort; annealing runs in each


class Checkpoint(Protocol):
    """Storage for the results of finished steps, as JSON values."""

    def stages(self) -> dict[str, Any]:
        """Return the results of finished steps by name."""

    def note(self, stages: dict[str, Any]) -> None:
        """Store the results of finished steps."""


class Ledger:
    """The finished steps of a search, with its checkpoint, progress and workers."""

    def __init__(
        self, effort: float, progress: Listener, checkpoint: Checkpoint | None, workers: Workers
    ) -> None:
        self.effort, self.progress, self.workers = effort, progress, workers
        self.checkpoint, self.latest = checkpoint, Progress("")
        self.since = time.perf_counter()
        self.task: SharedValue | None = None
        self.done = checkpoint.stages() if checkpoint else {}

    def numbers(self, name: str, make: Callable[[], list[float]]) -> list[float]:
        """Return the numbers of a step, from the checkpoint if it is finished."""
        if name not in self.done:
            self._note(name, make())
        return [float(x) for x in self.done[name]]

    def candidates(
        self, name: str, function: Callable[..., Candidate], jobs: Sequence[tuple[Any, ...]]
    ) -> list[Candidate]:
        """Return the candidates of several jobs, from the checkpoint if they are finished."""
        missing = [k for k in range(len(jobs)) if f"{name} {k}" not in self.done]
        made = len(jobs) - len(missing)
        self._advance(name, made / max(1, len(jobs)))
        calls = [(self._shared(jobs[k][0]), *jobs[k][1:]) for k in missing]
        for place, choice in self.workers.completed(function, calls):
            self._note(f"{name} {missing[place]}", written(choice))
            made += 1
            self._advance(name, made / len(jobs))
        return [read(self.done[f"{name} {k}"]) for k in range(len(jobs))]

    def _shared(self, task: Any) -> SharedValue:
        """Wrap a task once for all calls of a step."""
        if self.task is None or self.task.value is not task:
            self.task = SharedValue(task)
        return self.task

    def report(self, stage: str, best: Candidate, note: str, errors: Errors | None = None) -> None:
        """Report the best candidate, with its sampled errors if they are known."""
        rms = () if errors is None else tuple(float(x) for x in errors.rms)
        self.latest = Progress(stage, int(best.nodes), rms, self.latest.fraction, note)
        self.progress(self.latest)

    def report_errors(self, stage: str, best: Candidate, errors: Errors) -> None:
        self.report(stage, best, f"{errors}, {FORMS[best.form]}", errors)

    def _note(self, name: str, made: Any) -> None:
        self.done[name] = made
        if self.checkpoint:
            self.checkpoint.note(self.done)

    def _advance(self, name: str, part: float) -> None:
        """Report the progress of a step, such as `improve 2`, as a part of its stage."""
        stage, _, turn = name.partition(" ")
        if stage == "refine":  # the first turns are usually enough
            part = 1 - 0.5 ** (int(turn) + part)
        elif stage == "improve":
            part = (int(turn) + part) / CHUNKS
        self.latest = replace(self.latest, stage=stage, fraction=part)
        self.progress(self.latest)


def written(choice: Candidate) -> dict[str, Any]:
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
    """Parse the result of `written`."""
    widths = {variable(node, name): value for node, name, value in text["widths"]}
    nodes = math.inf if text["nodes"] is None else text["nodes"]
    return Candidate(
        text["form"], widths, np.asarray(text["prices"]), np.asarray(text["biases"]),
        text["widened"], nodes, text["excess"],
    )  # fmt: skip


# --------------------------------------------------------------------------------------------------
# The passes that choose widths: sketch, screen, refine, improve.
# --------------------------------------------------------------------------------------------------

MOST_WAVES = 5_000  # of terms: larger sums take minutes, and are never smaller than other forms
NEARLY_AS_SMALL = 1.15  # ratio to the nodes of sums of waves up to which steps are tried
BESIDE = 1e-9  # of a range: tolerance of the symmetry about zero of the paper's ranges
REFINED, QUICK_REFINED = 2, 1  # forms that are refined; with effort 0
TIGHTENINGS = 6  # tries to keep to the errors on many states
FREE_WORK, WORK = 60_000, 10_000  # of refining (widths times rounds): always, a nominal second
ROOM = 1.03  # factor on the rounding error of an output that hardly leaves zero
USUAL_RMS = 0.5  # steps: the default for problems without tables in the paper's sense
ABOVE_FLOOR = 1.25  # least ratio of this default to the floor of errors
ABOVE_JUMPS = 1.4  # the same if the floor is above a step, due to jumps
LEAST = 1.1  # least ratio of the default to the rms error of rounding
SEEN, QUICK_SEEN = 2_000_000, 500_000  # states of the final test; with effort 0
CLIMBED = 4_000_000  # evaluations of the first error search, for a demanded maximum
WORST = 400  # states that are watched, for every output, after each test
MOST_WATCHED = 1600


@dataclass(frozen=True, slots=True, eq=False)
class ObservedErrors:
    """Errors on very many states, and the states of the largest errors.

    With a demanded maximum the largest error is that of a search.
    """

    errors: Errors
    worst: Sequence[Floats]


@dataclass(frozen=True, slots=True, eq=False)
class WidthSearch(ABC):
    """A search for widths: the allowed errors in steps, and the candidates found so far.

    `squares` are the allowed mean squares, `largest` the largest errors; `sketches` are those of
    the forms that are screened first. Steps continue from `starts` with `task`, in turns. `best` is
    the smallest candidate within the allowed errors, `seen` its errors on very many states.
    """

    terms: Terms
    demand: Demand
    ledger: Ledger
    squares: Floats
    largest: Floats
    task: SearchTask
    sketches: Mapping[int, Sketch] = field(default_factory=dict)
    starts: tuple[Candidate, ...] = ()
    turn: int = 0
    best: Candidate | None = None
    seen: ObservedErrors | None = None

    @property
    def exact(self) -> bool:
        return is_exact(self.terms.problem, self.demand.input_bits)

    @property
    def limits(self) -> Floats:
        return self.largest if self.exact else self.largest * MAX_CAUTION

    @property
    def result(self) -> tuple[Candidate, ObservedErrors]:
        """The best candidate and its errors; `ValueError` before there is one."""
        if self.best is None or self.seen is None:
            raise ValueError("the search has no result")
        return self.best, self.seen

    @property
    def sampling(self) -> SearchTask:
        """The task with which the result is measured on samples."""
        return self.task

    def sampled_task(self, scale: Floats | float = 1.0) -> SearchTask:
        """Return the task by samples with the allowed mean squares times `scale`."""
        caution = 1.0 if self.exact else CAUTION
        return SearchTask(self.terms, self.demand, self.squares * caution * scale, self.limits)

    def excess(self, errors: Errors) -> float:
        """Return the largest ratio of errors to the allowed ones."""
        rms = errors.rms / np.sqrt(self.squares)
        return float(np.maximum(rms, errors.max / self.limits).max())

    def screened(self, name: str, forms: Iterable[int]) -> list[Candidate]:
        return self.ledger.candidates(name, search.screen, [(self.task, form) for form in forms])

    def screen(self) -> Self:
        """Choose the most promising forms by the model: the smallest ones.

        Steps are chosen only if they are nearly as small as sums of waves.
        """
        found = self.feasible(self.screened("screen", self.sketches))
        ranked = sorted(found, key=lambda c: (c.nodes, c.form))
        sums = [choice.nodes for choice in ranked if not FORMS[choice.form].direct]
        limit = NEARLY_AS_SMALL * min(sums, default=math.inf)
        near = [c for c in ranked if not FORMS[c.form].direct or c.nodes <= limit]
        count = REFINED if self.demand.effort else QUICK_REFINED
        multiplied = [choice for choice in near if FORMS[choice.form].multiplied][:REFINED]
        others = [choice for choice in near if not FORMS[choice.form].multiplied]
        return replace(self, starts=(*others[: 1 if multiplied else count], *multiplied))

    def refine(self) -> Self:
        """Refine candidates in turns until one holds, or holds and can hardly be smaller."""
        state = self
        while state.unfinished:
            jobs = [(state.task, start) for start in state.starts]
            found = self.ledger.candidates(f"refine {state.turn}", search.refine, jobs)
            state = replace(state.refined(found), turn=state.turn + 1)
        return state

    def improve(self) -> Self:
        """Anneal widths; a smaller result must keep to the allowed errors."""
        state, units = self, self.demand.effort / (CHUNKS * ANNEALERS)
        for chunk in range(CHUNKS if self.demand.effort else 0):
            start, name = state.best or state.starts[0], f"improve {chunk}"
            jobs = [(state.task, start, chunk * ANNEALERS + k, units) for k in range(ANNEALERS)]
            found = self.ledger.candidates(name, search.improve, jobs)
            tried = min(found, key=state.task.rank)
            if state.best is None or tried.nodes < state.best.nodes:
                state = state.judged(tried, name)
        return state.finished()

    @abstractmethod
    def feasible(self, found: list[Candidate]) -> list[Candidate]:
        """Return the candidates that the model does not exclude."""

    @property
    @abstractmethod
    def unfinished(self) -> bool:
        """Whether refining needs another turn."""

    @abstractmethod
    def refined(self, found: list[Candidate]) -> Self:
        """Judge the candidates of a turn of refining."""

    @abstractmethod
    def judged(self, tried: Candidate, name: str) -> Self:
        """Judge a candidate that is smaller than the best; `name` is the step that found it."""

    def finished(self) -> Self:
        return self


@dataclass(frozen=True, slots=True, eq=False)
class SampledSearch(WidthSearch):
    """The search of widths with errors at states.

    `scale` and `strict` tighten the allowed mean squares and the largest errors; `left` is the
    counted work that refining may still need.
    """

    scale: Floats | float = 1.0
    strict: Floats | float = 1.0
    left: float = 0.0

    @classmethod
    def begun(cls, terms: Terms, demand: Demand, ledger: Ledger) -> SampledSearch:
        """Return a search with its sketches; raise `UsageError` for errors below the floor."""
        squares, largest = _allowed(terms, demand, ledger)
        if is_pruned(terms):
            steps = terms.problem.steps(demand.bits)
            terms = without_small_waves(terms, squares.tolist(), steps)
        raw, forms = SearchTask(terms, demand, squares, largest), forms_of(terms, demand)
        found = cls(terms, demand, ledger, squares, largest, raw)
        task = found.sampled_task()
        if not demand.saturate and search_of(task, forms[0]).floor().forbids(squares):
            raise found.unreachable("with any logic")  # saturating outputs may have smaller errors
        left = FREE_WORK + WORK * demand.effort
        return replace(found, task=task, sketches=distinct(task, forms), left=left)

    def unreachable(self, where: str) -> UsageError:
        """Return the error for a goal that is not reached, with the floor of errors and advice."""
        words = quantities(self.terms.problem, self.demand.input_bits)
        widths = sorted({word.bits for word in words.values()})
        form = forms_of(self.terms, self.demand)[0]
        floor = search_of(self.sampled_task(), form).floor()
        kind, default = "demanded", ""
        if not self.demand.rms:
            bits = self.demand.bits
            kind = "default"
            origin = "the paper's own error" if _has_plan(self.terms) else "half a step or more"
            default = f" ({origin} at {bits} bits; --accuracy rms= allows another)"
        rms = f"{kind} rms {_listed(self.squares)} LSB{default}"
        limits = listing(f"{x:g}" for x in self.largest)
        largest = f" and the demanded max {limits} LSB" if self.demand.max else ""
        return UsageError(
            f"no widths reach the {rms}{largest} {where}: the error of inputs of "
            f"{listing(map(str, widths))} bits and rounding alone is {_listed(floor.total)} LSB",
            floor.advice(self.squares),
        )

    def feasible(self, found: list[Candidate]) -> list[Candidate]:
        """Return the feasible candidates; raise `UsageError` if there are none."""
        found = [choice for choice in found if choice.nodes < math.inf]
        direct = DIRECT in self.sketches
        sums = PLAIN[0] in self.sketches or TABLED[0] in self.sketches
        if all(sums and FORMS[choice.form].direct for choice in found):
            # Sums of coarse angles must not lose a bit, also if a recursion is feasible.
            exact = [*(EXACT if sums else ()), *((DIRECT_EXACT,) if direct else ())]
            other = [k for k, sketch in distinct(self.task, exact).items() if _has_exact(sketch)]
            found += [c for c in self.screened("screen exact", other) if c.nodes < math.inf]
        if not found:
            raise self.unreachable("by the model")
        return found

    def holds(self, errors: Errors) -> bool:
        return self.excess(errors) <= 1 and not errors.wrapped

    @property
    def unfinished(self) -> bool:
        return self.best is None

    def refined(self, found: list[Candidate]) -> SampledSearch:
        """Measure the best candidate's errors; if they are too large, allow the model less."""
        left = self.left - ROUNDS * sum(len(start.widths) for start in self.starts)
        late = left < -(FREE_WORK + WORK * self.demand.effort)
        starts = tuple(choice for choice in found if choice.nodes < math.inf)
        if not starts:
            raise self._given_up(self.seen, late=late)
        best = min(starts, key=self.task.rank)
        if left < 0:  # a large problem: continue with the best form only
            starts = (best,)
        seen = errors_seen(self, self.task, best)
        self.ledger.report_errors("refine", best, seen.errors)
        if self.holds(seen.errors):
            return replace(self, task=_watching(self.task, best, seen), best=best, seen=seen)
        if late or self.turn + 1 == TIGHTENINGS:
            raise self._given_up(seen, late=late)
        if seen.errors.wrapped:
            starts = tuple(replace(choice, widened=choice.widened + 1) for choice in starts)
        scale = self.scale / np.maximum(1.0, 1.005 * seen.errors.rms**2 / self.squares)
        strict = self.strict * np.maximum(1.0, 1.01 * seen.errors.max / self.task.largest) ** 2
        allowed, pressure = self.sampled_task(scale).allowed, 2.0 ** (self.turn + 1)
        tighter = replace(self.task, allowed=allowed, pressure=pressure)
        return replace(
            self, task=_watching(tighter, best, seen, strict), starts=starts, seen=seen,
            scale=scale, strict=strict, left=left,
        )  # fmt: skip

    def _given_up(self, seen: ObservedErrors | None, *, late: bool) -> UsageError:
        where = f"on {SEEN} states; the nearest has {seen.errors}" if seen else "when simulated"
        return self.unreachable(where + " (more effort tries longer)" * late)

    def judged(self, tried: Candidate, name: str) -> SampledSearch:
        """Measure a candidate's errors; if they are too large, watch its worst states."""
        best, seen = self.result
        look = errors_seen(self, self.task, tried)
        if self.holds(look.errors):
            best, seen = tried, look
        else:
            seen = ObservedErrors(seen.errors, look.worst)
        self.ledger.report_errors(name.partition(" ")[0], best, seen.errors)
        return replace(self, task=_watching(self.task, best, seen), best=best, seen=seen)


def _allowed(terms: Terms, demand: Demand, ledger: Ledger) -> tuple[Floats, Floats]:
    """Return the allowed mean squares and largest errors of all outputs, in steps."""
    rms = demand.rms or _usual(terms, demand, ledger)
    least = np.maximum(np.asarray(rms, dtype=np.float64), 0.0)
    if not demand.rms:
        least = np.maximum(least, LEAST * ROUNDING)
        # An output that hardly leaves zero has no word near it.
        outputs = sampled_outputs(terms.problem, demand.bits)
        cells, reach = in_cells(terms.problem, outputs), reach_of(terms.problem, demand)
        small = np.sqrt(rounding_squares(cells, reach))
        least = np.where(small > ROUNDING, np.maximum(least, ROOM * small), least)
    count = len(terms.problem.outputs)
    squares = np.broadcast_to(least, count).copy() ** 2
    return squares, np.broadcast_to(np.asarray(demand.max or np.inf), count).copy()


def distinct(task: SearchTask, forms: Iterable[int]) -> dict[int, Sketch]:
    """Return the sketches of forms, of equal ones the first."""
    made: dict[Sketch, int] = {}
    for form in forms:
        made.setdefault(task.sketch(form), form)
    return {form: sketch for sketch, form in made.items()}


def is_pruned(terms: Terms) -> bool:
    return terms.plain and terms.waves > MOST_WAVES


def forms_of(terms: Terms, demand: Demand) -> Sequence[int]:
    """Return the forms that are screened first."""
    plain = [*TABLED] if demand.of_words else [*PLAIN]
    plain += MULTIPLIED if costs_of(demand).bytewise else ()
    sums = tuple(plain) if terms.outputs and terms.waves <= MOST_WAVES else ()
    if not sums and terms.steps is None:
        raise UsageError(
            f"{terms.waves} waves matter at these errors, and at most {MOST_WAVES} can be compiled",
            "allow larger errors, or compile fewer outputs", where=terms.problem.name,
        )  # fmt: skip
    return sums if terms.steps is None else (*sums, DIRECT)


def _has_plan(terms: Terms) -> bool:
    """Return whether the paper's method applies to terms."""
    centred = all(abs(x.range.centre) <= BESIDE * x.range.width for x in terms.problem.outputs)
    return terms.plain and terms.waves <= MOST_WAVES and centred


def _usual(terms: Terms, demand: Demand, ledger: Ledger) -> list[float]:
    """Return the default rms errors, in steps: the paper's, or those above the floor.

    The default of a saturating output is the larger of both.
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
    """Return rms errors, in steps, with a margin above the errors of inputs and rounding."""
    ample = np.full(len(terms.problem.outputs), 1.0)
    task = SearchTask(terms, demand, ample, np.inf * ample)
    floor = np.sqrt(search_of(task, forms_of(terms, demand)[-1]).floor().total)
    return [float(x) for x in np.where(floor < 1, ABOVE_FLOOR, ABOVE_JUMPS) * floor]


def _watching(
    task: SearchTask, choice: Candidate, seen: ObservedErrors, strict: Floats | None = None
) -> SearchTask:
    """Return a task that also watches the worst states.

    The model may predict there its errors of a choice, divided by `strict` if given, else scaled to
    the allowed largest errors.
    """
    if not task.demand.max:
        return task
    outputs = len(task.allowed)
    watched = replace(
        task, worst=_together(task.worst, seen.worst, outputs), worst_limits=np.ones(outputs)
    )
    _, noise = SampledForm(watched, choice.form).noise(choice)
    room = (seen.errors.max / watched.largest) ** 2
    if strict is not None:
        room = np.where(room > 1, strict, room)
    return replace(watched, worst_limits=noise[outputs:] / room)


def errors_seen(goal: WidthSearch, task: SearchTask, choice: Candidate) -> ObservedErrors:
    """Measure a candidate's errors on very many states; search for a demanded maximum."""
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
        errors = replace(errors, max=np.maximum(errors.max, found.largest))
        watched = problem.arrays(found.watched.reshape(-1, start.shape[1]))
        worst = _together(worst, watched, len(problem.outputs))
        if goal.excess(errors) > 1:
            break
    return ObservedErrors(errors, worst)


def _seen_everywhere(
    goal: WidthSearch, task: SearchTask, choice: Candidate, graph: WordGraph
) -> ObservedErrors:
    """Measure a candidate's errors at all words, which include the largest."""
    problem, search = goal.terms.problem, search_of(task, choice.form)
    errors = errors_of(*(found := deviations(graph, search.states)), search.counted)
    every = every_state(problem, goal.demand.input_bits)
    error = found[0] if goal.exact else deviations(graph, search.maker.at(every))[0]
    worst = np.argsort(-np.abs(error), axis=0, kind="stable")[:WORST]
    return ObservedErrors(errors, [np.concatenate([array[k] for k in worst.T]) for array in every])


def _has_exact(one: Sketch) -> bool:
    return any(isinstance(node, AngleSum) and node.exact for node in one.nodes)


def _listed(squares: Floats) -> str:
    return listing(f"{rms:.3f}" for rms in np.sqrt(squares))


def _together(one: Sequence[Floats], other: Sequence[Floats], outputs: int) -> tuple[Floats, ...]:
    """Join sets of worst states, equally many for every output; the latest are kept."""
    joined = []
    for k, new in enumerate(other):
        columns = new.shape[1]
        sets = [old.reshape(outputs, -1, columns) for old in (*one[k : k + 1], new)]
        both = np.concatenate(sets, axis=1)[:, -MOST_WATCHED:]
        joined.append(both.reshape(-1, columns))
    return tuple(joined)
