"""Sizes and errors of functions of a robot: the table of docs/research/functions.md.

    python benchmarks/functions.py [FUNCTION...] [--bits 8,10] [--effort 30] [--processes N]
    python benchmarks/functions.py --written [NAME...]        those of examples/functions

The paper's arm, every function; the PUMA's gravity; larger arms' forward dynamics. Errors are in
steps (LSB) of each output, the largest of all outputs: rms and sampled largest of a million fresh
states, the worst that a search finds. Asked of the paper's arm: forward kinematics at 10 bits under
500 nodes, computed torque at 8 bits under 900; what misses is marked with a ! and the exit code is
1. `machado-2r-dry` is the paper's arm with a dry friction of 8 N·m forwards and 6 backwards.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.base.errors import table
from boolcomp.base.workers import Workers
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices, build
from boolcomp.problem.functions import FRICTION, NAMES, USUAL, robot_problem
from boolcomp.problem.robot.library import load_robot
from boolcomp.problem.sources import problem_of
from boolcomp.terms.extract import split

if TYPE_CHECKING:
    from boolcomp.problem.problem import Problem

ARM, LARGE, DRY = "machado-2r", "puma560", "machado-2r-dry"
USUAL_RMS = (0.43, 0.593)  # what is allowed of the arm's inverse dynamics at 8 bits
# Nodes that were asked for.
ASKED = {(ARM, "forward-kinematics", 10): 500, (ARM, "computed-torque", 8): 900}
QUICK = ("forward-dynamics", "inverse-kinematics")  # that are compiled with no effort here
EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "functions"
USUAL_BITS = 8
WRITTEN_HEAD = [
    "function",
    "input bits",
    "outputs",
    "bits",
    "nodes",
    "6-input tables",
    "depth",
    "rms/LSB",
    "sampled max",
    "worst found",
]
HEAD = [
    "arm",
    "function",
    "outputs",
    "bits",
    "nodes",
    "depth",
    "rms/LSB",
    "sampled max",
    "worst found",
]


@dataclass(frozen=True, slots=True)
class Row:
    """A compilation: `rms`, `words` and `effort` where they are not the usual."""

    arm: str
    of: str
    bits: int
    rms: tuple[float, ...] = ()
    words: dict[str, int] = field(default_factory=dict)
    effort: float | None = None

    @property
    def title(self) -> str:
        """What is said of it."""
        rms = f", rms {' '.join(map(str, self.rms))}" if self.rms else ""
        words = ",".join(f"{name}={bits}" for name, bits in self.words.items())
        effort = "" if self.effort is None else f", effort {self.effort:g}"
        return self.of + rms + (f", inputs {words}" if words else "") + effort

    def problem(self) -> Problem:
        """Return what is compiled."""
        if self.arm != DRY:
            return robot_problem(load_robot(self.arm), self.of)
        arm = load_robot(ARM)
        links = tuple(replace(link, coulomb_friction=(8.0, 6.0)) for link in arm.links)
        return robot_problem(replace(arm, name=DRY, links=links), self.of)


def rows(bits: tuple[int, ...]) -> list[Row]:
    """Return all rows."""
    long = [of for of in NAMES if of not in (FRICTION, *QUICK)]
    found = [Row(ARM, of, width) for of in long for width in bits]
    quick = partial(Row, bits=8, effort=0.0)
    loads = [quick(ARM, f"{of}:load=0..5") for of in (USUAL, "gravity")]
    more = [
        Row(ARM, "computed-torque", 8, USUAL_RMS),
        quick(ARM, "control", words={"q": 13, "qr": 13}),
        quick(ARM, USUAL, rms=USUAL_RMS),
        quick(DRY, FRICTION, rms=USUAL_RMS),
        quick(ARM, "inverse-kinematics"),
        *(quick(arm, "forward-dynamics") for arm in (ARM, "scara", "elbow-3r", "desk-3r")),
        Row(LARGE, "gravity", 8),
    ]
    return [*found, *loads, *more]


def written(given: argparse.Namespace) -> int:
    """Print a row for every function file among the examples; return the exit code."""
    lines, missed = [], False
    for path in sorted(EXAMPLES.glob("*.toml")):
        if given.functions and path.stem not in given.functions:
            continue
        problem = problem_of(path)
        demand = usual_demand(problem.bits or USUAL_BITS, effort=given.effort)
        choices = CompactChoices(demand, given.store, workers=Workers.of(given.processes))
        built = build(split(problem), choices)
        missed |= not built.holds
        errors = (max(x) for x in (built.errors.rms, built.errors.max, built.largest))
        words = " + ".join(str(word.bits) for word in built.compact.specified_words.values())
        lines.append([
            path.stem, words, str(len(problem.outputs)), str(demand.bits),
            f"{built.nodes}{'' if built.holds else '!'}", str(built.lut6), str(built.depth),
            *(f"{x:.2f}" for x in errors),
        ])  # fmt: skip
        print(f"{path.stem}: {built.nodes} nodes", file=sys.stderr, flush=True)
    print(table(WRITTEN_HEAD, lines, left=(0, 1)))
    return int(missed)


def main() -> int:
    """Print all rows; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("functions", nargs="*", help=", ".join(NAMES))
    parser.add_argument("--bits", default="8,10")
    parser.add_argument("--effort", type=float, default=30.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--store", type=Path)
    parser.add_argument("--written", action="store_true", help="examples/functions, by name")
    given = parser.parse_args()
    if given.written:
        return written(given)
    lines, missed = [], False
    for row in rows(tuple(int(x) for x in given.bits.split(","))):
        if given.functions and row.of not in given.functions:
            continue
        problem = row.problem()
        demand = usual_demand(
            row.bits, row.words, rms=row.rms,
            effort=given.effort if row.effort is None else row.effort,
        )  # fmt: skip
        built = build(
            split(problem), CompactChoices(demand, given.store, workers=Workers.of(given.processes))
        )
        most = ASKED.get((row.arm, row.of, row.bits))
        fails = (most is not None and built.nodes >= most) or not built.holds
        missed |= fails
        errors = (max(x) for x in (built.errors.rms, built.errors.max, built.largest))
        lines.append([
            row.arm, row.title, str(len(problem.outputs)), str(row.bits),
            f"{built.nodes}{'!' if fails else ''}", str(built.depth), *(f"{x:.2f}" for x in errors),
        ])  # fmt: skip
        print(f"{row.arm} {row.title} {row.bits}: {built.nodes} nodes", file=sys.stderr, flush=True)
    print(table(HEAD, lines, left=(0, 1)))
    return int(missed)


if __name__ == "__main__":
    raise SystemExit(main())
