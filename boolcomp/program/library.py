"""A library of loads: what stands for a mass at the tip that was not compiled for.

Outputs that are affine in that mass (torques, and all else that forces do) have two answers. The
nearest load, the heavier of two that are as near: it errs as it does by itself, and by what the
difference of the masses makes at most. Or the mean of the loads below and above, weighted by how
near they are: of exact outputs that would be exact, so the mean errs by no more than the mean of
what both err by.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from boolcomp.base.errors import mass_text, number
from boolcomp.common.errors import UsageError, listing
from boolcomp.engines.engine import Evaluation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from boolcomp.program.parts import CodedOutput, Load

MOST_LISTED = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """Loads that stand for a mass, the nearest first; their weights add up to one.

    `bounds` are what no error of an output exceeds, in its unit, as long as no load saturates.
    """

    mass: float
    loads: tuple[Load, ...]
    weights: tuple[float, ...]
    bounds: tuple[float, ...]

    @property
    def exact(self) -> bool:
        """Whether it was compiled for this very mass."""
        return self.loads[0].payload == self.mass

    @property
    def outputs(self) -> tuple[CodedOutput, ...]:
        """The outputs, with what is known of their errors at this mass."""
        first = self.loads[0].outputs
        if self.exact:
            return first
        pairs = zip(first, self.bounds, strict=True)
        return tuple(replace(one, bound=bound, grade="", errors=None) for one, bound in pairs)

    def __str__(self) -> str:
        each = listing(
            mass_text(load.payload) for load in sorted(self.loads, key=lambda x: x.payload)
        )
        if self.exact:
            return f"the load of {each} kg"
        how = "between the loads" if len(self.loads) > 1 else "by the nearest load,"
        return f"{mass_text(self.mass)} kg {how} of {each} kg"


def masses(payloads: Iterable[float]) -> str:
    """Return masses as a list, a long one by its ends."""
    known = [mass_text(payload) for payload in payloads]
    if len(known) <= MOST_LISTED:
        return listing(known)
    return f"{known[0]}, {known[1]} … {known[-1]} ({len(known)} of them)"


def alone(load: Load) -> Chosen:
    """Return a load that stands for itself."""
    return Chosen(load.payload, (load,), (1.0,), tuple(one.bound for one in load.outputs))


def choose(
    loads: Sequence[Load], per_kilogram: Sequence[float], mass: float, *, interpolate: bool = False
) -> Chosen:
    """Return what stands for a mass, from the lightest load to the heaviest."""
    for load in loads:
        if load.payload == mass:
            return alone(load)
    rising = sorted(loads, key=lambda load: load.payload)
    low, high = rising[0].payload, rising[-1].payload
    if not per_kilogram or not low < mass < high:
        span = f", and answers from {number(low)} to {number(high)}" if per_kilogram else ""
        known = masses(load.payload for load in loads)
        raise UsageError(f"no payload {mass}: this program has {known} kg{span}")
    above = next(k for k, load in enumerate(rising) if load.payload > mass)
    below, above_it = rising[above - 1], rising[above]
    part = (mass - below.payload) / (above_it.payload - below.payload)
    nearer, other, share = (above_it, below, part) if part >= 0.5 else (below, above_it, 1 - part)
    if not interpolate:
        beyond = abs(mass - nearer.payload)
        each = zip(nearer.outputs, per_kilogram, strict=True)
        return Chosen(mass, (nearer,), (1.0,), tuple(x.bound + beyond * more for x, more in each))
    pairs = zip(nearer.outputs, other.outputs, strict=True)
    bounds = tuple(share * one.bound + (1 - share) * two.bound for one, two in pairs)
    return Chosen(mass, (nearer, other), (share, 1 - share), bounds)


def between(found: Sequence[Evaluation], weights: Sequence[float]) -> Evaluation:
    """Return the weighted mean of evaluations; words are those of the first.

    Outputs that saturated are counted in all of them: none did where the count is zero.
    """
    first = found[0]
    if len(found) == 1:
        return first
    values = sum(
        weight * np.asarray(one.values, np.float64)
        for one, weight in zip(found, weights, strict=True)
    )
    return Evaluation(
        np.asarray(values).astype(np.asarray(first.values).dtype), first.words,
        max(one.saturated_inputs for one in found),
        sum(one.saturated_outputs for one in found),
        max(one.beyond_stops for one in found),
    )  # fmt: skip
