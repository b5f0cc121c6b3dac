"""One sample at a time: the word graph of a program beside float, in C and from Python.

Everything is called through the same loop in one run, on the same states, by turns; ns are the
least of many short rounds. `apart` are samples that know nothing of each other, `chained` those of
which each waits for the one before it. Words come and go as cells in 32 bits, float as float;
`state` is what a call from Python runs: doubles, checks and words in their codes. Outputs are
checked: words against the numpy engine, float against the exact outputs.

    python benchmarks/words.py [PROGRAM ...] [--rounds 400]

PROGRAM is the folder of a saved program of a robot that ships; without one the paper's arm and the
PUMA 560 are taken as they ship.
"""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from rivals.offers import TwoLink, header, two_link, wave_error
from rivals.straight import record, single_c

import boolcomp as bc
from boolcomp.base.errors import table
from boolcomp.engines.words import WordEngine
from boolcomp.measure.bench import (
    FAST,
    Unit,
    address_of,
    compiled_library,
    compiler,
    function,
    source,
)
from boolcomp.problem.functions import inverse_dynamics_problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from boolcomp.engines.choice import EngineName
    from boolcomp.problem.robot.model import Robot
    from boolcomp.program.program import Program

SAMPLES = 256  # states: all is in the first-level cache
OWN = 0.3  # last bits that float may err by
BITS32: tuple[Any, ...] = (ctypes.c_void_p,) * 3


class Rival:
    """A function of one sample: where it is, its samples, and what it must give."""

    def __init__(self, name: str, address: int, given: NDArray[Any], made: NDArray[Any]) -> None:
        self.name, self.address = name, address
        self.given, self.made = np.ascontiguousarray(given), made
        self.least = [float("inf"), float("inf")]


class Loops:
    """The loops of single_loop.c."""

    def __init__(self) -> None:
        by = compiler("gcc") or compiler("clang")
        if by is None:
            sys.exit("no C compiler: gcc or clang is needed")
        library = compiled_library(by, Unit(source("single_loop.c"), flags=("-O2",)))
        pointer, whole = ctypes.c_void_p, ctypes.c_int64
        arguments = (pointer, pointer, pointer, whole, whole, whole)
        self.apart = function(library, "apart", ctypes.c_double, *arguments)
        self.chained = function(library, "chained", ctypes.c_double, *arguments, ctypes.c_int32)

    def measure(self, rival: Rival) -> None:
        """Run a rival once, either way."""
        given, made = rival.given, rival.made
        arguments = [
            rival.address, given.ctypes.data, made.ctypes.data, SAMPLES, given.shape[1],
            made.shape[1],
        ]  # fmt: skip
        seconds = self.apart(*arguments), self.chained(*arguments, 0)
        rival.least = [min(a, b / SAMPLES * 1e9) for a, b in zip(rival.least, seconds, strict=True)]


def float_unit(robot: Robot, bits: int) -> tuple[str, Unit]:
    """Return the best float that is known for one sample of a robot: its name and its C."""
    arm, error = two_link(robot), wave_error(robot, bits, "float32")
    if isinstance(arm, TwoLink):
        unit = Unit(source("two_link_single.c"), header(arm, error), flags=FAST)
        return "float, closed form", unit
    lean = record(robot, lean=True)
    return "float, Newton-Euler regrouped", Unit(single_c(lean, robot, error), flags=FAST)


def rivals(program: Program) -> tuple[list[Rival], Callable[[], None]]:
    """Return all that is measured, and what checks their outputs."""
    robot = bc.load_robot(program.name)
    problem = inverse_dynamics_problem(robot)
    engine = WordEngine(program.wiring())
    arrays = problem.draw(SAMPLES, 5)
    columns = np.concatenate(arrays, axis=1)
    exact, expected = problem.exact(columns), program.evaluate(*arrays, engine="numpy")
    place = {name: k for k, name in enumerate(x.name for x in problem.inputs)}
    ports = [(engine.wiring.name(port), port.code) for port in engine.wiring.ports]
    cells = np.stack(
        [code.cell(columns[:, place[name]])[0] - code.cells // 2 for name, code in ports], axis=1
    ).astype(np.int32)
    outputs = len(problem.outputs)
    words = Rival(
        "words",
        engine.code_of_state.address("cells"),
        cells,
        np.zeros((SAMPLES, outputs), np.int32),
    )
    found = [words]
    steps = np.array([output.code.step for output in program.outputs])
    floats: list[Rival] = []
    for by in filter(None, map(compiler, ("gcc", "clang"))):
        name, unit = float_unit(robot, program.bits)
        address = address_of(function(compiled_library(by, unit), "rival", None))
        made = np.zeros((SAMPLES, outputs), np.float32)
        floats.append(Rival(f"{name} ({by.name})", address, columns.astype(np.float32), made))

    def check() -> None:
        natural = [r.code for r in engine.wiring.results]
        wanted = [
            r.given.index(w) for r, w in zip(engine.wiring.results, expected.words.T, strict=True)
        ]
        for code, column, cell in zip(natural, words.made.T, wanted, strict=True):
            if (column + code.cells // 2 != cell).any():
                sys.exit("the words engine does not agree with the numpy engine")
        for one in floats:
            if not np.abs((one.made - exact) / steps).max() < OWN:
                sys.exit(f"{one.name} does not give the outputs")

    return [*found, *floats], check


def python_call(program: Program, rounds: int) -> list[list[str]]:
    """Return microseconds of calls from Python with one state."""
    state = [x[0] for x in inverse_dynamics_problem(bc.load_robot(program.name)).draw(1, 5)]
    rows = []
    engines: tuple[EngineName, ...] = ("auto", "words", "llvm")
    for engine in engines:
        program.evaluate(*state, engine=engine)
        least, turns = float("inf"), 20  # less than a scheduler's slice
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(turns):
                program.evaluate(*state, engine=engine)
            least = min(least, (time.perf_counter() - start) / turns)
        rows.append([f"program.evaluate, engine {engine}", f"{least * 1e6:.2f}"])
    return rows


def report(name: str, program: Program, rounds: int) -> None:
    """Print the tables of one program."""
    loops = Loops()
    every, check = rivals(program)
    for _ in range(rounds):
        for one in every:
            loops.measure(one)
    check()
    engine = WordEngine(program.wiring())
    size = sum(map(len, engine.single.tables))
    print(f"\n== {name}: {engine.costs[0]} operations a sample, {size} entries of tables")
    first = every[0].least
    rows = [
        [one.name, *(f"{ns:.1f}" for ns in one.least),
         *(f"{ns / own:.2f}" for ns, own in zip(one.least, first, strict=True))]
        for one in every
    ]  # fmt: skip
    print(table(["one sample", "apart ns", "chained ns", "times words", "chained"], rows))
    print(table(["one state from Python", "us"], python_call(program, rounds)))


def shipped() -> Sequence[tuple[str, Program]]:
    """Return the programs that ship."""
    arm = bc.compile("machado-2r", bits=8, rms_error=".43,.58")
    return [("machado-2r", arm), ("puma560", bc.compile("puma560", bits=8, rms_error=".505"))]


def main() -> None:
    """Measure every program named, or those that ship."""
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=400)
    arguments = parser.parse_args()
    named = [(name, bc.load_program(name)) for name in arguments.programs]
    for name, program in named or shipped():
        report(name, program, arguments.rounds)


if __name__ == "__main__":
    main()
