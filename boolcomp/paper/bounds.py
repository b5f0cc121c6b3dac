"""A proven bound of a plan's error: no input can give a larger one.

For one term f of inputs x, each within half a step δ of its cell's centre, coded with step s:

    |coded f(centre) - f(x)| ≤ s/2 + Σ_v max|∂f/∂v| · δ_v/2

The output adds half its own step, and the heights of the terms that were left out. Faithful
rounding doubles a term's s/2. The bound holds while nothing saturates.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from boolcomp.problem.interval import Interval
from boolcomp.terms import amplitude
from boolcomp.terms.extrema import largest
from boolcomp.terms.waves import Wave, collect

if TYPE_CHECKING:
    from boolcomp.paper.plan import OutputPlan, TermPlan, Word
    from boolcomp.problem.problem import Input
    from boolcomp.terms import Term


def error_bound(output: OutputPlan) -> float:
    """Return a bound of |output by tables - exact output|, in its unit."""
    left_out = sum(amplitude(term).bound for term in output.left_out)
    return output.code.step / 2 + left_out + sum(term_bound(term) for term in output.terms)


def term_bound(plan: TermPlan) -> float:
    """Return a bound of the error of one term's table."""
    rounding = plan.code.step * (0.5 if plan.rounding == "nearest" else 1.0)
    wider = {word.variable.name: _to_centres(word) for word in plan.words}
    term = replace(plan.term, arguments=tuple(wider[v.name] for v in plan.term.arguments))
    slopes = (slope(term, wider[w.variable.name]) * w.code.step / 2 for w in plan.words)
    return rounding + sum(slopes)


def _to_centres(word: Word) -> Input:
    """Return a word's input over a range that holds the centres of all cells that it meets."""
    variable, half = word.variable, word.code.step / 2
    if variable.word == variable.reach:
        return variable
    return replace(variable, reach=Interval(variable.reach.low - half, variable.reach.high + half))


@functools.lru_cache(maxsize=4096)
def slope(term: Term, variable: Input) -> float:
    """Return a bound of |∂term/∂variable| over the ranges of its variables."""
    factors = Counter(term.factor)
    if variable in factors:
        times = factors[variable]
        others = math.prod(v.reach.magnitude ** (n - (v == variable)) for v, n in factors.items())
        return times * others * largest(term.waves(), term.arguments).bound
    scale = math.prod(v.reach.magnitude for v in term.factor)
    return scale * largest(_derivative(term, variable.name), term.arguments).bound


def _derivative(term: Term, name: str) -> tuple[Wave, ...]:
    """Return the derivative along one input of a term's coefficient."""
    parts = []
    for wave in term.waves():
        coefficient = complex(wave.cosine, -wave.sine)
        multiple = dict(wave.multiples).get(name, 0)
        parts.append((wave.multiples, wave.powers, 1j * multiple * coefficient))
        power = dict(wave.powers).get(name, 0)
        if power:
            lower = tuple((j, n - (j == name)) for j, n in wave.powers)
            kept = tuple((j, n) for j, n in lower if n)
            parts.append((wave.multiples, kept, power * coefficient))
    return collect(parts)
