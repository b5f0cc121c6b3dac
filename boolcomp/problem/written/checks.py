"""Does a function have a value wherever its inputs may be? Each place where it has none is named.

Intervals acquit most steps (`enclosures`). What they leave open is searched by sampling and
climbing: a step is refused where a state is found at which it has no value. The search proves
nothing: what it does not find is compiled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from boolcomp.base.errors import short
from boolcomp.common.errors import DataError, UsageError, listing
from boolcomp.problem.expressions.rules import DOMAINS
from boolcomp.problem.expressions.straight import Returned, Straight
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.extremes import climb
from boolcomp.problem.interval import MOST_SIZE
from boolcomp.problem.written.enclosures import Ends, enclosures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.problem import Input

    Floats = NDArray[np.float64]

CHECK_SAMPLES, CORNERS, CHECK_SEED = 4096, 1024, 1988
CLIMB_STARTS, CLIMB_FINE = 6, 1e-7  # of climbing, and the step at which it ends
NEARLY = 1e-9  # of the size of a step: rounding
HALVINGS = 60
MOST_NAMED = 4  # inputs in a sentence
WAVES = ("sin", "cos", "wrap")
NAMES = {"sqrt": "the square root", "log": "the logarithm", "asin": "asin", "acos": "acos"}


def check_values(steps: Straight, inputs: Sequence[Input]) -> Straight:
    """Return steps that have a value everywhere; a `UsageError` names one that has none.

    Roots of what may be zero are taken of what is held at zero, and so on: rounding must not make
    them leave their domain.
    """
    check_angles(steps, inputs)
    ends = enclosures(steps, inputs)
    search = _Search(steps, inputs)
    edges: set[int] = set()
    for place, step in enumerate(steps.nodes):
        if step.kind == "div":
            _check_divisor(search, place, ends[step.operands[1]])
        elif step.kind in DOMAINS:
            if _check_domain(search, place, ends[step.operands[0]]):
                edges.add(place)
        elif step.kind == "constant" and abs(step.value) > MOST_SIZE:
            raise DataError(f"a number of it is beyond ±{MOST_SIZE:g}: {step.value:g}")
        _check_size(search, place, ends[place])
    return _held(steps, edges) if edges else steps


def check_angles(steps: Straight, inputs: Sequence[Input]) -> None:
    """Refuse an angle anywhere but in sums of whole multiples, inside sin, cos or wrap."""
    names = {one.name for one in inputs if one.angle and not one.range.single}
    angles: list[frozenset[str]] = []  # what a step is a sum of, if it is an angle
    for step in steps.nodes:
        read = [angles[k] for k in step.operands]
        found = frozenset[str]().union(*read)
        if step.kind == "input":
            found = frozenset({step.name} & names)
        elif step.kind in WAVES:
            found = frozenset()
        elif found and not _turns(steps, step.kind, step.operands, read):
            raise UsageError(_linear(found, step.task))
        angles.append(found)
    for one in steps.outputs:
        if angles[one.node]:
            raise UsageError(_linear(angles[one.node], f"{one.name}", ", as it would as an output"))


def _linear(names: frozenset[str], place: str, how: str = "") -> str:
    return (
        f"{place}: {listing(sorted(names))} is an angle: it stands in sums of whole multiples of "
        f"angles, inside sin, cos or wrap, and not alone{how}: write wrap(…), or let the input be "
        "no angle"
    )


def _turns(
    steps: Straight, kind: str, operands: Sequence[int], read: Sequence[frozenset[str]]
) -> bool:
    """Tell whether a step that reads angles is a sum of whole multiples of them."""
    others = [steps.nodes[k] for k, one in zip(operands, read, strict=True) if not one]
    known = all(one.kind == "constant" for one in others)
    if kind in ("add", "sub", "neg"):
        return known
    return kind == "mul" and len(others) == 1 and known and others[0].value % 1 == 0


@dataclass(frozen=True, slots=True)
class _Found:
    """The extreme values of a step that a search found, and the states where they are."""

    low: float
    high: float
    at_low: Floats
    at_high: Floats

    @property
    def slack(self) -> float:
        """Up to which size the step is rounding."""
        return NEARLY * max(abs(self.low), abs(self.high))


class _Search:
    """Seeks what steps reach, over what the inputs reach."""

    def __init__(self, steps: Straight, inputs: Sequence[Input]) -> None:
        self.steps, self.inputs = steps, inputs
        self.low = np.array([one.reach.low for one in inputs])
        self.high = np.array([one.reach.high for one in inputs])
        rng = np.random.default_rng(CHECK_SEED)
        drawn = rng.uniform(self.low, self.high, (CHECK_SAMPLES, len(inputs)))
        ends = np.where(rng.random((CORNERS, len(inputs))) < 0.5, self.low, self.high)
        middle = (self.low + self.high) / 2
        self.states = np.concatenate([drawn, ends, middle[None], self._zeros(middle)])
        self.values = self._values(self.states)

    def _zeros(self, middle: Floats) -> Floats:
        """Return the state nearest to zero: many a function has its hole there."""
        return np.asarray(np.clip(0 * middle, self.low, self.high)[None])

    def _values(self, states: Floats) -> list[Floats]:
        every = tuple(Returned("", k) for k in range(len(self.steps.nodes)))
        columns = [states[:, k] for k in range(len(self.inputs))]
        with np.errstate(all="ignore"):
            return Straight(self.steps.nodes, every).evaluate(columns)

    def value(self, place: int, states: Floats) -> Floats:
        """Return a step's value at states."""
        part = Straight(self.steps.nodes, (Returned("", place),))
        with np.errstate(all="ignore"):
            return part.evaluate([states[:, k] for k in range(len(self.inputs))])[0]

    def extremes(self, place: int) -> _Found:
        """Return what a step reaches, by climbing from the best of all samples."""
        values = np.nan_to_num(self.values[place], nan=0.0, posinf=MOST_SIZE, neginf=-MOST_SIZE)
        order = np.argsort(values, kind="stable")
        needed = self._needed(place)
        ends = []
        for sign, rows in ((-1.0, order[:CLIMB_STARTS]), (1.0, order[-CLIMB_STARTS:])):

            def height(x: Floats, _: Any, sign: float = sign) -> Floats:
                return np.nan_to_num(sign * needed.evaluate(list(x.T))[0], nan=-np.inf)

            with np.errstate(all="ignore"):
                points, heights = climb(
                    height, self.states[rows], self.low, self.high, 0.25, CLIMB_FINE
                )
            best = int(np.argmax(heights))
            ends.append((sign * float(heights[best]), points[best]))
        return _Found(ends[0][0], ends[1][0], ends[0][1], ends[1][1])

    def _needed(self, place: int) -> Straight:
        """Return the steps that one needs, the inputs first as they are."""
        kept = {place}
        for k in range(place, -1, -1):
            if k in kept:
                kept.update(self.steps.nodes[k].operands)
        chosen = [k for k, x in enumerate(self.steps.nodes) if k in kept or x.kind == "input"]
        new = {k: at for at, k in enumerate(chosen)}
        nodes = tuple(
            replace(
                self.steps.nodes[k], operands=tuple(new[j] for j in self.steps.nodes[k].operands)
            )
            for k in chosen
        )
        return Straight(nodes, (Returned("", new[place]),))

    def zero(self, place: int, found: _Found) -> Floats:
        """Return a state where a step is zero, between one where it is less and one with more."""
        below, above = found.at_low, found.at_high
        if found.low > -found.slack:
            return below
        if found.high < found.slack:
            return above
        for _ in range(HALVINGS):
            middle = (below + above) / 2
            if float(self.value(place, middle[None])[0]) < 0:
                below = middle
            else:
                above = middle
        return above

    def told(self, place: int, state: Floats) -> str:
        """Return a state as a sentence ends with it: the inputs that a step depends on."""
        needed = {place}
        for k in range(place, -1, -1):
            if k in needed:
                needed.update(self.steps.nodes[k].operands)
        texts = [
            f"{one.name} = {short(float(x) + 0.0, 4)}"
            for one, x, k in zip(self.inputs, state, range(len(self.inputs)), strict=True)
            if k in needed and not one.range.single
        ]
        more = [f"and {len(texts) - MOST_NAMED} more"] if len(texts) > MOST_NAMED else []
        return f" at {listing([*texts[:MOST_NAMED], *more])}" if texts else ""


