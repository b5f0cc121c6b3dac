"""Results of compact mode: networks, bounds, names of words, and stores with verification.

A store file `puma560-8.<digest>.compact.json` holds a result without its times; the digest covers
the problem's text, the demand and the version. Files are written as a whole and begin with a
checksum; damaged ones are made again. During a search `….partial.json` holds finished stages and
`nets/` the networks of tables. Results of shared places are verified before use, unless this user
wrote them.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import math
import os
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import (
    NO_CONES,
    DataError,
    is_there,
    missing_package,
    parse_json,
    short,
    warn,
)
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.store import (
    Folder,
    MissingError,
    attest,
    find,
    keep,
    own_place,
    place_of,
    put,
    sealed,
    shipped_place,
    unsealed,
    user_cache,
)
from boolcomp.base.workers import ALONE
from boolcomp.compact.demand import SEARCH_VERSION, Demand, digest
from boolcomp.compact.errors import Errors, Sampling, is_worst, measure_many
from boolcomp.compact.network import (
    Synthesiser,
    WordEnds,
    from_truth_tables,
    input_codes,
    output_codes,
    program_of_graph,
    tables_in,
    truth_table,
    word_logic,
)
from boolcomp.compact.realisation import realised_places
from boolcomp.compact.sketch import SourceWord, quantities, widths_of, widths_text
from boolcomp.compact.sketch_terms import Formulation, build_sketch
from boolcomp.compact.tables import mux_network
from boolcomp.logic import lutmapping
from boolcomp.logic.lutmapping import mapped
from boolcomp.logic.network import parse_network, render_network
from boolcomp.logic.synthesis import (
    MOST_INPUTS,
    Finished,
    SynthesisRecipe,
    SynthesisStep,
    measure,
    optimise,
    synthesise,
    synthesise_all,
)
from boolcomp.program.program import KnownErrors, bound_note, over_found
from boolcomp.proof.bound.balls import between, pi
from boolcomp.proof.bound.bounds import EFFORT
from boolcomp.proof.bound.sketched import DecodedOutput, InputRange, SketchedGraph
from boolcomp.proof.worst import Worst
from boolcomp.terms.extract import resting
from boolcomp.words.drawing import word_names
from boolcomp.words.graph import parse_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.base.store import Entry, Where
    from boolcomp.base.store import ResultPlace as StorePlace
    from boolcomp.base.workers import Workers
    from boolcomp.codes import Code
    from boolcomp.compact.network import Addition
    from boolcomp.compact.sketch import Quantity, Sketch, Widths
    from boolcomp.compact.tables import Columns
    from boolcomp.logic.network import Network
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.logic.synthesis import Objective
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.bounds import Bounds, Grade
    from boolcomp.terms.extract import Terms
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]


PASSES_LEAVE = 0.85  # ratio of nodes after all passes to those of the noise model


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A finished compilation.

    The network's inputs are the words of `compact.input_codes` in their order, each most
    significant bit first. Its outputs are, for every output, the bits of its word, most significant
    first, then whether it saturated. Codes are natural. `errors` are those of fresh states, at
    which the network has computed the graph's words, and `worst` is the result of the error search.
    `dropped` are the numbers of unused low bits of input words, which the network lacks. Errors
    include the shifts of output codes in `ends`. `bounds` are the proved errors.
    """

    compact: Compact
    network: Network
    steps: tuple[SynthesisStep, ...]
    lut6: int
    errors: Errors
    worst: Worst
    dropped: Mapping[str, int]
    seconds: float
    stored: bool
    ends: WordEnds
    bounds: Bounds | None = None

    @property
    def nodes(self) -> int:
        return len(self.network.nodes)

    @property
    def depth(self) -> int:
        return self.network.depth

    @property
    def without_abc(self) -> bool:
        return any(step.note == lutmapping.MISSING.note for step in self.steps)

    @property
    def predicted_nodes(self) -> float:
        return PASSES_LEAVE * self.compact.predicted_cost

    @property
    def predicted_rms(self) -> tuple[float, ...]:
        return tuple(float(x) for x in self.compact.predicted_rms)

    @property
    def holds(self) -> bool:
        """Whether errors are as demanded; the rms of fresh samples may be 1 % larger."""
        demand = self.compact.demand
        rms = np.sqrt(self.compact.allowed) * 1.01
        limits = np.asarray(demand.max or (np.inf,))
        within = bool((self.errors.rms <= rms).all() and (self.largest <= limits).all())
        return within and not self.errors.wrapped and self.kept

    @property
    def promised(self) -> tuple[float, ...]:
        """The guaranteed errors of outputs, in steps; infinite if there is none."""
        demand, problem = self.compact.demand, self.compact.problem
        if demand.error is None:
            return (math.inf,) * len(problem.outputs)
        return demand.error.steps(problem, demand.bits)

    @property
    def kept(self) -> bool:
        """Whether all guaranteed errors are proved."""
        if not self.compact.demand.error:
            return True
        if self.bounds is None or self.bounds.unproved:
            return False
        pairs = zip(self.bounds.steps, self.promised, strict=True)
        return all(found <= limit for found, limit in pairs)

    @property
    def largest(self) -> Floats:
        return np.maximum(self.errors.max, self.worst.largest)

    @property
    def proved(self) -> tuple[float, ...]:
        """The proved errors of outputs, in their units; infinite without a proof."""
        if self.bounds is None or self.bounds.unproved:
            return (math.inf,) * len(self.compact.problem.outputs)
        return self.bounds.values

    @property
    def over_found(self) -> tuple[float | None, ...]:
        """The ratios of proved errors to the largest errors found; None if unknown."""
        steps = [code.step for code in self.compact.output_codes]
        known = zip(self.proved, self.largest, steps, strict=True)
        return tuple(over_found(bound, float(found) * step) for bound, found, step in known)

    @property
    def useful(self) -> tuple[bool, ...]:
        """Whether bounds of outputs are at most as wide as their words, also without a proof."""
        if self.bounds is None:
            return (False,) * len(self.compact.problem.outputs)
        pairs = zip(self.bounds.values, self.compact.output_codes, strict=True)
        return tuple(not bound_note(value, code.range) for value, code in pairs)

    @property
    def grades(self) -> tuple[str, ...]:
        """The grades of proved errors; empty without a proof."""
        if self.bounds is None or self.bounds.unproved:
            return ("",) * len(self.compact.problem.outputs)
        return tuple(bound.grade for bound in self.bounds.outputs)

    def program(self) -> Program:
        """Return the program with its graph, the meanings of its words, and its errors."""
        one = self.compact
        made = program_of_graph(one.problem, one.demand, one.graph, self.network, self.ends)
        (load,) = made.loads
        sizes = zip(self.errors.rms, self.errors.max, self.largest, strict=True)
        given = zip(load.outputs, sizes, self.proved, self.grades, strict=True)
        outputs = tuple(
            replace(
                output, bound=bound, grade=grade,
                errors=KnownErrors(*(float(x) * output.code.step for x in found)),
            )
            for output, found, bound, grade in given
        )  # fmt: skip
        load = replace(load, outputs=outputs)
        if one.demand.keeps_graph:
            ranges = {name: code.range for name, code in one.input_codes.items()}
            load = replace(load, graph=one.graph, meanings=word_names(one.graph, ranges))
        return replace(made, loads=(load,), demand=str(one.demand))

    def __str__(self) -> str:
        compact = self.compact
        lines = [
            f"{compact.problem.name} at {compact.demand.bits} bits, {compact.form}",
            f"built: {self.nodes} LUT3 nodes, depth {self.depth}, {self.lut6} as LUT6",
            f"demand: {compact.demand}",
            f"predicted: {self.predicted_nodes:.0f} nodes, rms {_list(self.predicted_rms)}",
            f"measured at {self.errors.samples} fresh states, in steps: {self.errors}",
            f"largest error found, {self.worst.evaluations} evaluations: {_list(self.largest)}",
        ]
        gone = [f"{name} {bits}" for name, bits in self.dropped.items() if bits]
        lines.append(f"unused low input bits: {', '.join(gone) or 'none'}")
        return "\n".join(lines) + "\n"


