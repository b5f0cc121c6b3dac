"""The group of all commands: dispatch, error messages and exit codes."""

from __future__ import annotations

import importlib
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import click

from boolcomp.base import VERSION
from boolcomp.base.errors import (
    BoolcompError,
    DataError,
    DataWarning,
    UsageError,
    missing_package,
    package_of,
    unknown,
)
from boolcomp.commands import GROUPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


VARIABLE = "_BOOLCOMP_COMPLETE"  # set by click's completion scripts


class LazyGroup(click.Group):
    """A group that imports the module of a command only to run it; `groups` are those of help."""

    def __init__(
        self, *names: Any, groups: Mapping[str, Mapping[str, str]] = GROUPS, **more: Any
    ) -> None:
        super().__init__(*names, **more)
        self.groups = groups
        self.names = [name for several in groups.values() for name in several]

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the command names in the order of their groups, without older spellings."""
        del ctx
        return [name for group, several in self.groups.items() if group for name in several]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command; return None for an unknown name."""
        del ctx
        if cmd_name not in self.names:
            return None
        command = importlib.import_module(f"boolcomp.commands.{cmd_name}").command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error message of an unknown name suggests the nearest one."""
        if args and args[0] not in self.names and not args[0].startswith("-"):
            raise unknown("command", args[0], self.list_commands(ctx), near=self.names)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups without importing them."""
        del ctx
        width = max(map(len, self.names))
        for group, several in self.groups.items():
            if group:
                with formatter.section(group):
                    formatter.write_dl([(f"{name:{width}}", it) for name, it in several.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: boolcomp compile machado-2r -o out/2r",
)
@click.version_option(VERSION, prog_name="boolcomp")
def cli() -> None:
    """Compile robot dynamics, or any function of bounded inputs, to logic.

    ROBOT is a name from `boolcomp robots`, or the path of a .toml, .urdf, .sdf or .mjcf file.
    FUNCTION is a file of expressions, with words for its inputs and outputs. Results go to standard
    output, messages to standard error. Exit codes: 0 success, 1 bad data, 2 wrong usage.
    """


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; the caller handles KeyboardInterrupt."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = _show_warning
        if VARIABLE in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(cli, {}, "boolcomp", VARIABLE, os.environ[VARIABLE])
        return _run(list(arguments))


def _run(arguments: list[str]) -> int:
    # click's own main() would turn a closed pipe into exit code 1.
    try:
        with cli.make_context("boolcomp", arguments) as context:
            cli.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except (click.ClickException, BoolcompError, MemoryError, ModuleNotFoundError) as error:
        return _failed(_told(error))
    except click.Abort:
        raise KeyboardInterrupt from None
    except BrokenPipeError:
        # The reader closed the pipe (`| head`): no message, and no further flush.
        _discard_output()
    except OSError as error:
        _discard_output()
        return _failed(DataError(f"cannot write the output ({error.strerror or error})"))
    return 0


def _told(error: Exception) -> BoolcompError:
    """Return an error of the command line, of memory or of a missing package as one of ours."""
    if isinstance(error, BoolcompError):
        return error
    if isinstance(error, MemoryError):
        details = f" ({error})" if str(error) else ""
        return DataError(f"not enough memory{details}", "use fewer --processes")
    if isinstance(error, ModuleNotFoundError):
        name = (error.name or "").partition(".")[0]
        if name == "boolcomp":
            raise error
        return missing_package(package_of(name))
    context, where = getattr(error, "ctx", None), ""
    hint = f"{context.command_path} --help lists arguments and options" if context else ""
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        hint = f"did you mean {' or '.join(sorted(error.possibilities))}?"
    text = str(vars(error).get("message") or error)
    if isinstance(error, click.MissingParameter):
        text = error.format_message()
    elif isinstance(error, click.BadParameter) and error.param:
        where = error.param.opts[-1]
    return UsageError(f"{text[:1].lower()}{text[1:]}".rstrip("."), hint, where=where)


def _discard_output() -> None:
    """Redirect standard output to the null device, so that the flush at exit cannot fail."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failed(error: BoolcompError) -> int:
    click.echo(error.report, err=True)
    return error.exit_code


def _show_warning(
    message: Warning | str, category: type[Warning], *place: Any, **more: Any
) -> None:
    del more
    if issubclass(category, DataWarning):
        click.echo(f"warning: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, str(place[0]), place[1]), err=True)
