"""Steps of a calculation by what they depend on: each is a function of one word, its root.

The root of a step is an input, a sum of whole multiples of angles, or a step that reads several
words: what reads one word only, through however many steps, is a function of that word.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boolcomp.common.errors import UsageError, listing
from boolcomp.compact.sketch.nodes import primitive
from boolcomp.problem.expressions.straight import Operation, Returned, Straight
from boolcomp.problem.expressions.tape import Tape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.compact.sketch.poly import Angle
    from boolcomp.problem.problem import Problem

    Floats = NDArray[np.float64]

SAMPLES, SEED = 8192, 0xD1EC7  # states that tell what steps reach
STEEPEST = 16.0  # slope of a point that is looked up as one
LEAST = 2.0**-14  # of the largest: what is smaller has this logarithm

Root: TypeAlias = "int | Angle"  # a step by its place, or a primitive sum of angles


@dataclass(frozen=True, slots=True)
class Known:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Turned:
    """A sum of whole multiples of angles, and a phase: it has no value but in functions."""

    multiples: Angle
    phase: float


@dataclass(frozen=True, slots=True)
class Rooted:
    """A function of a root; slope·root + offset where that is known."""

    root: Root
    affine: tuple[float, float] | None = None


Dependence: TypeAlias = Known | Turned | Rooted


def dependences(problem: Problem, steps: Straight) -> list[Dependence]:
    """Return what every step depends on."""
    inputs = {one.name: one for one in problem.inputs}
    found: list[Dependence] = []
    for place, step in enumerate(steps.nodes):
        if step.kind == "constant":
            found.append(Known(step.value))
        elif step.kind == "input":
            one = inputs[step.name]
            if one.range.single:
                found.append(Known(one.range.low))
            elif one.angle:
                found.append(Turned(((one.name, 1),), 0.0))
            else:
                found.append(Rooted(place, (1.0, 0.0)))
        else:
            read = [found[k] for k in step.operands]
            found.append(_dependence(problem, steps, place, read))
    return found


def _dependence(
    problem: Problem, steps: Straight, place: int, read: Sequence[Dependence]
) -> Dependence:
    kind = steps.nodes[place].kind
    if all(isinstance(one, Known) for one in read):
        values = [np.asarray(one.value) for one in read if isinstance(one, Known)]
        part = Straight(
            (*(_input(k) for k in range(len(values))), _moved(steps, place, len(values))),
            (Returned("y", len(values)),),
        )
        return Known(float(part.evaluate(values)[0]))
    if any(isinstance(one, Turned) for one in read):
        return _of_angles(steps.nodes[place].task or problem.name, kind, read)
    roots = {one.root for one in read if isinstance(one, Rooted)}
    if len(roots) > 1:
        return Rooted(place, (1.0, 0.0))
    (root,) = roots
    return Rooted(root, _affine(kind, read))


def _input(place: int) -> Operation:
    return Operation("input", name=f"x{place}")


def _moved(steps: Straight, place: int, count: int) -> Operation:
    return replace(steps.nodes[place], operands=tuple(range(count)))


def _of_angles(where: str, kind: str, read: Sequence[Dependence]) -> Dependence:
    """Return what a step depends on that reads angles; what cannot be is said of this place."""
    if kind in ("sin", "cos", "wrap"):
        (one,) = read
        if isinstance(one, Turned):
            return Rooted(primitive(one.multiples)[0])
    terms = [(x.multiples, x.phase) for x in read if isinstance(x, Turned)]
    numbers = [x.value for x in read if isinstance(x, Known)]
    if kind in ("add", "sub", "neg") and len(terms) + len(numbers) == len(read):
        sign = -1 if kind in ("sub", "neg") else 1
        signs = (1, sign) if len(read) == 2 else (sign,)
        parts = [
            (x.multiples, x.phase) if isinstance(x, Turned) else ((), _number(x)) for x in read
        ]
        return _turned(parts, signs)
    if kind == "mul" and len(numbers) == 1 and numbers[0] == round(numbers[0]):
        return _turned(terms, (round(numbers[0]),))
    names = sorted({name for multiples, _ in terms for name, _ in multiples})
    raise UsageError(
        f"{where}: {listing(names)} is an angle: it stands in sums of whole multiples of "
        "angles, inside sin, cos, tan or wrap, and nowhere else"
    )


def _number(x: Dependence) -> float:
    return x.value if isinstance(x, Known) else 0.0


def _turned(parts: Sequence[tuple[Angle, float]], signs: Sequence[int]) -> Dependence:
    total: dict[str, int] = {}
    phase = 0.0
    for (multiples, shift), sign in zip(parts, signs, strict=True):
        phase += sign * shift
        for name, multiple in multiples:
            total[name] = total.get(name, 0) + sign * multiple
    left = tuple((name, m) for name, m in sorted(total.items()) if m)
    return Turned(left, phase) if left else Known(phase)


def _affine(kind: str, read: Sequence[Dependence]) -> tuple[float, float] | None:
    """Return slope and offset of a step that reads one root and numbers, if it is linear."""
    pairs = [(0.0, x.value) if isinstance(x, Known) else _pair(x) for x in read]
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    if kind == "neg":
        return -known[0][0], -known[0][1]
    if kind in ("add", "sub"):
        sign = 1 if kind == "add" else -1
        return known[0][0] + sign * known[1][0], known[0][1] + sign * known[1][1]
    if kind == "mul" and 0.0 in (known[0][0], known[1][0]):
        (a, b), (c, d) = known
        return a * d + b * c, b * d
    if kind == "div" and known[1][0] == 0.0:
        return known[0][0] / known[1][1], known[0][1] / known[1][1]
    return None


def _pair(x: Dependence) -> tuple[float, float] | None:
    return x.affine if isinstance(x, Rooted) else None


def reached(problem: Problem, steps: Straight) -> tuple[Floats, Floats]:
    """Return the least and largest value of every step, at states drawn and at ends of ranges."""
    rng = np.random.default_rng(SEED)
    low = np.array([one.reach.low for one in problem.inputs])
    high = np.array([one.reach.high for one in problem.inputs])
    drawn = rng.uniform(low, high, (SAMPLES, len(low)))
    ends = np.where(rng.random(drawn.shape) < 0.5, low, high)
    angles = np.array([one.angle for one in problem.inputs])
    grid = np.clip(np.round(drawn / (math.pi / 4)) * (math.pi / 4), low, high)
    ends = np.where(angles & (rng.random(drawn.shape) < 0.8), grid, ends)
    states = np.concatenate([drawn, ends])
    columns = {one.name: states[:, k] for k, one in enumerate(problem.inputs)}
    every = Straight(steps.nodes, tuple(Returned(str(k), k) for k in range(len(steps.nodes))))
    with np.errstate(all="ignore"):
        values = every.evaluate([columns[name] for name in every.inputs])
    found = [value[np.isfinite(value)] if value.ndim else value[None] for value in values]
    return (
        np.array([v.min() if v.size else 0.0 for v in found]),
        np.array([v.max() if v.size else 0.0 for v in found]),
    )


def lowered(problem: Problem, steps: Straight) -> Straight:
    """Return steps in which nothing but sums and products reads several words.

    a / b is a · (1/b). The angle of a point that stays on one side of an axis is the atan of its
    slope, y · (1/x); of any other it is that of its absolute coordinates, atan of
    exp(log |y| - log |x|), turned by the signs:
    atan2(y, x) = sgn y · (π/2 + sgn x · (atan(|y|/|x|) - π/2)).
    """
    roots = dependences(problem, steps)
    if not any(step.kind in ("div", "atan2") for step in steps.nodes):
        return steps
    low, high = reached(problem, steps)
    size = np.maximum(np.abs(low), np.abs(high))
    tape = Tape()
    wires: list[Any] = []
    for place, step in enumerate(steps.nodes):
        read = [wires[k] for k in step.operands]
        several = isinstance(roots[place], Rooted) and roots[place] == Rooted(place, (1.0, 0.0))
        if step.kind == "div" and several:
            wires.append(read[0] * (1.0 / read[1]))
        elif step.kind == "atan2" and several:
            y, x = step.operands
            if low[x] > size[y] / STEEPEST:  # always on one side: a slope tells it
                wires.append(tape.function("atan", read[0] * (1.0 / read[1])))
            elif min(abs(low[y]), abs(high[y])) > size[x] / STEEPEST and low[y] * high[y] > 0:
                slope = tape.function("atan", read[1] * (1.0 / read[0]))
                wires.append(math.copysign(math.pi / 2, low[y]) - slope)
            else:
                wires.append(_arc(tape, read[0], read[1], size[y], size[x], above=low[y] >= 0))
        else:
            wires.append(tape.again(step, read))
    return tape.finish([(one.name, wires[one.node]) for one in steps.outputs])


def _arc(tape: Tape, y: Any, x: Any, most_y: float, most_x: float, *, above: bool) -> Any:
    """Return the angle of a point; one that is never below needs no sign of y, nor its errors."""
    slope = _log(tape, y, most_y) - _log(tape, x, most_x)
    angle = tape.function("atan", tape.function("exp", slope))
    turned = tape.sign(x) * (angle - math.pi / 2) + math.pi / 2
    return turned if above else tape.sign(y) * turned


def _log(tape: Tape, x: Any, most: float) -> Any:
    """Record log max(|x|, a little): of nothing there is none."""
    least = LEAST * most
    size = tape.function("abs", x)
    held = (size + least + tape.function("abs", size - least)) * 0.5
    return tape.function("log", held)
