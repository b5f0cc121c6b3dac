"""The chain of a certificate: every section has a module that checks it, in this order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.checker import bound, cones, first, graph, lemmas, origin, sketch, tabled
from boolcomp.checker.container import NAME
from boolcomp.checker.steps import Step
from boolcomp.common.errors import BoolcompError, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.checker.folder import LoadFiles, ProgramFiles

DAMAGE = (
    ArithmeticError, AttributeError, IndexError, KeyError, MemoryError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
NO_CERTIFICATE = "there is none: compile with --certify"
LINKS = {
    "origin": origin.check,
    "sketch": sketch.check,
    "graph": graph.check,
    "cones": cones.check,
    "first": first.check,
    "lemmas": lemmas.check,
    "bound": bound.check,
}
TABLED = {"origin": origin.check, "terms": tabled.check}  # of paper mode, which has no graph


def check_program(program: ProgramFiles) -> Iterator[Step]:
    """Yield what is checked of a certificate; a section that is not there proves nothing."""
    if not program.certified:
        yield Step("certificate", "none", note=NO_CERTIFICATE)
        return
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
        try:
            for step in check(load):
                yield Step(
                    f"{step.name}{ending}", step.method, step.cases, step.seconds, step.holds,
                    step.note,
                )  # fmt: skip
        except BoolcompError as error:  # of what a section lacks
            yield Step(f"{name}{ending}", "reading", holds=False, note=str(error))
        except DAMAGE as error:  # numbers that nothing was made for: what follows is not believed
            note = f"it cannot be checked: {type(error).__name__}: {error}"
            yield Step(f"{name}{ending}", "reading", holds=False, note=cut(note, 200))
