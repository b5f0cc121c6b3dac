"""The passes of compact mode after terms, in the order in which they run (see `pipeline`).

A finished result is kept as a file and found again by its content (see `keep`): what is found
there goes through the passes that follow as it is. What was interrupted goes on where it was.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.common.packages import require
from boolcomp.common.workers import TWO, Workers
from boolcomp.compact.assembly import Ends
from boolcomp.compact.demand import Demand, Listener, Progress, ignore_progress
from boolcomp.compact.errors.centre import decoder_shifts
from boolcomp.compact.errors.measure import measure_many
from boolcomp.compact.errors.worst import network_worst
from boolcomp.compact.expected import OF_CHANGES, counted, measures_late, on_course
from boolcomp.compact.promise import passes as promise
from boolcomp.compact.remade import fresh_states, require_true
from boolcomp.compact.result.booked import booked
from boolcomp.compact.result.built import Built
from boolcomp.compact.result.compact import Compact
from boolcomp.compact.result.network import (
    Begin,
    Finished,
    lut6_of,
    plain_network,
    smaller,
    synthesiser,
    table_network,
)
from boolcomp.compact.result.proved import proved
from boolcomp.compact.search import Search
from boolcomp.compact.store import StoredResult, result_store
from boolcomp.compact.widths import passes as widths
from boolcomp.compact.widths.forms import FORMS
from boolcomp.compact.widths.ledger import Ledger
from boolcomp.compact.widths.passes import Refined
from boolcomp.proof.bound.result import EFFORT, grade_of
from boolcomp.terms.rest import resting
from boolcomp.words.graph import narrowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from boolcomp.common.places import Where
    from boolcomp.compact.promise.passes import Steering
    from boolcomp.compact.result.booked import Booked
    from boolcomp.compact.store import ResultStore
    from boolcomp.compact.widths.passes import Screened, Sketched
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.optimise import Step
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.result import Grade
    from boolcomp.proof.worst import Worst
    from boolcomp.terms.extract import Terms

DIFFERENT = 1e-6  # steps: by how much an error that is found, in doubles, contradicts a bound

Value = TypeVar("Value")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class CompactChoices:
    """What a user chooses of a compilation in compact mode.

    `store` is where finished results are (a folder, or an address such as s3://bucket/folder; what
    lies there is proved before it is believed), the user's cache if it is None; what ships with
    boolcomp is found too, if `also_shipped`. `workers` are where the work is done, `progress` is
    told how the search is going. `words` are formats of words by the names of inputs, outputs or
    groups: `pipeline` makes the problem so. `proof` is how tight bounds are to be, and
    `proof_effort` counts states looked at, in millions; without both bounds are tight where that
    takes little counted work.
    With `certify` the program has a certificate.
    """

    demand: Demand = field(default_factory=Demand)
    store: Where | None = None
    also_shipped: bool = True
    workers: Workers = TWO
    progress: Listener = ignore_progress
    proof: Grade | None = None
    proof_effort: int | None = None
    words: Mapping[str, WordFormat] = field(default_factory=dict)
    certify: bool = False

    def __post_init__(self) -> None:
        finer = self.proof is not None and grade_of(self.proof) != "plain"
        if finer or self.proof_effort is not None or self.certify or self.demand.error:
            require("python-flint")
        if self.proof_effort is not None and self.proof_effort < 1:
            raise UsageError(f"proof effort {self.proof_effort}: a whole number, 1 or more")
        for name, asked in self.words.items():
            known = self.demand.input_bits.get(name)
            if known and asked.bits and known != asked.bits:
                raise UsageError(
                    f"the word of {name} is to have {asked.bits} bits, and its input bits are "
                    f"{known}: give one of them"
                )

        if self.certify and not self.demand.is_proved:
            raise UsageError(
                f"of what is approximated as {self.demand.approximate!r} nothing is proved, "
                "and it has no certificate: ask for cones, for tables, or for none"
            )

    def result_store(self, terms: Terms) -> ResultStore:
        """Return where results of these terms are kept."""
        return result_store(terms, self.demand, self.store, also_shipped=self.also_shipped)

    def exact_store(self, terms: Terms) -> ResultStore:
        """Return where results of before any approximation are kept: what is searched for."""
        demand = self.demand.exact
        return result_store(terms, demand, self.store, also_shipped=self.also_shipped)


@dataclass(frozen=True, slots=True, eq=False)
class Networked:
    """A compiled graph, and its network as far as it has come."""

    goal: Sketched
    compact: Compact
    made: Finished


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A compilation that is to be approximated, and its terms.

    It is finished, or with no effort only its network is made: what it errs by is not measured
    unless approximation gains nothing.
    """

    terms: Terms
    made: Built | Networked

    @property
    def start(self) -> Begin:
        """What approximation begins with."""
        if isinstance(self.made, Built):
            built = self.made
            return Begin(built.compact, Finished(built.network, built.steps), built.worst)
        return Begin(self.made.compact, self.made.made)


