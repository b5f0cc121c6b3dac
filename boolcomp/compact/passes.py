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

from boolcomp.base.errors import BoolcompError, DataError, UsageError, is_there, require
from boolcomp.base.store import own_place
from boolcomp.base.workers import ALONE, TWO, Course, Workers
from boolcomp.compact import promise, widths
from boolcomp.compact.demand import Counts, Demand, Listener, Progress, ignore_progress
from boolcomp.compact.errors import (
    Sampling,
    decoder_shifts,
    is_worst,
    measure_many,
    network_worst,
    searched,
)
from boolcomp.compact.limits import FORMS
from boolcomp.compact.network import Ends
from boolcomp.compact.result import (
    Begin,
    Built,
    Compact,
    Finished,
    booked,
    explained,
    lut6,
    lut6_of,
    plain_network,
    proved,
    smaller,
    synthesiser,
    table_network,
)
from boolcomp.compact.search import Candidate, Search
from boolcomp.compact.store import StoredResult, result_store
from boolcomp.compact.widths import Ledger, Refined
from boolcomp.logic.equivalence import equivalent
from boolcomp.proof.bound.meaning import EFFORT, grade_of
from boolcomp.proof.worst import EVALUATIONS
from boolcomp.terms.extract import resting
from boolcomp.words.graph import Lookup, narrowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.base.store import Where
    from boolcomp.compact.promise import Steering
    from boolcomp.compact.result import Booked
    from boolcomp.compact.store import ResultStore
    from boolcomp.compact.widths import Screened, Sketched
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis.optimise import Step
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.meaning import Grade
    from boolcomp.proof.worst import Worst
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# How much work the stages of a compilation take, in nominal seconds, as far as it can be counted.
#
# Until there is a graph all is guessed but annealing, whose effort is given. Then passes follow
# from the graph's nodes, the search for the worst error from its evaluations, and bounds from the
# cells or boxes that they look at. Only progress depends on it.
# --------------------------------------------------------------------------------------------------


SCREEN, REFINE, ANNEALED = 1.5, 1.5, 2.5  # the last is what annealing takes beside its effort
TABLE_WORK, PASS_WORK, QUICK_WORK = (
    (0.6, 0.0003),
    (0.4, 0.013),
    (0.3, 0.0011),
)  # at least, and for each node
STATES, ENTRIES, PLAIN = (0.5, 0.002), (0.5, 0.0015), (0.1, 0.0015)  # likewise
EVALUATED, OF_INPUT, OF_NODE = 0.5e-6, 0.13e-6, 0.2e-9  # an evaluation: at least, and for each
CELL, BOX = 2.5e-6, 2e-8  # of bounds
CHANGING = 2.0  # for each unit of effort, and once more
GAIN = 0.5  # how often changes gain so much that they are measured and proved
LAST = 0.01
AFTER = ("fresh states", "worst error", "bounds")
OF_CHANGES = {name: f"{name.removeprefix('fresh ')} of changes" for name in AFTER}


def expected(demand: Demand, counts: Counts | None = None) -> dict[str, float]:
    """Return what work is expected of every stage of a compilation, in the order of stages.

    Without counts it is that of a small arm.
    """
    known = counts or Counts(600, 6, demand.evaluations(EVALUATIONS), 0, 0)
    nodes, passes = known.nodes, _of(PASS_WORK if demand.effort else QUICK_WORK, known.nodes)
    each = max(EVALUATED, OF_INPUT * known.inputs + OF_NODE * nodes)
    bounds = _of(PLAIN, nodes) + CELL * known.cells + BOX * known.boxes
    after = {
        "fresh states": _of(STATES, nodes), "worst error": each * known.evaluations,
        "bounds": bounds if demand.is_proved else 0.0,
    }  # fmt: skip
    work = {
        "screen": SCREEN, "refine": REFINE,
        "improve": ANNEALED + demand.effort if demand.effort else 0.0,
        "tables": _of(TABLE_WORK, nodes), "passes": 0.0 if demand.of_words else passes,
    }  # fmt: skip
    if not measures_late(demand):
        work |= after
    if demand.approximate != "off":
        work |= {"entries": _of(ENTRIES, nodes), "passes over changes": passes}
        if demand.approximate != "tables":
            work["nodes"] = CHANGING * (1 + demand.effort)
        chance = 1.0 if measures_late(demand) else GAIN
        work |= {OF_CHANGES[name]: chance * one for name, one in after.items()}
    return {**work, "done": LAST}


