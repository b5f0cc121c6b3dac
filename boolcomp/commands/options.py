"""Arguments and options that several commands share, and how results are printed."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

robot_argument = click.argument("robot")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")


def plan_options(*, bits: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the options of a plan, and hand them on as plan `Options`; `bits` may be left out."""
    choices = {
        "bits": click.option(
            "--bits", default=8, show_default=True, help="Word length of a torque, 4 to 16."
        ),
        "code": click.option(
            "--code", default="gray", show_default=True, help="Code of words: gray, natural."
        ),
        "guard_bits": click.option(
            "--guard-bits", type=int, help="Extra bits of every term [default: int log2(p+1)]"
        ),
        "splits": click.option(
            "--splits", type=int, help="Cuts per torque [default: as many as are free]"
        ),
        "rounding": click.option(
            "--rounding",
            default="nearest",
            show_default=True,
            help="Of tables: nearest, faithful.",
        ),
    }
    if not bits:
        del choices["bits"], choices["guard_bits"]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **given: Any) -> Any:
            from boolcomp.plan import Options

            options = Options(**{name: given.pop(name) for name in choices})
            return function(*args, options=options, **given)

        for option in reversed(choices.values()):
            wrapped = option(wrapped)
        return wrapped

    return decorate


def minimiser_options(
    name: str, deadline: float = 60.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the method's option under this name and --deadline, and hand them on as a `Recipe`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @click.option(
            name,
            "method",
            default="own",
            show_default=True,
            help="exact (with proof), own (heuristic), espresso, isop (at once).",
        )
        @click.option(
            "--deadline", default=deadline, show_default=True, help="Seconds a table; 0: no limit."
        )
        @functools.wraps(function)
        def wrapped(*args: Any, method: str, deadline: float, **more: Any) -> Any:
            from boolcomp.store import Recipe

            return function(*args, recipe=Recipe(method, deadline or None), **more)

        return wrapped

    return decorate


def store_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add --store, and hand it on as a `Store`."""

    @click.option(
        "--store",
        "folder",
        type=click.Path(path_type=Path, file_okay=False),
        help="Folder of minimised tables [default: ./tables if it exists, else the user's cache]",
    )
    @functools.wraps(function)
    def wrapped(*args: Any, folder: Path | None, **more: Any) -> Any:
        from boolcomp.store import Store, default_store

        usual = default_store()
        store = Store((folder, *usual.folders)) if folder else usual
        return function(*args, store=store, **more)

    return wrapped


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))
