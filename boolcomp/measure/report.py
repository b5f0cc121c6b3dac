"""Measurements of a report: errors and sizes over word lengths and guard bits."""

from __future__ import annotations

import hashlib
import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base import VERSION
from boolcomp.base.errors import (
    DataError,
    UsageError,
    parse_json,
    require_name,
    shown,
    warn,
)
from boolcomp.base.results import ResultColumn, Results
from boolcomp.base.store import find, keep, sealed, unsealed, user_cache
from boolcomp.base.workers import ALONE, Workers, all_cores
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.network import word_logic
from boolcomp.compact.passes import CompactChoices
from boolcomp.paper.covers import cover_words, make_covers, stored_network
from boolcomp.paper.plan import MOST_GUARD_BITS, PlanOptions, make_plan
from boolcomp.paper.program import error_bound, plan_subject, program_of
from boolcomp.paper.tables import NOTHING, finest_inputs, make_tables, quantised
from boolcomp.pipeline import compile_compact
from boolcomp.program.program import bound_note, over_found
from boolcomp.proof.worst import EVALUATIONS, Worst, find_worst, subject_of, worst_of
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.paper.covers import CoverStore, TermCover
    from boolcomp.paper.plan import Plan
    from boolcomp.paper.tables import CoverWords
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.words import Output
    from boolcomp.program.program import Mode, Program
    from boolcomp.proof.worst import SearchedProgram
    from boolcomp.terms.extract import Terms
    from boolcomp.twolevel.minimisation import Recipe
    from boolcomp.words.graph import WordGraph

    Floats = NDArray[np.float64]

# --------------------------------------------------------------------------------------------------
# The largest errors found of plans, cached per user: their search takes most of a report's time.
#
# Entries are keyed by everything that the search depends on. They include the states of the largest
# errors; a cached result is used only if the plan has these errors at these states.
# --------------------------------------------------------------------------------------------------


FOLDER = "worst"
CLIMBS = 3  # version of the search: raised whenever its results change


def worst_of_plan(
    plan: Plan, evaluations: int, workers: Workers = ALONE, words: CoverWords = NOTHING
) -> Worst:
    """Return the largest errors found of a plan's tables, from the cache or by a search.

    For tables with free rounding, `words` has their entries.
    """
    subject = plan_subject(plan, words)
    content = repr((VERSION, CLIMBS, plan.problem.key, plan.outputs, evaluations))
    for term in plan.terms if words else ():
        content += hashlib.sha256(words[term].tobytes()).hexdigest()
    name = f"{hashlib.sha256(content.encode()).hexdigest()[:32]}.json"
    folder = user_cache(FOLDER)
    for worst in find([folder], name, lambda entry, text: _read(text, str(entry), subject)):
        return worst
    worst = find_worst(subject, evaluations, workers=workers)
    keep(folder / name, sealed(_text(worst)), durable=False)
    return worst


def _text(worst: Worst) -> str:
    found = {
        "errors": worst.errors.tolist(),
        "states": worst.states.tolist(),
        "evaluations": worst.evaluations,
    }
    return json.dumps(found)


def _read(text: str, where: str, subject: SearchedProgram) -> Worst:
    """Return the contents of a cache entry; raise a `DataError` unless the plan has its errors."""
    found = parse_json(unsealed(text), where)
    errors = np.array(found["errors"], dtype=np.float64)
    states = np.array(found["states"], dtype=np.float64)
    outputs, inputs = len(subject.codes), len(subject.axes)
    if errors.shape != (outputs, 2) or states.shape != (outputs, 2, inputs):
        raise DataError("errors of another plan")
    for place in range(outputs):
        there = worst_of(subject, states[place]).errors[place]
        if not np.array_equal(there, errors[place]):
            raise DataError("the plan has other errors")
    none = np.empty((outputs, 0, inputs))
    return Worst(errors, states, int(found["evaluations"]), none)


# --------------------------------------------------------------------------------------------------
# Errors of a plan relative to the problem's reference on seeded random states.
#
# The total error is relative to the reference at the unquantised inputs. The own error is relative
# to the reference at the centres of the finest input words: the part that better tables can reduce.
# --------------------------------------------------------------------------------------------------


MOST_SAMPLES = 20_000_000  # limited by memory
SEARCHED = 1_000_000  # evaluations of the search for a plan's largest error, as in compilation


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """States within a problem's ranges, an array for each group, and their exact outputs."""

    problem: Problem
    arrays: tuple[Floats, ...]
    outputs: Floats

    @property
    def count(self) -> int:
        return len(self.outputs)


