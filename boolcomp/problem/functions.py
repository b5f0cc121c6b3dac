"""Functions of a robot by name: each a text over any algebra, its inputs and its outputs.

Over sums of waves (`Harmonics`) a text gives the terms of its outputs, over numpy's columns their
exact values. What is constant is no output: it stands among a problem's `constants`. A name may
say what is chosen of a function, too (`choices`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from boolcomp.common.errors import UsageError, listing, shown, suggestion
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
from boolcomp.problem.dynamics.control import commanded, commands, computed_torque, pd_gravity
from boolcomp.problem.dynamics.forward import forward_dynamics
from boolcomp.problem.dynamics.friction import (
    dry_friction,
    dry_joints,
    smoothing_notes,
    usual_smoothing,
)
from boolcomp.problem.dynamics.friction import (
    with_friction as dynamics_with_friction,
)
from boolcomp.problem.dynamics.kinematics import forward_kinematics, jacobian
from boolcomp.problem.dynamics.load import with_load
from boolcomp.problem.dynamics.newton_euler import newton_euler
from boolcomp.problem.dynamics.planar import inverse_planar
from boolcomp.problem.dynamics.regrouped import torques as regrouped_torques
from boolcomp.problem.dynamics.wrist import inverse_wrist
from boolcomp.problem.expressions.algebra import Constant
from boolcomp.problem.interval import Interval
from boolcomp.problem.makers import (
    accelerations,
    gravity_problem,
    input_of,
    inverse_dynamics_problem,
    positions,
    speeds,
    torques,
)
from boolcomp.problem.problem import Output, Problem, SumHint
from boolcomp.problem.robotfunction import Preparation, RobotFunction, function_problem
from boolcomp.problem.targets import places, points, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from boolcomp.problem.choices import Values
    from boolcomp.problem.dynamics.control import Dynamics
    from boolcomp.problem.expressions.algebra import Algebra, Element, Folding
    from boolcomp.problem.expressions.fourier import Harmonics
    from boolcomp.problem.problem import Input
    from boolcomp.problem.robot.model import Robot

    Elements: TypeAlias = Sequence[Element]

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
