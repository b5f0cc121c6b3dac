"""A proven bound of a plan's error: no input can give a larger one.

For one term f of inputs x, each within half a step δ of its cell's centre, coded with step s:

    |coded f(centre) - f(x)| ≤ s/2 + Σ_v max|∂f/∂v| · δ_v/2

The torque adds half its own step, and the heights of the terms that were left out. Faithful
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
    from boolcomp.paper.plan import JointPlan, TermPlan, Word
    from boolcomp.terms import Term, Variable


def error_bound(joint: JointPlan) -> float:
    """Return a bound of |torque by tables - exact torque| in N·m (N where the joint slides)."""
    left_out = sum(amplitude(term).bound for term in joint.left_out)
    return joint.code.step / 2 + left_out + sum(term_bound(term) for term in joint.terms)


def term_bound(plan: TermPlan) -> float:
    """Return a bound of the error of one term's table."""
    rounding = plan.code.step * (0.5 if plan.rounding == "nearest" else 1.0)
    wider = {word.variable.name: _to_centres(word) for word in plan.words}
    term = replace(plan.term, positions=tuple(wider[v.name] for v in plan.term.positions))
    slopes = (slope(term, wider[w.variable.name]) * w.code.step / 2 for w in plan.words)
    return rounding + sum(slopes)


def _to_centres(word: Word) -> Variable:
    """Return a word's variable over a range that holds the centres of all cells that it meets."""
    variable, half = word.variable, word.code.step / 2
    if variable.word is None:
        return variable
    return replace(variable, range=Interval(variable.range.low - half, variable.range.high + half))


@functools.lru_cache(maxsize=4096)
def slope(term: Term, variable: Variable) -> float:
    """Return a bound of |∂term/∂variable| over the ranges of its variables."""
    factors = Counter(term.factor)
    if variable in factors:
        times = factors[variable]
        others = math.prod(v.range.magnitude ** (n - (v == variable)) for v, n in factors.items())
        return times * others * largest(term.waves(), term.positions).bound
    scale = math.prod(v.range.magnitude for v in term.factor)
    return scale * largest(_derivative(term, variable.joint), term.positions).bound


def _derivative(term: Term, joint: int) -> tuple[Wave, ...]:
    """Return ∂/∂q_joint of a term's coefficient."""
    parts = []
    for wave in term.waves():
        coefficient = complex(wave.cosine, -wave.sine)
        multiple = dict(wave.multiples).get(joint, 0)
        parts.append((wave.multiples, wave.powers, 1j * multiple * coefficient))
        power = dict(wave.powers).get(joint, 0)
        if power:
            lower = tuple((j, n - (j == joint)) for j, n in wave.powers)
            kept = tuple((j, n) for j, n in lower if n)
            parts.append((wave.multiples, kept, power * coefficient))
    return collect(parts)
