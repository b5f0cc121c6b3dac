"""Small programs with certificates, sections of them, and folders damaged and sealed anew."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from boolcomp.checker import CertificateSection, LoadFiles, check_program, parse, read_program
from boolcomp.compact import CompactChoices, Formulation, build_sketch, usual_demand
from boolcomp.pipeline import compile_compact
from boolcomp.problem import Problem
from boolcomp.program import HEAD, Program, render_program, sealed
from boolcomp.proof import origin_text, sketch_text
from boolcomp.terms import split


@cache
def certified(bits: int = 4, name: str = "machado-2r", proof: Any = "plain") -> Program:
    """Return the paper's arm, from the results that ship, with its certificate."""
    choices = CompactChoices(usual_demand(bits), proof=proof, certify=True)
    return compile_compact(name, choices).program


def load_of(program: Program) -> LoadFiles:
    """Return the only load of a program as the checker reads it, without its network."""
    document: dict[str, Any] = json.loads(render_program(program)[HEAD])
    (sections,) = parse(program.certificate).loads
    return LoadFiles(0, document, document["loads"][0], program.loads[0].graph, None, sections)


def shipped(name: str = "machado-2r", bits: int = 8) -> LoadFiles:
    """Return the program that ships, with its certificate."""
    return load_of(certified(bits, name))


def section(text: str) -> CertificateSection:
    return CertificateSection(tuple(text.splitlines()), 1)


def sketched(problem: Problem, form: Formulation | None = None, bits: int = 8) -> LoadFiles:
    """Return what a certificate says of a problem up to its sketch."""
    words, steps = {one.name: bits for one in problem.inputs}, problem.steps(8)
    sketch = build_sketch(split(problem), words, steps, form)
    sections = {
        "origin": section(origin_text(problem, words)),
        "sketch": section(sketch_text(sketch, problem, steps)),
    }
    return LoadFiles(0, {}, {}, None, None, sections)


def with_line(load: LoadFiles, name: str, old: str, new: str) -> LoadFiles:
    """Return the same with a text in a section that is another one, once."""
    text = load.sections[name].text
    assert old in text, (name, old)
    return replace(load, sections={**load.sections, name: section(text.replace(old, new, 1))})


def changed(folder: Path, file: str, change: Callable[[str], str]) -> None:
    """Change a text of a saved program; all its checksums are right again."""
    path = folder / file
    text = path.read_text("utf-8")
    new = change(text)
    assert new != text
    path.write_text(new, "utf-8")
    seal(folder)


def seal(folder: Path) -> None:
    """Write the checksums of the files that are there."""
    head = folder / HEAD
    document = json.loads(head.read_text("utf-8"))
    files = {name: (folder / name).read_text("utf-8") for name in document["files"]}
    head.write_text(sealed(document, files), "utf-8")


def steps(folder: Path) -> dict[str, Any]:
    """Return the steps of a folder's certificate by the first words of their names."""
    return {one.name.partition(":")[0]: one for one in check_program(read_program(folder))}


def value(space: Any, of: Any, at: Mapping[str, float]) -> float:
    """Return a sum at a state."""
    found = 0j
    for key, c in of.parts.items():
        factors = (
            complex(np.exp(1j * k * at[one.name])) if one.angle else at[one.name] ** k
            for one, k in space.exponents(key)
        )
        found += complex(c) * math.prod(factors)
    assert abs(found.imag) < 1e-9 * (1 + abs(found.real))
    return float(found.real)
