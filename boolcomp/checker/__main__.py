"""`python -m boolcomp.checker FOLDER`: check the certificate of a saved program, and nothing else.

A line for every step; the exit code is 0 where all hold, 1 where one does not or is not known.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from boolcomp.base.files import read_text
from boolcomp.checker.chain import check_program
from boolcomp.checker.claim import described, not_verified
from boolcomp.checker.folder import MOST_BYTES, read_program
from boolcomp.checker.same import Asked
from boolcomp.checker.steps import NOTHING, whole
from boolcomp.common.errors import BoolcompError

if TYPE_CHECKING:
    from boolcomp.checker.steps import Step

ABOUT = """
Check the certificate of the program in FOLDER (boolcomp compile ... --certify -o FOLDER) step by
step, from what was asked to the bounds of its errors. The exit code is 0 where all steps hold, 1
where one does not or nothing is known of it, 2 where the command is not understood.
"""


def main(arguments: list[str]) -> int:
    """Check the program in a folder; return the exit code."""
    parser = argparse.ArgumentParser("python -m boolcomp.checker", description=ABOUT)
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument(
        "--robot", metavar="FILE", help="robot or function file (TOML) that it must be of"
    )
    parser.add_argument(
        "--allow-conditions", action="store_true",
        help="accept bounds that hold while sums do not overflow that were not shown to fit",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON")
    try:
        said = parser.parse_args(arguments)
    except SystemExit as stop:  # help, or a command that is not understood
        return int(stop.code or 0)
    try:
        return _run(said)
    except BoolcompError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _run(said: argparse.Namespace) -> int:
    program = read_program(said.folder)
    steps: list[Step] = []
    asked = said.robot and Asked(read_text(Path(said.robot), MOST_BYTES), said.robot)
    for step in check_program(program, asked or None):
        steps.append(step)
        if not said.json:
            sys.stdout.write(f"{_line(step)}\n")
    holds = whole(steps, allow_conditions=said.allow_conditions)
    unverified = not_verified(program, confirmed=bool(asked))
    if said.json:
        found: dict[str, Any] = {
            "holds": holds,
            "not_verified": unverified,
            "described": described(program),
            "steps": [asdict(one) for one in steps],
        }
        sys.stdout.write(json.dumps(found, ensure_ascii=False) + "\n")
        return 0 if holds else 1
    if not steps:
        sys.stdout.write(f"{NOTHING}\n")
    sys.stdout.write("".join(f"not verified: {name}\n" for name in unverified))
    if program.certificate is not None and not asked:
        sys.stdout.write(f"{described(program)}\n")
    return 0 if holds else 1


def _line(step: Step) -> str:
    said = {True: "holds", False: "DOES NOT HOLD", None: "not known"}[step.holds]
    said = "holds on conditions" if step.conditional else said
    note = f": {step.note}" if step.note else ""
    return f"{step.name}: {said} ({step.method}, {step.cases} cases, {step.seconds:.2f} s){note}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
