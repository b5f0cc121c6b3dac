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
    @functools.wraps(function)
    def wrapped(
        *args: Any, bits: int, code: Any, guard_bits: int | None, splits: int | None, **more: Any
    ) -> Any:
        from boolcomp.plan import Options

        return function(*args, options=Options(bits, code, guard_bits, splits), **more)

    return wrapped


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