def _list(values: Iterable[float]) -> str:
    return " ".join(short(value, 3) for value in values)


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """A compiled graph, with its form and widths, and predicted, built and measured values.

    `allowed` are the allowed mean square errors, in steps²; `nodes` those of the network with
    tables by cofactors; `errors` those at the states of the search.
    """

    problem: Problem
    demand: Demand
    form: Formulation
    sketch: Sketch
    widths: Widths
    graph: WordGraph
    biases: Floats
    allowed: Floats
    nodes: int
    predicted_cost: float
    predicted_rms: Floats
    errors: Errors

    @property
    def specified_words(self) -> dict[str, Quantity]:
        return quantities(self.problem, self.demand.input_bits)

    @property
    def input_codes(self) -> dict[str, Code]:
        return input_codes(self.problem, self.demand, self.graph)

    @property
    def output_codes(self) -> tuple[Code, ...]:
        return output_codes(self.problem, self.demand, self.graph)

    @property
    def dropped(self) -> dict[str, int]:
        """The numbers of low bits of input words that the graph does not have."""
        left = {node.name: node.bits for node in self.graph.inputs}
        return {name: word.bits - left.get(name, 0) for name, word in self.specified_words.items()}

    def network(self, synthesise: Synthesiser = mux_network) -> Network:
        return word_logic(self.graph, synthesise)


