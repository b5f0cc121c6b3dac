"""Newton-Euler in float as a design: the method with fewest operations, constants folded.

What an engineer has who takes the processor's numbers as they come: states and torques in float,
the sines of the compiler's library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from boolcomp.measure.cycles.design import Design, declared
from boolcomp.problem.expressions.rules import SYMBOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.problem.expressions.straight import Operation, Straight
    from boolcomp.problem.problem import Problem

FUNCTIONS = {"sin": "sinf", "cos": "cosf", "sqrt": "sqrtf"}
TOLERANCE = 2e-4  # of half an output's range: that of sums in float


def float_design(
    problem: Problem, program: Straight, name: str, states: int, seed: int
) -> Design | str:
    """Return a straight-line program in float, or why there is none."""
    kinds = {node.kind for node in program.nodes} - {"input", "constant", "neg", *SYMBOLS}
    if strange := sorted(kinds - set(FUNCTIONS)):
        return f"{', '.join(strange)} is not written in float here"
    function = "torques"
    given = program.inputs
    made = tuple(output.name for output in program.outputs)
    source = [f'#include "{function}.h"', "#include <math.h>"]
    source += [f"void {function}(const {function}_inputs *given, {function}_outputs *made)", "{"]
    source += [*body(program, made), "}", ""]
    files = {f"{function}.h": declared(function, "float", given, made)}
    arrays = problem.draw(states, seed)
    columns = problem.columns(arrays)
    rows = np.column_stack([*(columns[one] for one in given), problem.reference(*arrays)])
    files[f"{function}.c"] = "\n".join(source)
    half = tuple(TOLERANCE * output.range.width / 2 for output in problem.outputs)
    return Design(
        name, function, files, given, made, "float",
        tuple(tuple(map(float, row)) for row in rows.astype(np.float32)), half, None,
        "float in and out",
    )  # fmt: skip


def body(program: Straight, made: Sequence[str]) -> list[str]:
    """Return the statements of a straight-line program."""
    names = [f"given->{name}" for name in program.inputs]
    lines = []
    for place, node in enumerate(program.nodes[len(names) :], len(names)):
        if node.kind == "constant":
            names.append(f"{float(node.value)!r}f")
            continue
        lines.append(f"    const float v{place} = {_expression(node, names)};")
        names.append(f"v{place}")
    pairs = zip(program.outputs, made, strict=True)
    return lines + [f"    made->{name} = {names[output.node]};" for output, name in pairs]


def _expression(node: Operation, names: Sequence[str]) -> str:
    operands = [names[k] for k in node.operands]
    if node.kind in SYMBOLS:
        return f"{operands[0]} {SYMBOLS[node.kind]} {operands[1]}"
    if node.kind == "neg":
        return f"-{operands[0]}"
    return f"{FUNCTIONS[node.kind]}({operands[0]})"
