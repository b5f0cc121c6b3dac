"""Arguments and options that say what is meant: a robot, its arm, which function of it, a file."""

from __future__ import annotations

import functools
import shlex
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.files import is_file
from boolcomp.commands.options import given
from boolcomp.common.errors import UsageError, cut, shown, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from boolcomp.paper.plan import Options
    from boolcomp.problem.problem import Problem
    from boolcomp.problem.robot.model import Robot

DESCRIPTIONS = (".urdf", ".sdf", ".mjcf", ".xml")  # of robots; which one it is its text says

# What says which function of a robot is meant, by the names that click gives their values.
FUNCTION = {
    "of": "--of", "friction": "--friction", "smoothing": "--smoothing", "kp": "--kp", "kd": "--kd",
    "load_range": "--load-range", "elbow": "--elbow",
}  # fmt: skip
_FUNCTION = (
    click.option(
        "--of",
        default="inverse-dynamics",
        show_default=True,
        help="Function of the robot: gravity, bias, inertia, forward-kinematics, jacobian, "
        "derivatives, computed-torque, pd-gravity, control, forward-dynamics, inverse-kinematics.",
    ),
    click.option(
        "--friction", is_flag=True, help="Of inverse dynamics: with friction of the joints."
    ),
    click.option(
        "--smoothing",
        help="Speed v (rad/s, m/s) of dry friction, whose sign is tanh(qd/v): for all joints or "
        "each [default: 2 % of a joint's largest speed]",
    ),
    click.option("--kp", help="Of control: gain of positions, for all or each [default: 100]"),
    click.option("--kd", help="Of control: gain of speeds, for all or each [default: 20]"),
    click.option("--load-range", help="Mass at the tip (kg) as an input word: 0..5"),
    click.option("--elbow", help="Of inverse kinematics: up or down [default: up]"),
)


def function_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add what says which function of a robot is meant; `of` is handed on, with all choices."""

    @functools.wraps(function)
    def wrapped(
        *args: Any, of: str, friction: bool, load_range: str | None, elbow: str | None, **more: Any
    ) -> Any:
        from boolcomp.problem.functions import function_name

        gains = {key: more.pop(key) for key in ("smoothing", "kp", "kd")}
        name = function_name(of, friction=friction, load=load_range, elbow=elbow, **gains)
        return function(*args, of=name, **more)

    for option in reversed(_FUNCTION):
        wrapped = option(wrapped)
    return wrapped


def chain_options(argument: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add --base and --tip, and hand them on in the robot's name, as `arm.urdf#base..tip,tip`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option("--base", help="Of a URDF: the link that stands [default: the root]")
        @click.option(
            "--tip",
            "tips",
            multiple=True,
            help="Of a URDF: the link where the arm ends [default: the last]; again for a branch",
        )
        @functools.wraps(function)
        def wrapped(*args: Any, base: str | None, tips: tuple[str, ...], **more: Any) -> Any:
            name = more[argument]
            if base is not None or tips:
                if name is None or not name.endswith(DESCRIPTIONS):
                    raise UsageError("--base and --tip choose an arm of a URDF: give an .urdf file")
                more[argument] = f"{name}#{base or ''}..{','.join(tips)}"
            return function(*args, **more)

        return wrapped

    return decorate


def robot_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT: a name, a .toml file, or a .urdf file with --base and --tip."""
    return click.argument("robot")(chain_options("robot")(function))


def source_argument(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ROBOT as above, which may be a function file as well."""
    return click.argument("robot", metavar="ROBOT|FUNCTION")(chain_options("robot")(function))


def own_bits(context: click.Context, options: Options, source: Robot | Problem) -> Options:
    """Return options with the word length that a function itself names, unless --bits is given."""
    bits = None if given(context, "bits") else getattr(source, "bits", None)
    return options if bits is None else replace(options, bits=bits)


def check_robot(name: str) -> None:
    """Raise a `UsageError` for what is no robot where a program's folder would do as well."""
    from boolcomp.problem.robot.library import robot_names

    file = name.partition("#")[0].endswith((".toml", *DESCRIPTIONS)) or is_file(Path(name))
    if name not in robot_names() and not file:
        hint = suggestion(Path(name).name, robot_names())
        raise UsageError(
            f"{cut(name) or shown(name)}: neither a program's folder nor a robot{hint}"
        )


def told(command: str, source: str, of: str, *more: str) -> str:
    """Return a command as a page says it, so that it can be given again."""
    from boolcomp.problem.functions import USUAL

    function = [] if of == USUAL else [f"--of {of}"]
    return " ".join(["boolcomp", command, shlex.quote(source), *function, *more])


def chosen(options: Options) -> list[str]:
    """Return the options of a plan as a command says them: the bits, and what is not usual."""
    said = [(one.name, getattr(options, one.name), one.default) for one in fields(options)]
    return [
        f"--{name.replace('_', '-')} {value}"
        for name, value, usual in said
        if name == "bits" or value != usual
    ]


def shipped(name: str) -> str | None:
    """Return the robot that ships of which programs have this name, whatever the function."""
    from boolcomp.problem.functions import USUAL, function_of
    from boolcomp.problem.robot.library import robot_names

    return next(
        (one for one in robot_names() if name == one or function_of(name, one) != USUAL), None
    )


def shipped_or_refused(source: str, name: str) -> str:
    """Return the robot that ships of a program; for any other its file has to be said."""
    robot = shipped(name)
    if robot is None:
        here = f"{name}.toml"
        file = here if is_file(Path(here)) else "FILE"
        raise UsageError(
            f"{source} was compiled for {shown(name)}, which is none of the robots that ship: "
            f"say its robot file with --robot {file} (of a function its file)"
        )
    return robot
