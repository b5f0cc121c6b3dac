"""Recording: what folds, what is shared, and that values stay what they were."""

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import boolcomp as bc
from boolcomp.problem import (
    Operations,
    Straight,
    Tape,
    statements,
)

STEPS = st.lists(
    st.tuples(st.sampled_from("+-*~c"), st.integers(0, 30), st.integers(0, 30)), max_size=25
)
KNOWN = (0.0, 1.0, -1.0, 2.0, -3.0)


def run(steps: list[tuple[str, int, int]], values: list[Any], known: Any) -> Any:
    """Calculate with anything: floats and wires alike."""
    for kind, left, right in steps:
        a, b = values[left % len(values)], values[right % len(values)]
        if kind == "c":
            values.append(known(KNOWN[left % len(KNOWN)]))
        elif kind == "~":
            values.append(-a)
        else:
            values.append(a + b if kind == "+" else a - b if kind == "-" else a * b)
    return values[-1]


@given(steps=STEPS, fold=st.booleans(), shared=st.booleans())
def test_whatever_is_simplified_the_value_stays(
    steps: list[tuple[str, int, int]], *, fold: bool, shared: bool
) -> None:
    tape = Tape(fold=fold, shared=shared)
    x, y = 0.75, -1.25
    wire = run(steps, [tape.input("x"), tape.input("y")], tape.constant)
    expected = run(steps, [x, y], float)
    (found,) = tape.finish([("z", wire)]).evaluate([x, y])
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12) or not math.isfinite(expected)


def recorded(expression: Any, *, fold: bool = True) -> Straight:
    tape = Tape(fold=fold)
    return tape.finish([("z", expression(tape, tape.input("x"), tape.input("y")))])


@pytest.mark.parametrize(("expression", "operations"), [
    (lambda _t, x, y: x * 0.0 + y, Operations()),
    (lambda _t, x, y: x * 1.0 - y * -1.0, Operations(0, 1)),
    (lambda _t, x, y: -1.0 * (-x) * y, Operations(1, 0)),
    (lambda _t, x, y: (x * y) + (y * x), Operations(1, 1)),
    (lambda _t, x, y: (x - y) * (y - x), Operations(1, 1)),
    (lambda _t, x, _y: 2.0 * (3.0 * x), Operations(1, 0)),
    (lambda _t, x, y: (x * -2.0) + (x * 2.0) * y, Operations(2, 1)),
    (lambda t, x, y: t.sine(t.constant(math.pi)) * x + y, Operations()),
    (lambda t, x, _y: t.root(t.constant(4.0)) / t.constant(2.0) * x, Operations()),
    (lambda _t, x, y: x / 4.0 + (-x) / (-y), Operations(1, 1, 1)),
    (lambda t, x, y: 0.0 / x + t.sign(y), Operations(functions=1)),
])  # fmt: skip
def test_known_numbers_signs_and_repetitions_cost_nothing(
    expression: Any, operations: Operations
) -> None:
    assert recorded(expression).operations == operations


def test_without_sharing_every_task_makes_its_own() -> None:
    counts = []
    for shared in (True, False):
        tape = Tape(shared=shared)
        x = tape.input("x")
        outputs = []
        for name in ("a", "b"):
            with tape.task(name):
                outputs.append((name, x * x + x * x))
        counts.append(tape.finish(outputs).operations)
    assert counts == [Operations(1, 1), Operations(2, 2)]


@pytest.mark.parametrize(("expression", "said"), [
    (lambda _t, x, y: x * y / 0.0, "divides by zero for all inputs"),
    (lambda t, _x, _y: t.constant(1.0) / t.constant(0.0), "divides by zero for all inputs"),
    (lambda t, _x, _y: t.root(t.constant(-4.0)), "the root of -4 for all inputs"),
])  # fmt: skip
def test_impossible_known_numbers_get_a_sentence(expression: Any, said: str) -> None:
    with pytest.raises(bc.DataError, match=said):
        recorded(expression)


def small() -> Straight:
    tape = Tape()
    x, y = tape.input("x"), tape.input("y")
    with tape.task("a"):
        product = x * y
    with tape.task("b"):
        return tape.finish([("s", product + tape.sine(tape.input("x"))), ("p", product), ("x", x)])


def test_a_program_evaluates_columns_and_scalars() -> None:
    x, y = np.array([0.0, 1.0, 2.0]), 3.0
    s, p, same = small().evaluate([x, y])
    for found, expected in ((s, x * y + np.sin(x)), (p, x * y), (same, x)):
        assert np.array_equal(found, expected)
    (zero,) = recorded(lambda t, _x, _y: t.constant(0.0)).evaluate([np.ones(4), y])
    assert np.array_equal(zero, np.zeros(4))  # of the shape of the columns
    with pytest.raises(bc.UsageError, match="1 columns given for x, y"):
        small().evaluate([1.0])


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


EVERY_STEP = every_operation()
WANTED = np.stack(EVERY_STEP.evaluate(list(STATES.T)), axis=1)


def agrees(found: object) -> bool:
    return np.allclose(np.asarray(found, np.float64), WANTED, rtol=1e-13, atol=1e-15)


def test_python_calculates_the_same() -> None:
    lines, results = statements(EVERY_STEP, ["x", "y"], "python")
    body = "\n".join([*lines, f"found = [{', '.join(results)}]"])
    rows = []
    for x, y in STATES.tolist():
        space = {**vars(math), "abs": abs, "x": x, "y": y}
        exec(body, space)  # noqa: S102 (our own text)
        rows.append(space["found"])
    assert agrees(rows)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_c_calculates_the_same(tmp_path: Path) -> None:
    lines, results = statements(EVERY_STEP, ["x", "y"], "c")
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
    lines, results = statements(EVERY_STEP, ["x", "y"], "javascript")
    body = "\n".join([*lines, f"return [{', '.join(results)}];"])
    text = f"{STATES.tolist()}.map(([x, y]) => {{\n{body}\n}})"
    (tmp_path / "f.js").write_text(f"console.log(JSON.stringify({text}));")
    done = subprocess.run(
        ["node", str(tmp_path / "f.js")],  # noqa: S607 (as users start it)
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert agrees(json.loads(done.stdout))
