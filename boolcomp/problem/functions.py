"""Functions of a robot by name: each a text over any algebra, its inputs and its outputs.

Over sums of waves (`Harmonics`) a text gives the terms of its outputs, over numpy's columns their
exact values. What is constant is no output: it stands among a problem's `constants`. A name may
say what is chosen of a function, too (`choices`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from boolcomp.base.errors import UsageError, listing, shown, suggestion
from boolcomp.problem.choices import (
    CHOICES,
    KD,
    KP,
    chosen,
    each_joint,
    parted,
    refuse_unknown,
    together,
)
from boolcomp.problem.dynamics import regrouped
from boolcomp.problem.dynamics.kinematics import (
    commanded,
    commands,
    computed_torque,
    forward_kinematics,
    inverse_planar,
    inverse_wrist,
    jacobian,
    pd_gravity,
    planar,
    wrist,
)
from boolcomp.problem.dynamics.newton_euler import (
    dry_friction,
    dry_joints,
    evaluated_states,
    gravity_spectra,
    gravity_torques,
    inverse_dynamics,
    newton_euler,
    smoothing_notes,
    torque_spectra,
    usual_smoothing,
    with_load,
)
from boolcomp.problem.dynamics.newton_euler import with_friction as dynamics_with_friction
from boolcomp.problem.dynamics.regrouped import torques as regrouped_torques
from boolcomp.problem.expressions.algebra import Columns, Constant, Folding
from boolcomp.problem.expressions.fourier import Harmonics, WaveSum, steps_of
from boolcomp.problem.expressions.tape import Tape
from boolcomp.problem.problem import (
    MARGIN,
    Group,
    Input,
    Output,
    PartHint,
    Problem,
    SumHint,
    extremes,
    numbered,
)
from boolcomp.problem.robot.model import axis_before, own_axis
from boolcomp.problem.words import USUAL_FORMAT, Interval, Span, round_above

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.choices import Values
    from boolcomp.problem.dynamics.kinematics import Dynamics
    from boolcomp.problem.expressions.algebra import Algebra, Element
    from boolcomp.problem.expressions.fourier import Spectra
    from boolcomp.problem.expressions.tape import Straight
    from boolcomp.problem.robot.model import Robot
    from boolcomp.problem.words import WordFormat

    Wires = Sequence[Any]
    Matrix = dict[tuple[int, int], Any]
    Floats = NDArray[np.float64]
    Elements: TypeAlias = Sequence[Element]
    Text: TypeAlias = Callable[..., list[Element]]


# --------------------------------------------------------------------------------------------------
# Problems from robots: inverse dynamics, and gravity alone; other functions: `functions`.
# --------------------------------------------------------------------------------------------------


PARALLEL = 1e-9
WEIGHT_DUST = 1e-9  # of what an arm's weight could make: rounding, no torque
ROUNDING = 1e-13  # of what its speeds and accelerations could make


def inverse_dynamics_problem(robot: Robot) -> Problem:
    """Return the torques (forces) that move an arm, of q, q̇ and q̈ of its joints.

    Axes that are parallel to the next one's are told: there sums of speeds, and torques that are
    parts of the one before, are likely to be needed.
    """
    q, qd, qdd = positions(robot), speeds(robot), accelerations(robot)
    signs = parallel_axes(robot)
    return Problem(
        name=robot.name,
        key=str(robot.mechanism),
        inputs=(*q, *qd, *qdd),
        outputs=torques(robot),
        groups=tuple(numbered(name, robot.joints) for name in ("q", "qd", "qdd")),
        returned=numbered("tau", robot.joints),
        reference=partial(inverse_dynamics, robot),
        form=partial(torque_spectra, robot, q, qd, qdd),
        sums=tuple(sum_hints(signs)),
        parts=part_hints(signs),
        plural="torques",
        places="joints",
        dust=torque_dust(robot),
        calculation=partial(torque_steps, robot, ("q", "qd", "qdd")),
    )


def gravity_problem(robot: Robot) -> Problem:
    """Return the torques that hold an arm at rest, of its positions."""
    q, signs = positions(robot), parallel_axes(robot)
    return Problem(
        name=f"{robot.name}-gravity",
        key=f"gravity of\n{robot.mechanism}",
        inputs=q,
        outputs=torques(robot),
        groups=(numbered("q", robot.joints),),
        returned=numbered("tau", robot.joints),
        reference=partial(gravity_torques, robot),
        form=partial(gravity_spectra, robot, q),
        parts=part_hints(signs),
        plural="torques",
        places="joints",
        dust=torque_dust(robot),
        calculation=partial(torque_steps, robot, ("q",)),
    )


def torque_steps(robot: Robot, groups: Sequence[str]) -> Straight:
    """Return the steps of Newton and Euler that calculate all torques, of these of q, qd and qdd.

    Its inputs are q1, q2, … . Parameters are regrouped, so that there are few products; speeds and
    accelerations that are no inputs are zero.
    """
    tape = Tape()
    algebra, count = Folding(tape), range(1, robot.joints + 1)
    state = [
        [tape.input(f"{name}{k}") if name in groups else algebra.constant(0.0) for k in count]
        for name in ("q", "qd", "qdd")
    ]
    torque = regrouped.torques(robot, algebra, *state)
    return tape.finish([(f"tau{k}", x) for k, x in zip(count, torque, strict=True)])


def positions(robot: Robot) -> tuple[Input, ...]:
    """Return q1, q2, … as inputs: radians where a joint turns, metres where it slides."""
    return tuple(
        input_of(
            f"q{k}",
            link.position,
            "rad" if link.revolute else "m",
            link.span,
            angle=link.revolute,
            asked=link.word,
        )
        for k, link in enumerate(robot.links, 1)
    )


def speeds(robot: Robot) -> tuple[Input, ...]:
    """Return qd1, qd2, … as inputs."""
    return tuple(
        input_of(f"qd{k}", link.velocity, "rad/s" if link.revolute else "m/s")
        for k, link in enumerate(robot.links, 1)
    )


def accelerations(robot: Robot) -> tuple[Input, ...]:
    """Return qdd1, qdd2, … as inputs."""
    return tuple(
        input_of(f"qdd{k}", link.acceleration, "rad/s²" if link.revolute else "m/s²")
        for k, link in enumerate(robot.links, 1)
    )


def input_of(
    name: str,
    where: Interval,
    unit: str,
    span: Span | None = None,
    *,
    angle: bool = False,
    asked: WordFormat = USUAL_FORMAT,
) -> Input:
    """Return an input within these bounds; `span` is what its word covers, where that is more."""
    own = span or Span(where, where)
    return Input(name, where, unit, own.word, own.reach, angle, own.wraps, format=asked)


def torques(robot: Robot) -> tuple[Output, ...]:
    """Return tau1, tau2, … as outputs over the robot's own ranges."""
    return tuple(
        Output(f"tau{k}", f"T{k}", link.torque, link.torque_unit, f"torque {k}")
        for k, link in enumerate(robot.links, 1)
    )