def measures_late(demand: Demand) -> bool:
    """Tell whether only what is approximated is measured, because there is no effort."""
    return demand.approximate == "tables" and not (demand.effort or demand.max)


def counted(
    compact: Compact, terms: Terms, demand: Demand, grade: Grade | None, effort: int | None
) -> Counts:
    """Return the counts of the work that a graph leads to, with bounds as they are asked for."""
    cells, boxes = _bounds(compact, terms, grade, effort) if demand.is_proved else (0, 0)
    evaluations = searched(compact.problem, compact.demand)
    return Counts(compact.nodes, len(compact.problem.inputs), evaluations, cells, boxes)


def on_course(listener: Listener, demand: Demand) -> Listener:
    """Return what hears of the stages of one compilation, and tells how far all of it is."""
    course = Course(expected(demand), {"improve", "nodes"})
    late = measures_late(demand)
    counts: Counts | None = None

    def told(step: Progress) -> None:
        nonlocal counts
        if step.counts is not None:
            counts = step.counts
            course.expect(expected(demand, counts))
        elif step.stage == "entries" and counts is not None and step.best_nodes is not None:
            course.expect(expected(demand, counts._replace(nodes=step.best_nodes)))
        # What gains nothing is measured where its changes would be.
        stage = OF_CHANGES.get(step.stage, step.stage) if late else step.stage
        fraction = course.at(stage, step.fraction)
        listener(replace(step, fraction=fraction, left=course.left))

    return told


def _of(work: tuple[float, float], nodes: float) -> float:
    least, each = work
    return least + each * nodes


def _bounds(
    compact: Compact, terms: Terms, grade: Grade | None, effort: int | None
) -> tuple[int, int]:
    """Return how many cells, and steps of boxes, bounds look at."""
    if grade == "plain" or not is_there("python-flint"):
        return 0, 0
    from boolcomp.proof.bound.graded import USUAL, counted_work, usual_grade  # noqa: PLC0415 (balls take their time)

    try:
        said = explained(compact, Ends(rest=resting(terms)))
        if grade is None and effort is None:
            grade, effort = usual_grade(said), USUAL
        return (0, 0) if grade == "plain" else counted_work(said, effort or EFFORT)
    except DataError:
        return 0, 0


# --------------------------------------------------------------------------------------------------
# Whether a finished result from a place that others write to is what this compiler would make.
#
# Nothing that its file says is believed. The graph is realised once more from its widths and
# biases, and has to be the same; the network is proved equivalent to the graph's own logic; errors
# are measured once more, at the same states; the worst is looked up at its states, and sought again
# for a while. What is allowed, and what was predicted, is calculated from the demand. Bounds are
# never stored: whoever reads a result proves them. How it was found is a history that nothing
# depends on.
# --------------------------------------------------------------------------------------------------


FRESH_SAMPLES, FRESH_SEED = 1_000_000, 0x1988
MOST_WIDENED = 12  # times that words were made larger, in a search that found something
SAME = 1e-6  # relative: machines' sines differ in their last bits
DEADLINE = 600.0  # seconds for the proof: what is not proved then is made anew
HARDER = 1.1  # times the worst error that is said: a short search that starts there finds no more
LONGEST = 200  # characters of a step of the history


def require_true(kept: StoredResult, results: ResultStore) -> StoredResult:
    """Return a result that is proved to be what it says; a `DataError` where it is not.

    How many tables of six inputs it takes is what is found here: that depends on tools.
    """
    compact = kept.compact
    if not compact.demand.keeps_graph:
        raise DataError("logic that is not its graph's is believed where nobody else can write")
    _require_history(kept)
    ledger = Ledger(results.demand.effort, ignore_progress, None, ALONE)
    begin = promise.sketch if results.demand.error else widths.sketch
    try:
        goal = begin(results.terms, results.demand.exact, ledger)
    except BoolcompError as error:
        raise DataError(f"what cannot be asked has no result: {error}") from error
    _require_same("what is demanded", compact.allowed, goal.squares)
    _require_realised(goal, compact)
    _require_logic(compact.graph, kept.network, results)
    _require_errors(kept, results)
    own = lut6(kept.network, quick=not results.demand.effort)
    return kept if kept.lut6 == own else replace(kept, lut6=own)


def fresh_states(compact: Compact) -> Sampling:
    """Return states that no part of the search has seen."""
    demand = compact.demand
    seed = FRESH_SEED + demand.seed
    return Sampling(compact.problem, demand.input_bits, demand.bits, FRESH_SAMPLES, seed)