@dataclass(frozen=True, slots=True)
class ErrorSummary:
    """Maximum, rms and mean error in the unit of the output; share of errors above one LSB."""

    max: float
    rms: float
    mean: float
    beyond_lsb: float


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One output at one word length; `place` counts outputs from 1.

    Terms have `guard_bits`, `extra` of them above the paper's m (paper mode only). `luts` counts
    nodes of the output's own tables, `program_luts` all nodes. `worst` is the largest error found
    by a search of `evaluations`, in the output's unit. Missing figures are None, with a reason in
    `note`. A bound that is unknown or not useful is infinite, with a reason in `bound_note`;
    `proved` is the bound, useful or not.
    """

    problem: str
    mode: str
    bits: int
    guard_bits: int
    extra: int
    place: int
    output: Output
    lsb: float
    total: ErrorSummary
    own: ErrorSummary
    bound: float
    saturated: int
    table_bits: int | None
    products: int | None = None
    literals: int | None = None
    luts: int | None = None
    program_luts: int | None = None
    depth: int | None = None
    seconds: float | None = None
    native_seconds: float | None = None
    ns_per_sample: float | None = None
    worst: float | None = None
    evaluations: int = 0
    note: str = ""
    bound_note: str = ""
    proved: float = math.inf

    @property
    def over_found(self) -> float | None:
        return over_found(self.proved, self.worst)

    @property
    def rms(self) -> float:
        return self.total.rms

    @property
    def found(self) -> float | None:
        return self.worst

    @property
    def series(self) -> str:
        """The name of the rows that differ only in bits and output: `paper, m + 1`."""
        if self.mode == "compact":
            return "compact"
        return f"paper, m + {self.extra}" if self.extra else "paper, m"


def draw_samples(problem: Problem, count: int, seed: int = 0) -> Samples:
    """Return seeded states, uniform over the inputs' ranges, with exact outputs."""
    if not 1 <= count <= MOST_SAMPLES:
        raise UsageError(f"samples must be 1 to {MOST_SAMPLES}, not {shown(count)}")
    if seed < 0:
        raise UsageError(f"the seed must be 0 or more, not {shown(seed)}")
    arrays = tuple(problem.draw(count, seed))
    return Samples(problem, arrays, problem.reference(*arrays))


def error_rows(
    plan: Plan,
    samples: Samples,
    extra: int = 0,
    evaluations: int = 0,
    seen: Callable[[Floats], None] = lambda _: None,
    *,
    workers: Workers = ALONE,
    words: CoverWords = NOTHING,
) -> tuple[ReportRow, ...]:
    """Return a row for every output, with errors but without products.

    `evaluations` above 0 search the largest error. `seen` is called with the errors of all samples
    in steps. For tables with free rounding, `words` has their entries.
    """
    # Independent computations in parallel; NumPy releases the GIL.
    with ThreadPoolExecutor(2) as pool:
        calculated = pool.submit(quantised, plan, samples.arrays, words)
        at_cells = pool.submit(_at_cells, plan, samples)
        bounds = [error_bound(output) for output in plan.outputs]
        notes = [
            bound_note(bound, output.code.range)
            for bound, output in zip(bounds, plan.outputs, strict=True)
        ]
        found, coded = calculated.result().values, at_cells.result()
    seen((found - samples.outputs) / [output.code.step for output in plan.outputs])
    rows = []
    for k, output in enumerate(plan.outputs):
        lsb = output.code.step
        beyond = np.abs(samples.outputs[:, k]) > output.code.range.high
        distinct = {term.term.waves() + term.term.factor: term for term in output.terms}
        rows.append(
            ReportRow(
                problem=plan.problem.name,
                mode="paper",
                bits=plan.options.bits,
                guard_bits=output.guard_bits,
                extra=extra,
                place=k + 1,
                output=output.output,
                lsb=lsb,
                total=errors(found[:, k] - samples.outputs[:, k], lsb),
                own=errors(found[:, k] - coded[:, k], lsb),
                bound=math.inf if notes[k] else bounds[k],
                proved=bounds[k],
                bound_note=notes[k],
                saturated=int(beyond.sum()),
                table_bits=sum(t.code.bits << t.input_bits for t in distinct.values()),
                note=f"{beyond.sum()} samples saturate, without a bound" if beyond.any() else "",
            )
        )
    if not evaluations:
        return tuple(rows)
    return with_worst(rows, worst_of_plan(plan, evaluations, workers, words))


