"""Inner loops of simulation: straight-line programs, Runge-Kutta steps, the paper's tables.

Runs are columns: every array has a row for each value and a column for each run.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from boolcomp.base.loops import njit
from boolcomp.codes import TIE

KINDS = ("add", "sub", "mul", "div", "neg", "sin", "cos", "tanh", "sign")
ADD, SUB, MUL, DIV, NEG, SIN, COS, TANH, SIGN = range(len(KINDS))
LOW, STEP, CELLS, RAISED, BASE, WRAPS = range(6)  # what of a code is read


@njit(cache=True)
def arithmetic(values: Any, step: Any) -> None:
    """Fill a row with the sums, differences, products or quotients of two others."""
    kind, into, a, b = step
    if kind == ADD:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] + values[b, i]
    elif kind == SUB:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] - values[b, i]
    elif kind == MUL:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] * values[b, i]
    else:
        for i in range(values.shape[1]):
            values[into, i] = values[a, i] / values[b, i]


@njit(cache=True)
def function(kind: Any, x: Any) -> Any:
    """Return a function of one number."""
    if kind == NEG:
        return -x
    if kind == SIN:
        return math.sin(x)
    if kind == COS:
        return math.cos(x)
    if kind == TANH:
        return math.tanh(x)
    return 1.0 if x > 0 else (-1.0 if x < 0 else 0.0)


@njit(cache=True)
def calculate(code: Any, values: Any) -> None:
    """Do the steps (kind, row to fill, rows to read) one after another, each for all runs."""
    for k in range(code.shape[0]):
        kind, into, a, b = code[k, 0], code[k, 1], code[k, 2], code[k, 3]
        if kind < NEG:
            arithmetic(values, (kind, into, a, b))
        else:
            for i in range(values.shape[1]):
                values[into, i] = function(kind, values[a, i])


@njit(cache=True)
def slope(program: Any, state: Any, ahead: Any, slopes: Any, torque: Any) -> None:
    """Give the slopes of states that are so far ahead along the slopes that are given."""
    code, values, outputs = program
    joints = torque.shape[0]
    for k in range(2 * joints):
        for i in range(torque.shape[1]):
            values[k, i] = state[k, i] + ahead * slopes[k, i]
    values[2 * joints : 3 * joints] = torque
    calculate(code, values)
    for k in range(joints):
        slopes[k] = values[joints + k]
        slopes[joints + k] = values[outputs[k]]


@njit(cache=True)
def advance(program: Any, state: Any, torque: Any, step: Any, substeps: Any) -> None:
    """Move all states (positions, then speeds) on by classic Runge-Kutta steps of fourth order.

    Torques are held meanwhile. The program (steps, room for values, rows of results) reads
    positions, speeds and torques, in this order, and gives accelerations.
    """
    slopes = np.zeros_like(state)
    for _ in range(substeps):
        slope(program, state, 0.0, slopes, torque)
        total = slopes.copy()
        slope(program, state, step / 2, slopes, torque)
        total += 2 * slopes
        slope(program, state, step / 2, slopes, torque)
        total += 2 * slopes
        slope(program, state, step, slopes, torque)
        total += slopes
        state += step / 6 * total


@njit(cache=True)
def centre(value: Any, scale: Any) -> Any:
    """Return the middle of the cell that a value is in, as `Code.cell` and `Code.centre` do."""
    place = (value - scale[LOW]) / scale[STEP]
    if scale[WRAPS] > 0:
        place -= math.floor(place / scale[CELLS]) * scale[CELLS]
        cell = math.floor(place + TIE) % scale[CELLS]
    else:
        cell = math.floor(min(max(place, 0.0), scale[CELLS]) + TIE)
        cell = min(max(cell, 0.0), scale[CELLS] - 1)
    return scale[BASE] + (cell + scale[RAISED]) * scale[STEP]


@njit(cache=True)
def rounded(values: Any, scales: Any, found: Any) -> None:
    """Put every value on the middle of its cell; each has a code of its own."""
    for k in range(values.shape[0]):
        for i in range(values.shape[1]):
            found[k, i] = centre(values[k, i], scales[k, i])


@njit(cache=True)
def middles_of(columns: Any, words: Any) -> Any:
    """Return what every word of inputs stands for: (words, runs)."""
    sources, scales = words
    found = np.empty((sources.shape[0], columns.shape[1]))
    for w in range(sources.shape[0]):
        for i in range(columns.shape[1]):
            found[w, i] = centre(columns[sources[w, 0], i], scales[w])
    return found


@njit(cache=True)
def wave_of(plan: Any, middles: Any, wave: Any, i: Any) -> Any:
    """Return a wave (its multiples of angles, its powers of other inputs) at a run's words."""
    waves, angles, powers = plan
    first_angle = waves[0][wave - 1, 0] if wave else 0
    first_power = waves[0][wave - 1, 1] if wave else 0
    value, phase = waves[1][wave, 0], 0.0
    for k in range(first_angle, waves[0][wave, 0]):
        phase += angles[k, 1] * middles[angles[k, 0], i]
    if waves[0][wave, 0] > first_angle:
        value = value * math.cos(phase) + waves[1][wave, 1] * math.sin(phase)
    for k in range(first_power, waves[0][wave, 1]):
        value *= middles[powers[k, 0], i] ** powers[k, 1]
    return value


@njit(cache=True)
def tabled(columns: Any, plan: Any, found: Any) -> None:
    """Give what a plan's tables and sums give, of columns of inputs.

    A plan comes as words (column | scale), sums of waves, terms (waves until, factors until, output
    | scale), factors (word), and scales of outputs. Sums are waves (angles until, powers until |
    cosine, sine), angles (word, times) and powers (word, power). Rows that belong together stand
    one after another.
    """
    words, sums, terms, factors, outputs = plan
    middles = middles_of(columns, words)
    found[:, :] = 0.0
    wave = factor = 0
    for t in range(terms[0].shape[0]):
        for i in range(columns.shape[1]):
            value = 0.0
            for w in range(wave, terms[0][t, 0]):
                value += wave_of(sums, middles, w, i)
            for f in range(factor, terms[0][t, 1]):
                value *= middles[factors[f], i]
            found[terms[0][t, 2], i] += centre(value, terms[1][t])
        wave, factor = terms[0][t, 0], terms[0][t, 1]
    for k in range(found.shape[0]):
        for i in range(found.shape[1]):
            found[k, i] = centre(found[k, i], outputs[k])
