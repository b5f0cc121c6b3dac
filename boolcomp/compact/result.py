"""A finished compilation: the smallest graph, its final network, and what both err by."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from boolcomp.base.errors import DataError, DataWarning, is_there, needed, short
from boolcomp.base.processes import WorkerLostError
from boolcomp.base.workers import ALONE
from boolcomp.compact.network import (
    ConedLogic,
    Synthesiser,
    from_truth_tables,
    input_codes,
    output_codes,
    program_of_graph,
    tables_in,
    truth_table,
    word_logic,
)
from boolcomp.compact.realisation import realised_places
from boolcomp.compact.sketch import (
    TURN,
    AngleSum,
    Curve,
    Linear,
    Powers,
    Quantity,
    Source,
    Waves,
    WordSum,
    quantities,
)
from boolcomp.compact.tables import mux_network
from boolcomp.logic.network import CONSTANTS, TRUE
from boolcomp.logic.synthesis import abc
from boolcomp.logic.synthesis.abc import mapped
from boolcomp.logic.synthesis.optimise import Step, optimise
from boolcomp.logic.synthesis.tables import (
    MOST_INPUTS,
    SynthesisRecipe,
    measure,
    synthesise,
    synthesise_all,
)
from boolcomp.problem.expressions.tape import Straight
from boolcomp.program.program import KnownErrors, bound_note, over_found
from boolcomp.proof.bound.balls import Enclosure, between, pi
from boolcomp.proof.bound.meaning import (
    EFFORT,
    Asked,
    AskedInput,
    CurveTable,
    Explained,
    GivenWord,
    LinearPart,
    Pieces,
    PowerTable,
    ProductPart,
    ResultMeaning,
    Total,
    TurnSum,
    WaveTable,
)
from boolcomp.words.drawing import word_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from boolcomp.base.workers import Workers
    from boolcomp.codes import Code
    from boolcomp.compact.demand import Demand
    from boolcomp.compact.errors import Errors
    from boolcomp.compact.network import Addition, Ends
    from boolcomp.compact.realisation import Place
    from boolcomp.compact.sketch import Sketch, SketchNode, Table, Widths
    from boolcomp.compact.sketch_terms import Form
    from boolcomp.compact.tables import Columns
    from boolcomp.logic.network import Network, Node
    from boolcomp.logic.simulation import TruthTable
    from boolcomp.logic.synthesis.tables import Objective
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Interval
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.meaning import Bounds, Grade, Meaning
    from boolcomp.proof.worst import Worst
    from boolcomp.words.graph import Cone, WordGraph

    Floats = NDArray[np.float64]


# --------------------------------------------------------------------------------------------------
# A finished compilation: the smallest graph, its final network, and what both err by.
# --------------------------------------------------------------------------------------------------


PASSES_LEAVE = 0.85  # of the nodes that the noise model counts, after all passes


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A finished compilation.

    The network's inputs are the words of `compact.input_codes` in their order, each most
    significant bit first; its outputs are, for every one asked for, the bits of its word, most
    significant first, then one that tells whether it saturated. Codes are natural. `errors` are
    those of `errors.samples` states that no part of the search has seen; the network gave the
    graph's words, bit for bit, at all of them. `worst` was sought by climbing. `dropped` says how
    many low bits of each input word nothing reads: they are not in the network. Words are decoded
    beside the middles of cells as `ends` say (see `errors.centre`), and so are all errors. `bounds`
    are what no error exceeds. The network is its graph's but for `cones`,
    which move words by what is `booked`.
    """

    compact: Compact
    network: Network
    steps: tuple[Step, ...]
    lut6: int
    errors: Errors
    worst: Worst
    dropped: Mapping[str, int]
    seconds: float
    stored: bool
    ends: Ends
    bounds: Bounds | None = None
    cones: tuple[Cone, ...] = ()
    booked: Booked = field(default_factory=dict)

    @property
    def nodes(self) -> int:
        """How many nodes of at most three inputs the network has."""
        return len(self.network.nodes)

    @property
    def depth(self) -> int:
        """The largest number of nodes from an input to an output."""
        return self.network.depth

    @property
    def without_abc(self) -> bool:
        """Whether ABC was missing when this was made, so that there may be smaller logic."""
        return any(step.note == abc.MISSING.note for step in self.steps)

    @property
    def predicted_nodes(self) -> float:
        """What the noise model expects, before anything is built."""
        return PASSES_LEAVE * self.compact.predicted_cost

    @property
    def predicted_rms(self) -> tuple[float, ...]:
        """The rms errors, in steps, that the noise model expects."""
        return tuple(float(x) for x in self.compact.predicted_rms)

    @property
    def holds(self) -> bool:
        """Whether errors are as demanded: rms within 1 % (samples differ), the worst found."""
        demand = self.compact.demand
        rms = np.sqrt(self.compact.allowed) * 1.01
        most = np.asarray(demand.max or (np.inf,))
        within = bool((self.errors.rms <= rms).all() and (self.largest <= most).all())
        return within and not self.errors.wrapped and self.kept

    @property
    def promised(self) -> tuple[float, ...]:
        """What is promised of every output, in steps: infinite where nothing is."""
        demand, problem = self.compact.demand, self.compact.problem
        if demand.error is None:
            return (math.inf,) * len(problem.outputs)
        return demand.error.steps(problem, demand.bits)

    @property
    def kept(self) -> bool:
        """Whether what is promised is proved; so it is where nothing is promised."""
        if not self.compact.demand.error:
            return True
        if self.bounds is None or self.bounds.unproved:
            return False
        pairs = zip(self.bounds.steps, self.promised, strict=True)
        return all(found <= most for found, most in pairs)

    @property
    def largest(self) -> Floats:
        """The largest error of every output that is known, in steps."""
        return np.maximum(self.errors.max, self.worst.most)

    @property
    def proved(self) -> tuple[float, ...]:
        """What no error of an output exceeds, in its unit: infinite where that is not proved."""
        if self.bounds is None or self.bounds.unproved:
            return (math.inf,) * len(self.compact.problem.outputs)
        return self.bounds.values

    @property
    def over_found(self) -> tuple[float | None, ...]:
        """How many times the worst found those are, as far as either is known."""
        steps = [code.step for code in self.compact.output_codes]
        known = zip(self.proved, self.largest, steps, strict=True)
        return tuple(over_found(bound, float(found) * step) for bound, found, step in known)

    @property
    def useful(self) -> tuple[bool, ...]:
        """Whether a bound is no wider than the word of its output, be it conditional or not."""
        if self.bounds is None:
            return (False,) * len(self.compact.problem.outputs)
        pairs = zip(self.bounds.values, self.compact.output_codes, strict=True)
        return tuple(not bound_note(value, code.range) for value, code in pairs)

    @property
    def grades(self) -> tuple[str, ...]:
        """How tight those are: empty where nothing is proved."""
        if self.bounds is None or self.bounds.unproved:
            return ("",) * len(self.compact.problem.outputs)
        return tuple(bound.grade for bound in self.bounds.outputs)

    def program(self) -> Program:
        """Return the program, with its graph, what its words mean, and its errors."""
        one = self.compact
        made = program_of_graph(one.problem, one.demand, one.graph, self.network, self.ends)
        (load,) = made.loads
        sizes = zip(self.errors.rms, self.errors.max, self.largest, strict=True)
        outputs = tuple(
            replace(
                output,
                bound=bound,
                grade=grade,
                errors=KnownErrors(*(float(x) * output.code.step for x in found)),
            )
            for output, found, bound, grade in zip(
                load.outputs, sizes, self.proved, self.grades, strict=True
            )
        )
        ranges = {name: code.range for name, code in one.input_codes.items()}
        meanings = word_names(one.graph, ranges)
        load = replace(load, outputs=outputs)
        if one.demand.keeps_graph:
            load = replace(load, graph=one.graph, meanings=meanings)
        return replace(made, loads=(load,), demand=str(one.demand))

    def __str__(self) -> str:
        compact = self.compact
        lines = [
            f"{compact.problem.name} at {compact.demand.bits} bits, {compact.form}",
            f"built: {self.nodes} nodes, depth {self.depth}, {self.lut6} if they had six inputs",
            f"demand: {compact.demand}",
            f"predicted: {self.predicted_nodes:.0f} nodes, rms {_list(self.predicted_rms)}",
            f"measured at {self.errors.samples} fresh states, in steps: {self.errors}",
            f"worst found with {self.worst.evaluations} evaluations: {_list(self.largest)}",
        ]
        gone = [f"{name} {bits}" for name, bits in self.dropped.items() if bits]
        lines.append(f"low input bits that nothing reads: {', '.join(gone) or 'none'}")
        return "\n".join(lines) + "\n"


