"""Function files: expressions read safely, every mistake a sentence with file, line and key."""

# ruff: noqa: ARG005 (all take the same inputs)

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import boolcomp as bc
from boolcomp.problem import Problem, Robot, load_source, parse_function, parse_robot, problem_of

Floats = NDArray[np.float64]

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "functions"
FILE = """\
name = "made"

[inputs.x]
range = [-1, 1]
bits = 10

[inputs.y]
range = [0.5, "pi"]
unit = "m"

[inputs.q]
angle = true

[let]
half = 0.5
s = "half*x + y"

[outputs.u]
expression = "s*cos(q)"
"""


def with_output(expression: str) -> str:
    """Return the file with another expression of its output, in line 19."""
    return FILE.replace('"s*cos(q)"', f"{expression!r}".replace("'", '"'))


@pytest.mark.parametrize(("expression", "exact"), [
    ("s*cos(q)", lambda x, y, q: (0.5 * x + y) * np.cos(q)),
    ("-x - -y + +x*y/2", lambda x, y, q: -x + y + x * y / 2),
    ("x**3 - y**-2 + 2**3*x", lambda x, y, q: x**3 - 1 / y**2 + 8 * x),
    ("-x**2", lambda x, y, q: -(x**2)),
    ("clip(2*x, -1, 0.5)", lambda x, y, q: np.clip(2 * x, -1, 0.5)),
    ("where_positive(x, y, 0)", lambda x, y, q: np.where(x > 0, y, 0)),
    ("atan2(x, y)*pi", lambda x, y, q: np.arctan2(x, y) * np.pi),
    ("sqrt(2)*x + sin(pi/6)*y", lambda x, y, q: np.sqrt(2) * x + 0.5 * y),
    ("minimum(x, 0.1) + maximum(x, y)", lambda x, y, q: np.minimum(x, 0.1) + np.maximum(x, y)),
    ("x + 1e-3 + 1_0*y", lambda x, y, q: x + 0.001 + 10 * y),
])  # fmt: skip
def test_expressions_mean_what_python_means(expression: str, exact: Callable[..., Floats]) -> None:
    rng = np.random.default_rng(5)
    columns = rng.uniform(-1, 1, 60), rng.uniform(0.5, 3, 60), rng.uniform(-3, 3, 60)
    found = parse_function(with_output(expression)).reference(*(c[:, None] for c in columns))
    assert np.allclose(found[:, 0], exact(*columns), rtol=1e-12, atol=1e-12)


NOT_ALLOWED = [
    ("x if x else y", "write where_positive(x, a, b)"),
    ("x < y", "x < y: not allowed in an expression; write where_positive"),
    ("x and y", "write where_positive"), ("x ^ 2", "powers are written **"),
    ("x // y", "operators are + - * / **"), ("x % y", "operators are + - * / **"),
    ("x @ y", "operators are + - * / **"), ("~x", "~x: not allowed"),
    ("x, y", "a decimal has a point, and an expression one value"),
    ("x.real", "x.real: not allowed in an expression; names have no points"),
    ("x[0]", "x[0]: not allowed"), ("[x]", "[x]: not allowed"),
    ("lambda: x", "lambda: x: not allowed"), ("(x := y)", "not allowed"),
    ("__import__(x)", "__import__: unknown function; functions are abs, acos"),
    ("().__class__", "not allowed"), ("x.sin()", "x.sin: not a function"),
    ("(x)(y)", "x is no function; write a product as x * (…)"),
    ("2(x)", "2: not a function"), ("True*x", "True: not a number"), ("1j*x", "1j: not a number"),
    ("x**y", "x**y: an exponent is a whole number"),
    ("x**0.5", "exponents are whole numbers within ±64, not 0.5; write sqrt"),
    ("9**64*x", "numbers are within ±1e+12"),
    ("9" * 400 + "*x", "numbers are within ±1e+12"),
    ("x/0", "x/0: the calculation divides by zero"),
    ("x*0**-1", "0**-1: it divides by zero"),
    ("x + sqrt(-2)", "sqrt(-2): sqrt(-2) has no value"),
    ("sine(x)", "sine: unknown function; did you mean 'sin"),
    ("sin(x, y)", "sin(x, y): 2 values given; write sin(x)"),
    ("clip(x)", "1 values given; write clip(x, low, high)"),
    ("atan2(y=x, x=y)", "write atan2(y, x)"),
    ("sin + x", "sin is a function; write sin(x)"),
    ("hafl*x", "hafl: unknown name; did you mean 'half"),
    ("zz*x", "zz: unknown name; names are x, y, q, half, s, pi"),
    ("u + 1", "u: it is an output, which expressions cannot use: put it in [let], too"),
    ("x +", "f.toml:19: outputs.u.expression: 'x +' is no expression"),
    ("", "an empty expression"),
    ("x" * 2001, "an expression has at most 2000 characters"),
    ("(" * 300 + "x" + ")" * 300, "is no expression"),
    ("abs(" * 50 + "x" + ")" * 50, "more than 40 operations within each other"),
    ("3", "f.toml:19: outputs.u.expression: it is always 3, so there is"),
    ("x - x + 2", "f.toml: u is always 2: there is nothing to compile"),
    ("sqrt(x) + y", "sqrt(x): the square root of -1 at x = -1, where it has no value"),
    ("y*sin(x*q)", "x*q: q is an angle"), ("q", "or as the output u"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "said"), NOT_ALLOWED)
