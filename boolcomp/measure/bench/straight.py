"""Newton-Euler of one robot as straight-line C: constants folded, common expressions once.

What `Tape` records of the recurrence is what a symbolic tool such as CasADi would print. It is
printed here as scalar C in double precision, and as C over vectors of 16 samples in float, in the
order that keeps fewest values alive.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.measure.bench.polynomials import c_float, wave_polynomial
from boolcomp.parallel.methods.registry import straight_line
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.rules import SYMBOLS
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.problem.interval import Interval
    from boolcomp.problem.robot.model import Robot

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