# --------------------------------------------------------------------------------------------------
# The graph with its sketch, for proofs of bounds (see `proof.bound.sketched`).
# --------------------------------------------------------------------------------------------------


def sketched(compact: Compact, ends: WordEnds) -> SketchedGraph:
    """Return a compiled graph with its sketch."""
    made = compact.sketch, compact.widths, compact.graph
    return sketched_graph(compact.problem, compact.demand, *made, ends)


def sketched_graph(
    problem: Problem,
    demand: Demand,
    sketch: Sketch,
    widths: Widths,
    graph: WordGraph,
    ends: WordEnds,
) -> SketchedGraph:
    """Return a graph with its sketch, also during a search."""
    words = quantities(problem, demand.input_bits)
    steps, outputs = problem.steps(demand.bits), problem.outputs
    shifts, rests = ends.shifts or [0.0] * len(outputs), ends.rest or [None] * len(outputs)
    read = {one.name for one in graph.inputs}
    limits = {one.name: one.range for one in problem.inputs}
    return SketchedGraph(
        problem,
        sketch,
        graph,
        realised_places(sketch, widths, graph),
        {
            place: _range(node, words[node.name], limits[node.name])
            for place, node in enumerate(sketch.nodes)
            if isinstance(node, SourceWord)
        },
        tuple(
            DecodedOutput(
                one.name, one.unit, step, Fraction(shift),
                None if rest is None else tuple(name for name in rest if name in read),
            )
            for one, step, shift, rest in zip(outputs, steps, shifts, rests, strict=True)
        ),
    )  # fmt: skip


def _range(node: SourceWord, word: Quantity, limits: Interval) -> InputRange:
    """Return the range of an input; angles count turns from half a turn above the lowest border."""
    low, high = Fraction(limits.low), Fraction(limits.high)
    if not node.angle:
        centre, step = Fraction(word.range.centre), Fraction(word.step)
        where = between((low - centre) / step, (high - centre) / step)
        return InputRange(node, where, word.range.centre, word.step, word.wraps)
    start, half = Fraction(word.range.low), Fraction(1, 2)
    turns = Fraction(pi().low, 1 << 79), Fraction(pi().high, 1 << 79)
    least = min((low - start) / turn for turn in turns) - half
    most = max((high - start) / turn for turn in turns) - half
    base, unit = word.range.low + math.pi, 2 * math.pi
    return InputRange(node, between(least, most), base, unit, word.wraps)


# --------------------------------------------------------------------------------------------------
# The bounds of a compiled graph.
# --------------------------------------------------------------------------------------------------


