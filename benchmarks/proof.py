"""Bounds beside the worst found: of everything that ships, and of random arms with stops.

    python benchmarks/proof.py [NAME...] [--folder FOLDER] [--markdown] [--states N] [--climb N]
    python benchmarks/proof.py --random 50
    python benchmarks/proof.py --functions [NAME...]
    python benchmarks/proof.py --usual [NAME...]

A name is the beginning of a file's (`puma560-8`). Errors are in LSB of the torque, a figure for
every joint: the worst that climbing found (as the file says), then the bound of each grade, over
the worst found, and seconds of processor time. `--effort` is that of tight bounds, `--processes`
how many prove them. `--states` and `--climb` look at more random states and evaluations of the
climbing search. `--functions` compiles functions without terms with no effort, at the bits that are
said (kept in a `--store`), and prints bounds of the grades plain and tight; a bound of at most four
inputs is asked to be at most twice the worst error that is known: what climbing found, or what some
state within a tie of the encoder errs by, if that is more. `--random` compiles arms of one to four
joints with stops at 6 bits, with no effort. `--usual` has the bounds that `compile` shows where no
grade is asked for. The exit code is 1 where anything is above a bound, a grade is looser than the
one before, or a bound is above what is asked of it.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from worst import demand_of, results_in
from worst import problem_of as problem_named

from boolcomp.base.errors import BoolcompError, table
from boolcomp.base.store import Folder
from boolcomp.base.workers import Workers
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.errors import decoder_shifts
from boolcomp.compact.network import WordEnds, program_of_graph, word_logic
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.compact.result import proved, result_store, sketched
from boolcomp.pipeline import COMPACT, problems_of, run
from boolcomp.problem.function_files import parse_function
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of
from boolcomp.proof.bound.bounds import EFFORT, GRADES, NotPlainError
from boolcomp.proof.bound.cells import cell_bounds, cells_of
from boolcomp.proof.bound.graded import graded_bounds, without_overflow
from boolcomp.proof.worst import find_worst, subject_of
from boolcomp.terms.extract import resting, split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.result import Compact
    from boolcomp.logic.network import Network
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.bound.bounds import Bounds, Grade
    from boolcomp.proof.bound.sketched import SketchedGraph

    Floats = NDArray[np.float64]

ALLOWED = {"plain": 3.5, "tight of two joints": 1.3, "tight": 1.5}  # of random arms
ASKED = {  # tight bounds over the worst found, of what ships
    "machado-2r": 1.01, "machado-2r, 12": 1.02, "elbow-3r, 8": 1.1, "planar-3r": 1.25,
    "puma560, 8": 1.5,
}  # fmt: skip
FEW = 2  # joints
EXACT = range(6, 11)  # bits of the 2R for which 1.01 is asked
CLIMB = 2_000_000  # evaluations for a random arm
BLOCK = 1 << 16
HEADER = (
    "program", "worst found", "plain", "ratio", "s", "tables", "ratio", "s", "tight", "ratio", "s",
    "unproved heaps",
)  # fmt: skip
WITHOUT_TERMS = (
    "function", "inputs", "bits", "nodes", "cells", "worst found", "known", "plain", "ratio", "s",
    "tight", "ratio", "s",
)  # fmt: skip
WRITTEN = {  # inputs, each with a range and bits, and outputs
    "resolver": ("s -1 1 8, c -1 1 8", "angle = atan2(s, c)"),
    "hypot": ("x -1 1 10, y -1 1 10", "r = sqrt(x*x + y*y)"),
    "root": ("x 0 1 8", "r = sqrt(x)"),
    "polar": ("x 0.1 1 8, y -1 1 8", "r = sqrt(x*x + y*y), angle = atan2(y, x)"),
    "norm": ("x -1 1 8, y -1 1 8, z -1 1 8", "r = sqrt(x*x + y*y + z*z)"),
    "jumps": ("x -1 1 8, y -1 1 8", "z = y*sign(x - 0.3*y) + where_positive(x + y, 1, 0)"),
    "quotient": ("x -1 1 8, y -1 1 8, z -1 1 8", "u = x*y / (1.5 + z)"),
    "elbow": ("x -1 1 9, y -1 1 9", "q = acos(clip((x*x + y*y - 1) / 1, -1, 1))"),
    "four": ("x -1 1 8, y -1 1 8, z -1 1 8, v -1 1 8", "r = sqrt(x*x + y*y + z*z + v*v)"),
}
FILES = ("pid", "scara", "thermistor", "gelu")
OF_ARMS = ("inverse-kinematics", "forward-dynamics", "control")
TWICE, FEW_INPUTS = 2.0, 4


USUAL = ("program", "worst found", "bound", "ratio", "grade", "s", "unproved heaps")


class Case(NamedTuple):
    """A graph with its network, what is done at its ends, and the worst known of it."""

    name: str
    compact: Compact
    network: Network
    ends: WordEnds
    worst: Floats  # (outputs, 2): the largest error and the least


def shipped(folder: Path, names: Sequence[str]) -> Iterator[Case]:
    """Yield what lies in a folder."""
    for path, document in results_in(folder, names):
        demand = demand_of(document["demand"])
        terms = split(problem_named(document["robot"]))
        ours = Folder(folder, trusted=True)
        kept = result_store(terms, demand, ours, also_shipped=False).find()
        if kept is None or kept.worst is None:
            print(f"{path.name}: not what it says", file=sys.stderr)
            continue
        shifts = decoder_shifts(kept.errors, kept.worst, demand.max)
        ends = WordEnds(tuple(map(float, shifts)), resting(terms))
        name = f"{document['robot']}, {demand.bits} bits, {len(kept.network.nodes)} nodes"
        yield Case(name, kept.compact, kept.network, ends, kept.worst.moved(shifts).errors)


def drawn(count: int) -> Iterator[Case]:
    """Yield random arms with stops, compiled with no effort, and climbed to."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from limited import random_limited  # noqa: PLC0415 (tests make random arms)

    for seed in range(count):
        robot = random_limited(1 + seed % 4, seed)
        with tempfile.TemporaryDirectory() as folder:  # what is stored has no graph of its own
            demand = usual_demand(6, effort=0.0)
            choices = CompactChoices(demand, Path(folder), also_shipped=False)
            try:
                _, compact = run(COMPACT, problems_of(robot), [choices], "graph")[0]
            except BoolcompError as error:  # an arm that cannot be compiled is no case
                print(f"random {seed}: {error}", file=sys.stderr)
                continue
        network, ends = word_logic(compact.graph), WordEnds()
        program = program_of_graph(compact.problem, compact.demand, compact.graph, network, ends)
        found = find_worst(subject_of(program, compact.problem, engine="numpy"), CLIMB)
        yield Case(f"random {seed}, {robot.joints} joints", compact, network, ends, found.errors)