def _at_cells(plan: Plan, samples: Samples) -> Floats:
    return plan.problem.reference(*finest_inputs(plan, samples.arrays))


def with_worst(rows: Sequence[ReportRow], worst: Worst) -> tuple[ReportRow, ...]:
    """Return the rows of all outputs with the largest errors found.

    They include the errors of samples, except for outputs with saturated samples.
    """
    found = []
    for row, steps in zip(rows, worst.largest, strict=True):
        size = max(float(steps) * row.lsb, 0.0 if row.saturated else row.total.max)
        found.append(replace(row, worst=size, evaluations=worst.evaluations))
    return tuple(found)


def errors(difference: Floats, lsb: float) -> ErrorSummary:
    """Summarise differences."""
    size = np.abs(difference)
    return ErrorSummary(
        float(size.max()),
        float(np.sqrt((difference**2).mean())),
        float(difference.mean()),
        float((size > lsb).mean()),
    )


def guard_text(row: ReportRow) -> str | None:
    """Return the guard bits of paper mode, with extra ones in brackets."""
    more = f" (+{row.extra})" if row.extra else ""
    return None if row.mode == "compact" else f"{row.guard_bits}{more}"


def rounded_up(bound: float) -> float | None:
    return math.ceil(100 * bound - 1e-9) / 100 if math.isfinite(bound) else None


COLUMNS = (  # in the order of JSON; that of text is `HEADER` in `report_page.py`
    ResultColumn("robot", "", "problem"),
    ResultColumn("mode", "mode", left=True,
                 meaning="paper: product terms, as in 1988; compact: logic of words"),
    ResultColumn("bits", "bits", meaning="word length of inputs and outputs"),
    ResultColumn("guard_bits"),
    ResultColumn("guard_bits", "m", guard_text, json=False,
                 meaning="guard bits of terms in paper mode, including extra ones"),
    ResultColumn("extra_guard_bits", "", "extra"),
    ResultColumn("joint", "", "place"),
    ResultColumn("output", "torque", "output.symbol", left=True, json=False,
                 meaning="symbol of the output"),
    ResultColumn("lsb", "LSB", text=".4g",
                 meaning="one step of the output's word, in its unit"),
    ResultColumn("max_error", "", "total.max"),
    ResultColumn("rms_error", "", "total.rms"),
    ResultColumn("mean_error", "", "total.mean"),
    ResultColumn("max_error_lsb", "", lambda row: row.total.max / row.lsb),
    ResultColumn("rms_error_lsb", "rms/LSB", lambda row: row.total.rms / row.lsb, ".3f",
                 meaning="root of the mean square error of random states, in steps"),
    ResultColumn("mean_error_lsb", "mean/LSB", lambda row: row.total.mean / row.lsb, "+.3f",
                 meaning="mean error (bias), in steps", json=False),
    ResultColumn("sampled_max", "sampled max", "total.max", ".4g",
                 meaning="largest error of random states, in the output's unit"),
    ResultColumn("sampled_max_lsb", "sampled max/LSB", lambda row: row.total.max / row.lsb, ".2f",
                 meaning="the same in steps"),
    ResultColumn("worst_found", "", "worst"),
    ResultColumn("worst_found_lsb", "worst found/LSB",
                 lambda row: None if row.worst is None else row.worst / row.lsb, ".2f",
                 meaning="largest error found by search, in steps (not proved)"),
    ResultColumn("evaluations"),
    ResultColumn("share_beyond_lsb", ">1 LSB", "total.beyond_lsb", ".2%",
                 meaning="share of random states with an error above one step"),
    ResultColumn("own_max_error", "", "own.max"),
    ResultColumn("own_rms_error", "", "own.rms"),
    ResultColumn("own_rms_error_lsb", "own rms/LSB", lambda row: row.own.rms / row.lsb, ".3f",
                 meaning="rms error relative to quantised inputs: the part of the logic",
                 json=False),
    ResultColumn("bound", "", lambda row: row.bound if math.isfinite(row.bound) else None),
    ResultColumn("bound_lsb", "",
                 lambda row: row.bound / row.lsb if math.isfinite(row.bound) else None),
    ResultColumn("bound_lsb", "bound/LSB", lambda row: rounded_up(row.bound / row.lsb), ".2f",
                 meaning="proved bound of the error, in steps", json=False),
    ResultColumn("bound_over_found", "", "over_found"),
    ResultColumn("saturated"),
    ResultColumn("table_bits", "table bits",
                 meaning="bits of the output's truth tables, the size of a memory"),
    ResultColumn("products", "products", meaning="product terms of the output's tables"),
    ResultColumn("literals", "literals", meaning="literals in the product terms"),
    ResultColumn("luts"),
    ResultColumn("program_luts", "nodes", meaning="LUT3 nodes of all logic"),
    ResultColumn("depth", "depth",
                 meaning="nodes on the longest path from an input to an output"),
    ResultColumn("seconds", "compile s", text=".2f", meaning="compilation time in s, as stored"),
    ResultColumn("native_seconds", "native s", text=".2f",
                 meaning="time of the first call in s: native code is compiled or read"),
    ResultColumn("ns_per_sample", "ns/sample", text=".1f",
                 meaning="nanoseconds per sample on one core with floats"),
    ResultColumn("note", "note", left=True, meaning="reasons for missing figures"),
    ResultColumn("unit", "", "output.unit"),
    ResultColumn("bound_note", "", lambda row: row.bound_note or None),
)  # fmt: skip