def parallel_axes(robot: Robot) -> dict[int, int]:
    """Return +1 or -1 for every joint (from 0) whose axis is parallel to the next one's on it."""
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
    """Return that a torque about an axis holds the one about the next, where they are parallel."""
    return tuple(PartHint(joint, joint + 1, sign) for joint, sign in signs.items())


def sum_hints(signs: dict[int, int]) -> Iterator[SumHint]:
    """Yield speeds, then accelerations; in a longer chain pairs overlap: only its first counts."""
    for kind, letters in (("speeds", "qd"), ("accelerations", "qdd")):
        for joint, sign in sorted(signs.items(), reverse=True):
            if joint - 1 not in signs:
                yield SumHint(kind, f"{letters}{joint + 1}", f"{letters}{joint + 2}", sign)


def torque_dust(robot: Robot) -> float:
    """Return the size up to which a torque is rounding of sums that are zero.

    It stands beside what an arm's weight could make, and (with what rounding alone leaves) its
    speeds and accelerations.
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
# M and C + G are sums of waves, factored. Of an open chain M's entry i, j depends on joints after
# the lesser of i and j alone, so M is inverted from its end: what is solved of the last joints is a
# function of their angles, often of one, and tables hold it. With y = τ - h, and of a block
#
#     [m  sᵀ] [a]   [y]        K = B⁻¹ known:   w = K s,   d = m - sᵀ w,
#     [s  B ] [b] = [z]        a = (y - wᵀ z) / d,   b = K z - w a.
#
# Joints that M does not couple are solved apart.
# --------------------------------------------------------------------------------------------------


MOST_COUPLED = 3  # joints: of more the words of M⁻¹ are too many to make sense of
SINGULAR = 1e-9  # of the largest entry of M


def forward_dynamics(robot: Robot, tape: Tape, q: Wires, qd: Wires, tau: Wires) -> list[Any]:
    """Return the accelerations that torques make, as steps."""
    inputs = (*positions(robot), *speeds(robot))
    space, n = Harmonics(inputs), robot.joints
    algebra = Folding(space)
    angles, rates = ([space.input(x) for x in part] for part in (inputs[:n], inputs[n:]))
    zero, one = algebra.constant(0.0), algebra.constant(1.0)
    bias = newton_euler(robot, algebra, angles, rates, [zero] * n)
    wires = [*q, *qd]
    rest = [
        torque - steps_of(space, _element(h), tape, wires)
        for torque, h in zip(tau, bias, strict=True)
    ]
    inertia: Matrix = {}
    for j in range(n):
        unit = [one if k == j else zero for k in range(n)]
        column = newton_euler(robot, algebra, angles, [zero] * n, unit, gravity=False)
        for i in range(j + 1):
            entry = _element(column[i])
            if entry.parts:
                inertia[i, j] = steps_of(space, entry, tape, wires)
    found: dict[int, Any] = {}
    for joints in _coupled(inertia, n):
        if len(joints) > MOST_COUPLED:
            raise UsageError(
                f"{robot.name}: forward dynamics are compiled where at most {MOST_COUPLED} joints "
                f"are coupled by their inertia; of this arm {len(joints)} are"
            )
        found.update(_solved(robot, tape, inertia, joints, rest))
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


def _solved(
    robot: Robot, tape: Tape, inertia: Matrix, joints: Sequence[int], rest: Wires
) -> dict[int, Any]:
    """Return the accelerations of joints that M couples with no others."""
    last = len(joints) - 1
    known = {(joints[last], joints[last]): _reciprocal(robot, inertia, joints[last], tape)}
    steps: list[tuple[int, dict[int, Any], Any]] = []
    for place in reversed(range(last)):
        i, after = joints[place], joints[place + 1 :]
        side = {j: inertia[i, j] for j in after if (i, j) in inertia}
        w = {j: _dot(tape, ((_at(known, j, k), s) for k, s in side.items())) for j in after}
        d = inertia[i, i] - _dot(tape, ((s, w[j]) for j, s in side.items()))
        over = 1.0 / d
        steps.append((i, w, over))
        if place:  # the inverse of the larger block: a joint before needs it
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
    first = (rest[i] - _dot(tape, ((w[j], rest[j]) for j in after))) * over
    found = {i: first}
    for j in after:
        own = _dot(tape, ((_at(known, j, k), rest[k]) for k in after))
        found[j] = own - w[j] * first
    return found


def _reciprocal(robot: Robot, inertia: Matrix, joint: int, tape: Tape) -> Any:
    if (joint, joint) not in inertia:
        raise UsageError(
            f"{robot.name}: joint {joint + 1} moves no inertia: no torque says how it accelerates"
        )
    return tape.constant(1.0) / inertia[joint, joint]


def _at(known: Matrix, i: int, j: int) -> Any:
    return known[min(i, j), max(i, j)]


def _dot(tape: Tape, pairs: Any) -> Any:
    total: Any = tape.constant(0.0)
    for a, b in pairs:
        total = total + a * b
    return total


# --------------------------------------------------------------------------------------------------
# A function of a robot as a problem: its inputs, its outputs with their ranges, its form.
#
# A function is a text over any algebra. Over sums of waves (`Harmonics`) it gives the terms of its
# outputs, over numpy's columns their exact values. Some factors of terms may be prepared by another
# text (a friction, a command): to the first they are inputs. A text that divides, or takes roots,
# is recorded on a tape: its steps are the form, and over numpy's columns the exact values.
# --------------------------------------------------------------------------------------------------


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


# --------------------------------------------------------------------------------------------------
# Where the tip of an arm is wanted, as inputs.
# --------------------------------------------------------------------------------------------------


AXES = "xyz"


def points(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's coordinates as inputs: as far as a stretched arm reaches, in a square."""
    arm = planar(robot)
    far = arm.first + arm.second
    return tuple(
        input_of(f"p{AXES[place]}", Interval(zero - far, zero + far), "m")
        for place, zero in zip(arm.plane, arm.origin, strict=True)
    )


