"""Sections of certificates for tests: of a problem alone, with a sketch, or of a whole program."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from boolcomp.checker.container import Section, parse
from boolcomp.checker.folder import LoadFiles
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.compact.sketch.build import Form, build_sketch
from boolcomp.pipeline import compile_compact
from boolcomp.program.writing import HEAD, render_program
from boolcomp.proof.certificate.origin import origin_text
from boolcomp.proof.certificate.sketch import sketch_text
from boolcomp.proof.certificate.writing import certificate
from boolcomp.terms import split

if TYPE_CHECKING:
    from boolcomp.compact.sketch.sketch import Sketch
    from boolcomp.problem.problem import Problem


def section(text: str) -> Section:
    """Return a section of these lines."""
    return Section(tuple(text.splitlines()), 1)


def sketched(problem: Problem, form: Form | None = None, bits: int = 8) -> tuple[LoadFiles, Sketch]:
    """Return what a certificate says of a problem up to its sketch, and that."""
    words, steps = {one.name: bits for one in problem.inputs}, problem.steps(8)
    sketch = build_sketch(split(problem), words, steps, form)
    sections = {
        "origin": section(origin_text(problem, words)),
        "sketch": section(sketch_text(sketch, problem, steps)),
    }
    return LoadFiles(0, {}, {}, None, None, sections), sketch


@cache
def shipped(name: str = "machado-2r", bits: int = 8) -> LoadFiles:
    """Return the program that ships, with its certificate."""
    made = compile_compact(name, CompactChoices(usual_demand(bits)))
    document: dict[str, Any] = json.loads(render_program(made.program)[HEAD])
    (sections,) = parse(certificate(made.program, made.built)).loads
    graph = made.program.loads[0].graph
    return LoadFiles(0, document, document["loads"][0], graph, None, sections)


def with_line(load: LoadFiles, name: str, old: str, new: str) -> LoadFiles:
    """Return the same with a text in a section that is another one, once."""
    text = load.sections[name].text
    assert old in text, (name, old)
    return replace(load, sections={**load.sections, name: section(text.replace(old, new, 1))})
