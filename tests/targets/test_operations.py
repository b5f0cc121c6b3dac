"""What is printed in every language gives what the interpreter of its operations gives."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from exports import expected, kept, run_c, run_javascript, run_python, words_of
from targets.exported import arm, of_graph
from wordgraphs import random_graph

from boolcomp.engines import WordEngine, evaluate
from boolcomp.targets import export_texts, procedure_of
from boolcomp.words import MACHINES, interpret

if TYPE_CHECKING:
    from pathlib import Path

    from boolcomp.program import Program

RUNS: dict[str, Any] = {"python": run_python, "javascript": run_javascript, "c": run_c}
TOOLS = {"javascript": "node", "c": "gcc"}
COSTS = {"python": ["mcu32"], "javascript": ["mcu32"], "c": ["mcu8", "mcu32"]}
GIVEN = [*range(8), "export-pid", "export-formats", "2R"]


def program_of(given: int | str) -> Program:
    if isinstance(given, int):
        return of_graph("some", random_graph(given), output="z")
    return arm("compact", 8) if given == "2R" else kept(given)


@pytest.mark.slow
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("language", RUNS)
def test_code_gives_what_the_interpreter_gives(
    language: str, given: int | str, tmp_path: Path
) -> None:
    if language in TOOLS and not shutil.which(TOOLS[language]):
        pytest.skip(f"not installed: {TOOLS[language]}")
    for machine in COSTS[language]:
        program = replace(program_of(given), demand=f"target={machine}")
        words = words_of(program, 200)
        made = procedure_of(program, program.load(None), MACHINES[machine])
        values, marks = interpret(made.code, list(words.T))
        flags = sum(mark.astype(np.int64) << k for k, mark in enumerate(marks))
        wanted = np.column_stack([*values, flags])
        texts: Any = export_texts(program, language)
        if language == "c":
            found = run_c(texts, words, tmp_path, "gcc", "-O1", "-fsanitize=undefined")
        else:
            (text,) = texts.values()
            more = () if language == "python" else (tmp_path,)
            found = RUNS[language](str(text), words, *more)
        assert np.array_equal(found, wanted)
        assert np.array_equal(wanted, expected(program, words))


@pytest.mark.parametrize("given", GIVEN)
def test_native_code_gives_what_the_interpreter_gives(given: int | str) -> None:
    wiring = program_of(given).wiring(0.0)
    engine, count = WordEngine(wiring), 64
    rng = np.random.default_rng(1)
    arrays = [np.zeros((count, group.size), np.int64) for group in wiring.groups]
    inputs = []
    for port in wiring.ports:
        cells = rng.integers(port.given.first, port.code.cells, count)
        arrays[port.array][:, port.column] = port.given.word(cells)
        inputs.append(cells - (port.code.cells >> 1))
    for code, rows in ((engine.single, slice(0, 63)), (engine.lanes, slice(0, 64))):
        values, marks = interpret(code, [cells[rows] for cells in inputs])
        found = evaluate(engine, [array[rows] for array in arrays], coded=True)
        for word, value, result in zip(found.words.T, values, wiring.results, strict=True):
            assert np.array_equal(word, result.given.word(value + (result.code.cells >> 1)))
        assert found.saturated_outputs == sum(int(mark.sum()) for mark in marks)
