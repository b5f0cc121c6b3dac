"""`boolcomp doctor`: installed packages and tools, and what missing ones enable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import json_option, print_json

if TYPE_CHECKING:
    from boolcomp.measure.installed import Health, Piece


def _kind(one: Piece) -> str:
    return one.extra or ("needed" if one.needed else one.kind)


COLUMNS = (
    ResultColumn("", "piece", "name", left=True),
    ResultColumn("", "of", _kind, left=True),
    ResultColumn("", "found", "source", left=True),
    ResultColumn("", "what it brings", "brings", left=True),
    ResultColumn("", "how it comes here", lambda x: "" if x.found else x.install, left=True),
)


@click.command("doctor", epilog="Example: boolcomp doctor")
@json_option
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """List installed packages and tools, and what the missing ones enable.

    The exit code is 1 if a required package is missing or broken. All others are optional: a
    command that needs a missing one names it.
    """
    from boolcomp.measure.installed import health

    found = health()
    if as_json:
        print_json(found.document)
    else:
        _print(found)
    if not found.whole:
        context.exit(1)


def _print(found: Health) -> None:
    machine = found.machine
    click.echo(
        f"Python {machine['python']} on {machine['system']}, {machine['processor']}, "
        f"{machine['cores']} cores; engine: {machine['engine']}"
    )
    writable = "" if machine["cache_writable"] else ", which cannot be written to"
    click.echo(f"results are cached in {machine['cache']}{writable}")
    click.echo(Results(COLUMNS, found.pieces).text())
    wrong = [one.name for one in found.pieces if one.needed and not one.found]
    missing = [one for one in found.pieces if not one.found and not one.needed]
    if wrong:
        click.echo(f"required, but missing or broken: {', '.join(wrong)}")
    else:
        optional = ", ".join(one.name for one in missing)
        rest = f"optional, not installed: {optional}" if missing else "nothing is missing"
        click.echo(f"all required packages are installed; {rest}")
