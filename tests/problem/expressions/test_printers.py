"""Printed programs calculate what `Straight.evaluate` does."""

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from boolcomp.problem import Straight, Tape
from boolcomp.problem.algebra import RULES
from boolcomp.problem.printers import PYTHON, C, statements

STATES = np.random.default_rng(1).uniform(-9, 9, (300, 2))


def every_operation() -> Straight:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    places = {"sqrt": x * x, "log": x * x + 0.5, "asin": tape.sine(x), "acos": tape.sine(x)}
    made = {
        kind: tape.function(kind, *(x, y * y + 1.0)[: rule.arity])
        if kind not in places
        else tape.function(kind, places[kind])
        for kind, rule in RULES.items()
    }
    return tape.finish([*made.items(), ("constant", tape.constant(-2.5)), ("scaled", x * -2.5)])


STEPS = every_operation()
WANTED = np.stack(STEPS.evaluate(list(STATES.T)), axis=1)


def test_python_calculates_the_same() -> None:
    lines, results = statements(STEPS, ["x", "y"], PYTHON)
    body = "\n".join([*lines, f"found = [{', '.join(results)}]"])
    for (x, y), wanted in zip(STATES, WANTED, strict=True):
        space = {**vars(math), "abs": abs, "x": float(x), "y": float(y)}
        exec(body, space)  # noqa: S102 (our own text)
        assert np.allclose(space["found"], wanted, rtol=1e-13, atol=1e-15)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_calculates_the_same(tmp_path: Path) -> None:
    lines, results = statements(STEPS, ["x", "y"], C)
    prints = [f'printf("%.17g ", (double)({one}));' for one in results]
    head = ["#include <math.h>", "#include <stdio.h>", "int main(void) {", "double x, y;"]
    loop = 'while (scanf("%lf %lf", &x, &y) == 2) {'
    text = "\n".join([*head, loop, *lines, *prints, "}", "return 0;", "}", ""])
    (tmp_path / "all.c").write_text(text)
    program = str(tmp_path / "all")
    subprocess.run(["cc", str(tmp_path / "all.c"), "-o", program, "-lm"], check=True)  # noqa: S607
    given = "\n".join(f"{x!r} {y!r}" for x, y in STATES.tolist())
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
    found = np.array(done.stdout.split(), np.float64).reshape(WANTED.shape)
    assert np.allclose(found, WANTED, rtol=1e-13, atol=1e-15)
