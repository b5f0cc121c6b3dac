"""`boolcomp doctor`: installed packages and tools, and what missing ones enable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.results import ResultColumn, Results
from boolcomp.commands.options import json_option, print_result, wants_all

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
    last = f"required, but missing or broken: {', '.join(wrong)}"
    if not wrong:
        last = "all required packages are installed"
    names = dict.fromkeys(one.name for one in found.pieces if one.found)
    absent = [one for one in found.pieces if not one.found]
    pieces = [f"installed: {', '.join(names)}"]
    if absent:
        few = Results(COLUMNS, absent).brief("not installed=piece, found, what it brings")
        pieces += [few.text(), *dict.fromkeys(one.install for one in absent)]
    if wants_all():
        pieces = [Results(COLUMNS, found.pieces).text()]
    here = f"{machine['system']}, {machine['processor']}, {machine['cores']} cores"
    lines = [
        f"Python {machine['python']} on {here}; engine: {machine['engine']}",
        f"results are cached in {machine['cache']}{writable}",
    ]
    return "\n".join([*lines, *pieces, last])
