"""Exact torques of many states, fast: Newton and Euler's recurrence as native code over columns.

What `Tape` records of the recurrence of a robot's file is printed as a loop that compilers turn
into vectors; its sines and cosines are polynomials over a reduced angle (those of fdlibm), so that
they are part of it. `distance` holds it beside the same text in long doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from rivals.straight import record

from boolcomp.base.loops import njit
from boolcomp.problem.printers import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Straight

    Floats = NDArray[np.float64]

SAMPLES = 2000  # states at which long doubles are asked
# π/2 in three parts, the first two with zeros at their ends: times a small number they are exact
HIGH, MIDDLE = 1.57079632673412561417e00, 6.07710050630396597660e-11
LOW = 2.02226624879595063154e-21


@njit(cache=False, inline="always")
def sine_and_cosine(x: float) -> tuple[float, float]:
    """Return sin x and cos x for some turns at most."""
    turns = np.rint(x * (2.0 / np.pi))
    r = ((x - turns * HIGH) - turns * MIDDLE) - turns * LOW
    z = r * r
    tail = 8.33333333332248946124e-03 + z * (
        -1.98412698298579493134e-04 + z * (
            2.75573137070700676789e-06 + z * (
                -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))  # fmt: skip
    sine = r + z * r * (-1.66666666666666324348e-01 + z * tail)
    tail = 4.16666666666666019037e-02 + z * (
        -1.38888888888741095749e-03 + z * (
            2.48015872894767294178e-05 + z * (
                -2.75573143513906633035e-07 + z * (
                    2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))  # fmt: skip
    cosine = 1.0 - (0.5 * z - z * z * tail)
    quarter = int(turns) & 3
    first, second = (cosine, sine) if quarter & 1 else (sine, cosine)
    return (-first if quarter & 2 else first), (-second if (quarter + 1) & 2 else second)


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """A robot's torques, exact but for doubles; the same as a problem's `reference`."""

    fill: Callable[[Floats, Floats], None]
    steps: Straight

    def columns(self, inputs: Floats) -> Floats:
        """Return torques, (outputs, samples), of inputs, (inputs, samples)."""
        out = np.empty((len(self.steps.outputs), inputs.shape[1]))
        self.fill(inputs, out)
        return out

    def __call__(self, *arrays: Floats) -> Floats:
        """Return torques, (samples, outputs), of the arrays of all groups."""
        return self.columns(np.ascontiguousarray(np.concatenate(arrays, axis=1).T)).T

    def distance(self, states: Floats, lsb: Floats) -> float:
        """Return how far from long doubles torques at states (samples, inputs) are, in LSB."""
        wide = np.asfortranarray(states).T.astype(np.longdouble)
        out = np.empty((len(self.steps.outputs), len(states)), np.longdouble)
        _run(_text(self.steps, pairs=False), {"sin": np.sin, "cos": np.cos})(wide, out)
        found = self.columns(np.ascontiguousarray(states.T))
        return float((np.abs(found - out).T / lsb).max())


def exact_dynamics(robot: Robot) -> Exact:
    """Return the compiled recurrence of a robot; inputs are q1.. qd1.. qdd1.. ."""
    steps = record(robot)
    fill = _run(_text(steps, pairs=True), {"sine_and_cosine": sine_and_cosine})
    return Exact(njit(cache=False, error_model="numpy")(fill), steps)


def _run(text: str, space: dict[str, Any]) -> Callable[[Any, Any], None]:
    exec(text, space)  # noqa: S102 (our own text, a moment old)
    made: Callable[[Any, Any], None] = space["fill"]
    return made


def _text(steps: Straight, *, pairs: bool) -> str:
    """Return Python that fills outputs sample by sample; sines with their cosines if `pairs`."""
    lines = [f"v{k} = s[{k}, i]" for k in range(len(steps.inputs))]
    waves: set[int] = set()
    for place, node in enumerate(steps.nodes):
        if node.kind in ("sin", "cos") and pairs:
            (angle,) = node.operands
            if angle not in waves:
                lines.append(f"sin{angle}, cos{angle} = sine_and_cosine(v{angle})")
                waves.add(angle)
            lines.append(f"v{place} = {node.kind}{angle}")
        elif node.kind == "constant":
            lines.append(f"v{place} = {node.value!r}")
        elif node.kind != "input":
            read = [f"v{k}" for k in node.operands]
            lines.append(f"v{place} = {LANGUAGES['python'].expression(node, read)}")
    lines += [f"out[{k}, i] = v{one.node}" for k, one in enumerate(steps.outputs)]
    body = "\n        ".join(lines)
    return f"def fill(s, out):\n    for i in range(s.shape[1]):\n        {body}\n"