def unless_found(
    step: Callable[[Value, CompactChoices], Made],
) -> Callable[..., Made | Built | Exact]:
    """Return a pass that hands on what was found finished."""

    @wraps(step)
    def run(value: Value | Built | Exact, choices: CompactChoices) -> Made | Built | Exact:
        return value if isinstance(value, Built | Exact) else step(value, choices)

    return run


def store(terms: Terms, choices: CompactChoices) -> Terms | Built | Exact:
    """Look for a finished result, or for what it begins with; the worst is sought where need be."""
    since = time.perf_counter()
    asked, exact = choices.result_store(terms), choices.exact_store(terms)
    for results in [asked] if asked == exact else [asked, exact]:
        kept = results.find(require_true)
        if kept is not None:
            spent = time.perf_counter() - since
            return _finished(_told(kept, results, choices, spent, stored=True), terms, choices)
    return terms


@unless_found
def sketch(terms: Terms, choices: CompactChoices) -> Sketched:
    """Write outputs down as words without widths: a search begins, with all that it needs."""
    require("numba", "python-sat")
    results = choices.exact_store(terms)
    ledger = Ledger(choices.demand.effort, choices.progress, results, choices.workers)
    first = promise.sketch if results.demand.error else widths.sketch
    return first(terms, results.demand, ledger)


@unless_found
def screen(goal: Sketched, _: CompactChoices) -> Screened:
    """Choose the most promising forms by the noise model."""
    return promise.screen(goal) if goal.demand.error else widths.screen(goal)


@unless_found
def refine(screened: Screened, _: CompactChoices) -> Refined | Steering:
    """Build, simulate and correct, until errors hold on many states, or bounds are proved."""
    return promise.refine(screened) if screened.goal.demand.error else widths.refine(screened)


@unless_found
def improve(refined: Refined | Steering, _: CompactChoices) -> Refined:
    """Anneal widths while effort lasts."""
    return widths.improve(refined) if isinstance(refined, Refined) else promise.improve(refined)


@unless_found
def graph(refined: Refined, _: CompactChoices) -> tuple[Sketched, Compact]:
    """Realise the best widths as a word graph, none of whose words is wider than it need be."""
    goal, best = refined.goal, refined.best
    made = Search(refined.task, best.form)
    cost, noise = made.noise(best)
    whole = made.graph(best)
    compact = Compact(
        goal.terms.problem, goal.demand, FORMS[best.form], made.sketch, best.widths,
        narrowed(whole), best.biases, goal.squares, int(best.nodes) - made.costs.levels(whole),
        cost, np.sqrt(noise[: len(goal.squares)]), refined.seen.errors,
    )  # fmt: skip
    octets = made.costs.octets(compact.graph)
    if 0 < goal.demand.flash < octets:
        raise UsageError(
            f"its tables take about {octets} bytes, and the flash for them is {goal.demand.flash}: "
            "allow more, larger errors, or fewer bits"
        )
    return goal, compact