def listed(values: Sequence[float] | Floats) -> str:
    """Return figures of all joints."""
    return " ".join(f"{value:.3f}" for value in values)


def asked_of(case: Case) -> float:
    """Return what a tight bound over the worst found may be."""
    if case.name.startswith("random"):
        few = len(case.compact.problem.outputs) <= FEW
        return ALLOWED["tight of two joints" if few else "tight"]
    bits = case.compact.demand.bits
    if case.name.startswith("machado-2r") and bits not in {*EXACT, 12}:
        return float("inf")
    longest = [name for name in ASKED if case.name.startswith(name)]
    return ASKED[max(longest, key=len)] if longest else float("inf")


def seconds() -> float:
    """Return the processor time of this process and of those that it started."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def row(case: Case, options: argparse.Namespace) -> tuple[list[str], bool]:
    """Return a line of the table, and whether anything is above its bound, or that too large."""
    said = sketched(case.compact, case.ends)
    bounds: dict[Grade, Bounds] = {}
    spent: dict[Grade, float] = {}
    for grade in GRADES:
        start = seconds()
        bounds[grade] = graded_bounds(said, grade, options.effort, Workers.of(options.processes))
        if grade == "plain":
            bounds[grade] = without_overflow(said, bounds[grade])
        spent[grade] = seconds() - start
    worst = case.worst
    for found in looked_at(case, options.states, options.climb):
        worst = np.stack(
            [np.maximum(worst[:, 0], found[:, 0]), np.minimum(worst[:, 1], found[:, 1])], axis=1
        )
    largest = np.abs(worst).max(axis=1)
    cells, before, wrong = [case.name, listed(largest)], bounds["plain"], False
    for grade, one in bounds.items():
        for a, b, (up, down) in zip(one.outputs, before.outputs, worst, strict=True):
            wrong |= bool(up > float(a.high) or down < float(a.low))
            wrong |= a.high > b.high or a.low < b.low
        ratios, before = np.array(one.steps) / largest, one
        most = asked_of(case) if grade == "tight" else ALLOWED.get(grade, np.inf)
        if case.name.startswith("random") or grade == "tight":
            wrong |= bool((ratios > most).any())
        cells += [listed(one.steps), listed(ratios), f"{spent[grade]:.2f}"]
    return [*cells, " ".join(f"w{k}" for k in bounds["plain"].unproved) or "-"], wrong


def usual_row(case: Case) -> tuple[list[str], bool]:
    """Return a line of what `compile` shows, and whether anything is above its bound."""
    start = seconds()
    found = proved(case.compact, case.ends, None, None)
    spent, largest = seconds() - start, np.abs(case.worst).max(axis=1)
    if found is None:
        return [case.name, listed(largest), "-", "-", "-", f"{spent:.2f}", "-"], False
    ratios = np.array(found.steps) / largest
    grades = " ".join(sorted({one.grade for one in found.outputs}))
    cells = [case.name, listed(largest), listed(found.steps), listed(ratios), grades]
    heaps = " ".join(f"w{k}" for k in found.unproved) or "-"
    return [*cells, f"{spent:.2f}", heaps], bool((ratios < 1).any())


def looked_at(case: Case, states: int, climb: int) -> Iterator[Floats]:
    """Yield the largest and least errors of more states, and of a longer search."""
    compact = case.compact
    problem, demand = compact.problem, compact.demand
    if climb:
        program = program_of_graph(problem, demand, compact.graph, case.network, case.ends)
        yield find_worst(subject_of(program, problem), climb, seed=1).errors
    if states:
        program = program_of_graph(problem, demand, compact.graph, case.network, case.ends)
        subject = subject_of(program, problem)
        for k in range(-(-states // BLOCK)):
            errors = subject.errors(np.concatenate(problem.draw(BLOCK, k), axis=1))
            yield np.stack([errors.max(axis=0), errors.min(axis=0)], axis=1)


def functions() -> Iterator[tuple[str, Problem]]:
    """Yield functions without terms: of expressions, the examples, and of the paper's arm."""
    for name, (inputs, outputs) in WRITTEN.items():
        lines = [f'name = "{name}"']
        for one in inputs.split(", "):
            word, low, high, bits = one.split()
            lines += [f"[inputs.{word}]", f"range = [{low}, {high}]", f"bits = {bits}"]
        for one in re.split(r", (?=\w+ = )", outputs):
            word, _, expression = one.partition(" = ")
            lines += [f"[outputs.{word}]", f'expression = "{expression}"']
        yield name, parse_function("\n".join(lines))
    examples = Path(__file__).resolve().parents[1] / "examples" / "functions"
    for name in FILES:
        yield name, problem_of(examples / f"{name}.toml")
    for of in OF_ARMS:
        yield of, robot_problem(load_robot("machado-2r"), of)


