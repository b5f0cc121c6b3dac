"""Does any state err more than its bound? Random states and climbing, of what ships and at random.

    python benchmarks/soundness.py [--only NAME...] [--states N] [--climb N] [--processes N]
                                   [--random N] [--proof GRADE] [--log FILE] [--markdown]

Programs are all of tables/ as `compile` gives them, those of certified/, and with `--random` so
many random problems, compiled with no effort: functions without terms, arms of random parameters
and stops and their other functions, jumps, clips, odd formats of words, paper mode. `--only` takes
those whose names begin so (`puma560-8`, `certified`, `random jump`). Bounds are those that are
printed; `--proof tight` asks for tighter ones.

`--states` are random ones of every shipped program, `--climb` evaluations of the search that
`compile` uses; of random problems a hundredth and a tenth as many. Both go in chunks with seeds of
their own, in constant memory. The largest errors of a chunk are appended to the log as a line of
JSON. Run again, chunks that are there are not run again, and the bounds of today are held against
them. `--list` only names programs.

Programs run as they are delivered, floats in and out. What is exact is, of arms, Newton and Euler's
recurrence of the robot's file in doubles, compiled, which no part of the proof has seen, held
beside the same in long doubles first; of other problems their reference in doubles. An error may be
above a bound by MARGIN of an LSB and what `rounding` says of doubles. Printed are the largest
errors in LSB, their share of the bound, in how many chunks there are errors above it, and seconds
of processor time. The exit code is 1 where there are any, or where a program cannot be made.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from fastclimb import FastClimbers
from fastdynamics import exact_dynamics
from randomproblems import KINDS, RefusedError, random_program
from worst import demand_of, results_in

from boolcomp.base.errors import table
from boolcomp.compact.passes import CompactChoices
from boolcomp.logic.network import render_network
from boolcomp.pipeline import compile_compact
from boolcomp.problem.functions import USUAL, function_of, robot_problem
from boolcomp.problem.robot.library import load_robot, robot_names
from boolcomp.problem.robot.model import with_payload
from boolcomp.program.files import load_program
from boolcomp.proof.bound.bounds import grade_of
from boolcomp.proof.worst import SearchedProgram, find_worst, subject_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]

MARGIN = 1e-9  # LSB: what doubles may be wrong by
BLOCK = 1 << 15  # states whose columns stay in a cache
COMPARED = 2000  # states at which long doubles are asked
CHUNK, CLIMB = 20_000_000, 25_000_000  # states, evaluations of one line of the log
FEWER_STATES, FEWER_CLIMBS = 100, 10  # times, of random problems
CERTIFIED = "certified/"
HEADER = (
    "program", "bound", "states", "largest", "share", "evaluations", "worst found", "share",
    "above", "s",
)  # fmt: skip


class Case(NamedTuple):
    """A program of one load, its bounds in LSB, and what measures its errors.

    `key` is of the program: what another one errs by is not its.
    """

    name: str
    key: str
    bounds: Floats
    room: Floats
    subject: SearchedProgram


def case_names(options: argparse.Namespace) -> Iterator[str]:
    """Yield the names of all programs that are asked for."""
    robots = tuple(robot_names())
    every = [path.name for path, _ in results_in(options.folder) if path.name.startswith(robots)]
    every += [
        f"{CERTIFIED}{path.parent.name}"
        for path in sorted(options.certified.glob("*/program.json"))
    ]
    kinds = list(KINDS)
    every += [f"random {kinds[k % len(kinds)]} {k}" for k in range(options.random)]
    chosen = tuple(options.only or ("",))
    return (name for name in every if name.startswith(chosen))


@lru_cache(maxsize=2)
def case_of(name: str, folder: Path, certified: Path, proof: str) -> Case:
    """Return a program by its name, and what measures its errors."""
    robot: Robot | None = None
    if name.startswith("random "):
        *_, kind, seed = name.split()
        program, problem = random_program(kind, int(seed))
    elif name.startswith(CERTIFIED):
        program = load_program(certified / name.removeprefix(CERTIFIED))
        robot = load_robot(program.name)
        problem = robot_problem(robot)
    else:
        ((_, document),) = results_in(folder, [name])
        of, robot = _source(document["robot"])
        choices = CompactChoices(demand_of(document["demand"]), proof=grade_of(proof))
        program = compile_compact(robot, choices, of=of).program
        problem = robot_problem(robot, of)
        robot = robot if of == USUAL else None
    payload = program.payloads[0]
    if robot is not None:
        problem = _fast(problem, with_payload(robot, payload) if payload else robot, program)
    steps = np.array([one.code.step for one in program.load(payload).outputs])
    text = "".join(map(render_network, program.networks)) + str(program) + problem.key
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    bounds = np.array([one.bound for one in program.load(payload).outputs]) / steps
    room = MARGIN + np.array(program.rounding()) / steps
    return Case(name, key, bounds, room, subject_of(program, problem, payload))


def _source(problem: str) -> tuple[str, Robot]:
    """Return the function and the robot that the name of a problem says."""
    for name in sorted(robot_names(), key=len, reverse=True):
        if problem == name or problem.startswith(f"{name}-"):
            return function_of(problem, name), load_robot(name)
    raise SystemExit(f"{problem}: no robot that ships is called so")


def _fast(problem: Problem, robot: Robot, program: Program) -> Problem:
    """Return a problem with the compiled recurrence as its reference, held beside long doubles."""
    found = exact_dynamics(robot)
    low, high = problem.bounds()
    states = np.random.default_rng(0).uniform(low, high, (COMPARED, len(low)))
    away = found.distance(states, np.array([output.code.step for output in program.outputs]))
    if not away < MARGIN / 10:
        raise SystemExit(f"{problem.name}: doubles are not exact enough: {away:.1e} LSB")
    return replace(problem, reference=found)


def random_chunk(case: Case, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what so many random states err by."""
    rng = np.random.Generator(np.random.SFC64(list(seed)))
    low = np.array([axis.allowed.low for axis in case.subject.axes])
    high = np.array([axis.allowed.high for axis in case.subject.axes])
    most = np.zeros(len(case.bounds))
    for place in range(0, count, BLOCK):
        states = rng.random((min(BLOCK, count - place), len(low))) * (high - low) + low
        errors = case.subject.errors(np.clip(states, low, high))
        most = np.maximum(most, np.abs(errors).max(axis=0))
    return {"most": most.tolist(), "count": count}