def _list(values: Iterable[float]) -> str:
    return " ".join(short(value, 3) for value in values)


# --------------------------------------------------------------------------------------------------
# A compiled word graph with all that is known of it.
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Compact:
    """A compiled graph: what was chosen, what was predicted, what was built and measured.

    `allowed` are the mean square errors asked for, in steps²; `nodes` those of the network whose
    tables are made by cofactors; `errors` those of states that the search looked at.
    """

    problem: Problem
    demand: Demand
    form: Form
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
    def asked_words(self) -> dict[str, Quantity]:
        """The input words as they were asked for; the graph may read less of them."""
        return quantities(self.problem, self.demand.input_bits)

    @property
    def input_codes(self) -> dict[str, Code]:
        """The codes of the input words by name, in the order of the network's inputs."""
        return input_codes(self.problem, self.demand, self.graph)

    @property
    def output_codes(self) -> tuple[Code, ...]:
        """The codes of the outputs' words: about zero, wider than the range where that is short."""
        return output_codes(self.problem, self.demand, self.graph)

    @property
    def dropped(self) -> dict[str, int]:
        """How many low bits of every input word the graph does not have."""
        left = {node.name: node.bits for node in self.graph.inputs}
        return {name: word.bits - left.get(name, 0) for name, word in self.asked_words.items()}

    def network(self, synthesise: Synthesiser = mux_network) -> Network:
        """Return the network of the graph (see `word_logic`)."""
        return word_logic(self.graph, synthesise)


