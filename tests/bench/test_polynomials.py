"""Polynomials for the rivals' sines: as exact as they say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boolcomp.measure.bench.polynomials import c_float, minimax, wave_polynomial


@pytest.mark.parametrize("error", [1e-2, 1e-3, 1e-5])
def test_a_wave_errs_no_more_than_it_says(error: float) -> None:
    t = np.linspace(-0.5, 0.5, 5001)
    z = t * t
    cosine, sine = wave_polynomial("cosine", error), wave_polynomial("sine", error)
    found = np.polynomial.polynomial.polyval(z, cosine.coefficients)
    assert np.abs(found - np.cos(2 * math.pi * t)).max() <= 1.02 * cosine.error <= 1.02 * error
    found = t * np.polynomial.polynomial.polyval(z, sine.coefficients)
    assert np.abs(found - np.sin(2 * math.pi * t)).max() <= 1.02 * sine.error <= 1.02 * error


def test_less_error_takes_more_terms() -> None:
    lengths = [len(wave_polynomial("cosine", e).coefficients) for e in (1e-1, 1e-3, 1e-6)]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[-1]


def test_a_minimax_line_through_a_parabola() -> None:
    x = np.linspace(0, 1, 101)
    found = minimax(np.stack([np.ones_like(x), x], axis=1), x**2)
    assert found.coefficients == pytest.approx((-0.125, 1.0), abs=1e-6)
    assert found.error == pytest.approx(0.125, abs=1e-6)


def test_constants_of_c_are_floats() -> None:
    assert [c_float(x) for x in (2.0, 0.5, 1e-20)] == ["2.0f", "0.5f", "1e-20f"]
    assert wave_polynomial("sine", 1e-1).horner("y").count("y") == 2
