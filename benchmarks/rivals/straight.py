"""Newton-Euler of one robot as straight-line C, and polynomials for its sines and cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from boolcomp.parallel.registry import straight_line
from boolcomp.problem.algebra import SYMBOLS, Folding
from boolcomp.problem.dynamics import newton_euler
from boolcomp.problem.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Operation, Straight
    from boolcomp.problem.words import Interval


# --------------------------------------------------------------------------------------------------
# Polynomials for sines and cosines with the least largest error, for the rivals' C.
# --------------------------------------------------------------------------------------------------


GRID = 600  # points where the error is held
MOST_TERMS = 8


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients by rising power, and the largest error on the grid."""

    coefficients: tuple[float, ...]
    error: float

    def horner(self, variable: str = "z") -> str:
        """Return a C expression in float."""
        text = c_float(self.coefficients[-1])
        for coefficient in reversed(self.coefficients[:-1]):
            text = f"({c_float(coefficient)} + {variable} * {text})"
        return text

    def vector(self, multiply_add: str, constant: str, plus: str = "") -> str:
        """Return a C expression of intrinsics: the polynomial in z times `scale`, and `plus`."""
        terms = [f"{constant}({c_float(c)} * (scale))" for c in self.coefficients]
        if plus:
            terms[0] = f"{constant}({c_float(self.coefficients[0])} * (scale) + ({plus}))"
        text = terms[-1]
        for term in reversed(terms[:-1]):
            text = f"{multiply_add}(z, {text}, {term})"
        return text


def c_float(value: float) -> str:
    """Return a C constant of type float."""
    text = f"{value:.9g}"
    return f"{text if '.' in text or 'e' in text else text + '.0'}f"


@cache
def wave_polynomial(kind: Literal["cosine", "sine"], error: float) -> Polynomial:
    """Return the shortest polynomial in z = t² for cos 2πt, or sin 2πt = t·p(z), |t| ≤ ½ turns."""
    for terms in range(3, MOST_TERMS):
        found = _fit(kind, terms)
        if found.error <= error:
            return found
    return found


def _fit(kind: Literal["cosine", "sine"], terms: int) -> Polynomial:
    t = np.cos(np.linspace(0, math.pi / 2, GRID)) / 2  # dense where errors are largest
    wave = np.cos(2 * math.pi * t) if kind == "cosine" else np.sin(2 * math.pi * t)
    basis = np.stack([t ** (2 * k + (kind == "sine")) for k in range(terms)], axis=1)
    return minimax(basis, wave)


def minimax(basis: np.ndarray, wanted: np.ndarray) -> Polynomial:
    """Return the coefficients whose combination of the basis has the least largest error."""
    import highspy  # noqa: PLC0415 (only who needs a polynomial loads it)

    scale = np.abs(basis).max(axis=0)
    terms = basis.shape[1]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)  # noqa: FBT003 (an option of that name)
    everywhere = highspy.kHighsInf
    for _ in range(terms):
        solver.addVar(-everywhere, everywhere)
    solver.addVar(0, everywhere)  # the largest error
    solver.changeColCost(terms, 1.0)
    columns = np.arange(terms + 1, dtype=np.int32)
    for row, value in zip(basis / scale, wanted, strict=True):
        solver.addRow(-everywhere, value, terms + 1, columns, np.append(row, -1.0))
        solver.addRow(value, everywhere, terms + 1, columns, np.append(row, 1.0))
    solver.run()
    coefficients = np.asarray(solver.getSolution().col_value)[:terms] / scale
    error = float(np.abs(basis @ coefficients - wanted).max())
    return Polynomial(tuple(float(c) for c in coefficients), error)


# --------------------------------------------------------------------------------------------------
# Newton-Euler of one robot as straight-line C: constants folded, common expressions once.
#
# What `Tape` records of the recurrence is what a symbolic tool such as CasADi would print. It is
# printed here as scalar C in double precision, and as C over vectors of 16 samples in float, in the
# order that keeps fewest values alive.
# --------------------------------------------------------------------------------------------------


HALF = math.pi * (1 + 1e-9)  # a turn
STATE_ARRAYS = ("q", "qd", "qdd")


def record(robot: Robot, *, lean: bool = False) -> Straight:
    """Return the robot's Newton-Euler recurrence, customised; inputs q1.. qd1.. qdd1..

    `lean` takes the method with fewest operations, masses regrouped, in place of the plain one.
    """
    if lean:
        return straight_line("regrouped", robot)
    tape = Tape()
    state = [[tape.input(f"{kind}{k + 1}") for k in range(robot.joints)] for kind in STATE_ARRAYS]
    torques = newton_euler(robot, Folding(tape), *state)
    return tape.finish([(f"tau{k}", torque) for k, torque in enumerate(torques, 1)])


@dataclass(frozen=True, slots=True)
class _Dialect:
    """How a language writes what the recurrence needs."""

    declare: str
    constant: Callable[[float], str]
    functions: dict[str, str]
    end: str = ";"


SCALAR = _Dialect("const double", repr, {"sin": "sin", "cos": "cos"})
SINGLE = _Dialect("const float", c_float, {"sin": "sine", "cos": "cosine"})
VECTOR = _Dialect("const vector", c_float, {"sin": "sine", "cos": "cosine"})
PYTHON = _Dialect("", repr, {"sin": "sin", "cos": "cos"}, "")