# --------------------------------------------------------------------------------------------------
# What the words of a graph stand for, said for whoever proves bounds (see `proof.bound.meaning`).
#
# The sketch says what is calculated, widths say how it was realised; which part of a heap belongs
# to which addend is found again from both.
# --------------------------------------------------------------------------------------------------


MOST_BITS = 40  # of all inputs' words: nobody looks at more cells than that


def explained(compact: Compact, ends: Ends, booked: Booked | None = None) -> Explained:
    """Return a compiled graph with what its words stand for, and by how much cones move them."""
    made = Realised(compact.sketch, compact.widths, compact.graph)
    found = explained_graph(compact.problem, compact.demand, made, ends)
    moved = tuple((word, *by) for word, by in sorted((booked or {}).items()))
    return replace(found, booked=moved)


class Realised(NamedTuple):
    """A sketch, its widths, and the graph that they make."""

    sketch: Sketch
    widths: Widths
    graph: WordGraph


def explained_graph(problem: Problem, demand: Demand, made: Realised, ends: Ends) -> Explained:
    """Return a graph with what its words stand for, of a search that may not be over."""
    words = quantities(problem, demand.input_bits)
    ranges = {one.name: one.range for one in problem.inputs}
    places = realised_places(made.sketch, made.widths, made.graph)
    meanings = tuple(
        _meaning(node, place, words, ranges)
        for node, place in zip(made.sketch.nodes, places, strict=True)
    )
    steps, outputs = problem.steps(demand.bits), problem.outputs
    shifts, rests = ends.shifts or [0.0] * len(outputs), ends.rest or [None] * len(outputs)
    read = {one.name: words[one.name] for one in made.graph.inputs}
    results = tuple(
        ResultMeaning(one.name, one.unit, place, step, Fraction(shift), _rest(rest, read))
        for one, place, step, shift, rest in zip(
            outputs, made.sketch.outputs, steps, shifts, rests, strict=True
        )
    )
    return Explained(made.graph, meanings, results, asked=_asked(problem, demand, made.graph))


@lru_cache(maxsize=4)  # of a problem many graphs are made
def _steps(problem: Problem) -> Straight | None:
    """Return a problem's function as steps, if it is no sum of terms."""
    steps = problem.form()
    return steps if isinstance(steps, Straight) else None


def _asked(problem: Problem, demand: Demand, graph: WordGraph) -> Asked | None:
    """Return a problem as steps, if that is how it was given and it has few cells."""
    if sum(node.bits for node in graph.inputs) > MOST_BITS:
        return None
    steps = _steps(problem)
    if steps is None:
        return None
    inputs, words = [], quantities(problem, demand.input_bits)
    for one in problem.inputs:
        word = words.get(one.name)
        base, unit = one.range.low, 0.0
        if word is not None and word.turns:
            base, unit = word.range.low + math.pi, 2 * math.pi
        elif word is not None:
            base, unit = word.range.centre, word.step
        inputs.append(AskedInput(one.name, base, unit, one.range.low, one.range.high))
    centres = [one.range.centre for one in problem.outputs]
    return Asked(steps, tuple(inputs), tuple(zip(centres, problem.steps(demand.bits), strict=True)))


