"""Does any state err more than its bound? Random states and climbing, of everything that ships.

    python benchmarks/violations.py [NAME...] [--states N] [--climb N] [--log FILE] [--markdown]

A name is the beginning of a file's (`puma560-8`). Bounds are tight where they can be. `--states`
are random ones of every program (ten times as many of the 2R with the paper's demand at 8 bits),
`--climb` evaluations of the search that `compile` uses, from 16,384 starts in a chunk; both in
chunks with seeds of their own, in constant memory. The largest and the least errors of a chunk are
appended to the log as a line of JSON. Run again, chunks that are there are not run again, and the
bounds of today are held against them.

Programs run as they are delivered, floats in and out, on native code. What is exact is Newton and
Euler's recurrence of the robot's file in doubles, compiled, which no part of the proof has seen; it
is held beside the same in long doubles first, and may differ by MARGIN of an LSB at most, which an
error may be above a bound. Printed are the largest errors in LSB, their share of the bound, in how
many chunks there are errors above it, and seconds of processor time. The exit code is 1 where there
are any.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from fastclimb import FastClimbers
from fastdynamics import Exact, exact_dynamics
from proof import shipped
from worst import results_in

from boolcomp.common.loops import njit
from boolcomp.common.text import table
from boolcomp.compact.assembly import program_of_graph
from boolcomp.compact.result.proved import proved
from boolcomp.problem.makers import inverse_dynamics_problem
from boolcomp.problem.robot import load_robot
from boolcomp.proof.bound.result import EFFORT, grade_of
from boolcomp.proof.worst import Subject, axes_of, find_worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.program.program import Program
    from boolcomp.proof.bound.result import Bounds

    Floats = NDArray[np.float64]

MARGIN = 1e-9  # LSB: what doubles may be wrong by
BLOCK = 1 << 15  # states whose columns stay in a cache
COMPARED = 2000  # states at which long doubles are asked
CHUNK, CLIMB = 20_000_000, 25_000_000  # states, evaluations of one line of the log
MOST = "machado-2r-8.95d6efe9e10c1b60"  # the 2R of the paper: ten times as many states
HEADER = (
    "program", "bound", "states", "largest", "share", "evaluations", "worst found", "share",
    "above", "s",
)  # fmt: skip


class Task(NamedTuple):
    """A program, its bounds, and what measures its errors at states (samples, inputs)."""

    name: str
    key: str  # of the program: what another one errs by is not its
    program: Program
    bounds: Bounds
    subject: Subject
    exact: Exact


def tasks(folder: Path, names: Sequence[str], grade: str) -> Iterator[Task]:
    """Yield what ships, its bounds, and what measures its errors."""
    references: dict[str, Exact] = {}
    for path, _ in results_in(folder, names):
        for case in shipped(folder, [path.name]):
            compact, name = case.compact, path.name.removesuffix(".compact.json")
            problem = compact.problem
            bounds = proved(compact, case.ends, {}, grade_of(grade), EFFORT)
            if bounds is None:
                print(f"{name}: no bound", file=sys.stderr)
                continue
            made = program_of_graph(problem, compact.demand, compact.graph, case.network, case.ends)
            if problem.name not in references:
                references[problem.name] = exact_of(problem.name, made)
            fast = replace(problem, reference=references[problem.name])
            words = {word.name: word.code for word in made.inputs}
            codes = tuple(output.code for output in made.outputs)
            yield Task(
                name, digest(f"{compact.graph}{case.ends}{problem.key}"), made, bounds,
                Subject(fast, axes_of(problem, words), codes, logic_of(made)),
                references[problem.name],
            )  # fmt: skip


def digest(text: str) -> str:
    """Return a short name that only equal texts share."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def logic_of(program: Program) -> Callable[..., Floats]:
    """Return what runs a program on arrays."""
    return lambda *arrays: program.evaluate(*arrays, engine="llvm").values


def exact_of(name: str, program: Program) -> Exact:
    """Return the compiled recurrence of a robot that ships, held beside long doubles."""
    found = exact_dynamics(load_robot(name))
    low, high = inverse_dynamics_problem(load_robot(name)).bounds()
    states = np.random.default_rng(0).uniform(low, high, (COMPARED, len(low)))
    away = found.distance(states, np.array([output.code.step for output in program.outputs]))
    print(f"{name}: doubles are within {away:.1e} LSB of long doubles", file=sys.stderr)
    if not away < MARGIN / 10:
        raise SystemExit(f"{name}: doubles are not exact enough")
    return found


