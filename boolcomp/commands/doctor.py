"""`boolcomp doctor`: what is installed, and what each missing piece would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from boolcomp.base.errors import table
from boolcomp.commands.options import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from boolcomp.measure.installed import Health, Piece

HEAD = ("piece", "of", "found", "what it brings", "how it comes here")


@click.command("doctor", epilog="Example: boolcomp doctor")
@json_option
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Say what is installed here, and what each missing piece would bring.

    Exit code 1 where a package is missing or broken that every installation needs; all others are
    extras: commands that need one say so.
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
    click.echo(f"results are kept in {machine['cache']}{writable}")
    click.echo(table(HEAD, [_row(one) for one in found.pieces], left=(0, 1, 2, 3, 4)))
    wrong = [one.name for one in found.pieces if one.needed and not one.found]
    missing = [one for one in found.pieces if not one.found and not one.needed]
    if wrong:
        click.echo(f"missing or broken, and needed: {', '.join(wrong)}")
    else:
        click.echo(f"all that every installation needs is there; {_rest(missing)}")


def _row(one: Piece) -> list[str]:
    """Return a row; how to install what is there need not be said."""
    of = one.extra or ("needed" if one.needed else one.kind)
    return [one.name, of, one.source, one.brings, "" if one.found else one.install]


def _rest(missing: Sequence[Piece]) -> str:
    if not missing:
        return "nothing is missing"
    return f"not there, and each can be done without: {', '.join(one.name for one in missing)}"
