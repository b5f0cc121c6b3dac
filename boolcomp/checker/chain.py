"""The chain of a certificate: every section has a module that checks it, in this order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.checker import bound, claim, cones, graph, lemmas, network, origin, problem, tabled
from boolcomp.checker.container import NAME
from boolcomp.checker.same import check_same
from boolcomp.checker.steps import DAMAGE, Step, printable
from boolcomp.common.errors import BoolcompError, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, ProgramFiles
    from boolcomp.checker.same import Asked

NO_CERTIFICATE = "there is none: compile with --certify"
LINKS = {
    "origin": origin.check_origin,
    "sketch": problem.check_sketch,
    "graph": graph.check_graph,
    "cones": cones.check_cones,
    "first": network.check_first,
    "lemmas": lemmas.check_lemmas,
    "bound": bound.check_bound,
}
TABLED = {
    "origin": origin.check_origin,
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
