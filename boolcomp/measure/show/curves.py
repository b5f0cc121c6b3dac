"""Outputs along a trajectory as pictures: exact and by logic, and what the logic errs by below.

They are plain lines; the script puts a cursor on them, and draws them anew for another trajectory.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from boolcomp.program.parts import CodedOutput

    Floats = NDArray[np.float64]

CURVE_WIDE, CURVE_HIGH, ERRORS = 420.0, 96.0, 44.0  # pixels: of a picture, its curve, its errors
GAP = 10.0
POINTS = 300
CURVE_ROOM = 1.06


@dataclass(frozen=True, slots=True)
class Frame:
    """What a picture's heights mean: the middle and half the height of curve and of errors."""

    middle: float
    half: float
    error: float


def frame_of(output: CodedOutput, values: Floats, exact: Floats | None) -> Frame:
    """Return a frame that holds values, exact values, and the bound of their error."""
    every = values if exact is None else np.concatenate([values, exact])
    low, high = float(every.min()), float(every.max())
    half = max((high - low) / 2 * CURVE_ROOM, output.code.step)
    largest = 0.0 if exact is None else float(np.abs(values - exact).max())
    error = largest if output.bound_note else output.bound
    return Frame((low + high) / 2, half, max(error, largest, output.code.step / 2) * CURVE_ROOM)


def points(values: Floats, middle: float, half: float, top: float, high: float) -> str:
    """Return a line through values, evenly spaced over the width."""
    x = np.linspace(0, CURVE_WIDE, len(values))
    y = top + high / 2 - (values - middle) / half * high / 2
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))


def draw_output(
    place: int, output: CodedOutput, values: Floats, exact: Floats | None, period: float
) -> str:
    """Return the picture of an output along a trajectory."""
    frame = frame_of(output, values, exact)
    step = np.repeat(values, 2)  # logic has steps
    unit = html.escape(f" {output.unit}" if output.unit else "")
    name = html.escape(output.symbol)
    lines = [f'<rect class="ground" width="{CURVE_WIDE:g}" height="{CURVE_HIGH:g}"/>']
    zero = CURVE_HIGH / 2 + frame.middle / frame.half * CURVE_HIGH / 2
    if 0 < zero < CURVE_HIGH:
        lines.append(f'<path class="zero" d="M0,{zero:.1f}H{CURVE_WIDE:g}"/>')
    line = points(step, frame.middle, frame.half, 0, CURVE_HIGH)
    lines.append(f'<polyline class="logic" points="{line}"/>')
    if exact is not None:
        line = points(exact, frame.middle, frame.half, 0, CURVE_HIGH)
        lines.append(f'<polyline class="exact" points="{line}"/>')
        top = CURVE_HIGH + GAP
        lines.append(
            f'<rect class="ground" y="{top:g}" width="{CURVE_WIDE:g}" height="{ERRORS:g}"/>'
        )
        lines.append(f'<path class="zero" d="M0,{top + ERRORS / 2:.1f}H{CURVE_WIDE:g}"/>')
        if not output.bound_note:
            away = output.bound / frame.error * ERRORS / 2
            middle = top + ERRORS / 2
            lines.append(
                f'<path class="bound" d="M0,{middle - away:.1f}H{CURVE_WIDE:g}'
                f'M0,{middle + away:.1f}H{CURVE_WIDE:g}"/>'
            )
        line = points(values - exact, 0.0, frame.error, top, ERRORS)
        lines.append(f'<polyline class="error" points="{line}"/>')
    high = CURVE_HIGH if exact is None else CURVE_HIGH + GAP + ERRORS
    lines.append(f'<path class="cursor" d="M0,0V{high:g}"/>')
    ends = f"{frame.middle - frame.half:.3g} … {frame.middle + frame.half:.3g}{unit}"
    errors = "" if exact is None else f"; below, the error: ±{frame.error:.3g}{unit}"
    said = f"{name} along the trajectory of {period:.3g} s: {ends}{errors}"
    return (
        f'<figure class="strip"><figcaption><b>{name}</b> {ends}{errors}</figcaption>'
        f'<svg viewBox="0 0 {CURVE_WIDE:g} {high:g}" preserveAspectRatio="none" role="img" '
        f'aria-label="{said}" data-output="{place}" data-middle="{frame.middle!r}" '
        f'data-half="{frame.half!r}" data-error="{frame.error!r}">{"".join(lines)}</svg></figure>'
    )
