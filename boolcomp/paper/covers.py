"""Minimise every table of a problem: identical ones once, what the store holds not at all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from boolcomp.common.errors import DataError, DataWarning
from boolcomp.common.workers import ALONE
from boolcomp.logic.truthtable import digest
from boolcomp.paper.outside import said
from boolcomp.paper.store import Recipe, Store, function_of
from boolcomp.twolevel.dense import MOST_BITS, MOST_INPUTS, fits
from boolcomp.twolevel.minimisation import minimise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from boolcomp.common.workers import Workers
    from boolcomp.logic.truthtable import TruthTable
    from boolcomp.paper.quantised import Said
    from boolcomp.paper.tables import TermTable
    from boolcomp.twolevel.function import Cover


@dataclass(frozen=True, slots=True)
class TermCover:
    """A term's table and a verified cover of it; `stored` where the store had it."""

    entry: TermTable
    cover: Cover
    stored: bool

    def __str__(self) -> str:
        cover = self.cover
        bound = "minimum" if cover.proved else f"at least {cover.lower_bound}"
        return f"{self.entry.plan.term.name}: {cover.products} products ({bound})"


def make_covers(
    tables: Sequence[TermTable],
    recipe: Recipe,
    store: Store,
    done: Callable[[TermTable, int, int], None] = lambda *_: None,
    workers: Workers = ALONE,
) -> tuple[TermCover, ...]:
    """Return a cover for every term.

    `done` is told the first term of every distinct table that is minimised, and how many points
    of how many are done with it; before, that none are.
    """
    first: dict[TruthTable, TermTable] = {}
    for entry in tables:
        first.setdefault(entry.table, entry)
        if not fits(entry.table.inputs, entry.table.outputs):
            raise DataError(
                f"{entry.problem}: the table of {entry.plan.term.name} has {entry.table.inputs} "
                f"inputs and {entry.table.outputs} outputs; minimisation takes {MOST_INPUTS} "
                f"inputs and 2^{MOST_BITS.bit_length() - 1} bits. Lower --bits, or use compact "
                "mode, which has no tables"
            )
    covers: dict[TruthTable, Cover] = {}

    for table in first:
        found = store.find(table, recipe)
        if found is not None:
            covers[table] = found
    stored = frozenset(covers)
    missing = {digest(table): entry for table, entry in first.items() if table not in covers}
    points = sum(_points(entry.table) for entry in missing.values())
    for entry in list(missing.values())[:1]:
        done(entry, 0, points)
    made = 0
    for entry, cover in _minimised(missing, recipe, workers):
        covers[entry.table] = cover
        try:
            store.keep(entry, recipe, cover)
        except DataError as error:
            warnings.warn(f"a table is not kept: {error}", DataWarning, stacklevel=2)
        made += _points(entry.table)
        done(entry, made, points)
    return tuple(TermCover(entry, covers[entry.table], entry.table in stored) for entry in tables)


def _points(table: TruthTable) -> int:
    return table.outputs << table.inputs


def said_words(covers: Sequence[TermCover]) -> Said:
    """Return the words that covers say, of tables whose rounding left them a choice."""
    free = [one for one in covers if one.entry.plan.rounding == "faithful"]
    known = {one.entry.table: said(one.entry.table, one.cover.cubes).words() for one in free}
    return {one.entry.plan: known[one.entry.table] for one in free}


def _minimised(
    entries: Mapping[str, TermTable], recipe: Recipe, workers: Workers
) -> Iterator[tuple[TermTable, Cover]]:
    """Yield covers as they come."""
    # The largest first: they take longest, and the small ones fill the gaps.
    rising = sorted(entries.values(), key=lambda entry: -entry.table.inputs)
    calls = [(entry.table, recipe) for entry in rising]
    for place, cover in workers.completed(minimise_table, calls):
        yield rising[place], cover


def minimise_table(table: TruthTable, recipe: Recipe) -> Cover:
    """Minimise one table (what a worker process runs)."""
    return minimise(function_of(table), recipe.method, recipe.deadline)
