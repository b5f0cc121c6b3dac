"""Functions of a robot by name, and their problems: inputs, outputs with ranges, forms.

A function is written over any algebra: over sums of waves (`Harmonics`) it gives the terms of its
outputs, over numpy arrays their exact values. Constant outputs become `constants` of the problem. A
name may contain choices (`control:kp=50`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from boolcomp.base.errors import UsageError, listing, number, reals, require_name, shown, suggestion
from boolcomp.problem import dynamics, kinematics
from boolcomp.problem.algebra import Constant, Folding, NumpyColumns
from boolcomp.problem.fourier import Harmonics, WaveSum, steps_of
from boolcomp.problem.kinematics import KD, KP
from boolcomp.problem.problem import MARGIN, Group, PartHint, Problem, SumHint, extremes, numbered
from boolcomp.problem.robot.model import axis_before, own_axis
from boolcomp.problem.tape import Tape, recorded
from boolcomp.problem.words import USUAL_FORMAT, Input, Interval, Output, WordSpan, round_above

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.algebra import Algebra, Element
    from boolcomp.problem.fourier import Spectra
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.tape import Straight
    from boolcomp.problem.words import WordFormat

    Wires = Sequence[Any]
    Matrix = dict[tuple[int, int], Any]
    Floats = NDArray[np.float64]
    Elements: TypeAlias = Sequence[Element]
    Text: TypeAlias = Callable[..., list[Element]]


# --------------------------------------------------------------------------------------------------
# Inverse dynamics and gravity, and the inputs and outputs of robots.
# --------------------------------------------------------------------------------------------------

PARALLEL = 1e-9
WEIGHT_DUST = 1e-9  # of an arm's largest weight torque: smaller torques are rounding errors
ROUNDING = 1e-13  # the same for its torques of speeds and accelerations


def inverse_dynamics_problem(robot: Robot) -> Problem:
    """Return the problem of inverse dynamics: torques (forces) from q, q̇ and q̈ of all joints.

    It has hints for parallel consecutive axes, where sums of speeds, and torques as parts of the
    torque before, are likely to be useful.
    """
    state = positions(robot), speeds(robot), accelerations(robot)
    return replace(
        _torque_problem(
            robot, ("q", "qd", "qdd"), state, dynamics.inverse_dynamics, dynamics.torque_spectra
        ),
        sums=tuple(sum_hints(parallel_axes(robot))),
    )


def gravity_problem(robot: Robot) -> Problem:
    """Return the problem of the torques that hold an arm at rest."""
    return replace(
        _torque_problem(
            robot, ("q",), (positions(robot),), dynamics.gravity_torques, dynamics.gravity_spectra
        ),
        name=f"{robot.name}-gravity",
        key=f"gravity of\n{robot.mechanism}",
    )


def _torque_problem(
    robot: Robot,
    groups: tuple[str, ...],
    inputs: tuple[tuple[Input, ...], ...],
    reference: Callable[..., Floats],
    spectra: Callable[..., Spectra],
) -> Problem:
    return Problem(
        name=robot.name,
        key=str(robot.mechanism),
        inputs=tuple(one for group in inputs for one in group),
        outputs=torques(robot),
        groups=tuple(numbered(name, robot.joints) for name in groups),
        returned=numbered("tau", robot.joints),
        reference=partial(reference, robot),
        form=partial(spectra, robot, *inputs),
        parts=part_hints(parallel_axes(robot)),
        plural="torques",
        places="joints",
        dust=torque_dust(robot),
        calculation=partial(torque_steps, robot, groups),
    )


def torque_steps(robot: Robot, groups: Sequence[str]) -> Straight:
    """Return the steps of regrouped Newton-Euler of q, or of q, qd and qdd, else at rest."""

    def text(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
        zeros = [algebra.constant(0.0)] * robot.joints
        return dynamics.torques(robot, algebra, *state, *[zeros] * (3 - len(state)))

    return dynamics.joint_program(robot, text, groups, ("tau",))


def positions(robot: Robot) -> tuple[Input, ...]:
    return tuple(
        input_of(
            f"q{k}", link.position, link.unit, link.span, angle=link.revolute, word=link.word
        )
        for k, link in enumerate(robot.links, 1)
    )  # fmt: skip


def _limited(letters: str, limit: str, unit: str, robot: Robot) -> tuple[Input, ...]:
    """Return inputs whose ranges are limits of the joints."""
    return tuple(
        input_of(f"{letters}{k}", getattr(link, limit), link.unit + unit)
        for k, link in enumerate(robot.links, 1)
    )


speeds: Callable[[Robot], tuple[Input, ...]] = partial(_limited, "qd", "velocity", "/s")
accelerations: Callable[[Robot], tuple[Input, ...]] = partial(
    _limited, "qdd", "acceleration", "/s²"
)


def input_of(
    name: str,
    where: Interval,
    unit: str,
    span: WordSpan | None = None,
    *,
    angle: bool = False,
    word: WordFormat = USUAL_FORMAT,
) -> Input:
    """Return an input with this range; `span` is that of its word, by default the same."""
    own = span or WordSpan(where, where)
    return Input(name, where, unit, own.word, own.reach, angle, own.wraps, format=word)


def torques(robot: Robot) -> tuple[Output, ...]:
    return tuple(
        Output(f"tau{k}", f"T{k}", link.torque, link.torque_unit, f"torque {k}")
        for k, link in enumerate(robot.links, 1)
    )


def parallel_axes(robot: Robot) -> dict[int, int]:
    """Return the joints (from 0) whose axis is parallel to the next one's, with the sign ±1."""
    found = {}
    for joint in range(robot.joints - 1):
        link, after = robot.links[joint], robot.links[joint + 1]
        if robot.parents[joint + 1] != joint + 1:
            continue  # the next one is on another branch
        (a, b, c), (x, y, z) = own_axis(link), axis_before(after)
        across = math.hypot(b * z - c * y, c * x - a * z, a * y - b * x)
        if link.revolute and after.revolute and across < PARALLEL:
            found[joint] = 1 if a * x + b * y + c * z > 0 else -1
    return found


