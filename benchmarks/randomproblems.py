"""Random problems of all kinds, compiled with no effort: by a kind and a seed, the same anywhere.

`random_program` returns a program and the problem whose outputs it calculates. What cannot be
compiled, as the compiler says in a sentence, is tried anew with the next numbers of its seed, and
`RefusedError` after some tries.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import boolcomp as bc
from boolcomp.base.errors import BoolcompError
from boolcomp.base.store import Folder
from boolcomp.compact.demand import usual_demand
from boolcomp.compact.passes import CompactChoices
from boolcomp.paper.covers import CoverStore
from boolcomp.paper.passes import PaperChoices
from boolcomp.paper.plan import PlanOptions
from boolcomp.pipeline import compile_compact, compile_paper
from boolcomp.problem.functions import robot_problem
from boolcomp.problem.words import parse_format

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from limited import random_limited  # (tests make random arms)
from samples import random_robot

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.problem.problem import Problem
    from boolcomp.program.program import Program

    Made = tuple[Program, Problem]

TRIES = 8
FUNCTIONS = ("gravity", "forward-kinematics", "inertia", "bias", "jacobian")


class RefusedError(Exception):
    """Nothing of a kind and seed could be compiled."""


def random_program(kind: str, seed: int) -> tuple[Program, Problem]:
    """Return a random program of a kind, and its problem."""
    why = ""
    for turn in range(TRIES):
        rng = np.random.default_rng([seed, turn])
        try:
            with tempfile.TemporaryDirectory() as folder:
                return KINDS[kind](rng, Path(folder))
        except BoolcompError as error:
            why = str(error)
    raise RefusedError(why)


def written(
    rng: np.random.Generator, folder: Path, function: Callable[..., Any], **formats: Any
) -> Made:
    """Return a compiled function of one to three words."""
    names = "xyz"[: int(rng.integers(1, 4))]
    words = {name: ranged(rng) for name in names}
    if "words" in formats:
        words["x"] = bc.word(-1, float(rng.choice([1.0, 3.0])))

    def one(x: Any) -> Any:  # the compiler asks for parameters by name
        return function(x)

    def two(x: Any, y: Any) -> Any:
        return function(x, y)

    def three(x: Any, y: Any, z: Any) -> Any:
        return function(x, y, z)

    problem = bc.function_problem((one, two, three)[len(names) - 1], words, ["f"])
    return of_problem(problem, folder, int(rng.integers(4, 8)), **formats)


def ranged(rng: np.random.Generator) -> Any:
    """Return a word: an angle, or a range about zero, beside it, or off it."""
    bits = int(rng.integers(4, 9))
    if rng.random() < 0.25:
        return bc.angle(bits=bits)
    reach = float(rng.choice([0.7, 1.0, 3.3, 40.0]))
    low = float(rng.choice([-reach, 0.0, -0.3 * reach, 0.4]))
    return bc.word(low, low + reach * float(rng.choice([1.0, 2.0])), bits=bits)


def of_problem(problem: Any, folder: Path, bits: int, **formats: Any) -> Made:
    """Return a compiled problem."""
    demand = usual_demand(bits, effort=0.0)
    choices = CompactChoices(demand, folder, also_shipped=False, **formats)
    found = compile_compact(problem, choices)
    return found.program, found.built[0].compact.problem


def curve(rng: np.random.Generator, x: Any) -> Any:
    """Return a curve of a value, smooth within any range."""
    k, kind = float(rng.uniform(0.3, 1.5)), int(rng.integers(7))
    if kind == 0:
        return bc.sqrt(x * x + k)
    if kind == 1:
        return bc.exp(-k * bc.abs(bc.sin(x)))
    if kind == 2:
        return bc.tanh(k * x)
    if kind == 3:
        return 1 / (x * x + k)
    if kind == 4:
        return bc.log(1 + k * bc.abs(x))
    return bc.sin(k * x) if kind == 5 else bc.cos(x) * x


def total(rng: np.random.Generator, values: tuple[Any, ...], part: Callable[..., Any]) -> Any:
    """Return a sum of parts of values, and of a product of two."""
    found: Any = 0.5
    for value in values:
        found = found + float(rng.uniform(-2, 2)) * part(rng, value)
    if len(values) > 1:
        found = found + float(rng.uniform(-1, 1)) * values[0] * bc.sin(values[1])
    return found


def smooth(rng: np.random.Generator, folder: Path) -> Made:
    """Return a function without terms."""
    seed = int(rng.integers(1 << 30))
    return written(rng, folder, lambda *v: total(np.random.default_rng(seed), v, curve))


def jump(rng: np.random.Generator, folder: Path) -> Made:
    """Return a function with jumps, on borders of cells and off them."""
    seed = int(rng.integers(1 << 30))

    def part(own: np.random.Generator, x: Any) -> Any:
        return bc.sign(x - float(own.choice([0.0, 0.1, 0.25]))) + 0.3 * curve(own, x)

    return written(rng, folder, lambda *v: total(np.random.default_rng(seed), v, part))


def clip(rng: np.random.Generator, folder: Path) -> Made:
    """Return a function with corners, and roots at the ends of what is cut off."""
    seed = int(rng.integers(1 << 30))

    def part(own: np.random.Generator, x: Any) -> Any:
        low, high = sorted(float(k) for k in own.uniform(-1, 1, 2))
        cut = bc.clip(float(own.uniform(0.5, 3)) * x, low, high + 0.1)
        return bc.sqrt(cut - low) if own.random() < 0.3 else cut

    return written(rng, folder, lambda *v: total(np.random.default_rng(seed), v, part))


def words(rng: np.random.Generator, folder: Path) -> Made:
    """Return a function of words with other codes, zeros and widths."""
    seed = int(rng.integers(1 << 30))
    formats = {
        name: parse_format(f"{rng.choice(['gray', 'natural', 'twos', 'sign-magnitude'])}:"
                             f"{rng.integers(4, 9)}:{rng.choice(['rise', 'tread'])}", name)
        for name in ("x", "f")
    }  # fmt: skip
    return written(
        rng, folder, lambda *v: total(np.random.default_rng(seed), v, curve), words=formats
    )


def arm(rng: np.random.Generator, folder: Path) -> Made:
    """Return an arm of one to three joints with stops."""
    robot = random_limited(int(rng.integers(1, 4)), int(rng.integers(1 << 20)))
    return of_problem(robot_problem(robot), folder, 6)


def function(rng: np.random.Generator, folder: Path) -> Made:
    """Return another function of an arm of one to three joints."""
    robot = random_robot(int(rng.integers(1 << 20)), int(rng.integers(1, 4)))
    return of_problem(robot_problem(robot, str(rng.choice(FUNCTIONS))), folder, 6)


def paper(rng: np.random.Generator, folder: Path) -> Made:
    """Return an arm of one or two joints in paper mode."""
    robot = random_robot(int(rng.integers(1 << 20)), int(rng.integers(1, 3)))
    choices = PaperChoices(PlanOptions(bits=4), store=CoverStore((Folder(folder),)))
    return compile_paper(robot, choices).program, robot_problem(robot)


KINDS: dict[str, Callable[[np.random.Generator, Path], Made]] = {
    "smooth": smooth, "jump": jump, "clip": clip, "words": words, "arm": arm,
    "function": function, "paper": paper,
}  # fmt: skip