def proved(
    compact: Compact,
    ends: WordEnds,
    grade: Grade | None,
    effort: int | None,
    workers: Workers = ALONE,
) -> Bounds | None:
    """Return the proved errors of outputs; None if the function is unbounded near some words.

    The result is None, with a warning, if python-flint is not installed. Every output has the
    tighter of this bound and the checker's plain one. If bounds of a `grade` fail, those of the
    grade below are used; `effort` is for tight ones, and implies them without a grade. By default
    bounds are tight if that takes little counted work (see `usual_grade`).
    """
    if not is_there("python-flint"):
        warn(f"no bound can be proved: {missing_package('python-flint')}")
        return None
    from boolcomp.proof.bound.graded import met_with_checker  # noqa: PLC0415 (as below)

    graph = sketched(compact, ends)
    if grade is None and effort is None:
        from boolcomp.proof.bound.graded import USUAL, usual_grade  # noqa: PLC0415 (as below)

        grade, effort = usual_grade(graph), USUAL
    found = bounds_of(graph, grade or "tight", effort or EFFORT, workers)
    try:
        return None if found is None else met_with_checker(graph, found)
    except DataError:
        return None


@lru_cache(maxsize=4)  # the last bounds of a search are needed again for its result
def bounds_of(
    graph: SketchedGraph, grade: Grade, effort: int, workers: Workers = ALONE
) -> Bounds | None:
    """Return the proved errors of a graph without the checker's bounds."""
    from boolcomp.proof.bound.graded import (  # noqa: PLC0415 (with bounds alone)
        graded_bounds,
        without_overflow,
    )
    from boolcomp.proof.bound.plain import (  # noqa: PLC0415 (balls take their time)
        beyond_ends,
        plain_bounds,
    )

    try:
        if grade == "plain":
            return without_overflow(graph, beyond_ends(graph, plain_bounds(graph)))
        found = graded_bounds(graph, grade, effort, workers)
        return without_overflow(graph, beyond_ends(graph, found), effort)
    except WorkerLostError:
        raise
    except DataError:
        return None


# --------------------------------------------------------------------------------------------------
# The final network of a word graph: synthesis of tables, then passes with equivalence proofs.
# --------------------------------------------------------------------------------------------------

MAP_SECONDS = 60.0


@dataclass(frozen=True, slots=True, eq=False)
class Begin:
    """A graph and its network, before or after approximation; the largest errors if known."""

    compact: Compact
    finished: Finished
    worst: Worst | None = None


def table_network(
    graph: WordGraph,
    objective: Objective = "nodes",
    folder: Path | None = None,
    report: Callable[[SynthesisStep], None] = lambda _: None,
    workers: Workers = ALONE,
    known: Mapping[tuple[int, Columns], Network] | None = None,
) -> Finished:
    """Return the network of a graph with synthesised tables.

    Tables with too many inputs are made by cofactors. Results are cached in a folder, if given. A
    `known` network of a table is used if it is smaller.
    """
    own = synthesiser(objective, folder, tables_in(graph), workers)

    def made(inputs: int, columns: Columns) -> Network:
        both = [own(inputs, columns), *filter(None, [(known or {}).get((inputs, columns))])]
        return min(both, key=lambda network: measure(network, objective))

    start = word_logic(graph, made)
    first = SynthesisStep("tables", len(start.nodes), start.depth, "at all inputs")
    report(first)
    return Finished(start, (first,))


def synthesiser(
    objective: Objective,
    folder: Path | None = None,
    known: Iterable[tuple[int, Columns]] = (),
    workers: Workers = ALONE,
) -> Synthesiser:
    """Return a synthesis of tables; results are cached in a folder, if given.

    Workers synthesise `known` tables in advance.
    """
    recipe = SynthesisRecipe(objective, use_abc=False)
    tables = [truth_table(*one) for one in dict.fromkeys(known) if one[0] <= MOST_INPUTS]
    # The largest tables take longest, and so come first.
    tables.sort(key=lambda table: -table.inputs)
    made = synthesise_all(tables, recipe, folder, workers=workers)
    found = {table: one.network for table, one in zip(tables, made, strict=True)}

    def small(table: TruthTable) -> Network:
        return found.get(table) or synthesise(table, recipe, folder).network

    return from_truth_tables(small, MOST_INPUTS)


