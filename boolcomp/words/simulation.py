"""Which simple curve the entries of a table follow: waves of an angle, a square, a multiple.

A name is given only where the curve that it says, with the digits that it shows, agrees with the
entries but for a factor (and for a constant, unless the name has one).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Wave = tuple[str, int, float]  # cos or sin, of which multiple, its amplitude

WAVES = 4  # multiples of an angle that a table over a whole turn may follow
ARC_WAVES = 2  # and one over a part of a turn, where many curves look alike
ARC_CELLS = 8  # fewer say nothing of a curve
POINTS = 256  # of a table that are looked at
VISIBLE = 0.04  # an amplitude below this part of the largest is left out of a name
HUGE = 20  # a constant this many times the waves beside it is called c
FIT = 0.12  # what a name may leave of a table, as a part of its rms
COARSE = 0.25  # and where rounding to few bits leaves more
ROUNDED = 0.35  # of an entry's lowest bit: the rms that rounding leaves, and a little
DIGITS = (1, 2, 3)  # that factors are shown with; more where a name would not agree
CURVES = {"cos": np.cos, "sin": np.sin}


def is_sum(name: str) -> bool:
    """Tell whether a name needs brackets before a factor."""
    depth = 0
    for k, letter in enumerate(name):
        depth += (letter == "(") - (letter == ")")
        if k and not depth and letter in "+-":
            return True
    return name.startswith("-")


def wave_name(values: Floats, angle: Floats, of: str, lsb: float) -> str:
    """Return the few waves of an angle that a table follows; nothing where it does not.

    `angle` rises evenly over a turn or an arc; entries are multiples of `lsb` but for a constant.
    """
    count = len(values)
    whole = count > 1 and abs((angle[1] - angle[0]) * count - 2 * np.pi) < 1e-6
    if not values.std() or (not whole and count < ARC_CELLS):
        return ""
    slack = _slack(values, lsb)
    found = _over_a_turn(values, angle, slack) if whole else _over_an_arc(values, angle, lsb)
    for waves, constant in found:
        for digits in DIGITS:
            text, shown, free = _written(waves, constant, of, digits, angle)
            if _agree(values, shown, slack, free=free):
                return text
    return ""


def _slack(values: Floats, lsb: float) -> float:
    """Return the rms that a name may leave of a table."""
    size = float(values.std())
    return max(FIT * size, min(ROUNDED * lsb, COARSE * size))


def _over_a_turn(values: Floats, angle: Floats, slack: float) -> Iterator[tuple[list[Wave], float]]:
    mean = float(values.mean())
    rest = values - mean
    size = float(rest.std())
    waves: list[Wave] = []
    for k in range(1, min(WAVES, len(values) // 4) + 1):
        for letters, function in CURVES.items():
            curve = function(k * angle)
            amplitude = 2 * float((rest * curve).mean())
            if abs(amplitude) > VISIBLE * size:
                waves.append((letters, k, amplitude))
                rest = rest - amplitude * curve
    if waves and rest.std() <= slack:
        yield waves, mean


def _over_an_arc(values: Floats, angle: Floats, lsb: float) -> Iterator[tuple[list[Wave], float]]:
    """Yield fits by waves that are few and low: those first that rounding alone tells apart."""
    stride = max(1, len(values) // POINTS)
    values, angle = values[::stride], angle[::stride]
    known = [(letters, k) for k in range(1, ARC_WAVES + 1) for letters in CURVES]
    rough: list[tuple[list[Wave], float]] = []
    for count, constant in itertools.product((1, 2, 3), (False, True)):
        fits = []
        for chosen in itertools.combinations(known, count):
            columns = [CURVES[letters](k * angle) for letters, k in chosen]
            factors, left = _fitted(values, [*columns, *[np.ones_like(angle)] * constant])
            waves = [(*wave, float(f)) for wave, f in zip(chosen, factors, strict=False)]
            highest = max(k for _, k in chosen)
            fits.append((left > ROUNDED * lsb, highest * (left <= ROUNDED * lsb), left, waves,
                         float(factors[-1]) if constant else 0.0))  # fmt: skip
        poor, _, left, waves, number = min(fits, key=lambda fit: fit[:3])
        if not poor:
            yield waves, number
        elif left <= _slack(values, lsb):
            rough.append((waves, number))
    yield from rough


def _written(
    waves: Sequence[Wave], constant: float, of: str, digits: int, angle: Floats
) -> tuple[str, Floats, bool]:
    """Return a sum of waves as text, what it says, and whether it leaves the constant open."""
    largest = max(abs(amplitude) for *_, amplitude in waves)
    text, shown = "", np.zeros_like(angle)
    huge = abs(constant) > HUGE * largest  # a constant beside which waves are small
    said = not huge and abs(constant) > 3 * VISIBLE * largest
    if said:
        text = _shown(constant / largest, digits)
        shown += float(text)
    elif huge:
        text = "c"
    for letters, k, amplitude in waves:
        size = _shown(abs(amplitude) / largest, digits)
        inner = of if k == 1 else f"{k}({of})" if is_sum(of) else f"{k}{of}"
        text += f"{'-' if amplitude < 0 else '+'}{'' if size == '1' else size}{letters}({inner})"
        shown += np.copysign(float(size), amplitude) * CURVES[letters](k * angle)
    return text.removeprefix("+"), shown, not said


def _shown(value: float, digits: int) -> str:
    """Write a number with so many digits, and never a power of ten."""
    return np.format_float_positional(float(f"{value:.{digits}g}"), trim="-")


def power_name(values: Floats, x: Floats, of: str, lsb: float) -> str:
    """Return the multiple or the square of a word that a table follows at its cells."""
    size = values.std()
    if not size or len(values) < 2:
        return ""
    linear, left = _fitted(values, [x, np.ones_like(x)])
    name = f"-{of}" if linear[0] < 0 else of
    if left <= max(ROUNDED * lsb, VISIBLE * size):
        return name
    slack = _slack(values, lsb)
    square, left_of_square = _fitted(values, [x * x, x, np.ones_like(x)])
    if left_of_square <= slack and square[0]:
        vertex = -square[1] / (2 * square[0])
        sign = "-" if square[0] < 0 else ""
        if abs(vertex) < VISIBLE * (x[-1] - x[0]):
            return f"{sign}({of})²" if is_sum(of) else f"{sign}{of}²"
        for digits in DIGITS:
            beside = f"{'-' if vertex > 0 else '+'}{_shown(abs(vertex), digits)}"
            shown = np.copysign(1.0, square[0]) * (x + float(beside)) ** 2
            if _agree(values, shown, slack, free=True):
                return f"{sign}({of}{beside})²"
    return name if left <= slack else ""


def _fitted(values: Floats, columns: Sequence[Floats]) -> tuple[Floats, float]:
    """Return the factors of the least squares of what is left, and its rms."""
    matrix = np.stack(columns, axis=1)
    factors: Floats = np.linalg.lstsq(matrix, values, rcond=None)[0].astype(np.float64)
    return factors, float(np.sqrt(((values - matrix @ factors) ** 2).mean()))


def _agree(values: Floats, shown: Floats, slack: float, *, free: bool) -> bool:
    """Tell whether a table is a curve times a positive factor (and beside a constant, if free)."""
    factors, left = _fitted(values, [shown, *[np.ones_like(shown)] * free])
    return bool(factors[0] > 0 and left <= slack)
