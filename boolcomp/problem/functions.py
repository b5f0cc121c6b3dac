"""Functions of a robot by name: each a text over any algebra, its inputs and its outputs.

Over sums of waves (`Harmonics`) a text gives the terms of its outputs, over numpy's columns their
exact values. What is constant is no output: it stands among a problem's `constants`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from boolcomp.common.errors import UsageError, listing, shown, suggestion
from boolcomp.problem.dynamics.algebra import Constant, Folding
from boolcomp.problem.dynamics.batch import evaluated
from boolcomp.problem.dynamics.kinematics import forward_kinematics, jacobian
from boolcomp.problem.dynamics.recurrence import newton_euler
from boolcomp.problem.extremes import MARGIN, extremes
from boolcomp.problem.harmonics import Harmonics
from boolcomp.problem.interval import Interval, round_above
from boolcomp.problem.makers import (
    accelerations,
    gravity_problem,
    input_of,
    inverse_dynamics_problem,
    parallel_axes,
    part_hints,
    positions,
    speeds,
    sum_hints,
    torque_dust,
    torques,
)
from boolcomp.problem.problem import Group, Output, PartHint, Problem, SumHint, numbered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from boolcomp.problem.dynamics.algebra import Algebra, Element
    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot import Robot
    from boolcomp.problem.spectra import Spectra

    Floats = NDArray[np.float64]
    Elements: TypeAlias = Sequence[Element]
    Text: TypeAlias = Callable[..., list[Element]]

USUAL, FRICTION = "inverse-dynamics", "inverse-dynamics-with-friction"
KP, KD = 100.0, 20.0  # gains of a joint that settles, critically damped, as exp(-10 t)
SAMPLES, BEST, FINE = 5_000, 4, 1e-2  # of the search for what outputs reach: to a few per mille
DIRECTION = 1.25  # the range of a rotation matrix's entries: ±1, and room for a word's last steps
CONSTANT = 1e-9  # of the largest output: what varies no more is rounding
TINY = 1e-20  # a step into the complex plane: slopes without a difference
FRAME = ("x", "y", "z")


@dataclass(frozen=True, slots=True)
class RobotFunction:
    """What to compute of a robot: inputs by their groups, outputs, a text over any algebra.

    An output without a range of its own (a single value) gets one that holds what is found.
    `exact` is the text over numpy's columns, where it is another one.
    """

    groups: Mapping[str, Callable[[Robot], tuple[Input, ...]]]
    outputs: Callable[[Robot], tuple[Output, ...]]
    text: Text
    returned: str
    plural: str
    exact: Text | None = None


def robot_problem(robot: Robot, of: str = USUAL) -> Problem:
    """Return the problem of a robot's function by its name."""
    if of not in NAMES:
        raise UsageError(
            f"no function {shown(of)}{suggestion(of, NAMES)}: functions are {listing(NAMES)}"
        )
    if of == USUAL:
        return inverse_dynamics_problem(robot)
    if of == "gravity":
        return gravity_problem(robot)
    return _problem(robot, of, FUNCTIONS[of])


def function_of(problem: str, robot: str) -> str:
    """Return the function of a robot that the name of a problem says, both by name."""
    rest = problem.removeprefix(f"{robot}-")
    return rest if rest in NAMES else USUAL


def with_friction(of: str) -> str:
    """Return the name of a function with friction: inverse dynamics alone has one."""
    if of != USUAL:
        raise UsageError(f"friction belongs to {USUAL}, not to {of}")
    return FRICTION


