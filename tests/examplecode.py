"""The code `signed-gray` of where-to-change.md in use; `test_docs` runs this in a patched copy."""

import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matrix import code_checks

import boolcomp as bc
from boolcomp.measure import SIMULATIONS, simulated
from boolcomp.program import Program
from boolcomp.targets import ExportOptions, export_texts

HALF = 8
WORDS = {"one": "signed-gray:4", "two": "signed-gray:4", "result": "signed-gray:4:tread"}


def word_of(cell: int) -> int:
    """Return the word of a cell by its definition: the Gray code of a two's complement number."""
    number = (cell - HALF) % (2 * HALF)
    return number ^ number >> 1


def compare(program: Program, zero: float) -> None:
    """Compare words and values of all engines with exact decoding, bounds and simulations."""
    cells = np.argsort([word_of(cell) for cell in range(2 * HALF)])
    x, y = (one.ravel() for one in np.meshgrid(range(2 * HALF), range(2 * HALF)))
    values = [(cells[words] + 0.5) / HALF - 1 for words in (x, y)]
    wanted, code = values[0] * values[1] - values[1], program.outputs[0].code
    for engine in ("numpy", "llvm", "bdd" if program.mode == "paper" else "words"):
        found = program.evaluate_words(x, y, engine=engine)
        decoded = code.range.low + (cells[found.words[:, 0]] + zero) * code.step
        assert np.array_equal(found.values[:, 0], decoded), engine
        assert np.all(np.abs(decoded - wanted) <= program.bound[0]), engine
        assert np.array_equal(program.evaluate(*values, engine=engine).words, found.words), engine
    checks = list(code_checks(program, 256))
    for one in SIMULATIONS:
        if shutil.which(one.tool) and (one.level == "gates" or program.graph):
            options = ExportOptions(one.level, one.pipeline, one.bench)
            files = export_texts(program, one.target, None, options)
            checks.append(simulated(one.tool, one, files, 120))
    for check in checks:
        assert check.holds or check.skipped, check


def main(folder: Path) -> None:
    """Compile in both modes, and check what is read from disk."""
    ways: dict[str, dict[str, Any]] = {
        "paper": {"code": "signed-gray", "bits": 4, "minimizer": "isop"},
        "compact": {"words": WORDS, "effort": 0, "rms_error": 1.0},
    }
    unit = bc.word(-1, 1)
    for mode, options in ways.items():
        made: Program = bc.compile(
            lambda one, two: one * two - two,
            inputs={"one": unit, "two": unit},
            outputs={"result": bc.word(-2, 2)},
            **{"mode": mode, "name": "product", "processes": 1, **options},
        )
        made.save(folder / mode)
        compare(bc.load_program(folder / mode), 0.5 if mode == "paper" else 0.0)


main(Path(sys.argv[1]))