def documents(rows: Sequence[ReportRow]) -> list[dict[str, object]]:
    return Results(COLUMNS, rows).documents


# --------------------------------------------------------------------------------------------------
# Data of a report's pictures: histogram and map of errors, a walk, the words of a graph.
#
# A `Surveyor` reuses the errors of the random states; only the walk needs more evaluations of the
# logic. It chooses the two inputs of the map from the first errors that it receives.
# --------------------------------------------------------------------------------------------------


BINS = 40  # of a histogram
CELLS = 16  # of a map, across and down
PARTS = 16  # parts of an input's range in the choice of the map's inputs
STEPS = 80  # of a walk
TURNS = (1, 2, 3, 5, 7, 11, 13, 17)  # periods of a walk's inputs, all different


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Data of the pictures of one compilation; errors are in LSB, for every output.

    `shares` is the histogram of states between `edges`, `maps` the rms error in every cell of two
    inputs (NaN without states), `walked` the outputs along the walk. `words` are the words of its
    graph, with their nodes before any optimisation pass.
    """

    bits: int
    series: str
    edges: Floats
    shares: Floats
    maps: Floats
    walked: Floats
    words: tuple[WordNodes, ...] = ()
    grades: tuple[str, ...] = ()
    nodes: int | None = None
    lut6: int | None = None


@dataclass(frozen=True, slots=True)
class WordNodes:
    """A word of a graph: its meaning, its bits, and the nodes of its logic."""

    name: str
    kind: str
    bits: int
    tables: int
    products: int
    sums: int

    @property
    def nodes(self) -> int:
        return self.tables + self.products + self.sums


def words_of(graph: WordGraph, names: Sequence[str]) -> tuple[WordNodes, ...]:
    """Return the words of a graph that need nodes, with their nodes before optimisation."""
    counted: list[int] = []
    word_logic(graph, counted=counted)
    found = []
    heaps, graph_tables = graph.heaps, graph.tables
    for place, (node, nodes) in enumerate(zip(graph.nodes, counted, strict=True)):
        if not nodes:  # as for all inputs
            continue
        name = names[place] if place < len(names) else f"w{place}"
        kind, tables, products = "sum of angles", 0, 0
        if place in heaps:
            rows = (row for part in heaps[place].products for row in part.rows(graph.nodes))
            kind, products = "sum", min(nodes, sum(row.bits for row in rows))
        elif place in graph_tables:
            kind, tables = "table", nodes
        sums = nodes - tables - products
        found.append(WordNodes(name, kind, node.bits, tables, products, sums))
    return tuple(found)


class Surveyor:
    """Computes picture data from the states of a report; `across` names the inputs of maps."""

    def __init__(self, samples: Samples, across: str | None = None) -> None:
        self.samples = samples
        problem = samples.problem
        self.columns = problem.columns(samples.arrays)
        self.across: tuple[str, str] | None = None
        if across is not None:
            self.across = _pair(problem, across)
        self.walk = walk(problem)
        self.exact = problem.reference(*self.walk)

    def look(self, bits: int, series: str, errors: Floats, logic: Callable[..., Floats]) -> Look:
        """Return the look for errors in steps, (states, outputs), and for the walk of the logic."""
        across = self.across = self.across or self._most_varying(errors)
        limit = max(1.0, float(np.ceil(2 * np.abs(errors).max()) / 2))
        edges = np.linspace(-limit, limit, BINS + 1)
        counts = np.array([np.histogram(column, edges)[0] for column in errors.T])
        places = self._cells(across)
        states = np.bincount(places, minlength=CELLS * CELLS).astype(np.float64)
        squares = [np.bincount(places, column**2, CELLS * CELLS) for column in errors.T]
        with np.errstate(invalid="ignore"):  # cells without states
            drawn = np.sqrt(np.array(squares) / states).reshape(-1, CELLS, CELLS)
        return Look(bits, series, edges, counts / len(errors), drawn, logic(*self.walk))

    def _cells(self, across: tuple[str, str]) -> NDArray[np.int64]:
        """Return the cell of the map of every state."""
        first, second = (self._parts(name, CELLS) for name in across)
        return first * CELLS + second

    def _parts(self, name: str, parts: int) -> NDArray[np.int64]:
        span = self.samples.problem.input(name).range
        scaled = (self.columns[name] - span.low) / (span.width or 1.0) * parts
        return np.clip(scaled.astype(np.int64), 0, parts - 1)

    def _most_varying(self, errors: Floats) -> tuple[str, str]:
        """Return the two inputs along which the mean square error varies most."""
        squares = (errors**2).sum(axis=1)
        varies = []
        for one in self.samples.problem.inputs:
            places = self._parts(one.name, PARTS)
            counts = np.maximum(1, np.bincount(places, minlength=PARTS))
            means = np.bincount(places, squares, minlength=PARTS) / counts
            varies.append(-round(float(means.std()), 12) if not one.range.single else 0.0)
        order = np.argsort(np.array(varies), kind="stable")[:2]
        names = [self.samples.problem.inputs[k].name for k in sorted(order.tolist())]
        return names[0], names[-1]

    def middles(self, name: str) -> Floats:
        """Return the middles of a map's cells along an input."""
        span = self.samples.problem.input(name).range
        return np.asarray(span.low + (np.arange(CELLS) + 0.5) * span.width / CELLS)


