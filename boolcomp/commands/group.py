"""The group of all commands: finds one, runs it, and turns errors into sentences and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base.version import VERSION
from boolcomp.commands import COMMANDS, completing
from boolcomp.common.errors import (
    LONGEST_NAME,
    BoolcompError,
    DataWarning,
    cut,
    listing,
    shown,
    suggestion,
)

if TYPE_CHECKING:
    from collections.abc import Sequence


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
        return completing.completable(command) if completing.asked() else command

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
        return completing.complete(cli) if completing.asked() else _run(list(arguments))


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
        from boolcomp.common.packages import needed, package_of

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
