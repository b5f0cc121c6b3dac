"""The words of a program, in C, as a design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.cycles.design import Design, Row
from boolcomp.targets import export_texts
from boolcomp.targets.c import c_procedure
from boolcomp.targets.c_header import loads_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.measure.cycles.subject import Subject
    from boolcomp.program.parts import Load
    from boolcomp.program.program import Program

WORDS_NAME = "words"
JUDGED = 200_000  # states of which the rms error is taken


def words_design(subject: Subject) -> Design:
    """Return a program's words in C with seeded rows, as its logic makes them.

    Without a problem the rms errors are those that the program knows of itself.
    """
    program = subject.program
    ((function, load),) = loads_of(program, subject.payload)
    procedure = c_procedure(program, load)
    given = tuple(x.parameter for x in procedure.inputs)
    made = tuple(x.result for x in procedure.outputs)
    files = {name: str(text) for name, text in export_texts(program, "c", subject.payload).items()}
    codes = [*(word.code for word in program.inputs), *(word.code for word in load.outputs)]
    widest = max(code.bits for code in codes)
    words = drawn(program, subject.states, subject.seed)
    rows = np.column_stack([words, logic(program, load, words)]).tolist()
    return Design(
        WORDS_NAME, function, files, given, made, "uint16_t" if widest <= 16 else "uint32_t",
        tuple(map(tuple, rows)), (), rms(subject),
    )  # fmt: skip


def drawn(program: Program, count: int, seed: int) -> NDArray[np.int64]:
    """Return seeded words of all inputs, (samples, inputs)."""
    bits = np.array([word.code.bits for word in program.inputs])
    rng = np.random.default_rng(seed)
    return rng.integers(0, 1 << bits, (count, len(bits)), dtype=np.int64)


def logic(program: Program, load: Load, words: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the words of all outputs, as the program's logic makes them."""
    columns = {word.name: words[:, k] for k, word in enumerate(program.inputs)}
    none = np.zeros(len(words), np.int64)
    arrays = [
        np.stack([columns.get(name, none) for name in group.members], axis=1)
        for group in program.groups
    ]
    found = program.evaluate_words(*arrays, payload=load.payload, engine="numpy")
    return found.words.astype(np.int64)


def rms(subject: Subject) -> Row | None:
    """Return the rms errors of all outputs, in last bits of their words."""
    problem, outputs = subject.problem, subject.load.outputs
    if problem is None:
        known = [output.errors for output in outputs]
        if any(errors is None for errors in known):
            return None
        pairs = zip(known, subject.steps, strict=True)
        return tuple(errors.rms / step for errors, step in pairs if errors is not None)
    states = problem.draw(JUDGED, subject.seed)
    found = subject.program.evaluate(*states, payload=subject.payload).values
    return in_steps(found - problem.reference(*states), subject.steps)


def in_steps(errors: NDArray[np.float64], steps: Sequence[float]) -> Row:
    """Return rms errors in last bits."""
    return tuple(float(x) for x in np.sqrt((errors**2).mean(axis=0)) / np.array(steps))
