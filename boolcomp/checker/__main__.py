"""`python -m boolcomp.checker FOLDER`: check the certificate of a saved program.

The command prints one line per step. Its exit code is 0 if all steps hold, and 1 otherwise.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.errors import BoolcompError, cut
from boolcomp.base.files import read_text
from boolcomp.checker import bound, claim, graph, lemmas, network, problem, tabled
from boolcomp.checker.claim import ClaimSource, check_same, described, not_verified
from boolcomp.checker.folder import (
    DAMAGE,
    MOST_BYTES,
    NAME,
    NOTHING,
    VerdictStep,
    printable,
    read_program,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, ProgramFiles


# --------------------------------------------------------------------------------------------------
# The chain of checks: each section of a certificate, in this order, has its own check.
# --------------------------------------------------------------------------------------------------

NO_CERTIFICATE = "there is none: compile with --certify"
LINKS = {
    "origin": problem.check_origin,
    "sketch": problem.check_sketch,
    "graph": graph.check_graph,
    "first": network.check_first,
    "lemmas": lemmas.check_lemmas,
    "bound": bound.check_bound,
}
TABLED = {
    "origin": problem.check_origin,
    "terms": tabled.check_tabled,
}  # of paper mode, which has no graph


def check_program(
    program: ProgramFiles, source: ClaimSource | None = None
) -> Iterator[VerdictStep]:
    """Check a certificate, step by step; a missing section is a step that does not hold.

    With a `source`, a robot or function file, the certificate must also be a claim about it.
    """
    if program.certificate is None:
        yield VerdictStep("certificate", "none", note=NO_CERTIFICATE)
        return
    yield from _guarded("claim", claim.check_claim(program))
    if source is not None:
        for load in program.loads:
            yield from _guarded("file", check_same(load, source))
    for load in program.loads:
        yield from check_load(load, f", load {load.place}" if len(program.loads) > 1 else "")


def check_load(load: LoadFiles, ending: str = "") -> Iterator[VerdictStep]:
    """Check the sections of one load; `ending` is appended to the names of the steps."""
    for name, check in (LINKS if load.graph else TABLED).items():
        if name not in load.sections:
            yield VerdictStep(f"{name}{ending}", "none", note=f"{NAME} has no section {name!r}")
            continue
        for step in _guarded(name, check(load)):
            yield replace(step, name=f"{step.name}{ending}")


def _guarded(name: str, steps: Iterator[VerdictStep]) -> Iterator[VerdictStep]:
    """Yield steps; turn an exception into a step that does not hold."""
    try:
        for step in steps:
            yield replace(step, note=printable(step.note))
    except BoolcompError as error:  # for example a missing section
        yield VerdictStep(name, "reading", holds=False, note=printable(str(error)))
    except DAMAGE as error:  # from absurd numbers in the file: the rest of the section is unchecked
        note = f"the check failed: {type(error).__name__}: {error}"
        yield VerdictStep(name, "reading", holds=False, note=printable(cut(note, 200)))


# --------------------------------------------------------------------------------------------------
# The command.
# --------------------------------------------------------------------------------------------------

ABOUT = """
Check the certificate of the program in FOLDER (boolcomp compile ... --certify -o FOLDER) step by
step, from the robot or function to the error bounds. The exit code is 0 if all steps hold, 1 if a
step does not hold or cannot be checked, and 2 if the command line is invalid.
"""


def main(arguments: list[str]) -> int:
    """Check the program in a folder; return the exit code."""
    parser = argparse.ArgumentParser("python -m boolcomp.checker", description=ABOUT)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument(
        "--robot", metavar="FILE", help="robot or function file (TOML) that the program must match"
    )
    parser.add_argument(
        "--allow-conditions", action="store_true",
        help="accept bounds that hold unless sums overflow that are not shown to fit their words",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        options = parser.parse_args(arguments)
    except SystemExit as stop:  # help, or an invalid command line
        return int(stop.code or 0)
    try:
        return _run(options)
    except BoolcompError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _run(options: argparse.Namespace) -> int:
    program = read_program(options.folder)
    steps: list[VerdictStep] = []
    robot = options.robot
    source = ClaimSource(read_text(Path(robot), MOST_BYTES), robot) if robot else None
    for step in check_program(program, source):
        steps.append(step)
        if not options.json:
            sys.stdout.write(f"{_line(step)}\n")
    holds = whole(steps, allow_conditions=options.allow_conditions)
    unverified = not_verified(program, confirmed=source is not None)
    if options.json:
        verdict: dict[str, Any] = {
            "holds": holds,
            "not_verified": unverified,
            "described": described(program),
            "steps": [asdict(one) for one in steps],
        }
        sys.stdout.write(json.dumps(verdict, ensure_ascii=False) + "\n")
        return 0 if holds else 1
    if not steps:
        sys.stdout.write(f"{NOTHING}\n")
    sys.stdout.write("".join(f"not verified: {name}\n" for name in unverified))
    if program.certificate is not None and source is None:
        sys.stdout.write(f"{described(program)}\n")
    return 0 if holds else 1


def _line(step: VerdictStep) -> str:
    result = {True: "holds", False: "DOES NOT HOLD", None: "not known"}[step.holds]
    result = "holds on conditions" if step.conditional else result
    note = f": {step.note}" if step.note else ""
    return f"{step.name}: {result} ({step.method}, {step.cases} cases, {step.seconds:.2f} s){note}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
