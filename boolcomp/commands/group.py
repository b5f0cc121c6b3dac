"""The group of all commands: finds one, runs it, and turns errors into sentences and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem, shell_complete

from boolcomp.base.errors import (
    LONGEST_NAME,
    BoolcompError,
    DataWarning,
    cut,
    listing,
    shown,
    suggestion,
)
from boolcomp.base.version import VERSION
from boolcomp.commands import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


# --------------------------------------------------------------------------------------------------
# What shells complete: names of robots, and the values that options take.
#
# The shell asks `boolcomp` itself, by the environment variable of click's protocol, at every TAB;
# so this knows names only, and imports what names them when they are asked for.
# --------------------------------------------------------------------------------------------------


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
    from boolcomp.targets.target import WRITERS

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


# --------------------------------------------------------------------------------------------------
# The group of all commands: finds one, runs it, and turns errors into sentences and exit codes.
# --------------------------------------------------------------------------------------------------


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the stages."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"boolcomp.commands.{cmd_name}")
        command = module.command
        if not isinstance(command, click.Command):
            return None
        return completable(command) if asked() else command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(
                f"no command {shown(args[0])}{suggestion(args[0], COMMANDS)}: "
                f"commands are {listing(COMMANDS)}"
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands, in the order of the stages"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: boolcomp plan machado-2r --bits 8",
)
@click.version_option(VERSION, prog_name="boolcomp")
def cli() -> None:
    """Compile robot dynamics to logic: torques from AND, OR and integer addition.

    ROBOT is a name from `boolcomp robots`, or the path of a .toml, .urdf, .sdf or .mjcf; FUNCTION
    is a file of expressions, with words for its inputs and outputs. Results go to standard output,
    everything else to standard error; exit codes are 0 for done, 1 for bad data, 2 for wrong usage.
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; KeyboardInterrupt is the caller's."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = _show_warning
        return complete(cli) if asked() else _run(list(arguments))


def _run(arguments: list[str]) -> int:
    # Not click's own main(): it would turn a reader that went away into exit code 1.
    try:
        with cli.make_context("boolcomp", arguments) as context:
            cli.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        vars(error)["message"] = cut(error.message, LONGEST_NAME * 10)
        error.show()
        return error.exit_code
    except (BoolcompError, MemoryError) as error:
        return _failed(error)
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "boolcomp":
            raise
        from boolcomp.base.errors import needed, package_of

        return _say(f"error: {needed(package_of(name))}", 1)
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        # The reader went away (`| head`): nothing to say, and nothing more may be flushed.
        _discard_output()
    except OSError as error:
        _discard_output()
        return _say(f"error: the output cannot be written: {error.strerror or error}", 1)
    return 0


def _failed(error: BoolcompError | MemoryError) -> int:
    if isinstance(error, MemoryError):
        return _say(f"error: not enough memory {f'({error})' if str(error) else 'for this'}", 1)
    return _say(f"error: {error}", error.exit_code)


def _discard_output() -> None:
    """Send what is still buffered nowhere, so that closing down does not fail again."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(sentence: str, code: int) -> int:
    click.echo(f"boolcomp: {sentence}", err=True)
    return code


def _show_warning(
    message: Warning | str, category: type[Warning], *place: Any, **more: Any
) -> None:
    del more
    if issubclass(category, DataWarning):
        _say(f"warning: {message}", 0)
    else:
        click.echo(warnings.formatwarning(message, category, str(place[0]), place[1]), err=True)