def _pair(problem: Problem, text: str) -> tuple[str, str]:
    names = [name.strip() for name in text.split(",")]
    known = [one.name for one in problem.inputs]
    for name in names:
        require_name("input", name, known)
    if len(names) != 2 or names[0] == names[1]:
        raise UsageError(
            f"--map {shown(text)} does not name two inputs", f"use {','.join(known[:2])}"
        )
    return names[0], names[1]


def walk(problem: Problem) -> tuple[Floats, ...]:
    """Return a walk through the ranges of all inputs: sines of different periods.

    Groups q, qd and qdd are one motion: sines of angles and their derivatives, scaled to the
    ranges.
    """
    phase = np.linspace(0.0, 2 * math.pi, STEPS, endpoint=False)
    groups = {group.name: group for group in problem.groups}
    columns: dict[str, Floats] = {}
    for k, one in enumerate(problem.inputs):
        middle, half = (one.range.low + one.range.high) / 2, one.range.width / 2
        columns[one.name] = middle + half * np.sin(TURNS[k % len(TURNS)] * phase)
    if {"q", "qd", "qdd"} <= set(groups):
        members = [groups[name].members for name in ("q", "qd", "qdd")]
        for k, names in enumerate(zip(*members, strict=True)):
            turns = TURNS[k % len(TURNS)]
            waves = np.sin(turns * phase), np.cos(turns * phase), -np.sin(turns * phase)
            for name, wave in zip(names, waves, strict=True):
                span = problem.input(name).range
                columns[name] = (span.low + span.high) / 2 + span.width / 2 * wave
    return tuple(
        np.stack([columns[name] for name in group.members], axis=1) for group in problem.groups
    )


# --------------------------------------------------------------------------------------------------
# Errors of a program of any mode relative to a problem's reference.
# --------------------------------------------------------------------------------------------------


TIMED = 1 << 16  # samples
ROUNDS = 5