def climb_chunk(case: Case, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what climbing finds with so many evaluations."""
    whole = int(np.random.SeedSequence(list(seed)).generate_state(1)[0])
    found = find_worst(case.subject, count, seed=whole, kind=FastClimbers)
    return {"most": found.largest.tolist(), "count": found.evaluations}


def chunks(name: str, options: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Yield the kind, place and size of every chunk of a program."""
    few = name.startswith("random ")
    states = -(-options.states // FEWER_STATES) if few else options.states
    climb = -(-options.climb // FEWER_CLIMBS) if few else options.climb
    for kind, total, size in (("random", states, CHUNK), ("climb", climb, CLIMB)):
        for place in range(-(-total // size)):
            yield kind, place, min(size, total - place * size)


def work(name: str, options: argparse.Namespace) -> list[str] | str:
    """Run the chunks of a program that are not in the log; return its line, or what is wrong.

    The last cell of a line says how many chunks have errors above the bound.
    """
    try:
        case = case_of(name, options.folder, options.certified, options.proof)
    except RefusedError as error:
        return str(error)
    log = read_log(options.log)
    found: dict[str, list[dict[str, Any]]] = {"random": [], "climb": []}
    for kind, place, size in chunks(name, options):
        key = f"{name} {case.key} {kind} {options.seed} {place} {size}"
        if key not in log:
            start, seed = time.process_time(), (options.seed, place, int(case.key[:8], 16))
            run = random_chunk if kind == "random" else climb_chunk
            log[key] = {"key": key, **run(case, size, seed)}
            log[key]["seconds"] = time.process_time() - start
            with options.log.open("a") as sink:
                sink.write(json.dumps(log[key]) + "\n")
        found[kind].append(log[key])
    return row(case, found, options.shrink)


def read_log(path: Path) -> dict[str, dict[str, Any]]:
    """Return the lines of a log by their keys."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {one["key"]: one for one in map(json.loads, lines)}


def row(case: Case, found: dict[str, list[dict[str, Any]]], shrink: float) -> list[str]:
    """Return the line of a program; bounds are made smaller by a part, to see it fail."""
    bound = case.bounds * (1 - shrink)
    cells = [case.name.removesuffix(".compact.json"), listed(bound)]
    seconds, above = 0.0, 0
    for chunks_ in found.values():
        if not chunks_:
            cells += ["-", "-", "-"]
            continue
        errors = np.array([one["most"] for one in chunks_])
        largest = errors.max(axis=0)
        count = sum(one["count"] for one in chunks_)
        cells += [f"{count:.4g}", listed(largest), listed(largest / np.maximum(bound, MARGIN))]
        seconds += sum(one["seconds"] for one in chunks_)
        above += int((errors > bound + case.room).any(axis=1).sum())
    return [*cells, str(above), f"{seconds:.0f}"]


def listed(values: Sequence[float] | Floats) -> str:
    """Return figures of all outputs."""
    return " ".join(f"{value:.3f}" for value in values)


def given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path("tables"))
    parser.add_argument("--certified", type=Path, default=Path("certified"))
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--climb", type=int, default=1_000_000)
    parser.add_argument("--proof", default="plain")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--shrink", type=float, default=0.0, help="bounds, by a part: to see it fail"
    )
    parser.add_argument("--log", type=Path, default=Path("out/soundness.jsonl"))
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for and print the table."""
    options = given(arguments)
    names = list(case_names(options))
    if options.list:
        print("\n".join(names))
        return 0
    options.log.parent.mkdir(parents=True, exist_ok=True)
    rows, refused, above = [], 0, 0
    for name, done in zip(names, results(names, options), strict=True):
        if isinstance(done, str):
            refused += 1
            print(f"{name}: {done}", file=sys.stderr, flush=True)
            continue
        wrong = done[-2] != "0"
        print(f"{', '.join(done)}{'  ABOVE' * wrong}", file=sys.stderr, flush=True)
        rows.append(done)
        above += wrong
    if options.markdown:
        lines = [HEADER, ["---"] * len(HEADER), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(HEADER, rows))
    print(f"{len(rows)} programs, {above} with errors above a bound, {refused} refused")
    return int(above > 0 or not rows)


def results(names: Sequence[str], options: argparse.Namespace) -> Iterator[list[str] | str]:
    """Yield the lines of programs in their order, whoever does the work."""
    if options.processes == 1:
        yield from (work(name, options) for name in names)
        return
    with ProcessPoolExecutor(options.processes, get_context("spawn")) as pool:
        yield from pool.map(work, names, [options] * len(names))


if __name__ == "__main__":
    sys.exit(main())