def _rest(
    names: tuple[str, ...] | None, words: Mapping[str, Quantity]
) -> tuple[tuple[str, Enclosure], ...] | None:
    """Return where inputs are that say zero: no farther from it than a cell is wide."""
    if names is None:
        return None
    found = []
    for name in names:
        if name in words:
            word = words[name]
            zero, reach = -Fraction(word.range.centre), Fraction(word.step)
            found.append((name, between((zero - reach) / reach, (zero + reach) / reach)))
    return tuple(found)


def _meaning(
    node: SketchNode, place: Place, words: Mapping[str, Quantity], ranges: Mapping[str, Interval]
) -> Meaning:
    if isinstance(node, Source):
        return _given(node, place, words[node.name], ranges[node.name])
    word = place.words[0] if place.words else None
    if isinstance(node, AngleSum):
        return TurnSum(node.items, word)
    if not isinstance(node, WordSum):
        return _table(node, Pieces(place.words, place.product))
    addends = tuple(
        LinearPart(one.node, one.factor)
        if isinstance(one, Linear)
        else ProductPart(one.a, one.b, one.factor)
        for one in node.addends
    )
    return Total(addends, node.constant, word, place.owners, TURN if node.angle else 0)


def _table(node: Table, pieces: Pieces) -> Meaning:
    if isinstance(node, Waves):
        return WaveTable(node.source, node.parts, pieces)
    if isinstance(node, Powers):
        return PowerTable(node.source, node.coefficients, pieces)
    if not isinstance(node, Curve):
        raise TypeError(f"no table: {node}")
    return CurveTable(
        node.source, node.function, node.unit, node.middle, node.factor, node.low, node.high,
        node.angle, pieces,
    )  # fmt: skip


def _given(node: Source, place: Place, word: Quantity, allowed: Interval) -> GivenWord:
    """Return an input; an angle counts turns from half a turn above its word's lowest border."""
    low, high = Fraction(allowed.low), Fraction(allowed.high)
    if node.angle:
        start = Fraction(word.range.low)
        turn = Fraction(pi().low, 1 << 79), Fraction(pi().high, 1 << 79)
        half = Fraction(1, 2)
        where = between(_least(low - start, turn) - half, _most(high - start, turn) - half)
    else:
        centre, step = Fraction(word.range.centre), Fraction(word.step)
        where = between((low - centre) / step, (high - centre) / step)
    return GivenWord(
        node.name, place.words[0] if place.words else None, where, 1 << word.bits, node.angle,
        node.part, word.wraps, node.exact,
    )  # fmt: skip


def _least(x: Fraction, by: tuple[Fraction, Fraction]) -> Fraction:
    return min(x / one for one in by)


def _most(x: Fraction, by: tuple[Fraction, Fraction]) -> Fraction:
    return max(x / one for one in by)


# --------------------------------------------------------------------------------------------------
# By how much cones move their words: seen at all values of what they read, as far as that is few.
#
# A cone moves its heap by what its column counts, or not at all. Cones of a heap that read the same
# signals are looked at together; of signals that are too many, those are taken that they are made
# of.
# --------------------------------------------------------------------------------------------------


Booked: TypeAlias = "Mapping[int, tuple[int, int]]"
"""Of words by place: the least and the most that cones add, in steps of the heap."""

MOST_READ = 18  # signals of which all values are looked at


def booked(graph: WordGraph, cones: Sequence[Cone], synthesise: Synthesiser) -> Booked:
    """Return by how much cones move every word that has some."""
    if not cones:
        return {}
    made = ConedLogic(graph, synthesise, cones)
    nodes, first = made.builder.nodes, CONSTANTS + made.builder.inputs
    found = {}
    for word, own in groupby(sorted(cones, key=lambda cone: cone.spot), lambda x: x.spot.word):
        pairs = [
            (1 << cone.spot.column, made.signals[cone.spot], made.replaced[cone.spot])
            for cone in own
        ]
        ends = [_ends(nodes, first, group) for group in _together(nodes, first, pairs)]
        found[word] = sum(low for low, _ in ends), sum(high for _, high in ends)
    return found


Pair: TypeAlias = tuple[int, int, int]  # what a column counts, the literals there and before


def _together(nodes: Sequence[Node], first: int, pairs: Iterable[Pair]) -> list[list[Pair]]:
    """Return cones in groups that read few signals."""
    groups: list[list[Pair]] = []
    for pair in pairs:
        for group in groups:
            if len(_read(nodes, first, [*group, pair])) <= MOST_READ:
                group.append(pair)
                break
        else:
            groups.append([pair])
    return groups


