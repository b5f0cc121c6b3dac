"""`python -m boolcomp.checker FOLDER`: check the certificate of a saved program, and nothing else.

A line for every step; the exit code is 0 where all hold, 1 where one does not or is not known.
"""

from __future__ import annotations

import sys

from boolcomp.checker.chain import check_program
from boolcomp.checker.folder import read_program
from boolcomp.common.errors import BoolcompError

USAGE = "usage: python -m boolcomp.checker FOLDER"
ABOUT = """
Check the certificate of the program in FOLDER (boolcomp compile ... --certify -o FOLDER) step by
step, from what was asked to the bounds of its errors. The exit code is 0 where all steps hold, 1
where one does not or nothing is known of it, 2 where the command is not understood.
"""


def main(arguments: list[str]) -> int:
    """Check the program in a folder; return the exit code."""
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(f"{USAGE}\n{ABOUT}")
        return 0
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write(f"{USAGE}\n")
        return 2
    holds = True
    try:
        for step in check_program(read_program(arguments[0])):
            said = {True: "holds", False: "DOES NOT HOLD", None: "not known"}[step.holds]
            note = f": {step.note}" if step.note else ""
            sys.stdout.write(
                f"{step.name}: {said} ({step.method}, {step.cases} cases, {step.seconds:.2f} s)"
                f"{note}\n"
            )
            holds &= step.holds is True
    except BoolcompError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
