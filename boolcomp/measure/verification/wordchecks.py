"""Verilog of words against the word graph, word by word: by cut points.

Every word that a comment claims for a signal is proved from the signals of the words that it reads,
whatever these are: sums and products as polynomials over their bits, tables and codes by all of
their words. What a word is that no signal has follows from its own rule. So the module is the
graph.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.common.errors import BoolcompError
from boolcomp.measure.verification.wordvalues import simulated_module
from boolcomp.measure.verify import STAGES, Check
from boolcomp.measure.verify_text import read_words
from boolcomp.measure.verify_words import GraphProof, NotProvedError
from boolcomp.targets import Options, export_texts
from boolcomp.targets.gates import gates_of
from boolcomp.targets.target import design_of
from boolcomp.targets.vectors import COUNT, vectors
from boolcomp.targets.verilog import VERILOG_SYNTAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from boolcomp.measure.verification.wordformula import Described
    from boolcomp.program.program import Program


def word_checks(
    program: Program, load: float | None, step: Callable[[str], None]
) -> Iterator[Check]:
    """Yield what is checked of Verilog of words; of a program without a word graph nothing."""
    loads = program.loads if load is None else (program.load(load),)
    if all(one.graph is not None and one.joint is not None for one in loads):
        for pipeline in (0, STAGES):
            step("verilog words")
            yield from words_read_back(program, load, pipeline)


def words_read_back(program: Program, load: float | None, pipeline: int) -> list[Check]:
    """Write a program's words as Verilog, read them, and compare them with graph and engine."""
    options = Options("words", pipeline)
    ((file, text),) = export_texts(program, "verilog", load, options).items()
    ending = f", {pipeline} stages" if pipeline else ""
    return words_compared(program, load, file, str(text), ending)


def words_compared(
    program: Program, load: float | None, file: str, text: str, ending: str = ""
) -> list[Check]:
    """Compare a module of words with a program: its graph word by word, an engine on vectors."""
    name = f"verilog words{ending}"
    start = time.perf_counter()
    try:
        module = read_words(text, file)
    except BoolcompError as error:
        seconds = time.perf_counter() - start
        return [Check(f"{name} read back", "reading", 0, seconds, holds=False, note=str(error))]
    found = [_against_graph(program, load, module, name)]
    return [*found, _against_engine(program, load, module, f"{name} against engine")]


def _against_graph(program: Program, load: float | None, module: Described, name: str) -> Check:
    start = time.perf_counter()
    loads = program.loads if load is None else (program.load(load),)
    cases, notes, holds = 0, [], True
    ports = design_of(program, load).outputs
    try:
        for place, one in enumerate(loads):
            proof = GraphProof(program, one, module, place if len(loads) > 1 else None)
            proof.prove(ports)
            cases += proof.cases
            notes += [note for note in proof.notes if note not in notes]
    except NotProvedError as error:
        holds, notes = False, [str(error)]
    seconds = time.perf_counter() - start
    return Check(
        f"{name} against word graph", "cut points", cases, seconds, holds, "; ".join(notes)
    )


def _against_engine(program: Program, load: float | None, module: Described, name: str) -> Check:
    """Compare what a module says of some words with what the portable engine makes of them."""
    start = time.perf_counter()
    frame = gates_of(design_of(program, load), VERILOG_SYNTAX, 0)
    try:
        found = vectors(program, load, frame)
    except BoolcompError as error:
        return Check(name, "random words", note=str(error), skipped=True)
    given = _columns(found.given, [(pin.name, pin.port.bits) for pin in frame.inputs])
    wanted = _columns(found.wanted, [(pin.name, pin.port.bits) for pin in frame.outputs])
    wrong = np.zeros(len(found.given), np.bool_)
    for pin, column in wanted.items():
        if pin in module.made:
            wrong |= simulated_module(module, given, pin) != column
    holds = wanted.keys() <= module.made.keys() and np.flatnonzero(wrong).tolist() == [found.wrong]
    note = "one of them wrong on purpose, and found so" if holds else "they differ"
    return Check(name, "random words", COUNT, time.perf_counter() - start, holds, note)


def _columns(rows: tuple[str, ...], pins: list[tuple[str, int]]) -> dict[str, NDArray[np.int64]]:
    columns, place = {}, 0
    for name, bits in pins:
        columns[name] = np.array([int(row[place : place + bits], 2) for row in rows], np.int64)
        place += bits
    return columns
