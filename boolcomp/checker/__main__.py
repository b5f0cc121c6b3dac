"""`python -m boolcomp.checker FOLDER`: check the certificate of a saved program, and nothing else.

A line for every step; the exit code is 0 where all hold, 1 where one does not or is not known.
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
from boolcomp.checker.claim import Asked, check_same, described, not_verified
from boolcomp.checker.folder import (
    DAMAGE,
    MOST_BYTES,
    NAME,
    NOTHING,
    Step,
    printable,
    read_program,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, ProgramFiles


# --------------------------------------------------------------------------------------------------
# The chain of a certificate: every section has a module that checks it, in this order.
# --------------------------------------------------------------------------------------------------


NO_CERTIFICATE = "there is none: compile with --certify"
LINKS = {
    "origin": problem.check_origin,
    "sketch": problem.check_sketch,
    "graph": graph.check_graph,
    "cones": network.check_cones,
    "first": network.check_first,
    "lemmas": lemmas.check_lemmas,
    "bound": bound.check_bound,
}
TABLED = {
    "origin": problem.check_origin,
    "terms": tabled.check_tabled,
}  # of paper mode, which has no graph


def check_program(program: ProgramFiles, asked: Asked | None = None) -> Iterator[Step]:
    """Yield what is checked of a certificate; a section that is not there proves nothing.

    What is `asked` is a robot or a function of which the certificate must speak.
    """
    if program.certificate is None:
        yield Step("certificate", "none", note=NO_CERTIFICATE)
        return
    yield from _guarded("claim", claim.check_claim(program))
    if asked is not None:
        for load in program.loads:
            yield from _guarded("file", check_same(load, asked))
    for load in program.loads:
        yield from check_load(load, f", load {load.place}" if len(program.loads) > 1 else "")


def check_load(load: LoadFiles, ending: str = "") -> Iterator[Step]:
    """Yield what is checked of one load."""
    for name, check in (LINKS if load.graph else TABLED).items():
        if name == "cones" and name not in load.sections:  # the network is its graph's
            continue
        if name not in load.sections:
            yield Step(f"{name}{ending}", "none", note=f"{NAME} has no section {name!r}")
            continue
        for step in _guarded(name, check(load)):
            yield replace(step, name=f"{step.name}{ending}")


def _guarded(name: str, steps: Iterator[Step]) -> Iterator[Step]:
    """Yield steps, and one that does not hold in place of an error."""
    try:
        for step in steps:
            yield replace(step, note=printable(step.note))
    except BoolcompError as error:  # of what a section lacks
        yield Step(name, "reading", holds=False, note=printable(str(error)))
    except DAMAGE as error:  # numbers that nothing was made for: what follows is not believed
        note = f"it cannot be checked: {type(error).__name__}: {error}"
        yield Step(name, "reading", holds=False, note=printable(cut(note, 200)))


# --------------------------------------------------------------------------------------------------
# `python -m boolcomp.checker FOLDER`: check the certificate of a saved program, and nothing else.
# --------------------------------------------------------------------------------------------------


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
