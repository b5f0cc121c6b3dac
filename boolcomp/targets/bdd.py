"""The program of a processor that tests bits, as text (see `diagrams.image`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.targets.names import Names
from boolcomp.targets.target import design_of
from boolcomp.targets.walks import image_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from boolcomp.logic.diagram_machine import Image
    from boolcomp.program.program import Program
    from boolcomp.targets import Files, Options
    from boolcomp.targets.target import Design


def export_bdd(program: Program, load: float | None, options: Options) -> Files:
    """Return the program's instructions, what they read and what becomes of their words."""
    del options
    image = image_of(program, load)
    head = [*notes(design_of(program, load)), *sizes(image)]
    text = "".join(f"# {line}\n" for line in head)
    return {f"{Names(()).new(program.name, 'boolcomp')}.bdd": f"{text}{image}"}


def notes(design: Design) -> Iterator[str]:
    """Yield what there is to say of a program and of its words.

    No line begins with a user's name: tools take some words there for orders.
    """
    yield design.notes[0]
    for kind, ports in (("input", design.inputs), ("output", design.outputs)):
        for port in ports:
            yield f"{kind} {port.notes[0]}"
            yield from (f"  - {note}" for note in port.notes[1:])


def sizes(image: Image) -> Iterator[str]:
    """Yield how large a memory is, and how long its walks are."""
    leaves = len(image.instructions) - image.tests - image.jumps
    yield (
        f"{len(image.instructions)} instructions of {image.width} bits: {image.tests} tests, "
        f"{image.jumps} jumps, {leaves} leaves"
    )
    for load in range(len(image.loads)):
        which = f"load {load}: " if len(image.loads) > 1 else ""
        mean, worst = image.mean_cycles(load), image.worst_cycles(load)
        yield f"{which}{mean:.1f} cycles on the mean of all words, at most {worst}"
