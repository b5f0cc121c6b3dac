"""Writes the section `sketch`: the function that a graph calculates (see `checker.nodes`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from boolcomp.compact.sketch.sketch import (
    TURN,
    AngleSum,
    Curve,
    Linear,
    Powers,
    Source,
    Waves,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from boolcomp.compact.sketch.sketch import Sketch, SketchNode, WordSum
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.problem import Problem
    from boolcomp.proof.certificate.known import Known


def sketch_section(known: Known) -> str:
    """Return the lines of a section."""
    compact = known.compact
    return sketch_text(compact.sketch, compact.problem, compact.problem.steps(compact.demand.bits))


def sketch_text(sketch: Sketch, problem: Problem, steps: Sequence[float]) -> str:
    """Return the section of a sketch of a problem, whose outputs have these steps."""
    lines = [f"s{place} = {_node_text(node)}" for place, node in enumerate(sketch.nodes)]
    for one, step, place in zip(problem.outputs, steps, sketch.outputs, strict=True):
        lines.append(f"{one.name} = {one.range.centre!r} {step!r} s{place}")
    return "".join(f"{line}\n" for line in lines)


def _node_text(node: SketchNode) -> str:
    if isinstance(node, Source):
        return f"input {node.name}{' angle' * node.angle}"
    if isinstance(node, AngleSum):
        return " | ".join(["turns", *(f"{multiple} s{k}" for k, multiple in node.items)])
    if isinstance(node, Waves):
        parts = (f"{k} {float(a)!r} {float(b)!r}" for k, a, b in node.parts)
        return " | ".join([f"waves s{node.source}", *parts])
    if isinstance(node, Powers):
        return " | ".join([f"powers s{node.source}", *(repr(float(c)) for c in node.coefficients)])
    if isinstance(node, Curve):
        numbers = (node.unit, node.middle, node.factor, node.low, node.high)
        head = " ".join(repr(float(x)) for x in numbers) + " angle" * node.angle
        return " | ".join([f"curve s{node.source} {head}", *_function_steps(node.function)])
    return _sum_text(node)


def _sum_text(node: WordSum) -> str:
    head = f"turning {TURN}" if node.angle else "sum"
    addends = (
        f"{float(one.factor)!r} s{one.node}"
        if isinstance(one, Linear)
        else f"{float(one.factor)!r} s{one.a} s{one.b}"
        for one in node.addends
    )
    return " | ".join([f"{head} {float(node.constant)!r}", *addends])


def _function_steps(function: Straight) -> Iterator[str]:
    """Yield the steps of a function of one input, the one that is it last."""
    (result,) = function.outputs
    for node in function.nodes[: result.node + 1]:
        if node.kind == "constant":
            yield repr(float(node.value))
        else:
            yield " ".join(["x" if node.kind == "input" else node.kind, *map(str, node.operands)])