def part_hints(signs: dict[int, int]) -> tuple[PartHint, ...]:
    return tuple(PartHint(joint, joint + 1, sign) for joint, sign in signs.items())


def sum_hints(signs: dict[int, int]) -> Iterator[SumHint]:
    """Yield hints for speeds and accelerations; of overlapping pairs of joints only the first."""
    for kind, letters in (("speeds", "qd"), ("accelerations", "qdd")):
        for joint, sign in sorted(signs.items(), reverse=True):
            if joint - 1 not in signs:
                yield SumHint(kind, f"{letters}{joint + 1}", f"{letters}{joint + 2}", sign)


def torque_dust(robot: Robot) -> float:
    """Return the size up to which a torque is a rounding error of zero.

    It is relative to bounds of the torques of weight, speeds and accelerations.
    """
    links = robot.links
    reach = sum(
        abs(link.a) + abs(link.d) + math.hypot(*link.center_of_mass)
        + (math.hypot(*link.pose.origin) if link.pose else 0.0)
        + (0.0 if link.revolute else link.position.magnitude)
        for link in links
    )  # fmt: skip
    inertia = robot.mass * reach**2 + sum(sum(map(abs, link.inertia)) for link in links)
    speed = sum(link.velocity.magnitude for link in links)
    changes = speed**2 + sum(link.acceleration.magnitude for link in links)
    weight = robot.mass * math.hypot(*robot.gravity) * reach
    return max(WEIGHT_DUST * weight, ROUNDING * inertia * changes)


# --------------------------------------------------------------------------------------------------
# Forward dynamics as steps: q̈ = M(q)⁻¹ (τ - C(q, q̇) - G(q)), of q, q̇ and τ.
#
# M and C + G are factored sums of waves. In an open chain, entry i, j of M depends on the joints
# after min(i, j) alone. So M is inverted from its end: the solution for the last joints is a
# function of their angles, often of one, which tables represent. With y = τ - h, and for a block
#
#     [m  sᵀ] [a]   [y]        K = B⁻¹ known:   w = K s,   d = m - sᵀ w,
#     [s  B ] [b] = [z]        a = (y - wᵀ z) / d,   b = K z - w a.
#
# Joints that M does not couple are solved separately.
# --------------------------------------------------------------------------------------------------

MOST_COUPLED = 3  # joints; for more, M⁻¹ has too many words


def forward_dynamics(
    robot: Robot, recording: Folding, q: Wires, qd: Wires, tau: Wires
) -> list[Any]:
    """Record the accelerations of given torques as steps."""
    tape = cast("Tape", recording.inner)
    inputs = (*positions(robot), *speeds(robot))
    space, n = Harmonics(inputs), robot.joints
    algebra = Folding(space)
    angles, rates = ([space.input(x) for x in part] for part in (inputs[:n], inputs[n:]))
    wires = [*q, *qd]
    rest = [
        torque - steps_of(space, _element(h), tape, wires)
        for torque, h in zip(tau, dynamics.bias(robot, algebra, angles, rates), strict=True)
    ]
    entries: Matrix = {}
    for j, column in enumerate(dynamics.inertia_columns(robot, algebra, angles)):
        for i in range(j + 1):
            entry = _element(column[i])
            if entry.parts:
                entries[i, j] = steps_of(space, entry, tape, wires)
    found: dict[int, Any] = {}
    for joints in _coupled(entries, n):
        if len(joints) > MOST_COUPLED:
            raise UsageError(
                f"forward dynamics need an arm whose inertia couples at most {MOST_COUPLED} "
                f"joints; that of this arm couples {len(joints)}", where=robot.name,
            )  # fmt: skip
        found.update(_solved(robot, entries, joints, rest))
    return [found[k] for k in range(n)]


