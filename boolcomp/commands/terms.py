"""`boolcomp terms`: the torques, or another function, as sums of terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.files import write_output
from boolcomp.commands.options import (
    command_text,
    json_option,
    options,
    page_option,
    print_result,
    source_argument,
    wants_json,
)

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.options import GivenOptions
    from boolcomp.terms.extract import Terms


@click.command("terms", epilog="Example: boolcomp terms machado-2r --form products")
@source_argument
@options("function")
@click.option(
    "--form", default="grouped", show_default=True, help="grouped, amplitude-phase or products."
)
@page_option
@json_option
def command(robot: str, form: str, *, options: GivenOptions, page: Path | None) -> None:
    """Print the torques of ROBOT, or another function of it, as sums of terms.

    ROBOT may be a function file; outputs that are not sums of harmonics are printed as calculation
    steps. Grouped: one term per speed or acceleration factor. Amplitude-phase: one per factor and
    angle sum. Products: one per factor and monomial in sines and cosines.
    """
    from boolcomp.problem.sources import problem_of
    from boolcomp.terms.extract import split

    terms = split(problem_of(robot, options.of), form)
    if page is not None:
        from boolcomp.measure.stages import terms_page

        line = command_text("terms", robot, options.of, f"--form {form}")
        write_output(page, terms_page(terms, line))
    print_result(_document(terms) if wants_json() else None, str(terms))


def _document(terms: Terms) -> dict[str, Any]:
    from boolcomp.terms.extrema import amplitude

    return {
        "robot": terms.problem.name,
        "form": terms.form,
        "prepared": [] if terms.prepared is None else str(terms.prepared).splitlines(),
        "steps": [] if terms.outputs else str(terms.steps).splitlines(),
        "joints": [
            {
                "joint": joint,
                "terms": [
                    {
                        "name": term.name,
                        "expression": str(term),
                        "amplitude": amplitude(term).value,
                        "amplitude_bound": amplitude(term).bound,
                        "parity": {v.name: term.parity(v) for v in term.variables},
                        "reflections": {
                            v.name: [{"point": p, "sign": s} for p, s in term.reflections(v)]
                            for v in term.variables
                        },
                    }
                    for term in several
                ],
            }
            for joint, several in enumerate(terms.outputs, 1)
        ],
    }