def sums_of(graph: WordGraph, network: Network) -> tuple[Addition, ...]:
    """Return records of the graph's sums, in the order of its words, as a network adds them."""
    sums: list[Addition] = []
    word_logic(graph, mux_network, sums, like=network)
    return tuple(sums)


@lru_cache(maxsize=8)
def logic_like(graph: WordGraph, network: Network) -> Network:
    """Return the network of a graph with synthesised tables and the adders of another network."""
    return word_logic(graph, synthesiser("nodes", None, tables_in(graph)), like=network)


def plain_network(graph: WordGraph) -> Finished:
    """Return the network of a graph with tables as decision diagrams."""
    made = word_logic(graph)
    step = SynthesisStep("tables", len(made.nodes), made.depth, "by decision diagrams")
    return Finished(made, (step,))


def smaller(
    start: Finished,
    objective: Objective = "nodes",
    rounds: int = 8,
    report: Callable[[SynthesisStep], None] = lambda _: None,
    *,
    quick: bool = False,
) -> Finished:
    """Optimise a network; every step is proved equivalent to the one before.

    `quick` is one round of the fastest passes.
    """
    done = optimise(
        start.network, None, objective, rounds=1 if quick else rounds, quick=quick, report=report
    )
    return Finished(done.network, (*start.steps, *done.steps))


def lut6(network: Network, *, quick: bool = False) -> int:
    """Return the number of LUT6 of a network, mapped by ABC if installed.

    A `quick` count may be a few percent larger.
    """
    return len(mapped(network, 6, deadline=MAP_SECONDS, quick=quick).luts.nodes)


def lut6_of(network: Network, workers: Workers, *, quick: bool = False) -> Callable[[], int]:
    """Count LUT6 in a worker; the result waits for it, or counts here if it lacks our tools."""
    counting = workers.begin(_lut6, network, lutmapping.find() is not None, quick)

    def counted() -> int:
        found = counting.result()
        return lut6(network, quick=quick) if found is None else found

    return counted


def _lut6(network: Network, with_abc: bool, quick: bool) -> int | None:  # noqa: FBT001
    return lut6(network, quick=quick) if (lutmapping.find() is not None) == with_abc else None


# --------------------------------------------------------------------------------------------------
# Results, and checkpoints of searches, as files.
# --------------------------------------------------------------------------------------------------

CHECKED, CHECK_SEED, CHECK_SLACK = 16_384, 0x5EED, 0.08  # states; relative rms
NOT_USED = "{path}: damaged, or its contents are wrong: it is not used"
TITLE = f"boolcomp compact result, format {SEARCH_VERSION}"


@dataclass(frozen=True, slots=True, eq=False)
class StoredResult:
    """A result as it is stored; `worst` is None in old files.

    Errors are for words decoded at the middles of cells, without shifts.
    """

    compact: Compact
    network: Network
    steps: tuple[SynthesisStep, ...]
    lut6: int
    errors: Errors
    worst: Worst | None = None


def unproved(_: StoredResult, results: ResultStore) -> StoredResult:
    raise DataError(f"{results.name} has not been verified")