def _element(x: Any) -> WaveSum:
    if isinstance(x, Constant):
        return WaveSum({0: complex(x.value)} if x.value else {})
    return x if isinstance(x, WaveSum) else WaveSum({0: complex(x)} if x else {})


def _coupled(inertia: Matrix, joints: int) -> list[list[int]]:
    """Return the sets of joints that M couples, each in order."""
    sets = [{k} for k in range(joints)]
    for i, j in inertia:
        one, other = (next(s for s in sets if k in s) for k in (i, j))
        if one is not other:
            one |= other
            sets.remove(other)
    return [sorted(one) for one in sets]


def _solved(robot: Robot, inertia: Matrix, joints: Sequence[int], rest: Wires) -> dict[int, Any]:
    """Return the accelerations of a set of joints that M couples."""
    last = joints[-1]
    if (last, last) not in inertia:
        raise UsageError(
            f"joint {last + 1} moves no inertia, so its acceleration is undefined", where=robot.name
        )
    known = {(last, last): 1.0 / inertia[last, last]}
    steps: list[tuple[int, dict[int, Any], Any]] = []
    for place in reversed(range(len(joints) - 1)):
        i, after = joints[place], joints[place + 1 :]
        side = {j: inertia[i, j] for j in after if (i, j) in inertia}
        w = {j: sum(_at(known, j, k) * s for k, s in side.items()) for j in after}
        d = inertia[i, i] - sum(s * w[j] for j, s in side.items())
        over = 1.0 / d
        steps.append((i, w, over))
        if place:  # the inverse of the larger block, for the joint before
            for j in after:
                known[i, j] = -(w[j] * over)
                for k in after:
                    if j <= k:
                        known[j, k] = _at(known, j, k) + w[j] * (w[k] * over)
            known[i, i] = over
    if not steps:
        return {joints[0]: known[joints[0], joints[0]] * rest[joints[0]]}
    i, w, over = steps[-1]
    after = joints[1:]
    first = (rest[i] - sum(w[j] * rest[j] for j in after)) * over
    found = {i: first}
    for j in after:
        own = sum(_at(known, j, k) * rest[k] for k in after)
        found[j] = own - w[j] * first
    return found


def _at(known: Matrix, i: int, j: int) -> Any:
    return known[min(i, j), max(i, j)]


# --------------------------------------------------------------------------------------------------
# Problems of functions of a robot.
#
# Some factors of terms may be prepared by another function (a friction, a command), whose results
# are inputs of the first one. A function that divides or takes roots is recorded on a tape: its
# steps are the form, and evaluated with numpy arrays the exact values.
# --------------------------------------------------------------------------------------------------

SAMPLES, BEST, FINE = 5_000, 4, 1e-2  # of the search for extremes: exact to a few per mille
CONSTANT = 1e-9  # of the largest output: smaller variations are rounding errors


@dataclass(frozen=True, slots=True)
class Preparation:
    """Factors of terms that are calculated first: their names, and their function."""

    names: Callable[[Robot], tuple[str, ...]]
    text: Text


@dataclass(frozen=True, slots=True)
class RobotFunction:
    """A function of a robot: inputs by their groups, outputs, and `text`, its code for any algebra.

    Outputs with a single value as range get a range that holds their extremes. `exact` replaces
    `text` over numpy arrays. `stepwise` marks a `text` for tapes; `steps` is an equivalent one with
    few products. `takes` are the keys of choices, which are arguments of `prepared.text` or else of
    `text`. `notes` are sentences for users.
    """

    groups: Mapping[str, Callable[[Robot], tuple[Input, ...]]]
    text: Text
    outputs: Callable[[Robot], tuple[Output, ...]] = torques
    returned: str = "tau"
    plural: str = "torques"
    exact: Text | None = None
    prepared: Preparation | None = None
    stepwise: bool = False
    steps: Text | None = None
    takes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Calculation:
    """The texts of a function with its inputs; `steps` are those of a `stepwise` one."""

    robot: Robot
    groups: tuple[tuple[Input, ...], ...]
    text: Text
    exact: Text
    prepared: Text | None = None
    steps: Straight | None = None

    def values(self, *arrays: Floats, kept: Sequence[int] | None = None) -> Floats:
        """Return some exact outputs, or all of them followed by the prepared factors."""
        if self.steps is not None:
            part = self.steps if kept is None else _selected(self.steps, kept)
            columns = [column for array in arrays for column in np.ascontiguousarray(array.T)]
            return np.stack(part.evaluate(columns), axis=1)
        if self.prepared is None:
            return dynamics.evaluated_states(self.exact, self.robot, *arrays, kept=kept)
        found = self.prepared(self.robot, NumpyColumns(), *(list(x.T) for x in arrays))
        factors = np.stack([np.broadcast_to(x, len(arrays[0])) for x in found], axis=1)
        values = dynamics.evaluated_states(self.exact, self.robot, *arrays, factors, kept=kept)
        return values if kept is not None else np.concatenate([values, factors], axis=1)

    def form(self, kept: Sequence[int], factors: tuple[Input, ...]) -> Spectra | Straight:
        """Return the form of some outputs, from the inputs and the prepared factors."""
        if self.steps is not None:
            return _selected(self.steps, kept)
        groups = (*self.groups, factors) if factors else self.groups
        space = Harmonics(tuple(one for group in groups for one in group))
        state = ([space.input(x) for x in group] for group in groups)
        found = self.text(self.robot, Folding(space), *state)
        spectra = space.spectra(groups[0], [found[k] for k in kept])
        if self.prepared is None:
            return spectra
        names = dict(enumerate(one.name for one in factors))
        return replace(spectra, prepared=self.recorded(self.prepared, names))

    def recorded(self, text: Text, outputs: Mapping[int, str]) -> Straight:
        """Record some outputs of a text, given by their places and names."""

        def of_some(algebra: Algebra, *state: Elements) -> list[Element]:
            found = text(self.robot, algebra, *state)
            return [found[k] for k in outputs]

        names = [[one.name for one in group] for group in self.groups]
        return recorded(of_some, names, outputs.values())


