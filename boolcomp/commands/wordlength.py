"""The option of a word length, which may be `auto` where an error is promised in a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from boolcomp.common.errors import shown

USUAL_BITS = 8
AUTO, _FOUND = "auto", "boolcomp.bits"

if TYPE_CHECKING:
    _IntegerType = click.ParamType[int]
else:
    _IntegerType = click.ParamType  # not generic before click 8.4


class WordLength(_IntegerType):
    """A word length, or `auto`, which the context remembers; bits are then the usual ones."""

    name = "integer"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        if value == AUTO and ctx is not None:
            ctx.meta[_FOUND] = True
            return USUAL_BITS
        try:
            return int(value)
        except ValueError:
            self.fail(f"{shown(value)}: a whole number, or {AUTO}", param, ctx)


def is_auto(context: click.Context) -> bool:
    """Tell whether the word length is to be found."""
    return bool(context.meta.get(_FOUND))
