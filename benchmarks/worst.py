"""Sampled and worst found errors of all shipped results, and of the 2R in paper mode.

    python benchmarks/worst.py [NAME...] [--folder FOLDER] [--write] [--markdown]

A name is the beginning of a file's (`puma560-8`). Errors are in LSB of the torque, a figure for
every joint: the sampled maximum of 10^6 random states, the worst that climbing found, and with how
many evaluations in what processor time. None but the bounds of paper mode are proved. `--write`
puts what was found into those files that do not say it. The exit code is 1 where a sampled error is
larger than the worst found, or that than a demand or a bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import table
from boolcomp.base.files import read_text, write_text
from boolcomp.base.store import Folder
from boolcomp.compact.demand import Demand
from boolcomp.compact.errors import Sampling, decoder_shifts, measure_many, network_worst
from boolcomp.compact.passes import fresh_states
from boolcomp.compact.result import render, result_store
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import PlanOptions
from boolcomp.pipeline import compile_paper
from boolcomp.problem.functions import inverse_dynamics_problem
from boolcomp.problem.robot.library import load_robot, robot_names
from boolcomp.problem.sources import load_source
from boolcomp.problem.sources import problem_of as of_source
from boolcomp.proof.worst import find_worst, subject_of
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "functions"
SAMPLES, SEED, BLOCK = 1_000_000, 20_260_301, 1 << 16
SLACK = 1e-6  # steps
HEADER = (
    "program", "asked rms", "asked max", "nodes", "sampled max", "worst found", "bound",
    "evaluations", "s",
)  # fmt: skip


def demand_of(key: str) -> Demand:
    """Undo `Demand.key`."""
    given = dict(part.split("=", 1) for part in key.split())
    reals = {
        name: () if given[name] == "paper's" else tuple(map(float, given[name].split(",")))
        for name in ("rms", "max")
    }
    widths = dict(part.split("=") for part in given["input_bits"].split(","))
    return Demand(
        int(given["bits"]), {name: int(bits) for name, bits in widths.items()},
        saturate=given["saturate"] == "True", seed=int(given["seed"]),
        effort=float(given["effort"]), objective=given["objective"],  # type: ignore[arg-type]
        rms=reals["rms"], max=reals["max"], target=given.get("target", "luts"),  # type: ignore[arg-type]
        flash=int(given.get("flash", 0)),
        approximate=given.get("approximate", "off"),  # type: ignore[arg-type]
    )  # fmt: skip


def problem_of(name: str) -> Problem:
    """Return the problem of a shipped result: of a robot, a function of one or an example."""
    robot = name.removesuffix("-gravity")
    if robot not in robot_names():
        return of_source(load_source(EXAMPLES / f"{name}.toml"))
    return of_source(load_source(robot), "gravity" if robot != name else "inverse-dynamics")


def results_in(folder: Path, names: Sequence[str] = ()) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the results of a folder whose names begin so, if that was said, and what files say.

    Those that only say that nothing was gained are passed over.
    """
    for path in sorted(folder.glob("*.compact.json")):
        document: dict[str, Any] = json.loads(read_text(path).partition("\n")[2])
        if "same" not in document and (not names or path.name.startswith(tuple(names))):
            yield path, document


def listed(values: Sequence[float] | Floats, digits: int = 2) -> str:
    """Return errors of all joints, as a table shows them; once where all are equal."""
    found = [f"{value:.{digits}f}" for value in values]
    return " ".join(found if len(set(found)) > 1 else found[:1])


def of_file(path: Path, document: dict[str, Any], *, write: bool) -> tuple[list[str], bool]:
    """Search a stored result; return its row, and whether anything is wrong."""
    demand = demand_of(document["demand"])
    torques = split(problem_of(document["robot"]))
    ours = Folder(path.parent, trusted=True)
    kept = result_store(torques, demand, ours, also_shipped=False).find()
    if kept is None:
        return [path.name, *["-"] * (len(HEADER) - 1)], True
    compact = kept.compact
    sampling = Sampling(compact.problem, demand.input_bits, demand.bits, SAMPLES, SEED)
    found = measure_many(sampling, compact.graph)
    start = time.process_time()
    worst = network_worst(compact.problem, demand, compact.graph, kept.network)
    seconds = time.process_time() - start
    if write and (kept.worst is None or kept.errors.ends is None):
        errors = measure_many(fresh_states(compact), compact.graph)
        write_text(path, render(replace(kept, errors=errors, worst=worst)))
    shifts = decoder_shifts(kept.errors, worst, demand.max)
    sampled, worst = found.moved(shifts).max, worst.moved(shifts)
    most = np.asarray(demand.max or np.inf)
    cells = [
        f"{document['robot']}, {demand.bits} bits", listed(np.sqrt(compact.allowed), 3),
        listed(demand.max) or "-", str(len(kept.network.nodes)), listed(sampled),
        listed(worst.largest), "-", f"{worst.evaluations / 1e6:.1f}e6", f"{seconds:.0f}",
    ]  # fmt: skip
    return cells, bool(
        (sampled > worst.largest + SLACK).any() or (worst.largest > most + SLACK).any()
    )


def of_paper(name: str, bits: int) -> tuple[list[str], bool]:
    """Search a program of paper mode, whose errors are bounded."""
    robot = load_robot(name)
    program = compile_paper(robot, PaperChoices(PlanOptions(bits))).program
    problem = inverse_dynamics_problem(robot)
    subject = subject_of(program, problem)
    sampled = np.zeros(robot.joints)
    for k in range(-(-SAMPLES // BLOCK)):
        states = np.concatenate(problem.draw(min(BLOCK, SAMPLES - k * BLOCK), SEED + k), axis=1)
        sampled = np.maximum(sampled, np.abs(subject.errors(states)).max(axis=0))
    start = time.process_time()
    worst = find_worst(subject)
    seconds = time.process_time() - start
    steps = [output.code.step for output in program.outputs]
    bound = np.asarray(program.bound) / steps
    cells = [
        f"{name}, {bits} bits, paper", "-", "-", str(len(program.network().nodes)),
        listed(sampled), listed(worst.largest), listed(bound), f"{worst.evaluations / 1e6:.1f}e6",
        f"{seconds:.0f}",
    ]  # fmt: skip
    return cells, bool(
        (sampled > worst.largest + SLACK).any() or (worst.largest > bound + SLACK).any()
    )


def main() -> int:
    """Print a row for every program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path("tables"))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    rows, wrong = [], False
    for path, document in results_in(options.folder, options.names):
        cells, missed = of_file(path, document, write=options.write)
        print(f"{path.name}: {', '.join(cells[4:6])}", file=sys.stderr, flush=True)
        rows.append(cells)
        wrong |= missed
    if not options.names:
        cells, missed = of_paper("machado-2r", 8)
        rows.append(cells)
        wrong |= missed
    if options.markdown:
        lines = [HEADER, ["---"] * len(HEADER), *rows]
        print("\n".join(f"| {' | '.join(cells)} |" for cells in lines))
    else:
        print(table(HEADER, rows))
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