def program_rows(
    program: Program,
    samples: Samples,
    payload: float | None = None,
    compile_seconds: float | None = None,
    evaluations: int = 0,
    seen: Callable[[Floats], None] = lambda _: None,
    *,
    workers: Workers = ALONE,
) -> tuple[ReportRow, ...]:
    """Return a row for every output of a program with a payload (kg).

    The samples are states of the problem with that payload, and their exact outputs. `evaluations`
    above 0 search the largest error. `seen` is called with the errors of all samples in steps.
    """
    problem = samples.problem
    found = program.evaluate(*samples.arrays, payload=payload).torques
    seen((found - samples.outputs) / [out.code.step for out in program.load(payload).outputs])
    coded = problem.reference(*coded_inputs(program, samples))
    nanoseconds, native = timed(program, samples, payload)
    network = program.network(payload)
    rows = []
    for k, output in enumerate(program.load(payload).outputs):
        lsb = output.code.step
        exact, span = samples.outputs[:, k], output.code.range
        beyond = int(((exact < span.low) | (exact > span.high)).sum())
        terms = {term.network for term in output.terms}
        rows.append(
            ReportRow(
                problem=program.name,
                mode=program.mode,
                bits=program.bits,
                guard_bits=output.guard_bits,
                extra=0,
                place=k + 1,
                output=problem.outputs[k],
                lsb=lsb,
                total=errors(found[:, k] - samples.outputs[:, k], lsb),
                own=errors(found[:, k] - coded[:, k], lsb),
                bound=output.useful_bound,
                proved=output.bound,
                bound_note=output.bound_note,
                saturated=beyond,
                table_bits=None,
                luts=sum(len(program.networks[n].nodes) for n in terms) if terms else None,
                program_luts=len(network.nodes),
                depth=network.depth,
                seconds=compile_seconds,
                native_seconds=native,
                ns_per_sample=nanoseconds,
                note=f"{beyond} samples saturate" if beyond else "",
            )
        )
    if not evaluations:
        return tuple(rows)
    subject = subject_of(program, problem, payload)
    return with_worst(rows, find_worst(subject, evaluations, workers=workers))


def coded_inputs(program: Program, samples: Samples) -> tuple[Floats, ...]:
    """Return the states rounded to the centres of the program's input words."""
    arrays = tuple(array.copy() for array in samples.arrays)
    columns = samples.problem.columns(arrays)
    for word in program.inputs:
        column = columns[word.name]
        column[:] = word.code.centre(word.code.cell(column)[0])
    return arrays


def timed(program: Program, samples: Samples, payload: float | None = None) -> tuple[float, float]:
    """Return ns per sample on one core with floats, and the seconds of the first call.

    The first call compiles native code, or reads it from the user's cache. Its words are compared
    with those of the portable engine.
    """
    state = tuple(array[:TIMED] for array in samples.arrays)
    few = tuple(array[:512] for array in state)
    start = time.perf_counter()
    first = program.evaluate(*few, payload=payload).words
    native = time.perf_counter() - start
    if not np.array_equal(first, program.evaluate(*few, payload=payload, engine="numpy").words):
        raise DataError("two engines give different words", where=program.name)
    seconds = math.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        program.evaluate(*state, payload=payload)
        seconds = min(seconds, time.perf_counter() - start)
    return seconds / len(state[0]) * 1e9, native


# --------------------------------------------------------------------------------------------------
# The whole report: errors and sizes over word lengths and guard bits.
# --------------------------------------------------------------------------------------------------


def _usual(bits: int) -> CompactChoices:
    return CompactChoices(usual_demand(bits))


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """The request of a report: word lengths, modes, extra guard bits, minimisation.

    Without a recipe no product terms are made. Tables with more than `widest` inputs are not
    minimised. `compact` returns the choices of compact mode at a word length. `evaluations` search
    the largest error of a plan; that of compact mode is stored with its results.
    """

    bits: tuple[int, ...]
    modes: tuple[Mode, ...] = ("paper",)
    extra: tuple[int, ...] = (0, 1, 2)
    options: PlanOptions = field(default_factory=PlanOptions)
    recipe: Recipe | None = None
    widest: int = 18
    compact: Callable[[int], CompactChoices] = _usual
    workers: Workers = field(default_factory=all_cores)
    evaluations: int = SEARCHED

    @property
    def steps(self) -> int:
        return len(self.bits) * (
            len(self.extra) * ("paper" in self.modes) + ("compact" in self.modes)
        )


