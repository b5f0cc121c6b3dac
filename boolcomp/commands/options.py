"""Arguments and options that several commands share, and how results are printed."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

robot_argument = click.argument("robot")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def plan_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --bits, --code, --guard-bits and --splits, and hand them on as plan `Options`."""

    @click.option("--bits", default=8, show_default=True, help="Word length of a torque, 4 to 16.")
    @click.option("--code", default="gray", show_default=True, help="Code of words: gray, natural.")
    @click.option(
        "--guard-bits", type=int, help="Extra bits of every term [default: int log2(p+1)]"
    )
    @click.option("--splits", type=int, help="Cuts per torque [default: as many as are free]")
    @click.option(
        "--rounding", default="nearest", show_default=True, help="Of a table: nearest, faithful."
    )
    @functools.wraps(function)
    def wrapped(*args: Any, **given: Any) -> Any:
        from boolcomp.plan import Options

        names = ("bits", "code", "guard_bits", "splits", "rounding")
        options = Options(**{name: given.pop(name) for name in names})
        return function(*args, options=options, **given)

    return wrapped


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
