"""The passes of compact mode after terms, their expected work, and verification of results.

A finished result is stored as a file by its content; later passes hand it on unchanged. An
interrupted search continues from its checkpoint.
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
from boolcomp.compact.network import WordEnds
from boolcomp.compact.promise import PromisedSearch
from boolcomp.compact.result import (
    Begin,
    Built,
    Compact,
    StoredResult,
    lut6,
    lut6_of,
    plain_network,
    proved,
    result_store,
    sketched,
    smaller,
    table_network,
)
from boolcomp.compact.search import Candidate, SampledForm
from boolcomp.compact.widths import Ledger, SampledSearch, WidthSearch, is_pruned
from boolcomp.logic.equivalence import equivalent
from boolcomp.logic.synthesis import Finished
from boolcomp.proof.bound.bounds import EFFORT, grade_of
from boolcomp.proof.worst import EVALUATIONS
from boolcomp.terms.extract import resting
from boolcomp.words.graph import narrowed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from boolcomp.base.store import Where
    from boolcomp.compact.result import ResultStore
    from boolcomp.logic.network import Network
    from boolcomp.logic.synthesis import SynthesisStep
    from boolcomp.problem.words import WordFormat
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.bounds import Grade
    from boolcomp.proof.worst import Worst
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# The expected work of the stages of a compilation, in nominal seconds, for progress only.
#
# Without a graph it is a guess, except for annealing. With one, passes depend on nodes, the error
# search on evaluations, and bounds on cells or boxes.
# --------------------------------------------------------------------------------------------------

SCREEN, REFINE, ANNEALED = 1.5, 1.5, 2.5  # the last is the work of annealing besides its effort
TABLE_WORK, PASS_WORK, QUICK_WORK = (0.6, 0.0003), (0.4, 0.013), (0.3, 0.0011)  # least; a node
STATES, ENTRIES, PLAIN = (0.5, 0.002), (0.5, 0.0015), (0.1, 0.0015)  # likewise
EVALUATED, OF_INPUT, OF_NODE = 0.5e-6, 0.13e-6, 0.2e-9  # an evaluation: least; an input; a node
CELL, BOX = 2.5e-6, 2e-8  # of bounds
CHANGING = 2.0  # for each unit of effort, and once more
GAIN = 0.5  # probability of a gain with which changes are measured and proved
LAST = 0.01
AFTER = ("fresh states", "worst error", "bounds")
OF_CHANGES = {name: f"{name.removeprefix('fresh ')} of changes" for name in AFTER}


def expected(demand: Demand, counts: Counts | None = None) -> dict[str, float]:
    """Return the expected work of the stages of a compilation in their order.

    Without counts it is that of a small arm.
    """
    known = counts or Counts(600, 6, demand.evaluations(EVALUATIONS), 0, 0)
    nodes, passes = known.nodes, _of(PASS_WORK if demand.effort else QUICK_WORK, known.nodes)
    each = max(EVALUATED, OF_INPUT * known.inputs + OF_NODE * nodes)
    bounds = _of(PLAIN, nodes) + CELL * known.cells + BOX * known.boxes
    after = {
        "fresh states": _of(STATES, nodes), "worst error": each * known.evaluations,
        "bounds": bounds if demand.keeps_graph else 0.0,
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
    return demand.approximate == "tables" and not (demand.effort or demand.max)


def counted(
    compact: Compact, terms: Terms, demand: Demand, grade: Grade | None, effort: int | None
) -> Counts:
    """Return the sizes that determine the work after a graph."""
    cells, boxes = _bounds(compact, terms, grade, effort) if demand.keeps_graph else (0, 0)
    evaluations = searched(compact.problem, compact.demand)
    return Counts(compact.nodes, len(compact.problem.inputs), evaluations, cells, boxes)


def on_course(listener: Listener, demand: Demand) -> Listener:
    """Return a listener for the stages of a compilation that reports the progress of all of it."""
    course = Course(expected(demand), {"improve", "nodes"})
    late = measures_late(demand)
    counts: Counts | None = None

    def report(step: Progress) -> None:
        nonlocal counts
        if step.counts is not None:
            counts = step.counts
            course.expect(expected(demand, counts))
        elif step.stage == "entries" and counts is not None and step.best_nodes is not None:
            course.expect(expected(demand, counts._replace(nodes=step.best_nodes)))
        # Measurements without a gain are in the stages of changes.
        stage = OF_CHANGES.get(step.stage, step.stage) if late else step.stage
        fraction = course.at(stage, step.fraction)
        listener(replace(step, fraction=fraction, left=course.left))

    return report


def _of(work: tuple[float, float], nodes: float) -> float:
    least, each = work
    return least + each * nodes


def _bounds(
    compact: Compact, terms: Terms, grade: Grade | None, effort: int | None
) -> tuple[int, int]:
    """Return the numbers of cells and of steps of boxes for bounds."""
    if grade == "plain" or not is_there("python-flint"):
        return 0, 0
    from boolcomp.proof.bound.graded import USUAL, counted_work, usual_grade  # noqa: PLC0415 (balls take their time)

    try:
        graph = sketched(compact, WordEnds(rest=resting(terms)))
        if grade is None and effort is None:
            grade, effort = usual_grade(graph), USUAL
        return (0, 0) if grade == "plain" else counted_work(graph, effort or EFFORT)
    except DataError:
        return 0, 0


# --------------------------------------------------------------------------------------------------
# Verification of finished results from shared places.
#
# The graph is realised again from its widths and biases, and must be equal. The network is proved
# equivalent to the graph's logic. Errors are measured again at the same states. The largest error
# is evaluated at its states, and a short search must not find a larger one. Allowed and predicted
# errors are calculated from the demand. Bounds are never stored, but proved by every reader.
# --------------------------------------------------------------------------------------------------

FRESH_SAMPLES, FRESH_SEED = 1_000_000, 0x1988
MOST_WIDENED = 12  # enlargements of words in a search
SAME = 1e-6  # relative: sines of machines differ in their last bits
DEADLINE = 600.0  # seconds for the equivalence proof
HARDER = 1.1  # largest ratio of the error of a short search to the stored one
LONGEST = 200  # characters of a step of the history


def require_true(kept: StoredResult, results: ResultStore) -> StoredResult:
    """Verify a result; a `DataError` if it is wrong.

    The number of LUT6 is counted here, because it depends on installed tools.
    """
    compact = kept.compact
    if not compact.demand.keeps_graph:
        raise DataError("logic that differs from its graph cannot be verified in a shared place")
    _require_history(kept)
    ledger = Ledger(results.demand.effort, ignore_progress, None, ALONE)
    try:
        goal = search_for(results.terms, results.demand.exact, ledger)
    except BoolcompError as error:
        raise DataError(f"its demand is invalid: {error}") from error
    _require_same("the demanded error", compact.allowed, goal.squares)
    _require_realised(goal, compact)
    _require_logic(compact.graph, kept.network, results)
    _require_errors(kept, results)
    own = lut6(kept.network, quick=not results.demand.effort)
    return kept if kept.lut6 == own else replace(kept, lut6=own)


def fresh_states(compact: Compact) -> Sampling:
    """Return states that the search has not used."""
    demand = compact.demand
    seed = FRESH_SEED + demand.seed
    return Sampling(compact.problem, demand.input_bits, demand.bits, FRESH_SAMPLES, seed)


def _require_history(kept: StoredResult) -> None:
    """Check that the steps end at the network, and that their texts are valid."""
    if not kept.steps:
        raise DataError("it has no steps")
    last, network = kept.steps[-1], kept.network
    if (last.nodes, last.depth) != (len(network.nodes), network.depth):
        raise DataError("its steps end at another network")
    for step in kept.steps:
        for text in (step.name, step.note):
            if not isinstance(text, str) or not text.isprintable() or len(text) > LONGEST:
                raise DataError("a step has an invalid name or note")


def _require_same(what: str, stored: Floats, found: Floats) -> None:
    known = np.asarray(found, np.float64)
    if stored.shape != known.shape or not np.allclose(stored, known, rtol=SAME, atol=SAME):
        raise DataError(f"{what} is {stored}, not {known}")


def _require_realised(goal: WidthSearch, compact: Compact) -> None:
    """Check that the graph is that of its widths and biases, and its costs."""
    if compact.form not in FORMS:
        raise DataError("its form is unknown")
    form = FORMS.index(compact.form)
    search = SampledForm(goal.sampled_task(), form)
    if search.sketch != compact.sketch:
        raise DataError("its sketch is that of other terms")
    none = np.zeros(len(goal.squares))
    for widened in range(MOST_WIDENED):
        choice = Candidate(form, dict(compact.widths), none, compact.biases, widened, 0.0)
        made = search.graph(choice)
        if _same(narrowed(made), compact):
            break
    else:
        raise DataError("its graph is not that of its widths")
    cost, noise = search.noise(choice)
    _require_same("the predicted error", compact.predicted_rms, np.sqrt(noise[: len(none)]))
    costs = np.array([compact.predicted_cost, float(compact.nodes)])
    nodes = int(search.costs.graph(made)) - search.costs.levels(made)
    _require_same("its cost", costs, np.array([cost, nodes]))


def _same(made: WordGraph, compact: Compact) -> bool:
    """Return whether a graph is that of a result, except for approximate entries of tables."""
    graph = compact.graph
    if compact.demand.approximate == "off" or len(made.nodes) != len(graph.nodes):
        return made == graph
    nodes, tables = list(made.nodes), graph.tables
    for place, node in made.tables.items():
        nodes[place] = replace(node, entries=tables[place].entries) if place in tables else node
    return replace(made, nodes=tuple(nodes)) == graph


def _require_logic(graph: WordGraph, network: Network, results: ResultStore) -> None:
    """Prove that a network is equivalent to the logic of its graph."""
    if network == plain_network(graph).network:
        return
    nets = replace(results, places=(own_place("compact"),)).tables
    own = table_network(graph, results.demand.synthesis, nets).network
    verdict = equivalent(network, own, deadline=DEADLINE)
    if not verdict.holds:
        raise DataError(f"its network is not proved equivalent to its graph: {verdict}")


def _require_errors(kept: StoredResult, results: ResultStore) -> None:
    """Check the stored errors, and that the largest error is at its states and not exceeded."""
    compact, demand, stored = kept.compact, results.demand, kept.errors
    try:
        found = measure_many(fresh_states(compact), compact.graph, kept.network)
    except AssertionError as error:
        raise DataError("its network differs from its graph") from error
    for what in ("rms", "max", "mean"):
        _require_same(f"the {what} error", getattr(stored, what), getattr(found, what))
    if stored.ends is not None and found.ends is not None:
        _require_same("the largest signed error", stored.ends, found.ends)
    counted = (found.wrapped, found.saturated, found.samples)
    if (stored.wrapped, stored.saturated, stored.samples) != counted:
        raise DataError("it saturates at other states")
    if kept.worst is None:  # the reader will search it
        return
    if not np.isfinite(kept.worst.states).all():
        raise DataError("a state of its largest errors is not finite")
    limits = np.asarray(demand.max) if demand.max else HARDER * kept.worst.largest
    given = (compact.problem, demand, compact.graph, kept.network)
    if not is_worst(*given, kept.worst, WordEnds(rest=resting(results.terms)), maximum=limits):
        raise DataError("its largest error is exceeded")


# --------------------------------------------------------------------------------------------------
# The passes in the order in which they run (see `pipeline`).
# --------------------------------------------------------------------------------------------------

DIFFERENT = 1e-6  # steps: excess of an error in doubles that contradicts a bound

Value = TypeVar("Value")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class CompactChoices:
    """The options of a compilation in compact mode.

    `store` is the place of results: a folder, or an address such as s3://bucket/folder, from where
    results are verified before use (default: the user's cache). With `also_shipped` the results
    shipped with boolcomp are used too. `words` are formats of words by the names of inputs,
    outputs or groups, which `pipeline` applies to the problem. `proof` is the grade of bounds, and
    `proof_effort` the number of states for them, in millions; by default bounds are tight if that
    takes little counted work. With `certify` the program has a certificate.
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
            raise UsageError(
                f"proof effort {self.proof_effort} is no whole number above 0", "use, say, 4"
            )
        for name, word in self.words.items():
            known = self.demand.input_bits.get(name)
            if known and word.bits and known != word.bits:
                raise UsageError(
                    f"the word format of {name} has {word.bits} bits, and its input bits are "
                    f"{known}", "give one of them",
                )  # fmt: skip
        if self.certify and not self.demand.keeps_graph:
            raise UsageError(
                f"approximation {self.demand.approximate!r} has no certificate",
                "use 'tables' or 'off'",
            )

    def result_store(self, terms: Terms) -> ResultStore:
        return result_store(terms, self.demand, self.store, also_shipped=self.also_shipped)

    def exact_store(self, terms: Terms) -> ResultStore:
        """Return the store of results without approximation."""
        demand = self.demand.exact
        return result_store(terms, demand, self.store, also_shipped=self.also_shipped)


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A compilation before its approximation: its terms, its begin, its graph and network.

    `built` is the exact result once it is finished. With effort 0 it is made only if approximation
    gains nothing.
    """

    terms: Terms
    since: float
    begin: Begin
    built: Built | None = None

    def seconds(self) -> float:
        return time.perf_counter() - self.since


def unless_found(
    step: Callable[[Value, CompactChoices], Made],
) -> Callable[..., Made | Built | Draft]:
    """Return a pass that hands on finished results."""

    @wraps(step)
    def run(value: Value | Built | Draft, choices: CompactChoices) -> Made | Built | Draft:
        done = isinstance(value, Built) or (isinstance(value, Draft) and value.built is not None)
        return cast("Built | Draft", value) if done else step(cast("Value", value), choices)

    return run


def store(terms: Terms, choices: CompactChoices) -> Terms | Built | Draft:
    """Look for a finished result, or for the exact result before its approximation."""
    since = time.perf_counter()
    own, exact = choices.result_store(terms), choices.exact_store(terms)
    for results in [own] if own == exact else [own, exact]:
        kept = results.find(require_true)
        if kept is not None:
            spent = time.perf_counter() - since
            return _finished(_completed(kept, results, choices, spent, stored=True), terms, choices)
    return terms


@unless_found
def sketch(terms: Terms, choices: CompactChoices) -> WidthSearch:
    """Begin a search: write outputs as words without widths."""
    require("numba", "python-sat")
    results = choices.exact_store(terms)
    ledger = Ledger(choices.demand.effort, choices.progress, results, choices.workers)
    return search_for(terms, results.demand, ledger)


def search_for(terms: Terms, demand: Demand, ledger: Ledger) -> WidthSearch:
    """Return the search for widths of a demand: by bounds if an error is guaranteed."""
    kind = PromisedSearch if demand.error else SampledSearch
    return kind.begun(terms, demand, ledger)


@unless_found
def screen(search: WidthSearch, _: CompactChoices) -> WidthSearch:
    return search.screen()


@unless_found
def refine(search: WidthSearch, _: CompactChoices) -> WidthSearch:
    return search.refine()


@unless_found
def improve(search: WidthSearch, _: CompactChoices) -> WidthSearch:
    return search.improve()


@unless_found
def graph(search: WidthSearch, _: CompactChoices) -> tuple[WidthSearch, Compact]:
    """Realise the best widths as a word graph without unused input bits."""
    best, seen = search.result
    made = SampledForm(search.sampling, best.form)
    cost, noise = made.noise(best)
    whole = made.graph(best)
    compact = Compact(
        search.terms.problem, search.demand, FORMS[best.form], made.sketch, best.widths,
        narrowed(whole), best.biases, search.squares, int(best.nodes) - made.costs.levels(whole),
        cost, np.sqrt(noise[: len(search.squares)]), seen.errors,
    )  # fmt: skip
    octets, flash = made.costs.octets(compact.graph), search.demand.flash
    if 0 < flash < octets:
        raise UsageError(
            f"the tables need about {octets} bytes, and their flash is {flash}",
            "allow more flash or larger errors, or use fewer bits",
        )
    return search, compact


@unless_found
def logic(graphed: tuple[WidthSearch, Compact], choices: CompactChoices) -> Draft:
    """Make the network of the graph, with synthesised tables."""
    (search, compact), demand, terms = graphed, choices.demand, graphed[0].terms
    proof = (demand.grade, EFFORT) if demand.error else (choices.proof, choices.proof_effort)
    known = counted(compact, terms, demand, *proof)
    choices.progress(Progress("tables", compact.nodes, _rms(compact), counts=known))
    if demand.of_words:
        made = plain_network(compact.graph)
    else:
        made = table_network(
            compact.graph, demand.synthesis, choices.result_store(terms).tables,
            _reporter(compact, choices), choices.workers,
        )  # fmt: skip
    return Draft(terms, search.ledger.since, Begin(compact, made))


@unless_found
def optimise(draft: Draft, choices: CompactChoices) -> Draft:
    """Make the network smaller by proved steps; that of code is left as it is."""
    if choices.demand.of_words:
        return draft
    start = draft.begin.finished
    made = smaller(
        start, choices.demand.synthesis,
        report=_reporter(draft.begin.compact, choices, len(start.steps)),
        quick=not choices.demand.effort,
    )  # fmt: skip
    return replace(draft, begin=replace(draft.begin, finished=made))


@unless_found
def measure(draft: Draft, choices: CompactChoices) -> Built | Draft:
    """Measure errors on fresh states, search the largest, and store the result.

    With effort 0 and approximation this is left to `approximate`.
    """
    if measures_late(choices.demand):
        return draft
    return _finished(_measured(draft, choices), draft.terms, choices)


def approximate(value: Built | Draft, choices: CompactChoices) -> Built:
    """Approximate a finished result within its errors, if demanded, and store the outcome.

    A result without a gain is stored too, so that it is not tried again.
    """
    built = value if isinstance(value, Built) else _approximated(value, choices)
    choices.progress(Progress("done", built.nodes, tuple(map(float, built.errors.rms)), 1.0))
    return built


def _approximated(draft: Draft, choices: CompactChoices) -> Built:
    results, start = choices.result_store(draft.terms), draft.begin
    nodes = len(start.finished.network.nodes)
    choices.progress(Progress("entries", nodes, _rms(start.compact)))
    fresh = fresh_states(start.compact)
    from boolcomp.compact.approximate import approximated  # noqa: PLC0415 (compiled loops)

    found = approximated(start, results, fresh, choices.progress)
    if found is not None:
        built = _completed(found, results, choices, draft.seconds(), stored=False)
        if built.holds:
            return built
    exact = draft.built or _measured(draft, choices)
    kept = choices.exact_store(draft.terms).find(require_true)
    if kept is None:  # it could not be written
        return exact
    results.put_same()
    same = replace(kept, compact=replace(kept.compact, demand=results.demand))
    return _completed(same, results, choices, exact.seconds, stored=exact.stored)


def _measured(draft: Draft, choices: CompactChoices) -> Built:
    """Return a network with its measured errors and the largest errors found."""
    compact, made = draft.begin.compact, draft.begin.finished
    choices.progress(Progress("fresh states", len(made.network.nodes), _rms(compact)))
    counted = lut6_of(made.network, choices.workers, quick=not choices.demand.effort)
    sampling = fresh_states(compact)
    errors = measure_many(sampling, compact.graph, made.network, workers=choices.workers)
    worst = _worst(compact, made.network, draft.terms, choices)
    kept = StoredResult(compact, made.network, made.steps, counted(), errors, worst)
    results = choices.exact_store(draft.terms)
    return _completed(kept, results, choices, draft.seconds(), stored=False)


def program(built: Built, _: CompactChoices) -> Program:
    return built.program()


PASSES = (store, sketch, screen, refine, improve, graph, logic, optimise, measure, approximate)


def build(terms: Terms, choices: CompactChoices | None = None) -> Built:
    """Run all passes on terms."""
    chosen, value = choices or CompactChoices(), cast("Any", terms)
    listener = on_course(chosen.progress, chosen.demand)
    with chosen.workers.opened() as workers:
        for step in PASSES:
            value = step(value, replace(chosen, workers=workers, progress=listener))
    return cast("Built", value)


def _finished(built: Built, terms: Terms, choices: CompactChoices) -> Built | Draft:
    """Return a finished compilation, as a draft if it is still to be approximated."""
    if built.compact.demand.approximate == choices.demand.approximate:
        return built
    begin = Begin(built.compact, Finished(built.network, built.steps), built.worst)
    return Draft(terms, time.perf_counter() - built.seconds, begin, built)


def _completed(
    kept: StoredResult,
    results: ResultStore,
    choices: CompactChoices,
    seconds: float,
    *,
    stored: bool,
) -> Built:
    """Complete a result by its largest errors, shifts and bounds, and store it if it is new."""
    compact, errors, rest = kept.compact, kept.errors, resting(results.terms)
    worst = kept.worst
    if worst is None:  # from an old file
        worst = _worst(compact, kept.network, results.terms, choices)
    if errors.ends is None:
        errors = measure_many(
            fresh_states(compact), compact.graph, kept.network,
            alone=not compact.demand.keeps_graph, workers=choices.workers,
        )  # fmt: skip
    promised = compact.demand.error is not None  # of words without shifts
    free = [
        not (one.format.tread or one.format.range or promised) for one in compact.problem.outputs
    ]
    shifts = np.where(free, decoder_shifts(errors, worst, compact.demand.max), 0.0)
    ends = WordEnds(tuple(map(float, shifts)), rest)
    grade = compact.demand.grade if promised else choices.proof
    effort = max(choices.proof_effort or 0, EFFORT) if promised else choices.proof_effort
    stage = _stage("bounds", compact)
    choices.progress(Progress(stage, len(kept.network.nodes), tuple(kept.errors.rms)))
    built = Built(
        compact, kept.network, kept.steps, kept.lut6, errors.moved(shifts), worst.moved(shifts),
        compact.dropped, seconds, stored, ends,
        # bounds do not include waves that were left out of the sketch
        None if (is_pruned(results.terms) and not compact.form.direct)
        or not compact.demand.keeps_graph
        else proved(compact, ends, grade, effort, choices.workers),
    )  # fmt: skip
    if built.bounds and (built.largest > np.asarray(built.bounds.steps) + DIFFERENT).any():
        built = replace(built, bounds=None)  # an error contradicts a bound
    if not (stored and kept.worst is worst and kept.errors is errors) and built.holds:
        results.put(replace(kept, errors=errors, worst=worst))
    return built


def _worst(compact: Compact, network: Network, terms: Terms, choices: CompactChoices) -> Worst:
    """Search the largest errors, with progress."""
    stage = _stage("worst error", compact)

    def report(part: float) -> None:
        choices.progress(Progress(stage, len(network.nodes), _rms(compact), part))

    report(0.0)
    given = compact.problem, compact.demand, compact.graph, network
    return network_worst(*given, WordEnds(rest=resting(terms)), choices.workers, callback=report)


def _stage(name: str, compact: Compact) -> str:
    return name if compact.demand.approximate == "off" else OF_CHANGES[name]


def _rms(compact: Compact) -> tuple[float, ...]:
    return tuple(compact.errors.rms)


def _reporter(
    compact: Compact, choices: CompactChoices, done: int = 0
) -> Callable[[SynthesisStep], None]:
    """Return a callback for the steps of synthesis, after `done` earlier ones."""
    count, rms = done, _rms(compact)

    def report(step: SynthesisStep) -> None:
        nonlocal count
        count += 1
        fraction = 1 - 0.92**count
        note = f"{step.name}: {step.note}"
        choices.progress(Progress("passes", step.nodes, rms, fraction, note))

    return report
