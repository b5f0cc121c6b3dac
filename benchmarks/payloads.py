"""A library of loads: what it takes beside one load alone, and what masses between loads err by.

    python benchmarks/payloads.py [ROBOT] [--payloads 0:5:0.05] [--bits N] [--effort N] [--usual]
                                  [--store PLACE] [--processes N] [--between N] [--climb N]

Loads are compiled with no effort (--usual adds one with the usual effort), from the store where
they are there: 101 of the 2R take some 20 minutes of a processor, so give --store to go on later,
or fewer --payloads. Printed are seconds of processor time; nodes of all loads, of those that are
different (equal nodes over the same inputs counted once), and of one load; files, reading and the
first answer of the whole library and of what one mass needs of it. Then of masses between loads, by
the nearest and interpolated, in LSB: what random states err by, the worst that climbing finds, and
the proved bound; and a program whose load is an input word, which does without a library. The exit
code is 1 where anything is above its bound.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import masses, number, table
from boolcomp.base.workers import Workers
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.logic.network import Builder, copied
from boolcomp.pipeline import compile_compact
from boolcomp.problem.functions import function_name
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of
from boolcomp.program.files import load_program, with_loads
from boolcomp.proof.worst import SearchedProgram, axes_of, find_worst

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

    Floats = NDArray[np.float64]

SAMPLES, SEED = 200_000, 7


def main() -> int:
    """Print all tables; return the exit code."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("robot", nargs="?", default="machado-2r")
    asked.add_argument("--payloads", default="0:5:0.05")
    asked.add_argument("--bits", type=int, default=8)
    asked.add_argument("--effort", type=float, default=0.0)
    asked.add_argument("--usual", action="store_true")
    asked.add_argument("--store")
    asked.add_argument("--processes", type=int, default=2)
    asked.add_argument("--between", type=int, default=5)
    asked.add_argument("--climb", type=int, default=200_000)
    options = asked.parse_args()
    robot = load_robot(options.robot)
    choices = CompactChoices(
        usual_demand(options.bits, effort=options.effort), options.store,
        workers=Workers.of(options.processes),
    )  # fmt: skip
    loads = masses("--payloads", options.payloads)
    program = compiled(robot, choices, loads)
    sizes(program)
    with tempfile.TemporaryDirectory() as folder:
        files(program, Path(folder))
    broken = errors(robot, program, options.between, options.climb)
    as_input(robot, choices, loads)
    if options.usual:
        usual = replace(choices, demand=usual_demand(options.bits))
        compiled(robot, usual, (loads[len(loads) // 2],))
    return 1 if broken else 0


def spent() -> float:
    """Return the seconds of processors that this process and its children took."""
    each = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in each)


def compiled(robot: Robot, choices: CompactChoices, loads: tuple[float, ...]) -> Program:
    """Compile, and say what that took."""
    start, since = spent(), time.perf_counter()
    made = compile_compact(robot, choices, loads)
    stored = sum(one.stored for one in made.built)
    print(
        f"{len(loads)} loads, {stored} of them stored, effort {choices.demand.effort:g}: "
        f"{spent() - start:.1f} s of processors, {time.perf_counter() - since:.1f} s on the clock, "
        f"{sum(one.nodes for one in made.built) / len(loads):.0f} nodes a load"
    )
    return made.program


def sizes(program: Program) -> None:
    """Print nodes in all, those that are different, and those of one load."""
    widest = {word.name: word.code.bits for word in program.inputs}
    order = list(widest)
    first = {name: sum(widest[one] for one in order[:k]) for k, name in enumerate(order)}
    builder = Builder(sum(widest.values()))
    for load in program.loads:
        if load.joint is None:
            continue
        bits = [
            builder.input(first[order[word.input]] + k)
            for word in load.joint.words
            for k in range(word.dropped, word.bits)
        ]
        copied(program.networks[load.joint.network], builder, bits)
    each = [len(network.nodes) for network in program.networks]
    print(
        f"nodes: {sum(each)} in all, {len(builder.uses())} different and read, "
        f"{min(each)} to {max(each)} in one load alone"
    )


def files(program: Program, folder: Path) -> None:
    """Print what files take, and how long reading and one answer take."""
    program.save(folder / "library")
    middle = program.payloads[len(program.loads) // 2]
    with_loads(program, [middle]).save(folder / "one")
    mass = (program.payloads[0] + program.payloads[1]) / 2
    rows = []
    for name, what, payload in (
        ("library", "all loads", None), ("library", "what one mass needs", mass),
        ("one", "a program of one load", None),
    ):  # fmt: skip
        size = sum(path.stat().st_size for path in (folder / name).rglob("*") if path.is_file())
        start = time.process_time()
        found = load_program(folder / name, payload)
        read = time.process_time() - start
        start = time.process_time()
        state = [np.zeros(group.size) for group in program.groups]
        found(*state, payload=mass if name == "library" else middle, engine="numpy")
        answer = time.process_time() - start
        engines = len({one for one, *_ in found._engines if one is not None})  # noqa: SLF001
        read_loads = len(found.loads)
        rows.append([what, f"{size / 1e3:.0f}", str(read_loads), f"{read:.3f}", f"{answer:.3f}",
                     str(engines)])  # fmt: skip
    header = ("read", "kB of files", "loads", "s to read", "s of a first answer", "engines")
    print(table(header, rows))


def errors(robot: Robot, program: Program, count: int, climb: int) -> bool:
    """Print errors of masses between loads; tell whether one is above its bound."""
    known = np.array(sorted(program.payloads))
    rng = np.random.default_rng(SEED)
    places = rng.choice(len(known) - 1, min(count, len(known) - 1), replace=False)
    rows, broken = [], False
    for place in sorted(places):
        mass = float(np.round(known[place] + rng.uniform(0.2, 0.8) * np.diff(known)[place], 4))
        for interpolate in (False, True):
            found = errors_at(robot, program, mass, interpolate=interpolate, climb=climb)
            broken |= bool((np.maximum(found["max"], found["worst"]) > found["bound"]).any())
            cells = [" ".join(f"{x:.3f}" for x in found[key]) for key in found]
            rows.append([number(mass), "mean of two" if interpolate else "nearest", *cells])
    print(table(("kg", "by", "rms", "sampled max", "worst found", "bound"), rows, left=(1,)))
    changes = " ".join(f"{x:.4g}" for x in program.per_kilogram)
    print(f"a kilogram changes outputs by at most {changes} in their units")
    return broken


def errors_at(
    robot: Robot, program: Program, mass: float, *, interpolate: bool, climb: int
) -> dict[str, Floats]:
    """Return errors in LSB at a mass: rms and largest of samples, the worst found, the bound."""
    problem = problem_of(robot, mass=mass)
    chosen = program.chosen(mass, interpolate=interpolate)
    codes = tuple(one.code for one in chosen.outputs)

    def logic(*arrays: Floats) -> Floats:
        return np.asarray(program.evaluate(*arrays, payload=mass, interpolate=interpolate).values)

    axes = axes_of(problem, {word.name: word.code for word in program.inputs})
    subject = SearchedProgram(problem, axes, codes, logic)
    low, high = problem.bounds()
    drawn = subject.errors(np.random.default_rng(SEED).uniform(low, high, (SAMPLES, len(low))))
    steps = np.array([code.step for code in codes])
    return {
        "rms": np.sqrt((drawn**2).mean(axis=0)),
        "max": np.abs(drawn).max(axis=0),
        "worst": find_worst(subject, climb).largest,
        "bound": np.array(chosen.bounds) / steps,
    }


def as_input(robot: Robot, choices: CompactChoices, loads: tuple[float, ...]) -> None:
    """Print what a program takes whose load is an input word."""
    of = function_name("inverse-dynamics", load=f"{min(loads)}..{max(loads)}")
    start = spent()
    made: Any = compile_compact(robot, choices, (0.0,), of)
    (built,) = made.built
    cells = " ".join(f"{x:.3f}" for x in built.errors.rms)
    bounds = " ".join(f"{one.bound / one.code.step:.3f}" for one in made.program.outputs)
    print(
        f"the load as an input word instead: {built.nodes} nodes, rms {cells}, bound {bounds}, "
        f"{spent() - start:.1f} s of processors"
    )


if __name__ == "__main__":
    sys.exit(main())
