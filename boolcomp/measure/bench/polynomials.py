"""Polynomials for sines and cosines with the least largest error, for the rivals' C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

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