def test_what_is_not_allowed_is_refused_with_its_place(expression: str, said: str) -> None:
    with pytest.raises(bc.DataError) as error:
        parse_function(with_output(expression), "f.toml")
    assert said in str(error.value)
    whole = any(part in said for part in ("u is always", "the output u"))  # of no part of it
    assert str(error.value).startswith("f.toml: " if whole else "f.toml:19: outputs.u.expression: ")


WRONG = [
    (FILE.replace('name = "made"', ""), "f.toml: name: missing"),
    (FILE.replace('"made"', '"a b"'), "f.toml:1: name: 'a b' may hold letters"),
    (FILE.replace("bits = 10", "bit = 10"), "f.toml:5: inputs.x.bit: unknown key; did you mean 'b"),
    (FILE.replace("bits = 10", "bits = 10\nx.y = 1"), "f.toml:6: inputs.x.x: unknown key; keys"),
    (FILE.replace("bits = 10", "bits = 40"), "f.toml:5: inputs.x.bits: a word has 2 to 16 bits"),
    (FILE.replace("bits = 10", "bits = '8'"), "f.toml:5: inputs.x.bits: must be a whole number"),
    (FILE.replace("[-1, 1]", "[1, -1]"), "f.toml:4: inputs.x.range: a range must rise"),
    (FILE.replace("[-1, 1]", "[-1, true]"), "f.toml:4: inputs.x.range: must hold numbers"),
    (FILE.replace("[-1, 1]", "[-1, nan]"), "f.toml:4: inputs.x.range: a range has finite ends"),
    (FILE.replace("[-1, 1]", "[0, 1" + "0" * 400 + "]"), "must hold smaller numbers"),
    (FILE.replace("range = [-1, 1]\n", ""), "f.toml:3: inputs.x: its range is missing"),
    (FILE.replace("= true", "= 1"), "f.toml:12: inputs.q.angle: must be true or false, not 1"),
    (FILE.replace('unit = "m"', "unit = 2"), "f.toml:9: inputs.y.unit: must be text, not 2"),
    (FILE.replace("half", "sin"), "f.toml:15: let.sin: sin is a function; choose another name"),
    (FILE.replace("half", "pi"), "f.toml:15: let.pi: 'pi' is reserved"),
    (FILE.replace("half = ", "x = "), "f.toml:15: let.x: 'x' is already used as inputs.x"),
    (FILE.replace("outputs.u", "outputs.s"), "outputs.s: 's' is already used as let.s"),
    (FILE.replace("inputs.y", "inputs.time"), "f.toml:7: inputs.time: 'time' is reserved"),
    (FILE.replace('"half*x + y"', '"later*x"\nlater = 2'),
     "f.toml:16: let.s: later: it is defined further below: [let] is evaluated in order"),
    (FILE.replace("half = 0.5", "half = []"), "f.toml:15: let.half: must be an expression as text"),
    (FILE.replace('expression = "s*cos(q)"', ""), "f.toml:18: outputs.u.expression: missing"),
    (FILE.replace("[outputs.u]", "[output.u]"), "output: unknown key; did you mean 'outputs"),
    (FILE[: FILE.index("[outputs.u]")], "f.toml: outputs: a function needs at least one"),
    (FILE[: FILE.index("[inputs.x]")] + FILE[FILE.index("[let]") :], "a function needs at least"),
    ("inputs = 3\n" + FILE.replace("[inputs.", "[other."), "f.toml"),
    (FILE.replace("[inputs.x]", "[inputs.x"), "f.toml: not a TOML file"),
    (FILE + "#" * 200_001, "f.toml: larger than 200000 bytes, the maximum of a function file"),
    (FILE + "\n".join(f"[outputs.v{k}k]\nexpression = 'x'" for k in range(500)), "more than 500"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_file_is_a_sentence_with_line_and_key(text: str, said: str) -> None:
    with pytest.raises(bc.DataError) as error:
        parse_function(text, "f.toml")
    assert said in str(error.value)
    assert len(str(error.value)) < 400


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_are_functions(path: Path) -> None:
    made = load_source(path)
    assert isinstance(made, Problem)
    arrays = made.draw(1000, 2)
    assert np.isfinite(made.reference(*arrays)).all()
    assert not made.notes


def test_a_function_is_told_from_a_robot_by_its_tables(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(FILE)
    assert isinstance(load_source(path), Problem)
    with pytest.raises(bc.DataError, match="a function, not a robot; compile, evaluate, terms"):
        bc.load_robot(path)
    with pytest.raises(bc.BoolcompError, match="made is no robot, so it has no gravity"):
        problem_of(path, "gravity")
    with pytest.raises(bc.BoolcompError, match="payloads are for robots"):
        problem_of(path, mass=1.0)
    path.write_text(str(bc.load_robot("machado-2r")))
    assert isinstance(load_source(path), Robot)
    path.write_text("[inputs.x")
    with pytest.raises(bc.DataError, match="not a TOML file"):
        load_source(path)
    with pytest.raises(bc.UsageError, match="unknown robot 'nobody'"):
        load_source("nobody")
    with pytest.raises(bc.DataError, match="inputs: unknown key"):
        parse_robot("name = 'x'\n[inputs.a]\n[[joint]]\n")
