"""Newton-Euler of one robot as straight-line C, and polynomials for its sines and cosines."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from boolcomp.parallel.registry import straight_line
from boolcomp.problem.dynamics import joint_program, newton_euler
from boolcomp.problem.printers import LANGUAGES, Language, statements

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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
    return joint_program(robot, newton_euler, STATE_ARRAYS, ("tau",))


C_FLOAT = replace(
    LANGUAGES["c"], assignment="const float {0} = {1};", constant=c_float,
    own={"sin": "sine({0})", "cos": "cosine({0})"},
)  # fmt: skip
VECTOR = replace(C_FLOAT, assignment="const vector {0} = {1};")


@dataclass(frozen=True, slots=True)
class _Near(Language):
    """A language with simpler waves of the inputs that are angles of at most half a turn."""

    inputs: Collection[int] = ()

    def expression(self, node: Operation, operands: Sequence[str]) -> str:
        near = node.kind in ("sin", "cos") and node.operands[0] in self.inputs
        return "near_" * near + Language.expression(self, node, operands)


def _with_near(language: Language, robot: Robot) -> _Near:
    return _Near(language.assignment, language.constant, own=language.own, inputs=_near(robot))


def scalar_c(program: Straight) -> str:
    """Return C with a loop over samples in double precision, as CasADi generates it."""
    lines, results = statements(program, [f"in_{name}[i]" for name in program.inputs], "c")
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
    lines, results = statements(program, names, _with_near(VECTOR, robot))
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
    lines, results = statements(program, names, _with_near(C_FLOAT, robot))
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
    lines, results = statements(program, names, "python")
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


# --------------------------------------------------------------------------------------------------
# An order of a program with few live values.
# --------------------------------------------------------------------------------------------------


def live_order(program: Straight) -> Straight:
    """Return the same program in an order with few live values.

    It is the best of three orders: the given one, output by output, and a greedy one. The greedy
    order takes the ready node that ends most live values, of several the one that became ready
    last.
    """
    orders = (_by_outputs(program), _greedily(program))
    return min((program, *(_in_order(program, order) for order in orders)), key=most_live)


def most_live(program: Straight) -> int:
    """Return the largest number of values that are live at a time, without constants."""
    nodes, last = program.nodes, program.last_use
    live = largest = len(program.inputs)
    for place, node in enumerate(nodes):
        live += not node.free and last[place] >= 0
        largest = max(largest, live)
        ended = (k for k in set(node.operands) if last[k] == place)
        live -= sum(nodes[k].kind != "constant" for k in ended)
    return largest


def _by_outputs(program: Straight) -> list[int]:
    nodes = program.nodes
    order = [k for k, node in enumerate(nodes) if node.free]
    done = set(order)
    waiting = [x.node for x in reversed(program.outputs)]
    waiting = [*range(len(nodes) - 1, -1, -1), *waiting]  # unused nodes come last
    while waiting:
        k = waiting[-1]
        missing = [x for x in nodes[k].operands if x not in done]
        if k in done or not missing:
            waiting.pop()
            if k not in done:
                done.add(k)
                order.append(k)
        waiting += missing if k not in done else []
    return order


def _greedily(program: Straight) -> list[int]:
    nodes = program.nodes
    users: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        for k in set(node.operands):
            users[k].append(place)
    waiting = [sum(not nodes[k].free for k in set(x.operands)) for x in nodes]
    uses = [len(u) for u in users]
    for output in program.outputs:
        uses[output.node] += 1
    order = [k for k, node in enumerate(nodes) if node.free]
    ready = {k: 0 for k, node in enumerate(nodes) if not node.free and not waiting[k]}

    def order_key(k: int) -> tuple[int, int, int]:
        return sum(uses[x] == 1 for x in set(nodes[k].operands)), ready[k], -k

    while ready:
        chosen = max(ready, key=order_key)
        del ready[chosen]
        order.append(chosen)
        for k in set(nodes[chosen].operands):
            uses[k] -= 1
        for user in users[chosen]:
            waiting[user] -= 1
            if not waiting[user]:
                ready[user] = len(order)
    return order


def _in_order(program: Straight, order: Iterable[int]) -> Straight:
    place = {old: new for new, old in enumerate(order)}
    nodes = (
        replace(node, operands=tuple(place[k] for k in node.operands))
        for node in (program.nodes[old] for old in place)
    )
    outputs = (replace(x, node=place[x.node]) for x in program.outputs)
    return replace(program, nodes=tuple(nodes), outputs=tuple(outputs))