def _body(
    program: Straight, names: Sequence[str], language: _Dialect, near: Collection[int] = ()
) -> tuple[list[str], list[str]]:
    """Return the statements, and the expressions of the outputs.

    `near` are the inputs that are angles of at most half a turn: their waves are simpler.
    """
    made: list[str] = list(names)
    lines = []
    for place, node in enumerate(program.nodes[len(names) :], len(names)):
        if node.kind == "constant":
            made.append(language.constant(node.value))
            continue
        lines.append(
            f"{language.declare} v{place} = {_expression(node, made, language, near)}".strip()
        )
        lines[-1] += language.end
        made.append(f"v{place}")
    return lines, [made[output.node] for output in program.outputs]


def _expression(
    node: Operation, names: Sequence[str], language: _Dialect, near: Collection[int]
) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    if node.kind == "neg":
        return f"-{operands[0]}"
    function = language.functions[node.kind]
    return f"{'near_' if node.operands[0] in near else ''}{function}({operands[0]})"


def scalar_c(program: Straight) -> str:
    """Return C with a loop over samples in double precision, as CasADi generates it."""
    lines, results = _body(program, [f"in_{name}[i]" for name in program.inputs], SCALAR)
    columns = [
        f"    const double *restrict in_{name} = in[{k}];" for k, name in enumerate(program.inputs)
    ]
    columns += [
        f"    double *restrict out_{output.name} = out[{k}];"
        for k, output in enumerate(program.outputs)
    ]
    stores = [
        f"        out_{output.name}[i] = {result};"
        for output, result in zip(program.outputs, results, strict=True)
    ]
    return "\n".join(
        [
            "#include <math.h>", '#include "rival.h"', "KERNEL", "{", "    (void)tables;", *columns,
            "    for (int64_t i = 0; i < n; i++) {", *(f"        {line}" for line in lines),
            *stores, "    }", "}", "",
        ]
    )  # fmt: skip


def vector_c(program: Straight, robot: Robot, wave_error: float) -> str:
    """Return C over vectors of 16 samples; words and floats alike (SAMPLE of rival.h)."""
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    loads, names = [], []
    for k, (name, interval) in enumerate(zip(program.inputs, _intervals(robot), strict=True)):
        middle, half = interval.centre, (interval.high - interval.low) / 2
        loads.append(f"const vector {name} = VALUE({k}, {c_float(middle)}, {c_float(half)});")
        names.append(name)
    lines, results = _body(program, names, VECTOR, _near(robot))
    ordered = _late_loads(loads, names, lines)
    stores = []
    for k, (result, link) in enumerate(zip(results, robot.links, strict=True)):
        middle, half = link.torque.centre, (link.torque.high - link.torque.low) / 2
        stores.append(f"PUT({k}, {result}, {c_float(middle)}, {c_float(half)});")
    return "\n".join(
        [
            f"#define COSINE_OF(z) {cosine.horner()}", f"#define SINE_OF(z) {sine.horner()}",
            '#include "vectors.h"', "KERNEL", "{", "    (void)tables;",
            "    for (int64_t i = 0; i < n; i += LANES) {",
            *(f"        {line}" for line in (*ordered, *stores)), "    }", "}", "",
        ]
    )  # fmt: skip


def single_c(program: Straight, robot: Robot, wave_error: float) -> str:
    """Return C of one sample in float: in and out are arrays, waves polynomials."""
    cosine, sine = (wave_polynomial(kind, wave_error) for kind in ("cosine", "sine"))
    names = [f"in[{k}]" for k in range(len(program.inputs))]
    lines, results = _body(program, names, SINGLE, _near(robot))
    stores = [f"out[{k}] = {result};" for k, result in enumerate(results)]
    return "\n".join(
        [
            f"#define COSINE_OF(z) {cosine.horner()}", f"#define SINE_OF(z) {sine.horner()}",
            '#include "single.h"', "SINGLE", "{",
            *(f"    {line}" for line in (*lines, *stores)), "}", "",
        ]
    )  # fmt: skip


def _near(robot: Robot) -> set[int]:
    """Return which inputs are angles of half a turn at most."""
    return {
        k for k, link in enumerate(robot.links) if link.revolute and link.position.magnitude <= HALF
    }


def python_loop(program: Straight) -> str:
    """Return a Python function with a loop over samples, for numba: `torques(columns, results)`."""
    names = [f"columns[{k}, i]" for k in range(len(program.inputs))]
    lines, results = _body(program, names, PYTHON)
    stores = [f"results[{k}, i] = {result}" for k, result in enumerate(results)]
    head = ["def torques(columns, results):", "    for i in range(columns.shape[1]):"]
    return "\n".join([*head, *(f"        {line}" for line in (*lines, *stores)), ""])


def _late_loads(loads: Sequence[str], names: Sequence[str], lines: Sequence[str]) -> list[str]:
    """Put every load before the first statement that needs it."""
    waiting = dict(zip(names, loads, strict=True))
    ordered = []
    for line in lines:
        words = line.replace("(", " ").replace(")", " ").replace(";", " ").split()
        ordered += [waiting.pop(word.lstrip("-")) for word in words if word.lstrip("-") in waiting]
        ordered.append(line)
    return [*ordered, *waiting.values()]


def _intervals(robot: Robot) -> list[Interval]:
    links = robot.links
    kinds = ([x.position for x in links], [x.velocity for x in links])
    return [*kinds[0], *kinds[1], *(x.acceleration for x in links)]
