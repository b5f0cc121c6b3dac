"""Feed the PLA reader and the minimisers nonsense for a while, and count: nothing may break.

    python benchmarks/fuzz.py [--seconds 30] [--seed 0]

Half of the time random and mutated texts go to the reader, which must return a PLA that renders
and reads back, or raise a `DataError`. The other half random functions, incompletely specified and
of several outputs, go to `own` and `isop`, whose covers are checked by brute force here.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from boolcomp.errors import DataError
from boolcomp.twolevel import pla
from boolcomp.twolevel.minimise import minimise

SEED_TEXT = """\
# two bits and a carry
.i 3
.o 2
.ilb a b c
.ob carry sum
.type fr
001 01
01- 0~
1-1 1-
110 10
.e
"""
LETTERS = "01-~234? \t|.#\n\r\0abcdefiloprtyx\xff"


def mutated(rng: np.random.Generator) -> bytes:
    """Return a valid text with some bytes changed, cut out or doubled; or pure noise."""
    if rng.uniform() < 0.1:
        return bytes(rng.integers(0, 256, int(rng.integers(0, 200)), dtype=np.uint8))
    data = bytearray(SEED_TEXT.encode())
    for _ in range(int(rng.integers(1, 6))):
        place, kind = int(rng.integers(len(data) + 1)), int(rng.integers(4))
        letter = LETTERS[int(rng.integers(len(LETTERS)))].encode("latin-1")
        if kind == 0:
            data[place : place + 1] = letter
        elif kind == 1:
            data[place:place] = letter
        elif kind == 2:
            del data[place : place + int(rng.integers(1, 30))]
        else:
            data[place:place] = data[max(0, place - 20) : place]
    return bytes(data)


def read(data: bytes) -> bool:
    """Read a text; return whether it was a PLA."""
    try:
        found = pla.parse(data)
    except DataError:
        return False
    text = pla.render(found)
    if pla.render(pla.parse(text)) != text:
        raise SystemExit(f"does not read back: {data!r}")
    return True


def random_function(rng: np.random.Generator) -> str:
    """Return the text of a random PLA of up to 8 inputs and 4 outputs."""
    inputs, outputs = int(rng.integers(0, 9)), int(rng.integers(1, 5))
    rows = [
        "".join(rng.choice(list("01-"), inputs)) + " " + "".join(rng.choice(list("01-~"), outputs))
        for _ in range(int(rng.integers(0, 40)))
    ]
    return "\n".join([f".i {inputs}", f".o {outputs}", *rows, ".e", ""])


def points(rows: list[tuple[str, str]], inputs: int, outputs: int, letter: str) -> np.ndarray:
    """Return which (point, output) pairs the rows with this letter hold, by brute force."""
    held = np.zeros((1 << inputs, outputs), dtype=bool)
    for term, values in rows:
        for point in range(1 << inputs):
            word = f"{point:0{inputs}b}" if inputs else ""
            if all(t in ("-", w) for t, w in zip(term, word, strict=True)):
                held[point] |= [value == letter for value in values]
    return held


def check(text: str, method: str) -> None:
    """Minimise a function and compare with its definition."""
    source = pla.parse(text)
    shape = (source.inputs, source.outputs)
    rows = [
        (line.split()[0] if source.inputs else "", line.split()[-1])
        for line in text.splitlines()
        if line and not line.startswith(".")
    ]
    on, free = points(rows, *shape, "1"), points(rows, *shape, "-")
    cover = minimise(source.function(), method, 10)
    held = points(cover.cubes.rows(), *shape, "1")
    if ((held != on) & ~free).any():
        raise SystemExit(f"{method} is wrong on\n{text}")


def main() -> None:
    """Fuzz, and print the counts."""
    parser = argparse.ArgumentParser(description="fuzz the PLA reader and the minimisers")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    texts = valid = functions = 0
    end = time.monotonic() + arguments.seconds / 2
    while time.monotonic() < end:
        valid += read(mutated(rng))
        texts += 1
    end = time.monotonic() + arguments.seconds / 2
    while time.monotonic() < end:
        text = random_function(rng)
        for method in ("own", "isop", "exact"):
            check(text, method)
        functions += 1
    print(f"{texts} texts ({valid} of them PLA files), {functions} functions by three methods")


if __name__ == "__main__":
    main()