def places(robot: Robot) -> tuple[Input, ...]:
    """Return the tip's place as inputs: as far as the arm reaches, in a cube about its shoulder."""
    arm = wrist(robot)
    return tuple(
        input_of(f"p{axis}", Interval(float(zero) - arm.reach, float(zero) + arm.reach), "m")
        for axis, zero in zip(AXES, arm.shoulder, strict=True)
    )


def turns(robot: Robot) -> tuple[Input, ...]:
    """Return roll, pitch and yaw of the tip as inputs: every rotation has such."""
    del robot
    whole, half = Interval(-math.pi, math.pi), Interval(-math.pi / 2, math.pi / 2)
    ranges = {"roll": whole, "pitch": half, "yaw": whole}
    return tuple(
        input_of(name, where, "rad", Span(where, where, wraps=where is whole), angle=True)
        for name, where in ranges.items()
    )


# --------------------------------------------------------------------------------------------------
# Functions of a robot by name: each a text over any algebra, its inputs and its outputs.
# --------------------------------------------------------------------------------------------------


USUAL, FRICTION = "inverse-dynamics", "inverse-dynamics-with-friction"
INVERSE = "inverse-kinematics"
DIRECTION = 1.25  # the range of a rotation matrix's entries: ±1, and room for a word's last steps
TINY = 1e-20  # a step into the complex plane: slopes without a difference
FRAME = ("x", "y", "z")
HELD = "commanded accelerations are held within the joints' acceleration ranges"
STRETCHED = "a point out of reach stretches (or folds) the arm towards it; angles may leave a turn"


