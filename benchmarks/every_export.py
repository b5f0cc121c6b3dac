"""Every export of many programs, built without a warning and run, with a million words each.

    python benchmarks/every_export.py         # those of the tests; 2R at 8 bits in paper mode
    python benchmarks/every_export.py out/2r     # programs that were saved

What is not installed is named and skipped; Python and JavaScript run 20,000 words. It ends with 1
where anything does not hold.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from matrix import matrix
from targets.exported import arm
from targets.test_tools import MATRIX

from boolcomp.measure.verify import verilated
from boolcomp.program.files import load_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.measure.verify import Check
    from boolcomp.program.program import Program

WORDS = 1_000_000
SECONDS = 600.0


def main(folders: list[str]) -> int:
    """Print a table for every program; return whether anything is wrong."""
    programs: dict[str, Callable[[], Program]] = {**MATRIX}
    programs["2R, 8 bits, paper"] = lambda: arm("paper", 8)
    if folders:
        programs = {folder: lambda path=folder: load_program(path) for folder in folders}  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    wrong = 0
    for name, make in programs.items():
        program = make()
        print(
            f"{name}: {sum(len(network.nodes) for network in program.networks)} nodes", flush=True
        )
        checks = [*matrix(program, WORDS), verilated(program, None, SECONDS)]
        if all(load.graph is not None for load in program.loads):
            checks.append(verilated(program, None, SECONDS, "words"))
        for check in checks:
            wrong += not check.holds and not check.skipped
            print(_line(check), flush=True)
    return int(wrong > 0)


def _line(check: Check) -> str:
    said = "skipped" if check.skipped else {True: "yes", False: "NO", None: "unknown"}[check.holds]
    counted = f"{check.cases:>8} {check.seconds:7.2f} s"
    return f"  {check.name:44} {check.method:20} {counted}  {said:8} {check.note}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