def _read(nodes: Sequence[Node], first: int, pairs: Iterable[Pair]) -> list[int]:
    """Return signals of which literals are functions: as few as they are found to be, or fewest."""
    leaves = {x >> 1 for pair in pairs for x in pair[1:] if x >> 1 >= CONSTANTS}
    while True:
        best = None
        for leaf in leaves:
            if leaf >= first:
                after = (leaves - {leaf}) | set(nodes[leaf - first].operands)
                best = min((len(after), -leaf, after), best or (MOST_READ + 1, 0, leaves))
        if best is None or best[0] > MOST_READ:
            return sorted(leaves)
        leaves = best[2]


def _ends(nodes: Sequence[Node], first: int, pairs: Sequence[Pair]) -> tuple[int, int]:
    """Return the least and the most that cones add together."""
    leaves = _read(nodes, first, pairs)
    index = np.arange(1 << len(leaves))
    known = {leaf: (index >> k & 1).astype(bool) for k, leaf in enumerate(leaves)}
    known |= {k: np.full(len(index), k == TRUE) for k in range(CONSTANTS)}

    def value(literal: int) -> NDArray[np.bool_]:
        waiting = [literal >> 1]
        while waiting:
            signal = waiting[-1]
            if signal in known:
                waiting.pop()
                continue
            lut, operands = nodes[signal - first]
            if missing := [k for k in operands if k not in known]:
                waiting += missing
                continue
            row = np.zeros(len(index), np.int64)
            for place, k in enumerate(operands):
                row |= known[k].astype(np.int64) << (2 - place)
            known[signal] = (lut >> row & 1).astype(bool)
        return known[literal >> 1] ^ bool(literal & 1)

    total = np.zeros(len(index), np.int64)
    for counts, there, before in pairs:
        total += counts * (value(there).astype(np.int64) - value(before))
    return int(total.min()), int(total.max())


# --------------------------------------------------------------------------------------------------
# The bound of a compiled graph, if there is one.
# --------------------------------------------------------------------------------------------------


def proved(
    compact: Compact,
    ends: Ends,
    booked: Booked,
    grade: Grade | None,
    effort: int | None,
    workers: Workers = ALONE,
) -> Bounds | None:
    """Return what no error exceeds; None where a function has no bound near some words, or beyond.

    It is None, with a warning, where python-flint is not installed, which proofs need.

    Every output has the tighter of this bound and the checker's plain one (`proof.bound.checked`).
    Where bounds of a `grade` cannot be had they are of the one before; `effort` is of tight ones,
    and without a grade asks for them. Without both, bounds are tight where that takes little
    counted work (see `proof.bound.usual`). Where words are moved by cones (`booked`) bounds are
    plain.
    """
    if not is_there("python-flint"):
        warnings.warn(
            f"no bounds are proved here: {needed('python-flint')}", DataWarning, stacklevel=2
        )
        return None
    from boolcomp.proof.bound.checked import met_with_checker  # noqa: PLC0415 (as below)

    said = explained(compact, ends, booked)
    if booked:
        grade = "plain"
    if grade is None and effort is None:
        from boolcomp.proof.bound.graded import USUAL, usual_grade  # noqa: PLC0415 (as below)

        grade, effort = usual_grade(said), USUAL
    found = bounds_of(said, grade or "tight", effort or EFFORT, workers)
    try:
        return None if found is None else met_with_checker(said, found)
    except DataError:
        return None