@unless_found
def logic(graphed: tuple[Sketched, Compact], choices: CompactChoices) -> Networked:
    """Make the network that the graph says: adders by rule, tables synthesised."""
    (goal, compact), demand = graphed, choices.demand
    asked = (demand.grade, EFFORT) if demand.error else (choices.proof, choices.proof_effort)
    known = counted(compact, goal.terms, demand, *asked)
    choices.progress(Progress("tables", compact.nodes, _rms(compact), counts=known))
    if choices.demand.of_words:
        return Networked(goal, compact, plain_network(compact.graph))
    made = table_network(
        compact.graph, choices.demand.synthesis, choices.result_store(goal.terms).tables,
        _reporter(compact, choices), choices.workers,
    )  # fmt: skip
    return Networked(goal, compact, made)


@unless_found
def optimise(networked: Networked, choices: CompactChoices) -> Networked:
    """Make the network smaller; every step is proved. What is for code is left as it is."""
    if choices.demand.of_words:
        return networked
    made = smaller(
        networked.made, choices.demand.synthesis,
        report=_reporter(networked.compact, choices, len(networked.made.steps)),
        quick=not choices.demand.effort,
    )  # fmt: skip
    return replace(networked, made=made)


@unless_found
def measure(networked: Networked, choices: CompactChoices) -> Built | Exact:
    """Measure errors on fresh states, seek the worst, and keep what holds.

    With no effort that is not done of what tables' other entries will mostly replace.
    """
    terms = networked.goal.terms
    if measures_late(choices.demand):
        return Exact(terms, networked)
    return _finished(_measured(networked, choices), terms, choices)


def approximate(value: Built | Exact, choices: CompactChoices) -> Built:
    """Make what is finished smaller where it may err more, if that was asked, and keep that.

    What it cannot make smaller is kept as it is, lest it be tried again.
    """
    built = value if isinstance(value, Built) else _approximated(value, choices)
    choices.progress(Progress("done", built.nodes, tuple(map(float, built.errors.rms)), 1.0))
    return built


def _approximated(value: Exact, choices: CompactChoices) -> Built:
    since, made = time.perf_counter(), value.made
    results, start = choices.result_store(value.terms), value.start
    nodes = len(start.finished.network.nodes)
    choices.progress(Progress("entries", nodes, _rms(start.compact)))
    fresh = fresh_states(start.compact)
    from boolcomp.compact.approximate.results import approximated  # noqa: PLC0415 (only who asks needs it)

    found = approximated(start, results, fresh, choices.progress)
    if found is not None:
        if isinstance(made, Built):
            seconds = made.seconds + time.perf_counter() - since
        else:
            seconds = time.perf_counter() - made.goal.ledger.since
        built = _told(found, results, choices, seconds, stored=False)
        if built.holds:
            return built
    exact = made if isinstance(made, Built) else _measured(made, choices)
    kept = choices.exact_store(value.terms).find(require_true)
    if kept is None:  # nothing could be written
        return exact
    results.put_same()
    same = replace(kept, compact=replace(kept.compact, demand=results.demand))
    return _told(same, results, choices, exact.seconds, stored=exact.stored)


def _measured(networked: Networked, choices: CompactChoices) -> Built:
    """Return a network with its errors, measured and sought."""
    compact, made, terms = networked.compact, networked.made, networked.goal.terms
    choices.progress(Progress("fresh states", len(made.network.nodes), _rms(compact)))
    counted = lut6_of(made.network, choices.workers, quick=not choices.demand.effort)
    sampling = fresh_states(compact)
    errors = measure_many(sampling, compact.graph, made.network, workers=choices.workers)
    worst = _worst(compact, made.network, terms, choices)
    kept = StoredResult(compact, made.network, made.steps, counted(), errors, worst)
    seconds = time.perf_counter() - networked.goal.ledger.since
    return _told(kept, choices.exact_store(terms), choices, seconds, stored=False)


def program(built: Built, _: CompactChoices) -> Program:
    """Return the program of a finished compilation."""
    return built.program()


PASSES = (store, sketch, screen, refine, improve, graph, logic, optimise, measure, approximate)


