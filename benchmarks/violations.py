"""Does any state err more than its bound? Random states and climbing, of everything that ships.

    python benchmarks/violations.py [NAME...] [--states N] [--climb N] [--log FILE] [--markdown]

A name is the beginning of a file's (`puma560-8`). Bounds are tight where they can be. `--states`
are random ones of every program (ten times as many of the 2R with the paper's demand at 8 bits),
`--climb` evaluations of the search that `compile` uses, from 16,384 starts every 10^7; both in
chunks with seeds of their own, in constant memory. What a chunk found is appended to the log as a
line of JSON; run again, chunks that are there are not run again.

Programs run as they are delivered, floats in and out, on native code. What is exact is Newton and
Euler's recurrence of the robot's file in doubles, compiled, which no part of the proof has seen; it
is held beside the same in long doubles first, and may differ by MARGIN of an LSB at most, which a
state may be above a bound. Printed are the largest errors in LSB, their share of the bound, states
above a bound, and seconds of processor time. The exit code is 1 where there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numba
import numpy as np
from proof import shipped

from boolcomp.common.text import table
from boolcomp.compact.assembly import program_of_graph
from boolcomp.compact.result.proved import proved
from boolcomp.measure.bench.straight import record
from boolcomp.problem.robot import load_robot
from boolcomp.proof.bound.result import EFFORT, grade_of
from boolcomp.proof.worst import Subject, axes_of, find_worst

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.program.program import Program
    from boolcomp.proof.bound.result import Bounds

    Floats = NDArray[np.float64]

MARGIN = 1e-9  # LSB: what doubles may be wrong by
BLOCK = 1 << 15  # states whose columns stay in a cache
CHUNK, CLIMB = 10_000_000, 10_000_000  # states, evaluations of one line of the log
MOST = "machado-2r-8.95d6efe9e10c1b60"  # the 2R of the paper: ten times as many states
HEADER = (
    "program", "bound", "states", "largest", "share", "evaluations", "worst found", "share",
    "above", "s",
)  # fmt: skip


class Task(NamedTuple):
    """A program, its bounds, and what measures its errors at states (samples, inputs)."""

    name: str
    key: str  # of the program and its bounds: what another one found is not its
    program: Program
    bounds: Bounds
    subject: Subject


def source_of(steps: Straight) -> str:
    """Return Python of what fills exact outputs, (samples, outputs), from states."""
    lines = [f"v{k} = s[i, {k}]" for k in range(len(steps.inputs))]
    for place, node in enumerate(steps.nodes):
        if node.kind != "input":
            lines.append(f"v{place} = {expression(node)}")
    lines += [f"out[i, {k}] = v{one.node}" for k, one in enumerate(steps.outputs)]
    body = "\n        ".join(lines)
    return f"def fill(s, out):\n    for i in range(len(s)):\n        {body}\n"


def expression(node: Operation) -> str:
    """Return a node in Python; another kind of node is our mistake."""
    read = [f"v{k}" for k in node.operands]
    signs = {"add": "+", "sub": "-", "mul": "*"}
    if node.kind == "constant":
        return repr(float(node.value))
    if node.kind in signs:
        return f"{read[0]} {signs[node.kind]} {read[1]}"
    return {"neg": f"-{read[0]}", "sin": f"sin({read[0]})", "cos": f"cos({read[0]})"}[node.kind]


def compiled(steps: Straight) -> Callable[[Floats, Floats], None]:
    """Return the same as native code."""
    space: dict[str, Any] = {"sin": np.sin, "cos": np.cos}
    exec(source_of(steps), space)  # noqa: S102 (our own text, a moment old)
    made: Callable[[Floats, Floats], None] = numba.njit(space["fill"])
    return made


def longer(steps: Straight, states: Floats) -> NDArray[np.longdouble]:
    """Return outputs at states, in long doubles."""
    space: dict[str, Any] = {"sin": np.sin, "cos": np.cos}
    exec(source_of(steps), space)  # noqa: S102 (our own text, a moment old)
    out = np.empty((len(states), len(steps.outputs)), np.longdouble)
    space["fill"](states.astype(np.longdouble), out)
    return out


@dataclass(frozen=True, slots=True)
class Exact:
    """What a problem's reference is, compiled: of the arrays of all groups, or of states."""

    fill: Callable[[Floats, Floats], None]
    outputs: int

    def of(self, states: Floats) -> Floats:
        """Return exact outputs at states (samples, inputs)."""
        out = np.empty((len(states), self.outputs))
        self.fill(states, out)
        return out

    def __call__(self, *arrays: Floats) -> Floats:
        """Return them for arrays, as problems do."""
        return self.of(np.concatenate(arrays, axis=1))


