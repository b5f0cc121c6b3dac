"""`boolcomp doctor`: installed packages and tools, and what missing ones enable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import json_option, print_result

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
def command(context: click.Context) -> None:
    """List installed packages and tools, and what the missing ones enable.

    The exit code is 1 if a required package is missing or broken. All others are optional: a
    command that needs a missing one names it.
    """
    from boolcomp.measure.installed import health

    found = health()
    print_result(found.document, _text(found))
    if not found.whole:
        context.exit(1)


def _text(found: Health) -> str:
    machine = found.machine
    writable = "" if machine["cache_writable"] else ", which cannot be written to"
    wrong = [one.name for one in found.pieces if one.needed and not one.found]
    missing = [one.name for one in found.pieces if not one.found and not one.needed]
    last = f"required, but missing or broken: {', '.join(wrong)}"
    if not wrong:
        rest = f"optional, not installed: {', '.join(missing)}" if missing else "nothing is missing"
        last = f"all required packages are installed; {rest}"
    return (
        f"Python {machine['python']} on {machine['system']}, {machine['processor']}, "
        f"{machine['cores']} cores; engine: {machine['engine']}\n"
        f"results are cached in {machine['cache']}{writable}\n"
        f"{Results(COLUMNS, found.pieces).text()}\n{last}"
    )
