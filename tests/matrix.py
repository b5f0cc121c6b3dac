"""The matrix of exports: every export of a program, built without a warning, run and compared.

Tests run it with few words, `benchmarks/every_export.py` with a million.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from exports import expected, run_c, run_javascript, run_python, run_sliced, words_of

import boolcomp as bc
from boolcomp.measure import SIMULATIONS, Check, read_back, simulated, word_checks
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts, netlist_of

SECONDS = 120.0
INTERPRETED = 20_000  # words, of languages that take microseconds for each
WIDEST_PLA = 16


def matrix(program: Program, count: int) -> Iterator[Check]:
    """Yield what is checked of every export of a program, simulations with so many words."""
    wanted, _ = netlist_of(program, None)
    for target in ("blif", "aiger", "aiger-ascii", "verilog"):
        yield read_back(program, None, target, 0, wanted, SECONDS)
    yield read_back(program, None, "verilog", 4, wanted, SECONDS)
    yield from word_checks(program, None, lambda _: None)
    graphs = all(load.graph is not None for load in program.loads)
    for one in SIMULATIONS:
        if one.level == "gates" or graphs:
            name = f"{one.target} {one.level}, {one.pipeline} stages"
            if shutil.which(one.tool) is None:
                yield Check(name, one.name, note=f"{one.tool} is not installed", skipped=True)
                continue
            options = ExportOptions(one.level, one.pipeline, one.bench)
            yield simulated(name, one, export_texts(program, one.target, None, options), SECONDS)
    yield from code_checks(program, count)


def code_checks(program: Program, count: int) -> Iterator[Check]:
    """Yield what programs in C, Python and JavaScript make of words beside an engine."""
    load = program.loads[0].payload
    words = words_of(program, count)
    made = expected(program, words, load)
    graphs = program.loads[0].graph is not None
    few = min(len(words), INTERPRETED)
    level: Any = "words" if graphs else "gates"
    for compiler in ("gcc", "clang"):
        if graphs:
            yield _run("c", compiler, words, made, lambda w, f, c=compiler: run_c(  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                export_texts(program, "c", load), w, f, c))  # fmt: skip
    yield _run("c-sliced", "gcc", words, made,
               lambda w, f: run_sliced(
                   dict(export_texts(program, "c-sliced", load)), w, f))  # fmt: skip
    text = next(iter(export_texts(program, "python", load, ExportOptions(level)).values()))
    yield _run(
        f"python {level}", "", words[:few], made[:few], lambda w, _: run_python(str(text), w)
    )
    script = next(iter(export_texts(program, "javascript", load, ExportOptions(level)).values()))
    yield _run(f"javascript {level}", "node", words[:few], made[:few],
               lambda w, f: run_javascript(str(script), w, f))  # fmt: skip
    yield _pla(program, load)


def _run(name: str, tool: str, words: Any, made: Any, run: Callable[[Any, Path], Any]) -> Check:
    if tool and shutil.which(tool) is None:
        return Check(name, tool, note=f"{tool} is not installed", skipped=True)
    start = time.perf_counter()
    with TemporaryDirectory() as folder:
        found = run(words, Path(folder))
    wrong = int((found != made).any(axis=1).sum())
    seconds = time.perf_counter() - start
    return Check(name, tool, len(words), seconds, wrong == 0, f"{wrong} wrong" if wrong else "")


def _pla(program: Program, load: float) -> Check:
    """Compare all rows of a PLA with the logic; a program of too many input bits has none."""
    bits = [word.code.bits for word in program.inputs]
    try:
        files = export_texts(program, "pla", load)
    except bc.UsageError as error:
        return Check("pla", "all words", note=str(error), skipped=True)
    if len(files) > 1 or sum(bits) > WIDEST_PLA:
        return Check("pla", "all words", note="a table a term: compared elsewhere", skipped=True)
    start = time.perf_counter()
    rows = np.arange(1 << sum(bits), dtype=np.int64)
    ends = np.cumsum(bits)
    words = np.stack(
        [rows >> (sum(bits) - end) & ((1 << n) - 1) for end, n in zip(ends, bits, strict=True)],
        axis=1,
    )
    wanted = expected(program, words, load)
    outputs = [output.code.bits for output in program.load(load).outputs]
    text = str(next(iter(files.values())))
    made = np.zeros((len(rows), 0), np.int64)
    for line in text.splitlines():
        cube = line.split()
        if len(cube) != 2 or set(line) - set("01-~ "):
            continue
        made = made if made.size else np.zeros((len(rows), len(cube[1])), np.int64)
        inside = np.ones(len(rows), np.bool_)
        for k, letter in enumerate(reversed(cube[0])):
            if letter != "-":
                inside &= (rows >> k & 1) == int(letter)
        made[inside] |= np.array([letter == "1" for letter in cube[1]], np.int64)
    place, wrong = 0, 0
    for k, n in enumerate(outputs):
        value = made[:, place : place + n] @ (1 << np.arange(n)[::-1])
        wrong += int(np.count_nonzero(value != wanted[:, k]))
        place += n
        if made.shape[1] > sum(outputs):  # flags of saturation stand between
            place += 1
    seconds = time.perf_counter() - start
    return Check(
        "pla", "all words", len(rows), seconds, wrong == 0, f"{wrong} wrong" if wrong else ""
    )