def _selected(steps: Straight, kept: Sequence[int]) -> Straight:
    return replace(steps, outputs=tuple(steps.outputs[k] for k in kept))


def function_problem(
    robot: Robot, of: str, function: RobotFunction, hints: tuple[SumHint, ...] = ()
) -> Problem:
    """Return the problem of a function; `of` is its name with choices."""
    groups = tuple(inputs_of(robot) for inputs_of in function.groups.values())
    inputs = tuple(one for group in groups for one in group)
    outputs = function.outputs(robot)
    factors = function.prepared.names(robot) if function.prepared else ()
    prepared = function.prepared.text if function.prepared and factors else None
    made = _Calculation(robot, groups, function.text, function.exact or function.text, prepared)
    if function.stepwise:
        names = dict(enumerate(one.name for one in outputs))
        made = replace(made, steps=made.recorded(function.text, names))
    bounds = np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    every, farthest = extremes(
        lambda states: made.values(*np.split(states, ends, axis=1)), bounds, SAMPLES, BEST, FINE
    )
    count = len(outputs)
    values = every[:, :count]
    spans = [Interval(-float(low), float(high)) for high, low in farthest.T[count:]]
    sizes = np.abs(farthest[:, :count]).max(axis=0)
    dust = CONSTANT * sizes.max()
    kept = tuple(int(k) for k in np.flatnonzero(np.ptp(values, axis=0) > dust))
    if not kept:
        raise UsageError(f"{of} of {robot.name} never changes, so there is nothing to compile")
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
        reference=partial(made.values, kept=kept),
        form=partial(
            made.form, kept, tuple(input_of(*x, "") for x in zip(factors, spans, strict=True))
        ),
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
        and partial(made.recorded, function.steps, {k: outputs[k].name for k in kept}),
    )


def _equals(values: Floats, dust: float) -> Iterator[PartHint]:
    """Yield hints for outputs that equal later ones or their negatives at all samples."""
    for one, column in enumerate(values.T):
        for other in range(one + 1, values.shape[1]):
            for sign in (1, -1):
                if np.abs(column - sign * values[:, other]).max() <= dust:
                    yield PartHint(one, other, sign)


def _ranged(output: Output, reach: float) -> Output:
    """Return an output with a range: its own, if that with one bit more holds the extremes."""
    needed = reach * MARGIN
    if not output.range.single and needed <= 2 * output.range.high:
        return output
    size = round_above(needed)
    return replace(output, range=Interval(-size, size))


# --------------------------------------------------------------------------------------------------
# The pose of an arm's tip as inputs.
# --------------------------------------------------------------------------------------------------

AXES = "xyz"