def robot_problem(robot: Robot, of: str = USUAL) -> Problem:
    """Return the problem of a robot's function by its name, with what is chosen of it."""
    name, values = parted(function_name(of))
    if name == USUAL and not values:
        return inverse_dynamics_problem(robot)
    if name == "gravity" and not values:
        return gravity_problem(robot)
    function = robot_function(robot, of)
    return function_problem(robot, together(name, values), function, command_hints(robot))


def robot_function(robot: Robot, of: str) -> RobotFunction:
    """Return a function of a robot by its name, with all choices made."""
    name, values = parted(function_name(of))
    whole = WITH_WRIST if name == INVERSE and robot.joints == 6 else ALL[name]
    return _chosen(robot, whole, values)


def function_name(of: str, *, friction: bool = False, **choices: object) -> str:
    """Return a function's name with all that is chosen of it, and written in one way.

    What is None is not chosen.
    """
    if not isinstance(of, str):
        raise UsageError(f"a {type(of).__name__} is no function: functions are {listing(NAMES)}")
    name, values = parted(of)
    if name not in NAMES:
        raise UsageError(
            f"no function {shown(name)}{suggestion(name, NAMES)}: functions are {listing(NAMES)}"
        )
    if friction and name != FRICTION:
        name = with_friction(name)
    for key, given in choices.items():
        if given is not None:
            values[key] = chosen(key, given, CHOICES[key].option)
    refuse_unknown(name, values, ALL[name].takes)
    return together(name, values)


def is_linear_in_load(of: str) -> bool:
    """Tell whether a function is one of forces: what a mass at the tip adds is linear in it."""
    return "load" in ALL[parted(of)[0]].takes


def function_of(problem: str, robot: str) -> str:
    """Return the function of a robot that the name of a problem says, both by name."""
    rest = problem.removeprefix(f"{robot}-")
    return rest if rest.partition(":")[0] in NAMES else USUAL


def with_friction(of: str) -> str:
    """Return the name of a function with friction: inverse dynamics alone has one."""
    if of != USUAL:
        raise UsageError(f"friction belongs to {USUAL}, not to {of}")
    return FRICTION