@dataclass(frozen=True, slots=True)
class ResultStore:
    """The store of the result of one demand: all places are read, the first one is written."""

    terms: Terms
    demand: Demand
    places: tuple[StorePlace, ...]
    with_abc: bool

    @property
    def name(self) -> str:
        """The name of the file without its extension, which differs for passes without ABC."""
        problem = self.terms.problem
        name = f"{problem.name}-{self.demand.bits}.{digest(problem, self.demand)}"
        return name if self.with_abc else f"{name}.builtin"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.name.removesuffix(".builtin"), self.name)))

    @property
    def tables(self) -> Path | None:
        """The folder of networks of tables, which are verified when read; None if not writable.

        Object stores use the user's cache for these small files.
        """
        first = self.places[0]
        folder = (first.path if isinstance(first, Folder) else user_cache("compact")) / "nets"
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            return folder if os.access(folder, os.W_OK) else None
        return None

    def find(
        self, prove: Callable[[StoredResult, ResultStore], StoredResult] = unproved
    ) -> StoredResult | None:
        """Return the stored result, or None.

        A result from a shared place is verified by `prove`, which returns it with its verified
        values, or raises a `DataError`.
        """

        def read(entry: Entry, text: str) -> StoredResult:
            document = _document(entry, text)
            if "cones" in document:
                warn(f"{entry}: {NO_CONES}")
                raise MissingError
            if document.get("same") == self.demand.exact.key:
                return self._same(prove)
            kept = self._read(document)
            if entry.believed:
                return kept
            proved = prove(kept, self)
            if proved is kept:
                attest(entry.name, text)
            return proved

        for name in self._names:
            pattern = glob.escape(f"{name}.compact.json")
            for kept in find(self.places, pattern, read, NOT_USED):
                return kept
        return None

    def _same(self, prove: Callable[[StoredResult, ResultStore], StoredResult]) -> StoredResult:
        """Return the exact result, because approximation gained nothing."""
        kept = replace(self, demand=self.demand.exact).find(prove)
        if kept is None:
            raise DataError("the exact result that it refers to is missing")
        return replace(kept, compact=replace(kept.compact, demand=self.demand))

    def put_same(self) -> None:
        """Store a reference to the exact result, because approximation gained nothing."""
        document = {
            "title": TITLE, "robot": self.terms.problem.name, "demand": self.demand.key,
            "same": self.demand.exact.key,
        }  # fmt: skip
        name = f"{self.name}.compact.json"
        put(self.places[0], name, _sealed(document), "the reference to the result is not kept")

    def _read(self, document: dict[str, Any]) -> StoredResult:
        kept = _parsed_result(document, self.terms, self.demand)
        if not _is_true(kept, WordEnds(rest=resting(self.terms))):
            raise DataError("its network or its errors are wrong")
        return kept

    def put(self, result: StoredResult) -> None:
        """Write a finished result and delete its checkpoint; a failure is a warning."""
        name = f"{self.name}.compact.json"
        if put(self.places[0], name, render(result), "the result is not kept") is not None:
            with contextlib.suppress(OSError):
                self._partial.unlink(missing_ok=True)

    @property
    def _partial(self) -> Path:
        """The file of the checkpoint: next to the result, or in the user's cache."""
        first = self.places[0]
        if first.trusted and isinstance(first, Folder):
            return first.path / f"{self.name}.partial.json"
        place = hashlib.sha256(str(first).encode()).hexdigest()[:16]
        return user_cache("compact") / f"{self.name}.{place}.partial.json"

    def stages(self) -> dict[str, Any]:
        """Return the finished stages of an interrupted search by name."""
        own = Folder(self._partial.parent, trusted=True)
        return next(find([own], glob.escape(self._partial.name), _document), {})

    def note(self, stages: dict[str, Any]) -> None:
        keep(self._partial, _sealed(stages))


def result_store(
    terms: Terms, demand: Demand, store: Where | None, *, also_shipped: bool = True
) -> ResultStore:
    """Return the store of a place (default: the user's cache) and of shipped results."""
    demand = demand.completed(terms.problem)
    first = own_place("compact") if store is None else place_of(store)
    with_abc = lutmapping.find() is not None
    if not also_shipped:
        return ResultStore(terms, demand, (first,), with_abc)
    return ResultStore(terms, demand, (first, shipped_place("tables")), with_abc)


def _is_true(kept: StoredResult, ends: WordEnds) -> bool:
    """Return whether a network has the words of its graph and the stored errors, on other states.

    A demanded maximum is searched again; a file without the largest error does not satisfy it.
    """
    demand, compact = kept.compact.demand, kept.compact
    if kept.worst is None and demand.max:
        return False
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, CHECKED, CHECK_SEED)
    try:
        found = measure_many(sampling, compact.graph, kept.network, alone=not demand.keeps_graph)
    except AssertionError:
        return False
    if not np.allclose(found.rms, kept.errors.rms, rtol=CHECK_SLACK, atol=0.01):
        return False
    given = (compact.problem, demand, compact.graph, kept.network)
    return kept.worst is None or is_worst(*given, kept.worst, ends)