def tasks(folder: Path, names: Sequence[str], grade: str) -> Iterator[Task]:
    """Yield what ships, its bounds, and what measures its errors."""
    references: dict[str, Exact] = {}
    for path in sorted(folder.glob("*.compact.json")):
        if names and not any(path.name.startswith(name) for name in names):
            continue
        for case in shipped(folder, [path.name]):
            compact, name = case.compact, path.name.removesuffix(".compact.json")
            problem = compact.problem
            bounds = proved(compact, case.ends, grade_of(grade), EFFORT)
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
                name, digest(f"{bounds}{compact.graph}"), made, bounds,
                Subject(fast, axes_of(problem, words), codes, logic_of(made)),
            )  # fmt: skip


def digest(text: str) -> str:
    """Return a short name that only equal texts share."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def logic_of(program: Program) -> Callable[..., Floats]:
    """Return what runs a program on arrays."""
    return lambda *arrays: program.evaluate(*arrays, engine="llvm").values


def exact_of(name: str, program: Program) -> Exact:
    """Return the compiled recurrence of a robot that ships, held beside long doubles."""
    robot = load_robot(name)
    steps = record(robot)
    found = Exact(compiled(steps), len(steps.outputs))
    low = [link.position.low for link in robot.links]
    high = [link.position.high for link in robot.links]
    for kind in ("velocity", "acceleration"):
        low += [getattr(link, kind).low for link in robot.links]
        high += [getattr(link, kind).high for link in robot.links]
    states = np.random.default_rng(0).uniform(low, high, (2000, len(low)))
    lsb = np.array([output.code.step for output in program.outputs])
    away = float((np.abs(found.of(states) - longer(steps, states)) / lsb).max())
    print(f"{name}: doubles are within {away:.1e} LSB of long doubles", file=sys.stderr)
    if away > MARGIN / 10:
        raise SystemExit(f"{name}: doubles are not exact enough")
    return found


def random_chunk(task: Task, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what so many random states err by."""
    rng = np.random.default_rng(list(seed))
    low, high = task.subject.problem.bounds()
    ends, limits = span(task), limits_of(task)
    up, down, above, done = np.full(len(ends[0]), -np.inf), np.full(len(ends[0]), np.inf), 0, 0
    exact = task.subject.problem.reference
    while done < count:
        states = rng.random((min(BLOCK, count - done), len(low)))
        states = low + states * (high - low)
        arrays = task.subject.problem.arrays(states)
        found = task.subject.logic(*arrays)
        above += judged(found, exact(*arrays), *ends, *limits, up, down)
        done += len(states)
    return {"most": [up.tolist(), down.tolist()], "above": above, "count": done}


@numba.njit
def judged(
    found: Floats, exact: Floats, low: Floats, high: Floats, step: Floats, least: Floats,
    most: Floats, up: Floats, down: Floats,
) -> int:  # fmt: skip
    """Count states beyond a bound, and note the largest and the least error, in steps."""
    above = 0
    for i in range(found.shape[0]):
        beyond = False
        for k in range(found.shape[1]):
            inside = min(max(exact[i, k], low[k]), high[k])
            error = (found[i, k] - inside) / step[k]
            up[k], down[k] = max(up[k], error), min(down[k], error)
            beyond |= not least[k] <= error <= most[k]
        above += beyond
    return above


def span(task: Task) -> tuple[Floats, Floats, Floats]:
    """Return the least and largest values of outputs' words, and their steps."""
    codes = task.subject.codes
    ends = ([code.low for code in codes], [code.high for code in codes])
    return np.array(ends[0]), np.array(ends[1]), np.array([code.step for code in codes])


def limits_of(task: Task) -> tuple[Floats, Floats]:
    """Return the least and the largest error that the bounds allow, in steps, and the margin."""
    outputs = task.bounds.outputs
    least = np.array([float(one.low) for one in outputs]) - MARGIN
    return least, np.array([float(one.high) for one in outputs]) + MARGIN


def climb_chunk(task: Task, count: int, seed: Sequence[int]) -> dict[str, Any]:
    """Return what climbing finds with so many evaluations; the worst of all are judged."""
    whole = int(np.random.SeedSequence(list(seed)).generate_state(1)[0])
    found = find_worst(task.subject, count, seed=whole)
    least, most = limits_of(task)
    above = int(((found.errors[:, 0] > most) | (found.errors[:, 1] < least)).sum())
    return {"most": found.errors.T.tolist(), "above": above, "count": found.evaluations}


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
    for kind in ("random", "climb"):
        found = [one for key, one in log.items() if f"{task.name} {task.key} {kind} {seed} " in key]
        count = sum(one["count"] for one in found)
        if not count:
            cells += ["-", "-", "-"]
            continue
        most = np.abs([one["most"] for one in found]).max(axis=(0, 1))
        cells += [f"{count:.4g}", listed(most), listed(most / bound)]
        seconds += sum(one["seconds"] for one in found)
        above += sum(one["above"] for one in found)
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
        print("\n".join(f"| {' | '.join(line)} |" for line in [HEADER, ["---"] * len(HEADER), *rows]))
    else:
        print(table(HEADER, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
