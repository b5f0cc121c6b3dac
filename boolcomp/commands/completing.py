"""What shells complete: names of robots, and the values that options take.

The shell asks `boolcomp` itself, by the environment variable of click's protocol, at every TAB; so
this knows names only, and imports what names them when they are asked for.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, shell_complete

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

VARIABLE = "_BOOLCOMP_COMPLETE"
SHELLS = ("bash", "zsh", "fish")
FILES = CompletionItem("", type="file")


def _robots() -> Iterable[str]:
    from boolcomp.problem.robot.library import robot_names

    return robot_names()


def _functions() -> Iterable[str]:
    from boolcomp.problem.functions import NAMES

    return NAMES


def _costs() -> Iterable[str]:
    from boolcomp.compact.demand import TARGETS

    return TARGETS


def _writers() -> Iterable[str]:
    from boolcomp.targets import WRITERS

    return WRITERS


def _boards() -> Iterable[str]:
    from boolcomp.measure.fpga import BOARDS

    return BOARDS


def _shells() -> Iterable[str]:
    return SHELLS


def _engines() -> Iterable[str]:
    from boolcomp.commands.evaluate import ENGINES

    return ENGINES


def _methods() -> Iterable[str]:
    from boolcomp.twolevel.minimisation import METHODS

    return METHODS


# Values of options and arguments, by how they are written.
VALUES: Mapping[str, Callable[[], Iterable[str]]] = {
    "robot": _robots, "source": _robots, "shell": _shells,
    "--of": _functions, "--target": _costs, "--to": _writers, "--board": _boards,
    "--engine": _engines, "--method": _methods, "--minimizer": _methods,
    "--mode": lambda: ("compact", "paper"),
    "--proof": lambda: ("plain", "tables", "tight"),
    "--objective": lambda: ("nodes", "depth"),
    "--code": lambda: ("gray", "natural", "twos", "sign-magnitude"),
    "--rounding": lambda: ("nearest", "faithful"),
    "--signs": lambda: ("inside", "outside"),
    "--sums": lambda: ("inside", "outside"),
}  # fmt: skip
OR_FILES = {"robot", "source"}


def asked() -> bool:
    """Tell whether a shell asks what could follow, or for its script."""
    return VARIABLE in os.environ


def complete(cli: click.Command) -> int:
    """Answer a shell; return the exit code."""
    return shell_complete(cli, {}, "boolcomp", VARIABLE, os.environ[VARIABLE])


def completable(command: click.Command) -> click.Command:
    """Let a command's arguments and options say their values."""
    for one in (command, *getattr(command, "commands", {}).values()):
        for parameter in one.params:
            written = next((name for name in parameter.opts if name in VALUES), "")
            if written:
                vars(parameter)["shell_complete"] = _completer(written)
            elif isinstance(parameter, click.Argument) or parameter.type.name == "path":
                vars(parameter)["shell_complete"] = lambda _, __: [FILES]
    return command


def _completer(name: str) -> Callable[[click.Context, str], list[CompletionItem]]:
    def values(context: click.Context, incomplete: str) -> list[CompletionItem]:
        del context
        begun = [one for one in VALUES[name]() if one.startswith(incomplete)]
        found = [CompletionItem(one) for one in begun]
        return (
            [FILES, *found] if name in OR_FILES else found
        )  # bash forgets what comes before files

    return values


def script(shell: str) -> str:
    """Return what a shell has to read so that it asks."""
    from click.shell_completion import get_completion_class

    kind: Any = get_completion_class(shell)
    # Not `source()`: bash's asks a bash on PATH for its version.
    made = kind(click.Command("boolcomp"), {}, "boolcomp", VARIABLE)
    return str(made.source_template % made.source_vars())