def report_rows(
    samples: Samples,
    request: ReportRequest,
    store: CoverStore,
    done: Callable[[str], None] = lambda _: None,
    pictured: Pictured | None = None,
) -> tuple[ReportRow, ...]:
    """Return a row for every word length, number of guard bits and output of a problem.

    `pictured` receives the rows and look of every compilation as soon as it is done.
    """
    with request.workers.opened() as workers:
        return _rows(samples, replace(request, workers=workers), store, done, pictured)


def _rows(
    samples: Samples,
    request: ReportRequest,
    store: CoverStore,
    done: Callable[[str], None],
    pictured: Pictured | None,
) -> tuple[ReportRow, ...]:
    terms = split(samples.problem)
    rows: list[ReportRow] = []
    for bits in request.bits:
        if "compact" in request.modes:
            rows += _compact_rows(bits, samples, request, pictured)
            done(f"{bits} bits, compact")
        if "paper" not in request.modes:
            continue
        try:
            paper = make_plan(terms.required(), replace(request.options, bits=bits))
        except (DataError, UsageError) as error:
            if request.modes == ("paper",):
                raise
            warn(f"{bits} bits, paper mode: {error}")
            continue
        for extra in request.extra:
            plan = _widened(terms, paper, extra)
            rows += _paper_rows(plan, extra, samples, request, store, pictured)
            done(f"{bits} bits, m + {extra}")
    return tuple(rows)


def _paper_rows(
    plan: Plan,
    extra: int,
    samples: Samples,
    request: ReportRequest,
    store: CoverStore,
    pictured: Pictured | None,
) -> tuple[ReportRow, ...]:
    """Measure a plan, with its logic if requested."""
    looks: list[Look] = []
    covers = _covers(plan, request, store)
    if covers is None and plan.options.rounding == "faithful":
        why = _too_wide(plan, request.widest).values() if request.recipe else ["--no-logic"]
        warn(
            f"{plan.options.bits} bits, m + {extra}: faithful tables are defined by their covers, "
            f"and there are none: {'; '.join(why)}"
        )
        return ()
    words = cover_words(covers or ())

    def seen(errors: Floats) -> None:
        if pictured is not None and not extra:

            def logic(*arrays: Floats) -> Floats:
                return quantised(plan, arrays, words).values

            looks.append(pictured.surveyor.look(plan.options.bits, "paper, m", errors, logic))

    found = error_rows(
        plan, samples, extra, request.evaluations, seen, workers=request.workers, words=words
    )
    rows = tuple(found) if covers is None else _with_logic(plan, found, covers, samples)
    if covers is None and request.recipe is not None:
        wide = _too_wide(plan, request.widest)
        rows = tuple(
            replace(row, note="; ".join(filter(None, [row.note, wide.get(row.output.title)])))
            for row in rows
        )
    if pictured is not None:
        pictured.add(rows, *looks)
    return rows


def _compact_rows(
    bits: int, samples: Samples, request: ReportRequest, pictured: Pictured | None
) -> tuple[ReportRow, ...]:
    """Compile a problem in compact mode, or read it from the store, and measure it."""
    choices = replace(request.compact(bits), workers=request.workers)
    try:
        compiled = compile_compact(samples.problem, choices)
    except UsageError as error:  # the rows of paper mode are still reported
        warn(f"{bits} bits, compact mode: {error}")
        return ()
    (built,) = compiled.built
    looks: list[Look] = []

    def seen(errors: Floats) -> None:
        if pictured is not None:
            look = look_of(compiled.program, pictured.surveyor, errors)
            looks.append(replace(look, lut6=built.lut6))

    found = program_rows(compiled.program, samples, compile_seconds=built.seconds, seen=seen)
    rows = with_worst(found, built.worst)
    if pictured is not None:
        pictured.add(rows, *looks)
    return rows


def look_of(
    program: Program, surveyor: Surveyor, errors: Floats, payload: float | None = None
) -> Look:
    """Return the look of a program, with the words of its graph if it has one."""

    def logic(*arrays: Floats) -> Floats:
        return program.evaluate(*arrays, payload=payload).values

    load = program.load(payload)
    series = "compact" if program.mode == "compact" else "paper, m"
    return replace(
        surveyor.look(program.bits, series, errors, logic),
        words=words_of(load.graph, load.meanings) if load.graph is not None else (),
        grades=tuple(output.grade for output in load.outputs),
        nodes=len(program.network(payload).nodes),
    )


