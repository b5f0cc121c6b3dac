"""Function files as a stranger may write them: damaged, or with values that nobody meant."""

import random
from functools import cache
from pathlib import Path

import numpy as np
from fuzzing import BrokenError, damaged, seeded, sentence

import boolcomp as bc
from boolcomp.problem import parse_function
from boolcomp.terms import split

EXAMPLES = Path(__file__).resolve().parent.parent / "examples" / "functions"
EXPRESSIONS = (
    '"e"', '"x"', '"pi"', '"1/x"', '"x/0"', '"x**99"', '"x**-3"', '"x**x"', '"sqrt(x)"', '"log(e)"',
    '"theta"', '"2*theta"', '"sin(theta/2)"', '"sin(3*theta - 1)"', '"tan(theta)"', '"wrap(theta)"',
    '"x if x else y"', '"x < y"', '"lambda: x"', '"__import__(\'os\')"', '"x.real"', '"x[0]"',
    '"(x, y)"', '"f(x)"', '"sin"', '"sin()"', '"sin(x, y)"', '"sin(x=1)"', '"clip(x, 1, 0)"',
    '"clip(*x)"', '"exp(exp(exp(x)))"', '"1e999"', '"10**10**10"', '"9**9**9"', '"0/0"', '"1j"',
    '"True"', "\"'x'\"", '"x @ y"', '"x // y"', '"x % y"', '"~x"', '"not x"', '"x := 1"', '"x; y"',
    '"' + "(" * 300 + "x" + ")" * 300 + '"', '"' + "-" * 300 + "x" + '"', '"' + "x+" * 900 + 'x"',
    '"' + "abs(" * 60 + "x" + ")" * 60 + '"', '"' + "9" * 4000 + '"', '"' + "x" * 2500 + '"', '"é"',
    '"x # y"', '"x \\\\ y"', '"x\\ny"', '"\\u0000"', '"{x}"', '"x\' + \'y"', '"0x10 * x"',
    '"1_0 * x"',
    '""', '" "', '"*x"', '"await x"', '"f\'{x}\'"', '"where_positive(x, y, 0) * 1e11 * 1e11"',
)  # fmt: skip
VALUES = (
    *EXPRESSIONS, "0", "1", "-1", "8", "99", "2.5", "1e13", "nan", "inf", "true", "[]", "{}",
    "[0, 1]",
    "[1, 0]", "[0, 0]", "[0, 1e-13]", "[-1e308, 1e308]", "[0, nan]", '["-pi", "pi"]', '["pi/0", 1]',
    "[0, 1, 2]", "[true, 2]", "[[0], 1]", "9" * 400, "[0, " + "9" * 400 + "]", "1979-05-27",
    '"rad"',
    "[0.5, 2]", "[-4, 4]",
)  # fmt: skip
LINES = (
    "[inputs.x]", "[inputs.y]", "[inputs.theta]", "[outputs.u]", "[let]", "[inputs]", "[joint]",
    "[[inputs]]", "range = [-1, 1]", "angle = true", "bits = 8", 'expression = "x"', 'x = "1"',
    'sin = "1"', 'pi = "3"', 'a = "b"', 'b = "a"', 'e = "2"', "unit = 3", "inputs = 3", 'u = "x"',
    f"a{'.a' * 500} = 1", "", "x y z", "[outputs.t]", "[inputs.payload]", "[inputs.'a b']",
)  # fmt: skip


@cache
def texts() -> tuple[str, ...]:
    """Return the function files that ship as examples."""
    return tuple(path.read_text() for path in sorted(EXAMPLES.glob("*.toml")))


def damaged_function(rng: random.Random) -> str:
    """Return the text of an example with other values, lines, names or bytes."""
    lines = rng.choice(texts()).split("\n")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        place = rng.randrange(len(lines))
        key, equals, _ = lines[place].partition(" = ")
        if equals and rng.random() < 0.8:
            wanted = EXPRESSIONS if key == "expression" or rng.random() < 0.5 else VALUES
            lines[place] = f"{key} = {rng.choice(wanted)}"
        else:
            lines.insert(place, rng.choice((*lines, *LINES)))
    text = "\n".join(lines)
    if rng.random() < 0.3:
        text = damaged(rng, text.encode()).decode("utf-8", "replace")
    return text


def written_case(seed: int, folder: Path) -> bool:
    """Read a damaged function file; one that is accepted has finite values, and terms or steps."""
    del folder
    text = damaged_function(seeded(seed))
    try:
        problem = parse_function(text, "f.toml")
    except bc.BoolcompError as error:
        sentence(error)
        if not str(error).startswith("f.toml"):
            raise BrokenError(f"a message without the file: {error}") from error
        return False
    low, high = problem.bounds()
    states = np.stack([low, high, (low + high) / 2, 0.3 * low + 0.7 * high])
    if not np.isfinite(problem.exact(states)).all():
        raise BrokenError("outputs are not finite")
    str(split(problem))
    return True
