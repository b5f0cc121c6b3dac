"""Plans that keep a promise: guard bits, and bits where they are free, for which a bound holds.

More guard bits make every term finer, and its words and tables wider: the fewest that keep the
promise are the cheapest. Of word lengths that is taken whose tables have the fewest entries.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, UsageError, listing
from boolcomp.paper.bounds import error_bound
from boolcomp.paper.plan import FEWEST_BITS, MOST_BITS, MOST_GUARD_BITS, make_plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.paper.plan import Options, Plan
    from boolcomp.problem.promise import Promise
    from boolcomp.terms.extract import Terms


@dataclass(frozen=True, slots=True)
class _Tried:
    """A plan, and how many times as large as promised its largest bound is."""

    plan: Plan
    excess: float

    @property
    def entries(self) -> int:
        """How many bits its tables have."""
        return sum((1 << term.input_bits) * term.code.bits for term in self.plan.terms)


def promised_plans(
    several: Sequence[Terms], options: Options, error: Promise, *, free: bool
) -> list[Plan]:
    """Return the plans of several loads that keep a promise; with `free` bits those of fewest."""
    if free and not error.absolute:
        raise UsageError(f"error {error}: bits are free only for errors in units: give 0.5Nm")
    best: tuple[int, list[Plan]] | None = None
    nearest: _Tried | None = None
    refused: DataError | None = None
    for bits in range(FEWEST_BITS, MOST_BITS + 1) if free else (options.bits,):
        try:
            tried = [_plan(terms, replace(options, bits=bits), error) for terms in several]
        except DataError as problem:  # half a step is too much
            refused = problem
            continue
        worst = max(tried, key=lambda one: one.excess)
        if worst.excess > 1:
            nearest = worst if nearest is None or worst.excess < nearest.excess else nearest
            continue
        entries = sum(one.entries for one in tried)
        if best is None or entries < best[0]:
            best = entries, [one.plan for one in tried]
        elif best is not None and bits > best[1][0].options.bits + 1:
            break
    if best is not None:
        return best[1]
    if nearest is None:
        raise refused or DataError(f"error {error}: no word length keeps it")
    raise _broken(nearest, error)


def allowed(plan: Plan, error: Promise) -> list[float]:
    """Return what is promised of outputs, in their units; infinite where nothing is."""
    steps = error.steps(plan.problem, plan.options.bits)
    return [most * one.code.step for most, one in zip(steps, plan.outputs, strict=True)]


def _plan(terms: Terms, options: Options, error: Promise) -> _Tried:
    """Return the plan with the fewest guard bits that keeps a promise, or is nearest to it."""
    error.check(terms.problem, options.bits)
    guards: Iterable[int] = range(MOST_GUARD_BITS + 1)
    if options.guard_bits is not None:
        guards = (options.guard_bits,)
    best: _Tried | None = None
    for guard in guards:
        plan = make_plan(terms, replace(options, guard_bits=guard))
        if best is not None and any(term.too_wide for term in plan.terms):
            break
        _refuse_saturation(plan, error)
        pairs = zip(plan.outputs, allowed(plan, error), strict=True)
        tried = _Tried(plan, max(error_bound(one) / most for one, most in pairs))
        if best is None or tried.excess < best.excess:
            best = tried
        if tried.excess <= 1:
            break
    if best is None:
        raise ValueError("no guard bits to try")
    return best


def _refuse_saturation(plan: Plan, error: Promise) -> None:
    """Refuse to promise anything of an output that can leave its range."""
    for one, most in zip(plan.outputs, allowed(plan, error), strict=True):
        if math.isfinite(most) and one.amplitude > one.code.range.high:
            raise DataError(
                f"{plan.problem.name}: {one.output.symbol} can reach ±{one.amplitude:.6g}, beyond "
                f"its range ±{one.code.range.high:.6g}: it saturates there, and nothing can be "
                "promised: give it a wider range"
            )


def _broken(tried: _Tried, error: Promise) -> DataError:
    plan = tried.plan
    missed = []
    for one, most in zip(plan.outputs, allowed(plan, error), strict=True):
        found, step = error_bound(one), one.code.step
        if found > most:
            missed.append(
                f"{one.output.name} {found / step:.3f} LSB ({found:.4g} {one.output.unit}".rstrip()
                + f") and not {most / step:.4g}"
            )
    return DataError(
        f"{plan.problem.name}: no tables of paper mode keep errors of {error}; the best that was "
        f"reached, with {plan.options.bits} bits and {plan.options.guard_bits} guard bits, is "
        f"{listing(missed)}: compact mode has no tables of whole terms: --mode compact"
    )