def render(kept: StoredResult) -> str:
    """Return the text of a result; equal results have equal texts."""
    compact, form = kept.compact, kept.compact.form
    document = {
        "title": TITLE,
        "robot": compact.problem.name,
        "demand": compact.demand.key,
        "form": [form.speeds, form.accelerations, form.chained, form.shared]
        + [form.exact] * (form.exact or form.direct or form.tabled)
        + [form.direct] * (form.direct or form.tabled)
        + [True] * form.tabled
        + [True] * form.multiplied,
        "widths": widths_text(compact.widths),
        "biases": _numbers(compact.biases),
        "demanded": _numbers(compact.allowed),
        "built": compact.nodes,
        "predicted cost": compact.predicted_cost,
        "predicted rms": _numbers(compact.predicted_rms),
        "search": _errors_out(compact.errors),
        "fresh": _errors_out(kept.errors),
        "worst": None
        if kept.worst is None
        else {
            "evaluations": kept.worst.evaluations,
            "errors": kept.worst.errors.tolist(),
            "states": kept.worst.states.tolist(),
        },
        "lut6": kept.lut6,
        "steps": [[s.name, s.nodes, s.depth, s.note] for s in kept.steps],
        "graph": str(compact.graph).splitlines(),
        "network": render_network(kept.network).splitlines(),
    }
    return _sealed(document)


def _sealed(document: dict[str, Any]) -> str:
    return sealed(json.dumps(document, indent=0))


def _document(entry: Entry, text: str) -> dict[str, Any]:
    document = parse_json(unsealed(text), str(entry))
    if not isinstance(document, dict):
        raise DataError("not a result", where=entry)
    return document


def _parsed_result(document: dict[str, Any], terms: Terms, demand: Demand) -> StoredResult:
    if document["title"] != TITLE or document["demand"] != demand.key:
        raise DataError("it is the result of another demand")
    form = Formulation(*document["form"])
    problem = terms.problem
    steps = problem.steps(demand.bits)
    graph = parse_graph(_text(document["graph"]))
    compact = Compact(
        problem, demand, form, build_sketch(terms, demand.input_bits, steps, form),
        widths_of(document["widths"]), graph, np.asarray(document["biases"]),
        np.asarray(document["demanded"]), document["built"], document["predicted cost"],
        np.asarray(document["predicted rms"]), _errors_in(document["search"]),
    )  # fmt: skip
    realised_places(compact.sketch, compact.widths, graph)  # checks the graph
    network = parse_network(_text(document["network"]))
    inputs, outputs = sum(n.bits for n in graph.inputs), sum(r.bits + 1 for r in graph.results)
    if (network.inputs, len(network.outputs)) != (inputs, outputs):
        raise DataError("its network is that of another graph")
    taken = tuple(SynthesisStep(*step) for step in document["steps"])
    errors, worst = _errors_in(document["fresh"]), document.get("worst")
    found = None if worst is None else _worst_in(worst, problem)
    return StoredResult(compact, network, taken, document["lut6"], errors, found)


def _text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def _errors_out(errors: Errors) -> dict[str, Any]:
    return {
        "samples": errors.samples,
        "rms": _numbers(errors.rms),
        "max": _numbers(errors.max),
        "mean": _numbers(errors.mean),
        "wrapped": list(errors.wrapped),
        "saturated": errors.saturated,
        **({} if errors.ends is None else {"ends": errors.ends.tolist()}),
    }


def _errors_in(document: dict[str, Any]) -> Errors:
    rms, ends = np.asarray(document["rms"]), document.get("ends")
    return Errors(
        rms, np.asarray(document["max"]), np.asarray(document["mean"]),
        tuple(document["wrapped"]), int(document["saturated"]), int(document["samples"]),
        None if ends is None else np.asarray(ends, np.float64).reshape(len(rms), 2),
    )  # fmt: skip


def _worst_in(document: dict[str, Any], problem: Problem) -> Worst:
    inputs, outputs = len(problem.inputs), len(problem.outputs)
    errors = np.asarray(document["errors"], np.float64).reshape(outputs, 2)
    states = np.asarray(document["states"], np.float64).reshape(outputs, 2, inputs)
    return Worst(errors, states, int(document["evaluations"]), states[:, :0])