def _chosen(robot: Robot, function: RobotFunction, values: Values) -> RobotFunction:
    """Return a function with all choices made: given ones, else the usual."""
    usual = {key: CHOICES[key].usual for key in function.takes if CHOICES[key].usual}
    if "smoothing" in function.takes and dry_joints(robot):
        usual["smoothing"] = usual_smoothing(robot)
    elif "smoothing" in values:
        raise UsageError(f"{robot.name} has no coulomb_friction: there is nothing to smooth")
    every = {**usual, **values}
    load = every.pop("load", None)
    own = {
        key: every[key] if key == "elbow" else each_joint(every, key, robot.joints, robot.name)
        for key in every
    }
    if "smoothing" in own:
        function = replace(function, notes=smoothing_notes(robot, own["smoothing"]))
    if function.prepared is not None and own:
        prepared = replace(function.prepared, text=partial(function.prepared.text, **own))
        function = replace(function, prepared=prepared)
    elif own:
        function = replace(function, text=partial(function.text, **own))
    return function if load is None else _loaded(function, Interval(*load))


def _loaded(function: RobotFunction, masses: Interval) -> RobotFunction:
    """Return a function with the mass of a load as its last input."""
    place = len(function.groups)
    return replace(
        function,
        groups={**function.groups, "load": partial(_load_input, masses)},
        text=partial(with_load, function.text, place),
        steps=None,
        exact=function.exact and partial(with_load, function.exact, place),
    )


def _load_input(masses: Interval, robot: Robot) -> tuple[Input, ...]:
    del robot
    return (input_of("mass", masses, "kg"),)


def command_hints(robot: Robot) -> tuple[SumHint, ...]:
    """Return that a joint's errors, times gains, are likely to be added to its acceleration."""
    found = []
    for k in range(1, robot.joints + 1):
        found.append(SumHint("commands", f"qddr{k}", f"de{k}", 1, KD))
        found.append(SumHint("commands", f"qddr{k}+de{k}", f"e{k}", 1, KP))
    return tuple(found)


def gravity(robot: Robot, algebra: Algebra, q: Elements) -> list[Element]:
    """Return G(q): the torques of the arm at rest."""
    zeros = [algebra.constant(0.0)] * robot.joints
    return newton_euler(robot, algebra, q, zeros, zeros)


def bias(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, dynamics: Dynamics = newton_euler
) -> list[Element]:
    """Return C(q, q̇) + G(q): the torques at zero acceleration, by this text of inverse dynamics."""
    return dynamics(robot, algebra, q, qd, [algebra.constant(0.0)] * robot.joints)


def inertia(robot: Robot, algebra: Algebra, q: Elements) -> list[Element]:
    """Return the upper triangle of M(q), row by row."""
    n, zero, one = robot.joints, algebra.constant(0.0), algebra.constant(1.0)
    columns = [
        newton_euler(
            robot, algebra, q, [zero] * n, [one if k == j else zero for k in range(n)],
            gravity=False,
        )
        for j in range(n)
    ]  # fmt: skip
    return [columns[j][i] for i in range(n) for j in range(i, n)]


def torque_slopes(
    robot: Robot, algebra: Folding, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return ∂τ/∂q, then ∂τ/∂q̇, row by row: derivatives of the torques' terms."""
    space = cast("Harmonics", algebra.inner)
    found, n = newton_euler(robot, algebra, q, qd, qdd), robot.joints
    return [
        space.derivative(torque, one)
        for inputs in (space.inputs[:n], space.inputs[n : 2 * n])
        for torque in found
        for one in inputs
    ]


def stepped_slopes(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return the same of numpy's columns: Im τ(x + i h) / h, exact but for rounding."""
    rows: list[Element] = []
    for moved in (0, 1):
        columns = []
        for k in range(robot.joints):
            state = [list(q), list(qd), list(qdd)]
            state[moved][k] = state[moved][k] + TINY * 1j
            found = newton_euler(robot, algebra, *state)
            columns.append([
                Constant(0.0) if isinstance(x, Constant) else np.imag(x) / TINY for x in found
            ])  # fmt: skip
        rows += [column[i] for i in range(robot.joints) for column in columns]
    return rows


def _errors(letters: str, unit: str, gain: float, limit: str, robot: Robot) -> tuple[Input, ...]:
    """Return inputs which, times a gain, span what the joints' limits do."""
    found = []
    for k, link in enumerate(robot.links, 1):
        most = float(getattr(link, limit).magnitude) / gain
        length = "rad" if link.revolute else "m"
        found.append(input_of(f"{letters}{k}", Interval(-most, most), unit.format(length)))
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
            f"{a.torque_unit}{second}/{'rad' if b.revolute else 'm'}",
            f"dT{i}_d{letters}{j}_",
        )
        for letters, second in (("q", ""), ("qd", "·s"))
        for i, a in links
        for j, b in links
    )