def known_beside(said: SketchedGraph, effort: int) -> tuple[int | None, tuple[float, ...]]:
    """Return how many cells there are, and errors that states within ties have."""
    try:
        return cells_of(said), cell_bounds(said, effort).found
    except NotPlainError:
        return None, (0.0,) * len(said.results)


def function_row(
    name: str, problem: Problem, options: argparse.Namespace
) -> tuple[list[str], bool]:
    """Return a line of the table of functions, and whether a bound is wider than is asked."""
    bits = problem.bits or options.bits
    with tempfile.TemporaryDirectory() as folder:
        demand = usual_demand(bits, effort=0.0)
        store, workers = options.store or Path(folder), Workers.of(options.processes)
        choices = CompactChoices(demand, store, also_shipped=False, workers=workers, proof="plain")
        built = build(split(problem), choices)
    said, cells, wrong = sketched(built.compact, built.ends), [], False
    count, found = known_beside(said, options.effort)
    known = np.maximum(built.largest, found)
    for grade in ("plain", "tight"):
        start = seconds()
        bounds = proved(built.compact, built.ends, grade, options.effort)
        spent = seconds() - start
        steps = np.array(bounds.steps if bounds else [np.inf] * len(known))
        wrong |= bool((steps < built.largest * (1 - 1e-9)).any())
        if grade == "tight" and len(problem.inputs) <= FEW_INPUTS:
            wrong |= bool((steps > TWICE * known).any())
        cells += [listed(steps), listed(steps / known), f"{spent:.2f}"]
    few = "-" if count is None else str(count)
    head = [name, str(len(problem.inputs)), str(bits), str(built.nodes), few]
    return [*head, listed(built.largest), listed(known), *cells], wrong


def main() -> int:
    """Print a row for every program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path("tables"))
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--usual", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--effort", type=int, default=EFFORT)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--states", type=int, default=0)
    parser.add_argument("--climb", type=int, default=0)
    parser.add_argument("--functions", action="store_true")
    parser.add_argument("--store", type=Path, help="where compiled functions are kept")
    parser.add_argument("--bits", type=int, default=8)
    options = parser.parse_args()
    if options.functions:
        return table_of(
            WITHOUT_TERMS,
            (
                function_row(name, problem, options)
                for name, problem in functions()
                if not options.names or name in options.names
            ),
            markdown=options.markdown,
        )
    cases = drawn(options.random) if options.random else shipped(options.folder, options.names)
    if options.usual:
        return table_of(USUAL, map(usual_row, cases), markdown=options.markdown)
    return table_of(HEADER, (row(case, options) for case in cases), markdown=options.markdown)


def table_of(
    header: Sequence[str], found: Iterable[tuple[list[str], bool]], *, markdown: bool
) -> int:
    """Print lines, and each as it is known; return 1 if something is missed."""
    rows, wrong = [], False
    for cells, missed in found:
        print(f"{', '.join(cells)}{'  MISSED' * missed}", file=sys.stderr, flush=True)
        rows.append(cells)
        wrong |= missed
    if markdown:
        lines = [header, ["---"] * len(header), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(header, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