def _require_history(kept: StoredResult) -> None:
    """Refuse steps that do not end at the network, or say what no step says."""
    if not kept.steps:
        raise DataError("nothing led to it")
    last, network = kept.steps[-1], kept.network
    if (last.nodes, last.depth) != (len(network.nodes), network.depth):
        raise DataError("its steps lead to another network")
    for step in kept.steps:
        for text in (step.name, step.note):
            if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST:
                raise DataError("a step has a name or a note that is none")


def _require_same(what: str, said: Floats, found: Floats) -> None:
    known = np.asarray(found, np.float64)
    if said.shape != known.shape or not np.allclose(said, known, rtol=SAME, atol=SAME):
        raise DataError(f"{what} is another: {said} and not {known}")


def _require_realised(goal: Sketched, compact: Compact) -> None:
    """Refuse a graph that its widths and biases do not make, and costs that are not its own."""
    if compact.form not in FORMS:
        raise DataError("a form that nobody tries")
    form = FORMS.index(compact.form)
    search = Search(goal.task(), form)
    if search.sketch != compact.sketch:
        raise DataError("a sketch of other terms")
    none = np.zeros(len(goal.squares))
    for widened in range(MOST_WIDENED):
        choice = Candidate(form, dict(compact.widths), none, compact.biases, widened, 0.0)
        made = search.graph(choice)
        if _same(narrowed(made), compact):
            break
    else:
        raise DataError("its graph is not what its widths make")
    cost, noise = search.noise(choice)
    _require_same("what was predicted", compact.predicted_rms, np.sqrt(noise[: len(none)]))
    costs = np.array([compact.predicted_cost, float(compact.nodes)])
    nodes = int(search.costs.graph(made)) - search.costs.levels(made)
    _require_same("its cost", costs, np.array([cost, nodes]))


def _same(made: WordGraph, compact: Compact) -> bool:
    """Tell whether a graph is a result's; tables may have other entries if that was asked."""
    graph = compact.graph
    if compact.demand.approximate == "off" or len(made.nodes) != len(graph.nodes):
        return made == graph
    nodes = tuple(
        replace(one, entries=there.entries)
        if isinstance(one, Lookup) and isinstance(there, Lookup)
        else one
        for one, there in zip(made.nodes, graph.nodes, strict=True)
    )
    return replace(made, nodes=nodes) == graph


def _require_logic(graph: WordGraph, network: Network, results: ResultStore) -> None:
    """Refuse a network that is not proved to compute, at all words, what its graph says."""
    if network == plain_network(graph).network:
        return
    nets = replace(results, places=(own_place("compact"),)).tables
    own = table_network(graph, results.demand.synthesis, nets).network
    verdict = equivalent(network, own, deadline=DEADLINE)
    if not verdict.holds:
        raise DataError(f"its network is not proved to be its graph: {verdict}")


def _require_errors(kept: StoredResult, results: ResultStore) -> None:
    """Refuse errors that are others, and a worst one that is not where it says, or is exceeded."""
    compact, demand, said = kept.compact, results.demand, kept.errors
    try:
        found = measure_many(fresh_states(compact), compact.graph, kept.network)
    except AssertionError as error:
        raise DataError("its network is not its graph's") from error
    for what in ("rms", "max", "mean"):
        _require_same(f"the {what} error", getattr(said, what), getattr(found, what))
    if said.ends is not None and found.ends is not None:
        _require_same("the largest error by sign", said.ends, found.ends)
    counted = (found.wrapped, found.saturated, found.samples)
    if (said.wrapped, said.saturated, said.samples) != counted:
        raise DataError("it saturates at other states")
    if kept.worst is None:  # it is sought anew by whoever reads it
        return
    if not np.isfinite(kept.worst.states).all():
        raise DataError("a worst state that is none")
    most = np.asarray(demand.max) if demand.max else HARDER * kept.worst.most
    given = (compact.problem, demand, compact.graph, kept.network)
    if not is_worst(*given, kept.worst, Ends(rest=resting(results.terms)), most=most):
        raise DataError("a larger error was found than it says")


# --------------------------------------------------------------------------------------------------
# The passes of compact mode after terms, in the order in which they run (see `pipeline`).
# --------------------------------------------------------------------------------------------------


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
    from boolcomp.compact.approximate import approximated  # noqa: PLC0415 (only who asks needs it)

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