def _renamed(
    letters: str, inputs_of: Callable[[Robot], tuple[Input, ...]], robot: Robot
) -> tuple[Input, ...]:
    """Return inputs under other letters."""
    return tuple(replace(one, name=f"{letters}{k}") for k, one in enumerate(inputs_of(robot), 1))


def _efforts(robot: Robot) -> tuple[Input, ...]:
    """Return the torques as inputs, over the robot's own ranges."""
    return tuple(input_of(one.name, one.range, one.unit) for one in torques(robot))


def _accelerations(robot: Robot) -> tuple[Output, ...]:
    return tuple(
        _free(one.name, f"acceleration {k}", one.unit, f"A{k}")
        for k, one in enumerate(accelerations(robot), 1)
    )


def _joints(robot: Robot) -> tuple[Output, ...]:
    return tuple(
        _free(one.name, f"joint {k}", one.unit, f"Q{k}")
        for k, one in enumerate(positions(robot), 1)
    )


def _command_names(robot: Robot) -> tuple[str, ...]:
    return tuple(f"a{k}" for k in range(1, robot.joints + 1))


def _dry_names(robot: Robot) -> tuple[str, ...]:
    return tuple(f"dry{k + 1}" for k in dry_joints(robot))


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
        STATE, torques, dynamics_with_friction, "tau", "torques",
        prepared=Preparation(_dry_names, dry_friction), takes=("smoothing", "load"),
    ),
    "bias": RobotFunction(
        {"q": positions, "qd": speeds}, torques, bias, "tau", "torques", takes=("load",),
        steps=partial(bias, dynamics=regrouped_torques),
    ),
    "inertia": RobotFunction(
        {"q": positions}, _inertias, inertia, "m", "inertias", takes=("load",)
    ),
    "forward-kinematics": RobotFunction(
        {"q": positions}, _pose, forward_kinematics, "pose", "coordinates",
        steps=forward_kinematics,
    ),
    "jacobian": RobotFunction(
        {"q": positions}, _jacobian_entries, jacobian, "jacobian", "entries", steps=jacobian,
    ),
    "derivatives": RobotFunction(STATE, _slopes, torque_slopes, "slopes", "slopes", stepped_slopes),
    "computed-torque": RobotFunction(
        {
            "q": positions,
            "qd": speeds,
            "qddr": partial(_errors, "qddr", "{}/s²", 1.0, "acceleration"),
            "e": partial(_errors, "e", "{}", KP, "acceleration"),
            "de": partial(_errors, "de", "{}/s", KD, "acceleration"),
        },
        torques, computed_torque, "tau", "torques",
        steps=partial(computed_torque, dynamics=regrouped_torques),
    ),
    "pd-gravity": RobotFunction(
        {
            "q": positions,
            "e": partial(_errors, "e", "{}", 2 * KP, "torque"),
            "de": partial(_errors, "de", "{}/s", 2 * KD, "torque"),
        },
        torques, pd_gravity, "tau", "torques",
        steps=partial(pd_gravity, dynamics=regrouped_torques),
    ),
    "control": RobotFunction(
        REFERENCE, torques, commanded, "tau", "torques",
        prepared=Preparation(_command_names, commands), takes=("kp", "kd", "load"),
        notes=(HELD,),
    ),
    "forward-dynamics": RobotFunction(
        {"q": positions, "qd": speeds, "tau": _efforts}, _accelerations, forward_dynamics,
        "qdd", "accelerations", stepwise=True,
    ),
    INVERSE: RobotFunction(
        {"p": points}, _joints, inverse_planar, "q", "joints", stepwise=True, takes=("elbow",),
        notes=(STRETCHED,),
    ),
}  # fmt: skip
WITH_WRIST = replace(FUNCTIONS[INVERSE], groups={"p": places, "rpy": turns}, text=inverse_wrist)
# What has makers of its own, faster ones, but where something is chosen.
_USUALS = {
    USUAL: RobotFunction(STATE, torques, newton_euler, "tau", "torques", takes=("load",)),
    "gravity": RobotFunction({"q": positions}, torques, gravity, "tau", "torques", takes=("load",)),
}
ALL = {**_USUALS, **FUNCTIONS}
NAMES = tuple(ALL)