def random_chunk(task: Task, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what so many random states err by."""
    rng = np.random.Generator(np.random.SFC64(list(seed)))
    problem, exact = task.subject.problem, task.exact
    low, high = problem.bounds()
    places = np.cumsum([0, *(group.size for group in problem.groups)])
    ends = span(task)
    most = np.repeat([[-np.inf], [np.inf]], len(ends), axis=1)
    done = 0
    while done < count:
        rows = min(BLOCK, count - done)
        columns, arrays = np.empty((len(low), rows)), []
        for first, last in itertools.pairwise(places):
            array = rng.random((rows, last - first))
            array *= high[first:last] - low[first:last]
            array += low[first:last]
            columns[first:last] = array.T
            arrays.append(array)
        found = task.subject.logic(*arrays)
        judged(found, exact.columns(columns), ends, most)
        done += rows
    return {"most": most.tolist(), "count": done}


@njit(cache=False)
def judged(found: Floats, exact: Floats, ends: Floats, most: Floats) -> None:
    """Note the largest and the least error, in steps."""
    for i in range(found.shape[0]):
        for k in range(found.shape[1]):
            inside = min(max(exact[k, i], ends[k, 0]), ends[k, 1])
            error = (found[i, k] - inside) / ends[k, 2]
            most[0, k], most[1, k] = max(most[0, k], error), min(most[1, k], error)


def span(task: Task) -> Floats:
    """Return the least and largest value of outputs' words, and their step: (outputs, 3)."""
    return np.array([[code.low, code.high, code.step] for code in task.subject.codes])


def limits_of(task: Task) -> Floats:
    """Return the least and the largest error that bounds and margin allow, in steps."""
    outputs = task.bounds.outputs
    least = [float(one.low) - MARGIN for one in outputs]
    return np.array([least, [float(one.high) + MARGIN for one in outputs]])


def climb_chunk(task: Task, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what climbing finds with so many evaluations."""
    whole = int(np.random.SeedSequence(list(seed)).generate_state(1)[0])
    found = find_worst(task.subject, count, seed=whole, kind=FastClimbers)
    return {"most": found.errors.T.tolist(), "count": found.evaluations}


def asked(task: Task, options: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, place and size of every chunk of a program."""
    states = options.states * (10 if task.name == MOST else 1)
    for kind, total, size in (("random", states, CHUNK), ("climb", options.climb, CLIMB)):
        for place in range(-(-total // size)):
            yield kind, place, min(size, total - place * size)


def work(task: Task, options: argparse.Namespace, log: dict[str, dict[str, Any]]) -> None:
    """Run those chunks that are not in the log, and add them to it."""
    for kind, place, size in asked(task, options):
        key = f"{task.name} {task.key} {kind} {options.seed} {place} {size}"
        if key in log:
            continue
        start = time.process_time()
        seed = (options.seed, place, int(task.key, 16) & 0xFFFFFFFF)
        run = random_chunk if kind == "random" else climb_chunk
        log[key] = {
            "key": key, **run(task, size, seed), "seconds": time.process_time() - start
        }  # fmt: skip
        with options.log.open("a") as sink:
            sink.write(json.dumps(log[key]) + "\n")


def row(task: Task, log: dict[str, dict[str, Any]], seed: int) -> tuple[list[str], bool]:
    """Return the line of a program, and whether anything is above its bound."""
    bound = np.array(task.bounds.steps)
    cells = [task.name.rpartition(".")[0], listed(bound)]
    seconds, above = 0.0, 0
    least, most = limits_of(task)
    for kind in ("random", "climb"):
        found = [one for key, one in log.items() if f"{task.name} {task.key} {kind} {seed} " in key]
        count = sum(one["count"] for one in found)
        if not count:
            cells += ["-", "-", "-"]
            continue
        errors = np.array([one["most"] for one in found])
        largest = np.abs(errors).max(axis=(0, 1))
        cells += [f"{count:.4g}", listed(largest), listed(largest / bound)]
        seconds += sum(one["seconds"] for one in found)
        above += int(((errors[:, 0] > most) | (errors[:, 1] < least)).any(axis=1).sum())
    return [*cells, str(above), f"{seconds:.0f}"], above > 0


def listed(values: Sequence[float] | Floats) -> str:
    """Return figures of all outputs."""
    return " ".join(f"{value:.3f}" for value in values)


def main() -> int:
    """Run what is asked for and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path("tables"))
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--climb", type=int, default=1_000_000)
    parser.add_argument("--proof", default="tight")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path, default=Path("out/violations.jsonl"))
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.log.parent.mkdir(parents=True, exist_ok=True)
    log: dict[str, dict[str, Any]] = {}
    if options.log.exists():
        lines = options.log.read_text().splitlines()
        log = {one["key"]: one for one in map(json.loads, lines)}
    rows, wrong = [], False
    for task in tasks(options.folder, options.names, options.proof):
        work(task, options, log)
        cells, beyond = row(task, log, options.seed)
        print(f"{', '.join(cells)}{'  ABOVE' * beyond}", file=sys.stderr, flush=True)
        rows.append(cells)
        wrong |= beyond
    if options.markdown:
        lines = [HEADER, ["---"] * len(HEADER), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(HEADER, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
