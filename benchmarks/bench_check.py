"""Guards against lost speed: ratios of times, measured now, beside those that are committed.

Absolute times differ between machines and hours, so only ratios between things run side by side
count. A ratio says how many times as long a rival takes as the logic, in one run on the same
samples; where it has fallen by more than 15 %, the logic has lost speed and this exits with 1. A
ratio that a machine cannot measure (no AVX-512, no clang) is named and left out.

    python benchmarks/bench_check.py [--update] [--rounds 5]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from boolcomp.api import compile as compile_program
from boolcomp.base.errors import table
from boolcomp.base.files import write_text
from boolcomp.measure.bench import make_bench
from boolcomp.problem.robot.library import load_robot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from boolcomp.measure.bench import Bench
    from boolcomp.program.program import Program

RATIOS = Path(__file__).with_name("bench_ratios.json")
MOST_LOSS = 0.15
BATCH = 4096
CASES = (("machado-2r", 8, "compact"), ("machado-2r", 8, "paper"))
# Rivals whose own speed is steady: by hand, or from a compiler that every machine has.
RIVALS = (
    "AVX-512 float by hand (gcc)", "VBMI byte tables (gcc)", "int16 fixed point (gcc)",
    "lean Newton-Euler, vectors of float (gcc)", "Newton-Euler, scalar double (gcc)",
)  # fmt: skip


def program_of(robot: str, bits: int, mode: str) -> Program:
    """Compile a program, or take it from the store."""
    return compile_program(robot, bits=bits, mode=mode)


def measure(rounds: int) -> dict[str, float]:
    """Return the ratios of all cases: of several runs the median."""
    found: dict[str, list[float]] = {}
    for robot, bits, mode in CASES:
        program = program_of(robot, bits, mode)
        for _ in range(rounds):
            bench = make_bench(
                robot, load_robot(robot), program, batches=(BATCH,), cores=(1,), seconds=0.5,
                packages=False, evaluations=0,
            )  # fmt: skip
            if bench.wrong:
                sys.exit(f"{robot}: wrong results from {', '.join(bench.wrong)}")
            for name, ratio in ratios(bench).items():
                found.setdefault(f"{robot} {bits} {mode}: {name}", []).append(ratio)
    return {name: sorted(values)[len(values) // 2] for name, values in found.items()}


def ratios(bench: Bench) -> dict[str, float]:
    """Return how many times as long as the logic, with words in and out, each rival took."""
    logic = [r for r in bench.rows if r.logic and r.kind in ("int8", "int16")]
    least = min((r.ns_per_sample for r in logic if r.ns_per_sample), default=0.0)
    return {
        f"{row.rival} {row.kind}": row.ns_per_sample / least
        for row in bench.rows
        if row.rival in RIVALS and row.kind != "float32" and row.ns_per_sample and least
    }


def losses(now: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    """Return by how much of itself each ratio has fallen, of those that are in both."""
    return {name: 1 - now[name] / before[name] for name in before if name in now}


def main() -> None:
    """Measure, compare, and say what was lost; or write the file anew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true", help="write the ratios of this run")
    parser.add_argument("--rounds", type=int, default=5, help="runs of which the median counts")
    given = parser.parse_args()
    now = measure(given.rounds)
    if given.update:
        rounded = {name: float(f"{ratio:.4g}") for name, ratio in sorted(now.items())}
        write_text(RATIOS, json.dumps(rounded, indent=2) + "\n")
        print(f"{len(rounded)} ratios written to {RATIOS.name}")
        return
    before = json.loads(RATIOS.read_text(encoding="utf-8"))
    lost = losses(now, before)
    rows = [
        [name, f"{before[name]:.4g}", f"{now[name]:.4g}", f"{-100 * loss:+.0f} %"]
        for name, loss in lost.items()
    ]
    print(table(["rival / logic", "committed", "now", "change"], rows))
    absent = [name for name in before if name not in now]
    for name in absent:
        print(f"not measured on this machine: {name}")
    bad = [name for name, loss in lost.items() if loss > MOST_LOSS]
    if bad or not lost:
        sys.exit(f"lost more than {MOST_LOSS:.0%}: {'; '.join(bad) or 'nothing was measured'}")
    print(f"no ratio lost more than {MOST_LOSS:.0%}")


if __name__ == "__main__":
    main()
