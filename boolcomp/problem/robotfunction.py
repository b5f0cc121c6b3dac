"""A function of a robot as a problem: its inputs, its outputs with their ranges, its form.

A function is a text over any algebra. Over sums of waves (`Harmonics`) it gives the terms of its
outputs, over numpy's columns their exact values. Some factors of terms may be prepared by another
text (a friction, a command): to the first they are inputs. A text that divides, or takes roots,
is recorded on a tape: its steps are the form, and over numpy's columns the exact values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from boolcomp.common.errors import UsageError
from boolcomp.problem.dynamics.batch import evaluated_states
from boolcomp.problem.dynamics.functions import Columns
from boolcomp.problem.expressions.algebra import Folding
from boolcomp.problem.expressions.fourier import Harmonics
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.extremes import MARGIN, extremes
from boolcomp.problem.interval import Interval, round_above
from boolcomp.problem.makers import input_of, parallel_axes, part_hints, sum_hints, torque_dust
from boolcomp.problem.problem import Group, Output, PartHint, Problem, SumHint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.expressions.algebra import Element
    from boolcomp.problem.expressions.straight import Straight
    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.spectra import Spectra

    Floats = NDArray[np.float64]
    Elements: TypeAlias = Sequence[Element]
    Text: TypeAlias = Callable[..., list[Element]]

SAMPLES, BEST, FINE = 5_000, 4, 1e-2  # of the search for what outputs reach: to a few per mille
CONSTANT = 1e-9  # of the largest output: what varies no more is rounding


@dataclass(frozen=True, slots=True)
class Preparation:
    """Factors of terms that are calculated first: their names, and a text of them."""

    names: Callable[[Robot], tuple[str, ...]]
    text: Text


@dataclass(frozen=True, slots=True)
class RobotFunction:
    """What to compute of a robot: inputs by their groups, outputs, a text over any algebra.

    An output without a range of its own (a single value) gets one that holds what is found.
    `exact` is the text over numpy's columns, where it is another one. `stepwise` is a text for
    tapes; `steps`, where there are terms, is one of few products. `takes` are the keys of what may
    be chosen, handed on to the text that prepares factors, or else to the only one; `notes` are
    sentences for users.
    """

    groups: Mapping[str, Callable[[Robot], tuple[Input, ...]]]
    outputs: Callable[[Robot], tuple[Output, ...]]
    text: Text
    returned: str
    plural: str
    exact: Text | None = None
    prepared: Preparation | None = None
    stepwise: bool = False
    steps: Text | None = None
    takes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Made:
    """Functions of states, of numpy's columns, and what a problem's form is made by."""

    exact: Callable[..., Floats]
    form: Callable[[Sequence[int], Sequence[Interval]], Callable[[], Spectra | Straight]]
    prepared: tuple[str, ...] = ()


def function_problem(
    robot: Robot, of: str, function: RobotFunction, hints: tuple[SumHint, ...] = ()
) -> Problem:
    """Return the problem of a function; `of` is its name, with all that is chosen."""
    groups = tuple(inputs_of(robot) for inputs_of in function.groups.values())
    inputs = tuple(one for group in groups for one in group)
    outputs = function.outputs(robot)
    made = (_by_steps if function.stepwise else _by_waves)(robot, function, groups, outputs)
    bounds = np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    every, farthest = extremes(
        lambda states: made.exact(*np.split(states, ends, axis=1)), bounds, SAMPLES, BEST, FINE
    )
    count = len(outputs)
    values, most = every[:, :count], farthest[:, :count]
    spans = [Interval(-float(low), float(high)) for high, low in farthest.T[count:]]
    sizes = np.abs(most).max(axis=0)
    dust = CONSTANT * sizes.max()
    kept = tuple(int(k) for k in np.flatnonzero(np.ptp(values, axis=0) > dust))
    if not kept:
        raise UsageError(f"{of} of {robot.name} never changes: there is nothing to compile")
    signs = parallel_axes(robot)
    whole = len(kept) == count == robot.joints and not function.stepwise
    return Problem(
        name=f"{robot.name}-{of}",
        key=f"{of} of\n{robot.mechanism}",
        inputs=inputs,
        outputs=tuple(_ranged(outputs[k], float(sizes[k])) for k in kept),
        groups=tuple(
            Group(name, tuple(one.name for one in group))
            for name, group in zip(function.groups, groups, strict=True)
        ),
        returned=Group(function.returned, tuple(outputs[k].name for k in kept)),
        reference=partial(made.exact, kept=kept),
        form=made.form(kept, spans),
        sums=tuple(
            hint
            for hint in (*hints, *sum_hints(signs))
            if {hint.first.split("+")[0], hint.second} <= {x.name for x in inputs}
        ),
        parts=part_hints(signs) if whole else tuple(_equals(values[:, kept], dust)),
        plural=function.plural,
        places="joints",
        dust=torque_dust(robot) if outputs[0].name.startswith("tau") else 0.0,
        constants=tuple(
            (output.name, float(f"{values[0, k]:.9g}") if sizes[k] > dust else 0.0)
            for k, output in enumerate(outputs)
            if k not in kept
        ),
        notes=function.notes,
        calculation=function.steps
        and partial(_recorded, function.steps, robot, groups, outputs, kept),
    )


def _recorded(
    text: Text,
    robot: Robot,
    groups: Sequence[Sequence[Input]],
    outputs: Sequence[Output],
    kept: Sequence[int],
) -> Straight:
    """Return the steps of a text, for some of its outputs."""
    tape = Tape()
    found = text(robot, Folding(tape), *([tape.input(x.name) for x in group] for group in groups))
    return tape.finish([(outputs[k].name, found[k]) for k in kept])


def _equals(values: Floats, dust: float) -> Iterator[PartHint]:
    """Yield which outputs are later ones, or their negatives, by their values at samples."""
    for one, column in enumerate(values.T):
        for other in range(one + 1, values.shape[1]):
            for sign in (1, -1):
                if np.abs(column - sign * values[:, other]).max() <= dust:
                    yield PartHint(one, other, sign)


def _ranged(output: Output, reach: float) -> Output:
    """Return an output with a range: its own where one bit more holds what was found."""
    wanted = reach * MARGIN
    if not output.range.single and wanted <= 2 * output.range.high:
        return output
    size = round_above(wanted)
    return replace(output, range=Interval(-size, size))


# waves --------------------------------------------------------------------------------------------


def _by_waves(
    robot: Robot,
    function: RobotFunction,
    groups: Sequence[tuple[Input, ...]],
    outputs: Sequence[Output],
) -> _Made:
    """Return how terms and exact values are made of a text over sums of waves."""
    names = function.prepared.names(robot) if function.prepared else ()
    text = function.exact or function.text
    count = len(outputs)
    if not names or function.prepared is None:
        return _Made(
            partial(evaluated_states, text, robot),
            lambda kept, _: partial(_spectra, function.text, robot, groups, kept),
        )
    prepared = function.prepared.text

    def form(kept: Sequence[int], spans: Sequence[Interval]) -> Callable[[], Spectra]:
        factors = tuple(input_of(*one, "") for one in zip(names, spans, strict=True))
        return partial(_prepared_spectra, function.text, prepared, robot, groups, kept, factors)

    return _Made(partial(_with_prepared, text, prepared, robot, count), form, names)


def _with_prepared(
    text: Text,
    prepared: Text,
    robot: Robot,
    count: int,
    *arrays: Floats,
    kept: Sequence[int] | None = None,
) -> Floats:
    """Return exact outputs, or some; of all come the factors that are prepared behind them."""
    factors = _columns(prepared(robot, Columns(), *(list(x.T) for x in arrays)), len(arrays[0]))
    values = evaluated_states(text, robot, *arrays, factors, kept=kept)
    return values if kept is not None else np.concatenate([values[:, :count], factors], axis=1)


def _columns(found: Sequence[Element], rows: int) -> Floats:
    return np.stack([np.broadcast_to(x, (rows,)) for x in found], axis=1)


def _spectra(
    text: Text, robot: Robot, groups: Sequence[Sequence[Input]], kept: Sequence[int]
) -> Spectra:
    space = Harmonics(tuple(one for group in groups for one in group))
    elements = text(robot, Folding(space), *([space.input(x) for x in group] for group in groups))
    return space.spectra(tuple(groups[0]), [elements[k] for k in kept])


def _prepared_spectra(
    text: Text,
    prepared: Text,
    robot: Robot,
    groups: Sequence[Sequence[Input]],
    kept: Sequence[int],
    factors: tuple[Input, ...],
) -> Spectra:
    """Return the spectra of a text some of whose factors are steps of another."""
    found = _spectra(text, robot, (*groups, factors), kept)
    tape = Tape()
    wires = [[tape.input(one.name) for one in group] for group in groups]
    made = prepared(robot, tape, *wires)
    names = [one.name for one in factors]
    return replace(found, prepared=tape.finish(list(zip(names, made, strict=True))))


# steps --------------------------------------------------------------------------------------------


def _by_steps(
    robot: Robot,
    function: RobotFunction,
    groups: Sequence[tuple[Input, ...]],
    outputs: Sequence[Output],
) -> _Made:
    """Return how steps and exact values are made of a text for tapes."""
    tape = Tape()
    wires = [[tape.input(one.name) for one in group] for group in groups]
    found = function.text(robot, tape, *wires)
    steps = tape.finish([(one.name, wire) for one, wire in zip(outputs, found, strict=True)])
    return _Made(
        partial(_stepped, steps),
        lambda kept, _: partial(replace, steps, outputs=tuple(steps.outputs[k] for k in kept)),
    )


def _stepped(steps: Straight, *arrays: Floats, kept: Sequence[int] | None = None) -> Floats:
    """Return the outputs of steps, or some of them."""
    columns = [column for array in arrays for column in np.ascontiguousarray(array.T)]
    chosen = (
        steps if kept is None else replace(steps, outputs=tuple(steps.outputs[k] for k in kept))
    )
    return np.stack(chosen.evaluate(columns), axis=1)