def tip_point(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's coordinates in the plane as inputs, in a square of the arm's reach."""
    arm = kinematics.planar(robot)
    reach = arm.first + arm.second
    return tuple(
        input_of(f"p{AXES[place]}", Interval(zero - reach, zero + reach), "m")
        for place, zero in zip(arm.plane, arm.origin, strict=True)
    )


def tip_position(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's position as inputs, in a cube of the arm's reach about its shoulder."""
    arm = kinematics.wrist(robot)
    return tuple(
        input_of(f"p{axis}", Interval(float(zero) - arm.reach, float(zero) + arm.reach), "m")
        for axis, zero in zip(AXES, arm.shoulder, strict=True)
    )


def tip_rotation(robot: Robot) -> tuple[Input, ...]:
    """Return roll, pitch and yaw of the tip as inputs, for all rotations."""
    del robot
    whole, half = Interval(-math.pi, math.pi), Interval(-math.pi / 2, math.pi / 2)
    ranges = {"roll": whole, "pitch": half, "yaw": whole}
    return tuple(
        input_of(name, where, "rad", WordSpan(where, where, wraps=where is whole), angle=True)
        for name, where in ranges.items()
    )


# --------------------------------------------------------------------------------------------------
# Choices of a function, and function names that contain them: `control:kp=50:kd=14`.
#
# The name is complete: a program that stores it is compared with the function it was compiled from.
# Default values are left out, and every number is written in one way.
# --------------------------------------------------------------------------------------------------

Values: TypeAlias = "Mapping[str, tuple[float, ...]]"

ELBOWS = {"up": (1.0,), "down": (-1.0,)}
_ADVICE = "give one number above zero, or one a joint: 4,2.5"


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice: its title in messages, its option, and its default values, if any."""

    title: str
    option: str
    usual: tuple[float, ...] = ()


CHOICES = {
    "smoothing": Choice("a smoothing of dry friction", "smoothing"),
    "kp": Choice("a gain kp", "kp", (KP,)),
    "kd": Choice("a gain kd", "kd", (KD,)),
    "load": Choice("a load as an input", "load-range"),
    "wrench": Choice("a wrench at the tip", "wrench"),
    "elbow": Choice("an elbow", "elbow", ELBOWS["up"]),
}


def split_name(of: str) -> tuple[str, dict[str, tuple[float, ...]]]:
    """Split a text such as `control:kp=50` into the function's name and its choices."""
    name, *parts = of.split(":")
    values: dict[str, tuple[float, ...]] = {}
    for part in parts:
        key, equals, text = part.partition("=")
        if part in ("friction", "friction=yes"):
            name = name if name == FRICTION else with_friction(name)
            continue
        if key not in CHOICES or not equals:
            known = ("friction", *CHOICES)
            raise UsageError(
                f"{shown(part)} is no choice of function {shown(of)}",
                f"{suggestion(key, known)}choices are {listing(known)}, as in control:kp=50",
            )
        if key in values:
            raise UsageError(f"function {shown(of)} has {key} twice")
        values[key] = chosen(key, text, key)
    return name, values


def chosen(key: str, given: object, name: str) -> tuple[float, ...]:
    """Return the value of a choice as numbers; `name` is its name in messages."""
    if key == "elbow":
        require_name(name, given, ELBOWS)
        return ELBOWS[str(given)]
    if key == "load":
        return _load(name, given)
    if key == "wrench":
        return _wrench(name, given)
    found = reals(name, given, _ADVICE)  # type: ignore[arg-type]  # which refuses other types
    if not found or min(found) <= 0:
        raise UsageError(f"{name} {shown(given)} is no list of positive numbers", _ADVICE)
    return found


def _load(name: str, given: object) -> tuple[float, float]:
    """Return the ends of a range of masses, given as `0..5` or as two numbers."""
    if isinstance(given, str):
        ends = given.split("..")
    else:
        ends = list(given) if isinstance(given, (tuple, list)) else []
    found = reals(name, ends, "give kg, such as 0..5") if len(ends) == 2 else ()
    if len(found) != 2 or not 0 <= found[0] < found[1]:
        raise UsageError(
            f"payload {shown(given)} is not a range of kg that rises", "give, for example, 0..5"
        )
    return found[0], found[1]


def _wrench(name: str, given: object) -> tuple[float, ...]:
    """Return the largest force and moment, given as `20,5` or as two numbers."""
    advice = "give the largest force in N and the largest moment in N·m: 20,5"
    found = reals(name, given, advice)  # type: ignore[arg-type]  # which refuses other types
    if len(found) != 2 or min(found) <= 0:
        raise UsageError(f"{name} {shown(given)} is not the two ranges of a wrench", advice)
    return found


def join_name(name: str, values: Values) -> str:
    """Join a function's name and its choices, without default values."""
    parts = [
        f"{key}={_text(key, values[key])}"
        for key, choice in CHOICES.items()
        if key in values and values[key] != choice.usual
    ]
    return ":".join([name, *parts])


def _text(key: str, values: Sequence[float]) -> str:
    if key == "elbow":
        return next(word for word, value in ELBOWS.items() if value == values)
    return (".." if key == "load" else ",").join(number(value) for value in values)


def each_joint(values: Values, key: str, joints: int, robot: str) -> tuple[float, ...]:
    """Return the values of a choice for every joint, from one value for all or one each."""
    found = values[key]
    if len(found) not in (1, joints):
        raise UsageError(
            f"{key} has {len(found)} values, but {robot} has {joints} joints",
            f"give one for all joints, or {joints}",
        )
    return found * joints if len(found) == 1 else found


def refuse_unknown(name: str, values: Values, takes: Sequence[str]) -> None:
    """Raise a `UsageError` for a choice that the function does not have."""
    for key in values:
        if key not in takes:
            has = f"it has {listing(takes)}" if takes else "it has no choices"
            raise UsageError(f"{name} has no {key} ({CHOICES[key].title})", has)


# --------------------------------------------------------------------------------------------------
# Functions of a robot by name.
# --------------------------------------------------------------------------------------------------

USUAL, FRICTION = "inverse-dynamics", "inverse-dynamics-with-friction"
INVERSE = "inverse-kinematics"
DIRECTION = 1.25  # the range of a rotation matrix's entries: ±1 and a margin
TINY = 1e-20  # a complex step, which gives derivatives without cancellation
FRAME = ("x", "y", "z")
HELD = "commanded accelerations are held within the joints' acceleration ranges"
STRETCHED = "a point out of reach stretches (or folds) the arm towards it; angles may leave a turn"


def robot_problem(robot: Robot, of: str = USUAL) -> Problem:
    """Return the problem of a robot's function by its name with choices."""
    name, values = split_name(function_name(of))
    if name == USUAL and not values:
        return inverse_dynamics_problem(robot)
    if name == "gravity" and not values:
        return gravity_problem(robot)
    function = robot_function(robot, of)
    return function_problem(robot, join_name(name, values), function, command_hints(robot))


def robot_function(robot: Robot, of: str) -> RobotFunction:
    """Return a function of a robot by its name with choices; other choices have defaults."""
    name, values = split_name(function_name(of))
    function = WITH_WRIST if name == INVERSE and robot.joints == 6 else ALL[name]
    return _chosen(robot, function, values)


def function_name(of: str, *, friction: bool = False, **choices: object) -> str:
    """Return a function's name with all choices in normal form; choices of None are ignored."""
    if not isinstance(of, str):
        raise UsageError(f"a {type(of).__name__} is no function", f"functions are {listing(NAMES)}")
    name, values = split_name(of)
    require_name("function", name, NAMES)
    if friction and name != FRICTION:
        name = with_friction(name)
    for key, given in choices.items():
        if given is not None:
            values[key] = chosen(key, given, CHOICES[key].option)
    refuse_unknown(name, values, ALL[name].takes)
    return join_name(name, values)


def is_linear_in_load(of: str) -> bool:
    return "load" in ALL[split_name(of)[0]].takes


def function_of(problem: str, robot: str) -> str:
    """Return the name of the function in the name of a robot's problem."""
    rest = problem.removeprefix(f"{robot}-")
    return rest if rest.partition(":")[0] in NAMES else USUAL


def with_friction(of: str) -> str:
    """Return the name of a function with friction, which only inverse dynamics has."""
    if of != USUAL:
        raise UsageError(f"friction belongs to {USUAL}, not to {of}")
    return FRICTION


def _chosen(robot: Robot, function: RobotFunction, values: Values) -> RobotFunction:
    """Return a function with all choices as arguments: given values, else the defaults."""
    usual = {key: CHOICES[key].usual for key in function.takes if CHOICES[key].usual}
    if "smoothing" in function.takes and dynamics.dry_joints(robot):
        usual["smoothing"] = dynamics.usual_smoothing(robot)
    elif "smoothing" in values:
        raise UsageError(f"{robot.name} has no coulomb_friction to smooth", "leave out smoothing")
    every = {**usual, **values}
    load, wrench = every.pop("load", None), every.pop("wrench", None)
    own = {
        key: every[key] if key == "elbow" else each_joint(every, key, robot.joints, robot.name)
        for key in every
    }
    if "smoothing" in own:
        function = replace(function, notes=dynamics.smoothing_notes(robot, own["smoothing"]))
    if function.prepared is not None and own:
        prepared = replace(function.prepared, text=partial(function.prepared.text, **own))
        function = replace(function, prepared=prepared)
    elif own:
        function = replace(function, text=partial(function.text, **own))
    if load is not None:
        function = _loaded(function, Interval(*load))
    return function if wrench is None else _pushed(robot, function, *wrench)


def _loaded(function: RobotFunction, masses: Interval) -> RobotFunction:
    """Return a function with the mass of a payload as its last input."""
    place = len(function.groups)
    return replace(
        function,
        groups={**function.groups, "load": lambda _: (input_of("mass", masses, "kg"),)},
        text=partial(dynamics.with_load, function.text, place),
        steps=None,
        exact=function.exact and partial(dynamics.with_load, function.exact, place),
    )


def _pushed(robot: Robot, function: RobotFunction, force: float, moment: float) -> RobotFunction:
    """Return a function with force and moment of the tip on its surroundings as last inputs."""
    if robot.branched and robot.tool is None:
        raise UsageError(
            "a wrench needs an arm with a tip, but this tree has no tip frame",
            "add a section [tool] to the robot file", where=robot.name,
        )  # fmt: skip

    def inputs(letter: str, size: float, unit: str, _: Robot) -> tuple[Input, ...]:
        return tuple(input_of(f"{letter}{axis}", Interval(-size, size), unit) for axis in FRAME)

    more = {
        "force": partial(inputs, "f", force, "N"),
        "moment": partial(inputs, "m", moment, "N·m"),
    }
    return replace(
        function,
        groups={**function.groups, **more},
        text=partial(dynamics.with_wrench, function.text),
        exact=function.exact and partial(dynamics.with_wrench, function.exact),
        steps=None,
    )


def command_hints(robot: Robot) -> tuple[SumHint, ...]:
    """Return hints that a joint's errors, times gains, are added to its acceleration."""
    found = []
    for k in range(1, robot.joints + 1):
        found.append(SumHint("commands", f"qddr{k}", f"de{k}", 1, KD))
        found.append(SumHint("commands", f"qddr{k}+de{k}", f"e{k}", 1, KP))
    return tuple(found)


def torque_slopes(
    robot: Robot, algebra: Folding, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return ∂τ/∂q, then ∂τ/∂q̇, row by row, from the torques' terms."""
    space = cast("Harmonics", algebra.inner)
    found, n = dynamics.newton_euler(robot, algebra, q, qd, qdd), robot.joints
    return [
        space.derivative(torque, one)
        for inputs in (space.inputs[:n], space.inputs[n : 2 * n])
        for torque in found
        for one in inputs
    ]


def stepped_slopes(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return the same derivatives for numpy arrays by complex steps, Im τ(x + i h) / h."""
    rows: list[Element] = []
    for moved in (0, 1):
        columns = []
        for k in range(robot.joints):
            state = [list(q), list(qd), list(qdd)]
            state[moved][k] = state[moved][k] + TINY * 1j
            found = dynamics.newton_euler(robot, algebra, *state)
            columns.append([
                Constant(0.0) if isinstance(x, Constant) else np.imag(x) / TINY for x in found
            ])  # fmt: skip
        rows += [column[i] for i in range(robot.joints) for column in columns]
    return rows


def _errors(letters: str, unit: str, gain: float, limit: str, robot: Robot) -> tuple[Input, ...]:
    """Return inputs whose ranges, times a gain, are those of the joints' limits."""
    found = []
    for one, link in zip(_limited(letters, limit, unit, robot), robot.links, strict=True):
        size = float(getattr(link, limit).magnitude) / gain
        found.append(input_of(one.name, Interval(-size, size), one.unit))
    return tuple(found)


def _free(name: str, title: str, unit: str = "", symbol: str = "") -> Output:
    return Output(name, symbol or name, Interval(0.0, 0.0), unit, title)


def _inertias(robot: Robot) -> tuple[Output, ...]:
    units = ("kg·m²", "kg·m", "kg")
    links = list(enumerate(robot.links, 1))
    return tuple(
        _free(f"m{i}{j}", f"inertia {i}{j}", units[(not a.revolute) + (not b.revolute)], f"M{i}{j}")
        for i, a in links
        for j, b in links[i - 1 :]
    )


def _pose(robot: Robot) -> tuple[Output, ...]:
    del robot
    places = [_free(f"p{axis}", f"position {axis}", "m") for axis in FRAME]
    entries = [(i, j) for i in (1, 2, 3) for j in (1, 2, 3)]
    rotation = Interval(-DIRECTION, DIRECTION)
    return (
        *places,
        *(Output(f"r{i}{j}", f"R{i}{j}", rotation, "", f"rotation {i}{j}") for i, j in entries),
    )


def _bearings(robot: Robot) -> tuple[Output, ...]:
    found = []
    for k, link in enumerate(robot.links, 1):
        drive = f"m{k}z" if link.revolute else f"f{k}z"
        for letter, noun, unit in (("f", "force", "N"), ("m", "moment", "N·m")):
            names = ((f"{letter}{k}{axis}", f"{noun} {k}{axis}") for axis in FRAME)
            found += [_free(name, title, unit) for name, title in names if name != drive]
    return tuple(found)


def _jacobian_entries(robot: Robot) -> tuple[Output, ...]:
    return tuple(
        _free(f"j{i}{j}", f"jacobian {i}{j}", "m" if i <= 3 and link.revolute else "", f"J{i}{j}")
        for i in range(1, 7)
        for j, link in enumerate(robot.links, 1)
    )


def _slopes(robot: Robot) -> tuple[Output, ...]:
    links = list(enumerate(robot.links, 1))
    return tuple(
        _free(
            f"dtau{i}_d{letters}{j}",
            f"slope of torque {i} in {letters}{j}",
            f"{a.torque_unit}{second}/{b.unit}",
            f"dT{i}_d{letters}{j}_",
        )
        for letters, second in (("q", ""), ("qd", "·s"))
        for i, a in links
        for j, b in links
    )


def _renamed(
    letters: str, inputs_of: Callable[[Robot], tuple[Input, ...]], robot: Robot
) -> tuple[Input, ...]:
    return tuple(replace(one, name=f"{letters}{k}") for k, one in enumerate(inputs_of(robot), 1))


def _efforts(robot: Robot) -> tuple[Input, ...]:
    return tuple(input_of(one.name, one.range, one.unit) for one in torques(robot))


def _joint_outputs(
    inputs_of: Callable[[Robot], tuple[Input, ...]], noun: str, letter: str, robot: Robot
) -> tuple[Output, ...]:
    """Return outputs with the names and units of inputs."""
    return tuple(
        _free(one.name, f"{noun} {k}", one.unit, f"{letter}{k}")
        for k, one in enumerate(inputs_of(robot), 1)
    )


STATE = {"q": positions, "qd": speeds, "qdd": accelerations}
REFERENCE: Mapping[str, Callable[[Robot], tuple[Input, ...]]] = {
    "q": positions,
    "qd": speeds,
    "qr": partial(_renamed, "qr", positions),
    "qdr": partial(_renamed, "qdr", speeds),
    "qddr": partial(_renamed, "qddr", accelerations),
}
FUNCTIONS = {
    FRICTION: RobotFunction(
        STATE, dynamics.with_friction, takes=("smoothing", "load"),
        prepared=Preparation(
            lambda x: tuple(f"dry{k + 1}" for k in dynamics.dry_joints(x)), dynamics.dry_friction
        ),
    ),
    "bias": RobotFunction(
        {"q": positions, "qd": speeds}, dynamics.bias, takes=("load",),
        steps=partial(dynamics.bias, dynamics=dynamics.torques),
    ),
    "inertia": RobotFunction(
        {"q": positions}, dynamics.inertia, _inertias, "m", "inertias", takes=("load",)
    ),
    "forward-kinematics": RobotFunction(
        {"q": positions}, kinematics.forward_kinematics, _pose, "pose", "coordinates",
        steps=kinematics.forward_kinematics,
    ),
    "jacobian": RobotFunction(
        {"q": positions}, kinematics.jacobian, _jacobian_entries, "jacobian", "entries",
        steps=kinematics.jacobian,
    ),
    "reactions": RobotFunction(
        STATE, dynamics.reactions, _bearings, "reactions", "reactions", takes=("load",)
    ),
    "derivatives": RobotFunction(STATE, torque_slopes, _slopes, "slopes", "slopes", stepped_slopes),
    "computed-torque": RobotFunction(
        {
            "q": positions,
            "qd": speeds,
            "qddr": partial(_errors, "qddr", "/s²", 1.0, "acceleration"),
            "e": partial(_errors, "e", "", KP, "acceleration"),
            "de": partial(_errors, "de", "/s", KD, "acceleration"),
        },
        kinematics.computed_torque,
        steps=partial(kinematics.computed_torque, dynamics=dynamics.torques),
    ),
    "pd-gravity": RobotFunction(
        {
            "q": positions,
            "e": partial(_errors, "e", "", 2 * KP, "torque"),
            "de": partial(_errors, "de", "/s", 2 * KD, "torque"),
        },
        kinematics.pd_gravity,
        steps=partial(kinematics.pd_gravity, dynamics=dynamics.torques),
    ),
    "control": RobotFunction(
        REFERENCE, kinematics.commanded, takes=("kp", "kd", "load"), notes=(HELD,),
        prepared=Preparation(
            lambda x: tuple(f"a{k}" for k in range(1, x.joints + 1)), kinematics.commands
        ),
    ),
    "forward-dynamics": RobotFunction(
        {"q": positions, "qd": speeds, "tau": _efforts}, forward_dynamics,
        partial(_joint_outputs, accelerations, "acceleration", "A"), "qdd", "accelerations",
        stepwise=True,
    ),
    INVERSE: RobotFunction(
        {"p": tip_point}, kinematics.inverse_planar,
        partial(_joint_outputs, positions, "joint", "Q"), "q", "joints",
        stepwise=True, takes=("elbow",), notes=(STRETCHED,),
    ),
}  # fmt: skip
WRIST = {"p": tip_position, "rpy": tip_rotation}
WITH_WRIST = replace(FUNCTIONS[INVERSE], groups=WRIST, text=kinematics.inverse_wrist)
# Without choices the first two have faster problems: inverse_dynamics_problem, gravity_problem.
ALL = {
    USUAL: RobotFunction(STATE, dynamics.newton_euler, takes=("load", "wrench")),
    "gravity": RobotFunction({"q": positions}, dynamics.weight, takes=("load",)),
    **FUNCTIONS,
}
NAMES = tuple(ALL)