@lru_cache(maxsize=4)  # of what a search proves, the last is asked for again when it is over
def bounds_of(
    said: Explained, grade: Grade, effort: int, workers: Workers = ALONE
) -> Bounds | None:
    """Return what no error of a graph exceeds, as above."""
    from boolcomp.proof.bound.overflow import (  # noqa: PLC0415 (with bounds alone)
        HEAPS,
        USUAL,
        without_overflow,
    )
    from boolcomp.proof.bound.plain import (  # noqa: PLC0415 (balls take their time)
        beyond_ends,
        plain_bounds,
    )

    try:
        if grade == "plain":
            return without_overflow(said, beyond_ends(said, plain_bounds(said)))
        from boolcomp.proof.bound.graded import graded_bounds  # noqa: PLC0415 (compiled loops)

        found = graded_bounds(said, grade, effort, workers)
        heaps = max(USUAL, -(-effort // HEAPS))
        return without_overflow(said, beyond_ends(said, found), heaps)
    except WorkerLostError:  # that says nothing of the graph
        raise
    except DataError:
        return None


# --------------------------------------------------------------------------------------------------
# From a word graph to its final network: tables synthesised, then passes that are each proved.
# --------------------------------------------------------------------------------------------------


MAP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Finished:
    """A network and the steps that led to it."""

    network: Network
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Begin:
    """What approximation begins with: a graph's network, and its worst error where it is known."""

    compact: Compact
    finished: Finished
    worst: Worst | None = None


def table_network(
    graph: WordGraph,
    objective: Objective = "nodes",
    folder: Path | None = None,
    report: Callable[[Step], None] = lambda _: None,
    workers: Workers = ALONE,
    known: Mapping[tuple[int, Columns], Network] | None = None,
) -> Finished:
    """Return the network that a graph says, by rule; its tables are synthesised, each compared.

    Those of too many inputs are made by cofactors. Tables are kept in a folder, if one is given.
    Of tables that are `known` the smaller network counts.
    """
    own = synthesiser(objective, folder, tables_in(graph), workers)

    def made(inputs: int, columns: Columns) -> Network:
        both = [own(inputs, columns), *filter(None, [(known or {}).get((inputs, columns))])]
        return min(both, key=lambda network: measure(network, objective))

    start = word_logic(graph, made)
    first = Step("tables", len(start.nodes), start.depth, "at all inputs")
    report(first)
    return Finished(start, (first,))


def synthesiser(
    objective: Objective,
    folder: Path | None = None,
    known: Iterable[tuple[int, Columns]] = (),
    workers: Workers = ALONE,
) -> Synthesiser:
    """Return what makes networks of tables small; they are kept in a folder, if one is given.

    Tables that are known already are made at once, wherever there are workers.
    """
    recipe = SynthesisRecipe(objective, use_abc=False)
    tables = [truth_table(*one) for one in dict.fromkeys(known) if one[0] <= MOST_INPUTS]
    # The largest first: they take longest, and the small ones fill the gaps.
    tables.sort(key=lambda table: -table.inputs)
    made = synthesise_all(tables, recipe, folder, workers=workers)
    found = {table: one.network for table, one in zip(tables, made, strict=True)}

    def small(table: TruthTable) -> Network:
        return found.get(table) or synthesise(table, recipe, folder).network

    return from_truth_tables(small, MOST_INPUTS)


def sums_of(graph: WordGraph, objective: Objective | None = None) -> tuple[Addition, ...]:
    """Return how the sums of a first network are added up, in the order of the graph's words.

    It is that of `table_network` or, without an objective, of `plain_network`.
    """
    said: list[Addition] = []
    word_logic(graph, synthesiser(objective, None) if objective else mux_network, said)
    return tuple(said)


def plain_network(graph: WordGraph) -> Finished:
    """Return the network that a graph says, by rule; its tables are decision diagrams."""
    made = word_logic(graph)
    return Finished(made, (Step("tables", len(made.nodes), made.depth, "by decision diagrams"),))


def smaller(
    start: Finished,
    objective: Objective = "nodes",
    rounds: int = 8,
    report: Callable[[Step], None] = lambda _: None,
    *,
    quick: bool = False,
) -> Finished:
    """Return the best network found; every step is proved equivalent to the one before.

    `quick` does one round of what takes least.
    """
    done = optimise(
        start.network, None, objective, rounds=1 if quick else rounds, quick=quick,
        report=report,
    )  # fmt: skip
    return Finished(done.network, (*start.steps, *done.steps))


def lut6(network: Network, *, quick: bool = False) -> int:
    """Return how many 6-input tables a network takes: those ABC finds, proved, or our own cones.

    A `quick` count may be a few percent larger.
    """
    return len(mapped(network, 6, deadline=MAP_SECONDS, quick=quick).luts.nodes)


def lut6_of(network: Network, workers: Workers, *, quick: bool = False) -> Callable[[], int]:
    """Let a worker count them, and return what waits for that; one with other tools is no help."""
    counting = workers.begin(_lut6, network, abc.find() is not None, quick)

    def counted() -> int:
        found = counting.result()
        return lut6(network, quick=quick) if found is None else found

    return counted


def _lut6(network: Network, with_abc: bool, quick: bool) -> int | None:  # noqa: FBT001
    return lut6(network, quick=quick) if (abc.find() is not None) == with_abc else None