def measure_program(
    program: Program,
    pictured: Pictured,
    payload: float,
    evaluations: int | None = None,
    workers: Workers = ALONE,
) -> None:
    """Add the rows and the look of a program with a payload (kg); None is the usual search."""
    looks: list[Look] = []

    def seen(errors: Floats) -> None:
        looks.append(look_of(program, pictured.surveyor, errors, payload))

    count = EVALUATIONS if evaluations is None else evaluations
    rows = program_rows(
        program, pictured.surveyor.samples, payload, evaluations=count, seen=seen, workers=workers
    )
    pictured.add(rows, *looks)


def _widened(terms: Terms, paper: Plan, extra: int) -> Plan:
    """Return the plan with `extra` guard bits above the paper's rule."""
    if not extra:
        return paper
    # Outputs have different m; the splitting of the paper's m is kept.
    outputs = []
    for k, output in enumerate(paper.outputs):
        guard = output.guard_bits + extra
        if guard > MOST_GUARD_BITS:
            raise UsageError(
                f"{guard} guard bits are too many", f"at most {MOST_GUARD_BITS} are allowed"
            )
        options = replace(paper.options, guard_bits=guard, splits=output.splits)
        outputs.append(make_plan(terms, options).outputs[k])
    return replace(paper, outputs=tuple(outputs))


def _too_wide(plan: Plan, maximum: int) -> dict[str, str]:
    """Return notes on outputs with too wide terms, by title."""
    notes = {}
    for output in plan.outputs:
        widest = max(output.terms, key=lambda term: term.input_bits, default=None)
        if widest is not None and widest.input_bits > maximum:
            notes[widest.term.output] = (
                f"not minimised: {widest.term.name} has {widest.input_bits} input bits, "
                f"more than {maximum}"
            )
    return notes


def _covers(plan: Plan, request: ReportRequest, store: CoverStore) -> tuple[TermCover, ...] | None:
    """Return covers of a plan's tables, if requested and not too wide."""
    if request.recipe is None or _too_wide(plan, request.widest):
        return None
    return make_covers(make_tables(plan), request.recipe, store, workers=request.workers)


def _with_logic(
    plan: Plan, rows: Sequence[ReportRow], covers: Sequence[TermCover], samples: Samples
) -> tuple[ReportRow, ...]:
    """Add products, literals, nodes, compilation and evaluation times to rows."""
    tables = [one.entry for one in covers]
    program = program_of(plan, tables, [c.cover for c in covers], logic=stored_network)
    words = cover_words(covers)
    _check_words(program, plan, samples, words)
    nanoseconds, native = timed(program, samples)
    whole = program.network()
    result = []
    for row, output in zip(rows, program.outputs, strict=True):
        used = {term.network for term in output.terms}
        own = {c.entry.table: c for c in covers if c.entry.plan.term.output == row.output.title}
        notes = {c.cover.note for c in own.values() if c.cover.note}
        result.append(
            replace(
                row,
                bound=output.useful_bound if words else row.bound,
                proved=output.bound if words else row.proved,
                bound_note=output.bound_note if words else row.bound_note,
                products=sum(c.cover.products for c in own.values()),
                literals=sum(c.cover.literals for c in own.values()),
                luts=sum(len(program.networks[k].nodes) for k in used),
                program_luts=len(whole.nodes),
                depth=whole.depth,
                native_seconds=native,
                seconds=sum(c.cover.seconds for c in own.values()),
                ns_per_sample=nanoseconds,
                note="; ".join(filter(None, [row.note, *sorted(notes)])),
            )
        )
    return tuple(result)


def _check_words(program: Program, plan: Plan, samples: Samples, words: CoverWords) -> None:
    """Raise a `DataError` unless the logic computes the words of its tables."""
    state = tuple(array[:TIMED] for array in samples.arrays)
    if not np.array_equal(program.evaluate(*state).words, quantised(plan, state, words).words):
        raise DataError("the logic differs from its tables", where=plan.problem.name)


@dataclass(slots=True)
class Pictured:
    """Rows and looks in order of arrival; `updated` is called after every addition."""

    surveyor: Surveyor
    updated: Callable[[], None] = lambda: None
    rows: list[ReportRow] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)

    def add(self, rows: Sequence[ReportRow], *looks: Look) -> None:
        """Add the rows and looks of one compilation or plan."""
        self.rows += rows
        self.looks += looks
        if rows:
            self.updated()