def _problem(robot: Robot, of: str, function: RobotFunction) -> Problem:
    groups = tuple(inputs_of(robot) for inputs_of in function.groups.values())
    inputs = tuple(one for group in groups for one in group)
    exact = partial(evaluated, function.exact or function.text, robot)
    bounds = np.array([x.range.low for x in inputs]), np.array([x.range.high for x in inputs])
    ends = np.cumsum([len(group) for group in groups])[:-1]
    values, most = extremes(
        lambda states: exact(*np.split(states, ends, axis=1)), bounds, SAMPLES, BEST, FINE
    )
    sizes = np.abs(most).max(axis=0)
    dust = CONSTANT * sizes.max()
    outputs = function.outputs(robot)
    kept = tuple(int(k) for k in np.flatnonzero(np.ptp(values, axis=0) > dust))
    if not kept:
        raise UsageError(f"{of} of {robot.name} never changes: there is nothing to compile")
    signs = parallel_axes(robot)
    whole = len(kept) == len(outputs) == robot.joints
    return Problem(
        name=f"{robot.name}-{of}",
        key=f"{of} of\n{robot}",
        inputs=inputs,
        outputs=tuple(_ranged(outputs[k], float(sizes[k])) for k in kept),
        groups=tuple(numbered(name, robot.joints) for name in function.groups),
        returned=Group(function.returned, tuple(outputs[k].name for k in kept)),
        reference=partial(exact, kept=kept),
        form=partial(_spectra, function.text, robot, groups, kept),
        sums=tuple(
            hint
            for hint in (*command_hints(robot), *sum_hints(signs))
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
    )


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


def _spectra(
    text: Text, robot: Robot, groups: Sequence[Sequence[Input]], kept: Sequence[int]
) -> Spectra:
    space = Harmonics(tuple(one for group in groups for one in group))
    elements = text(robot, Folding(space), *([space.input(x) for x in group] for group in groups))
    return space.spectra(tuple(groups[0]), [elements[k] for k in kept])


def command_hints(robot: Robot) -> tuple[SumHint, ...]:
    """Return that a joint's errors, times gains, are likely to be added to its acceleration."""
    found = []
    for k in range(1, robot.joints + 1):
        found.append(SumHint("commands", f"qddr{k}", f"de{k}", 1, KD))
        found.append(SumHint("commands", f"qddr{k}+de{k}", f"e{k}", 1, KP))
    return tuple(found)


def bias(robot: Robot, algebra: Algebra, q: Elements, qd: Elements) -> list[Element]:
    """Return C(q, q̇) + G(q): the torques at zero acceleration."""
    return newton_euler(robot, algebra, q, qd, [algebra.constant(0.0)] * robot.joints)


def dynamics_with_friction(
    robot: Robot, algebra: Algebra, q: Elements, qd: Elements, qdd: Elements
) -> list[Element]:
    """Return inverse dynamics with viscous friction; dry friction is a sign, and refused."""
    for joint, link in enumerate(robot.links, 1):
        if any(link.coulomb_friction):
            raise UsageError(
                f"{robot.name}: coulomb_friction of joint {joint} is a sign, no sum of waves: only "
                "viscous_friction is compiled"
            )
    return newton_euler(robot, algebra, q, qd, qdd, friction=True)


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


def computed_torque(robot: Robot, algebra: Algebra, *state: Elements) -> list[Element]:
    """Return M(q) (q̈r + Kd ė + Kp e) + C(q, q̇) + G(q) of q, q̇, q̈r, e and ė."""
    q, qd, qddr, e, de = state
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    commands = [r + kd * dx + kp * x for r, x, dx in zip(qddr, e, de, strict=True)]
    return newton_euler(robot, algebra, q, qd, commands)


def pd_gravity(
    robot: Robot, algebra: Algebra, q: Elements, e: Elements, de: Elements
) -> list[Element]:
    """Return Kp e + Kd ė + G(q)."""
    zeros = [algebra.constant(0.0)] * robot.joints
    weight = newton_euler(robot, algebra, q, zeros, zeros)
    kp, kd = algebra.constant(KP), algebra.constant(KD)
    return [g + kp * x + kd * dx for g, x, dx in zip(weight, e, de, strict=True)]


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


STATE = {"q": positions, "qd": speeds, "qdd": accelerations}
FUNCTIONS = {
    FRICTION: RobotFunction(
        STATE, torques, dynamics_with_friction, "tau", "torques"
    ),
    "bias": RobotFunction({"q": positions, "qd": speeds}, torques, bias, "tau", "torques"),
    "inertia": RobotFunction({"q": positions}, _inertias, inertia, "m", "inertias"),
    "forward-kinematics": RobotFunction(
        {"q": positions}, _pose, forward_kinematics, "pose", "coordinates"
    ),
    "jacobian": RobotFunction(
        {"q": positions}, _jacobian_entries, jacobian, "jacobian", "entries"
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
    ),
    "pd-gravity": RobotFunction(
        {
            "q": positions,
            "e": partial(_errors, "e", "{}", 2 * KP, "torque"),
            "de": partial(_errors, "de", "{}/s", 2 * KD, "torque"),
        },
        torques, pd_gravity, "tau", "torques",
    ),
}  # fmt: skip
NAMES = (USUAL, "gravity", *FUNCTIONS)