def _check_divisor(search: _Search, place: int, ends: Ends) -> None:
    if ends[0] > 0 or ends[1] < 0:
        return
    step = search.steps.nodes[place]
    divisor = step.operands[1]
    found = search.extremes(divisor)
    if found.low > found.slack or found.high < -found.slack:
        return
    where = search.told(divisor, search.zero(divisor, found))
    raise UsageError(
        f"{step.task}: it divides by zero{where}: give the inputs other ranges, or keep the "
        "divisor away from zero"
    )


def _check_domain(search: _Search, place: int, ends: Ends) -> bool:
    """Refuse a function of what it has no value for; tell whether an end of its domain is near."""
    step = search.steps.nodes[place]
    least, most = DOMAINS[step.kind]
    open_end = step.kind == "log"  # of zero there is none
    if (least < ends[0] if open_end else least <= ends[0]) and ends[1] <= most:
        return False
    argument = step.operands[0]
    found = search.extremes(argument)
    slack = -found.slack if open_end else found.slack
    if least - slack < found.low and found.high < most + slack:
        return not open_end
    low = found.low <= least - slack
    worst, state = (found.low, found.at_low) if low else (found.high, found.at_high)
    worst = 0.0 if open_end and abs(worst) <= found.slack else worst
    allowed = {"sqrt": "no negative number", "log": "positive numbers"}.get(step.kind, "-1 .. 1")
    raise UsageError(
        f"{step.task}: {NAMES[step.kind]} of {short(worst, 4)}"
        f"{search.told(argument, state)}, where it has no value: it takes {allowed}"
    )


def _check_size(search: _Search, place: int, ends: Ends) -> None:
    if max(abs(ends[0]), abs(ends[1])) <= MOST_SIZE:
        return
    values = np.abs(search.values[place])
    row = int(np.argmax(np.nan_to_num(values, nan=np.inf))) if values.ndim else 0
    size = float(values.flat[row])
    if not size <= MOST_SIZE:
        what = f"grows to {size:.3g}" if math.isfinite(size) else "grows beyond all numbers"
        step = search.steps.nodes[place]
        raise UsageError(
            f"{step.task or 'a number'}: it {what}{search.told(place, search.states[row])}: "
            f"values stay within ±{MOST_SIZE:g}"
        )


def _held(steps: Straight, edges: set[int]) -> Straight:
    """Return the same steps, with arguments of functions held within their domains."""
    tape = Tape()
    wires: list[Any] = []
    for place, step in enumerate(steps.nodes):
        read = [wires[k] for k in step.operands]
        with tape.task(step.task):
            if place in edges:
                least, most = DOMAINS[step.kind]
                for end, sign in ((least, 1.0), (most, -1.0)):
                    if math.isfinite(end):
                        apart = tape.function("abs", read[0] - end)
                        read = [(read[0] + end + apart * sign) * 0.5]
            wires.append(tape.again(step, read))
    return tape.finish([(one.name, wires[one.node]) for one in steps.outputs])
