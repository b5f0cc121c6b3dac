"""Printed programs calculate what `Straight.evaluate` does."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from boolcomp.problem import Straight, Tape, statements

STATES = np.concatenate([
    np.random.default_rng(1).uniform(-9, 9, (300, 2)), [[0.0, 0.0], [-0.0, 1.0]]
])  # fmt: skip


def every_operation() -> Straight:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    made = [x + y, x - y, x * y, x / (y * y + 1.0), -x, tape.arc(y, x), x * -2.5]
    made += [tape.function(kind, x) for kind in ("sin", "cos", "sign", "exp", "atan", "tanh")]
    made += [tape.function(kind, x) for kind in ("abs", "step", "wrap")]
    made += [tape.function(kind, x * x + 0.5) for kind in ("sqrt", "log")]
    made += [tape.function(kind, tape.sine(x)) for kind in ("asin", "acos")]
    return tape.finish([(f"z{k}", one) for k, one in enumerate([*made, tape.constant(-2.5)])])


STEPS = every_operation()
WANTED = np.stack(STEPS.evaluate(list(STATES.T)), axis=1)


def agrees(found: object) -> bool:
    return np.allclose(np.asarray(found, np.float64), WANTED, rtol=1e-13, atol=1e-15)


def test_python_calculates_the_same() -> None:
    lines, results = statements(STEPS, ["x", "y"], "python")
    body = "\n".join([*lines, f"found = [{', '.join(results)}]"])
    rows = []
    for x, y in STATES.tolist():
        space = {**vars(math), "abs": abs, "x": x, "y": y}
        exec(body, space)  # noqa: S102 (our own text)
        rows.append(space["found"])
    assert agrees(rows)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_calculates_the_same(tmp_path: Path) -> None:
    lines, results = statements(STEPS, ["x", "y"], "c")
    prints = [f'printf("%.17g ", (double)({one}));' for one in results]
    head = ["#include <math.h>", "#include <stdio.h>", "int main(void) {", "double x, y;"]
    loop = 'while (scanf("%lf %lf", &x, &y) == 2) {'
    text = "\n".join([*head, loop, *lines, *prints, "}", "return 0;", "}", ""])
    (tmp_path / "all.c").write_text(text)
    program = str(tmp_path / "all")
    subprocess.run(["cc", str(tmp_path / "all.c"), "-o", program, "-lm"], check=True)  # noqa: S607
    given = "\n".join(f"{x!r} {y!r}" for x, y in STATES.tolist())
    done = subprocess.run([program], input=given, capture_output=True, text=True, check=True)
    assert agrees(np.reshape(done.stdout.split(), WANTED.shape))


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
def test_javascript_calculates_the_same(tmp_path: Path) -> None:
    lines, results = statements(STEPS, ["x", "y"], "javascript")
    body = "\n".join([*lines, f"return [{', '.join(results)}];"])
    text = f"{STATES.tolist()}.map(([x, y]) => {{\n{body}\n}})"
    (tmp_path / "f.js").write_text(f"console.log(JSON.stringify({text}));")
    done = subprocess.run(
        ["node", str(tmp_path / "f.js")],  # noqa: S607 (as users start it)
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert agrees(json.loads(done.stdout))