def build(terms: Terms, choices: CompactChoices | None = None) -> Built:
    """Return the smallest network found for terms, its errors measured: all passes in a row."""
    chosen, value = choices or CompactChoices(), cast("Any", terms)
    told = on_course(chosen.progress, chosen.demand)
    with chosen.workers.opened() as workers:
        for step in PASSES:
            value = step(value, replace(chosen, workers=workers, progress=told))
    return cast("Built", value)


def _finished(built: Built, terms: Terms, choices: CompactChoices) -> Built | Exact:
    """Return a finished compilation, or what it is where approximation begins."""
    asked = choices.demand.approximate
    return built if built.compact.demand.approximate == asked else Exact(terms, built)


def _told(
    kept: StoredResult,
    results: ResultStore,
    choices: CompactChoices,
    seconds: float,
    *,
    stored: bool,
) -> Built:
    """Return a result with its worst error, sought where that was not done yet, and keep it.

    What its errors are in the mean the decoder takes off.
    """
    compact, errors, rest = kept.compact, kept.errors, resting(results.terms)
    worst = kept.worst
    if worst is None:  # its file is an old one
        worst = _worst(compact, kept.network, results.terms, choices)
    if errors.ends is None:
        errors = measure_many(
            fresh_states(compact), compact.graph, kept.network,
            alone=not compact.demand.keeps_graph, workers=choices.workers,
        )  # fmt: skip
    promised = compact.demand.error is not None  # of words as they are
    free = [
        not (one.format.tread or one.format.range or promised) for one in compact.problem.outputs
    ]
    shifts = np.where(free, decoder_shifts(errors, worst, compact.demand.max), 0.0)
    ends = Ends(tuple(map(float, shifts)), rest)
    grade = compact.demand.grade if promised else choices.proof
    effort = max(choices.proof_effort or 0, EFFORT) if promised else choices.proof_effort
    moved = _booked(kept, results)
    stage = _stage("bounds", compact)
    choices.progress(Progress(stage, len(kept.network.nodes), tuple(kept.errors.rms)))
    built = Built(
        compact, kept.network, kept.steps, kept.lut6, errors.moved(shifts), worst.moved(shifts),
        compact.dropped, seconds, stored, ends,
        # what was left out of the sketch no bound of it counts
        None if (widths.is_pruned(results.terms) and not compact.form.direct)
        or not compact.demand.is_proved
        else proved(compact, ends, moved, grade, effort, choices.workers),
        kept.cones, moved,
    )  # fmt: skip
    if built.bounds and (built.largest > np.asarray(built.bounds.steps) + DIFFERENT).any():
        built = replace(built, bounds=None)  # an error was found that it says there is not
    if not (stored and kept.worst is worst and kept.errors is errors) and built.holds:
        results.put(replace(kept, errors=errors, worst=worst))
    return built


def _booked(kept: StoredResult, results: ResultStore) -> Booked:
    """Return by how much cones move words."""
    if not kept.cones:
        return {}
    objective = kept.compact.demand.synthesis
    return booked(kept.compact.graph, kept.cones, synthesiser(objective, results.tables))


def _worst(compact: Compact, network: Network, terms: Terms, choices: CompactChoices) -> Worst:
    """Seek the worst error."""
    stage = _stage("worst error", compact)

    def told(part: float) -> None:
        choices.progress(Progress(stage, len(network.nodes), _rms(compact), part))

    told(0.0)
    given = compact.problem, compact.demand, compact.graph, network
    return network_worst(*given, Ends(rest=resting(terms)), choices.workers, told=told)


def _stage(name: str, compact: Compact) -> str:
    """Return what a stage is called; after approximation it is another."""
    return name if compact.demand.approximate == "off" else OF_CHANGES[name]


def _rms(compact: Compact) -> tuple[float, ...]:
    return tuple(compact.errors.rms)


def _reporter(compact: Compact, choices: CompactChoices, done: int = 0) -> Callable[[Step], None]:
    """Return what tells of the steps of synthesis; so many are done."""
    count, rms = done, _rms(compact)

    def report(step: Step) -> None:
        nonlocal count
        count += 1
        fraction = 1 - 0.92**count
        note = f"{step.name}: {step.note}"
        choices.progress(Progress("passes", step.nodes, rms, fraction, note))

    return report
